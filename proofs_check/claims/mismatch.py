r"""The gradient mismatch between all samples seen, weighted by use, and the samples in memory.

With \(d_i=\omega_i-\mathbf 1\{i\in Q\}/n\), which add up to 0, the mismatch at θ is \(\sum_id_ig_i(\theta)\),
and for independent gradients of variance v at a fixed θ its mean square is exactly \(v\chi\),
\(\chi=\sum_id_i^2\). Counterexamples are finite: a few samples, each uniform on a few values, every outcome
enumerated.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import Claim, Context, Correction
from proofs_check.claims.constant import K, early_uses, late, late_uses, s, t
from proofs_check.engines.exact import admissions, exhaust, fractions, retentions, search
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, refutes, together
from proofs_check.simulator import Snapshot, simulate
from theory.reuse import inverse_effective_constant, mismatch_constant, mismatch_kstep

__all__ = ["CLAIMS", "variance"]

FIXED = "θ does not depend on the samples; samples independent, of one distribution; retention blind to "
"their values"
S1, S2, W, n = sp.symbols("S1 S2 W n", positive=True)  # ΣA, ΣA², the memory's share of all uses, its size
SMALL = {"K": retentions(4), "rounds": admissions(rounds=4, most=2)}


# --- brute force over outcomes -----------------------------------------------------------------------------


def _coefficients(snapshot: Snapshot) -> list[Fraction]:
    """d_i = ω_i - 1{i in memory}/n."""
    return [w - (Fraction(1, snapshot.n) if i in snapshot.memory else 0) for i, w in snapshot.weights.items()]


def _mean_square(d: Sequence[Fraction], values: Sequence[Any]) -> Fraction:
    """E(Σ d_i g_i)² for independent g_i, uniform on the values: all outcomes added up."""
    total = Fraction(0)
    for outcome in product(values, repeat=len(d)):
        combined = sum((a * g for a, g in zip(d, outcome, strict=True)), Fraction(0))
        total += combined * combined
    return total / Fraction(len(values) ** len(d))


def variance(values: Sequence[Any]) -> Fraction:
    """The variance of the uniform distribution on the values."""
    mean = Fraction(sum(values)) / len(values)
    return sum(((v - mean) * (v - mean) for v in values), Fraction(0)) / len(values)


def _printed(snapshot: Snapshot) -> Fraction:
    return Fraction(1, snapshot.n) - 1 / (snapshot.N * snapshot.uniformity)


# --- eq:sigma-bar-Neff-app ---------------------------------------------------------------------------------


def signs() -> Evidence:
    """Loss z·θ with z = ±1: the gradient z does not depend on θ, so the supremum does nothing, and σ² = 1."""

    def exceeds(K: int, t: int) -> dict[str, Any] | None:
        last = simulate([[1]] * t, K)[-1]
        mismatch, printed = _mean_square(_coefficients(last), (-1, 1)), _printed(last)
        if mismatch <= printed or printed <= 0:
            return None  # where the printed bound is negative it fails anyway: thm:regret-neff/radicand
        return {
            "reuse counts": list(last.uses.values()),
            "n": last.n,
            "N_eff": last.N * last.uniformity,
            "σ̄², all signs enumerated": mismatch,
            "printed bound": printed,
        }

    points = ({"K": K, "t": t} for K, t in product(range(1, 4), range(1, 8)))
    return exhaust(points, exceeds, domain="loss zθ, z = ±1 with equal chances, σ² = 1; one sample a round")


def printed_is_below() -> Evidence:
    larger = always(
        mismatch_constant(K, late, 1) > 1 / K - inverse_effective_constant(K, late, 1),
        given=[K >= 2],
        domain="constant admission, every K >= 2 and t >= K, t = K+s",
    )
    return refutes(
        larger, "χ exceeds 1/n - 1/N_eff for every K >= 2 and t >= K, so equality σ̄² = σ²χ violates it"
    )


def variance_of_a_combination() -> Evidence:
    """E(Σ d_i g_i)² = Σd²·E[g²] + (Σ_{i≠j} d_i d_j)·μ², and the double sum is (Σd)² - Σd², with Σd = 0."""
    squares, total, second, mean = sp.symbols("squares total second mean", real=True)
    expectation = squares * second + (total**2 - squares) * mean**2
    return equal(
        expectation.subs(total, 0),
        squares * (second - mean**2),
        domain="any independent gradients of one distribution, any coefficients that add up to 0; a "
        "coordinate each",
        what="the mean square and Σd²·Var",
    )


def variance_enumerated(context: Context) -> Evidence:
    def differs(K: int, rounds: list[list[int]], values: list[Fraction]) -> dict[str, Any] | None:
        last = simulate(rounds, K)[-1]
        if last.N > 4 or last.n == 0:
            return None
        found, formula = _mean_square(_coefficients(last), values), variance(values) * last.mismatch
        return None if found == formula else {"enumerated": found, "Var·χ": formula}

    drawn = {**SMALL, "values": st.lists(fractions(-2, 2), min_size=2, max_size=3)}
    return search(
        context,
        drawn,
        differs,
        domain="gradients uniform on 2 or 3 values",
        examples=context.choose(100, 1000),
    )


def decomposition() -> Evidence:
    weights = sp.Symbol("weights", positive=True)  # Σω² = 1/N_eff
    return equal(
        weights - 2 * W / n + n / n**2,
        1 / n + weights - 2 * W / n,
        domain="any weights, any memory",
        what="Σ(ω - 1{i in Q}/n)², multiplied out, and 1/n + 1/N_eff - 2W/n",
    )


def kstep_simulated(context: Context) -> Evidence:
    def differs(K: int, rounds: list[list[int]]) -> dict[str, Any] | None:
        for snapshot in simulate(rounds, K):
            if snapshot.n:
                found = mismatch_kstep([sum(r) for r in rounds[: snapshot.round]], K)
                if found != snapshot.mismatch:
                    return {"round": snapshot.round, "formula": found, "simulated": snapshot.mismatch}
        return None

    drawn = {"K": retentions(), "rounds": admissions(clients=2, rounds=10, most=9)}
    return search(context, drawn, differs, domain="any K, any admissions", examples=context.choose(60, 1000))


def _chi(size: Any, first: Any, second: Any, in_memory: Any) -> Any:
    """χ from the sums of the counts: 1/n + ΣA²/(ΣA)² - 2·(uses in memory)/(n·ΣA)."""
    return 1 / size + second / first**2 - 2 * in_memory / (size * first)


def closed_form_full() -> Evidence:
    in_memory = late_uses(1).subs(s, 0)
    truth = _chi(K, late_uses(1), late_uses(2), in_memory)
    return equal(
        mismatch_constant(K, late, 1), truth, domain="every K >= 1, t = K+s", what="the closed form and χ"
    )


def closed_form_filling() -> Evidence:
    truth = _chi(t, early_uses(1), early_uses(2), early_uses(1))
    return equal(
        mismatch_constant(t + s, t, 1), truth, domain="every t >= 1, K = t+s", what="the closed form and χ"
    )


def excess() -> Evidence:
    y = late - (K - 1) / sp.Integer(2)
    gap = mismatch_constant(K, late, 1) - (1 / K - inverse_effective_constant(K, late, 1))
    stated = (K - 1) * (1 - (K + 1) / (3 * y)) / (K * y)
    return equal(
        gap,
        stated,
        domain="every K >= 1, t = K+s, y = t-(K-1)/2",
        what="χ - (1/n - 1/N_eff) and its closed form",
    )


def lower_bound_for_any_admissions() -> Evidence:
    """With p, q, r the sums of 1, A, A² over the memory; each expired sample has been used K times.

    q² <= pr is Cauchy-Schwarz and r <= Kq says that no count exceeds K. The printed bound is right only where
    q/p, the mean count in memory, is at least ΣA²/ΣA (`eq:sigma-bar-Neff-app/retention`): it is at most that.
    """
    p, q, r, horizon = sp.symbols("p q r K", positive=True)
    expired = sp.Symbol("expired", nonnegative=True)
    return always(
        q / p <= (horizon**2 * expired + r) / (horizon * expired + q),
        given=[q**2 <= p * r, r <= horizon * q],
        domain="K-step retention, any admissions, any round with samples in memory",
    )


# --- eq:sigma-bar-Neff-app/retention -----------------------------------------------------------------------


def _snapshot(patterns: list[tuple[int, ...]]) -> Snapshot | None:
    """Samples by their pattern of presence over the rounds, whatever rule made it; the last round's view."""
    uses = {(0, i): sum(pattern) for i, pattern in enumerate(patterns) if any(pattern)}
    memory = tuple((0, i) for i, pattern in enumerate(patterns) if pattern[-1])
    return Snapshot(len(patterns[0]), memory, uses) if memory else None


