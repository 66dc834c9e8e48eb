r"""The law of averaged models in closed form: constant admission, falling steps, other weights, waits.

`theory.law.averaging` has the law itself, for any admissions, steps and weights; these are its values and limits.
"""

from typing import Any

from theory.numbers.algebra import ratio, sqrt

__all__ = ["averaged_left_constant", "averaged_noise_constant", "averaged_rest", "averaged_rest_decaying"]
__all__ += ["common_share", "idle_loss", "polynomial_factor", "polynomial_left", "wait_factor"]


# --- constant admission and constant steps -------------------------------------------------


def averaged_left_constant(a: Any, models: Any) -> Any:
    r"""\(\frac{1-a^T}{T(1-a)}\): what the equal mean of θ(1), …, θ(T) has left of the start, of order 1/T; exact.

    >>> averaged_left_constant(ratio(1, 2), 3)
    Fraction(7, 12)
    """
    return ratio(1 - a**models, models * (1 - a))


def averaged_noise_constant(a: Any, K: int, rounds: Any) -> Any:
    r"""\(\bar\Lambda\sum_ib_i^2\) of the equal mean of θ(1), …, θ(T+1), T >= K-1, from a full memory on; exact.

    With \(g(t)=(1-a^{T+1-t})/(T+1)\) and \(n=K\bar\Lambda\) it is \(\frac1{K^2}\sum_{t,s}g(t)g(s)(K-|t-s|)^+\):

    \[\frac1{K^2(T+1)^2}\sum_{|d|<K}(K-|d|)\Bigl(T-|d|-\frac{a(1+a^{|d|})(1-a^{T-|d|})}{1-a}
    +\frac{a^{2+|d|}(1-a^{2(T-|d|)})}{1-a^2}\Bigr),\]

    1/T times 1 + O(1/T), whatever a and K.

    >>> averaged_noise_constant(ratio(1, 2), 1, 2)
    Fraction(13, 144)
    """

    total = K * common_share(a, 0, rounds) + 2 * sum(
        (K - d) * common_share(a, d, rounds) for d in range(1, K)
    )
    return ratio(total, K * K * (rounds + 1) ** 2)


def common_share(a: Any, lag: Any, rounds: Any) -> Any:
    r"""\(\sum_{k=1}^{T-d}(1-a^k)(1-a^{k+d})\) for a lag d <= T, a term of `averaged_noise_constant`; exact.

    >>> common_share(ratio(1, 2), 1, 2)
    Fraction(3, 8)
    """
    left = rounds - lag
    once, twice = 1 - a**left, 1 - a ** (2 * left)
    return left - ratio(a * (1 + a**lag) * once, 1 - a) + ratio(a ** (2 + lag) * twice, 1 - a * a)


def averaged_rest(a: Any, K: Any, variation: Any) -> Any:
    r"""\(v\sqrt{K/(1-a)}\): how far \(\sqrt{\sum b_i^2}\) is from \(\sqrt{\sum\omega_i^2}\) at most; an upper bound.

    Here \(\bar\theta=\sum_{t\le T}p_t\theta(t)\), a sample weighs \(\omega_i=\sum_{t:\,i\in Q(t)}p_t/n(t)\) in the
    same mean of \(\bar z\), and \(v=|p_T|+\sum_{t<T}|p_{t+1}-p_t|\): 1/T for equal weights. For steps of one size,
    \(0\le a<1\), any admissions with some sample in memory in every round, and any rule by which none is used more
    than K times.

    >>> averaged_rest(ratio(3, 4), 1, ratio(1, 10))
    Fraction(1, 5)
    """
    return variation * sqrt(ratio(K, 1 - a))


def averaged_rest_decaying(step: Any, K: Any, rounds: Any) -> Any:
    r"""\((2+\sqrt2)\frac{\sqrt K}{T\sqrt{\alpha_T}}\): the same for steps \(\alpha_t=1-a_t\) that fall; an upper bound.

    Of equal weights. Steps must be at most 1, not rise and decay no faster than 1/t:
    \(1/\alpha_{t+1}-1/\alpha_t\le1\). It is below \(1/\sqrt T\) by any factor as soon as \(T\alpha_T\to\infty\): then
    decaying steps and equal weights see what constant steps see.

    >>> round(float(averaged_rest_decaying(ratio(1, 4), 1, 10)), 3)
    0.683
    """
    return ratio(2 * sqrt(ratio(K, step)) + sqrt(ratio(2 * K, step)), rounds)


# --- other weights -----------------------------------------------------------------------------------------


def polynomial_factor(gamma: Any) -> Any:
    r"""\(\frac{(\gamma+1)^2}{2\gamma+1}\): the noise of polynomial weights over that of equal ones, as T → ∞; exact.

    >>> polynomial_factor(0), polynomial_factor(8)
    (Fraction(1, 1), Fraction(81, 17))
    """
    return ratio((gamma + 1) ** 2, 2 * gamma + 1)


def polynomial_left(a: Any, gamma: int, models: Any) -> Any:
    r"""\(\frac{(\gamma+1)!}{T(T+1)\cdots(T+\gamma)\,(1-a)^{\gamma+1}}\): what the polynomial mean of T models has left
    of the start, except for a part that falls like \(a^T\); so the transient, its square, is \(O(T^{-2(\gamma+1)})\).

    >>> polynomial_left(ratio(1, 2), 1, 9)
    Fraction(4, 45)
    """
    rising, factorial = 1, 1
    for k in range(gamma + 1):
        rising, factorial = rising * (models + k), factorial * (k + 1)
    return ratio(factorial, rising * (1 - a) ** (gamma + 1))


def wait_factor(a: Any, often: Any) -> Any:
    r"""\(1+(1-q)\frac{1-a}{1+a}\): by how much an equal mean over rounds is noisier than one over models, as T → ∞.

    For memories that are replaced as a whole and trained on once, with probability q in a round; exact. At a = 0 it is
    what `theory.market.capacity.burst_effective_rate` says of samples that stay until the next burst.

    >>> wait_factor(ratio(0, 1), ratio(1, 4)), wait_factor(ratio(1, 2), 1)
    (Fraction(7, 4), Fraction(1, 1))
    """
    return 1 + (1 - often) * ratio(1 - a, 1 + a)


# --- rounds that do not train --------------------------------------------------------------


def idle_loss(a: Any, period: Any, bursts: Any) -> Any:
    r"""\(\frac{b-1}{1-a}\bigl(a(1-a^M)-\frac M{(1-a)(M+1)(bM+1)}\bigr)\): lower bound on what idle rounds lose.

    For \(0\le a<1\): by how much \(\sum_t\ell(t)^2\) over bM rounds is larger with training in the first of every b
    than with training in all; \(\ell\) is what is left of the start in the equal mean of models.

    >>> idle_loss(ratio(1, 2), 2, 3)
    Fraction(25, 56)
    """
    outside = ratio(bursts, (1 - a) * (bursts + 1) * (period * bursts + 1))
    return ratio(period - 1, 1 - a) * (a * (1 - a**bursts) - outside)
