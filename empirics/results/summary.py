"""The summary of a study, per policy: measured excess risk, the bounds on the run's own trajectory, constraint
violations, and rounds that exceed the paper's mismatch expression.

A `Tally` is told of one chunk of rounds after the other and keeps sums alone. Every sum runs round by round, so it does
not depend on where chunks end, and a continued or extended study sums up to the last bit like an unbroken one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from empirics.columns import LAST, measured_columns, stated_mismatch
from empirics.control.schedule import Rounds
from empirics.prediction.forecast import Forecast
from empirics.results.best_policy import ranking
from empirics.results.oracle_gap import gap_closed
from empirics.settings.study import Study
from empirics.training.constants import Calibration
from empirics.training.risk import Least
from theory.bound.theorem1 import initial_term, per_round_constant, per_round_constant_as_stated, round_terms
from theory.setting import Constants

__all__ = ["FIELDS", "PREDICTED", "Tally", "add_predictions", "interval_note"]

PER_ROUND = ("root", "linear", "generalisation")
FIELDS = {  # of a policy in `summary.json`; "mean" and "error" are over the seeds
    "retention": "largest number of rounds that samples are kept, by client",
    "distinct_samples": "N(T), samples admitted in all rounds",
    "effective_samples": "N_eff(T)",
    "mean_cost": "average cost per round, to compare with the budget",
    "cost_violation": "excess of the mean total cost over the budget of all rounds",
    "buffer_violation": "Σ_m of the excess of client m's mean memory over B_m, summed over the rounds",
    "largest_debt": "the largest Z(t) of any seed",
    "largest_occupancy": "the most samples ever in memory",
    "idle_rounds": "rounds without any sample, which make no step",
    "bound_corrected": "Theorem 1, corrected, on the run's own trajectory; null where a constant is unknown, a round "
    "is idle, steps fall or the model is a mean",
    "bound_corrected_terms": "terms of bound_corrected",
    "bound_stated": "Theorem 1 as printed",
    "rounds_stated_undefined": "rounds in which the printed bound takes the root of a negative number",
    "final_accuracy": "test accuracy after the last round",
    "final_accuracies": "final_accuracy by seed; null where it is no number",
    "final_log_loss": "mean log-loss on test samples after the last round",
    "mean_accuracy": "test accuracy averaged over θ(1), …, θ(T)",
    "best_accuracy": "the highest of all rounds, until a run diverged",
    "final_risk": "population risk after the last round",
    "mean_risk": "where the population moves, its risk averaged over the rounds; for samples in their own order the "
    "prequential loss",
    "mean_risks": "mean_risk by seed",
    "final_excess_risk": "final_risk above the least risk on the ball",
    "cumulative_excess_risk": "Σ_t of the excess risk at θ(1), …, θ(T)",
    "last_final_accuracy": "final_accuracy of the last iterate, where the study averages; likewise all last_ fields",
    "corrected_over_measured": "bound_corrected over the cumulative excess risk",
    "stated_over_measured": "bound_stated over the cumulative excess risk",
    "predicted": "before training: cumulative and final excess risk, and the noise floor; null where nothing is "
    "predicted, and `not_predicted` says why",
    "predicted_error": "their standard errors over paths of prices and samples of a large population; null where "
    "there was a single path and sample",
    "predicted_over_measured": "predicted over measured cumulative excess risk",
    "final_predicted_over_measured": "predicted over measured final excess risk",
    "mismatch": "the measured gradient mismatch over its predictions, and rounds in which it exceeds them",
    "diverged": "runs that were no longer finite",
}
PREDICTED = ("predicted", "predicted_error", "predicted_over_measured", "final_predicted_over_measured")
Floats = NDArray[np.float64]
Arrays = Mapping[str, Floats]


def interval_note(seeds: int, differs: Mapping[str, bool]) -> str:
    """The sources of variation in the standard errors, in words.

    >>> interval_note(3, {"costs": True, "samples": True, "partition": False, "first parameters": False})
    'over 3 seeds, which differ in costs and samples; shared: partition and first parameters'
    """
    if seeds == 1:
        return "one seed, no interval"
    drawn, shared = ([name for name, flag in differs.items() if flag is wanted] for wanted in (True, False))
    rest = f"; shared: {' and '.join(shared)}" if shared else ""
    return f"over {seeds} seeds, which differ in {' and '.join(drawn)}{rest}"


@dataclass
class Tally:
    """Sums and extremes of all runs so far. Arrays are over runs, except those of `clients`."""

    study: Study
    calibration: Calibration
    retention: NDArray[np.int64]
    partitions: int = 1
    costs_differ: bool = False
    sums: dict[str, Any] = field(default_factory=dict)
    highest: dict[str, Any] = field(default_factory=dict)
    last: dict[str, Any] = field(default_factory=dict)
    above: dict[str, list[list[list[int]]]] = field(default_factory=dict)
    diverged: NDArray[np.bool_] = field(init=False)
    idle: NDArray[np.int64] = field(init=False)  # rounds

    def __post_init__(self) -> None:
        self.diverged = np.zeros(self.study.runs, dtype=bool)
        self.idle = np.zeros(self.study.runs, dtype=np.int64)

    def add(self, rounds: Rounds, measured: Arrays) -> None:
        """A chunk of rounds, and what was measured in it, (rounds, runs) each."""
        one = rounds.cost[:, : self.study.seeds]
        self.costs_differ = self.costs_differ or bool((one != one[:, :1]).any())
        self._sum("spent", rounds.cost * rounds.admissions.sum(axis=2))
        by_policy = rounds.occupancy.reshape(len(rounds.cost), -1, self.study.seeds, self.study.clients)
        self._sum("clients", by_policy.mean(axis=2) - np.array(self.study.buffers))
        self.last = {"distinct": rounds.track.N[-1], "effective": rounds.track.effective[-1]}
        self._highest("debt", rounds.debt)
        self._highest("occupancy", rounds.occupancy.sum(axis=2))
        self.idle = self.idle + (rounds.track.n == 0).sum(axis=0)
        self._bounds(rounds)
        for name in measured_columns(self.study):
            self.diverged |= np.isnan(measured[name]).any(axis=0)
        for prefix in self._models:
            for name in ("risk", "excess_risk", "accuracy"):
                if prefix + name in measured:
                    self._sum(prefix + name, measured[prefix + name])
            if "accuracy" in measured:
                self._highest(f"{prefix}accuracy", measured[f"{prefix}accuracy"])
        if "mismatch" in measured:
            self._mismatch(rounds, measured)

    @property
    def _models(self) -> tuple[str, ...]:
        """Prefixes of measures: of the study's model, and of the last iterate where the study averages."""
        return ("", LAST) if self.study.averages else ("",)

    def _sum(self, name: str, values: Any) -> None:
        before = self.sums.get(name, np.zeros(values.shape[1:]))
        self.sums[name] = np.cumsum(np.concatenate([before[np.newaxis], values]), axis=0)[-1]

    def _highest(self, name: str, values: Any) -> None:
        top: Any = np.fmax.reduce(values, axis=0)  # a run that diverged keeps what it had
        self.highest[name] = np.fmax(self.highest.get(name, top), top)

    def _bounds(self, rounds: Rounds) -> None:
        """The terms of Theorem 1 that change from round to round, corrected and as stated."""
        constants, track = self.calibration.constants, rounds.track
        inverse, stated = 1 / track.effective, stated_mismatch(track)
        with np.errstate(divide="ignore", invalid="ignore"):  # without a sample there is no bound
            forms = {
                "corrected": round_terms(track.mismatch, inverse, track.N, constants.merged),
                "stated": round_terms(stated, inverse, track.N, constants),
            }
        for form, terms in forms.items():
            for name in PER_ROUND:
                self._sum(f"{form} {name}", getattr(terms, name))
        self._sum("undefined", (track.effective < track.n).astype(float))

    def _mismatch(self, rounds: Rounds, measured: Arrays) -> None:
        track, square = rounds.track, self.calibration.constants.sigma**2
        values, variance = measured["mismatch"], measured["variance"]
        expressions = {"chi": track.mismatch, "stated": stated_mismatch(track)}
        early = (np.arange(rounds.first, rounds.last + 1)[:, np.newaxis] <= self._early).astype(float)
        self._sum("mismatch", values)
        self._sum("mismatch early", values * early)
        for name, expression in expressions.items():
            positive = np.where(track.n > 0, np.maximum(expression, 0), 0)
            self._sum(f"expected {name}", variance * positive)
            self._sum(f"expected {name} early", variance * positive * early)
            means = [one.reshape(len(one), -1, self.study.seeds).mean(axis=2) for one in (values, positive)]
            known = self.above.setdefault(name, [[] for _ in self.study.policies])
            for stretches, flags in zip(known, (means[0] > square * means[1] + 1e-15).T, strict=True):
                _lengthen(stretches, flags, rounds.first)

    @property
    def _early(self) -> NDArray[np.int64]:
        """5K of each run, with the shortest K of its policy, or all rounds."""
        policies, runs = len(self.study.policies), self.study.seeds * self.study.clients
        shortest = self.retention.reshape(policies, runs).min(axis=1)
        return np.repeat(np.minimum(5 * shortest, self.study.rounds), self.study.seeds)

    # --- the summary ---------------------------------------------------------------------------------------

    @np.errstate(over="ignore", invalid="ignore")  # what is on its way to diverge may be large
    def summary(self, final: Arrays, least: Least | None) -> dict[str, Any]:
        """The summary of a finished study, plain JSON values; `final` is measured after the last round."""
        study, bounds = self.study, self._totals()
        idle = ["some rounds have no sample"] if self.idle.any() else []
        differs = {"costs": self.costs_differ, "samples": True, "partition": self.partitions > 1}
        differs["first parameters"] = "start" in study.per_seed
        summary: dict[str, Any] = {
            "preset": study.preset,
            "task": study.task,
            "rounds": study.rounds,
            "seeds": study.seeds,
            "budget": study.budget,
            "intervals": interval_note(study.seeds, differs),
            "nominal_constants": list(self.calibration.nominal),
            "outside_the_hypotheses": [*study.departures, *idle],
            "policies": {name: self._policy(p, bounds, final) for p, name in enumerate(study.policies)},
            "gap_closed": self._gaps(final),
        }
        if least is not None:
            mean = float(np.mean(least.of_runs(study.runs, study.mixing(1, study.rounds))))
            summary["least_risk"] = {"value": mean, "certified_to": least.gap}
            cumulative = self.sums["excess_risk"].reshape(len(study.policies), study.seeds)
            ranked = {} if study.averages else bounds  # which are of last iterates
            summary["ranking"] = ranking(study.policies, cumulative, ranked)
        return summary

    def _gaps(self, final: Arrays) -> dict[str, Any]:
        """The share of the gap between constant admission and the oracle that policies close, in each measure."""
        measures = {
            "cumulative_excess_risk": self.sums.get("excess_risk"),
            "mean_accuracy": self.sums.get("accuracy"),
            "final_accuracy": final["accuracy"],
        }
        study = self.study
        return {
            name: gap_closed(study.policies, values.reshape(len(study.policies), study.seeds))
            for name, values in measures.items()
            if values is not None
        }

    def _totals(self) -> dict[str, Floats]:
        """The bounds and their terms, (policies, seeds); nothing where a constant is missing, and no numbers where
        the theorem says nothing: of runs with idle rounds, with steps that get smaller, or of a mean."""
        constants, study = self.calibration.constants, self.study
        if constants.G is None:
            return {}
        T, own = study.rounds, [study.constants_of(name, constants) for name in study.policies]

        def each(formula: Callable[[Constants], Any]) -> Floats:
            return np.repeat([float(formula(one)) for one in own], study.seeds)

        found = {name: self.sums[f"corrected {name}"] for name in PER_ROUND}
        # summed for the study's own η, in which it is linear
        found["linear"] = found["linear"] * each(lambda one: one.merged.eta / constants.merged.eta)
        found["constant"] = T * each(per_round_constant)
        found["initial"] = each(lambda one: initial_term(one.merged))
        found["corrected"] = sum(found.values(), np.zeros(study.runs))
        stated = {name: self.sums[f"stated {name}"] for name in PER_ROUND}
        stated["linear"] = stated["linear"] * each(lambda one: one.eta / constants.eta)
        once = each(initial_term) + T * each(per_round_constant_as_stated)
        found["stated"] = sum(stated.values(), once)
        steady = np.repeat([study.of_policy(name).bound_applies for name in study.policies], study.seeds)
        held = steady & (self.idle == 0)
        return {
            name: np.where(held, values, np.nan).reshape(len(own), study.seeds)
            for name, values in found.items()
        }

    def _policy(self, p: int, bounds: dict[str, Floats], final: Arrays) -> dict[str, Any]:
        study = self.study
        runs = slice(p * study.seeds, (p + 1) * study.seeds)
        spent, terms = self.sums["spent"][runs], (*PER_ROUND, "constant", "initial")
        mean = {name: _number(values[p].mean()) for name, values in bounds.items()}
        found: dict[str, Any] = {
            "retention": [min(int(K), study.rounds) for K in np.unique(self.retention[runs])],
            "distinct_samples": _mean(self.last["distinct"][runs]),
            "effective_samples": _mean(self.last["effective"][runs]),
            "mean_cost": _mean(spent / study.rounds),
            "cost_violation": max(float(np.mean(spent - study.budget * study.rounds)), 0.0),
            "buffer_violation": float(np.maximum(self.sums["clients"][p], 0).sum()),
            "largest_debt": float(self.highest["debt"][runs].max()),
            "largest_occupancy": int(self.highest["occupancy"][runs].max()),
            "bound_corrected": mean.get("corrected"),
            "bound_corrected_terms": {name: mean[name] for name in terms} if mean else None,
            "bound_stated": mean.get("stated"),
            "rounds_stated_undefined": float(self.sums["undefined"][runs].mean()),
        }
        if self.idle.any():
            found["idle_rounds"] = float(self.idle[runs].mean())
        for prefix in self._models:
            found |= {prefix + name: value for name, value in self._model(prefix, runs, final).items()}
        if "excess_risk" in self.sums:
            measured = found["cumulative_excess_risk"]["mean"]
            for form in ("corrected", "stated"):
                found[f"{form}_over_measured"] = _over(found[f"bound_{form}"], measured)
        if "mismatch" in self.sums:
            found["mismatch"] = self._mismatch_found(p)
        at_last = np.isnan([values[runs] for values in final.values()]).any(axis=0)
        found["diverged"] = int((self.diverged[runs] | at_last).sum())
        return found

    def _model(self, prefix: str, runs: slice, final: Arrays) -> dict[str, Any]:
        """Measures of the study's model, or of the last iterate."""
        accuracy = final[f"{prefix}accuracy"][runs]
        found: dict[str, Any] = {
            "final_accuracy": _mean(accuracy),
            "final_accuracies": [_number(one) for one in accuracy],
        }
        if f"{prefix}log_loss" in final:
            found["final_log_loss"] = _mean(final[f"{prefix}log_loss"][runs])
        if f"{prefix}accuracy" in self.highest:
            found["mean_accuracy"] = _mean(self.sums[f"{prefix}accuracy"][runs] / self.study.rounds)
            found["best_accuracy"] = _mean(np.fmax(self.highest[f"{prefix}accuracy"][runs], accuracy))
        if f"{prefix}risk" in final:
            found["final_risk"] = _mean(final[f"{prefix}risk"][runs])
        if f"{prefix}risk" in self.sums and self.study.drift.kind != "none":
            risks = self.sums[f"{prefix}risk"][runs] / self.study.rounds
            found["mean_risk"] = _mean(risks)
            if not self.study.drift.mixes:  # losses of samples in their own order, before they are trained on
                found["mean_risks"] = [_number(one) for one in risks]
        if f"{prefix}excess_risk" in self.sums:
            found["final_excess_risk"] = _mean(final[f"{prefix}excess_risk"][runs])
            found["cumulative_excess_risk"] = _mean(self.sums[f"{prefix}excess_risk"][runs])
        return found

    def _mismatch_found(self, p: int) -> dict[str, Any]:
        r"""The measured mismatch, averaged over the seeds, against its two predictions.

        `over_chi` and `over_stated`: Σ measured / Σ variance·χ, and the same with the paper's expression, over all
        rounds and over the first 5K; near 1 where the prediction, exact at a fixed θ, holds at the iterates too.
        `above_*`: the stretches of rounds whose mean exceeds the expression even with σ², the supremum, for the
        variance.
        """
        runs = slice(p * self.study.seeds, (p + 1) * self.study.seeds)

        def ratio(measured: str, expected: str) -> float | None:
            total = float(self.sums[expected][runs].sum())
            return _number(self.sums[measured][runs].sum() / total) if total > 0 else None

        found: dict[str, Any] = {"early_rounds": int(self._early[runs][0])}
        for name in ("chi", "stated"):
            found[f"over_{name}"] = ratio("mismatch", f"expected {name}")
            found[f"over_{name}_early"] = ratio("mismatch early", f"expected {name} early")
            found[f"above_{name}"] = self.above[name][p]
        return found


