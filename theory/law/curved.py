r"""Samples with curvatures of their own: what reuse and local steps change in the law of reuse, to first order in 1/n.

Let a sample's gradient be \(g_i+h_i(\theta-\theta^\star)\) with \((h_i,g_i)\) i.i.d., \(\mathbb E g=0\), \(\mathbb E
h=h\), along one direction. E steps of a client whose memory has the means \(\bar h,\bar g\) take a distance δ to
\(a(\bar h)\delta-b(\bar h)\bar g\), with \(a(h)=(1-\eta h)^E\) and \(b(h)=(1-a(h))/h\). Two things follow that one
Hessian for all samples excludes. A mean of few curvatures scatters and a is convex, so that a client contracts less
than \(a(h)\) (`local_contraction`). And a sample that was in memory before has moved θ its own way, by

\[-\sum_{s<t,\ i\in Q(s)}\frac{a^{t-1-s}}{n(s)}\bigl(b\,g_i-a'\,(h_i-h)\,\delta(s)\bigr),\qquad a'=-\eta E(1-\eta
h)^{E-1},\]

so that its curvature meets a θ that is no longer independent of it. Both are of order 1/n, and with all \(h_i\) equal
both are 0: the law is exact there. Of the mean path and of the mean square the first orders are here for any
admissions, and for a start at the minimiser the second order of the mean square, which is the first of its relative
error.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.law.quadratic import Cohorts, contraction, lag_sum, squared_weights
from theory.numbers.algebra import ratio, sqrt
from theory.setting import SettingError, horizon

__all__ = ["Moments", "Tails", "cubic_shift", "first_order", "local_contraction", "local_pull", "local_shift"]
__all__ += ["mean_contraction", "noise_correction", "own_weight", "path_rest", "regression_floor"]
__all__ += ["regression_floor_first_order", "regression_floor_resummed", "solved_bias", "square_rest"]
__all__ += ["stationary_bias"]


@dataclass(frozen=True)
class Moments:
    r"""Moments of a sample's curvature h and its gradient g at the minimiser, \(\mathbb E g=0\).

    `h` is the mean curvature, `spread` its variance, `noise` is \(\mathbb E g^2\), `tilt` is \(\mathbb E[hg]\) and
    `skew` is \(\mathbb E[(h_i-h)g_i^2]\).
    """

    h: Any
    spread: Any
    noise: Any
    tilt: Any = 0
    skew: Any = 0


@dataclass(frozen=True)
class Tails:
    r"""Higher moments, for bounds: with \(x=h_i-h\), \(\mathbb Ex^3,\mathbb Ex^4,\mathbb E[x^2g],\mathbb Eg^4\)."""

    third: Any
    fourth: Any
    cross: Any
    gradient: Any


# --- a round's local steps ---------------------------------------------------------------------------------


def local_pull(h: Any, eta: Any, E: Any) -> Any:
    r"""\(-a'=\eta E(1-\eta h)^{E-1}\): by how much a client contracts more for a unit more of curvature; exact.

    >>> local_pull(1, Fraction(1, 2), 3)
    Fraction(3, 8)
    """
    return eta * E * contraction(h, eta, E - 1)


def local_contraction(h: Any, spread: Any, size: Any, eta: Any, E: Any) -> Any:
    r"""\((1-\eta h)^E+\binom E2\eta^2(1-\eta h)^{E-2}\frac{\mathrm{Var}\,h}{n_m}\): what E steps leave on average.

    It is \(\mathbb E[(1-\eta\bar h)^E]\) for the mean \(\bar h\) of \(n_m\) curvatures up to \(O(n_m^{-2})\), and
    exactly for E = 1 and E = 2.

    >>> local_contraction(1, 1, 4, Fraction(1, 2), 2)
    Fraction(5, 16)
    """
    return contraction(h, eta, E) + ratio(_bend(h, eta, E) * spread, size)


def _bend(h: Any, eta: Any, E: Any) -> Any:
    """Half of a's second derivative: 0 for one step, whatever (1 - ηh)^-1 is."""
    return 0 * h * eta if E == 1 else ratio(E * (E - 1) * eta**2 * contraction(h, eta, E - 2), 2)


def local_shift(h: Any, eta: Any, E: Any) -> Any:
    r"""\(-b'=\eta^2\sum_{e<E}e(1-\eta h)^{e-1}\); exact.

    A client's steps shift the mean by this times \(\mathbb E[hg]/n_m\), up to \(O(n_m^{-2})\), reuse or not.

    >>> local_shift(1, Fraction(1, 2), 1), local_shift(1, Fraction(1, 2), 3)
    (Fraction(0, 1), Fraction(1, 2))
    """
    if isinstance(E, int):
        return 0 * h * eta + sum(e * eta**2 * contraction(h, eta, e - 1) for e in range(1, E))
    return ratio(ratio(1 - contraction(h, eta, E), h) - local_pull(h, eta, E), h)


# --- any admissions ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FirstOrder:
    """At θ(1), …, θ(T+1): the law's mean distance, and what the first order in 1/n adds to it and to its square.

    `square` is all of the first order of E δ²; of the law's it has the noise.
    """

    law: NDArray[Any]
    mean: NDArray[Any]
    square: NDArray[Any]


def first_order(
    clients: Sequence[Cohorts], rounds: Any, moments: Moments, *, start: Any, eta: Any, E: Any = 1
) -> FirstOrder:
    r"""E δ(t) and E δ(t)² up to \(O(n^{-2})\), from a distance `start`; exact on `Fraction`s.

    With \(p_i\) and \(r_i\) the sums of \(a^{t-1-s}/n(s)\) and of \(a^{t-1-s}m_0(s)/n(s)\) over the rounds in which
    sample i was used, \(m_0\) the law's mean, and \(\psi,\varphi\) their means over the memory,

    \[m_1(t+1)=a\,m_1(t)+a'^2\,\mathrm{Var}(h)\,\varphi(t)-a'b\,\mathbb E[hg]\,\psi(t)
    +\frac{M(t)}{n(t)}\Bigl(\tfrac12a''\,\mathrm{Var}(h)\,m_0(t)-b'\,\mathbb E[hg]\Bigr),\]

    M(t) being the clients that have samples, and the square gains \(2m_0m_1+\sum_i(a'^2\mathrm{Var}(h)r_i^2
    -2a'b\,\mathbb E[hg]\,r_ip_i+b^2\,\mathbb E[g^2]\,p_i^2)\).

    >>> from theory.law.quadratic import by_age
    >>> half, memory = Fraction(1, 2), by_age([1, 0], K=2)
    >>> first_order([memory], 2, Moments(h=1, spread=1, noise=0), start=1, eta=half).mean
    array([Fraction(0, 1), Fraction(0, 1), Fraction(1, 4)], dtype=object)
    """
    T, everyone = horizon(rounds), _together(clients)
    a, pull, bend, shift = (
        f(moments.h, eta, E) * (1 + 0 * start) for f in (contraction, local_pull, _bend, local_shift)
    )
    b = ratio(1 - a, moments.h)
    count = _plain(everyone.count)
    active = np.sum([mine.occupancy(T) > 0 for mine in clients], axis=0)
    p = r = count * (0 * a)
    law, mean = start + 0 * a, 0 * a
    found = [(law, mean, mean)]
    for t in range(1, T + 1):
        inside = _uses(everyone, t)
        held = inside * count
        n = held.sum()
        if n > 0:
            psi, phi = (ratio((held * x).sum(), n) for x in (p, r))
            local = ratio(int(active[t - 1]), n) * (bend * moments.spread * law + shift * moments.tilt)
            mean = a * mean + pull * (pull * moments.spread * phi + b * moments.tilt * psi) + local
            gain = inside * ratio(1, n)
            p, r, law = a * p + gain, a * r + law * gain, a * law
        own = (
            pull**2 * moments.spread * r * r
            + 2 * pull * b * moments.tilt * r * p
            + b**2 * moments.noise * p * p
        )
        found.append((law, mean, 2 * law * mean + (count * own).sum()))
    return FirstOrder(*(np.array(column) for column in zip(*found, strict=True)))


def _together(clients: Sequence[Cohorts]) -> Cohorts:
    if not clients:
        raise SettingError("there must be at least one client")
    first, *others = clients
    return sum(others, first)


def noise_correction(cohorts: Cohorts, rounds: Any, moments: Moments, *, eta: Any) -> Any:
    r"""The second order of \(\mathbb E\,\delta(T+1)^2\) from a start at the minimiser, for E = 1; exact on `Fraction`s.

    The first order is the law's. With \(y\) the linear part of δ, \(\epsilon(r)\) what the memory's mean curvature has
    above h, it is \(2\mathbb E[yz]+\mathbb E[z^2]+2\mathbb E[yw]\) where \(z(t+1)=az(t)-\eta\epsilon(t)y(t)\) and
    \(w(t+1)=aw(t)-\eta\epsilon(t)z(t)\): a third moment, and products of second moments.

    >>> from theory.law.quadratic import by_age
    >>> moments = Moments(h=1, spread=1, noise=3)
    >>> noise_correction(by_age([1, 1], K=1), 2, moments, eta=Fraction(1, 2))
    Fraction(3, 16)
    """
    T, a = horizon(rounds), contraction(moments.h, eta, 1)
    count, n = _plain(cohorts.count), cohorts.occupancy(T).tolist()
    busy = [t for t in range(1, T + 1) if n[t - 1] > 0]
    use = [_uses(cohorts, t) * ratio(1, n[t - 1]) for t in busy]  # a sample's part of a round's mean
    pulled = [count * (0 * a)]  # of δ before each busy round, and at the end: -p_i of η g_i
    for part in use:
        pulled.append(a * pulled[-1] + part)

    def over(x: NDArray[Any], y: NDArray[Any]) -> Any:
        return (count * x * y).sum()

    last, steps, total = len(busy), range(len(busy)), 0 * a
    left = [a ** (last - 1 - r) for r in steps]
    seen = [[over(use[r], pulled[s]) for s in range(last + 1)] for r in steps]  # E[ε(r)y(s)] = -η·tilt·seen
    for r in steps:
        total -= 2 * eta**3 * moments.skew * left[r] * over(use[r] * pulled[r], pulled[last])
        for q in steps:
            common, squares = over(use[r], use[q]), over(pulled[r], pulled[q])
            crossed = seen[r][q] * seen[q][r] + seen[r][r] * seen[q][q]
            weight = eta**4 * left[r] * left[q]
            total += weight * (moments.spread * moments.noise * common * squares + moments.tilt**2 * crossed)
        for q in range(r):
            common, squares = over(use[r], use[q]), over(pulled[q], pulled[last])
            crossed = seen[r][q] * seen[q][last] + seen[r][last] * seen[q][q]
            weight = 2 * eta**4 * a ** (last - 2 - q)
            total += weight * (moments.spread * moments.noise * common * squares + moments.tilt**2 * crossed)
    return total


def cubic_shift(cohorts: Cohorts, rounds: Any, moments: Moments, *, third: Any, eta: Any) -> NDArray[Any]:
    r"""Contribution of gradients \(g+h\delta+\tfrac12k\delta^2\) to the first order of E δ(t), if it starts at 0.

    \[m_k(t+1)=a\,m_k(t)-\tfrac12\eta\,\mathbb E[k]\,\frac{\mathbb E g^2}{h^2}\sum_ic_i(t)^2,\] for E = 1; exact on
    `Fraction`s, with \(\mathbb E k\) as `third`. Reuse enters through the law's noise alone.

    >>> from theory.law.quadratic import by_age
    >>> cubic_shift(by_age([1, 1], K=1), 2, Moments(h=1, spread=0, noise=1), third=1, eta=Fraction(1, 2))[2]
    Fraction(-1, 16)
    """
    T, a = horizon(rounds), contraction(moments.h, eta, 1)
    squares = squared_weights(cohorts, a, T) * ratio(moments.noise, moments.h**2)
    shift = 0 * a
    found = [shift]
    for n, square in zip(cohorts.occupancy(T).tolist(), squares.tolist(), strict=False):
        shift = a * shift - ratio(eta * third * square, 2) if n > 0 else shift
        found.append(shift)
    return np.array(found, dtype=object)


def _uses(cohorts: Cohorts, t: int) -> NDArray[Any]:
    """1 for each cohort that is in memory in round t, 0 for the others."""
    return _plain(((cohorts.entered <= t) & (t <= cohorts.left)).astype(int))


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Python's own numbers: NumPy's integers would turn fractions into floats."""
    return np.array(values.tolist(), dtype=object)


# --- how far that carries ----------------------------------------------------------------------------------


def path_rest(moments: Moments, *, tails: Tails, start: Any, eta: Any, rho: Any, size: Any) -> Any:
    r"""Upper bound on the distance of E δ(t) from the law's mean plus `first_order`'s, at every t, for E = 1.

    For memories that never hold less than `size` samples, \(0\le\eta h\le1\) and \(|1-\eta h_i|\le\rho<1\). With
    \(x=h_i-h\), \(H^4=3(\mathbb Ex^2)^2+\mathbb Ex^4\) and \(G^4\) the same of g it is \(n^{-2}\) times

    \[|\delta(1)|\Bigl(\frac{\eta^3|\mathbb Ex^3|}{(\eta h)^4}+\frac{\eta^4H^4}{(1-\rho)^5}\Bigr)
    +\frac{\eta^3|\mathbb E[x^2g]|}{(\eta h)^3}+\frac{\eta^4H^3G}{(1-\rho)^4}.\]

    >>> tails = Tails(third=0, fourth=1, cross=0, gradient=1)
    >>> path_rest(Moments(h=1, spread=1, noise=1), tails=tails, start=1, eta=1, rho=Fraction(1, 2), size=8)
    Fraction(3, 1)
    """
    step, far = eta * moments.h, 1 - rho
    H2, G2 = _fourths(moments, tails)
    first = ratio(eta**3 * abs(tails.third), step**4) + ratio(eta**4 * H2**2, far**5)
    second = ratio(eta**3 * abs(tails.cross), step**3) + ratio(eta**4 * H2 * sqrt(H2 * G2), far**4)
    return ratio(abs(start) * first + second, size**2)


def square_rest(moments: Moments, *, tails: Tails, eta: Any, rho: Any, size: Any) -> Any:
    r"""Upper bound on the distance of E δ(t)² from the law's, at every t, from a start at the minimiser, for E = 1.

    As for `path_rest`, \(n^{-2}\) times

    \[\frac{2|\mathbb E[xg^2]|}{h^3}+\frac{2\eta^3H^2G^2}{h(1-\rho)^3}+\frac{\eta^4H^2G^2}{(1-\rho)^4},\]

    while the law's is at least \(\eta^2\,\mathbb E g^2/n(t-1)\): a relative error of order 1/n.

    >>> tails = Tails(third=0, fourth=1, cross=0, gradient=1)
    >>> square_rest(Moments(h=1, spread=1, noise=1), tails=tails, eta=1, rho=Fraction(1, 2), size=8)
    Fraction(2, 1)
    """
    H2, G2 = _fourths(moments, tails)
    third = ratio(2 * abs(moments.skew), moments.h**3)
    pairs = ratio(2 * eta**3, moments.h * (1 - rho) ** 3) + ratio(eta**4, (1 - rho) ** 4)
    return ratio(third + pairs * H2 * G2, size**2)


def _fourths(moments: Moments, tails: Tails) -> tuple[Any, Any]:
    """H² and G²."""
    return sqrt(3 * moments.spread**2 + tails.fourth), sqrt(3 * moments.noise**2 + tails.gradient)


# --- constant admission, in the long run -------------------------------------------------------------------


def own_weight(a: Any, K: Any, rate: Any) -> Any:
    r"""\(\psi=\sum_{d=1}^{K-1}\frac{K-d}{K^2\bar\Lambda}a^{d-1}\): what a sample in memory has weighed so far; exact.

    The mean over the memory of \(\sum_sa^{t-1-s}/n(s)\). It is 0 for K = 1, and below \(\frac1{2\bar\Lambda}\) always.

    >>> own_weight(Fraction(1, 2), 1, 5), own_weight(Fraction(0), 2, 5)
    (Fraction(0, 1), Fraction(1, 20))
    """
    return ratio(K - 1 + lag_sum(a, K - 1), K * K * rate)


def mean_contraction(
    rate: Any, K: Any, *, h: Any, spread: Any, eta: Any, E: Any = 1, clients: Any = 1
) -> Any:
    r"""Contraction of the mean distance per round under constant admission, up to \(O(n^{-2})\), for \(a>0\).

    \[a+\mathrm{Var}(h)\Bigl(\frac{a'^2}a\cdot\frac{K-1}{2K\bar\Lambda}+\frac{a''}2\cdot\frac M{K\bar\Lambda}\Bigr):\]
    reuse slows it, and so do small local memories. So a first-order change of the path, over the path, grows with t.

    >>> mean_contraction(5, 2, h=1, spread=1, eta=Fraction(1, 2))
    Fraction(21, 40)
    """
    a, pull = contraction(h, eta, E), local_pull(h, eta, E)
    reused = ratio(pull**2 * (K - 1), 2 * K * rate * a)
    return a + spread * (reused + ratio(clients * _bend(h, eta, E), K * rate))


def stationary_bias(rate: Any, K: Any, *, h: Any, tilt: Any, eta: Any, E: Any = 1, clients: Any = 1) -> Any:
    r"""Limit of the mean path under constant admission, less θ*, up to \(O(n^{-2})\), for \(|a|<1\).

    \[\frac{\mathbb E[hg]}{1-a}\Bigl(-a'b\,\psi-b'\frac M{K\bar\Lambda}\Bigr),\] which is \(\eta\psi\,\mathbb E[hg]/h\)
    for E = 1, and tends to \(\frac{M}{K\bar\Lambda}\mathbb E[hg]/h^2\) as clients solve their memories.

    >>> stationary_bias(5, 2, h=1, tilt=1, eta=Fraction(1))
    Fraction(1, 20)
    """
    a = contraction(h, eta, E)
    reused = local_pull(h, eta, E) * ratio(1 - a, h) * own_weight(a, K, rate)
    return ratio(tilt * (reused + ratio(clients * local_shift(h, eta, E), K * rate)), 1 - a)


# --- rounds that solve their memory ------------------------------------------------------------------------


def solved_bias(moments: Moments, *, third: Any, size: Any) -> Any:
    r"""\(\frac1n\bigl(\mathbb E[hg]/h^2-\mathbb E[k]\,\mathbb E[g^2]/(2h^3)\bigr)\), to first order in 1/n.

    The mean of a memory's minimiser less θ*: where `first_order` and `cubic_shift` end on a memory of n samples that
    is trained on for ever, and the bias of a maximum-likelihood estimate (Cox and Snell 1968, in one dimension).

    >>> solved_bias(Moments(h=2, spread=0, noise=1, tilt=4), third=0, size=10)
    Fraction(1, 10)
    """
    reused, bent = ratio(moments.tilt, moments.h**2), ratio(third * moments.noise, 2 * moments.h**3)
    return ratio(reused - bent, size)


def regression_floor(p: Any, n: Any) -> Any:
    r"""\(\frac p{n-p-1}=\mathbb E\|\delta\|_H^2/\sigma^2\): least squares on n Gaussian inputs in p dimensions; exact.

    The law has \(\frac pn\). Noise has the variance σ² and is independent of the inputs; \(n>p+1\).

    >>> regression_floor(3, 10)
    Fraction(1, 2)
    """
    return ratio(p, n - p - 1)


def regression_floor_first_order(p: Any, n: Any, fourth: Any) -> Any:
    r"""\(\frac pn\bigl(1+\frac{q/p-1}n\bigr)\), \(q=\mathbb E\|x\|^4\), for inputs with covariance 1; to this order.

    Gaussian inputs have q = p(p+2): a factor \(1+\frac{p+1}n\).

    >>> regression_floor_first_order(1, 10, 3)
    Fraction(3, 25)
    """
    return ratio(p, n) * (1 + ratio(ratio(fourth, p) - 1, n))


def regression_floor_resummed(p: Any, n: Any) -> Any:
    r"""\(\lambda=\frac p{n-p}\), the solution of \(\lambda=\frac pn(1+\lambda)\), for \(n>p\).

    A sample that pulls its own prediction by λ shows \((1+\lambda)^{-1}\) of its residual and of its curvature, so n
    samples weigh as \(n/(1+\lambda)\). It is low by a factor \(1-\frac1{n-p}\), even where p/n is not small.

    >>> regression_floor_resummed(3, 10)
    Fraction(3, 7)
    """
    return ratio(p, n - p)
