r"""How formulas are written: symbols, their meaning, and LaTeX and Unicode from one SymPy expression.

Where a claim states a formula of `theory/`, its text is made by calling that function on the symbols below, so that
text and code cannot differ: `written(r"\widetilde V=@V", "Ṽ = @V", V=uniformity_constant(K, t))`. What is said
about the symbols in `GLOSSARY` is what `acdpp verify --explain` prints under a case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import sympy as sp
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE, precedence
from sympy.printing.str import StrPrinter

from theory.setting import Constants, Region

__all__ = [
    "CONSTANTS",
    "GLOSSARY",
    "REGION",
    "C",
    "Formula",
    "K",
    "N",
    "T",
    "V",
    "chi",
    "decimal",
    "explained",
    "inverse_neff",
    "latex",
    "mean_cost",
    "n",
    "neff",
    "rate",
    "rho",
    "said",
    "t",
    "total_buffer",
    "unicode",
    "words",
    "written",
]


# --- the symbols of the paper ------------------------------------------------------------------------------

K, t, T = sp.symbols("K t T", integer=True, positive=True)
n, N, rate, rho, chi, neff, C, V, mean_cost, total_buffer = sp.symbols(
    "n N Lambda rho chi Neff C V mean_cost total_buffer", positive=True
)
inverse_neff = 1 / neff
CONSTANTS = Constants(
    **{name: sp.Symbol(name, positive=True) for name in ("D", "sigma", "eta", "B", "Pdim", "L", "G")},
    E=sp.Symbol("E", integer=True, positive=True),
)
REGION = Region(rate=rate, rho=rho)

# how a symbol is written: name, LaTeX, Unicode; the others are written by their names
SPELLING = {
    "Lambda": (r"\bar\Lambda", "Λ̄"),
    "rho": (r"\rho", "ρ"),
    "sigma": (r"\sigma", "σ"),
    "eta": (r"\eta", "η"),
    "chi": (r"\chi", "χ"),
    "gamma": (r"\gamma", "γ"),
    "phi": (r"\phi", "φ"),
    "tau": (r"\tau", "τ"),
    "mu": (r"\mu", "μ"),
    "alpha": (r"\alpha", "α"),
    "alpha_m": (r"\alpha_m", "α_m"),
    "lambda_m": (r"\lambda_m", "λ_m"),
    "Neff": (r"N_{\mathrm{eff}}", "N_eff"),
    "Pdim": (r"\mathrm{Pdim}", "Pdim"),
    "mean_cost": (r"\bar c", "c̄"),
    "total_buffer": (r"\textstyle\sum B", "ΣB"),
    "second_moment": (r"E[c^2]", "E[c²]"),
    "drift_total": (r"\textstyle\sum_tB_t", "ΣB_t"),
    "Ā": (r"\bar A", "Ā"),
    "ψ": (r"\psi", "ψ"),
    "E[k]": (r"\mathbb E[k]", "E[k]"),
    "E[g²]": (r"\mathbb E[g^2]", "E[g²]"),
    "E[hg]": (r"\mathbb E[hg]", "E[hg]"),
    "omega1": (r"\Omega_1", "Ω₁"),
    "omega2": (r"\Omega_2", "Ω₂"),
    "omega3": (r"\Omega_3", "Ω₃"),
}

GLOSSARY = {
    "A": "reuse count of a sample: in how many rounds it has been trained on",
    "B": "bound on the loss",
    "B_m": "buffer of client m",
    "B_t": "the drift's quadratic part in round t, bounded",
    "C": "sampling-cost budget of a round",
    "C₁": "a constant of the paper's recursion (eq:C1C2-def)",
    "C₂": "the paper's per-round constant",
    "D": "diameter of the domain Θ",
    "E": "local steps a round (before a bracket: expectation)",
    "E_T": "cumulative excess risk after T rounds",
    "Ē_T": "the bound on it",
    "F_P": "population risk",
    "F_all": "empirical risk over all samples seen, weighted by use",
    "F_mem": "empirical risk over the memory",
    "G": "bound on gradients",
    "J_t": "the drift-plus-penalty objective of round t",
    "K": "retention horizon: in how many rounds a sample is used",
    "L": "smoothness of the losses; as a function, half the squared debt",
    "M": "number of clients",
    "N": "distinct samples seen so far",
    "N_eff": "effective sample size, N·Ṽ",
    "Pdim": "pseudo-dimension of the loss class",
    "Q": "the memory",
    "Reg": "regret: the policy's bound less the oracle's",
    "T": "number of rounds",
    "V": "weight of the penalty in drift plus penalty",
    "Vio^B": "cumulative buffer violation",
    "Vio^S": "cumulative cost violation",
    "W": "the memory's share of all uses",
    "Z": "cost debt",
    "c": "cost of a sample",
    "c̄": "mean cost of a sample",
    "i": "a sample",
    "k": "min(K, t)",
    "m": "a client",
    "n": "samples in memory",
    "p": "the penalty",
    "t": "a round",
    "x": "c̄ΣB/C: rounds it takes to pay for full buffers",
    "y": "t - (k-1)/2",
    "Λ": "samples admitted in a round",
    "Λ̄": "target rate of admissions",
    "Ṽ": "uniformity of the reuse counts",
    "ΣB": "all buffers together",
    "ΣB_t": "the drift's quadratic parts, added over the rounds",
    "Θ": "the parameter domain",
    "Ω₁": "bound less penalties",
    "Ω₂": "comparison penalties less their limits",
    "Ω₃": "limiting penalties less the oracle's bound",
    "α": "a client's share of the population",
    "γ": "exponent of V = T^γ",
    "η": "step size",
    "θ": "the model",
    "λ": "samples that a client admits in a round",
    "μ": "the printed 1/n - 1/N_eff",
    "π": "a policy",
    "ρ": "contraction of the admission region",
    "σ": "bound on the gradients' standard deviation",
    "σ̄": "root of the mean squared mismatch",
    "τ": "a round",
    "φ": "exponent of 1-ρ = T^-φ",
    "χ": "gradient mismatch, Σ(ω - 1{in memory}/n)²",
    "ω": "a sample's share of all uses",
    "∇": "gradient",
}


# products are written in this order: what the paper puts first comes first
ORDER = ("eta", "E", "D", "sigma", "L", "G", "B", "V", "C", "T", "K", "k", "Lambda", "t", "n", "N", "Neff")


# --- printers ----------------------------------------------------------------------------------------------


class _Root(sp.Function):  # type: ignore[misc]
    """The root of a quotient, which SymPy would write as a quotient of roots."""


def _joined(product: Any) -> Any:
    """A product with its square roots, above and below, under one root."""
    roots = [f for f in product.args if f.is_Pow and abs(f.exp) == sp.S.Half and not f.base.is_Integer]
    if len(roots) < 2:
        return product
    rest = [f for f in product.args if f not in roots]
    return sp.Mul(*rest, _Root(sp.Mul(*(f.base ** (2 * f.exp) for f in roots))))


def _readable(expression: Any) -> Any:
    powers = sp.sympify(expression).replace(
        sp.exp, lambda x: sp.exp(x).rewrite(sp.Pow)
    )  # ρ^t, not exp(t·log ρ)
    return powers.replace(lambda e: e.is_Mul, _joined)


def _positive_first(terms: Any) -> Any:
    return sorted(terms, key=lambda term: bool(term.could_extract_minus_sign()))


class _Latex(LatexPrinter):  # type: ignore[misc]
    def _as_ordered_terms(self, expr: Any, order: Any = None) -> Any:
        return _positive_first(super()._as_ordered_terms(expr, order))

    def _print__Root(self, expr: Any, exp: Any = None) -> str:
        return rf"\sqrt{{{self._print(expr.args[0])}}}" + (f"^{{{exp}}}" if exp is not None else "")

    def _print_Symbol(self, expr: Any, style: str = "plain") -> str:
        return SPELLING[expr.name][0] if expr.name in SPELLING else super()._print_Symbol(expr, style)

    def _print_log(self, expr: Any, exp: Any = None) -> str:
        inside, sign = _plus_inside(expr)
        power = f"^{{{exp}}}" if exp is not None else ""
        return rf"\log{sign and '^{+}'}{power}{self._bracketed(inside)}"

    def _print_Max(self, expr: Any, exp: Any = None) -> str:
        if sp.S.Zero in expr.args and len(expr.args) == 2:
            (inside,) = (a for a in expr.args if a != 0)
            return rf"\left[{self._print(inside)}\right]^{{+}}"
        return super()._print_Max(expr, exp)  # type: ignore[no-any-return]

    def _bracketed(self, expr: Any) -> str:
        text = self._print(expr)
        return rf"{{{text}}}" if expr.is_Symbol or expr.is_number else rf"\left({text}\right)"


SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


class _Unicode(StrPrinter):  # type: ignore[misc]
    def _as_ordered_terms(self, expr: Any, order: Any = None) -> Any:
        return _positive_first(super()._as_ordered_terms(expr, order))

    def _print__Root(self, expr: Any) -> str:
        return f"√({self._print(expr.args[0])})"

    def _print_Symbol(self, expr: Any) -> str:
        return SPELLING[expr.name][1] if expr.name in SPELLING else str(expr.name)

    def _print_Exp1(self, expr: Any) -> str:
        return "e"

    def _print_Pi(self, expr: Any) -> str:
        return "π"

    def _print_exp(self, expr: Any) -> str:
        return f"exp({self._print(expr.args[0])})"

    def _print_log(self, expr: Any) -> str:
        inside, sign = _plus_inside(expr)
        text = self._print(inside)
        return (
            f"log{sign and '⁺'} {text}"
            if inside.is_Symbol or inside.is_Integer
            else f"log{sign and '⁺'}({text})"
        )

    def _print_Max(self, expr: Any) -> str:
        if sp.S.Zero in expr.args and len(expr.args) == 2:
            (inside,) = (a for a in expr.args if a != 0)
            return f"[{self._print(inside)}]⁺"
        return f"max({', '.join(map(self._print, expr.args))})"

    def _print_Min(self, expr: Any) -> str:
        return f"min({', '.join(map(self._print, expr.args))})"

    def _print_Sum(self, expr: Any) -> str:
        index, first, last = expr.limits[0]
        range_ = f"Σ_{{{self._print(index)}={self._print(first)}}}^{{{self._print(last)}}}"
        return f"{range_} {self.parenthesize(expr.function, PRECEDENCE['Mul'])}"

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:
        base, power = expr.base, expr.exp
        if base is sp.S.Exp1:
            return f"exp({self._print(power)})"
        if power == sp.S.Half:
            text = self._print(base)
            return f"√{text}" if base.is_Symbol or base.is_Integer else f"√({text})"
        if power.could_extract_minus_sign():
            return f"1/{self._tight(base**-power)}"
        body = self._print(base) if base.is_Symbol else f"({self._print(base)})"
        if base.is_Integer and base >= 0:
            body = self._print(base)
        return body + (
            self._print(power).translate(SUPERSCRIPT) if power.is_Integer else f"^{self._tight(power)}"
        )

    def _tight(self, expr: Any) -> str:
        """In brackets unless it binds tighter than a product."""
        text = self._print(expr)
        return text if precedence(expr) >= PRECEDENCE["Pow"] and "/" not in text else f"({text})"

    def _print_Mul(self, expr: Any) -> str:
        sign, expr = ("-", -expr) if expr.could_extract_minus_sign() else ("", expr)
        if not expr.is_Mul:
            return str(sign + self.parenthesize(expr, PRECEDENCE["Mul"]))
        top, bottom = sp.fraction(expr)
        if bottom != 1:
            below = f"({self._product(bottom)})" if bottom.is_Mul else self._tight(bottom)
            return f"{sign}{self._product(top)}/{below}"
        return str(sign + self._product(expr))

    def _product(self, expr: Any) -> str:
        """Factors side by side where that can be read: a number or a short symbol before anything, else a dot."""
        factors = list(expr.as_ordered_factors()) if expr.is_Mul else [expr]
        order = sorted(factors, key=_place)
        texts = [self.parenthesize(f, PRECEDENCE["Mul"]) for f in order]
        joined = str(texts[0])
        for before, text in pairwise(texts):
            short = len(before) <= 2 and before[0] != "√"
            plain = short or before.isdigit() or (before[-1] == ")" and text[0] == "(")
            named = text.startswith(("log", "min", "max", "exp"))
            joined += ("" if plain and not text[0].isdigit() and not named else "·") + text
        return str(joined)


def _place(factor: Any) -> tuple[int, int]:
    """Numbers, then symbols and their powers in the paper's order, then roots, then sums and logarithms."""
    base = factor.base if factor.is_Pow and factor.exp.is_Integer else factor
    if base.is_Symbol:
        return 1, ORDER.index(base.name) if base.name in ORDER else len(ORDER)
    return (0 if factor.is_number else 3 if factor.is_Add or factor.has(sp.log, sp.Sum) else 2), 0


