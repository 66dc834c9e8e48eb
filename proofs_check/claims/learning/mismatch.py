r"""The gradient mismatch between all samples seen, weighted by use, and the samples in memory.

With \(d_i=\omega_i-\mathbf 1\{i\in Q\}/n\), which add up to 0, the mismatch at θ is \(\sum_id_ig_i(\theta)\), and for
independent gradients of variance v at a fixed θ its mean square is exactly \(v\chi\), \(\chi=\sum_id_i^2\). The printed
1/n - 1/N_eff is not an upper bound of χ but, under K-step retention, a lower one, whatever is admitted; it is right for
just those rules whose memory has been used enough. Counterexamples are finite: every outcome is enumerated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import Claim, Context, Correction, confirming
from proofs_check.engines.exact import admissions, exhaust, fractions, retentions, search
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, obeying, refutes, together
from proofs_check.groundwork.reuse import reuse_rounds
from proofs_check.groundwork.reuse.constant_counts import (
    FILLING,
    FULL,
    early_uses,
    in_y,
    k,
    late,
    late_uses,
    s,
    variance,
    y,
)
from proofs_check.groundwork.reuse.reuse_rounds import kstep_sums, printed_bound
from proofs_check.groundwork.reuse.sample_sums import (
    added_up,
    cauchy_schwarz,
    counts_at_most,
)
from proofs_check.simulator import Snapshot, simulate
from proofs_check.symbols import K, n, rate, t
from proofs_check.text import said
from theory.reuse import (
    effective_from_sums,
    inverse_effective_constant,
    mismatch_by_kind,
    mismatch_constant,
    mismatch_from_sums,
    mismatch_kstep,
    occupancy_constant,
    trajectory,
)

FIXED = (
    r"$\theta$ does not depend on the samples; samples independent, of one distribution; retention "
    "blind to their values"
)

A, S1, S2, uses_kept = sp.symbols("A S1 S2 U", positive=True)  # a count; ΣA, ΣA², and ΣA over the memory
p, q, r = sp.symbols("p q r", positive=True)  # the sums of 1, A, A² over the memory
gone = sp.Symbol("gone", nonnegative=True)  # samples no longer in memory
EXCESS = (K - 1) * (1 - (K + 1) / (3 * y)) / (n * y)  # χ less the printed bound, constant admission, t >= K


# --- the printed bound -------------------------------------------------------------------------------------


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


def signs() -> Evidence:
    """Loss z·θ with z = ±1: the gradient z does not depend on θ, so the supremum does nothing, and σ² = 1."""
    z, theta = sp.symbols("z theta", real=True)

    def exceeds(K: int, t: int) -> dict[str, Any] | None:
        last = simulate([[1]] * t, K)[-1]
        mismatch, printed = _mean_square(_coefficients(last), (-1, 1)), printed_bound(last)
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
    found = exhaust(
        points,
        exceeds,
        domain=r"loss $z\theta$, $z=\pm1$ with equal chances, $\sigma^2=1$; "
        "one sample a round",
    )
    gradients = [sp.diff(z * theta, theta).subs(z, sign) for sign in (-1, 1)]
    return obeying(
        found,
        {
            r"variance $\sigma^2=1$ at every $\theta$": equal(
                variance([int(g) for g in gradients]), 1, domain=r"$z=\pm1$", what="the variance and 1"
            ),
            "convexity": equal(
                sp.diff(z * theta, theta, 2), 0, domain="any $z$", what="the second derivative and 0"
            ),
        },
    )


def printed_is_below() -> Evidence:
    """With a loss whose variance is σ² at some θ, by the corrected statement, σ̄² >= σ²χ."""
    larger = always(
        mismatch_constant(K, late, rate)
        > 1 / occupancy_constant(K, late, rate) - inverse_effective_constant(K, late, rate),
        given=[K >= 2],
        domain=r"constant admission, every rate, $K\ge2$ and $t\ge K$, $t=K+s$",
    )
    found = refutes(
        larger,
        r"$\chi$ exceeds $1/n-1/N_{\mathrm{eff}}$ for every $K\ge2$ and $t\ge K$, so equality "
        r"$\bar\sigma^2=\sigma^2\chi$ violates it",
    )
    return obeying(found, {r"a mean square of $\sigma^2\chi$": variance_of_a_combination()})


# --- what holds: the variance of a combination, and χ ------------------------------------------------------


def variance_of_a_combination() -> Evidence:
    """With v the variance and m the mean of a gradient, E(Σ_{i<=k} d_i g_i)² = v·Σd² + m²(Σd)²: one sample more.

    The next sample is independent of the sum P so far: E(P+dg)² = E P² + 2d·EP·Eg + d²·Eg², with EP = m·Σd. In the
    end Σd = 0. Vectors: a coordinate at a time.
    """
    v, mean, d, total, squares = sp.symbols("v m d total squares", real=True)

    def mean_square(total: Any, squares: Any) -> Any:
        return v * squares + mean**2 * total**2

    extended = mean_square(total, squares) + 2 * d * (mean * total) * mean + d**2 * (v + mean**2)
    inside, outside = A / S1 - 1 / p, A / S1
    coefficients = added_up(inside, A, p, q) + added_up(outside, A, gone, S1 - q)
    return together(
        equal(mean_square(0, 0), 0, domain="no sample", what="the mean square and 0"),
        equal(
            extended,
            mean_square(total + d, squares + d**2),
            domain="one more sample: any distribution, any coefficients",
            what=r"the mean square and $v\cdot\sum d^2+m^2(\sum d)^2$",
        ),
        equal(
            coefficients,
            0,
            domain="any counts, any memory",
            what=r"$\sum (\omega-\mathbf 1\{i\in "
            r"Q\}/n)$ and 0",
        ),
        equal(
            mean_square(0, squares),
            v * squares,
            domain=r"$\sum d=0$",
            what="the mean square and "
            r"$v\cdot\sum d^2$",
        ),
    )


def variance_enumerated(context: Context) -> Evidence:
    """All outcomes of a few samples, each uniform on a few values."""

    def differs(K: int, rounds: list[list[int]], values: list[Fraction]) -> dict[str, Any] | None:
        last = simulate(rounds, K)[-1]
        if last.N > 4 or last.n == 0:
            return None
        found, formula = _mean_square(_coefficients(last), values), variance(values) * last.mismatch
        return None if found == formula else {"enumerated": found, "Var·χ": formula}

    drawn = {
        "K": retentions(4),
        "rounds": admissions(rounds=4, most=2),
        "values": st.lists(fractions(-2, 2), min_size=2, max_size=3),
    }
    return search(
        context,
        drawn,
        differs,
        domain="gradients uniform on 2 or 3 values",
        examples=context.choose(100, 1000),
    )


def decomposition() -> Evidence:
    """Σ(ω - 1{i in Q}/n)² over the two kinds of samples, term by term: p in memory, the others outside."""
    inside, outside = (A / S1 - 1 / p) ** 2, (A / S1) ** 2
    distance = added_up(inside, A, p, q, r) + added_up(outside, A, gone, S1 - q, S2 - r)
    share = q / S1
    return together(
        equal(
            distance,
            mismatch_from_sums(p, S1, S2, q),
            domain="any counts, any memory",
            what=r"$\sum (\omega-\mathbf 1\{i\in Q\}/n)^2$ and theory's $\chi$",
        ),
        equal(
            mismatch_from_sums(p, S1, S2, q),
            1 / p + 1 / effective_from_sums(S1, S2) - 2 * share / p,
            domain="any counts, any memory",
            what=r"theory's $\chi$ and $1/n+1/N_{\mathrm{eff}}-2W/n$",
        ),
    )


def kstep_rounds() -> Evidence:
    """Under K-step retention: theory's deficits and its sum by kinds, from one round to the next."""
    b, horizon = reuse_rounds.before(), reuse_rounds.K
    kinds = {b.uses: horizon * (b.N - b.n) + b.in_memory}  # every sample gone has been used K times
    return together(
        reuse_rounds.deficits_carried_on(),
        reuse_rounds.gone_carried_on(),
        equal(
            mismatch_from_sums(b.n, horizon * b.N - b.first, horizon**2 * b.N - b.second, b.in_memory),
            b.mismatch,
            domain=reuse_rounds.DOMAIN,
            what=r"$\chi$ from theory's deficits and $\sum (\omega-\mathbf 1\{i\in Q\}/n)^2$",
        ),
        equal(
            (mismatch_by_kind(b.n, b.N, b.squares, b.in_memory, horizon) / b.uses**2).subs(kinds),
            b.mismatch.subs(kinds),
            domain=reuse_rounds.DOMAIN,
            what=r"theory's sum by kinds and $\sum (\omega-\mathbf 1\{i\in Q\}/n)^2$",
        ),
    )


