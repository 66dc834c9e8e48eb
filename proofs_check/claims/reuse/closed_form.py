"""The closed form of Ṽ under constant admission, printed and true.

The printed one is wrong for every K >= 2 (it takes the wrong sum of squares), and not even positive in some rounds. The
truth is built from the counts alone, by symbolic sums.
"""

from __future__ import annotations

from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import Claim, Context, Correction, confirming
from proofs_check.engines.exact import retentions, search
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, refutes, together
from proofs_check.groundwork.reuse.constant_counts import (
    FILLING,
    FULL,
    defined,
    early_uses,
    in_y,
    k,
    late,
    late_uses,
    run,
    s,
)
from proofs_check.symbols import K, rate, t
from proofs_check.text import said
from theory.reuse import (
    inverse_effective_constant,
    uniformity_constant,
    uniformity_constant_as_stated,
)

CASES = {
    "K": retentions(10),
    "t": st.integers(1, 24),
    "rates": st.lists(st.integers(1, 3), min_size=1, max_size=3),
}


# --- the closed form of Ṽ ----------------------------------------------------------------------------------


def lost_squares(uniformity: Any, horizon: Any) -> Any:
    """What a closed form subtracts from K²t: read off from it, given (Kt - K(K-1)/2)² above."""
    above = (horizon * t - horizon * (horizon - 1) / 2) ** 2
    return sp.factor(horizon**2 * t - sp.cancel(above / (t * uniformity)))


PRINTED = lost_squares(uniformity_constant_as_stated(K, t), K)
TRUE = lost_squares(uniformity_constant(K, t).subs(sp.Min(K, t), k), k)
ZERO = sp.Eq(2 * t, K - 1)  # where the printed form vanishes
NEGATIVE = sp.Lt(6 * K * t, (K - 1) * (2 * K - 1))  # where it is below 0


def _uniformity_differs(formula: Any) -> Any:
    def differs(K: int, t: int, rates: list[int]) -> dict[str, Any] | None:
        last, value = run(K, t, rates), formula(K, t)
        if value == last.uniformity:
            return None
        return {"reuse counts": sorted(last.uses.values()), "simulated Ṽ": last.uniformity, "formula": value}

    return differs


def printed_uniformity() -> Evidence:
    """Against the counts, for all K and t >= K at once: by how much 1/Ṽ is off."""
    truth = late_uses(1) ** 2 / (rate * late * late_uses(2))
    printed = uniformity_constant_as_stated(K, late)
    off = 4 * t * (K * K - 1) / (3 * K * (2 * t - K + 1) ** 2)
    excess = equal(
        1 / printed - 1 / truth,
        off.subs(t, late),
        domain=FULL,
        what=r"printed less true $1/\widetilde V$ and what it should be",
    )
    return refutes(
        excess,
        said(
            r"the printed $1/\widetilde V$ exceeds the true one by $@off$, which is 0 for $K=1$ "
            "alone",
            off=off,
        ),
    )


def printed_uniformity_simulated(context: Context) -> Evidence:
    """Against samples counted one by one."""
    differs = _uniformity_differs(uniformity_constant_as_stated)
    return search(context, CASES, differs, domain="every $K$ and $t$", examples=60)


def true_uniformity_full() -> Evidence:
    """(ΣA)²/(NΣA²) of the counts, buffers full."""
    truth = late_uses(1) ** 2 / (rate * late * late_uses(2))
    return equal(
        uniformity_constant(K, late),
        truth,
        domain=FULL,
        what="the closed form and "
        r"$\widetilde V$",
    )


def true_uniformity_filling() -> Evidence:
    """(ΣA)²/(NΣA²) of the counts, nothing dropped yet."""
    truth = early_uses(1) ** 2 / (rate * t * early_uses(2))
    return equal(
        uniformity_constant(t + s, t),
        truth,
        domain=FILLING,
        what="the closed form and "
        r"$\widetilde V$",
    )


def true_uniformity_simulated(context: Context) -> Evidence:
    """Against samples counted one by one."""
    differs = _uniformity_differs(uniformity_constant)
    return search(
        context,
        CASES,
        differs,
        domain="every $K$ and $t$, to three clients",
        examples=context.choose(60, 1000),
    )


def inverse_effective_size() -> Evidence:
    """Σω² = ΣA²/(ΣA)² of the same counts."""
    what = "the closed form of 1/N_eff and ΣA²/(ΣA)²"
    return together(
        equal(
            inverse_effective_constant(K, late, rate),
            late_uses(2) / late_uses(1) ** 2,
            domain=FULL,
            what=what,
        ),
        equal(
            inverse_effective_constant(t + s, t, rate),
            early_uses(2) / early_uses(1) ** 2,
            domain=FILLING,
            what=what,
        ),
    )


# --- the range of the printed form -------------------------------------------------------------------------


def printed_range(context: Context) -> Evidence:
    """The smallest K and t at which the printed form is no uniformity."""

    def outside(K: int, t: int) -> dict[str, Any] | None:
        value = uniformity_constant_as_stated(K, t)
        return None if 0 < value <= 1 else {"printed Ṽ": value}

    few = {"K": retentions(10), "t": st.integers(1, 24)}
    return search(context, few, outside, domain="every $K$ and $t$", examples=200)


