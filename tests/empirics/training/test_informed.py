"""A study whose server adds up information: what it refuses, its risk beside the limit, and stops on the way."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from empirics import Study, predict_study, run_study
from empirics.prediction.forecast import OF_INFORMATION
from empirics.settings.drift import Drift
from empirics.training.information import InformationServer
from empirics.training.informed import InformationLearner
from empirics.training.model import Memory
from empirics.training.sums import Rows, losses
from tests.empirics.small import Steady, blobs, forecaster_of, problem, refused, stopped_at, study
from tests.empirics.training.test_information import made, settled

INFORMATION = {"learner": "information", "measures": ("risk", "accuracy")}


def test_it_is_at_the_limit_and_its_prediction_near_what_is_measured(tmp_path):
    setting = study(**INFORMATION, rounds=90, seeds=4, policies=("constant", "oracle"), radius=3.0)
    told = predict_study(setting, dataset=blobs())
    found = run_study(replace(setting, predict=False), tmp_path / "result", dataset=blobs())["policies"]
    by_descent = replace(setting, predict=False, learner="descent", eta=8.0, average="equal")
    others = run_study(by_descent, tmp_path / "descent", dataset=blobs())["policies"]
    for name, forecast in told.forecasts.items():
        for key in ("cumulative_excess_risk", "final_excess_risk"):
            measured = found[name][key]
            assert (
                abs(measured["mean"] - forecast.document()[key])
                < 2 * measured["error"] + 0.1 * measured["mean"]
            )
        assert found[name]["cumulative_excess_risk"]["mean"] < others[name]["cumulative_excess_risk"]["mean"]


def test_a_prediction_begins_at_the_first_model_s_risk_and_falls_with_the_samples_bought():
    setting = study(**INFORMATION, rounds=40, policies=("constant", "burst"))
    told = predict_study(setting, dataset=blobs())
    forecaster = told.forecaster
    first = problem(setting).model.measure(torch.zeros(2, 9, dtype=torch.float64), None)["risk"][0]
    for forecast in told.forecasts.values():
        assert len(forecast.risk) == 41
        assert forecast.risk[0] == pytest.approx(float(first) - forecaster.landscape.best.risk)
        assert (np.diff(forecast.risk) <= 0).all()
        assert forecast.noise_floor == 0
        samples = forecast.rate * 40
        assert forecast.risk[-1] == pytest.approx(forecaster.landscape.least_final_risk(samples), rel=0.05)
    assert told.best is None
    document = told.document()
    assert document["learner"] == "information"
    assert document["notes"] == [OF_INFORMATION]
    assert told.forecasts["constant"].errors is None  # it buys the same at all prices
    assert told.forecasts["burst"].errors["cumulative_excess_risk"] > 0


def test_two_runs_that_buy_otherwise_are_twice_their_standard_error_apart():
    many, few = (4, 5, 7), (1, 1, 2)
    setting = study(**INFORMATION, rounds=12, policies=("mine",))
    one, other, both = (
        forecaster_of(problem(replace(setting, seeds=seeds)), policies={"mine": policy}).forecasts()["mine"]
        for policy, seeds in ((Steady(*many), 1), (Steady(*few), 1), (Steady(many, few), 2))
    )
    for name, value in one.document().items():
        assert both.errors[name] == pytest.approx(abs(value - other.document()[name]) / 2)
    np.testing.assert_allclose(both.risk_error, abs(one.risk - other.risk) / 2)


@pytest.mark.parametrize(("checkpoint", "stop"), [(5, 5), (3, 6)])
def test_a_study_that_goes_on_ends_as_one_that_was_never_stopped(tmp_path, checkpoint, stop):
    setting = study(
        **INFORMATION, rounds=10, policies=("constant@K=3", "burst"), checkpoint=checkpoint, predict=False
    )
    whole = run_study(replace(setting, checkpoint=10), tmp_path / "whole", dataset=blobs())
    stopped_at(setting, tmp_path / "parts", stop, dataset=blobs())
    parts = run_study(out=tmp_path / "parts", dataset=blobs(), resume=True)
    for name in setting.policies:
        for key in ("cumulative_excess_risk", "final_excess_risk", "final_log_loss"):
            assert parts["policies"][name][key] == pytest.approx(whole["policies"][name][key], rel=1e-9)


def test_new_samples_wait_until_they_are_more_than_a_hundredth():
    """Of one run, which has learnt 100 samples; two clients bring one each, in turn. It goes on from its state."""
    setting = study(**INFORMATION, seeds=1, policies=("constant",), buffers=(99, 9), budget=540.0)
    learner = InformationLearner(problem(setting).model, setting)
    index = torch.arange(2 * 60).view(1, 2, 60)
    first, weights = torch.zeros(1, 2, dtype=torch.int64), torch.ones(1, 2)
    slot = torch.arange(60)
    models = []
    for before, now in (((0, 0), (50, 50)), ((50, 50), (51, 50)), ((51, 50), (51, 51)), ((51, 51), (51, 52))):
        size, new = (torch.tensor(each)[None, :, None] for each in (now, before))
        state, learner = learner.state, InformationLearner(problem(setting).model, setting)
        learner.restore({name: values.numpy() for name, values in state.items()})
        models.append(
            learner.learn(Memory(index, slot < size, weights), (slot >= new) & (slot < size), first)
        )
    assert [bool((one == other).all()) for one, other in pairwise(models)] == [True, False, True]


def test_a_model_on_the_ball_is_the_best_there():
    """The gradient of what it makes least points to the centre."""
    rows = made(3, 60)
    server = InformationServer(3, 4, 3, priors=(2.0, 0.01), radius=0.8)
    settled(server, rows)
    for k, prior in enumerate((2.0, 0.01)):
        for run in range(3):
            theta = server.models[run, k].clone().requires_grad_()
            one = Rows(rows.x[run : run + 1], rows.y[run : run + 1], rows.counted[run : run + 1])
            value = losses(theta[None, None], one).sum() + prior / 2 * theta.square().sum()
            (gradient,) = torch.autograd.grad(value, theta)
            theta = theta.detach()
            assert float(theta.norm()) == pytest.approx(0.8, rel=1e-6)
            torch.testing.assert_close(gradient, (gradient @ theta) / 0.64 * theta, atol=2e-3, rtol=0)
            assert float(gradient @ theta) < 0


def test_settings_of_local_descent_other_models_and_too_many_features_are_refused(tmp_path):
    descent = {"decay": 50.0, "average": "equal", "momentum": 0.9, "model": "lenet"}
    for name, value in descent.items():
        assert f"takes no {name}" in refused(Study, learner="information", **{name: value})
    said = refused(Study, learner="information", policies=("constant@eta=2",))
    assert "takes no eta, which constant@eta=2 gives" in said
    setting = study(**INFORMATION, labels="classes")
    said = refused(problem, setting, data=blobs(2, 2000))
    assert "of 2,001 features for each run, and takes at most 2,000" in said
    of_torch = lambda population: torch.nn.Linear(population.x.shape[1], 2)  # noqa: E731
    assert "takes no model" in refused(
        run_study, study(**INFORMATION), tmp_path / "net", dataset=blobs(), model=of_torch
    )


def test_a_search_of_steps_and_a_drift_are_refused():
    setting = study(**INFORMATION)
    assert "takes no local steps" in refused(predict_study, setting, dataset=blobs(), search_steps=(1, 5))
    moving = study(**INFORMATION, drift=Drift(kind="abrupt", start=20, parts="labels"))
    assert "in a world that stands still" in refused(predict_study, moving, dataset=blobs())


def test_it_leaves_out_a_base_s_settings_of_descent_and_no_other_setting():
    base = Study(eta=4.0, decay=50.0, average="polynomial", average_by=2.0)
    found = Study.from_document({"learner": "information", "rounds": 7}, base)
    assert (found.decay, found.average, found.average_by, found.rounds) == (None, "none", None, 7)
    assert not found.bound_applies
    assert any("adds up information" in one for one in found.departures)
    assert Study.from_document({"rounds": 7}, base) == replace(base, rounds=7)
    assert replace(found, policies=("acdpp@K=7,rho=0.5",)).of_policy("acdpp@K=7,rho=0.5").K == 7


@pytest.mark.parametrize("odd", ["a class per client", "a class that comes late", "scales", "few samples"])
def test_odd_tables_are_learnt(odd, tmp_path):
    """Each of three classes is as common, and the late one alone is there in the end."""
    data = blobs(3, 8, 12 if odd == "few samples" else 120)
    x, y = data.train_x.copy(), data.train_y
    given = {"x": x, "y": y, "test_x": data.test_x.copy(), "test_y": data.test_y}
    more = {"radius": None}
    if odd == "a class per client":
        given["client"], more["partition"] = y, "client"
    if odd == "a class that comes late":
        x, y = np.concatenate([x, data.test_x]), np.concatenate([y, data.test_y])
        late = np.argsort(y == 2, kind="stable")
        given = {"x": x[late], "y": y[late], "time": np.arange(len(y))}
        more |= {"drift": Drift(kind="order", length=5), "rounds": 29}
    if odd == "scales":
        for part in (x, given["test_x"]):
            part[:, 0] *= 1e4
            part[:, 1] *= 1e-4
    setting = study(**INFORMATION, labels="classes", policies=("constant", "burst-online"), **more)
    found = run_study(setting, tmp_path / "result", dataset=given)
    for row in found["policies"].values():
        assert row["diverged"] == 0
        assert row["final_accuracy"]["mean"] > 1 / 3
        assert np.isfinite(row["final_log_loss"]["mean"])
