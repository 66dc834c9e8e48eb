r"""How far apart two policies inside the region can be (`thm:dpp-regret/spread`): all that V can change.

Every policy inside the region has each round's terms in a range (`groundwork.every_policy`). The ranges' widths, summed
over all rounds, are of order \(h\log h\) with \(h=1/(1-\rho)\), whatever T; the constants can be written down
(`theory.transient.spread_bound`), and nothing of T/V is left.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, partial
from typing import Any

import sympy as sp

from proofs_check.claim import WRITTEN, Claim, Context, confirming
from proofs_check.engines.enclosure import compare
from proofs_check.engines.exact import regions, retentions, search
from proofs_check.engines.identity import equal
from proofs_check.engines.limit import tends_to
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.control.inside_region import histories, placed
from proofs_check.groundwork.regret.envelope import mismatch_range, round_range, spread
from proofs_check.groundwork.regret.every_policy import every_policy
from proofs_check.groundwork.regret.orders import RATIONAL, links
from proofs_check.groundwork.regret.transient import (
    fewest_samples,
    h,
    most_samples,
    powers_fall,
    s,
    third_term,
)
from proofs_check.symbols import CONSTANTS, REGION, K, rate
from proofs_check.text import said
from theory.algebra import ball, log_plus, precise
from theory.bound import PER_ROUND, round_terms
from theory.lambert import lambert_partial
from theory.reuse import trajectory
from theory.setting import Region
from theory.transient import spread_bound
from theory.violation import cost_violation_rate

x, F, M, S, w, k = sp.symbols("x F M S w k", positive=True)
ALONG = Region(rate=rate, rho=1 - 1 / h)
EVERY = r"every $K$, $\bar\Lambda$, $D$, $\sigma$, $\eta$, $E$, $B$, $\mathrm{Pdim}$, $\rho$"
LOW, HIGH = mismatch_range(k, x, 1, F, M, stated=False)  # of χ, in units of 1/Λ̄


# --- a round -----------------------------------------------------------------------------------------------


@cache
def early() -> Evidence:
    """Up to s = 2h the width is at most the upper end, since χ >= 0: 1/(k(1-x)) + 1/F, and its root (1 + that)/2."""
    y = sp.Symbol("y", positive=True)
    return together(
        always(1 / (k * (1 - x)) + 1 / F >= HIGH, domain="every round"),
        equal(
            1 / (k * (1 - x)),
            1 / k + x / (1 - x) / k,
            domain="every round",
            what="$1/(k(1-x))$ and $1/k+a$ Lambert term",
        ),
        always(
            2 * h / (s * (s + 1)) + 2 / (s + 1) >= 1 / F,
            given=[s * (s + 1) / (2 * (h + s)) <= F],
            domain=r"every $s$: $\sum 1/(s(s+1))=1$ by telescoping",
        ),
        equal(1 / (s * (s + 1)), 1 / s - 1 / (s + 1), domain="every $s$", what="$1/(s(s+1))$"),
        always(
            1 / (s + 1) <= 1 / y,
            given=[y <= s + 1],
            domain="on $[s,s+1]$: "
            r"$\sum_{s\le2h}1/(s+1)\le\log(1+2h)$",
        ),
        always(sp.sqrt(y) <= (1 + y) / 2, domain="the root term"),
    )


@cache
def first_rounds() -> Evidence:
    """Rounds t < K: the oldest admission is that of round 1, x = ρ and F = 1-ρ = 1/h, so the width is at most 2h."""
    return always(
        1 / (k * (1 - x)) + 1 / F <= 2 * h,
        given=[sp.Eq(x, 1 - 1 / h), sp.Eq(F, 1 / h), k >= 1],
        domain="$t=k<K$",
    )


@cache
def late() -> Evidence:
    """From s = 2h on: x <= 1/3, F >= s/2, s <= M <= F + w. The width is 2x/(K(1-x)) + 6w/s² + 11x/h at most."""
    return together(
        always(
            x <= sp.Rational(1, 3),
            given=[x <= h / (h + s), s >= 2 * h],
            domain=r"$x=\rho^s$, "
            r"$s\ge2h$",
        ),
        always(2 * w / s**2 >= 1 / F - 1 / M, given=[s / 2 <= F, s <= M, w >= M - F], domain=r"$s\ge2h$"),
        always(
            (1 / (1 - x) ** 2 - 1) / F <= 9 * x / s,
            given=[x <= sp.Rational(1, 3), s / 2 <= F],
            domain=r"$s\ge2h$",
        ),
        always((1 - (1 - x) ** 2) / M <= 2 * x / s, given=[s <= M], domain=r"$s\ge2h$"),
        always((1 / (1 - x) - (1 - x)) / k <= 2 * x / (k * (1 - x)), given=[x < 1], domain="every round"),
        equal(
            HIGH - LOW,
            (1 / (1 - x) - (1 - x)) / k
            + (2 + 1 / k) * (1 / F - 1 / M)
            + (1 + 1 / k) * ((1 / (1 - x) ** 2 - 1) / F + (1 - (1 - x) ** 2) / M),
            domain="every round",
            what="the width and its parts",
        ),
        always(
            (2 + 1 / k) * 2 * w / s**2 + (1 + 1 / k) * 11 * x / s <= 6 * w / s**2 + 11 * x / h,
            given=[k >= 1, s >= 2 * h],
            domain=r"$s\ge2h$",
        ),
        always(
            sp.Rational(2, 3) / k <= HIGH,
            given=[x < 1, F <= M, M >= 3],
            domain=r"$t\ge s\ge3$: so $\sqrt{\ }$high $-\sqrt{\ }$low $\le\sqrt{3K/2}$·(high - low)",
        ),
        _roots(),
        always(s / 2 <= F, given=[s - h + 1 <= F, s >= 2 * h], domain=r"$s\ge2h$"),
    )


def _roots() -> Evidence:
    P, Q = sp.symbols("P Q", positive=True)  # √high, √low
    return always(
        sp.sqrt(3 * k / 2) * (P**2 - Q**2) >= P - Q,
        given=[P >= Q, sp.Rational(2, 3) / k <= P**2],
        domain=r"$P^2$ = high, $Q^2=[\text{low}]^{+}$",
    )


@cache
def late_sums() -> Evidence:
    """Σ_{s>2h} 1/s² <= 3/(4h), by its first term and its integral; Σρ^s <= h; w = K-1+S+h."""
    rho = 1 - 1 / h
    return together(
        equal(sp.diff(-1 / s, s), 1 / s**2, domain=r"$s\ge2h$", what=r"$\int$ and $1/s^2$"),
        always(
            1 / (2 * h) ** 2 + 1 / (2 * h) <= sp.Rational(3, 4) / h,
            given=[h >= 1],
            domain="every "
            r"$\rho$",
        ),
        equal(rho / (1 - rho), h - 1, domain=r"every $\rho$", what=r"$\sum_{s\ge1}\rho^s$ and $h-1$"),
        always(
            K - 1 + S + h >= M - F,
            given=[s + K - 1 + S >= M, s - h + 1 <= F],
            domain=r"$t=s+K-1$, $M\le t+S$",
        ),
        always(
            s / (2 * h) * (2 * h + w) >= s + w,
            given=[s >= 2 * h],
            domain=r"$M\le(s/2h)\cdot(2h+K-1+S)$ from $s=2h$ on",
        ),
    )


@cache
def third_first() -> Evidence:
    """Rounds t < K: 1/√F = √h."""
    return always(1 / sp.sqrt(F) <= sp.sqrt(h), given=[1 / h <= F], domain=r"$t<K$: $F=1-\rho=1/h$")


# --- all rounds --------------------------------------------------------------------------------------------


def assembled() -> Evidence:
    """theory.transient.spread_bound, put together from the links: each sum where it belongs."""
    found, c, size = spread_bound(K, ALONG, CONSTANTS), CONSTANTS.merged, h * sp.log(2 * h)
    wide = K - 1 + size + h
    begin = (K - 1) * 2 * h + (2 * h + size) / K + 2 * h * 1 + 2 * sp.log(1 + 2 * h)
    end = 2 * size / K + 6 * wide * sp.Rational(3, 4) / h + 11 * h / h
    third = (K - 1) + sp.Rational(5, 2) * (1 + sp.log(2 * h)) + sp.Rational(9, 2) * wide / h
    logarithm = sp.sqrt(1 + log_plus(rate * (2 * h + K - 1 + size) / c.Pdim))
    expected = {
        "root": c.D * c.sigma / sp.sqrt(rate) * ((K - 1 + 2 * h + begin) / 2 + sp.sqrt(3 * K / 2) * end),
        "linear": c.eta * c.sigma**2 / rate * (begin + end),
        "generalisation": 10 * c.B * sp.sqrt(c.Pdim / rate) * logarithm * sp.sqrt(h) * third,
    }
    return together(
        *(
            equal(getattr(found, name), value, domain=EVERY, what=f"the bound's {name} term and its links")
            for name, value in expected.items()
        )
    )


def order() -> Evidence:
    """The bound over the stated rate, as h grows: finite, so it is of that order, uniformly in T."""
    bound, scale = spread_bound(K, ALONG, CONSTANTS), cost_violation_rate(ALONG.rho)
    c = CONSTANTS.merged
    limits = {
        "root": c.D * c.sigma / sp.sqrt(rate) * (1 / (2 * K) + 2 * sp.sqrt(sp.Rational(3, 2) / K)),
        "linear": 3 * c.eta * c.sigma**2 / (K * rate),
        "generalisation": 0,
    }
    return together(
        *(
            tends_to(getattr(bound, name) / scale, h, value, what=f"bound/rate, {name}", domain=EVERY)
            for name, value in limits.items()
        )
    )


def inside(context: Context) -> Evidence:
    """Policies drawn inside the region: each of their rounds, term by term, in the range whose width is summed."""

    def outside(K: int, region: Region, positions: list[Fraction]) -> Any:
        path = trajectory(placed(region, positions), K)
        numbers, exact = RATIONAL.merged.map(ball), region.map(ball)
        for t, (N, uniformity, chi) in enumerate(
            zip(path.N, path.uniformity, path.mismatch, strict=True), start=1
        ):
            with precise():
                terms = round_terms(ball(chi), ball(1 / (N * uniformity)), ball(N), numbers)
                beyond = ball(lambert_partial(region.rho, t + 1))
                low, high = round_range(K, ball(t), exact, beyond, numbers, stated=False)
            for name in PER_ROUND:
                least, value, most = (getattr(x, name) for x in (low, terms, high))
                if least > value or value > most:
                    return {"t": t, "term": name, "value": value, "low": least, "high": most}
        return None

    return search(
        context,
        {"K": retentions(4), "region": regions(), "positions": histories(8).filter(bool)},
        outside,
        domain=f"any admissions inside the region, constants {RATIONAL}",
        examples=context.choose(25, 200),
    )


def certified(context: Context) -> Evidence:
    """The certified width of the range, summed over T rounds, against theory's bound."""

    def bound(p: Any) -> Any:
        with precise():
            return spread_bound(p["K"], _region(p["e"]).map(ball), RATIONAL.map(ball)).total

    return compare(
        lambda p: spread(p["K"], _region(p["e"]), p["T"], RATIONAL, stated=False),
        "<=",
        bound,
        [
            {"K": k, "1 - rho": f"1e-{e}", "e": e, "T": T}
            for k, e in context.choose([(3, 2)], [(1, 1), (3, 2), (10, 4), (2, 6)])
            for T in context.choose((10**6,), (10**3, 10**12))
        ],
        domain=f"Λ̄ = 7/2, constants {RATIONAL}",
    )


