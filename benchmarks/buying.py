"""What buying cheap gains at equal budgets, measured. Run from the repository root:

    python -m benchmarks.buying
    python -m benchmarks.buying --preset paper --rounds 1000 --device cuda --data-dir data/mnist --out mnist.json

Trains constant admission, ACDPP, the policies that buy cheap and the oracle on the same prices and samples, for each
price process, and prints what a round costs and which share of the gap between constant admission and the oracle each
policy closes, with 95 % intervals (paired over the seeds). `constant-filled` is constant admission with the memory
filled in round 1, as buying cheap has it: what it closes is not owed to prices. `narrow` prices hardly vary, and `tiny`
buffers hold one or two samples a client: there little can be gained.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from benchmarks.hardware import hardware, machine
from empirics.control.policy import FOREVER, Fixed, Policy
from empirics.control.registry import Brief, make_policy
from empirics.run import run_study
from empirics.settings.costs import CostProcess
from empirics.settings.presets import PRESETS
from empirics.settings.study import Study

POLICIES = ("constant", "oracle", "acdpp", "acdpp-capped", "buy-cheap", "buy-cheap-online")
MEAN = 5.49  # just below 5.5, where K = 10 spends the budget: constant admission then costs what it may
WORDS = {
    "cumulative_excess_risk": "excess risk",
    "mean_accuracy": "accuracy",
    "final_accuracy": "final accuracy",
}
TINY = (1, 2, 1, 2, 1, 2, 1, 2, 1, 2)


def spiky(study: Study) -> Any:
    """Log-normal prices, five times as high in one round of five; a column for each replicate."""
    drawn = np.random.default_rng(study.seed)
    shape = (study.rounds, study.seeds)
    calm = drawn.lognormal(0, 0.3, shape)
    prices = np.where(drawn.random(shape) < 0.2, 5 * calm, calm)
    return prices * (MEAN / prices.mean())


@dataclass(frozen=True)
class Filled(Policy):
    """Constant admission by capacity: the memory is filled in round 1, and nothing more is bought for K rounds."""

    constant: Fixed
    capacity: tuple[int, ...]
    retention: int = FOREVER

    @classmethod
    def of(cls, brief: Brief) -> Self:
        """At the rates of constant admission."""
        constant = make_policy("constant", brief)
        assert isinstance(constant, Fixed)
        return cls(constant, tuple(int(size) for size in brief.budget.buffers))

    def start(self, replicates: int) -> Any:
        """The state of constant admission."""
        return self.constant.start(replicates)

    def decide(self, state: Any, cost: Any) -> tuple[Any, Any]:
        """All, then nothing, then as constant admission does."""
        t = state.server.round
        if t <= self.constant.retention[0]:
            return state, np.tile(np.array(self.capacity) * (t == 1), (len(cost), 1))
        return self.constant.decide(state, cost)

    def book(self, state: Any, cost: Any, delivered: Any) -> Any:
        """The state of constant admission."""
        return self.constant.book(state, cost, delivered)


Setting = Callable[[Study], tuple[Study, Any]]


def process(**cost: Any) -> Setting:
    """A study with this cost process."""
    return lambda study: (replace(study, cost=CostProcess(**cost)), None)


PRICES: dict[str, Setting] = {
    "uniform": process(process="uniform"),
    "integer": process(process="integer"),
    "markov": process(process="markov"),
    "drifting": process(process="drifting"),
    "spiky": lambda study: (study, spiky(study)),
    "narrow": process(process="uniform", low=5, high=6),
    "tiny": lambda study: (
        replace(study, buffers=TINY, budget=study.budget * sum(TINY) / sum(study.buffers)),
        None,
    ),
}


def main() -> None:
    """Parse, train, print, and write what was measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--preset", default="digits", choices=list(PRESETS))
    parser.add_argument("--dataset")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--prices", default="uniform,integer,markov,drifting,spiky,narrow,tiny")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--out", type=Path, help="a JSON file to write")
    parser.add_argument(
        "--table", type=Path, nargs="+", help="JSON files to show as a table, without training"
    )
    given = parser.parse_args()
    if given.table:
        results = [json.loads(path.read_text(encoding="utf-8")) for path in given.table]
        print("\n\n".join(f"{name}\n\n{table(results, name)}" for name in (*POLICIES[2:], "constant-filled")))
        return
    base = replace(PRESETS[given.preset], policies=POLICIES, seeds=given.seeds, K=None, predict=False)
    base = replace(base, rounds=given.rounds or base.rounds, dataset=given.dataset or base.dataset)
    if given.device == "cuda":
        base = replace(base, dtype="float32")
    base = replace(base, measures=tuple(one for one in base.measures if one != "mismatch"))
    print(hardware())
    found = {}
    for name in given.prices.split(","):
        study, cost = PRICES[name](base)
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            summary = run_study(
                study,
                Path(folder) / "result",
                cost=cost,
                policies={"constant-filled": Filled.of},
                device=given.device,
                data_dir=given.data_dir,
            )
        found[name] = measured(summary)
        print(
            f"\n{name} prices, {study.rounds} rounds, {study.seeds} seeds, {time.perf_counter() - began:.0f} s"
        )
        show(summary, study)
    if given.out is not None:
        words = f"{base.dataset}, {base.rounds} rounds, {base.seeds} seeds"
        asked = {
            key: value
            for key, value in vars(given).items()
            if value != parser.get_default(key) and key != "out"
        }
        options = [f"--{key.replace('_', '-')} {value}" for key, value in asked.items()]
        document = {
            "study": words,
            "command": " ".join(["python -m benchmarks.buying", *options]),
            "hardware": machine(given.device),
            "studies": found,
        }
        given.out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def measured(summary: dict[str, Any]) -> dict[str, Any]:
    """What is kept of a study's summary."""
    kept = (
        "mean_cost",
        "distinct_samples",
        "effective_samples",
        "cumulative_excess_risk",
        "mean_accuracy",
        "final_accuracy",
    )
    policies = {
        name: {key: row[key] for key in kept if key in row} for name, row in summary["policies"].items()
    }
    return {"policies": policies, "gap_closed": summary["gap_closed"]}


