r"""The online rule: a ceiling on its debt (`buy:online-debt`), and what it buys (`buy:online-rate`)."""

from proofs_check.prelude import *

from proofs_check.groundwork.market import loop
from proofs_check.groundwork.market.loop import with_maxima
from proofs_check.groundwork.market.market import ONLINE, B, C, S, V, high, low
from proofs_check.groundwork.market.rules import most_bought
from theory.market.online import debt_ceiling, frame_shortfall, overspending, rate_shortfall

worth, top = sp.symbols("w top", positive=True)
CEILING = debt_ceiling(V, worth, S, C, low, high)


@drawn(
    r"up to 12 whole prices up to 9 in any order, $S\le4$, $C\le8$, $V\le40$, $Z(1)\le20$; $w=1$ and "
    "$w(j)=j$",
    (150, 1500),
    prices=st.lists(st.integers(1, 9), min_size=1, max_size=12),
    places=st.integers(1, 4),
    budget=st.integers(1, 8),
    V=st.integers(1, 40),
    reserve=st.integers(0, 20),
    by_age=st.booleans(),
)
def drawn_paths(prices: list[int], places: int, budget: int, V: int, reserve: int, by_age: bool) -> Found:
    """The ceiling for the largest worth so far, and the mean cost, in whole numbers."""
    worth, path = loop.worth_of_age if by_age else loop.constant_worth, [[price] for price in prices]
    found = loop.play(path, places=places, budget=budget, V=V, debt=reserve, worth=worth)
    top = max(1, int(found.oldest.max())) if by_age else 1
    ceiling = max(reserve, debt_ceiling(V, top, places, budget, min(prices), max(prices)))
    T, debt, spent = len(prices), found.debt[:, 0].tolist(), int(found.spent.sum())
    true = max(debt) <= ceiling and spent <= T * (budget + overspending(debt[-1], reserve, T))
    return unless(true, debts=debt, ceiling=ceiling, spent=spent)


frame = sp.Symbol("F", integer=True, positive=True)


def _short_of(prices: Any, places: int, budget: int, V: int, reserve: int, frame: int) -> Any:
    """Distance of Σx above the stated bound on one path; negative where the bound fails."""
    T, path = len(prices), [[price] for price in prices]
    found = loop.play(path, places=places, budget=budget, V=V, debt=reserve, worth=loop.constant_worth)
    best = sum((most_bought(prices[i : i + frame], places, budget * frame) for i in range(0, T, frame)), F(0))
    drift = purchase_drift(places, budget, max(prices))
    return int(found.bought.sum()) - best + T * frame_shortfall(V, drift, frame, reserve, T)


def _paths(length: int) -> list[tuple[Any, int]]:
    """Every path of prices from 1, 3, 4, and its frame."""
    frames = ((2, 1), (length, 2), (3, 3))
    return [(path, size) for rounds, size in frames for path in product((1, 3, 4), repeat=rounds)]


@everywhere(
    "all paths of prices 1, 3, 4 up to 4 rounds; $S=2$; frames of 1, 2 and 3",
    path=by_profile(_paths(4), _paths(6)),
    budget=(1, 4),
    debt=((2, 0), (9, 5), (40, 3)),
)
def every_path(path: tuple[Any, int], budget: int, debt: tuple[int, int]) -> Found:
    """Debts and weights small and large."""
    spare = _short_of(path[0], 2, budget, *debt, path[1])
    return unless(spare >= 0, short=-spare)


