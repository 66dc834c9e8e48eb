r"""The repaired comparison penalty is an upper bound: for every K, t, region, constants and history inside the region.

Four links. (1) The region's totals and its window are the sums of its ends, by induction over rounds. (2) The three
pieces of `theory.penalty.penalty_comparison` are the penalty's three terms at \(n_{\min}\), \(N_{\max}\) and
\(N_{\min}\), which are such sums plus Λ̄. (3) The first two terms grow in 1/n - 1/N, which falls in n and grows in N.
(4) The third falls in N. A search over the extreme histories, exact, tries the same without any of them.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import sympy as sp

from proofs_check.claim import Context
from proofs_check.engines.exact import exhaust
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together, undecided
from proofs_check.groundwork.control.inside_region import corners, placed, switched
from proofs_check.symbols import CONSTANTS, REGION, K, rate, rho, t
from theory.algebra import ball, log, precise
from theory.bound import generalisation_term, linear_term, root_term
from theory.lambert import lambert_partial
from theory.penalty import penalty_comparison, penalty_terms
from theory.region import (
    region_maximum,
    region_maximum_total,
    region_minimum,
    region_minimum_total,
    region_minimum_window,
)
from theory.setting import Constants, Region

LIGHTER = Constants(D=1, sigma=1, eta=1, B=Fraction(1, 100), Pdim=4)
# no two alike, so that none can take another's place; B small, so that the first two terms show
UNLIKE = Constants(D=3, sigma=2, eta=Fraction(1, 5), B=Fraction(1, 50), Pdim=2)

s = sp.Symbol("s", integer=True, nonnegative=True)
k = sp.Symbol("k", integer=True, positive=True)
S = sp.Symbol("S", nonnegative=True)  # the Lambert sum up to round t-1
n, N = sp.symbols("n N", positive=True)
CASES = {"t = K+s": (K, K + s), "K = t+s": (t + s, t)}  # every pair (K, t), twice at t = K


def plain(expression: Any, now: Any = None) -> Any:
    """ρ^K, ρ^t, … and the Lambert sum of the rounds before `now` as symbols: a rational function of these."""
    power = sp.sympify(expression).replace(sp.exp, lambda x: rho ** sp.expand(sp.cancel(x / sp.log(rho))))
    if now is not None:
        power = power.subs(lambert_partial(rho, now), S)
    powers = {rho**i: sp.Symbol(f"rho^{i}", positive=True) for i in (K, t, k, s)}
    return sp.cancel(sp.expand_power_exp(power).xreplace(powers))


# --- (1) totals are sums -----------------------------------------------------------------------------------


def totals_are_sums() -> Evidence:
    """Both totals start at 0 and grow by the round's end: so they are ΣΛ_min and ΣΛ_max over the rounds before t."""
    domain = "every t >= 1, ρ and Λ̄: induction over t"
    later = lambert_partial(rho, t + 1)
    grown = sp.Sum(later.function, (later.limits[0][0], 1, t - 1)) + later.function.subs(
        later.limits[0][0], t
    )
    return together(
        equal(region_minimum_total(REGION, 1), 0, domain=domain, what="no round's total and 0"),
        equal(region_maximum_total(REGION, sp.Integer(1)), 0, domain=domain, what="no round's total and 0"),
        equal(
            plain(region_minimum_total(REGION, t + 1) - region_minimum_total(REGION, t)),
            plain(region_minimum(REGION, t)),
            domain=domain,
            what=r"the lower total's growth and $\Lambda_{\min}(t)$",
        ),
        equal(
            plain(region_maximum_total(REGION, t + 1).subs(later, grown) - region_maximum_total(REGION, t)),
            plain(region_maximum(REGION, t)),
            domain=domain,
            what=r"the upper total's growth and $\Lambda_{\max}(t)$",
        ),
    )


