"""Constant admission that forgets when losses rise (`adaptive`) against the best fixed K in hindsight.

One memory of 400 places, 10 samples a round, the digits' parity by logistic regression, one step of gradient descent a
round on all that is held: a study, in which every policy sees the same prices and samples. What is averaged is the risk
of the model on the population of the round; differences to the best fixed K are paired over seeds, with 95 % intervals.

    python -m benchmarks.adaptive --seeds 10
    python -m benchmarks.adaptive --seeds 10 --river

With `--river` two policies more have ADWIN of `river` in place of our test (`pip install river`, which nothing else
needs):
`river` forgets at every alarm, `river, rising` only where the loss is above what it was before. Printed are the mean
risks, the difference to the best fixed K, and how often all was forgotten in a run.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.hardware import hardware, machine
from empirics.control.adaptive import Adaptive, Listening
from empirics.control.registry import LISTENING, Brief
from empirics.results.folder import read_result
from empirics.run import run_study
from empirics.settings.drift import Drift
from empirics.settings.study import Study
from theory.numbers.student import half_width

RETENTIONS = (1, 2, 5, 10, 20, 40)
WORLDS = {
    "still": Drift(),
    "abrupt, images turned": Drift(kind="abrupt", parts="inputs", start=200),
    "abrupt, labels": Drift(kind="abrupt", parts="labels", start=200),
    "periodic, 200 rounds": Drift(kind="periodic", parts="inputs", length=200),
    "periodic, 50 rounds": Drift(kind="periodic", parts="inputs", length=50),
}
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class River(Adaptive):
    """The same with ADWIN as `river` has it, which remembers by itself."""

    rising: bool = False

    def start(self, replicates: int) -> Listening:
        from river.drift import ADWIN

        object.__setattr__(self, "detectors", [ADWIN() for _ in range(replicates)])
        return super().start(replicates)

    def observe(self, state: Listening, loss: Floats) -> Listening:
        heard = state.heard.copy()
        for i, (one, value) in enumerate(zip(self.detectors, loss, strict=True)):  # type: ignore[attr-defined]
            before = one.estimation
            one.update(value)
            heard[i] |= one.drift_detected and (one.estimation > before or not self.rising)
        return replace(state, heard=heard)


def _river(brief: Brief, *, rising: bool) -> River:
    rule = LISTENING["adaptive"](brief)
    assert isinstance(rule, Adaptive)
    return River(rule.rule, rule.capacity, rising=rising)


def measured(drift: Drift, given: argparse.Namespace) -> dict[str, Any]:
    """All policies in one world."""
    own: dict[str, Any] = {}
    if given.river:
        own = {
            "river": lambda brief: _river(brief, rising=False),
            "river, rising": lambda brief: _river(brief, rising=True),
        }
    fixed = tuple(f"constant@K={K}" for K in RETENTIONS)
    listening = ("adaptive", *own)
    study = Study(
        labels="parity", buffers=(400,), budget=55, K=40, steps=1, eta=given.eta, radius=None, drift=drift
    )
    study = replace(study, policies=(*fixed, "adaptive"), rounds=given.rounds, seeds=given.seeds)
    study = replace(study, predict=False, measures=("risk",))
    with tempfile.TemporaryDirectory() as place:
        run_study(study, Path(place) / "result", policies=own)
        rows = read_result(Path(place) / "result", ["policy", "seed", "round", "risk", "n"]).rows
    rows = rows.sort_by([(name, "ascending") for name in ("policy", "seed", "round")])
    names = sorted((*fixed, *listening))
    shape = (len(names), study.seeds, study.rounds)
    risk, held = (dict(zip(names, rows[key].to_numpy().reshape(shape), strict=True)) for key in ("risk", "n"))
    each = {name: values.mean(axis=1) for name, values in risk.items()}
    best = min(fixed, key=lambda name: each[name].mean())
    found: dict[str, Any] = {
        "risk": {name: float(each[name].mean()) for name in (*fixed, *listening)},
        "best": best,
    }
    for name in listening:
        apart = each[name] - each[best]
        found[name] = {
            "above_best": float(apart.mean()),
            "half_width": float(half_width(apart, 0.95)) if apart.any() else 0.0,
            "forgot": float((np.diff(held[name], axis=1) < 0).sum(axis=1).mean()),
        }
    return found


def main() -> None:
    """Parse, measure, print, and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--eta", type=float, default=8.0)
    parser.add_argument("--river", action="store_true", help="with ADWIN of river, too")
    parser.add_argument("--out", type=Path, help="a JSON file to write")
    given = parser.parse_args()
    print(f"{hardware()}; {given.rounds} rounds, {given.seeds} seeds, η = {given.eta:g}")
    found = {}
    for world, drift in WORLDS.items():
        found[world] = one = measured(drift, given)
        print(f"{world}: " + ", ".join(f"{policy} {risk:.4f}" for policy, risk in one["risk"].items()))
        for name, row in one.items():
            if isinstance(row, dict) and "forgot" in row:
                words = f"{row['above_best']:+.4f} ± {row['half_width']:.4f}"
                print(
                    f"  {name} above {one['best']}: {words}; forgot {row['forgot']:.1f} times a run",
                    flush=True,
                )
    if given.out:
        words = f"python -m benchmarks.adaptive --seeds {given.seeds}{' --river' * given.river}"
        document = {"command": words, "hardware": machine(), "worlds": found}
        given.out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
