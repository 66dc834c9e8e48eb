r"""The best answer to a drift: retention, step and mean of models for given budgets, in the long run.

Everything is `theory.drift.long_run` at a few places: where the step may be chosen, and at a given one; with the K that
Corollary 2 would take (`eq:optimal-K`) beside it. Searches are in floats.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from theory.design.offline import best_rate, fill_ratio
from theory.drift.long_run import (
    best_drifting_retention,
    best_drifting_step,
    drift_floor,
    over_directions,
    smoothed_lag,
    smoothed_noise,
)
from theory.law.quadratic import contraction
from theory.numbers.algebra import ratio
from theory.setting import Budget, SettingError

__all__ = ["DriftChoice", "best_drifting_mean", "drift_design", "smoothed_floor"]

ROUNDS_MAX = 10**6  # rounds to fill the buffers
WINDOW_HALVINGS = 48  # halvings of 1 - β
RUNGS = 4  # retentions that are tried with steps of their own


@dataclass(frozen=True)
class DriftChoice:
    """One way to live with the drift: the step's η (none if the smaller the better), the window 1/(1-β) of an
    exponential mean of models (none for the last model), and the excess risk that it settles at."""

    name: str
    K: int
    rate: float
    eta: float | None
    window: float | None
    risk: float


def smoothed_floor(
    rate: Any, keep: Any, K: int, *, h: Any, variance: Any, walk: Any, eta: Any, E: Any = 1
) -> Any:
    r"""`drift_floor` of a mean of models whose weights fall by β = `keep` per round; exact, behind a walk.

    >>> smoothed_floor(2, ratio(0, 1), 1, h=[1], variance=[3], walk=[1], eta=ratio(1, 2))
    Fraction(11, 12)
    """

    def along(value: Any, spread: Any, moves: Any) -> Any:
        a = contraction(value, eta, E)
        noise = ratio(spread * smoothed_noise(a, keep, K), rate)
        return value * (noise + moves * smoothed_lag(a, keep, K))

    return ratio(over_directions(along, h, variance, walk), 2)


def best_drifting_mean(rate: Any, **problem: Any) -> float:
    r"""The β of the exponential mean with the least `smoothed_floor`, for samples used once: 0 is the last model.

    The best of \(1-2^{-i/2}\), then of its neighbourhood.

    >>> problem = {"h": [1], "variance": [1], "walk": [ratio(1, 10000)]}
    >>> round(1 / (1 - best_drifting_mean(1, **problem, eta=1)), 1)  # as the best step: about 1/√q
    100.5
    """

    def floor(halvings: float) -> float:
        return float(smoothed_floor(rate, 1 - 2**-halvings, 1, **problem))

    at = min(range(2 * WINDOW_HALVINGS + 1), key=lambda i: floor(i / 2))
    low, high = max(at - 1, 0) / 2, (at + 1) / 2
    for _ in range(WINDOW_HALVINGS):
        left, right = (2 * low + high) / 3, (low + 2 * high) / 3
        low, high = (low, right) if floor(left) <= floor(right) else (left, high)
    found = (low + high) / 2
    return 1 - 2**-found if floor(found) < floor(0) else float(0)


def drift_design(budget: Budget, *, eta: Any = None, **problem: Any) -> list[DriftChoice]:
    r"""The choices for h, `variance`, `walk` and E, the recommended one first, Corollary 2's K among them.

    Without `eta` the step may be chosen: then K = 1 at the best step in every case of one direction, and the best of a
    few K in others. Without drift it is Corollary 2's K, as before, and no step is best.

    >>> budget = Budget(buffers=(20,), cost=10, mean_cost=1)
    >>> [(one.name, one.K) for one in drift_design(budget, h=[2], variance=[1], walk=[ratio(1, 100)])]
    [('the best step', 1), ("Corollary 2's K, its best step", 2)]
    >>> [(one.K, one.eta) for one in drift_design(budget, h=[2], variance=[1], walk=[0])]
    [(2, None)]
    """
    filled = math.ceil(fill_ratio(budget))
    if filled > ROUNDS_MAX:
        raise SettingError(
            f"the budget takes more than 10^6 rounds to fill the buffers, {float(filled):.3g}: take smaller buffers"
        )
    numbers = {name: np.array([float(one) for one in problem[name]]) for name in ("h", "variance", "walk")}
    problem = numbers | {"E": problem.get("E", 1)}
    moves = bool(numbers["walk"].any())

    def at(name: str, K: int, step: float) -> DriftChoice:
        rate = float(best_rate(K, budget))
        return DriftChoice(name, K, rate, step, None, float(drift_floor(rate, K, **problem, eta=step)))

    def tuned(name: str, K: int) -> DriftChoice:
        return at(name, K, best_drifting_step(float(best_rate(K, budget)), **problem, K=K))

    chosen, given = [], []
    if eta is not None:
        if moves:
            K, _ = best_drifting_retention(budget, **problem, eta=float(eta))
        else:  # the noise falls in K as long as the rate does not
            K = min({max(filled - 1, 1), filled}, key=lambda kept: at("", kept, float(eta)).risk)
        given.append(at("this step", K, float(eta)))
        if filled != K:
            given.append(at("this step, Corollary 2's K", filled, float(eta)))
        if moves:
            rate = float(best_rate(1, budget))
            keep = best_drifting_mean(rate, **problem, eta=float(eta))
            risk = float(smoothed_floor(rate, keep, 1, **problem, eta=float(eta)))
            given.append(
                DriftChoice("this step, a mean of models", 1, rate, float(eta), 1 / (1 - keep), risk)
            )
    if moves:
        # with one direction K = 1 is best; several share the step, and a longer retention with a larger step may be
        ladder = (
            {round(filled ** ratio(i, RUNGS)) for i in range(RUNGS + 1)} if len(numbers["h"]) > 1 else {1}
        )
        best = min((tuned("the best step", K) for K in sorted(ladder)), key=lambda one: one.risk)
        chosen.append(best)
        if filled != best.K:
            chosen.append(tuned("Corollary 2's K, its best step", filled))
    elif eta is None:
        chosen.append(
            DriftChoice("small steps", filled, float(best_rate(filled, budget)), None, None, float(0))
        )
    return given + chosen
