r"""A moving optimum under constant admission, in the long run: closed forms, and the best K, step and window.

`theory.drift.moving_optimum` has the law itself, for any admissions, steps, means and paths. With \(\bar\Lambda\)
samples per round, each kept for K rounds, the weight of samples that are j rounds old settles at the chance that
\(X=j\), X being the sum of a geometric number, \(P(X_a\ge m)=a^m\), and an even one among 0..K-1; a mean of models
adds another. So the risk is \(\tfrac12\sum_hh\bigl(s^2v/\bar\Lambda+qY+g^2L^2\bigr)\) for a walk of variance q and a
slope of g per round, with

\[v=P(X=X'),\qquad Y=\sum_{m\ge0}P(X\ge m)^2=1+\mathbb E\min(X,X'),\qquad L=1+\mathbb EX.\]

Adding a geometric number to any X adds \(\frac a{1-a}-\frac a{(1-a)^2}v\) to Y, v being the noise afterwards: lag and
noise are dual. Noise ν is \(s^2/\bar\Lambda\) throughout, the variance of a round's mean.
"""

import math
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from theory.design.offline import best_rate, fill_ratio
from theory.law.quadratic import contraction, settling, stationary_noise
from theory.numbers.algebra import minimum, ratio, sqrt
from theory.setting import Budget, SettingError, is_zero, not_negative, positive, retention, same_length

__all__ = ["best_drifting_retention", "best_drifting_step", "best_drifting_window", "burst_tracking_risk"]
__all__ += ["cycle_left", "drift_floor", "freshness_drift", "freshness_drift_random", "indifferent_drift"]
__all__ += ["jump_left", "least_drifting_risk", "mean_younger", "slope_lag", "smoothed_lag", "smoothed_noise"]
__all__ += ["stationary_lag", "tracking_risk", "tracking_step"]

Floor = Callable[[int], Any]


# --- the last iterate --------------------------------------------------------------------------------------


def mean_younger(K: Any) -> Any:
    r"""\(\frac{(K-1)(2K-1)}{6K}\), the mean of min(i, j) over all pairs of 0..K-1; exact.

    >>> mean_younger(1), mean_younger(3)
    (Fraction(0, 1), Fraction(5, 9))
    """
    return ratio((K - 1) * (2 * K - 1), 6 * K)


def stationary_lag(a: Any, K: Any) -> Any:
    r"""\(Y(a,K)=\frac{(K-1)(2K-1)}{6K}+\frac1{1-a}-\frac{a\,v(a,K)}{(1-a)^2}\): the limit of \(\sum_lW_l^2\); exact.

    At K = 1 it is \(1/(1-a^2)\). It rises in K, by \(\frac{(K-1)(2K-1)}{6K}\) from K = 1 on where a = 0, by
    \(\frac{K-1}2\) as \(a\to1\), and by something between for every other a.

    >>> stationary_lag(ratio(1, 2), 1), stationary_lag(ratio(0, 1), 3)
    (Fraction(4, 3), Fraction(14, 9))
    """
    by_steps = ratio(1, 1 - a) - ratio(a * stationary_noise(a, K), (1 - a) ** 2)
    # not `mean_younger` plus that: a tensor takes no `Fraction`
    return ratio((K - 1) * (2 * K - 1) + 6 * K * by_steps, 6 * K)


def slope_lag(a: Any, K: Any) -> Any:
    r"""\(L(a,K)=\frac1{1-a}+\frac{K-1}2\): how many rounds the model is behind a steady slope; exact, at every step.

    >>> slope_lag(ratio(1, 2), 3)
    Fraction(3, 1)
    """
    return ratio(2 + (K - 1) * (1 - a), 2 * (1 - a))


def jump_left(a: Any, K: Any, rounds: Any) -> Any:
    r"""\(P(X\ge m)=\frac{a^{m-k}}K\Bigl(K-1-k+\frac{1-a^{k+1}}{1-a}\Bigr)\), \(k=\min(m,K-1)\): the part of a jump that
    remains.

    After m rounds on samples of the new world, at K = 1 just \(a^m\); exact.

    >>> [jump_left(ratio(1, 2), 2, m) for m in (0, 1, 2)]
    [Fraction(1, 1), Fraction(3, 4), Fraction(3, 8)]
    """
    k = minimum(rounds, K - 1)
    return a ** (rounds - k) * ratio(K - 1 - k + ratio(1 - a ** (k + 1), 1 - a), K)


