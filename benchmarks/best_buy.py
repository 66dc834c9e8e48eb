"""Search for the best purchase by prediction: its time, and the risk of its choice when trained.

    python -m benchmarks.best_buy --out design-digits-500.json
    python -m benchmarks.best_buy --rounds 3000

Searches on the digits with the paper's buffers, budget and prices, as `acdpp plan` does, then trains
the recommendation with seeds that the search has not seen. The file has the design as `--json` prints it.
"""

import time
from dataclasses import replace
from typing import Any

from benchmarks.hardware import machine
from benchmarks.runner import Benchmark, trained, write
from empirics import PRESETS, plan_study

RISKS = ("cumulative_excess_risk", "final_excess_risk")


def main() -> None:
    benchmark = Benchmark.asked("best_buy", __doc__)
    document = {"command": benchmark.command, "hardware": machine(), **measured(benchmark)}
    write(document, benchmark.given.out)
    design = document["design"]
    took = "{wall:.0f} s, {processor:.0f} s of processor time".format(**document["seconds"])
    print(f"{document['command']}\n{document['hardware']}\n{len(design['tried'])} tried in {took}")
    print(f"{design['name']}: {design['over_lower_bound']:.3g} times the lower bound")
    for risk in RISKS:
        found = "{mean:.4g} ± {error:.2g}".format(**document["trained"][risk])
        print(f"{risk}: predicted {design['predicted'][risk]:.4g}, trained {found}")


def measured(benchmark: Benchmark) -> dict[str, Any]:
    """The design, its time, and its risks when trained: means over seeds with their errors."""
    given, began, used = benchmark.given, time.monotonic(), time.process_time()
    study = replace(PRESETS["digits"], rounds=given.rounds, seed=benchmark.settings["seed_search"])
    found = plan_study(study, objective=given.objective)
    seconds = {"wall": time.monotonic() - began, "processor": time.process_time() - used}
    unseen = benchmark.settings["seed_training"]
    study = replace(found.study, seed=unseen, predict=False, measures=("risk",))
    row = trained(study)[0]["policies"][study.policies[0]]
    risks = {risk: {key: row[risk][key] for key in ("mean", "error")} for risk in RISKS}
    return {"seconds": seconds, "design": found.document(), "trained": risks}


if __name__ == "__main__":
    main()
