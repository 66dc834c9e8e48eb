"""A SymPy expression as Coq writes it, over the real numbers."""

from string import ascii_lowercase
from typing import Any

import sympy as sp
from sympy.printing.str import StrPrinter

__all__ = ["coq"]

FUNCTIONS = {sp.log: "ln", sp.exp: "exp", sp.Min: "Rmin", sp.Max: "Rmax"}


class _Coq(StrPrinter):  # type: ignore[misc]
    """A printer that refuses what it does not know."""

    def emptyPrinter(self, expr: Any) -> str:
        raise NotImplementedError(f"{type(expr).__name__} has no Coq notation here: {expr}")

    def _argument(self, expr: Any) -> str:
        """The expression, in brackets unless it is one word."""
        text = str(self._print(expr))
        return f"({text})" if " " in text else text

    def _factor(self, expr: Any) -> str:
        text = self._print(expr)
        return f"({text})" if expr.is_Add or expr.is_Mul or expr.is_Rational else str(text)

    def _print_Symbol(self, expr: Any) -> str:
        return f"INR {expr.name}" if expr.is_integer else str(expr.name)

    def _print_Rational(self, expr: Any) -> str:
        return f"{'- ' if expr.p < 0 else ''}{abs(expr.p)}{f' / {expr.q}' if expr.q != 1 else ''}"

    _print_Integer = _print_Half = _print_One = _print_Zero = _print_NegativeOne = _print_Rational

    def _print_Add(self, expr: Any, order: Any = None) -> str:
        """Positive terms first, numbers last."""
        terms = [(term, bool(term.could_extract_minus_sign())) for term in expr.args]
        text = ""
        for term, minus in sorted(terms, key=lambda pair: (pair[1], pair[0].is_Rational)):
            sign = (" - " if minus else " + ") if text else "- " if minus else ""
            shown = -term if minus else term
            text += sign + (f"({self._print(shown)})" if shown.is_Add else str(self._print(shown)))
        return text

    def _print_Mul(self, expr: Any) -> str:
        if expr.could_extract_minus_sign():
            return f"- {self._factor(-expr)}"
        above, below = [], []
        for factor in expr.args:
            if factor.is_Rational:
                above += [sp.Integer(factor.p)] if factor.p != 1 else []
                below += [sp.Integer(factor.q)] if factor.q != 1 else []
            elif factor.is_Pow and factor.exp.is_Rational and factor.exp < 0:
                below.append(1 / factor)
            else:
                above.append(factor)
        top, bottom = (
            " * ".join(str(f) if f.is_Integer else self._factor(f) for f in some) for some in (above, below)
        )
        over = f"({bottom})" if len(below) > 1 else bottom
        return (top or "1") + (f" / {over}" if below else "")

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:
        base, power = expr.args
        if base is sp.E:
            return f"exp {self._argument(power)}"
        if power.is_Rational and power < 0:
            return f"/ {self._argument(1 / expr)}"
        if power.is_Integer:
            return f"{self._argument(base)} ^ {power}"
        if power.is_Rational and power.q == 2:
            root = f"sqrt {self._argument(base)}"
            return root if power.p == 1 else f"({root}) ^ {power.p}"
        if power.is_integer:
            return self._natural_power(base, power)
        return f"Rpower {self._argument(base)} {self._argument(power)}"

    def _natural_power(self, base: Any, power: Any) -> str:
        """x^(2K + 1) as it stands, x^(K - 1) as x^K / x."""
        constant, rest = power.as_coeff_Add()
        terms = [term.as_coeff_Mul() for term in rest.as_ordered_terms()]
        if not all(number > 0 and all(f.is_Symbol for f in sp.Mul.make_args(name)) for number, name in terms):
            raise NotImplementedError(f"{power} may be below 0, and Coq's powers are natural")
        names = " + ".join(
            " * ".join(str(f) for f in (number, *sp.Mul.make_args(name)) if f != 1) for number, name in terms
        )
        if constant > 0:
            names += f" + {constant}"
        whole = f"{self._argument(base)} ^ {f'({names})' if ' ' in names else names}"
        return f"({whole} / {self._argument(base ** (-constant))})" if constant < 0 else whole

    def _print_Sum(self, expr: Any) -> str:
        """`sum` counts from 0, by a name that nothing in the sum has."""
        ((index, first, last),) = expr.limits
        taken = {symbol.name for symbol in expr.free_symbols}
        free = (name for name in ascii_lowercase[ascii_lowercase.index("i") :] if name not in taken)
        i, own = next(free), index
        if index.name in taken:  # another symbol of the same name
            own = sp.Symbol(next(free), integer=True, positive=True)
        count, start = self._natural(sp.expand(last - first + 1)), self._natural(first)
        at = f"(S {i})" if start == "1" else f"({start} + {i})%nat"
        body = f"(fun {own.name} : nat => {self._print(expr.function.xreplace({index: own}))})"
        return f"sum {count} (fun {i} => {body} {at})"

    def _natural(self, expr: Any) -> str:
        """A natural number; what is taken away is less than what it is taken from, or this is another number."""
        if expr.is_Symbol or expr.is_Integer:
            return str(expr)
        if isinstance(expr, sp.Min):
            return f"(Nat.min {' '.join(map(self._natural, sorted(expr.args, key=sp.default_sort_key)))})"
        minus = [-term for term in expr.args if term.could_extract_minus_sign()]
        plus = [term for term in expr.args if not term.could_extract_minus_sign()]
        text = " + ".join(map(self._natural, plus)) + "".join(f" - {self._natural(term)}" for term in minus)
        return f"({text})%nat"

    def _print_Function(self, expr: Any) -> str:
        if expr.func not in FUNCTIONS:
            return self.emptyPrinter(expr)
        first, *rest = expr.args
        if len(rest) > 1:  # the least of three is that of one and the least of the others
            rest = [expr.func(*rest, evaluate=False)]
        return " ".join([FUNCTIONS[expr.func], *map(self._argument, (first, *rest))])

    _print_log = _print_Min = _print_Max = _print_Function


def coq(expression: Any) -> str:
    """The expression as a Coq term of type R; an integer symbol is a natural number there.

    >>> x, y, K = sp.Symbol("x", real=True), sp.Symbol("y", real=True), sp.Symbol("K", integer=True)
    >>> coq((1 - x) / (2 * K)), coq(x ** (K - 1)), coq(sp.sqrt(x * y)), coq(sp.Min(x, 2) + 1)
    ('(1 - x) / (2 * INR K)', '(x ^ K / x)', 'sqrt (x * y)', 'Rmin 2 x + 1')
    >>> coq(sp.Add(1, sp.Mul(-1, x + y, evaluate=False), evaluate=False)), coq(sp.Min(x, y, 2))
    ('1 - (x + y)', 'Rmin 2 (Rmin x y)')
    """
    return str(_Coq({"order": "none"}).doprint(sp.sympify(expression)))
