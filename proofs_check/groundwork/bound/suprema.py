"""Exact means of suprema of weighted empirical processes, for the two classes where they are easy.

Samples are uniform on [0, 1]. For thresholds the supremum is a weighted Kolmogorov statistic, for intervals a weighted
Kuiper statistic; with rational weights their means are rational.
"""

from functools import lru_cache
from itertools import accumulate, combinations, permutations
from math import factorial

from proofs_check.prelude import *


def _chance(low: Sequence[Fraction], high: Sequence[Fraction]) -> Fraction:
    """P(low_k <= U_(k) <= high_k for all k), order statistics of uniform samples: points counted cell by cell."""
    N = len(low)
    if any(b <= 0 for b in high):  # before the first cell
        return Fraction(0)
    ways = [Fraction(1)] + [Fraction(0)] * N
    for left, right in pairwise(sorted({Fraction(0), Fraction(1), *low, *high})):
        width = right - left
        least, most = sum(b <= right for b in high), sum(a < right for a in low)
        ways = [
            sum((ways[i] * width ** (c - i) / factorial(c - i) for i in range(c + 1)), Fraction(0))
            if least <= c <= most
            else Fraction(0)
            for c in range(N + 1)
        ]
    return factorial(N) * ways[N]


@lru_cache(maxsize=8)
def _quadrature(degree: int) -> tuple[Fraction, ...]:
    """Weights at 0, 1/degree, …, 1 that integrate every polynomial of that degree over [0, 1] exactly."""
    x = sp.Symbol("x")
    nodes = [sp.Rational(i, degree) for i in range(degree + 1)]
    basis = (sp.prod((x - b) / (a - b) for b in nodes if b != a) for a in nodes)
    return tuple(Fraction(str(sp.integrate(sp.expand(b), (x, 0, 1)))) for b in basis)


def _mean(chance: Callable[[Fraction], Fraction], corners: Iterable[Fraction], degree: int) -> Fraction:
    """E S for 0 <= S <= 1, from P(S <= s), a polynomial of that degree between the corners."""
    ends = sorted({Fraction(0), Fraction(1), *(c for c in corners if 0 < c < 1)})
    weights = _quadrature(degree)
    total = Fraction(0)
    for left, right in pairwise(ends):
        width = right - left
        total += width * sum(w * (1 - chance(left + width * i / degree)) for i, w in enumerate(weights))
    return total


def _clip(x: Fraction) -> Fraction:
    return min(max(x, Fraction(0)), Fraction(1))


def _over_orders(
    weights: Sequence[Fraction], mean_of_order: Callable[[list[Fraction]], Fraction]
) -> Fraction:
    """The weights meet the sorted samples in every order, equally often."""
    orders = list(permutations(weights))
    distinct = {order: orders.count(order) for order in set(orders)}
    found = (count * mean_of_order([Fraction(0), *accumulate(order)]) for order, count in distinct.items())
    return sum(found, Fraction(0)) / len(orders)


def kolmogorov_mean(weights: Sequence[Fraction]) -> Fraction:
    """E sup_x |x - Σ ω_i 1{z_i <= x}|, samples uniform on [0, 1]; exact.

    >>> kolmogorov_mean([Fraction(1)])
    Fraction(3, 4)
    """

    def of_order(W: list[Fraction]) -> Fraction:
        def chance(s: Fraction) -> Fraction:
            return _chance([_clip(w - s) for w in W[1:]], [_clip(w + s) for w in W[:-1]])

        corners = {*W, *(1 - w for w in W), *((b - a) / 2 for a, b in combinations(W, 2))}
        return _mean(chance, corners, len(weights))

    return _over_orders(weights, of_order)


def kuiper_mean(weights: Sequence[Fraction]) -> Fraction:
    """E sup |(b - a) - Σ ω_i 1{a <= z_i <= b}| over intervals, samples uniform on [0, 1]; exact.

    The supremum is that of W - U plus that of U - W over the sorted samples.

    >>> kuiper_mean([Fraction(1)])
    Fraction(1, 1)
    """
    N = len(weights)
    zeros, ones = [Fraction(0)] * N, [Fraction(1)] * N

    def of_order(W: list[Fraction]) -> Fraction:
        above = _mean(lambda s: _chance([_clip(w - s) for w in W[1:]], ones), W, N)
        below = _mean(lambda s: _chance(zeros, [_clip(w + s) for w in W[:-1]]), (1 - w for w in W), N)
        return above + below

    return _over_orders(weights, of_order)
