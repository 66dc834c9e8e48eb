"""Learners on tables: held-out log-loss above scikit-learn's on the same bought rows, paired over splits."""

from __future__ import annotations

from statistics import median

import numpy as np

from docs.numbers.results import minus, result, table
from theory.numbers.student import half_width

__all__ = ["beside", "count", "middle", "worst"]

BESIDE = "scikit-learn"
LEARNERS = ("information", "FedAvg", "FedAdam", "vowpal wabbit")


def _cases(batch: int, *, others: bool) -> list[str]:
    """Tables with so many rows per round; `others` are those on which nothing was chosen, and not separable."""
    found = result("tables")["studies"].items()
    return [
        case
        for case, one in found
        if case.endswith(f", {batch} rows per round")
        and not (others and (one["chosen_on"] or one["separable"]))
    ]


def _over(case: str, learner: str) -> tuple[float, float]:
    """How far the mean lies above that of the same rows, in per cent, and half of its 95 % interval."""
    losses = [result("tables")["studies"][case]["learners"][name]["log_loss"] for name in (learner, BESIDE)]
    (own, rest), mean = map(np.array, losses), np.mean(losses[1])
    return float(100 * (own - rest).mean() / mean), float(100 * half_width(own - rest, 0.95) / mean)


def middle(learner: str, batch: int) -> float:
    """The median over tables on which nothing was chosen and that are not separable, in per cent."""
    return round(median(_over(case, learner)[0] for case in _cases(batch, others=True)), 1) + 0.0


def worst(learner: str, batch: int) -> str:
    """The largest over these tables, and the table."""
    case = max(_cases(batch, others=True), key=lambda case: _over(case, learner)[0])
    return "{:.0f} ± {:.0f} % ({})".format(*_over(case, learner), case.partition(",")[0])


def count() -> int:
    """Number of these tables."""
    return len(_cases(100, others=True))


def beside(batch: int) -> str:
    """All tables: log-loss of scikit-learn, and how far the others lie above it, in per cent."""
    rows = []
    for case in _cases(batch, others=False):
        one = result("tables")["studies"][case]
        mark = " (chosen on)" if one["chosen_on"] else " (separable)" if one["separable"] else ""
        losses = one["learners"][BESIDE]["log_loss"]
        cells = ("{:+.1f} ± {:.1f}".format(*_over(case, learner)) for learner in LEARNERS)
        rows.append([case.partition(",")[0] + mark, f"{sum(losses) / len(losses):.4f}", *map(minus, cells)])
    return table(["table", BESIDE, *LEARNERS], rows)
