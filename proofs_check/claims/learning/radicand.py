"""Where N_eff < n, so that the bound takes the root of a negative number (`thm:regret-neff/radicand`).

It does, under constant admission in every round from the second until about 1.29 K, and with the printed Ṽ until
about 1.65 K. Both thresholds are exact, for every rate of admission.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import Claim, Context, Correction, confirming
from proofs_check.engines.exact import admissions, retentions, search
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence
from proofs_check.groundwork.reuse.constant_counts import FILLING, FULL, late, run, s
from proofs_check.simulator import Snapshot, simulate
from proofs_check.symbols import K, rate, t
from proofs_check.text import said
from theory.reuse import (
    crossover_constant,
    crossover_constant_as_stated,
    inverse_effective_constant,
    occupancy_constant,
    uniformity_constant_as_stated,
)

MIDDLE = K - sp.Rational(1, 2)  # the printed radicand is a quadratic in t around it


def _printed_width() -> Any:
    """How far from the middle the printed radicand is negative."""
    return sp.expand(crossover_constant_as_stated(K) - MIDDLE)


def _negative(view: Snapshot) -> dict[str, Any] | None:
    """The numbers of a round in which N_eff < n."""
    size = view.N * view.uniformity
    if size >= view.n:
        return None
    return {"n": view.n, "N_eff": size, "1/n - 1/N_eff": Fraction(1, view.n) - 1 / size}


def radicand_constant(context: Context) -> Evidence:
    """The smallest case under constant admission."""
    few = {"K": retentions(10), "t": st.integers(1, 24), "rate": st.integers(1, 3)}
    return search(
        context,
        few,
        lambda K, t, rate: _negative(run(K, t, [rate])),
        domain="constant admission",
        examples=100,
    )


def radicand_any(context: Context) -> Evidence:
    """The smallest case under any admissions."""
    drawn = {"K": retentions(), "rounds": admissions()}
    return search(
        context,
        drawn,
        lambda K, rounds: _negative(simulate(rounds, K)[-1]),
        domain="$K$-step retention, any admissions",
        examples=100,
    )


def crossover_full() -> Evidence:
    """N_eff < n just before the threshold, buffers full."""
    below = inverse_effective_constant(K, late, rate) > 1 / occupancy_constant(K, late, rate)
    return always(
        sp.Equivalent(below, late < crossover_constant(K)),
        domain=f"every rate, {FULL}",
    )


def crossover_filling() -> Evidence:
    """While nothing has been dropped, N_eff < n in every round but the first."""
    below = inverse_effective_constant(t + s, t, rate) > 1 / occupancy_constant(t + s, t, rate)
    return always(
        sp.Equivalent(below, t > 1),
        domain=f"every rate, {FILLING}: n = N, so N_eff < n as soon as the counts differ",
    )


def crossover_covers_filling() -> Evidence:
    """So that the stretches t <= K and t >= K, both with t > 1, make one interval."""
    return always(
        crossover_constant(K) > K,
        given=[K >= 2],
        domain=r"every $K\ge2$: the threshold lies beyond "
        "round $K$",
    )


def crossover_printed() -> Evidence:
    """The printed radicand, with the printed Ṽ and n = KΛ̄, between two roots."""
    width = _printed_width()
    radicand = 1 / (K * rate) - 1 / (rate * t * uniformity_constant_as_stated(K, t))
    return always(
        sp.Equivalent(radicand < 0, sp.And(t - MIDDLE < width, MIDDLE - t < width)),
        given=[sp.Ne(2 * t, K - 1)],
        domain=r"every rate, every $K$, $t\ge1$ where the printed $\widetilde V$ is not 0",
    )


def crossover_simulated(context: Context) -> Evidence:
    """The threshold against samples counted one by one."""

    def differs(K: int, t: int, rate: int) -> dict[str, Any] | None:
        below = _negative(run(K, t, [rate])) is not None
        predicted = t > 1 and bool(t < crossover_constant(K))
        return None if below == predicted else {"N_eff < n": below, "predicted": predicted}

    few = {"K": retentions(30), "t": st.integers(1, 50), "rate": st.integers(1, 2)}
    return search(context, few, differs, domain=r"$K\le30$, $t\le50$", examples=context.choose(60, 600))


def _slope(threshold: Any) -> str:
    """The threshold over K, for large K, in four digits."""
    return str(sp.limit(threshold / K, K, sp.oo).n(4))


CLAIMS = [
    Claim(
        id="thm:regret-neff/radicand",
        kind="step",
        title=r"$1/n-1/N_{\mathrm{eff}}\ge0$ under the root",
        statement="The quantity that the bound takes the root of is not negative.",
        formula=r"\frac1n-\frac1{N_{\mathrm{eff}}}\ge0",
        domain="$K$-step retention, every round",
        checks=(radicand_constant, radicand_any),
        corrected=Correction(
            title=said(
                r"$N_{\mathrm{eff}}<n$ if and only if $1<t<@crossover$", crossover=crossover_constant(K)
            ),
            statement=said(
                r"Under constant admission $N_{\mathrm{eff}}<n$ exactly for $1<t<@crossover$, about "
                rf"${_slope(crossover_constant(K))}K$; with the printed $\widetilde V$ and $n=K\bar\Lambda$, where "
                r"that $\widetilde V$ is not 0, the radicand is negative exactly for $|t-K+1/2|<@width$, so up to "
                rf"$@printed$, about ${_slope(crossover_constant_as_stated(K))}K$.",
                crossover=crossover_constant(K),
                width=_printed_width(),
                printed=crossover_constant_as_stated(K),
            ),
            formula=said(
                r"N_{\mathrm{eff}}<n\iff1<t<@crossover",
                crossover=crossover_constant(K),
            ),
            sketch=r"For $t\le K$, $n=N$, and $N_{\mathrm{eff}}<N$ unless all counts are equal, which is "
            r"$t=1$. For $t\ge K$ a quadratic inequality in $t$. The threshold lies beyond $K$ for "
            r"$K\ge2$, so the two stretches join; for $K=1$ it is 1, and $N_{\mathrm{eff}}=N$.",
            checks={
                r"true $\widetilde V$, $t\ge K$": (crossover_full, confirming(crossover_simulated)),
                r"true $\widetilde V$, $t\le K$": crossover_filling,
                "one threshold": crossover_covers_filling,
                r"printed $\widetilde V$": crossover_printed,
            },
        ),
    ),
]