def _region(power: int) -> Region:
    return Region(rate=Fraction(7, 2), rho=1 - Fraction(1, 10**power))


RATE = cost_violation_rate(REGION.rho)

CLAIMS = [
    Claim(
        id="thm:dpp-regret/spread",
        kind="addition",
        title=r"what $V$ can change: $O(\log(1/(1-\rho))/(1-\rho))$, not $T/V$",
        statement="The bounds of two policies inside the region differ by at most order "
        r"$\log(1/(1-\rho))/(1-\rho)$, uniformly in $T$; so this is all that $V$, or the policy, can "
        "change.",
        formula=said(
            r"\bigl|\bar{\mathcal E}_T(\pi)-\bar{\mathcal E}_T(\pi')\bigr|=O\Bigl(@rate\Bigr)",
            rate=RATE,
        ),
        domain=r"two policies inside the region, $K\bar\Lambda=\sum B$, with $\chi$; every $T$, and "
        r"$\rho\to1$ at fixed $K$, $\bar\Lambda$ and constants",
        checks={
            "every policy": (partial(every_policy, stated=False), confirming(inside)),
            "first two terms": links(
                powers_fall, fewest_samples, most_samples, early, first_rounds, late, late_sums
            ),
            "third term": links(third_term, most_samples, third_first, late_sums),
            "the order": (links(assembled, order), confirming(certified)),
        },
        given=(WRITTEN,),
        sketch=r"In round $t$ write $k=\min(t,K)$, $s=t-k+1$ for the oldest admission in memory, "
        r"$x=\rho^s$, $h=1/(1-\rho)$, $S=\sum \rho^j/(1-\rho^j)\le h\cdot\log2h$, and count samples in "
        r"units of $\bar\Lambda$. Every policy: each admission in memory lies between $1-x$ and "
        r"$1/(1-x)$, $F\le N_{\mathrm{eff}}\le M$ with $F=\sum_{j\le s}(1-\rho^j)$, $M=t+S$, and so "
        r"$\chi$ between low $=(1-x)/k+1/M-(k+1)/(k(1-x)^2F)$, or 0, and high "
        "$=1/(k(1-x))+1/F-(k+1)(1-x)^2/(kM)$. Two policies differ in a round by at most the width of "
        r"this range. Early rounds, $s\le2h$: the width is at most high $\le1/(k(1-x))+1/F$. In the "
        "$K-1$ rounds before $K$ that is at most $2h$. After, $1/(1-x)=1+x/(1-x)$ adds up to $2h+S$ over "
        r"$2h$ rounds, and $1/F\le2h/(s(s+1))+2/(s+1)$ to $2h+2\log(1+2h)$: `early` in "
        "theory.transient.spread_bound. The root of a width is at most (1+width)/2. Late rounds, $s>2h$: "
        r"$x\le1/3$, $F\ge s/2$, $M-F\le w=K-1+S+h$, so the width is at most $2x/(K(1-x))+6w/s^2+11x/h$, "
        r"which adds up to $2S/K+9w/(2h)+11$: `late`; and high $\ge2/(3K)$, so the roots differ by at "
        r"most $\sqrt{3K/2}$ times the width. Third term: it falls in $N$ where $N_{\mathrm{eff}}=N$, "
        r"and grows in $1/N_{\mathrm{eff}}$ and $\log N$, so it lies between those of $1/M$ and $1/F$ "
        r"with $M$ in the logarithm, and its width is $10B\sqrt{\mathrm{Pdim}/\bar\Lambda}\cdot "
        r"L(M)(1/\sqrt{F}-1/\sqrt{M})$, $L(M)=\sqrt{1+\log^{+}(\bar\Lambda M/\mathrm{Pdim})}$: "
        r"$\sqrt{h}$ in the first $K-1$ rounds, then $(5/2)\sqrt{h}/s$ up to $2h$ and $w\cdot s^{-3/2}$ "
        r"beyond, with $L(M)\le L(h+w)\cdot\sqrt{2}\cdot(s/2h)^{1/4}$ there, $(9/2)w/\sqrt{h}$ in all. "
        r"Everything is $O(h\cdot\log h)$, $S$ being the largest part, whatever $T$.",
    ),
]
