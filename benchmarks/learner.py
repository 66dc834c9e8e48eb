"""What learner and policy gain, alone and together, at equal cost and equal computation. Run from the repository root:

    python -m benchmarks.learner
    python -m benchmarks.learner --dataset mnist --eta 4 --device cuda --data-dir data/mnist --out mnist.json

Trains each policy with the paper's learner (last iterates of steps of one size) and with ours (a polynomial mean of
models, falling steps) on the same prices and samples, in one batch for each price process, and prints cumulative and
final excess risk with 95 % intervals. `gradients` are those that clients compute: samples in memory times local steps,
over all rounds. `constant` with fewer steps is constant admission at the computation of `taper-online`; at uniform
prices `taper` is also trained with one thing of our learner changed. `bound` is what nobody guarantees less than for
every minimiser, having bought at best for the same money, knowing all prices, if losses were quadratic and samples
Gaussian (`LossLandscape.least_final_risk`).

With `--predict RESULT`, a file of what was measured, nothing is trained: the policies with our learner are predicted
from the same prices, as far as a prediction plays them, and predicted over measured is printed and written, with the
seconds of processor time that it took and those that some rounds of training take, scaled up to all.

With `--out` what is finished is kept: asked again, what the file has not is trained. `--seconds` stops after so many,
and then a study goes on from its last checkpoint in the folder beside the file.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.buying import PRICES
from benchmarks.kept import PRESET, begun, continued, write
from empirics.control.prices import make_prices
from empirics.control.released import CONSTANTS as RELEASED
from empirics.control.schedule import Schedule
from empirics.prediction.curves import StudyForecaster
from empirics.prediction.loss_landscape import LossLandscape, landscape_of
from empirics.prediction.pilot import draw_pilot
from empirics.results.folder import read_result
from empirics.run import run_study
from empirics.settings.policy_name import PolicyName
from empirics.settings.study import Study
from empirics.training.constants import calibrate, smoothness
from empirics.training.engine import Engine
from empirics.training.linear import Linear
from empirics.training.problem import Problem, make_problem
from theory.market.knapsack import purchase_limit
from theory.market.lower_bound import most_samples
from theory.market.prices import Atoms
from theory.numbers.student import quantile
from theory.setting import Constants, SettingError

POLICIES = (
    "constant",
    "acdpp",
    "buy-cheap-online",
    "burst",
    "burst-online",
    "taper",
    "taper-online",
    "oracle",
)
FRUGAL = "taper-online"  # whose computation constant admission is given, too
BEST = "taper"  # that is trained with one thing changed: last iterates, steps of one size, weights j^8, fewer steps
CHANGED = ({"average": "none"}, {"decay": None}, {"average_by": 8}, {"steps": 3}, {"steps": 1})
LEVEL = 0.95
TIMED = 5  # rounds of training, to tell the time of all


class Late(Exception):
    """No time is left."""


def asked() -> tuple[argparse.Namespace, dict[str, Any]]:
    """The arguments, and those that matter to what is measured and are not the defaults."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", default="digits", choices=list(PRESET))
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1, help="1, since policies were chosen by what 0 brought")
    parser.add_argument("--eta", type=float, default=8.0, help="of our learner; the paper's has the preset's")
    parser.add_argument("--decay", type=float, default=20.0, help="of our learner")
    parser.add_argument("--gamma", type=float, default=2, help="of our learner's mean")
    parser.add_argument("--prices", default=",".join(PRICES))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--out", type=Path, help="a JSON file to write, or to go on with")
    parser.add_argument("--predict", type=Path, help="a JSON file of what was measured")
    parser.add_argument(
        "--pilot", type=int, help="samples of the data that a prediction sees; without it, all"
    )
    parser.add_argument("--policies", help="that are predicted, with a comma between them; without it, all")
    parser.add_argument("--table", type=Path, nargs="+", help="JSON files to show, without training")
    given = parser.parse_args()
    if unknown := set(given.prices.split(",")) - set(PRICES):
        parser.error(f"there are no {min(unknown)!r} prices: known are {', '.join(PRICES)}")
    passing = ("out", "seconds", "prices", "table")
    own = {key: v for key, v in vars(given).items() if v != parser.get_default(key) and key not in passing}
    return given, own


