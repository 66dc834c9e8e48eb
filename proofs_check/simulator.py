"""The ground truth: every sample by name, every round by hand, integers only, and no formula.

A run is a list of rounds; a round lists the number of new samples of each client. A sample is the tuple (client,
number). Its age is 1 when it enters and grows by 1 in each later round (eq:age-evolution); it is dropped when its age
is K (eq:kstep-drop). The order of events in a round is a parameter, because the paper gives two:

* `admit-train-drop`: Algorithm 1. New samples enter, all stored samples are used, those of age K leave.
* `admit-drop-train`: the text. Samples that would be trained on at age K in this round are dropped first.
* `drop-admit-train`: samples that reached age K in the *previous* round are dropped before admission and training.

`simulate_by_capacity` has another rule of retention: a memory of fixed size, where new samples replace the oldest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

__all__ = ["ORDERS", "Order", "Snapshot", "simulate", "simulate_by_capacity"]

Sample = tuple[int, int]
Order = Literal["admit-train-drop", "admit-drop-train", "drop-admit-train"]
ORDERS: tuple[Order, ...] = ("admit-train-drop", "admit-drop-train", "drop-admit-train")


@dataclass(frozen=True)
class Snapshot:
    """A round: the samples in memory at its training, and the number of uses of each sample by its end."""

    round: int
    memory: tuple[Sample, ...]
    uses: dict[Sample, int]

    @property
    def n(self) -> int:
        """Samples trained on in this round."""
        return len(self.memory)

    @property
    def N(self) -> int:
        """Distinct samples trained on so far."""
        return len(self.uses)

    def n_of(self, client: int) -> int:
        """Samples of one client, trained on in this round."""
        return sum(1 for owner, _ in self.memory if owner == client)

    @property
    def weights(self) -> dict[Sample, Fraction]:
        """ω_i: a sample's share of all uses so far (eq:omega-def-opt)."""
        total = sum(self.uses.values())
        return {sample: Fraction(count, total) for sample, count in self.uses.items()}

    @property
    def uniformity(self) -> Fraction:
        """Ṽ from its definition: mean and variance (over N) of the reuse counts (eq:Vtilde-def-body)."""
        mean = Fraction(sum(self.uses.values()), self.N)
        variance = sum(((count - mean) ** 2 for count in self.uses.values()), Fraction(0)) / self.N
        return mean**2 / (mean**2 + variance)

    @property
    def mismatch(self) -> Fraction:
        """χ = Σ_i (ω_i - 1{i in memory}/n)²: the squared distance of the two weightings of the samples."""
        share = dict.fromkeys(self.memory, Fraction(1, self.n))
        return sum(((w - share.get(sample, 0)) ** 2 for sample, w in self.weights.items()), Fraction(0))


def simulate(
    admissions: Sequence[Sequence[int]], K: int, order: Order = "admit-train-drop"
) -> list[Snapshot]:
    """Play all rounds; returns one snapshot per round.

    >>> [snapshot.n for snapshot in simulate([[1], [1], [1]], K=2)]
    [1, 2, 2]
    """
    age: dict[Sample, int] = {}  # of the samples in memory
    uses: dict[Sample, int] = {}
    known = 0
    rounds = []

    def admit(amounts: Sequence[int]) -> None:
        nonlocal known
        for client, amount in enumerate(amounts):
            for _ in range(amount):
                age[client, known] = 0
                known += 1

    def grow() -> None:
        for sample in age:
            age[sample] += 1

    def drop() -> None:
        for sample in [s for s, a in age.items() if a == K]:
            del age[sample]

    for t, amounts in enumerate(admissions, start=1):
        if order == "drop-admit-train":
            drop()
        admit(amounts)
        grow()
        if order == "admit-drop-train":
            drop()
        for sample in age:
            uses[sample] = uses.get(sample, 0) + 1
        rounds.append(Snapshot(t, tuple(age), dict(uses)))
        if order == "admit-train-drop":
            drop()
    return rounds


def simulate_by_capacity(admissions: Sequence[Sequence[int]], capacities: Sequence[int]) -> list[Snapshot]:
    """Play all rounds, first in, first out: in a full memory a new sample replaces the oldest.

    >>> [snapshot.memory for snapshot in simulate_by_capacity([[2], [1]], [2])]
    [((0, 0), (0, 1)), ((0, 1), (0, 2))]
    """
    queues: list[list[Sample]] = [[] for _ in capacities]
    uses: dict[Sample, int] = {}
    known = 0
    rounds = []
    for t, amounts in enumerate(admissions, start=1):
        for client, (queue, capacity, amount) in enumerate(zip(queues, capacities, amounts, strict=True)):
            for _ in range(amount):
                queue.append((client, known))
                known += 1
                if len(queue) > capacity:
                    del queue[0]
        memory = tuple(sample for queue in queues for sample in queue)
        for sample in memory:
            uses[sample] = uses.get(sample, 0) + 1
        rounds.append(Snapshot(t, memory, dict(uses)))
    return rounds
