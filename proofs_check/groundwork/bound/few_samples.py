"""All outcomes of a few samples, trained exactly: the memory's objective against the population risk."""

from itertools import takewhile

from proofs_check.prelude import *

from proofs_check.groundwork.bound.stable import overlap_of
from theory.bound.confidence import sample_range
from theory.bound.stability import curbed_overlap


@dataclass(frozen=True)
class Few:
    """Losses a/2·θ² + bθ of two atoms, on [-1, 1]; a client sees the first with its own chance."""

    curvature: tuple[Fraction, Fraction]
    slope: tuple[Fraction, Fraction]
    chances: tuple[Fraction, Fraction]
    eta: Fraction
    E: int
    edge: Fraction = Fraction(1)

    def loss(self, z: int, x: Fraction) -> Fraction:
        return self.curvature[z] / 2 * x * x + self.slope[z] * x

    def risk(self, client: int, x: Fraction) -> Fraction:
        p = self.chances[client]
        return p * self.loss(0, x) + (1 - p) * self.loss(1, x)

    def trained(self, x: Fraction, samples: Sequence[int]) -> Fraction:
        """E local steps on the mean loss."""
        a, b = (sum(v[z] for z in samples) / Fraction(len(samples)) for v in (self.curvature, self.slope))
        for _ in range(self.E):
            x -= self.eta * (a * x + b)
        return x

    @property
    def constants(self) -> Constants:
        """L, and a G that holds as far as local steps lead from [-edge, edge]."""
        reach, G = self.edge, Fraction(0)
        for _ in range(self.E):
            G = max(G, *(a * reach + abs(b) for a, b in zip(self.curvature, self.slope, strict=True)))
            reach += self.eta * G
        L, G = (max(*x, Fraction(1, 10**6)) for x in (self.curvature, (G, G)))
        return Constants(D=2 * self.edge, sigma=1, eta=self.eta, B=1, Pdim=1, E=self.E, L=L, G=G)


def outcomes(few: Few, seen: Sequence[Snapshot]) -> Iterator[tuple[dict[Any, int], Fraction]]:
    """Every outcome of the samples, and its chance."""
    samples = list(seen[-1].uses)
    for values in product((0, 1), repeat=len(samples)):
        outcome, chance = dict(zip(samples, values, strict=True)), Fraction(1)
        for (client, _), z in outcome.items():
            chance *= few.chances[client] if z == 0 else 1 - few.chances[client]
        yield outcome, chance


def path(
    few: Few, seen: Sequence[Snapshot], weights: Any, x: Fraction, outcome: dict[Any, int]
) -> Iterator[tuple[Fraction, list[tuple[Fraction, int, list[Any]]]]]:
    """The model at the start of every round, and the clients that hold samples: share, number, samples."""
    for one in seen:
        shares = weights or [Fraction(one.n_of(m), one.n) for m in (0, 1)]
        held = [(share, m, [i for i in one.memory if i[0] == m]) for m, share in enumerate(shares)]
        held = [client for client in held if client[2]]
        yield x, held
        after = sum(share * few.trained(x, [outcome[i] for i in samples]) for share, _, samples in held)
        x = max(min(after, few.edge), -few.edge)


def remembered(few: Few, seen: Sequence[Snapshot], weights: Any, start: Fraction) -> list[Fraction]:
    """The mean of F_P(θ) - F_mem(θ) at the start of every round, over all outcomes of the samples."""
    means = [Fraction(0)] * len(seen)
    for outcome, chance in outcomes(few, seen):
        for t, (x, held) in enumerate(path(few, seen, weights, start, outcome)):
            for share, m, samples in held:
                gap = few.risk(m, x) - sum(few.loss(outcome[i], x) for i in samples) / Fraction(len(samples))
                means[t] += chance * share * gap
    return means


UNIT = fractions(0, 1, max_denominator=4)
STEP = UNIT.filter(bool)
SIGNED = fractions(-1, 1, max_denominator=4)


def _few_samples(K: int, rounds: list[list[int]], shared: bool, most: int = 6) -> list[Snapshot]:
    """The first rounds, with at most that many samples and no empty one; with shares, no empty client either."""
    seen = simulate(rounds, K)

    def fits(one: Snapshot) -> bool:
        return most >= one.N and one.n > 0 and (not shared or all(one.n_of(m) for m in (0, 1)))

    return list(takewhile(fits, seen))


