"""LaTeX of a SymPy expression in the paper's symbols, written as the paper would."""

from typing import Any

import sympy as sp
from sympy.printing.latex import LatexPrinter

from proofs_check.symbols import SPELLING

__all__ = ["decimal", "latex"]

RANKED = ":"  # between a symbol's rank and its name
# order of factors in a product, as in the paper
ORDER = ("eta", "E", "D", "sigma", "L", "G", "B", "V", "C", "T", "K", "k", "Lambda", "t", "n")


class _Root(sp.Function):  # type: ignore[misc]
    """Root of a quotient, which SymPy would write as a quotient of roots."""


def _joined(product: Any) -> Any:
    """A product with its square roots joined under one root."""
    roots = [f for f in product.args if f.is_Pow and abs(f.exp) == sp.S.Half and not f.base.is_Integer]
    if len(roots) < 2:
        return product
    rest = [f for f in product.args if f not in roots]
    return sp.Mul(*rest, _Root(sp.Mul(*(f.base ** (2 * f.exp) for f in roots))))


def _readable(expression: Any) -> Any:
    # ρ^t, not exp(t·log ρ)
    powers = sp.sympify(expression).replace(sp.exp, lambda x: sp.exp(x).rewrite(sp.Pow))
    return _ranked(powers.replace(lambda e: e.is_Mul, _joined))


def _ranked(expression: Any) -> Any:
    """The expression with symbols renamed so that SymPy, which sorts factors by name, keeps our order."""
    places = {name: f"{place:02}" for place, name in enumerate(ORDER)}
    return expression.xreplace(
        {
            symbol: sp.Symbol(f"{places.get(symbol.name, 99)}{RANKED}{symbol.name}", **symbol.assumptions0)
            for symbol in expression.atoms(sp.Symbol)
        }
    )


def _positive_first(terms: Any) -> Any:
    return sorted(terms, key=lambda term: bool(term.could_extract_minus_sign()))


class _Latex(LatexPrinter):  # type: ignore[misc]
    def _as_ordered_terms(self, expr: Any, order: Any = None) -> Any:
        return _positive_first(super()._as_ordered_terms(expr, order))

    def _print__Root(self, expr: Any) -> str:
        return rf"\sqrt{{{self._print(expr.args[0])}}}"

    def _print_Symbol(self, expr: Any, style: str = "plain") -> str:
        name = expr.name.partition(RANKED)[2] or expr.name
        return SPELLING.get(name) or str(super()._print_Symbol(sp.Symbol(name), style))

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


def _plus_inside(expr: Any) -> tuple[Any, str]:
    """log(max(x, 1)) is log⁺ x."""
    (inside,) = expr.args
    if isinstance(inside, sp.Max) and sp.S.One in inside.args and len(inside.args) == 2:
        (inside,) = (a for a in inside.args if a != 1)
        return inside, "+"
    return inside, ""


def latex(expression: Any) -> str:
    r"""LaTeX of an expression in the paper's symbols.

    >>> from proofs_check.symbols import CONSTANTS, rate
    >>> print(latex(sp.sqrt(CONSTANTS.Pdim / rate)))
    \sqrt{\frac{\mathrm{Pdim}}{\bar\Lambda}}
    """
    return str(_Latex().doprint(_readable(expression)))


def decimal(expression: Any) -> Any:
    r"""The expression with its leading factor as a decimal where that is exact.

    >>> K = sp.Symbol("K")
    >>> latex(decimal(26 * K / 5)), latex(decimal(K / 3))
    ('5.2 K', '\\frac{K}{3}')
    """
    factor, rest = sp.sympify(expression).as_coeff_Mul()
    digits = sp.Float(factor, 2)
    return digits * rest if sp.Rational(str(digits)) == factor and not factor.is_Integer else expression