def _of_lists() -> Iterator[tuple[Any, Any]]:
    """theory's χ and the definition, sample by sample, both multiplied out."""
    for horizon, rounds in product(range(1, 4), range(1, 5)):
        Lambda = sp.symbols(f"Lambda1:{rounds + 1}", positive=True)
        view = simulate([[1]] * rounds, horizon)[-1]
        size = sum(Lambda[i] for _, i in view.memory)
        total = sum(used * Lambda[i] for (_, i), used in view.uses.items())
        truth = sum(  # times (n·ΣA)²
            Lambda[i] * (used * size - (total if (0, i) in view.memory else 0)) ** 2
            for (_, i), used in view.uses.items()
        )
        for formula in (mismatch_kstep(Lambda, horizon), trajectory(Lambda, horizon).mismatch[-1]):
            above, below = sp.fraction(sp.together(formula))
            yield above * (size * total) ** 2, below * truth


def kstep_lists() -> Evidence:
    """`mismatch_kstep` and `trajectory` on symbols for the admissions: identities in all of them at once."""
    found = []
    where = "all positive Λ(1), …, Λ(t), for each K <= 3 and t <= 4"
    for left, right in _of_lists():
        found.append(
            equal(left, right, domain=where, what=r"theory's $\chi$ and the definition", strength="certified")
        )
        if found[-1].outcome != "holds":
            break
    return together(*found)


