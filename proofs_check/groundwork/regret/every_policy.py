r"""What staying inside the region alone implies, whatever a policy looks at: proved round by round, for all policies.

With K-step retention write, in round t, \(k=\min(t,K)\), \(s=t-k+1\) for the oldest admission still in memory and
\(x=\rho^s\). A sample admitted in round j has been used \(\min(t-j+1,K)\) times, which is k for \(j\le s\) and
\(t-j+1\), the age, for those in memory. Four facts, the first three inductions over the rounds or over the memory:

* every admission in memory lies in \([\bar\Lambda(1-x),\bar\Lambda/(1-x)]\), since the region contracts;
* \(N(s)\le N_{\mathrm{eff}}(t)\le N(t)\) and \(kN(s)\le\sum A_i\le kN(t)\) for the uses \(A_i\);
* \(\sum\Lambda_{\min}\le N(s)\) and \(N(t)\le\bar\Lambda(t+S)\), with the Lambert sum S (`groundwork.transient`);
* so \(1/n-1/N_{\mathrm{eff}}\) and \(\chi=1/n+1/N_{\mathrm{eff}}-2W/n\) lie in `groundwork.envelope.mismatch_range`,
  and the three terms, which grow in them and fall in N, in `groundwork.envelope.round_range`.
"""

from __future__ import annotations

from functools import cache

import sympy as sp

from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.regret.envelope import mismatch_range
from proofs_check.groundwork.regret.expansion import falling
from proofs_check.groundwork.regret.transient import most_samples, plain
from proofs_check.groundwork.reuse import reuse_rounds
from proofs_check.symbols import CONSTANTS, REGION, rate
from theory.bound import generalisation_term, linear_term, root_term
from theory.region import region_maximum, region_minimum
from theory.reuse import effective_from_sums, mismatch_from_sums

a, k, n, x, y = sp.symbols("a k n x y", positive=True)
U, R, N, more, Z, F, M = sp.symbols("U R N more Z F M", positive=True)
EVERY = "every policy inside the region, every round"


@cache
def memory() -> Evidence:
    """Admissions in memory within a factor 1-x of Λ̄, and so n, by induction over the memory."""
    j = sp.Symbol("j", integer=True, positive=True)
    low, high = (plain(end(REGION, j), y=j) for end in (region_minimum, region_maximum))
    return together(
        always(
            [low >= rate * (1 - x), high <= rate / (1 - x)],
            given=[y <= x, x < 1],
            domain=f"{EVERY}: y = ρ^j <= x = ρ^s for j >= s",
        ),
        always(
            [n + a >= (k + 1) * rate * (1 - x), n + a <= (k + 1) * rate / (1 - x)],
            given=[
                x < 1,
                n >= k * rate * (1 - x),
                n <= k * rate / (1 - x),
                a >= rate * (1 - x),
                a <= rate / (1 - x),
            ],
            domain=f"{EVERY}: one admission more in n",
        ),
    )


@cache
def uses() -> Evidence:
    """N(s) <= N_eff <= N(t) and kN(s) <= ΣA <= kN(t), adding the samples round by round from the oldest."""
    lam = sp.Symbol("lambda_", positive=True)
    return together(
        reuse_rounds.deficits_carried_on(),  # theory's sums over the ages are ΣA = U and ΣA² = R
        always(
            effective_from_sums(U + more * a, R + more * a**2) <= N + more,
            given=[effective_from_sums(U, R) <= N],
            domain=r"$N_{\mathrm{eff}}=(\sum A)^2/\sum A^2\le N(t)$, with `more` samples used a times "
            "added",
        ),
        always(
            [R + more * a**2 <= k * (U + more * a), U + more * a <= k * (N + more)],
            given=[k * U >= R, k * N >= U, a <= k],
            domain=r"$\sum A^2\le k\sum A$ and $\sum A\le kN$, with `more` samples used $a\le k$ times "
            "added",
        ),
        always(
            [lam <= effective_from_sums(U, R), k * lam <= U],
            given=[k * U >= R, sp.Eq(U, k * lam + Z)],
            domain=r"$\sum A=kN(s)$ + what the younger were used: so $N_{\mathrm{eff}}\ge\sum A/k\ge "
            r"N(s)$; $\lambda=N(s)$",
        ),
    )


@cache
def share() -> Evidence:
    """2W/n = 2Z/(nΣA), Z the uses of the memory, within (k+1)(1-x)²/(kM) and (k+1)/(k(1-x)²F)."""
    held, wider = k * (k + 1) / 2, (k + 1) * (k + 2) / 2
    return together(
        always(
            [Z + (k + 1) * a >= wider * rate * (1 - x), Z + (k + 1) * a <= wider * rate / (1 - x)],
            given=[
                x < 1,
                held * rate * (1 - x) <= Z,
                held * rate / (1 - x) >= Z,
                a >= rate * (1 - x),
                a <= rate / (1 - x),
            ],
            domain=f"{EVERY}: Z = Σ age·Λ, one admission more, k+1 rounds old",
        ),
        always(
            2 * Z / (n * U) <= (k + 1) / (k * (1 - x) ** 2 * F),
            given=[x < 1, held * rate / (1 - x) >= Z, n >= k * rate * (1 - x), k * F <= U],
            domain=f"{EVERY}: at most",
        ),
        always(
            2 * Z / (n * U) >= (k + 1) * (1 - x) ** 2 / (k * M),
            given=[x < 1, held * rate * (1 - x) <= Z, n <= k * rate / (1 - x), k * M >= U],
            domain=f"{EVERY}: at least",
        ),
    )


