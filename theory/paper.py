"""The paper's own numbers, exact: what its Section 7 sets and what it reports.

Here and nowhere else: studies, claims, figures and tests take them from here. What the text leaves open is chosen in
`empirics.settings.section7`; `ROUNDS` alone is the default of the code that the authors released.

>>> from theory.design.offline import best_rate, design_limit
>>> from theory.setting import Constants
>>> design_limit(MNIST, Constants(D=1, sigma=1, eta=1, B=1, Pdim=5)).K == RETENTION
True
>>> best_rate(RETENTION, MNIST) == RATE == BUDGET / MEAN_PRICE  # the memory is full, and exactly affordable
True
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from theory.setting import Budget

__all__ = ["BUDGET", "BUFFERS", "LOCAL_STEPS", "MEAN_PRICE", "MNIST", "PRICES", "RATE", "RETENTION", "ROUNDS"]
__all__ += ["RUNS", "SECTION7", "Experiment"]

BUFFERS = (8, 9, 10, 11, 12) * 2  # of the ten clients, on MNIST
BUDGET = 55
PRICES = (1, 10)  # uniform between
MEAN_PRICE = Fraction(sum(PRICES), 2)
MNIST = Budget(buffers=BUFFERS, cost=BUDGET, mean_cost=MEAN_PRICE)
RETENTION, RATE = 10, 10  # K* and Λ̄ for these
LOCAL_STEPS = 10  # E
RUNS = 10  # that each curve averages
ROUNDS = 100

Number = TypeVar("Number", Fraction, float)


@dataclass(frozen=True)
class Experiment(Generic[Number]):
    """One panel of `fig:test_acc_all`.

    `points` is by how many percentage points ACDPP is ahead of a baseline, and `speed_up` how many times sooner it
    reaches the accuracy `target`; None where the baseline is said never to reach it.
    """

    name: str
    model: str
    partition: str
    times: int  # MNIST's buffers and budget
    eta: Number
    target: Number
    points: Mapping[str, Number]
    speed_up: Mapping[str, Number | None]

    @property
    def buffers(self) -> tuple[int, ...]:
        return tuple(self.times * size for size in BUFFERS)

    @property
    def budget(self) -> int:
        return self.times * BUDGET

    def rounded(self) -> Experiment[float]:
        """The numbers in floats, to compare measurements with.

        >>> SECTION7["cifar10"].rounded().speed_up
        {'hybrid': None, 'constant': 1.7}
        """
        return Experiment(
            self.name,
            self.model,
            self.partition,
            self.times,
            float(self.eta),
            float(self.target),
            {other: float(gain) for other, gain in self.points.items()},
            {other: None if ratio is None else float(ratio) for other, ratio in self.speed_up.items()},
        )


SECTION7: dict[str, Experiment[Fraction]] = {
    "mnist": Experiment(
        name="MNIST",
        model="lenet",
        partition="two-class",
        times=1,
        eta=Fraction("0.5"),
        target=Fraction("0.85"),
        points={"hybrid": Fraction("1.9"), "constant": Fraction("3.5")},
        speed_up={"hybrid": Fraction("2.3"), "constant": Fraction("2.6")},
    ),
    "cifar10": Experiment(
        name="CIFAR-10",
        model="resnet9",
        partition="two-class",
        times=2,
        eta=Fraction("0.005"),
        target=Fraction("0.7"),
        points={"hybrid": Fraction("26.7"), "constant": Fraction("3.5")},
        speed_up={"hybrid": None, "constant": Fraction("1.7")},
    ),
    "imagenette": Experiment(
        name="ImageNette",
        model="resnet9",
        partition="split",
        times=4,
        eta=Fraction("0.0005"),
        target=Fraction("0.7"),
        points={"hybrid": Fraction("4.1"), "constant": Fraction("1.8")},
        speed_up={"hybrid": Fraction("2.2"), "constant": Fraction("1.3")},
    ),
}
