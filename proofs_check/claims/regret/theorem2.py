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

ASYMPTOTIC = theorem("Inside.printed_regret_of_every_policy", domain=FIXED)
ORDER = sp.sqrt(t * sp.log(t))


def every_policy_as_stated() -> Evidence:
    """V = T^(3/4), ρ fixed: the regret of every policy inside the region, asymptotic to a multiple of √(T log T)."""
    found = diverges(
        LIMIT.subs(K, 2) * ORDER / regret_rate_as_stated(t, t ** sp.Rational(3, 4), rho),
        t,
        what="the regret of every policy inside the region, to leading order, over the printed rate",
        domain=r"$\gamma=3/4$, $V=T^\gamma$, $K=2$, any $\bar\Lambda$ and constants; $T\to\infty$",
    )
    real = as_printed(Region(rate=USUAL.rate, rho=rho), ONES, given=[rho <= sp.sympify(USUAL.rho)])
    return obeying(found, {"that is its leading order": ASYMPTOTIC(), **real})


def small_weight() -> Evidence:
    """The order of the regret over T/V at the largest V."""
    most = sp.Symbol("a", positive=True)
    over = (ORDER / (t / (most * sp.sqrt(t / sp.log(t)))), t, most, r"$\sqrt{T\log T}$ over $T/V$")
    return argument(over, domain=r"$V=a\sqrt{T/\log T}$, every $a$")


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
        statement=r"As Remark 1 uses the theorem, $V=T^\gamma$ growing with $T$: this is the reading that says "
        r"something. (That $\rho$ moves too is rem:1.)",
        formula=said(r"\sup_T\mathrm{Reg}(T)\big/\Bigl(@rate\Bigr)<\infty\quad(V=T^\gamma)", rate=PRINTED),
        domain=r"$V=T^\gamma$, every $0<\gamma<1$, $T\ge1$, $K\ge1$ and fixed $0<\rho<1$",
        checks=(serving(every_policy_as_stated, "Inside.printed_regret_of_every_policy"),),
        hypotheses=(r"$V=O(\sqrt{T/\log T})$, as for $\gamma<1/2$",),
        checks_with_hypotheses=(ASYMPTOTIC, small_weight),
        sketch=r"The regret is of order $\sqrt{T\log T}$ whatever $V$, and $T/V$ is at least of that order if and only "
        r"if $V=O(\sqrt{T/\log T})$.",
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
                    "Inside.printed_regret_is_not_logarithmic",
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
