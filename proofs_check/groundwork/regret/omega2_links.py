r"""Ω₂, link by link: theory's two comparison sequences, the distance of a round from its limit, and the sums.

In units of Λ̄: \(k=\min(t,K)\), the window holds \(n=k-d\), and between \(f=t-\delta\) and \(M=t+S\) samples have come.
The mismatch is \(1/(k-d)-1/(t+S)\) repaired, \(1/(K-d)-1/(t-\delta)\) printed, and \(1/K-1/t\) in the limit. With
\(u=\rho^j\) a round's excess is at most \(\varphi(u)=(K-1)u/(K(K-(K-1)u))\), linear term, and
\(\psi(u)=1/\sqrt{K-(K-1)u}-1/\sqrt K\), root term; both grow in u, so integrals bound their sums.
"""

from proofs_check.prelude import *

from proofs_check.groundwork.control.orders import ALL, ALONG, LINEAR, ROOT, h, terms_equal, terms_tend
from proofs_check.groundwork.control.orders import t as now
from proofs_check.groundwork.regret.transient import grows_from_one, plain
from theory.control import penalty
from theory.regret.transient import omega2_floor, omega2_floor_as_stated

S, d, u, delta, x, y, k, more = sp.symbols("S d u delta x y k more", positive=True)
A, B, P, Q, c = sp.symbols("A B P Q c", positive=True)
later = sp.Symbol("s", integer=True, nonnegative=True)
kappa = sp.Symbol("kappa", positive=True)  # √K
LOST = 1 / (now - delta) - 1 / now  # what the printed mismatch may lose
PRINTED = 1 / (K - d) - 1 / (now - delta) - (1 / K - 1 / now)  # its gap to the limit
PRINTED_EARLY = 1 - 1 / (k - delta) - (1 / (k + more) - 1 / k)  # the same, n = Λ̄, t = k < K = k + more
DIFFERENCES = [A >= B, sp.Eq(P**2 - A**2, c), sp.Eq(Q**2 - B**2, c)]  # A² = a-c, B² = b-c, P² = a, Q² = b
LIMIT = omega2_limit(kappa**2, rate, CONSTANTS)
EVERY = rf"{ALL}, every $\rho$"


# --- theory's sequences, in these letters ------------------------------------------------------------------


def _same(found: Any, mismatch: Any, third: Any, powers: dict[str, Any], domain: str) -> Evidence:
    """Evidence that terms are the root and linear term of a mismatch, and a given third term."""
    linear, generalisation = (
        told.xreplace(dict.fromkeys(told.atoms(sp.Sum), S))  # the partial Lambert sum
        for told in (plain(x, **powers) for x in (found.linear, found.generalisation))
    )
    both = (linear, linear_term(mismatch, CONSTANTS))
    (top, bottom), (top_, bottom_) = (sp.fraction(sp.together(x)) for x in both)
    root = root_term(found.linear / linear_term(1, CONSTANTS), CONSTANTS)
    return argument(
        (top * bottom_, top_ * bottom, "linear terms, multiplied by both denominators,"),
        (found.root, root, "the root term and the root of the same mismatch"),
        (generalisation**2, third**2, "squared generalisation terms"),
        domain=domain,
    )


@cache
def sequences(*, stated: bool) -> Evidence:
    """penalty_comparison and penalty_limit on symbols, from round K on and up to it."""
    comparison = penalty.penalty_comparison_as_stated if stated else penalty.penalty_comparison
    limit = penalty.penalty_limit_as_stated if stated else penalty.penalty_limit
    found = []
    for retained, at, powers, part in (
        (K, K + later, {"x": K, "y": later}, r"$t=K+s\ge K$"),
        (t + later, t, {"x": t}, r"$t=K-s\le K$"),
    ):
        full = retained is K
        k, age = (K, y) if full else (t, sp.Integer(1))
        late = age * (rho - x) / (1 - rho)  # ρ^(t-k+1) + … + ρ^(t-1)
        lacking = ((K - 1) * age if full else t + later - 1) if stated else late
        fewest = rate * (at - (rho - x * age) / (1 - rho))
        held = rate * ((retained if stated else k) - lacking)
        seen = fewest if stated else rate * (at + S)
        third = generalisation_term(1 / fewest, rate * (at + S) if stated else fewest, CONSTANTS)
        steady = 1 / (rate * (retained if stated else k)) - 1 / (rate * at)
        last = generalisation_term(1 / (rate * at), rate * at, CONSTANTS)
        found += [
            _same(comparison(retained, at, REGION, CONSTANTS), 1 / held - 1 / seen, third, powers, part),
            _same(limit(retained, at, rate, CONSTANTS), steady, last, powers, part),
        ]
    return together(*found)


# --- a round, from above -----------------------------------------------------------------------------------


