"""The claims about control can fail: each module notices an error planted in a formula that it is about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from proofs_check.claim import Context, _wants_context
from proofs_check.claims.control import (
    buffer_violation,
    comparison,
    debt_queue,
    first_round,
    independence,
    largest_violation,
    t_slot,
)
from proofs_check.evidence import Evidence
from proofs_check.groundwork.control import (
    drift_step,
    inside_region,
    lambert_sum,
    region_ends,
    repaired_penalty,
)
from theory.admission import AdmissionState, advance
from theory.algebra import ratio
from theory.penalty import penalty_comparison, penalty_comparison_as_stated, penalty_terms
from theory.region import region_maximum, region_minimum
from theory.regret import drift_constant
from theory.setting import Region
from theory.violation import (
    buffer_excess_maximum,
    cost_excess_maximum,
    cost_violation_bound,
    cost_violation_by_peak,
    cost_violation_least,
    lambert_bound,
)


def run(check: Callable[..., Evidence]) -> Evidence:
    """A check as it is, past the cache."""
    plain = getattr(check, "__wrapped__", check)
    return plain(Context(claim="planted", check=plain.__name__)) if _wants_context(plain) else plain()


def keeping_the_oldest(state: AdmissionState, Lambda: Any, cost: Any, C: Any) -> AdmissionState:
    after = advance(state, Lambda, cost, C)
    return replace(after, window=state.window) if state.window.size else after


# what is planted, where it stands, and the check of that module that must not hold any more
PLANTED: dict[str, tuple[Any, Any, Callable[..., Any]]] = {
    "penalty_comparison": (
        repaired_penalty,
        repaired_penalty.never_exceeded,
        lambda *rest: replace(penalty_comparison(*rest), linear=0),
    ),
    "penalty_terms": (
        repaired_penalty,
        repaired_penalty.first_terms_move,
        lambda n, N, constants: penalty_terms(N, n, constants),
    ),
    "penalty_comparison_as_stated": (
        comparison,
        comparison.printed_formula,
        lambda K, t, *rest: penalty_comparison_as_stated(1, t, *rest),
    ),
    "region_minimum": (
        region_ends,
        region_ends.totals_are_sums,
        lambda region, t: region_minimum(region, t + 1),
    ),
    "region_maximum": (lambert_sum, lambert_sum.beyond_rate, lambda region, t: region_maximum(region, t + 1)),
    "cost_violation_by_peak": (
        lambert_sum,
        lambert_sum.peak_step,
        lambda T, region, peak: cost_violation_by_peak(T, region, 1),
    ),
    "debt_update": (drift_step, drift_step.debt_behaves, lambda Z, c, x, C: Z + c * x - C),
    "drift_constant": (drift_step, drift_step.drift_excess, lambda *rest: 2 * drift_constant(*rest)),
    "advance": (debt_queue, debt_queue.state_remembers, keeping_the_oldest),
    "lambert_bound": (lambert_sum, lambert_sum.lambert_closed, lambda rho: lambert_bound(rho) / rho),
    "cost_excess_maximum": (
        largest_violation,
        largest_violation.one_round_more,
        lambda T, region, mean, C: cost_excess_maximum(T, region, mean, 0 * C),
    ),
    "cost_violation_bound": (
        largest_violation,
        largest_violation.played_by_the_policy,
        lambda *rest: cost_violation_bound(*rest) * 99 / 100,
    ),
    "cost_violation_least": (
        first_round,
        first_round.never_repaid,
        lambda T, rho, C: cost_violation_least(T, rho, C) - C * rho ** (T + 1) / (1 - rho),
    ),
    "buffer_excess_maximum": (
        buffer_violation,
        buffer_violation.closed_form,
        lambda K, T, region: buffer_excess_maximum(K, T, region) + K * (K - 1) * region.rate / 2,
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_error_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, check, wrong = PLANTED[name]
    assert run(check).outcome == "holds"
    monkeypatch.setattr(module, name, wrong)
    assert run(check).outcome != "holds"


def without_cost(region: Region, t: Any, second_moment: Any, C: Any) -> Any:
    return ratio(C * C, 2) + 0 * drift_constant(region, t, second_moment, C)


def without_budget(region: Region, t: Any, second_moment: Any, C: Any) -> Any:
    return drift_constant(region, t, second_moment, 0 * C)


@pytest.mark.parametrize("term", ["root", "linear", "generalisation", without_cost, without_budget])
def test_the_played_rounds_need_every_term(term: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the mean the squared budget is not needed: a debt that costs 0 repays was made by a cost above C."""
    if isinstance(term, str):
        less = {term: 0}
        monkeypatch.setattr(t_slot, "penalty_comparison", lambda *a: replace(penalty_comparison(*a), **less))
    else:
        monkeypatch.setattr(t_slot, "drift_constant", term)
    assert run(t_slot.every_path).outcome == "fails"
    assert run(t_slot.enumerated_mean).outcome == ("holds" if term is without_budget else "fails")


def test_a_counterexample_outside_its_hypotheses_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(independence.markov_factorises).outcome == "fails"
    monkeypatch.setattr(independence, "BUDGET", Fraction(2))  # the mean cost is not affordable any more
    assert run(independence.markov_factorises).outcome == "open"


def test_an_admission_outside_the_region_is_seen() -> None:
    region = Region(rate=1, rho=Fraction(1, 2))
    assert inside_region.lies_inside([Fraction(2)], region).outcome == "holds"
    assert inside_region.lies_inside([Fraction(2), Fraction(2)], region).outcome == "fails"
