r"""Best effective rate with the paper's budgets (`buy:best-rule/paper`): 18.64 of 25.57 samples per round."""

from proofs_check.prelude import *

from proofs_check.groundwork.market.certificates import capped_price, faults, papers_best
from proofs_check.groundwork.market.figures import exactly, figures
from proofs_check.groundwork.market.market import FLOATS, PAPER, PLACES, SETTING, SHARE, SYMBOLS, S, j, low
from theory.paper import BUDGET

mean = sp.Symbol("mean", positive=True)
BEST = Given("buy:best-rule", r"$h$ and $\lambda$ with Bellman's inequality bound every causal rule's burden")
FULL = Given("buy:full-memory", r"that $N_{\mathrm{eff}}/t$ is $S/(2\bar A-1)$")


def price_at_most() -> Evidence:
    """E min(c, θ) of uniform prices, by integration, is spent + (1-mass)·θ."""
    width, top, at = sp.symbols("w theta price", positive=True)
    law = Uniform(low, low + width)
    found, highest = capped_price(law, top), low + width
    wanted = sp.integrate(at / width, (at, low, top)) + top * (highest - top) / width
    return argument(
        (sp.Eq(found, wanted), [top >= low, top <= highest], r"$\theta$ among the prices"),
        (sp.Eq(found, law.mean), [top >= highest], r"$\theta$ above all prices"),
        (sp.Eq(found, top), [top <= low], r"$\theta$ below all prices"),
    )


def papers_budgets() -> Evidence:
    """A rule in exact numbers within the budget, and a certificate for all rules."""
    rule, certificate = papers_best()
    stated = best_replacement(FLOATS, PLACES, BUDGET).effective_rate
    attained, most = (
        ball(effective_rate(PLACES, (burden + 1) / 2)) for burden in (rule.burden, certificate.least(SHARE))
    )
    ends = ("18.6366", "18.6367")
    return together(
        exactly(
            f"{SETTING}: Bellman's inequality at all {len(certificate.values)} ages, the rule's cost at most $C/S$, "
            "and no sample older than the last age",
            (faults(PAPER, certificate), rule.cost <= SHARE, rule.thresholds[-1] >= 10),
            ([], True, True),
        ),
        figures(
            SETTING,
            ("the rule's effective rate", attained, ends),
            ("no rule's effective rate is above", most, ends),
            ("theory's figure", ball(Fraction(stated)), ends),
            ("samples bought per round", ball(PLACES * rule.renewals), "22.17"),
        ),
    )


CLAIMS = [
    Claim(
        id="buy:best-rule/paper",
        title="18.64 effective per round: the most with full memory, causal",
        statement="With the paper's MNIST budgets, $S=100$ and $C=55$, and independent prices uniform on "
        "$[1,10]$ the largest long-run effective rate of a full memory, over all causal rules, lies "
        "between 18.6366 and 18.6367. The rule that has it buys 22.17 samples per round, where money could "
        "buy 25.57, and pays for a successor the more the older a sample is.",
        formula=said(
            r"18.6366<\max\lim\frac{N_{\mathrm{eff}}(t)}t=\frac S{\min\mathbb E[g]}<18.6367,\qquad g(j)=@g",
            g=age_burden(j),
        ),
        domain="$S=100$, $C=55$, independent prices uniform on $[1,10]$; every causal rule that keeps the memory full",
        given=(BEST, FULL),
        sketch=r"$N_{\mathrm{eff}}/t$ is $S$ over the mean of $2A-1$ (buy:full-memory), so the burden is "
        r"$g(j)=2j-1$. Above: rational $\lambda$, $\mu$ and $h(1),\ldots,h(28)$, found by rounding theory's, "
        "satisfy Bellman's inequality (buy:best-rule) at every age, for uniform prices a polynomial in "
        r"rational numbers: so no rule of cost $C/S$ has a burden below $\lambda-\mu C/S$. Below: theory's "
        "thresholds, rounded down to rational numbers, cost at most $C/S$ and have a rational burden too, by "
        "the renewal of a place; at the last age any price is paid, so that no sample is older.",
        checks={
            "prices": price_at_most,
            "burdens": lambda: argument(
                (age_burden(j), 2 * j - 1, "$g$ and $2j-1$"),
                (effective_rate(S, (mean + 1) / 2), S / mean, r"the effective rate and $S/\mathbb E[g]$"),
                domain="every age and burden",
            ),
            "the figures": papers_budgets,
        },
        symbols={**SYMBOLS, "g": r"what a sample of an age adds to $1/N_{\mathrm{eff}}$"},
    )
]
