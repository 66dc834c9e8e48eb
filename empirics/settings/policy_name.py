"""A policy's name: parsed once, where it comes in, and asked from then on.

`acdpp@K=7,eta=0.5` is acdpp with these settings in place of the study's: a variant. A sweep turns every policy of a
study into its variants, which then train in one batch.

K is the policy's retention, whichever of the study's K, hybrid_K, released_K and burst_K that is. The oracle keeps a
sample for one round by its nature, buy-cheap until its place is needed, and taper as it says. `budget` is what the
policy plans to spend; debts and violations are held against the study's. rho, rate and V are acdpp's, as far as it
has not the released code's, and V is that of buy-cheap, burst and taper too. A sweep passes by what has no such
setting. A policy of the user's own may have any of them, and is swept over K, budget and what every policy has: the
settings of the learner.

`acdpp+K+region` is acdpp with these two departures of the released code, `released-K-region` is released without them,
`acdpp+all` is released. What a departure is, `empirics.control.departures` says.
"""

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Self

from empirics.settings.field import MOST_SAMPLES, POSITIVE, Check, between, choice, shown, text, whole
from theory.setting import SettingError

__all__ = ["AVERAGED_BY", "AVERAGES", "DEPARTURES", "EVERYBODYS", "MARK", "SETTINGS", "PolicyName"]
__all__ += ["is_built_in", "listed", "policy_name", "swept"]

AVERAGED_BY = {"polynomial": 1, "tail": 0.5, "exponential": 0.99}  # means with a parameter, and its default
AVERAGES = ("none", "equal", *AVERAGED_BY)
SETTINGS: dict[str, Check] = {  # that a policy may have of its own, in the order in which they are written
    "K": whole(),
    "eta": between(1e-15, 1e9, such_as=0.5),
    "steps": whole(1, 10**6),
    "decay": between(*POSITIVE, such_as=50),
    "average": choice(*AVERAGES),
    "average_by": between(0, POSITIVE[1], low_too=True, such_as=1),
    "rho": between(0, 1, such_as=0.99),
    "V": between(*POSITIVE, such_as=20),
    "rate": between(0, MOST_SAMPLES, such_as=10),
    "budget": between(*POSITIVE, such_as=55),
}
ALIAS = {"E": "steps"}
MARK = "@"
_NONE = "none"  # of a decay: steps of one size
WORDS = ("average",)  # settings that are no numbers
EVERYBODYS = ("eta", "steps", "decay", "average", "average_by")  # settings that every policy has
SETTINGS_OF = {  # of each built-in policy beside them; departures replace some of acdpp's
    "acdpp": ("K", "rho", "V", "rate", "budget"),
    "acdpp-capped": ("K", "rho", "V", "rate", "budget"),
    "constant": ("K", "budget"),
    "oracle": (),
    "hybrid": ("K", "budget"),
    "released": ("K", "budget"),
    "buy-cheap": ("V", "budget"),
    "buy-cheap-online": ("V", "budget"),
    "burst": ("K", "V", "budget"),
    "burst-online": ("K", "V", "budget"),
    "taper": ("V", "budget"),
    "taper-online": ("V", "budget"),
    "adaptive": ("K", "budget"),
}
USERS = (*EVERYBODYS, "K", "budget")  # what a policy of the user's own is swept over
DEPARTURES = ("K", "region", "cap", "rounding", "penalty", "constants")
REPLACED = {"rho": "region", "rate": "region", "V": "constants"}  # by which departure
JOINED = {"acdpp": "+", "released": "-"}
ALL = "acdpp+all"
NUMBER = re.compile(r"[0-9]{1,20}|(?=[0-9.])[0-9]{0,20}(\.[0-9]{0,20})?([eE][+-]?[0-9]{1,3})?", re.ASCII)


class PolicyName(str):
    """A name in its one spelling: settings in the order of `SETTINGS`, whole numbers without a point.

    It is a string, so that it is a key and a JSON value like any other. Made of a name it is that name itself.

    >>> name = PolicyName("acdpp+region+K@ eta=0.50, K=07")
    >>> name, name.base, name.own, name.departures
    ('acdpp+K+region@K=7,eta=0.5', 'acdpp+K+region', {'eta': 0.5, 'K': 7}, ('K', 'region'))
    >>> PolicyName("oracle").own, PolicyName("acdpp").departures, PolicyName("acdpp-capped").departures
    ({}, (), None)
    """

    base: str  # without settings of its own
    own: Mapping[str, Any]
    departures: (
        tuple[str, ...] | None
    )  # from acdpp to the released code, in their order; None for other policies

    def __new__(cls, name: str) -> Self:
        if isinstance(name, cls):
            return name
        base, mark, rest = name.partition(MARK)
        departures, base = _departures(base.strip() if mark else base)
        own = _own(name, base, rest) if mark else {}
        made = super().__new__(cls, _spelled(base, own))
        made.base, made.departures, made.own = base, departures, own
        for key in own:
            # a K that a policy cannot have is refused when it is made: one that it has anyway is no error
            if made.settings is not None and key not in (*made.settings, "K"):
                raise SettingError(f"{base} has no {key} to choose: take it out of {shown(name)}")
        return made

    @property
    def settings(self) -> tuple[str, ...] | None:
        """Settings that a built-in policy may have of its own; None for other policies."""
        if self.base in SETTINGS_OF:
            return (*EVERYBODYS, *SETTINGS_OF[self.base])
        if self.departures is None:
            return None
        left = (key for key in SETTINGS_OF["acdpp"] if REPLACED.get(key) not in self.departures)
        return (*EVERYBODYS, *left)

    def takes(self, key: str) -> bool:
        """A sweep over this setting changes the policy."""
        if key == "average_by" and "average" in self.own and self.own["average"] not in AVERAGED_BY:
            return False
        return key not in self.own and key in (USERS if self.settings is None else self.settings)

    def having(self, **own: Any) -> Self:
        """The policy with these settings of its own in place of its present ones.

        >>> PolicyName("hybrid@eta=2").having(K=3)
        'hybrid@K=3'
        """
        return type(self)(_spelled(self.base, own))

    @property
    def refusal(self) -> str | None:
        """The mistake in a name that looks like acdpp with departures; None for other names."""
        named = _parts(self.base)[1]
        if not named or self.departures is not None:
            return None
        wrong = next((one for one in named if one not in DEPARTURES), None)
        near = [] if wrong is None else get_close_matches(wrong, DEPARTURES, n=1)
        hint = f", did you mean {near[0]!r}?" if near else ""
        return (
            f"there is no policy {self.base!r}: the departures of the released code are {', '.join(DEPARTURES)}, each "
            f"named once as in acdpp+K+region or released-K-region, and {ALL} has them all{hint}"
        )


