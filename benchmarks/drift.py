"""What is predicted of a population that moves, held against what is measured. Run from the repository root:

    python -m benchmarks.drift
    python -m benchmarks.drift --dataset mnist --device cuda --data-dir data/mnist --out mnist.json

`prediction`: every policy under gradual and periodic drift of classes, labels and inputs, each predicted before it is
trained; cumulative excess risk, with the standard error of the mean over the seeds, and predicted over measured.
`retention`: constant admission at several K, under labels that go and come back at four speeds; which K is best by what
was predicted, which by what was measured, and whether a paired t-test at the 5 % level tells the two apart.

With `--out` what is finished is kept: asked again, the rest is done.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.kept import PRESET, asked, begun, continued, write
from empirics.control.schedule import Schedule
from empirics.prediction.curves import StudyForecaster
from empirics.results.measures import with_excess
from empirics.settings.drift import PARTS, Drift
from empirics.settings.study import Study
from empirics.training.constants import calibrate
from empirics.training.device import threads
from empirics.training.engine import Engine
from empirics.training.problem import Problem, make_problem
from empirics.training.risk import Least
from theory.numbers.student import half_width

POLICIES = (
    "constant",
    "constant@average=exponential,average_by=0.9",
    "acdpp",
    "acdpp-capped",
    "buy-cheap-online",
    "hybrid",
    "burst",
    "taper",
    "released",
    "oracle",
)
RETENTIONS, LONGER = (1, 2, 3, 5, 7, 10, 14, 20), (28, 40)  # the longer ones where the best is long
PERIODS = (20, 50, 100, 400)


def studies(base: Study) -> dict[str, Study]:
    """All that is measured, by name."""
    T, found = base.rounds, {}
    kinds = {"gradual": {"start": T // 5, "length": 3 * T // 5}, "periodic": {"length": T // 2}}
    for kind, given in kinds.items():
        for parts in PARTS:
            drift = Drift(kind=kind, parts=parts, **given)
            found[f"prediction: {kind}, {parts}"] = replace(base, policies=POLICIES, drift=drift)
    for period in PERIODS:
        kept = tuple(f"constant@K={K}" for K in (*RETENTIONS, *(LONGER if period == min(PERIODS) else ())))
        drift = Drift(kind="periodic", parts="labels", length=period)
        found[f"retention: {period} rounds a period"] = replace(base, policies=kept, drift=drift)
    return found


def measured(study: Study, given: argparse.Namespace, known: dict[str, Least]) -> dict[str, Any]:
    """Cumulative excess risk of every policy: predicted, and then trained. `known` is the least risk of mixtures of
    parts, which is the same for all studies of these parts."""
    begun = time.monotonic()
    with threads(study, "take fewer seeds or policies"):
        problem = make_problem(study, given.device, given.data_dir)
        if study.drift.parts in known:
            vars(problem)["least"] = known[study.drift.parts]
        least = problem.least
        assert least is not None
        known[study.drift.parts] = least
        constants = calibrate(problem).constants.merged
        ready = time.monotonic()
        told = StudyForecaster.of(problem, constants).forecasts()
        foretold = time.monotonic()
        sums = trained(problem, Schedule(study, constants), least)
    each = dict(zip(study.policies, sums, strict=True))
    found = {
        name: {
            "measured": float(each[name].mean()),
            "error": float(each[name].std(ddof=1) / np.sqrt(study.seeds)),
            "predicted": told[name].cumulative,
        }
        for name in study.policies
    }
    best = min(found, key=lambda name: found[name]["measured"])
    chosen = min(found, key=lambda name: found[name]["predicted"])
    apart = each[chosen] - each[best]
    loss = {
        "more": float(apart.mean()),
        "half_width": float(half_width(apart, 0.95)) if chosen != best else 0.0,
    }
    ends = {"least": ready - begun, "predicted": foretold - ready, "trained": time.monotonic() - foretold}
    seconds = {name: round(took, 1) for name, took in ends.items()}
    return {"policies": found, "best": best, "chosen": chosen, "loss": loss, "seconds": seconds}


def trained(problem: Problem, schedule: Schedule, least: Least) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Σ over all rounds of the excess risk, (policies, seeds)."""
    study, engine, found = problem.study, Engine(problem.model, problem.study, problem.streams), []
    while schedule.round <= study.rounds:
        rounds = schedule.advance(min(study.checkpoint, study.rounds - schedule.round + 1))
        found.append(with_excess(study, engine.play(rounds), least, rounds.first)["excess_risk"])
    return np.concatenate(found).sum(axis=0).reshape(len(study.policies), study.seeds)


def show(document: dict[str, Any]) -> None:
    """As tables."""
    print(f"{document['study']}\n{document['command']}\n{document['hardware']}")
    for name, found in document["studies"].items():
        took = found["seconds"]
        print(f"\n{name} ({took['predicted']:.0f} s predicted, {took['trained']:.0f} s trained)")
        for policy, row in found["policies"].items():
            ratio = row["predicted"] / row["measured"]
            print(f"  {policy:45} {row['measured']:8.2f} ± {row['error']:.2f}  {ratio:.3f}")
        if name.startswith("retention"):
            loss = found["loss"]
            words = (
                f"{loss['more']:+.2f} ± {loss['half_width']:.2f}"
                if found["chosen"] != found["best"]
                else "the same"
            )
            print(f"  best {found['best']}, predicted {found['chosen']}: {words}")


def main() -> None:
    """Parse, measure what is not there yet, print, and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", default="digits", choices=list(PRESET))
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="studies whose name begins so")
    given, own, end = asked(parser, show)
    base, document = begun(given, own, "drift")
    document = continued(document, given.out)
    known: dict[str, Least] = {}
    for name, study in studies(base).items():
        if name.startswith(given.only) and name not in document["studies"] and time.monotonic() < end:
            document["studies"][name] = measured(study, given, known)
            write(document, given.out)
    show(document)


if __name__ == "__main__":
    main()
