"""Constant admission under K-step retention: occupancy, and the closed form of Ṽ.

The truth is built from the counts alone, by symbolic sums: of the cohorts used u = 1, 2, … times there is one
each up to min(K, t), and the t-K older ones, if any, have been used K times. Two stretches, each symbolic in
both variables: t = K+s, and K = t+s, with s >= 0.
"""

from __future__ import annotations

from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import Claim, Context, Correction
from proofs_check.engines.exact import retentions, search
from proofs_check.engines.identity import equal, symbolic_sum
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, refutes, together
from proofs_check.simulator import Snapshot, simulate
from theory.reuse import (
    occupancy_constant,
    uniformity_constant,
    uniformity_constant_as_stated,
)

__all__ = ["CLAIMS", "K", "defined", "early_uses", "late", "late_uses", "run", "s", "t"]

K, t, u = sp.symbols("K t u", integer=True, positive=True)
s = sp.Symbol("s", integer=True, nonnegative=True)
rate = sp.Symbol("Lambda", positive=True)
late = K + s  # t = K+s: the buffers are full

FULL, FILLING = "every K >= 1 and t >= K", "every t >= 1 and K >= t"


def late_uses(power: int) -> Any:
    """Σ A^power over all samples for t = K+s, a sample a round."""
    return symbolic_sum(u**power, u, 1, K) + s * K**power


def early_uses(power: int) -> Any:
    """Σ A^power over all samples for t <= K: nothing has been dropped."""
    return symbolic_sum(u**power, u, 1, t)


def run(K: int, t: int, clients: list[int]) -> Snapshot:
    """Round t of constant admission, by brute force."""
    return simulate([clients] * t, K)[-1]


CASES = {
    "K": retentions(10),
    "t": st.integers(1, 24),
    "rates": st.lists(st.integers(1, 3), min_size=1, max_size=3),
}


# --- eq:ck-buffer-occupancy, eq:ck-training-size, eq:ck-distinct-samples -----------------------------------


def occupancy_from_K_on() -> Evidence:
    return equal(symbolic_sum(rate, u, 1, K), K * rate, domain=FULL, what="the last K admissions and KΛ̄")


def occupancy_simulated(context: Context) -> Evidence:
    def differs(K: int, t: int, rates: list[int]) -> dict[str, Any] | None:
        last = run(K, K - 1 + t, rates)
        found = [last.n_of(m) for m in range(len(rates))]
        return None if found == [K * r for r in rates] else {"round": last.round, "n of each client": found}

    return search(
        context, CASES, differs, domain="rounds from K on, to three clients", examples=context.choose(60, 600)
    )


def distinct_samples(context: Context) -> Evidence:
    def differs(K: int, t: int, rates: list[int]) -> dict[str, Any] | None:
        found = run(K, t, rates).N
        return None if found == sum(rates) * t else {"distinct": found, "stated": sum(rates) * t}

    return search(
        context, CASES, differs, domain="every round, to three clients", examples=context.choose(60, 600)
    )


def distinct_samples_sum() -> Evidence:
    return equal(symbolic_sum(rate, u, 1, t), rate * t, domain="every t >= 1", what="all admissions and Λ̄t")


def _occupancy_differs(n: Any) -> Any:
    def differs(K: int, t: int, rates: list[int]) -> dict[str, Any] | None:
        found, stated = run(K, t, rates).n, n(K, t, sum(rates))
        return None if found == stated else {"simulated n": found, "formula": stated}

    return differs


def occupancy_in_every_round(context: Context) -> Evidence:
    stated = _occupancy_differs(lambda K, t, rate: K * rate)
    return search(context, CASES, stated, domain="every round of the sum", examples=60)


def occupancy_before_K() -> Evidence:
    too_many = always(K * rate > t * rate, given=[t < K], domain="every t < K")
    return refutes(too_many, "before round K only t rounds have been admitted: n = tΛ̄ < KΛ̄")


def occupancy_corrected() -> Evidence:
    return together(
        equal(
            symbolic_sum(rate, u, 1, K),
            occupancy_constant(K, late, rate),
            domain=FULL,
            what="n and min(t,K)Λ̄",
        ),
        equal(
            symbolic_sum(rate, u, 1, t),
            occupancy_constant(t + s, t, rate),
            domain=FILLING,
            what="n and min(t,K)Λ̄",
        ),
    )


def occupancy_corrected_simulated(context: Context) -> Evidence:
    true = _occupancy_differs(occupancy_constant)
    return search(
        context, CASES, true, domain="every round, to three clients", examples=context.choose(60, 600)
    )


# --- eq:vck-exact ------------------------------------------------------------------------------------------


