"""How many samples constant admission keeps in memory, and how many it has used.

n = KΛ̄ holds from round K on, but the printed bound is summed from round 1, where n = min(t,K)Λ̄: by induction over the
rounds.
"""

from __future__ import annotations

from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import Claim, Context, Correction, confirming
from proofs_check.engines.exact import retentions, search
from proofs_check.engines.identity import equal, symbolic_sum
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, refutes, together
from proofs_check.groundwork.reuse.constant_counts import (
    FULL,
    late,
    run,
    s,
)
from proofs_check.symbols import K, rate, t
from proofs_check.text import said
from theory.reuse import (
    occupancy_constant,
    trajectory,
)

CASES = {
    "K": retentions(10),
    "t": st.integers(1, 24),
    "rates": st.lists(st.integers(1, 3), min_size=1, max_size=3),
}


def occupancy_round_by_round() -> Evidence:
    """A round admits Λ̄, for one client or for all; from round K on a cohort of Λ̄ leaves before the next round."""
    leaving = rate
    return together(
        equal(
            occupancy_constant(1 + s, 1, rate),
            rate,
            domain="round 1, any $K$",
            what="$n$ and "
            r"$\bar\Lambda$",
        ),
        equal(
            occupancy_constant(t + 1 + s, t + 1, rate),
            occupancy_constant(t + 1 + s, t, rate) + rate,
            domain="from $t<K$ to $t+1$, $K=t+1+s$",
            what=r"$n$ and $\bar\Lambda$ more than a round before",
        ),
        equal(
            occupancy_constant(K, late + 1, rate),
            occupancy_constant(K, late, rate) + rate - leaving,
            domain=r"from $t\ge K$ to $t+1$, $t=K+s$",
            what=r"$n$ and that of a round before, $\bar\Lambda$ more and $\bar\Lambda$ less,",
        ),
    )


def occupancy_from_K_on() -> Evidence:
    """Induction over the rounds for min(t,K)Λ̄, which from round K on is KΛ̄."""
    return together(
        occupancy_round_by_round(),
        equal(
            occupancy_constant(K, late, rate),
            K * rate,
            domain=FULL,
            what=r"$\min(t,K)\bar\Lambda$ "
            r"and $K\bar\Lambda$",
        ),
    )


def occupancy_simulated(context: Context) -> Evidence:
    """Of each client, in rounds from K on."""

    def differs(K: int, t: int, rates: list[int]) -> dict[str, Any] | None:
        last = run(K, K - 1 + t, rates)
        found = [last.n_of(m) for m in range(len(rates))]
        stated = [occupancy_constant(K, last.round, r) for r in rates]
        return None if found == stated else {"round": last.round, "n of each client": found, "stated": stated}

    return search(
        context,
        CASES,
        differs,
        domain="rounds from $K$ on, to three clients",
        examples=context.choose(60, 600),
    )


def _occupancy_differs(n: Any) -> Any:
    def differs(K: int, t: int, rates: list[int]) -> dict[str, Any] | None:
        found, stated = run(K, t, rates).n, n(K, t, sum(rates))
        return None if found == stated else {"simulated n": found, "formula": stated}

    return differs


def occupancy_in_every_round(context: Context) -> Evidence:
    """The printed n against the simulator, from round 1 on."""
    stated = _occupancy_differs(lambda K, t, rate: K * rate)
    return search(context, CASES, stated, domain="every round of the sum", examples=60)


def smaller_before_K() -> Evidence:
    """KΛ̄ against the true n, which before round K is that of t = 1, …, K-1 rounds of admissions."""
    horizon = sp.Symbol("horizon", real=True)
    return always(
        horizon * rate > occupancy_constant(t + 1 + s, t, rate),
        given=[sp.Eq(horizon, t + 1 + s)],
        domain="every $t<K$, $K=t+1+s$",
    )


def occupancy_before_K() -> Evidence:
    """The same for all K and t < K at once."""
    too_many = smaller_before_K()
    return refutes(
        too_many,
        "before round $K$ only $t$ rounds have been admitted: "
        r"$n=t\bar\Lambda<K\bar\Lambda$",
    )


