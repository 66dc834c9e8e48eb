"""Theorem 1, its sharper forms and their links: exact examples against slow twins, and planted errors that must be
seen. Every end-to-end example must fail when a term of its bound is removed, and every counterexample must lose its
force when its loss violates the constants that it claims."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import pytest
import sympy as sp

from proofs_check.claim import CheckError, Context, decide
from proofs_check.claims.beyond import memory_bound, sharper_theorem
from proofs_check.claims.learning import recursion, theorem1
from proofs_check.engines.smt import always
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
    "theorem_1": (excess_risk.theorem_powered, ("root", "generalisation", "constant", "initial")),
    "sharper_1": (excess_risk.sharper_powered, ("root", "generalisation", "constant", "initial")),
    "memory_1": (excess_risk.memory_powered, ("generalisation", "constant", "initial")),
}
TERMS = [(name, term) for name, (_, terms) in POWERED.items() for term in terms]


def _planted(monkeypatch, name, change):
    """The bound as `excess_risk` knows it, its terms changed."""
    plain = getattr(excess_risk, name)

    def changed(*arguments):
        whole = plain(*arguments)
        return replace(whole, terms=change(whole.terms))

    monkeypatch.setattr(excess_risk, name, changed)
    return POWERED[name][0]()


@pytest.mark.parametrize(("name", "term"), TERMS)
def test_without_any_one_term_an_example_violates_the_bound(monkeypatch, name, term):
    found = _planted(monkeypatch, name, lambda terms: replace(terms, **{term: 0 * terms.total}))
    assert found.outcome == "fails"


@pytest.mark.parametrize(
    ("name", "term"),
    [pair for pair in TERMS if pair[1] != "generalisation" and pair != ("theorem_1", "constant")],
)
def test_half_of_a_term_is_not_enough_where_the_bound_is_sharp(monkeypatch, name, term):
    found = _planted(monkeypatch, name, lambda terms: replace(terms, **{term: getattr(terms, term) / 2}))
    assert found.outcome == "fails"


@pytest.mark.parametrize("name", POWERED)
def test_the_bounds_as_they_are_pass(name):
    assert POWERED[name][0]().outcome == "holds"


def test_the_linear_term_of_theorem_1_has_no_power_and_is_said_to_be_superfluous(monkeypatch):
    found = _planted(monkeypatch, "theorem_1", lambda terms: replace(terms, linear=0 * terms.total))
    assert found.outcome == "holds"
    assert "linear term superfluous" in theorem1.CLAIMS[0].corrected.parts


@pytest.mark.parametrize("left_out", ["slope", "frozen", "corners"])
def test_a_term_that_no_example_needs_leaves_the_check_open(monkeypatch, left_out):
    remaining = [e for e in ("slope", "oscillation", "frozen", "corners") if e != left_out]
    examples = [getattr(excess_risk, name)() for name in remaining]
    terms = POWERED["sharper_1"][1]
    found = powered.powered(examples, excess_risk._sharper, terms, domain="fewer examples")
    assert found.outcome == "open"
    assert "no example needs the term" in found.detail


def test_an_example_that_violates_its_own_constants_neither_supports_nor_refutes(monkeypatch):
    plain = excess_risk.slope()
    steep = Problem("3θ", 0, 3, (Loss((3 * theta,)),), (1,), plain.constants)
    example = replace(plain, facts=steep.facts)
    for excess in (plain.excess, 10 * plain.excess):
        found = powered.powered(
            [replace(example, excess=excess)],
            excess_risk._sharper,
            ("initial",),
            domain="G = 2 for a slope of 3",
        )
        assert found.outcome == "open"


def test_every_example_obeys_its_hypotheses():
    for make in (
        excess_risk.slope,
        excess_risk.oscillation,
        excess_risk.drifting,
        excess_risk.frozen,
        excess_risk.two_distributions,
        excess_risk.walk,
        excess_risk.corners,
    ):
        facts = make().facts
        assert facts
        assert all(fact.outcome == "holds" for fact in facts.values()), make


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
    place = [Fraction(1), *[Fraction(0)] * (size - 1)]
    for t in range(1, 30):
        place = _projected([x - h * g for x, g in zip(place, gradient, strict=True)])
        assert place[1] == h * excess_risk.SLOPE / 2 * t
        assert place[0] == 1 - place[1]
    uniform = [-(1 - excess_risk.SLOPE), *[-Fraction(1, excess_risk.ATOMS)] * (size - 1)]
    best = [Fraction(1), *[Fraction(0)] * (size - 1)]
    assert _projected([x - h * g for x, g in zip(best, uniform, strict=True)]) == best


def test_keeping_one_of_many_has_the_uniformity_and_mismatch_of_its_counts():
    N, T = 7, 5
    columns = excess_risk.one_of_many(N, T)
    for t in range(1, T + 1):
        uses = {(0, i): t if i == 0 else 1 for i in range(N)}
        view = Snapshot(t, tuple(uses) if t == 1 else ((0, 0),), uses)
        assert (columns["n"][t - 1], columns["N"][t - 1]) == (view.n, view.N)
        assert columns["uniformity"][t - 1] == view.uniformity
        assert columns["mismatch"][t - 1] == view.mismatch


def test_the_random_walk_is_the_mean_over_all_streams():
    """The law carried along for a few rounds against every stream of samples, from the middle of a short interval."""
    p, places, T = Fraction(3, 5), 4, 6
    law, carried = [Fraction(0)] * places + [Fraction(1)], Fraction(0)
    for _ in range(T):
        carried += sum(i * law[i] for i in range(places + 1)) * (2 * p - 1) / places
        up, down = [x * (1 - p) for x in law], [x * p for x in law]
        law = [down[0] + down[1], *(up[i - 1] + down[i + 1] for i in range(1, places)), up[-1] + up[-2]]
    played = Fraction(0)
    for stream in product((1, -1), repeat=T):
        chance, x = Fraction(1), Fraction(1)
        for z in stream:
            chance *= p if z == 1 else 1 - p
        for z in stream:
            played += chance * (2 * p - 1) * x
            x = min(max(x - Fraction(z, places), Fraction(0)), Fraction(1))
    assert carried == played


def test_a_frozen_sample_played_by_hand():
    c, T = excess_risk.frozen().constants, 400
    total = Fraction(0)
    for z, chance in ((1, Fraction(3, 4)), (-1, Fraction(1, 4))):
        x = Fraction(0)
        for _ in range(T):
            total += chance * (x + 1)  # the risk is 2 + θ, least at -1
            x = min(max(x - c.eta * c.E * 2 * z, Fraction(-1)), Fraction(1))
    assert excess_risk.frozen().excess.contains(ball(total))


def test_the_review_s_frozen_sample_is_above_what_the_other_terms_allow():
    excess = excess_risk._ends(
        Fraction(3, 4), 4000, Fraction(1, 100), Fraction(-1, 2), Fraction(1, 2), 0, (1, -1)
    )
    assert round(float(excess), 2) == 503.19


# --- losses and their constants ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "fact"),
    [
        ({"G": Fraction(9, 10)}, "|∇loss| <= G"),
        ({"B": Fraction(2, 5)}, "0 <= loss <= B"),
        ({"L": Fraction(1, 2)}, "∇loss is L-Lipschitz"),
        ({"D": Fraction(1, 2)}, "Θ has diameter D"),
        ({"sigma": Fraction(1, 4)}, "variance <= σ²"),
        ({"eta": 3}, "local steps stay where this holds"),
    ],
)
def test_drifting_clients_refute_nothing_with_a_constant_that_their_losses_violate(wrong, fact):
    plain = counterexamples.DriftingClients()
    constants = replace(plain.constants, **wrong)
    facts = replace(plain, constants=constants).problem.facts
    assert [name for name, found in facts.items() if found.outcome != "holds"] == [fact]


@pytest.mark.parametrize(
    "wrong", [{"G": 1}, {"B": 1}, {"D": Fraction(1, 2)}], ids=lambda wrong: next(iter(wrong))
)
def test_the_double_well_refutes_nothing_with_a_wrong_constant(monkeypatch, wrong):
    well = counterexamples.WELL
    planted = replace(well, constants=replace(well.constants, **wrong))
    monkeypatch.setattr(counterexamples, "WELL", planted)
    assert counterexamples.non_convex().outcome == "open"
    assert counterexamples.basin().outcome == "open"


def test_a_loss_that_is_not_convex_or_not_monotone_is_seen():
    unit = Constants(D=2, sigma=1, eta=1, B=1, Pdim=1, G=2)
    losses = (Loss((theta**2,)), Loss((1 - theta**2,)))
    facts = Problem("±θ²", -1, 1, losses, (Fraction(1, 2), Fraction(1, 2)), unit).facts
    assert {name for name, found in facts.items() if found.outcome != "holds"} == {
        "convex",
        "variance <= σ²",
        "Pdim",
    }


def test_a_loss_with_a_kink_is_not_differentiable():
    kink = Loss((-theta, theta), ends=(0,))
    facts = Problem("|θ|", -1, 1, (kink,), (1,), Constants(D=2, sigma=1, eta=1, B=1, Pdim=1, G=1)).facts
    assert facts["differentiable"].outcome == "fails"


def test_drifting_clients_stay_below_the_corrected_bound():
    example = counterexamples.DriftingClients()
    size = [ball(example.clients)]
    terms = bound.theorem_1(size, size, [ball(1)], [ball(0)], example.constants.map(ball)).terms
    whole = example.rounds * (terms.generalisation + terms.constant) + terms.initial
    assert example.cumulative_gap(population=True) < whole


# --- links -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", one_round.PREMISES)
def test_the_recursion_needs_each_of_its_premises(name):
    statement = one_round.moved(one_round.step) <= -2 * one_round.step * one_round.gap + worst_round.rise(
        one_round.c, one_round.chi
    )
    given = [premise for other, premise in one_round.PREMISES.items() if other != name]
    assert always(statement, given=given, domain="one premise less").outcome == "fails"


PLANTED = {
    "η for ηE": lambda constants, chi: worst_round.rise(replace(constants, E=1), chi),
    "no mismatch": lambda constants, chi: worst_round.rise(constants, 0 * chi),
    "no constant": lambda c, chi: 2 * c.eta * c.E * bound.root_term(chi, c),
}


@pytest.mark.parametrize("error", PLANTED)
def test_a_recursion_with_an_error_is_not_established(monkeypatch, error):
    monkeypatch.setattr(one_round, "rise", PLANTED[error])
    assert one_round.corrected_recursion().outcome == "fails"


THEORY = {
    "half the constant": ("per_round_constant", lambda c: bound.per_round_constant(c) / 2),
    "no drift": ("per_round_constant", lambda c: c.eta * c.E * c.G**2),
    "E ignored in the drift": ("per_round_constant", lambda c: c.eta * c.G * (c.E * c.G + c.D * c.L / 2)),
    "a third of the step": ("step_constant", lambda c: c.eta * c.E * c.G**2 / 3),
    "E ignored in the step": ("step_constant", lambda c: c.eta * c.G**2 / 2),
    "half the initial term": ("initial_term", lambda c: bound.initial_term(c) / 2),
    "constant 5": ("generalisation_term", lambda i, N, c: bound.generalisation_term(i, N, c) / 2),
    "a lost B": ("deviation_term", lambda i, c: bound.deviation_term(i, c) / c.B),
}
LINKS = (
    one_round.corrected_recursion,
    one_round.drift_of_local_steps,
    one_round.memory_recursion,
    many_rounds.theorem_telescopes,
    many_rounds.memory_telescopes,
    population.deviation_is_covered,
    many_rounds.attained,
    theorem1.theorem_assembled,
    sharper_theorem.sharper_assembled,
    memory_bound.memory_assembled,
)


@pytest.mark.parametrize("error", THEORY)
def test_an_error_in_a_formula_of_the_theory_breaks_a_link(monkeypatch, error):
    name, planted = THEORY[error]
    for module in (one_round, many_rounds, population, worst_round, theorem1, sharper_theorem, memory_bound):
        if hasattr(module, name):
            monkeypatch.setattr(module, name, planted)
    assert any(link().outcome != "holds" for link in LINKS)


@pytest.mark.parametrize(
    "planted",
    [
        lambda fresh, sizes, shares=None: sharper.stale_weight([0] * len(fresh), sizes, shares),
        lambda fresh, sizes, shares=None: 2 * sharper.stale_weight(fresh, sizes, shares),
        lambda fresh, sizes, shares=None: sharper.stale_weight(fresh, sizes),
    ],
    ids=["fresh samples counted", "factor 2", "shares ignored"],
)
def test_a_wrong_weight_of_the_older_samples_is_seen(monkeypatch, planted):
    monkeypatch.setattr(population, "stale_weight", planted)
    assert population.stale_weights(Context()).outcome == "fails"


@pytest.mark.parametrize(
    "planted",
    [
        lambda fresh, sizes, shares=None: sharper.stale_weight([0] * len(fresh), sizes, shares),
        lambda fresh, sizes, shares=None: 2 * sharper.stale_weight(fresh, sizes, shares),
        lambda fresh, sizes, shares=None: sharper.stale_weight(fresh[:1], sizes[:1], shares and shares[:1]),
        lambda fresh, sizes, shares=None: sharper.stale_weight(fresh, sizes, shares or [1] * len(sizes)),
    ],
    ids=["fresh samples counted", "factor 2", "one client only", "weights forgotten"],
)
def test_a_wrong_weight_of_the_older_samples_breaks_an_identity_too(monkeypatch, planted):
    monkeypatch.setattr(population, "stale_weight", planted)
    identities = (
        population.stale_weights_of_a_client,
        population.stale_weights_merged,
        population.stale_weights_constant,
        population.stale_weights_of_clients,
    )
    assert any(identity().outcome == "fails" for identity in identities)


@pytest.mark.parametrize(
    "planted",
    [
        lambda K, t, rate: sharper.stale_weight_constant(K, K + t, rate),
        lambda K, t, rate: sharper.stale_weight_constant(t + K, t, rate),
    ],
    ids=["only full buffers", "only filling buffers"],
)
def test_the_closed_stale_weight_is_tested_before_and_after_the_buffers_are_full(monkeypatch, planted):
    monkeypatch.setattr(population, "stale_weight_constant", planted)
    assert population.stale_weights_constant().outcome == "fails"


@pytest.mark.parametrize("term", ["root_term", "linear_term", "per_round_constant"])
def test_recursions_whose_mismatch_varies_add_up_to_the_terms_of_the_theory_only(monkeypatch, term):
    right = getattr(bound, term)
    monkeypatch.setattr(many_rounds, term, lambda *arguments: right(*arguments) / 2)
    assert many_rounds.theorem_telescopes().outcome != "holds"


def test_the_mismatch_on_a_segment_costs_the_whole_root_term(monkeypatch):
    monkeypatch.setattr(one_round, "root_term", lambda chi, c: bound.root_term(chi, c) / 2)
    assert one_round.on_a_segment().outcome == "fails"


def test_a_difference_of_convex_functions_rises_by_no_more_than_its_slope_allows():
    """The argument in pieces on an example with room for none: F_all = θ² and F_mem = 0 on [0, 1], slope at most 2."""
    for pieces in (1, 7, 50):
        ends = [Fraction(j, pieces) for j in range(pieces + 1)]
        allowed = sum((2 * here + 2 * there - 2 * here) / pieces for here, there in pairwise(ends))
        assert 1 <= allowed <= 2 + Fraction(4, pieces)


def test_a_worst_case_above_the_right_hand_side_is_seen(monkeypatch):
    right = worst_round.rise
    monkeypatch.setattr(worst_round, "rise", lambda constants, chi: right(constants, chi) / 2)
    assert worst_round.worst_case_corrected(Context()).outcome == "fails"


def test_theorem_1_is_refuted_in_both_forms_of_its_constant():
    stated = decide(replace(theorem1.CLAIMS[0], corrected=None)).stated
    refuted = {e.part for e in stated if e.outcome == "fails" and e.sound}
    assert refuted == set(theorem1.CLAIMS[0].parts)
    assert counterexamples.stated_bound(
        counterexamples.DRIFTING, 9, 9, once=False
    ) > counterexamples.stated_bound(counterexamples.DRIFTING, 9, 9)


# --- parts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", theorem1.CLAIMS[0].corrected.parts)
def test_theorem_1_without_one_of_its_links_is_an_error_of_the_checker(part):
    def holds():
        return one_round.average_over_clients()

    claim = theorem1.CLAIMS[0]
    checks = {name: holds for name in claim.corrected.parts if name != part}
    cut = replace(
        claim, checks=(counterexamples.no_projection,), corrected=replace(claim.corrected, checks=checks)
    )
    with pytest.raises(CheckError, match="nothing tests the part"):
        decide(cut)


@pytest.mark.parametrize("module", [recursion, theorem1, sharper_theorem, memory_bound])
def test_formulas_in_the_texts_are_those_of_the_theory(module):
    """The rendered texts hold the numbers of theory's functions; a typed formula would not follow a change there."""
    texts = [claim.corrected.formula if claim.corrected else claim.formula for claim in module.CLAIMS]
    rendered = [text.unicode for text in texts if "ηE" in text.unicode or "5ηG²" in text.unicode]
    assert rendered
    assert all("@" not in text for text in rendered)


def test_an_initial_term_of_the_theory_stands_in_the_texts_of_both_of_our_theorems():
    shown = sp.Symbol("D", positive=True) ** 2
    for module in (sharper_theorem, memory_bound):
        assert module.SHOWN["initial"].has(shown)
        assert "D²/(2ηE)" in module.CLAIMS[0].statement
