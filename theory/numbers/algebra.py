"""The few functions whose meaning depends on the number system.

Every formula of this package is a plain function: `+ - * / **` come from its operands, and what else it
needs comes from here. One formula then runs on SymPy expressions, `int` and `Fraction`, NumPy arrays,
`mpmath.mpf`, torch tensors and Arb balls, real and complex (`flint.arb`, `flint.acb`).

Exact in, exact out: the square root of a rational that is no square is a SymPy number, never a float.

Where a function has a corner (`positive_part`, `sqrt_plus`, `log_plus`, `minimum`), a complex ball that
straddles the corner becomes NaN: there the function is not analytic, and no enclosure may claim it is.

Of the number systems none is imported here: NumPy, SymPy, mpmath and flint are, each, when the first of their
numbers comes along; a float is one of NumPy's. Torch never is: a tensor brings `sqrt`, `log`, `exp` and `clamp`
itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from fractions import Fraction
from functools import singledispatch, wraps
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from functools import _SingleDispatchCallable

__all__ = ["ball", "exp", "exp_above_tangent", "exp_square_integral", "kind", "log", "log_plus", "maximum"]
__all__ += ["minimum", "one_minus_exp", "positive_part", "precise", "ratio", "sqrt", "sqrt_plus", "wide"]

Exact = int | Fraction
PRECISION = 128  # bits

_WAITING: dict[str, Callable[[], None]] = {}  # registers the numbers of a module that may not be loaded


def _dispatched(default: Callable[..., Any]) -> _SingleDispatchCallable[Any]:
    """`singledispatch`, which registers a number system when it meets a number of it, and looks a type up once."""
    every = singledispatch(default)
    known: dict[type, Callable[..., Any]] = {}

    @wraps(every)  # and what belongs to it: `register`
    def function(x: Any, *others: Any) -> Any:
        try:
            found = known[type(x)]
        except KeyError:
            _meet(type(x))
            found = known[type(x)] = every.dispatch(type(x))
        return found(x, *others)

    return cast("_SingleDispatchCallable[Any]", function)


def _meet(numbers: type) -> None:
    modules = {str(base.__module__).partition(".")[0] for base in numbers.__mro__}
    for module in _WAITING.keys() & ({"numpy"} if numbers is float else modules):
        _WAITING.pop(module)()


def _numbers_of(module: str) -> Callable[[Callable[[], None]], None]:
    def wait(register: Callable[[], None]) -> None:
        _WAITING[module] = register

    return wait


@_dispatched
def kind(x: Any) -> str:
    """The number system of x: exact, float (an array too), symbol, mpf, ball, complex ball, or unknown, as torch's.

    >>> kind(Fraction(1, 2)), kind(0.5), kind(ball(1)), kind("1")
    ('exact', 'float', 'ball', 'unknown')
    """
    return "unknown"


@_dispatched
def sqrt(x: Any) -> Any:
    r"""\(\sqrt{x}\).

    >>> sqrt(Fraction(4, 9)), sqrt(2), sqrt(2.25)
    (Fraction(2, 3), sqrt(2), np.float64(1.5))
    """
    return x.sqrt()


@_dispatched
def log(x: Any) -> Any:
    r"""Natural logarithm, \(\log x\).

    >>> log(1), log(2)
    (0, log(2))
    """
    return x.log()


@_dispatched
def exp(x: Any) -> Any:
    r"""\(e^{x}\).

    >>> exp(0), exp(1)
    (1, E)
    """
    return x.exp()


@_dispatched
def one_minus_exp(x: Any) -> Any:
    r"""\(1-e^{x}\), without cancellation near \(x=0\) where the number system can avoid it.

    >>> float(one_minus_exp(np.float64(-1e-20)))
    1e-20
    """
    return -x.expm1() if hasattr(x, "expm1") else 1 - exp(x)


@_dispatched
def exp_above_tangent(x: Any) -> Any:
    r"""\(e^{x}-1-x\ge0\), without cancellation near \(x=0\) where the number system can avoid it.

    On a wide ball it is as narrow as its derivative allows: \(e^x-1-x\), part by part, would keep the width of x.

    >>> float(exp_above_tangent(np.float64(-1e-20)))
    5e-41
    """
    return -one_minus_exp(x) - x


@_dispatched
def exp_square_integral(x: Any) -> Any:
    r"""\(\int_0^xe^{s^2}ds=\tfrac{\sqrt\pi}2\,\mathrm{erfi}\,x\); torch has none.

    >>> exp_square_integral(1), round(float(exp_square_integral(1.0)), 12)
    (sqrt(pi)*erfi(1)/2, 1.462651745907)
    """
    return x.erfi() * type(x).pi().sqrt() / 2


@_dispatched
def positive_part(x: Any) -> Any:
    r"""\([x]^+=\max(x,0)\).

    >>> positive_part(-3), positive_part(Fraction(1, 2))
    (0, Fraction(1, 2))
    """
    return x.clamp(min=0)


@_dispatched
def sqrt_plus(x: Any) -> Any:
    r"""\(\sqrt{[x]^+}\): how a radicand that may be negative is made real. A ball around 0 keeps its upper half.

    >>> sqrt_plus(-3), sqrt_plus(Fraction(1, 4))
    (Fraction(0, 1), Fraction(1, 2))
    """
    return sqrt(positive_part(x))


@_dispatched
def log_plus(x: Any) -> Any:
    r"""\(\log^+x=\max(\log x,0)\), zero for every \(x\le 1\), negative ones too.

    >>> log_plus(Fraction(1, 2)), log_plus(0), log_plus(2)
    (0, 0, log(2))
    """
    return log(x.clamp(min=1))


@_dispatched
def _minimum(x: Any, y: Any) -> Any:
    return x.clamp(max=y)


def minimum(x: Any, y: Any) -> Any:
    r"""\(\min(x,y)\), elementwise; the operand of the richer number system decides how.

    >>> from sympy.abc import t
    >>> minimum(3, Fraction(5, 2)), minimum(t, 4)
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
    return x.astype(float) if getattr(getattr(x, "dtype", None), "kind", "") in ("i", "u") else x


