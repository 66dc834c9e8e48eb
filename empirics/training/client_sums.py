"""The information learner over clients that send sums and no sample: a server's questions, and a client's answers.

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
array([ 2.8, -1. ,  0.5])

A client keeps what it drops until its answer was added (`dropped`). `state` and `restore` keep the server.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from empirics.settings.study import Study
from empirics.training.information import HALVINGS, PRIORS, STATE, InformationServer
from empirics.training.informed import NEW_SHARE_MIN, refuse_wide
from empirics.training.linear import Linear
from empirics.training.model import Model
from empirics.training.sums import FOLDS, Rows, RowSums, Sums
from theory.setting import SettingError

__all__ = ["Answer", "Ask", "Question", "SumServer", "added", "check_sums", "client_sums"]

CURVATURE = ("whole", "left", "total", "right")  # sums that depend on `which`
SLACK = 1e-9  # of rounding, beside what is checked


@dataclass(frozen=True, eq=False)
class Question:
    """Sums over the samples that are held, fresh, dropped, or fresh in folds: those `wanted` at models (runs, models,
    parameters), with the curvature of model `which`; and, with a target, losses on the way there and sums there."""

    samples: str
    wanted: tuple[str, ...]
    models: NDArray[np.float64]
    which: int = 0
    target: NDArray[np.float64] | None = None
    ahead: tuple[str, ...] = ()


Answer = dict[str, NDArray[np.float64]]
Ask = Callable[[list[Question]], list[Answer]]


class _Unanswered(Exception):
    """No client was left that answers."""


# --- a client -------------------------------------------------------------------------------------------------


def client_sums(
    questions: Sequence[Question],
    x: NDArray[Any],
    y: NDArray[Any],
    fresh: int = 0,
    dropped: tuple[NDArray[Any], NDArray[Any]] | None = None,
    weight: float = 1.0,
    first: int = 0,
) -> list[Answer]:
    """A client's answers: sums over the samples that it holds, of which the last `fresh` are new, and over those that
    it has dropped since its last answer was added. Each counts by the client's weight; folds begin at number `first`.
    """
    old = len(y) - fresh
    new, none = (x[old:], y[old:]), (x[:0], y[:0])
    parts = {"held": (x, y), "fresh": new, "folds": new, "dropped": dropped or none}
    return [_answer(question, *parts[question.samples], weight, first) for question in questions]


def _answer(question: Question, x: NDArray[Any], y: NDArray[Any], weight: float, first: int) -> Answer:
    count = weight * len(y)
    if not count:
        return {"count": np.zeros(1)}
    size, features = question.models.shape[-1], x.shape[-1]
    outputs = size // features
    if x.ndim != 2 or size % features or y.max() >= max(outputs, 2):
        raise SettingError(
            f"the server's model has {size} parameters, which do not fit inputs of shape {x.shape[1:]} with label "
            f"{y.max()}"
        )
    rows = Rows(
        *(torch.from_numpy(np.array(one))[None] for one in (x.astype(float), y, np.full(len(y), weight)))
    )
    sums = RowSums(rows, outputs, first)
    sums = sums.folds() if question.samples == "folds" else sums
    models = torch.from_numpy(question.models)
    found = _found(sums, models, question.wanted, question.which)
    if question.target is not None:
        sums.aim(target := torch.from_numpy(question.target))
        shares = [None, *(torch.full(models.shape[:2], 0.5**k).double() for k in range(HALVINGS))]
        found["path"] = torch.stack([sums.along(share) for share in shares], -1)
        ahead = _found(sums, target, question.ahead, question.which)
        found |= {f"ahead.{name}": values for name, values in ahead.items()}
    return {"count": np.array([count])} | {name: values.numpy() for name, values in found.items()}


def _found(sums: RowSums, models: Tensor, wanted: Iterable[str], which: int) -> dict[str, Tensor]:
    sums.stand(models)
    one = torch.full(models.shape[:1], which)
    ways: dict[str, Callable[[], Tensor]] = {
        "losses": sums.losses,
        "gradients": sums.gradients,
        "whole": lambda: _packed(sums.whole(one)),
        "left": lambda: _packed(sums.left(one)[0]),
        "total": lambda: sums.left(one)[1],
        "right": lambda: _packed(sums.right(one)),
        "left_out": lambda: sums.left_out(models[:, None])[:, 0],
    }
    return {name: ways[name]() for name in wanted}


def _packed(matrices: Tensor) -> Tensor:
    """The upper triangles of symmetric matrices."""
    i, j = torch.triu_indices(matrices.shape[-1], matrices.shape[-1])
    return matrices[..., i, j]


def _unpacked(triangles: Tensor) -> Tensor:
    n = math.isqrt(2 * triangles.shape[-1])
    i, j = torch.triu_indices(n, n)
    found = triangles.new_zeros(*triangles.shape[:-1], n, n)
    found[..., i, j] = found[..., j, i] = triangles
    return found


# --- the server -----------------------------------------------------------------------------------------------


def check_sums(questions: Sequence[Question], answers: Sequence[Answer], features: int) -> None:
    """Refuse answers that are no sums over samples: of another shape, not finite, or of a curvature that bends down."""
    if len(answers) != len(questions):
        raise SettingError(f"{len(answers)} answers to {len(questions)} questions")
    for question, answer in zip(questions, answers, strict=True):
        try:
            _check(question, answer, features)
        except SettingError as error:
            raise SettingError(f"sums over {question.samples} samples: {error}") from None


def _check(question: Question, answer: Answer, features: int) -> None:
    shapes = _shapes(question, features)
    if not (count := answer.get("count", np.full(1, np.nan))).any():
        shapes = {"count": (1,)}
    if {name: values.shape for name, values in answer.items()} != shapes:
        wrong = sorted(answer.keys() ^ shapes.keys()) or [n for n in shapes if answer[n].shape != shapes[n]]
        raise SettingError(f"{', '.join(wrong)} missing, not asked for, or of another shape")
    for name, values in answer.items():
        kind = name.removeprefix("ahead.")
        with np.errstate(over="ignore", invalid="ignore"):
            if values.dtype != np.float64 or not np.isfinite(np.square(values).sum()):
                raise SettingError(f"{name} with numbers that are not finite, or whose squares overflow")
        if kind in ("count", "losses", "left_out", "path", "total") and (values < 0).any():
            raise SettingError(f"{name} below 0")
        if kind in ("whole", "left", "right"):
            full = _unpacked(torch.from_numpy(values))
            traces = full.diagonal(dim1=-2, dim2=-1).sum(-1).clamp(min=0)
            full.diagonal(dim1=-2, dim2=-1).add_(SLACK * traces[:, None] + np.finfo(float).tiny)
            if torch.linalg.cholesky_ex(full).info.any():
                raise SettingError(f"{name} is not positive semidefinite")
            other = answer.get(name.replace(kind, {"left": "total", "whole": "right", "right": ""}[kind]))
            if other is not None:
                again = (
                    other if kind == "left" else _unpacked(torch.from_numpy(other)).numpy().trace(0, -2, -1)
                )
                if (abs(traces.numpy() - again) > 1e-6 * abs(again)).any():
                    raise SettingError(f"{name} has another trace than the factors of the curvature")
        outputs = question.models.shape[-1] // features
        most = 1 / 4 if outputs == 1 else 1 - 1 / outputs  # of a sample's trace, over its squared inputs
        if kind == "total" and (values > count * most * (1 + SLACK)).any():
            raise SettingError(f"{name} above that of {count[0]:g} samples")


def _shapes(question: Question, features: int) -> dict[str, tuple[int, ...]]:
    runs, models, size = question.models.shape

    def triangle(n: int) -> tuple[int, int]:
        return runs, n * (n + 1) // 2

    shapes: dict[str, tuple[int, ...]] = {
        "losses": (runs, models),
        "gradients": (runs, models, size),
        "whole": triangle(size),
        "left": triangle(size // features),
        "total": (runs,),
        "right": triangle(features),
        "left_out": (runs, models),
    }
    found = {"count": (1,)} | {name: shapes[name] for name in question.wanted}
    if question.target is not None:
        found |= {"path": (runs, models, HALVINGS + 1)} | {f"ahead.{n}": shapes[n] for n in question.ahead}
    return found


def added(answers: Iterable[Sequence[Answer]]) -> list[Answer]:
    """The sum of clients' answers to the same questions, in their order; without a client, no answers."""
    total: list[Answer] = []
    for found in answers:
        total = total or [{} for _ in found]
        for mine, theirs in zip(total, found, strict=True):
            mine |= {name: mine[name] + values if name in mine else values for name, values in theirs.items()}
    return total


class _ClientSums:
    """`Sums` over samples of clients, who are asked for what they have not told."""

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
        return _unpacked(self._told("whole", which=which)[0])

    def left(self, which: Tensor) -> tuple[Tensor, Tensor]:
        left, total = self._told("left", "total", which=which)
        return _unpacked(left), total

    def right(self, which: Tensor) -> Tensor:
        return _unpacked(self._told("right", which=which)[0])

    def aim(self, models: Tensor, *, last: bool) -> None:
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

    def hear(self, dropped: Sums, fresh: Sums, held: Sums) -> None:
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
