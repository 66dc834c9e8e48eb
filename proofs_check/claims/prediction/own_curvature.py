r"""Samples with curvatures of their own, used again (`law:reuse/curvature`, `law:reuse/curvature-noise`).

A sample in memory for the second time meets a θ that it has moved itself, so its curvature and that θ are correlated.
That slows the mean path and shifts it, to first order in 1/n, and changes the noise by a factor 1 + O(1/n).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.claim import WRITTEN, Claim, Context, confirming
from proofs_check.engines.exact import exhaust
from proofs_check.engines.identity import equal, symbolic_sum
from proofs_check.engines.limit import tends_to
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.prediction.curvatures import (
    INDEPENDENT,
    PAIR,
    TRIPLE,
    Kinds,
    Stream,
    followed,
    means,
    moments_of_a_mean,
)
from proofs_check.groundwork.prediction.lags import a, geometric, sums
from proofs_check.symbols import CONSTANTS, K, rate
from proofs_check.text import said
from theory.curved import (
    first_order,
    local_pull,
    local_shift,
    mean_contraction,
    noise_correction,
    own_weight,
    path_rest,
    square_rest,
    stationary_bias,
)
from theory.law import Cohorts, by_age

F = Fraction
E, eta = CONSTANTS.E, CONSTANTS.eta
h, spread = sp.symbols("h w", positive=True)
tilt, noise, skew, x, g = sp.symbols("tilt noise skew x g", real=True)
p, r, delta, size = sp.symbols("p r delta n", positive=True)
d = sp.Symbol("d", integer=True, positive=True)
EVERY = r"every $K$, $E$, $\eta$, $\bar\Lambda$ and all moments"


def _average(expression: Any) -> Any:
    """Over one sample: E x² = w, E xg = tilt, E g² = noise, E x = E g = 0."""
    polynomial = sp.Poly(sp.expand(expression), x, g)
    known = {(0, 0): 1, (1, 0): 0, (0, 1): 0, (2, 0): spread, (1, 1): tilt, (0, 2): noise}
    return sum(coefficient * known[powers] for powers, coefficient in polynomial.terms())


# --- the mean path -----------------------------------------------------------------------------------------


def one_sample() -> Evidence:
    """What a sample has moved δ by is linear in it, and its mean product with its part of the contraction is theory's.

    With a(h̄) = a + a'ε + ½a''ε² and b(h̄) = b + b'ε: a sample's part of δ(t) is a'x·r - b·g·p.
    """
    slope, bend, b, b_slope = sp.symbols("slope bend b b_slope", real=True)  # a', a'', b and b'
    before = slope * x * r - b * g * p
    reused = _average(slope * x * before)
    local = _average((bend * x**2 / 2) * delta - b_slope * x * g)
    return together(
        equal(
            a * before + (slope * x * delta - b * g) / size,
            slope * x * (a * r + delta / size) - b * g * (a * p + 1 / size),
            domain="a round in which the sample is used",
            what="its part after the round, and $p$ and $r$ moved on",
        ),
        equal(
            reused,
            slope**2 * spread * r - slope * b * tilt * p,
            domain="each sample used before",
            what=r"$\mathbb E[a^{\prime}x\cdot\ \text{its}\ \text{part}\ \text{of}\ \delta]$",
        ),
        equal(
            local, bend * spread * delta / 2 - b_slope * tilt, domain="each sample", what="the local terms"
        ),
        equal(
            _average(before**2),
            slope**2 * spread * r**2 - 2 * slope * b * tilt * r * p + b**2 * noise * p**2,
            domain="each sample",
            what="the variance of its part",
        ),
    )


def two_readings() -> Evidence:
    """Leaving the sample out, E[h²] stands where Var h does otherwise: its own part of the mean path is left out too.

    For E = 1: a sample shows g + hδ. Without it the path is δ - D with D = -η(g·p + h_i·r'), r' the sum over δ(s).
    """
    curvature = h + x
    own = -eta * (g * p + curvature * r)
    without = delta - _average(own)  # its mean
    left_out = h * without + _average(curvature * own)
    return together(
        equal(
            left_out,
            h * delta - eta * (tilt * p + spread * r),
            domain="every sample used before, $E=1$",
            what="what a sample shows, by the path without it and by the whole path",
        ),
        equal(
            _average(curvature * own),
            -eta * (tilt * p + (spread + h**2) * r),
            domain="$E=1$",
            what=r"the leave-one-out term, with $\mathbb E[h^2]=\mathrm{Var}$ $h+h^2$",
        ),
    )


STREAMS: tuple[tuple[tuple[tuple[int, ...], ...], int, int], ...] = (
    (((1,), (1,), (1,)), 2, 1),
    (((1,), (0,), (2,)), 3, 1),
    (((2,), (0,), (1,), (0,)), 1, 1),
    (((1, 1), (0, 1)), 2, 1),
    (((1, 1), (0, 1)), 2, 2),
    (((1, 0), (0, 1)), 1, 2),
    (((1,), (0,)), 2, 3),
)


def _cohorts(admissions: Any, K: int) -> list[Cohorts]:
    return [by_age(list(mine), K) for mine in zip(*admissions, strict=True)]


def _orders(
    kinds: Kinds, admissions: Any, K: int, start: Fraction, eta: Fraction, E: int
) -> dict[str, Any] | None:
    """Both expectations over every stream, as polynomials in 1/λ: the first two coefficients, and where they end."""
    stream, rounds = Stream(admissions, K, kinds, start, eta, E), len(admissions)
    expected = first_order(_cohorts(admissions, K), rounds, kinds.moments, start=start, eta=eta, E=E)
    found = means(stream, 2 * rounds * E + 1)
    for t, (mean, square) in enumerate(found):
        law, orders = expected.law[t], [mean[0], mean[1], square[0], square[1]]
        wanted = [law, expected.mean[t], law**2, expected.square[t]]
        if orders != wanted or any(mean[rounds * E :]) or square[-1]:
            return {"t": t + 1, "found": orders, "theory's": wanted}
    return None


def every_stream(context: Context) -> Evidence:
    """E δ(t) and E δ(t)² at every t; bursts, empty rounds, several clients and local steps."""

    def points() -> Iterator[dict[str, Any]]:
        for admissions, kept, steps in STREAMS:
            for kinds in context.choose((PAIR,), (PAIR, TRIPLE, INDEPENDENT)):
                for start in context.choose((F(2),), (F(0), F(2))):
                    yield {
                        "kinds": kinds,
                        "admissions": admissions,
                        "K": kept,
                        "start": start,
                        "eta": F(1, 2),
                        "E": steps,
                    }
        for kinds in (TRIPLE, INDEPENDENT):
            yield {"kinds": kinds, "admissions": ((1,), (1,)), "K": 2, "start": F(1), "eta": F(1), "E": 1}

    return exhaust(
        points(),
        _orders,
        domain="seven patterns of admissions of one or two clients, $K$ from 1 to 3, $E$ from 1 to 3, "
        r"two and three kinds of samples; every stream, admissions times $\lambda$",
    )


# --- in the long run ---------------------------------------------------------------------------------------


def own_weights() -> Evidence:
    """ψ is the sum over lags of (K-d)/(K²Λ̄)·a^(d-1), and φ/m₀ that of (K-d)/(K²Λ̄)/a; below 1/(2Λ̄)."""
    lags = symbolic_sum(K - d, d, 1, K - 1)
    return together(
        equal(own_weight(a, 1, rate), 0, domain="$K=1$", what=r"$\psi$ and 0"),
        equal(
            (K + 1) ** 2 * own_weight(a, K + 1, rate) - K**2 * own_weight(a, K, rate),
            (1 + geometric(K - 1)) / rate,
            domain="every $K$",
            what=r"one lag more of $K^2\psi$ and $\sum a^{d-1}$ over $d\le K$",
        ),
        equal(
            lags / (K**2 * rate),
            (K - 1) / (2 * K * rate),
            domain="every $K$",
            what=r"$\sum "
            r"(K-d)/(K^2\bar\Lambda)$ and its sum",
        ),
        always((K - 1) / (2 * K * rate) < 1 / (2 * rate), domain=r"every $K$ and $\bar\Lambda$"),
    )


def long_run() -> Evidence:
    """theory's contraction and bias solve the recursion of the mean for constant admission, M clients."""
    clients = sp.Symbol("M", positive=True)
    q = sp.Symbol("q", positive=True)
    at, left = (1 - q) / eta, q**E  # h and a
    pull, shift = local_pull(at, eta, E), local_shift(at, eta, E)
    bend, b = E * (E - 1) * eta**2 * q ** (E - 2), (1 - left) / at
    kept, weight = K * rate, sp.Symbol("psi", positive=True)
    bias = stationary_bias(rate, K, h=at, tilt=tilt, eta=eta, E=E, clients=clients)
    psi = own_weight(left, K, rate)
    return together(
        equal(
            bias - left * bias,
            (tilt * (pull * b * weight + shift * clients / kept)).subs(weight, psi),
            domain=EVERY,
            what="$(1-a)$·bias and what a round adds",
        ),
        equal(
            mean_contraction(rate, K, h=at, spread=spread, eta=eta, E=E, clients=clients) - left,
            spread * (pull**2 * (K - 1) / (2 * K * rate) / left + bend / 2 * clients / kept),
            domain=EVERY,
            what="what a round adds to the mean path, over it",
        ),
        equal(
            stationary_bias(rate, K, h=h, tilt=tilt, eta=eta),
            eta * own_weight(1 - eta * h, K, rate) * tilt / h,
            domain="$E=1$",
            what=r"the bias and $\eta\psi\mathbb E[hg]/h$",
        ),
    )


def relative_error_grows() -> Evidence:
    """Over the law's path the first order gains at least Var h·(a'/a)²(K-1)/(2KΛ̄) a round: it is not bounded in t."""
    t, gained, most = sp.symbols("t gain most", positive=True)
    gain = (mean_contraction(rate, K, h=h, spread=spread, eta=eta) / (1 - eta * h) - 1).subs(h, (1 - a) / eta)
    return together(
        equal(
            gain,
            spread * eta**2 * (K - 1) / (2 * K * rate * a**2),
            domain="$E=1$, every $K$",
            what="the relative gain a round",
        ),
        always(
            spread * eta**2 * (K - 1) / (2 * K * rate * a**2) > 0,
            given=[K > 1],
            domain=r"$K\ge2$, "
            r"$\mathrm{Var}$ $h>0$",
        ),
        always(
            t * gained > most, given=[t > most / gained], domain="after most/gain rounds, whatever most is"
        ),
    )


# --- the order ---------------------------------------------------------------------------------------------


def unrolled() -> Evidence:
    """(a + ζ)P - a·a^m = a(P - a^m) + ζP: one factor ζ more at each turn; the weights of m rounds add up."""
    P, zeta, power, y = sp.symbols("P zeta power y")
    return together(
        equal(
            (a + zeta) * P - a * power,
            a * (P - power) + zeta * P,
            domain="every round",
            what="a product's distance from a power of $a$",
        ),
        *(
            equal(
                sp.diff(1 / (1 - y), y, j) / sp.factorial(j),
                1 / (1 - y) ** (j + 1),
                domain="$|y|<1$",
                what=f"Σ binom(m, {j}) y^(m-{j})",
            )
            for j in (1, 2, 3, 4)
        ),
    )


def overlaps() -> Evidence:
    """Three means share at most n₁ samples: common/(n₁n₂n₃) <= 1/n² where all hold n at least; E ε⁴ <= (3w²+μ₄)/n²."""
    common, n1, n2, n3, least = sp.symbols("common n1 n2 n3 least", positive=True)
    var, fourth, count = sp.symbols("var fourth count", positive=True)
    return together(
        always(
            common / (n1 * n2 * n3) <= 1 / least**2,
            given=[common <= n1, n2 >= least, n3 >= least],
            domain="any three memories",
        ),
        always(
            3 * var**2 / count**2 + (fourth - 3 * var**2) / count**3 <= (3 * var**2 + fourth) / count**2,
            given=[count >= 1],
            domain=r"every $n\ge1$",
        ),
    )


def _long(context: Context, find: Any, domain: str) -> Evidence:
    points = (
        {"kinds": kinds, "K": kept, "n": n, "start": start}
        for kinds in (PAIR, TRIPLE, INDEPENDENT)
        for kept in (1, 2)
        for n in context.choose((1, 2), (1, 2, 4))
        for start in (F(0), F(1))
    )
    return exhaust(points, find, domain=domain)


def uniformly(context: Context) -> Evidence:
    """Round by round for 25 rounds: the rests of both are within theory's bounds."""
    rounds, step = context.choose(25, 60), F(1, 2)

    def find(kinds: Kinds, K: int, n: int, start: Fraction) -> dict[str, Any] | None:
        m, rho = kinds.moments, 1 - step * min(value[0] for value in kinds.values)
        law = first_order([by_age([n] * rounds, K)], rounds, m, start=start, eta=step)
        most = path_rest(m, tails=kinds.tails, start=start, eta=step, rho=rho, size=n)
        widest = square_rest(m, tails=kinds.tails, eta=step, rho=rho, size=n)
        found = followed(Stream(((n,),), K, kinds, start, step), rounds, n)
        for t, (mean, square) in enumerate(found):
            off = abs(mean - law.law[t] - law.mean[t])
            wide = abs(square - law.square[t]) if start == 0 else 0
            if not (off <= most and wide <= widest):
                return {"t": t + 1, "rest": off, "bound": most, "of the square": wide, "its bound": widest}
        return None

    return _long(
        context,
        find,
        f"three populations, K = 1, 2, {rounds} rounds of 1 and 2 samples, η = 1/2; θ(1) - θ* = 0, 1",
    )


# --- the noise ---------------------------------------------------------------------------------------------


def second_order(context: Context) -> Evidence:
    """The coefficient of 1/λ² of E δ², from a start at the minimiser, over every stream."""

    def find(kinds: Kinds, admissions: Any, K: int) -> dict[str, Any] | None:
        rounds, step = len(admissions), F(1, 2)
        stream = Stream(admissions, K, kinds, F(0), step)
        _, polynomial = means(stream, 2 * rounds + 1)[-1]
        first, *others = _cohorts(admissions, K)
        expected = noise_correction(sum(others, first), rounds, kinds.moments, eta=step)
        return None if polynomial[:3:2] == [0, expected] else {"found": polynomial[2], "theory's": expected}

    points = [
        {"kinds": PAIR, "admissions": admissions, "K": kept}
        for admissions, kept, steps in STREAMS
        if steps == 1
    ]
    points += [{"kinds": kinds, "admissions": ((1,), (1,)), "K": 2} for kinds in (TRIPLE, INDEPENDENT)]
    return exhaust(
        points, find, domain="four patterns of admissions, $K$ from 1 to 3, and two more populations"
    )


def without_reuse() -> Evidence:
    """K = 1: S' = (a² + η²w/n)S + η²E[g²]/n, whose limit over the law's is 1 + η²w/(n(1-a²)) to first order."""
    count, t = sp.symbols("n t", positive=True)
    factor = a**2 + eta**2 * spread / count
    limit = eta**2 * noise / count / (1 - factor)
    law = eta**2 * noise / count / (1 - a**2)
    return together(
        equal(
            limit,
            factor * limit + eta**2 * noise / count,
            domain="every $n$",
            what="the limit and a round more",
        ),
        tends_to(
            (count * (limit / law - 1)).subs(count, t),
            t,
            eta**2 * spread / (1 - a**2),
            what="$n$·(noise/law $-1$)",
            domain=r"$n\to\infty$",
        ),
    )


def law_is_no_smaller() -> Evidence:
    """The samples of the last round have c >= (1-a)/n, so Σc² >= (1-a)²/n: the rest over it is O(1/n)."""
    weight, count = sp.symbols("weight count", positive=True)
    return together(
        always(
            count * weight**2 >= (1 - a) ** 2 / count,
            given=[a < 1, weight >= (1 - a) / count],
            domain="the $n$ samples of the last round",
        ),
        equal(
            (1 - a).subs(a, 1 - eta * h) ** 2 * noise / h**2,
            eta**2 * noise,
            domain="$E=1$",
            what=r"the law's least noise times $n$, and $\eta^2\mathbb E[g^2]$",
        ),
    )


SYMBOLS = {
    "a": "(1-ηh)^E, what a round leaves of a distance",
    "h": "the mean curvature along the direction",
    "g": "a sample's gradient at the minimiser",
    "w": "the variance of a sample's curvature, Var h",
    "b": "(1-a)/h; b' and a' are slopes in h",
    "m": "the mean of the distance; m₀ is the law's, m₁ of first order",
    "m₀": "the law's mean distance",
    "m₁": "what the first order in 1/n adds to it",
    "ψ": "mean over the memory of Σa^(t-1-s)/n(s), over the earlier rounds s of a sample",
    "φ": "the same with m₀(s) in each term",
    "M": "clients that have samples",
    "S": "the law's noise, E[g²]Σc²/h²",
    "δ": "distance from the minimiser",
}
MODEL = (
    r"losses with gradients $g+h\delta$ along one direction, $(h,g)$ i.i.d., $E$ $g=0$; admissions blind "
    "to values; "
)

CLAIMS = [
    Claim(
        id="law:reuse/curvature",
        kind="addition",
        title="reused curvatures slow the mean path and shift it, by $O(1/n)$",
        statement="Let samples have their own curvatures. To first order in $1/n$ the mean path is the "
        "law's plus $m_1$, for any admissions, $K$, $E$ and clients: where samples are used again it is "
        r"slowed by $\mathrm{Var}$ $h$ and shifted by $\mathbb E[hg]$; both vanish with all $h_i$ equal. "
        r"(Leaving the sample itself out of the path, $\mathbb E[h^2]$ stands where $\mathrm{Var}$ $h$ "
        "does: the same to this order.) $A$ sample has pulled by what it showed then, not by what it "
        r"shows now. Under constant admission with one step the contraction gains $\eta^2\mathrm{Var}$ "
        r"$h\cdot(K-1)/(2K\bar\Lambda a)$ and the path ends $\eta\psi\mathbb E[hg]/h$ from the "
        r"minimiser. For $E=1$ and $|1-\eta h_i|\le\rho<1$, what is left is below a constant over $n^2$ "
        "at every $t$, the constant being explicit. Relative to the law's path, which vanishes, the "
        "correction is not bounded in $t$.",
        formula=said(
            r"m_1(t+1)=a\,m_1(t)+a'^2w\,\varphi(t)-a'b\,\mathbb E[hg]\,\psi(t)"
            r"+\tfrac{M}{n}\bigl(\tfrac12a''w\,m_0(t)-b'\,\mathbb E[hg]\bigr);\quad "
            r"E=1,\ \text{constant admission: contraction }@c,\ \text{bias }@b",
            c=mean_contraction(rate, K, h=h, spread=spread, eta=eta),
            b=eta * sp.Symbol("ψ", positive=True) * sp.Symbol("E[hg]", positive=True) / h,
        ),
        domain=MODEL
        + r"$0\le\eta h\le1$, moments up to the order in which a sample enters; the explicit rest for "
        "$E=1$, $n$ the fewest samples in memory",
        sketch=r"$E$ steps take $\delta$ to $a(\bar h)\delta-b(\bar h)\bar g$. Expanded at $h$, a "
        r"sample's part of $\delta(t)$ is $a^{\prime}x\cdot r-b\cdot g\cdot p$, $x=h_i-h$, $r$ and $p$ "
        r"being sums over its earlier rounds. Samples are independent and centred, so $\mathbb "
        r"E[a^{\prime}\varepsilon\cdot\delta]$ is the sum of each one's own products: $a^{\prime "
        r"2}w\cdot r-a^{\prime}b\cdot\mathbb E[hg]\cdot p$, averaged over the memory; the second order "
        r"of one round's own steps adds $a^{\prime \prime}w/2$ and $-b^{\prime}\mathbb E[hg]$ over $n_m$ "
        "for each client, $M/n$ in all. A joint cumulant of $k$ means over memories is a number of "
        r"shared samples over $k$ occupancies, of order $n^{1-k}$: so, all admissions times $\lambda$, "
        r"$E$ $\delta(t)$ is a polynomial in $1/\lambda$, and nothing else is of first order. For the "
        r"bound write $P$ for the product of $a+\zeta$, $\zeta=-\eta\varepsilon$, and replace it by "
        r"$a^m+\sum a^{,\ldots,\zeta}P$: terms with two $\zeta$ (one $\zeta$ and $\bar g$) are the "
        r"correction, with three (two and $\bar g$) have the mean of a third cumulant, at most $1/n^2$ "
        "times a moment, and the rest has four factors, at most $H^4/n^2$ $(H^3G/n^2)$ by Hölder; "
        r"$|P|\le\rho^m$, and the weights of $m$ rounds add up to powers of $1/(1-a)$ and $1/(1-\rho)$.",
        given=(WRITTEN,),
        checks={
            "first order": (one_sample, confirming(every_stream)),
            "two readings": two_readings,
            "in the long run": (sums, own_weights, long_run),
            "the rest": (unrolled, overlaps, moments_of_a_mean, confirming(uniformly)),
            "not relative": relative_error_grows,
        },
        symbols=SYMBOLS,
    ),
    Claim(
        id="law:reuse/curvature-noise",
        kind="addition",
        title="curvatures that differ change the noise by $1+O(1/n)$",
        statement="From a start at the minimiser, with one step a round, the law is the first order of "
        r"$E$ $\delta^2$ whatever the curvatures; what is left is below an explicit constant over $n^2$ "
        r"at every $t$, and the law's own is at least $\eta^2\mathbb E[g^2]/n$: a relative error of "
        "$O(1/n)$, uniformly in $t$, if memories are of comparable size. The second order itself is "
        r"theory's `noise_correction`: a third moment, $\mathbb E[(h_i-h)g^2]$, and products of "
        r"$\mathrm{Var}$ $h$, $\mathbb E[g^2]$ and $\mathbb E[hg]$. Without reuse $(K=1)$ its limit is "
        r"the law's times $\eta^2\mathrm{Var}$ $h/(n(1-a^2))$.",
        formula=said(
            r"\Bigl|\mathbb E\,\delta(t)^2-S(t)\Bigr|\le\frac{C}{n^2},\qquad K=1:\ "
            r"\lim_{t}\mathbb E\,\delta(t)^2=\frac{S}{1-\frac{\eta^2w}{n(1-a^2)}}",
        ),
        domain=MODEL + r"$E=1$, $\theta(1)=\theta^{\star}$, $0\le\eta h\le1$, $|1-\eta h_i|\le\rho<1$, "
        "fourth moments; the second order for any such admissions, checked on those listed",
        sketch=r"$\delta=y+z+\ldots$, $y$ being linear in the samples: $E$ $y^2$ is the law. $E$ "
        r"$\delta^2-E$ $y^2=2\mathbb E[y(\delta-y)]+E(\delta-y)^2$. $\mathbb E[yz]$ is a third cumulant, "
        r"at most $|\mathbb E[xg^2]|/(h^3n^2)$; what remains has four factors and is bounded as for the "
        "mean path, by $H^2G^2/n^2$. The samples of the last round have weights of at least $(1-a)/n$ "
        r"each, which gives the law's least. The second order is $2\mathbb E[yz]+\mathbb E[z^2]+2\mathbb "
        "E[yw]$ with the fourth moments taken pair by pair: that no other term is of this order is "
        r"argued, and seen on every stream of the patterns listed. For $K=1$ contraction and $\theta$ "
        r"are independent: $S^{\prime}=\mathbb E[(1-\eta\bar h)^2]S+\eta^2\mathbb E[g^2]/n$.",
        given=(WRITTEN,),
        checks={
            "the rest": (unrolled, overlaps, moments_of_a_mean, confirming(uniformly)),
            "relative": law_is_no_smaller,
            "second order": second_order,
            "without reuse": without_reuse,
        },
        symbols={
            **SYMBOLS,
            "C": r"a constant of the moments, $\eta$ and $\rho$ "
            "(theory.curved.square_rest)",
        },
    ),
]
