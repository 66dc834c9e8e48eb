r"""The erratum in LaTeX: every statement of the paper that is not true as printed, and what holds instead.

Each case has the label, the statement, the smallest counterexample, and the correction with hypotheses and proof idea.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from acdpp.report import escapes
from acdpp.report.contents import PARTS
from acdpp.report.findings import Finding, against
from acdpp.report.line_breaks import display
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
WHAT = {"refuted": "not true as printed", "conditional": "true only under a hypothesis that is not printed"}
READ = {"refuted": "not true", "conditional": "true only under a further hypothesis"}
STANDS = ("proved", "certified", "supported")
Claims = Sequence[Mapping[str, Any]]
Tex = Callable[[str], str]


def printed(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The paper's claims that are not true as printed."""
    return [claim for claim in document["claims"] if claim["kind"] != "addition" and claim["verdict"] in WHAT]


def latex(document: Mapping[str, Any]) -> str:
    """The erratum as a LaTeX file."""
    claims = printed(document)
    tex = _linked({claim["id"] for claim in claims})
    body = [PREAMBLE, *_front(document, claims)]
    said: dict[tuple[str, ...], str] = {}
    common = _common(claims)
    for section in dict.fromkeys(claim["section"] for claim in claims):
        body.append(rf"\section{{{escapes.escaped(PARTS.get(section, section))}}}")
        for claim in claims:
            if claim["section"] == section:
                body += _case(claim, _beside(claim, document), tex, said, common)
    body += [*_open(document), *_foundations(common, tex), *_notation(claims), r"\end{document}"]
    return "\n".join(body) + "\n"


def _linked(known: set[str]) -> Tex:
    """LaTeX of a text, with links to the cases of the erratum."""

    def link(label: str) -> str:
        text = escapes.code(label)
        return rf"\hyperlink{{{_place(label)}}}{{{text}}}" if label in known else text

    return lambda text: escapes.latex(text, link)


def _place(label: str) -> str:
    return re.sub("[^A-Za-z0-9]", "-", label)


# --- front -------------------------------------------------------------------------------------------------


