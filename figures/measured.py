"""A saved result of `acdpp train` as arrays."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from empirics.settings.study import Study
from figures.curves import Spread, spread
from figures.options import NotMeasured
from figures.style import Floats
from theory.setting import Constants

__all__ = ["Measured", "read"]

MEASURES = {
    "excess_risk": ("excess risk", "the measure risk and inside a ball (radius)"),
    "predicted_excess_risk": (
        "prediction",
        "predict = true, the measure risk, logistic regression and a ball (radius)",
    ),
    "mismatch": ("measured mismatch", "the measure mismatch"),
    "variance": ("measured mismatch", "the measure mismatch"),
    "accuracy": ("accuracy", "the measure accuracy"),
}


@dataclass(frozen=True)
class Measured:
    """Columns of shape (policies, seeds, rounds) by name, settings, and each policy's constants.

    `not_predicted` is the reason for a missing prediction; `predicted_error` is the standard error of each policy's
    predicted cumulative risk, if it has one; `least_final_risk` is the lower bound for the budget, where it is known.
    """

    policies: tuple[str, ...]
    seeds: int
    horizon: int
    columns: dict[str, Floats]
    constants: tuple[Constants, ...]
    nominal: tuple[str, ...]
    study: Study
    intervals: str
    not_predicted: str | None
    predicted_error: Mapping[str, float] = field(default_factory=dict)
    least_final_risk: float | None = None

    @property
    def rounds(self) -> Floats:
        """t = 1..T."""
        return np.arange(1.0, self.horizon + 1)

    @property
    def budget(self) -> float:
        """C."""
        return float(self.study.budget)

    @property
    def total_buffer(self) -> float:
        """ΣB_m."""
        return float(sum(self.study.buffers))

    def __getitem__(self, name: str) -> Floats:
        if name not in self.columns:
            what, remedy = MEASURES.get(name, (f"column {name!r}", "a version of acdpp that writes it"))
            why = f" ({self.not_predicted})" if what == "prediction" and self.not_predicted else ""
            raise NotMeasured(f"this result has no {what}{why}: train with {remedy}")
        return self.columns[name]

    def spreads(self, values: Floats) -> dict[str, Spread]:
        """Means and quantiles over the seeds, by policy, of an array of shape (policies, seeds, ...)."""
        return {policy: spread(values[p]) for p, policy in enumerate(self.policies)}

    def note(self, what: str = "Lines: mean; bars: 10–90 % of {} seeds") -> str:
        """The meaning of bars or bands, with {} for the number of seeds, and the differences between seeds."""
        if self.seeds == 1:
            return "One seed, so no spread."
        return f"{what.format(self.seeds)}. Seeds {self.intervals.partition('which ')[2]}."


def read(path: Path, wanted: Collection[str] | None = None) -> Measured:
    """A finished result, with all columns or with those wanted that it has."""
    from empirics.results.folder import read_result  # loads pyarrow
    from empirics.results.rows import by_run

    needed = None if wanted is None else ["policy", "seed", "round", *wanted]
    settings, summary, rows = read_result(path, needed)
    study, constants = Study.from_document(settings["study"]), Constants(**settings["constants"]["constants"])
    return Measured(
        policies=study.policies,
        seeds=study.seeds,
        horizon=study.rounds,
        columns=by_run(rows, study),
        constants=tuple(study.constants_of(name, constants) for name in study.policies),
        nominal=tuple(settings["constants"]["nominal"]),
        study=study,
        intervals=summary["intervals"],
        not_predicted=settings.get("not_predicted"),
        predicted_error={
            name: error["cumulative_excess_risk"]
            for name, found in summary["policies"].items()
            if (error := found.get("predicted_error"))
        },
        least_final_risk=(summary.get("lower_bound") or {}).get("final_excess_risk"),
    )
