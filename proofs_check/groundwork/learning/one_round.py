r"""One round: the recursions through all samples and through the memory, local drift, averages, projection, mismatch.

Quantities of a round are symbols that stand for expectations: `gap` is F(θ) - F(θ*), `whole`, `memory` and `local` are
⟨∇F_all, x⟩, ⟨∇F_mem, x⟩ and ⟨ĝ, x⟩ with x = θ - θ* and ĝ the mean of all local gradients, `square` is |ĝ|², `mismatch`
is |∇F_all - ∇F_mem|. Each premise is one fact of the setting, and none can be spared.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from proofs_check.engines.identity import equal, symbolic_sum
from proofs_check.engines.smt import always, steps
from proofs_check.evidence import Evidence, together
from proofs_check.groundwork.learning.worst_round import rise
from proofs_check.symbols import CONSTANTS
from theory.bound import per_round_constant, root_term
from theory.sharper import step_constant

SETTING = (
    r"every loss is convex and differentiable in $\theta$",
    "gradients are bounded by $G$ and, for $E>1$, $L$-Lipschitz, wherever the local steps go",
    r"the server projects onto the convex set $\Theta$ of diameter $D$ after each round",
)
MISMATCH = (
    r"the squared mismatch at the iterates has mean at most $\sigma^2\chi$ (Assumption 4 gives that at a fixed "
    r"$\theta$)"
)

c = CONSTANTS
step = c.eta * c.E
chi, mismatch = sp.symbols("chi mismatch", nonnegative=True)
whole, memory, local, square, gap = sp.symbols("whole memory local square gap", real=True)
e = sp.Symbol("e", integer=True, nonnegative=True)
N_PIECES = sp.Symbol("N", integer=True, positive=True)  # of the way from θ* to θ
MEAN_DRIFT = symbolic_sum(c.L * c.eta * e * c.G, e, 0, c.E - 1) / c.E  # of the local gradients of a round

PREMISES = {
    "convexity": whole >= gap,
    "Cauchy-Schwarz": memory >= whole - c.D * mismatch,
    "the mismatch hypothesis": mismatch <= c.sigma * sp.sqrt(chi),
    "the local drift": local >= memory - c.D * MEAN_DRIFT,
    "gradients of at most $G$": square <= c.G**2,
}


def recursion(rest: Any, by: Any = step, *, E: Any = c.E) -> Evidence:
    """From the premises, |x - by·ĝ|² - |x|² <= -2·by·gap + rest; a projection makes the left side no larger."""
    return always(
        -2 * by * local + by**2 * square <= -2 * by * gap + rest,
        given=[premise.subs(c.E, E) for premise in PREMISES.values()],
        domain=rf"all constants $>0$, $\chi\ge0$; given {', '.join(PREMISES)}",
    )


def corrected_recursion() -> Evidence:
    """Z3 on the corrected recursion, from its premises."""
    return recursion(rise(c, chi))


def sharper_recursion() -> Evidence:
    """The same without the linear term and with half of ηEG²: |ĝ| <= G does all that they do."""
    return recursion(2 * step * (root_term(chi, c) + step_constant(c) + c.D * MEAN_DRIFT))


def drift_of_local_steps() -> Evidence:
    """After e local steps a client is at most ηeG away, so its gradient is off by at most LηeG; the mean over e,
    times D, is the second part of the per-round constant."""
    away, further = sp.symbols("away further", nonnegative=True)
    return together(
        always(
            further <= c.eta * (e + 1) * c.G,
            given=[away <= c.eta * e * c.G, further <= away + c.eta * c.G],
            domain=r"every local step $e$: a step of size $\eta$ along a gradient of at most $G$",
        ),
        equal(
            step * c.G**2 + c.D * MEAN_DRIFT,
            per_round_constant(c),
            domain=r"every $E\ge1$",
            what=r"$\eta EG^2+D$ times the mean drift and the per-round constant",
        ),
    )


def projection_helps() -> Evidence:
    """|y - x|² = |y - p|² - 2⟨y - p, x - p⟩ + |p - x|², and the product is not positive for the projection p of y."""
    x, y, p = sp.symbols("x y p", real=True)
    moved, product, near = sp.symbols("moved product near", real=True)
    return together(
        equal(
            (y - p) ** 2 - 2 * (y - p) * (x - p) + (p - x) ** 2,
            (y - x) ** 2,
            domain="every coordinate",
            what="the three parts and $|y-x|^2$",
        ),
        always(
            near <= moved - 2 * product + near,
            given=[moved >= 0, product <= 0],
            domain=r"any convex $\Theta$, $x$ in $\Theta$, $p$ the projection of $y$: moved $=|y-p|^2$, product "
            r"$=\langle y-p,x-p\rangle$, near $=|p-x|^2$",
        ),
    )


LINKS = {
    "recursion": corrected_recursion,
    "local drift": drift_of_local_steps,
    "projection": projection_helps,
}


# --- through the memory ------------------------------------------------------------------------------------


def memory_recursion() -> Evidence:
    """A client's E local steps on its own objective f, added up: no mismatch and no smoothness appear.

    A step lowers |x|² by 2η⟨∇f(θ_e), x_e⟩ - η²|∇f(θ_e)|². Convexity, twice: the product is at least f(θ_e) - f(θ*), and
    f(θ_e) >= f(θ_0) - G|θ_e - θ_0|, where |θ_e - θ_0| <= ηeG.
    """
    now, start, star, away, along = sp.symbols("now start star away along", real=True)
    added = (c.eta * c.G) ** 2 * (1 + 2 * e)
    return together(
        always(
            -2 * c.eta * along + c.eta**2 * square <= -2 * c.eta * (start - star) + added,
            given=[along >= now - star, now >= start - c.G * away, away <= c.eta * e * c.G, square <= c.G**2],
            domain="every local step $e$ of every client; $f$ convex, gradients of at most $G$",
        ),
        equal(
            symbolic_sum(added, e, 0, c.E - 1),
            2 * step * step_constant(c),
            domain=r"every $E\ge1$",
            what=r"what $E$ local steps add to the squared distance and $2\eta E$ times the per-round constant",
        ),
    )


def average_over_clients() -> Evidence:
    """|Σw_m x_m|² <= Σw_m|x_m|²: for two clients, then for the next against the average of those before."""
    weight, p, q, between = sp.symbols("weight p q between", real=True)
    return always(
        weight**2 * p + 2 * weight * (1 - weight) * between + (1 - weight) ** 2 * q
        <= weight * p + (1 - weight) * q,
        given=[weight >= 0, weight <= 1, p - 2 * between + q >= 0],
        domain=r"every weight, $p=|x|^2$, $q=|y|^2$, between $=\langle x,y\rangle$; $p+q$ less twice that is "
        "$|x-y|^2$",
    )


def cauchy_schwarz() -> Evidence:
    """⟨g, x⟩² <= |g|²|x|², by induction over the coordinates."""
    p, q = sp.symbols("p q", nonnegative=True)
    r, a, b = sp.symbols("r a b", real=True)
    return always(
        (r + a * b) ** 2 <= (p + a**2) * (q + b**2),
        given=[r**2 <= p * q],
        domain=r"one coordinate more: $p=|g|^2$, $q=|x|^2$, $r=\langle g,x\rangle$ before it; with one, both sides "
        "agree",
    )


def slope_along(most: Any, what: str) -> Evidence:
    """⟨g, x⟩ <= D·`most` for |g| <= `most` and |x| <= D."""
    slope = sp.Symbol("slope", real=True)
    square_g, square_x = sp.symbols("square_g square_x", nonnegative=True)
    bounded = always(
        slope <= c.D * most,
        given=[slope**2 <= square_g * square_x, square_g <= most**2, square_x <= c.D**2],
        domain=rf"{what}; slope $=\langle g,x\rangle$, Cauchy-Schwarz",
    )
    return together(cauchy_schwarz(), bounded)


def on_a_segment() -> Evidence:
    """F_all - F_mem rises from θ* to θ by at most D times the largest mismatch on the way, so the gap of F_all is at
    most that of F_mem plus Dσ√χ.

    No integral is needed. Cut the way into N pieces θ_0 = θ*, …, θ_N = θ, each x/N long; a_j = ⟨∇F_all(θ_j), x⟩ and
    b_j = ⟨∇F_mem(θ_j), x⟩. By convexity F_all rises on piece j by at most a_{j+1}/N and F_mem by at least b_j/N: the
    difference by at most (a_j - b_j)/N + (a_{j+1} - a_j)/N. Here a_j - b_j <= D·sup|∇F_all - ∇F_mem|, the a_j
    telescope, |a_j| <= GD, and 2GD/N falls below any δ.
    """
    a_here, a_next, b_here = sp.symbols("a_here a_next b_here", real=True)
    of_all, of_memory, change = sp.symbols("of_all of_memory change", real=True)
    delta, worst = sp.symbols("delta worst", positive=True)
    j, along = sp.Symbol("j", integer=True, nonnegative=True), sp.Function("a")
    all_, mem = r"\nabla\widehat F^{\mathrm{all}}", r"\nabla\widehat F^{\mathrm{mem}}"
    risen = sp.summation(along(j + 1) - along(j), (j, 0, N_PIECES - 1))
    return together(
        slope_along(mismatch, f"$g={all_}-{mem}$ at a point of the way"),
        slope_along(c.G, rf"$g=\pm{all_}$ at an end of the way"),
        always(
            of_all - of_memory <= (c.D * worst + a_next - a_here) / N_PIECES,
            given=[
                of_all <= a_next / N_PIECES,
                of_memory >= b_here / N_PIECES,
                a_here - b_here <= c.D * worst,
            ],
            domain=r"every piece: what $\widehat F^{\mathrm{all}}$ and $\widehat F^{\mathrm{mem}}$ rise by, both "
            rf"convex; `worst` is $\sup|{all_}-{mem}|$ over $\Theta$",
        ),
        equal(
            symbolic_sum(c.D * worst / N_PIECES, j, 0, N_PIECES - 1) + risen / N_PIECES,
            c.D * worst + (along(N_PIECES) - along(0)) / N_PIECES,
            domain="every number $N$ of pieces",
            what=r"the sum over the pieces and $D\cdot\sup+(a_N-a_0)/N$",
        ),
        steps(
            (
                change < c.D * worst + delta,
                [
                    change <= c.D * worst + (a_next - a_here) / N_PIECES,
                    a_next <= c.G * c.D,
                    -a_here <= c.G * c.D,
                    N_PIECES * delta > 2 * c.G * c.D,
                ],
                r"every $\delta>0$ and $N>2GD/\delta$: the change is below $D\cdot\sup+\delta$ for every $\delta$, "
                r"so at most $D\cdot\sup$",
            ),
            (
                of_all <= of_memory + root_term(chi, c),
                [of_all - of_memory <= c.D * mismatch, PREMISES["the mismatch hypothesis"]],
                r"the means of the gaps; every $D$, $\sigma$, $\chi$; `mismatch` is "
                rf"$\mathbb E\sup|{all_}-{mem}|$ over $\Theta$",
            ),
        ),
    )
