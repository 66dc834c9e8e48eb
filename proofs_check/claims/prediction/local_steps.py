r"""Local steps on a small memory (`law:reuse/local-steps`): a client whose curvature scatters contracts less.

For one Hessian E steps leave \(a=(1-\eta h)^E\) of a distance, whatever the samples. If samples have curvatures of
their own, a memory of \(n_m\) has a mean curvature that scatters, and \((1-\eta h)^E\) is convex.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.claim import WRITTEN, Claim, Context, confirming
from proofs_check.engines.exact import exhaust
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.prediction.curvatures import (
    INDEPENDENT,
    PAIR,
    TRIPLE,
    Kinds,
    coefficients,
    moments_of_a_mean,
)
from proofs_check.symbols import CONSTANTS
from proofs_check.text import said
from theory.algebra import ratio
from theory.curved import local_contraction, local_pull, local_shift
from theory.law import contraction

F = Fraction
E, eta = CONSTANTS.E, CONSTANTS.eta
h, spread, size, x, q = sp.symbols("h w n_m x q", positive=True)
EVERY = "every $E$, $x$, $q>0$"


def _tangent(power: Any, order: int) -> Any:
    """x^E less its Taylor polynomial at q, up to this order."""
    terms = (sp.ff(power, k) / sp.factorial(k) * q ** (power - k) * (x - q) ** k for k in range(order + 1))
    return x**power - sum(terms)


def remainders() -> Evidence:
    """The rest R of order j obeys R(E+1) = x·R(E) + binom(E, j)·q^(E-j)·(x-q)^(j+1), and is 0 for E = j."""
    return together(
        *(
            equal(
                _tangent(E + 1, j),
                x * _tangent(E, j) + sp.ff(E, j) / sp.factorial(j) * q ** (E - j) * (x - q) ** (j + 1),
                domain=EVERY,
                what=f"the rest of order {j} after one step more",
            )
            for j in (1, 2, 3)
        ),
        *(equal(_tangent(j, j), 0, domain="$E=j$", what=f"the rest of order {j} and 0") for j in (1, 2, 3)),
    )


def signs() -> Evidence:
    """So a rest of odd order is never negative, and that of order 1 is positive from E = 2 on unless x = q."""
    at, left, rest, gain = sp.symbols("at left rest gain", real=True)  # x, q, R(E) and binom(E, j)·q^(E-j)
    known = [at >= 0, rest >= 0, gain >= 0]
    return together(
        always(at * rest + gain * (at - left) ** 2 >= 0, given=known, domain=r"order 1, $x$, $q\ge0$"),
        always(
            at * rest + gain * (at - left) ** 2 > 0,
            given=[*known, sp.Ne(at, left), gain > 0],
            domain=r"order 1, $q>0$, $x\ne q$",
        ),
        always(at * rest + gain * (at - left) ** 4 >= 0, given=known, domain=r"order 3, $x$, $q\ge0$"),
    )


def sizes() -> Evidence:
    """For 0 <= x, q <= 1 the rest of order 3 is at most binom(E, 4)(x-q)⁴: it grows by binom(E, 3)(x-q)⁴ at most."""
    rest, fourth = sp.symbols("rest fourth", nonnegative=True)
    steps, left = sp.symbols("steps left", nonnegative=True)  # binom(E, 3) and q^(E-3)
    four, three = (sp.ff(E, k) / sp.factorial(k) for k in (4, 3))
    return together(
        equal(four.subs(E, E + 1) - four, three, domain="every $E$", what="binom$(E+1,4)$ - binom$(E,4)$"),
        always(
            x * rest + steps * left * fourth <= rest + steps * fourth,
            given=[x <= 1, left <= 1],
            domain=r"$0<x\le1$, $0\le q^{E-3}\le1$",
        ),
    )


def second_term() -> Evidence:
    """The term of order 2, averaged, is theory's: x - q = -η(h̄-h), and E(h̄-h)² = Var h/n_m."""
    left = 1 - eta * h
    return together(
        equal(
            local_contraction(h, spread, size, eta, E),
            left**E + sp.ff(E, 2) / 2 * left ** (E - 2) * eta**2 * spread / size,
            domain=r"every $E$, $h$, $\mathrm{Var}$ $h$, $n_m$",
            what="theory's and the average of the terms",
        ),
        equal(
            local_contraction(h, spread, size, eta, 1),
            left,
            domain="$E=1$",
            what="one step and "
            r"$1-\eta h$",
        ),
    )


