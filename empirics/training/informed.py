"""The information learner within the engine: memories in, models out.

Clients are alike: what they hold is one set of rows, each with its client's weight. What a client dropped since the
last round joins the sums at the model of that time. θ is the server's model on the ball.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from empirics.settings.study import Study
from empirics.training.information import PRIORS, STATE, InformationServer
from empirics.training.linear import Linear
from empirics.training.model import Memory, Model
from empirics.training.sums import Rows
from theory.setting import SettingError

__all__ = ["FEATURES_MAX", "NEW_SHARE_MIN", "InformationLearner", "client_weights", "refuse_wide"]

FEATURES_MAX = 2000  # of which each run has the square
NEW_SHARE_MIN = 0.01  # of the samples learnt: so many new ones wait, and more are learnt
OF_MEMORY = ("began", "waiting", "learnt", "index", "first")


def refuse_wide(features: int) -> None:
    """Refuse more features than the matrix allows."""
    if features > FEATURES_MAX:
        raise SettingError(
            f"the information learner keeps the square of {features:,} features for each run, and takes at most "
            f'{FEATURES_MAX:,}: learner = "descent" has no limit'
        )


def client_weights(study: Study) -> list[float]:
    """How much each client's samples count, 1 on average over clients."""
    alpha = study.alpha if study.weights == "paper" and study.alpha else (1.0,) * study.clients
    return [one * study.clients / sum(alpha) for one in alpha]


class InformationLearner:
    """All runs of a study whose server adds up information."""

    def __init__(self, model: Model, study: Study) -> None:
        assert isinstance(model, Linear)  # a study with another model is refused before
        self.x, self.y = model.population.x, model.population.y
        self.weights = torch.tensor(client_weights(study), dtype=torch.float64, device=self.x.device)
        # priors are those of features that vary by 1
        size = float(self.x[:, :-1].double().square().mean())
        priors = tuple(one * size for one in PRIORS)
        self.server = InformationServer(
            study.runs,
            model.features,
            model.population.classes,
            priors=priors,
            radius=study.radius,
            device=self.x.device,
        )
        self.server.models[:] = model.start(study.runs).double()[:, None]
        self.began = torch.zeros(study.runs, dtype=torch.bool, device=self.x.device)
        self.waiting, self.learnt = (
            torch.zeros(study.runs, dtype=torch.float64, device=self.x.device) for _ in "01"
        )
        # what clients held in the last round, and the number of the first of it
        self.index = torch.zeros(study.runs, study.clients, 0, dtype=torch.int64, device=self.x.device)
        self.first = self.index.sum(-1)

    @property
    def state(self) -> dict[str, Tensor]:
        """What the next round needs."""
        of_sums = {name: getattr(self.server, name) for name in STATE}
        return of_sums | {name: getattr(self, name) for name in OF_MEMORY}

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state."""
        for names, owner in ((STATE, self.server), (OF_MEMORY, self)):
            for name in names:
                setattr(owner, name, torch.from_numpy(np.array(saved[name])).to(self.x.device))

    def learn(self, held: Memory, fresh: Tensor, first: Tensor) -> Tensor:
        """The models after a round, (runs, parameters).

        Of the samples that clients hold, those in the slots `fresh` are new, and `first` is the number of the first.
        """
        slot = torch.arange(self.index.shape[2], device=self.x.device)
        gone = slot < (first - self.first)[..., None]
        if gone.any():
            self.server.forget(self._rows(Memory(self.index, gone, held.weights)))
        if fresh.any():
            self._hear(self._rows(replace(held, mask=fresh)), held)
        self.index, self.first = held.index * held.mask, first
        return self.server.theta.to(self.x.dtype)

    def _hear(self, new: Rows, held: Memory) -> None:
        """Score the models by new samples, and move those of runs in which enough of them wait to be learnt."""
        self.server.hear(new.weighted(self.began[:, None]))
        self._begin(new)
        self.waiting = self.waiting + new.counted.sum(1)
        due = self.waiting > NEW_SHARE_MIN * self.learnt
        if due.any():
            self.server.learn(self._rows(held), due)
            self.learnt = torch.where(due, self.learnt + self.waiting, self.learnt)
            self.waiting = self.waiting.masked_fill(due, 0)

    def _begin(self, rows: Rows) -> None:
        """Choose a prior by the first samples of the runs that had none before."""
        first = rows.counted.any(1) & ~self.began
        if first.any():
            models = self.server.models.clone()
            self.server.begin(rows.weighted(first[:, None]))
            self.server.models = torch.where(first[:, None, None], self.server.models, models)
            self.began |= first

    def _rows(self, memory: Memory) -> Rows:
        """All slots, also those that count for nothing: how sums are rounded must not depend on other runs."""
        counted = (memory.mask * self.weights[:, None]).flatten(1)
        index = memory.index.flatten(1)
        return Rows(self.x[index].double(), self.y[index], counted)
