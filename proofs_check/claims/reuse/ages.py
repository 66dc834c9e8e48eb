"""Ages and the drop rule: how often is a sample used, and in which order does a round do its work?"""

from proofs_check.prelude import *

from proofs_check.simulator import Order

j, age = sp.symbols("j age", integer=True, positive=True)
s = sp.Symbol("s", integer=True, nonnegative=True)
q, d = sp.symbols("q d", integer=True)  # stored, dropped: 1 or 0

DRAWN = {"K": retentions(), "rounds": admissions(clients=2)}
ANY = r"any $K\ge1$, clients, admissions (zeros and bursts)"
STORED = {"q": "1 if the sample is stored in a round, else 0"}
USES = {"uses": uses_kstep(t - j + 1, K)}


def next_age(age: Any, before: Any, now: Any) -> Any:
    """The three cases of eq:age-evolution; `before` and `now` are q^t and q^{t+1}, 1 if stored and else 0."""
    return now * before * (age + 1) + now * (1 - before) * 1 + (1 - now) * age


def _bits(*values: Any) -> list[Any]:
    return [sp.Or(sp.Eq(value, 0), sp.Eq(value, 1)) for value in values]


def age_counts_uses() -> Evidence:
    """Induction over the rounds, from A^0 = 0 and no use: a sample that is stored but was not had no use before."""
    counter, uses, before, now = sp.symbols("counter uses before now", integer=True)
    fresh = sp.Implies(sp.And(sp.Eq(before, 0), sp.Eq(now, 1)), sp.Eq(uses, 0))
    return always(
        sp.Eq(next_age(counter, before, now), uses + now),
        given=[*_bits(before, now), sp.Eq(counter, uses), fresh],
        domain="any round of any policy; a dropped sample does not come back",
    )


@everywhere("every single stay of at most 6 rounds", absent=range(5), stay=range(1, 7), gone=range(5))
def counted_in_a_stay(absent: int, stay: int, gone: int) -> Found:
    counter = before = 0
    for now in (0,) * absent + (1,) * stay + (0,) * gone:
        counter, before = next_age(counter, before, now), now
    return differing(age=counter, uses=stay)


def literal_reading() -> Evidence:
    """q^t is the state after round t's drop, the drop asks for A^t = K, and A^t asks for q^t: no q^t fits."""
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


def used_k_times(orders: tuple[Order, ...], domain: str, examples: tuple[int, int]) -> Check:
    """Every sample, counted, K rounds after the last admission."""

    @drawn(domain, examples, **DRAWN)
    def missed(K: int, rounds: list[list[int]]) -> Found:
        admitted = sum(map(sum, rounds))
        for order in orders:
            last = simulate([*rounds, *[[0] * len(rounds[0])] * K], K, order)[-1]
            wrong = {str(sample): used for sample, used in last.uses.items() if used != K}
            if wrong or len(last.uses) != admitted:
                return {"admitted": admitted, "ever used": len(last.uses), "uses that are not K": wrong}
        return None

    return missed


IN_ALL = confirming(
    used_k_times(
        ("admit-train-drop", "drop-admit-train"),
        f"{ANY}; dropping after training, or before admission in the next round",
        (100, 2000),
    )
)


def stored_and_used() -> Evidence:
    """One sample from round t to t+1, `age` its t-j+1: it stays unless its count is K, and is used if it stays."""
    stays, used = q * (1 - d), uses_kstep(age, K)
    return argument(
        (
            [sp.Equivalent(sp.Eq(stays, 1), age + 1 <= K), sp.Eq(used + stays, uses_kstep(age + 1, K))],
            [*_bits(d), sp.Equivalent(sp.Eq(q, 1), age <= K), sp.Equivalent(sp.Eq(d, 1), sp.Eq(used, K))],
            r"every $K$, every admission round $j$, every round $t\ge j$",
        ),
        (uses_kstep(1, 1 + s), 1, "the uses and 1"),
        domain="the round of admission, any $K$",
    )


def used_k_times_in_the_end() -> Evidence:
    return equal(uses_kstep(K + s, K), K, domain="every $K$, every age $K+s$", what="the uses and $K$")


@drawn(ANY, (50, 1000), **DRAWN)
def counted_by_age(K: int, rounds: list[list[int]]) -> Found:
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
        statement="The age counter of a sample equals the number of rounds in which it has been trained on, which "
        "is what the reuse counts $A$ of the bound stand for. One that came back would start again at 1.",
        formula=r"A_{m,i}^{t}=\#\{\tau\le t:q_{m,i}^\tau=1\}",
        domain="every sample and round, any dropping policy; a dropped sample does not come back",
        checks={
            "one stay": (age_counts_uses, confirming(counted_in_a_stay)),
            "coming back": lambda: equal(next_age(age, 0, 1), 1, domain="any age", what="its age and 1"),
        },
        symbols=STORED,
    ),
    Claim(
        id="eq:kstep-drop",
        kind="definition",
        substance="corrected",
        title="a sample is used exactly $K$ rounds",
        statement="Dropping at age $K$, with the stored state of a round taken after that round's "
        "admission and drop, keeps every sample for exactly $K$ rounds of training.",
        formula=r"d_{m,i}(t)=\mathbf 1\{A_{m,i}^t=K\}",
        domain=ANY,
        repair="Say that a round admits, trains and then drops, as Algorithm 1 has it.",
        hypotheses=("the drop of round $t$ takes effect after the training of round $t$, as in Algorithm 1",),
        checks=(
            literal_reading,
            used_k_times(("admit-drop-train",), "$q^t$ after the drop: admit, drop, train", (50, 50)),
        ),
        checks_with_hypotheses=(lambda: together(stored_and_used(), used_k_times_in_the_end()), IN_ALL),
        corrected=Correction(
            title=said("admit, train, drop: $@uses$ uses by round $t$", **USES),
            statement=said(
                "A round admits, trains, then drops what has age $K$. Then a sample of round $j$ is "
                r"stored at the training of round $t$ exactly for $t-j+1$ in $1,\ldots,K$, and has been "
                "used $@uses$ times by its end, so $K$ times in all.",
                **USES,
            ),
            formula=said(r"q^{t+1}=q^t\,(1-d(t)),\qquad A_i(t)=@uses", **USES),
            sketch=r"Induction over $t$: stored with age $t-j+1\le K$; it stays unless the age is $K$. "
            "Dropping at the start of the next round, before admission, is the same. Dropping between "
            "admission and training gives $K-1$ uses, and none at all for $K=1$.",
            checks={
                "stored, and used so far": (stored_and_used, confirming(counted_by_age)),
                "$K$ times in all": (used_k_times_in_the_end, IN_ALL),
            },
            symbols={"j": "the round that admits the sample"},
        ),
        symbols={**STORED, "d": "1 if it is dropped, else 0"},
    ),
]
