"""Reuse counts, uniformity and the effective sample size, for any admissions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp

from proofs_check.claim import Claim, Context
from proofs_check.engines.exact import admissions, counts, retentions, search
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.simulator import simulate
from theory.reuse import effective_sample_size, uniformity, uniformity_kstep

__all__ = ["CLAIMS"]

K, t, j, N = sp.symbols("K t j N", integer=True, positive=True)
S1, S2 = sp.symbols("S1 S2", positive=True)  # sums of the reuse counts and of their squares

ANY = "any K >= 1, clients, admissions (zeros and bursts)"


# --- eq:Vtilde-def-body, eq:Neff-def, eq:omega-l2 ----------------------------------------------------------


def uniformity_range() -> Evidence:
    mean, variance = sp.Symbol("mean", positive=True), sp.Symbol("variance", nonnegative=True)
    V = mean**2 / (mean**2 + variance)
    return always(sp.And(V > 0, V <= 1), domain="every positive mean, every variance >= 0")


def uniformity_range_exact(context: Context) -> Evidence:
    return search(
        context,
        {"counts": counts()},
        lambda counts: None if 0 < uniformity(counts) <= 1 else {"uniformity": uniformity(counts)},
        domain="reuse counts, each at least 1",
        examples=context.choose(100, 2000),
    )


def effective_range() -> Evidence:
    return always(
        sp.And(S1**2 / S2 >= 1, S1**2 / S2 <= N),
        given=[S2 <= S1**2, S1**2 <= N * S2],
        domain="ΣA² <= (ΣA)² as no count is negative; (ΣA)² <= NΣA² by Cauchy-Schwarz",
    )


def effective_range_exact(context: Context) -> Evidence:
    def outside(counts: list[int]) -> dict[str, Any] | None:
        size = effective_sample_size(counts)
        return None if 1 <= size <= len(counts) else {"effective size": size}

    return search(
        context, {"counts": counts()}, outside, domain="reuse counts, each at least 1", examples=100
    )


def _uniformity_by(denominator: Any) -> Any:
    """Ṽ with Σ(A-mean)² = S2 - 2·mean·S1 + N·mean² divided by the given denominator."""
    mean = S1 / N
    variance = (S2 - 2 * mean * S1 + N * mean**2) / denominator
    return mean**2 / (mean**2 + variance)


def kish_identity() -> Evidence:
    return equal(
        S1**2 / S2,
        N * _uniformity_by(N),
        domain="every N, ΣA and ΣA²",
        what="1/Σω² = (ΣA)²/ΣA² and N·Ṽ, variance over N,",
    )


def kish_exact(context: Context) -> Evidence:
    def differs(counts: list[int]) -> dict[str, Any] | None:
        total = sum(counts)
        inverse = sum(Fraction(a, total) ** 2 for a in counts)
        product_form = len(counts) * uniformity(counts)
        return None if inverse * product_form == 1 else {"Σω²": inverse, "N·Ṽ": product_form}

    examples = context.choose(100, 2000)
    return search(
        context, {"counts": counts()}, differs, domain="reuse counts, each at least 1", examples=examples
    )


def over_fewer_exact(context: Context) -> Evidence:
    def not_smaller(counts: list[int]) -> dict[str, Any] | None:
        size, mean = len(counts), Fraction(sum(counts), len(counts))
        variance = sum(((a - mean) ** 2 for a in counts), Fraction(0)) / (size - 1)
        product_form, true = size * mean**2 / (mean**2 + variance), effective_sample_size(counts)
        return None if product_form < true else {"N·Ṽ over N-1": product_form, "1/Σω²": true}

    uneven = counts().filter(lambda drawn: len(set(drawn)) > 1)
    return search(context, {"counts": uneven}, not_smaller, domain="reuse counts that differ", examples=60)


def over_fewer_is_smaller() -> Evidence:
    return always(
        N * _uniformity_by(N - 1) < S1**2 / S2,
        given=[N >= 2, S1**2 < N * S2],
        domain="every N >= 2 and all counts that are not all equal",
    )


def over_fewer_when_equal() -> Evidence:
    product_form = N * _uniformity_by(N - 1).subs(S2, S1**2 / N)
    return equal(product_form, N, domain="all counts equal", what="N·Ṽ over N-1 and N")


# --- eq:kstep-vtilde-exact ---------------------------------------------------------------------------------


def kstep_cohort() -> Evidence:
    """Uses and deficits are linear in the admissions, so one cohort decides: K less its deficit is its use
    count.

    Cohorts older than K-1 rounds have no deficit and K uses; those before round 1 are empty.
    """
    age = t - j + 1
    return together(
        equal(
            K - (K - age),
            age,
            domain="a cohort j of the last K-1 rounds",
            what="K less the deficit and the uses",
        ),
        equal(
            K**2 - (K**2 - age**2),
            age**2,
            domain="the same cohort",
            what="K² less the deficit and the squared uses",
        ),
    )


def kstep_symbolic() -> Evidence:
    """The formula as it runs here, on symbols for the admissions: an identity in all of them at once."""
    found = []
    for retention, rounds in product(range(1, 5), range(1, 6)):
        Lambda = sp.symbols(f"Lambda1:{rounds + 1}", positive=True)
        uses = [min(rounds - i, retention) for i in range(rounds)]
        first, second = (sum(u**power * x for u, x in zip(uses, Lambda, strict=True)) for power in (1, 2))
        found.append(
            equal(
                uniformity_kstep(Lambda, retention),
                first**2 / (sum(Lambda) * second),
                domain="all positive Λ(1), …, Λ(t), for each K <= 4 and t <= 5",
                strength="certified",
            )
        )
    return together(*found)


def kstep_exact(context: Context) -> Evidence:
    def differs(K: int, rounds: list[list[int]]) -> dict[str, Any] | None:
        for snapshot in simulate(rounds, K):
            total = [sum(amounts) for amounts in rounds[: snapshot.round]]
            formula = uniformity_kstep(total, K)
            if formula != snapshot.uniformity:
                return {"round": snapshot.round, "formula": formula, "simulated": snapshot.uniformity}
        return None

    return search(
        context,
        {"K": retentions(), "rounds": admissions(clients=3, rounds=10)},
        differs,
        domain=f"{ANY}, every round from the first on",
        examples=context.choose(100, 1500),
    )


CLAIMS = [
    Claim(
        id="eq:Vtilde-def-body",
        kind="definition",
        title="Ṽ lies in (0, 1]",
        statement="The uniformity factor is positive and at most 1.",
        latex=r"\widetilde V=\bar A^2/(\bar A^2+\mathrm{Var}A)\in(0,1]",
        unicode="Ṽ = Ā²/(Ā² + Var A) ∈ (0, 1]",
        domain="at least one sample used",
        checks=(uniformity_range, uniformity_range_exact),
    ),
    Claim(
        id="eq:Neff-def",
        kind="definition",
        title="1 <= N_eff <= N",
        statement="The effective sample size N·Ṽ lies between 1 and the number of distinct samples.",
        latex=r"1\le N_{\mathrm{eff}}=N\widetilde V\le N",
        unicode="1 ≤ N_eff = N·Ṽ ≤ N",
        domain="at least one sample used",
        checks=(effective_range, effective_range_exact),
    ),
    Claim(
        id="eq:omega-l2",
        kind="equation",
        title="Σω² = 1/N_eff",
        statement="The squared multiplicity weights add up to one over the effective sample size (Kish's "
        "formula), with the empirical variance taken over N.",
        latex=r"\sum_i\omega_i^2=\frac{\sum A_i^2}{(\sum A_i)^2}=\frac1{N_{\mathrm{eff}}}",
        unicode="Σω² = ΣA²/(ΣA)² = 1/N_eff",
        domain="at least one sample used",
        checks=(kish_identity, kish_exact),
    ),
    Claim(
        id="eq:omega-l2/normalisation",
        kind="reading",
        title="the variance must be over N, not N-1",
        statement="The identity needs the variance of the reuse counts over N: with N-1 the product N·Ṽ is "
        "strictly smaller than 1/Σω², unless all counts are equal, when both are N.",
        latex=r"N\bar A^2/(\bar A^2+s_{N-1}^2)<1/\sum\omega_i^2",
        unicode="N·Ā²/(Ā² + s²) < 1/Σω² with s² over N-1, unless all A are equal",
        domain="N >= 2",
        checks=(
            lambda: over_fewer_is_smaller().about("counts differ"),
            lambda context: over_fewer_exact(context).about("counts differ"),
            lambda: over_fewer_when_equal().about("counts equal"),
        ),
    ),
    Claim(
        id="eq:kstep-vtilde-exact",
        kind="equation",
        title="Ṽ under K-step retention, any admissions",
        statement="The representation of the uniformity by the two boundary deficits is exact in every "
        "round, when nothing was admitted before round 1.",
        latex=r"\widetilde V=\frac{(KN-D^{(1)}_\partial)^2}{N(K^2N-D^{(2)}_\partial)}",
        unicode="Ṽ = (KN - D⁽¹⁾)²/(N(K²N - D⁽²⁾))",
        domain=f"{ANY}, memory empty before round 1",
        checks=(kstep_cohort, kstep_symbolic, kstep_exact),
    ),
]
