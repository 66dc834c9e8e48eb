r"""Bound on the debt of ACDPP: what rounds above a level add, and what the last round below it added.

With \(h=1/(1-\rho)\) and P the largest penalty at Λ̄: above a level z of debt the minimiser spends at most \(VP/z\)
more than any other admission. So the debt is at most z, the last spending below z, and the later increments.
"""

from proofs_check.prelude import *

from proofs_check.groundwork.control.orders import ALONG, h
from proofs_check.groundwork.control.region_ends import plain, power
from proofs_check.groundwork.control.repaired_penalty import first_terms_move, third_term_falls
from proofs_check.groundwork.regret.transient import powers_fall
from theory.control.violation import cost_violation_by_debt, cost_violation_every_round

Lambda, other, debt, level, P, x, s, y = sp.symbols("Lambda_t other Z z P x s y", positive=True)
c, found, carried, moment, retained, gone = sp.symbols("c p carried m_2 retained gone", nonnegative=True)
tau = sp.Symbol("tau", positive=True)
ROUNDS = r"every round, $0<\rho<1$"
MOST = sum(term(1 / rate, CONSTANTS) for term in (root_term, linear_term))
MOST += generalisation_term(1 / rate, rate, CONSTANTS)


@cache
def debt_free() -> Evidence:
    """Z = 0 in any round, whatever is in memory: J is V·p, and p falls in the admission. So Λ = Λ_max."""
    more = sp.Symbol("more", positive=True)
    objective = drift_plus_penalty(
        Lambda, Z=0, cost=c, C=C, V=V, retained=retained, seen=retained + gone, constants=CONSTANTS
    )
    terms = penalty_terms(retained + Lambda, retained + gone + Lambda, CONSTANTS)
    n = retained + Lambda
    falls = 1 / (n + more) - 1 / (n + more + gone) <= 1 / n - 1 / (n + gone)
    return argument(
        (objective, V * terms.total, "$J$ and $V$ times the penalty"),
        (falls, [], r"$1/n-1/N$ falls in $\Lambda$, as $N-n$ are the samples gone; every memory"),
        first_terms_move(),
        third_term_falls(),
        domain=r"every $V$, $c$, $C$, memory and constants, $\log^+$ in the third term",
    )


def above_the_level() -> Evidence:
    """J at the minimiser is at most J at another admission, p >= 0 and Z >= z: cΛ <= cΛ' + Vp'/z."""
    objective = [debt * (c * amount - C) + V * value for amount, value in ((Lambda, found), (other, P))]
    grown = debt_update(debt, c, Lambda, C)
    more = sp.Symbol("more", positive=True)
    return argument(
        (
            c * (Lambda - other) <= V * P / level,
            [objective[0] <= objective[1], debt >= level],
            r"every debt $Z\ge z>0$, every admission $\Lambda'$ of the region with the penalty $P$",
        ),
        (
            sp.Le(grown, carried + more, evaluate=False),
            [debt <= carried, c * Lambda - C <= more],
            r"a round adds at most $c\Lambda'+VP/z$, written `more`, and a debt cut off at 0 is no larger",
        ),
    )


def comparator() -> Evidence:
    """n >= Λ' and N >= Λ' when Λ' is admitted: at Λ̄ no penalty exceeds P, and at Λ̄/y, y >= 1, none exceeds yP."""
    low, lower = sp.symbols("l u", nonnegative=True)  # log⁺(Λ̄/(yPdim)) and log⁺(Λ̄/Pdim)
    n, gap = sp.symbols("n gap", positive=True)
    admitted = rate / y
    plainly = 10 * CONSTANTS.B * sp.sqrt(CONSTANTS.Pdim * gap)
    grows = [
        (
            sp.Le(term(gap, CONSTANTS), y * term(1 / rate, CONSTANTS), evaluate=False),
            [gap <= y / rate, y >= 1],
        )
        for term in (root_term, linear_term)
    ]
    return argument(
        (1 / n - 1 / (n + gone) <= 1 / admitted, [n >= admitted], r"$1/n-1/N\le1/\Lambda'$"),
        *((*row, r"the first two terms, $y\ge1$") for row in grows),
        third_term_falls(),
        (generalisation_term(gap, CONSTANTS.Pdim / (1 + s), CONSTANTS), plainly, "the third term, small $N$"),
        (
            generalisation_term(gap, CONSTANTS.Pdim * (1 + s), CONSTANTS),
            plainly * sp.sqrt(1 + sp.log(1 + s)),
            r"the third term at large $N$ and $10B\sqrt{\mathrm{Pdim}(1+\log^+)/N}$",
        ),
        (y * (1 + low) <= y**2 * (1 + lower), [low <= lower, y >= 1], r"its square, as $\log^+$ grows"),
        domain=r"every $\bar\Lambda$ and constants",
    )


