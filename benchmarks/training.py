"""Speed of the batched engine, against one client at a time. Run from the repository root:

    python -m benchmarks.training --device cuda --data-dir DIR --only learning,twin,clients
    python -m benchmarks.training --device cpu --quick

Every line says what was timed, on which hardware and how often (n). Without --data-dir the images are random,
of MNIST's shape: the time does not depend on what they show.
"""

import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch

from benchmarks.hardware import gpu_clock, timed
from benchmarks.options import parser_of
from benchmarks.runner import chunks
from empirics import PRESETS, Dataset, Study
from empirics.control.registry import make_policy
from empirics.control.released import CONSTANTS
from empirics.control.schedule import brief_for, plan
from empirics.data import load
from empirics.training.constants import calibrate
from empirics.training.device import choose_device
from empirics.training.engine import Engine
from empirics.training.problem import Problem, from_dataset
from empirics.training.twin import run_twin
from theory.setting import Constants


def main() -> None:
    given = parser_of("training", __doc__).parse_args()
    if given.threads:
        torch.set_num_threads(given.threads)
    device, quick, chosen = choose_device(given.device), given.quick, given.only.split(",")
    print(_hardware(device))
    if "control" in chosen:  # first, so that its memory is not hidden under the others'
        control_alone(rounds=1_000 if quick else 100_000, runs=100 if quick else 1_000)
    if chosen == ["control"]:
        return
    data = load("mnist", given.data_dir) if given.data_dir else _random_images(6000 if quick else 60000)
    shown = "MNIST" if given.data_dir else "random, of the shape of MNIST"
    print(f"data: {shown}, {len(data.train_y):,} samples")
    if "learning" in chosen:
        learning(data, device, rounds=100 if quick else 1000, repeats=1 if quick else 3)
    if "twin" in chosen:
        against_the_twin(data, device, quick=quick)
    if "clients" in chosen:
        many_clients(data, device, rounds=20 if quick else 100)


def _hardware(device: torch.device) -> str:
    threads = f"{torch.get_num_threads()} threads, {platform.machine()}"
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU alone"
    return f"hardware: {name}; host with {threads}; torch {torch.__version__}, python {platform.python_version()}"


def _random_images(samples: int) -> Dataset:
    rng, counts = np.random.default_rng(0), (samples, 10000)
    parts = [(rng.random((n, 1, 28, 28), dtype=np.float32), rng.integers(0, 10, n)) for n in counts]
    return Dataset.of("random", *parts, 10)


def _timed(work: Callable[[], Any], device: torch.device) -> tuple[Any, float]:
    """Result and seconds."""
    result, (seconds,) = timed(work, clock=gpu_clock if device.type == "cuda" else time.perf_counter)
    return result, seconds


def _play(problem: Problem, constants: Constants) -> float:
    """A study without its folder; returns the seconds of them that its schedule took."""
    engine = Engine(problem.model, problem.study, problem.streams)
    every, (planned,) = timed(lambda: list(chunks(problem.study, constants)))
    for rounds in every:
        engine.play(rounds)
    return planned


def learning(data: Dataset, device: torch.device, rounds: int, repeats: int) -> None:
    """MNIST, multinomial logistic regression, 4 policies, 10 seeds, 10 clients, E = 10, accuracy every round."""
    study = replace(PRESETS["paper"], rounds=rounds)
    problem = from_dataset(study, data, device)
    constants = calibrate(problem).constants.merged
    played = [_timed(partial(_play, problem, constants), device) for _ in range(repeats)]
    whole = statistics.median(seconds for _, seconds in played)
    rest = statistics.median(seconds - planned for planned, seconds in played)
    print(
        f"learning: {study.runs} runs x {study.clients} clients x {rounds} rounds, E = {study.steps}, accuracy every "
        f"round: {whole:.2f} s, of which {rest:.2f} s train ({rest / rounds * 1e3:.2f} ms a round of all runs); "
        f"median of n = {repeats}"
    )


def against_the_twin(data: Dataset, device: torch.device, *, quick: bool) -> None:
    """Seconds of one run's round, batched and one client at a time, on the same device, without measurements."""
    rounds, alone = (40, 10) if quick else (400, 20)
    study = replace(PRESETS["paper"], rounds=rounds, measures=(), checkpoint=rounds)
    problem = from_dataset(study, data, device)
    constants = calibrate(problem).constants.merged
    engine, rounds_of = Engine(problem.model, study, problem.streams), plan(study, constants)
    engine.play(rounds_of)  # warm, and the graphs are recorded
    batches = [_timed(lambda: engine.play(rounds_of), device)[1] / rounds / study.runs for _ in range(3)]
    policy = make_policy("constant", brief_for(study, constants))
    run_twin(problem, policy, 0, rounds=2, measure=False)
    run = partial(run_twin, problem, policy, rounds=alone, measure=False)
    twins = [_timed(partial(run, s), device)[1] / alone for s in range(3)]
    batch, twin = statistics.median(batches), statistics.median(twins)
    print(
        f"twin: one run's round takes {batch * 1e6:.1f} µs in the batch of {study.runs} and {twin * 1e6:.0f} µs one "
        f"client at a time: {twin / batch:.0f}x; median of n = 3 times {rounds} and {alone} rounds"
    )


def many_clients(data: Dataset, device: torch.device, rounds: int) -> None:
    """1,000 clients in one run."""
    study = replace(PRESETS["paper"], buffers=(8, 9, 10, 11, 12) * 200, budget=5500.0)
    study = replace(study, policies=("constant",), seeds=1, rounds=rounds)
    problem = from_dataset(study, data, device)
    constants = calibrate(problem).constants.merged
    planned, seconds = _timed(partial(_play, problem, constants), device)
    print(
        f"clients: 1,000 in one run: {seconds / rounds * 1e3:.2f} ms a round, accuracy included, of which "
        f"{planned / rounds * 1e3:.2f} ms plan; n = {rounds}"
    )


def control_alone(rounds: int, runs: int) -> None:
    """The control loop of ACDPP without training: its memory must not grow with the rounds."""
    study = Study(policies=("acdpp",), seeds=runs, rounds=rounds)
    spent, begin, early = np.zeros(runs), time.perf_counter(), 0.0
    for chunk in chunks(study, CONSTANTS):
        spent += (chunk.cost * chunk.admissions.sum(axis=2)).sum(axis=0)
        early = early or _resident()
    seconds = time.perf_counter() - begin
    print(
        f"control: {rounds:,} rounds of {runs:,} runs in {seconds:.1f} s ({seconds / rounds * 1e3:.2f} ms a round); "
        f"resident {early:.0f} MiB after the first chunk, {_resident():.0f} MiB at the end; mean cost "
        f"{spent.mean() / rounds:.3f} of {study.budget:g} a round; n = 1"
    )


def _resident() -> float:
    """Peak resident memory so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


if __name__ == "__main__":
    main()
