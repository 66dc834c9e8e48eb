r"""The law of reuse in a world that moves: what a federation knows of an optimum that does not stand still.

As in `theory.law.averaging`, along an eigendirection a round takes θ to \(a_t\theta+(1-a_t)\bar z(t)\), and the server
reports a running mean of its models, or the last one. But a sample of round s has the mean \(\theta^\star(s)\), the
optimum of its own round, and keeps it as long as it is in memory. The optimum follows a path (a slope, a jump, a
cycle, any), or a random walk whose steps have mean 0 and variance q, or both.

**A model is judged in the world that it meets:** θ(t), with which round t begins, by \(\theta^\star(t)\), of which it
has seen no sample yet. To judge it by \(\theta^\star(t-1)\), the world a round earlier, takes q off the walk's part and
a round off every lag, whatever the policy.

With \(x_s\) the weight of all samples of round s in the model and \(x_0\) that of the start, exactly,

\[\mathbb E[F_P(\theta)-F_P(\theta^\star)]=\tfrac12\sum_hh\Bigl(\bigl(x_0\theta(1)+\sum_sx_s\theta^\star(s)
-\theta^\star(t)\bigr)^2+q_h\sum_lW_l^2+s_h^2\sum_ib_i^2\Bigr),\qquad W_l=x_0+\sum_{s\le l}x_s:\]

the bias along the path, the lag behind the walk, \(W_l\) being what weighs in the model and is older than the change
between rounds l and l+1, and the noise, as in a world at rest. Steps of the walk need only be uncorrelated: jumps of
variance J that come with probability p in a round are a walk with q = pJ.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.law.averaging import averaged, checked_shares, halved, plain, prepared
from theory.law.quadratic import Cohorts
from theory.numbers.algebra import ratio
from theory.setting import SettingError

__all__ = ["DriftRisk", "drifting_risk", "path_bias", "walk_lag"]


@dataclass(frozen=True)
class DriftRisk:
    """Expected excess risk at θ(1), …, θ(T+1): by the path and the start, by the walk, and noise."""

    bias: NDArray[Any]
    lag: NDArray[Any]
    noise: NDArray[Any]

    @property
    def total(self) -> NDArray[Any]:
        whole: NDArray[Any] = self.bias + self.lag + self.noise
        return whole


def path_bias(
    cohorts: Cohorts, rounds: Any, a: Any, shares: Sequence[Any], *, path: Any, first: Any
) -> NDArray[Any]:
    r"""\(\mathbb E\,\bar\theta-\theta^\star(t)\) at θ(1), …, θ(T+1), a row each, a column for each direction; exact.

    `path` has the optimum's T+1 places, a row each; `first` is θ(1); `a` and `shares` are as in
    `theory.law.averaging.averaged`. It takes time linear in T and in the cohorts.

    >>> from theory.law.averaging import latest, over_rounds
    >>> from theory.law.quadratic import by_age
    >>> slope = [[0], [1], [2]]
    >>> last = over_rounds(latest, 2)
    >>> path_bias(by_age([1, 1], K=2), 2, ratio(1, 2), last, path=slope, first=[0])[:, 0].tolist()
    [0, Fraction(-1, 1), Fraction(-7, 4)]
    """
    T, exact, rows, memory = prepared(cohorts, rounds, a)
    where, model = plain(path, exact), plain(first, exact)
    if where.shape != (T + 1, rows.shape[1]) or model.shape != where.shape[1:]:
        raise SettingError(
            f"the path must have {T + 1} rows of {rows.shape[1]} numbers, and the start as many numbers as a row"
        )
    share, mean = checked_shares(shares, T, exact), model
    placed = memory.count[:, np.newaxis] * where[memory.entered - 1]
    held = _in_memory(memory.entered, memory.left, placed, T)
    found = [mean - where[0]]
    for t, n in enumerate(memory.n, start=1):
        if n > 0:
            step = rows[t - 1]
            model = step * model + (1 - step) * held[t - 1] * ratio(1, n)
        mean = mean + share[t] * (model - mean)
        found.append(mean - where[t])
    return np.stack(found)


def _in_memory(entered: Any, left: Any, amounts: NDArray[Any], T: int) -> list[Any]:
    """The sum of the amounts of what is in memory, in rounds 1..T."""
    change = np.zeros((T + 2, *amounts.shape[1:]), dtype=amounts.dtype)
    np.add.at(change, entered, amounts)
    np.subtract.at(change, left + 1, amounts)
    return list(np.cumsum(change, axis=0)[1 : T + 1])


def walk_lag(cohorts: Cohorts, rounds: Any, a: Any, shares: Sequence[Any]) -> NDArray[Any]:
    r"""\(\sum_lW_l^2\) at θ(1), …, θ(T+1), a row each, a column for each direction; exact.

    It is the lag behind a walk with q = 1. It takes time of order T².

    >>> from theory.law.averaging import latest, over_rounds
    >>> from theory.law.quadratic import by_age
    >>> walk_lag(by_age([1, 1], K=1), 2, ratio(1, 2), over_rounds(latest, 2))[:, 0].tolist()
    [0, 1, Fraction(5, 4)]
    """
    T, exact, rows, memory = prepared(cohorts, rounds, a)
    share, kind = checked_shares(shares, T, exact), rows.dtype
    came, gone = (_by_round(at, memory.entered, memory.count, T) for at in (memory.entered, memory.left + 1))
    model, mean = (np.zeros((T + 1, rows.shape[1]), dtype=kind) for _ in range(2))  # W_l, l = 1..T
    mass = np.zeros(T + 1, dtype=kind)  # in memory, by the round of admission
    found = [mean.sum(axis=0)]
    for t, n in enumerate(memory.n, start=1):
        for admitted, count in came.get(t, ()):
            mass[admitted] += count
        for admitted, count in gone.get(t, ()):
            mass[admitted] -= count
        before = slice(1, t)  # changes that somebody has seen
        if n > 0:
            step, older = rows[t - 1], np.cumsum(mass[:t])[1:] * ratio(1, n)
            model[before] = step * model[before] + (1 - step) * older[:, np.newaxis]
        mean[before] += share[t] * (model[before] - mean[before])
        model[t] = mean[t] = 1
        found.append((mean[1 : t + 1] ** 2).sum(axis=0))
    return np.stack(found)


def _by_round(at: Any, entered: Any, count: Any, T: int) -> dict[int, list[tuple[int, Any]]]:
    """Rounds of admission and counts, by the round in which they come or go."""
    found: dict[int, list[tuple[int, Any]]] = {}
    for when, admitted, many in zip(at.tolist(), entered.tolist(), count.tolist(), strict=True):
        if when <= T:
            found.setdefault(when, []).append((admitted, many))
    return found


def drifting_risk(
    cohorts: Cohorts,
    rounds: Any,
    a: Any,
    shares: Sequence[Any],
    *,
    h: Any,
    variance: Any,
    first: Any,
    path: Any,
    walk: Any,
) -> DriftRisk:
    r"""The law at θ(1), …, θ(T+1), for eigenvalues `h`, variances \(s_h^2\) of samples and \(q_h\) of the `walk`.

    >>> from theory.law.averaging import latest, over_rounds
    >>> from theory.law.quadratic import by_age
    >>> problem = {"h": [2], "variance": [1], "first": [0], "path": [[0]] * 3, "walk": [3]}
    >>> found = drifting_risk(by_age([1, 1], K=1), 2, ratio(1, 2), over_rounds(latest, 2), **problem)
    >>> found.lag.tolist()
    [Fraction(0, 1), Fraction(3, 1), Fraction(15, 4)]
    >>> found.noise.tolist()
    [Fraction(0, 1), Fraction(1, 4), Fraction(5, 16)]
    """
    noise = averaged(cohorts, rounds, a, shares)
    exact = noise.left.dtype == object
    scale, spread, moves = (plain(list(one), exact) for one in (h, variance, walk))
    bias = path_bias(cohorts, rounds, a, shares, path=path, first=first)
    return DriftRisk(
        bias**2 @ halved(scale),
        walk_lag(cohorts, rounds, a, shares) @ halved(scale * moves),
        noise.squares @ halved(scale * spread),
    )
