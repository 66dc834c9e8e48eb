"""Evidence is data that refuses nonsense, and a verdict follows from it alone."""

import time
from dataclasses import replace
from functools import partial

import pytest

from proofs_check import Case, CheckError, Claim, Context, Correction, Given, confirming, decide, qualified
from proofs_check.claim import run_check
from proofs_check.evidence import Evidence, fails, holds, obeying, together, undecided, verdict

COUNTEREXAMPLE = fails("exact", "wrong at K=2", certificate={"K": 2})
PROOF = holds("identity", "difference is 0")
CERTIFIED = holds("enclosure", "apart at 9 points")
SAMPLED = holds("exact", "true on 100 examples")
CONFIRMATION = replace(SAMPLED, confirms=True)
OPEN = undecided("smt", "Z3 gives up: timeout")
UNLIKELY = fails("simulation", "outside the interval", certificate={"mean": 2.0})
BEYOND = fails("worst case", "2 against 1", certificate={"worst": 2.0})  # of a relaxation


def test_the_weakest_link_decides_and_one_sound_counterexample_refutes():
    for stated, expected in (
        ([PROOF], "proved"),
        ([PROOF, OPEN], "undecided"),
        ([SAMPLED, PROOF, CERTIFIED], "supported"),
        ([PROOF, CERTIFIED], "certified"),
        ([PROOF, CONFIRMATION], "proved"),
        ([CONFIRMATION], "supported"),
        ([PROOF, replace(OPEN, confirms=True)], "undecided"),
        ([SAMPLED], "supported"),
        ([holds("worst case", "0.9 against 1")], "supported"),
        ([holds("simulation", "in the interval")], "supported"),
        ([OPEN], "undecided"),
        ([], "undecided"),
        ([COUNTEREXAMPLE], "refuted"),
        ([PROOF, COUNTEREXAMPLE], "refuted"),
        ([UNLIKELY], "undecided"),  # it never refutes but takes support back
        ([UNLIKELY, SAMPLED], "undecided"),
        ([BEYOND], "undecided"),  # it corroborates a refutation but makes none
        ([BEYOND, PROOF], "undecided"),
        ([BEYOND, COUNTEREXAMPLE], "refuted"),
        ([fails("experiment", "0 against 3.5", certificate={"points": 0})], "refuted"),
    ):
        assert verdict(stated) == expected


def test_a_counterexample_with_evidence_under_hypotheses_is_conditional():
    for stated in ([COUNTEREXAMPLE], [BEYOND, COUNTEREXAMPLE]):
        assert verdict(stated, [PROOF]) == "conditional"
    assert verdict([COUNTEREXAMPLE], [OPEN]) == "refuted"
    assert verdict([COUNTEREXAMPLE], [PROOF, COUNTEREXAMPLE]) == "refuted"
    assert verdict([PROOF], [COUNTEREXAMPLE]) == "proved"


PARTS = ("upper", "lower")


@pytest.mark.parametrize(
    ("ours", "theirs", "expected", "conditions"),
    [
        (COUNTEREXAMPLE, COUNTEREXAMPLE, "refuted", ()),
        (COUNTEREXAMPLE, SAMPLED, "conditional", ("theirs",)),
        (PROOF, COUNTEREXAMPLE, "conditional", ("ours",)),
        (COUNTEREXAMPLE, OPEN, "undecided", ()),
        (OPEN, COUNTEREXAMPLE, "undecided", ()),
        (PROOF, OPEN, "undecided", ()),
        (UNLIKELY, SAMPLED, "undecided", ()),
        (PROOF, SAMPLED, "supported", ()),
    ],
)
def test_an_open_setting_refutes_or_supports_only_where_every_choice_does(ours, theirs, expected, conditions):
    def checks(*common):
        lower = (lambda: replace(ours, choice="ours"), lambda: replace(theirs, choice="theirs"), *common)
        return {"upper": lambda: PROOF, "lower": lower}

    case = decide(_claim(checks=checks()))
    assert (case.verdict, case.conditions) == (expected, conditions)
    assert decide(_claim(checks=checks(lambda: COUNTEREXAMPLE))).verdict == "refuted"
    assert decide(_claim(checks=checks(lambda: replace(OPEN, choice="a third")))).conditions == conditions
    proofs = {part: lambda: PROOF for part in PARTS}
    rescued = _claim(checks=checks(), hypotheses=("K = 1",), checks_with_hypotheses=proofs)
    assert decide(rescued).verdict == ("conditional" if expected == "refuted" else expected)
    assert decide(rescued).conditions == (conditions or ("K = 1",))


def test_a_statement_of_several_parts_is_as_well_established_as_its_weakest_if_all_are_tested():
    rest = {"supported": SAMPLED, "undecided": OPEN, "proved": PROOF, "refuted": COUNTEREXAMPLE}
    for expected, lower in rest.items():
        assert verdict([PROOF.about("upper"), lower.about("lower")], parts=PARTS) == expected
    for alone in (PROOF.about("upper"), PROOF):
        assert verdict([alone], parts=PARTS) == "undecided"


def test_a_counterexample_counts_only_if_it_is_shown_to_satisfy_its_hypotheses():
    facts = {"|f'| <= G": PROOF, "convex": CERTIFIED}
    assert obeying(COUNTEREXAMPLE, facts).outcome == "fails"
    assert obeying(COUNTEREXAMPLE, facts).certificate["it satisfies convex"] == CERTIFIED.detail
    assert obeying(COUNTEREXAMPLE, facts).pieces == 3
    for weak in (SAMPLED, OPEN, COUNTEREXAMPLE):
        found = obeying(COUNTEREXAMPLE, {**facts, "0 <= f <= B": weak})
        assert found.outcome == "open"
        assert "0 <= f <= B" in found.detail


