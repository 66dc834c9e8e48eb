r"""The best K at a given step under a walk, and when it is not Corollary 2's (`law:drift/retention`)."""

import math

from proofs_check.prelude import *

from proofs_check.groundwork.drift.moving import LAG, LIMITS, MOVING, NOISE, long_run, nu, q
from proofs_check.groundwork.law.lags import a, d
from theory.drift.long_run import best_drifting_retention, indifferent_drift, mean_younger
from theory.law.stationary import best_retention

r = sp.Symbol("r", integer=True, positive=True)
h, fall, later_fall, rise, later_rise = sp.symbols("h v_1 v_2 D_1 D_2", positive=True)
alpha = 1 - a
K_MAX, NEAR_1 = 31, 1 - F(1, 10**6)


def capped(kept: Any) -> Any:
    """The mean of min(|i-j|, r) over pairs of K rounds, r <= K+1."""
    return r * (3 * kept**2 - 3 * kept * r + r**2 - 1) / (3 * kept**2)


def free(kept: Any) -> Any:
    """The mean of |i-j|, which `capped` is for r >= K-1."""
    return (kept**2 - 1) / (3 * kept)


def bend(f: Any) -> Any:
    return f(K + 1) - 2 * f(K) + f(K - 1)


def noise_bends() -> Evidence:
    """1 - a^d = (1-a)²Σ_r a^(r-1)min(d, r), so v falls as a mixture of means of min(|i-j|, r) rises, each concave."""
    # pairs at distances above r, of K(K-1)/2: one less in the sum at each distance
    apart = (K - r) * (K - r - 1) / 2
    power = sp.Symbol("power", positive=True)  # a^d
    mixture = alpha**2 * ((1 - (d + 1) * power + d * power * a) / alpha**2 + d * power / alpha)
    return argument(
        (apart - apart.subs(r, r + 1), K - (r + 1), "pairs at distance $r+1$", "every $K$ and $r$"),
        (capped(K).subs(r, 0), 0, r"the mean of $\min(|i-j|,0)$", "every $K$"),
        (capped(K).subs(r, r + 1) - capped(K), 2 * apart / K**2, "a cap higher by 1", r"$r<K$"),
        (capped(K).subs(r, K), free(K), "both forms at $r=K$", "every $K$"),
        (capped(K).subs(r, K + 1), free(K), "both forms at $r=K+1$", "every $K$"),
        (mixture, 1 - power, r"the mixture of $\min(d,r)$ and $1-a^d$", "every $d$"),
        (bend(free) <= 0, [K >= 2], r"no bend upwards, $K<r$"),
        (bend(capped) <= 0, [K >= 2, r <= K], r"no bend upwards, $r\le K$"),
        (bend(mean_younger) > 0, [K >= 2], r"the mean of $\min(i,j)$ bends upwards, $K\ge2$"),
    )


def one_valley() -> Evidence:
    """νv + qY is (ν - qa/(1-a)²)v + q·(mean of min) and a constant: convex where the bracket is positive, else rising.
    Its fall and rise from K to K+1 are v_1, D_1, then v_2, D_2.
    """
    floor = 2 / h * drift_floor(1, K, h=[h], variance=[nu], walk=[q], eta=alpha / h)
    bracket = nu - q * a / alpha**2
    step, later = q * rise - bracket * fall, q * later_rise - bracket * later_fall
    return argument(
        (floor, bracket * stationary_noise(a, K) + q * (mean_younger(K) + 1 / alpha), "the floor", "any $K$"),
        (later > step, [a < 1, bracket >= 0, later_fall <= fall, later_rise > rise], "large steps: it bends"),
        (step > 0, [a < 1, bracket <= 0], "steps are small enough: it rises"),
    )


