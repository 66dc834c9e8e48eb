"""Tight worst cases of first-order methods, by PEPit.

PEPit turns "the largest value of this quantity over all functions of a class and all starting points" into a
semidefinite program, whose value is the tight worst case for the stated parameters, up to the solver's
accuracy. A worst case below the stated right-hand side supports the inequality there. One above it, by far more than
that accuracy, means that the inequality cannot be derived from what the program knows; it refutes nothing by itself,
since the program's comparator is a free point where the paper's is the minimiser of the population risk.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from proofs_check.evidence import Evidence, fails, holds

__all__ = ["compare", "solve"]

ACCURACY = (
    1e-4  # relative to the larger side: two orders above what the solver reaches on problems of this size
)
FLOOR = 1e-6  # where both sides are near 0: problems are to be scaled so that their constants are near 1


def solve(build: Callable[[], Any]) -> float:
    """The worst case of the problem (`PEPit.PEP`) that `build` sets up, solved without a word."""
    problem = build()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", category=DeprecationWarning
        )  # of the modelling layer, not of the mathematics
        # "inaccurate" means a gap of up to 5e-5, the solver's reduced tolerance: still below ACCURACY
        warnings.filterwarnings("ignore", message="Solution may be inaccurate", category=UserWarning)
        value = problem.solve(verbose=0, wrapper="cvxpy", solver="CLARABEL")
    if value is None:
        raise ArithmeticError("the solver found no worst case: is the problem bounded?")
    return float(value)


def compare(
    build: Callable[[], Any], stated: float, *, domain: str, parameters: Mapping[str, Any]
) -> Evidence:
    """Whether the worst case stays at or below the stated right-hand side, at the given parameters."""
    worst = solve(build)
    certificate = {**parameters, "worst case": worst, "stated": float(stated), "accuracy": ACCURACY}
    slack = max(ACCURACY * abs(stated), FLOOR)
    both = f"worst case {worst:.6g}, stated {float(stated):.6g}"
    if worst > stated + slack:
        return fails("worst case", both, domain=domain, certificate=certificate)
    tight = ": tight to the solver's accuracy" if worst > stated - slack else ""
    return holds("worst case", both + tight, domain=domain, certificate=certificate)
