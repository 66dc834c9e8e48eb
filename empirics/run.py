"""A whole study, from its settings to its result folder: calibrate, plan, train chunk by chunk, sum up."""

from __future__ import annotations

import platform
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from empirics.control.schedule import Schedule, plan
from empirics.records.folder import Folder, read_result
from empirics.records.summary import summarise
from empirics.settings.study import Study
from empirics.training.constants import calibrate
from empirics.training.engine import Engine
from empirics.training.problem import Problem, make_problem
from empirics.training.risk import Minimiser, minimise

__all__ = ["Progress", "run_study", "versions"]

Progress = Callable[[int], None]
PACKAGES = ("acdpp", "numpy", "torch", "scipy", "scikit-learn", "pyarrow")


def versions() -> dict[str, str]:
    """What computed this."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else f"cpu ({platform.machine()})"


def run_study(
    study: Study,
    out: Path,
    *,
    device: str = "cpu",
    data_dir: Path | None = None,
    resume: bool = False,
    progress: Progress = lambda done: None,
) -> dict[str, Any]:
    """Train, and return the summary that is also saved in `out`. `progress` is told how many rounds are done."""
    if study.threads is not None:
        torch.set_num_threads(study.threads)
    folder = Folder(out)
    folder.check(resume=resume)
    problem = make_problem(study, device, data_dir)
    calibration = calibrate(problem)
    settings = {
        "study": study.document(),
        "device": _device_name(problem.population.x.device),
        "versions": versions(),
        "data_digest": problem.digest,
        "threads": torch.get_num_threads(),
        "constants": calibration.document(),
    }
    done = folder.open(settings)
    if folder.finished:
        return read_result(out)[1]
    best = (
        minimise(problem.model, study.radius)
        if study.radius is not None and "risk" in study.measures
        else None
    )
    schedule = plan(study, calibration.constants.merged)
    engine = Engine(problem.model, schedule, problem.streams)
    if done:
        _restore(engine, folder.state())
    progress(done)
    for first in range(done + 1, study.rounds + 1, study.checkpoint):
        last = min(first + study.checkpoint - 1, study.rounds)
        measured = engine.play(first, last, progress)
        state = {
            "round": np.array(last),
            "theta": engine.theta.cpu().numpy(),
            "uses": engine.uses.cpu().numpy(),
        }
        folder.save(first, _rows(schedule, measured, best, first, last), state)
    final = _final(problem, engine, best)
    summary = summarise(study, schedule, calibration, best, folder.rows(), final)
    folder.finish(summary)
    return summary


def _restore(engine: Engine, state: dict[str, NDArray[Any]]) -> None:
    for name in ("theta", "uses"):
        getattr(engine, name).copy_(torch.from_numpy(state[name]))


def _rows(
    schedule: Schedule, measured: dict[str, NDArray[Any]], best: Minimiser | None, first: int, last: int
) -> dict[str, Any]:
    """The columns of rounds first..last, rounds varying fastest within a run."""
    study, rounds = schedule.study, slice(first - 1, last)
    count = last - first + 1
    tracks = schedule.trajectories
    per_run = {
        name: np.stack([getattr(track, name)[rounds] for track in tracks])
        for name in ("n", "N", "uniformity")
    }
    effective = np.stack([track.effective[rounds] for track in tracks])
    columns: dict[str, NDArray[Any]] = {
        "policy": np.repeat(np.array(study.policies), study.seeds * count),
        "seed": np.tile(np.repeat(np.arange(study.seeds), count), len(study.policies)),
        "round": np.tile(np.arange(first, last + 1), study.runs),
        "cost": schedule.cost[rounds].T,
        "admitted": schedule.admissions[rounds].sum(axis=2, dtype=np.int64).T,
        "n": per_run["n"].astype(np.int64),
        "N": per_run["N"].astype(np.int64),
        "N_eff": effective,
        "uniformity": per_run["uniformity"],
        "chi": np.stack([track.mismatch[rounds] for track in tracks]),
        "stated_mismatch": 1 / per_run["n"] - 1 / effective,
        "debt": schedule.debt[rounds].T,
        "overflow": np.maximum(schedule.occupancy[rounds] - np.array(study.buffers), 0).sum(axis=2).T,
    }
    columns |= {name: values.T for name, values in measured.items()}
    if best is not None:
        columns["excess_risk"] = columns["risk"] - best.risk
    return {name: np.ascontiguousarray(values).ravel() for name, values in columns.items()}


def _final(problem: Problem, engine: Engine, best: Minimiser | None) -> dict[str, NDArray[np.float64]]:
    """Measured at θ(T+1), after the last round."""
    with torch.no_grad():
        found = {"accuracy": problem.model.accuracy(engine.theta)}
        if "risk" in problem.study.measures:
            found["risk"] = problem.model.measure(engine.theta, None)["risk"]
    arrays = {name: values.double().cpu().numpy() for name, values in found.items()}
    if best is not None:
        arrays["excess_risk"] = arrays["risk"] - best.risk
    return arrays
