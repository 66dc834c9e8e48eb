r"""Two-sided bounds on every round's terms and on the regret, from the region alone (proved in `every_policy`).

Their distance is \(O(x)+O(t^{-2})\), so that the two bounds of the regret differ by a bounded number.
"""

from itertools import combinations

from proofs_check.prelude import *

from proofs_check.groundwork.control.orders import HORIZONS, RATIONAL
from theory.bound.constant_admission import sum_rounds
from theory.bound.theorem1 import Bound
from theory.control.region import contraction
from theory.numbers.algebra import minimum, positive_part, ratio
from theory.numbers.lambert import lambert_total

USUAL = Region(rate=10, rho=Fraction(9, 10))
lag, lambert_sum = sp.symbols("lag S", positive=True)  # ρ/(1-ρ) and the Lambert sum


def three(terms: Terms) -> Any:
    """The three terms of a bound, without the constants, which cancel in a regret."""
    return terms.root + terms.linear + terms.generalisation


def bound_of(admitted: Any, K: int, constants: Constants) -> Bound:
    """The corrected bound of a path of admissions."""
    path = trajectory(admitted, K)
    return theorem_1(path.n, path.N, path.uniformity, path.mismatch, constants)


def mismatch_range(k: Any, x: Any, rate: Any, fewest: Any, most: Any, *, stated: bool) -> tuple[Any, Any]:
    """Bounds on 1/n - 1/N_eff (stated) or χ, for admissions in memory within a factor 1 - x of the rate,
    N(s) >= `fewest` and N(t) <= `most`. A larger x, a smaller `fewest` and a larger `most` widen them.
    """
    low, high = ratio(1 - x, k * rate), ratio(1, k * rate * (1 - x))
    if stated:
        return low - ratio(1, fewest), high - ratio(1, most)
    most_weight = ratio(k + 1, k * (1 - x) ** 2 * fewest)
    least_weight = ratio((k + 1) * (1 - x) ** 2, k * most)
    return low + ratio(1, most) - most_weight, high + ratio(1, fewest) - least_weight


def _terms_range(
    mismatches: tuple[Any, Any], fewest: Any, most: Any, constants: Constants
) -> tuple[Terms, Terms]:
    low, high = mismatches
    below, above = ratio(1, most), ratio(1, fewest)  # of 1/N_eff
    return round_terms(low, below, most, constants), round_terms(high, above, most, constants)


def round_range(
    K: Any, t: Any, region: Region, lambert: Any, constants: Constants, *, stated: bool
) -> tuple[Terms, Terms]:
    """Bounds on round t for every policy inside the region; `lambert` is at least the Lambert sum to t."""
    k = minimum(t, K)
    oldest = t - k + 1
    fewest, most = region_minimum_total(region, oldest + 1), region.rate * (t + lambert)
    low, high = mismatch_range(k, 1 - contraction(region, oldest), region.rate, fewest, most, stated=stated)
    return _terms_range((low if stated else positive_part(low), high), fewest, most, constants)


def eventual_range(K: Any, t: Any, rate: Any, constants: Constants, *, stated: bool) -> tuple[Terms, Terms]:
    r"""The bounds of `round_range` for all large t in powers of t: \(\rho^s\le t^{-2}\), and N(s) is at least
    \(\bar\Lambda(s-\mathrm{lag})\) with lag = ρ/(1-ρ).
    """
    fewest, most = rate * (t - K + 1 - lag), rate * (t + lambert_sum)
    return _terms_range(mismatch_range(K, t**-2, rate, fewest, most, stated=stated), fewest, most, constants)


def summed(make_round: Callable[[Any], Terms], K: int, T: int) -> Terms:
    """A round's formula summed over T rounds, in balls. Differences are taken of sums, never summed: they cancel."""
    return sum_rounds(make_round, T, (1, K - 1, K, K + 1), certified=True).terms


@cache
def bound_end(K: int, region: Region, T: int, constants: Constants, *, stated: bool, upper: bool) -> Any:
    """A ball below (or above) the three terms of the bound, over T rounds of every policy inside the region."""
    with precise():
        exact, numbers = region.map(ball), (constants if stated else constants.merged).map(ball)
        lambert = lambert_total(exact.rho)
        return three(summed(lambda t: round_range(K, t, exact, lambert, numbers, stated=stated)[upper], K, T))


@cache
def regret_end(K: int, region: Region, T: int, constants: Constants, *, stated: bool, upper: bool) -> Any:
    """A ball below (or above) Reg(T) of every policy inside the region, with ΣB = KΛ̄; certified."""
    oracle = oracle_bound_as_stated if stated else oracle_bound
    with precise():
        ours = bound_end(K, region, T, constants, stated=stated, upper=upper)
        return ours - three(oracle(K * region.rate, T, constants, certified=True).terms)


def spread(K: int, region: Region, T: int, constants: Constants, *, stated: bool) -> Any:
    """Largest difference of the bounds of two policies inside the region after T rounds."""
    with precise():
        low, high = (bound_end(K, region, T, constants, stated=stated, upper=end) for end in (False, True))
        return high - low


def within_the_spread(points: Iterable[Mapping[str, int]]) -> Evidence:
    """Both ends of the regret's range are at these K, T and 1/(1-ρ) within the spread's bound of the expansion."""
    numbers = RATIONAL.map(ball)

    def region(p: Any) -> Region:
        return Region(rate=10, rho=1 - Fraction(1, p["1/(1-rho)"]))

    def farthest(p: Any) -> Any:
        expansion = regret_expansion(ball(p["K"]), ball(10), ball(p["T"]), numbers)
        below, above = (
            abs(regret_end(p["K"], region(p), p["T"], RATIONAL, stated=False, upper=upper) - expansion)
            for upper in (False, True)
        )
        return below.max(above)

    return compare(
        farthest,
        "<=",
        lambda p: spread_bound(p["K"], region(p).map(ball), numbers).total,
        points,
        domain=r"every policy inside the region, $\bar\Lambda=10$, rational constants, with $\chi$: "
        r"$|\mathrm{Reg}-\text{expansion}|$ is at most the bound on the spread",
    )


def settles(
    context: Context, rest: Callable[[int, int], Any], third: Callable[[Any], Any], of: str
) -> Evidence:
    """From T to T' a difference d = `rest`(K, T) changes by at most K third terms at N = 10T: a Cauchy sequence."""
    horizons = context.choose((10**3, 10**9, 10**15), HORIZONS)
    return compare(
        lambda p: abs(rest(p["K"], p["T'"]) - rest(p["K"], p["T"])),
        "<=",
        lambda p: p["K"] * third(ball(10 * p["T"])),
        [
            {"K": k, "T": a, "T'": b}
            for k in context.choose((3,), (2, 3, 10))
            for a, b in combinations(horizons, 2)
        ],
        domain=rf"constant admission, $\bar\Lambda=10$, rational constants: $|d(T')-d(T)|$, $d$ {of}",
    )
