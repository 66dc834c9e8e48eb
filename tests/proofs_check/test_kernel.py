"""The proofs in Coq: about theory's own formulas, on record with their sources, and refused when a formula is wrong."""

import json
import math
import random
import re
import subprocess
from dataclasses import asdict
from pathlib import Path

import pytest
import sympy as sp

from proofs_check import kernel_page
from proofs_check.engines import kernel
from proofs_check.kernel import formulas
from proofs_check.kernel.coq_terms import coq
from proofs_check.registry import registry
from tests.acdpp.program import acdpp
from tests.proofs_check.coq_terms import applied, evaluated
from tests.refused import refused

needs_coq = pytest.mark.skipif(not kernel.installed(), reason="needs Coq")
CACHED = (kernel.source, kernel.needs, kernel.content, kernel.lines, kernel.words, kernel.defined)
CACHED += (formulas.written,)


@pytest.fixture
def afresh(monkeypatch, tmp_path):
    """Nothing cached of the sources, before and after, and no answers from earlier questions."""

    def forget():
        for function in CACHED:
            function.cache_clear()

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    forget()
    yield forget
    monkeypatch.undo()
    forget()


@pytest.fixture
def folder(afresh, monkeypatch, tmp_path):
    """An empty folder of sources with a record of its own."""
    made = tmp_path / "sources"
    made.mkdir()
    monkeypatch.setattr(kernel, "FOLDER", made)
    monkeypatch.setattr(kernel, "RECORD", made / "recorded.json")
    return made


# --- sources and record ------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", formulas.FORMULAS)
def test_the_formulas_in_coq_are_those_of_theory(part):
    committed = (kernel.FOLDER / f"{part}.v").read_text(encoding="utf-8")
    assert committed == formulas.written(part), "renew them: python -m proofs_check.kernel.formulas"


def test_the_record_is_about_these_sources_and_rests_on_the_classical_reals_alone():
    recorded = json.loads(kernel.RECORD.read_text(encoding="utf-8"))
    assert set(recorded) == set(kernel.modules())
    for module, asked in recorded.items():
        assert asked["content"] == kernel.content(module), "ask again: python -m proofs_check"
        assert set(asked["states"]) == set(kernel.lines(module))
        assert set(asked["defines"]) == set(kernel.defined(module))
        assert set(asked["axioms"]) <= set(kernel.ALLOWED)


def test_every_theorem_serves_a_claim_and_no_proof_is_left_out():
    text = "".join(path.read_text() for path in Path(kernel.FOLDER.parent).rglob("*.py"))
    assumed = r"\b(Admitted|Axioms?|Parameters?|Conjecture|admit|give_up|Unset \w+ Checking)\b"
    innermost = r"^Section (\w+)\.((?!^Section ).)*?^End \1\."
    for module in kernel.modules():
        source = re.sub(r"\(\*.*?\*\)", "", kernel.source(module), flags=re.S)
        assert not re.search(assumed, source)
        while section := re.search(innermost, source, re.M | re.S):
            source = source.replace(section[0], "")
        assert not re.search(r"^(Section|End|Hypothes[ie]s|Variables?|Context|Let)\b", source, re.M)
        for name in kernel.lines(module):
            assert f'"{module}.{name}"' in text, f"{module}.{name} serves no claim"


def test_sources_can_be_read():
    """Lines of at most 100 characters; a proof that fills a screen has its idea in words above it or in it."""
    a_proof = r"((?:\(\*(?:(?!\*\)).)*\*\)\n)?)^(?:Theorem|Lemma) (\w+)(.*?)Qed\."
    for module in kernel.modules():
        source = kernel.source(module)
        assert max(map(len, source.splitlines())) <= 100, module
        for proof in re.finditer(a_proof, source, re.M | re.S):
            assert proof[3].count("\n") <= 40 or proof[1] or "(*" in proof[3], f"{module}.{proof[2]}"


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


