r"""A memory that is kept full, first in, first out: ages instead of lifetimes.

With S samples in memory in every round, \(\sum_iA_i=St\) and \(\sum_iA_i^2\) grows by \(\sum_{i\in Q}(2A_i-1)\) in a
round. So the effective sample size knows of the policy only how old the memory is:

\[\frac{N_{\mathrm{eff}}(t)}t=\frac S{2\bar A(t)-1},\]

\(\bar A\) being the mean age of what is trained on, over the rounds so far; a fresh sample has age 1. The law of reuse
says the same for every step size: two means \(\bar z(t),\bar z(t-d)\) have as many samples in common as are older than
d, so the stationary noise is

\[\lim\sum_ic_i^2=\frac{1-a}{1+a}\cdot\frac{\mathbb E[g_a(A)]}S,\qquad g_a(j)=1+2\sum_{d=1}^{j-1}a^d,\]

a mean over the memory of a burden that grows with age: \(g_1(j)=2j-1\) for small steps, \(g_0=1\) where each round
forgets the last.
"""

from typing import Any

import numpy as np

from theory.law.quadratic import Cohorts, by_capacity
from theory.numbers.algebra import log, one_minus_exp, ratio
from theory.reuse.trajectories import Trajectory, from_totals
from theory.setting import SettingError, horizon, is_zero

__all__ = ["age_burden", "burst_effective_rate", "burst_rate", "effective_rate", "noise_by_age"]
__all__ += ["trajectory_by_capacity", "trajectory_of"]


def effective_rate(places: Any, mean_age: Any) -> Any:
    r"""\(N_{\mathrm{eff}}(t)/t=S/(2\bar A-1)\) of a memory of S samples with this mean age over all rounds; exact.

    >>> effective_rate(100, ratio(11, 2))
    Fraction(10, 1)
    """
    return ratio(places, 2 * mean_age - 1)


def age_burden(age: Any, a: Any = 1) -> Any:
    r"""\(g_a(j)=1+2\sum_{d=1}^{j-1}a^d\): what a sample of this age adds to the noise; exact, accurate on floats.

    >>> age_burden(3), age_burden(3, ratio(1, 2))
    (5, Fraction(5, 2))
    """
    if is_zero(1 - a):
        return 2 * age - 1
    small = isinstance(a, float | np.floating) and 2 * a > 1
    gone = one_minus_exp((age - 1) * log(a)) if small else 1 - a ** (age - 1)
    return 1 + ratio(2 * a * gone, 1 - a)


def noise_by_age(places: Any, mean_burden: Any, a: Any) -> Any:
    r"""\(\frac{1-a}{1+a}\cdot\frac{\mathbb E[g_a(A)]}S\): stationary noise of a full memory, over a sample's; exact.

    >>> noise_by_age(10, age_burden(1, ratio(1, 2)), ratio(1, 2))
    Fraction(1, 30)
    """
    return ratio((1 - a) * mean_burden, (1 + a) * places)


# --- any admissions ----------------------------------------------------------------------------------------


def trajectory_by_capacity(admissions: Any, capacity: Any) -> Trajectory:
    """n, N, uniformity and mismatch of every round, first in, first out by capacity; linear in T, exact for integers.

    >>> trajectory_by_capacity([2, 1, 0], capacity=2).effective[-1]
    Fraction(18, 7)
    """
    return trajectory_of(by_capacity(admissions, capacity), len(admissions))


def trajectory_of(cohorts: Cohorts, rounds: Any) -> Trajectory:
    """Trajectory of any cohorts: clients that keep samples by age or by capacity, together.

    >>> from theory.law.quadratic import by_age
    >>> trajectory_of(by_age([1, 1, 1], K=2), 3).uniformity[1]
    Fraction(9, 10)
    """
    T = horizon(rounds)
    exact = cohorts.count.dtype.kind != "f"
    count = cohorts.count.astype(object) if exact else cohorts.count
    n = Cohorts(cohorts.entered, cohorts.left, count).occupancy(T)
    # counted in whole numbers: differences of floats would leave rounding, not 0, of an empty memory
    held = Cohorts(cohorts.entered, cohorts.left, (count > 0).astype(int)).occupancy(T)
    if not held.all():
        raise SettingError(f"no sample is in memory in round {int(np.argmin(held)) + 1}: admit one before it")
    lifetime = cohorts.left - cohorts.entered + 1
    arrived, gone, gone_squares = (np.zeros(T + 2, dtype=count.dtype) for _ in range(3))
    np.add.at(arrived, np.minimum(cohorts.entered, T + 1), count)
    leaves = np.minimum(cohorts.left + 1, T + 1)
    np.add.at(gone, leaves, count * lifetime)
    np.add.at(gone_squares, leaves, count * lifetime * lifetime)
    N, gone, gone_squares = (np.cumsum(one)[1 : T + 1] for one in (arrived, gone, gone_squares))
    uses = np.cumsum(n)
    aged = uses - gone
    return from_totals(n, N, aged, uses, np.cumsum(2 * aged - n), gone, gone_squares)


# --- bursts at cheap prices --------------------------------------------------------------------------------


def burst_rate(places: Any, parts: Any, often: Any) -> Any:
    r"""\(Sq/r\): one r-th of the memory is replaced with probability q per round, independently; exact.

    >>> burst_rate(100, 2, ratio(1, 4))
    Fraction(25, 2)
    """
    return ratio(places * often, parts)


def burst_effective_rate(places: Any, parts: Any, often: Any) -> Any:
    r"""\(Sq/(r+1-q)\), the limit of N_eff/t: a sample stays until r bursts have come; exact.

    >>> burst_effective_rate(100, 1, ratio(1, 4))
    Fraction(100, 7)
    """
    return ratio(places * often, parts + 1 - often)
