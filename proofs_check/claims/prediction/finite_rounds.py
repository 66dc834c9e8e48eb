r"""Constant admission after t rounds (`law:reuse/finite`): a full memory in closed form, an empty one near it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import sympy as sp

from proofs_check.claim import WRITTEN, Check, Claim, confirming
from proofs_check.engines.argument import Evidence, argument, equations, limits
from proofs_check.engines.exact import Found, by_profile, differing, everywhere
from proofs_check.groundwork.prediction.lags import SYMBOLS, a, geometric, ramp, sums
from proofs_check.symbols import K, t
from proofs_check.text import said
from theory.law import Cohorts, by_age, squared_weights, stationary_noise
from theory.stationary import full_memory_noise, start_up_bound

s, d = sp.symbols("s d", integer=True, nonnegative=True)
late, early = K + s, t + 1 + s  # t = K+s rounds; and a memory of K = t+1+s rounds, t < K
CONTRACTIONS = tuple(Fraction(*pair) for pair in ((0, 1), (1, 10), (2, 3), (99, 100)))


def _plain(expression: Any) -> Any:
    """min(K, t) where the symbols decide it; an error where they do not."""
    return sp.sympify(expression).replace(sp.Min, _least)


def _least(*arguments: Any) -> Any:
    return next(one for one in arguments if all((other - one).is_nonnegative for other in arguments))


def lag(rounds: Any) -> Any:
    """Rounds τ, τ' <= t at the distance d: Σa^(2t-τ-τ')."""
    return a**d * (1 - a ** (2 * (rounds - d))) / (1 - a**2)


def _grows(K: Any, t: Any, lags: Any, domain: str) -> Evidence:
    """From t to t+1 rounds V grows by (1-a)²/K² times these lags."""
    growth = _plain(full_memory_noise(a, K, t + 1) - full_memory_noise(a, K, t))
    what = "the growth of $V$ and the lags that a round adds"
    return equations((growth, (1 - a) ** 2 * lags / K**2, what), domain=domain)


def grows_when_filling() -> Evidence:
    """Lags up to t, (K-|d|)a^(2t-|d|) each; of them (K-d)a^(2t-d) with e = t-d is (K-t)a^t·a^e + a^t·e·a^e."""
    tail = (early - t) * (1 + geometric(t - 1)) + ramp(t - 1)
    lags = early * a ** (2 * t) + 2 * a**t * tail
    return _grows(early, t, lags, r"every $t\ge1$ and $K>t$, $K=t+1+s$")


def grows_when_full() -> Evidence:
    """Lags up to K-1, for the lag d = K has no weight, and a² a round."""
    lags = a ** (2 * s) * (K * a ** (2 * K) + 2 * a**K * ramp(K - 1))
    return _grows(K, late, lags, r"every $K\ge1$ and $t\ge K$, $t=K+s$")


def on_numbers(rounds: str) -> Callable[[Callable[..., Found]], Check]:
    domain = f"$K$ from 1 on, {rounds}, $a$ one of {', '.join(map(str, CONTRACTIONS))}"
    return everywhere(domain, K=by_profile(range(1, 7), range(1, 16)), a=CONTRACTIONS)


@on_numbers(r"$t\le2K+3$")
def against_the_law(K: int, a: Fraction) -> Found:
    """K cohorts in round 1, of which one leaves in each round."""
    T = 2 * K + 3
    entered, left = np.array([1] * K + list(range(2, T + 1))), np.arange(1, K + T)
    law = squared_weights(Cohorts(entered, left, np.ones(len(left), dtype=int)), a, T)
    return differing(closed_form=[full_memory_noise(a, K, rounds) for rounds in range(T + 1)], law=list(law))


def tends_to_the_stationary() -> Evidence:
    v, at_full, left, rounds = sp.symbols("v V left r", positive=True)
    gap, first = (stationary_noise(a, K) - _plain(full_memory_noise(a, K, at)) for at in (late, K))
    near = (v - sp.exp(-rounds * left) * (v - at_full), v, "$V$")
    return argument(
        (gap, a ** (2 * s) * first, "$v-V(t)$ and $a^{2(t-K)}(v-V(K))$", r"every $K$ and $t\ge K$"),
        limits(rounds, near, domain=r"$a^2=e^{-\mathrm{left}}<1$, $t\to\infty$"),
    )


def shared_by_two_rounds() -> Evidence:
    """Of two rounds τ <= τ' the covariance of the means, over s²/Λ̄: from empty not below that of full ones."""
    first, last = sp.symbols("first last", positive=True)
    gap = sp.Symbol("gap", nonnegative=True)
    inside = r"$\tau\le\tau'\le K$: all of the smaller memory is in the larger, $1/\tau'$"
    across = r"$\tau\le K\le\tau'<\tau+K$: $K-(\tau'-\tau)$ cohorts are in both"
    return argument(
        (1 / last >= (K - gap) / K**2, [last <= K], inside),
        ((K - gap) / (first * K) >= (K - gap) / K**2, [first <= K, gap < K], across),
    )


