"""Exact numbers and settings from text on the command line.

0.1 is one tenth, not the nearest binary fraction, so that a certified enclosure holds for the typed number.
"""

import re
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from theory.paper import BUDGET, BUFFERS
from theory.setting import Budget, Constants, SettingError

__all__ = ["DEFAULT_CONSTANTS", "PAPER_BUDGET", "PAPER_BUFFERS", "budget", "constants", "decimal", "number"]
__all__ += ["numbers", "optional", "price_file", "prices", "seed", "shortened", "whole", "wholes"]

PAPER_BUFFERS, PAPER_BUDGET = ",".join(map(str, BUFFERS)), str(BUDGET)
DEFAULT_CONSTANTS = "D=1,sigma=1,eta=0.1,B=1,Pdim=5"
Read = TypeVar("Read")
POWER = re.compile(r"(?P<factor>[^*^]+\*)?(?P<base>\d+)(?:\^|\*\*)(?P<exponent>\d{1,3})")


def number(text: str, name: str) -> Fraction:
    """An exact rational: 5.5, 1e12, 10^12, 3*10^6, 1/3.

    >>> number("3*10^6", "T") == number("3e6", "T"), number("0.1", "eta")
    (True, Fraction(1, 10))
    """
    stripped = text.strip().replace("_", "")
    power = POWER.fullmatch(stripped)
    extreme = SettingError(f"{name} must be 0 or between 1e-100 and 1e100 in size, got {shortened(text)}")
    if len(stripped) > 300 or re.search(r"[eE][+-]?\d{4,}", stripped):
        raise extreme  # before expanding it takes for ever
    try:
        if power:
            factor = Fraction((power["factor"] or "1*")[:-1])
            value = Fraction(factor * int(power["base"]) ** int(power["exponent"]))
        else:
            value = Fraction(stripped)
    except (ValueError, ZeroDivisionError):
        example = "5.5, 1e12, 10^12 or 1/3"
        raise SettingError(f"{name} must be a number such as {example}, got {shortened(text)}") from None
    if value and not Fraction(1, 10**100) <= abs(value) <= 10**100:
        raise extreme
    return value


def decimal(text: str, name: str) -> float:
    """The float nearest to a number."""
    return float(number(text, name))


def optional(read: Callable[[str, str], Read], text: str | None, name: str) -> Read | None:
    """The text as `read` takes it; None where it is not given."""
    return None if text is None else read(text, name)


def shortened(text: str) -> str:
    """The user's text in quotes, shortened to fit into a line."""
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


def whole(text: str, name: str, least: int = 1) -> int:
    """A whole number of at least 1 or `least`, spelled as for `number`."""
    value = number(text, name)
    if value.denominator != 1 or value < least:
        raise SettingError(f"{name} must be a whole number of at least {least}, got {shortened(text)}")
    return int(value)


def wholes(text: str, name: str) -> tuple[int, ...]:
    """Whole numbers of at least 1, separated by commas."""
    return tuple(whole(word, name) for word in text.split(","))


def seed(text: str, name: str) -> int:
    """A whole number of at least 0."""
    return whole(text, name, least=0)


def numbers(text: str, name: str) -> tuple[Fraction | int, ...]:
    """A list a,b,c, or @file with numbers separated by commas or white space. Whole numbers come as int.

    >>> numbers("8,9.5", "--buffers")
    (8, Fraction(19, 2))
    """
    if text.startswith("@"):
        try:
            text = Path(text[1:]).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "not a text file"
            raise SettingError(f"{name}: cannot read {text[1:]!r} ({reason})") from None
        text = ",".join(text.replace(",", " ").split())
    words = [word.strip() for word in text.split(",")]
    if not text.strip():
        raise SettingError(f"{name} must list at least one number, such as 8,9,10")
    return tuple(int(word) if word.isdecimal() and len(word) <= 100 else number(word, name) for word in words)


KINDS = ("uniform", "integer")  # of prices that are drawn anew
ALL_KINDS = (*KINDS, "markov", "drifting")


def price_file(text: str) -> tuple[str, str | None] | None:
    """File and column of csv:FILE or csv:FILE,column=NAME; None for other prices.

    >>> price_file("csv:prices.csv,column=price"), price_file("csv:prices.csv"), price_file("5.5")
    (('prices.csv', 'price'), ('prices.csv', None), None)
    """
    if not text.startswith("csv:"):
        return None
    file, _, column = text.removeprefix("csv:").partition(",column=")
    return file, column or None


def prices(text: str, kinds: tuple[str, ...] = KINDS, name: str = "--cost") -> tuple[str, Fraction, Fraction]:
    """KIND:LOW:HIGH, or one price, which is a uniform distribution of width 0.

    >>> prices("integer:1:10"), prices("5.5")
    (('integer', Fraction(1, 1), Fraction(10, 1)), ('uniform', Fraction(11, 2), Fraction(11, 2)))
    """
    kind, *ends = text.split(":")
    if not ends:
        kind, ends = "uniform", [text, text]
    if kind not in kinds or len(ends) != 2:
        forms = [f"{one}:LOW:HIGH" for one in kinds] + (["csv:FILE"] if name == "--cost" else [])
        raise SettingError(
            f"{name} is {', '.join(forms)} or one price, such as uniform:1:10, got {shortened(text)}"
        )
    low, high = (number(end, name) for end in ends)
    if not 0 < low <= high:
        raise SettingError(
            f"{name} needs positive prices, the lower first, such as {kind}:1:10, got {shortened(text)}"
        )
    return kind, low, high


def budget(buffers: str, cost: str, mean_cost: Any) -> Budget:
    """Buffers and cost budget of the theory, with the mean price of a sample."""
    return Budget(buffers=numbers(buffers, "--buffers"), cost=number(cost, "--budget"), mean_cost=mean_cost)


def constants(text: str) -> Constants:
    """D=1,sigma=1,eta=0.1,B=1,Pdim=5[,E=1,G=...,L=...]; unknown and missing names are errors.

    >>> constants("D=1,sigma=1,eta=0.1,B=1,Pdim=5").eta
    Fraction(1, 10)
    """
    known = [f.name for f in fields(Constants)]
    given: dict[str, Fraction] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or name not in known:
            raise SettingError(
                f"--constants takes NAME=VALUE with names {', '.join(known)}, got {shortened(part)}"
            )
        if name in given:
            raise SettingError(f"--constants names {name} twice")
        given[name] = number(value, name)
    missing = [name for name in ("D", "sigma", "eta", "B", "Pdim") if name not in given]
    if missing:
        raise SettingError(
            f"--constants needs {', '.join(missing)} too, such as D=1,sigma=1,eta=0.1,B=1,Pdim=5"
        )
    steps = given.pop("E", Fraction(1))
    if steps.denominator != 1:
        raise SettingError(f"E must be a whole number of at least 1, such as 1, got {steps}")
    return Constants(**given, E=int(steps))
