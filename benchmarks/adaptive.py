"""Constant admission that forgets when losses rise (`adaptive`) against the best fixed K in hindsight.

One memory of 400 places, 10 samples per round, the digits' parity by logistic regression, one step of gradient
descent per round on all that is held; every policy sees the same prices and samples. Averaged is the risk of the
model on the population of the round; differences to the best fixed K are paired over seeds, with 95 % intervals.

With `--river` two more policies have ADWIN of `river` in place of our test (`pip install river`): `river` forgets at
every alarm, `river, rising` only if the loss is above its earlier mean. Printed are the mean risks, the difference to
the best fixed K, and how often a run forgot everything.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import hardware
from benchmarks.runner import Benchmark, above_best, trained
from empirics import Brief, Study
from empirics.control.adaptive import Adaptive, Listening
from empirics.control.registry import LISTENING
from empirics.settings.drift import Drift

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class River(Adaptive):
    """Adaptive with the ADWIN of `river`, which has its own memory."""

    rising: bool = False

    @classmethod
    def of(cls, brief: Brief, *, rising: bool = False) -> Self:
        return cls(**vars(LISTENING["adaptive"](brief)), rising=rising)

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


def measured(world: str, benchmark: Benchmark) -> dict[str, Any]:
    given = benchmark.given
    own = {"river": River.of, "river, rising": partial(River.of, rising=True)} if given.river else {}
    fixed, listening = tuple(f"constant@K={K}" for K in benchmark.settings["retentions"]), ("adaptive", *own)
    drift = Drift(**benchmark.settings["worlds"][world])
    study = Study(**benchmark.settings["study"], radius=None, eta=given.eta, drift=drift)
    study = replace(study, policies=(*fixed, "adaptive"), rounds=given.rounds, seeds=given.seeds)
    _, rows = trained(study, ["policy", "seed", "round", "risk", "n"], policies=own)
    rows = rows.sort_by([(name, "ascending") for name in ("policy", "seed", "round")])
    names = sorted((*fixed, *listening))
    shape = (len(names), study.seeds, study.rounds)
    risk, held = (dict(zip(names, rows[key].to_numpy().reshape(shape), strict=True)) for key in ("risk", "n"))
    each = {name: risk[name].mean(axis=1) for name in (*fixed, *listening)}
    risks = {name: float(values.mean()) for name, values in each.items()}
    best = min(fixed, key=risks.__getitem__)
    found: dict[str, Any] = {"risk": risks, "best": best}
    print(f"{world}: " + ", ".join(f"{policy} {mean:.4f}" for policy, mean in risks.items()))
    for name in listening:
        forgot = float((np.diff(held[name], axis=1) < 0).sum(axis=1).mean())
        found[name] = row = {**above_best(each[name], each[best]), "forgot": forgot}
        words = f"{row['above_best']:+.4f} ± {row['half_width']:.4f}"
        print(f"  {name} above {best}: {words}; forgot {forgot:.1f} times per run", flush=True)
    return found


def main() -> None:
    benchmark = Benchmark.asked("adaptive", __doc__)
    given, worlds = benchmark.given, benchmark.settings["worlds"]
    print(f"{hardware()}; {given.rounds} rounds, {given.seeds} seeds, η = {given.eta:g}")
    benchmark.measure(benchmark.begin(key="worlds"), worlds, lambda one: measured(one, benchmark), "worlds")


if __name__ == "__main__":
    main()
