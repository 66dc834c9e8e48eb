r"""The settings of a drift: how the population moves.

In round t client m draws from \((1-w)A+wB\), two parts of the population, with \(w=w(t-m\cdot\text{apart})\), clients
being counted from 0. A sample stays as it was when it came. Or the samples come in an order of their own, and no
population is drawn from at all.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from empirics.settings.field import POSITIVE, apply_checks, between, choice, optional, setting, whole
from theory.setting import SettingError

__all__ = ["KINDS", "MIXTURES", "PARTS", "Drift"]

MIXTURES = ("abrupt", "gradual", "periodic")
KINDS = ("none", *MIXTURES, "order")
PARTS = ("classes", "labels", "inputs")
NEEDED = {"gradual": "the rounds that the change takes", "periodic": "the rounds of a period"}


@dataclass(frozen=True, kw_only=True)
class Drift:
    """Settings of the drift.

    >>> Drift(kind="gradual", start=3, length=4).weight([1, 3, 4, 7, 9]).tolist()
    [0.0, 0.0, 0.25, 1.0, 1.0]
    >>> Drift(kind="abrupt", start=3).changes(10), Drift(kind="periodic", length=4).changes(10)
    ([3], [1, 3, 5, 7, 9])
    """

    kind: str = setting(
        "none",
        "none, abrupt (the second part of the population replaces the first in round start), gradual (evenly, over "
        "length rounds), periodic (there and back, as a cosine, in length rounds), or order (your samples in the "
        "order of their times or their file: a stream that ends).",
        choice(*KINDS),
    )
    parts: str = setting(
        "classes",
        "The two parts: classes (the lower half of the classes, and the upper), labels (the population, and again "
        "with every label one class up) or inputs (again with images turned by a right angle, other inputs reversed).",
        choice(*PARTS),
    )
    start: int = setting(1, "First round of the change.", whole())
    length: int | None = setting(
        None,
        "Rounds of a gradual change or a period; for order, samples per client and round; none spreads all samples "
        "evenly over the rounds and a last round, which tests.",
        optional(whole()),
    )
    apart: float = setting(
        0,
        "Delay in rounds between a client's drift and the next client's.",
        between(0, POSITIVE[1], low_too=True, such_as=5),
    )

    def __post_init__(self) -> None:
        apply_checks(self)
        if self.kind in NEEDED and self.length is None:
            raise SettingError(
                f"{self.kind} drift needs its length, {NEEDED[self.kind]}, such as length = 200"
            )
        if self.kind == "abrupt" and self.start == 1:
            raise SettingError(
                "abrupt drift needs its start, the first round of the second part, such as start = 250"
            )
        if self.kind == "abrupt" and self.length is not None:
            raise SettingError("abrupt drift takes no length: leave it out")
        if self.kind == "periodic" and self.length == 1:
            raise SettingError(
                "a period of one round is no change: give periodic drift a length of 2 or more"
            )
        if self.kind == "order" and (self.apart or self.start != 1):
            raise SettingError("samples that come in their own order take neither start nor apart")

    @property
    def mixes(self) -> bool:
        """The population is a mixture of two parts."""
        return self.kind in MIXTURES

    def weight(self, t: Any) -> NDArray[np.float64]:
        """w(t), of the second part, in these rounds."""
        passed = np.asarray(t, dtype=float) - self.start
        if self.kind == "abrupt":
            return (passed >= 0).astype(float)
        if self.kind == "gradual":
            return np.clip(passed / float(self.length or 1), 0.0, 1.0)
        if self.kind == "periodic":
            return 0.5 - 0.5 * np.cos(2 * np.pi * passed / float(self.length or 1))
        return np.zeros_like(passed)

    def weights(self, first: int, last: int, clients: int) -> NDArray[np.float64]:
        """w of each client, (rounds, clients)."""
        late = self.apart * np.arange(clients)
        return self.weight(np.arange(first, last + 1)[:, np.newaxis] - late)

    def changes(self, rounds: int) -> list[int]:
        """The moments of change up to this round: where a change begins or ends, and where a cycle turns."""
        if not self.mixes:
            return []
        if self.kind == "periodic":
            half = float(self.length or 1) / 2
            found = [round(self.start + k * half) for k in range(int((rounds - self.start) / half) + 1)]
        else:
            found = [self.start] + ([] if self.length is None else [self.start + self.length])
        return [t for t in found if t <= rounds]
