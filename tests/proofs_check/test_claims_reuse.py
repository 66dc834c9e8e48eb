"""The checker, checked: plant an error in a formula of reuse, and see the claims that rest on it say so."""

import pytest
import sympy as sp

from proofs_check.claim import decide
from proofs_check.claims.learning import mismatch, radicand, retention, supremum
from proofs_check.claims.reuse import ages, closed_form, effective_size, kstep, occupancy
from proofs_check.groundwork.reuse import corners, reuse_rounds
from proofs_check.groundwork.reuse.sample_sums import added_up
from proofs_check.simulator import simulate
from theory import reuse as true
from theory.algebra import minimum, ratio, sqrt

MODULES = (
    true,
    ages,
    effective_size,
    kstep,
    closed_form,
    occupancy,
    mismatch,
    retention,
    radicand,
    supremum,
    reuse_rounds,
)

UNIFORMITY, CLOSED, MISMATCH = "eq:kstep-vtilde-exact", "eq:vck-exact", "eq:sigma-bar-Neff-app"

# name: (function, what stands in its place, the claim that must notice)
PLANTS = {
    "effective size, a factor": (
        "effective_from_sums",
        lambda uses, squares: 2 * uses**2 / squares,
        "eq:Neff-def",
    ),
    "effective size, a square lost": (
        "effective_from_sums",
        lambda uses, squares: uses / squares,
        "eq:omega-l2",
    ),
    "uniformity, N+1": (
        "uniformity",
        lambda counts: ratio(true.effective_sample_size(counts), len(counts) + 1),
        "eq:Vtilde-def-body",
    ),
    "uses, one too many": ("uses_kstep", lambda age, K: minimum(age + 1, K), "eq:kstep-drop"),
    "deficits, K² for K": (
        "cohort_deficits",
        lambda age, K: (K - minimum(age, K), K - minimum(age, K) ** 2),
        UNIFORMITY,
    ),
    "deficits, an index": (
        "boundary_deficits",
        lambda a, K: REAL["boundary_deficits"]([*a, 0], K),
        UNIFORMITY,
    ),
    "uniformity of any admissions, a sign": (
        "uniformity_from_deficits",
        lambda N, first, second, K: (K * N + first) ** 2 / (N * (K * K * N - second)),
        UNIFORMITY,
    ),
    "trajectory, an index": ("trajectory", lambda a, K: REAL["trajectory"](a, K + 1), UNIFORMITY),
    "closed form, a constant": (
        "uniformity_constant",
        lambda K, t: 2 * REAL["uniformity_constant"](K, t),
        CLOSED,
    ),
    "closed form, a term": (
        "uniformity_constant",
        lambda K, t: ratio((2 * t - K + 1) ** 2, 4 * t * t),
        CLOSED,
    ),
    "closed form of 1/N_eff, the rate": (
        "inverse_effective_constant",
        lambda K, t, rate: REAL["inverse_effective_constant"](K, t, 1),
        CLOSED,
    ),
    "occupancy, an index": (
        "occupancy_constant",
        lambda K, t, rate: minimum(t, K - 1) * rate,
        "eq:ck-bound-detail/occupancy",
    ),
    "occupancy, the rate": ("occupancy_constant", lambda K, t, rate: minimum(t, K), "eq:ck-training-size"),
    "mismatch, a sign": (
        "mismatch_constant",
        lambda K, t, rate: -REAL["mismatch_constant"](K, t, rate),
        MISMATCH,
    ),
    "mismatch, the rate": (
        "mismatch_constant",
        lambda K, t, rate: REAL["mismatch_constant"](K, t, 1),
        MISMATCH,
    ),
    "mismatch from sums, a factor": (
        "mismatch_from_sums",
        lambda n, uses, squares, kept: 1 / n + squares / uses**2 - kept / (uses * n),
        MISMATCH,
    ),
    "mismatch by kind, K² for K": (
        "mismatch_by_kind",
        lambda n, N, squares, kept, K, divide=ratio: squares - kept**2 / n + K * (N - n) ** 2 / n,
        MISMATCH,
    ),
    "mismatch of any admissions, an exponent": (
        "mismatch_kstep",
        lambda admitted, K: REAL["mismatch_kstep"](admitted, K) ** 2,
        MISMATCH,
    ),
    "crossover, a constant": (
        "crossover_constant",
        lambda K: (2 * K - 1 + sqrt(ratio(K * K + 9, 3))) / 2,
        "thm:regret-neff/radicand",
    ),
    "printed crossover, a sign": (
        "crossover_constant_as_stated",
        lambda K: (2 * K - 1 + sqrt(ratio(5 * K * K + 2, 3))) / 2,
        "thm:regret-neff/radicand",
    ),
}
REAL = {name: getattr(true, name) for name, _, _ in PLANTS.values()}


def _claim(label):
    (found,) = [c for module in MODULES for c in getattr(module, "CLAIMS", ()) if c.id == label]
    return found


def _plant(monkeypatch, name, planted):
    for module in MODULES:
        if hasattr(module, name):
            monkeypatch.setattr(module, name, planted)


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_error_takes_the_verdict_away(name, monkeypatch):
    function, planted, label = PLANTS[name]
    _plant(monkeypatch, function, planted)
    case = decide(_claim(label))
    settled = case.corrected_verdict if case.claim.corrected else case.verdict
    assert settled in ("refuted", "undecided")


def test_another_order_of_drop_and_training_breaks_the_retention_claim(monkeypatch):
    monkeypatch.setattr(ages, "simulate", lambda rounds, K, order="": simulate(rounds, K, "admit-drop-train"))
    assert decide(_claim("eq:kstep-drop")).corrected_verdict == "refuted"


def test_a_loss_that_breaks_its_own_bound_refutes_nothing(monkeypatch):
    ramp = supremum.ramp
    monkeypatch.setattr(supremum, "ramp", lambda theta, z: 2 * ramp(theta, z))
    found = supremum.supremum_convex()
    assert found.outcome == "open"
    assert "G = 1" in found.detail


def test_a_loss_that_is_not_convex_does_not_pass_for_a_convex_one(monkeypatch):
    monkeypatch.setattr(supremum, "ramp", supremum.bump)
    assert "convexity" in supremum.supremum_convex().detail


def test_every_correction_of_reuse_is_proved_and_says_what_theory_says():
    correction = _claim(CLOSED).corrected
    assert "k(k - 1)" in correction.formula.unicode
    assert "4k + 1" in correction.title


def test_minima_and_maxima_reach_the_solver_as_they_are():
    x, y = sp.symbols("x y", real=True)
    assert corners.always(sp.Max(x, sp.Min(y, 3)) >= sp.Min(x, y), domain="any x, y").outcome == "holds"
    assert corners.always(sp.Min(x, y) >= x, domain="any x, y").outcome == "fails"


def test_a_sum_over_samples_refuses_powers_whose_sum_it_does_not_know():
    A, size, total = sp.symbols("A size total")
    assert added_up(3 * A - 2, A, size, total) == 3 * total - 2 * size
    with pytest.raises(ArithmeticError, match="A\\^2"):
        added_up(A**2, A, size, total)
