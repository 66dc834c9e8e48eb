"""Which retention rules satisfy the printed bound on the mismatch, χ <= 1/n - 1/N_eff?

Just those whose memory has been used enough on average. One use each does it, a core kept for ever does it, K-step
retention with K >= 2 does not, unless all counts are equal.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import Claim, Context, Correction, confirming
from proofs_check.engines.exact import search
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.reuse.constant_counts import (
    s,
)
from proofs_check.groundwork.reuse.reuse_rounds import kstep_sums, printed_bound
from proofs_check.groundwork.reuse.sample_sums import (
    cauchy_schwarz,
    cauchy_schwarz_equality,
)
from proofs_check.simulator import Snapshot
from proofs_check.symbols import K, n, t
from theory.reuse import (
    effective_from_sums,
    mismatch_from_sums,
    uses_kstep,
)

A, S1, S2, uses_kept = sp.symbols("A S1 S2 U", positive=True)  # a count; ΣA, ΣA², and ΣA over the memory
p, q, r = sp.symbols("p q r", positive=True)  # the sums of 1, A, A² over the memory
gone = sp.Symbol("gone", nonnegative=True)  # samples no longer in memory


def equality_for_any_admissions() -> Evidence:
    """χ = 1/n - 1/N_eff just if the counts in memory are equal (q² = pr) and nothing is gone, or they are K like those
    gone (q = Kp).
    """
    first, second = kstep_sums(q, r, gone)
    all_equal = sp.And(sp.Eq(q**2, p * r), sp.Or(sp.Eq(gone, 0), sp.Eq(q, K * p)))
    return together(
        always(
            sp.Equivalent(
                mismatch_from_sums(p, first, second, q) <= 1 / p - 1 / effective_from_sums(first, second),
                all_equal,
            ),
            given=[q**2 <= p * r, q <= K * p],
            domain="$K$-step retention, any admissions, any round with samples in memory",
        ),
        cauchy_schwarz(),
        cauchy_schwarz_equality(),
        always(
            q + A <= K * (p + 1),
            given=[q <= K * p, A <= K],
            domain="one more sample in memory, used at most $K$ times",
        ),
    )


def _snapshot(stays: list[tuple[int, int]], rounds: int = 4) -> Snapshot | None:
    """Samples by the first and the last round of their stay, whatever rule made it; the last round's view."""
    uses = {(0, i): last - first + 1 for i, (first, last) in enumerate(stays)}
    memory = tuple((0, i) for i, (_, last) in enumerate(stays) if last == rounds)
    return Snapshot(rounds, memory, uses) if memory else None


STAYS = st.lists(
    st.tuples(st.integers(1, 4), st.integers(1, 4)).map(lambda ends: (min(ends), max(ends))),
    min_size=1,
    max_size=6,
)


def _criterion(view: Snapshot) -> bool:
    """Whether a sample in memory has on average been used at least ΣA²/ΣA times."""
    total, squares = sum(view.uses.values()), sum(a * a for a in view.uses.values())
    return Fraction(sum(view.uses[i] for i in view.memory), view.n) >= Fraction(squares, total)


def every_rule(context: Context) -> Evidence:
    """The smallest set of stays that violates it."""

    def exceeds(stays: list[tuple[int, int]]) -> dict[str, Any] | None:
        view = _snapshot(stays)
        if view is None or view.mismatch <= printed_bound(view):
            return None
        return {"reuse counts": list(view.uses.values()), "χ": view.mismatch, "printed": printed_bound(view)}

    return search(
        context,
        {"stays": STAYS},
        exceeds,
        domain="any retention rule, four rounds; a stay is its first and last round",
        examples=100,
    )


def rule_equivalence() -> Evidence:
    """Both sides are 2(W/n - 1/N_eff) >= 0, multiplied by positive numbers."""
    chi = mismatch_from_sums(n, S1, S2, uses_kept)
    return always(
        sp.Equivalent(chi <= 1 / n - 1 / effective_from_sums(S1, S2), uses_kept / n >= S2 / S1),
        domain="any retention rule, any round",
    )


