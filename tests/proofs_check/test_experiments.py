"""Claims about Section 7 on made-up results whose verdicts are known, and intervals of what was measured."""

import json
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as student

from empirics.control.released import CONSTANTS, SCRIPTS
from empirics.settings.section7 import RELEASED_K
from proofs_check import ledger
from proofs_check.claim import decide
from proofs_check.claims.experiments import accuracy, debt, memory, spending
from proofs_check.context import Context
from proofs_check.document import document
from proofs_check.engines import experiment
from proofs_check.experiments.committed import committed
from proofs_check.experiments.json_entries import Estimate
from proofs_check.experiments.reproduction import parse
from proofs_check.experiments.stated import CODE_K, CODE_V, PENALTY, SECTION7
from proofs_check.groundwork.experiments.constraints import OURS, play
from proofs_check.groundwork.experiments.section7 import Seen
from tests.made_up import PAPER, changed, reproduction, write
from tests.proofs_check.test_text import check_words
from tests.refused import refused
from theory.numbers.student import mean_interval

FINAL = {
    "mnist": {"acdpp": 0.95, "constant": 0.915, "hybrid": 0.931, "oracle": 0.965},
    "cifar10": {"acdpp": 0.75, "constant": 0.715, "hybrid": 0.483, "oracle": 0.76},
    "imagenette": {"acdpp": 0.75, "constant": 0.732, "hybrid": 0.709, "oracle": 0.755},
}


def as_said(dataset):
    """Settings of runs with the paper's gaps; the target is reached in round 10, or later by the stated ratio."""
    said, final = PAPER[dataset], FINAL[dataset]
    rounds = {name: 10 * ratio for name, ratio in said["speed_up"].items() if ratio} | {"acdpp": 10}
    pace = {name: t / -np.log1p(-(said["target"] - 0.1) / (final[name] - 0.1)) for name, t in rounds.items()}
    return {"final": final, "pace": pace, "spent": {"acdpp": 0.9}}


QUIET = {"noise": 1e-4}


def claims(results):
    made = [claim for module in (accuracy, memory, spending, debt) for claim in module.claims(results)]
    return {claim.id.removeprefix("fig:"): claim for claim in made}


def verdicts(results):
    """Verdicts on claims that depend on learning."""
    learnt = {label: claim for label, claim in claims(results).items() if label.startswith("test_acc_all")}
    return {label: decide(claim).verdict for label, claim in learnt.items()}


def put(folder, *settings, every=None, datasets=PAPER, **of):
    """Results of data sets from files, with changes for every data set or for one."""
    for setting, dataset in product(settings, datasets):
        document = reached(dataset, setting, **(every or {}), **of.get(dataset, {}))
        write(document, folder / f"{dataset}-{setting}.json")
    committed.cache_clear()
    return committed(folder)


def reached(dataset, setting="paper", **given):
    """What the paper says; the released code's rule comes to what ACDPP does, unless it is told."""
    given = {**QUIET, **as_said(dataset), **given}
    for key in ("final", "pace"):
        given[key] = {"released": given[key].get("acdpp", 8.0), **given[key]}
        if setting == "released":  # where another policy is ACDPP
            given[key]["acdpp"] = given[key]["constant"]
    return reproduction(dataset, setting, **given)


# --- verdicts ----------------------------------------------------------------------------------------------


def test_what_the_paper_says_is_supported_by_runs_that_show_it(tmp_path):
    found = verdicts(put(tmp_path, "paper"))
    assert len(found) == 9
    assert set(found.values()) == {"supported"}


