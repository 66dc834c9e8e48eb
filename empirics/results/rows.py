"""The rows of a chunk of rounds, and the recorded ones decided again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from empirics.control.schedule import Rounds, Schedule
from empirics.training.engine import FRESH, LAST, measured_columns
from theory.reuse.counts import Trajectory
from theory.setting import SettingError

__all__ = ["Columns", "replay", "rows_of", "stated_mismatch"]

REPLAYED = ("cost", "admitted", "n", "N", "debt")  # columns that a schedule decides
Columns = dict[str, NDArray[Any]]


def stated_mismatch(track: Trajectory) -> NDArray[np.float64]:
    """1/n - 1/N_eff; no number where n is 0."""
    found: NDArray[np.float64] = 1 / np.where(track.n > 0, track.n, np.nan) - 1 / track.effective
    return found


def _idle(rounds: Rounds, measured: Columns, value: float) -> Columns:
    """What was measured, with a mismatch of this value where there is no memory that could mismatch.

    It is 0 in the program, so that no sum knows it, and no number in the record.
    """
    if "mismatch" not in measured:
        return measured
    idle = (rounds.track.n == 0) & np.isfinite(measured["variance"])  # those of a run that diverged stay NaN
    return measured | {"mismatch": np.where(idle, value, measured["mismatch"])}


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
        "stated_mismatch": stated_mismatch(track),
        "debt": rounds.debt,
        "overflow": np.maximum(rounds.occupancy - np.array(study.buffers), 0).sum(axis=2),
    }


def rows_of(rounds: Rounds, measured: Columns) -> Columns:
    """The columns of a chunk, rounds varying fastest within a run."""
    study, count = rounds.study, len(rounds.cost)
    places = {
        "policy": np.repeat(np.array(study.policies), study.seeds * count),
        "seed": np.tile(np.repeat(np.arange(study.seeds), count), len(study.policies)),
        "round": np.tile(np.arange(rounds.first, rounds.last + 1), study.runs),
    }
    found = _planned(rounds) | _idle(rounds, measured, np.nan)
    flat = {name: np.ascontiguousarray(v.T).ravel() for name, v in found.items()}
    return places | flat


def _decided(schedule: Schedule, count: int, saved: Columns) -> Rounds:
    """So many rounds, by policies that are told again what they were told."""
    if not schedule.listening:
        return schedule.advance(count)
    parts = []
    for losses in saved[FRESH]:
        parts.append(schedule.advance(1))
        schedule.observe(losses)
    return Rounds.joined(parts)


def replay(name: str, schedule: Schedule, rows: pa.Table) -> tuple[Rounds, Columns]:
    """The recorded rounds of the folder `name`, decided again and compared with the record."""
    study = schedule.study
    count, rest = divmod(rows.num_rows, study.runs)
    first = schedule.round
    if rest or count < 1 or first + count - 1 > study.rounds:
        raise SettingError(f"{name!r} does not hold {study.runs} rows for every round from {first} on")
    saved = {
        column: rows[column].to_numpy(zero_copy_only=False).reshape(study.runs, count).T
        for column in rows.column_names
    }
    rounds = _decided(schedule, count, saved)
    expected = {name: values.reshape(study.runs, count).T for name, values in rows_of(rounds, {}).items()}
    for column in ("policy", "seed", "round", *REPLAYED):
        wrong = saved[column] != expected[column]
        if wrong.any():
            t, run = next(zip(*np.nonzero(wrong), strict=True))
            raise SettingError(
                f"cannot resume {name!r}: in round {first + t} of {study.policies[run // study.seeds]}, {column} was "
                f"{saved[column][t, run]} and is {expected[column][t, run]} now: the "
                f"policy, the prices or acdpp have changed"
            )
    wanted = [*measured_columns(study), "excess_risk", f"{LAST}excess_risk"]
    found = {column: saved[column] for column in wanted if column in saved}
    return rounds, _idle(rounds, found, 0.0)
