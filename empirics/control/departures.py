"""ACDPP with some of the departures of the released code, to see what each of them does.

| departure | what it changes of acdpp |
| --- | --- |
| K | samples are kept for `released_K` rounds; the target rate is then the best for that K, as for `acdpp@K=6` |
| region | the script's: centre 40, exponent 0.01·t, its ρ, a lower end of at least 1 and a width of at least 10 |
| cap | the upper end of the region, whichever that is, is at most 50 (MNIST), 100 (CIFAR-10) or 1000 (ImageNette) |
| rounding | λ_m = max(1, round(Λ B_m / ΣB)), and nothing is carried over to the next round |
| penalty | 1/√n - 1/√N for √(1/n - 1/N), half the logarithm, Pdim samples counted as seen; ternary search to 0.1 |
| constants | D, σ, B, Pdim, η̃ and V of the script in place of the study's |

Each is independent of the others: `constants` alone puts the script's constants into the paper's penalty, whose minimum
is exact, and `penalty` alone the study's constants into the released one. Where they meet, the released code decides: a
cap leaves the script's region a width of 10. Under acdpp's own region a cap below the lower end becomes both ends.
Without `cap`, the script's region reaches far up (4·10⁶ samples in round 1 on MNIST), and without a debt in round 1
that much is admitted.

With all of them the admissions are those of `released`, with none those of `acdpp`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from empirics.control.policy import DriftPlusPenalty, Floats, State, Whole
from empirics.control.released import Script, at_least_one, released_region, ternary_search
from theory.control.minimiser import optimal_admission
from theory.control.region import region_maximum, region_minimum
from theory.control.whole_samples import integer_admissions

__all__ = ["Departing"]


@dataclass(frozen=True)
class Departing:
    """`rule` has the retention, the constants, V and the budget that are used; the rest is up to `departures`."""

    rule: DriftPlusPenalty
    script: Script
    departures: tuple[str, ...]

    @classmethod
    def of(cls, rule: DriftPlusPenalty, script: Script, departures: Sequence[str]) -> Self:
        """These departures from an acdpp whose retention departs already, if it does."""
        if "constants" in departures:
            rule = replace(rule, V=script.V, constants=script.constants)
        return cls(rule, script, tuple(departures))

    @property
    def retention(self) -> int:
        return self.rule.retention

    def start(self, replicates: int) -> State:
        return self.rule.start(replicates)

    def ends(self, t: int) -> tuple[float, float]:
        """The region in round t."""
        cap = self.script.cap if "cap" in self.departures else np.inf
        if "region" in self.departures:
            return released_region(self.script, t, cap)
        low, high = (float(end(self.rule.region, t)) for end in (region_minimum, region_maximum))
        return min(low, cap), min(high, cap)

    def rate(self, state: State, cost: Floats) -> Floats:
        """Λ of each replicate, a real number."""
        rule, server = self.rule, state.server
        low, high = self.ends(server.round)
        common: dict[str, Any] = {"V": rule.V, "constants": rule.constants}
        if "penalty" in self.departures:
            return ternary_search(server, cost, float(rule.budget.cost), ends=(low, high), **common)
        common |= {"Z": server.debt, "retained": server.retained, "seen": server.seen}
        return optimal_admission(cost=cost, lo=low, hi=high, **common)

    def decide(self, state: State, cost: Floats) -> tuple[State, Whole]:
        rate, buffers = self.rate(state, cost), np.array(self.rule.budget.buffers)
        if "rounding" in self.departures:
            return state, at_least_one(rate, buffers)
        admitted, carry = integer_admissions(rate, buffers / buffers.sum(), state.carry)
        return replace(state, carry=carry), admitted

    def book(self, state: State, cost: Floats, delivered: Whole) -> State:
        return self.rule.book(state, cost, delivered)
