"""How made-up runs decide a statement, however diverged runs are counted, and intervals of what was measured."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.stats import t as student

from proofs_check.claims.experiments import accuracy
from proofs_check.engines import experiment
from proofs_check.experiments.json_entries import Estimate
from proofs_check.experiments.reproduction import parse
from proofs_check.experiments.stated import SECTION7
from proofs_check.groundwork.experiments.section7 import Seen
from tests.made_up import changed, reproduction
from theory.numbers.student import mean_interval

QUIET = {"noise": 1e-4}


def test_another_model_or_learning_rate_refutes_nothing():
    for setting, path, value, strength in (
        ("paper", ("model",), "lenet", "experimental"),
        ("paper", ("model",), "logistic", "statistical"),
        ("released", ("model",), "logistic", "experimental"),
        ("paper", ("study", "eta"), 0.1, "statistical"),
        ("released", ("study", "eta"), 0.1, "statistical"),
    ):
        document = reproduction("mnist", setting, **QUIET, final={"constant": 0.99})
        result = parse(changed(document, path, value), "made up")
        points = {"after the last round": result.gaps["acdpp"]["constant"].points}
        found = experiment.states(result, 3.5, points, 0.95)
        assert (found.outcome, found.strength) == ("fails", strength)
        for name, interval in (("ten runs", experiment.further_runs), ("expected", experiment.confidence)):
            assert [*found.certificate[name].values()] == [str(interval(*points.values(), 0.95))]
        assert ("(complete: " in found.domain) == result.complete


LOST = {  # constant admission ends ahead by 60 points: what diverged, and what comes of "ahead"
    "none": ({}, "fails"),
    "a run of another policy": ({"oracle": [0]}, "fails"),
    "a run of ours": ({"acdpp": [4]}, "fails"),
    "one of constant": ({"constant": [4]}, "fails"),
    "half of them": ({"constant": [0, 2, 4, 6, 8]}, "open"),  # as an accuracy of 0
    "all except one": ({"acdpp": [9], "constant": list(range(8))}, "open"),  # left out
}


@pytest.mark.parametrize("what", LOST)
def test_an_order_holds_however_diverged_runs_are_counted(what):
    lost, outcome = LOST[what]
    document = reproduction(final={"acdpp": 0.3, "constant": 0.9}, pace={"constant": 2.0}, lost=lost)
    result, names = parse(document, "made up"), ("acdpp", "constant")
    seen = Seen(result, SECTION7["mnist"], "acdpp", 0.95)

    def judge(one):
        return accuracy.ahead(replace(seen, result=one), "constant")

    found = experiment.whatever_diverged(result, names, judge)
    assert (judge(result).outcome, found.outcome) == ("fails", outcome)
    assert found.certificate["diverged runs"] == {name: len(runs) for name, runs in lost.items()}
    told = [f"{len(lost[name])} of {name}" for name in names if name in lost]
    assert " and ".join(told) in found.detail
    assert ("left out: points ahead" in found.detail) == bool(told)
    race = experiment.whatever_diverged(
        result, names, partial(EARLIER, mine="constant", other="acdpp", level=0.95)
    )
    assert ("curves are kept as means alone" in race.detail) == bool(told)
    assert "nan" not in race.detail


def test_runs_are_left_out_with_their_pairs_or_count_as_0():
    result = parse(reproduction(seeds=4, lost={"acdpp": [1], "constant": [3]}), "made up")
    ours, theirs = (result.policies[name].by_seed for name in ("acdpp", "constant"))
    for way, seeds, ends in (("left out", [0, 2], (1, 1)), ("as an accuracy of 0", [0, 1, 2, 3], (0, 0))):
        mine, its = ours.best_accuracy.copy(), theirs.best_accuracy.copy()
        mine[1], its[3] = ends
        again = result.recounted()[way]
        points = again.gaps["acdpp"]["constant"].points
        assert points.mean == pytest.approx(100 * (mine - its)[seeds].mean())
        assert points.half(0.9) == pytest.approx(sampled(100 * (mine - its)[seeds]).half(0.9))
        assert again.policies["acdpp"].best_accuracy.seeds == (3 if way == "left out" else 4)
        assert np.isnan(again.policies["acdpp"].current_best.mean).all()  # curves are not kept by seed
        assert again.policies["oracle"] == result.policies["oracle"]


def points(mean, half):
    """An estimate from ten seeds with a 95 % interval of this half-width."""
    half *= float(student.ppf(0.9, 9) / student.ppf(0.975, 9))
    return Estimate(np.array(mean), np.array(mean - half), np.array(mean + half), 0.8, 10)


def test_a_number_may_be_meant_in_either_reading_and_is_rounded_and_an_order_in_both():
    result = parse(reproduction(**QUIET), "made up")
    near, far, vague = points(3.5, 0.1), points(9, 1), points(1, 3)
    width = 1 / np.sqrt(2)  # of the expectation; that of ten further runs is then 1
    order = partial(experiment.ordered, what="gap")  # consistent, so in both readings, which share its error
    number = partial(partial, experiment.states)
    for says, last, averaged, outcome in (
        (number(stated=3.5), near, far, "holds"),
        (number(stated=3.5), far, near, "holds"),
        (number(stated=3.5), far, far, "fails"),
        (number(stated=3.5), far, vague, "open"),
        (number(stated=3.04), points(2, width), far, "holds"),
        (number(stated=3.06), points(2, width), far, "fails"),
        (order, near, far, "holds"),
        (order, near, points(0, 1), "open"),
        (order, near, points(-3.5, 0.1), "fails"),
        (order, points(-3.5, 0.1), points(0, 1), "fails"),
        (order, points(1.05, 1), far, "open"),  # t(0.9875)/t(0.975) is 1.18 for ten seeds
        (order, points(1.3, 1), far, "holds"),
    ):
        found = says(result, readings={"last": last, "averaged": averaged}, level=0.95)
        assert found.outcome == outcome


NEVER = (np.inf, np.inf)


def curve(first, last):
    """Of 100 rounds: below the target before `first`, unclear whether it is reached until `last`, and then sure."""
    rounds, target = np.arange(101), SECTION7["mnist"].target
    mean = np.where(rounds < first, 0.1, np.where(rounds < last, target, 0.99))
    half = np.where((rounds >= first) & (rounds < last), 0.01, 0.0)
    return Estimate(mean, mean - half, mean + half, 0.8, 10)


def racing(**curves):
    result = parse(reproduction(**QUIET), "made up")
    played = {name: replace(result.policies[name], current_best=one) for name, one in curves.items()}
    return replace(result, policies=played)


def test_a_speed_up_is_bounded_by_the_rounds_that_are_known():
    for acdpp, constant, ratio in (
        ((10, 12), (24, 30), (2, 3)),
        ((10, 12), NEVER, (101 / 12, np.inf)),
        ((10, np.inf), (24, 30), (24 / np.inf, 3)),
        (NEVER, (20, 25), (0, 25 / 101)),
        (NEVER, NEVER, (0, np.inf)),
        ((0, 0), (3, 4), (3, 4)),
    ):
        result = racing(acdpp=curve(*acdpp), constant=curve(*constant))
        assert experiment.speed_up(result, "acdpp", "constant", 0.9) == pytest.approx(ratio)


def test_two_policies_share_the_error_of_a_speed_up():
    """At the level 0.9 each has the band of ten further runs at 0.95."""
    target, reach = SECTION7["mnist"].target, 0.01 / student.ppf(0.9, 9) * student.ppf(0.975, 9) * np.sqrt(2)
    for below, soonest in ((0.99 * reach, 1), (1.01 * reach, 101)):
        mean = np.array([0.1, *[target - below] * 100])
        unclear = Estimate(mean, mean - 0.01, mean + 0.01, 0.8, 10)
        result = racing(acdpp=curve(1, 1), constant=unclear)
        assert experiment.speed_up(result, "acdpp", "constant", 0.9).low == soonest


SOONER, EARLIER, ALONE = partial(experiment.sooner, stated=2.6), experiment.earlier, experiment.never_reaches


def test_a_policy_is_sooner_only_where_the_rounds_show_it():
    for says, mine, other, outcome in (
        (SOONER, (10, 12), (24, 30), "holds"),  # known from both sides
        (SOONER, (10, 12), (10, 30), "open"),
        (SOONER, (10, 12), (40, 50), "fails"),
        (SOONER, (10, 12), (24, np.inf), "open"),
        (SOONER, (10, 12), NEVER, "fails"),
        (EARLIER, (10, 12), (13, 20), "holds"),  # the rounds lie apart
        (EARLIER, (10, 12), NEVER, "holds"),
        (EARLIER, (10, 12), (12, 20), "open"),
        (EARLIER, NEVER, NEVER, "open"),
        (EARLIER, NEVER, (90, np.inf), "open"),
        (EARLIER, NEVER, (20, 30), "fails"),
        (EARLIER, (21, 40), (10, 20), "fails"),
        (EARLIER, (20, 40), (10, 20), "open"),
        (ALONE, (10, 12), NEVER, "holds"),  # it is sure
        (ALONE, (10, np.inf), NEVER, "open"),
        (ALONE, (10, 12), (40, np.inf), "open"),
        (ALONE, (10, 12), (40, 60), "fails"),
        (ALONE, NEVER, NEVER, "open"),
    ):
        result = racing(acdpp=curve(*mine), constant=curve(*other))
        found = says(result, mine="acdpp", other="constant", level=0.9)
        assert found.outcome == outcome
        assert ("if ever" in found.detail) == any(first < last == np.inf for first, last in (mine, other))
        assert ("more seeds would not decide" in found.detail) == (mine == other == NEVER)


def test_where_ten_runs_scatter_too_far_no_number_of_seeds_decides():
    result = parse(reproduction(), "made up")
    wide = Estimate(*(np.array(x) for x in (-9.0, -13.0, -5.0)), 0.8, 100)
    others = (replace(wide, mean=np.array(mean)) for mean in (-16.4, 20.0))  # only one of 3.5 and 0 in reach
    for estimate, told in ((wide, True), *((other, False) for other in others), (points(0, 9), False)):
        found = experiment.states(result, 3.5, {"last": estimate}, 0.95)
        assert found.outcome == "open"
        assert ("no number of seeds decides" in found.detail) == told


def sampled(values):
    """Estimate from runs, the first axis."""
    found = mean_interval(values.T, 0.8)
    return Estimate(*(np.array(found[end]) for end in ("mean", "low", "high")), 0.8, len(values))


@pytest.mark.parametrize("level", [0.5, 0.95, 1 - 0.05 / 6])
@pytest.mark.parametrize("seeds", [3, 10, 40])
def test_intervals_at_any_level_are_students(seeds, level):
    """Of the expectation, and of the mean of ten further runs, which varies by itself."""
    samples = np.random.default_rng(0).normal(size=seeds)
    where, deviation = samples.mean(), samples.std(ddof=1)
    for interval, error in ((experiment.confidence, 0), (experiment.further_runs, 1 / 10)):
        wanted = student.interval(level, seeds - 1, where, deviation * np.sqrt(1 / seeds + error))
        assert interval(sampled(samples), level) == pytest.approx(wanted)


def test_a_target_is_reached_where_the_band_of_ten_further_runs_says():
    flat = sampled(np.array([[0.1, 0.5], [0.1, 0.52], [0.1, 0.54]]))
    half = student.ppf(0.9, 2) * 0.02 * np.sqrt(1 / 3 + 1 / 10)
    ends = {1.01: NEVER, 0.99: (1, np.inf), -0.99: (1, np.inf), -1.01: (1, 1)}
    for times, rounds in ends.items():
        assert experiment.reached(flat, 0.52 + times * half, 0.8) == rounds
    assert experiment.reached(flat, 0.05, 0.8) == (0, 0)
    assert experiment.reached(sampled(np.array([[0.1, 0.5]] * 3)), 0.5, 0.8) == (1, 1)
    assert not experiment.reached(replace(flat, seeds=1), 0.2, 0.8).known


def test_a_difference_covers_any_dependence():
    one, other = sampled(np.array([1.0, 2.0, 4.0])), sampled(np.array([0.0, 1.0, 3.5]))
    low, high = experiment.less(one, other, 0.9)
    halves = [float(each.half(0.95)) for each in (one, other)]
    assert (low, high) == pytest.approx((5 / 6 - sum(halves), 5 / 6 + sum(halves)))


def test_an_unpaired_difference_is_no_narrower_than_a_paired_one():
    draw = np.random.default_rng(3)
    for slope in (1.0, 0.0, -1.0):
        one = draw.normal(size=6)
        other = 3 + slope * one + 0.3 * draw.normal(size=6)
        wide, paired = experiment.difference(sampled(one), sampled(other)), sampled(one - other)
        assert wide.mean == pytest.approx(paired.mean)
        assert wide.low <= paired.low <= paired.high <= wide.high
    opposite = experiment.difference(sampled(one), sampled(-2 * one))
    assert opposite.half(0.9) == pytest.approx(sampled(3 * one).half(0.9))
    with pytest.raises(ValueError, match="levels"):
        experiment.difference(sampled(one), sampled(one[:5]))


def test_an_estimate_of_so_many_times_a_quantity_has_its_ends_in_order():
    behind = sampled(np.array([1.0, 2.0, 4.0])).times(-100)
    assert behind.low < behind.mean < behind.high < 0
    assert behind.half(0.9) == pytest.approx(100 * sampled(np.array([1.0, 2.0, 4.0])).half(0.9))
