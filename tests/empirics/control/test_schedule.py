"""n, N, N_eff and χ of a schedule are those of its samples, kept one by one, by age and capacity, and dropped."""

import hashlib
import json
from dataclasses import fields
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from empirics.columns import decided
from empirics.control.memories import Totals
from empirics.control.policy import FOREVER
from empirics.control.registry import register
from empirics.control.schedule import Rounds, Schedule, plan
from empirics.control.state_json import plain, restored
from empirics.control.steps_and_means import Learner
from tests.empirics.small import CONTROL, Steady, refused, study
from theory.reuse.counts import effective_sample_size
from theory.reuse.trajectories import Trajectory


def by_hand(admissions, retention, capacity, drops):
    """One run, (rounds, clients): in each round the memories, as lists of sample numbers, and n, N, N_eff and χ."""
    memories, uses, known = [[] for _ in retention], {}, [0] * len(retention)
    for t, admitted in enumerate(admissions):
        for m, count in enumerate(admitted):
            memories[m] = [] if drops[t] else memories[m]
            memories[m] += [(number, t) for number in range(known[m], known[m] + count)]
            known[m] += count
            memories[m] = memories[m][-capacity[m] :]
            for number, _ in memories[m]:
                uses[m, number] = uses.get((m, number), 0) + 1
        held = [[number for number, _ in memory] for memory in memories]
        inside = {(m, number) for m, numbers in enumerate(held) for number in numbers}
        n, total, effective, chi = len(inside), sum(uses.values()), None, None
        if n:
            effective = effective_sample_size(list(uses.values()))
            chi = sum((Fraction(e, total) - Fraction(one in inside, n)) ** 2 for one, e in uses.items())
        yield held, n, len(uses), effective, chi
        for m, K in enumerate(retention):
            memories[m] = [(number, entered) for number, entered in memories[m] if t - entered + 1 < K]


@st.composite
def cases(draw):
    runs, clients, rounds = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 14))
    shape, limit = (runs, clients), st.one_of(st.integers(1, 6), st.just(FOREVER))
    retention, capacity = (draw(arrays(np.int64, shape, elements=limit)) for _ in range(2))
    admissions = draw(arrays(np.int64, (rounds, *shape), elements=st.integers(0, 6)))
    drops = draw(arrays(bool, (rounds, runs)))
    drops &= (capacity < FOREVER).all(axis=1)  # a run without capacities drops nothing
    cuts = draw(st.lists(st.integers(1, rounds), max_size=4))
    return retention, capacity, np.minimum(admissions, capacity), drops, sorted({0, rounds, *cuts})


@given(cases())
def test_totals_are_those_of_samples_kept_one_by_one_wherever_chunks_end(case):
    retention, capacity, admissions, drops, cuts = case
    totals, parts = Totals.start(retention, len(admissions), capacity), []
    for first, last in pairwise(cuts):
        some = drops[first:last]
        parts.append(totals.extend(admissions[first:last], some if some.any() else None))
        document = json.loads(json.dumps(plain(totals)))
        totals = restored(document, Totals.start(retention, len(admissions), capacity))
    starts, ends = (np.concatenate([part[i] for part in parts]) for i in range(2))
    columns = [one.name for one in fields(Trajectory)]
    track = Trajectory(*(np.concatenate([getattr(part[2], name) for part in parts]) for name in columns))
    for run in range(admissions.shape[1]):
        given = (each[run].tolist() for each in (admissions.swapaxes(0, 1), retention, capacity, drops.T))
        for t, (held, n, N, effective, chi) in enumerate(by_hand(*given)):
            for m, numbers in enumerate(held):
                assert list(range(starts[t, run, m], ends[t, run, m])) == numbers
            assert (track.n[t, run], track.N[t, run]) == (n, N)
            assert np.isnan(track.mismatch[t, run]) == (n == 0)
            if n:
                assert track.effective[t, run] == pytest.approx(float(effective), rel=1e-12)
                assert track.mismatch[t, run] == pytest.approx(float(chi), rel=1e-9, abs=1e-14)


def test_history_is_no_longer_than_memory():
    totals = Totals.start(np.full((2, 2), FOREVER), FOREVER, np.array([[3, FOREVER], [4, 2]]))
    for _ in range(5):
        totals.extend(np.ones((200, 2, 2), dtype=np.int64))
        assert totals.capped.memory.tolist() == [0] * 3 + [1] * 4 + [2] * 2
        assert len(totals.past) == 1
    # whoever keeps samples as long as the study lasts needs none, whatever the number of rounds
    assert Totals.start(np.array([[9, 10, 11]]), 10).depth == 9
    assert totals.capped.entered.tolist() == [998, 999, 1000, 997, 998, 999, 1000, 999, 1000]


