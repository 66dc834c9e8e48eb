"""Logs for the viewers that people have: TensorBoard's event files and MLflow's runs, live while a study runs.

Both are made of the rows that are saved, a chunk after the other, a run for each policy and seed, and have no number
that the rows have not. A study that goes on writes the event files anew, and in MLflow what its runs lack. Nothing
leaves this machine.
"""

import os
import shutil
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from empirics.columns import COLUMNS
from theory.setting import SettingError

__all__ = ["LOGS", "Log", "opened", "refuse_missing"]

LOGGED = [name for name, column in COLUMNS.items() if column.logged]
LETTERS = "@=,+: "  # of a policy's name that a folder may have


class Point(NamedTuple):
    """A row of a run."""

    round: int
    values: dict[str, float]


class Log(Protocol):
    """A log, which takes every chunk of rows."""

    def add(self, rows: pa.Table) -> None: ...

    def finish(self) -> None: ...


def _points(rows: pa.Table, rounds: int, most: int) -> Iterator[tuple[str, int, list[Point]]]:
    """Rows of every run at `most` rounds at most, evenly spread, with the first and the last."""
    columns: dict[str, NDArray[Any]] = {
        name: rows[name].to_numpy(zero_copy_only=False)
        for name in ("policy", "seed", "round", *LOGGED)
        if name in rows.column_names
    }
    t, stride = columns["round"], -(-rounds // most)
    wanted = (t % stride == 0) | (t == 1) | (t == rounds)
    found: dict[tuple[str, int], list[Point]] = defaultdict(list)
    for i in np.flatnonzero(wanted):
        values = {name: float(columns[name][i]) for name in LOGGED if name in columns}
        finite = {name: value for name, value in values.items() if np.isfinite(value)}
        found[columns["policy"][i], int(columns["seed"][i])].append(Point(int(t[i]), finite))
    for (policy, seed), points in found.items():
        yield policy, seed, points


class TensorBoard:
    """A folder with one event file for each policy and seed."""

    MOST = 1000  # rounds of a run, as many as TensorBoard keeps

    def __init__(self, path: Path, study: Mapping[str, Any]) -> None:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary
        from tensorboard.summary.writer.record_writer import RecordWriter

        self.event, self.summary, self.writer = Event, Summary, RecordWriter
        self.place, self.rounds = path / "tensorboard", study["rounds"]
        self.name = f"events.out.tfevents.{int(time.time())}.acdpp"
        shutil.rmtree(self.place, ignore_errors=True)

    def add(self, rows: pa.Table) -> None:
        for policy, seed, points in _points(rows, self.rounds, self.MOST):
            folder = self.place / quote(policy, safe=LETTERS) / str(seed)
            folder.mkdir(parents=True, exist_ok=True)
            with (folder / self.name).open("ab") as handle:
                writer = self.writer(handle)
                if not handle.tell():
                    first = self.event(wall_time=time.time(), file_version="brain.Event:2")
                    writer.write(first.SerializeToString())
                for t, values in points:
                    shown = [self.summary.Value(tag=tag, simple_value=value) for tag, value in values.items()]
                    event = self.event(wall_time=time.time(), step=t, summary=self.summary(value=shown))
                    writer.write(event.SerializeToString())

    def finish(self) -> None:
        """Event files have no end."""


class MLflow:
    """A run for each policy and seed in a store of files, in which a study that goes on finds its runs again."""

    MOST = 100  # rounds of a run: each number is a file that is opened

    def __init__(self, path: Path, study: Mapping[str, Any]) -> None:
        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
        os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
        from mlflow.entities import Metric
        from mlflow.tracking import MlflowClient

        self.metric, self.study = Metric, study
        self.client = MlflowClient(tracking_uri=(path / "mlruns").absolute().as_uri())
        there = self.client.get_experiment_by_name("acdpp")
        self.experiment = there.experiment_id if there is not None else self.client.create_experiment("acdpp")
        self.runs: dict[str, str] = {}
        self.last: dict[str, dict[str, int]] = {}
        for run in self.client.search_runs([self.experiment], max_results=50_000):
            name = run.info.run_name
            self.runs[name] = run.info.run_id
            self.last[name] = {
                key: max(one.step for one in self.client.get_metric_history(run.info.run_id, key))
                for key in run.data.metrics
            }

    def _run(self, policy: str, seed: int) -> str:
        name = f"{policy}/{seed}"
        if name not in self.runs:
            made = self.client.create_run(self.experiment, run_name=name).info.run_id
            told = {"policy": policy, "seed": seed}
            told |= {key: self.study[key] for key in ("dataset", "model", "rounds", "budget")}
            for key, value in told.items():
                self.client.log_param(made, key, value)
            self.runs[name], self.last[name] = made, {}
        return name

    def add(self, rows: pa.Table) -> None:
        now = int(1000 * time.time())
        for policy, seed, points in _points(rows, self.study["rounds"], self.MOST):
            name = self._run(policy, seed)
            last = self.last[name]
            metrics = [
                self.metric(key, value, now, t)
                for t, values in points
                for key, value in values.items()
                if t > last.get(key, 0)
            ]
            self.client.log_batch(self.runs[name], metrics=metrics)

    def finish(self) -> None:
        for run in self.runs.values():
            self.client.set_terminated(run)


LOGS: dict[str, type[TensorBoard] | type[MLflow]] = {"tensorboard": TensorBoard, "mlflow": MLflow}


def refuse_missing(study: Mapping[str, Any]) -> None:
    """A log whose package is not installed."""
    for name in study.get("log", ()):
        if find_spec(name) is None:
            raise SettingError(f'log = ["{name}"] needs {name}: pip install "acdpp[{name}]"')


def opened(path: Path, study: Mapping[str, Any]) -> list[Log]:
    """The logs that a study asks for, in its result folder."""
    return [LOGS[name](path, study) for name in study.get("log", ())]
