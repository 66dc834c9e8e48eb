r"""Constant admission: Corollary 1 and the costless oracle, for one round and over T rounds to 10^15."""

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise
from math import isqrt
from typing import Any

import numpy as np

from theory.bound.theorem1 import (
    PER_ROUND,
    ROUNDING,
    Bound,
    Terms,
    initial_term,
    per_round_constant,
    per_round_constant_as_stated,
    round_terms,
)
from theory.numbers.algebra import ball, precise, ratio
from theory.numbers.summation import total, total_ball
from theory.reuse.constant import inverse_effective_constant, mismatch_constant, uniformity_constant_as_stated
from theory.setting import Constants, horizon, positive, retention

__all__ = ["constant_bound", "constant_bound_as_stated", "constant_breaks", "constant_round"]
__all__ += ["constant_round_as_stated", "oracle_bound", "oracle_bound_as_stated", "sum_rounds"]


# --- one round ---------------------------------------------------------------------------------------------


def constant_round(K: Any, t: Any, rate: Any, constants: Constants) -> Terms:
    """Round t of Corollary 1, corrected (`cor:ck-specialization`); an upper bound, for every t >= 1."""
    return round_terms(
        mismatch_constant(K, t, rate), inverse_effective_constant(K, t, rate), rate * t, constants.merged
    )


def constant_round_as_stated(K: Any, t: Any, rate: Any, constants: Constants) -> Terms:
    """Round t of Corollary 1 as printed (`eq:ck-bound-detail`): n = KΛ̄ in every round, the printed uniformity.

    >>> constant_round_as_stated(2, 3, 4, Constants(D=1, sigma=1, eta=1, B=1, Pdim=3)).linear
    Fraction(3, 200)
    """
    inverse = ratio(1, rate * t * uniformity_constant_as_stated(K, t))
    return round_terms(ratio(1, K * rate) - inverse, inverse, rate * t, constants)


# --- T rounds ------------------------------------------------------------------------------------------------


def sum_rounds(
    make_round: Callable[[Any], Terms],
    T: int,
    breaks: Iterable[int],
    *,
    certified: bool,
    left_out: tuple[int, ...] = (),
) -> Bound:
    """Sum a per-round formula over t = 1..T except for the rounds left out: balls if certified, else floats."""
    edges = [0, *left_out, T + 1]
    stretches = [(a + 1, b - 1) for a, b in pairwise(edges) if a + 1 <= b - 1]

    def columns(t: Any) -> list[Any]:
        terms = make_round(t)
        return [getattr(terms, name) for name in PER_ROUND]

    if certified:
        with precise():
            balls = [total_ball(columns, last, breaks, start=first) for first, last in stretches]
            sums = [sum(column, ball(0)) for column in zip(*balls, strict=True)] or [ball(0)] * len(PER_ROUND)
            return Bound(Terms(*sums), error=float(sum(sums).rad()), left_out=left_out)
    parts = [total(lambda t: np.stack(columns(t)), last, breaks, start=first) for first, last in stretches]
    values = sum((part.value for part in parts), np.zeros(len(PER_ROUND)))
    error = float(sum(part.error.sum() for part in parts))
    return Bound(Terms(*map(float, values)), error=error, left_out=left_out)


def number_system(certified: bool) -> Callable[[Any], Any]:
    """The number system of a cumulative evaluation: balls if it is to be proved, else floats."""
    return ball if certified else float


def with_constants(result: Bound, constant: Any, initial: Any) -> Bound:
    """The constants join the sums, and the roundings of joining them join the error."""
    terms = replace(result.terms, constant=constant, initial=initial)
    if hasattr(terms.total, "rad"):
        return replace(result, terms=terms, error=float(terms.total.rad()))
    rounding = ROUNDING * (constant + initial + abs(terms.total))
    return replace(result, terms=terms, error=float(result.error + rounding))


def filling_breaks(K: int) -> tuple[int, ...]:
    """Rounds at which every summand changes its branch: the first round is over, the buffers are full."""
    return (1, K - 1, K)


