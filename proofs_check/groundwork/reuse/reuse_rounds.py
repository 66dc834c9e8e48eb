"""One round of K-step retention in symbols: how the sums over all samples move, for any admissions.

The truth is played sample by sample. A round admits x samples, each of which is used once in it; the y samples that
have been used K times leave before it; every other one in memory, used A < K times, is used once more. Beside it
runs what `theory/` adds up: the weights that it gives to a sample's age, so that the cases are an age below K, age K,
an age above K, and a new sample. That a sample's count is `uses_kstep` of its age is `eq:kstep-drop`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.engines.identity import equal
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.reuse.sample_sums import added_up
from proofs_check.simulator import Snapshot
from theory.reuse import cohort_deficits, uses_kstep

__all__ = [
    "DOMAIN",
    "K",
    "Sums",
    "after",
    "before",
    "deficits_carried_on",
    "gone_carried_on",
    "kstep_sums",
    "printed_bound",
    "weights_by_age",
]

DOMAIN = "any $K$, any round, any admissions: induction over the rounds"

K, age, x, y = sp.symbols("K age x y", integer=True, positive=True)  # x admitted, y leaving
s = sp.Symbol("s", integer=True, nonnegative=True)


@dataclass(frozen=True)
class Sums:
    """Over all samples seen, and over those in memory: what Ṽ and χ are made of; and theory's two deficits."""

    N: Any
    n: Any
    uses: Any
    squares: Any
    in_memory: Any
    first: Any
    second: Any

    @property
    def uniformity(self) -> Any:
        """Ṽ by its definition: the squared mean over itself plus the variance, the variance over N."""
        mean = self.uses / self.N
        variance = added_up((age - mean) ** 2, age, self.N, self.uses, self.squares) / self.N
        return mean**2 / (mean**2 + variance)

    @property
    def mismatch(self) -> Any:
        """χ by its definition: Σ(ω - 1/n)² over the memory, and Σω² over the samples gone, used K times each."""
        gone = self.N - self.n
        kept_squares = self.squares - K**2 * gone
        inside = (age / self.uses - 1 / self.n) ** 2
        outside = (age / self.uses) ** 2
        return added_up(inside, age, self.n, self.in_memory, kept_squares) + added_up(
            outside, age, gone, K * gone, K**2 * gone
        )


def before() -> Sums:
    """Any round, in which theory's deficits are what is missing to K and K² uses of every sample."""
    N, n, uses, squares, in_memory = sp.symbols("N n uses squares in_memory", positive=True)
    return Sums(N, n, uses, squares, in_memory, K * N - uses, K**2 * N - squares)


def _change(weight: Any, now: Any, horizon: Any) -> Any:
    """By how much the weight of a sample changes from this age to the next."""
    return sp.expand(weight(now + 1, horizon) - weight(now, horizon))


def _theory_after(sums: Any, weight: Any, kept: tuple[Any, ...]) -> Any:
    """Σ weight(age) over all samples, a round later: new samples have age 1, those kept grow older."""
    older = _change(weight, age, age + 1 + s)  # any age below K
    if older.has(s):
        raise ArithmeticError(f"the change {older} of a weight depends on more than the age")
    leaving = _change(weight, K, K)
    return sums + added_up(older, age, *kept) + y * leaving + x * weight(1, 1 + s).subs(s, K - 1)


def after(round_before: Sums) -> Sums:
    """The round after it: counts by the rule above, deficits by theory's weights."""
    b = round_before
    kept = (b.n - y, b.in_memory - K * y)  # samples, and their uses so far
    return Sums(
        N=b.N + x,
        n=b.n - y + x,
        uses=b.uses + added_up((age + 1) - age, age, *kept) + x,
        squares=b.squares + added_up(sp.expand((age + 1) ** 2 - age**2), age, *kept) + x,
        in_memory=added_up(age + 1, age, *kept) + x,
        first=_theory_after(b.first, lambda a, k: cohort_deficits(a, k)[0], kept),
        second=_theory_after(b.second, lambda a, k: cohort_deficits(a, k)[1], kept),
    )


def weights_by_age() -> Evidence:
    """Where the sums over the last K rounds end is of no account: a sample of age K or more lacks nothing."""
    first, second = cohort_deficits(K + s, K)
    return together(
        equal(first, 0, domain="any age $K+s$", what="the first deficit and 0"),
        equal(second, 0, domain="any age $K+s$", what="the second deficit and 0"),
        equal(uses_kstep(K + s, K), K, domain="any age $K+s$", what="the uses and $K$"),
        equal(uses_kstep(age, age + s), age, domain="any age up to $K$", what="the uses and the age"),
    )


def deficits_carried_on() -> Evidence:
    """K·N - D⁽¹⁾ = ΣA and K²·N - D⁽²⁾ = ΣA², from one round to the next; before round 1 all of it is 0."""
    a = after(before())
    return together(
        weights_by_age(),
        equal(K * a.N - a.first, a.uses, domain=DOMAIN, what=r"$KN-D^{(1)}$ and $\sum A$"),
        equal(K**2 * a.N - a.second, a.squares, domain=DOMAIN, what=r"$K^2N-D^{(2)}$ and $\sum A^2$"),
    )


def gone_carried_on() -> Evidence:
    """The uses outside the memory are K for each sample gone, from one round to the next."""
    b, a = before(), after(before())
    outside = b.uses - b.in_memory - K * (b.N - b.n)
    return equal(
        a.uses - a.in_memory - K * (a.N - a.n),
        outside,
        domain=DOMAIN,
        what="uses outside the memory, less $K$ each,",
    )


def kstep_sums(uses: Any, squares: Any, gone: Any) -> tuple[Any, Any]:
    """ΣA and ΣA² over all samples from those over the memory, where every sample gone has been used K times."""
    used = uses_kstep(K + 1 + s, K)
    return uses + used * gone, squares + used**2 * gone


def printed_bound(view: Snapshot) -> Fraction:
    """1/n - 1/N_eff, which the paper takes for χ."""
    return Fraction(1, view.n) - 1 / (view.N * view.uniformity)
