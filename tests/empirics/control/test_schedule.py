"""n, N, N_eff and χ of a schedule are those of its samples, counted one by one."""

import hashlib
from fractions import Fraction

import numpy as np
import pytest

from empirics.control.policy import FOREVER
from empirics.control.registry import register
from empirics.control.schedule import Schedule, plan
from tests.empirics.small import CONTROL, study
from theory.reuse import effective_sample_size, trajectory
from theory.setting import SettingError


def by_counting(admissions, retention, t):
    """n, N, N_eff and χ after round t, from every sample's uses."""
    samples = [
        (min(t - j, int(K)), int(t - j <= K))  # uses so far and whether it is in memory; j counts from 0
        for m, K in enumerate(retention)
        for j in range(t)
        for _ in range(int(admissions[j, m]))
    ]
    uses = [count for count, _ in samples]
    n, total = sum(held for _, held in samples), sum(uses)
    chi = sum((Fraction(count, total) - Fraction(held, n)) ** 2 for count, held in samples)
    return n, len(samples), effective_sample_size(uses), chi


BY_AGE = ["acdpp", "acdpp-capped", "constant", "oracle", "hybrid", "released"]


@pytest.mark.parametrize("policy", BY_AGE)
def test_trajectories_match_counting_for_every_policy_that_keeps_samples_by_age(policy):
    schedule = Schedule(study(policies=(policy,), rounds=14, seeds=2), CONTROL)
    played = schedule.advance(14)
    track = played.track
    for run in range(2):
        for t in (1, 2, 5, 9, 14):
            n, N, effective, chi = by_counting(played.admissions[:, run], schedule.retention[run], t)
            assert (track.n[t - 1, run], track.N[t - 1, run]) == (n, N)
            assert track.effective[t - 1, run] == pytest.approx(float(effective), rel=1e-12)
            assert track.mismatch[t - 1, run] == pytest.approx(float(chi), rel=1e-9, abs=1e-14)


def test_one_retention_for_all_gives_the_trajectory_of_theory():
    played = plan(study(policies=("acdpp",), K=4), CONTROL)
    for run in range(3):
        whole = trajectory(played.admissions[:, run].sum(axis=1).astype(float), 4)
        for name in ("n", "N", "uniformity", "mismatch"):
            assert np.allclose(
                getattr(played.track, name)[:, run], getattr(whole, name), rtol=1e-12, atol=1e-15
            )


@pytest.mark.parametrize("sizes", [(1,) * 30, (7, 7, 7, 7, 2), (29, 1), (3, 27)])
def test_a_schedule_is_the_same_to_the_last_bit_in_chunks_of_any_size(sizes):
    setting = study(policies=("acdpp", "acdpp-capped", "constant", "hybrid", "buy-cheap-online"))
    whole, schedule = plan(setting, CONTROL), Schedule(setting, CONTROL)
    parts = [schedule.advance(size) for size in sizes]
    assert [part.first for part in parts] == [1 + sum(sizes[:i]) for i in range(len(sizes))]
    for name in ("cost", "debt", "admissions", "starts", "ends", "occupancy"):
        assert np.array_equal(np.concatenate([getattr(part, name) for part in parts]), getattr(whole, name))
    for name in ("n", "N", "uniformity", "mismatch"):
        assert np.array_equal(
            np.concatenate([getattr(part.track, name) for part in parts]), getattr(whole.track, name)
        )


def test_no_policy_keeps_more_history_than_it_needs():
    """Whoever keeps samples as long as the study lasts needs no history, whatever the number of rounds."""
    schedule = Schedule(study(policies=("hybrid",), hybrid_K=3, rounds=10**6), CONTROL)
    schedule.advance(10)
    assert len(schedule._totals.past) == 4


class Greedy:
    """A policy of somebody else's, without any base class."""

    retention = 3

    def start(self, replicates):
        return 0

    def decide(self, state, cost):
        return state + 1, np.full((len(cost), 3), 1 + (cost < 5)[:, np.newaxis], dtype=int)

    def book(self, state, cost, delivered):
        return state

    @staticmethod
    def made(brief):
        return Greedy()


def test_a_policy_of_ones_own_plays_beside_the_others():
    setting = study(policies=("mine", "constant"))
    schedule = Schedule(setting, CONTROL, policies={"mine": Greedy()})
    played = schedule.advance(30)
    assert np.array_equal(played.admissions[:, :3, 0], 1 + (played.cost[:, :3] < 5))
    assert (schedule.retention[:3] == 3).all()
    assert np.array_equal(played.admissions[:, 3:], plan(study(policies=("constant",)), CONTROL).admissions)
    for maker in (lambda brief: Greedy(), Greedy, lambda: Greedy()):
        again = Schedule(setting, CONTROL, policies={"mine": maker})
        assert np.array_equal(again.advance(30).admissions, played.admissions)
    with pytest.raises(SettingError, match="'constant' is a built-in policy"):
        Schedule(setting, CONTROL, policies={"mine": Greedy(), "constant": Greedy()})
    with pytest.raises(SettingError, match="come by name"):
        Schedule(setting, CONTROL, policies=["mine"])


class Counting(Greedy):
    """Remembers by itself, which a policy should not; every schedule starts from how it was handed over."""

    seen = 0

    def decide(self, state, cost):
        self.seen += 1
        return state, np.full((len(cost), 3), self.seen)


def test_a_policy_that_remembers_by_itself_starts_afresh_in_every_schedule():
    policy = Counting()
    for _ in range(2):
        schedule = Schedule(study(policies=("mine",)), CONTROL, policies={"mine": policy})
        assert schedule.advance(4).admissions[:, 0, 0].tolist() == [1, 2, 3, 4]