def test_other_axioms_are_named_and_decide_nothing(afresh, monkeypatch, tmp_path):
    recorded = json.loads(kernel.RECORD.read_text(encoding="utf-8"))
    recorded["Reuse"]["axioms"].append("Reuse.it_is_so")
    (tmp_path / "recorded.json").write_text(json.dumps(recorded))
    monkeypatch.setattr(kernel, "RECORD", tmp_path / "recorded.json")
    found = kernel.theorem("Reuse.uniformity_closed")()
    assert (found.outcome, found.detail) == ("open", "Reuse.uniformity_closed rests on Reuse.it_is_so")


def test_evidence_tells_the_axioms_of_all_theorems_and_whether_the_kernel_was_asked(afresh):
    found = kernel.refuted("Reuse.printed_uniformity_is_false", detail="too small", domain="all K")()
    assert found.outcome == "fails"
    assert found.detail.startswith("too small; proved in Coq; axioms: ClassicalDedekindReals.sig_forall_dec")
    assert "the kernel was not asked here" in found.detail
    several = kernel.theorem(
        "Buying.capacity_holds", "Nobody.nobody_beats"
    )()  # the second has one axiom more
    assert "ClassicalDedekindReals.sig_not_dec" in several.detail
    said = " ".join(acdpp("verify", "--claim", "eq:omega-l2").stdout.split())
    assert "--kernel" in said


def test_the_page_is_made_from_the_claims_and_the_record_and_defines_only_words_that_it_uses():
    shown = Path(__file__).parents[2].joinpath("docs/kernel.md").read_text(encoding="utf-8")
    assert shown == kernel_page.page(registry()), "renew: python -m proofs_check.kernel_page > docs/kernel.md"
    defined = set(re.findall(r"^(?:Definition|Fixpoint|Record) (\w+)", shown, re.M))
    assert {"uniformity", "scale", "mean", "model", "one_round", "local_steps"} <= defined
    assert not {"log_partial", "pairs", "weight_of"} & defined  # of proofs alone


# --- expressions in Coq ------------------------------------------------------------------------------------


def flat(part):
    """A file of formulas with each definition on one line."""
    return re.sub(r"\n +", " ", formulas.written(part))


def number(word, generator):
    """Numbers for a word of a row: by their names in Coq, and as theory's function takes them."""
    kind, parts = formulas.TOGETHER.get(word, (None, word))
    names = {}
    for name, _, what in (part.partition(":") for part in parts.split()):
        whole, below_one = what or name in ("K", "t", "T"), name in ("rho", "a", "h", "eta")
        real = generator.uniform(0.1, 0.9 if below_one else 5) + 5 * (name == "N")  # log(N/Pdim) is real
        names[name] = generator.randint(1, 6) if whole else real
    return names, kind(**names) if kind else names[word.partition(":")[0]]


@pytest.mark.parametrize("part", formulas.FORMULAS)
def test_definitions_in_coq_have_the_values_of_theory(part):
    """Every definition, read back from its text and evaluated, against theory's function itself."""
    generator = random.Random(part)
    rows = [row if len(row) == 3 else (row[0].__name__, *row) for row in formulas.FORMULAS[part]]
    for name, function, arguments in rows:
        given, body = re.search(rf"Definition {name} (.*?) : R := (.*)\.$", flat(part), re.M).groups()
        kinds = [{"nat": int, "R": float}[kind] for kind in re.findall(r": (\w+)\)", given)]
        for _ in range(3):
            drawn = [number(word, generator) for word in arguments.split()]
            numbers = [value for values, _ in drawn for value in values.values()]
            told = function(*(argument for _, argument in drawn))
            typed = (kind(value) for kind, value in zip(kinds, numbers, strict=True))
            found = applied(evaluated(f"fun {given} => {body}"), *typed)
            assert math.isclose(found, told, rel_tol=1e-9, abs_tol=1e-9), name


def test_a_minimum_of_three_is_nested_and_a_sum_counts_by_a_name_that_nothing_else_has():
    assert coq(sp.Min(*sp.symbols("x y z", real=True))) == "Rmin x (Rmin y z)"
    real, index = sp.Symbol("i", positive=True), sp.Symbol("i", integer=True, positive=True)
    text = coq(sp.Sum(real**index / index, (index, 1, 3)))
    assert math.isclose(evaluated(text, i=2.0), 2 + 4 / 2 + 8 / 3)


# --- asking Coq --------------------------------------------------------------------------------------------

