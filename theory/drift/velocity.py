r"""A filter that estimates the velocity of a moving optimum, in the long run and under constant admission.

The server keeps the model θ(t+1) of samples used once, with contraction a, and the running mean m(t) of the models
before it, whose weights fall by a per round. It reports \(2\theta(t+1)-m(t)\): the model, and on top of it what the
optimum moves while the model lags behind. Samples that are j rounds old then weigh

\[x_j=2(1-a)a^j-(1-a)^2ja^{j-1},\qquad\sum_jx_j=1,\qquad\sum_j(j+1)x_j=0,\]

negative from some age on. The second sum is the lag behind a steady slope: there is none, whatever the slope. So the
risk is \(\tfrac12\sum_hh(\nu V+qY)\), with the noise V and the lag behind a walk Y below. As in
`theory.drift.long_run`, noise ν is the variance of a round's mean, and the model is judged by the optimum of the round
that it begins.
"""

from typing import Any

from theory.numbers.algebra import ratio

__all__ = ["velocity_lag", "velocity_left", "velocity_noise", "velocity_slope"]


def velocity_noise(a: Any) -> Any:
    r"""\(V(a)=\sum_jx_j^2=\frac{(1-a)(5+4a+a^2)}{(1+a)^3}\): the noise of the filter, in units of ν; exact.

    >>> velocity_noise(0), velocity_noise(ratio(1, 2))
    (Fraction(5, 1), Fraction(29, 27))
    """
    return ratio((1 - a) * (5 + 4 * a + a * a), (1 + a) ** 3)


def velocity_left(a: Any, rounds: Any) -> Any:
    r"""\(W_m=\sum_{j\ge m}x_j=a^m-m(1-a)a^{m-1}\): the part of a jump that remains after m rounds; exact.

    Negative where the filter overshoots: it takes the jump for the start of a slope.

    >>> [velocity_left(ratio(1, 2), m) for m in (0, 1, 2, 3)]
    [Fraction(1, 1), Fraction(0, 1), Fraction(-1, 4), Fraction(-1, 4)]
    """
    return ratio(a**rounds * (a - rounds * (1 - a)), a)


def velocity_lag(a: Any) -> Any:
    r"""\(Y(a)=\sum_{m\ge0}W_m^2=\frac2{(1-a)(1+a)^3}\): the mean square behind a walk, in units of q; exact.

    >>> velocity_lag(0), velocity_lag(ratio(1, 2))
    (Fraction(2, 1), Fraction(32, 27))
    """
    return ratio(2, (1 - a) * (1 + a) ** 3)


def velocity_slope(a: Any, noise: Any, drift: Any) -> Any:
    r"""\(g^{\circ2}=\frac{1-a}{(1+a)^3}\bigl(2(1-a)^2(2+a)\nu+(1-2a-a^2)q\bigr)\): beyond a slope of g° per round the
    filter is better than the model itself, at the same contraction; exact.

    Negative where the filter is better without any slope, because the step is too small for the walk.

    >>> velocity_slope(ratio(1, 2), 1, 0), velocity_slope(ratio(1, 2), 0, 1)
    (Fraction(5, 27), Fraction(-1, 27))
    """
    return ratio((1 - a) * (2 * (1 - a) ** 2 * (2 + a) * noise + (1 - 2 * a - a * a) * drift), (1 + a) ** 3)
