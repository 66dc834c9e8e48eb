r"""Reuse of samples: counts, uniformity, effective sample size, gradient mismatch.

By round t, after training, a sample admitted in round j has been used \(\min(t-j+1,K)\) times: a round admits,
then trains, then drops what has been used K times. Everything here follows from these counts \(A_i\):

* uniformity \(\widetilde V=(\sum A_i)^2/(N\sum A_i^2)\) and effective size \(N_{\mathrm{eff}}=N\widetilde V\)
  (Kish's: \(1/\sum\omega_i^2\) for the weights \(\omega_i=A_i/\sum A_j\));
* mismatch \(\chi=\sum_i(\omega_i-\mathbf 1\{i\in Q\}/n)^2=1/n+1/N_{\mathrm{eff}}-2W_Q/n\), where Q is the
  memory, n its size and \(W_Q\) its weight. At a fixed θ the squared distance between the gradient over all
  samples and the gradient over the memory has mean exactly \(\chi\) times the per-sample variance.
"""

from collections.abc import Sequence
from typing import Any

from theory.numbers.algebra import minimum, ratio
from theory.setting import SettingError, is_zero, not_negative, retention, same_length

__all__ = ["boundary_deficits", "cohort_deficits", "effective_from_sums", "effective_sample_size"]
__all__ += ["mismatch_from_sums", "mismatch_kstep", "uniformity", "uniformity_from_deficits"]
__all__ += ["uniformity_kstep", "uses_in_memory", "uses_kstep"]


def effective_from_sums(uses: Any, squares: Any) -> Any:
    r"""\(N_{\mathrm{eff}}=(\sum A_i)^2/\sum A_i^2\) from the two sums (`eq:Neff-def`, `eq:omega-l2`); exact.

    >>> effective_from_sums(5, 9)
    Fraction(25, 9)
    """
    return ratio(uses * uses, squares)


def mismatch_from_sums(n: Any, uses: Any, squares: Any, in_memory: Any) -> Any:
    r"""\(\chi=1/n+1/N_{\mathrm{eff}}-2W_Q/n\) for any retention rule, from \(\sum A_i\), \(\sum A_i^2\) and the uses
    \(\sum_{i\in Q}A_i\) of the n samples in memory (corrects `eq:sigma-bar-Neff-app`); exact.

    >>> mismatch_from_sums(2, uses=5, squares=9, in_memory=3)
    Fraction(13, 50)
    """
    return ratio(1, n) + ratio(squares, uses * uses) - ratio(2 * in_memory, uses * n)


def uses_in_memory(n: Any, uses: Any, inverse_effective: Any, mismatch: Any) -> Any:
    r"""\(\sum_{i\in Q}A_i=\tfrac12n\sum A_i\,(1/n+1/N_{\mathrm{eff}}-\chi)\), the uses of the samples in memory from χ:
    the inverse of `mismatch_from_sums`; exact.

    >>> uses_in_memory(2, 5, Fraction(9, 25), mismatch_from_sums(2, uses=5, squares=9, in_memory=3))
    Fraction(3, 1)
    """
    return ratio(n * uses * (ratio(1, n) + inverse_effective - mismatch), 2)


def effective_sample_size(counts: Sequence[Any]) -> Any:
    r"""\(N_{\mathrm{eff}}=(\sum A_i)^2/\sum A_i^2\) of any reuse counts (`eq:Neff-def`, `eq:omega-l2`); exact.

    >>> effective_sample_size([2, 2, 1])
    Fraction(25, 9)
    """
    same_length(counts=counts)
    used = sum(not_negative("the reuse counts", counts))
    if is_zero(used):
        raise SettingError("the reuse counts must not all be zero: no sample has been used")
    return effective_from_sums(used, sum(a * a for a in counts))


def uniformity(counts: Sequence[Any]) -> Any:
    r"""\(\widetilde V=\bar A^2/(\bar A^2+\mathrm{Var}A)\) with the variance over N, not N-1
    (`eq:Vtilde-def-body`); exact, in (0, 1].

    >>> uniformity([2, 1])
    Fraction(9, 10)
    """
    return ratio(effective_sample_size(counts), len(counts))


