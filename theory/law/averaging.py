r"""The law of averaged models: what a running mean of a federation's own models knows, exactly, for quadratic losses.

As in `theory.law.quadratic` a round takes θ to \(a_t\theta+(1-a_t)\bar z(t)\) along an eigendirection, but the step
may differ from round to round, and a round without samples takes no step. The server reports
\(\bar\theta=\sum_tp_t\theta(t)\) with \(\sum p_t=1\), which costs no sample, no message and no work of a client. Its
expected excess risk is

\[\tfrac12\sum_hh\Bigl(\bigl(\sum_tp_t\prod_{s<t}a_s\bigr)^2(\theta_h(1)-\theta^\star_h)^2+s_h^2\sum_ib_i^2\Bigr),\qquad
b_i=\sum_tp_tc_i(t).\]

Two views of the same weights. *At one end*, backwards: \(u(\tau)=p_\tau+a_\tau u(\tau+1)\) is what a unit of θ(τ) is
worth in the mean, \(b_i=\sum_{\tau:\,i\in Q(\tau)}(1-a_\tau)u(\tau+1)/n(\tau)\), and u(1) is left of the start.
*After every round*, forwards: with \(\bar\theta\leftarrow(1-w)\bar\theta+w\theta\) a sample carries its weights (c,
b) in θ and in the mean; the sums of \(c^2,cb,b^2\) over all samples obey a linear recursion, in which the memory
enters by \(\sum_{i\in Q}c_i\) and \(\sum_{i\in Q}b_i\) alone.

**What is averaged.** θ(1) is the first model of a mean, and each round that trains makes another one. A round without
samples leaves a copy of the last. By default the mean is over models: copies do not count. Over rounds of time they
count, and a model weighs as much as the wait for the next. This matters: bursts that are used once reach the
rate that money buys over models, and over rounds only as steps get small (`wait_factor`).

**Why it works.** With steps of one size \(\alpha=1-a\) and equal weights, exactly,

\[\frac1T\sum_{t\le T}\theta(t)=\frac1T\sum_{t\le T}\bar z(t)+\frac{\theta(1)-\theta(T+1)}{\alpha T}:\]

the mean of the memories' means, in which a sample weighs \(\omega_i=\frac1T\sum_{t:\,i\in Q(t)}1/n(t)\), and a rest
of order 1/T. Where n is constant, \(\sum\omega_i^2=1/N_{\mathrm{eff}}\).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.law.quadratic import Cohorts, ExcessRisk, contraction
from theory.numbers.algebra import ratio
from theory.setting import SettingError, horizon

__all__ = ["Averaged", "averaged", "averaged_risk", "best_weights", "by_shares", "contractions", "equal"]
__all__ += ["exponential", "final_weights", "latest", "over_models", "over_rounds", "polynomial"]
__all__ += ["risk_matrix", "round_shares", "tail", "weights_giving"]

Share = Callable[[int], Any]


# --- what the newest of k models weighs in their mean ------------------------------------------------------


def latest(k: Any) -> Any:
    """1: no mean at all, the last iterate is the model.

    >>> latest(7)
    1
    """
    return 1


def equal(k: Any) -> Any:
    """1/k: all models weigh the same.

    >>> equal(4)
    Fraction(1, 4)
    """
    return ratio(1, k)


def polynomial(k: Any, gamma: Any) -> Any:
    r"""\((\gamma+1)/(k+\gamma)\): model j weighs about as \(j^\gamma\); γ = 0 is `equal`; exact.

    Polynomial-decay averaging (Shamir and Zhang 2013).

    >>> polynomial(1, 3), polynomial(5, 3)
    (Fraction(1, 1), Fraction(1, 2))
    """
    return ratio(gamma + 1, k + gamma)


def tail(k: int, first: int) -> Any:
    """1 up to model `first`, then an equal mean of the models from there on.

    >>> [tail(k, first=3) for k in (1, 3, 4)]
    [1, 1, Fraction(1, 2)]
    """
    return ratio(1, k - first + 1) if k > first else 1


def exponential(k: Any, keep: Any) -> Any:
    r"""\((1-\beta)/(1-\beta^k)\): model j weighs as \(\beta^{k-j}\), and weights add up to 1; exact.

    >>> exponential(1, ratio(1, 2)), exponential(2, ratio(1, 2))
    (Fraction(1, 1), Fraction(2, 3))
    """
    return ratio(1 - keep, 1 - keep**k)


def over_models(share: Share, trained: Sequence[Any]) -> list[Any]:
    """The newest model's share at θ(1), …, θ(T+1) if rounds that did not train count for nothing: 0 after them.

    >>> over_models(equal, [True, False, True])
    [Fraction(1, 1), Fraction(1, 2), 0, Fraction(1, 3)]
    """
    found, models = [share(1)], 1
    for step in trained:
        models += bool(step)
        found.append(share(models) if step else 0)
    return found


def over_rounds(share: Share, rounds: Any) -> list[Any]:
    """Shares of the models if every round counts, trained or not.

    >>> over_rounds(equal, 2)
    [Fraction(1, 1), Fraction(1, 2), Fraction(1, 3)]
    """
    return [share(k) for k in range(1, horizon(rounds) + 2)]


def final_weights(shares: Sequence[Any]) -> list[Any]:
    r"""\(p_t=w_t\prod_{s>t}(1-w_s)\): what each model weighs in the mean, in the end; exact.

    >>> final_weights([1, ratio(1, 2), ratio(1, 3)])
    [Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)]
    """
    found, left = [], 1
    for share in reversed(shares):
        found.append(share * left)
        left = left * (1 - share)
    return found[::-1]


# --- the law -----------------------------------------------------------------------------------------------


def contractions(h: Any, steps: Any, E: Any = 1) -> NDArray[Any]:
    r"""\(a_{t,h}=(1-\eta_th)^E\): a row for each step size, a column for each eigenvalue; exact.

    >>> contractions([1, 2], [ratio(1, 2), ratio(1, 4)]).tolist()
    [[Fraction(1, 2), Fraction(0, 1)], [Fraction(3, 4), Fraction(1, 2)]]
    """
    values, sizes = (np.asarray(one) for one in (h, steps))
    found: NDArray[Any] = contraction(values[np.newaxis, :], sizes[:, np.newaxis], E)
    return found


@dataclass(frozen=True)
class Averaged:
    r"""At θ(1), …, θ(T+1), a row each, a column for each direction: what is left of the start and \(\sum_ib_i^2\)
    of the mean, and the same of the last iterate.
    """

    left: NDArray[Any]
    squares: NDArray[Any]
    last_left: NDArray[Any]
    last_squares: NDArray[Any]


@dataclass(frozen=True)
class _Memory:
    """Cohorts that come and go together as one, in the order in which they come; and n(t)."""

    entered: NDArray[np.int64]
    left: NDArray[np.int64]
    count: NDArray[Any]
    n: list[Any]

    @classmethod
    def of(cls, cohorts: Cohorts, T: int, exact: bool) -> _Memory:
        there = (cohorts.entered <= T) & np.array([bool(x > 0) for x in cohorts.count.tolist()], dtype=bool)
        spans = np.stack([cohorts.entered[there], np.minimum(cohorts.left[there], T)])
        (entered, left), where = np.unique(spans, axis=1, return_inverse=True)
        count = np.zeros(len(entered), dtype=object if exact else float)
        np.add.at(count, where.reshape(-1), plain(cohorts.count[there], exact))
        n = Cohorts(entered, left, count).occupancy(T)
        # counted in whole numbers: differences of floats would leave rounding, not 0, of an empty memory
        held = Cohorts(entered, left, np.ones(len(entered), dtype=int)).occupancy(T) > 0
        return cls(entered, left, count, np.where(held, n, 0).tolist())


def plain(values: Any, exact: bool) -> NDArray[Any]:
    """Python's own numbers, which stay exact, or floats."""
    if not exact:
        return np.asarray(values, dtype=float)
    shaped = np.asarray(values)
    return np.array(shaped.tolist(), dtype=object).reshape(shaped.shape)