PATTERNS = st.lists(
    st.tuples(*[st.integers(0, 1)] * 4), min_size=1, max_size=6
)  # a row of four rounds a sample


def _criterion(view: Snapshot) -> bool:
    """Whether a sample in memory has on average been used at least ΣA²/ΣA times."""
    total, squares = sum(view.uses.values()), sum(a * a for a in view.uses.values())
    return Fraction(sum(view.uses[i] for i in view.memory), view.n) >= Fraction(squares, total)


def every_rule(context: Context) -> Evidence:
    def exceeds(presence: list[tuple[int, ...]]) -> dict[str, Any] | None:
        view = _snapshot(presence)
        if view is None or view.mismatch <= _printed(view):
            return None
        return {"reuse counts": list(view.uses.values()), "χ": view.mismatch, "printed": _printed(view)}

    return search(
        context, {"presence": PATTERNS}, exceeds, domain="any retention rule; rows are samples", examples=100
    )


def rule_identity() -> Evidence:
    weights = S2 / S1**2
    chi = 1 / n + weights - 2 * W / n
    return equal(
        (1 / n - weights) - chi,
        2 * (W / n - weights),
        domain="any retention rule",
        what="printed - χ and 2(W/n - 1/N_eff)",
    )


def rule_equivalence() -> Evidence:
    weights = S2 / S1**2
    chi, mean_in_memory = 1 / n + weights - 2 * W / n, W * S1 / n
    return always(
        sp.Equivalent(chi <= 1 / n - weights, mean_in_memory >= S2 / S1),
        domain="any retention rule, any round",
    )


