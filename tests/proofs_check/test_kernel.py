"""The proofs in Coq: about theory's own formulas, on record with their sources, and refused when a formula is wrong."""

import json
import math
import random
import re
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import pytest
import sympy as sp

from proofs_check import kernel_page
from proofs_check.engines import kernel
from proofs_check.kernel import formulas
from proofs_check.kernel.coq import coq
from proofs_check.registry import registry
from tests.acdpp.program import acdpp
from tests.proofs_check.coq_terms import evaluated
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
        source = re.sub(r"\(\*.*?\*\)", "", kernel.source(module), flags=re.S)
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


def test_programs_are_asked_where_both_are_there_and_answers_kept_by_what_was_asked(monkeypatch, tmp_path):
    there = {"coqc"}
    monkeypatch.setattr(kernel.shutil, "which", lambda name: name if name in there else None)
    assert not kernel.installed()
    there.add("coqchk")
    assert kernel.installed()
    said = SimpleNamespace(returncode=0, stdout="8.16.1 4.14.1", stderr=" and more")
    monkeypatch.setattr(kernel.subprocess, "run", lambda *command, **_: said)
    assert kernel._run("coqc", cwd=tmp_path) == "8.16.1 4.14.1"
    assert kernel._run("coqchk", cwd=tmp_path) == "8.16.1 4.14.1 and more"
    assert kernel._version.__wrapped__() == "8.16.1"
    said.returncode = 1
    with pytest.raises(kernel.Refused, match="and more"):
        kernel._run("coqc", cwd=tmp_path)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert kernel._kept() == tmp_path / ".cache" / "acdpp" / "kernel"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "else"))
    monkeypatch.setattr(kernel, "_version", lambda: "8.16.1")
    folder = kernel._folder("Reuse")
    assert folder.parent == tmp_path / "else" / "acdpp" / "kernel"
    assert folder.name == f"{kernel.content('Reuse')}-{kernel.PROTOCOL}-8.16.1"
    assert kernel._local("Reuse") is None
    folder.mkdir(parents=True)
    known = kernel.Asked(**kernel._recorded()["Reuse"])
    (folder / "asked.json").write_text(json.dumps(asdict(known)))
    assert kernel._local("Reuse") == known


@pytest.mark.parametrize("sound", [True, False])
def test_what_builds_on_a_file_that_is_refused_is_not_asked(sound, monkeypatch, tmp_path):
    asked = []

    def one(module):
        asked.append(module)
        if module == "A" and not sound:
            raise kernel.Refused("it is false")
        return kernel.Asked(module, "8.16.1", {}, [])

    stubs = {
        "installed": lambda: True,
        "modules": lambda: ["A", "B"],
        "content": str,
        "_local": lambda _: None,
    }
    stubs |= {
        "needs": {"A": (), "B": ("A",)}.get,
        "_folder": lambda _: tmp_path,
        "_ask_one": one,
        "_refusals": {},
    }
    for name, stub in stubs.items():
        monkeypatch.setattr(kernel, name, stub)
    assert [found.content for found in kernel.ask()] == (["A", "B"] if sound else [])
    assert asked == (["A", "B"] if sound else ["A"])
    why = {} if sound else {"A": "it is false", "B": "it builds on A, which Coq does not accept"}
    assert kernel._refusals == why


def test_the_least_of_three_is_that_of_one_and_the_least_of_the_others():
    x, y, z = sp.symbols("x y z", real=True)
    assert coq(sp.Min(x, y, z)) == "Rmin x (Rmin y z)"


def test_without_coq_the_kernel_cannot_be_demanded(monkeypatch):
    monkeypatch.setattr(kernel.shutil, "which", lambda name: None)
    with pytest.raises(SettingError, match="apt-get install coq"):
        kernel.ask()


def test_the_page_is_made_from_the_claims_and_the_record():
    shown = (ROOT / "docs" / "kernel.md").read_text(encoding="utf-8")
    assert shown == kernel_page.page(registry()), (
        "renew it: python -m proofs_check.kernel_page > docs/kernel.md"
    )


