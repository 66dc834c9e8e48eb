"""Theorem 1, its sharper forms and their lemmas: the examples against slow twins, exact means against drawn ones, and
every counterexample loses its force when its loss violates the constants that it claims."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from proofs_check.groundwork.learning import chaining, counterexamples, excess_risk, worst_round
from proofs_check.groundwork.learning.suprema import kolmogorov_mean, kuiper_mean
from proofs_check.groundwork.learning.training import Loss, Problem, theta
from proofs_check.simulator import Snapshot
from theory import sharper
from theory.algebra import ball
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


# --- the examples against slow twins -----------------------------------------------------------------------


def _projected(y):
    """The projection onto the simplex, by sorting."""
    total, threshold = Fraction(0), Fraction(0)
    for count, value in enumerate(sorted(y, reverse=True), start=1):
        total += value
        if value - (total - 1) / count > 0:
            threshold = (total - 1) / count
    return [max(v - threshold, Fraction(0)) for v in y]


def test_the_step_along_an_edge_of_the_simplex_is_the_projected_step():
    c = excess_risk.corners().constants
    h, size = c.eta * c.E, excess_risk.ATOMS + 1
    gradient = [-(1 - excess_risk.SLOPE), Fraction(-1), *[Fraction(0)] * (size - 2)]
    place = best = [Fraction(1), *[Fraction(0)] * (size - 1)]
    for t in range(1, 30):
        place = _projected([x - h * g for x, g in zip(place, gradient, strict=True)])
        assert place[1] == h * excess_risk.SLOPE / 2 * t
        assert place[0] == 1 - place[1]
    uniform = [-(1 - excess_risk.SLOPE), *[-Fraction(1, excess_risk.ATOMS)] * (size - 1)]
    assert _projected([x - h * g for x, g in zip(best, uniform, strict=True)]) == best


def test_keeping_one_of_many_has_the_uniformity_and_mismatch_of_its_counts():
    N, T = 7, 5
    columns = excess_risk.one_of_many(N, T)
    for t in range(1, T + 1):
        uses = {(0, i): t if i == 0 else 1 for i in range(N)}
        view = Snapshot(t, tuple(uses) if t == 1 else ((0, 0),), uses)
        for name in ("n", "N", "uniformity", "mismatch"):
            assert columns[name][t - 1] == getattr(view, name)


def test_a_frozen_sample_played_by_hand():
    c, total = excess_risk.frozen().constants, Fraction(0)
    for z, chance in ((1, Fraction(3, 4)), (-1, Fraction(1, 4))):
        x = Fraction(0)
        for _ in range(400):
            total += chance * (x + 1)  # the risk is 2 + θ, least at -1
            x = min(max(x - c.eta * c.E * 2 * z, Fraction(-1)), Fraction(1))
    assert excess_risk.frozen().excess.contains(ball(total))


# --- losses and their constants ----------------------------------------------------------------------------


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


# --- exact suprema -----------------------------------------------------------------------------------------


def _drawn(counts, rng, runs=40_000):
    """W before and after each of the sorted samples, and the samples, one row a run."""
    samples = rng.random((runs, len(counts)))
    order = np.argsort(samples, axis=1)
    after = np.cumsum(np.array(counts)[order], axis=1) / sum(counts)
    before = np.concatenate([np.zeros((runs, 1)), after[:, :-1]], axis=1)
    return before, after, np.take_along_axis(samples, order, axis=1)


@pytest.mark.parametrize("counts", [(2, 2, 1), (97, 1, 1, 1)])
@pytest.mark.parametrize(
    ("exact", "join"), [(kolmogorov_mean, np.maximum), (kuiper_mean, np.add)], ids=["thresholds", "intervals"]
)
def test_exact_mean_of_a_supremum_agrees_with_drawn_samples(exact, join, counts):
    before, after, samples = _drawn(counts, np.random.default_rng(1))
    found = join((after - samples).max(axis=1), (samples - before).max(axis=1))
    error = found.std() / np.sqrt(found.size)
    weights = [Fraction(a, sum(counts)) for a in counts]
    assert abs(found.mean() - float(exact(weights))) <= 5 * error + 1e-12


def test_the_chaining_sum_agrees_with_plain_floats_and_its_tail_is_inside_the_ball():
    for d in (1, 2, 7, 100):
        plain = 2 * sum(
            8.0 ** (1 - j)
            / 2
            * np.sqrt(2 / d * (np.log(2 * np.e * (d + 1)) + d * np.log(2 * np.e * 4 * 64.0**j)))
            for j in range(1, 60)
        )
        assert abs(float(chaining.chaining_constant(d)) - plain) < 1e-12
        cut_early = chaining.chaining_constant(d, levels=3)
        assert cut_early.lower() <= plain <= cut_early.upper()
        assert cut_early.rad() > 1e-4
