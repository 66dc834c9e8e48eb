r"""The law of reuse in a full memory (`buy:noise-by-age`): noise is a mean over ages, at every step size.

Two rounds d apart have as many samples in common as are older than d in the later of them, so the variance of θ, a
geometric mean of the memories' means, is a sum over lags of how many are that old.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import WRITTEN, Claim, Context, Given, confirming
from proofs_check.engines.exact import exhaust, search
from proofs_check.engines.identity import equal
from proofs_check.engines.limit import tends_to
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.buying.market import SYMBOLS, S, a, j
from proofs_check.groundwork.prediction.lags import a as lag
from proofs_check.groundwork.prediction.lags import geometric, lag_sums, sums
from proofs_check.simulator import simulate_by_capacity
from proofs_check.symbols import K, rate
from proofs_check.text import said
from theory.capacity import age_burden, effective_rate, noise_by_age
from theory.law import by_capacity, lag_sum, squared_weights, stationary_noise

F = Fraction
LAW = Given(
    "law:reuse",
    r"that $\theta$ is $\sum (1-a)a^d\cdot\bar z(t-1-d)$, and its noise the sum of its "
    "samples' squared weights",
)
u = sp.Symbol("u", positive=True)  # 1/(1-a), for limits
BELOW = "every age and $0<a<1$"


def burden_of_an_age() -> Evidence:
    """g(1) = 1 and g(j+1) - g(j) = 2a^j, for a below 1 and for a = 1."""
    return together(
        equal(age_burden(1, a), 1, domain="every $a$", what="$g$ of a fresh sample"),
        equal(age_burden(j + 1, a) - age_burden(j, a), 2 * a**j, domain=BELOW, what="the growth of $g$"),
        equal(age_burden(1), 1, domain="$a=1$", what="$g$ of a fresh sample"),
        equal(age_burden(j + 1) - age_burden(j), 2, domain="$a=1$, every age", what="the growth of $g$"),
    )


def sum_over_lags() -> Evidence:
    """(1-a)²Σ_{d,e}a^(d+e)·k(|d-e|): lag l stands at a^l/(1-a²), twice for l >= 1; with k(l) = P(age > l)/S."""
    lags = sp.Symbol("l", integer=True, nonnegative=True)
    series = a**lags / (1 - a**2)
    old = sp.Symbol("P", nonnegative=True)  # the share of the memory that is older than l
    return together(
        equal(
            series - a**2 * series,
            a**lags,
            domain=r"$\sum_da^{2d+l}$, less all but its first term",
            what="$a^l$",
        ),
        equal(
            (1 - a) ** 2 * (1 / S + 2 * a**lags * old / S) / (1 - a**2),
            noise_by_age(S, 1 + 2 * a**lags * old, a),
            domain=r"lags 0 and $l$, any share $P$ of samples older than $l$; $g$ is $1+\sum 2a^l$ over "
            "all $l$ below an age",
            what="the variance and theory's noise",
        ),
    )


def _far_from_theory(admissions: list[int], capacity: int, a: Fraction) -> dict[str, Any] | None:
    """The law's own recursion, averaged over a period, against the mean over ages: rounds before the first add less
    than 3a^t/S, since a weighted mean of z̄'s has a variance of at most 1/S.
    """
    p = len(admissions)
    first = capacity * p  # by then whatever came in round 1 is gone
    T = first + 50 // p * p + p
    whole = [capacity, *(admissions * (T // p + 1))][:T]
    squares = squared_weights(by_capacity(whole, capacity), a, T)
    noise = sum(squares[T - p + 1 :], F(0)) / p  # θ after each of the last p rounds
    played = simulate_by_capacity([[x] for x in whole[: first + p]], [capacity])[first:]
    burdens = [age_burden(s.uses[sample], a) for s in played for sample in s.memory]
    stated = noise_by_age(capacity, sum(burdens, F(0)) / len(burdens), a)
    left = 3 * a ** (T - p) / capacity
    return None if abs(noise - stated) <= left else {"noise": float(noise), "stated": float(stated)}


def listed_periods() -> Evidence:
    """Bursts, trickles and uneven periods."""
    points = (
        {"admissions": admissions, "capacity": capacity, "a": a}
        for admissions, capacity in (([1], 3), ([2], 6), ([0, 3], 3), ([1, 0, 4], 5), ([5, 0, 0, 1], 6))
        for a in (F(1, 10), F(1, 2), F(3, 4))
    )
    return exhaust(
        points,
        _far_from_theory,
        domain="five periods, $a=1/10$, $1/2$, $3/4$; to $3a^t/S$, "
        r"$t\ge50$",
    )


def drawn_periods(context: Context) -> Evidence:
    """Periods drawn at random."""
    return search(
        context,
        {
            "admissions": st.lists(st.integers(0, 5), min_size=1, max_size=4).filter(any),
            "capacity": st.integers(1, 5),
            "a": st.sampled_from([F(1, 5), F(1, 2), F(2, 3)]),
        },
        _far_from_theory,
        domain=r"periods up to 4, capacities up to 5; to $3a^t/S$, $t\ge50$",
        examples=context.choose(15, 200),
    )


def ends() -> Evidence:
    """a → 1: (2j-1)/(2S) over 1-a, half the inverse of the effective rate; a → 0: 1/S, whatever the ages."""
    few = [sp.Integer(age) for age in (1, 2, 7)]
    close = 1 - 1 / u
    return together(
        *(
            tends_to(
                noise_by_age(S, age_burden(age, close), close) * u,
                u,
                1 / (2 * effective_rate(S, age)),
                what="noise/$(1-a)$",
                domain=f"a → 1, ages around {age}; every S",
            )
            for age in few
        ),
        equal(
            1 / effective_rate(S, j),
            age_burden(j) / S,
            domain="every mean age",
            what="1/rate and $g/S$ at $a=1$",
        ),
        *(
            tends_to(
                noise_by_age(S, age_burden(age, 1 / u), 1 / u),
                u,
                1 / S,
                what="the noise",
                domain=f"a → 0, ages around {age}; every S",
            )
            for age in few
        ),
    )


def growth_at_the_end() -> Evidence:
    """g is 1 + Σ2a^d, so g tends to 2j-1 as a → 1 and to 1 as a → 0: each power tends to 1, or to 0."""
    d = sp.Symbol("d", integer=True, positive=True)
    return together(
        tends_to((1 - 1 / u) ** d, u, 1, what="$a^d$", domain=r"$a\to1$, every $d$"),
        tends_to(u**-d, u, 0, what="$a^d$", domain=r"$a\to0$, every $d\ge1$"),
    )


def constant_admission() -> Evidence:
    """Ages 1..K in equal shares: Σg = K + 2Σ(K-d)a^d, one age more from K to K+1, and S = KΛ̄ gives v(a, K)/Λ̄."""
    return together(
        equal(age_burden(1, lag), 1 + 2 * lag_sum(lag, 1), domain="$K=1$", what=r"$\sum g$"),
        equal(
            age_burden(K + 1, lag),
            1 + 2 * (lag_sum(lag, K + 1) - lag_sum(lag, K)),
            domain="every $K$ and $a$",
            what="one age more",
        ),
        equal(
            age_burden(K + 1, lag), 1 + 2 * geometric(K), domain="every $K$ and $a$", what="$g$ and its sum"
        ),
        equal(
            noise_by_age(K * rate, (K + 2 * lag_sum(lag, K)) / K, lag),
            stationary_noise(lag, K) / rate,
            domain=r"every $K$, $\bar\Lambda$ and $a$",
            what="the noise by age and constant admission's",
        ),
    )


CLAIMS = [
    Claim(
        id="buy:noise-by-age",
        kind="addition",
        title="noise in a full memory is a mean over ages",
        statement="Let a memory hold $S$ samples in every round and be stationary (or of a period, in "
        "the mean over it). For quadratic losses with one Hessian the law's noise is $(1-a)/(1+a)$ times "
        r"the mean over the memory of $g(\text{age})$, over $S$, with $g(j)=1+2\sum_{d<j}a^d$. As "
        r"$a\to1$ it is $(1-a)/2$ over the effective rate $S/(2\bar A-1)$; as $a\to0$ it is $1/S$; and "
        r"under constant admission, ages $1,\ldots,K$ in equal shares, it is $v(a,K)/\bar\Lambda$.",
        formula=said(
            r"\lim\sum_ic_i^2=\frac{1-a}{1+a}\cdot\frac{\mathbb E[g_a(A)]}S,\qquad g_a(j)=@g",
            g=age_burden(j, a),
        ),
        domain="$0<a<1$; any rule by which samples leave, as long as $S$ are there in every round",
        given=(WRITTEN, LAW),
        sketch=r"$\theta$ is the mean of $\bar z(t-1-d)$ with weights $(1-a)a^d$, and $\mathrm{Cov}(\bar "
        r"z(\tau),\bar z(\tau^{\prime}))$ is the number of common samples over $S^2$, in units of a "
        "sample's variance. A sample of the later of two rounds $l$ apart is in the earlier just if its "
        r"age exceeds $l$. In the mean over a stationary memory that number is $S\cdot P(A>l)$, so the "
        r"noise is $(1-a)^2\sum_{d,e}a^{d+e}P(A>|d-e|)/S$. Lag $l$ stands at "
        r"$\sum_da^{2d+l}=a^l/(1-a^2)$, twice for $l\ge1$. So it is "
        r"$(1-a)/(1+a)\cdot(1+2\sum_la^lP(A>l))/S$, and $1+2\sum_la^l\mathbf 1\{A>l\}=g(A)$. As $a\to1$ "
        "every $a^d$ tends to 1 and $g$ to $2A-1$, whose mean is $S$ over the effective rate "
        r"(buy:full-memory); as $a\to0$, to 1. Over ages $1,\ldots,K$ the sum of $g$ is $K+2\sum "
        r"(K-d)a^d$, and $S=K\bar\Lambda$.",
        checks={
            "the burden of an age": burden_of_an_age,
            "the mean over ages": (sum_over_lags, confirming(listed_periods), confirming(drawn_periods)),
            "small and large steps": (growth_at_the_end, ends),
            "constant admission": (constant_admission, lag_sums, sums),
        },
        symbols={
            **SYMBOLS,
            "a": r"$(1-\eta h)^E$, what a round leaves of a distance along an eigendirection",
            "A": "the age of a sample in memory, 1 in its first round",
            "g": "what a sample of an age adds to the noise",
            "j": "an age",
            "ω": r"a sample's weight in $\theta$",
        },
    ),
]
