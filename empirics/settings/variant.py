"""A policy with settings of its own: `acdpp@K=7,eta=0.5` is acdpp with these in place of the study's.

A variant is a policy's name like any other, written in one way alone: settings in the order of `OWN`, whole numbers
without a point. A sweep turns every policy of a study into its variants, which then train in one batch.

K is the policy's retention, whichever of the study's K, hybrid_K and released_K that is. The oracle keeps a sample for
one round by its nature and buy-cheap until its place is needed. `budget` is what the policy plans to spend; debts and
violations are held against the study's. rho, rate and V are acdpp's, as far as it has not the released code's, and V is
buy-cheap's too. A sweep passes by what has no such setting. A policy of the user's own may have any of them, and is
swept over K, eta, steps and budget.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import product
from typing import Any, Self

from empirics.settings.family import departures_of, one_spelling
from empirics.settings.field import MOST_SAMPLES, POSITIVE, Check, between, shown, text, whole
from theory.setting import SettingError

__all__ = ["MARK", "OWN", "Variant", "listed", "policy_name", "swept"]

OWN: dict[str, Check] = {
    "K": whole(),
    "eta": between(1e-15, 1e9, such_as=0.5),
    "steps": whole(1, 10**6),
    "rho": between(0, 1, such_as=0.99),
    "V": between(*POSITIVE, such_as=20),
    "rate": between(0, MOST_SAMPLES, such_as=10),
    "budget": between(*POSITIVE, such_as=55),
}
ALIAS = {"E": "steps"}
MARK = "@"
EVERYBODYS = ("eta", "steps")  # settings that every policy has
HAVE = {  # the others that a built-in policy has, beside those of the family of acdpp
    "acdpp-capped": ("K", "rho", "V", "rate", "budget"),
    "constant": ("K", "budget"),
    "oracle": (),
    "hybrid": ("K", "budget"),
    "buy-cheap": ("V", "budget"),
    "buy-cheap-online": ("V", "budget"),
}
REPLACED = {"rho": "region", "rate": "region", "V": "constants"}  # by which departure
SWEPT = (*EVERYBODYS, "K", "budget")  # of a policy of the user's own
NUMBER = re.compile(r"[0-9]{1,20}|(?=[0-9.])[0-9]{0,20}(\.[0-9]{0,20})?([eE][+-]?[0-9]{1,3})?", re.ASCII)


def _have(policy: str) -> tuple[str, ...] | None:
    """The settings that a built-in policy has; None for any other, of which nothing is known."""
    departures = departures_of(policy)
    if departures is not None:
        return tuple(key for key in OWN if REPLACED.get(key) not in departures)
    return (*EVERYBODYS, *HAVE[policy]) if policy in HAVE else None


def _setting(word: str, where: str) -> str:
    name = ALIAS.get(word.strip(), word.strip())
    if name not in OWN:
        near = get_close_matches(name, OWN, n=1)
        known = f"{', '.join(list(OWN)[:-1])} and {list(OWN)[-1]}"
        hint = f"did you mean {near[0]!r}?" if near else f"a policy may have {known} of its own"
        raise SettingError(f"unknown setting {shown(name)} in {shown(where)}: {hint}")
    return name


def _value(name: str, word: str, where: str) -> Any:
    """A whole number as an int, however it is written, so that it is written in one way afterwards."""
    digits = word.strip()
    try:
        if not NUMBER.fullmatch(digits):
            raise ValueError
        number = int(digits) if digits.isdigit() else float(digits)
    except ValueError:
        raise SettingError(f"{name} in {shown(where)} must be a number, got {shown(word)}") from None
    return OWN[name](f"{name} in {shown(where)}", int(number) if number % 1 == 0 else number)


@dataclass(frozen=True)
class Variant:
    """A policy and what it has in place of the study's settings.

    >>> str(Variant.of("acdpp@ eta=0.50, K=07")), Variant.of("oracle").own
    ('acdpp@K=7,eta=0.5', {})
    """

    policy: str
    own: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str) -> Self:
        """The variant of this name; a plain policy has nothing of its own."""
        policy, mark, rest = name.partition(MARK)
        if not mark:
            return cls(one_spelling(name))
        own: dict[str, Any] = {}
        for part in rest.split(","):
            word, equals, value = part.partition("=")
            if not (policy.strip() and equals):
                raise SettingError(
                    f"a policy with settings of its own is written like acdpp@K=7,eta=0.5, got {shown(name)}"
                )
            key = _setting(word, name)
            if key in own:
                raise SettingError(f"{shown(name)} names {key} twice")
            own[key] = _value(key, value, name)
        made = cls(one_spelling(policy.strip()), own)
        have = _have(made.policy)
        for key in own:
            # a K that a policy cannot have is refused when it is made: one that it has anyway is no error
            if have is not None and key not in (*have, "K"):
                raise SettingError(f"{made.policy} has no {key} to choose: take it out of {shown(name)}")
        return made

    def __str__(self) -> str:
        own = ",".join(f"{key}={self.own[key]!r}" for key in OWN if key in self.own)
        return f"{self.policy}{MARK}{own}" if own else self.policy

    def takes(self, key: str) -> bool:
        """Whether a sweep over this setting concerns it."""
        have = _have(self.policy)
        return key not in self.own and key in (SWEPT if have is None else have)


def policy_name(name: str, value: Any) -> str:
    """The check of a setting that names a policy: a variant is kept in its one spelling."""
    return str(Variant.of(text("constant")(name, value)))


def listed(words: str) -> list[str]:
    """Names apart by commas, of which those within a variant part its settings.

    >>> listed("acdpp@K=7,eta=0.5,constant")
    ['acdpp@K=7,eta=0.5', 'constant']
    """
    names: list[str] = []
    for part in words.split(","):
        if names and MARK in names[-1] and "=" in part and MARK not in part:
            names[-1] += f",{part.strip()}"
        else:
            names.append(part.strip())
    return names


def swept(policies: Sequence[str], sweeps: Sequence[str]) -> list[str]:
    """Every policy with every combination of the swept values; what a policy has of its own, it keeps.

    >>> swept(["constant", "oracle"], ["K=1,5"])
    ['constant@K=1', 'constant@K=5', 'oracle']
    """
    values: dict[str, list[Any]] = {}
    for sweep in sweeps:
        word, equals, rest = sweep.partition("=")
        if not equals:
            raise SettingError(f"a sweep is a setting and its values, such as K=1,2,5, got {shown(sweep)}")
        key = _setting(word, sweep)
        if key in values:
            raise SettingError(f"{key} is swept twice: give all its values in one list, such as {key}=1,2,5")
        values[key] = [_value(key, one, sweep) for one in rest.split(",")]
    variants = [Variant.of(name) for name in policies]
    for key in values:
        if not any(variant.takes(key) for variant in variants):
            raise SettingError(
                f"a sweep over {key} changes none of the policies {', '.join(policies)}: name others, or leave it out"
            )
    found = []
    for variant in variants:
        taken = [key for key in values if variant.takes(key)]
        for chosen in product(*(values[key] for key in taken)):
            own = {**variant.own, **dict(zip(taken, chosen, strict=True))}
            found.append(str(Variant(variant.policy, own)))
    return found
