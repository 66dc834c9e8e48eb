"""A stretch of symbols, numbers and operators that a sentence holds together, set as a formula of LaTeX."""

from __future__ import annotations

import re

from acdpp.report.escapes import LETTERS, escaped, unknown
from acdpp.report.reading import FUNCTIONS, TAILS, Node, past_space, raised
from theory.setting import SettingError

__all__ = ["OPERATORS", "set_formula"]


OPERATORS = {
    **{sign: sign for sign in "+-/<>=!"},
    "<=": r"\le",
    ">=": r"\ge",
    "≤": r"\le",
    "≥": r"\ge",
    "≠": r"\ne",
    "≈": r"\approx",
    "~": r"\sim",
    "·": r"\cdot",
    "×": r"\times",
    "±": r"\pm",
    "+/-": r"\pm",
    "∝": r"\propto",
    "∈": r"\in",
    "∋": r"\ni",
    "→": r"\to",
    "↦": r"\mapsto",
    "⇒": r"\Rightarrow",
    "⇔": r"\iff",
    "∪": r"\cup",
    "∩": r"\cap",
    "..": r",\ldots,",
    "…": r"\ldots",
}
LARGE = {"Σ": r"\sum", "Π": r"\Pi", "∫": r"\int"}
FENCES = {"(": "(", ")": ")", "[": "[", "]": "]", "{": r"\{", "}": r"\}", "⟨": r"\langle ", "⟩": r"\rangle ",
          "⌈": r"\lceil ", "⌉": r"\rceil ", "⌊": r"\lfloor ", "⌋": r"\rfloor "}  # fmt: skip
ACCENTS = {
    "\u0302": (r"\hat", r"\widehat"),
    "\u0303": (r"\tilde", r"\widetilde"),
    "\u0304": (r"\bar", r"\bar"),
}
RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ᵀ", [*"0123456789+-()", r"\top"], strict=True))
LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-", strict=True))
NAMES = {
    **{name: rf"\{name}" for name in ("log", "min", "max", "exp", "sup", "inf", "lim", "arg")},
    **{name: rf"\mathrm{{{name}}}" for name in ("Pdim", "Reg", "Vio", "Var", "Cov")},
}
BREAK, LONG = r",\allowbreak ", 60  # a bracket may be broken behind a comma only if its LaTeX is long
INDICES = frozenset({"CK", "lb"})  # of two letters; longer ones are always one index


def set_formula(row: tuple[Node, ...]) -> str:
    """The pieces of a formula, set."""
    out: list[str] = []
    at = 0
    while at < len(row):
        piece, at = _piece(row, at)
        if not piece:
            continue
        if out and re.search(r"\\[A-Za-z]+$", out[-1]) and piece[:1].isalpha():
            piece = " " + piece
        out.append(piece)
    return "".join(out)


def _piece(row: tuple[Node, ...], at: int) -> tuple[str, int]:
    """One atom with its indices and exponents, or one operator; and where the next begins."""
    node = row[at]
    if node.kind == "space":
        beside = row[max(at - 1, 0)], row[min(at + 1, len(row) - 1)]
        words = any(n.kind == "word" and n.text != "in" for n in beside)
        return (r"\ " if words and not any(n.text == "|" for n in beside) else ""), at + 1
    if node.kind == "op":
        return OPERATORS[node.text], at + 1
    if node.kind == "mark":
        return _mark(row, at), at + 1
    if node.kind in ("code", "label") or (node.kind == "word" and not raised(row, at)):
        member = node.text == "in" and at > 1 and row[at - 2].kind != "word"
        return (r"\in " if member else rf"\text{{{escaped(node.text)}}}"), at + 1
    base, at = _base(row, at)
    return _with_scripts(base, row, at)


def _mark(row: tuple[Node, ...], at: int) -> str:
    mark = row[at].text
    if mark == "|" and 0 < at < len(row) - 1 and row[at - 1].kind == row[at + 1].kind == "space":
        return r"\mid "
    known = {
        "|": "|",
        "‖": r"\|",
        ",": BREAK,
        ";": r";\ ",
        ":": ":",
        "'": "'",
        "*": r"^{\star}",
        ".": ".",
    }
    if mark not in known:
        return escaped(mark)
    return known[mark]


def _base(row: tuple[Node, ...], at: int) -> tuple[str, int]:
    node = row[at]
    if node.kind == "root":
        return _root(row, at + 1)
    if node.kind == "group":
        inside = set_formula(node.inner).strip()
        if len(inside) < LONG:
            inside = inside.replace(BREAK, ",")
        return f"{FENCES[node.text[0]]}{inside}{FENCES[node.text[1]]}", at + 1
    if node.kind == "number":
        braced = at + 1 < len(row) and row[at + 1].kind == "group" and row[at + 1].text == "{}"
        return (r"\mathbf 1" if braced and node.text == "1" else _number(node.text)), at + 1
    if node.kind == "large":
        return LARGE[node.text], at + 1
    if node.kind == "name":
        return NAMES[node.text], at + 1
    if node.kind in TAILS:
        return "", at  # behind a bar
    if node.kind in ("word", "index"):
        return rf"\text{{{escaped(node.text)}}}", at + 1
    if node.text == "E" and _expectation(row, at):
        return r"\mathbb E", at + 1
    if node.text in ("E", "E\u0304") and _index(row, at) in ("T", "frozen", "oracle"):
        return (r"\mathcal E" if node.text == "E" else r"\bar{\mathcal E}"), at + 1
    if node.text == "F" and _index(row, at) in ("all", "mem"):
        return rf"\widehat F^{{\mathrm{{{_index(row, at)}}}}}", at + 3
    return _symbol(node.text), at + 1


