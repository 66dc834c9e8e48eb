"""Proofs in Coq, accepted by its kernel.

A positive outcome is a proof; a proof that Coq does not accept decides nothing. A theorem and its proof stand in a file
of `proofs_check/kernel`, about formulas generated from theory's functions and definitions by hand. `ask` compiles every
file, has `coqchk` check the result, and reads the axioms of its theorems from `Print Assumptions`; answers are kept by
content.

The record has every statement, every definition that it may use, and the axioms, as Coq prints them. Where Coq was
asked, what it accepts must be what is on record: a proof of a changed statement decides nothing. Where Coq was not
asked, the record decides, and the evidence says so; it names the sources by their content, formulas of theory
included, so that it does not apply to any other text.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from proofs_check.evidence import Evidence, holds, refutes, undecided
from proofs_check.kernel.formulas import FORMULAS, written
from theory.setting import SettingError

__all__ = ["ALLOWED", "Asked", "Refused", "ask", "changes", "defined", "installed", "lines", "modules"]
__all__ += ["record", "recorded", "refuted", "serving", "theorem", "words"]

FOLDER = Path(__file__).parent.parent / "kernel"
RECORD = FOLDER / "recorded.json"
PREFIX = "Acdpp"
INSTALL = "Coq is not installed: apt-get install coq libcoq-coquelicot"
PROTOCOL = 5  # version of the questions; answers to another version are not reused
LIBRARIES = ("Coq.", "Coquelicot.", "mathcomp.")  # may assume axioms; our files may not
# the axioms of Coq's classical reals, as Coq prints them
ALLOWED = {
    "ClassicalDedekindReals.sig_forall_dec": "whether some number has a decidable property can be decided",
    "ClassicalDedekindReals.sig_not_dec": "whether a negation holds can be decided",
    "FunctionalExtensionality.functional_extensionality_dep": "functions with equal values are equal",
    "Classical_Prop.classic": "excluded middle",
    "ClassicalEpsilon.constructive_indefinite_description": "what exists can be chosen",
}
THEOREM = re.compile(r"^Theorem\s+([A-Za-z_]\w*)", re.M)  # helpers are lemmas
DEFINITION = re.compile(r"^(?:Definition|Fixpoint|Record)\s+(\w+).*?\.$", re.M | re.S)
NEEDS = re.compile(rf"^From {PREFIX} Require Import ([\w ]+)\.", re.M)
COMMENT = re.compile(r"\(\*(?:(?!\(\*|\*\)).)*\*\)", re.S)
COMMAND = re.compile(
    r"(?:^|\.\s)(\s*)(?:[-+*{}]|\d+:|\s)*([#A-Z]\w*)(?:\s+([\w']+))?"
)  # a sentence's first words
# what our files may say: a notation, a module or a local name could change what a printed statement means
COMMANDS = re.compile(
    "Arguments|Context|Defined|End|From|Hypothes[ei]s|Implicit|Lemma|Let|Ltac|Open|Proof|Qed|Require|Section|Variables?"
)
Texts = dict[str, str]


class Refused(ValueError):
    """Coq's reason for not accepting a file."""


@dataclass(frozen=True)
class Asked:
    """The kernel's answer on a file: Coq's version, its theorems' statements, its definitions, and the axioms.

    `exact` has a hash of each statement and definition as printed without notations and with the files of names, which
    tells what the text hides; another version of Coq has other hashes.
    """

    content: str
    coq: str
    states: Texts
    defines: Texts
    exact: Texts
    axioms: list[str]


# --- the sources -------------------------------------------------------------------------------------------


@cache
def source(module: str) -> str:
    """The text that Coq gets; formulas come from theory, whatever is in the folder."""
    return written(module) if module in FORMULAS else (FOLDER / f"{module}.v").read_text(encoding="utf-8")


@cache
def needs(module: str) -> tuple[str, ...]:
    """Our files that this file builds on, the lowest first."""
    direct = [name for line in NEEDS.findall(source(module)) for name in line.split()]
    return tuple(dict.fromkeys(name for below in direct for name in (*needs(below), below)))


@cache
def content(module: str) -> str:
    """Hash of the text of a file and of all that it builds on."""
    texts = "\0".join(source(name) for name in (*needs(module), module))
    return _hash(texts)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def modules() -> list[str]:
    """All files, in the order in which they build on each other."""
    names = sorted(path.stem for path in FOLDER.glob("*.v"))
    return list(dict.fromkeys(name for one in names for name in (*needs(one), one)))


