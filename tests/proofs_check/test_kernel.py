"""The proofs in Coq: about theory's own formulas, on record with their sources, and refused when a formula is wrong."""

import json
import re
from pathlib import Path

import pytest

from proofs_check import served
from proofs_check.engines import kernel
from proofs_check.kernel import formulas
from proofs_check.registry import registry
from tests.acdpp.program import acdpp
from theory.setting import SettingError

ROOT = Path(__file__).parents[2]
needs_coq = pytest.mark.skipif(not kernel.installed(), reason="needs Coq")
CACHED = (kernel.source, kernel.needs, kernel.content, kernel.lines, kernel._recorded, formulas.written)


@pytest.fixture
def afresh(monkeypatch, tmp_path):
    """Nothing remembered of the sources, before and after, and nothing kept from earlier questions."""

    def forget():
        for function in CACHED:
            function.cache_clear()

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    forget()
    yield forget
    monkeypatch.undo()
    forget()


@pytest.mark.parametrize("part", formulas.FORMULAS)
def test_the_formulas_in_coq_are_those_of_theory(part):
    committed = (kernel.FOLDER / f"{part}.v").read_text(encoding="utf-8")
    assert committed == formulas.written(part), "renew them: python -m proofs_check.kernel.formulas"


def test_what_is_on_record_is_about_these_sources_and_rests_on_the_classical_reals_alone():
    recorded = json.loads(kernel.RECORD.read_text(encoding="utf-8"))
    assert set(recorded) == {module for module in kernel.modules() if kernel.lines(module)}
    for module, asked in recorded.items():
        assert asked["content"] == kernel.content(module), "ask again: acdpp verify --kernel --record"
        assert set(asked["states"]) == set(kernel.lines(module))
        assert set(asked["axioms"]) <= set(kernel.ALLOWED)


def outside_sections(source):
    """The lines at no depth of sections."""
    depth, lines = 0, []
    for line in source.splitlines():
        depth -= bool(re.match(r"End \w+\.", line))
        lines += [line] if depth == 0 else []
        depth += bool(re.match(r"Section \w+\.", line))
    assert depth == 0
    return "\n".join(lines)


def test_every_theorem_serves_a_claim_and_no_proof_is_left_out():
    text = "".join(path.read_text() for path in Path(kernel.FOLDER.parent).rglob("*.py"))
    for module in kernel.modules():
        source = kernel.source(module)
        assert not re.search(
            r"\b(Admitted|Axioms?|Parameters?|Conjecture|admit|give_up|Unset \w+ Checking)\b", source
        )
        assert not re.search(r"^(Hypothes[ie]s|Variables?|Context|Let)\b", outside_sections(source), re.M)
        for name in kernel.lines(module):
            assert f'"{module}.{name}"' in text, f"{module}.{name} serves no claim"


def test_a_formula_that_changes_leaves_its_proofs_without_a_record(afresh, monkeypatch):
    found = kernel.theorem("Reuse.uniformity_closed")()
    assert found.outcome == "holds"
    assert "the kernel was not asked here" in found.detail
    wrong = formulas.written("ReuseFormulas").replace("4 * Rmin K t + 1", "4 * Rmin K t + 2")
    afresh()
    monkeypatch.setattr(kernel, "written", lambda part: wrong)
    found = kernel.theorem("Reuse.uniformity_closed")()
    assert found.outcome == "open"
    assert "not those on record" in found.detail


def test_axioms_of_other_kinds_are_named_and_decide_nothing(afresh, monkeypatch):
    recorded = kernel._recorded()
    recorded["Reuse"]["axioms"].append("Reuse.it_is_so")
    found = kernel.theorem("Reuse.uniformity_closed")()
    assert (found.outcome, found.detail) == ("open", "Reuse.uniformity_closed rests on Reuse.it_is_so")


def test_without_coq_the_kernel_cannot_be_demanded(monkeypatch):
    monkeypatch.setattr(kernel.shutil, "which", lambda name: None)
    with pytest.raises(SettingError, match="apt-get install coq"):
        kernel.ask()


def test_the_page_is_made_from_the_claims_and_the_record():
    shown = (ROOT / "docs" / "kernel.md").read_text(encoding="utf-8")
    assert shown == served.page(registry()), "renew it: python -m proofs_check.served > docs/kernel.md"


def test_the_summary_says_whether_the_kernel_was_asked(afresh):
    said = " ".join(acdpp("verify", "--claim", "eq:omega-l2").stdout.split())
    assert "it was not asked here (acdpp verify --kernel), the record stands" in said


@needs_coq
@pytest.mark.slow
def test_coq_refuses_the_proof_where_a_formula_is_wrong(afresh, monkeypatch):
    monkeypatch.setattr(kernel, "modules", lambda: ["Sums", "ReuseFormulas", "Reuse"])
    wrong = formulas.written("ReuseFormulas").replace("4 * Rmin K t + 1", "4 * Rmin K t + 2")
    monkeypatch.setattr(kernel, "written", lambda part: wrong)
    assert "Reuse" not in {
        m for m in kernel.modules() for a in kernel.ask() if a.content == kernel.content(m)
    }
    found = kernel.theorem("Reuse.uniformity_closed")()
    assert found.outcome == "open"
    assert "Coq does not accept Reuse.v" in found.detail


FALSE = {
    "an axiom with a prime": "Axiom so' : 0 = 1.\nTheorem wrong : 0 = 1.\nProof. exact so'. Qed.\n",
    "an axiom with a known name": "Axiom classic : 0 = 1.\nTheorem wrong : 0 = 1.\nProof. exact classic. Qed.\n",
    "a recursion without end": "Unset Guard Checking.\nFixpoint loop (n : nat) : False := loop n.\n"
    "Theorem wrong : False.\nProof. exact (loop 0). Qed.\n",
}


@needs_coq
@pytest.mark.slow
@pytest.mark.parametrize("text", FALSE.values(), ids=FALSE)
def test_what_rests_on_something_assumed_is_refused(afresh, monkeypatch, tmp_path, text):
    (tmp_path / "Wrong.v").write_text(text)
    monkeypatch.setattr(kernel, "FOLDER", tmp_path)
    monkeypatch.setattr(kernel, "modules", lambda: ["Wrong"])
    assert kernel.ask() == []
    found = kernel.theorem("Wrong.wrong", domain=text)()
    assert found.outcome == "open"
    name = re.search(r"(?:Axiom|Fixpoint) ([\w']+)", text)[1]
    assert "coqchk finds assumed" in found.detail
    assert f"Acdpp.Wrong.{name}" in found.detail


@needs_coq
@pytest.mark.slow
def test_coq_accepts_every_file_and_says_what_is_on_record(afresh):
    recorded = json.loads(kernel.RECORD.read_text(encoding="utf-8"))
    asked = {a.content: a for a in kernel.ask()}
    for module, then in recorded.items():
        now = asked[then["content"]]
        assert (now.states, now.axioms) == (then["states"], then["axioms"]), module
