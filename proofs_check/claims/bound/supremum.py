"""The supremum over θ inside the expectation: does the variance bound σ² control it, even for fresh samples?

Counterexamples with K = 1, one sample per round, uniform on 1..m, in round 2: all outcomes enumerated.
"""

from proofs_check.prelude import *

from proofs_check.groundwork.bound import one_round
from proofs_check.groundwork.reuse.constant_counts import variance
from proofs_check.groundwork.reuse.reuse_rounds import added_up
from theory.numbers.algebra import maximum, minimum

Gradient = Callable[[Any, Any], Any]

theta, z, other = sp.symbols("theta z z2", real=True)
part = sp.Symbol("part", real=True)  # of the way from one corner to the next
m = sp.Symbol("m", integer=True, positive=True)
PAIRS = r"every pair $\theta\le\theta^{\prime}$, every $z$"


def ramp(theta: Any, z: Any) -> Any:
    """A convex loss: its derivative climbs from 0 at z to 1 at z + 1/2. Piecewise linear in θ."""
    return minimum(maximum(2 * (theta - z), 0), 1)


def bump(theta: Any, z: Any) -> Any:
    """A loss whose derivative is a tent of height 1 over [z - 1/2, z + 1/2]: at no θ do two values of z overlap."""
    return maximum(1 - 2 * maximum(theta - z, z - theta), 0)


def smooth_facts(gradient: Gradient) -> dict[str, Evidence]:
    """0 <= g <= 1, g a number of its own, since SymPy would see it and leave Z3 nothing to prove; g is 2-Lipschitz."""
    g, every = sp.Symbol("g", real=True), r"every $\theta$, every $z$"
    change, most = gradient(other, z) - gradient(theta, z), 2 * (other - theta)
    return {
        r"$|g|\le G=1$": always([g >= 0, g <= 1], given=[sp.Eq(g, gradient(theta, z))], domain=every),
        "smoothness, $L=2$": always([change <= most, -change <= most], given=[theta <= other], domain=PAIRS),
    }


def variance_largest_at_corners(gradient: Gradient) -> Evidence:
    """From one multiple of 1/2 to the next each gradient is linear, and so the variance convex."""
    step = sp.Symbol("step", real=True)  # a whole number: z + step/2 is a corner
    here, next_ = (gradient(z + corner / 2, z) for corner in (step, step + 1))
    whole = sp.Or(step <= -2, sp.Eq(step, -1), sp.Eq(step, 0), step >= 1)
    linear = sp.Eq(gradient(z + (step + part) / 2, z), (1 - part) * here + part * next_)
    g, h, gg, gh, hh = sp.symbols("g h gg gh hh", real=True)  # Σg, Σh at two corners, Σg², Σgh, Σh²

    def spread(first: Any, second: Any) -> Any:
        return second / m - (first / m) ** 2

    rest = 1 - part
    between = spread(rest * g + part * h, rest**2 * gg + 2 * part * rest * gh + part**2 * hh)
    missing = rest * spread(g, gg) + part * spread(h, hh) - between
    again = part * rest * spread(g - h, gg - 2 * gh + hh)
    return argument(
        (linear, [part >= 0, part <= 1, whole], "between corners, every $z$"),
        (missing, again, "the chord less the variance and a variance of $g-h$"),
        one_round.cauchy_schwarz(),
        domain="any gradients at two corners, $m$ equally likely samples",
    )


def _supremum(gradient: Gradient, m: int) -> dict[str, Any]:
    """n = 1, N = 2, d = (1/2, -1/2), z uniform on 1..m; θ at all corners."""
    corner = [Fraction(i, 2) for i in range(2 * m + 3)]
    outcomes = list(product(range(1, m + 1), repeat=2))
    largest = (max(Fraction(gradient(c, a) - gradient(c, b), 2) ** 2 for c in corner) for a, b in outcomes)
    sigma2 = max(variance([gradient(c, z) for z in range(1, m + 1)]) for c in corner)
    return {
        "σ̄²": sum(largest, Fraction(0)) / len(outcomes),
        "σ²": sigma2,
        "printed": sigma2 * mismatch_constant(1, 2, 1),  # n = 1, N = 2
    }


def exceeding(gradient: Gradient, losses: str) -> Evidence:
    """Enumerated, with what the losses claim."""

    def within(m: int) -> Found:
        found = _supremum(gradient, m)
        return unless(found["σ̄²"] <= found["printed"], n=1, N=2, **found)

    found = exhaust(
        grid(m=range(2, 8)),
        within,
        domain=rf"$K=1$, one sample per round, round 2; {losses}, $z$ uniform on $1,\ldots,m$, $\theta$ in $[0,m+1]$",
    )
    corners = {r"variance $\le\sigma^2$ at every $\theta$": variance_largest_at_corners(gradient)}
    return obeying(found, {**smooth_facts(gradient), **corners})


def supremum_convex() -> Evidence:
    """The ramps, whose derivatives do not fall."""
    found = exceeding(ramp, r"convex losses with derivative $\min(\max(2(\theta-z),0),1)$")
    rising = always(ramp(theta, z) <= ramp(other, z), given=[theta <= other], domain=PAIRS)
    return obeying(found, {"convexity": rising})


