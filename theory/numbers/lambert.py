r"""The partial Lambert sum \(\sum_{\tau<t}\rho^\tau/(1-\rho^\tau)\), as a function of a real or complex t.

It is what \(\Lambda_{\max}(\tau)=\bar\Lambda/(1-\rho^\tau)\) adds up to beyond \(\bar\Lambda(t-1)\). With
\(a=-\log\rho\), \(h(x)=1/(e^{ax}-1)\) and \(S(z)=\sum_{n\ge0}h(z+n)\) it is \(S(1)-S(t)\), which is
\((\psi_\rho(1)-\psi_\rho(t))/\log\rho\) in terms of the q-digamma function.

S is computed by adding some terms and continuing from z, now larger, with Euler-Maclaurin:

\[S(z)=-\frac{\log(1-e^{-az})}{a}+\frac{h(z)}2-\sum_{r=1}^{M}\frac{B_{2r}}{(2r)!}h^{(2r-1)}(z)+R(z),\qquad
  |R(z)|\le\frac{|B_{2M}|}{(2M)!}\,\bigl|h^{(2M-1)}(\operatorname{Re}z)\bigr|\quad(\operatorname{Re}z>0).\]

Proof of the bound: -R is the integral of \(h^{(2M)}(z+x)\,\tilde B_{2M}(x)/(2M)!\) over x > 0, the periodic
\(\tilde B_{2M}\) is at most \(|B_{2M}|\), and \(h=\sum_{m\ge1}e^{-amx}\) is completely monotone: so
\(|h^{(j)}(z)|\le|h^{(j)}(\operatorname{Re}z)|\), and \(|h^{(2M)}|\) integrates to \(|h^{(2M-1)}|\).
"""

import math
import sys
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, Self

from theory.numbers.algebra import exp, kind, log, one_minus_exp

__all__ = ["lambert_partial", "lambert_total"]


def lambert_partial(rho: Any, t: Any) -> Any:
    r"""\(\sum_{\tau=1}^{t-1}\rho^\tau/(1-\rho^\tau)\) for 0 < ρ < 1 and Re t > 0, ρ of the kind of t.

    Exact for rationals and integer t, an unevaluated sum for symbols, a proved enclosure on balls,
    and otherwise a few units in the last place (for real t between 1 and 2: of the value at t = 2).

    >>> lambert_partial(Fraction(1, 2), 3), round(float(lambert_partial(0.5, 3)), 12)
    (Fraction(4, 3), 1.333333333333)
    """
    if "symbol" in (kind(t), kind(rho)):
        return _symbolic(rho, t - 1)
    if isinstance(rho, Fraction):
        if t != int(t):
            raise ValueError(f"an exact partial sum needs a whole t, such as 3, got {t}")
        return sum((rho**tau / (1 - rho**tau) for tau in range(1, int(t))), Fraction(0))
    if _is_ball(t) and t == 1:
        return t - 1  # the empty sum, not a ball around 0: a square root of it follows
    a = -log(rho)
    first, first_v = (
        _start(_Same.of(rho), _bits(rho)) if _is_ball(rho) else tail(rho, 1, *_plan(1, _bits(rho)))
    )
    rest, rest_v = tail(rho, t, *_plan(t, _bits(rho)))
    return log(rest_v / first_v) / a + (first - rest)


def lambert_total(rho: Any) -> Any:
    r"""\(\sum_{\tau\ge1}\rho^\tau/(1-\rho^\tau)=S(1)\), the limit of `lambert_partial`; symbolic for exact ρ.

    >>> round(float(lambert_total(0.5)), 12)
    1.606695152415
    """
    if kind(rho) in ("exact", "symbol"):
        return _symbolic(rho, None)
    first, first_v = tail(rho, 1, *_plan(1, _bits(rho)))
    return first - log(first_v) / -log(rho)


def _symbolic(rho: Any, last: Any | None) -> Any:
    """The sum to `last`, or of all."""
    import sympy

    rho, last = sympy.sympify(rho), sympy.oo if last is None else sympy.sympify(last)
    tau = sympy.Symbol("tau", integer=True, positive=True)
    unevaluated = sympy.Sum(rho**tau / (1 - rho**tau), (tau, 1, last))
    return unevaluated.doit() if last.is_Integer else unevaluated


def _is_ball(x: Any) -> bool:
    return kind(x) in ("ball", "complex ball")