def prepared(cohorts: Cohorts, rounds: Any, a: Any) -> tuple[int, bool, NDArray[Any], _Memory]:
    """T, whether to calculate exactly, a row of contractions for each round, and the memory in each round."""
    T, given = horizon(rounds), np.asarray(a)
    exact = given.dtype.kind != "f" or cohorts.count.dtype == object
    width = given.shape[-1] if given.ndim else 1
    try:
        rows = np.broadcast_to(plain(given, exact), (T, width))
    except ValueError:
        raise SettingError(
            f"the contractions must be one number, one for each direction, or {T} rows of them"
        ) from None
    return T, exact, rows, _Memory.of(cohorts, T, exact)


def checked_shares(shares: Sequence[Any], T: int, exact: bool) -> NDArray[Any]:
    """Weight of the newest model in the mean, at θ(1), …, θ(T+1)."""
    if len(shares) != T + 1:
        raise SettingError(f"there must be a share for each of {T + 1} models, got {len(shares)}")
    return plain(list(shares), exact)


def averaged(cohorts: Cohorts, rounds: Any, a: Any, shares: Sequence[Any]) -> Averaged:
    """The law of a running mean after every round; exact unless `a` is of floats.

    `a` is a contraction, one for each direction, or rows of them, one for each round; `shares` are what the newest
    model weighs at θ(1), …, θ(T+1), as of `over_models` or `over_rounds`.

    >>> from theory.law.quadratic import by_age
    >>> found = averaged(by_age([1, 1], K=1), 2, ratio(1, 2), over_rounds(equal, 2))
    >>> found.left[:, 0].tolist()
    [Fraction(1, 1), Fraction(3, 4), Fraction(7, 12)]
    >>> found.squares[:, 0].tolist()
    [Fraction(0, 1), Fraction(1, 16), Fraction(13, 144)]
    """
    T, exact, rows, memory = prepared(cohorts, rounds, a)
    share, count = checked_shares(shares, T, exact), memory.count.copy()
    c, b = (np.zeros((len(count), rows.shape[1]), dtype=rows.dtype) for _ in range(2))
    cc = cb = bb = 0 * rows[0] * share[0]
    left = mean_left = cc + 1
    found = [(mean_left, bb, left, cc)]
    ends = np.searchsorted(memory.entered, np.arange(1, T + 1), side="right").tolist()
    firsts = np.searchsorted(np.maximum.accumulate(memory.left), np.arange(1, T + 1)).tolist()
    for t, (held, first, end) in enumerate(zip(memory.n, firsts, ends, strict=True), start=1):
        w, crossed = share[t], cb
        if held > 0:
            step, here = rows[t - 1], slice(first, end)
            gain = (1 - step) * ratio(1, held)
            cc = step * step * cc + 2 * step * gain * (count[here] @ c[here]) + (1 - step) * gain
            crossed = step * cb + gain * (count[here] @ b[here])
            left = step * left
            c[here] *= step
            c[here] += gain
            b[here] += w * (c[here] - b[here])
            count[here] *= memory.left[here] > t  # a sample that leaves is never read again
        mean_left = mean_left + w * (left - mean_left)
        bb = (1 - w) ** 2 * bb + 2 * w * (1 - w) * crossed + w * w * cc
        cb = (1 - w) * crossed + w * cc
        found.append((mean_left, bb, left, cc))
    return Averaged(*(np.stack(column) for column in zip(*found, strict=True)))