def test_sums_of_many_rounds_at_once_do_not_overflow():
    """Σe² over all samples of all runs is beyond 2^63 here; over those that leave in a round it is not."""
    rounds, rate = 20_000, 5 * 10**6
    totals = Totals.start(np.full((1, 1), FOREVER), FOREVER, np.full((1, 1), 4 * rate))
    starts, ends, track = totals.extend(np.full((rounds, 1, 1), rate, dtype=np.int64))
    assert rate * rounds**3 / 3 > 2**63
    assert (ends - starts)[-1, 0, 0] == track.n[-1, 0] == 4 * rate
    totals.extend(np.full((7, 1, 1), rate, dtype=np.int64))
    gone = rounds + 7 - 4
    assert totals.capped.gone[0] == 4 * rate * gone
    assert totals.capped.squares[0] == 16 * rate * gone


@pytest.mark.parametrize("sizes", [(1, 1, 1, 27), (7, 7, 7, 7, 2)])
def test_a_schedule_is_the_same_to_the_last_bit_in_chunks_of_any_size(sizes):
    policies = ("acdpp", "acdpp-capped", "constant", "hybrid", "buy-cheap-online")
    setting = study(policies=policies, decay=9.0, decay_by="samples", average="tail", average_by=0.6)
    whole, schedule = plan(setting, CONTROL), Schedule(setting, CONTROL)
    parts = [schedule.advance(size) for size in sizes]
    assert [part.first for part in parts] == [1 + sum(sizes[:i]) for i in range(len(sizes))]
    for name in ("cost", "debt", "admissions", "starts", "ends", "occupancy"):
        assert np.array_equal(np.concatenate([getattr(part, name) for part in parts]), getattr(whole, name))
    learner, once = Learner(setting), Learner(setting)
    learned = zip(*(learner.follow(part, part.occupancy) for part in parts), strict=True)
    for steps, wanted in zip(learned, once.follow(whole, whole.occupancy), strict=True):
        assert np.array_equal(np.concatenate(steps), wanted)
    joined = Rounds.joined(parts)
    assert (joined.first, joined.last) == (1, 30)
    assert np.array_equal(joined.admissions, whole.admissions)
    for name in ("n", "N", "uniformity", "mismatch"):
        assert np.array_equal(getattr(joined.track, name), getattr(whole.track, name))


class Greedy:
    """A policy of somebody else's, without any base class; some parts of it may be others."""

    retention = 3

    def __init__(self, **parts):
        vars(self).update(parts)

    def start(self, replicates):
        return 0

    def decide(self, state, cost):
        return state + 1, np.full((len(cost), 3), 1 + (cost < 5)[:, np.newaxis], dtype=int)

    def book(self, state, cost, delivered):
        return state


def made(brief):
    return Greedy()


def broken(answer):
    return Greedy(decide=lambda state, cost: (state, answer(cost)))


def schedule_of(mine, *others, **given):
    return Schedule(study(policies=("mine", *others), **given), CONTROL, policies={"mine": mine})


def test_a_policy_of_ones_own_plays_beside_the_others():
    schedule = schedule_of(Greedy(), "constant")
    played = schedule.advance(30)
    assert np.array_equal(played.admissions[:, :3, 0], 1 + (played.cost[:, :3] < 5))
    assert (schedule.retention[:3] == 3).all()
    assert np.array_equal(played.admissions[:, 3:], plan(study(policies=("constant",)), CONTROL).admissions)
    for maker in (made, lambda: Greedy()):
        assert np.array_equal(schedule_of(maker, "constant").advance(30).admissions, played.admissions)
    for policies, message in (
        ({"mine": Greedy(), "constant": Greedy()}, "'constant' is a built-in policy"),
        (["mine"], "come by name"),
    ):
        assert message in refused(Schedule, study(policies=("mine",)), CONTROL, policies=policies)


def test_a_policy_that_remembers_by_itself_starts_afresh_in_every_schedule():
    class Counting(Greedy):
        seen = 0

        def decide(self, state, cost):
            self.seen += 1
            return state, np.full((len(cost), 3), self.seen)

    policy = Counting()
    for _ in range(2):
        assert schedule_of(policy).advance(4).admissions[:, 0, 0].tolist() == [1, 2, 3, 4]


