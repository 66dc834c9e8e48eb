"""Every claim of the paper, decided once in the quick profile: the registry is the test list."""

import html
import json
import math
import re
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from importlib import import_module
from operator import gt
from pathlib import Path
from pkgutil import iter_modules
from unittest.mock import patch

import pytest

from acdpp.report.contents import gather
from acdpp.report.markdown import markdown
from acdpp.report.page import page
from proofs_check import claims, ledger
from proofs_check.claim import decide
from proofs_check.claims_page import page as tabulated
from proofs_check.context import Context
from proofs_check.document import document
from proofs_check.evidence import USUAL
from proofs_check.ledger import substances, tally, told
from proofs_check.registry import labelled, registry, select
from proofs_check.run import run
from proofs_check.text import terminal
from tests.recorded import held, numbers
from tests.refused import refused
from tests.typeset import check_erratum, needs_pdflatex

NUMBERS = Path(__file__).with_name("evidence.json")  # what evidence tells, by claim
NUMBER = r"(?<!\w)-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"  # not that of a name such as x1
ESTABLISHED = ("proved", "certified", "supported")
CLAIMS = {claim.id: claim for claim in registry()}


CHOICES = []  # between what the quick profile takes and what the full one does


@pytest.fixture(scope="module")
def cases():
    def choose(context, quick, full):
        CHOICES.append((quick, full))
        return quick

    with patch.object(Context, "choose", choose):
        return {case.claim.id: case for case in run(registry())}


@pytest.mark.parametrize("label", CLAIMS)
def test_a_case_is_as_recorded_and_what_is_not_true_is_corrected(label, cases):
    case = cases[label]
    assert ledger.differences([case], ledger.read()) == []
    for evidence in case.stated + case.hypotheses + case.corrected:
        assert evidence.outcome != "fails" or evidence.certificate
        assert evidence.domain or evidence.outcome == "open"
        assert "\\" not in terminal(f"{evidence.part} {evidence.detail} {evidence.domain}")
    measured = case.claim.kind != "experiment" or case.claim.corrected is not None
    if case.verdict not in ESTABLISHED and (measured or case.verdict != "undecided"):
        elsewhere = case.claim.domain.partition("what holds instead")[2].rpartition(": ")[2]
        assert case.corrected_verdict in ESTABLISHED or elsewhere in CLAIMS
    wrong = case.verdict in ("refuted", "conditional")
    assert bool(case.claim.repair) == (wrong and case.claim.kind not in ("reading", "experiment"))
    roles = {"stated": case.stated, "hypotheses": case.hypotheses, "corrected": case.corrected}
    found = {f"{role}, {i}": weighed(e) for role, those in roles.items() for i, e in enumerate(those, 1)}
    held(NUMBERS, label, numbers(found))


ASKED = r"(the kernel was not asked here: on record with|asked here:) Coq [0-9.]+( and coqchk)?"


def weighed(evidence):
    """How many numbers its detail and its certificate tell, two sums over them, the second in their order, and one
    over all letters. What is below 1e-7 may be rounding and counts as 0.
    """
    told = json.dumps([evidence.detail, evidence.certificate], ensure_ascii=False)
    told = re.sub(ASKED, "", told)  # where Coq was asked, if this machine has it
    each = [float(one) for one in re.findall(NUMBER, told)]
    sizes = [min(abs(x), 1e290) * (abs(x) > 1e-7) for x in each]
    # logarithms, so that a large one does not hide the others
    logs = [math.copysign(math.log1p(1e6 * size), x) for x, size in zip(each, sizes, strict=True)]
    letters = re.sub(r"\d", "", re.sub(NUMBER, "", told))
    return [len(each), sum(logs), sum(i * x for i, x in enumerate(logs)), sum(map(ord, letters))]


def test_the_ledger_holds_these_claims_in_this_order_and_no_others():
    assert [entry.id for entry in ledger.read()] == list(CLAIMS)