def _expectation(row: tuple[Node, ...], at: int) -> bool:
    """E before a square bracket, a bar, a supremum, a risk or a sum is no number of local steps."""
    beyond = past_space(row, at + 1)
    if beyond >= len(row):
        return False
    node = row[beyond]
    spaced = beyond > at + 1
    if node.kind == "group":
        return node.text == "[]" and not spaced
    if node.kind == "mark":
        return node.text in "|‖" and not spaced
    return node.text == "sup" or (spaced and node.text[0] in "FΣ")


def _index(row: tuple[Node, ...], at: int) -> str:
    named = at + 2 < len(row) and row[at + 1].text == "_"
    return row[at + 2].text if named else ""


def _symbol(text: str) -> str:
    letter, accents = text[0], text[1:]
    if letter not in LETTERS and not letter.isascii():
        raise unknown(letter)
    body = LETTERS.get(letter, letter)
    for accent in accents:
        if accent not in ACCENTS:
            raise unknown(accent)
        narrow, wide = ACCENTS[accent]
        body = rf"{wide if letter.isupper() else narrow}{{{body}}}"
    return body


def _number(text: str) -> str:
    mantissa, power = re.fullmatch(r"([\d.,]+)(?:[eE]([+-]?\d+))?", text).groups()  # type: ignore[union-attr]
    round_number = re.fullmatch(r"(\d+?)(0{6,})", mantissa)
    if power is None and round_number:
        mantissa, power = round_number[1], str(len(round_number[2]))
    elif power is None:
        long = mantissa.isdigit() and len(mantissa) > 4
        return (f"{int(mantissa):,}" if long else mantissa).replace(",", "{,}")
    times = "" if mantissa in ("1", "1.0") else rf"{mantissa}\cdot "
    return rf"{times}10^{{{int(power)}}}"


def _root(row: tuple[Node, ...], at: int) -> tuple[str, int]:
    """√ before a bracket covers it; else the next symbol with its index, Σ and log with what they act on."""
    at = past_space(row, at)
    if at >= len(row):
        return r"\sqrt{\ }", at
    node = row[at]
    if node.kind == "group" and node.text == "()":
        return rf"\sqrt{{{set_formula(node.inner).strip()}}}", at + 1
    if node.kind == "large" or (node.kind == "name" and node.text in FUNCTIONS):
        first, beyond = _piece(row, at)
        second, beyond = _piece(row, past_space(row, beyond))
        return rf"\sqrt{{{first} {second}}}", beyond
    base, beyond = _base(row, at)
    if beyond + 1 < len(row) and row[beyond].text == "_":
        index, beyond = _script(row, beyond + 1)
        base += f"_{{{index}}}"
    elif beyond < len(row) and row[beyond].kind == "lowered":
        base += f"_{{{_translated(row[beyond].text, LOWERED)}}}"
        beyond += 1
    return rf"\sqrt{{{base}}}", beyond


def _with_scripts(base: str, row: tuple[Node, ...], at: int) -> tuple[str, int]:
    below, above, primes = "", "", ""
    if at < len(row) and row[at].kind == "number" and re.fullmatch("[A-Z]", base) and row[at].text.isdigit():
        below, at = row[at].text, at + 1  # S1 is S with the index 1
    while at < len(row):
        node = row[at]
        if node.kind == "raised":
            above += _translated(node.text, RAISED)
        elif node.kind == "lowered":
            below += _translated(node.text, LOWERED)
        elif node.kind == "mark" and node.text == "*":
            above += r"\star "
        elif node.kind == "mark" and node.text == "'":
            primes += r"\prime "
        elif node.kind == "script":
            text, at = _script(row, at + 1)
            if node.text == "_":
                below += text
            else:
                above += text
            continue
        else:
            break
        at += 1
    above = primes + (rf"\mathrm{{{above}}}" if base == NAMES["Vio"] and above.isalpha() else above)
    large = base in LARGE.values() and base != r"\Pi"
    script = (f"_{{{below}}}" if below else "") + (f"^{{{above.strip()}}}" if above else "")
    return base + script + (" " if large and not script else ""), at


def _script(row: tuple[Node, ...], at: int) -> tuple[str, int]:
    """What an index or exponent consists of: a bracket's contents, a name, or one symbol with its sign."""
    sign = ""
    if at < len(row) and row[at].kind == "op":
        sign, at = OPERATORS[row[at].text], at + 1
    if at >= len(row) and sign:
        return sign, at
    if at >= len(row):
        raise SettingError("a formula ends in ^ or _, where an exponent or index should follow")
    node = row[at]
    if node.kind == "group":
        return sign + set_formula(node.inner).strip(), at + 1
    if node.kind == "index":
        return sign + (NAMES.get(node.text) or rf"\mathrm{{{escaped(node.text)}}}"), at + 1
    if node.kind == "symbol":
        pair = node.text + (row[at + 1].text if at + 1 < len(row) else "")
        if pair in INDICES:
            return rf"{sign}\mathrm{{{pair}}}", at + 2
    text, beyond = _base(row, at)
    return sign + text, beyond


def _translated(text: str, table: dict[str, str]) -> str:
    return "".join(table[char] for char in text)
