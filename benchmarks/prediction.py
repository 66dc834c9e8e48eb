"""How fast a prediction is, against the training that it replaces. Run from the repository root:

    python -m benchmarks.prediction
    python -m benchmarks.prediction --rounds 1000000 --seeds 20
    python -m benchmarks.prediction --dataset mnist --data-dir DIR --rounds 300 --seeds 10 --stretch 5

Predicts constant admission on the digits study (E = 10), or the same on other data, for so many rounds, and trains a
stretch of it with as many seeds, whose time is scaled up to all rounds. The first prediction of a process is timed
with all it loads, the others alone; every line says the hardware and how often it was timed (n).
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import replace
from pathlib import Path

import torch

from benchmarks.hardware import hardware
from empirics.control.schedule import Schedule
from empirics.prediction.forecast import Outlook
from empirics.settings.presets import PRESETS
from empirics.training.constants import calibrate
from empirics.training.engine import Engine
from empirics.training.problem import make_problem

TIMES = 5


def main() -> None:
    """Parse, predict, train, and print the ratio."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=10**6)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--stretch", type=int, default=300, help="rounds that are trained")
    parser.add_argument("--dataset", default="digits")
    parser.add_argument("--labels", default="parity")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    torch.set_num_threads(1)
    study = replace(
        PRESETS["digits"],
        dataset=given.dataset,
        labels=given.labels,
        policies=("constant",),
        rounds=given.rounds,
        seeds=given.seeds,
        measures=("risk",),
        checkpoint=given.stretch,
    )
    print(hardware())
    print(study.task)
    began = time.perf_counter()
    problem = make_problem(study, given.device, given.data_dir)
    constants = calibrate(problem).constants.merged
    loaded = time.perf_counter() - began
    predictions = []
    for _ in range(TIMES):
        began = time.perf_counter()
        forecast = Outlook.of(problem, constants).forecasts()["constant"]
        predictions.append(time.perf_counter() - began)
    predicted = statistics.median(predictions)
    engine = Engine(problem.model, study, problem.streams)
    rounds = Schedule(study, constants).advance(given.stretch)
    began = time.perf_counter()
    engine.play(rounds)
    trained = (time.perf_counter() - began) / given.stretch * given.rounds
    print(f"data and constants: {loaded:.2f} s (n = 1)")
    timed = f"{predicted:.2f} s (median, n = {TIMES}; first {predictions[0]:.2f} s)"
    found = f"cumulative excess risk {forecast.cumulative:.6g}, noise floor {forecast.noise_floor:.4g}"
    print(f"prediction of {given.rounds:,} rounds: {timed}: {found}")
    print(
        f"training of {given.seeds} seeds: {trained:,.0f} s, scaled up from {given.stretch} rounds (n = 1): "
        f"{trained / predicted:,.0f} times the prediction; of one seed in such a batch "
        f"{trained / given.seeds / predicted:,.0f} times"
    )


if __name__ == "__main__":
    main()
