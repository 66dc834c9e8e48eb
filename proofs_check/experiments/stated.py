"""What Section 7 of the paper says about its own experiments, in floats, as measurements are."""

from __future__ import annotations

from theory.paper import ROUNDS, RUNS, Experiment
from theory.paper import SECTION7 as EXACT

__all__ = ["ROUNDS", "RUNS", "SECTION7", "Stated"]

Stated = Experiment[float]
SECTION7 = {dataset: said.rounded() for dataset, said in EXACT.items()}
