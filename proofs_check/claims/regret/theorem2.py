r"""The regret (`thm:dpp-regret`): what every policy inside the region pays, whatever V.

Under constant admission Reg = Ω₁ + Ω₃ exactly. Every other policy inside the region differs from it by a bounded
amount, because the region contracts geometrically (`groundwork/regret/envelope.py`). So the regret is the expansion
of `theory.regret_expansion` to O(1), for ACDPP at any V and for every other policy.

The theorem is judged in two readings, as `thm:dpp-cost-constraint` is. Literally V and ρ are fixed: then T/V is linear
in T, and every policy inside the region satisfies it (proved, and empty). Or the constants do not depend on V, which is
what Remark 1 needs (`/uniform`, refuted): no V gets below the expansion.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import sympy as sp

from proofs_check.claim import WRITTEN, Claim, Context, Correction, Given, confirming
from proofs_check.engines.enclosure import compare
from proofs_check.engines.exact import regions, retentions, search
from proofs_check.engines.limit import at_most, eventually, tends_to
from proofs_check.engines.simulation import control_loop, drifting, markov, uniform
from proofs_check.evidence import Evidence, fails, holds, obeying, together
from proofs_check.groundwork.control.inside_region import histories, placed
from proofs_check.groundwork.regret.envelope import USUAL, eventual_range, mismatch_range, regret_end, three
from proofs_check.groundwork.regret.every_policy import every_policy
from proofs_check.groundwork.regret.expansion import (
    ALL,
    LIMIT,
    antiderivative,
    expansion_slope,
    falling,
    first_terms,
    leading_order,
    oracle_third,
    spread_order,
    third_term,
    without_reuse,
)
from proofs_check.groundwork.regret.expansion import T as real_T
from proofs_check.groundwork.regret.orders import HORIZONS, RATIONAL, UNIT, t
from proofs_check.groundwork.regret.regret_orders import narrows
from proofs_check.symbols import CONSTANTS, K, T, V, rate, rho
from proofs_check.text import said
from theory.algebra import ball, precise
from theory.bound import theorem_1
from theory.constant_admission import constant_round, oracle_bound
from theory.lambert import lambert_partial
from theory.rates import regret_rate, regret_rate_as_stated
from theory.region import region_minimum_total
from theory.regret_expansion import regret_expansion
from theory.reuse import trajectory
from theory.setting import Region
from theory.transient import spread_bound

SPREAD = Given(
    "thm:dpp-regret/spread",
    "that the bounds of two policies inside the region differ by spread_bound at most",
)

# --- as printed --------------------------------------------------------------------------------------------


def _least_as_stated() -> Any:
    """Round t, as printed: the least that any policy inside the region pays, less the oracle's; K = 2, Λ̄ = 10."""
    lag, lambert = sp.symbols("lag S", positive=True)
    low, _ = eventual_range(2, t, 10, lag, lambert, UNIT, stated=True)
    return low - constant_round(1, t, 20, UNIT)


def every_policy_as_stated(context: Context) -> Evidence:
    """V = T and ρ fixed make the printed rate a constant plus log T. Below: the least regret inside the region."""
    least = _least_as_stated()
    domain = "V = T, any fixed ρ (lag = ρ/(1-ρ), S its Lambert sum), K = 2, Λ̄ = 10, constants 1, Pdim 5; as printed"
    saved, found = (
        at_most(eventually(part, t), t, sp.log(t), domain=domain)
        for part in (least.root + least.linear, least.generalisation)
    )
    printed = tends_to(
        regret_rate_as_stated(t, t, rho) / sp.log(t),
        t,
        sp.Integer(1),
        what=r"the printed rate at $V=T$ over $\log T$",
        domain=r"every fixed $\rho$",
    )
    rows = {}
    for horizon in context.choose(HORIZONS[:3:2], HORIZONS):
        regret = regret_end(2, USUAL, horizon, UNIT, stated=True, upper=False)
        with precise():
            rate_there = regret_rate_as_stated(ball(horizon), ball(horizon), ball(USUAL.rho))
            numbers = {"least Reg": regret, "T/V+1/(1-ρ)+log T": rate_there, "quotient": regret / rate_there}
        rows[f"T = {horizon:.0e}, V = T, ρ = 9/10"] = ", ".join(
            f"{name} = {x.str(6, radius=False)}" for name, x in numbers.items()
        )
    detail = "the least regret of any policy inside the region, over the printed rate, tends to infinity"
    shown = replace(
        found,
        detail=detail if found.outcome == "fails" else found.detail,
        certificate={**rows, "third term": found.detail, **found.certificate},
    )
    return obeying(
        shown,
        {
            "each round's range contains every policy": every_policy(stated=True),
            r"the first two terms save $O(\log T)$": saved,
            r"at $V=T$ the printed rate is $O(\log T)$": printed,
        },
    )


