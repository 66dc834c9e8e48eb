r"""Constant admission that forgets when the world has changed: a window over the losses that the server sees.

In every round the server tests its model on the samples that come, before it trains on them. The rule compares the mean
of the latest losses with that of those before, at every place of its window, as ADWIN does (Bifet and Gavaldà 2007).
Where the latest are worse by more than

\[\sqrt{2\sigma^2\Bigl(\tfrac1{n_0}+\tfrac1{n_1}\Bigr)\log\tfrac n\delta},\]

all samples that came before leave, and the window begins anew. n is the length of the window, and σ² the variance of a
loss, by differences of neighbours. For Gaussian losses that do not change an alarm in a given round is less likely than
δ. Losses that fall are what learning does, and no alarm. The cost is what it was; only how long samples are kept
changes, K rounds at most.

`river` has ADWIN itself. It alarms at losses that fall as well, and its state is not one that a `Controller` could
save; `python -m benchmarks.adaptive --river` compares the two.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from empirics.control.policy import Fixed, Floats, State, Whole
from theory.setting import SettingError

__all__ = ["Adaptive", "Listening", "has_changed"]

WINDOW_ROUNDS_MAX, PART_ROUNDS_MIN = 200, 4  # rounds of the window, and of a part of it
FALSE_ALARM_LEVEL = 0.002  # as ADWIN has it


def has_changed(losses: Floats, delta: float = FALSE_ALARM_LEVEL) -> bool:
    """Detect whether the latest losses exceed earlier ones by the bound above, at some place of the window.

    >>> calm = np.tile([0.4, 0.6], 20)
    >>> has_changed(calm), has_changed(np.r_[calm, calm[:10] + 1]), has_changed(np.r_[calm, calm[:10] - 1])
    (False, True, False)
    """
    n = len(losses)
    before = np.arange(PART_ROUNDS_MIN, n - PART_ROUNDS_MIN + 1)
    if not len(before):
        return False
    total, spread = np.cumsum(losses), (np.diff(losses) ** 2).mean() / 2
    early, late = total[before - 1] / before, (total[-1] - total[before - 1]) / (n - before)
    bound = np.sqrt(2 * spread * (1 / before + 1 / (n - before)) * np.log(n / delta))
    return bool((late - early > bound).any())


@dataclass(frozen=True)
class Listening:
    """The books of constant admission; the losses since the last change, (replicates, WINDOW_ROUNDS_MAX), the latest
    last, NaN for none; where a change was heard, and where in this round all that was held leaves."""

    books: State
    losses: Floats
    heard: NDArray[np.bool_]
    leaves: NDArray[np.bool_]


@dataclass(frozen=True)
class Adaptive:
    """Constant admission by `rule`, which forgets: a study, a federation's clients or `Controller.observe` tell it the
    losses.

    >>> from empirics.control.controller import Controller
    >>> from empirics.settings.study import Study
    >>> server = Controller("adaptive", Study(buffers=(8, 9, 10), budget=33))
    >>> for loss in [0.4, 0.6] * 20 + [2.0, 2.2] * 3:
    ...     granted = server.decide(5.5)
    ...     held = int(server.books.in_memory.sum())  # before this round's samples
    ...     server.observe(loss)  # of the model so far, on the samples that came
    >>> int(granted.sum()), held  # of 27 places
    (5, 16)
    """

    rule: Fixed
    capacity: tuple[int, ...]
    delta: float = FALSE_ALARM_LEVEL

    @property
    def retention(self) -> tuple[int, ...]:
        return self.rule.retention

    def start(self, replicates: int) -> Listening:
        none, never = np.full((replicates, WINDOW_ROUNDS_MAX), np.nan), np.zeros(replicates, dtype=bool)
        return Listening(self.rule.start(replicates), none, never, never)

    def decide(self, state: Listening, cost: Floats) -> tuple[Listening, Whole]:
        books, admitted = self.rule.decide(state.books, cost)
        return replace(state, books=books, heard=np.zeros_like(state.heard), leaves=state.heard), admitted

    def drops(self, state: Listening) -> NDArray[np.bool_]:
        """Replicates in which a change was detected in the round before."""
        return state.leaves

    def book(self, state: Listening, cost: Floats, delivered: Whole) -> Listening:
        return replace(state, books=self.rule.book(state.books, cost, delivered))

    def observe(self, state: Listening, loss: Floats) -> Listening:
        """Take the loss of each replicate's model on the samples of the round, NaN where none came."""
        if np.isinf(loss).any():
            raise SettingError("a loss must be a finite number")
        came = ~np.isnan(loss)[:, np.newaxis]
        shifted = np.concatenate([state.losses[:, 1:], loss[:, np.newaxis]], axis=1)
        losses = np.where(came, shifted, state.losses)
        changed = np.array([has_changed(row[~np.isnan(row)], self.delta) for row in losses])
        return replace(
            state, losses=np.where(changed[:, np.newaxis], np.nan, losses), heard=state.heard | changed
        )
