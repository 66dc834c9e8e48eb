"""Names that claims and groundwork share, for `from proofs_check.prelude import *`.

Claims and their parts, evidence, the engines' checks, the paper's symbols, and the formulas of theory that three or
more files use. A file imports by name the others. Nothing here loads Z3, PEPit or SciPy.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from itertools import accumulate, pairwise, product
from math import comb, factorial, prod
from typing import Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import WRITTEN, Check, Claim, Correction, Given, confirming
from proofs_check.context import Context
from proofs_check.engines import exact, limit, smt
from proofs_check.engines.argument import argument
from proofs_check.engines.enclosure import compare
from proofs_check.engines.exact import (
    Found,
    admissions,
    by_profile,
    differing,
    drawn,
    everywhere,
    exhaust,
    fractions,
    grid,
    retentions,
    search,
    unless,
)
from proofs_check.engines.identity import equal, symbolic_sum
from proofs_check.engines.kernel import refuted, theorem
from proofs_check.engines.limit import converges, diverges, equivalent, eventually, limits, tends_to
from proofs_check.engines.smt import always
from proofs_check.evidence import Evidence, fails, holds, obeying, refutes, together, undecided
from proofs_check.printing import decimal
from proofs_check.simulator import Snapshot, simulate, simulate_by_capacity
from proofs_check.symbols import (
    CONSTANTS,
    REGION,
    C,
    K,
    N,
    T,
    V,
    chi,
    glossary,
    inverse_neff,
    mean_cost,
    n,
    neff,
    rate,
    rho,
    t,
    total_buffer,
)
from proofs_check.text import said
from theory.bound.constant_admission import (
    constant_bound,
    constant_round,
    oracle_bound,
    oracle_bound_as_stated,
)
from theory.bound.sharper import memory_round, sharper_round, stale_weight, step_constant
from theory.bound.stability import stability_round
from theory.bound.theorem1 import (
    PER_ROUND,
    Terms,
    deviation_term,
    generalisation_term,
    generalisation_term_as_printed,
    initial_term,
    linear_term,
    per_round_constant_as_stated,
    root_term,
    round_terms,
    theorem_1,
    theorem_1_as_stated,
)
from theory.control.admission import debt_update
from theory.control.minimiser import drift_plus_penalty, generalisation_slopes
from theory.control.penalty import (
    penalty_comparison,
    penalty_comparison_as_stated,
    penalty_limit,
    penalty_limit_as_stated,
    penalty_terms,
)
from theory.control.region import (
    region_maximum,
    region_maximum_total,
    region_minimum,
    region_minimum_total,
    region_minimum_window,
)
from theory.control.violation import cost_violation_least, lambert_bound
from theory.design.offline import best_rate, fill_ratio
from theory.drift.long_run import drift_floor
from theory.drift.moving_optimum import path_bias
from theory.law.averaging import by_shares, over_rounds
from theory.law.curved import Moments, local_shift
from theory.law.quadratic import Cohorts, by_age, by_capacity, lag_sum, squared_weights, stationary_noise
from theory.law.stationary import inverse_effective_rate, mean_lag
from theory.market.capacity import age_burden, burst_effective_rate, effective_rate
from theory.market.knapsack import purchase_limit, uniform_rate, uniform_threshold
from theory.market.online import purchase_drift
from theory.market.prices import Atoms, Uniform
from theory.market.replacement import best_replacement
from theory.numbers.algebra import ball, log, log_plus, precise, sqrt
from theory.numbers.lambert import lambert_partial
from theory.regret.expansion import regret_expansion, regret_lower_bound
from theory.regret.omegas import drift_constant, omega2_limit, omega3_limit
from theory.regret.transient import omega2_bound, spread_bound
from theory.reuse.constant import mismatch_constant, occupancy_constant
from theory.reuse.counts import effective_from_sums, effective_sample_size, mismatch_from_sums, uses_kstep
from theory.reuse.trajectories import trajectory
from theory.setting import Budget, Constants, Region

F = Fraction