@pytest.mark.parametrize(
    ("dataset", "key", "change", "label"),  # what departs from the paper, and the claim that it refutes
    [
        ("mnist", "final", {"constant": 0.95}, "constant"),  # no gain over constant
        ("mnist", "final", {"constant": 0.88}, "constant"),  # twice the gain over constant
        ("mnist", "final", {"hybrid": 0.935}, "hybrid"),  # a smaller gain over hybrid
        ("mnist", "final", {"constant": 0.96}, ""),  # behind constant
        ("imagenette", "final", {"hybrid": 0.76}, ""),  # behind hybrid
        ("imagenette", "final", {"oracle": 0.77}, "oracle"),
        ("mnist", "pace", {"constant": 5}, "sooner-than-constant"),
        ("imagenette", "pace", {"acdpp": 200}, "sooner-than-hybrid"),
        ("cifar10", "final", {"hybrid": 0.74}, "sooner-than-hybrid"),  # hybrid reaches the target
        ("mnist", "pace", {"hybrid": 60}, "hybrid-faster"),
        ("cifar10", "final", {"hybrid": 0.6}, "hybrid-behind/size"),
        ("cifar10", "final", {"hybrid": 0.73}, "hybrid-behind"),
    ],
)
def test_one_departure_refutes_its_claim(dataset, key, change, label, tmp_path):
    told = {dataset: {key: {**as_said(dataset)[key], **change}}}
    claim = claims(put(tmp_path, "paper", **told))[f"test_acc_all/{label}".rstrip("/")]
    case = decide(claim)
    assert case.verdict == "refuted"
    assert claim.corrected is not None
    assert case.corrected_verdict == "supported"
    failed = [e for e in case.stated if e.outcome == "fails"]
    assert [e.outcome for e in case.stated].count("holds") == len(case.stated) - len(failed)
    for evidence in failed:
        assert evidence.part.startswith(SECTION7[dataset].name)
        assert evidence.certificate["command"].startswith(f"acdpp reproduce {dataset} --setting paper")


@pytest.mark.parametrize("neighbour", [{"complete": False}, {"rounds": 99}], ids=str)
def test_a_neighbouring_setting_speaks_against_but_refutes_nothing_that_is_learnt(neighbour, tmp_path):
    final = {"acdpp": 0.9, "constant": 0.95, "hybrid": 0.96, "oracle": 0.99}
    lost = {"final": final, "pace": {"hybrid": 7, "constant": 5}}
    for inside, wanted in (({}, {"refuted"}), (neighbour, {"undecided"})):
        (folder := tmp_path / str(len(inside))).mkdir()
        found = verdicts(put(folder, "paper", every={**lost, **inside}))
        assert set(found.values()) == wanted


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


def test_what_holds_in_the_released_setting_alone_is_conditional(tmp_path):
    put(tmp_path, "released")
    flat = {"final": dict.fromkeys(("acdpp", "constant", "hybrid", "oracle"), 0.9)}
    found = claims(put(tmp_path, "paper", every=flat))
    label = "test_acc_all/constant"
    assert decide(found[label]).verdict == "conditional"
    assert any("released code" in words for words in found[label].hypotheses)
    assert decide(found[label]).corrected_verdict == "supported"


@pytest.mark.parametrize(
    ("ours", "code", "verdict", "condition"),
    [  # current best in the end on MNIST, where constant admission has 0.915
        (0.95, 0.95, "supported", ""),
        (0.88, 0.88, "refuted", ""),
        (0.88, 0.95, "conditional", "released code"),
        (0.95, 0.88, "conditional", "our choice"),
        (0.88, 0.915, "undecided", ""),
        (0.95, 0.915, "undecided", ""),
    ],
)
def test_what_is_said_of_acdpp_is_judged_for_both_choices(ours, code, verdict, condition, tmp_path):
    final = {"acdpp": ours, "released": code, "constant": 0.915, "hybrid": 0.85, "oracle": 0.965}
    case = decide(claims(put(tmp_path, "paper", mnist={"final": final}))["test_acc_all"])
    assert case.verdict == verdict
    assert [condition in one for one in case.conditions] == [True] * bool(condition)
    assert {len([e for e in case.stated if e.part == part]) for part in case.claim.parts} == {2}


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
    for row in [*document["policies"].values()][1:]:
        del row["by_seed"]
    forgotten = experiment.whatever_diverged(parse(document, "made up"), names, judge)
    assert forgotten.outcome == ("open" if told else "fails")
    assert ("accuracies by seed were not kept" in forgotten.detail) == bool(told)


