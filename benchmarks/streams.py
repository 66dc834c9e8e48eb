"""Streams that are made, learnt in their order: how long to keep samples, told and measured.

No real stream is shipped here. Two are made from MNIST's training images, pooled to 14 × 14 pixels, with a time.
`classes` come and go: half of the ten are there at any time, and in a stream every one leaves and comes back twice.
`turning` images are turned by an angle that grows from 0 to a right angle and falls again, twice. Nine are made from
the bundled digits, with 20 images going by in a round: which classes there are, how images look or what they are
called changes, or nothing does (`DIGITS`). They were chosen before any was learnt, and none was left out. From
the repository root:

    python -m benchmarks.streams --device cuda --data-dir data/mnist --out streams.json
    python -m benchmarks.streams --dataset digits --rounds 300 --seed 7 --out streams.json

A pilot sample with its times says K for the study as it is, with an interval. Then constant admission at several K, and
of MNIST every policy, learn the stream in its order; what is averaged is the loss of each round's model on that round's
samples before it trains on them, with the standard error over seeds, which draw among the samples that go by.
Differences to the best K are paired over seeds. With `--out` what is finished is kept: asked again, the rest is done.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import rotate

from benchmarks.drift import POLICIES
from benchmarks.kept import asked, begun, continued, write
from empirics.control.schedule import Schedule
from empirics.data import load
from empirics.data.dataset import Dataset
from empirics.overrides import HandedOver
from empirics.prediction.curves import StudyForecaster
from empirics.prediction.drift_retention import drift_advice
from empirics.prediction.pilot import draw_pilot
from empirics.settings.drift import Drift
from empirics.settings.study import Study
from empirics.training.constants import calibrate
from empirics.training.device import threads
from empirics.training.engine import Engine
from empirics.training.problem import make_problem
from theory.numbers.student import half_width

RETENTIONS = {"mnist": (1, 2, 3, 5, 7, 10, 14, 20, 30), "digits": (*range(1, 11), 14, 20, 30)}
EACH, FEW = 100, 20  # samples that go by in a round, of MNIST and of the digits
SETTLED = 50  # rounds until the start is forgotten
PERIODS = 2  # of either change, in the whole stream
Floats = NDArray[np.float64]


def pooled(images: NDArray[np.float32]) -> NDArray[np.float32]:
    """Means of two by two pixels."""
    n, _, high, wide = images.shape
    found: NDArray[np.float32] = images.reshape(n, 1, high // 2, 2, wide // 2, 2).mean(axis=(3, 5))
    return found


def classes(data: Dataset, rounds: int, rng: np.random.Generator) -> dict[str, Any]:
    """Classes that come and go: c is there while the cosine of its phase is positive, and as often as that says."""
    pools = [np.flatnonzero(data.train_y == c) for c in range(data.classes)]
    found = []
    for t in range(rounds):
        phase = 2 * np.pi * (PERIODS * t / rounds - np.arange(data.classes) / data.classes)
        there = np.maximum(np.cos(phase), 0)
        drawn = rng.choice(data.classes, EACH, p=there / there.sum())
        found.append(np.array([rng.choice(pools[c]) for c in drawn]))
    index = np.concatenate(found)
    return {"x": pooled(data.train_x[index]), "y": data.train_y[index], "time": np.arange(len(index)) / EACH}


def turning(data: Dataset, rounds: int, rng: np.random.Generator) -> dict[str, Any]:
    """Images that turn: by a right angle and back, as a cosine."""
    index = rng.permutation(len(data.train_y))[np.arange(rounds * EACH) % len(data.train_y)]
    angle = 45 * (1 - np.cos(2 * np.pi * PERIODS * np.arange(rounds) / rounds))
    groups = index.reshape(rounds, EACH)
    turned = [
        rotate(data.train_x[one], by, axes=(3, 2), reshape=False, order=1)
        for one, by in zip(groups, angle, strict=True)
    ]
    x = pooled(np.concatenate(turned).clip(0, 1))
    return {"x": x, "y": data.train_y[index], "time": np.arange(len(index)) / EACH}


# --- of the digits -----------------------------------------------------------------------------------------


def _all(s: float) -> Floats:
    return np.ones(10)


def _one_after_another(s: float) -> Floats:
    """About two classes at a time, in a circle."""
    found: Floats = np.maximum(np.cos(2 * np.pi * (s - np.arange(10) / 10)), 0) ** 8
    return found


def _there_and_back(s: float) -> float:
    return float(1 - np.cos(2 * np.pi * s)) / 2


def _half_dark(images: Any, s: float) -> Any:
    return images * np.where(np.arange(images.shape[-1]) < images.shape[-1] // 2, 1 - _there_and_back(s), 1)


@dataclass(frozen=True)
class Made:
    """What of a stream changes, as functions of the share of it that has passed: how likely each class is, how images
    look, and what they are called."""

    there: Callable[[float], Floats] = _all
    seen: Callable[[Any, float], Any] = lambda images, s: images
    called: Callable[[Any, float], Any] = lambda labels, s: labels

    def __call__(self, data: Dataset, rounds: int, rng: np.random.Generator) -> dict[str, Any]:
        pools = [np.flatnonzero(data.train_y == c) for c in range(data.classes)]
        x, y = [], []
        for s in np.arange(rounds) / rounds:
            there = self.there(s)
            drawn = rng.choice(data.classes, FEW, p=there / there.sum())
            index = np.array([rng.choice(pools[c]) for c in drawn])
            x.append(self.seen(data.train_x[index].reshape(FEW, 8, 8), s).reshape(FEW, 64))
            y.append(self.called(data.train_y[index], s))
        time = np.arange(rounds * FEW) / FEW
        return {"x": np.concatenate(x).astype(np.float32), "y": np.concatenate(y), "time": time}


DIGITS = {
    "classes one after another": Made(there=_one_after_another),
    "the same, six times": Made(there=lambda s: _one_after_another(6 * s)),
    "even and odd, three times": Made(
        there=lambda s: np.abs(np.arange(10) % 2 - _there_and_back(3 * s)) + 1e-12
    ),
    "dimmed, twice": Made(seen=lambda images, s: images * (1 - 0.7 * _there_and_back(2 * s))),
    "left half dark, five times": Made(seen=lambda images, s: _half_dark(images, 5 * s)),
    "turned once round": Made(
        seen=lambda images, s: rotate(images, 360 * s, axes=(2, 1), reshape=False, order=1)
    ),
    "mirrored every 50 rounds": Made(seen=lambda images, s: images[..., :: (-1) ** int(6 * s)]),
    "called one more every 60 rounds": Made(called=lambda labels, s: (labels + int(5 * s)) % 10),
    "nothing": Made(),
}
STREAMS: dict[str, Any] = {"mnist": {"classes": classes, "turning": turning}, "digits": DIGITS}


def told(base: Study, data: dict[str, Any], given: argparse.Namespace) -> dict[str, Any]:
    """What a pilot sample says, at the study's step, without any curve."""
    study = HandedOver(data).named(replace(base, policies=("constant",), dtype="float64"))
    drawn = draw_pilot(make_problem(study, "cpu", dataset=data), given.pilot).problem
    forecaster = StudyForecaster.of(drawn, calibrate(drawn).constants.merged)
    found = drift_advice(forecaster, drawn)
    if found is None or isinstance(found, str):
        return {"q": None, "why": found}
    document = found.document()
    return {key: document[key] for key in ("q", "interval", "directions", "K", "K_interval")}