def main() -> None:
    """Parse, train what is not there yet, print, and write what was measured."""
    given, own = asked()
    if given.table:
        for path in given.table:
            show(json.loads(path.read_text(encoding="utf-8")))
        return
    end = time.monotonic() + given.seconds
    base, document = begun(given, own, "learner")
    if given.predict:
        predict(base, continued(document, given.out), given)
        return
    document["eta"] = [base.eta, given.eta]
    document = continued(document, given.out)
    with tempfile.TemporaryDirectory() as beside:
        parts = Path(beside) if given.out is None else given.out.with_suffix(".parts")
        try:
            for name in given.prices.split(","):
                known = document["studies"].get(name, {"policies": {}})
                document["studies"][name] = measured(base, name, given, parts / name, end, known)
                write(document, given.out)
        except Late:
            print(f"{len(document['studies'])} price processes are done: ask again for the rest")
    show(document)


# --- one price process -------------------------------------------------------------------------------------


def measured(
    base: Study, prices: str, given: argparse.Namespace, place: Path, end: float, known: dict[str, Any]
) -> dict[str, Any]:
    """Every variant's risks, costs and computation, and the bound; those that are known as they are."""
    began = time.monotonic()
    study, cost = PRICES[prices](base)
    problem = make_problem(study, given.device, given.data_dir)
    ours = {
        "eta": given.eta,
        "decay": given.decay,
        "average": "polynomial",
        "average_by": given.gamma,
    }
    names = variants(problem, cost, ours)
    if prices == "uniform":
        names += tuple(PolicyName(BEST).having(**_changed(ours, one)) for one in CHANGED)
    there = known["policies"]
    new = tuple(name for name in names if name not in there)
    if not new:
        return known | {"policies": {name: there[name] for name in names}}
    study = replace(study, policies=new)
    limit = most_bought(study, cost)

    def progress(done: int) -> None:
        if time.monotonic() > end:
            raise Late

    progress(0)
    summary = run_study(
        study,
        place,
        cost=cost,
        device=given.device,
        data_dir=given.data_dir,
        resume=place.exists(),
        progress=progress,
    )
    rows = read_result(place, ["policy", "n"]).rows.group_by("policy").aggregate([("n", "sum")])
    visits = dict(zip(rows["policy"].to_pylist(), rows["n_sum"].to_pylist(), strict=True))
    shutil.rmtree(place)
    land = surveyed(problem)
    found = {
        name: variant(study, name, row, visits[name] / study.seeds, limit, land)
        for name, row in summary["policies"].items()
    }
    policies = {name: (there | found)[name] for name in names}
    return {"seconds": round(time.monotonic() - began), "policies": policies}


# --- predicted, and measured before ------------------------------------------------------------------------


def predict(base: Study, document: dict[str, Any], given: argparse.Namespace) -> None:
    """Each policy with our learner, of each price process that is asked for: written as soon as it is done."""
    before = json.loads(given.predict.read_text(encoding="utf-8"))["studies"]
    for prices in given.prices.split(","):
        study, cost = PRICES[prices](base)
        problem = make_problem(study, given.device, given.data_dir)
        wanted = POLICIES if given.policies is None else given.policies.split(",")
        ours = {name: row for name, row in before[prices]["policies"].items() if _as_it_is(name)}
        measured = {name: row for name, row in ours.items() if PolicyName(name).base in wanted}
        torch.set_num_threads(1)
        whole, problem = problem, problem if given.pilot is None else draw_pilot(problem, given.pilot).problem
        constants = _constants(problem, wanted)
        took = _training_seconds(whole, next(iter(measured)), constants)
        began, there = time.process_time(), document["studies"]
        forecaster = StudyForecaster.of(
            problem, constants, prices=make_prices(study.cost if cost is None else cost)
        )
        survey = time.process_time() - began
        known = there.setdefault(
            prices, {"survey_seconds": survey, "training_seconds_a_policy": took, "policies": {}}
        )
        for name, row in measured.items():
            if name not in known["policies"]:
                known["policies"][name] = _foretold(forecaster, name, row)
                print(prices, name, known["policies"][name], flush=True)
                write(document, given.out)


