r"""The best K for the noise floor is one of the two integers next to \(x=\bar c\sum B/C\) (`law:reuse/best-k`).

That is Corollary 2's pair, for another reason: up to x the rate does not depend on K and v falls; beyond x the rate is
\(\sum B/K\) and K·v does not fall.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import WRITTEN, Claim, Context, Given, confirming
from proofs_check.engines.exact import exhaust, search
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always as proved
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.prediction.lags import noise_falls, product_does_not_fall
from proofs_check.groundwork.reuse.corners import always
from proofs_check.notation import C, K, mean_cost, total_buffer, written
from theory.design import best_rate, fill_ratio
from theory.law import noise_floor, stationary_noise
from theory.setting import Budget
from theory.stationary import best_retention

BUDGET = Budget(buffers=(total_buffer,), cost=C, mean_cost=mean_cost)
x = fill_ratio(BUDGET)
MOST = 60  # K that brute force tries: beyond every x that is drawn
LIMITS = Given("law:reuse/limits", "that v/(1-a) → ½ as a → 1 and v → 1/K as a → 0")


def rates() -> Evidence:
    """min(ΣB/K, C/c̄) is C/c̄ up to x and ΣB/K from x on; more than that is not allowed, less has a higher floor."""
    rate, less, noise = sp.symbols("rate less noise", positive=True)
    allowed = [mean_cost * rate <= C, K * rate <= total_buffer]
    return together(
        always(sp.Eq(best_rate(K, BUDGET), C / mean_cost), given=[x >= K], domain="every budget, K <= x"),
        always(sp.Eq(best_rate(K, BUDGET), total_buffer / K), given=[x <= K], domain="every budget, K >= x"),
        always(rate <= best_rate(K, BUDGET), given=allowed, domain="every rate within the budgets"),
        proved(noise / rate < noise / less, given=[less < rate], domain="any noise, any lower rate"),
    )


def up_to_x() -> Evidence:
    """At one rate the floor falls as v does, direction by direction."""
    weight, rate, here, after = sp.symbols("weight rate here after", positive=True)
    return proved(
        weight * after / rate < weight * here / rate,
        given=[after < here],
        domain="v(K+1) < v(K), any hs² and rate",
    )


def beyond_x() -> Evidence:
    """At the rate ΣB/K the floor is K·v/ΣB, and does not fall."""
    weight, here, after = sp.symbols("weight here after", positive=True)  # hs², K·v(K) and (K+1)·v(K+1)
    h, spread, a = sp.symbols("h s a", positive=True)
    return together(
        equal(
            noise_floor(total_buffer / K, K, h=[h], variance=[spread**2], eta=(1 - a) / h),
            h * spread**2 * K * stationary_noise(a, K) / (2 * total_buffer),
            domain="every K, h, s and a",
            what="the floor at full buffers and K·v/ΣB",
        ),
        proved(
            weight * after / total_buffer >= weight * here / total_buffer,
            given=[after >= here],
            domain="(K+1)v(K+1) >= Kv(K), any hs²",
        ),
    )


def which_of_the_two() -> Evidence:
    """Between K and K+1, to first order: small steps want the higher rate, large ones the larger memory."""
    between = [x > K, x < K + 1]
    floor, ceiling = C / mean_cost, total_buffer / (K + 1)
    return together(
        proved(
            1 / (2 * floor) < 1 / (2 * ceiling),
            given=between,
            domain="a → 1: (1-a)/2 over the rate, K < x < K+1",
        ),
        proved(
            1 / (K * floor) > 1 / ((K + 1) * ceiling),
            given=between,
            domain="a → 0: 1/K over the rate, K < x < K+1",
        ),
    )


def _budgets() -> st.SearchStrategy[Budget]:
    return st.builds(
        Budget,
        buffers=st.lists(st.integers(1, 12), min_size=1, max_size=3).map(tuple),
        cost=st.integers(1, 20),
        mean_cost=st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(3, 2)]),
    ).filter(lambda budget: fill_ratio(budget) < MOST)


def _misses(budget: Budget, h: Sequence[Fraction], eta: Fraction, E: int) -> dict[str, Any] | None:
    """theory's choice against every K up to 60 at its best rate: it must be the best, and next to x."""
    variance = [1 / (value + 1) for value in h]
    affordable = Fraction(budget.cost) / budget.mean_cost
    floors = {
        kept: noise_floor(
            min(Fraction(budget.total_buffer, kept), affordable), kept, h=h, variance=variance, eta=eta, E=E
        )
        for kept in range(1, MOST + 1)
    }
    found, rate = best_retention(budget, h=h, variance=variance, eta=eta, E=E)
    ratio = fill_ratio(budget)
    near = (max(math.floor(ratio), 1), math.ceil(ratio))
    paid = rate == min(Fraction(budget.total_buffer, found), affordable)
    if floors[found] == min(floors.values()) and found in near and paid:
        return None
    return {"x": ratio, "found": found, "best": min(floors, key=floors.__getitem__)}


