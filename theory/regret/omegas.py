r"""The regret's decomposition, the drift constant and the inequality between them.

The chain \(\bar{\mathcal E}^{ACDPP}\to\sum p\to\sum\bar p^{CK}\to\sum\bar p^{CK}_\infty\to\bar{\mathcal E}^{oracle}\)
gives \(\mathrm{Reg}\le\Omega_1+\Omega_2+\Omega_3+\frac1V\sum_tB_t\). Constants that every policy pays cancel and are
left out. The decisive link is \(\Omega_3\): the oracle sees K times as many distinct samples, so the two
generalisation terms differ by a constant factor in every round, and \(\Omega_3\) is of order \(\sqrt{T\log T}\).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import inf, nextafter
from typing import Any

from theory.bound.constant_admission import constant_breaks, constant_round, sum_rounds
from theory.bound.theorem1 import PER_ROUND, Bound, Terms, add_up, theorem_1, theorem_1_as_stated
from theory.control.penalty import (
    penalty_comparison,
    penalty_comparison_as_stated,
    penalty_limit,
    penalty_limit_as_stated,
    penalty_terms,
)
from theory.control.region import region_maximum, region_maximum_total, region_minimum_total
from theory.numbers.algebra import PRECISION, ball, log, precise, ratio, sqrt
from theory.reuse.trajectories import Trajectory, trajectory
from theory.setting import Constants, Region, SettingError, horizon, positive, retention

__all__ = ["drift_constant", "master_bound", "master_bound_as_stated", "omega1", "omega1_as_stated"]
__all__ += ["omega1_discrepancy", "omega1_limit", "omega2", "omega2_as_stated", "omega2_discrepancy"]
__all__ += ["omega2_limit", "omega3", "omega3_as_stated", "omega3_limit"]

GAP_MIN = 2**-100  # of ρ from 1: what is left of `PRECISION` bits then still makes an enclosure

# --- the three corrections ---------------------------------------------------------------------------------


def _three(terms: Terms) -> Terms:
    """Without the constants, which cancel in a regret."""
    return replace(terms, constant=0, initial=0)


def omega1(admissions: Any, K: Any, constants: Constants) -> Terms:
    r"""\(\Omega_1\) of a trajectory (`eq:omega1-def`), corrected: the bound with \(\chi\) less the penalties.

    Under constant admission the mismatch exceeds the penalty's \(1/n-1/N\) by about \((1-1/K)/(\bar\Lambda t)\), which
    the root multiplies by \(D\sigma\sqrt n/2\): the order is log T for K >= 2, not 1.
    """
    path = trajectory(admissions, K)
    bound = theorem_1(path.n, path.N, path.uniformity, path.mismatch, constants)
    return _three(bound.terms) - _sum_penalties(path, constants.merged)


def omega1_as_stated(admissions: Any, K: Any, constants: Constants) -> Terms:
    r"""\(\Omega_1\) of a trajectory as printed (`eq:omega1-def`): \(1/n-1/N_{\mathrm{eff}}\) for \(\chi\)."""
    path = trajectory(admissions, K)
    bound = theorem_1_as_stated(path.n, path.N, path.uniformity, constants)
    return _three(bound.terms) - _sum_penalties(path, constants)


def _sum_penalties(path: Trajectory, constants: Constants) -> Terms:
    rounds = {"n": path.n, "N": path.N}
    return add_up(partial(penalty_terms, constants=constants), rounds, initial=0, constant=0).terms


def _last_round_below(grows: Callable[[int], Any], level: Any) -> int:
    """The last t with grows(t) <= level, for an increasing function; 0 if there is none."""
    high = 1
    while grows(high) <= level:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if grows(middle) <= level else (low, middle)
    return low


def _difference(
    first: Callable[[Any], Terms],
    second: Callable[[Any], Terms],
    T: int,
    breaks: tuple[int, ...],
    certified: bool,
) -> Bound:
    """The sum of one per-round formula less that of another. Always on balls, since floats would cancel."""
    with precise():
        high, low = (sum_rounds(rounds, T, breaks, certified=True) for rounds in (first, second))
        terms = high.terms - low.terms
        if certified:
            return Bound(terms, error=float(terms.total.rad()))
        rounded = Terms(*(float(getattr(terms, name)) for name in PER_ROUND))
        off = abs(terms.total - rounded.total).upper()
    return Bound(rounded, error=nextafter(float(off), inf))


def _omega2(
    comparison: Any, limit: Any, K: Any, region: Region, T: Any, constants: Constants, certified: bool
) -> Bound:
    K, T = retention(K), horizon(T)
    gap = float(1 - region.rho)
    if not gap > GAP_MIN:
        raise SettingError(
            f"1-rho must exceed {GAP_MIN:.1e}, or {PRECISION} bits don't resolve it, got {gap:.1e}"
        )
    exact, numbers = region.map(ball), constants.map(ball)

    def distinct(most: bool, t: int) -> Any:
        return (region_maximum_total if most else region_minimum_total)(exact, ball(t)) + exact.rate

    crossings = (_last_round_below(partial(distinct, most), numbers.Pdim) for most in (False, True))
    breaks = (*constant_breaks(K, region.rate, constants), K + 1, *crossings)
    try:
        return _difference(
            lambda t: comparison(K, t, exact, numbers),
            lambda t: limit(K, t, exact.rate, numbers),
            T,
            breaks,
            certified,
        )
    except ArithmeticError as error:
        raise ArithmeticError(
            f"no enclosure of Ω₂ was found at 1-rho = {gap:.1e}, K = {K}, T = {T}: "
            "a rho further from 0 and 1, a smaller K or fewer rounds make it easier"
        ) from error


def omega2(K: Any, region: Region, T: Any, constants: Constants, *, certified: bool = False) -> Bound:
    r"""\(\Omega_2(T)=\sum\bar p^{CK}-\sum\bar p^{CK}_\infty\) (`eq:omega2-def`) with the repaired comparison.

    >>> unit = Constants(D=1, sigma=1, eta=1, B=1, Pdim=5)
    >>> abs(omega2(1, Region(rate=1, rho=Fraction(1, 2)), 1, unit).total) < 1e-12
    True
    """
    return _omega2(penalty_comparison, penalty_limit, K, region, T, constants.merged, certified)


def omega2_as_stated(
    K: Any, region: Region, T: Any, constants: Constants, *, certified: bool = False
) -> Bound:
    r"""\(\Omega_2(T)\) with both sequences as printed (`eq:pC-upper-explicit`, `eq:pc-infty`)."""
    result = _omega2(
        penalty_comparison_as_stated, penalty_limit_as_stated, K, region, T, constants, certified
    )
    return replace(result, negative=_before_full(K, T))


def _before_full(K: Any, T: Any) -> dict[str, tuple[tuple[int, int], ...]]:
    """The rounds t < K, where the printed limit has 1/(KΛ̄) - 1/(Λ̄t) < 0 under its root."""
    return {"root": ((1, min(int(K) - 1, int(T))),)} if K > 1 else {}


def _omega3(limit: Any, K: Any, rate: Any, T: Any, constants: Constants, certified: bool) -> Bound:
    K, T = retention(K), horizon(T)
    positive("the admission rate", rate)
    exact, numbers = ball(rate), constants.map(ball)
    breaks = (*constant_breaks(K, rate, constants), *constant_breaks(1, K * rate, constants))
    return _difference(
        lambda t: limit(K, t, exact, numbers),
        lambda t: constant_round(1, t, K * exact, numbers),
        T,
        breaks,
        certified,
    )


def omega3(K: Any, rate: Any, T: Any, constants: Constants, *, certified: bool = False) -> Bound:
    r"""\(\Omega_3(T)=\sum\bar p^{CK}_\infty-\bar{\mathcal E}^{oracle}\) (`eq:omega3-def`), true occupancy, ηE.

    Zero for K = 1; else asymptotic to `omega3_limit` times \(\sqrt{T\log T}\), not O(log T).

    >>> abs(omega3(1, 1, 10**6, Constants(D=1, sigma=1, eta=1, B=1, Pdim=5)).total) < 1e-12
    True
    """
    return _omega3(penalty_limit, K, rate, T, constants.merged, certified)


def omega3_as_stated(K: Any, rate: Any, T: Any, constants: Constants, *, certified: bool = False) -> Bound:
    r"""\(\Omega_3(T)\) with n = KΛ̄ in every round and η, as printed (`eq:omega3-def`)."""
    result = _omega3(penalty_limit_as_stated, K, rate, T, replace(constants, E=1), certified)
    return replace(result, negative=_before_full(K, T))


def omega1_limit(K: Any, rate: Any, constants: Constants) -> Terms:
    r"""\(\lim_T\Omega_1(T)/\log T\), corrected, term by term (corrects `lem:omega1-order`); exact, at fixed ρ.

    \[\frac{D\sigma(K-1)}{2\sqrt{K\bar\Lambda}}+\frac{\eta E\sigma^2(K-1)}{K\bar\Lambda}+0.\]

    >>> omega1_limit(4, 1, Constants(D=1, sigma=1, eta=1, B=1, Pdim=5, E=2)).total
    Fraction(9, 4)
    """
    c = constants.merged
    return Terms(
        root=ratio(c.D * c.sigma * (K - 1), 2 * sqrt(K * rate)),
        linear=ratio(c.eta * c.sigma * c.sigma * (K - 1), K * rate),
        generalisation=0,
    )


def omega1_discrepancy(K: Any, rate: Any, constants: Constants) -> Any:
    r"""\(5B\sqrt{\mathrm{Pdim}/\bar\Lambda}\,(K-1)(2K-1)/(6K)\): to leading order \(t^{3/2}/\sqrt{\log t}\) times what
    N_eff for N changes in round t's generalisation term (corrects `lem:omega1-order/lipschitz`); exact.

    >>> omega1_discrepancy(4, 5, Constants(D=1, sigma=1, eta=1, B=4, Pdim=5))
    Fraction(35, 2)
    """
    slope = 5 * constants.B * sqrt(ratio(constants.Pdim, rate))
    return ratio(slope * (K - 1) * (2 * K - 1), 6 * K)


def omega2_discrepancy(region: Region, constants: Constants) -> Any:
    r"""\(5B\sqrt{\mathrm{Pdim}/\bar\Lambda}\,\rho/(1-\rho)\): to leading order \(t^{3/2}/\sqrt{\log t}\) times what the
    printed comparison penalty exceeds its limit by in round t (corrects `eq:app-pC-pointwise`); exact.

    >>> omega2_discrepancy(Region(rate=5, rho=Fraction(1, 2)), Constants(D=1, sigma=1, eta=1, B=4, Pdim=5))
    Fraction(20, 1)
    """
    slope = 5 * constants.B * sqrt(ratio(constants.Pdim, region.rate))
    return ratio(slope * region.rho, 1 - region.rho)


def omega2_limit(K: Any, rate: Any, constants: Constants) -> Terms:
    r"""\(\lim_{\rho\to1}(1-\rho)\Omega_2(\infty)\) with the repaired comparison, term by term; exact, 0 for K = 1.

    \[\frac{2D\sigma}{\sqrt{K\bar\Lambda}}\log\frac{2\sqrt K}{1+\sqrt K}
      +\frac{\eta E\sigma^2}{K\bar\Lambda}\log K+0.\]

    >>> omega2_limit(4, 1, Constants(D=1, sigma=1, eta=4, B=1, Pdim=5)).root
    log(4/3)
    """
    K, c = K + 0 * rate, constants.merged  # K in the number system of the rate
    return Terms(
        root=2 * c.D * c.sigma / sqrt(K * rate) * log(ratio(2 * sqrt(K), 1 + sqrt(K))),
        linear=ratio(c.eta * c.sigma * c.sigma, K * rate) * log(K),
        generalisation=0,
    )


def omega3_limit(K: Any, rate: Any, constants: Constants) -> Any:
    r"""\(\lim_T\Omega_3(T)/\sqrt{T\log T}=20B\sqrt{\mathrm{Pdim}/\bar\Lambda}\,(1-1/\sqrt K)\); exact.

    >>> omega3_limit(4, 5, Constants(D=1, sigma=1, eta=1, B=1, Pdim=5))
    Fraction(10, 1)
    """
    return 20 * constants.B * (sqrt(ratio(constants.Pdim, rate)) - sqrt(ratio(constants.Pdim, K * rate)))


# --- the inequality ----------------------------------------------------------------------------------------


def drift_constant(region: Region, t: Any, second_moment: Any, C: Any) -> Any:
    r"""\(B_t=\tfrac12(E[c^2]\Lambda_{\max}(t)^2+C^2)\), an upper bound on the drift's quadratic part in round t
    (`eq:dpp-upper-1`). Not uniform in ρ: in round 1 it is of order \((1-\rho)^{-2}\).

    >>> drift_constant(Region(rate=1, rho=Fraction(1, 2)), 1, 1, 2)
    Fraction(4, 1)
    """
    most = region_maximum(region, t)
    return ratio(second_moment * most * most + C * C, 2)


def master_bound(omega_1: Any, omega_2: Any, omega_3: Any, drift: Any, V: Any) -> Any:
    r"""\(\mathrm{Reg}\le\Omega_1+\Omega_2+\Omega_3+\frac1V\sum_tB_t\) (`eq:omega-master` with the right sign).

    For costs independent of the debt, of mean at most \(C/\bar\Lambda\) in every round, the repaired comparison in
    \(\Omega_2\), and a policy that minimises the very penalty of the chain: with E > 1 it must be given
    `Constants.merged`, as \(\Omega_1\) to \(\Omega_3\) use ηE.

    >>> master_bound(1, 2, 3, 10, 5)
    Fraction(8, 1)
    """
    return omega_1 + omega_2 + omega_3 + ratio(drift, V)


def master_bound_as_stated(omega_1: Any, omega_2: Any, omega_3: Any, drift: Any, V: Any) -> Any:
    r"""`eq:omega-master` as printed, with \(-\Omega_1\): no upper bound where \(\Omega_1>0\).

    >>> master_bound_as_stated(1, 2, 3, 10, 5)
    Fraction(6, 1)
    """
    return -omega_1 + omega_2 + omega_3 + ratio(drift, V)
