"""A whole study, from its settings to its result folder: calibrate, decide, train chunk by chunk, sum up.

A study continues by deciding its rounds again from round 1, without training, up to the last checkpoint. That takes
little time, needs of a policy only that it decides alike again, and its decisions are compared with the record.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from empirics.columns import FRESH, Arrays
from empirics.control.prices import Prices, prices_of
from empirics.control.schedule import Rounds, Schedule
from empirics.data import Dataset, data_of
from empirics.overrides import HandedOver
from empirics.prediction.forecast import Forecast, caveats
from empirics.prediction.predictable import refusal
from empirics.prediction.study_forecaster import StudyForecaster
from empirics.prediction.time_estimate import takes_too_long
from empirics.results.divergence import diverged_policies, nan_if_diverged
from empirics.results.fingerprint import fingerprint_of
from empirics.results.folder import Folder, new_folder, read_result, read_settings
from empirics.results.measures import concluded, least_for, with_excess
from empirics.results.provenance import settings_document
from empirics.results.resume import (
    refuse_changes,
    refuse_horizon,
    refuse_model,
    refuse_other,
    warn_of_changes,
)
from empirics.results.rows import replay, rows_of
from empirics.results.summary import Tally, add_predictions
from empirics.settings.study import Study
from empirics.shards.shard import REMEDY, TRAITS, Trainer
from empirics.shards.trainer import Chunks, Where, trainer_for
from empirics.training.constants import Calibration, calibrate
from empirics.training.device import choose_device, threads
from empirics.training.problem import Problem, from_dataset
from empirics.training.risk import Least
from empirics.training.sample_order import SampleOrder
from empirics.validate import validate
from theory.setting import SettingError

__all__ = ["Progress", "run_study", "study_of"]

Progress = Callable[[int], None]
Announce = Callable[[Path], None]


@dataclass(frozen=True)
class _Told:
    progress: Progress
    see: Callable[[Arrays], None] | None
    doing: Callable[[str], None]


@dataclass(frozen=True)
class _Job:
    """A study ready to be trained."""

    problem: Problem
    data: Dataset
    prices: Prices
    own: HandedOver
    calibration: Calibration
    least: Least | None

    @property
    def study(self) -> Study:
        return self.problem.study

    def schedule(self, study: Study | None = None) -> Schedule:
        """The schedule from round 1 on, of another study if that is given."""
        constants, own = self.calibration.constants.merged, self.own.policies
        return Schedule(study or self.study, constants, prices=self.prices, policies=own, trains=True)

    def forecaster(self) -> StudyForecaster:
        constants, own = self.calibration.constants.merged, self.own.policies
        return StudyForecaster.of(self.problem, constants, prices=self.prices, policies=own)

    def not_predicted(self) -> str | None:
        """The reason why the study goes without predictions, if it does."""
        if not self.study.predict:
            return "the setting predict is false"
        if self.least is None and "risk" not in self.study.measures:
            return "the risk is not measured"
        if listening := self.schedule().listening:
            return f"{listening[0]} listens to losses, which are unknown before training"
        reason = refusal(self.problem)
        if reason is None and takes_too_long(self.problem):
            return "it would take long: acdpp predict does it all the same"
        return reason

    def try_out(self, trainer: Trainer) -> None:
        """Train a round and forget it, so that lack of memory is known before anything is written."""
        if self._ends:
            self.rehearse()
        trainer.try_out(self.schedule().advance(1))

    @property
    def _ends(self) -> bool:
        """Samples pass in their order, each once."""
        return self.study.drift.kind == "order" and not self.study.replacement

    def rehearse(self) -> None:
        """Decide all rounds, without training, before any result is touched; refuse a stream that ends too early."""
        schedule, rounds = self.schedule(), self.study.rounds
        order = SampleOrder(self.problem.streams, self.study) if self._ends else None
        while schedule.round <= rounds:
            decided = schedule.advance(min(self.study.checkpoint, rounds - schedule.round + 1))
            if order is not None:
                order.extend(decided)

    def trainer(self, where: Where) -> AbstractContextManager[Trainer]:
        listens = bool(self.schedule().listening)
        return trainer_for(self.problem, self.data, self.own.model, where, listens=listens)


def run_study(
    study: Study | None = None,
    out: Path | str | None = None,
    *,
    dataset: Any = None,
    model: Any = None,
    policies: Mapping[str, Any] | None = None,
    cost: Any = None,
    device: str | None = None,
    data_dir: Path | None = None,
    resume: bool = False,
    on: str | None = None,
    shards: int | None = None,
    progress: Progress = lambda done: None,
    announce: Announce = lambda folder: None,
    see: Callable[[Arrays], None] | None = None,
    doing: Callable[[str], None] = lambda what: None,
    validated: bool = False,
) -> dict[str, Any]:
    """Train, and return the summary that is also saved in the folder `out`, by default a new folder in `results/`.

    `dataset`: arrays, a torch `Dataset`, or whatever `empirics.data.as_dataset` takes. `model`: a `torch.nn.Module`, or
    a function that takes the population and returns one. `policies`: policies of your own by name, run beside those
    that the study names. `cost`: an array of prices, the path of a CSV file, or an object with the `Prices` protocol.

    With `resume`, `out` is a folder to continue; study, device and data folder come from there unless given, and more
    rounds than it has extend it. Hand over again what was handed over in Python.

    `on` has workers train: "ray" starts them here, ray://HOST:PORT or HOST:PORT is the address of a cluster. The runs
    are split into `shards`, by default one for each GPU or core there.

    `progress` hears how many rounds are done, `announce` the folder once it exists, `doing` the current activity, and
    `see` the columns of every chunk of rows once saved. `validated` says that `empirics.validate` has passed the study.
    """
    own, told = HandedOver(dataset, model, policies, cost), _Told(progress, see, doing)
    with _to_continue(out, announce) if resume else nullcontext() as folder:
        record = {} if folder is None else folder.settings
        began = Study.from_document(record["study"]) if record else None
        study = own.named(study or began or Study())
        asked = record.get("asked", {"device": "cpu", "data_dir": None})
        where = Where(device or asked["device"], on, shards)
        if folder is not None and began is not None:
            differences = began.differences(study)
            refuse_other(differences, study.rounds, folder.progress.done, folder.path)
            if study == began and folder.finished and own.nothing:
                folder.clear()
                return read_result(folder.path).summary
            if "federation" in record:
                raise SettingError(f"{str(out)!r} is a federation's result: acdpp resume {out} continues it")
        prices = prices_of(study, cost)
        if folder is None and not validated:
            validate(study, out=out, device=where.here, prices=prices, policies=policies)
        place = data_dir if data_dir is not None or asked["data_dir"] is None else Path(asked["data_dir"])
        with threads(study.threads, REMEDY):
            doing("reading the data")
            data = data_of(study, place, dataset)
            problem = from_dataset(study, data, choose_device(where.here), model)
            if folder is not None:
                refuse_changes(folder.settings, prices, problem, folder.path)
            job = _Job(problem, data, prices, own, *_constants(problem, folder, doing))
            if folder is None or began is None:
                return _begin(job, where, told, out, announce, data_dir)
            return _continue(job, where, told, folder, began)


def study_of(folder: Path) -> Study:
    """The study whose result, finished or not, is in this folder."""
    return Study.from_document(read_settings(folder)["study"])


@contextmanager
def _to_continue(out: Path | str | None, announce: Announce) -> Iterator[Folder]:
    """The folder of a study that is continued."""
    if out is None:
        raise SettingError("resuming needs the folder to continue: give out=FOLDER")
    with Folder.continued(Path(out)) as folder:
        announce(folder.path)
        yield folder


def _constants(
    problem: Problem, folder: Folder | None, doing: Callable[[str], None]
) -> tuple[Calibration, Least | None]:
    """The theory's constants and the least risk, as the folder to continue records them if there is one."""
    if folder is None:
        doing("looking for the least risk")
        return calibrate(problem), least_for(problem)
    settings = folder.settings
    least = Least.from_document(settings["least_risk"])
    if least is not None and not least.reaches(problem.study.rounds + 1):
        least = problem.least
    return Calibration.from_document(settings["constants"]), least


