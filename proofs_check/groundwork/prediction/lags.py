r"""The stationary noise: v(a, K) for all K and a at once, and that of admissions that repeat, exactly.

Write \(g_K=\sum_{d\le K}a^d\) and \(r_K=\sum_{d\le K}da^d\). Both have closed forms, by induction over K.
With period p and retention K a sample of round j has, g rounds later, the weight \((1-a)\sum_da^{g-d}/n(j+d)\) over the
rounds d = 0..min(g, K-1) in which it was used; once it is gone that falls by \(a^p\) a period.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.engines.argument import Evidence, argument, equations, symbolic_sum
from proofs_check.symbols import K, rate
from theory.algebra import ratio
from theory.law import lag_sum, stationary_noise

__all__ = [
    "AVERAGED",
    "EVERY",
    "PATTERNS",
    "SUMS",
    "SYMBOLS",
    "a",
    "d",
    "geometric",
    "lag_sums",
    "long_run_noise",
]
__all__ += ["noise_falls", "pairs", "patterns", "product_rises", "ramp", "sums", "uneven_weights_cost"]

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
AVERAGED = SYMBOLS | {
    "E": "local steps per round; before a bracket: expectation over all streams",
    "S": "the size of the memory, or of a burst",
    "b": "a sample's weight in the mean of models",
    "p": "a model's weight in the mean",
    "u": r"what a unit of $\theta(\tau)$ is worth in the mean; at 1, what is left of the start",
    "α": "$1-a$ of a round",
    "γ": "the power by which weights grow",
    "ω": "a sample's weight in the same mean of the memories' means",
    "θ̄": "the mean of models",
    "θ̂": "a learner's estimate",
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
    return argument(
        (growth, factor * ramp(K), r"the growth of $Kv$ and $\sum da^d$", EVERY), (factor > 0, [a < 1], EVERY)
    )


@cache
def noise_falls() -> Evidence:
    """v(K) - v(K+1), in units of (1-a)/(1+a)/(K(K+1))², is K(K+1) + 2Σ_{d<=K}w(d)a^d with w(d) = K(K+1)-(2K+1)d.

    w changes its sign once, at d₀ = K(K+1)/(2K+1), and a^d falls in d: so w·a^d >= w·q with q = a^d₀ < 1, term by
    term, and Σw = -K(K+1)/2.
    """
    w, p, q, total = sp.symbols("w p q total", real=True)  # w(d), a^d, a^d₀ and Σw·a^d
    size = K * (K + 1)
    weight, scale = size - (2 * K + 1) * d, (1 - a) / ((1 + a) * size**2)
    fall = stationary_noise(a, K) - stationary_noise(a, K + 1)
    weighted = scale * (size + 2 * (size * geometric(K) - (2 * K + 1) * ramp(K)))
    either = sp.Or(sp.And(w >= 0, p >= q), sp.And(w <= 0, p <= q))
    return argument(
        (fall, weighted, "the fall of $v$ and the sum with weights $w$", EVERY),
        (symbolic_sum(weight, d, 1, K), -size / 2, r"$\sum w$ and $-K(K+1)/2$", EVERY),
        (weight.subs(d, size / (2 * K + 1)), 0, "$w$ at $d_0$ and 0", EVERY),
        (w * p >= w * q, [either], r"every $d$: $a^d\ge a^{d_0}$, $d\le d_0$ and $w\ge0$ are the same"),
        (scale * (size + 2 * total) > 0, [a < 1, q < 1, total >= -q * size / 2], EVERY),
    )


# period, retention: constant; uneven at K below, at and above the period; bursts; one burst a period
PATTERNS: list[tuple[tuple[int, ...], int]] = [((3,), 2), *(((1, 3), kept) for kept in (1, 2, 3, 5))]
PATTERNS += [((4, 0, 1), 2), ((0, 5), 2), ((2, 1, 1, 6), 3)]


def patterns(period: int = 6, kept: int = 9) -> st.SearchStrategy[Any]:
    """Pairs (admissions of one period, K) with some sample in memory in every round."""
    pairs = st.tuples(st.lists(st.integers(0, 5), min_size=1, max_size=period), st.integers(1, kept))
    return pairs.filter(lambda pair: all(_occupancy(*pair)))


def _occupancy(admissions: Sequence[int], kept: int) -> list[int]:
    period = len(admissions)
    return [sum(admissions[(j - d) % period] for d in range(kept)) for j in range(period)]


def long_run_noise(admissions: Sequence[int], kept: int, a: Any, phase: int = -1) -> Any:
    """Σc² after a round of this phase, once rounds without end have gone before."""
    period, n = len(admissions), _occupancy(admissions, kept)

    def square(gone: int) -> Any:
        """Of all samples admitted so many rounds ago."""
        entered = phase - gone
        used = (ratio(1, n[(entered + d) % period]) * a ** (gone - d) for d in range(min(gone + 1, kept)))
        return admissions[entered % period] * sum(used) ** 2

    young = sum(square(gone) for gone in range(kept - 1))
    old = sum(square(gone) for gone in range(kept - 1, kept - 1 + period))
    return (1 - a) ** 2 * (young + old / (1 - a ** (2 * period)))


def uneven_weights_cost() -> Evidence:
    """The mean of Λ(u-ū)² with ū = mean Λu/mean Λ is mean(Λu²) - (mean Λu)²/mean Λ, and mean Λu is 1."""
    admitted = sp.Symbol("admitted", positive=True)
    weight, middle, squares = sp.symbols("weight middle squares", real=True)
    off = admitted * (weight - middle) ** 2
    parts = admitted * weight**2 - 2 * middle * (admitted * weight) + middle**2 * admitted
    means = (squares - 2 * middle * 1 + middle**2 * rate).subs(middle, 1 / rate)
    averaged = r"mean $\Lambda=\bar\Lambda$, mean $\Lambda u=1$"
    uneven = r"a round whose samples weigh more or less than $\bar u$; elsewhere it is 0"
    return argument(
        (off, parts, r"a round's $\Lambda(u-\bar u)^2$ and its parts, to be averaged,", averaged),
        (means, squares - 1 / rate, r"the parts' means and $U-1/\bar\Lambda$", averaged),
        (off > 0, [sp.Ne(weight, middle)], uneven),
        (K * (1 / (K * rate)), 1 / rate, "a sample's weight", r"$p$ divides $K$, so $n=K\bar\Lambda$"),
    )
