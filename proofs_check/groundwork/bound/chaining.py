"""The constant of the chaining proof, whose five steps the sketch of `lem:gen-Neff-app` tells."""

from proofs_check.prelude import *

HAUSSLER = Given(
    "Haussler 1995",
    "D. Haussler, Sphere packing numbers for subsets of the Boolean $n$-cube with bounded Vapnik-Chervonenkis "
    "dimension, J. Combin. Theory A 69 (1995), Corollary 3: of the functions of a class with values in [0, 1] and "
    r"pseudo-dimension $d$, at most $e(d+1)(2e/\varepsilon)^d$ are pairwise more than $\varepsilon$ apart in "
    "$L_1(Q)$, for every probability $Q$",
)
DEVIATION = Given("lem:gen-Neff-app", r"corrected: deviation $\le5.2B\sqrt{\mathrm{Pdim}/N_{\mathrm{eff}}}$")
# of theory's bound on the deviation, where B = Pdim = N_eff = 1
CONSTANT = Fraction(deviation_term(1, Constants(D=1, sigma=1, eta=1, B=1, Pdim=1)))
RADIUS_RATIO = 8  # of consecutive radii


def entropy(inverse_square: Any, d: Any) -> Any:
    r"""\(h=\tfrac1d\log(2e(d+1)(2e/\epsilon^2)^d)\), from \(1/\epsilon^2\); the 2 in front is for both signs."""
    return (1 + log(2 * (d + 1))) / d + 1 + log(2 * inverse_square)


def chaining_constant(d: int, levels: int = 40) -> Any:
    """A ball around twice the chaining sum for pseudo-dimension d, in units of B√(d/N_eff), tail included."""
    radii = [Fraction(1, 2 * RADIUS_RATIO**j) for j in range(levels + 1)]
    terms = [
        ball(before) * sqrt(2 * entropy(ball(1 / radius**2), ball(d))) for before, radius in pairwise(radii)
    ]
    share = sqrt(ball(2)) / RADIUS_RATIO
    return 2 * (sum(terms) + ball(0).union(terms[-1] * share / (1 - share)))


def with_log_symbols(expression: Any) -> Any:
    """Each logarithm replaced by a symbol that is not negative, which log x is for x >= 1."""
    logs = sorted(expression.atoms(sp.log), key=str)
    for one in logs:
        (inside,) = one.args
        if not ((inside - 1).is_nonnegative or (isinstance(inside, sp.Max) and sp.S.One in inside.args)):
            raise ValueError(f"{one} may be negative")
    return expression.subs({one: sp.Symbol(f"log{i}", nonnegative=True) for i, one in enumerate(logs)})


def tail_is_geometric() -> Evidence:
    """h at radius ε/8 is at most twice h at ε, for every ε = 8^-j/2 with j >= 1: so √h grows by √2 at most."""
    j = sp.Symbol("j", integer=True, positive=True)
    d = sp.Symbol("d", positive=True)
    here, next_ = (sp.expand_log(entropy(4 * sp.Integer(RADIUS_RATIO) ** (2 * i), d)) for i in (j, j + 1))
    both = with_log_symbols(sp.Matrix([here, next_]))
    return always(sp.Le(both[1], 2 * both[0], evaluate=False), domain=r"every level $j\ge1$, every $d>0$")


def decreases_in_d() -> Evidence:
    """∂h/∂d < 0, at any radius."""
    d, inverse_square = sp.symbols("d inverse_square", positive=True)
    slope = with_log_symbols(sp.diff(entropy(inverse_square, d), d))
    return always(sp.Lt(slope, 0, evaluate=False), domain=r"every real $d>0$; $\log(2(d+1))\ge0$")


def _at_pdim_one(relation: Any, limit: Fraction, domain: str) -> Evidence:
    """The chaining sum at d = 1, enclosed: one number, which decides for all Pdim, since h decreases in d."""
    found = compare(
        lambda p: chaining_constant(p["Pdim"]), relation, lambda p: ball(limit), [{"Pdim": 1}], domain=domain
    )
    return replace(found, strength="proof")


def proved_constant(limit: Fraction = CONSTANT) -> Evidence:
    """The proof's constant is below `limit` for every pseudo-dimension."""
    domain = r"$\mathrm{Pdim}=1$, the worst case; every weight vector, $N$ and class"
    return together(_at_pdim_one("<", limit, domain), decreases_in_d(), tail_is_geometric())


def rounded_up() -> Evidence:
    """A tenth less than the constant is less than this proof gives."""
    domain = r"$\mathrm{Pdim}=1$: the constant is the chaining sum, rounded up to a tenth"
    return _at_pdim_one(">", CONSTANT - Fraction(1, 10), domain)