@pytest.mark.parametrize(
    ("lost", "verdict", "told"),
    [
        ({"oracle": [0]}, "refuted", ""),
        ({"constant": [0, 2, 4, 6, 8]}, "undecided", ", diverged 5 of constant"),
        ({"acdpp": [1], "released": [1], "constant": [0, 2, 4, 6]}, "undecided", ", diverged 1 of acdpp, 4"),
    ],
)
def test_a_claim_says_which_of_the_runs_that_it_compares_diverged(lost, verdict, told, tmp_path):
    final = {"acdpp": 0.3, "constant": 0.9, "hybrid": 0.2, "oracle": 0.965}
    case = decide(claims(put(tmp_path, "paper", mnist={"final": final, "lost": lost}))["test_acc_all"])
    assert case.verdict == verdict
    assert f"$\\eta=0.5${told}" in case.claim.corrected.statement
    assert case.claim.corrected.statement.count("diverged") == bool(told)


def test_every_committed_result_has_accuracies_by_seed():
    assert all(result.keeps_seeds for result in committed().values())


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


def test_noise_leaves_a_claim_undecided_whatever_its_mean(tmp_path):
    found = verdicts(put(tmp_path, "paper", every={"noise": 0.05, "seeds": 3}))
    for label in ("test_acc_all", "test_acc_all/constant", "test_acc_all/oracle"):
        assert found[label] == "undecided"
    result, none = parse(reproduction("mnist", "paper"), "made up"), Estimate(*np.zeros(3), 0.95, 10)
    assert experiment.ordered(result, {"alike": none}, 0.95, "nothing").outcome == "open"
    from_there = experiment.Interval(1, 2)
    assert experiment.bounded(result, from_there, 1, 0.95, "it", learnt=False).outcome == "open"
    assert not parse(changed(reproduction("mnist", "paper"), ("data",), None), "made up").complete


def test_two_seeds_have_no_part_in_what_was_measured_and_one_decides_nothing(tmp_path):
    found = claims(put(tmp_path, "paper", imagenette={"seeds": 2, "noise": 0.05}))["test_acc_all/constant"]
    assert "(2 seeds, no interval)" in found.corrected.title
    assert found.corrected.parts == ("MNIST", "CIFAR-10")
    assert set(verdicts(put(tmp_path, "paper", every={"seeds": 1})).values()) == {"undecided"}


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


def test_no_speed_up_is_measured_where_no_policy_reaches_the_target(tmp_path):
    late = dict.fromkeys(("acdpp", "constant", "hybrid"), 1000000.0)
    found = claims(put(tmp_path, "paper", every={"pace": late}))
    for other in ("constant", "hybrid"):
        assert found[f"test_acc_all/sooner-than-{other}"].corrected is None
    assert found["test_acc_all/constant"].corrected is not None


@pytest.mark.parametrize("with_it", [True, False])
def test_hybrid_is_compared_in_pairs_where_a_result_has_them(with_it):
    document = reproduction("cifar10", final={"constant": 0.9, "hybrid": 0.7})
    points = document["comparisons"]["hybrid"]["constant"]["points"]
    if not with_it:
        del document["comparisons"]["hybrid"]
    seen = Seen(parse(document, "made up"), SECTION7["cifar10"], "acdpp", 0.95)
    found = accuracy.hybrid_ahead(seen)["after the last round"]
    assert float(found.mean) == pytest.approx(points["mean"], rel=1e-3)
    width = (points["high"] - points["low"]) / 2
    assert (float(found.half(0.8)) == pytest.approx(width, rel=1e-3)) == with_it
    assert float(found.half(0.8)) > 0.99 * width


def test_a_result_without_the_capped_rule_says_nothing_of_it(tmp_path):
    four = ("acdpp", "constant", "oracle", "hybrid")
    found = claims(put(tmp_path, "paper", every={"largest": {"acdpp": 999}}, imagenette={"policies": four}))
    case = decide(found["buffer_cost_horizontal/every-round"])
    assert (case.verdict, case.corrected_verdict) == ("conditional", "supported")
    assert case.claim.corrected.parts == ("MNIST", "CIFAR-10")
    # 7 more in each of ten rounds
    assert "MNIST 7 of 100, then up to 70 in round 10;" in case.claim.corrected.sketch
    assert [e.outcome for e in case.stated] == ["fails"] * 4
    assert [e.certificate["largest"] for e in case.stated[1:]] == [999] * 3


