"""Search for the best purchase by prediction: its time, and the risk of its choice when trained.

    python -m benchmarks.best_buy --out design-digits-500.json
    python -m benchmarks.best_buy --rounds 3000

Searches on the digits with the paper's buffers, budget and prices, as `acdpp plan` does, then trains
the recommendation with seeds that the search has not seen. The file has the design as `--json` prints it.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.hardware import machine
from benchmarks.runner import Benchmark, write
from empirics.planning.plan import plan_study
from empirics.run import run_study
from empirics.settings.presets import PRESETS

RISKS = ("cumulative_excess_risk", "final_excess_risk")


def main() -> None:
    """Parse, search, train, print, and write."""
    benchmark = Benchmark.asked("best_buy", __doc__)
    document = {"command": benchmark.command, "hardware": machine(), **measured(benchmark)}
    write(document, benchmark.given.out)
    design, trained = document["design"], document["trained"]
    took = "{wall:.0f} s, {processor:.0f} s of processor time".format(**document["seconds"])
    print(f"{document['command']}\n{document['hardware']}\n{len(design['tried'])} tried in {took}")
    print(f"{design['name']}: {design['over_lower_bound']:.3g} times the lower bound")
    for risk in RISKS:
        found = "{mean:.4g} ± {error:.2g}".format(**trained[risk])
        print(f"{risk}: predicted {design['predicted'][risk]:.4g}, trained {found}")


def measured(benchmark: Benchmark) -> dict[str, Any]:
    """The design, its time, and its risks when trained: means over seeds with their errors."""
    given, began, used = benchmark.given, time.monotonic(), time.process_time()
    study = replace(PRESETS["digits"], rounds=given.rounds, seed=benchmark.settings["seed_search"])
    found = plan_study(study, objective=given.objective)
    seconds = {"wall": time.monotonic() - began, "processor": time.process_time() - used}
    with tempfile.TemporaryDirectory() as place:
        unseen = benchmark.settings["seed_training"]
        study = replace(found.study, seed=unseen, predict=False, measures=("risk",))
        summary = run_study(study, Path(place) / "trained")["policies"][study.policies[0]]
    trained = {risk: {key: summary[risk][key] for key in ("mean", "error")} for risk in RISKS}
    return {"seconds": seconds, "design": found.document(), "trained": trained}


if __name__ == "__main__":
    main()
