"""How long to keep samples, as a pilot sample with times says, against a sweep over K on the same stream.

Logistic streams whose optimum walks. `acdpp predict --pilot` sees 1,000 samples and their times; then constant
admission at several K learns the whole stream in its order, and the loss of each round's model on that round's samples,
before it trains on them, says which K was best. Differences are paired over streams.

    python -m benchmarks.moving --streams 5
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.hardware import hardware
from empirics.predict import predict_study
from empirics.results.folder import read_result
from empirics.run import run_study
from empirics.settings.drift import Drift
from empirics.settings.presets import PRESETS
from empirics.settings.study import Study
from theory.numbers.student import half_width

RETENTIONS = (1, 2, 3, 5, 10)
ROUNDS, EACH, LAST = 200, 10, 1  # round, left for the test that follows the others
SETTLED = 30  # rounds until the start is forgotten


def stream(step: float, seed: int) -> dict[str, Any]:
    """Samples and their times."""
    rng = np.random.default_rng(seed)
    path = np.cumsum(step * rng.normal(size=(ROUNDS, 4)), axis=0).repeat(EACH, axis=0)
    x = rng.normal(size=path.shape)
    y = rng.random(len(x)) < 1 / (1 + np.exp(-(x * path).sum(axis=1)))
    return {"x": x, "y": y.astype(int), "time": np.arange(len(x)) / EACH}


BASE = replace(
    PRESETS["own"],
    policies=("constant",),
    radius=20.0,
    seeds=2,
    rounds=ROUNDS,
    predict=False,
    measures=("risk",),
)


def losses(study: Study, data: dict[str, Any], retentions: Iterable[int] = RETENTIONS) -> list[float]:
    """Of each K, on samples before they are trained on."""
    names = tuple(f"constant@K={K}" for K in retentions)
    moving = replace(study, policies=names, rounds=ROUNDS - LAST, drift=Drift(kind="order"))
    with tempfile.TemporaryDirectory() as place:
        run_study(moving, Path(place) / "result", dataset=data)
        rows = read_result(Path(place) / "result", ["policy", "round", "risk"]).rows.to_pydict()
    policy, late = np.array(rows["policy"]), np.array(rows["round"]) > SETTLED
    return [float(np.array(rows["risk"])[late & (policy == name)].mean()) for name in names]


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--streams", type=int, default=5)
    parser.add_argument("--walk", type=float, default=0.1, help="what the optimum moves by, along each input")
    parser.add_argument("--eta", type=float, default=5.0)
    parser.add_argument("--steps", type=int, default=1, help="local steps E")
    given = parser.parse_args()
    print(
        f"{hardware()}; {given.streams} streams, steps of {given.walk:g}, η = {given.eta:g}, E = {given.steps}"
    )
    base, found = replace(BASE, steps=given.steps, eta=given.eta), []
    for seed in range(100, 100 + given.streams):
        data = stream(given.walk, seed)
        told = predict_study(base, dataset=data, pilot=1000, best=False).document()["drift"]
        low, high = told["interval"]
        print(
            f"q = {told['q']:.2g} ({low:.2g} to {high:.2g}): K = {told['K']}, {told['K_interval']}",
            flush=True,
        )
        found.append(losses(base, data))
    measured = np.array(found).T
    best = int(measured.mean(axis=1).argmin())
    for K, row in zip(RETENTIONS, measured, strict=True):
        apart = row - measured[best]
        wide = float(half_width(apart, 0.95)) if apart.any() else 0.0
        print(f"K = {K:2}: loss {row.mean():.4f}, above the best {apart.mean():+.4f} ± {wide:.4f}")


if __name__ == "__main__":
    main()
