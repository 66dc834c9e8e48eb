r"""Small steps and large ones (`law:reuse/limits`), and the noise floor to first order (`law:reuse/small-steps`).

As \(a\to1\) the stationary noise is \(\tfrac{1-a}2\), whatever K, and K enters at the next order, through the mean
distance of two rounds in which a sample is used. As \(a\to0\) it is \(1/K\).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.claim import WRITTEN, Claim, Context, Given, confirming
from proofs_check.engines.enclosure import compare
from proofs_check.engines.exact import exhaust, search
from proofs_check.engines.identity import equal, symbolic_sum
from proofs_check.engines.limit import tends_to
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.prediction.lags import EVERY, a, lag_sums, pairs, sums
from proofs_check.groundwork.prediction.periods import patterns, uneven_weights_cost
from proofs_check.symbols import CONSTANTS, K, rate
from proofs_check.text import said
from theory.algebra import ball, exp, log
from theory.law import contraction, noise_floor, stationary_noise
from theory.stationary import inverse_effective_rate, mean_lag, small_step_floor, total_weights

t = sp.Symbol("t", positive=True)  # 1/(1-a), 1/a or 1/η, which grows
d = sp.Symbol("d", integer=True, positive=True)
h, spread = sp.symbols("h s", positive=True)
small = 1 / t
SMALL_STEPS = Given(
    "law:reuse/effective-rate",
    r"that for admissions of any period the noise over $1-a$ tends to half the mean of $\Lambda u^2$",
)


# --- both limits -------------------------------------------------------------------------------------------


def small_steps() -> Evidence:
    """v/(1-a) as a → 1, K symbolic."""
    return tends_to(
        stationary_noise(1 - small, K) / small,
        t,
        sp.Rational(1, 2),
        what="$v/(1-a)$",
        domain=r"$a\to1$, "
        "every $K$",
    )


def second_order() -> Evidence:
    """(v - (1-a)/2)/(1-a)²: the first place where K is seen, through the mean distance of two of its rounds."""
    return together(
        tends_to(
            (stationary_noise(1 - small, K) - small / 2) / small**2,
            t,
            sp.Rational(1, 4) - mean_lag(K) / 2,
            what="$(v-(1-a)/2)/(1-a)^2$",
            domain=r"$a\to1$, every $K$",
        )
    )


def large_steps() -> Evidence:
    """v as a → 0, K symbolic."""
    return tends_to(stationary_noise(small, K), t, 1 / K, what="$v$", domain=r"$a\to0$, every $K$")


def pairs_have_this_mean_distance() -> Evidence:
    """2Σ_{d<K}(K-d)d over K²."""
    return equal(
        2 * symbolic_sum((K - d) * d, d, 1, K - 1) / K**2,
        mean_lag(K),
        domain="every $K$",
        what="the mean of $|i-j|$ and theory's",
    )


def tangent() -> Evidence:
    """Jensen for the convex x ↦ a^x: it lies above its tangent at m, whose mean over x with mean m is a^m.

    With y = a^(x-m) = e^z that is y >= 1 + z, and the mean of z = (x-m)log a is 0.
    """
    z = sp.Symbol("z", real=True)
    above = sp.exp(z) - 1 - z
    return together(
        equal(sp.diff(above, z, 2), sp.exp(z), domain="every $z$", what="the second derivative and $e^z>0$"),
        equal(above.subs(z, 0), 0, domain="$z=0$", what="its value there and 0"),
        equal(sp.diff(above, z).subs(z, 0), 0, domain="$z=0$", what="its slope there and 0"),
    )


def between(context: Context) -> Evidence:
    """(1-a)/(1+a)·a^m <= v in balls, for K >= 2 where the two differ."""
    grid = [
        {"K": k, "1-a": str(gap), "gap": gap}
        for k in context.choose((2, 3, 10, 1000, 10**9), (2, 3, 4, 7, 10, 100, 10**3, 10**6, 10**9, 10**12))
        for gap in (Fraction(9, 10), Fraction(1, 2), Fraction(1, 10), Fraction(1, 10**3), Fraction(1, 10**9))
    ]

    def below(p: Any) -> Any:
        left = 1 - ball(p["gap"])
        return (1 - left) / (1 + left) * exp(ball(mean_lag(p["K"])) * log(left))

    return compare(
        below,
        "<",
        lambda p: stationary_noise(1 - ball(p["gap"]), p["K"]),
        grid,
        domain="$K$ from 2 to $10^9$, $1-a$ from 0.9 to $10^{-9}$",
        precision=512,
    )


def at_most_one_round() -> Evidence:
    """v(a, K) <= v(a, 1) = (1-a)/(1+a), with equality at K = 1: a mean of numbers a^|i-j| <= 1."""
    mean = sp.Symbol("mean", positive=True)
    return together(
        equal(stationary_noise(a, 1), (1 - a) / (1 + a), domain="$K=1$", what="$v$ and $(1-a)/(1+a)$"),
        always((1 - a) / (1 + a) * mean <= (1 - a) / (1 + a), given=[a < 1, mean <= 1], domain=EVERY),
    )


def exact_values(context: Context) -> Evidence:
    """At rational a: v(0, K) = 1/K, and |v/(1-a) - ½| <= (1-a)·K for every a."""

    def find(K: int, gap: Fraction) -> dict[str, Any] | None:
        v = stationary_noise(1 - gap, K)
        near = abs(v / gap - Fraction(1, 2)) <= gap * K
        return None if near and stationary_noise(Fraction(0), K) == Fraction(1, K) else {"v/(1-a)": v / gap}

    gaps = [Fraction(1, 10**e) for e in (0, 1, 2, 4, 8)]
    return exhaust(
        ({"K": k, "gap": gap} for k in range(1, context.choose(30, 120)) for gap in gaps),
        find,
        domain="$K$ from 1 on, $1-a=1$, $10^{-1}$, $10^{-2}$, $10^{-4}$, $10^{-8}$",
    )


# --- first order in the step size --------------------------------------------------------------------------


def floor_over_eta() -> Evidence:
    """theory's noise floor over η as η → 0: K is gone. Directions add up, so one is enough."""
    floor = noise_floor(rate, K, h=[h], variance=[spread**2], eta=small, E=CONSTANTS.E)
    first = small_step_floor(1 / rate, h=[h], variance=[spread**2], eta=1, E=CONSTANTS.E)
    return tends_to(
        floor / small,
        t,
        first,
        what=r"floor/$\eta$",
        domain=r"$\eta\to0$, every $K$, $E$, $h$, "
        r"$s$, $\bar\Lambda$",
    )


