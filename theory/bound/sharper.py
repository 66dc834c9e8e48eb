r"""Two bounds that are sharper than Theorem 1 corrected, and need less: through all samples, and through the memory.

Both start from one fact about a round of E local steps of size η on the memory's own objective
\(\widehat F^{mem}\), with losses that are convex and gradients at most G wherever local steps lead:

\[\|\theta^{+}-\theta^\star\|^2\le\|\theta-\theta^\star\|^2-2\eta E\,[\widehat F^{mem}(\theta)-\widehat F^{mem}
  (\theta^\star)]+(\eta EG)^2.\]

There is no smoothness in it and no local drift. Summed, \(D^2/(2\eta E)\) is paid once and \(\tfrac12\eta EG^2\) in
each round. What remains is how far \(\widehat F^{mem}\) is from the population risk:

* **sharper** (`thm:regret-neff/sharper`): through \(\widehat F^{all}\). If \(E\sup_\theta\|\nabla\widehat F^{all}-
  \nabla\widehat F^{mem}\|\le\sigma\sqrt\chi\), a first moment, a round costs \(D\sigma\sqrt\chi+5.2B\sqrt{
  \mathrm{Pdim}/N_{\mathrm{eff}}}\). The linear term, the drift and L of `theorem_1` are gone. Its `sigma` must
  hold for the supremum.
* **memory** (`thm:regret-neff/memory`): directly. Samples admitted in this round are unknown to the model, so only
the
  older ones deviate: \(5.2B\sqrt{\mathrm{Pdim}\,\sum w_i^2}\) over these. No mismatch, no \(N_{\mathrm{eff}}\), no σ;
  and clients may draw from different distributions if they are weighted by their shares of the population.

Other hypotheses are those of `theory.bound.theorem1`: θ starts in the convex Θ of diameter D, the server projects, no
client of positive weight trains on nothing, and admissions and drops do not look at sample values. Without G the
per-round constant is left out, and the result is no bound.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from theory.bound.constant_admission import filling_breaks, number_system, sum_rounds, with_constants
from theory.bound.theorem1 import Bound, Terms, add_up, deviation_term, initial_term, root_term
from theory.numbers.algebra import minimum, precise, ratio, wide
from theory.reuse.constant import inverse_effective_constant, mismatch_constant
from theory.setting import Constants, SettingError, horizon, is_zero, positive, retention, same_length

__all__ = ["halfway_constant", "memory_1", "memory_constant_bound", "memory_constant_round", "memory_round"]
__all__ += ["sharper_1", "sharper_constant_bound", "sharper_constant_round", "sharper_round", "stale_weight"]
__all__ += ["stale_weight_constant", "step_constant"]


# --- one round ---------------------------------------------------------------------------------------------


def step_constant(constants: Constants) -> Any:
    r"""\(\tfrac12\eta EG^2\): what a round of E local steps adds in both bounds. Zero, that is left out, without G.

    >>> step_constant(Constants(D=1, sigma=1, eta=Fraction(1, 5), B=1, Pdim=5, E=2, G=3))
    Fraction(9, 5)
    """
    if constants.G is None:
        return 0
    return ratio(constants.eta * constants.E * constants.G * constants.G, 2)


def halfway_constant(constants: Constants) -> Any:
    r"""\(\tfrac14\eta EG^2\), for odd E \(\tfrac14\eta G^2(E+\tfrac1{2E})\): half of `step_constant`.

    For smooth losses: with \(\eta L\le1\) it is what a round adds to the mean of its gaps before and after
    (`thm:regret-neff/ten-local-steps`). Zero, that is left out, without G.

    >>> halfway_constant(Constants(D=1, sigma=1, eta=1, B=1, Pdim=5, E=10, G=1))
    Fraction(5, 2)
    """
    E, half = constants.E, ratio(step_constant(constants), 2)
    return half + ratio(half * (E % 2), 2 * E * E)


def sharper_round(mismatch: Any, inverse_effective: Any, constants: Constants) -> Terms:
    r"""\(D\sigma\sqrt\chi+5.2B\sqrt{\mathrm{Pdim}/N_{\mathrm{eff}}}\), an upper bound (`thm:regret-neff/sharper`).

    >>> sharper_round(4, Fraction(1, 4), Constants(D=1, sigma=3, eta=1, B=1, Pdim=1))
    Terms(root=Fraction(6, 1), linear=Fraction(0, 1), generalisation=Fraction(13, 5), constant=0, initial=0)
    """
    root = root_term(mismatch, constants)
    return Terms(root=root, linear=0 * root, generalisation=deviation_term(inverse_effective, constants))


def memory_round(stale: Any, constants: Constants) -> Terms:
    r"""\(5.2B\sqrt{\mathrm{Pdim}\,\sum w_i^2}\) over the samples that are not fresh, an upper bound
    (`thm:regret-neff/memory`); `stale` is that sum of squares, see `stale_weight`.

    >>> memory_round(Fraction(1, 4), Constants(D=1, sigma=3, eta=1, B=1, Pdim=1)).total
    Fraction(13, 5)
    """
    deviation = deviation_term(stale, constants)
    return Terms(root=0 * deviation, linear=0 * deviation, generalisation=deviation)


def stale_weight(fresh: Sequence[Any], sizes: Sequence[Any], shares: Sequence[Any] | None = None) -> Any:
    r"""\(\sum_mw_m^2(n_m-\lambda_m)/n_m^2\): squared weights of the samples in memory that are not fresh; exact.

    One entry per client: λ_m admitted in this round, n_m in memory with these, weight w_m. Without `shares` the
    weights are \(n_m/n\), for one common distribution, and it is \((n-\Lambda)/n^2\).

    >>> stale_weight([1, 1], [2, 4]), stale_weight([1, 1], [2, 4], shares=[Fraction(1, 2)] * 2)
    (Fraction(1, 9), Fraction(7, 64))
    """
    same_length(fresh=fresh, sizes=sizes, **({} if shares is None else {"shares": shares}))
    if any(is_zero(size) for size in sizes):
        raise SettingError("every client needs a sample in memory: leave out one that trains on nothing")
    whole = sum(sizes)
    weights = [ratio(size, whole) for size in sizes] if shares is None else shares
    return sum(
        ratio(w * w * (size - new), size * size) for w, new, size in zip(weights, fresh, sizes, strict=True)
    )


def stale_weight_constant(K: Any, t: Any, rate: Any) -> Any:
    r"""\(\frac{k-1}{k^2\bar\Lambda}\), \(k=\min(K,t)\): the same under constant admission, every t >= 1; exact.

    With shares α_m of the population it is the same if client m admits \(\alpha_m\bar\Lambda\).

    >>> stale_weight_constant(2, 5, 3)
    Fraction(1, 12)
    """
    k = minimum(wide(t), K)
    return ratio(k - 1, k * k * rate)


def sharper_constant_round(K: Any, t: Any, rate: Any, constants: Constants) -> Terms:
    """Round t of the sharper bound under constant admission, for every t >= 1; an upper bound.

    >>> sharper_constant_round(1, 4, 1, Constants(D=1, sigma=1, eta=1, B=1, Pdim=1)).generalisation
    Fraction(13, 5)
    """
    return sharper_round(mismatch_constant(K, t, rate), inverse_effective_constant(K, t, rate), constants)


def memory_constant_round(K: Any, t: Any, rate: Any, constants: Constants) -> Terms:
    """Round t of the memory's bound under constant admission, for every t >= 1; an upper bound, 0 for K = 1.

    >>> memory_constant_round(2, 5, 1, Constants(D=1, sigma=1, eta=1, B=1, Pdim=1)).total
    Fraction(13, 5)
    """
    return memory_round(stale_weight_constant(K, t, rate), constants)


# --- T rounds ------------------------------------------------------------------------------------------------


def sharper_1(N: Any, uniformity: Any, mismatch: Any, constants: Constants) -> Bound:
    r"""\(\frac{D^2}{2\eta E}+\frac T2\eta EG^2+\sum_t[D\sigma\sqrt\chi+5.2B\sqrt{\mathrm{Pdim}/N_{\mathrm{eff}}}]\),
    an upper bound (`thm:regret-neff/sharper`), for per-round lists or arrays as
    `theory.reuse.trajectories.trajectory` makes them.

    >>> sharper_1([4], [1], [0], Constants(D=1, sigma=1, eta=1, B=1, Pdim=1, G=1)).total
    Fraction(18, 5)
    """
    return add_up(
        lambda N_t, V_t, chi_t: sharper_round(chi_t, ratio(1, N_t * V_t), constants),
        {"N": N, "uniformity": uniformity, "mismatch": mismatch},
        initial=initial_term(constants.merged),
        constant=step_constant(constants),
    )


def memory_1(stale: Any, constants: Constants) -> Bound:
    r"""\(\frac{D^2}{2\eta E}+\frac T2\eta EG^2+5.2B\sum_t\sqrt{\mathrm{Pdim}\,\sum_mw_m^2(n_m-\lambda_m)/n_m^2}\), an
    upper bound (`thm:regret-neff/memory`); `stale` has one entry per round, made by `stale_weight`.

    >>> memory_1([0, Fraction(1, 4)], Constants(D=1, sigma=1, eta=1, B=1, Pdim=1, G=1)).total
    Fraction(41, 10)
    """
    return add_up(
        lambda stale_t: memory_round(stale_t, constants),
        {"stale": stale},
        initial=initial_term(constants.merged),
        constant=step_constant(constants),
    )


def sharper_constant_bound(
    K: Any, rate: Any, T: Any, constants: Constants, *, certified: bool = False
) -> Bound:
    """The sharper bound over T rounds of constant admission, T to 10^15; with `certified`, its terms are balls.

    >>> unit = Constants(D=1, sigma=1, eta=1, B=1, Pdim=5)
    >>> round(sharper_constant_bound(10, 10, 10**9, unit).terms.root)
    99999998
    """
    return constant_sum(sharper_constant_round, K, rate, T, constants, certified)


def memory_constant_bound(
    K: Any, rate: Any, T: Any, constants: Constants, *, certified: bool = False
) -> Bound:
    """The memory's bound over T rounds of constant admission, T to 10^15; with `certified`, its terms are balls.

    >>> unit = Constants(D=1, sigma=1, eta=1, B=1, Pdim=5)
    >>> [round(memory_constant_bound(K, 5, 10**9 + 1, unit).total, 1) for K in (1, 2)]
    [0.5, 2600000000.5]
    """
    return constant_sum(memory_constant_round, K, rate, T, constants, certified)


def constant_sum(
    one_round: Callable[..., Terms], K: Any, rate: Any, T: Any, constants: Constants, certified: bool
) -> Bound:
    """A bound whose rounds are `one_round`, over T rounds."""
    K, T = retention(K), horizon(T)
    positive("the admission rate", rate)
    system = number_system(certified)
    numbers, rate = constants.map(system), system(rate)
    result = sum_rounds(lambda t: one_round(K, t, rate, numbers), T, filling_breaks(K), certified=certified)
    with precise() if certified else nullcontext():
        return with_constants(result, step_constant(numbers) * T, initial_term(numbers.merged))