def window() -> Evidence:
    """(k-1)ρ^(t-1) <= d <= (k-1)ρ^(t-k+1), by induction over k: d/ρ^(t-k) is q_k = ρ + … + ρ^(k-1)."""
    q = sp.Symbol("q", positive=True)
    held = plain(region_minimum_window(REGION, K, K + later) / rate, x=K, y=later)
    grown = (rho - rho**2 * x) / (1 - rho) - (rho - rho * x) / (1 - rho)  # x = ρ^(k-1)
    lower_ends = (
        r"the last $K-1$ lower ends and $(K-1)-d$, in units of $\bar\Lambda$, $x=\rho^K$, $y=\rho^s$,"
    )
    return argument(
        (held, K - 1 - y * (rho - x) / (1 - rho), lower_ends),
        (grown, rho * x, r"$q_{k+1}-q_k$ and $\rho^k$"),
        (
            [q + rho * x <= k * rho, q + rho * x >= k * rho * x],
            [q <= (k - 1) * rho, q >= (k - 1) * x, rho < 1],
            r"from $(k-1)\rho^{k-1}\le q_k\le(k-1)\rho$ to $k+1$; both are 0 at $k=1$",
        ),
        domain=r"every $K\le t=K+s$ and $k$",
    )


@cache
def first_two_terms() -> Evidence:
    """Root and linear term of a round, up to K and beyond, where the linear term's gap is φ(d) + S/(t(t+S)) at most."""
    phi = d / (K * (K - d))
    early = 1 / (k - d) - 1 / (k + S)
    gap = 1 / (K - d) - 1 / (now + S) - (1 / K - 1 / now)
    return argument(
        ([early <= 1, early - (1 / k - 1 / (k + S)) <= 1], [d <= k - 1], r"repaired, $t=k\le K$"),
        ([1 - 1 / (k - delta) <= 1, PRINTED_EARLY <= 1], [delta <= k - 1], "printed, $t=k<K$"),
        (gap, phi + S / (now * (now + S)), "the repaired gap and its parts"),
        (phi >= PRINTED, [d < K, delta < now], "every $t$"),
        (d / (K - d) <= u / (K - u), [d <= u, u < K], r"$\phi$ grows"),
        (
            sp.Le(S / (now + S), x / (now + x), evaluate=False),
            [x >= S],
            "$S/(t(t+S))$ grows in $S$: the partial Lambert sum may be replaced by its bound",
        ),
        ((A - B) * B**2 <= (P - Q) * Q**2, DIFFERENCES, r"$A-B\le(P-Q)\,b/(b-c)$, $a\ge b>c\ge0$"),
        ((1 / K) / (1 / K - c) <= now / (now - K), [c <= 1 / now, now > K], r"$b=1/K$, $c\le1/t$"),
        (
            1 / sp.sqrt(K - d) <= 1 / sp.sqrt(K - (K - 1) * u),
            [d <= (K - 1) * u, u < 1],
            r"$\sqrt a=1/\sqrt{K-d}$ grows in $d$; $u=\rho^{t-K+1}$, printed $\rho^{t-K}$",
        ),
        (
            A - B <= (K + 1) / 2 * (A**2 - B**2),
            [A >= B, B**2 >= 1 / (K * (K + 1))],
            r"repaired, what is left: $A^2=1/K-1/(t+S)$, $B^2=1/K-1/t$, $A-B\le(K+1)/2\cdot S/(t(t+S))$",
        ),
        (1 / K - 1 / now >= 1 / (K * (K + 1)), [now >= K + 1], r"$t\ge K+1$"),
        (1 / (K - d) - 1 / (now - delta) <= 1 / (K - d) - 1 / now, [delta < now], "as printed"),
        domain="every $t$",
    )


@cache
def third_rounds() -> Evidence:
    """√(1+log⁺(M/Pdim)) exceeds √(1+log⁺(Λ̄t/Pdim)) by at most ½log(1+S/t), and repaired M = f <= Λ̄t."""
    X, Y, Z = sp.symbols("X Y Z", positive=True)  # log⁺ of Λ̄(t+S)/Pdim and of Λ̄t/Pdim, log(1+S/t)
    antiderivative = 2 * sp.sqrt(now) * sp.log(1 + S / now) + 4 * sp.sqrt(S) * sp.atan(sp.sqrt(now / S))
    ends = [sp.limit(antiderivative, now, end) for end in (0, sp.oo)]
    integrand = sp.log(1 + S / now) / sp.sqrt(now)
    return argument(
        (sp.sqrt(1 + X) - sp.sqrt(1 + Y) <= Z / 2, [X <= Y + Z], r"$X\le Y+\log(1+S/t)$, both $\log^+$"),
        (sp.diff(antiderivative, now), integrand, r"its slope and $t^{-1/2}\log(1+S/t)$, which falls"),
        ((ends[1] - ends[0]) / 2, sp.pi * sp.sqrt(S), r"$\tfrac12\int_0^{\infty}$ and $\pi\sqrt S$"),
        domain="every $t$, $S>0$",
    )


