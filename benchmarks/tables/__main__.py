"""Held-out log-loss and accuracy of learners on tables, each row bought at most once. Run from the repository root:

    python -m benchmarks.tables --data-dir data/mnist --out tables.json

A quarter of each table is held out, the rest is bought, a tenth of it as the pilot, row by row, at one price: no
learner knows a law of prices, and all spend the same. Features are standardised by the pilot and clipped. FedAvg and
FedAdam have the best step sizes of a grid by the *held-out* rows, which is too good for them. docs/results/tables.md
sets them beside scikit-learn on the same rows. `--merge` takes learners from files of other machines.
"""

import json
from argparse import Namespace
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from benchmarks.common import machine
from benchmarks.runner import Benchmark, Document, write
from benchmarks.tables.data import TABLES
from benchmarks.tables.rivals import LEARNERS, OFFLINE
from benchmarks.tables.splits import SETTINGS, shares, table
from benchmarks.tables.work import Measured, Task, begin, measured


def main() -> None:
    benchmark = Benchmark.asked("tables", __doc__)
    given, found = benchmark.given, dict[Task, Measured]()
    document = benchmark.begin(study=f"{given.splits} splits")
    if not document["studies"]:
        document["hardware"] = ""  # of what is merged and measured
    for path in filter(None, given.merge.split(",")):
        merge(document, json.loads(Path(path).read_text(encoding="utf-8")))
    keep(document, given.out)
    todo = tasks(document, given)
    with ProcessPoolExecutor(given.processes, get_context("spawn"), begin) as pool:
        running = {pool.submit(measured, task, given, benchmark.end): task for task in todo}
        for done in as_completed(running):
            task, one = running[done], done.result()
            if one is None:
                continue
            found[task] = one
            if all(other in found for other in todo if other[:3] == task[:3]):
                add(document, task, [found[other] for other in todo if other[:3] == task[:3]], given)
                keep(document, given.out)


def keep(document: Document, out: Path | None) -> None:
    """Write the document, its tables in their order."""
    names = list(TABLES)
    each = sorted(document["studies"].items(), key=lambda one: names.index(one[0].rpartition(", ")[0]))
    document["studies"] = dict(each)
    write(document, out)


def merge(document: Document, other: Document) -> None:
    """Take the learners of another file, whose splits have to be of the same rows."""
    for case, there in other["studies"].items():
        own = document["studies"].setdefault(case, there)
        if any(own[key] != there[key] for key in own.keys() - {"learners"}):
            raise SystemExit(f"{case}: not of the same rows")
        own["learners"] |= there["learners"]
    ran_on(document, other["hardware"])


def ran_on(document: Document, hardware: str) -> None:
    """Write a machine down, once."""
    if hardware not in document["hardware"]:
        document["hardware"] = "; ".join(filter(None, [document["hardware"], hardware]))


def tasks(document: Document, given: Namespace) -> list[Task]:
    """Work whose result the document does not hold, the longest first."""
    learners = given.learners.split(",") if given.learners else list(LEARNERS)
    named = given.tables.split(",") if given.tables else list(TABLES)
    batches, found = sorted(map(int, given.batches.split(","))), []
    for name, learner in product(named, learners):
        step = 1 if learner in OFFLINE else SETTINGS["splits_at_once"]
        for batch, first in product(
            batches[: 1 if learner in OFFLINE else None], range(0, given.splits, step)
        ):
            there = document["studies"].get(_case(name, batch), {"learners": ()})
            if learner not in there["learners"]:
                found.append((name, batch, learner, range(given.splits)[first : first + step]))
    sizes = {name: table(name, given.data_dir)[0].size for name in named}
    return sorted(found, key=lambda task: (task[2] not in OFFLINE, task[1], -sizes[task[0]]))


def _case(name: str, batch: int) -> str:
    return f"{name}, {batch} rows per round"


def add(document: Document, task: Task, parts: list[Measured], given: Namespace) -> None:
    """Write what a learner reached, with the setting that is best over all splits, into the document."""
    ran_on(document, machine(given.device))
    name, batch, learner, _ = task
    losses, right = (np.concatenate([part[k] for part in parts], axis=1) for k in range(2))
    best, seconds = int(losses.mean(1).argmin()), sum(part[2] for part in parts)
    told = {"log_loss": losses[best].tolist(), "accuracy": right[best].tolist()}
    rows = len(table(name, given.data_dir)[1])
    held_out, pilot = shares(rows)
    about = {
        "rows": rows - held_out, "pilot": pilot, "held_out": held_out,
        "chosen_on": TABLES[name].chosen, "separable": TABLES[name].separable,
    }  # fmt: skip
    for each in map(int, given.batches.split(",")) if learner in OFFLINE else [batch]:
        there = document["studies"].setdefault(_case(name, each), about | {"learners": {}})
        there["learners"][learner] = told | {"setting": best, "seconds": seconds}
    words = f"{losses[best].mean():.4f}, {right[best].mean():.1%}, {seconds:.0f} s"
    print(f"{_case(name, batch)}: {learner} {words}", flush=True)


if __name__ == "__main__":
    main()
