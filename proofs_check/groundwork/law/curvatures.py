r"""Samples with a gradient and a curvature of their own, every stream counted: E δ and E δ² as polynomials in 1/λ.

A sample is one of a few kinds, so a cohort is a multinomial vector of counts. If all admissions are multiplied by λ, a
joint cumulant of k memory means is proportional to \(\lambda^{1-k}\): expectations are polynomials in 1/λ, and their
values at λ = 1, 2, … give every coefficient exactly.
"""

from flint import fmpq

from proofs_check.prelude import *

from theory.law.curved import Tails

SYMBOLS = glossary("curvature")


@dataclass(frozen=True)
class Kinds:
    """Law of a sample: triples (h, g, k) with their chances; its gradient is g + hδ + kδ²/2."""

    values: tuple[tuple[F, F, F], ...]
    chances: tuple[F, ...]

    def __post_init__(self) -> None:
        if sum(self.chances) != 1 or self.mean(lambda h, g, k: g) != 0:
            raise ValueError("chances must add up to 1 and gradients to 0 on average")

    def mean(self, of: Callable[[Any, Any, Any], Any]) -> F:
        return sum((p * of(*value) for p, value in zip(self.chances, self.values, strict=True)), F(0))

    def moment(self, i: int, j: int) -> F:
        """E (h_i - h)^i·g^j."""
        middle = self.mean(lambda h, g, k: h)
        return self.mean(lambda h, g, k: (h - middle) ** i * g**j)

    @property
    def moments(self) -> Moments:
        """Moments in theory's form; E hg is E (h_i - h)g, since E g = 0."""
        spread, noise, tilt, skew = (self.moment(*powers) for powers in ((2, 0), (0, 2), (1, 1), (1, 2)))
        return Moments(h=self.mean(lambda h, g, k: h), spread=spread, noise=noise, tilt=tilt, skew=skew)

    @property
    def tails(self) -> Tails:
        third, fourth, cross, gradient = (self.moment(*powers) for powers in ((3, 0), (4, 0), (2, 1), (0, 4)))
        return Tails(third=third, fourth=fourth, cross=cross, gradient=gradient)

    def cohort(self, size: int) -> Iterator[tuple[F, tuple[F, ...]]]:
        """Pairs (chance, sums of h, g and k) of `n` samples."""
        for counts in _compositions(size, len(self.values)):
            left, chance = size, F(1)
            for count, p in zip(counts, self.chances, strict=True):
                chance *= comb(left, count) * p**count
                left -= count
            columns = (zip(counts, column, strict=True) for column in zip(*self.values, strict=True))
            yield chance, tuple(sum((c * x for c, x in column), F(0)) for column in columns)


def _kinds(*values: tuple[Any, Any], chances: tuple[F, ...]) -> Kinds:
    """Quadratic losses: pairs (h, g)."""
    return Kinds(tuple((F(h), F(g), F(0)) for h, g in values), chances)


# gradient and curvature depend on each other; the same with three kinds; and a gradient of mean 0 at each curvature
PAIR = _kinds((1, 1), (F(1, 2), -2), chances=(F(2, 3), F(1, 3)))
TRIPLE = _kinds((1, 1), (F(1, 4), -1), (F(1, 2), 0), chances=(F(1, 4), F(1, 4), F(1, 2)))
INDEPENDENT = _kinds((1, 1), (1, -1), (F(1, 4), 0), chances=(F(1, 4), F(1, 4), F(1, 2)))
KINDS = (PAIR, TRIPLE, INDEPENDENT)


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, parts - 1):
            yield (first, *rest)


Held = tuple[tuple[int, int, int, tuple[fmpq, ...]], ...]  # cohorts: round, client, size, sums of h, g and k


def _quick(x: F) -> fmpq:
    return fmpq(x.numerator, x.denominator)