@pytest.fixture(scope="module")
def case():
    return decide(*labelled(["eq:kstep-drop"]))


def test_what_is_recorded_comes_back_as_it_was(case, tmp_path, monkeypatch):
    monkeypatch.setattr(ledger, "LEDGER", tmp_path / "ledger.json")
    ledger.write(some := [case, *map(decide, labelled(["eq:Neff-def", "fig:test_acc_all"]))])
    assert ledger.read() == tuple(map(ledger.entry, some))


def test_a_change_of_verdict_evidence_text_or_hypothesis_is_noticed(case):
    recorded = [ledger.entry(case)]
    assert ledger.differences([case], recorded) == []
    (told,) = document([case], version="", seed=0)["claims"]
    assert told["corrected"]["verdict"] == case.corrected_verdict
    assert told["substance"] == {"verdict": substances(recorded)["eq:kstep-drop"], "of": case.claim.substance}
    assert ledger.differences([case], []) == ["eq:kstep-drop is not in the ledger; it is conditional"]
    lost = next(e for e in case.corrected if e.confirms)
    kept = tuple(e for e in case.corrected if e is not lost)
    other = replace(case.claim.corrected, statement="Something else.")
    absent = {"claim": replace(case.claim, corrected=None, substance=""), "corrected": ()}
    changes = {
        f"evidence is not the recorded one: lost {lost.method} holds ({lost.part})": {"corrected": kept},
        "was recorded as conditional and is refuted": {"hypotheses": ()},
        "lost smt fails; exact fails": {"stated": ()},  # with the verdict
        "its statement changed": {"claim": replace(case.claim, corrected=other)},
        f"was recorded as {case.corrected_verdict} and is absent": absent | {"hypotheses": ()},
        "another number or order": {"corrected": case.corrected[::-1]},
    }
    for sentence, changed in changes.items():
        differences = ledger.differences([replace(case, **changed)], recorded)
        assert any(sentence in found for found in differences), sentence
        assert differences == sorted(differences, key=lambda found: "recorded as" not in found)
    for name in ("section", "kind", "domain", "substance", "repair"):
        told = ledger.differences([case], [replace(*recorded, **{name: "other"})])
        assert told == [f"eq:kstep-drop: its {name} is not the recorded one"]
    for name in ("title", "says", "formula", "given", "hypotheses", "parts"):
        for of, about in (("stated", ""), ("corrected", "the correction of ")):
            other = replace(getattr(*recorded, of), **{name: ("other",)})
            (told,) = ledger.differences([case], [replace(*recorded, **{of: other})])
            assert re.fullmatch(f"{about}eq:kstep-drop: its .* changed since it was recorded", told)


def test_no_module_of_claims_is_left_out_of_the_contents_and_a_label_loads_its_own_alone():
    for section, modules in claims.CONTENTS.items():
        folder = import_module(f"proofs_check.claims.{section}")
        assert {m.name for m in iter_modules(folder.__path__)} == set(modules)
    assert {m.name for m in iter_modules(claims.__path__)} == set(claims.CONTENTS)
    look = (
        "import sys; from proofs_check.registry import labelled; labelled(['eq:vck-exact']);"
        "print([m for m in sys.modules if m.count('.') == 3 and m.startswith('proofs_check.claims')])"
    )
    loaded = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "['proofs_check.claims.reuse.closed_form']"


def test_every_engine_is_in_use(cases):
    used = {e.method for case in cases.values() for e in case.stated + case.hypotheses + case.corrected}
    assert used == set(USUAL)


def test_the_full_profile_tries_no_less_than_the_quick_one(cases):
    assert len(CHOICES) > 100
    assert not [pair for pair in CHOICES if gt(*(one if isinstance(one, int) else len(one) for one in pair))]


@pytest.fixture(scope="module")
def reported(cases):
    return gather(document(list(cases.values()), version="0", seed=0), [], [])