def add_predictions(
    summary: dict[str, Any],
    forecasts: Mapping[str, Forecast],
    reason: str | None = None,
    notes: Sequence[str] = (),
) -> None:
    """Add predictions beside measures, with notes on them, or the reason why there are none."""
    summary["not_predicted"], summary["prediction_notes"] = reason, list(notes) if forecasts else []
    for name, found in summary["policies"].items():
        found |= dict.fromkeys(PREDICTED)
        if name in forecasts:
            found["predicted"], found["predicted_error"] = forecasts[name].document(), forecasts[name].errors
            for ratio, risk in (("", "cumulative_excess_risk"), ("final_", "final_excess_risk")):
                measured = found[risk]["mean"]
                found[f"{ratio}predicted_over_measured"] = _over(found["predicted"][risk], measured)


def _lengthen(stretches: list[list[int]], flags: NDArray[np.bool_], first: int) -> None:
    """Add the rounds from `first` on whose flag is set to stretches of rounds, [first, last] each."""
    for t in np.flatnonzero(flags) + first:
        if stretches and stretches[-1][1] == t - 1:
            stretches[-1][1] = int(t)
        else:
            stretches.append([int(t), int(t)])


def _mean(values: NDArray[np.float64]) -> dict[str, float | None]:
    """Mean over the seeds and its standard error."""
    error = _number(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
    return {"mean": _number(values.mean()), "error": error}


def _number(value: Any) -> float | None:
    """The number, or None if it is not finite."""
    return float(value) if np.isfinite(value) else None


def _over(value: float | None, measured: float | None) -> float | None:
    """The ratio to the measured value, if that is positive."""
    return None if value is None or measured is None or measured <= 0 else value / measured
