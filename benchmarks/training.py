"""Speed of the batched engine, against one client at a time.

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

from benchmarks.common import gpu_clock, parser_of, settings, timed
from benchmarks.runner import chunks, posed
from empirics import PRESETS, Dataset, Study
from empirics.control.registry import make_policy
from empirics.control.released import CONSTANTS
from empirics.control.schedule import brief_for, plan
from empirics.data import load
from empirics.training.device import choose_device
from empirics.training.engine import Engine
from empirics.training.twin import run_twin


def main() -> None:
    given = parser_of("training", __doc__).parse_args()
    if given.threads:
        torch.set_num_threads(given.threads)
    device, chosen = choose_device(given.device), given.only.split(",")
    sizes = settings("training")["quick" if given.quick else "full"]
    host = f"host with {torch.get_num_threads()} threads, {platform.machine()}"
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU alone"
    print(f"hardware: {name}; {host}; torch {torch.__version__}, python {platform.python_version()}")
    if "control" in chosen:  # first, so that its memory is not hidden under the others'
        control_alone(**sizes["control"])
    if chosen == ["control"]:
        return
    data = load("mnist", given.data_dir) if given.data_dir else _random_images(sizes["images"])
    shown = "MNIST" if given.data_dir else "random, of the shape of MNIST"
    print(f"data: {shown}, {len(data.train_y):,} samples")
    for name, work in (("learning", learning), ("twin", against_the_twin), ("clients", many_clients)):
        if name in chosen:
            work(data, device, **sizes[name])


def _random_images(samples: int) -> Dataset:
    rng, counts = np.random.default_rng(0), (samples, 10000)
    parts = [(rng.random((n, 1, 28, 28), dtype=np.float32), rng.integers(0, 10, n)) for n in counts]
    return Dataset.of("random", *parts, 10)


def _seconds(work: Callable[[], Any], device: torch.device, repeats: int = 1) -> list[float]:
    return timed(work, repeats, gpu_clock if device.type == "cuda" else time.perf_counter)[1]


def _played(study: Study, data: Dataset, device: torch.device, repeats: int = 1) -> list[float]:
    """Median seconds of a study without its folder: all, those of its schedule, and the others."""
    (problem, constants), planned = posed(study, device=str(device), dataset=data), []

    def play() -> None:
        engine = Engine(problem.model, study, problem.streams)
        every, seconds = timed(lambda: list(chunks(study, constants)))
        planned.extend(seconds)
        for rounds in every:
            engine.play(rounds)

    whole = np.array(_seconds(play, device, repeats))
    return [float(np.median(one)) for one in (whole, planned, whole - planned)]


def learning(data: Dataset, device: torch.device, rounds: int, repeats: int) -> None:
    """MNIST, multinomial logistic regression, 4 policies, 10 seeds, 10 clients, E = 10, accuracy every round."""
    study = replace(PRESETS["paper"], rounds=rounds)
    whole, _, rest = _played(study, data, device, repeats)
    print(
        f"learning: {study.runs} runs x {study.clients} clients x {rounds} rounds, E = {study.steps}, accuracy every "
        f"round: {whole:.2f} s, of which {rest:.2f} s train ({rest / rounds * 1e3:.2f} ms a round of all runs); "
        f"median of n = {repeats}"
    )


def against_the_twin(data: Dataset, device: torch.device, rounds: int, alone: int) -> None:
    """Seconds of one run's round, batched and one client at a time, on the same device, without measurements."""
    study = replace(PRESETS["paper"], rounds=rounds, measures=(), checkpoint=rounds)
    problem, constants = posed(study, device=str(device), dataset=data)
    engine, rounds_of = Engine(problem.model, study, problem.streams), plan(study, constants)
    engine.play(rounds_of)  # warm, and the graphs are recorded
    batch = statistics.median(_seconds(lambda: engine.play(rounds_of), device, 3)) / rounds / study.runs
    policy = make_policy("constant", brief_for(study, constants))
    run_twin(problem, policy, 0, rounds=2, measure=False)
    run = partial(run_twin, problem, policy, rounds=alone, measure=False)
    twin = statistics.median(_seconds(partial(run, s), device)[0] for s in range(3)) / alone
    print(
        f"twin: one run's round takes {batch * 1e6:.1f} µs in the batch of {study.runs} and {twin * 1e6:.0f} µs one "
        f"client at a time: {twin / batch:.0f}x; median of n = 3 times {rounds} and {alone} rounds"
    )


def many_clients(data: Dataset, device: torch.device, rounds: int) -> None:
    study = replace(PRESETS["paper"], buffers=(8, 9, 10, 11, 12) * 200, budget=5500.0)
    study = replace(study, policies=("constant",), seeds=1, rounds=rounds)
    seconds, planned, _ = _played(study, data, device)
    print(
        f"clients: 1,000 in one run: {seconds / rounds * 1e3:.2f} ms a round, accuracy included, of which "
        f"{planned / rounds * 1e3:.2f} ms plan; n = {rounds}"
    )


def control_alone(rounds: int, runs: int) -> None:
    """The control loop of ACDPP without training: its memory must not grow with the rounds."""
    study = Study(policies=("acdpp",), seeds=runs, rounds=rounds)
    spent, begin, peaks = np.zeros(runs), time.perf_counter(), []
    for chunk in chunks(study, CONSTANTS):
        spent += (chunk.cost * chunk.admissions.sum(axis=2)).sum(axis=0)
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    seconds = time.perf_counter() - begin
    early, late = (peak / (2**20 if sys.platform == "darwin" else 2**10) for peak in (peaks[0], peaks[-1]))
    print(
        f"control: {rounds:,} rounds of {runs:,} runs in {seconds:.1f} s ({seconds / rounds * 1e3:.2f} ms a round); "
        f"resident {early:.0f} MiB after the first chunk, {late:.0f} MiB at the end; mean cost "
        f"{spent.mean() / rounds:.3f} of {study.budget:g} a round; n = 1"
    )


if __name__ == "__main__":
    main()
