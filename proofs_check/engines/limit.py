r"""Orders of growth of sums, from symbolic limits by the Stolz-Cesàro theorem.

A positive outcome proves the order of a sum, or a limit; a negative outcome is an infinite or different limit.

For \(S(T)=\sum_{t\le T}s(t)\) and a gauge g that increases to infinity, \(S(T)/g(T)\) has the limit of
\(s(t)/(g(t)-g(t-1))\) where that exists, infinite ones included. For g from a Hardy field (powers, logarithms, roots
and their combinations) with \(g'(t-1)/g'(t)\to1\), the difference may be replaced by \(g'(t)\), because \(g'\) is
eventually monotone. So one limit decides "S = O(g)": finite, it is the constant; infinite, it disproves the order.

Only the tail of the sum matters, so `eventually` resolves minima and maxima. SymPy's limits can be wrong where the
variable stands in an exponent beside powers of it: such a limit counts only if Arb balls at large values approach it.
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from typing import Any

import sympy as sp

from proofs_check.engines.expansion import ball, generic, limit_by_expansion
from proofs_check.evidence import Evidence, fails, holds, together, undecided

__all__ = ["converges", "diverges", "equivalent", "eventually", "limit", "limits", "stolz", "tends_to"]

PROBES = (10**6, 10**12, 10**24)
PROBES_FAR = (2**24, 2**48)  # the logarithm doubles between these
PRECISION_BITS = 1024
NO_LIMIT = "SymPy finds no limit of the ratio"


@cache
def limit(expression: Any, t: Any) -> Any:
    """The limit as t tends to infinity, or None where SymPy finds none or where values at large t contradict it.

    >>> t = sp.Symbol("t", positive=True)
    >>> power = sp.exp(-t * sp.log(2))
    >>> wrong = t**2 * (sp.sqrt(1 / (1 + power) - 1 / (t - 1)) - sp.sqrt(1 - 1 / t))  # tends to -1/2
    >>> sp.limit(wrong, t, sp.oo), limit(wrong, t), limit(2**-t, t)
    (0, None, 0)
    """
    if not t.is_Symbol:
        raise TypeError(f"{t} is no variable: nothing has a limit in it")
    expression = sp.sympify(expression)
    found = limit_by_expansion(expression, t)
    if found is not None:
        return sp.simplify(found)
    found = sp.limit(expression, t, sp.oo)
    if found.has(sp.Limit, sp.AccumBounds, sp.nan) or t in found.free_symbols:
        return None
    found = sp.simplify(found)
    exponential = any(power.exp.has(t) for power in expression.atoms(sp.Pow, sp.exp))
    return None if exponential and not _approached(expression, t, found) else found


def _approached(expression: Any, t: Any, end: Any) -> bool:
    """True if balls at large t approach the limit by a tenth at least, with allowed values of the other symbols."""
    from flint import ctx

    given = generic(expression)
    with ctx.workprec(PRECISION_BITS):
        near, far = (ball(expression, given | {t: Fraction(at)}) for at in PROBES_FAR)
        if end.is_infinite:
            sign = 1 if end.is_extended_positive else -1
            return bool(sign * far > sign * near * 11 / 10 and sign * near > 0)
        to = ball(end, given)
        return bool(abs(far - to) < abs(near - to) * 9 / 10 or abs(far - to) < 1e-30)


def eventually(expression: Any, t: Any) -> Any:
    """The expression for all large t, with each minimum and maximum replaced by the argument that attains it.

    >>> t = sp.Symbol("t", positive=True)
    >>> eventually(sp.log(sp.Max(t / 5, 1)) + sp.Max(3, 7 / t), t)
    log(t/5) + 3
    >>> [eventually(of(3 / t, 2 / (t - 1)), t) for of in (sp.Max, sp.Min)]
    [3/t, 2/(t - 1)]
    """
    expression = sp.sympify(expression)
    while corners := expression.atoms(sp.Max, sp.Min):
        corner = min(corners, key=sp.count_ops)  # contains no other minimum or maximum
        winner, *others = corner.args
        for other in others:
            ahead = limit(other - winner, t)
            if ahead == 0:  # a vanishing difference has the sign of its leading order, here 1/t
                ahead = limit(t * (other - winner), t)
            if ahead is None or not (ahead.is_positive or ahead.is_negative or ahead.is_infinite):
                raise ArithmeticError(f"which of {winner} and {other} wins as {t} grows is open")
            larger = bool(ahead.is_positive or ahead == sp.oo)
            if larger == isinstance(corner, sp.Max):
                winner = other
        expression = expression.xreplace({corner: winner})
    return expression


def stolz(summand: Any, t: Any, gauge: Any) -> Any:
    """lim S(T)/g(T), possibly infinite; None where SymPy finds no limit. Checks the theorem's conditions on g."""
    slope = sp.diff(gauge, t)
    if limit(gauge, t) != sp.oo:
        raise ArithmeticError(f"the gauge {gauge} must tend to infinity")
    if limit(slope.subs(t, t - 1) / slope, t) != 1:
        raise ArithmeticError(f"the gauge {gauge} grows too fast: g'(t-1)/g'(t) must tend to 1")
    return limit(eventually(summand, t) / slope, t)


