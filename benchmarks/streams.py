"""Retention of samples in streams that are made, predicted and measured.

Two streams are made from MNIST's training images, pooled to 14 × 14 pixels, with timestamps. `classes` come and go:
half of the ten are present at any time, and each leaves and comes back twice. `turning` images are turned by an angle
that grows from 0 to a right angle and falls again, twice. Nine are made from the bundled digits, 20 images per round:
which classes there are, how images look or which label they have changes, or nothing does (`DIGITS`). All were chosen
before any was learnt, and none was left out.

A pilot sample with timestamps gives K with an interval. Then constant admission at several K, and on MNIST every
policy, learn the stream in its order. Averaged is the loss of each round's model on that round's samples before it
trains on them, with the standard error over seeds, which draw among the samples of the round. Differences to the best
K are paired over seeds.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import rotate

from benchmarks.common import settings
from benchmarks.runner import Benchmark, above_best, mean_and_error, played, posed
from empirics import Dataset, Study
from empirics.data import load
from empirics.overrides import HandedOver
from empirics.prediction.drift_retention import drift_advice
from empirics.prediction.pilot import draw_pilot
from empirics.prediction.study_forecaster import StudyForecaster
from empirics.settings.drift import Drift
from empirics.training.constants import calibrate
from empirics.training.device import threads
from empirics.training.problem import make_problem

EACH, FEW = 100, 20  # samples per round, of MNIST and of the digits
START_ROUNDS = 50  # left out of the mean
PERIODS = 2  # of either change, in the whole stream
Floats = NDArray[np.float64]
_turned = partial(rotate, reshape=False, order=1)


def _stream(images: NDArray[np.float32], labels: Any) -> dict[str, Any]:
    """Means of two by two pixels, labels and timestamps."""
    n, _, high, wide = images.shape
    pooled = images.reshape(n, 1, high // 2, 2, wide // 2, 2).mean(axis=(3, 5))
    return {"x": pooled, "y": labels, "time": np.arange(n) / EACH}


def drawn(data: Dataset, weights: Floats, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Indices of samples, whose classes are drawn by their weights."""
    labels = rng.choice(data.classes, count, p=weights / weights.sum())
    return np.array([rng.choice(np.flatnonzero(data.train_y == c)) for c in labels])


def classes(data: Dataset, rounds: int, rng: np.random.Generator) -> dict[str, Any]:
    """Classes that come and go: c is as likely as the positive part of the cosine of its phase."""
    found = []
    for t in range(rounds):
        phase = 2 * np.pi * (PERIODS * t / rounds - np.arange(data.classes) / data.classes)
        found.append(drawn(data, np.maximum(np.cos(phase), 0), EACH, rng))
    index = np.concatenate(found)
    return _stream(data.train_x[index], data.train_y[index])


def turning(data: Dataset, rounds: int, rng: np.random.Generator) -> dict[str, Any]:
    """Images that turn by a right angle and back, as a cosine."""
    index = rng.permutation(len(data.train_y))[np.arange(rounds * EACH) % len(data.train_y)]
    angle = 45 * (1 - np.cos(2 * np.pi * PERIODS * np.arange(rounds) / rounds))
    groups = zip(index.reshape(rounds, EACH), angle, strict=True)
    turned = [_turned(data.train_x[one], by, axes=(3, 2)) for one, by in groups]
    return _stream(np.concatenate(turned).clip(0, 1), data.train_y[index])


def _one_after_another(s: float) -> Floats:
    """About two classes at a time, in a circle."""
    return np.asarray(np.maximum(np.cos(2 * np.pi * (s - np.arange(10) / 10)), 0) ** 8)


def _there_and_back(s: float) -> float:
    return float(1 - np.cos(2 * np.pi * s)) / 2


@dataclass(frozen=True)
class Made:
    """Changes of a stream, as functions of the share that has passed: probabilities of classes, images and labels."""

    there: Callable[[float], Floats] = lambda s: np.ones(10)
    seen: Callable[[Any, float], Any] = lambda images, s: images
    called: Callable[[Any, float], Any] = lambda labels, s: labels

    def __call__(self, data: Dataset, rounds: int, rng: np.random.Generator) -> dict[str, Any]:
        x, y = [], []
        for s in np.arange(rounds) / rounds:
            index = drawn(data, self.there(s), FEW, rng)
            x.append(self.seen(data.train_x[index].reshape(FEW, 8, 8), s).reshape(FEW, 64))
            y.append(self.called(data.train_y[index], s))
        time = np.arange(rounds * FEW) / FEW
        return {"x": np.concatenate(x).astype(np.float32), "y": np.concatenate(y), "time": time}


