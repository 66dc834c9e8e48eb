"""T rounds: the recursions add up and telescope, and the bounds of `theory/` are the sums that come out."""

from proofs_check.prelude import *

from proofs_check.groundwork.bound import one_round
from proofs_check.groundwork.bound.one_round import c, step
from proofs_check.groundwork.bound.population import deviation_is_covered
from theory.bound import sharper
from theory.bound import theorem1 as bound


def telescoping(
    per_round: Callable[[Any], Any], terms: Callable[[Any], Any], constant: Callable[[Constants], Any]
) -> Evidence:
    """T recursions add up: [d(1) - d(T+1)]/(2ηE) is at most the one-time term, the rest is constant and `terms`.

    `per_round` is what a recursion adds to the squared distance besides the gap, given the mismatch χ(t).
    """
    t = sp.Symbol("t", integer=True, positive=True)
    distance, mismatch = sp.Function("d"), sp.Function("chi", nonnegative=True)
    first, last = sp.symbols("first last", real=True)
    fallen = sp.summation(distance(t) - distance(t + 1), (t, 1, T))
    same, varying = sp.expand(per_round(mismatch(t)) / (2 * step)).as_independent(t, as_Add=True)
    total = fallen.subs({distance(1): first, distance(T + 1): last}) / (2 * step)
    total += symbolic_sum(same, t, 1, T) + sp.Sum(varying, (t, 1, T))
    once = (first - last) / (2 * step)
    return argument(
        (
            total,
            once + T * constant(c) + sp.Sum(sp.expand(terms(mismatch(t))), (t, 1, T)),
            r"the sum of $T$ recursions and $[d(1)-d(T+1)]/(2\eta E)+T$ times the constant + the rounds' terms",
        ),
        (
            once <= bound.initial_term(c.merged),
            [first <= c.D**2, last >= 0],
            r"every $D$, $\eta$, $E$; first $=|\theta^1-\theta^\star|^2\le D^2$, last "
            r"$=|\theta^{T+1}-\theta^\star|^2\ge0$",
        ),
        domain=r"every $T$, every sequence of squared distances $d$ and of mismatches $\chi$",
    )


def memory_telescopes() -> Evidence:
    return telescoping(lambda chi: (step * c.G) ** 2, lambda chi: sp.S.Zero, sharper.step_constant)


# the gaps of the memory's objective, added up over T rounds: steps 1 to 3 under thm:regret-neff/memory
LOCAL: dict[str, Check | tuple[Check, ...]] = {
    "local steps": one_round.memory_recursion,
    "average over clients": one_round.average_over_clients,
    "projection": one_round.PROJECTION,
    "telescoping sum": memory_telescopes,
}


def _rows(T: int) -> list[tuple[Any, ...]]:
    """Symbols n, N, Ṽ, χ and stale weight of T rounds."""
    return [sp.symbols(f"n_{i} N_{i} V_{i} chi_{i} stale_{i}", positive=True) for i in range(1, T + 1)]


@dataclass(frozen=True)
class Whole:
    """A bound of `theory/`, over rounds and in one round; what the links give for a round, and its constant."""

    terms: Callable[..., bound.Terms]
    of_round: Callable[..., bound.Terms]
    links: Callable[..., Any]
    constant: Callable[[Constants], Any]

    def is_its_links(self) -> Evidence:
        return equal(
            self.of_round(*_rows(1)[0]).total,
            self.links(*_rows(1)[0]),
            domain="all symbols; by the telescoping sum, $T$ such rounds add up",
            what="theory's round and the sum of its links",
        )

    def assembled(self) -> Evidence:
        """T = 1, 2, 3: the one-time term, and the terms and the constant of each round, as theory adds them up."""
        found = []
        for rounds in (1, 2, 3):
            rows = _rows(rounds)
            terms, each = self.terms(*zip(*rows, strict=True)), [self.of_round(*row).total for row in rows]
            for left, right, what in (
                (terms.root + terms.linear + terms.generalisation, sum(each), "the statistical terms"),
                (terms.constant, rounds * self.constant(c), "the constant"),
                (terms.initial, bound.initial_term(c.merged), "the one-time term"),
            ):
                where, of = f"$T={rounds}$, all symbols", f"{what} of $T$ rounds and of one"
                found.append(equal(left, right, domain=where, what=of, strength="certified"))
        return together(*found)


