r"""A round of Ω₂: what theory's two comparison sequences are, and how far each is from its limit.

In units of Λ̄ write \(k=\min(t,K)\), d for what the window lacks (\(n=k-d\)), δ for what all rounds before lack
(\(f=t-\delta\)) and S for what the upper ends add (\(M=t+S\)). The repaired comparison has the mismatch
\(1/(k-d)-1/(t+S)\), the printed one \(1/(K-d)-1/(t-\delta)\), their limit \(1/K-1/t\).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
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

S, d, u, delta, x, y = sp.symbols("S d u delta x y", positive=True)
A, B, P, Q, c = sp.symbols("A B P Q c", positive=True)
later = sp.Symbol("s", integer=True, nonnegative=True)


# --- theory's sequences, in these letters ------------------------------------------------------------------


def _lambert(expression: Any) -> Any:
    """The partial Lambert sum as the letter S."""
    return expression.xreplace(dict.fromkeys(expression.atoms(sp.Sum), S))


def _same(found: Any, mismatch: Any, third: Any, powers: dict[str, Any], what: str) -> Evidence:
    """That three terms are the root and linear terms of one mismatch, and a given third term."""
    linear, generalisation = (
        _lambert(plain(term, **powers)) for term in (found.linear, found.generalisation)
    )
    (top, bottom), (top_, bottom_) = (
        sp.fraction(sp.together(x)) for x in (linear, linear_term(mismatch, CONSTANTS))
    )
    return together(
        equal(
            top * bottom_, top_ * bottom, domain=what, what="linear terms, multiplied by both denominators,"
        ),
        equal(
            found.root,
            root_term(found.linear / linear_term(1, CONSTANTS), CONSTANTS),
            domain=what,
            what="the root term and the root of the same mismatch",
        ),
        equal(generalisation**2, third**2, domain=what, what="squared generalisation terms"),
    )


@cache
def sequences(*, stated: bool) -> Evidence:
    """penalty_comparison and penalty_limit on symbols, from round K on and up to it."""
    comparison = penalty_comparison_as_stated if stated else penalty_comparison
    limit = penalty_limit_as_stated if stated else penalty_limit
    found = []
    for retained, now, powers, part in (
        (K, K + later, {"x": K, "y": later}, "t = K+s >= K"),
        (t + later, t, {"x": t}, "t = K-s <= K"),
    ):
        full = retained is K
        k, age = (K, y) if full else (t, sp.Integer(1))
        late = age * (rho - x) / (1 - rho)  # ρ^(t-k+1) + … + ρ^(t-1)
        lacking = ((K - 1) * age if full else t + later - 1) if stated else late
        fewest = rate * (now - (rho - x * age) / (1 - rho))
        held = rate * ((retained if stated else k) - lacking)
        seen = fewest if stated else rate * (now + S)
        third = generalisation_term(1 / fewest, rate * (now + S) if stated else fewest, CONSTANTS)
        steady = 1 / (rate * (retained if stated else k)) - 1 / (rate * now)
        last = generalisation_term(1 / (rate * now), rate * now, CONSTANTS)
        found += [
            _same(comparison(retained, now, REGION, CONSTANTS), 1 / held - 1 / seen, third, powers, part),
            _same(limit(retained, now, rate, CONSTANTS), steady, last, powers, part),
        ]
    return together(*found)


@cache
def window() -> Evidence:
    """(k-1)ρ^(t-1) <= d <= (k-1)ρ^(t-k+1), by induction over k: d/ρ^(t-k) is q_k = ρ + … + ρ^(k-1)."""
    q, k = sp.symbols("q k", positive=True)  # x = ρ^(k-1)
    closed = (rho - rho * x) / (1 - rho)
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
            what="$q_{k+1}-q_k$ and "
            r"$\rho^k$",
        ),
        always(
            [q + rho * x <= k * rho, q + rho * x >= k * rho * x],
            given=[q <= (k - 1) * rho, q >= (k - 1) * x, rho < 1],
            domain=r"every $k$, from $(k-1)\rho^{k-1}\le q_k\le(k-1)\rho$ to $k+1$; both are 0 at $k=1$",
        ),
    )


# --- from above --------------------------------------------------------------------------------------------


@cache
def early_rounds() -> Evidence:
    """Rounds t <= K: 1/n <= 1 in units of Λ̄, so the root term is at most 1, and the linear term's gap at most 1."""
    k, more = sp.symbols("k more", positive=True)
    return together(
        always(
            [1 / (k - d) - 1 / (k + S) <= 1, 1 / (k - d) - 1 / (k + S) - (1 / k - 1 / (k + S)) <= 1],
            given=[d <= k - 1],
            domain=r"repaired, $t=k\le K$; the rest, $1/k-1/(k+S)$, is $S/(t(t+S))$",
        ),
        always(
            [1 - 1 / (k - delta) <= 1, 1 - 1 / (k - delta) - (1 / (k + more) - 1 / k) <= 1],
            given=[delta <= k - 1],
            domain=r"printed, $n=\bar\Lambda$, $t=k<K=k$+more",
        ),
    )


