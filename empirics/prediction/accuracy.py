"""The three accuracies of a prediction: how often samples are observed, and when a curve counts as settled.

To *observe* samples is to compute their residuals, curvature and noise along the mean path. Between observations these
stay as they are, so fewer observations make a prediction faster and less accurate.
"""

from enum import Enum

__all__ = ["Accuracy", "in_doubling"]

EARLY_ROUNDS = 16  # rounds in which more local steps are observed, since the path moves fastest


class Accuracy(Enum):
    """FULL for all that is reported, within a few per cent of training (docs/predict.md).

    SEARCH, for `planning.search` and `drift_retention`, also takes gradients as linear in θ between observations, if
    the model has one output or few parameters: two thirds of the cost, 3 % off FULL. COARSE, for the first answers of
    `acdpp explore`, does so too, observes few local steps and computes the risk of some rounds only: 10 % off FULL.
    """

    FULL = "full"
    SEARCH = "search"
    COARSE = "coarse"

    @property
    def missed_share_max(self) -> float:
        """Error of a settled curve over one doubling, as a share of the risk; over the next it is a fourth of this."""
        return 0.1 if self is Accuracy.COARSE else 0.04

    def observes_round(self, t: int) -> bool:
        """True if samples are observed in round t = 1, 2, …

        >>> [[t for t in range(1, 17) if one.observes_round(t)] for one in Accuracy]
        [[1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16], [1, 2, 3, 4, 6, 8, 12, 16], [1, 2, 4, 8, 16]]
        """
        return in_doubling(t, {Accuracy.FULL: 4, Accuracy.SEARCH: 2, Accuracy.COARSE: 1}[self])

    def observes_step(self, step: int, t: int) -> bool:
        """True if samples are observed at a local step of a round, both counted from 0.

        >>> [[e for e in range(20) if one.observes_step(e, t)] for one, t in ((Accuracy.FULL, 15), (Accuracy.FULL, 16))]
        [[0, 1, 2, 3, 4, 6, 8, 12, 16], [0, 1, 2, 4, 8, 16]]
        >>> [e for e in range(20) if Accuracy.COARSE.observes_step(e, 0)]
        [0, 4, 16]
        """
        octave: int = 2 ** (step.bit_length() - 1) if step else 1
        if self is Accuracy.COARSE:
            return step == 0 or (step > 1 and step == octave and step.bit_length() % 2 == 1)
        return step % (max(octave // 2, 1) if t < EARLY_ROUNDS else octave) == 0


def in_doubling(t: int, times: int) -> bool:
    """True for evenly spaced t, as many in every doubling as `times` says."""
    octave: int = 2 ** (t.bit_length() - 1)
    return t % max(octave // times, 1) == 0