def ball(x: Any) -> Any:
    """The Arb ball of an exact number; a float stands for its binary value.

    >>> ball(Fraction(1, 2))
    0.500000000000000
    """
    with precise():
        from flint import arb

        return arb(x.numerator) / x.denominator if isinstance(x, Fraction) else arb(x)


def precise() -> AbstractContextManager[Any]:
    """The working precision of everything certified. Flint's own default is that of a float.

    >>> with precise():
    ...     int((1 / ball(3)).rel_accuracy_bits()) > 120
    True
    """
    try:
        import flint
    except ImportError:
        raise ImportError("balls need python-flint: pip install python-flint") from None
    return flint.ctx.workprec(PRECISION)  # type: ignore[no-any-return]


def _lost(x: Any) -> int:
    """The bits that (e^x - 1) - x, of order x² near 0, loses to its parts of order x."""
    return 8 + max(-math.frexp(float(abs(x)))[1], 0)


# --- exact rationals ---------------------------------------------------------------------------------------


def _rational(x: Exact) -> Any:
    from sympy import Rational

    return Rational(x.numerator, x.denominator)


@kind.register(Exact)
def _(x: Exact) -> str:
    return "exact"


@sqrt.register(Exact)
def _(x: Exact) -> Any:
    if x < 0:
        raise ValueError(f"the square root of {x} is not real")
    top, bottom = math.isqrt(x.numerator), math.isqrt(x.denominator)
    root = Fraction(top, bottom)
    return root if root * root == x else sqrt(_rational(x))


@log.register(Exact)
def _(x: Exact) -> Any:
    return 0 if x == 1 else log(_rational(x))


@exp.register(Exact)
def _(x: Exact) -> Any:
    return 1 if x == 0 else exp(_rational(x))


@exp_square_integral.register(Exact)
def _(x: Exact) -> Any:
    return exp_square_integral(_rational(x))


@positive_part.register(Exact)
def _(x: Exact) -> Exact:
    return max(x, 0)


@log_plus.register(Exact)
def _(x: Exact) -> Any:
    return log(x) if x > 1 else 0


@_minimum.register(Exact)
def _(x: Exact, y: Exact) -> Exact:
    return min(x, y)


# --- floats and arrays -------------------------------------------------------------------------------------


@_numbers_of("numpy")
def _() -> None:
    import numpy as np

    def above_tangent(x: Any) -> Any:
        """Its Taylor series near 0; there the 20th term is below a float's last place."""
        near = np.where(np.abs(x) < 1, x, 0)
        series: Any = 1
        for k in range(20, 2, -1):
            series = 1 + near * series / k
        return np.where(np.abs(x) < 1, near * near * series / 2, np.expm1(x) - x)[()]

    def above_tangent_of_one(x: Any) -> Any:
        """Equal to the last bit, and thirty times as fast for a single number."""
        one = float(x)
        if not abs(one) < 1:
            return above_tangent(x)
        series = float(1)
        for k in range(20, 2, -1):
            series = 1 + one * series / k
        return np.float64(one * one * series / 2)

    def square_integral(x: Any) -> Any:
        from scipy.special import erfi

        return erfi(x) * np.sqrt(np.pi) / 2

    for system in (float, np.ndarray, np.generic):
        kind.register(system, lambda x: "float")
        sqrt.register(system, np.sqrt)
        log.register(system, np.log)
        exp.register(system, np.exp)
        one_minus_exp.register(system, lambda x: -np.expm1(x))
        exp_above_tangent.register(system, above_tangent if system is np.ndarray else above_tangent_of_one)
        exp_square_integral.register(system, square_integral)
        positive_part.register(system, lambda x: np.maximum(x, 0))
        log_plus.register(system, lambda x: np.log(np.maximum(x, 1)))
        _minimum.register(system, np.minimum)