def round_shares(cohorts: Cohorts, rounds: Any, a: Any, weights: Sequence[Any]) -> tuple[Any, Any]:
    r"""u(1) and \(g(t)=(1-a_t)u(t+1)\): what the start and each \(\bar z(t)\) weigh in \(\sum p_t\theta(t)\).

    They add up to \(\sum p_t\), direction by direction; an idle round has 0. Exact unless `a` is of floats.

    >>> from theory.law.quadratic import by_age
    >>> start, rows = round_shares(by_age([1, 1], K=1), 2, ratio(1, 2), [0, 0, 1])
    >>> start[0], rows[:, 0].tolist()
    (Fraction(1, 4), [Fraction(1, 4), Fraction(1, 2)])
    """
    T, exact, rows, memory = prepared(cohorts, rounds, a)
    start, shares, _ = _backwards(T, exact, rows, memory, weights)
    return start, shares


def _backwards(T: int, exact: bool, rows: NDArray[Any], memory: _Memory, weights: Sequence[Any]) -> Any:
    """u(1), g(t), and g(t)/n(t)."""
    if len(weights) != T + 1:
        raise SettingError(f"there must be a weight for each of {T + 1} models, got {len(weights)}")
    p = plain(list(weights), exact)
    worth = np.full(rows.shape[1], p[T], dtype=rows.dtype)
    shares = np.zeros(rows.shape, dtype=rows.dtype)
    each = np.zeros(rows.shape, dtype=rows.dtype)
    for t in range(T, 0, -1):
        held = memory.n[t - 1]
        if held > 0:
            shares[t - 1] = (1 - rows[t - 1]) * worth
            each[t - 1] = shares[t - 1] * ratio(1, held)
            worth = rows[t - 1] * worth
        worth = worth + p[t - 1]
    return worth, shares, each


