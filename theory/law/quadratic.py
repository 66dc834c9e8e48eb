r"""The law of reuse: what a federation that keeps its samples for a while learns, exactly, for quadratic losses.

Let every loss be \(\ell(\theta;z)=\tfrac12(\theta-z)^\top H(\theta-z)\) with one Hessian H, samples i.i.d. with mean
\(\theta^\star\), admission and dropping blind to their values, clients weighted by \(n_m/n\), and E full-batch steps
of size η in a round. In an eigendirection of H with eigenvalue h, client m's E steps take θ to
\(a\theta+(1-a)\bar z_m\) with \(a=(1-\eta h)^E\), whatever its samples, so the server's average is one recursion in
the mean \(\bar z(t)\) of all samples in memory, however they are split:

\[\theta(t+1)=a\,\theta(t)+(1-a)\,\bar z(t).\]

A round without any sample leaves θ where it is. Unrolled, \(\theta(t)-\theta^\star\) is
\(a^{k}(\theta(1)-\theta^\star)\), k being the rounds before t that had samples, plus a sum over samples with weights

\[c_i(t)=(1-a)\sum_{\tau<t,\ i\in Q(\tau)}\frac{a^{t-1-\tau}}{n(\tau)},\qquad
\mathbb E[F_P(\theta(t))-F_P(\theta^\star)]=\tfrac12\sum_hh\Bigl(a_h^{2k}(\theta_h(1)-\theta^\star_h)^2
+s_h^2\sum_ic_{i,h}(t)^2\Bigr),\]

\(s_h^2\) being the variance of a sample in that direction: a transient, which knows of the policy k alone, and
noise. Samples that come and go in the same rounds have the same weight, so \(\sum_ic_i^2\) is a sum over cohorts, and
it obeys a recursion of its own: with \(S=\sum_ic_i^2\), \(M=\sum_{i\in Q}c_i\) before round t trains,

\[S(t+1)=a^2S(t)+2a(1-a)\frac{M(t)}{n(t)}+\frac{(1-a)^2}{n(t)},\qquad
M(t+1)=aM(t)+(1-a)-\sum_{i\ \mathrm{leaves}}c_i(t+1),\]

and \(c_i(t+1)=G(t)-a^{t+1-j}G(j-1)\) for a sample admitted in round j, where \(G(t)=aG(t-1)+(1-a)/n(t)\). So a whole
trajectory takes time linear in its length, for any rule by which samples leave.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.numbers.algebra import exp_above_tangent, ratio
from theory.setting import SettingError, horizon, not_negative, positive, retention

__all__ = ["Cohorts", "by_age", "by_capacity", "contraction", "excess_risk", "lag_sum", "linear_regret"]
__all__ += ["noise_floor", "squared_weights", "stationary_noise"]


def contraction(h: Any, eta: Any, E: Any) -> Any:
    r"""\(a=(1-\eta h)^E\), what E local steps leave of a distance along an eigendirection; exact.

    >>> contraction(Fraction(1, 2), Fraction(1, 2), 2)
    Fraction(9, 16)
    """
    return (1 - eta * h) ** E


def settling(h: Any, eta: Any, E: Any) -> None:
    """Refuses steps that overshoot: a must lie from 0 to below 1 in every direction."""
    if not all(0 <= contraction(value, eta, E) < 1 for value in h):
        raise SettingError(
            "eta must lie above 0 and not above 1 over the largest eigenvalue, or steps overshoot"
        )


# --- the memory, by round ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cohorts:
    """Samples that come and go together: `count` of them are in memory in the rounds entered..left.

    Arrays over cohorts; several clients are several stretches of the same arrays. `left` may lie beyond the last round.
    """

    entered: NDArray[np.int64]
    left: NDArray[np.int64]
    count: NDArray[Any]

    def __add__(self, other: Cohorts) -> Cohorts:
        """The cohorts of both, as of two clients."""
        names = ("entered", "left", "count")
        return Cohorts(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))

    def occupancy(self, rounds: int) -> NDArray[Any]:
        """n(t) for t = 1..T."""
        change = np.zeros(rounds + 2, dtype=self.count.dtype)
        np.add.at(change, np.minimum(self.entered, rounds + 1), self.count)
        np.subtract.at(change, np.minimum(self.left + 1, rounds + 1), self.count)
        return np.cumsum(change)[1 : rounds + 1]


def _admitted(admissions: Any) -> NDArray[Any]:
    counts = np.asarray(admissions)
    if counts.ndim != 1 or counts.dtype.kind not in "iufO":
        raise SettingError("admissions must be a list of numbers, one per round")
    not_negative("admissions", admissions)
    return counts


def by_age(admissions: Any, K: Any) -> Cohorts:
    """Cohorts that stay for K rounds.

    >>> by_age([2, 0, 3], K=2).occupancy(3)
    array([2, 2, 3])
    """
    counts = _admitted(admissions)
    entered = np.flatnonzero(counts > 0) + 1
    return Cohorts(entered, entered + retention(K) - 1, counts[entered - 1])


def by_capacity(admissions: Any, capacity: Any) -> Cohorts:
    """First in, first out: a memory of this size drops its oldest samples for new ones; more than fit are not kept.

    >>> by_capacity([2, 2, 3], capacity=3).occupancy(3)
    array([2, 3, 3])
    >>> by_capacity([5, 1], capacity=3).occupancy(2)
    array([3, 3])
    """
    counts = np.minimum(_admitted(admissions), positive("the capacity", capacity))
    T, ends = len(counts), np.cumsum(counts)
    starts = np.maximum(ends - capacity, 0)
    # pieces between all the places where a cohort or a memory begins or ends, in the order of arrival
    cuts = np.unique(np.concatenate([ends, starts]))
    cuts = cuts[cuts > 0]
    begins = np.concatenate([0 * ends[:1], cuts])[:-1]
    entered = np.searchsorted(ends, begins, side="right") + 1
    # the first round whose memory starts beyond this piece, less 1
    left = np.minimum(np.searchsorted(starts, begins, side="right"), T)
    return Cohorts(entered, np.maximum(left, entered), cuts - begins)


# --- the law -----------------------------------------------------------------------------------------------


def squared_weights(cohorts: Cohorts, a: Any, rounds: Any) -> NDArray[Any]:
    r"""\(\sum_ic_i(t)^2\) for t = 1..T+1: the variance of θ(t) in units of a sample's; exact unless `a` is a float.

    >>> squared_weights(by_age([1, 1], K=1), Fraction(1, 2), 2)[1:]
    array([Fraction(1, 4), Fraction(5, 16)], dtype=object)
    """
    T = horizon(rounds)
    n = cohorts.occupancy(T)
    trained = n > 0
    place = np.cumsum(trained)  # rounds without samples don't count: nothing moves in them
    inside = cohorts.entered <= T
    entered, left = (place[np.minimum(at[inside], T) - 1] for at in (cohorts.entered, cohorts.left))
    gone = cohorts.left[inside] < T
    leaving = (entered[gone], left[gone], cohorts.count[inside][gone])
    follow = _in_arrays if isinstance(a, float | np.floating) and n.dtype != object else _one_by_one
    moved = follow(n[trained], leaving, a)
    squares: NDArray[Any] = moved[np.concatenate([[0], place])]
    return squares


def _one_by_one(n: NDArray[Any], leaving: tuple[NDArray[Any], ...], a: Any) -> NDArray[Any]:
    """S(1), S(2), … by its recursion, in any number system."""
    goers: dict[int, list[tuple[int, Any]]] = {}
    for entered, left, count in zip(*(column.tolist() for column in leaving), strict=True):
        goers.setdefault(left, []).append((entered, count))
    S = M = 0 * a
    G, found = [0 * a], [S]
    for k, held in enumerate(n.tolist(), start=1):
        share = ratio(1, held)
        G.append(a * G[-1] + (1 - a) * share)
        S = a * a * S + 2 * a * (1 - a) * M * share + (1 - a) ** 2 * share
        leave = goers.get(k, ())
        M = a * M + (1 - a) - sum(count * (G[k] - a ** (k - j + 1) * G[j - 1]) for j, count in leave)
        found.append(S)
    return np.array(found, dtype=object)


def _in_arrays(n: NDArray[Any], leaving: tuple[NDArray[Any], ...], a: float) -> NDArray[np.float64]:
    """`squared_weights` on floats, a filter for each line of the recursion."""
    from scipy.signal import lfilter  # takes a second to load: only a command that needs the law waits for it

    entered, left, count = leaving
    share = 1 / n
    G = np.concatenate([[0], lfilter([1 - a], [1, -a], share)])
    weight = G[left] - a ** (left - entered + 1) * G[entered - 1]
    went = np.bincount(left, weights=count * weight, minlength=len(n) + 1)[1:]
    M = np.concatenate([[0], lfilter([1], [1, -a], (1 - a) - went)[:-1]])
    S = lfilter([1], [1, -a * a], share * (2 * a * (1 - a) * M + (1 - a) ** 2))
    found: NDArray[np.float64] = np.concatenate([[0], S])
    return found


@dataclass(frozen=True)
class ExcessRisk:
    """Expected excess risk at θ(1), …, θ(T+1): the remaining part of the start, and noise."""

    transient: NDArray[Any]
    noise: NDArray[Any]

    @property
    def total(self) -> NDArray[Any]:
        whole: NDArray[Any] = self.transient + self.noise
        return whole


def excess_risk(
    cohorts: Cohorts, rounds: Any, *, h: Any, variance: Any, start: Any, eta: Any, E: Any = 1
) -> ExcessRisk:
    r"""The law for eigenvalues `h`, variances \(s_h^2\) and squared first distances `start`.

    >>> half = Fraction(1, 2)
    >>> excess_risk(by_age([1, 1], K=2), 2, h=[1], variance=[1], start=[4], eta=half).total
    array([Fraction(2, 1), Fraction(5, 8), Fraction(9, 32)], dtype=object)
    """
    T = horizon(rounds)
    steps = np.concatenate([[0], np.cumsum(cohorts.occupancy(T) > 0)])
    transient, noise = 0, 0
    for value, spread, distance in zip(h, variance, start, strict=True):
        a = contraction(value, eta, E)
        powers = (
            np.array([a ** (2 * int(k)) for k in steps], dtype=object)
            if _exact(a)
            else float(a) ** (2 * steps)
        )
        transient = transient + ratio(value, 2) * distance * powers
        noise = noise + ratio(value, 2) * spread * squared_weights(cohorts, a, T)
    return ExcessRisk(np.asarray(transient), np.asarray(noise))


def _exact(a: Any) -> bool:
    return not isinstance(a, float | np.floating)


# --- constant admission, in the long run -------------------------------------------------------------------


def lag_sum(a: Any, K: Any) -> Any:
    r"""\(\sum_{d=1}^{K-1}(K-d)a^d=a\,\frac{K(1-a)-1+a^K}{(1-a)^2}\), \(|a|<1\); exact, accurate on floats.

    With \(a=e^{-\lambda}\) it has \(\epsilon(K\lambda)-K\epsilon(\lambda)\) above, \(\epsilon(x)=e^{-x}-1+x\), which
    does not cancel as \(a\to1\).

    >>> lag_sum(Fraction(1, 2), 3) == 2 * Fraction(1, 2) + Fraction(1, 4)
    True
    """
    many = isinstance(a, np.ndarray) and a.dtype.kind == "f"
    near = 2 * a > 1 if many or not _exact(a) else False
    if many:
        numerator = np.where(near, _lags_near_one(np.where(near, a, 1), K), K * (1 - a) - 1 + a**K)
    else:
        numerator = _lags_near_one(a, K) if near else K * (1 - a) - 1 + a**K
    return ratio(a * numerator, (1 - a) ** 2)


def _lags_near_one(a: Any, K: Any) -> Any:
    rate = -np.log(a)
    return exp_above_tangent(-K * rate) - K * exp_above_tangent(-rate)


def stationary_noise(a: Any, K: Any) -> Any:
    r"""\(v(a,K)=\frac{1-a}{1+a}\cdot\frac{K+2\sum_{d<K}(K-d)a^d}{K^2}\) is the limit of \(\bar\Lambda\sum_ic_i^2\).

    A sample's weight in \(\bar z(t)\) is a box of K rounds, and θ averages the means with weights \((1-a)a^d\): v is
    the sum over all lags. \(v\to\frac{1-a}2\) as \(a\to1\), whatever K, and \(v\to\frac1K\) as \(a\to0\).

    >>> stationary_noise(Fraction(0), 5), stationary_noise(Fraction(1, 2), 1)
    (Fraction(1, 5), Fraction(1, 3))
    """
    return ratio((1 - a) * (K + 2 * lag_sum(a, K)), (1 + a) * K * K)


def noise_floor(rate: Any, K: Any, *, h: Any, variance: Any, eta: Any, E: Any = 1) -> Any:
    r"""\(\tfrac12\sum_hh\,s_h^2\,v(a_h,K)/\bar\Lambda\): the expected excess risk that constant admission ends with.

    >>> noise_floor(2, 1, h=[1], variance=[3], eta=Fraction(1, 2))
    Fraction(1, 4)
    """
    each = [
        value * spread * stationary_noise(contraction(value, eta, E), K)
        for value, spread in zip(h, variance, strict=True)
    ]
    return ratio(sum(each), 2 * rate)


def linear_regret(rate: Any, K: Any, *, h: Any, variance: Any, eta: Any, E: Any = 1) -> Any:
    r"""\(\tfrac12\sum_hhs_h^2\,\frac{K\,v(a_h,K)-v(a_h,1)}{K\bar\Lambda}\): by how much a round of constant admission
    is worse, in the long run, than one of the costless oracle, which replaces all \(K\bar\Lambda\) samples; 0 at K = 1.

    The excess risks themselves are compared, not bounds on them (`eq:dpp-regret` has these).

    >>> linear_regret(1, 2, h=[1], variance=[1], eta=Fraction(1, 2))
    Fraction(1, 24)
    """
    problem: Any = {"h": h, "variance": variance, "eta": eta, "E": E}
    return noise_floor(rate, K, **problem) - noise_floor(K * rate, 1, **problem)
