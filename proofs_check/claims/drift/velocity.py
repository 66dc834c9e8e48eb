r"""A filter that estimates the optimum's velocity (`law:drift/velocity`): better than every K behind a slope."""

from proofs_check.prelude import *

from proofs_check.groundwork.drift.moving import BEST, LAG, MOVING, VARIANCE, nu, q
from proofs_check.groundwork.law.lags import a
from proofs_check.groundwork.law.streams import DRAWN
from theory.drift.long_run import slope_lag
from theory.drift.velocity import velocity_lag, velocity_left, velocity_noise, velocity_slope

g, t, x, y = sp.symbols("g t x y", positive=True)
m = sp.Symbol("m", integer=True, positive=True)
STEPS = r"every $0<a<1$"
crossing = (sp.sqrt(5) + sp.sqrt(2)) / 3  # K = 1's best step over sqrt(q/ν) where both are equally good


def settled() -> Evidence:
    """Second moments p, c and s of θ(t+1) and m(t) are those of a round earlier, once with noise, once with a step of
    the walk on both; and their means behind a slope.
    """

    def moments(own: Any, both: Any) -> tuple[Any, Any, Any]:
        p = own / (1 - a**2)
        c = (a * (1 - a) * p + both) / (1 - a**2)
        return p, c, (2 * a * (1 - a) * c + (1 - a) ** 2 * p + both) / (1 - a**2)

    def again(p: Any, c: Any, s: Any, own: Any, both: Any) -> tuple[Any, Any, Any]:
        later = a * (a * c + (1 - a) * p)
        return a**2 * p + own, later + both, a**2 * s + 2 * a * (1 - a) * c + (1 - a) ** 2 * p + both

    rows: list[Any] = []
    for name, own, both, stated in (
        ("noise", (1 - a) ** 2, 0, velocity_noise(a)),
        ("walk", 1, 1, velocity_lag(a)),
    ):
        found = moments(own, both)
        for symbol, now, next_ in zip("pcs", found, again(*found, own, both), strict=True):
            rows.append((now, next_, f"${symbol}$ of the {name}, a round later,"))
        p, c, s = found
        rows.append((4 * p - 4 * c + s, stated, f"theory's part of the {name}"))
    model, mean = -g / (1 - a), -2 * g / (1 - a)
    rows += [
        (model, a * model - g, "the model behind a slope, a round later,"),
        (mean, a * mean + (1 - a) * model - g, "the mean behind a slope, a round later,"),
        (2 * model - mean, 0, "the filter's lag"),
    ]
    return argument(*rows, domain=STEPS)


def rests() -> Evidence:
    """W falls by the weights of the model, twice, less those of the mean, (1-a)²ma^(m-1); the rests of a slope."""
    weight = 2 * (1 - a) * a**m - (1 - a) ** 2 * m * a ** (m - 1)
    behind = m * a ** (m - 1)
    return argument(
        (velocity_left(a, 0), 1, "nothing seen yet"),
        (velocity_left(a, m) - velocity_left(a, m + 1), weight, "what a round takes off"),
        (behind.subs(m, 1), velocity_left(a, 0), "a slope, after a round"),
        (behind.subs(m, m + 1) - behind, velocity_left(a, m), "a slope, a round later"),
        domain=STEPS + ", every $m$",
    )


@everywhere(
    "up to 3 rounds of one sample, every stream and walk, slopes of 0 and 2/3",
    rounds=(1, 2, 3),
    a=(F(1, 3), F(3, 4)),
    slope=(F(0), F(2, 3)),
)
def every_stream_and_walk(rounds: int, a: F, slope: F) -> Found:
    """The filter's mean square, from a start at the optimum, sample by sample against the sums of weights."""
    total = F(0)
    for values in product(DRAWN, repeat=2 * rounds):
        model = mean = reported = optimum = F(0)
        for sample, change in zip(values[:rounds], values[rounds:], strict=True):
            later = a * model + (1 - a) * (optimum + sample)
            reported, model = 2 * later - mean, later
            mean = a * mean + (1 - a) * later
            optimum += slope + change
        total += prod((DRAWN[value] for value in values), start=F(1)) * (reported - optimum) ** 2
    left = [velocity_left(a, age) for age in range(rounds + 1)]
    noise = sum((now - then) ** 2 for now, then in pairwise(left))
    lag, behind = sum(w * w for w in left[:-1]), slope * rounds * a ** (rounds - 1)
    return differing(enumerated=total, by_weights=behind**2 + VARIANCE * (lag + noise))


def beats_every_K() -> Evidence:
    """At K the risk behind a slope is at least g² L², L being 1 or more; the filter's tends to 0 with its step."""
    return argument(
        (slope_lag(a, K) >= 1, [a < 1], "no $K$ lags less than one round"),
        (nu * velocity_noise(1 - 1 / t), t, 0, r"the filter's risk as $a\to1$"),
    )


def same_step() -> Evidence:
    floor = 2 * drift_floor(1, 1, h=[1], variance=[nu], walk=[q], slope=[g], eta=1 - a)
    filtered = nu * velocity_noise(a) + q * velocity_lag(a)
    beyond = (g**2 - velocity_slope(a, nu, q)) / (1 - a) ** 2
    return argument((floor - filtered, beyond, "what the filter gains"), domain=STEPS)


