"""A whole study, from its settings to its result folder: calibrate, plan, train chunk by chunk, sum up.

A study continues by playing its schedule again from round 1, without training, up to the last checkpoint. That takes
little time, needs nothing of a policy but that it decides the same again, and what it decides is compared with the
record.
"""

from __future__ import annotations

import platform
import shutil
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import torch

from empirics.continuing import fingerprint, refuse_horizon, refuse_model, refuse_other, warn_of_changes
from empirics.control.prices import Prices, make_prices
from empirics.control.schedule import Rounds, Schedule
from empirics.records.folder import Folder, claim, read_result, read_settings, refuse_existing
from empirics.records.rows import Columns, replay, rows_of
from empirics.records.summary import Tally
from empirics.settings.study import GIVEN, Study
from empirics.training.constants import Calibration, calibrate
from empirics.training.engine import Engine
from empirics.training.linear import Linear
from empirics.training.problem import Problem, make_problem
from empirics.training.risk import Least, least_risk
from theory.setting import SettingError

__all__ = ["Progress", "run_study", "study_of", "versions"]

Progress = Callable[[int], None]
Announce = Callable[[Path], None]
PACKAGES = ("acdpp", "numpy", "torch", "scipy", "scikit-learn", "pyarrow")
ROW = 8 * 18  # bytes of a row, before compression