def _plus_inside(expr: Any) -> tuple[Any, str]:
    """log(max(x, 1)) is log⁺ x."""
    inside = expr.args[0]
    if isinstance(inside, sp.Max) and sp.S.One in inside.args and len(inside.args) == 2:
        (inside,) = (a for a in inside.args if a != 1)
        return inside, "+"
    return inside, ""


def latex(expression: Any) -> str:
    r"""LaTeX of an expression in the paper's symbols.

    >>> print(latex(sp.sqrt(CONSTANTS.Pdim / rate)))
    \sqrt{\frac{\mathrm{Pdim}}{\bar\Lambda}}
    """
    return str(_Latex().doprint(_readable(expression)))


def unicode(expression: Any) -> str:
    """The same on one line of text.

    >>> unicode(20 * CONSTANTS.B * sp.sqrt(CONSTANTS.Pdim / rate) * (1 - 1 / sp.sqrt(K)))
    '20B√(Pdim/Λ̄)(1 - 1/√K)'
    """
    return str(_Unicode().doprint(_readable(expression)))


def decimal(expression: Any) -> Any:
    """The expression with its leading factor as a decimal, where that is as exact and easier to read.

    >>> unicode(decimal(26 * K / 5)), unicode(decimal(K / 3))
    ('5.2·K', 'K/3')
    """
    factor, rest = sp.sympify(expression).as_coeff_Mul()
    digits = sp.Float(factor, 2)
    return digits * rest if sp.Rational(str(digits)) == factor and not factor.is_Integer else expression


