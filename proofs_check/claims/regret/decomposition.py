r"""The regret's decomposition and its sign (`eq:omega-master`): as printed it fails on a run of ACDPP itself."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from proofs_check.claim import Claim, Context, Correction, Given, confirming
from proofs_check.engines.argument import argument
from proofs_check.engines.enclosure import compare
from proofs_check.engines.exact import exhaust, grid, unless
from proofs_check.engines.simulation import control_loop, uniform
from proofs_check.evidence import Evidence, fails, holds, obeying
from proofs_check.groundwork.control.drift_step import debts_after
from proofs_check.groundwork.control.orders import RATIONAL, UNIT
from proofs_check.groundwork.regret.envelope import bound_of, three
from proofs_check.symbols import T, V
from proofs_check.text import said
from theory import regret
from theory.algebra import ball, precise
from theory.bound import theorem_1_as_stated
from theory.constant_admission import oracle_bound, oracle_bound_as_stated
from theory.minimiser import generalisation_slopes, mismatch_slopes
from theory.penalty import penalty, penalty_comparison
from theory.region import region_maximum, region_minimum
from theory.reuse import trajectory
from theory.setting import Region

# --- as printed --------------------------------------------------------------------------------------------

K, ROUNDS, WEIGHT, COST, BUDGET = 2, 20, 10**6, 1, 1
TIGHT = Region(rate=1, rho=Fraction(1, 100))
ENDS = [region_maximum(TIGHT, s) for s in range(1, ROUNDS + 1)]


def played_by_acdpp() -> Evidence:
    """J_t falls on the whole of [Λ_min, Λ_max] in every round, its slope enclosed at once: ACDPP admits the upper end.

    -V·p' exceeds the price of a sample, Z·c. Where N may pass Pdim, a corner, the first two terms alone are enough.
    """
    debts = debts_after(ENDS, [COST] * ROUNDS, BUDGET)

    def pull(p: Any) -> Any:
        t, past = p["t"], ENDS[: p["t"] - 1]
        retained, seen = sum(past[max(t - K, 0) :]), sum(past)
        Lambda = ball(region_minimum(TIGHT, t)).union(ball(ENDS[t - 1]))
        numbers, N = UNIT.map(ball), ball(seen) + Lambda
        slope = mismatch_slopes(ball(retained) + Lambda, N, ball(seen - retained), numbers)[0]
        if numbers.Pdim < N or numbers.Pdim > N:
            slope += generalisation_slopes(N, numbers, int(bool(numbers.Pdim < N)))[0]
        return ball(WEIGHT) * slope

    return compare(
        pull,
        ">",
        lambda p: ball(debts[p["t"] - 1] * COST),
        grid(t=range(1, ROUNDS + 1)),
        domain=r"$-Vp'(\Lambda)$ against $Z(t)c$, for all $\Lambda$ in the region at once",
    )


def master_as_stated() -> Evidence:
    """K = 2, ρ = 1/100, costs 1, T = 20, V = 10^6: the regret of ACDPP's own path against the printed right side."""
    with precise():
        numbers, balls = UNIT.map(ball), np.array([ball(x) for x in ENDS], dtype=object)
        run = trajectory(balls, K)
        bound = three(theorem_1_as_stated(list(run.n), list(run.N), list(run.uniformity), numbers).terms)
        oracle = three(oracle_bound_as_stated(K * TIGHT.rate, ROUNDS, UNIT, certified=True).terms)
        parts = {
            "Ω₁": regret.omega1_as_stated(balls, K, numbers).total,
            "Ω₂": regret.omega2_as_stated(K, TIGHT, ROUNDS, UNIT, certified=True).total,
            "Ω₃": regret.omega3_as_stated(K, TIGHT.rate, ROUNDS, UNIT, certified=True).total,
            "BT": ROUNDS * ball(regret.drift_constant(TIGHT, 1, COST**2, BUDGET)),
            "V": ball(WEIGHT),
        }
    found = compare(
        lambda p: bound - oracle,
        "<=",
        lambda p: regret.master_bound_as_stated(*parts.values()),
        [{"K": K, "T": ROUNDS, "rho": "1/100", **{name: x.str(8) for name, x in parts.items()}}],
        domain=r"$\bar\Lambda=C=c=1$, constants 1, $\mathrm{Pdim}$ 5; everything as printed, with "
        r"$B=(\Lambda_{\max}(1)^2+C^2)/2$",
    )
    affordable = exhaust(  # and the costs don't look at the debt: they are constant
        [{"c": COST, "rate": TIGHT.rate, "C": BUDGET}],
        lambda c, rate, C: unless(c * rate <= C, **{"E[c]Λ̄": c * rate}),
        domain="the example's costs",
    )
    facts = {"the path is ACDPP's": played_by_acdpp(), "the mean cost is affordable": affordable}
    return obeying(found, facts)


# --- corrected ---------------------------------------------------------------------------------------------


def chain() -> Evidence:
    """The bound, Σp, Σp̄, Σp̄_∞ and the oracle as five numbers: what the T-slot lemma leaves is exactly the slack."""
    bound, p, switched, steady, oracle, drift = sp.symbols("E p pCK pinf oracle drift", positive=True)
    right = regret.master_bound(bound - p, switched - steady, steady - oracle, drift, V)
    what = r"$\mathrm{Reg}$ plus the $T$-slot lemma's slack, and $\Omega_1+\Omega_2+\Omega_3+\sum B_t/V$,"
    return argument(
        (bound - oracle + (switched + drift / V - p), right, what),
        (bound - oracle <= right, [p <= switched + drift / V], "where the $T$-slot lemma holds"),
        domain="every value of the five sums",
    )


