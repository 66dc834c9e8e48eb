"""A whole study, from its settings to its result folder: calibrate, plan, train chunk by chunk, sum up.

A study continues by playing its schedule again from round 1, without training, up to the last checkpoint. That takes
little time, needs nothing of a policy but that it decides the same again, and what it decides is compared with the
record.
"""

from __future__ import annotations

import platform
import shutil
import warnings
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray

from empirics.control.policy import Policy
from empirics.control.prices import Prices, make_prices
from empirics.control.registry import make_policy
from empirics.control.schedule import Rounds, Schedule, brief_for
from empirics.records.folder import Folder, claim, read_result, read_settings, refuse_existing
from empirics.records.summary import Tally
from empirics.settings.study import GIVEN, Study
from empirics.training.constants import Calibration, calibrate
from empirics.training.engine import MEASURED, Engine
from empirics.training.linear import Linear
from empirics.training.problem import Problem, make_problem
from empirics.training.risk import Least, least_risk
from theory.setting import Constants, SettingError

__all__ = ["Progress", "run_study", "study_of", "versions"]

Progress = Callable[[int], None]
Announce = Callable[[Path], None]
PACKAGES = ("acdpp", "numpy", "torch", "scipy", "scikit-learn", "pyarrow")
ROW = 8 * 18  # bytes of a row, before compression
REPLAYED = ("cost", "admitted", "n", "N", "debt")  # columns that a schedule decides
Columns = dict[str, NDArray[Any]]


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
        _refuse_other(began, study, out)
        if study == began and folder.finished:
            folder.clear()
            return read_result(out).summary
        with _threads(study):
            calibration = Calibration.from_document(settings["constants"])
            prices = own.prices(study)
            if prices.digest != settings["cost_digest"]:
                raise SettingError(f"cannot resume {str(out)!r}: the prices are not those it began with")
            if study.rounds != began.rounds:
                _refuse_horizon(began, study, calibration.constants, prices, own)
            problem = make_problem(study, device, data_dir, dataset=own.dataset, model=own.model)
            if problem.digest != settings["data_digest"]:
                raise SettingError(f"cannot resume {str(out)!r}: the data are not those it began with")
            now = _machine(problem.population.x.device)
            _warn_of_changes(settings, now)
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
        rounds, measured = _replay(folder, schedule, rows)
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
        folder.save(rounds.first, rounds.last, _rows(rounds, measured), state)
        tally.add(rounds, measured)
        done = rounds.last
    summary = tally.summary(_final(problem, engine, least), least)
    folder.finish(summary)
    return summary


# --- rows --------------------------------------------------------------------------------------------------


def _planned(rounds: Rounds) -> Columns:
    """What follows from the schedule alone, (rounds, runs) each."""
    track, study = rounds.track, rounds.study
    return {
        "cost": rounds.cost,
        "admitted": rounds.admissions.sum(axis=2),
        "n": track.n.astype(np.int64),
        "N": track.N.astype(np.int64),
        "N_eff": track.effective,
        "uniformity": track.uniformity,
        "chi": track.mismatch,
        "stated_mismatch": 1 / track.n - 1 / track.effective,
        "debt": rounds.debt,
        "overflow": np.maximum(rounds.occupancy - np.array(study.buffers), 0).sum(axis=2),
    }


def _rows(rounds: Rounds, measured: Columns) -> Columns:
    """The columns of a chunk, rounds varying fastest within a run."""
    study, count = rounds.study, len(rounds.cost)
    places = {
        "policy": np.repeat(np.array(study.policies), study.seeds * count),
        "seed": np.tile(np.repeat(np.arange(study.seeds), count), len(study.policies)),
        "round": np.tile(np.arange(rounds.first, rounds.last + 1), study.runs),
    }
    flat = {name: np.ascontiguousarray(v.T).ravel() for name, v in (_planned(rounds) | measured).items()}
    return places | flat


def _replay(folder: Folder, schedule: Schedule, rows: pa.Table) -> tuple[Rounds, Columns]:
    """The recorded rounds, decided again and compared with the record."""
    study, name = schedule.study, str(folder.path)
    count, rest = divmod(rows.num_rows, study.runs)
    first = schedule.round
    if rest or count < 1 or first + count - 1 > study.rounds:
        raise SettingError(f"{name!r} does not hold {study.runs} rows for every round from {first} on")
    rounds = schedule.advance(count)
    saved = {
        column: rows[column].to_numpy(zero_copy_only=False).reshape(study.runs, count).T
        for column in rows.column_names
    }
    expected = {name: values.reshape(study.runs, count).T for name, values in _rows(rounds, {}).items()}
    for column in ("policy", "seed", "round", *REPLAYED):
        wrong = saved[column] != expected[column]
        if wrong.any():
            t, run = (int(axis[0]) for axis in np.nonzero(wrong))
            raise SettingError(
                f"cannot resume {name!r}: in round {first + t} of {study.policies[run // study.seeds]}, {column} was "
                f"{saved[column][t, run]} and is {expected[column][t, run]} now: the "
                f"policy, the prices or acdpp have changed"
            )
    wanted = [column for measure in study.measures for column in MEASURED[measure]] + ["excess_risk"]
    return rounds, {column: saved[column] for column in wanted if column in saved}


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
            f"{study.rounds:,} rounds of {study.runs:,} runs may take {needed / 1e9:,.0f} "
            f"GB and {free / 1e9:,.1f} GB are "
            "free: take fewer rounds, seeds or policies"
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


def _refuse_other(began: Study, study: Study, out: Path) -> None:
    before, now = began.document(), study.document()
    if study.rounds < began.rounds:
        raise SettingError(
            f"{str(out)!r} is a study of {began.rounds} rounds, which cannot be cut to "
            f"{study.rounds}: start a new one"
        )
    changed = [
        f"{name} is {before[name]!r} there and {now[name]!r} here"
        for name in now
        if name != "rounds" and before.get(name) != now[name]
    ]
    if changed:
        raise SettingError(
            f"cannot resume {str(out)!r}: {'; '.join(changed)}: leave that out, or start a new study"
        )


def _refuse_horizon(began: Study, study: Study, constants: Constants, prices: Prices, own: _Own) -> None:
    """More rounds are the same study only where nothing was chosen for the number of rounds."""
    if prices.depends_on_horizon:
        raise SettingError("cannot extend this study: its prices depend on the number of rounds")
    briefs = [brief_for(one, constants.merged, prices) for one in (began, study)]
    changed = [
        name
        for name in study.policies
        if not _same(*(make_policy(name, brief, own.policies) for brief in briefs))
    ]
    if changed:
        raise SettingError(
            f"cannot extend this study to {study.rounds} rounds: the settings of "
            f"{', '.join(changed)} depend on the number of "
            "rounds (for acdpp, V and rho unless they are given): start a new study"
        )


def _same(one: Policy, other: Policy) -> bool:
    if one is other:
        return True
    try:
        return bool(one == other)
    except Exception:  # arrays in a user's policy have no single answer
        return False


def _warn_of_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    old, new = before["versions"], now["versions"]
    changed = [
        f"{name} {old.get(name, 'absent')} → {new.get(name, 'absent')}"
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    ]
    changed += [
        f"{name} {before[name]} → {now[name]}" for name in ("device", "threads") if before[name] != now[name]
    ]
    if changed:
        warnings.warn(
            f"continued with {', '.join(changed)}: the numbers agree with an unbroken run "
            f"to rounding, but need not bit for "
            "bit; the folder records this",
            stacklevel=4,
        )
