"""Predicted over measured risk, cumulative and final, over learners and data sets.

Each study of studies/accuracy.toml is predicted and then trained. `fitted` is the share of a fresh residual that a
client fits within a round, `L/2` the step size over 2/L, and `steep` that over 2 over the largest curvature at the
start, less momentum: beyond 1 a note is printed if there are several local steps. `warned` names the notes printed.
Errors are standard errors of the ratios, of the measured mean and the prediction together.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine

from benchmarks.own_data import loans, sensors
from benchmarks.runner import Benchmark, markdown, trained
from empirics import PRESETS, Study, fitted_study, predict_study

RISKS = ("cumulative", "final")
NOTES = {"steep": "several local steps", "again": "without replacement"}


def heavy_tails(samples: int = 4000) -> tuple[Any, Any]:
    """Made up: features with Student's distribution of 2.5 degrees of freedom, and labels by their logistic model."""
    rng = np.random.default_rng(3)
    x = rng.standard_t(2.5, (samples, 10))
    return x, (rng.random(samples) < 1 / (1 + np.exp(-x @ rng.normal(size=10)))).astype(int)


DATA = {
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "heavy tails": heavy_tails,
    "loans": loans,
    "sensors": sensors,
}


def main() -> None:
    benchmark = Benchmark.asked("accuracy", __doc__)
    studies = {one["name"]: one for one in benchmark.settings["studies"]}
    document = benchmark.begin(study=f"{len(studies)} studies, 500 rounds, {benchmark.given.seeds} seeds")
    show(benchmark.measure(document, studies, lambda name: measured(studies[name], benchmark)))


def measured(asked: dict[str, Any], benchmark: Benchmark) -> dict[str, Any]:
    """Predicted and measured risks of every policy of a study, and what was told of the prediction."""
    given, data = benchmark.given, DATA.get(asked["data"], lambda: None)()
    policies = [*benchmark.settings["policies"], *(benchmark.settings["more"] if asked.get("more") else [])]
    settings = {**asked["settings"], "measures": ["risk"], "policies": policies}
    settings |= {"rounds": 500, "seeds": given.seeds, "seed": given.seed}
    if data is None:
        study = Study.from_document(settings, PRESETS[asked["preset"]])
    else:
        study, _ = fitted_study(data, preset=asked["preset"], **settings)
    prediction = predict_study(study, dataset=data, best=False)
    summary, _ = trained(replace(study, predict=False), dataset=data)
    forecaster, rows = prediction.forecaster, {}
    for name, forecast in prediction.forecasts.items():
        row, notes = summary["policies"][name], [note for note in prediction.notes if name in note]
        rows[name] = {
            **{risk: compared(f"{risk}_excess_risk", row, forecast) for risk in RISKS},
            "fitted": forecast.fitted,
            "L/2": study.eta * forecaster.smoothness / 2,
            "steep": study.eta * forecaster.landscape.steepness / 2 / (1 - study.momentum),
            "warned": [kind for kind, words in NOTES.items() for note in notes if words in note],
        }
    return {"eta": study.eta, "steps": study.steps, "policies": rows}


def compared(risk: str, row: dict[str, Any], forecast: Any) -> dict[str, float]:
    """The predicted and the measured mean, and the standard error of their ratio."""
    predicted, found = forecast.document()[risk], row[risk]
    own = (forecast.errors or {}).get(risk, 0.0)
    error = math.hypot(found["error"] / found["mean"], own / predicted) * predicted / found["mean"]
    return {"predicted": predicted, "measured": found["mean"], "error": error}


def show(document: dict[str, Any]) -> None:
    lines = [["study", "policy", "L/2", "steep", "fitted", *RISKS, "warned"]]
    for study, found in document["studies"].items():
        for policy, row in found["policies"].items():
            shares = [f"{row[key]:.2f}" for key in ("L/2", "steep", "fitted")]
            risks = (row[risk] for risk in RISKS)
            ratios = [f"{one['predicted'] / one['measured']:.2f} ± {one['error']:.2f}" for one in risks]
            lines.append([study, policy, *shares, *ratios, ", ".join(row["warned"])])
    print(f"{document['command']}\n{document['hardware']}\n\n{markdown(lines)}")


if __name__ == "__main__":
    main()
