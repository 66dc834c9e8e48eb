r"""How the stationary noise v(a, K) depends on K (`law:reuse/retention`): it falls, and K·v does not.

So at a given rate longer retention helps, and with full buffers, where the rate is \(\sum B/K\), it does not.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

from proofs_check.claim import WRITTEN, Claim, confirming
from proofs_check.engines.enclosure import compare
from proofs_check.engines.exact import Found, by_profile, everywhere, grid, unless
from proofs_check.evidence import Evidence
from proofs_check.groundwork.prediction.lags import SUMS, SYMBOLS, a, noise_falls, product_rises
from proofs_check.symbols import K
from proofs_check.text import said
from theory.algebra import ball
from theory.law import stationary_noise

CONTRACTIONS = tuple(Fraction(*pair) for pair in ((0, 1), (1, 100), (1, 3), (4, 5), (99, 100), (9999, 10000)))


@everywhere(r"all of $0\le a<1$, the $K$ listed", K=by_profile(range(1, 80), range(1, 400)))
def falls_by_descartes(K: int) -> Found:
    """K(K+1) + 2Σw(d)a^d, a polynomial in a: its coefficients change their sign once and it is 0 at a = 1.

    By Descartes' rule it has no other positive root, and it is positive at 0: so on all of [0, 1).
    """
    size, at = K * (K + 1), Fraction(2, 7)
    coefficients = [size, *(2 * (size - (2 * K + 1) * d) for d in range(1, K + 1))]
    signs = [c > 0 for c in coefficients if c]
    changes = sum(before != after for before, after in pairwise(signs))
    fall = (stationary_noise(at, K) - stationary_noise(at, K + 1)) * (1 + at) / (1 - at) * size**2
    value = sum(c * at**power for power, c in enumerate(coefficients))
    true = changes == 1 and sum(coefficients) == 0 and coefficients[0] > 0 and fall == value
    return unless(true, changes=changes, at_one=sum(coefficients), at_two_sevenths=value, fall=fall)


@everywhere(
    f"$K$ from 1 on, $a$ one of {', '.join(map(str, CONTRACTIONS))}",
    K=by_profile(range(1, 40), range(1, 200)),
    a=CONTRACTIONS,
)
def on_rationals(K: int, a: Fraction) -> Found:
    """a = 0 is among them, where K·v stays 1."""
    here, after = stationary_noise(a, K), stationary_noise(a, K + 1)
    rises = (K + 1) * after > K * here if a > 0 else (K + 1) * after == K * here
    return unless(here > after and rises, here=here, after=after)


def far_out(relation: Any, power: int) -> Evidence:
    """Balls at huge K and a next to 1: K^power·v at K+1 and at K."""

    def noise(p: Any, more: int) -> Any:
        return (p["K"] + more) ** power * stationary_noise(1 - ball(Fraction(1, 10 ** p["e"])), p["K"] + more)

    points = grid(K=(10**3, 10**6, 10**12), e=(1, 3, 6, 12, 18))
    domain = r"$K=10^3,10^6,10^{12}$; $1-a=10^{-e}$ from $10^{-1}$ to $10^{-18}$"
    return compare(
        lambda p: noise(p, 1), relation, lambda p: noise(p, 0), points, domain=domain, precision=512
    )


CLAIMS = [
    Claim(
        id="law:reuse/retention",
        kind="addition",
        title="the stationary noise $v$ falls in $K$, $Kv$ does not",
        statement="Under constant admission the stationary noise $v(a,K)$ falls strictly in $K$, and "
        "$Kv(a,K)$ never falls (it rises strictly unless $a=0$, where it is 1). So at a given rate longer "
        r"retention lowers the noise floor, and with full buffers, at rate $\sum B/K$, longer retention "
        "never does.",
        formula=said(
            r"v(a,K)=@v,\quad v(a,K+1)<v(a,K),\quad(K+1)\,v(a,K+1)\ge K\,v(a,K)",
            v=stationary_noise(a, K),
        ),
        domain=r"constant admission, quadratic losses with one Hessian, every $K\ge1$ and $0\le a<1$",
        sketch="$v$ is $(1-a)/(1+a)$ times the mean of $a^{|i-j|}$ over all pairs $i$, $j$ of $K$ rounds. "
        r"$Kv$ is $(1-a)/(1+a)$ times $\sum(1-|d|/K)a^{|d|}$ over $|d|<K$, and no term falls in $K$: "
        r"$(K+1)v(K+1)-Kv(K)=2(1-a)/((1+a)K(K+1))\sum_{d\le K}da^d$, which is positive for $a>0$. For $v$ "
        "itself put $w(d)=K(K+1)-(2K+1)d$: $v(K)-v(K+1)$ is $(1-a)/((1+a)K^2(K+1)^2)$ times "
        r"$K(K+1)+2\sum_{d\le K}w(d)a^d$. The weights $w$ fall in $d$ and change their sign at "
        r"$d_0=K(K+1)/(2K+1)$, and $a^d$ falls too, so $(a^d-a^{d_0})w(d)\ge0$ for every $d$, and the sum "
        r"is at least $a^{d_0}\sum w=-a^{d_0}K(K+1)/2$. What is left is at least $K(K+1)(1-a^{d_0})>0$. "
        "(By Descartes' rule, too: as a polynomial in $a$ it has one change of sign, hence one positive "
        "root, and that is $a=1$.) At $a=0$, $v=1/K$.",
        given=(WRITTEN,),
        checks={
            "the sums": SUMS,
            "$v$ falls": (
                noise_falls,
                confirming(falls_by_descartes),
                confirming(on_rationals),
                confirming(lambda: far_out("<", 0)),
            ),
            "$Kv$ does not fall": (
                product_rises,
                confirming(on_rationals),
                confirming(lambda: far_out(">", 1)),
            ),
        },
        symbols={**SYMBOLS, "w": "a weight of a lag", "d₀": "the lag at which the weights change their sign"},
    ),
]
