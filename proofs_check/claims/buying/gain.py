r"""What the guarantee gains (`buy:gain`): over constant admission, and ACDPP, which becomes it, for the same money.

Compared are rules with the same budget C and the same memory S: by the small-step noise floor of the law of reuse, and
by the round's terms in the corrected Theorem 1.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.claim import WRITTEN, Claim, Given
from proofs_check.engines.exact import exhaust
from proofs_check.engines.identity import equal
from proofs_check.engines.limit import tends_to
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.buying.certificates import papers_best
from proofs_check.groundwork.buying.figures import rounds_to
from proofs_check.groundwork.buying.market import BUDGET, HIGH, LOW, PAPER, PLACES, SHARE, SYMBOLS, S
from proofs_check.groundwork.regret.orders import t
from proofs_check.groundwork.regret.transient import plain
from proofs_check.symbols import CONSTANTS, REGION, K, rate
from proofs_check.text import said
from theory.algebra import ball, sqrt
from theory.bound import deviation_term, generalisation_term, linear_term, root_term
from theory.buying_plan import gap_closed
from theory.capacity import effective_rate
from theory.constant_admission import constant_round
from theory.design import best_rate
from theory.knapsack import uniform_rate
from theory.paper import MNIST, RATE, RETENTION
from theory.region import region_maximum, region_minimum
from theory.reuse import mismatch_from_sums, uniformity_from_deficits
from theory.stationary import small_step_floor

F = Fraction
mine, other, bought = sp.symbols("r f R", positive=True)  # effective rates, and distinct samples a round
SETTING = "$S=100$, $C=55$, prices uniform on [1, 10]"
BEST = Given(
    "buy:best-rule",
    "that no causal rule that keeps the memory full has a larger effective rate, as the certificate shows",
)
AGES = Given("buy:noise-by-age", "that small steps have the noise $(1-a)/2$ over the effective rate")
ONLINE = Given(
    "buy:online-age",
    r"that the online rule's expected $N_{\mathrm{eff}}/T$ is $SR/(2S-R)$ at least, "
    "for large $V$ and $T$",
)
SAME = Given(
    "thm:dpp-regret/region-buys-nothing",
    "that every policy inside the region, ACDPP too, is constant admission in the end",
)


def floors() -> Evidence:
    """The small-step floors of two rules are in the ratio of their inverse effective rates, whatever the losses."""
    h1, h2, s1, s2, eta = sp.symbols("h_1 h_2 s_1 s_2 eta", positive=True)
    E = CONSTANTS.E
    losses: dict[str, Any] = {"h": [h1, h2], "variance": [s1**2, s2**2], "eta": eta, "E": E}
    return equal(
        small_step_floor(1 / other, **losses) / small_step_floor(1 / mine, **losses),
        mine / other,
        domain=r"two eigendirections, every $h$, $s$, $\eta$ and $E$",
        what="the floors' ratio and that of the effective rates",
    )


def constant_admission() -> Evidence:
    """The paper's K = 10 and Λ̄ = 10 cost C and fill the buffers; their N_eff/t tends to Λ̄, with any deficits."""
    first, second = sp.symbols("D_1 D_2", positive=True)
    spent = {"rate": best_rate(RETENTION, MNIST), "cost": RATE * PAPER.mean, "held": RATE * RETENTION}
    wanted = {"rate": RATE, "cost": BUDGET, "held": PLACES}
    return together(
        exhaust(
            [spent],
            lambda **found: None if found == wanted else {"wanted": wanted},
            domain=SETTING,
            strength="proof",
        ),
        tends_to(
            rate * uniformity_from_deficits(rate * t, first, second, K),
            t,
            rate,
            what=r"$N_{\mathrm{eff}}/t$",
            domain=r"$N=\bar\Lambda t$, every $K$ and bounded deficits",
        ),
    )


