"""Time of a prediction, against the training that it replaces.

Predicts constant admission on the digits study (E = 10), or on other data, and trains a stretch with as many seeds,
whose time is scaled up to all rounds. `--part` sets the members of a sample of a large population, and `--all-axes`
follows mean paths along all axes, all eigenvectors included: their results show what a smaller sample costs. Times
are processor time; on a GPU wall time, and then the stretch should be all rounds, since the first are recorded. The
first prediction includes loading. Each line has its number of repetitions n, and the estimate by which `acdpp train`
decides whether to predict. `--cases` times the cases of studies/prediction.toml for a file.
"""

import statistics
import time
from argparse import Namespace
from dataclasses import replace
from typing import Any

import torch

from benchmarks.common import hardware, machine, parser_of, settings, timed
from benchmarks.runner import posed, training_seconds, write
from empirics import PRESETS
from empirics.prediction import eigenbasis, loss_landscape, subsample, time_estimate
from empirics.prediction.study_forecaster import StudyForecaster

SETTINGS = settings("prediction")


def main() -> None:
    given = parser_of("prediction", __doc__).parse_args()
    torch.set_num_threads(1)
    loss_landscape.SUBSAMPLE_SIZE = given.part or loss_landscape.SUBSAMPLE_SIZE
    if given.all_axes:
        subsample.AXES_SHARE_FOLLOWED = subsample.AXES_SHARE_SEEN
        eigenbasis.HESSIAN_PARAMETERS_MAX = 10**6
    print(hardware())
    asked = [{key: getattr(given, key) for key in SETTINGS["case"]}]
    rows = [one | timed_case(given, one) for one in (SETTINGS["cases"] if given.cases else asked)]
    named = ("dataset", "rounds", "seeds", "stretch", "times")
    sizes = " ".join(f"--{key} {getattr(given, key)}" for key in named)
    command = f"python -m benchmarks.prediction {sizes} --data-dir DIR --cases FILE"
    write({"command": command, "hardware": machine(), "cases": rows}, given.cases)


def timed_case(given: Namespace, case: dict[str, Any]) -> dict[str, float]:
    """Seconds of data and constants, of the prediction and of the training, printed with what is predicted."""
    own = {} if case["all"] else {"policies": ("constant",)}
    own |= {"measures": ("risk",)} if case["risk_alone"] else {}
    sizes = {"rounds": given.rounds, "seeds": given.seeds, "checkpoint": given.stretch}
    study = replace(PRESETS["digits"], dataset=given.dataset, labels=case["labels"], **sizes, **own)
    print(study.task)
    clock = time.perf_counter if given.device != "cpu" else time.process_time
    load = lambda: posed(study, device=given.device, data_dir=given.data_dir)  # noqa: E731
    (problem, constants), (loaded,) = timed(load, clock=clock)
    predict = lambda: StudyForecaster.of(problem, constants).forecasts()  # noqa: E731
    forecasts, predictions = timed(predict, given.times, clock)
    predicted = statistics.median(predictions)
    trained = training_seconds(problem, constants, given.stretch, clock)
    print(f"data and constants: {loaded:.2f} s (n = 1)")
    shown = f"{predicted:.2f} s (median, n = {given.times}; first {predictions[0]:.2f} s)"
    taken_for = time_estimate.prediction_seconds(problem)
    print(f"prediction of {given.rounds:,} rounds: {shown}, taken for {taken_for:.1f} s")
    for name, forecast in forecasts.items():
        risks = zip(("cumulative", "final", "in the long run"), forecast.document().items(), strict=True)
        spread = {key: f" ± {error:.2g}" for key, error in (forecast.errors or {}).items()}
        each = [f"{word} {value:.5g}{spread.get(key, '')}" for word, (key, value) in risks]
        print(f"  {name}: excess risk {', '.join(each)}")
    print(
        f"training of {study.runs} runs: {trained:,.0f} s, scaled up from {given.stretch} rounds (n = 1), taken for "
        f"{time_estimate.training_seconds(problem):,.0f} s: {trained / predicted:,.3g} times the prediction, "
        f"{trained / (loaded + predicted):,.3g} times with data and constants"
    )
    return {"data_and_constants": loaded, "prediction": predicted, "training": trained}


if __name__ == "__main__":
    main()
