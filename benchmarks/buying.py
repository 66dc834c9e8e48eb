"""Gains of buying cheap at equal budgets, measured.

Trains constant admission, ACDPP, the policies that buy cheap and the oracle on the same prices and samples, for each
price process. Prints the cost per round and the share of the gap between constant admission and the oracle that each
policy closes, with 95 % intervals (paired over seeds). `constant-filled` is constant admission with the memory filled
in round 1, as buying cheap has it: its share is not due to prices. `narrow` prices hardly vary, and `tiny` buffers
hold one or two samples per client: there little can be gained.
"""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from benchmarks.common import hardware, settings, timed
from benchmarks.runner import Benchmark, trained
from empirics import PRESETS, Brief, CostProcess, Study
from empirics.control.policy import FOREVER, Fixed
from empirics.control.registry import make_policy

SETTINGS = settings("buying")
PRICES = SETTINGS["options"]["prices"].split(",")
MEAN = 5.49  # just below 5.5, where K = 10 spends the budget: constant admission then costs the whole budget
WORDS: dict[str, str] = SETTINGS["words"]


def price_names(text: str) -> list[str]:
    """Names of price processes, separated by commas."""
    if unknown := set(text.split(",")) - set(PRICES):
        raise SystemExit(f"there are no {min(unknown)!r} prices: known are {', '.join(PRICES)}")
    return text.split(",")


def priced(study: Study, prices: str) -> tuple[Study, Any]:
    """The study with a price process, and prices of its own if it has some, a column per replicate."""
    if prices == "spiky":  # log-normal, five times as high in one round of five
        drawn, shape = np.random.default_rng(study.seed), (study.rounds, study.seeds)
        calm = drawn.lognormal(0, 0.3, shape)
        high = np.where(drawn.random(shape) < 0.2, 5 * calm, calm)
        return study, high * (MEAN / high.mean())
    if prices == "tiny":
        tiny = tuple(SETTINGS["tiny_buffers"])
        return replace(study, buffers=tiny, budget=study.budget * sum(tiny) / sum(study.buffers)), None
    return replace(study, cost=CostProcess(**SETTINGS["processes"][prices])), None


@dataclass(frozen=True)
class Filled(Fixed):
    """Constant admission by capacity: the memory is filled in round 1, and nothing more is bought for K rounds."""

    K: int = 0
    capacity: tuple[int, ...] = ()

    @classmethod
    def of(cls, brief: Brief) -> Self:
        constant: Any = make_policy("constant", brief)
        own = vars(constant) | {"retention": FOREVER, "K": constant.retention[0]}
        return cls(**own, capacity=tuple(int(size) for size in brief.budget.buffers))

    def decide(self, state: Any, cost: Any) -> tuple[Any, Any]:
        """All, then nothing, then as constant admission does."""
        t = state.server.round
        if t <= self.K:
            return state, np.tile(np.array(self.capacity) * (t == 1), (len(cost), 1))
        return super().decide(state, cost)


def main() -> None:
    benchmark = Benchmark.asked("buying", __doc__)
    given = benchmark.given
    base = replace(PRESETS[given.preset], policies=tuple(SETTINGS["policies"]), K=None, predict=False)
    base = replace(base, rounds=given.rounds or base.rounds, dataset=given.dataset or base.dataset)
    measures = tuple(one for one in base.measures if one != "mismatch")
    base = benchmark.on_device(replace(base, seeds=given.seeds, measures=measures))
    print(hardware())
    document = benchmark.begin(study=f"{base.dataset}, {base.rounds} rounds, {base.seeds} seeds")
    benchmark.measure(document, price_names(given.prices), lambda name: measured(base, name, benchmark))


def measured(base: Study, prices: str, benchmark: Benchmark) -> dict[str, Any]:
    study, cost = priced(base, prices)
    own = {"constant-filled": Filled.of}
    (summary, _), (took,) = timed(lambda: trained(study, cost=cost, policies=own, **benchmark.place))
    print(f"\n{prices} prices, {study.rounds} rounds, {study.seeds} seeds, {took:.0f} s")
    rows, gaps = summary["policies"], summary["gap_closed"]
    for name, row in rows.items():
        paid, parts = row["mean_cost"]["mean"], []
        for key, words in (WORDS | {"final_accuracy": "final"}).items():
            if row.get(key):
                parts.append(words + " {mean:.4g} ± {error:.2g}".format(**row[key]))
        for measure, closed in gaps.items():
            if closed is not None and name in closed:
                share, low, high = (100 * closed[name][key] for key in ("share", "low", "high"))
                parts.append(f"{measure.replace('_', ' ')} {share:.0f} % [{low:.0f}, {high:.0f}]")
        print(f"  {name:17} cost {paid:7.2f} ({paid / study.budget - 1:+.1%})  {', '.join(parts)}")
    kept = {name: {key: row[key] for key in SETTINGS["kept"] if key in row} for name, row in rows.items()}
    return {"policies": kept, "gap_closed": gaps}


if __name__ == "__main__":
    main()