THEOREM = Whole(
    lambda n, N, V, chi, stale: bound.theorem_1(n, N, V, chi, c).terms,
    lambda n, N, V, chi, stale: bound.round_terms(chi, 1 / (N * V), N, c.merged),
    # what the recursion leaves of it, and the third term
    lambda n, N, V, chi, stale: (
        bound.root_term(chi, c)
        + bound.linear_term(chi, c.merged)
        + bound.generalisation_term(1 / (N * V), N, c)
    ),
    bound.per_round_constant,
)
SHARPER = Whole(
    lambda n, N, V, chi, stale: sharper.sharper_1(N, V, chi, c).terms,
    lambda n, N, V, chi, stale: sharper.sharper_round(chi, 1 / (N * V), c),
    # what the mismatch costs, and the proved deviation
    lambda n, N, V, chi, stale: bound.root_term(chi, c) + bound.deviation_term(1 / (N * V), c),
    sharper.step_constant,
)
MEMORY = Whole(
    lambda n, N, V, chi, stale: sharper.memory_1(stale, c).terms,
    lambda n, N, V, chi, stale: sharper.memory_round(stale, c),
    # the uniform deviation of its older samples: 1/N_eff is their squared weights
    lambda n, N, V, chi, stale: bound.deviation_term(stale, c),
    sharper.step_constant,
)


def below_theorem_1() -> Evidence:
    """Term by term, at the same σ: same root and one-time term, no linear term, a smaller constant and third term."""
    columns = [[x] for x in _rows(1)[0]]
    larger, smaller = THEOREM.terms(*columns), SHARPER.terms(*columns)
    constant, linear = (
        sp.Lt(getattr(smaller, name), getattr(larger, name), evaluate=False)
        for name in ("constant", "linear")
    )
    return argument(
        (smaller.root, larger.root, "the root terms"),
        (smaller.initial, larger.initial, "the initial terms"),
        (constant, [], r"every $D$, $\eta$, $E$, $L$, $G$"),
        (linear, [], r"every $\sigma$, $\eta$, $E$, $\chi>0$"),
        deviation_is_covered(),
        domain="all symbols",
    )


SUMMED = Constants(D=2, sigma=3, eta=Fraction(1, 7), B=5, Pdim=2, E=3, G=Fraction(3, 2))
BALL_RADIUS_MAX = 1e-20  # balls that overlap say nothing unless they are small

ADMITTED = everywhere("$K=1,2,4$, $T\\le9$, rates to 3, $E=3$", K=(1, 2, 4), rounds=((1, 1), (3, 2), (2, 9)))


def _summed(quick: bound.Bound, slow: bound.Bound) -> Found:
    """The sum to any T of `theory/` against the bound along the rounds of the sample-level simulator, term by term."""
    for name in ("root", "linear", "generalisation", "constant", "initial"):
        a, b = (ball(getattr(found.terms, name)) for found in (quick, slow))
        if not (a.overlaps(b) and a.rad() < BALL_RADIUS_MAX and b.rad() < BALL_RADIUS_MAX):
            return {"term": name, "summed": a.str(8), "round by round": b.str(8)}
    return None


@ADMITTED
def constant_sharper(K: int, rounds: tuple[int, int]) -> Found:
    (rate, T), names = rounds, ("N", "uniformity", "mismatch")
    with precise():
        seen = simulate([[rate]] * T, K)
        N, V, chi = ([ball(Fraction(getattr(one, name))) for one in seen] for name in names)
        quick = sharper.sharper_constant_bound(K, rate, T, SUMMED, certified=True)
        return _summed(quick, sharper.sharper_1(N, V, chi, SUMMED.map(ball)))


@ADMITTED
def constant_memory(K: int, rounds: tuple[int, int]) -> Found:
    rate, T = rounds
    with precise():
        seen = simulate([[rate]] * T, K)
        stale = [ball(Fraction(sum(r.uses[i] > 1 for i in r.memory), r.n * r.n)) for r in seen]
        quick = sharper.memory_constant_bound(K, rate, T, SUMMED, certified=True)
        return _summed(quick, sharper.memory_1(stale, SUMMED.map(ball)))


def attained() -> Evidence:
    """A slope of G from one end of Θ to the other, M rounds away, uses up both terms: nothing smaller would do."""
    t, M = sp.Symbol("t", integer=True, nonnegative=True), sp.Symbol("M", integer=True, positive=True)
    way = M * step * c.G
    return equal(
        symbolic_sum(c.G * (way - t * step * c.G), t, 0, M - 1),
        (bound.initial_term(c.merged) + M * sharper.step_constant(c)).subs(c.D, way),
        domain=r"$\Theta=[0,D]$ with $D=M\eta EG$, loss $G\theta$, start at $D$, $T=M$ rounds; every $M$, $\eta$, "
        "$E$, $G$",
        what=r"the cumulative excess risk and $D^2/(2\eta E)+T\eta EG^2/2$",
    )
