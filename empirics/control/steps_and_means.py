r"""The learner of a server: the step size of each round, and the weight of each new model in the mean of models.

\(\bar\theta\leftarrow\bar\theta+w(\theta-\bar\theta)\) after every round that trained. θ(1) counts: it is the first
model and the first mean, the k-th has the weight w(k) of its kind (`theory.law.averaging`), and a round without samples
makes no model, so that its w is 0. Whether θ(1) counts matters: it decides how fast the start is forgotten.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from empirics.control.policy import Floats, Whole
from empirics.control.schedule import Rounds
from empirics.settings.study import Study
from theory.law.averaging import equal, exponential, latest, polynomial

__all__ = ["Learner", "Models", "step_sizes"]


def step_sizes(study: Study, rounds: Any, before: Any) -> Any:
    """η of these rounds, given the samples admitted before each.

    >>> step_sizes(Study(eta=2.0, decay=50), np.array([1, 150, 400]), 0)[1:].tolist()
    [1.0, 0.6666666666666666]
    >>> step_sizes(Study(eta=2.0), np.array([1, 150]), np.array([0, 90])).tolist()
    [2.0, 2.0]
    """
    if study.decay is None:
        return study.eta + 0.0 * before
    passed = rounds + 0 * before if study.decay_by == "rounds" else before
    return study.eta / np.sqrt(1 + passed / study.decay)


@dataclass
class Models:
    """Models and rounds so far, (replicates,) each, and the first model of the mean."""

    count: Whole
    begins: Whole
    round: int = 0

    @classmethod
    def start(cls, replicates: int) -> Self:
        """Before round 1: θ(1)."""
        one = np.ones(replicates, dtype=np.int64)
        return cls(one, one)

    def extend(self, study: Study, trained: NDArray[np.bool_]) -> Floats:
        """The weights of the models that the next rounds make, (rounds, replicates), 0 where they make none.

        >>> Models.start(1).extend(Study(average="equal"), np.array([[True], [False], [True]])).ravel().tolist()
        [0.5, 0.0, 0.3333333333333333]
        """
        count = self.count + np.cumsum(trained, axis=0)
        begins = np.broadcast_to(self.begins, count.shape)
        if study.average == "tail":
            assert study.averaging is not None
            early = int(study.averaging * study.rounds) - self.round  # rounds whose models are left out again
            begins = count[np.minimum(np.arange(len(count)), early - 1)] if early > 0 else begins
        self.count, self.begins, self.round = count[-1], begins[-1], self.round + len(count)
        return np.where(trained, _share(study, count - begins + 1), 0.0)


def _share(study: Study, k: Whole) -> Floats:
    """The weight of the newest of k models in their mean."""
    if study.average == "none":
        return np.asarray(latest(k))
    kinds = {"polynomial": polynomial, "exponential": exponential}
    if study.average in kinds:
        return np.asarray(kinds[study.average](k, study.averaging))
    return np.asarray(equal(k))  # of a tail, from where it begins


class Learner:
    """Step sizes and weights of models of all runs of a study, round by round."""

    def __init__(self, study: Study) -> None:
        self.seeds = study.seeds
        self.each = [(study.of_policy(name), Models.start(study.seeds)) for name in study.policies]

    def follow(self, rounds: Rounds, weights: Floats) -> tuple[Floats, Floats]:
        """Step sizes, and the weight of each round's model in the mean, (rounds, runs) each.

        `weights` are those of clients, (rounds, runs, clients): a round trains where some weight is positive.
        """
        trained = np.asarray(weights.any(axis=2))
        before = rounds.track.N - rounds.admissions.sum(axis=2)
        t = np.arange(rounds.first, rounds.last + 1)[:, np.newaxis]
        parts = [slice(p * self.seeds, (p + 1) * self.seeds) for p in range(len(self.each))]
        found = [
            (step_sizes(own, t, before[:, part]), models.extend(own, trained[:, part]))
            for (own, models), part in zip(self.each, parts, strict=True)
        ]
        eta, share = (np.concatenate(column, axis=1) for column in zip(*found, strict=True))
        return eta, share
