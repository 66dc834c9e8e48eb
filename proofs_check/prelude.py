"""Names that claims and groundwork share, for `from proofs_check.prelude import *`.

Claims and their parts, evidence, the engines' checks, the paper's symbols, and the formulas of theory that several
chapters use. A file imports by name the formulas that it judges. Nothing here loads Z3, PEPit or SciPy.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise, product
from math import prod
from typing import Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st

from proofs_check.claim import WRITTEN, Check, Claim, Context, Correction, Given, confirming
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
from proofs_check.engines.identity import equal, equations, symbolic_sum
from proofs_check.engines.kernel import refuted, theorem
from proofs_check.engines.limit import converges, diverges, equivalent, eventually, limits, tends_to
from proofs_check.engines.smt import always, steps
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
from theory.bound.sharper import memory_round, sharper_round, stale_weight, step_constant
from theory.bound.stability import stability_round
from theory.bound.theorem1 import (
    PER_ROUND,
    Terms,
    deviation_term,
    generalisation_term,
    initial_term,
    linear_term,
    root_term,
)
from theory.control.admission import debt_update
from theory.control.penalty import penalty_terms
from theory.control.region import (
    region_maximum,
    region_maximum_total,
    region_minimum,
    region_minimum_total,
)
from theory.law.quadratic import Cohorts, by_age, by_capacity, squared_weights, stationary_noise
from theory.numbers.algebra import ball, log, log_plus, precise, sqrt
from theory.reuse.counts import effective_from_sums, effective_sample_size, mismatch_from_sums, uses_kstep
from theory.reuse.trajectories import trajectory
from theory.setting import Budget, Constants, Region

F = Fraction