@cache
def lines(module: str) -> dict[str, int]:
    text = source(module)
    return {found[1]: text.count("\n", 0, found.start()) + 1 for found in THEOREM.finditer(text)}


@cache
def defined(module: str) -> dict[str, str]:
    return {found[1]: found[0] for found in DEFINITION.finditer(source(module))}


# --- the kernel --------------------------------------------------------------------------------------------


def installed() -> bool:
    return all(map(shutil.which, ("coqc", "coqchk")))


def _kept() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "acdpp" / "kernel"


def _run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(" ".join((done.stderr or done.stdout).split())[-600:])
    return done.stdout + (done.stderr if command[0] == "coqchk" else "")  # with coqchk's summary


@cache
def _version() -> str:
    return _run("coqc", "--print-version", cwd=Path.cwd()).split()[0]


def _folder(module: str) -> Path:
    """Folder of the answers, by content, version of the questions, and version of Coq."""
    return _kept() / f"{content(module)}-{PROTOCOL}-{_version()}"


def _compiled(module: str) -> list[str]:
    """Options by which Coq finds what a file builds on."""
    folders = [_folder(name) for name in (*needs(module), module)]
    return [word for folder in folders for word in ("-Q", str(folder), PREFIX)]


def _plain(module: str) -> None:
    """Refuse a file with other commands than `COMMANDS`, and one whose theorems and definitions are not all seen."""
    text, names, kind = source(module), [*lines(module), *defined(module)], ""
    while text != (text := COMMENT.sub("", text)):
        pass
    for before, command, name in COMMAND.findall(text):
        if command in ("Theorem", "Definition", "Fixpoint", "Record"):
            if name not in names or before.rpartition("\n")[2]:
                raise Refused(f"{command} {name} is not at the beginning of a line, or its name has a prime")
        elif not COMMANDS.fullmatch(command) or (command == "Defined" and kind != "Definition"):
            raise Refused(
                f"it has the command {command} after {kind or 'its beginning'}, which may hide a meaning"
            )
        kind = kind if command in ("Proof", "Qed", "Defined") else command


def _ask_one(module: str) -> Asked:
    """Compile a file, check it with the kernel alone, and read its axioms."""
    _plain(module)
    folder = _folder(module)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{module}.v").write_text(source(module), encoding="utf-8")
    options = _compiled(module)
    _run("coqc", "-q", *options, f"{module}.v", cwd=folder)
    _nothing_assumed(_run("coqchk", "-silent", "-o", *options, "-norec", f"{PREFIX}.{module}", cwd=folder))
    return Asked(content(module), _version(), *_questioned(module, options))


def _questioned(module: str, options: Sequence[str]) -> tuple[Texts, Texts, Texts, list[str]]:
    """Each theorem's statement and each definition as Coq prints it, their hashes, and the axioms of all theorems."""
    names, defines = list(lines(module)), list(defined(module))
    asked = [f"Check @{PREFIX}.{module}.{name}." for name in names]
    asked += [f"Print {PREFIX}.{module}.{name}." for name in defines]
    marked = 'Eval compute in "answer"%string.\n'
    text = [
        f"Require Import String.\nRequire {PREFIX}.{module}.\nSet Printing Depth 100000.\nSet Printing Width 100.",
        *(f"{marked}Set Printing All.\n{question}\nUnset Printing All." for question in asked),
        f"Require Import Reals.\nFrom {PREFIX} Require Import {' '.join((*needs(module), module))}.",
        "Open Scope R_scope.",
        *(marked + question for question in asked),
        "Definition all_of_them := "
        + "".join(f"conj (@{PREFIX}.{module}.{name}) (" for name in names)
        + f"I{')' * len(names)}.",
        'Eval compute in "axioms"%string.\nPrint Assumptions all_of_them.\n',
    ]
    with TemporaryDirectory() as scratch:
        Path(scratch, "query.v").write_text("\n".join(text), encoding="utf-8")
        said = _run("coqc", "-q", *options, "query.v", cwd=Path(scratch))
    *answers, rest = re.split(r'^\s*= "\w+"%string\n\s*: string\n', said, flags=re.M)[1:]
    flat = [" ".join(answer.split()) for answer in answers]
    exact = {name: _hash(told) for name, told in zip((*names, *defines), flat, strict=False)}
    states = {
        name: told.partition(":")[2].strip() for name, told in zip(names, flat[len(asked) :], strict=False)
    }
    return states, dict(zip(defines, flat[len(asked) + len(names) :], strict=True)), exact, _axioms(rest)


