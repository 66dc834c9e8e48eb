"""Polynomial inequalities over the reals or the integers, by Z3.

A positive outcome proves that no point of the domain violates the statement. A negative outcome is a point of the
domain, substituted exactly into the original statement. A timeout is open.

Statements are written in SymPy, with rational functions and square roots. Z3 must prove that denominators keep their
sign before these are cleared, and that radicands are not negative before their roots become new variables. A minimum or
maximum becomes a variable that equals one of its arguments and bounds them all.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from operator import eq, ge, gt, le, lt, ne
from typing import Any

import sympy as sp

from proofs_check.evidence import Evidence, fails, holds, spelled, undecided

__all__ = ["always", "conjunction"]

QUERY_MILLISECONDS_MAX = 10_000
NICER_MILLISECONDS_MAX = 500  # per search for a nicer counterexample
_RELATIONS = {">": gt, ">=": ge, "<": lt, "<=": le, "==": eq, "!=": ne}


class _Open(Exception):
    """A side condition, such as the sign of a denominator, could not be settled."""


class _Solver:
    """The domain in Z3's terms, with what is proved about denominators and roots."""

    def __init__(self, integers: bool) -> None:
        import z3

        self.z3, self.integers = z3, integers
        self.variables: dict[Any, Any] = {}
        self.domain: list[Any] = []
        self.roots: dict[Any, Any] = {}

    def variable(self, symbol: Any) -> Any:
        if symbol not in self.variables:
            whole = self.integers and symbol.is_integer
            self.variables[symbol] = (self.z3.Int if whole else self.z3.Real)(str(symbol))
            if symbol.is_positive and symbol.is_integer:
                self.domain.append(self.variables[symbol] >= 1)
            elif symbol.is_positive:
                self.domain.append(self.variables[symbol] > 0)
            elif symbol.is_nonnegative:
                self.domain.append(self.variables[symbol] >= 0)
        return self.variables[symbol]

    def polynomial(self, expression: Any) -> Any:
        if expression.is_Integer:
            return self.z3.IntVal(int(expression))
        if expression.is_Rational:
            return self.z3.RealVal(f"{expression.p}/{expression.q}")
        if expression.is_Symbol:
            return self.variable(expression)
        if expression.is_Add or expression.is_Mul:
            result, *rest = (self.polynomial(a) for a in expression.args)
            for term in rest:
                result = result + term if expression.is_Add else result * term
            return result
        if expression.is_Pow and expression.exp.is_Integer and expression.exp.is_positive:
            base = result = self.polynomial(expression.base)
            for _ in range(int(expression.exp) - 1):
                result = result * base
            return result
        raise TypeError(f"{expression} is no polynomial: Z3 cannot take it")

    def without_roots(self, expression: Any) -> Any:
        """The expression with a variable s >= 0, s² = radicand, for each square root whose radicand is proved >= 0."""
        for power in sorted(expression.atoms(sp.Pow), key=sp.count_ops, reverse=True):
            if power.exp.is_Rational and power.exp.q == 2:
                if power.base not in self.roots:
                    radicand = self.without_roots(power.base)
                    root = sp.Symbol(f"root{len(self.roots) + 1}", nonnegative=True)
                    if not self.proves(self.comparison(radicand, ">=")):
                        raise _Open(f"the radicand {power.base} was not shown to be >= 0")
                    self.roots[power.base] = root
                    self.domain.append(self.comparison(root**2 - radicand, "=="))
                expression = expression.subs(power, self.roots[power.base] ** power.exp.p)
        return expression

    def comparison(self, difference: Any, relation: str) -> Any:
        """`difference relation 0` with its denominator cleared."""
        difference = self.without_roots(sp.sympify(difference))
        if any(power.exp.is_negative for power in difference.atoms(sp.Pow)):
            top = self._cleared(*sp.fraction(sp.together(difference)))
        else:
            _, top = sp.expand(difference).primitive()
        return _RELATIONS[relation](self.polynomial(top), 0)

    def _cleared(self, top: Any, bottom: Any) -> Any:
        """A polynomial with the sign of top/bottom."""
        top, bottom = sp.expand(top), sp.factor(bottom)
        sign = self.polynomial(bottom)
        if self.proves(sign > 0):
            return top
        if self.proves(sign < 0):
            return -top
        if self.proves(sign != 0):
            return sp.expand(top * bottom)
        raise _Open(f"the denominator {bottom} was not shown to differ from 0")

    def formula(self, statement: Any) -> Any:
        """A SymPy relation or a combination of relations."""
        if statement in (sp.true, sp.false):
            return self.z3.BoolVal(bool(statement))
        if isinstance(statement, sp.core.relational.Relational):
            return self.comparison(statement.lhs - statement.rhs, statement.rel_op)
        parts = [self.formula(a) for a in statement.args]
        if isinstance(statement, sp.Equivalent):
            return parts[0] == parts[1]
        for kind in ("And", "Or", "Not", "Implies"):
            if isinstance(statement, getattr(sp, kind)):
                return getattr(self.z3, kind)(*parts)
        raise TypeError(f"{statement} is no relation")

    def check(self, *more: Any, timeout: int = QUERY_MILLISECONDS_MAX) -> tuple[Any, Any]:
        solver = self.z3.Solver()
        solver.set("timeout", timeout)
        solver.set("random_seed", 0)
        solver.add(*self.domain, *more)
        return solver.check(), solver

    def proves(self, formula: Any) -> bool:
        return bool(self.check(self.z3.Not(formula))[0] == self.z3.unsat)

    def point(self, model: Any) -> dict[Any, Any]:
        """The model's values; an algebraic number to twenty digits."""
        values = {}
        for symbol, variable in self.variables.items():
            if symbol in self.roots.values():
                continue
            value = model.eval(variable, model_completion=True)
            if self.z3.is_algebraic_value(value):
                value = value.approx(20)
            values[symbol] = sp.Rational(value.as_string())
        return values


