r"""Choosing K and the rates (`cor:optimal-k`), the costless oracle, and whole numbers of samples.

Throughout \(x=\bar c\sum B_m/C\). Filling the buffers with \(\lambda_m=B_m/K\) costs \(\bar c\sum
B_m/K=Cx/K\) a round, so it is paid for just if K >= x. For K < x the best affordable rate is \(C/\bar c\),
and the buffers stay partly empty.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import reduce
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import Claim, Context, Correction
from proofs_check.claims.admissions import INTEGRALITY
from proofs_check.claims.oracle import ORACLE, first_terms_agree, third_term_grows
from proofs_check.engines.enclosure import compare
from proofs_check.engines.exact import search
from proofs_check.engines.identity import equal
from proofs_check.engines.limit import equivalent
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, refutes, together
from theory.bound import generalisation_term, linear_term, root_term
from theory.constant_admission import constant_bound, constant_round
from theory.design import best_rate, design, design_as_stated, fill_ratio
from theory.reuse import inverse_effective_constant, mismatch_constant
from theory.setting import Budget, Constants

__all__ = ["CLAIMS"]

UNIT = Constants(D=1, sigma=1, eta=Fraction(1, 10), B=1, Pdim=5)
WIDE = Constants(D=1000, sigma=1, eta=Fraction(1, 10), B=1, Pdim=5)
MNIST = Budget(buffers=(8, 9, 10, 11, 12) * 2, cost=55, mean_cost=Fraction(11, 2))
UNEVEN = Budget(buffers=(10, 11), cost=10, mean_cost=1)
CROSSOVER = 2_983_619  # the last round in which K = 2 is better than K = 3 for the budget UNEVEN

D, sigma, eta, B, Pdim, S, rate = sp.symbols("D sigma eta B Pdim S rate", positive=True)
K, J = sp.symbols("K J", integer=True, positive=True)
t = sp.Symbol("t", positive=True)
SYMBOLIC = Constants(D=D, sigma=sigma, eta=eta, B=B, Pdim=Pdim)


def _budgets() -> st.SearchStrategy[Budget]:
    return st.builds(
        Budget,
        buffers=st.lists(st.integers(1, 12), min_size=1, max_size=3).map(tuple),
        cost=st.integers(1, 20),
        mean_cost=st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(3, 2), Fraction(11, 2)]),
    )


# --- feasibility -------------------------------------------------------------------------------------------


def both_are_feasible(context: Context) -> Evidence:
    """The cost of λ_m = B_m/K for the ceiling and the floor of x."""

    def find(budget: Budget) -> dict[str, Any] | None:
        for K, feasible in design_as_stated(budget):
            cost = budget.mean_cost * Fraction(budget.total_buffer, K)
            if cost > budget.cost:
                assert not feasible
                return {"x": fill_ratio(budget), "K": K, "cost a round": cost, "budget C": budget.cost}
        return None

    return search(
        context, {"budget": _budgets()}, find, domain="λ_m = B_m/K, K = ⌈x⌉ or max(⌊x⌋, 1)", examples=200
    )


def below_x_is_infeasible() -> Evidence:
    """Z3: every K < x, so the floor of any x that is not whole, exceeds the cost budget."""
    mean_cost, C, k = sp.symbols("mean_cost C k", positive=True)
    dear = always(mean_cost * S / k > C, given=[k < mean_cost * S / C], domain="every budget, every K < x")
    return refutes(
        dear,
        "λ_m = B_m/K with K < x costs more than C in every round: the floor is infeasible unless x is whole",
    )


def ceiling_is_feasible(context: Context) -> Evidence:
    """max(⌈x⌉, 1) with λ_m = B_m/K keeps cost and buffers."""

    def find(budget: Budget) -> dict[str, Any] | None:
        (K, _), _ = design_as_stated(budget)
        cost = budget.mean_cost * Fraction(budget.total_buffer, K)
        return {"K": K, "cost a round": cost} if cost > budget.cost else None

    return search(context, {"budget": _budgets()}, find, domain="K = max(⌈x⌉, 1), λ_m = B_m/K", examples=200)


def ceiling_always_feasible() -> Evidence:
    mean_cost, C, k = sp.symbols("mean_cost C k", positive=True)
    return always(mean_cost * S / k <= C, given=[k >= mean_cost * S / C], domain="every budget, every K >= x")


# --- the limit T → ∞ ---------------------------------------------------------------------------------------


def average_below_x() -> Evidence:
    """K < x at rate C/c̄: a round's share tends to Dσ/√(K·rate) + ηEσ²/(K·rate), generalisation included."""
    terms = constant_round(K, t, rate, SYMBOLIC)
    share = root_term(1 / (K * rate), SYMBOLIC) + linear_term(1 / (K * rate), SYMBOLIC)
    first = equivalent(terms.root + terms.linear, t, t, share, domain="T → ∞, any K and rate")
    return together(first, equivalent(terms.generalisation, t, t, 0, domain="T → ∞"))


