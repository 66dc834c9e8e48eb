"""Tight worst cases of first-order methods, by PEPit.

A positive outcome supports an inequality at stated parameters: the worst case over all functions of a class and all
starting points, the value of a semidefinite program, is below its right-hand side. A negative outcome means that the
inequality does not follow from what the program knows. It does not refute: the program's comparator is any point, the
paper's is the minimiser of the population risk.
"""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from proofs_check.evidence import Evidence, fails, holds

__all__ = ["compare", "solve"]

ACCURACY = 1e-4  # relative; two orders above the solver's on problems of this size
FLOOR = 1e-6  # absolute accuracy where both sides are near 0, for problems with constants near 1


def solve(build: Callable[[], Any]) -> float:
    """The worst case of the problem (`PEPit.PEP`) that `build` sets up, without output."""
    problem = build()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=DeprecationWarning)  # from the modelling layer
        # "inaccurate" means a gap of up to 5e-5, the solver's reduced tolerance, below ACCURACY
        warnings.filterwarnings("ignore", message="Solution may be inaccurate", category=UserWarning)
        value = problem.solve(verbose=0, wrapper="cvxpy", solver="CLARABEL")
    if value is None:
        raise ArithmeticError("the solver found no worst case: is the problem bounded?")
    return float(value)


def compare(
    build: Callable[[], Any], stated: float, *, domain: str, parameters: Mapping[str, Any]
) -> Evidence:
    """Test whether the worst case stays at or below the stated right-hand side, at the given parameters."""
    worst = solve(build)
    certificate = {**parameters, "worst case": worst, "stated": float(stated), "accuracy": ACCURACY}
    slack = max(ACCURACY * stated, FLOOR)
    both = f"worst case {worst:.6g}, stated {float(stated):.6g}"
    if worst > stated + slack:
        return fails("worst case", both, domain=domain, certificate=certificate)
    tight = ": tight to the solver's accuracy" if worst > stated - slack else ""
    return holds("worst case", both + tight, domain=domain, certificate=certificate)