def _uniformity_differs(formula: Any) -> Any:
    def differs(K: int, t: int, rates: list[int]) -> dict[str, Any] | None:
        last, value = run(K, t, rates), formula(K, t)
        if value == last.uniformity:
            return None
        return {"reuse counts": sorted(last.uses.values()), "simulated Ṽ": last.uniformity, "formula": value}

    return differs


def printed_uniformity() -> Evidence:
    truth = late_uses(1) ** 2 / (late * late_uses(2))
    return equal(
        uniformity_constant_as_stated(K, late), truth, domain=f"{FULL}, t = K+s", what="printed and true Ṽ"
    )


def printed_uniformity_simulated(context: Context) -> Evidence:
    differs = _uniformity_differs(uniformity_constant_as_stated)
    return search(context, CASES, differs, domain="every K and t", examples=60)


def true_uniformity_full() -> Evidence:
    truth = late_uses(1) ** 2 / (late * late_uses(2))
    return equal(uniformity_constant(K, late), truth, domain=f"{FULL}, t = K+s", what="the closed form and Ṽ")


def true_uniformity_filling() -> Evidence:
    truth = early_uses(1) ** 2 / (t * early_uses(2))
    return equal(
        uniformity_constant(t + s, t), truth, domain=f"{FILLING}, K = t+s", what="the closed form and Ṽ"
    )


def true_uniformity_simulated(context: Context) -> Evidence:
    differs = _uniformity_differs(uniformity_constant)
    return search(
        context, CASES, differs, domain="every K and t, to three clients", examples=context.choose(60, 1000)
    )


# --- eq:vck-exact/range ------------------------------------------------------------------------------------


def printed_range(context: Context) -> Evidence:
    def outside(K: int, t: int) -> dict[str, Any] | None:
        value = uniformity_constant_as_stated(K, t)
        return None if 0 < value <= 1 else {"printed Ṽ": value}

    few = {"K": retentions(10), "t": st.integers(1, 24)}
    return search(context, few, outside, domain="every K and t", examples=200)


def defined() -> Any:
    """The printed form divides by zero where 6Kt = (K-1)(2K-1), which for whole K and t never happens."""
    return sp.Ne(6 * K * t, (K - 1) * (2 * K - 1))


def printed_never_divides_by_zero() -> Evidence:
    """6Kt = 2K²-3K+1 would make K divide 1, so K = 1 and t = 0: a matter of divisibility, so by cases modulo
    K.
    """
    quotient = sp.Symbol("quotient", integer=True)
    return always(
        sp.Ne(K * quotient, 1),
        given=[K >= 2],
        domain="(K-1)(2K-1) = K(2K-3) + 1, so 6Kt would equal it only if K divided 1; K = 1 gives 6t = 0",
    )


def printed_zero() -> Evidence:
    return always(
        sp.Equivalent(sp.Eq(uniformity_constant_as_stated(K, t), 0), sp.Eq(2 * t, K - 1)),
        given=[defined()],
        domain="every K, t >= 1",
    )


def printed_negative() -> Evidence:
    return always(
        sp.Equivalent(uniformity_constant_as_stated(K, t) < 0, 6 * K * t < (K - 1) * (2 * K - 1)),
        given=[defined()],
        domain="every K, t >= 1",
    )


def printed_too_small() -> Evidence:
    return always(
        uniformity_constant_as_stated(K, late) < uniformity_constant(K, late),
        given=[K >= 2],
        domain="every K >= 2 and t >= K, t = K+s",
    )