@cache
def linear_rounds() -> Evidence:
    """Rounds t >= K: the gap is φ(d) + S/(t(t+S)) with φ(d) = d/(K(K-d)), which grows in d; printed, at most φ(d)."""
    now = sp.Symbol("t", positive=True)
    phi = d / (K * (K - d))
    repaired = 1 / (K - d) - 1 / (now + S) - (1 / K - 1 / now)
    printed = 1 / (K - d) - 1 / (now - delta) - (1 / K - 1 / now)
    return together(
        equal(repaired, phi + S / (now * (now + S)), domain="every $t$", what="the repaired gap"),
        always(printed <= phi, given=[d < K, delta < now], domain="every $t$"),
        always(d / (K - d) <= u / (K - u), given=[d <= u, u < K], domain=r"$\phi$ grows"),
        always(
            sp.Le(S / (now + S), x / (now + x), evaluate=False),
            given=[x >= S],
            domain="$S/(t(t+S))$ grows in $S$: the partial Lambert sum may be replaced by its bound",
        ),
    )


@cache
def root_rounds() -> Evidence:
    """Rounds t > K, with A² = a-c, B² = b-c, P² = a, Q² = b: √(a-c)-√(b-c) <= (√a-√b)·b/(b-c), and b/(b-c) <= t/(t-K).

    For the repaired comparison c = 1/(t+S), and √(b-c)-√(b-1/t) is left over; for the printed one c = 1/t.
    """
    now = sp.Symbol("t", positive=True)
    return together(
        always(
            (A - B) * B**2 <= (P - Q) * Q**2,
            given=[A >= B, sp.Eq(P**2 - A**2, c), sp.Eq(Q**2 - B**2, c)],
            domain=r"$a\ge b>c\ge0$",
        ),
        always(
            (1 / K) / (1 / K - c) <= now / (now - K),
            given=[c <= 1 / now, now > K],
            domain="$b=1/K$, $c=1/(t+S)$ or $1/t$",
        ),
        always(
            1 / sp.sqrt(K - d) <= 1 / sp.sqrt(K - (K - 1) * u),
            given=[d <= (K - 1) * u, u < 1],
            domain=r"$\sqrt{a}=1/\sqrt{K-d}$ grows in $d$; $u=\rho^{t-K+1}$, printed $\rho^{t-K}$",
        ),
        always(
            A - B <= (K + 1) / 2 * (A**2 - B**2),
            given=[A >= B, B**2 >= 1 / (K * (K + 1))],
            domain=r"repaired, $A^2=1/K-1/(t+S)$, $B^2=1/K-1/t$: $A-B\le(K+1)/2\cdot S/(t(t+S))$",
        ),
        always(1 / K - 1 / now >= 1 / (K * (K + 1)), given=[now >= K + 1], domain=r"$t\ge K+1$"),
        always(
            1 / (K - d) - 1 / (now - delta) <= 1 / (K - d) - 1 / now,
            given=[delta < now],
            domain=r"printed: $1/(t-\delta)\ge1/t$",
        ),
    )


