r"""How fast the region contracts, and what that makes of the generalisation term: links that Ω₂ and the spread share.

Write \(h=1/(1-\rho)\), \(F_s=\sum_{j\le s}(1-\rho^j)\) for the fewest distinct samples after s rounds in units of Λ̄,
and S for the Lambert sum \(\sum_j\rho^j/(1-\rho^j)\). Every link is for all ρ in (0, 1) and all rounds.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.control.lambert_sum import lambert_summand
from proofs_check.symbols import REGION, rate, rho
from theory.region import contraction, region_maximum, region_minimum, region_minimum_total
from theory.transient import lambert_reach
from theory.violation import lambert_bound

h, s, w = sp.symbols("h s w", positive=True)
EVERY = r"every $0<\rho<1$ and every round"


def plain(expression: Any, **powers: Any) -> Any:
    """A formula of `theory/` on symbols with ρ^t written out: exp(t·log ρ) becomes a symbol y, and so on."""
    expression = sp.sympify(expression).replace(
        sp.exp, lambda power: sp.expand_power_exp(sp.exp(sp.expand(power)))
    )
    symbols = {
        sp.exp(exponent * sp.log(rho)): sp.Symbol(name, positive=True) for name, exponent in powers.items()
    }
    return expression.xreplace(symbols)


def grows_from(function: Any, variable: Any, start: Any, *, given: Any, domain: str) -> Evidence:
    """function >= 0 from `start` on: it is at least 0 there, and its derivative is not negative beyond."""
    first = sp.simplify(function.subs(variable, start))
    slope = sp.Ge(sp.together(sp.diff(function, variable)), 0, evaluate=False)
    return together(
        equal(
            first,
            sp.Abs(first),
            domain=f"{variable} = {start}",
            what="the first value and its absolute value",
        ),
        always(slope, given=given, domain=domain),
    )


# --- the region's ends -------------------------------------------------------------------------------------


@cache
def powers_fall() -> Evidence:
    """ρ^s <= h/(h+s), by induction over s: y = ρ^s, and ρ^(s+1) = ρ·y with ρ = 1 - 1/h."""
    y = sp.Symbol("y", positive=True)
    return always(
        (1 - 1 / h) * y <= h / (h + s + 1),
        given=[y <= h / (h + s)],
        domain=f"{EVERY}: ρ^s <= h/(h+s) and the same for s+1; equality at s = 0",
    )


@cache
def fewest_samples() -> Evidence:
    """F_s >= s(s+1)/(2(h+s)) and F_s >= s-h+1, by induction over s along theory's own sums."""
    t = sp.Symbol("t", integer=True, positive=True)
    F, y = sp.symbols("F y", positive=True)
    step = region_minimum_total(REGION, t + 1) - region_minimum_total(REGION, t)
    closed = plain(region_minimum_total(REGION, t + 1) / rate - (t - rho / (1 - rho)), y=t)
    return together(
        equal(
            plain(step, y=t),
            plain(region_minimum(REGION, t), y=t),
            domain=EVERY,
            what=r"$\bar\Lambda "
            r"F$'s step and $\Lambda_{\min}$",
        ),
        equal(region_minimum_total(REGION, 1), 0, domain="before round 1", what=r"$\bar\Lambda F$ and 0"),
        equal(
            plain(contraction(REGION, t), y=t),
            1 - y,
            domain=EVERY,
            what=r"$\Lambda_{\min}/\bar\Lambda$ "
            r"and $1-\rho^t$",
        ),
        always(
            F + 1 - y >= (s + 1) * (s + 2) / (2 * (h + s + 1)),
            given=[s * (s + 1) / (2 * (h + s)) <= F, y <= h / (h + s + 1)],
            domain=f"{EVERY}: from F_s to F_(s+1), y = ρ^(s+1)",
        ),
        equal(
            closed,
            y * rho / (1 - rho),
            domain=EVERY,
            what=r"$F_s-(s-\rho/(1-\rho))$, which is positive, and $\rho^{s+1}h$",
        ),
    )