# --- a round, from below -----------------------------------------------------------------------------------


def repaired_below() -> Evidence:
    """Term by term p̄^CK >= p̄_∞, so Ω₂(T) grows with T; and from K on by what 1/n alone makes."""
    n, N, fewer = sp.symbols("n N fewer", positive=True)
    least = (K - 1) * u
    return argument(
        (
            1 / fewer - 1 / more >= 1 / n - 1 / N,
            [fewer <= n, more >= N],
            r"every round: $n_{\min}\le\min(t,K)\bar\Lambda$, $\sum\Lambda_{\max}+\bar\Lambda\ge\bar\Lambda t$",
        ),
        (A - B >= P - Q, DIFFERENCES, r"$\sqrt{a-c}-\sqrt{b-c}\ge\sqrt a-\sqrt b$, $a\ge b>c\ge0$"),
        (
            [1 / sp.sqrt(K - d) >= 1 / sp.sqrt(K - least), d / (K - d) >= least / (K - least)],
            [d >= least, d < K],
            r"$d\ge(K-1)u$, $u=\rho^{t-1}$",
        ),
    )


def printed_below() -> Evidence:
    """1/(t-δ) - 1/t is what the printed mismatch may lose: at most 1 up to 2h, then at most 2h/t²."""
    beyond, summed = 2 * h / now**2, "$2h$ rounds of 1, then the first term and the integral of $2h/t^2$"
    return argument(
        (LOST <= 1, [delta <= now - 1], "every $t$"),
        (beyond >= LOST, [delta <= h, now >= 2 * h], r"$t\ge2h$, $\delta\le h$"),
        (PRINTED >= -LOST, [d < K], r"linear term, $t\ge K$"),
        (PRINTED_EARLY >= 0, [delta <= k - 1], r"linear term, $n=\bar\Lambda$, $t=k<K$: not negative"),
        (
            (K + 1) * (A**2 - c) >= A - B,
            [A**2 >= 1 / (K * (K + 1)), c <= B**2, B <= A],
            r"root term, $t>K$: $A^2=1/K-1/t$, $B^2=[a-1/(t-\delta)]^{+}\ge c=A^2-\text{lost}$",
        ),
        (sp.diff(-2 * h / now, now), beyond, r"$\int$ and $2h/t^2$"),
        (2 * h + beyond.subs(now, 2 * h) + 2 * h / (2 * h) <= 2 * (h + 1), [h >= 1], summed),
        domain=r"$t\ge2h$",
    )


# --- the sums, from above ----------------------------------------------------------------------------------


@cache
def integrals() -> Evidence:
    """∫φ and ∫ψ over s with u = ρ^s: du/u = -a ds, a = log(1/ρ). Their values are theory's limit, term by term."""
    beta, v = sp.symbols("beta v", positive=True)
    kept, parts = 1 - beta * u, {beta: 1 - 1 / kappa**2}  # n/(KΛ̄), β = (K-1)/K, K = κ²
    root, linear = -2 * sp.log(1 + sp.sqrt(kept)) / kappa, -sp.log(kept) / kappa**2

    def logs(expression: Any) -> Any:
        """The expression with logarithms of single factors."""
        factored = sp.sympify(expression).replace(sp.log, lambda x: sp.log(sp.factor(sp.together(x))))
        return sp.expand_log(factored, force=True)

    def whole(unit: Any, integral: Any) -> Any:
        return logs(unit * (integral.subs(u, 1) - integral.subs(u, 0)).subs(parts))

    return argument(
        (sp.diff(root, u), (1 / sp.sqrt(kept) - 1) / (kappa * u), r"$\int\psi/u$ and its integrand"),
        (sp.diff(linear, u), beta / (kappa**2 * kept), r"$\int\phi/u$ and its integrand"),
        grows_from_one(sp.log(v) - 1 + 1 / v, v, domain=r"$v=1/\rho$: $a\ge1-\rho$, so $1/a\le h$"),
        grows_from_one(v - 1 - sp.log(v), v, domain=r"$v=1/\rho$: $a\le1/\rho-1$, so $1/a\ge\rho h$"),
        (whole(ROOT, root), logs(LIMIT.root), "the integral and its limit, root term"),
        (whole(LINEAR, linear), logs(LIMIT.linear), "the integral and its limit, linear term"),
        domain=f"$0<u<1$; {EVERY}",
    )


