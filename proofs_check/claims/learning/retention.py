"""Which retention rules satisfy the printed bound on the mismatch, χ <= 1/n - 1/N_eff?

Those whose memory has been used enough on average. One use each does it, a core kept for ever does it, K-step
retention with K >= 2 does not, unless all counts are equal.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import Claim, Context, Correction, confirming
from proofs_check.engines.exact import agree, search
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.reuse.constant_counts import s
from proofs_check.groundwork.reuse.reuse_rounds import kstep_sums, printed_bound
from proofs_check.groundwork.reuse.sample_sums import cauchy_schwarz, cauchy_schwarz_equality
from proofs_check.simulator import Snapshot
from proofs_check.symbols import K, n, t
from theory.reuse import effective_from_sums, mismatch_from_sums, uses_kstep

A, S1, S2, uses_kept = sp.symbols("A S1 S2 U", positive=True)  # a count; ΣA, ΣA², and ΣA over the memory
p, q, r = sp.symbols("p q r", positive=True)  # the sums of 1, A, A² over the memory
gone = sp.Symbol("gone", nonnegative=True)  # samples no longer in memory
ROUNDS = 4
stay = st.tuples(st.integers(1, ROUNDS), st.integers(1, ROUNDS)).map(lambda ends: (min(ends), max(ends)))
STAYS = {
    "stays": st.lists(stay, min_size=1, max_size=6).filter(lambda x: any(last == ROUNDS for _, last in x))
}


def _below(size: Any, first: Any, second: Any, in_memory: Any) -> Any:
    """χ <= 1/n - 1/N_eff, in sums."""
    chi = mismatch_from_sums(size, first, second, in_memory)
    return chi <= 1 / size - 1 / effective_from_sums(first, second)


def _equal(size: Any, first: Any, second: Any, in_memory: Any, domain: str) -> Evidence:
    """χ = 1/n - 1/N_eff, in sums."""
    return equal(
        mismatch_from_sums(size, first, second, in_memory),
        1 / size - 1 / effective_from_sums(first, second),
        domain=domain,
        what=r"$\chi$ and $1/n-1/N_{\mathrm{eff}}$",
    )


def _last_round(stays: list[tuple[int, int]]) -> Snapshot:
    """Samples by the first and the last round of their stay, whatever rule made it; the last round's view."""
    uses = {(0, i): last - first + 1 for i, (first, last) in enumerate(stays)}
    memory = tuple((0, i) for i, (_, last) in enumerate(stays) if last == ROUNDS)
    return Snapshot(ROUNDS, memory, uses)


def exceeds(stays: list[tuple[int, int]]) -> dict[str, Any] | None:
    """Stays that violate the printed bound."""
    view = _last_round(stays)
    if view.mismatch <= printed_bound(view):
        return None
    return {"reuse counts": list(view.uses.values()), "χ": view.mismatch, "printed": printed_bound(view)}


def rule_equivalence() -> Evidence:
    """Both sides are 2(W/n - 1/N_eff) >= 0, multiplied by positive numbers."""
    return always(
        sp.Equivalent(_below(n, S1, S2, uses_kept), uses_kept / n >= S2 / S1),
        domain="any retention rule, any round",
    )


def rule_simulated(context: Context) -> Evidence:
    """On drawn stays, from the definitions."""

    def sides(stays: list[tuple[int, int]]) -> dict[str, bool]:
        view = _last_round(stays)
        total, squares = sum(view.uses.values()), sum(a * a for a in view.uses.values())
        average = Fraction(sum(view.uses[i] for i in view.memory), view.n)
        return {
            "χ at most as printed": view.mismatch <= printed_bound(view),
            "used enough": average >= Fraction(squares, total),
        }

    return agree(context, STAYS, sides, domain="any retention rule", examples=context.choose(150, 2000))


def equality_for_any_admissions() -> Evidence:
    """χ = 1/n - 1/N_eff if and only if the counts in memory are equal (q² = pr) and nothing is gone, or they are K
    like those gone (q = Kp).
    """
    all_equal = sp.And(sp.Eq(q**2, p * r), sp.Or(sp.Eq(gone, 0), sp.Eq(q, K * p)))
    return together(
        always(
            sp.Equivalent(_below(p, *kstep_sums(q, r, gone), q), all_equal),
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


def no_reuse() -> Evidence:
    """K = 1: every sample seen has been used once, those in memory too."""
    used = uses_kstep(1 + s, 1)
    return _equal(n, used * (n + gone), used**2 * (n + gone), used * n, "$K=1$, any admissions")


def core_and_fresh() -> Evidence:
    """a samples kept for ever, used t times each, and b fresh ones a round, used once each."""
    a, b = sp.symbols("a b", integer=True, positive=True)
    domain = "every core $a$, every fresh $b$, every $t$"
    return _equal(a + b, a * t + b * t, a * t**2 + b * t, a * t + b, domain)


CLAIMS = [
    Claim(
        id="eq:sigma-bar-Neff-app/retention",
        kind="step",
        title="the same, for every retention rule",
        statement=r"At a fixed $\theta$ the mean squared mismatch is at most $\sigma^2(1/n-1/N_{\mathrm{eff}})$, "
        "whatever the retention rule.",
        formula=r"\chi\le\tfrac1n-\tfrac1{N_{\mathrm{eff}}}",
        domain=r"any retention rule, any round with samples in memory, $\theta$ fixed",
        hypotheses=(r"the samples in memory have on average been used at least $\sum A^2/\sum A$ times",),
        checks=(
            lambda context: search(
                context,
                STAYS,
                exceeds,
                domain="any retention rule, four rounds; a stay is its first and last round",
                examples=100,
            ),
        ),
        checks_with_hypotheses=(rule_equivalence, confirming(rule_simulated)),
        corrected=Correction(
            title=r"if and only if memory is used $\ge\sum A^2/\sum A$ on average",
            statement=r"$\chi\le1/n-1/N_{\mathrm{eff}}$ holds if and only if the samples in memory have on average "
            r"been used at least $\sum A^2/\sum A$ times. $K=1$ does it with equality, and so does a core kept for "
            r"ever next to fresh samples used once; $K$-step retention with $K\ge2$ only while all counts are equal.",
            formula=(
                r"\chi\le\tfrac1n-\tfrac1{N_{\mathrm{eff}}}\iff\frac1n\sum_{i\in Q}A_i\ge\frac{\sum A_i^2}{\sum A_i}"
            ),
            sketch=r"$1/n-1/N_{\mathrm{eff}}-\chi=2(W/n-1/N_{\mathrm{eff}})$, with $W=\sum_QA/\sum A$ and "
            r"$1/N_{\mathrm{eff}}=\sum A^2/(\sum A)^2$. Under $K$-step retention this is at most 0, as "
            "$p(r+K^2e)-q(q+Ke)=(pr-q^2)+Ke(Kp-q)$ in the sums $p$, $q$, $r$ of 1, $A$, $A^2$ over the memory with "
            "$e$ samples gone; it is 0 if and only if the counts in memory are equal, and equal to $K$ if any sample "
            "is gone.",
            checks={
                "if and only if": (rule_equivalence, confirming(rule_simulated)),
                "$K=1$": no_reuse,
                "a core and fresh samples": core_and_fresh,
                "$K$-step": equality_for_any_admissions,
            },
        ),
    )
]
