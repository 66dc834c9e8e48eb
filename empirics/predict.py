"""What a study will learn before anything is trained: `predict_study`, from settings to learning curves.

The same door as `run_study`: a data set, policies and prices of the user's own may be handed over. With a pilot sample
nothing else of the data is looked at, but for the scale of the inputs, which is the data set's.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from empirics.control.schedule import brief_for
from empirics.data.dataset import Arrivals
from empirics.files import PARTIAL, replace_file, writable
from empirics.given import HandedOver, threads
from empirics.prediction.best import OBJECTIVES, PATIENCE, Best, best_constant
from empirics.prediction.effort import MOST_HELD, seconds
from empirics.prediction.forecast import (
    MOST_PLAYED,
    Forecast,
    Outlook,
    caveats,
    combined,
    refusal,
    together,
)
from empirics.prediction.keeping import Keeping, how_long
from empirics.prediction.moving import Moving, how_it_moves
from empirics.prediction.pilot import draw_pilot, jackknife
from empirics.settings.policy_name import PolicyName
from empirics.settings.study import Study
from empirics.settings.toml import toml_of_changes
from empirics.training.constants import calibrate
from empirics.training.problem import Problem, choose_device, make_problem
from theory.setting import SettingError

__all__ = ["Drifting", "Prediction", "drifting", "predict_study", "refuse_beforehand", "same_problem"]

Progress = Callable[[str, int, int | None], None]
REMEDY = "take a pilot sample, or fewer policies or rounds"
SUFFIXES = (".csv", ".parquet")
CURVES, DOCUMENT = "curves.parquet", "prediction.json"
CANDIDATES = 40  # of the search for the best, about
OWN = "constant"  # admission, with the study's own settings
FREE = {  # settings that change nothing of what is to be learnt, as long as samples come from where they came from
    *("preset", "buffers", "budget", "cost", "assumed_mean_cost", "policies", "rounds", "seeds"),
    *("K", "hybrid_K", "released_K", "burst_K", "rate", "fractions", "V", "rho"),
    *("eta", "steps", "decay", "decay_by", "momentum", "average", "average_by"),
    *("measures", "predict", "diverging", "checkpoint", "log", "threads"),
}


@dataclass(frozen=True)
class Drifting:
    """How samples with times move, how long to keep them, and how long rounds take."""

    moving: Moving
    keeping: Keeping
    arrivals: Arrivals

    def document(self) -> dict[str, Any]:
        """Plain JSON values."""
        moving, keeping, own = self.moving, self.keeping, self.keeping.own
        filled = keeping.tried[-1] if keeping.filled and keeping.tried[-1].K != own.K else None
        named = {"this step": own, "Corollary 2's K": filled, "the best step": keeping.best}
        return {
            "q": moving.drift,
            "interval": [moving.low, moving.high],
            "told": moving.told,
            "samples": moving.samples,
            "come_by": self.arrivals.in_a_round(moving.rounds),
            "directions": {"moving": moving.moving, "of": len(moving.h)},
            "K": own.K,
            "K_interval": list(keeping.interval),
            "takes": [self.arrivals.takes(K, moving.rounds) for K in (own.K, *keeping.interval)],
            "takes_by_count": self.arrivals.takes_by_count(own.K, moving.rounds),
            "dated": self.arrivals.dated,
            "choices": [
                {"name": name, "K": one.K, "rate": one.rate, "eta": one.eta, "risk": one.risk}
                for name, one in named.items()
                if one is not None
            ],
            "tried": [{"K": one.K, "risk": one.risk} for one in keeping.tried],
        }


@dataclass(frozen=True)
class Prediction:
    """The forecasts of a study's policies; the best constant admission and the study's own, if that was asked for.

    `errors` are standard errors that come from a pilot sample, if there is one: of each forecast's numbers by the
    policy's name, and of the gain. Each forecast has those that come from the paths of prices.
    """

    study: Study
    outlook: Outlook
    forecasts: Mapping[str, Forecast]
    objective: str
    best: Best | None
    own: Forecast | None
    pilot: int | None
    errors: Mapping[str, Any]
    risk_errors: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)  # of whole curves, likewise
    parts: tuple[Outlook, ...] = ()  # of a pilot sample, each without another part of it
    drifting: Drifting | str | None = None  # of samples with times, or why nothing is told of it

    @property
    def gain(self) -> float | None:
        """The part by which the best setting's objective is below that of the study's own constant admission."""
        if self.best is None or self.own is None:
            return None
        value = OBJECTIVES[self.objective]
        return float(_gain(value(self.own), value(self.best.forecast)))

    @property
    def notes(self) -> list[str]:
        """What the prediction takes to be otherwise than it is, for the policies and for what is recommended."""
        found = dict(self.forecasts)
        if self.best is not None:
            found[_variant(self.best.K, self.best.eta, self.best.steps)] = self.best.forecast
        return caveats(self.study, self.outlook.constants, found)

    def at(self, K: int, eta: float, steps: int) -> Forecast:
        """The forecast of constant admission with these settings."""
        name = _variant(K, eta, steps)
        study = replace(self.study, policies=(name,))
        with threads(self.study, REMEDY):
            return replace(self.outlook, study=study, policies=None).forecasts()[name]

    def of(self, names: Sequence[str], progress: Progress = lambda doing, done, of: None) -> Prediction:
        """The same prediction of other policies, without a search for the best."""
        return self.anew(replace(self.study, policies=tuple(names)), progress=progress)

    def serves(self, study: Study) -> bool:
        """Whether a study has the same problem, so that `anew` need not look at any data."""
        return same_problem(self.study, HandedOver().named(study))

    def anew(
        self,
        study: Study,
        *,
        coarse: bool = False,
        progress: Progress = lambda doing, done, of: None,
    ) -> Prediction:
        """The prediction of another study of the same problem, whose landscape is not surveyed again.

        A `coarse` one is of one path of prices, looks at samples a fourth as often, and has no errors.
        """
        study = HandedOver().named(study)
        _refuse_flood(study)
        with threads(study, REMEDY):
            outlook, *parts = (one.asking(study) for one in (self.outlook, *self.parts))
            seen = outlook
            if coarse:
                alone = replace(study, seeds=1)
                seen = replace(outlook, study=alone, patience=PATIENCE, hurried=True, coarse=True)
            made = seen.forecasts(
                lambda done: progress("predicting rounds", done, min(study.rounds, MOST_PLAYED))
            )
            _refuse_divergence(made)
            errors, curves = _errors(() if coarse else parts, study.policies, None, self.objective, progress)
        return replace(
            self,
            study=study,
            outlook=outlook,
            forecasts=made,
            errors=errors,
            risk_errors=curves,
            best=None,
            own=None,
            parts=tuple(parts),
            drifting=None,
        )

    def risk_error(self, name: str) -> NDArray[np.float64] | None:
        """The standard error of a policy's curve, of paths of prices and of a pilot sample; None if there is none."""
        return combined(self.forecasts[name].risk_error, self.risk_errors.get(name))

    def document(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "task": self.study.task,
            "rounds": self.study.rounds,
            "pilot": self.pilot,
            "objective": self.objective,
            "least_risk": float(self.outlook.landscape.best.risk),
            "policies": {
                name: found.document()
                | {
                    "rate": found.rate,
                    "path_share": _path_share(found),
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
        if isinstance(self.drifting, str):
            return {"q": None, "why": self.drifting}
        return None if self.drifting is None else self.drifting.document()

    def _best_document(self) -> dict[str, Any] | None:
        if self.best is None or self.own is None:
            return None
        study, outlook, best = self.study, self.outlook, self.best
        K = brief_for(study, outlook.constants, outlook.prices).K
        own = {"K": K, "rate": self.own.rate, "eta": study.eta, "steps": study.steps}
        return best.document() | {
            "error": self.errors.get(_variant(best.K, best.eta, best.steps)),
            "own": own | {"predicted": self.own.document(), "error": self.errors.get(OWN)},
            "gain": self.gain,
            "gain_error": self.errors.get("gain"),
        }

    def curves(self) -> pa.Table:
        """One row per policy and round: excess risk at θ(round), the last being what is left after the last round."""
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
        """Curves and document, whole or not at all: into a new folder, or as FILE.csv or FILE.parquet and FILE.json."""
        out = Path(out)
        _refuse_existing(out)
        out.parent.mkdir(parents=True, exist_ok=True)
        if out.suffix in SUFFIXES:
            replace_file(out, lambda beside: self._write_curves(beside, out.suffix))
            try:
                replace_file(out.with_suffix(".json"), self._write_document)
            except BaseException:
                out.unlink(missing_ok=True)
                raise
            return
        beside = out.with_name(out.name + PARTIAL)
        shutil.rmtree(beside, ignore_errors=True)
        try:
            beside.mkdir()
            replace_file(beside / CURVES, lambda file: self._write_curves(file, ".parquet"))
            replace_file(beside / DOCUMENT, self._write_document)
            if out.exists():
                out.rmdir()
            beside.rename(out)
        except BaseException:
            shutil.rmtree(beside, ignore_errors=True)
            raise

    def _write_curves(self, place: Path, suffix: str) -> None:
        with place.open("wb") as handle:  # by its name, Arrow could not open what is no UTF-8
            (pc.write_csv if suffix == ".csv" else pq.write_table)(self.curves(), handle)

    def _write_document(self, place: Path) -> None:
        text = json.dumps(self.document(), indent=2, ensure_ascii=False, allow_nan=False)
        place.write_text(text + "\n", encoding="utf-8", errors="backslashreplace")


def same_problem(one: Study, other: Study) -> bool:
    """Whether two studies differ in nothing that what is to be learnt depends on."""
    apart = {each.name for each in fields(Study) if getattr(one, each.name) != getattr(other, each.name)}
    alike = other.partition == "iid" or other.clients == one.clients
    return alike and other.drift.kind == "none" and apart <= FREE


def predict_study(
    study: Study | None = None,
    out: Path | str | None = None,
    *,
    dataset: Any = None,
    policies: Mapping[str, Any] | None = None,
    cost: Any = None,
    pilot: int | None = None,
    best: bool = True,
    objective: str = "cumulative",
    search_eta: bool = True,
    search_steps: Sequence[int] = (),
    device: str | None = None,
    data_dir: Path | None = None,
    progress: Progress = lambda doing, done, of: None,
) -> Prediction:
    """The learning curve of every policy, and of constant admission the best K, rate and step size.

    `dataset`, `policies`, `cost`, `device` and `data_dir` are those of `run_study`. With `pilot` so many samples of the
    data stand for all of it, and every number has a standard error. `best` searches K, with `search_eta` the step size
    too and with `search_steps` these numbers of local steps, for the least `objective`: cumulative, final or floor.
    `out` is where to write curves and document; `progress` is told what is being done, how much is done, and of what.
    """
    if objective not in OBJECTIVES:
        raise SettingError(f"the objective must be one of {', '.join(OBJECTIVES)}, got {objective!r}")
    own = HandedOver(dataset, None, policies, cost)
    study = own.named(Study() if study is None else study)
    refuse_beforehand(study, out, device)
    if pilot is not None and study.drift.kind != "none":
        raise SettingError(
            "a pilot sample is measured for drift, and has none of its own: leave out the pilot or the drift"
        )
    with threads(study, REMEDY):
        prices = own.prices(study)
        problem = make_problem(study, device or "cpu", data_dir, dataset=dataset)
        drawn = None if pilot is None else draw_pilot(_predictable(problem), pilot)
        problem = _predictable(problem if drawn is None else drawn.problem)

        def outlook_of(problem: Problem, names: Sequence[str]) -> Outlook:
            asked = replace(problem, study=replace(study, policies=tuple(names)))
            return Outlook.of(asked, calibrate(asked).constants.merged, prices=prices, policies=policies)

        names = list(dict.fromkeys([*study.policies, *([OWN] if best else [])]))
        outlook = outlook_of(problem, names)
        made = outlook.forecasts(
            lambda done: progress("predicting rounds", done, min(study.rounds, MOST_PLAYED))
        )
        _refuse_divergence(made)
        outlook = replace(outlook, study=study)
        chosen = None
        if best:
            chosen = best_constant(
                outlook,
                objective=objective,
                eta=search_eta,
                steps=search_steps,
                progress=lambda done: progress("settings tried", done, None),
            )
            names = list(dict.fromkeys([*names, _variant(chosen.K, chosen.eta, chosen.steps)]))
        parts = () if drawn is None else tuple(outlook_of(part, names) for part in drawn.parts())
        errors, curves = _errors(parts, names, chosen, objective, progress)
        moves = drifting(outlook, problem, steps=best, progress=progress)
    found = Prediction(
        study=study,
        outlook=outlook,
        forecasts={name: made[name] for name in study.policies},
        objective=objective,
        best=chosen,
        own=made.get(OWN),
        pilot=None if drawn is None else drawn.size,
        errors=errors,
        risk_errors=curves,
        parts=parts,
        drifting=moves,
    )
    if out is not None:
        found.write(out)
    return found


def drifting(
    outlook: Outlook,
    problem: Problem,
    *,
    steps: bool = False,
    progress: Progress = lambda doing, done, of: None,
) -> Drifting | str | None:
    """Of a problem's samples, if they have times; what these do not tell is no reason to predict nothing."""
    study, streams, come = outlook.study, problem.streams, problem.arrivals
    if come is None:
        return None
    try:
        moving = how_it_moves(outlook.landscape, np.asarray(problem.time), study.rounds)
        progress("how long to keep samples", 0, None)
        pools = 1 if streams.shared else study.clients
        kept = how_long(outlook, moving, come.in_a_round(study.rounds), pools, steps=steps)
    except SettingError as reason:
        return str(reason)
    return Drifting(moving, kept, come)


def _variant(K: int, eta: float, steps: int) -> str:
    return PolicyName(OWN).having(K=K, eta=eta, steps=steps)


def _gain(own: Any, best: Any) -> Any:
    return 1 - best / own


def _path_share(found: Forecast) -> float:
    """The part of the cumulative excess risk that the mean path has, without the scatter of θ."""
    return max(float(found.path[:-1].sum()) / found.cumulative, 0.0) if found.cumulative > 0 else 0.0


def _errors(
    parts: Sequence[Outlook],
    names: Sequence[str],
    best: Best | None,
    objective: str,
    progress: Progress = lambda doing, done, of: None,
) -> tuple[dict[str, Any], dict[str, NDArray[np.float64]]]:
    """Of all forecasts' numbers, and of the best one's gain, from the parts of a pilot sample; and of all curves."""
    if not parts:
        return {}, {}
    documents, curves, gains = [], [], []
    for k, part in enumerate(parts):
        progress("parts left out", k, len(parts))
        made = replace(part, study=replace(part.study, policies=tuple(names))).forecasts()
        documents.append([list(one.document().values()) for one in made.values()])
        curves.append([one.risk for one in made.values()])
        if best is not None:
            value, there = OBJECTIVES[objective], made[_variant(best.K, best.eta, best.steps)]
            gains.append(_gain(value(made[OWN]), value(there)))
    keys = list(made[names[0]].document())
    rows = jackknife(np.array(documents)).tolist()
    found: dict[str, Any] = {
        name: dict(zip(keys, row, strict=True)) for name, row in zip(names, rows, strict=True)
    }
    along = dict(zip(names, jackknife(np.array(curves)), strict=True))
    return found | ({"gain": float(jackknife(np.array(gains)))} if gains else {}), along


# --- refusals ----------------------------------------------------------------------------------------------


def _predictable(problem: Problem) -> Problem:
    reason = refusal(problem)
    if reason is not None:
        raise SettingError(f"nothing can be predicted: {reason}")
    if seconds(problem) == math.inf:
        raise SettingError(f"the weights of all samples do not fit into memory: {REMEDY}")
    return problem


def refuse_beforehand(study: Study, out: Path | str | None = None, device: str | None = None) -> None:
    """A device, a place or a size that will not do, before anything is looked at."""
    choose_device(device or "cpu")
    if out is not None:
        _refuse_existing(Path(out))
    _refuse_flood(study)


def _refuse_flood(study: Study) -> None:
    """Curves that do not fit into memory."""
    most = int(MOST_HELD / (16 * (len(study.policies) + CANDIDATES)))
    if study.rounds > most:
        raise SettingError(
            f"the curves of {study.rounds:,} rounds do not fit into memory: take at most {most:,}"
        )


def _refuse_divergence(made: Mapping[str, Forecast]) -> None:
    for name, found in made.items():
        if not all(map(math.isfinite, found.document().values())):
            raise SettingError(f"the prediction of {name} is not finite: take a smaller eta")


def _refuse_existing(out: Path) -> None:
    """A prediction is never written over anything."""
    try:
        if out.suffix in SUFFIXES:
            taken = next((file for file in (out, out.with_suffix(".json")) if file.exists()), None)
        else:
            taken = out if out.exists() and not (out.is_dir() and not any(out.iterdir())) else None
        if not writable(out):
            raise SettingError(
                f"{str(out)!r} cannot be used for the prediction: nothing can be written there"
            )
    except OSError as error:
        raise SettingError(f"{str(out)!r} cannot be used for the prediction ({error.strerror})") from None
    if taken is not None:
        raise SettingError(f"{str(taken)!r} is there already: choose another place for the prediction")
