"""The cost violation (`thm:dpp-cost-constraint`) and the step of its proof that fails (`eq:cost-proof-3`)."""

from proofs_check.prelude import *

from proofs_check.groundwork.control import drift_step, lambert_sum
from proofs_check.groundwork.control.orders import T as T_real
from proofs_check.groundwork.control.orders import h
from proofs_check.groundwork.regret import coin
from theory.control import violation

STATED = violation.cost_violation_rate_as_stated(T, V, rho)
SERIES = {
    "S": lambert_partial(rho, T + 1),
    "U": violation.lambert_bound(rho),
    "R": violation.cost_violation_rate(rho),
}
EVERY_HORIZON = (
    r"constant admission is affordable, $\bar\Lambda\sum_{s\le t}\mathbb E[c(s)]\le Ct$, for every $t$"
)


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


def absorbed() -> Evidence:
    """T and h², of which ΣB_t is made, and T + h, of which Σp̄ is, over VT: h = 1/(1-ρ) fixed."""
    return argument(
        ((T_real + h**2) / (V * T_real), T_real, 1 / V, r"$T+h^2$ over $VT$"),
        (V * (T_real + h) / (V * T_real), T_real, 1, r"$V(T+h)$ over $VT$"),
        domain=r"every fixed $V$ and $\rho$, $T\to\infty$",
    )


KEPT: dict[str, Check | tuple[Check, ...]] = {
    r"$p\ge0$": penalties_not_negative,
    "$B_t$": drift_step.drift_excess,
    r"$\sum B_t$": drift_step.drift_summand,
}
GIVEN = (
    Given("lem:dpp-T-slot-upper, corrected", r"the same with $V\sum\mathbb E[p]$ on the left"),
    Given(
        "lem:omega2-order", r"$\sum\bar p=\sum\bar p_\infty+O(1/(1-\rho))$, and $\bar p_\infty$ is bounded"
    ),
)
WHY_ABSORBED = (
    r"lem:dpp-T-slot-upper, corrected, without its non-negative penalties. $\sum B_t$ is of order $T+h^2$ with "
    r"$h=1/(1-\rho)$ (eq:dpp-upper-1), $\sum\bar p$ of order $T+h$."
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
        r"violation is even bounded. Below: $V$ and $\rho$ that move with $T$, and costs affordable at one horizon "
        "alone.)",
        formula=said(r"\mathrm{Vio}^{\mathrm S}(T)=O\bigl(@r\bigr)", r=STATED),
        domain=rf"every fixed $V>0$ and $0<\rho<1$, $T\to\infty$; {EVERY_HORIZON}",
        checks={"the violation": BOUNDED, "rate": RATE},
        sketch=f"{WHY} So the violation is bounded in $T$, and the printed rate grows with $T$.",
    ),
    Claim(
        id="thm:dpp-cost-constraint/uniform",
        kind="reading",
        title=r"the same, one constant for $V=T^\gamma$ and $\rho=1-T^{-\phi}$",
        statement=r"The constant depends on neither $V$ nor $\rho$. (The theorem fixes both; Remark 1 puts "
        r"$V=T^\gamma$ and $\rho=1-T^{-\phi}$ into the rate, which takes a constant free of them. What it then says is "
        "rem:1/violation.)",
        formula=said(
            r"\sup_T\mathrm{Vio}^{\mathrm S}(T)\big/@r<\infty\quad(V=T^\gamma,\ \rho=1-T^{-\phi})", r=STATED
        ),
        domain=coin.SETTING,
        checks=(coin.toss,),
        hypotheses=(coin.PAID,),
        checks_with_hypotheses=coin.IF_PAID,
        given=(WRITTEN, coin.BY_REGION),
        sketch="See rem:1/violation.",
        corrected=Correction(
            title=r"$\mathrm{Vio}^{\mathrm S}\le C\sum\rho^t/(1-\rho^t)\le C\log(2/(1-\rho))/(1-\rho)$, whatever $V$",
            statement="Every policy inside the region keeps these bounds, for any $V$ and any dependence between costs "
            r"and admissions; always admitting $\Lambda_{\max}$, at mean cost $C/\bar\Lambda$, attains the first. The "
            r"second is less than $C\log(2/(1-\rho))/(1-\rho)$, and the two bounds on the sum over all rounds agree to "
            r"leading order as $\rho$ tends to 1.",
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
        "absorbed. (Dear rounds after cheap ones refute it, where constant admission can pay up to every round and not "
        "for every round.)",
        formula=r"E[L(T+1)]=O(VT)+O(V/(1-\rho))",
        domain=rf"every fixed $V>0$ and $0<\rho<1$, $T\to\infty$; {EVERY_HORIZON}; {coin.LOG_PLUS}",
        repair=r"Assume that each round is affordable, $\mathbb E[c(t)\mid\text{past}]\,\bar\Lambda\le C$, with "
        r"bounded second moments; if $\rho$ is to move, $2\phi\le1+\gamma$.",
        checks=(debt_of_drifting_costs,),
        hypotheses=drift_step.PAST,
        checks_with_hypotheses={**KEPT, "$V$ and $\\rho$ fixed": absorbed},
        given=GIVEN,
        sketch=WHY_ABSORBED,
        corrected=Correction(
            title=r"$\mathbb E[L(T+1)]\le\sum B_t+V\sum\bar p^{\mathrm{CK}}$, repaired: of that order if "
            r"$2\phi\le1+\gamma$",
            statement=r"The sum of the drift constants is of order $T+(1-\rho)^{-2}$ and free of $V$. At fixed $V$ and "
            r"$\rho$ it is absorbed; with $V=T^\gamma$ and $\rho=1-T^{-\phi}$ it is if and only if $2\phi\le1+\gamma$.",
            formula=r"E[L(T+1)]\le\sum_tB_t+V\sum_t\bar p^{CK}(t)",
            hypotheses=drift_step.PAST,
            given=GIVEN,
            sketch=WHY_ABSORBED,
            checks={**KEPT, "$V$ and $\\rho$ fixed": absorbed, r"$2\phi\le1+\gamma$": coin.absorbed_along},
        ),
    ),
]
