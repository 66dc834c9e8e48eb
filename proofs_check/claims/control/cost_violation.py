"""The cost violation (`thm:dpp-cost-constraint`) and the step of its proof that fails (`eq:cost-proof-3`)."""

from proofs_check.prelude import *

from proofs_check.groundwork.control import drift_step, lambert_sum
from proofs_check.groundwork.control.orders import ALONG, h
from theory.control import violation
from theory.control.penalty import least_rate_as_printed

STATED = violation.cost_violation_rate_as_stated(T, V, rho)
SERIES = {
    "S": lambert_partial(rho, T + 1),
    "U": violation.lambert_bound(rho),
    "R": violation.cost_violation_rate(rho),
}
EVERY_HORIZON = (
    r"constant admission is affordable, $\bar\Lambda\sum_{s\le t}\mathbb E[c(s)]\le Ct$, for every $t$"
)


def after_round_1(order: int, what: str) -> tuple[Check, Check, Check]:
    """The debt of round 1, at c = C/Λ̄, against a power of the printed rate as ρ → 1: as printed, with log⁺ against it,
    and with log⁺ as a statement.
    """
    wide = Region(rate=least_rate_as_printed(ALONG.rho, CONSTANTS), rho=ALONG.rho)
    alone = r"$T=1$, $c=C/\bar\Lambda$, any $V$, $\rho=1-1/h$, $h\to\infty$"

    def paid(region: Region) -> tuple[Any, Any, str]:
        return C / region.rate * region.rate, C, r"$c\bar\Lambda$ and $C$"

    def over(region: Region) -> tuple[Any, Any]:
        """The debt, and its power over that of the printed rate."""
        debt = debt_update(0, C / region.rate, region_maximum(region, 1), C)
        return debt, debt**order / order / violation.cost_violation_rate_as_stated(1, V, region.rho) ** order

    def against(region: Region, domain: str, first: dict[str, Evidence]) -> Evidence:
        debt, quotient = over(region)
        found = diverges(quotient, h, what=what, domain=domain, **{"Vio^S(1) = Z(2)": debt})
        return obeying(
            found, {**first, "constant admission is affordable": argument(paid(region), domain=alone)}
        )

    def as_printed() -> Evidence:
        domain = rf"{alone}; $\bar\Lambda=\mathrm{{Pdim}}\,h$, with which the printed $p$ is real"
        return against(wide, domain, drift_step.in_round_1(wide))

    def with_log_plus() -> Evidence:
        facts = {r"with $\log^+$ round 1 of ACDPP admits $\Lambda_{\max}(1)$": drift_step.without_debt()}
        return against(ALONG, rf"{alone}; any $\bar\Lambda$, $p$ with $\log^+$", facts)

    def stated() -> Evidence:
        domain = rf"{alone}; any $\bar\Lambda$, $p$ with $\log^+$"
        tends = (1 / over(ALONG)[1], h, 0, f"1/({what})")
        return argument(drift_step.without_debt(), paid(ALONG), tends, domain=domain)

    return as_printed, with_log_plus, stated


PRINTED, WIDE, WIDE_STATED = after_round_1(1, "the violation of round 1 divided by the printed rate")
PRINTED_SQUARE, WIDE_SQUARE, WIDE_SQUARE_STATED = after_round_1(2, r"$L(2)$ divided by $V+V/(1-\rho)$")


