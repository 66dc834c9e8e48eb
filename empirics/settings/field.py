"""A field of the settings: its default, the sentence that documents it, and what values it takes.

The documentation of every setting is written here and nowhere else: the commented TOML, the reference page and the
error messages come from the fields.
"""

from collections.abc import Callable, Sequence
from dataclasses import field, fields
from difflib import get_close_matches
from typing import Any

from theory.setting import SettingError

__all__ = ["MOST_SAMPLES", "POSITIVE", "Check", "apply_checks", "between", "choice", "flag", "listing"]
__all__ += ["optional", "setting", "shown", "text", "whole"]

Check = Callable[[str, Any], Any]
WHOLE_NUMBER_MAX = 2**53  # whole numbers beyond it are no longer exact as floats
MOST_SAMPLES = 10**7  # of a buffer
POSITIVE = (1e-15, 1e15)  # wide enough, and no square, bound or mean of them over- or underflows


def setting(default: Any, help: str, check: Check | None = None) -> Any:  # noqa: A002 (the word users know)
    """A dataclass field with this default; `check(name, value)` returns the value to keep or refuses it."""
    return field(default=default, metadata={"help": help, "check": check})


def apply_checks(instance: Any) -> None:
    """Check every field of a frozen dataclass and keep what the checks return: the body of its `__post_init__`."""
    for one in fields(instance):
        check = one.metadata.get("check")
        if check is not None:
            object.__setattr__(instance, one.name, check(one.name, getattr(instance, one.name)))


def shown(value: Any) -> str:
    """A value as it was given, of a length that fits into one line."""
    words = repr(value)
    return words if len(words) <= 60 else f"{words[:57]}..."


def whole(least: int = 1, most: int = WHOLE_NUMBER_MAX) -> Check:
    """A whole number in a range.

    >>> whole()("seeds", 0)
    Traceback (most recent call last):
    ...
    theory.setting.SettingError: seeds must be a whole number of at least 1, got 0
    """

    def check(name: str, value: Any) -> int:
        if type(value) is not int or not least <= value <= most:
            span = f"of at least {least}" if most == WHOLE_NUMBER_MAX else f"from {least} to {most:,}"
            raise SettingError(f"{name} must be a whole number {span}, got {shown(value)}")
        return value

    return check


def between(low: float, high: float, *, low_too: bool = False, such_as: float) -> Check:
    """A real number in an interval that is open above, and below unless `low_too`."""
    span = f"{'[' if low_too else '('}{low:g}, {high:g})"

    def check(name: str, value: Any) -> float:
        number = type(value) in (int, float)
        if not number or not (low < value < high or (low_too and value == low)):
            raise SettingError(f"{name} must lie in {span}, such as {such_as:g}, got {shown(value)}")
        kept: float = value
        return kept

    return check


def choice(*allowed: str) -> Check:
    """One of some words."""

    def check(name: str, value: Any) -> str:
        if not isinstance(value, str) or value not in allowed:
            near = get_close_matches(str(value), allowed, n=1)
            hint = f": did you mean {near[0]!r}?" if near else ""
            raise SettingError(f"{name} must be one of {', '.join(allowed)}, got {shown(value)}{hint}")
        return value

    return check


def text(such_as: str) -> Check:
    """A word or a name, not empty."""

    def check(name: str, value: Any) -> str:
        if not isinstance(value, str) or not value.strip() or not value.isprintable():
            raise SettingError(f"{name} must be a name such as {such_as!r}, got {shown(value)}")
        return value

    return check


def flag(name: str, value: Any) -> bool:
    if type(value) is not bool:
        raise SettingError(f"{name} must be true or false, got {shown(value)}")
    return value


def optional(check: Check) -> Check:
    """None, which a TOML file spells "none", or what the check takes."""
    return lambda name, value: None if value is None or value == "none" else check(name, value)


def listing(each: Check, *, such_as: str, empty: bool = False, distinct: bool = False) -> Check:
    """A list, kept as a tuple, whose entries pass a check of their own."""

    def check(name: str, value: Any) -> tuple[Any, ...]:
        if isinstance(value, str) or not isinstance(value, Sequence) or not (value or empty):
            raise SettingError(f"{name} must be a list such as [{such_as}], got {shown(value)}")
        kept = tuple(each(f"each of {name}", entry) for entry in value)
        if distinct and len(set(kept)) < len(kept):
            raise SettingError(f"{name} must differ from each other, got {', '.join(map(str, kept))}")
        return kept

    return check
