r"""Clients that differ, with one Hessian (`law:reuse/clients`): which weights are unbiased, and what the bias costs.

Weights \(n_m/n\) lead to the mean of the samples that come; weights \(\alpha_m\) to the population's minimiser, at a
price in variance.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import WRITTEN, Claim, Context, Given, confirming
from proofs_check.engines.exact import fractions, search
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.prediction.lags import a
from proofs_check.text import said
from theory.clients import least_spread, pooled_bias, pooled_spread, weighted_spread
from theory.law import Cohorts, by_age, squared_weights

F = Fraction
p, q, s1, s2, rate = sp.symbols("p q s_1 s_2 rate", positive=True)  # shares and deviations of two clients
x, bias, goal, mu1, mu2 = sp.symbols("x bias goal mu_1 mu_2", real=True)
LAW = Given("law:reuse", "that a client's memory mean has the law's weights, whatever its samples' mean")
CHANCE, UP, DOWN = (
    F(1, 3),
    F(2),
    F(-1),
)  # a sample is its client's mean plus s times one of these: mean 0, variance 2


# --- the bias ----------------------------------------------------------------------------------------------


def the_mean_goes() -> Evidence:
    """Eθ' = aEθ + (1-a)·goal, so Eθ - goal falls by a factor a a round: to the weighted mean of the clients' means."""
    return together(
        equal(
            a * (x + goal) + (1 - a) * goal - goal,
            a * x,
            domain="every $a$",
            what="the distance after a round",
        ),
        equal(
            pooled_bias([p, q], [1, 1], [mu1, mu2]),
            (p * mu1 + q * mu2) / (p + q) - (mu1 + mu2) / 2,
            domain="two clients of one size",
            what=r"theory's bias and where $n_m/n$ lead, less $\theta^{\star}$",
        ),
    )


def risk_splits() -> Evidence:
    """E(θ-θ*)² is the squared bias plus the variance."""
    y, square = sp.symbols("y square", real=True)
    expected = sp.expand((bias + y) ** 2).subs(y**2, square).subs(y, 0)
    return equal(
        expected,
        bias**2 + square,
        domain="$E$ $y=0$, $E$ $y^2$ = square",
        what="the mean square and its parts",
    )


# --- the noise ---------------------------------------------------------------------------------------------


def spreads() -> Evidence:
    """Two clients at the rates p and q: v/(p+q)·pooled spread, and Σα²·v·s²/rate = v/(p+q)·weighted spread."""
    variances = [s1**2, s2**2]
    return together(
        equal(
            pooled_spread([p, q], variances) / (p + q),
            (p * s1**2 + q * s2**2) / (p + q) ** 2,
            domain="a round's mean of $p+q$ samples",
            what="the pooled spread and the variance of the mean",
        ),
        equal(
            weighted_spread([p, q], [1, 1], variances) / (p + q),
            s1**2 / (4 * p) + s2**2 / (4 * q),
            domain="two means of $p$ and $q$ samples, half each",
            what="the weighted spread and the variance of the average",
        ),
    )


def price_of_no_bias() -> Evidence:
    """Σα²/p = 1 + Σ(α-p)²/p, client by client; so with one variance it is never below Σp = 1."""
    share, part = sp.symbols("share part", positive=True)
    return together(
        equal(
            part**2 / share,
            (part - share) ** 2 / share + 2 * part - share,
            domain=r"each client; $\sum \alpha=\sum p=1$",
            what=r"$\alpha^2/p$ and $(\alpha-p)^2/p+2\alpha-p$",
        ),
        always(
            (part - share) ** 2 / share > 0,
            given=[sp.Ne(part, share)],
            domain="a client with "
            r"$p\ne\alpha$",
        ),
    )


def least_price() -> Evidence:
    """Shares in proportion to αs give (Σαs)², and no others less: Σα²s²/p - 2cαs + c²p is a sum of squares, c = Σαs."""
    share, scaled, c = sp.symbols("share scaled c", positive=True)  # p, αs and Σαs
    return together(
        equal(
            scaled**2 / share - 2 * c * scaled + c**2 * share,
            (scaled - c * share) ** 2 / share,
            domain=r"each client; summed, $\sum \alpha^2s^2/p-c^2$",
            what="the excess and a square",
        ),
        equal(
            weighted_spread([p * s1, q * s2], [p, q], [s1**2, s2**2]),
            least_spread([p, q], [s1, s2]),
            domain=r"two clients, shares in proportion to $\alpha s$",
            what=r"the weighted spread and $(\sum \alpha s)^2$",
        ),
    )


# --- sample by sample --------------------------------------------------------------------------------------


def _streams(samples: int) -> list[tuple[Fraction, tuple[Fraction, ...]]]:
    values = {UP: CHANCE, DOWN: 1 - CHANCE}
    return [
        (prod((values[v] for v in drawn), start=F(1)), drawn) for drawn in product(values, repeat=samples)
    ]


def _mean_squares(
    counts: Sequence[int],
    rounds: int,
    means: Sequence[Any],
    deviations: Sequence[Any],
    a: Any,
    weights: Any,
    target: Any,
) -> list[Fraction]:
    """E(θ(t)-θ*)² over all streams, θ(1) = θ*; each client admits its count in every round and uses it once."""
    total = [F(0)] * (rounds + 1)
    for chance, drawn in _streams(sum(counts) * rounds):
        theta, at = target, 0
        for t in range(1, rounds + 1):
            goal = F(0)
            for m, count in enumerate(counts):
                mine = drawn[at : at + count]
                at += count
                goal += weights[m] * (means[m] + deviations[m] * sum(mine) / count)
            theta = a * theta + (1 - a) * goal
            total[t] += chance * (theta - target) ** 2
    return total


def every_stream(context: Context) -> Evidence:
    """Two clients, two rounds, every stream: bias² plus noise, with weights n_m/n and with α."""

    def find(
        counts: tuple[int, int], means: list[Any], deviations: list[Any], part: Fraction, a: Fraction
    ) -> Any:
        rounds, n, population = 2, sum(counts), [part, 1 - part]
        target = sum(q * mean for q, mean in zip(population, means, strict=True))
        variances = [2 * s * s for s in deviations]
        noise = squared_weights(by_age([n] * rounds, 1), a, rounds)
        own: list[Cohorts] = [by_age([count] * rounds, 1) for count in counts]
        pooled = _mean_squares(counts, rounds, means, deviations, a, [F(c, n) for c in counts], target)
        weighted = _mean_squares(counts, rounds, means, deviations, a, population, target)
        for t in range(1, rounds + 1):
            drift = (1 - a**t) * pooled_bias(counts, population, means)
            first = drift**2 + noise[t] * pooled_spread(counts, variances)
            second = noise[t] * weighted_spread(counts, population, variances)
            apart = sum(
                q * q * v * squared_weights(c, a, rounds)[t]
                for q, v, c in zip(population, variances, own, strict=True)
            )
            if (pooled[t], weighted[t]) != (first, second) or second != apart:
                return {
                    "t": t,
                    "pooled": pooled[t],
                    "its law": first,
                    "weighted": weighted[t],
                    "other": second,
                }
        return None

    pairs = st.lists(fractions(), min_size=2, max_size=2)
    return search(
        context,
        {
            "counts": st.sampled_from([(1, 1), (1, 2), (2, 1), (3, 1)]),
            "means": pairs,
            "deviations": pairs,
            "part": st.fractions(F(1, 8), F(7, 8), max_denominator=8),
            "a": st.fractions(0, F(7, 8), max_denominator=8),
        },
        find,
        domain="two clients, up to four samples a round, two rounds, every stream; "
        r"$\theta(1)=\theta^{\star}$",
        examples=context.choose(20, 200),
    )


CLAIMS = [
    Claim(
        id="law:reuse/clients",
        kind="addition",
        title=r"clients that differ: weights $n_m/n$ are biased, $\alpha$ dearer",
        statement="Let clients have one Hessian but their own means and variances, and constant shares "
        r"$p$ of all admissions. With weights $n_m/n$ the model tends to $\sum p\mu$ in the mean, so the "
        r"bias is $\sum (p-\alpha)\mu$, whatever $K$, $E$ and $\eta$, and vanishes for all means just if "
        r"$p=\alpha$; the noise is $v/\bar\Lambda$ times $\sum ps^2$. With weights $\alpha$ there is no "
        r"bias, and the noise is $v/\bar\Lambda$ times $\sum \alpha^2s^2/p$: for one variance $1+\sum "
        r"(\alpha-p)^2/p$ times as much, and least, $(\sum \alpha s)^2$, for shares in proportion to "
        r"$\alpha s$.",
        formula=said(
            r"\text{by }n_m/n:\ \Bigl(\sum_m(p_m-\alpha_m)\mu_m\Bigr)^2+\frac v{\bar\Lambda}\sum_mp_ms_m^2;\qquad "
            r"\text{by }\alpha_m:\ \frac v{\bar\Lambda}\sum_m\frac{\alpha_m^2s_m^2}{p_m}\ge"
            r"\frac v{\bar\Lambda}\Bigl(\sum_m\alpha_ms_m\Bigr)^2",
        ),
        domain="quadratic losses with one Hessian, constant admission, each client at its own constant "
        "rate and all with one $K$, along an eigendirection, in the long run",
        sketch=r"Each client's $E$ steps take $\theta$ to $a\theta+(1-a)\bar z_m$. Averaged with weights "
        r"$w$ it is one recursion with the goal $\sum w\cdot\bar z_m$, whose mean is $\sum w\mu$: "
        r"$E\theta$ tends to it by a factor a a round. With $w=n_m/n=p$ that is $\sum p\mu$, with "
        r"$w=\alpha$ it is $\theta^{\star}$. The mean square is the bias squared plus the variance. With "
        "weights $n_m/n$ a sample has the law's weight whatever its client, so each adds $c^2s^2$ with "
        r"its own variance: $\sum ps^2$ times the law's $\sum c^2$. With weights $\alpha$ the clients' "
        r"memory means are independent, each with the law of its own rate $p\bar\Lambda$, "
        r"$v/(p\bar\Lambda)$, and weights $\alpha^2$. $\sum \alpha=\sum p=1$ gives $\sum "
        r"\alpha^2/p-1=\sum (\alpha-p)^2/p$, and $\sum (\alpha s-cp)^2/p=\sum \alpha^2s^2/p-c^2\ge0$ "
        r"with $c=\sum \alpha s$.",
        given=(WRITTEN, LAW),
        checks={
            "bias": (the_mean_goes, risk_splits, confirming(every_stream)),
            "noise": (spreads, confirming(every_stream)),
            "the price of no bias": price_of_no_bias,
            "the best shares": least_price,
        },
        symbols={
            "v": "stationary noise of constant admission (law:reuse/retention)",
            "p": "a client's share of all admissions",
            "s": "a client's standard deviation along the eigendirection",
            "μ": "a client's mean along the eigendirection",
            "n": "samples in memory, the client's over all clients'",
        },
    ),
]