def debt_of_drifting_costs() -> Evidence:
    """V and ρ fixed; m free rounds, then m at 2C/Λ̄, all at the region's lower end: Z(2m+1) is at least their excess."""
    m, decay = sp.symbols("m decay", positive=True)
    j = sp.Symbol("j", nonnegative=True)
    region = Region(rate=rate, rho=sp.exp(-decay))
    dear = region_minimum_total(region, 2 * m + 1) - region_minimum_total(region, m + 1)
    debt = sp.expand(2 * C / rate * dear - C * m)
    found = diverges(
        debt**2 / 2 / violation.cost_violation_rate_as_stated(2 * m, V, region.rho) ** 2,
        m,
        what=r"$L(T+1)$ divided by $VT+V/(1-\rho)$",
        domain=r"costs 0 in rounds $1,\ldots,m$ and $2C/\bar\Lambda$ in rounds $m+1,\ldots,2m=T$; any $V$, "
        r"$\rho=\exp(-\text{decay})$, $\bar\Lambda$, $C$",
        **{"Z(T+1) is at least": debt},
    )
    after = r"after $m$ free and $j\le m$ dear rounds"
    paid = always(2 * C / rate * j * rate <= C * (m + j), given=[j <= m], domain=after)
    more = drift_step.debt_behaves()
    return obeying(found, {"higher ends give more debt": more, "an affordable average so far": paid})


def penalties_not_negative() -> Evidence:
    """The three terms are at least 0, so leaving them out keeps the inequality."""
    gap, n, w = sp.symbols("gap n w", positive=True)
    P = CONSTANTS.Pdim
    thirds = [penalty_terms(n, N, CONSTANTS).generalisation for N in (P * (1 + w), P, P / (1 + w))]
    if not all(third.is_positive for third in thirds):
        return undecided("identity", "the third term's sign is open", domain="every $N$")
    return argument(
        (sp.Ge(root_term(gap, CONSTANTS), 0, evaluate=False), [], r"every $1/n-1/N\ge0$"),
        (sp.Ge(linear_term(gap, CONSTANTS), 0, evaluate=False), [], r"every $1/n-1/N\ge0$"),
        holds("identity", "the third term is positive", domain="every $N$", certificate={"terms": thirds}),
    )


BOUNDED = theorem("Control.violation_bounded", domain=EVERY_HORIZON)
RATE = theorem("Control.printed_rate_holds", domain=r"every fixed $V$ and $\rho$, every $T\ge1$")
WHY = (
    r"$\mathbb E[c\Lambda]\le\mathbb E[c]\Lambda_{\max}(t)=\mathbb E[c]\bar\Lambda w_t$ with $w_t=1/(1-\rho^t)$, "
    r"because $c\ge0$, whatever cost and admission have to do with each other. Then "
    r"$\sum\mathbb E[c]\bar\Lambda w_t-CT=\sum(\mathbb E[c]\bar\Lambda-C)w_t+C\sum(w_t-1)$, and summation by parts "
    r"makes the first sum non-positive: $w$ falls, and the prefixes of $\mathbb E[c]\bar\Lambda-C$ are not positive. "
    r"With $g=(1-\rho^t)/(1-\rho)=\sum_{j<t}\rho^j$, which lies between $t\rho^{(t-1)/2}$ and $t$, "
    r"$w_t-1=\rho^t/(1-\rho^t)$ lies between $\rho^t/(t(1-\rho))$ and $\sqrt\rho\,\sqrt\rho^t/(t(1-\rho))$, and "
    r"$\sum q^t/t=\log(1/(1-q))$."
)

