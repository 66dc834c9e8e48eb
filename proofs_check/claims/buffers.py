r"""The buffers (`rem:buffer-violation`), and what the first round does to them and to the budget.

`alg:acdpp` starts without debt, so its first round admits the upper end of the region, \(\bar\Lambda/(1-\rho)\).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from proofs_check.claim import Claim, Context, Correction
from proofs_check.claims.comparison import histories, placed, repaired_generalisation
from proofs_check.claims.orders import diverges, tight_regions
from proofs_check.claims.violations import BUDGET, RATE, RETENTION, SETTING, WIDE, C, h, rate
from proofs_check.engines.enclosure import compare
from proofs_check.engines.exact import exhaust, regions, retentions, search
from proofs_check.engines.identity import equal
from proofs_check.engines.simulation import compare_mean, control_loop, uniform
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, holds, refutes, undecided
from proofs_check.simulator import simulate
from theory.admission import AdmissionState, acdpp_round
from theory.algebra import ball
from theory.lambert import lambert_total
from theory.region import region_maximum, region_maximum_total, region_minimum, region_minimum_total
from theory.setting import Region
from theory.violation import buffer_violation_bound

__all__ = ["BUFFER_CLAIMS"]

BUFFERS = (8, 9, 10, 11, 12, 8, 9, 10, 11, 12)  # of the paper's ten MNIST clients


def lambert_order() -> Evidence:
    """a·S = γ - log a + a/4 - … with a = -log ρ: the sum is ((log 1/(1-ρ)) + γ)/(1-ρ) to leading order."""

    def distance(p: Any) -> Any:
        a = -p["region"].map(ball).rho.log()
        return abs(a * lambert_total(p["region"].map(ball).rho) - a.const_euler() + a.log())

    return compare(
        distance,
        "<=",
        lambda p: -p["region"].map(ball).rho.log() / 3,
        tight_regions(range(1, 7)),
        domain="|a·Σρ^t/(1-ρ^t) - (γ - log a)| <= a/3 with a = -log ρ",
    )


# --- rem:buffer-violation ----------------------------------------------------------------------------------


def one_client_takes_all() -> Evidence:
    """Two clients with buffers 2 and 2, K = 2, two admissions a round, all for the first client: J_t cannot tell."""

    def grows(T: int) -> Any:
        rounds = simulate([[2, 0]] * T, 2)
        violation = max(sum(s.n_of(0) - 2 for s in rounds), 0) + max(sum(s.n_of(1) - 2 for s in rounds), 0)
        return (
            None
            if violation <= 2
            else {"Vio^B(T)": violation, "n_1": [s.n_of(0) for s in rounds][-1], "B_1": 2}
        )

    return exhaust(
        [{"T": T} for T in (1, 2, 40)],
        grows,
        domain="sample-level simulation; Λ = 2 in every round, ΣB = KΛ̄ = 4; the violation is 2(T-1)",
    )


def one_client_without_end() -> Evidence:
    T, K, own = sp.symbols("T K B1", positive=True)
    return diverges(
        (T - K) * (K * rate - own).subs(own, K * rate / 2),
        T,
        what="the first client's violation, at least (T-K)(KΛ̄-B_1),",
        domain="all admissions for a client with B_1 = KΛ̄/2, any K and Λ̄",
    )


def overflow_in_rho() -> Evidence:
    K = sp.Symbol("K", positive=True)
    return diverges(
        region_maximum(WIDE, 1) - K * rate,
        h,
        what="the buffer violation of round 1, Λ_max(1) - ΣB,",
        domain="T = 1, ΣB = KΛ̄; ρ = 1 - 1/h, h → ∞",
    )


def region_bounds_buffers(context: Context) -> Evidence:
    def exceeds(K: int, region: Region, positions: list[Fraction]) -> Any:
        admitted, T = placed(region, positions), len(positions)
        held = [sum(admitted[max(t - K, 0) : t], Fraction(0)) for t in range(1, T + 1)]
        violation, bound = sum(held) - K * region.rate * T, buffer_violation_bound(K, T, region)
        return None if violation <= bound else {"Σ(n-ΣB)": violation, "bound": bound}

    return search(
        context,
        {"K": retentions(5), "region": regions(), "positions": histories(12).filter(bool)},
        exceeds,
        domain="any admissions inside the region, ΣB = KΛ̄, n_m/B_m the same for all clients",
        examples=context.choose(60, 400),
    )


def counted_at_most() -> Evidence:
    """Each admission is counted in at most K rounds: K(Λ-Λ̄) summed, and Λ <= Λ_max."""
    K, T, admitted, held = sp.symbols("K T admitted held", positive=True)
    S = sp.Symbol("S", nonnegative=True)
    return always(
        held - K * rate * T <= K * rate * S,
        given=[held <= K * admitted, admitted <= rate * (T + S)],
        domain="every policy inside the region: Σn(t) <= KΣΛ(t) <= KΛ̄(T+S)",
    )


# --- alg:acdpp/first-round ---------------------------------------------------------------------------------


def first_round_is_the_most() -> Evidence:
    """No debt, nothing in memory: J_1 = V·p(Λ, Λ) falls in Λ, so Λ(1) = Λ_max(1); played by the real minimiser."""

    def differs(V: float, rho: Fraction) -> Any:
        region = Region(rate=float(RATE), rho=float(rho))
        _, admitted = acdpp_round(
            AdmissionState.initial(1, RETENTION), 5.5, V=V, C=float(BUDGET), region=region, constants=SETTING
        )
        most = float(RATE / (1 - rho))
        if abs(admitted[0] - most) > 1e-9 * most:
            return None
        held = {"admitted": most, "ΣB": sum(BUFFERS), "mean cost": 5.5 * most, "C": BUDGET}
        return held if most > sum(BUFFERS) else None

    return exhaust(
        [{"V": 1.0, "rho": Fraction(99, 100)}],
        differs,
        domain="the paper's MNIST budgets: ΣB = 100, C = 55, mean cost 5.5, Λ̄ = 10, K = 10; any V",
    )


def never_repaid() -> Evidence:
    """Round 1 at the upper end, every later round at the lower one, costs of mean C/Λ̄: the least that can be spent."""
    T = sp.Symbol("T", integer=True, positive=True)
    decay = sp.Symbol("decay", positive=True)
    rho = sp.exp(-decay)
    region = Region(rate=rate, rho=rho)
    least = region_maximum(region, 1) + region_minimum_total(region, T + 1) - region_minimum(region, 1)
    return equal(
        C / rate * least - C * T,
        C * (rho + rho ** (T + 1) / (1 - rho)),
        domain="every T >= 1 and ρ = exp(-decay); E[c(t)]Λ̄ = C in every round",
        what="the least violation and C(ρ + ρ^(T+1)/(1-ρ))",
    )


def cost_is_never_met() -> Evidence:
    x, rho = sp.symbols("x rho", positive=True)
    positive = always(
        C * (rho + rho * x / (1 - rho)) > 0,
        given=[rho < 1, x < 1],
        domain="the least violation C(ρ + ρ^(T+1)/(1-ρ)), x = ρ^T, when E[c(t)]Λ̄ = C: every T, ρ and C",
    )
    return refutes(
        positive, "the mean cost exceeds the budget at every horizon T, by C(ρ + ρ^(T+1)/(1-ρ)) in total"
    )


def violation_in_the_loop(context: Context) -> Evidence:
    """Costs uniform on [1, 10], ρ = 0.99: the numbers of the first hundred rounds, and a violation beyond chance."""
    rounds, runs, rho = 100, context.choose(3000, 20000), 0.99
    region = Region(rate=float(RATE), rho=rho)
    drawn = uniform(1, 10).draw(context.generator(), runs, rounds)
    played = control_loop(drawn, K=RETENTION, V=1.0, C=float(BUDGET), region=region, constants=SETTING)
    excess = np.cumsum(played.spent - BUDGET, axis=0).mean(axis=1)
    most = 10 * float(region_maximum_total(region, rounds + 1)) - BUDGET * rounds
    numbers: dict[str, Any] = {
        "mean Z(2)": float(played.debt[1].mean()),
        "mean violation after 1, 10 and 100 rounds": [float(excess[i]) for i in (0, 9, 99)],
        "the least possible mean": BUDGET * (rho + rho ** (rounds + 1) / (1 - rho)),
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
        what="Σ(cΛ-C), which must not be positive",
        **numbers,
    )


def capacity_step() -> Evidence:
    retained, wish, room = sp.symbols("retained wish room", nonnegative=True)
    admitted = sp.Symbol("admitted", nonnegative=True)
    return always(
        retained + admitted <= room,
        given=[retained <= room, admitted <= wish, admitted <= room - retained],
        domain="one round: what is kept never grows, so retained <= ΣB again in the next",
    )


def capacity_in_the_loop(context: Context) -> Evidence:
    rounds, runs = context.choose(200, 1000), 50
    region, state = Region(rate=float(RATE), rho=0.99), AdmissionState.initial(runs, RETENTION)
    costs = uniform(1, 10).draw(context.generator(), runs, rounds)
    fullest = 0.0
    for cost in costs:
        held = state.retained
        state, admitted = acdpp_round(
            state,
            cost,
            V=1.0,
            C=float(BUDGET),
            region=region,
            constants=SETTING,
            capacity=float(sum(BUFFERS)),
        )
        fullest = max(fullest, float((held + admitted).max()))
    domain = f"MNIST budgets, ρ = 0.99, {runs} runs of {rounds} rounds"
    certificate = {"fullest memory": fullest, "ΣB": sum(BUFFERS)}
    if fullest <= sum(BUFFERS) * (1 + 1e-12):
        return holds("simulation", "the memory never exceeds ΣB", domain=domain, certificate=certificate)
    return undecided("simulation", f"the memory reached {fullest}", domain=domain, certificate=certificate)


BUFFER_CLAIMS = [
    Claim(
        id="rem:buffer-violation",
        kind="remark",
        title="Vio^B = O(1)",
        statement="With a suitable fixed K the cumulative buffer violation, client by client, stays bounded "
        "(the policy chooses the total admission alone; Remark 1 lets ρ tend to 1).",
        latex=r"\mathrm{Vio}^{\mathrm B}(T)=\sum_m\Bigl[\sum_tE[n_m(t)-B_m]\Bigr]^+=O(1)",
        unicode="Vio^B(T) = Σ_m [ΣE[n_m - B_m]]⁺ = O(1)",
        domain="ΣB = KΛ̄, any split of Λ(t) over the clients, 0 < ρ < 1",
        checks=(one_client_takes_all, one_client_without_end, overflow_in_rho),
        hypotheses=("Λ(t) is split over the clients in proportion to B_m", "ρ is fixed"),
        checks_with_hypotheses=(counted_at_most,),
        corrected=Correction(
            title="split ∝ B_m: Vio^B <= KΛ̄·Σρ^t/(1-ρ^t) ~ KΛ̄·log(1/(1-ρ))/(1-ρ)",
            statement="If Λ(t) is split in proportion to the buffers, Vio^B(T) <= KΛ̄·Σ_{t<=T} ρ^t/(1-ρ^t): "
            "bounded in T, but of order log(1/(1-ρ))/(1-ρ) in ρ. J_t sees only the total, so without a rule "
            "for the split it says nothing about single clients.",
            latex=r"\mathrm{Vio}^{\mathrm B}(T)\le K\bar\Lambda\sum_{t\le T}\frac{\rho^t}{1-\rho^t}"
            r"=K\bar\Lambda\,\frac{\psi_\rho(1)-\psi_\rho(T+1)}{\log\rho}",
            unicode="Vio^B(T) ≤ KΛ̄·Σρ^t/(1-ρ^t) = KΛ̄(ψ_ρ(1) - ψ_ρ(T+1))/log ρ",
            hypotheses=("λ_m(t) = Λ(t)B_m/ΣB", "ΣB = KΛ̄"),
            sketch="With that split all clients violate or none does, and Vio^B = [Σ(n-ΣB)]⁺. Each "
            "admission is counted in at most K rounds, so Σn <= KΣΛ <= KΛ̄(T+S_T). S = (γ - log a)/a + 1/4 "
            "- … with a = -log ρ.",
            checks=(
                lambda: counted_at_most().about("bound"),
                lambda context: region_bounds_buffers(context).about("bound"),
                lambda: lambert_order().about("order in ρ"),
            ),
        ),
    ),
    Claim(
        id="alg:acdpp/first-round",
        kind="reading",
        title="ACDPP keeps to its buffers and its budget",
        statement="The policy as printed meets the average cost constraint, and the buffers hold what it "
        "admits, from the first round on (Z(1) = 0).",
        latex=r"\tfrac1T\sum_tE[c(t)\Lambda(t)]\le C,\quad n(t)\le\sum_mB_m",
        unicode="(1/T)ΣE[cΛ] ≤ C, n(t) ≤ ΣB",
        domain="the benchmark design KΛ̄ = ΣB, mean cost times Λ̄ equal to C, every T",
        checks=(first_round_is_the_most, cost_is_never_met, violation_in_the_loop),
        corrected=Correction(
            title="round 1 admits Λ̄/(1-ρ); Vio^S(T) >= C(ρ + ρ^(T+1)/(1-ρ)) at every T; cap by the room left",
            statement="Without debt J_1 is V·p, which falls in Λ: round 1 admits Λ̄/(1-ρ), more than ΣB = "
            "KΛ̄ when ρ > 1-1/K, and spends C/(1-ρ) on average. Inside the region that is never quite "
            "repaid: Vio^S(T) >= C(ρ + ρ^(T+1)/(1-ρ)) for every T. A cap of the admission by the room that "
            "is left keeps the memory within ΣB (and may leave the region at its lower end).",
            latex=r"\mathrm{Vio}^{\mathrm S}(T)\ge C\Bigl(\rho+\frac{\rho^{T+1}}{1-\rho}\Bigr)>0\quad\forall T",
            unicode="Vio^S(T) ≥ C(ρ + ρ^{T+1}/(1-ρ)) > 0 for all T",
            hypotheses=("E[c(t) | past] = C/Λ̄ in every round",),
            sketch="E[c(t)Λ(t)] >= E[c(t)]Λ_min(t) for t >= 2, and round 1 spends (C/Λ̄)Λ_max(1). Add up: "
            "1/(1-ρ) + Σ_{t=2}^T(1-ρ^t) - T = ρ + ρ^(T+1)/(1-ρ).",
            checks=(
                lambda: repaired_generalisation().about("round 1"),
                lambda: never_repaid().about("never repaid"),
                lambda: capacity_step().about("capped"),
                lambda context: capacity_in_the_loop(context).about("capped"),
            ),
        ),
    ),
]