def contraction_to_first_order() -> Evidence:
    """(1-a)/η → hE."""
    left = contraction(h, small, CONSTANTS.E)
    return tends_to(
        (1 - left) / small,
        t,
        h * CONSTANTS.E,
        what=r"$(1-a)/\eta$",
        domain=r"$\eta\to0$, every "
        "$h$ and $E$",
    )


def floors_in_balls() -> Evidence:
    """The floor at a tiny η, in balls, within a millionth of its first order, at K far apart."""
    eta = Fraction(1, 10**12)
    points = [{"K": k, "E": E} for k in (1, 10, 1000) for E in (1, 5)]
    h, variance = (Fraction(1, 2), Fraction(3)), (Fraction(2), Fraction(1, 5))

    def off(p: Any) -> Any:
        floor = noise_floor(
            ball(10),
            p["K"],
            h=[ball(x) for x in h],
            variance=[ball(x) for x in variance],
            eta=ball(eta),
            E=p["E"],
        )
        return abs(
            floor / ball(small_step_floor(Fraction(1, 10), h=h, variance=variance, eta=eta, E=p["E"])) - 1
        )

    return compare(
        off,
        "<",
        lambda p: ball(Fraction(1, 10**6)),
        points,
        domain=r"$\eta=10^{-12}$, $\bar\Lambda=10$, two directions; $K=1$, 10, 1000; $E=1$, 5",
        precision=512,
    )


def rounds_weigh_one(context: Context) -> Evidence:
    """ΣΛu over a period is the period; U >= 1/Λ̄, equality just if all weights agree; and wherever p divides K."""

    def find(pattern: tuple[list[int], int]) -> dict[str, Any] | None:
        admissions, K = pattern
        weights, period = total_weights(admissions, K), len(admissions)
        found, even = inverse_effective_rate(admissions, K), Fraction(period, sum(admissions))
        same = len({u for u, admitted in zip(weights, admissions, strict=True) if admitted}) == 1
        fits = sum(u * admitted for u, admitted in zip(weights, admissions, strict=True)) == period
        smooth = inverse_effective_rate(admissions, K * period) == even
        if fits and found >= even and (found == even) == same and smooth:
            return None
        return {
            "weights": weights,
            "U": found,
            "1/Λ̄": even,
            "at K·p": inverse_effective_rate(admissions, K * period),
        }

    return search(
        context,
        {"pattern": patterns()},
        find,
        domain="admissions of period up to 6, $K$ up to 9, no round without samples",
        examples=context.choose(100, 1000),
    )


SYMBOLS = {
    "a": "(1-ηh)^E, what a round leaves of a distance along an eigendirection",
    "v": "stationary noise in units of a sample's variance over Λ̄",
    "h": "an eigenvalue of H",
    "s": "a sample's standard deviation along that eigendirection",
    "d": "the distance of two rounds",
    "u": "what a sample weighs over all its rounds, Σ1/n",
    "U": "the mean of Λu² over a period",
    "p": "the period of the admissions",
    "j": "a round",
}

