"""The claims about control can fail: each check notices an error planted in the formula that it is about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from proofs_check.claim import Context
from proofs_check.claims.control import (
    buffer_violation,
    comparison,
    cost_proof,
    cost_violation,
    debt_queue,
    drift,
    first_round,
    independence,
    largest_violation,
    occupancy,
    t_slot,
)
from proofs_check.evidence import Evidence
from proofs_check.groundwork.control import drift_step, inside_region, lambert_sum, repaired_penalty
from theory.admission import AdmissionState, advance, debt_update
from theory.algebra import positive_part, ratio
from theory.bound import Terms, generalisation_term, linear_term, root_term
from theory.penalty import penalty_comparison, penalty_comparison_as_stated, penalty_terms
from theory.region import region_maximum, region_maximum_total, region_minimum, region_minimum_total
from theory.regret import drift_constant
from theory.setting import Constants, Region
from theory.violation import (
    buffer_excess_maximum,
    cost_excess_maximum,
    cost_violation_bound,
    cost_violation_by_peak,
    cost_violation_least,
    cost_violation_rate,
    lambert_bound,
)

MODULES = (
    buffer_violation, comparison, cost_proof, cost_violation, debt_queue, drift, first_round, independence,
    largest_violation, occupancy, t_slot,
)  # fmt: skip
BELOW = (drift_step, inside_region, lambert_sum, repaired_penalty)


def run(check: Callable[..., Evidence]) -> Evidence:
    """A check as it is, past the cache."""
    plain = getattr(check, "__wrapped__", check)
    try:
        return plain()
    except TypeError as error:
        if "context" not in str(error):
            raise
    return plain(Context(claim="planted", check=plain.__name__))


def plant(monkeypatch: pytest.MonkeyPatch, name: str, wrong: Any) -> None:
    """The wrong function under this name, in every module about control that imported it."""
    owners = [module for module in (*MODULES, *BELOW) if hasattr(module, name)]
    assert owners, f"no module about control uses {name}"
    for module in owners:
        monkeypatch.setattr(module, name, wrong)


def comparison_with_the_paper_s_slip(K: Any, t: Any, region: Region, constants: Constants) -> Terms:
    """The repaired comparison, but 1/N at the smallest N, as printed."""
    k = min(K, t) if isinstance(K, int) else __import__("sympy").Min(K, t)
    held = region_minimum_total(region, t) - region_minimum_total(region, t - k + 1) + region.rate
    fewest = region_minimum_total(region, t) + region.rate
    gap = ratio(1, held) - ratio(1, fewest)
    third = generalisation_term(ratio(1, fewest), fewest, constants)
    return Terms(root=root_term(gap, constants), linear=linear_term(gap, constants), generalisation=third)


def without(name: str) -> Callable[..., Terms]:
    """The repaired comparison less one of its terms."""
    return lambda *arguments: replace(penalty_comparison(*arguments), **{name: 0})


def drift_without_cost(region: Region, t: Any, second_moment: Any, C: Any) -> Any:
    return ratio(C * C, 2) + 0 * drift_constant(region, t, second_moment, C)


def drift_without_budget(region: Region, t: Any, second_moment: Any, C: Any) -> Any:
    return drift_constant(region, t, second_moment, 0 * C)


def advance_keeping_the_oldest(state: AdmissionState, Lambda: Any, cost: Any, C: Any) -> AdmissionState:
    after = advance(state, Lambda, cost, C)
    return replace(after, window=state.window) if state.window.size else after


def advance_forgetting(state: AdmissionState, Lambda: Any, cost: Any, C: Any) -> AdmissionState:
    return replace(advance(state, Lambda, cost, C), expired=state.expired)


# what is planted, where it stands, and the check that must not hold any more
PLANTED: dict[str, tuple[str, Any, Callable[..., Evidence]]] = {
    "the paper's own slip, by symbols": (
        "penalty_comparison",
        comparison_with_the_paper_s_slip,
        repaired_penalty.pieces_at_the_ends,
    ),
    "the paper's own slip, by search": (
        "penalty_comparison",
        comparison_with_the_paper_s_slip,
        repaired_penalty.never_exceeded,
    ),
    "the printed comparison without its window": (
        "penalty_comparison_as_stated",
        lambda K, t, *rest: penalty_comparison_as_stated(1, t, *rest),
        comparison.printed_formula,
    ),
    "comparison one round late": (
        "penalty_comparison",
        lambda K, t, *rest: penalty_comparison(K, t + 1, *rest),
        repaired_penalty.pieces_at_the_ends,
    ),
    "total one round late": (
        "region_minimum_total",
        lambda region, t: region_minimum_total(region, t + 1),
        repaired_penalty.totals_are_sums,
    ),
    "upper total without its rate": (
        "region_maximum_total",
        lambda region, t: region_maximum_total(region, t) - region.rate * (t - 1),
        repaired_penalty.totals_are_sums,
    ),
    "upper end one round late": (
        "region_maximum",
        lambda region, t: region_maximum(region, t + 1),
        lambert_sum.beyond_rate,
    ),
    "lower end one round late": (
        "region_minimum",
        lambda region, t: region_minimum(region, t + 1),
        repaired_penalty.totals_are_sums,
    ),
    "penalty of n and N exchanged": (
        "penalty_terms",
        lambda n, N, constants: penalty_terms(N, n, constants),
        repaired_penalty.first_terms_move,
    ),
    "debt below 0": ("debt_update", lambda Z, c, x, C: Z + c * x - C, drift_step.debt_behaves),
    "debt that forgets": ("debt_update", lambda Z, c, x, C: positive_part(c * x - C), debt_queue.queue_step),
    "debt of twice the cost": (
        "debt_update",
        lambda Z, c, x, C: debt_update(Z, 2 * c, x, C),
        drift_step.one_round,
    ),
    "window that keeps the oldest": ("advance", advance_keeping_the_oldest, debt_queue.state_remembers),
    "samples that never leave": ("advance", advance_forgetting, debt_queue.state_remembers),
    "B_t without the cost": ("drift_constant", drift_without_cost, drift_step.drift_constant_is),
    "B_t without the budget": ("drift_constant", drift_without_budget, drift_step.drift_constant_is),
    "B_t doubled, its excess": (
        "drift_constant",
        lambda *arguments: 2 * drift_constant(*arguments),
        drift_step.drift_excess,
    ),
    "bound on the Lambert sum without its root": (
        "lambert_bound",
        lambda rho: lambert_bound(rho) / rho,
        lambert_sum.lambert_closed,
    ),
    "order of the Lambert sum halved": (
        "cost_violation_rate",
        lambda rho: cost_violation_rate(rho) / 2,
        lambert_sum.lambert_order,
    ),
    "cost excess without the budget": (
        "cost_excess_maximum",
        lambda T, region, mean, C: cost_excess_maximum(T, region, mean, 0 * C),
        largest_violation.one_round_more,
    ),
    "cost excess of a list, its last mean doubled": (
        "cost_excess_maximum",
        lambda T, region, mean, C: cost_excess_maximum(
            T, region, [*mean[:-1], 2 * mean[-1]] if isinstance(mean, list) else mean, C
        ),
        largest_violation.lists_are_sums,
    ),
    "cost excess a round late": (
        "cost_excess_maximum",
        lambda T, region, mean, C: cost_excess_maximum(T + 1, region, mean, C) + C,
        largest_violation.one_round_more,
    ),
    "peak bound without the rate": (
        "cost_violation_by_peak",
        lambda T, region, peak: cost_violation_by_peak(T, region, peak) / region.rate,
        lambert_sum.peak_step,
    ),
    "peak bound a round short": (
        "cost_violation_by_peak",
        lambda T, region, peak: cost_violation_by_peak(T - 1, region, peak),
        lambert_sum.peak_step,
    ),
    "peak bound without the peak": (
        "cost_violation_by_peak",
        lambda T, region, peak: cost_violation_by_peak(T, region, 1),
        lambert_sum.peak_step,
    ),
    "an upper end at Λ̄": (
        "region_maximum",
        lambda region, t: region.rate + 0 * region_maximum(region, t),
        buffer_violation.turns_once,
    ),
    "cost bound a round short": (
        "cost_violation_bound",
        lambda T, region, mean, C: (
            cost_violation_bound(T - 1, region, mean[:-1] if isinstance(mean, list) else mean, C)
            if T > 1
            else Fraction(0)
        ),
        largest_violation.extreme_policies,
    ),
    "cost bound in the loop, 1 % off": (
        "cost_violation_bound",
        lambda *arguments: cost_violation_bound(*arguments) * 99 / 100,
        largest_violation.played_by_the_policy,
    ),
    "least violation without its tail": (
        "cost_violation_least",
        lambda T, rho, C: cost_violation_least(T, rho, C) - C * rho ** (T + 1) / (1 - rho),
        first_round.never_repaid,
    ),
    "buffers without what they lack at first": (
        "buffer_excess_maximum",
        lambda K, T, region: buffer_excess_maximum(K, T, region) + K * (K - 1) * region.rate / 2,
        buffer_violation.closed_form,
    ),
    "buffers one round of retention more": (
        "buffer_excess_maximum",
        lambda K, T, region: buffer_excess_maximum(K + 1, T, region),
        buffer_violation.extreme_policies,
    ),
}


@pytest.mark.parametrize("case", PLANTED)
def test_a_planted_error_is_noticed(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, wrong, check = PLANTED[case]
    assert run(check).outcome == "holds"
    plant(monkeypatch, name, wrong)
    try:
        found = run(check)
    except Exception:
        return  # a check that breaks is noticed as well
    assert found.outcome != "holds"


PATH_TERMS: dict[str, tuple[str, Any]] = {
    "root": ("penalty_comparison", without("root")),
    "linear": ("penalty_comparison", without("linear")),
    "generalisation": ("penalty_comparison", without("generalisation")),
    "squared cost": ("drift_constant", drift_without_cost),
    "squared budget": ("drift_constant", drift_without_budget),
}


@pytest.mark.parametrize("term", PATH_TERMS)
def test_the_played_rounds_need_every_term_of_the_one_round_inequality(
    term: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(t_slot.every_path).outcome == "holds"
    plant(monkeypatch, *PATH_TERMS[term])
    assert run(t_slot.every_path).outcome == "fails"


@pytest.mark.parametrize("term", ["root", "linear", "generalisation", "squared cost"])
def test_the_enumerated_means_need_every_term_but_the_squared_budget(
    term: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, *PATH_TERMS[term])
    assert run(t_slot.enumerated_mean).outcome == "fails"


def test_a_counterexample_outside_its_hypotheses_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(independence.markov_factorises).outcome == "fails"
    monkeypatch.setattr(independence, "BUDGET", Fraction(2))  # the mean cost is not affordable any more
    assert run(independence.markov_factorises).outcome == "open"
    shifted = replace(t_slot.drifting_costs(), outcome="fails")
    assert shifted.outcome == "fails"
    monkeypatch.setattr(t_slot, "debt_behaves", lambda: replace(shifted, outcome="open"))
    assert run(t_slot.drifting_costs).outcome == "open"


def test_an_admission_outside_the_region_is_seen() -> None:
    region = Region(rate=1, rho=Fraction(1, 2))
    assert inside_region.lies_inside([Fraction(2)], region).outcome == "holds"
    assert inside_region.lies_inside([Fraction(2), Fraction(2)], region).outcome == "fails"
