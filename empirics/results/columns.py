"""The columns of a result, each documented once: the Parquet file and the reference page carry these words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pyarrow as pa

__all__ = ["COLUMNS", "Column", "table"]


class Column(NamedTuple):
    """A type and what it means."""

    kind: pa.DataType
    help: str


_WHOLE, _REAL = pa.int64(), pa.float64()
COLUMNS: dict[str, Column] = {
    "policy": Column(pa.string(), "name of the policy"),
    "seed": Column(
        _WHOLE,
        "replicate, from 0: policies with the same one see the same costs and, slot by slot, the same samples",
    ),
    "round": Column(_WHOLE, "t, from 1"),
    "cost": Column(_REAL, "c(t), of one sample"),
    "admitted": Column(_WHOLE, "Λ(t), whole samples admitted by all clients"),
    "n": Column(_WHOLE, "samples in memory when round t trains; 0 if it is idle and makes no step"),
    "N": Column(_WHOLE, "distinct samples admitted so far"),
    "N_eff": Column(_REAL, "effective sample size; NaN, like Ṽ(t), while there is no sample"),
    "uniformity": Column(_REAL, "Ṽ(t) = N_eff/N"),
    "chi": Column(
        _REAL, "χ(t), the true mismatch factor; NaN, like all that says mismatch, in an idle round"
    ),
    "stated_mismatch": Column(_REAL, "1/n - 1/N_eff, the paper's factor, signed"),
    "debt": Column(_REAL, "Z(t), at the beginning of round t"),
    "overflow": Column(_WHOLE, "Σ_m max(n_m - B_m, 0)"),
    "risk": Column(
        _REAL,
        "F_P(θ(t)), before round t trains, or that of the mean of θ(1), …, θ(t) where the study averages; measured if "
        "asked for; where the population moves, P is that of round t",
    ),
    "excess_risk": Column(
        _REAL,
        "the same less F_P(θ*); absent where there is no ball or the model is not linear, where samples come in their "
        "own order, and where clients that differ drift apart in more than 2,000 steps, or with many parameters",
    ),
    "predicted_excess_risk": Column(
        _REAL,
        "what the law of reuse predicts for it, the same for all seeds of a policy; absent where it says nothing",
    ),
    "mismatch": Column(_REAL, "measured ‖∇F_all - ∇F_mem‖² at θ(t); measured if asked for"),
    "variance": Column(_REAL, "E‖∇ℓ - ∇F_P‖² under P at θ(t); measured with the mismatch"),
    "accuracy": Column(_REAL, "test accuracy of θ(t), or of the mean; measured if asked for"),
    "fresh_loss": Column(
        _REAL,
        "mean loss of the model on the samples that round t brought, before it trains, NaN if none came; where a "
        "policy listens to it",
    ),
    "last_risk": Column(_REAL, "F_P(θ(t)) of the last iterate, where the study averages"),
    "last_excess_risk": Column(_REAL, "the same less F_P(θ*)"),
    "last_accuracy": Column(_REAL, "test accuracy of the last iterate, where the study averages"),
}


def table(columns: Mapping[str, Any]) -> pa.Table:
    """A table of these columns that says what they mean."""
    fields = [
        pa.field(name, COLUMNS[name].kind, metadata={"description": COLUMNS[name].help}) for name in columns
    ]
    return pa.table(dict(columns), schema=pa.schema(fields))
