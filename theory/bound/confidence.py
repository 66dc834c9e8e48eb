r"""The stability bound in high probability: the deviation of a single run from the mean.

A sample j has the total weight \(W_j=\sum_tw_j(t)\), and a trace in the rounds after its admission, in \(\tau_j\), that
counts as long as samples no younger than it are in memory:

\[R_j=\sum_{t>\tau_j}\Bigl(\sum_{s<t}w_j(s)\Bigr)\Bigl(\sum_{i:\,\tau_i\le\tau_j}w_i(t)\Bigr).\]

To replace it changes what is left after centring by at most \(c_j=2GDW_j+4\eta EG^2R_j\). So, with probability
\(1-\delta\) at least, the cumulative excess risk is at most the bound of `theory.bound.stability` and

\[\sqrt{\tfrac12\log(1/\delta)\sum_jc_j^2}.\]

**Hypotheses** (`thm:regret-neff/high-probability`) are those of `theory.bound.stability`, and independent samples.
"""

from typing import Any

import numpy as np

from theory.bound.stability import stability_round
from theory.numbers.algebra import log, ratio, sqrt, wide
from theory.reuse.trajectories import trajectory
from theory.setting import Constants, SettingError, positive, retention

__all__ = ["deviation", "deviation_1", "deviation_constant", "influences", "sample_range"]


def sample_range(weight: Any, trace: Any, constants: Constants) -> Any:
    r"""\(c=2GD\,W+4\eta EG^2R\): the largest effect of a sample of total weight W and trace R on the centred sum.

    >>> sample_range(Fraction(1, 2), Fraction(1, 4), Constants(D=2, sigma=1, eta=1, B=1, Pdim=1, E=2, G=3, L=1))
    Fraction(24, 1)
    """
    later = 2 * stability_round(trace, constants).total
    return 2 * constants.G * constants.D * weight + later


def deviation(squares: Any, failure: Any) -> Any:
    r"""\(\sqrt{\tfrac12\log(1/\delta)\sum c^2}\), exceeded with probability δ at most; `squares` is \(\sum c^2\).

    >>> float(deviation(4, np.exp(-2)))
    2.0
    """
    return sqrt(ratio(squares * log(ratio(1, _chance(failure))), 2))


def _chance(failure: Any) -> Any:
    if (positive("delta", failure) >= 1) == True:  # noqa: E712 - a symbol leaves it open
        raise SettingError(f"the probability delta of failing must lie between 0 and 1, got {failure}")
    return failure


def influences(admissions: Any, K: Any) -> tuple[Any, Any]:
    r"""W and R of the samples that a round admits, under K-step retention with weights \(n_m/n\); exact for integers.

    >>> [list(column) for column in influences([1, 1, 1], K=2)]
    [[Fraction(3, 2), Fraction(1, 1), Fraction(1, 2)], [Fraction(1, 2), Fraction(1, 4), Fraction(0, 1)]]
    """
    n, T, K = trajectory(admissions, K).n, len(admissions), retention(K)
    divide = np.frompyfunc(ratio, 2, 1) if n.dtype == object else np.divide
    admitted = np.cumsum(np.asarray(admissions, dtype=n.dtype))
    gone = np.concatenate([np.zeros(min(K, T), dtype=n.dtype), admitted[: max(T - K, 0)]])  # by round t
    each = divide(n, n * n)
    weight, trace = 1 * each, 0 * each
    for d in range(1, min(K, T)):
        share = (admitted[:-d] - gone[d:]) * each[d:]
        trace[:-d] = trace[:-d] + weight[:-d] * share
        weight[:-d] = weight[:-d] + each[d:]
    return weight, trace


def deviation_1(admissions: Any, K: Any, constants: Constants, failure: Any) -> Any:
    r"""Excess over `theory.bound.stability.stability_1`, surpassed with probability δ at most, for these admissions.

    >>> float(deviation_1([2, 2], 1, Constants(D=3, sigma=1, eta=1, B=1, Pdim=1, G=1, L=1), np.exp(-2)))
    6.0
    """
    squares = sum(
        count * sample_range(W, R, constants) ** 2
        for count, W, R in zip(admissions, *influences(admissions, K), strict=True)
    )
    return deviation(squares, failure)


def deviation_constant(K: Any, T: Any, rate: Any, constants: Constants, failure: Any) -> Any:
    r"""`deviation_1` under constant admission, an upper bound for every T; for K = 1 the first root alone is not 0:

    \[G\sqrt{\tfrac{2\log(1/\delta)}{\bar\Lambda}}\Bigl(D\sqrt{T+2(K-1)}+
      2\eta EG\sqrt{T\bigl(\tfrac{K^2-1}{6K}\bigr)^2+(K-1)^3}\Bigr).\]

    >>> float(deviation_constant(1, 8, 1, Constants(D=1, sigma=1, eta=1, B=1, Pdim=1, G=1, L=1), np.exp(-1)))
    4.0
    """
    T = wide(T)
    traced = ratio(T * (K * K - 1) ** 2, 36 * K * K) + (K - 1) ** 3
    traces = stability_round(sqrt(traced), constants).total
    weights = constants.G * constants.D * sqrt(T + 2 * (K - 1))
    return (weights + traces) * deviation(ratio(4, rate), failure)