@cache
def mismatch_inside(*, stated: bool) -> Evidence:
    """1/n - 1/N_eff, or χ = 1/n + 1/N_eff - 2W/n, inside `mismatch_range`."""
    effective, weight = sp.symbols("Neff weight", positive=True)
    low, high = mismatch_range(k, x, rate, F, M, stated=stated)
    value = 1 / n - 1 / effective if stated else 1 / n + 1 / effective - weight
    given = [x < 1, n >= k * rate * (1 - x), n <= k * rate / (1 - x), effective >= F, effective <= M]
    if not stated:
        given += [weight <= (k + 1) / (k * (1 - x) ** 2 * F), weight >= (k + 1) * (1 - x) ** 2 / (k * M)]
    return together(always([low <= value, value <= high], given=given, domain=EVERY), mismatch_of_sums())


@cache
def mismatch_of_sums() -> Evidence:
    """χ = Σ(ω - 1{i in Q}/n)² = 1/n + 1/N_eff - 2Z/(nΣA), for K-step retention and any admissions."""
    b, horizon = reuse_rounds.before(), reuse_rounds.K
    return together(
        reuse_rounds.deficits_carried_on(),
        reuse_rounds.gone_carried_on(),
        equal(
            mismatch_from_sums(b.n, horizon * b.N - b.first, horizon**2 * b.N - b.second, b.in_memory),
            b.mismatch,
            domain=reuse_rounds.DOMAIN,
            what=r"$\chi$ from theory's deficits and $\sum (\omega-\mathbf 1\{i\in Q\}/n)^2$",
        ),
        equal(
            mismatch_from_sums(n, U, R, Z),
            1 / n + 1 / effective_from_sums(U, R) - 2 * Z / (n * U),
            domain="any counts, any memory",
            what=r"$\chi$ and $1/n+1/N_{\mathrm{eff}}-2Z/(n\sum A)$",
        ),
    )


@cache
def terms_inside() -> Evidence:
    """The terms at the ends of the ranges enclose the terms: the first two grow in the mismatch, the third falls in N.

    From below, with F <= N_eff <= N <= M: the third term at N_eff and log N is at least that at N and log N, and so at
    least that at M and log M. From above it is at most that at F and log M.
    """
    low, high, small, large = sp.symbols("low high small large", positive=True)
    logarithm, above = sp.symbols("l u", nonnegative=True)  # log⁺(N/Pdim) and log⁺(M/Pdim)
    c = CONSTANTS
    return together(
        always(
            [linear_term(low, c) <= linear_term(high, c), root_term(low, c) <= root_term(high, c)],
            given=[low <= high],
            domain="any two mismatches; a negative one counts as 0 in the root",
        ),
        equal(
            generalisation_term(small, c.Pdim * (1 + large), c),
            10 * c.B * sp.sqrt(c.Pdim) * sp.sqrt(small * (1 + sp.log(1 + large))),
            domain=r"any $1/N_{\mathrm{eff}}$ = small and $N$ = (1+large)·$\mathrm{Pdim}$",
            what=r"the third term and $10B\sqrt{\mathrm{Pdim}/N_{\mathrm{eff}}\cdot(1+\log "
            r"N/\mathrm{Pdim})}$",
        ),
        equal(
            generalisation_term(small, c.Pdim / (1 + large), c),
            10 * c.B * sp.sqrt(c.Pdim) * sp.sqrt(small),
            domain=r"any $1/N_{\mathrm{eff}}$ = small and $N=\mathrm{Pdim}$/(1+large)",
            what=r"the third term and $10B\sqrt{\mathrm{Pdim}/N_{\mathrm{eff}}}$",
        ),
        always(
            small * (1 + logarithm) <= large * (1 + above),
            given=[small <= large, logarithm <= above],
            domain=r"so it grows in $1/N_{\mathrm{eff}}$ and in $\log^{+}N$",
        ),
        falling(),
    )


@cache
def widens(*, stated: bool) -> Evidence:
    """A larger x, a smaller F and a larger M widen `mismatch_range`: it may be taken at bounds on them."""
    x_, F_, M_ = sp.symbols("x_ F_ M_", positive=True)
    low, high = mismatch_range(k, x, rate, F, M, stated=stated)
    lower, higher = mismatch_range(k, x_, rate, F_, M_, stated=stated)
    return always(
        [lower <= low, higher >= high],
        given=[x_ < 1, x <= x_, F_ <= F, M <= M_],
        domain="any larger x_ < 1, smaller F_, larger M_",
    )


@cache
def every_policy(*, stated: bool) -> Evidence:
    """All of it: mismatch, N_eff and terms of every policy inside the region, in every round, lie in the envelope."""
    return together(memory(), uses(), share(), most_samples(), mismatch_inside(stated=stated), terms_inside())
