"""Rounds of admission control against a plain loop over one run, and whole samples against their rates."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from theory.admission import AdmissionState, acdpp_round, advance, debt_update, integer_admissions
from theory.minimiser import drift_plus_penalty
from theory.region import region_maximum, region_minimum
from theory.setting import Constants, Region, SettingError

CONSTANTS = Constants(D=1, sigma=1, eta=0.1, B=0.5, Pdim=120)
REGION = Region(rate=12.0, rho=0.97)
amounts = st.fractions(0, 50, max_denominator=12)


def play(rounds: int, K: int, costs: Any, **rules: Any) -> list[tuple[AdmissionState, Any, AdmissionState]]:
    """(state before, admissions, state after) of every round."""
    state, record = AdmissionState.initial(costs.shape[1], K), []
    for t in range(rounds):
        following, admitted = acdpp_round(state, costs[t], constants=CONSTANTS, region=REGION, **rules)
        record.append((state, admitted, following))
        state = following
    return record


def draw_costs(rounds: int, runs: int) -> Any:
    return np.random.default_rng(7).uniform(1, 9, (rounds, runs))


# --- debt and state ----------------------------------------------------------------------------------------


@given(amounts, amounts, amounts, amounts)
def test_debt_grows_by_what_is_overspent_and_never_falls_below_zero(
    Z: Fraction, cost: Fraction, Lambda: Fraction, C: Fraction
) -> None:
    assert debt_update(Z, cost, Lambda, C) == max(Fraction(0), Z + cost * Lambda - C)
    assert debt_update(np.array([float(Z)]), float(cost), float(Lambda), float(C)) >= 0


@settings(max_examples=40)
@given(
    K=st.integers(1, 6),
    history=st.lists(st.tuples(amounts, amounts, amounts, amounts), min_size=1, max_size=12),
    C=st.fractions(1, 99),
)
def test_state_transitions_equal_a_plain_loop_exactly(K: int, history: list[Any], C: Fraction) -> None:
    state = AdmissionState.initial(2, K, dtype=object)
    for one, other, c_one, c_other in history:
        state = advance(state, np.array([one, other]), cost=np.array([c_one, c_other]), C=C)
    for run in range(2):
        admitted = [entry[run] for entry in history]
        debt = Fraction(0)
        for entry in history:
            debt = max(debt + entry[run] * entry[run + 2] - C, Fraction(0))
        assert state.debt[run] == debt
        assert state.seen[run] == sum(admitted)
        assert state.retained[run] == (sum(admitted[-(K - 1) :]) if K > 1 else 0)
    assert state.round == len(history) + 1


def test_until_round_K_everything_seen_is_retained_without_a_rounding() -> None:
    K = 9
    for before, _, _ in play(K, K, draw_costs(K, 20), V=50.0, C=60.0):
        assert np.array_equal(before.seen, before.retained)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"Lambda": -1}, "must not be negative"),
        ({"cost": -1}, "must not be negative"),
        ({"C": 0}, "the cost budget C must be a positive finite number"),
    ],
)
def test_senseless_bookings_are_refused(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence):
        advance(AdmissionState.initial(3, 2), **{"Lambda": 1, "cost": 1, "C": 1, **arguments})


def test_a_state_of_mismatched_shapes_is_refused() -> None:
    with pytest.raises(SettingError, match=r"shape \(runs,\)"):
        AdmissionState(round=1, debt=np.zeros(3), window=np.zeros((2, 4)), expired=np.zeros(3))


# --- ACDPP -------------------------------------------------------------------------------------------------


def test_round_one_admits_the_whole_upper_end() -> None:
    (_, admitted, after), *_ = play(1, 5, draw_costs(1, 4), V=100.0, C=66.0)
    assert admitted == pytest.approx([12 / (1 - 0.97)] * 4)
    assert after.debt == pytest.approx(admitted * draw_costs(1, 4)[0] - 66)


def test_admissions_stay_in_the_region_and_close_in_on_the_target() -> None:
    for before, admitted, _ in play(300, 6, draw_costs(300, 10), V=500.0, C=60.0):
        assert np.all(region_minimum(REGION, before.round) <= admitted)
        assert np.all(admitted <= region_maximum(REGION, before.round))
    assert admitted == pytest.approx([12] * 10, rel=0.97**299)


def test_a_region_that_has_closed_leaves_no_choice() -> None:
    state = AdmissionState(
        round=10**5, debt=np.ones(2), window=np.full((3, 2), 12.0), expired=np.full(2, 1e6)
    )
    assert acdpp_round(state, 5.0, V=1, C=60, region=REGION, constants=CONSTANTS)[1].tolist() == [12, 12]


@pytest.mark.parametrize("capacity", [None, 90.0])
def test_a_batch_equals_its_runs_played_one_by_one_with_a_library_minimiser(capacity: float | None) -> None:
    rounds, K, V, C = 25, 4, 400.0, 60.0
    costs = draw_costs(rounds, 3)
    for before, admitted, after in play(rounds, K, costs, V=V, C=C, capacity=capacity):
        for run in range(3):
            cost = costs[before.round - 1, run]
            window, N = before.window[:, run], before.seen[run]
            hi = region_maximum(REGION, before.round)
            if capacity is not None:
                hi = min(hi, max(capacity - sum(window), 0))
            lo = min(region_minimum(REGION, before.round), hi)
            rules = {"Z": before.debt[run], "cost": cost, "C": C, "V": V, "constants": CONSTANTS}

            def J(Lambda: float, rules: Any = rules, held: float = sum(window), N: float = N) -> float:
                return float(drift_plus_penalty(Lambda, retained=held, seen=N, **rules))

            if lo < hi:
                library = minimize_scalar(J, bounds=(lo, hi), method="bounded", options={"xatol": 1e-9}).x
                assert J(admitted[run]) <= min(J(library), J(hi), J(max(lo, 1e-9))) + 1e-9
            assert lo <= admitted[run] <= hi
            assert after.debt[run] == pytest.approx(max(before.debt[run] + cost * admitted[run] - C, 0))
            assert after.window[:, run].tolist() == [*window[1:], admitted[run]]


@settings(max_examples=40)
@given(K=st.integers(1, 8), capacity=st.floats(1, 400), V=st.sampled_from([0.1, 30.0, 1e5]))
def test_the_capped_rule_never_admits_more_than_fits(K: int, capacity: float, V: float) -> None:
    for before, admitted, _ in play(30, K, draw_costs(30, 2), V=V, C=60.0, capacity=capacity):
        assert np.all(before.retained + admitted <= capacity * (1 + 2**-50))
        assert np.all(admitted >= 0)


def test_the_capacity_wins_over_the_lower_end_of_the_region() -> None:
    for before, admitted, _ in play(60, 3, draw_costs(60, 2), V=100.0, C=60.0, capacity=30):
        lower = region_minimum(REGION, before.round)
        assert np.all(admitted >= np.minimum(lower, 30 - before.retained))
    assert lower * 3 > 30
    assert before.retained + admitted == pytest.approx([30, 30])


def test_without_a_cap_the_first_round_overflows_what_the_capped_rule_respects() -> None:
    costs = draw_costs(1, 1)
    literal, capped = (play(1, 5, costs, V=100.0, C=66.0, capacity=cap)[0][1] for cap in (None, 60.0))
    assert capped == 60
    assert literal == pytest.approx(400)


# --- whole samples -----------------------------------------------------------------------------------------


def split(weights: list[int]) -> list[Fraction]:
    return [Fraction(weight, sum(weights)) for weight in weights]


shares = st.lists(st.integers(1, 9), min_size=1, max_size=6).map(split)


@settings(max_examples=50)
@given(st.lists(amounts, min_size=1, max_size=40), shares)
def test_cumulative_admissions_never_stray_more_than_half_a_sample(
    rates: list[Fraction], share: list[Fraction]
) -> None:
    carry: Any = [0] * len(share)
    error = np.array(carry)
    for rate in rates:
        admitted, carry = integer_admissions(rate, share, carry)
        assert np.all(admitted >= 0)
        error = error + admitted - rate * np.array(share)
        assert np.all(abs(error) <= Fraction(1, 2))
        assert np.all(error == -carry)


@settings(max_examples=50)
@given(shares, st.integers(1, 60))
def test_a_constant_whole_rate_is_met_exactly_in_every_period(share: list[Fraction], rate: int) -> None:
    period = math.lcm(*(s.denominator for s in share))
    total, carry = np.zeros(len(share), dtype=int), np.zeros(len(share), dtype=object)
    for _ in range(period):
        admitted, carry = integer_admissions(rate, share, carry)
        total += admitted
    assert total.tolist() == [rate * s * period for s in share]
    assert not carry.any()


floats_near_a_half = st.sampled_from([0.5, np.nextafter(0.5, 0), np.nextafter(0.5, 1), 0.0, 1e-20, 1.5])


@given(st.lists(floats_near_a_half | st.floats(0, 30), min_size=1, max_size=60))
def test_no_float_makes_an_admission_negative_or_lets_the_carry_out_of_its_interval(
    rates: list[float],
) -> None:
    carry: Any = np.zeros((1, 1))
    for rate in rates:
        admitted, carry = integer_admissions(np.array([rate]), [1.0], carry)
        assert admitted.dtype == np.int64
        assert admitted >= 0
        assert -0.5 <= carry < 0.5


@settings(max_examples=50)
@given(st.lists(amounts, min_size=1, max_size=30), shares, st.integers(0, 5))
def test_what_does_not_fit_is_refused_and_forgotten(
    rates: list[Fraction], share: list[Fraction], room: int
) -> None:
    carry: Any = [0] * len(share)
    free_carry: Any = carry
    for rate in rates:
        admitted, carry = integer_admissions(rate, share, carry, room=room)
        free, free_carry = integer_admissions(rate, share, free_carry)
        assert np.array_equal(admitted, np.minimum(free, room))
        assert np.array_equal(carry, free_carry)


def test_many_runs_are_split_at_once() -> None:
    rates, share = np.array([10.0, 3.0]), [0.25, 0.25, 0.5]
    admitted, carry = integer_admissions(rates, share, np.zeros((2, 3)), room=[9, 9, 4])
    assert admitted.tolist() == [[3, 3, 4], [1, 1, 2]]
    assert carry.tolist() == [[-0.5, -0.5, 0], [-0.25, -0.25, -0.5]]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"Lambda": -1}, "must not be negative"),
        ({"shares": [0.5, 0.6]}, "sum to 1"),
        ({"shares": [1.5, -0.5]}, "non-negative"),
        ({"carry": [0, 0.5]}, "carry must lie in"),
        ({"room": [1, -1]}, "room must be whole numbers"),
        ({"room": [1, 0.5]}, "room must be whole numbers"),
    ],
)
def test_senseless_splits_are_refused(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence):
        integer_admissions(**{"Lambda": 1, "shares": [0.5, 0.5], "carry": [0, 0], **arguments})
