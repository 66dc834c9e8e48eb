"""The server's state in a result folder like that of `acdpp train`: prices, grants, reports, parameters.

Every round is saved before the next begins, with the policy's state, the clients' accounts and the parameters: a killed
server repeats its unfinished round with the same price and grants.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import numpy as np
import torch
from numpy.typing import NDArray

from empirics.columns import FRESH, LAST, Arrays
from empirics.control.controller import Controller
from empirics.control.policy import FOREVER
from empirics.control.prices import Prices, make_prices
from empirics.control.schedule import Rounds
from empirics.control.state_json import plain, restored
from empirics.federation.client_reports import ClientAccounts
from empirics.federation.messages import Inquiry, Reply
from empirics.overrides import HandedOver
from empirics.results.divergence import CALMER
from empirics.results.fingerprint import fingerprint
from empirics.results.folder import Folder, read_settings, refuse_existing
from empirics.results.measures import final_measures, least_for, with_excess
from empirics.results.provenance import settings_document
from empirics.results.resume import refuse_changes, refuse_model
from empirics.results.rows import rows_of
from empirics.results.summary import PREDICTED, Tally
from empirics.settings.study import Study
from empirics.training.client_sums import SumServer
from empirics.training.constants import Calibration, calibrate
from empirics.training.engine import aggregation_weights
from empirics.training.informed import client_weights
from empirics.training.model import listening
from empirics.training.problem import Problem, make_problem
from empirics.training.questions import Answer, Question, added
from empirics.training.risk import Least, project
from empirics.training.world import world_of
from theory.setting import SettingError

__all__ = ["ServerState", "federated", "prepare"]

Floats = NDArray[Any]
Further = Callable[[list[Question]], list[list[Answer]]]  # the answers of the clients that are left
NOT_FEDERATED = "{!r} was not made by acdpp federate: continue it by acdpp resume"
TALLIED = ("sums", "highest", "last", "above", "diverged", "idle")
SERVER_MEASURES = ("risk", "accuracy")  # the others need the clients' samples


def federated(study: Study, policy: str | None = None) -> Study:
    """The study of a federation: one policy, one seed, a checkpoint every round, no prediction.

    >>> study = federated(Study(), "constant")
    >>> study.policies, study.seeds, study.measures
    (('constant',), 1, ('risk', 'accuracy'))
    """
    if policy is None and len(study.policies) != 1:
        raise SettingError(f"a federation runs one policy, not {len(study.policies)}: choose one")
    kept = tuple(name for name in study.measures if name in SERVER_MEASURES)
    chosen = study.policies if policy is None else (policy,)
    return replace(study, policies=chosen, seeds=1, measures=kept, predict=False, checkpoint=1)


def prepare(
    study: Study,
    out: Path,
    data_dir: Path | None = None,
    *,
    dataset: Any = None,
    model: Any = None,
    **began: Any,
) -> None:
    """Make a result folder without a round, after checking the study; `began` is recorded, to continue alike."""
    study = HandedOver(dataset=dataset, model=model).named(study)
    if study != federated(study):
        raise SettingError("a federation runs one policy with one seed: take the study of federated(...)")
    refuse_existing(out)
    problem = make_problem(study, "cpu", data_dir, dataset=dataset, model=model)
    calibration, prices = calibrate(problem), make_prices(study.cost)
    if _controller(study, calibration, prices).listens:
        listening(problem.model)
    asked = {"device": "cpu", "data_dir": None if data_dir is None else os.path.abspath(data_dir), **began}
    reason = "a federation is not predicted: acdpp predict does it"
    settings = settings_document(problem, asked, prices, calibration, least_for(problem), reason)
    with Folder.begin(out, settings | {"federation": uuid4().hex}):
        pass


def _controller(study: Study, calibration: Calibration, prices: Prices) -> Controller:
    (policy,) = study.policies
    return Controller(policy, study, mean_cost=prices.mean, constants=calibration.constants)


class ServerState:
    """The state of a federation, open for writing: `decide` a round at its `price`, then `book` it."""

    def __init__(self, folder: Folder, problem: Problem, prices: Prices) -> None:
        settings = folder.settings
        self.folder, self.problem, self.study = folder, problem, problem.study
        calibration = Calibration.from_document(settings["constants"])
        self.least = Least.from_document(settings["least_risk"])
        self.token: str = settings["federation"]
        self.controller = _controller(self.study, calibration, prices)
        capacity = self.controller.capacity
        sizes = np.full(self.study.clients, FOREVER) if capacity is None else capacity
        self.accounts = ClientAccounts.start(self.controller.retention, sizes)
        partitions = len(problem.streams.pools)
        self.tally = Tally(self.study, calibration, self.controller.retention[np.newaxis], partitions)
        self.world = world_of(problem.model, self.study, problem.streams)
        self.theta = problem.model.start(1)
        self.mean = self.theta if self.study.averages else None
        self.sums: SumServer | None = None
        if self.study.learner == "information":
            self.sums, self.weights = (
                SumServer.of(self.study, problem.model),
                np.array(client_weights(self.study)),
            )
            self.sums.server.models[:] = self.theta.double()[:, None]
        if folder.progress.done:
            self._restore()
        (all_rounds,) = prices.chunks(self.study.seed, 1, self.study.rounds, self.study.rounds)
        self._prices = iter(all_rounds[self.done :].ravel().tolist())
        self.price = next(self._prices, None)

    @classmethod
    @contextmanager
    def open(
        cls, out: Path, data_dir: Path | None = None, *, dataset: Any = None, model: Any = None
    ) -> Iterator[Self]:
        """The state in a folder made by `prepare`, locked by this process."""
        if "federation" not in read_settings(out):
            raise SettingError(NOT_FEDERATED.format(str(out)))
        with Folder.continued(out) as folder:
            study = Study.from_document(folder.settings["study"])
            place = data_dir or folder.settings["asked"]["data_dir"]
            problem = make_problem(study, "cpu", place and Path(place), dataset=dataset, model=model)
            prices = make_prices(study.cost)
            refuse_changes(folder.settings, prices, problem, out)
            yield cls(folder, problem, prices)

    @property
    def done(self) -> int:
        """The number of booked rounds."""
        return self.folder.progress.done

    @property
    def finished(self) -> bool:
        return self.done == self.study.rounds

    @property
    def parameters(self) -> Floats:
        """θ(t), sent to the clients."""
        return self.theta.cpu().numpy().ravel()

    @property
    def mean_to_test(self) -> Floats | None:
        """The mean of models, sent to the clients where the policy listens to its losses."""
        mean = self.averaged if self.controller.listens else None
        return None if mean is None else mean.cpu().numpy().ravel()

    def decide(self) -> NDArray[np.int64]:
        """Each client's grant at the price of the round; repeated calls give equal grants."""
        assert self.price is not None
        if self.controller.pending is None:
            self.controller.decide(self.price)
        granted = self.controller.pending
        assert granted is not None
        self.accounts.retention = self.controller.retention.tolist()
        return granted

    def questions(self) -> list[Question]:
        """What clients are asked for with the order of a round; nothing where they descend."""
        return [] if self.sums is None else self.sums.questions(self._granted)

    @property
    def _granted(self) -> float:
        return float(self.weights @ self.decide())

    def inquiry(self, client: int, questions: list[Question]) -> Inquiry:
        """Questions to a client in this round."""
        assert self.sums is not None
        first = self.decide()[:client][self.weights[:client] > 0].sum()
        about = (float(self.weights[client]), int(first), self.sums.features)
        return Inquiry(self.token, self.done + 1, tuple(questions), *about)

    def book(self, replies: Mapping[int, Reply], further: Further = lambda questions: []) -> dict[str, float]:
        """Book a round with its participants' replies: θ moves by their mean, or to where sums lead, for which some of
        them answer `further` questions; a policy that listens hears the mean of their losses, and everything is saved.
        Returns the measures."""
        informed = self._informed(replies, further)
        study, t, reports = self.study, self.done + 1, {m: reply.report for m, reply in replies.items()}
        came, trained = np.zeros((2, study.clients), dtype=np.int64)
        for m, report in reports.items():
            came[m], trained[m] = report.delivered, report.trained_on
        assert self.price is not None
        track, debt = self.accounts.book(reports), self.controller.books.debt
        weights = aggregation_weights(study, trained)
        self.controller.report(came, trained=bool(weights.any()))
        ends = np.array(self.accounts.admitted)
        admitted, begins, ends = (values.reshape(1, 1, -1) for values in (came, ends - trained, ends))
        price, owed = (np.full((1, 1), value) for value in (self.price, debt))
        rounds = Rounds(study, t, price, owed, admitted, begins, ends, track)
        measured = self._measured()
        if self.controller.listens:
            measured[FRESH] = np.full((1, 1), self._heard(came, replies))
        if weights.any():
            moves = (weights[m] * replies[m].moved for m in sorted(replies) if informed is None)
            step = torch.from_numpy(sum(moves, np.zeros_like(self.parameters))).to(self.theta)
            self._move(self.theta + step if informed is None else informed)
        self.tally.add(rounds, measured)
        self.folder.save(t, t, rows_of(rounds, measured), self._state())
        self.price = next(self._prices, None)
        return {name: float(values[0, 0]) for name, values in measured.items()}

    def _informed(self, replies: Mapping[int, Reply], further: Further) -> torch.Tensor | None:
        """The model after a round of sums; the first ones are in the replies."""
        if self.sums is None:
            return None
        first = [added(replies[m].answers or [] for m in sorted(replies))]
        self.sums.learn(lambda asked: first.pop() if first else added(further(asked)), self._granted)
        return torch.from_numpy(self.sums.theta)[None].to(self.theta)

    def _heard(self, came: NDArray[np.int64], replies: Mapping[int, Reply]) -> float:
        """The mean loss over the samples of the round, NaN without samples; the policy observes it."""
        losses = {m: replies[m].loss for m in sorted(replies)}
        total = sum(came[m] * loss for m, loss in losses.items() if loss is not None)
        mean = float(total / came.sum()) if came.any() else None
        self.controller.observe(mean)
        return np.nan if mean is None else mean

    def _measured(self) -> Arrays:
        """Measures at θ(t), before the round trains, and of the mean where models are averaged."""
        models = {"": self.theta} if self.averaged is None else {"": self.averaged, LAST: self.theta}
        found: dict[str, Any] = {}
        if self.world is not None:
            self.world.show_round(self.done + 1)
        with torch.no_grad():
            for prefix, theta in models.items():
                if "risk" in self.study.measures:
                    found[f"{prefix}risk"] = self.problem.model.measure(theta, None)["risk"]
                if "accuracy" in self.study.measures:
                    found[f"{prefix}accuracy"] = self.problem.model.accuracy(theta)
        measured = {name: values.double().cpu().numpy()[np.newaxis] for name, values in found.items()}
        return with_excess(self.study, measured, self.least, self.done + 1)

    def _move(self, moved: torch.Tensor) -> None:
        theta = project(moved, self.study.radius)
        if not theta.isfinite().all():
            raise SettingError(f"training diverged: θ is not finite after round {self.done + 1}: {CALMER}")
        self.theta = theta
        if self.mean is not None:
            self.mean = torch.lerp(self.mean, moved, self.controller.share)

    @property
    def averaged(self) -> torch.Tensor | None:
        """The mean of models, projected onto the ball."""
        return None if self.mean is None else project(self.mean, self.study.radius)

    def finish(self) -> dict[str, Any]:
        """Save and return the summary, after the last round."""
        final = final_measures(self.problem, self.theta, self.least, self.averaged)
        summary = self.tally.summary(final, self.least)
        if self.least is not None:
            summary["not_predicted"], summary["prediction_notes"] = self.folder.settings["not_predicted"], []
            for found in summary["policies"].values():
                found |= dict.fromkeys(PREDICTED)
        self.folder.finish(summary)
        return summary

    def _state(self) -> dict[str, Any]:
        tally = plain({name: getattr(self.tally, name) for name in TALLIED})
        documents = {"controller": self.controller.document(), "ledger": plain(self.accounts), "tally": tally}
        models = {"theta": self.theta} | ({} if self.mean is None else {"mean": self.mean})
        sums = {} if self.sums is None else self.sums.state
        return (
            sums
            | {name: model.cpu().numpy() for name, model in models.items()}
            | {
                "fingerprint": fingerprint(self.problem, self.theta),
                "books": np.frombuffer(json.dumps(documents).encode(), dtype=np.uint8),
            }
        )

    def _restore(self) -> None:
        saved = self.folder.state()
        documents = json.loads(bytes(saved["books"]).decode())
        self.controller = Controller.from_document(documents["controller"])
        self.accounts = restored(documents["ledger"], self.accounts)
        for name, value in restored(documents["tally"]).items():
            setattr(self.tally, name, value)
        self.theta = torch.from_numpy(saved["theta"]).to(self.theta)
        if self.mean is not None:
            self.mean = torch.from_numpy(saved["mean"]).to(self.theta)
        if self.sums is not None:
            self.sums.restore(saved)
        refuse_model(saved["fingerprint"], fingerprint(self.problem, self.theta), self.folder.path)