def kstep_simulated(context: Context) -> Evidence:
    """Both functions exactly; and the trajectory of floats, to four times what it takes for rounding."""

    def differs(K: int, rounds: list[list[int]]) -> dict[str, Any] | None:
        totals = [sum(r) for r in rounds]
        for view in simulate(rounds, K):
            if view.n and mismatch_kstep(totals[: view.round], K) != view.mismatch:
                return {"round": view.round, "simulated": view.mismatch}
            if all(totals):
                exact = trajectory(totals, K).mismatch[view.round - 1]
                rounded = trajectory(np.array(totals, dtype=float), K).mismatch[view.round - 1]
                if exact != view.mismatch or abs(Fraction(rounded) - exact) > 4 * Fraction(1, 2**46):
                    return {
                        "round": view.round,
                        "trajectory": exact,
                        "rounded": rounded,
                        "simulated": view.mismatch,
                    }
        return None

    drawn = {"K": retentions(), "rounds": admissions(clients=2, rounds=10, most=9)}
    return search(
        context, drawn, differs, domain="any $K$, any admissions", examples=context.choose(60, 1000)
    )


# --- constant admission ------------------------------------------------------------------------------------


def closed_form_full() -> Evidence:
    """Against theory's χ from the sums of the counts, buffers full."""
    in_memory = late_uses(1).subs(s, 0)
    truth = mismatch_from_sums(occupancy_constant(K, late, rate), late_uses(1), late_uses(2), in_memory)
    return equal(
        mismatch_constant(K, late, rate),
        truth,
        domain=f"every rate, {FULL}",
        what="the closed form and "
        r"$\chi$",
    )


def closed_form_filling() -> Evidence:
    """The same while nothing has been dropped."""
    truth = mismatch_from_sums(
        occupancy_constant(t + s, t, rate), early_uses(1), early_uses(2), early_uses(1)
    )
    return equal(
        mismatch_constant(t + s, t, rate),
        truth,
        domain=f"every rate, {FILLING}",
        what=r"the closed form and $\chi$",
    )


def excess() -> Evidence:
    """In the same symbols as it is stated in, with n = KΛ̄ and y = t-(K-1)/2."""
    size = occupancy_constant(K, late, rate)
    gap = mismatch_constant(K, late, rate) - (1 / size - inverse_effective_constant(K, late, rate))
    return equal(
        gap,
        EXCESS.subs({n: size, y: late - (K - 1) / sp.Integer(2)}),
        domain=f"every rate, {FULL}, y = t-(K-1)/2",
        what=r"$\chi-(1/n-1/N_{\mathrm{eff}})$ and its closed form",
    )


# --- any admissions ----------------------------------------------------------------------------------------


