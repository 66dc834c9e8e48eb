r"""A bound without Pdim and B: how far a single sample can move the model.

A sample i has the weight \(w_i(s)\) in round s: \(1/n(s)\) in memory, else 0. Two runs that differ in one sample drift
apart by at most \(2\eta EG\,w_i(s)\) in round s, since steps of size \(\eta\le2/L\) on convex L-smooth losses never
expand. So the memory's objective is below the population risk, in the mean, by at most

\[2\eta EG^2\,O(t),\qquad O(t)=\sum_iw_i(t)\sum_{s<t}w_i(s),\]

the *overlap* of this round's weights with all earlier ones. With a constant n it is \((\bar A-1)/n\), where \(\bar A\)
is the mean number of uses of the samples in memory, this round's included. The rest is that of `theory.bound.sharper`:
\(D^2/(2\eta E)\) once and \(\tfrac12\eta EG^2\) per round.

**Hypotheses** (`thm:regret-neff/stability`): losses are convex and L-smooth, with gradients of at most G wherever local
steps lead; \(\eta\le2/L\); θ starts in the convex Θ of diameter D and the server projects; admissions, drops and
weights do not look at sample values; one distribution, or clients weighted by their shares of the population. Neither
σ, B nor Pdim enters. If the losses are μ-strongly convex and \(\eta\le2/(L+\mu)\), old uses are forgotten
(`curbed_overlap`).
"""

from typing import Any

import numpy as np

from theory.bound.sharper import constant_sum, step_constant
from theory.bound.theorem1 import Bound, Terms, add_up, initial_term
from theory.numbers.algebra import minimum, positive_part, ratio, wide
from theory.reuse.counts import uses_in_memory
from theory.reuse.trajectories import trajectory
from theory.setting import Constants, SettingError, positive, retention

__all__ = ["curbed_overlap", "overlap_by_uses", "overlap_constant", "overlaps", "recorded_overlaps"]
__all__ += ["stability_1", "stability_constant_bound", "stability_constant_round", "stability_round"]


# --- one round ---------------------------------------------------------------------------------------------


def stability_round(overlap: Any, constants: Constants) -> Terms:
    r"""\(2\eta EG^2\,O\): how far the memory's objective may be below the population risk, an upper bound
    (`thm:regret-neff/stability`). Without G and L, or with \(\eta>2/L\), it is refused.

    >>> stability_round(Fraction(1, 4), Constants(D=1, sigma=1, eta=1, B=1, Pdim=1, E=2, G=3, L=1)).total
    Fraction(9, 1)
    """
    merged = _smooth(constants).merged
    moved = 2 * merged.eta * constants.G * constants.G * overlap
    return Terms(root=0 * moved, linear=0 * moved, generalisation=moved)


def _smooth(constants: Constants, mu: Any = 0) -> Constants:
    missing = [name for name in ("G", "L") if getattr(constants, name) is None]
    if missing:
        raise SettingError(
            f"stability needs the gradients' bound G and the smoothness L: give {' and '.join(missing)} too, "
            "such as G=1,L=1"
        )
    if not isinstance(mu, int) or mu:
        positive("mu", mu)
    if (constants.eta * (constants.L + mu) > 2) == True:  # noqa: E712 - a symbol leaves it open
        most = "2/(L + mu)" if mu else "2/L"
        raise SettingError(
            f"stability needs steps that do not expand, eta of at most {most}: with these constants "
            f"{float(2 / (constants.L + mu)):.6g}, got {float(constants.eta):.6g}"
        )
    return constants


def overlap_by_uses(mean_uses: Any, n: Any) -> Any:
    r"""\((\bar A-1)/n\): the overlap where n has been constant; \(\bar A\) is the mean number of uses of the samples in
    memory, this round's included; exact.

    >>> overlap_by_uses(3, 10)
    Fraction(1, 5)
    """
    return ratio(mean_uses - 1, n)


def overlap_constant(K: Any, t: Any, rate: Any) -> Any:
    r"""\(\frac1{k\bar\Lambda}\bigl(k-1-h+\frac{h(h+1)}{2K}\bigr)\), \(k=\min(K,t)\), \(h=\min(t-k,K-1)\): the
    overlap under constant admission, exact for \(t\le K\) and for \(t\ge2K-1\), where it is
    \(\frac{K-1}{2K\bar\Lambda}\); an upper bound between these.

    >>> overlap_constant(10, 4, 1), overlap_constant(10, 19, 1), overlap_constant(1, 5, 1)
    (Fraction(3, 4), Fraction(9, 20), Fraction(0, 1))
    """
    t = wide(t)
    k = minimum(t, K)
    h = minimum(t - k, K - 1)
    return ratio(k - 1 - h + ratio(h * (h + 1), 2 * K), k * rate)


def curbed_overlap(overlap: Any, largest: Any, mu: Any, constants: Constants) -> Any:
    r"""\(\min\bigl(O,\frac{\bar w}{\eta E\mu}\bigr)\): what takes the place of the overlap if all losses are μ-strongly
    convex and \(\eta\le2/(L+\mu)\) (`thm:regret-neff/stability-strong`). `largest`, \(\bar w\), is the largest weight
    that a sample of this memory had in an earlier round. With a constant n that is 1/n, and all of it
    \(\min(\bar A-1,\frac1{\eta E\mu})/n\).

    >>> curbed_overlap(5, Fraction(1, 2), Fraction(1, 4), Constants(D=1, sigma=1, eta=1, B=1, Pdim=1, E=2, G=3, L=1))
    Fraction(1, 1)
    """
    c = _smooth(constants, mu)
    return minimum(overlap, ratio(largest, c.eta * c.E * mu))


