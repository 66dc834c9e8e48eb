"""Choosing K and the rates offline, as T → ∞ (`cor:optimal-k`)."""

import math

from proofs_check.prelude import *

from proofs_check.groundwork.design.leading_terms import share, third_terms
from theory.design.offline import design_as_stated, design_limit

BUDGET = Budget(buffers=(total_buffer,), cost=C, mean_cost=mean_cost)
k = sp.Symbol("k", positive=True)  # any K, whole or not
SOME = Constants(D=2, sigma=3, eta=Fraction(1, 10), B=1, Pdim=5, E=4, G=1, L=1)
BUDGETS = exact.budgets(3, 20, F(1), F(1, 2), F(3, 2), F(11, 2))
RATIO = {"x": fill_ratio(BUDGET)}
COST = mean_cost * total_buffer / k  # of filling the buffers, per round
BELOW, FROM = "every budget, every $K<x$", r"every budget, every $K\ge x$"


@drawn(r"$\lambda_m=B_m/K$, $K=\lceil x\rceil$ or $\max(\lfloor x\rfloor,1)$", (200, 200), budget=BUDGETS)
def both_are_feasible(budget: Budget) -> Found:
    """The cost of λ_m = B_m/K for the ceiling and the floor of x."""
    for horizon, feasible in design_as_stated(budget):
        cost = budget.mean_cost * Fraction(budget.total_buffer, horizon)
        if (cost > budget.cost) == feasible:
            raise ArithmeticError(f"theory calls K={horizon} feasible: {feasible}, but it costs {cost}")
        if cost > budget.cost:
            return {"x": fill_ratio(budget), "K": horizon, "cost per round": cost, "budget C": budget.cost}
    return None


def from_x_on_is_feasible() -> Evidence:
    """Every K >= x can be paid for; and where K is not, the affordable rate is the smaller of the two."""
    affordable, ratio = sp.Lt(BUDGET.affordable_rate, total_buffer / k), fill_ratio(BUDGET)
    return argument((COST <= C, [k >= ratio], FROM), (affordable, [k < ratio], BELOW))


@drawn(r"up to three clients; $K=\max(\lceil x\rceil,1)$, $\lambda_m=B_m/K$", (60, 400), budget=BUDGETS)
def limit_design_is_the_ceiling(budget: Budget) -> Found:
    """theory's design: the ceiling, its rates, what binds, and the best rate at every K, in exact numbers."""
    x = Fraction(budget.mean_cost) * sum(budget.buffers) / budget.cost
    ceiling, found = max(math.ceil(x), 1), design_limit(budget, SOME)
    wanted = tuple(Fraction(size, ceiling) for size in budget.buffers)
    binding = ("buffers", "cost") if x == ceiling else ("buffers",)
    if (found.K, found.rates, found.binding) != (ceiling, wanted, binding):
        return {"K": found.K, "rates": found.rates, "binding": found.binding, "ceiling": ceiling}
    for point in found.candidates:
        best = min(Fraction(sum(budget.buffers), point.K), Fraction(budget.cost) / budget.mean_cost)
        if best_rate(point.K, budget) != best or (point.feasible and point.total_rate != best):
            return {"K": point.K, "rate": point.total_rate, "best": best}
        if point.feasible != (point.cost <= budget.cost and point.occupancy <= sum(budget.buffers)):
            return {"K": point.K, "cost": point.cost, "feasible": point.feasible}
    return None


@drawn(r"$D=2$, $\sigma=3$, $\eta=1/10$, $E=4$, $G=L=1$, in floats to $10^{-9}$", (60, 60), budget=BUDGETS)
def limit_design_has_the_least_share(budget: Budget) -> Found:
    """The long-run share that theory's design reports is the least of its candidates, and the formula's own value."""
    found = design_limit(budget, SOME)
    merged, n = SOME.merged, float(found.total_rate * found.K)
    drift = float(SOME.eta * SOME.G * (SOME.E * SOME.G + (SOME.E - 1) * SOME.D * SOME.L / 2))
    wanted = merged.D * merged.sigma / n**0.5 + float(merged.eta) * merged.sigma**2 / n + drift
    least = min(point.bound for point in found.candidates if point.feasible)
    fine = abs(found.bound - wanted) < 1e-9 * wanted and found.bound <= least * (1 + 1e-12)
    return unless(fine, bound=found.bound, formula=wanted, least=least)


ESTABLISHED: dict[str, Any] = {
    "feasible": (from_x_on_is_feasible, confirming(limit_design_is_the_ceiling)),
    "against every other $K$": (
        theorem("Design.optimal_k", domain="every budget, every $K$ and rate that it allows, all constants"),
        confirming(limit_design_has_the_least_share),
    ),
}

CLAIMS = [
    Claim(
        id="cor:optimal-k",
        kind="corollary",
        substance="corrected",
        title=r"$K^\star$ is $\lceil x\rceil$ or $\max(\lfloor x\rfloor,1)$, the better",
        statement=said(
            r"As $T$ grows, the better of $\lceil x\rceil$ and $\max(\lfloor x\rfloor,1)$, $x=@x$, called the two "
            r"nearest feasible integers, is optimal with $\lambda_m=B_m/K^\star$. (“Feasible” is the paper's word. "
            r"Unless $x$ is whole, its formula offers a floor that is not; read by the word, the ceiling is left.)",
            **RATIO,
        ),
        formula=said(
            r"K^\star=\lceil x\rceil\ \text{or}\ \max(\lfloor x\rfloor,1),\quad\lambda_m=B_m/K^\star,\quad x=@x",
            **RATIO,
        ),
        domain=r"$T\to\infty$",
        repair=r"Write $K^\star=\max(\lceil x\rceil,1)$, the one of the two that is feasible.",
        hypotheses=(
            "“feasible”, as printed, is taken to exclude the floor wherever it is below $x$, although the printed "
            "formula offers it",
        ),
        checks=(
            both_are_feasible,
            lambda: refutes(
                always(COST > C, given=[k < fill_ratio(BUDGET)], domain=BELOW),
                r"$\lambda_m=B_m/K$ with $K<x$ costs more than $C$ in every round: the floor is infeasible unless $x$ "
                "is whole",
            ),
        ),
        checks_with_hypotheses=ESTABLISHED,
        corrected=Correction(
            title=r"$K^\star=\max(\lceil x\rceil,1)$",
            statement=r"$K^\star=\max(\lceil x\rceil,1)$ with $\lambda_m=B_m/K^\star$, the smallest $K$ that fills "
            "the buffers within the cost budget: for all large $T$ its bound is below that of every other fixed "
            "$K$ and rate that buffers and budget allow.",
            formula=said(r"K^\star=\max(\lceil x\rceil,1),\quad\lambda_m=B_m/K^\star,\quad x=@x", **RATIO),
            sketch=said(
                r"$K<x$ can afford rate $C/\bar c$ only, occupancy $KC/\bar c<\sum B$: a larger share $@share$ of "
                r"every round. All $K\ge x$ share the least one. Among them the first two terms differ by $O(1)$ in "
                r"total, the third, $@third$ times $\sqrt{T\log T}$, grows with $K$, so the smallest wins. Lower "
                "rates leave buffers empty. (By the "
                "same limit the printed rule, the better of two full buffers, would always take the floor, which "
                "cannot be paid for.)",
                share=share(n),
                third=third_terms(total_buffer / K),
            ),
            hypotheses=("the corrected bound (or any with the same leading terms)",),
            checks=ESTABLISHED,
        ),
    )
]
