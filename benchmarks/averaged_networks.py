"""What a mean of models does for networks, against the last one of the same run. Run from the repository root:

    python -m benchmarks.averaged_networks lenet --device cuda --data-dir DIR --out lenet.json
    python -m benchmarks.averaged_networks resnet9 --device cuda --data-dir DIR --out resnet9.json

Trains every policy with a polynomial mean of its models (γ = 1) and prints the final accuracy of the mean and of the
last model, which are measured in the same run, and how far they are apart, paired by seed, with 95 % intervals. LeNet
is that of MNIST as the released code runs it, but with a step size at which it converges; ResNet-9 is that of CIFAR-10
as the paper's text has it. With `--out` each policy is written when it is done: asked again, the others are trained.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.hardware import machine
from benchmarks.kept import continued, write
from empirics.run import run_study
from empirics.settings.section7 import section7
from empirics.settings.study import Study
from theory.numbers.student import half_width

POLICIES = ("acdpp", "constant", "oracle", "hybrid", "buy-cheap-online", "taper-online")
MEAN = {"average": "polynomial", "average_by": 1.0, "seed": 1}


def studies() -> dict[str, Study]:
    """By network."""
    lenet = section7("mnist", "released-logistic", seeds=10, rounds=300)
    resnet9 = section7("cifar10", "paper", seeds=4, rounds=400)
    return {
        "lenet": replace(lenet, eta=0.03, policies=(*POLICIES, "burst"), **MEAN),
        "resnet9": replace(resnet9, policies=POLICIES, **MEAN),
    }


def main() -> None:
    """Parse, train, print a table, and write it down if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("network", choices=studies())
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--seeds", type=int, help="in place of the study's own")
    parser.add_argument("--rounds", type=int, help="in place of the study's own")
    parser.add_argument("--out", type=Path, help="JSON file for the figures")
    given = parser.parse_args()
    study = studies()[given.network]
    study = replace(study, seeds=given.seeds or study.seeds, rounds=given.rounds or study.rounds)
    command = f"python -m benchmarks.averaged_networks {given.network} --device {given.device}"
    begun = {"command": command, "hardware": machine(given.device), "study": study.document(), "policies": {}}
    found = continued(begun, given.out)
    for name in study.policies:
        if name not in found["policies"]:
            one = run_study(replace(study, policies=(name,)), device=given.device, data_dir=given.data_dir)
            found["policies"][name] = kept(one["policies"][name])
            write(found, given.out)
    print(found["hardware"], table(found), sep="\n")


def kept(row: dict[str, Any]) -> dict[str, Any]:
    """Of one policy: accuracies by seed, money and samples."""
    by_seed = ("final_accuracies", "last_final_accuracies", "diverged")
    return {key: row[key] for key in by_seed} | {
        key: row[key]["mean"] for key in ("distinct_samples", "mean_cost")
    }


def table(found: dict[str, Any]) -> str:
    """In Markdown, in points of accuracy."""
    lines = ["| policy | last | mean | mean less last |", "| --- | --- | --- | --- |"]
    for name, row in found["policies"].items():
        last, mean = (100 * np.array(row[key]) for key in ("last_final_accuracies", "final_accuracies"))
        each = [f"{one.mean():.1f} ± {half_width(one, 0.95):.1f}" for one in (last, mean, mean - last)]
        lines.append(f"| {name} | {' | '.join(each)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