DIGITS = {
    "classes one after another": Made(_one_after_another),
    "the same, six times": Made(lambda s: _one_after_another(6 * s)),
    "even and odd, three times": Made(lambda s: np.abs(np.arange(10) % 2 - _there_and_back(3 * s)) + 1e-12),
    "dimmed, twice": Made(seen=lambda images, s: images * (1 - 0.7 * _there_and_back(2 * s))),
    "left half dark, five times": Made(
        seen=lambda images, s: images * np.where(np.arange(8) < 4, 1 - _there_and_back(5 * s), 1)
    ),
    "turned once round": Made(seen=lambda images, s: _turned(images, 360 * s, axes=(2, 1))),
    "mirrored every 50 rounds": Made(seen=lambda images, s: images[..., :: (-1) ** int(6 * s)]),
    "called one more every 60 rounds": Made(called=lambda labels, s: (labels + int(5 * s)) % 10),
    "nothing": Made(),
}
STREAMS: dict[str, Any] = {"mnist": {"classes": classes, "turning": turning}, "digits": DIGITS}


def pilot_says(base: Study, data: dict[str, Any], benchmark: Benchmark) -> dict[str, Any]:
    """Drift and K by a pilot sample, at the study's step size."""
    study = HandedOver(data).named(replace(base, policies=("constant",), dtype="float64"))
    drawn = draw_pilot(make_problem(study, "cpu", dataset=data), benchmark.given.pilot).problem
    found = drift_advice(StudyForecaster.of(drawn, calibrate(drawn).constants.merged), drawn)
    if found is None or isinstance(found, str):
        return {"q": None, "why": found}
    document = found.document()
    return {key: document[key] for key in ("q", "interval", "directions", "K", "K_interval")}


def losses_by_seed(
    base: Study, names: tuple[str, ...], data: dict[str, Any], device: str = "cpu", start: int = START_ROUNDS
) -> dict[str, Floats]:
    """Loss of each policy on samples before they are trained on: each seed's mean over rounds after the start."""
    study = replace(base, policies=names, rounds=base.rounds - 1, drift=Drift(kind="order"))
    with threads(study.threads, "take fewer seeds"):
        found = [rows["risk"] for _, rows in played(*posed(study, device=device, dataset=data))]
    late = np.concatenate(found)[min(start, study.rounds // 2) :].mean(axis=0)
    return dict(zip(names, late.reshape(len(names), study.seeds), strict=True))


def measured(base: Study, name: str, benchmark: Benchmark) -> dict[str, Any]:
    """A stream: the pilot's prediction, and the loss of every policy."""
    given, began = benchmark.given, time.monotonic()
    loaded, rng = load(given.dataset, given.data_dir), np.random.default_rng(given.seed)
    data = STREAMS[given.dataset][name](loaded, base.rounds, rng)
    ready = time.monotonic()
    pilot = pilot_says(base, data, benchmark)
    predicted = time.monotonic()
    kept = tuple(f"constant@K={K}" for K in benchmark.settings["retentions"][given.dataset])
    names = (*kept, *settings("drift")["policies"]) if given.dataset == "mnist" else kept
    found = losses_by_seed(base, names, data, given.device)
    best = min(kept, key=lambda one: found[one].mean())
    policies = {}
    for policy, each in found.items():
        mean, error = mean_and_error(each)
        policies[policy] = {"loss": mean, "error": error, **above_best(each, found[best])}
    took = {"made": ready - began, "pilot": predicted - ready, "trained": time.monotonic() - predicted}
    seconds = {key: round(value, 1) for key, value in took.items()}
    return {"pilot": pilot, "policies": policies, "best": best, "seconds": seconds}


def show(document: dict[str, Any]) -> None:
    print(f"{document['study']}\n{document['command']}\n{document['hardware']}")
    for name, found in document["studies"].items():
        took = ", ".join(f"{seconds:.0f} s {doing}" for doing, seconds in found["seconds"].items())
        print(f"\n{name} ({took})\n  pilot: {found['pilot']}; best of the fixed K: {found['best']}")
        for policy, row in found["policies"].items():
            words = "{loss:.4f} ± {error:.4f}  {above_best:+.4f} ± {half_width:.4f}".format(**row)
            print(f"  {policy:45} {words}")


def main() -> None:
    benchmark = Benchmark.asked("streams", __doc__)
    given = benchmark.given
    base = replace(benchmark.study(), labels="classes", eta=given.eta, steps=given.steps)
    one = lambda name: measured(base, name, benchmark)  # noqa: E731
    show(benchmark.measure(benchmark.begin(base), STREAMS[given.dataset], one))


if __name__ == "__main__":
    main()
