r"""The step of the cost theorem's proof that absorbs the drift constants (`eq:cost-proof-3`).

The theorem survives without it; the step does not. At fixed V and ρ the debt reaches order T when dear rounds follow
cheap ones, so E[L] is of order T²; and with one constant for all V and ρ the first round alone is too much.
"""

from __future__ import annotations

import sympy as sp

from proofs_check.claim import Claim, Correction, Given
from proofs_check.engines import limit, smt
from proofs_check.evidence import Evidence, holds, obeying, together, undecided
from proofs_check.groundwork.control.drift_step import (
    after_round_1,
    debt_behaves,
    drift_excess,
    drift_summand,
)
from proofs_check.groundwork.control.examples import EVERY_HORIZON
from proofs_check.symbols import CONSTANTS, C, V, rate
from theory.bound import linear_term, root_term
from theory.penalty import penalty_terms
from theory.region import region_minimum_total
from theory.setting import Region
from theory.violation import cost_violation_rate_as_stated


def debt_of_drifting_costs() -> Evidence:
    """V and ρ fixed; m free rounds, then m at 2C/Λ̄, all at the region's lower end: Z(2m+1) is at least their excess."""
    m, decay = sp.symbols("m decay", positive=True)
    j = sp.Symbol("j", nonnegative=True)
    region = Region(rate=rate, rho=sp.exp(-decay))
    dear = region_minimum_total(region, 2 * m + 1) - region_minimum_total(region, m + 1)
    debt = sp.expand(2 * C / rate * dear - C * m)
    found = limit.diverges(
        debt**2 / 2 / cost_violation_rate_as_stated(2 * m, V, region.rho) ** 2,
        m,
        what=r"$L(T+1)$ divided by $VT+V/(1-\rho)$",
        domain=r"costs 0 in rounds $1,\ldots,m$ and $2C/\bar\Lambda$ in rounds $m+1,\ldots,2m=T$; any $V$, "
        r"$\rho=\exp(-\text{decay})$, $\bar\Lambda$, $C$",
        **{"Z(T+1) is at least": debt},
    )
    facts = {
        "the upper end gives more debt": debt_behaves(),
        "an affordable average up to every round": smt.always(
            2 * C / rate * j * rate <= C * (m + j),
            given=[j <= m],
            domain=r"after $m$ free and $j\le m$ dear rounds",
        ),
    }
    return obeying(found, facts)


def penalties_not_negative() -> Evidence:
    """The three terms are at least 0, so leaving them out keeps the inequality."""
    gap, n, w = sp.symbols("gap n w", positive=True)
    P = CONSTANTS.Pdim
    thirds = [penalty_terms(n, N, CONSTANTS).generalisation for N in (P * (1 + w), P, P / (1 + w))]
    if not all(third.is_positive for third in thirds):
        return undecided("identity", "the third term's sign is open", domain="every $N$")
    return together(
        *(
            smt.always(sp.Ge(term(gap, CONSTANTS), 0, evaluate=False), domain=r"every $1/n-1/N\ge0$")
            for term in (root_term, linear_term)
        ),
        holds("identity", "the third term is positive", domain="every $N$", certificate={"terms": thirds}),
    )


CLAIMS = [
    Claim(
        id="eq:cost-proof-3",
        kind="step",
        title=r"$\mathbb E[L(T+1)]=O(VT)+O(V/(1-\rho))$",
        statement=r"After $T$ rounds the mean Lyapunov function is of order $VT+V/(1-\rho)$: the drift constants are "
        r"absorbed. (At fixed $V$ and $\rho$ dear rounds after cheap ones refute it; with one constant for all $V$ "
        r"and $\rho$ the first round does.)",
        formula=r"E[L(T+1)]=O(VT)+O(V/(1-\rho))",
        domain=rf"every $V>0$, $0<\rho<1$, $T\ge1$; {EVERY_HORIZON}",
        checks=(debt_of_drifting_costs, *after_round_1(2, r"$L(2)$ divided by $V+V/(1-\rho)$")),
        corrected=Correction(
            title=r"$\mathbb E[L(T+1)]\le\sum B_t+V\sum\bar p^{\mathrm{CK}}$: the term $T+(1-\rho)^{-2}$, without "
            "$V$, stays",
            statement=r"The sum of the drift constants, of order $T+(1-\rho)^{-2}$ and free of $V$, must be kept: "
            r"$\mathbb E[L(T+1)]\le\sum B_t+V\sum\bar p^{\mathrm{CK}}$, with the repaired $\bar p^{\mathrm{CK}}$.",
            formula=r"E[L(T+1)]\le\sum_tB_t+V\sum_t\bar p^{CK}(t)",
            hypotheses=(
                r"$\mathbb E[c(t)\mid\text{past}]\,\bar\Lambda\le C$",
                r"$\mathbb E[c(t)^2\mid\text{past}]\le\mathbb E[c^2]$",
            ),
            given=(
                Given(
                    "lem:dpp-T-slot-upper, corrected",
                    r"$\mathbb E[L(T+1)]+V\sum\mathbb E[p]\le\sum B_t+V\sum\bar p^{\mathrm{CK}}$, under the same "
                    "hypotheses",
                ),
            ),
            symbols={"p̄": r"the repaired bound on the penalty after a switch to $\bar\Lambda$"},
            sketch=r"lem:dpp-T-slot-upper, corrected, without its non-negative penalties; for $\sum B_t$ see "
            r"eq:dpp-upper-1. It may be absorbed into $O(VT)$ only for $V$ bounded below and $1-\rho$ of order "
            "$T^{-1/2}$ at least.",
            checks={r"$p\ge0$": penalties_not_negative, "$B_t$": drift_excess, r"$\sum B_t$": drift_summand},
        ),
    )
]
