r"""The most that the region's transient costs, in closed form: bounds on Ω₂, and on how far apart two policies can be.

The region \([\bar\Lambda(1-\rho^t),\bar\Lambda/(1-\rho^t)]\) needs about \(h=1/(1-\rho)\) rounds to contract. All
bounds here hold for every horizon T, and are elementary in h: the Lambert sum \(\sum_t\rho^t/(1-\rho^t)\) is at most
\(h\log2h\), the smallest number of distinct samples after t rounds at least \(\bar\Lambda t(t+1)/(2(h+t))\). How each
follows is checked link by link in `lem:omega2-order` and `thm:dpp-regret/spread` of `proofs_check`.
"""

from typing import Any

from theory.bound.theorem1 import Terms
from theory.numbers.algebra import log, log_plus, ratio, sqrt
from theory.regret.omegas import omega2_limit
from theory.setting import Constants, Region, retention

__all__ = ["lambert_reach", "omega2_bound", "omega2_floor", "omega2_floor_as_stated", "spread_bound"]


def lambert_reach(rho: Any) -> Any:
    r"""\(h\log2h\) with \(h=1/(1-\rho)\): an upper bound on \(\sum_{t\ge1}\rho^t/(1-\rho^t)\), coarser and simpler
    than `theory.control.violation.lambert_bound`.

    >>> lambert_reach(Fraction(1, 2))
    2*log(4)
    """
    h = ratio(1, 1 - rho)
    return h * log(2 * h)


def omega2_bound(K: Any, region: Region, constants: Constants) -> Terms:
    r"""An upper bound on \(\Omega_2(T)\), term by term, for every T (`lem:omega2-order`); of order \(1/(1-\rho)\).

    For the repaired comparison and for the printed one. Divided by h its total tends to that of `omega2_limit`:

    \[\begin{aligned}
      \text{root:}&\ \tfrac{D\sigma}{\sqrt{\bar\Lambda}}\bigl[K+(K-\sqrt K)\log h+\tfrac{K+1}2(1+\log(1+S))\bigr]
        +h\cdot\text{limit},\\
      \text{linear:}&\ \tfrac{\eta E\sigma^2}{\bar\Lambda}\bigl[K+1+\log(1+S)\bigr]+h\cdot\text{limit},\\
      \text{third:}&\ 10B\sqrt{\tfrac{\mathrm{Pdim}}{\bar\Lambda}}\Bigl[\sqrt{1+\log^+
        \tfrac{\bar\Lambda(2h+S)}{\mathrm{Pdim}}}\sqrt h\,(7+\tfrac52\log2h)+\tfrac{22}7\sqrt S\Bigr],\qquad S=h\log2h.
    \end{aligned}\]

    >>> unit = Constants(D=1, sigma=1, eta=1, B=1, Pdim=5)
    >>> round(float(omega2_bound(2, Region(rate=10.0, rho=0.5), unit).linear), 4)
    0.5021
    """
    K, h, S, limit, c = *_prepared(K, region), omega2_limit(K, region.rate, constants), constants.merged
    drifted = 1 + log(1 + S)  # at least Σ S/(t(t+S))
    root = K + (K - sqrt(K)) * log(h) + ratio((K + 1) * drifted, 2)
    third = _third_term(0, h, 2 * h + S, region, c)
    return Terms(
        root=c.D * c.sigma * root / sqrt(region.rate) + h * limit.root,
        linear=ratio(c.eta * c.sigma**2 * (K + drifted), region.rate) + h * limit.linear,
        generalisation=third + ratio(220 * c.B * sqrt(ratio(c.Pdim, region.rate)) * sqrt(S), 7),
    )


def omega2_floor(K: Any, region: Region, constants: Constants) -> Terms:
    r"""A lower bound on \(\lim_T\Omega_2(T)\) with the repaired comparison: \(\rho h\) times its limit, less what the
    first K-1 rounds may have missed. With `omega2_bound` it squeezes \((1-\rho)\Omega_2\).

    >>> unit = Constants(D=1, sigma=1, eta=1, B=1, Pdim=5)
    >>> round(float(omega2_floor(2, Region(rate=10.0, rho=0.9), unit).linear), 4)
    0.2619
    """
    K, h, _, limit, c = *_prepared(K, region), omega2_limit(K, region.rate, constants), constants.merged
    missed = (K - 1) * (1 - ratio(1, K)), (K - 1) * (1 - ratio(1, sqrt(K)))
    return Terms(
        root=region.rho * h * limit.root - c.D * c.sigma * missed[1] / sqrt(region.rate),
        linear=region.rho * h * limit.linear - ratio(c.eta * c.sigma**2 * missed[0], region.rate),
        generalisation=0,
    )


