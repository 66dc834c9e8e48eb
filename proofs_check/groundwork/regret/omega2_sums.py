r"""The sums behind Ω₂'s order and limit, and how theory's bounds on it are put together from them.

With \(u=\rho^j\) a round's excess is at most \(\varphi(u)=(K-1)u/(K(K-(K-1)u))\), linear term, and
\(\psi(u)=1/\sqrt{K-(K-1)u}-1/\sqrt K\), root term, in units of Λ̄; both grow in u, so their sums over j are
compared with integrals. The rounds themselves are in `omega2_rounds`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from proofs_check.engines.identity import equal, equations
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.regret.orders import ALL, ALONG, LINEAR, ROOT, h, terms_equal, terms_tend
from proofs_check.groundwork.regret.transient import grows_from_one
from proofs_check.symbols import CONSTANTS, K, rate
from theory.algebra import log_plus
from theory.bound import Terms
from theory.regret import omega2_limit
from theory.transient import omega2_bound, omega2_floor, omega2_floor_as_stated

kappa, S = sp.symbols("kappa S", positive=True)  # √K, and the Lambert sum
EVERY = rf"{ALL}, every $\rho$"


# --- from above --------------------------------------------------------------------------------------------


@cache
def integrals() -> Evidence:
    """∫φ and ∫ψ over s with u = ρ^s: du/u = -a ds, a = log(1/ρ). Their values are theory's limit, term by term."""
    u, beta, v = sp.symbols("u beta v", positive=True)
    kept, parts = 1 - beta * u, {beta: 1 - 1 / kappa**2}  # n/(KΛ̄), β = (K-1)/K, K = κ²
    root, linear = -2 * sp.log(1 + sp.sqrt(kept)) / kappa, -sp.log(kept) / kappa**2
    values = [
        _logs(unit * (whole.subs(u, 1) - whole.subs(u, 0)).subs(parts))
        for unit, whole in ((ROOT, root), (LINEAR, linear))
    ]
    limit = omega2_limit(kappa**2, rate, CONSTANTS)
    return together(
        equations(
            (sp.diff(root, u), (1 / sp.sqrt(kept) - 1) / (kappa * u), r"$\int\psi/u$ and its integrand"),
            (sp.diff(linear, u), beta / (kappa**2 * kept), r"$\int\phi/u$ and its integrand"),
            domain="$0<u<1$",
        ),
        grows_from_one(sp.log(v) - 1 + 1 / v, v, domain=r"$v=1/\rho$: $a\ge1-\rho$, so $1/a\le h$"),
        grows_from_one(v - 1 - sp.log(v), v, domain=r"$v=1/\rho$: $a\le1/\rho-1$, so $1/a\ge\rho h$"),
        terms_equal(
            Terms(values[0], values[1], generalisation=0),
            Terms(_logs(limit.root), _logs(limit.linear), generalisation=0),
            names=("root", "linear"),
            what="the integral and its limit",
            domain=EVERY,
        ),
    )


def _logs(expression: Any) -> Any:
    """With logarithms of single factors."""
    factored = sp.sympify(expression).replace(sp.log, lambda x: sp.log(sp.factor(sp.together(x))))
    return sp.expand_log(factored, force=True)


@cache
def other_sums() -> Evidence:
    """ψ(u) <= u(1-1/√K), so ΣKψ/(t-K) <= (K-√K)Σρ^j/j; ΣS/(t(t+S)) <= 1+log(1+S); and π <= 22/7."""
    w, v, x = sp.symbols("w t x", positive=True)  # w = √(K-(K-1)u), so u = (κ²-w²)/(κ²-1)
    whole = sp.log(v / (v + S))
    return together(
        always(
            1 / w - 1 / kappa <= (kappa**2 - w**2) / (kappa**2 - 1) * (1 - 1 / kappa),
            given=[w >= 1, w <= kappa, kappa > 1],
            domain=r"$0\le u\le1$, $K>1$ (for $K=1$ both sides are 0)",
        ),
        equations(
            (sp.diff(whole, v), S / (v * (v + S)), r"$\int$ and $S/(t(t+S))$"),
            (whole.subs(v, 1), -sp.log(1 + S), "its value at $t=1$"),
            domain=r"$t\ge1$, every $S$",
        ),
        always(sp.Le(S / (1 + S), 1, evaluate=False), domain="the term $t=1$"),
        equal(
            sp.integrate(sp.apart(x**4 * (1 - x) ** 4 / (1 + x**2)), (x, 0, 1)),
            sp.Rational(22, 7) - sp.pi,
            domain=r"$22/7-\pi$",
            what=r"$\int x^4(1-x)^4/(1+x^2)$",
        ),
    )


