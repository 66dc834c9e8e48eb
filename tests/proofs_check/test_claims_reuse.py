"""The checker, checked: plant an error in a formula of reuse, and see the claim that rests on it say so.

One a module; `python -m benchmarks.mutants` plants the others.
"""

import pytest
import sympy as sp

from proofs_check.claim import decide
from proofs_check.claims.learning import mismatch, radicand, supremum
from proofs_check.claims.reuse import ages, closed_form, effective_size, kstep, occupancy
from proofs_check.groundwork.reuse import reuse_rounds
from proofs_check.groundwork.reuse.sample_sums import added_up
from proofs_check.simulator import simulate
from tests.proofs_check.planted import claim_of, established
from theory import reuse as true
from theory.algebra import minimum, ratio, sqrt

MODULES = (ages, effective_size, kstep, closed_form, occupancy, mismatch, radicand)

# function, what stands in its place, the claim that must notice
PLANTS = [
    ("effective_from_sums", lambda uses, squares: 2 * uses**2 / squares, "eq:Neff-def"),
    ("uses_kstep", lambda age, K: minimum(age + 1, K), "eq:kstep-drop"),
    (
        "cohort_deficits",
        lambda age, K: (K - minimum(age, K), K - minimum(age, K) ** 2),
        "eq:kstep-vtilde-exact",
    ),
    ("uniformity_constant", lambda K, t: ratio((2 * t - K + 1) ** 2, 4 * t * t), "eq:vck-exact"),
    ("occupancy_constant", lambda K, t, rate: minimum(t, K), "eq:ck-bound-detail/occupancy"),
    (
        "mismatch_from_sums",
        lambda n, uses, squares, kept: 1 / n + squares / uses**2 - kept / (uses * n),
        "eq:sigma-bar-Neff-app",
    ),
    ("crossover_constant", lambda K: (2 * K - 1 + sqrt(ratio(K * K + 9, 3))) / 2, "thm:regret-neff/radicand"),
]


@pytest.mark.parametrize(("name", "planted", "label"), PLANTS, ids=[name for name, *_ in PLANTS])
def test_a_planted_error_takes_the_verdict_away(name, planted, label, monkeypatch):
    for module in (true, *MODULES, reuse_rounds):
        if hasattr(module, name):
            monkeypatch.setattr(module, name, planted)
    claim = claim_of(MODULES, label)
    if claim.corrected is None:
        assert not established(claim)
    else:
        assert decide(claim).corrected_verdict in ("refuted", "undecided")


def test_another_order_of_drop_and_training_breaks_the_retention_claim(monkeypatch):
    monkeypatch.setattr(ages, "simulate", lambda rounds, K, order="": simulate(rounds, K, "admit-drop-train"))
    assert decide(claim_of(MODULES, "eq:kstep-drop")).corrected_verdict == "refuted"


def test_a_loss_that_breaks_its_own_bound_or_convexity_refutes_nothing(monkeypatch):
    ramp = supremum.ramp
    for other, lost in ((lambda theta, z: 2 * ramp(theta, z), "G=1"), (supremum.bump, "convexity")):
        monkeypatch.setattr(supremum, "ramp", other)
        found = supremum.supremum_convex()
        assert found.outcome == "open"
        assert lost in found.detail


def test_a_sum_over_samples_refuses_powers_whose_sum_it_does_not_know():
    A, size, total = sp.symbols("A size total")
    assert added_up(3 * A - 2, A, size, total) == 3 * total - 2 * size
    with pytest.raises(ArithmeticError, match="A\\^2"):
        added_up(A**2, A, size, total)
