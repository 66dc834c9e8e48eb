r"""Consequences of staying inside the region, proved round by round for all policies.

With K-step retention write, in round t, \(k=\min(t,K)\), \(s=t-k+1\) for the oldest admission still in memory and
\(x=\rho^s\). A sample admitted in round j has been used \(\min(t-j+1,K)\) times, which is k for \(j\le s\) and
\(t-j+1\), the age, for those in memory. From the links, inductions over the rounds or over the memory, follow the
ranges of `envelope`.
"""

from proofs_check.prelude import *

from proofs_check.engines.exact import regions
from proofs_check.groundwork.control.orders import ALL, RATIONAL, t
from proofs_check.groundwork.control.region_ends import histories, placed
from proofs_check.groundwork.regret.envelope import eventual_range, mismatch_range, round_range
from proofs_check.groundwork.regret.expansion import SUMMABLE, falling
from proofs_check.groundwork.regret.transient import fewest_samples, most_samples, plain

a, k, n, x, y = sp.symbols("a k n x y", positive=True)
U, R, N, more, Z, F, M = sp.symbols("U R N more Z F M", positive=True)
EVERY = "every policy inside the region, every round"
LEAST, MOST = rate * (1 - x), rate / (1 - x)  # of an admission in memory
ADMITTED = [x < 1, a >= LEAST, a <= MOST]
HELD = [x < 1, n >= k * LEAST, n <= k * MOST]
KSTEP = "$K$-step retention, any admissions"
BY_AGE = theorem("Reuse.first_by_deficit", "Reuse.second_by_deficit", domain=KSTEP)


@cache
def memory() -> Evidence:
    """Admissions in memory within a factor 1-x of Λ̄, and so n, by induction over the memory."""
    j = sp.Symbol("j", integer=True, positive=True)
    low, high = (plain(end(REGION, j), y=j) for end in (region_minimum, region_maximum))
    return argument(
        ([low >= LEAST, high <= MOST], [y <= x, x < 1], rf"{EVERY}: $y=\rho^j\le x=\rho^s$ for $j\ge s$"),
        ([n + a >= (k + 1) * LEAST, n + a <= (k + 1) * MOST], [*HELD, *ADMITTED], f"{EVERY}: one more"),
    )


@cache
def uses() -> Evidence:
    """N(s) <= N_eff <= N(t) and kN(s) <= ΣA <= kN(t), adding the samples round by round from the oldest."""
    oldest, effective = sp.Symbol("lambda_", positive=True), effective_from_sums(U, R)
    longer = effective_from_sums(U + more * a, R + more * a**2)
    added = "with `more` samples used $a$ times added"
    return argument(
        (longer <= N + more, [effective <= N], rf"$N_{{\mathrm{{eff}}}}\le N(t)$, {added}"),
        (
            [R + more * a**2 <= k * (U + more * a), U + more * a <= k * (N + more)],
            [k * U >= R, k * N >= U, a <= k],
            rf"$\sum A^2\le k\sum A$ and $\sum A\le kN$, {added}, $a\le k$",
        ),
        (
            [oldest <= effective, k * oldest <= U],
            [k * U >= R, sp.Eq(U, k * oldest + Z)],
            r"$\sum A=kN(s)$ and what the younger were used: so $N_{\mathrm{eff}}\ge\sum A/k\ge N(s)$",
        ),
        BY_AGE(),  # theory's sums over the ages are ΣA = U and ΣA² = R
    )


@cache
def share() -> Evidence:
    """2W/n = 2Z/(nΣA), Z the uses of the memory, within (k+1)(1-x)²/(kM) and (k+1)/(k(1-x)²F)."""
    held, wider = k * (k + 1) / 2, (k + 1) * (k + 2) / 2
    used = [held * LEAST <= Z, held * MOST >= Z]
    return argument(
        (
            [Z + (k + 1) * a >= wider * LEAST, Z + (k + 1) * a <= wider * MOST],
            [*ADMITTED, *used],
            rf"{EVERY}: $Z=\sum\text{{age}}\cdot\Lambda$, one admission more, $k+1$ rounds old",
        ),
        (2 * Z / (n * U) <= (k + 1) / (k * (1 - x) ** 2 * F), [x < 1, used[1], HELD[1], k * F <= U], EVERY),
        (2 * Z / (n * U) >= (k + 1) * (1 - x) ** 2 / (k * M), [x < 1, used[0], HELD[2], k * M >= U], EVERY),
    )


def mismatch_inside(*, stated: bool) -> Evidence:
    """1/n - 1/N_eff, or χ = 1/n + 1/N_eff - 2W/n, inside `mismatch_range`."""
    effective, weight = sp.symbols("Neff weight", positive=True)
    low, high = mismatch_range(k, x, rate, F, M, stated=stated)
    value = 1 / n - 1 / effective if stated else 1 / n + 1 / effective - weight
    given = [*HELD, effective >= F, effective <= M]
    if not stated:
        given += [weight <= (k + 1) / (k * (1 - x) ** 2 * F), weight >= (k + 1) * (1 - x) ** 2 / (k * M)]
    return together(always([low <= value, value <= high], given=given, domain=EVERY), mismatch_of_sums())


def mismatch_of_sums() -> Evidence:
    """χ = Σ(ω - 1{i in Q}/n)² = 1/n + 1/N_eff - 2Z/(nΣA), for K-step retention and any admissions."""
    written = 1 / n + 1 / effective_from_sums(U, R) - 2 * Z / (n * U)
    return argument(
        (mismatch_from_sums(n, U, R, Z), written, r"$\chi$ and $1/n+1/N_{\mathrm{eff}}-2Z/(n\sum A)$"),
        theorem("Reuse.mismatch_by_sums", domain=KSTEP)(),
        BY_AGE(),
        domain=KSTEP,
    )


