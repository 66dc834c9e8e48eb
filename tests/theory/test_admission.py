"""Rounds of admission control against a plain loop over one run, and whole samples against their rates."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from theory.control.admission import AdmissionState, acdpp_round
from theory.control.minimiser import drift_plus_penalty
from theory.control.region import region_maximum, region_minimum
from theory.control.whole_samples import integer_admissions
from theory.setting import Constants, Region

CONSTANTS = Constants(D=1, sigma=1, eta=0.1, B=0.5, Pdim=120)
REGION = Region(rate=12.0, rho=0.97)
amounts = st.fractions(0, 50, max_denominator=12)


def play(rounds, K, costs, **rules):
    """(state before, admissions, state after) of every round."""
    state, record = AdmissionState.initial(costs.shape[1], K), []
    for t in range(rounds):
        following, admitted = acdpp_round(state, costs[t], constants=CONSTANTS, region=REGION, **rules)
        record.append((state, admitted, following))
        state = following
    return record


def draw_costs(rounds, runs):
    return np.random.default_rng(7).uniform(1, 9, (rounds, runs))


def test_until_round_K_everything_seen_is_retained_without_a_rounding():
    K = 9
    for before, _, _ in play(K, K, draw_costs(K, 20), V=50.0, C=60.0):
        assert np.array_equal(before.seen, before.retained)


def test_a_region_that_has_closed_leaves_no_choice():
    held = np.full((3, 2), 12.0)
    state = AdmissionState(round=10**5, debt=np.ones(2), window=held, expired=np.full(2, 1e6))
    assert acdpp_round(state, 5.0, V=1, C=60, region=REGION, constants=CONSTANTS)[1].tolist() == [12, 12]


@pytest.mark.parametrize("capacity", [None, 90.0, 30.0])
def test_a_batch_equals_its_runs_played_one_by_one_with_a_library_minimiser(capacity):
    """The capacity wins over the lower end of the region: 30 holds fewer than four rounds of it."""
    rounds, K, V, C = 25, 4, 400.0, 60.0
    costs = draw_costs(rounds, 3)
    for before, admitted, after in play(rounds, K, costs, V=V, C=C, capacity=capacity):
        for run in range(3):
            cost, held, N = costs[before.round - 1, run], before.retained[run], before.seen[run]
            assert held == pytest.approx(sum(before.window[:, run]))
            hi = region_maximum(REGION, before.round)
            if capacity is not None:
                hi = min(hi, max(capacity - held, 0))
                assert held + admitted[run] <= capacity * (1 + 2**-50)
            lo = min(region_minimum(REGION, before.round), hi)
            rules = {"Z": before.debt[run], "cost": cost, "C": C, "V": V, "constants": CONSTANTS}

            def J(Lambda, rules=rules, held=held, N=N):
                return float(drift_plus_penalty(Lambda, retained=held, seen=N, **rules))

            if lo < hi:
                library = minimize_scalar(J, bounds=(lo, hi), method="bounded", options={"xatol": 1e-9}).x
                assert J(admitted[run]) <= min(J(library), J(hi), J(max(lo, 1e-9))) + 1e-9
            assert lo <= admitted[run] <= hi
            assert after.debt[run] == pytest.approx(max(before.debt[run] + cost * admitted[run] - C, 0))
            assert after.window[:, run].tolist() == [*before.window[1:, run], admitted[run]]


weights = st.lists(st.integers(1, 9), min_size=1, max_size=6)


@settings(max_examples=20)
@given(st.lists(amounts, min_size=1, max_size=40), weights, st.integers(0, 5))
def test_sums_stray_by_half_a_sample_at_most_and_what_does_not_fit_is_forgotten(rates, weights, room):
    share = [Fraction(weight, sum(weights)) for weight in weights]
    carry = [0] * len(share)
    error = np.array(carry)
    for rate in rates:
        fitting, carry_if_full = integer_admissions(rate, share, carry, room=room)
        admitted, carry = integer_admissions(rate, share, carry)
        assert np.array_equal(fitting, np.minimum(admitted, room))
        assert np.array_equal(carry_if_full, carry)
        assert np.all(admitted >= 0)
        error = error + admitted - rate * np.array(share)
        assert np.all(abs(error) <= Fraction(1, 2))
        assert np.all(error == -carry)


floats_near_a_half = st.sampled_from([0.5, np.nextafter(0.5, 0), np.nextafter(0.5, 1), 0.0, 1e-20, 1.5])


@given(st.lists(floats_near_a_half | st.floats(0, 30), min_size=1, max_size=60))
def test_no_float_makes_an_admission_negative_or_lets_the_carry_out_of_its_interval(rates):
    carry = np.zeros((1, 1))
    for rate in rates:
        admitted, carry = integer_admissions(np.array([rate]), [1.0], carry)
        assert admitted.dtype == np.int64
        assert admitted >= 0
        assert -0.5 <= carry < 0.5


def test_many_runs_are_split_at_once():
    rates, share = np.array([10.0, 3.0]), [0.25, 0.25, 0.5]
    admitted, carry = integer_admissions(rates, share, np.zeros((2, 3)), room=[9, 9, 4])
    assert admitted.tolist() == [[3, 3, 4], [1, 1, 2]]
    assert carry.tolist() == [[-0.5, -0.5, 0], [-0.25, -0.25, -0.5]]
