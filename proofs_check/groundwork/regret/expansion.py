r"""The regret to O(1), link by link: what Theorem 2, the regret's sign, Remark 1 and our own expansion rest on.

Write \(g(x)=\sqrt{(1+\log^+x)/x}\) and \(H(x)=\int_0^xg\), so that N distinct samples cost \(10B\,g(N/\mathrm{Pdim})\).
Under constant admission round t of the regret is the corollary's round less the oracle's; the links below leave of it
\(10B(g(\bar\Lambda t/\mathrm{Pdim})-g(K\bar\Lambda t/\mathrm{Pdim}))\) and a summable rest.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from proofs_check.engines.identity import equal
from proofs_check.engines.limit import converges, equivalent, eventually, limit, tends_to
from proofs_check.evidence import Evidence, holds, together, undecided
from proofs_check.groundwork.regret.orders import t
from proofs_check.symbols import CONSTANTS, K, rate
from theory.bound import Terms, generalisation_term
from theory.constant_admission import constant_round
from theory.penalty import penalty_limit
from theory.rates import regret_rate
from theory.regret import omega1_limit, omega3_limit
from theory.regret_expansion import generalisation_integral, regret_expansion
from theory.setting import Region
from theory.transient import spread_bound

ALL = r"every $K\ge1$, $\bar\Lambda$, $D$, $\sigma$, $\eta$, $E$, $B$, $\mathrm{Pdim}>0$"
LEAD = sp.limit(omega3_limit(K, rate, CONSTANTS), K, sp.oo)
LIMIT = LEAD * sp.expand(
    omega3_limit(K, rate, CONSTANTS) / LEAD
)  # the constant of √(T log T), as it reads best
# log T times (expansion over its leading term, less 1) tends to half of this, for K >= 2
SECOND = sp.log(rate / CONSTANTS.Pdim) - 1 - sp.log(K) / (sp.sqrt(K) - 1)
SUMMABLE = sp.Rational(5, 4)  # t^(-3/2)·√log t is below t^(-5/4) in the end
u = sp.Symbol("u", positive=True)
T = sp.Symbol("T", positive=True)  # a real horizon, to differentiate by
ABOVE, BELOW = 1 + u, u / (1 + u)  # every x > 1, every 0 < x < 1


def third(N: Any) -> Any:
    """What N distinct samples cost in a round: the third term, N_eff = N."""
    return generalisation_term(1 / N, N, CONSTANTS)


def oracle_round(t: Any) -> Terms:
    """Round t of the oracle, ΣB = KΛ̄."""
    return constant_round(1, t, K * rate, CONSTANTS)


def surrogate_round(t: Any) -> Terms:
    """Round t of the limiting penalties, which Ω₁ ends at and Ω₃ starts from."""
    return penalty_limit(K, t, rate, CONSTANTS.merged)


# --- the integral ------------------------------------------------------------------------------------------


@cache
def antiderivative() -> Evidence:
    """10B·H'(x) is what N = x·Pdim samples cost, on both sides of x = 1; H(0) = 0, and no jump at 1."""
    c, H = CONSTANTS, generalisation_integral
    domain = "every x > 0, B, Pdim > 0"
    slopes = [
        equal(
            10 * c.B * sp.diff(H(x), u) / sp.diff(x, u),
            third(c.Pdim * x),
            domain=domain,
            what=f"10B·H'(x) and the third term at N = x·Pdim, x {side} 1,",
        )
        for x, side in ((ABOVE, ">"), (BELOW, "<"))
    ]
    ends = [
        equal(H(ABOVE).subs(u, 0), H(sp.Integer(1)), domain=domain, what="$H$ from above at 1 and $H(1)$"),
        tends_to(H(BELOW), u, H(sp.Integer(1)), what="$H$ from below at 1", domain=domain),
        equal(H(BELOW).subs(u, 0), 0, domain=domain, what="$H(0)$ and 0"),
    ]
    return together(*slopes, *ends)


@cache
def falling() -> Evidence:
    """The third term falls in N: the derivative of its square is -(10B/x)²·log x above 1, of -(10B/x)² below."""
    c, domain = CONSTANTS, "every N = x·Pdim, x > 0"
    return together(
        *(
            equal(
                sp.diff(third(c.Pdim * x) ** 2, u) / sp.diff(x, u),
                -((10 * c.B / x) ** 2) * weight,
                domain=domain,
                what=r"the slope of the squared third term and minus a square times $\log x$ or 1",
            )
            for x, weight in ((ABOVE, sp.log(ABOVE)), (BELOW, 1))
        )
    )


@cache
def oracle_third() -> Evidence:
    """The oracle's third term is that of KΛ̄t distinct samples: where H(KΛ̄T/Pdim)/K comes from."""
    later = 1 + sp.Symbol("s", nonnegative=True)
    return equal(
        oracle_round(later).generalisation,
        third(K * rate * later),
        domain=r"every round $t=1+s\ge1$, every $K$, $\bar\Lambda$, $B$, $\mathrm{Pdim}$",
        what=r"the oracle's third term and that of $K\bar\Lambda t$ distinct samples",
    )