def no_constant_factor() -> Evidence:
    """Tents of height 1 at 1..m: σ̄² = (1-1/m)/4, σ² = (1-1/m)/m. Whatever factor is allowed, some m exceeds it."""
    factor, h = sp.Symbol("factor", positive=True), sp.Symbol("h", real=True)
    q = 1 - 1 / m
    exceeded = always(
        q / 4 > factor * (q / m) * mismatch_constant(1, sp.Integer(2), 1),
        given=[m > 2 * factor, m >= 2],
        domain="bumps, every factor, every $m$ above twice that",
    )
    apart = sp.Or(sp.Eq(bump(theta, z), 0), sp.Eq(bump(theta, other), 0))
    moments = argument(
        (apart, [other >= z + 1], r"every $\theta$, two values of $z$ at least 1 apart"),
        (h**2 / m - (h / m) ** 2 <= q / m, [h >= 0, h <= 1], "one gradient $h$ in [0, 1] among $m$"),
        (bump(z, z), 1, "the tent's top and 1"),
        domain=r"$\theta=z$",
    )

    def as_said(m: int) -> Found:
        found, q = _supremum(bump, m), 1 - Fraction(1, m)
        return unless(found["σ̄²"] == q / 4 and found["σ²"] == q / m, **found)

    enumerated = exhaust(grid(m=range(2, 9)), as_said, domain=r"bumps, $m=2,\ldots,8$")
    found = refutes(exceeded, r"$\bar\sigma^2$ exceeds the printed bound $m/2$ times, for any $m$")
    facts = {r"variance $\le(1-1/m)/m$": moments, r"$\bar\sigma^2$ and $\sigma^2$ as enumerated": enumerated}
    return obeying(found, {**smooth_facts(bump), **facts})


def triangle() -> Evidence:
    """Induction over the samples, with p, q the squared norms of Σ_{i<k} d_i g_i and d_k g_k and r their product."""
    (p, q, x, y), r = sp.symbols("p q x y", nonnegative=True), sp.Symbol("r", real=True)
    longer = (
        p + 2 * r + q <= (x + y) ** 2,
        [r**2 <= p * q, p <= x**2, q <= y**2],
        r"$p\le x^2$, $x=G\sum_{i<k}|d_i|$; $q\le y^2$, $y=G|d_k|$; any $k$, any dimension",
    )
    return argument(longer, one_round.cauchy_schwarz())


def fresh_weights() -> Evidence:
    """K = 1: every sample has been used once, so ω = 1/N; n in memory at 1/n - 1/N >= 0 each, N - n others at 1/N."""
    used, A = uses_kstep(1, 1), sp.Symbol("A", positive=True)
    weight, domain = A / (used * N), r"$K=1$, any $n\le N$"
    inside = added_up(1 / n - weight, A, n, used * n)
    outside = added_up(weight, A, N - n, used * (N - n))
    return argument(
        (inside + outside, 2 * (1 - n / N), r"$\sum|d_i|$ and $2(1-n/N)$"),
        (1 / n - 1 / N >= 0, [n <= N], f"{domain}: no modulus changes a sign"),
        domain=domain,
    )


CLAIMS = [
    Claim(
        id="eq:sigma-bar-Neff-app/supremum",
        kind="step",
        title=r"the supremum over $\theta$ is free ($K=1$)",
        statement=r"With the supremum over $\theta$ inside the expectation, as $\bar\sigma^2$ is defined, the "
        r"mismatch is still controlled by the variance bound $\sigma^2$, at least for $K=1$, where $\chi=1/n-1/N$.",
        formula=r"E\sup_\theta\|\nabla\widehat F^{all}-\nabla\widehat F^{mem}\|^2\le\sigma^2(\tfrac1n-\tfrac1N)",
        domain="$K=1$, any losses under Assumptions 1-4",
        repair=r"Take the supremum outside the mean, and assume of the iterates what holds at a fixed $\theta$.",
        checks=(
            supremum_convex,
            lambda: exceeding(bump, r"losses with derivative $\max(1-2|\theta-z|,0)$"),
            no_constant_factor,
        ),
        corrected=Correction(
            title=r"$\le G^2(\sum|d_i|)^2$; $\sigma^2\chi$ at fixed $\theta$ only",
            statement=said(
                r"With the supremum inside, $\bar\sigma^2\le G^2(\sum|\omega_i-\mathbf1\{i\in Q\}/n|)^2$, which is "
                r"$G^2(@fresh)^2$ for $K=1$. A bound by $\sigma^2$ alone holds at a fixed $\theta$ "
                "(`eq:sigma-bar-Neff-app`).",
                fresh=2 * (1 - n / N),
            ),
            formula=r"\bar\sigma^2\le G^2\Bigl(\sum_i\bigl|\omega_i-\tfrac{\mathbf 1\{i\in Q\}}n\bigr|\Bigr)^2",
            sketch=r"Triangle inequality with $\|g_i\|\le G$ at every $\theta$, where $g_i$ is the gradient of "
            r"sample $i$ and $d_i=\omega_i-\mathbf1\{i\in Q\}/n$ its weight in the mismatch $\sum d_ig_i$; the right "
            r"side does not depend on $\theta$.",
            checks={"bound": triangle, "$K=1$": fresh_weights},
        ),
    )
]
