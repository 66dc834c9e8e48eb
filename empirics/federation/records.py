"""What server and clients send each other, as Flower's records and back; what came over the wire is checked here.

To a client: the parameters, and its own order. From a client: how its parameters have moved, and its account; where the
policy listens, also the mean loss of the model on the round's samples before it trained. Samples are in neither.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, MetricRecord, RecordDict
from numpy.typing import NDArray

from empirics.federation.holdings import Account
from empirics.federation.memory import Order
from empirics.training.model import Descent
from theory.setting import SettingError

__all__ = ["Reply", "Task", "introduction", "who"]

Floats = NDArray[Any]


@dataclass(frozen=True)
class Task:
    """A round's work for one client. `federation` stands for the result that it belongs to. If it `listens`, the loss
    of the model on the round's samples is to be told; the model is `mean`, or `theta` without one."""

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
        """A record of its own for every client: Flower's may be shared and changed."""
        plain: dict[str, Any] = {"federation": self.federation, "classes": self.classes}
        plain |= {"steps": self.steps, "eta": self.eta, "momentum": self.momentum, "listens": self.listens}
        models = {"theta": self.theta} | ({} if self.mean is None else {"mean": self.mean})
        arrays = ArrayRecord({name: Array(values) for name, values in models.items()})
        return RecordDict({"arrays": arrays, "config": ConfigRecord({**plain, **asdict(self.order)})})

    @classmethod
    def read(cls, content: RecordDict) -> Task:
        config: dict[str, Any] = dict(content["config"])
        order = Order(**{name: config.pop(name) for name in Order.__dataclass_fields__})
        arrays: Any = content["arrays"]
        models = {name: arrays[name].numpy() for name in ("theta", "mean") if name in arrays}
        return cls(order=order, **models, **config)


@dataclass(frozen=True)
class Reply:
    """What a client did. `num-examples` is what Flower's own strategies weigh by."""

    federation: str
    client: int
    round: int
    account: Account
    moved: Floats
    loss: float | None = None

    def content(self) -> RecordDict:
        metrics: dict[str, Any] = {
            "client": self.client,
            "round": self.round,
            "delivered": self.account.delivered,
            "num-examples": self.account.trained_on,
            "cohort-rounds": list(self.account.cohorts),
            "cohort-counts": list(self.account.cohorts.values()),
        }
        if self.loss is not None:
            metrics["fresh-loss"] = self.loss
        return RecordDict(
            {
                "arrays": ArrayRecord({"moved": Array(self.moved)}),
                "metrics": MetricRecord(metrics),
                "config": ConfigRecord({"federation": self.federation}),
            }
        )

    @classmethod
    def read(cls, content: RecordDict, wanted: Task) -> Reply:
        """The reply to a task; SettingError says what is wrong with one that cannot be used."""
        try:
            metrics: Any = content["metrics"]
            array: Any = content["arrays"]["moved"]
            numbers = {name: metrics[name] for name in ("client", "round", "delivered")}
            rounds, counts = metrics["cohort-rounds"], metrics["cohort-counts"]
            federation: Any = content["config"]["federation"]
            moved = array.numpy()
            loss = metrics.get("fresh-loss")
            whole = [*numbers.values(), *rounds, *counts]
        except Exception as error:  # whatever a stranger sends
            raise SettingError(f"a reply that is none ({type(error).__name__})") from None
        if not all(type(one) is int for one in whole) or len(rounds) != len(counts):
            raise SettingError("an account of other than whole numbers")
        if federation != wanted.federation or numbers["round"] != wanted.order.round:
            raise SettingError(
                f"an answer to round {numbers['round']} of {federation!r}, not to round {wanted.order.round} of "
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
            raise SettingError(
                "parameters that are no finite numbers, or so large that their squares are none"
            )
        if len(set(rounds)) != len(rounds):
            raise SettingError("an account that names a round twice")
        if not wanted.listens or not numbers["delivered"]:
            loss = None
        elif type(loss) is not float or not np.isfinite(loss * loss):
            raise SettingError("samples without a loss whose square is a finite number")
        account = Account(numbers["delivered"], dict(zip(rounds, counts, strict=True)))
        return cls(federation, numbers["client"], numbers["round"], account, moved, loss)


def introduction(client: int) -> RecordDict:
    """A node's answer to who it is."""
    return RecordDict({"metrics": MetricRecord({"client": client})})


def who(content: RecordDict, clients: int) -> int:
    """The client that a node says it is."""
    try:
        client: Any = content["metrics"]["client"]
    except Exception:
        raise SettingError("an introduction without a client's number") from None
    if type(client) is not int or not 0 <= client < clients:
        raise SettingError(f"it says it is client {client!r}, and there are clients 0 to {clients - 1}")
    return client