CLAIMS = [
    Claim(
        id="buy:online-debt",
        title="online: a ceiling on debt, and so on mean cost",
        statement="Let a sample be replaced in round $t$ only if $Z(t)c(t)<Vw$, $w$ being the most that a "
        "sample is ever worth, and prices lie in $[c_{-},c_{+}]$. A debt that begins below the ceiling never "
        "exceeds it, and the mean cost of $T$ rounds exceeds $C$ by $(Z(T+1)-Z(1))/T$ at most: on every "
        "path, whatever the prices, independent, Markov or drifting.",
        formula=said(
            r"Z(t)\le @ceiling,\qquad\frac1T\sum_{t\le T}c(t)x(t)\le C+@over",
            ceiling=with_maxima(CEILING),
            over=overspending(sp.Symbol("Z_T+1"), sp.Symbol("Z_1"), T),
        ),
        domain="every $S$, $C$, $V$, $w$, every prices in $[c_{-},c_{+}]$ in any order",
        sketch=r"If something is bought, $Z<Vw/c$, so $Z'\le Vw/c+cS-C$ or 0, which is convex in $c$ and so "
        r"largest at $c_{-}$ or $c_{+}$. If nothing is bought $Z'\le Z$. By induction no debt is above the "
        r"larger of the two, once it is below. The positive part never lowers a debt: $Z'\ge Z+cx-C$. Added "
        r"over $T$ rounds, $\sum cx\le CT+Z(T+1)-Z(1)$.",
        checks={
            "the ceiling": (
                theorem("Buying.debt_never_exceeds_the_ceiling", domain="any prices in the interval"),
                confirming(drawn_paths),
            ),
            "mean cost": theorem("Buying.mean_cost_within_the_debt", domain="any prices, on every path"),
        },
        symbols={**ONLINE, "w": "the largest worth of a sample", "Z_T+1": "the debt in the end"},
    ),
    Claim(
        id="buy:online-rate",
        title="online: within $B/V$ of what money buys",
        statement="Let all $S$ samples be replaced where $Z(t)c(t)<V$ and none elsewhere ($w=1$), prices "
        "being unknown. For independent prices of one law the expected rate over $T$ rounds is at least the "
        "most that money buys (buy:limit) less $B/V+Z(1)^2/(2VT)$. For prices in any order, Markov and "
        "drifting ones included, on every path: at least the mean over frames of $F$ rounds of what $CF$ "
        "buys at best within a frame, clairvoyant, less $FB/V$ and $Z(1)^2/(2VT)$, $T$ being a multiple of "
        "$F$.",
        formula=said(
            r"\frac1T\sum_{t\le T}\mathbb E[x(t)]\ge R-\Bigl(@short\Bigr),\qquad B=@B",
            short=rate_shortfall(V, B, sp.Symbol("Z_1"), T),
            B=with_maxima(purchase_drift(S, C, sp.Symbol("c_+"))),
        ),
        domain="every $S$, $C$, $V$, $Z(1)$, $T$; prices of at most $c_{+}$",
        sketch=r"From $Z'=[Z+cx-C]^{+}$: $\tfrac12Z'^2-\tfrac12Z^2\le B+Z(cx-C)$, as $(cx-C)^2\le2B$. The "
        r"rule minimises $Zcx-Vx$ over $x$ in $[0,S]$, so $\tfrac12Z'^2-\tfrac12Z^2-Vx\le B+Z(cy-C)-Vy$ for "
        "every $y$ in $[0,S]$. Independent prices: let $y$ be what the knapsack's threshold buys at the "
        r"price $c$, $\mathbb E[y]=R$ and $\mathbb E[cy]\le C$; $Z$ knows only earlier prices, so in the "
        r"mean the left side is at most $B-VR$. Added over $T$ rounds, with $\tfrac12Z(T+1)^2\ge0$, and "
        r"divided by $VT$. Any prices: let $y$ be the best purchases of a frame with $\sum cy\le CF$, and "
        r"$Z_0$ the debt at its start. Each debt moves by $\delta=\sqrt{2B}$ per round at most, so "
        r"$\sum Z(cy-C)\le Z_0\sum(cy-C)+\sum k\delta^2$ over $k=0,\ldots,F-1$, the first sum not positive "
        "and the second $F(F-1)B$; with $FB$ from the rounds themselves $F^2B$ a frame, and over $T/F$ "
        "frames $FB/V$ per round.",
        checks={
            "independent prices": theorem(
                "Buying.online_rate_independent_prices", domain="any law of prices of at most $c_{+}$"
            ),
            "any prices": (
                theorem("Buying.online_rate_any_prices", domain="any prices of at most $c_{+}$, every path"),
                confirming(every_path),
            ),
        },
        symbols={**ONLINE, "F": "rounds in a frame"},
    ),
]