def _begin(
    job: _Job, where: Where, told: _Told, out: Path | str | None, announce: Announce, data_dir: Path | None
) -> dict[str, Any]:
    """Train a new study into a new folder."""
    with job.trainer(where) as trainer:
        job.try_out(trainer)
        asked = {"device": where.device, "data_dir": None if data_dir is None else os.path.abspath(data_dir)}
        found = job.calibration, job.least, job.not_predicted()
        settings = settings_document(job.problem, asked, job.prices, *found) | trainer.machine()
        place = new_folder(Path("results"), job.study.preset) if out is None else Path(out)
        with Folder.begin(place, settings) as folder:
            announce(place)
            return _train(folder, job, trainer, told)


def _continue(job: _Job, where: Where, told: _Told, folder: Folder, began: Study) -> dict[str, Any]:
    """Train the rounds that a folder lacks."""
    if job.study == began and folder.finished:
        return read_result(folder.path).summary
    if job.study.rounds != began.rounds:
        refuse_horizon(job.schedule(began), job.schedule())
        job.rehearse()
    with job.trainer(where) as trainer:
        now = trainer.machine()
        warn_of_changes(folder.settings, now)
        again = [*folder.settings["continued"], {"after_round": folder.progress.done, **now}]
        return _train(folder, job, trainer, told, continued=again)


