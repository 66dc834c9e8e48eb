"""Section 7 from a result, against numbers worked out by hand from planted rows."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from empirics import Study, run_study
from empirics.results.explained_gain import explained
from empirics.results.folder import Folder
from empirics.results.reproduction import NAME, command_of, reproduction, save
from empirics.settings.ladder import rungs
from empirics.settings.section7 import PAPER, SETTINGS, section7, settings_for
from tests.empirics.small import blobs, refused, stopped_at
from tests.empirics.small import study as small

POLICIES, SEEDS, ROUNDS = ("acdpp", "constant", "hybrid", "oracle"), 3, 4
STUDY = replace(section7("mnist", seeds=SEEDS, rounds=ROUNDS), policies=POLICIES)
NAN, FIVE = float("nan"), 5e-5  # half a unit of the fifth digit, at most
# test accuracy of θ(1), …, θ(5), policy by policy and seed by seed
ACDPP = [[0.1, 0.5, 0.9, 0.8, 0.95], [0.2, 0.7, 0.6, 0.9, 0.85], [0.1, 0.86, NAN, NAN, NAN]]
CONSTANT = [[0.1, 0.4, 0.6, 0.88, 0.9], [0.2, 0.5, 0.7, 0.85, 0.8], [0.1, 0.5, 0.6, 0.84, 0.89]]
HYBRID = [[0.1, 0.3, 0.4, 0.5, 0.6], [0.2, 0.3, 0.2, 0.3, 0.1], [0.1, 0.3, 0.4, 0.5, 0.9]]
ORACLE = [[0.1, 0.85, 0.9, 0.9, 0.9], [0.2, 0.9, 0.95, 0.9, 0.9], [0.1, 0.9, 0.9, 0.9, 0.9]]
ACCURACY = np.array([ACDPP, CONSTANT, HYBRID, ORACLE])
BEST = [[0.1, 0.5, 0.9, 0.9, 0.95], [0.2, 0.7, 0.7, 0.9, 0.9], [0.1, 0.86, 0.86, 0.86, 0.86]]  # of acdpp


def _values(scale):
    """Numbers of all rounds, (policies, seeds, rounds), no two alike."""
    return scale * (1 + np.arange(len(POLICIES) * SEEDS * ROUNDS).reshape(len(POLICIES), SEEDS, ROUNDS))


COST, ADMITTED, HELD, DEBT = _values(0.01), _values(1), _values(2), _values(0.3)


def planted(folder, study=STUDY, accuracy=ACCURACY, *, begin=0, **settings):
    """A finished result with these numbers, those of the policy `begin` first, in two chunks."""
    asked = {"device": "cuda", "data_dir": "/somewhere"}
    document = {"study": study.document(), "asked": asked, "device": "a card", "continued": []}
    document |= {"versions": {"acdpp": "1"}, "data": {"train": 60_000, "test": 10_000}} | settings
    seeds, end = range(study.seeds), begin + len(study.policies)
    with Folder.begin(folder, document) as result:
        for first, last in ((1, 3), (4, 4)):
            part = np.s_[begin:end, : study.seeds, first - 1 : last]
            rounds = range(first, last + 1)
            cells = [(p, s, t) for p in study.policies for s in seeds for t in rounds]
            policy, seed, t = (list(column) for column in zip(*cells, strict=True))
            columns = {"policy": policy, "seed": seed, "round": t}
            numbers = {"cost": COST, "admitted": ADMITTED, "n": HELD, "debt": DEBT, "accuracy": accuracy}
            columns |= {name: values[part].ravel() for name, values in numbers.items()}
            result.save(first, last, columns, {"theta": np.zeros(1)})
        last = [[None if np.isnan(one) else one for one in runs[: study.seeds, -1]] for runs in accuracy]
        found = {name: {"final_accuracies": last[begin + p]} for p, name in enumerate(study.policies)}
        result.finish({"intervals": "over seeds", "policies": found})
    return folder


def interval(values):
    low, high = stats.t.interval(0.8, len(values) - 1, np.mean(values), stats.sem(values))
    return {"mean": np.mean(values), "low": low, "high": high}


def points(one, other):
    """Differences of the last current best and of its mean after each round, in per cent, seed by seed."""
    best = np.maximum.accumulate(np.nan_to_num(ACCURACY), axis=2)
    return [100 * (v[one] - v[other]) for v in (best[..., -1], best[..., 1:].mean(2))]


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    return reproduction(planted(tmp_path_factory.mktemp("planted") / "r"))


def test_current_best_is_a_running_maximum_with_the_interval_of_t(document):
    row, curves = document["policies"]["acdpp"], np.array(BEST)
    for name in ("mean", "low", "high"):
        expected = [interval(values)[name] for values in curves.T]
        assert row["current_best"][name] == pytest.approx(expected, rel=FIVE)
    assert row["best_accuracy"] == pytest.approx(interval([0.95, 0.9, 0.86]), rel=FIVE)
    assert row["mean_accuracy"] == pytest.approx(interval(curves[:, 1:].mean(axis=1)), rel=FIVE)
    assert row["diverged"] == 1


def test_accuracies_by_seed_and_books_are_those_of_the_rows(document):
    for p, name in enumerate(POLICIES):
        row, spent = document["policies"][name], COST[p] * ADMITTED[p]
        best = np.maximum.accumulate(np.nan_to_num(ACCURACY[p]), axis=1)
        assert row["by_seed"] == {
            "best_accuracy": best[:, -1].tolist(),
            "mean_accuracy": pytest.approx(best[:, 1:].mean(axis=1), rel=FIVE),
            "diverged": [2] if name == "acdpp" else [],
        }
        assert row["mean_cost"] == pytest.approx(interval(spent.mean(axis=1)), rel=FIVE)
        for book, values in {"cost": spent, "occupancy": HELD[p], "debt": DEBT[p]}.items():
            assert row[book]["mean"] == pytest.approx(values.mean(axis=0), rel=FIVE)
            assert row[book].get("largest", values.max()) == pytest.approx(values.max(), rel=FIVE)
        assert row["occupancy"]["buffers"] == 100


def test_the_first_round_counts_rounds_of_training(document):
    assert {name: row["first_round"] for name, row in document["policies"].items()} == {
        # means of current best: 0.13, 0.687, 0.82, 0.887; seeds get to 85 % after 2, 3 and 1 rounds
        "acdpp": {"reached": 3, "mean_curve": 3, "median": 2},
        "constant": {"reached": 3, "mean_curve": 3, "median": 3},
        "hybrid": {"reached": 1, "mean_curve": None, "median": None},
        "oracle": {"reached": 3, "mean_curve": 1, "median": 1},
    }
    assert (
        json.dumps(document["policies"]["oracle"]["first_round"])
        == '{"reached": 3, "mean_curve": 1, "median": 1}'
    )


def test_the_middle_of_two_seeds_lies_between_them_and_nobody_is_sooner_than_at_once(tmp_path):
    at_once = ACCURACY.copy()
    at_once[3, :, 0] = 0.86
    at_once[2, 1, -1] = NAN
    found = reproduction(planted(tmp_path / "r", replace(STUDY, seeds=2), at_once))
    assert found["policies"]["acdpp"]["first_round"]["median"] == 2.5
    assert found["policies"]["oracle"]["first_round"]["median"] == 0
    assert found["policies"]["hybrid"]["by_seed"]["diverged"] == [1]  # after the last round
    assert found["comparisons"]["oracle"]["constant"]["speed_up"] is None


def test_a_target_met_exactly_is_met_in_single_precision(tmp_path):
    single = np.where(ACCURACY == 0.9, np.float64(np.float32(0.7)), np.minimum(ACCURACY, 0.6))
    study = replace(section7("cifar10", seeds=SEEDS, rounds=ROUNDS), policies=POLICIES)
    found = reproduction(planted(tmp_path / "r", study, single))["policies"]
    assert np.float64(np.float32(0.7)) < 0.7
    assert found["constant"]["first_round"]["reached"] == 1


def test_gaps_are_paired_and_speed_ups_are_ratios_of_rounds(document):
    compared = {one: set(others) for one, others in document["comparisons"].items()}
    both = {"constant", "hybrid"}
    assert compared == {"acdpp": both, "oracle": both, "hybrid": {"constant"}}
    found = document["comparisons"]["acdpp"]
    for name, values in zip(("points", "points_averaged"), points(0, 1), strict=True):
        expected = {**interval(values), "p": stats.ttest_1samp(values, 0).pvalue}
        assert found["constant"][name] == pytest.approx(expected, rel=FIVE)
    assert found["constant"]["points"]["mean"] == pytest.approx((5 + 5 - 3) / 3, rel=FIVE)
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


def test_the_heading_says_what_was_run_and_no_path(document, tmp_path):
    words = "--setting paper --seeds 3 --rounds 4 --policies acdpp,constant,hybrid,oracle --device cuda"
    assert document["command"] == f"acdpp reproduce mnist {words}"
    assert document["data"] == {"train": 60_000, "test": 10_000, "complete": True}
    assert (document["target"], document["level"], document["paper"]) == (0.85, 0.8, PAPER["mnist"])
    assert Study.from_document(document["study"]) == STUDY
    assert "somewhere" not in json.dumps(document)
    parts = [{"device": name} for name in ("a card", "another card", "a card")]
    given = {"continued": parts, "data": {"train": 1_000, "test": 10_000}}
    other = reproduction(planted(tmp_path / "s", **given))
    assert other["hardware"] == "a card and another card"
    assert other["data"]["complete"] is False
    assert reproduction(planted(tmp_path / "old", data=None))["data"] is None


def test_a_command_is_given_only_if_it_makes_the_study():
    words = "acdpp reproduce cifar10 --setting released --seeds 10 --rounds 100 --device cpu"
    assert command_of(section7("cifar10", "released"), "cpu") == words
    changed = replace(section7("mnist", "momentum"), eta=0.1, model="logistic", precision="tf32")
    words = (
        "--setting momentum --seeds 10 --rounds 100 --model logistic --eta 0.1 --precision tf32 --device cpu"
    )
    assert command_of(changed, "cpu") == f"acdpp reproduce mnist {words}"
    assert command_of(replace(changed, steps=3), "cpu") is None
    assert command_of(small(), "cpu") is command_of(small(preset="paper"), "cpu") is None


def test_a_file_holds_the_document_and_lists_stand_in_lines(document, tmp_path):
    save(tmp_path / NAME, document)
    text = (tmp_path / NAME).read_text(encoding="utf-8")
    assert json.loads(text) == document
    assert '"mean": [ 0.13333, 0.68667, 0.82, 0.88667, 0.90333 ]' in text


def test_it_agrees_with_the_summary_of_a_real_run(tmp_path):
    study = small(policies=("acdpp", "constant", "oracle"), rounds=7, checkpoint=3)
    summary = run_study(study, tmp_path / "r", dataset=blobs())
    document = reproduction(tmp_path / "r")
    assert (document["command"], document["target"], document["paper"]) == (None, None, None)
    for name, row in summary["policies"].items():
        found = document["policies"][name]
        for number in ("best_accuracy", "mean_cost"):
            assert found[number]["mean"] == pytest.approx(row[number]["mean"], rel=FIVE)
        assert found["occupancy"]["largest"] == row["largest_occupancy"]
        assert found["debt"]["largest"] == pytest.approx(row["largest_debt"], rel=FIVE)
        assert found["first_round"] == {"reached": None, "mean_curve": None, "median": None}
        assert np.mean(row["final_accuracies"]) == pytest.approx(row["final_accuracy"]["mean"])


def test_what_is_unfinished_absent_or_without_accuracy_is_refused_in_a_sentence(tmp_path):
    stopped_at(small(rounds=7, checkpoint=3), tmp_path / "begun", 5, dataset=blobs())
    run_study(small(rounds=3, measures=("risk",)), tmp_path / "risk", dataset=blobs())
    for name, message in {
        "begun": "is unfinished: acdpp resume",
        "nowhere": "is no result",
        "risk": "measured no accuracy",
    }.items():
        assert message in refused(reproduction, tmp_path / name)


def test_the_ladder_sets_every_policy_against_constant_admission(tmp_path):
    named = replace(rungs("mnist", ("momentum",), seeds=3, rounds=4)["momentum"], eta=0.25)
    study = replace(named, policies=("released", "constant", "hybrid", "oracle"))
    rich = replace(named, policies=("constant@K=2", "acdpp@K=2"))
    planted(tmp_path / "momentum", study)
    planted(tmp_path / "momentum-equal", rich, begin=2)
    (tmp_path / "paper").mkdir()  # begun, and no world yet
    assert "holds no finished world" in refused(explained, tmp_path / "momentum")
    document = explained(tmp_path)
    found = document["worlds"]["momentum"]
    assert list(found["policies"]) == [*study.policies, *rich.policies]
    gain, averaged = points(0, 1)
    row = found["policies"]["released"]
    assert row["points"]["mean"] == pytest.approx(gain.mean(), rel=FIVE)
    assert row["points_averaged"]["mean"] == pytest.approx(averaged.mean(), rel=FIVE)
    assert found["policies"]["constant"]["points"] == {"mean": 0, "low": 0, "high": 0, "p": 1}
    last, _ = points(2, 1)  # of hybrid, and of constant@K=2
    for name in ("hybrid", "constant@K=2"):
        row = found["policies"][name]
        assert row["points"]["mean"] == pytest.approx(last.mean(), rel=FIVE)
        assert row["points"]["p"] == pytest.approx(stats.ttest_1samp(last, 0).pvalue, rel=FIVE)
        assert row["mean_cost"] == pytest.approx(interval((COST * ADMITTED)[2].mean(axis=1)), rel=FIVE)
        assert row["best_accuracy"] == pytest.approx(interval([0.6, 0.3, 0.9]), rel=FIVE)
        assert row["by_seed"]["best_accuracy"] == [0.6, 0.3, 0.9]
        assert (row["largest_occupancy"], row["buffers"], row["diverged"]) == (HELD[2].max(), 100, 0)
    equal = found["equal_spending"]
    assert equal["cost"] == float(f"{(COST * ADMITTED)[0].mean():.4g}")
    assert list(equal["over"]) == ["constant@K=2"]
    rich, (left, _) = equal["over"]["constant@K=2"], points(0, 2)
    assert list(rich) == ["released", "acdpp@K=2"]
    assert rich["released"]["points"]["mean"] == pytest.approx(left.mean(), rel=FIVE)
    assert document["not_run"] == [name for name in SETTINGS if name != "momentum"]
    words = "--worlds momentum --seeds 3 --rounds 4 --eta 0.25 --device cuda"
    assert document["command"] == f"acdpp explain mnist {words}"
    words = "--seeds 3 --rounds 4 --policies constant@K=2,acdpp@K=2 --eta 0.25 --device cuda"
    assert equal["command"] == f"acdpp reproduce mnist --setting momentum {words}"
    for world, eta, device in (("readmitted", 0.5, "cuda"), ("prices", 0.25, "cpu")):
        other = rungs("mnist", (world,), seeds=3, rounds=4)[world]
        other = replace(other, policies=study.policies, eta=eta)
        planted(tmp_path / world, other, asked={"device": device})
        assert explained(tmp_path)["command"] is None
        shutil.rmtree(tmp_path / world)
    for world, known in rungs("mnist", seeds=3, rounds=4).items():
        planted(tmp_path / "all" / world, replace(known, policies=study.policies))
    document = explained(tmp_path / "all")
    assert document["command"] == "acdpp explain mnist --seeds 3 --rounds 4 --device cuda"
    assert document["not_run"] == []
    planted(
        tmp_path / "few" / "paper", replace(section7("cifar10", seeds=3, rounds=4), policies=study.policies)
    )
    assert explained(tmp_path / "few")["not_run"] == list(settings_for("cifar10"))[1:]