def losses(base: Study, names: tuple[str, ...], data: dict[str, Any], device: str) -> dict[str, Floats]:
    """Of each policy, on samples before they are trained on: each seed's mean over rounds."""
    study = replace(base, policies=names, rounds=base.rounds - 1, drift=Drift(kind="order"))
    with threads(study, "take fewer seeds"):
        problem = make_problem(study, device, dataset=data)
        schedule = Schedule(study, calibrate(problem).constants.merged)
        engine, found = Engine(problem.model, study, problem.streams), []
        while schedule.round <= study.rounds:
            rounds = schedule.advance(min(study.checkpoint, study.rounds - schedule.round + 1))
            found.append(engine.play(rounds)["risk"])
    late = np.concatenate(found)[min(SETTLED, study.rounds // 2) :].mean(axis=0)
    return dict(zip(names, late.reshape(len(names), study.seeds), strict=True))


def made(base: Study, name: str, given: argparse.Namespace) -> dict[str, Any]:
    """A stream."""
    rng = np.random.default_rng(given.seed)
    data: dict[str, Any] = STREAMS[given.dataset][name](load(given.dataset, given.data_dir), base.rounds, rng)
    return data


def measured(base: Study, name: str, given: argparse.Namespace) -> dict[str, Any]:
    """A stream: what a pilot sample says of it, and what every policy loses on it."""
    began = time.monotonic()
    data = made(base, name, given)
    there = time.monotonic()
    document: dict[str, Any] = {"pilot": told(base, data, given)}
    foretold = time.monotonic()
    kept = tuple(f"constant@K={K}" for K in RETENTIONS[given.dataset])
    names = (*kept, *POLICIES) if given.dataset == "mnist" else kept
    found = losses(base, names, data, given.device)
    best = min(kept, key=lambda one: found[one].mean())
    for policy, each in found.items():
        apart = each - found[best]
        document.setdefault("policies", {})[policy] = {
            "loss": float(each.mean()),
            "error": float(each.std(ddof=1) / np.sqrt(len(each))),
            "above_best": float(apart.mean()),
            "half_width": float(half_width(apart, 0.95)) if policy != best else 0.0,
        }
    took = {"made": there - began, "pilot": foretold - there, "trained": time.monotonic() - foretold}
    return document | {"best": best, "seconds": {key: round(value, 1) for key, value in took.items()}}


def show(document: dict[str, Any]) -> None:
    """As tables."""
    print(f"{document['study']}\n{document['command']}\n{document['hardware']}")
    for name, found in document["studies"].items():
        pilot, took = found["pilot"], found["seconds"]
        print(f"\n{name} ({', '.join(f'{seconds:.0f} s {doing}' for doing, seconds in took.items())})")
        print(f"  pilot: {pilot}; best of the fixed K: {found['best']}")
        for policy, row in found["policies"].items():
            words = f"{row['above_best']:+.4f} ± {row['half_width']:.4f}"
            print(f"  {policy:45} {row['loss']:.4f} ± {row['error']:.4f}  {words}")


def main() -> None:
    """Parse, measure what is not there yet, print, and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--eta", type=float, default=4.0)
    parser.add_argument("--steps", type=int, default=1, help="local steps E")
    parser.add_argument("--pilot", type=int, default=2000)
    parser.add_argument("--dataset", choices=list(STREAMS), default="mnist", help="what they are made from")
    parser.add_argument("--again", action="store_true", help="pilot samples of what was measured tell anew")
    given, own, end = asked(parser, show)
    base, document = begun(given, own, "streams")
    base = replace(base, labels="classes", eta=given.eta, steps=given.steps)
    document["study"] = f"{base.task}, {base.rounds} rounds, {base.seeds} seeds"
    document = continued(document, given.out)
    for name in STREAMS[given.dataset]:
        if name in document["studies"] and given.again:
            document["studies"][name]["pilot"] = told(base, made(base, name, given), given)
            write(document, given.out)
        if name not in document["studies"] and time.monotonic() < end:
            document["studies"][name] = measured(base, name, given)
            write(document, given.out)
    show(document)


if __name__ == "__main__":
    main()