def _train(
    folder: Folder, job: _Job, trainer: Trainer, told: _Told, continued: list[Any] | None = None
) -> dict[str, Any]:
    """Replay the recorded rounds, then train the rest; the record says that it is `continued` once that is sure."""
    study, least, schedule = job.study, job.least, job.schedule()
    tally = Tally(study, job.calibration, schedule.retention, partitions=len(job.problem.streams.pools))
    for rows in folder.chunks():
        rounds, measured = replay(str(folder.path), schedule, rows)
        trainer.follow(rounds)
        tally.add(rounds, measured)
        if told.see is not None:
            told.see({name: rows[name].to_numpy(zero_copy_only=False) for name in rows.column_names})
    if folder.progress.done:
        _restore(trainer, folder, schedule)
    chunks, diverged = Chunks(schedule, trainer, told.progress), set[str]()
    chunks.begin()  # workers train while this process predicts
    reason = folder.settings.get("not_predicted", "the result was begun by a version that predicts nothing")
    told.doing("predicting")
    forecaster = job.forecaster() if reason is None else None
    forecasts = forecaster.forecasts() if forecaster else {}
    if continued is not None:
        folder.reopen(study=study.document(), continued=continued)
    told.doing("rounds")
    told.progress(folder.progress.done)
    for rounds, digest, measured, state in chunks:
        heard = {name: measured.pop(name) for name in [FRESH] if name in measured}
        if study.diverging == "refuse":
            diverged |= diverged_policies(rounds, measured, state["theta"], diverged)
        measured = with_excess(study, nan_if_diverged(measured), least, rounds.first) | heard
        if forecasts:
            measured["predicted_excess_risk"] = _of_runs(forecasts, rounds)
        state["fingerprint"] = fingerprint_of(state.pop(TRAITS))
        columns = rows_of(rounds, measured)
        folder.save(rounds.first, rounds.last, columns, state, digest)
        if told.see is not None:
            told.see(columns)
        tally.add(rounds, measured)
    summary = tally.summary(concluded(study, trainer.final(), least), least)
    if least is not None:
        notes = caveats(study, forecaster.landscape.steepness, forecasts) if forecaster else []
        add_predictions(summary, forecasts, reason, notes)
        still = study.drift.kind == "none"
        summary["lower_bound"] = forecaster.lower_bound() if forecaster and still else None
    folder.finish(summary)
    return summary


def _of_runs(forecasts: Mapping[str, Forecast], rounds: Rounds) -> NDArray[np.float64]:
    """The predicted excess risk of a chunk of rounds, (rounds, runs)."""
    study, part = rounds.study, slice(rounds.first - 1, rounds.last)
    return np.repeat(
        np.stack([forecasts[name].risk[part] for name in study.policies], axis=1), study.seeds, axis=1
    )


def _restore(trainer: Trainer, folder: Folder, schedule: Schedule) -> None:
    """Go on from the last checkpoint, if policies and model are those that led to it."""
    if schedule.digest != folder.progress.schedule:
        raise SettingError(
            f"cannot resume {str(folder.path)!r}: some client's admissions or retention are not as they were: a policy "
            "has changed"
        )
    saved = folder.state()
    refuse_model(saved["fingerprint"], fingerprint_of(trainer.restore(saved)), folder.path)