def printed_never_divides_by_zero() -> Evidence:
    """What it divides by is a multiple of K(6t+3-2K) - 1: zero only if K divided 1."""
    _, below = sp.fraction(sp.factor(uniformity_constant_as_stated(K, t)))
    quotient = sp.Symbol("quotient", integer=True)
    return together(
        equal(
            below,
            2 * t * (K * (6 * t + 3 - 2 * K) - 1),
            domain="every $K$, $t$",
            what="what it divides by and $2t(K(6t+3-2K)-1)$",
        ),
        equal(below.subs(K, 1), 12 * t**2, domain="$K=1$", what="what it divides by and $12t^2$"),
        always(sp.Ne(K * quotient, 1), given=[K >= 2], domain=r"no $K\ge2$ divides 1"),
    )


def printed_zero() -> Evidence:
    """The printed form vanishes just there."""
    return always(
        sp.Equivalent(sp.Eq(uniformity_constant_as_stated(K, t), 0), ZERO),
        given=[defined()],
        domain=r"every $K$, $t\ge1$",
    )


def printed_negative() -> Evidence:
    """The printed form is negative just there."""
    return always(
        sp.Equivalent(uniformity_constant_as_stated(K, t) < 0, NEGATIVE),
        given=[defined()],
        domain=r"every $K$, $t\ge1$",
    )


def printed_too_small() -> Evidence:
    """Below the true form, buffers full."""
    return always(
        uniformity_constant_as_stated(K, late) < uniformity_constant(K, late),
        given=[K >= 2],
        domain=r"every $K\ge2$ and $t\ge K$, $t=K+s$",
    )


CLAIMS = [
    Claim(
        id="eq:vck-exact",
        kind="corollary",
        title=r"closed form of $\widetilde V$, constant admission",
        statement=said(
            r"Under constant admission and $K$-step retention $\widetilde V(t)$ has the printed closed "
            "form, with $@lost$ in its denominator.",
            lost=PRINTED,
        ),
        formula=said(
            r"\widetilde V^{CK}(t)=\frac{(Kt-\frac{K(K-1)}2)^2}{t\,(K^2t-@lost)}=@V",
            lost=PRINTED,
            V=sp.factor(uniformity_constant_as_stated(K, t)),
        ),
        domain=r"every $K\ge1$, $t\ge1$",
        checks=(printed_uniformity, printed_uniformity_simulated),
        corrected=Correction(
            title=said(r"$@lost$ with $k=\min(K,t)$", lost=TRUE),
            statement=said(
                r"The constant is $@lost$ with $k=\min(K,t)$, in every round; so for $t\ge K$ it is "
                r"$@late$, and for $t\le K$ $\widetilde V=@early$, which does not depend on $K$. With "
                r"$y=t-(k-1)/2$, $\bar\Lambda/N_{\mathrm{eff}}=@inverse$.",
                lost=TRUE,
                late=TRUE.subs(k, K),
                early=sp.factor(uniformity_constant(t + s, t)),
                inverse=in_y(rate * inverse_effective_constant(K, t, rate)),
            ),
            formula=said(
                r"\widetilde V^{CK}(t)=\frac{(kt-\frac{k(k-1)}2)^2}{t\,(k^2t-@lost)},\ k=\min(K,t)",
                lost=TRUE,
            ),
            sketch=said(
                r"$\sum A^2=K^2(t-K)+\sum A^2$ of the cohorts used $1,\ldots,K$ times "
                "$=K^2t-(K^3-K(K+1)(2K+1)/6)$, and $K^3-K(K+1)(2K+1)/6=@lost$. The printed constant is "
                r"the sum of the squares $1,\ldots,K-1$, where the sum of $K^2-u^2$ over "
                r"$u=1,\ldots,K-1$ is needed.",
                lost=TRUE.subs(k, K),
            ),
            checks={
                r"$t\ge K$": (true_uniformity_full, confirming(true_uniformity_simulated)),
                r"$t\le K$": (true_uniformity_filling, confirming(true_uniformity_simulated)),
                r"$1/N_{\mathrm{eff}}$": inverse_effective_size,
            },
        ),
    ),
    Claim(
        id="eq:vck-exact/range",
        kind="step",
        title=r"the printed $\widetilde V$ lies in (0, 1]",
        statement="The printed closed form takes values in (0, 1], as a uniformity must.",
        formula=said(
            r"0<@V\le1",
            V=sp.factor(uniformity_constant_as_stated(K, t)),
        ),
        domain=r"every $K\ge1$, $t\ge1$",
        checks=(printed_range,),
        corrected=Correction(
            title=said(
                "0 just for $@z=@zero$, negative just for $@n<@negative$",
                z=ZERO.lhs,
                zero=ZERO.rhs,
                n=NEGATIVE.lhs,
                negative=NEGATIVE.rhs,
            ),
            statement=said(
                r"The printed form is defined for all whole $K$, $t\ge1$. It is 0 exactly where "
                r"$@z=@zero$, negative exactly where $@n<@negative$, and for $K\ge2$ strictly below the "
                r"true $\widetilde V$ in every round from $K$ on.",
                z=ZERO.lhs,
                zero=ZERO.rhs,
                n=NEGATIVE.lhs,
                negative=NEGATIVE.rhs,
            ),
            formula=said(
                r"\widetilde V=0\iff@z=@zero;\quad\widetilde V<0\iff@n<@negative",
                z=ZERO.lhs,
                zero=ZERO.rhs,
                n=NEGATIVE.lhs,
                negative=NEGATIVE.rhs,
            ),
            sketch="Signs of numerator and denominator; the denominator vanishes for no whole $K$, "
            r"$t\ge1$. The first negative value is at $K=5$, $t=1$.",
            checks={
                "defined": printed_never_divides_by_zero,
                "zero": printed_zero,
                "negative": printed_negative,
                "too small": printed_too_small,
            },
        ),
    ),
]
