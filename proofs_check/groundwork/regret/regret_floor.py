r"""A lower bound on the regret of every policy inside the region, for every T and ρ (`theory.regret_lower_bound`).

Let μ be χ, or the printed \(1/n-1/N_{\mathrm{eff}}\); in round t let \(k=\min(t,K)\), \(s=t-k+1\), \(x=\rho^s\).

1. Every sample has been used k times at most, the N(s) oldest ones k times: so the memory's share W of all uses has
   \(W/n\le1/N(s)\), and \(1/N_{\mathrm{eff}}\le1/N(s)\). Hence \(\mu\ge1/n-2/N(s)\) in both forms.
2. The region gives \(1/n\ge(1-x)/(K\bar\Lambda)\) and \(N(s)\ge\bar\Lambda(1-\rho)s\). The oracle has
   \(\mu_o=(1-1/t)/(K\bar\Lambda)\). So \(\mu_o-\mu\le x/(K\bar\Lambda)+2/(\bar\Lambda(1-\rho)s)=:d\).
3. From round 2 on \(\mu_o\ge1/(2K\bar\Lambda)\), so the root loses \(\sqrt{2K\bar\Lambda}\,d\) at most; in round 1 the
   oracle's root is 0.
4. \(\sum_tx\le K\rho/(1-\rho)\), since s is 1 in the first K rounds and then counts on, and
   \(\sum_t1/s\le K+\log T\).
5. \(N_{\mathrm{eff}}\le N\le\bar\Lambda(t+S)\) with \(S=h\log2h\), and the third term falls in N: over T rounds it
   is at least \(\int_1^{T+1}\) of that of \(\bar\Lambda(t+S)\) samples, the oracle's at most \(\int_0^T\) of its own.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import sympy as sp

from proofs_check.claim import Context
from proofs_check.engines.exact import regions, retentions, search
from proofs_check.engines.identity import equal
from proofs_check.engines.limit import eventually, tends_to
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.control.inside_region import histories, placed
from proofs_check.groundwork.regret.expansion import ALL, T
from proofs_check.symbols import CONSTANTS, REGION, K, rate, rho
from theory.bound import linear_term, root_term
from theory.region import region_maximum, region_minimum
from theory.regret_expansion import generalisation_integral, regret_expansion, regret_lower_bound
from theory.reuse import mismatch_constant, trajectory
from theory.setting import Region
from theory.transient import lambert_reach


@cache
def mismatch_from_below() -> Evidence:
    """μ >= 1/n - 2/N(s) in both forms, from A <= k for all samples and A = k for the N(s) oldest."""
    n, oldest, k, uses, squares, kept = sp.symbols("n N_s k uses squares kept", positive=True)
    share = kept / uses
    counted = [kept <= k * n, uses >= k * oldest, squares <= k * uses]
    inverse = squares / uses**2  # 1/N_eff
    domain = "any reuse counts A <= k, A = k for N(s) samples: Σ_Q A <= kn, ΣA >= kN(s), ΣA² <= kΣA"
    return together(
        always(
            1 / n + inverse - 2 * share / n >= 1 / n - 2 / oldest, given=counted[:2], domain=f"χ; {domain}"
        ),
        always(1 / n - inverse >= 1 / n - 2 / oldest, given=counted[1:], domain=f"as printed; {domain}"),
    )


def mismatch_exact(context: Context) -> Evidence:
    """The same, and N_eff <= N <= Λ̄(t+S), on admissions drawn inside the region, from the counts themselves."""

    def violated(K: int, region: Region, positions: list[Fraction]) -> Any:
        path, admitted = trajectory(placed(region, positions), K), placed(region, positions)
        for i in range(len(positions)):
            oldest = sum(admitted[: i + 2 - min(i + 1, K)])
            n, N, effective, chi = path.n[i], path.N[i], path.effective[i], path.mismatch[i]
            floor = Fraction(1, n) - Fraction(2, oldest)
            most = sum(region_maximum(region, j) for j in range(1, i + 2))
            if not (min(chi, 1 / n - 1 / effective) >= floor and effective <= N <= most):
                return {"t": i + 1, "χ": chi, "1/n - 2/N(s)": floor}
        return None

    return search(
        context,
        {"K": retentions(5), "region": regions(), "positions": histories(10).filter(bool)},
        violated,
        domain="any admissions inside the region, both forms",
        examples=context.choose(40, 300),
    )


@cache
def gap() -> Evidence:
    """Links 2 and 3: what a round's μ can be below the oracle's, and what that saves in the root."""
    x, s, n, oldest, t = sp.symbols("x s n N_s t", positive=True)
    region = Region(rate=rate, rho=rho)
    oracle = mismatch_constant(1, t, K * rate).subs(sp.Min(1, t), 1)
    behind = x / (K * rate) + 2 / (rate * (1 - rho) * s)
    inside = [x < 1, rho < 1, n <= K * rate / (1 - x), oldest >= s * sp.simplify(region_minimum(region, 1))]
    c, a = CONSTANTS.merged, sp.Symbol("mu_o", positive=True)
    kept = sp.Symbol("mu", nonnegative=True)  # the positive part of μ
    return together(
        always(
            oracle - (1 / n - 2 / oldest) <= behind,
            given=inside,
            domain=r"every round $t\ge1$: $n\le K\bar\Lambda/(1-x)$, $N(s)\ge s\Lambda_{\min}(1)$",
        ),
        always(
            oracle >= 1 / (2 * K * rate),
            given=[t >= 2],
            domain=r"the oracle's $\mu$, every round "
            r"$t\ge2$",
        ),
        always(
            root_term(a, c) - root_term(kept, c) <= sp.sqrt(2 * K * rate) * c.D * c.sigma * (a - kept),
            given=[a >= 1 / (2 * K * rate), kept <= a],
            domain=r"every $\mu_o\ge1/(2K\bar\Lambda)$ and $0\le\mu\le\mu_o$; a negative $\mu$ counts as "
            r"0, and its $\mu_o-\mu$ is larger",
        ),
    )


@cache
def narrowest() -> Evidence:
    """The lower ends rise, so each of s rounds admits Λ̄(1-ρ) at least; with y = ρ^(t-1) <= 1."""
    y = sp.Symbol("y", positive=True)
    first = sp.simplify(region_minimum(REGION, 1))
    return together(
        equal(
            first,
            rate * (1 - rho),
            domain=r"every $\bar\Lambda$, $\rho$",
            what=r"$\Lambda_{\min}(1)$ and "
            r"$\bar\Lambda(1-\rho)$",
        ),
        always(
            rate * (1 - rho * y) >= first,
            given=[y <= 1],
            domain=r"$\Lambda_{\min}(t)$, $t\ge1$, against $\Lambda_{\min}(1)$",
        ),
    )


@cache
def added_up() -> Evidence:
    """Link 4 and the sum of all links: what the theory's function subtracts is what they add up to."""
    c, log_T = CONSTANTS.merged, sp.log(T)
    places = K * rho / (1 - rho)  # Σx
    unit = places / (K * rate) + 2 * (K + log_T) / (rate * (1 - rho))  # Σd
    scale = c.Pdim / rate
    early = 10 * c.B * scale * generalisation_integral((1 + lambert_reach(rho)) / scale)
    lost = c.D * c.sigma * sp.sqrt(2 * K * rate) * unit + linear_term(unit, c)
    return together(
        always(
            (K - 1) * rho + rho / (1 - rho) <= places,
            given=[rho < 1],
            domain=r"$\sum x$: $K-1$ rounds with $s=1$, and $\sum \rho^s$ over $s\ge1$",
        ),
        equal(
            regret_lower_bound(K, REGION, T, CONSTANTS),
            regret_expansion(K, rate, T, CONSTANTS) - early - lost,
            domain=f"every T, ρ; {ALL}",
            where=lambda p: p["rho"] < 1,
            what="the lower bound and the sum of the links",
        ),
    )


