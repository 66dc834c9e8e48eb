"""Theory's functions as Coq definitions: `python -m proofs_check.kernel.formulas` renews the files.

A row names a function and its arguments; an argument that ends in `:nat` is a natural number, the others are positive
reals. The proofs are about these definitions, so that a formula stands once, in `theory`.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import Any

import sympy as sp

from proofs_check.kernel.coq_terms import coq
from theory.bound import constant_admission
from theory.bound import theorem1 as bound
from theory.control import admission, penalty, region, violation
from theory.design import offline as design
from theory.drift import long_run as drift_limits
from theory.law import quadratic as law
from theory.law import stationary
from theory.market import capacity, lower_bound
from theory.market import online as buying
from theory.market.knapsack import Limit
from theory.regret import omegas as regret
from theory.reuse import constant
from theory.reuse import counts as reuse
from theory.setting import Budget, Constants, Region

__all__ = ["FORMULAS", "written"]

HEAD = """(* Generated from theory by `python -m proofs_check.kernel.formulas`: do not edit. *)
Require Import Reals.
From Acdpp Require Import Sums.
Open Scope R_scope.
"""


def _budget(total_buffer: Any, cost: Any, mean_cost: Any) -> Budget:
    return Budget(buffers=(total_buffer,), cost=cost, mean_cost=mean_cost)


def _omega3_round(K: Any, t: Any, rate: Any, c: Constants) -> Any:
    """A round of `theory.regret.omegas.omega3`."""
    oracle = constant_admission.constant_round(1, t, K * rate, c)
    return (penalty.penalty_limit(K, t, rate, c.merged) - oracle).total


def _omega3_round_as_stated(K: Any, t: Any, rate: Any, c: Constants) -> Any:
    """A round of `theory.regret.omegas.omega3_as_stated`."""
    single = replace(c, E=1)
    oracle = constant_admission.constant_round(1, t, K * rate, single)
    return (penalty.penalty_limit_as_stated(K, t, rate, single) - oracle).total


# groups of arguments: theory's class for them, and their names in Coq
TOGETHER: dict[str, tuple[Any, str]] = {
    "region": (Region, "rate rho"),
    "constants": (Constants, "D sigma eta B Pdim E:nat L G"),
    "budget": (_budget, "total_buffer cost mean_cost"),
}
FULL, START_UP = stationary.full_memory_noise, stationary.start_up_bound
Row = tuple[Callable[..., Any], str] | tuple[str, Callable[..., Any], str]

FORMULAS: dict[str, tuple[Row, ...]] = {
    "ReuseFormulas": (
        (reuse.uses_kstep, "age K"),
        ("first_deficit", lambda age, K: reuse.cohort_deficits(age, K)[0], "age K"),
        ("second_deficit", lambda age, K: reuse.cohort_deficits(age, K)[1], "age K"),
        (reuse.uniformity_from_deficits, "N first second K"),
        (reuse.effective_from_sums, "uses squares"),
        (reuse.mismatch_from_sums, "n uses squares in_memory"),
        (constant.occupancy_constant, "K t rate"),
        (constant.uniformity_constant, "K t"),
        (constant.uniformity_constant_as_stated, "K t"),
        (constant.inverse_effective_constant, "K t rate"),
        (constant.mismatch_constant, "K t rate"),
    ),
    "ControlFormulas": (
        (admission.debt_update, "Z cost Lambda C"),
        (region.region_minimum, "region t:nat"),
        (region.region_maximum, "region t:nat"),
        (violation.lambert_bound, "rho"),
        (violation.cost_violation_rate, "rho"),
        (violation.cost_violation_rate_as_stated, "T:nat V rho"),
        (violation.cost_violation_least, "T:nat rho C"),
        (violation.cost_excess_maximum, "T:nat region mean_cost C"),
        (violation.cost_violation_by_peak, "T:nat region peak"),
        (violation.buffer_violation_bound, "K:nat T:nat region"),
        (violation.buffer_excess_maximum, "K:nat T:nat region"),
    ),
    "LawFormulas": (
        (law.contraction, "h eta E:nat"),
        (law.stationary_noise, "a K:nat"),
        (stationary.mean_lag, "K:nat"),
        (
            "noise_of_a_direction",
            lambda rate, K, h, variance, eta, E: law.noise_floor(
                rate, K, h=[h], variance=[variance], eta=eta, E=E
            ),
            "rate K:nat h variance eta E:nat",
        ),
        ("full_memory_noise_filling", lambda a, t, more: FULL(a, t + more, t), "a t:nat more:nat"),
        ("full_memory_noise_after", lambda a, K, more: FULL(a, K, K + more), "a K:nat more:nat"),
        ("start_up_bound_after", lambda a, K, more: START_UP(a, K, K + more), "a K:nat more:nat"),
        (design.fill_ratio, "budget"),
        (design.best_rate, "K:nat budget"),
        (drift_limits.slope_lag, "a K:nat"),
    ),
    "RegretFormulas": (
        ("omega3_round", _omega3_round, "K t rate constants"),
        ("omega3_round_as_stated", _omega3_round_as_stated, "K t rate constants"),
        (regret.omega3_limit, "K rate constants"),
        ("penalty_limit", lambda *at: penalty.penalty_limit(*at).total, "K t rate constants"),
        (
            "penalty_limit_as_stated",
            lambda *at: penalty.penalty_limit_as_stated(*at).total,
            "K t rate constants",
        ),
        ("constant_round", lambda *at: constant_admission.constant_round(*at).total, "K t rate constants"),
        (
            "long_run_share",
            lambda n, c: bound.root_term(1 / n, c.merged) + bound.linear_term(1 / n, c.merged),
            "n constants",
        ),
    ),
    "NobodyFormulas": (
        (
            "bayes_risk",
            lambda samples, h, variance, prior: lower_bound.bayes_risk(
                samples, h=[h], variance=[variance], prior=[prior]
            ),
            "samples h variance prior",
        ),
        (
            "least_risk",
            lambda samples, h, variance: lower_bound.least_risk(samples, h=[h], variance=[variance]),
            "samples h variance",
        ),
        (
            "most_samples",
            lambda rate, threshold, rounds, debt: lower_bound.most_samples(
                Limit(threshold, 1, rate, 0, "money"), rounds, debt
            ),
            "rate threshold rounds debt",
        ),
    ),
    "BuyingFormulas": (
        (admission.debt_update, "Z cost Lambda C"),
        (buying.debt_ceiling, "V worth places C low high"),
        (buying.overspending, "debt reserve rounds"),
        (buying.savings_price, "age places C"),
        (buying.purchase_drift, "places C high"),
        (buying.rate_shortfall, "V drift reserve rounds"),
        (buying.frame_shortfall, "V drift frame reserve rounds"),
        (buying.reserve_weight, "reserve places C"),
        (buying.savings_ceiling, "reserve places C high"),
        (capacity.effective_rate, "places mean_age"),
        (reuse.effective_from_sums, "uses squares"),
    ),
    "LearningFormulas": (
        ("root_term", lambda chi, c: bound.root_term(chi, c.merged), "chi constants"),
        ("linear_term", lambda chi, c: bound.linear_term(chi, c.merged), "chi constants"),
        (bound.per_round_constant, "constants"),
        ("initial_term", lambda c: bound.initial_term(c.merged), "constants"),
        ("root_term_as_stated", bound.root_term, "mismatch constants"),
        ("linear_term_as_stated", bound.linear_term, "mismatch constants"),
        (bound.generalisation_term_as_printed, "inverse_effective N constants"),
        (bound.generalisation_term, "inverse_effective N constants"),
        (bound.per_round_constant_as_stated, "constants"),
        ("initial_term_as_stated", bound.initial_term, "constants"),
    ),
}


def _symbol(argument: str) -> Any:
    name, _, kind = argument.partition(":")
    return sp.Symbol(name, integer=True, positive=True) if kind == "nat" else sp.Symbol(name, positive=True)


def _argument(word: str) -> Any:
    """The argument of theory's function for a word of a row."""
    if word not in TOGETHER:
        return _symbol(word)
    kind, parts = TOGETHER[word]
    return kind(**{part.partition(":")[0]: _symbol(part) for part in parts.split()})


def _definition(name: str, function: Callable[..., Any], arguments: str) -> str:
    words = [part for word in arguments.split() for part in TOGETHER.get(word, (None, word))[1].split()]
    binders = " ".join(
        f"({name} : {kind or 'R'})" for name, _, kind in (word.partition(":") for word in words)
    )
    value = coq(function(*map(_argument, arguments.split())))
    head, body = (_folded(text) for text in (f"Definition {name} {binders} : R :=", f"  {value}."))
    return f"\n{head}\n{body}\n"


def _folded(text: str) -> str:
    return fill(text, 100, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def _rows(part: str) -> Iterator[str]:
    for row in FORMULAS[part]:
        yield _definition(*row) if len(row) == 3 else _definition(row[0].__name__, *row)


@cache
def written(part: str) -> str:
    """The text of one file of definitions, from theory as it is now.

    >>> print(written("ReuseFormulas").partition("Definition occupancy_constant ")[2].partition(".")[0])
    (K : R) (t : R) (rate : R) : R :=
      rate * Rmin K t
    """
    return HEAD + "".join(_rows(part))


if __name__ == "__main__":
    for part in FORMULAS:
        Path(__file__).with_name(f"{part}.v").write_text(written(part), encoding="utf-8")
