"""Exact comparison on examples that Hypothesis draws, and shrinks when one fails.

A positive outcome says: true, without rounding, on every example drawn (which proves nothing beyond them). A
negative one is an exact counterexample, the smallest that Hypothesis finds, and a disproof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import lcm
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st

from proofs_check.claim import Check, Context
from proofs_check.evidence import Evidence, fails, holds
from theory.setting import Constants, Region

__all__ = [
    "Found",
    "admissions",
    "by_profile",
    "constants",
    "counts",
    "differing",
    "drawn",
    "everywhere",
    "exhaust",
    "fractions",
    "grid",
    "regions",
    "retentions",
    "search",
    "unless",
]

Found = (
    dict[str, Any] | None
)  # nothing where a statement holds, otherwise the numbers that show the violation
Property = Callable[..., Mapping[str, Any] | None]


# --- what to draw ------------------------------------------------------------------------------------------


def retentions(most: int = 8) -> st.SearchStrategy[int]:
    """K."""
    return st.integers(1, most)


def admissions(clients: int = 1, rounds: int = 12, most: int = 30) -> st.SearchStrategy[Any]:
    """Admissions of each round, a list over clients in each: zeros and bursts included; something in round
    1.
    """
    amount = st.one_of(st.integers(0, 3), st.just(0), st.integers(0, most))
    one_round = st.lists(amount, min_size=clients, max_size=clients)
    return st.lists(one_round, min_size=1, max_size=rounds).filter(lambda rows: sum(rows[0]) > 0)


def counts(most: int = 12) -> st.SearchStrategy[list[int]]:
    """Reuse counts A_i >= 1, one for each distinct sample that has been used."""
    return st.lists(st.integers(1, most), min_size=1, max_size=12)


def fractions(
    low: Any = Fraction(1, 8), high: Any = 8, max_denominator: int = 16
) -> st.SearchStrategy[Fraction]:
    """The rationals of a range with small denominators.

    They are drawn and shrunk as by `st.fractions`: a denominator, then a numerator. But that one builds strategies anew
    for each draw, which took a third of the time of all searches.
    """
    low, high = Fraction(low), Fraction(high)
    ends = lcm(low.denominator, high.denominator)
    denominators = st.integers(1, max_denominator)
    numerators = {
        d: st.integers(int(low * ends * d), int(high * ends * d)) for d in range(1, max_denominator + 1)
    }

    @st.composite
    def fraction(draw: st.DrawFn) -> Fraction:
        d = draw(denominators)
        return Fraction(draw(numerators[d]), ends * d).limit_denominator(max_denominator)

    return fraction()


def constants() -> st.SearchStrategy[Constants]:
    """The problem's constants, exact."""
    return st.builds(
        Constants,
        D=fractions(),
        sigma=fractions(),
        eta=fractions(),
        B=fractions(),
        Pdim=st.integers(1, 8),
        E=st.integers(1, 4),
    )


def regions() -> st.SearchStrategy[Region]:
    """Admission regions, ρ not too close to 1 so that exact powers stay short."""
    return st.builds(
        Region, rate=st.integers(1, 8), rho=fractions(Fraction(1, 8), Fraction(15, 16), max_denominator=16)
    )


# --- what to do with it ------------------------------------------------------------------------------------


class _Falsified(Exception):
    """Tells Hypothesis that the property fails, and nothing else does."""


