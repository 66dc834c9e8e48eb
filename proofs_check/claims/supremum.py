"""The supremum over θ inside the expectation: does the variance bound σ² control it, even for fresh samples?

Finite counterexamples: K = 1, one sample a round, round 2, so that the mismatch is half the difference of two
gradients; each sample is uniform on 1..m, and every outcome is enumerated.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp

from proofs_check.claim import Claim, Correction
from proofs_check.claims.mismatch import variance
from proofs_check.engines.exact import exhaust
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, refutes

__all__ = ["CLAIMS"]

n, N = sp.symbols("n N", positive=True)
Gradient = Callable[[Fraction, int], Fraction]


def ramp(theta: Fraction, z: int) -> Fraction:
    """A convex loss: its derivative climbs from 0 at z to 1 at z + 1/2. Piecewise linear in θ."""
    return min(max(2 * (theta - z), Fraction(0)), Fraction(1))


def bump(theta: Fraction, z: int) -> Fraction:
    """A loss whose derivative is a tent of height 1 over [z - 1/2, z + 1/2]: at no θ do two values of z
    overlap.
    """
    return max(1 - 2 * abs(theta - z), Fraction(0))


def _supremum(gradient: Gradient, m: int) -> dict[str, Any]:
    """K = 1, a sample a round, round 2: n = 1, N = 2, d = (1/2, -1/2), z uniform on 1..m; θ at all corners.

    Between corners a mismatch is linear in θ, so its modulus is largest at a corner; a variance is convex
    there.
    """
    corners = [Fraction(i, 2) for i in range(2 * m + 3)]
    outcomes = list(product(range(1, m + 1), repeat=2))
    largest = (max((gradient(c, a) - gradient(c, b)) ** 2 for c in corners) / 4 for a, b in outcomes)
    sigma2 = max(variance([gradient(c, z) for z in range(1, m + 1)]) for c in corners)
    return {
        "σ̄²": sum(largest, Fraction(0)) / len(outcomes),
        "σ²": sigma2,
        "printed": sigma2 * (1 - Fraction(1, 2)),
    }


def _sup_exceeds(gradient: Gradient) -> Callable[[int], dict[str, Any] | None]:
    def exceeds(m: int) -> dict[str, Any] | None:
        found = _supremum(gradient, m)
        return {"n": 1, "N": 2, **found} if found["σ̄²"] > found["printed"] else None

    return exceeds


def supremum_convex() -> Evidence:
    points = ({"m": m} for m in range(2, 8))
    return exhaust(
        points,
        _sup_exceeds(ramp),
        domain="K = 1, one sample a round, round 2; convex losses with derivative min(max(2(θ-z), 0), 1), "
        "z uniform on 1..m, θ in [0, m+1]",
    )


def supremum_bumps() -> Evidence:
    points = ({"m": m} for m in range(2, 8))
    return exhaust(
        points,
        _sup_exceeds(bump),
        domain="K = 1, one sample a round, round 2; losses with derivative max(1-2|θ-z|, 0), z uniform on 1..m, "
        "θ in [0, m+1]",
    )


def no_constant_factor() -> Evidence:
    """For the bumps σ̄² = (1-1/m)/4 and σ² = (1-1/m)/m: whatever factor is allowed, some m exceeds it."""
    factor, m = sp.symbols("factor m", positive=True)
    exceeded = always(
        (1 - 1 / m) / 4 > factor * ((1 - 1 / m) / m) / 2,
        given=[m > 2 * factor, m >= 2],
        domain="bumps, every factor, every m > 2·factor",
    )
    confirmed = exhaust(({"m": m} for m in range(2, 9)), _bump_values_differ, domain="bumps, m = 2..8")
    if confirmed.outcome != "holds":
        return confirmed
    return refutes(
        exceeded, "σ̄² exceeds the printed bound by the factor m/2, and m is arbitrary: no constant repairs it"
    )


def _bump_values_differ(m: int) -> dict[str, Any] | None:
    found, q = _supremum(bump, m), 1 - Fraction(1, m)
    return None if found["σ̄²"] == q / 4 and found["σ²"] == q / m else found


def triangle() -> Evidence:
    """Induction over the samples, with p, q the squared norms of Σ_{i<k} d_i g_i and d_k g_k and r their
    product.
    """
    p, q, x, y = sp.symbols("p q x y", nonnegative=True)
    r = sp.Symbol("r", real=True)
    return always(
        p + 2 * r + q <= (x + y) ** 2,
        given=[r**2 <= p * q, p <= x**2, q <= y**2],
        domain="p <= x², x = GΣ_{i<k}|d_i|; q <= y², y = G|d_k|; r² <= pq is Cauchy-Schwarz; any k, any "
        "dimension",
    )


def fresh_weights() -> Evidence:
    """K = 1: n memory samples at 1/n - 1/N each, N - n others at 1/N."""
    return equal(
        n * (1 / n - 1 / N) + (N - n) / N,
        2 * (1 - n / N),
        domain="K = 1, any n <= N",
        what="Σ|d_i| and 2(1 - n/N)",
    )


CLAIMS = [
    Claim(
        id="eq:sigma-bar-Neff-app/supremum",
        kind="step",
        title="the supremum over θ is free (K = 1)",
        statement="With the supremum over θ inside the expectation, as σ̄² is defined, the mismatch is "
        "still controlled by the variance bound σ², at least for K = 1, where χ = 1/n - 1/N.",
        latex=r"E\sup_\theta\|\nabla\widehat F^{all}-\nabla\widehat F^{mem}\|^2"
        r"\le\sigma^2(\tfrac1n-\tfrac1N)",
        unicode="E sup_θ ‖…‖² ≤ σ²(1/n - 1/N)",
        domain="K = 1, any losses under Assumptions 1-4",
        checks=(supremum_convex, supremum_bumps, no_constant_factor),
        corrected=Correction(
            title="<= G²(Σ|d_i|)²; σ²χ at fixed θ only",
            statement="With the supremum inside, σ̄² <= G²(Σ|ω_i - 1{i in Q}/n|)², which is 4G²(1-n/N)² for K = 1. "
            "A bound by σ² alone holds at a fixed θ (`eq:sigma-bar-Neff-app`).",
            latex=r"\bar\sigma^2\le G^2\Bigl(\sum_i\bigl|\omega_i-\tfrac{\mathbf 1\{i\in Q\}}n\bigr|\Bigr)^2",
            unicode="σ̄² ≤ G²(Σ|ω_i - 1{i∈Q}/n|)²",
            sketch="Triangle inequality with ‖g_i‖ <= G at every θ. Over a finite Θ also E sup <= Σ_θ E = |Θ|σ²χ, and "
            "the bumps, with m separate places for θ, attain half of that.",
            checks=(lambda: triangle().about("bound"), lambda: fresh_weights().about("K = 1")),
        ),
    ),
]
