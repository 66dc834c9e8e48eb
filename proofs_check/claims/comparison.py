r"""The comparison with constant admission: switch to Λ̄ for one round, whatever was admitted before.

`eq:nc-Nc` and `eq:nc-lb` (what the switch leaves in memory), `lem:dpp-T-slot-upper/monotone` (which way the
penalty moves), and `eq:pC-upper-explicit` (the printed upper bound on the penalty after the switch).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import Claim, Context, Correction
from proofs_check.claims.orders import SYMBOLS, UNIT
from proofs_check.engines.enclosure import compare
from proofs_check.engines.exact import admissions, exhaust, regions, retentions, search
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.simulator import simulate
from theory.algebra import ball, log, ratio
from theory.bound import generalisation_term, linear_term, root_term
from theory.penalty import penalty, penalty_comparison, penalty_comparison_as_stated
from theory.region import region_maximum, region_minimum
from theory.setting import Constants, Region

__all__ = ["COMPARISON", "histories", "repaired_gap", "repaired_generalisation", "switched"]

n, N, r, a, x, y = sp.symbols("n N r a x y", positive=True)

# Small constants with a light generalisation term, so that examples are easy to check by hand
LIGHT = Constants(D=1, sigma=1, eta=1, B=Fraction(1, 10), Pdim=4)
LIGHTER = Constants(D=1, sigma=1, eta=1, B=Fraction(1, 100), Pdim=4)


def histories(rounds: int = 10) -> st.SearchStrategy[list[Fraction]]:
    """Where in the region each past round admitted: 0 at its lower end, 1 at its upper end."""
    return st.lists(
        st.one_of(st.sampled_from([Fraction(0), Fraction(1)]), st.fractions(0, 1, max_denominator=8)),
        max_size=rounds,
    )


def placed(region: Region, positions: Sequence[Fraction]) -> list[Fraction]:
    """The admissions at these positions."""
    ends = [(region_minimum(region, t), region_maximum(region, t)) for t in range(1, len(positions) + 1)]
    return [low + (high - low) * position for (low, high), position in zip(ends, positions, strict=True)]


def switched(past: Sequence[Any], K: int, rate: Any) -> tuple[Any, Any]:
    """n^C and N^C: what is in memory, and was ever admitted, when the round after `past` admits `rate`."""
    held = past[len(past) - min(K - 1, len(past)) :]
    return sum(held) + rate, sum(past) + rate


# --- eq:nc-Nc, eq:nc-lb ------------------------------------------------------------------------------------


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
        domain="sample-level simulation, any K and admissions, the last round switched to Λ̄ = 3",
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
            window, (before - older) - (dropped - older) + rate, domain=domain, what="n^C and n(t-1)-Λ(t-K)+Λ̄"
        ),
        equal(window, (now - dropped) - (now - before) + rate, domain=domain, what="n^C and n(t)-Λ(t)+Λ̄"),
    )


def lower_end_grows() -> Evidence:
    rate, decay, t = sp.symbols("rate decay t", positive=True)
    region = Region(rate=rate, rho=sp.exp(-decay))
    return equal(
        region_minimum(region, t + 1) - region_minimum(region, t),
        rate * sp.exp(-decay * t) * (1 - sp.exp(-decay)),
        domain="every t >= 1, ρ = exp(-decay); the right side is positive",
        what="Λ_min(t+1)-Λ_min(t) and Λ̄ρ^t(1-ρ)",
    )


def window_term() -> Evidence:
    """Each of the K-1 admissions j = t-K+1, …, t-1 is at least Λ_min(j) >= Λ_min(t-K), with ρ^j = x·y, x = ρ^(t-K)."""
    rate, admitted = sp.symbols("rate admitted", positive=True)
    return always(
        admitted >= rate * (1 - x),
        given=[admitted >= rate * (1 - x * y), x <= 1, y <= 1],
        domain="one of the K-1 older admissions in memory, t > K; summed over them",
    )


def occupancy_bound_exact(context: Context) -> Evidence:
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
        domain="any admissions inside the region, every t >= 1, Λ_min = 0 before round 1",
        examples=context.choose(60, 400),
    )


def early_rounds_as_stated() -> Evidence:
    """Λ_min(t-K) = Λ̄(1-ρ^(t-K)) as printed, with its formula, for t < K."""

    def undefined(K: int, t: int, rho: Fraction) -> Any:
        occupancy = (K - 1) * (1 - rho ** (t - K)) + 1
        return None if occupancy > 0 else {"(K-1)Λ_min(t-K)+Λ̄, Λ̄ = 1": occupancy}

    points = [{"K": K, "t": t, "rho": Fraction(1, 2)} for K in (1, 2, 3) for t in (1, 2, 3)]
    return exhaust(points, undefined, domain="ρ = 1/2, K and t up to 3; the reciprocal is taken")


def early_rounds_exact(context: Context) -> Evidence:
    def beyond(K: int, region: Region, positions: list[Fraction]) -> Any:
        past = placed(region, positions)
        held, seen = switched(past, K, region.rate)
        true, bound = ratio(1, held) - ratio(1, seen), repaired_gap(K, len(past) + 1, region)
        return None if 0 <= true <= bound else {"t": len(past) + 1, "1/n-1/N": true, "repaired": bound}

    return search(
        context,
        {"K": retentions(5), "region": regions(), "positions": histories()},
        beyond,
        domain="any admissions inside the region, every t >= 1: 0 <= 1/n^C - 1/N^C <= its repaired bound",
        examples=context.choose(60, 400),
    )


def repaired_gap(K: int, t: int, region: Region) -> Any:
    """1/n - 1/N inside the repaired comparison: its linear term, with η = σ = 1."""
    return penalty_comparison(K, t, region, UNIT).linear


# --- which way the penalty moves ---------------------------------------------------------------------------


def grows_in_distinct() -> Evidence:
    """Full memory of ten thousand, then one sample more is seen: the root of 1/n - 1/N leaves 0 with infinite slope."""
    numbers = UNIT.map(ball)
    return compare(
        lambda p: penalty(ball(p["n"]), ball(p["N"] + 1), numbers),
        "<=",
        lambda p: penalty(ball(p["n"]), ball(p["N"]), numbers),
        [{"n": 10**4, "N": 10**4, "D": 1, "sigma": 1, "eta": 1, "B": 1, "Pdim": 5}],
        domain="p(n, N+1) <= p(n, N) at n = N = 10000, all constants 1, Pdim 5",
    )


def exceeds_as_stated() -> Evidence:
    """One past round, inside the region, after which the penalty of the switch is above the printed bound."""

    def exceeds(K: int, rho: Fraction, first: Fraction) -> Any:
        region = Region(rate=1, rho=rho)
        if not region_minimum(region, 1) <= first <= region_maximum(region, 1):
            raise ValueError("the example is outside the region")
        held, seen = switched([first], K, 1)
        true = sp.sympify(penalty(held, seen, LIGHT))
        printed = sp.sympify(penalty_comparison_as_stated(K, 2, region, LIGHT).total)
        if sp.N(true - printed, 30) <= 0:
            return None
        decimals = {name: str(sp.N(value, 8)) for name, value in (("p^CK", true), ("p̄^CK", printed))}
        return {
            "t": 2,
            "n^C": held,
            "N^C": seen,
            "p^CK": true,
            "printed p̄^CK": printed,
            "in decimals": decimals,
        }

    return exhaust(
        [{"K": 1, "rho": Fraction(2, 3), "first": Fraction(16, 9)}],
        exceeds,
        domain="Λ̄ = 1; D = σ = η = 1, B = 1/10, Pdim = 4; Λ(1) = 16/9 lies in [1/3, 3]",
    )


def exceeds_with_reuse() -> Evidence:
    """The same with K = 2: round 1 at its upper end, round 2 at its lower end."""
    region = Region(rate=1, rho=Fraction(1, 2))
    past = [region_maximum(region, 1), region_minimum(region, 2)]
    held, seen = (ball(v) for v in switched(past, 2, 1))
    numbers, balls = LIGHTER.map(ball), region.map(ball)
    return compare(
        lambda p: penalty(held, seen, numbers),
        "<=",
        lambda p: penalty_comparison_as_stated(2, 3, balls, numbers).total,
        [{"K": 2, "t": 3, "rho": "1/2", "Λ(1)": "2", "Λ(2)": "3/4", "n^C": "7/4", "N^C": "15/4"}],
        domain="Λ̄ = 1; D = σ = η = 1, B = 1/100, Pdim = 4",
    )


def falls_in_memory() -> Evidence:
    more = sp.Symbol("more", positive=True)
    return always(1 / (n + more) - 1 / N < 1 / n - 1 / N, domain="every n and N: both first terms fall in n")


def falls_in_admission() -> Evidence:
    """n = r+Λ and N = r+a+Λ: what the policy chooses moves both."""
    first, second = sp.symbols("first second", positive=True)

    def gap(admitted: Any) -> Any:
        return 1 / (r + admitted) - 1 / (r + a + admitted)

    return always(
        gap(second) < gap(first),
        given=[second > first],
        domain="every r, a > 0 and Λ: the first two terms fall",
    )


def repaired_generalisation() -> Evidence:
    """The third term falls in N: on N = Pdim(1+w) its slope in N is not positive, on N = Pdim/(1+w) it grows in w."""
    symbols, w = SYMBOLS, sp.Symbol("w", positive=True)
    more, fewer = symbols.Pdim * (1 + w), symbols.Pdim / (1 + w)
    L = log(1 + w)
    return together(
        equal(
            -sp.diff(generalisation_term(1 / more, more, symbols), w),
            5 * symbols.B * L / ((1 + w) * sp.sqrt((1 + w) * (1 + L))),
            domain="every N > Pdim, L = log(N/Pdim) > 0",
            what="the third term's negative slope and a positive number",
        ),
        equal(
            generalisation_term(1 / fewer, fewer, symbols),
            10 * symbols.B * sp.sqrt(1 + w),
            domain="every N < Pdim, 1+w = Pdim/N",
            what="the third term and 10B√(Pdim/N)",
        ),
    )


def repaired_difference() -> Evidence:
    fewer, more = sp.symbols("fewer more", positive=True)
    return always(
        1 / n - 1 / N <= 1 / fewer - 1 / more,
        given=[n >= fewer, more >= N],
        domain="every n >= its lower and N <= its upper end: the first two terms",
    )


def slope_in_distinct() -> Evidence:
    """N²·dp/dN for N >= Pdim: a part that falls in N (through 1/n - 1/N) less one that grows in N."""
    symbols, w = SYMBOLS, sp.Symbol("w", positive=True)
    D, sigma, eta, B, P = symbols.D, symbols.sigma, symbols.eta, symbols.B, symbols.Pdim
    gap, seen, L = sp.Symbol("gap", positive=True), P * (1 + w), log(1 + w)
    falling = sp.diff(root_term(gap, symbols) + linear_term(gap, symbols), gap)
    growing = -(seen**2) / P * sp.diff(generalisation_term(1 / seen, seen, symbols), w)
    return together(
        equal(falling, D * sigma / (2 * sp.sqrt(gap)) + eta * sigma**2, domain="every gap 1/n - 1/N > 0"),
        equal(
            growing, 5 * B * sp.sqrt(P * seen) * L / sp.sqrt(1 + L), domain="every N > Pdim, L = log(N/Pdim)"
        ),
    )


def turning_point(context: Context) -> Evidence:
    """With all constants 1 and Pdim 5, on both sides of N₀; for n = 10000 it lies between 10002 and 10004."""
    numbers = UNIT.map(ball)
    starts = {10: 11, 10**2: 101, 10**4: 10**4 + 3}
    steps = context.choose((1, 10, 10**6), (1, 2, 10, 10**3, 10**6, 10**9))
    return compare(
        lambda p: penalty(ball(p["n"]), ball(p["N"] + p["step"]), numbers),
        "<",
        lambda p: penalty(ball(p["n"]), ball(p["N"]), numbers),
        [{"n": m, "N": first, "step": step} for m, first in starts.items() for step in steps],
        domain="all constants 1, Pdim 5: falling from N = 11, 101, 10003 on for n = 10, 100, 10000",
    )


COMPARISON = [
    Claim(
        id="eq:nc-Nc",
        kind="equation",
        title="n^C(t) = n(t) - Λ(t-K) + Λ̄",
        statement="Switching to Λ̄ in round t leaves n(t) - Λ(t-K) + Λ̄ samples in memory and N(t-1) + Λ̄ seen.",
        latex=r"n^C(t)=n(t)-\Lambda(t-K)+\bar\Lambda,\quad N^C(t)=N(t-1)+\bar\Lambda",
        unicode="n^C(t) = n(t) - Λ(t-K) + Λ̄, N^C(t) = N(t-1) + Λ̄",
        domain="every K >= 1, t >= 1 and admissions; n(t) is taken after round t's admission",
        checks=(occupancy_as_stated,),
        corrected=Correction(
            title="n^C(t) = n(t-1) - Λ(t-K) + Λ̄ = n(t) - Λ(t) + Λ̄",
            statement="An index is off by one: n^C(t) = n(t-1) - Λ(t-K) + Λ̄, or n(t) - Λ(t) + Λ̄. N^C is right.",
            latex=r"n^C(t)=n(t-1)-\Lambda(t-K)+\bar\Lambda=n(t)-\Lambda(t)+\bar\Lambda",
            unicode="n^C(t) = n(t-1) - Λ(t-K) + Λ̄ = n(t) - Λ(t) + Λ̄",
            sketch="n(t) is the sum of the last K admissions. Λ(t-K) is no part of it any more; taking it "
            "off again can even give a negative number, and eq:nc-lb would not follow.",
            checks=(occupancy_identity, occupancy_one_back, occupancy_same_round),
        ),
    ),
    Claim(
        id="eq:nc-lb",
        kind="inequality",
        title="n^C(t) >= (K-1)Λ_min(t-K) + Λ̄",
        statement="After the switch the memory holds at least (K-1)Λ_min(t-K) + Λ̄ samples. (The index "
        "could be one larger; the slip is on the safe side.)",
        latex=r"n^C(t)\ge(K-1)\Lambda_{\min}(t-K)+\bar\Lambda",
        unicode="n^C(t) ≥ (K-1)Λ_min(t-K) + Λ̄",
        domain="every K >= 1, t >= 1, admissions inside the region; Λ_min(s) = 0 for s <= 0",
        checks=(lower_end_grows, window_term, occupancy_bound_exact),
    ),
    Claim(
        id="eq:pC-upper-explicit/early-rounds",
        kind="reading",
        title="the printed p̄^CK makes sense in every round",
        statement="The printed upper bound on the comparison's penalty is defined from round 1 on, with "
        "Λ_min(t-K) taken from its formula.",
        latex=r"(K-1)\Lambda_{\min}(t-K)+\bar\Lambda>0\quad\forall t\ge1",
        unicode="(K-1)Λ_min(t-K) + Λ̄ > 0 for all t ≥ 1",
        domain="every K >= 1, t >= 1, 0 < ρ < 1",
        checks=(early_rounds_as_stated,),
        hypotheses=("Λ_min(s) = 0 for s <= 0",),
        checks_with_hypotheses=(occupancy_bound_exact,),
        corrected=Correction(
            title="Σ_{j=t-K+1}^{t-1} Λ_min(j) + Λ̄, over rounds j >= 1",
            statement="For t < K the formula gives a negative Λ_min(t-K) and a denominator that can vanish. "
            "The sum of the lower ends over the rounds really in memory, plus Λ̄, is positive, is attained, "
            "and is the sharp bound.",
            latex=r"n^C(t)\ge\sum_{j=\max(t-K+1,1)}^{t-1}\Lambda_{\min}(j)+\bar\Lambda",
            unicode="n^C(t) ≥ Σ_{j=max(t-K+1,1)}^{t-1} Λ_min(j) + Λ̄",
            sketch="Every admission in memory is at least its round's lower end; nothing was admitted "
            "before round 1.",
            checks=(repaired_difference, early_rounds_exact),
        ),
    ),
    Claim(
        id="lem:dpp-T-slot-upper/monotone",
        kind="step",
        title="p falls in n and in N, so p^CK <= p̄^CK",
        statement="The penalty decreases in the memory n and in the number N of distinct samples; so lower "
        "bounds on both, put into it, bound the penalty after the switch from above.",
        latex=r"p\searrow\text{ in }n,N\ \Rightarrow\ p^{CK}(t)\le\bar p^{CK}(t)",
        unicode="p falls in n and N ⇒ p^CK(t) ≤ p̄^CK(t)",
        domain="every n <= N, every policy inside the region, t >= 1",
        checks=(exceeds_as_stated, exceeds_with_reuse, grows_in_distinct),
        corrected=Correction(
            title="p falls in n and in Λ; in N only beyond some N₀ > n; p̄^CK needs Λ_max in 1/n - 1/N",
            statement="p falls in n, and in Λ, which moves n and N together. In N alone its first two terms "
            "grow, with infinite slope at N = n, and the third falls: from Pdim on p rises up to one N₀ and "
            "falls beyond. Put the smallest n and the largest N into 1/n - 1/N, and the smallest N into the "
            "third term: that is an upper bound on p^CK.",
            latex=r"p^{CK}\le D\sigma\sqrt{\tfrac1{\underline n}-\tfrac1{\overline N}}+\eta\sigma^2("
            r"\tfrac1{\underline n}"
            r"-\tfrac1{\overline N})+10B\,g(\underline N)",
            unicode="p^CK ≤ Dσ√(1/n_min - 1/N_max) + ησ²(1/n_min - 1/N_max) + 10B·g(N_min)",
            sketch="1/n - 1/N falls in n and grows in N. g(N) = √(Pdim/N)·√(1+log⁺(N/Pdim)) falls, because "
            "(1+log x)/x has slope -log(x)/x² <= 0. N²·dp/dN is Dσ/(2√(1/n-1/N)) + ησ², falling in N, less "
            "5B√(Pdim·N)·L/√(1+L), growing: one change of sign for N >= Pdim.",
            checks=(
                lambda: falls_in_memory().about("in n"),
                lambda: falls_in_admission().about("in Λ"),
                lambda: repaired_difference().about("repaired bound, first terms"),
                lambda context: early_rounds_exact(context).about("repaired bound, first terms"),
                lambda: repaired_generalisation().about("repaired bound, third term"),
                lambda: slope_in_distinct().about("beyond N₀"),
                lambda context: turning_point(context).about("beyond N₀"),
            ),
        ),
    ),
]
