r"""Paying what a place has saved (`buy:savings`): a budget on every path, and K-step retention at constant prices."""

from math import ceil

from proofs_check.prelude import *

from proofs_check.groundwork.market.loop import play
from proofs_check.groundwork.market.market import ONLINE, C, S, Z, c, high, j
from theory.market.online import buys, reserve_weight, savings_ceiling, savings_price

age, reserve = sp.symbols("A Z_1", positive=True)

WEIGHT, CEILING = reserve_weight(reserve, S, C), savings_ceiling(reserve, S, C, high)


def savings(rounds: Any) -> Any:
    return savings_price(rounds, S, C)


def at_the_reserve() -> Evidence:
    """At V = Z(1)C/S and w(j) = j a debt Z(1) buys below what a place has saved; a larger debt, less."""
    same = sp.Equivalent(buys(reserve, c, WEIGHT, age), c < savings(age))
    return argument(
        (same, [], "every price, age and reserve"),
        (c < savings(age), [reserve <= Z, buys(Z, c, WEIGHT, age)], "a debt of the reserve at least"),
    )


@drawn(
    r"up to 14 whole prices up to 12 in any order, $S\le4$, $C/S\le4$, $Z(1)$ up to $6C$",
    (150, 1500),
    prices=st.lists(st.integers(1, 12), min_size=2, max_size=14),
    places=st.integers(1, 4),
    share=st.integers(1, 4),
    rounds=st.integers(1, 6),
)
def drawn_paths(prices: list[int], places: int, share: int, rounds: int) -> Found:
    """Debt, savings and money spent in whole numbers, opening included. C = S·share, Z(1) = C·rounds."""
    budget, top = places * share, max(prices)
    reserve = budget * rounds
    V, first = int(reserve_weight(reserve, places, budget)), max(reserve + prices[0] * places - budget, 0)
    found = play([[p] for p in prices[1:]], places=places, budget=budget, V=V, debt=first)
    debts, ages = found.debt[:, 0].tolist(), [places, *found.ages[:, 0].tolist()]
    ceiling = savings_ceiling(reserve, places, budget, top)
    both = max(debt + share * total for debt, total in zip(debts, ages, strict=True))
    spent = prices[0] * places + int(found.spent.sum())
    within = spent <= budget * (len(prices) - 1) + top * places
    true = max(debts) <= ceiling and both <= ceiling + budget and within
    return unless(true, debts=debts, ceiling=ceiling, with_savings=both, spent=spent)


def constant_prices() -> Evidence:
    """c <= jC/S from j = K = ⌈cS/C⌉ on; ages 1..K are as frequent: the effective rate S/K."""
    paid = sp.Equivalent(c <= savings(j), j >= K)
    return argument(
        (paid, [c * S > C * (K - 1), c * S <= C * K], r"every price, $j$ and $K$ with $K-1<cS/C\le K$"),
        (effective_rate(S, (K + 1) / sp.Integer(2)), S / K, "the effective rate and $S/K$", "every $K$"),
    )


@everywhere("places that began one after the other", price=(1, 2, 5), places=(2, 4, 6), budget=(2, 3, 5))
def played_at_constant_prices(price: int, places: int, budget: int) -> Found:
    """Sample by sample: each is used K times, and what came in equal parts of S/K leaves in them."""
    kept = ceil(F(price * places, budget))
    ages, admitted = [1 + i % kept for i in range(places)], [[places]]
    for _ in range(3 * kept):
        taken = [price <= savings_price(one, places, budget) for one in ages]
        ages = [1 if take else one + 1 for one, take in zip(ages, taken, strict=True)]
        admitted.append([sum(taken)])
    last = simulate_by_capacity(admitted, [places])[-1]
    gone = [count for sample, count in last.uses.items() if sample not in last.memory]
    later = set(gone[places:])  # those of the first round had ages of their own
    even = bool(places % kept) or all(row == [places // kept] for row in admitted[1:])
    return unless(later <= {kept} and even, uses=sorted(later), kept=kept, admitted=admitted)


CLAIMS = [
    Claim(
        id="buy:savings",
        title="pay what a place has saved: a budget on every path",
        statement="Let a place save $C/S$ per round, and a sample used $j$ times be replaced only at prices "
        "up to the savings $jC/S$: $T$ rounds after the opening cost $CT$ at most besides it, whatever the "
        r"prices. At a constant price $c$ that is $K$-step retention with $K=\lceil cS/C\rceil$, at the "
        "effective rate $S/K$, which is constant admission's $C/c$ where $cS/C$ is whole. The online rule "
        "with $w(j)=j$ and $V=Z(1)C/S$ is this rule at the debt $Z(1)$, pays less above it and more below. "
        r"If round 1 fills the memory and $Z(1)\ge C$, its debt never exceeds $Z(1)+c_{+}S-C$, for every "
        "reserve $Z(1)$, so that $T$ rounds cost $C(T-1)+c_{+}S$ at most: the budget, and one full memory at "
        "the highest price.",
        formula=said(
            r"Z(t)+\frac CS\sum_iA_i(t)\le Z(1)+c_+S,\qquad Z(t)\le @Z,\qquad V=@V", Z=CEILING, V=WEIGHT
        ),
        domain=r"every $S$, $C$, $Z(1)\ge C$ and every prices of at most $c_{+}$ in any order, on every path",
        sketch="A place whose sample has age $A$ has paid $P$ with $P+(C/S)A$ at most its opening plus "
        "$(C/S)t$: a round adds $C/S$ to both sides if the sample is kept, and a purchase moves what is paid "
        r"from the savings to $P$. At a constant price the first $j$ with $jC/S\ge c$ is $K$, so ages run "
        r"$1,\ldots,K$, with mean $(K+1)/2$. Online, let $W=(C/S)\sum A$ be all savings. Above the reserve "
        r"$Zc<Z(1)AC/S$ means $c<AC/S$: with $x$ replaced, who had saved $U\ge cx$, $W'=W+C-U$ and "
        r"$Z'=Z+cx-C$ (no positive part, as $Z\ge C$), so $Z'+W'\le Z+W$. Below it, who is kept has "
        r"$Zc\ge Z(1)AC/S$, so $AC/S\le c$: $W'\le(S-x)c+C$, and $Z'\le Z+cx-C$ or 0, so $Z'+W'\le Z(1)+cS$, "
        r"or $(S-x)c+C\le c_{+}S+Z(1)$. The opening leaves $Z(1)+cS-C$ and savings of $C$. By induction "
        r"$Z+W\le Z(1)+c_{+}S$ ever after, $W\ge C$ since no age is below 1, and the money spent is at most "
        "$CT+Z(T+1)-Z(1)$.",
        checks={
            "a place's account": theorem("Buying.a_place_stays_within", domain="any prices, on every path"),
            "at the reserve": at_the_reserve,
            "the debt": (
                theorem("Buying.debt_within_savings", domain="any prices, on every path"),
                confirming(drawn_paths),
            ),
            "the money": theorem("Buying.money_within_savings", domain="any prices, on every path"),
            "constant prices": (constant_prices, confirming(played_at_constant_prices)),
        },
        symbols=ONLINE,
    )
]
