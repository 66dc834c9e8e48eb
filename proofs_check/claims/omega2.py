r"""Ω₂, the price of the region's transient (`lem:omega2-order`): its order in 1-ρ, and its limit.

With \(t=s/(1-\rho)\) the occupancy of the comparison tends to \(\bar\Lambda(K-(K-1)e^{-s})\) and 1/N to 0, so
\((1-\rho)\Omega_2\) tends to an integral over s, which \(u=e^{-s}\) makes elementary:

\[\lim_{\rho\to1}(1-\rho)\Omega_2=\frac{2D\sigma}{\sqrt{K\bar\Lambda}}\log\frac{2\sqrt K}{1+\sqrt K}
  +\frac{\eta\sigma^2}{K\bar\Lambda}\log K.\]
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import sympy as sp

from proofs_check.claim import Claim, Context, Correction
from proofs_check.claims.envelope import summed, three
from proofs_check.claims.orders import UNIT, K
from proofs_check.engines.enclosure import compare
from proofs_check.engines.exact import exhaust
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from theory.algebra import ball, log, minimum, precise, ratio, sqrt
from theory.bound import Terms, generalisation_term
from theory.lambert import lambert_total
from theory.penalty import penalty_limit, penalty_limit_as_stated, penalty_terms
from theory.region import region_minimum, region_minimum_total, region_minimum_window
from theory.regret import omega2, omega2_as_stated
from theory.setting import Constants, Region

__all__ = ["OMEGA2"]

RATE = 10
FAR = 10**15


def omega2_limit(K: Any, rate: Any, constants: Constants) -> Any:
    """lim (1-ρ)Ω₂ as ρ → 1; 0 for K = 1."""
    root = 2 * constants.D * constants.sigma / sqrt(K * rate) * log(2 * sqrt(K) / (1 + sqrt(K)))
    return root + constants.eta * constants.sigma**2 * log(K) / (K * rate)


def _comparison(K: int, t: Any, region: Region, most: Any, constants: Constants, *, stated: bool) -> Terms:
    """p̄^CK(t), printed or repaired, with a given number for ΣΛ_max + Λ̄; it grows in that number."""
    fewest = region_minimum_total(region, t) + region.rate
    if stated:
        held = (K - 1) * region_minimum(region, t - K) + region.rate
        first, seen = penalty_terms(held, fewest, constants), most
    else:
        held = region_minimum_window(region, minimum(t, K), t) + region.rate
        first, seen = penalty_terms(held, most, constants), fewest
    return Terms(first.root, first.linear, generalisation_term(ratio(1, fewest), seen, constants))


@cache
def omega2_between(K: int, region: Region, T: int, *, stated: bool) -> tuple[Terms, Terms]:
    """Ω₂(T) from below and above, term by term, with constants 1: Λ̄t <= ΣΛ_max + Λ̄ <= Λ̄(t+S).

    Several times quicker than `theory.regret.omega2`, which sums ΣΛ_max itself; that is its slow twin.
    """
    with precise():
        exact, numbers = region.map(ball), UNIT.map(ball)
        S = lambert_total(exact.rho)
        steady = penalty_limit_as_stated if stated else penalty_limit
        end = summed(lambda t: steady(K, t, exact.rate, numbers), K, T)

        def side(extra: Any) -> Terms:
            def one(t: Any) -> Terms:
                return _comparison(K, t, exact, exact.rate * (t + extra), numbers, stated=stated)

            return summed(one, K, T) - end

        return side(0), side(S)


def _grid(retentions: Any, powers: Any, horizons: Any = (FAR,)) -> list[dict[str, Any]]:
    return [
        {"K": k, "1 - rho": f"1e-{e}", "e": e, "T": T} for k in retentions for e in powers for T in horizons
    ]


def _at(p: Any, *, stated: bool) -> tuple[Terms, Terms]:
    return omega2_between(p["K"], Region(rate=RATE, rho=1 - Fraction(1, 10 ** p["e"])), p["T"], stated=stated)


def _vanishing(e: int) -> Any:
    """10B√(Pdim/Λ̄)·√(1-ρ)·(1+log 1/(1-ρ))^(3/2) at 1-ρ = 10^-e, constants 1, Pdim 5, Λ̄ = 10."""
    return 10 * sqrt(ball(Fraction(UNIT.Pdim, RATE)) * (1 + log(ball(10**e))) ** 3 / 10**e)


def _limit(p: Any) -> Any:
    return omega2_limit(ball(p["K"]), ball(RATE), UNIT.map(ball))


def bounded_as_stated(context: Context) -> Evidence:
    """As printed: (1-ρ)Ω₂ is at most its limit and something that vanishes with 1-ρ."""
    return compare(
        lambda p: three(_at(p, stated=True)[1]) / 10 ** p["e"],
        "<=",
        lambda p: _limit(p) + 2 * _vanishing(p["e"]),
        _grid(context.choose((2,), (2, 10)), context.choose((2,), (1, 2, 4, 6))),
        domain="(1-ρ)Ω₂ as printed, Λ̄ = 10, constants 1, Pdim 5, against its limit + "
        "20√(Pdim/Λ̄)·√(1-ρ)·(1+log 1/(1-ρ))^1.5",
    )


def slow_twin(context: Context) -> Evidence:
    """The same inequality for Ω₂ as `theory.regret` sums it, every Λ_max included."""
    points = _grid((2,), context.choose((1,), (1, 3)), context.choose((10**3,), (10**3, FAR)))

    def total(p: Any) -> Any:
        region = Region(rate=RATE, rho=1 - Fraction(1, 10 ** p["e"]))
        both = (
            form(p["K"], region, p["T"], UNIT, certified=True).total for form in (omega2, omega2_as_stated)
        )
        first, second = both
        return first.max(second) / 10 ** p["e"]

    return compare(
        total,
        "<=",
        lambda p: _limit(p) + 2 * _vanishing(p["e"]),
        points,
        domain="the larger of (1-ρ)Ω₂ as printed and repaired, Λ̄ = 10, constants 1, Pdim 5; same right side",
    )


def scaling(context: Context) -> Evidence:
    """Repaired, from both sides: the first two terms of (1-ρ)Ω₂ against the integral's value."""

    def distance(p: Any) -> Any:
        ends = ((x.root + x.linear) / 10 ** p["e"] - _limit(p) for x in _at(p, stated=False))
        low, high = ends
        return abs(low).max(abs(high))

    return compare(
        distance,
        "<=",
        lambda p: 2 * log(ball(10 ** p["e"])) / 10 ** p["e"],
        _grid(context.choose((2,), (2, 10)), context.choose((4,), (2, 4, 6))),
        domain="T = 10^15, Λ̄ = 10, constants 1: |(1-ρ)(root + linear) - limit| <= 2(1-ρ)·log 1/(1-ρ)",
    )


