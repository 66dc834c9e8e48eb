r"""The algorithm itself, on every stream of samples: quadratic losses, clients one by one, local steps one by one.

Losses are \(\tfrac12(\theta-z)^\top H(\theta-z)\) in the plane, with one H whose axes are not those of the samples. A
sample takes one of three values, so with s samples there are \(3^s\) streams, each with its probability.
"""

from proofs_check.prelude import *

Sample = tuple[int, int]
Point = tuple[F, F]
Memory = tuple[Sample, ...]

QUADRATIC = (
    "every loss is quadratic with the same Hessian $H$",
    r"samples are independent, with one mean $\theta^\star$ and one covariance, and clients are weighted by $n_m/n$",
)
# the eigenvectors of H, in rational numbers
AXES: tuple[Point, Point] = ((F(3, 5), F(4, 5)), (F(-4, 5), F(3, 5)))
VALUES: tuple[Point, ...] = ((F(2), F(0)), (F(-1), F(3)), (F(0), F(-2)))
CHANCES = (F(1, 2), F(1, 4), F(1, 4))


def _dot(x: Sequence[Any], y: Sequence[Any]) -> F:
    return sum((p * q for p, q in zip(x, y, strict=True)), F(0))


def _mean(values: Sequence[Any]) -> F:
    return _dot(values, CHANCES)


MEAN: Point = (_mean([x for x, _ in VALUES]), _mean([y for _, y in VALUES]))


def kept_by_age(admissions: Sequence[Sequence[int]], K: int) -> list[Memory]:
    """The memory in each round, by the simulator."""
    return [seen.memory for seen in simulate(admissions, K)]


def kept_by_capacity(admissions: Sequence[Sequence[int]], capacity: int) -> list[Memory]:
    """Memories if every client keeps its newest samples, as many as fit."""
    return [seen.memory for seen in simulate_by_capacity(admissions, [capacity] * len(admissions[0]))]


def cohorts(admissions: Sequence[Sequence[int]], kept: int, *, by: str) -> Cohorts:
    """theory's cohorts of the same rule, client by client."""
    rule = by_age if by == "age" else by_capacity
    first, *others = (rule(list(mine), kept) for mine in zip(*admissions, strict=True))
    return sum(others, first)


@dataclass(frozen=True)
class Quadratic:
    """Eigenvalues of H, step size, local steps, and where θ begins."""

    h: tuple[F, F]
    eta: F
    E: int
    start: Point

    @property
    def variance(self) -> list[F]:
        """Variance of a sample along each axis of H."""
        return [_mean([_dot(axis, _less(value, MEAN)) ** 2 for value in VALUES]) for axis in AXES]

    @property
    def distance(self) -> list[F]:
        """Squared distance of the start from the minimiser along each axis."""
        return [_dot(axis, _less(self.start, MEAN)) ** 2 for axis in AXES]

    def gradient(self, theta: Point, z: Point) -> Point:
        """H(θ - z)."""
        along = [h * _dot(axis, _less(theta, z)) for h, axis in zip(self.h, AXES, strict=True)]
        x, y = (sum((c * axis[i] for c, axis in zip(along, AXES, strict=True)), F(0)) for i in (0, 1))
        return x, y

    def excess(self, theta: Point) -> F:
        """F_P(θ) - F_P(θ*), half the square of the distance in the norm of H."""
        distance = _less(theta, MEAN)
        return _dot(distance, self.gradient(theta, MEAN)) / 2

    def mean_excess(self, memories: Sequence[Memory]) -> list[F]:
        """E[F_P(θ(t)) - F_P(θ*)] for t = 1..T+1, over all streams."""
        return self.averaged_excess(memories, [1] * (len(memories) + 1), [self.eta] * len(memories))

    def averaged_excess(
        self, memories: Sequence[Memory], shares: Sequence[Any], etas: Sequence[F]
    ) -> list[F]:
        """Mean excess of the running mean, which moves by `shares` to the newest model; steps may vary by round."""
        totals, steps = [F(0)] * (len(memories) + 1), [replace(self, eta=eta) for eta in etas]
        for t, chance, mean in _branches(memories, shares, steps, 0, F(1), (self.start, self.start), {}):
            totals[t] += chance * self.excess(mean)
        return totals

    def _round(self, theta: Point, memory: Memory, value: dict[Sample, Point]) -> Point:
        """Every client's E steps on its own samples, then the average with weights n_m/n."""
        average = [F(0), F(0)]
        for m in {client for client, _ in memory}:
            mine = [value[sample] for sample in memory if sample[0] == m]
            local = theta
            for _ in range(self.E):
                slopes = [self.gradient(local, z) for z in mine]
                step = [sum((s[i] for s in slopes), F(0)) / len(mine) for i in (0, 1)]
                local = (local[0] - self.eta * step[0], local[1] - self.eta * step[1])
            average = [total + F(len(mine), len(memory)) * x for total, x in zip(average, local, strict=True)]
        return average[0], average[1]


def _less(x: Point, y: Point) -> Point:
    return x[0] - y[0], x[1] - y[1]


def _branches(
    memories: Sequence[Memory],
    shares: Sequence[Any],
    steps: Sequence[Quadratic],
    t: int,
    chance: F,
    models: tuple[Point, Point],
    value: dict[Sample, Point],
) -> Iterator[tuple[int, F, Point]]:
    """Round, chance and mean of every beginning of a stream: what two streams have in common is run once."""
    theta, mean = models
    yield t, chance, mean
    if t == len(memories):
        return
    fresh = [sample for sample in memories[t] if sample not in value]
    for drawn in product(range(len(VALUES)), repeat=len(fresh)):
        known = value | dict(zip(fresh, (VALUES[i] for i in drawn), strict=True))
        p = prod((CHANCES[i] for i in drawn), start=chance)
        moved = steps[t]._round(theta, memories[t], known) if memories[t] else theta
        new = tuple(old + shares[t + 1] * (x - old) for old, x in zip(mean, moved, strict=True))
        yield from _branches(memories, shares, steps, t + 1, p, (moved, (new[0], new[1])), known)


# a sample is its client's mean plus its deviation times one of these, with this chance: mean 0, variance 2
DRAWN = {F(2): F(1, 3), F(-1): F(2, 3)}


def federated(
    counts: Sequence[int], K: int, rounds: int, clients: Sequence[Any], *, eta: Any, E: int, start: Any
) -> list[tuple[F, F]]:
    """E θ(t) and E (θ(t) - start)² over all streams, t = 1..T+1; clients are (curvature, mean, deviation, weight)."""
    n, totals = sum(counts), [(F(0), F(0))] * (rounds + 1)
    for drawn in product(DRAWN, repeat=n * rounds):
        chance, path = prod((DRAWN[value] for value in drawn), start=F(1)), [start]
        for t in range(rounds):
            moved = F(0)
            for m, (h, mean, deviation, weight) in enumerate(clients):
                at, local = sum(counts[:m]), path[-1]
                cohorts = range(max(t - K + 1, 0), t + 1)
                held = [drawn[j * n + at + i] for j in cohorts for i in range(counts[m])]
                for _ in range(E):
                    local -= eta * h * (local - mean - deviation * sum(held) / len(held))
                moved += weight * local
            path.append(moved)
        totals = [
            (mean + chance * theta, square + chance * (theta - start) ** 2)
            for (mean, square), theta in zip(totals, path, strict=True)
        ]
    return totals