@cache
def terms_inside() -> Evidence:
    """The terms at the ends of the ranges enclose the terms: the first two grow in the mismatch, and with F <= N_eff <=
    N <= M the third lies between its values at (M, log M) and (F, log M).
    """
    low, high, small, large = sp.symbols("low high small large", positive=True)
    logarithm, above = sp.symbols("l u", nonnegative=True)  # log⁺(N/Pdim) and log⁺(M/Pdim)
    c, third = CONSTANTS, r"the third term and $10B\sqrt{\mathrm{Pdim}/N_{\mathrm{eff}}}$"
    plainly = 10 * c.B * sp.sqrt(c.Pdim) * sp.sqrt(small)
    first_two = [linear_term(low, c) <= linear_term(high, c), root_term(low, c) <= root_term(high, c)]
    return argument(
        (first_two, [low <= high], "any two mismatches; a negative one counts as 0 in the root"),
        (
            generalisation_term(small, c.Pdim * (1 + large), c),
            plainly * sp.sqrt(1 + sp.log(1 + large)),
            rf"{third} times $\sqrt{{1+\log(N/\mathrm{{Pdim}})}}$",
        ),
        (generalisation_term(small, c.Pdim / (1 + large), c), plainly, third),
        (
            small * (1 + logarithm) <= large * (1 + above),
            [small <= large, logarithm <= above],
            r"so it grows in $1/N_{\mathrm{eff}}$ and in $\log^+N$",
        ),
        falling(),
        domain=r"any $1/N_{\mathrm{eff}}$, and any $N$ above and below $\mathrm{Pdim}$",
    )


@cache
def every_policy(*, stated: bool) -> Evidence:
    """All of it: mismatch, N_eff and terms of every policy inside the region, in every round, lie in the envelope."""
    return together(memory(), uses(), share(), most_samples(), mismatch_inside(stated=stated), terms_inside())


def widens(*, stated: bool) -> Evidence:
    """A larger x, a smaller F and a larger M widen `mismatch_range`: it may be taken at bounds on them."""
    x_, F_, M_ = sp.symbols("x_ F_ M_", positive=True)
    low, high = mismatch_range(k, x, rate, F, M, stated=stated)
    lower, higher = mismatch_range(k, x_, rate, F_, M_, stated=stated)
    wider = [x_ < 1, x <= x_, F_ <= F, M <= M_]
    return always([lower <= low, higher >= high], given=wider, domain="any larger $x<1$ and $M$, smaller $F$")


@cache
def narrows(*, stated: bool) -> Evidence:
    """The range of a round over all policies inside the region has a summable width at fixed ρ (`eventual_range`). The
    root term's width is the linear term's over (√low + √high)·ησ/D, which tends to a positive number.
    """
    growth, c = sp.Symbol("g", positive=True), CONSTANTS  # ρ = 1/(1+g)
    low, high = eventual_range(K, t, rate, c if stated else c.merged, stated=stated)
    form = "as printed without $C_2$" if stated else r"with $\chi$"
    domain = rf"every policy inside the region, $\rho=1/(1+g)$ fixed, {form}; {ALL}; $T\to\infty$"
    return argument(
        every_policy(stated=stated),
        widens(stated=stated),
        fewest_samples(),
        (t**2 * (1 + growth) ** (-t), t, 0, r"$t^2\rho^t$"),
        converges(high.linear - low.linear, t, power=SUMMABLE, domain=domain),
        converges(high.generalisation - low.generalisation, t, power=SUMMABLE, domain=domain),
        (low.root, t, c.D * c.sigma / sp.sqrt(K * rate), "the root term's lower end"),
        domain=domain,
    )


@drawn(
    rf"any admissions inside the region, every round $t\ge1$, constants {RATIONAL}",
    (40, 300),
    K=retentions(5),
    region=regions(),
    positions=histories(12).filter(bool),
)
def drawn_inside(K: int, region: Region, positions: list[Fraction]) -> Found:
    """Policies drawn inside the region: N_eff, mismatches and terms, counted, lie in their ranges in every round."""
    admitted, exact, numbers = placed(region, positions), region.map(ball), RATIONAL.merged.map(ball)
    path = trajectory(admitted, K)
    columns = zip(path.n, path.N, path.effective, path.mismatch, strict=True)
    for now, (n, N, effective, chi) in enumerate(columns, start=1):
        k, beyond = min(now, K), lambert_partial(region.rho, now + 1)
        s = now - k + 1
        fewest, most = region_minimum_total(region, s + 1), region.rate * (now + beyond)
        ranges = {"N_eff": (fewest, effective, N), "N": (effective, N, most)}
        for stated, value in ((True, 1 / n - 1 / effective), (False, chi)):
            low, high = mismatch_range(k, region.rho**s, region.rate, fewest, most, stated=stated)
            ranges["printed" if stated else "χ"] = (max(low, 1 / n - 2 / sum(admitted[:s])), value, high)
        with precise():
            terms = round_terms(ball(chi), ball(1 / effective), ball(N), numbers)
            least, greatest = round_range(K, ball(now), exact, ball(beyond), numbers, stated=False)
        ranges |= {name: tuple(getattr(x, name) for x in (least, terms, greatest)) for name in PER_ROUND}
        for name, (low, value, high) in ranges.items():
            if low > value or value > high:
                return {"t": now, "of": name, "value": value, "low": low, "high": high}
    return None