@cache
def other_sums() -> Evidence:
    """ψ(u) <= u(1-1/√K), so ΣKψ/(t-K) <= (K-√K)Σρ^j/j; ΣS/(t(t+S)) <= 1+log(1+S); and π <= 22/7."""
    w = sp.Symbol("w", positive=True)  # √(K-(K-1)u), so u = (κ²-w²)/(κ²-1)
    whole, rational = sp.log(now / (now + S)), x**4 * (1 - x) ** 4 / (1 + x**2)
    return argument(
        (
            1 / w - 1 / kappa <= (kappa**2 - w**2) / (kappa**2 - 1) * (1 - 1 / kappa),
            [w >= 1, w <= kappa, kappa > 1],
            r"$0\le u\le1$, $K>1$ (for $K=1$ both sides are 0)",
        ),
        (sp.diff(whole, now), S / (now * (now + S)), r"$\int$ and $S/(t(t+S))$"),
        (whole.subs(now, 1), -sp.log(1 + S), "its value at $t=1$"),
        (sp.Le(S / (1 + S), 1, evaluate=False), [], "the term $t=1$"),
        (sp.integrate(sp.apart(rational), (x, 0, 1)), sp.Rational(22, 7) - sp.pi, r"$22/7-\pi$, an integral"),
        domain=r"$t\ge1$, every $S$",
    )


@cache
def assembled() -> Evidence:
    """theory.regret.transient.omega2_bound, put together from the links: each sum where it belongs."""
    size = sp.log(2 * h) * h
    drifted = 1 + sp.log(1 + size)
    root = kappa**2 + (kappa**2 - kappa) * sp.log(h) + (kappa**2 + 1) / 2 * drifted
    logarithm = sp.sqrt(1 + log_plus(rate * (2 * h + size) / CONSTANTS.Pdim))
    rounds = sp.Rational(5, 2) * (1 + sp.log(2 * h)) + sp.Rational(9, 2) * h / h
    third = logarithm * sp.sqrt(h) * rounds + sp.Rational(22, 7) * sp.sqrt(size)
    told = Terms(
        root=ROOT * root + h * LIMIT.root,
        linear=LINEAR * (kappa**2 + drifted) + h * LIMIT.linear,
        generalisation=10 * CONSTANTS.B * sp.sqrt(CONSTANTS.Pdim / rate) * third,
    )
    bound = omega2_bound(kappa**2, ALONG, CONSTANTS)
    return terms_equal(bound, told, what="the bound and its links", domain=EVERY)


@cache
def of_order_h() -> Evidence:
    """(1-ρ) times theory's bound tends to the limit's terms as h = 1/(1-ρ) grows: so it is O(h), with that constant."""
    bound, end = omega2_bound(K, ALONG, CONSTANTS), omega2_limit(K, rate, CONSTANTS)
    return terms_tend(bound, end, over=h, what=r"$(1-\rho)$ times the bound", domain=EVERY)


# --- the sums, from below ----------------------------------------------------------------------------------


def floor_assembled() -> Evidence:
    """theory.regret.transient.omega2_floor: Σ_{t>=K} ψ(ρ^(t-1)) >= ∫ from K-1 on >= ρh·∫ - (K-1)ψ(1), and so for φ."""
    psi, phi = 1 - 1 / kappa, (kappa**2 - 1) / kappa**2  # at u = 1
    reached = (1 - 1 / h) * h
    told = Terms(
        root=reached * LIMIT.root - ROOT * (kappa**2 - 1) * psi,
        linear=reached * LIMIT.linear - LINEAR * (kappa**2 - 1) * phi,
        generalisation=0,
    )
    floor = omega2_floor(kappa**2, ALONG, CONSTANTS)
    return terms_equal(floor, told, what="the floor and its links", domain=EVERY)


def floor_of_order_h() -> Evidence:
    floor, end = omega2_floor(K, ALONG, CONSTANTS), omega2_limit(K, rate, CONSTANTS)
    first_two = ("root", "linear")
    return terms_tend(floor, end, names=first_two, over=h, what=r"$(1-\rho)$ times the floor", domain=EVERY)


def stated_floor() -> Evidence:
    """omega2_floor_as_stated: 2(h+1) rounds' worth of 1/t lost, times what each term makes of it."""
    unit = CONSTANTS.eta * CONSTANTS.sigma**2 / rate  # as printed, η for ηE
    told = Terms(root=-2 * (h + 1) * (K + 1) * ROOT, linear=-2 * (h + 1) * unit, generalisation=0)
    floor = omega2_floor_as_stated(K, ALONG, CONSTANTS)
    return argument(
        terms_equal(floor, told, what="the printed floor and its links", domain=EVERY),
        (2 * (h + 1) <= 4 * h, [h >= 1], r"every $\rho$: it is $O(1/(1-\rho))$"),
    )
