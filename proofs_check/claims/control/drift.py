r"""The drift of the squared debt (`eq:dpp-upper-1`): is one constant B enough?

For one ρ and costs of bounded second moment it is. As ρ tends to 1 the first round alone needs a B of order
\((1-\rho)^{-2}\), so each round gets its own \(B_t\), and their sum, which is what the regret is
charged, is computed to its leading constant.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import WRITTEN, Claim, Context, Correction, confirming
from proofs_check.engines.enclosure import compare
from proofs_check.engines.exact import fractions, regions, search
from proofs_check.engines.identity import equal
from proofs_check.evidence import Evidence, obeying
from proofs_check.groundwork.control.drift_step import (
    drift_constant_is,
    drift_ends,
    drift_excess,
    drift_inequality,
    drift_summand,
    least_average,
    without_debt,
)
from proofs_check.groundwork.control.inside_region import placed
from proofs_check.groundwork.control.paper_setting import WIDE, h
from proofs_check.groundwork.regret.orders import diverges, tight_regions
from proofs_check.notation import REGION, C, Formula, T, rate, said, t, written
from theory.admission import debt_update
from theory.algebra import ball
from theory.region import region_maximum
from theory.regret import drift_constant
from theory.setting import Region
from theory.summation import total_ball

square = sp.Symbol("second_moment", positive=True)  # E[c²]
B_t = drift_constant(REGION, t, square, C).subs(sp.exp(t * sp.log(REGION.rho)), REGION.rho**t)
LIMIT = sp.factor(T * (square * rate**2 + C**2) / 2)  # ΣB_t without what the wide early region adds


def drift_in_rho() -> Evidence:
    """Round 1, costs equal to C/Λ̄: no debt, so J is V·p, and the drift is all that B has to cover."""
    first = region_maximum(WIDE, 1)
    debt = debt_update(0, C / rate, first, C)
    found = diverges(
        debt**2 / 2,
        h,
        what="the drift of round 1, a lower bound on B,",
        domain="costs constant, c = C/Λ̄; ρ = 1 - 1/h, h → ∞",
        **{"admitted in round 1": first, "Z(2)": debt},
    )
    return obeying(found, {"round 1 of ACDPP admits Λ_max(1)": without_debt()})


def drift_heavy_tail() -> Evidence:
    """P(c = 4^j) = (7/8)·8^-j: the mean is 7/4, the second moment infinite."""
    j, n = sp.symbols("j n", integer=True, positive=True)
    chance = sp.Rational(7, 8) * sp.Integer(8) ** -j

    def moment(power: int) -> Any:
        return sp.Rational(7, 8) + sp.summation(sp.powsimp(4 ** (power * j) * chance), (j, 1, n))

    found = diverges(
        moment(2),
        n,
        what="E[c²], and with it the drift,",
        domain="i.i.d. costs c = 4^j with probability (7/8)·8^-j, j = 0, 1, …, cut at j = n; any ρ",
        **{"E[c] up to n": moment(1)},
    )
    total, average = (sp.limit(moment(power), n, sp.oo) for power in (0, 1))
    return obeying(
        found,
        {
            "probabilities sum to 1": equal(total, 1, domain="the chances", what="their sum and 1"),
            "a finite mean": equal(average, sp.Rational(7, 4), domain="the costs", what="E[c] and 7/4"),
        },
    )


def drift_exact(context: Context) -> Evidence:
    """theory's debt and drift constant on drawn states."""

    def exceeds(
        region: Region, t: int, position: Fraction, debt: Fraction, cost: Fraction, budget: Fraction
    ) -> Any:
        admitted = placed(region, [Fraction(0)] * (t - 1) + [position])[-1]
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
    """(1-ρ)² times what ΣB_t exceeds its value at Λ_max = Λ̄ by, with E[c²] = 37, Λ̄ = 10 and C = 55."""
    region = p["region"].map(ball)
    total = total_ball(lambda t: drift_constant(region, t, ball(37), ball(55)), T, (1,))
    return (total - T * drift_constant(region, 10**40, ball(37), ball(55))) * (1 - region.rho) ** 2


def drift_sum(context: Context) -> Evidence:
    """ΣB_t against its bound; the second summand, π²/6·E[c²]Λ̄²/(1-ρ)², is 3700·π²/6 in these units."""
    horizons = context.choose((10**3, 10**15), (10, 10**3, 10**6, 10**9, 10**12, 10**15))
    grid = [{**p, "T": T} for p in tight_regions(context.choose((1, 3, 6), range(1, 7))) for T in horizons]
    return compare(
        lambda p: _excess(p, p["T"]),
        "<=",
        lambda p: 3700 * ball(1).pi() ** 2 / 6,
        grid,
        domain="E[c²] = 37, Λ̄ = 10, C = 55; both sides times (1-ρ)²",
    )