# --- texts -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Formula:
    """What a claim says in symbols, twice: for a paper and for a terminal."""

    latex: str
    unicode: str


def written(tex: str, line: str, **expressions: Any) -> Formula:
    r"""A formula with expressions put in where `@name` stands, by the same rules in both spellings.

    >>> written(r"N\le@N", "N <= @N", N=N + t)
    Formula(latex='N\\le N + t', unicode='N <= N + t')
    """
    return Formula(_filled(tex, expressions, latex), _filled(line, expressions, unicode))


def said(template: str, **expressions: Any) -> str:
    """A sentence with expressions put in where `@name` stands.

    >>> said("The memory holds @n samples.", n=K * rate)
    'The memory holds KΛ̄ samples.'
    """
    return _filled(template, expressions, unicode)


def _filled(template: str, expressions: Mapping[str, Any], spell: Any) -> str:
    used = set(re.findall(r"@(\w+)", template))
    if used - expressions.keys():
        raise ValueError(
            f"no expression is given for {', '.join(sorted(used - expressions.keys()))} in {template!r}"
        )

    def put(place: re.Match[str]) -> str:
        """A letter right behind a command of LaTeX would be read as part of its name."""
        text, before = str(spell(expressions[place.group(1)])), template[: place.start()]
        return " " + text if re.search(r"\\[A-Za-z]+$", before) and text[0].isalpha() else text

    return re.sub(r"@(\w+)", put, template)


