"""Where N_eff < n, so that the bound takes the root of a negative number (`thm:regret-neff/radicand`)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import Claim, Context, Correction
from proofs_check.claims.constant import K, defined, late, run, s, t
from proofs_check.engines.exact import admissions, retentions, search
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence
from proofs_check.simulator import simulate
from theory.reuse import (
    crossover_constant,
    crossover_constant_as_stated,
    inverse_effective_constant,
    uniformity_constant_as_stated,
)

__all__ = ["CLAIMS"]


def radicand_constant(context: Context) -> Evidence:
    def negative(K: int, t: int) -> dict[str, Any] | None:
        last = run(K, t, [1])
        size = last.N * last.uniformity
        return (
            {"n": last.n, "N_eff": size, "1/n - 1/N_eff": 1 / Fraction(last.n) - 1 / size}
            if size < last.n
            else None
        )

    few = {"K": retentions(10), "t": st.integers(1, 24)}
    return search(context, few, negative, domain="constant admission", examples=100)


def radicand_any(context: Context) -> Evidence:
    def negative(K: int, rounds: list[list[int]]) -> dict[str, Any] | None:
        last = simulate(rounds, K)[-1]
        size = last.N * last.uniformity
        return {"n": last.n, "N_eff": size} if size < last.n else None

    drawn = {"K": retentions(), "rounds": admissions()}
    return search(context, drawn, negative, domain="K-step retention, any admissions", examples=100)


def crossover_full() -> Evidence:
    return always(
        sp.Equivalent(inverse_effective_constant(K, late, 1) > 1 / K, late < crossover_constant(K)),
        given=[K >= 2],
        domain="every K >= 2 and t >= K, t = K+s",
    )


def crossover_filling() -> Evidence:
    return always(
        sp.Equivalent(inverse_effective_constant(t + s, t, 1) > 1 / t, t > 1),
        domain="every t >= 1 and K >= t, K = t+s: n = N, so N_eff < n as soon as the counts differ",
    )


def crossover_covers_filling() -> Evidence:
    return always(
        crossover_constant(K) > K, given=[K >= 2], domain="every K >= 2: the threshold lies beyond round K"
    )


def crossover_printed() -> Evidence:
    radicand = 1 / K - 1 / (t * uniformity_constant_as_stated(K, t))
    middle = K - sp.Rational(1, 2)
    return always(
        sp.Equivalent(radicand < 0, abs_below(t - middle, crossover_constant_as_stated(K) - middle)),
        given=[sp.Ne(2 * t, K - 1), defined()],
        domain="every K, t >= 1 where the printed Ṽ is not 0",
    )


def abs_below(x: Any, y: Any) -> Any:
    """|x| < y, for the solver."""
    return sp.And(x < y, -x < y)


def crossover_simulated(context: Context) -> Evidence:
    def differs(K: int, t: int) -> dict[str, Any] | None:
        last = run(K, t, [1])
        below = last.N * last.uniformity < last.n
        predicted = t > 1 and bool(t < crossover_constant(K))
        return None if below == predicted else {"N_eff < n": below, "predicted": predicted}

    few = {"K": retentions(30), "t": st.integers(1, 50)}
    return search(context, few, differs, domain="K <= 30, t <= 50", examples=context.choose(60, 600))


CLAIMS = [
    Claim(
        id="thm:regret-neff/radicand",
        kind="step",
        title="1/n - 1/N_eff >= 0 under the root",
        statement="The quantity that the bound takes the root of is not negative.",
        latex=r"\frac1n-\frac1{N_{\mathrm{eff}}}\ge0",
        unicode="1/n - 1/N_eff ≥ 0",
        domain="K-step retention, every round",
        checks=(radicand_constant, radicand_any),
        corrected=Correction(
            title="N_eff < n just for 1 < t < K-1/2+√((K²+2)/12)",
            statement="Under constant admission N_eff < n exactly for 1 < t < (2K-1+√((K²+2)/3))/2, about "
            "1.289 K; with the printed Ṽ and n = KΛ̄ the radicand is negative exactly for |2t-2K+1| < "
            "√((5K²-2)/3), to about 1.645 K.",
            latex=r"N_{\mathrm{eff}}<n\iff1<t<\tfrac12\bigl(2K-1+\sqrt{(K^2+2)/3}\bigr)",
            unicode="N_eff < n ⇔ 1 < t < (2K-1+√((K²+2)/3))/2",
            sketch="For t <= K, n = N, and N_eff < N unless all counts are equal, which is t = 1. For t >= "
            "K a quadratic inequality in t.",
            checks=(
                lambda: crossover_full().about("true Ṽ, t >= K"),
                lambda: crossover_filling().about("true Ṽ, t <= K"),
                lambda: crossover_covers_filling().about("one threshold"),
                lambda: crossover_printed().about("printed Ṽ"),
                lambda context: crossover_simulated(context).about("true Ṽ, t >= K"),
            ),
        ),
    ),
]
