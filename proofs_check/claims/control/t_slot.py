r"""The T-slot lemma (`lem:dpp-T-slot-upper`): drift plus penalty of ACDPP against constant admission.

As printed it fails three times over: its comparison penalty is no upper bound, and debts may follow dear costs
(Markov) or dear rounds cheap ones (drift). With the repaired penalty, \(B_t\) for B and costs that stay affordable
given the past it holds, and on every path it holds with the term that those costs make vanish in the mean.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from math import prod
from typing import Any

import numpy as np
import sympy as sp

from proofs_check.claim import WRITTEN, Claim, Context, Correction, confirming
from proofs_check.engines.enclosure import compare
from proofs_check.engines.exact import exhaust
from proofs_check.engines.identity import equal
from proofs_check.engines.simulation import control_loop
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, fails, holds, obeying, undecided
from proofs_check.groundwork.control.drift_step import (
    conditional_means,
    debt_behaves,
    drift_constant_is,
    one_round,
    rate_is_a_choice,
    without_debt,
)
from proofs_check.groundwork.control.inside_region import lies_inside
from proofs_check.groundwork.control.repaired_penalty import (
    LIGHTER,
    first_terms_move,
    never_exceeded,
    pieces_at_the_ends,
    third_term_falls,
    totals_are_sums,
    totals_in_numbers,
)
from proofs_check.groundwork.regret.orders import UNIT
from theory.admission import debt_update
from theory.algebra import ball
from theory.bound import linear_term
from theory.penalty import penalty, penalty_comparison, penalty_comparison_as_stated
from theory.region import region_maximum, region_minimum
from theory.regret import drift_constant
from theory.reuse import trajectory
from theory.setting import Constants, Region

ROUNDING = 1e-9
Paths = dict[tuple[int, ...], Fraction]  # cost paths and their probabilities


# --- as printed --------------------------------------------------------------------------------------------


def large_weight() -> Evidence:
    """K = 1, costs all 1, T = 2: the debt is small against V, so both rounds admit the upper end of the region."""
    region, T, V = Region(rate=1, rho=Fraction(1, 2)), 2, 100
    path = [region_maximum(region, t) for t in (1, 2)]
    debts = [Fraction(0)]
    for admitted in path:
        debts.append(debt_update(debts[-1], 1, admitted, 1))
    B = drift_constant(region, 1, 1, 1)
    numbers, balls = LIGHTER.map(ball), region.map(ball)
    seen = [path[0], path[0] + path[1]]
    pairs = zip(path, seen, strict=True)
    left = ball(debts[-1]) ** 2 / 2 + V * sum(penalty(ball(n), ball(N), numbers) for n, N in pairs)
    right = ball(B) * T + V * sum(penalty_comparison_as_stated(1, t, balls, numbers).total for t in (1, 2))
    point = {"K": 1, "T": T, "V": V, "rho": "1/2", "Λ(1)": "2", "Λ(2)": "4/3", "Z(3)": debts[-1], "B": B}
    found = compare(
        lambda p: left,
        "<=",
        lambda p: right,
        [point],
        domain=r"$\bar\Lambda=C=1$, costs 1; $D=\sigma=\eta=1$, $B=1/100$, $\mathrm{Pdim}=4$; drift "
        r"constant $(\Lambda_{\max}(1)^2+C^2)/2$",
    )
    # in round 2 the second term alone falls by more, V times, than the debt's price rises; the others fall, too
    x, high = sp.Symbol("x", positive=True), path[1]
    second = [
        linear_term(1 / z - 1 / (path[0] + z), LIGHTER)
        for z in (x, sp.Rational(high.numerator, high.denominator))
    ]
    facts = {
        "round 1 of ACDPP admits Λ_max(1)": without_debt(),
        "round 2 admits Λ_max(2)": always(
            int(debts[1]) * (high - x) < V * (second[0] - second[1]),
            given=[x < high],
            domain=r"every smaller $\Lambda(2)$ has a larger $J_2$",
        ),
        "the other terms fall": third_term_falls(),
        "admissions inside the region": lies_inside(path, region),
    }
    return obeying(found, facts)


def _affordable(chances: Paths, region: Region, C: int, second_moment: int) -> Evidence:
    """Probabilities; every round's mean cost the same or the average affordable up to every round; E[c²] as claimed."""
    T = len(next(iter(chances)))
    means = [sum(p * path[s] for path, p in chances.items()) for s in range(T)]

    def wrong(t: int) -> Any:
        square = sum(p * path[t - 1] ** 2 for path, p in chances.items())
        fine = (
            sum(chances.values()) == 1 and square <= second_moment and sum(means[:t]) * region.rate <= C * t
        )
        return None if fine else {"means": means, "E[c(t)²]": square}

    return exhaust([{"t": t} for t in range(1, T + 1)], wrong, domain="the cost paths of the example")