def _nice(solver: _Solver, negation: Any) -> Any:
    """A model with small whole values, if there is one, which is easier to check by hand."""
    z3 = solver.z3
    for size in (4, 12, 100):
        bounded = []
        for symbol, variable in solver.variables.items():
            if symbol not in solver.roots.values():
                bounded += [variable <= size, variable >= -size]
                if not z3.is_int(variable):
                    bounded.append(z3.IsInt(variable))
        outcome, found = solver.check(negation, *bounded, timeout=NICER_MILLISECONDS_MAX)
        if outcome == z3.sat:
            return found.model()
    return None


def conjunction(*statements: Any) -> Any:
    """The conjunction; refused where SymPy has already decided a statement, which would silently drop out.

    >>> x = sp.Symbol("x", positive=True)
    >>> conjunction(x < 2, x > 0)
    Traceback (most recent call last):
    ...
    ValueError: a statement without free symbols: SymPy has made it True, and Z3 would prove nothing about it. ...
    """
    for statement in statements:
        _refuse_decided(statement, "a statement")
    return sp.And(*statements)


def _refuse_decided(relation: Any, role: str) -> None:
    if not sp.sympify(relation).free_symbols:
        raise ValueError(
            f"{role} without free symbols: SymPy has made it {relation}, and Z3 would prove nothing about it. "
            "Keep it unevaluated (sp.Lt(a, b, evaluate=False)), drop the assumptions that decide it, or drop it."
        )


def always(statement: Any, *, given: Iterable[Any] = (), domain: str) -> Evidence:
    """Test whether a SymPy relation, or each of a list, holds wherever `given` and the symbols' assumptions do.

    Integer symbols are reals first, which is fast and proves more, and integers only where that fails. A statement or
    premise that SymPy has already decided is refused; hence several statements are a list, not an `And`, from which
    SymPy would drop these.

    >>> x, y = sp.symbols("x y", positive=True)
    >>> always((x + y) / 2 >= sp.sqrt(x * y), domain="x, y > 0").outcome
    'holds'
    >>> always(x**2 > x / 2, given=[x < 2], domain="0 < x < 2").outcome
    'fails'
    >>> always(sp.Min(x, y) + sp.Max(x, y) <= x + y, domain="x, y > 0").outcome
    'holds'
    """
    if isinstance(statement, sp.And):
        raise ValueError(f"give the parts of {statement} as a list, so that each is seen to be undecided")
    several = tuple(statement) if isinstance(statement, list | tuple) else (statement,)
    return _always(several, tuple(given), domain)


