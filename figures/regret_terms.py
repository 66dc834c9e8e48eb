"""Ω₁, Ω₂ and Ω₃ of constant admission over any horizon, in floats for lines and in balls for points.

The differences are those of `theory.regret.omegas`, which has Ω₁ for a list of admissions only, and no fast floats.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

from theory.bound.constant_admission import constant_breaks, constant_round, sum_rounds
from theory.bound.theorem1 import Terms, generalisation_term, linear_term, root_term
from theory.control.penalty import (
    penalty_comparison,
    penalty_comparison_as_stated,
    penalty_limit,
    penalty_limit_as_stated,
)
from theory.numbers.algebra import ball, precise, ratio
from theory.reuse.counts import inverse_effective_constant, occupancy_constant
from theory.setting import Constants, Region

__all__ = ["regret_term"]


def regret_term(
    term: str,
    form: str,
    K: int,
    rate: Any,
    T: int,
    constants: Constants,
    *,
    rho: Any = None,
    certified: bool = False,
) -> Terms:
    """The term ("omega1", "omega2", "omega3") over T rounds, "corrected" or "stated"; only Ω₂ needs ρ."""
    stated = form == "stated"
    system: Callable[[Any], Any] = ball if certified else float
    given = constants.map(system) if stated else constants.map(system).merged
    Lambda = system(rate)
    parts: tuple[Callable[[Any], Terms], Callable[[Any], Terms]]
    if term == "omega1":
        bound = _printed_round if stated else constant_round
        parts = (partial(_at, bound, K, Lambda, given), partial(_at, penalty_limit, K, Lambda, given))
    else:
        limit = partial(_at, penalty_limit_as_stated if stated else penalty_limit, K, Lambda, given)
        if term == "omega2":
            comparison = penalty_comparison_as_stated if stated else penalty_comparison
            region = Region(rate=Lambda, rho=system(rho))
            parts = (lambda t: comparison(K, t, region, given), limit)
        else:
            parts = (limit, partial(_at, constant_round, 1, K * Lambda, given))
    breaks = (*constant_breaks(K, rate, constants), K + 1, int(constants.Pdim / (K * rate)))
    with precise() if certified else nullcontext():
        more, less = (sum_rounds(part, T, breaks, certified=certified).terms for part in parts)
        return more - less


def _at(formula: Callable[..., Terms], K: int, rate: Any, constants: Constants, t: Any) -> Terms:
    return formula(K, t, rate, constants)


def _printed_round(K: int, t: Any, rate: Any, constants: Constants) -> Terms:
    """A round of Theorem 1 as printed on the true trajectory of constant admission: 1/n - 1/N_eff where χ belongs."""
    inverse = inverse_effective_constant(K, t, rate)
    gap = ratio(1, occupancy_constant(K, t, rate)) - inverse
    return Terms(
        root=root_term(gap, constants),
        linear=linear_term(gap, constants),
        generalisation=generalisation_term(inverse, rate * t, constants),
    )
