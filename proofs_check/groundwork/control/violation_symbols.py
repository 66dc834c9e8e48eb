"""The symbols and constants that claims about violations share."""

from __future__ import annotations

import sympy as sp

from proofs_check.symbols import rate
from theory.setting import Constants, Region

h = sp.Symbol("h", positive=True)  # 1/(1-ρ)
WIDE = Region(rate=rate, rho=1 - 1 / h)
SETTING = Constants(D=1.0, sigma=1.0, eta=1.0, B=1.0, Pdim=5.0)
