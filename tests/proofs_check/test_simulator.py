"""The sample-level ground truth against counting by hand; the claims hold the closed forms against it."""

from fractions import Fraction

import pytest

from proofs_check.simulator import ORDERS, simulate


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
