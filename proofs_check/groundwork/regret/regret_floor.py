r"""A lower bound on the regret of every policy inside the region, for every T and ρ (`theory.regret_lower_bound`).

The links of the argument that is told, in five steps and with its letters, under `eq:dpp-regret`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import sympy as sp

from proofs_check.engines.argument import argument
from proofs_check.engines.limit import eventually
from proofs_check.evidence import Evidence
from proofs_check.groundwork.regret.expansion import antiderivative, falling
from proofs_check.groundwork.regret.orders import ALL, ALONG, T, h
from proofs_check.groundwork.regret.transient import most_samples
from proofs_check.symbols import CONSTANTS, REGION, K, rate, rho
from theory.bound import linear_term, root_term
from theory.region import region_minimum
from theory.regret_expansion import generalisation_integral, regret_expansion, regret_lower_bound
from theory.reuse import mismatch_constant
from theory.transient import lambert_reach

x, s, n, oldest, t = sp.symbols("x s n N_s t", positive=True)
FIRST = sp.simplify(region_minimum(REGION, 1))


@cache
def mismatch_from_below() -> Evidence:
    """μ >= 1/n - 2/N(s) in both forms, from A <= k for all samples and A = k for the N(s) oldest."""
    k, uses, squares, kept = sp.symbols("k uses squares kept", positive=True)
    counted = [kept <= k * n, uses >= k * oldest, squares <= k * uses]
    inverse, floor = squares / uses**2, 1 / n - 2 / oldest  # 1/N_eff
    domain = r"any reuse counts $A\le k$, $A=k$ for $N(s)$ samples: $\sum A\ge kN(s)$, "
    return argument(
        (1 / n + inverse - 2 * kept / uses / n >= floor, counted[:2], rf"$\chi$; {domain}$\sum_QA\le kn$"),
        (1 / n - inverse >= floor, counted[1:], rf"as printed; {domain}$\sum A^2\le k\sum A$"),
    )


@cache
def gap() -> Evidence:
    """Links 2 and 3: what a round's μ can be below the oracle's, and what that saves in the root."""
    oracle = mismatch_constant(1, t, K * rate).subs(sp.Min(1, t), 1)
    c, a = CONSTANTS.merged, sp.Symbol("mu_o", positive=True)
    kept = sp.Symbol("mu", nonnegative=True)  # the positive part of μ
    return argument(
        (
            oracle - (1 / n - 2 / oldest) <= x / (K * rate) + 2 / (rate * (1 - rho) * s),
            [x < 1, rho < 1, n <= K * rate / (1 - x), oldest >= s * FIRST],
            r"every round $t\ge1$: $n\le K\bar\Lambda/(1-x)$, $N(s)\ge s\Lambda_{\min}(1)$",
        ),
        (oracle >= 1 / (2 * K * rate), [t >= 2], r"the oracle's $\mu$, every round $t\ge2$"),
        (
            root_term(a, c) - root_term(kept, c) <= sp.sqrt(2 * K * rate) * c.D * c.sigma * (a - kept),
            [a >= 1 / (2 * K * rate), kept <= a],
            r"every $\mu_o\ge1/(2K\bar\Lambda)$ and $0\le\mu\le\mu_o$; a negative $\mu$ counts as 0, and "
            r"its $\mu_o-\mu$ is larger",
        ),
    )


@cache
def narrowest() -> Evidence:
    """The lower ends rise, so each of s rounds admits Λ̄(1-ρ) at least; with y = ρ^(t-1) <= 1."""
    y = sp.Symbol("y", positive=True)
    return argument(
        (FIRST, rate * (1 - rho), r"$\Lambda_{\min}(1)$ and $\bar\Lambda(1-\rho)$"),
        (rate * (1 - rho * y) >= FIRST, [y <= 1], "the lower ends rise"),
        domain=r"every $\bar\Lambda$, $\rho$",
    )


def _early(rho: Any) -> Any:
    """What H at 1+S in place of 0 costs: the early rounds."""
    scale = CONSTANTS.Pdim / rate
    return 10 * CONSTANTS.B * scale * generalisation_integral((1 + lambert_reach(rho)) / scale)


@cache
def added_up() -> Evidence:
    """Link 4 and the sum of all links: what the theory's function subtracts is what they add up to."""
    c, places = CONSTANTS.merged, K * rho / (1 - rho)  # Σx
    unit = places / (K * rate) + 2 * (K + sp.log(T)) / (rate * (1 - rho))  # Σd
    lost = c.D * c.sigma * sp.sqrt(2 * K * rate) * unit + linear_term(unit, c)
    summed = r"$\sum x$: $K-1$ rounds with $s=1$, and $\sum\rho^s$ over $s\ge1$"
    found, told = regret_lower_bound(K, REGION, T, CONSTANTS), regret_expansion(K, rate, T, CONSTANTS)
    return argument(
        ((K - 1) * rho + rho / (1 - rho) <= places, [rho < 1], summed),
        (found, told - _early(rho) - lost, "the lower bound and the sum of the links"),
        domain=rf"every $T$, $\rho$; {ALL}",
    )


@cache
def grows_with_rho() -> Evidence:
    """With h = 1/(1-ρ) growing too, what the lower bound subtracts is of order h·log T at most.

    Its first part does not depend on T and is o(h); the second over h·log T has a limit in T that does not depend on h.
    """
    early, c = _early(ALONG.rho), CONSTANTS.merged
    rest = regret_expansion(K, rate, T, CONSTANTS) - regret_lower_bound(K, ALONG, T, CONSTANTS)
    late = sp.simplify(sp.expand(sp.expand(rest) - sp.expand(early)) / h)
    slope = sp.simplify(sp.diff(eventually(early, h), h))
    order = 2 * (c.D * c.sigma * sp.sqrt(2 * K * rate) + c.eta * c.sigma**2) / rate
    return argument(
        (slope, h, 0, "the first part's slope in $h$, and so the first part over $h$,"),
        (late / sp.log(T), T, order, r"the second part over $h\log T$"),
        domain=r"$h\to\infty$, and $T\to\infty$ at every $h$",
    )


# why Reg >= regret_lower_bound
FLOOR: dict[str, Callable[[], Evidence]] = {
    r"$\mu\ge1/n-2/N(s)$": mismatch_from_below,
    r"$N(s)\ge\bar\Lambda(1-\rho)s$": narrowest,
    r"$N\le\bar\Lambda(t+S)$": most_samples,
    r"the first two terms save $\sum d$": gap,
    "the third term falls": falling,
    "$H$ is its integral": antiderivative,
    r"$\mathrm{Reg}$ is at least regret_lower_bound": added_up,
}
