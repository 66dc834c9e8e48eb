"""Ages and the drop rule: how often is a sample used, and in which order does a round do its work?

The age counter does count uses. The drop rule, read to the letter, defines no state at all; read as Algorithm 1 runs,
with the drop after the training, every sample is used K times, and min(t-j+1, K) times by round t if round j admits it.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import sympy as sp

from proofs_check.claim import Check, Claim, Context, Correction, confirming
from proofs_check.engines.exact import admissions, exhaust, retentions, search
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, refutes, together
from proofs_check.simulator import Order, simulate
from proofs_check.symbols import K, t
from proofs_check.text import said
from theory.reuse import uses_kstep

j, age = sp.symbols("j age", integer=True, positive=True)
s = sp.Symbol("s", integer=True, nonnegative=True)

DRAWN = {"K": retentions(), "rounds": admissions(clients=2)}
ANY = r"any $K\ge1$, clients, admissions (zeros and bursts)"


def next_age(age: Any, before: Any, now: Any) -> Any:
    """The three cases of eq:age-evolution; `before` and `now` are q^t and q^{t+1}, 1 if stored and else 0."""
    return now * before * (age + 1) + now * (1 - before) * 1 + (1 - now) * age


def _bits(*values: Any) -> list[Any]:
    return [sp.Or(sp.Eq(value, 0), sp.Eq(value, 1)) for value in values]


def age_counts_uses() -> Evidence:
    """Induction over the rounds, from A^0 = 0 and no use: a sample that is stored but was not had no use before."""
    counter, uses, before, now = sp.symbols("counter uses before now", integer=True)
    return always(
        sp.Eq(next_age(counter, before, now), uses + now),
        given=[
            *_bits(before, now),
            sp.Eq(counter, uses),
            sp.Implies(sp.And(sp.Eq(before, 0), sp.Eq(now, 1)), sp.Eq(uses, 0)),
        ],
        domain="any round of any policy; a dropped sample does not come back",
    )


def _age_differs(stored: tuple[int, ...]) -> dict[str, int] | None:
    """The age by the printed rule and the uses, where they differ."""
    counter = before = 0
    for now in stored:
        counter, before = next_age(counter, before, now), now
    return {"age": counter, "uses": sum(stored)} if counter != sum(stored) else None


STAYS = [
    {"stored": (0,) * before + (1,) * stay + (0,) * after}
    for before, stay, after in product(range(5), range(1, 7), range(5))
]


def literal_reading() -> Evidence:
    """q^t is the state after round t's drop, the drop asks for A^t = K, and A^t asks for q^t: no q^t fits."""
    q, d = sp.symbols("q d", integer=True)
    counter = next_age(K - 1, 1, q)  # of a sample that was stored with age K-1 one round before
    contradiction = always(
        sp.Ne(q, 1 - d),
        given=[*_bits(q), sp.Equivalent(sp.Eq(d, 1), sp.Eq(counter, K))],
        domain=r"every $K\ge1$, a stored sample that has reached age $K-1$",
    )
    return refutes(
        contradiction,
        "read literally, no state exists: if the sample is stored in round $t$ its age is $K$, so it was "
        "dropped; if it was dropped its age stays $K-1$, so it was not",
    )


def _uses(rounds: list[list[int]], K: int, order: Order) -> dict[str, Any] | None:
    """A sample not used K times although K rounds have passed since it came."""
    last = simulate([*rounds, *[[0] * len(rounds[0])] * K], K, order)[-1]
    admitted = sum(map(sum, rounds))
    wrong = {str(sample): used for sample, used in last.uses.items() if used != K}
    if wrong or len(last.uses) != admitted:
        return {"admitted": admitted, "ever used": len(last.uses), "uses that are not K": wrong}
    return None


def used_k_times(orders: tuple[Order, ...], domain: str, quick: int, full: int) -> Check:
    """Every sample, counted, K rounds after the last admission."""

    def missed(K: int, rounds: list[list[int]]) -> dict[str, Any] | None:
        return next(filter(None, (_uses(rounds, K, order) for order in orders)), None)

    def check(context: Context) -> Evidence:
        return search(context, DRAWN, missed, domain=domain, examples=context.choose(quick, full))

    return check


IN_ALL = confirming(
    used_k_times(
        ("admit-train-drop", "drop-admit-train"),
        f"{ANY}; dropping after training, or before admission in the next round",
        100,
        2000,
    )
)


