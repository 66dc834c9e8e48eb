r"""A round of Ω₂: what theory's two comparison sequences are, and how far each is from its limit.

In units of Λ̄ write \(k=\min(t,K)\), d for what the window lacks (\(n=k-d\)), δ for what all rounds before lack
(\(f=t-\delta\)) and S for what the upper ends add (\(M=t+S\)). The repaired comparison has the mismatch
\(1/(k-d)-1/(t+S)\), the printed one \(1/(K-d)-1/(t-\delta)\), their limit \(1/K-1/t\).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from proofs_check.engines.identity import equal, equations
from proofs_check.engines.smt import always, steps
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.regret.orders import h
from proofs_check.groundwork.regret.orders import t as now
from proofs_check.groundwork.regret.transient import plain
from proofs_check.symbols import CONSTANTS, REGION, K, rate, rho, t
from theory.bound import generalisation_term, linear_term, root_term
from theory.penalty import (
    penalty_comparison,
    penalty_comparison_as_stated,
    penalty_limit,
    penalty_limit_as_stated,
)
from theory.region import region_minimum_window

S, d, u, delta, x, y, k, more = sp.symbols("S d u delta x y k more", positive=True)
A, B, P, Q, c = sp.symbols("A B P Q c", positive=True)
later = sp.Symbol("s", integer=True, nonnegative=True)
LOST = 1 / (now - delta) - 1 / now  # what the printed mismatch may lose
PRINTED = 1 / (K - d) - 1 / (now - delta) - (1 / K - 1 / now)  # its gap to the limit
PRINTED_EARLY = 1 - 1 / (k - delta) - (1 / (k + more) - 1 / k)  # the same, n = Λ̄, t = k < K = k + more
DIFFERENCES = [A >= B, sp.Eq(P**2 - A**2, c), sp.Eq(Q**2 - B**2, c)]  # A² = a-c, B² = b-c, P² = a, Q² = b


# --- theory's sequences, in these letters ------------------------------------------------------------------


def _lambert(expression: Any) -> Any:
    """The partial Lambert sum as the letter S."""
    return expression.xreplace(dict.fromkeys(expression.atoms(sp.Sum), S))


def _same(found: Any, mismatch: Any, third: Any, powers: dict[str, Any], domain: str) -> Evidence:
    """That three terms are the root and linear terms of one mismatch, and a given third term."""
    linear, generalisation = (_lambert(plain(x, **powers)) for x in (found.linear, found.generalisation))
    (top, bottom), (top_, bottom_) = (
        sp.fraction(sp.together(x)) for x in (linear, linear_term(mismatch, CONSTANTS))
    )
    root = root_term(found.linear / linear_term(1, CONSTANTS), CONSTANTS)
    return equations(
        (top * bottom_, top_ * bottom, "linear terms, multiplied by both denominators,"),
        (found.root, root, "the root term and the root of the same mismatch"),
        (generalisation**2, third**2, "squared generalisation terms"),
        domain=domain,
    )


@cache
def sequences(*, stated: bool) -> Evidence:
    """penalty_comparison and penalty_limit on symbols, from round K on and up to it."""
    comparison = penalty_comparison_as_stated if stated else penalty_comparison
    limit = penalty_limit_as_stated if stated else penalty_limit
    found = []
    for retained, at, powers, part in (
        (K, K + later, {"x": K, "y": later}, r"$t=K+s\ge K$"),
        (t + later, t, {"x": t}, r"$t=K-s\le K$"),
    ):
        full = retained is K
        k, age = (K, y) if full else (t, sp.Integer(1))
        late = age * (rho - x) / (1 - rho)  # ρ^(t-k+1) + … + ρ^(t-1)
        lacking = ((K - 1) * age if full else t + later - 1) if stated else late
        fewest = rate * (at - (rho - x * age) / (1 - rho))
        held = rate * ((retained if stated else k) - lacking)
        seen = fewest if stated else rate * (at + S)
        third = generalisation_term(1 / fewest, rate * (at + S) if stated else fewest, CONSTANTS)
        steady = 1 / (rate * (retained if stated else k)) - 1 / (rate * at)
        last = generalisation_term(1 / (rate * at), rate * at, CONSTANTS)
        found += [
            _same(comparison(retained, at, REGION, CONSTANTS), 1 / held - 1 / seen, third, powers, part),
            _same(limit(retained, at, rate, CONSTANTS), steady, last, powers, part),
        ]
    return together(*found)


# --- from above --------------------------------------------------------------------------------------------


@cache
def window() -> Evidence:
    """(k-1)ρ^(t-1) <= d <= (k-1)ρ^(t-k+1), by induction over k: d/ρ^(t-k) is q_k = ρ + … + ρ^(k-1)."""
    q = sp.Symbol("q", positive=True)
    closed = (rho - rho * x) / (1 - rho)  # x = ρ^(k-1)
    held = plain(region_minimum_window(REGION, K, K + later) / rate, x=K, y=later)
    return together(
        equal(
            held,
            K - 1 - y * (rho - x) / (1 - rho),
            domain=r"every $K\le t=K+s$, $y=\rho^s$ and here $x=\rho^K$",
            what=r"the last $K-1$ lower ends and $(K-1)-d$, in units of $\bar\Lambda$,",
        ),
        equal(
            (rho - rho**2 * x) / (1 - rho) - closed,
            rho * x,
            domain="every $k$",
            what=r"$q_{k+1}-q_k$ and $\rho^k$",
        ),
        always(
            [q + rho * x <= k * rho, q + rho * x >= k * rho * x],
            given=[q <= (k - 1) * rho, q >= (k - 1) * x, rho < 1],
            domain=r"every $k$, from $(k-1)\rho^{k-1}\le q_k\le(k-1)\rho$ to $k+1$; both are 0 at $k=1$",
        ),
    )


@cache
def first_two_terms() -> Evidence:
    """Root and linear term of a round, up to K and beyond, where the linear term's gap is φ(d) + S/(t(t+S)) at most."""
    phi = d / (K * (K - d))
    return together(
        steps(
            (
                [1 / (k - d) - 1 / (k + S) <= 1, 1 / (k - d) - 1 / (k + S) - (1 / k - 1 / (k + S)) <= 1],
                [d <= k - 1],
                r"repaired, $t=k\le K$; the rest, $1/k-1/(k+S)$, is $S/(t(t+S))$",
            ),
            ([1 - 1 / (k - delta) <= 1, PRINTED_EARLY <= 1], [delta <= k - 1], "printed, $t=k<K$"),
        ),
        equal(
            1 / (K - d) - 1 / (now + S) - (1 / K - 1 / now),
            phi + S / (now * (now + S)),
            domain="every $t$",
            what="the repaired gap and its parts",
        ),
        steps(
            (phi >= PRINTED, [d < K, delta < now], "every $t$"),
            (d / (K - d) <= u / (K - u), [d <= u, u < K], r"$\phi$ grows"),
            (
                sp.Le(S / (now + S), x / (now + x), evaluate=False),
                [x >= S],
                "$S/(t(t+S))$ grows in $S$: the partial Lambert sum may be replaced by its bound",
            ),
            (
                (A - B) * B**2 <= (P - Q) * Q**2,
                DIFFERENCES,
                r"$\sqrt{a-c}-\sqrt{b-c}\le(\sqrt a-\sqrt b)\,b/(b-c)$, $a\ge b>c\ge0$",
            ),
            ((1 / K) / (1 / K - c) <= now / (now - K), [c <= 1 / now, now > K], r"$b=1/K$, $c\le1/t$"),
            (
                1 / sp.sqrt(K - d) <= 1 / sp.sqrt(K - (K - 1) * u),
                [d <= (K - 1) * u, u < 1],
                r"$\sqrt a=1/\sqrt{K-d}$ grows in $d$; $u=\rho^{t-K+1}$, printed $\rho^{t-K}$",
            ),
            (
                A - B <= (K + 1) / 2 * (A**2 - B**2),
                [A >= B, B**2 >= 1 / (K * (K + 1))],
                r"repaired, what is left: $A^2=1/K-1/(t+S)$, $B^2=1/K-1/t$, $A-B\le(K+1)/2\cdot S/(t(t+S))$",
            ),
            (1 / K - 1 / now >= 1 / (K * (K + 1)), [now >= K + 1], r"$t\ge K+1$"),
            (1 / (K - d) - 1 / (now - delta) <= 1 / (K - d) - 1 / now, [delta < now], "as printed"),
        ),
    )


