"""Texts, words, labels and formulas for LaTeX. A character without a spelling is an error and never dropped."""

import re
import string
import unicodedata
from collections.abc import Callable
from typing import NoReturn

from proofs_check.text import split
from theory.setting import SettingError

__all__ = ["LABEL", "Link", "code", "escaped", "formula", "latex", "symbol"]

Link = Callable[[str], str]
LABEL = r"(?<![\w`:/])[a-z]{2,5}:[A-Za-z0-9][\w-]*(?:/[A-Za-z0-9][\w-]*)*"

GREEK = "alpha beta gamma delta varepsilon zeta eta theta lambda mu nu pi rho sigma tau phi chi psi omega"
CAPITALS = "Gamma Delta Theta Lambda Phi Psi Omega"
NAMED = zip("αβγδεζηθλμνπρστφχψωΓΔΘΛΦΨΩ", f"{GREEK} {CAPITALS}".split(), strict=True)
LETTERS = {letter: rf"\{name}" for letter, name in NAMED} | {
    "ℕ": r"\mathbb N",
    "ℤ": r"\mathbb Z",
    "ℝ": r"\mathbb R",
    "ℓ": r"\ell",
    "∇": r"\nabla",
    "∞": r"\infty",
    "½": r"\tfrac12",
}
TEXT_ACCENTS = {"\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0308": '"'}
SPECIAL = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
           "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "“": "``", "”": "''", '"': "''",
           "‘": "`", "’": "'", "–": "--", "—": "---", "…": r"\ldots{}", "<": "$<$", ">": "$>$", "|": "$|$",
           "⟨": r"$\langle$", "⟩": r"$\rangle$", "⌈": r"$\lceil$", "⌉": r"$\rceil$", "⌊": r"$\lfloor$",
           "⌋": r"$\rfloor$", "‖": r"$\|$", "√": r"$\surd$", "\u00a0": "~", "·": r"$\cdot$",
           "×": r"$\times$"}  # fmt: skip
SIGNS = {"≤": r"\le", "≥": r"\ge", "≠": r"\ne", "≈": r"\approx", "±": r"\pm", "∝": r"\propto", "∈": r"\in",
         "→": r"\to", "↦": r"\mapsto", "⇒": r"\Rightarrow", "⇔": r"\iff", "Σ": r"\Sigma", "Π": r"\Pi", "∩": r"\cap",
         "∀": r"\forall", "ᵀ": r"^{\top}", "⋆": r"\star", "∫": r"\int"}  # fmt: skip
ACCENTS = {"\u0302": r"\widehat", "\u0303": r"\widetilde", "\u0304": r"\bar"}
# a letter or a name, an accent, an index in figures or letters, a name above
SYMBOL = "([^\\W\\d_]|[A-Z][a-z]+)([\u0302-\u0304])?([₀-₉]+)?(?:_([A-Za-z]+))?(?:\\^([A-Za-z]+))?"


def latex(text: str, link: Link | None = None) -> str:
    r"""A text (`proofs_check.text`) in LaTeX; `link` sets the labels of claims.

    >>> print(latex("In round $t<K$ it is 5 % of eq:nc-lb."))
    In round $t<K$ it is 5\,\% of \texttt{eq:\allowbreak nc-\allowbreak lb}.
    """
    set_ = (
        f"${formula(stretch)}$" if maths else _words(stretch, link or code) for maths, stretch in split(text)
    )
    return "".join(set_)


def _words(text: str, link: Link) -> str:
    """Words with labels, names of code and numbers as a typesetter has them."""
    out = ""
    for word in re.split(rf"(`[^`]+`|{LABEL})", text):
        if re.fullmatch(LABEL, word.strip("`")):
            out += link(word.strip("`"))
        elif word.startswith("`") and len(word) > 1:
            out += code(word.strip("`"))
        else:
            out += escaped(word)
    numbered = r"\b([Tt]heorem|Section|Remark|Algorithm|Corollary|[Rr]ounds?|Assumptions?) (?=\d)"
    return re.sub(r"(?<=\d) (?=\\%)", r"\\,", re.sub(numbered, r"\1~", out))


