"""The few functions whose meaning depends on the number system.

Every formula of this package is a plain function: `+ - * / **` come from its operands, and what else it
needs comes from here. One formula then runs on SymPy expressions, `int` and `Fraction`, NumPy arrays,
`mpmath.mpf`, torch tensors and Arb balls, real and complex (`flint.arb`, `flint.acb`).

Exact in, exact out: the square root of a rational that is no square is a SymPy number, never a float.

Where a function has a corner (`positive_part`, `sqrt_plus`, `log_plus`, `minimum`), a complex ball that
straddles the corner becomes NaN: there the function is not analytic, and no enclosure may claim it is.
Torch needs no import: a tensor brings `sqrt`, `log`, `exp` and `clamp` itself. Flint is optional.
"""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from fractions import Fraction
from functools import singledispatch
from typing import Any

import mpmath
import numpy as np
import sympy
from scipy import special

try:
    import flint
except ImportError:  # balls are then simply not available
    flint = None

__all__ = [
    "ball",
    "exp",
    "exp_above_tangent",
    "exp_square_integral",
    "log",
    "log_plus",
    "maximum",
    "minimum",
    "one_minus_exp",
    "positive_part",
    "precise",
    "ratio",
    "sqrt",
    "sqrt_plus",
    "wide",
]

Exact = int | Fraction
PRECISION = 128  # bits


def _rational(x: Exact) -> sympy.Rational:
    return sympy.Rational(x.numerator, x.denominator)


@singledispatch
def sqrt(x: Any) -> Any:
    r"""\(\sqrt{x}\).

    >>> sqrt(Fraction(4, 9)), sqrt(2), sqrt(2.25)
    (Fraction(2, 3), sqrt(2), np.float64(1.5))
    """
    return x.sqrt()


@singledispatch
def log(x: Any) -> Any:
    r"""Natural logarithm, \(\log x\).

    >>> log(1), log(2)
    (0, log(2))
    """
    return x.log()


@singledispatch
def exp(x: Any) -> Any:
    r"""\(e^{x}\).

    >>> exp(0), exp(1)
    (1, E)
    """
    return x.exp()


@singledispatch
def one_minus_exp(x: Any) -> Any:
    r"""\(1-e^{x}\), without cancellation near \(x=0\) where the number system can avoid it.

    >>> float(one_minus_exp(np.float64(-1e-20)))
    1e-20
    """
    return -x.expm1() if hasattr(x, "expm1") else 1 - exp(x)


@singledispatch
def exp_above_tangent(x: Any) -> Any:
    r"""\(e^{x}-1-x\ge0\), without cancellation near \(x=0\) where the number system can avoid it.

    On a wide ball it is as narrow as its derivative allows: \(e^x-1-x\), part by part, would keep the width of x.

    >>> float(exp_above_tangent(np.float64(-1e-20)))
    5e-41
    """
    return -one_minus_exp(x) - x


@singledispatch
def exp_square_integral(x: Any) -> Any:
    r"""\(\int_0^xe^{s^2}ds=\tfrac{\sqrt\pi}2\,\mathrm{erfi}\,x\); torch has none.

    >>> exp_square_integral(1), round(float(exp_square_integral(1.0)), 12)
    (sqrt(pi)*erfi(1)/2, 1.462651745907)
    """
    return x.erfi() * type(x).pi().sqrt() / 2


@singledispatch
def positive_part(x: Any) -> Any:
    r"""\([x]^+=\max(x,0)\).

    >>> positive_part(-3), positive_part(Fraction(1, 2))
    (0, Fraction(1, 2))
    """
    return x.clamp(min=0)


@singledispatch
def sqrt_plus(x: Any) -> Any:
    r"""\(\sqrt{[x]^+}\): how a radicand that may be negative is made real. A ball around 0 keeps its upper half.

    >>> sqrt_plus(-3), sqrt_plus(Fraction(1, 4))
    (Fraction(0, 1), Fraction(1, 2))
    """
    return sqrt(positive_part(x))


@singledispatch
def log_plus(x: Any) -> Any:
    r"""\(\log^+x=\max(\log x,0)\), zero for every \(x\le 1\), negative ones too.

    >>> log_plus(Fraction(1, 2)), log_plus(0), log_plus(2)
    (0, 0, log(2))
    """
    return log(x.clamp(min=1))


