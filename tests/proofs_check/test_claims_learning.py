"""Theorem 1, its sharper forms and their links: every end-to-end example must fail when a term of its bound is cut, and
every counterexample must lose its force when its loss violates the constants that it claims.

One planted error a module; `python -m benchmarks.mutants` plants the others."""

from dataclasses import replace
from fractions import Fraction

import pytest

from proofs_check.claim import Context
from proofs_check.groundwork.learning import (
    counterexamples,
    excess_risk,
    many_rounds,
    one_round,
    population,
    powered,
    worst_round,
)
from proofs_check.groundwork.learning.training import Loss, Problem, theta
from proofs_check.simulator import Snapshot
from theory import bound, sharper
from theory.algebra import ball
from theory.setting import Constants

# --- power -------------------------------------------------------------------------------------------------

POWERED = {
    "theorem_1": excess_risk.theorem_powered,
    "sharper_1": excess_risk.sharper_powered,
    "memory_1": excess_risk.memory_powered,
}
# how much of a term is left; the others stay as they are
CUT = [
    *((name, term, Fraction(1, 2)) for name in POWERED for term in ("root", "constant", "initial")),
    *((name, "generalisation", 0) for name in POWERED),
]
CUT = [cut for cut in CUT if cut[:2] not in (("memory_1", "root"), ("theorem_1", "constant"))]


def _planted(monkeypatch, name, term, share):
    """The bound as `excess_risk` knows it, one of its terms cut."""
    plain = getattr(excess_risk, name)

    def changed(*arguments):
        whole = plain(*arguments)
        return replace(whole, terms=replace(whole.terms, **{term: ball(share) * getattr(whole.terms, term)}))

    monkeypatch.setattr(excess_risk, name, changed)
    return POWERED[name]()


@pytest.mark.parametrize(("name", "term", "share"), [*CUT, ("theorem_1", "constant", 0)])
def test_with_less_of_a_term_an_example_violates_the_bound(monkeypatch, name, term, share):
    assert _planted(monkeypatch, name, term, share).outcome == "fails"


def test_the_linear_term_of_theorem_1_has_no_power(monkeypatch):
    assert _planted(monkeypatch, "theorem_1", "linear", 0).outcome == "holds"


def test_a_term_that_no_example_needs_and_an_example_that_violates_its_constants_leave_the_check_open():
    plain = excess_risk.slope()
    found = powered.powered([plain], sharper.sharper_1, ("N", "uniformity", "mismatch"))
    assert found.outcome == "open"
    assert "no example needs the term" in found.detail
    steep = Problem("3θ", 0, 3, (Loss((3 * theta,)),), (1,), plain.constants)  # where G = 2
    for excess in (plain.excess, 10 * plain.excess):
        example = replace(plain, facts=steep.facts, excess=excess)
        assert powered.powered([example], sharper.memory_1, ("stale",), ("initial",)).outcome == "open"


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


def test_the_double_well_refutes_nothing_with_a_wrong_constant(monkeypatch):
    well = counterexamples.WELL
    planted = replace(well, constants=replace(well.constants, B=1))
    monkeypatch.setattr(counterexamples, "WELL", planted)
    assert counterexamples.non_convex().outcome == "open"
    assert counterexamples.basin().outcome == "open"


def test_a_loss_that_is_not_convex_not_monotone_or_not_differentiable_is_seen():
    unit, half = Constants(D=2, sigma=1, eta=1, B=1, Pdim=1, G=2), Fraction(1, 2)
    both = Problem("±θ²", -1, 1, (Loss((theta**2,)), Loss((1 - theta**2,))), (half, half), unit)
    assert {"convex", r"variance $\le\sigma^2$", r"$\mathrm{Pdim}$"} == set(_unshown(both))
    kink = Problem("|θ|", -1, 1, (Loss((-theta, theta), ends=(0,)),), (1,), unit)
    assert _unshown(kink) == ["differentiable"]


# --- links -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", one_round.PREMISES)
def test_the_recursion_needs_each_of_its_premises(name, monkeypatch):
    given = {other: premise for other, premise in one_round.PREMISES.items() if other != name}
    monkeypatch.setattr(one_round, "PREMISES", given)
    assert one_round.corrected_recursion().outcome == "fails"


def _half(module, name):
    plain = getattr(module, name)
    return module, name, lambda *arguments: plain(*arguments) / 2


@pytest.mark.parametrize(
    ("module", "name", "planted", "link"),
    [
        (*_half(one_round, "root_term"), one_round.on_a_segment),
        (*_half(one_round, "step_constant"), one_round.memory_recursion),
        (*_half(one_round, "per_round_constant"), one_round.drift_of_local_steps),
        (*_half(bound, "linear_term"), many_rounds.theorem_telescopes),
        (*_half(bound, "initial_term"), many_rounds.attained),
        (*_half(population, "generalisation_term"), population.deviation_is_covered),
        (*_half(population, "stale_weight"), population.stale_weights_of_a_client),
    ],
)
def test_half_of_a_term_breaks_a_link(monkeypatch, module, name, planted, link):
    monkeypatch.setattr(module, name, planted)
    assert link().outcome != "holds"


def test_shares_that_the_weight_of_the_older_samples_ignores_are_seen(monkeypatch):
    monkeypatch.setattr(population, "stale_weight", lambda f, n, shares=None: sharper.stale_weight(f, n))
    assert population.stale_weights(Context()).outcome == "fails"


def test_no_two_constants_of_the_worst_rounds_are_alike():
    assert len({getattr(worst_round.example(3), name) for name in ("D", "sigma", "eta", "L", "G")}) == 5
