r"""Sums over the rounds, \(\sum_{t=s}^{T}f(t)\), for horizons far beyond what can be added up term by term.

Between its corners a bound is a smooth function of real t, so the rounds are covered by blocks that grow
geometrically away from every corner. Short blocks are added term by term. On a long block f is replaced by
the polynomial that agrees with it at m Gauss points, and that polynomial is summed exactly over the N rounds
of the block. With the rounds at the midpoints \(x_j=(2j+1-N)/N\) of N cells of [-1, 1], and k even,

\[\frac1N\sum_{j<N}P_k(x_j)=\sum_{r=1}^{k/2}\frac{B_{2r}(1/2)}{(2r)!}\Big(\frac2N\Big)^{2r}P_k^{(2r-1)}(1),
  \qquad P_k^{(s)}(1)=\frac{(k+s)!}{2^s\,s!\,(k-s)!}\qquad(k\ge2),\]

which is Euler-Maclaurin, finite for a polynomial. The points are the same for every block and the weights
are a polynomial in \(N^{-2}\), so nothing is recomputed when N changes.

`total` does this in float64 and estimates its error; `total_ball` does it in Arb and proves it; `plain_total`
is the slow, obvious twin of both.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

__all__ = ["Sum", "plain_total", "total", "total_ball"]

POINTS = 20  # even; on a block [a, 2a] with a singularity at 0 every point gains a factor of 5.8
TOLERANCE = 2**-47  # accepted error of a block relative to the block, about 7e-15
NEGLIGIBLE = 2**-53  # accepted error of a block relative to the whole sum
NOISE = 2**-40  # below this an estimate that bisection does not improve is rounding, not before
ROUNDING = 2**-49  # eight units in the last place of every term, for the evaluation of f and the addition
BLOCKS_MAX = 2**14  # in one round of bisection; beyond it the remaining estimates are reported, not improved
BALL_TERMS_MAX = 2**18  # evaluations of f by `total_ball` before it gives up
CHUNK_TERMS = 2**16  # of `plain_total`: its arrays stay in the cache
ELLIPSE = 3  # the parameter of the Bernstein ellipse on which `total_ball` bounds f


@dataclass(frozen=True)
class Sum:
    """A sum and an estimate of its absolute error; arrays where several sums were taken at once."""

    value: Any
    error: Any


def total(f: Callable[[Any], Any], T: int, breaks: Iterable[int] = (), start: int = 1) -> Sum:
    r"""\(\sum_{t=s}^{T}f(t)\) in float64, with an estimate (not a bound) of its error, usually 4e-15 of it.

    `f` maps an array of n real rounds to shape (..., n), or to a list of such terms, summed separately. It is
    smooth except near `start` and near the integers `breaks`: b says that anything may happen between b and
    b+1. Bisection finds a corner that is not named, but not a peak that hides between the points. T < 2^52.

    >>> harmonic = total(lambda t: 1 / t, 10**15)
    >>> bool(abs(harmonic.value - (math.log(10**15) + np.euler_gamma)) < harmonic.error < 1e-12)
    True
    """
    if T >= 2**52:
        raise ValueError(f"float64 counts half-rounds up to 2**52 only, got T={T}: use total_ball")
    borders = np.array(_borders(start, T, breaks, head=2 * POINTS))
    low, size = borders[:-1], np.diff(borders)
    before = np.full(low.shape, np.inf)
    value = error = mass = np.float64(0)
    while low.size:
        terms, low, size, before = _split_short(low, size, before)
        singles, blocks, weights = _evaluate(f, terms, low, size)
        value, mass = value + singles.sum(-1), mass + np.abs(singles).sum(-1)
        parts = blocks * weights
        masses = np.abs(parts).sum(-1)
        tails = size * np.abs(blocks @ float_rule()[2]).sum(-1)

        whole = (mass + np.where(np.isfinite(tails), masses, 0).sum(-1))[..., np.newaxis]
        whole = np.where(whole > 0, whole, np.inf)  # nothing improves a sum that is zero or already NaN
        now = _over_sums(np.max, tails / whole)
        fine = _over_sums(np.all, tails <= np.maximum(TOLERANCE * masses, NEGLIGIBLE * whole))
        stuck = (now < NOISE) & (4 * now > before)
        done = fine | stuck | (2 * size.size > BLOCKS_MAX)
        value, mass = value + parts[..., done, :].sum((-2, -1)), mass + masses[..., done].sum(-1)
        error = error + tails[..., done].sum(-1)

        low, size, before = low[~done], size[~done], np.tile(now[~done], 2)
        left = size // 2
        low, size = np.concatenate([low, low + left]), np.concatenate([left, size - left])
    return Sum(value, error + ROUNDING * mass)


def plain_total(f: Callable[[Any], Any], T: int, start: int = 1) -> Any:
    """The sum of `total`, term by term: chunks in NumPy, the chunks added exactly. The slow twin of `total`.

    >>> plain_total(lambda t: [t, t * t], 10)
    array([ 55., 385.])
    """
    chunks = [
        np.sum(_values(f, np.arange(low, min(low + CHUNK_TERMS, T + 1), dtype=np.float64)), axis=-1)
        for low in range(start, T + 1, CHUNK_TERMS)
    ]
    return np.apply_along_axis(math.fsum, 0, np.stack(chunks))[()]


def total_ball(
    f: Callable[[Any], Any], T: int, breaks: Iterable[int] = (), start: int = 1, prec: int = 128
) -> Any:
    r"""A ball proved to contain \(\sum_{t=s}^{T}f(t)\), of relative radius about \(2^{-\mathrm{prec}/2}\).

    `f` maps an `arb` to an `arb`, or to a list of them, summed separately, and an `acb` to a ball that is
    finite only if f is analytic there, as the functions of `theory.numbers.algebra` do (a fractional power does not).
    Its constants are `int` or `arb`, made at this precision. Breaks matter for speed alone. Raises
    ArithmeticError rather than return a ball that proves nothing.

    Proof for a block of N rounds, moved onto [-1, 1]: let f be analytic and at most M in modulus on the
    Bernstein ellipse of parameter q. Its Chebyshev series, cut after degree m-1, misses f on [-1, 1] by at
    most \(2Mq^{1-m}/(q-1)\) (Trefethen, *Approximation Theory and Approximation Practice*, Theorem 8.2). The
    rule is exact for that polynomial, so it misses the sum by at most \(N+\sum|w_i|\) times as much. M comes
    from one evaluation of f on a rectangle that contains the ellipse; where that fails, the block is halved.

    >>> 12 in 25 / total_ball(lambda t: 1 / t, 4)
    True
    """
    from flint import arb, ctx

    with ctx.workprec(prec):
        points = prec // 3 + 4
        blocks = ((low, high - low) for low, high in pairwise(_borders(start, T, breaks, head=2 * points)))
        # a stack, with the plain terms on top: they come first and set the scale for the rest
        stack = sorted(blocks, key=lambda block: (block[1] <= 2 * points, -block[0]))
        several = isinstance(f(arb(start)), list | tuple)
        sums: list[Any] = []
        spent = 0
        while stack:
            low, size = stack.pop()
            if size <= 2 * points:
                parts = [_listed(f(arb(t)), arb) for t in range(low, low + size)]
                block = [sum(column, arb(0)) for column in zip(*parts, strict=True)]
            else:
                block = ball_of_block(f, low, size, points, sums, goal=prec // 2)
            spent += min(size, 2 * points)
            if spent > BALL_TERMS_MAX:
                raise ArithmeticError(
                    f"no proof within {BALL_TERMS_MAX} evaluations, the last at round {low}: "
                    "sum fewer rounds, or name f's corners in breaks"
                )
            if block:
                sums = [a + b for a, b in zip(sums, block, strict=True)] if sums else block
            else:
                stack += [(low + size // 2, size - size // 2), (low, size // 2)]
        if not all(s.is_finite() for s in sums):
            raise ArithmeticError("f is not finite in every round, so its sum has no enclosure")
        return sums if several else sums[0]


# --- the blocks and the rule -------------------------------------------------------------------------------


def _borders(start: int, T: int, breaks: Iterable[int], head: int) -> list[int]:
    """First rounds of the blocks, and T+1: `head` rounds next to start and breaks, doubling from there."""
    if not 0 <= start <= T:
        raise ValueError(f"a sum runs from 0 <= start to T >= start, got start={start} and T={T}")
    inner = {b for b in breaks if start <= b <= T}
    ends = sorted({start, T + 1} | {b + 1 for b in inner})
    borders = set(ends)
    for left, right in pairwise(ends):
        two_sided = right - 1 in inner
        limit = (left + right) // 2 if two_sided else right
        for step in (head << doublings for doublings in range(limit.bit_length())):
            if left + step < limit:
                borders |= {left + step, right - step} if two_sided else {left + step}
        borders.add(limit)
    return sorted(borders)


def _legendre(nodes: Any) -> Any:
    """Rows P_0 .. P_{m-1} at m points of any number system."""
    rows = [nodes**0, nodes]
    for k in range(1, len(nodes) - 1):
        rows.append(((2 * k + 1) * nodes * rows[k] - k * rows[k - 1]) / (k + 1))
    return np.stack(rows)


def _weight_table(legendre: Any, gauss: Any, number: Callable[[Fraction], Any]) -> Any:
    r"""Rows W_r with \(w_i(N)=N\sum_rW_{ri}N^{-2r}\), from P_k at the points and the integral's weights."""
    from mpmath import bernfrac

    m = len(legendre)
    rows = [gauss / 2]
    for r in range(1, (m + 1) // 2):
        s = 2 * r - 1
        top, bottom = map(int, bernfrac(2 * r))  # where gmpy2 is installed, they are its own integers
        bernoulli = Fraction(top, bottom) * (Fraction(2, 4**r) - 1)
        row = 0 * gauss
        for k in range(2 * r, m, 2):
            slope = Fraction(math.factorial(k + s), 2**s * math.factorial(s) * math.factorial(k - s))
            row = row + number((2 * k + 1) * bernoulli * 4**r / math.factorial(2 * r) * slope) * legendre[k]
        rows.append(row * gauss / 2)
    return np.stack(rows)


# --- float64 -----------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def float_rule() -> tuple[Any, Any, Any]:
    """Points, weight table, and the functionals that give the last two Legendre coefficients of a block.

    Gauss-Lobatto points: they include both ends of the block, so a corner cannot hide next to a border.
    """
    k = np.arange(1, POINTS - 2)
    off_diagonal = np.sqrt(k * (k + 2) / ((2 * k + 1) * (2 * k + 3)))
    inner = np.linalg.eigvalsh(np.diag(off_diagonal, -1))
    nodes = np.concatenate([[-1], (inner - inner[::-1]) / 2, [1]])
    legendre = _legendre(nodes)
    lobatto = 2 / (POINTS * (POINTS - 1) * legendre[-1] ** 2)
    table = _weight_table(legendre, lobatto, float)
    # orthogonalised at the rounded nodes: the plain formula gives 1e-14 of a constant in place of 0
    root = np.sqrt(lobatto)[:, np.newaxis]
    last = np.linalg.qr(root * legendre.T).Q[:, -2:] * np.sqrt([POINTS - 3 / 2, (POINTS - 1) / 2])
    return nodes, table, root * last


def _values(f: Callable[[Any], Any], t: Any) -> Any:
    """f(t) with the rounds on the last axis, also where f is constant."""
    values = f(t)
    if isinstance(values, list | tuple):
        values = np.stack(np.broadcast_arrays(t, *values)[1:])
    values = np.asarray(values)
    return np.broadcast_to(values, np.broadcast_shapes(values.shape, t.shape))


def _split_short(low: Any, size: Any, before: Any) -> tuple[Any, Any, Any, Any]:
    """All rounds of the short blocks, one by one, and the long blocks that remain."""
    short = size <= 2 * POINTS
    first, count = low[short], size[short]
    terms = np.repeat(first - np.cumsum(count) + count, count) + np.arange(count.sum())
    return terms, low[~short], size[~short], before[~short]


def _evaluate(f: Callable[[Any], Any], terms: Any, low: Any, size: Any) -> tuple[Any, Any, Any]:
    """One call of f: its values at the plain rounds, at the points of the blocks, and the blocks' weights."""
    nodes, table, _ = float_rule()
    middle, half = low + (size - 1) / 2, size / 2
    points = middle[:, np.newaxis] + half[:, np.newaxis] * nodes
    values = _values(f, np.concatenate([terms, points.ravel()]))
    powers = np.power.outer(size.astype(np.float64) ** -2, np.arange(len(table)))
    blocks = values[..., len(terms) :].reshape(*values.shape[:-1], *points.shape)
    return values[..., : len(terms)], blocks, size[:, np.newaxis] * (powers @ table)


def _over_sums(reduce: Callable[..., Any], per_block: Any) -> Any:
    """One verdict per block on all the sums taken at once, which are the leading axes."""
    return reduce(per_block, axis=tuple(range(per_block.ndim - 1)))


# --- balls -------------------------------------------------------------------------------------------------


def _listed(value: Any, ball: Callable[[Any], Any]) -> list[Any]:
    return [ball(v) for v in value] if isinstance(value, list | tuple) else [ball(value)]


@lru_cache(maxsize=8)
def ball_rule(points: int, prec: int) -> tuple[Any, Any]:
    """Points and weight table; the precision is an argument because the cached balls depend on it."""
    from flint import arb, ctx

    with ctx.workprec(prec):
        pairs = [arb.legendre_p_root(points, k, weight=True) for k in range(points)]
        nodes, gauss = (np.array(column, dtype=object) for column in zip(*pairs, strict=True))
        return nodes, _weight_table(_legendre(nodes), gauss, lambda c: arb(c.numerator) / c.denominator)


@lru_cache(maxsize=256)
def ball_weights(size: int, points: int, prec: int, ellipse: int = ELLIPSE) -> tuple[Any, Any]:
    """The rule's weights for a block of this size, in a row, and by how much it misses a function of modulus 1."""
    from flint import arb, arb_mat, ctx

    _, table = ball_rule(points, prec)
    with ctx.workprec(prec):
        powers = size * arb_mat([[arb(size) ** (-2 * r) for r in range(len(table))]])
        weights = powers * arb_mat(table.tolist())
        miss = (size + sum(map(abs, weights.entries()))) * 2 / ((ellipse - 1) * arb(ellipse) ** (points - 1))
        return weights, miss


def ball_of_block(
    f: Callable[[Any], Any],
    low: int,
    size: int,
    points: int,
    sums: list[Any],
    goal: int,
    ellipse: int = ELLIPSE,
) -> list[Any]:
    """Enclosures of the block's sums, or none if they miss 2^-goal of the block and of `sums`."""
    from flint import acb, arb, arb_mat, ctx

    middle, half = arb(2 * low + size - 1) / 2, arb(size) / 2
    unit = arb(0, 1)
    across, up = (half * (ellipse**2 + sign) / (2 * ellipse) * unit for sign in (1, -1))
    largest = [abs(v) for v in _listed(f(acb(middle + across, up)), acb)]
    if not all(m.is_finite() for m in largest):
        return []
    nodes, _ = ball_rule(points, ctx.prec)
    weights, miss = ball_weights(size, points, ctx.prec, ellipse)
    values = arb_mat([_listed(f(middle + half * x), arb) for x in nodes])
    block = (weights * values).entries()
    errors = [(miss * m).upper() for m in largest]
    scale = [abs(b) + abs(s) for b, s in zip(block, sums or [arb(0)] * len(block), strict=True)]
    if any(e > s.upper() / 2**goal for e, s in zip(errors, scale, strict=True)):
        return []
    return [b + e * unit for b, e in zip(block, errors, strict=True)]