def _bits(x: Any) -> int:
    """The working precision of the number system of `x`."""
    if kind(x) == "mpf":
        from mpmath import mp

        return int(mp.prec)
    if _is_ball(x):
        from flint import ctx

        return int(ctx.prec)
    return sys.float_info.mant_dig


@dataclass(frozen=True)
class _Same:
    """A real ball that can be looked up: equal to those with the same midpoint and radius."""

    key: tuple[Any, ...]
    ball: Any = field(compare=False)

    @classmethod
    def of(cls, ball: Any) -> Self:
        return cls((*map(int, ball.mid().man_exp()), *map(int, ball.rad().man_exp())), ball)


@lru_cache(maxsize=8)
def _start(rho: _Same, bits: int) -> tuple[Any, Any]:
    """The tail at 1, which every t shares; the precision is an argument because the ball depends on it."""
    return tail(rho.ball, 1, *_plan(1, bits))


def _plan(z: Any, bits: int) -> tuple[int, int]:
    """Numbers of terms before Euler-Maclaurin and of its corrections.

    With 3M terms added, M corrections leave less than 2^(-9M) / a. A ball far out needs no added term and fewer
    corrections: they leave about (2M)! / (2πz)^(2M).
    """
    most = bits // 9 + 1
    if not _is_ball(z):
        return 3 * most, most
    room = max(float(z.real.lower()), 0) if z.real.is_finite() else 0
    for order in range(1, most if room >= 1 else 0):
        if math.lgamma(2 * order + 1) - 2 * order * math.log(2 * math.pi * room) < -(bits + 2) * math.log(2):
            return 0, order
    return max(3 * most - int(room), 0), most


def tail(rho: Any, z: Any, shift: int, order: int) -> tuple[Any, Any]:
    r"""S(z) without its logarithm, and the \(1-e^{-az}\) that belongs into it, at z + `shift`; `order` corrections.

    The logarithm is left to the caller, for whom two of them become one logarithm of a ratio. Both
    \(e^{-az}\) and \(1-e^{-az}\) are carried along: they never subtract, so a small a costs no digits.
    """
    a = -log(rho)
    e, v = exp(-(z * a)), one_minus_exp(-(z * a))
    terms = 0
    for _ in range(shift):
        terms = terms + e / v
        e, v = e * rho, v + e * (1 - rho)
    h = e / v
    terms = terms + h / 2
    for r, c in enumerate(_taylor(h, a, 2 * order)[1::2], start=1):
        correction = _bernoulli_times(c, 2 * r)
        terms = terms - correction
    if _is_ball(a):
        terms = terms + _remainder(a, z, shift, order, correction)
    return terms, v


def _taylor(h: Any, a: Any, length: int) -> list[Any]:
    """Taylor coefficients of h from h' = -a h (1 + h); their signs alternate, so nothing cancels."""
    c = [h]
    for j in range(length - 1):
        square = 2 * sum(c[i] * c[j - i] for i in range((j + 1) // 2))  # coefficient j of h * h
        if j % 2 == 0:
            square = square + c[j // 2] * c[j // 2]
        c.append((c[j] + square) * (-a) / (j + 1))
    return c


def _bernoulli_times(c: Any, j: int) -> Any:
    r"""\(B_j/j!\) times the derivative of order j-1, given as its Taylor coefficient c: \(cB_j/j\)."""
    top, bottom = _bernoulli(j)
    return c * top / (bottom * j)


@lru_cache
def _bernoulli(j: int) -> tuple[int, int]:
    from mpmath import bernfrac

    top, bottom = bernfrac(j)
    return int(top), int(bottom)


def _remainder(a: Any, z: Any, shift: int, order: int, correction: Any) -> Any:
    """Balls around 0 that contain R at z + shift; `correction`, the last one, is the bound for real z."""
    from flint import acb, arb

    unit = arb(0, 1)
    if not isinstance(z, acb):
        return correction * unit if z + shift > 0 else arb.nan()
    # elsewhere the bound is that correction at the real point Re z
    point = z.real + shift
    if not point > 0:
        return z * arb.nan()
    h = exp(-(point * a)) / one_minus_exp(-(point * a))
    ball = _bernoulli_times(_taylor(h, a, 2 * order)[-1], 2 * order) * unit
    return acb(ball, ball)