PLAIN = "Theorem plain : 1 + 1 = 2.\nProof. reflexivity. Qed.\n"
TRUSTED = "Axiom so : 0 = 1.\nTheorem trusted : 0 = 1.\nProof. exact so. Qed.\n"


def answer(command, cwd):
    """Coq's answer: exit status, output and errors. Files with `wrong` are refused."""
    *_, last = command
    if command[0] == "coqchk":
        own = "    Acdpp.Trusted.so\n" if last == "Acdpp.Trusted" else ""
        libraries = "".join(f"    {name}.so\n" for name in ("Coq", "Coquelicot", "mathcomp"))
        return 0, "", f"* Theory: Set is predicative\n* Axioms:\n{libraries}{own}* Guarded: <none>\n"
    if last == "--print-version":
        return 0, "8.16.1 4.14.1\n", ""
    text = Path(cwd, last).read_text()
    if "wrong" in text:
        return 1, "", "it is false"
    if last != "query.v":
        return 0, "", ""
    sources = "".join(path.read_text() for path in kernel.FOLDER.glob("*.v"))
    said = ""
    for kind, name in re.findall(r'^(Eval compute in "|Check @|Print )(?:Acdpp\.\w+\.)?(\w+)', text, re.M):
        if name == "Assumptions":
            said += "Axioms:\nso : 0 = 1" if "assumes" in sources else "Closed under the global context"
        elif kind.startswith("Eval"):
            said += f'     = "{name}"%string\n     : string\n'
        else:
            stated = re.search(rf"^(?:Theorem|Definition|Record) {name} :=? (.*)\.$", sources, re.M)[1]
            shown = stated if name != "plain" else "(1 + 1)%nat = 2%nat"
            said += ("{}\n     : {}\n" if kind == "Check @" else "{} = {}\n     : nat\n").format(name, shown)
    return 0, said, ""


def on_path(folder, *names):
    for name in names:
        (folder / name).touch(mode=0o755)


@pytest.fixture
def questions(monkeypatch, tmp_path):
    """Stand-ins for Coq's programs, and the last words of the commands that they were given."""
    asked = []

    def run(command, *, cwd, **_):
        asked.append(command[-1])
        return subprocess.CompletedProcess(command, *answer(command, cwd))

    (tmp_path / "bin").mkdir()
    on_path(tmp_path / "bin", "coqc", "coqchk")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(subprocess, "run", run)
    return asked