def little_drift() -> Evidence:
    """With steps of x√(q/ν), a slope of g² = γ√(q³/ν) and q = νδ²: what both risks over √(qν) tend to as δ → 0."""
    gamma, step = sp.Symbol("gamma", positive=True), x / t
    drift, slope = nu / t**2, gamma * nu / t**3
    root = nu / t  # √(qν)
    kept = 2 * drift_floor(1, 1, h=[1], variance=[nu], walk=[drift], slope=[sp.sqrt(slope)], eta=step) / root
    filtered = (nu * velocity_noise(1 - step) + drift * velocity_lag(1 - step)) / root
    last = x / 2 + 1 / (2 * x) + gamma / x**2
    best = sp.Rational(3, 4) * x + 1 / (4 * x)
    there = (x**3 - x) / 4
    return argument(
        (kept, t, last, "$K=1$"),
        (filtered, t, sp.Rational(5, 4) * x + 1 / (4 * x), "the filter"),
        (sp.diff(last, x).subs(gamma, there), 0, "$K=1$'s best step", r"$\gamma=(x^3-x)/4$"),
        (last.subs(gamma, there), best, "$K=1$'s least", r"$\gamma=(x^3-x)/4$"),
        (best > best.subs(x, y), [y >= 1, y < x], "$K=1$'s least rises with the slope"),
        (best.subs(x, crossing), sp.sqrt(5) / 2, "both at the crossing", "one $x$"),
        (there.subs(x, crossing), (4 * sp.sqrt(2) + sp.sqrt(5)) / 54, "the slope there", "one $x$"),
    )


def behind_a_walk() -> Evidence:
    """νV + qY is at least 2√(νqVY), and VY at least 5/16, its value at a = 1."""
    return argument(
        (velocity_noise(a) * velocity_lag(a), 2 * (5 + 4 * a + a**2) / (1 + a) ** 6, "$VY$", STEPS),
        (32 * (5 + 4 * a + a**2) >= 5 * (1 + a) ** 6, [a <= 1], r"$VY\ge\frac5{16}$"),
        (x + y >= 2 * sp.sqrt(x * y), [], "the means of two numbers"),
        (2 * sp.sqrt(sp.Rational(5, 16)), sp.sqrt(5) / 2, "the factor", "one number"),
    )


CLAIMS = [
    Claim(
        id="law:drift/velocity",
        title="a filter of the velocity beats every $K$ behind a slope",
        statement=r"Let the server report $2\theta(t+1)-m(t)$, with $m$ the running mean of the models before "
        r"$\theta(t+1)$ whose weights fall by $a$ per round, and samples used once. Behind a steady slope "
        "it has no lag: after $T$ rounds from the optimum its bias is $Ta^{T-1}g$, and in the long run its "
        r"mean square error is $\nu V+qY$, whatever the slope. So behind a slope alone its risk is as small "
        "as one likes, where every $K$ has at least $g^2$. At the same step it is better than $K=1$ if and "
        r"only if $g^2>g^{\circ2}$. With either at its best step and for little drift, it is better if and "
        r"only if $g^2>\frac{4\sqrt2+\sqrt5}{54}\sqrt{q^3/\nu}$. Behind a walk alone it has at least "
        r"$\frac{\sqrt5}2\sqrt{q\nu}$ at every step, and about that at its best for little drift: 12 % "
        r"above $\sqrt{q\nu}$, the least there is.",
        formula=said(
            r"\nu V+qY,\quad V=@V,\quad Y=@Y,\quad g^{\circ2}=@slope",
            V=velocity_noise(a),
            Y=velocity_lag(a),
            slope=velocity_slope(a, nu, q),
        ),
        domain=r"constant admission, quadratic losses with one Hessian, one direction, $K=1$, $0<a<1$",
        sketch=r"$\theta(t+1)$ is $\frac g{1-a}$ behind the slope and $m(t)$ twice that, so $2\theta-m$ is not "
        "behind. Model and mean are a linear recursion that contracts; its stationary second moments, with "
        "noise or with a step of the walk on both, give $V$ and $Y$. What is left of a jump after $m$ "
        r"rounds is $W_m=(m+1)a^m-ma^{m-1}$, and these telescope. At $a=1-x\sqrt{q/\nu}$ the errors over "
        r"$\sqrt{q\nu}$ tend to $\frac x2+\frac1{2x}+\frac\gamma{x^2}$ for $K=1$, with "
        r"$\gamma=g^2\sqrt{\nu/q^3}$, and to $\frac54x+\frac1{4x}$ for the filter, whose least is "
        r"$\frac{\sqrt5}2$. $K=1$'s least is $\frac34x+\frac1{4x}$ at the $x\ge1$ with $x^3-x=4\gamma$, "
        r"which rises with $\gamma$ and is $\frac{\sqrt5}2$ at $x=\frac{\sqrt5+\sqrt2}3$. And "
        r"$VY\ge\frac5{16}$.",
        given=(WRITTEN, LAG, BEST),
        checks={
            "the law": (settled, rests, confirming(every_stream_and_walk)),
            "every $K$": beats_every_K,
            "the same step": same_step,
            "little drift": little_drift,
            "a walk": behind_a_walk,
        },
        symbols=MOVING
        | {
            "V": "noise of the filter, in units of $\\nu$",
            "Y": "lag of the filter behind a walk, in units of $q$",
            "m": "the mean of the models before; rounds since a change",
            "x": "a step over $\\sqrt{q/\\nu}$",
            "γ": r"$g^2\sqrt{\nu/q^3}$",
        },
    )
]
