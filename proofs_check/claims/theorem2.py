r"""The regret (`thm:dpp-regret`): what every policy inside the region pays, whatever V; and its sign.

Under constant admission Reg = Ω₁ + Ω₃ exactly. Every other policy inside the region differs from it by a bounded
amount, because the region contracts geometrically (`proofs_check.claims.envelope`). So the order of the regret is that
of Ω₃, for ACDPP at any V and for every other policy.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from proofs_check.claim import Claim, Context, Correction
from proofs_check.claims.comparison import histories, placed
from proofs_check.claims.envelope import eventual_range, mismatch_range, regret_end, spread, summed, three
from proofs_check.claims.omega1 import corrected_order, narrows
from proofs_check.claims.omega3 import omega3_order
from proofs_check.claims.orders import HORIZONS, UNIT, t
from proofs_check.engines.enclosure import compare
from proofs_check.engines.exact import exhaust, regions, retentions, search
from proofs_check.engines.limit import at_most, eventually
from proofs_check.engines.simulation import control_loop, drifting, markov, uniform
from proofs_check.evidence import Evidence, fails, holds, undecided
from theory.algebra import ball, log, precise, sqrt
from theory.bound import Terms, theorem_1, theorem_1_as_stated
from theory.constant_admission import constant_round, oracle_bound, oracle_bound_as_stated
from theory.lambert import lambert_partial
from theory.penalty import penalty_terms
from theory.rates import regret_rate_as_stated
from theory.region import region_maximum, region_maximum_total, region_minimum_total
from theory.regret import omega3_limit
from theory.reuse import trajectory
from theory.setting import Constants, Region
from theory.violation import cost_violation_rate

__all__ = ["THEOREM2"]

USUAL = Region(rate=10, rho=Fraction(9, 10))


# --- thm:dpp-regret ----------------------------------------------------------------------------------------


def every_policy_as_stated(context: Context) -> Evidence:
    """V = T and ρ fixed make the printed rate a constant plus log T. Below: the least regret inside the region."""
    lag, lambert = sp.symbols("lag S", positive=True)
    low, _ = eventual_range(2, t, 10, lag, lambert, UNIT, stated=True)
    least = low - constant_round(1, t, 20, UNIT)
    domain = "V = T, any fixed ρ (lag = ρ/(1-ρ), S its Lambert sum), K = 2, Λ̄ = 10, constants 1, Pdim 5; as printed"
    saved, found = (
        at_most(eventually(part, t), t, sp.log(t), domain=domain)
        for part in (least.root + least.linear, least.generalisation)
    )
    if saved.outcome != "holds":
        return undecided("limit", f"what the first two terms can save: {saved.detail}", domain=domain)
    rows = {}
    for T in context.choose(HORIZONS[::2], HORIZONS):
        regret = regret_end(2, USUAL, T, UNIT, stated=True, upper=False)
        with precise():
            printed = regret_rate_as_stated(ball(T), ball(T), ball(USUAL.rho))
            numbers = {"least Reg": regret, "T/V+1/(1-ρ)+log T": printed, "quotient": regret / printed}
        rows[f"T = {T:.0e}, V = T, ρ = 9/10"] = ", ".join(
            f"{name} = {x.str(6, radius=False)}" for name, x in numbers.items()
        )
    detail = "the least regret of any policy inside the region, over the printed rate, tends to infinity"
    return replace(
        found,
        detail=detail if found.outcome == "fails" else found.detail,
        certificate={
            **rows,
            "first two terms": saved.detail,
            "third term": found.detail,
            **found.certificate,
        },
    )


def range_exact(context: Context) -> Evidence:
    """The region's enclosure of 1/n - 1/N_eff, of χ and of N_eff, against every admission sequence drawn."""

    def outside(K: int, region: Region, positions: list[Fraction]) -> Any:
        path = trajectory(placed(region, positions), K)
        for index in range(len(positions)):
            k = min(index + 1, K)
            oldest = index + 2 - k
            fewest = region_minimum_total(region, oldest + 1)
            most = region.rate * (index + 1 + lambert_partial(region.rho, index + 2))
            effective = path.effective[index]
            for stated, value in ((True, 1 / path.n[index] - 1 / effective), (False, path.mismatch[index])):
                low, high = mismatch_range(k, region.rho**oldest, region.rate, fewest, most, stated=stated)
                if not (low <= value <= high and fewest <= effective <= most):
                    return {"t": index + 1, "stated": stated, "value": value, "low": low, "high": high}
        return None

    positions = histories(12).filter(bool)
    return search(
        context,
        {"K": retentions(5), "region": regions(), "positions": positions},
        outside,
        domain="any admissions inside the region, every round t >= 1, both forms",
        examples=context.choose(40, 300),
    )