def _certificate(summand: Any, t: Any, gauge: Any, found: Any) -> dict[str, Any]:
    slope = sp.diff(gauge, t)
    shown = {"summand": summand, "gauge": gauge, "gauge's slope": slope, "limit of summand/slope": found}
    if summand.free_symbols <= {t}:
        shown["summand/slope"] = {f"t={p:.0e}": f"{sp.N((summand / slope).subs(t, p), 8)}" for p in PROBES}
    return shown


def equivalent(summand: Any, t: Any, gauge: Any, constant: Any, *, domain: str) -> Evidence:
    """Test whether the sum over t <= T is asymptotic to constant·gauge(T).

    >>> t = sp.Symbol("t", positive=True)
    >>> equivalent(1 / sp.sqrt(t), t, sp.sqrt(t), 2, domain="T → ∞").outcome
    'holds'
    """
    found = stolz(summand, t, gauge)
    certificate = {**_certificate(summand, t, gauge, found), "constant": constant}
    shown: dict[str, Any] = {"domain": domain, "certificate": certificate}
    if found is None:
        return undecided("limit", NO_LIMIT, **shown)
    gap, tends = sp.simplify(found - constant), f"the sum divided by {gauge} tends to"
    if gap == 0:
        return holds("limit", f"{tends} {constant}", **shown)
    apart = gap.is_number and abs(sp.N(gap, 30)) > sp.Rational(1, 10**20)
    if gap.is_zero is False or gap.is_infinite or apart:
        return fails("limit", f"{tends} {found}, not to {constant}", **shown)
    return undecided("limit", f"the limit is {found}; that it equals {constant} was not shown", **shown)


def converges(summand: Any, t: Any, *, power: Any, domain: str) -> Evidence:
    """Test whether the sum over t is O(1), by comparison with t^(-power), power > 1, and with 1/t.

    >>> t = sp.Symbol("t", positive=True)
    >>> [converges(summand, t, power=2, domain="T → ∞").outcome for summand in (1 / t**2, 1 / t)]
    ['holds', 'fails']
    """
    if not sp.sympify(power) > 1:
        raise ValueError(f"a comparison series needs a power above 1, got {power}")
    tail = eventually(summand, t)
    scaled = limit(tail * t**power, t)
    certificate = {"summand": summand, "power": power, "limit of summand·t^power": scaled}
    shown: dict[str, Any] = {"domain": domain, "certificate": certificate}
    if scaled is not None and scaled.is_finite:
        detail = f"the summand times t^{power} tends to {scaled}, so the sum converges"
        return holds("limit", detail, **shown)
    harmonic = certificate["limit of summand·t"] = limit(tail * t, t)
    if harmonic is not None and (harmonic.is_positive or harmonic.is_negative or harmonic.is_infinite):
        return fails("limit", f"the summand times t tends to {harmonic}, so the sum diverges", **shown)
    return undecided("limit", f"neither t^(-{power}) nor 1/t settles the summand", **shown)


def diverges(
    expression: Any, variable: Any, *, what: str, domain: str, probes: Iterable[int] = (), **certificate: Any
) -> Evidence:
    """Evidence against a bound: the expression tends to infinity. Its values at the probes go into the certificate.

    >>> t = sp.Symbol("t", positive=True)
    >>> found = diverges(sp.sqrt(t), t, what="the root", domain="T → ∞", probes=[100])
    >>> found.outcome, found.certificate["values"]
    ('fails', {'t=1e+02': '10.000000'})
    """
    found = limit(eventually(expression, variable), variable)
    values = {f"{variable}={p:.0e}": str(sp.N(expression.subs(variable, p), 8)) for p in probes}
    probed = {"values": values} if values else {}
    shown = {**certificate, "expression": expression, **probed, "limit": found}
    if found == sp.oo:
        return fails("limit", f"{what} tends to infinity", domain=domain, certificate=shown)
    return undecided("limit", f"{what} has the limit {found}", domain=domain, certificate=shown)


def tends_to(expression: Any, variable: Any, expected: Any, *, what: str, domain: str) -> Evidence:
    """Test whether an expression has the expected limit; open where SymPy finds none or another."""
    found = limit(eventually(expression, variable), variable)
    shown = {"expression": expression, "limit": found}
    if found is not None and sp.simplify(found - expected) == 0:
        return holds("limit", f"{what} tends to {expected}", domain=domain, certificate=shown)
    detail = f"{what} has the limit {found}, expected {expected}"
    return undecided("limit", detail, domain=domain, certificate=shown)


def limits(variable: Any, *rows: tuple[Any, Any, str], domain: str) -> Evidence:
    """Test whether several limits are as expected: rows of expression, limit, and what it is.

    >>> t = sp.Symbol("t", positive=True)
    >>> limits(t, (1 / t, 0, "1/t"), (1 - 1 / t, 1, "its complement"), domain="t grows").pieces
    2
    """
    return together(*(tends_to(f, variable, end, what=what, domain=domain) for f, end, what in rows))