def third_term(context: Context) -> Evidence:
    """Repaired: the generalisation term is of order (1-ρ)^(-1/2) up to logarithms, so it drops out of the limit."""
    return compare(
        lambda p: _at(p, stated=False)[1].generalisation / 10 ** p["e"],
        "<=",
        lambda p: _vanishing(p["e"]),
        _grid(context.choose((2,), (2, 10)), context.choose((4,), (2, 4, 6))),
        domain="T = 10^15, Λ̄ = 10, constants 1, Pdim 5: (1-ρ)·third <= 10√(Pdim/Λ̄)·√(1-ρ)·(1+log 1/(1-ρ))^1.5",
    )


def never_negative() -> Evidence:
    """Term by term p̄^CK >= p̄_∞: n_min <= n, N_max >= N in the first two; the third takes the smaller N."""
    n, N, fewer, more = sp.symbols("n N fewer more", positive=True)
    return always(
        1 / fewer - 1 / more >= 1 / n - 1 / N,
        given=[fewer <= n, more >= N],
        domain="every round, repaired: n_min <= min(t,K)Λ̄, ΣΛ_min + Λ̄ <= Λ̄t <= ΣΛ_max + Λ̄; so Ω₂(T) grows with T",
    )


def integral() -> Evidence:
    """The two antiderivatives, by differentiation, and their values between u = 0 and u = 1."""
    u, beta = sp.symbols("u beta", positive=True)
    kept = 1 - beta * u  # n/(KΛ̄), β = (K-1)/K
    root, linear = -2 * sp.log(1 + sp.sqrt(kept)), -sp.log(kept)
    inside, steady = "0 < u < 1, β = (K-1)/K", {beta: (K - 1) / K}
    half = (root.subs(u, 1) - root.subs(u, 0)).subs(steady) / 2
    whole = (linear.subs(u, 1) - linear.subs(u, 0)).subs(steady)
    return together(
        equal(
            sp.diff(root, u),
            (1 / sp.sqrt(kept) - 1) / u,
            domain=inside,
            what="root term: antiderivative, integrand",
        ),
        equal(
            sp.diff(linear, u),
            (1 / kept - 1) / u,
            domain=inside,
            what="linear term: antiderivative, integrand",
        ),
        equal(
            sp.exp(half),
            2 * sp.sqrt(K) / (1 + sp.sqrt(K)),
            domain="every K",
            what="exp of half the root term's integral",
        ),
        equal(sp.exp(whole), K, domain="every K", what="exp of the linear term's integral and K"),
    )


# --- the division ------------------------------------------------------------------------------------------


def _recip(rho: Fraction, t: int) -> Fraction:
    """1/N_lb - 1/(Λ̄t), Λ̄ = 1."""
    return Fraction(ratio(1, region_minimum_total(Region(rate=1, rho=rho), t) + 1)) - Fraction(1, t)


def division_as_stated() -> Evidence:
    def violated(rho: Fraction, t: int) -> Any:
        left, divisor = _recip(rho, t), (1 - rho) * t * t - t
        if divisor == 0:
            return {"left": left, "(1-ρ)t²-t": divisor, "right": "division by zero"}
        return None if left <= 1 / divisor else {"left": left, "(1-ρ)t²-t": divisor, "right": 1 / divisor}

    return exhaust(
        [{"rho": Fraction(3, 4), "t": t} for t in (2, 3, 4, 5)], violated, domain="Λ̄ = 1, ρ = 3/4, t >= K = 2"
    )