DRAWN: dict[str, Any] = {
    "K": retentions(4),
    "rounds": admissions(clients=2, rounds=4, most=2),
    "curvature": st.tuples(UNIT, UNIT),
    "slope": st.tuples(SIGNED, SIGNED),
    "chances": st.tuples(UNIT, UNIT),
    "share": st.none() | UNIT,
    "eta": fractions(Fraction(1, 4), 2),
    "E": st.integers(1, 2),
    "start": SIGNED,
}


def _cases(most: int = 6, **other: Any) -> st.SearchStrategy[Any]:
    """Losses, the first rounds with at most `most` samples, the clients' weights (None: n_m/n) and the start."""

    def case(K: int, rounds: Any, chances: Any, share: Any, start: Any, **losses: Any) -> tuple[Any, ...]:
        weights = None if share is None else [share, 1 - share]
        few = Few(chances=chances if weights else (chances[0],) * 2, **losses)
        return few, _few_samples(K, rounds, weights is not None, most), weights, start

    return st.builds(case, **DRAWN | other)


LOSSES = (
    r"$\frac a2\theta^2+b\theta$, two values of a sample, two clients with distributions and shares of their "
    r"own or one distribution and weights $n_m/n$, $E\le2$, all outcomes of at most "
)
FEW = f"{LOSSES}six samples"


def _gap(few: Few, seen: list[Snapshot], weights: Any, start: Fraction, mu: Any = None) -> Found:
    """Test whether the mean of F_P(θ) - F_mem(θ) exceeds the bound in a round, curbed where μ is given."""
    k = few.constants
    rounds = (
        zip(remembered(few, seen, weights, start), overlap_of(seen, weights), strict=True) if seen else ()
    )
    for t, (mean, (overlap, largest)) in enumerate(rounds, start=1):
        counted = overlap if mu is None else curbed_overlap(overlap, largest, mu, k)
        most = stability_round(counted, k).total
        if mean > most:
            return {"t": t, "mean": mean, "bound": most}
    return None


@drawn(rf"{FEW}, $\eta\le2/L$", (12, 800), case=_cases())
def gap_is_bounded(case: Any) -> Found:
    """The mean of F_P(θ) - F_mem(θ) is at most 2ηEG²·O(t) in every round."""
    return _gap(*case)


STRONGLY = st.tuples(*[st.sampled_from([Fraction(1, 2), Fraction(1)])] * 2)


@drawn(rf"{FEW}, $a\ge1/2$, $\eta\le1$", (12, 800), case=_cases(curvature=STRONGLY, eta=STEP))
def curbed_gap_is_bounded(case: Any) -> Found:
    """The same with the curbed overlap, for losses that are strongly convex."""
    few, seen, weights, start = case
    return _gap(few, seen, weights, start, min(few.curvature))


@drawn(
    r"$G z\theta$, $z=\pm1$ with equal chances, nowhere near the edge of $\Theta$; at most six samples",
    (6, 300),
    K=retentions(4),
    rounds=admissions(clients=2, rounds=4, most=2),
    G=fractions(),
    step=fractions(),
    E=st.integers(1, 3),
)
def half_is_attained(K: int, rounds: list[list[int]], G: Fraction, step: Fraction, E: int) -> Found:
    """Linear losses with symmetric slopes: the mean is ηEG²·O(t), half of the bound, in every round."""
    few = Few((Fraction(0),) * 2, (G, -G), (Fraction(1, 2),) * 2, step, E, edge=10**6 * G * step)
    seen = _few_samples(K, rounds, False)
    if not seen:
        return None
    half = [stability_round(o, few.constants).total / 2 for o, _ in overlap_of(seen)]
    means = remembered(few, seen, None, Fraction(0))
    return unless(means == half, means=means, half=half)


# --- in high probability -----------------------------------------------------------------------------------


def influence_of(seen: Sequence[Snapshot], weights: Any = None) -> dict[Any, tuple[Fraction, Fraction]]:
    """Sample by sample: W and R, for any retention. `weights` has the clients' shares, else they are n_m/n."""
    born: dict[Any, int] = {}
    found: dict[Any, tuple[Fraction, Fraction]] = {}
    for t, one in enumerate(seen):
        now = {i: weights[i[0]] / one.n_of(i[0]) if weights else Fraction(1, one.n) for i in one.memory}
        for j, (W, R) in found.items():
            older = sum((w for i, w in now.items() if born.get(i, t) <= born[j]), Fraction(0))
            found[j] = W + now.get(j, 0), R + W * older
        for i in now:
            if i not in born:
                born[i], found[i] = t, (now[i], Fraction(0))
    return found


