r"""The paper's MNIST budgets with prices uniform on [1, 10], and the symbols that the claims about buying share."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from theory.paper import BUDGET, MNIST, PRICES
from theory.prices import Uniform

__all__ = ["BUDGET", "HIGH", "LOW", "PAPER", "PLACES", "SETTING", "SHARE", "SYMBOLS"]
__all__ += ["Z1", "B", "C", "S", "V", "Z", "a", "c", "high", "j", "low", "q", "r"]

PLACES, (LOW, HIGH) = MNIST.total_buffer, PRICES
SHARE = Fraction(BUDGET, PLACES)
PAPER = Uniform(LOW, HIGH)
SETTING = "$S=100$, $C=55$, prices uniform on $[1,10]$"

S, C, V, B, c, low, high, a = sp.symbols("S C V B c c_- c_+ a", positive=True)
Z, Z1 = sp.symbols("Z Z_1", nonnegative=True)
j, r = sp.symbols("j r", integer=True, positive=True)
q = sp.Symbol("q", positive=True)

SYMBOLS = {
    "S": r"places of the memory, $\sum B$",
    "C": "what may be spent in a round, on average",
    "c": "the price of a sample in a round",
    "E": "expectation",
    "x": "samples bought in a round",
}
