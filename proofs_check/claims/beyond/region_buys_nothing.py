"""In these guarantees the region and V buy nothing (`thm:dpp-regret/region-buys-nothing`)."""

from proofs_check.prelude import *

from proofs_check.groundwork.control.orders import SPREAD
from proofs_check.groundwork.regret.every_policy import narrows
from proofs_check.groundwork.regret.expansion import oracle_third

BUDGET = Budget(buffers=(total_buffer,), cost=C, mean_cost=mean_cost)
EXPANDS = Given("thm:dpp-regret/expansion", "the regret of every policy inside is the expansion to $O(1)$")

CLAIMS = [
    Claim(
        id="thm:dpp-regret/region-buys-nothing",
        title="constant admission: no violation, the same regret",
        statement=r"Let $\bar\Lambda$ be the largest affordable rate. Constant admission, split in proportion to the "
        r"buffers, lies inside the region for every $\rho$ and violates neither constraint, $\mathrm{Vio}^{\mathrm "
        r"S}=\mathrm{Vio}^{\mathrm B}=0$, if every round has mean cost $\bar c$ at most. Its regret has the same "
        "expansion as that of every policy inside the region, ACDPP at any $V$ included, and exceeds the least of "
        r"them by at most the spread, a number that does not depend on $T$. So $V$ and $\rho$ stand in no term of "
        "the guarantee that grows with $T$, and the region and the queue buy nothing in it.",
        formula=said(
            r"\bar\Lambda=@rate:\quad\mathrm{Vio}^{\mathrm S}=\mathrm{Vio}^{\mathrm B}=0,\quad "
            r"\bigl|\mathrm{Reg}(\bar\Lambda)-\mathrm{Reg}(\pi)\bigr|\le O_\rho(1)",
            rate=best_rate(K, BUDGET),
        ),
        symbols={"O": r"bounded as $T$ grows, depending on $\rho$", "π": "any policy inside the region"},
        domain=r"every $K$, $\rho$, $V$, $\sum B$, $C$, $\bar c$; the regret's parts for "
        r"$K\bar\Lambda=\sum B$, with $\chi$; admissions are real numbers, as in the paper's theorems: a "
        r"client's share of $\bar\Lambda$ need not be whole (eq:lambda-def/integrality)",
        given=(EXPANDS, SPREAD),
        sketch=r"Inside: $1-\rho^t<1<1/(1-\rho^t)$. Cost: $\mathrm{Vio}^{\mathrm S}=[\sum(\mathbb "
        r"E[c]\bar\Lambda-C)]^{+}$, and $\mathbb E[c]\bar\Lambda\le\bar c\bar\Lambda\le C$ as $\bar\Lambda\le C/\bar "
        r"c$. Buffers: $n(t)=\min(t,K)\bar\Lambda\le K\bar\Lambda\le\sum B$ as $\bar\Lambda\le\sum B/K$, and a "
        r"client with the share $B_m/\sum B$ of every admission holds $n\cdot B_m/\sum B\le B_m$. Regret: the "
        r"expansion (thm:dpp-regret/expansion) is that of constant admission, and depends on $K$, $\bar\Lambda$, "
        r"$T$, $B$ and $\mathrm{Pdim}$ alone; what any other policy inside the region adds or saves is at most the "
        r"spread (thm:dpp-regret/spread), as constant admission is one of them. For $K\ge2$ the expansion tends to "
        "infinity, so the quotient of the regrets tends to 1. (ACDPP itself does violate the budget: "
        "alg:acdpp/first-round.)",
        checks={
            "inside the region": theorem("Control.constant_is_inside", domain="every round"),
            r"$\mathrm{Vio}^{\mathrm S}=\mathrm{Vio}^{\mathrm B}=0$": theorem(
                "Buffers.constant_admission_violates_nothing", domain=r"every $K$, $\sum B$, $C$ and $\bar c$"
            ),
            "same expansion": (
                theorem(
                    "Inside.regret_of_every_policy",
                    "Design.constant_regret",
                    domain="its leading term, uniformly over all policies inside the region",
                ),
                oracle_third,
            ),
            "within the spread": partial(narrows, stated=False),
        },
    )
]