def fuller_is_better() -> Evidence:
    """That share is larger the smaller the occupancy: K·rate < ΣB for K < x."""
    less, more = sp.symbols("less more", positive=True)
    shares = [root_term(1 / n, SYMBOLIC) + linear_term(1 / n, SYMBOLIC) for n in (less, more)]
    return always(shares[0] > shares[1], given=[less < more], domain="any occupancies less < more")


# --- monotonicity ------------------------------------------------------------------------------------------

j, u = sp.symbols("j u", integer=True, nonnegative=True)
k, late = j + 1, j + 2 + u  # K >= 1 and t >= K + 1: from K to K + 1 while K < t


def mismatch_falls_at_fixed_rate() -> Evidence:
    """K ↦ χ(K, t) at one rate, for K < t; from K = t on nothing changes."""
    return always(
        mismatch_constant(k + 1, late, 1) <= mismatch_constant(k, late, 1),
        domain="every K >= 1, t > K, rate 1 (χ is inversely proportional to the rate)",
    )


def mismatch_with_full_buffers() -> Evidence:
    """K ↦ χ(K, t) with rate ΣB/K: falls up to K = t, rises beyond."""
    one = sp.Integer(1)
    falls = always(
        mismatch_constant(k + 1, late, one / (k + 1)) <= mismatch_constant(k, late, one / k),
        domain="full buffers, every K >= 1, t > K",
    )
    round_, beyond = j + 1, j + 1 + u  # t >= 1 and K >= t
    rises = always(
        mismatch_constant(beyond + 1, round_, one / (beyond + 1))
        >= mismatch_constant(beyond, round_, one / beyond),
        domain="full buffers, every t >= 1, K >= t",
    )
    return together(falls, rises)


def effective_size_falls() -> Evidence:
    """K ↦ 1/N_eff(K, t) at one rate rises; so does it with rate ΣB/K, K times as large."""
    return always(
        inverse_effective_constant(k + 1, late, 1) >= inverse_effective_constant(k, late, 1),
        domain="every K >= 1, t > K, rate 1 (1/N_eff is inversely proportional to the rate)",
    )


def generalisation_falls_in_rate() -> Evidence:
    """Its square in the rate r, with N = r·t and N_eff proportional to r: slope -1/r² below Pdim,
    -log(N/Pdim)/r² beyond."""
    r, share = sp.symbols("r share", positive=True)  # share = t/Pdim
    square = generalisation_term(1 / r, r * share, Constants(D=1, sigma=1, eta=1, B=1, Pdim=1)) ** 2 / 100
    corner = sp.Max(1, r * share)
    domain = "any rate r, share = t/Pdim, B = 1"
    slopes = {r * share: -sp.log(r * share) / r**2, sp.Integer(1): -1 / r**2}
    sides = (
        equal(
            sp.diff(square.xreplace({corner: side}), r),
            slope,
            domain=domain,
            what="the slope and -log⁺…/r² <= 0",
        )
        for side, slope in slopes.items()
    )
    return together(*sides)


# --- finite horizons ---------------------------------------------------------------------------------------

