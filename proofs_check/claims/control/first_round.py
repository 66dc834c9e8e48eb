r"""What the first round does to the buffers and to the budget (`alg:acdpp/first-round`).

Without debt \(J_1=Vp\) falls in Λ, whatever V, the costs and the constants: round 1 admits the region's upper end
\(\bar\Lambda/(1-\rho)\). It overfills the buffers when ρ > 1-1/K, and its cost is never quite repaid.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import sympy as sp

from proofs_check.claim import WRITTEN, Claim, Context, Correction, confirming
from proofs_check.engines.exact import exhaust
from proofs_check.engines.identity import equal
from proofs_check.engines.simulation import compare_mean, control_loop, uniform
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, fails, holds, obeying, refutes, together
from proofs_check.groundwork.control.drift_step import without_debt
from proofs_check.groundwork.control.repaired_penalty import plain, totals_are_sums
from proofs_check.groundwork.control.violation_symbols import SETTING
from proofs_check.symbols import REGION, C, K, T, rate, rho
from proofs_check.text import said
from theory.admission import AdmissionState, acdpp_round
from theory.paper import BUDGET, BUFFERS, RATE, RETENTION
from theory.region import region_maximum, region_maximum_total, region_minimum, region_minimum_total
from theory.setting import Constants, Region
from theory.violation import cost_violation_least

LEAST = cost_violation_least(T, rho, C)


def buffers_overflow() -> Evidence:
    """Λ_max(1) > KΛ̄ = ΣB wherever ρ > 1-1/K."""
    first = plain(region_maximum(REGION, 1))
    more = always(
        first > K * rate,
        given=[rho < 1, rho > 1 - 1 / K],
        domain="every $K$ and "
        r"$\rho>1-1/K$, $\sum B=K\bar\Lambda$",
    )
    found = refutes(
        more,
        r"round 1 admits more than all buffers hold, for every $K$, $\bar\Lambda$, $V$, constants "
        r"and $\rho>1-1/K$",
    )
    return obeying(found, {r"round 1 of ACDPP admits $\Lambda_{\max}(1)$": without_debt()})


def played_first_round() -> Evidence:
    """The real policy, over V, ρ, costs, K and constants: it admits Λ_max(1), and books the debt."""
    light = Constants(D=3.0, sigma=0.5, eta=2.0, B=0.01, Pdim=50.0)

    def differs(V: float, rho: float, cost: float, constants: Constants) -> Any:
        region = Region(rate=float(RATE), rho=rho)
        start, budget = AdmissionState.initial(1, RETENTION), float(BUDGET)
        state, admitted = acdpp_round(start, cost, V=V, C=budget, region=region, constants=constants)
        most = float(region_maximum(region, 1))
        told = (float(admitted[0]), float(state.debt[0]), state.round)
        return (
            None
            if told == (most, max(cost * most - budget, 0.0), 2)
            else {"Λ(1), Z(2), round": told, "Λ_max": most}
        )

    points = product((1e-3, 1.0, 1e6), (0.1, 0.5, 0.99), (0.0, 5.5, 40.0), (SETTING, light))
    return exhaust(
        [{"V": V, "rho": rho, "cost": cost, "constants": constants} for V, rho, cost, constants in points],
        differs,
        domain=r"$V=1/1000$, 1, $10^6$; $\rho=0.1$, 0.5, 0.99; costs 0, 5.5, 40; two sets of constants; "
        r"$\bar\Lambda=K=10$, $C=55$",
    )


def never_repaid() -> Evidence:
    """Round 1 at the upper end, every later round at the lower one, costs of mean C/Λ̄: the least that can be spent."""
    decay = sp.Symbol("decay", positive=True)
    region = Region(rate=rate, rho=sp.exp(-decay))
    least = region_maximum(region, 1) + region_minimum_total(region, T + 1) - region_minimum(region, 1)
    c, admitted, low = sp.symbols("c admitted low", nonnegative=True)
    return together(
        equal(
            C / rate * least - C * T,
            cost_violation_least(T, region.rho, C),
            domain=r"every $T\ge1$ and $\rho=\exp(-\text{decay})$; $\mathbb E[c(t)]\bar\Lambda=C$ in "
            "every round",
            what="the least violation and theory's",
        ),
        always(
            c * admitted >= c * low,
            given=[admitted >= low],
            domain=r"every later round, $c\ge0$: no less is spent",
        ),
    )


def cost_is_never_met() -> Evidence:
    """The least violation is positive at every horizon."""
    x = sp.Symbol("x", positive=True)  # ρ^T
    least = sp.expand_power_exp(LEAST).subs(rho**T, x)
    positive = always(
        sp.Gt(least, 0, evaluate=False),
        given=[rho < 1],
        domain=r"the least violation when $\mathbb E[c(t)]\bar\Lambda=C$: every $T$, $\rho$ and $C$",
    )
    found = refutes(
        positive, f"the mean cost exceeds the budget at every horizon T, by {said('$@least$', least=LEAST)}"
    )
    facts = {"round 1 of ACDPP admits Λ_max(1)": without_debt(), "no policy spends less": never_repaid()}
    return obeying(found, facts)


def violation_in_the_loop(context: Context) -> Evidence:
    """Costs uniform on [1, 10], ρ = 0.99: the numbers of the first hundred rounds, and a violation beyond chance."""
    rounds, runs, rho = 100, context.choose(3000, 20000), 0.99
    region = Region(rate=float(RATE), rho=rho)
    drawn = uniform(1, 10).draw(context.generator(), runs, rounds)
    played = control_loop(drawn, K=RETENTION, V=1.0, C=float(BUDGET), region=region, constants=SETTING)
    excess = (played.spent - BUDGET).cumsum(axis=0).mean(axis=1)
    most = 10 * float(region_maximum_total(region, rounds + 1)) - BUDGET * rounds
    numbers: dict[str, Any] = {
        "mean Z(2)": float(played.debt[1].mean()),
        "mean violation after 1, 10 and 100 rounds": [float(excess[i]) for i in (0, 9, 99)],
        "the least possible mean": cost_violation_least(rounds, rho, BUDGET),
        "samples in memory, rounds 1 and 10": [
            float(played.admitted[:k].sum(axis=0).mean()) for k in (1, 10)
        ],
    }
    return compare_mean(
        (played.spent - BUDGET).sum(axis=0),
        0.0,
        low=-float(BUDGET * rounds),
        high=most,
        domain=f"MNIST budgets, costs uniform on [1, 10], ρ = 0.99, V = 1, T = {rounds}",
        what=r"$\sum (c\Lambda-C)$, which must not be positive",
        **numbers,
    )


def capacity_step() -> Evidence:
    """Retained samples fit, and no more than the room left is admitted: all fit again."""
    retained, room, admitted = sp.symbols("retained room admitted", nonnegative=True)
    return always(
        retained + admitted <= room,
        given=[admitted <= room - retained],
        domain="one round; what is retained in the next is a part of it, so it fits again",
    )


def capacity_in_the_loop(context: Context) -> Evidence:
    """The real policy with a capacity: never above it, at it in round 1, and as printed where it does not bind."""
    rounds, runs, capacity = context.choose(200, 1000), 50, float(sum(BUFFERS))
    region, state = Region(rate=float(RATE), rho=0.99), AdmissionState.initial(runs, RETENTION)
    rules: dict[str, Any] = {"V": 1.0, "C": float(BUDGET), "region": region, "constants": SETTING}
    fullest, least = 0.0, float("inf")
    for t, cost in enumerate(uniform(1, 10).draw(context.generator(), runs, rounds), start=1):
        held, (_, free) = state.retained, acdpp_round(state, cost, **rules)
        state, admitted = acdpp_round(state, cost, **rules, capacity=capacity)
        fullest = max(fullest, float((held + admitted).max()))
        least = min(least, float((held + admitted).min())) if t == 1 else least
        _, none = acdpp_round(state, cost, **rules, capacity=state.retained / 2)
        if none.any():
            shown = {"t": t, "retained": state.retained, "admitted": none}
            return fails(
                "simulation", "more than full, and yet something is admitted", domain="", certificate=shown
            )
        if not (admitted[held + free <= capacity] == free[held + free <= capacity]).all():
            shown = {"t": t, "capped": admitted, "as printed": free}
            return fails("simulation", "the cap changes what fits", domain=f"round {t}", certificate=shown)
    domain = f"MNIST budgets, ρ = 0.99, {runs} runs of {rounds} rounds"
    certificate = {"fullest memory": fullest, "memory in round 1": least, "ΣB": capacity}
    if fullest <= capacity * (1 + 1e-12) and least == capacity:
        return holds(
            "simulation",
            r"full from round 1 on and never above $\sum B$",
            domain=domain,
            certificate=certificate,
        )
    return fails("simulation", f"the memory reached {fullest}", domain=domain, certificate=certificate)


CLAIMS = [
    Claim(
        id="alg:acdpp/first-round",
        kind="reading",
        title="ACDPP keeps to its buffers and its budget",
        statement="The policy as printed meets the average cost constraint, and the buffers hold what it "
        "admits, from the first round on $(Z(1)=0)$.",
        formula=r"\tfrac1T\sum_tE[c(t)\Lambda(t)]\le C,\quad n(t)\le\sum_mB_m",
        domain=r"the benchmark design $K\bar\Lambda=\sum B$, mean cost times $\bar\Lambda$ equal to $C$, "
        "every $T$",
        checks=(buffers_overflow, cost_is_never_met, violation_in_the_loop),
        corrected=Correction(
            title=said(
                r"round 1 admits $\bar\Lambda/(1-\rho)$; $\mathrm{Vio}^{\mathrm{S}}(T)\ge @least$ at "
                "every $T$; cap by the room left",
                least=LEAST,
            ),
            statement=said(
                r"Without debt $J_1$ is $V\cdot p$, which falls in $\Lambda$: round 1 admits $@first$, "
                r"more than $\sum B=K\bar\Lambda$ when $\rho>1-1/K$, and spends $C/(1-\rho)$ on average. "
                r"Inside the region that is never quite repaid: $\mathrm{Vio}^{\mathrm{S}}(T)\ge @least$ "
                "for every $T$. A cap of the admission by the room that is left keeps the memory within "
                r"$\sum B$ (and may leave the region at its lower end).",
                first=plain(region_maximum(REGION, 1)),
                least=LEAST,
            ),
            formula=said(
                r"\mathrm{Vio}^{\mathrm S}(T)\ge@least>0\quad\forall T",
                least=LEAST,
            ),
            hypotheses=(r"$\mathbb E[c(t)\mid \text{past}]=C/\bar\Lambda$ in every round",),
            given=(WRITTEN,),
            sketch=r"$J_1=V\cdot p(\Lambda,\Lambda)$ is $V$ times the third term, which falls. $\mathbb "
            r"E[c(t)\Lambda(t)]\ge\mathbb E[c(t)]\Lambda_{\min}(t)$ for $t\ge2$, and round 1 spends "
            r"$(C/\bar\Lambda)\Lambda_{\max}(1)$. Add up: "
            r"$1/(1-\rho)+\sum_{t=2}^T(1-\rho^t)-T=\rho+\rho^{T+1}/(1-\rho)$. With a cap the memory "
            r"after admission is at most $\sum B$, and what is retained in the next round is a part of "
            "it.",
            checks={
                "round 1": (without_debt, confirming(played_first_round)),
                "never repaid": never_repaid,
                "totals": totals_are_sums,
                "capped": (capacity_step, confirming(capacity_in_the_loop)),
            },
        ),
    ),
]