def _more_debt_than_allowed(chances: Paths, second_moment: int, domain: str) -> Evidence:
    """The least E[L(T+1)] inside the region, exactly, against B·T + VΣp̄^CK with V = 1/1000, either form of p̄^CK.

    Lower ends in every round: the debt grows in Λ, so no policy inside the region has less.
    """
    region, C, V, T = Region(rate=1, rho=Fraction(1, 10)), 1, Fraction(1, 1000), len(next(iter(chances)))
    left = Fraction(0)
    for costs, p in chances.items():
        debt = Fraction(0)
        for t, cost in enumerate(costs, start=1):
            debt = Fraction(debt_update(debt, cost, region_minimum(region, t), C))
        left += p * debt**2 / 2
    drift = T * drift_constant(region, 1, Fraction(second_moment), C)
    numbers, balls = UNIT.map(ball), region.map(ball)
    printed, repaired = (
        sum(form(1, t, balls, numbers).total for t in range(1, T + 1)) * ball(V)
        for form in (penalty_comparison_as_stated, penalty_comparison)
    )
    certificate = {
        "T": T,
        "V": V,
        "cost paths": len(chances),
        "least E[L(T+1)]": f"{float(left):.6f}",
        "B·T": f"{float(drift):.6f}",
        "VΣp̄, printed": printed.str(8),
        "VΣp̄, repaired": repaired.str(8),
    }
    if not ball(left) > ball(drift) + printed.max(repaired):
        return undecided("exact", "no violation at these parameters", domain=domain, certificate=certificate)
    right = float(drift) + float(printed)
    detail = (
        f"E[L(T+1)] >= {float(left):.4f}, B·T + VΣp̄ = {right:.4f} at T = {T}, every policy inside the region"
    )
    found = fails("exact", detail, domain=domain, certificate=certificate)
    paid = _affordable(chances, region, C, second_moment)
    return obeying(
        found,
        {r"affordable costs with that $\mathbb E[c^2]$": paid, "least debt at lower ends": debt_behaves()},
    )


def markov_costs() -> Evidence:
    """Every one of the 2^T cost paths, with its probability."""
    stay, T = Fraction(19, 20), 10
    chances: Paths = {
        path: Fraction(1, 2)
        * prod((stay if a == b else 1 - stay for a, b in pairwise(path)), start=Fraction(1))
        for path in product((0, 2), repeat=T)
    }
    domain = "Markov costs on {0, 2}, stationary, kept with probability 19/20; Λ̄ = C = 1, K = 1, ρ = 1/10, constants 1"
    return _more_debt_than_allowed(chances, 2, domain)


def drifting_costs() -> Evidence:
    """Sixteen free rounds, sixteen dear ones; the average is affordable up to every round."""
    domain = "costs 0 in rounds 1-16 and 2 in rounds 17-32; Λ̄ = C = 1, K = 1, ρ = 1/10, constants 1"
    return _more_debt_than_allowed({(0,) * 16 + (2,) * 16: Fraction(1)}, 4, domain)


# --- corrected ---------------------------------------------------------------------------------------------

SETTING = Constants(D=2.0, sigma=1.5, eta=4.0, B=0.3, Pdim=3.0)
TIGHT, BUDGET = Region(rate=4.0, rho=0.3), 10.0


