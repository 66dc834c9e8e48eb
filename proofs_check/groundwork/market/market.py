r"""The paper's MNIST budgets with prices uniform on [1, 10], and the symbols that the claims about buying share."""

from proofs_check.prelude import *

from theory.paper import BUDGET, MNIST, PRICES

PLACES, (LOW, HIGH) = MNIST.total_buffer, PRICES
SHARE = Fraction(BUDGET, PLACES)
PAPER, FLOATS = Uniform(LOW, HIGH), Uniform(float(LOW), float(HIGH))
SETTING = "$S=100$, $C=55$, prices uniform on $[1,10]$"

S, C, V, B, c, low, high, a = sp.symbols("S C V B c c_- c_+ a", positive=True)
Z = sp.Symbol("Z", nonnegative=True)
j, r = sp.symbols("j r", integer=True, positive=True)
q = sp.Symbol("q", positive=True)

SYMBOLS = glossary("market")
ONLINE = SYMBOLS | glossary("online")