CLAIMS = [
    Claim(
        id="law:reuse/limits",
        kind="addition",
        title="small steps: $v$ is $(1-a)/2$ whatever $K$; large ones: $1/K$",
        statement=r"As a tends to 1 (small steps), $v/(1-a)$ tends to $\tfrac12$ whatever $K$, and $K$ "
        "enters at second order, by half the mean distance of two rounds of $K$. As a tends to 0 (each "
        "round solves its memory), $v$ tends to $1/K$. At every a keeping samples for $K$ rounds divides "
        "the noise of one round by at most $a^{-(K^2-1)/(3K)}$ and never multiplies it: $K$ matters only "
        "where $K(1-a)$ is not small.",
        formula=said(
            r"v=\frac{1-a}2+\Bigl(\frac14-\frac12\cdot@m\Bigr)(1-a)^2+o((1-a)^2)\ (a\to1),\quad "
            r"v\to\frac1K\ (a\to0),\quad a^{@m}\,\frac{1-a}{1+a}\le v\le\frac{1-a}{1+a}",
            m=mean_lag(K),
        ),
        domain=r"constant admission, quadratic losses with one Hessian, every $K\ge1$ and $0<a<1$",
        sketch="$v$ is $(1-a)/(1+a)$ times the mean of $a^{|}i-j|$ over pairs of $K$ rounds: a number of "
        r"at most 1 that tends to 1 as $a\to1$, while $1/(1+a)\to\tfrac12$. Its slope at $a=1$ is the "
        r"mean of $|i-j|$, $2\sum_{d<K}(K-d)d/K^2=(K^2-1)/(3K)$, which gives the second order. At $a=0$ "
        r"only the $K$ pairs $i=j$ remain, $1/K$ of all. $x\mapsto a^x$ is convex, so by Jensen the mean "
        "is at least a to the mean of $|i-j|$.",
        given=(WRITTEN,),
        checks={
            "small steps": (small_steps, confirming(exact_values)),
            "second order": (second_order, pairs_have_this_mean_distance),
            "large steps": (large_steps, confirming(exact_values)),
            "from below": (
                sums,
                lag_sums,
                pairs,
                pairs_have_this_mean_distance,
                tangent,
                confirming(between),
            ),
            "from above": (at_most_one_round, pairs),
        },
        symbols=SYMBOLS,
    ),
    Claim(
        id="law:reuse/small-steps",
        kind="addition",
        title=r"to first order in $\eta$ only fresh samples count, not $K$",
        statement=r"Under constant admission the noise floor is, to first order in the step size $\eta$, "
        r"$\eta E/4\cdot\sum h^2s^2/\bar\Lambda$: the retention $K$ has left it, and only the number "
        r"$\bar\Lambda$ of fresh samples a round counts. If admissions vary with a period, "
        r"$1/\bar\Lambda$ gives way to $U$, the mean of $\Lambda u^2$, where $u$ is what a sample weighs "
        r"over all its rounds. $U$ is never below $1/\bar\Lambda$, and equal to it just if all samples "
        "weigh the same, as they do wherever the period divides $K$: there retention can restore what "
        "uneven admission spoils, and nothing more.",
        formula=said(
            r"\lim_{\eta\to0}\frac1\eta\cdot\tfrac12\sum_hh\,s_h^2\,\frac{v(a_h,K)}{\bar\Lambda}=\sum_h@floor,\qquad "
            r"U=\frac1p\sum_{j\le p}\Lambda_ju_j^2\ge\frac1{\bar\Lambda}",
            floor=small_step_floor(1 / rate, h=[h], variance=[spread**2], eta=1, E=CONSTANTS.E),
        ),
        domain=r"quadratic losses with one Hessian, every $K$, $E$, $\bar\Lambda$, $\eta\to0$; $U$ for "
        "admissions of any period, some sample in memory in every round",
        sketch=r"$1-a$ is $\eta$hE to first order and $v$ is $(1-a)/2$ to first order, whatever $K$ "
        r"(law:reuse/limits): so $\tfrac12hs^2v/\bar\Lambda$ is $\eta E/4\cdot h^2s^2/\bar\Lambda$. For "
        "admissions of period $p$ the noise is $(1-a)/2$ times $U$ (law:reuse/effective-rate). In every "
        r"round the weights $1/n$ of the $n$ samples in memory add up to 1, so the mean of $\Lambda u$ "
        r"over a period is 1, and mean$(\Lambda u^2)-(\text{mean}\ \Lambda u)^2/\bar\Lambda$ is the mean "
        r"of $\Lambda(u-\bar u)^2$, which is 0 just if every sample weighs $\bar u=1/\bar\Lambda$. Where "
        "$p$ divides $K$ every window of $K$ rounds holds the same number of samples.",
        given=(WRITTEN, SMALL_STEPS),
        checks={
            "constant admission": (floor_over_eta, contraction_to_first_order, confirming(floors_in_balls)),
            "uneven admission": (uneven_weights_cost, confirming(rounds_weigh_one)),
        },
        symbols=SYMBOLS,
    ),
]