def versions() -> dict[str, str]:
    """What computed this."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _machine(device: torch.device) -> dict[str, Any]:
    cuda = device.type == "cuda"
    name = torch.cuda.get_device_name(device) if cuda else f"cpu ({platform.machine()})"
    return {"device": name, "versions": versions(), "threads": torch.get_num_threads()}


# --- the user's own things ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Own:
    """What was handed over in Python, in place of what the settings name."""

    dataset: Any = None
    model: Any = None
    policies: Mapping[str, Any] | None = None
    cost: Any = None

    def named(self, study: Study) -> Study:
        """The study with the names under which these things go into its record."""
        given: dict[str, Any] = {}
        if self.dataset is not None:
            name = self.dataset if isinstance(self.dataset, str) else None
            given["dataset"] = name or GIVEN + str(getattr(self.dataset, "name", type(self.dataset).__name__))
        if self.model is not None:
            given["model"] = GIVEN + str(getattr(self.model, "__name__", type(self.model).__name__))
        if self.policies:
            given["policies"] = [
                *study.policies,
                *(name for name in self.policies if name not in study.policies),
            ]
        return Study.from_document(given, study)

    def prices(self, study: Study) -> Prices:
        return make_prices(study.cost if self.cost is None else self.cost)


# --- a study -----------------------------------------------------------------------------------------------


def run_study(
    study: Study | None = None,
    out: Path | str | None = None,
    *,
    dataset: Any = None,
    model: Any = None,
    policies: Mapping[str, Any] | None = None,
    cost: Any = None,
    device: str = "cpu",
    data_dir: Path | None = None,
    resume: bool = False,
    progress: Progress = lambda done: None,
    announce: Announce = lambda folder: None,
) -> dict[str, Any]:
    """Train, and return the summary that is also saved in the folder `out`, by default a new one in `results/`.

    `dataset`: arrays, a torch `Dataset`, or whatever `empirics.data.as_dataset` takes. `model`: a `torch.nn.Module`, or
    a function that takes the population and returns one. `policies`: policies of your own by name, run beside those
    that the study names. `cost`: an array of prices, the path of a CSV file, or an object with the `Prices` protocol.

    With `resume`, `out` is a folder to continue; the study comes from there and need not be given, and more rounds than
    it has extend it. Give again what was handed over in Python. `progress` is told how many rounds are done,
    `announce` the folder, once there is one.
    """
    own = _Own(dataset, model, policies, cost)
    if resume:
        if out is None:
            raise SettingError("resuming needs the folder to continue: give out=FOLDER")
        return _continue(study, Path(out), own, device, data_dir, progress, announce)
    study = own.named(Study() if study is None else study)
    if out is not None:
        refuse_existing(Path(out))
    _refuse_flood(study, Path("." if out is None else out))
    with _threads(study):
        prices = own.prices(study)
        problem = make_problem(study, device, data_dir, dataset=dataset, model=model)
        calibration = calibrate(problem)
        # a policy that does not fit is known before anything is written
        make_schedule = _scheduler(study, calibration, prices, own)
        make_schedule().advance(1)
        least = _least(problem)
        settings = {
            "study": study.document(),
            **_machine(problem.population.x.device),
            "data_digest": problem.digest,
            "cost_digest": prices.digest,
            "model": fingerprint(problem),
            "constants": calibration.document(),
            "least_risk": None if least is None else {"values": list(least.values), "gap": least.gap},
            "continued": [],
        }
        place = claim(Path("results"), study.preset) if out is None else Path(out)
        with Folder.begin(place, settings) as folder:
            announce(place)
            return _train(folder, problem, calibration, least, make_schedule(), progress)


def study_of(folder: Path) -> Study:
    """The study whose result, finished or not, is in this folder."""
    return Study.from_document(read_settings(folder)["study"])


def _continue(
    study: Study | None,
    out: Path,
    own: _Own,
    device: str,
    data_dir: Path | None,
    progress: Progress,
    announce: Announce,
) -> dict[str, Any]:
    with Folder.continued(out) as folder:
        announce(out)
        settings = folder.settings
        began = Study.from_document(settings["study"])
        study = began if study is None else own.named(study)
        refuse_other(began, study, out)
        if study == began and folder.finished:
            folder.clear()
            return read_result(out).summary
        with _threads(study):
            calibration = Calibration.from_document(settings["constants"])
            prices = own.prices(study)
            if prices.digest != settings["cost_digest"]:
                raise SettingError(f"cannot resume {str(out)!r}: the prices are not those it began with")
            if study.rounds != began.rounds:
                refuse_horizon(began, study, calibration.constants, prices, own.policies)
            problem = make_problem(study, device, data_dir, dataset=own.dataset, model=own.model)
            if problem.digest != settings["data_digest"]:
                raise SettingError(f"cannot resume {str(out)!r}: the data are not those it began with")
            refuse_model(settings["model"], fingerprint(problem), out)
            now = _machine(problem.population.x.device)
            warn_of_changes(settings, now)
            schedule = _scheduler(study, calibration, prices, own)()
            again = [*settings["continued"], {"after_round": folder.progress.done, **now}]
            folder.reopen(study=study.document(), continued=again)
            saved = settings["least_risk"]
            least = None if saved is None else Least(tuple(saved["values"]), saved["gap"])
            return _train(folder, problem, calibration, least, schedule, progress)


def _scheduler(study: Study, calibration: Calibration, prices: Prices, own: _Own) -> Callable[[], Schedule]:
    return lambda: Schedule(study, calibration.constants.merged, prices=prices, policies=own.policies)


@contextmanager
def _threads(study: Study) -> Any:
    before = torch.get_num_threads()
    if study.threads is not None:
        torch.set_num_threads(study.threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _least(problem: Problem) -> Least | None:
    study, model = problem.study, problem.model
    if study.radius is None or "risk" not in study.measures or not isinstance(model, Linear):
        return None
    return least_risk(model, study.radius)


def _train(
    folder: Folder,
    problem: Problem,
    calibration: Calibration,
    least: Least | None,
    schedule: Schedule,
    progress: Progress,
) -> dict[str, Any]:
    study = problem.study
    engine = Engine(problem.model, study, problem.streams)
    tally = Tally(study, calibration, schedule.retention)
    for rows in folder.chunks():
        rounds, measured = replay(str(folder.path), schedule, rows)
        engine.arrivals.extend(rounds)
        tally.add(rounds, measured)
    done = folder.progress.done
    if done:
        saved = folder.state()
        for name in ("theta", "uses"):
            getattr(engine, name).copy_(torch.from_numpy(saved[name]))
    progress(done)
    while done < study.rounds:
        rounds = schedule.advance(min(study.checkpoint, study.rounds - done))
        measured = engine.play(rounds, progress)
        _refuse_divergence(rounds, measured)
        if least is not None:
            measured["excess_risk"] = measured["risk"] - least.of_runs(study.runs)
        state = {name: getattr(engine, name).cpu().numpy() for name in ("theta", "uses")}
        folder.save(rounds.first, rounds.last, rows_of(rounds, measured), state)
        tally.add(rounds, measured)
        done = rounds.last
    summary = tally.summary(_final(problem, engine, least), least)
    folder.finish(summary)
    return summary


def _final(problem: Problem, engine: Engine, least: Least | None) -> Columns:
    """Measured at θ(T+1), after the last round."""
    with torch.no_grad():
        found = {"accuracy": problem.model.accuracy(engine.theta)}
        if "risk" in problem.study.measures:
            found["risk"] = problem.model.measure(engine.theta, None)["risk"]
    arrays = {name: values.double().cpu().numpy() for name, values in found.items()}
    if least is not None:
        arrays["excess_risk"] = arrays["risk"] - least.of_runs(problem.study.runs)
    return arrays


# --- refusals ----------------------------------------------------------------------------------------------


def _refuse_flood(study: Study, out: Path) -> None:
    """A result that the disk cannot hold is refused before it is begun."""
    place = next((path for path in (out, *out.absolute().parents) if path.is_dir()), Path("."))
    needed, free = study.rounds * study.runs * ROW, shutil.disk_usage(place).free
    if needed > free:
        raise SettingError(
            f"{study.rounds:,} rounds of {study.runs:,} runs may take {needed / 1e9:,.3g} GB and {free / 1e9:,.3g} "
            f"GB are free for {str(out)!r}: make room, or take fewer rounds, seeds or policies"
        )


def _refuse_divergence(rounds: Rounds, measured: Columns) -> None:
    for column, values in measured.items():
        wild = ~np.isfinite(values)
        if wild.any():
            t, run = (int(axis[0]) for axis in np.nonzero(wild))
            name = rounds.study.policies[run // rounds.study.seeds]
            raise SettingError(
                f"training diverged: {column} of {name} is not finite in round "
                f"{rounds.first + t}: take a smaller eta, or a "
                "radius to project onto"
            )
