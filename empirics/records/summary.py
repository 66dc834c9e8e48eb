"""What a study found, per policy: measured excess risk, the bounds on the run's own trajectory, constraint violations,
and where the paper's mismatch expression is exceeded."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import stdtrit

from empirics.control.schedule import Schedule
from empirics.settings.study import Study
from empirics.training.constants import Calibration
from empirics.training.risk import Minimiser
from theory.bound import theorem_1, theorem_1_as_stated

__all__ = ["summarise"]

TERMS = ("root", "linear", "generalisation", "constant", "initial")
LEVEL = 0.05
Arrays = dict[str, NDArray[np.float64]]


def summarise(
    study: Study,
    schedule: Schedule,
    calibration: Calibration,
    best: Minimiser | None,
    rows: pa.Table,
    final: Arrays,
) -> dict[str, Any]:
    """The summary of a finished study, plain JSON values."""
    measured = [
        name for name in ("excess_risk", "mismatch", "variance", "accuracy") if name in rows.column_names
    ]
    columns = {name: _per_run(rows, name, study) for name in measured}
    bounds = _bounds(schedule, calibration)
    policies = {
        name: _policy(p, study, schedule, calibration, columns, bounds, final)
        for p, name in enumerate(study.policies)
    }
    summary: dict[str, Any] = {
        "preset": study.preset,
        "task": _task(study),
        "rounds": study.rounds,
        "seeds": study.seeds,
        "nominal_constants": list(calibration.nominal),
        "outside_the_hypotheses": list(study.departures),
        "policies": policies,
    }
    if best is not None:
        summary["least_risk"] = {"value": best.risk, "certified_to": best.gap}
        summary["ranking"] = _ranking(study, columns["excess_risk"], bounds)
    return summary


def _task(study: Study) -> str:
    kind = "odd against even classes, binary" if study.labels == "parity" else "all classes, multinomial"
    return f"{study.dataset}: {kind} logistic regression"


def _per_run(rows: pa.Table, name: str, study: Study) -> NDArray[np.float64]:
    """A column as (policies, seeds, rounds), whatever order the rows are in."""
    places = [
        rows["policy"].to_numpy(zero_copy_only=False),
        rows["seed"].to_numpy(),
        rows["round"].to_numpy(),
    ]
    number = {policy: p for p, policy in enumerate(study.policies)}
    out = np.empty((len(study.policies), study.seeds, study.rounds))
    out[[number[policy] for policy in places[0]], places[1], places[2] - 1] = rows[name].to_numpy()
    return out


def _bounds(schedule: Schedule, calibration: Calibration) -> Arrays:
    """Theorem 1 corrected and as stated, with all its constants, for each run: (policies, seeds)."""
    constants, study = calibration.constants, schedule.study
    corrected = [theorem_1(t.n, t.N, t.uniformity, t.mismatch, constants) for t in schedule.trajectories]
    stated = [theorem_1_as_stated(t.n, t.N, t.uniformity, constants) for t in schedule.trajectories]
    undefined = [sum(last - first + 1 for first, last in b.negative.get("root", ())) for b in stated]
    found = {
        "corrected": [b.total for b in corrected],
        "stated": [b.total for b in stated],
        "undefined": undefined,
    }
    found |= {name: [getattr(b.terms, name) for b in corrected] for name in TERMS}
    return {name: np.array(values, dtype=float).reshape(-1, study.seeds) for name, values in found.items()}


def _policy(
    p: int,
    study: Study,
    schedule: Schedule,
    calibration: Calibration,
    columns: Arrays,
    bounds: Arrays,
    final: Arrays,
) -> dict[str, Any]:
    runs = slice(p * study.seeds, (p + 1) * study.seeds)
    spent = (schedule.cost[:, runs] * schedule.admissions[:, runs].sum(axis=2)).sum(axis=0)
    over = schedule.occupancy[:, runs].mean(axis=1) - np.array(study.buffers)
    found: dict[str, Any] = {
        "retention": sorted({int(K) for K in schedule.retention[runs].ravel()}),
        "cost_violation": max(float(np.mean(spent - study.budget * study.rounds)), 0.0),
        "buffer_violation": float(np.maximum(over.sum(axis=0), 0).sum()),
        "largest_debt": float(schedule.debt[:, runs].max()),
        "largest_occupancy": int(schedule.occupancy[:, runs].sum(axis=2).max()),
        "bound_corrected": float(bounds["corrected"][p].mean()),
        "bound_corrected_terms": {name: float(bounds[name][p].mean()) for name in TERMS},
        "bound_stated": float(bounds["stated"][p].mean()),
        "rounds_stated_undefined": float(bounds["undefined"][p].mean()),
        "final_accuracy": _mean(final["accuracy"][runs]),
    }
    if "accuracy" in columns:
        found["best_accuracy"] = _mean(
            np.maximum(columns["accuracy"][p].max(axis=1), final["accuracy"][runs])
        )
    if "excess_risk" in columns:
        cumulative = columns["excess_risk"][p].sum(axis=1)
        found["final_excess_risk"] = _mean(final["excess_risk"][runs])
        found["cumulative_excess_risk"] = _mean(cumulative)
        for form in ("corrected", "stated"):
            found[f"{form}_over_measured"] = found[f"bound_{form}"] / found["cumulative_excess_risk"]["mean"]
    if "mismatch" in columns:
        found["mismatch"] = _mismatch(schedule, calibration, columns, p)
    return found


def _mean(values: NDArray[np.float64]) -> dict[str, float | None]:
    """Mean over the seeds and its standard error."""
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
    return {"mean": float(values.mean()), "error": error}


def _mismatch(schedule: Schedule, calibration: Calibration, columns: Arrays, p: int) -> dict[str, Any]:
    r"""The measured mismatch, averaged over the seeds, against its two predictions.

    `over_chi` and `over_stated`: Σ measured / Σ variance·χ, and the same with the paper's expression, over all rounds
    and over the first 5K; near 1 where the prediction, exact at a fixed θ, holds at the iterates too. `above_*`: the
    stretches of rounds whose mean exceeds the expression even with σ², the supremum, for the variance.
    """
    seeds = schedule.study.seeds
    tracks = schedule.trajectories[p * seeds : (p + 1) * seeds]
    chi = np.stack([track.mismatch for track in tracks])
    stated = np.stack([1 / track.n - 1 / track.effective for track in tracks])
    measured, variance = columns["mismatch"][p], columns["variance"][p]
    square = calibration.constants.sigma**2
    early = 5 * int(schedule.retention[p * seeds].min())

    def ratio(expression: NDArray[np.float64], rounds: int) -> float | None:
        expected = (variance * np.maximum(expression, 0))[:, :rounds].sum()
        return float(measured[:, :rounds].sum() / expected) if expected > 0 else None

    def above(expression: NDArray[np.float64]) -> list[list[int]]:
        flags = measured.mean(axis=0) > square * np.maximum(expression, 0).mean(axis=0) + 1e-15
        edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
        return [[int(first) + 1, int(last)] for first, last in edges.reshape(-1, 2)]

    found: dict[str, Any] = {"early_rounds": early}
    for name, expression in {"chi": chi, "stated": stated}.items():
        found[f"over_{name}"] = ratio(expression, measured.shape[1])
        found[f"over_{name}_early"] = ratio(expression, early)
        found[f"above_{name}"] = above(expression)
    return found


def _ranking(study: Study, excess: NDArray[np.float64], bounds: Arrays) -> dict[str, Any]:
    """Policies from best to worst, measured and by the bounds.

    A pair is decided if a paired t-test over the seeds tells it apart at the 5 % level, all pairs taken together
    (Bonferroni); a bound agrees if it orders every decided pair as measured.
    """
    cumulative = excess.sum(axis=2)

    def order(values: NDArray[np.float64]) -> list[str]:
        return [study.policies[p] for p in np.argsort(values.mean(axis=1), kind="stable")]

    pairs = {}
    count = max(comb(len(study.policies), 2), 1)
    needed = stdtrit(study.seeds - 1, 1 - LEVEL / 2 / count) if study.seeds > 1 else np.inf
    for a, b in combinations(range(len(study.policies)), 2):
        difference = cumulative[a] - cumulative[b]
        error = difference.std(ddof=1) / np.sqrt(study.seeds) if study.seeds > 1 else np.inf
        pairs[a, b] = float(difference.mean()), bool(abs(difference.mean()) > needed * error)
    names = {pair: [study.policies[p] for p in pair] for pair in pairs}
    found: dict[str, Any] = {
        "measured": order(cumulative),
        "undecided": [names[pair] for pair, (_, decided) in pairs.items() if not decided],
    }
    for form in ("corrected", "stated"):
        bound = bounds[form].mean(axis=1)
        wrong = [
            names[a, b]
            for (a, b), (sign, decided) in pairs.items()
            if decided and sign * (bound[a] - bound[b]) < 0
        ]
        found[form] = order(bounds[form])
        found[f"{form}_disagrees_on"] = wrong
        found[f"{form}_agrees"] = not wrong
    return found