@everywhere("all pairs of rounds up to $3K$", K=by_profile(range(1, 7), range(1, 12)))
def cohorts_in_common(K: int) -> Found:
    """The same covariances with the cohorts of both memories counted by name: in all of the cases there are."""

    def covariance(first: set[int], last: set[int]) -> Fraction:
        return Fraction(len(first & last), len(first) * len(last))

    full = [set(range(tau - K + 1, tau + 1)) for tau in range(1, 3 * K + 1)]
    empty = [{cohort for cohort in memory if cohort > 0} for memory in full]
    for i, j in combinations_with_replacement(range(3 * K), 2):
        tau, later = i + 1, j + 1
        common = tau if later <= K else max(K - (later - tau), 0)  # what `shared_by_two_rounds` has
        counted, of_full = covariance(empty[i], empty[j]), covariance(full[i], full[j])
        stated = Fraction(common, min(tau, K) * min(later, K))
        if counted != stated or counted < of_full or of_full != Fraction(max(K - (later - tau), 0), K * K):
            return {"rounds": (tau, later), "from empty": counted, "stated": stated, "from full": of_full}
    return None


def start_up() -> Evidence:
    tau, left = sp.symbols("tau left", positive=True)
    distance, total = 1 / tau - 1 / K, (1 - a) * (1 + geometric(K - 2))  # the latter: Σ(1-a)a^i, i < K-1
    bound, two = _plain(start_up_bound(a, K, late)), r"a mean of $\tau$ cohorts and one of $K$ that hold them"
    return argument(
        (1 / tau - 2 / K + 1 / K, distance, r"the variance of the difference and $1/\tau-1/K$", two),
        (distance < 1, [tau >= 1], r"every $\tau\ge1$ and $K$"),
        (total, 1 - a ** (K - 1), "the weights of the first $K-1$ rounds and $1-a^{K-1}$", "every $K$"),
        (bound, a ** (s + 1) * total, r"for $t\ge K$ theory's bound and what is left of them", "every $K$"),
        (left * sp.sqrt(distance) <= left, [tau >= 1, tau <= K], "each round's share of the triangle"),
    )


@on_numbers(r"$t\le3K+3$")
def from_an_empty_memory(K: int, a: Fraction) -> Found:
    """V <= Λ̄S <= (√V + bound)² in exact numbers: S - V - b² is negative or its square at most 4b²V."""
    T = 3 * K + 3
    noise = squared_weights(by_age([1] * T, K), a, T)
    for rounds in range(1, T + 1):
        full, bound = full_memory_noise(a, K, rounds), start_up_bound(a, K, rounds)
        rest = noise[rounds] - full - bound**2
        if noise[rounds] < full or (rest > 0 and rest**2 > 4 * bound**2 * full):
            return {"t": rounds, "from empty": noise[rounds], "from full": full, "bound": bound}
    return None