def constant_breaks(K: int, rate: Any, constants: Constants) -> tuple[int, ...]:
    """Rounds at which the corrected summand changes its branch: the buffers are full, N passes Pdim."""
    return (*filling_breaks(K), int(constants.Pdim / rate))


def constant_bound(K: Any, rate: Any, T: Any, constants: Constants, *, certified: bool = False) -> Bound:
    """Corollary 1 corrected, over T rounds of constant admission (`cor:ck-specialization`), T to 10^15.

    An upper bound under the hypotheses above; with `certified`, its terms are balls proved to contain them.

    >>> unit = Constants(D=1, sigma=1, eta=1, B=1, Pdim=5)
    >>> round(constant_bound(10, 10, 10**9, unit).terms.root)
    99999998
    """
    K, T = retention(K), horizon(T)
    positive("the admission rate", rate)
    breaks = constant_breaks(K, rate, constants)
    system = number_system(certified)
    numbers, rate = constants.map(system), system(rate)
    result = sum_rounds(lambda t: constant_round(K, t, rate, numbers), T, breaks, certified=certified)
    with precise() if certified else nullcontext():
        return with_constants(result, per_round_constant(numbers) * T, initial_term(numbers.merged))


def constant_bound_as_stated(
    K: Any, rate: Any, T: Any, constants: Constants, *, certified: bool = False
) -> Bound:
    """Corollary 1 as printed (`eq:ck-bound-detail`), over T rounds; see `Bound` for what had to be made real.

    >>> unit = Constants(D=1, sigma=1, eta=1, B=1, Pdim=5)
    >>> constant_bound_as_stated(10, 10, 100, unit).negative
    {'root': ((4, 15),), 'generalisation': ((1, 2),)}
    """
    K, T = retention(K), horizon(T)
    positive("the admission rate", rate)
    # 6K² t < K(K-1)(2K-1): the printed N_eff is negative; between the two crossings it is below n
    negative_until = ((K - 1) * (2 * K - 1) - 1) // (6 * K)
    low, high = _stated_crossings(K)
    pole = ((K - 1) // 2,) if K % 2 == 1 and 1 <= (K - 1) // 2 <= T else ()
    breaks = (1, negative_until, (K - 1) // 2, low - 1, high, int(constants.Pdim / rate))
    system = number_system(certified)
    numbers, rate = constants.map(system), system(rate)
    result = sum_rounds(
        lambda t: constant_round_as_stated(K, t, rate, numbers), T, breaks, certified=certified, left_out=pole
    )
    with precise() if certified else nullcontext():
        result = with_constants(result, per_round_constant_as_stated(numbers) * T, initial_term(numbers))
    negative = {"root": (low, min(high, T)), "generalisation": (1, min(negative_until, T))}
    return replace(
        result, negative={name: ((first, last),) for name, (first, last) in negative.items() if first <= last}
    )


def _stated_crossings(K: int) -> tuple[int, int]:
    """First and last round in which the printed N_eff is at most n and not negative (empty for K = 1).

    That is |t - K + 1/2| < sqrt((5K²-2)/12): an odd integer d = |2t - 2K + 1| with 3d² < 5K² - 2.
    """
    d = isqrt((5 * K * K - 3) // 3)
    d -= d % 2 == 0
    return (2 * K - 1 - d) // 2, (2 * K - 1 + d) // 2


def oracle_bound(total_buffer: Any, T: Any, constants: Constants, *, certified: bool = False) -> Bound:
    """The costless oracle, corrected (`eq:oracle-upper-bound-explicit`): ΣB fresh samples per round, used once.

    >>> unit = Constants(D=1, sigma=1, eta=1, B=1, Pdim=5)
    >>> oracle_bound(100, 1, unit).terms.root
    0.0
    """
    return constant_bound(1, total_buffer, T, constants, certified=certified)


def oracle_bound_as_stated(
    total_buffer: Any, T: Any, constants: Constants, *, certified: bool = False
) -> Bound:
    """The costless oracle as printed: at K = 1 the reuse formulas agree, so η for ηE is all that differs."""
    return constant_bound_as_stated(1, total_buffer, T, constants, certified=certified)
