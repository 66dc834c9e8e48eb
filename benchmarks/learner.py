"""Gains of learner and policy, alone and together, at equal cost and equal computation.

Trains each policy with the paper's learner (last iterates, constant step size) and with ours (a polynomial mean of
models, falling steps) on the same prices and samples, in one batch per price process, and prints cumulative and final
excess risk with 95 % intervals. `gradients` are those that clients compute: samples in memory times local steps, over
all rounds. `constant` with fewer steps is constant admission at the computation of `taper-online`; at uniform prices
`taper` is also trained with one thing of our learner changed. `bound` is a lower bound on the guarantee of any method
that buys at best for the same money, knowing all prices, if losses were quadratic and samples Gaussian
(`LossLandscape.least_final_risk`).

With `--predict RESULT`, a file of measurements, nothing is trained: the policies with our learner are predicted on
the same prices, and predicted over measured is printed and written, with the processor seconds of the prediction and
an estimate of those of training.

A study that --seconds stops continues from its last checkpoint in the folder beside --out.
"""

import json
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.buying import price_names, priced
from benchmarks.common import settings, timed
from benchmarks.runner import Benchmark, markdown, posed, training_seconds
from empirics import Prices, Study, make_prices, read_result, run_study
from empirics.control.schedule import Schedule
from empirics.prediction.loss_landscape import landscape_of
from empirics.prediction.study_forecaster import StudyForecaster
from empirics.settings.policy_name import PolicyName
from empirics.training.problem import Problem
from theory.market.knapsack import purchase_limit
from theory.market.lower_bound import most_samples
from theory.market.prices import Atoms
from theory.numbers.student import quantile
from theory.setting import Constants, SettingError

SETTINGS = settings("learner")
RISKS = ("cumulative_excess_risk", "final_excess_risk")


class Late(Exception):
    """No time is left."""


def main() -> None:
    benchmark = Benchmark.asked("learner", __doc__)
    base, given = benchmark.study(), benchmark.given
    processes = price_names(given.prices)
    if given.predict:
        before = json.loads(given.predict.read_text(encoding="utf-8"))["studies"]
        torch.set_num_threads(1)
        predict = lambda name: predicted(base, name, benchmark, before[name]["policies"])  # noqa: E731
        benchmark.measure(benchmark.begin(base), processes, predict)
        return
    document = benchmark.begin(base, eta=[base.eta, given.eta])
    with tempfile.TemporaryDirectory() as beside:
        parts = Path(beside) if given.out is None else given.out.with_suffix(".parts")
        try:
            benchmark.measure(document, processes, lambda name: measured(base, name, benchmark, parts / name))
        except Late:
            print(f"{len(document['studies'])} price processes are done: run again for the rest")
    show(document)


def measured(base: Study, prices: str, benchmark: Benchmark, place: Path) -> dict[str, Any]:
    """Risks, costs and computation of every variant, and the bound."""
    began, given = time.monotonic(), benchmark.given
    study, cost = priced(base, prices)
    problem, constants = posed(study, **benchmark.place)
    paid = make_prices(study.cost if cost is None else cost)
    ours = {"eta": given.eta, "decay": given.decay, "average": "polynomial", "average_by": given.gamma}
    names = variants(study, constants, paid, ours)
    if prices == "uniform":
        names += tuple(_having(SETTINGS["best"], ours | one) for one in SETTINGS["changed"])
    study = replace(study, policies=names)

    def progress(done: int) -> None:
        if time.monotonic() > benchmark.end:
            raise Late

    progress(0)
    resume = place.exists()
    summary = run_study(study, place, cost=cost, progress=progress, resume=resume, **benchmark.place)
    rows = read_result(place, ["policy", "n"]).rows.group_by("policy").aggregate([("n", "sum")])
    visits = dict(zip(rows["policy"].to_pylist(), rows["n_sum"].to_pylist(), strict=True))
    shutil.rmtree(place)
    bound = bound_of(problem, paid)
    found = {}
    for name, row in summary["policies"].items():
        overspent = max(row["mean_cost"]["mean"] - study.budget, 0.0) * study.rounds
        least = bound and bound(overspent)
        found[name] = {
            **{key: interval(row[key], study.seeds) for key in RISKS},
            "mean_cost": row["mean_cost"]["mean"],
            "samples": row["distinct_samples"]["mean"],
            "gradients": visits[name] / study.seeds * study.of_policy(name).steps,
            "bound": least,  # for the money that it spent
            "final_over_bound": least and row["final_excess_risk"]["mean"] / least,
        }
    return {"seconds": round(time.monotonic() - began), "policies": found}


def _having(policy: str, own: dict[str, Any]) -> str:
    """A policy with settings of its own; false leaves one out."""
    return PolicyName(policy).having(**{key: value for key, value in own.items() if value is not False})