def cycle_left(a: Any, K: int, cosine: Any, sine: Any) -> Any:
    r"""\(\Bigl|1-\frac{1-a}{1-az}\cdot\frac1K\sum_{i=1}^Kz^i\Bigr|^2\), \(z=e^{-i\omega}\): the error's square over the
    cycle's, of frequency ω with this cosine and sine; exact.

    At K = 1 it is \(\frac{2(1-\cos\omega)}{1-2a\cos\omega+a^2}\); above 1 the model had better stood still.

    >>> cycle_left(ratio(1, 2), 1, -1, 0), cycle_left(ratio(1, 2), 2, -1, 0)
    (Fraction(16, 9), Fraction(1, 1))
    """
    x, y = cosine, -sine
    across, along = x, y
    for _ in range(K - 1):
        x, y = x * cosine + y * sine, y * cosine - x * sine
        across, along = across + x, along + y
    share = ratio(1 - a, K)
    stays, turns = 1 - a * cosine, a * sine
    return ratio((stays - share * across) ** 2 + (turns - share * along) ** 2, stays**2 + turns**2)


def drift_floor(
    rate: Any, K: Any, *, h: Any, variance: Any, walk: Any, slope: Any = None, eta: Any, E: Any = 1
) -> Any:
    r"""\(\tfrac12\sum_hh\bigl(s_h^2v/\bar\Lambda+q_hY+g_h^2L^2\bigr)\): expected excess risk in the long run; exact.

    >>> drift_floor(2, 1, h=[1], variance=[3], walk=[1], eta=ratio(1, 2))
    Fraction(11, 12)
    """

    def along(value: Any, spread: Any, moves: Any, steady: Any) -> Any:
        a = contraction(value, eta, E)
        noise = ratio(spread * stationary_noise(a, K), rate)
        behind = steady * slope_lag(a, K)
        return value * (noise + moves * stationary_lag(a, K) + behind * behind)

    slopes = [0 * value for value in h] if slope is None else slope
    return ratio(over_directions(along, h, variance, walk, slopes), 2)


def over_directions(along: Callable[..., Any], h: Any, *columns: Any) -> Any:
    """The sum over directions; of NumPy's arrays all at once, which takes a hundredth of the time."""
    if isinstance(h, np.ndarray):
        return along(h, *map(np.asarray, columns)).sum(axis=0)
    total: Any = 0
    for each in zip(h, *columns, strict=True):
        total = total + along(*each)
    return total


# --- a mean of models --------------------------------------------------------------------------------------


def smoothed_noise(a: Any, keep: Any, K: int) -> Any:
    r"""\(\bar\Lambda\sum_ib_i^2\) of a mean of models whose weights fall by β = `keep` per round, in the long run;
    exact.

    \(\frac1{K^2}\sum_{|d|<K}(K-|d|)r(|d|)\) with \(r(0)=\frac{(1-a)(1-\beta)(1+a\beta)}{(1+a)(1+\beta)(1-a\beta)}\),
    \(r(1)=\frac{a+\beta}{1+a\beta}r(0)\), \(r(d)=(a+\beta)r(d-1)-a\beta\,r(d-2)\).

    >>> smoothed_noise(ratio(1, 2), ratio(1, 2), 1), smoothed_noise(ratio(1, 2), ratio(0, 1), 2)
    (Fraction(5, 27), Fraction(1, 4))
    """
    both = a * keep
    now = ratio((1 - a) * (1 - keep) * (1 + both), (1 + a) * (1 + keep) * (1 - both))
    before, total = now * ratio(a + keep, 1 + both), K * now
    for d in range(1, K):
        now, before = before, (a + keep) * before - both * now
        total = total + 2 * (K - d) * now
    return ratio(total, K * K)


def smoothed_lag(a: Any, keep: Any, K: int) -> Any:
    r"""\(Y(\beta,K)+\frac a{1-a}-\frac a{(1-a)^2}\,v\), v the noise of the same mean: the limit of its \(\sum_lW_l^2\).

    Exact; it does not matter which of a and β is the step's and which the mean's.

    >>> smoothed_lag(ratio(1, 2), ratio(0, 1), 2) == stationary_lag(ratio(1, 2), 2)
    True
    """
    added = ratio(a, 1 - a) - ratio(a * smoothed_noise(a, keep, K), (1 - a) ** 2)
    return stationary_lag(keep, K) + added


# --- best choices ------------------------------------------------------------------------------------------