@cache
def third_rounds() -> Evidence:
    """√(1+log⁺(M/Pdim)) exceeds √(1+log⁺(Λ̄t/Pdim)) by at most ½log(1+S/t), and repaired M = f <= Λ̄t."""
    X, Y, Z = sp.symbols("X Y Z", positive=True)
    now = sp.Symbol("t", positive=True)
    antiderivative = 2 * sp.sqrt(now) * sp.log(1 + S / now) + 4 * sp.sqrt(S) * sp.atan(sp.sqrt(now / S))
    ends = [sp.limit(antiderivative, now, end) for end in (0, sp.oo)]
    return together(
        always(
            sp.sqrt(1 + X) - sp.sqrt(1 + Y) <= Z / 2,
            given=[X <= Y + Z],
            domain=r"$X=\log^{+}(\bar\Lambda(t+S)/\mathrm{Pdim})$, $Y=\log^{+}(\bar\Lambda "
            r"t/\mathrm{Pdim})$, $Z=\log(1+S/t)$",
        ),
        equal(
            sp.diff(antiderivative, now),
            sp.log(1 + S / now) / sp.sqrt(now),
            domain="every $t$, $S>0$",
            what=r"antiderivative and $t^{-1/2}\cdot\log(1+S/t)$, which falls in $t$",
        ),
        equal(
            (ends[1] - ends[0]) / 2,
            sp.pi * sp.sqrt(S),
            domain="every $S$",
            what=r"$\tfrac12$ "
            r"$\int_0^{\infty}$ and $\pi\sqrt{S}$",
        ),
    )


# --- from below --------------------------------------------------------------------------------------------


@cache
def repaired_below() -> Evidence:
    """Term by term p̄^CK >= p̄_∞, so Ω₂(T) grows with T; and from K on by what 1/n alone makes."""
    n, N, fewer, more = sp.symbols("n N fewer more", positive=True)
    return together(
        always(
            1 / fewer - 1 / more >= 1 / n - 1 / N,
            given=[fewer <= n, more >= N],
            domain=r"every round: $n_{\min}\le\min(t,K)\bar\Lambda$, $\sum "
            r"\Lambda_{\max}+\bar\Lambda\ge\bar\Lambda t$",
        ),
        always(
            A - B >= P - Q,
            given=[A >= B, sp.Eq(P**2 - A**2, c), sp.Eq(Q**2 - B**2, c)],
            domain=r"$\sqrt{a-c}-\sqrt{b-c}\ge\sqrt{a}-\sqrt{b}$, $a\ge b>c\ge0$",
        ),
        always(
            [
                1 / sp.sqrt(K - d) >= 1 / sp.sqrt(K - (K - 1) * u),
                d / (K - d) >= (K - 1) * u / (K - (K - 1) * u),
            ],
            given=[d >= (K - 1) * u, d < K],
            domain=r"$d\ge(K-1)u$, $u=\rho^{t-1}$",
        ),
    )


@cache
def printed_below() -> Evidence:
    """c - 1/t with c = 1/(t-δ) is what the printed mismatch may lose: at most 1 up to 2h, then at most 2h/t²."""
    h, now, k, more = sp.symbols("h t k more", positive=True)
    lost = 1 / (now - delta) - 1 / now
    gap = 1 / (K - d) - 1 / (now - delta) - (1 / K - 1 / now)
    return together(
        always(lost <= 1, given=[delta <= now - 1], domain="every $t$"),
        always(lost <= 2 * h / now**2, given=[delta <= h, now >= 2 * h], domain=r"$t\ge2h$, $\delta\le h$"),
        always(gap >= -lost, given=[d < K], domain=r"linear term, $t\ge K$"),
        always(
            1 - 1 / (k - delta) - (1 / (k + more) - 1 / k) >= 0,
            given=[delta <= k - 1],
            domain=r"linear term, $n=\bar\Lambda$, $t=k<K=k$+more: not negative",
        ),
        always(
            (K + 1) * (A**2 - c) >= A - B,
            given=[A**2 >= 1 / (K * (K + 1)), c <= B**2, B <= A],
            domain=r"root term, $t>K$: $A^2=1/K-1/t$, $B^2=[a-1/(t-\delta)]^{+}\ge c=A^2$-lost",
        ),
        equal(
            sp.diff(-2 * h / now, now), 2 * h / now**2, domain=r"$t\ge2h$", what="antiderivative and $2h/t^2$"
        ),
        always(
            2 * h + 2 * h / (2 * h) ** 2 + 2 * h / (2 * h) <= 2 * (h + 1),
            given=[h >= 1],
            domain="$2h$ rounds of 1, then the first term and the integral of $2h/t^2$",
        ),
    )
