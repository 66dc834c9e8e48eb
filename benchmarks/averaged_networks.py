"""Accuracy of a mean of network models, against the last model of the same run.

Trains every policy with a polynomial mean of its models (γ = 1) and prints the final accuracy of the mean and of the
last model, both measured in the same run, and their difference, paired by seed, with 95 % intervals.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.runner import Benchmark, markdown
from empirics import run_study
from empirics.settings.section7 import section7
from theory.numbers.student import half_width


def main() -> None:
    benchmark = Benchmark.asked("averaged_networks", __doc__)
    given, settings = benchmark.given, benchmark.settings
    about = settings["networks"][given.network]
    study = section7(**about["section7"])
    policies = (*settings["policies"], *about.get("also", ()))
    study = replace(study, eta=about.get("eta", study.eta), policies=policies, **settings["mean"])
    study = replace(study, seeds=given.seeds or study.seeds, rounds=given.rounds or study.rounds)

    def measured(policy: str) -> dict[str, Any]:
        """Accuracies of a policy by seed, money and samples."""
        alone = replace(study, policies=(policy,))
        row = run_study(alone, **benchmark.place)["policies"][policy]
        means = {key: row[key]["mean"] for key in ("distinct_samples", "mean_cost")}
        return {key: row[key] for key in ("final_accuracies", "last_final_accuracies", "diverged")} | means

    found = benchmark.begin(key="policies", study=study.document())
    benchmark.measure(found, study.policies, measured, key="policies")
    print(found["hardware"], table(found), sep="\n")


def table(found: dict[str, Any]) -> str:
    """Markdown, in points of accuracy."""
    lines = [["policy", "last", "mean", "mean less last"]]
    for name, row in found["policies"].items():
        last, mean = (100 * np.array(row[key]) for key in ("last_final_accuracies", "final_accuracies"))
        points = (last, mean, mean - last)
        lines.append([name, *(f"{one.mean():.1f} ± {half_width(one, 0.95):.1f}" for one in points)])
    return markdown(lines)


if __name__ == "__main__":
    main()
