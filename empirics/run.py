"""A whole study, from its settings to its result folder: calibrate, plan, train chunk by chunk, sum up.

A study continues by playing its schedule again from round 1, without training, up to the last checkpoint. That takes
little time, needs nothing of a policy but that it decides the same again, and what it decides is compared with the
record.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from empirics.control.prices import Prices
from empirics.control.schedule import Rounds, Schedule
from empirics.data import Dataset
from empirics.overrides import HandedOver
from empirics.prediction.curves import StudyForecaster
from empirics.prediction.forecast import Forecast, caveats
from empirics.prediction.loss_landscape import refusal
from empirics.prediction.time_estimate import takes_too_long
from empirics.results.folder import Folder, claim, read_result, read_settings
from empirics.results.measures import (
    CALM,
    concluded,
    least_for,
    numbers,
    settings_document,
    with_excess,
)
from empirics.results.resume import (
    fingerprint_of,
    refuse_changes,
    refuse_horizon,
    refuse_model,
    refuse_other,
    warn_of_changes,
)
from empirics.results.rows import Columns, replay, rows_of
from empirics.results.summary import Tally, add_predictions
from empirics.settings.study import Study
from empirics.shards.chunks import Chunks
from empirics.shards.shard import REMEDY, TRAITS, Trainer
from empirics.shards.trainer import Where, trainer_for
from empirics.training.constants import Calibration, calibrate
from empirics.training.device import choose_device, threads
from empirics.training.engine import FRESH
from empirics.training.problem import Problem, data_of, from_dataset
from empirics.training.risk import Least
from empirics.training.streams import Arrivals
from empirics.validate import validate
from theory.setting import SettingError

__all__ = ["Progress", "run_study", "study_of"]

Progress = Callable[[int], None]
Announce = Callable[[Path], None]
Doing = Callable[[str], None]
See = Callable[[Columns], None]


@dataclass(frozen=True)
class _Job:
    """A study ready to be trained."""

    study: Study
    problem: Problem
    prices: Prices
    calibration: Calibration
    least: Least | None
    policies: Mapping[str, Any] | None

    def schedule(self) -> Schedule:
        """From round 1 on."""
        constants = self.calibration.constants.merged
        return Schedule(self.study, constants, prices=self.prices, policies=self.policies, trains=True)

    def forecaster(self) -> StudyForecaster:
        """What the law of reuse says about every policy."""
        constants = self.calibration.constants.merged
        return StudyForecaster.of(self.problem, constants, prices=self.prices, policies=self.policies)

    def not_predicted(self) -> str | None:
        """Why the study goes without predictions, if it does."""
        if not self.study.predict:
            return "the setting predict is false"
        if self.least is None and "risk" not in self.study.measures:
            return "the risk is not measured"
        if listening := self.schedule().listening:
            return f"{listening[0]} listens to losses, which nobody knows before it trains"
        reason = refusal(self.problem)
        if reason is None and takes_too_long(self.problem):
            return "it would take long: acdpp predict does it all the same"
        return reason

    def try_out(self, trainer: Trainer) -> None:
        """A round in vain, so that what does not fit is known before anything is written."""
        if self.study.drift.kind == "order" and not self.study.replacement:
            _rehearse(self)
        trainer.try_out(self.schedule().advance(1))

    def trainer(self, data: Dataset, model: Any, where: Where) -> AbstractContextManager[Trainer]:
        """What trains it."""
        return trainer_for(self.problem, data, model, where, listens=bool(self.schedule().listening))


# --- a study -----------------------------------------------------------------------------------------------


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
    see: See | None = None,
    doing: Doing = lambda what: None,
    validated: bool = False,
) -> dict[str, Any]:
    """Train, and return the summary that is also saved in the folder `out`, by default a new one in `results/`.

    `dataset`: arrays, a torch `Dataset`, or whatever `empirics.data.as_dataset` takes. `model`: a `torch.nn.Module`, or
    a function that takes the population and returns one. `policies`: policies of your own by name, run beside those
    that the study names. `cost`: an array of prices, the path of a CSV file, or an object with the `Prices` protocol.

    With `resume`, `out` is a folder to continue; study, device and data folder come from there unless given, and more
    rounds than it has extend it. Give again what was handed over in Python.

    `on` has workers train: "ray" for those that are started here, or a cluster's address, ray://HOST:PORT or
    HOST:PORT. The runs go into so many `shards`, by default one for each GPU or core there.

    `progress` is told how many rounds are done, `announce` the folder, once there is one, `doing` what is being done
    before the first round and that rounds are, and `see` sees the columns of every chunk of rows, once saved.
    `validated` says that `empirics.validate` has passed the study.
    """
    own = HandedOver(dataset, model, policies, cost)
    if resume:
        if out is None:
            raise SettingError("resuming needs the folder to continue: give out=FOLDER")
        there = partial(Where, on=on, shards=shards)
        return _continue(study, Path(out), own, device, there, data_dir, progress, announce, see, doing)
    where = Where(device or "cpu", on, shards)
    study = own.named(Study() if study is None else study)
    prices = own.prices(study)
    if not validated:
        validate(study, out=out, device=where.here, prices=prices, policies=policies, read_samples=False)
    asked = {"device": where.device, "data_dir": None if data_dir is None else os.path.abspath(data_dir)}
    with threads(study, REMEDY):
        doing("reading the data")
        chosen, data = choose_device(where.here), data_of(study, data_dir, dataset)
        problem = from_dataset(study, data, chosen, model)
        doing("looking for the least risk")
        calibration = calibrate(problem)
        job = _Job(study, problem, prices, calibration, least_for(problem), policies)
        with job.trainer(data, model, where) as trainer:
            job.try_out(trainer)
            found = calibration, job.least, job.not_predicted()
            settings = settings_document(job.problem, asked, prices, *found) | trainer.machine()
            place = claim(Path("results"), study.preset) if out is None else Path(out)
            with Folder.begin(place, settings) as folder:
                announce(place)
                return _train(folder, job, trainer, progress, see, doing)


def study_of(folder: Path) -> Study:
    """The study whose result, finished or not, is in this folder."""
    return Study.from_document(read_settings(folder)["study"])


def _continue(
    study: Study | None,
    out: Path,
    own: HandedOver,
    device: str | None,
    there: Callable[[str], Where],
    data_dir: Path | None,
    progress: Progress,
    announce: Announce,
    see: See | None,
    doing: Doing,
) -> dict[str, Any]:
    with Folder.continued(out) as folder:
        announce(out)
        settings = folder.settings
        began = Study.from_document(settings["study"])
        study = own.named(began if study is None else study)
        refuse_other(began, study, folder.progress.done, out)
        if study == began and folder.finished and own.nothing:
            folder.clear()
            return read_result(out).summary
        if "federation" in settings:
            raise SettingError(
                f"{str(out)!r} is a federation's result: acdpp federate --resume {out} continues it"
            )
        where, lies = there(device or settings["asked"]["device"]), data_dir or settings["asked"]["data_dir"]
        with threads(study, REMEDY):
            prices = own.prices(study)
            doing("reading the data")
            chosen, data = choose_device(where.here), data_of(study, lies and Path(lies), own.dataset)
            problem = from_dataset(study, data, chosen, own.model)
            refuse_changes(settings, prices, problem, out)
            if study == began and folder.finished:
                return read_result(out).summary
            calibration = Calibration.from_document(settings["constants"])
            least = Least.from_document(settings["least_risk"])
            if least is not None and not least.reaches(study.rounds + 1):
                least = problem.least
            job = _Job(study, problem, prices, calibration, least, own.policies)
            if study.rounds != began.rounds:
                refuse_horizon(began, study, calibration.constants, prices, own.policies)
                _rehearse(job)
            with job.trainer(data, own.model, where) as trainer:
                now = trainer.machine()
                warn_of_changes(settings, now)
                again = [*settings["continued"], {"after_round": folder.progress.done, **now}]
                return _train(
                    folder, job, trainer, progress, see, doing, study=study.document(), continued=again
                )


def _rehearse(job: _Job) -> None:
    """Decide all rounds of a study, without training, before any result is touched; and of a stream that ends, whether
    as many samples go by as are asked for."""
    study, schedule = job.study, job.schedule()
    ends = study.drift.kind == "order" and not study.replacement
    arrivals = Arrivals(job.problem.streams, study) if ends else None
    while schedule.round <= study.rounds:
        rounds = schedule.advance(min(study.checkpoint, study.rounds - schedule.round + 1))
        if arrivals is not None:
            arrivals.extend(rounds)


def _train(
    folder: Folder,
    job: _Job,
    trainer: Trainer,
    progress: Progress,
    see: See | None,
    doing: Doing,
    **settings: Any,
) -> dict[str, Any]:
    """GraphReplay what is there, then train the rest; new settings go into the record once it is sure to go on."""
    study, problem, least, schedule = job.study, job.problem, job.least, job.schedule()
    tally = Tally(study, job.calibration, schedule.retention, partitions=len(problem.streams.pools))
    for rows in folder.chunks():
        rounds, measured = replay(str(folder.path), schedule, rows)
        trainer.follow(rounds)
        tally.add(rounds, measured)
        if see is not None:
            see({name: rows[name].to_numpy(zero_copy_only=False) for name in rows.column_names})
    if folder.progress.done:
        _restore(trainer, folder, schedule)
    chunks, diverged = Chunks(schedule, trainer, progress), set[str]()
    chunks.begin()  # workers train while this process predicts
    reason = folder.settings.get("not_predicted", "the result was begun by a version that predicts nothing")
    doing("predicting")
    forecaster = job.forecaster() if reason is None else None
    forecasts = forecaster.forecasts() if forecaster else {}
    if settings:
        folder.reopen(**settings)
    doing("rounds")
    progress(folder.progress.done)
    for rounds, digest, measured, state in chunks:
        heard = {name: measured.pop(name) for name in [FRESH] if name in measured}
        if study.diverging == "refuse":
            diverged |= _diverged(rounds, measured, state["theta"], diverged)
        measured = numbers(measured)
        measured = with_excess(study, measured, least, rounds.first) | heard
        if forecasts:
            measured["predicted_excess_risk"] = _of_runs(forecasts, rounds)
        state["fingerprint"] = fingerprint_of(state.pop(TRAITS))
        columns = rows_of(rounds, measured)
        folder.save(rounds.first, rounds.last, columns, state, digest)
        if see is not None:
            see(columns)
        tally.add(rounds, measured)
    summary = tally.summary(concluded(study, trainer.final(), least), least)
    if least is not None:
        notes = caveats(study, job.calibration.constants, forecasts)
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
    """The state after the last checkpoint, if policies and model are those that led to it."""
    if schedule.digest != folder.progress.schedule:
        raise SettingError(
            f"cannot resume {str(folder.path)!r}: some client's admissions or retention are not as they were: a policy "
            "has changed"
        )
    saved = folder.state()
    refuse_model(saved["fingerprint"], fingerprint_of(trainer.restore(saved)), folder.path)


def _diverged(
    rounds: Rounds, measured: Columns, theta: NDArray[np.floating[Any]], known: set[str]
) -> set[str]:
    """The policies some run of which is no longer finite, each told once; where no run is, the study ends."""
    study, after = rounds.study, np.isfinite(theta).all(axis=1)
    during = np.ones((len(rounds.cost), study.runs), dtype=bool)
    for values in measured.values():
        during &= np.isfinite(values)
    lost = ~np.vstack([during, after])
    found = set()
    for name, runs in zip(study.policies, np.split(lost, len(study.policies), axis=1), strict=True):
        if not runs.any():
            continue
        first = rounds.first + int(runs.any(axis=1).argmax())
        words = f"{name} is not finite {f'in round {first}' if first <= rounds.last else f'after round {rounds.last}'}"
        if lost.any(axis=0).all():
            raise SettingError(f"training diverged: {words}: {CALM}")
        if name not in known:
            warnings.warn(f"{words}: it diverged, and the others go on; {CALM}", stacklevel=2)
        found.add(name)
    return found