def variants(base: Study, constants: Constants, prices: Prices, ours: dict[str, Any]) -> tuple[str, ...]:
    """All policies with both learners, and constant admission with ours at the computation of the frugal one."""
    study = replace(base, policies=("constant", SETTINGS["frugal"]))
    played = Schedule(study, constants, prices=prices).advance(study.rounds)
    constant, frugal = played.occupancy.sum(axis=(0, 2)).reshape(2, -1).mean(axis=1)
    fewer = max(round(float(study.steps * frugal / constant)), 1)
    policies = SETTINGS["policies"]
    with_ours = (_having(name, ours) for name in policies)
    return (*policies, *with_ours, _having("constant", ours | {"steps": fewer}))


def bound_of(problem: Problem, prices: Prices) -> Callable[[float], float] | None:
    """The bound by the money overspent, from the most samples that it buys on average; None where it is undefined."""
    try:
        land = landscape_of(problem)
    except SettingError:
        return None
    study, places = problem.study, sum(problem.study.buffers)
    (paths,) = prices.chunks(study.seed, study.seeds, study.rounds, study.rounds)
    limits = [purchase_limit(Atoms.of(path.tolist()), places, study.budget) for path in paths.T]

    def bound(overspent: float) -> float:
        each = [float(most_samples(limit, study.rounds, overspent)) for limit in limits]
        return land.least_final_risk(float(np.minimum(each, places * study.rounds).mean()))

    return bound


def interval(found: dict[str, float], seeds: int) -> dict[str, float | None]:
    """Mean and 95 % interval; one seed has no interval."""
    if seeds == 1:
        return {"mean": found["mean"], "low": None, "high": None}
    half = float(quantile(seeds, 0.95)) * found["error"]
    return {"mean": found["mean"], "low": found["mean"] - half, "high": found["mean"] + half}


def predicted(base: Study, prices: str, benchmark: Benchmark, before: dict[str, Any]) -> dict[str, Any]:
    study, cost = priced(base, prices)
    problem, constants = posed(study, **benchmark.place)
    measured = {name: row for name, row in before.items() if _learner(PolicyName(name)) == "ours"}
    alone = replace(problem, study=replace(study, policies=(next(iter(measured)),)))
    training = training_seconds(alone, constants, SETTINGS["timed_rounds"], time.process_time)
    paid = make_prices(study.cost if cost is None else cost)
    survey = lambda: StudyForecaster.of(problem, constants, prices=paid)  # noqa: E731
    forecaster, (took,) = timed(survey, clock=time.process_time)
    found = {}
    for name, row in measured.items():
        one = replace(forecaster, study=replace(study, policies=(name,)))
        forecasts, (seconds,) = timed(one.forecasts, clock=time.process_time)
        forecast = forecasts[name]
        risks = {"cumulative": forecast.cumulative, "final": float(forecast.risk[-1])}
        found[name] = {
            "predicted": risks,
            "error": forecast.errors,
            "over_measured": {key: value / row[f"{key}_excess_risk"]["mean"] for key, value in risks.items()},
            "fitted": forecast.fitted,
            "seconds": seconds,
        }
        print(prices, name, found[name], flush=True)
    return {"survey_seconds": took, "training_seconds_a_policy": training, "policies": found}


def show(document: dict[str, Any]) -> None:
    print(f"{document['study']}\n{document['hardware']}\n{document['command']}")
    for prices, study in document["studies"].items():
        print(f"\n{prices} prices, {study['seconds']} s\n\n{table(study)}")


def table(study: dict[str, Any]) -> str:
    """Markdown: a line per policy and learner."""
    lines = [["policy", "learner", "cumulative", "final x 1000", "final over bound", "gradients", "cost"]]
    for name, row in study["policies"].items():
        policy, over = PolicyName(name), row["final_over_bound"]
        risks = []
        for one, scale in ((row[RISKS[0]], 1), (row[RISKS[1]], 1000)):
            half = "" if one["low"] is None else f" ± {scale * (one['high'] - one['low']) / 2:.2g}"
            risks.append(f"{scale * one['mean']:.3g}{half}")
        ends = ["" if over is None else f"{over:.2f}", f"{row['gradients']:.3g}", f"{row['mean_cost']:.1f}"]
        lines.append([policy.base, _learner(policy), *risks, *ends])
    return markdown(lines)


def _learner(policy: PolicyName) -> str:
    """The paper's or ours, and what is changed in it."""
    own = policy.own
    if "average" not in own:
        return "paper's"
    changed = {
        "last iterate": own["average"] == "none",
        "steps of one size": "decay" not in own,
        "γ = 8": own.get("average_by") == 8,
        f"E = {own.get('steps')}": "steps" in own,
    }
    return ", ".join(["ours", *(words for words, is_so in changed.items() if is_so)])


if __name__ == "__main__":
    main()
