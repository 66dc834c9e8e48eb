"""The checker, checked: break a formula that the claims test, and see them say so."""

import pytest

from proofs_check.claim import decide
from proofs_check.claims import ages, constant, mismatch, radicand, reuse
from proofs_check.simulator import simulate
from theory import reuse as true
from theory.algebra import minimum, ratio, sqrt

PLANTS = {
    "uniformity, constant": (
        constant,
        "uniformity_constant",
        lambda K, t: 2 * true.uniformity_constant(K, t),
        "eq:vck-exact",
    ),
    "uniformity, missing term": (
        constant,
        "uniformity_constant",
        lambda K, t: ratio((2 * t - K + 1) ** 2, 4 * t * t),
        "eq:vck-exact",
    ),
    "occupancy, index": (
        constant,
        "occupancy_constant",
        lambda K, t, rate: minimum(t, K - 1) * rate,
        "eq:ck-bound-detail/occupancy",
    ),
    "mismatch, sign": (
        mismatch,
        "mismatch_constant",
        lambda K, t, rate: -true.mismatch_constant(K, t, rate),
        "eq:sigma-bar-Neff-app",
    ),
    "mismatch of any admissions, exponent": (
        mismatch,
        "mismatch_kstep",
        lambda admitted, K: true.mismatch_kstep(admitted, K) ** 2,
        "eq:sigma-bar-Neff-app",
    ),
    "crossover, constant": (
        radicand,
        "crossover_constant",
        lambda K: (2 * K - 1 + sqrt(ratio(K * K + 9, 3))) / 2,
        "thm:regret-neff/radicand",
    ),
}


def _claim(module, label):
    (found,) = [claim for claim in module.CLAIMS if claim.id == label]
    return found


@pytest.mark.parametrize("name", PLANTS)
def test_a_correction_with_a_planted_error_is_no_longer_established(name, monkeypatch):
    module, function, planted, label = PLANTS[name]
    monkeypatch.setattr(module, function, planted)
    assert decide(_claim(module, label)).corrected_verdict in ("refuted", "undecided")


def test_a_planted_error_in_a_true_statement_is_refuted(monkeypatch):
    monkeypatch.setattr(reuse, "uniformity_kstep", lambda a, K: true.uniformity_kstep(a, K + 1))
    assert decide(_claim(reuse, "eq:kstep-vtilde-exact")).verdict == "refuted"


def test_another_order_of_drop_and_training_breaks_the_retention_claim(monkeypatch):
    monkeypatch.setattr(ages, "simulate", lambda rounds, K, order: simulate(rounds, K, "admit-drop-train"))
    assert decide(_claim(ages, "eq:kstep-drop")).corrected_verdict == "refuted"