def _axioms(said: str) -> list[str]:
    """Names under “Axioms:”; any other line, such as a recursion assumed to end, is refused.

    >>> _axioms("Axioms:\\nso' : forall x,\\n  x = 0\\nReals.long_name\\n  : Prop")
    ['Reals.long_name', "so'"]
    """
    head, *lines = said.strip().splitlines() or [""]
    if head == "Closed under the global context" and not lines:
        return []
    found = [re.fullmatch(r"([\w.']+)(\s*:.*)?", line) for line in lines if not line.startswith(" ")]
    if head != "Axioms:" or not found or not all(found):
        raise Refused(f"Coq's answer on axioms is not understood: {' '.join(said.split())[:300]}")
    return sorted(match[1] for match in found if match)


def _nothing_assumed(summary: str) -> None:
    """Refuse a `coqchk -o` summary with an axiom of our own, type-in-type, or unsafe recursion or positivity.

    >>> _nothing_assumed("* Theory: Set is predicative\\n* Axioms:\\n    Acdpp.Law.so\\n* Guarded: by trust")
    Traceback (most recent call last):
    proofs_check.engines.kernel.Refused: coqchk finds assumed: Acdpp.Law.so, by trust
    >>> _nothing_assumed("")
    Traceback (most recent call last):
    proofs_check.engines.kernel.Refused: coqchk finds assumed: no summary
    """
    title, assumed = "", []
    for line in summary.splitlines():
        if line.startswith("* "):
            title, _, rest = line.partition(":")
            assumed += [rest.strip()] if title != "* Theory" and rest.strip() not in ("", "<none>") else []
        elif line.strip() and title:
            library = title == "* Axioms" and line.strip().startswith(LIBRARIES)
            assumed += [] if library else [line.strip()]
    if not title or assumed:
        raise Refused(f"coqchk finds assumed: {', '.join(assumed) or 'no summary'}")


def ask(report: Callable[[str], None] = lambda module: None) -> list[Asked]:
    """The kernel's answers on every file that it accepts; Coq must be installed."""
    if not installed():
        raise SettingError(f"{INSTALL} (Debian, Ubuntu), or leave out --kernel")
    found = []
    for module in modules():
        kept = _local(module)
        if kept is None:
            try:
                if bad := [below for below in needs(module) if content(below) in _refusals]:
                    raise Refused(f"it builds on {', '.join(bad)}, which Coq does not accept")
                kept = _ask_one(module)
            except Refused as error:
                _refusals[content(module)] = str(error)
            else:
                path = _folder(module) / "asked.json"
                path.write_text(json.dumps(asdict(kept)), encoding="utf-8")
        report(module)
        found += [kept] if kept else []
    return found


_refusals: dict[str, str] = {}


