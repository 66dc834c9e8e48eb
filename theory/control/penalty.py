r"""The surrogate penalty that ACDPP controls, and the two comparison sequences built from it.

The penalty forgets reuse: it puts \(1/N\) where the bound has \(1/N_{\mathrm{eff}}\). It decreases in n. In N its
first two terms increase and only the third decreases, so the printed comparison, which puts a lower bound on N
into all three, is no upper bound; the repaired one puts the region's upper end into the first two.

**Which logarithm.** The paper prints log(N/Pdim). Everything here, and whatever is built on `generalisation_term`, has
log⁺, in the forms `_as_stated` too. The two agree where N >= Pdim, and only there: between Pdim/e and Pdim the printed
third term *rises* in N, and below Pdim/e it is not real. Inside the region N is at least \(\Lambda_{\min}(1)=
\bar\Lambda(1-\rho)\), so from the target rate \(\mathrm{Pdim}/(1-\rho)\) on (`least_rate_as_printed`) they agree in
every round and for every action. At a smaller rate round 1 may tell them apart: without debt log⁺ makes it admit
\(\Lambda_{\max}(1)\), always; the printed log may send it to the other end, or leave it without a minimum. As ρ → 1 at
a fixed rate nothing is as printed, since \(\Lambda_{\min}(1)\to0\). An example that is said to be as printed shows
that it has the rate (`proofs_check.groundwork.control.printed_log`); the claim is `eq:penalty-dpp/real`.
"""

from typing import Any

from theory.bound.theorem1 import Terms, round_terms
from theory.control.region import contraction, region_maximum_total, region_minimum, region_minimum_total
from theory.numbers.algebra import minimum, positive_part, ratio
from theory.numbers.lambert import lambert_partial
from theory.setting import Constants, Region

__all__ = ["least_rate_as_printed", "penalty", "penalty_comparison", "penalty_comparison_as_stated"]
__all__ += ["penalty_limit", "penalty_limit_as_stated", "penalty_terms"]


def penalty_terms(n: Any, N: Any, constants: Constants) -> Terms:
    r"""The three terms of \(p\) (`eq:penalty-dpp`) for n samples in memory out of N seen, n <= N."""
    return round_terms(ratio(1, n) - ratio(1, N), ratio(1, N), N, constants)


def penalty(n: Any, N: Any, constants: Constants) -> Any:
    r"""\(p=D\sigma\sqrt{\tfrac1n-\tfrac1N}+\eta\sigma^2(\tfrac1n-\tfrac1N)+10B\sqrt{\tfrac{\mathrm{Pdim}}N}
    \sqrt{1+\log^+\tfrac N{\mathrm{Pdim}}}\) (`eq:penalty-dpp`): the definition, printed with a free step size
    and with log for log⁺.

    >>> penalty(1, 1, Constants(D=1, sigma=1, eta=1, B=1, Pdim=1))
    Fraction(10, 1)
    """
    return penalty_terms(n, N, constants).total


def least_rate_as_printed(rho: Any, constants: Constants) -> Any:
    r"""\(\mathrm{Pdim}/(1-\rho)\): from this target rate on \(\Lambda_{\min}(1)\ge\mathrm{Pdim}\), so that log⁺ is the
    printed log in every round and for every action inside the region; exact.

    >>> least_rate_as_printed(Fraction(9, 10), Constants(D=1, sigma=1, eta=1, B=1, Pdim=5))
    Fraction(50, 1)
    """
    return ratio(constants.Pdim, 1 - rho)


def penalty_limit(K: Any, t: Any, rate: Any, constants: Constants) -> Terms:
    r"""\(\bar p_\infty^{CK}(t)\) (`eq:pc-infty`) with the true occupancy: the penalty of constant admission.

    It equals the printed one from t = K on; before, nothing has been dropped and the first two terms are 0. The
    difference \(1/n-1/N\) is written as \([t-K]^+/(Kt\bar\Lambda)\), which a ball can tell from 0.

    >>> penalty_limit(3, 2, 1, Constants(D=1, sigma=1, eta=1, B=1, Pdim=2)).root
    Fraction(0, 1)
    """
    return round_terms(ratio(positive_part(t - K), K * t * rate), ratio(1, rate * t), rate * t, constants)


def penalty_limit_as_stated(K: Any, t: Any, rate: Any, constants: Constants) -> Terms:
    r"""\(\bar p_\infty^{CK}(t)\) as printed, n = KΛ̄ in every round: for t < K its radicand is negative.

    >>> penalty_limit_as_stated(3, 2, 2, Constants(D=1, sigma=1, eta=1, B=1, Pdim=2)).linear
    Fraction(-1, 12)
    """
    return penalty_terms(K * rate, rate * t, constants)


def penalty_comparison_as_stated(K: Any, t: Any, region: Region, constants: Constants) -> Terms:
    r"""\(\bar p^{CK}(t)\) as printed (`eq:pC-upper-explicit`). Not an upper bound on the comparison's penalty: it
    takes 1/N at the smallest N, where a larger N makes the first two terms larger.

    The index slip of `eq:nc-lb` (t-K for t-K+1) only makes its occupancy smaller, which is the safe side.
    """
    n = (K - 1) * region_minimum(region, t - K) + region.rate
    fewest = region_minimum_total(region, t) + region.rate
    most = region_maximum_total(region, t) + region.rate
    return round_terms(ratio(1, n) - ratio(1, fewest), ratio(1, fewest), most, constants)


def penalty_comparison(K: Any, t: Any, region: Region, constants: Constants) -> Terms:
    r"""\(\bar p^{CK}(t)\) repaired: an upper bound on the penalty of switching to Λ̄ in round t, whatever was
    admitted before inside the region.

    The occupancy is at least \(\sum_{j=t-K+1}^{t-1}\Lambda_{\min}(j)+\bar\Lambda\); the first two terms take the
    largest N, the third, decreasing, the smallest. For t <= K the least n and the largest N are close, so their
    difference is written as a sum of positive parts: \(1/n-1/N\) would be lost in the width of a ball.
    """
    rho, kept, past = region.rho, minimum(t, K), positive_part(t - K)
    decayed = 1 - contraction(region, past)
    # `region_minimum_window`, with [t-K]⁺ for t - min(t, K): on a ball that is exactly 0 before round K
    window = (K - 1) * region_minimum(region, t - K) + decayed * region_minimum_total(region, kept)
    n, fewest = window + region.rate, region_minimum_total(region, t) + region.rate
    # in units of Λ̄: the window falls short of its kept-1 rounds, the upper ends exceed theirs
    shortfall = decayed * rho * contraction(region, kept - 1) / (1 - rho)
    excess = lambert_partial(rho, t)
    gap = ratio(past + shortfall + excess, n * (t + excess))
    return round_terms(gap, ratio(1, fewest), fewest, constants)
