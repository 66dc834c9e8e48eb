r"""Constant admission after t rounds (`law:reuse/finite`): a full memory in closed form, an empty one near it.

In a full memory the means of rounds τ and τ' share \((K-|\tau-\tau'|)^+\) cohorts, so the noise is a sum over lags,
each with a geometric series.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from proofs_check.claim import WRITTEN, Claim, Context, confirming
from proofs_check.engines.exact import exhaust
from proofs_check.engines.identity import equal
from proofs_check.engines.limit import tends_to
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.prediction.lags import a, geometric, ramp, sums
from proofs_check.symbols import K
from proofs_check.text import said
from theory.law import Cohorts, by_age, squared_weights, stationary_noise
from theory.stationary import full_memory_noise, start_up_bound

s = sp.Symbol("s", integer=True, nonnegative=True)
t = sp.Symbol("t", integer=True, positive=True)
late, early = K + s, t + 1 + s  # t = K+s rounds; and a memory of K = t+1+s rounds, t < K
CONTRACTIONS = tuple(Fraction(*pair) for pair in ((0, 1), (1, 10), (2, 3), (99, 100)))


# --- a memory that begins full -----------------------------------------------------------------------------


def a_lag() -> Evidence:
    """Rounds τ, τ' <= t at the distance d: Σa^(2t-τ-τ') = a^d·(1-a^(2(t-d)))/(1-a²), by induction over t."""
    d = sp.Symbol("d", integer=True, nonnegative=True)

    def series(rounds: Any) -> Any:
        return a**d * (1 - a ** (2 * (rounds - d))) / (1 - a**2)

    return together(
        equal(series(d), 0, domain="$t=d$: no such pair", what="the series and 0"),
        equal(
            series(d + s + 1),
            a**2 * series(d + s) + a**d,
            domain="a round more: $a^2$ of what was, and the pair of the last round",
            what="the series",
        ),
    )


def _round_more(last: Any, memory: Any) -> Any:
    """What a round adds to K²V/(1-a)²: Σ(K-|d|)a^(2t-|d|) over |d| <= last, with t = last + rest rounds so far.

    Both sides of it, times a^(-2(t-last)): (K-d)a^(2·last-d) with e = last-d is (K-last)a^last·a^e + a^last·e·a^e.
    """
    tail = (memory - last) * (1 + geometric(last - 1)) + ramp(last - 1)
    return memory * a ** (2 * last) + 2 * a**last * tail


def grows_when_filling() -> Evidence:
    """t < K: from t to t+1 rounds the lags up to t are added."""
    growth = full_memory_noise(a, early, t + 1) - full_memory_noise(a, early, t)
    return equal(
        _plain(growth),
        (1 - a) ** 2 * _round_more(t, early) / early**2,
        domain=r"every $t\ge1$ and $K>t$, $K=t+1+s$",
        what="the growth of $V$ and the lags that a round adds",
    )


def grows_when_full() -> Evidence:
    """t >= K: lags up to K-1, and a² a round."""
    growth = full_memory_noise(a, K, late + 1) - full_memory_noise(a, K, late)
    lags = K * a ** (2 * K) + 2 * a**K * ramp(K - 1)  # the lag d = K has no weight
    return equal(
        _plain(growth),
        (1 - a) ** 2 * a ** (2 * s) * lags / K**2,
        domain=r"every $K\ge1$ and $t\ge K$, $t=K+s$",
        what="the growth of $V$ and the lags that a round adds",
    )


def begins_at_nothing() -> Evidence:
    """V = 0 before the first round, and (1-a)²/K after it."""
    return together(
        equal(full_memory_noise(a, K, 0), 0, domain="every $K$", what="$V(0)$ and 0"),
        equal(
            full_memory_noise(a, K, 1),
            (1 - a) ** 2 / K,
            domain="every $K$",
            what="$V(1)$ and the first mean's share",
        ),
    )


def _plain(expression: Any) -> Any:
    """min(K, t) where the symbols decide it."""
    return sp.sympify(expression).replace(sp.Min, lambda *arguments: _least(arguments))


def _least(arguments: Any) -> Any:
    for candidate in arguments:
        if all((other - candidate).is_nonnegative for other in arguments):
            return candidate
    raise ArithmeticError(f"which of {arguments} is the least is open")


def _full_from_the_start(kept: int, rounds: int) -> Cohorts:
    entered = [1] * kept + list(range(2, rounds + 1))
    left = [*range(1, kept + 1), *range(kept + 1, kept + rounds)]
    return Cohorts(np.array(entered), np.array(left), np.ones(len(left), dtype=int))


def against_the_law(context: Context) -> Evidence:
    """The closed form and the law for K cohorts in round 1 of which one leaves a round, t from 0 to 2K+3."""

    def find(K: int, a: Fraction) -> dict[str, Any] | None:
        T = 2 * K + 3
        law = squared_weights(_full_from_the_start(K, T), a, T)
        for rounds in range(T + 1):
            found = full_memory_noise(a, K, rounds)
            if found != law[rounds]:
                return {"t": rounds, "closed form": found, "law": law[rounds]}
        return None

    points = ({"K": k, "a": c} for k in range(1, context.choose(7, 16)) for c in CONTRACTIONS)
    return exhaust(points, find, domain=f"K from 1 on, t <= 2K+3, a = {', '.join(map(str, CONTRACTIONS))}")


def tends_to_the_stationary() -> Evidence:
    """For t >= K: v - V(t) = a^(2(t-K))·(v - V(K)), which vanishes."""
    v, at_full, left = sp.symbols("v V left", positive=True)
    rounds = sp.Symbol("r", positive=True)
    return together(
        equal(
            stationary_noise(a, K) - _plain(full_memory_noise(a, K, late)),
            a ** (2 * s) * (stationary_noise(a, K) - _plain(full_memory_noise(a, K, K))),
            domain=r"every $K$ and $t\ge K$",
            what="$v-V(t)$ and $a^{2(t-K)}(v-V(K))$",
        ),
        tends_to(
            v - sp.exp(-rounds * left) * (v - at_full),
            rounds,
            v,
            what="$V$",
            domain=r"$a^2=e^{-\text{left}}\ "
            r"<1$, $t\to\infty$",
        ),
    )


# --- a memory that begins empty ----------------------------------------------------------------------------


def shared_by_two_rounds() -> Evidence:
    """Of two rounds the covariance of the means, in units of s²/Λ̄: from empty never below that of full memories."""
    first, last, gap = sp.symbols("first last gap", positive=True)  # two rounds τ <= τ', and their distance
    return together(
        always(
            1 / last >= (K - gap) / K**2,
            given=[last <= K, sp.Ge(gap, 0, evaluate=False)],
            domain=r"$\tau\le\tau^{\prime}\le K$: all of the smaller memory is in the larger, "
            r"$1/\tau^{\prime}$",
        ),
        always(
            (K - gap) / (first * K) >= (K - gap) / K**2,
            given=[first <= K, gap < K],
            domain=r"$\tau\le K\le\tau^{\prime}<\tau+K$: $K-(\tau^{\prime}-\tau)$ cohorts are in both",
        ),
    )


def start_up() -> Evidence:
    """In round τ < K the means differ by 1/τ - 1/K < 1 in variance; weights (1-a)a^(K-1-τ), then a^(t-K+1)."""
    tau, left = sp.symbols("tau left", positive=True)
    distance = 1 / tau - 1 / K
    total = (1 - a) * (1 + geometric(K - 2))  # Σ(1-a)a^i, i < K-1
    return together(
        equal(
            1 / tau - 2 / K + 1 / K,
            distance,
            domain=r"a mean of $\tau$ cohorts and one of $K$ that hold them",
            what=r"the variance of the difference and $1/\tau-1/K$",
        ),
        always(distance < 1, given=[tau >= 1], domain=r"every $\tau\ge1$ and $K$"),
        equal(
            total,
            1 - a ** (K - 1),
            domain="every $K$",
            what="the weights of the first $K-1$ rounds and $1-a^{K-1}$",
        ),
        equal(
            _plain(start_up_bound(a, K, late)),
            a ** (s + 1) * total,
            domain=r"every $K$ and $t\ge K$",
            what="theory's bound and what is left of them",
        ),
        always(
            left * sp.sqrt(distance) <= left,
            given=[tau >= 1, tau <= K],
            domain="each round's share of the triangle",
        ),
    )


def from_an_empty_memory(context: Context) -> Evidence:
    """V <= Λ̄S <= (√V + bound)² in exact numbers: S - V - b² is negative or its square at most 4b²V."""

    def find(K: int, a: Fraction) -> dict[str, Any] | None:
        T = 3 * K + 3
        noise = squared_weights(by_age([1] * T, K), a, T)
        for rounds in range(1, T + 1):
            full, bound = full_memory_noise(a, K, rounds), start_up_bound(a, K, rounds)
            rest = noise[rounds] - full - bound**2
            if noise[rounds] < full or (rest > 0 and rest**2 > 4 * bound**2 * full):
                return {"t": rounds, "from empty": noise[rounds], "from full": full, "bound": bound}
        return None

    points = ({"K": k, "a": c} for k in range(1, context.choose(7, 16)) for c in CONTRACTIONS)
    return exhaust(points, find, domain=f"K from 1 on, t <= 3K+3, a = {', '.join(map(str, CONTRACTIONS))}")


CLAIMS = [
    Claim(
        id="law:reuse/finite",
        kind="addition",
        title="constant admission after $t$ rounds, in closed form",
        statement="If the memory is full from round 1 on, the noise after $t$ rounds of constant "
        r"admission is $V(t)/\bar\Lambda$ in units of a sample's variance, in closed form; from $t=K$ on "
        "it approaches $v$ by a factor $a^2$ a round, from below. If the memory begins empty the noise "
        "is at least as large, and the square roots differ by at most "
        r"$a^{t-K+1}(1-a^{K-1})/\sqrt{\bar\Lambda}$ for $t\ge K$.",
        formula=said(
            r"V(t)=v-a^{2(t-K)}(v-V(K)),\quad V(K)=@V\ (t\ge K),\qquad "
            r"\sqrt{V(t)}\le\sqrt{\bar\Lambda\textstyle\sum_ic_i^2}\le\sqrt{V(t)}+@b",
            V=sp.simplify(_plain(full_memory_noise(a, K, K))),
            b=_plain(start_up_bound(a, K, late)).subs(s, sp.Symbol("t") - K),
        ),
        domain=r"constant admission, quadratic losses with one Hessian, every $K\ge1$, $t\ge1$ and "
        "$0<a<1$ ($t<K$: theory.stationary.full_memory_noise); $a=0$ by the exact check",
        sketch=r"After $t$ rounds $\theta$ is $\sum (1-a)a^{t-\tau}\cdot\bar z(\tau)$ plus what is left "
        r"of the start. In a full memory $\bar z(\tau)$ and $\bar z(\tau^{\prime})$ share "
        r"$K-|\tau-\tau^{\prime}|$ cohorts of $K$, so their covariance is $(K-|d|)^{+}/(K^2\bar\Lambda)$ "
        "in units of $s^2$, and the pairs at the distance $d$ add up to a geometric series. A round more "
        r"adds $(1-a)^2/K^2\cdot\sum (K-|d|)a^{2t-|d|}$, which the closed form does too: induction over "
        r"$t$, once for $t<K$ and once for $t\ge K$. From an empty memory round $\tau<K$ has only $\tau$ "
        r"cohorts: every covariance is at least as large ($1/\max(\tau,\tau^{\prime})$ against "
        r"$(K-|d|)/K^2$ while both are at most $K$), all weights are positive for $a\ge0$, so the noise "
        "is at least as large. From round $K$ on both memories are the same: what differs are the first "
        r"$K-1$ means, each by a vector of squared length $(1/\tau-1/K)/\bar\Lambda<1/\bar\Lambda$, with "
        r"weights $(1-a)a^{t-\tau}$ that add up to $a^{t-K+1}(1-a^{K-1})$; then the triangle inequality.",
        given=(WRITTEN,),
        checks={
            "a lag": a_lag,
            "closed form": (
                sums,
                begins_at_nothing,
                grows_when_filling,
                grows_when_full,
                confirming(against_the_law),
            ),
            "its limit": tends_to_the_stationary,
            "from empty: not less": (shared_by_two_rounds, confirming(from_an_empty_memory)),
            "from empty: not much more": (start_up, confirming(from_an_empty_memory)),
        },
        symbols={
            "a": r"$(1-\eta h)^E$, what a round leaves of a distance along an eigendirection",
            "V": "noise after $t$ rounds from a full memory, in units of a sample's variance over "
            r"$\bar\Lambda$",
            "v": "its limit, the stationary noise",
            "c": r"a sample's weight in $\theta$, from an empty memory",
        },
    ),
]
