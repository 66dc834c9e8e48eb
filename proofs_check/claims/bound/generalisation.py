"""The uniform deviation between the population risk and the reuse-weighted empirical risk (`lem:gen-Neff-app`)."""

from itertools import combinations, permutations

from proofs_check.prelude import *

from proofs_check.groundwork.bound.chaining import CONSTANT, HAUSSLER, proved_constant, rounded_up
from proofs_check.groundwork.bound.population import deviation_is_below, deviation_is_covered

B, PDIM = CONSTANTS.B, CONSTANTS.Pdim
FROM_PDIM_ON = PDIM * (1 + sp.Symbol("more", nonnegative=True))  # any N >= Pdim
DEVIATION = r"E\sup_\theta|F_P-\widehat F^{all}|\le@bound"


def _of_class(B: Any, Pdim: int) -> Constants:
    return Constants(D=1, sigma=1, eta=1, B=B, Pdim=Pdim).map(ball)


def _printed_at(N: int, B: int, Pdim: int) -> Any:
    """A ball, at N_eff = N."""
    return generalisation_term_as_printed(ball(Fraction(1, N)), ball(N), _of_class(B, Pdim))


def as_printed() -> Evidence:
    """Theory's term is the printed one, typed once more from the paper, with log⁺ for every N and log from Pdim on."""
    lead = 10 * B * sp.sqrt(PDIM * inverse_neff)
    plus, plain = (lead * sp.sqrt(1 + sp.log(x)) for x in (sp.Max(1, N / PDIM), FROM_PDIM_ON / PDIM))
    anywhere, large = (generalisation_term(inverse_neff, size, CONSTANTS) for size in (N, FROM_PDIM_ON))
    own = generalisation_term_as_printed(inverse_neff, FROM_PDIM_ON, CONSTANTS)
    return argument(
        (anywhere, plus, r"theory's term and the printed one with $\log^+$"),
        (large, plain, r"theory's term from $N=\mathrm{Pdim}$ on and the printed one"),
        (own, plain, "theory's printed term and the paper's"),
        domain=r"every $B$, $\mathrm{Pdim}$, $N_{\mathrm{eff}}$, $N>0$",
    )


# --- exact means of suprema, samples uniform on [0, 1]: rational for rational weights ----------------------


def _chance(low: Sequence[Fraction], high: Sequence[Fraction]) -> Fraction:
    """P(low_k <= U_(k) <= high_k for all k), order statistics of uniform samples: points counted cell by cell."""
    N = len(low)
    if any(b <= 0 for b in high):  # before the first cell
        return Fraction(0)
    ways = [Fraction(1)] + [Fraction(0)] * N
    for left, right in pairwise(sorted({Fraction(0), Fraction(1), *low, *high})):
        width = right - left
        least, most = sum(b <= right for b in high), sum(a < right for a in low)
        ways = [
            sum((ways[i] * width ** (c - i) / factorial(c - i) for i in range(c + 1)), Fraction(0))
            if least <= c <= most
            else Fraction(0)
            for c in range(N + 1)
        ]
    return factorial(N) * ways[N]


@cache
def _quadrature(degree: int) -> tuple[Fraction, ...]:
    """Weights at 0, 1/degree, …, 1 that integrate every polynomial of that degree over [0, 1] exactly."""
    x = sp.Symbol("x")
    nodes = [sp.Rational(i, degree) for i in range(degree + 1)]
    basis = (sp.prod((x - b) / (a - b) for b in nodes if b != a) for a in nodes)
    return tuple(Fraction(str(sp.integrate(sp.expand(b), (x, 0, 1)))) for b in basis)


def _mean(chance: Callable[[Fraction], Fraction], corners: Iterable[Fraction], degree: int) -> Fraction:
    """E S for 0 <= S <= 1, from P(S <= s), a polynomial of that degree between the corners."""
    ends = sorted({Fraction(0), Fraction(1), *(c for c in corners if 0 < c < 1)})
    weights = _quadrature(degree)
    total = Fraction(0)
    for left, right in pairwise(ends):
        width = right - left
        total += width * sum(w * (1 - chance(left + width * i / degree)) for i, w in enumerate(weights))
    return total


def _clip(x: Fraction) -> Fraction:
    return min(max(x, Fraction(0)), Fraction(1))


