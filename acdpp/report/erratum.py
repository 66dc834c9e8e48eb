r"""The erratum in LaTeX: every statement of the paper that is not true as printed, and what holds instead.

Each case has the label, the statement, the smallest counterexample, and the correction with hypotheses and proof idea.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from acdpp.report import escapes
from acdpp.report.contents import PARTS
from acdpp.report.display import display
from acdpp.report.findings import Finding, against
from proofs_check.ledger import about
from proofs_check.symbols import GLOSSARY

__all__ = ["latex", "printed"]

PREAMBLE = r"""\documentclass[10pt,a4paper]{article}
\usepackage{amsmath,amssymb}
\usepackage[margin=27mm]{geometry}
\usepackage{microtype,xcolor,enumitem}
\usepackage[colorlinks,linkcolor=blue!50!black,urlcolor=blue!50!black]{hyperref}
\setlength{\parindent}{0pt}\setlength{\parskip}{4pt plus 1pt}
\setlength{\emergencystretch}{4em}\sloppy
\AtBeginDocument{\abovedisplayskip=6pt plus 2pt minus 2pt\belowdisplayskip=6pt plus 2pt minus 2pt
\abovedisplayshortskip=3pt plus 1pt\belowdisplayshortskip=6pt plus 2pt minus 2pt}
\setcounter{secnumdepth}{0}\setcounter{tocdepth}{2}
\newcommand{\said}[1]{\par\noindent\textbf{#1}\enspace}
\newcommand{\verdict}[1]{{\normalfont\small\itshape #1}}
"""
WHAT = {
    "refuted": "not true as printed",
    "conditional": "true only under a hypothesis that is not printed",
}
READ = {"refuted": "not true", "conditional": "true only under a further hypothesis"}
STANDS = ("proved", "certified", "supported")
Claims = Sequence[Mapping[str, Any]]


def printed(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The paper's claims that are not true as printed."""
    return [claim for claim in document["claims"] if claim["kind"] != "addition" and claim["verdict"] in WHAT]


def latex(document: Mapping[str, Any]) -> str:
    """The erratum as a LaTeX file."""
    claims = printed(document)
    known = {claim["id"] for claim in claims}
    body = [PREAMBLE, *_front(document, claims)]
    said: dict[tuple[str, ...], str] = {}
    common = _common(claims)
    for section in dict.fromkeys(claim["section"] for claim in claims):
        body.append(rf"\section{{{escapes.escaped(PARTS.get(section, section))}}}")
        for claim in claims:
            if claim["section"] == section:
                body += _case(claim, _beside(claim, document), _linked(known), said, common)
    body += [*_open(document), *_foundations(common, known), *_notation(claims), r"\end{document}"]
    return "\n".join(body) + "\n"


def _linked(known: set[str]) -> escapes.Link:
    """Link labels of cases in the erratum."""

    def link(label: str) -> str:
        text = escapes.code(label)
        return rf"\hyperlink{{{_place(label)}}}{{{text}}}" if label in known else text

    return link


def _place(label: str) -> str:
    return re.sub("[^A-Za-z0-9]", "-", label)


# --- front -------------------------------------------------------------------------------------------------


def _front(document: Mapping[str, Any], claims: Claims) -> Iterable[str]:
    counted = Counter(document["summary"]["statements"])
    stands = sum(counted[verdict] for verdict in STANDS)
    yield r"\title{Erratum to \emph{Adaptive Data Admission and Retention for Streaming Federated Learning}}"
    yield rf"\author{{made by acdpp {escapes.escaped(str(document['version']))}}}\date{{}}"
    yield "\\begin{document}\n\\maketitle"
    false, bound, left = (counted[verdict] for verdict in ("refuted", "conditional", "undecided"))
    yield (
        f"Of {_number(counted.total(), 'statement')} of the paper that were checked, {stands} "
        f"{'stands' if stands == 1 else 'stand'} as printed, {false} "
        f"{_is(false)} not true, {bound} {_is(bound)} true only under a hypothesis that is not printed, and {left} "
        "could not be decided. This erratum lists those that must be changed, in the order of the paper and under the "
        r"labels of its source; a label with a slash, such as \texttt{label/step}, names a step of the proof or a "
        "reading of the statement with that label. What the paper says is told in other words. Formulas are in the "
        "paper's notation, which the last pages repeat."
    )
    yield from _apart(document, claims)
    if document.get("differences"):
        told = "; ".join(escapes.escaped(sentence) for sentence in document["differences"])
        yield "\n" + rf"\textbf{{Not as recorded with this version of acdpp:}} {told}."
    yield (
        "\nA refutation is a proof, an exact example, one with certified enclosures, or, for an experiment, runs in "
        "the paper's setting; of several counterexamples the smallest comes first. Each correction has been checked "
        r"on its own; in brackets stands how firmly: \emph{proved} by algebra, by a solver for all arguments or by a "
        r"limit, \emph{certified} on a stated range, \emph{supported} by examples or measurements. What a proof rests "
        r"on besides is named with it. The checks can be run again: \texttt{acdpp verify -{}-claim LABEL -{}-explain}. "
        "Names in such letters with a dot or an underscore are functions of that program."
    )
    if not claims:
        yield "\nNone of the statements given must be changed."
        return
    yield "\\tableofcontents"


def _apart(document: Mapping[str, Any], claims: Claims) -> Iterable[str]:
    """Remarks on steps, readings, slips and empty statements, which the counts do not show."""
    kinds = Counter(claim["kind"] for claim in claims)
    if kinds["step"] or kinds["reading"]:
        steps, readings = _number(kinds["step"], "step"), _number(kinds["reading"], "reading")
        yield (
            f"\nAmong those listed, {steps} of proofs and, not counted above, {readings}: a statement may stand where "
            "a step of its proof does not, and a reading is one that the text allows, not one that it insists on."
        )
    slips = document["summary"]["slips"]
    if slips:
        fail = f"{_number(slips, 'statement')} {'fails' if slips == 1 else 'fail'}"
        yield (
            f"\nThe verdicts are on the letter. {fail} by a slip alone: what is meant is plain from the "
            "text around, and true."
        )
    empty = [
        c for c in document["claims"] if c["verdict"] in STANDS and c["substance"]["verdict"] not in STANDS
    ]
    if empty:
        named = ", ".join(escapes.code(claim["id"]) for claim in empty)
        stand = f"{_number(len(empty), 'statement')} ({named}) {'stands' if len(empty) == 1 else 'stand'}"
        yield (
            f"\n{stand} to the letter, where what a reader takes from it does not; that is listed as a reading."
        )


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _number(count: int, thing: str) -> str:
    return f"{count} {thing}" + ("" if count == 1 else "s")


# --- a case ------------------------------------------------------------------------------------------------


def _beside(claim: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The statement that a step or reading belongs to, if it is true as printed."""
    whole = claim["id"].rpartition("/")[0]
    return next((c for c in document["claims"] if c["id"] == whole and c["verdict"] in STANDS), None)


def _case(
    claim: Mapping[str, Any],
    whole: Mapping[str, Any] | None,
    link: escapes.Link,
    said: dict[tuple[str, ...], str],
    common: Mapping[tuple[str, str], str],
) -> Iterable[str]:
    label, title = claim["id"], escapes.latex(claim["title"], link)
    heading = rf"{escapes.code(label)}\quad {title}"
    yield (
        rf"\subsection{{\texorpdfstring{{{heading}}}{{{escapes.escaped(label)}}}}}"
        rf"\hypertarget{{{_place(label)}}}{{}}"
    )
    if whole:
        stands = (
            rf"\verdict{{({escapes.escaped(whole['verdict'])}).}} {escapes.latex(whole['statement'], link)}"
        )
        yield rf"\said{{{escapes.code(whole['id'])} stands}}{stands}"
        yield from _shown(whole)
    reading = claim["kind"] == "reading"
    verdict = (READ if reading else WHAT)[claim["verdict"]]
    if not reading:
        verdict = f"{claim['kind']}, {verdict}"
    whose = "A reading" if reading else "The paper"
    yield rf"\said{{{whose}}}\verdict{{({escapes.escaped(verdict)}).}} {escapes.latex(claim['statement'], link)}"
    yield from _shown(claim)
    yield rf"Claimed for: {escapes.latex(claim['domain'], link)}."
    yield from _failure(against(claim), link)
    yield from _in_coq((e for e in claim["evidence"] if e["outcome"] == "fails"), link)
    if claim["verdict"] == "conditional":
        yield from _rescued(claim, link)
        yield from _in_coq(claim["evidence_with_hypotheses"], link)
    if claim["substance"]["of"]:
        verdict = escapes.escaped(claim["substance"]["verdict"])
        yield rf"\said{{In substance}}{verdict}: {escapes.latex(about(claim['substance']['of']), link)}."
    if claim["repair"]:
        yield rf"\said{{Shortest repair.}}{escapes.latex(claim['repair'], link)}"
    if claim["corrected"]:
        yield from _correction(claim, link, said, common)
    here = {
        symbol: says
        for symbol, says in claim["symbols"].items()
        if GLOSSARY.get(symbol) != says
        and (not re.fullmatch("[a-z]{3,}", symbol) or symbol in _symbolic(claim))
    }
    if here:
        meanings = "; ".join(
            f"{escapes.symbol(symbol)}: {escapes.latex(says, link)}" for symbol, says in here.items()
        )
        yield rf"\said{{Here}}{meanings}."


def _symbolic(claim: Mapping[str, Any]) -> str:
    """The formulas of a claim."""
    return " ".join(of["latex"] for of in (claim, claim["corrected"]) if of)


def _shown(of: Mapping[str, Any]) -> Iterable[str]:
    if of["latex"]:
        yield display(escapes.formula(of["latex"]))


def _failure(found: Sequence[Finding], link: escapes.Link) -> Iterable[str]:
    for at, finding in enumerate(found):
        head = "Counterexample" if finding.example else "In general" if at else "What fails"
        again = at and found[at - 1].example == finding.example
        where = f" Setting: {_sentence(finding.where, link)}" if finding.where else ""
        yield rf"\said{{{'Also' if again else head}.}}{_capital(_sentence(finding.seen, link))}{where}"
        yield from _tabulated(finding.numbers, link)
        if finding.checked:
            yield "Checked of it: " + "; ".join(escapes.latex(text, link) for text in finding.checked) + "."


def _in_coq(evidence: Iterable[Mapping[str, Any]], link: escapes.Link) -> Iterable[str]:
    """The theorems in Coq, with their lines."""
    theorems = {
        name: shown["stands in"].rpartition(", ")[2]
        for e in evidence
        if e["method"] == "kernel"
        for name, shown in e["certificate"].items()
        if isinstance(shown, Mapping)
    }
    if theorems:
        listed = ", ".join(
            rf"\texttt{{{escapes.latex(name, link)}}} ({line})" for name, line in theorems.items()
        )
        yield rf"\said{{Proved in Coq}}{listed}."


def _tabulated(numbers: Sequence[str], link: escapes.Link) -> Iterable[str]:
    """Values on the way to a limit, as a list if they are long."""
    set_ = [escapes.latex(text, link) for text in numbers]
    if sum(map(len, numbers)) > 100:
        yield r"\begin{itemize}[nosep,label={}]"
        yield from (rf"\item {text}" for text in set_)
        yield r"\end{itemize}"
    elif set_:
        yield "; ".join(set_) + "."


def _rescued(claim: Mapping[str, Any], link: escapes.Link) -> Iterable[str]:
    yield r"\said{True if}" + "; ".join(escapes.latex(text, link) for text in claim["hypotheses"]) + "."
    corrected = claim["corrected"]["why"] if claim["corrected"] else ""
    if claim["why"] and claim["why"][:60] not in corrected:
        yield escapes.latex(claim["why"], link)


def _correction(
    claim: Mapping[str, Any],
    link: escapes.Link,
    said: dict[tuple[str, ...], str],
    common: Mapping[tuple[str, str], str],
) -> Iterable[str]:
    of = claim["corrected"]
    yield rf"\said{{What holds instead}}\verdict{{({of['verdict']}).}} {escapes.latex(of['statement'], link)}"
    yield from _shown(of)
    hypotheses = tuple(of["hypotheses"])
    if len(hypotheses) > 2 and hypotheses in said:
        yield rf"\said{{Provided}}the hypotheses of {link(said[hypotheses])}, corrected, hold."
    elif hypotheses:
        said[hypotheses] = claim["id"]
        listed = "; ".join(escapes.latex(text, link) for text in hypotheses)
        yield rf"\said{{Provided that}}{listed}."
    yield rf"\said{{Why.}}{escapes.latex(of['why'], link)}"
    yield from _in_coq(of["evidence"], link)
    if of["given"]:
        yield r"\said{Rests on}" + "; ".join(_given(one, link, common) for one in of["given"]) + "."


def _given(one: Mapping[str, str], link: escapes.Link, common: Mapping[tuple[str, str], str]) -> str:
    name = escapes.latex(one["name"], link)
    place = common.get((one["name"], one["says"]))
    if place is None:
        return f"{name}: {escapes.latex(one['says'], link)}"
    return name if r"\hyperlink" in name else rf"\hyperlink{{{place}}}{{{name}}}"


def _sentence(text: str, link: escapes.Link) -> str:
    return escapes.latex(text, link).rstrip(". ") + "."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# --- back --------------------------------------------------------------------------------------------------


def _common(claims: Claims) -> dict[tuple[str, str], str]:
    """Foundations that several corrections share, with their anchors at the end."""
    every = Counter(
        (one["name"], one["says"])
        for claim in claims
        if claim["corrected"]
        for one in claim["corrected"]["given"]
    )
    return {one: f"given-{_place(one[0])}" for one, times in every.items() if times > 1}


def _foundations(common: Mapping[tuple[str, str], str], known: set[str]) -> Iterable[str]:
    if not common:
        return
    yield "\\section{What several proofs rest on}\n\\begin{description}[font=\\normalfont\\bfseries,leftmargin=1.5em]"
    for (name, says), place in common.items():
        target = rf"\hypertarget{{{place}}}{{}}{_capital(escapes.latex(name))}"
        yield rf"\item[{{{target}}}] {escapes.latex(says, _linked(known))}."
    yield r"\end{description}"


def _open(document: Mapping[str, Any]) -> Iterable[str]:
    left = [c for c in document["claims"] if c["kind"] != "addition" and c["verdict"] == "undecided"]
    if not left:
        return
    yield "\\section{Not decided}\nThese statements were tried; the evidence neither establishes nor refutes them."
    yield r"\begin{itemize}[nosep,label=$\bullet$]"
    for claim in left:
        yield rf"\item {escapes.code(claim['id'])}: {escapes.latex(claim['title'])}."
    yield r"\end{itemize}"


def _notation(claims: Claims) -> Iterable[str]:
    """Two columns of symbols, in the order of the glossary."""
    used = {
        symbol
        for claim in claims
        for symbol, says in claim["symbols"].items()
        if GLOSSARY.get(symbol) == says
    }
    if not used:
        return
    means = {
        symbol: re.sub(r" \(before a bracket.*\)", "", says) for symbol, says in GLOSSARY.items()
    }  # 𝔼 in print
    rows = [
        rf"\item[{{{escapes.symbol(symbol)}}}] {escapes.latex(means[symbol])}"
        for symbol in means
        if symbol in used
    ]
    rows.append(r"\item[{$\mathbb E$}] expectation")
    half = (len(rows) + 1) // 2
    yield "\\section{Notation}\n{\\small\\noindent"
    for column in (rows[:half], rows[half:]):
        yield "\\begin{minipage}[t]{0.475\\textwidth}\\raggedright"
        yield r"\begin{description}[nosep,font=\normalfont,leftmargin=3.5em,style=sameline]"
        yield from column
        yield "\\end{description}\\end{minipage}\\hfill"
    yield "}"
