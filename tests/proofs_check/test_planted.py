"""The checker, checked: a claim notices an error planted in a formula that it rests on, wherever that was imported.

One for each file of claims that is quick; a few of them, from end to end of the theory, run with all tests, the others
are slow tests. `python -m benchmarks.mutants` plants many more of each kind.
"""

import sys
from dataclasses import replace
from fractions import Fraction as F
from importlib import import_module

import pytest

from proofs_check import ledger
from proofs_check.claim import CheckError, run_check
from proofs_check.registry import labelled
from theory import clients, law, regret
from theory.algebra import minimum, ratio, sqrt
from theory.bound import Terms


def times(factor):
    return lambda right: lambda *given, **named: factor * right(*given, **named)


def late(place):
    """An argument that is one too large."""
    return lambda right: (
        lambda *given, **named: right(*given[:place], given[place] + 1, *given[place + 1 :], **named)
    )


def instead(wrong):
    return lambda right: wrong


PLANTS = [
    # reuse
    ("reuse.effective_from_sums", times(2), "eq:Neff-def"),
    ("reuse.uses_kstep", late(0), "eq:kstep-drop"),
    ("reuse.cohort_deficits", late(0), "eq:kstep-vtilde-exact"),
    (
        "reuse.uniformity_constant",
        instead(lambda K, t: ratio((2 * t - K + 1) ** 2, 4 * t * t)),
        "eq:vck-exact",
    ),
    ("reuse.occupancy_constant", instead(lambda K, t, rate: minimum(t, K)), "eq:ck-bound-detail/occupancy"),
    # learning
    (
        "reuse.mismatch_from_sums",
        instead(lambda n, uses, squares, kept: 1 / n + squares / uses**2 - kept / (uses * n)),
        "eq:sigma-bar-Neff-app",
    ),
    (
        "reuse.crossover_constant",
        instead(lambda K: (2 * K - 1 + sqrt(ratio(K * K + 9, 3))) / 2),
        "thm:regret-neff/radicand",
    ),
    ("bound.per_round_constant", times(F(1, 2)), "eq:Ropt-bound-app"),
    ("bound.generalisation_term", times(2), "lem:gen-Neff-app"),
    ("bound.deviation_term", times(F(1, 6)), "lem:gen-Neff-app"),
    ("reuse.effective_from_sums", instead(lambda uses, squares: uses / squares), "thm:regret-neff/values"),
    ("sharper.sharper_constant_bound", late(2), "thm:regret-neff/sharper"),
    ("sharper.memory_round", instead(lambda *_: Terms(0, 0, 0)), "thm:regret-neff/three-local-steps"),
    # design
    ("reuse.mismatch_constant", instead(lambda K, t, rate: K / (t * rate)), "cor:optimal-k/monotone"),
    ("design.fill_ratio", times(2), "cor:optimal-k"),
    ("admission.integer_admissions", late(0), "eq:lambda-def/integrality"),
    # control
    ("admission.debt_update", instead(lambda Z, c, x, C: Z + c * x - C), "eq:Z-update/start"),
    ("minimiser.generalisation_slopes", late(0), "alg:acdpp/state"),
    ("regret.drift_constant", times(2), "eq:dpp-upper-1"),
    ("regret.drift_constant", late(1), "eq:cost-proof-3"),
    ("region.region_minimum", late(1), "eq:nc-lb"),
    ("violation.cost_excess_maximum", times(2), "thm:dpp-cost-constraint/largest"),
    ("violation.cost_violation_rate", times(2), "thm:dpp-cost-constraint/one-horizon"),
    ("violation.cost_violation_least", late(0), "alg:acdpp/first-round"),
    ("violation.buffer_excess_maximum", late(1), "rem:buffer-violation"),
    # regret
    ("regret.master_bound", instead(regret.master_bound_as_stated), "eq:omega-master"),
    ("region.contraction", late(1), "lem:omega2-order/division"),
    ("regret_expansion.regret_expansion", late(0), "rem:1/sublinear"),
    # the law of reuse
    ("law.contraction", instead(lambda h, eta, E: (1 - h) ** E), "law:reuse"),
    ("law.stationary_noise", late(1), "law:reuse/retention"),
    ("law.stationary_noise", late(1), "law:reuse/limits"),
    ("design.best_rate", instead(lambda K, budget: ratio(budget.total_buffer, K)), "law:reuse/best-k"),
    ("stationary.full_memory_noise", instead(lambda a, K, t: law.stationary_noise(a, K)), "law:reuse/finite"),
    ("clients.pooled_bias", times(-1), "law:reuse/clients"),
    ("curved.local_shift", times(2), "law:reuse/local-steps"),
    (
        "curved.first_order",
        lambda right: lambda *a, **b: replace(found := right(*a, **b), mean=2 * found.mean),
        "law:reuse/curvature",
    ),
    ("curved.square_rest", times(F(1, 10**4)), "law:reuse/curvature-noise"),
    ("curved.cubic_shift", times(2), "law:reuse/cubic"),
    ("curved.regression_floor", instead(ratio), "law:reuse/regression"),
    (
        "clients.own_goal",
        instead(lambda shares, a, means: clients.own_optimum(shares, [1] * len(shares), means)),
        "law:reuse/client-hessians",
    ),
    # buying
    ("knapsack.purchase_bound", lambda right: lambda c, S, C, m, debt=0: right(c, S, C, m), "buy:limit"),
    ("capacity.effective_rate", late(1), "buy:full-memory"),
    ("law.by_capacity", late(1), "buy:full-memory/trajectory"),
    ("capacity.age_burden", late(0), "buy:noise-by-age"),
    ("capacity.burst_rate", instead(lambda S, r, q: S * q), "buy:bursts"),
    (
        "replacement.least_burden",
        lambda right: lambda *x: (*right(*x)[:3], right(*x)[0].burden, right(*x)[4]),
        "buy:best-rule",
    ),
    (
        "replacement.least_burden",
        lambda right: lambda *x: (*right(*x)[:4], 2 * right(*x)[4]),
        "buy:best-rule/places",
    ),
    (
        "replacement.best_replacement",
        lambda right: lambda law, S, C: right(law, S, C * 1.001),
        "buy:best-rule/paper",
    ),
    (
        "buying.debt_ceiling",
        lambda right: lambda V, w, S, C, low, high: right(V, w, S, C, low, low),
        "buy:online-debt",
    ),
    ("buying.buys", instead(lambda Z, c, V, w: Z * c > V * w), "buy:online-rate"),
    ("buying.age_ceiling", lambda right: lambda R, S, V, B, *x: right(R, S, V, B * S, *x), "buy:online-age"),
    ("buying.buys", instead(lambda Z, c, V, w: Z * c < w), "buy:online-age/settled"),
    ("buying.savings_price", late(0), "buy:savings"),
    ("stationary.small_step_floor", lambda right: lambda *x, **named: right(*x, **named) + 1, "buy:gain"),
]