def tracking_step(noise: Any, drift: Any) -> Any:
    r"""\(\alpha=\frac{2q}{q+\sqrt{q^2+4q\nu}}\), with \(\nu\alpha^2=q(1-\alpha)\): the best 1 - a at K = 1; exact.

    >>> tracking_step(6, 3)
    Fraction(1, 2)
    """
    if is_zero(drift):
        raise SettingError("without drift no step is best, the smaller the better: the drift must be above 0")
    return ratio(drift, tracking_risk(noise, drift))


def tracking_risk(noise: Any, drift: Any) -> Any:
    r"""\(\frac{q+\sqrt{q^2+4q\nu}}2\): the least mean square error of all weights; about \(\sqrt{q\nu}\).

    Exact for K = 1 and that step. No policy that buys \(\bar\Lambda\) samples per round in the mean and no learner has
    less in the long run, if samples and walk are Gaussian; else no weights have (Kalman 1960 has the filter).

    >>> tracking_risk(6, 3)
    Fraction(6, 1)
    """
    return ratio(drift + sqrt(drift * drift + 4 * drift * noise), 2)


def least_drifting_risk(rate: Any, *, h: Any, variance: Any, walk: Any) -> Any:
    r"""\(\tfrac12\sum_hh\,\frac{q_h+\sqrt{q_h^2+4q_hs_h^2/\bar\Lambda}}2\): a lower bound at this rate.

    >>> least_drifting_risk(1, h=[2], variance=[6], walk=[3])
    Fraction(6, 1)
    """
    each = [
        value * tracking_risk(ratio(spread, rate), moves)
        for value, spread, moves in zip(h, variance, walk, strict=True)
    ]
    return ratio(sum(each), 2)


def indifferent_drift(a: Any, K: Any, rate: Any, other: Any, other_rate: Any) -> Any:
    r"""\(\frac{q^\circ}{s^2}=\frac{v(a,k)/\Lambda_k-v(a,K)/\Lambda_K}{Y(a,K)-Y(a,k)}\): beyond it k < K wins; exact.

    Below 0 where k is better at every drift. For equal rates of 1, K = 2 and k = 1 it is
    \(\frac{2(1-a)^2}{1+3a}\), and beyond that K = 1 is the best of all K.

    >>> indifferent_drift(ratio(1, 2), 2, 1, 1, 1)
    Fraction(1, 5)
    """
    quieter = ratio(stationary_noise(a, other), other_rate) - ratio(stationary_noise(a, K), rate)
    later = stationary_lag(a, K) - stationary_lag(a, other)
    if is_zero(later):
        raise SettingError(f"two retentions must differ to be compared, such as 2 and 1, got {K} twice")
    return ratio(quieter, later)


def burst_tracking_risk(noise: Any, drift: Any, period: Any) -> Any:
    r"""\(\frac{q+\sqrt{m^2q^2+4q\nu}}2\): the least mean square error, averaged over rounds, if all samples of m rounds
    come in one; exact for the best weights.

    >>> burst_tracking_risk(2, 1, 1), burst_tracking_risk(4, 1, 3)
    (Fraction(2, 1), Fraction(3, 1))
    """
    return ratio(drift + sqrt(period * period * drift * drift + 4 * drift * noise), 2)


def freshness_drift(noise: Any, cheap: Any, period: Any) -> Any:
    r"""\(q^\circ=\frac{4(\nu-\nu')}{m^2-1}\): beyond it samples that come in every round, with noise ν, are better than
    more samples, with noise ν' < ν, that come every m-th round; exact for the best weights of either.

    >>> freshness_drift(3, 1, 3)
    Fraction(1, 1)
    """
    longer = period * period - 1
    if is_zero(longer):
        raise SettingError(f"bursts must be at least 2 rounds apart, got a period of {period}")
    return ratio(4 * (noise - cheap), longer)


def freshness_drift_random(noise: Any, cheap: Any, often: Any) -> Any:
    r"""\(q^\circ=\frac{\Delta^2}{u(\Delta+u\nu)}\), \(\Delta=\nu-\nu'\), \(u=\frac1p-1\): the same for purchases with
    probability p in a round; exact for the best steps of one size, trained once, with `tracking_risk`(pν', q/p).

    >>> freshness_drift_random(3, 1, ratio(1, 2))
    Fraction(4, 5)
    """
    if is_zero(often) or is_zero(1 - often):
        raise SettingError(f"bursts must come with a probability strictly between 0 and 1, got {often}")
    if is_zero(noise):
        raise SettingError(
            "without noise there is nothing to wait for: the noise of fresh samples must be above 0"
        )
    gain, wait = noise - cheap, ratio(1, often) - 1
    return ratio(gain * gain, wait * (gain + wait * noise))