# what is read and not explained: functions, letters with a fixed meaning, short words (longer ones are seen as words)
PLAIN = frozenset(
    {
        *("exp", "inf", "lim", "log", "max", "min", "mod", "sup", "e", "o", "O", "ℕ", "Σ", "Π"),
        *(
            "all",
            "and",
            "any",
            "are",
            "as",
            "at",
            "but",
            "by",
            "for",
            "if",
            "in",
            "is",
            "no",
            "not",
            "of",
            "on",
            "or",
        ),
        *("per", "the", "to"),
    }
)
LETTER = r"[^\W\d_⁰¹²³⁴⁵⁶⁷⁸⁹][\u0302\u0303\u0304]?[₀-₉]*"
LONG = re.compile("[A-Za-z][a-z]{3,}")


def words(line: str, known: Iterable[str] = GLOSSARY) -> list[str]:
    """The symbols that occur in a line of Unicode mathematics, in order, once each; `known` ones may be longer than a
    letter.

    >>> words("20B√(Pdim/Λ̄)·N_eff + KΛ̄·log t")
    ['B', 'Pdim', 'Λ̄', 'N_eff', 'K', 't']
    """
    known = set(known)
    names = sorted((name for name in known if len(name) > 1), key=len, reverse=True)
    found = re.findall("|".join([*map(re.escape, names), "[A-Za-z]{2,}", LETTER]), line)
    single = (
        [token]
        if token in known or token in PLAIN
        else []
        if LONG.fullmatch(token)
        else re.findall(LETTER, token)
        for token in found
    )
    return list(dict.fromkeys(symbol for symbols in single for symbol in symbols if symbol not in PLAIN))


def explained(line: str, more: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """Pairs (symbol, meaning) for the symbols of a line that have an explanation."""
    meanings = {**GLOSSARY, **more}
    return [(word, meanings[word]) for word in words(line, meanings) if word in meanings]
