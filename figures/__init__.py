"""Figures of the theory, the verification and saved runs.

One module per figure. `compute` turns settings into a frozen dataclass of arrays, all from `theory`, `proofs_check` or
a result of `empirics`; `draw` turns that dataclass into a matplotlib `Figure` and computes nothing. No pyplot, and no
state that outlives a call.

| module | draws |
| --- | --- |
| `bound_vs_horizon` | the bound against T, as stated and corrected |
| `uniformity`, `mismatch` | reuse of samples; the resulting gradient mismatch |
| `omegas` | the terms of the regret over their orders |
| `control`, `simulation` | a run of ACDPP without training |
| `design` | the choice of K |
| `prices`, `frontier` | buying when it is cheap: round by round, and against the budget, with an upper bound |
| `learning`, `risk_vs_bound`, `constraints`, `measured_mismatch` | a saved run: accuracy, risk, constraints, mismatch |
| `money` | excess risk against spending, with a lower bound |
| `prediction`, `retention` | predictions for a saved run, round by round and over K |
| `drifting` | a drifting population |
| `section7`, `explained` | the paper's figures reproduced; the sources of its gain |
| `measured`, `curves` | a saved result as arrays; means, spreads and drawn points of curves |
| `style`, `options`, `save` | sizes, colours and fonts; choices; files |

A module is loaded on first use, and matplotlib with it.
"""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

__all__ = [module.name for module in iter_modules(__path__)]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return import_module(f"figures.{name}")
    raise AttributeError(f"module 'figures' has no attribute {name!r}")
