"""Content of messages between server and clients, as Flower's records and back; received replies are validated here.

To a client: the parameters and its order. From a client: the change of its parameters and its report; where the policy
listens, also the mean loss of the model on the round's samples before training. No message contains samples.
"""

from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, MetricRecord, RecordDict
from numpy.typing import NDArray

from empirics.federation.client_memory import Order
from empirics.federation.client_reports import ClientReport
from empirics.training.model import Descent
from theory.setting import SettingError

__all__ = ["Reply", "Task", "introduced_client", "introduction"]

Floats = NDArray[Any]


@dataclass(frozen=True)
class Task:
    """A round's work for a client of the federation with this token. If the policy `listens`, the client reports the
    loss of `mean`, or of `theta` without a mean, on the round's samples."""

    federation: str
    order: Order
    steps: int
    eta: float
    momentum: float
    classes: int
    theta: Floats
    listens: bool = False
    mean: Floats | None = None

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
        return RecordDict({"arrays": arrays, "config": ConfigRecord(config)})

    @classmethod
    def read(cls, content: RecordDict) -> Self:
        config: dict[str, Any] = dict(content["config"])
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
    moved: Floats
    loss: float | None = None

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
        arrays, config = {"moved": Array(self.moved)}, ConfigRecord({"federation": self.federation})
        return RecordDict({"arrays": ArrayRecord(arrays), "metrics": MetricRecord(metrics), "config": config})

    @classmethod
    def read(cls, content: RecordDict, wanted: Task) -> Self:
        """The reply to a task, unless it cannot be used."""
        try:
            metrics: Any = content["metrics"]
            array: Any = content["arrays"]["moved"]
            numbers = {name: metrics[name] for name in ("client", "round", "delivered")}
            rounds, counts = metrics["cohort-rounds"], metrics["cohort-counts"]
            federation: Any = content["config"]["federation"]
            moved = array.numpy()
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
        if moved.shape != wanted.theta.shape or moved.dtype != wanted.theta.dtype:
            raise SettingError(
                f"parameters of shape {moved.shape} and type {moved.dtype}, not {wanted.theta.shape} and "
                f"{wanted.theta.dtype}"
            )
        with np.errstate(over="ignore", invalid="ignore"):
            length = np.square(wanted.theta + moved).sum()
        if not np.isfinite(length):
            raise SettingError("parameters that are not finite, or whose squares overflow")
        if len(set(rounds)) != len(rounds):
            raise SettingError("a report that names a round twice")
        if not wanted.listens or not numbers["delivered"]:
            loss = None
        elif type(loss) is not float or not np.isfinite(loss * loss):
            raise SettingError("admitted samples without a finite loss")
        report = ClientReport(numbers["delivered"], dict(zip(rounds, counts, strict=True)))
        return cls(federation, numbers["client"], numbers["round"], report, moved, loss)


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
