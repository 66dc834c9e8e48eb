"""`predict_study`: forecasts, the best setting, errors due to a pilot sample, and refusals."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from empirics import predict_study, run_study
from empirics.prediction import time_estimate
from empirics.prediction.pilot import draw_pilot
from empirics.settings.drift import Drift
from tests.empirics.small import FEW, Steady, blobs, columns, forecaster_of, predict, problem, refused, study


def test_a_prediction_is_what_training_writes_beside_its_measurements(tmp_path):
    summary = run_study(study(**FEW), tmp_path / "result", dataset=blobs())
    told = []
    found = predict(best=False, progress=lambda *now: told.append(now))
    assert told[-1] == ("predicting rounds", 5, 5)
    numbers = ("cumulative_excess_risk", "final_excess_risk", "noise_floor")
    made, table = found.document(), columns(tmp_path / "result")
    for name, row in made["policies"].items():
        written = table["predicted_excess_risk"][table["policy"] == name]
        assert written == pytest.approx(found.forecasts[name].risk[:5], rel=1e-12)
        trained = summary["policies"][name]["predicted"]
        assert {number: row[number] for number in numbers} == pytest.approx(trained, rel=1e-12)
    assert (made["best"], found.gain) == (None, None)
    assert found.forecaster.constants.eta == 1.5  # a round is one step of size ηE
    nothing = replace(found.own, risk=np.zeros(6), path=np.zeros(6))  # a number for JSON even so
    assert replace(found, forecasts={"x": nothing}).document()["policies"]["x"]["path_share"] == 0


@pytest.fixture(scope="module")
def searched():
    return predict()


def test_the_best_is_found_among_what_was_tried_and_its_gain_is_over_the_studys_own(searched):
    best = searched.document()["best"]
    assert best["predicted"]["cumulative_excess_risk"] == min(one["cumulative"] for one in best["tried"])
    own = searched.forecasts["constant"].cumulative
    assert best["gain"] == pytest.approx(1 - searched.best.forecast.cumulative / own)
    worst = replace(searched.best, tried=({"K": 1, "cumulative": math.inf},))
    assert worst.document()["tried"] == [{"K": 1, "cumulative": None}]  # JSON knows no infinity
    again = searched.at(best["K"], best["eta"], best["steps"])
    assert again.document() == pytest.approx(best["predicted"], rel=1e-12)


@pytest.mark.parametrize("eta", [1e-4, 1e3])
def test_the_best_step_size_does_not_depend_on_where_the_search_begins(searched, eta):
    found = predict(given={"eta": eta}).best
    assert found.K == searched.best.K
    assert found.value == pytest.approx(searched.best.value, rel=0.01)  # steps are half a doubling apart
    tried = [(one["K"], one["eta"], one["steps"]) for one in found.tried]
    assert len(tried) == len(set(tried))  # each is predicted once
    assert searched.gain > 0.01


def test_a_best_step_size_far_below_the_first_is_found():
    """Of many local steps: it lies between others that were tried. And what is noted of it is told."""
    found = predict(given={"eta": 4.0, "steps": 30, "rounds": 2, "policies": ("constant",)})
    tried = [one["eta"] for one in found.best.tried]
    assert min(tried) < found.best.eta < max(tried)
    unsettled = replace(found.best.forecast, followed=0)
    (note,) = replace(found, best=replace(found.best, forecast=unsettled)).notes
    assert note.startswith(found.best.name)


def test_the_best_and_the_studys_own_are_predicted_from_the_same_starts():
    found = predict(given={"per_seed": ("start",), "seeds": 2, "rounds": 4}, search_eta=False)
    (own,) = (one["cumulative"] for one in found.best.tried if one["K"] == 4)
    assert own == pytest.approx(found.own.cumulative, rel=1e-12)
    assert found.at(4, 0.5, 3).cumulative == pytest.approx(found.own.cumulative, rel=1e-12)


def test_only_k_is_searched_for_the_long_run_and_more_local_steps_on_request():
    told = []
    best = predict(objective="floor", search_steps=(1, 5), progress=lambda *now: told.append(now))
    best = best.document()["best"]
    assert told[-1] == ("settings tried", len(best["tried"]), None)
    assert {one["eta"] for one in best["tried"]} == {0.5}
    assert {one["steps"] for one in best["tried"]} == {1, 3, 5}
    assert best["predicted"]["noise_floor"] == min(one["floor"] for one in best["tried"])
    both = predict(search_steps=(1,)).document()["best"]["tried"]
    assert len({one["eta"] for one in both if one["steps"] == 3}) > 1  # the study's own, with step sizes too
    final = predict(objective="final", search_eta=False).best
    assert final.value == pytest.approx(final.forecast.risk[-1])


def test_a_retention_that_leaves_rounds_without_samples_may_be_the_best():
    found = predict(given={"buffers": (2,), "budget": 3.0, "K": 3, "rounds": 9}, search_eta=False)
    assert {one["K"] for one in found.best.tried} == {1, 2, 3, 4, 5, 8}
    assert found.best.K == 1


def test_a_pilot_of_everything_is_the_population_and_a_smaller_one_its_samples_alone():
    task = problem(study(policies=("constant",), rounds=6))
    tasks = (task, draw_pilot(task, 120).problem)
    whole, found = (forecaster_of(one).forecasts()["constant"].risk for one in tasks)
    np.testing.assert_allclose(found, whole, rtol=1e-6)
    pilot = draw_pilot(task, 43)
    (drawn,), parts = pilot.drawn, [part.population.x for part in pilot.parts()]
    assert len(set(drawn.tolist())) == 43
    torch.testing.assert_close(pilot.problem.population.x, task.population.x[drawn])
    # each sample is left out of one of five parts
    torch.testing.assert_close(torch.cat(parts).sum(0), 4 * task.population.x[drawn].sum(0))
    assert sorted(map(len, parts)) == [34, 34, 34, 35, 35]


def test_clients_that_differ_share_a_pilot_evenly():
    """From the partition of the first replicate."""
    task = problem(study(partition="split", per_seed=("partition",)))
    pilot = draw_pilot(task, 60)
    for drawn, pool in zip(pilot.drawn, task.streams.pools[0], strict=True):
        assert len(drawn) == 20
        assert set(drawn) <= set(pool)
    assert pilot.size == 60
    for part, each in ((pilot.problem, 20), *((part, 16) for part in pilot.parts())):
        assert sorted(np.concatenate(part.streams.pools[0])) == list(range(3 * each))
        assert part.population.weights.tolist() == [pytest.approx([1 / 3 / each] * 3 * each)]


def test_errors_of_a_pilot_sample_are_the_jackknifes():
    """Also that of a gain; samples are kept for a round at least, though the budget buys more than buffers hold."""
    plain = FEW | {"scale": "pixels", "eta": 0.01, "rounds": 2, "budget": 100.0, "K": 2}
    found = predict(pilot=50, search_eta=False, objective="final", given=plain)
    assert found.pilot == 50
    assert {one["K"] for one in found.best.tried} == {1, 2}
    assert set(found.errors) == {"constant", "oracle", found.best.name, "gain"}
    parts = []
    for part in draw_pilot(problem(study(**plain)), 50).parts():
        x, y = part.population.x[:, :-1].numpy(), part.population.y.numpy()  # without the bias
        alone = predict_study(study(**plain), dataset=((x, y), (x[:4], y[:4])), best=False)
        parts.append(alone.forecasts["oracle"].cumulative)
    assert found.errors["oracle"]["cumulative_excess_risk"] == pytest.approx(2 * np.std(parts), rel=1e-9)
    made = [part.forecasts() for part in found.parts]
    gains = [1 - part[found.best.name].risk[-1] / part["constant"].risk[-1] for part in made]
    assert found.document()["best"]["gain_error"] == pytest.approx(2 * np.std(gains), rel=1e-9)
    assert np.std(gains) > 0


def test_own_policies_and_prices_are_predicted_too():
    found = predict(policies={"twice": Steady(2, 2, 2)}, cost=np.linspace(1, 9, 5), best=False)
    assert list(found.forecasts) == ["constant", "oracle", "twice"]
    assert found.forecasts["twice"].rate == 6


def test_what_cannot_be_predicted_is_refused(tmp_path):
    for given, options, message in (
        ({"radius": None}, {}, "radius"),
        ({"rounds": 10**10}, {}, "take at most 5,952,380"),  # 4 GB / (16 bytes · (2 + 40))
        ({}, {"device": "abacus"}, "cpu or cuda"),
        *(({}, {"pilot": size}, f"from 10 to 120 samples here, got {size}") for size in (0, 9, 121)),
        ({"partition": "split"}, {"pilot": 29}, "from 30 to 120 samples here, 3 clients sharing it evenly"),
        ({"partition": "split", "buffers": (1,) * 7}, {"pilot": 126}, "from 70 to 119"),  # some have 17
        ({}, {"objective": "risk"}, "one of cumulative, final, floor"),
        ({"drift": Drift(kind="abrupt", start=2)}, {"pilot": 43}, "leave out the pilot or the drift"),
        ({"learner": "information"}, {"search_steps": (1,)}, "takes no local steps"),
    ):
        assert message in refused(predict, tmp_path / "out", given=given, **options)
    assert not list(tmp_path.iterdir())
    by_default = refused(predict_study, policies={"twice": Steady(2, 2, 2)}, cost=[1.0, 2.0])
    assert "2 prices and the study 500 rounds" in by_default


def test_where_all_samples_do_not_fit_into_memory_a_pilot_does(monkeypatch):
    # of 120 samples parts are followed, each with weights of its own
    monkeypatch.setattr(time_estimate, "POPULATION_WHOLE_MAX", 100)
    monkeypatch.setattr(time_estimate, "WEIGHT_BYTES_MAX", 1000)
    assert "take a pilot sample" in refused(predict, best=False)
    assert predict(best=False, pilot=60).pilot == 60
