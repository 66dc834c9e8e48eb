r"""The law of reuse for clients that differ: in their means and variances, and in their curvatures.

With one Hessian, client m has the share \(p_m\) of all admissions and \(\alpha_m\) of the population, whose minimiser
is \(\theta^\star=\sum\alpha_m\mu_m\). Weighted by \(n_m/n\) the federation goes where its samples come from, to
\(\sum p_m\mu_m\); weighted by \(\alpha_m\) it goes to θ* and pays in variance. Along an eigendirection with
eigenvalue h the excess risk that constant admission ends with is

\[\tfrac h2\Bigl(\text{bias}^2+\frac{v(a,K)}{\bar\Lambda}\,\text{spread}\Bigr),\]

with `pooled_bias` and `pooled_spread`, or with no bias and `weighted_spread`; v is
`theory.law.quadratic.stationary_noise`. The means and variances are those along that direction.

If client m has its own curvature \(h_m\), its E steps leave \(a_m=(1-\eta h_m)^E\) of a distance, and with weights
\(n_m/n=p_m\) the federation is the same recursion with \(\bar a=\sum p_ma_m\): it goes to `own_goal`, which is not
`own_optimum` from E = 2 on, and v is taken at \(\bar a\), with `own_spread`.
"""

from collections.abc import Sequence
from typing import Any

from theory.numbers.algebra import ratio
from theory.setting import SettingError, is_zero, not_negative, same_length

__all__ = ["least_spread", "own_goal", "own_optimum", "own_spread", "pooled_bias", "pooled_spread"]
__all__ += ["weighted_spread"]


def pooled_bias(shares: Sequence[Any], population: Sequence[Any], means: Sequence[Any]) -> Any:
    r"""\(\sum(p_m-\alpha_m)\mu_m\), where weights \(n_m/n\) lead, less θ*; exact, and 0 for the population's shares.

    >>> pooled_bias([1, 1], [1, 3], [0, 8])
    Fraction(-2, 1)
    """
    same_length(shares=shares, population=population, means=means)
    return sum((p - q) * mean for p, q, mean in zip(_parts(shares), _parts(population), means, strict=True))


def pooled_spread(shares: Sequence[Any], variances: Sequence[Any]) -> Any:
    r"""\(\sum p_ms_m^2\): the noise with weights \(n_m/n\) over \(v/\bar\Lambda\); exact.

    >>> pooled_spread([1, 3], [1, 5])
    Fraction(4, 1)
    """
    same_length(shares=shares, variances=variances)
    return sum(p * variance for p, variance in zip(_parts(shares), variances, strict=True))


def weighted_spread(shares: Sequence[Any], population: Sequence[Any], variances: Sequence[Any]) -> Any:
    r"""\(\sum\alpha_m^2s_m^2/p_m\): the noise with weights \(\alpha_m\) over \(v/\bar\Lambda\); exact.

    It is least, `least_spread`, for shares in proportion to \(\alpha_ms_m\), and for one variance it is
    \(1+\sum(\alpha_m-p_m)^2/p_m\) times it.

    >>> weighted_spread([1, 1], [1, 3], [1, 1])
    Fraction(5, 4)
    """
    same_length(shares=shares, population=population, variances=variances)
    if any(is_zero(p) for p in shares):
        raise SettingError(
            "a client without samples has no mean to weigh: give every client a positive share"
        )
    rows = zip(_parts(shares), _parts(population), variances, strict=True)
    return sum(ratio(q * q * variance, p) for p, q, variance in rows)


def least_spread(population: Sequence[Any], deviations: Sequence[Any]) -> Any:
    r"""\((\sum\alpha_ms_m)^2\), the least of `weighted_spread` over all shares; exact, from standard deviations.

    >>> least_spread([1, 3], [1, 5])
    Fraction(16, 1)
    """
    same_length(population=population, deviations=deviations)
    return sum(q * s for q, s in zip(_parts(population), deviations, strict=True)) ** 2


# --- curvatures that differ --------------------------------------------------------------------------------


def own_optimum(population: Sequence[Any], curvatures: Sequence[Any], means: Sequence[Any]) -> Any:
    r"""\(\theta^\star=\sum\alpha_mh_m\mu_m/\sum\alpha_mh_m\) for clients with curvatures of their own; exact.

    >>> own_optimum([1, 1], [1, 3], [0, 8])
    Fraction(6, 1)
    """
    weights = [q * h for q, h in zip(_parts(population), curvatures, strict=True)]
    return ratio(sum(w * mean for w, mean in zip(weights, means, strict=True)), sum(weights))


def own_goal(shares: Sequence[Any], contractions: Sequence[Any], means: Sequence[Any]) -> Any:
    r"""\(\sum p_m(1-a_m)\mu_m/\sum p_m(1-a_m)\), where weights \(n_m/n\) lead; exact.

    For E = 1 and p = α it is θ*; from E = 2 on clients with a small curvature count for too much, and as clients solve
    their memories it is \(\sum p_m\mu_m\).

    >>> own_goal([1, 1], [Fraction(1, 2), Fraction(0)], [0, 9])
    Fraction(6, 1)
    """
    return own_optimum(shares, [1 - a for a in contractions], means)


def own_spread(shares: Sequence[Any], contractions: Sequence[Any], variances: Sequence[Any]) -> Any:
    r"""\(\sum p_m\bigl(\frac{1-a_m}{1-\bar a}\bigr)^2s_m^2\): the noise over \(v(\bar a,K)/\bar\Lambda\); exact.

    >>> own_spread([1, 1], [Fraction(1, 2), Fraction(0)], [1, 1])
    Fraction(10, 9)
    """
    parts, forgotten = _parts(shares), [1 - a for a in contractions]
    whole = sum(p * f for p, f in zip(parts, forgotten, strict=True))
    rows = zip(parts, forgotten, variances, strict=True)
    return ratio(sum(p * f * f * variance for p, f, variance in rows), whole * whole)


def _parts(amounts: Sequence[Any]) -> list[Any]:
    """Amounts as parts of their sum."""
    total = sum(not_negative("shares", amounts))
    if is_zero(total):
        raise SettingError("shares must not all be zero: give at least one client a share")
    return [ratio(amount, total) for amount in amounts]