def test_page_and_markdown_hold_every_case_and_the_page_s_links_lead_somewhere(reported):
    text, marked = page(reported, [], [], "acdpp report"), markdown(reported)
    places = re.findall(r'\bid="([^"]+)"', text)
    assert len(places) == len(set(places))
    assert {link[1:] for link in re.findall(r'href="([^"]*)"', text)} <= set(places)
    for label in CLAIMS:
        assert label.replace("/", ".") in places
        assert label in marked
    told = html.unescape(re.sub(r"<[^>]*>", "", text))
    for claim in CLAIMS.values():
        for of in filter(None, (claim, claim.corrected)):
            assert all(terminal(text) in told for text in (of.statement, of.sketch, *of.hypotheses))


@needs_pdflatex
def test_the_erratum_has_all_that_is_not_true_and_latex_sets_it(reported, tmp_path):
    check_erratum(reported, tmp_path)


@pytest.mark.parametrize("pool", [ProcessPoolExecutor, lambda *_: ThreadPoolExecutor(1)])
def test_several_processes_find_what_one_finds_and_report_each_claim_once_in_order(pool, monkeypatch):
    some = labelled(["eq:Neff-def", "eq:vck-exact/range"])
    found = []
    for jobs, made in ((1, None), (2, pool)):  # one job is done without a pool
        monkeypatch.setattr("proofs_check.run.ProcessPoolExecutor", made)
        seen = []
        decided = run(some, jobs=jobs, seed=5, report=lambda claim, seen=seen: seen.append(claim.id))
        assert sorted(seen) == sorted(claim.id for claim in some)
        assert [case.claim for case in decided] == list(some)
        found.append([(case.stated[0].detail, case.verdict) for case in decided])
    assert found[0] == found[1]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def _recorded(label, kind, verdict, substance="", corrected=None):
    stated, mended = (v and ledger.Statement("", "", "", v, (), (), (), ()) for v in (verdict, corrected))
    return ledger.Entry(label, "", kind, "", stated, (), mended, substance)


def test_letter_and_substance_and_readings_are_counted_apart():
    empty = _recorded("empty", "theorem", "proved", "empty/uniform")
    slip = _recorded("slip", "equation", "conditional", "corrected", "certified")
    uniform, own = (_recorded("empty/uniform", "reading", "refuted"), _recorded("x", "addition", "proved"))
    entries = [empty, uniform, slip, own]
    assert [*substances(entries).values()] == ["refuted", "refuted", "certified", "proved"]
    assert tally(entries) == {
        "statements": {"proved": 1, "conditional": 1},
        "statements_in_substance": {"refuted": 1, "certified": 1},
        "slips": 1,
        "readings": {"refuted": 1},
        "own": {"proved": 1},
    }
    assert "| **proved**; in substance refuted |" in tabulated(entries)
    assert told(tally([slip, slip])).endswith("; in substance 2 certified; 2 fail by a slip alone.")


def test_a_substance_is_a_corrected_form_that_stands_or_a_reading():
    for entry in ledger.read():
        if entry.substance == "corrected":
            assert entry.corrected.verdict in ESTABLISHED
        elif entry.substance:
            assert CLAIMS[entry.substance].kind == "reading"
    for wrong in ("corrected", "eq:Neff-def"):
        with pytest.raises(ValueError, match="must be its corrected form or a reading below it"):
            replace(CLAIMS["eq:Neff-def"], substance=wrong)


def test_a_label_names_its_steps_too_and_an_unknown_one_is_an_error():
    for claims_of in (labelled, partial(select, registry())):
        assert [c.id for c in claims_of(["eq:vck-exact"])] == ["eq:vck-exact", "eq:vck-exact/range"]
        assert "no claim 'eq:vck'; near it: eq:vck-exact" in refused(claims_of, ["eq:vck"])
        assert "near it: thm:dpp-regret" in refused(claims_of, ["thm:dpp-regret/none"])
        assert {"eq:Neff-def", "rem:1", "rem:1/drift"} <= {c.id for c in claims_of(["eq:Neff-def", "rem:1"])}
