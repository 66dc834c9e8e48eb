r"""The cost-debt queue: its drift, its start, what it says about the cost, and what independence is needed for."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import Claim, Context, Correction
from proofs_check.claims.orders import diverges, tight_regions
from proofs_check.engines.enclosure import compare
from proofs_check.engines.exact import exhaust, fractions, regions, search
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from theory.admission import debt_update
from theory.algebra import ball
from theory.region import region_maximum, region_minimum
from theory.regret import drift_constant
from theory.setting import Region
from theory.summation import total_ball

__all__ = ["DRIFT"]

Z, c, Lambda, rate, s = sp.symbols("Z c Lambda rate s", nonnegative=True)
C, V = sp.symbols("C V", positive=True)


# --- eq:dpp-upper-1 ----------------------------------------------------------------------------------------


def drift_in_rho() -> Evidence:
    """Round 1, costs equal to C/Λ̄: no debt, so J is V·p, and the drift is all that B has to cover."""
    h = sp.Symbol("h", positive=True)  # 1/(1-ρ)
    first = region_maximum(Region(rate=rate, rho=1 - 1 / h), 1)
    debt = debt_update(0, C / rate, first, C)
    return diverges(
        debt**2 / 2,
        h,
        what="the drift of round 1, a lower bound on B,",
        domain="costs constant, c = C/Λ̄; ρ = 1 - 1/h, h → ∞",
        **{"admitted in round 1": first, "Z(2)": debt},
    )


def drift_heavy_tail() -> Evidence:
    """P(c = 4^j) = (7/8)·8^-j: the mean is 7/4, the second moment infinite."""
    j, n = sp.symbols("j n", integer=True, positive=True)
    chance = sp.Rational(7, 8) * sp.Integer(8) ** -j
    mean, square = (
        sp.Rational(7, 8) + sp.summation(sp.powsimp(4 ** (power * j) * chance), (j, 1, n)) for power in (1, 2)
    )
    return diverges(
        square,
        n,
        what="E[c²], and with it the drift,",
        domain="i.i.d. costs c = 4^j with probability (7/8)·8^-j, j = 0, 1, …, cut at j = n; any ρ",
        **{"E[c] up to n": mean, "E[c] in the limit": sp.limit(mean, n, sp.oo)},
    )


def drift_inequality() -> Evidence:
    change = c * Lambda - C
    bound = (c**2 * Lambda**2 + C**2) / 2 + Z * change
    domain = "every Z, c, Λ >= 0 and C > 0"
    return together(
        always((Z + change) ** 2 / 2 - Z**2 / 2 <= bound, given=[Z + change >= 0], domain=domain),
        always(bound >= -(Z**2) / 2, given=[Z + change < 0], domain=domain),
    )


def _inside(region: Region, t: int, position: Fraction) -> Fraction:
    low, high = region_minimum(region, t), region_maximum(region, t)
    return Fraction(low + (high - low) * position)


def drift_exact(context: Context) -> Evidence:
    def exceeds(
        region: Region, t: int, position: Fraction, debt: Fraction, cost: Fraction, budget: Fraction
    ) -> Any:
        admitted = _inside(region, t, position)
        after = debt_update(debt, cost, admitted, budget)
        drift = (after**2 - debt**2) / 2
        bound = drift_constant(region, t, cost * cost, budget) + debt * (cost * admitted - budget)
        return None if drift <= bound else {"drift": drift, "bound": bound}

    positions = st.fractions(0, 1, max_denominator=8)
    drawn = {"region": regions(), "t": st.integers(1, 12), "position": positions, "debt": fractions(0, 50)}
    return search(
        context,
        {**drawn, "cost": fractions(0), "budget": fractions()},
        exceeds,
        domain="any admission inside the region, any debt and cost",
        examples=context.choose(60, 400),
    )


def _excess(p: Any, T: int) -> Any:
    """(1-ρ)² times what ΣB_t exceeds its value at Λ_max = Λ̄ by, with E[c²] = 1, Λ̄ = 10 and C = 55."""
    region = p["region"].map(ball)
    total = total_ball(lambda t: drift_constant(region, t, ball(1), ball(55)), T, (1,))
    return (total - T * drift_constant(region, 10**40, ball(1), ball(55))) * (1 - region.rho) ** 2


def drift_sum(context: Context) -> Evidence:
    """ΣB_t against its bound; the second summand, π²/6·E[c²]Λ̄²/(1-ρ)², is 100·π²/6 in these units."""
    horizons = context.choose((10**3, 10**15), (10, 10**3, 10**6, 10**9, 10**12, 10**15))
    grid = [{**p, "T": T} for p in tight_regions(context.choose((1, 3, 6), range(1, 7))) for T in horizons]
    return compare(
        lambda p: _excess(p, p["T"]),
        "<=",
        lambda p: 100 * ball(1).pi() ** 2 / 6,
        grid,
        domain="E[c²] = 1, Λ̄ = 10, C = 55; both sides times (1-ρ)²",
    )


def drift_order() -> Evidence:
    """The leading constant: Σ_t (1/(1-ρ^t)² - 1) is ζ(2)/(1-ρ)², so the excess tends to 100·ζ(2)/2."""
    grid = tight_regions((4, 5, 6))
    zeta = 100 * ball(1).pi() ** 2 / 12
    return compare(
        lambda p: abs(_excess(p, 10**15) - zeta),
        "<=",
        lambda p: zeta * 20 * (1 - p["region"].map(ball).rho),
        [{**p, "T": 10**15} for p in grid],
        domain="E[c²] = 1, Λ̄ = 10, C = 55, T = 10^15: within 20(1-ρ) of 100·π²/12, relatively",
    )


def drift_summand() -> Evidence:
    """(1-ρ)²(1/(1-x)² - 1) <= 2/t² for x = ρ^t: with g = (1-x)/(1-ρ) = Σ_{j<t} ρ^j, r² = ρ^(t-1), g >= t·r."""
    g, r, t, rho, u, v = sp.symbols("g r t rho u v", positive=True)
    x = rho * r**2
    return together(
        always(
            x * (2 - x) / g**2 <= 2 / t**2,
            given=[g >= t * r, rho < 1, r <= 1],
            domain="every 0 < ρ < 1 and t >= 1; the left side is (1-ρ)²(1/(1-ρ^t)² - 1)",
        ),
        always((u**2 + v**2) / 2 >= u * v, domain="ρ^j and ρ^(t-1-j) average at least r: so g >= t·r"),
    )


# --- the queue's start and the violation -------------------------------------------------------------------


def start_identity() -> Evidence:
    return equal(debt_update(0, c, 0, C), 0, domain="every cost and budget", what="Z(1) from Z(0) = 0 and 0")


def queue_step() -> Evidence:
    change = c * Lambda - C
    after = sp.Symbol("after", nonnegative=True)  # Z(t+1): Z + change or 0
    either = sp.Or(sp.Eq(after, Z + change), sp.And(sp.Eq(after, 0), Z + change <= 0))
    return always(
        after - Z >= change,
        given=[either],
        domain="one round, every Z, c, Λ >= 0, C > 0; summed over t from Z(1) = 0, and Z(T+1) >= 0",
    )


def queue_exact(context: Context) -> Evidence:
    def below(rounds: list[tuple[Fraction, Fraction]], budget: Fraction) -> Any:
        debt: Any = Fraction(0)
        total: Any = Fraction(0)
        for cost, admitted in rounds:
            debt = debt_update(debt, cost, admitted, budget)
            total += cost * admitted - budget
        return None if debt >= max(total, 0) else {"Z(T+1)": debt, "violation": total}

    amounts = fractions(0)
    return search(
        context,
        {"rounds": st.lists(st.tuples(amounts, amounts), min_size=1, max_size=6), "budget": fractions()},
        below,
        domain="any costs and admissions",
        examples=context.choose(60, 400),
    )


# --- independence ------------------------------------------------------------------------------------------

SMALL = Region(rate=1, rho=Fraction(1, 2))


def _two_rounds(stay: Fraction) -> dict[str, Fraction]:
    """Costs 0 and 2, each kept with probability `stay`, stationary; Λ̄ = C = 1, so the mean is affordable."""
    debts = {cost: debt_update(Fraction(0), cost, region_maximum(SMALL, 1), 1) for cost in (0, 2)}
    chance = {(a, b): (stay if a == b else 1 - stay) / 2 for a, b in product((0, 2), repeat=2)}
    joint = sum((p * debts[a] * (b - 1) for (a, b), p in chance.items()), Fraction(0))
    debt = sum((p * debts[a] for (a, _), p in chance.items()), Fraction(0))
    excess = sum((p * (b - 1) for (_, b), p in chance.items()), Fraction(0))
    return {"E[Z(2)(c(2)Λ̄-C)]": joint, "E[Z(2)]": debt, "E[c(2)Λ̄-C]": excess, "product": debt * excess}


def markov_factorises() -> Evidence:
    def differs(stay: Fraction) -> Any:
        found = _two_rounds(stay)
        return None if found["E[Z(2)(c(2)Λ̄-C)]"] == found["product"] else found

    return exhaust(
        [{"stay": Fraction(j, 4)} for j in (2, 3)],
        differs,
        domain="Markov costs on {0, 2}, Λ̄ = C = 1, ρ = 1/2, round 1 admits Λ_max(1) = 2 (no debt yet)",
    )


def independent_factorises() -> Evidence:
    """Bilinear in the two distributions, so two values each decide it; the debts z are any numbers."""
    p, z1, z2, a, b, q = sp.symbols("p z1 z2 a b q", real=True)
    first, second = ((p, z1), (1 - p, z2)), ((q, a), (1 - q, b))
    joint = sum(x * y * z * (cost * rate - C) for x, z in first for y, cost in second)
    product_form = sum(x * z for x, z in first) * sum(y * (cost * rate - C) for y, cost in second)
    return equal(joint, product_form, domain="c(t) independent of Z(t), any values and probabilities")


def _means_after(stay: Fraction, shift: Fraction) -> list[tuple[Fraction, Fraction, Fraction]]:
    """(probability, Z(2), E[c(2) | c(1)]) for the chain above with all later costs lowered by a factor."""
    debts = {cost: debt_update(Fraction(0), cost, region_maximum(SMALL, 1), 1) for cost in (0, 2)}
    return [(Fraction(1, 2), debts[a], shift * 2 * (stay if a == 2 else 1 - stay)) for a in (0, 2)]


def conditional_means() -> Evidence:
    p, z1, z2, m1, m2 = sp.symbols("p z1 z2 m1 m2", nonnegative=True)
    return always(
        p * z1 * (m1 * rate - C) + (1 - p) * z2 * (m2 * rate - C) <= 0,
        given=[p <= 1, m1 * rate <= C, m2 * rate <= C],
        domain="any two pasts; m is the mean cost given the past: E[Z(cΛ̄-C)] = E[Z(E[c|past]Λ̄-C)]",
    )


def conditional_means_exact(context: Context) -> Evidence:
    def positive(stay: Fraction, shift: Fraction) -> Any:
        rows = _means_after(stay, shift)
        if any(mean > 1 for _, _, mean in rows):
            return None
        value = sum((p * debt * (mean - 1) for p, debt, mean in rows), Fraction(0))
        return None if value <= 0 else {"E[Z(2)(c(2)Λ̄-C)]": value}

    unit = st.fractions(0, 1, max_denominator=16)
    return search(
        context,
        {"stay": unit, "shift": unit},
        positive,
        domain="Markov costs on {0, 2} whose mean given the past stays affordable",
        examples=context.choose(60, 400),
    )


def average_is_not_each() -> Evidence:
    """Deterministic costs: cheap rounds first, then dear ones, with an affordable average."""

    def exceeds(rounds: int) -> Any:
        costs = [0] * (rounds // 2) + [2] * (rounds // 2)
        average, last = Fraction(sum(costs), rounds), costs[-1] - 1
        return (
            {"costs": costs, "average cost times Λ̄": average, "c(T)Λ̄-C": last}
            if average <= 1 < costs[-1]
            else None
        )

    return exhaust([{"rounds": 2}, {"rounds": 4}], exceeds, domain="drifting costs, Λ̄ = C = 1")


def constant_mean_is_each() -> Evidence:
    mean, T = sp.symbols("mean T", positive=True)
    return always(
        mean * rate - C <= 0, given=[T * mean * rate <= T * C], domain="E[c(t)] the same in every round"
    )


def only_the_sum() -> Evidence:
    """Without that, the average constraint bounds the sum, whatever the order of the rounds."""
    a, b = sp.symbols("a b", nonnegative=True)
    return always(
        (a * rate - C) + (b * rate - C) <= 0,
        given=[(a + b) / 2 * rate <= C],
        domain="two rounds, any mean costs",
    )


DRIFT = [
    Claim(
        id="eq:dpp-upper-1",
        kind="inequality",
        title="one constant B bounds the drift's quadratic part",
        statement="Drift plus penalty is at most B plus the mean of J_t, with one finite B for all actions, "
        "all rounds, and (as Remark 1 lets ρ tend to 1) all ρ.",
        latex=r"\Delta+V\,E[p\mid\mathbb O]\le B+E[J_t\mid\mathbb O],\quad B<\infty\text{ uniform}",
        unicode="Δ + V·E[p|O] ≤ B + E[J_t|O], B < ∞ uniform",
        domain="every action inside the region, every t >= 1, 0 < ρ < 1",
        checks=(drift_in_rho, drift_heavy_tail),
        hypotheses=("ρ is fixed", "E[c(t)² | past] is bounded"),
        checks_with_hypotheses=(drift_inequality,),
        corrected=Correction(
            title="B_t = (E[c²]Λ_max(t)²+C²)/2; ΣB_t <= T(E[c²]Λ̄²+C²)/2 + π²/6·E[c²]Λ̄²/(1-ρ)²",
            statement="Round t has its own constant B_t = (E[c²]Λ_max(t)² + C²)/2. Their sum is T(E[c²]Λ̄² "
            "+ C²)/2 and at most π²/6·E[c²]Λ̄²/(1-ρ)² more, which is exact up to a factor 2: the excess is "
            "asymptotic to π²/12·E[c²]Λ̄²/(1-ρ)² as ρ tends to 1.",
            latex=r"\sum_{t\le T}B_t\le\tfrac T2(E[c^2]\bar\Lambda^2+C^2)+\tfrac{\pi^2}6\frac{E[c^2]\bar"
            r"\Lambda^2}{(1-\rho)^2}",
            unicode="ΣB_t ≤ T(E[c²]Λ̄² + C²)/2 + (π²/6)·E[c²]Λ̄²/(1-ρ)²",
            hypotheses=("E[c(t)² | past] <= E[c²]",),
            sketch="([Z+a]⁺)² <= (Z+a)² with a = cΛ-C, and a² <= c²Λ²+C² as c, Λ, C >= 0; then Λ <= "
            "Λ_max(t). For the sum: 1-ρ^t = (1-ρ)Σ_{j<t}ρ^j >= (1-ρ)·t·ρ^((t-1)/2) by the "
            "arithmetic-geometric mean, so (1-ρ)²(1/(1-ρ^t)²-1) <= 2/t², and Σ2/t² = π²/3. The terms tend "
            "to 1/t² as ρ tends to 1, dominated by 2/t², which gives the constant ζ(2).",
            checks=(
                lambda: drift_inequality().about("one round"),
                lambda context: drift_exact(context).about("one round"),
                lambda: drift_summand().about("sum"),
                lambda context: drift_sum(context).about("sum"),
                lambda: drift_order().about("constant"),
            ),
        ),
    ),
    Claim(
        id="eq:Z-update/start",
        kind="reading",
        title="Z(0) = 0 in the text, Z(1) = 0 in the algorithm",
        statement="The two starting values agree: with nothing admitted before round 1, Z(0) = 0 gives Z(1) = 0.",
        latex=r"Z(1)=[0+0-C]^+=0",
        unicode="Z(1) = [0 + 0 - C]⁺ = 0",
        domain="C > 0, Λ(0) = 0",
        checks=(start_identity,),
    ),
    Claim(
        id="eq:cum-cost-violation/queue",
        kind="inequality",
        title="the cost violation is at most E[Z(T+1)]",
        statement="The cumulative cost violation never exceeds the mean debt after the last round.",
        latex=r"\mathrm{Vio}^{\mathrm S}(T)\le E[Z(T+1)]",
        unicode="Vio^S(T) ≤ E[Z(T+1)]",
        domain="any costs and admissions, Z(1) = 0",
        checks=(queue_step, queue_exact),
    ),
    Claim(
        id="eq:independence-factorization",
        kind="step",
        title="E[Z(cΛ̄-C)] factorises",
        statement="The mean of debt times excess cost is the product of the two means (only the cost's mean "
        "is assumed anything about).",
        latex=r"E[Z(t)(c(t)\bar\Lambda-C)]=E[Z(t)]\,E[c(t)\bar\Lambda-C]",
        unicode="E[Z(cΛ̄-C)] = E[Z]·E[cΛ̄-C]",
        domain="any cost process c(t) >= 0 revealed round by round",
        checks=(markov_factorises,),
        hypotheses=("c(t) is independent of c(1), …, c(t-1)",),
        checks_with_hypotheses=(independent_factorises,),
        corrected=Correction(
            title="E[Z(cΛ̄-C)] <= 0 if E[c(t) | past]·Λ̄ <= C in every round",
            statement="What the drift argument needs is E[Z(t)(c(t)Λ̄-C)] <= 0. It holds when the mean cost "
            "given the past is affordable in every round, E[c(t) | past]·Λ̄ <= C; independence is not "
            "needed, but for Markov costs the stationary mean is not enough.",
            latex=r"E[c(t)\mid\mathcal F_{t-1}]\bar\Lambda\le C\Rightarrow E[Z(t)(c(t)\bar\Lambda-C)]\le0",
            unicode="E[c(t)|past]·Λ̄ ≤ C ⇒ E[Z(cΛ̄-C)] ≤ 0",
            sketch="Z(t) is a function of the past. Condition on it: E[Z(cΛ̄-C)] = E[Z·(E[c|past]Λ̄-C)], a "
            "mean of products of a non-negative and a non-positive number.",
            checks=(conditional_means, conditional_means_exact),
        ),
    ),
    Claim(
        id="eq:comparison-feasible",
        kind="step",
        title="E[c(t)Λ̄-C] <= 0 in every round",
        statement="Because constant admission meets the average cost constraint, its mean cost is within "
        "the budget in every round.",
        latex=r"\tfrac1T\sum_tE[c(t)]\bar\Lambda\le C\Rightarrow E[c(t)\bar\Lambda-C]\le0\ \forall t",
        unicode="(1/T)ΣE[c(t)]·Λ̄ ≤ C ⇒ E[c(t)Λ̄-C] ≤ 0 for each t",
        domain="any mean costs with an affordable average",
        checks=(average_is_not_each,),
        hypotheses=("E[c(t)] is the same in every round",),
        checks_with_hypotheses=(constant_mean_is_each,),
        corrected=Correction(
            title="it must be assumed of every round; the average bounds the sum alone",
            statement="An affordable average bounds Σ(E[c(t)]Λ̄-C) and no single round. That each round is "
            "affordable is a hypothesis of its own, implied by a mean cost that does not drift.",
            latex=r"\sum_t(E[c(t)]\bar\Lambda-C)\le0",
            unicode="Σ(E[c(t)]Λ̄-C) ≤ 0",
            sketch="Multiply the average constraint by T. Costs 0 in the first half and 2C/Λ̄ in the second "
            "show that no more follows; there the queue ends at order T (see lem:dpp-T-slot-upper).",
            checks=(only_the_sum, constant_mean_is_each),
        ),
    ),
]