def every_path(context: Context) -> Evidence:
    """The one-round inequality in each round of each run, whatever the costs do: no expectation is taken.

    Free and dear rounds mixed, a tiny and a huge V, a narrow region: without any one of the seven terms on the
    right some round violates it.
    """
    rounds, runs = context.choose(40, 200), context.choose(6, 60)
    ts, generator = range(1, rounds + 1), context.generator()
    worst, seen = -np.inf, 0
    for K, V in product((1, 4), (1e-4, 1e6)):
        costs = generator.choice([0.0, 0.0, 1.0, 9.0], (rounds, runs))
        played = control_loop(costs, K=K, V=V, C=BUDGET, region=TIGHT, constants=SETTING)
        paths = [trajectory(played.admitted[:, run], K) for run in range(runs)]
        penalties = np.array([penalty(path.n, path.N, SETTING) for path in paths]).T
        bound = np.array([penalty_comparison(K, t, TIGHT, SETTING).total for t in ts])[:, np.newaxis]
        Z = played.debt
        left = (Z[1:] ** 2 - Z[:-1] ** 2) / 2 + V * penalties
        squares = np.array([drift_constant(TIGHT, t, costs[t - 1] ** 2, BUDGET) for t in ts])
        right = squares + Z[:-1] * (costs * TIGHT.rate - BUDGET) + V * bound
        size = Z[1:] ** 2 + Z[:-1] ** 2 + V * bound + BUDGET**2
        worst, seen = max(worst, float(np.max((left - right) / size))), seen + left.size
    domain = "costs 0, 1, 9 in any order; K = 1, 4; V = 1e-4, 1e6; ρ = 0.3, Λ̄ = 4, C = 10"
    certificate = {"rounds played": seen, "largest (left - right)/size": worst}
    if worst <= ROUNDING:
        return holds(
            "simulation", f"left <= right in all {seen} rounds", domain=domain, certificate=certificate
        )
    return fails("simulation", f"left exceeds right by {worst}", domain=domain, certificate=certificate)


def enumerated_mean(context: Context) -> Evidence:
    """E[L(T+1)] + VΣE[p] for independent costs, every path with its probability, against the corrected right side.

    Rare dear rounds, so that the debt needs E[c²]. In the mean C² is never needed: a debt that costs 0 repays was made
    by a cost above C.
    """
    T, K, chance = context.choose(8, 12), 2, 1 / 8
    dear = BUDGET / TIGHT.rate / chance  # of mean C/Λ̄
    costs = np.array(list(product((0.0, dear), repeat=T))).T
    odds = np.prod(np.where(costs > 0, chance, 1 - chance), axis=0)
    ts, seen = range(1, T + 1), {}
    for V in (1e-3, 1e6):
        played = control_loop(costs, K=K, V=V, C=BUDGET, region=TIGHT, constants=SETTING)
        paths = [trajectory(column, K) for column in played.admitted.T]
        penalties = np.array([np.sum(penalty(path.n, path.N, SETTING)) for path in paths])
        left = float(np.sum(odds * (played.debt[-1] ** 2 / 2 + V * penalties)))
        drift = sum(drift_constant(TIGHT, t, chance * dear**2, BUDGET) for t in ts)
        right = float(drift + V * sum(penalty_comparison(K, t, TIGHT, SETTING).total for t in ts))
        seen[f"V = {V:g}"] = [left, right]
        if not left <= right:
            shown = {"E[L(T+1)] + VΣE[p]": left, "ΣB_t + VΣp̄^CK": right, "V": V}
            return fails("simulation", f"{left} > {right}", domain=f"T = {T}", certificate=shown)
    return holds(
        "simulation",
        f"left <= right over all {costs.shape[1]} cost paths, with their probabilities",
        domain=f"costs 20 with probability 1/8, else 0, independent; Λ̄ = 4, C = 10, K = 2, ρ = 0.3, T = {T}",
        certificate={"left, right": seen},
    )


def telescopes() -> Evidence:
    """The drifts of the rounds add up to L(T+1) - L(1), by induction; L(1) = 0."""
    first, now, after, total = sp.symbols("L_1 L_t L_next total", real=True)
    return equal(
        (total + after - now).subs(total, now - first),
        after - first,
        domain="one round more",
        what="the sum of the drifts and $L(t+1)-L(1)$",
    )


