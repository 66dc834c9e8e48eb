"""How fast a prediction is, against the training that it replaces. Run from the repository root:

    python -m benchmarks.prediction
    python -m benchmarks.prediction --rounds 1000000 --seeds 20
    python -m benchmarks.prediction --dataset mnist --data-dir DIR --rounds 300 --seeds 10 --stretch 3 --all --times 1

Predicts constant admission on the digits study (E = 10), or the same on other data, for so many rounds, and trains a
stretch of it with as many seeds, whose time is scaled up to all rounds; with `--all` every policy of the study; with
`--labels classes` of ten classes. Every round measures what the study does or, with `--risk-alone`, nothing but risk.
Samples of a large population have `--part` members, and `--all-axes` has mean paths along all axes, all eigenvectors
included: what it costs to see less.
Times are of one processor, whatever else it does; on a card they are of the clock, and the stretch should be all
rounds, for the first ones are recorded. The first prediction of a process is timed with all it loads, the others alone;
every line says how often it was timed (n), and what `acdpp train` estimates, by which it decides whether to predict.
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
from empirics.prediction import eigenbasis, loss_landscape, subsample
from empirics.prediction.curves import StudyForecaster
from empirics.prediction.time_estimate import prediction_seconds, training_seconds
from empirics.settings.presets import PRESETS
from empirics.training.constants import calibrate
from empirics.training.engine import Engine
from empirics.training.problem import make_problem


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
    parser.add_argument("--all", action="store_true", help="all policies of the study")
    parser.add_argument("--risk-alone", action="store_true", help="measure nothing else in training")
    parser.add_argument("--part", type=int, default=loss_landscape.SUBSAMPLE_SIZE, help="members of a sample")
    parser.add_argument("--all-axes", action="store_true", help="for mean paths, too")
    parser.add_argument("--times", type=int, default=5)
    given = parser.parse_args()
    torch.set_num_threads(1)
    loss_landscape.SUBSAMPLE_SIZE = given.part
    if given.all_axes:
        subsample.AXES_SHARE_FOLLOWED = subsample.AXES_SHARE_SEEN
        eigenbasis.HESSIAN_PARAMETERS_MAX = 10**6
    study = replace(
        PRESETS["digits"],
        dataset=given.dataset,
        labels=given.labels,
        rounds=given.rounds,
        seeds=given.seeds,
        checkpoint=given.stretch,
    )
    if not given.all:
        study = replace(study, policies=("constant",))
    if given.risk_alone:
        study = replace(study, measures=("risk",))
    print(hardware())
    print(study.task)
    clock = time.perf_counter if given.device != "cpu" else time.process_time
    began = clock()
    problem = make_problem(study, given.device, given.data_dir)
    constants = calibrate(problem).constants.merged
    loaded = clock() - began
    predictions = []
    for _ in range(given.times):
        began = clock()
        forecasts = StudyForecaster.of(problem, constants).forecasts()
        predictions.append(clock() - began)
    predicted = statistics.median(predictions)
    engine = Engine(problem.model, study, problem.streams)
    rounds = Schedule(study, constants).advance(given.stretch)
    began = clock()
    engine.play(rounds)
    trained = (clock() - began) / given.stretch * given.rounds
    print(f"data and constants: {loaded:.2f} s (n = 1)")
    timed = f"{predicted:.2f} s (median, n = {given.times}; first {predictions[0]:.2f} s)"
    print(f"prediction of {given.rounds:,} rounds: {timed}, taken for {prediction_seconds(problem):.1f} s")
    for name, forecast in forecasts.items():
        errors = forecast.errors or {}
        told = [
            f"{word} {value:.5g}" + (f" ± {errors[key]:.2g}" if errors else "")
            for word, (key, value) in zip(
                ("cumulative", "final", "in the long run"), forecast.document().items(), strict=True
            )
        ]
        print(f"  {name}: excess risk {', '.join(told)}")
    print(
        f"training of {study.runs} runs: {trained:,.0f} s, scaled up from {given.stretch} rounds (n = 1), taken for "
        f"{training_seconds(problem):,.0f} s: {trained / predicted:,.3g} times the prediction, "
        f"{trained / (loaded + predicted):,.3g} times with data and constants"
    )


if __name__ == "__main__":
    main()
