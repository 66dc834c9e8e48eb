"""The columns of a result, each declared here and nowhere else: its type, meaning and origin.

The Parquet file and the reference page carry the words. A column follows from the schedule (`decided`), is measured
while training for an entry of the setting `measures`, or is added by what is named in its words.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from empirics.control.schedule import Rounds
from empirics.settings.study import Study
from theory.reuse.trajectories import Trajectory

__all__ = ["COLUMNS", "FRESH", "LAST", "Arrays", "Column", "decided", "measured_columns", "stated_mismatch"]

Arrays = dict[str, NDArray[Any]]
LAST = "last_"  # begins the name of what is measured of the last iterate where the model is a mean
FRESH = "fresh_loss"


class Column(NamedTuple):
    """A column's type and meaning, and where it comes from."""

    kind: str
    help: str
    decided: Callable[[Rounds], NDArray[Any]] | None = None  # from the schedule alone, (rounds, runs)
    compared: bool = True  # with the record, bit for bit, when a decided column is decided again
    measure: str | None = None  # the entry of the setting `measures` that asks for it
    logged: bool = False  # shown by TensorBoard and MLflow


_whole, _real = partial(Column, "int64"), partial(Column, "double")  # as Arrow calls them


def stated_mismatch(track: Trajectory) -> NDArray[np.float64]:
    """1/n - 1/N_eff; NaN where n is 0."""
    return np.asarray(1 / np.where(track.n > 0, track.n, np.nan) - 1 / track.effective)


def _overflow(rounds: Rounds) -> NDArray[Any]:
    return np.asarray(np.maximum(rounds.occupancy - np.array(rounds.study.buffers), 0).sum(axis=2))


COLUMNS: dict[str, Column] = {
    "policy": Column(
        "string",
        "name of the policy",
        lambda rounds: np.tile(np.repeat(rounds.study.policies, rounds.study.seeds), (len(rounds.cost), 1)),
    ),
    "seed": _whole(
        "replicate, from 0: policies with the same seed see the same costs and, slot by slot, the same samples",
        lambda rounds: np.tile(range(rounds.study.seeds), (len(rounds.cost), len(rounds.study.policies))),
    ),
    "round": _whole(
        "t, from 1",
        lambda rounds: np.repeat(
            np.arange(rounds.first, rounds.last + 1)[:, np.newaxis], rounds.study.runs, 1
        ),
    ),
    "cost": _real("c(t), price of one sample", lambda rounds: rounds.cost, logged=True),
    "admitted": _whole(
        "Λ(t), whole samples admitted by all clients",
        lambda rounds: rounds.admissions.sum(axis=2),
        logged=True,
    ),
    "n": _whole(
        "samples in memory when round t trains; 0 if it is idle and makes no step",
        lambda rounds: rounds.track.n.astype(np.int64),
        logged=True,
    ),
    "N": _whole("distinct samples admitted so far", lambda rounds: rounds.track.N.astype(np.int64)),
    "N_eff": _real(
        "effective sample size; NaN, like Ṽ(t), while there is no sample",
        lambda rounds: rounds.track.effective,
        compared=False,
    ),
    "uniformity": _real("Ṽ(t) = N_eff/N", lambda rounds: rounds.track.uniformity, compared=False),
    "chi": _real(
        "χ(t), the true mismatch factor; NaN, like every column of a mismatch, in an idle round",
        lambda rounds: rounds.track.mismatch,
        compared=False,
    ),
    "stated_mismatch": _real(
        "1/n - 1/N_eff, the paper's factor, signed",
        lambda rounds: stated_mismatch(rounds.track),
        compared=False,
    ),
    "debt": _real("Z(t), at the beginning of round t", lambda rounds: rounds.debt, logged=True),
    "overflow": _whole("Σ_m max(n_m - B_m, 0)", _overflow, compared=False),
    "risk": _real(
        "F_P(θ(t)), before round t trains, or of the mean of models where the study averages; P is that of round t",
        measure="risk",
        logged=True,
    ),
    "excess_risk": _real(
        "risk less F_P(θ*); absent without a ball or a linear model, where samples come in their own order, and "
        "where clients that differ drift apart in more than 2,000 steps or with many parameters",
        logged=True,
    ),
    "predicted_excess_risk": _real(
        "excess risk that the law of reuse predicts, equal for all seeds of a policy",
        logged=True,
    ),
    "mismatch": _real("‖∇F_all - ∇F_mem‖² at θ(t)", measure="mismatch"),
    "variance": _real("E‖∇ℓ - ∇F_P‖² under P at θ(t), measured with the mismatch", measure="mismatch"),
    "accuracy": _real("test accuracy of θ(t), or of the mean", measure="accuracy", logged=True),
    FRESH: _real(
        "mean loss on the samples that round t brought, before it trains; NaN if none came; where a policy listens "
        "to losses"
    ),
    f"{LAST}risk": _real("risk of the last iterate, where the study averages", measure="risk", logged=True),
    f"{LAST}excess_risk": _real("excess risk of the last iterate", logged=True),
    f"{LAST}accuracy": _real("test accuracy of the last iterate", measure="accuracy", logged=True),
}


def decided(rounds: Rounds) -> Arrays:
    """The columns that follow from the schedule alone, (rounds, runs) each."""
    return {name: column.decided(rounds) for name, column in COLUMNS.items() if column.decided is not None}


def measured_columns(study: Study, *, averages: bool | None = None) -> list[str]:
    """The columns measured in every round: of the model, and of the last iterate too where the model is a mean."""
    both = study.averages if averages is None else averages
    found = [
        name for measure in study.measures for name, column in COLUMNS.items() if column.measure == measure
    ]
    last = [name for name in found if name.startswith(LAST)]
    return [name for name in found if name not in last] + (last if both else [])