INSTANCES = (
    {"budget": "MNIST", "constants": "unit", "T": 100, "K": 10, "other K": 4},
    {"budget": "MNIST", "constants": "D=1000", "T": 500, "K": 10, "other K": 118},
    {"budget": "x=21/10", "constants": "unit", "T": 10**6, "K": 3, "other K": 2},
)
BUDGETS = {"MNIST": MNIST, "x=21/10": UNEVEN}
CONSTANTS = {"unit": UNIT, "D=1000": WIDE}


def _certified(point: Any, which: str) -> Any:
    """The corrected bound over T rounds at K with its best feasible rate, as a ball."""
    budget, K = BUDGETS[point["budget"]], point[which]
    return constant_bound(
        K, best_rate(K, budget), point["T"], CONSTANTS[point["constants"]], certified=True
    ).total


def closed_form_at_finite_horizon() -> Evidence:
    """Other feasible K with lower bounds."""
    better = compare(
        lambda p: _certified(p, "other K"),
        "<",
        lambda p: _certified(p, "K"),
        INSTANCES,
        domain="corrected bound, best feasible rate min(ΣB/K, C/c̄); MNIST is the paper's budget, x = 10",
    )
    return refutes(
        better,
        "MNIST budget: K=4 beats 10 at T=100, and K=118 at T=500 with D=1000; x=21/10: the floor 2, at rate "
        "C/c̄, beats 3 at T=10⁶",
    )


def crossover() -> Evidence:
    """x = 21/10: the floor 2, at rate C/c̄ = 10, wins up to this round, the ceiling 3, at rate 7, from the
    next."""
    points = [
        {"budget": "x=21/10", "constants": "unit", "T": CROSSOVER + s, "K": 3 - s, "other K": 2 + s}
        for s in (0, 1)
    ]
    return compare(
        lambda p: _certified(p, "other K"),
        "<",
        lambda p: _certified(p, "K"),
        points,
        domain="buffers 10 and 11, C = 10, c̄ = 1, D = σ = B = 1, η = 1/10, Pdim = 5",
    )


def search_finds_the_best(context: Context) -> Evidence:
    """Branch and bound against every other K from 1 to T, in balls."""
    small = Budget(buffers=(3, 4), cost=2, mean_cost=1)
    tight = Budget(buffers=(5,), cost=1, mean_cost=Fraction(3, 2))
    grid = [
        {"buffers": budget.buffers, "x": fill_ratio(budget), "D": scale, "T": T}
        for budget in (UNEVEN, small, tight, MNIST)
        for scale in (1, 30, 1000)
        for T in context.choose((2, 10), (2, 5, 10, 20, 40))
    ]
    budgets = {budget.buffers: budget for budget in (UNEVEN, small, tight, MNIST)}

    def bounds(p: Any) -> tuple[int, dict[int, Any]]:
        constants, budget = replace(UNIT, D=p["D"]), budgets[p["buffers"]]
        every = {
            K: constant_bound(K, best_rate(K, budget), p["T"], constants, certified=True).total
            for K in range(1, p["T"] + 1)
        }
        return design(budget, p["T"], constants).K, every

    def found(p: Any) -> Any:
        best, every = bounds(p)
        return every[best]

    def others(p: Any) -> Any:
        best, every = bounds(p)
        return reduce(lambda a, b: a.min(b), (bound for K, bound in every.items() if best != K))

    return compare(
        found,
        "<",
        others,
        grid,
        domain="four budgets, D = 1, 30, 1000, horizons as listed, every K from 1 to T",
    )


