r"""How near N_eff comes to what money buys (`buy:best-rule/paper`): 18.64 effective samples a round of 25.57.

Two-sided, in exact numbers: a rule with rational thresholds within the budget, and rational λ, μ, h that satisfy
Bellman's inequality at every age.
"""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from proofs_check.claim import Claim, Given
from proofs_check.engines.exact import exhaust
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.buying.certificates import capped_price, faults, papers_best
from proofs_check.groundwork.buying.figures import between, rounds_to
from proofs_check.groundwork.buying.market import BUDGET, PAPER, PLACES, SHARE, SYMBOLS, S, j, low
from proofs_check.text import said
from theory.algebra import ball
from theory.capacity import age_burden, effective_rate
from theory.prices import Uniform
from theory.replacement import best_replacement

F = Fraction
SETTING = "$S=100$, $C=55$, prices uniform on [1, 10]"
BEST = Given(
    "buy:best-rule",
    r"that $h$ and $\lambda$ with Bellman's inequality bound the burden of "
    "every causal rule",
)
FULL = Given("buy:full-memory", r"that $N_{\mathrm{eff}}/t$ is $S/(2\bar A-1)$")


def price_at_most() -> Evidence:
    """E min(c, θ) of uniform prices, by integration, is spent + (1-mass)·θ."""
    width, top, at = sp.symbols("w theta price", positive=True)
    law = Uniform(low, low + width)
    wanted = sp.integrate(at / width, (at, low, top)) + top * (low + width - top) / width
    return together(
        always(
            sp.Eq(capped_price(law, top), wanted),
            given=[top >= low, top <= low + width],
            domain=r"$\theta$ among the prices",
        ),
        always(
            sp.Eq(capped_price(law, top), law.mean),
            given=[top >= low + width],
            domain=r"$\theta$ above "
            "all prices",
        ),
        always(sp.Eq(capped_price(law, top), top), given=[top <= low], domain=r"$\theta$ below all prices"),
    )


def small_steps() -> Evidence:
    """With g(j) = 2j-1 the effective rate is S over the mean burden."""
    mean = sp.Symbol("mean", positive=True)
    return together(
        equal(age_burden(j), 2 * j - 1, domain="every age", what="$g$ and $2j-1$"),
        equal(
            effective_rate(S, (mean + 1) / 2),
            S / mean,
            domain="every burden",
            what=r"the effective rate and $S/\mathbb E[g]$",
        ),
    )


def papers_budgets() -> Evidence:
    """A rule in exact numbers within the budget, and a certificate for all rules: both at 18.6366; it buys 22.17."""
    rule, certificate = papers_best()
    wrong = faults(PAPER, certificate)
    stated = best_replacement(Uniform(1.0, 10.0), PLACES, BUDGET).effective_rate
    good = exhaust(
        [{"wrong": wrong, "over budget": rule.cost > SHARE, "last": rule.thresholds[-1]}],
        lambda **found: (
            None if not any((wrong, rule.cost > SHARE, rule.thresholds[-1] < 10)) else {"faults": wrong}
        ),
        domain=f"{SETTING}: Bellman's inequality at all {len(certificate.values)} ages, the rule's cost at most C/S, "
        "and no sample older than the last age",
        strength="proof",
    )
    return together(
        good,
        between(
            ball(effective_rate(PLACES, (rule.burden + 1) / 2)),
            F("18.6366"),
            F("18.6367"),
            what="the rule's effective rate",
            domain=SETTING,
        ),
        between(
            ball(effective_rate(PLACES, (certificate.least(SHARE) + 1) / 2)),
            F("18.6366"),
            F("18.6367"),
            what="no rule's effective rate is above",
            domain=SETTING,
        ),
        between(ball(F(stated)), F("18.6366"), F("18.6367"), what="theory's figure", domain=SETTING),
        rounds_to(ball(PLACES * rule.renewals), "22.17", what="samples bought a round", domain=SETTING),
    )


CLAIMS = [
    Claim(
        id="buy:best-rule/paper",
        kind="addition",
        title="18.64 effective samples a round, and no rule has more",
        statement="With the paper's MNIST budgets, $S=100$ and $C=55$, and independent prices uniform on "
        "[1, 10] the largest long-run effective rate of a full memory, over all causal rules, lies "
        "between 18.6366 and 18.6367. The rule that has it buys 22.17 samples a round, where money could "
        "buy 25.57, and pays for a successor the more the older a sample is.",
        formula=said(
            r"18.6366<\max\lim\frac{N_{\mathrm{eff}}(t)}t=\frac S{\min\mathbb E[g]}<18.6367,\qquad g(j)=@g",
            g=age_burden(j),
        ),
        domain="$S=100$, $C=55$, prices uniform on [1, 10]; every causal rule that keeps the memory full",
        given=(BEST, FULL),
        sketch=r"$N_{\mathrm{eff}}/t$ is $S$ over the mean of $2A-1$ (buy:full-memory), so the burden is "
        r"$g(j)=2j-1$. Above: rational $\lambda$, $\mu$ and $h(1)$, $\ldots$, $h(28)$, found by rounding "
        r"theory's, satisfy $h(j)\le E$ $\min(\mu c,g(j+1)-\lambda+h(j+1))$, which for uniform prices is "
        r"a polynomial in rational numbers, at every age, and $g(1)-\lambda+h(1)\ge0$: so no rule of "
        r"cost $C/S$ has a burden below $\lambda-\mu C/S$. Below: theory's thresholds, rounded down to "
        "rational numbers, cost at most $C/S$ and have a burden that is a rational number too, by the "
        "renewal of a place; at the last age any price is paid, so that no sample is older.",
        checks={"prices": price_at_most, "burdens": small_steps, "the figures": papers_budgets},
        symbols={**SYMBOLS, "g": r"what a sample of an age adds to $1/N_{\mathrm{eff}}$", "j": "an age"},
    ),
]
