r"""The uniform deviation between the population risk and the reuse-weighted empirical risk
(`lem:gen-Neff-app`).

**The constant of a clean proof.** Subtract B/2 from every loss, which changes no deviation since the weights
add up to 1, and symmetrise: \(E\sup|F_P-\widehat F|\le2\,E\sup|X_f|\),
\(X_f=\sum_i\omega_i\varepsilon_if(z_i)\). Given the samples, X is sub-Gaussian for the distance
\(N_{\mathrm{eff}}^{-1/2}\|f-g\|_{L_2(Q)}\), Q ∝ ω². Haussler (1995, Corollary 3): under any Q a class of
pseudo-dimension d with values in [0, 1] has at most \(e(d+1)(2e/\epsilon)^d\) members ε apart in \(L_1\), so
at most \(e(d+1)(2e/\epsilon^2)^d\) in \(L_2\). Chain over maximal packings of radii \(\epsilon_j=8^{-j}/2\),
from 0, which is within 1/2 of every f (in units of B):

\[E\sup|F_P-\widehat F|\le2B\sqrt{\frac d{N_{\mathrm{eff}}}}\sum_{j\ge1}\epsilon_{j-1}
  \sqrt{\tfrac2d\log\bigl(2e(d+1)(2e/\epsilon_j^2)^d\bigr)}.\]

The sum decreases in d, because \(\log(2e(d+1))/d\) does; at d = 1 twice the sum is below 5.2. No logarithm
of N is needed, and nothing is asked of N.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.claim import Claim, Context, Correction
from proofs_check.claims.suprema import kolmogorov_mean, kuiper_mean
from proofs_check.engines.enclosure import compare
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, fails, refutes, together, undecided
from theory.algebra import ball, log
from theory.bound import generalisation_term
from theory.reuse import effective_sample_size
from theory.setting import Constants

__all__ = ["CLAIMS", "CONSTANT", "chaining_constant", "proved_constant"]

CONSTANT = Fraction(26, 5)  # what the proof above gives, rounded up
RATIO = 8  # of consecutive radii


# --- the constant of the proof -----------------------------------------------------------------------------


def chaining_constant(d: int, levels: int = 40) -> Any:
    """A ball that contains twice the chaining sum for pseudo-dimension d; what follows `levels` is bounded,
    not cut.

    Beyond J = `levels` the logarithm grows at most in proportion to j, so a term is at most √2/8 of the one
    before.
    """
    import flint

    e, total, term = flint.arb(1).exp(), flint.arb(0), flint.arb(0)
    for j in range(1, levels + 1):
        before, radius = (flint.arb(RATIO) ** -i / 2 for i in (j - 1, j))
        packing = (2 * e * (d + 1)).log() + d * (2 * e / radius**2).log()
        term = before * (2 * packing / d).sqrt()
        total += term
    share = flint.arb(2).sqrt() / RATIO
    return 2 * (total + term * share / (1 - share) * (1 + flint.arb(0, 1)) / 2)


def proved_constant(limit: Any) -> Evidence:
    """The proof's constant is below `limit` at d = 1, where it is largest, and on a grid beyond."""
    return compare(
        lambda p: chaining_constant(p["Pdim"]),
        "<",
        lambda p: ball(Fraction(limit)),
        [{"Pdim": d} for d in (1, 2, 3, 10, 100, 10**4, 10**8)],
        domain="every weight vector, N and class with this Pdim; it decreases in Pdim",
    )


def constant_decreases() -> Evidence:
    """log(2e(d+1))/d decreases: its derivative has the sign of d/(d+1) - log(2e(d+1)), and the logarithm
    exceeds 1."""
    d, logarithm = sp.symbols("d logarithm", positive=True)
    slope = sp.diff(log(2 * sp.E * (d + 1)) / d, d) * d**2
    rewritten = sp.simplify(slope - (d / (d + 1) - log(2 * sp.E * (d + 1))))
    if rewritten != 0:
        return undecided("smt", f"the derivative is not as expected: {slope}")
    return always(
        d / (d + 1) - logarithm < 0,
        given=[d >= 1, logarithm >= 1],
        domain="d >= 1, with `logarithm` for log(2e(d+1)) >= 1",
    )


# --- checks ------------------------------------------------------------------------------------------------


def _unit(Pdim: int) -> Constants:
    return Constants(D=1, sigma=1, eta=1, B=1, Pdim=Pdim)


def _printed(N: int, Pdim: int) -> Any:
    """The printed bound for B = 1 and equal weights: theory's, which has log⁺, times what the plain
    logarithm changes."""
    unit, share = _unit(Pdim).map(ball), ball(Fraction(N, Pdim))
    return generalisation_term(ball(Fraction(1, N)), ball(N), unit) * (1 + log(share)).sqrt()


def not_real() -> Evidence:
    """One sample, pseudo-dimension 3: the printed radicand 1 + log(1/3)."""
    return refutes(
        compare(
            lambda p: 1 + log(ball(Fraction(p["N"], p["Pdim"]))),
            "<",
            lambda p: 0,
            [{"N": 1, "Pdim": 3}],
            domain="N < Pdim/e",
        ),
        "1 + log(N/Pdim) is negative at N=1, Pdim=3: the bound is not a real number",
    )


