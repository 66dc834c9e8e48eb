"""What Section 7 of the paper says about its own experiments, number by number.

The text gives no number of rounds. `ROUNDS` is the default of the code that the authors released.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["ROUNDS", "RUNS", "SECTION7", "Stated"]

RUNS = 10  # that each curve of the paper averages
ROUNDS = 100


@dataclass(frozen=True)
class Stated:
    """One panel of `fig:test_acc_all`.

    `points` is by how many percentage points ACDPP is ahead of a baseline, and `speed_up` how many times sooner it
    reaches the accuracy `target`; None where the baseline is said never to reach it.
    """

    name: str
    panel: str
    model: str
    eta: float
    target: float
    budget: float
    points: Mapping[str, float]
    speed_up: Mapping[str, float | None]


SECTION7 = {
    "mnist": Stated(
        name="MNIST",
        panel="a",
        model="lenet",
        eta=0.5,
        target=0.85,
        budget=55,
        points={"constant": 3.5, "hybrid": 1.9},
        speed_up={"constant": 2.6, "hybrid": 2.3},
    ),
    "cifar10": Stated(
        name="CIFAR-10",
        panel="b",
        model="resnet9",
        eta=5e-3,
        target=0.7,
        budget=110,
        points={"constant": 3.5, "hybrid": 26.7},
        speed_up={"constant": 1.7, "hybrid": None},
    ),
    "imagenette": Stated(
        name="ImageNette",
        panel="c",
        model="resnet9",
        eta=5e-4,
        target=0.7,
        budget=220,
        points={"constant": 1.8, "hybrid": 4.1},
        speed_up={"constant": 1.3, "hybrid": 2.2},
    ),
}