def table(results: list[dict[str, Any]], policy: str, measure: str | None = None) -> str:
    """Markdown: which share of the gap a policy closes, in per cent, its interval, and its cost over constant's."""
    names = [_measure(result) if measure is None else measure for result in results]
    heads = ["prices", *(f"{one['study']}, {WORDS[name]}" for one, name in zip(results, names, strict=True))]
    lines = [f"| {' | '.join(heads)} |", f"| {' | '.join(['---'] * len(heads))} |"]
    for prices in results[0]["studies"]:
        cells = [prices]
        for result, name in zip(results, names, strict=True):
            study = result["studies"][prices]
            paid, fair = (study["policies"][one]["mean_cost"]["mean"] for one in (policy, "constant"))
            one = study["gap_closed"][name][policy]
            share, low, high = (round(100 * one[key]) for key in ("share", "low", "high"))
            cells.append(f"{share} ({low} to {high}), {100 * (paid / fair - 1):+.1f} %")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _measure(result: dict[str, Any]) -> str:
    """Excess risk where it was measured, accuracy averaged over the rounds where not."""
    first = next(iter(result["studies"].values()))["gap_closed"]
    return next(one for one in WORDS if first.get(one))


def show(summary: dict[str, Any], study: Study) -> None:
    """A line for each policy."""
    for name, row in summary["policies"].items():
        cost = row["mean_cost"]["mean"]
        shares = [
            f"{measure.replace('_', ' ')} {100 * one[name]['share']:.0f} % [{100 * one[name]['low']:.0f}, "
            f"{100 * one[name]['high']:.0f}]"
            for measure, one in summary["gap_closed"].items()
            if one is not None and name in one
        ]
        measured = [
            f"{words} {row[key]['mean']:.4g} ± {row[key]['error']:.2g}"
            for key, words in (
                ("cumulative_excess_risk", "excess risk"),
                ("mean_accuracy", "accuracy"),
                ("final_accuracy", "final"),
            )
            if row.get(key)
        ]
        print(
            f"  {name:17} cost {cost:7.2f} ({cost / study.budget - 1:+.1%})  {', '.join([*measured, *shares])}"
        )


if __name__ == "__main__":
    main()