def named() -> Evidence:
    """q° of K against K-1 and of 2 against 1, and its limit for small steps by law:reuse/limits and law:drift/lag."""
    fall = stationary_noise(a, K - 1) - stationary_noise(a, K)
    rise = mean_younger(K) - mean_younger(K - 1)
    limit = indifferent_drift(a, K, 1, K - 1, 1)
    two = 2 * alpha**2 / (1 + 3 * a)
    small = (mean_lag(K) - mean_lag(K - 1)) / 2 / sp.Rational(1, 2)
    return argument(
        (limit * (a * fall / alpha**2 + rise), fall, r"$q^\circ$ and its parts", "every $K$, $a$"),
        (indifferent_drift(a, 2, 1, 1, 1), two, "2 against 1", "every $a$"),
        (two < alpha**2 / a, [a < 1], r"2 against 1 needs steps too large, $0<a<1$"),
        (small, (1 + 1 / (K * (K - 1))) / 3, r"$q^\circ/(\nu(1-a)^2)$ for small steps", "every $K$"),
    )


@everywhere("eleven $a$ up to $1-10^{-6}$; every $K\\le30$", a=[*(F(k, 10) for k in range(10)), NEAR_1])
def thresholds_fall(a: F) -> Found:
    """q° of K against K-1 falls in K and is positive; at a = 0 it is 6/(2K(K-1)-1), next to 1 as for small steps."""
    limits = [indifferent_drift(a, kept, 1, kept - 1, 1) for kept in range(2, K_MAX)]
    falls = all(before > after > 0 for before, after in pairwise(limits))
    solved = a > 0 or limits == [F(6, 2 * kept * (kept - 1) - 1) for kept in range(2, K_MAX)]
    stated = [F(1, 3) * (1 + F(1, kept * (kept - 1))) * (1 - a) ** 2 for kept in range(2, K_MAX)]
    off = max(abs(found / first - 1) for found, first in zip(limits, stated, strict=True))
    return unless(falls and solved and (a < NEAR_1 or off <= K_MAX * (1 - a)), limits=limits[:5], off=off)


@everywhere("$K\\le8$, $a=0,1/2,9/10$", kept=(2, 3, 8), a=(F(0), F(1, 2), F(9, 10)))
def alike_by_the_law(kept: int, a: F) -> Found:
    """The law gives K and K-1 equal risk at q°, and K the larger lag: beyond q° it is worse."""
    (v, Y, _), (noise, lag, _) = long_run(kept, a), long_run(kept - 1, a)
    limit = indifferent_drift(a, kept, 1, kept - 1, 1)
    two = kept > 2 or limit == 2 * (1 - a) ** 2 / (1 + 3 * a)
    return unless(two and v + limit * Y == noise + limit * lag and lag < Y, limit=limit, v=v, Y=Y)


@drawn(
    r"budgets with any $x\le30$, one or two directions, no drift, little and much; every $K\le40$",
    (8, 300),
    budget=exact.budgets(2, 12, F(1), F(3, 2)).filter(lambda budget: fill_ratio(budget) <= 30),
    h=st.lists(fractions(F(1, 8), 1, max_denominator=8), min_size=1, max_size=2),
    eta=st.sampled_from([F(1, 50), F(1, 4), F(9, 10)]),
    drift=st.sampled_from([F(0), F(1, 10**4), F(1, 100), F(1), F(100)]),
)
def every_retention(budget: Budget, h: list[F], eta: F, drift: F) -> Found:
    """theory's choice against every K at its best rate; without drift it is the old one, with much drift 1."""
    problem: Any = {"h": h, "variance": [1 / (value + 1) for value in h], "eta": eta}
    moving: Any = {**problem, "walk": [drift * value for value in h]}
    floors = {kept: drift_floor(best_rate(kept, budget), kept, **moving) for kept in range(1, 41)}
    found, rate = best_drifting_retention(budget, **moving)
    true = floors[found] == min(floors.values()) and rate == best_rate(found, budget)
    if drift == 0:
        true = true and floors[best_retention(budget, **problem)[0]] == floors[found]
    return unless(true and (drift < 100 or found == 1), x=fill_ratio(budget), found=found)


