"""The kernels against torch, one layer at a time: on a GPU as they are, elsewhere in Triton's interpreter."""

import pytest
import torch
from torch.nn import functional as F

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
kernels = pytest.importorskip("empirics.training.kernels", exc_type=ImportError)
MODELS, IMAGES, HEIGHT, WIDTH = 2, 3, 3, 5
SIZE = (3, 2)
SIZES = torch.tensor(SIZE, dtype=torch.int32, device=DEVICE)
SHAPE = {"HEIGHT": HEIGHT, "WIDTH": WIDTH}
CUT = {"ROWS": 32, "COLUMNS": 32, "DEPTH": 16, "PRECISION": "ieee", "num_warps": 4}


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(1)


def random(*shape):
    return torch.randn(shape, device=DEVICE, dtype=torch.float64)


def rows(images):
    """(models, images, channels, height, width) as the kernels have it."""
    return images.flatten(3).transpose(2, 3).contiguous().float()


def images(rows, height=HEIGHT, width=WIDTH):
    return rows.double().transpose(2, 3).reshape(*rows.shape[:2], rows.shape[3], height, width)


def taps(weight):
    """(models, outward, inward, 3, 3) as the kernels have it."""
    turned = weight.flatten(3).permute(0, 3, 2, 1)
    return turned.reshape(len(weight), -1, weight.shape[1]).contiguous().float()


def poisoned(*shape):
    return torch.full(shape, torch.nan, device=DEVICE)


def same(found, wanted, exact=1e-4):
    """On the images that are there; the others were never written."""
    for g, size in enumerate(SIZE):
        assert torch.allclose(found[g, :size], wanted[g, :size], rtol=exact, atol=exact)
        assert found[g, size:].isnan().all()


