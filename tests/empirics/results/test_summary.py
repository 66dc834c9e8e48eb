"""The numbers of a policy, their ranking, and their place between constant admission and the oracle."""

import itertools
import statistics

import numpy as np
import pytest
from scipy import stats

from empirics.control.registry import BUILT_IN
from empirics.prediction.forecast import Forecast
from empirics.results.best_policy import ACCURACY, LOSS, answer, ranking
from empirics.results.folder import read_settings
from empirics.results.oracle_gap import gap_closed
from empirics.results.summary import add_predictions
from empirics.run import run_study
from empirics.settings.drift import Drift
from tests.empirics.small import Steady, blobs, columns, study

ENDS = ["oracle", "constant", "mine"]


def test_the_numbers_of_a_policy_are_those_of_its_samples_prices_and_rounds(tmp_path):
    """Of the last policy, whose seeds and clients differ: one of either stays within its limits."""
    samples = np.array([[5, 1, 1], [1, 2, 2], [4, 1, 12]])
    prices = np.array([[4, 1, 1], [4, 0.5, 2], [4, 0.5, 3], [4, 1, 1], [2, 2, 2], [2, 2, 2], [2, 2, 2]])
    given = {"policies": ("constant", "oracle"), "rounds": 7, "checkpoint": 4, "budget": 18.0, "seed": 2}
    setting = study(**given, predict=False)
    mine = {"mine": Steady(*samples, retention=(3, 1, 2))}
    own = {"dataset": blobs(), "policies": mine, "cost": prices}
    summary, table = run_study(setting, tmp_path / "out", **own), columns(tmp_path / "out")
    row = summary["policies"]["mine"]
    by_policy = zip(*(column.reshape(3, 3, 7) for column in table.values()), strict=True)
    _, rows, _ = each = [dict(zip(table, one, strict=True)) for one in by_policy]
    assert "in costs and samples; shared: partition" in summary["intervals"]  # costs not in the last chunk
    spent = samples.sum(axis=1) * prices.sum(axis=0)
    assert (spent.tolist(), row["cost_violation"]) == ([154, 45, 221], 14)  # their mean against 7 * 18
    # a mean over seeds of 10/3, 20/3, 10, ... for 4 places; 4/3 for 5; and 5, 10, 10, ... for 7
    assert row["buffer_violation"] == pytest.approx((7 * 10 - 10 - 4 * 7) + (7 * 10 - 5 - 7 * 7))
    assert (row["largest_debt"], row["largest_occupancy"], row["retention"]) == (80, 37, [1, 2, 3])
    assert row["rounds_stated_undefined"] == (rows["N_eff"] < rows["n"]).sum() / 3
    for name, by_seed in {
        "mean_cost": spent / 7,
        "distinct_samples": 7 * samples.sum(axis=1),
        "effective_samples": rows["N_eff"][:, -1],
        "cumulative_excess_risk": rows["excess_risk"].sum(axis=1),
        "mean_accuracy": rows["accuracy"].mean(axis=1),
        "final_accuracy": np.array(row["final_accuracies"]),
    }.items():
        error = statistics.stdev(by_seed.tolist()) / 3**0.5
        assert row[name] == pytest.approx({"mean": by_seed.mean(), "error": error}), name
    sigma = read_settings(tmp_path / "out")["constants"]["constants"]["sigma"]
    for (name, first), of in zip((("constant", 7), ("mine", 5), ("oracle", 5)), each, strict=True):
        finals, found = (summary["policies"][name][field] for field in ("final_accuracies", "mismatch"))
        best = np.fmax(of["accuracy"].max(axis=1), finals).mean()
        assert summary["policies"][name]["best_accuracy"]["mean"] == pytest.approx(best)
        assert found["early_rounds"] == first  # five times those of the client that forgets first
        for factor, column in (("chi", "chi"), ("stated", "stated_mismatch")):
            expected = np.maximum(of[column], 0)
            for early, when in ((slice(first), "_early"), (slice(None), "")):
                measured, meant = of["mismatch"][:, early], (of["variance"] * expected)[:, early]
                assert found[f"over_{factor}{when}"] == pytest.approx(measured.sum() / meant.sum())
            above = 1 + np.flatnonzero(of["mismatch"].mean(axis=0) > sigma**2 * expected.mean(axis=0))
            stretches = [range(begin, end + 1) for begin, end in found[f"above_{factor}"]]
            assert [*itertools.chain(*stretches)] == above.tolist()