def division_late() -> Evidence:
    gap, most, s = sp.symbols("delta h t", positive=True)  # N_lb = Λ̄(t-δ), δ <= h = 1/(1-ρ)
    return always(
        1 / (s - gap) - 1 / s <= 1 / (s**2 / most - s),
        given=[gap <= most, most < s],
        domain="every t > 1/(1-ρ): δ = Σρ^τ <= 1/(1-ρ); both sides times Λ̄",
    )


def division_early() -> Evidence:
    gap, s = sp.symbols("delta t", positive=True)
    return always(
        sp.And(1 / (s - gap) - 1 / s >= 0, 1 / (s - gap) - 1 / s <= 1),
        given=[gap <= s - 1],
        domain="every t >= 1: δ = Σ_{τ<t}ρ^τ <= t-1, so N_lb >= Λ̄; both sides times Λ̄",
    )


OMEGA2 = [
    Claim(
        id="lem:omega2-order",
        kind="lemma",
        title="Ω₂ = O(1/(1-ρ))",
        statement="The comparison penalties exceed their limits by order 1/(1-ρ) in total, uniformly in T.",
        latex=r"\Omega_2(T)=O(1/(1-\rho))",
        unicode="Ω₂(T) = O(1/(1-ρ))",
        domain="0 < ρ < 1, T >= 1, K and Λ̄ fixed",
        checks=(bounded_as_stated, slow_twin),
    ),
    Claim(
        id="lem:omega2-order/limit",
        kind="addition",
        title="(1-ρ)Ω₂ has a limit: the lemma is sharp for K >= 2",
        statement="With the repaired comparison, (1-ρ)Ω₂(∞) tends to 2Dσ/√(KΛ̄)·log(2√K/(1+√K)) + ησ²·log "
        "K/(KΛ̄) as ρ tends to 1, which is positive for K >= 2 and 0 for K = 1.",
        latex=r"(1-\rho)\Omega_2\to\frac{2D\sigma}{\sqrt{K\bar\Lambda}}\log\frac{2\sqrt K}{1+\sqrt K}"
        r"+\frac{\eta\sigma^2}{K\bar\Lambda}\log K",
        unicode="(1-ρ)Ω₂ → 2Dσ/√(KΛ̄)·log(2√K/(1+√K)) + ησ²·log K/(KΛ̄)",
        domain="K and Λ̄ fixed, T = ∞ (Ω₂ grows with T), ρ → 1",
        checks=(
            lambda context: scaling(context).about("first two terms"),
            lambda context: third_term(context).about("third term"),
            lambda: never_negative().about("growing in T"),
            lambda: integral().about("the integral"),
        ),
    ),
    Claim(
        id="lem:omega2-order/division",
        kind="step",
        title="1/N_lb - 1/(Λ̄t) <= 1/(Λ̄((1-ρ)t²-t))",
        statement="The reciprocals of the smallest and the limiting number of distinct samples differ by at "
        "most 1/(Λ̄((1-ρ)t²-t)) in every round t >= K.",
        latex=r"\frac1{N_{\mathrm{lb}}(t)}-\frac1{\bar\Lambda t}\le\frac1{\bar\Lambda((1-\rho)t^2-t)}",
        unicode="1/N_lb(t) - 1/(Λ̄t) ≤ 1/(Λ̄((1-ρ)t²-t))",
        domain="every t >= K, 0 < ρ < 1",
        checks=(division_as_stated,),
        hypotheses=("t > 1/(1-ρ)",),
        checks_with_hypotheses=(division_late,),
        corrected=Correction(
            title="for t > 1/(1-ρ) alone; before, the difference lies between 0 and 1/Λ̄",
            statement="The right side is negative for t < 1/(1-ρ) and undefined at t = 1/(1-ρ). Up to "
            "2/(1-ρ) use that the difference lies between 0 and 1/Λ̄; beyond, the printed bound. The lemma "
            "survives.",
            latex=r"0\le\frac1{N_{\mathrm{lb}}}-\frac1{\bar\Lambda t}\le\frac1{\bar\Lambda}\min\Bigl(1,"
            r"\tfrac1{(1-\rho)t^2-t}\Bigr)"
            r"\ \text{for }t>\tfrac1{1-\rho}",
            unicode="0 ≤ 1/N_lb - 1/(Λ̄t) ≤ 1/Λ̄ for all t; ≤ 1/(Λ̄((1-ρ)t²-t)) for t > 1/(1-ρ)",
            sketch="N_lb = Λ̄(t-δ) with δ = Σ_{τ<t}ρ^τ, at most 1/(1-ρ) and at most t-1.",
            checks=(lambda: division_late().about("t > 1/(1-ρ)"), lambda: division_early().about("every t")),
        ),
    ),
]
