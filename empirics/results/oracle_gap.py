"""The share of the gap between constant admission and the oracle that a policy closes; the oracle fills all buffers.

The seeds of a study see the same prices, so the share is a ratio of means of paired differences, and its interval
that of the ratio's linearisation (the delta method, Student's t).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from theory.numbers.student import half_width, p_value

__all__ = ["gap_closed"]

LEVEL = 0.95
FROM, TO = "constant", "oracle"
Floats = NDArray[np.float64]


def gap_closed(policies: Sequence[str], values: Floats) -> dict[str, dict[str, float | None]] | None:
    """The share of the gap in some measure, (policies, seeds), that each other policy closes, with a 95 % interval.

    `p` is of a paired t-test that the policy and constant admission do not differ.

    None where a study lacks one of the two ends, or where oracle and constant admission do not differ significantly. A
    policy of which a run diverged, so that its value is NaN or the interval is not finite, is left out.

    >>> values = np.array([[4.0, 4.2], [2.0, 2.2], [3.0, 3.2]])
    >>> gap_closed(["constant", "oracle", "mine"], values)["mine"]["share"]
    0.5
    """
    if FROM not in policies or TO not in policies:
        return None
    start, end = values[policies.index(FROM)], values[policies.index(TO)]
    gap = start - end
    if not abs(gap.mean()) > half_width(gap, LEVEL):
        return None
    found: dict[str, dict[str, float | None]] = {}
    for name, own in zip(policies, values, strict=True):
        if name not in (FROM, TO):
            share = float((start - own).mean() / gap.mean())
            half = float(half_width(start - own - share * gap, LEVEL) / abs(gap.mean()))
            if not np.isfinite(half):
                continue
            found[name] = {
                "share": share,
                "low": share - half,
                "high": share + half,
                "p": p_value(start - own),
            }
    return found