def _front(document: Mapping[str, Any], claims: Claims) -> Iterable[str]:
    counted = Counter(document["summary"]["statements"])
    stands = sum(counted[verdict] for verdict in STANDS)
    yield r"\title{Erratum to \emph{Adaptive Data Admission and Retention for Streaming Federated Learning}}"
    yield rf"\author{{made by acdpp {escapes.escaped(str(document['version']))}}}\date{{}}"
    yield "\\begin{document}\n\\maketitle"
    false, bound = (_number(counted[verdict], "is", "are") for verdict in ("refuted", "conditional"))
    yield (
        f"Of {_number(counted.total(), 'statement')} of the paper that were checked, "
        f"{_number(stands, 'stands', 'stand')} as printed, {false} not true, {bound} true only under a hypothesis that "
        f"is not printed, and {counted['undecided']} could not be decided. This erratum lists those that must "
        r"be changed, in the order of the paper and under the labels of its source; a label with a slash, "
        r"such as \texttt{label/step}, names a step of the proof or a "
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
        fail = _number(slips, "statement fails", "statements fail")
        yield (
            f"\nThe verdicts are on the letter. {fail} by a slip alone: what is meant is plain from the "
            "text around, and true."
        )
    empty = [
        c for c in document["claims"] if c["verdict"] in STANDS and c["substance"]["verdict"] not in STANDS
    ]
    if empty:
        named = ", ".join(escapes.code(claim["id"]) for claim in empty)
        stand = _number(len(empty), f"statement ({named}) stands", f"statements ({named}) stand")
        listed = "where what a reader takes from it does not; that is listed as a reading"
        yield f"\n{stand} to the letter, {listed}."


def _number(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


# --- a case ------------------------------------------------------------------------------------------------


def _beside(claim: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The statement that a step or reading belongs to, if it is true as printed."""
    whole = claim["id"].rpartition("/")[0]
    return next((c for c in document["claims"] if c["id"] == whole and c["verdict"] in STANDS), None)


def _case(
    claim: Mapping[str, Any],
    whole: Mapping[str, Any] | None,
    tex: Tex,
    said: dict[tuple[str, ...], str],
    common: Mapping[tuple[str, str], str],
) -> Iterable[str]:
    label, title = claim["id"], tex(claim["title"])
    heading = rf"{escapes.code(label)}\quad {title}"
    yield (
        rf"\subsection{{\texorpdfstring{{{heading}}}{{{escapes.escaped(label)}}}}}"
        rf"\hypertarget{{{_place(label)}}}{{}}"
    )
    if whole:
        stands = rf"\verdict{{({whole['verdict']}).}} {tex(whole['statement'])}"
        yield rf"\said{{{escapes.code(whole['id'])} stands}}{stands}"
        yield from _shown(whole)
    whose, verdict = "The paper", f"{claim['kind']}, {WHAT[claim['verdict']]}"
    if claim["kind"] == "reading":
        whose, verdict = "A reading", READ[claim["verdict"]]
    yield rf"\said{{{whose}}}\verdict{{({escapes.escaped(verdict)}).}} {tex(claim['statement'])}"
    yield from _shown(claim)
    yield rf"Claimed for: {tex(claim['domain'])}."
    yield from _failure(against(claim), tex)
    yield from _in_coq((e for e in claim["evidence"] if e["outcome"] == "fails"), tex)
    if claim["verdict"] == "conditional":
        yield r"\said{True if}" + "; ".join(tex(text) for text in claim["hypotheses"]) + "."
        corrected = claim["corrected"]["why"] if claim["corrected"] else ""
        if claim["why"] and claim["why"][:60] not in corrected:
            yield tex(claim["why"])
        yield from _in_coq(claim["evidence_with_hypotheses"], tex)
    if claim["substance"]["of"]:
        yield rf"\said{{In substance}}{claim['substance']['verdict']}: {tex(about(claim['substance']['of']))}."
    if claim["repair"]:
        yield rf"\said{{Shortest repair.}}{tex(claim['repair'])}"
    if claim["corrected"]:
        yield from _correction(claim, tex, said, common)
    formulas = " ".join(of["latex"] for of in (claim, claim["corrected"]) if of)
    here = [
        f"{escapes.symbol(symbol)}: {tex(says)}"
        for symbol, says in claim["symbols"].items()
        if GLOSSARY.get(symbol) != says and (not re.fullmatch("[a-z]{3,}", symbol) or symbol in formulas)
    ]
    if here:
        yield rf"\said{{Here}}{'; '.join(here)}."


def _shown(of: Mapping[str, Any]) -> Iterable[str]:
    if of["latex"]:
        yield display(escapes.formula(of["latex"]))


def _failure(found: Sequence[Finding], tex: Tex) -> Iterable[str]:
    for at, finding in enumerate(found):
        head = "Counterexample" if finding.example else "In general" if at else "What fails"
        again = at and found[at - 1].example == finding.example
        seen, setting = (tex(text).rstrip(". ") for text in (finding.seen, finding.where))
        where = f" Setting: {setting}." if finding.where else ""
        yield rf"\said{{{'Also' if again else head}.}}{_capital(seen)}.{where}"
        yield from _tabulated(finding.numbers, tex)
        if finding.checked:
            yield "Checked of it: " + "; ".join(tex(text) for text in finding.checked) + "."


def _in_coq(evidence: Iterable[Mapping[str, Any]], tex: Tex) -> Iterable[str]:
    """The theorems in Coq, with their lines."""
    theorems = {
        name: shown["stands in"].rpartition(", ")[2]
        for e in evidence
        if e["method"] == "kernel"
        for name, shown in e["certificate"].items()
        if isinstance(shown, Mapping)
    }
    if theorems:
        listed = ", ".join(rf"\texttt{{{tex(name)}}} ({line})" for name, line in theorems.items())
        yield rf"\said{{Proved in Coq}}{listed}."


def _tabulated(numbers: Sequence[str], tex: Tex) -> Iterable[str]:
    """Values on the way to a limit, as a list if they are long."""
    set_ = [tex(text) for text in numbers]
    if sum(map(len, numbers)) > 100:
        yield r"\begin{itemize}[nosep,label={}]"
        yield from (rf"\item {text}" for text in set_)
        yield r"\end{itemize}"
    elif set_:
        yield "; ".join(set_) + "."


def _correction(
    claim: Mapping[str, Any],
    tex: Tex,
    said: dict[tuple[str, ...], str],
    common: Mapping[tuple[str, str], str],
) -> Iterable[str]:
    of = claim["corrected"]
    yield rf"\said{{What holds instead}}\verdict{{({of['verdict']}).}} {tex(of['statement'])}"
    yield from _shown(of)
    hypotheses = tuple(of["hypotheses"])
    if len(hypotheses) > 2 and hypotheses in said:
        yield rf"\said{{Provided}}the hypotheses of {tex(said[hypotheses])}, corrected, hold."
    elif hypotheses:
        said[hypotheses] = claim["id"]
        listed = "; ".join(tex(text) for text in hypotheses)
        yield rf"\said{{Provided that}}{listed}."
    yield rf"\said{{Why.}}{tex(of['why'])}"
    yield from _in_coq(of["evidence"], tex)
    if of["given"]:
        yield r"\said{Rests on}" + "; ".join(_given(one, tex, common) for one in of["given"]) + "."


def _given(one: Mapping[str, str], tex: Tex, common: Mapping[tuple[str, str], str]) -> str:
    name = tex(one["name"])
    place = common.get((one["name"], one["says"]))
    if place is None:
        return f"{name}: {tex(one['says'])}"
    return name if r"\hyperlink" in name else rf"\hyperlink{{{place}}}{{{name}}}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# --- back --------------------------------------------------------------------------------------------------


def _common(claims: Claims) -> dict[tuple[str, str], str]:
    """Foundations that several corrections share, with their anchors at the end."""
    corrections = (claim["corrected"] for claim in claims if claim["corrected"])
    every = Counter((one["name"], one["says"]) for of in corrections for one in of["given"])
    return {one: f"given-{_place(one[0])}" for one, times in every.items() if times > 1}


def _foundations(common: Mapping[tuple[str, str], str], tex: Tex) -> Iterable[str]:
    if not common:
        return
    yield "\\section{What several proofs rest on}\n\\begin{description}[font=\\normalfont\\bfseries,leftmargin=1.5em]"
    for (name, says), place in common.items():
        target = rf"\hypertarget{{{place}}}{{}}{_capital(escapes.latex(name))}"
        yield rf"\item[{{{target}}}] {tex(says)}."
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
    meant = {pair for claim in claims for pair in claim["symbols"].items()}
    used = {symbol for symbol, says in meant if GLOSSARY.get(symbol) == says}
    if not used:
        return
    rows = [  # 𝔼 in print
        rf"\item[{{{escapes.symbol(symbol)}}}] {escapes.latex(re.sub(r' [(]before a bracket.*[)]', '', says))}"
        for symbol, says in GLOSSARY.items()
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