def test_the_parts_of_a_claim_share_its_error(tmp_path):
    for claim in accuracy.claims(put(tmp_path, "paper")):
        levels = [e.certificate["level"] for e in decide(claim).stated if "level" in e.certificate]
        assert levels == [pytest.approx(1 - 0.05 / len(claim.parts))] * len(levels)


@pytest.mark.parametrize(("mean", "outcome"), [(100.0, "holds"), (100.1, "open")])
def test_memory_on_average_is_held_against_the_buffers(mean, outcome):
    result = parse(reproduction("mnist"), "made up")
    held = {**result.policies, "acdpp": replace(result.policies["acdpp"], occupancy=np.full(100, mean))}
    over = {("mnist", "paper"): replace(result, policies=held)}
    found = memory.in_training(over, "mnist")
    assert (found.outcome, found.certificate["mean"]) == (outcome, pytest.approx(mean))


def test_the_policy_alone_holds_and_spends_what_it_does_in_training():
    """As the runs that trained, except for whole samples and chance; both packages have the same constants."""
    found, trained = play("mnist", *OURS, 0), committed()["mnist", "paper"].policies["acdpp"]
    assert found.memory.mean() == pytest.approx(trained.occupancy.mean(), rel=0.01)
    assert found.cost.mean() == pytest.approx(float(trained.mean_cost.mean), rel=0.01)
    assert found.debt[0] == 0
    ends = [
        1 / (1 - OURS[1] ** t) for t in range(1, 101)
    ]  # most that the region allows, over the target rate
    allowed = spending.spends_within(Context()).certificate["bound"]
    assert allowed == pytest.approx(float(SECTION7["mnist"].budget) * np.mean(ends))
    judged = experiment.played(np.array([1.0, 2.0, 4.0]), 99, 0.9, "it", "here").certificate
    assert (judged["level"], judged["runs"]) == (0.9, 3)
    for name in ("D", "sigma", "B", "Pdim"):
        assert getattr(PENALTY, name) == getattr(CONSTANTS, name)
    assert ({dataset: script.V for dataset, script in SCRIPTS.items()}, RELEASED_K) == (CODE_V, CODE_K)


def trained(folder, eta=0.1, of=None, **given):
    """The paper's results in its own setting, changed for a data set by `of`; and MNIST at another η."""
    document = changed(reached("mnist", **given), ("study", "eta"), eta)
    write(document, folder / "mnist-trained.json")
    return put(folder, "paper", **(of or {}))


@pytest.mark.parametrize("seeds", [2, 10])
def test_a_result_at_another_learning_rate_is_a_measurement_of_our_own_and_no_substance(seeds, tmp_path):
    final = {**FINAL["mnist"], "constant": 0.955, "released": 0.96}
    found = claims(trained(tmp_path, seeds=seeds, final=final))
    assert found["test_acc_all/constant"].substance == ""
    assert ("test_acc_all/trained" in found) == (seeds > 2)
    if seeds > 2:
        ours = found["test_acc_all/trained"]
        assert (ours.kind, decide(ours).verdict) == ("addition", "supported")
        assert "ACDPP ahead of constant -0.5 ± 0.0 points" in ours.statement
        assert "the released rule ahead of constant 0.5 ± 0.0 points" in ours.statement


def test_such_a_result_needs_its_learning_rate_and_an_oracle_that_learns(tmp_path):
    assert "with one of the η" in refused(trained, tmp_path, eta=0.5)
    weak = {**FINAL["mnist"], "oracle": 0.8}
    assert "does not reach the paper's target" in refused(trained, tmp_path, final=weak)


def test_where_ten_runs_scatter_too_far_no_number_of_seeds_decides():
    result = parse(reproduction(), "made up")
    wide = Estimate(*(np.array(x) for x in (-9.0, -13.0, -5.0)), 0.8, 100)
    others = (replace(wide, mean=np.array(mean)) for mean in (-16.4, 20.0))  # only one of 3.5 and 0 in reach
    for estimate, told in ((wide, True), *((other, False) for other in others), (points(0, 9), False)):
        found = experiment.states(result, 3.5, {"last": estimate}, 0.95)
        assert found.outcome == "open"
        assert ("no number of seeds decides" in found.detail) == told