def test_without_both_programs_the_kernel_cannot_be_demanded(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    on_path(tmp_path, "coqc")
    assert not kernel.installed()
    assert "apt-get install coq" in refused(kernel.ask)


@pytest.mark.parametrize("by", [pytest.param("Coq", marks=(needs_coq, pytest.mark.slow)), "stand-ins"])
def test_answers_are_kept_and_recorded_and_assumptions_are_refused(by, folder, request, monkeypatch):
    monkeypatch.setattr(kernel, "COMMANDS", re.compile("Axiom|" + kernel.COMMANDS.pattern))
    if by != "Coq":
        questions = request.getfixturevalue("questions")
    (folder / "Plain.v").write_text(PLAIN)
    (folder / "Trusted.v").write_text(TRUSTED)
    (asked,) = kernel.ask()
    assert (asked.axioms, asked.states) == ([], {"plain": "(1 + 1)%nat = 2%nat"})
    assert re.fullmatch(r"8\.\d+\.\d+", asked.coq)
    against = kernel.theorem("Trusted.trusted")()
    assert (against.outcome, "coqchk finds assumed: Acdpp.Trusted.so" in against.detail) == ("open", True)
    assert "Trusted" in refused(kernel.record, [asked])
    (folder / "Trusted.v").unlink()
    kernel.record([asked])
    assert kernel.recorded("Plain") == asked.states
    assert kernel.RECORD.read_text(encoding="utf-8").endswith("}\n")
    assert "asked here" in kernel.theorem("Plain.plain")().detail
    if by != "Coq":
        before = list(questions)
        assert kernel.ask() == [asked]
        assert questions == before  # nothing is asked twice


@pytest.mark.parametrize("lower", ["plain", "wrong"])
def test_a_file_that_builds_on_a_refused_file_is_not_asked(lower, folder, questions):
    (folder / "A.v").write_text(f"Theorem {lower} : 1 = 1.\nProof. reflexivity. Qed.\n")
    (folder / "B.v").write_text("From Acdpp Require Import A.\n" + PLAIN)
    asked = kernel.ask()
    assert len(asked) == (2 if lower == "plain" else 0)
    if asked:
        kernel.record(asked)
    assert ("B.v" in questions) == (lower == "plain")
    found = [kernel.theorem(f"A.{lower}")(), kernel.theorem("B.plain")()]
    assert [e.outcome for e in found] == ["holds" if lower == "plain" else "open"] * 2
    if lower == "wrong":
        assert "it is false" in found[0].detail
        assert "builds on A" in found[1].detail


BASE = "Definition two := 2.\nTheorem base : two = 2.\nProof. reflexivity. Qed.\n"
MORE = "From Acdpp Require Import Base.\nTheorem more : forall n, two + n = n + 2.\nProof. proved. Qed.\n"
ANOTHER_AXIOM = "More has other axioms than on record: so"
MORE += "Theorem other : 1 = 1.\nProof. reflexivity. Qed.\n"


@pytest.mark.parametrize(
    ("file", "old", "new", "named", "left"),
    [
        ("More", "forall n, two", "forall n, n < n -> two", "More.more", ["Base.base", "More.other"]),
        ("More", "forall n, two", "forall n : bool, two", "More.more", ["Base.base", "More.other"]),
        ("Base", "two := 2", "two := 3", "Base.two", []),
        ("Base", "Theorem base : two = 2", "Theorem base : 2 = 2", "Base.base", ["More.more", "More.other"]),
        ("More", "Proof. proved", "Proof. assumes", ANOTHER_AXIOM, ["Base.base"]),
    ],
    ids=["a vacuous premise", "a smaller domain", "a constant", "another statement", "an axiom"],
)
def test_what_changed_decides_nothing_and_is_named(file, old, new, named, left, folder, questions, afresh):
    for name, text in {"Base": BASE, "More": MORE}.items():
        (folder / f"{name}.v").write_text(text)
    kernel.record(kernel.ask())
    assert kernel.changes(kernel.ask()) == []
    place = folder / f"{file}.v"
    place.write_text(place.read_text().replace(old, new))
    afresh()
    told = kernel.changes(kernel.ask())
    assert any(sentence.startswith(named) for sentence in told)
    theorems = ("Base.base", "More.more", "More.other")
    assert [name for name in theorems if kernel.theorem(name, domain=new)().outcome == "holds"] == left


HIDING = {  # what may stand before a theorem, or in its proof, and change what its statement means
    "Notation \"'plain' x\" := x (at level 10).": "Notation",
    "Local Definition is_lim_seq (n : nat) := True.": "Local",
    "#[local] Definition hidden := True.": "#",
    "Module Hide.\nEnd Hide.\nExport Hide.": "Module",
    "Lemma negb : bool -> bool.\nProof. exact (fun _ => false). Defined.": "Defined",
    " Definition negb (x : bool) := false.": "Definition negb",
    "Definition negb' (x : bool) := false.": "Definition negb'",
    'Lemma one : 1 = 1.\nProof.\n  { Infix "<" := le. } reflexivity.\nQed.': "Infix",
    "(* (* inside *) *) Axiom so : False.": "Axiom",
}


@pytest.mark.parametrize(("hiding", "named"), HIDING.items(), ids=HIDING.values())
def test_commands_that_may_hide_a_meaning_are_refused(hiding, named, folder, questions, afresh):
    known = "(* Notation *)\nDefinition two : nat.\nProof. exact 2. Defined.\nRecord law := { mean : R }.\n"
    (folder / "Plain.v").write_text(known + PLAIN)
    kernel.record(kernel.ask())
    (folder / "Plain.v").write_text(f"{hiding}\n{PLAIN}")
    afresh()
    assert kernel.ask() == []
    found = kernel.theorem("Plain.plain", domain=hiding)()
    assert (found.outcome, named in found.detail) == ("open", True)


def test_what_is_gone_and_what_a_notation_hides_are_named_in_order(folder, questions, afresh):
    gone = "abcdefg"
    (folder / "Plain.v").write_text("".join(f"Definition {name} := 1.\n" for name in gone) + PLAIN)
    kernel.record(kernel.ask())
    known = json.loads(kernel.RECORD.read_text())
    known["Plain"]["exact"]["plain"] = "another"
    kernel.RECORD.write_text(json.dumps(known))
    (folder / "Plain.v").write_text(PLAIN)
    afresh()
    *told, hidden = kernel.changes(kernel.ask())
    assert told == [f"Plain.{name} is not as recorded: nothing in place of {name} = 1 : nat" for name in gone]
    assert hidden.startswith("Plain.plain is printed as recorded, but")
    assert kernel.theorem("Plain.plain", domain="gone")().detail == told[0]


def test_a_file_without_theorems_must_be_on_record_too(folder, questions, afresh):
    (folder / "Plain.v").write_text(PLAIN)
    kernel.record(kernel.ask())
    (folder / "Lim_seq.v").write_text("Lemma helper : 1 = 1.\nProof. reflexivity. Qed.\n")
    afresh()
    assert kernel.changes(kernel.ask()) == ["Lim_seq.v is not on record"]


def test_a_file_of_formulas_that_is_not_theorys_is_named(folder):
    (folder / "Sums.v").write_text("")
    (folder / "LawFormulas.v").write_text(formulas.written("LawFormulas"))
    assert kernel.changes([]) == []
    (folder / "LawFormulas.v").write_text(formulas.written("LawFormulas").replace("1", "2", 1))
    (told,) = kernel.changes([])
    assert told.startswith("LawFormulas.v is not what theory's formulas give")


def test_answers_are_kept_in_the_cache_of_the_user_for_as_long_as_coq_is_installed(
    folder, questions, monkeypatch, tmp_path
):
    (folder / "Plain.v").write_text(PLAIN)
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    (asked,) = kernel.ask()
    (kept,) = (tmp_path / ".cache/acdpp/kernel").rglob("asked.json")
    assert json.loads(kept.read_text()) == asdict(asked)
    kernel.record([asked])
    (tmp_path / "bin" / "coqchk").unlink()  # what is kept counts where both programs are
    assert "not asked here" in kernel.theorem("Plain.plain")().detail


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
    "Inside": tuple(f":= {n} * B * sqrt Pdim * sqrt inverse_effective * sqrt (ln (Rmax" for n in (10, 11)),
    "Buying": ("2 * mean_age - 1", "2 * mean_age"),
    "Nobody": ("/ (2 * (variance", "/ (3 * (variance"),
    "Information": ("/ (2 * samples)", "/ (3 * samples)"),
}


