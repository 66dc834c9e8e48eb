"""The regret's decomposition: its sign (`eq:omega-master`), and Ω₁, bound less surrogate (`lem:omega1-order`)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import sympy as sp

from proofs_check.claim import Claim, Context, Correction
from proofs_check.claims.envelope import eventual_range, spread, summed, three
from proofs_check.claims.orders import ALL, HORIZONS, SYMBOLS, UNIT, K, diverges, rate, t, tends_to
from proofs_check.engines.enclosure import compare
from proofs_check.engines.identity import equal
from proofs_check.engines.limit import converges, equivalent
from proofs_check.engines.simulation import control_loop
from proofs_check.evidence import Evidence, together, undecided
from theory.algebra import ball, log, precise, ratio, sqrt
from theory.bound import (
    Terms,
    generalisation_term,
    linear_term,
    per_round_constant_as_stated,
    root_term,
    theorem_1_as_stated,
)
from theory.constant_admission import constant_bound, constant_round, oracle_bound_as_stated
from theory.penalty import penalty_limit
from theory.region import region_maximum
from theory.regret import (
    drift_constant,
    master_bound,
    master_bound_as_stated,
    omega1_as_stated,
    omega2_as_stated,
    omega3_as_stated,
)
from theory.reuse import inverse_effective_constant, occupancy_constant, trajectory
from theory.setting import Constants, Region

__all__ = ["OMEGA1", "corrected_order", "lipschitz_near_zero", "narrows"]

lag, lambert = sp.symbols("lag S", positive=True)  # ρ/(1-ρ) and the Lambert sum
SUMMABLE = sp.Rational(5, 4)  # t^(-3/2)·√log t is below t^(-5/4) in the end


# --- eq:omega-master ---------------------------------------------------------------------------------------


def master_as_stated() -> Evidence:
    """K = 2, ρ = 1/100, costs 1, T = 20, V = 10^6; the loop admits the upper ends."""
    retention, T, V, region = 2, 20, 10**6, Region(rate=1, rho=Fraction(1, 100))
    path = [region_maximum(region, s) for s in range(1, T + 1)]
    played = control_loop(
        np.ones((T, 1)), K=retention, V=float(V), C=1.0, region=region.map(float), constants=UNIT
    )
    off = float(np.abs(played.admitted[:, 0] - np.array(path, dtype=float)).max())
    if off > 1e-9:
        return undecided("enclosure", f"the loop is {off} away from the upper ends", domain="ρ = 1/100")
    with precise():
        numbers, balls = UNIT.map(ball), np.array([ball(x) for x in path], dtype=object)
        run = trajectory(balls, retention)
        bound = three(theorem_1_as_stated(list(run.n), list(run.N), list(run.uniformity), numbers).terms)
        oracle = three(oracle_bound_as_stated(retention * region.rate, T, UNIT, certified=True).terms)
        first = omega1_as_stated(balls, retention, numbers).total
        second = omega2_as_stated(retention, region, T, UNIT, certified=True).total
        third = omega3_as_stated(retention, region.rate, T, UNIT, certified=True).total
        drift = T * ball(drift_constant(region, 1, 1, 1))
    shown = {"Ω₁": first.str(8), "Ω₂": second.str(8), "Ω₃": third.str(8), "BT": drift.str(8)}
    return compare(
        lambda p: bound - oracle,
        "<=",
        lambda p: master_bound_as_stated(first, second, third, drift, ball(V)),
        [{"K": retention, "T": T, "V": V, "rho": "1/100", **shown}],
        domain="Λ̄ = C = c = 1, constants 1, Pdim 5; everything as printed, with B = (Λ_max(1)²+C²)/2",
    )


def master_identity() -> Evidence:
    """The bound, Σp, Σp̄^CK, Σp̄_∞ and the oracle as five numbers: the chain adds up with a plus."""
    bound, p, switched, steady, oracle, drift, weight = sp.symbols(
        "E p pCK pinf oracle drift V", positive=True
    )
    return equal(
        bound - oracle + (switched + drift / weight - p),
        master_bound(bound - p, switched - steady, steady - oracle, drift, weight),
        domain="every value of the five sums; what is added on the left is not negative, by the T-slot lemma",
        what="Reg plus the T-slot lemma's slack, and Ω₁+Ω₂+Ω₃+ΣB/V,",
    )


# --- Ω₁ ----------------------------------------------------------------------------------------------------


def _round(K: Any, rate: Any, constants: Constants, *, stated: bool) -> Terms:
    """Round t of Ω₁ under constant admission: the bound's round less the penalty."""
    surrogate = penalty_limit(K, t, rate, constants)
    if not stated:
        return constant_round(K, t, rate, constants) - surrogate
    inverse = inverse_effective_constant(K, t, rate)
    gap = ratio(1, occupancy_constant(K, t, rate)) - inverse
    real = Terms(
        root=root_term(gap, constants),
        linear=linear_term(gap, constants),
        generalisation=generalisation_term(inverse, rate * t, constants),
    )
    return real - surrogate


