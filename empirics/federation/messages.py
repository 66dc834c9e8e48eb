"""Content of messages between server and clients, as Flower's records and back; received replies are validated here.

To a client: the parameters and its order. From a client: the change of its parameters and its report; where the policy
listens, also the mean loss of the model on the round's samples before training. For the information learner it sends
sums in place of the change, and answers further inquiries of the round. No message contains samples.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, MetricRecord, RecordDict
from numpy.typing import NDArray

from empirics.federation.client_memory import Order
from empirics.federation.client_reports import ClientReport
from empirics.training.model import Descent
from empirics.training.questions import Answer, Question, check_sums
from theory.setting import SettingError

__all__ = ["Inquiry", "Reply", "Task", "answers_of", "introduced_client", "introduction", "sums_content"]

Floats = NDArray[Any]


@dataclass(frozen=True)
class Inquiry:
    """Questions to a client in a round: its weight, the number of its first new sample among all clients', and the
    number of features."""

    federation: str
    round: int
    questions: tuple[Question, ...]
    weight: float
    first: int
    features: int

    def content(self) -> RecordDict:
        """A record for one client alone."""
        names = ("federation", "round", "weight", "first", "features")
        config: dict[str, Any] = {name: getattr(self, name) for name in names}
        config["questions"] = [json.dumps([q.samples, q.wanted, q.which, q.ahead]) for q in self.questions]
        found: dict[str, Floats] = {}
        for k, one in enumerate(self.questions):
            found |= {f"{k}.models": one.models} | ({} if one.target is None else {f"{k}.target": one.target})
        models = ArrayRecord({name: Array(values) for name, values in found.items()})
        return RecordDict({"inquiry": ConfigRecord(config), "models": models})

    @classmethod
    def read(cls, content: RecordDict) -> Self:
        config: dict[str, Any] = dict(content["inquiry"])
        arrays: Any = content["models"]
        models = {name: array.numpy() for name, array in arrays.items()}
        questions = []
        for k, one in enumerate(config.pop("questions")):
            samples, wanted, which, ahead = json.loads(one)
            there = models[f"{k}.models"], which, models.get(f"{k}.target")
            questions.append(Question(samples, tuple(wanted), *there, tuple(ahead)))
        return cls(questions=tuple(questions), **config)


def sums_content(answers: list[Answer]) -> RecordDict:
    """A client's answers to an inquiry."""
    named = {f"{k}.{name}": Array(values) for k, one in enumerate(answers) for name, values in one.items()}
    return RecordDict({"sums": ArrayRecord(named)})


def answers_of(content: RecordDict, inquiry: Inquiry, report: ClientReport) -> list[Answer]:
    """The answers to an inquiry, unless they cannot be used, or are not over the reported samples."""
    found: list[Answer] = [{} for _ in inquiry.questions]
    try:
        arrays: Any = content["sums"]
        for name, array in arrays.items():
            k, _, kind = name.partition(".")
            found[int(k)][kind] = array.numpy()
    except Exception as error:  # the content is not trusted
        raise SettingError(f"malformed sums ({type(error).__name__})") from None
    check_sums(inquiry.questions, found, inquiry.features)
    for question, answer in zip(inquiry.questions, found, strict=True):
        counted = report.counted.get(question.samples)  # how many were dropped is not reported
        if counted is not None and not np.isclose(answer["count"][0], inquiry.weight * counted):
            raise SettingError(
                f"sums over {answer['count'][0]:g} {question.samples} samples, not over the reported {counted}"
            )
    return found


@dataclass(frozen=True)
class Task:
    """A round's work for a client of the federation with this token. If the policy `listens`, the client reports the
    loss of `mean`, or of `theta` without a mean, on the round's samples. With an inquiry it does not descend."""

    federation: str
    order: Order
    steps: int
    eta: float
    momentum: float
    classes: int
    theta: Floats
    listens: bool = False
    mean: Floats | None = None
    inquiry: Inquiry | None = None

    @property
    def tested(self) -> Floats:
        return self.theta if self.mean is None else self.mean

    @property
    def descent(self) -> Descent:
        return Descent(self.steps, self.eta, self.momentum)

    def content(self) -> RecordDict:
        """A record for one client alone: Flower may change it."""
        names = ("federation", "classes", "steps", "eta", "momentum", "listens")
        config: dict[str, Any] = {name: getattr(self, name) for name in names} | asdict(self.order)
        models = {"theta": self.theta} | ({} if self.mean is None else {"mean": self.mean})
        arrays = ArrayRecord({name: Array(values) for name, values in models.items()})
        asked = {} if self.inquiry is None else self.inquiry.content()
        return RecordDict({"arrays": arrays, "config": ConfigRecord(config), **asked})

    @classmethod
    def read(cls, content: RecordDict) -> Self:
        config: dict[str, Any] = dict(content["config"])
        config["inquiry"] = Inquiry.read(content) if "inquiry" in content else None
        order = Order(**{name: config.pop(name) for name in Order.__dataclass_fields__})
        arrays: Any = content["arrays"]
        models = {name: arrays[name].numpy() for name in ("theta", "mean") if name in arrays}
        return cls(order=order, **models, **config)


