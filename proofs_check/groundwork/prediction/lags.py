r"""Sums over lags under constant admission, and how the stationary noise v(a, K) depends on K: for all K and a at once.

Write \(g_K=\sum_{d\le K}a^d\) and \(r_K=\sum_{d\le K}da^d\). Both have closed forms, by induction over K.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from proofs_check.engines.identity import equal, symbolic_sum
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.symbols import K
from theory.law import lag_sum, stationary_noise

__all__ = [
    "EVERY",
    "a",
    "geometric",
    "lag_sums",
    "noise_falls",
    "pairs",
    "product_does_not_fall",
    "ramp",
    "sums",
]

a = sp.Symbol("a", positive=True)
d = sp.Symbol("d", integer=True, positive=True)
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
    return together(
        equal(geometric(0), 0, domain="no terms", what=r"$\sum a^d$ and 0"),
        equal(
            geometric(K + 1) - geometric(K),
            a ** (K + 1),
            domain=EVERY,
            what=r"one term more of $\sum "
            "a^d$",
        ),
        equal(ramp(0), 0, domain="no terms", what=r"$\sum d\cdot a^d$ and 0"),
        equal(
            ramp(K + 1) - ramp(K),
            (K + 1) * a ** (K + 1),
            domain=EVERY,
            what=r"one term more of $\sum "
            r"d\cdot a^d$",
        ),
    )


@cache
def lag_sums() -> Evidence:
    """theory's Σ_{d<K}(K-d)a^d is 0 for K = 1 and grows by Σ_{d<=K}a^d from K to K+1."""
    return together(
        equal(lag_sum(a, 1), 0, domain="$K=1$", what="the sum over lags and 0"),
        equal(
            lag_sum(a, K + 1) - lag_sum(a, K),
            geometric(K),
            domain=EVERY,
            what=r"the growth and $\sum "
            "a^d$",
        ),
    )


@cache
def pairs() -> Evidence:
    """v is (1-a)/(1+a) times the mean of a^|i-j| over all pairs of K rounds: K pairs i = j, 2(K-d) at distance d."""
    return together(
        equal(
            stationary_noise(a, K),
            (1 - a) / (1 + a) * (K + 2 * lag_sum(a, K)) / K**2,
            domain=EVERY,
            what="$v$ and the mean over pairs",
        ),
        equal(
            K + 2 * symbolic_sum(K - d, d, 1, K - 1),
            K**2,
            domain="every $K$",
            what="the number of pairs and $K^2$",
        ),
    )


@cache
def product_does_not_fall() -> Evidence:
    """(K+1)v(K+1) - Kv(K) is Σd·a^d times what is positive."""
    factor = 2 * (1 - a) / ((1 + a) * K * (K + 1))
    return together(
        equal(
            (K + 1) * stationary_noise(a, K + 1) - K * stationary_noise(a, K),
            factor * ramp(K),
            domain=EVERY,
            what=r"the growth of $Kv$ and $\sum d\cdot a^d$",
        ),
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
        equal(
            stationary_noise(a, K) - stationary_noise(a, K + 1),
            scale * (size + 2 * (size * geometric(K) - (2 * K + 1) * ramp(K))),
            domain=EVERY,
            what="the fall of $v$ and the sum with weights $w$",
        ),
        equal(symbolic_sum(weight, d, 1, K), -size / 2, domain="every $K$", what=r"$\sum w$ and $-K(K+1)/2$"),
        equal(weight.subs(d, size / (2 * K + 1)), 0, domain="every $K$", what="$w$ at $d_0$ and 0"),
        always(
            w * p >= w * q,
            given=[sp.Or(sp.And(w >= 0, p >= q), sp.And(w <= 0, p <= q))],
            domain=r"every $d$: $a^d\ge a_0^d$ just if $d\le d_0$, just if $w\ge0$",
        ),
        always(
            scale * (size + 2 * total) > 0,
            given=[a < 1, q < 1, total >= -q * size / 2],
            domain=EVERY,
        ),
    )