def listed() -> Evidence:
    """Budgets with x below 1, whole and not, steps from small to as large as allowed, one direction and two."""
    budgets = [
        Budget(buffers=(size,), cost=cost, mean_cost=price)
        for size in (1, 5, 12)
        for cost in (1, 2, 5)
        for price in (Fraction(1), Fraction(3, 2))
    ]
    points = (
        {"budget": budget, "h": h, "eta": eta, "E": 1}
        for budget in budgets
        for h in ((Fraction(1),), (Fraction(1), Fraction(1, 8)))
        for eta in (Fraction(1, 100), Fraction(3, 4), Fraction(1))
    )
    return exhaust(
        points, _misses, domain=f"18 budgets, eigenvalues 1 and 1/8, η = 1/100, 3/4, 1; every K <= {MOST}"
    )


def drawn(context: Context) -> Evidence:
    """Budgets, eigenvalues and steps drawn at random."""
    return search(
        context,
        {
            "budget": _budgets(),
            "h": st.lists(st.fractions(Fraction(1, 8), 1, max_denominator=8), min_size=1, max_size=3),
            "eta": st.sampled_from([Fraction(1, 100), Fraction(1, 4), Fraction(9, 10), Fraction(1)]),
            "E": st.integers(1, 2),
        },
        _misses,
        domain=f"budgets of up to three clients, up to three eigenvalues of at most 1, η up to 1, every K <= {MOST}",
        examples=context.choose(25, 400),
    )


CLAIMS = [
    Claim(
        id="law:reuse/best-k",
        kind="addition",
        title="the noise floor is least next to x",
        statement="Among all K and rates with c̄Λ̄ ≤ C and KΛ̄ ≤ ΣB the noise floor is least at one of the "
        "two integers next to x = c̄ΣB/C (or at 1, if x < 1), at rate min(ΣB/K, C/c̄): Corollary 2's pair, "
        "exactly and at every step size up to 1/h, whatever the eigenvalues. If x is not whole, small "
        "steps want the floor of x, at rate C/c̄, where Corollary 2 has the ceiling, and large steps want "
        "the ceiling.",
        formula=written(
            r"\operatorname{arg}\min_K\frac{v(a,K)}{\min(\sum B/K,\,C/\bar c)}"
            r"\in\{\max(\lfloor x\rfloor,1),\lceil x\rceil\},"
            r"\quad x=@x",
            "argmin of v(a,K)/min(ΣB/K, C/c̄) over K is max(⌊x⌋,1) or ⌈x⌉, x = @x",
            x=x,
        ),
        domain="constant admission, quadratic losses with one Hessian, 0 <= a < 1 in every direction, "
        "every ΣB, C, c̄; real rates",
        sketch="The floor is ½Σhs²v/Λ̄, so at a given K the largest rate within the budgets is best: C/c̄ "
        "for K <= x and ΣB/K for K >= x. Up to x the rate stays and every v(a, K) falls in K: the largest "
        "K <= x is best. From x on the floor is ½Σhs²·K·v/ΣB, and no K·v falls: the smallest K >= x is "
        "best (law:reuse/retention). As a → 1 the two floors are in the ratio of 1/rate, and C/c̄ > "
        "ΣB/⌈x⌉; as a → 0 they are 1/(KΛ̄), and ⌊x⌋·C/c̄ < ΣB.",
        given=(WRITTEN, LIMITS),
        parts=("the rate", "up to x", "beyond x", "which of the two"),
        checks={
            "the rate": rates,
            "up to x": (noise_falls, up_to_x, confirming(listed), confirming(drawn)),
            "beyond x": (product_does_not_fall, beyond_x, confirming(listed), confirming(drawn)),
            "which of the two": which_of_the_two,
        },
        symbols={
            "a": "(1-ηh)^E, what a round leaves of a distance along an eigendirection",
            "v": "stationary noise in units of a sample's variance over Λ̄",
        },
    ),
]
