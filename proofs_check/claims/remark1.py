r"""Remark 1 (`rem:1`): \(V=T^\gamma\), \(\rho=1-T^{-\phi}\). Which rates hold, and which argument gives them.

The drift argument carries \(\sum_tB_t/V\), of order \(T^{1-\gamma}+T^{2\phi-\gamma}\). The region alone gives
\(\sqrt{T\log T}+T^\phi\log T\) for the regret and \(T^\phi\log T\) for the cost violation, whatever V.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.claim import Claim, Context, Correction
from proofs_check.claims.envelope import regret_end
from proofs_check.claims.orders import UNIT, diverges, tends_to
from proofs_check.claims.violations import (
    abel_step,
    lambert_bound,
    lambert_bounded,
    lambert_summand,
)
from proofs_check.engines.enclosure import compare
from proofs_check.engines.exact import exhaust
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from theory.algebra import ball, log, ratio, sqrt
from theory.bound import generalisation_term
from theory.rates import regret_rate_as_stated, remark_1_as_stated, remark_1_by_drift, remark_1_by_region
from theory.region import region_maximum
from theory.regret import drift_constant, omega3_limit
from theory.setting import Region

__all__ = ["REMARK1"]

T, A = sp.symbols("T A", positive=True)
GAMMA, PHI = Fraction(3, 4), Fraction(1, 4)


def _region(T: int, phi: Fraction) -> Region:
    """Λ̄ = 10, ρ = 1 - T^-φ for a T whose power is a whole number."""
    spread = round(T ** float(phi))
    if spread**phi.denominator != T**phi.numerator:
        raise ValueError(f"T={T} has no whole power {phi}")
    return Region(rate=10, rho=1 - Fraction(1, spread))


def _printed(T: int) -> Any:
    """The printed rate at γ = 3/4, φ = 1/4."""
    return regret_rate_as_stated(ball(T), ball(T**3).root(4), ball(_region(T, PHI).rho))


def rates_certified(context: Context) -> Evidence:
    """γ = 3/4, φ = 1/4: the least regret inside the region, against a hundred times the printed rate."""
    return compare(
        lambda p: regret_end(2, _region(p["T"], PHI), p["T"], UNIT, stated=True, upper=False),
        "<=",
        lambda p: 100 * _printed(p["T"]),
        [{"T": T, "K": 2} for T in context.choose((10**4, 10**8), (10**4, 10**8, 10**12))],
        domain="γ = 3/4, φ = 1/4, Λ̄ = 10, constants 1, Pdim 5, as printed; 100 is more than T = 10^4 needs",
    )


def rates_limit() -> Evidence:
    """The last quarter of the rounds alone, less what all others can save, A·T^φ·log T at most with some A."""
    spread = T ** sp.Rational(1, 4)
    most, oracle = 10 * (T + spread * sp.log(2 * spread)), 2 * 10 * 3 * T / 4
    gain = generalisation_term(1 / most, most, UNIT) - generalisation_term(1 / oracle, oracle, UNIT)
    stated_regret, _ = remark_1_as_stated(GAMMA, PHI)
    return diverges(
        (T / 4 * gain - A * spread * sp.log(T))
        / T ** sp.Rational(stated_regret.numerator, stated_regret.denominator),
        T,
        what="the regret of every policy inside the region over the printed T^(1/4)",
        domain="γ = 3/4, φ = 1/4, K = 2, Λ̄ = 10, constants 1, Pdim 5, V = T^γ, ρ = 1 - T^-φ; T → ∞",
        **{
            "A·T^φ·log T": "a bound on what the other rounds and the other terms can save (see the "
            "correction's sketch)",
            "printed exponents": remark_1_as_stated(GAMMA, PHI),
            "true exponents": remark_1_by_region(GAMMA, PHI),
        },
    )


def region_violation() -> Evidence:
    """C·√ρ·log(1/(1-√ρ))/(1-ρ) at ρ = 1 - 1/s, s = T^φ."""
    s = sp.Symbol("s", positive=True)
    root = sp.sqrt(1 - 1 / s)
    value = -root * sp.log(1 - root) * s
    return tends_to(
        value / (s * sp.log(s)),
        s,
        sp.Integer(1),
        what="the bound over s·log s",
        domain="s = 1/(1-ρ) = T^φ → ∞",
    )


def violation_bounded(context: Context) -> Evidence:
    return compare(
        lambda p: lambert_bound(ball(_region(p["T"], p["phi"]).rho)),
        "<=",
        lambda p: ball(p["T"]).log() * round(p["T"] ** float(p["phi"])),
        [
            {"T": T, "phi": phi}
            for T in (10**4, 10**8, 10**12)
            for phi in (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
        ],
        domain="Vio^S/C at ρ = 1 - T^-φ against T^φ·log T",
    )


def region_regret(context: Context) -> Evidence:
    """The largest regret of any policy inside the region, both forms, ρ = 1 - T^-φ."""
    points = [{"T": T, "phi": phi, "form": form} for T in context.choose((10**8,), (10**4, 10**8, 10**12))
              for phi in context.choose((Fraction(1, 2),), (Fraction(1, 4), Fraction(1, 2)))
              for form in ("printed", "with χ")]  # fmt: skip

    def right(p: Any) -> Any:
        size = p["T"]
        spread = round(size ** float(p["phi"]))
        return omega3_limit(ball(2), ball(10), UNIT.map(ball)) * sqrt(
            size * log(ball(size))
        ) + 20 * spread * log(ball(size))

    return compare(
        lambda p: regret_end(
            2, _region(p["T"], p["phi"]), p["T"], UNIT, stated=p["form"] == "printed", upper=True
        ),
        "<=",
        right,
        points,
        domain="K = 2, Λ̄ = 10, constants 1, Pdim 5: Reg <= limit·√(T log T) + 20·T^φ·log T, every policy "
        "inside the region",
    )


def dear_first_round_is_linear() -> Evidence:
    """All cost in round 1, c(1) = TC/Λ̄ with Λ̄ = C = 1: the average is affordable, and round 1 admits 1/(1-ρ) = T^φ."""
    spread = sp.sqrt(T)
    violation = T * sp.simplify(region_maximum(Region(rate=1, rho=1 - 1 / spread), 1)) - T
    return diverges(
        violation / T,
        T,
        what="Vio^S over T",
        domain="φ = 1/2, any γ; costs T in round 1 and 0 later, horizon T, Λ̄ = C = 1",
        **{"Vio^S(T)": violation},
    )


def sublinear_limit() -> Evidence:
    """Any φ < 1: write 1-φ = q > 0."""
    q = sp.Symbol("q", positive=True)
    return together(
        tends_to(
            sp.log(T) / T**q,
            T,
            sp.Integer(0),
            what="T^φ·log T over T",
            domain="every φ = 1-q < 1, whatever γ",
        ),
        tends_to(
            sp.sqrt(T * sp.log(T)) / T, T, sp.Integer(0), what="√(T log T) over T", domain="whatever γ and φ"
        ),
    )


def drift_exponents() -> Evidence:
    """Exponents of T in regret and violation that ΣB_t/V and √(ΣB_t + …) have."""

    def linear(gamma: Fraction, phi: Fraction) -> Any:
        regret, violation = remark_1_by_drift(gamma, phi)
        return None if max(regret, violation) < 1 else {"regret": regret, "violation": violation}

    quarters = [Fraction(j, 4) for j in (1, 2, 3)]
    points = [{"gamma": gamma, "phi": phi} for phi in quarters for gamma in quarters]
    return exhaust(points, linear, domain="γ and φ in {1/4, 1/2, 3/4}")


def drift_limit() -> Evidence:
    """γ = 1/4, φ = 3/4: the drift constant of round 1 alone, over V·T."""
    region = Region(rate=1, rho=1 - T ** sp.Rational(-3, 4))
    return diverges(
        drift_constant(region, 1, sp.Integer(1), sp.Integer(1)) / (T ** sp.Rational(1, 4) * T),
        T,
        what="B_1/V over T",
        domain="γ = 1/4, φ = 3/4, Λ̄ = C = 1, E[c²] = 1",
    )


def drift_condition() -> Evidence:
    gamma, phi = sp.symbols("gamma phi", positive=True)
    below = sp.And(1 - gamma < 1, 2 * phi - gamma < 1, phi < 1)
    return always(
        sp.Equivalent(below, 2 * phi < 1 + gamma),
        given=[gamma < 1, phi < 1],
        domain="exponents 1-γ and 2φ-γ of ΣB_t/V, and φ: all below 1 exactly if 2φ < 1+γ",
    )


def drift_condition_exact() -> Evidence:
    def differs(gamma: Fraction, phi: Fraction) -> Any:
        regret, violation = remark_1_by_drift(gamma, phi)
        holds = max(regret, violation) < 1
        return None if holds == (2 * phi < 1 + gamma) else {"regret": regret, "violation": violation}

    grid = [Fraction(j, 12) for j in range(1, 12)]
    return exhaust(
        [{"gamma": g, "phi": f} for g in grid for f in grid], differs, domain="γ, φ in {1/12, …, 11/12}"
    )


def region_exponents() -> Evidence:
    def linear(gamma: Fraction, phi: Fraction) -> Any:
        regret, violation = remark_1_by_region(gamma, phi)
        return None if max(regret, violation) < 1 else {"regret": regret, "violation": violation}

    grid = [ratio(j, 12) for j in range(1, 12)]
    return exhaust(
        [{"gamma": g, "phi": f} for g in grid for f in grid], linear, domain="γ, φ in {1/12, …, 11/12}"
    )


SUBLINEAR = (
    lambda context: region_regret(context).about("regret"),
    lambda: abel_step().about("violation"),
    lambda: lambert_summand().about("violation"),
    lambda context: lambert_bounded(context).about("violation"),
    lambda: sublinear_limit().about("rates"),
    lambda: region_exponents().about("rates"),
)

REMARK1 = [
    Claim(
        id="rem:1",
        kind="remark",
        title="Reg = O(T^(1-γ) + T^φ + log T) for V = T^γ, ρ = 1-T^-φ",
        statement="With V = T^γ and ρ = 1-T^-φ the regret is of order T^(1-γ) + T^φ + log T and the cost "
        "violation of order T^((1+γ)/2) + T^((γ+φ)/2).",
        latex=r"\mathrm{Reg}=O(T^{1-\gamma}+T^\phi+\log T),\quad\mathrm{Vio}^{\mathrm S}=O(T^{\frac{1+"
        r"\gamma}2}+T^{\frac{\gamma+\phi}2})",
        unicode="Reg = O(T^(1-γ) + T^φ + log T), Vio^S = O(T^((1+γ)/2) + T^((γ+φ)/2))",
        domain="0 < γ, φ < 1, K >= 1",
        checks=(rates_certified, rates_limit),
        corrected=Correction(
            title="Reg = O(√(T log T) + T^φ·log T), Vio^S = O(T^φ·log T), whatever γ",
            statement="Whatever γ, the regret of every policy inside the region is O(√(T log T) + T^φ·log "
            "T), and for K >= 2 and φ < 1/2 not less than order √(T log T), however large γ; the cost "
            "violation is O(T^φ·log T).",
            latex=r"\mathrm{Reg}=O(\sqrt{T\log T}+T^\phi\log T),\quad\mathrm{Vio}^{\mathrm S}=O(T^\phi\log T)",
            unicode="Reg = O(√(T log T) + T^φ·log T), Vio^S = O(T^φ·log T)",
            hypotheses=(
                "the policy stays inside the region",
                "constant admission is affordable up to every round",
            ),
            sketch="Put ρ = 1-T^-φ into the corrected theorems: the spread of the bounds and Σρ^t/(1-ρ^t) "
            "are both of order T^φ·log T. For the lower bound take the last quarter of the rounds: there N "
            "<= Λ̄(T+T^φ·log 2T^φ), while the oracle has seen 3KΛ̄T/4 at least. In the other rounds a "
            "policy gains on the oracle only where its n exceeds KΛ̄ or its N exceeds KΛ̄t, which sums to "
            "O(T^φ·log T).",
            checks=(
                lambda context: region_regret(context).about("regret"),
                lambda: lambert_summand().about("violation"),
                lambda: abel_step().about("violation"),
                lambda: region_violation().about("violation"),
                lambda context: violation_bounded(context).about("violation"),
            ),
        ),
    ),
    Claim(
        id="rem:1/sublinear",
        kind="remark",
        title="regret and violation are sublinear for all γ, φ in (0,1)",
        statement="For every γ and φ between 0 and 1 both the regret and the cost violation are sublinear in T.",
        latex=r"\mathrm{Reg}(T)=o(T),\quad\mathrm{Vio}^{\mathrm S}(T)=o(T)",
        unicode="Reg(T) = o(T), Vio^S(T) = o(T)",
        domain="0 < γ, φ < 1; any costs that are affordable on average over the T rounds",
        checks=(dear_first_round_is_linear,),
        hypotheses=("constant admission is affordable on average up to every round t <= T, not just T",),
        checks_with_hypotheses=SUBLINEAR,
        corrected=Correction(
            title="true by the region alone, at any V, if constant admission is affordable up to every round",
            statement="If constant admission is affordable on average up to every round, both are sublinear "
            "for every φ < 1, for every policy inside the region and whatever γ. If only the whole average "
            "is affordable, all cost may fall into round 1, where a policy may admit 1/(1-ρ) times as much.",
            latex=r"\mathrm{Reg}=O(\sqrt{T\log T}+T^\phi\log T)=o(T),\quad\mathrm{Vio}^{\mathrm S}=O(T^"
            r"\phi\log T)=o(T)",
            unicode="Reg = O(√(T log T) + T^φ·log T) = o(T), Vio^S = O(T^φ·log T) = o(T)",
            hypotheses=("Λ̄Σ_{s<=t}E[c(s)] <= Ct for every t <= T", "the policy stays inside the region"),
            sketch="The corrected thm:dpp-regret and thm:dpp-cost-constraint, with 1-ρ = T^-φ.",
            checks=SUBLINEAR,
        ),
    ),
    Claim(
        id="rem:1/drift",
        kind="step",
        title="the drift argument gives it for all γ, φ in (0,1)",
        statement="The paper's own argument, drift plus penalty with one constant B, gives sublinear rates "
        "for every γ and φ between 0 and 1.",
        latex=r"\tfrac1V\sum_tB_t=o(T)\quad\forall\gamma,\phi\in(0,1)",
        unicode="ΣB_t/V = o(T) for all γ, φ in (0,1)",
        domain="0 < γ, φ < 1",
        checks=(drift_exponents, drift_limit),
        hypotheses=("2φ < 1 + γ",),
        checks_with_hypotheses=(drift_condition, drift_condition_exact),
        corrected=Correction(
            title="exactly for 2φ < 1+γ; the region alone gives it for every φ < 1",
            statement="ΣB_t is of order T + T^(2φ), because round 1 alone has B_1 of order (1-ρ)^-2. So the "
            "drift argument gives sublinear rates exactly if 2φ < 1+γ. The region alone gives them for "
            "every φ < 1.",
            latex=r"\tfrac1V\sum_tB_t=\Theta(T^{1-\gamma}+T^{2\phi-\gamma})",
            unicode="ΣB_t/V = Θ(T^(1-γ) + T^(2φ-γ))",
            sketch="eq:dpp-upper-1, corrected, with 1-ρ = T^-φ, divided by V = T^γ.",
            checks=(drift_condition, drift_condition_exact, region_exponents),
        ),
    ),
]
