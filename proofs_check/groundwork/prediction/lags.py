r"""Sums over lags under constant admission, and how the stationary noise v(a, K) depends on K: for all K and a at once.

Write \(g_K=\sum_{d\le K}a^d\) and \(r_K=\sum_{d\le K}da^d\). Both have closed forms, by induction over K.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from proofs_check.engines.identity import equal, equations, symbolic_sum
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.symbols import K
from theory.law import lag_sum, stationary_noise

__all__ = ["EVERY", "SUMS", "SYMBOLS", "a", "d", "geometric", "lag_sums"]
__all__ += ["noise_falls", "pairs", "product_rises", "ramp", "sums"]

a = sp.Symbol("a", positive=True)
d = sp.Symbol("d", integer=True, positive=True)
SYMBOLS = {
    "a": r"$(1-\eta h)^E$, what a round leaves of a distance along an eigendirection",
    "c": r"a sample's weight in $\theta$",
    "d": "a lag: the distance of two rounds",
    "h": "an eigenvalue of $H$",
    "j": "a round",
    "p": "the period of the admissions",
    "s": "a sample's standard deviation along that eigendirection",
    "u": r"what a sample weighs over all its rounds, $\sum1/n$",
    "U": r"the mean of $\Lambda u^2$ over a period",
    "v": r"stationary noise in units of a sample's variance over $\bar\Lambda$",
}
EVERY = r"every $K\ge1$ and $0<a<1$"


def geometric(last: Any) -> Any:
    """a + a² + … + a^last."""
    return (a - a ** (last + 1)) / (1 - a)


def ramp(last: Any) -> Any:
    """a + 2a² + … + last·a^last."""
    return a * (1 - (last + 1) * a**last + last * a ** (last + 1)) / (1 - a) ** 2


@cache
def sums() -> Evidence:
    """Both closed forms: nothing for no terms, and one term more from K to K+1."""
    return equations(
        (geometric(0), 0, r"$\sum a^d$ over no terms and 0"),
        (geometric(K + 1) - geometric(K), a ** (K + 1), r"one term more of $\sum a^d$"),
        (ramp(0), 0, r"$\sum da^d$ over no terms and 0"),
        (ramp(K + 1) - ramp(K), (K + 1) * a ** (K + 1), r"one term more of $\sum da^d$"),
        domain=EVERY,
    )


@cache
def lag_sums() -> Evidence:
    r"""theory's \(\sum_{d<K}(K-d)a^d\), by induction over K."""
    return equations(
        (lag_sum(a, 1), 0, "the sum over lags at $K=1$ and 0"),
        (lag_sum(a, K + 1) - lag_sum(a, K), geometric(K), r"its growth and $\sum_{d\le K}a^d$"),
        domain=EVERY,
    )


@cache
def pairs() -> Evidence:
    """v is (1-a)/(1+a) times the mean of a^|i-j| over all pairs of K rounds: K pairs i = j, 2(K-d) at distance d."""
    mean = (1 - a) / (1 + a) * (K + 2 * lag_sum(a, K)) / K**2
    return equations(
        (stationary_noise(a, K), mean, "$v$ and the mean over pairs"),
        (K + 2 * symbolic_sum(K - d, d, 1, K - 1), K**2, "the number of pairs and $K^2$"),
        domain=EVERY,
    )


SUMS = (sums, lag_sums, pairs)


@cache
def product_rises() -> Evidence:
    factor = 2 * (1 - a) / ((1 + a) * K * (K + 1))
    growth = (K + 1) * stationary_noise(a, K + 1) - K * stationary_noise(a, K)
    return together(
        equal(growth, factor * ramp(K), domain=EVERY, what=r"the growth of $Kv$ and $\sum da^d$"),
        always(factor > 0, given=[a < 1], domain=EVERY),
    )


@cache
def noise_falls() -> Evidence:
    """v(K) - v(K+1), in units of (1-a)/(1+a)/(K(K+1))², is K(K+1) + 2Σ_{d<=K}w(d)a^d with w(d) = K(K+1)-(2K+1)d.

    w changes its sign once, at d₀ = K(K+1)/(2K+1), and a^d falls in d: so w·a^d >= w·q with q = a^d₀ < 1, term by
    term, and Σw = -K(K+1)/2.
    """
    w, p, q, total = sp.symbols("w p q total", real=True)  # w(d), a^d, a^d₀ and Σw·a^d
    size = K * (K + 1)
    weight = size - (2 * K + 1) * d
    scale = (1 - a) / ((1 + a) * size**2)
    return together(
        equations(
            (
                stationary_noise(a, K) - stationary_noise(a, K + 1),
                scale * (size + 2 * (size * geometric(K) - (2 * K + 1) * ramp(K))),
                "the fall of $v$ and the sum with weights $w$",
            ),
            (symbolic_sum(weight, d, 1, K), -size / 2, r"$\sum w$ and $-K(K+1)/2$"),
            (weight.subs(d, size / (2 * K + 1)), 0, "$w$ at $d_0$ and 0"),
            domain=EVERY,
        ),
        always(
            w * p >= w * q,
            given=[sp.Or(sp.And(w >= 0, p >= q), sp.And(w <= 0, p <= q))],
            domain=r"every $d$: $a^d\ge a^{d_0}$ if and only if $d\le d_0$, if and only if $w\ge0$",
        ),
        always(scale * (size + 2 * total) > 0, given=[a < 1, q < 1, total >= -q * size / 2], domain=EVERY),
    )
