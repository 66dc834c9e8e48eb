r"""The uniform deviation between the population risk and the reuse-weighted empirical risk (`lem:gen-Neff-app`).

The printed bound \(10B\sqrt{\mathrm{Pdim}/N_{\mathrm{eff}}}\sqrt{1+\log(N/\mathrm{Pdim})}\) is not real for
\(N<\mathrm{Pdim}/e\), too small for some N below Pdim, and right from N = Pdim on. The chaining proof in
`groundwork/learning/chaining.py` gives \(5.2B\sqrt{\mathrm{Pdim}/N_{\mathrm{eff}}}\) for every N: no logarithm is
needed. No constant below 1 would do.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.claim import WRITTEN, Claim, Context, Correction, confirming
from proofs_check.engines.enclosure import compare
from proofs_check.engines.identity import equal
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, refutes, together
from proofs_check.groundwork.learning.chaining import CONSTANT, HAUSSLER, proved_constant, rounded_up
from proofs_check.groundwork.learning.suprema import kolmogorov_mean, kuiper_mean
from proofs_check.printing import decimal
from proofs_check.symbols import CONSTANTS, N, inverse_neff
from proofs_check.text import said
from theory.algebra import ball, log, ratio, sqrt
from theory.bound import deviation_term, generalisation_term
from theory.reuse import effective_sample_size
from theory.setting import Constants

B, PDIM = CONSTANTS.B, CONSTANTS.Pdim
_more = sp.Symbol("more", nonnegative=True)
FROM_PDIM_ON = PDIM * (1 + _more)  # any N >= Pdim


def printed(inverse_effective: Any, N: Any, constants: Constants) -> Any:
    """The bound with the printed logarithm: theory's, which has log⁺, at N = Pdim, times the root of 1 + log."""
    P = constants.Pdim
    return generalisation_term(inverse_effective, P, constants) * sqrt(1 + log(ratio(N, P)))


def _of_class(B: Any, Pdim: int) -> Constants:
    return Constants(D=1, sigma=1, eta=1, B=B, Pdim=Pdim)


# --- as printed --------------------------------------------------------------------------------------------


def not_real() -> Evidence:
    """One sample, pseudo-dimension 3: the square of the printed bound, at N_eff = N, is negative."""
    found = compare(
        lambda p: (
            generalisation_term(ball(1), ball(p["Pdim"]), _of_class(1, p["Pdim"]).map(ball)) ** 2
            * (1 + log(ball(Fraction(p["N"], p["Pdim"]))))
        ),
        "<",
        lambda p: 0,
        [{"N": 1, "Pdim": 3}],
        domain=r"$N<\mathrm{Pdim}/e$",
    )
    return refutes(
        found,
        r"$1+\log(N/\mathrm{Pdim})$ is negative at $N=1$, $\mathrm{Pdim}=3$: the bound "
        "is not a real number",
    )


def too_small_below_pdim() -> Evidence:
    """All sets of at most 19 points, under a continuous distribution: 7 samples are a set of measure 0, weight 1."""
    return compare(
        lambda p: p["B"],
        "<=",
        lambda p: printed(ball(Fraction(1, p["N"])), ball(p["N"]), _of_class(p["B"], p["Pdim"]).map(ball)),
        [
            {
                "N": 7,
                "Pdim": 19,
                "B": 3,
                "class": "3 times the indicators of sets of at most 19 points of [0, 1]",
            }
        ],
        domain=r"$\mathrm{Pdim}/e<N<\mathrm{Pdim}$, equal weights; the supremum is $B$",
    )