def rule_simulated(context: Context) -> Evidence:
    def differs(presence: list[tuple[int, ...]]) -> dict[str, Any] | None:
        view = _snapshot(presence)
        if view is None or (view.mismatch <= _printed(view)) == _criterion(view):
            return None
        return {"χ": view.mismatch, "printed": _printed(view), "criterion": _criterion(view)}

    examples = context.choose(150, 2000)
    return search(context, {"presence": PATTERNS}, differs, domain="any retention rule", examples=examples)


def core_and_fresh() -> Evidence:
    """a samples kept for ever and b fresh ones a round, each used once: the criterion holds with equality."""
    a, b = sp.symbols("a b", integer=True, positive=True)
    return equal(
        (a * t + b) / (a + b),
        (a * t**2 + b * t) / (a * t + b * t),
        domain="every core a, every fresh b, every t",
        what="the mean count in memory and ΣA²/ΣA",
    )


CLAIMS = [
    Claim(
        id="eq:sigma-bar-Neff-app",
        kind="step",
        title="σ̄² <= σ²(1/n - 1/N_eff)",
        statement="The mean squared mismatch between the gradient over all samples, weighted by use, and "
        "the gradient over the memory is at most σ²(1/n - 1/N_eff).",
        latex=r"\bar\sigma^2(t)\le\sigma^2\bigl(\tfrac1n-\tfrac1{N_{\mathrm{eff}}}\bigr)",
        unicode="σ̄²(t) ≤ σ²(1/n - 1/N_eff)",
        domain="K-step retention, every round",
        checks=(signs, printed_is_below),
        corrected=Correction(
            title="at fixed θ it is σ²χ, and χ >= 1/n - 1/N_eff",
            statement="At a fixed θ the mean squared mismatch is exactly Var(θ)·χ <= σ²χ with χ = 1/n + "
            "1/N_eff - 2W/n, where W is the memory's share of all uses. Under K-step retention χ >= 1/n - "
            "1/N_eff for all admissions: the printed bound is a lower bound. Under constant admission, with "
            "k = min(K,t) and y = t-(k-1)/2, nχ = 1 - 1/y - (k²-1)/(6y²), and for t >= K the excess is "
            "(K-1)(1-(K+1)/(3y))/(ny).",
            latex=r"E\|\nabla\widehat F^{all}-\nabla\widehat F^{mem}\|^2=\mathrm{Var}(\theta)\,\chi,\quad"
            r"\chi=\tfrac1n+\tfrac1{N_{\mathrm{eff}}}-\tfrac{2W_Q}n",
            unicode="E‖∇F_all - ∇F_mem‖² = Var·χ,  χ = 1/n + 1/N_eff - 2W/n",
            hypotheses=(FIXED,),
            sketch="The mismatch is Σ d_i g_i with Σ d_i = 0; independent g_i leave Var·Σd². Multiply out. "
            "The printed form would need W/n >= 1/N_eff, a memory at least as used as the average use; "
            "K-step memories hold the least used.",
            checks=(
                lambda: variance_of_a_combination().about("variance"),
                lambda context: variance_enumerated(context).about("variance"),
                lambda: decomposition().about("χ"),
                lambda context: kstep_simulated(context).about("χ"),
                lambda: closed_form_full().about("closed form, t >= K"),
                lambda: closed_form_filling().about("closed form, t <= K"),
                lambda: excess().about("excess"),
                lambda: lower_bound_for_any_admissions().about("lower bound"),
            ),
        ),
    ),
    Claim(
        id="eq:sigma-bar-Neff-app/retention",
        kind="step",
        title="the same, for every retention rule",
        statement="At a fixed θ the mean squared mismatch is at most σ²(1/n - 1/N_eff), whatever the "
        "retention rule.",
        latex=r"\chi\le\tfrac1n-\tfrac1{N_{\mathrm{eff}}}",
        unicode="χ ≤ 1/n - 1/N_eff",
        domain="any retention rule, any round with samples in memory, θ fixed",
        hypotheses=("the samples in memory have on average been used at least ΣA²/ΣA times",),
        checks=(every_rule,),
        checks_with_hypotheses=(rule_equivalence, rule_simulated),
        corrected=Correction(
            title="just if memory is used >= ΣA²/ΣA on average",
            statement="χ <= 1/n - 1/N_eff holds if and only if the samples in memory have on average been "
            "used at least ΣA²/ΣA times. K = 1 does it with equality, and so does a core kept for ever next "
            "to fresh samples used once; K-step retention with K >= 2 only while all counts are equal.",
            latex=r"\chi\le\tfrac1n-\tfrac1{N_{\mathrm{eff}}}\iff"
            r"\frac1n\sum_{i\in Q}A_i\ge\frac{\sum A_i^2}{\sum A_i}",
            unicode="χ ≤ 1/n - 1/N_eff ⇔ mean of A over the memory ≥ ΣA²/ΣA",
            sketch="1/n - 1/N_eff - χ = 2(W/n - 1/N_eff), with W = Σ_Q A/ΣA and 1/N_eff = ΣA²/(ΣA)².",
            checks=(
                lambda: together(rule_identity(), core_and_fresh()),
                rule_equivalence,
                rule_simulated,
            ),
        ),
    ),
]
