"""Exact comparison, without rounding, on examples drawn by Hypothesis or on all points of a finite range.

A positive outcome shows that a statement is true on every example tried, and on a whole range where all its points
are. A negative outcome is an exact counterexample, the smallest that Hypothesis finds, and a disproof.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import lcm
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st

from proofs_check.claim import Check
from proofs_check.context import Context
from proofs_check.evidence import Evidence, fails, holds, spelled
from theory.setting import Budget, Constants, Region

__all__ = ["Found", "admissions", "budgets", "by_profile", "constants", "counts", "differing", "drawn"]
__all__ += ["everywhere", "exhaust", "fractions", "grid", "regions", "retentions", "search", "unless"]

Found = dict[str, Any] | None  # None where a statement holds, otherwise the numbers that violate it
Property = Callable[..., Mapping[str, Any] | None]


# --- strategies --------------------------------------------------------------------------------------------


def retentions(most: int = 8) -> st.SearchStrategy[int]:
    """Retention horizons K."""
    return st.integers(1, most)


def admissions(clients: int = 1, rounds: int = 12, most: int = 30) -> st.SearchStrategy[Any]:
    """Admissions by round and client, zeros and bursts included; round 1 admits something."""
    amount = st.one_of(st.integers(0, 3), st.just(0), st.integers(0, most))
    one_round = st.lists(amount, min_size=clients, max_size=clients)
    return st.lists(one_round, min_size=1, max_size=rounds).filter(lambda rows: sum(rows[0]) > 0)


def counts(most: int = 12) -> st.SearchStrategy[list[int]]:
    """Reuse counts A_i >= 1 of distinct samples."""
    return st.lists(st.integers(1, most), min_size=1, max_size=12)


def fractions(
    low: Any = Fraction(1, 8), high: Any = 8, max_denominator: int = 16
) -> st.SearchStrategy[Fraction]:
    """Rationals in a range with small denominators, drawn and shrunk as by `st.fractions`.

    `st.fractions` builds strategies anew for each draw, which took a third of the time of all searches.
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
    """Admission regions with ρ at most 15/16, so that exact powers stay short."""
    return st.builds(Region, rate=st.integers(1, 8), rho=fractions(Fraction(1, 8), Fraction(15, 16)))


def budgets(clients: int, cost: int, *means: Any) -> st.SearchStrategy[Budget]:
    """Buffers of so many clients at most, a whole cost per round up to `cost`, and one of these mean prices."""
    buffers = st.lists(st.integers(1, 12), min_size=1, max_size=clients).map(tuple)
    return st.builds(Budget, buffers=buffers, cost=st.integers(1, cost), mean_cost=st.sampled_from(means))


# --- comparisons -------------------------------------------------------------------------------------------


class _Falsified(Exception):
    """Tells Hypothesis that the property fails; any other exception is an error."""


def search(
    context: Context,
    strategies: Mapping[str, st.SearchStrategy[Any]],
    find: Property,
    *,
    domain: str,
    examples: int,
) -> Evidence:
    """Test whether a statement is true on named arguments drawn at random.

    `find(**arguments)` returns None where it is true, and otherwise the numbers that violate it. An exception in `find`
    is no counterexample and is not caught.

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
        detail = f"smallest counterexample: {spelled(smallest)}"
        return fails("exact", detail, domain=domain, certificate=smallest)
    certificate = {"examples": tried, "seed": context.seed}
    detail = f"true on {tried} examples, drawn at random"
    return holds("exact", detail, domain=domain, certificate=certificate)


def exhaust(
    points: Iterable[Mapping[str, Any]], find: Property, *, domain: str, strength: Any = "certified"
) -> Evidence:
    """Test whether a statement is true at every listed point, with `find` as in `search`: rigorous on that range."""
    tried = 0
    for point in points:
        tried += 1
        violation = find(**point)
        if violation is not None:
            found = {**point, **violation}
            return fails("exact", f"counterexample: {spelled(found)}", domain=domain, certificate=found)
    if tried == 0:
        raise ValueError("an empty range shows nothing")
    detail, certificate = f"true at all {tried} points", {"points": tried}
    return holds("exact", detail, domain=domain, strength=strength, certificate=certificate)


def grid(**axes: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Every combination of named values.

    >>> list(grid(K=(1, 2), a=(0,)))
    [{'K': 1, 'a': 0}, {'K': 2, 'a': 0}]
    """
    return (dict(zip(axes, values, strict=True)) for values in product(*axes.values()))


# --- checks from properties --------------------------------------------------------------------------------


@dataclass(frozen=True)
class by_profile:
    """Values for each profile: few for `quick`, all for `full`."""

    quick: Any
    full: Any


def everywhere(domain: str, **axes: Iterable[Any] | by_profile) -> Callable[[Property], Check]:
    """Decorator that makes a check of a property, tried at every combination of named values.

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
    """Decorator that makes a check of a property, tried on (quick, full) many examples of named arguments."""

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
    """Result of a `find` that requires all sides to agree: None, or all sides.

    >>> differing(counted=2, formula=2), differing(counted=2, formula=2, printed=3)
    (None, {'counted': 2, 'formula': 2, 'printed': 3})
    """
    first, *others = sides.values()
    return unless(all(other == first for other in others), **sides)


def unless(true: bool, **shown: Any) -> Found:
    """Result of a `find`: None where the statement is true, otherwise the numbers that violate it."""
    return None if true else shown