@dataclass(frozen=True)
class Stream:
    """Admissions of each round, a list over clients; every sample stays for K rounds; E steps of size η a round."""

    admissions: tuple[tuple[int, ...], ...]
    K: int
    kinds: Kinds
    start: F
    eta: F
    E: int = 1
    powers: int = 2

    def expected(self, scale: int) -> list[list[F]]:
        """E δ(t), E δ(t)², …, t = 1..T+1, over all streams, admissions times `scale`; in Flint's fast rationals."""
        rounds = [list(self._entering(t, scale)) for t in range(len(self.admissions))]
        totals = [[fmpq(0)] * self.powers for _ in range(len(rounds) + 1)]
        for t, chance, distance in self._branches(rounds, fmpq(1), _quick(self.start), ()):
            for power in range(self.powers):
                totals[t][power] += chance * distance ** (power + 1)
        return [[F(int(x.p), int(x.q)) for x in row] for row in totals]

    def _entering(self, t: int, scale: int) -> Iterator[tuple[fmpq, Held]]:
        """Possible admissions of the clients in a round, with their chances."""
        sizes = [(m, scale * amount) for m, amount in enumerate(self.admissions[t]) if amount]
        for drawn in product(*(self._cohorts(size) for _, size in sizes)):
            cohorts = ((t, m, size, sums) for (m, size), (_, sums) in zip(sizes, drawn, strict=True))
            yield prod((p for p, _ in drawn), start=fmpq(1)), tuple(cohorts)

    def _cohorts(self, size: int) -> list[tuple[fmpq, tuple[fmpq, ...]]]:
        return [(_quick(chance), tuple(map(_quick, sums))) for chance, sums in self.kinds.cohort(size)]

    def _branches(
        self,
        rounds: Sequence[list[tuple[fmpq, Held]]],
        chance: fmpq,
        distance: fmpq,
        memory: Held,
        t: int = 0,
    ) -> Iterator[tuple[int, fmpq, fmpq]]:
        """Round, chance and δ of every beginning of a stream: what two streams have in common is counted once."""
        yield t, chance, distance
        if t == len(rounds):
            return
        old = tuple(cohort for cohort in memory if t < cohort[0] + self.K)
        for p, fresh in rounds[t]:
            moved = self._moved(distance, (*old, *fresh))
            yield from self._branches(rounds, chance * p, moved, (*old, *fresh), t + 1)

    def _moved(self, distance: fmpq, held: Held) -> fmpq:
        """The model after a round: E steps of each client on its own samples, averaged with weights n_m/n."""
        memory: dict[int, list[fmpq]] = {}
        for _, m, size, sums in held:
            before = memory.get(m, [fmpq(0)] * 4)
            memory[m] = [x + y for x, y in zip(before, (size, *sums), strict=True)]
        n, moved, eta = sum((mine[0] for mine in memory.values()), fmpq(0)), fmpq(0), _quick(self.eta)
        for held_here, *totals in memory.values():
            h, g, k = (x / held_here for x in totals)
            local = distance
            for _ in range(self.E):
                local -= eta * (g + h * local + k * local * local / 2)
            moved += held_here / n * local
        return moved if n else distance

    def means(self, points: int) -> list[list[list[F]]]:
        """The coefficients of E δ(t), E δ(t)², … for t = 1..T+1, from λ = 1..points."""
        runs = [self.expected(scale) for scale in range(1, points + 1)]
        return [[coefficients(power) for power in zip(*at, strict=True)] for at in zip(*runs, strict=True)]

    def followed(self, rounds: int, size: int) -> list[tuple[F, F]]:
        """E δ(t) and E δ(t)², t = 1..T+1, for one client, E = 1, k = 0: δ' is linear in δ given the memory."""
        fresh = [(chance, sums[:2]) for chance, sums in self.kinds.cohort(size)]
        states = {(): (F(1), self.start, self.start**2)}
        found = [(self.start, self.start**2)]
        for _ in range(rounds):
            after: dict[Any, tuple[F, F, F]] = {}
            for memory, (weight, mean, square) in states.items():
                for chance, sums in fresh:
                    held = (*memory, sums)
                    h, g = (sum(column, F(0)) / (size * len(held)) for column in zip(*held, strict=True))
                    left, pull = 1 - self.eta * h, -self.eta * g
                    later = left**2 * square + 2 * left * pull * mean + pull**2 * weight
                    moved = (weight, left * mean + pull * weight, later)
                    kept = held[-(self.K - 1) :] if self.K > 1 else ()
                    before = after.get(kept, (F(0),) * 3)
                    w, m, s = (old + chance * new for old, new in zip(before, moved, strict=True))
                    after[kept] = (w, m, s)
            states = after
            _, mean, square = (sum(column, F(0)) for column in zip(*states.values(), strict=True))
            found.append((mean, square))
        return found


def coefficients(values: Sequence[F]) -> list[F]:
    """Coefficients, lowest first, of the polynomial in 1/λ with these values at λ = 1, 2, …

    >>> coefficients([F(3), F(2), F(5, 3)])
    [Fraction(1, 1), Fraction(2, 1), Fraction(0, 1)]
    """
    points, slopes = [F(1, at + 1) for at in range(len(values))], list(values)
    for order in range(1, len(points)):
        for i in range(len(points) - 1, order - 1, -1):
            slopes[i] = (slopes[i] - slopes[i - 1]) / (points[i] - points[i - order])
    found = [F(0)] * len(points)
    for slope, point in zip(reversed(slopes), reversed(points), strict=True):
        found = [low - point * same for low, same in zip([F(0), *found[:-1]], found, strict=True)]
        found[0] += slope
    return found


def moments_of_a_mean() -> Evidence:
    """E ε² = Var/n, E ε³ = μ₃/n², E ε⁴ = 3Var²/n² + (μ₄-3Var²)/n³ for a mean of n, by induction over n."""
    n, var, third, fourth = sp.symbols("n Var mu3 mu4")
    one = {2: var, 3: third, 4: fourth}
    sums = {2: n * var, 3: n * third, 4: n * fourth + 3 * n * (n - 1) * var**2}  # of a sum of n
    raised = {2: sums[2] + var, 3: sums[3] + third, 4: sums[4] + 6 * sums[2] * var + fourth}
    scaled = {2: var / n, 3: third / n**2, 4: 3 * var**2 / n**2 + (fourth - 3 * var**2) / n**3}
    return argument(
        *((sums[k].subs(n, 1), one[k], f"moment {k} of one sample") for k in sums),
        *((sums[k].subs(n, n + 1), raised[k], f"moment {k} of one sample more") for k in sums),
        *((sums[k] / n**k, scaled[k], f"moment {k} of the mean") for k in sums),
        domain="every $n$",
    )
