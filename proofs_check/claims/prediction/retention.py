r"""How the stationary noise v(a, K) depends on K (`law:reuse/retention`): it falls, and K·v does not.

So at a given rate longer retention helps, and with full buffers, where the rate is \(\sum B/K\), it does not.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

from proofs_check.claim import WRITTEN, Claim, Context, confirming
from proofs_check.engines.enclosure import compare
from proofs_check.engines.exact import exhaust
from proofs_check.evidence import Evidence
from proofs_check.groundwork.prediction.lags import (
    a,
    lag_sums,
    noise_falls,
    pairs,
    product_does_not_fall,
    sums,
)
from proofs_check.symbols import K
from proofs_check.text import said
from theory.algebra import ball
from theory.law import stationary_noise

CONTRACTIONS = tuple(Fraction(*pair) for pair in ((0, 1), (1, 100), (1, 3), (4, 5), (99, 100), (9999, 10000)))


def falls_by_descartes(context: Context) -> Evidence:
    """K(K+1) + 2Σw(d)a^d, a polynomial in a: its coefficients change their sign once and it is 0 at a = 1.

    By Descartes' rule it has no other positive root, and it is positive at 0: so on all of [0, 1).
    """

    def find(K: int) -> dict[str, Any] | None:
        size = K * (K + 1)
        coefficients = [size, *(2 * (size - (2 * K + 1) * d) for d in range(1, K + 1))]
        signs = [c > 0 for c in coefficients if c]
        changes = sum(before != after for before, after in pairwise(signs))
        at = Fraction(2, 7)
        fall = stationary_noise(at, K) - stationary_noise(at, K + 1)
        scaled = fall * (1 + at) / (1 - at) * size**2
        value = sum(c * at**power for power, c in enumerate(coefficients))
        if changes == 1 and sum(coefficients) == 0 and coefficients[0] > 0 and scaled == value:
            return None
        return {
            "sign changes": changes,
            "at a = 1": sum(coefficients),
            "at a = 2/7": value,
            "v falls": scaled,
        }

    return exhaust(
        ({"K": K} for K in range(1, context.choose(80, 400))),
        find,
        domain=r"all of $0\le a<1$, the $K$ "
        "listed",
    )


def both_on_rationals(context: Context) -> Evidence:
    """Neighbouring K at rational a, a = 0 among them, where K·v stays 1."""

    def find(K: int, a: Fraction) -> dict[str, Any] | None:
        here, next_one = stationary_noise(a, K), stationary_noise(a, K + 1)
        rises = (K + 1) * next_one > K * here if a > 0 else (K + 1) * next_one == K * here
        return None if here > next_one and rises else {"v(K)": here, "v(K+1)": next_one}

    points = ({"K": K, "a": a} for K in range(1, context.choose(40, 200)) for a in CONTRACTIONS)
    return exhaust(points, find, domain=f"K from 1 on, a = {', '.join(map(str, CONTRACTIONS))}")


def _near_one(K: int) -> list[dict[str, Any]]:
    return [{"K": K, "1-a": f"1e-{e}", "e": e} for e in (1, 3, 6, 12, 18)]


def far_out() -> Evidence:
    """Balls at huge K and a next to 1."""
    points = [point for K in (10**3, 10**6, 10**12) for point in _near_one(K)]

    def noise(p: Any, more: int) -> Any:
        return stationary_noise(1 - ball(Fraction(1, 10 ** p["e"])), p["K"] + more)

    return compare(
        lambda p: noise(p, 1),
        "<",
        lambda p: noise(p, 0),
        points,
        domain="$K=10^3$, $10^6$, $10^{12}$; $1-a$ from $10^{-1}$ to $10^{-18}$",
        precision=512,
    )


def far_out_product() -> Evidence:
    """The same for K·v."""
    points = [point for K in (10**3, 10**6, 10**12) for point in _near_one(K)]

    def product(p: Any, more: int) -> Any:
        return (p["K"] + more) * stationary_noise(1 - ball(Fraction(1, 10 ** p["e"])), p["K"] + more)

    return compare(
        lambda p: product(p, 1),
        ">",
        lambda p: product(p, 0),
        points,
        domain="$K=10^3$, $10^6$, $10^{12}$; $1-a$ from $10^{-1}$ to $10^{-18}$",
        precision=512,
    )


CLAIMS = [
    Claim(
        id="law:reuse/retention",
        kind="addition",
        title="the stationary noise falls in $K$, $K$ times it does not",
        statement="Under constant admission the stationary noise $v(a,K)$ falls strictly in $K$, and "
        r"$K\cdot v(a,K)$ never falls (it rises strictly unless $a=0$, where it is 1). So at a given "
        r"rate longer retention lowers the noise floor, and with full buffers, at rate $\sum B/K$, "
        "longer retention never does.",
        formula=said(
            r"v(a,K)=@v,\quad v(a,K+1)<v(a,K),\quad(K+1)\,v(a,K+1)\ge K\,v(a,K)",
            v=stationary_noise(a, K),
        ),
        domain=r"constant admission, quadratic losses with one Hessian, every $K\ge1$ and $0\le a<1$",
        sketch="$v$ is $(1-a)/(1+a)$ times the mean of $a^{|}i-j|$ over all pairs $i$, $j$ of $K$ "
        r"rounds. $K\cdot v$ is $(1-a)/(1+a)$ times $\sum (1-|d|/K)a^{|}d|$ over $|d|<K$, and no term "
        r"falls in $K$: $(K+1)v(K+1)-Kv(K)=2(1-a)/((1+a)K(K+1))\cdot\sum_{d\le K}d\cdot a^d$, which is "
        "positive for $a>0$. For $v$ itself put $w(d)=K(K+1)-(2K+1)d$: $v(K)-v(K+1)$ is "
        r"$(1-a)/((1+a)K^2(K+1)^2)$ times $K(K+1)+2\sum_{d\le K}w(d)a^d$. The weights $w$ fall in $d$ "
        r"and change their sign at $d_0=K(K+1)/(2K+1)$, and $a^d$ falls too, so $(a^d-a_0^d)\cdot "
        r"w(d)\ge0$ for every $d$, and the sum is at least $a_0^d\cdot\sum w=-a_0^d\cdot K(K+1)/2$. What "
        "is left is at least $K(K+1)(1-a_0^d)>0$. (By Descartes' rule, too: as a polynomial in a it has "
        "one change of sign, hence one positive root, and that is $a=1$.) At $a=0$, $v=1/K$.",
        given=(WRITTEN,),
        checks={
            "the sums": (sums, lag_sums, pairs),
            "$v$ falls": (
                noise_falls,
                confirming(falls_by_descartes),
                confirming(both_on_rationals),
                confirming(far_out),
            ),
            r"$K\cdot v$ does not fall": (
                product_does_not_fall,
                confirming(both_on_rationals),
                confirming(far_out_product),
            ),
        },
        symbols={
            "a": r"$(1-\eta h)^E$, what a round leaves of a distance along an eigendirection",
            "v": r"stationary noise in units of a sample's variance over $\bar\Lambda$",
            "d": "a lag: the distance of two rounds",
            "w": "a weight of a lag",
            "j": "a round",
            "d₀": "the lag at which the weights change their sign",
        },
    ),
]
