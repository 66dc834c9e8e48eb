"""The paper's formulas and ours: pure functions, without input or output, randomness or torch.

A function runs on symbols, rationals, arrays, balls and tensors alike. Where the paper's form and the true form
differ, both exist: `name_as_stated` and `name`.

| module | holds |
| --- | --- |
| `paper` | numbers of the paper: budgets, prices, Section 7 |
| `setting` | settings, each value by itself: `Constants`, `Budget`, `Region`; a mistake is a `SettingError` |
| `numbers.algebra`, `.summation`, `.lambert`, `.student` | number systems, long sums, the Lambert sum, Student's t |
| `reuse.counts` | use counts of samples: uniformity, effective sample size, gradient mismatch |
| `reuse.constant`, `.trajectories` | these under constant admission, and along any admission sequence |
| `bound.theorem1` | Theorem 1: the contribution of a round, and its sum along any trajectory |
| `bound.constant_admission` | Corollary 1 and the costless oracle, for up to 10^15 rounds |
| `bound.sharper` | two bounds below Theorem 1: through all samples, and through the memory |
| `bound.stability`, `.confidence` | a bound without Pdim, B and σ, for steps of at most 2/L; in high probability |
| `control.region` | the contracting admission region |
| `control.penalty`, `.minimiser` | the surrogate penalty and its exact minimiser |
| `control.admission`, `.whole_samples` | debt and state of ACDPP, a round of it; rates as whole samples |
| `control.violation` | largest constraint violations of a policy inside the region |
| `regret.omegas`, `.transient`, `.rates` | the terms of the regret, the cost of the transient, orders of growth |
| `regret.expansion` | the regret to O(1), for every policy |
| `design.offline`, `.search` | K and rates for given budgets, for T rounds or as T → ∞; the search behind it |
| `law.quadratic` | the law of reuse: expected excess risk, exact for quadratic losses |
| `law.stationary` | the law under steady admission: after t rounds, for small steps, the best K |
| `law.averaging`, `.averaged_limits` | averaged models: any weights and steps, the best weights, closed forms |
| `law.information` | a server that adds up gradient and curvature: its exact risk |
| `law.clients` | clients that differ: bias and noise of their weights |
| `law.curved` | samples with different curvatures: reuse and local steps, to first order in 1/n |
| `market.prices` | price laws: uniform, lists, traces |
| `market.knapsack`, `.lower_bound` | the largest rate of distinct samples; a lower bound for every policy and learner |
| `market.cumulative` | what to buy for the cumulative risk of a server that adds up information |
| `market.capacity` | memories kept full: ages instead of lifetimes, any admissions, bursts |
| `market.replacement`, `.sticky` | the best rule to replace a sample by age and price; if prices persist |
| `market.online`, `.long_run` | buying cheap without knowing the prices; long-run rates of all rules |
| `drift.moving_optimum`, `.long_run` | the law for a moving optimum; its lags in closed form, best K, step and window |
| `drift.velocity` | a filter that estimates the optimum's velocity: its noise and lag |
| `drift.retention` | K, step and mean of models for a given drift and budgets |

Names that users need most are here too, as in `from theory import Constants, constant_bound`, except those of a
module or folder, such as `design.offline.design`. A module is loaded when one of its names is first used.
"""

from importlib import import_module
from typing import Any

_NAMES = {
    "bound.constant_admission": "constant_bound constant_bound_as_stated oracle_bound oracle_bound_as_stated",
    "bound.sharper": "memory_constant_bound sharper_constant_bound",
    "bound.stability": "overlaps stability_1 stability_constant_bound",
    "bound.theorem1": "Bound Terms theorem_1 theorem_1_as_stated",
    "control.admission": "AdmissionState acdpp_round debt_update",
    "control.whole_samples": "integer_admissions",
    "control.minimiser": "optimal_admission",
    "control.violation": "buffer_violation_maximum cost_violation_bound",
    "design.offline": "Candidate Design best_rate crossover_horizon design_as_stated design_limit fill_ratio",
    "market.knapsack": "purchase_limit",
    "market.prices": "Atoms Uniform",
    "market.replacement": "best_replacement",
    "numbers.algebra": "ball precise",
    "regret.omegas": "omega1 omega2 omega3",
    "reuse.constant": "mismatch_constant uniformity_constant uniformity_constant_as_stated",
    "reuse.counts": "effective_sample_size mismatch_kstep uniformity uniformity_kstep",
    "reuse.trajectories": "Trajectory trajectory",
    "setting": "Budget Constants Region SettingError",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"theory.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'theory' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
