r"""The regret to O(1), for every policy inside the region.

Let \(g(x)=\sqrt{(1+\log^+x)/x}\), so that N distinct samples cost \(10B\,g(N/\mathrm{Pdim})\) per round, and
\(H(x)=\int_0^xg\). Constant admission has seen \(\bar\Lambda t\) samples by round t, the oracle \(K\bar\Lambda t\), and

\[\mathrm{Reg}(T)=10B\int_0^T\Bigl(g\bigl(\tfrac{\bar\Lambda t}{\mathrm{Pdim}}\bigr)
  -g\bigl(\tfrac{K\bar\Lambda t}{\mathrm{Pdim}}\bigr)\Bigr)dt+O_\rho(1):\]

each integral is an H, the oracle's with \(K\bar\Lambda\) for \(\bar\Lambda\), which is where its 1/K comes from. The
first two terms of the two bounds differ by order \(1/t^2\) alone: the log T of \(\Omega_1\) and of \(\Omega_3\) cancel.
"""

from typing import Any

from theory.bound.theorem1 import deviation_term
from theory.numbers.algebra import exp, exp_square_integral, log, log_plus, minimum, ratio, sqrt
from theory.regret.transient import lambert_reach
from theory.setting import Constants, Region

__all__ = ["generalisation_integral", "regret_expansion", "regret_log_free", "regret_lower_bound"]


def generalisation_integral(x: Any) -> Any:
    r"""\(H(x)=\int_0^x\sqrt{(1+\log^+u)/u}\,du\), every x > 0; exact. That is \(2\sqrt x\) up to 1, and beyond

    \[2\sqrt{x(1+\log x)}-\sqrt{\tfrac{2\pi}e}\Bigl(\mathrm{erfi}\sqrt{\tfrac{1+\log x}2}
      -\mathrm{erfi}\sqrt{\tfrac12}\Bigr)=2\sqrt{x\log x}\,(1+o(1)).\]

    erfi grows like \(\sqrt x\) here, so that no float overflows.

    >>> generalisation_integral(Fraction(1, 4)), generalisation_integral(1)
    (1, 2)
    """
    below = minimum(x, 1)
    above, steps = ratio(x, below), 1 + log_plus(x)  # max(x, 1), and 1 + log⁺x
    one = 1 + 0 * steps  # in the number system of x
    curved = exp_square_integral(sqrt(ratio(steps, 2))) - exp_square_integral(sqrt(ratio(one, 2)))
    flat = sqrt(above) * sqrt(steps) - 1 - sqrt(2 * one) * exp(-ratio(one, 2)) * curved
    return 2 * (sqrt(below) + flat)


def regret_expansion(K: Any, rate: Any, T: Any, constants: Constants) -> Any:
    r"""\(10B\frac{\mathrm{Pdim}}{\bar\Lambda}\bigl(H(\frac{\bar\Lambda T}{\mathrm{Pdim}})
    -\frac1KH(\frac{K\bar\Lambda T}{\mathrm{Pdim}})\bigr)\), the regret to O(1) (sharpens `eq:dpp-regret-rate`).

    For every policy inside the region, at any V, the difference is bounded in T, and has a limit where the policy does
    not depend on T. Exact; 0 for K = 1, increasing in T for K >= 2. It is asymptotic to `omega3_limit` times
    \(\sqrt{T\log T}\), but that alone is off by a factor \(1+O(1/\log T)\), too large for small
    \(\bar\Lambda/\mathrm{Pdim}\) and too small for large: at K = 2 and T = 10^15 it is 3.3 % too large where that
    quotient is 5/3, and 1.0 % too small where it is 30.

    >>> unit = Constants(D=1, sigma=1, eta=1, B=1, Pdim=4)
    >>> regret_expansion(4, Fraction(1, 2), 2, unit)
    40
    >>> f"{regret_expansion(2, 10.0, 1e15, unit):.4e}"
    '6.7075e+08'

    """
    scale = ratio(constants.Pdim, rate)
    distinct = ratio(T, scale)
    apart = generalisation_integral(distinct) - ratio(generalisation_integral(K * distinct), K)
    return 10 * constants.B * scale * apart


def regret_log_free(K: Any, rate: Any, T: Any, constants: Constants) -> Any:
    r"""\(10.4B\sqrt{\mathrm{Pdim}/\bar\Lambda}\,(1-1/\sqrt K)\sqrt T\), the regret to O(1) where the bounds have the
    third term of `lem:gen-Neff-app` corrected, 5.2 and no logarithm (sharpens `eq:dpp-regret-rate`); exact, 0 for
    K = 1.

    >>> regret_log_free(4, 5, 25, Constants(D=1, sigma=1, eta=1, B=1, Pdim=5))
    Fraction(26, 1)
    """
    apart = deviation_term(ratio(1, rate), constants) - deviation_term(ratio(1, K * rate), constants)
    return 2 * sqrt(T) * apart


def regret_lower_bound(K: Any, region: Region, T: Any, constants: Constants) -> Any:
    r"""Lower bound on the regret of every policy inside the region, for every T and ρ, printed form or corrected:

    \[\texttt{regret\_expansion}-10B\tfrac{\mathrm{Pdim}}{\bar\Lambda}H\bigl(\tfrac{\bar\Lambda(1+S)}{\mathrm{Pdim}}\bigr)
      -\bigl(D\sigma\sqrt{2K\bar\Lambda}+\eta E\sigma^2\bigr)\frac{\rho+2(K+\log T)}{\bar\Lambda(1-\rho)},\qquad
      S=\frac{\log\frac2{1-\rho}}{1-\rho}.\]

    Not sharp: its use is that it holds while ρ → 1 with T (`rem:1`). The bound is on \(\bar{\mathcal E}-\bar{\mathcal
    E}^{oracle}\) with \(\sum B=K\bar\Lambda\).

    >>> unit = Constants(D=1.0, sigma=1.0, eta=1.0, B=1.0, Pdim=5.0)
    >>> least = regret_lower_bound(2, Region(rate=10.0, rho=0.9), 1e9, unit)
    >>> f"{least / regret_expansion(2, 10.0, 1e9, unit):.4f}"
    '0.9992'
    """
    merged, rate, narrow = constants.merged, region.rate, 1 - region.rho
    scale = ratio(merged.Pdim, rate)
    early = 10 * merged.B * scale * generalisation_integral(ratio(1 + lambert_reach(region.rho), scale))
    slope = merged.D * merged.sigma * sqrt(2 * K * rate) + merged.eta * merged.sigma * merged.sigma
    gaps = ratio(region.rho + 2 * (K + log(T)), rate * narrow)
    return regret_expansion(K, rate, T, merged) - early - slope * gaps