def symbol(name: str) -> str:
    r"""The name of a symbol, as a glossary has it.

    >>> print(symbol("Λ̄"), symbol("N_eff"), symbol("C₂"))
    $\bar{\Lambda}$ $N_{\mathrm{eff}}$ $C_{2}$
    """
    found = re.fullmatch(SYMBOL, unicodedata.normalize("NFD", name))
    if found is None:
        return latex(name)
    letter, accent, number, index, power = (group or "" for group in found.groups())
    body = letter if letter.isascii() else LETTERS.get(letter) or SIGNS.get(letter) or _unknown(letter)
    tex = rf"{ACCENTS[accent]}{{{body}}}" if accent else rf"\mathrm{{{body}}}" if len(letter) > 1 else body
    for mark, text in (("_", unicodedata.normalize("NFKC", number) or index), ("^", power)):
        if text:
            upright = text if len(text) == 1 else rf"\mathrm{{{text}}}"
            tex += f"{mark}{{{upright}}}"
    return f"${tex}$"


def escaped(text: str) -> str:
    r"""Words for LaTeX; a letter or sign of mathematics among them is set as such.

    >>> print(escaped("“5 %” by Stolz-Cesàro, Ω₃ ≤ 1"))
    ``5 \%'' by Stolz-Ces\`{a}ro, \(\Omega\)\(_{3}\) \(\le\) 1
    """
    out: list[str] = []
    for char in unicodedata.normalize("NFD", text):
        if char in TEXT_ACCENTS and out and out[-1].startswith(r"\(") and char in ACCENTS:
            out.append(rf"\({ACCENTS[char]}{{{out.pop()[2:-2]}}}\)")
        elif char in TEXT_ACCENTS and out:
            out.append(rf"\{TEXT_ACCENTS[char]}{{{out.pop()}}}")
        elif char in SPECIAL:
            out.append(SPECIAL[char])
        elif char in LETTERS or char in SIGNS:
            out.append(rf"\({LETTERS.get(char) or SIGNS[char]}\)")
        elif unicodedata.decomposition(char).startswith(("<super>", "<sub>")):
            mark = "^" if "super" in unicodedata.decomposition(char) else "_"
            out.append(rf"\({mark}{{{unicodedata.normalize('NFKC', char).replace('−', '-')}}}\)")
        elif char.isascii() and (char.isprintable() or char in "\n\t"):
            out.append(char)
        else:
            _unknown(char)
    return "".join(out)


def code(text: str) -> str:
    r"""A label or a name of code, which may be broken behind its marks.

    >>> print(code("eq:vck-exact/range"))
    \texttt{eq:\allowbreak vck-\allowbreak exact/\allowbreak range}
    """
    broken = re.sub(r"([:/.-]|\\_)(?=.)", r"\1\\allowbreak ", escaped(text))
    return rf"\texttt{{{broken}}}"


def formula(text: str) -> str:
    r"""A formula of the document in the paper's letters: a blackboard E for means, words set as words.

    >>> print(formula(r"E[c^2]n_{min}=203 against 100"))
    \mathbb E[c^2]n_{\min}=203\text{ against }100
    """
    text = re.sub("[⁰¹²³⁴-⁹]+", lambda m: f"^{{{unicodedata.normalize('NFKC', m[0])}}}", text)
    text = re.sub("(.)\u0304", r"\\bar{\1}", unicodedata.normalize("NFD", text))
    for char in {*text} - {*string.printable}:
        if char not in LETTERS:
            _unknown(char)
        text = text.replace(char, f"{{{LETTERS[char]}}}")
    mean = re.compile(r"\\[A-Za-z]+|E(?=\[|\\\||\\sup|\\sum|\\,\\widehat)")
    text = mean.sub(lambda m: r"\mathbb E" if m[0] == "E" else m[0], text)
    text = re.sub(r"_\{(min|max)\}", r"_{\\\1}", text)
    text = re.sub(r"\^\{(CK|all|mem|opt|oracle|frozen)\}", r"^{\\mathrm{\1}}", text)
    text = re.sub(r"\\cdot- (\\frac(?:\{(?:[^{}]|\{[^{}]*\})*\}){2})", r"\\left(-\1\\right)", text)
    return re.sub(r"(?<=\d) ([a-z]{3,}) (?=\d)", r"\\text{ \1 }", text)


def _unknown(char: str) -> NoReturn:
    name = unicodedata.name(char, "no name")
    raise SettingError(
        f"no LaTeX is known for the character {char!r} (U+{ord(char):04X}, {name}): give it one in acdpp/report"
    )
