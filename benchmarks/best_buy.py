"""The best that money can buy by prediction: how long the search takes, and what its choice comes to when trained.

    python -m benchmarks.best_buy --out design-digits-500.json
    python -m benchmarks.best_buy --rounds 3000

Searches on the digits with the paper's buffers, budget and prices, as `acdpp plan` does, then trains
the recommendation with seeds that the search has not seen. The file has the design as `--json` prints it.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.hardware import machine
from benchmarks.learner import write
from empirics.planning.plan import plan_study
from empirics.run import run_study
from empirics.settings.presets import PRESETS

SEEN, UNSEEN = 0, 1  # seeds of the search, and of the training
RISKS = ("cumulative_excess_risk", "final_excess_risk")


def main() -> None:
    """Parse, search, train, print, and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--objective", default="final", choices=["cumulative", "final"])
    parser.add_argument("--out", type=Path, help="a JSON file to write")
    given = parser.parse_args()
    own = {key: value for key, value in vars(given).items() if value != parser.get_default(key)}
    options = [f"--{key} {value}" for key, value in own.items() if key != "out"]
    document = {
        "command": " ".join(["python -m benchmarks.best_buy", *options]),
        "hardware": machine(),
        **measured(given.rounds, given.objective),
    }
    write(document, given.out)
    design, trained = document["design"], document["trained"]
    took = "{wall:.0f} s, {processor:.0f} s of processor time".format(**document["seconds"])
    print(f"{document['command']}\n{document['hardware']}\n{len(design['tried'])} tried in {took}")
    print(f"{design['name']}: {design['over_lower_bound']:.3g} times the lower bound")
    for risk in RISKS:
        found = trained[risk]
        print(
            f"{risk}: predicted {design['predicted'][risk]:.4g}, trained {found['mean']:.4g} ± {found['error']:.2g}"
        )


def measured(rounds: int, objective: str) -> dict[str, Any]:
    """The design with the time that it took, and its risks when it is trained, means over seeds and their errors."""
    began, used = time.monotonic(), time.process_time()
    found = plan_study(replace(PRESETS["digits"], rounds=rounds, seed=SEEN), objective=objective)
    seconds = {"wall": time.monotonic() - began, "processor": time.process_time() - used}
    with tempfile.TemporaryDirectory() as place:
        study = replace(found.study, seed=UNSEEN, predict=False, measures=("risk",))
        summary = run_study(study, Path(place) / "trained")["policies"][study.policies[0]]
    return {
        "seconds": seconds,
        "design": found.document(),
        "trained": {risk: {key: summary[risk][key] for key in ("mean", "error")} for risk in RISKS},
    }


if __name__ == "__main__":
    main()