def with_constant() -> Evidence:
    """The printed bound adds C₂ in every round; the penalty has no such term. (Its linear term stands for the rest.)"""
    full = replace(SYMBOLS, G=sp.Symbol("G", positive=True))
    summand = _round(2, rate, SYMBOLS, stated=True).linear + per_round_constant_as_stated(full)
    return converges(
        summand, t, power=2, domain="the printed bound with its C₂, E = 1, K = 2, constant admission"
    )


@cache
def narrows(*, stated: bool) -> Evidence:
    """The range of a round over all policies inside the region has a summable width.

    The root term's width is that of the linear term divided by (√low + √high)·ησ/D, which tends to a positive number.
    """
    low, high = eventual_range(K, t, rate, lag, lambert, SYMBOLS, stated=stated)
    domain = (
        f"every policy inside the region, ρ fixed, {'as printed without C₂' if stated else 'with χ'}; {ALL}"
    )
    return together(
        converges(high.linear - low.linear, t, power=SUMMABLE, domain=domain),
        converges(high.generalisation - low.generalisation, t, power=SUMMABLE, domain=domain),
        tends_to(
            low.root,
            t,
            SYMBOLS.D * SYMBOLS.sigma / sp.sqrt(K * rate),
            what="the root term's lower end",
            domain=domain,
        ),
    )


def every_policy() -> Evidence:
    """Bound and penalty both lie in the region's range of the printed round, so |Ω₁| is at most its width, summed."""
    return narrows(stated=True)


def width(context: Context) -> Evidence:
    """The same width, summed and certified: it does not grow with T."""
    bounds = {(2, 2): 60, (10, 2): 240, (2, 10): 390, (10, 10): 830}
    settings = context.choose([(2, 2)], list(bounds))

    def total(p: Any) -> Any:
        region = Region(rate=10, rho=1 - Fraction(1, p["1/(1-rho)"]))
        return spread(p["K"], region, p["T"], UNIT, stated=True)

    return compare(
        total,
        "<=",
        lambda p: bounds[p["K"], p["1/(1-rho)"]],
        [
            {"K": k, "1/(1-rho)": h, "T": T}
            for k, h in settings
            for T in context.choose((10**3, 10**9), HORIZONS)
        ],
        domain="the printed bound's range over all policies inside the region; Λ̄ = 10, constants 1, Pdim 5",
    )


@cache
def corrected_order() -> Evidence:
    c, one = SYMBOLS, _round(K, rate, SYMBOLS, stated=False)
    constant = c.D * c.sigma * (K - 1) / (2 * sp.sqrt(K * rate)) + c.eta * c.sigma**2 * (K - 1) / (K * rate)
    domain = f"with χ, constant admission; {ALL}"
    return together(
        equivalent(one.root + one.linear, t, sp.log(t), constant, domain=f"first two terms, {domain}"),
        converges(one.generalisation, t, power=SUMMABLE, domain=f"third term, {domain}"),
    )