def linear_in_the_horizon() -> Evidence:
    """At fixed V and ρ the printed rate grows like T/V."""
    return tends_to(
        regret_rate_as_stated(t, V, rho) / t,
        t,
        1 / V,
        what="the printed rate over $T$",
        domain=r"every fixed $V$, $\rho$; $T\to\infty$",
    )


def less_than_linear() -> Evidence:
    """The dearest round inside the region less the oracle's, as printed: its three terms tend to 0, so Reg = o(T)."""
    lag, lambert = sp.symbols("lag S", positive=True)
    _, high = eventual_range(K, t, rate, lag, lambert, CONSTANTS, stated=True)
    dearest = high - constant_round(1, t, K * rate, replace(CONSTANTS, E=1))
    domain = f"every policy inside the region, ρ fixed (lag = ρ/(1-ρ), S its Lambert sum), as printed; {ALL}"
    return together(
        *(
            tends_to(
                eventually(part, t), t, sp.Integer(0), what=f"the {name} term's largest excess", domain=domain
            )
            for name, part in (
                ("root", dearest.root),
                ("linear", dearest.linear),
                ("generalisation", dearest.generalisation),
            )
        )
    )


# --- corrected ---------------------------------------------------------------------------------------------


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
        domain=r"any admissions inside the region, every round $t\ge1$, both forms",
        examples=context.choose(40, 300),
    )


