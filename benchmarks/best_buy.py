"""Search for the best purchase by prediction: its time, and the risk of its choice when trained.

Searches on the digits with the paper's buffers, budget and prices, as `acdpp plan` does, then trains
the recommendation with seeds that the search has not seen. The file has the design as `--json` prints it.
"""

import time
from dataclasses import replace

from benchmarks.common import machine
from benchmarks.runner import Benchmark, trained, write
from empirics import PRESETS, plan_study

RISKS = ("cumulative_excess_risk", "final_excess_risk")


def main() -> None:
    benchmark = Benchmark.asked("best_buy", __doc__)
    given, began, used = benchmark.given, time.monotonic(), time.process_time()
    study = replace(PRESETS["digits"], rounds=given.rounds, seed=benchmark.settings["seed_search"])
    found = plan_study(study, objective=given.objective)
    seconds = {"wall": time.monotonic() - began, "processor": time.process_time() - used}
    study = replace(found.study, seed=benchmark.settings["seed_training"], predict=False, measures=("risk",))
    row, design = trained(study)[0]["policies"][study.policies[0]], found.document()
    risks = {risk: {key: row[risk][key] for key in ("mean", "error")} for risk in RISKS}
    document = {"command": benchmark.command, "hardware": machine(), "seconds": seconds, "design": design}
    write({**document, "trained": risks}, given.out)
    took = "{wall:.0f} s, {processor:.0f} s of processor time".format(**seconds)
    print(f"{document['command']}\n{document['hardware']}\n{len(design['tried'])} tried in {took}")
    print(f"{design['name']}: {design['over_lower_bound']:.3g} times the lower bound")
    for risk in RISKS:
        words = "{mean:.4g} ± {error:.2g}".format(**risks[risk])
        print(f"{risk}: predicted {design['predicted'][risk]:.4g}, trained {words}")


if __name__ == "__main__":
    main()
