# mypy: ignore-errors
"""Triton kernels for many small convolutional networks at once, each with weights and images of its own.

Activations of a model are rows, one per pixel of one of its images, with channels last: (models, images, pixels,
channels). Of a model's images only the first `size` are real; what lies behind them is neither read nor written.
A layer's gamma, beta and bias lie side by side, (models, 3, channels), and are given by where the first model's begins.

A convolution is a matrix product whose columns are never written down: a tile gathers its rows from the nine
neighbours. The gradient of the weights is one too, and the step of descent is taken where it is found, so no
gradient of a weight ever reaches memory. GroupNorm, Mish, pooling and the sum of a residual block are one pass.
"""

import triton
import triton.language as tl

__all__ = ["activate", "convolve", "deactivate", "descend"]

GROUPS = tl.constexpr(32)
EPSILON = tl.constexpr(1e-5)
CALM = tl.constexpr(20.0)  # from here on Mish is the identity, and its exponential would overflow further up


@triton.jit
def convolve(
    x,
    index,
    weight,
    bias,
    add,
    y,
    size,
    rows,
    listed,
    INWARD: tl.constexpr,
    OUTWARD: tl.constexpr,
    HEIGHT: tl.constexpr,
    WIDTH: tl.constexpr,
    TAPS: tl.constexpr,
    GATHER: tl.constexpr,
    BACK: tl.constexpr,
    BIAS: tl.constexpr,
    ADD: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """y = x * w + bias, or with BACK the gradient with respect to x of what y is the gradient of, plus `add`.

    With GATHER, x is all images of a data set and `index` says which are the model's, `listed` of them a model.
    """
    PIXELS: tl.constexpr = HEIGHT * WIDTH
    ACROSS: tl.constexpr = OUTWARD // COLUMNS
    STEPS: tl.constexpr = INWARD // DEPTH
    tiles = tl.cdiv(rows, ROWS) * ACROSS
    g = tl.program_id(0) // tiles
    tile = tl.program_id(0) % tiles
    first = tile // ACROSS * ROWS
    end = tl.load(size + g) * PIXELS
    if first < end:
        column = tile % ACROSS * COLUMNS + tl.arange(0, COLUMNS)
        row = first + tl.arange(0, ROWS)
        live = row < end
        pixel = row % PIXELS
        high, wide = pixel // WIDTH, pixel % WIDTH
        model = g.to(tl.int64)
        weight += model * (TAPS * INWARD * OUTWARD)
        if GATHER:
            image = tl.load(index + model * listed + row // PIXELS, mask=live, other=0)
            place = image * PIXELS + pixel
        else:
            x += model * rows * INWARD
            place = row
        depth = tl.arange(0, DEPTH)
        total = tl.zeros((ROWS, COLUMNS), tl.float32)
        for i in range(TAPS * STEPS):
            tap, k = i // STEPS, i % STEPS * DEPTH + depth
            if TAPS == 1:
                inside, source = live, place
            else:
                down, right = tap // 3 - 1, tap % 3 - 1
                if BACK:
                    down, right = -down, -right
                below, beside = high + down, wide + right
                inside = live & (below >= 0) & (below < HEIGHT) & (beside >= 0) & (beside < WIDTH)
                source = place + down * WIDTH + right
            a = tl.load(x + source[:, None] * INWARD + k[None, :], mask=inside[:, None], other=0.0)
            if BACK:
                b = tl.trans(tl.load(weight + (tap * OUTWARD + column)[:, None] * INWARD + k[None, :]))
            else:
                b = tl.load(weight + (tap * INWARD + k)[:, None] * OUTWARD + column[None, :])
            total = tl.dot(a, b, total, input_precision=PRECISION)
        if BIAS:
            total += tl.load(bias + g * (3 * OUTWARD) + column)[None, :]
        where = model * rows * OUTWARD + (row[:, None] * OUTWARD + column[None, :])
        if ADD:
            total += tl.load(add + where, mask=live[:, None], other=0.0).to(tl.float32)
        tl.store(y + where, total.to(y.dtype.element_ty), mask=live[:, None])


@triton.jit
def descend(
    x,
    index,
    slope,
    weight,
    rounded,
    velocity,
    step,
    size,
    rows,
    listed,
    momentum,
    INWARD: tl.constexpr,
    OUTWARD: tl.constexpr,
    HEIGHT: tl.constexpr,
    WIDTH: tl.constexpr,
    TAPS: tl.constexpr,
    GATHER: tl.constexpr,
    MOVING: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    DEPTH: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """A step of descent for the weights of a convolution of x, given the `slope` of the loss in its outputs.

    `step` is each model's step size, `rounded` the copy of the weights that products are taken with; MOVING keeps a
    velocity.
    """
    PIXELS: tl.constexpr = HEIGHT * WIDTH
    ACROSS: tl.constexpr = OUTWARD // COLUMNS
    TILES: tl.constexpr = TAPS * INWARD // ROWS * ACROSS
    g = tl.program_id(0) // TILES
    tile = tl.program_id(0) % TILES
    first = tile // ACROSS * ROWS
    column = tile % ACROSS * COLUMNS + tl.arange(0, COLUMNS)
    channel = first % INWARD + tl.arange(0, ROWS)
    tap = first // INWARD
    down, right = tap // 3 - 1, tap % 3 - 1
    model = g.to(tl.int64)
    end = tl.load(size + g) * PIXELS
    slope += model * rows * OUTWARD
    if not GATHER:
        x += model * rows * INWARD
    where = model * (TAPS * INWARD * OUTWARD)
    where += (first + tl.arange(0, ROWS))[:, None] * OUTWARD + column[None, :]
    if MOVING:  # noqa: SIM108 (Triton has to know which at once)
        total = momentum * tl.load(velocity + where)
    else:
        total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, end, DEPTH):
        row = start + tl.arange(0, DEPTH)
        live = row < end
        pixel = row % PIXELS
        if GATHER:
            image = tl.load(index + model * listed + row // PIXELS, mask=live, other=0)
            place = image * PIXELS + pixel
        else:
            place = row
        if TAPS == 1:
            inside, source = live, place
        else:
            below, beside = pixel // WIDTH + down, pixel % WIDTH + right
            inside = live & (below >= 0) & (below < HEIGHT) & (beside >= 0) & (beside < WIDTH)
            source = place + down * WIDTH + right
        a = tl.load(x + source[:, None] * INWARD + channel[None, :], mask=inside[:, None], other=0.0)
        b = tl.load(slope + row[:, None] * OUTWARD + column[None, :], mask=live[:, None], other=0.0)
        total = tl.dot(tl.trans(a), b, total, input_precision=PRECISION)
    if MOVING:
        tl.store(velocity + where, total)
    before, size_of_step = tl.load(weight + where), tl.load(step + g)
    # 0 times infinity is no number
    moved = tl.where(size_of_step == 0, before, before - size_of_step * total)
    tl.store(weight + where, moved)
    tl.store(rounded + where, moved.to(rounded.dtype.element_ty))


# --- between the convolutions ------------------------------------------------------------------------------


@triton.jit
def _of_group(values, BLOCK: tl.constexpr, GROUP: tl.constexpr):
    """The sum over each group of channels, for each of its channels."""
    sums = tl.sum(tl.reshape(values, (BLOCK // GROUP, GROUP)), axis=1)
    return tl.reshape(tl.broadcast_to(sums[:, None], (BLOCK // GROUP, GROUP)), (BLOCK,))


@triton.jit
def _window(start, CHUNK: tl.constexpr, HEIGHT: tl.constexpr, WIDTH: tl.constexpr, POOL: tl.constexpr):
    """The pixels, (CHUNK, POOL²), that the outputs from `start` on are the largest of, and the outputs' numbers."""
    out = start + tl.arange(0, CHUNK)
    j = tl.arange(0, POOL * POOL)
    ACROSS: tl.constexpr = WIDTH // POOL
    corner = out // ACROSS * POOL * WIDTH + out % ACROSS * POOL
    return corner[:, None] + (j // POOL * WIDTH + j % POOL)[None, :], out


@triton.jit
def _mish(u):
    """u tanh(log(1 + e^u)), and its slope."""
    e = tl.exp(tl.minimum(u, CALM))
    s = e * (e + 2)
    t = s / (s + 2)
    return u * t, t + u * (1 - t * t) * (e / (1 + e))


@triton.jit
def activate(
    z,
    gamma,
    beta,
    skip,
    y,
    mean,
    scale,
    size,
    images,
    CHANNELS: tl.constexpr,
    HEIGHT: tl.constexpr,
    WIDTH: tl.constexpr,
    POOL: tl.constexpr,
    SKIP: tl.constexpr,
    CHUNK: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """y = pooled Mish of z, normalised by groups, plus `skip`; keeps each channel's mean and one over its deviation."""
    OUTPUTS: tl.constexpr = HEIGHT * WIDTH // (POOL * POOL)
    ACROSS: tl.constexpr = CHANNELS // BLOCK
    GROUP: tl.constexpr = CHANNELS // GROUPS
    item = tl.program_id(0) // ACROSS
    g = item // images
    if item % images < tl.load(size + g):
        channel = tl.program_id(0) % ACROSS * BLOCK + tl.arange(0, BLOCK)
        z += item.to(tl.int64) * (HEIGHT * WIDTH * CHANNELS)
        pivot = tl.load(z + channel).to(tl.float32)
        first = tl.zeros((BLOCK,), tl.float32)
        second = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, OUTPUTS, CHUNK):
            pixel, out = _window(start, CHUNK, HEIGHT, WIDTH, POOL)
            here = (out < OUTPUTS)[:, None, None]
            v = tl.load(z + pixel[:, :, None] * CHANNELS + channel[None, None, :], mask=here, other=0.0)
            v = tl.where(here, v.to(tl.float32) - pivot[None, None, :], 0.0)
            first += tl.sum(tl.sum(v, axis=1), axis=0)
            second += tl.sum(tl.sum(v * v, axis=1), axis=0)
        # of each channel, from its first pixel, so that squares of a large mean do not drown the spread
        first = first / (HEIGHT * WIDTH)
        second = second / (HEIGHT * WIDTH) - first * first
        centre = _of_group(pivot + first, BLOCK, GROUP) / GROUP
        apart = pivot + first - centre
        spread = _of_group(second + apart * apart, BLOCK, GROUP) / GROUP
        inverse = 1 / tl.sqrt(tl.maximum(spread, 0.0) + EPSILON)
        tl.store(mean + item * CHANNELS + channel, centre)
        tl.store(scale + item * CHANNELS + channel, inverse)
        factor = inverse * tl.load(gamma + g * (3 * CHANNELS) + channel)
        shift = tl.load(beta + g * (3 * CHANNELS) + channel) - centre * factor
        for start in range(0, OUTPUTS, CHUNK):
            pixel, out = _window(start, CHUNK, HEIGHT, WIDTH, POOL)
            here = out < OUTPUTS
            v = tl.load(
                z + pixel[:, :, None] * CHANNELS + channel[None, None, :], mask=here[:, None, None], other=0.0
            )
            active, _ = _mish(v.to(tl.float32) * factor[None, None, :] + shift[None, None, :])
            found = tl.max(active, axis=1)
            where = item.to(tl.int64) * (OUTPUTS * CHANNELS) + (out[:, None] * CHANNELS + channel[None, :])
            if SKIP:
                found += tl.load(skip + where, mask=here[:, None], other=0.0).to(tl.float32)
            tl.store(y + where, found.to(y.dtype.element_ty), mask=here[:, None])


@triton.jit
def _slopes(
    z,
    slope,
    start,
    channel,
    centre,
    inverse,
    factor,
    shift,
    CHANNELS: tl.constexpr,
    HEIGHT: tl.constexpr,
    WIDTH: tl.constexpr,
    POOL: tl.constexpr,
    CHUNK: tl.constexpr,
):
    """Pixels of a chunk, the normalised z, and the slope of the loss in what enters Mish; 0 behind the end."""
    OUTPUTS: tl.constexpr = HEIGHT * WIDTH // (POOL * POOL)
    pixel, out = _window(start, CHUNK, HEIGHT, WIDTH, POOL)
    here = out < OUTPUTS
    v = tl.load(
        z + pixel[:, :, None] * CHANNELS + channel[None, None, :], mask=here[:, None, None], other=0.0
    ).to(tl.float32)
    down = tl.load(slope + out[:, None] * CHANNELS + channel[None, :], mask=here[:, None], other=0.0)
    active, rise = _mish(v * factor[None, None, :] + shift[None, None, :])
    moved = down.to(tl.float32)[:, None, :] * rise
    if POOL > 1:  # the first of the largest gets it all
        j = tl.arange(0, POOL * POOL)[None, :, None]
        largest = tl.max(active, axis=1)[:, None, :]
        chosen = tl.min(tl.where(active == largest, j, POOL * POOL), axis=1)
        moved = tl.where(j == chosen[:, None, :], moved, 0.0)
    normal = (v - centre[None, None, :]) * inverse[None, None, :]
    return pixel, here, normal, moved


@triton.jit
def deactivate(
    z,
    gamma,
    beta,
    slope,
    out,
    parts,
    mean,
    scale,
    size,
    images,
    CHANNELS: tl.constexpr,
    HEIGHT: tl.constexpr,
    WIDTH: tl.constexpr,
    POOL: tl.constexpr,
    CHUNK: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """From the slope of the loss in the result of `activate` to that in z, and image by image to `parts`: those in
    gamma, beta and the bias that z contains, (models, images, 3, channels)."""
    OUTPUTS: tl.constexpr = HEIGHT * WIDTH // (POOL * POOL)
    ACROSS: tl.constexpr = CHANNELS // BLOCK
    GROUP: tl.constexpr = CHANNELS // GROUPS
    COUNT: tl.constexpr = HEIGHT * WIDTH * GROUP
    item = tl.program_id(0) // ACROSS
    g = item // images
    if item % images < tl.load(size + g):
        channel = tl.program_id(0) % ACROSS * BLOCK + tl.arange(0, BLOCK)
        z += item.to(tl.int64) * (HEIGHT * WIDTH * CHANNELS)
        out += item.to(tl.int64) * (HEIGHT * WIDTH * CHANNELS)
        slope += item.to(tl.int64) * (OUTPUTS * CHANNELS)
        centre = tl.load(mean + item * CHANNELS + channel)
        inverse = tl.load(scale + item * CHANNELS + channel)
        weight = tl.load(gamma + g * (3 * CHANNELS) + channel)
        factor = inverse * weight
        shift = tl.load(beta + g * (3 * CHANNELS) + channel) - centre * factor
        if OUTPUTS == CHUNK:  # all at once: nothing is read or computed twice
            pixel, here, normal, moved = _slopes(
                z, slope, 0, channel, centre, inverse, factor, shift, CHANNELS, HEIGHT, WIDTH, POOL, CHUNK
            )
            in_beta = tl.sum(tl.sum(moved, axis=1), axis=0)
            in_gamma = tl.sum(tl.sum(moved * normal, axis=1), axis=0)
            level = _of_group(weight * in_beta, BLOCK, GROUP) / COUNT
            tilt = _of_group(weight * in_gamma, BLOCK, GROUP) / COUNT
            d = weight[None, None, :] * moved - level[None, None, :] - normal * tilt[None, None, :]
            d = d * inverse[None, None, :]
            tl.store(out + pixel[:, :, None] * CHANNELS + channel[None, None, :], d.to(out.dtype.element_ty))
            in_bias = tl.sum(tl.sum(d, axis=1), axis=0)
        else:
            in_beta = tl.zeros((BLOCK,), tl.float32)
            in_gamma = tl.zeros((BLOCK,), tl.float32)
            in_bias = tl.zeros((BLOCK,), tl.float32)
            for start in range(0, OUTPUTS, CHUNK):
                pixel, here, normal, moved = _slopes(
                    z, slope, start, channel, centre, inverse, factor, shift,
                    CHANNELS, HEIGHT, WIDTH, POOL, CHUNK,
                )  # fmt: skip
                in_beta += tl.sum(tl.sum(moved, axis=1), axis=0)
                in_gamma += tl.sum(tl.sum(moved * normal, axis=1), axis=0)
            level = _of_group(weight * in_beta, BLOCK, GROUP) / COUNT
            tilt = _of_group(weight * in_gamma, BLOCK, GROUP) / COUNT
            for start in range(0, OUTPUTS, CHUNK):
                pixel, here, normal, moved = _slopes(
                    z, slope, start, channel, centre, inverse, factor, shift,
                    CHANNELS, HEIGHT, WIDTH, POOL, CHUNK,
                )  # fmt: skip
                d = weight[None, None, :] * moved - level[None, None, :] - normal * tilt[None, None, :]
                d = tl.where(here[:, None, None], d * inverse[None, None, :], 0.0)
                where = pixel[:, :, None] * CHANNELS + channel[None, None, :]
                tl.store(out + where, d.to(out.dtype.element_ty), mask=here[:, None, None])
                in_bias += tl.sum(tl.sum(d, axis=1), axis=0)
        part = parts + item * (3 * CHANNELS) + channel
        tl.store(part, in_gamma)
        tl.store(part + CHANNELS, in_beta)
        tl.store(part + 2 * CHANNELS, in_bias)