def certified_order(context: Context) -> Evidence:
    """Both ends of the regret's range against the limit."""

    def off(p: Any) -> Any:
        scale = omega3_limit(ball(p["K"]), ball(10), UNIT.map(ball)) * sqrt(p["T"] * log(ball(p["T"])))
        low, high = (
            regret_end(p["K"], USUAL, p["T"], UNIT, stated=False, upper=upper) for upper in (False, True)
        )
        return abs(low / scale - 1).max(abs(high / scale - 1))

    grid = [
        {"K": k, "T": T}
        for k in context.choose((2,), (2, 10))
        for T in context.choose((10**6, 10**12), HORIZONS[1:])
    ]
    return compare(
        off,
        "<=",
        lambda p: 3 / (2 * log(ball(p["T"]))),
        grid,
        domain="every policy inside the region ρ = 0.9, Λ̄ = 10, constants 1, with χ: |Reg/(limit·√(T log "
        "T)) - 1| <= 3/(2·log T)",
    )


def spread_in_rho(context: Context) -> Evidence:
    """What a policy, and so V, can change: the range's width, bounded in T and of order log(1/(1-ρ))/(1-ρ)."""
    powers = context.choose((1, 3), range(1, 7))

    def scaled(p: Any) -> Any:
        region = Region(rate=10, rho=1 - Fraction(1, 10 ** p["e"]))
        return spread(2, region, p["T"], UNIT, stated=False) / cost_violation_rate(region.map(ball).rho)

    return compare(
        scaled,
        "<=",
        lambda p: 20,
        [{"1 - rho": f"1e-{e}", "e": e, "T": T} for e in powers for T in context.choose((10**9,), (10**12,))],
        domain="K = 2, Λ̄ = 10, constants 1, Pdim 5: (largest - smallest bound)·(1-ρ)/log(1/(1-ρ)) <= 20",
    )


def in_the_loop(context: Context) -> Evidence:
    """The real loop at three V and three cost processes: each run's regret lies in the range."""
    rounds, runs, K = context.choose(200, 1000), 4, 6
    region, floats = Region(rate=10.0, rho=0.9), UNIT.map(float)
    low, high = (
        float(regret_end(K, USUAL, rounds, UNIT, stated=False, upper=upper)) for upper in (False, True)
    )
    oracle = three(oracle_bound(K * 10, rounds, UNIT).terms)
    seen: list[float] = []
    for costs in (uniform(1, 10), markov(1, 10, 0.9), drifting(2, 9, 1, rounds)):
        drawn = costs.draw(context.generator(), runs, rounds)
        for V in (1.0, 1e3, 1e6):
            played = control_loop(drawn, K=K, V=V, C=55.0, region=region, constants=floats)
            paths = [trajectory(played.admitted[:, run], K) for run in range(runs)]
            bounds = [theorem_1(p.n, p.N, p.uniformity, p.mismatch, floats).terms for p in paths]
            seen += [three(terms) - oracle for terms in bounds]
    domain = f"i.i.d., Markov and drifting costs; V = 1, 10^3, 10^6; K = {K}, ρ = 0.9, T = {rounds}"
    certificate = {
        "range": [low, high],
        "smallest and largest regret": [min(seen), max(seen)],
        "runs": len(seen),
    }
    if low <= min(seen) and max(seen) <= high:
        return holds(
            "simulation", f"all {len(seen)} regrets lie in the range", domain=domain, certificate=certificate
        )
    return fails("simulation", "a regret lies outside the range", domain=domain, certificate=certificate)


# --- eq:dpp-regret -----------------------------------------------------------------------------------------


def negative_at_once() -> Evidence:
    """One round, Λ̄ = 1, K = 2, ρ = 3/4: round 1 admits 4 samples where the oracle takes ΣB = 2."""
    simple = Constants(D=1, sigma=1, eta=1, B=1, Pdim=4)

    def below(T: int, K: int, rho: Fraction) -> Any:
        admitted = region_maximum(Region(rate=1, rho=rho), 1)
        policy = three(theorem_1_as_stated([admitted], [admitted], [1], simple).terms)
        oracle = three(theorem_1_as_stated([K], [K], [1], simple).terms)
        regret = sp.sympify(policy - oracle)
        return (
            {"admitted": admitted, "bound": policy, "oracle": oracle, "Reg": regret} if regret < 0 else None
        )

    return exhaust(
        [{"T": 1, "K": 2, "rho": Fraction(3, 4)}],
        below,
        domain="T = 1, Λ̄ = 1, ΣB = 2, B = 1, Pdim = 4; any V, D, σ, η",
    )


