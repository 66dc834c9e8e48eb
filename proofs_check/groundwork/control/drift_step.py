r"""One round of drift plus penalty, on every path, and the sum of its drift constants.

The debt, the objective and the drift constant are theory's own functions; Z3 sees them with
\(\Lambda_{\max}(t)\) and the penalties as symbols.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from proofs_check.engines.identity import equal
from proofs_check.engines.limit import diverges
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, obeying, together
from proofs_check.groundwork.control.repaired_penalty import plain, third_term_falls
from proofs_check.symbols import CONSTANTS, REGION, C, V, rate, rho, t
from theory.admission import debt_update
from theory.bound import generalisation_term
from theory.minimiser import drift_plus_penalty
from theory.penalty import penalty
from theory.region import region_maximum, region_minimum
from theory.regret import drift_constant

Z, c, Lambda, most = sp.symbols("Z c Lambda_t most", nonnegative=True)
square = sp.Symbol("second_moment", positive=True)  # E[c²]


def debt_behaves() -> Evidence:
    """Z(t+1) >= 0, and it grows in the admission: so the least admissions leave the least debt."""
    less = sp.Symbol("less", nonnegative=True)
    # a symbol of its own for the debt: what SymPy knows about a positive part must not decide the relation
    debt = sp.Symbol("debt", real=True)
    return always(
        [debt >= 0, debt >= debt_update(Z, c, less, C)],
        given=[sp.Eq(debt, debt_update(Z, c, Lambda, C)), less <= Lambda],
        domain=r"every $Z$, $c\ge0$, $C>0$ and admissions less $\le\Lambda$",
    )


def drift_inequality() -> Evidence:
    """L(t+1) - L(t) <= (c²Λ²+C²)/2 + Z(cΛ-C): B_t, at the round's own admission in place of Λ_max(t)."""
    change = c * Lambda - C
    return always(
        debt_update(Z, c, Lambda, C) ** 2 / 2 - Z**2 / 2 <= (c**2 * Lambda**2 + C**2) / 2 + Z * change,
        domain=r"every $Z$, $c$, $\Lambda\ge0$ and $C>0$",
    )


def drift_constant_is() -> Evidence:
    """theory's B_t is (E[c²]Λ_max(t)²+C²)/2, which bounds the above because Λ <= Λ_max(t)."""
    top = region_maximum(REGION, t)
    return together(
        equal(
            drift_constant(REGION, t, square, C),
            (square * top**2 + C**2) / 2,
            domain=r"every $\rho$, $t$, $\bar\Lambda$, $\mathbb E[c^2]$, $C$",
            what=r"$B_t$ and $(\mathbb E[c^2]\Lambda_{\max}^2+C^2)/2$",
        ),
        always(
            (c**2 * Lambda**2 + C**2) / 2 <= (c**2 * most**2 + C**2) / 2,
            given=[Lambda <= most],
            domain="every admission inside the region",
        ),
    )


def rate_is_a_choice() -> Evidence:
    """Λ_min(t) <= Λ̄ <= Λ_max(t): the comparison's admission lies in the region, in every round."""
    x = sp.Symbol("rho^t", positive=True)
    return always(
        [
            sp.Le(plain(region_minimum(REGION, t)), rate, evaluate=False),
            sp.Le(rate, plain(region_maximum(REGION, t)), evaluate=False),
        ],
        given=[x < 1],
        domain=r"every $t\ge1$, $0<\rho<1$, $\bar\Lambda$",
    )


def one_round() -> Evidence:
    """From J(Λ*) <= J(Λ̄), p^CK <= p̄ and Λ* <= Λ_max: the inequality of one round, on every path."""
    p, other, bound = sp.symbols("p p_switch p_bound", nonnegative=True)
    held, seen = sp.symbols("held seen", nonnegative=True)
    objective = drift_plus_penalty(
        Lambda, Z=Z, cost=c, C=C, V=V, retained=held, seen=seen, constants=CONSTANTS
    )
    chosen = Z * (c * Lambda - C) + V * p <= Z * (c * rate - C) + V * other
    return together(
        equal(
            objective - V * penalty(held + Lambda, seen + Lambda, CONSTANTS),
            Z * (c * Lambda - C),
            domain="every argument and constant",
            what=r"$J$ less $V$ times the penalty and $Z(c\Lambda-C)$",
        ),
        always(
            debt_update(Z, c, Lambda, C) ** 2 / 2 - Z**2 / 2 + V * p
            <= (c**2 * most**2 + C**2) / 2 + Z * (c * rate - C) + V * bound,
            given=[chosen, other <= bound, Lambda <= most],
            domain=r"every $Z$, $c$, $\Lambda$, $p\ge0$ and $C$, $V>0$",
        ),
    )


def conditional_means() -> Evidence:
    """A mean of products of a non-negative and a non-positive number; two pasts stand for any number of them."""
    p, z1, z2, m1, m2 = sp.symbols("p z1 z2 m1 m2", nonnegative=True)
    return always(
        p * z1 * (m1 * rate - C) + (1 - p) * z2 * (m2 * rate - C) <= 0,
        given=[p <= 1, m1 * rate <= C, m2 * rate <= C],
        domain=r"any two pasts; $m$ is the mean cost given the past: $\mathbb "
        r"E[Z(c\bar\Lambda-C)]=\mathbb E[Z(\mathbb E[c|\text{past}]\bar\Lambda-C)]$",
    )


