"""The prediction of a study as a document, a table or files, and of other studies of the same problem."""

import json
import math
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from empirics.files import PARTIAL, replace_file, writable
from empirics.overrides import HandedOver
from empirics.prediction.accuracy import Accuracy
from empirics.prediction.best_constant import OWN, SEARCH_ROUNDS_MAX, BestConstant, constant_name, gain
from empirics.prediction.decided_rounds import ROUNDS_FOLLOWED_MAX
from empirics.prediction.drift_retention import DriftAdvice
from empirics.prediction.forecast import Forecast, caveats, combined, together
from empirics.prediction.pilot import jackknife_errors
from empirics.prediction.study_forecaster import StudyForecaster
from empirics.prediction.time_estimate import WEIGHT_BYTES_MAX
from empirics.settings.study import Study
from empirics.settings.toml import toml_of_changes
from empirics.training.device import threads
from theory.setting import SettingError

__all__ = ["REMEDY", "Prediction", "Progress", "finite_forecasts", "refuse_existing", "refuse_flood"]
__all__ += ["refuse_place", "same_problem"]

Progress = Callable[[str, int, int | None], None]
REMEDY = "take a pilot sample, or fewer policies or rounds"
SUFFIXES = (".csv", ".parquet")
CURVES, DOCUMENT = "curves.parquet", "prediction.json"
SEARCHED_CURVES = 40  # held at once by the search for the best, about
FREE = {  # settings that the problem does not depend on, if samples come from the same distribution
    *("preset", "buffers", "budget", "cost", "assumed_mean_cost", "policies", "rounds", "seeds"),
    *("K", "hybrid_K", "released_K", "burst_K", "rate", "fractions", "V", "rho"),
    *("eta", "steps", "decay", "decay_by", "momentum", "average", "average_by"),
    *("measures", "predict", "diverging", "checkpoint", "log", "threads"),
}


@dataclass(frozen=True)
class Prediction:
    """The forecasts of a study's policies, with the best constant admission and the study's own if asked for.

    `errors` are standard errors due to a pilot sample, if any: of each forecast's numbers by the policy's name, and of
    the gain. Standard errors due to prices are in each forecast.
    """

    study: Study
    forecaster: StudyForecaster
    forecasts: Mapping[str, Forecast]
    objective: str
    best: BestConstant | None
    own: Forecast | None
    pilot: int | None
    errors: Mapping[str, Any]
    risk_errors: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)  # of whole curves
    parts: tuple[StudyForecaster, ...] = ()  # of a pilot sample without each part
    drift: DriftAdvice | str | None = None  # of samples with times, or why it is unknown

    @property
    def gain(self) -> float | None:
        """Share by which the best setting's objective is below that of the study's own constant admission."""
        if self.best is None or self.own is None:
            return None
        return gain(self.objective, self.own, self.best.forecast)

    @property
    def notes(self) -> list[str]:
        """Caveats for the policies and for the recommendation."""
        found = dict(self.forecasts)
        if self.best is not None:
            found[self.best.name] = self.best.forecast
        return caveats(self.study, self.forecaster.landscape.steepness, found)

    def at(self, K: int, eta: float, steps: int) -> Forecast:
        """The forecast of constant admission with these settings."""
        name = constant_name(K, eta, steps)
        with threads(self.study.threads, REMEDY):
            return self.forecaster.for_policies([name]).forecasts()[name]

    def covers(self, study: Study) -> bool:
        """True if a study has the same problem, so that `for_study` needs no data."""
        return same_problem(self.study, HandedOver().named(study))

    def for_study(
        self, study: Study, *, coarse: bool = False, progress: Progress = lambda doing, done, of: None
    ) -> Self:
        """The prediction of another study of the same problem, from the same landscape.

        If `coarse`, it follows one price path at `Accuracy.COARSE`, without standard errors.
        """
        study = HandedOver().named(study)
        refuse_flood(study)
        with threads(study.threads, REMEDY):
            forecaster, *parts = (one.for_study(study) for one in (self.forecaster, *self.parts))
            seen = forecaster
            if coarse:
                seen = replace(seen, study=replace(study, seeds=1), accuracy=Accuracy.COARSE)
                seen = replace(seen, follow_rounds_max=SEARCH_ROUNDS_MAX)
            made = finite_forecasts(seen, progress)
            errors, curves = jackknife_errors(() if coarse else parts, study.policies, progress)
        return replace(
            self,
            study=study,
            forecaster=forecaster,
            forecasts=made,
            errors=errors,
            risk_errors=curves,
            best=None,
            own=None,
            parts=tuple(parts),
            drift=None,
        )

    def risk_error(self, name: str) -> NDArray[np.float64] | None:
        """Standard error of a policy's curve, due to prices and a pilot sample; None if there is none."""
        return combined(self.forecasts[name].risk_error, self.risk_errors.get(name))

    def document(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "task": self.study.task,
            "learner": self.study.learner,
            "rounds": self.study.rounds,
            "pilot": self.pilot,
            "objective": self.objective,
            "least_risk": float(self.forecaster.landscape.best.risk),
            "policies": {
                name: found.document()
                | {
                    "rate": found.rate,
                    "path_share": found.path_share,
                    "error": together(self.errors.get(name), found.errors),
                }
                for name, found in self.forecasts.items()
            },
            "best": self._best_document(),
            "drift": self._drift_document(),
            "notes": self.notes,
            "toml": toml_of_changes(self.study),
        }

    def _drift_document(self) -> dict[str, Any] | None:
        if isinstance(self.drift, str):
            return {"q": None, "why": self.drift}
        return None if self.drift is None else self.drift.document()

    def _best_document(self) -> dict[str, Any] | None:
        if self.best is None or self.own is None:
            return None
        study, best = self.study, self.best
        own = {"K": self.forecaster.brief.K, "rate": self.own.rate, "eta": study.eta, "steps": study.steps}
        return best.document() | {
            "error": self.errors.get(best.name),
            "own": own | {"predicted": self.own.document(), "error": self.errors.get(OWN)},
            "gain": self.gain,
            "gain_error": self.errors.get("gain"),
        }

    def curves(self) -> pa.Table:
        """One row per policy and θ(1), …, θ(T+1): the excess risk, and the mean path's part of it."""
        found = self.forecasts
        length = self.study.rounds + 1
        return pa.table(
            {
                "policy": pa.array(np.repeat(list(found), length)),
                "round": pa.array(np.tile(np.arange(1, length + 1), len(found))),
                "predicted_excess_risk": pa.array(np.concatenate([one.risk for one in found.values()])),
                "path": pa.array(np.concatenate([one.path for one in found.values()])),
            }
        )

    def write(self, out: Path | str) -> None:
        """Write curves and document, both or neither: into a new or empty folder, or as FILE.csv or FILE.parquet and
        FILE.json."""
        out = Path(out)
        refuse_existing(out)
        out.parent.mkdir(parents=True, exist_ok=True)
        if out.suffix in SUFFIXES:
            self._write_files(out, out.with_suffix(".json"))
        elif out.is_dir():  # an empty one, perhaps a working directory: it stays
            self._write_files(out / CURVES, out / DOCUMENT)
        else:
            beside = out.with_name(out.name + PARTIAL)
            shutil.rmtree(beside, ignore_errors=True)
            try:
                beside.mkdir()
                self._write_files(beside / CURVES, beside / DOCUMENT)
                beside.rename(out)
            except BaseException:
                shutil.rmtree(beside, ignore_errors=True)
                raise

    def _write_files(self, curves: Path, document: Path) -> None:
        def write_curves(place: Path) -> None:
            with place.open("wb") as handle:  # Arrow cannot open names that are not UTF-8
                (pc.write_csv if curves.suffix == ".csv" else pq.write_table)(self.curves(), handle)

        def write_document(place: Path) -> None:
            text = json.dumps(self.document(), indent=2, ensure_ascii=False, allow_nan=False)
            place.write_text(text + "\n", encoding="utf-8", errors="backslashreplace")

        try:
            replace_file(curves, write_curves)
            replace_file(document, write_document)
        except BaseException:
            for file in (curves, document):
                file.unlink(missing_ok=True)
            raise