def test_the_page_defines_the_words_of_its_statements_and_those_in_their_definitions_alone():
    used = kernel_page._used()
    assert {"uniformity", "scale", "mean", "model", "one_round", "local_steps"} <= used
    assert not {"log_partial", "pairs", "weight_of"} & used  # of proofs


def test_a_refutation_tells_its_axioms_and_whether_the_kernel_was_asked(afresh):
    found = kernel.refuted("Reuse.printed_uniformity_is_false", detail="too small", domain="all K")()
    assert found.outcome == "fails"
    assert found.detail.startswith("too small; proved in Coq; axioms: ClassicalDedekindReals.sig_forall_dec")
    assert "the kernel was not asked here" in found.detail


def test_the_summary_says_whether_the_kernel_was_asked(afresh):
    said = " ".join(acdpp("verify", "--claim", "eq:omega-l2").stdout.split())
    assert "it was not asked here (acdpp verify --kernel), the record stands" in said


# an error in a formula for each file whose theorems are about formulas: the file below which it must be noticed
PLANTED = {
    "Reuse": ("4 * Rmin K t + 1", "4 * Rmin K t + 2"),
    "Lambert": ("sqrt rho * ln (1 - sqrt rho)", "rho * ln (1 - sqrt rho)"),
    "Control": ("rho ^ (T + 1)", "rho ^ (T + 2)"),
    "Buffers": ("2 * INR K - Rmin", "2 * INR K + Rmin"),
    "Learning": ("G * eta * (G * INR E", "G * eta * (G * INR E / 4"),
    "Law": (":= (1 - eta * h) ^ E.", ":= (1 + eta * h) ^ E."),
    "Stationary": ("/ (3 * INR K)", "/ (2 * INR K)"),
    "Finite": ("INR more * (1 - a ^ t) ^ 2", "INR more * (1 - a ^ t)"),
    "Regret": (":= 20 * B *", ":= 10 * B *"),
    "Design": (":= D * sigma / sqrt n", ":= D * sigma / n"),
    "Inside": (
        ":= 10 * B * sqrt Pdim * sqrt inverse_effective * sqrt (ln (Rmax",
        ":= 11 * B * sqrt Pdim * sqrt inverse_effective * sqrt (ln (Rmax",
    ),
    "Buying": ("2 * mean_age - 1", "2 * mean_age"),
    "Nobody": ("/ (2 * (variance", "/ (3 * (variance"),
}


def flat(part):
    """A file of formulas with each definition on one line."""
    return re.sub(r"\n +", " ", formulas.written(part))


def test_an_error_is_planted_for_every_file_about_formulas():
    about = {m for m in kernel.modules() if kernel.lines(m) and set(kernel.needs(m)) & set(formulas.FORMULAS)}
    assert set(PLANTED) == about
    for module, (right, _) in PLANTED.items():
        assert (
            sum(flat(part).count(right) for part in set(kernel.needs(module)) & set(formulas.FORMULAS)) == 1
        )


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return tmp_path_factory.mktemp("kernel")


@needs_coq
@pytest.mark.slow
@pytest.mark.parametrize("module", PLANTED)
def test_coq_refuses_the_file_where_a_formula_is_wrong(module, afresh, monkeypatch, shared):
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared))
    wrong = {part: flat(part).replace(*PLANTED[module]) for part in formulas.FORMULAS}
    monkeypatch.setattr(kernel, "written", wrong.__getitem__)
    monkeypatch.setattr(kernel, "modules", lambda: [*kernel.needs(module), module])
    accepted = {asked.content for asked in kernel.ask()}
    assert {name for name in kernel.modules() if kernel.content(name) not in accepted} == {module}
    found = kernel.theorem(f"{module}.{next(iter(kernel.lines(module)))}", domain=module)()
    assert found.outcome == "open"
    assert f"Coq does not accept {module}.v" in found.detail


@pytest.mark.parametrize("part", formulas.FORMULAS)
def test_what_coq_reads_has_the_values_of_theory(part):
    """Every definition, read back from its text and evaluated, against theory's function itself."""
    generator = random.Random(part)
    rows = [row if len(row) == 3 else (row[0].__name__, *row) for row in formulas.FORMULAS[part]]
    for name, function, arguments in rows:
        body = re.search(rf"Definition {name} .*?:= (.*)\.$", flat(part), re.M)[1]
        for _ in range(3):
            drawn = [number(word, generator) for word in arguments.split()]
            names = {key: value for values, _ in drawn for key, value in values.items()}
            told = function(*(argument for _, argument in drawn))
            assert math.isclose(evaluated(body, names), told, rel_tol=1e-9, abs_tol=1e-9), name