def without_debt() -> Evidence:
    """Z = 0, nothing in memory, nothing seen: J is V times the third term, which falls. So Λ(1) = Λ_max(1)."""
    objective = drift_plus_penalty(Lambda, Z=0, cost=c, C=C, V=V, retained=0, seen=0, constants=CONSTANTS)
    return together(
        equal(
            objective,
            V * generalisation_term(1 / Lambda, Lambda, CONSTANTS),
            domain="every $V$, $c$, $C$ and constants",
            what=r"$J_1$ and $V$ times the third term at $N=\Lambda$",
        ),
        third_term_falls(),
        equal(
            plain(region_maximum(REGION, 1)),
            rate / (1 - rho),
            domain=r"every $\rho$, $\bar\Lambda$",
            what=r"$\Lambda_{\max}(1)$ and $\bar\Lambda/(1-\rho)$",
        ),
    )


def after_first_round(expression: Any, variable: Any, *, what: str, domain: str, debt: Any) -> Evidence:
    """A counterexample at T = 1 with c(1) = C/Λ̄: ACDPP then admits the upper end, and the mean cost is affordable."""
    found = diverges(expression, variable, what=what, domain=domain, **{"Vio^S(1) = Z(2)": debt})
    facts = {
        "round 1 of ACDPP admits Λ_max(1)": without_debt(),
        "constant admission is affordable": equal(
            C / rate * rate,
            C,
            domain=r"$c=C/\bar\Lambda$",
            what=r"$c\bar\Lambda$ "
            "and $C$",
        ),
    }
    return obeying(found, facts)


# --- the sum of the drift constants ------------------------------------------------------------------------

g, r, x = sp.symbols("g r x", positive=True)  # (1-ρ^t)/(1-ρ), ρ^((t-1)/2), ρ^t = ρr²


def least_average() -> Evidence:
    """g = Σ_{j<t} ρ^j lies between t·r and t: ρ^j and ρ^(t-1-j) average at least r, and each is at most 1."""
    u, v = sp.symbols("u v", positive=True)
    return together(
        equal(
            (1 - rho * x) / (1 - rho) - (1 - x) / (1 - rho),
            x,
            domain=r"$x=\rho^t$",
            what="$g$'s growth and "
            r"$\rho^t$",
        ),
        always(
            (u**2 + v**2) / 2 >= u * v,
            domain=r"$u^2=\rho^j$, $v^2=\rho^{t-1-j}$, $uv=r$: so $g\ge "
            r"t\cdot r$",
        ),
        always(g + u <= t + 1, given=[g <= t, u <= 1], domain=r"one summand more, $u=\rho^t$: so $g\le t$"),
    )


def drift_excess() -> Evidence:
    """B_t exceeds (E[c²]Λ̄²+C²)/2 by E[c²]Λ̄²/(2(1-ρ)²) times q = x(2-x)/g², with g(1-ρ) = 1-x."""
    power = sp.Symbol("rho^t", positive=True)
    above = plain(drift_constant(REGION, t, square, C) - (square * rate**2 + C**2) / 2)
    return equal(
        above,
        square * rate**2 / (2 * (1 - rho) ** 2) * power * (2 - power) / ((1 - power) / (1 - rho)) ** 2,
        domain=r"every $\rho$, $t$, $\bar\Lambda$, $\mathbb E[c^2]$, $C$",
        what=r"$B_t$'s excess and $\mathbb E[c^2]\bar\Lambda^2/(2(1-\rho)^2)\cdot x(2-x)/g^2$",
    )


UPPER, LOWER = rho * (2 - x) / t**2, x * (2 - x) / t**2  # around q


def drift_summand() -> Evidence:
    """q = x(2-x)/g² lies between x(2-x)/t² and ρ(2-x)/t², and both are at most 2/t²."""
    quotient = x * (2 - x) / g**2
    premises = [rho < 1, r <= 1, sp.Eq(x, rho * r**2)]
    domain = "every 0 < ρ < 1 and t >= 1"
    return together(
        always(quotient <= UPPER, given=[g >= t * r, *premises], domain=domain),
        always(quotient >= LOWER, given=[g <= t, *premises], domain=domain),
        always(2 / t**2 >= UPPER, given=premises, domain=domain),
    )


def drift_ends() -> Evidence:
    """At ρ = 1 both ends of q are 1/t², which sums to ζ(2) = π²/6: hence 2/t² sums to π²/3."""
    squares = sp.summation(1 / t**2, (t, 1, sp.oo))
    ends = [end.subs({x: 1, rho: 1}) for end in (UPPER, LOWER)]
    return together(
        *(equal(end, 1 / t**2, domain=r"$\rho=1$", what="an end of $q$ and $1/t^2$") for end in ends),
        equal(squares, sp.pi**2 / 6, domain="all $t$", what=r"$\sum 1/t^2$ and $\pi^2/6$"),
    )