def _local(module: str) -> Asked | None:
    if not installed():
        return None
    path = _folder(module) / "asked.json"
    return Asked(**json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else None


@cache
def _read(record: Path) -> dict[str, Any]:
    return dict(json.loads(record.read_text(encoding="utf-8"))) if record.is_file() else {}


def recorded(module: str, part: str = "states") -> dict[str, str]:
    """Recorded statements of a file's theorems, or, for `defines`, its definitions as Coq prints them."""
    return dict(_read(RECORD)[module][part])


def record(found: Sequence[Asked]) -> None:
    """Write the kernel's answers to the record, for use without Coq."""
    if refused := [module for module in modules() if content(module) in _refusals]:
        raise SettingError(f"nothing is recorded, since Coq refuses {', '.join(refused)}")
    _read.cache_clear()
    by_content = {content(module): module for module in modules()}
    document = {by_content[asked.content]: asdict(asked) for asked in found}
    RECORD.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def changes(found: Sequence[Asked]) -> list[str]:
    """Differences of the kernel's answers from the record, and files of formulas that are not as theory gives them."""
    by_content = {content(module): module for module in modules()}
    told = [
        f"{module}.v is not what theory's formulas give, which Coq was asked about: "
        "python -m proofs_check.kernel.formulas writes it"
        for module in FORMULAS
        if (FOLDER / f"{module}.v").is_file()
        and (FOLDER / f"{module}.v").read_text(encoding="utf-8") != written(module)
    ]
    return told + [change for asked in found for change in _changed(by_content[asked.content], asked)]


def _changed(module: str, asked: Asked, theorems: Sequence[str] | None = None) -> list[str]:
    """Differences of an answer on a file from its record, in all or some theorems."""
    known = _read(RECORD).get(module)
    if known is None:
        return [f"{module}.v is not on record"]
    now, then = asked.states | asked.defines, known["states"] | known["defines"]
    told = []
    for name in sorted({*now, *then} if theorems is None else {*theorems, *asked.defines, *known["defines"]}):
        if now.get(name) != then.get(name):
            said = f"{now.get(name, 'nothing')} in place of {then.get(name, 'nothing')}"
            told.append(f"{module}.{name} is not as recorded: {said}")
        elif asked.coq == known["coq"] and asked.exact.get(name) != known["exact"].get(name):
            told.append(
                f"{module}.{name} is printed as recorded, but a notation or a name hides a difference"
            )
    if asked.axioms != known["axioms"]:
        told.append(f"{module} has other axioms than on record: {', '.join(asked.axioms) or 'none'}")
    return told


# --- evidence ----------------------------------------------------------------------------------------------


@cache
def theorem(*names: str, domain: str = "all that the theorem quantifies over") -> Callable[[], Evidence]:
    """A check that these theorems (`Reuse.uniformity`) are proved."""

    def proved_in_coq() -> Evidence:
        found = [_of(name) for name in names]
        missing = [one.against for one in found if one.against]
        certificate = {name: one.shown for name, one in zip(names, found, strict=True)}
        if missing:
            return undecided("kernel", "; ".join(missing), domain=domain, certificate=certificate)
        axioms = dict.fromkeys(axiom for one in found for axiom in one.axioms)
        asked = "; ".join(dict.fromkeys(one.asked for one in found))
        detail = f"proved in Coq; axioms: {', '.join(axioms) or 'none'}; {asked}"
        return holds("kernel", detail, domain=domain, certificate=certificate, pieces=len(names))

    return serving(proved_in_coq, *names)


def refuted(*names: str, detail: str, domain: str) -> Callable[[], Evidence]:
    """A check against a statement: that these theorems, which deny it, are proved."""
    negation = theorem(*names, domain=domain)

    def denied() -> Evidence:
        found = negation()
        return refutes(found, f"{detail}; {found.detail}")

    return serving(denied, *names)


def serving(check: Callable[..., Evidence], *names: str) -> Callable[..., Evidence]:
    """Attach to a check the names of the theorems that it needs."""
    setattr(check, "theorems", names)  # noqa: B010
    return check


@cache
def words(module: str) -> dict[str, str]:
    """The comment above each theorem; empty where there is none."""
    text = source(module)
    above = {found[1]: text[: found.start()].rstrip() for found in THEOREM.finditer(text)}
    return {
        name: " ".join(before[before.rindex("(*") + 2 : -2].split()) if before.endswith("*)") else ""
        for name, before in above.items()
    }


@dataclass(frozen=True)
class _Found:
    """A theorem as shown, the reason against it, its axioms, and the source of the answer."""

    shown: dict[str, str]
    against: str = ""
    axioms: tuple[str, ...] = ()
    asked: str = ""


def _of(name: str) -> _Found:
    module, _, own = name.partition(".")
    place = f"proofs_check/kernel/{module}.v, line {lines(module)[own]}"
    shown = {"says": words(module)[own], "stands in": place}
    asked, who = _local(module), "asked here: Coq {} and coqchk"
    if asked is None:
        if content(module) in _refusals:
            return _Found(shown, f"Coq does not accept {module}.v: {_refusals[content(module)]}")
        known = _read(RECORD).get(module)
        if known is None or known["content"] != content(module):
            why = f"the kernel was not asked, and {module}.v or its formulas are not those on record"
            return _Found(shown, why)
        asked, who = Asked(**known), "the kernel was not asked here: on record with Coq {}"
    else:
        below = [
            change for file in needs(module) if (at := _local(file)) for change in _changed(file, at, ())
        ]
        if changed := [*below, *_changed(module, asked, [own])]:
            return _Found(shown, changed[0])
    unknown = [axiom for axiom in asked.axioms if axiom not in ALLOWED]
    against = f"{name} rests on {', '.join(unknown)}" if unknown else ""
    return _Found(shown | {"in Coq": asked.states[own]}, against, tuple(asked.axioms), who.format(asked.coq))
