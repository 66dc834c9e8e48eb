"""One round: the recursion through the memory, averages over clients, and the mismatch |∇F_all - ∇F_mem|."""

from proofs_check.prelude import *

SETTING = (
    r"every loss is convex and differentiable in $\theta$",
    "gradients are bounded by $G$ and, for $E>1$, $L$-Lipschitz, wherever the local steps go",
    r"the server projects onto the convex set $\Theta$ of diameter $D$ after each round",
)
MISMATCH = (
    r"the squared mismatch at the iterates has mean at most $\sigma^2\chi$ (Assumption 4 gives that at a fixed "
    r"$\theta$ only; it is so for every $K$ where gradients are $u(\theta)+s(\theta)b(z)$ with $s$ or $b$ a number)"
)

ANY_SPACE = "any inner-product space, any number of clients, any $E$ and $T$"
PROJECTION = theorem("Learning.projection", domain="any convex set of any inner-product space")
c = CONSTANTS
step = c.eta * c.E
chi, mismatch = sp.symbols("chi mismatch", nonnegative=True)
square = sp.Symbol("square", real=True)
e = sp.Symbol("e", integer=True, nonnegative=True)


def mismatch_of_one_factor() -> Evidence:
    """Gradients u(θ) + s(θ)b(z): the mismatch is s(θ)Σ(ω-1/n)b, at any θ, and E|Σ(ω-1/n)b|² is χ·Var b."""
    factor, variance, mean = sp.symbols("factor variance mean", nonnegative=True)
    known = [factor * variance <= c.sigma**2, sp.Eq(mean, variance * chi)]
    return always(
        factor * mean <= c.sigma**2 * chi,
        given=known,
        domain=r"gradients $u(\theta)+s(\theta)b(z)$, one of $s$ and $b$ a number, the other a number or a vector; "
        r"factor $=\sup|s|^2$, variance $=\mathrm{Var}\,b$; any schedule blind to values, any $\theta$ however "
        r"it came about",
    )


def memory_recursion() -> Evidence:
    """A client's E local steps on its own objective, added up: step 1 of the sketch of thm:regret-neff/memory."""
    now, start, star, away, along = sp.symbols("now start star away along", real=True)
    added = (c.eta * c.G) ** 2 * (1 + 2 * e)
    whole = r"what $E$ local steps add to the squared distance and $2\eta E$ times the per-round constant"
    return argument(
        (
            -2 * c.eta * along + c.eta**2 * square <= -2 * c.eta * (start - star) + added,
            [along >= now - star, now >= start - c.G * away, away <= c.eta * e * c.G, square <= c.G**2],
            "every local step $e$ of every client; $f$ convex, gradients of at most $G$",
        ),
        (symbolic_sum(added, e, 0, c.E - 1), 2 * step * step_constant(c), whole),
        domain=r"every $E\ge1$",
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
    p, q, r, a, b = sp.symbols("p q r a b", real=True)
    return always(
        (r + a * b) ** 2 <= (p + a**2) * (q + b**2),
        given=[p >= 0, q >= 0, r**2 <= p * q],
        domain=r"one coordinate more: $p=|g|^2$, $q=|x|^2$, $r=\langle g,x\rangle$ before it; with one, both sides "
        "agree",
    )


def slope_along(most: Any, what: str) -> Evidence:
    """⟨g, x⟩ <= D·`most` for |g| <= `most` and |x| <= D."""
    slope, square_g, square_x = sp.symbols("slope square_g square_x", real=True)
    given = [square_g >= 0, slope**2 <= square_g * square_x, square_g <= most**2, square_x <= c.D**2]
    bounded = (slope <= c.D * most, given, rf"{what}; slope $=\langle g,x\rangle$, Cauchy-Schwarz")
    return argument(cauchy_schwarz(), bounded)


def on_a_segment() -> Evidence:
    """Step 4 of the sketch of thm:regret-neff/sharper: no integral is needed."""
    a_here, a_next, b_here, of_all, of_memory, change = sp.symbols(
        "a_here a_next b_here of_all of_memory change", real=True
    )
    delta, worst = sp.symbols("delta worst", positive=True)
    j, N = sp.Symbol("j", integer=True, nonnegative=True), sp.Symbol("N", integer=True, positive=True)
    along = sp.Function("a")
    all_, mem = r"\nabla\widehat F^{\mathrm{all}}", r"\nabla\widehat F^{\mathrm{mem}}"
    most = c.G * c.D  # of the slope along the way
    risen = sp.summation(along(j + 1) - along(j), (j, 0, N - 1))
    added = symbolic_sum(c.D * worst / N, j, 0, N - 1) + risen / N
    way = c.D * worst + (along(N) - along(0)) / N
    return argument(
        slope_along(mismatch, f"$g={all_}-{mem}$ at a point of the way"),
        slope_along(c.G, rf"$g=\pm{all_}$ at an end of the way"),
        (
            of_all - of_memory <= (c.D * worst + a_next - a_here) / N,
            [of_all <= a_next / N, of_memory >= b_here / N, a_here - b_here <= c.D * worst],
            r"every piece: what $\widehat F^{\mathrm{all}}$ and $\widehat F^{\mathrm{mem}}$ rise by, both "
            rf"convex; `worst` is $\sup|{all_}-{mem}|$ over $\Theta$",
        ),
        (added, way, r"the sum over the pieces and $D\cdot\sup+(a_N-a_0)/N$"),
        (
            change < c.D * worst + delta,
            [
                change <= c.D * worst + (a_next - a_here) / N,
                a_next <= most,
                -a_here <= most,
                N * delta > 2 * most,
            ],
            r"every $\delta>0$ and $N>2GD/\delta$: the change is below $D\cdot\sup+\delta$ for every $\delta$, "
            r"so at most $D\cdot\sup$",
        ),
        (
            of_all <= of_memory + root_term(chi, c),
            [of_all - of_memory <= c.D * mismatch, mismatch <= c.sigma * sp.sqrt(chi)],
            r"the means of the gaps; every $D$, $\sigma$, $\chi$; `mismatch` is "
            rf"$\mathbb E\sup|{all_}-{mem}|$ over $\Theta$",
        ),
        domain="every number $N$ of pieces",
    )
