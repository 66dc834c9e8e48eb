"""The closed forms against the sample-level ground truth, and that ground truth against counting by hand."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_check.engines.exact import admissions, retentions
from proofs_check.simulator import ORDERS, simulate
from theory.reuse import (
    effective_sample_size,
    inverse_effective_constant,
    mismatch_constant,
    mismatch_kstep,
    occupancy_constant,
    trajectory,
    uniformity_constant,
    uniformity_kstep,
)

some = settings(max_examples=60, deadline=None)


def test_three_rounds_of_one_sample_with_two_uses_each_counted_by_hand():
    first, second, third = simulate([[1], [1], [1]], K=2)
    assert (first.memory, second.memory, third.memory) == (((0, 0),), ((0, 0), (0, 1)), ((0, 1), (0, 2)))
    assert third.uses == {(0, 0): 2, (0, 1): 2, (0, 2): 1}
    assert third.weights == {(0, 0): Fraction(2, 5), (0, 1): Fraction(2, 5), (0, 2): Fraction(1, 5)}
    assert third.uniformity == Fraction(25, 27)
    assert third.mismatch == Fraction(4, 25) + Fraction(1, 100) + Fraction(9, 100)


def test_a_client_without_admissions_has_an_empty_buffer():
    last = simulate([[2, 0], [1, 0]], K=3)[-1]
    assert (last.n_of(0), last.n_of(1), last.n, last.N) == (3, 0, 3, 3)


@pytest.mark.parametrize(("order", "uses"), list(zip(ORDERS, (4, 3, 4), strict=True)))
def test_the_order_of_admission_training_and_drop_decides_how_often_a_sample_is_used(order, uses):
    last = simulate([[1]] + [[0]] * 6, K=4, order=order)[-1]
    assert last.uses == {(0, 0): uses}


@some
@given(retentions(), admissions(clients=2, rounds=10))
def test_uniformity_occupancy_and_mismatch_match_brute_force_for_any_admission_sequence(K, rounds):
    totals = [sum(amounts) for amounts in rounds]
    for snapshot in simulate(rounds, K):
        seen = totals[: snapshot.round]
        assert snapshot.uniformity == uniformity_kstep(seen, K)
        assert snapshot.N * snapshot.uniformity == effective_sample_size(list(snapshot.uses.values()))
        assert snapshot.n == sum(seen[-K:])
        if snapshot.n:
            assert snapshot.mismatch == mismatch_kstep(seen, K)


@some
@given(retentions(12), st.integers(1, 30), st.integers(1, 3))
def test_closed_forms_of_constant_admission_match_brute_force_in_every_round(K, t, rate):
    last = simulate([[rate]] * t, K)[-1]
    assert last.n == occupancy_constant(K, t, rate)
    assert last.uniformity == uniformity_constant(K, t)
    assert 1 / (last.N * last.uniformity) == inverse_effective_constant(K, t, rate)
    assert last.mismatch == mismatch_constant(K, t, rate)


@some
@given(retentions(), admissions(rounds=12).filter(lambda rounds: all(sum(r) for r in rounds)))
def test_whole_trajectories_match_brute_force_round_by_round(K, rounds):
    path = trajectory([sum(r) for r in rounds], K)
    for snapshot, n, N, V, chi in zip(
        simulate(rounds, K), path.n, path.N, path.uniformity, path.mismatch, strict=True
    ):
        assert (snapshot.n, snapshot.N, snapshot.uniformity, snapshot.mismatch) == (n, N, V, chi)