@singledispatch
def _minimum(x: Any, y: Any) -> Any:
    return x.clamp(max=y)


def minimum(x: Any, y: Any) -> Any:
    r"""\(\min(x,y)\), elementwise; the operand of the richer number system decides how.

    >>> minimum(3, Fraction(5, 2)), minimum(sympy.Symbol("t"), 4)
    (Fraction(5, 2), Min(4, t))
    """
    return _minimum(y, x) if isinstance(x, int | float | Fraction) else _minimum(x, y)


def maximum(x: Any, y: Any) -> Any:
    r"""\(\max(x,y)\), elementwise.

    >>> maximum(3, Fraction(5, 2))
    3
    """
    return -minimum(-x, -y)


def ratio(x: Any, y: Any) -> Any:
    """x / y, a `Fraction` where both are integers.

    >>> ratio(1, 3), ratio(1, 4.0)
    (Fraction(1, 3), 0.25)
    """
    return Fraction(x, y) if isinstance(x, int) and isinstance(y, int) else x / y


def wide(x: Any) -> Any:
    """NumPy integers as floats, since their products would overflow in silence; all else unchanged."""
    return (
        np.asarray(x, dtype=float)[()]
        if isinstance(x, np.ndarray | np.integer) and x.dtype.kind in "iu"
        else x
    )


def ball(x: Any) -> Any:
    """The Arb ball of an exact number; a float stands for its binary value.

    >>> ball(Fraction(1, 2))
    0.500000000000000
    """
    with precise():
        return flint.arb(x.numerator) / x.denominator if isinstance(x, Fraction) else flint.arb(x)


def precise() -> AbstractContextManager[Any]:
    """The working precision of everything certified. Flint's own default is that of a float.

    >>> with precise():
    ...     int((1 / flint.arb(3)).rel_accuracy_bits()) > 120
    True
    """
    if flint is None:
        raise ImportError("balls need python-flint: pip install python-flint")
    return flint.ctx.workprec(PRECISION)  # type: ignore[no-any-return]


def _lost(x: Any) -> int:
    """The bits that (e^x - 1) - x, of order x² near 0, loses to its parts of order x."""
    return 8 + max(-math.frexp(float(abs(x)))[1], 0)


# --- exact rationals ---------------------------------------------------------------------------------------


@sqrt.register(int)
@sqrt.register(Fraction)
def _(x: Exact) -> Any:
    if x < 0:
        raise ValueError(f"the square root of {x} is not real")
    top, bottom = math.isqrt(x.numerator), math.isqrt(x.denominator)
    root = Fraction(top, bottom)
    return root if root * root == x else sympy.sqrt(_rational(x))


@log.register(int)
@log.register(Fraction)
def _(x: Exact) -> Any:
    return 0 if x == 1 else sympy.log(_rational(x))


@exp.register(int)
@exp.register(Fraction)
def _(x: Exact) -> Any:
    return 1 if x == 0 else sympy.exp(_rational(x))


@exp_square_integral.register(int)
@exp_square_integral.register(Fraction)
def _(x: Exact) -> Any:
    return exp_square_integral(_rational(x))


@positive_part.register(int)
@positive_part.register(Fraction)
def _(x: Exact) -> Exact:
    return max(x, 0)


@log_plus.register(int)
@log_plus.register(Fraction)
def _(x: Exact) -> Any:
    return log(x) if x > 1 else 0


@_minimum.register(int)
@_minimum.register(Fraction)
def _(x: Exact, y: Exact) -> Exact:
    return min(x, y)


# --- floats and arrays -------------------------------------------------------------------------------------


def _exp_above_tangent(x: Any) -> Any:
    """Its Taylor series near 0; there the 20th term is below a float's last place."""
    near = np.where(np.abs(x) < 1, x, 0)
    series: Any = 1
    for k in range(20, 2, -1):
        series = 1 + near * series / k
    return np.where(np.abs(x) < 1, near * near * series / 2, np.expm1(x) - x)[()]


for _type in (float, np.ndarray, np.generic):
    sqrt.register(_type, np.sqrt)
    log.register(_type, np.log)
    exp.register(_type, np.exp)
    one_minus_exp.register(_type, lambda x: -np.expm1(x))
    exp_above_tangent.register(_type, _exp_above_tangent)
    exp_square_integral.register(_type, lambda x: special.erfi(x) * np.sqrt(np.pi) / 2)
    positive_part.register(_type, lambda x: np.maximum(x, 0))
    log_plus.register(_type, lambda x: np.log(np.maximum(x, 1)))
    _minimum.register(_type, np.minimum)