class Broken(Greedy):
    def __init__(self, answer):
        self.answer = answer

    def decide(self, state, cost):
        return state, self.answer(cost)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (Broken(lambda cost: np.ones(3)), "failed in round 1: ValueError: admissions must have shape"),
        (Broken(lambda cost: np.full((3, 3), 0.5)), "must be whole numbers"),
        (Broken(lambda cost: np.full((3, 3), -1)), "must be whole numbers"),
        (Broken(lambda cost: np.full((3, 3), np.nan)), "must be whole numbers"),
        (Broken(lambda cost: 1 / 0), "beyond|division"),
        (Broken(lambda cost: {}["price"]), "failed in round 1: KeyError"),
        (Broken(lambda cost: np.zeros((3, 3), dtype=int)), "leaves round 1 without any sample"),
        (object(), "lacks retention, start, decide, book"),
        (lambda brief: 7, "must have retention, start, decide and book"),
        (lambda one, two: Greedy(), "could not be made: TypeError"),
        (lambda brief: {}["rate"], "could not be made: KeyError"),
    ],
)
def test_a_policy_that_does_not_fit_is_refused_in_one_sentence(policy, message):
    with pytest.raises((SettingError, ArithmeticError), match=message) as caught:
        Schedule(study(policies=("mine",)), CONTROL, policies={"mine": policy}).advance(2)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("retention", [0, 2.5, [1, 2], "long", None])
def test_a_retention_that_makes_no_sense_is_refused(retention):
    policy = Greedy()
    policy.retention = retention
    with pytest.raises(SettingError, match="must keep samples for a whole number of rounds"):
        Schedule(study(policies=("mine",)), CONTROL, policies={"mine": policy})


@pytest.mark.parametrize("capacity", [0, 2.5, [1, 2], "much", [1, 2, None]])
def test_a_capacity_that_makes_no_sense_is_refused(capacity):
    policy = Greedy()
    policy.capacity = capacity
    with pytest.raises(SettingError, match="must have a whole number as its capacity, of at least 1, or one"):
        Schedule(study(policies=("mine",)), CONTROL, policies={"mine": policy})


def test_who_admits_more_than_the_capacity_is_refused_in_one_sentence():
    policy = Greedy()
    policy.capacity = (2, 2, 1)
    schedule = Schedule(study(policies=("mine", "constant"), seed=4), CONTROL, policies={"mine": policy})
    with pytest.raises(
        SettingError, match=r"failed in round \d+: ValueError: client 2 would admit 2 samples and can hold 1"
    ):
        schedule.advance(30)


def test_a_capacity_holds_beside_an_age_and_beside_policies_without():
    policy = Greedy()
    policy.capacity = (2, 3, FOREVER)
    own = {"mine": policy}
    mixed = Schedule(study(policies=("mine", "constant")), CONTROL, policies=own).advance(30)
    assert mixed.occupancy[:, :3, :2].max(axis=(0, 1)).tolist() == [2, 3]
    plain = plan(study(policies=("mine", "constant")), CONTROL, policies={"mine": Greedy()})
    assert np.array_equal(mixed.occupancy[:, 3:], plain.occupancy[:, 3:])
    assert np.array_equal(mixed.occupancy[:, :3, 2], plain.occupancy[:, :3, 2])
    assert (mixed.track.n[:, :3] < plain.track.n[:, :3]).any()


def test_a_digest_has_capacities_where_there_are_any_and_is_else_as_it_always_was():
    setting = study(policies=("mine",))
    schedule = Schedule(setting, CONTROL, policies={"mine": Greedy()})
    seen = hashlib.sha256(schedule.retention.tobytes()).hexdigest()
    for admitted in schedule.advance(5).admissions:
        seen = hashlib.sha256(seen.encode() + admitted.tobytes()).hexdigest()
    assert schedule.digest == seen
    digests = {seen}
    for capacity in (8, 9):
        policy = Greedy()
        policy.capacity = capacity
        schedule = Schedule(setting, CONTROL, policies={"mine": policy})
        schedule.advance(5)
        digests.add(schedule.digest)
    assert len(digests) == 3


def test_policies_are_found_by_name_or_at_an_import_path():
    assert plan(study(policies=("tests.empirics.control.test_schedule:Greedy.made",)), CONTROL).first == 1
    register("greedy", Greedy())
    assert plan(study(policies=("greedy",)), CONTROL).first == 1
    for name, message in {
        "constnat": "did you mean 'constant'",
        "no.such:thing": "no policy at 'no.such:thing': ModuleNotFoundError",
        "math:nothing": "AttributeError",
        "math:pi": "lacks retention",
    }.items():
        with pytest.raises(SettingError, match=message):
            plan(study(policies=(name,)), CONTROL)
    with pytest.raises(SettingError, match="new name"):
        register("constant", Greedy())


def test_the_opening_of_a_study_says_when_a_memory_stays_empty():
    with pytest.raises(SettingError, match="policy acdpp leaves round 1 without any sample"):
        plan(study(policies=("acdpp",), budget=0.01, K=2, rate=0.02), CONTROL)


def test_a_replicate_is_the_same_whatever_runs_beside_it():
    few, many = (plan(study(policies=("acdpp",), seeds=seeds), CONTROL) for seeds in (2, 6))
    assert np.array_equal(few.admissions, many.admissions[:, :2])
    together = plan(study(policies=("oracle", "acdpp"), seeds=2), CONTROL)
    assert np.array_equal(few.admissions, together.admissions[:, 2:])
