"""A federation's journal, in a result folder like that of `acdpp train`: prices, grants, deliveries, parameters.

Every round is on disk before the next one begins, with the policy's state, the account of all memories and the
parameters: a server that is killed begins its last unfinished round again, with the same price and the same grants.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray

from empirics.control.controller import Controller
from empirics.control.policy import FOREVER
from empirics.control.prices import Prices, make_prices
from empirics.control.schedule import Rounds
from empirics.control.state_json import plain, restored
from empirics.federation.holdings import Account, Holdings
from empirics.overrides import HandedOver
from empirics.results.folder import Folder, read_settings, refuse_existing
from empirics.results.measures import CALM, final_measures, least_for, settings_document, with_excess
from empirics.results.resume import fingerprint, refuse_changes, refuse_model
from empirics.results.rows import Columns, rows_of
from empirics.results.summary import Tally
from empirics.settings.study import Study
from empirics.training.constants import Calibration, calibrate
from empirics.training.engine import FRESH, LAST, aggregation_weights
from empirics.training.model import listening
from empirics.training.problem import Problem, make_problem
from empirics.training.risk import Least, project
from empirics.training.world import world_of
from theory.setting import SettingError

__all__ = ["Journal", "federated", "prepare"]

Floats = NDArray[Any]
TALLIED = ("sums", "highest", "last", "above", "diverged", "idle")
SERVER_MEASURES = ("risk", "accuracy")  # the others take knowing the clients' samples


def federated(study: Study, policy: str | None = None) -> Study:
    """The study as one federation runs it: one policy, one seed, every round a checkpoint, no forecast.

    >>> study = federated(Study(), "constant")
    >>> study.policies, study.seeds, study.measures
    (('constant',), 1, ('risk', 'accuracy'))
    """
    if policy is None and len(study.policies) != 1:
        raise SettingError(f"a federation runs one policy, not {len(study.policies)}: say which")
    kept = tuple(one for one in study.measures if one in SERVER_MEASURES)
    chosen = study.policies if policy is None else (policy,)
    return replace(study, policies=chosen, seeds=1, measures=kept, predict=False, checkpoint=1)


def prepare(
    study: Study, out: Path, data_dir: Path | None = None, *, dataset: Any = None, model: Any = None
) -> None:
    """A result folder in which no round is done yet; what is wrong with the study is said before that is made."""
    study = HandedOver(dataset=dataset, model=model).named(study)
    if study != federated(study):
        raise SettingError("a federation runs one policy with one seed: take the study of federated(...)")
    refuse_existing(out)
    problem = make_problem(study, "cpu", data_dir, dataset=dataset, model=model)
    calibration, prices = calibrate(problem), make_prices(study.cost)
    rule = Controller(study.policies[0], study, mean_cost=prices.mean, constants=calibration.constants)
    if rule.listens:
        listening(problem.model)
    asked = {"device": "cpu", "data_dir": None if data_dir is None else os.path.abspath(data_dir)}
    reason = "a federation is not predicted: acdpp predict does it"
    settings = settings_document(problem, asked, prices, calibration, least_for(problem), reason)
    token = hashlib.sha256(os.urandom(32)).hexdigest()[:16]
    with Folder.begin(out, settings | {"federation": token}):
        pass


class Journal:
    """The journal of a federation, open for writing: `price` and `decide` a round, then `book` it."""

    def __init__(self, folder: Folder, problem: Problem, prices: Prices) -> None:
        settings = folder.settings
        self.folder, self.problem, self.study = folder, problem, problem.study
        calibration = Calibration.from_document(settings["constants"])
        self.least = Least.from_document(settings["least_risk"])
        self.token: str = settings["federation"]
        self.controller = Controller(
            self.study.policies[0], self.study, mean_cost=prices.mean, constants=calibration.constants
        )
        capacity = self.controller.capacity
        sizes = np.full(self.study.clients, FOREVER) if capacity is None else capacity
        self.holdings = Holdings.start(self.controller.retention, sizes)
        partitions = len(problem.streams.pools)
        self.tally = Tally(self.study, calibration, self.controller.retention[np.newaxis], partitions)
        self.world = world_of(problem.model, self.study, problem.streams)
        self.theta = problem.model.start(1)
        self.mean = self.theta if self.study.averages else None
        self.granted: NDArray[np.int64] = np.zeros(self.study.clients, dtype=np.int64)
        if folder.progress.done:
            self._restore()
        chunks = prices.chunks(self.study.seed, 1, self.study.rounds, self.study.rounds)
        self._prices = islice((float(price[0]) for chunk in chunks for price in chunk), self.done, None)
        self.price = next(self._prices, None)

    @classmethod
    @contextmanager
    def open(
        cls, out: Path, data_dir: Path | None = None, *, dataset: Any = None, model: Any = None
    ) -> Iterator[Self]:
        """The journal in a folder that `prepare` has made, held by this process alone."""
        if "federation" not in read_settings(out):
            raise SettingError(
                f"{str(out)!r} is no result of a federation: continue it by acdpp train --resume"
            )
        with Folder.continued(out) as folder:
            study = Study.from_document(folder.settings["study"])
            place = data_dir or folder.settings["asked"]["data_dir"]
            problem = make_problem(study, "cpu", place and Path(place), dataset=dataset, model=model)
            prices = make_prices(study.cost)
            refuse_changes(folder.settings, prices, problem, out)
            yield cls(folder, problem, prices)

    @property
    def done(self) -> int:
        """Rounds that are booked."""
        return self.folder.progress.done

    @property
    def finished(self) -> bool:
        return self.done == self.study.rounds

    @property
    def parameters(self) -> Floats:
        """θ(t), to send to the clients."""
        flat: Floats = self.theta[0].cpu().numpy()
        return flat

    @property
    def mean_to_test(self) -> Floats | None:
        """The mean of models, to send to the clients too, where a policy listens to its losses."""
        mean = self.averaged if self.controller.listens else None
        return None if mean is None else mean[0].cpu().numpy()

    # --- a round -------------------------------------------------------------------------------------------

    def decide(self) -> NDArray[np.int64]:
        """How many samples each client may admit, at the price of the round; asked again, the same."""
        assert self.price is not None
        if self.controller.pending is None:
            self.controller.decide(self.price)
        granted = self.controller.pending
        assert granted is not None
        self.granted = granted
        self.holdings.retention = self.controller.retention.tolist()
        return granted

    def check(self, client: int, account: Account) -> None:
        """Refuse an account that cannot be true."""
        self.holdings.check(client, int(self.granted[client]), account)

    def book(
        self,
        accounts: Mapping[int, Account],
        moved: Mapping[int, Floats],
        losses: Mapping[int, float | None],
    ) -> dict[str, float]:
        """The round with those who took part: θ moves by their mean, a policy that listens is told the mean of their
        losses, and all is saved. Returns what was measured."""
        study, t = self.study, self.done + 1
        came, trained = np.zeros((2, study.clients), dtype=np.int64)
        for m, account in accounts.items():
            came[m], trained[m] = account.delivered, account.trained_on
        assert self.price is not None
        track, debt = self.holdings.book(accounts), self.controller.books.debt
        weights = aggregation_weights(study, trained)
        self.controller.report(came, trained=bool(weights.any()))
        ends = np.array(self.holdings.admitted)
        shape = (1, 1, study.clients)
        rounds = Rounds(
            study,
            t,
            np.full((1, 1), self.price),
            np.full((1, 1), debt),
            came.reshape(shape),
            (ends - trained).reshape(shape),
            ends.reshape(shape),
            track,
        )
        measured = self._measured()
        if self.controller.listens:
            measured[FRESH] = np.full((1, 1), self._heard(came, losses))
        if weights.any():
            self._move(sum((weights[m] * moved[m] for m in sorted(moved)), np.zeros_like(self.parameters)))
        self.tally.add(rounds, measured)
        self.folder.save(t, t, rows_of(rounds, measured), self._state())
        self.price = next(self._prices, None)
        return {name: float(values[0, 0]) for name, values in measured.items()}

    def _heard(self, came: NDArray[np.int64], losses: Mapping[int, float | None]) -> float:
        """The mean over all samples of the round, NaN if there are none; the policy hears of it."""
        total = sum(came[m] * loss for m, loss in sorted(losses.items()) if loss is not None)
        self.controller.observe(total / came.sum() if came.any() else None)
        return float(total / came.sum()) if came.any() else np.nan

    def _measured(self) -> Columns:
        """At θ(t), before the round trains, and of the mean where that is the model."""
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

    def _move(self, step: Floats) -> None:
        moved = self.theta + torch.from_numpy(step).to(self.theta)
        theta = project(moved, self.study.radius)
        if not theta.isfinite().all():
            raise SettingError(f"training diverged: θ is not finite after round {self.done + 1}: {CALM}")
        self.theta = theta
        if self.mean is not None:
            self.mean = torch.lerp(self.mean, moved, self.controller.share)

    @property
    def averaged(self) -> torch.Tensor | None:
        """The mean of models, within the ball."""
        return None if self.mean is None else project(self.mean, self.study.radius)

    def finish(self) -> dict[str, Any]:
        """Once all rounds are booked: the summary, which is also saved."""
        summary = self.tally.summary(self._final(), self.least)
        if self.least is not None:
            summary["not_predicted"], summary["prediction_notes"] = self.folder.settings["not_predicted"], []
            for found in summary["policies"].values():
                found |= dict.fromkeys(("predicted", "predicted_error", "predicted_over_measured"))
        self.folder.finish(summary)
        return summary

    def _final(self) -> Columns:
        return final_measures(self.problem, self.theta, self.least, self.averaged)

    # --- what a server that begins again needs -------------------------------------------------------------

    def _state(self) -> dict[str, Any]:
        tally = {name: getattr(self.tally, name) for name in TALLIED}
        documents = {
            "controller": self.controller.document(),
            "ledger": plain(self.holdings),
            "tally": plain(tally),
        }
        mean = {} if self.mean is None else {"mean": self.mean.cpu().numpy()}
        return {
            **mean,
            "theta": self.theta.cpu().numpy(),
            "fingerprint": fingerprint(self.problem, self.theta),
            "books": np.frombuffer(json.dumps(documents).encode(), dtype=np.uint8),
        }

    def _restore(self) -> None:
        saved = self.folder.state()
        documents = json.loads(bytes(saved["books"]).decode())
        self.controller = Controller.from_document(documents["controller"])
        self.holdings = restored(documents["ledger"], self.holdings)
        for name, value in restored(documents["tally"]).items():
            setattr(self.tally, name, value)
        self.theta = torch.from_numpy(saved["theta"]).to(self.theta)
        if self.mean is not None:
            self.mean = torch.from_numpy(saved["mean"]).to(self.theta)
        refuse_model(saved["fingerprint"], fingerprint(self.problem, self.theta), self.folder.path)
