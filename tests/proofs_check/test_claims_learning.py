"""Theorem 1, its sharper forms and their lemmas: the examples against slow twins, exact means against drawn ones, and
every counterexample loses its force when its loss violates the constants that it claims."""

from dataclasses import replace
from fractions import Fraction

import pytest

from proofs_check.groundwork.bound import counterexamples, excess_risk, worst_round
from proofs_check.groundwork.bound.training import Loss, Problem, theta
from proofs_check.simulator import Snapshot
from theory.bound import sharper
from theory.setting import Constants


def test_a_term_that_no_example_needs_and_an_example_that_violates_its_constants_leave_the_check_open():
    plain = excess_risk.slope()
    found = excess_risk.powered([plain], sharper.sharper_1, ("N", "uniformity", "mismatch"))
    assert found.outcome == "open"
    assert "no example needs the term" in found.detail
    steep = Problem("3θ", 0, 3, (Loss((3 * theta,)),), (1,), plain.constants)  # where G = 2
    for excess in (plain.excess, 10 * plain.excess):
        example = replace(plain, facts=steep.facts, excess=excess)
        assert excess_risk.powered([example], sharper.memory_1, ("stale",), ("initial",)).outcome == "open"


def test_keeping_one_of_many_has_the_uniformity_and_mismatch_of_its_counts():
    N, T = 7, 5
    columns = excess_risk.one_of_many(N, T)
    for t in range(1, T + 1):
        uses = {(0, i): t if i == 0 else 1 for i in range(N)}
        view = Snapshot(t, tuple(uses) if t == 1 else ((0, 0),), uses)
        for name in ("n", "N", "uniformity", "mismatch"):
            assert columns[name][t - 1] == getattr(view, name)


def _unshown(problem):
    return [name for name, found in problem.facts.items() if found.outcome != "holds"]


@pytest.mark.parametrize(
    ("wrong", "fact"),
    [
        ({"G": Fraction(9, 10)}, r"$|\nabla\ell|\le G$"),
        ({"B": Fraction(2, 5)}, r"$0\le\ell\le B$"),
        ({"L": Fraction(1, 2)}, r"$\nabla\ell$ is $L$-Lipschitz"),
        ({"D": Fraction(1, 2)}, r"$\Theta$ has diameter $D$"),
        ({"sigma": Fraction(1, 4)}, r"variance $\le\sigma^2$"),
        ({"eta": 3}, "local steps stay where this holds"),
    ],
)
def test_drifting_clients_refute_nothing_with_a_constant_that_their_losses_violate(wrong, fact):
    plain = counterexamples.DriftingClients()
    assert _unshown(replace(plain, constants=replace(plain.constants, **wrong)).problem) == [fact]


def test_a_loss_that_is_not_convex_not_monotone_or_not_differentiable_is_seen():
    unit, half = Constants(D=2, sigma=1, eta=1, B=1, Pdim=1, G=2), Fraction(1, 2)
    both = Problem("±θ²", -1, 1, (Loss((theta**2,)), Loss((1 - theta**2,))), (half, half), unit)
    assert {"convex", r"variance $\le\sigma^2$", r"$\mathrm{Pdim}$"} == set(_unshown(both))
    kink = Problem("|θ|", -1, 1, (Loss((-theta, theta), ends=(0,)),), (1,), unit)
    assert _unshown(kink) == ["differentiable"]


def test_no_two_constants_of_the_worst_rounds_are_alike():
    assert len({getattr(worst_round.example(3), name) for name in ("D", "sigma", "eta", "L", "G")}) == 5
