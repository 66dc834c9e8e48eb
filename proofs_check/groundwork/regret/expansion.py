r"""The regret to O(1), link by link: what Theorem 2, the regret's sign, Remark 1 and our own expansion rest on.

Write \(g(x)=\sqrt{(1+\log^+x)/x}\) and \(H(x)=\int_0^xg\), so that N distinct samples cost \(10B\,g(N/\mathrm{Pdim})\).
Of round t under constant admission, less the oracle's, the links leave
\(10B(g(\bar\Lambda t/\mathrm{Pdim})-g(K\bar\Lambda t/\mathrm{Pdim}))\) and a summable rest.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from proofs_check.engines.argument import argument
from proofs_check.engines.identity import equal, equations
from proofs_check.engines.limit import converges, diverges, eventually, limit, tends_to
from proofs_check.evidence import Evidence, holds, together, undecided
from proofs_check.groundwork.regret.orders import ALL, ALONG, UNIT, T, h, t
from proofs_check.symbols import CONSTANTS, K, rate
from theory.bound import Terms, generalisation_term
from theory.constant_admission import constant_round
from theory.penalty import penalty_limit
from theory.rates import regret_rate
from theory.regret import omega3_limit
from theory.regret_expansion import generalisation_integral, regret_expansion
from theory.transient import spread_bound

LEAD = sp.limit(omega3_limit(K, rate, CONSTANTS), K, sp.oo)
# the constant of √(T log T), as it reads best
LIMIT = LEAD * sp.expand(omega3_limit(K, rate, CONSTANTS) / LEAD)
EXPANDED = r"10B(\mathrm{Pdim}/\bar\Lambda)[H(\bar\Lambda T/\mathrm{Pdim})-H(K\bar\Lambda T/\mathrm{Pdim})/K]"
EXPANSION = (
    r"\mathrm{Reg}(T)=\frac{10B\,\mathrm{Pdim}}{\bar\Lambda}\Bigl[H\Bigl(\frac{\bar\Lambda "
    r"T}{\mathrm{Pdim}}\Bigr)-\frac1KH\Bigl(\frac{K\bar\Lambda T}{\mathrm{Pdim}}\Bigr)\Bigr]+O_\rho(1)"
)
SUMMABLE = sp.Rational(5, 4)  # t^(-3/2)·√log t is below t^(-5/4) in the end
u = sp.Symbol("u", positive=True)
ABOVE, BELOW = 1 + u, u / (1 + u)  # every x > 1, every 0 < x < 1
later = 1 + sp.Symbol("s", nonnegative=True)  # every round


def third(N: Any) -> Any:
    """What N distinct samples cost in a round: the third term, N_eff = N."""
    return generalisation_term(1 / N, N, CONSTANTS)


def oracle_round(t: Any) -> Terms:
    """Round t of the oracle, ΣB = KΛ̄."""
    return constant_round(1, t, K * rate, CONSTANTS)


def surrogate_round(t: Any) -> Terms:
    """Round t of the limiting penalties, which Ω₁ ends at and Ω₃ starts from."""
    return penalty_limit(K, t, rate, CONSTANTS.merged)


def slope(expression: Any) -> Any:
    """By how much it grows with the horizon, in the end."""
    return sp.diff(eventually(expression, T), T)


# --- the integral ------------------------------------------------------------------------------------------


@cache
def antiderivative() -> Evidence:
    """10B·H'(x) is what N = x·Pdim samples cost, on both sides of x = 1; H(0) = 0, and no jump at 1."""
    c, H = CONSTANTS, generalisation_integral
    slopes = (
        (10 * c.B * sp.diff(H(x), u) / sp.diff(x, u), third(c.Pdim * x), f"$10BH'$ and third term, {side},")
        for x, side in ((ABOVE, "$x>1$"), (BELOW, "$x<1$"))
    )
    return argument(
        *slopes,
        (H(ABOVE).subs(u, 0), H(sp.Integer(1)), "$H$ from above at 1 and $H(1)$"),
        (H(BELOW).subs(u, 0), 0, "$H(0)$ and 0"),
        (H(BELOW), u, H(sp.Integer(1)), "$H$ from below at 1"),
        domain=r"every $x>0$, $B$, $\mathrm{Pdim}>0$",
    )


@cache
def falling() -> Evidence:
    """The third term falls in N: the derivative of its square is -(10B/x)²·log x above 1, of -(10B/x)² below."""
    c, what = CONSTANTS, r"the slope of the squared third term and minus a square times $\log x$ or 1"
    return equations(
        *(
            (sp.diff(third(c.Pdim * x) ** 2, u) / sp.diff(x, u), -((10 * c.B / x) ** 2) * weight, what)
            for x, weight in ((ABOVE, sp.log(ABOVE)), (BELOW, 1))
        ),
        domain=r"every $N=x\,\mathrm{Pdim}$, $x>0$",
    )


