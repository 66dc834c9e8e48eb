"""Examples with power: a bound holds in each of them, and in none without a term that it needs there.

An `Example` is a training run whose cumulative excess risk is enclosed, with n, N, Ṽ, χ and the stale weight of every
round and with proofs that its losses obey its constants. `powered` asks two things of a bound: that it lies above the
excess risk in every example, and that for each of its terms there is an example in which it would not do so without
that term. How much of a term an example needs is in the certificate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

from proofs_check.evidence import Evidence, fails, holds, obeying, undecided
from theory.algebra import ball, precise
from theory.bound import Bound, Terms
from theory.setting import Constants

DOMAIN = "exact or enclosed excess risks of the examples named; each obeys the hypotheses, which is proved"
TERMS = ("root", "generalisation", "constant", "initial")


@dataclass(frozen=True)
class Example:
    """A run: `excess` is a ball around its cumulative excess risk, the columns have one entry a round."""

    name: str
    constants: Constants
    excess: Any
    stale: Sequence[Any]
    N: Sequence[Any] = ()
    uniformity: Sequence[Any] = ()
    mismatch: Sequence[Any] = ()
    n: Sequence[Any] = ()
    facts: Mapping[str, Evidence] = field(default_factory=dict)

    def bound(self, bound: Callable[..., Bound], columns: Sequence[str]) -> Terms:
        """A bound on the run, from its columns in balls; many rounds are alike."""
        made = cache(lambda x: ball(Fraction(x)))
        given = ([made(x) for x in getattr(self, name)] for name in columns)
        terms: Terms = bound(*given, self.constants.map(ball)).terms
        return terms


def powered(
    examples: Iterable[Example],
    bound: Callable[..., Bound],
    columns: Sequence[str],
    terms: Sequence[str] = TERMS,
) -> Evidence:
    """Whether the bound holds in every example, and each of the terms is needed in one of them.

    A violated bound fails; a term that no example needs, or a hypothesis that was not shown, leaves the check open.
    """
    table: dict[str, list[dict[str, Any]]] = {}
    doubts: list[Evidence] = []
    pieces = 0
    with precise():
        for example in examples:
            parts, facts = example.bound(bound, columns), example.facts
            total, excess = parts.total, example.excess
            row = {"example": example.name, "excess": excess.str(8), "bound": total.str(8)}
            if excess > total:
                found = fails("enclosure", f"excess above the bound: {row}", domain=DOMAIN, certificate=row)
                return obeying(found, facts)
            if not excess <= total:
                overlap = f"excess and bound overlap in {example.name}"
                doubts.append(undecided("enclosure", overlap, certificate=row))
            unshown = [name for name, fact in facts.items() if fact.outcome != "holds"]
            if unshown:
                doubts.append(undecided("enclosure", f"not shown of {example.name}: {', '.join(unshown)}"))
            pieces += 1 + len(facts)
            for name in terms:
                term = getattr(parts, name)
                if excess > total - term:
                    share = float(((excess - (total - term)) / term).lower())
                    needs = {"bound without it": (total - term).str(8), "needed share": round(share, 4)}
                    table.setdefault(name, []).append({**row, **needs})
    if doubts:
        return doubts[0]
    idle = [name for name in terms if name not in table]
    if idle:
        needless = f"no example needs the term {', '.join(idle)}"
        return undecided("enclosure", needless, domain=DOMAIN, certificate=table)
    shares = ", ".join(f"{name} {max(r['needed share'] for r in table[name]):.0%}" for name in terms)
    detail = (
        f"the bound holds in all examples, in none without a term that it needs; at least needed: {shares}"
    )
    return holds("enclosure", detail, domain=DOMAIN, certificate=table, pieces=pieces)
