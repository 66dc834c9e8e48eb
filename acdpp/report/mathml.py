"""LaTeX formulas as MathML that today's browsers set well.

`latex2mathml` reads the formula. What it writes leans in places on parts of MathML that browsers have dropped, such as
the attribute for script letters, and it leaves the spaces around `log` to them; both are mended here.
"""

import re
import unicodedata
from functools import cache

from latex2mathml.converter import convert
from markupsafe import Markup

__all__ = ["NotTypeset", "mathml"]

ALPHABETS = {
    "script": "SCRIPT CAPITAL",
    "double-struck": "DOUBLE-STRUCK CAPITAL",
    "bold": "BOLD CAPITAL",
    "bold digit": "BOLD DIGIT",
}
THIN = '<mspace width="0.167em"/>'
# what a name such as log keeps a distance from: whatever is no operator and no opening bracket
AFTER = r"(</(?:mi|mn|msub|msup|msubsup|mfrac|msqrt|mrow|mover)>|&#x00029;</mo>)"
BAR = r'<mover accent="true">\1<mo stretchy="true">&#x0203E;</mo>'
UPRIGHT = r'<mi mathvariant="normal">\1</mi>'
NAMES = "log|max|min|exp|sup"


class NotTypeset(ValueError):
    """A formula with a command that is not understood, which would stand in the page as it is."""


@cache
def mathml(latex: str, display: str = "block") -> Markup:
    """A formula as MathML.

    >>> print(mathml(r"T\\log T", "inline"))  # doctest: +ELLIPSIS
    <math ...<mi>T</mi><mspace width="0.167em"/><mi>log</mi><mspace width="0.167em"/><mi>T</mi></mrow></math>
    >>> mathml(r"\\leD")
    Traceback (most recent call last):
    acdpp.report.mathml.NotTypeset: \\leD of the formula \\leD has no MathML
    """
    made = convert(latex, display=display)
    if left := re.findall(r"\\[A-Za-z]+", made):
        raise NotTypeset(f"{', '.join(left)} of the formula {latex} has no MathML")
    made = re.sub(r'<(mi|mn) mathvariant="([\w-]+)">(\w)</\1>', _lettered, made)
    made = made.replace("<mi>&#x0007E;</mi>", "<mo>&#x0223C;</mo>")
    made = re.sub("<mi>(&#x003(?:9[1-9A-F]|A[0-9]);)</mi>", UPRIGHT, made)  # capitals of Greek, as in print
    made = re.sub("<mi>(&#x027F[9A];)</mi>", r"<mo>\1</mo>", made)  # arrows of logic, which keep a distance
    made = re.sub('<mover>(.*?)<mo stretchy="true">&#x000AF;</mo>', BAR, made)
    made = re.sub(rf"<mo>({NAMES})</mo>(?=(<mrow>)?<mo stretchy)", r"<mi>\1</mi>", made)
    made = made.replace('fence="true" form', 'lspace="0" rspace="0" form')
    made = re.sub(rf"{AFTER}((?:<msup>)?<mi>(?:{NAMES})</mi>)", rf"\1{THIN}\2", made)
    made = re.sub(r"(<mi>log</mi>)(?=<m[inrsof]|<mrow>)(?!<mo)", rf"\1{THIN}", made)
    return Markup(made)


def _lettered(found: re.Match[str]) -> str:
    """A letter of another alphabet as a character of its own, where there is one."""
    element, variant, letter = found.groups()
    alphabet = ALPHABETS.get(f"{variant} digit" if letter.isdigit() else variant)
    name = unicodedata.name(letter).rpartition(" ")[2]
    for word in ("MATHEMATICAL ", ""):
        try:
            return f"<{element}>{unicodedata.lookup(f'{word}{alphabet} {name}')}</{element}>"
        except KeyError:
            continue
    return found[0]
