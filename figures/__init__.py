"""What the theory, the verification and the saved runs say, drawn.

One module a figure. `compute` turns settings into a frozen dataclass of arrays, all of them from `theory`,
`proofs_check` or a result of `empirics`; `draw` turns that dataclass into a matplotlib `Figure` and computes nothing.
No pyplot and no state that outlives a call.

| module | draws |
| --- | --- |
| `bound_vs_horizon` | the bound against T, as stated and corrected |
| `uniformity`, `mismatch` | reuse of samples; the gradient mismatch it makes |
| `omegas` | the terms of the regret over their orders |
| `control` | ACDPP at work |
| `design` | the choice of K |
| `prices`, `frontier` | buying when it is cheap: round by round, and against the budget, with what no policy can buy |
| `learning`, `risk_vs_bound`, `constraints`, `measured_mismatch` | a saved run: accuracy, risk, constraints, mismatch |
| `money` | excess risk against what was spent for it, with what nobody is below |
| `prediction`, `retention` | what was predicted for it, round by round and over K |
| `section7`, `explained` | the paper's experiments run again: its figures from our runs; what carries its gain |
| `style`, `choices`, `save` | sizes, colours and fonts; what can be chosen; the files |

A module is loaded when it is first asked for, and matplotlib with it.
"""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

__all__ = [module.name for module in iter_modules(__path__)]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return import_module(f"figures.{name}")
    raise AttributeError(f"module 'figures' has no attribute {name!r}")
