"""The report in Markdown: counts, contents, then every case, with formulas in LaTeX between `$$`.

A heading is only a label, whose link is known: GitHub and Python-Markdown turn `eq:vck-exact` into `#eqvck-exact`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from acdpp.output import pm
from acdpp.report.contents import GROUPS, LETTER, MARKS, MEANING, PARTS
from acdpp.report.escapes import LABEL, formula
from acdpp.report.findings import against, plain
from proofs_check.ledger import about
from proofs_check.text import terminal

__all__ = ["anchor", "markdown"]

UNMARKED = {
    r"\{": r"\lbrace ",
    r"\}": r"\rbrace ",
    r"\|": r"\Vert ",
    r"\,": r"\thinspace ",
    r"\!": r"\negthinspace ",
    r"\;": r"\thickspace ",
    r"\ ": "~",
    "<": r"\lt ",
    ">": r"\gt ",
}


def anchor(label: str) -> str:
    """The anchor of a case's heading.

    >>> anchor("eq:vck-exact/range")
    'eqvck-exactrange'
    """
    return re.sub(r"[^\w -]", "", label).lower().replace(" ", "-")


def markdown(document: Mapping[str, Any]) -> str:
    """The whole report."""
    claims = document["claims"]
    known = {claim["id"] for claim in claims}
    sections = list(dict.fromkeys(claim["section"] for claim in claims))
    lines = [*_summary(document), *_contents(claims, sections)]
    for section in sections:
        lines.append(f"## {_heading(section)}")
        for claim in claims:
            if claim["section"] == section:
                lines += _case(claim, known)
    lines += _results(document.get("results", ()))
    return "\n\n".join(lines) + "\n"


def _heading(section: str) -> str:
    return PARTS.get(section, section or "Claims")


def _summary(document: Mapping[str, Any]) -> Iterable[str]:
    summary = document["summary"]
    yield "# The verdicts on the paper"
    counted = "1 claim" if summary["total"] == 1 else f"{summary['total']} claims"
    yield (
        f"{counted}, decided by acdpp {document['version']} with seed {document['seed']}. A verdict is derived from "
        "the evidence and is about the statement as it is printed; what holds instead has a verdict of its own. "
        "`acdpp verify --claim LABEL --explain` prints a whole case with its certificates."
    )
    if document.get("differences"):
        told = "\n".join(f"- {_escaped(sentence)}" for sentence in document["differences"])
        yield f"**Not as recorded with this version:**\n\n{told}"
    rows = [
        (f"{MARKS[verdict]} {verdict}", *(str(summary[group].get(verdict, 0)) for group in GROUPS), meaning)
        for verdict, meaning in MEANING.items()
    ]
    heads = ("verdict", *GROUPS.values(), "that is")
    yield _table(heads, ["---", *["---:"] * len(GROUPS), "---"], rows)
    yield LETTER


def _contents(claims: Sequence[Mapping[str, Any]], sections: Sequence[str]) -> Iterable[str]:
    yield "## Contents"
    lines = []
    for section in sections:
        name = _heading(section)
        lines.append(f"- [{name}](#{anchor(name)})")
        lines += [
            f"  - [`{c['id']}`](#{anchor(c['id'])}) {MARKS[c['verdict']]} {c['verdict']}: "
            + _escaped(terminal(c["title"]))
            for c in claims
            if c["section"] == section
        ]
    yield "\n".join(lines)


def _results(results: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    """Measured, predicted and bounded risk, one table per result."""
    for result in results:
        yield f"## Result {_escaped(result['name'])}"
        yield (
            f"{_escaped(result['task'])}; {result['rounds']:,} rounds, budget {result['budget']:g} per round. "
            f"Mean ± standard error {_escaped(result['intervals'])}. ÷ is over the risk to its left; Theorem 1 "
            "bounds the cumulative risk."
        )
        risks = ("cumulative excess risk", "predicted ÷", "Theorem 1 ÷", "final excess risk", "predicted ÷")
        names = ("policy", "test accuracy", *risks, "cost per round")
        rows = [(_escaped(name), *_measured(row)) for name, row in result["policies"].items()]
        yield _table(names, ["---", *["---:"] * (len(names) - 1)], rows)


def _table(heads: Sequence[str], sides: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, sides, *rows))


def _measured(row: Mapping[str, Any]) -> Iterable[str]:
    def ratio(name: str, shape: str) -> str:
        return "–" if row.get(name) is None else format(row[name], shape)

    def mean(name: str) -> str:
        return pm(row[name]) if name in row else "–"

    yield mean("final_accuracy")
    yield from (mean("cumulative_excess_risk"), ratio("predicted_over_measured", ".3f"))
    yield ratio("corrected_over_measured", ",.0f")
    yield from (mean("final_excess_risk"), ratio("final_predicted_over_measured", ".3f"))
    yield pm(row["mean_cost"])


# --- a case ------------------------------------------------------------------------------------------------


def _case(claim: Mapping[str, Any], known: set[str]) -> Iterable[str]:
    def say(text: str) -> str:
        return _linked(_escaped(terminal(text)), known)

    yield f"### `{claim['id']}`"
    yield f"{MARKS[claim['verdict']]} **{say(claim['qualified'])}** ({claim['kind']}): {say(claim['title'])}"
    if claim["substance"]["of"]:
        yield f"**In substance {claim['substance']['verdict']}:** {say(about(claim['substance']['of']))}"
    yield from _statement(claim, say)
    yield f"**Claimed for:** {say(claim['domain'])}"
    if claim["why"]:
        yield f"**Why:** {say(claim['why'])}"
    yield from _found(claim, say)
    if claim["verdict"] == "conditional":
        yield f"**True if:** {say('; '.join(claim['hypotheses']))}"
    yield from _given(claim, say)
    if claim["repair"]:
        yield f"**Shortest repair:** {say(claim['repair'])}"
    if claim["corrected"]:
        yield from _correction(claim["corrected"], say)
    if claim["symbols"]:
        meanings = (f"{say(symbol)}: {say(says)}" for symbol, says in claim["symbols"].items())
        yield f"<details><summary>Symbols</summary>\n\n{'; '.join(meanings)}\n\n</details>"


def _statement(of: Mapping[str, Any], say: Any) -> Iterable[str]:
    yield say(of["statement"])
    if of["latex"]:
        yield f"$$\n{_kept(formula(of['latex']))}\n$$"


def _kept(tex: str) -> str:
    """A formula without characters that Markdown would interpret."""
    return re.sub(r"\\[{}|,!; ]|[<>]", lambda m: UNMARKED[m[0]], tex)


def _found(claim: Mapping[str, Any], say: Any) -> Iterable[str]:
    """The refutations, or the evidence if there is none."""
    found = against(claim)
    for finding in found:
        what = "Counterexample" if finding.example else "What fails"
        where = f" ({say(finding.where)})" if finding.where else ""
        numbers = "".join(f"\n- {say(text)}" for text in finding.numbers)
        yield f"**{what}:** {say(finding.seen)}{where}{numbers and chr(10)}{numbers}"
    if not found:
        yield from _evidence(claim["evidence"], say)


def _evidence(found: Sequence[Mapping[str, Any]], say: Any) -> Iterable[str]:
    lines = []
    for e in found:
        part = f" ({say(e['part'])})" if e["part"] else ""
        where = f" On: {say(_short(plain(e['domain'])))}." if e["domain"] else ""
        lines.append(f"- {e['method']}, {e['outcome']}{part}: {say(_short(plain(e['detail'])))}.{where}")
    if lines:
        yield "**Evidence:**\n\n" + "\n".join(lines)


def _correction(of: Mapping[str, Any], say: Any) -> Iterable[str]:
    yield f"**What holds instead** ({MARKS[of['verdict']]} {say(of['qualified'])}):"
    yield from _statement(of, say)
    if of["hypotheses"]:
        yield f"**Provided that:** {say('; '.join(of['hypotheses']))}"
    yield f"**Why:** {say(of['why'])}"
    yield from _evidence(of["evidence"], say)
    yield from _given(of, say)


def _given(of: Mapping[str, Any], say: Any) -> Iterable[str]:
    """Arguments and theorems that the verdict rests on, except for refutations."""
    if of["given"] and of["verdict"] not in ("refuted", "undecided"):
        yield "**Rests on:** " + "; ".join(f"{say(one['name'])}, {say(one['says'])}" for one in of["given"])


def _short(text: str, room: int = 240) -> str:
    """The first clauses of long evidence."""
    kept, *clauses = text.split("; ")
    for clause in clauses:
        if len(kept) + len(clause) > room:
            return f"{kept}; …"
        kept += f"; {clause}"
    return kept


# --- Markdown ----------------------------------------------------------------------------------------------


def _escaped(text: str) -> str:
    """Prose escaped for Markdown, except in backticks."""
    pieces = re.split(r"(`[^`]+`)", text)
    for at in range(0, len(pieces), 2):  # between the backticks
        pieces[at] = re.sub(r"([\\*_\[\]|~#$`])", r"\\\1", pieces[at]).replace("<", "&lt;")
    return "".join(pieces)


def _linked(text: str, known: set[str]) -> str:
    """Labels of cases as links to them."""

    def link(match: re.Match[str]) -> str:
        label = match[0].replace("\\", "")
        return f"[`{label}`](#{anchor(label)})" if label in known else match[0]

    ticked = re.sub(r"`([^`]+)`", lambda m: m[1] if m[1] in known else m[0], text)
    return re.sub(LABEL.replace(r"[\w-]*", r"(?:[\w-]|\\_)*"), link, ticked)
