"""Every claim of the paper, decided once in the quick profile: the registry is the test list."""

import ast
import html
import os
import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

from acdpp.report.contents import gather
from acdpp.report.outline import markdown
from acdpp.report.page import page
from proofs_check import claims, groundwork, ledger
from proofs_check.document import document
from proofs_check.evidence import USUAL
from proofs_check.registry import SECTIONS, registry, select
from proofs_check.run import run
from tests.typeset import check_erratum, needs_pdflatex
from theory.setting import SettingError

ESTABLISHED = ("proved", "certified", "supported")
CLAIMS = {claim.id: claim for claim in registry()}


@pytest.fixture(scope="module")
def cases():
    jobs = min(2, os.cpu_count() or 1)
    return {case.claim.id: case for case in run(registry(), jobs=jobs)}


@pytest.mark.parametrize("label", CLAIMS)
def test_the_verdict_is_the_recorded_one(label, cases):
    assert ledger.differences([cases[label]], ledger.read()) == []


@pytest.mark.parametrize("label", CLAIMS)
def test_what_is_not_true_as_printed_is_corrected_and_the_correction_is_established(label, cases):
    case = cases[label]
    if case.claim.kind == "experiment" and case.verdict == "undecided" and case.claim.corrected is None:
        return  # nothing was measured that could take its place
    if case.verdict not in ESTABLISHED:
        assert case.claim.corrected is not None
        assert case.corrected_verdict in ESTABLISHED


@pytest.mark.parametrize("label", CLAIMS)
def test_every_failure_hands_over_the_numbers_that_show_it(label, cases):
    case = cases[label]
    for evidence in case.stated + case.hypotheses + case.corrected:
        assert evidence.outcome != "fails" or evidence.certificate
        assert evidence.domain or evidence.outcome == "open"


@pytest.mark.parametrize("label", CLAIMS)
def test_a_claim_says_what_it_states_in_words_and_symbols(label):
    claim = CLAIMS[label]
    for of in filter(None, (claim, claim.corrected)):
        assert of.statement.endswith((".", ")"))
        assert of.formula.latex
        assert of.formula.unicode
        assert "@" not in of.formula.latex + of.formula.unicode + of.statement + of.title
    assert claim.domain
    assert len(claim.title) <= 60
    if claim.corrected is not None:
        assert len(claim.corrected.title) <= 120
        assert claim.corrected.sketch


def test_the_ledger_holds_these_claims_in_this_order_and_no_others():
    assert [entry.id for entry in ledger.read()] == list(CLAIMS)


def test_what_is_recorded_comes_back_as_it_was(cases, tmp_path, monkeypatch):
    monkeypatch.setattr(ledger, "LEDGER", tmp_path / "ledger.json")
    ledger.write(list(cases.values()))
    assert ledger.read() == tuple(map(ledger.entry, cases.values()))


def test_a_change_of_verdict_evidence_text_or_hypothesis_is_noticed(cases):
    case = cases["eq:kstep-drop"]
    recorded = [ledger.entry(case)]
    assert ledger.differences([case], recorded) == []
    correction = case.claim.corrected
    changes = {
        "evidence is not the recorded one": replace(
            case, corrected=tuple(e for e in case.corrected if not e.confirms)
        ),
        "was recorded as conditional and is refuted": replace(case, hypotheses=()),
        "its hypotheses changed": replace(case, claim=replace(case.claim, hypotheses=("none",))),
        "its statement changed": replace(
            case, claim=replace(case.claim, corrected=replace(correction, statement="Something else."))
        ),
        "its domain is not the recorded one": replace(case, claim=replace(case.claim, domain="K = 1")),
    }
    for sentence, changed in changes.items():
        assert any(sentence in found for found in ledger.differences([changed], recorded)), sentence


def test_no_module_of_claims_is_left_out_of_the_registry():
    folders = {m.name for m in iter_modules(claims.__path__)}
    assert folders == set(SECTIONS)
    for section in SECTIONS:
        folder = import_module(f"proofs_check.claims.{section}")
        assert {m.name for m in iter_modules(folder.__path__)} == set(folder.MODULES)


def _imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (a.name for a in node.names)


@pytest.mark.parametrize("package", [claims, groundwork])
def test_no_claim_is_imported_by_another_claim_or_by_the_groundwork(package):
    for path in Path(package.__path__[0]).rglob("*.py"):
        assert not [name for name in _imports(path) if name.startswith("proofs_check.claims")], path


def test_every_engine_is_in_use(cases):
    used = {e.method for case in cases.values() for e in case.stated + case.hypotheses + case.corrected}
    assert used == set(USUAL)


@pytest.fixture(scope="module")
def reported(cases):
    return gather(document(list(cases.values()), version="0", seed=0), [], [])


def test_the_page_holds_every_case_whole_and_its_links_lead_somewhere(reported):
    text = page(reported, [], [], "acdpp report")
    places = re.findall(r'\bid="([^"]+)"', text)
    assert len(places) == len(set(places))
    assert {link[1:] for link in re.findall(r'href="([^"]*)"', text)} <= set(places)
    for label in CLAIMS:
        assert label.replace("/", ".") in places
    told = html.unescape(re.sub(r"<[^>]*>", "", text))
    for claim in CLAIMS.values():
        for of in filter(None, (claim, claim.corrected)):
            assert all(piece in told for piece in (of.statement, of.sketch, *of.hypotheses))


@needs_pdflatex
def test_the_erratum_has_all_that_is_not_true_and_latex_sets_it(reported, tmp_path):
    check_erratum(reported, tmp_path)


def test_the_outline_has_every_case(reported):
    text = markdown(reported)
    assert all(label in text for label in CLAIMS)


def test_several_processes_find_what_one_finds():
    some = select(registry(), ["eq:Neff-def", "eq:vck-exact/range"])
    alone, together = (run(some, jobs=jobs, seed=5) for jobs in (1, 2))
    assert [(c.stated[0].detail, c.verdict) for c in alone] == [
        (c.stated[0].detail, c.verdict) for c in together
    ]


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_claim_is_reported_once_and_comes_back_in_order(jobs):
    some = select(registry(), ["eq:Vtilde-def-body", "eq:Neff-def"])
    seen = []
    cases = run(some, jobs=jobs, report=lambda claim: seen.append(claim.id))
    assert sorted(seen) == ["eq:Neff-def", "eq:Vtilde-def-body"]
    assert [case.claim for case in cases] == list(some)


def test_a_label_names_its_steps_too_and_an_unknown_one_is_an_error():
    assert [c.id for c in select(registry(), ["eq:vck-exact"])] == ["eq:vck-exact", "eq:vck-exact/range"]
    with pytest.raises(SettingError, match=r"no claim 'eq:vck'; near it: eq:vck-exact"):
        select(registry(), ["eq:vck"])