def _over_orders(weights: Sequence[Fraction], mean_in: Callable[[list[Fraction]], Fraction]) -> Fraction:
    """The weights meet the sorted samples in every order, equally often."""
    orders = list(permutations(weights))
    distinct = {order: orders.count(order) for order in set(orders)}
    found = (count * mean_in([Fraction(0), *accumulate(order)]) for order, count in distinct.items())
    return sum(found, Fraction(0)) / len(orders)


def kolmogorov_mean(weights: Sequence[Fraction]) -> Fraction:
    """E sup_x |x - Σ ω_i 1{z_i <= x}|, samples uniform on [0, 1]; exact.

    >>> kolmogorov_mean([Fraction(1)])
    Fraction(3, 4)
    """

    def of_order(W: list[Fraction]) -> Fraction:
        def chance(s: Fraction) -> Fraction:
            return _chance([_clip(w - s) for w in W[1:]], [_clip(w + s) for w in W[:-1]])

        corners = {*W, *(1 - w for w in W), *((b - a) / 2 for a, b in combinations(W, 2))}
        return _mean(chance, corners, len(weights))

    return _over_orders(weights, of_order)


def kuiper_mean(weights: Sequence[Fraction]) -> Fraction:
    """E sup |(b - a) - Σ ω_i 1{a <= z_i <= b}| over intervals, samples uniform on [0, 1]; exact.

    The supremum is that of W - U plus that of U - W over the sorted samples.

    >>> kuiper_mean([Fraction(1)])
    Fraction(1, 1)
    """
    N = len(weights)
    zeros, ones = [Fraction(0)] * N, [Fraction(1)] * N

    def of_order(W: list[Fraction]) -> Fraction:
        above = _mean(lambda s: _chance([_clip(w - s) for w in W[1:]], ones), W, N)
        below = _mean(lambda s: _chance(zeros, [_clip(w + s) for w in W[:-1]]), (1 - w for w in W), N)
        return above + below

    return _over_orders(weights, of_order)


# --- the deviation -----------------------------------------------------------------------------------------

# reuse counts: equal ones, those of K-step retention, and one that outweighs the others
COUNTS = [(1,), (1, 1, 1), (2, 2, 2, 1), (97, 1, 1, 1)]
MORE_COUNTS = [(1,) * 6, (3, 3, 2, 1), (3, 3, 3, 2, 1), (996, 1, 1, 1, 1)]
CLASSES = {"thresholds": (1, kolmogorov_mean), "intervals": (2, kuiper_mean)}  # Pdim, the mean supremum


def exact_suprema(context: Context) -> Evidence:
    """Exact means of the supremum, up to 0.89 of √(Pdim/N_eff), against 5.2 of it."""

    def right(p: Any) -> Any:
        size, Pdim = Fraction(effective_sample_size(p["counts"])), CLASSES[p["class"]][0]
        return deviation_term(ball(1 / size), _of_class(1, Pdim))

    return compare(
        lambda p: ball(CLASSES[p["class"]][1]([Fraction(a, sum(p["counts"])) for a in p["counts"]])),
        "<=",
        right,
        grid(**{"class": CLASSES, "counts": COUNTS + context.choose([], MORE_COUNTS)}),
        domain="thresholds and intervals, weights from reuse and extreme",
    )


def at_least_one_is_needed() -> Evidence:
    """Sets of at most d points, d samples: the supremum is B = 1·B√(Pdim/N_eff), and the bound covers it."""
    d, C = sp.symbols("d constant", positive=True)
    bound = deviation_term(1 / d, Constants(D=1, sigma=1, eta=1, B=B, Pdim=d))
    with_constant = bound * C * CONSTANT.denominator / CONSTANT.numerator
    covers = sp.Le(B, bound, evaluate=False)
    return argument(
        (covers, [], "every $B$ and $d$: the bound is not below the supremum"),
        (sp.Implies(with_constant >= B, C >= 1), [], "a constant that covers these classes is at least 1"),
    )


def _square(bound: Any) -> Any:
    """In units of B², at N_eff = N."""
    return bound(1 / N, N, CONSTANTS) ** 2 / B**2