@cache
def grows() -> Evidence:
    """At fixed ρ the lower bound has the expansion's order: what it subtracts is of order log T."""
    rest = sp.expand(regret_expansion(K, rate, T, CONSTANTS) - regret_lower_bound(K, REGION, T, CONSTANTS))
    fixed = {c: sp.Dummy(positive=True) for c in rest.atoms(sp.Max, sp.Min) if T not in c.free_symbols}
    return tends_to(
        rest.xreplace(fixed) / sp.sqrt(T * sp.log(T)),
        T,
        sp.Integer(0),
        what=r"expansion less lower bound, over $\sqrt{T\log T}$,",
        domain=f"every fixed ρ; {ALL}; T → ∞",
    )


@cache
def grows_with_rho() -> Evidence:
    """With h = 1/(1-ρ) growing too, what the lower bound subtracts is of order h·log T at most.

    Its first part does not depend on T and is o(h); the second over h·log T has a limit in T that does not depend on h.
    """
    h = sp.Symbol("h", positive=True)
    region = Region(rate=rate, rho=1 - 1 / h)
    scale = CONSTANTS.Pdim / rate
    early = 10 * CONSTANTS.B * scale * generalisation_integral((1 + lambert_reach(region.rho)) / scale)
    rest = regret_expansion(K, rate, T, CONSTANTS) - regret_lower_bound(K, region, T, CONSTANTS)
    late = sp.expand(sp.expand(rest) - sp.expand(early))
    c = CONSTANTS.merged
    slope = 2 * (c.D * c.sigma * sp.sqrt(2 * K * rate) + c.eta * c.sigma**2) / rate
    return together(
        tends_to(
            sp.simplify(sp.diff(eventually(early, h), h)),
            h,
            sp.Integer(0),
            what="the first part's slope in $h$, and so the first part over $h$,",
            domain=r"$h\to\infty$",
        ),
        tends_to(
            sp.simplify(late / h) / sp.log(T),
            T,
            slope,
            what=r"the second part over $h\cdot\log T$",
            domain=r"$T\to\infty$, every $h$",
        ),
    )


__all__ = [
    "added_up",
    "gap",
    "grows",
    "grows_with_rho",
    "mismatch_exact",
    "mismatch_from_below",
    "narrowest",
]
