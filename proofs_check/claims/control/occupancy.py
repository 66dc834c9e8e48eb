r"""What a switch to Λ̄ in round t leaves in memory: `eq:nc-Nc`, `eq:nc-lb`, and the early rounds of the printed bound.

An index is off by one in the first; the second holds, its own slip being on the safe side; for t < K the printed
formula has no meaning, and the sum over the rounds really in memory takes its place.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.claim import Claim, Context, Correction, confirming
from proofs_check.engines.exact import admissions, exhaust, regions, retentions, search
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.control.inside_region import histories, placed, switched
from proofs_check.groundwork.control.repaired_penalty import (
    plain,
    totals_are_sums,
    totals_in_numbers,
    window_is_sum,
)
from proofs_check.simulator import simulate
from proofs_check.symbols import REGION, rate, rho, t
from proofs_check.text import said
from theory.region import (
    contraction,
    region_minimum,
    region_minimum_window,
)
from theory.setting import Region

k = sp.Symbol("k", integer=True, positive=True)
gone = sp.Symbol("s", integer=True, nonnegative=True)  # rounds that have left the memory, t = k+s
WINDOW = region_minimum_window(REGION, k, k + gone).replace(sp.exp, lambda x: rho ** (x / sp.log(rho))) + rate


def _occupancies(K: int, rounds: list[list[int]]) -> dict[str, int]:
    """n(t), n(t-1), Λ(t), Λ(t-K), and n^C(t), N^C(t) with the last round switched to 3; all simulated."""
    t, total = len(rounds), [sum(row) for row in rounds]
    real, other = simulate(rounds, K), simulate([*rounds[:-1], [3]], K)
    return {
        "n(t)": real[-1].n,
        "n(t-1)": real[-2].n if t > 1 else 0,
        "Λ(t)": total[-1],
        "Λ(t-K)": total[t - 1 - K] if t > K else 0,
        "N(t-1)": real[-2].N if t > 1 else 0,
        "n^C(t)": other[-1].n,
        "N^C(t)": other[-1].N,
    }


def _occupancy_search(context: Context, formula: Any) -> Evidence:
    def differs(K: int, rounds: list[list[int]]) -> Any:
        seen = _occupancies(K, rounds)
        value = formula(seen)
        return None if value == (seen["n^C(t)"], seen["N^C(t)"]) else {**seen, "formula": value}

    return search(
        context,
        {"K": retentions(5), "rounds": admissions(rounds=8, most=9)},
        differs,
        domain="sample-level simulation, any $K$ and admissions, the last round switched to "
        r"$\bar\Lambda=3$",
        examples=context.choose(60, 400),
    )


def occupancy_as_stated(context: Context) -> Evidence:
    return _occupancy_search(context, lambda s: (s["n(t)"] - s["Λ(t-K)"] + 3, s["N(t-1)"] + 3))


def occupancy_one_back(context: Context) -> Evidence:
    return _occupancy_search(context, lambda s: (s["n(t-1)"] - s["Λ(t-K)"] + 3, s["N(t-1)"] + 3))


def occupancy_same_round(context: Context) -> Evidence:
    return _occupancy_search(context, lambda s: (s["n(t)"] - s["Λ(t)"] + 3, s["N(t-1)"] + 3))


def occupancy_identity() -> Evidence:
    """With S(t) the admissions up to t: n(t) = S(t) - S(t-K), and Λ(t) = S(t) - S(t-1)."""
    now, before, dropped, older, rate = sp.symbols("S(t) S(t-1) S(t-K) S(t-K-1) rate", real=True)
    window = before - dropped + rate
    domain = "every K, t and admissions (S is 0 before round 1)"
    return together(
        equal(
            window,
            (before - older) - (dropped - older) + rate,
            domain=domain,
            what="$n^C$ and "
            r"$n(t-1)-\Lambda(t-K)+\bar\Lambda$",
        ),
        equal(
            window,
            (now - dropped) - (now - before) + rate,
            domain=domain,
            what="$n^C$ and "
            r"$n(t)-\Lambda(t)+\bar\Lambda$",
        ),
    )


def lower_end_grows() -> Evidence:
    """Λ_min(t+1) - Λ_min(t) = Λ̄ρ^t(1-ρ) > 0."""
    power = sp.Symbol("rho^t", positive=True)
    return together(
        equal(
            plain(region_minimum(REGION, t + 1) - region_minimum(REGION, t)),
            rate * power * (1 - rho),
            domain=r"every $t\ge0$, $\rho$",
            what=r"$\Lambda_{\min}(t+1)-\Lambda_{\min}(t)$ and $\bar\Lambda\rho^t(1-\rho)$",
        ),
        equal(region_minimum(REGION, sp.Integer(0)), 0, domain="$t=0$", what=r"$\Lambda_{\min}(0)$ and 0"),
        equal(
            region_minimum(REGION, sp.Integer(-3)),
            0,
            domain="$t<0$",
            what=r"$\Lambda_{\min}(-3)$ and "
            "0",
        ),
    )


def window_term() -> Evidence:
    """Each of the K-1 admissions j = t-K+1, …, t-1 is at least Λ_min(j) >= Λ_min(t-K); one more round, by induction."""
    held, least, admitted, count = sp.symbols("held least admitted count", nonnegative=True)
    return always(
        held + admitted >= (count + 1) * least + rate,
        given=[held >= count * least + rate, admitted >= least],
        domain="one more of the $K-1$ older admissions in memory, $t>K$; with none the memory holds "
        r"$\bar\Lambda$",
    )


def occupancy_bound_exact(context: Context) -> Evidence:
    """The printed lower bound on drawn histories."""

    def below(K: int, region: Region, positions: list[Fraction]) -> Any:
        past = placed(region, positions)
        t = len(past) + 1
        held, _ = switched(past, K, region.rate)
        bound = (K - 1) * region_minimum(region, t - K) + region.rate
        return None if held >= bound else {"t": t, "n^C": held, "bound": bound}

    return search(
        context,
        {"K": retentions(5), "region": regions(), "positions": histories()},
        below,
        domain=r"any admissions inside the region, every $t\ge1$, $\Lambda_{\min}=0$ before round 1",
        examples=context.choose(60, 400),
    )


def early_rounds_as_stated() -> Evidence:
    """Λ_min(t-K) = Λ̄(1-ρ^(t-K)) as printed, with its formula, for t < K."""

    def undefined(K: int, t: int, rho: Fraction) -> Any:
        occupancy = (K - 1) * contraction(Region(rate=1, rho=rho), t - K) + 1
        return None if occupancy > 0 else {"(K-1)Λ_min(t-K)+Λ̄, Λ̄ = 1": occupancy}

    points = [{"K": K, "t": t, "rho": Fraction(1, 2)} for K in (1, 2, 3) for t in (1, 2, 3)]
    return exhaust(points, undefined, domain=r"$\rho=1/2$, $K$ and $t$ up to 3; the reciprocal is taken")


def _least(K: int, t: int, region: Region) -> Any:
    return region_minimum_window(region, min(K, t), t) + region.rate


def early_rounds_exact(context: Context) -> Evidence:
    """n^C against theory's window on drawn histories, and equal to it on the history of all lower ends."""

    def beyond(K: int, region: Region, positions: list[Fraction]) -> Any:
        t = len(positions) + 1
        held, _ = switched(placed(region, positions), K, region.rate)
        lowest, _ = switched(placed(region, [Fraction(0)] * len(positions)), K, region.rate)
        bound = _least(K, t, region)
        return (
            None
            if held >= bound == lowest
            else {"t": t, "n^C": held, "bound": bound, "at lower ends": lowest}
        )

    return search(
        context,
        {"K": retentions(5), "region": regions(), "positions": histories()},
        beyond,
        domain=r"any admissions inside the region, every $t\ge1$; equality when every round is at its "
        "lower end",
        examples=context.choose(60, 400),
    )