def test_a_policy_that_does_not_fit_is_refused_in_one_sentence_and_an_overflow_stays_one():
    for policy, message in (
        (broken(lambda cost: np.ones(3)), "failed in round 1: ValueError: admissions must have shape"),
        *((broken(lambda cost, n=n: np.full((3, 3), n)), "must be whole numbers") for n in (0.5, -1, np.nan)),
        (broken(lambda cost: {}["price"]), "failed in round 1: KeyError"),
        (Greedy(capacity=(2, 1, 1)), "ValueError: client 1 would admit 2 samples and can hold 1"),
        (Greedy(drops=lambda state: True), "drops what it holds: give it a capacity"),
        (object(), "lacks retention, start, decide, book"),
        (lambda brief: 7, "must have retention, start, decide and book"),
        (lambda one, two: Greedy(), "could not be made: TypeError"),
        (lambda brief: {}["rate"], "could not be made: KeyError"),
    ):
        assert message in refused(lambda policy=policy: schedule_of(policy).advance(30))
    deaf = Greedy(observe=lambda state, losses: {}["loss"])
    schedule = Schedule(study(policies=("mine",)), CONTROL, policies={"mine": deaf}, trains=True)
    schedule.advance(2)
    assert "failed in round 2: KeyError" in refused(schedule.observe, np.ones(3))
    heard = []
    ears = {"mine": Greedy(observe=lambda state, losses: heard.extend(losses))}
    both = Schedule(study(policies=("constant", "mine")), CONTROL, policies=ears, trains=True)
    both.observe(np.arange(6))
    assert heard == [3, 4, 5]  # its own runs alone
    with pytest.raises(ZeroDivisionError):
        schedule_of(broken(lambda cost: 1 / 0)).advance(1)


@pytest.mark.parametrize("value", [0, 2.5, [1, 2], "long", [1, 2, None]])
def test_a_retention_or_a_capacity_that_makes_no_sense_is_refused(value):
    for part, name in (("retention", "keep samples"), ("capacity", "capacity")):
        sentence = refused(schedule_of, Greedy(**{part: value}))
        assert name in sentence
        assert "for each of the 3 clients" in sentence


def test_overflow_of_one_client_is_not_made_up_for_by_another():
    rounds = schedule_of(Steady(5, 1), buffers=(8, 12)).advance(4)
    assert decided(rounds)["overflow"][:, 0].tolist() == [0, 2, 7, 7]  # of 5, 10, 15, 15 and a buffer of 8


def test_a_digest_has_capacities_where_there_are_any_and_is_else_as_it_always_was():
    made = [{}, *({"capacity": size} for size in (8, 9, 2**60))]  # the last is none
    schedules = [schedule_of(Greedy(**capacity)) for capacity in made]
    seen = hashlib.sha256(schedules[0].retention.tobytes()).hexdigest()
    played = [schedule.advance(5) for schedule in schedules]
    for admitted in played[0].admissions:
        seen = hashlib.sha256(seen.encode() + admitted.tobytes()).hexdigest()
    assert schedules[0].digest == schedules[3].digest == seen
    assert len({schedule.digest for schedule in schedules}) == 3


def test_policies_are_found_by_name_or_at_an_import_path():
    assert plan(study(policies=("tests.empirics.control.test_schedule:made",)), CONTROL).first == 1
    register("greedy", Greedy())
    assert plan(study(policies=("greedy",)), CONTROL).first == 1
    for name, message in {
        "constnat": "did you mean 'constant'",
        "no.such:thing": "no policy at 'no.such:thing': ModuleNotFoundError",
        "math:nothing": "AttributeError",
        "math:pi": "lacks retention",
    }.items():
        sentence = refused(plan, study(policies=(name,)), CONTROL)
        assert message in sentence
        assert ("sys.path" in sentence) == ("no.such" in name)


def test_a_replicate_is_the_same_whatever_runs_beside_it():
    few, many = (plan(study(policies=("acdpp",), seeds=seeds), CONTROL) for seeds in (2, 6))
    assert np.array_equal(few.admissions, many.admissions[:, :2])
    together = plan(study(policies=("oracle", "acdpp"), seeds=2), CONTROL)
    assert np.array_equal(few.admissions, together.admissions[:, 2:])