@pytest.mark.parametrize(
    ("per_seed", "own", "told"),
    [
        ((), {}, "costs and samples; shared: partition and first parameters"),
        (("partition", "start"), {}, "costs and samples and partition and first parameters"),
        ((), {"cost": np.arange(1.0, 4)}, "samples; shared: costs and partition and first parameters"),
    ],
)
def test_two_seeds_of_one_policy_differ_in_what_is_drawn_anew(per_seed, own, told, tmp_path):
    few = {"policies": ("constant",), "rounds": 3, "seeds": 2, "partition": "split", "predict": False}
    summary = run_study(study(**few, per_seed=per_seed), tmp_path / "out", dataset=blobs(), **own)
    assert summary["intervals"] == f"over 2 seeds, which differ in {told}"


def test_shares_of_a_gap_are_those_of_the_measure_that_names_them(tmp_path):
    """With a budget that fills large buffers after many rounds alone, so that oracle is surely better."""
    rich = {"buffers": (40, 50, 60), "budget": 5.0, "K": 1, "labels": "classes", "seeds": 4}
    setting = study(policies=("constant", "oracle", "hybrid"), **rich, predict=False)
    summary = run_study(setting, tmp_path / "out", dataset=blobs())
    assert len(summary["gap_closed"]) == 3
    for name, found in summary["gap_closed"].items():
        constant, oracle, hybrid = (row[name]["mean"] for row in summary["policies"].values())
        assert found["hybrid"]["share"] == pytest.approx((constant - hybrid) / (constant - oracle)), name


def test_samples_in_their_own_order_are_compared_by_the_losses_of_each_seed(tmp_path):
    few = {"policies": ("constant", "oracle"), "rounds": 4, "seeds": 4, "predict": False}
    summary = run_study(study(**few, drift=Drift(kind="order")), tmp_path / "out", dataset=blobs())
    losses = columns(tmp_path / "out")["risk"].reshape(2, 4, 4).mean(axis=2)
    found = [row["mean_risks"] for row in summary["policies"].values()]
    assert np.array(found) == pytest.approx(losses)
    assert answer(summary).measure == LOSS


@pytest.mark.parametrize("spread", [1.0, 1.6])
def test_a_pair_is_decided_at_a_level_shared_by_all_pairs(spread):
    """For three seeds t is 4.30 at 5 % and 7.65 at a third of that; here it is 5/spread·√3 for two pairs.

    What all policies share of a seed tells none of them apart, and hides no difference.
    """
    shared = np.array([-300.0, 100.0, 200.0])
    apart = spread * np.array([-1.0, 0.0, 1.0])
    cumulative = shared + np.array([np.zeros(3), 5 + apart, 20 + apart])
    bounds = {"corrected": np.outer([1, 3, 2], np.ones(3)), "stated": np.outer([1, 2, 3], np.ones(3))}
    found = ranking(("oracle", "constant", "acdpp"), cumulative, bounds)
    assert found["measured"] == ["oracle", "constant", "acdpp"]
    assert found["undecided"] == ([] if spread == 1 else [["oracle", "constant"]])
    assert (found["pairs"], found["decided_pairs"]) == (3, 3 - len(found["undecided"]))
    assert found["corrected"] == ["oracle", "acdpp", "constant"]
    assert (found["corrected_agrees"], found["stated_agrees"]) == (False, True)
    assert found["corrected_disagrees_on"] == [["constant", "acdpp"]]


def test_accuracies_are_compared_at_a_level_shared_by_all_pairs():
    """Of p = 0.010: below 5 % shared by the three pairs of three policies, above that by the six of four."""
    lost = np.array([1.0, 1.42, 0.58, 1.0])
    for others in (2, 3):
        by_seed = {"best": np.full(4, 90.0), "near": 90 - lost}
        by_seed |= {"third": 90 - 30 * lost, "last": 90 - 60 * lost}
        rows = {name: by_seed[name] for name in [*by_seed][: others + 1]}
        policies = {
            name: {
                "final_accuracy": {"mean": row.mean()},
                "final_accuracies": row.tolist(),
                "mean_cost": {"mean": 5.0},
            }
            for name, row in rows.items()
        }
        found = answer({"policies": policies, "budget": 5.0})
        assert (found.best, "near" in found.undecided) == ("best", others == 3)