def inside_the_region() -> Evidence:
    """Both ends of the region tend to Λ̄ (y = ρ^t tends to 0), so N/t and N_eff/t of all inside it tend to Λ̄."""
    y = sp.Symbol("y", positive=True)
    rounds = sp.Symbol("t", integer=True, positive=True)
    return together(
        *(
            tends_to(
                plain(end(REGION, rounds), y=rounds).subs(y, 1 / t),
                t,
                rate,
                what=f"the {name} admission",
                domain=r"$y=\rho^t\to0$, every $\rho$ and $\bar\Lambda$",
            )
            for name, end in (("least", region_minimum), ("largest", region_maximum))
        )
    )


# --- the corrected Theorem 1 -------------------------------------------------------------------------------


def generalisation() -> Evidence:
    """At N_eff = rt, N = Rt against N_eff = N = ft the round's term tends to √(f/r): N stands under the logarithm."""
    ours = generalisation_term(1 / (mine * t), bought * t, CONSTANTS)
    theirs = generalisation_term(1 / (other * t), other * t, CONSTANTS)
    return together(
        tends_to(
            ours / theirs,
            t,
            sp.sqrt(other / mine),
            what="the terms' ratio",
            domain=r"every $r$, $f$, $R$, $B$ and $\mathrm{Pdim}$",
        ),
        equal(
            (deviation_term(1 / (mine * t), CONSTANTS) / deviation_term(1 / (other * t), CONSTANTS)) ** 2,
            other / mine,
            domain="every round: the sharper term without logarithm",
            what="the squared ratio and $f/r$",
        ),
    )


def mismatch() -> Evidence:
    """χ = (1 - 1/t)/S in a full memory of steady age: the root and the linear term tend to those of constant admission
    of the same S.
    """
    mean = sp.Symbol("mean", positive=True)
    chi = mismatch_from_sums(S, S * t, S * t * (2 * mean - 1), S * mean)
    constant = constant_round(K, t, S / K, CONSTANTS)
    return together(
        equal(chi, (1 - 1 / t) / S, domain="every $S$, $t$ and mean age", what=r"$\chi$ and $(1-1/t)/S$"),
        *(
            tends_to(
                term / after,
                t,
                1,
                what=f"the {name} term over constant admission's",
                domain="every $K$, $S$ and constants",
            )
            for name, term, after in (
                ("root", root_term(chi, CONSTANTS), constant.root),
                ("linear", linear_term(chi, CONSTANTS.merged), constant.linear),
            )
        ),
    )


# --- the paper's budgets -----------------------------------------------------------------------------------


def _rate_of(burden: Any) -> Any:
    return effective_rate(PLACES, (burden + 1) / 2)


def papers_budgets() -> Evidence:
    """1.86 times constant admission's effective rate for the best rule, 1.47 guaranteed online."""
    rule, certificate = papers_best()
    limit = uniform_rate(LOW, HIGH, PLACES, ball(BUDGET))
    return together(
        *(
            rounds_to(
                ball(_rate_of(burden) / RATE),
                "1.864",
                what=f"the gain, {name}",
                domain=SETTING,
            )
            for name, burden in (("attained", rule.burden), ("at most", certificate.least(SHARE)))
        ),
        *(
            rounds_to(
                sqrt(ball(RATE / _rate_of(burden))),
                "0.7325",
                what=f"√(f/r), {name}",
                domain=SETTING,
            )
            for name, burden in (("attained", rule.burden), ("at least", certificate.least(SHARE)))
        ),
        *(
            rounds_to(
                ball(100 * gap_closed(_rate_of(burden), RATE, PLACES)),
                "51.5",
                what=f"percent of the gap to the oracle's noise, {name}",
                domain=SETTING,
            )
            for name, burden in (("attained", rule.burden), ("at most", certificate.least(SHARE)))
        ),
        rounds_to(
            effective_rate(PLACES, PLACES / limit) / RATE,
            "1.466",
            what="guaranteed online",
            domain=SETTING,
        ),
    )


