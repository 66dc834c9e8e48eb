"""Questions of a server that learns from sums, a client's answers, their check and their sum."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from empirics.training.information import HALVINGS
from empirics.training.sums import Rows, RowSums
from theory.setting import SettingError

__all__ = ["Answer", "Question", "added", "check_sums", "client_sums", "packed", "shapes_of", "unpacked"]

SLACK = 1e-9  # of rounding, beside what is checked
Answer = dict[str, NDArray[np.float64]]


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
        "whole": lambda: packed(sums.whole(one)),
        "left": lambda: packed(sums.left(one)[0]),
        "total": lambda: sums.left(one)[1],
        "right": lambda: packed(sums.right(one)),
        "left_out": lambda: sums.left_out(models[:, None])[:, 0],
    }
    return {name: ways[name]() for name in wanted}


def packed(matrices: Tensor) -> Tensor:
    """The upper triangles of symmetric matrices."""
    i, j = torch.triu_indices(matrices.shape[-1], matrices.shape[-1])
    return matrices[..., i, j]


def unpacked(triangles: Tensor) -> Tensor:
    """Symmetric matrices by their upper triangles."""
    n = math.isqrt(2 * triangles.shape[-1])
    i, j = torch.triu_indices(n, n)
    found = triangles.new_zeros(*triangles.shape[:-1], n, n)
    found[..., i, j] = found[..., j, i] = triangles
    return found


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
    for name, values in answer.items():
        with np.errstate(over="ignore", invalid="ignore"):
            if values.dtype != np.float64 or not np.isfinite(np.square(values).sum()):
                raise SettingError(f"{name} with numbers that are not finite, or whose squares overflow")
    shapes = shapes_of(question, features)
    count = answer.get("count", np.ones(1))
    shapes = shapes if count.any() else {"count": (1,)}
    if {name: values.shape for name, values in answer.items()} != shapes:
        wrong = sorted(answer.keys() ^ shapes.keys()) or [n for n in shapes if answer[n].shape != shapes[n]]
        raise SettingError(f"{', '.join(wrong)} missing, not asked for, or of another shape")
    outputs = question.models.shape[-1] // features
    most = 1 / 4 if outputs == 1 else 1 - 1 / outputs  # of a sample's total
    for name, values in answer.items():
        kind = name.removeprefix("ahead.")
        if kind in ("whole", "left", "right"):
            full = unpacked(torch.from_numpy(values))
            diagonal = full.diagonal(dim1=-2, dim2=-1)
            diagonal += SLACK * diagonal.sum(-1, keepdim=True).abs() + np.finfo(float).tiny
            if torch.linalg.cholesky_ex(full).info.any():
                raise SettingError(f"{name} is not positive semidefinite")
        elif kind != "gradients" and (values < 0).any():
            raise SettingError(f"{name} below 0")
        if kind == "total" and (values > count * most * (1 + SLACK)).any():
            raise SettingError(f"{name} above that of {count[0]:g} samples")


def shapes_of(question: Question, features: int) -> dict[str, tuple[int, ...]]:
    """Shapes of an answer's arrays; symmetric matrices are sent as triangles."""
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
