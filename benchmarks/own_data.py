"""Settings that a pilot chooses for own data, and their accuracy: `python -m benchmarks.own_data`, with --data-dir
for MNIST.

Constant admission with the preset for own data, as it stands and with ball, scale and steps that a pilot chooses,
beside scikit-learn's logistic regression, which sees all samples at once.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.common import settings
from benchmarks.runner import Benchmark, markdown, trained
from empirics import Dataset, Study, as_dataset, fitted_study

SETTINGS = settings("own_data")


def loans(samples: int = 4000) -> tuple[Any, Any]:
    """Made up: an income in the ten thousands beside shares and counts, all of which tell who pays back."""
    rng = np.random.default_rng(1)
    income, age = np.exp(rng.normal(10.7, 0.5, samples)), rng.normal(42, 13, samples).clip(18, 90)
    debt, late, owns = rng.beta(2, 5, samples), rng.poisson(0.6, samples), rng.integers(0, 2, samples)
    wealth = -1.2 * (np.log(income) - 10.7) / 0.5 - 0.5 * (age - 42) / 13 - 0.7 * owns
    logit = wealth + 1.2 * (debt - 0.29) / 0.16 + 0.9 * late - 0.3
    y = rng.random(samples) < 1 / (1 + np.exp(-1.5 * logit))
    return np.stack([income, age, debt, late, owns], axis=1), y.astype(int)


def sensors(samples: int = 4000) -> tuple[Any, Any]:
    """Made up: kelvins, pascals and a vibration far below one, all far from 0, tell four states of a machine."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 4, samples)
    kelvins = 300 + 2 * rng.normal(size=samples) + np.array([0, 3, 0, 3])[y]
    pascals = 101325 + 400 * rng.normal(size=samples) + np.array([0, 0, 700, 700])[y]
    shaking = 0.01 + 0.003 * rng.normal(size=samples) + np.array([0, 0.004, 0.004, 0])[y]
    return np.column_stack([kelvins, pascals, shaking, rng.normal(size=(samples, 4))]), y


def data_sets(data_dir: Path | None) -> Iterator[tuple[str, Dataset]]:
    yield "the digits", as_dataset("digits")
    yield "loans", as_dataset(loans())
    yield "sensors", as_dataset(sensors())
    if data_dir is not None:
        whole, few = as_dataset("mnist", data_dir), SETTINGS["mnist_samples"]
        yield f"MNIST, {few:,}", replace(whole, train_x=whole.train_x[:few], train_y=whole.train_y[:few])


def beside(data: Dataset, *before: Any) -> float:
    x, test = (part.reshape(len(part), -1).astype(float) for part in (data.train_x, data.test_x))
    learner = make_pipeline(*before, LogisticRegression(max_iter=200))
    return float(learner.fit(x, data.train_y).score(test, data.test_y))


def main() -> None:
    benchmark = Benchmark.asked("own_data", __doc__)
    given, data = SETTINGS["study"], dict(data_sets(benchmark.given.data_dir))
    words = f"constant admission, {given['rounds']} rounds, {given['seeds']} seeds"
    show(benchmark.measure(benchmark.begin(study=words), data, lambda name: measured(data[name], given)))


def measured(data: Dataset, given: dict[str, Any]) -> dict[str, Any]:
    """What a pilot chooses, and test accuracies before, after and of scikit-learn."""
    given = {"policies": ("constant",), "measures": ("accuracy",), **given}
    fitted, _ = fitted_study(data, **given)
    summaries = (trained(study, dataset=data)[0] for study in (Study(**given), fitted))
    before, after = (one["policies"]["constant"]["final_accuracy"] for one in summaries)
    chosen = {"radius": fitted.radius, "scale": fitted.scale, "eta": fitted.eta}
    plain, scaled = beside(data), beside(data, StandardScaler())
    return {"before": before, **chosen, "after": after, "scikit-learn": plain, "standardised": scaled}


def table(document: dict[str, Any]) -> str:
    """Accuracies in per cent, with standard errors over seeds."""

    def within(one: dict[str, float]) -> str:
        return f"{100 * one['mean']:.1f} ± {100 * one['error']:.1f}"

    lines = [SETTINGS["heads"]]
    for name, one in document["studies"].items():
        chosen = "radius {radius:g}, {scale}, η = {eta:.3g}".format(**one)
        others = (f"{100 * one[key]:.1f}" for key in ("scikit-learn", "standardised"))
        lines.append([name, within(one["before"]), chosen, within(one["after"]), *others])
    return markdown(lines)


def show(document: dict[str, Any]) -> None:
    print(f"{document['command']}\n{document['hardware']}\n\n{table(document)}")


if __name__ == "__main__":
    main()
