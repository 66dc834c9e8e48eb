"""Our prose, Unicode with mathematics in the line, as LaTeX for plain pdflatex.

The claims are written as a terminal shows them: `K* = max(⌈x⌉, 1)`, `20B√(Pdim/Λ̄)(1 - 1/√K)`. `reading` tells words
from symbols; here it is seen which stretches of symbols operators hold together; `formulas` sets these, `escapes` the
words around them.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from acdpp.report.escapes import code, escaped, formula
from acdpp.report.formulas import OPERATORS, set_formula
from acdpp.report.reading import ATOMS, FUNCTIONS, TAILS, Node, past_space, raised, read

__all__ = ["Link", "code", "escaped", "formula", "latex"]

Link = Callable[[str], str]

RELATIONS = frozenset({"<", ">", "=", "<=", ">=", "≤", "≥", "≠", "≈", "~", "∝", "∈", "∋", "→", "↦", "⇒", "⇔"})


def latex(text: str, link: Link | None = None) -> str:
    r"""A sentence in LaTeX; `link` sets the labels of claims.

    >>> print(latex("A round has t < K, so Ω₃ ~ 20B√(Pdim/Λ̄)·√(T log T)."))
    A round has $t<K$, so $\Omega_{3}\sim20B\sqrt{\mathrm{Pdim}/\bar{\Lambda}}\cdot\sqrt{T\log T}$.
    """
    return _sentence(read(text), link or code)


def _sentence(row: tuple[Node, ...], link: Link) -> str:
    out, at = [], 0
    while at < len(row):
        node = row[at]
        if _starts(row, at) and not _hyphen(row, at):
            end = _end(row, at)
            if _bare(row[at:end]):
                out += [_text(n, row[at], link) for n in row[at:end]]
            else:
                out.append(f"${set_formula(row[at:end])}$")
            at = end
            continue
        out.append(_text(node, row[at - 1] if at else None, link))
        at += 1
    return _spaced("".join(out))


def _hyphen(row: tuple[Node, ...], at: int) -> bool:
    return row[at].text == "-" and at > 0 and row[at - 1].kind in ("word", "code", "label")


def _bare(stretch: tuple[Node, ...]) -> bool:
    """A number, or numbers in brackets, for themselves; a range such as 1-4."""
    if [n.kind for n in stretch] == ["number", "op", "number"] and stretch[1].text == "-":
        return True
    if len(stretch) > 1:
        return False
    (node,) = stretch
    bare = node.kind == "group" and all(n.kind in ("number", "space", "mark") for n in node.inner)
    return bare or (node.kind == "number" and not re.search(r"[eE,]|\d{5}", node.text))


def _text(node: Node, before: Node | None, link: Link) -> str:
    if node.kind == "label":
        return link(node.text)
    if node.kind == "code":
        return link(node.text) if ":" in node.text else code(node.text)
    if node.kind == "group":
        return escaped(node.text[0]) + _sentence(node.inner, link) + escaped(node.text[1])
    if node.kind == "space":
        return " "
    if node.kind == "op":
        if node.text in "-/" or node.text == "…":
            beside = before.kind if node.text == "-" and before is not None else ""
            return {"number": "--", "space": "$-$"}.get(beside) or escaped(node.text)
        return f"${OPERATORS[node.text]}$"
    return escaped(node.text)


def _spaced(text: str) -> str:
    """No line break between a word and its number, nor before a sign of per cent."""
    text = re.sub(
        r"\b([Tt]heorem|Section|Remark|Algorithm|Corollary|[Rr]ounds?|Assumptions?) (?=\d)", r"\1~", text
    )
    return re.sub(r"(?<=\d) (?=\\%)", r"\\,", text)


# --- which stretches are formulas --------------------------------------------------------------------------


def _mathematical(group: Node) -> bool:
    """Whether a bracket holds nothing but a formula, or several."""
    return bool(group.inner) and all(
        n.kind in ATOMS | TAILS | {"op", "space"}
        or (n.kind == "mark" and n.text in ",;|‖'*")
        or (n.kind == "group" and (_mathematical(n) or n.text[0] == "{"))
        for n in group.inner
    )


def _starts(row: tuple[Node, ...], at: int) -> bool:
    """Whether a formula, or a part of one, can begin here."""
    if at >= len(row):
        return False
    node = row[at]
    if node.kind == "op":
        signed = node.text in RELATIONS | {"-", "±"} and _starts(row, past_space(row, at + 1))
        return signed or node.text == "…"
    if node.kind == "mark":
        return node.text in "|‖" and _starts(row, at + 1)
    if node.kind == "group":
        return _mathematical(node) or raised(row, at)
    return node.kind in ATOMS or (node.kind == "word" and raised(row, at))


def _end(row: tuple[Node, ...], at: int) -> int:
    """Where the formula that begins at `at` ends."""
    if row[at].kind == "op":
        at = past_space(row, at + 1) - 1
    elif row[at].kind == "mark":
        return _end(row, at + 1)
    begin = at
    while True:
        after = at + 1
        if after >= len(row):
            return after
        node = row[after]
        if node.kind == "space":
            beyond = after + 1
            if beyond >= len(row):
                return after
            joined = (
                row[beyond].kind == "op"
                and row[beyond].text != "…"
                and _starts(row, past_space(row, beyond + 1))
            )
            if (
                joined
                and row[beyond].text == "-"
                and row[beyond + 1].kind != "space"
                and row[at].kind != "op"
            ):
                return after  # a sign, not a difference
            held = _holds(row[begin:after], row[beyond : beyond + 2]) and _starts(row, beyond)
            if joined:
                at = past_space(row, beyond + 1) - 1
                if row[at + 1].kind == "op":
                    at += 1
            elif held:
                at = beyond
            else:
                return after
        elif node.kind in ATOMS | TAILS | {"group"} or (node.kind == "mark" and node.text in "|‖'*"):
            at = after
            if node.kind == "script":
                at = _script_end(row, after)
        elif node.kind == "op" and _starts(row, past_space(row, after + 1)):
            at = past_space(row, after + 1) - 1
            if row[at + 1].kind == "op":
                at += 1
        else:
            return after


def _script_end(row: tuple[Node, ...], at: int) -> int:
    """The last node of an index or exponent whose mark stands at `at`."""
    sign = at + 1 < len(row) and row[at + 1].kind == "op"
    return min(at + 1 + sign, len(row) - 1)


def _holds(before: tuple[Node, ...], after: tuple[Node, ...]) -> bool:
    """Whether a formula goes on behind a space without an operator: log T, sup|f|, E F(θ), Σ d_i g_i, α_m n_m."""
    last, node = before[-1], after[0]
    if any(n.kind == "name" and n.text in FUNCTIONS for n in (last, node)):
        return True
    if any(n.kind == "large" for n in before) and node.kind in ("symbol", "group", "root", "number"):
        return True
    if len(before) > 1 and before[-2].kind == "script":
        return node.kind == "symbol" and after[-1].kind == "script"
    return (
        last.kind == "symbol"
        and last.text == "E"
        and node.kind in ("symbol", "large")
        and node.text[0] in "FΣ"
    )