def corrected_every_policy() -> Evidence:
    """With χ too, two policies inside the region differ by a bounded amount: their Ω₁ have the same order."""
    return narrows(stated=False)


def corrected_table(context: Context) -> Evidence:
    """Summed and certified: (1 + √5)/20 = 0.1618 is the limit for K = 2, Λ̄ = 10."""
    numbers, pace = UNIT.map(ball), ball(10)

    def scaled(p: Any) -> Any:
        real = constant_bound(2, 10, p["T"], UNIT, certified=True).terms
        surrogate = summed(lambda s: penalty_limit(2, s, pace, numbers), 2, p["T"])
        return (real.root - surrogate.root + real.linear - surrogate.linear) / log(ball(p["T"]))

    return compare(
        lambda p: abs(scaled(p) - (1 + sqrt(ball(5))) / 20),
        "<=",
        lambda p: 1 / (4 * log(ball(p["T"]))),
        [{"T": T} for T in context.choose((10**6, 10**12), HORIZONS)],
        domain="K = 2, Λ̄ = 10, constants 1: (root + linear terms of Ω₁)/log T within 1/(4·log T) of 0.1618",
    )


# --- the step that calls a map Lipschitz -------------------------------------------------------------------


def lipschitz_near_zero() -> Evidence:
    """f(x)/x at x = 1/N, with f(0) = 0: a Lipschitz map would keep it bounded."""
    N = sp.Symbol("N", positive=True)
    return diverges(
        generalisation_term(1 / N, N, UNIT) * N,
        N,
        what="f(x)/x at x = 1/N",
        domain="f(x) = 10B√(Pdim·x)·√(1+log(1/(Pdim·x))), constants 1, Pdim 5; x → 0",
        probes=(10**2, 10**6, 10**12),
    )


def per_round_square() -> Evidence:
    return diverges(
        _round(2, 10, UNIT, stated=True).generalisation * t**2,
        t,
        what="t² times the generalisation term's discrepancy",
        domain="K = 2, Λ̄ = 10, constants 1, Pdim 5, constant admission",
        probes=(10**2, 10**6, 10**12),
    )


def per_round_order() -> Evidence:
    term = _round(K, rate, SYMBOLS, stated=True).generalisation
    return tends_to(
        term * t ** sp.Rational(3, 2) / sp.sqrt(sp.log(t)),
        t,
        5 * SYMBOLS.B * sp.sqrt(SYMBOLS.Pdim / rate) * (K - 1) * (2 * K - 1) / (6 * K),
        what="t^(3/2)/√log t times the discrepancy",
        domain=f"constant admission; {ALL}",
    )