CLAIMS = [
    Claim(
        id="buy:gain",
        kind="addition",
        title="for the same money: 1.86 times the effective rate",
        statement="Compare rules that spend $C$ a round and hold $S$ samples. In the law of reuse the "
        "noise floor of small steps is in inverse ratio to the effective rate, whatever the losses. "
        r"Constant admission has $N_{\mathrm{eff}}/t\to\bar\Lambda=C/\bar c$, and so has every policy "
        r"inside the paper's region, ACDPP at any $V$ and $\rho$. In the corrected Theorem 1 the root "
        "and the linear term of a round tend to the same for the same $S$, and the generalisation term "
        r"to $\sqrt{f/r}$ of constant admission's, $f$ and $r$ being the effective rates. With the "
        "paper's MNIST budgets and prices uniform on [1, 10] the best rule for known prices has 1.864 "
        "times the effective rate (18.64 to 10, with 22.17 samples bought to 10), 0.7325 times the "
        "generalisation term, and closes 51.5 % of the gap between constant admission's noise and that "
        "of $S$ fresh samples a round; no causal rule that holds $S$ samples does better. Online, prices "
        "unknown, 1.466 times is guaranteed for large $V$ and $T$.",
        formula=said(
            r"\frac{\text{floor}(f)}{\text{floor}(r)}=\frac rf,\qquad\lim_{t\to\infty}\frac{\text{generalisation}(r)}"
            r"{\text{generalisation}(f)}=@root,\qquad\text{closed}=@gap",
            root=sp.sqrt(other / mine),
            gap=gap_closed(mine, other, S),
        ),
        domain="quadratic losses with one Hessian for the floors, the hypotheses of thm:regret-neff for "
        "the bound; figures for $S=100$, $C=55$, prices uniform on [1, 10]",
        given=(WRITTEN, BEST, AGES, ONLINE, SAME),
        sketch=r"Floors: to first order in $\eta$ a floor is $(\eta E/4)\sum h^2s^2$ over the effective "
        "rate (buy:noise-by-age for full memories, law:reuse/effective-rate for the others). Constant "
        r"admission uses each sample $K$ times but for the last $K-1$ rounds', so $N_{\mathrm{eff}}=N$ "
        r"up to a bounded number, and $N=\bar\Lambda t$. Inside the region $\Lambda(t)$ lies between "
        r"$(1-\rho^t)\bar\Lambda$ and $\bar\Lambda/(1-\rho^t)$, so $N/t$, $N_{\mathrm{eff}}/t$ and "
        r"$1/\sum \omega^2$ a round tend to $\bar\Lambda$ too. Theorem 1: with $n=S$ and ages that are "
        r"steady in the mean, $W=\sum A$ over the memory over St, so $\chi=1/S+(2\bar A-1)$/(St) $-2\bar "
        r"A$/(St) $=(1-1/t)/S$, and constant admission's is $(1-1/y-\ldots)/S$; the generalisation terms "
        r"are $10B\sqrt{\mathrm{Pdim}/N_{\mathrm{eff}}}\cdot\sqrt{1+\log^{+}(N/\mathrm{Pdim})}$ with "
        r"$N_{\mathrm{eff}}=rt$, $N=Rt$ and $N_{\mathrm{eff}}=N=ft$, and the logarithms' ratio tends to "
        "1; the cumulative terms follow by Stolz-Cesàro. The figures come from buy:best-rule's rule and "
        "certificate, in exact numbers.",
        checks={
            "noise floors": floors,
            "constant admission": constant_admission,
            "ACDPP": inside_the_region,
            "Theorem 1": (generalisation, mismatch),
            "the figures": papers_budgets,
        },
        symbols={
            **SYMBOLS,
            "f": "effective rate of constant admission",
            "r": "effective rate of the other rule",
        },
    ),
]