def weights_giving(shares: Sequence[Any], a: Any) -> list[Any]:
    r"""The weights p of θ(1), …, θ(T+1) by which each \(\bar z(t)\) has a given share g(t) of the mean; exact.

    \(p_t=\frac{g(t-1)-a\,g(t)}{1-a}\), with what the shares leave of 1 at the start. It is the inverse of
    `round_shares` for one direction and steps of one size in every round. They may be negative; if the shares add up
    to 1, nothing is left of the start.

    >>> weights_giving([ratio(1, 2), ratio(1, 2)], ratio(1, 2))
    [Fraction(-1, 2), Fraction(1, 2), Fraction(1, 1)]
    """
    around = [0, *shares, 0]
    each = [ratio(before - a * after, 1 - a) for before, after in pairwise(around)]
    return [each[0] + (1 - sum(shares)), *each[1:]]


def by_shares(cohorts: Cohorts, rounds: Any, a: Any, weights: Sequence[Any]) -> tuple[Any, Any]:
    r"""The remaining part of the start and \(\sum_ib_i^2\) of \(\sum p_t\theta(t)\), t = 1..T+1, for any p; exact.

    A sample's weight is a difference of two sums over rounds, so this takes time linear in T and in the cohorts.

    >>> from theory.law.quadratic import by_age
    >>> third = ratio(1, 3)
    >>> left, squares = by_shares(by_age([1, 1], K=1), 2, ratio(1, 2), [third, third, third])
    >>> left[0], squares[0]
    (Fraction(7, 12), Fraction(13, 144))
    """
    T, exact, rows, memory = prepared(cohorts, rounds, a)
    start, _, each = _backwards(T, exact, rows, memory, weights)
    sums = np.concatenate([0 * each[:1], np.cumsum(each, axis=0)])
    b = sums[memory.left] - sums[memory.entered - 1]
    return start, memory.count @ (b * b)


def averaged_risk(
    cohorts: Cohorts, rounds: Any, a: Any, shares: Sequence[Any], *, h: Any, variance: Any, start: Any
) -> ExcessRisk:
    r"""Expected excess risk of the mean after every round: `h`, \(s_h^2\) and squared first distances.

    >>> from theory.law.quadratic import by_age
    >>> steps = contractions([1], [ratio(1, 2)] * 2)
    >>> mean = averaged_risk(by_age([1, 1], 2), 2, steps, over_rounds(latest, 2), h=[1], variance=[1], start=[4])
    >>> mean.total.tolist()
    [Fraction(2, 1), Fraction(5, 8), Fraction(9, 32)]
    """
    found = averaged(cohorts, rounds, a, shares)
    exact = found.left.dtype == object
    scale, spread, distance = (plain(list(one), exact) for one in (h, variance, start))
    return ExcessRisk((found.left**2) @ halved(scale * distance), found.squares @ halved(scale * spread))


