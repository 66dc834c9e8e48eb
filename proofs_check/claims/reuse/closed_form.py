"""The closed form of Ṽ under constant admission, printed and true; the truth is built from the counts alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import Check, Claim, Correction, confirming
from proofs_check.engines.argument import argument
from proofs_check.engines.exact import Found, differing, drawn, retentions, unless
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, refutes, together
from proofs_check.groundwork.reuse.constant_counts import CASES, EARLY, FULL, LATE, in_y, k, late, run, s
from proofs_check.symbols import K, rate, t
from proofs_check.text import said
from theory.reuse import inverse_effective_constant, uniformity_constant, uniformity_constant_as_stated


def lost_squares(uniformity: Any, horizon: Any) -> Any:
    """What a closed form subtracts from K²t: read off from it, given (Kt - K(K-1)/2)² above."""
    above = (horizon * t - horizon * (horizon - 1) / 2) ** 2
    return sp.factor(horizon**2 * t - sp.cancel(above / (t * uniformity)))


STATED = uniformity_constant_as_stated(K, t)
PRINTED = lost_squares(STATED, K)
TRUE = lost_squares(uniformity_constant(K, t).subs(sp.Min(K, t), k), k)
OFF = 4 * t * (K * K - 1) / (3 * K * (2 * t - K + 1) ** 2)  # printed less true 1/Ṽ
ZERO = sp.Eq(2 * t, K - 1)  # where the printed form vanishes
NEGATIVE = sp.Lt(6 * K * t, (K - 1) * (2 * K - 1))  # where it is below 0
SIGNS = {"z": ZERO.lhs, "zero": ZERO.rhs, "n": NEGATIVE.lhs, "negative": NEGATIVE.rhs}
DEFINED = sp.Ne(NEGATIVE.lhs, NEGATIVE.rhs)  # it divides by zero where they agree: for whole K and t never
EVERY = r"every $K\ge1$, $t\ge1$"


def _uniformity(at: Any, uses: Callable[[int], Any]) -> Any:
    """(ΣA)²/(NΣA²) of the counts."""
    return uses(1) ** 2 / (rate * at * uses(2))


def true_form(horizon: Any, at: Any, uses: Callable[[int], Any], domain: str) -> Evidence:
    """The corrected closed form on a stretch of rounds."""
    what = r"the closed form and $\widetilde V$"
    return equal(uniformity_constant(horizon, at), _uniformity(at, uses), domain=domain, what=what)


def inverse_form(horizon: Any, at: Any, uses: Callable[[int], Any], domain: str) -> Evidence:
    inverse, truth = inverse_effective_constant(horizon, at, rate), uses(2) / uses(1) ** 2
    what = r"the closed form of $1/N_{\mathrm{eff}}$ and $\sum A^2/(\sum A)^2$"
    return equal(inverse, truth, domain=domain, what=what)


def counted(formula: Callable[..., Any], domain: str, full: int = 60) -> Check:
    """A closed form against samples counted one by one."""

    @drawn(domain, (60, full), **CASES)
    def check(K: int, t: int, rates: list[int]) -> Found:
        return differing(**{"simulated Ṽ": run(K, t, rates).uniformity, "formula": formula(K, t)})

    return check


TRUE_COUNTED = confirming(counted(uniformity_constant, "every $K$ and $t$, to three clients", 1000))


def printed_never_divides_by_zero() -> Evidence:
    """What it divides by is a multiple of K(6t+3-2K) - 1: zero only if K divided 1."""
    (_, below), quotient = sp.fraction(sp.factor(STATED)), sp.Symbol("quotient", integer=True)
    factors = 2 * t * (K * (6 * t + 3 - 2 * K) - 1)
    return argument(
        (below, factors, "what it divides by and $2t(K(6t+3-2K)-1)$"),
        (below.subs(K, 1), 12 * t**2, "what it divides by for $K=1$ and $12t^2$"),
        (sp.Ne(K * quotient, 1), [K >= 2], r"no $K\ge2$ divides 1"),
        domain="every $K$, $t$",
    )


@drawn("every $K$ and $t$", (200, 200), K=retentions(10), t=st.integers(1, 24))
def printed_is_a_uniformity(K: int, t: int) -> Found:
    value = uniformity_constant_as_stated(K, t)
    return unless(0 < value <= 1, **{"printed Ṽ": value})


CLAIMS = [
    Claim(
        id="eq:vck-exact",
        kind="corollary",
        title=r"closed form of $\widetilde V$, constant admission",
        statement=said(
            r"Under constant admission and $K$-step retention $\widetilde V(t)$ has the printed closed form, with "
            "$@lost$ in its denominator.",
            lost=PRINTED,
        ),
        formula=said(
            r"\widetilde V^{CK}(t)=\frac{(Kt-\frac{K(K-1)}2)^2}{t\,(K^2t-@lost)}=@V",
            lost=PRINTED,
            V=sp.factor(STATED),
        ),
        domain=EVERY,
        repair=r"Write $k(k-1)(4k+1)/6$ for $K(K-1)(2K-1)/6$, and $k=\min(K,t)$ for $K$.",
        checks=(
            lambda: refutes(
                equal(
                    1 / uniformity_constant_as_stated(K, late) - 1 / _uniformity(*LATE[1:3]),
                    OFF.subs(t, late),
                    domain=FULL,
                    what=r"printed less true $1/\widetilde V$ and what it should be",
                ),
                said(
                    r"the printed $1/\widetilde V$ exceeds the true one by $@off$, which is 0 for $K=1$ alone",
                    off=OFF,
                ),
            ),
            counted(uniformity_constant_as_stated, "every $K$ and $t$"),
        ),
        corrected=Correction(
            title=said(r"$@lost$ with $k=\min(K,t)$", lost=TRUE),
            statement=said(
                r"The constant is $@lost$ with $k=\min(K,t)$, in every round; so for $t\ge K$ it is $@late$, and for "
                r"$t\le K$ $\widetilde V=@early$, which does not depend on $K$. With $y=t-(k-1)/2$, "
                r"$\bar\Lambda/N_{\mathrm{eff}}=@inverse$.",
                lost=TRUE,
                late=TRUE.subs(k, K),
                early=sp.factor(uniformity_constant(t + s, t)),
                inverse=in_y(rate * inverse_effective_constant(K, t, rate)),
            ),
            formula=said(
                r"\widetilde V^{CK}(t)=\frac{(kt-\frac{k(k-1)}2)^2}{t\,(k^2t-@lost)},\ k=\min(K,t)", lost=TRUE
            ),
            sketch=said(
                r"$\sum A^2=K^2(t-K)$ and $\sum A^2$ of the cohorts used $1,\ldots,K$ times, together "
                r"$K^2t-(K^3-K(K+1)(2K+1)/6)$, and $K^3-K(K+1)(2K+1)/6=@lost$. The printed constant is the sum of the "
                r"squares $1,\ldots,K-1$, where the sum of $K^2-u^2$ over $u=1,\ldots,K-1$ is needed.",
                lost=TRUE.subs(k, K),
            ),
            checks={
                r"$t\ge K$": (lambda: true_form(*LATE), TRUE_COUNTED),
                r"$t\le K$": (lambda: true_form(*EARLY), TRUE_COUNTED),
                r"$1/N_{\mathrm{eff}}$": lambda: together(inverse_form(*LATE), inverse_form(*EARLY)),
            },
        ),
    ),
    Claim(
        id="eq:vck-exact/range",
        kind="step",
        title=r"the printed $\widetilde V$ lies in (0, 1]",
        statement="The printed closed form takes values in (0, 1], as a uniformity must.",
        formula=said(r"0<@V\le1", V=sp.factor(STATED)),
        domain=EVERY,
        repair="None is needed once eq:vck-exact is mended.",
        checks=(printed_is_a_uniformity,),
        corrected=Correction(
            title=said("0 if and only if $@z=@zero$, negative if and only if $@n<@negative$", **SIGNS),
            statement=said(
                r"The printed form is defined for all whole $K,t\ge1$. It is 0 exactly where $@z=@zero$, negative "
                r"exactly where $@n<@negative$, and for $K\ge2$ strictly below the true $\widetilde V$ in every round "
                "from $K$ on.",
                **SIGNS,
            ),
            formula=said(r"\widetilde V=0\iff@z=@zero;\quad\widetilde V<0\iff@n<@negative", **SIGNS),
            sketch=r"Signs of numerator and denominator; the denominator vanishes for no whole $K,t\ge1$. The first "
            "negative value is at $K=5$, $t=1$.",
            checks={
                "defined": printed_never_divides_by_zero,
                "zero": lambda: always(sp.Equivalent(sp.Eq(STATED, 0), ZERO), given=[DEFINED], domain=EVERY),
                "negative": lambda: always(
                    sp.Equivalent(STATED < 0, NEGATIVE), given=[DEFINED], domain=EVERY
                ),
                "too small": lambda: always(
                    uniformity_constant_as_stated(K, late) < uniformity_constant(K, late),
                    given=[K >= 2],
                    domain=r"every $K\ge2$ and $t\ge K$, $t=K+s$",
                ),
            },
        ),
    ),
]
