r"""An optimum that moves, sample by sample: every stream of samples and every walk of the optimum, exactly.

A step of the walk, and a sample's distance from the optimum of its round, takes one of two values.
"""

from proofs_check.prelude import *

from proofs_check.groundwork.law.lags import AVERAGED
from proofs_check.groundwork.law.streams import DRAWN
from theory.law.averaging import latest

nu, q = sp.symbols("nu q", positive=True)
VARIANCE = sum((chance * value**2 for value, chance in DRAWN.items()), F(0))
MOVING = AVERAGED | glossary("drift")

NOISE = Given("law:reuse/retention", "the stationary noise $v(a,K)$, and that it falls in $K$")
LIMITS = Given("law:reuse/limits", r"$v$ to second order as $a\to1$")
LAG = Given("law:drift/lag", "the stationary lags $Y(a,K)$ and $L(a,K)$")
BEST = Given("law:drift/best", "that no weights have less than the recursion of $P$")


def filter_form(admissions: Sequence[int], drift: F, first: F) -> list[list[F]]:
    """The mean square as a form in the weights of the start and of each round that bought, for s² = 1.

    Two weights have the changes in common that are later than both; the change of the last round is later than all.
    """
    T, rounds = len(admissions), [s for s, bought in enumerate(admissions, start=1) if bought]
    when, own = [0, *rounds], [first, *(F(1, admissions[s - 1]) for s in rounds)]
    return [
        [drift * (T + 1 - max(s, u, 1)) + (own[i] if i == k else 0) for k, u in enumerate(when)]
        for i, s in enumerate(when)
    ]


def full(kept: int, rounds: int) -> Cohorts:
    """Two samples per round, each for K rounds; the memory of round 1 is full, and all of that round's world."""
    old = Cohorts(np.ones(kept - 1, dtype=int), np.arange(1, kept), np.full(kept - 1, 2))
    return old + by_age([2] * rounds, kept)


def long_run(kept: int, a: F) -> tuple[F, F, F]:
    """v, Y and L without closed forms, from the rests W_0, W_1, … of a jump, geometric once old samples are gone."""
    rule, jump = full(kept, kept), [[F(0)]] + [[F(1)]] * kept
    left = -path_bias(rule, kept, a, over_rounds(latest, kept), path=jump, first=[F(0)])[1:, 0]
    falls, last = left[:-1] - left[1:], left[-1]
    v = sum(falls**2) + (1 - a) * last**2 / (1 + a)
    return v, sum(left**2) + a**2 * last**2 / (1 - a**2), sum(left) + a * last / (1 - a)


def mean_squares(
    rule: Cohorts, rounds: int, *, h: F, eta: F, E: int, shares: Sequence[Any], path: Sequence[F], first: F
) -> list[F]:
    """E (mean of models - optimum)² at θ(1), …, θ(T+1): over all streams and all walks on top of the path."""
    cohorts = list(zip(rule.entered.tolist(), rule.left.tolist(), rule.count.tolist(), strict=True))
    samples = [(entered, left) for entered, left, count in cohorts for _ in range(count)]
    totals = [F(0)] * (rounds + 1)
    for drawn in product(DRAWN, repeat=rounds + len(samples)):
        chance = prod((DRAWN[value] for value in drawn), start=F(1))
        steps, off = drawn[:rounds], drawn[rounds:]
        optimum = [path[t] + sum(steps[:t], F(0)) for t in range(rounds + 1)]
        values = [optimum[entered - 1] + y for (entered, _), y in zip(samples, off, strict=True)]
        theta = mean = first
        totals[0] += chance * (mean - optimum[0]) ** 2
        for t in range(1, rounds + 1):
            held = [z for (entered, left), z in zip(samples, values, strict=True) if entered <= t <= left]
            for _ in range(E if held else 0):
                theta -= eta * sum((h * (theta - z) for z in held), F(0)) / len(held)
            mean += shares[t] * (theta - mean)
            totals[t] += chance * (mean - optimum[t]) ** 2
    return totals
