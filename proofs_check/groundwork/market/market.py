r"""The paper's MNIST budgets with prices uniform on [1, 10], and the symbols that the claims about buying share."""

from proofs_check.prelude import *

from theory.market.prices import Uniform
from theory.paper import BUDGET, MNIST, PRICES

__all__ = ["BUDGET", "FLOATS", "HIGH", "LOW", "ONLINE", "PAPER", "PLACES", "SETTING", "SHARE", "SYMBOLS"]
__all__ += ["B", "C", "S", "V", "Z", "a", "c", "high", "j", "low", "q", "r"]

PLACES, (LOW, HIGH) = MNIST.total_buffer, PRICES
SHARE = Fraction(BUDGET, PLACES)
PAPER, FLOATS = Uniform(LOW, HIGH), Uniform(float(LOW), float(HIGH))
SETTING = "$S=100$, $C=55$, prices uniform on $[1,10]$"

S, C, V, B, c, low, high, a = sp.symbols("S C V B c c_- c_+ a", positive=True)
Z = sp.Symbol("Z", nonnegative=True)
j, r = sp.symbols("j r", integer=True, positive=True)
q = sp.Symbol("q", positive=True)

SYMBOLS = {
    "A": "the age of a sample: how often it has been used",
    "C": "what may be spent in a round, on average",
    "E": "expectation",
    "S": r"places of the memory, $\sum B$",
    "c": "the price of a sample in a round",
    "g": "what a sample of an age adds to the noise",
    "j": "an age: how often a sample has been used",
    "x": "samples bought in a round",
    "Ā": "mean age in memory over the rounds, a fresh sample's being 1",
}
ONLINE = SYMBOLS | {
    "B": "half the square of the most that a round moves the debt by",
    "R": "the largest rate that money buys",
    "Z_1": "the debt at the start",
    "c_-": "the lowest price",
    "c_+": "the highest price",
}
