"""Predictions for a population that moves, against measurements.

`prediction`: every policy under gradual and periodic drift of classes, labels and inputs, predicted before it is
trained: cumulative excess risk with the standard error over seeds, and predicted over measured. `retention`: constant
admission at several K under periodic labels at four speeds: the best K by prediction, the best K by measurement, and
a paired t-test at the 5 % level between the two.
"""

import time
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.runner import Benchmark, above_best, mean_and_error, played, posed
from empirics import Study
from empirics.prediction.study_forecaster import StudyForecaster
from empirics.results.measures import with_excess
from empirics.settings.drift import PARTS, Drift
from empirics.training.device import threads
from empirics.training.risk import Least


def studies(base: Study, settings: dict[str, Any]) -> dict[str, Study]:
    T, found = base.rounds, {}
    kinds = {"gradual": {"start": T // 5, "length": 3 * T // 5}, "periodic": {"length": T // 2}}
    for kind, given in kinds.items():
        for parts in PARTS:
            drift = Drift(kind=kind, parts=parts, **given)
            found[f"prediction: {kind}, {parts}"] = replace(base, policies=settings["policies"], drift=drift)
    for period in settings["periods"]:
        longer = settings["retentions_longer"] if period == min(settings["periods"]) else []
        kept = tuple(f"constant@K={K}" for K in (*settings["retentions"], *longer))
        drift = Drift(kind="periodic", parts="labels", length=period)
        found[f"retention: {period} rounds a period"] = replace(base, policies=kept, drift=drift)
    return found


def measured(study: Study, benchmark: Benchmark, known: dict[str, Least]) -> dict[str, Any]:
    """Cumulative excess risk of every policy, predicted and then trained. `known` is the least risk of mixtures of
    parts, which all studies of these parts share."""
    begun = time.monotonic()
    with threads(study.threads, "take fewer seeds or policies"):
        problem, constants = posed(study, **benchmark.place)
        if study.drift.parts in known:
            vars(problem)["least"] = known[study.drift.parts]
        least = problem.least
        assert least is not None
        known[study.drift.parts] = least
        ready = time.monotonic()
        forecasts = StudyForecaster.of(problem, constants).forecasts()
        predicted = time.monotonic()
        every = played(problem, constants)
        excess = [with_excess(study, rows, least, first)["excess_risk"] for first, rows in every]
    sums = np.concatenate(excess).sum(axis=0).reshape(len(study.policies), study.seeds)
    each, found = dict(zip(study.policies, sums, strict=True)), {}
    for name, values in each.items():
        mean, error = mean_and_error(values)
        found[name] = {"measured": mean, "error": error, "predicted": forecasts[name].cumulative}
    best, chosen = (min(found, key=lambda name: found[name][by]) for by in ("measured", "predicted"))
    apart = above_best(each[chosen], each[best])
    loss = {"more": apart["above_best"], "half_width": apart["half_width"]}
    ends = {"least": ready - begun, "predicted": predicted - ready, "trained": time.monotonic() - predicted}
    seconds = {name: round(took, 1) for name, took in ends.items()}
    return {"policies": found, "best": best, "chosen": chosen, "loss": loss, "seconds": seconds}


def show(document: dict[str, Any]) -> None:
    print(f"{document['study']}\n{document['command']}\n{document['hardware']}")
    for name, found in document["studies"].items():
        took, best, chosen = found["seconds"], found["best"], found["chosen"]
        print(f"\n{name} ({took['predicted']:.0f} s predicted, {took['trained']:.0f} s trained)")
        for policy, row in found["policies"].items():
            ratio = row["predicted"] / row["measured"]
            print(f"  {policy:45} {row['measured']:8.2f} ± {row['error']:.2f}  {ratio:.3f}")
        if name.startswith("retention"):
            loss = "{more:+.2f} ± {half_width:.2f}".format(**found["loss"])
            print(f"  best {best}, predicted {chosen}: {loss if chosen != best else 'the same'}")


def main() -> None:
    benchmark = Benchmark.asked("drift", __doc__)
    base, known = benchmark.study(), dict[str, Least]()
    document, every = benchmark.begin(base), studies(base, benchmark.settings)
    wanted = [name for name in every if name.startswith(benchmark.given.only)]
    show(benchmark.measure(document, wanted, lambda name: measured(every[name], benchmark, known)))


if __name__ == "__main__":
    main()
