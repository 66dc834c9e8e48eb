"""One round: the recursions through all samples and through the memory, local drift, averages, projection, mismatch.

Quantities of a round are symbols that stand for expectations: `gap` is F(θ) - F(θ*), `whole`, `memory` and `local` are
⟨∇F_all, x⟩, ⟨∇F_mem, x⟩ and ⟨ĝ, x⟩ with x = θ - θ* and ĝ the mean of all local gradients, `square` is |ĝ|², `mismatch`
is |∇F_all - ∇F_mem|. Each premise is one fact of the setting, and none can be spared.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from proofs_check.engines.identity import equal, symbolic_sum
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.learning.worst_round import rise
from proofs_check.notation import CONSTANTS
from theory.bound import per_round_constant, root_term
from theory.sharper import step_constant

c = CONSTANTS
step = c.eta * c.E
chi, mismatch = sp.symbols("chi mismatch", nonnegative=True)
whole, memory, local, square, gap = sp.symbols("whole memory local square gap", real=True)
e = sp.Symbol("e", integer=True, nonnegative=True)
MEAN_DRIFT = symbolic_sum(c.L * c.eta * e * c.G, e, 0, c.E - 1) / c.E  # of the local gradients of a round

PREMISES = {
    "convexity": whole >= gap,
    "Cauchy-Schwarz": memory >= whole - c.D * mismatch,
    "the mismatch hypothesis": mismatch <= c.sigma * sp.sqrt(chi),
    "the local drift": local >= memory - c.D * MEAN_DRIFT,
    "gradients of at most G": square <= c.G**2,
}
WORDS = f"every D, σ, η, E, L, G > 0 and χ >= 0; given {', '.join(PREMISES)}"


def moved(by: Any) -> Any:
    """|x - by·ĝ|² - |x|², an upper bound on what the projected round does to the squared distance."""
    return -2 * by * local + by**2 * square


def corrected_recursion() -> Evidence:
    """Z3 on the corrected recursion, from its premises."""
    statement = moved(step) <= -2 * step * gap + rise(c, chi)
    return always(statement, given=list(PREMISES.values()), domain=WORDS)


def sharper_recursion() -> Evidence:
    """The same without the linear term and with half of ηEG²: |ĝ| <= G does all that they do."""
    rest = root_term(chi, c) + step_constant(c) + c.D * MEAN_DRIFT
    statement = moved(step) <= -2 * step * gap + 2 * step * rest
    return always(statement, given=list(PREMISES.values()), domain=WORDS)


def drift_of_local_steps() -> Evidence:
    """After e local steps a client is at most ηeG away, so its gradient is off by at most LηeG; the mean over e,
    times D, is the second part of the per-round constant."""
    away, further = sp.symbols("away further", nonnegative=True)
    induction = always(
        further <= c.eta * (e + 1) * c.G,
        given=[away <= c.eta * e * c.G, further <= away + c.eta * c.G],
        domain="every local step e: a step of size η along a gradient of at most G",
    )
    mean = equal(
        step * c.G**2 + c.D * MEAN_DRIFT,
        per_round_constant(c),
        domain="every E >= 1",
        what="ηEG² + D times the mean drift and the per-round constant",
    )
    return together(induction, mean)


# --- through the memory ------------------------------------------------------------------------------------


def memory_recursion() -> Evidence:
    """A client's E local steps on its own objective f, added up: no mismatch and no smoothness appear.

    A step lowers |x|² by 2η⟨∇f(θ_e), x_e⟩ - η²|∇f(θ_e)|². Convexity, twice: the product is at least f(θ_e) - f(θ*), and
    f(θ_e) >= f(θ_0) - G|θ_e - θ_0|, where |θ_e - θ_0| <= ηeG.
    """
    now, start, star, away, along = sp.symbols("now start star away along", real=True)
    one = always(
        -2 * c.eta * along + c.eta**2 * square
        <= -2 * c.eta * (start - star) + (c.eta * c.G) ** 2 * (1 + 2 * e),
        given=[along >= now - star, now >= start - c.G * away, away <= c.eta * e * c.G, square <= c.G**2],
        domain="every local step e of every client; f convex, gradients of at most G",
    )
    added = equal(
        symbolic_sum((c.eta * c.G) ** 2 * (1 + 2 * e), e, 0, c.E - 1),
        2 * step * step_constant(c),
        domain="every E >= 1",
        what="what E local steps add to the squared distance and 2ηE times the per-round constant",
    )
    return together(one, added)


def average_over_clients() -> Evidence:
    """|Σw_m x_m|² <= Σw_m|x_m|²: for two clients, then for the next against the average of those before."""
    weight, p, q, between = sp.symbols("weight p q between", real=True)
    average = weight**2 * p + 2 * weight * (1 - weight) * between + (1 - weight) ** 2 * q
    return always(
        average <= weight * p + (1 - weight) * q,
        given=[weight >= 0, weight <= 1, p - 2 * between + q >= 0],
        domain="every weight, p = |x|², q = |y|², between = ⟨x, y⟩, so that p - 2·between + q = |x - y|²",
    )


def projection_helps() -> Evidence:
    """|y - x|² = |y - p|² - 2⟨y - p, x - p⟩ + |p - x|², and the product is not positive for the projection p of y."""
    x, y, p = sp.symbols("x y p", real=True)
    expanded = equal(
        (y - p) ** 2 - 2 * (y - p) * (x - p) + (p - x) ** 2,
        (y - x) ** 2,
        domain="every coordinate",
        what="the three parts and |y - x|²",
    )
    moved_, product_, near = sp.symbols("moved product near", real=True)
    nearer = always(
        near <= moved_ - 2 * product_ + near,
        given=[moved_ >= 0, product_ <= 0],
        domain="any convex Θ, x in Θ, p the projection of y: moved = |y-p|², product = ⟨y-p, x-p⟩, near = |p-x|²",
    )
    return together(expanded, nearer)


def on_a_segment() -> Evidence:
    """F_all - F_mem changes between θ* and θ by at most D times the largest mismatch on the way, so the gap of F_all
    is at most that of F_mem plus Dσ√χ."""
    of_all, of_memory, change = sp.symbols("of_all of_memory change", real=True)
    return always(
        of_all <= of_memory + root_term(chi, c),
        given=[
            sp.Eq(of_all - of_memory, change),
            change <= c.D * mismatch,
            PREMISES["the mismatch hypothesis"],
        ],
        domain="every D, σ, χ; `mismatch` is E sup|∇F_all - ∇F_mem| over Θ, `change` that of F_all - F_mem",
    )
