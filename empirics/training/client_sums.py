"""The information learner over clients that send sums and no sample: a server's questions, and a client's answers.

>>> from empirics import added, check_sums, client_sums
>>> rng = np.random.default_rng(0)
>>> x = np.c_[rng.normal(size=(60, 2)), np.ones(60)]  # the last feature is constant
>>> y = (x @ [2, -1, 0.5] > rng.logistic(size=60)).astype(int)
>>> clients = [(x[:20], y[:20]), (x[20:], y[20:])]
>>> def ask(questions):  # send them to the clients, check what comes back, and add it up
...     answers = [client_sums(questions, *mine, fresh=len(mine[1])) for mine in clients]
...     for answer in answers:
...         check_sums(questions, answer, features=3)
...     return added(answers)
>>> server = SumServer(features=3, classes=2)
>>> server.learn(ask)  # a round, in which all that the clients hold is new
>>> server.theta.round(1)
array([ 3.1, -1.2,  0.5])

A client keeps what it drops until its answer was added (`dropped`). `state` and `restore` keep the server.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from empirics.settings.study import Study
from empirics.training.information import PRIORS, STATE, InformationServer
from empirics.training.informed import NEW_SHARE_MIN, refuse_wide
from empirics.training.linear import Linear
from empirics.training.model import Model
from empirics.training.questions import Answer, Question, unpacked
from empirics.training.sums import FOLDS, RowSums

__all__ = ["Ask", "SumServer"]

CURVATURE = ("whole", "left", "total", "right")  # sums that depend on `which`
Ask = Callable[[list[Question]], list[Answer]]


class _Unanswered(Exception):
    """No client was left that answers."""


class _ClientSums(RowSums):
    """Sums over samples of clients, who are asked for what they have not told."""

    def __init__(self, ask: Ask, first: Question, told: Answer, ahead: tuple[str, ...]) -> None:
        self.ask, self.samples, self.ahead = ask, first.samples, ahead
        self.models, self.which, self.told = torch.from_numpy(first.models), first.which, told
        self.count = torch.from_numpy(told.get("count", np.zeros(1)))

    def _asked(self, question: Question) -> Answer:
        (found,) = self.ask([question])
        if not found["count"].any():
            raise _Unanswered
        return found

    def _told(self, *names: str, which: Tensor | None = None) -> list[Tensor]:
        if which is not None and self.which != int(which[0]):
            self.which = int(which[0])
            self.told = {name: values for name, values in self.told.items() if name not in CURVATURE}
        if missing := [name for name in names if name not in self.told]:
            question = Question(self.samples, tuple(missing), self.models.numpy(), self.which)
            self.told = self.told | self._asked(question)
        return [torch.from_numpy(self.told[name]) for name in names]

    def stand(self, models: Tensor) -> None:
        if not torch.equal(models, self.models):
            self.models, self.told = models, {}

    def losses(self) -> Tensor:
        return self._told("losses")[0]

    def gradients(self) -> Tensor:
        return self._told("gradients")[0]

    def whole(self, which: Tensor) -> Tensor:
        return unpacked(self._told("whole", which=which)[0])

    def left(self, which: Tensor) -> tuple[Tensor, Tensor]:
        left, total = self._told("left", "total", which=which)
        return unpacked(left), total

    def right(self, which: Tensor) -> Tensor:
        return unpacked(self._told("right", which=which)[0])

    def aim(self, models: Tensor, *, last: bool = True) -> None:
        """Losses before the step come with those on the way: a client that fails is missing in both."""
        ahead = () if last and self.samples == "held" else self.ahead
        now = self.models.numpy()
        found = self._asked(Question(self.samples, (), now, self.which, models.numpy(), ahead))
        self.target = models
        self.path = torch.from_numpy(found["path"])
        self.next = {name.removeprefix("ahead."): values for name, values in found.items() if name != "path"}

    def along(self, share: Tensor | None = None) -> Tensor:
        place = torch.zeros_like(self.path[..., 0]) if share is None else 1 - share.log2()
        return self.path.gather(-1, place.round().long()[..., None])[..., 0]

    def move(self, share: Tensor) -> None:
        if share.any():
            self.told = self.next if (share == 1).all() else {}
            self.models = torch.lerp(self.models, self.target, share[..., None])

    def folds(self) -> Self:
        return self

    def left_out(self, models: Tensor) -> Tensor:
        found = self._asked(Question("fresh", ("left_out",), models[:, 0].numpy()))
        return torch.from_numpy(found["left_out"])[:, None]


class SumServer:
    """The information learner of one run, in rounds: `learn` asks clients, and `theta` is the model.

    Features that vary by other than 1 have a mean square, `size`, by which priors are multiplied. With a radius, models
    are on the ball.
    """

    def __init__(
        self, features: int, classes: int, *, size: float = 1.0, radius: float | None = None
    ) -> None:
        refuse_wide(features)
        priors = tuple(one * size for one in PRIORS)
        self.server = InformationServer(1, features, classes, priors=priors, radius=radius)
        self.features, self.began, self.waiting, self.learnt = features, False, 0.0, 0.0

    @classmethod
    def of(cls, study: Study, model: Model) -> Self:
        """That of a study with one run."""
        assert isinstance(model, Linear)  # a study with another model is refused before
        x, classes = model.population.x, model.population.classes
        return cls(
            model.features, classes, size=float(x[:, :-1].double().square().mean()), radius=study.radius
        )

    @property
    def theta(self) -> NDArray[np.float64]:
        """The model with the prior that has the least loss so far."""
        found: NDArray[np.float64] = self.server.theta[0].numpy()
        return found

    def questions(self, granted: float = math.inf) -> list[Question]:
        """The first questions of a round in which clients may add so many samples: most rounds need no others of
        them than along their steps."""
        server = self.server
        kept = ("gradients", *(["whole"] if server.curvature.numel() else []), "left", "total", "right")
        found = [Question("dropped", kept, self.theta[None, None])]
        if granted and not self.began:
            found.append(Question("folds", self._ahead, np.zeros((FOLDS + 1, 1, server.models.shape[2]))))
        elif granted:
            found.append(Question("fresh", ("losses",), server.models.numpy()))
            if granted + self.waiting > NEW_SHARE_MIN * self.learnt:
                right = () if server.steps_by_whole or self._features_are_many else ("right",)
                wanted = (*self._ahead, *right)
                found.append(Question("held", wanted, server.models.numpy(), int(server.best[0])))
        return found

    @property
    def _ahead(self) -> tuple[str, ...]:
        return ("gradients", *(["whole"] if self.server.steps_by_whole else ["left", "total"]))

    @property
    def _features_are_many(self) -> bool:
        """Their factor, which is rarely needed, is larger than all gradients together."""
        return self.features > 2 * self.server.outputs * len(self.server.priors)

    def learn(self, ask: Ask, granted: float = math.inf) -> None:
        """A round: the first `questions` and further ones are asked, until the models have moved.

        `ask` adds up answers of clients. It may leave clients out from some question on; if none is left, the models
        stay as they were before the round, and what was dropped remains known.
        """

        def answered(questions: list[Question]) -> list[Answer]:
            if len(found := ask(questions)) != len(questions):
                raise _Unanswered
            return found

        try:
            questions = self.questions(granted)
            found = zip(questions, answered(questions), strict=True)
            told = {question.samples: (question, answer) for question, answer in found}
            nothing = Question("held", (), self.server.models.numpy()), Answer()
            fresh = told.get("fresh") or told.get("folds") or nothing
            parts = (told["dropped"], fresh, told.get("held") or nothing)
            self.hear(*(_ClientSums(answered, *part, self._ahead) for part in parts))
        except _Unanswered:
            pass

    def hear(self, dropped: RowSums, fresh: RowSums, held: RowSums) -> None:
        """A round of sums: over dropped, new and all samples that are held."""
        if dropped.count.any():
            self.server.forget(dropped)
        if fresh.count.any():
            (self.server.hear if self.began else self.server.begin)(fresh)
            self.began, self.waiting = True, self.waiting + float(fresh.count)
            if self.waiting > NEW_SHARE_MIN * self.learnt:
                self.server.learn(held)
                self.learnt, self.waiting = self.learnt + self.waiting, 0.0

    @property
    def state(self) -> dict[str, NDArray[Any]]:
        """What the next round needs."""
        own = {name: np.array(getattr(self, name)) for name in ("began", "waiting", "learnt")}
        return own | {name: getattr(self.server, name).numpy() for name in STATE}

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state."""
        self.began = bool(saved["began"])
        self.waiting, self.learnt = float(saved["waiting"]), float(saved["learnt"])
        for name in STATE:
            setattr(self.server, name, torch.from_numpy(np.array(saved[name])))