def loaded(*packages):
    return [module for name, module in list(sys.modules.items()) if name.startswith(packages)]


def forget():
    """Empty every cache of the checker: what was found before a plant is not found after it."""
    for value in [value for module in loaded("proofs_check") for value in vars(module).values()]:
        if hasattr(value, "cache_clear"):
            value.cache_clear()


def noticed(label):
    """Whether a check breaks or finds what is not recorded; none is run after that."""
    (claim,) = (one for one in labelled([label]) if one.id == label)
    (recorded,) = (one for one in ledger.read() if one.id == label)
    corrected = recorded.corrected.evidence if recorded.corrected else ()
    roles = (recorded.stated.evidence, recorded.with_hypotheses, corrected)
    for role, findings in zip(("stated", "hypotheses", "corrected"), roles, strict=True):
        for (part, check), finding in zip(claim.checks_for(role), findings, strict=False):
            try:
                found = run_check(claim, role, part, check)
            except CheckError:
                return True
            if found.outcome != finding.outcome:
                return True
    return False


ALWAYS = {"eq:Neff-def", "eq:vck-exact", "lem:gen-Neff-app", "cor:optimal-k", "eq:Z-update/start"}
ALWAYS |= {"eq:omega-master", "law:reuse/retention", "buy:limit"}


@pytest.mark.parametrize(
    ("formula", "wrong", "label"),
    [row if row[-1] in ALWAYS else pytest.param(*row, marks=pytest.mark.slow) for row in PLANTS],
)
def test_a_planted_error_is_noticed(formula, wrong, label, monkeypatch):
    labelled([label])
    module, name = formula.split(".")
    right = getattr(import_module(f"theory.{module}"), name)
    planted = wrong(right)
    for place in loaded("proofs_check", "theory"):
        for known, value in list(vars(place).items()):
            if value is right:
                monkeypatch.setattr(place, known, planted)
    forget()
    try:
        assert noticed(label)
    finally:
        monkeypatch.undo()
        forget()


@pytest.mark.parametrize("label", ["eq:Neff-def", "eq:vck-exact"])
def test_without_an_error_nothing_is_noticed(label):
    assert not noticed(label)