@pytest.mark.parametrize("measure", [ACCURACY, LOSS])
def test_the_best_keeps_the_budget_nearly_and_who_is_better_beyond_it_is_named(measure):
    accuracies = {"lost": None, "dear": 0.9, "best": 0.8, "next": 0.7, "last": 0.6}
    for costs, wanted in (
        ((1, 11.5, 11, 10, 9), ("best", "next", 2, "dear", True)),
        ((1, 12, 12, 12, 12), ("dear", "best", 3, None, False)),
        ((1, 5, 5, 5, 5), ("dear", "best", 3, None, False)),
        ((1, 5, 12, 12, 12), ("dear", None, 0, None, True)),
    ):
        policies = {}
        for (name, one), cost in zip(accuracies.items(), costs, strict=True):
            row = {"final_accuracy": one, "mean_risk": one and 1 - one, "mean_cost": cost}
            policies[name] = {key: {"mean": value} for key, value in row.items()}
            policies[name] |= {"final_accuracies": [one] * 2, "mean_risks": [row["mean_risk"]] * 2}
        if measure == ACCURACY:  # of one policy alone there are no losses
            del policies["last"]["mean_risks"]
        found = answer({"policies": policies, "budget": 10})
        assert (found.best, found.next, found.compared, found.beyond, found.alone) == wanted
        assert found.measure == measure


def test_nothing_is_ranked_without_a_difference():
    ones = np.ones((2, 3))
    alike = ranking(("oracle", "constant"), ones, {"corrected": ones, "stated": ones})
    assert (alike["decided_pairs"], alike["stated_agrees"]) == (0, None)
    unknown = ranking(("oracle", "constant"), ones, {"stated": ones * [[1], [np.nan]], "corrected": ones})
    assert "stated" not in unknown
    assert "corrected" in unknown
    for forecasts, notes in (({}, []), ({"mine": None}, ["beware"])):
        summary = {"policies": {}}
        add_predictions(summary, forecasts, None, ["beware"])
        assert summary["prediction_notes"] == notes
    told = Forecast(np.ones(3), np.ones(3), 0.5, 1.0, 2, True, fitted=0.1)
    row = {"cumulative_excess_risk": {"mean": 4.0}, "final_excess_risk": {"mean": 0.0}}
    add_predictions({"policies": {"mine": row}}, {"mine": told})  # 2 in two rounds, and 1 after them
    assert (row["predicted_over_measured"], row["final_predicted_over_measured"]) == (0.5, None)


def test_a_policy_handed_over_with_variants_in_the_study_is_not_run_plainly_too(tmp_path):
    own = {"dataset": blobs(), "policies": {"mine": BUILT_IN["constant"]}}
    asked = study(seeds=2, rounds=4, policies=("mine@K=2", "mine@K=5"), predict=False)
    rows = run_study(asked, tmp_path / "own", **own)["policies"]
    assert {name: row["retention"] for name, row in rows.items()} == {"mine@K=2": [2], "mine@K=5": [4]}


def test_the_share_is_a_ratio_of_means_with_a_paired_interval():
    drawn = np.random.default_rng(3)
    prices = drawn.normal(0, 5, 12)  # what all policies of a seed share cancels
    constant, oracle = 10 + prices, 8 + prices + drawn.normal(0, 0.1, 12)
    mine = 9 + prices + drawn.normal(0, 0.2, 12)
    found = gap_closed(ENDS, np.array([oracle, constant, mine]))["mine"]
    share = (constant - mine).mean() / (constant - oracle).mean()
    assert found["share"] == pytest.approx(share)
    residual = (constant - mine) - share * (constant - oracle)
    half = stats.t.ppf(0.975, 11) * stats.sem(residual) / (constant - oracle).mean()
    assert (found["low"], found["high"]) == pytest.approx((share - half, share + half))
    upwards = gap_closed(ENDS, -np.array([oracle, constant, mine]))["mine"]  # as accuracies count
    assert upwards == found
    assert found["p"] == pytest.approx(stats.ttest_rel(constant, mine).pvalue)


def test_without_a_gap_or_an_end_there_is_no_share_and_none_of_what_has_no_number():
    assert gap_closed(ENDS, np.array([[1.0], [2.0], [1.5]])) is None  # one seed
    assert gap_closed(ENDS, np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]])) is None
    assert gap_closed(["constant", "mine"], np.ones((2, 3))) is None
    values = np.array([[2.0, 2.2, 2.2], [4.0, 4.2, 4.1], [3.0, np.nan, 3.1], [3.0, 3.2, 3.3]])
    assert set(gap_closed([*ENDS[:2], "lost", "mine"], values)) == {"mine"}
    values[0, 1] = np.nan
    assert gap_closed([*ENDS[:2], "lost", "mine"], values) is None