def omega2_floor_as_stated(K: Any, region: Region, constants: Constants) -> Terms:
    r"""A lower bound on \(\Omega_2(T)\) as printed, for every T: \(-2(h+1)\) times \(D\sigma(K+1)/\sqrt{\bar\Lambda}\)
    and \(\eta\sigma^2/\bar\Lambda\). The printed comparison takes 1/N too large, so the sum can be negative.

    >>> unit = Constants(D=1, sigma=1, eta=1, B=1, Pdim=5)
    >>> omega2_floor_as_stated(2, Region(rate=4, rho=Fraction(1, 2)), unit).root
    Fraction(-9, 1)
    """
    K, h, _ = _prepared(K, region)
    c, rounds = constants, 2 * (h + 1)
    return Terms(
        root=-rounds * (K + 1) * c.D * c.sigma / sqrt(region.rate),
        linear=ratio(-rounds * c.eta * c.sigma**2, region.rate),
        generalisation=0,
    )


def spread_bound(K: Any, region: Region, constants: Constants) -> Terms:
    r"""An upper bound on how far apart the corrected bounds of two policies inside the region are, for every T
    (`thm:dpp-regret/spread`); of order \(h\log h\). With \(S=h\log2h\) and \(w=K-1+S+h\):

    \[\begin{aligned}
      \text{early}&=2h(K-1)+\tfrac{2h+S}K+2h+2\log(1+2h),\qquad\text{late}=\tfrac{2S}K+\tfrac{9w}{2h}+11,\\
      \text{root:}&\ \tfrac{D\sigma}{\sqrt{\bar\Lambda}}\bigl[\tfrac{K-1+2h+\text{early}}2+\sqrt{\tfrac{3K}2}\,
        \text{late}\bigr],\qquad
      \text{linear:}\ \tfrac{\eta E\sigma^2}{\bar\Lambda}(\text{early}+\text{late}),\\
      \text{third:}&\ 10B\sqrt{\tfrac{\mathrm{Pdim}}{\bar\Lambda}}\sqrt{1+\log^+\tfrac{\bar\Lambda(h+w)}{\mathrm{Pdim}}}
        \sqrt h\,\bigl(K-1+\tfrac52(1+\log2h)+\tfrac{9w}{2h}\bigr).
    \end{aligned}\]

    >>> unit = Constants(D=1, sigma=1, eta=1, B=1, Pdim=5)
    >>> round(float(spread_bound(1, Region(rate=10.0, rho=0.5), unit).linear), 4)
    4.1275
    """
    K, h, S, c = *_prepared(K, region), constants.merged
    width = K - 1 + S + h
    early = 2 * h * (K - 1) + ratio(2 * h + S, K) + 2 * h + 2 * log(1 + 2 * h)
    late = ratio(2 * S, K) + ratio(9 * width, 2 * h) + 11
    root = ratio(K - 1 + 2 * h + early, 2) + sqrt(ratio(3 * K, 2)) * late
    return Terms(
        root=c.D * c.sigma * root / sqrt(region.rate),
        linear=ratio(c.eta * c.sigma**2 * (early + late), region.rate),
        generalisation=_third_term(K - 1, width, h + width, region, c),
    )


def _prepared(K: Any, region: Region) -> tuple[Any, Any, Any]:
    """K in the region's number system, h = 1/(1-ρ), and the Lambert sum's bound."""
    return retention(K) + 0 * region.rho, ratio(1, 1 - region.rho), lambert_reach(region.rho)


def _third_term(first: Any, width: Any, reach: Any, region: Region, constants: Constants) -> Any:
    r"""At least the sum of what \(1/\sqrt F-1/\sqrt M\) makes of the third terms: \(1/\sqrt F\le\sqrt h\) in the
    `first` rounds, then \(M-F\le\bar\Lambda\) `width` and, up to round 2h, \(M\le\bar\Lambda\) `reach`.
    """
    h, P = ratio(1, 1 - region.rho), constants.Pdim
    rounds = first + ratio(5 * (1 + log(2 * h)), 2) + ratio(9 * width, 2 * h)
    size = sqrt(1 + log_plus(ratio(region.rate * reach, P)))
    return 10 * constants.B * sqrt(ratio(P, region.rate)) * size * sqrt(h) * rounds
