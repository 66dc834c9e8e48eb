r"""The best K for the noise floor is one of the two integers next to \(x=\bar c\sum B/C\) (`law:reuse/best-k`)."""

import math

from proofs_check.prelude import *

from proofs_check.groundwork.law.lags import SYMBOLS
from theory.law.quadratic import noise_floor
from theory.law.stationary import best_retention

BUDGET = Budget(buffers=(total_buffer,), cost=C, mean_cost=mean_cost)
x = fill_ratio(BUDGET)

K_MAX = 60  # K that brute force tries: beyond every x that is drawn
LIMITS = Given("law:reuse/limits", r"that $v/(1-a)\to\tfrac12$ as $a\to1$ and $v\to1/K$ as $a\to0$")


def which_of_the_two() -> Evidence:
    """Between K and K+1, to first order: small steps want the higher rate, large ones the larger memory."""
    between = (x > K, x < K + 1)
    floor, ceiling = C / mean_cost, total_buffer / (K + 1)
    return argument(
        (1 / (2 * floor) < 1 / (2 * ceiling), [*between], r"$a\to1$: $(1-a)/2$ over the rate, $K<x<K+1$"),
        (1 / (K * floor) > 1 / ((K + 1) * ceiling), [*between], r"$a\to0$: $1/K$ over the rate, $K<x<K+1$"),
    )


def _misses(budget: Budget, h: Sequence[F], eta: F, E: int) -> Found:
    """theory's choice against every K up to 60 at its best rate: it must be the best, and next to x."""
    problem: Any = {"h": h, "variance": [1 / (value + 1) for value in h], "eta": eta, "E": E}
    affordable, ratio = F(budget.cost) / budget.mean_cost, fill_ratio(budget)
    rates = {kept: min(F(budget.total_buffer, kept), affordable) for kept in range(1, K_MAX + 1)}
    floors = {kept: noise_floor(rate, kept, **problem) for kept, rate in rates.items()}
    found, rate = best_retention(budget, **problem)
    near = found in (max(math.floor(ratio), 1), math.ceil(ratio))
    true = floors[found] == min(floors.values()) and near and rate == rates[found]
    return unless(true, x=ratio, found=found, best=min(floors, key=floors.__getitem__))


random = drawn(
    rf"up to three clients, up to three eigenvalues of at most 1, $\eta\le1$, every $K\le{K_MAX}$",
    (25, 400),
    budget=exact.budgets(3, 20, F(1), F(1, 2), F(3, 2)).filter(lambda budget: fill_ratio(budget) < K_MAX),
    h=st.lists(fractions(F(1, 8), 1, max_denominator=8), min_size=1, max_size=3),
    eta=st.sampled_from([F(1, 100), F(1, 4), F(9, 10), F(1)]),
    E=st.integers(1, 2),
)(_misses)

CLAIMS = [
    Claim(
        id="law:reuse/best-k",
        title="the noise floor is least next to $x$",
        statement=r"Among all $K$ and rates with $\bar c\bar\Lambda\le C$ and $K\bar\Lambda\le\sum B$ the "
        r"noise floor is least at one of the two integers next to $x=\bar c\sum B/C$ (or at 1, if $x<1$), "
        r"at rate $\min(\sum B/K,C/\bar c)$: Corollary 2's pair, exactly and at every step size up to "
        "$1/h$, whatever the eigenvalues. If $x$ is not whole, small steps want the floor of $x$, at rate "
        r"$C/\bar c$, where Corollary 2 has the ceiling, and large steps want the ceiling.",
        formula=said(
            r"\operatorname{arg}\min_K\frac{v(a,K)}{\min(\sum B/K,\,C/\bar c)}\in\{\max(\lfloor "
            r"x\rfloor,1),\lceil x\rceil\},\quad x=@x",
            x=x,
        ),
        domain=r"constant admission, quadratic losses with one Hessian, $0\le a<1$ in every direction, "
        r"every $\sum B$, $C$, $\bar c$; real rates",
        sketch=r"The floor is $\tfrac12\sum hs^2v/\bar\Lambda$, so at a given $K$ the largest rate within "
        r"the budgets is best: $C/\bar c$ for $K\le x$ and $\sum B/K$ for $K\ge x$. Up to $x$ the rate "
        r"stays and every $v(a,K)$ falls in $K$: the largest $K\le x$ is best. From $x$ on the floor is "
        r"$\tfrac12\sum hs^2Kv/\sum B$, and no $Kv$ falls: the smallest $K\ge x$ is best "
        r"(law:reuse/retention). As $a\to1$ the two floors are in the inverse ratio of the rates, and "
        r"$C/\bar c>\sum B/\lceil x\rceil$; as $a\to0$ they are $1/(K\bar\Lambda)$, and "
        r"$\lfloor x\rfloor C/\bar c<\sum B$.",
        given=(LIMITS,),
        checks={
            "next to $x$": (
                theorem("Stationary.best_retention", domain="any directions, every budget, $K$ and rate"),
                confirming(random),
            ),
            "which of the two": which_of_the_two,
        },
        symbols=SYMBOLS,
    )
]