def early_peaks() -> Evidence:
    """One round's spending is at most the root of the sum of squares, with Λ_max <= Λ̄(1+h/t) and Σ1/t² <= 2."""
    top = plain(region_maximum(REGION, t))
    one = sp.Symbol("one", positive=True)
    return argument(
        powers_fall(),
        (top, rate / (1 - power), r"$\Lambda_{\max}$ and $\bar\Lambda/(1-\rho^t)$"),
        (rate / (1 - x) <= rate * (1 + h / s), [x <= h / (h + s)], r"every round $s$, $x=\rho^s$"),
        ((1 + y) ** 2 <= 2 * (1 + y**2), [], r"$y=h/s$"),
        (1 / (s + 1) ** 2 <= 1 / s - 1 / (s + 1), [], r"$s\ge1$: $\sum1/s^2\le2$, telescoping"),
        (one <= sp.sqrt(one**2 + carried), [], "a number and the root of its square and other squares"),
        (
            2 * (tau + 2 * h**2) <= 9 * h**2,
            [tau <= h + 1, h >= 1],
            r"so $\mathbb E\max_{t\le\tau}c\Lambda\le\sqrt{\mathbb E[c^2]\cdot2\bar\Lambda^2(\tau+2h^2)}"
            r"\le3\sqrt{\mathbb E[c^2]}\,\bar\Lambda h$",
        ),
        domain=ROUNDS,
    )


def later_rounds() -> Evidence:
    """ρ^t <= 1/2 after τ >= h rounds, and Λ_max - Λ̄ adds up to at most Λ̄h; earlier rounds had the budget Cτ."""
    early, late = sp.symbols("early late", real=True)  # Σ(E[c]Λ̄-C) up to τ, and after
    return argument(
        powers_fall(),
        (x <= sp.Rational(1, 2), [x <= h / (h + s), s >= h], r"$x=\rho^s$, $s\ge h$"),
        (x / (1 - x) <= 2 * x, [x <= sp.Rational(1, 2)], r"$s\ge h$"),
        (ALONG.rho / (1 - ALONG.rho) <= h, [h >= 1], r"$\sum_{t>\tau}\rho^t=\rho^\tau\rho h\le h/2$"),
        (late <= C * tau, [early + late <= 0, early >= -C * tau], r"affordable over $T$ rounds; $c\ge0$"),
    )


def summed() -> Evidence:
    """theory's bound is the sum of the links at the level z = √(2VPh): with τ <= 2h rounds and E[c] <= √E[c²]."""
    root = sp.sqrt(moment)
    z = sp.sqrt(2 * V * P * h)
    told = cost_violation_by_debt(ALONG, V, moment, C, CONSTANTS)
    links = z + (3 + 2 + 1) * root * rate * h + 2 * h * V * P / z + 2 * h * C
    mean, square = sp.symbols("mean square", nonnegative=True)
    return argument(
        (told, links.subs(P, MOST), r"the bound and its links, $z=\sqrt{2VPh}$"),
        (mean <= sp.sqrt(square), [mean**2 <= square], r"$\mathbb E[c]\le\sqrt{\mathbb E[c^2]}$"),
        (tau <= 2 * h, [tau <= h + 1, h >= 1], r"$\tau=\lceil h\rceil$"),
        domain=r"every $h\ge1$, $V$, $\bar\Lambda$, $C$ and constants",
    )


def on_every_path() -> Evidence:
    """c(t)Λ̄ <= C always: above the level a round pays back Cρ^t, and no round below it spends more than they all do."""
    bottom, horizon = plain(region_minimum(REGION, t)), sp.Symbol("T", positive=True)
    left = sp.Symbol("rho^T", positive=True)
    level = sp.sqrt(V * MOST * (horizon + h * (1 + sp.log(horizon))))
    told = cost_violation_every_round(horizon, ALONG, V, C, CONSTANTS)
    paid = (rho * x - rho * left) / (1 - rho)  # ρ^(t+1) + … + ρ^T
    return argument(
        (bottom, rate * (1 - power), r"$\Lambda_{\min}$ and $\bar\Lambda(1-\rho^t)$"),
        (c * rate * (1 - x) - C <= -C * x, [c * rate <= C, x < 1], r"$\Lambda_{\min}$ pays back $C\rho^t$"),
        (c * rate / (1 - x) - C <= C * x / (1 - x), [c * rate <= C, x < 1], r"$\Lambda_{\max}$ adds at most"),
        (paid - rho * x, rho * (rho * x - left) / (1 - rho), "the rounds after the next one", ROUNDS),
        (
            x / (1 - x) - paid <= 1 + rho * left / (1 - rho),
            [x <= rho, rho < 1, left <= x],
            r"$x=\rho^t\le\rho$: a round's excess, less all that is paid back later, at most $1+h\rho^{T+1}$",
        ),
        powers_fall(),
        (rate * s / (h + s) <= rate * (1 - x), [x <= h / (h + s)], r"$\Lambda_{\min}\ge\bar\Lambda/(1+h/s)$"),
        (1 / (s + 1) <= 1 / y, [y <= s + 1], r"on $[s,s+1]$: $\sum_{s\le T}1/s\le1+\log T$"),
        (
            told - 2 * level,
            C * (1 + h * ALONG.rho ** (horizon + 1)),
            r"the bound less $2z$, $z^2=VP(T+h(1+\log T))$, and $C(1+h\rho^{T+1})$",
            "every $T$, $h$, $V$, $C$ and constants",
        ),
    )