def occupancy_corrected_simulated(context: Context) -> Evidence:
    """The corrected n against the simulator."""
    true = _occupancy_differs(occupancy_constant)
    return search(
        context, CASES, true, domain="every round, to three clients", examples=context.choose(60, 600)
    )


def distinct_samples_sum() -> Evidence:
    """Λ̄ in each of t rounds."""
    admitted = symbolic_sum(rate, sp.Symbol("j", integer=True), 1, t)
    return equal(admitted, rate * t, domain=r"every $t\ge1$", what=r"all admissions and $\bar\Lambda t$")


def distinct_samples(context: Context) -> Evidence:
    """The simulator's N and that of the trajectory."""

    def differs(K: int, t: int, rates: list[int]) -> dict[str, Any] | None:
        found, path = run(K, t, rates).N, trajectory([sum(rates)] * t, K).N[-1]
        stated = sum(rates) * t
        return None if found == path == stated else {"distinct": found, "trajectory": path, "stated": stated}

    return search(
        context, CASES, differs, domain="every round, to three clients", examples=context.choose(60, 600)
    )


CLAIMS = [
    Claim(
        id="eq:ck-buffer-occupancy",
        kind="equation",
        title=r"$n_m=K\lambda_m$ for large $t$",
        statement=r"Under constant admission client $m$ holds $K\lambda_m$ samples in every round from "
        "$K$ on.",
        formula=r"n_m(t)=K\lambda_m",
        domain=r"sufficiently large $t$: $t\ge K$",
        checks=(occupancy_from_K_on, confirming(occupancy_simulated)),
    ),
    Claim(
        id="eq:ck-training-size",
        kind="equation",
        title=said("$n=@n$ for large $t$", n=occupancy_constant(K, late, rate)),
        statement=said(
            "Under constant admission $@n$ samples are trained on in every round from $K$ on.",
            n=occupancy_constant(K, late, rate),
        ),
        formula=said(r"n^{CK}(t)=@n", n=occupancy_constant(K, late, rate)),
        domain=r"sufficiently large $t$: $t\ge K$",
        checks=(occupancy_from_K_on, confirming(occupancy_simulated)),
    ),
    Claim(
        id="eq:ck-distinct-samples",
        kind="equation",
        title=r"$N=\bar\Lambda t$",
        statement=r"Under constant admission $\bar\Lambda t$ distinct samples have been used by round "
        "$t$.",
        formula=r"N^{CK}(t)=\bar\Lambda t",
        domain=r"every $t\ge1$",
        checks=(distinct_samples_sum, confirming(distinct_samples)),
    ),
    Claim(
        id="eq:ck-bound-detail/occupancy",
        kind="step",
        title=r"$n=K\bar\Lambda$ in every round of the sum",
        statement=r"Theorem 1 may be summed from $t=1$ with $n=K\bar\Lambda$ in every round.",
        formula=r"n(t)=K\bar\Lambda\quad(1\le t\le T)",
        domain=r"every $K\ge1$, $t\ge1$",
        checks=(occupancy_in_every_round, occupancy_before_K),
        corrected=Correction(
            title=said(r"$n=@rounds\cdot\bar\Lambda$", rounds=occupancy_constant(K, t, rate) / rate),
            statement=said(
                r"$n(t)=@rounds\cdot\bar\Lambda$, so before round $K$ the printed sum takes $n$ too "
                "large.",
                rounds=occupancy_constant(K, t, rate) / rate,
            ),
            formula=said(r"n(t)=@rounds\,\bar\Lambda", rounds=occupancy_constant(K, t, rate) / rate),
            sketch="A round's memory holds the last $K$ admissions, of which there are only $t$ before "
            "round $K$.",
            checks={
                "$n$": (occupancy_round_by_round, confirming(occupancy_corrected_simulated)),
                "too large before $K$": smaller_before_K,
            },
        ),
    ),
]