@cache
def third_rounds() -> Evidence:
    """√(1+log⁺(M/Pdim)) exceeds √(1+log⁺(Λ̄t/Pdim)) by at most ½log(1+S/t), and repaired M = f <= Λ̄t."""
    X, Y, Z = sp.symbols("X Y Z", positive=True)
    antiderivative = 2 * sp.sqrt(now) * sp.log(1 + S / now) + 4 * sp.sqrt(S) * sp.atan(sp.sqrt(now / S))
    ends = [sp.limit(antiderivative, now, end) for end in (0, sp.oo)]
    return together(
        always(
            sp.sqrt(1 + X) - sp.sqrt(1 + Y) <= Z / 2,
            given=[X <= Y + Z],
            domain=r"$X=\log^+(\bar\Lambda(t+S)/\mathrm{Pdim})$, $Y=\log^+(\bar\Lambda t/\mathrm{Pdim})$, "
            r"$Z=\log(1+S/t)$",
        ),
        equations(
            (
                sp.diff(antiderivative, now),
                sp.log(1 + S / now) / sp.sqrt(now),
                r"antiderivative and $t^{-1/2}\log(1+S/t)$, which falls in $t$",
            ),
            ((ends[1] - ends[0]) / 2, sp.pi * sp.sqrt(S), r"$\tfrac12\int_0^{\infty}$ and $\pi\sqrt S$"),
            domain="every $t$, $S>0$",
        ),
    )