# --- SymPy -------------------------------------------------------------------------------------------------

sqrt.register(sympy.Expr, sympy.sqrt)
log.register(sympy.Expr, sympy.log)
exp.register(sympy.Expr, sympy.exp)
exp_square_integral.register(sympy.Expr, lambda x: sympy.sqrt(sympy.pi) * sympy.erfi(x) / 2)
positive_part.register(sympy.Expr, lambda x: sympy.Max(x, 0))
log_plus.register(sympy.Expr, lambda x: sympy.log(sympy.Max(x, 1)))
_minimum.register(sympy.Expr, lambda x, y: sympy.Min(x, y))


# --- mpmath ------------------------------------------------------------------------------------------------

sqrt.register(mpmath.mpf, mpmath.sqrt)
log.register(mpmath.mpf, mpmath.log)
exp.register(mpmath.mpf, mpmath.exp)
exp_square_integral.register(mpmath.mpf, lambda x: mpmath.erfi(x) * mpmath.sqrt(mpmath.pi) / 2)
one_minus_exp.register(mpmath.mpf, lambda x: -mpmath.expm1(x))


@exp_above_tangent.register(mpmath.mpf)
def _(x: mpmath.mpf) -> Any:
    with mpmath.extraprec(_lost(x)):
        value = mpmath.expm1(x) - x
    return +value


positive_part.register(mpmath.mpf, lambda x: x if x > 0 else mpmath.mpf(0))
log_plus.register(mpmath.mpf, lambda x: mpmath.log(x) if x > 1 else mpmath.mpf(0))
_minimum.register(mpmath.mpf, lambda x, y: min(x, mpmath.mpf(y)))


# --- balls -------------------------------------------------------------------------------------------------

if flint is not None:

    def _side(x: Any, corner: Any) -> int:
        """+1 or -1 where `x` lies certainly above or below the corner, 0 where that is open."""
        edge = flint.arb(corner)
        return int(x.real > edge) - int(x.real < edge)

    def _sqrt_plus(x: Any) -> Any:
        if (
            x.is_zero()
        ):  # of a whole ball: the radicand vanishes on all of it, so the root is 0 and smooth there
            return x
        return sqrt(x) if _side(x, 0) > 0 else _cut(x, x, 0 * x, 0)

    def _cut(x: Any, above: Any, below: Any, corner: Any) -> Any:
        side = _side(x, corner)
        if side == 0:
            return x * flint.arb.nan()
        return above if side > 0 else below

    def _exp_above_tangent_ball(x: Any) -> Any:
        """The value at the midpoint, then the mean value theorem: the derivative's ball is convex."""
        middle = x.mid()
        with flint.ctx.workprec(flint.ctx.prec + _lost(middle)):
            value = middle.expm1() - middle
        return value + (x - middle) * x.expm1()

    exp_above_tangent.register(flint.arb, _exp_above_tangent_ball)
    exp_above_tangent.register(flint.acb, _exp_above_tangent_ball)
    sqrt.register(flint.acb, lambda x: x.sqrt(analytic=True))
    log.register(flint.acb, lambda x: x.log(analytic=True))
    positive_part.register(flint.arb, lambda x: x.max(flint.arb(0)))
    positive_part.register(flint.acb, lambda x: _cut(x, x, 0 * x, 0))
    # not sqrt(positive_part(x)): a midpoint-radius ball for [0, b] reaches below 0, and its root is NaN
    sqrt_plus.register(
        flint.arb, lambda x: x.sqrt() if x >= 0 else flint.arb(0).union(x.max(0).upper().sqrt())
    )
    sqrt_plus.register(flint.acb, _sqrt_plus)
    log_plus.register(flint.arb, lambda x: x.max(flint.arb(1)).log())
    log_plus.register(flint.acb, lambda x: log(x) if _side(x, 1) > 0 else _cut(x, x, 0 * x, 1))
    _minimum.register(flint.arb, lambda x, y: x.min(flint.arb(y)))
    _minimum.register(flint.acb, lambda x, y: _cut(x, 0 * x + y, x, y))
