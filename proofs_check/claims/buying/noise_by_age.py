r"""The law of reuse in a full memory (`buy:noise-by-age`): noise is a mean over ages, at every step size."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import WRITTEN, Claim, Given, confirming
from proofs_check.engines.exact import Found, drawn, everywhere, unless
from proofs_check.engines.identity import equal, equations
from proofs_check.engines.limit import limits
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.buying.market import SYMBOLS, S, a, j
from proofs_check.groundwork.prediction.lags import SYMBOLS as LAGS
from proofs_check.groundwork.prediction.lags import d, geometric, lag_sums, sums
from proofs_check.simulator import simulate_by_capacity
from proofs_check.symbols import K, rate
from proofs_check.text import said
from theory.capacity import age_burden, effective_rate, noise_by_age
from theory.law import by_capacity, lag_sum, squared_weights, stationary_noise

F = Fraction
LAW = Given(
    "law:reuse",
    r"that $\theta$ is $\sum(1-a)a^d\,\bar z(t-1-d)$, and its noise the sum of its samples' squared weights",
)
u = sp.Symbol("u", positive=True)  # 1/(1-a) or 1/a, which grows


def burden_of_an_age() -> Evidence:
    return equations(
        (age_burden(1, a), 1, "$g$ of a fresh sample"),
        (age_burden(j + 1, a) - age_burden(j, a), 2 * a**j, "the growth of $g$"),
        (age_burden(1), 1, "$g$ of a fresh sample at $a=1$"),
        (age_burden(j + 1) - age_burden(j), 2, "the growth of $g$ at $a=1$"),
        domain="every age and $0<a<1$, and $a=1$",
    )


def sum_over_lags() -> Evidence:
    """(1-a)²Σ_{d,e}a^(d+e)·k(|d-e|): lag l stands at a^l/(1-a²), twice for l >= 1; with k(l) = P(age > l)/S."""
    lags = sp.Symbol("l", integer=True, nonnegative=True)
    old = sp.Symbol("P", nonnegative=True)  # the share of the memory that is older than l
    series, burden = a**lags / (1 - a**2), 1 + 2 * a**lags * old
    return together(
        equations(
            (series - a**2 * series, a**lags, "$a^l$"),
            domain=r"$\sum_da^{2d+l}$, less all but its first term",
        ),
        equal(
            (1 - a) ** 2 * (burden / S) / (1 - a**2),
            noise_by_age(S, burden, a),
            domain=r"lags 0 and $l$, any share $P$ of samples older than $l$; $g$ is $1+\sum2a^l$ over all "
            "$l$ below an age",
            what="the variance and theory's noise",
        ),
    )


def _far_from_theory(period: tuple[list[int], int], a: Fraction) -> Found:
    """The law's own recursion, averaged over a period, against the mean over ages: rounds before the first add less
    than 3a^t/S, since a weighted mean of z̄'s has a variance of at most 1/S.
    """
    admissions, capacity = period
    p = len(admissions)
    first = capacity * p  # by then whatever came in round 1 is gone
    T = first + 50 // p * p + p
    whole = [capacity, *(admissions * (T // p + 1))][:T]
    squares = squared_weights(by_capacity(whole, capacity), a, T)
    noise = sum(squares[T - p + 1 :], F(0)) / p  # θ after each of the last p rounds
    played = simulate_by_capacity([[x] for x in whole[: first + p]], [capacity])[first:]
    burdens = [age_burden(s.uses[sample], a) for s in played for sample in s.memory]
    stated = noise_by_age(capacity, sum(burdens, F(0)) / len(burdens), a)
    true = abs(noise - stated) <= 3 * a ** (T - p) / capacity
    return unless(true, noise=float(noise), stated=float(stated))


listed_periods = everywhere(
    r"five periods, bursts and trickles, $a=1/10,1/2,3/4$; to $3a^t/S$, $t\ge50$",
    period=(([1], 3), ([2], 6), ([0, 3], 3), ([1, 0, 4], 5), ([5, 0, 0, 1], 6)),
    a=(F(1, 10), F(1, 2), F(3, 4)),
)(_far_from_theory)
drawn_periods = drawn(
    r"periods up to 4, capacities up to 5; to $3a^t/S$, $t\ge50$",
    (15, 200),
    period=st.tuples(st.lists(st.integers(0, 5), min_size=1, max_size=4).filter(any), st.integers(1, 5)),
    a=st.sampled_from([F(1, 5), F(1, 2), F(2, 3)]),
)(_far_from_theory)


def ends() -> Evidence:
    """a → 1: (2j-1)/(2S) over 1-a, half the inverse of the effective rate; a → 0: 1/S, whatever the ages."""
    few = [sp.Integer(age) for age in (1, 2, 7)]
    small, large = (
        [noise_by_age(S, age_burden(age, left), left) for age in few] for left in (1 - 1 / u, 1 / u)
    )
    halves = [1 / (2 * effective_rate(S, age)) for age in few]
    return together(
        limits(
            u,
            *((noise * u, half, "noise/$(1-a)$") for noise, half in zip(small, halves, strict=True)),
            domain=r"$a\to1$, ages around 1, 2, 7; every $S$",
        ),
        equations(
            (1 / effective_rate(S, j), age_burden(j) / S, "1/rate and $g/S$ at $a=1$"),
            domain="every mean age",
        ),
        limits(
            u,
            *((noise, 1 / S, "the noise") for noise in large),
            domain=r"$a\to0$, ages around 1, 2, 7; every $S$",
        ),
    )


def constant_admission() -> Evidence:
    """Ages 1..K in equal shares: Σg = K + 2Σ(K-d)a^d, one age more from K to K+1, and S = KΛ̄ gives v(a, K)/Λ̄."""
    more, mean = lag_sum(a, K + 1) - lag_sum(a, K), (K + 2 * lag_sum(a, K)) / K
    return equations(
        (age_burden(1, a), 1 + 2 * lag_sum(a, 1), r"$\sum g$ at $K=1$"),
        (age_burden(K + 1, a), 1 + 2 * more, "one age more"),
        (age_burden(K + 1, a), 1 + 2 * geometric(K), "$g$ and its sum"),
        (
            noise_by_age(K * rate, mean, a),
            stationary_noise(a, K) / rate,
            "the noise by age and constant admission's",
        ),
        domain=r"every $K$, $\bar\Lambda$ and $a$",
    )


CLAIMS = [
    Claim(
        id="buy:noise-by-age",
        kind="addition",
        title="noise in a full memory is a mean over ages",
        statement="Let a memory hold $S$ samples in every round and be stationary (or of a period, in the "
        "mean over it). For quadratic losses with one Hessian the law's noise is $(1-a)/(1+a)$ times the "
        r"mean over the memory of $g(\text{age})$, over $S$, with $g(j)=1+2\sum_{d<j}a^d$. As $a\to1$ it "
        r"is $(1-a)/2$ over the effective rate $S/(2\bar A-1)$; as $a\to0$ it is $1/S$; and under constant "
        r"admission, ages $1,\ldots,K$ in equal shares, it is $v(a,K)/\bar\Lambda$.",
        formula=said(
            r"\lim\sum_ic_i^2=\frac{1-a}{1+a}\cdot\frac{\mathbb E[g_a(A)]}S,\qquad g_a(j)=@g",
            g=age_burden(j, a),
        ),
        domain="$0<a<1$; any rule by which samples leave, as long as $S$ are there in every round",
        given=(WRITTEN, LAW),
        sketch=r"$\theta$ is the mean of $\bar z(t-1-d)$ with weights $(1-a)a^d$, and "
        r"$\mathrm{Cov}(\bar z(\tau),\bar z(\tau'))$ is the number of common samples over $S^2$, in units "
        "of a sample's variance. A sample of the later of two rounds $l$ apart is in the earlier if and "
        r"only if its age exceeds $l$. In the mean over a stationary memory that number is $S\,P(A>l)$, so "
        r"the noise is $(1-a)^2\sum_{d,e}a^{d+e}P(A>|d-e|)/S$. Lag $l$ stands at "
        r"$\sum_da^{2d+l}=a^l/(1-a^2)$, twice for $l\ge1$. So it is "
        r"$\frac{1-a}{1+a}(1+2\sum_la^lP(A>l))/S$, and $1+2\sum_la^l\mathbf 1\{A>l\}=g(A)$. As $a\to1$ "
        "every $a^d$ tends to 1 and $g$ to $2A-1$, whose mean is $S$ over the effective rate "
        r"(buy:full-memory); as $a\to0$, to 1. Over ages $1,\ldots,K$ the sum of $g$ is "
        r"$K+2\sum_{d<K}(K-d)a^d$, and $S=K\bar\Lambda$.",
        checks={
            "the burden of an age": burden_of_an_age,
            "the mean over ages": (sum_over_lags, confirming(listed_periods), confirming(drawn_periods)),
            "small and large steps": (
                lambda: together(
                    limits(u, ((1 - 1 / u) ** d, 1, "$a^d$"), domain=r"$a\to1$, every $d$"),
                    limits(u, (u**-d, 0, "$a^d$"), domain=r"$a\to0$, every $d\ge1$"),
                ),
                ends,
            ),
            "constant admission": (constant_admission, lag_sums, sums),
        },
        symbols={
            **SYMBOLS,
            "a": LAGS["a"],
            "A": "the age of a sample in memory, 1 in its first round",
            "g": "what a sample of an age adds to the noise",
            "j": "an age",
            "ω": r"a sample's weight in $\theta$",
        },
    ),
]
