"""Every outcome of a few samples, trained exactly: by how much the memory's objective is below the population risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product, takewhile
from typing import Any

from hypothesis import strategies as st

from proofs_check.engines.exact import Found, admissions, drawn, fractions, retentions, unless
from proofs_check.groundwork.learning.stable import overlap_of
from proofs_check.simulator import Snapshot, simulate
from theory.setting import Constants
from theory.stability import curbed_overlap, stability_round


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


def remembered(few: Few, seen: Sequence[Snapshot], weights: Any, start: Fraction) -> list[Fraction]:
    """The mean of F_P(θ) - F_mem(θ) at the start of every round, over all outcomes of the samples."""
    samples = list(seen[-1].uses)
    means = [Fraction(0)] * len(seen)
    for outcome in product((0, 1), repeat=len(samples)):
        drawn_ = dict(zip(samples, outcome, strict=True))
        chance = Fraction(1)
        for (client, _), z in drawn_.items():
            chance *= few.chances[client] if z == 0 else 1 - few.chances[client]
        x = start
        for t, one in enumerate(seen):
            shares = weights or [Fraction(one.n_of(m), one.n) for m in (0, 1)]
            after = Fraction(0)
            for m, share in enumerate(shares):
                held = [drawn_[i] for i in one.memory if i[0] == m]
                if held:
                    gap = few.risk(m, x) - sum(few.loss(z, x) for z in held) / Fraction(len(held))
                    means[t] += chance * share * gap
                    after += share * few.trained(x, held)
            x = max(min(after, few.edge), -few.edge)
    return means


UNIT = st.fractions(0, 1, max_denominator=4)
STEP = UNIT.filter(bool)
SIGNED = st.fractions(-1, 1, max_denominator=4)


def _few_samples(K: int, rounds: list[list[int]], shared: bool) -> list[Snapshot]:
    """The first rounds, with at most six samples and no empty one; with shares, no empty client either."""
    seen = simulate(rounds, K)

    def fits(one: Snapshot) -> bool:
        return one.N <= 6 and one.n > 0 and (not shared or all(one.n_of(m) for m in (0, 1)))

    return list(takewhile(fits, seen))


DRAWN: dict[str, Any] = {
    "K": retentions(4),
    "rounds": admissions(clients=2, rounds=4, most=2),
    "curvature": st.tuples(UNIT, UNIT),
    "slope": st.tuples(SIGNED, SIGNED),
    "chances": st.tuples(UNIT, UNIT),
    "share": st.none() | UNIT,
    "step": fractions(Fraction(1, 4), 2),
    "E": st.integers(1, 2),
    "start": SIGNED,
}
FEW = (
    r"$\frac a2\theta^2+b\theta$, two values of a sample, two clients with distributions and shares of their "
    r"own or one distribution and weights $n_m/n$, $E\le2$, all outcomes of at most six samples"
)


def _gap(few: Few, seen: list[Snapshot], weights: Any, start: Fraction, mu: Any = None) -> Found:
    """Whether the mean of F_P(θ) - F_mem(θ) exceeds the bound in a round, curbed where μ is given."""
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


def _drawn(chances: Any, share: Fraction | None) -> tuple[Any, Any]:
    """Chances and weights of the clients: of their own, or one distribution and weights n_m/n."""
    return ((chances[0],) * 2, None) if share is None else (chances, [share, 1 - share])


@drawn(rf"{FEW}, $\eta\le2/L$", (12, 800), **DRAWN)
def gap_is_bounded(
    K: int, rounds: Any, curvature: Any, slope: Any, chances: Any, share: Any, step: Any, E: int, start: Any
) -> Found:
    """The mean of F_P(θ) - F_mem(θ) is at most 2ηEG²·O(t) in every round."""
    chances, weights = _drawn(chances, share)
    few = Few(curvature, slope, chances, step, E)
    return _gap(few, _few_samples(K, rounds, weights is not None), weights, start)


@drawn(
    rf"{FEW}, $a\ge1/2$, $\eta\le1$",
    (12, 800),
    **DRAWN
    | {
        "curvature": st.tuples(*[st.sampled_from([Fraction(1, 2), Fraction(1)])] * 2),
        "step": STEP,
    },
)
def curbed_gap_is_bounded(
    K: int, rounds: Any, curvature: Any, slope: Any, chances: Any, share: Any, step: Any, E: int, start: Any
) -> Found:
    """The same with the curbed overlap, for losses that are strongly convex."""
    chances, weights = _drawn(chances, share)
    few = Few(curvature, slope, chances, step, E)
    return _gap(few, _few_samples(K, rounds, weights is not None), weights, start, min(curvature))


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
