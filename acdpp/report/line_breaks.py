r"""Displayed formulas that fit a page: LaTeX broken where a typesetter would break it.

A formula of the document is one line. What \quad sets apart goes on lines of its own; what is still too wide is
broken before a relation, then before a sum's next term, outside every pair of braces and of \left … \right.
"""

import re
from collections.abc import Callable

__all__ = ["display", "width"]

WIDTH = 74  # of a line, in widths of a letter
NEXT = r" \\[2pt] "
TOKEN = re.compile(r"\\[A-Za-z]+\s*|\\.|[{}]|[_^]|\s+|.", re.DOTALL)
APART = (r"\quad", r"\qquad")
RELATIONS = ("=", "<", ">", r"\le", r"\ge", r"\sim", r"\approx", r"\iff", r"\Rightarrow", r"\in", r"\to")
NOTHING = frozenset({r"\left", r"\right", r"\big", r"\bigl", r"\bigr", r"\Bigl", r"\Bigr", r"\Big", r"\textstyle",
                     r"\mathrm", r"\mathbf", r"\mathbb", r"\mathcal", r"\text", r"\bar", r"\widetilde", r"\widehat",
                     r"\hat", r"\allowbreak", r"\,", r"\!", r"\operatorname"})  # fmt: skip


def display(tex: str) -> str:
    """A formula as a display of as many lines as it needs."""
    lines: list[str] = []
    for part in filter(None, (part.strip() for part in _split(tex, lambda token, _: token.strip() in APART))):
        if lines and width(lines[-1]) + width(part) + 4 <= WIDTH:
            lines[-1] += rf"\qquad {part}"
        else:
            lines.append(part)
    blocks = [_broken(line.rstrip(",;")) for line in lines]
    rows = " \\\\\n".join(blocks)
    whole = f"\\begin{{gather*}}\n{rows}\n\\end{{gather*}}"
    tight = any(width(piece) > WIDTH for block in blocks for piece in block.split(NEXT))
    return f"{{\\small{whole}}}" if tight else whole


def _relation(token: str, before: str) -> bool:
    return token.strip() in RELATIONS and bool(before.strip())


def _term(token: str, before: str) -> bool:
    ended = before.rstrip()
    return (
        token in "+-"
        and bool(ended)
        and not re.search(r"([=<>(\[{^_+-]|\\[A-Za-z]+|\\[,!]|\\[Bb]igl?[(\[])$", ended)
    )


def _broken(line: str) -> str:
    if width(line) <= WIDTH:
        return line
    pieces = _filled(_split(line, _relation, keep=True))
    pieces = [short for piece in pieces for short in _filled(_split(piece, _term, keep=True))]
    if len(pieces) == 1:
        return line
    first, *rest = pieces
    indented = (rf"&\qquad {{}}{piece}" for piece in rest)
    return "\\begin{aligned}" + NEXT.join([f"&{first}", *indented]) + "\\end{aligned}"


def _filled(pieces: list[str]) -> list[str]:
    """Neighbours joined again as long as they fit on a line."""
    lines: list[str] = []
    for piece in pieces:
        if lines and width(lines[-1]) + width(piece) <= WIDTH - 4:
            lines[-1] += piece
        else:
            lines.append(piece)
    return lines


def _split(tex: str, here: Callable[[str, str], bool], keep: bool = False) -> list[str]:
    """Split at tokens outside all braces and brackets of one size; `keep` lets a piece begin with its token."""
    depth, pieces = 0, [""]
    for token in TOKEN.findall(tex):
        depth += token.strip() in ("{", r"\left")
        depth -= token.strip() in ("}", r"\right")
        if depth == 0 and token.strip() not in ("}", r"\right") and here(token, pieces[-1]):
            pieces.append(token if keep else "")
        else:
            pieces[-1] += token
    return pieces


def width(tex: str) -> float:
    r"""About how wide a formula is set, in widths of a letter.

    >>> width("a+b"), width("a^2"), width(r"\frac{a+b}{c}") < width("(a+b)/c")
    (4.0, 1.65, True)
    """
    return _measure(TOKEN.findall(tex))


def _measure(tokens: list[str]) -> float:
    total, at = 0.0, 0
    while at < len(tokens):
        token = tokens[at].strip()
        at += 1
        if token in (r"\frac", r"\tfrac", r"\dfrac"):
            above, at = _argument(tokens, at)
            below, at = _argument(tokens, at)
            total += max(_measure(above), _measure(below)) * (0.7 if token == r"\tfrac" else 1) + 0.5
        elif token in ("_", "^"):
            small, at = _argument(tokens, at)
            total += 0.65 * _measure(small)
        elif token in APART:
            total += 2.0 * (1 + (token == r"\qquad"))
        elif token in (r"\log", r"\min", r"\max", r"\sup", r"\lim"):
            total += 3.0
        elif token in (*RELATIONS, "+", "-", r"\cdot", r"\pm"):
            total += 2.5 if token in RELATIONS else 2.0
        elif token in (r"\sqrt", r"\sum", r"\int"):
            total += 1.6
        elif token and token not in NOTHING and token not in "{}":
            total += 0.5 if token in ",.;:()[]|'" else 1.0
    return total


def _argument(tokens: list[str], at: int) -> tuple[list[str], int]:
    """The argument of a command: a group in braces, or one token."""
    while at < len(tokens) and not tokens[at].strip():
        at += 1
    if at >= len(tokens) or tokens[at] != "{":
        return tokens[at : at + 1], at + 1
    depth, end = 0, at
    while end < len(tokens):
        depth += (tokens[end] == "{") - (tokens[end] == "}")
        end += 1
        if depth == 0:
            break
    return tokens[at + 1 : end - 1], end