CLAIMS = [
    Claim(
        id="lem:dpp-T-slot-upper",
        kind="lemma",
        title=r"$L+V\sum p\le BT+V\sum \bar p^{\mathrm{CK}}$ over $T$ rounds",
        statement="Over $T$ rounds, the mean Lyapunov function and $V$ times the penalties of ACDPP are "
        "at most $BT$ plus $V$ times the printed comparison penalties, for any cost process whose "
        "average is affordable.",
        formula=r"E[L(T+1)-L(1)]+V\sum_tE[p(t)]\le BT+V\sum_t\bar p^{CK}(t)",
        domain=r"every $V>0$, $K$, $\rho$, $T$; mean cost times $\bar\Lambda$ at most $C$ on average",
        symbols={
            "p̄": r"the printed bound on the penalty after a switch to $\bar\Lambda$",
            "B": "the drift's constant",
        },
        checks=(large_weight, markov_costs, drifting_costs),
        corrected=Correction(
            title=r"with $\sum B_t$, the repaired $\bar p^{\mathrm{CK}}$, and $\mathbb E[c(t)\mid "
            r"\text{past}]\cdot\bar\Lambda\le C$ in every round",
            statement=r"With $B_t$ in place of $B$ and the repaired $\bar p^{\mathrm{CK}}$, it holds if "
            "the mean cost given the past is affordable in every round. Without that, the same "
            r"inequality holds on every path with $\sum Z(t)(c(t)\bar\Lambda-C)$ added on the right.",
            formula=r"E[L(T+1)]+V\sum_tE[p(t)]\le\sum_tB_t+V\sum_t\bar p^{CK}_{\mathrm{repaired}}(t)",
            hypotheses=(
                r"$\mathbb E[c(t)\mid \text{past}]\cdot\bar\Lambda\le C$",
                r"$\mathbb E[c(t)^2\mid \text{past}]\le\mathbb E[c^2]$",
            ),
            given=(WRITTEN,),
            symbols={
                "p̄": r"the bound on the penalty after a switch to $\bar\Lambda$",
                "repaired": "see lem:dpp-T-slot-upper/monotone, corrected",
            },
            sketch=r"$\bar\Lambda$ lies in the region, so $J_t(\Lambda^{\star})\le "
            r"J_t(\bar\Lambda)=Z(c\bar\Lambda-C)+V\cdot p^{\mathrm{CK}}$. The switch's penalty "
            r"$p^{\mathrm{CK}}$ is at most the repaired $\bar p^{\mathrm{CK}}$: theory's three pieces "
            r"are the penalty's terms at $n_{\min}$, $N_{\max}$ and $N_{\min}$, which are sums of the "
            "region's ends, and each term moves the right way. The drift is at most "
            r"$(c^2\Lambda_{\max}^2+C^2)/2+Z(c\Lambda-C)$. Add the three: the inequality of one round, "
            r"on every path. Take means given the past: $\mathbb E[c^2\mid \text{past}]\le\mathbb "
            r"E[c^2]$ makes the squares $B_t$, and $\mathbb E[Z(c\bar\Lambda-C)]\le0$. Sum over the "
            "rounds: the drifts telescope, and $L(1)=0$.",
            checks={
                "one round": (one_round, confirming(every_path)),
                "$B_t$": drift_constant_is,
                r"$\bar\Lambda$ is a choice": rate_is_a_choice,
                r"$\bar p^{\mathrm{CK}}$: ends are sums": (totals_are_sums, confirming(totals_in_numbers)),
                r"$\bar p^{\mathrm{CK}}$: pieces at the ends": (
                    pieces_at_the_ends,
                    confirming(never_exceeded),
                ),
                r"$\bar p^{\mathrm{CK}}$: first two terms": first_terms_move,
                r"$\bar p^{\mathrm{CK}}$: third term": third_term_falls,
                "means": (conditional_means, confirming(enumerated_mean)),
                "sum": telescopes,
            },
        ),
    ),
]
