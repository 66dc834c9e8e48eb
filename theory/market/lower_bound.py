r"""Lower bounds for every policy and learner by money and memory; an upper bound for bursts with a mean of models.

Samples are \(z\sim N(\theta^\star,s_h^2)\) along each eigendirection, \(\theta^\star\) has the prior
\(N(0,\tau_h^2)\), and prices say nothing about \(\theta^\star\). The policy may know future prices and the
values of all samples bought so far, and the learner may do anything with them. What was decided cancels from the
posterior, whose precision after N samples is \(N/s^2+1/\tau^2\), whatever their values: so the excess risk is at
least the mean of `bayes_risk` over N, which is convex in N and so at least that of the mean of N. And within a mean
cost of \(Ct+D\) no more than `most_samples` are bought on average (`theory.market.knapsack`). As \(\tau\to\infty\)
that is `least_risk`, which no guarantee for all \(\theta^\star\in\mathbb R^d\) is below. Within a known ball, or for
one \(\theta^\star\) alone, which a learner may guess, less is possible. Samples are paid for before they are seen.

Buying S samples below the knapsack's threshold, training on them once and averaging the models over the rounds that
trained has at most `burst_risk`, for every law of samples with these variances: the same up to 1 + O(1/t).
"""

from typing import Any

from theory.law.quadratic import contraction
from theory.market.knapsack import Limit
from theory.numbers.algebra import ratio

__all__ = ["bayes_risk", "burst_inverse", "burst_risk", "least_risk", "most_samples", "van_trees"]


def most_samples(limit: Limit, rounds: Any, debt: Any = 0) -> Any:
    r"""\(Rt+D/\theta\): no policy buys more samples on average for a mean cost of \(Ct+D\); an upper bound.

    For independent prices of the limit's law, clairvoyant or not. What is there at the start or comes for free is not
    in it: a filling of S samples adds S.

    >>> from theory.market.knapsack import purchase_limit
    >>> from theory.market.prices import Atoms
    >>> most_samples(purchase_limit(Atoms.of([1, 2, 6]), places=6, budget=4), rounds=10, debt=2)
    Fraction(31, 1)
    >>> most_samples(purchase_limit(Atoms.of([1, 2, 6]), places=6, budget=100), rounds=10, debt=2)
    60
    """
    extra = 0 if limit.binds == "memory" else ratio(debt, limit.threshold)
    return limit.rate * rounds + extra


def bayes_risk(samples: Any, *, h: Any, variance: Any, prior: Any) -> Any:
    r"""\(\tfrac12\sum_h\frac h{N/s_h^2+1/\tau_h^2}\): the least expected excess risk after N Gaussian samples; exact.

    `prior` has the variances \(\tau_h^2\) of the prior.

    >>> bayes_risk(3, h=[2, 4], variance=[1, 1], prior=[1, 1])
    Fraction(3, 4)
    """
    each = (
        ratio(value * spread * wide, samples * wide + spread)
        for value, spread, wide in zip(h, variance, prior, strict=True)
    )
    return ratio(sum(each), 2)


def least_risk(samples: Any, *, h: Any, variance: Any) -> Any:
    r"""\(\frac1{2N}\sum_hhs_h^2\), the limit of `bayes_risk` as \(\tau\to\infty\); exact.

    With `most_samples` for N: a lower bound on every guarantee for all \(\theta^\star\in\mathbb R^d\), with that money.

    >>> least_risk(4, h=[2], variance=[1])
    Fraction(1, 4)
    """
    return ratio(sum(value * spread for value, spread in zip(h, variance, strict=True)), 2 * samples)


def burst_inverse(rounds: Any, often: Any) -> Any:
    r"""\(\mathbb E\frac1{k+1}=\frac{1-(1-q)^{t+1}}{(t+1)q}\) for the number k of bursts in t rounds of chance q; exact.

    >>> burst_inverse(1, ratio(1, 2))
    Fraction(3, 4)
    """
    return ratio(1 - (1 - often) ** (rounds + 1), (rounds + 1) * often)


def burst_risk(
    places: Any, often: Any, rounds: Any, *, h: Any, variance: Any, start: Any, eta: Any, E: Any = 1
) -> Any:
    r"""Upper bound on the risk of bursts of S samples, used once, after t rounds if models are averaged.

    \[\tfrac12\sum_hh\Bigl(\frac{s_h^2}{S}\,\mathbb E\frac1{k+1}
    +\frac{(\theta_h(1)-\theta_h^\star)^2}{(1-a_h)^2}\cdot\frac2{(t+1)(t+2)q^2}\Bigr),\qquad0\le a_h<1,\]

    for bursts that come with probability q per round, independently, and an equal mean of θ(1) and the models since.
    `start` has the squared first distances.

    >>> burst_risk(10, 1, 9, h=[1, 1], variance=[1, 3], start=[0, 0], eta=1)
    Fraction(1, 50)
    """
    seen, gone = burst_inverse(rounds, often), ratio(2, (rounds + 1) * (rounds + 2) * often**2)
    each = (
        value * (ratio(spread * seen, places) + ratio(distance * gone, (1 - contraction(value, eta, E)) ** 2))
        for value, spread, distance in zip(h, variance, start, strict=True)
    )
    return ratio(sum(each), 2)


def van_trees(samples: Any, information: Any, prior: Any) -> Any:
    r"""\(\frac1{NI+J}\): van Trees' lower bound on the mean square error.

    For a family of laws with one parameter, I the Fisher information of a sample and J that of a prior whose density
    vanishes at its ends. Samples may be chosen by any rule; then NI stands for the mean of N times I, which is
    I times the mean of N where I does not depend on the parameter, and at most that with the largest I. It is an
    equality for Gaussian samples and priors. Where the excess risk is at least \(\frac
    m2(\hat\theta-\theta^\star)^2\), \(\frac m2\) times it bounds the excess risk: of losses that are not quadratic no
    more is claimed here.

    >>> van_trees(3, 1, 1)
    Fraction(1, 4)
    """
    return ratio(1, samples * information + prior)
