r"""Clients that differ, with one Hessian (`law:reuse/clients`): which weights are unbiased, and what the bias costs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import WRITTEN, Claim, Given, confirming
from proofs_check.engines.exact import Found, drawn, fractions
from proofs_check.engines.identity import equations
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.prediction.lags import a
from proofs_check.groundwork.prediction.streams import federated
from theory.clients import least_spread, pooled_bias, pooled_spread, weighted_spread
from theory.law import by_age, squared_weights

F = Fraction
p, q, s1, s2 = sp.symbols("p q s_1 s_2", positive=True)  # shares and deviations of two clients
share, part, scaled, c = sp.symbols("share part scaled c", positive=True)  # of one: p, α and αs; and Σαs
x, y, bias, square, goal, mu1, mu2 = sp.symbols("x y bias square goal mu_1 mu_2", real=True)
MEANS, lead = [mu1, mu2], (p * mu1 + q * mu2) / (p + q) - (mu1 + mu2) / 2
mean_square = sp.expand((bias + y) ** 2).subs(y**2, square).subs(y, 0)  # E y = 0
LAW = Given("law:reuse", "that a client's memory mean has the law's weights, whatever its samples' mean")


def spreads() -> Evidence:
    """v/(p+q)·pooled spread, and Σα²·v·s²/rate = v/(p+q)·weighted spread."""
    both, variances = p + q, [s1**2, s2**2]
    pooled, weighted = pooled_spread([p, q], variances), weighted_spread([p, q], [1, 1], variances)
    return equations(
        (pooled / both, (p * s1**2 + q * s2**2) / both**2, "the pooled spread and the variance of the mean"),
        (
            weighted / both,
            (s1**2 / p + s2**2 / q) / 4,
            "the weighted spread and that of two means, half each,",
        ),
        domain="two clients that admit $p$ and $q$ samples per round",
    )


def price_of_no_bias() -> Evidence:
    off = (part - share) ** 2 / share
    return together(
        equations(
            (part**2 / share, off + 2 * part - share, r"$\alpha^2/p$ and $(\alpha-p)^2/p+2\alpha-p$"),
            domain=r"each client; $\sum\alpha=\sum p=1$",
        ),
        always(off > 0, given=[sp.Ne(part, share)], domain=r"a client with $p\ne\alpha$"),
    )


def least_price() -> Evidence:
    part_of_it = scaled**2 / share - 2 * c * scaled + c**2 * share
    best, least = weighted_spread([p * s1, q * s2], [p, q], [s1**2, s2**2]), least_spread([p, q], [s1, s2])
    return equations(
        (part_of_it, (scaled - c * share) ** 2 / share, r"its part of $\sum\alpha^2s^2/p-c^2$ and a square"),
        (best, least, r"the spread at shares in proportion to $\alpha s$ and $(\sum\alpha s)^2$"),
        domain="each client; two clients",
    )


@drawn(
    r"two clients, up to four samples per round, two rounds, every stream; $\theta(1)=\theta^\star$",
    (20, 200),
    counts=st.sampled_from([(1, 1), (1, 2), (2, 1), (3, 1)]),
    means=st.lists(fractions(), min_size=2, max_size=2),
    deviations=st.lists(fractions(), min_size=2, max_size=2),
    part=st.fractions(F(1, 8), F(7, 8), max_denominator=8),
    a=st.fractions(0, F(7, 8), max_denominator=8),
)
def every_stream(counts: tuple[int, int], means: Any, deviations: Any, part: Fraction, a: Fraction) -> Found:
    """Bias² plus noise, with weights n_m/n and with α."""
    rounds, n, population = 2, sum(counts), [part, 1 - part]
    target = sum(q * mean for q, mean in zip(population, means, strict=True))
    variances = [2 * s * s for s in deviations]
    noise, *own = (squared_weights(by_age([size] * rounds, 1), a, rounds) for size in (n, *counts))

    def enumerated(weights: list[Fraction]) -> list[Fraction]:
        clients = list(zip((1, 1), means, deviations, weights, strict=True))
        found = federated(counts, 1, rounds, clients, eta=1 - a, E=1, start=target)
        return [square for _, square in found]

    pooled, weighted = enumerated([F(count, n) for count in counts]), enumerated(population)
    for t in range(1, rounds + 1):
        drift = (1 - a**t) * pooled_bias(counts, population, means)
        first = drift**2 + noise[t] * pooled_spread(counts, variances)
        second = noise[t] * weighted_spread(counts, population, variances)
        apart = sum(q * q * v * mine[t] for q, v, mine in zip(population, variances, own, strict=True))
        if (pooled[t], weighted[t], apart) != (first, second, second):
            return {"t": t, "pooled": pooled[t], "its law": first, "weighted": weighted[t], "other": second}
    return None


CLAIMS = [
    Claim(
        id="law:reuse/clients",
        kind="addition",
        title=r"clients that differ: weights $n_m/n$ are biased, $\alpha$ dearer",
        statement="Let clients have one Hessian but their own means and variances, and constant shares $p$ "
        r"of all admissions. With weights $n_m/n$ the model tends to $\sum p\mu$ in the mean, so the bias "
        r"is $\sum(p-\alpha)\mu$, whatever $K$, $E$ and $\eta$, and vanishes for all means if and only if "
        r"$p=\alpha$; the noise is $v/\bar\Lambda$ times $\sum ps^2$. With weights $\alpha$ there is no "
        r"bias, and the noise is $v/\bar\Lambda$ times $\sum\alpha^2s^2/p$: for one variance "
        r"$1+\sum(\alpha-p)^2/p$ times as much, and least, $(\sum\alpha s)^2$, for shares in proportion to "
        r"$\alpha s$.",
        formula=r"\text{by }n_m/n:\ \Bigl(\sum_m(p_m-\alpha_m)\mu_m\Bigr)^2+\frac v{\bar\Lambda}\sum_mp_ms_m^2;\qquad "
        r"\text{by }\alpha_m:\ \frac v{\bar\Lambda}\sum_m\frac{\alpha_m^2s_m^2}{p_m}\ge"
        r"\frac v{\bar\Lambda}\Bigl(\sum_m\alpha_ms_m\Bigr)^2",
        domain="quadratic losses with one Hessian, constant admission, each client at its own constant "
        "rate and all with one $K$, along an eigendirection, in the long run",
        sketch=r"Each client's $E$ steps take $\theta$ to $a\theta+(1-a)\bar z_m$. Averaged with weights "
        r"$w$ it is one recursion with the goal $\sum w\bar z_m$, whose mean is $\sum w\mu$: "
        r"$\mathbb E\,\theta$ tends to it by a factor $a$ per round. With $w=n_m/n=p$ that is $\sum p\mu$, "
        r"with $w=\alpha$ it is $\theta^\star$. The mean square is the bias squared plus the variance. "
        "With weights $n_m/n$ a sample has the law's weight whatever its client, so each adds $c^2s^2$ "
        r"with its own variance: $\sum ps^2$ times the law's $\sum c^2$. With weights $\alpha$ the "
        r"clients' memory means are independent, each with the law of its own rate $p\bar\Lambda$, "
        r"$v/(p\bar\Lambda)$, and weights $\alpha^2$. $\sum\alpha=\sum p=1$ gives "
        r"$\sum\alpha^2/p-1=\sum(\alpha-p)^2/p$, and $\sum(\alpha s-cp)^2/p=\sum\alpha^2s^2/p-c^2\ge0$ "
        r"with $c=\sum\alpha s$.",
        given=(WRITTEN, LAW),
        checks={
            "bias": (
                lambda: equations(
                    (
                        a * (x + goal) + (1 - a) * goal - goal,
                        a * x,
                        "the distance from the goal after a round",
                    ),
                    (
                        pooled_bias([p, q], [1, 1], MEANS),
                        lead,
                        r"theory's bias and where $n_m/n$ lead, less $\theta^\star$",
                    ),
                    domain="every $a$; two clients of one size",
                ),
                lambda: equations(
                    (mean_square, bias**2 + square, "the mean square and its parts"),
                    domain=r"$\mathbb E\,y=0$, $\mathbb E\,y^2$ the variance",
                ),
                confirming(every_stream),
            ),
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