def number(word, generator):
    """Numbers for a word of a row: by their names in Coq, and as theory's function takes them."""
    kind, parts = formulas.TOGETHER.get(word, (None, word))
    names = {}
    for name, _, what in (part.partition(":") for part in parts.split()):
        whole, below_one = what or name in ("K", "t", "T"), name in ("rho", "a", "h", "eta")
        real = generator.uniform(0.1, 0.9 if below_one else 5) + 5 * (name == "N")  # log(N/Pdim) is real
        names[name] = generator.randint(1, 6) if whole else real
    return names, kind(**names) if kind else names[word.partition(":")[0]]


def test_a_sum_counts_by_a_name_that_nothing_else_has():
    real, index = sp.Symbol("i", positive=True), sp.Symbol("i", integer=True, positive=True)
    text = coq(sp.Sum(real**index / index, (index, 1, 3)))
    assert math.isclose(evaluated(text, {"i": 2.0}), 2 + 4 / 2 + 8 / 3)


def test_sources_can_be_read():
    """Lines of at most 100 characters; a proof that fills a screen has its idea in words above it or in it."""
    for module in kernel.modules():
        source = kernel.source(module)
        assert max(map(len, source.splitlines())) <= 100, module
        for proof in re.finditer(
            r"((?:\(\*(?:(?!\*\)).)*\*\)\n)?)^(?:Theorem|Lemma) (\w+)(.*?)Qed\.", source, re.M | re.S
        ):
            assert proof[3].count("\n") <= 40 or proof[1] or "(*" in proof[3], f"{module}.{proof[2]}"


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


def scripted(*command, cwd):
    """What Coq says of the two files below, where there is none."""
    *_, last = command
    if command[0] == "coqchk":
        found = "\n    Acdpp.Trusted.so" if last == "Acdpp.Trusted" else " <none>"
        return f"* Theory: Set is predicative\n* Axioms:{found}\n"
    text = (cwd / last).read_text(encoding="utf-8")
    if last != "query.v":
        return ""
    assert "Check @plain." in text
    answers = {"statement": "plain\n     : (1 + 1)%nat = 2%nat", "axioms": "Closed under the global context"}
    return "".join(f'     = "{name}"%string\n     : string\n{said}\n' for name, said in answers.items())


@pytest.mark.parametrize("coq", [pytest.param("real", marks=(needs_coq, pytest.mark.slow)), "scripted"])
def test_what_coq_answers_is_kept_and_recorded_and_what_is_assumed_is_refused(
    coq, afresh, monkeypatch, tmp_path
):
    if coq == "scripted":
        for name, stub in {"installed": lambda: True, "_version": lambda: "8.16.1", "_run": scripted}.items():
            monkeypatch.setattr(kernel, name, stub)
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "Plain.v").write_text("Theorem plain : 1 + 1 = 2.\nProof. reflexivity. Qed.\n")
    (folder / "Trusted.v").write_text("Axiom so : 0 = 1.\nTheorem trusted : 0 = 1.\nProof. exact so. Qed.\n")
    monkeypatch.setattr(kernel, "FOLDER", folder)
    monkeypatch.setattr(kernel, "RECORD", folder / "recorded.json")
    monkeypatch.setattr(kernel, "_refusals", {})
    (asked,) = kernel.ask()
    assert (asked.axioms, asked.states) == ([], {"plain": "(1 + 1)%nat = 2%nat"})
    assert kernel._local("Plain") == asked
    assert list(kernel._refusals.values()) == ["coqchk finds assumed: Acdpp.Trusted.so"]
    with pytest.raises(SettingError, match="Coq refuses 1 of the files"):
        kernel.record([asked])
    kernel._refusals.clear()
    kernel.record([asked])
    assert kernel.recorded("Plain") == asked.states
    assert kernel.RECORD.read_text(encoding="utf-8").endswith("}\n")
