"""Shared by the claims about control and regret: symbols, constants, regions, grids, evidence term by term."""

from proofs_check.prelude import *

t, T = sp.symbols("t T", positive=True)  # a real round and a real horizon, for limits and slopes
h = sp.Symbol("h", positive=True)  # 1/(1-ρ)
ALONG = Region(rate=rate, rho=1 - 1 / h)

UNIT = Constants(D=1, sigma=1, eta=1, B=1, Pdim=5)
ONES = replace(UNIT, Pdim=1)  # with Λ_min(1) >= 1 as printed: see printed_log
LIGHTER = replace(ONES, B=F(1, 100))
# all different, so that none stands in for another
RATIONAL = Constants(D=F(3, 2), sigma=F(4, 3), eta=F(1, 5), B=F(2, 7), Pdim=6, E=3)
ALL = r"every $K\ge1$, $\bar\Lambda$, $D$, $\sigma$, $\eta$, $E$, $B$, $\mathrm{Pdim}>0$"
ROOT = CONSTANTS.D * CONSTANTS.sigma / sp.sqrt(rate)  # units of the first two terms
LINEAR = CONSTANTS.eta * CONSTANTS.E * CONSTANTS.sigma**2 / rate
HORIZONS = tuple(10**e for e in (3, 6, 9, 12, 15))
SPREAD = Given("thm:dpp-regret/spread", "that bounds inside the region differ by spread_bound at most")


def links(*several: Callable[[], Evidence]) -> Callable[[], Evidence]:
    """One check from several links of an argument: it holds only if every one of them does."""
    return lambda: together(*(link() for link in several))


def terms_equal(
    found: Terms, expected: Terms, *, what: str, domain: str, names: Iterable[str] = PER_ROUND
) -> Evidence:
    """That each of these terms is the one expected."""
    rows = ((getattr(found, name), getattr(expected, name), f"{what}, {name} term") for name in names)
    return argument(*rows, domain=domain)


def terms_tend(
    found: Terms, expected: Terms, *, over: Any, what: str, domain: str, names: Iterable[str] = PER_ROUND
) -> Evidence:
    """That each of these terms, divided by `over`, tends to the one expected as h = 1/(1-ρ) grows."""
    rows = ((getattr(found, name) / over, h, getattr(expected, name), f"{what}, {name}") for name in names)
    return argument(*rows, domain=domain)


def added_by_hand(
    rounds: Iterable[tuple[tuple[Any, Any, Any], tuple[Any, Any, Any]]], *, stated: bool
) -> Terms:
    """The three terms of two sequences, written out, and their differences added up: mismatch, N_eff and N of each."""
    c, sums = RATIONAL if stated else RATIONAL.merged, [ball(0)] * 3
    for one, other in rounds:
        for sign, (mismatch, effective, N) in ((1, one), (-1, other)):
            inside = ball(c.Pdim / effective) * (1 + log_plus(ball(N / c.Pdim)))
            sums[0] += sign * ball(c.D * c.sigma) * sqrt(ball(max(mismatch, Fraction(0))))
            sums[1] += sign * ball(c.eta * c.sigma**2 * mismatch)
            sums[2] += sign * 10 * ball(c.B) * sqrt(inside)
    return Terms(*sums)


def as_by_hand(apart: dict[int, Terms], **at: Any) -> Evidence:
    """That no term of these differences between theory and a sum by hand, one for each K, is seen to differ from 0."""
    return compare(
        lambda p: abs(getattr(apart[p["K"]], p["term"])),
        "<=",
        lambda p: ball(Fraction(1, 10**15)),
        [{"K": k, **at, "term": name} for k in apart for name in PER_ROUND],
        domain=f"constants {RATIONAL}",
    )
