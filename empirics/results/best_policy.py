"""The best policy of a study, and which differences between policies are significant.

The best is chosen among policies that keep the budget, or spend up to a tenth more: rules that hold in the long run
exceed it for a while. Policies are compared by cumulative excess risk or, where that is not measured, by final test
accuracy; where samples come in their own order, by the mean loss of each round's model on that round's samples.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.numbers.student import half_width

__all__ = ["ACCURACY", "LEVEL", "LOSS", "RISK", "Answer", "answer", "ranking", "significant"]

LEVEL = 0.05
KEPT_BUDGETS_MAX = 1.1  # spent per round on average by a policy that keeps the budget
RISK, LOSS, ACCURACY = "cumulative_excess_risk", "mean_risk", "final_accuracy"
BY_SEED = {LOSS: "mean_risks", ACCURACY: "final_accuracies"}


@dataclass(frozen=True)
class Answer:
    """The best policy of a study, and those that it is compared with."""

    measure: str
    best: str
    next: str | None  # the best of the others that keep the budget, if the best does
    undecided: tuple[str, ...]  # others that do not differ significantly from the best
    compared: int  # others that keep the budget
    beyond: str | None  # the best of those that exceed the budget, if it is better still
    alone: bool  # some policies exceed the budget, and some do not


def significant(difference: NDArray[np.float64], policies: int) -> bool:
    """Significance of a difference between two of `policies` policies: paired t-test over seeds, Bonferroni over pairs.

    >>> found = np.array([1.0, 1.42, 0.58, 1.0])  # p = 0.010, and there are 3 pairs of 3 and 6 of 4
    >>> significant(found, 3), significant(found, 4), significant(np.zeros(4), 2)
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
    kept = [
        name for name in ranked if rows[name]["mean_cost"]["mean"] <= KEPT_BUDGETS_MAX * summary["budget"]
    ]
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
    return not significant(first - second, len(rows))


def ranking(
    policies: Sequence[str], cumulative: NDArray[np.float64], bounds: Mapping[str, NDArray[np.float64]]
) -> dict[str, Any]:
    """Policies from best to worst, measured and by the bounds.

    A pair is decided if its difference is significant in a paired t-test over the seeds at the 5 % level, all pairs
    taken together (Bonferroni). A bound agrees if it orders every decided pair as measured; None if no pair is decided.
    A bound that is undefined for some policy does not rank.
    """

    def order(values: NDArray[np.float64]) -> list[str]:
        return [policies[p] for p in np.argsort(values.mean(axis=1), kind="stable")]

    pairs = {}
    for a, b in combinations(range(len(policies)), 2):
        difference = cumulative[a] - cumulative[b]
        pairs[a, b] = float(difference.mean()), significant(difference, len(policies))
    names = {pair: [policies[p] for p in pair] for pair in pairs}
    decided = [pair for pair, (_, apart) in pairs.items() if apart]
    found: dict[str, Any] = {
        "measured": order(cumulative),
        "pairs": len(pairs),
        "decided_pairs": len(decided),
        "undecided": [names[pair] for pair in pairs if pair not in decided],
    }
    for form in ("corrected", "stated"):
        if not np.isfinite(bounds.get(form, np.nan)).all():
            continue
        bound = bounds[form].mean(axis=1)
        wrong = [names[a, b] for a, b in decided if pairs[a, b][0] * (bound[a] - bound[b]) < 0]
        found[form] = order(bounds[form])
        found[f"{form}_disagrees_on"] = wrong
        found[f"{form}_agrees"] = not wrong if decided else None
    return found
