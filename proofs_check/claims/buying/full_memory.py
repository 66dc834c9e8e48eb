r"""A memory kept full (`buy:full-memory`): buffers hold in every round, and N_eff knows only how old the memory is."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from itertools import product
from operator import add

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import WRITTEN, Check, Claim, confirming
from proofs_check.engines.exact import Found, drawn, everywhere
from proofs_check.engines.identity import equations
from proofs_check.engines.smt import steps
from proofs_check.evidence import Evidence
from proofs_check.groundwork.buying.market import SYMBOLS, S
from proofs_check.simulator import simulate_by_capacity
from proofs_check.symbols import n, t
from proofs_check.text import said
from theory.capacity import effective_rate, trajectory_by_capacity, trajectory_of
from theory.law import Cohorts, by_capacity
from theory.reuse import effective_from_sums, effective_sample_size, mismatch_from_sums

F = Fraction
Rounds = list[list[int]]
Sizes = list[int]
age, mean = sp.symbols("A mean", positive=True)
used, squares = sp.symbols("A_1 A_2", positive=True)  # ΣA and ΣA²
# every sequence of one client, with every size of its memory; round 1 admits at least one
SHORT = [
    ([[x] for x in sequence], [size])
    for length in range(1, 5)
    for sequence in product(range(4), repeat=length)
    for size in range(1, 4)
    if sequence[0]
]
AMOUNTS = st.lists(st.one_of(st.just(0), st.integers(0, 2), st.integers(0, 12)), min_size=3, max_size=3)
ROUNDS = st.lists(AMOUNTS, min_size=1, max_size=10).filter(lambda rows: sum(rows[0]) > 0)
SIZES = st.lists(st.integers(1, 6), min_size=3, max_size=3)


def kept(rounds: Rounds, capacities: Sizes) -> Cohorts:
    """The cohorts of several clients, by theory's own rule."""
    clients = zip(zip(*rounds, strict=True), capacities, strict=True)
    return reduce(add, (by_capacity(list(column), size) for column, size in clients))


def played(find: Callable[[Rounds, Sizes], Found]) -> tuple[Check, Check]:
    """All short sequences, sample by sample; and clients with buffers of their own."""
    short = everywhere(
        "every admissions up to 4 rounds and 3 per round, one client, every size up to 3", memory=SHORT
    )
    more = drawn(
        "three clients, up to 10 rounds, buffers up to 6, zeros and more than fit included",
        (60, 600),
        memory=st.tuples(ROUNDS, SIZES),
    )
    return short(lambda memory: find(*memory)), confirming(more(lambda memory: find(*memory)))


def buffers_hold() -> Evidence:
    """A client of size B that held n and admits x holds min(n + x, B): never more, and all of B from then on."""
    held, new, size = sp.symbols("n x B", nonnegative=True)
    after = sp.Min(held + new, size)
    return steps(
        (after <= size, [], "every $n$, $x$ and $B$"),
        (sp.Eq(after, size), [sp.Eq(held, size)], "a full memory, every $x$"),
        (sp.Eq(after, size), [held + new >= size], "enough admitted to fill it"),
    )


def _overfull(rounds: Rounds, capacities: Sizes) -> Found:
    """Each client holds what came so far, and its buffer at most; as theory has it."""
    came = [0] * len(capacities)
    occupancy = kept(rounds, capacities).occupancy(len(rounds)).tolist()
    snapshots = simulate_by_capacity(rounds, capacities)
    for snapshot, amounts, listed in zip(snapshots, rounds, occupancy, strict=True):
        came = [before + amount for before, amount in zip(came, amounts, strict=True)]
        held = [snapshot.n_of(client) for client in range(len(capacities))]
        wanted = [min(total, size) for total, size in zip(came, capacities, strict=True)]
        if held != wanted or listed != sum(wanted):
            return {"round": snapshot.round, "held": held, "wanted": wanted, "theory": listed}
    return None


def _other_rate(rounds: Rounds, capacities: Sizes) -> Found:
    """After a round that fills the memories: N_eff and the mean age, both from the samples themselves."""
    places, total = sum(capacities), F(0)
    for snapshot in simulate_by_capacity([capacities, *rounds], capacities):
        total += F(sum(snapshot.uses[sample] for sample in snapshot.memory), places)
        found = effective_sample_size(list(snapshot.uses.values())) / snapshot.round
        stated = effective_rate(places, total / snapshot.round)
        if snapshot.n != places or found != stated:
            return {"round": snapshot.round, "n": snapshot.n, "N_eff/t": found, "stated": stated}
    return None


def _other_trajectory(rounds: Rounds, capacities: Sizes) -> Found:
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


CLAIMS = [
    Claim(
        id="buy:full-memory",
        kind="addition",
        title=r"a full memory: buffers hold, $N_{\mathrm{eff}}/t=S/(2\bar A-1)$",
        statement="Let every client keep its newest $B_m$ samples, first in, first out. Whatever is "
        "admitted, no client ever holds more than $B_m$, in no round; and once it has had $B_m$ samples it "
        "holds exactly $B_m$ ever after. With $S$ samples in memory in each of $t$ rounds, "
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
        r"$\sum A_i$, so $\sum A_i=St$. A sample in memory goes from $A-1$ to $A$, its square grows by "
        r"$2A-1$, and no other square changes: $\sum A_i^2$ is the sum over all rounds and their samples "
        r"of $2A-1$, which is $St(2\bar A-1)$. "
        r"$N_{\mathrm{eff}}=(\sum A)^2/\sum A^2=(St)^2/(St(2\bar A-1))$.",
        checks={
            "buffers hold": (buffers_hold, *map(confirming, played(_overfull))),
            "the effective rate": (
                lambda: equations(
                    (age**2 - (age - 1) ** 2, 2 * age - 1, "the growth of $A^2$ in a round"),
                    (
                        effective_from_sums(S * t, S * t * (2 * mean - 1)) / t,
                        effective_rate(S, mean),
                        r"$N_{\mathrm{eff}}/t$ and theory's effective rate",
                    ),
                    domain="every $S$, $t$, $A$ and mean age",
                ),
                *map(confirming, played(_other_rate)),
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
        sketch="Samples that come and go together are a cohort, with the rounds of its entry and its last "
        r"use. Then $N$ counts entries, $\sum A$ grows by $n$ and $\sum A^2$ by $\sum(2A-1)$ in a round, "
        r"and the sums over what has left take lifetimes and their squares: $\widetilde V$ and $\chi$ are "
        "functions of these. The checks play every sample by name.",
        checks=played(_other_trajectory),
        symbols={
            "A_Q": "all uses so far of the samples in memory",
            "A_1": "all uses so far",
            "A_2": "the sum of all squared uses so far",
        },
    ),
]