def totals_in_numbers() -> Evidence:
    """The same on rationals and on balls, whose formula is another one, against sums written out here."""

    def differs(t: int, rho: Fraction) -> Any:
        region = Region(rate=Fraction(7, 3), rho=rho)
        lower, upper = (
            sum((region.rate * (1 - rho**j) ** sign for j in range(1, t)), Fraction(0)) for sign in (1, -1)
        )
        told = (region_minimum_total(region, t), region_maximum_total(region, t))
        if told != (lower, upper):
            return {"totals": told, "sums": (lower, upper)}
        with precise():
            balls = region.map(ball)
            found = (region_minimum_total(balls, ball(t)), region_maximum_total(balls, ball(t)))
            close = all(
                abs(x - ball(y)) < ball(Fraction(1, 10**25)) for x, y in zip(found, told, strict=True)
            )
        return None if close else {"on balls": found, "sums": told}

    return exhaust(
        [{"t": t, "rho": rho} for t in (1, 2, 3, 8, 30) for rho in (Fraction(1, 5), Fraction(9, 10))],
        differs,
        domain=r"$t$ up to 30, $\rho=1/5$, $9/10$, $\bar\Lambda=7/3$; balls to 25 digits",
    )


def window_is_sum() -> Evidence:
    """The window is a difference of totals: the lower ends of rounds t-k+1, …, t-1, with t = k+s."""
    return equal(
        plain(region_minimum_window(REGION, k, k + s)),
        plain(region_minimum_total(REGION, k + s) - region_minimum_total(REGION, s + 1)),
        domain=r"every $1\le k\le t$, $\rho$, $\bar\Lambda$",
        what="the window and the difference of the totals",
    )


# --- (2) the comparison is the penalty at n_min, N_max, N_min ----------------------------------------------


def ends(window: Any, now: Any) -> tuple[Any, Any, Any]:
    """n_min, N_max and N_min in round `now` when the memory reaches back `window` rounds."""
    held = region_minimum_total(REGION, now) - region_minimum_total(REGION, now - window + 1)
    return tuple(
        total + rate for total in (held, region_maximum_total(REGION, now), region_minimum_total(REGION, now))
    )


@cache
def pieces_at_the_ends() -> Evidence:
    """theory's three pieces, for t >= K and for t <= K, symbol by symbol."""
    found = []
    for case, (horizon, now) in CASES.items():
        terms = penalty_comparison(horizon, now, REGION, CONSTANTS)
        fewest_held, most, fewest = ends(sp.Min(horizon, now), now)
        gap, share = 1 / fewest_held - 1 / most, linear_term(1, CONSTANTS)
        found += [
            equal(
                plain(terms.linear / share, now),
                plain(gap, now),
                domain=f"{case}, every ρ, Λ̄ and constants",
                what=r"the second term's $1/n-1/N$ and $1/n_{\min}-1/N_{\max}$",
            ),
            equal(
                terms.root,
                root_term(terms.linear / share, CONSTANTS),
                domain=case,
                what="the first term and that of the second's $1/n-1/N$",
            ),
            equal(
                terms.generalisation,
                generalisation_term(1 / fewest, fewest, CONSTANTS),
                domain=case,
                what=r"the third term and the penalty's at $N_{\min}$",
            ),
        ]
    return together(*found)


# --- (3), (4) which way the terms move ---------------------------------------------------------------------


def first_terms_move() -> Evidence:
    """1/n - 1/N falls in n and grows in N; the root and the linear term grow in it."""
    fewer, more, low, high = sp.symbols("fewer more low high", positive=True)
    domain = "every constant, 0 < low <= high"
    mismatch = penalty_terms(n, N, CONSTANTS).linear / linear_term(1, CONSTANTS)
    return together(
        equal(mismatch, 1 / n - 1 / N, domain="every $n$, $N$", what="what the penalty's second term is of"),
        equal(
            penalty_terms(n, N, CONSTANTS).root,
            root_term(mismatch, CONSTANTS),
            domain="every $n$, $N$",
            what="the penalty's first term and the root of the same",
        ),
        always(
            1 / n - 1 / N <= 1 / fewer - 1 / more,
            given=[n >= fewer, more >= N],
            domain="every $n$ at or above its lower end, $N$ at or below its upper end",
        ),
        always(
            sp.Le(root_term(low, CONSTANTS), root_term(high, CONSTANTS), evaluate=False),
            given=[low <= high],
            domain=domain,
        ),
        always(
            sp.Le(linear_term(low, CONSTANTS), linear_term(high, CONSTANTS), evaluate=False),
            given=[low <= high],
            domain=domain,
        ),
    )


