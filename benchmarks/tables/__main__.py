"""Held-out log-loss and accuracy of learners on tables, each row bought at most once. Run from the repository root:

    python -m benchmarks.tables --data-dir data/mnist --out tables.json

A quarter of each table is held out, the rest is bought, a tenth of it as the pilot, row by row, at one price: no
learner knows a law of prices, and all spend the same. Features are standardised by the pilot and clipped. FedAvg and
FedAdam have the best step sizes of a grid by the *held-out* rows, which is too good for them. docs/results/tables.md
sets them beside scikit-learn on the same rows.
"""

from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.common import timed
from benchmarks.runner import Benchmark
from benchmarks.tables.data import TABLES
from benchmarks.tables.rivals import LEARNERS, SETTINGS, Splits
from empirics.training.sums import Rows


def main() -> None:
    torch.set_default_dtype(torch.float64)
    benchmark = Benchmark.asked("tables", __doc__)
    given = benchmark.given
    named = given.tables.split(",") if given.tables else list(TABLES)
    cases = [f"{name}, {batch} rows per round" for name in named for batch in given.batches.split(",")]
    document = benchmark.begin(study=f"{given.splits} splits")
    benchmark.measure(document, cases, lambda case: measured(case, benchmark))


def split_of(name: str, batch: int, given: Namespace) -> Splits:
    """The splits of a table, each with its own order of rows and its own pilot."""
    x, y = TABLES[name].load(given.data_dir or Path("data"))
    y = np.unique(y, return_inverse=True)[1]
    held_out = int(len(y) * SETTINGS["held_out_share"])
    pilot = max(SETTINGS["pilot_rows_min"], int((len(y) - held_out) * SETTINGS["pilot_share"]))
    inputs, labels = [], []
    for seed in range(given.splits):
        order = np.random.default_rng(seed).permutation(len(y))
        first = x[order[held_out : held_out + pilot]]
        spread = first.std(axis=0)
        standard = (x[order] - first.mean(axis=0)) / np.where(spread > 0, spread, 1)
        clipped = standard.clip(-SETTINGS["clip"], SETTINGS["clip"])
        inputs.append(np.c_[clipped, np.ones(len(y))])
        labels.append(y[order])
    every = Rows.of(*(torch.from_numpy(np.array(part)).to(given.device) for part in (inputs, labels)))
    bought, test = every.part(slice(held_out, None)), every.part(slice(held_out))
    return Splits(bought, pilot, batch, test, int(y.max()) + 1)


def measured(case: str, benchmark: Benchmark) -> dict[str, Any]:
    """Log-loss and accuracy of every learner, split by split, and its seconds."""
    given = benchmark.given
    name, batch = case.removesuffix(" rows per round").rsplit(", ", 1)
    splits = split_of(name, int(batch), given)
    truth, found = splits.test.y.cpu().numpy(), {}
    for learner in given.learners.split(",") if given.learners else LEARNERS:
        chances, (seconds,) = timed(partial(LEARNERS[learner], splits))
        own = np.take_along_axis(chances, truth[None, :, :, None], -1)[..., 0]
        loss = -np.log(own.clip(1e-15)).mean(-1)
        best = int(loss.mean(1).argmin())
        right = (chances[best].argmax(-1) == truth).mean(-1)
        told = {"log_loss": loss[best].tolist(), "accuracy": right.tolist()}
        found[learner] = told | {"setting": best, "seconds": seconds}
        words = f"{loss[best].mean():.4f}, {right.mean():.1%}, {seconds:.0f} s"
        print(f"{case}: {learner} {words}", flush=True)
    return {
        "rows": len(splits.bought.y[0]), "pilot": splits.pilot, "held_out": len(truth[0]),
        "chosen_on": TABLES[name].chosen, "separable": TABLES[name].separable, "learners": found,
    }  # fmt: skip


if __name__ == "__main__":
    main()