def too_small_below_pdim() -> Evidence:
    """All sets of at most 19 points, under a continuous distribution: each sample is a set of measure 0 and
    weight 1."""
    return compare(
        lambda p: 1,
        "<=",
        lambda p: _printed(p["N"], p["Pdim"]),
        [{"N": 7, "Pdim": 19, "class": "sets of at most 19 points of [0,1], B = 1: the supremum is 1"}],
        domain="Pdim/e < N < Pdim, equal weights",
    )


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
    """Thresholds and intervals: exact means against the bound with log⁺, which from N = Pdim on is the
    printed one."""
    chosen = {**WEIGHTS, **context.choose({}, MORE_WEIGHTS)}
    grid = [
        {"class": name, "counts": counts, "case": case, "Pdim": Pdim}
        for name, Pdim in (("thresholds", 1), ("intervals", 2))
        for case, counts in chosen.items()
        if len(counts) >= Pdim
    ]

    def left(p: Any) -> Any:
        weights = [Fraction(a, sum(p["counts"])) for a in p["counts"]]
        return ball((kolmogorov_mean if p["Pdim"] == 1 else kuiper_mean)(weights))

    def right(p: Any) -> Any:
        inverse = 1 / Fraction(effective_sample_size(p["counts"]))
        return generalisation_term(ball(inverse), ball(len(p["counts"])), _unit(p["Pdim"]).map(ball))

    return compare(
        left, "<=", right, grid, domain="thresholds and intervals, N >= Pdim, weights from reuse and extreme"
    )


def increasing_below_pdim() -> Evidence:
    """The square of the printed bound for N_eff = N, as a function of x = N/Pdim: its slope has the sign of
    -log x."""
    x = sp.Symbol("x", positive=True)
    slope = sp.simplify(sp.diff((1 + log(x)) / x, x) * x**2 + log(x))
    if slope != 0:
        return undecided(
            "identity", f"the derivative of (1 + log x)/x is not -log(x)/x² but differs by {slope}"
        )
    return fails(
        "identity",
        "(1 + log x)/x has derivative -log(x)/x², positive for x < 1: the bound grows with N there",
        domain="Pdim/e < N < Pdim",
        strength="proof",
        certificate={"derivative": "-log(x)/x²", "x": "N/Pdim", "at N=Pdim/2": "4 log 2 > 0"},
    )


def decreasing_with_log_plus() -> Evidence:
    """With log⁺ the square is 1/x up to x = 1 and (1 + log x)/x beyond, whose slope -log(x)/x² is not
    positive."""
    x, logarithm = sp.symbols("x logarithm", positive=True)
    below = always(sp.diff(1 / x, x) < 0, given=[x <= 1], domain="x = N/Pdim <= 1")
    beyond = always(-logarithm / x**2 <= 0, given=[x >= 1, logarithm >= 0], domain="x >= 1, log x >= 0")
    return together(below, beyond)


CLAIMS = [
    Claim(
        id="lem:gen-Neff-app",
        kind="lemma",
        title="generalisation gap, constant 10",
        statement="The expected uniform deviation is at most 10B√(Pdim/N_eff)·√(1 + log(N/Pdim)) in every "
        "round.",
        latex=r"E\sup_\theta|F_P-\widehat F^{all}|\le10B\sqrt{\tfrac{\mathrm{Pdim}}{N_{\mathrm{eff}}}}"
        r"\sqrt{1+\log\tfrac N{\mathrm{Pdim}}}",
        unicode="E sup|F_P - F_all| ≤ 10B√(Pdim/N_eff)·√(1+log(N/Pdim))",
        domain="losses in [0, B], any weights that do not depend on the samples, any N >= 1",
        hypotheses=("N >= Pdim",),
        checks=(not_real, too_small_below_pdim),
        checks_with_hypotheses=(
            lambda: proved_constant(10).about("proof"),
            lambda context: exact_suprema(context).about("exact values"),
        ),
        corrected=Correction(
            title="5.2B√(Pdim/N_eff), any N, no log",
            statement="The expected uniform deviation is at most 5.2B√(Pdim/N_eff), for every N and all "
            "weights. So 10 is enough with log⁺ for log, and the logarithm is not needed at all.",
            latex=r"E\sup_\theta|F_P-\widehat F^{all}|\le5.2\,B\sqrt{\mathrm{Pdim}/N_{\mathrm{eff}}}",
            unicode="E sup|F_P - F_all| ≤ 5.2·B√(Pdim/N_eff)",
            sketch="Centre by B/2, symmetrise with the weights, and chain in L2(Q), Q ∝ ω², over Haussler's "
            "packings e(d+1)(2e/ε²)^d with radii 8^-j/2. Twice the sum is largest at Pdim = 1, where it is "
            "5.153. Sets of at most N points with N = Pdim show that no constant below 1 works.",
            hypotheses=(
                "samples independent, of one distribution",
                "weights (admission and retention) do not look at sample values",
            ),
            checks=(
                lambda: proved_constant(CONSTANT).about("constant"),
                lambda: constant_decreases().about("largest at Pdim = 1"),
            ),
        ),
    ),
    Claim(
        id="lem:gen-Neff-app/decreasing",
        kind="step",
        title="more distinct samples, smaller bound",
        statement="The printed generalisation term decreases in N when N_eff = N.",
        latex=r"N\mapsto\sqrt{\tfrac1N(1+\log\tfrac N{\mathrm{Pdim}})}\ \text{decreases}",
        unicode="N ↦ √((1+log(N/Pdim))/N) decreases",
        domain="N > Pdim/e, where it is real",
        checks=(increasing_below_pdim,),
        corrected=Correction(
            title="decreases with log⁺, or from N = Pdim on",
            statement="With log⁺ in place of log it decreases for every N > 0; the printed term does from N "
            "= Pdim on.",
            latex=r"N\mapsto\sqrt{\tfrac1N(1+\log^+\tfrac N{\mathrm{Pdim}})}\ \text{decreases}",
            unicode="N ↦ √((1+log⁺(N/Pdim))/N) decreases",
            sketch="Its square, in x = N/Pdim, is 1/x up to x = 1 and (1 + log x)/x beyond, with slope "
            "-log(x)/x².",
            checks=(decreasing_with_log_plus,),
        ),
    ),
]
