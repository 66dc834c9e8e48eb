r"""Limits at infinity from expansions in falling powers of the variable, many times quicker than Gruntz's algorithm.

A function made of powers and logarithms is \(\sum_i c_i(\log t)\,t^{a_i}\) with rational \(a_1>a_2>\dots\). Its first
nonzero coefficient decides: the limit is 0 or infinite by the sign of \(a_1\), and for \(a_1=0\) it is the limit of
\(c_1\), a function of \(\log t\) of this kind. Exponentials, undetermined signs and coefficients that may or may not
vanish are left to SymPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

__all__ = ["ball", "generic", "limit_by_expansion"]

DEPTHS = (1, 3, 9)  # powers kept below the first; the next depth where all terms cancel
PRECISION_BITS = 256


class _Refused(Exception):
    """The expansion does not decide."""


class _Cancelled(_Refused):
    """All terms down to the depth cancel."""


@dataclass(frozen=True)
class _Series:
    """Coefficients by exponent, complete for exponents above `end`."""

    terms: dict[Any, Any]
    end: Any = -sp.oo

    def __bool__(self) -> bool:
        """True if the series is not exactly 0."""
        return bool(self.terms or self.end > -sp.oo)

    @property
    def top(self) -> Any:
        return max(self.terms, default=self.end)

    def __add__(self, other: _Series) -> _Series:
        terms = dict(self.terms)
        for exponent, coefficient in other.terms.items():
            terms[exponent] = terms.get(exponent, 0) + coefficient
        return _above(terms, max(self.end, other.end))

    def __mul__(self, other: _Series) -> _Series:
        if not (self and other):
            return _Series({})
        terms: dict[Any, Any] = {}
        for a, x in self.terms.items():
            for b, y in other.terms.items():
                terms[a + b] = terms.get(a + b, 0) + x * y
        return _above(terms, max(self.end + other.top, other.end + self.top))

    def led(self) -> tuple[Any, Any, _Series]:
        """Exponent, coefficient and rest of the series as \\(ct^a(1+\\text{rest})\\)."""
        for exponent in sorted(self.terms, reverse=True):
            if not _vanishes(first := self.terms[exponent]):
                rest = {a - exponent: c / first for a, c in self.terms.items() if a < exponent}
                return exponent, first, _Series(rest, self.end - exponent)
        raise _Cancelled


def _above(terms: dict[Any, Any], end: Any) -> _Series:
    return _Series({a: c for a, c in terms.items() if a > end and c != 0}, end)


def limit_by_expansion(expression: Any, t: Any) -> Any:
    """The limit as t tends to infinity, or None where the expansion does not decide.

    >>> t, K = sp.symbols("t K", positive=True)
    >>> limit_by_expansion(t * (sp.sqrt(sp.log(2 * t) / (t - K)) - sp.sqrt(sp.log(t) / t)), t)
    oo
    >>> limit_by_expansion(t * ((1 + K / t) ** 3 - 1), t), limit_by_expansion(sp.exp(-t), t)
    (3*K, None)
    """
    try:
        exponent, first = _leading(expression, t)
        if exponent < 0:
            return sp.Integer(0)
        if exponent > 0:
            return _sign(first, _log(t)) * sp.oo
        if first.has(_log(t)):
            return limit_by_expansion(first, _log(t))
        return sp.expand_log(first)
    except _Refused:
        return None


def _leading(expression: Any, t: Any) -> tuple[Any, Any]:
    """The first exponent and its coefficient, at the first depth where not all terms cancel."""
    for depth in DEPTHS:
        try:
            series = _expanded(expression, t, depth, {})
            return series.led()[:2] if series else (sp.Integer(0), sp.Integer(0))
        except _Cancelled:
            continue
    raise _Refused


def _sign(function: Any, t: Any) -> int:
    """Sign of a function for large t."""
    while function.has(t):
        function, t = _leading(function, t)[1], _log(t)
    for written in (function, sp.expand(function)):
        if written.is_positive or written.is_negative:
            return 1 if written.is_positive else -1
    raise _Refused


def _log(t: Any) -> Any:
    return sp.Symbol(f"log {t}", positive=True)


def _expanded(expression: Any, t: Any, depth: int, known: dict[Any, _Series]) -> _Series:
    if expression in known:
        return known[expression]
    parts = (_expanded(part, t, depth, known) for part in expression.args)
    if not expression.has(t):
        found = _Series({sp.Integer(0): expression} if expression != 0 else {})
    elif expression == t:
        found = _Series({sp.Integer(1): sp.Integer(1)})
    elif expression.is_Add:
        found = sum(parts, _Series({}))
    elif expression.is_Mul:
        found = next(parts)
        for part in parts:
            found = found * part
    elif expression.is_Pow and not expression.exp.has(t):
        found = _power(next(parts), expression.exp, t, depth)
    elif isinstance(expression, sp.log):
        found = _logarithm(next(parts), t, depth)
    else:
        raise _Refused
    known[expression] = found
    return found


def _power(base: _Series, power: Any, t: Any, depth: int) -> _Series:
    exponent, first, rest = base.led()
    if not (power.is_Rational or exponent == 0):
        raise _Refused
    if not power.is_Integer and _sign(first, _log(t)) < 0:
        raise _Refused
    outer = _Series({exponent * power: first**power})
    return outer * _composed(rest, depth, lambda k: sp.binomial(power, k).expand(func=True))


def _logarithm(inside: _Series, t: Any, depth: int) -> _Series:
    exponent, first, rest = inside.led()
    if _sign(first, _log(t)) < 0:
        raise _Refused
    outer = _Series({sp.Integer(0): sp.log(first) + exponent * _log(t)})
    return outer + _composed(rest, depth, lambda k: sp.Rational((-1) ** (k + 1), k) if k else sp.Integer(0))


def _composed(rest: _Series, depth: int, coefficient: Callable[[int], Any]) -> _Series:
    """The sum of coefficient(k)·rest^k, rest tending to 0, to the given depth."""
    if not rest:
        return _Series({sp.Integer(0): coefficient(0)})
    total, power, k = _Series({}, sp.Integer(-depth)), _Series({sp.Integer(0): sp.Integer(1)}), 0
    while power.top > -depth:
        total = total + power * _Series({sp.Integer(0): coefficient(k)})
        power, k = power * _above(rest.terms, max(rest.end, -depth)), k + 1
    return total


def _vanishes(coefficient: Any) -> bool:
    """True if a coefficient is 0 for all values of its symbols: not if a ball excludes 0, surely if it cancels."""
    coefficient = sp.sympify(coefficient)
    if coefficient.is_zero is not None:
        return bool(coefficient.is_zero)
    from flint import ctx

    try:
        with ctx.workprec(PRECISION_BITS):
            value = ball(coefficient, generic(coefficient))
    except ArithmeticError:
        raise _Refused from None
    if not value.contains(0):
        return False
    if value.is_finite() and sp.expand(coefficient) == 0:
        return True
    raise _Refused


def generic(expression: Any) -> dict[Any, Fraction]:
    """A prime as the value of each symbol: allowed by its assumptions, and unlikely to be a root."""
    symbols = sorted(expression.free_symbols, key=str)
    return {symbol: Fraction(int(sp.prime(i + 2))) for i, symbol in enumerate(symbols)}


def ball(number: Any, values: dict[Any, Fraction]) -> Any:
    """Ball of an expression at these values of its symbols. SymPy must not substitute them: it would write out powers
    of 2 in full.
    """
    from flint import arb

    if number is sp.pi:
        return arb.pi()
    if number.is_Symbol or number.is_Rational:
        value = Fraction(values.get(number, number))
        return arb(value.numerator) / value.denominator
    if isinstance(number, sp.exp | sp.log | sp.erfi):
        return getattr(ball(number.args[0], values), number.func.__name__)()
    if number.is_Pow and number.exp.is_Integer:
        return ball(number.base, values) ** int(number.exp)
    if number.is_Pow:
        return (ball(number.base, values).log() * ball(number.exp, values)).exp()
    if not (number.is_Add or number.is_Mul):
        raise ArithmeticError(f"no ball for {number}")
    first, *rest = (ball(part, values) for part in number.args)
    for one in rest:
        first = first + one if number.is_Add else first * one
    return first