def same_problem(one: Study, other: Study) -> bool:
    """True if two studies differ only in settings that the problem does not depend on."""
    apart = {each.name for each in fields(Study) if getattr(one, each.name) != getattr(other, each.name)}
    alike = other.partition == "iid" or other.clients == one.clients
    return alike and other.drift.kind == "none" and apart <= FREE


def finite_forecasts(
    forecaster: StudyForecaster, progress: Progress = lambda doing, done, of: None
) -> dict[str, Forecast]:
    """The forecasts of all policies; an error if one is not finite."""
    rounds = min(forecaster.study.rounds, ROUNDS_FOLLOWED_MAX)
    made = forecaster.forecasts(lambda done: progress("predicting rounds", done, rounds))
    for name, found in made.items():
        if not all(map(math.isfinite, found.document().values())):
            raise SettingError(f"the prediction of {name} is not finite: take a smaller eta")
    return made


def refuse_place(study: Study, path: Path | None) -> None:
    """Refuse a place that is taken or cannot be written to, and curves that do not fit into memory."""
    refuse_flood(study)
    if path is not None:
        refuse_existing(path)


def refuse_flood(study: Study) -> None:
    """Refuse curves that do not fit into memory."""
    most = int(WEIGHT_BYTES_MAX / (16 * (len(study.policies) + SEARCHED_CURVES)))
    if study.rounds > most:
        raise SettingError(
            f"the curves of {study.rounds:,} rounds do not fit into memory: take at most {most:,}"
        )


def refuse_existing(out: Path) -> None:
    """Refuse a place where a prediction would overwrite anything, or that cannot be written to."""
    try:
        if out.suffix in SUFFIXES:
            taken = next((file for file in (out, out.with_suffix(".json")) if file.exists()), None)
        else:
            there = out.exists() or out.is_symlink()  # even if its target is missing
            taken = out if there and not (out.is_dir() and not any(out.iterdir())) else None
        if not writable(out, within=out.is_dir()):
            raise SettingError(f"{str(out)!r} cannot be used for the prediction: it is not writable")
    except OSError as error:
        raise SettingError(f"{str(out)!r} cannot be used for the prediction ({error.strerror})") from None
    if taken is not None:
        raise SettingError(f"{str(taken)!r} already exists: choose another place for the prediction")
