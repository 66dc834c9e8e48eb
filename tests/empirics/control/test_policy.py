"""What the policies admit: whole samples, within what they promise, from theory's own decisions."""

import numpy as np
import pytest

from empirics.control.registry import make_policy
from empirics.control.released import released_penalty, script_for
from empirics.control.schedule import Schedule, brief_for, plan
from tests.empirics.small import CONTROL, study
from theory.admission import acdpp_round
from theory.region import region_maximum
from theory.setting import Constants, Region


def schedule_of(policy, **given):
    return plan(study(policies=(policy,), **given), CONTROL)


def full(schedule):
    """Where the three memories are full, (rounds, runs, clients); none may ever hold more."""
    assert (schedule.occupancy <= np.array([4, 5, 7])).all()
    return schedule.occupancy == np.array([4, 5, 7])


def test_constant_admission_never_exceeds_any_buffer_and_fills_all_of_them():
    setting = study(policies=("constant",), rounds=200, budget=176 / 17)
    assert Schedule(setting, CONTROL).retention[0, 0] == 9  # 5.5 · 16 / (176/17) = 8.5
    assert full(plan(setting, CONTROL))[8:].all()


def test_the_oracle_draws_full_buffers_afresh_in_every_round():
    schedule = schedule_of("oracle")
    assert (schedule.admissions == schedule.occupancy).all()
    assert full(schedule).all()


def test_hybrid_keeps_its_first_samples_for_ever_and_refreshes_the_rest():
    schedule = schedule_of("hybrid")
    assert (schedule.admissions[1:, :, 1:] == 0).all()
    assert full(schedule)[:, :, 1:].all()
    assert schedule.admissions[1:, :, 0].sum() > 0


def test_the_literal_policy_opens_with_the_regions_upper_end():
    schedule = schedule_of("acdpp")
    region = Region(rate=float(4), rho=schedule.study.contraction)
    assert abs(schedule.admissions[0].sum(axis=1) - region_maximum(region, 1)).max() <= 1.5
    assert schedule.occupancy[0].sum(axis=1).min() > 16


def test_the_capped_policy_never_admits_more_than_fits():
    assert full(schedule_of("acdpp-capped", rounds=120))[0].all()


def test_admissions_follow_the_decisions_of_theory_within_rounding():
    setting = study(policies=("acdpp",))
    policy = make_policy("acdpp", brief_for(setting, CONTROL))
    state, target, total = policy.start(3), np.zeros(3), np.zeros((3, 3))
    for t in range(1, 20):
        cost = np.array([1.0, 5.0, 9.0]) + t % 2
        _, rate = acdpp_round(state.server, cost, V=policy.V, C=22.0, region=policy.region, constants=CONTROL)
        state, admitted = policy.decide(state, cost)
        state = policy.book(state, cost, admitted)
        target, total = target + rate, total + admitted
        assert (abs(total - target[:, None] * np.array([4, 5, 7]) / 16) <= 1).all()
        assert np.array_equal(state.server.seen, total.sum(axis=1))


def test_many_clients_with_small_rates_take_turns():
    setting = study(policies=("constant",), buffers=(1,) * 100, budget=55.0, rounds=40)
    schedule = plan(setting, CONTROL)
    assert Schedule(setting, CONTROL).retention[0, 0] == 10
    assert (schedule.admissions.sum(axis=2) == 10).all()


# --- the released rule -------------------------------------------------------------------------------------

# what each script has for Pdim, V, η̃, ρ and the cap
NUMBERS = {
    "mnist": (100, 1000, 0.5, 0.999, 50),
    "cifar10": (1024, 10000, 0.005, 0.999, 100),
    "imagenette": (1024, 3000, 0.0005, 0.999999, 1000),
}
NUMBERS["digits"] = NUMBERS["mnist"]  # as any other data set


@pytest.mark.parametrize("dataset", NUMBERS)
def test_the_released_rule_admits_at_least_one_sample_a_client_and_at_most_its_cap(dataset):
    Pdim, V, eta, rho, cap = NUMBERS[dataset]
    script = script_for(dataset)
    assert script.constants == Constants(D=1000, sigma=10, eta=eta, B=1000, Pdim=Pdim)
    assert (script.V, script.region.rho, script.cap) == (V, rho, cap)
    played = Schedule(study(policies=("released",), dataset=dataset), CONTROL)
    admissions = played.advance(30).admissions
    assert admissions.min() >= 1
    # no debt in round 1, so that as much as may be is admitted; each client rounds by itself
    assert abs(admissions[0].sum(axis=1) - cap).max() <= 1.5 + 0.1
    assert admissions.sum(axis=2).max() <= cap + 1.5
    assert (played.retention == 6).all()


def test_the_released_penalty_is_written_as_in_the_scripts():
    n, N, c = 30.0, 480.0, Constants(D=7, sigma=3, eta=0.5, B=2, Pdim=100)
    root = 7 * 3 * (n**-0.5 - N**-0.5) + 0.5 * 9 * (1 / n - 1 / N)
    general = 20 * (100 / N) ** 0.5 * (1 + np.log((N / 100) ** 0.5)) ** 0.5
    assert released_penalty(n, N, c) == pytest.approx(root + general, rel=1e-13)
