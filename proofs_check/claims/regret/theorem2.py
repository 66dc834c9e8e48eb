"""The regret (`thm:dpp-regret`) of every policy inside the region, for every V."""

from proofs_check.prelude import *

from proofs_check.engines.kernel import serving
from proofs_check.groundwork.control.orders import ONES, SPREAD, t
from proofs_check.groundwork.control.printed_log import as_printed
from proofs_check.groundwork.regret import expansion
from proofs_check.groundwork.regret.envelope import USUAL
from proofs_check.groundwork.regret.every_policy import drawn_inside, narrows
from proofs_check.groundwork.regret.expansion import EXPANSION, LIMIT
from theory.regret.rates import regret_rate, regret_rate_as_stated

PRINTED = regret_rate_as_stated(T, V, rho)
FIXED = r"every policy inside the region, $\rho$ fixed, as printed except for radicands' positive parts and $\log^+$"

NOT_LOGARITHMIC = refuted(
    "Inside.printed_regret_is_not_logarithmic",
    detail=r"at $K\ge2$ the regret of every policy inside the region exceeds every multiple of $\log T$",
    domain=FIXED,
)


def every_policy_as_stated() -> Evidence:
    """V = T and ρ fixed make the printed rate a constant plus log T; every policy's regret exceeds all multiples."""
    at_V = (regret_rate_as_stated(t, t, rho) / sp.log(t), t, 1, r"the printed rate at $V=T$ over $\log T$")
    return obeying(
        NOT_LOGARITHMIC(),
        {
            r"at $V=T$ the printed rate is $O(\log T)$": argument(at_V, domain=r"every fixed $\rho$"),
            **as_printed(Region(rate=USUAL.rate, rho=rho), ONES, given=[rho <= sp.sympify(USUAL.rho)]),
        },
    )


CLAIMS = [
    Claim(
        id="thm:dpp-regret",
        kind="theorem",
        substance="thm:dpp-regret/uniform",
        title=r"$\mathrm{Reg}=O(T/V+1/(1-\rho)+\log T)$, $V$, $\rho$ fixed: true, empty",
        statement=r"Read literally, with constants that may depend on $V$ and $\rho$, it is true, and empty: $T/V$ is "
        r"then linear in $T$, so it says $\mathrm{Reg}=O(T)$, whereas every policy inside the region has "
        r"$\mathrm{Reg}=o(T)$. (The reading that Remark 1 needs follows below.)",
        formula=said(r"\mathrm{Reg}(T)=O_{V,\rho}\Bigl(@rate\Bigr)=O_{V,\rho}(T)", rate=PRINTED),
        symbols={"O": r"up to a factor that may depend on $V$ and $\rho$"},
        domain=r"every fixed $V>0$ and $0<\rho<1$, $T\to\infty$; every policy inside the region, "
        r"$K\bar\Lambda=\sum B$, $K\ge1$; $\log^+$, which is the printed $\log$ in all but finitely many rounds",
        sketch="The dearest round of any policy inside the region exceeds the oracle's by an amount that tends to 0: "
        r"both roots have the same limit, as $K\bar\Lambda=\sum B$. No property of ACDPP is used.",
        checks={
            "the rate is linear": lambda: argument(
                (regret_rate_as_stated(t, V, rho) / t, t, 1 / V, "the printed rate over $T$"),
                domain=r"every fixed $V$, $\rho$; $T\to\infty$",
            ),
            "the regret is less": theorem("Inside.printed_regret_is_sublinear", domain=FIXED),
        },
    ),
    Claim(
        id="thm:dpp-regret/uniform",
        kind="reading",
        title="the same, with constants free of $V$",
        statement="As Remark 1 uses the theorem, $V$ growing with $T$: this is the reading that says something.",
        formula=said(r"\sup_{V,T}\mathrm{Reg}(T)\big/\Bigl(@rate\Bigr)<\infty", rate=PRINTED),
        domain=r"every $V>0$, $T\ge1$, $K\ge1$ and fixed $0<\rho<1$",
        checks=(serving(every_policy_as_stated, "Inside.printed_regret_is_not_logarithmic"),),
        corrected=Correction(
            title=said(r"$\mathrm{Reg}\sim@limit\sqrt{T\log T}$ inside the region, at any $V$", limit=LIMIT),
            statement=said(
                r"At fixed $\rho$ every policy inside the region has that regret: not less, whatever $V$, not more. "
                "To $O(1)$ it is one expansion, the same for all of them. So nothing is left of $T/V$. For $K=1$ the "
                r"regret itself stays bounded. Uniformly in $T\ge2$ and $\rho$ it is $O(@rate)$. (All of it for every "
                "single path of admissions, and so in the mean.)",
                rate=regret_rate(T, rho),
            ),
            formula=EXPANSION + said(r"\sim@limit\sqrt{T\log T}", limit=LIMIT),
            symbols={
                "H": r"$\int_0^x\sqrt{(1+\log^+u)/u}\,du$ (theory.generalisation_integral)",
                "O": "bounded as $T$ grows",
            },
            hypotheses=(
                "the policy stays inside the region",
                r"$K\bar\Lambda=\sum B$",
                r"$\rho$ is fixed (except in the last sentence)",
            ),
            given=(WRITTEN, SPREAD),
            sketch="Constant admission and every other policy: as told under thm:dpp-regret/expansion. "
            r"Uniformly: spread_bound (thm:dpp-regret/spread) is of order $h(1+\log h)$, $h=1/(1-\rho)$, "
            "and bounds the distance to constant admission, whose distance to the expansion does not depend "
            r"on $\rho$; expansion over $\sqrt{T\log T}$ and spread over $h(1+\log h)$ are continuous and "
            "have finite limits at the ends of their ranges.",
            checks={
                "constant admission": (expansion.first_terms, expansion.third_term, expansion.oracle_third),
                "integral": (expansion.antiderivative, expansion.falling, expansion.expansion_slope),
                "order": theorem(
                    "Inside.regret_of_every_policy",
                    "Inside.printed_regret_of_every_policy",
                    domain="uniformly over all policies inside the region, both forms",
                ),
                "every other policy": (partial(narrows, stated=False), confirming(drawn_inside)),
                "$K=1$": expansion.without_reuse,
                r"uniformly in $\rho$": (
                    lambda: expansion.over(
                        lambda T: regret_rate(T, rho), "the expansion's slope over the rate's"
                    ),
                    expansion.spread_order,
                ),
            },
        ),
    ),
]
