r"""The sums behind Ω₂'s order and limit, and how theory's bounds on it are put together from them.

With \(u=\rho^j\) a round's excess is at most \(\varphi(u)=(K-1)u/(K(K-(K-1)u))\), linear term, and
\(\psi(u)=1/\sqrt{K-(K-1)u}-1/\sqrt K\), root term, in units of Λ̄; both grow in u, so their sums over j are
compared with integrals. The rounds themselves are in `groundwork.omega2_rounds`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from proofs_check.engines.identity import equal
from proofs_check.engines.limit import tends_to
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.regret.transient import grows_from, h
from proofs_check.symbols import CONSTANTS, K, rate
from theory.algebra import log_plus
from theory.bound import PER_ROUND
from theory.regret import omega2_limit
from theory.setting import Region
from theory.transient import omega2_bound, omega2_floor, omega2_floor_as_stated

kappa, S = sp.symbols("kappa S", positive=True)  # √K, and the Lambert sum
ROUNDS = (
    r"every $K$, $\bar\Lambda$, $D$, $\sigma$, $\eta$, $E$, $B$, $\mathrm{Pdim}$ and $\rho$, every "
    "round"
)
ALONG = Region(rate=rate, rho=1 - 1 / h)


# --- from above ----------------------------------------------------------------------------------------------


@cache
def integrals() -> Evidence:
    """∫φ and ∫ψ over s with u = ρ^s: du/u = -a ds, a = log(1/ρ). Their values are theory's limit, term by term."""
    u, beta, v = sp.symbols("u beta v", positive=True)
    kept, parts = 1 - beta * u, {beta: 1 - 1 / kappa**2}  # n/(KΛ̄), β = (K-1)/K, K = κ²
    root, linear = -2 * sp.log(1 + sp.sqrt(kept)) / kappa, -sp.log(kept) / kappa**2
    limit, c = omega2_limit(kappa**2, rate, CONSTANTS), CONSTANTS.merged
    values = {
        "root": c.D * c.sigma / sp.sqrt(rate) * (root.subs(u, 1) - root.subs(u, 0)).subs(parts),
        "linear": c.eta * c.sigma**2 / rate * (linear.subs(u, 1) - linear.subs(u, 0)).subs(parts),
    }
    found = [
        equal(
            sp.diff(root, u),
            (1 / sp.sqrt(kept) - 1) / (kappa * u),
            domain="$0<u<1$",
            what=r"$\int \psi/u$ and its integrand",
        ),
        equal(
            sp.diff(linear, u),
            beta / (kappa**2 * kept),
            domain="$0<u<1$",
            what=r"$\int \phi/u$ and "
            "its integrand",
        ),
        grows_from(
            sp.log(v) - 1 + 1 / v,
            v,
            1,
            given=[v >= 1],
            domain=r"$v=1/\rho$: $a\ge1-\rho$, so "
            r"$1/a\le h$",
        ),
        grows_from(
            v - 1 - sp.log(v),
            v,
            1,
            given=[v >= 1],
            domain=r"$v=1/\rho$: $a\le1/\rho-1$, so "
            r"$1/a\ge\rho h$",
        ),
    ]
    for name, value in values.items():
        both = (
            sp.expand_log(sp.sympify(side).replace(sp.log, _over), force=True)
            for side in (value, getattr(limit, name))
        )
        found.append(equal(*both, domain=ROUNDS, what=f"the {name} term's integral and its limit"))
    return together(*found)


def _over(inside: Any) -> Any:
    return sp.log(sp.factor(sp.together(inside)))


@cache
def other_sums() -> Evidence:
    """ψ(u) <= u(1-1/√K), so ΣKψ/(t-K) <= (K-√K)Σρ^j/j; ΣS/(t(t+S)) <= 1+log(1+S); and π <= 22/7."""
    w, v, x = sp.symbols("w t x", positive=True)  # w = √(K-(K-1)u), so u = (κ²-w²)/(κ²-1)
    sixth = x**4 * (1 - x) ** 4 / (1 + x**2)
    return together(
        always(
            1 / w - 1 / kappa <= (kappa**2 - w**2) / (kappa**2 - 1) * (1 - 1 / kappa),
            given=[w >= 1, w <= kappa, kappa > 1],
            domain=r"$0\le u\le1$, $K>1$ (for $K=1$ both sides are 0)",
        ),
        equal(
            sp.diff(sp.log(v / (v + S)), v),
            S / (v * (v + S)),
            domain=r"$t\ge1$",
            what=r"$\int$ and "
            "$S/(t(t+S))$",
        ),
        equal(sp.log(v / (v + S)).subs(v, 1), -sp.log(1 + S), domain="every $S$", what="its value at $t=1$"),
        always(sp.Le(S / (1 + S), 1, evaluate=False), domain="the term $t=1$"),
        equal(
            sp.integrate(sp.apart(sixth), (x, 0, 1)),
            sp.Rational(22, 7) - sp.pi,
            domain=r"$22/7-\pi$",
            what=r"$\int x^4(1-x)^4/(1+x^2)$",
        ),
    )


