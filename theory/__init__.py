"""The paper as code, and what replaces it: pure functions, without input or output, randomness or torch.

The same function runs on symbols, rationals, arrays, balls and tensors. Where the paper's form and the true one
differ, both exist: `name` and `name_as_stated`.

| module | holds |
| --- | --- |
| `paper` | the paper's own numbers: budgets, prices, Section 7 |
| `setting` | what a user chooses: `Constants`, `Budget`, `Region`; a mistake is a `SettingError` |
| `reuse.counts` | how often samples are used: uniformity, effective sample size, gradient mismatch |
| `bound.theorem1` | Theorem 1: what a round contributes, and its sum along any trajectory |
| `bound.constant_admission` | Corollary 1 and the costless oracle, over as many as 10^15 rounds |
| `bound.sharper` | two bounds below Theorem 1: through all samples, and through the memory |
| `bound.stability` | a bound without Pdim, B and σ: how far a single sample can move the model |
| `bound.confidence` | the stability bound for a single run, in high probability |
| `control.region` | the contracting admission region |
| `control.penalty`, `.minimiser`, `.admission` | the surrogate penalty, its exact minimiser, a round of ACDPP |
| `control.violation` | by how much a policy inside the region can violate its constraints |
| `regret.omegas`, `.transient`, `.rates` | the terms of the regret, the cost of the transient, orders of growth |
| `regret.expansion` | the regret to O(1), for every policy |
| `design.offline` | which K and which rates for given budgets, for T rounds (`design`) or as T → ∞ |
| `law.quadratic` | the law of reuse: expected excess risk, exact for quadratic losses |
| `law.stationary` | the law under steady admission: after t rounds, for small steps, the best K |
| `law.averaging` | averaged models: any weights and steps, rounds without samples, the best weights |
| `law.averaged_limits` | averaged models in closed form: constant admission, falling steps, other weights |
| `law.clients` | clients that differ: what weights cost in bias and in noise |
| `law.curved` | samples with curvatures of their own: reuse and local steps, to first order in 1/n |
| `market.prices` | laws of a price: uniform, lists, traces |
| `market.knapsack` | what money buys: the largest rate of distinct samples, for every policy |
| `market.lower_bound` | the lower bound for every policy and learner, and what reaches it |
| `market.capacity` | memories kept full: ages instead of lifetimes, any admissions, bursts |
| `market.replacement` | when to replace a sample at which price: the best rule within a budget |
| `market.online` | buying cheap without knowing the prices: drift-plus-penalty with its constants |
| `market.long_run` | what buying cheap comes to in the long run: the best rule, the online one, bursts |
| `market.sticky` | the best time to replace a sample if prices persist |
| `drift.moving_optimum` | the law for a moving optimum: any path, a random walk, last and averaged models |
| `drift.long_run` | lags in closed form, and which K, step, window and rate are best |
| `drift.retention` | what to do about a drift: K, step and mean of models for given budgets |
| `numbers.algebra`, `.summation`, `.lambert`, `.student` | number systems, long sums, the Lambert sum, Student's t |
| `design.search` | the search behind the offline design |

What a user most often needs is here as well, as in `from theory import Constants, constant_bound`; not what has the
name of its module or folder, such as `design.offline.design`. A module is loaded when something of it is first asked
for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from theory.bound.constant_admission import (
        constant_bound,
        constant_bound_as_stated,
        oracle_bound,
        oracle_bound_as_stated,
    )
    from theory.bound.sharper import memory_constant_bound, sharper_constant_bound
    from theory.bound.stability import overlaps, stability_1, stability_constant_bound
    from theory.bound.theorem1 import Bound, Terms, theorem_1, theorem_1_as_stated
    from theory.control.admission import AdmissionState, acdpp_round, debt_update, integer_admissions
    from theory.control.minimiser import optimal_admission
    from theory.control.violation import buffer_violation_maximum, cost_violation_bound
    from theory.design.offline import (
        Candidate,
        Design,
        best_rate,
        crossover_horizon,
        design_as_stated,
        design_limit,
        fill_ratio,
    )
    from theory.market.knapsack import purchase_limit
    from theory.market.prices import Atoms, Uniform
    from theory.market.replacement import best_replacement
    from theory.numbers.algebra import ball, precise
    from theory.regret.omegas import omega1, omega2, omega3
    from theory.reuse.counts import (
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
    "control.admission",
    "numbers.algebra",
    "bound.theorem1",
    "bound.constant_admission",
    "design.offline",
    "market.knapsack",
    "control.minimiser",
    "market.prices",
    "regret.omegas",
    "market.replacement",
    "reuse.counts",
    "setting",
    "bound.sharper",
    "bound.stability",
    "control.violation",
)


def __getattr__(name: str) -> Any:
    if name in __all__:
        for home in (import_module(f"theory.{module}") for module in _HOMES):
            if name in home.__all__:
                return getattr(home, name)
    raise AttributeError(f"module 'theory' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