def lower_bound_for_any_admissions() -> Evidence:
    """q² <= pr is Cauchy-Schwarz, and r <= Kq says that no count in memory exceeds K: both shown by induction."""
    first, second = kstep_sums(q, r, gone)
    return together(
        always(
            mismatch_from_sums(p, first, second, q) >= 1 / p - 1 / effective_from_sums(first, second),
            given=[q**2 <= p * r, r <= K * q],
            domain="$K$-step retention, any admissions, any round with samples in memory",
        ),
        cauchy_schwarz(),
        counts_at_most(K),
    )


CLAIMS = [
    Claim(
        id="eq:sigma-bar-Neff-app",
        kind="step",
        title=r"$\bar\sigma^2\le\sigma^2(1/n-1/N_{\mathrm{eff}})$",
        statement="The mean squared mismatch between the gradient over all samples, weighted by use, and "
        r"the gradient over the memory is at most $\sigma^2(1/n-1/N_{\mathrm{eff}})$.",
        formula=r"\bar\sigma^2(t)\le\sigma^2\bigl(\tfrac1n-\tfrac1{N_{\mathrm{eff}}}\bigr)",
        domain="$K$-step retention, every round",
        checks=(signs, printed_is_below),
        corrected=Correction(
            title=r"at fixed $\theta$ it is $\sigma^2\chi$, and $\chi\ge1/n-1/N_{\mathrm{eff}}$",
            statement=said(
                r"At a fixed $\theta$ the mean squared mismatch is exactly "
                r"$\mathrm{Var}(\theta)\cdot\chi\le\sigma^2\chi$ with "
                r"$\chi=1/n+1/N_{\mathrm{eff}}-2W/n=@chi$, where $W=U/S_1$ is the memory's share of all "
                r"uses. Under $K$-step retention $\chi\ge1/n-1/N_{\mathrm{eff}}$ for all admissions: the "
                r"printed bound is a lower bound. Under constant admission, with $k=\min(K,t)$ and "
                r"$y=t-(k-1)/2$, $n\chi=@closed$, and for $t\ge K$ the excess is $@excess$.",
                chi=mismatch_from_sums(n, S1, S2, uses_kept),
                closed=in_y(k * rate * mismatch_constant(K, t, rate).subs(sp.Min(K, t), k)),
                excess=EXCESS,
            ),
            formula=said(
                r"E\|\nabla\widehat F^{all}-\nabla\widehat F^{mem}\|^2=\mathrm{Var}(\theta)\,\chi,\quad "
                r"\chi=@chi,\ S_1=\sum A,\ S_2=\sum A^2,\ U=\sum_QA",
                chi=mismatch_from_sums(n, S1, S2, uses_kept),
            ),
            hypotheses=(FIXED,),
            sketch=r"The mismatch is $\sum d_ig_i$, where sample $i$ has gradient $g_i$ and "
            r"$d_i=\omega_i-\mathbf 1\{i\in Q\}/n$. Adding one independent sample after the other, its "
            r"mean square is $\mathrm{Var}\cdot\sum d^2+(\text{mean})^2(\sum d)^2$, coordinate by "
            r"coordinate, and $\sum d=0$. Multiplied out, $\sum d^2$ is $\chi$. The printed form would "
            r"need $W/n\ge1/N_{\mathrm{eff}}$, a memory at least as used as the average use; $K$-step "
            "memories hold the least used. In sums $p$, $q$, $r$ of 1, $A$, $A^2$ over the memory, with "
            r"$e$ samples gone, used $K$ times each: $\chi-1/n+1/N_{\mathrm{eff}}\ge0$ is "
            r"$q/p\le(r+K^2e)/(q+Ke)$, and $p(r+K^2e)-q(q+Ke)=(pr-q^2)+Ke(Kp-q)$, both not negative.",
            checks={
                "variance": (variance_of_a_combination, confirming(variance_enumerated)),
                r"$\chi$": decomposition,
                r"$\chi$, $K$-step": (kstep_rounds, confirming(kstep_lists), confirming(kstep_simulated)),
                r"closed form, $t\ge K$": closed_form_full,
                r"closed form, $t\le K$": closed_form_filling,
                "excess": excess,
                "lower bound": lower_bound_for_any_admissions,
            },
            symbols={
                "Var": r"variance of one sample's gradient at $\theta$",
                "S": "$S_1$ is the sum of all reuse counts, $S_2$ that of their squares",
                "U": "uses of the samples in memory",
            },
        ),
    ),
]
