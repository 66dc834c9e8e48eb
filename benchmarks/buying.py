"""Gains of buying cheap at equal budgets, measured. Run from the repository root:

    python -m benchmarks.buying
    python -m benchmarks.buying --preset paper --rounds 1000 --device cuda --data-dir data/mnist --out mnist.json

Trains constant admission, ACDPP, the policies that buy cheap and the oracle on the same prices and samples, for each
price process. Prints the cost per round and the share of the gap between constant admission and the oracle that each
policy closes, with 95 % intervals (paired over seeds). `constant-filled` is constant admission with the memory filled
in round 1, as buying cheap has it: its share is not due to prices. `narrow` prices hardly vary, and `tiny` buffers
hold one or two samples per client: there little can be gained.
"""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from benchmarks.hardware import hardware, timed
from benchmarks.options import settings
from benchmarks.runner import Benchmark, trained
from empirics import PRESETS, Brief, CostProcess, Policy, Study
from empirics.control.policy import FOREVER, Fixed
from empirics.control.registry import make_policy

SETTINGS = settings("buying")
POLICIES = tuple(SETTINGS["policies"])
PRICES = SETTINGS["options"]["prices"].split(",")
MEAN = 5.49  # just below 5.5, where K = 10 spends the budget: constant admission then costs the whole budget
WORDS: dict[str, str] = SETTINGS["words"]


def spiky(study: Study) -> Any:
    """Log-normal prices, five times as high in one round of five; a column per replicate."""
    drawn = np.random.default_rng(study.seed)
    shape = (study.rounds, study.seeds)
    calm = drawn.lognormal(0, 0.3, shape)
    prices = np.where(drawn.random(shape) < 0.2, 5 * calm, calm)
    return prices * (MEAN / prices.mean())


def price_names(text: str) -> list[str]:
    """Names of price processes, separated by commas."""
    if unknown := set(text.split(",")) - set(PRICES):
        raise SystemExit(f"there are no {min(unknown)!r} prices: known are {', '.join(PRICES)}")
    return text.split(",")


def priced(study: Study, prices: str) -> tuple[Study, Any]:
    """The study with a price process, and prices of its own if it has some."""
    if prices == "spiky":
        return study, spiky(study)
    if prices == "tiny":
        tiny = tuple(SETTINGS["tiny_buffers"])
        return replace(study, buffers=tiny, budget=study.budget * sum(tiny) / sum(study.buffers)), None
    return replace(study, cost=CostProcess(**SETTINGS["processes"][prices])), None


@dataclass(frozen=True)
class Filled(Policy):
    """Constant admission by capacity: the memory is filled in round 1, and nothing more is bought for K rounds."""

    constant: Fixed
    capacity: tuple[int, ...]
    retention: int = FOREVER

    @classmethod
    def of(cls, brief: Brief) -> Self:
        """The policy at the rates of constant admission."""
        constant = make_policy("constant", brief)
        assert isinstance(constant, Fixed)
        return cls(constant, tuple(int(size) for size in brief.budget.buffers))

    def start(self, replicates: int) -> Any:
        return self.constant.start(replicates)

    def decide(self, state: Any, cost: Any) -> tuple[Any, Any]:
        """All, then nothing, then as constant admission does."""
        t = state.server.round
        if t <= self.constant.retention[0]:
            return state, np.tile(np.array(self.capacity) * (t == 1), (len(cost), 1))
        return self.constant.decide(state, cost)

    def book(self, state: Any, cost: Any, delivered: Any) -> Any:
        return self.constant.book(state, cost, delivered)


def main() -> None:
    benchmark = Benchmark.asked("buying", __doc__)
    given = benchmark.given
    base = replace(PRESETS[given.preset], policies=POLICIES, K=None, predict=False)
    base = replace(base, rounds=given.rounds or base.rounds, dataset=given.dataset or base.dataset)
    measures = tuple(one for one in base.measures if one != "mismatch")
    base = benchmark.on_device(replace(base, seeds=given.seeds, measures=measures))
    print(hardware())
    document = benchmark.begin(study=f"{base.dataset}, {base.rounds} rounds, {base.seeds} seeds")
    benchmark.measure(document, price_names(given.prices), lambda name: measured(base, name, benchmark))


def measured(base: Study, prices: str, benchmark: Benchmark) -> dict[str, Any]:
    """Train all policies, print them, and return what is kept of the summary."""
    study, cost = priced(base, prices)
    own = {"constant-filled": Filled.of}
    (summary, _), (took,) = timed(lambda: trained(study, cost=cost, policies=own, **benchmark.place))
    print(f"\n{prices} prices, {study.rounds} rounds, {study.seeds} seeds, {took:.0f} s")
    show(summary, study)
    kept, rows = SETTINGS["kept"], summary["policies"]
    policies = {name: {key: row[key] for key in kept if key in row} for name, row in rows.items()}
    return {"policies": policies, "gap_closed": summary["gap_closed"]}


def show(summary: dict[str, Any], study: Study) -> None:
    for name, row in summary["policies"].items():
        cost, parts = row["mean_cost"]["mean"], []
        for key, words in (WORDS | {"final_accuracy": "final"}).items():
            if row.get(key):
                parts.append(words + " {mean:.4g} ± {error:.2g}".format(**row[key]))
        for measure, closed in summary["gap_closed"].items():
            if closed is not None and name in closed:
                share, low, high = (100 * closed[name][key] for key in ("share", "low", "high"))
                parts.append(f"{measure.replace('_', ' ')} {share:.0f} % [{low:.0f}, {high:.0f}]")
        print(f"  {name:17} cost {cost:7.2f} ({cost / study.budget - 1:+.1%})  {', '.join(parts)}")


if __name__ == "__main__":
    main()