@cache
def expansion_slope() -> Evidence:
    """d/dT of the expansion is the third term of Λ̄T samples less that of KΛ̄T."""
    return equal(
        sp.simplify(sp.diff(eventually(regret_expansion(K, rate, T, CONSTANTS), T), T)),
        eventually(third(rate * T) - third(K * rate * T), T),
        domain=f"Λ̄T > Pdim; {ALL}",
        what="the expansion's slope and the difference of two third terms",
    )


# --- what is left of a round of the regret -----------------------------------------------------------------


@cache
def first_terms() -> Evidence:
    """The first two terms of the two bounds differ by order t^-2: no log T is left."""
    apart = constant_round(K, t, rate, CONSTANTS) - oracle_round(t)
    domain = f"the first two terms, constant admission less the oracle; {ALL}"
    return together(
        converges(apart.root, t, power=2, domain=domain), converges(apart.linear, t, power=2, domain=domain)
    )


@cache
def third_term() -> Evidence:
    """Replacing N_eff by N = Λ̄t in the third term of constant admission costs a convergent sum."""
    own = constant_round(K, t, rate, CONSTANTS).generalisation
    return converges(own - third(rate * t), t, power=SUMMABLE, domain=f"the third term; {ALL}")


@cache
def logarithms() -> Evidence:
    """The first two terms of Ω₁ grow like `omega1_limit` times log T, those of Ω₃ like minus the same."""
    one = constant_round(K, t, rate, CONSTANTS) - surrogate_round(t)
    three = surrogate_round(t) - oracle_round(t)
    both = omega1_limit(K, rate, CONSTANTS).total
    return together(
        equivalent(one.root + one.linear, t, sp.log(t), both, domain=f"Ω₁'s first two terms; {ALL}"),
        equivalent(three.root + three.linear, t, sp.log(t), -both, domain=f"Ω₃'s; {ALL}"),
    )


@cache
def leading_order() -> Evidence:
    """The expansion over √(T log T), by l'Hôpital: both tend to infinity for K >= 2, both slopes are known."""
    expansion = eventually(regret_expansion(K, rate, T, CONSTANTS), T)
    gauge = sp.sqrt(T * sp.log(T))
    return tends_to(
        sp.diff(expansion, T) / sp.diff(gauge, T),
        T,
        omega3_limit(K, rate, CONSTANTS),
        what=r"the expansion's slope over that of $\sqrt{T\log T}$",
        domain=f"{ALL}; T → ∞",
    )


@cache
def second_order() -> Evidence:
    """What the leading term leaves of the expansion, over √(T/log T), by l'Hôpital: of either sign."""
    leading = omega3_limit(K, rate, CONSTANTS) * sp.sqrt(T * sp.log(T))
    expansion = eventually(regret_expansion(K, rate, T, CONSTANTS), T)
    from_two = {K: K + 1}  # K >= 2: at K = 1 all is 0
    half = omega3_limit(K, rate, CONSTANTS) * SECOND / 2
    return tends_to(
        (sp.diff(expansion - leading, T) / sp.diff(sp.sqrt(T / sp.log(T)), T)).subs(from_two),
        T,
        half.subs(from_two),
        what=r"the slope of expansion less leading term, over that of $\sqrt{T/\log T}$,",
        domain=f"K >= 2, written K+1; {ALL}; T → ∞",
    )


@cache
def spread_order() -> Evidence:
    """What `theory.transient.spread_bound` allows policies to differ by is of order h(1 + log h), h = 1/(1-ρ).

    That is `regret_rate` at T = 1. The quotient is continuous in ρ, with finite limits at ρ → 0, where the rate is 1,
    and at ρ → 1: so it is bounded.
    """
    h = sp.Symbol("h", positive=True)
    spread = eventually(spread_bound(K, Region(rate=rate, rho=1 - 1 / h), CONSTANTS).total, h)
    beside = regret_rate(1, 1 - 1 / h)
    wide, narrow = limit(spread / beside, h), beside.subs(h, 1)
    shown = {"spread over rate, ρ → 1": wide, "rate besides √(T log T), ρ → 0": narrow}
    if wide is None or not (wide.is_finite and wide.is_positive and narrow.is_positive):
        return undecided(
            "limit", f"at the ends: {shown}", domain=r"$\rho\to0$ and $\rho\to1$", certificate=shown
        )
    return together(
        holds("limit", f"spread over rate tends to {wide}", domain=f"ρ → 1; {ALL}", certificate=shown),
        tends_to(
            beside / (h * sp.log(h)),
            h,
            sp.Integer(1),
            what=r"the rate over $h\cdot\log h$",
            domain=r"$\rho\to1$",
        ),
    )


@cache
def omega3_order() -> Evidence:
    """Ω₃ over √(T log T), all constants, K included, as symbols."""
    return equivalent(
        eventually((surrogate_round(t) - oracle_round(t)).total, t),
        t,
        sp.sqrt(t * sp.log(t)),
        omega3_limit(K, rate, CONSTANTS),
        domain=f"{ALL}; T → ∞",
    )


@cache
def without_reuse() -> Evidence:
    """K = 1: constant admission is the oracle, and the expansion is 0 too."""
    return equal(
        regret_expansion(1, rate, T, CONSTANTS),
        0,
        domain=r"$K=1$, every $\bar\Lambda$, $T$, $B$, $\mathrm{Pdim}$",
        what="the expansion and 0",
    )
