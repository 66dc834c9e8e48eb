r"""A memory kept full (`buy:full-memory`): buffers hold in every round, and N_eff knows only how old the memory is.

\(\sum A_i^2\) grows by \(2A-1\) for a sample that has been used A times with this round; the rest is counting.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.claim import WRITTEN, Claim, Context, confirming
from proofs_check.engines.exact import exhaust, search
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.buying.market import SYMBOLS, S
from proofs_check.groundwork.buying.sequences import all_short, drawn, kept
from proofs_check.simulator import simulate_by_capacity
from proofs_check.symbols import n, t
from proofs_check.text import said
from theory.capacity import effective_rate, trajectory_by_capacity, trajectory_of
from theory.reuse import effective_from_sums, effective_sample_size, mismatch_from_sums

F = Fraction
age = sp.Symbol("A", positive=True)
used, squares = sp.symbols("A_1 A_2", positive=True)  # ΣA and ΣA²
SHORT = "every admissions up to 4 rounds and 3 a round, one client, every size up to 3"
DRAWN = "three clients, up to 10 rounds, buffers up to 6, zeros and more than fit included"


# --- buffers -----------------------------------------------------------------------------------------------


def buffers_hold() -> Evidence:
    """A client of size B that held n and admits x holds min(n + x, B): never more, and all of B from then on."""
    held, new, size = sp.symbols("n x B", nonnegative=True)
    after = sp.Min(held + new, size)
    return together(
        always(after <= size, domain="every $n$, $x$ and $B$"),
        always(sp.Eq(after, size), given=[sp.Eq(held, size)], domain="a full memory, every $x$"),
        always(sp.Eq(after, size), given=[held + new >= size], domain="enough admitted to fill it"),
    )


def _overfull(rounds: list[list[int]], capacities: list[int]) -> dict[str, Any] | None:
    """Each client, sample by sample: what it holds is what came so far, and its buffer at most; as theory has it."""
    came = [0] * len(capacities)
    occupancy = kept(rounds, capacities).occupancy(len(rounds)).tolist()
    for snapshot, amounts, listed in zip(
        simulate_by_capacity(rounds, capacities), rounds, occupancy, strict=True
    ):
        came = [before + amount for before, amount in zip(came, amounts, strict=True)]
        held = [snapshot.n_of(client) for client in range(len(capacities))]
        wanted = [min(total, size) for total, size in zip(came, capacities, strict=True)]
        if held != wanted or listed != sum(wanted):
            return {"round": snapshot.round, "held": held, "wanted": wanted, "theory": listed}
    return None


def every_short_memory() -> Evidence:
    """All short sequences, sample by sample."""
    return exhaust(all_short(), _overfull, domain=SHORT)


def drawn_memories(context: Context) -> Evidence:
    """Clients with buffers of their own."""
    return search(context, drawn(), _overfull, domain=DRAWN, examples=context.choose(60, 600))


# --- the effective rate ------------------------------------------------------------------------------------


def squares_grow_by_age() -> Evidence:
    """A² - (A-1)² = 2A-1; over t rounds of S samples ΣA = St and ΣA² = St(2Ā-1), so N_eff/t = S/(2Ā-1)."""
    mean = sp.Symbol("mean", positive=True)  # Ā
    return together(
        equal(
            age**2 - (age - 1) ** 2, 2 * age - 1, domain="every $A$", what="the growth of $A^2$ in a round"
        ),
        equal(
            effective_from_sums(S * t, S * t * (2 * mean - 1)) / t,
            effective_rate(S, mean),
            domain="every $S$, $t$ and mean age",
            what=r"$N_{\mathrm{eff}}/t$ and theory's effective rate",
        ),
    )


def _other_rate(rounds: list[list[int]], capacities: list[int]) -> dict[str, Any] | None:
    """Memories that are full from round 1 on: N_eff and the mean age, both from the samples themselves."""
    start, total = [capacities, *rounds], F(0)
    places = sum(capacities)
    for snapshot in simulate_by_capacity(start, capacities):
        total += F(sum(snapshot.uses[sample] for sample in snapshot.memory), places)
        found = effective_sample_size(list(snapshot.uses.values())) / snapshot.round
        stated = effective_rate(places, total / snapshot.round)
        if snapshot.n != places or found != stated:
            return {"round": snapshot.round, "n": snapshot.n, "N_eff/t": found, "stated": stated}
    return None


def every_short_rate() -> Evidence:
    """All short sequences after a full first round."""
    return exhaust(all_short(), _other_rate, domain=SHORT + ", after a round that fills it")


def drawn_rates(context: Context) -> Evidence:
    """Clients with buffers of their own, full from round 1 on."""
    return search(context, drawn(), _other_rate, domain=DRAWN, examples=context.choose(60, 600))


# --- whole trajectories ------------------------------------------------------------------------------------


def _other_trajectory(rounds: list[list[int]], capacities: list[int]) -> dict[str, Any] | None:
    """theory's n, N, uniformity and mismatch against the samples, in every round."""
    found = trajectory_of(kept(rounds, capacities), len(rounds))
    columns = [found.n, found.N, found.uniformity, found.mismatch]
    for snapshot in simulate_by_capacity(rounds, capacities):
        true = (snapshot.n, snapshot.N, snapshot.uniformity, snapshot.mismatch)
        stated = tuple(column[snapshot.round - 1] for column in columns)
        if true != stated:
            return {"round": snapshot.round, "true": true, "stated": stated}
    if len(capacities) == 1:
        alone = trajectory_by_capacity([row[0] for row in rounds], capacities[0])
        if list(alone.effective) != list(found.effective):
            return {"one client": list(alone.effective), "as cohorts": list(found.effective)}
    return None


