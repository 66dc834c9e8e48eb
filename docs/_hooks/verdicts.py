"""Every claim with its formulas and verdicts as a page, from the ledger; and labels that lead there."""

from __future__ import annotations

import re
from functools import cache

from acdpp.report.contents import PARTS
from proofs_check.ledger import Entry, Statement, read, tally, told
from proofs_check.text import split

PAGE = "verdicts.md"
LEAD = """# All verdicts

Every claim as the ledger records it, with what holds instead. Made from `proofs_check/ledger.json` when this site is
built; `acdpp verify` decides them all anew. Counterexamples and proofs: `acdpp verify --claim LABEL --explain`.
"""


def anchor(label: str) -> str:
    """The place of a label on the page."""
    return re.sub(r"[^\w-]", "-", label)


def markdown() -> str:
    """The page."""
    entries = read()
    lines = [LEAD, told(tally(entries)), ""]
    for part in dict.fromkeys(entry.section for entry in entries):
        lines += [f"## {PARTS[part]}", "", *(_claim(entry) for entry in entries if entry.section == part)]
    return "\n".join(lines)


def _claim(entry: Entry) -> str:
    lines = [
        f"### {_plain(entry.id)} {{ #{anchor(entry.id)} }}",
        "",
        _statement(entry.stated, _plain(entry.stated.title)),
    ]
    if entry.corrected:
        lines += [
            '<div class="instead" markdown>',
            "",
            _statement(entry.corrected, "What holds instead"),
            "</div>",
            "",
        ]
    return "\n".join(lines)


def _statement(of: Statement, title: str) -> str:
    lines = [f"**{title}**: *{of.qualified}*. {_plain(of.says)}", ""]
    if of.formula:
        lines += [f"$${_formula(of.formula)}$$", ""]
    if of.hypotheses:
        lines += [f"Hypotheses: {_plain('; '.join(of.hypotheses))}.", ""]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Formulas, code, and words without what Markdown would take for its own."""
    return "".join(
        rf"\({_formula(stretch)}\)" if formula else _words(stretch) for formula, stretch in split(text)
    )


def _formula(latex: str) -> str:
    """Without what would begin a tag of HTML."""
    return latex.replace("<", r"\lt ").replace(">", r"\gt ")


def _words(stretch: str) -> str:
    parts = re.split(r"(`[^`]*`)", stretch)
    return "".join(
        part if n % 2 else re.sub(r"[\\*_<>\[\]|#$]", lambda found: f"&#{ord(found[0])};", part)
        for n, part in enumerate(parts)
    )


@cache
def _labels() -> frozenset[str]:
    return frozenset(entry.id for entry in read())


def linked(html: str, page: str) -> str:
    """The page with every label of a claim as a link to its verdict."""

    def link(found: re.Match[str]) -> str:
        if found[1] not in _labels():
            return found[0]
        return f'<a class="label" href="{page}#{anchor(found[1])}">{found[0]}</a>'

    parts = re.split(r"(?s)(<(?:pre|a|h\d)\b.*?</(?:pre|a|h\d)>)", html)
    return "".join(
        part if n % 2 else re.sub(r"<code>([^<]*)</code>", link, part) for n, part in enumerate(parts)
    )