def slopes() -> Evidence:
    """b = (1-a)/h is η(1 + x + … + x^(E-1)), x = 1 - ηh; its slope in h is -theory's shift, a's is -theory's pull."""
    at = (1 - q) / eta  # h, so that x^E is q^E; d/dh = -η·d/dq

    def slope(expression: Any) -> Any:
        return -eta * sp.diff(expression, q)

    return together(
        equal(
            slope((1 - contraction(at, eta, E)) / at),
            -local_shift(at, eta, E),
            domain="every $E$",
            what=r"$b^{\prime}$",
        ),
        equal(
            slope(contraction(at, eta, E)),
            -local_pull(at, eta, E),
            domain="every $E$",
            what=r"$a^{\prime}$ "
            "and theory's",
        ),
        equal(
            local_shift(at, eta, E + 1) - local_shift(at, eta, E),
            eta**2 * E * q ** (E - 1),
            domain="every $E$",
            what="a term more of the shift",
        ),
        *(
            equal(
                local_shift(h, eta, E).subs(E, steps),
                local_shift(h, eta, steps),
                domain=f"E = {steps}",
                what="the shift in closed form and as a sum",
            )
            for steps in (1, 2, 3, 5)
        ),
    )


def _averages(kinds: Kinds, n: int, eta: Fraction, E: int) -> tuple[Fraction, Fraction]:
    """E[(1-ηh̄)^E] and E[-b(h̄)ḡ] over all memories of n samples."""
    kept = shift = F(0)
    for chance, (sum_h, sum_g, _) in kinds.cohort(n):
        left = 1 - eta * sum_h / n
        kept += chance * left**E
        shift -= chance * eta * sum((left**e for e in range(E)), F(0)) * sum_g / n
    return kept, shift


def every_memory(context: Context) -> Evidence:
    """All memories of 1, 2, … samples: never below a; and the coefficients of 1 and 1/n_m are theory's, exactly."""

    def find(kinds: Kinds, eta: Fraction, E: int) -> dict[str, Any] | None:
        m, points = kinds.moments, E + 2
        kept, shift = zip(*(_averages(kinds, n, eta, E) for n in range(1, points + 1)), strict=True)
        a = contraction(m.h, eta, E)
        first, tail = local_contraction(m.h, m.spread, 1, eta, E) - a, [F(0)] * (points - E)
        powers, shifts = coefficients(kept), coefficients(shift)
        slower = all(value > a if E > 1 else value == a for value in kept)
        right = powers[:2] == [a, first] and shifts[:2] == [0, local_shift(m.h, eta, E) * m.tilt]
        if slower and right and powers[E:] == tail and shifts[E:] == tail:
            return None
        return {"contraction": powers[:2], "theory's": [a, first], "shift": shifts[:2]}

    points = (
        {"kinds": kinds, "eta": eta, "E": E}
        for kinds in (PAIR, TRIPLE, INDEPENDENT)
        for eta in (F(1, 4), F(1))
        for E in range(1, context.choose(6, 10))
    )
    return exhaust(
        points,
        find,
        domain=r"three populations, $\eta=1/4$ and 1, $E$ from 1 to 5; $n_m$ from 1 to "
        "$E+2$",
    )