def rule_simulated(context: Context) -> Evidence:
    """On drawn stays, from the definitions."""

    def differs(stays: list[tuple[int, int]]) -> dict[str, Any] | None:
        view = _snapshot(stays)
        if view is None or (view.mismatch <= printed_bound(view)) == _criterion(view):
            return None
        return {"χ": view.mismatch, "printed": printed_bound(view), "criterion": _criterion(view)}

    examples = context.choose(150, 2000)
    return search(context, {"stays": STAYS}, differs, domain="any retention rule", examples=examples)


def no_reuse() -> Evidence:
    """K = 1: every sample seen has been used once, those in memory too."""
    size = n + gone
    used = uses_kstep(1 + s, 1)
    return equal(
        mismatch_from_sums(n, used * size, used**2 * size, used * n),
        1 / n - 1 / effective_from_sums(used * size, used**2 * size),
        domain="$K=1$, any admissions",
        what=r"$\chi$ and $1/n-1/N_{\mathrm{eff}}$",
    )


def core_and_fresh() -> Evidence:
    """a samples kept for ever, used t times each, and b fresh ones a round, used once each."""
    a, b = sp.symbols("a b", integer=True, positive=True)
    first, second, in_memory = a * t + b * t, a * t**2 + b * t, a * t + b
    return equal(
        mismatch_from_sums(a + b, first, second, in_memory),
        1 / (a + b) - 1 / effective_from_sums(first, second),
        domain="every core $a$, every fresh $b$, every $t$",
        what=r"$\chi$ and $1/n-1/N_{\mathrm{eff}}$",
    )


CLAIMS = [
    Claim(
        id="eq:sigma-bar-Neff-app/retention",
        kind="step",
        title="the same, for every retention rule",
        statement=r"At a fixed $\theta$ the mean squared mismatch is at most "
        r"$\sigma^2(1/n-1/N_{\mathrm{eff}})$, whatever the retention rule.",
        formula=r"\chi\le\tfrac1n-\tfrac1{N_{\mathrm{eff}}}",
        domain=r"any retention rule, any round with samples in memory, $\theta$ fixed",
        hypotheses=(r"the samples in memory have on average been used at least $\sum A^2/\sum A$ times",),
        checks=(every_rule,),
        checks_with_hypotheses=(rule_equivalence, confirming(rule_simulated)),
        corrected=Correction(
            title=r"just if memory is used $\ge\sum A^2/\sum A$ on average",
            statement=r"$\chi\le1/n-1/N_{\mathrm{eff}}$ holds if and only if the samples in memory have "
            r"on average been used at least $\sum A^2/\sum A$ times. $K=1$ does it with equality, and so "
            r"does a core kept for ever next to fresh samples used once; $K$-step retention with $K\ge2$ "
            "only while all counts are equal.",
            formula=(
                r"\chi\le\tfrac1n-\tfrac1{N_{\mathrm{eff}}}\iff"
                r"\frac1n\sum_{i\in Q}A_i\ge\frac{\sum A_i^2}{\sum A_i}"
            ),
            sketch=r"$1/n-1/N_{\mathrm{eff}}-\chi=2(W/n-1/N_{\mathrm{eff}})$, with $W=\sum_QA/\sum A$ "
            r"and $1/N_{\mathrm{eff}}=\sum A^2/(\sum A)^2$. Under $K$-step retention this is at most 0, "
            "as $p(r+K^2e)-q(q+Ke)=(pr-q^2)+Ke(Kp-q)$ in the sums $p$, $q$, $r$ of 1, $A$, $A^2$ over "
            "the memory with $e$ samples gone; it is 0 just if the counts in memory are equal, and equal "
            "to $K$ if any sample is gone.",
            checks={
                "just if": (rule_equivalence, confirming(rule_simulated)),
                "$K=1$": no_reuse,
                "a core and fresh samples": core_and_fresh,
                "$K$-step": equality_for_any_admissions,
            },
        ),
    ),
]