def stability_constant_round(K: Any, t: Any, rate: Any, constants: Constants) -> Terms:
    r"""Round t of the stability bound under constant admission, for every t >= 1; an upper bound, 0 for K = 1. From
    \(t=2K-1\) on it is \(\eta EG^2\frac{K-1}{K\bar\Lambda}\).

    >>> stability_constant_round(2, 5, 1, Constants(D=1, sigma=1, eta=1, B=1, Pdim=1, G=1, L=1)).total
    Fraction(1, 2)
    """
    return stability_round(overlap_constant(K, t, rate), constants)


# --- T rounds ------------------------------------------------------------------------------------------------


def overlaps(admissions: Any, K: Any) -> Any:
    r"""The overlap of every round under K-step retention with weights \(n_m/n\), an array; exact for integers:

    \[O(t)=\frac1{n(t)}\sum_{j=t-K+1}^t\Lambda(j)\sum_{s=j}^{t-1}\frac1{n(s)}.\]

    >>> list(overlaps([1, 1, 1, 2], K=2))
    [Fraction(0, 1), Fraction(1, 2), Fraction(1, 4), Fraction(1, 6)]
    """
    n = trajectory(admissions, K).n
    divide = np.frompyfunc(ratio, 2, 1) if n.dtype == object else np.divide
    weights = np.concatenate([[0], np.cumsum(divide(1, n))])[:-1]  # Σ_{s<t} 1/n(s)
    missed = np.concatenate([[0], np.cumsum(np.asarray(admissions, dtype=n.dtype) * weights)])
    rounds = np.arange(1, len(n) + 1)
    found = divide(n * weights - (missed[1:] - missed[np.maximum(rounds - retention(K), 0)]), n)
    return found if n.dtype == object else np.maximum(found, 0)  # which rounding may miss by little


def recorded_overlaps(admissions: Any, n: Any, effective: Any, mismatch: Any) -> Any:
    r"""The overlap of every round of a run from its admissions, n, \(N_{\mathrm{eff}}\) and χ, floats: an upper bound
    for weights \(n_m/n\) and any retention, exact for K-step retention and where n has been constant.

    Of all memories of n samples the youngest have the fewest uses, so what is recorded tells whether all samples leave
    after K rounds. If not, rounds s and t have at most n(s) samples in common, and so for any c, here the median of n,

    \[O(t)\le\frac{\bar A(t)-1}c+\frac1{n(t)}\sum_{s<t}\Bigl[1-\frac{n(s)}c\Bigr]^+.\]

    >>> path = trajectory([1.0, 1.0, 1.0, 2.0], K=2)
    >>> recorded_overlaps([1.0, 1.0, 1.0, 2.0], path.n, path.effective, path.mismatch)[:3]
    array([0.  , 0.5 , 0.25])
    """
    uses = uses_in_memory(n, np.cumsum(n), 1 / effective, mismatch)
    come = np.concatenate([[0], np.cumsum(admissions)])
    K = int((come[1:] == n).sum())  # no sample has left in the first K rounds
    if (come[1:] - come[np.maximum(np.arange(1, len(n) + 1) - K, 0)] == n).all():
        path = trajectory(admissions, K)
        youngest = uses_in_memory(n, np.cumsum(n), 1 / path.effective, path.mismatch)
        if (abs(uses - youngest) < 1 / 2).all():
            return overlaps(admissions, K)
    usual = np.median(n)
    short = np.cumsum(positive_part(1 - n / usual))
    return overlap_by_uses(np.maximum(uses / n, 1), usual) + np.concatenate([[0], short[:-1]]) / n


def stability_1(overlap: Any, constants: Constants) -> Bound:
    r"""\(\frac{D^2}{2\eta E}+\frac T2\eta EG^2+2\eta EG^2\sum_tO(t)\), an upper bound (`thm:regret-neff/stability`);
    `overlap` has one entry per round, see `overlaps`.

    >>> stability_1([0, Fraction(1, 4)], Constants(D=1, sigma=1, eta=1, B=1, Pdim=1, G=1, L=1)).total
    Fraction(2, 1)
    """
    return add_up(
        lambda overlap_t: stability_round(overlap_t, constants),
        {"overlap": overlap},
        initial=initial_term(constants.merged),
        constant=step_constant(_smooth(constants)),
    )


def stability_constant_bound(
    K: Any, rate: Any, T: Any, constants: Constants, *, certified: bool = False
) -> Bound:
    """The stability bound over T rounds of constant admission, T to 10^15; with `certified`, its terms are balls.

    >>> unit = Constants(D=1, sigma=1, eta=1, B=1, Pdim=5, G=1, L=1)
    >>> round(stability_constant_bound(2, 10, 10**9, unit).terms.generalisation)
    50000000
    """
    return constant_sum(stability_constant_round, K, rate, T, _smooth(constants), certified)