def test_an_error_is_planted_for_every_file_about_formulas():
    parts = {m: set(kernel.needs(m)) & set(formulas.FORMULAS) for m in kernel.modules() if kernel.lines(m)}
    assert set(PLANTED) == {module for module, used in parts.items() if used}
    for module, (right, _) in PLANTED.items():
        assert sum(flat(part).count(right) for part in parts[module]) == 1


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


FALSE = {
    "an axiom with a prime": "Axiom so' : 0 = 1.\nTheorem wrong : 0 = 1.\nProof. exact so'. Qed.\n",
    "an axiom with a known name": "Axiom classic : 0 = 1.\nTheorem wrong : 0 = 1.\nProof. exact classic. Qed.\n",
    "a recursion without end": "Unset Guard Checking.\nFixpoint loop (n : nat) : False := loop n.\n"
    "Theorem wrong : False.\nProof. exact (loop 0). Qed.\n",
}


@needs_coq
@pytest.mark.slow
@pytest.mark.parametrize("text", FALSE.values(), ids=FALSE)
def test_a_proof_from_something_assumed_is_refused(folder, text, monkeypatch):
    monkeypatch.setattr(kernel, "COMMANDS", re.compile("Axiom|Unset|" + kernel.COMMANDS.pattern))
    (folder / "Wrong.v").write_text(text)
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
        assert asdict(now) == then, module
    assert kernel.changes(list(asked.values())) == []