CLAIMS = [
    Claim(
        id="thm:dpp-cost-constraint",
        kind="theorem",
        substance="thm:dpp-cost-constraint/uniform",
        title=r"$\mathrm{Vio}^{\mathrm S}=O(\sqrt{VT+V/(1-\rho)})$, $V$ and $\rho$ fixed",
        statement=r"Read literally, for one cost process: the constant may depend on $V$, $\rho$ and the process. (The "
        r"violation is even bounded. Below: one constant for all $V$ and $\rho$, and costs affordable at one horizon "
        "alone.)",
        formula=said(r"\mathrm{Vio}^{\mathrm S}(T)=O\bigl(@r\bigr)", r=STATED),
        domain=rf"every fixed $V>0$ and $0<\rho<1$, $T\to\infty$; {EVERY_HORIZON}",
        checks={"the violation": BOUNDED, "rate": RATE},
        sketch=f"{WHY} So the violation is bounded in $T$, and the printed rate grows with $T$.",
    ),
    Claim(
        id="thm:dpp-cost-constraint/uniform",
        kind="reading",
        title=r"the same, with one constant for all $V\ge1$ and $\rho$",
        statement=r"The constant depends on neither $V$, $\rho$ nor $T$. (The theorem fixes $V$ and $\rho$; the remark "
        r"after it puts $V=T^\gamma$ and $\rho=1-T^{-\phi}$ into the rate, which takes a constant free of both, for "
        r"$V\ge1$ and $\rho$ near 1. Read with $\log^+$ in $p$, or else with one constant for all $\bar\Lambda$ too: "
        r"at a fixed $\bar\Lambda$ and $\rho$ near 1 the printed $p$ of round 1 is not real on all of the region, see "
        "eq:penalty-dpp/real.)",
        formula=said(r"\sup_{V\ge1,\rho,T}\mathrm{Vio}^{\mathrm S}(T)\big/@r<\infty", r=STATED),
        domain=rf"every $V\ge1$, $0<\rho<1$, $T\ge1$; {EVERY_HORIZON}; $p$ with $\log^+$, or as printed and every "
        r"$\bar\Lambda$",
        checks=(PRINTED, WIDE),
        corrected=Correction(
            title=r"$\mathrm{Vio}^{\mathrm S}\le C\sum\rho^t/(1-\rho^t)\le C\log(2/(1-\rho))/(1-\rho)$, whatever $V$",
            statement="Every policy inside the region keeps these bounds, for any $V$ and any dependence between costs "
            r"and admissions; always admitting $\Lambda_{\max}$, at mean cost $C/\bar\Lambda$, attains the first. The "
            r"second is less than $C\log(2/(1-\rho))/(1-\rho)$, and the two bounds on the sum over all rounds agree to "
            r"leading order as $\rho$ tends to 1. With $\log^+$ in $p$ round 1 of ACDPP alone exceeds any multiple of "
            r"the printed rate as $\rho$ tends to 1, at any $V$.",
            formula=said(
                r"\mathrm{Vio}^{\mathrm S}(T)\le C@S\le C\cdot\bigl(@U\bigr),\qquad"
                r"@R\le\sum_{t\ge1}\frac{\rho^t}{1-\rho^t}\le@U",
                **SERIES,
            ),
            hypotheses=(r"$\bar\Lambda\sum_{s\le t}\mathbb E[c(s)]\le Ct$ for every $t\le T$",),
            sketch=WHY,
            checks={
                "the violation": BOUNDED,
                "attained": theorem("Control.violation_attained", domain=r"every $T$, $\rho$, $C$"),
                "the sum": theorem("Lambert.lambert_above", "Lambert.lambert_below", domain=r"every $\rho$"),
                r"below $\log(2/(1-\rho))$": theorem("Lambert.lambert_bound_below", domain=r"every $\rho$"),
                r"order in $\rho$": lambert_sum.lambert_order,
                r"ACDPP as $\rho\to1$, with $\log^+$": WIDE_STATED,
            },
        ),
    ),
    Claim(
        id="thm:dpp-cost-constraint/one-horizon",
        kind="reading",
        title="the same, with costs affordable at horizon $T$ alone",
        statement="As eq:ck-cost-constraint has it: only the average over the whole horizon $T$ is affordable; $V$ "
        r"and $\rho$ fixed, one constant for all costs whose means stay below $c_{\max}$. (The paper asks for that: a "
        r"drift constant $B<\infty$ for all rounds bounds $\mathbb E[c^2]$, and "
        r"$\mathbb E[c]\le\sqrt{\mathbb E[c^2]}$. With costs that grow with $T$ it fails, see "
        "thm:dpp-cost-constraint/largest.) The violation is even bounded in $T$.",
        formula=said(
            r"\bar c_T\bar\Lambda\le C,\ E[c(t)]\le c_{\max}\Rightarrow\mathrm{Vio}^{\mathrm "
            r"S}(T)\le@peak=O\bigl(@r\bigr)",
            peak=violation.cost_violation_by_peak(T, REGION, lambert_sum.peak),
            r=STATED,
        ),
        symbols={"c_max": "bound on every round's mean cost"},
        domain=r"every fixed $V>0$ and $0<\rho<1$; $\bar\Lambda\sum_{t\le T}\mathbb E[c(t)]\le CT$; one bound "
        r"$\mathbb E[c(t)]\le c_{\max}$ for the mean costs of all rounds and horizons; any dependence of the costs",
        checks={
            "the violation": theorem(
                "Control.violation_by_peak",
                "Lambert.lambert_above",
                domain="any costs, any policy inside the region",
            ),
            "rate": RATE,
        },
        sketch=r"As above $\mathbb E[c\Lambda]\le\mathbb E[c]\bar\Lambda(1+h(t))$ with $h(t)=\rho^t/(1-\rho^t)$. Of "
        r"$\sum(\mathbb E[c]\bar\Lambda-C)+\sum\mathbb E[c]\bar\Lambda h(t)$ the first sum is not positive, the "
        r"horizon being affordable, and the second is at most $c_{\max}\bar\Lambda\sum h(t)$, which is bounded in $T$ "
        "as in thm:dpp-cost-constraint. The printed rate grows with $T$.",
    ),
    Claim(
        id="eq:cost-proof-3",
        kind="step",
        title=r"$\mathbb E[L(T+1)]=O(VT)+O(V/(1-\rho))$",
        statement=r"After $T$ rounds the mean Lyapunov function is of order $VT+V/(1-\rho)$: the drift constants are "
        r"absorbed. (Dear rounds after cheap ones refute it at fixed $V$ and $\rho$; for all $\rho$ at once the first "
        r"round does.)",
        formula=r"E[L(T+1)]=O(VT)+O(V/(1-\rho))",
        domain=rf"every $V\ge1$, $0<\rho<1$, $T\ge1$; {EVERY_HORIZON}",
        repair=r"Keep $\sum_tB_t$ on the right, with $\bar p^{\mathrm{CK}}$ mended as in lem:dpp-T-slot-upper.",
        checks=(debt_of_drifting_costs, PRINTED_SQUARE, WIDE_SQUARE),
        corrected=Correction(
            title=r"$\mathbb E[L(T+1)]\le\sum B_t+V\sum\bar p^{\mathrm{CK}}$, repaired: $\sum B_t$ stays",
            statement=r"The sum of the drift constants, of order $T+(1-\rho)^{-2}$ and free of $V$, must be kept, "
            r"beside the repaired $\bar p^{\mathrm{CK}}$. With $\log^+$ in $p$, which a real $p$ needs near "
            r"$\rho=1$, $L(2)$ of ACDPP exceeds any multiple of $V+V/(1-\rho)$ as $\rho$ tends to 1.",
            formula=r"E[L(T+1)]\le\sum_tB_t+V\sum_t\bar p^{CK}(t)",
            hypotheses=drift_step.PAST,
            given=(
                Given("lem:dpp-T-slot-upper, corrected", r"the same with $V\sum\mathbb E[p]$ on the left"),
            ),
            sketch=r"lem:dpp-T-slot-upper, corrected, without its non-negative penalties; for $\sum B_t$ see "
            r"eq:dpp-upper-1. It may be absorbed into $O(VT)$ only for $V$ bounded below and $1-\rho$ of order "
            "$T^{-1/2}$ at least.",
            checks={
                r"$p\ge0$": penalties_not_negative,
                "$B_t$": drift_step.drift_excess,
                r"$\sum B_t$": drift_step.drift_summand,
                r"ACDPP as $\rho\to1$, with $\log^+$": WIDE_SQUARE_STATED,
            },
        ),
    ),
]
