"""Ages and the drop rule: how often is a sample used, and in which order does a round do its work?"""

from __future__ import annotations

from itertools import product
from typing import Any

import sympy as sp

from proofs_check.claim import Claim, Context, Correction
from proofs_check.engines.exact import admissions, exhaust, retentions, search
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, refutes
from proofs_check.simulator import Order, simulate

__all__ = ["CLAIMS"]

K, t, j = sp.symbols("K t j", integer=True, positive=True)

ANY = "any K >= 1, clients, admissions (zeros and bursts)"


# --- eq:age-evolution --------------------------------------------------------------------------------------


def _ages(stored: tuple[int, ...]) -> tuple[int, int]:
    """Age by eq:age-evolution and number of uses, after the last round of a presence pattern q^1, q^2, …"""
    age = before = 0
    for now in stored:
        if now:
            age = age + 1 if before else 1
        before = now
    return age, sum(stored)


def _age_differs(stored: tuple[int, ...]) -> dict[str, int] | None:
    age, uses = _ages(stored)
    return {"age": age, "uses": uses} if age != uses else None


def age_counts_uses() -> Evidence:
    """Induction over the rounds of a stay: age = uses = t-j+1 while stored, and both stand still
    afterwards.
    """
    age, uses, now = sp.symbols("age uses now", integer=True, nonnegative=True)
    following = age + now  # the first and the third case of eq:age-evolution, as now = 1 or 0
    return always(
        sp.Eq(following, uses + now),
        given=[sp.Or(sp.Eq(now, 0), sp.Eq(now, 1)), sp.Eq(age, uses)],
        domain="induction step, any round of one uninterrupted stay and after it",
    )


def age_counts_uses_on_stays() -> Evidence:
    stays = (
        {"stored": (0,) * before + (1,) * stay + (0,) * after}
        for before, stay, after in product(range(5), range(1, 7), range(5))
    )
    return exhaust(stays, _age_differs, domain="every single stay of at most 6 rounds")


# --- eq:kstep-drop -----------------------------------------------------------------------------------------


def literal_reading() -> Evidence:
    """q^t is the state after round t's drop, the drop asks for A^t = K, and A^t asks for q^t: no q^t fits."""
    q, d = sp.symbols("q d", integer=True, nonnegative=True)
    age = q * K + (1 - q) * (K - 1)  # eq:age-evolution for a sample that had age K-1 one round before
    bits = [sp.Or(sp.Eq(x, 0), sp.Eq(x, 1)) for x in (q, d)]
    contradiction = always(
        sp.Ne(q, 1 - d),
        given=[*bits, sp.Equivalent(sp.Eq(d, 1), sp.Eq(age, K))],
        domain="every K >= 1, a stored sample that has reached age K-1",
    )
    return refutes(
        contradiction,
        "read literally, no state exists: if the sample is stored in round t its age is K, so it was "
        "dropped; if it was dropped its age stays K-1, so it was not",
    )


def _uses(rounds: list[list[int]], K: int, order: Order) -> dict[str, Any] | None:
    """A sample not used K times although K rounds have passed since it came."""
    last = simulate([*rounds, *[[0] * len(rounds[0])] * K], K, order)[-1]
    admitted = sum(map(sum, rounds))
    wrong = {str(sample): used for sample, used in last.uses.items() if used != K}
    if wrong or len(last.uses) != admitted:
        return {"admitted": admitted, "ever used": len(last.uses), "uses that are not K": wrong}
    return None


def drop_before_training(context: Context) -> Evidence:
    return search(
        context,
        {"K": retentions(), "rounds": admissions(clients=2)},
        lambda K, rounds: _uses(rounds, K, "admit-drop-train"),
        domain="q^t after the drop of round t, ages counted on: order admit, drop, train",
        examples=50,
    )


def used_k_times(context: Context) -> Evidence:
    return search(
        context,
        {"K": retentions(), "rounds": admissions(clients=2)},
        lambda K, rounds: _uses(rounds, K, "admit-train-drop") or _uses(rounds, K, "drop-admit-train"),
        domain=f"{ANY}; dropping after training, or before admission in the next round",
        examples=context.choose(100, 2000),
    )


def used_k_times_induction() -> Evidence:
    """Stored at the training of round t if and only if t-j+1 <= K, with age t-j+1: carried from t to t+1."""
    age = sp.Symbol("age", integer=True, nonnegative=True)
    stored, dropped = age <= K, sp.Eq(age, K)
    return always(
        sp.Implies(stored, sp.Equivalent(sp.Not(dropped), age + 1 <= K)),
        given=[age >= 1, sp.Eq(age, t - j + 1)],
        domain="every K, every admission round j, every round t >= j",
    )


CLAIMS = [
    Claim(
        id="eq:age-evolution",
        kind="definition",
        title="a sample's age counts its uses",
        statement="The age counter of a sample equals the number of rounds in which it has been trained on, "
        "which is what the reuse counts A of the bound stand for. (One that came back would start again at "
        "1.)",
        latex=r"A_{m,i}^{t}=\#\{\tau\le t:q_{m,i}^\tau=1\}",
        unicode="Aᵗ = #{τ ≤ t : q^τ = 1}",
        domain="every sample and round, any dropping policy; a dropped sample does not come back",
        checks=(age_counts_uses, age_counts_uses_on_stays),
    ),
    Claim(
        id="eq:kstep-drop",
        kind="definition",
        title="a sample is used exactly K rounds",
        statement="Dropping at age K, with the stored state of a round taken after that round's admission "
        "and drop, keeps every sample for exactly K rounds of training.",
        latex=r"d_{m,i}(t)=\mathbf 1\{A_{m,i}^t=K\}",
        unicode="d(t) = 1{Aᵗ = K}, qᵗ after the drop of round t",
        domain=ANY,
        hypotheses=("the drop of round t takes effect after the training of round t, as in Algorithm 1",),
        checks=(literal_reading, drop_before_training),
        checks_with_hypotheses=(used_k_times_induction, used_k_times),
        corrected=Correction(
            title="admit, train, drop: used K times",
            statement="A round admits, trains, then drops what has age K. Then a sample of round j is "
            "stored at the training of round t exactly for t-j+1 in 1..K, and has been used min(t-j+1, K) "
            "times by its end.",
            latex=r"q^{t+1}=q^t\,(1-d(t)),\qquad A_i(t)=\min(t-j+1,K)",
            unicode="qᵗ⁺¹ = qᵗ(1-d(t)); uses = min(t-j+1, K)",
            sketch="Induction over t: stored with age t-j+1 <= K; it stays unless the age is K. Dropping at "
            "the start of the next round, before admission, is the same. Dropping between admission and "
            "training gives K-1 uses, and none at all for K = 1.",
            checks=(used_k_times_induction, used_k_times),
        ),
    ),
]