def decreasing_with_log_plus() -> Evidence:
    """Below Pdim log⁺ is 0 and the square falls as 1/N; beyond it is the printed one."""
    square, corner = _square(generalisation_term), sp.Max(1, N / PDIM)
    if not square.has(corner):
        raise ValueError(f"log⁺(N/Pdim) is not in {square}")
    falls = sp.Lt(sp.diff(square.subs(corner, 1), N), 0, evaluate=False)
    return argument(
        (falls, [], r"$N\le\mathrm{Pdim}$, where $\log^+$ is 0"),
        (square.subs(corner, N / PDIM), _square(generalisation_term_as_printed), "the square and as printed"),
        domain=r"$N\ge\mathrm{Pdim}$",
    )


TERM = generalisation_term_as_printed(inverse_neff, N, CONSTANTS)
PROVED = decimal(deviation_term(inverse_neff, CONSTANTS))


def slope_of_the_square() -> Evidence:
    """The slope of the printed term has the sign of -log(N/Pdim), so it is not positive from N = Pdim on."""
    return equal(
        sp.diff(_square(generalisation_term_as_printed), N) * N**2 / (100 * PDIM),
        -sp.log(N / PDIM),
        what=r"the slope of the square, times $N^2/(100\mathrm{Pdim})$, and $-\log(N/\mathrm{Pdim})$",
        domain=r"every $N$, $\mathrm{Pdim}>0$",
    )