@cache
def oracle_third() -> Evidence:
    """The oracle's third term is that of KΛ̄t distinct samples: where H(KΛ̄T/Pdim)/K comes from."""
    found, told = oracle_round(later).generalisation, third(K * rate * later)
    what = r"the oracle's third term and that of $K\bar\Lambda t$ distinct samples"
    return equal(found, told, domain=rf"every round $t=1+s\ge1$; {ALL}", what=what)


@cache
def expansion_slope() -> Evidence:
    """d/dT of the expansion is the third term of Λ̄T samples less that of KΛ̄T."""
    found = sp.simplify(slope(regret_expansion(K, rate, T, CONSTANTS)))
    told = eventually(third(rate * T) - third(K * rate * T), T)
    domain = rf"$\bar\Lambda T>\mathrm{{Pdim}}$; {ALL}"
    return equal(
        found, told, domain=domain, what="the expansion's slope and the difference of two third terms"
    )


@cache
def without_reuse() -> Evidence:
    """K = 1: constant admission is the oracle, and the expansion is 0 too."""
    what, domain = "the expansion and 0", r"$K=1$, every $\bar\Lambda$, $T$, $B$, $\mathrm{Pdim}$"
    return equal(regret_expansion(1, rate, T, CONSTANTS), 0, domain=domain, what=what)


# --- what is left of a round of the regret -----------------------------------------------------------------


@cache
def first_terms() -> Evidence:
    """The first two terms of the two bounds differ by order t^-2: no log T is left."""
    apart = constant_round(K, t, rate, CONSTANTS) - oracle_round(t)
    domain = f"the first two terms, constant admission less the oracle; {ALL}"
    return together(*(converges(term, t, power=2, domain=domain) for term in (apart.root, apart.linear)))


@cache
def third_term() -> Evidence:
    """Replacing N_eff by N = Λ̄t in the third term of constant admission costs a convergent sum."""
    own = constant_round(K, t, rate, CONSTANTS).generalisation
    return converges(own - third(rate * t), t, power=SUMMABLE, domain=f"the third term; {ALL}")


def over(gauge: Any, what: str) -> Evidence:
    """The expansion over a gauge, by l'Hôpital: both tend to infinity for K >= 2, both slopes are known."""
    ratio = slope(regret_expansion(K, rate, T, CONSTANTS)) / sp.diff(gauge, T)
    return tends_to(ratio, T, omega3_limit(K, rate, CONSTANTS), what=what, domain=rf"{ALL}; $T\to\infty$")


@cache
def leading_order() -> Evidence:
    """The expansion is of order √(T log T)."""
    return over(sp.sqrt(T * sp.log(T)), r"the expansion's slope over that of $\sqrt{T\log T}$")


@cache
def spread_order() -> Evidence:
    """What `theory.transient.spread_bound` allows policies to differ by is of order h(1 + log h), h = 1/(1-ρ).

    That is `regret_rate` at T = 1. The quotient is continuous in ρ, with finite limits at ρ → 0, where the rate is 1,
    and at ρ → 1: so it is bounded.
    """
    beside = regret_rate(1, ALONG.rho)
    wide = limit(eventually(spread_bound(K, ALONG, CONSTANTS).total, h) / beside, h)
    narrow = beside.subs(h, 1)
    shown = {"spread over rate, ρ → 1": wide, "rate besides √(T log T), ρ → 0": narrow}
    if wide is None or not (wide.is_finite and wide.is_positive and narrow.is_positive):
        return undecided(
            "limit", f"at the ends: {shown}", domain=r"$\rho\to0$, $\rho\to1$", certificate=shown
        )
    return together(
        holds("limit", f"spread over rate tends to {wide}", domain=rf"$\rho\to1$; {ALL}", certificate=shown),
        tends_to(beside / (h * sp.log(h)), h, 1, what=r"the rate over $h\log h$", domain=r"$\rho\to1$"),
    )


def lipschitz_near_zero() -> Evidence:
    """f(x)/x at x = 1/N, with f(0) = 0: a Lipschitz map would keep it bounded."""
    N = sp.Symbol("N", positive=True)
    return diverges(
        generalisation_term(1 / N, N, UNIT) * N,
        N,
        what="$f(x)/x$ at $x=1/N$",
        domain=r"$f(x)=10B\sqrt{\mathrm{Pdim}\,x}\sqrt{1+\log(1/(\mathrm{Pdim}\,x))}$, constants 1, "
        r"$\mathrm{Pdim}$ 5; $x\to0$",
        probes=(10**2, 10**6, 10**12),
    )
