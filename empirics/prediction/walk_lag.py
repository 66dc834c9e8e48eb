r"""How far models are behind an optimum that walks: \(\sum_lW_l^2\) of `theory.drift.moving_optimum.walk_lag`, as a
recursion.

\(W_l\) is what weighs in a model and is older than the change between rounds l and l+1. Of changes that are younger
than something in memory each is known; the others fade together, since nothing older than they are is learnt any more.
So a round takes time of the order of the memory, and not of all rounds. Where clients differ, all are taken to leave
the same of a distance.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Lag"]

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


class Lag:
    """Of all rows and lumps, of the last model and of the mean of models, behind a walk of variance 1 a round."""

    def __init__(self, rows: int, lumps: int) -> None:
        self._before = np.zeros(0, dtype=np.int64)  # the rounds before which the optimum changed
        self._each = np.zeros((2, 0, rows, lumps))  # W of the model, and of the mean
        self._faded = np.zeros(
            (3, rows, lumps)
        )  # ΣW² of older changes: of the model, of products, of the mean

    def follow(self, t: int, entered: Counts, held: Floats, left: Floats) -> None:
        """Round t: cohorts that came in these rounds are such parts of memories, (cohorts, rows), and so much is left
        of a distance, (rows, lumps)."""
        old = self._before <= entered[0]
        model, mean = self._each[:, old]
        self._faded += np.stack(
            [(one * other).sum(0) for one, other in ((model, model), (model, mean), (mean, mean))]
        )
        self._each, self._before = self._each[:, ~old], self._before[~old]
        if t > 0:
            self._before = np.append(self._before, t)
            self._each = np.concatenate([self._each, np.ones_like(self._faded[:2, np.newaxis])], axis=1)
        older = (entered < self._before[:, np.newaxis]) @ held
        self._each[0] += (1 - left) * (older[..., np.newaxis] - self._each[0])
        self._faded[0] *= left**2
        self._faded[1] *= left

    def average(self, share: Floats) -> None:
        """The model joins the mean with this share, (rows, 1)."""
        rest, (model, both, mean) = 1 - share, self._faded
        self._faded[2] = rest**2 * mean + share * (2 * rest * both + share * model)
        self._faded[1] = rest * both + share * model
        self._each[1] += share * (self._each[0] - self._each[1])

    def squares(self, *, mean: bool) -> Floats:
        """ΣW², judged in the world that comes next, (rows, lumps)."""
        return np.asarray(1 + self._faded[2 * mean] + (self._each[int(mean)] ** 2).sum(0))
