r"""Texts with mathematics: words, and LaTeX between dollar signs.

Every statement and argument of a claim is such a text: `said("at most $20B\sqrt{@x}$", x=Pdim / rate)`. The report
shows it as MathML, the erratum as LaTeX, and `terminal` as a line of Unicode.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from html import unescape
from typing import Any
from xml.etree.ElementTree import Element

from proofs_check.symbols import GLOSSARY
from theory.setting import SettingError

__all__ = ["explained", "line", "mathematics", "said", "split", "symbols_of", "terminal"]


def said(template: str, **expressions: Any) -> str:
    r"""A text with an expression in place of each `@name`.

    >>> from proofs_check.symbols import K, rate
    >>> said("The memory holds $@n$ samples.", n=K * rate)
    'The memory holds $K \\bar\\Lambda$ samples.'
    """
    from proofs_check.printing import latex

    used = set(re.findall(r"@(\w+)", template))
    if used - expressions.keys():
        missing = ", ".join(sorted(used - expressions.keys()))
        raise ValueError(f"no expression is given for {missing} in {template!r}")

    def put(place: re.Match[str]) -> str:
        """The LaTeX, with a space where its first letter would extend the name of a LaTeX command."""
        text, before = latex(expressions[place.group(1)]), template[: place.start()]
        return " " + text if re.search(r"\\[A-Za-z]+$", before) and text[0].isalpha() else text

    return re.sub(r"@(\w+)", put, template)


def split(text: str) -> Iterator[tuple[bool, str]]:
    """Pairs of whether a stretch of a text is mathematics, and the stretch.

    >>> list(split("for $t<K$ alone"))
    [(False, 'for '), (True, 't<K'), (False, ' alone')]
    """
    stretches = text.split("$")
    if len(stretches) % 2 == 0:
        raise SettingError(f"a dollar sign is missing in {text!r}: mathematics stands between two")
    return ((bool(at % 2), stretch) for at, stretch in enumerate(stretches) if stretch)


def mathematics(text: str) -> list[str]:
    """The formulas of a text in LaTeX."""
    return [stretch for formula, stretch in split(text) if formula]


def terminal(text: str) -> str:
    r"""A text as one line of Unicode.

    >>> terminal(r"at most $20B\sqrt{\mathrm{Pdim}/\bar\Lambda}$ for $t\ge K$")
    'at most 20B√(Pdim/Λ̄) for t ≥ K'
    """
    return "".join(line(stretch) if formula else stretch for formula, stretch in split(text))


# --- a formula on one line ---------------------------------------------------------------------------------

RELATIONS = dict(zip("=<>≤≥≠≈≡∼~∈∋→↦⇒⇔⟹⟺∝∣↘∩∪", "=<>≤≥≠≈≡~~∈∋→↦⇒⇔⇒⇔∝|↘∩∪", strict=True))
SIGNS = {"+": "+", "−": "-", "-": "-", "±": "±"}
OPENING, CLOSING = "([{⟨⌈⌊", ")]}⟩⌉⌋"
LARGE = {"∑": "Σ", "∏": "Π", "∫": "∫"}
ACCENTS = {"~": "\u0303", "^": "\u0302", "¯": "\u0304", "‾": "\u0304"}
RAISED = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")
LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
MARKS = {"⋆": "*", "⊤": "ᵀ", "′": "'", "″": "''"}  # as exponents
NUMBERS = {"N": "ℕ", "Z": "ℤ", "R": "ℝ"}
FACTORS = ("number", "letter", "word", "power", "root", "fraction")


@dataclass(frozen=True)
class _Piece:
    """A part of a line and its kind, which decides the spacing."""

    text: str
    kind: str


@cache
def line(latex: str) -> str:
    r"""A formula in LaTeX as one line of Unicode.

    >>> line(r"\widetilde V=\frac{3K(2t+1-K)^2}{2t},\quad k=\min(K,t)")
    'Ṽ = 3K(2t + 1 - K)²/(2t), k = min(K, t)'
    """
    from latex2mathml.converter import convert_to_element

    try:
        made = _joined(_row(convert_to_element(latex)))
    except Exception as error:  # latex2mathml has many kinds and no common one
        raise SettingError(f"the formula {latex} cannot be read: {type(error).__name__}") from error
    if left := re.findall(r"\\[A-Za-z]+", made):
        raise SettingError(f"{', '.join(left)} of the formula {latex} is not understood")
    return unicodedata.normalize("NFC", re.sub(" +", " ", made).strip()).replace("ϕ", "φ").replace("ϵ", "ε")


def _row(node: Element) -> list[_Piece]:
    """The pieces of an element's children."""
    return [piece for child in node for piece in _pieces(child)]