@everywhere("seven steps; $q$ a hundredth below and above", x=(2, 3, 7), eta=[F(k, 8) for k in range(1, 8)])
def corollary_2(x: int, eta: F) -> Found:
    """Whole x: Corollary 2's K is best until q°, and K-1 a hundredth beyond it."""
    budget = Budget(buffers=(x,), cost=1, mean_cost=1)
    limit = indifferent_drift(1 - eta, x, 1, x - 1, 1)
    best = [
        best_drifting_retention(budget, h=[1], variance=[1], walk=[limit * scale], eta=eta)[0]
        for scale in (F(99, 100), F(101, 100))
    ]
    return unless(best == [math.ceil(x), x - 1], best=best)


CLAIMS = [
    Claim(
        id="law:drift/retention",
        title=r"the drift beyond which Corollary 2's $K$ is not best",
        statement="At a given step and rate the risk behind a walk has one valley in $K$. $K-1$ is better "
        r"than $K$ if and only if $q$ is above $q^\circ_K$, and $q^\circ_K$ falls in $K$: so $K$ is best "
        r"from $q^\circ_{K+1}$ to $q^\circ_K$, and from $q^\circ_2=\frac{2(1-a)^2}{1+3a}\nu$ on $K=1$ is. "
        r"Within budgets no $K$ beyond $\lceil x\rceil$ is best, and for whole $x$ Corollary 2's $K=x$ is "
        r"until $q^\circ_x$ and never beyond it; without drift it is as before. For small steps $q^\circ_K$ "
        r"is about $\frac{\nu(1-a)^2}3\bigl(1+\frac1{K(K-1)}\bigr)$: keeping samples for a second round "
        r"pays where the step is about $\sqrt2$ times the best one or more, and for many rounds $\sqrt3$ "
        "times.",
        formula=said(
            r"q^\circ_K=\nu\,\frac{v(a,K-1)-v(a,K)}{Y(a,K)-Y(a,K-1)},\qquad q^\circ_2=@two\,\nu",
            two=2 * alpha**2 / (1 + 3 * a),
        ),
        domain=r"constant admission, quadratic losses with one Hessian, one direction, $0\le a<1$, $q\ge0$",
        sketch=r"By law:drift/lag $\nu v+qY$ is $(\nu-\frac{qa}{(1-a)^2})v+q\frac{(K-1)(2K-1)}{6K}$ and "
        r"what does not depend on $K$. $v$ is $\frac{1-a}{1+a}$ times the mean of $a^{|i-j|}$, and $1-a^D$ "
        r"is $(1-a)^2\sum_r a^{r-1}\min(D,r)$: a mixture of functions whose means over pairs of $K$ rounds "
        r"are concave in $K$. So $v$ is convex and falls, and $\frac{(K-1)(2K-1)}{6K}$ is convex and rises. "
        "Where the bracket is positive the floor is convex, else it rises (at the best step of $K=1$ the "
        "bracket is 0). Both $v(K-1)-v(K)$ falls and the rise of the other part grows, so "
        r"$q^\circ_K=\nu/\bigl(\frac a{(1-a)^2}+\frac{\text{rise}}{\text{fall}}\bigr)$ falls. Up to $x$ the "
        "rate stays; beyond, it falls, $Kv$ does not, and $Y$ rises.",
        given=(WRITTEN, NOISE, LIMITS, LAG),
        checks={
            "one valley": (noise_bends, one_valley, confirming(thresholds_fall)),
            "the drift": (named, confirming(thresholds_fall), confirming(alike_by_the_law)),
            "budgets": (one_valley, confirming(every_retention), confirming(corollary_2)),
        },
        symbols=MOVING | {"D": "the distance of two rounds", "r": "a cap on distances"},
    )
]
