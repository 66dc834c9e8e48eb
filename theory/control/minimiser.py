r"""The exact minimiser of \(J_t\) over an interval, for many runs at once.

Write \(n=r+\Lambda\), \(N=N_0+\Lambda\), \(a=N_0-r\ge 0\), \(x=N/\mathrm{Pdim}\). Then \(p=h+10B\,g(x)\) with
\(h=D\sigma\sqrt u+\eta\sigma^2u\), \(u=a/(nN)\), \(g(x)=\sqrt{(1+\log^+x)/x}\). It falls strictly, and

* \(h\) is convex everywhere;
* \(g\) is convex for \(x<1\), has a convex corner at \(x=1\) (slope -1/2 on its left, 0 on its right), is
  concave from there to \(x_i=e^{(\sqrt7-1)/3}\), and convex beyond;
* between 1 and \(x_i\), \(J_t''=V(h''-10B|g''|/\mathrm{Pdim}^2)\) has at most two zeros. In \(\log N\),
  \(h''\) is log-convex, being a sum of positive multiples of \(N^{-j}(N-a)^{-i}\), and \(|g''|\) is
  log-concave; so the log of \(h''\) over \(10B|g''|/\mathrm{Pdim}^2\), the excess, is convex.

So \(J_t\) is convex, then perhaps concave, then convex, and its minimum is the better of the minima of at
most two convex pieces. Newton's method finds both inflections from outside, where it is monotone, and then
the zero of \(J_t'\) on each piece. No grid, no search.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.control.penalty import penalty
from theory.numbers.algebra import log_plus, ratio, sqrt
from theory.setting import Constants, SettingError

__all__ = ["drift_plus_penalty", "generalisation_slopes", "mismatch_jerk", "mismatch_slopes"]
__all__ += ["optimal_admission"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

NEWTON_STEPS_MAX = 40  # steps before a solve is left to bisection alone; three or four are usual
SOLVER_STEPS_MAX = 100  # and here bisection ends
LAST_STEP_SHARE = 2**-32  # a relative step this small is the last: Newton's method squares it
ROUNDING_SHARE = 2**-48  # a residual of sixteen roundings carries no information


def drift_plus_penalty(
    Lambda: Any, *, Z: Any, cost: Any, C: Any, V: Any, retained: Any, seen: Any, constants: Constants
) -> Any:
    r"""\(J_t=Z(t)(c(t)\Lambda-C)+V\,p(n,N)\) (`eq:dpp-upper-2`); exact.

    \(n=\Lambda\,+\) `retained`, the sum of the last K-1 admissions; \(N=\Lambda\,+\) `seen`, which is N(t-1).

    >>> unit = Constants(D=1, sigma=1, eta=1, B=1, Pdim=1)
    >>> drift_plus_penalty(1, Z=2, cost=3, C=4, V=1, retained=0, seen=0, constants=unit)
    Fraction(8, 1)
    """
    return Z * (cost * Lambda - C) + V * penalty(retained + Lambda, seen + Lambda, constants)


# --- derivatives of the penalty, in Λ ----------------------------------------------------------------------


def _parts(n: Any, N: Any, expired: Any, constants: Constants) -> tuple[Any, Any, Any, Any]:
    """1/n + 1/N, 1/(nN) and the first two terms of p, from N - n = `expired`: 1/n - 1/N would cancel."""
    i, j = ratio(1, n), ratio(1, N)
    mismatch = expired * (i * j)
    root = constants.D * constants.sigma * sqrt(mismatch)
    return i + j, i * j, root, constants.eta * constants.sigma**2 * mismatch


def mismatch_slopes(n: Any, N: Any, expired: Any, constants: Constants) -> tuple[Any, Any]:
    r"""\((-h',\,h'')\) of the first two terms of \(p\) (`eq:penalty-dpp`), both non-negative; exact.

    `expired` is N - n.

    >>> mismatch_slopes(1, 4, 3, Constants(D=2, sigma=1, eta=1, B=1, Pdim=1))[0]
    15/16 + 5*sqrt(3)/8
    """
    s, q, root, linear = _parts(n, N, expired, constants)
    return s * (root / 2 + linear), root * (3 * s * s - 4 * q) / 4 + 2 * linear * (s * s - q)


def mismatch_jerk(n: Any, N: Any, expired: Any, constants: Constants) -> Any:
    r"""The negative third derivative of the same two terms, non-negative; exact.

    >>> mismatch_jerk(2, 2, 0, Constants(D=1, sigma=1, eta=1, B=1, Pdim=1))
    Fraction(0, 1)
    """
    s, q, root, linear = _parts(n, N, expired, constants)
    return s * (3 * root * (5 * s * s - 12 * q) / 8 + 6 * linear * (s * s - 2 * q))


def generalisation_slopes(N: Any, constants: Constants, above: Any) -> tuple[Any, Any]:
    r"""\((-f',\,f'')\) of the third term of \(p\) (`eq:penalty-dpp`), \(f=10B\,g(N/\mathrm{Pdim})\); exact.

    `above` is 1 for the branch N >= Pdim, 0 for N <= Pdim. At the corner they differ:

    >>> [generalisation_slopes(2, Constants(D=1, sigma=1, eta=1, B=1, Pdim=2), above)[0] for above in (0, 1)]
    [Fraction(5, 2), Fraction(0, 1)]
    """
    x = ratio(N, constants.Pdim)
    L = log_plus(x)
    scale = 5 * constants.B / (N * sqrt(x * (1 + L)))
    bend = above * (3 * L - 2 + ratio(L, 1 + L)) + 3 * (1 - above)
    return scale * (above * L + 1 - above), scale * bend / (2 * N)


# --- convex pieces -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PricedRuns:
    """Runs side by side. Dividing J by V leaves one price, Zc/V: J' = 0 where -p' equals it."""

    price: Floats
    retained: Floats
    seen: Floats
    constants: Constants

    def __getitem__(self, index: NDArray[Any]) -> PricedRuns:
        return PricedRuns(self.price[index], self.retained[index], self.seen[index], self.constants)

    def slopes(self, Lambda: Floats, above: Flags) -> tuple[Floats, Floats]:
        """(-p', p'') on the given side of the corner."""
        N = self.seen + Lambda
        h = mismatch_slopes(self.retained + Lambda, N, self.seen - self.retained, self.constants)
        f = generalisation_slopes(N, self.constants, above)
        return h[0] + f[0], h[1] + f[1]

    def pull(self, Lambda: Floats, above: Flags) -> Floats:
        """-p', infinite at n = 0."""
        return np.where(self.retained + Lambda > 0, self.slopes(Lambda, above)[0], np.inf)

    def value(self, Lambda: Floats) -> Any:
        """J/V, less a constant."""
        return self.price * Lambda + penalty(self.retained + Lambda, self.seen + Lambda, self.constants)


def _first_guess(price: Floats, left: Floats, right: Floats, lo: Floats, hi: Floats) -> Floats:
    """The point at which w of `_convex_minimum` would pass 1 if it were linear between lo, with -p' = `left` there, and
    hi."""
    w_lo, w_hi = ((price / pull) ** (2 / 3) for pull in (left, right))
    return lo + (hi - lo) * ((1 - w_lo) / (w_hi - w_lo))


def _convex_minimum(runs: PricedRuns, lo: Floats, hi: Floats, above: Flags) -> Floats:
    """The minimiser over [lo, hi], where J is convex and smooth.

    Newton's method on w = (price / -p')^(2/3), which increases through 1. For a penalty (Λ + b)^(-1/2) it
    would be linear in Λ; here it nearly is, whichever of n and N carries the slope. Bisection guards it.
    """
    left, right = runs.pull(lo, above), runs.pull(hi, above)
    Lambda = np.where(runs.price >= left, lo, hi)
    active = np.flatnonzero((runs.price < left) & (runs.price > right))
    runs, above, lo, hi = runs[active], above[active], lo[active], hi[active]
    x = _first_guess(runs.price, left[active], right[active], lo, hi)
    for step in range(SOLVER_STEPS_MAX):
        slope, bend = runs.slopes(x, above)
        w = (runs.price / slope) ** (2 / 3)
        move = 3 * slope * (1 - w) / (2 * w * bend)
        lo, hi = np.where(w < 1, x, lo), np.where(w < 1, hi, x)
        target = x + move
        done = (np.abs(move) <= LAST_STEP_SHARE * x) | (np.abs(w - 1) <= ROUNDING_SHARE)
        astray = ~done & ((step >= NEWTON_STEPS_MAX) | ~((target > lo) & (target < hi)))
        x = np.where(astray, (lo + hi) / 2, np.clip(target, lo, hi))
        Lambda[active] = x
        if done.any():
            rest = ~done
            active, runs, above = active[rest], runs[rest], above[rest]
            x, lo, hi = x[rest], lo[rest], hi[rest]
        if active.size == 0:
            break
    return Lambda


# --- across the corner and the concave stretch -------------------------------------------------------------


def faded(floor: Any) -> Any:
    """L = log x where the factor 1 - 3L/2 - L/(2(1+L)) of |g''|, which falls from 1 to 0, equals `floor`."""
    return (np.sqrt((1 + floor) ** 2 + 6 * (1 - floor)) - 1 - floor) / 3


def _excess(runs: PricedRuns, Lambda: Floats) -> tuple[Floats, Floats]:
    """The excess, negative where J is concave, and its derivative in log N."""
    n, N, expired = runs.retained + Lambda, runs.seen + Lambda, runs.seen - runs.retained
    convex = mismatch_slopes(n, N, expired, runs.constants)[1]
    concave = -generalisation_slopes(N, runs.constants, 1)[1]
    L = log_plus(N / runs.constants.Pdim)
    fade = 1 - 3 * L / 2 - L / (2 * (1 + L))
    slope = 5 / 2 + 1 / (2 * (1 + L)) + (3 + (1 + L) ** -2) / (2 * fade)
    slope -= N * mismatch_jerk(n, N, expired, runs.constants) / convex
    return np.log(convex / np.maximum(concave, np.finfo(float).tiny)), slope


def _march(runs: PricedRuns, start: Floats, end: Floats) -> Floats:
    """The first zero of the excess on the way from `start` to `end`; `end` where there is none.

    The excess is convex in log N, so Newton's method, starting where it is positive, never passes a zero; and
    where its step leads away from `end`, or past it, there is none.
    """
    Lambda = start.copy()
    active = np.flatnonzero(start != end)
    while active.size:
        here, goal, batch = Lambda[active], end[active], runs[active]
        excess, slope = _excess(batch, here)
        step = -excess / slope
        move = (batch.seen + here) * np.expm1(step)
        reached = (excess <= 0) | (np.abs(step) <= LAST_STEP_SHARE)
        none = ~reached & ~(np.abs(goal - here - move) < np.abs(goal - here))
        Lambda[active] = np.where(none, goal, np.where(reached, here, here + move))
        active = active[~(reached | none)]
    return Lambda


def concave_stretch(runs: PricedRuns, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
    """The ends of the stretch, right of the corner, on which J is concave; (hi, hi) where there is none."""
    c = runs.constants
    start = np.maximum(lo, c.Pdim - runs.seen)
    stop = np.minimum(hi, c.Pdim * np.exp(faded(0)) - runs.seen)
    # Every zero of J'' lies between two points that can be written down: |g''| is at most half its factor
    # that fades, and h'' is at least its value at `stop`, whence `outer`, and at least the term of it that
    # has n^(-5/2), whence `inner`.
    weight = c.Pdim**2 / (5 * c.B)
    expired, N = runs.seen - runs.retained, runs.seen + stop
    floor = weight * mismatch_slopes(runs.retained + stop, N, expired, c)[1]
    outer = np.minimum(stop, c.Pdim * np.exp(faded(np.minimum(floor, 1))) - runs.seen)
    least = (3 * weight * c.D * c.sigma * np.sqrt(expired / N) / 4) ** (2 / 5)
    inner = np.minimum(np.maximum(start, least - runs.retained), outer)
    first = _march(runs, inner, outer)
    last = _march(runs, outer, first)
    none = first >= outer
    return np.where(none, hi, first), np.where(none, hi, last)


def _minimum_across(runs: PricedRuns, lo: Floats, hi: Floats) -> Floats:
    """The minimiser over an interval that meets the corner or the concave stretch."""
    left, right = concave_stretch(runs, lo, hi)
    corner = np.maximum(lo, runs.constants.Pdim - runs.seen)
    below = (lo < corner) & (runs.price >= runs.pull(corner, np.zeros_like(lo, dtype=bool)))
    near = _convex_minimum(runs, np.where(below, lo, corner), np.where(below, corner, left), ~below)
    far = _convex_minimum(runs, right, hi, np.ones_like(lo, dtype=bool))
    return np.where(runs.value(far) < runs.value(near), far, near)


def _minimum(runs: PricedRuns, lo: Floats, hi: Floats) -> Floats:
    Pdim = runs.constants.Pdim
    across = (runs.seen + lo < Pdim * np.exp(faded(0))) & (runs.seen + hi > Pdim)
    if not across.any():
        return _convex_minimum(runs, lo, hi, runs.seen + lo >= Pdim)
    Lambda = np.empty_like(lo)
    plain = ~across
    Lambda[across] = _minimum_across(runs[across], lo[across], hi[across])
    Lambda[plain] = _convex_minimum(runs[plain], lo[plain], hi[plain], (runs.seen + lo >= Pdim)[plain])
    return Lambda


@lru_cache
def _floats(constants: Constants) -> Constants:
    """Constants as floats; cached, since a policy needs them in every round."""
    return constants.map(float)


def optimal_admission(
    *, Z: Any, cost: Any, retained: Any, seen: Any, lo: Any, hi: Any, V: Any, constants: Constants
) -> Floats:
    r"""\(\arg\min_{lo\le\Lambda\le hi}J_t(\Lambda)\) (`eq:dpp-policy`), over arrays that broadcast together.

    The global minimiser up to rounding: exact for a price \(Zc/V\) a few roundings away from the given one.
    Without debt it is `hi`, because the penalty falls strictly. C shifts \(J_t\) only and is not asked for.

    >>> setting = Constants(D=1, sigma=1, eta=1, B=1, Pdim=5)
    >>> debt = np.array([0, 15, 30])
    >>> optimal_admission(Z=debt, cost=1, retained=40, seen=100, lo=5, hi=20, V=900, constants=setting)
    array([20.        ,  9.91506071,  5.        ])
    """
    given = {"Z": Z, "cost": cost, "retained": retained, "seen": seen, "lo": lo, "hi": hi, "V": V}
    arrays = np.stack(np.broadcast_arrays(*(np.asarray(values, dtype=float) for values in given.values())))
    fit = (arrays >= 0) & (arrays < np.inf)
    if not fit.all():
        name = next(name for name, good in zip(given, fit, strict=True) if not good.all())
        raise SettingError(f"{name} must be finite and not negative, got {given[name]!r}")
    debt, costs, held, N, low, high, weight = arrays.reshape(len(given), -1)
    if not np.all(weight > 0):
        raise SettingError(f"V must be positive, such as 100, got {V!r}")
    if not np.all(held <= N):
        raise SettingError("seen must be at least retained: a retained sample has been seen")
    if not np.all(low <= high):
        raise SettingError("lo must not exceed hi: the interval of admissions is empty")
    runs = PricedRuns(debt * costs / weight, held, N, _floats(constants))
    Lambda = high.copy()
    undecided = np.flatnonzero((low < high) & (runs.price > 0))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # p is infinite at n = 0
        Lambda[undecided] = _minimum(runs[undecided], low[undecided], high[undecided])
    return Lambda.reshape(arrays.shape[1:])