def as_printed() -> Evidence:
    """Theory's term is the printed one, typed once more from the paper, with log⁺ for every N and log from Pdim on."""
    lead = 10 * B * sp.sqrt(PDIM * inverse_neff)
    plus = equal(
        generalisation_term(inverse_neff, N, CONSTANTS),
        lead * sp.sqrt(1 + sp.log(sp.Max(1, N / PDIM))),
        what=r"theory's term and the printed one with $\log^{+}$",
        domain=r"every $B$, $\mathrm{Pdim}$, $N_{\mathrm{eff}}$, $N>0$",
    )
    plain = equal(
        generalisation_term(inverse_neff, FROM_PDIM_ON, CONSTANTS),
        lead * sp.sqrt(1 + sp.log(FROM_PDIM_ON / PDIM)),
        what="theory's term and the printed one",
        domain=r"$N=\mathrm{Pdim}(1+\ \text{more})$, more $\ge0$",
    )
    return together(plus, plain)


def _deviation_is_below(bound: Any, domain: str) -> Evidence:
    """5.2B√(Pdim/N_eff) is at most `bound`, whose logarithms are of numbers from 1 on."""
    one = sp.Symbol("logarithm", nonnegative=True)
    for found in bound.atoms(sp.log):
        inside = found.args[0]
        if not ((inside - 1).is_nonnegative or (isinstance(inside, sp.Max) and sp.S.One in inside.args)):
            raise ValueError(f"{found} may be negative")
        bound = bound.subs(found, one)
    return always(sp.Le(deviation_term(inverse_neff, CONSTANTS), bound, evaluate=False), domain=domain)


def within_printed() -> Evidence:
    """From N = Pdim on the proved bound is at most the printed one."""
    return _deviation_is_below(
        printed(inverse_neff, FROM_PDIM_ON, CONSTANTS), "every B, Pdim, N_eff > 0, every N >= Pdim"
    )


def within_log_plus() -> Evidence:
    """For every N the proved bound is at most the printed one with log⁺."""
    return _deviation_is_below(
        generalisation_term(inverse_neff, N, CONSTANTS), "every B, Pdim, N_eff, N > 0; log⁺ >= 0"
    )


# --- what is exactly known ---------------------------------------------------------------------------------


WEIGHTS: dict[str, tuple[int, ...]] = {
    "one sample": (1,),
    "equal": (1, 1, 1),
    "K=2, t=4": (2, 2, 2, 1),
    "one near 1": (97, 1, 1, 1),
}
MORE_WEIGHTS: dict[str, tuple[int, ...]] = {
    "equal, N=6": (1,) * 6,
    "K=3, t=4": (3, 3, 2, 1),
    "K=3, t=5": (3, 3, 3, 2, 1),
    "one near 1, N=5": (996, 1, 1, 1, 1),
}


def exact_suprema(context: Context) -> Evidence:
    """Thresholds and intervals: exact means of the supremum, up to 0.89 of √(Pdim/N_eff), against 5.2 of it."""
    chosen = {**WEIGHTS, **context.choose({}, MORE_WEIGHTS)}
    grid = [
        {"class": name, "counts": counts, "case": case, "Pdim": Pdim}
        for name, Pdim in (("thresholds", 1), ("intervals", 2))
        for case, counts in chosen.items()
    ]

    def left(p: Any) -> Any:
        weights = [Fraction(a, sum(p["counts"])) for a in p["counts"]]
        return ball((kolmogorov_mean if p["Pdim"] == 1 else kuiper_mean)(weights))

    def right(p: Any) -> Any:
        inverse = 1 / Fraction(effective_sample_size(p["counts"]))
        return deviation_term(ball(inverse), _of_class(1, p["Pdim"]).map(ball))

    return compare(left, "<=", right, grid, domain="thresholds and intervals, weights from reuse and extreme")


def at_least_one_is_needed() -> Evidence:
    """Sets of at most d points, d samples: the supremum is B = 1·B√(Pdim/N_eff), and the bound covers it."""
    d, C = sp.symbols("d constant", positive=True)
    bound = deviation_term(1 / d, Constants(D=1, sigma=1, eta=1, B=B, Pdim=d))
    enough = always(
        sp.Le(B, bound, evaluate=False), domain="every $B$ and $d$: the bound is not below the supremum"
    )
    with_constant = bound * C * CONSTANT.denominator / CONSTANT.numerator
    needed = always(
        sp.Implies(with_constant >= B, C >= 1), domain="a constant that covers these classes is at least 1"
    )
    return together(enough, needed)