def negative_for_long() -> Evidence:
    """K = 2, ρ = 0.9, V = 10^9: the loop admits Λ_max; both forms of the regret, certified, after 50 rounds."""
    K, T = 2, 50
    path = [region_maximum(USUAL, s) for s in range(1, T + 1)]
    region, floats = USUAL.map(float), UNIT.map(float)
    played = control_loop(np.full((T, 1), 5.5), K=K, V=1e9, C=55.0, region=region, constants=floats)
    off = float(np.abs(played.admitted[:, 0] - np.array(path, dtype=float)).max())
    if off > 1e-9:
        return undecided("enclosure", f"the loop is {off} away from the upper ends", domain="ρ = 0.9")
    with precise():
        run = trajectory(np.array([ball(x) for x in path], dtype=object), K)
        n, N, uniformity, mismatch = (list(x) for x in (run.n, run.N, run.uniformity, run.mismatch))
        numbers = UNIT.map(ball)
        stated = three(theorem_1_as_stated(n, N, uniformity, numbers).terms)
        corrected = three(theorem_1(n, N, uniformity, mismatch, numbers).terms)
        oracles = [
            three(f(K * 10, T, UNIT, certified=True).terms) for f in (oracle_bound_as_stated, oracle_bound)
        ]
    return compare(
        lambda p: (stated - oracles[0]).max(corrected - oracles[1]),
        ">=",
        lambda p: 0,
        [
            {
                "K": K,
                "T": T,
                "rho": "9/10",
                "printed": (stated - oracles[0]).str(8),
                "with χ": (corrected - oracles[1]).str(8),
            }
        ],
        domain="Λ̄ = 10, ΣB = 20, C = 55, costs 5.5, constants 1, Pdim 5; the larger of the two forms",
    )


def positive_in_the_end(context: Context) -> Evidence:
    return compare(
        lambda p: regret_end(p["K"], USUAL, p["T"], UNIT, stated=p["form"] == "printed", upper=False),
        ">",
        lambda p: 0,
        [{"K": k, "T": T, "form": f} for k in (2, 10) for T in context.choose((10**6,), HORIZONS[1:])
         for f in ("printed", "with χ")],
        domain="the least regret of any policy inside the region ρ = 0.9, Λ̄ = 10, constants 1, Pdim 5",
    )  # fmt: skip


def negative_without_reuse(context: Context) -> Evidence:
    """K = 1, always Λ_max: no sample is reused, so χ = 1/n - 1/N and N_eff = N in both forms."""
    region = Region(rate=10, rho=Fraction(1, 2))

    def regret(p: Any) -> Any:
        exact, numbers = region.map(ball), UNIT.map(ball)

        def one(s: Any) -> Terms:
            return penalty_terms(region_maximum(exact, s), region_maximum_total(exact, s + 1), numbers)

        return three(summed(one, 1, p["T"])) - three(
            oracle_bound(region.rate, p["T"], UNIT, certified=True).terms
        )

    return compare(
        regret,
        "<",
        lambda p: 0,
        [{"K": 1, "T": T} for T in context.choose((10, 10**4), (10, 10**3, 10**6, 10**9))],
        domain="K = 1, ρ = 1/2, Λ̄ = 10, constants 1, Pdim 5: Reg of always admitting Λ_max (ACDPP with V → ∞)",
    )


def range_is_widened() -> Evidence:
    """Without reuse (K = 1) the order's constant is 0: what remains is the range, bounded in T."""
    return compare(
        lambda p: -regret_end(1, USUAL, p["T"], UNIT, stated=False, upper=False),
        "<=",
        lambda p: 400,
        [{"K": 1, "T": T} for T in (10**3, 10**9)],
        domain="K = 1, ρ = 0.9, Λ̄ = 10, constants 1, Pdim 5: Reg >= -400 for every policy inside the region",
    )


