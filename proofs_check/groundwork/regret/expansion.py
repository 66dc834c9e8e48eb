r"""The regret to O(1), link by link, for Theorem 2, the regret's sign, Remark 1 and our own expansion.

Write \(g(x)=\sqrt{(1+\log^+x)/x}\) and \(H(x)=\int_0^xg\), so that N distinct samples cost \(10B\,g(N/\mathrm{Pdim})\).
A round of constant admission less the oracle's is
\(10B(g(\bar\Lambda t/\mathrm{Pdim})-g(K\bar\Lambda t/\mathrm{Pdim}))\) and a summable rest.
"""

from proofs_check.prelude import *

from proofs_check.groundwork.control.orders import ALL, ALONG, UNIT, T, h, t
from proofs_check.groundwork.regret.transient import most_samples
from theory.regret.expansion import generalisation_integral
from theory.regret.rates import regret_rate
from theory.regret.transient import lambert_reach

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
    """The third term of a round with N_eff = N distinct samples."""
    return generalisation_term(1 / N, N, CONSTANTS)


def oracle_round(t: Any) -> Terms:
    """Round t of the oracle, ΣB = KΛ̄."""
    return constant_round(1, t, K * rate, CONSTANTS)


def surrogate_round(t: Any) -> Terms:
    """Round t of the limiting penalties, which Ω₁ ends at and Ω₃ starts from."""
    return penalty_limit(K, t, rate, CONSTANTS.merged)


def slope(expression: Any) -> Any:
    """Growth of the expansion with the horizon, for large T."""
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
    return argument(
        *(
            (sp.diff(third(c.Pdim * x) ** 2, u) / sp.diff(x, u), -((10 * c.B / x) ** 2) * weight, what)
            for x, weight in ((ABOVE, sp.log(ABOVE)), (BELOW, 1))
        ),
        domain=r"every $N=x\,\mathrm{Pdim}$, $x>0$",
    )


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
    return equal(found, told, domain=domain, what="the expansion's slope and two third terms' difference")


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


def third_term() -> Evidence:
    """Replacing N_eff by N = Λ̄t in the third term of constant admission costs a convergent sum."""
    own = constant_round(K, t, rate, CONSTANTS).generalisation
    return converges(own - third(rate * t), t, power=SUMMABLE, domain=f"the third term; {ALL}")


def over(gauge: Callable[[Any], Any], what: str) -> Evidence:
    """The expansion over a gauge, by l'Hôpital: both tend to infinity for K >= 2, both slopes are known."""
    ratio = slope(regret_expansion(K, rate, T, CONSTANTS)) / sp.diff(gauge(T), T)
    return tends_to(ratio, T, omega3_limit(K, rate, CONSTANTS), what=what, domain=rf"{ALL}; $T\to\infty$")


@cache
def leading_order() -> Evidence:
    return over(lambda T: sp.sqrt(T * sp.log(T)), r"the expansion's slope over that of $\sqrt{T\log T}$")


@cache
def spread_order() -> Evidence:
    """spread_bound is of order h(1 + log h), h = 1/(1-ρ): the quotient has finite limits at ρ → 0 and ρ → 1."""
    beside = regret_rate(1, ALONG.rho)
    wide = limit.limit(eventually(spread_bound(K, ALONG, CONSTANTS).total, h) / beside, h)
    narrow = beside.subs(h, 1)
    shown = {"spread over rate, ρ → 1": wide, "rate besides √(T log T), ρ → 0": narrow}
    if wide is None or not (wide.is_finite and wide.is_positive and narrow.is_positive):
        return undecided("limit", f"ends: {shown}", domain=r"$\rho\to0$, $\rho\to1$", certificate=shown)
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


# --- a lower bound for every T and ρ, in five steps told, with these letters, under `eq:dpp-regret/sign` ---------

x, s, n, oldest = sp.symbols("x s n N_s", positive=True)
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


def narrowest() -> Evidence:
    """The lower ends rise, so each of s rounds admits Λ̄(1-ρ) at least; with y = ρ^(t-1) <= 1."""
    y = sp.Symbol("y", positive=True)
    return argument(
        (FIRST, rate * (1 - rho), r"$\Lambda_{\min}(1)$ and $\bar\Lambda(1-\rho)$"),
        (rate * (1 - rho * y) >= FIRST, [y <= 1], "the lower ends rise"),
        domain=r"every $\bar\Lambda$, $\rho$",
    )


def _early(rho: Any) -> Any:
    """Difference of H at 1+S from H at 0, for the early rounds."""
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
    """The lower bound subtracts at most order h·log T, h = 1/(1-ρ) growing too; its first part is o(h)."""
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