def is_built_in(base: str) -> bool:
    """The name, without settings, belongs to a built-in policy."""
    return base in SETTINGS_OF or _departures(base)[0] is not None


def _parts(base: str) -> tuple[str, list[str]]:
    """The policy that departures are counted from, if any, and the names joined to it."""
    for first, mark in JOINED.items():
        start, *named = base.split(mark)
        if start == first:
            return first, named
    return "", []


def _departures(base: str) -> tuple[tuple[str, ...] | None, str]:
    """The departures of a policy, and its name with them in order."""
    first, named = _parts(base)
    if base == ALL:
        return DEPARTURES, base
    if not first or len(set(named)) < len(named) or not set(named) <= set(DEPARTURES):
        return None, base
    found = tuple(one for one in DEPARTURES if (one in named) is (first == "acdpp"))
    return found, JOINED[first].join([first, *(one for one in DEPARTURES if one in named)])


def _spelled(base: str, own: Mapping[str, Any]) -> str:
    written = ",".join(f"{key}={_NONE if own[key] is None else own[key]}" for key in SETTINGS if key in own)
    return f"{base}{MARK}{written}" if written else base


def _own(name: str, base: str, rest: str) -> dict[str, Any]:
    own: dict[str, Any] = {}
    for part in rest.split(","):
        word, equals, value = part.partition("=")
        if not (base and equals):
            raise SettingError(
                f"a policy with settings of its own is written like acdpp@K=7,eta=0.5, got {shown(name)}"
            )
        key = _setting(word, name)
        if key in own:
            raise SettingError(f"{shown(name)} names {key} twice")
        own[key] = _value(key, value, name)
    return own


def _setting(word: str, where: str) -> str:
    name = ALIAS.get(word.strip(), word.strip())
    if name not in SETTINGS:
        near = get_close_matches(name, SETTINGS, n=1)
        known = f"{', '.join(list(SETTINGS)[:-1])} and {list(SETTINGS)[-1]}"
        hint = f"did you mean {near[0]!r}?" if near else f"a policy may have {known} of its own"
        raise SettingError(f"unknown setting {shown(name)} in {shown(where)}: {hint}")
    return name


def _value(name: str, word: str, where: str) -> Any:
    """A whole number as an int, however it is written, so that it is written in one way afterwards."""
    digits = word.strip()
    if name == "decay" and digits == _NONE:
        return None
    if name in WORDS:
        return SETTINGS[name](f"{name} in {shown(where)}", digits)
    try:
        if not NUMBER.fullmatch(digits):
            raise ValueError
        number = int(digits) if digits.isdigit() else float(digits)
    except ValueError:
        raise SettingError(f"{name} in {shown(where)} must be a number, got {shown(word)}") from None
    return SETTINGS[name](f"{name} in {shown(where)}", int(number) if number % 1 == 0 else number)


def policy_name(name: str, value: Any) -> PolicyName:
    """The check of a setting that names a policy."""
    return PolicyName(text("constant")(name, value))


def listed(words: str) -> list[str]:
    """Names separated by commas; a comma within a variant separates its settings.

    >>> listed("acdpp@K=7, eta=0.5,constant@K=1,oracle"), listed("K=7,oracle")
    (['acdpp@K=7,eta=0.5', 'constant@K=1', 'oracle'], ['K=7', 'oracle'])
    """
    names: list[str] = []
    for part in words.split(","):
        if names and MARK in names[-1] and "=" in part and MARK not in part:
            names[-1] += f",{part.strip()}"
        else:
            names.append(part.strip())
    return names


def swept(policies: Sequence[str], sweeps: Sequence[str]) -> list[PolicyName]:
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
    names = [PolicyName(name) for name in policies]
    for key in values:
        if not any(name.takes(key) for name in names):
            raise SettingError(
                f"a sweep over {key} changes none of the policies {', '.join(policies)}: name others, or leave it out"
            )
    for key in sorted(values, key="average_by".__eq__):  # last: whether a mean takes it depends on its kind
        names = [one for name in names for one in _variants(name, key, values[key])]
    return names


def _variants(name: PolicyName, key: str, values: Sequence[Any]) -> list[PolicyName]:
    return [name.having(**name.own, **{key: value}) for value in values] if name.takes(key) else [name]