def third_term_falls() -> Evidence:
    """On N = Pdim(1+w) its slope in w is negative; on N = Pdim/(1+w) it is 10B√(1+w), which falls as N grows."""
    P, B, w = CONSTANTS.Pdim, CONSTANTS.B, sp.Symbol("w", positive=True)

    def third(seen: Any) -> Any:
        return penalty_terms(n, seen, CONSTANTS).generalisation

    L = log(1 + w)
    slope = 5 * B * L / ((1 + w) * sp.sqrt((1 + w) * (1 + L)))
    if not slope.is_positive:
        return undecided("identity", f"the sign of {slope} is open", domain=r"$N>\mathrm{Pdim}$")
    return together(
        equal(
            -sp.diff(third(P * (1 + w)), w),
            slope,
            domain=r"every $N>\mathrm{Pdim}$, $L=\log(N/\mathrm{Pdim})>0$",
            what="the third term's negative slope and a positive number",
        ),
        equal(
            third(P / (1 + w)),
            10 * B * sp.sqrt(1 + w),
            domain=r"every $N<\mathrm{Pdim}$, $1+w=\mathrm{Pdim}/N$",
            what=r"the third term and $10B\sqrt{\mathrm{Pdim}/N}$",
        ),
        equal(
            third(P),
            10 * B,
            domain=r"$N=\mathrm{Pdim}$, where the two meet",
            what="the third term and $10B$",
        ),
    )


def jointly_sharp() -> Evidence:
    """With A the admissions that have left, N = n+A, and 1/n - 1/(n+A) falls in n and grows in A."""
    left, fewer, more = sp.symbols("A fewer more", positive=True)
    return always(
        1 / n - 1 / (n + left) <= 1 / fewer - 1 / (fewer + more),
        given=[n >= fewer, left <= more],
        domain=r"every memory $n\ge n_{\min}$ and every $A\le\sum \Lambda_{\max}(j)$, $j\le t-K$",
    )


# --- the same by search ------------------------------------------------------------------------------------


def _exceeding(K: int, t: int, region: Region, constants: Constants) -> Any:
    """A history at the ends of the region after which some term of the penalty is above theory's piece."""
    bound = penalty_comparison(K, t, region, constants)
    limits = {name: getattr(bound, name) for name in ("root", "linear", "generalisation")}
    for positions in corners(t - 1):
        held, seen = switched(placed(region, positions), K, region.rate)
        terms = penalty_terms(held, seen, constants)
        for name, limit in limits.items():
            value = getattr(terms, name)
            if value == limit:
                continue
            # unequal exact numbers: balls tell them apart
            if not ball(_number(value)) < ball(_number(limit)):
                return {
                    "positions": positions,
                    "n^C": held,
                    "N^C": seen,
                    "term": name,
                    "p": value,
                    "p̄": limit,
                }
    return None


def _number(value: Any) -> Any:
    return sp.N(sp.sympify(value), 40) if isinstance(value, sp.Expr) else value


def never_exceeded(context: Context) -> Evidence:
    """All 2^(t-1) extreme histories, for some K, t and regions; each of the three terms, exactly."""
    rounds = context.choose(5, 9)
    spaces = [Region(rate=3, rho=Fraction(1, 2)), Region(rate=Fraction(3, 2), rho=Fraction(4, 5))]
    return exhaust(
        [
            {"K": K, "t": t, "region": r, "constants": UNLIKE}
            for r in spaces
            for K in (1, 2, 3, 7)
            for t in range(1, rounds + 1)
        ],
        _exceeding,
        domain=f"every history at the ends of the region, t <= {rounds}, K = 1, 2, 3, 7, two regions; constants unlike",
    )