# --- its behaviour in N ------------------------------------------------------------------------------------


def _square(bound: Any) -> Any:
    """In units of B², at N_eff = N."""
    return bound(1 / N, N, CONSTANTS) ** 2 / B**2


def increasing_below_pdim() -> Evidence:
    """A certified pair: with 3 samples the printed bound is larger than with 2, at Pdim = 5."""
    return compare(
        lambda p: printed(ball(Fraction(1, p["N"] + 1)), ball(p["N"] + 1), _of_class(2, p["Pdim"]).map(ball)),
        "<",
        lambda p: printed(ball(Fraction(1, p["N"])), ball(p["N"]), _of_class(2, p["Pdim"]).map(ball)),
        [{"N": 2, "Pdim": 5}],
        domain=r"$\mathrm{Pdim}/e<N<\mathrm{Pdim}$; left is at $N+1$, right at $N$",
    )


def turns_at_pdim() -> Evidence:
    """The slope of the printed bound's square has the sign of -log(N/Pdim): it rises up to Pdim and falls beyond."""
    return equal(
        sp.diff(_square(printed), N) * N**2 / (100 * PDIM),
        -sp.log(N / PDIM),
        what=r"the slope of the square, times $N^2/(100\mathrm{Pdim})$, and $-\log(N/\mathrm{Pdim})$",
        domain=r"every $N$, $\mathrm{Pdim}>0$",
    )


def decreasing_with_log_plus() -> Evidence:
    """Below Pdim log⁺ is 0 and the square falls as 1/N; beyond it is the printed one."""
    square, corner = _square(generalisation_term), sp.Max(1, N / PDIM)
    if not square.has(corner):
        raise ValueError(f"log⁺(N/Pdim) is not in {square}")
    below = always(
        sp.Lt(sp.diff(square.subs(corner, 1), N), 0, evaluate=False),
        domain=r"$N\le\mathrm{Pdim}$, "
        r"where $\log^{+}$ is 0",
    )
    beyond = equal(
        square.subs(corner, N / PDIM),
        _square(printed),
        what="the square and the printed one",
        domain=r"$N\ge\mathrm{Pdim}$",
    )
    return together(below, beyond)


