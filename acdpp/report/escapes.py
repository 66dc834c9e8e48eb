"""Words, labels and finished formulas for LaTeX. A character without a spelling is an error and never dropped."""

from __future__ import annotations

import re
import string
import unicodedata

from theory.setting import SettingError

__all__ = ["LETTERS", "code", "escaped", "formula", "unknown"]

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


def escaped(text: str) -> str:
    r"""Words for LaTeX.

    >>> print(escaped("“5 %” by Stolz-Cesàro"))
    ``5 \%'' by Stolz-Ces\`{a}ro
    """
    out: list[str] = []
    for char in unicodedata.normalize("NFD", text):
        if char in TEXT_ACCENTS and out:
            out.append(rf"\{TEXT_ACCENTS[char]}{{{out.pop()}}}")
        elif char in SPECIAL:
            out.append(SPECIAL[char])
        elif char.isascii() and (char.isprintable() or char in "\n\t"):
            out.append(char)
        else:
            raise unknown(char)
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
            raise unknown(char)
        text = text.replace(char, f"{{{LETTERS[char]}}}")
    mean = re.compile(r"\\[A-Za-z]+|E(?=\[|\\\||\\sup|\\sum|\\,\\widehat)")
    text = mean.sub(lambda m: r"\mathbb E" if m[0] == "E" else m[0], text)
    text = re.sub(r"_\{(min|max)\}", r"_{\\\1}", text)
    text = re.sub(r"\^\{(CK|all|mem|opt|oracle|frozen)\}", r"^{\\mathrm{\1}}", text)
    text = re.sub(r"\\cdot- (\\frac(?:\{(?:[^{}]|\{[^{}]*\})*\}){2})", r"\\left(-\1\\right)", text)
    return re.sub(r"(?<=\d) ([a-z]{3,}) (?=\d)", r"\\text{ \1 }", text)


def unknown(char: str) -> SettingError:
    name = unicodedata.name(char, "no name")
    return SettingError(
        f"no LaTeX is known for the character {char!r} (U+{ord(char):04X}, {name}): give it one in acdpp/report"
    )
