"""The paper as code, and what replaces it: pure functions, without input or output, randomness or torch.

The same function runs on symbols, rationals, arrays, balls and tensors. Where the paper's form and the true one
differ, both exist: `name` and `name_as_stated`.

| module | holds |
| --- | --- |
| `paper` | the paper's own numbers: budgets, prices, Section 7 |
| `setting` | what a user chooses: `Constants`, `Budget`, `Region`; a mistake is a `SettingError` |
| `reuse` | how often samples are used: uniformity, effective sample size, gradient mismatch |
| `bound` | Theorem 1: what a round contributes, and its sum along any trajectory |
| `constant_admission` | Corollary 1 and the costless oracle, over as many as 10^15 rounds |
| `sharper` | two bounds below Theorem 1: through all samples, and through the memory |
| `stability` | a bound without Pdim, B and σ: how far a single sample can move the model |
| `confidence` | the same for a single run, in high probability |
| `region` | the contracting admission region |
| `penalty`, `minimiser`, `admission` | the surrogate penalty, its exact minimiser, a round of ACDPP |
| `regret`, `transient`, `rates` | the terms of the regret, what the region's start costs, orders of growth |
| `regret_expansion` | the regret to O(1), for every policy |
| `law` | the law of reuse: what a federation learns, exactly, for quadratic losses |
| `stationary` | the law under steady admission: after t rounds, for small steps, the best K |
| `averaging` | the law of averaged models: any weights and steps, rounds without samples, the best weights |
| `averaged_limits` | the same in closed form: constant admission, falling steps, other weights |
| `drift` | the law where the optimum moves: any path, a random walk, last and averaged models |
| `drift_limits` | the same in the long run: lags in closed form, and which K, step, window and rate are best |
| `drift_design` | what to do about a drift: K, step and mean of models for given budgets |
| `clients` | the law for clients that differ: what weights cost in bias and in noise |
| `curved` | samples with curvatures of their own: what reuse and local steps change, to first order in 1/n |
| `prices` | laws of a price: even ones, lists, traces |
| `knapsack` | what money buys: the largest rate of distinct samples, for every policy |
| `lower_bound` | what no policy and no learner can beat with this money, and what reaches it |
| `capacity` | memories kept full: ages instead of lifetimes, any admissions, bursts |
| `replacement` | when to replace a sample at which price: the best rule within a budget |
| `buying` | buying cheap without knowing the prices: drift-plus-penalty with its constants |
| `buying_plan` | what buying cheap comes to in the long run: the best rule, the online one, bursts |
| `sticky` | the best time to replace a sample where prices stay for a while |
| `violation` | by how much a policy inside the region can break its constraints |
| `design` | which K and which rates for given budgets, for T rounds (`design.design`) or as T → ∞ |
| `student` | intervals and comparisons of what is measured |
| `algebra`, `summation`, `lambert`, `design_search` | underneath: number systems, sums, a series, a search |

What a user most often needs is here as well, as in `from theory import Constants, constant_bound`; not what has the
name of its module, such as `design.design`. A module is loaded when something of it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from theory.admission import AdmissionState, acdpp_round, debt_update, integer_admissions
    from theory.algebra import ball, precise
    from theory.bound import Bound, Terms, theorem_1, theorem_1_as_stated
    from theory.constant_admission import (
        constant_bound,
        constant_bound_as_stated,
        oracle_bound,
        oracle_bound_as_stated,
    )
    from theory.design import (
        Candidate,
        Design,
        best_rate,
        crossover_horizon,
        design_as_stated,
        design_limit,
        fill_ratio,
    )
    from theory.knapsack import purchase_limit
    from theory.minimiser import optimal_admission
    from theory.prices import Atoms, Uniform
    from theory.regret import omega1, omega2, omega3
    from theory.replacement import best_replacement
    from theory.reuse import (
        Trajectory,
        effective_sample_size,
        mismatch_constant,
        mismatch_kstep,
        trajectory,
        uniformity,
        uniformity_constant,
        uniformity_constant_as_stated,
        uniformity_kstep,
    )
    from theory.setting import Budget, Constants, Region, SettingError
    from theory.sharper import memory_constant_bound, sharper_constant_bound
    from theory.stability import overlaps, stability_1, stability_constant_bound
    from theory.violation import buffer_violation_maximum, cost_violation_bound

__all__ = [
    "AdmissionState",
    "Atoms",
    "Bound",
    "Budget",
    "Candidate",
    "Constants",
    "Design",
    "Region",
    "SettingError",
    "Terms",
    "Trajectory",
    "Uniform",
    "acdpp_round",
    "ball",
    "best_rate",
    "best_replacement",
    "buffer_violation_maximum",
    "constant_bound",
    "constant_bound_as_stated",
    "cost_violation_bound",
    "crossover_horizon",
    "debt_update",
    "design_as_stated",
    "design_limit",
    "effective_sample_size",
    "fill_ratio",
    "integer_admissions",
    "memory_constant_bound",
    "mismatch_constant",
    "mismatch_kstep",
    "omega1",
    "omega2",
    "omega3",
    "optimal_admission",
    "oracle_bound",
    "oracle_bound_as_stated",
    "overlaps",
    "precise",
    "purchase_limit",
    "sharper_constant_bound",
    "stability_1",
    "stability_constant_bound",
    "theorem_1",
    "theorem_1_as_stated",
    "trajectory",
    "uniformity",
    "uniformity_constant",
    "uniformity_constant_as_stated",
    "uniformity_kstep",
]

_HOMES = (
    "admission",
    "algebra",
    "bound",
    "constant_admission",
    "design",
    "knapsack",
    "minimiser",
    "prices",
    "regret",
    "replacement",
    "reuse",
    "setting",
    "sharper",
    "stability",
    "violation",
)


def __getattr__(name: str) -> Any:
    if name in __all__:
        for home in (import_module(f"theory.{module}") for module in _HOMES):
            if name in home.__all__:
                return getattr(home, name)
    raise AttributeError(f"module 'theory' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