CLAIMS = [
    Claim(
        id="cor:optimal-k",
        kind="corollary",
        title="K* is ⌈x⌉ or max(⌊x⌋,1), the better",
        statement="As T grows, the better of ⌈x⌉ and max(⌊x⌋, 1), both feasible with λ_m = B_m/K*, is "
        "optimal; x = c̄ΣB/C.",
        latex=r"K^\star=\lceil x\rceil\ \text{or}\ \max(\lfloor x\rfloor,1),\quad\lambda_m=B_m/K^\star",
        unicode="K* = ⌈x⌉ or max(⌊x⌋,1), λ_m = B_m/K*, x = c̄ΣB/C",
        domain="T → ∞",
        checks=(both_are_feasible, below_x_is_infeasible),
        corrected=Correction(
            title="K* = max(⌈x⌉, 1)",
            statement="K* = max(⌈x⌉, 1) with λ_m = B_m/K*, the smallest K that fills the buffers within the "
            "cost budget: for all large T its bound is below that of every other fixed K at its best "
            "feasible rate.",
            latex=r"K^\star=\max(\lceil x\rceil,1),\quad\lambda_m=B_m/K^\star",
            unicode="K* = max(⌈x⌉,1), λ_m = B_m/K*",
            sketch="K < x can afford rate C/c̄ only, occupancy KC/c̄ < ΣB: a larger share Dσ/√n + ηEσ²/n of "
            "every round. All K >= x share the least one. Among them the first two terms differ by O(1) in "
            "total, the third by 20B√(Pdim/ΣB)(√J - √K)√(T log T), so the smallest wins. (By the same limit "
            "the printed rule, the better of two full buffers, would always take the floor, which cannot be "
            "paid for.)",
            hypotheses=("the corrected bound (or any with the same leading terms)",),
            checks=(
                lambda: ceiling_always_feasible().about("feasible"),
                lambda context: ceiling_is_feasible(context).about("feasible"),
                lambda: average_below_x().about("K < x: share of a round"),
                lambda: fuller_is_better().about("K < x: larger"),
                lambda: third_term_grows().about("K > K*: third term"),
                lambda: first_terms_agree().about("K > K*: first two terms"),
            ),
        ),
    ),
    Claim(
        id="cor:optimal-k/monotone",
        kind="addition",
        title="how the terms depend on K (ours)",
        statement="Round by round: at a fixed rate χ falls in K; with full buffers χ falls up to K = t and "
        "rises beyond; at a fixed rate 1/N_eff rises in K; and the generalisation term falls in the rate. So "
        "a search over K can be cut short.",
        latex=r"\chi(K+1,t)\le\chi(K,t),\quad N_{\mathrm{eff}}(K+1,t)\le N_{\mathrm{eff}}(K,t)",
        unicode="K ↦ χ falls (rate fixed); K ↦ 1/N_eff rises",
        domain="constant admission, every t >= 1",
        checks=(
            lambda: mismatch_falls_at_fixed_rate().about("χ, rate fixed"),
            lambda: mismatch_with_full_buffers().about("χ, buffers full"),
            lambda: effective_size_falls().about("N_eff, rate fixed"),
            lambda: generalisation_falls_in_rate().about("generalisation"),
        ),
    ),
    Claim(
        id="cor:optimal-k/finite-horizon",
        kind="step",
        title="the same K* at finite T",
        statement="At a finite horizon, too, the ceiling of x is the best feasible choice.",
        latex=r"K^\star_T=\max(\lceil x\rceil,1)\quad\forall T",
        unicode="K* = ⌈x⌉ for every T",
        domain="every T, best feasible rate for each K",
        checks=(closed_form_at_finite_horizon,),
        corrected=Correction(
            title="search K; rate min(ΣB/K, C/c̄)",
            statement="The best K at horizon T is found by a search over K = 1..T at rate min(ΣB/K, C/c̄). "
            f"It may be below or above ⌈x⌉: with x = 21/10 the floor, at rate C/c̄, wins at T = {CROSSOVER:,} "
            "and loses from the next round on.",
            latex=r"K_T=\arg\min_K\bar{\mathcal E}_T\bigl(K,\min(\textstyle\sum B_m/K,\,C/\bar c)\bigr)",
            unicode="K_T = argmin over K of the bound at rate min(ΣB/K, C/c̄)",
            sketch="The bound falls in the rate, so the tighter constraint sets it; branch and bound uses "
            "cor:optimal-k/monotone.",
            checks=(
                lambda: crossover().about("crossover"),
                lambda context: search_finds_the_best(context).about("search"),
            ),
        ),
    ),
    ORACLE,
    INTEGRALITY,
]