@cache  # several claims ask for the same
def _always(several: tuple[Any, ...], given: tuple[Any, ...], domain: str) -> Evidence:
    statements, premises = _without_corners(list(several), list(given))
    statement = conjunction(*statements)
    for premise in premises:
        _refuse_decided(premise, "a premise")
    symbols = sorted(sp.And(statement, *premises).free_symbols, key=str)
    found = _decide(statement, premises, symbols, domain, _Solver(integers=False))
    if found.outcome == "open" and any(symbol.is_integer for symbol in symbols):
        found = _decide(statement, premises, symbols, domain, _Solver(integers=True))
    return replace(found, pieces=len(several))


def _without_corners(statements: list[Any], premises: list[Any]) -> tuple[list[Any], list[Any]]:
    """Statements and premises with a variable, defined by premises, for each minimum and maximum."""
    whole, number = sp.Tuple(*statements, *premises), 0
    while corners := whole.atoms(sp.Min, sp.Max):
        corner = min(corners, key=lambda c: (sp.count_ops(c), str(c)))  # contains no other
        number += 1
        value = sp.Symbol(f"corner{number}", real=True)
        bounds = [value <= x if isinstance(corner, sp.Min) else value >= x for x in corner.args]
        one_of_them = sp.Or(*(sp.Eq(value, x) for x in corner.args))
        whole = sp.Tuple(*whole.xreplace({corner: value}), one_of_them, *bounds)
    return list(whole[: len(statements)]), list(whole[len(statements) :])


def _decide(
    statement: Any, premises: Sequence[Any], symbols: Sequence[Any], domain: str, solver: _Solver
) -> Evidence:
    wording = {"statement": statement, "given": [str(p) for p in premises]}
    try:
        for symbol in symbols:  # ordered by name, since Z3's answer depends on the order
            solver.variable(symbol)
        for premise in premises:  # one by one: the earlier help to clear denominators in the later
            solver.domain.append(solver.formula(premise))
        negation = solver.z3.Not(solver.formula(statement))
    except _Open as reason:
        return undecided("smt", str(reason), domain=domain, certificate=wording)
    outcome, found = solver.check(negation)
    if outcome == solver.z3.sat:
        point = solver.point(_nice(solver, negation) or found.model())
        return _counterexample(statement, premises, point, domain, wording)
    if outcome != solver.z3.unsat:
        return undecided("smt", f"Z3 gives up: {found.reason_unknown()}", domain=domain, certificate=wording)
    if solver.check()[0] != solver.z3.sat:
        detail = "Z3 finds no point in the domain either: the proof may be vacuous"
        return undecided("smt", detail, domain=domain, certificate=wording)
    detail, certificate = "Z3: no point of the domain violates it", {**wording, "negation": "unsat"}
    return holds("smt", detail, domain=domain, certificate=certificate)


def _counterexample(
    statement: Any, premises: Sequence[Any], point: dict[Any, Any], domain: str, wording: Any
) -> Evidence:
    """The model's point as a counterexample, if exact substitution confirms it without Z3."""
    named = {str(symbol): str(value) for symbol, value in point.items()}
    whole = all(value.is_integer for symbol, value in point.items() if symbol.is_integer)
    inside = whole and all(sp.simplify(p.subs(point)) == sp.true for p in premises)
    violated = sp.simplify(statement.subs(point)) == sp.false
    if not (inside and violated):
        detail = "Z3's counterexample is not whole or not rational; substituted, it is not confirmed"
        return undecided("smt", detail, domain=domain, certificate={**wording, "near": named})
    sides = {}
    if isinstance(statement, sp.core.relational.Relational):
        left, right = (sp.nsimplify(side.subs(point)) for side in (statement.lhs, statement.rhs))
        sides = {"left": left, "right": right}
    detail, certificate = f"violated at {spelled(named)}", {**wording, "at": named, **sides}
    return fails("smt", detail, domain=domain, certificate=certificate)
