"""Learners on tables: held-out log-loss above scikit-learn's on the same bought rows, paired over splits."""

from __future__ import annotations

from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from docs.numbers.results import minus, result, table
from theory.numbers.student import half_width

__all__ = ["against", "beside", "compared", "count", "middle", "worst"]

BESIDE = "scikit-learn"
LEARNERS = ("information", "descent", "FedAvg", "FedAdam", "vowpal wabbit")


def _cases(batch: int, *, others: bool) -> list[str]:
    """Tables with so many rows per round; `others` are those on which nothing was chosen, and not separable."""
    found = result("tables")["studies"].items()
    return [
        case
        for case, one in found
        if case.endswith(f", {batch} rows per round")
        and not (others and (one["chosen_on"] or one["separable"]))
    ]


def _losses(case: str, learner: str) -> NDArray[Any] | None:
    """Log-loss, split by split, if the learner was measured."""
    found = result("tables")["studies"][case]["learners"].get(learner)
    return None if found is None else np.array(found["log_loss"])


def _apart(case: str, learner: str, other: str) -> tuple[float, float] | None:
    """How far the mean lies above the other's, in per cent, and half of its 95 % interval, paired over splits."""
    own, rest = _losses(case, learner), _losses(case, other)
    if own is None or rest is None:
        return None
    count = min(len(own), len(rest))  # long runs have fewer splits, the first
    apart, mean = (own[:count] - rest[:count]), rest[:count].mean()
    return float(100 * apart.mean() / mean), float(100 * half_width(apart, 0.95) / mean)


def _over(batch: int, learner: str) -> dict[str, tuple[float, float]]:
    """How far a learner lies above the same rows, by tables on which nothing was chosen, not separable."""
    each = {case: _apart(case, learner, BESIDE) for case in _cases(batch, others=True)}
    return {case: found for case, found in each.items() if found is not None}


def against(learner: str, other: str, batch: int) -> tuple[int, int, int]:
    """Number of these tables on which a learner's log-loss is significantly lower than another's, on which it is
    significantly higher (95 % intervals, paired over splits), and on which both were measured."""
    each = [_apart(case, learner, other) for case in _cases(batch, others=True)]
    found = [one for one in each if one is not None]
    return sum(mean < -half for mean, half in found), sum(mean > half for mean, half in found), len(found)


def compared(learner: str, other: str, batch: int) -> str:
    """Number of tables on which a learner is significantly better and worse, in words.

    >>> compared("information", "FedAvg", 10)  # doctest: +ELLIPSIS
    'better on ..., worse on ... of ...'
    """
    return "better on {}, worse on {} of {}".format(*against(learner, other, batch))


def middle(learner: str, batch: int) -> float:
    """The median over tables on which nothing was chosen and that are not separable, in per cent."""
    return round(median(mean for mean, _ in _over(batch, learner).values()), 1) + 0.0


def worst(learner: str, batch: int) -> str:
    """The largest over these tables, and the table."""
    case, found = max(_over(batch, learner).items(), key=lambda one: one[1][0])
    return "{:.0f} ± {:.0f} % ({})".format(*found, case.partition(",")[0])


def count() -> int:
    """Number of these tables."""
    return len(_over(100, "information"))


def beside(batch: int, *learners: str) -> str:
    """All tables: log-loss of scikit-learn, and how far learners lie above it, in per cent; – is not measured."""
    learners = learners or LEARNERS
    rows = []
    for case in _cases(batch, others=False):
        one = result("tables")["studies"][case]
        mark = " (chosen on)" if one["chosen_on"] else " (separable)" if one["separable"] else ""
        losses, found = _losses(case, BESIDE), (_apart(case, learner, BESIDE) for learner in learners)
        cells = ("–" if each is None else "{:+.1f} ± {:.1f}".format(*each) for each in found)
        first = "–" if losses is None else f"{losses.mean():.4f}"
        rows.append([case.partition(",")[0] + mark, first, *map(minus, cells)])
    return table(["table", BESIDE, *learners], rows)