CLAIMS = [
    Claim(
        id="eq:vck-exact",
        kind="corollary",
        title="closed form of Ṽ, constant admission",
        statement="Under constant admission and K-step retention Ṽ(t) has the printed closed form, with "
        "K(K-1)(2K-1)/6 in its denominator.",
        latex=r"\widetilde V^{CK}(t)=\frac{(Kt-\frac{K(K-1)}2)^2}{t\,(K^2t-\frac{K(K-1)(2K-1)}6)}",
        unicode="Ṽ = (Kt - K(K-1)/2)² / (t(K²t - K(K-1)(2K-1)/6))",
        domain="every K >= 1, t >= 1",
        checks=(printed_uniformity, printed_uniformity_simulated),
        corrected=Correction(
            title="k(k-1)(4k+1)/6 with k = min(K,t)",
            statement="The constant is k(k-1)(4k+1)/6 with k = min(K, t), in every round; so for t >= K it "
            "is K(K-1)(4K+1)/6, and for t <= K the value is 3(t+1)/(2(2t+1)), which does not depend on K.",
            latex=r"\widetilde V^{CK}(t)=\frac{(kt-\frac{k(k-1)}2)^2}{t\,(k^2t-\frac{k(k-1)(4k+1)}6)},"
            r"\ k=\min(K,t)",
            unicode="Ṽ = (kt - k(k-1)/2)² / (t(k²t - k(k-1)(4k+1)/6)), k = min(K,t)",
            sketch="ΣA² = K²(t-K) + ΣA² of the cohorts used 1..K times = K²t - (K³ - K(K+1)(2K+1)/6), and "
            "K³ - K(K+1)(2K+1)/6 = K(K-1)(4K+1)/6. The printed constant is the sum of the squares 1..K-1, "
            "where the sum of K²-u² over u = 1..K-1 is needed.",
            checks=(
                lambda: true_uniformity_full().about("t >= K"),
                lambda: true_uniformity_filling().about("t <= K"),
                true_uniformity_simulated,
            ),
        ),
    ),
    Claim(
        id="eq:vck-exact/range",
        kind="step",
        title="the printed Ṽ lies in (0, 1]",
        statement="The printed closed form takes values in (0, 1], as a uniformity must.",
        latex=r"0<\widetilde V^{CK}(t)\le1",
        unicode="0 < Ṽ ≤ 1",
        domain="every K >= 1, t >= 1",
        checks=(printed_range,),
        corrected=Correction(
            title="0 at 2t=K-1, negative for 6Kt<(K-1)(2K-1)",
            statement="The printed form is 0 exactly at t = (K-1)/2 (the bound is then infinite), negative "
            "exactly for t < (K-1)(2K-1)/(6K), and for K >= 2 strictly below the true Ṽ in every round from "
            "K on.",
            latex=r"\widetilde V=0\iff2t=K-1;\quad\widetilde V<0\iff6Kt<(K-1)(2K-1)",
            unicode="Ṽ = 0 ⇔ 2t = K-1;  Ṽ < 0 ⇔ 6Kt < (K-1)(2K-1)",
            sketch="Signs of numerator and denominator; the denominator vanishes for no whole K, t >= 1. "
            "The first negative value is at K = 5, t = 1.",
            checks=(
                lambda: printed_never_divides_by_zero().about("defined"),
                lambda: printed_zero().about("zero"),
                lambda: printed_negative().about("negative"),
                lambda: printed_too_small().about("too small"),
            ),
        ),
    ),
    Claim(
        id="eq:ck-buffer-occupancy",
        kind="equation",
        title="n_m = Kλ_m for large t",
        statement="Under constant admission client m holds Kλ_m samples in every round from K on.",
        latex=r"n_m(t)=K\lambda_m",
        unicode="n_m(t) = Kλ_m",
        domain="sufficiently large t: t >= K",
        checks=(occupancy_from_K_on, occupancy_simulated),
    ),
    Claim(
        id="eq:ck-training-size",
        kind="equation",
        title="n = KΛ̄ for large t",
        statement="Under constant admission KΛ̄ samples are trained on in every round from K on.",
        latex=r"n^{CK}(t)=K\bar\Lambda",
        unicode="n(t) = KΛ̄",
        domain="sufficiently large t: t >= K",
        checks=(occupancy_from_K_on, occupancy_simulated),
    ),
    Claim(
        id="eq:ck-distinct-samples",
        kind="equation",
        title="N = Λ̄t",
        statement="Under constant admission Λ̄t distinct samples have been used by round t.",
        latex=r"N^{CK}(t)=\bar\Lambda t",
        unicode="N(t) = Λ̄t",
        domain="every t >= 1",
        checks=(distinct_samples_sum, distinct_samples),
    ),
    Claim(
        id="eq:ck-bound-detail/occupancy",
        kind="step",
        title="n = KΛ̄ in every round of the sum",
        statement="Theorem 1 may be summed from t = 1 with n = KΛ̄ in every round.",
        latex=r"n(t)=K\bar\Lambda\quad(1\le t\le T)",
        unicode="n(t) = KΛ̄ for 1 ≤ t ≤ T",
        domain="every K >= 1, t >= 1",
        checks=(occupancy_in_every_round, occupancy_before_K),
        corrected=Correction(
            title="n = min(t,K)Λ̄",
            statement="n(t) = min(t, K)Λ̄; before round K the printed sum takes n too large, so its first "
            "two terms are too small.",
            latex=r"n(t)=\min(t,K)\,\bar\Lambda",
            unicode="n(t) = min(t,K)Λ̄",
            sketch="A round's memory holds the last K admissions, of which there are only t.",
            checks=(occupancy_corrected, occupancy_corrected_simulated),
        ),
    ),
]
