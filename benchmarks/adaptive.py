"""Constant admission that forgets when losses rise (`empirics.control.adaptive`) against the best fixed K in hindsight.

One memory of 400 places, 10 samples a round, the digits' parity by logistic regression, one step of gradient descent a
round on all that is held. Every policy runs in a `Controller` of its own, on the same prices and samples. What is
averaged is the risk of the model on the population of the round; differences to the best fixed K are paired over seeds.

    python -m benchmarks.adaptive --seeds 10
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.hardware import hardware
from empirics.control.adaptive import Adaptive
from empirics.control.controller import Controller
from empirics.data import load
from empirics.settings.drift import Drift
from empirics.settings.study import Study
from empirics.training.world import both_parts
from theory.student import half_width

RETENTIONS = (1, 2, 5, 10, 20, 40)
WORLDS = {
    "still": Drift(),
    "abrupt, images turned": Drift(kind="abrupt", parts="inputs", start=200),
    "abrupt, labels": Drift(kind="abrupt", parts="labels", start=200),
    "periodic, 200 rounds": Drift(kind="periodic", parts="inputs", length=200),
    "periodic, 50 rounds": Drift(kind="periodic", parts="inputs", length=50),
}
Floats = NDArray[np.float64]


def task(parts: str) -> tuple[Floats, Floats]:
    """Inputs with a bias and signs of the labels, the second part behind the first."""
    data = both_parts(load("digits"), parts)
    x = data.train_x.reshape(len(data.train_x), -1).astype(float)
    x = np.c_[x / np.linalg.norm(x, axis=1).max(), np.ones(len(x))] / np.sqrt(2)
    return x, 2.0 * (data.train_y % 2) - 1


def run(server: Controller, drift: Drift, eta: float, rounds: int, seed: int) -> tuple[float, int]:
    """The mean risk over rounds, and how often all was forgotten."""
    x, y = task("inputs" if drift.kind == "none" else drift.parts)
    rng, half, listens = np.random.default_rng(seed), len(x) // 2, hasattr(server.policy, "observe")
    theta, total, alarms = np.zeros(x.shape[1]), 0.0, 0
    held: list[NDArray[np.int64]] = []
    for t in range(1, rounds + 1):
        w = float(drift.weight(t))
        loss = np.logaddexp(0, -y * (x @ theta))
        total += (1 - w) * loss[:half].mean() + w * loss[half:].mean()
        came = int(server.decide(float(rng.uniform(1, 10))).sum())
        fresh = rng.integers(0, half, came) + half * (rng.random(came) < w)
        kept = int(server.retention[0])
        alarms += kept == 1 and len(held) > 1 and listens
        held = [*held, fresh][-kept:]
        if listens and came:
            server.observe(float(loss[fresh].mean()))
        server.report(server.pending)
        memory = np.concatenate(held)
        pull = y[memory] / (1 + np.exp(y[memory] * (x[memory] @ theta)))
        theta = theta + eta * pull @ x[memory] / max(len(memory), 1)
    return total / rounds, alarms


def measured(drift: Drift, given: Any) -> dict[str, Any]:
    """All policies in one world."""
    study = Study(buffers=(400,), budget=55, rounds=given.rounds)
    own = {f"K = {K}": {"policy": f"constant@K={K}"} for K in RETENTIONS}
    own["adaptive"] = {"policy": "adaptive", "own": Adaptive.of}
    found: dict[str, Any] = {}
    for name, words in own.items():
        each = [
            run(Controller(study=study, mean_cost=5.5, **words), drift, given.eta, given.rounds, seed)
            for seed in range(given.seeds)
        ]
        found[name] = np.array(each).T
    best = min((name for name in found if name != "adaptive"), key=lambda name: found[name][0].mean())
    apart = found["adaptive"][0] - found[best][0]
    return {
        "risk": {name: float(values[0].mean()) for name, values in found.items()},
        "best": best,
        "adaptive_above_best": float(apart.mean()),
        "half_width": float(half_width(apart, 0.95)),
        "alarms": float(found["adaptive"][1].mean()),
    }


def main() -> None:
    """Parse, measure, print, and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--eta", type=float, default=8.0)
    parser.add_argument("--out", type=Path, help="a JSON file to write")
    given = parser.parse_args()
    print(f"{hardware()}; {given.rounds} rounds, {given.seeds} seeds, η = {given.eta:g}")
    found = {}
    for name, drift in WORLDS.items():
        found[name] = one = measured(drift, given)
        print(f"{name}: " + ", ".join(f"{policy} {risk:.4f}" for policy, risk in one["risk"].items()))
        print(
            f"  adaptive above {one['best']}: {one['adaptive_above_best']:+.4f} ± {one['half_width']:.4f}; "
            f"{one['alarms']:.1f} alarms a run",
            flush=True,
        )
    if given.out:
        document = {"command": f"python -m benchmarks.adaptive --seeds {given.seeds} --eta {given.eta:g}"}
        given.out.write_text(
            json.dumps(document | {"hardware": hardware(), "worlds": found}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
