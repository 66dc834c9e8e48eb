r"""The stationary noise v(a, K): how it depends on K (`law:reuse/retention`), small and large steps (`…/limits`)."""

from proofs_check.prelude import *

from proofs_check.groundwork.law import lags
from proofs_check.groundwork.law.lags import EVERY, SYMBOLS, a, d
from theory.law.quadratic import contraction, noise_floor
from theory.law.stationary import small_step_floor, total_weights

t, h, spread = sp.symbols("t h s", positive=True)  # t: 1/(1-a), 1/a or 1/η, which grows
small, E = 1 / t, CONSTANTS.E
ONE: Any = {"h": [h], "variance": [spread**2], "E": E}  # directions add up, so one is enough
SMALL = r"$a\to1$, every $K$"
FROM_ZERO = r"every $K\ge1$ and $0\le a<1$"
SMALL_STEPS = Given("law:reuse/effective-rate", r"noise over $1-a$ tends to half the mean of $\Lambda u^2$")


def first_order() -> Evidence:
    return limits(t, (stationary_noise(1 - small, K) / small, F(1, 2), "$v/(1-a)$"), domain=SMALL)


def second_order() -> Evidence:
    left = (stationary_noise(1 - small, K) - small / 2) / small**2
    return limits(t, (left, sp.Rational(1, 4) - mean_lag(K) / 2, "$(v-(1-a)/2)/(1-a)^2$"), domain=SMALL)


def mean_distance() -> Evidence:
    found = 2 * symbolic_sum((K - d) * d, d, 1, K - 1) / K**2
    return argument((found, mean_lag(K), "the mean of $|i-j|$ and theory's"), domain="every $K$")


@everywhere(
    "$K$ from 1 on, $1-a=1,10^{-1},10^{-2},10^{-4},10^{-8}$",
    K=by_profile(range(1, 30), range(1, 120)),
    gap=[F(1, 10**e) for e in (0, 1, 2, 4, 8)],
)
def exact_values(K: int, gap: F) -> Found:
    """At rational a: v(0, K) = 1/K, and |v/(1-a) - ½| <= (1-a)·K for every a."""
    share = stationary_noise(1 - gap, K) / gap
    return unless(abs(share - F(1, 2)) <= gap * K and stationary_noise(F(0), K) == F(1, K), share=share)


def floors_in_balls() -> Evidence:
    """The floor at a tiny η within a millionth of its first order, at K far apart."""
    eta, h, variance = F(1, 10**12), (F(1, 2), F(3)), (F(2), F(1, 5))
    balls: Any = {"h": [*map(ball, h)], "variance": [*map(ball, variance)], "eta": ball(eta)}

    def off(p: Any) -> Any:
        first = small_step_floor(F(1, 10), h=h, variance=variance, eta=eta, E=p["E"])
        return abs(noise_floor(ball(10), p["K"], **balls, E=p["E"]) / ball(first) - 1)

    points, domain = grid(K=(1, 10, 1000), E=(1, 5)), r"$\eta=10^{-12}$, $\bar\Lambda=10$, two directions"
    return compare(off, "<", lambda p: ball(F(1, 10**6)), points, domain=domain, precision=512)


@drawn("admissions of period up to 6, $K\\le9$, no empty round", (100, 1000), pattern=lags.patterns())
def rounds_weigh_one(pattern: tuple[list[int], int]) -> Found:
    """ΣΛu over a period is the period; U = 1/Λ̄ if and only if all weights agree, and is larger otherwise."""
    admissions, K = pattern
    weights, period = total_weights(admissions, K), len(admissions)
    found, even = inverse_effective_rate(admissions, K), F(period, sum(admissions))
    same = len({u for u, admitted in zip(weights, admissions, strict=True) if admitted}) == 1
    fits = sum(u * admitted for u, admitted in zip(weights, admissions, strict=True)) == period
    smooth = inverse_effective_rate(admissions, K * period)
    true = fits and found >= even and (found == even) == same and smooth == even
    return unless(true, weights=weights, U=found, even=even, smooth=smooth)