def test_what_is_missing_is_open_and_nothing_makes_no_claim(tmp_path):
    assert claims(committed(tmp_path)) == {}
    write(reproduction("cifar10"), tmp_path / "something-else.json")
    assert claims(put(tmp_path, "released", datasets=["mnist"])) == {}
    case = decide(claims(put(tmp_path, "paper", datasets=["mnist"]))["test_acc_all/constant"])
    assert [e.outcome for e in case.stated] == ["holds"] * 2 + ["open"] * 4
    assert "no such result is committed for ImageNette" in case.stated[-1].detail
    assert (case.verdict, case.corrected_verdict) == ("undecided", "supported")
    assert case.claim.corrected.parts == ("MNIST",)
    assert case.corrected[0].certificate["level"] == pytest.approx(1 - 0.05 / 3)


# --- intervals ---------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    "every",
    [
        pytest.param({}, id="as said", marks=pytest.mark.slow),
        pytest.param({"noise": 0.05, "complete": False, "rounds": 12}, id="poor"),
    ],
)
def test_claims_read_as_all_claims_do(every, tmp_path):
    found = claims(put(tmp_path, "paper", "released", every=every))
    cases = [decide(claim) for claim in found.values()]
    for case in cases:
        check_words(case.claim)
        assert case.claim.kind in ("addition", "experiment", "reading")
        assert not case.claim.corrected or case.verdict not in ("proved", "certified", "supported")
    json.dumps(document(cases, version="0", seed=0), allow_nan=False)
    assert ledger.differences(cases, [ledger.entry(case) for case in cases]) == []


CONTRADICTIONS = {
    "names no command": (("command",), None),
    "its name in its data set": (("dataset",), "cifar10"),
    "its name in its setting": (("setting",), "released"),
    "the paper's target": (("target",), 0.8),
    "the paper's budget": (("study", "budget"), 56),
    "the paper's points over constant": (("paper", "points", "constant"), 0.35),
    "the paper's speed_up over hybrid": (("paper", "speed_up", "hybrid"), 3.2),
    "the last accuracy of hybrid": (("policies", "hybrid", "current_best", "mean", 100), 0.99),
    "the last interval of hybrid": (("policies", "hybrid", "best_accuracy", "high"), 0.99),
    "the mean cost of acdpp": (("policies", "acdpp", "mean_cost", "mean"), 50.0),
    "the current best of acdpp, which falls": (("policies", "acdpp", "current_best", "mean", 50), 0.1),
    "the largest occupancy of acdpp": (("policies", "acdpp", "occupancy", "mean", 3), 400),
    "the points of acdpp and constant": (("comparisons", "acdpp", "constant", "points", "mean"), 3.5),
    "the accuracies by seed of acdpp": (("policies", "acdpp", "by_seed", "best_accuracy", 3), 0.1),
    "the averaged accuracies by seed of acdpp": (("policies", "acdpp", "by_seed", "mean_accuracy", 3), 0.1),
    "the interval of the points of acdpp": (("comparisons", "acdpp", "constant", "points", "low"), 0.0),
    "the interval of the averaged points": (
        ("comparisons", "acdpp", "constant", "points_averaged", "high"),
        9.0,
    ),
    "the averaged points of acdpp": (("comparisons", "acdpp", "hybrid", "points_averaged", "mean"), 3),
}


@pytest.mark.parametrize("what", CONTRADICTIONS)
def test_a_committed_result_that_contradicts_itself_is_refused(what, tmp_path):
    write(changed(reproduction(), *CONTRADICTIONS[what]), tmp_path / "mnist-paper.json")
    sentence = refused(committed, tmp_path)
    assert what in sentence
    assert "'mnist-paper.json'" in sentence


@pytest.mark.parametrize("path", sorted(Path(experiment.__file__).parents[1].glob("experiments/*-*.json")))
def test_a_committed_result_names_its_command_and_no_path(path):
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["command"].startswith("acdpp reproduce ")
    assert "/" not in document["command"]
