"""What a study found in short, from its summary alone: which policy is best, next to which, whether that is certain,
and who is better for more money.

The best is looked for among policies that keep the budget, or spend up to a tenth more: rules that hold in the long run
are above it for a while. What is compared is the cumulative excess risk or, where that is not measured, the final test
accuracy; of samples in their own order it is the mean loss of each round's model on that round's samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.numbers.student import half_width

__all__ = ["ACCURACY", "LEVEL", "LOSS", "RISK", "Answer", "answer", "told_apart"]

LEVEL = 0.05
WITHIN = 1.1  # times the budget: what a policy may have spent on average in a run of some rounds, and counts as kept
RISK, LOSS, ACCURACY = "cumulative_excess_risk", "mean_risk", "final_accuracy"
BY_SEED = {LOSS: "mean_risks", ACCURACY: "final_accuracies"}


@dataclass(frozen=True)
class Answer:
    """The best policy of a study, and what it is held against."""

    measure: str
    best: str
    next: str | None  # the best of the others that keep the budget, if the best does
    undecided: tuple[str, ...]  # of these, those that a paired test does not tell from the best
    compared: int  # with how many it was
    beyond: str | None  # the best of those that do not keep the budget, if it is better still
    alone: bool  # whether others were left out since they do not keep it


def told_apart(difference: NDArray[np.float64], policies: int) -> bool:
    """Whether a paired t-test over the seeds tells two of so many policies apart, all pairs taken together.

    >>> found = np.array([1.0, 1.42, 0.58, 1.0])  # p = 0.010, and there are 3 pairs of 3 and 6 of 4
    >>> told_apart(found, 3), told_apart(found, 4), told_apart(np.zeros(4), 2)
    (True, False, False)
    """
    level = 1 - LEVEL / comb(policies, 2)
    return bool(abs(difference.mean()) > half_width(difference, level))


def answer(summary: Mapping[str, Any]) -> Answer | None:
    """The answer, unless no policy has a finite measure."""
    rows = summary["policies"]
    streams = all(BY_SEED[LOSS] in row for row in rows.values())
    measure = RISK if "ranking" in summary else LOSS if streams else ACCURACY
    values = {name: row[measure]["mean"] for name, row in rows.items() if row[measure]["mean"] is not None}
    if not values:
        return None
    ranked = sorted(values, key=values.__getitem__, reverse=measure == ACCURACY)
    kept = [name for name in ranked if rows[name]["mean_cost"]["mean"] <= WITHIN * summary["budget"]]
    best, *others = kept or ranked
    return Answer(
        measure,
        best,
        others[0] if others else None,
        tuple(name for name in others if _undecided(summary, measure, best, name)),
        len(others),
        ranked[0] if ranked[0] != best else None,
        0 < len(kept) < len(ranked),
    )


def _undecided(summary: Mapping[str, Any], measure: str, one: str, other: str) -> bool:
    if measure == RISK:
        return any({one, other} == set(pair) for pair in summary["ranking"]["undecided"])
    rows = summary["policies"]
    first, second = (np.array(rows[name][BY_SEED[measure]], dtype=float) for name in (one, other))
    return not told_apart(first - second, len(rows))