def drift_order() -> Evidence:
    """The leading constant: Σ_t (1/(1-ρ^t)² - 1) is ζ(2)/(1-ρ)², so the excess tends to 3700·ζ(2)/2."""
    zeta = 3700 * ball(1).pi() ** 2 / 12
    return compare(
        lambda p: abs(_excess(p, 10**15) - zeta),
        "<=",
        lambda p: zeta * 20 * (1 - p["region"].map(ball).rho),
        [{**p, "T": 10**15} for p in tight_regions((4, 5, 6))],
        domain="E[c²] = 37, Λ̄ = 10, C = 55, T = 10^15: within 20(1-ρ) of 3700·π²/12, relatively",
    )


CLAIMS = [
    Claim(
        id="eq:dpp-upper-1",
        kind="inequality",
        title="one constant B bounds the drift's quadratic part",
        statement="Drift plus penalty is at most B plus the mean of J_t, with one finite B for all actions, "
        "all rounds, and (as Remark 1 lets ρ tend to 1) all ρ.",
        formula=Formula(
            r"\Delta+V\,E[p\mid\mathbb O]\le B+E[J_t\mid\mathbb O],\quad B<\infty\text{ uniform}",
            "Δ + V·E[p|O] ≤ B + E[J_t|O], B < ∞ uniform",
        ),
        domain="every action inside the region, every t >= 1, 0 < ρ < 1",
        symbols={
            "Δ": "the mean drift, E[L(t+1) - L(t) | O]",
            "O": "the state when round t begins",
            "B": "the drift's constant",
        },
        checks=(drift_in_rho, drift_heavy_tail),
        hypotheses=("ρ is fixed", "E[c(t)² | past] is bounded"),
        checks_with_hypotheses=(drift_inequality, drift_constant_is),
        corrected=Correction(
            title=said("B_t = @B; ΣB_t <= @L + π²/6·E[c²]Λ̄²/(1-ρ)²", B=B_t, L=LIMIT),
            statement=said(
                "Round t has its own constant B_t = @B. Their sum is @L and at most π²/6·E[c²]Λ̄²/(1-ρ)² more, "
                "which is exact up to a factor 2: over all rounds the excess is asymptotic to "
                "π²/12·E[c²]Λ̄²/(1-ρ)² as ρ tends to 1.",
                B=B_t,
                L=LIMIT,
            ),
            formula=written(
                r"B_t=@B,\quad\sum_{t\le T}B_t\le@L+\tfrac{\pi^2}6\frac{E[c^2]\bar\Lambda^2}{(1-\rho)^2}",
                "B_t = @B, ΣB_t ≤ @L + (π²/6)·E[c²]Λ̄²/(1-ρ)²",
                B=B_t,
                L=LIMIT,
            ),
            hypotheses=("E[c(t)² | past] <= E[c²]",),
            given=(WRITTEN,),
            symbols={"π": "3.14159…"},
            sketch="([Z+a]⁺)² <= (Z+a)² with a = cΛ-C, and a² <= c²Λ²+C² as c, Λ, C >= 0; then Λ <= Λ_max(t), and "
            "means are taken given the past. For the sum write x = ρ^t, r² = ρ^(t-1) and g = (1-x)/(1-ρ) = "
            "Σ_{j<t}ρ^j. B_t exceeds (E[c²]Λ̄²+C²)/2 by E[c²]Λ̄²/(2(1-ρ)²) times q = x(2-x)/g². As t·r <= g <= t "
            "(the arithmetic-geometric mean of ρ^j and ρ^(t-1-j), and ρ^j <= 1), q lies between x(2-x)/t² and "
            "ρ(2-x)/t². The second is at most 2/t², and Σ2/t² = π²/3. Both ends are at most 2/t² for every ρ, so "
            "their sums over all t are continuous in ρ up to ρ = 1 (Weierstrass), where both are Σ1/t² = π²/6.",
            parts=("one round", "B_t", "its excess", "g", "q", "the sums"),
            checks={
                "one round": (drift_inequality, confirming(drift_exact)),
                "B_t": drift_constant_is,
                "its excess": drift_excess,
                "g": least_average,
                "q": (drift_summand, confirming(drift_sum)),
                "the sums": (drift_ends, confirming(drift_order)),
            },
        ),
    ),
]
