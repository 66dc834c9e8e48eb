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
import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.learner import PRESET, begun, continued, write
from empirics.predict import predict_study
from empirics.records.folder import read_result
from empirics.run import run_study
from empirics.settings.drift import PARTS, Drift
from empirics.settings.study import Study
from theory.student import half_width

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
RETENTIONS = (1, 2, 3, 5, 7, 10, 14, 20)
PERIODS = (20, 50, 100, 400)


def studies(base: Study) -> dict[str, Study]:
    """All that is measured, by name."""
    T, found = base.rounds, {}
    kinds = {"gradual": {"start": T // 5, "length": 3 * T // 5}, "periodic": {"length": T // 2}}
    for kind, given in kinds.items():
        for parts in PARTS:
            drift = Drift(kind=kind, parts=parts, **given)
            found[f"prediction: {kind}, {parts}"] = replace(base, policies=POLICIES, drift=drift)
    kept = tuple(f"constant@K={K}" for K in RETENTIONS)
    for period in PERIODS:
        drift = Drift(kind="periodic", parts="labels", length=period)
        found[f"retention: {period} rounds a period"] = replace(base, policies=kept, drift=drift)
    return found


def measured(study: Study, given: argparse.Namespace) -> dict[str, Any]:
    """Cumulative excess risk of every policy: predicted, and then trained."""
    begun = time.monotonic()
    own = {"device": given.device, "data_dir": given.data_dir}
    told = predict_study(study, best=False, **own)
    took = time.monotonic() - begun
    with tempfile.TemporaryDirectory() as place:
        run_study(study, Path(place) / "result", **own)
        rows = read_result(Path(place) / "result", ["policy", "seed", "round", "excess_risk"]).rows
    rows = rows.sort_by([(name, "ascending") for name in ("policy", "seed", "round")])
    shape = (len(study.policies), study.seeds, study.rounds)
    sums = rows["excess_risk"].to_numpy().reshape(shape).sum(axis=2)
    each = dict(zip(sorted(study.policies), sums, strict=True))
    found = {
        name: {
            "measured": float(each[name].mean()),
            "error": float(each[name].std(ddof=1) / np.sqrt(study.seeds)),
            "predicted": told.forecasts[name].cumulative,
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
    seconds = {"predicted": took, "trained": time.monotonic() - begun - took}
    return {"policies": found, "best": best, "chosen": chosen, "loss": loss, "seconds": seconds}


def show(document: dict[str, Any]) -> None:
    """As tables."""
    print(f"{document['study']}\n{document['command']}\n{document['hardware']}")
    for name, found in document["studies"].items():
        print(
            f"\n{name} ({found['seconds']['predicted']:.0f} s predicted, {found['seconds']['trained']:.0f} s trained)"
        )
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
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no study after so many")
    parser.add_argument("--out", type=Path, help="a JSON file to write, or to go on with")
    parser.add_argument("--table", type=Path, help="a JSON file to show, without training")
    given = parser.parse_args()
    if given.table:
        show(json.loads(given.table.read_text(encoding="utf-8")))
        return
    end = time.monotonic() + given.seconds
    passing = ("out", "table", "seconds")
    own = {key: v for key, v in vars(given).items() if v != parser.get_default(key) and key not in passing}
    base, document = begun(given, own, "drift")
    document = continued(document, given.out)
    for name, study in studies(base).items():
        if name.startswith(given.only) and name not in document["studies"] and time.monotonic() < end:
            document["studies"][name] = measured(study, given)
            write(document, given.out)
    show(document)


if __name__ == "__main__":
    main()