THEOREM2 = [
    Claim(
        id="thm:dpp-regret",
        kind="theorem",
        title="Reg = O(T/V) + O(1/(1-ρ)) + O(log T)",
        statement="The regret is of order T/V + 1/(1-ρ) + log T, with constants that do not depend on V "
        "(Remark 1 lets V grow with T).",
        latex=r"\mathrm{Reg}(T)=O(T/V)+O(1/(1-\rho))+O(\log T)",
        unicode="Reg(T) = O(T/V) + O(1/(1-ρ)) + O(log T)",
        domain="every V > 0, K >= 1, 0 < ρ < 1",
        checks=(every_policy_as_stated,),
        corrected=Correction(
            title="Reg ~ 20B√(Pdim/Λ̄)(1-1/√K)·√(T log T) for every policy inside the region, at any V",
            statement="At fixed ρ every policy inside the region has Reg(T) = (20B√(Pdim/Λ̄)(1-1/√K) + "
            "o(1))·√(T log T): not less, whatever V, and not more. Two policies differ by an amount that "
            "stays bounded as T grows, so nothing is left of T/V. For K = 1 the regret itself stays bounded.",
            latex=r"\mathrm{Reg}(T)=\Bigl(20B\sqrt{\mathrm{Pdim}/\bar\Lambda}\,(1-\tfrac1{\sqrt K})+o(1)"
            r"\Bigr)\sqrt{T\log T}",
            unicode="Reg(T) = (20B√(Pdim/Λ̄)(1-1/√K) + o(1))·√(T log T)",
            hypotheses=("the policy stays inside the region", "KΛ̄ = ΣB", "ρ is fixed"),
            sketch="Lower bound: N_eff <= N <= Λ̄(t+S), and the generalisation term falls in N, so each "
            "round pays at least what Λ̄(t+S) distinct samples cost, against KΛ̄t for the oracle. n exceeds "
            "KΛ̄ by a summable amount only, so the other terms save at most order log T. Upper bound: N_eff "
            ">= N(t-K+1) >= Λ̄(t-K+1-ρ/(1-ρ)). Constant admission has Reg = Ω₁ + Ω₃ exactly, and all ranges "
            "have summable width.",
            checks=(
                lambda: omega3_order().about("constant admission, Ω₃"),
                lambda: corrected_order().about("constant admission, Ω₁"),
                lambda: narrows(stated=False).about("every other policy"),
                lambda context: range_exact(context).about("every other policy"),
                certified_order,
                in_the_loop,
            ),
        ),
    ),
    Claim(
        id="thm:dpp-regret/spread",
        kind="addition",
        title="what V can change: O(log(1/(1-ρ))/(1-ρ)), not T/V",
        statement="The bounds of two policies inside the region differ by at most order log(1/(1-ρ))/(1-ρ), "
        "uniformly in T; so this is all that V, or the policy, can change.",
        latex=r"\bigl|\bar{\mathcal E}_T(\pi)-\bar{\mathcal E}_T(\pi')\bigr|=O\Bigl(\frac1{1-\rho}\log"
        r"\frac1{1-\rho}\Bigr)",
        unicode="|Ē_T(π) - Ē_T(π')| = O(log(1/(1-ρ))/(1-ρ))",
        domain="two policies inside the region, KΛ̄ = ΣB, with χ",
        checks=(spread_in_rho,),
    ),
    Claim(
        id="eq:dpp-regret",
        kind="definition",
        title="Reg >= 0: the oracle is a benchmark",
        statement="The regret, a difference of two upper bounds, measures how much worse than the costless "
        "oracle a policy is; so it is not negative.",
        latex=r"\mathrm{Reg}(T)=\bar{\mathcal E}_T-\bar{\mathcal E}_T^{\mathrm{oracle}}\ge0",
        unicode="Reg(T) = Ē_T - Ē_T^oracle ≥ 0",
        domain="ACDPP as printed, every V, K, ρ, T",
        checks=(negative_at_once, negative_for_long),
        corrected=Correction(
            title="negative early on, at K = 1 for long; positive for large T if K >= 2",
            statement="ACDPP admits up to Λ̄/(1-ρ) samples in a round, the oracle KΛ̄ at most, so early on, and "
            "without reuse (K = 1) for long, its bound can be below the oracle's. For K >= 2 the regret of every "
            "policy inside the region is positive from some T on; for K = 1 it is bounded below.",
            latex=r"K\ge2:\ \mathrm{Reg}(T)>0\text{ for large }T;\qquad K=1:\ \mathrm{Reg}(T)\ge-O_\rho(1)",
            unicode="K ≥ 2: Reg(T) > 0 for large T; K = 1: Reg(T) ≥ -O(1)",
            hypotheses=("the policy stays inside the region", "ρ is fixed"),
            sketch="The lower bound of thm:dpp-regret, corrected.",
            checks=(
                lambda: omega3_order().about("K >= 2"),
                lambda context: positive_in_the_end(context).about("K >= 2"),
                lambda: range_is_widened().about("K = 1, from below"),
                lambda context: negative_without_reuse(context).about("K = 1, negative"),
            ),
        ),
    ),
]