def every_short_trajectory() -> Evidence:
    """All short sequences."""
    return exhaust(all_short(), _other_trajectory, domain=SHORT)


def drawn_trajectories(context: Context) -> Evidence:
    """Three clients."""
    return search(context, drawn(), _other_trajectory, domain=DRAWN, examples=context.choose(60, 600))


CLAIMS = [
    Claim(
        id="buy:full-memory",
        kind="addition",
        title=r"a full memory: buffers hold, $N_{\mathrm{eff}}/t=S/(2\bar A-1)$",
        statement="Let every client keep its newest $B_m$ samples, first in, first out. Whatever is "
        "admitted, no client ever holds more than $B_m$, in no round; and once it has had $B_m$ samples "
        "it holds exactly $B_m$ ever after. With $S$ samples in memory in each of $t$ rounds, "
        r"$N_{\mathrm{eff}}(t)/t$ is $S/(2\bar A-1)$, exactly and for any admissions, $\bar A$ being the "
        "mean age of what was trained on, over samples and rounds; a fresh sample has age 1.",
        formula=said(
            r"n_m(t)\le B_m,\qquad\frac{N_{\mathrm{eff}}(t)}t=@rate",
            rate=effective_rate(S, sp.Symbol("Ā")),
        ),
        domain="every admissions, every number of clients, every buffers; the rate for memories full from "
        "round 1 on",
        given=(WRITTEN,),
        sketch=r"A memory of size $B$ that holds $n$ and admits $x$ keeps the newest $\min(n+x,B)$: at "
        r"most $B$, and $B$ if it held $B$. Let $A_i(\tau)$ be how often sample $i$ has been used by the "
        r"end of round $\tau$: its age, while it is in memory. A round with $S$ samples adds $S$ to "
        r"$\sum A_i$, so $\sum A_i$ = St. A sample in memory goes from $A-1$ to $A$, its square grows by "
        r"$2A-1$, and no other square changes: $\sum A_i^2$ is the sum over all rounds and their samples "
        r"of $2A-1$, St$(2\bar A-1)$. $N_{\mathrm{eff}}=(\sum A)^2/\sum A^2=(\text{St})^2$/(St$(2\bar "
        "A-1)$).",
        checks={
            "buffers hold": (buffers_hold, confirming(every_short_memory), confirming(drawn_memories)),
            "the effective rate": (
                squares_grow_by_age,
                confirming(every_short_rate),
                confirming(drawn_rates),
            ),
        },
        symbols={**SYMBOLS, "Ā": "mean age in memory over the rounds so far, a fresh sample's being 1"},
    ),
    Claim(
        id="buy:full-memory/trajectory",
        kind="addition",
        title=r"$n$, $N$, $\widetilde V$ and $\chi$ of memories by capacity, round by round",
        statement="For any admissions of any clients that keep their newest $B_m$ samples, full or not "
        "yet, the trajectory from cohorts (theory.capacity), linear in $T$, has the $n$, $N$, uniformity "
        "and mismatch of every round.",
        formula=said(
            r"N_{\mathrm{eff}}=@neff,\qquad\chi=@chi",
            neff=effective_from_sums(used, squares),
            chi=mismatch_from_sums(n, used, squares, sp.Symbol("A_Q")),
        ),
        domain="all short sequences of one client, and sequences of three clients drawn at random",
        sketch="Samples that come and go together are a cohort, with the rounds of its entry and its "
        r"last use. Then $N$ counts entries, $\sum A$ grows by $n$ and $\sum A^2$ by $\sum (2A-1)$ in a "
        r"round, and the sums over what has left take lifetimes and their squares: $\widetilde V$ and "
        r"$\chi$ are functions of these. The checks play every sample by name.",
        checks=(every_short_trajectory, confirming(drawn_trajectories)),
        symbols={
            "A_Q": "all uses so far of the samples in memory",
            "A_1": "all uses so far",
            "A_2": "the sum of all squared uses so far",
        },
    ),
]
