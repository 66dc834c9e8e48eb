r"""The chaining proof behind the generalisation lemma, and its constant.

Losses are in [0, B], samples independent and of one distribution, and the weights ω, which add up to 1, do not look at
the samples. Five steps, d for Pdim:

1. *Centre and symmetrise.* No deviation changes when B/2 is taken from every loss, because the weights add up to 1. So
   \(E\sup|F_P-\widehat F|\le2\,E\sup|X_f|\) with \(X_f=\sum_i\omega_i\varepsilon_i(f(z_i)-B/2)\), ε fair signs.
2. *Distance.* Given the samples, \(X_f-X_g\) is sub-Gaussian with variance proxy
   \(\sum_i\omega_i^2(f-g)^2(z_i)=\|f-g\|^2_{L_2(Q)}/N_{\mathrm{eff}}\), Q ∝ ω² on the samples.
3. *Packings.* A maximal set of losses more than ε apart is also within ε of every loss. In units of B,
   \(\|f-g\|_2^2\le\|f-g\|_1\), so by Haussler's Corollary 3 at most \(e(d+1)(2e/\epsilon^2)^d\) losses are more than ε
   apart in \(L_2(Q)\), whatever Q.
4. *Links.* Take maximal sets at radii \(\epsilon_j=8^{-j}/2\). The constant B/2 is within \(\epsilon_0=1/2\) of every
   loss. Each member of set j is linked to the nearest of set j-1, at most \(\epsilon_{j-1}\) away, one link a
   member; the largest of M sub-Gaussian variables and their negatives has mean at most \(s\sqrt{2\log(2M)}\). What
   remains after set J is at most \(\sqrt{N/N_{\mathrm{eff}}}\,\epsilon_J\) for N samples and tends to 0.
5. *Sum.* In units of \(B\sqrt{d/N_{\mathrm{eff}}}\) the links of set j give \(\epsilon_{j-1}\sqrt{2h_j}\) with
   \(h_j=\tfrac1d\log\bigl(2e(d+1)(2e/\epsilon_j^2)^d\bigr)\). \(h_j\) decreases in d, so d = 1 is the worst case; there
   twice the sum is 5.1524.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.claim import Given
from proofs_check.engines.enclosure import compare
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from theory.algebra import ball, log, sqrt
from theory.bound import deviation_term
from theory.setting import Constants

HAUSSLER = Given(
    "Haussler 1995",
    "D. Haussler, Sphere packing numbers for subsets of the Boolean $n$-cube with bounded "
    "Vapnik-Chervonenkis dimension, J. Combin. Theory $A$ 69 (1995), Corollary 3: of the functions of a "
    r"class with values in [0, 1] and pseudo-dimension $d$, at most $e(d+1)(2e/\varepsilon)^d$ are "
    r"pairwise more than $\varepsilon$ apart in $L_1(Q)$, for every probability $Q$",
)
# of theory's bound on the deviation, where B = Pdim = N_eff = 1
CONSTANT = Fraction(deviation_term(1, Constants(D=1, sigma=1, eta=1, B=1, Pdim=1)))
RATIO = 8  # of consecutive radii
TENTH = Fraction(1, 10)


def _radius(j: Any) -> Any:
    return Fraction(1, 2 * RATIO**j)


def entropy(inverse_square: Any, d: Any) -> Any:
    r"""\(h=\tfrac1d\log(2e(d+1)(2e/\epsilon^2)^d)\), from \(1/\epsilon^2\); the 2 in front is for both signs."""
    return (1 + log(2 * (d + 1))) / d + 1 + log(2 * inverse_square)


def chaining_constant(d: int, levels: int = 40) -> Any:
    """A ball that contains twice the chaining sum for pseudo-dimension d.

    What follows the last level is bounded, not cut: by `tail_is_geometric` a term is at most √2/8 of the one before.
    """
    terms = [
        ball(_radius(j - 1)) * sqrt(2 * entropy(ball(1 / _radius(j) ** 2), ball(d)))
        for j in range(1, levels + 1)
    ]
    share = sqrt(ball(2)) / RATIO
    return 2 * (sum(terms) + ball(0).union(terms[-1] * share / (1 - share)))


def _with_log_symbols(expression: Any) -> Any:
    """Each logarithm replaced by a symbol that is not negative, which log x is for x >= 1."""
    logs = sorted(expression.atoms(sp.log), key=str)
    for one in logs:
        if not (one.args[0] - 1).is_nonnegative:
            raise ValueError(f"{one} may be negative")
    return expression.subs({one: sp.Symbol(f"log{i}", nonnegative=True) for i, one in enumerate(logs)})


def tail_is_geometric() -> Evidence:
    """h at radius ε/8 is at most twice h at ε, for every ε = 8^-j/2 with j >= 1: so √h grows by √2 at most."""
    j = sp.Symbol("j", integer=True, positive=True)
    d = sp.Symbol("d", positive=True)
    here, next_ = (sp.expand_log(entropy(4 * sp.Integer(RATIO) ** (2 * i), d)) for i in (j, j + 1))
    both = _with_log_symbols(sp.Matrix([here, next_]))
    return always(sp.Le(both[1], 2 * both[0], evaluate=False), domain=r"every level $j\ge1$, every $d>0$")


def decreases_in_d() -> Evidence:
    """∂h/∂d < 0, at any radius."""
    d, inverse_square = sp.symbols("d inverse_square", positive=True)
    slope = _with_log_symbols(sp.diff(entropy(inverse_square, d), d))
    return always(sp.Lt(slope, 0, evaluate=False), domain=r"every real $d>0$; $\log(2(d+1))\ge0$")


def at_pdim_one(limit: Any) -> Evidence:
    """The chaining sum at d = 1, enclosed: below `limit`."""
    found = compare(
        lambda p: chaining_constant(p["Pdim"]),
        "<",
        lambda p: ball(Fraction(limit)),
        [{"Pdim": 1}],
        domain=r"$\mathrm{Pdim}=1$, the worst case; every weight vector, $N$ and class",
    )
    return replace(found, strength="proof")  # one number decides for all Pdim, since h decreases in d


def proved_constant(limit: Any = CONSTANT) -> Evidence:
    """The proof's constant is below `limit` for every pseudo-dimension."""
    return together(at_pdim_one(limit), decreases_in_d(), tail_is_geometric())


def rounded_up() -> Evidence:
    """A tenth less than the constant is less than this proof gives."""
    found = compare(
        lambda p: chaining_constant(p["Pdim"]),
        ">",
        lambda p: ball(CONSTANT - TENTH),
        [{"Pdim": 1}],
        domain=r"$\mathrm{Pdim}=1$: the constant is the chaining sum, rounded up to a tenth",
    )
    return replace(found, strength="proof")  # it is about one number