def certified_order(context: Context) -> Evidence:
    """Both ends of the regret's range against the expansion: their distance is bounded in T."""

    def off(p: Any) -> Any:
        expansion = regret_expansion(ball(p["K"]), ball(10), ball(p["T"]), RATIONAL.map(ball))
        low, high = (
            regret_end(p["K"], USUAL, p["T"], RATIONAL, stated=False, upper=upper) for upper in (False, True)
        )
        return abs(low - expansion).max(abs(high - expansion))

    def spread(p: Any) -> Any:
        return spread_bound(p["K"], USUAL.map(ball), RATIONAL.map(ball)).total

    return compare(
        off,
        "<=",
        spread,
        [{"K": k, "T": T} for k in context.choose((3,), (2, 10)) for T in context.choose((10**9,), HORIZONS)],
        domain=r"every policy inside the region $\rho=0.9$, $\bar\Lambda=10$, rational constants, with "
        r"$\chi$: $|\mathrm{Reg}$ - expansion| is at most the bound on the spread",
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
        for weight in (1.0, 1e3, 1e6):
            played = control_loop(drawn, K=K, V=weight, C=55.0, region=region, constants=floats)
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


def rate_in_the_horizon() -> Evidence:
    """The expansion over `regret_rate` at fixed ρ, by their slopes in T."""
    slope = sp.diff(eventually(regret_expansion(K, rate, real_T, CONSTANTS), real_T), real_T)
    return tends_to(
        slope / sp.diff(regret_rate(real_T, rho), real_T),
        real_T,
        LIMIT,
        what="the expansion's slope over the rate's",
        domain=f"every fixed ρ; {ALL}; T → ∞",
    )


EXPANSION = said(
    r"\mathrm{Reg}(T)=\frac{10B\,\mathrm{Pdim}}{\bar\Lambda}\Bigl[H\Bigl(\frac{\bar\Lambda T}{\mathrm{Pdim}}\Bigr)"
    r"-\frac1KH\Bigl(\frac{K\bar\Lambda T}{\mathrm{Pdim}}\Bigr)\Bigr]+O_\rho(1)\sim@limit\sqrt{T\log T}",
    limit=LIMIT,
)
WITHOUT_V = said(
    r"\sup_{V,T}\mathrm{Reg}(T)\big/\Bigl(@rate\Bigr)<\infty",
    rate=regret_rate_as_stated(T, V, rho),
)

CLAIMS = [
    Claim(
        id="thm:dpp-regret",
        kind="theorem",
        title=r"$\mathrm{Reg}=O(T/V+1/(1-\rho)+\log T)$, $V$, $\rho$ fixed: true, empty",
        statement=r"Read literally: for any fixed $V$ and $\rho$ the regret is "
        r"$O(T/V)+O(1/(1-\rho))+O(\log T)$ as $T$ grows, with constants that may depend on $V$ and "
        r"$\rho$. It is true, and empty: $T/V$ is then linear in $T$, so it says $\mathrm{Reg}=O(T)$, "
        r"whereas every policy inside the region has $\mathrm{Reg}=o(T)$. (The reading that Remark 1 "
        "needs follows below.)",
        formula=said(
            r"\mathrm{Reg}(T)=O_{V,\rho}\Bigl(@rate\Bigr)=O_{V,\rho}(T)",
            rate=regret_rate_as_stated(T, V, rho),
        ),
        symbols={"O": r"up to a factor that may depend on $V$ and $\rho$"},
        domain=r"every fixed $V>0$ and $0<\rho<1$, $T\to\infty$; every policy inside the region, "
        r"$K\bar\Lambda=\sum B$, $K\ge1$",
        given=(WRITTEN,),
        sketch="The dearest round of any policy inside the region exceeds the oracle's by an amount that "
        r"tends to 0 (where $K\bar\Lambda=\sum B$, so that both roots have the same limit), so the "
        "regret is $o(T)$, whereas the printed rate is $T/V$ and more. No property of ACDPP is used.",
        checks={
            "the rate is linear": linear_in_the_horizon,
            "the regret is less": (less_than_linear, partial(every_policy, stated=True)),
        },
    ),
    Claim(
        id="thm:dpp-regret/uniform",
        kind="reading",
        title="the same, with constants free of $V$",
        statement="As Remark 1 uses the theorem, $V$ growing with $T$: the regret is of order "
        r"$T/V+1/(1-\rho)+\log T$, with constants that do not depend on $V$. This is the reading that "
        "says something.",
        formula=WITHOUT_V,
        domain=r"every $V>0$, $T\ge1$, $K\ge1$ and fixed $0<\rho<1$",
        checks=(every_policy_as_stated,),
        corrected=Correction(
            title=said(
                r"$\mathrm{Reg}\sim @limit\cdot\sqrt{T\log T}$ for every policy inside the "
                "region, at any $V$",
                limit=LIMIT,
            ),
            statement=said(
                r"At fixed $\rho$ every policy inside the region has "
                r"$\mathrm{Reg}(T)=(@limit+o(1))\cdot\sqrt{T\log T}$: not less, whatever $V$, and not "
                r"more; to $O(1)$ it is the expansion $10B(\mathrm{Pdim}/\bar\Lambda)[H(\bar\Lambda "
                r"T/\mathrm{Pdim})-H(K\bar\Lambda T/\mathrm{Pdim})/K]$ with "
                r"$H(x)=\int_0^x\sqrt{(1+\log^{+}u)/u}du$, the same for all of them. So nothing is left "
                r"of $T/V$. For $K=1$ the regret itself stays bounded. Uniformly in $T\ge2$ and $\rho$ "
                "the regret is $O(@rate)$. (All of it for every single path of admissions, and so in the "
                "mean.)",
                limit=LIMIT,
                rate=regret_rate(T, rho),
            ),
            formula=EXPANSION,
            symbols={
                "H": r"$\int_0^x\sqrt{(1+\log^{+}u)/u}du$ (theory.generalisation_integral)",
                "O": "bounded as $T$ grows",
            },
            hypotheses=(
                "the policy stays inside the region",
                r"$K\bar\Lambda=\sum B$",
                r"$\rho$ is fixed (but for the last sentence)",
            ),
            given=(WRITTEN, SPREAD),
            sketch="Constant admission: its first two terms and the oracle's differ by order $t^{-2}$ "
            r"(the $\log T$ of $\Omega_1$ and of $\Omega_3$ cancel), and its third term may be taken at "
            r"$N$ for $N_{\mathrm{eff}}$, up to $t^{-3/2}\sqrt{\log t}$. Both are summable. What is left "
            r"of round $t$ is the third term of $\bar\Lambda t$ distinct samples less that of "
            r"$K\bar\Lambda t$, the oracle's. That term falls, so its sum over $t\le T$ and its integral "
            "over $[0,T]$ differ by an amount that converges, and the integral is an $H$. Every other "
            r"policy: $N_{\mathrm{eff}}$ lies between $N(t-K+1)\ge\bar\Lambda(t-K+1-\rho/(1-\rho))$ and "
            r"$\bar\Lambda(t+S)$, each admission in memory within a factor $1-\rho^{t-K+1}$ of "
            r"$\bar\Lambda$; the resulting ranges of the three terms have summable widths (the root's is "
            "the linear one's divided by a sum of roots that tends to a positive number), and constant "
            "admission lies in them. Uniformly: spread_bound (thm:dpp-regret/spread) is of order "
            r"$h(1+\log h)$, $h=1/(1-\rho)$, and bounds the distance to constant admission, whose "
            r"distance to the expansion does not depend on $\rho$; expansion over $\sqrt{T\log T}$ and "
            r"spread over $h(1+\log h)$ are continuous and have finite limits at the ends of their "
            "ranges.",
            checks={
                "constant admission": (first_terms, third_term, oracle_third),
                "integral": (antiderivative, falling, expansion_slope),
                "order": leading_order,
                "every other policy": (
                    partial(narrows, stated=False),
                    confirming(range_exact),
                    confirming(certified_order),
                    confirming(in_the_loop),
                ),
                "$K=1$": without_reuse,
                r"uniformly in $\rho$": (rate_in_the_horizon, spread_order),
            },
        ),
    ),
]
