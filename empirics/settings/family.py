"""The names of all policies from acdpp to released: which departures of the released code each of them has.

`acdpp+K+region` is acdpp with these two, `released-K-region` is released without them, `acdpp+all` is released. What a
departure is, `empirics.control.departures` says.
"""

from __future__ import annotations

from difflib import get_close_matches

__all__ = ["DEPARTURES", "departures_of", "one_spelling", "refusal"]

DEPARTURES = ("K", "region", "cap", "rounding", "penalty", "constants")
JOINED = {"acdpp": "+", "released": "-"}
ALL = "acdpp+all"


def _parts(policy: str) -> tuple[str, list[str]]:
    """The end of the family that a name starts from, or nothing, and what is joined to it."""
    for base, mark in JOINED.items():
        first, *named = policy.split(mark)
        if first == base:
            return base, named
    return "", []


def departures_of(policy: str) -> tuple[str, ...] | None:
    """The departures of a policy of this family, in their order; None for any other policy.

    >>> departures_of("acdpp"), departures_of("acdpp+region+K"), departures_of("acdpp-capped")
    ((), ('K', 'region'), None)
    >>> departures_of("released-cap-penalty")
    ('K', 'region', 'rounding', 'constants')
    """
    base, named = _parts(policy)
    if policy == ALL:
        return DEPARTURES
    if not base or len(set(named)) < len(named) or not set(named) <= set(DEPARTURES):
        return None
    return tuple(one for one in DEPARTURES if (one in named) is (base == "acdpp"))


def one_spelling(policy: str) -> str:
    """A name of the family with its departures in order, and any other name as it is.

    >>> one_spelling("acdpp+region+K"), one_spelling("acdpp+all"), one_spelling("mine+K+cap")
    ('acdpp+K+region', 'acdpp+all', 'mine+K+cap')
    """
    base, named = _parts(policy)
    if policy == ALL or departures_of(policy) is None:
        return policy
    return JOINED[base].join([base, *(one for one in DEPARTURES if one in named)])


def refusal(policy: str) -> str | None:
    """Why a name that looks like one of the family is none; None where it does not even look like one."""
    named = _parts(policy)[1]
    if not named or departures_of(policy) is not None:
        return None
    wrong = next((one for one in named if one not in DEPARTURES), None)
    near = [] if wrong is None else get_close_matches(wrong, DEPARTURES, n=1)
    hint = f", did you mean {near[0]!r}?" if near else ""
    return (
        f"there is no policy {policy!r}: the departures of the released code are {', '.join(DEPARTURES)}, each named "
        f"once as in acdpp+K+region or released-K-region, and {ALL} has them all{hint}"
    )