@cache
def assembled() -> Evidence:
    """theory.transient.omega2_bound, put together from the links: each sum where it belongs."""
    size, limit = sp.log(2 * h) * h, omega2_limit(kappa**2, rate, CONSTANTS)
    drifted = 1 + sp.log(1 + size)
    root = kappa**2 + (kappa**2 - kappa) * sp.log(h) + (kappa**2 + 1) / 2 * drifted
    logarithm = sp.sqrt(1 + log_plus(rate * (2 * h + size) / CONSTANTS.Pdim))
    rounds = sp.Rational(5, 2) * (1 + sp.log(2 * h)) + sp.Rational(9, 2) * h / h
    third = logarithm * sp.sqrt(h) * rounds + sp.Rational(22, 7) * sp.sqrt(size)
    return terms_equal(
        omega2_bound(kappa**2, ALONG, CONSTANTS),
        Terms(
            root=ROOT * root + h * limit.root,
            linear=LINEAR * (kappa**2 + drifted) + h * limit.linear,
            generalisation=10 * CONSTANTS.B * sp.sqrt(CONSTANTS.Pdim / rate) * third,
        ),
        what="the bound and its links",
        domain=EVERY,
    )


@cache
def of_order_h() -> Evidence:
    """(1-ρ) times theory's bound tends to the limit's terms as h = 1/(1-ρ) grows: so it is O(h), with that constant."""
    return terms_tend(
        omega2_bound(K, ALONG, CONSTANTS),
        omega2_limit(K, rate, CONSTANTS),
        over=h,
        what=r"$(1-\rho)$ times the bound",
        domain=EVERY,
    )


# --- from below --------------------------------------------------------------------------------------------


def floor_assembled() -> Evidence:
    """theory.transient.omega2_floor: Σ_{t>=K} ψ(ρ^(t-1)) >= ∫ from K-1 on >= ρh·∫ - (K-1)ψ(1), and so for φ."""
    limit = omega2_limit(kappa**2, rate, CONSTANTS)
    psi, phi = 1 - 1 / kappa, (kappa**2 - 1) / kappa**2  # at u = 1
    reached = (1 - 1 / h) * h
    return terms_equal(
        omega2_floor(kappa**2, ALONG, CONSTANTS),
        Terms(
            root=reached * limit.root - ROOT * (kappa**2 - 1) * psi,
            linear=reached * limit.linear - LINEAR * (kappa**2 - 1) * phi,
            generalisation=0,
        ),
        what="the floor and its links",
        domain=EVERY,
    )


def floor_of_order_h() -> Evidence:
    return terms_tend(
        omega2_floor(K, ALONG, CONSTANTS),
        omega2_limit(K, rate, CONSTANTS),
        names=("root", "linear"),
        over=h,
        what=r"$(1-\rho)$ times the floor",
        domain=EVERY,
    )


def stated_floor() -> Evidence:
    """theory.transient.omega2_floor_as_stated: 2(h+1) rounds' worth of 1/t lost, times what each term makes of it."""
    unit = CONSTANTS.eta * CONSTANTS.sigma**2 / rate  # as printed, η for ηE
    return together(
        terms_equal(
            omega2_floor_as_stated(K, ALONG, CONSTANTS),
            Terms(root=-2 * (h + 1) * (K + 1) * ROOT, linear=-2 * (h + 1) * unit, generalisation=0),
            what="the printed floor and its links",
            domain=EVERY,
        ),
        always(2 * (h + 1) <= 4 * h, given=[h >= 1], domain=r"every $\rho$: it is $O(1/(1-\rho))$"),
    )