# --- from below --------------------------------------------------------------------------------------------


@cache
def repaired_below() -> Evidence:
    """Term by term p̄^CK >= p̄_∞, so Ω₂(T) grows with T; and from K on by what 1/n alone makes."""
    n, N, fewer = sp.symbols("n N fewer", positive=True)
    least = (K - 1) * u
    return steps(
        (
            1 / fewer - 1 / more >= 1 / n - 1 / N,
            [fewer <= n, more >= N],
            r"every round: $n_{\min}\le\min(t,K)\bar\Lambda$, $\sum\Lambda_{\max}+\bar\Lambda\ge\bar\Lambda t$",
        ),
        (A - B >= P - Q, DIFFERENCES, r"$\sqrt{a-c}-\sqrt{b-c}\ge\sqrt a-\sqrt b$, $a\ge b>c\ge0$"),
        (
            [1 / sp.sqrt(K - d) >= 1 / sp.sqrt(K - least), d / (K - d) >= least / (K - least)],
            [d >= least, d < K],
            r"$d\ge(K-1)u$, $u=\rho^{t-1}$",
        ),
    )


@cache
def printed_below() -> Evidence:
    """1/(t-δ) - 1/t is what the printed mismatch may lose: at most 1 up to 2h, then at most 2h/t²."""
    return together(
        steps(
            (LOST <= 1, [delta <= now - 1], "every $t$"),
            (2 * h / now**2 >= LOST, [delta <= h, now >= 2 * h], r"$t\ge2h$, $\delta\le h$"),
            (PRINTED >= -LOST, [d < K], r"linear term, $t\ge K$"),
            (PRINTED_EARLY >= 0, [delta <= k - 1], r"linear term, $n=\bar\Lambda$, $t=k<K$: not negative"),
            (
                (K + 1) * (A**2 - c) >= A - B,
                [A**2 >= 1 / (K * (K + 1)), c <= B**2, B <= A],
                r"root term, $t>K$: $A^2=1/K-1/t$, $B^2=[a-1/(t-\delta)]^{+}\ge c=A^2-\text{lost}$",
            ),
        ),
        equal(sp.diff(-2 * h / now, now), 2 * h / now**2, domain=r"$t\ge2h$", what=r"$\int$ and $2h/t^2$"),
        always(
            2 * h + 2 * h / (2 * h) ** 2 + 2 * h / (2 * h) <= 2 * (h + 1),
            given=[h >= 1],
            domain="$2h$ rounds of 1, then the first term and the integral of $2h/t^2$",
        ),
    )