def errors(
    few: Few, seen: Sequence[Snapshot], weights: Any, start: Fraction, star: Fraction, outcome: dict[Any, int]
) -> dict[Any, Fraction]:
    """Σ_t w_i(t)h_i(θ) of every sample, h_i = F(θ) - F(θ*) - [ℓ(θ; z_i) - ℓ(θ*; z_i)]."""
    found = dict.fromkeys(outcome, Fraction(0))
    for x, held in path(few, seen, weights, start, outcome):
        for share, m, samples in held:
            for i in samples:
                gap = few.loss(outcome[i], x) - few.loss(outcome[i], star)
                found[i] += share / len(samples) * (few.risk(m, x) - few.risk(m, star) - gap)
    return found


def _unlikely(few: Few, seen: list[Snapshot], weights: Any, start: Fraction, star: Fraction) -> Found:
    """The change by one sample, the mean given the past, and the probability of what is left: each and its bound."""
    if not seen:
        return None
    k, born = few.constants, {i: t for t, one in reversed(list(enumerate(seen))) for i in one.memory}
    order = sorted(born, key=lambda i: i[1])  # that of admission
    runs = {
        tuple(outcome[i] for i in order): (chance, errors(few, seen, weights, start, star, outcome))
        for outcome, chance in outcomes(few, seen)
    }
    ranges = {j: sample_range(*pair, k) for j, pair in influence_of(seen, weights).items()}
    for values, (_, found) in runs.items():
        for at, j in enumerate(order):
            other = runs[*values[:at], 1 - values[at], *values[at + 1 :]][1]
            change = sum(found[i] - other[i] for i in order if born[i] <= born[j])
            if change > ranges[j]:
                return {"values": values, "sample": j, "change": change, "range": ranges[j]}
    means: dict[Any, Fraction] = {}  # of a sample's error, given earlier rounds; times the chance
    chances: dict[Any, Fraction] = {}
    past = {i: sum(born[j] < born[i] for j in order) for i in order}
    for values, (chance, found) in runs.items():
        for i in order:
            key = (i, values[: past[i]])
            means[key] = means.get(key, Fraction(0)) + chance * found[i]
            chances[key] = chances.get(key, Fraction(0)) + chance
    most = sum((stability_round(overlap, k).total for overlap, _ in overlap_of(seen, weights)), Fraction(0))
    left: dict[Fraction, Fraction] = {}
    for values, (chance, found) in runs.items():
        if chance:
            keys = [(i, values[: past[i]]) for i in order]
            mean = sum((means[key] / chances[key] for key in keys), Fraction(0))
            if mean > most:
                return {"values": values, "mean given the past": mean, "bound": most}
            rest = sum(found.values(), Fraction(0)) - mean
            left[rest] = left.get(rest, Fraction(0)) + chance
    squares = sum(c * c for c in ranges.values())
    for far in left:
        beyond = sum(p for rest, p in left.items() if rest >= far)
        if far > 0 and ball(beyond) * ball(2 * far * far / squares).exp() > 1:
            return {"far": far, "chance": beyond, "squares": squares}
    return None


@drawn(rf"{LOSSES}four samples, $\eta\le2/L$", (8, 600), case=_cases(most=4), star=SIGNED)
def large_is_unlikely(case: Any, star: Fraction) -> Found:
    """A sample changes c_j at most; the means given the past add up to 2ηEG²ΣO(t) at most; Hoeffding's bound holds."""
    few, seen, weights, start = case
    return _unlikely(few, seen, weights, start, star)


@everywhere(
    r"slopes $\pm1$ on $[-1,1]$: one of them surely, start at 1 and $\theta^\star=-1$; or with equal chances, both 0",
    K=(2, 3),
    rounds=(((1, 0),), ((4, 0), (0, 0)), ((1, 0), (1, 0), (1, 0))),
    start=(Fraction(1), Fraction(0)),
)
def steep_is_unlikely(K: int, rounds: Any, start: Fraction) -> Found:
    """The same where it is nearly used up: the whole of 2GDW, a part of the trace, half of the mean."""
    chance = (1 + start) / 2
    few = Few((Fraction(0),) * 2, (Fraction(1), Fraction(-1)), (chance,) * 2, Fraction(1, 8), 1)
    return _unlikely(few, _few_samples(K, rounds, False), None, start, -start)
