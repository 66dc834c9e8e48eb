"""The choices of a user: the constants of the theory, the budgets, the admission region.

Frozen dataclasses that refuse what makes no sense, in one sentence that says what would. Their fields may be
of any number system of `theory.numbers.algebra`, symbols included; a symbol is refused only where its assumptions
contradict the requirement.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from numbers import Real
from typing import Any, Self

from theory.numbers.algebra import kind, ratio

__all__ = ["Budget", "Constants", "Region", "SettingError", "horizon", "is_zero", "not_negative", "positive"]
__all__ += ["retention", "same_length"]


class SettingError(ValueError):
    """An argument makes no sense; the message says which one and what would."""


def _finite(value: Any) -> bool:
    system = kind(value)
    if system == "symbol":
        from sympy import nan

        return value is not nan  # an infinite one is not positive for SymPy
    if system == "ball":
        return bool(value.is_finite())
    if system == "mpf":
        from mpmath import isfinite

        return bool(isfinite(value))
    try:
        return bool(math.isfinite(value))
    except OverflowError:  # an int or a Fraction beyond the floats
        return False


def _is_number(value: Any) -> bool:
    plain = isinstance(value, Real) and not isinstance(value, bool)
    return plain or kind(value) in ("symbol", "mpf", "ball")


def _exceeds(value: Any, bound: int) -> bool:
    """True if `value > bound` is certain (for a symbol: not excluded)."""
    if kind(value) == "symbol":
        return (value - bound).is_positive is not False
    return bool(value > bound)


def _shown(value: Any) -> str:
    """A value in an error message: strings with quotes, numbers without their type."""
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def positive(name: str, value: Any) -> Any:
    """`value`, if it is a finite positive number.

    >>> positive("D", -1)
    Traceback (most recent call last):
    ...
    theory.setting.SettingError: D must be a positive finite number, got -1
    """
    if not _is_number(value) or not _finite(value) or not _exceeds(value, 0):
        raise SettingError(f"{name} must be a positive finite number, got {_shown(value)}")
    return value


def is_zero(value: Any) -> bool:
    """True if `value` is certainly 0; a symbol or a ball around 0 is not."""
    return _is_number(value) and kind(value) != "symbol" and bool(value == 0)


def not_negative(name: str, values: Sequence[Any]) -> Sequence[Any]:
    """`values`, unless one of them is certainly no finite number of at least 0.

    >>> not_negative("admissions", [1, -1])
    Traceback (most recent call last):
    ...
    theory.setting.SettingError: admissions must be finite numbers of at least 0, got -1
    """
    for value in values:
        no_number, plain = isinstance(value, str | bool | None), isinstance(value, Real)
        if no_number or (plain and not (_finite(value) and value >= 0)):
            raise SettingError(f"{name} must be finite numbers of at least 0, got {_shown(value)}")
    return values


def _whole(name: str, value: Any, example: str) -> Any:
    if kind(value) == "symbol":
        fits = value.is_integer is not False and _exceeds(value, 0)
    else:
        fits = _is_number(value) and _finite(value) and value == int(value) and value >= 1
    if not fits:
        raise SettingError(
            f"{name} must be a whole number of at least 1, such as {example}, got {_shown(value)}"
        )
    return value if kind(value) == "symbol" else int(value)


def retention(K: Any) -> Any:
    """The retention horizon K, a whole number of rounds (`def:kstep`).

    >>> retention(2.5)
    Traceback (most recent call last):
    ...
    theory.setting.SettingError: K must be a whole number of at least 1, such as 10, got 2.5
    """
    return _whole("K", K, "10")


def horizon(T: Any) -> Any:
    """The number of rounds T, whole and positive."""
    return _whole("the horizon T", T, "1000")


def same_length(**lists: Sequence[Any]) -> int:
    """The common length of the named lists, which must be positive.

    >>> same_length(n=[1, 2], N=[1])
    Traceback (most recent call last):
    ...
    theory.setting.SettingError: n and N must be of one length, got 2 and 1
    """
    lengths = {name: len(values) for name, values in lists.items()}
    if len(set(lengths.values())) > 1:
        counts = " and ".join(str(length) for length in lengths.values())
        raise SettingError(f"{' and '.join(lengths)} must be of one length, got {counts}")
    (length,) = set(lengths.values())
    if length == 0:
        names = " and ".join(lengths)
        raise SettingError(f"{names} must not be empty: give at least one entry")
    return length


@dataclass(frozen=True, kw_only=True)
class Constants:
    """The problem's constants (Assumptions 1-4, `eq:local-gd`).

    `D` diameter of the domain, `sigma` bound on the gradient's standard deviation, `eta` step size,
    `B` bound on the loss, `Pdim` pseudo-dimension, `E` local steps, `L` smoothness, `G` bound on gradients.
    `L` and `G` enter the per-round constant alone; without `G` that constant is left out.

    >>> Constants(D=1, sigma=1, eta=0.1, B=1, Pdim=5).E
    1
    """

    D: Any
    sigma: Any
    eta: Any
    B: Any
    Pdim: Any
    E: Any = 1
    L: Any = None
    G: Any = None

    def __post_init__(self) -> None:
        for name in ("D", "sigma", "eta", "B", "Pdim"):
            positive(name, getattr(self, name))
        for name in ("L", "G"):
            if getattr(self, name) is not None:
                positive(name, getattr(self, name))
        _whole("E", self.E, "1")

    @cached_property
    def merged(self) -> Self:
        """One step of size ηE for E steps of size η, which is what a round moves by to first order."""
        return replace(self, eta=self.eta * self.E, E=1)

    def map(self, convert: Callable[[Any], Any]) -> Self:
        """The constants in another number system; E, a count, stays an integer."""
        given = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "E"}
        return replace(self, **{name: convert(value) for name, value in given.items() if value is not None})


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Client buffers B_m, cost budget C per round, and the mean cost of a sample (`eq:kstep-opt-problem`).

    >>> Budget(buffers=(8, 12), cost=55, mean_cost=5.5).total_buffer
    20
    """

    buffers: tuple[Any, ...]
    cost: Any
    mean_cost: Any

    def __post_init__(self) -> None:
        if not isinstance(self.buffers, Iterable) or isinstance(self.buffers, str):
            raise SettingError(
                f"buffers must be a list of numbers, such as (8, 9, 10), got {_shown(self.buffers)}"
            )
        object.__setattr__(self, "buffers", tuple(self.buffers))
        if not self.buffers:
            raise SettingError("buffers must name at least one client, such as (8, 9, 10)")
        for m, size in enumerate(self.buffers, start=1):
            if type(size) is not int or size < 1:
                positive(f"buffer {m}", size)
        positive("the cost budget C", self.cost)
        positive("the mean cost", self.mean_cost)

    @cached_property
    def total_buffer(self) -> Any:
        """ΣB_m, exact for exact buffers, correctly rounded for floats."""
        return math.fsum(self.buffers) if all(type(b) is float for b in self.buffers) else sum(self.buffers)

    @property
    def affordable_rate(self) -> Any:
        """C / mean cost: the largest total admission rate that the cost budget pays for."""
        return ratio(self.cost, self.mean_cost)


@dataclass(frozen=True, kw_only=True)
class Region:
    """The contracting admission region: target rate Λ̄ and contraction ρ (`eq:lambda-min-max`).

    >>> Region(rate=10, rho=1)
    Traceback (most recent call last):
    ...
    theory.setting.SettingError: rho must lie strictly between 0 and 1, such as 0.99, got 1
    """

    rate: Any
    rho: Any

    def __post_init__(self) -> None:
        positive("the target rate", self.rate)
        inside = (
            _is_number(self.rho) and _finite(self.rho) and _exceeds(self.rho, 0) and _exceeds(1 - self.rho, 0)
        )
        if not inside:
            raise SettingError(f"rho must lie strictly between 0 and 1, such as 0.99, got {_shown(self.rho)}")

    def map(self, convert: Callable[[Any], Any]) -> Self:
        """The region in another number system."""
        return replace(self, rate=convert(self.rate), rho=convert(self.rho))