def _constants(problem: Problem, wanted: Collection[str]) -> Constants:
    """Those that policies decide by; the variance, which takes long to find, only where acdpp is among them."""
    if "acdpp" in wanted:
        return calibrate(problem).constants.merged
    assert isinstance(problem.model, Linear)
    study = problem.study
    known = replace(RELEASED, eta=study.eta, E=study.steps, L=smoothness(problem, problem.model))
    return known.merged


def _as_it_is(name: str) -> bool:
    """Whether it has our learner, with nothing of it changed."""
    own = PolicyName(name).own
    return (
        own.get("average") == "polynomial"
        and "decay" in own
        and "steps" not in own
        and own.get("average_by") != 8
    )


def _foretold(forecaster: StudyForecaster, name: str, row: dict[str, Any]) -> dict[str, Any]:
    began = time.process_time()
    study = replace(forecaster.study, policies=(name,))
    forecast = replace(forecaster, study=study).forecasts()[name]
    risks = {"cumulative": forecast.cumulative, "final": float(forecast.risk[-1])}
    return {
        "predicted": risks,
        "error": forecast.errors,
        "over_measured": {key: value / row[f"{key}_excess_risk"]["mean"] for key, value in risks.items()},
        "fitted": forecast.fitted,
        "seconds": time.process_time() - began,
    }


def _training_seconds(problem: Problem, name: str, constants: Constants) -> float:
    """Of processor time, for all rounds and seeds of a policy, from a few rounds in which the risk is measured."""
    study = replace(problem.study, policies=(name,))
    rounds = Schedule(study, constants).advance(TIMED)
    engine = Engine(problem.model, study, problem.streams)
    began = time.process_time()
    engine.play(rounds)
    return (time.process_time() - began) * study.rounds / TIMED


def _changed(ours: dict[str, Any], one: dict[str, Any]) -> dict[str, Any]:
    """Our learner with one thing changed; a last iterate has no weights."""
    own = ours | one | ({"average_by": None} if one.get("average") == "none" else {})
    return {key: value for key, value in own.items() if value is not None}


def variants(problem: Problem, cost: Any, ours: dict[str, Any]) -> tuple[str, ...]:
    """All policies with both learners, and constant admission with ours at the computation of a frugal one."""
    study = replace(problem.study, policies=("constant", FRUGAL))
    prices = make_prices(study.cost if cost is None else cost)
    played = Schedule(study, calibrate(problem).constants.merged, prices=prices).advance(study.rounds)
    constant, frugal = played.occupancy.sum(axis=(0, 2)).reshape(2, -1).mean(axis=1)
    fewer = max(round(float(study.steps * frugal / constant)), 1)
    return (
        *POLICIES,
        *(PolicyName(name).having(**ours) for name in POLICIES),
        PolicyName("constant").having(**ours, steps=fewer),
    )


def most_bought(study: Study, cost: Any) -> Callable[[float], float]:
    """The most samples that anybody buys on these very prices, on average, by what is overspent."""
    prices = make_prices(study.cost if cost is None else cost)
    (paths,) = prices.chunks(study.seed, study.seeds, study.rounds, study.rounds)
    places = sum(study.buffers)
    limits = [purchase_limit(Atoms.of(path.tolist()), places, study.budget) for path in paths.T]

    def most(overspent: float) -> float:
        each = [float(most_samples(limit, study.rounds, overspent)) for limit in limits]
        return float(np.minimum(each, places * study.rounds).mean())

    return most