def halved(values: NDArray[Any]) -> NDArray[Any]:
    """Exact if they are."""
    return np.array([ratio(one, 2) for one in values.tolist()], dtype=values.dtype)


# --- the best weights for a horizon ------------------------------------------------------------------------


def risk_matrix(cohorts: Cohorts, rounds: Any, a: Any, *, h: Any, variance: Any, start: Any) -> NDArray[Any]:
    r"""A with \(p^\top Ap\) the expected excess risk of \(\sum p_t\theta(t)\), for all weights that add up to 1; exact.

    \(A_{ts}=\tfrac12\sum_hh\bigl(r_tr_s(\theta_h(1)-\theta_h^\star)^2+s_h^2\sum_ic_i(t)c_i(s)\bigr)\),
    \(r_t=\prod_{s<t}a_s\). It takes time and space of order T² and more: for horizons of hundreds.

    >>> from theory.law.quadratic import by_age
    >>> risk_matrix(by_age([1], K=1), 1, ratio(1, 2), h=[2], variance=[1], start=[4]).tolist()
    [[Fraction(4, 1), Fraction(2, 1)], [Fraction(2, 1), Fraction(5, 4)]]
    """
    T, exact, rows, memory = prepared(cohorts, rounds, a)
    scale, spread, distance = (plain(list(one), exact) for one in (h, variance, start))
    c = np.zeros((len(memory.count), rows.shape[1]), dtype=rows.dtype)
    left = np.ones(rows.shape[1], dtype=rows.dtype)
    lefts, weights = [left], [c]
    for t in range(1, T + 1):
        inside = (memory.entered <= t) & (t <= memory.left)
        if inside.any():
            step = rows[t - 1]
            gain = (1 - step) * ratio(1, memory.n[t - 1])
            c, left = step * c + inside[:, np.newaxis] * gain, step * left
        lefts.append(left)
        weights.append(c)
    r, all_c = np.stack(lefts), np.stack(weights)
    found = (r * halved(scale * distance)) @ r.T
    for one, half in enumerate(halved(scale * spread)):
        mine = all_c[:, :, one]
        found = found + half * ((mine * memory.count) @ mine.T)
    return np.asarray(found)


def best_weights(matrix: Any) -> list[Any]:
    r"""The weights p with \(\sum p=1\) that minimise \(p^\top Ap\): all \((Ap)_t\) are equal, to the least risk; exact.

    They may be negative. If A is singular, as where a round leaves a copy, one of the solutions.

    >>> best_weights([[4, 0], [0, 1]])
    [Fraction(1, 5), Fraction(4, 5)]
    """
    A = np.asarray(matrix)
    if A.dtype.kind == "f":
        solved = np.linalg.lstsq(A, np.ones(len(A)), rcond=None)[0]
        found: list[Any] = (solved / solved.sum()).tolist()
        return found
    solution = _solved([[*row, 1] for row in A.tolist()])
    total = sum(solution)
    return [ratio(x, total) for x in solution]


def _solved(rows: list[list[Any]]) -> list[Any]:
    """x with Ax = y, by elimination; free unknowns are 0."""
    size = len(rows)
    pivots: list[int] = []
    for column in range(size):
        row = len(pivots)
        at = next((k for k in range(row, size) if rows[k][column] != 0), None)
        if at is None:
            continue
        rows[row], rows[at] = rows[at], rows[row]
        rows[row] = [ratio(x, rows[row][column]) for x in rows[row]]
        for k in range(size):
            if k != row and rows[k][column] != 0:
                rows[k] = [x - rows[k][column] * y for x, y in zip(rows[k], rows[row], strict=True)]
        pivots.append(column)
    found: list[Any] = [0] * size
    for row, column in enumerate(pivots):
        found[column] = rows[row][size]
    return found
