r"""The T-slot lemma (`lem:dpp-T-slot-upper`), by exact instances and by the real control loop."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import sympy as sp

from proofs_check.claim import Claim, Context, Correction
from proofs_check.claims.comparison import LIGHTER, repaired_difference, repaired_generalisation
from proofs_check.claims.orders import UNIT
from proofs_check.engines.enclosure import compare
from proofs_check.engines.simulation import Costs, Runs, compare_mean, control_loop, drifting, markov, uniform
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, fails, holds, undecided
from theory.admission import debt_update
from theory.algebra import ball
from theory.penalty import penalty, penalty_comparison, penalty_comparison_as_stated
from theory.region import region_maximum, region_minimum
from theory.regret import drift_constant
from theory.reuse import trajectory
from theory.setting import Constants, Region

__all__ = ["SLOTS", "one_round"]

ROUNDING = 1e-9


# --- the printed lemma: exact instances --------------------------------------------------------------------


def large_weight() -> Evidence:
    """K = 1, costs all 1, T = 2: the debt is small against V, so both rounds admit the upper end of the region."""
    region, T, V, B = Region(rate=1, rho=Fraction(1, 2)), 2, 100, Fraction(5, 2)
    path = [region_maximum(region, t) for t in (1, 2)]
    played = control_loop(np.ones((T, 1)), K=1, V=V, C=1, region=region.map(float), constants=LIGHTER)
    off = float(np.max(np.abs(played.admitted[:, 0] - np.array(path, dtype=float))))
    if off > ROUNDING:
        return undecided(
            "enclosure", f"the loop does not admit the upper ends but is {off} away", domain="K = 1"
        )
    debt = debt_update(debt_update(0, 1, path[0], 1), 1, path[1], 1)
    numbers, balls = LIGHTER.map(ball), region.map(ball)
    seen = [path[0], path[0] + path[1]]
    left = ball(debt) ** 2 / 2 + V * sum(
        penalty(ball(x), ball(N), numbers) for x, N in zip(path, seen, strict=True)
    )
    right = ball(B) * T + V * sum(penalty_comparison_as_stated(1, t, balls, numbers).total for t in (1, 2))
    point = {
        "K": 1,
        "T": T,
        "V": V,
        "rho": "1/2",
        "Λ(1)": "2",
        "Λ(2)": "4/3",
        "Z(3)": str(debt),
        "drift constant": str(B),
    }
    return compare(
        lambda p: left,
        "<=",
        lambda p: right,
        [point],
        domain="Λ̄ = C = 1, costs 1; D = σ = η = 1, B = 1/100, Pdim = 4; the drift constant is (Λ_max(1)² + C²)/2",
    )


def _least_debt(costs: Sequence[int], region: Region) -> Fraction:
    """The lower end of the region in every round: the debt grows in Λ, so no policy inside the region has less."""
    debt = Fraction(0)
    for t, cost in enumerate(costs, start=1):
        debt = Fraction(debt_update(debt, cost, region_minimum(region, t), 1))
    return debt


def _more_debt_than_allowed(
    chances: dict[tuple[int, ...], Fraction], second_moment: int, region: Region, domain: str
) -> Evidence:
    """The least E[L(T+1)] inside the region, exactly, against B·T + VΣp̄^CK with V = 1/1000, either form of p̄^CK."""
    V, T = Fraction(1, 1000), len(next(iter(chances)))
    left = sum((p * _least_debt(costs, region) ** 2 / 2 for costs, p in chances.items()), Fraction(0))
    drift = T * drift_constant(region, 1, Fraction(second_moment), 1)
    numbers, balls = UNIT.map(ball), region.map(ball)
    printed, repaired = (
        sum(form(1, t, balls, numbers).total for t in range(1, T + 1)) * ball(V)
        for form in (penalty_comparison_as_stated, penalty_comparison)
    )
    certificate = {
        "T": T,
        "V": V,
        "cost paths": len(chances),
        "least E[L(T+1)]": f"{float(left):.6f}",
        "B·T": f"{float(drift):.6f}",
        "VΣp̄, printed": printed.str(8),
        "VΣp̄, repaired": repaired.str(8),
    }
    if ball(left) > ball(drift) + printed.max(repaired):
        right = float(drift) + float(printed)
        detail = f"E[L(T+1)] >= {float(left):.4f}, B·T + VΣp̄ = {right:.4f} at T = {T}, every policy inside the region"
        return fails("exact", detail, domain=domain, certificate=certificate)
    return undecided("exact", "no violation at these parameters", domain=domain, certificate=certificate)


def markov_costs() -> Evidence:
    """Every one of the 2^T cost paths, with its probability."""
    stay, T = Fraction(19, 20), 10
    chances = {
        path: Fraction(1, 2) * _product(stay if a == b else 1 - stay for a, b in pairwise(path))
        for path in product((0, 2), repeat=T)
    }
    return _more_debt_than_allowed(
        chances,
        2,
        Region(rate=1, rho=Fraction(1, 10)),
        "Markov costs on {0, 2}, stationary, kept with probability 19/20; Λ̄ = C = 1, K = 1, ρ = 1/10, constants 1",
    )


def _product(factors: Any) -> Fraction:
    result = Fraction(1)
    for factor in factors:
        result *= factor
    return result


def drifting_costs() -> Evidence:
    """Sixteen free rounds, sixteen dear ones; the average is affordable."""
    return _more_debt_than_allowed(
        {(0,) * 16 + (2,) * 16: Fraction(1)},
        4,
        Region(rate=1, rho=Fraction(1, 10)),
        "costs 0 in rounds 1-16 and 2 in rounds 17-32; Λ̄ = C = 1, K = 1, ρ = 1/10, constants 1",
    )


# --- the corrected lemma -----------------------------------------------------------------------------------


def one_round() -> Evidence:
    """From J(Λ*) <= J(Λ̄), p^CK <= p̄ and Λ* <= Λ_max: the inequality of one round, on every path."""
    Z, c, Lambda, rate, most, p, other, bound = sp.symbols(
        "Z c Lambda rate most p p_switch p_bound", nonnegative=True
    )
    C, V = sp.symbols("C V", positive=True)
    after = sp.Symbol("after", nonnegative=True)
    change = c * Lambda - C
    queue = sp.Or(sp.Eq(after, Z + change), sp.And(sp.Eq(after, 0), Z + change <= 0))
    chosen = Z * change + V * p <= Z * (c * rate - C) + V * other
    return always(
        after**2 / 2 - Z**2 / 2 + V * p <= (c**2 * most**2 + C**2) / 2 + Z * (c * rate - C) + V * bound,
        given=[queue, chosen, other <= bound, Lambda <= most],
        domain="every Z, c, Λ, p >= 0 and C, V > 0",
    )


SETTING = Constants(D=1.0, sigma=1.0, eta=1.0, B=1.0, Pdim=5.0)
BUDGET = 55.0


def _play(
    context: Context, costs: Costs, runs: int, rounds: int, K: int, V: float, region: Region
) -> tuple[Runs, Any]:
    """The real loop, and p(t) for every round and run."""
    drawn = costs.draw(context.generator(), runs, rounds)
    played = control_loop(drawn, K=K, V=V, C=BUDGET, region=region, constants=SETTING)
    paths = [trajectory(played.admitted[:, run], K) for run in range(runs)]
    penalties = np.array([penalty(path.n, path.N, SETTING) for path in paths]).T
    return played, penalties


def every_path(context: Context) -> Evidence:
    """The one-round inequality in each round of each run, whatever the costs do: no expectation is taken."""
    rounds, runs, region = context.choose(60, 200), context.choose(5, 50), Region(rate=10.0, rho=0.9)
    worst, seen = -np.inf, 0
    processes = (uniform(1, 10), markov(1, 10, 0.95), drifting(2, 9, 1, rounds))
    most = np.array([region_maximum(region, t) for t in range(1, rounds + 1)])
    for costs, K, V in product(processes, (1, 6), (1.0, 1e4)):
        played, penalties = _play(context, costs, runs, rounds, K, V, region)
        bound = np.array([penalty_comparison(K, t, region, SETTING).total for t in range(1, rounds + 1)])
        Z = played.debt
        left = (Z[1:] ** 2 - Z[:-1] ** 2) / 2 + V * penalties
        squares = (played.costs**2 * most[:, np.newaxis] ** 2 + BUDGET**2) / 2
        right = squares + Z[:-1] * (played.costs * region.rate - BUDGET) + V * bound[:, np.newaxis]
        worst, seen = max(worst, float(np.max((left - right) / squares))), seen + left.size
    domain = "i.i.d., Markov and drifting costs; K = 1, 6; V = 1, 10^4; ρ = 0.9, Λ̄ = 10, C = 55"
    certificate = {"rounds played": seen, "largest (left - right)/squares": worst}
    if worst <= ROUNDING:
        return holds(
            "simulation", f"left <= right in all {seen} rounds", domain=domain, certificate=certificate
        )
    return fails("simulation", f"left exceeds right by {worst}", domain=domain, certificate=certificate)


def independent_mean(context: Context) -> Evidence:
    """E[L(T+1)] + VΣE[p] for independent costs, with a confidence interval, against the corrected right side."""
    rounds, runs, K, V, region, costs = (
        20,
        context.choose(4000, 40000),
        3,
        100.0,
        Region(rate=10.0, rho=0.5),
        uniform(1, 10),
    )
    played, penalties = _play(context, costs, runs, rounds, K, V, region)
    ts = range(1, rounds + 1)
    drift = sum(drift_constant(region, t, 37.0, BUDGET) for t in ts)  # E[c²] = 5.5² + 81/12
    bound = drift + V * sum(penalty_comparison(K, t, region, SETTING).total for t in ts)
    most_spent = sum(10 * region_maximum(region, t) for t in ts)
    fewest, most = region_minimum(region, 1), sum(region_maximum(region, t) for t in ts)
    most_penalty = rounds * (penalty(fewest, most, SETTING) + penalty(fewest, fewest, SETTING))
    samples = played.debt[-1] ** 2 / 2 + V * penalties.sum(axis=0)
    return compare_mean(
        samples,
        bound,
        low=0.0,
        high=most_spent**2 / 2 + V * float(most_penalty),
        domain="costs i.i.d. uniform on [1, 10], Λ̄ = 10, C = 55, K = 3, V = 100, ρ = 1/2, T = 20",
        what="E[L(T+1)] + VΣE[p]",
    )


SLOTS = [
    Claim(
        id="lem:dpp-T-slot-upper",
        kind="lemma",
        title="L + VΣp <= BT + VΣp̄^CK over T rounds",
        statement="Over T rounds, the mean Lyapunov function and V times the penalties of ACDPP are at most "
        "BT plus V times the printed comparison penalties, for any cost process whose average is affordable.",
        latex=r"E[L(T+1)-L(1)]+V\sum_tE[p(t)]\le BT+V\sum_t\bar p^{CK}(t)",
        unicode="E[L(T+1)-L(1)] + VΣE[p] ≤ BT + VΣp̄^CK",
        domain="every V > 0, K, ρ, T; mean cost times Λ̄ at most C on average",
        checks=(large_weight, markov_costs, drifting_costs),
        corrected=Correction(
            title="with ΣB_t, the repaired p̄^CK, and E[c(t) | past]·Λ̄ <= C in every round",
            statement="With B_t in place of B and the repaired p̄^CK, it holds if the mean cost given the "
            "past is affordable in every round. Without that, the same inequality holds on every path with "
            "ΣZ(t)(c(t)Λ̄-C) added on the right.",
            latex=r"E[L(T+1)]+V\sum_tE[p(t)]\le\sum_tB_t+V\sum_t\bar p^{CK}_{\mathrm{repaired}}(t)",
            unicode="E[L(T+1)] + VΣE[p] ≤ ΣB_t + VΣp̄^CK (repaired)",
            hypotheses=("E[c(t) | past]·Λ̄ <= C", "E[c(t)² | past] <= E[c²]"),
            sketch="Λ̄ lies in the region, so J_t(Λ*) <= J_t(Λ̄) = Z(cΛ̄-C) + V·p^CK; p^CK <= p̄^CK; the "
            "drift is at most (c²Λ_max²+C²)/2 + Z(cΛ-C). Add the three, take means, E[Z(cΛ̄-C)] <= 0, and "
            "sum.",
            checks=(
                lambda: one_round().about("one round"),
                lambda context: every_path(context).about("one round"),
                lambda: repaired_difference().about("repaired p̄^CK, first terms"),
                lambda: repaired_generalisation().about("repaired p̄^CK, third term"),
                independent_mean,
            ),
        ),
    ),
]