def _pieces(node: Element) -> list[_Piece]:
    tag, parts = node.tag, list(node)
    text = unescape(node.text or "").replace("\u00a0", " ")
    if tag == "mrow" and len(parts) > 1 and all(part.get("mathvariant") == "normal" for part in parts):
        return [_Piece("".join(part.text or "" for part in parts), "word")]
    if tag in ("math", "mrow", "mstyle"):
        return _row(node)
    if tag == "mspace":
        return [_Piece(" ", "space")] if float((node.get("width") or "0").rstrip("em")) > 0.5 else []
    if node.get("mathvariant") == "double-struck" and text in NUMBERS:
        return [_Piece(NUMBERS[text], "letter")]
    if tag == "mtext":
        return [_Piece(text, "text")]
    if tag == "mfrac" and node.get("linethickness") == "0":  # a binomial coefficient, in brackets of its own
        return [_Piece(" choose ".join(_joined(_pieces(part)) for part in parts), "text")]
    if tag == "mfrac":
        return [_fraction(_pieces(parts[0]), _pieces(parts[1]))]
    if tag == "msqrt":
        return [_Piece("√" + _bracketed(_row(node), ("letter", "number")), "root")]
    if tag == "mover":
        return [_Piece(_joined(_pieces(parts[0])) + ACCENTS[unescape(parts[1].text or "")], "letter")]
    if tag in ("msub", "munder"):
        return _scripted(_pieces(parts[0]), parts[1], None)
    if tag in ("msup", "mover"):
        return _scripted(_pieces(parts[0]), None, parts[1])
    if tag in ("msubsup", "munderover"):
        return _scripted(_pieces(parts[0]), parts[1], parts[2])
    return [_leaf(tag, text)]


def _leaf(tag: str, text: str) -> _Piece:
    if text in RELATIONS:
        return _Piece(RELATIONS[text], "relation")
    if text == "∇":
        return _Piece(text, "prefix")
    for kind, known in (("sign", SIGNS), ("large", LARGE), ("power", MARKS)):
        if text in known:
            return _Piece(known[text], kind)
    if text in (",", ";", ":", "…", "‖", "|", "⋅", "·", "/", "∀", "!"):
        kinds = {"‖": "bar", "|": "bar", "/": "stroke", "⋅": "stroke", "·": "stroke", "∀": "text"}
        kind = kinds.get(text, "comma" if text in ",;" else "mark")
        return _Piece({"⋅": "·", "∀": " ∀"}.get(text, text), kind)
    if len(text) == 1 and text in OPENING + CLOSING:
        return _Piece(text, "open" if text in OPENING else "close")
    if tag == "mn":
        return _Piece(text, "number")
    return _Piece(text, "letter" if len(text) < 2 else "function")


def _fraction(top: list[_Piece], bottom: list[_Piece]) -> _Piece:
    above = _joined(top)
    if (above, _joined(bottom)) == ("1", "2"):
        return _Piece("½", "power")
    if any(p.kind in ("sign", "relation", "fraction", "comma", "stroke") for p in _outside(top)):
        above = f"({above})"
    return _Piece(f"{above}/{_bracketed(bottom, ('letter', 'number', 'word', 'power', 'root'))}", "fraction")


def _outside(row: list[_Piece]) -> Iterator[_Piece]:
    """The pieces outside all brackets."""
    depth = 0
    for piece in row:
        depth -= piece.kind == "close"
        if depth == 0:
            yield piece
        depth += piece.kind == "open"


def _bracketed(row: list[_Piece], bare: tuple[str, ...]) -> str:
    """The row in brackets, unless it has them already or is one piece of a kind that needs none."""
    text = _joined(row)
    powered = "power" in bare and row[-1].kind == "close"
    closed = row[0].text == "(" and (row[-1].text == ")" or powered) and all(_depths(row))
    return text if closed or (len(row) == 1 and row[0].kind in bare) else f"({text})"


def _depths(row: list[_Piece]) -> Iterator[int]:
    """Number of open brackets after each piece except the last."""
    depth = 0
    for piece in row[:-1]:
        depth += (piece.kind == "open") - (piece.kind == "close")
        yield depth