def surveyed(problem: Problem) -> LossLandscape | None:
    """What the bound has to know of the problem; None if it is not to be had."""
    try:
        return landscape_of(problem)
    except SettingError:
        return None


def variant(
    study: Study,
    name: str,
    row: dict[str, Any],
    visits: float,
    most: Callable[[float], float],
    land: LossLandscape | None,
) -> dict[str, Any]:
    """What is kept of a policy's summary, beside its computation and the bound for what it has spent."""
    overspent = max(row["mean_cost"]["mean"] - study.budget, 0.0) * study.rounds
    bound = None if land is None else land.least_final_risk(most(overspent))
    final = row["final_excess_risk"]["mean"]
    return {
        **{key: interval(row[key], study.seeds) for key in ("cumulative_excess_risk", "final_excess_risk")},
        "mean_cost": row["mean_cost"]["mean"],
        "samples": row["distinct_samples"]["mean"],
        "gradients": visits * study.of_policy(name).steps,
        "bound": bound,
        "final_over_bound": None if bound is None else final / bound,
    }


def interval(found: dict[str, float], seeds: int) -> dict[str, float | None]:
    """Mean, low and high; one seed has no interval."""
    if seeds == 1:
        return {"mean": found["mean"], "low": None, "high": None}
    half = float(quantile(seeds, LEVEL)) * found["error"]
    return {"mean": found["mean"], "low": found["mean"] - half, "high": found["mean"] + half}


# --- what was measured, in words ---------------------------------------------------------------------------


def show(document: dict[str, Any]) -> None:
    """A table for each price process."""
    print(f"{document['study']}\n{document['hardware']}\n{document['command']}")
    for prices, study in document["studies"].items():
        print(f"\n{prices} prices, {study['seconds']} s\n\n{table(study)}")


def table(study: dict[str, Any]) -> str:
    """Markdown: a line for each policy and learner."""
    heads = ["policy", "learner", "cumulative", "final x 1000", "final over bound", "gradients", "cost"]
    lines = [heads, ["---"] * len(heads)]
    for name, row in study["policies"].items():
        policy = PolicyName(name)
        over = row["final_over_bound"]
        lines.append(
            [
                policy.base,
                _learner(policy),
                _said(row["cumulative_excess_risk"], 1),
                _said(row["final_excess_risk"], 1000),
                "" if over is None else f"{over:.2f}",
                f"{row['gradients']:.3g}",
                f"{row['mean_cost']:.1f}",
            ]
        )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _learner(policy: PolicyName) -> str:
    """The paper's or ours, and what is changed of it."""
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


def split(result: dict[str, Any]) -> str:
    """Markdown: cumulative excess risk with neither, either and both of our policy and learner, and of the oracle."""
    heads = {
        "constant": ("constant", False),
        "policy alone": (FRUGAL, False),
        "learner alone": ("constant", True),
        "both": (FRUGAL, True),
        "oracle, ten times the cost": ("oracle", False),
        "with ours": ("oracle", True),
    }
    lines = [["prices", *heads], ["---"] * (1 + len(heads))]
    for prices, study in result["studies"].items():
        lines.append([prices, *(_said(_cumulative(study, *one), 1) for one in heads.values())])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cumulative(study: dict[str, Any], policy: str, ours: bool) -> dict[str, Any]:
    """Of the variant with all local steps, with the paper's learner or with ours."""
    (found,) = (
        row
        for name, row in study["policies"].items()
        for one in [PolicyName(name)]
        if one.base == policy and "steps" not in one.own and ("average" in one.own) == ours
    )
    risk: dict[str, Any] = found["cumulative_excess_risk"]
    return risk


def _said(found: dict[str, Any], scale: float) -> str:
    half = "" if found["low"] is None else f" ± {scale * (found['high'] - found['low']) / 2:.2g}"
    return f"{scale * found['mean']:.3g}{half}"


if __name__ == "__main__":
    main()