PATHS = {
    "upper ends": lambda low, high, t: high,
    "lower ends": lambda low, high, t: low,
    "in turn": lambda low, high, t: low if t % 2 else high,
}


def on_paths(context: Context) -> Evidence:
    """theory's Ω₁, Ω₂, Ω₃ add up to the regret less Σp - Σp̄, each sum taken by itself: on three paths, E = 3."""
    region, T, weight = Region(rate=Fraction(7, 2), rho=Fraction(4, 5)), context.choose(9, 40), 7
    numbers, exact = RATIONAL.map(ball), region.map(ball)
    ends = [(region_minimum(region, t), region_maximum(region, t), t) for t in range(1, T + 1)]

    def off(p: Any) -> Any:
        balls = np.array([ball(PATHS[p["path"]](*end)) for end in ends], dtype=object)
        run, merged, K = trajectory(balls, p["K"]), numbers.merged, p["K"]
        bound = three(bound_of(balls, K, numbers).terms)
        oracle = three(oracle_bound(K * region.rate, T, RATIONAL, certified=True).terms)
        gaps = (
            penalty(n, N, merged) - penalty_comparison(K, ball(t), exact, merged).total
            for t, (n, N) in enumerate(zip(run.n, run.N, strict=True), start=1)
        )
        omegas = (
            regret.omega1(balls, K, numbers).total,
            regret.omega2(K, region, T, RATIONAL, certified=True).total,
            regret.omega3(K, region.rate, T, RATIONAL, certified=True).total,
        )
        return abs(bound - oracle - regret.master_bound(*omegas, weight * sum(gaps, ball(0)), ball(weight)))

    return compare(
        off,
        "<=",
        lambda p: ball(Fraction(1, 10**12)),
        [{"path": name, "K": k, "T": T} for name in PATHS for k in (1, 3)],
        domain=rf"$\bar\Lambda=7/2$, $\rho=4/5$, $V=7$, constants {RATIONAL}; $V(\sum p-\sum\bar p)$ in place of "
        r"$\sum B_t$",
    )


def in_the_loop(context: Context) -> Evidence:
    """ACDPP itself, given ηE, against random costs: each run's regret and the right side with its own ΣB_t."""
    rounds, runs, K, C, weight = context.choose(60, 400), 4, 3, 20.0, 50.0
    region, floats, costs = Region(rate=3.5, rho=0.8), RATIONAL.map(float), uniform(1, 10)
    drawn = costs.draw(context.generator(), runs, rounds)
    played = control_loop(drawn, K=K, V=weight, C=C, region=region, constants=floats.merged)
    oracle = three(oracle_bound(K * region.rate, rounds, floats).terms)
    others = (
        regret.omega2(K, region, rounds, floats).total,
        regret.omega3(K, region.rate, rounds, floats).total,
    )
    drift = sum(float(regret.drift_constant(region, t, 37.0, C)) for t in range(1, rounds + 1))  # E[c²] = 37
    rows = []
    for admitted in played.admitted.T:
        gap = three(bound_of(admitted, K, floats).terms) - oracle
        right = regret.master_bound(regret.omega1(admitted, K, floats).total, *others, drift, weight)
        rows.append((float(gap), float(right)))
    return (holds if all(a <= b for a, b in rows) else fails)(
        "simulation",
        f"regret and right side of {runs} runs: " + ", ".join(f"{a:.6g} <= {b:.6g}" for a, b in rows),
        domain=rf"costs {costs.name}, $E[c]\bar\Lambda\le C={C}$, $V={weight}$, $T={rounds}$, {runs} runs",
        certificate={"regret, right side": rows},
    )


OMEGAS: tuple[Any, Any, Any] = sp.symbols("omega1 omega2 omega3", positive=True)
DRIFT, B = sp.symbols("drift_total B", positive=True)

CLAIMS = [
    Claim(
        id="eq:omega-master",
        kind="inequality",
        title=r"$\mathrm{Reg}\le-\Omega_1+\Omega_2+\Omega_3+BT/V$",
        statement="The regret is at most minus the first correction plus the other two plus the drift term.",
        formula=said(r"\mathrm{Reg}(T)\le @right", right=regret.master_bound_as_stated(*OMEGAS, B * T, V)),
        symbols={"B": "the paper's bound on the drift's quadratic part in a round"},
        domain=r"every $K$, $\rho$, $V$, $T$",
        checks=(master_as_stated,),
        corrected=Correction(
            title=r"$\mathrm{Reg}\le+\Omega_1+\Omega_2+\Omega_3+\sum B_t/V$",
            statement=r"$\Omega_1$ enters with a plus: by its definition the bound is $\sum p+\Omega_1$. With $\chi$ "
            r"it is positive and of order $\log T$ for $K\ge2$.",
            formula=said(r"\mathrm{Reg}(T)\le @right", right=regret.master_bound(*OMEGAS, DRIFT, V)),
            hypotheses=("those of lem:dpp-T-slot-upper, corrected",),
            given=(Given("lem:dpp-T-slot-upper", r"$\sum p\le\sum\bar p+\sum B_t/V$, as corrected there"),),
            sketch=r"The regret is (bound $-\sum p$) + ($\sum p-\sum\bar p$) + ($\sum\bar p-\sum\bar p_{\infty}$) + "
            r"($\sum\bar p_{\infty}-$ oracle's bound), $p$ the penalty of the policy's own path, $\bar p$ that of "
            r"switching to $\bar\Lambda$, $\bar p_{\infty}$ that of constant admission.",
            checks=(chain, confirming(on_paths), confirming(in_the_loop)),
        ),
    )
]
