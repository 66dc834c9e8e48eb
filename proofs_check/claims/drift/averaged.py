r"""A mean of models behind a walk (`law:drift/averaged`): a window is a retention, and makes up for large steps."""

from proofs_check.prelude import *

from proofs_check.groundwork.drift.moving import BEST, LAG, MOVING, full, q
from proofs_check.groundwork.law.lags import a
from theory.drift.long_run import (
    best_drifting_window,
    jump_left,
    smoothed_lag,
    smoothed_noise,
    stationary_lag,
)
from theory.drift.moving_optimum import walk_lag
from theory.law.averaging import averaged, exponential, latest, round_shares

b, t = sp.symbols("beta t", positive=True)
j, d, m, other = sp.symbols("j d m other", integer=True, nonnegative=True)


def two_geometric_numbers() -> Evidence:
    """w_j is the law of a sum of two geometric numbers; its correlations r(d) obey r(d+2) = (a+b)r(d+1) - ab·r(d)."""
    scale = ((1 - a) * (1 - b) / (a - b)) ** 2
    square, mixed, other = 1 / (1 - a**2), 1 / (1 - a * b), 1 / (1 - b**2)

    def common(lag: Any) -> Any:
        first, second = a ** (lag + 1), b ** (lag + 1)
        return scale * (a * first * square - (b * first + a * second) * mixed + b * second * other)

    def weight(age: Any) -> Any:
        return (1 - a) * (1 - b) * (a ** (age + 1) - b ** (age + 1)) / (a - b)

    return argument(
        (weight(0), (1 - a) * (1 - b), "the newest weight"),
        (weight(j + 1), a * weight(j) + (1 - a) * (1 - b) * b ** (j + 1), "the next weight"),
        (smoothed_noise(a, b, 1), common(0), "theory's noise and $r(0)$"),
        (2 * smoothed_noise(a, b, 2) - common(0), common(1), "theory's noise at $K=2$ and $r(1)$"),
        (common(d + 2), (a + b) * common(d + 1) - a * b * common(d), "$r$, two lags later"),
        domain=r"every $a\ne\beta$ below 1, and by continuity $a=\beta$",
    )


def either_way() -> Evidence:
    """The lag that the mean adds to that of the steps; 0 without a mean."""
    zero = sp.Integer(0)
    return argument(
        (smoothed_lag(a, b, 1), smoothed_lag(b, a, 1), "either way, $K=1$,"),
        (smoothed_noise(a, zero, 2), stationary_noise(a, 2), "no mean, noise, $K=2$,"),
        (smoothed_lag(a, zero, 2), stationary_lag(a, 2), "no mean, lag, $K=2$,"),
        domain=r"every $a$ and $\beta$",
    )


def makes_up() -> Evidence:
    """At the best step 1-β = 1/t the error is q/(1-β); over that, noise and lag tend to a half each, whatever K."""
    keep = 1 - 1 / t
    noise, least = q * keep * t**2, q * t
    lag = stationary_lag(keep, 1) + (K - 1) / 2 + a / (1 - a)
    half = sp.Rational(1, 2)
    return limits(
        t,
        ((a + keep) / (1 + a * keep), 1, "$r(1)/r(0)$"),
        (a + keep - a * keep, 1, "$r(d)/r(0)$ after two that do"),
        (noise * smoothed_noise(a, keep, 1) / least, half, "noise over the least"),
        (q * lag / least, half, "lag, or more, over the least"),
        domain=r"every $K$ and step; $q\to0$",
    )


def sums_commute() -> Evidence:
    """The mean of M models' rests after a jump is the rest after m rounds at K = M."""
    M, more = m + 1 + other, sp.Symbol("more", integer=True, nonnegative=True)
    seen = (1 - a ** (m + 1)) / (1 - a)
    late = jump_left(a, m + 1, m + more)
    return argument(
        (seen.subs(m, 0), 1, "one model"),
        (seen.subs(m, m + 1), 1 + a * seen, "a model more that has seen it"),
        ((seen + other) / M, jump_left(a, M, m), "$m<M$: the mean"),
        (a**more * seen / (m + 1), late, r"$m\ge M-1$: the mean"),
        domain="every $a$, $M$ and $m$",
    )


@everywhere("$M\\le4$, up to 4 rounds more", window=(1, 2, 4), a=(F(0), F(1, 2), F(9, 10)), more=(0, 4))
def windows(window: int, a: F, more: int) -> Found:
    """Weight of each round in a mean of the last M models without reuse, and in the last iterate with K = M."""
    rounds = window + more
    weights = [F(0)] * (rounds + 1 - window) + [F(1, window)] * window
    once = round_shares(by_age([2] * rounds, 1), rounds, a, weights)[1][1:, 0].tolist()
    alone = [[[F(t == s)] for t in range(1, rounds + 2)] for s in range(2, rounds + 1)]
    rule, last = full(window, rounds), over_rounds(latest, rounds)
    kept = [path_bias(rule, rounds, a, last, path=path, first=[F(0)])[-1, 0] for path in alone]
    return differing(window=once, kept=kept)


