r"""The repaired comparison penalty is an upper bound for every history inside the region.

Its pieces are the penalty's terms at \(n_{\min}\), \(N_{\max}\) and \(N_{\min}\), and each term is monotone in these.
"""

from proofs_check.prelude import *

from proofs_check.groundwork.control.region_ends import corners, placed, plain, s, switched

CASES = {"$t=K+s$": (K, K + s), "$K=t+s$": (t + s, t)}  # every pair (K, t), twice at t = K
# no two alike, so that none can take another's place; B small, so that the first two terms show
UNLIKE = Constants(D=3, sigma=2, eta=Fraction(1, 5), B=Fraction(1, 50), Pdim=2)


def ends(window: Any, now: Any) -> tuple[Any, Any, Any]:
    """n_min, N_max and N_min in round `now` when the memory reaches back `window` rounds."""
    low, high = region_minimum_total(REGION, now), region_maximum_total(REGION, now)
    return low - region_minimum_total(REGION, now - window + 1) + rate, high + rate, low + rate


def mismatch(terms: Terms) -> Any:
    """The 1/n - 1/N that a penalty's second term is of."""
    return terms.linear / linear_term(1, CONSTANTS)


def term_by_term(terms: Terms, gap: Any, third: Any, now: Any, case: str) -> Evidence:
    """That a form of p̄^CK has this 1/n - 1/N in its first two terms, and this third term, symbol by symbol."""
    found = mismatch(terms)
    return argument(
        (plain(found, now), plain(gap, now), "the second term's $1/n-1/N$ and the one given"),
        (terms.root, root_term(found, CONSTANTS), "the first term and that of the second's $1/n-1/N$"),
        (terms.generalisation, third, "the third term and the one given"),
        domain=rf"{case}, every $\rho$, $\bar\Lambda$ and constants",
    )


@cache
def pieces_at_the_ends() -> Evidence:
    """theory's three pieces, for t >= K and for t <= K."""
    found = []
    for case, (horizon, now) in CASES.items():
        held, most, fewest = ends(sp.Min(horizon, now), now)
        terms = penalty_comparison(horizon, now, REGION, CONSTANTS)
        third = generalisation_term(1 / fewest, fewest, CONSTANTS)
        found.append(term_by_term(terms, 1 / held - 1 / most, third, now, case))
    return together(*found)


def first_terms_move() -> Evidence:
    """1/n - 1/N falls in n and grows in N; the root and the linear term grow in it."""
    fewer, more, low, high = sp.symbols("fewer more low high", positive=True)
    terms, given = penalty_terms(n, N, CONSTANTS), ([low <= high], r"every constant, $0<$ low $\le$ high")
    root, linear = (
        sp.Le(term(low, CONSTANTS), term(high, CONSTANTS), evaluate=False)
        for term in (root_term, linear_term)
    )
    ends = "every $n$ at or above its lower end, $N$ at or below its upper end"
    return argument(
        (mismatch(terms), 1 / n - 1 / N, "what the penalty's second term is of and $1/n-1/N$"),
        (terms.root, root_term(mismatch(terms), CONSTANTS), "the first term and the root of the same"),
        (1 / n - 1 / N <= 1 / fewer - 1 / more, [n >= fewer, more >= N], ends),
        (root, *given),
        (linear, *given),
        domain="every $n$, $N$",
    )


def third_term_falls() -> Evidence:
    """On N = Pdim(1+w) its slope in w is negative; on N = Pdim/(1+w) it is 10B√(1+w), which falls as N grows."""
    P, B, w = CONSTANTS.Pdim, CONSTANTS.B, sp.Symbol("w", positive=True)
    above, below, at = (penalty_terms(n, N, CONSTANTS).generalisation for N in (P * (1 + w), P / (1 + w), P))
    L = log(1 + w)
    slope = 5 * B * L / ((1 + w) * sp.sqrt((1 + w) * (1 + L)))
    if not slope.is_positive:
        return undecided("identity", f"the sign of {slope} is open", domain=r"$N>\mathrm{Pdim}$")
    return argument(
        (-sp.diff(above, w), slope, r"the third term's negative slope above $\mathrm{Pdim}$"),
        (below, 10 * B * sp.sqrt(1 + w), r"the third term below $\mathrm{Pdim}$"),
        (at, 10 * B, r"the third term at $N=\mathrm{Pdim}$ and $10B$"),
        domain="every $N$, below and above $\\mathrm{Pdim}$, and at it, where the two meet",
    )


@everywhere(
    "every history at the ends of two regions, the first 5 rounds (fully: 9), $K=1$, 2, 3, 7",
    region=(Region(rate=3, rho=Fraction(1, 2)), Region(rate=Fraction(3, 2), rho=Fraction(4, 5))),
    K=(1, 2, 3, 7),
    t=by_profile(range(1, 6), range(1, 10)),
)
def never_exceeded(K: int, t: int, region: Region) -> Found:
    """No term of the penalty is above theory's piece, after any of the 2^(t-1) extreme histories, exactly."""
    bound = penalty_comparison(K, t, region, UNLIKE)
    for positions in corners(t - 1):
        held, seen = switched(placed(region, positions), K, region.rate)
        terms = penalty_terms(held, seen, UNLIKE)
        for name in PER_ROUND:
            value, limit = getattr(terms, name), getattr(bound, name)
            if value == limit:
                continue
            small, large = (ball(sp.N(x, 40) if isinstance(x, sp.Expr) else x) for x in (value, limit))
            if not small < large:  # unequal exact numbers: balls tell them apart
                return {"positions": positions, "n^C": held, "N^C": seen, name: value, "bound": limit}
    return None


PIECES = (pieces_at_the_ends, confirming(never_exceeded))