def best_drifting_retention(budget: Budget, **problem: Any) -> tuple[int, Any]:
    r"""The K and the rate with the least `drift_floor` within the budgets, at a given step.

    At most \(\lceil x\rceil\), as without drift: beyond it the rate falls, Kv does not, and lags rise. If the step may
    be chosen too, K = 1 is best, at `best_drifting_step`. It takes \(0\le a<1\) in every direction.

    >>> budget = Budget(buffers=(20,), cost=10, mean_cost=1)
    >>> problem = {"h": [1], "variance": [1], "eta": ratio(1, 2)}
    >>> [best_drifting_retention(budget, walk=[ratio(q, 1000)], **problem)[0] for q in (0, 19, 21)]
    [2, 2, 1]
    """
    _sensible(**problem)
    settling(problem["h"], problem["eta"], problem.get("E", 1))
    most = math.ceil(fill_ratio(budget))
    K = _least(
        lambda kept: drift_floor(best_rate(kept, budget), kept, **problem), range(1, most + 1), problem
    )
    return K, best_rate(K, budget)


def best_drifting_window(rate: Any, **problem: Any) -> int:
    """The best number of last models to average, in equal parts, at a given step and with samples used once.

    A mean of the last M models of samples used once weighs them as the last iterate does that keeps them for M rounds.

    >>> best_drifting_window(1, h=[1], variance=[1], walk=[ratio(1, 100)], eta=ratio(1, 2))
    16
    """
    _sensible(rate=rate, **problem)
    settling(problem["h"], problem["eta"], problem.get("E", 1))
    slope = problem.get("slope")
    if all(moves == 0 for moves in (*problem["walk"], *(() if slope is None else slope))):
        raise SettingError(
            "without drift no window is best, the longer the better: walk or slope must be above 0"
        )
    return _least(lambda M: drift_floor(rate, M, **problem), count(1), problem)


def _sensible(*, h: Any, variance: Any, walk: Any, slope: Any = None, rate: Any = 1, **_: Any) -> None:
    """Refuses what a search cannot work on: other than a number for each direction, and signs that mean nothing."""
    same_length(h=h, variance=variance, walk=walk, **({} if slope is None else {"slope": slope}))
    for value in h:
        positive("an eigenvalue", value)
    not_negative("variances", variance)
    not_negative("variances of the walk", walk)
    positive("the admission rate", rate)


def _least(floor: Floor, numbers: Any, problem: dict[str, Any]) -> int:
    """The number with the least floor. Lags rise: none is better from where they alone are more than the best."""
    silent = {**problem, "variance": [0 * one for one in problem["variance"]]}
    best, least = 0, None
    for number in numbers:
        if least is not None and drift_floor(1, number, **silent) >= least:
            break
        found = floor(number)
        if least is None or found < least:
            best, least = number, found
    return best


def best_drifting_step(
    rate: Any, *, h: Any, variance: Any, walk: Any, slope: Any = None, E: int = 1, K: int = 1
) -> float:
    r"""The step size η with the least `drift_floor`, in floats, up to \(1/\max h\).

    The best of a fine grid, then of its neighbourhood. One direction, K = 1, E = 1 and a walk has it in closed form:
    `tracking_step` over h.

    >>> round(best_drifting_step(1, h=[2], variance=[6], walk=[3]), 6)
    0.25
    """
    _sensible(h=h, variance=variance, walk=walk, slope=slope, rate=rate)
    positive("E", E)
    columns: dict[str, Any] = {
        name: None if listed is None else np.array([[float(one)] for one in listed])
        for name, listed in {"h": h, "variance": variance, "walk": walk, "slope": slope}.items()
    }

    def floors(log_eta: Any) -> Any:  # of many steps at once
        return drift_floor(float(rate), retention(K), **columns, eta=np.exp(log_eta), E=E)

    most = -math.log(columns["h"].max())
    grid = np.linspace(most - GRID_SPAN, most, GRID_POINTS)
    at = int(np.argmin(floors(grid)))
    if at == 0:
        raise SettingError(
            "the best step is too small to be found: walk or slope must be larger against the noise"
        )
    low, high = float(grid[at - 1]), float(grid[min(at + 1, GRID_POINTS - 1)])
    for _ in range(BRACKET_HALVINGS):
        left, right = (2 * low + high) / 3, (low + 2 * high) / 3
        at_left, at_right = floors(np.array([left, right]))
        low, high = (low, right) if at_left <= at_right else (left, high)
    return math.exp((low + high) / 2)


GRID_POINTS, GRID_SPAN, BRACKET_HALVINGS = 400, 30, 60