# --- SymPy -------------------------------------------------------------------------------------------------


@_numbers_of("sympy")
def _() -> None:
    import sympy

    kind.register(sympy.Expr, lambda x: "symbol")
    sqrt.register(sympy.Expr, sympy.sqrt)
    log.register(sympy.Expr, sympy.log)
    exp.register(sympy.Expr, sympy.exp)
    exp_square_integral.register(sympy.Expr, lambda x: sympy.sqrt(sympy.pi) * sympy.erfi(x) / 2)
    positive_part.register(sympy.Expr, lambda x: sympy.Max(x, 0))
    log_plus.register(sympy.Expr, lambda x: sympy.log(sympy.Max(x, 1)))
    _minimum.register(sympy.Expr, lambda x, y: sympy.Min(x, y))


# --- mpmath ------------------------------------------------------------------------------------------------


@_numbers_of("mpmath")
def _() -> None:
    import mpmath
    from mpmath import mpf

    def above_tangent(x: mpf) -> Any:
        with mpmath.extraprec(_lost(x)):
            value = mpmath.expm1(x) - x
        return +value

    kind.register(mpf, lambda x: "mpf")
    sqrt.register(mpf, mpmath.sqrt)
    log.register(mpf, mpmath.log)
    exp.register(mpf, mpmath.exp)
    exp_square_integral.register(mpf, lambda x: mpmath.erfi(x) * mpmath.sqrt(mpmath.pi) / 2)
    one_minus_exp.register(mpf, lambda x: -mpmath.expm1(x))
    exp_above_tangent.register(mpf, above_tangent)
    positive_part.register(mpf, lambda x: x if x > 0 else mpf(0))
    log_plus.register(mpf, lambda x: mpmath.log(x) if x > 1 else mpf(0))
    _minimum.register(mpf, lambda x, y: min(x, mpf(y)))


# --- balls -------------------------------------------------------------------------------------------------


@_numbers_of("flint")
def _() -> None:
    from flint import acb, arb, ctx

    def side(x: Any, corner: Any) -> int:
        """+1 or -1 where `x` lies certainly above or below the corner, 0 where that is open."""
        edge = arb(corner)
        return int(x.real > edge) - int(x.real < edge)

    def cut(x: Any, above: Any, below: Any, corner: Any) -> Any:
        certain = side(x, corner)
        if certain == 0:
            return x * arb.nan()
        return above if certain > 0 else below

    def complex_sqrt_plus(x: Any) -> Any:
        if x.is_zero():
            return x  # of a whole ball: the radicand vanishes on all of it, so the root is 0 and smooth there
        return sqrt(x) if side(x, 0) > 0 else cut(x, x, 0 * x, 0)

    def above_tangent(x: Any) -> Any:
        """The value at the midpoint, then the mean value theorem: the derivative's ball is convex."""
        middle = x.mid()
        with ctx.workprec(ctx.prec + _lost(middle)):
            value = middle.expm1() - middle
        return value + (x - middle) * x.expm1()

    kind.register(arb, lambda x: "ball")
    kind.register(acb, lambda x: "complex ball")
    exp_above_tangent.register(arb, above_tangent)
    exp_above_tangent.register(acb, above_tangent)
    sqrt.register(acb, lambda x: x.sqrt(analytic=True))
    log.register(acb, lambda x: x.log(analytic=True))
    positive_part.register(arb, lambda x: x.max(arb(0)))
    positive_part.register(acb, lambda x: cut(x, x, 0 * x, 0))
    # not sqrt(positive_part(x)): a midpoint-radius ball for [0, b] reaches below 0, and its root is NaN
    sqrt_plus.register(arb, lambda x: x.sqrt() if x >= 0 else arb(0).union(x.max(0).upper().sqrt()))
    sqrt_plus.register(acb, complex_sqrt_plus)
    log_plus.register(arb, lambda x: x.max(arb(1)).log())
    log_plus.register(acb, lambda x: log(x) if side(x, 1) > 0 else cut(x, x, 0 * x, 1))
    _minimum.register(arb, lambda x, y: x.min(arb(y)))
    _minimum.register(acb, lambda x, y: cut(x, 0 * x + y, x, y))
