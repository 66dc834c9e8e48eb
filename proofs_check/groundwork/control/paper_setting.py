"""The paper's MNIST budgets, and the symbols that claims about violations share."""

from __future__ import annotations

import sympy as sp

from proofs_check.notation import rate
from theory.setting import Constants, Region

h = sp.Symbol("h", positive=True)  # 1/(1-ρ)
WIDE = Region(rate=rate, rho=1 - 1 / h)
SETTING = Constants(D=1.0, sigma=1.0, eta=1.0, B=1.0, Pdim=5.0)

# The paper's MNIST experiment: ten clients, ΣB = 100, C = 55, mean cost 5.5, so K* = 10 and Λ̄ = 10, exactly affordable
BUDGET, RATE, RETENTION = 55, 10, 10
BUFFERS = (8, 9, 10, 11, 12, 8, 9, 10, 11, 12)  # of the paper's ten MNIST clients