TERM = printed(inverse_neff, N, CONSTANTS)
PROVED = decimal(deviation_term(inverse_neff, CONSTANTS))
SCHEDULE = (
    "samples are independent, of one distribution",
    "weights (admission and retention) do not look at sample values",
)
CLAIMS = [
    Claim(
        id="lem:gen-Neff-app",
        kind="lemma",
        title="generalisation gap, constant 10",
        statement=said("The expected uniform deviation is at most $@bound$ in every round.", bound=TERM),
        formula=said(r"E\sup_\theta|F_P-\widehat F^{all}|\le@bound", bound=TERM),
        domain=r"losses in $[0,B]$, any weights that do not depend on the samples, any $N\ge1$",
        hypotheses=(r"$N\ge\mathrm{Pdim}$",),
        checks={"is within the term": (not_real, too_small_below_pdim)},
        checks_with_hypotheses={
            "the term": as_printed,
            "the deviation, corrected": proved_constant,
            "is within the term": within_printed,
        },
        given=(HAUSSLER, WRITTEN),
        sketch=r"For $N\ge\mathrm{Pdim}$ the correction's bound is at most the printed one, whose "
        "logarithm is not negative there.",
        corrected=Correction(
            title=said("$@bound$ for every $N$, no logarithm", bound=PROVED),
            statement=said(
                "The expected uniform deviation is at most $@bound$, for every $N$ and all weights. So "
                r"10 is enough with $\log^{+}$ for $\log$, and the logarithm is not needed at all. No "
                "constant below 1 would do.",
                bound=PROVED,
            ),
            formula=said(r"E\sup_\theta|F_P-\widehat F^{all}|\le@bound", bound=PROVED),
            sketch=r"Write $d$ for $\mathrm{Pdim}$, $\omega$ for the weights, $N_{\mathrm{eff}}=1/\sum "
            r"\omega^2$. (1) The weights add up to 1, so no deviation changes when $B/2$ is taken from "
            r"each loss; symmetrised, $\mathbb E\sup|F_P-\widehat F^{\mathrm{all}}|\le2$ $\mathbb "
            r"E\sup|X_f|$, $X_f=\sum \omega_i\varepsilon_i(f(z_i)-B/2)$, $\varepsilon_i$ fair signs. (2) "
            "Given the samples, $X_f-X_g$ is sub-Gaussian with variance proxy "
            r"$\|f-g\|^2/N_{\mathrm{eff}}$, the norm that of $L_2(Q)$ with $Q\propto\omega^2$. (3) In "
            r"units of $B$, $\|f-g\|^2$ is at most the $L_1$ distance, so by Haussler's Corollary 3 at "
            r"most $e(d+1)(2e/\varepsilon^2)^d$ losses are pairwise more than $\varepsilon$ apart; a "
            r"maximal such set is within $\varepsilon$ of every loss. (4) Take such sets at "
            r"$\varepsilon_j=8^{-j}/2$, $j=1$, 2, $\ldots$; the constant $B/2$ is within "
            r"$\varepsilon_0=1/2$ of every loss. Link each member of set $j$ to the nearest of set "
            r"$j-1$: one link a member, $\varepsilon_{j-1}$ long at most, and the largest of $M$ "
            r"sub-Gaussian variables and their negatives has mean at most $\sqrt{2\log2M}$ times their "
            "scale. What is left after set $J$ is at most "
            r"$\sqrt{N/N_{\mathrm{eff}}}\cdot\varepsilon_J$, which tends to 0. (5) So the constant is "
            r"twice the sum over $j$ of $\varepsilon_{j-1}\sqrt{2h_j}$, "
            r"$h_j=\log(2e(d+1)(2e/\varepsilon_j^2)^d)/d$. $h_j$ decreases in $d$, so $d=1$ is the worst "
            "case, where the sum, its tail bounded by a geometric series, gives 5.1524. From below: sets "
            "of at most $d$ points under a continuous distribution, $d$ samples: each sample is a set of "
            r"measure 0, the supremum is $B$, and $\sqrt{\mathrm{Pdim}/N_{\mathrm{eff}}}=1$.",
            hypotheses=SCHEDULE,
            checks={
                "the constant": (proved_constant, confirming(exact_suprema)),
                "what the proof gives, rounded up": rounded_up,
                r"10 is enough with $\log^{+}$": within_log_plus,
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
        formula=said(r"N\mapsto@bound\ \text{decreases}", bound=printed(1 / N, N, CONSTANTS)),
        domain=r"$N>\mathrm{Pdim}/e$, where it is real",
        checks=(increasing_below_pdim,),
        corrected=Correction(
            title=r"decreases with $\log^{+}$, or from $N=\mathrm{Pdim}$ on",
            statement=r"With $\log^{+}$ in place of $\log$ it decreases for every $N>0$; the printed "
            r"term rises up to $N=\mathrm{Pdim}$ and decreases from there on.",
            formula=said(
                r"N\mapsto@bound\ \text{decreases}",
                bound=generalisation_term(1 / N, N, CONSTANTS),
            ),
            sketch=r"The slope of the printed term's square has the sign of $-\log(N/\mathrm{Pdim})$. "
            r"With $\log^{+}$ the square falls as $1/N$ up to $N=\mathrm{Pdim}$, and is the printed one "
            "from there on.",
            checks={
                r"with $\log^{+}$": decreasing_with_log_plus,
                r"as printed, from $N=\mathrm{Pdim}$ on": turns_at_pdim,
            },
        ),
    ),
]