CLAIMS = [
    Claim(
        id="law:reuse/finite",
        title="constant admission after $t$ rounds, in closed form",
        statement="If the memory is full from round 1 on, the noise after $t$ rounds of constant admission "
        r"is $V(t)/\bar\Lambda$ in units of a sample's variance, in closed form; from $t=K$ on it "
        "approaches $v$ by a factor $a^2$ per round, from below. If the memory begins empty the noise is "
        "at least as large, and the square roots differ by at most "
        r"$a^{t-K+1}(1-a^{K-1})/\sqrt{\bar\Lambda}$ for $t\ge K$.",
        formula=said(
            r"V(t)=v-a^{2(t-K)}(v-V(K)),\quad V(K)=@V\ (t\ge K),\qquad "
            r"\sqrt{V(t)}\le\sqrt{\bar\Lambda\textstyle\sum_ic_i^2}\le\sqrt{V(t)}+@b",
            V=sp.simplify(_plain(full_memory_noise(a, K, K))),
            b=_plain(start_up_bound(a, K, late)).subs(s, sp.Symbol("t") - K),
        ),
        domain=r"constant admission, quadratic losses with one Hessian, every $K\ge1$, $t\ge1$ and $0<a<1$ "
        "($t<K$: theory.stationary.full_memory_noise); $a=0$ by the exact check",
        sketch=r"After $t$ rounds $\theta$ is $\sum(1-a)a^{t-\tau}\bar z(\tau)$ plus what is left of the "
        r"start. In a full memory $\bar z(\tau)$ and $\bar z(\tau')$ share $K-|\tau-\tau'|$ cohorts of "
        r"$K$, so their covariance is $(K-|d|)^{+}/(K^2\bar\Lambda)$ in units of $s^2$, and the pairs at "
        "the distance $d$ add up to a geometric series. A round more adds "
        r"$(1-a)^2/K^2\sum(K-|d|)a^{2t-|d|}$, which the closed form does too: induction over $t$, once for "
        r"$t<K$ and once for $t\ge K$. From an empty memory round $\tau<K$ has only $\tau$ cohorts, and every "
        r"covariance of two rounds $\tau\le\tau'$ is at least as large. If $\tau'\le K$ it is $1/\tau'$ against "
        r"$(K-d)/K^2$. If $\tau<K\le\tau'$ the two share the cohorts from $\tau'-K+1$ to $\tau$, $K-d$ of them "
        r"or none, as full memories do: $(K-d)^{+}/(\tau K)$ against $(K-d)^{+}/K^2$. From $\tau=K$ on both are "
        r"the same. All weights are positive for $a\ge0$, so the noise is at least as large. From round "
        "$K$ on both memories are the same: what differs are the first $K-1$ means, each by a vector of "
        r"squared length $(1/\tau-1/K)/\bar\Lambda<1/\bar\Lambda$, with weights $(1-a)a^{t-\tau}$ that add "
        "up to $a^{t-K+1}(1-a^{K-1})$; then the triangle inequality.",
        given=(WRITTEN,),
        checks={
            "a lag": lambda: equations(
                (lag(d), 0, "no pair at first and 0"),
                (a**2 * lag(d + s) + a**d, lag(d + s + 1), "$a^2$ of what was, and the last round's pair,"),
                domain=r"every $t\ge d$, as before and a round later",
            ),
            "closed form": (
                sums,
                lambda: equations(
                    (full_memory_noise(a, K, 0), 0, "$V(0)$ and 0"),
                    (full_memory_noise(a, K, 1), (1 - a) ** 2 / K, "$V(1)$ and the first mean's share"),
                    domain="every $K$",
                ),
                grows_when_filling,
                grows_when_full,
                confirming(against_the_law),
            ),
            "its limit": tends_to_the_stationary,
            "from empty: not less": (
                shared_by_two_rounds,
                *map(confirming, (cohorts_in_common, from_an_empty_memory)),
            ),
            "from empty: not much more": (start_up, confirming(from_an_empty_memory)),
        },
        symbols={**SYMBOLS, "V": r"noise after $t$ rounds from a full memory, in the units of $v$"},
    )
]