def search(
    context: Context,
    strategies: Mapping[str, st.SearchStrategy[Any]],
    find: Property,
    *,
    domain: str,
    examples: int,
) -> Evidence:
    """Draw named arguments and look for one with `find(**arguments)` not None.

    `find` returns None where the statement holds, and otherwise the numbers that show the violation. An
    exception in it is no counterexample: it goes through.

    >>> found = search(Context(), {"K": retentions()}, lambda K: {"K squared": K * K} if K > 4 else None,
    ...                domain="K <= 8", examples=100)
    >>> found.outcome, found.certificate
    ('fails', {'K': 5, 'K squared': 25})
    """
    tried = 0
    smallest: dict[str, Any] = {}

    @seed(context.number)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        verbosity=Verbosity.quiet,
        derandomize=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(st.fixed_dictionaries(dict(strategies)))
    def attempt(arguments: dict[str, Any]) -> None:
        nonlocal tried, smallest
        tried += 1
        violation = find(**arguments)
        if violation is not None:
            smallest = {**arguments, **violation}
            raise _Falsified

    try:
        attempt()
    except _Falsified:
        return fails(
            "exact", f"smallest counterexample: {_spell(smallest)}", domain=domain, certificate=smallest
        )
    return holds(
        "exact",
        f"true on {tried} examples, drawn at random",
        domain=domain,
        certificate={"examples": tried, "seed": context.seed},
    )


def exhaust(
    points: Iterable[Mapping[str, Any]], find: Property, *, domain: str, strength: Any = "certified"
) -> Evidence:
    """Like `search`, but on every listed point: rigorous on that range."""
    tried = 0
    for point in points:
        tried += 1
        violation = find(**point)
        if violation is not None:
            found = {**point, **violation}
            return fails("exact", f"counterexample: {_spell(found)}", domain=domain, certificate=found)
    if tried == 0:
        raise ValueError("an empty range shows nothing")
    return holds(
        "exact",
        f"true at all {tried} points",
        domain=domain,
        strength=strength,
        certificate={"points": tried},
    )


def grid(**axes: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Every combination of named values, to exhaust.

    >>> list(grid(K=(1, 2), a=(0,)))
    [{'K': 1, 'a': 0}, {'K': 2, 'a': 0}]
    """
    return (dict(zip(axes, values, strict=True)) for values in product(*axes.values()))


# --- a property as a check ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class by_profile:
    """Values of which the profile has the choice: few quickly, or all."""

    quick: Any
    full: Any


def everywhere(domain: str, **axes: Iterable[Any] | by_profile) -> Callable[[Property], Check]:
    """Makes a check of a property: it is tried at every combination of named values.

    >>> @everywhere("K up to 4", K=by_profile(range(1, 3), range(1, 5)))
    ... def triangular(K):
    ...     return differing(added=sum(range(K + 1)), formula=K * (K + 1) // 2)
    >>> triangular(Context()).detail
    'true at all 2 points'
    """

    def checked(find: Property) -> Check:
        def check(context: Context) -> Evidence:
            chosen = {name: _chosen(values, context) for name, values in axes.items()}
            return exhaust(grid(**chosen), find, domain=domain)

        return _named(check, find)

    return checked


def drawn(
    domain: str, examples: tuple[int, int], **strategies: st.SearchStrategy[Any]
) -> Callable[[Property], Check]:
    """Makes a check of a property: it is tried on this many examples, quickly or fully, of named arguments."""

    def checked(find: Property) -> Check:
        def check(context: Context) -> Evidence:
            return search(context, strategies, find, domain=domain, examples=context.choose(*examples))

        return _named(check, find)

    return checked


def _chosen(values: Any, context: Context) -> Any:
    return context.choose(values.quick, values.full) if isinstance(values, by_profile) else values


def _named(check: Check, find: Property) -> Check:
    check.__name__, check.__doc__, check.__module__ = find.__name__, find.__doc__, find.__module__
    return check


def differing(**sides: Any) -> Found:
    """What a `find` returns where all of these must agree: nothing, or all of them.

    >>> differing(counted=2, formula=2), differing(counted=2, formula=2, printed=3)
    (None, {'counted': 2, 'formula': 2, 'printed': 3})
    """
    first, *others = sides.values()
    return unless(all(other == first for other in others), **sides)


def unless(true: bool, **shown: Any) -> Found:
    """What a `find` returns: nothing where the statement is true, else the numbers that show the violation."""
    return None if true else shown


def _spell(found: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in found.items())