# --- K-step retention, any admissions ----------------------------------------------------------------------


def _ages(admissions: Sequence[Any], K: Any) -> tuple[int, list[tuple[int, Any]]]:
    """K, and the pairs (uses so far, samples) of the admissions still in memory, newest first."""
    K = retention(K)
    same_length(admissions=not_negative("admissions", admissions))
    return K, [(age, admissions[-age]) for age in range(1, min(K, len(admissions)) + 1)]


def _distinct(admissions: Sequence[Any]) -> Any:
    same_length(admissions=admissions)
    N = sum(not_negative("admissions", admissions))
    if is_zero(N):
        raise SettingError("no sample has been admitted (N = 0), so reuse is undefined: admit at least one")
    return N


def uses_kstep(age: Any, K: Any) -> Any:
    r"""Uses of a sample by the end of its age-th round, \(\min(t-j+1,K)\) if it was admitted in round j
    (`eq:age-evolution` with `eq:kstep-drop`, the drop after the training); exact.

    >>> uses_kstep(3, 5), uses_kstep(8, 5)
    (3, 5)
    """
    return minimum(age, K)


def cohort_deficits(age: Any, K: Any) -> tuple[Any, Any]:
    r"""Deficits of a sample of this age, to K uses and to \(K^2\): the weights in `eq:boundary-deficit-1` and
    `eq:boundary-deficit-2`; exact, and 0 from age K on.

    >>> cohort_deficits(1, 3), cohort_deficits(4, 3)
    ((2, 8), (0, 0))
    """
    uses = uses_kstep(age, K)
    return K - uses, K * K - uses * uses


def boundary_deficits(admissions: Sequence[Any], K: Any) -> tuple[Any, Any]:
    r"""The deficits \(D^{(1)}_\partial,D^{(2)}_\partial\) of the last K-1 admissions
    (`eq:boundary-deficit-1`, `eq:boundary-deficit-2`), with no admissions before round 1; exact.

    >>> boundary_deficits([1, 1, 1], K=3)
    (3, 13)
    """
    K, memory = _ages(admissions, K)
    weighted = ([lacking * samples for lacking in cohort_deficits(age, K)] for age, samples in memory)
    first, second = map(sum, zip(*weighted, strict=True))
    return first, second


def uniformity_from_deficits(N: Any, first: Any, second: Any, K: Any) -> Any:
    r"""\(\widetilde V=(KN-D^{(1)}_\partial)^2/(N(K^2N-D^{(2)}_\partial))\) (`eq:kstep-vtilde-exact`); exact.

    >>> uniformity_from_deficits(3, 3, 13, K=3)
    Fraction(6, 7)
    """
    return ratio((K * N - first) ** 2, N * (K * K * N - second))


def uniformity_kstep(admissions: Sequence[Any], K: Any) -> Any:
    r"""\(\widetilde V(t)\) after the last of the given admissions (`eq:kstep-vtilde-exact`); exact for every
    sequence with N > 0, the first K-1 rounds included.

    >>> uniformity_kstep([1, 1], K=2)
    Fraction(9, 10)
    """
    K, N = retention(K), _distinct(admissions)
    first, second = boundary_deficits(admissions, K)
    return uniformity_from_deficits(N, first, second, K)


def mismatch_kstep(admissions: Sequence[Any], K: Any) -> Any:
    r"""The gradient mismatch \(\chi(t)\) after the last of the given admissions; exact.

    It replaces the printed \(1/n-1/N_{\mathrm{eff}}\) of `eq:sigma-bar-Neff-app`.

    >>> mismatch_kstep([1, 1, 1], K=2)
    Fraction(13, 50)
    """
    N = _distinct(admissions)
    K, memory = _ages(admissions, K)
    first, second = boundary_deficits(admissions, K)
    n = sum(samples for _, samples in memory)
    if is_zero(n):
        raise SettingError("the memory is empty after the last admissions, so the mismatch is undefined")
    in_memory = sum(uses_kstep(age, K) * samples for age, samples in memory)
    return mismatch_from_sums(n, K * N - first, K * K * N - second, in_memory)