@everywhere("$a=1/2$, 40 rounds", kept=(1, 3), keep=by_profile((F(1, 3),), (F(1, 3), F(1, 2))))
def by_the_law(kept: int, keep: F) -> Found:
    """Noise and lag of an exponential mean after 40 rounds, up to what older rounds would add."""
    rounds, a = 40, F(1, 2)
    rule, shares = full(kept, rounds), over_rounds(partial(exponential, keep=keep), rounds)
    found = 2 * averaged(rule, rounds, a, shares).squares[-1, 0], walk_lag(rule, rounds, a, shares)[-1, 0]
    stated = smoothed_noise(a, keep, kept), smoothed_lag(a, keep, kept)
    off = [abs(one - other) for one, other in zip(found, stated, strict=True)]
    return unless(max(off) <= F(1, 2**28), found=found, stated=stated)


@everywhere("$\\nu=1$, two steps, every window up to 40", drift=(F(1, 100), F(1, 10), F(1)), k=(1, 5))
def best_window(drift: F, k: int) -> Found:
    problem: Any = {"h": [1], "variance": [1], "walk": [drift], "eta": F(k, 9)}
    floors = {M: drift_floor(1, M, **problem) for M in range(1, 41)}
    found = best_drifting_window(1, **problem)
    return unless(floors[found] == min(floors.values()), found=found)


@everywhere(r"$1-\beta=1/t$", t=(10, 100, 1000), a=(F(0), F(1, 2), F(9, 10)), kept=(1, 3))
def next_to_the_least(t: int, a: F, kept: int) -> Found:
    """The mean's error over the least there is: at least 1, and at most 1 + (K/2 + a/(1-a))/t."""
    keep = 1 - F(1, t)
    over = keep * t * smoothed_noise(a, keep, kept) + smoothed_lag(a, keep, kept) / t
    return unless(1 <= over <= 1 + (F(kept, 2) + a / (1 - a)) / t, over=over)


CLAIMS = [
    Claim(
        id="law:drift/averaged",
        title="behind a walk a mean of models makes up for large steps",
        statement="An equal mean of the last $M$ models, of samples used once, weighs samples as the last "
        "iterate does that keeps them for $M$ rounds: window and retention are one choice, but a window "
        r"takes no memory. A mean whose weights fall by $\beta$ a round has noise and lag in closed form, "
        r"in which $a$ and $\beta$ may change places. Whatever the step and $K$, as $q\to0$ the mean with "
        r"$1-\beta$ the best step of law:drift/best has $\sqrt{q\nu}$, the least there is, up to a factor "
        r"that tends to 1; the last iterate has $\nu v(a,K)$ for ever.",
        formula=r"\nu v+qY,\quad v=\frac1{K^2}\sum_{|d|<K}(K-|d|)\,r(|d|),\quad "
        r"r(0)=\frac{(1-a)(1-\beta)(1+a\beta)}{(1+a)(1+\beta)(1-a\beta)},\quad Y=Y(\beta,K)+\frac "
        r"a{1-a}-\frac{a\,v}{(1-a)^2}",
        domain=r"constant admission, in the long run, quadratic losses with one Hessian, $0\le a,\beta<1$, every "
        "$K$ and $M$",
        sketch=r"What weighs in the mean is older by another number of rounds, even among $0,\dots,M-1$ or "
        "geometric, and sums do not hang on their order. The chance that two sums of geometric numbers differ by "
        r"$d$ is $r(d)$, with $r(1)=\frac{a+\beta}{1+a\beta}r(0)$ and $r(d)=(a+\beta)r(d-1)-a\beta r(d-2)$; $Y$ "
        r"is by law:drift/lag, with the steps on top of the mean. At $\nu=\frac{q\beta}{(1-\beta)^2}$ the least "
        r"error is $\frac q{1-\beta}$, and the mean's over that tends to 1 as $\beta\to1$.",
        given=(WRITTEN, LAG, BEST),
        checks={
            "a window": (sums_commute, confirming(windows), confirming(best_window)),
            "falling weights": (two_geometric_numbers, either_way, confirming(by_the_law)),
            "large steps": (makes_up, confirming(next_to_the_least)),
        },
        symbols=MOVING | {"M": "how many models are averaged", "r": "what two rounds have in common"},
    )
]