def _scripted(base: list[_Piece], below: Element | None, above: Element | None) -> list[_Piece]:
    *before, last = base
    text, open_ended = last.text, False
    if below is not None:
        row = _pieces(below)
        index = _joined(row, tight=True)
        if index.isdigit():
            text += index.translate(LOWERED)
        else:
            text += f"_{index}" if len(row) == 1 else f"_{{{index}}}"
            open_ended = True
    if above is not None:
        row = _pieces(above)
        power = _joined(row, tight=True)
        if re.fullmatch("[*ᵀ']*[0-9+-]*", power):
            text += power.translate(RAISED)
        elif (
            len(row) == 1 and row[0].kind != "fraction" and (last.kind == "large" or power.isalnum())
        ) or _named(row):
            text, open_ended = f"{text}^{power}", True
        else:
            text += f"^{{{power}}}" if last.kind == "large" else f"^({power})"
    kind = last.kind
    if kind in ("letter", "word", "number", "power"):
        kind = "word" if open_ended else "power"
    if kind == "large":
        kind = "sum"
    return [*before, _Piece(text, kind)]


def _named(row: list[_Piece]) -> bool:
    """True if letters form a name above a symbol: CK, all, mem."""
    return len(row) > 1 and all(p.kind == "letter" and p.text.isascii() and p.text.isalpha() for p in row)


def _joined(row: list[_Piece], tight: bool = False) -> str:
    out, before = "", None
    for piece in row:
        out += ("" if before is None else _between(before, piece, tight)) + _spelled(before, piece, tight)
        before = piece
    return out


def _spelled(before: _Piece | None, piece: _Piece, tight: bool) -> str:
    """A piece with spaces around it if it is a relation or a sign between two terms."""
    if piece.kind == "relation":
        return piece.text if tight else f" {piece.text} "
    if piece.kind == "sign":
        leads = ("open", "sign", "relation", "comma", "text", "space", "stroke")
        first = before is None or before.kind in leads
        return piece.text if first or tight else f" {piece.text} "
    return piece.text


def _between(before: _Piece, piece: _Piece, tight: bool) -> str:
    if before.kind == "comma":
        return "" if tight else " "
    factor = before.kind in (*FACTORS, "close")
    if piece.kind == "function":
        return " " if factor or before.kind == "function" else ""
    if before.kind == "function":
        return " " if piece.kind not in ("open", "relation", "comma", "close") else ""
    if before.kind == "sum":
        return " " if piece.kind in (*FACTORS, "sum", "large") else ""
    if not factor or piece.kind not in FACTORS:
        return "·" if before.kind == "fraction" and piece.kind in ("open", "sum", "large") else ""
    apart = before.kind in ("fraction", "word", "root") or piece.kind in ("fraction", "word")
    if before.kind == "number" and piece.kind in ("word", "fraction"):
        return "·" if piece.kind == "fraction" else ""
    return "·" if apart or (before.text[-1].isdigit() and piece.text[0].isdigit()) else ""


# --- meanings of symbols -----------------------------------------------------------------------------------

# functions and letters with a fixed meaning, which need no explanation
PLAIN = frozenset({*("exp", "inf", "lim", "log", "max", "min", "mod", "sup", "arg"), *"eoOℕℝℤΣΠ½"})
INDEX = "[_^][A-Za-z]{2,}"  # a name below or above a symbol
LETTER = r"[^\W\d_⁰¹²³⁴⁵⁶⁷⁸⁹ᵀ][\u0302\u0303\u0304]?[₀-₉]*"


def symbols_of(text: str, known: Iterable[str] = GLOSSARY) -> list[str]:
    r"""The symbols of a text's formulas, in order and once each; `known` symbols may be longer than a letter.

    >>> symbols_of(r"$20B\sqrt{\mathrm{Pdim}/\bar\Lambda}\,N_{\mathrm{eff}}+K\bar\Lambda\log t$")
    ['B', 'Pdim', 'Λ̄', 'N_eff', 'K', 't']
    """
    known = set(known)
    names = sorted((name for name in known if len(name) > 1), key=len, reverse=True)
    pattern = "|".join([*map(re.escape, names), INDEX, *(name for name in PLAIN if len(name) > 1), LETTER])
    found = [name for formula in mathematics(text) for name in re.findall(pattern, _without_text(formula))]
    bare = (name if name in known else name.rstrip("₀₁₂₃₄₅₆₇₈₉") for name in found if name[0] not in "_^")
    return list(dict.fromkeys(name for name in bare if name not in PLAIN))


def _without_text(formula: str) -> str:
    return line(re.sub(r"\\text\{[^{}]*\}", r"\\quad ", formula))


def explained(text: str, more: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """Pairs (symbol, meaning) for the symbols of a text that have an explanation."""
    meanings = {**GLOSSARY, **more}
    return [(name, meanings[name]) for name in symbols_of(text, meanings) if name in meanings]