def within_its_rest(context: Context) -> Evidence:
    """The rest is within binom(E,3)q^(E-3)η³|μ₃|/n² + binom(E,4)η⁴E(h̄-h)⁴, at every n_m tried."""

    def find(kinds: Kinds, eta: Fraction, E: int, n: int) -> dict[str, Any] | None:
        m = kinds.moments
        third, fourth = (kinds.mean(lambda x, g, k, power=power: (x - m.h) ** power) for power in (3, 4))  # type: ignore[misc]
        spread4 = 3 * m.spread**2 / n**2 + (fourth - 3 * m.spread**2) / n**3
        q, off = 1 - eta * m.h, _averages(kinds, n, eta, E)[0] - local_contraction(m.h, m.spread, n, eta, E)
        most = ratio(E * (E - 1) * (E - 2), 6) * q ** max(E - 3, 0) * eta**3 * abs(third) / n**2
        most += ratio(E * (E - 1) * (E - 2) * (E - 3), 24) * eta**4 * spread4
        return None if abs(off) <= most else {"rest": off, "bound": most}

    points = (
        {"kinds": kinds, "eta": eta, "E": E, "n": n}
        for kinds in (PAIR, TRIPLE, INDEPENDENT)
        for eta in (F(1, 4), F(1))
        for E in (1, 2, 3, 4, 10)
        for n in context.choose((1, 2, 5, 16), (1, 2, 3, 5, 8, 16, 40))
    )
    return exhaust(
        points, find, domain=r"three populations, $\eta=1/4$ and 1, $E=1$ to 4 and 10; $n_m$ from 1 to 16"
    )


CLAIMS = [
    Claim(
        id="law:reuse/local-steps",
        kind="addition",
        title=r"small local memories contract less than $(1-\eta h)^E$",
        statement=r"Let samples have their own curvatures, $0\le\eta h_i\le1$. $E$ steps on a memory of "
        r"$n_m$ samples leave on average more of a distance than $(1-\eta h)^E$, for $E\ge2$ and "
        r"curvatures that vary: by $E(E-1)/2\cdot\eta^2(1-\eta h)^{E-2}\cdot\mathrm{Var}$ $h/n_m$, up to "
        "$O(1/n_m^2)$ with an explicit constant, exactly for $E=2$. They also shift the mean by "
        r"$\eta^2\sum e(1-\eta h)^{e-1}\cdot\mathbb E[hg]/n_m$, up to $O(1/n_m^2)$. Averaged over $M$ "
        "clients with weights $n_m/n$, both have $M/n$ in place of $1/n_m$. No sample need be used in "
        "two rounds for that, and neither happens for $E=1$.",
        formula=said(
            r"\mathbb E[(1-\eta\bar h)^E]=@c+O(n_m^{-2})\ge(1-\eta h)^E",
            c=local_contraction(h, spread, size, eta, E),
        ),
        domain=r"losses with gradients $g+h\delta$ along one direction, $(h,g)$ i.i.d. with fourth "
        r"moments, $0\le\eta h_i\le1$, $E$ $g=0$, every $E$ and $n_m$",
        sketch=r"With $x=1-\eta\bar h$ and $q=1-\eta h$ the rest of $x^E$ after its tangent at $q$ is "
        r"multiplied by $x$ and gains $E\cdot q^{E-1}(x-q)^2$ from one step to the next: it is not "
        "negative, and its mean is Jensen's gap. The rests of order 2 and 3 obey the same recursion with "
        r"$(x-q)^3$ and $(x-q)^4$. $E(x-q)^2=\eta^2\mathrm{Var}$ $h/n_m$ is theory's term; $E(x-q)^3$ is "
        "of order $1/n_m^2$, and so is $E(x-q)^4$, which bounds the rest of order 3 with binom$(E,4)$. "
        r"$E$ steps move the minimiser's distance by $-b(\bar h)\bar g$ with $b=\eta\sum x^e$, and "
        r"$\mathbb E[(\bar h-h)\bar g]=\mathbb E[hg]/n_m$: the first order is $-b^{\prime}(h)\mathbb "
        "E[hg]/n_m$; what follows has a third moment of means, or four factors.",
        given=(WRITTEN,),
        checks={
            "slower": (remainders, signs, confirming(every_memory)),
            "first order": (
                remainders,
                signs,
                sizes,
                moments_of_a_mean,
                second_term,
                confirming(every_memory),
                confirming(within_its_rest),
            ),
            "shift": (slopes, moments_of_a_mean, confirming(every_memory)),
        },
        symbols={
            "h": "the mean curvature along the direction",
            "h̄": "the mean curvature of a client's memory",
            "n_m": "samples in a client's memory",
            "w": r"the variance of a sample's curvature, $\mathrm{Var}$ $h$",
        },
    ),
]