def stored_and_used() -> Evidence:
    """One sample from round t to t+1, `age` its t-j+1: it stays unless its count is K, and is used if it stays."""
    q, d = sp.symbols("q d", integer=True)
    stays = q * (1 - d)
    step = always(
        [
            sp.Equivalent(sp.Eq(stays, 1), age + 1 <= K),
            sp.Eq(uses_kstep(age, K) + stays, uses_kstep(age + 1, K)),
        ],
        given=[
            *_bits(d),
            sp.Equivalent(sp.Eq(q, 1), age <= K),
            sp.Equivalent(sp.Eq(d, 1), sp.Eq(uses_kstep(age, K), K)),
        ],
        domain=r"every $K$, every admission round $j$, every round $t\ge j$",
    )
    first = equal(uses_kstep(1, 1 + s), 1, domain="the round of admission, any $K$", what="the uses and 1")
    return together(step, first)


def used_k_times_in_the_end() -> Evidence:
    """From the K-th round of its stay on a sample has been used K times."""
    return equal(uses_kstep(K + s, K), K, domain="every $K$, every age $K+s$", what="the uses and $K$")


def miscounted(K: int, rounds: list[list[int]]) -> dict[str, Any] | None:
    """A sample whose uses, in some round, are not `uses_kstep` of its age."""
    born = [j for j, amounts in enumerate(rounds, start=1) for _ in range(sum(amounts))]
    for view in simulate(rounds, K):
        for (client, number), used in view.uses.items():
            if used != uses_kstep(view.round - born[number] + 1, K):
                return {"round": view.round, "sample": number, "client": client, "uses": used}
    return None


CLAIMS = [
    Claim(
        id="eq:age-evolution",
        kind="definition",
        title="a sample's age counts its uses",
        statement="The age counter of a sample equals the number of rounds in which it has been trained "
        "on, which is what the reuse counts $A$ of the bound stand for. One that came back would start "
        "again at 1.",
        formula=r"A_{m,i}^{t}=\#\{\tau\le t:q_{m,i}^\tau=1\}",
        domain="every sample and round, any dropping policy; a dropped sample does not come back",
        checks={
            "one stay": (
                age_counts_uses,
                confirming(
                    lambda: exhaust(STAYS, _age_differs, domain="every single stay of at most 6 rounds")
                ),
            ),
            "coming back": lambda: equal(
                next_age(age, 0, 1), 1, domain="any age", what="the age of a sample that comes back and 1"
            ),
        },
        symbols={"q": "1 if the sample is stored in a round, else 0"},
    ),
    Claim(
        id="eq:kstep-drop",
        kind="definition",
        title="a sample is used exactly $K$ rounds",
        statement="Dropping at age $K$, with the stored state of a round taken after that round's "
        "admission and drop, keeps every sample for exactly $K$ rounds of training.",
        formula=r"d_{m,i}(t)=\mathbf 1\{A_{m,i}^t=K\}",
        domain=ANY,
        hypotheses=("the drop of round $t$ takes effect after the training of round $t$, as in Algorithm 1",),
        checks=(
            literal_reading,
            used_k_times(
                ("admit-drop-train",),
                "$q^t$ after the drop of round $t$, ages counted on: order admit, drop, train",
                50,
                50,
            ),
        ),
        checks_with_hypotheses=(lambda: together(stored_and_used(), used_k_times_in_the_end()), IN_ALL),
        corrected=Correction(
            title=said("admit, train, drop: $@uses$ uses by round $t$", uses=uses_kstep(t - j + 1, K)),
            statement=said(
                "A round admits, trains, then drops what has age $K$. Then a sample of round $j$ is "
                r"stored at the training of round $t$ exactly for $t-j+1$ in $1,\ldots,K$, and has been "
                "used $@uses$ times by its end, so $K$ times in all.",
                uses=uses_kstep(t - j + 1, K),
            ),
            formula=said(r"q^{t+1}=q^t\,(1-d(t)),\qquad A_i(t)=@uses", uses=uses_kstep(t - j + 1, K)),
            sketch=r"Induction over $t$: stored with age $t-j+1\le K$; it stays unless the age is $K$. "
            "Dropping at the start of the next round, before admission, is the same. Dropping between "
            "admission and training gives $K-1$ uses, and none at all for $K=1$.",
            checks={
                "stored, and used so far": (
                    stored_and_used,
                    confirming(
                        lambda context: search(
                            context, DRAWN, miscounted, domain=ANY, examples=context.choose(50, 1000)
                        )
                    ),
                ),
                "$K$ times in all": (used_k_times_in_the_end, IN_ALL),
            },
            symbols={"j": "the round that admits the sample"},
        ),
        symbols={"q": "1 if the sample is stored in a round, else 0", "d": "1 if it is dropped, else 0"},
    ),
]
