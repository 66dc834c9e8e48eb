"""Learners on a table: each takes `Splits` and returns models or probabilities, from bought rows alone.

`scikit-learn` sees all bought rows at once. FedAvg and FedAdam are Flower's, with local steps on the rows that clients
hold, for each step size of a grid. `vowpal wabbit` passes over the rows once, in the order in which they are bought.
"""

import logging
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from sklearn.linear_model import LogisticRegressionCV
from torch import Tensor
from torch.nn import functional as F

from benchmarks.tables.descent import descent
from benchmarks.tables.splits import SETTINGS, Chances, Splits
from empirics.training.information import InformationServer
from empirics.training.sums import Rows, scores


def information(splits: Splits) -> Chances:
    """The server adds up gradient and curvature."""
    runs, _, features = splits.bought.x.shape
    server = InformationServer(runs, features, splits.classes, device=splits.test.x.device)
    server.begin(splits.bought.part(slice(splits.pilot)))
    for held, fresh, dropped in splits.rounds:
        server.hear(fresh)
        server.learn(held)
        if dropped is not None:
            server.forget(dropped)
    return splits.chances(server.theta[:, None])


def scikit_learn(splits: Splits) -> Chances:
    """Logistic regression with a ridge by cross-validation."""
    found = np.full((*splits.test.y.shape, splits.classes), 1e-15)
    more = {"cv": 5, "scoring": "neg_log_loss", "max_iter": 2000}
    for chances, (x, y, held_out) in zip(found, splits.arrays, strict=True):
        model = LogisticRegressionCV(Cs=np.logspace(-4, 4, 17), **more)
        with warnings.catch_warnings(action="ignore"):  # of rare classes in folds, and of its next version
            model.fit(x[:, :-1], y)
        chances[:, model.classes_] = model.predict_proba(held_out[:, :-1])
    return found[None]


def flower(splits: Splits, make: Callable[[float], Any], server_steps: list[float]) -> Chances:
    """A strategy of Flower's for every local step size and step size of its own; all of these are one array."""
    local = torch.tensor(SETTINGS["local_steps"], device=splits.test.x.device)
    runs, _, features = splits.bought.x.shape
    shape = (runs, len(local), (1 if splits.classes == 2 else splits.classes) * features)
    return np.concatenate([_federated(splits, make(step), local, shape) for step in server_steps])


def _federated(splits: Splits, strategy: Any, local: Tensor, shape: tuple[int, ...]) -> Chances:
    from flwr.common import Code, FitRes, Status, ndarrays_to_parameters, parameters_to_ndarrays

    logging.getLogger("flwr").setLevel(logging.ERROR)
    theta = torch.zeros(shape, device=local.device)
    strategy.current_weights = [np.zeros(shape)]
    for number, (held, _, _) in enumerate(splits.rounds, start=1):
        replies = []
        for client in range(SETTINGS["clients"]):
            own = held.part(slice(client, None, SETTINGS["clients"]))
            moved = _descended(theta, own, local).cpu().numpy()
            result = FitRes(Status(Code.OK, ""), ndarrays_to_parameters([moved]), own.y.shape[1], {})
            replies.append((None, result))
        aggregated, _ = strategy.aggregate_fit(number, replies, [])
        theta = torch.from_numpy(parameters_to_ndarrays(aggregated)[0]).to(theta)
    return splits.chances(theta.nan_to_num(0.0))


def _descended(theta: Tensor, rows: Rows, steps: Tensor) -> Tensor:
    """Local steps of full-batch descent, of each step size."""
    outputs = theta.shape[-1] // rows.x.shape[-1]
    targets = F.one_hot(rows.y, max(outputs, 2))[:, None, :, -outputs:]
    for _ in range(SETTINGS["descents"]):
        apart = scores(theta, rows.x).softmax(-1)[..., -outputs:] - targets
        gradient = torch.einsum("rmno,rnd->rmod", apart, rows.x) / rows.y.shape[1]
        theta = theta - steps[:, None] * gradient.flatten(2)
    return theta


def fed_avg(splits: Splits) -> Chances:
    from flwr.server.strategy import FedAvg  # where it is used: other learners are measured without it

    return flower(splits, lambda _: FedAvg(), [1.0])


def fed_adam(splits: Splits) -> Chances:
    from flwr.common import ndarrays_to_parameters
    from flwr.server.strategy import FedAdam

    none = ndarrays_to_parameters([])
    return flower(splits, lambda eta: FedAdam(eta=eta, initial_parameters=none), SETTINGS["adam_steps"])


def vowpal_wabbit(splits: Splits) -> Chances:
    """One pass with its defaults; probabilities over classes by one against all."""
    import vowpalwabbit  # installed by name where the benchmark is run; no extra of acdpp asks for it

    binary = splits.classes == 2
    many = "--link logistic" if binary else f"--oaa {splits.classes} --probabilities"
    found = []
    for x, y, held_out in splits.arrays:
        learner = vowpalwabbit.Workspace(f"--quiet --loss_function logistic {many}")
        labels = (2 * y - 1 if binary else y + 1).tolist()
        for row, label in zip(x.tolist(), labels, strict=True):
            learner.learn(f"{label} {_features(row)}")
        found.append([learner.predict(_features(row)) for row in held_out.tolist()])
        learner.finish()
    told = np.array(found)
    chances = np.stack([1 - told, told], axis=-1) if binary else told
    return np.asarray(chances / chances.sum(-1, keepdims=True))[None]


def _features(row: list[float]) -> str:
    return "| " + " ".join(f"{k}:{value:.9g}" for k, value in enumerate(row[:-1]) if value)


LEARNERS: dict[str, Callable[[Splits], Chances]] = {
    "scikit-learn": scikit_learn,
    "information": information,
    "descent": descent,
    "FedAvg": fed_avg,
    "FedAdam": fed_adam,
    "vowpal wabbit": vowpal_wabbit,
}
OFFLINE = ("scikit-learn", "vowpal wabbit")  # to them all rows per round are as one