def window_positive() -> Evidence:
    """Σ of lower ends, each at least 0, plus Λ̄ > 0."""
    lower, held = sp.symbols("lower held", real=True)
    return together(
        always(
            held + lower >= rate,
            given=[held >= rate, lower >= 0],
            domain=r"one more lower end; with none the memory holds $\bar\Lambda>0$",
        ),
        always(
            sp.Ge(plain(region_minimum(REGION, t)), 0, evaluate=False),
            given=[sp.Symbol("rho^t", positive=True) < 1],
            domain=r"every $t\ge1$, $0<\rho<1$",
        ),
    )


CLAIMS = [
    Claim(
        id="eq:nc-Nc",
        kind="equation",
        title=r"$n^C(t)=n(t)-\Lambda(t-K)+\bar\Lambda$",
        statement=r"Switching to $\bar\Lambda$ in round $t$ leaves $n(t)-\Lambda(t-K)+\bar\Lambda$ "
        r"samples in memory and $N(t-1)+\bar\Lambda$ seen.",
        formula=r"n^C(t)=n(t)-\Lambda(t-K)+\bar\Lambda,\quad N^C(t)=N(t-1)+\bar\Lambda",
        domain=r"every $K\ge1$, $t\ge1$ and admissions; $n(t)$ is taken after round $t$'s admission",
        checks=(occupancy_as_stated,),
        corrected=Correction(
            title=r"$n^C(t)=n(t-1)-\Lambda(t-K)+\bar\Lambda=n(t)-\Lambda(t)+\bar\Lambda$",
            statement=r"An index is off by one: $n^C(t)=n(t-1)-\Lambda(t-K)+\bar\Lambda$, or "
            r"$n(t)-\Lambda(t)+\bar\Lambda$. $N^C$ is right.",
            formula=r"n^C(t)=n(t-1)-\Lambda(t-K)+\bar\Lambda=n(t)-\Lambda(t)+\bar\Lambda",
            sketch=r"$n(t)$ is the sum of the last $K$ admissions. $\Lambda(t-K)$ is no part of it any "
            "more; taking it off again can even give a negative number, and eq:nc-lb would not follow.",
            checks=(occupancy_identity, confirming(occupancy_one_back), confirming(occupancy_same_round)),
        ),
    ),
    Claim(
        id="eq:nc-lb",
        kind="inequality",
        title=r"$n^C(t)\ge(K-1)\Lambda_{\min}(t-K)+\bar\Lambda$",
        statement=r"After the switch the memory holds at least $(K-1)\Lambda_{\min}(t-K)+\bar\Lambda$ "
        "samples. (The index could be one larger; the slip is on the safe side.)",
        formula=r"n^C(t)\ge(K-1)\Lambda_{\min}(t-K)+\bar\Lambda",
        domain=r"every $K\ge1$, $t\ge1$, admissions inside the region; $\Lambda_{\min}(s)=0$ for $s\le0$",
        symbols={"n^C": "samples in memory after the switch", "Λ_min": "lower end of the region"},
        checks={
            r"$\Lambda_{\min}$ grows": lower_end_grows,
            "sum": (window_term, confirming(occupancy_bound_exact)),
        },
    ),
    Claim(
        id="eq:pC-upper-explicit/early-rounds",
        kind="reading",
        title=r"the printed $\bar p^{\mathrm{CK}}$ makes sense in every round",
        statement="The printed upper bound on the comparison's penalty is defined from round 1 on, with "
        r"$\Lambda_{\min}(t-K)$ taken from its formula.",
        formula=r"(K-1)\Lambda_{\min}(t-K)+\bar\Lambda>0\quad\forall t\ge1",
        domain=r"every $K\ge1$, $t\ge1$, $0<\rho<1$",
        checks=(early_rounds_as_stated,),
        hypotheses=(r"$\Lambda_{\min}(s)=0$ for $s\le0$",),
        checks_with_hypotheses=(window_positive, confirming(occupancy_bound_exact)),
        corrected=Correction(
            title=r"$\sum_{j=t-K+1}^{t-1}\Lambda_{\min}(j)+\bar\Lambda$, over rounds $j\ge1$",
            statement=r"For $t<K$ the formula gives a negative $\Lambda_{\min}(t-K)$ and a denominator "
            "that can vanish. The sum of the lower ends over the rounds really in memory, plus "
            r"$\bar\Lambda$, is positive, and is the least that the switch can leave: always admitting "
            "the lower end attains it.",
            formula=said(
                r"n^C(t)\ge\sum_{j=t-k+1}^{t-1}\Lambda_{\min}(j)+\bar\Lambda=@n,\quad k=\min(K,t),\ s=t-k",
                n=WINDOW,
            ),
            symbols={
                "j": "a round",
                "s": "rounds that have left the memory",
                "n^C": "samples in memory after the switch",
                "Λ_min": "lower end of the region",
            },
            sketch="Every admission in memory is at least its round's lower end; nothing was admitted "
            "before round 1. Lower ends in every round are inside the region and make it an equality.",
            checks={
                "the sum": (window_is_sum, totals_are_sums, confirming(totals_in_numbers)),
                "positive": window_positive,
                "a bound, attained": (window_term, confirming(early_rounds_exact)),
            },
        ),
    ),
]