def convolved(x, weight, *, bias=None, add=None, back=False):
    inward, outward = x.shape[2], weight.shape[2 if back else 1]
    given, y = rows(x), poisoned(MODELS, IMAGES, HEIGHT * WIDTH, outward)
    count = IMAGES * HEIGHT * WIDTH
    programs = MODELS * -(-count // CUT["ROWS"]) * (outward // CUT["COLUMNS"])
    small = torch.zeros(MODELS, 3, outward, device=DEVICE)
    if bias is not None:
        small[:, 2] = bias
    flags = {"TAPS": 9, "GATHER": False, "BACK": back, "BIAS": bias is not None, "ADD": add is not None}
    more = given if add is None else rows(add)
    kernels.convolve[(programs,)](
        given, SIZES, taps(weight), small[:, 2], more, y, SIZES, count, 0,
        INWARD=inward, OUTWARD=outward, **SHAPE, **flags, **CUT,
    )  # fmt: skip
    return images(y)


def descended(x, slope, weight, rounded, velocity, step, momentum=0.0):
    """A step from `weight`, which it changes."""
    inward, outward = x.shape[2], slope.shape[2]
    kernels.descend[(MODELS * 9 * inward // 32 * outward // 32,)](
        rows(x), SIZES, rows(slope), weight, rounded, velocity, step, SIZES, IMAGES * HEIGHT * WIDTH, 0, momentum,
        INWARD=inward, OUTWARD=outward, **SHAPE, TAPS=9, GATHER=False, MOVING=momentum > 0, **CUT,
    )  # fmt: skip


def each(function, *arguments):
    return torch.stack([function(*some) for some in zip(*arguments, strict=True)])


def test_a_convolution_and_its_way_back_are_torchs():
    weight = random(MODELS, 64, 32, 3, 3)
    x, slope = random(MODELS, IMAGES, 32, HEIGHT, WIDTH), random(MODELS, IMAGES, 64, HEIGHT, WIDTH)
    bias, add = random(MODELS, 64), random(MODELS, IMAGES, 32, HEIGHT, WIDTH)
    wanted = each(lambda a, b, c: F.conv2d(a, b, c, padding=1), x, weight, bias)
    same(convolved(x, weight, bias=bias), wanted)
    wanted = each(lambda a, b: F.conv_transpose2d(a, b, padding=1), slope, weight) + add
    same(convolved(slope, weight, add=add, back=True), wanted)


@pytest.mark.parametrize("momentum", [0.0, 0.7])
def test_a_step_of_descent_is_torchs(momentum):
    x, slope = random(MODELS, IMAGES, 32, HEIGHT, WIDTH), random(MODELS, IMAGES, 64, HEIGHT, WIDTH)
    weight, before = random(MODELS, 64, 32, 3, 3), random(MODELS, 64, 32, 3, 3)
    for g, size in enumerate(SIZE):
        x[g, size:] = torch.nan
        slope[g, size:] = torch.nan
    step = torch.tensor([0.1, 0.3], device=DEVICE)
    leaves = weight.clone().requires_grad_()
    loss = sum((F.conv2d(x[g, :n], leaves[g], padding=1) * slope[g, :n]).sum() for g, n in enumerate(SIZE))
    loss.backward()
    velocity = leaves.grad + momentum * before
    found, rounded, kept = taps(weight), torch.zeros_like(taps(weight)), taps(before)
    descended(x, slope, found, rounded, kept, step, momentum)
    wanted = taps(weight - step.view(-1, 1, 1, 1, 1).double() * velocity)
    assert torch.allclose(found, wanted, rtol=1e-4, atol=1e-4)
    assert torch.equal(found, rounded)
    if momentum:
        assert torch.allclose(kept, taps(velocity), rtol=1e-4, atol=1e-4)


def test_images_may_be_chosen_from_a_data_set():
    data, weight = random(5, 15, 32), random(MODELS, 32, 32)
    index = torch.tensor([[4, 0, 3], [1, 1, 2]], device=DEVICE)
    y = poisoned(MODELS, IMAGES, 15, 32)
    flags = {"TAPS": 1, "GATHER": True, "BACK": False, "BIAS": False, "ADD": False}
    given, programs = data.float(), MODELS * 2
    kernels.convolve[(programs,)](
        given, index, weight.float(), given, given, y, SIZES, 45, IMAGES,
        INWARD=32, OUTWARD=32, **SHAPE, **flags, **CUT,
    )  # fmt: skip
    same(y.double(), each(lambda i, w: data[i] @ w, index, weight))
    moved, slope = weight.float(), random(MODELS, IMAGES, 15, 32).float()
    kernels.descend[(MODELS,)](
        given, index, slope, moved, moved, moved, torch.ones(2, device=DEVICE), SIZES, 45, IMAGES, 0.0,
        INWARD=32, OUTWARD=32, **SHAPE, TAPS=1, GATHER=True, MOVING=False, **CUT,
    )  # fmt: skip
    for g, n in enumerate(SIZE):
        gradient = torch.einsum("npk,npc->kc", data[index[g, :n]], slope[g, :n].double())
        assert torch.allclose(moved[g].double(), weight[g] - gradient, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("pool", "height", "width", "chunk", "channels", "skipping"),
    [(1, 4, 8, 32, 32, True), (2, 4, 8, 8, 32, False), (2, 6, 6, 8, 64, True), (1, 3, 3, 8, 32, True)],
)
def test_norm_mish_pooling_and_sum_are_torchs(pool, height, width, chunk, channels, skipping):
    """All at once, and in chunks of which the last is not full."""
    shape = {"CHANNELS": channels, "HEIGHT": height, "WIDTH": width, "POOL": pool}
    z = 3 * random(MODELS, IMAGES, channels, height, width) + 1
    z[0, 1] = z[0, 1].round()  # the largest of four may be there twice
    z[0, 2] = 2.5  # no spread at all
    z[1, 0] += 1000.0  # a large mean must not drown the spread
    small, skip = random(MODELS, 3, channels), random(MODELS, IMAGES, channels, height // pool, width // pool)
    small[1, 0, :4] = 60.0  # Mish must not overflow
    leaves = [values.clone().requires_grad_() for values in (z, small)]

    def block(z, small):
        active = F.mish(F.group_norm(z, 32, small[0], small[1]))
        return F.max_pool2d(active, pool)

    wanted = each(block, *leaves) + (skip if skipping else 0)
    outputs = height * width // pool**2
    cut = {"CHUNK": chunk, "BLOCK": 32, "num_warps": 4}
    programs = MODELS * IMAGES * (channels // 32)
    y, parameters = poisoned(MODELS, IMAGES, outputs, channels), small.float()
    mean, scale = (poisoned(MODELS, IMAGES, channels) for _ in range(2))
    kernels.activate[(programs,)](
        rows(z), parameters[:, 0], parameters[:, 1], rows(skip), y, mean, scale, SIZES, IMAGES,
        **shape, SKIP=skipping, **cut,
    )  # fmt: skip
    exact = 2e-3  # float32 of numbers around 1000, sixtyfold
    same(images(y, height // pool, width // pool), wanted, exact)

    slope = random(*wanted.shape)
    slope[0, 2] = 0  # without spread, gradients are as large as one over the root of epsilon
    for g, size in enumerate(SIZE):
        slope[g, size:] = 0
    wanted.backward(slope)
    out = poisoned(MODELS, IMAGES, height * width, channels)
    parts = torch.zeros(MODELS, IMAGES, 3, channels, device=DEVICE)
    kernels.deactivate[(programs,)](
        rows(z), parameters[:, 0], parameters[:, 1], rows(slope), out, parts, mean, scale, SIZES, IMAGES,
        **shape, **cut,
    )  # fmt: skip
    same(images(out, height, width), leaves[0].grad, exact)
    found = parts.sum(1).double()
    assert torch.allclose(found[:, :2], leaves[1].grad[:, :2], rtol=exact, atol=exact)
    assert torch.allclose(found[:, 2], leaves[0].grad.sum((1, 3, 4)), rtol=exact, atol=5 * exact)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_step_of_size_0_moves_nothing_whatever_the_gradient():
    x, slope = random(MODELS, IMAGES, 32, HEIGHT, WIDTH), random(MODELS, IMAGES, 32, HEIGHT, WIDTH)
    slope[0] = torch.inf
    weight = taps(random(MODELS, 32, 32, 3, 3))
    found, step = weight.clone(), torch.tensor([0.0, 0.1], device=DEVICE)
    descended(x, slope, found, found, None, step)
    assert torch.equal(found[0], weight[0])
    assert not torch.isclose(found[1], weight[1]).any()
