"""What a result says about Section 7, against numbers worked out by hand from planted rows."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from empirics.records.explained import explained
from empirics.records.folder import Folder
from empirics.records.reproduction import NAME, command_of, reproduction, save
from empirics.run import run_study
from empirics.settings.ladder import rungs
from empirics.settings.section7 import PAPER, SETTINGS, section7
from empirics.settings.study import Study
from tests.empirics.small import study as small
from theory.setting import SettingError

POLICIES, SEEDS, ROUNDS = ("acdpp", "constant", "hybrid", "oracle"), 3, 4
STUDY = replace(section7("mnist", seeds=SEEDS, rounds=ROUNDS), policies=POLICIES)
NAN, FIVE = float("nan"), 5e-5  # half a unit of the fifth digit, at most
# test accuracy of θ(1), …, θ(5), policy by policy and seed by seed
ACCURACY = np.array(
    [
        [[0.1, 0.5, 0.9, 0.8, 0.95], [0.2, 0.7, 0.6, 0.9, 0.85], [0.1, 0.86, NAN, NAN, NAN]],
        [[0.1, 0.4, 0.6, 0.88, 0.9], [0.2, 0.5, 0.7, 0.85, 0.8], [0.1, 0.5, 0.6, 0.84, 0.89]],
        [[0.1, 0.3, 0.4, 0.5, 0.6], [0.2, 0.3, 0.2, 0.3, 0.1], [0.1, 0.3, 0.4, 0.5, 0.9]],
        [[0.1, 0.85, 0.9, 0.9, 0.9], [0.2, 0.9, 0.95, 0.9, 0.9], [0.1, 0.9, 0.9, 0.9, 0.9]],
    ]
)
BEST = [  # of acdpp
    [0.1, 0.5, 0.9, 0.9, 0.95],
    [0.2, 0.7, 0.7, 0.9, 0.9],
    [0.1, 0.86, 0.86, 0.86, 0.86],
]


def _values(scale):
    """Numbers of all rounds, (policies, seeds, rounds), no two alike."""
    return scale * (1 + np.arange(len(POLICIES) * SEEDS * ROUNDS).reshape(len(POLICIES), SEEDS, ROUNDS))


COST, ADMITTED, HELD, DEBT = _values(0.01), _values(1), _values(2), _values(0.3)


def planted(folder, study=STUDY, accuracy=ACCURACY, **settings):
    """A finished result with these numbers, in two chunks."""
    document = {
        "study": study.document(),
        "asked": {"device": "cuda", "data_dir": "/somewhere"},
        "device": "a card",
        "versions": {"acdpp": "1"},
        "data": {"train": 60_000, "test": 10_000},
        "continued": [],
    } | settings
    seeds = range(study.seeds)
    with Folder.begin(folder, document) as result:
        for first, last in ((1, 3), (4, 4)):
            part = np.s_[: len(study.policies), : study.seeds, first - 1 : last]
            rounds = range(first, last + 1)
            cells = [(p, s, t) for p in study.policies for s in seeds for t in rounds]
            policy, seed, t = (list(column) for column in zip(*cells, strict=True))
            columns = {"policy": policy, "seed": seed, "round": t}
            numbers = {"cost": COST, "admitted": ADMITTED, "n": HELD, "debt": DEBT, "accuracy": accuracy}
            columns |= {name: values[part].ravel() for name, values in numbers.items()}
            result.save(first, last, columns, {"theta": np.zeros(1)})
        last = {
            name: [None if np.isnan(one) else one for one in accuracy[p, : study.seeds, -1]]
            for p, name in enumerate(study.policies)
        }
        found = {name: {"final_accuracies": values} for name, values in last.items()}
        result.finish({"intervals": "over seeds", "policies": found})
    return folder


def interval(values):
    mean, low, high = (
        np.mean(values),
        *stats.t.interval(0.8, len(values) - 1, np.mean(values), stats.sem(values)),
    )
    return {"mean": mean, "low": low, "high": high}


def test_current_best_is_a_running_maximum_with_the_interval_of_t(tmp_path):
    row = reproduction(planted(tmp_path / "r"))["policies"]["acdpp"]
    curves = np.array(BEST)
    for name in ("mean", "low", "high"):
        expected = [interval(values)[name] for values in curves.T]
        assert row["current_best"][name] == pytest.approx(expected, rel=FIVE)
    assert row["best_accuracy"] == pytest.approx(interval([0.95, 0.9, 0.86]), rel=FIVE)
    assert row["mean_accuracy"] == pytest.approx(interval(curves[:, 1:].mean(axis=1)), rel=FIVE)
    assert row["diverged"] == 1


def test_books_are_those_of_the_rows(tmp_path):
    found = reproduction(planted(tmp_path / "r"))["policies"]
    for p, name in enumerate(POLICIES):
        spent = COST[p] * ADMITTED[p]
        assert found[name]["cost"]["mean"] == pytest.approx(spent.mean(axis=0), rel=FIVE)
        assert found[name]["mean_cost"] == pytest.approx(interval(spent.mean(axis=1)), rel=FIVE)
        assert found[name]["occupancy"]["mean"] == pytest.approx(HELD[p].mean(axis=0), rel=FIVE)
        assert found[name]["occupancy"]["largest"] == HELD[p].max()
        assert found[name]["occupancy"]["buffers"] == 100
        assert found[name]["debt"]["mean"] == pytest.approx(DEBT[p].mean(axis=0), rel=FIVE)
        assert found[name]["debt"]["largest"] == pytest.approx(DEBT[p].max(), rel=FIVE)


def test_the_first_round_counts_rounds_of_training(tmp_path):
    found = reproduction(planted(tmp_path / "r"))["policies"]
    assert {name: row["first_round"] for name, row in found.items()} == {
        # means of current best: 0.13, 0.687, 0.82, 0.887; seeds get to 85 % after 2, 3 and 1 rounds
        "acdpp": {"reached": 3, "mean_curve": 3, "median": 2},
        "constant": {"reached": 3, "mean_curve": 3, "median": 3},
        "hybrid": {"reached": 1, "mean_curve": None, "median": None},
        "oracle": {"reached": 3, "mean_curve": 1, "median": 1},
    }


def test_a_target_met_exactly_is_met_in_single_precision(tmp_path):
    single = np.where(ACCURACY == 0.9, np.float64(np.float32(0.7)), np.minimum(ACCURACY, 0.6))
    study = replace(section7("cifar10", seeds=SEEDS, rounds=ROUNDS), policies=POLICIES)
    found = reproduction(planted(tmp_path / "r", study, single))["policies"]
    assert np.float64(np.float32(0.7)) < 0.7
    assert found["constant"]["first_round"]["reached"] == 1


def test_gaps_are_paired_and_speed_ups_are_ratios_of_rounds(tmp_path):
    document = reproduction(planted(tmp_path / "r"))
    compared = {one: set(others) for one, others in document["comparisons"].items()}
    both = {"constant", "hybrid"}
    assert compared == {"acdpp": both, "oracle": both, "hybrid": {"constant"}}
    found = document["comparisons"]["acdpp"]
    points = 100 * (np.array([0.95, 0.9, 0.86]) - [0.9, 0.85, 0.89])
    own = found["constant"]["points"]
    p = stats.ttest_1samp(points, 0).pvalue
    assert own == pytest.approx({**interval(points), "p": p}, rel=FIVE)
    best = np.maximum.accumulate(np.nan_to_num(ACCURACY), axis=2)[..., 1:].mean(axis=2)
    averaged = 100 * (best[0] - best[1])
    assert found["constant"]["points_averaged"]["mean"] == pytest.approx(averaged.mean(), rel=FIVE)
    p = stats.ttest_rel(best[0], best[1]).pvalue
    assert found["constant"]["points_averaged"]["p"] == pytest.approx(p, rel=FIVE)
    assert found["constant"]["speed_up"] == 1
    assert document["comparisons"]["oracle"]["constant"]["speed_up"] == 3
    assert found["hybrid"]["speed_up"] is None
    spent = (COST * ADMITTED).mean(axis=(1, 2))
    assert found["constant"]["cost_ratio"] == pytest.approx(spent[0] / spent[1], rel=FIVE)


def test_one_seed_has_no_interval(tmp_path):
    document = reproduction(planted(tmp_path / "r", replace(STUDY, seeds=1)))
    row, gap = document["policies"]["acdpp"], document["comparisons"]["acdpp"]["constant"]["points"]
    assert row["best_accuracy"] == {"mean": 0.95, "low": None, "high": None}
    assert row["current_best"] == {"mean": BEST[0], "low": None, "high": None}
    assert gap == {"mean": 5, "low": None, "high": None, "p": None}


def test_the_heading_says_what_was_run_and_no_path(tmp_path):
    document = reproduction(planted(tmp_path / "r", continued=[{"device": "another card"}]))
    assert document["command"] == (
        "acdpp reproduce mnist --setting paper --seeds 3 --rounds 4 --policies acdpp,constant,hybrid,oracle "
        "--device cuda"
    )
    assert document["hardware"] == "a card and another card"
    assert document["data"] == {"train": 60_000, "test": 10_000, "complete": True}
    assert (document["target"], document["level"], document["paper"]) == (0.85, 0.8, PAPER["mnist"])
    assert Study.from_document(document["study"]) == STUDY
    assert "somewhere" not in json.dumps(document)
    part = reproduction(planted(tmp_path / "s", data={"train": 1_000, "test": 10_000}))
    assert part["data"]["complete"] is False


def test_a_command_is_given_only_if_it_makes_the_study():
    words = "acdpp reproduce cifar10 --setting released --seeds 10 --rounds 100 --device cpu"
    assert command_of(section7("cifar10", "released"), "cpu") == words
    changed = replace(section7("mnist", "momentum"), eta=0.1, model="logistic")
    assert command_of(changed, "cpu") == (
        "acdpp reproduce mnist --setting momentum --seeds 10 --rounds 100 --model logistic --eta 0.1 --device cpu"
    )
    assert command_of(replace(changed, steps=3), "cpu") is None
    assert command_of(small(), "cpu") is None


def test_a_file_holds_the_document_and_lists_stand_in_lines(tmp_path):
    document = reproduction(planted(tmp_path / "r"))
    save(tmp_path / NAME, document)
    text = (tmp_path / NAME).read_text(encoding="utf-8")
    assert json.loads(text) == document
    assert '"mean": [ 0.13333, 0.68667, 0.82, 0.88667, 0.90333 ]' in text
    assert not list(tmp_path.glob("*.partial"))


def test_a_full_study_takes_some_thirty_kilobytes(tmp_path):
    """7 policies and 100 rounds: 3 curves of current best and 3 of the books each."""
    row = {f"{i}": [float(f"{x:.5g}") for x in np.random.default_rng(i).random(101)] for i in range(6)}
    save(tmp_path / NAME, {"policies": {str(p): row for p in range(7)}})
    assert (tmp_path / NAME).stat().st_size < 45_000


def test_it_agrees_with_the_summary_of_a_real_run(tmp_path):
    study = small(policies=("acdpp", "constant", "oracle"), rounds=7, checkpoint=3)
    summary = run_study(study, tmp_path / "r", progress=lambda done: None)
    document = reproduction(tmp_path / "r")
    assert document["command"] is None
    assert (document["target"], document["paper"]) == (None, None)
    for name, row in summary["policies"].items():
        found = document["policies"][name]
        assert found["best_accuracy"]["mean"] == pytest.approx(row["best_accuracy"]["mean"], rel=FIVE)
        assert found["mean_cost"]["mean"] == pytest.approx(row["mean_cost"]["mean"], rel=FIVE)
        assert found["occupancy"]["largest"] == row["largest_occupancy"]
        assert found["debt"]["largest"] == pytest.approx(row["largest_debt"], rel=FIVE)
        assert found["first_round"] == {"reached": None, "mean_curve": None, "median": None}
        last = np.mean(row["final_accuracies"])
        assert last == pytest.approx(row["final_accuracy"]["mean"])


def test_an_unfinished_result_is_refused_in_a_sentence(tmp_path):
    class Stop(Exception):
        pass

    def stop(done):
        if done >= 5:
            raise Stop

    with pytest.raises(Stop):
        run_study(small(rounds=7, checkpoint=3), tmp_path / "r", progress=stop)
    with pytest.raises(SettingError, match="is unfinished: acdpp train --resume"):
        reproduction(tmp_path / "r")
    with pytest.raises(SettingError, match="is no result"):
        reproduction(tmp_path / "nowhere")
    run_study(small(rounds=3, measures=("risk",)), tmp_path / "s")
    with pytest.raises(SettingError, match="measured no accuracy"):
        reproduction(tmp_path / "s")


# --- the ladder --------------------------------------------------------------------------------------------


def test_the_ladder_sets_every_policy_against_constant_admission(tmp_path):
    named = rungs("mnist", ("momentum",), seeds=3, rounds=4)["momentum"]
    study = replace(named, policies=("released", "constant", "hybrid", "oracle"))
    rich = replace(named, policies=("constant@K=2", "acdpp@K=2"))
    planted(tmp_path / "momentum", study)
    planted(tmp_path / "momentum-equal", rich, ACCURACY[2:])
    document = explained(tmp_path)
    found = document["worlds"]["momentum"]
    assert list(found["policies"]) == [*study.policies, *rich.policies]
    points = 100 * (np.array([0.95, 0.9, 0.86]) - [0.9, 0.85, 0.89])
    assert found["policies"]["released"]["points"]["mean"] == pytest.approx(points.mean(), rel=FIVE)
    best = np.maximum.accumulate(np.nan_to_num(ACCURACY), axis=2)[..., 1:].mean(axis=2)
    averaged = found["policies"]["released"]["points_averaged"]["mean"]
    assert averaged == pytest.approx(100 * (best[0] - best[1]).mean(), rel=FIVE)
    assert found["policies"]["constant"]["points"] == {"mean": 0, "low": 0, "high": 0, "p": 1}
    last = 100 * (np.array([0.6, 0.3, 0.9]) - [0.9, 0.85, 0.89])  # of hybrid, and of constant@K=2
    for name in ("hybrid", "constant@K=2"):
        assert found["policies"][name]["points"]["mean"] == pytest.approx(last.mean(), rel=FIVE)
        assert found["policies"][name]["points"]["p"] == pytest.approx(
            stats.ttest_1samp(last, 0).pvalue, rel=FIVE
        )
    equal = found["equal_spending"]
    assert equal["cost"] == float(f"{(COST * ADMITTED)[0].mean():.4g}")
    assert list(equal["over"]) == ["constant@K=2"]
    left = 100 * (np.array([0.95, 0.9, 0.86]) - [0.6, 0.3, 0.9])
    assert equal["over"]["constant@K=2"]["released"]["points"]["mean"] == pytest.approx(left.mean(), rel=FIVE)
    assert list(equal["over"]["constant@K=2"]) == ["released", "acdpp@K=2"]
    assert document["not_run"] == [name for name in SETTINGS if name != "momentum"]
    assert document["command"] == (
        "acdpp reproduce mnist --explain --worlds momentum --seeds 3 --rounds 4 --device cuda"
    )


def test_without_a_finished_world_there_is_nothing_to_explain(tmp_path):
    with pytest.raises(SettingError, match="holds no finished world"):
        explained(tmp_path)