OMEGA1 = [
    Claim(
        id="eq:omega-master",
        kind="inequality",
        title="Reg <= -Ω₁ + Ω₂ + Ω₃ + BT/V",
        statement="The regret is at most minus the first correction plus the other two plus the drift term.",
        latex=r"\mathrm{Reg}(T)\le-\Omega_1+\Omega_2+\Omega_3+BT/V",
        unicode="Reg(T) ≤ -Ω₁ + Ω₂ + Ω₃ + BT/V",
        domain="every K, ρ, V, T",
        checks=(master_as_stated,),
        corrected=Correction(
            title="Reg <= +Ω₁ + Ω₂ + Ω₃ + ΣB_t/V",
            statement="Ω₁ enters with a plus. By its definition the bound is Σp + Ω₁, so a positive Ω₁ "
            "makes the regret larger; with χ it is positive and of order log T for K >= 2.",
            latex=r"\mathrm{Reg}(T)\le\Omega_1+\Omega_2+\Omega_3+\tfrac1V\sum_tB_t",
            unicode="Reg(T) ≤ Ω₁ + Ω₂ + Ω₃ + ΣB_t/V",
            hypotheses=("those of lem:dpp-T-slot-upper, corrected",),
            sketch="Bound - oracle = (bound - Σp) + (Σp - Σp̄) + (Σp̄ - Σp̄_∞) + (Σp̄_∞ - oracle), and the "
            "second bracket is at most ΣB_t/V.",
            checks=(master_identity,),
        ),
    ),
    Claim(
        id="lem:omega1-order",
        kind="lemma",
        title="Ω₁ = O(1)",
        statement="The bound on ACDPP's excess risk and its cumulative penalty differ by a bounded amount.",
        latex=r"\Omega_1(T)=O(1)",
        unicode="Ω₁(T) = O(1)",
        domain="K-step retention, any policy inside the region, T → ∞",
        checks=(with_constant,),
        hypotheses=(
            "the per-round constant C₂ is left out, as it is in the printed oracle bound",
            "ρ is fixed",
        ),
        checks_with_hypotheses=(every_policy, width),
        corrected=Correction(
            title="with χ: Ω₁ ~ (Dσ(K-1)/(2√(KΛ̄)) + ηEσ²(K-1)/(KΛ̄))·log T",
            statement="For the printed bound, without C₂ and at fixed ρ, Ω₁ = O(1) is true, but a round "
            "differs by t^(-3/2)√log t and not t^-2. For the corrected bound Ω₁ is of order log T for K >= "
            "2, with the constant Dσ(K-1)/(2√(KΛ̄)) + ηEσ²(K-1)/(KΛ̄), for every policy inside the region.",
            latex=r"\Omega_1(T)\sim\Bigl(\frac{D\sigma(K-1)}{2\sqrt{K\bar\Lambda}}+\frac{\eta E"
            r"\sigma^2(K-1)}{K\bar\Lambda}\Bigr)\log T",
            unicode="Ω₁(T) ~ (Dσ(K-1)/(2√(KΛ̄)) + ηEσ²(K-1)/(KΛ̄))·log T",
            hypotheses=("ρ is fixed", "constants that every policy pays are left out"),
            sketch="χ exceeds 1/n - 1/N by (K-1)/(KΛ̄t) to leading order, under constant admission; "
            "Stolz-Cesàro. Every policy inside the region has each round's terms in a range whose width is "
            "summable: the admissions in memory are within a factor 1-ρ^(t-K+1) of Λ̄, and N is within a "
            "constant of Λ̄t. The constant is not uniform in ρ: along the lower end of the region the "
            "linear term alone gives 1/(1-ρ).",
            checks=(
                lambda: corrected_order().about("constant admission"),
                lambda context: corrected_table(context).about("constant admission"),
                lambda: corrected_every_policy().about("every policy"),
            ),
        ),
    ),
    Claim(
        id="lem:omega1-order/lipschitz",
        kind="step",
        title="the generalisation terms differ by O(t^-2)",
        statement="The map from 1/N_eff to the generalisation term is Lipschitz near 0, so replacing N_eff "
        "by N changes that term by at most order t^-2 in round t.",
        latex=r"x\mapsto10B\sqrt{Px}\sqrt{1+\log\tfrac1{Px}}\ \text{Lipschitz near }0",
        unicode="x ↦ 10B√(Px)√(1+log 1/(Px)) is Lipschitz near 0",
        domain="K >= 2, constant admission, t → ∞",
        checks=(lipschitz_near_zero, per_round_square),
        corrected=Correction(
            title="they differ by 5B√(Pdim/Λ̄)·(K-1)(2K-1)/(6K)·t^(-3/2)·√log t",
            statement="The map has slope of order √(log(1/x)/x) near 0, so the terms differ by "
            "5B√(Pdim/Λ̄)·(K-1)(2K-1)/(6K)·t^(-3/2)·√log t, to leading order. That is still summable.",
            latex=r"5B\sqrt{\mathrm{Pdim}/\bar\Lambda}\,\frac{(K-1)(2K-1)}{6K}\,t^{-3/2}\sqrt{\log t}",
            unicode="5B√(Pdim/Λ̄)·(K-1)(2K-1)/(6K)·t^(-3/2)·√log t",
            sketch="1/N_eff - 1/N = (K-1)(2K-1)/(6KΛ̄t²) to leading order, times the slope at 1/(Λ̄t).",
            checks=(per_round_order,),
        ),
    ),
]
