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
from proofs_check.engines.smt import always
from proofs_check.engines.smt import always as proved
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.prediction.lags import noise_falls, product_does_not_fall
from proofs_check.symbols import C, K, mean_cost, total_buffer
from proofs_check.text import said
from theory.design import best_rate, fill_ratio
from theory.law import noise_floor, stationary_noise
from theory.setting import Budget
from theory.stationary import best_retention

BUDGET = Budget(buffers=(total_buffer,), cost=C, mean_cost=mean_cost)
x = fill_ratio(BUDGET)
MOST = 60  # K that brute force tries: beyond every x that is drawn
LIMITS = Given("law:reuse/limits", r"that $v/(1-a)\to\tfrac12$ as $a\to1$ and $v\to1/K$ as $a\to0$")


def rates() -> Evidence:
    """min(ΣB/K, C/c̄) is C/c̄ up to x and ΣB/K from x on; more than that is not allowed, less has a higher floor."""
    rate, less, noise = sp.symbols("rate less noise", positive=True)
    allowed = [mean_cost * rate <= C, K * rate <= total_buffer]
    return together(
        always(
            sp.Eq(best_rate(K, BUDGET), C / mean_cost),
            given=[x >= K],
            domain=r"every budget, $K\le "
            "x$",
        ),
        always(
            sp.Eq(best_rate(K, BUDGET), total_buffer / K),
            given=[x <= K],
            domain="every budget, "
            r"$K\ge x$",
        ),
        always(rate <= best_rate(K, BUDGET), given=allowed, domain="every rate within the budgets"),
        proved(noise / rate < noise / less, given=[less < rate], domain="any noise, any lower rate"),
    )


def up_to_x() -> Evidence:
    """At one rate the floor falls as v does, direction by direction."""
    weight, rate, here, after = sp.symbols("weight rate here after", positive=True)
    return proved(
        weight * after / rate < weight * here / rate,
        given=[after < here],
        domain="$v(K+1)<v(K)$, any $hs^2$ and rate",
    )


def beyond_x() -> Evidence:
    """At the rate ΣB/K the floor is K·v/ΣB, and does not fall."""
    weight, here, after = sp.symbols("weight here after", positive=True)  # hs², K·v(K) and (K+1)·v(K+1)
    h, spread, a = sp.symbols("h s a", positive=True)
    return together(
        equal(
            noise_floor(total_buffer / K, K, h=[h], variance=[spread**2], eta=(1 - a) / h),
            h * spread**2 * K * stationary_noise(a, K) / (2 * total_buffer),
            domain="every $K$, $h$, $s$ and $a$",
            what=r"the floor at full buffers and $K\cdot v/\sum B$",
        ),
        proved(
            weight * after / total_buffer >= weight * here / total_buffer,
            given=[after >= here],
            domain=r"$(K+1)v(K+1)\ge Kv(K)$, any $hs^2$",
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
            domain=r"$a\to1$: $(1-a)/2$ over the rate, $K<x<K+1$",
        ),
        proved(
            1 / (K * floor) > 1 / ((K + 1) * ceiling),
            given=between,
            domain=r"$a\to0$: $1/K$ over the rate, $K<x<K+1$",
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
        title="the noise floor is least next to $x$",
        statement=r"Among all $K$ and rates with $\bar c\bar\Lambda\le C$ and $K\bar\Lambda\le\sum B$ "
        r"the noise floor is least at one of the two integers next to $x=\bar c\sum B/C$ (or at 1, if "
        r"$x<1$), at rate $\min(\sum B/K,C/\bar c)$: Corollary 2's pair, exactly and at every step size "
        "up to $1/h$, whatever the eigenvalues. If $x$ is not whole, small steps want the floor of $x$, "
        r"at rate $C/\bar c$, where Corollary 2 has the ceiling, and large steps want the ceiling.",
        formula=said(
            r"\operatorname{arg}\min_K\frac{v(a,K)}{\min(\sum B/K,\,C/\bar c)}"
            r"\in\{\max(\lfloor x\rfloor,1),\lceil x\rceil\},"
            r"\quad x=@x",
            x=x,
        ),
        domain=r"constant admission, quadratic losses with one Hessian, $0\le a<1$ in every direction, "
        r"every $\sum B$, $C$, $\bar c$; real rates",
        sketch=r"The floor is $\tfrac12\sum hs^2v/\bar\Lambda$, so at a given $K$ the largest rate "
        r"within the budgets is best: $C/\bar c$ for $K\le x$ and $\sum B/K$ for $K\ge x$. Up to $x$ the "
        r"rate stays and every $v(a,K)$ falls in $K$: the largest $K\le x$ is best. From $x$ on the "
        r"floor is $\tfrac12\sum hs^2\cdot K\cdot v/\sum B$, and no $K\cdot v$ falls: the smallest $K\ge "
        r"x$ is best (law:reuse/retention). As $a\to1$ the two floors are in the ratio of 1/rate, and "
        r"$C/\bar c>\sum B/\lceil x\rceil$; as $a\to0$ they are $1/(K\bar\Lambda)$, and $\lfloor "
        r"x\rfloor \cdot C/\bar c<\sum B$.",
        given=(WRITTEN, LIMITS),
        checks={
            "the rate": rates,
            "up to $x$": (noise_falls, up_to_x, confirming(listed), confirming(drawn)),
            "beyond $x$": (product_does_not_fall, beyond_x, confirming(listed), confirming(drawn)),
            "which of the two": which_of_the_two,
        },
        symbols={
            "a": r"$(1-\eta h)^E$, what a round leaves of a distance along an eigendirection",
            "v": r"stationary noise in units of a sample's variance over $\bar\Lambda$",
        },
    ),
]