def test_findings_together_hold_only_if_each_does():
    assert together(PROOF, CERTIFIED).strength == "certified"
    assert together(PROOF, together(CERTIFIED, PROOF)).pieces == 3
    assert together(replace(PROOF, certificate={"K": 2}), CERTIFIED).certificate == {"1: K": 2}
    assert together(PROOF, OPEN).outcome == "open"
    assert together(PROOF, OPEN, COUNTEREXAMPLE) is COUNTEREXAMPLE


def _claim(*checks, **more):
    usual = {"kind": "test", "checks": checks, "formula": "x", "domain": "all x"}
    return Claim(id="x", title="x", statement="x", **{**usual, **more})


def _correction(checks, **more):
    return Correction(title="y", statement="y", formula="x", sketch="because", checks=checks, **more)


def test_a_check_is_timed():
    assert 0.02 <= decide(_claim(lambda: time.sleep(0.02) or PROOF)).stated[0].seconds < 2


def broken():
    return 1 / 0


def test_a_check_must_return_evidence_and_an_exception_is_none():
    for checks, complaint in (
        ({"upper": lambda: 1 / 0}, "check upper of claim x broke: ZeroDivisionError"),  # known by its part
        ((broken,), "check broken of claim x broke: ZeroDivisionError"),
        ((partial(broken),), "check broken of"),
        ((lambda: True,), "check check of claim x returned bool instead of Evidence"),
    ):
        with pytest.raises(CheckError, match=complaint):
            decide(_claim(checks=checks))


def test_evidence_and_claims_that_make_no_sense_are_refused():
    for make, complaint in (
        (lambda: Evidence("guess", "proof", "holds", "seen"), "method must be one of"),
        (lambda: Evidence("smt", "proof", "maybe", "seen"), "outcome must be one of"),
        (lambda: fails("smt", "wrong"), "counterexample"),
        (lambda: holds("smt", ""), "detail"),
        (lambda: _claim(), "no check"),
        (lambda: _claim(lambda: PROOF, checks_with_hypotheses=(lambda: PROOF,)), "does not name"),
        (lambda: _claim(lambda: PROOF, kind="addition"), "its argument must be told"),
    ):
        with pytest.raises(ValueError, match=complaint):
            make()


def test_a_missing_part_is_an_error_of_the_checker_and_no_weaker_verdict():
    sampled = confirming(lambda: SAMPLED)
    whole = _claim(checks={"upper": lambda: PROOF, "lower": (sampled, lambda: PROOF)})
    case = decide(whole)
    assert case.verdict == "proved"
    assert case.claim.parts == ("upper", "lower")
    with pytest.raises(CheckError, match="nothing tests the part 'lower' of claim x"):
        replace(case, stated=case.stated[:1])
    with pytest.raises(CheckError, match="nothing tests the part 'lower' of claim x"):
        decide(replace(whole, checks={"upper": lambda: PROOF, "lower": ()}))
    with pytest.raises(CheckError, match="declares no part 'middle'"):
        replace(case, stated=(*case.stated, PROOF.about("middle")))
    corrected = _correction({"upper": lambda: PROOF, "lower": ()})
    with pytest.raises(CheckError, match="nothing tests the part 'lower' of the correction of claim x"):
        decide(_claim(lambda: COUNTEREXAMPLE, corrected=corrected))


def test_parts_are_demanded_of_the_rescue_by_hypotheses_but_not_beside_a_counterexample():
    refuted = _claim(checks={"upper": (lambda: PROOF, lambda: COUNTEREXAMPLE), "lower": ()})
    assert decide(refuted).verdict == "refuted"

    def rescued(**checks):
        more = {"hypotheses": ("K = 1",), "checks_with_hypotheses": checks}
        return decide(_claim(lambda: COUNTEREXAMPLE, **more))

    assert rescued(upper=lambda: PROOF, lower=lambda: CERTIFIED).verdict == "conditional"
    with pytest.raises(CheckError, match="nothing tests the part 'lower'"):
        rescued(upper=lambda: PROOF, lower=())


def test_a_verdict_names_what_it_rests_on_unless_it_is_a_refutation():
    cited = (Given("Haussler 1995", "packing numbers"), Given("its written argument", "composition"))
    assert qualified("proved", cited) == "proved, given Haussler 1995 and its written argument"
    assert [qualified(one, cited) for one in ("refuted", "undecided")] == ["refuted", "undecided"]
    assert qualified("certified", ()) == "certified"


def test_a_case_has_a_verdict_on_the_correction_of_its_own():
    correction = _correction((lambda: PROOF, confirming(lambda: SAMPLED)))
    case = decide(_claim(lambda: COUNTEREXAMPLE, corrected=correction))
    assert (case.verdict, case.corrected_verdict) == ("refuted", "proved")
    assert Case(_claim(lambda: PROOF), (PROOF,)).corrected_verdict is None


def test_random_numbers_depend_on_seed_claim_and_check_and_on_nothing_else():
    def draw(context):
        return holds("simulation", str(context.generator().random()))

    def other(context):
        return draw(context)

    def drawn(check, **more):
        return run_check(_claim(draw, other), "stated", "", check, **more).detail

    assert drawn(draw) == drawn(draw)
    assert drawn(draw) != drawn(other)
    assert drawn(draw) != drawn(draw, seed=1)
    assert Context(1, "quick", "a", "b").number != Context(1, "quick", "a", "c").number


def test_a_check_that_stands_in_two_places_runs_once():
    runs = []

    def check():
        runs.append(1)
        return PROOF

    case = decide(_claim(check, corrected=_correction((check, lambda: SAMPLED))))
    assert len(runs) == 1
    assert case.stated[0] == case.corrected[0]