@cache
def assembled() -> Evidence:
    """theory.transient.omega2_bound, put together from the links: each sum where it belongs."""
    size, found = sp.log(2 * h) * h, omega2_bound(kappa**2, ALONG, CONSTANTS)
    limit, c = omega2_limit(kappa**2, rate, CONSTANTS), CONSTANTS.merged
    drifted = 1 + sp.log(1 + size)
    root = kappa**2 + (kappa**2 - kappa) * sp.log(h) + (kappa**2 + 1) / 2 * drifted
    logarithm = sp.sqrt(1 + log_plus(rate * (2 * h + size) / c.Pdim))
    rounds = sp.Rational(5, 2) * (1 + sp.log(2 * h)) + sp.Rational(9, 2) * h / h
    third = logarithm * sp.sqrt(h) * rounds + sp.Rational(22, 7) * sp.sqrt(size)
    expected = {
        "root": c.D * c.sigma / sp.sqrt(rate) * root + h * limit.root,
        "linear": c.eta * c.sigma**2 / rate * (kappa**2 + drifted) + h * limit.linear,
        "generalisation": 10 * c.B * sp.sqrt(c.Pdim / rate) * third,
    }
    return together(
        *(
            equal(getattr(found, name), value, domain=ROUNDS, what=f"the bound's {name} term and its links")
            for name, value in expected.items()
        )
    )


@cache
def of_order_h() -> Evidence:
    """(1-ρ) times theory's bound tends to the limit's terms as h = 1/(1-ρ) grows: so it is O(h), with that constant."""
    bound, limit = omega2_bound(K, ALONG, CONSTANTS), omega2_limit(K, rate, CONSTANTS)
    return together(
        *(
            tends_to(
                getattr(bound, name) / h, h, getattr(limit, name), what=f"(1-ρ)·bound, {name}", domain=ROUNDS
            )
            for name in PER_ROUND
        )
    )


# --- from below ---------------------------------------------------------------------------------------------


def floor_assembled() -> Evidence:
    """theory.transient.omega2_floor: Σ_{t>=K} ψ(ρ^(t-1)) >= ∫ from K-1 on >= ρh·∫ - (K-1)ψ(1), and so for φ."""
    found, limit, c = (
        omega2_floor(kappa**2, ALONG, CONSTANTS),
        omega2_limit(kappa**2, rate, CONSTANTS),
        CONSTANTS.merged,
    )
    psi, phi = 1 - 1 / kappa, (kappa**2 - 1) / kappa**2  # at u = 1
    missed = {
        "root": c.D * c.sigma / sp.sqrt(rate) * (kappa**2 - 1) * psi,
        "linear": c.eta * c.sigma**2 / rate * (kappa**2 - 1) * phi,
        "generalisation": 0,
    }
    return together(
        *(
            equal(
                getattr(found, name),
                (1 - 1 / h) * h * getattr(limit, name) - value,
                domain=ROUNDS,
                what=f"the floor's {name} term and its links",
            )
            for name, value in missed.items()
        )
    )


def floor_of_order_h() -> Evidence:
    floor, limit = omega2_floor(K, ALONG, CONSTANTS), omega2_limit(K, rate, CONSTANTS)
    return together(
        *(
            tends_to(
                getattr(floor, name) / h, h, getattr(limit, name), what=f"(1-ρ)·floor, {name}", domain=ROUNDS
            )
            for name in ("root", "linear")
        )
    )


def positive_from_two() -> Evidence:
    """The limit's logarithms are of 2κ/(1+κ) and κ², κ = √K: both above 1 for K > 1; and at K = 1 it is 0."""
    limit, c = omega2_limit(kappa**2, rate, CONSTANTS), CONSTANTS.merged
    inside = [
        sp.exp(sp.simplify(limit.root * kappa * sp.sqrt(rate) / (2 * c.D * c.sigma))),
        sp.exp(sp.simplify(limit.linear * kappa**2 * rate / (c.eta * c.sigma**2))),
    ]
    return together(
        *(always(sp.simplify(one) > 1, given=[kappa > 1], domain="$K>1$") for one in inside),
        equal(omega2_limit(1, rate, CONSTANTS).total, 0, domain="$K=1$", what="the limit and 0"),
    )


def stated_floor() -> Evidence:
    """theory.transient.omega2_floor_as_stated: 2(h+1) rounds' worth of 1/t lost, times what each term makes of it."""
    found, c = omega2_floor_as_stated(K, ALONG, CONSTANTS), CONSTANTS
    expected = {
        "root": -2 * (h + 1) * (K + 1) * c.D * c.sigma / sp.sqrt(rate),
        "linear": -2 * (h + 1) * c.eta * c.sigma**2 / rate,
        "generalisation": 0,
    }
    return together(
        *(
            equal(getattr(found, name), value, domain=ROUNDS, what=f"the printed floor's {name} term")
            for name, value in expected.items()
        ),
        always(2 * (h + 1) <= 4 * h, given=[h >= 1], domain=r"every $\rho$: it is $O(1/(1-\rho))$"),
    )
