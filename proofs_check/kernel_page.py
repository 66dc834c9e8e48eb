"""The statements that Coq has proved: `python -m proofs_check.kernel_page > docs/kernel.md` renews the page."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

from proofs_check import ledger
from proofs_check.claim import Claim, Role
from proofs_check.engines import kernel
from proofs_check.kernel.formulas import FORMULAS
from proofs_check.registry import registry
from proofs_check.text import terminal

__all__ = ["page", "proved"]

LEAD = Path(__file__).with_suffix(".md").read_text(encoding="utf-8")
# theorems that serve no claim of their own: definitions have instances
EXAMPLES: tuple[str, ...] = ("Means.finite_mean", "Means.countable_mean", "Means.waits_have_a_mean")
EXAMPLES += ("Means.mean_of_a_density", "Means.a_past_exists", "Means.such_samples_exist")
EXAMPLES += ("Nobody.such_a_learner_exists",)
LEMMAS = {"Learning.projection", "Learning.unbiased", "Control.constant_is_inside"}
GROUPS = (
    "Of the paper, refuted",
    "Of the paper, established",
    "What holds instead",
    "Of our own",
    "Proved for fewer than half of their parts",
)


@dataclass(frozen=True)
class ProvedStatement:
    """A statement with theorems in Coq: its group, claim, title and verdict, and the theorems of its parts."""

    group: str
    claim: str
    said: str
    verdict: str
    parts: int
    theorems: dict[str, tuple[str, ...]]
    besides: frozenset[str]  # parts that other links of the argument carry too


def proved(claims: Sequence[Claim]) -> Iterator[ProvedStatement]:
    """Statements with theorems in Coq, in the order of the claims."""
    recorded = {entry.id: entry for entry in ledger.read()}
    roles: tuple[Role, ...] = ("stated", "hypotheses", "corrected")
    for claim in claims:
        for role in roles:
            theorems: dict[str, tuple[str, ...]] = {}
            besides = set()
            for part, check in claim.checks_for(role):
                names = getattr(check, "theorems", ())
                theorems |= {part: (*theorems.get(part, ()), *names)} if names else {}
                besides |= set() if names or getattr(check, "confirms", False) else {part}
            if theorems:
                yield _proved_statement(claim, role, theorems, frozenset(besides), recorded[claim.id])


def _proved_statement(
    claim: Claim,
    role: Role,
    theorems: dict[str, tuple[str, ...]],
    besides: frozenset[str],
    known: ledger.Entry,
) -> ProvedStatement:
    of = known.corrected if role == "corrected" and known.corrected else known.stated
    own = claim.kind == "addition"
    refuted = any(f.method == "kernel" and f.outcome == "fails" for f in of.evidence)
    parts = len(dict.fromkeys(part for part, _ in claim.checks_for(role)))
    few = 2 * len(theorems) < parts
    group = GROUPS[4 if few else 3 if own else 2 if role == "corrected" else 0 if refuted else 1]
    said = of.title + (", with its added hypotheses" if role == "hypotheses" else "")
    besides = frozenset() if refuted else besides
    return ProvedStatement(group, claim.id, said, of.qualified, parts, theorems, besides)


def page(claims: Sequence[Claim]) -> str:
    """The axioms, the statements with their theorems, and every theorem in words and in Coq."""
    rows = list(proved(claims))
    axioms = [f"| `{name}` | {says} |" for name, says in kernel.ALLOWED.items()]
    few = [row for row in rows if row.group == GROUPS[4]]
    lemmas = [row for row in few if LEMMAS.issuperset(sum(row.theorems.values(), ()))]
    counts = {
        "count": len(rows),
        "whole": sum(len(row.theorems) == row.parts and not row.besides for row in rows),
    }
    counts |= {"few": len(few), "lemmas": len(lemmas)}
    lines = [LEAD.format(examples=_linked(EXAMPLES), axioms="\n".join(axioms), **counts).rstrip()]
    for group in GROUPS:
        lines += ["", f"### {group}", ""]
        lines += [_listed(row) for row in rows if row.group == group]
    used = _used()
    for module in kernel.modules():
        words = [text for name, text in kernel.defined(module).items() if name in used]
        if words or kernel.lines(module):
            lines += ["", f"## {module}.v", *_words(module, words), *_theorems(module)]
    return "\n".join([*lines, ""])


def _used() -> set[str]:
    """Names used in a statement, or in the definition of a used name."""
    every = {name: text for module in kernel.modules() for name, text in kernel.defined(module).items()}
    texts = [text for module in kernel.modules() for text in kernel.recorded(module).values()]
    used: set[str] = set()
    while texts:
        new = set(re.findall(r"\w+", texts.pop())) & every.keys() - used
        texts += [every[name] for name in new]
        used |= new
    return used


def _words(module: str, definitions: Sequence[str]) -> Iterator[str]:
    """The definitions that a file's statements use."""
    if definitions:
        whose = "Theory's formulas, as Coq gets them:" if module in FORMULAS else "Definitions by hand:"
        yield "\n{}\n\n```coq\n{}\n```".format(whose, "\n".join(definitions))


def _listed(row: ProvedStatement) -> str:
    """A line with claim, title, verdict, and theorems part by part."""
    named = ((part, _linked(names)) for part, names in row.theorems.items())
    shown = [f"{terminal(part)}: {links}" if part else links for part, links in named]
    whole = len(row.theorems.keys() - row.besides)
    touched = f", {len(row.theorems) - whole} in part" if len(row.theorems) > whole else ""
    share = f" ({whole} of {row.parts} parts{touched})" if whole < row.parts else ""
    return f"- `{row.claim}`: {terminal(row.said)}. *{row.verdict}*{share}. {'; '.join(shown)}."


def _theorems(module: str) -> Iterator[str]:
    said, states = kernel.words(module), kernel.recorded(module)
    for name, line in kernel.lines(module).items():
        yield f"\n### {module}.{name}"
        yield f"\n{said[name]} (`proofs_check/kernel/{module}.v`, line {line})"
        yield f"\n```coq\n{_folded(states[name])}\n```"


def _folded(statement: str) -> str:
    """For a terminal; Coq takes any white space."""
    return fill(statement, 78, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _linked(names: Sequence[str]) -> str:
    return ", ".join(f"[`{name}`](#{name.replace('.', '').lower()})" for name in names)


if __name__ == "__main__":
    print(page(registry()), end="")
