"""Evidence is data that refuses nonsense, and a verdict follows from it alone."""

import pytest

from proofs_check.claim import Case, CheckError, Claim, Context, Correction, decide, run_check
from proofs_check.evidence import Evidence, fails, holds, refutes, together, undecided, verdict

COUNTEREXAMPLE = fails("exact", "wrong at K=2", certificate={"K": 2})
PROOF = holds("identity", "difference is 0")
CERTIFIED = holds("enclosure", "apart at 9 points")
SAMPLED = holds("exact", "true on 100 examples")
OPEN = undecided("smt", "Z3 gives up: timeout")
UNLIKELY = fails("simulation", "outside the interval", certificate={"mean": 2.0})


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ([PROOF], "proved"),
        ([PROOF, OPEN], "proved"),
        ([SAMPLED, PROOF, CERTIFIED], "proved"),
        ([CERTIFIED, SAMPLED], "certified"),
        ([SAMPLED], "supported"),
        ([holds("worst case", "0.9 against 1")], "supported"),
        ([holds("simulation", "in the interval")], "supported"),
        ([OPEN], "undecided"),
        ([], "undecided"),
        ([COUNTEREXAMPLE], "refuted"),
        ([PROOF, COUNTEREXAMPLE], "refuted"),
        ([fails("worst case", "2 against 1", certificate={"worst": 2.0})], "refuted"),
    ],
)
def test_the_strongest_evidence_decides_and_one_counterexample_refutes(stated, expected):
    assert verdict(stated) == expected


def test_a_statistical_failure_never_refutes_but_takes_support_back():
    assert verdict([UNLIKELY]) == "undecided"
    assert verdict([UNLIKELY, SAMPLED]) == "undecided"


def test_a_counterexample_with_evidence_under_hypotheses_is_conditional():
    assert verdict([COUNTEREXAMPLE], [PROOF]) == "conditional"
    assert verdict([COUNTEREXAMPLE], [OPEN]) == "refuted"
    assert verdict([COUNTEREXAMPLE], [PROOF, COUNTEREXAMPLE]) == "refuted"
    assert verdict([PROOF], [COUNTEREXAMPLE]) == "proved"


def test_a_statement_of_several_parts_is_as_well_established_as_its_weakest():
    assert verdict([PROOF.about("upper"), SAMPLED.about("lower")]) == "supported"
    assert verdict([PROOF.about("upper"), OPEN.about("lower")]) == "undecided"
    assert verdict([PROOF.about("upper"), PROOF.about("lower")]) == "proved"
    assert verdict([PROOF.about("upper"), COUNTEREXAMPLE.about("lower")]) == "refuted"


def test_evidence_about_the_whole_does_not_replace_a_part():
    assert verdict([OPEN.about("upper"), SAMPLED]) == "supported"
    assert verdict([UNLIKELY, PROOF.about("upper")]) == "undecided"


def test_evidence_refuses_unknown_words_and_failures_without_counterexample():
    with pytest.raises(ValueError, match="method must be one of"):
        Evidence("guess", "proof", "holds", "seen")
    with pytest.raises(ValueError, match="outcome must be one of"):
        Evidence("smt", "proof", "maybe", "seen")
    with pytest.raises(ValueError, match="counterexample"):
        fails("smt", "wrong")
    with pytest.raises(ValueError, match="detail"):
        holds("smt", "")


def test_only_a_shown_negation_refutes():
    assert refutes(holds("smt", "unsat", certificate={"K": "any"}), "contradictory").outcome == "fails"
    assert refutes(OPEN, "contradictory").outcome == "open"
    assert refutes(COUNTEREXAMPLE, "contradictory").outcome == "open"


def test_findings_together_hold_only_if_each_does():
    assert together(PROOF, CERTIFIED).strength == "certified"
    assert together(PROOF, OPEN).outcome == "open"
    assert together(PROOF, OPEN, COUNTEREXAMPLE) is COUNTEREXAMPLE


def _claim(*checks, **more):
    return Claim(id="x", kind="test", title="x", statement="x", checks=checks, **more)


def test_an_exception_in_a_check_is_never_evidence():
    def broken():
        raise ZeroDivisionError("by zero")

    with pytest.raises(CheckError, match="broke: ZeroDivisionError"):
        decide(_claim(lambda: PROOF, broken))


def test_a_check_must_return_evidence():
    with pytest.raises(CheckError, match="returned bool instead of Evidence"):
        decide(_claim(lambda: True))


def test_a_claim_without_checks_and_hypotheses_without_names_are_refused():
    with pytest.raises(ValueError, match="no check"):
        _claim()
    with pytest.raises(ValueError, match="does not name"):
        _claim(lambda: PROOF, checks_with_hypotheses=(lambda: PROOF,))


def test_a_case_has_a_verdict_on_the_correction_of_its_own():
    correction = Correction(statement="y", checks=(lambda: PROOF, lambda: SAMPLED))
    case = decide(_claim(lambda: COUNTEREXAMPLE, corrected=correction))
    assert (case.verdict, case.corrected_verdict) == ("refuted", "proved")
    assert Case(_claim(lambda: PROOF), (PROOF,)).corrected_verdict is None


def test_random_numbers_depend_on_seed_claim_and_check_and_on_nothing_else():
    def draw(context):
        return holds("simulation", str(context.generator().random()))

    first = run_check(_claim(draw, draw), "stated", 0).detail
    assert first == run_check(_claim(draw, draw), "stated", 0).detail
    assert first != run_check(_claim(draw, draw), "stated", 1).detail
    assert first != run_check(_claim(draw, draw), "stated", 0, seed=1).detail
    assert Context(1, "quick", "a", "b").number != Context(1, "quick", "a", "c").number


def test_a_check_that_stands_in_two_places_runs_once():
    runs = []

    def check():
        runs.append(1)
        return PROOF

    case = decide(_claim(check, corrected=Correction(statement="y", checks=(check, lambda: SAMPLED))))
    assert len(runs) == 1
    assert case.stated[0] is case.corrected[0]
