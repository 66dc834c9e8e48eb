"""The rows of a chunk of rounds as a table, and recorded rows decided again."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from empirics.columns import COLUMNS, FRESH, LAST, Arrays, decided, measured_columns
from empirics.control.schedule import Rounds, Schedule
from empirics.settings.study import Study
from theory.setting import SettingError

__all__ = ["by_run", "replay", "rows_of", "table"]


def table(columns: Mapping[str, Any]) -> pa.Table:
    """A table of these columns that carries their meaning."""
    fields = [
        pa.field(name, pa.type_for_alias(COLUMNS[name].kind), metadata={"description": COLUMNS[name].help})
        for name in columns
    ]
    return pa.table(dict(columns), schema=pa.schema(fields))


def by_run(rows: pa.Table, study: Study) -> Arrays:
    """The columns of numbers, (policies, seeds, rounds) each, in whatever order the rows are."""
    policy = pc.index_in(rows["policy"], value_set=pa.array(study.policies)).to_numpy()
    place = (policy, rows["seed"].to_numpy(), rows["round"].to_numpy() - 1)
    names = [name for name in rows.column_names if name not in ("policy", "seed", "round")]
    found = {name: np.full((len(study.policies), study.seeds, study.rounds), np.nan) for name in names}
    for name, values in found.items():
        values[place] = rows[name].to_numpy()
    return found


def rows_of(rounds: Rounds, measured: Arrays) -> Arrays:
    """The columns of a chunk, rounds varying fastest within a run."""
    found = decided(rounds) | _with_idle(rounds, measured, np.nan)
    return {name: np.ascontiguousarray(values.T).ravel() for name, values in found.items()}


def _with_idle(rounds: Rounds, measured: Arrays, value: float) -> Arrays:
    """The measured columns with this mismatch in idle rounds: 0 while training, to be summed, and NaN in the record."""
    if "mismatch" not in measured:
        return measured
    idle = (rounds.track.n == 0) & np.isfinite(measured["variance"])  # those of a run that diverged stay NaN
    return measured | {"mismatch": np.where(idle, value, measured["mismatch"])}


def _decided_again(schedule: Schedule, count: int, saved: Arrays) -> Rounds:
    """The next `count` rounds, by policies that hear the recorded losses again."""
    if not schedule.listening:
        return schedule.advance(count)
    parts = []
    for losses in saved[FRESH]:
        parts.append(schedule.advance(1))
        schedule.observe(losses)
    return Rounds.joined(parts)


def replay(name: str, schedule: Schedule, rows: pa.Table) -> tuple[Rounds, Arrays]:
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
    rounds = _decided_again(schedule, count, saved)
    for column, now in decided(rounds).items():
        wrong = COLUMNS[column].compared & (saved[column] != now)
        if wrong.any():
            t, run = next(zip(*np.nonzero(wrong), strict=True))
            raise SettingError(
                f"cannot resume {name!r}: in round {first + t} of {study.policies[run // study.seeds]}, {column} was "
                f"{saved[column][t, run]} and is {now[t, run]} now: the policy, the prices or acdpp have changed"
            )
    wanted = [*measured_columns(study), "excess_risk", f"{LAST}excess_risk"]
    found = {column: saved[column] for column in wanted if column in saved}
    return rounds, _with_idle(rounds, found, 0.0)