CLAIMS = [
    Claim(
        id="lem:gen-Neff-app",
        kind="lemma",
        title="generalisation gap, constant 10",
        statement=said("The expected uniform deviation is at most $@bound$ in every round.", bound=TERM),
        formula=said(DEVIATION, bound=TERM),
        domain=r"losses in $[0,B]$, any weights that do not depend on the samples, any $N\ge1$",
        repair=r"Assume $N\ge\mathrm{Pdim}$, or write $\log^+$ for $\log$.",
        hypotheses=(r"$N\ge\mathrm{Pdim}$",),
        checks={
            "is within the term": (
                lambda: refutes(
                    compare(
                        # the square of the printed bound, at N_eff = N
                        lambda p: (
                            generalisation_term(ball(1), ball(p["Pdim"]), _of_class(1, p["Pdim"])) ** 2
                            * (1 + log(ball(Fraction(p["N"], p["Pdim"]))))
                        ),
                        "<",
                        lambda p: 0,
                        [{"N": 1, "Pdim": 3}],
                        domain=r"$N<\mathrm{Pdim}/e$",
                    ),
                    r"$1+\log(N/\mathrm{Pdim})$ is negative at $N=1$, $\mathrm{Pdim}=3$: the bound is not real",
                ),
                # under a continuous distribution 7 samples are a set of measure 0 and weight 1
                lambda: compare(
                    lambda p: p["B"],
                    "<=",
                    lambda p: _printed_at(p["N"], p["B"], p["Pdim"]),
                    [{"N": 7, "Pdim": 19, "B": 3, "class": "3 on at most 19 points of [0, 1], else 0"}],
                    domain=r"$\mathrm{Pdim}/e<N<\mathrm{Pdim}$, equal weights; the supremum is $B$",
                ),
            )
        },
        checks_with_hypotheses={
            "the term": as_printed,
            "the deviation, corrected": proved_constant,
            "is within the term": lambda: deviation_is_below(
                generalisation_term_as_printed(inverse_neff, FROM_PDIM_ON, CONSTANTS),
                r"every $N\ge\mathrm{Pdim}$",
            ),
        },
        given=(HAUSSLER, WRITTEN),
        sketch=r"For $N\ge\mathrm{Pdim}$ the correction's bound is at most the printed one, whose logarithm is not "
        "negative there.",
        corrected=Correction(
            title=said("$@bound$ for every $N$, no logarithm", bound=PROVED),
            statement=said(
                "The expected uniform deviation is at most $@bound$, for every $N$ and all weights. So 10 is enough "
                r"with $\log^+$ for $\log$, and the logarithm is not needed at all. No constant below 1 would do.",
                bound=PROVED,
            ),
            formula=said(DEVIATION, bound=PROVED),
            sketch=r"Write $d$ for $\mathrm{Pdim}$, $\omega$ for the weights, $N_{\mathrm{eff}}=1/\sum\omega^2$. (1) "
            "The weights add up to 1, so no deviation changes when $B/2$ is taken from each loss; symmetrised, "
            r"$\mathbb E\sup|F_P-\widehat F^{\mathrm{all}}|\le2\,\mathbb E\sup|X_f|$, "
            r"$X_f=\sum\omega_i\varepsilon_i(f(z_i)-B/2)$, $\varepsilon_i$ fair signs. (2) Given the samples, "
            r"$X_f-X_g$ is sub-Gaussian with variance proxy $\|f-g\|^2/N_{\mathrm{eff}}$, the norm that of $L_2(Q)$ "
            r"with $Q\propto\omega^2$. (3) In units of $B$, $\|f-g\|^2$ is at most the $L_1$ distance, so by "
            r"Haussler's Corollary 3 at most $e(d+1)(2e/\varepsilon^2)^d$ losses are pairwise more than "
            r"$\varepsilon$ apart; a maximal such set is within $\varepsilon$ of every loss. (4) Take such sets at "
            r"$\varepsilon_j=8^{-j}/2$, $j=1,2,\ldots$; the constant $B/2$ is within $\varepsilon_0=1/2$ of every "
            r"loss. Link each member of set $j$ to the nearest of set $j-1$: one link a member, $\varepsilon_{j-1}$ "
            "long at most, and the largest of $M$ sub-Gaussian variables and their negatives has mean at most "
            r"$\sqrt{2\log(2M)}$ times their scale. What is left after set $J$ is at most "
            r"$\sqrt{N/N_{\mathrm{eff}}}\cdot\varepsilon_J$, which tends to 0. (5) So the constant is twice the sum "
            r"over $j$ of $\varepsilon_{j-1}\sqrt{2h_j}$, $h_j=\log(2e(d+1)(2e/\varepsilon_j^2)^d)/d$. $h_j$ "
            "decreases in $d$, so $d=1$ is the worst case, where the sum, its tail bounded by a geometric series, "
            "gives 5.1524. From below: sets of at most $d$ points under a continuous distribution, $d$ samples: each "
            r"sample is a set of measure 0, the supremum is $B$, and $\sqrt{\mathrm{Pdim}/N_{\mathrm{eff}}}=1$.",
            hypotheses=(
                "samples are independent, of one distribution",
                "weights (admission and retention) do not look at sample values",
            ),
            checks={
                "the constant": (proved_constant, confirming(exact_suprema)),
                "what the proof gives, rounded up": rounded_up,
                r"10 is enough with $\log^+$": deviation_is_covered,
                "none below 1": at_least_one_is_needed,
            },
            given=(HAUSSLER, WRITTEN),
        ),
    ),
    Claim(
        id="lem:gen-Neff-app/decreasing",
        kind="step",
        title="more distinct samples, smaller bound",
        statement=r"The printed generalisation term decreases in $N$ when $N_{\mathrm{eff}}=N$.",
        formula=said(
            r"N\mapsto@bound\ \text{decreases}", bound=generalisation_term_as_printed(1 / N, N, CONSTANTS)
        ),
        domain=r"$N>\mathrm{Pdim}/e$, where it is real",
        repair=r"Assume $N\ge\mathrm{Pdim}$, or write $\log^+$ for $\log$.",
        hypotheses=(r"$N\ge\mathrm{Pdim}$",),
        checks_with_hypotheses=(slope_of_the_square,),
        checks=(
            lambda: compare(
                lambda p: _printed_at(p["N"] + 1, 2, p["Pdim"]),
                "<",
                lambda p: _printed_at(p["N"], 2, p["Pdim"]),
                [{"N": 2, "Pdim": 5}],
                domain=r"$\mathrm{Pdim}/e<N<\mathrm{Pdim}$; left is at $N+1$, right at $N$",
            ),
        ),
        corrected=Correction(
            title=r"decreases with $\log^+$, or from $N=\mathrm{Pdim}$ on",
            statement=r"With $\log^+$ in place of $\log$ it decreases for every $N>0$; the printed term rises up to "
            r"$N=\mathrm{Pdim}$ and decreases from there on.",
            formula=said(r"N\mapsto@bound\ \text{decreases}", bound=generalisation_term(1 / N, N, CONSTANTS)),
            sketch=r"The slope of the printed term's square has the sign of $-\log(N/\mathrm{Pdim})$. With $\log^+$ "
            r"the square falls as $1/N$ up to $N=\mathrm{Pdim}$, and is the printed one from there on.",
            checks={
                r"with $\log^+$": decreasing_with_log_plus,
                r"as printed, from $N=\mathrm{Pdim}$ on": slope_of_the_square,
            },
        ),
    ),
]
