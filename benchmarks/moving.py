"""Retention by a pilot sample with timestamps, against a sweep over K on the same stream.

Logistic streams whose optimum walks. `acdpp predict --pilot` sees 1,000 samples with their timestamps; then constant
admission at several K learns the whole stream in its order, and the loss of each round's model on that round's
samples, before it trains on them, shows the best K. Differences are paired over streams.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.common import hardware, settings
from benchmarks.runner import Benchmark, above_best
from benchmarks.streams import losses_by_seed
from empirics import PRESETS, Study, predict_study

RETENTIONS = settings("moving")["retentions"]
ROUNDS, EACH = 200, 10  # samples per round; the last round is left for the test that follows the others
START_ROUNDS = 30  # left out of the mean
BASE = replace(PRESETS["own"], policies=("constant",), radius=20.0, seeds=2, rounds=ROUNDS)
BASE = replace(BASE, predict=False, measures=("risk",))


def stream(step: float, seed: int, each: int = EACH) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    path = np.cumsum(step * rng.normal(size=(ROUNDS, 4)), axis=0).repeat(each, axis=0)
    x = rng.normal(size=path.shape)
    y = rng.random(len(x)) < 1 / (1 + np.exp(-(x * path).sum(axis=1)))
    return {"x": x, "y": y.astype(int), "time": np.arange(len(x)) / each}


def losses(base: Study, data: dict[str, Any], retentions: Iterable[int]) -> list[float]:
    """Mean loss of constant admission at each K."""
    names = tuple(f"constant@K={K}" for K in retentions)
    return [each.mean() for each in losses_by_seed(base, names, data, start=START_ROUNDS).values()]


def main() -> None:
    given = Benchmark.asked("moving", __doc__).given
    words = f"steps of {given.walk:g}, η = {given.eta:g}, E = {given.steps}"
    print(f"{hardware()}; {given.streams} streams, {words}")
    base, found = replace(BASE, steps=given.steps, eta=given.eta), []
    for seed in range(100, 100 + given.streams):
        data = stream(given.walk, seed)
        drift = predict_study(base, dataset=data, pilot=1000, best=False).document()["drift"]
        speed = "{:.2g} ({:.2g} to {:.2g})".format(drift["q"], *drift["interval"])
        print(f"q = {speed}: K = {drift['K']}, {drift['K_interval']}", flush=True)
        found.append(losses(base, data, RETENTIONS))
    measured = np.array(found).T
    best = measured[measured.mean(axis=1).argmin()]
    for K, row in zip(RETENTIONS, measured, strict=True):
        apart = "{above_best:+.4f} ± {half_width:.4f}".format(**above_best(row, best))
        print(f"K = {K:2}: loss {row.mean():.4f}, above the best {apart}")


if __name__ == "__main__":
    main()