@cache
def most_samples() -> Evidence:
    """Λ_max/Λ̄ = 1 + ρ^t/(1-ρ^t), so ΣΛ_max <= Λ̄(t+S), and S <= h·log 2h."""
    t = sp.Symbol("t", integer=True, positive=True)
    y, root = sp.symbols("y r", positive=True)  # r = √ρ
    beyond = plain(region_maximum(REGION, t), y=t) / rate - 1
    bound, reach = (f(root**2) * (1 - root**2) for f in (lambert_bound, lambert_reach))
    return together(
        equal(
            beyond,
            y / (1 - y),
            domain=EVERY,
            what=r"what $\Lambda_{\max}$ adds to $\bar\Lambda$, and "
            "a term of the Lambert sum",
        ),
        lambert_summand(),
        equal(
            bound,
            -root * sp.log(1 - root),
            domain=EVERY,
            what=r"$(1-\rho)$ times its bound, with "
            r"$r=\sqrt{\rho}$,",
        ),
        equal(
            reach,
            sp.log(2 / (1 - root**2)),
            domain=EVERY,
            what=r"$(1-\rho)\cdot h\cdot\log2h$ and "
            r"$\log(2/(1-r^2))$",
        ),
        always(
            1 / (1 - root) <= 2 / (1 - root**2),
            given=[root < 1],
            domain=f"{EVERY}: so r·log(1/(1-r)) <= log(1/(1-r)) <= log 2h",
        ),
    )


# --- the generalisation term -------------------------------------------------------------------------------


@cache
def early_third() -> Evidence:
    """1/√F <= (5/2)√h/s up to s = 2h, and Σ1/s <= 1 + log 2h there."""
    F = sp.Symbol("F", positive=True)
    return together(
        always(
            (sp.Rational(5, 2) / s) ** 2 * h >= 1 / F,
            given=[s * (s + 1) / (2 * (h + s)) <= F, s <= 2 * h],
            domain=r"$s\le2h$",
        ),
        always(
            1 / (s + 1) <= 1 / w,
            given=[w <= s + 1],
            domain="$1/(s+1)$ is at most $1/w$ on $[s,s+1]$: "
            r"$\sum_{1<s\le2h}1/s\le\int_1^{2h}dw/w=\log2h$",
        ),
    )


@cache
def late_third() -> Evidence:
    """1/√F - 1/√M <= w/s^(3/2) from s = 2h on, where F >= s/2, M >= s, M - F <= w."""
    F, p, q, r = sp.symbols("F p q r", positive=True)  # √F, √M, √s
    return together(
        always(s / 2 <= F, given=[s - h + 1 <= F, s >= 2 * h], domain=r"$s\ge2h$"),
        always(
            1 / p - 1 / q <= w / r**3,
            given=[p**2 >= r**2 / 2, q >= r, q**2 - p**2 <= w],
            domain=r"$p=\sqrt{F}$, $q=\sqrt{M}$, $r=\sqrt{s}$",
        ),
    )


@cache
def late_logarithm() -> Evidence:
    """1 + log⁺(M/Pdim) <= (1 + log⁺(Λ̄·reach/Pdim))·2√(s/2h) for M <= Λ̄·(s + reach - 2h), s >= 2h."""
    more, X, Y, y = sp.symbols("c X Y y", positive=True)
    return together(
        always(
            s + more <= s * (2 * h + more) / (2 * h),
            given=[s >= 2 * h],
            domain="reach $=2h+c$, "
            r"$s\ge2h$",
        ),
        always(
            1 + X + Y <= (1 + X) * (1 + Y),
            domain=r"$X=\log^{+}(\bar\Lambda\cdot\text{reach}/\mathrm{Pdim})$, "
            r"$Y=\log(s/2h)$",
        ),
        grows_from(
            2 * sp.sqrt(y) - 1 - sp.log(y),
            y,
            1,
            given=[y >= 1],
            domain=r"$1+\log y\le2\sqrt{y}$ for "
            r"$y\ge1$",
        ),
    )


@cache
def late_third_sum() -> Evidence:
    """Σ_{s>2h} √2·s^(-3/2)·(s/2h)^(1/4) <= first term + integral <= (9/2)/√h."""
    summand = sp.sqrt(2) * s ** sp.Rational(-3, 2) * (s / (2 * h)) ** sp.Rational(1, 4)
    antiderivative = -4 * s * summand
    q = sp.sqrt(h)
    tail = sp.expand((summand - antiderivative).subs(s, 2 * h))
    return together(
        equal(sp.diff(antiderivative, s), summand, domain=r"$s\ge2h$", what="antiderivative and summand"),
        equal(tail, 1 / (2 * q**3) + 4 / q, domain="every $h$", what="first term + integral"),
        always(1 / (2 * q**3) + 4 / q <= sp.Rational(9, 2) / q, given=[h >= 1], domain=r"every $h\ge1$"),
    )


@cache
def third_term() -> Evidence:
    """All links from F and M to the bound on the sum of the generalisation terms' differences."""
    return together(
        powers_fall(), fewest_samples(), early_third(), late_third(), late_logarithm(), late_third_sum()
    )