@dataclass(frozen=True)
class Reply:
    """A client's answer to a task. Flower's own strategies weigh by `num-examples`."""

    federation: str
    client: int
    round: int
    report: ClientReport
    moved: Floats | None
    loss: float | None = None
    answers: list[Answer] | None = None

    def content(self) -> RecordDict:
        metrics: dict[str, Any] = {
            "client": self.client,
            "round": self.round,
            "delivered": self.report.delivered,
            "num-examples": self.report.trained_on,
            "cohort-rounds": list(self.report.cohorts),
            "cohort-counts": list(self.report.cohorts.values()),
        }
        if self.loss is not None:
            metrics["fresh-loss"] = self.loss
        found = {} if self.answers is None else dict(sums_content(self.answers))
        if self.moved is not None:
            found["arrays"] = ArrayRecord({"moved": Array(self.moved)})
        config = ConfigRecord({"federation": self.federation})
        return RecordDict({"metrics": MetricRecord(metrics), "config": config, **found})

    @classmethod
    def read(cls, content: RecordDict, wanted: Task) -> Self:
        """The reply to a task, unless it cannot be used."""
        try:
            metrics: Any = content["metrics"]
            array: Any = None if wanted.inquiry else content["arrays"]["moved"]
            numbers = {name: metrics[name] for name in ("client", "round", "delivered")}
            rounds, counts = metrics["cohort-rounds"], metrics["cohort-counts"]
            federation: Any = content["config"]["federation"]
            moved = None if wanted.inquiry else array.numpy()
            loss = metrics.get("fresh-loss")
            whole = [*numbers.values(), *rounds, *counts]
        except Exception as error:  # the content is not trusted
            raise SettingError(f"malformed reply ({type(error).__name__})") from None
        if not all(type(number) is int for number in whole) or len(rounds) != len(counts):
            raise SettingError("a report with counts that are not whole numbers")
        if federation != wanted.federation or numbers["round"] != wanted.order.round:
            raise SettingError(
                f"a reply to round {numbers['round']} of {federation!r}, not to round {wanted.order.round} of "
                f"{wanted.federation!r}"
            )
        if moved is not None:
            _check_move(moved, wanted.theta)
        if len(set(rounds)) != len(rounds):
            raise SettingError("a report that names a round twice")
        if not wanted.listens or not numbers["delivered"]:
            loss = None
        elif type(loss) is not float or not np.isfinite(loss * loss):
            raise SettingError("admitted samples without a finite loss")
        report = ClientReport(numbers["delivered"], dict(zip(rounds, counts, strict=True)))
        answers = None
        if wanted.inquiry is not None:
            answers = answers_of(content, wanted.inquiry, report)
        return cls(federation, numbers["client"], numbers["round"], report, moved, loss, answers)


def _check_move(moved: Floats, theta: Floats) -> None:
    if moved.shape != theta.shape or moved.dtype != theta.dtype:
        raise SettingError(
            f"parameters of shape {moved.shape} and type {moved.dtype}, not {theta.shape} and {theta.dtype}"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        length = np.square(theta + moved).sum()
    if not np.isfinite(length):
        raise SettingError("parameters that are not finite, or whose squares overflow")


def introduction(client: int) -> RecordDict:
    """A node's answer to the question for its client id."""
    return RecordDict({"metrics": MetricRecord({"client": client})})


def introduced_client(content: RecordDict, clients: int) -> int:
    """The client id in an introduction."""
    try:
        client: Any = content["metrics"]["client"]
    except Exception:
        raise SettingError("an introduction without a client id") from None
    if type(client) is not int or not 0 <= client < clients:
        raise SettingError(f"it claims to be client {client!r}, clients are 0 to {clients - 1}")
    return client