CLAIMS = [
    Claim(
        id="law:reuse/retention",
        title="the stationary noise $v$ falls in $K$, $Kv$ does not",
        statement=r"Under constant admission and for $0\le a<1$ the stationary noise $v(a,K)$ falls strictly in $K$, "
        "and $Kv(a,K)$ never falls (it rises strictly unless $a=0$, where it is 1). So at a given rate longer "
        r"retention lowers the noise floor, and with full buffers, at rate $\sum B/K$, longer retention never does.",
        formula=said(
            r"v(a,K)=@v,\quad v(a,K+1)<v(a,K),\quad(K+1)\,v(a,K+1)\ge K\,v(a,K)", v=stationary_noise(a, K)
        ),
        domain=r"constant admission, quadratic losses with one Hessian, every $K\ge1$ and $0\le a<1$",
        sketch="$v$ is $(1-a)/(1+a)$ times the mean of $a^{|i-j|}$ over all pairs $i$, $j$ of $K$ rounds. $Kv$ is "
        r"$(1-a)/(1+a)$ times $\sum(1-|d|/K)a^{|d|}$ over $|d|<K$, and no term falls in $K$: "
        r"$(K+1)v(K+1)-Kv(K)=2(1-a)/((1+a)K(K+1))\sum_{d\le K}da^d$, which is positive for $a>0$. For $v$ itself put "
        r"$w(d)=K(K+1)-(2K+1)d$: $v(K)-v(K+1)$ is $(1-a)/((1+a)K^2(K+1)^2)$ times $K(K+1)+2\sum_{d\le K}w(d)a^d$. "
        "The weights $w$ fall in $d$ and change their sign at $d_0=K(K+1)/(2K+1)$, and $a^d$ falls too, so "
        r"$(a^d-a^{d_0})w(d)\ge0$ for every $d$, and the sum is at least $a^{d_0}\sum w=-a^{d_0}K(K+1)/2$. What is "
        "left is at least $K(K+1)(1-a^{d_0})>0$. At $a=0$, $v=1/K$.",
        checks={
            "the sums": theorem(
                "Stationary.noise_is_a_mean_of_pairs", "Finite.noise_tends", domain=FROM_ZERO
            ),
            "$v$ falls": theorem("Stationary.noise_falls", domain=FROM_ZERO),
            "$Kv$ does not fall": theorem(
                "Stationary.product_rises",
                "Stationary.product_rises_strictly",
                domain=FROM_ZERO + ", strictly for $a>0$",
            ),
        },
        symbols={**SYMBOLS, "w": "a weight of a lag", "d₀": "the lag at which the weights change their sign"},
    ),
    Claim(
        id="law:reuse/limits",
        title="small steps: $v$ is $(1-a)/2$ whatever $K$; large ones: $1/K$",
        statement=r"As $a$ tends to 1 (small steps), $v/(1-a)$ tends to $\tfrac12$ whatever $K$, and $K$ enters at "
        "second order, by half the mean distance of two rounds of $K$. As $a$ tends to 0 (each round solves its "
        "memory), $v$ tends to $1/K$. At every $a$ keeping samples for $K$ rounds divides the noise of one round by "
        "at most $a^{-(K^2-1)/(3K)}$ and never multiplies it: $K$ matters only where $K(1-a)$ is not small.",
        formula=said(
            r"v=\frac{1-a}2+\Bigl(\frac14-\frac12\cdot@m\Bigr)(1-a)^2+o((1-a)^2)\ (a\to1),\quad "
            r"v\to\frac1K\ (a\to0),\quad a^{@m}\,\frac{1-a}{1+a}\le v\le\frac{1-a}{1+a}",
            m=mean_lag(K),
        ),
        domain=r"constant admission, quadratic losses with one Hessian, every $K\ge1$ and $0<a<1$",
        sketch="$v$ is $(1-a)/(1+a)$ times the mean of $a^{|i-j|}$ over pairs of $K$ rounds: a number of "
        r"at most 1 that tends to 1 as $a\to1$, while $1/(1+a)\to\tfrac12$. Its slope at $a=1$ is the mean "
        r"of $|i-j|$, $2\sum_{d<K}(K-d)d/K^2=(K^2-1)/(3K)$, which gives the second order. At $a=0$ only "
        r"the $K$ pairs $i=j$ remain, $1/K$ of all. $x\mapsto a^x$ is convex, so by Jensen the mean is at "
        "least $a$ to the power of the mean of $|i-j|$.",
        checks={
            "small steps": (first_order, confirming(exact_values)),
            "second order": (second_order, mean_distance),
            "large steps": (
                lambda: limits(t, (stationary_noise(small, K), 1 / K, "$v$"), domain=r"$a\to0$, every $K$"),
                confirming(exact_values),
            ),
            "from below": theorem("Stationary.noise_at_least", domain=EVERY),
            "from above": theorem("Stationary.noise_at_most_one_round", domain=EVERY),
        },
        symbols=SYMBOLS,
    ),
    Claim(
        id="law:reuse/small-steps",
        title=r"to first order in $\eta$ only fresh samples count, not $K$",
        statement=r"Under constant admission the noise floor is, to first order in the step size $\eta$, $(\eta "
        r"E/4)\sum h^2s^2/\bar\Lambda$: the retention $K$ has left it, and only the number $\bar\Lambda$ of fresh "
        r"samples per round counts. If admissions vary with a period, $1/\bar\Lambda$ gives way to $U$, the mean of "
        r"$\Lambda u^2$, where $u$ is what a sample weighs over all its rounds. $U$ is never below $1/\bar\Lambda$, "
        "and equal to it if and only if all samples weigh the same, as they do wherever the period divides $K$: "
        "there retention can restore what uneven admission spoils, and nothing more.",
        formula=said(
            r"\lim_{\eta\to0}\frac1\eta\cdot\tfrac12\sum_hh\,s_h^2\,\frac{v(a_h,K)}{\bar\Lambda}=\sum_h@floor,\qquad "
            r"U=\frac1p\sum_{j\le p}\Lambda_ju_j^2\ge\frac1{\bar\Lambda}",
            floor=small_step_floor(1 / rate, **ONE, eta=1),
        ),
        domain=r"quadratic losses with one Hessian, every $K$, $E$, $\bar\Lambda$, $\eta\to0$; $U$ for "
        "admissions of any period, some sample in memory in every round",
        sketch=r"$1-a$ is $\eta hE$ to first order and $v$ is $(1-a)/2$ to first order, whatever $K$ "
        r"(law:reuse/limits): so $\tfrac12hs^2v/\bar\Lambda$ is $(\eta E/4)h^2s^2/\bar\Lambda$. For admissions of "
        "period $p$ the noise is $(1-a)/2$ times $U$ (law:reuse/effective-rate). In every round the weights $1/n$ of "
        r"the $n$ samples in memory add up to 1, so the mean of $\Lambda u$ over a period is 1, and the mean of "
        r"$\Lambda u^2$ less the square of that of $\Lambda u$ over $\bar\Lambda$ is the mean of $\Lambda(u-\bar "
        r"u)^2$, which is 0 if and only if every sample weighs $\bar u=1/\bar\Lambda$. Where $p$ divides $K$ every "
        "window of $K$ rounds holds the same number of samples.",
        given=(WRITTEN, SMALL_STEPS),
        checks={
            "constant admission": (
                lambda: tends_to(
                    noise_floor(rate, K, **ONE, eta=small) / small,
                    t,
                    small_step_floor(1 / rate, **ONE, eta=1),
                    what=r"floor/$\eta$",
                    domain=r"$\eta\to0$, every $K$, $E$, $h$, $s$, $\bar\Lambda$",
                ),
                lambda: limits(
                    t,
                    ((1 - contraction(h, small, E)) / small, h * E, r"$(1-a)/\eta$"),
                    domain=r"$\eta\to0$, every $h$ and $E$",
                ),
                confirming(floors_in_balls),
            ),
            "uneven admission": (lags.uneven_weights_cost, confirming(rounds_weigh_one)),
        },
        symbols=SYMBOLS,
    ),
]
