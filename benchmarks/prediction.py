"""Time of a prediction, against the training that it replaces. Run from the repository root:

    python -m benchmarks.prediction
    python -m benchmarks.prediction --rounds 1000000 --seeds 20
    python -m benchmarks.prediction --dataset mnist --data-dir DIR --rounds 300 --seeds 10 --stretch 3 --all --times 1

Predicts constant admission on the digits study (E = 10), or on other data, and trains a stretch with as many seeds,
whose time is scaled up to all rounds. `--part` sets the members of a sample of a large population, and `--all-axes`
follows mean paths along all axes, all eigenvectors included: their results show what a smaller sample costs. Times
are processor time; on a GPU wall time, and then the stretch should be all rounds, since the first are recorded. The
first prediction includes loading. Each line has its number of repetitions n, and the estimate by which `acdpp train`
decides whether to predict.
"""

import statistics
import time
from dataclasses import replace

import torch

from benchmarks.hardware import hardware, timed
from benchmarks.options import parser_of
from empirics import PRESETS
from empirics.control.schedule import Schedule
from empirics.prediction import eigenbasis, loss_landscape, subsample
from empirics.prediction.study_forecaster import StudyForecaster
from empirics.prediction.time_estimate import prediction_seconds, training_seconds
from empirics.training.constants import calibrate
from empirics.training.engine import Engine
from empirics.training.problem import make_problem


def main() -> None:
    given = parser_of("prediction", __doc__).parse_args()
    torch.set_num_threads(1)
    loss_landscape.SUBSAMPLE_SIZE = given.part or loss_landscape.SUBSAMPLE_SIZE
    if given.all_axes:
        subsample.AXES_SHARE_FOLLOWED = subsample.AXES_SHARE_SEEN
        eigenbasis.HESSIAN_PARAMETERS_MAX = 10**6
    digits = PRESETS["digits"]
    policies = digits.policies if given.all else ("constant",)
    measures = ("risk",) if given.risk_alone else digits.measures
    study = replace(digits, dataset=given.dataset, labels=given.labels, policies=policies, measures=measures)
    study = replace(study, rounds=given.rounds, seeds=given.seeds, checkpoint=given.stretch)
    print(hardware(), study.task, sep="\n")
    clock = time.perf_counter if given.device != "cpu" else time.process_time
    began = clock()
    problem = make_problem(study, given.device, given.data_dir)
    constants = calibrate(problem).constants.merged
    loaded = clock() - began
    predict = lambda: StudyForecaster.of(problem, constants).forecasts()  # noqa: E731
    forecasts, predictions = timed(predict, given.times, clock)
    predicted = statistics.median(predictions)
    engine = Engine(problem.model, study, problem.streams)
    rounds = Schedule(study, constants).advance(given.stretch)
    _, (played,) = timed(lambda: engine.play(rounds), clock=clock)
    trained = played / given.stretch * given.rounds
    print(f"data and constants: {loaded:.2f} s (n = 1)")
    shown = f"{predicted:.2f} s (median, n = {given.times}; first {predictions[0]:.2f} s)"
    print(f"prediction of {given.rounds:,} rounds: {shown}, taken for {prediction_seconds(problem):.1f} s")
    for name, forecast in forecasts.items():
        errors = forecast.errors or {}
        risks = zip(("cumulative", "final", "in the long run"), forecast.document().items(), strict=True)
        spread = {key: f" ± {error:.2g}" for key, error in errors.items()}
        each = [f"{word} {value:.5g}{spread.get(key, '')}" for word, (key, value) in risks]
        print(f"  {name}: excess risk {', '.join(each)}")
    print(
        f"training of {study.runs} runs: {trained:,.0f} s, scaled up from {given.stretch} rounds (n = 1), taken for "
        f"{training_seconds(problem):,.0f} s: {trained / predicted:,.3g} times the prediction, "
        f"{trained / (loaded + predicted):,.3g} times with data and constants"
    )


if __name__ == "__main__":
    main()
