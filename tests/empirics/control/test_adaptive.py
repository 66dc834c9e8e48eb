"""Constant admission that forgets when losses rise."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from empirics import Controller, Study, run_study
from empirics.control.adaptive import has_changed
from empirics.control.schedule import Schedule
from empirics.settings.drift import Drift
from empirics.training.engine import Engine
from empirics.training.model import Memory
from empirics.training.sample_order import SampleOrder
from tests.empirics.small import CONTROL, Pulled, blobs, columns, problem, refused
from tests.empirics.small import study as small

STUDY = Study(buffers=(8, 9, 10), budget=33, K=6)


def losses(rng, *levels, each=60):
    return np.concatenate([level + 0.15 * rng.normal(size=each) for level in levels])


def test_rising_losses_are_told_from_noise_and_from_learning():
    """Fewer than δ of all still streams alarm in a round: at 0.05, more than 20 of 200 have probability 1/1,000."""
    rng = np.random.default_rng(0)
    assert sum(has_changed(losses(rng, 0.6, 0.6), 0.05) for _ in range(200)) <= 20
    assert not any(has_changed(losses(rng, 0.9, 0.6)) for _ in range(50))
    assert all(has_changed(losses(rng, 0.6, 0.9)) for _ in range(50))
    few = np.array([0.1, 0.2, 0.1, 0.2, 9, 9.1, 9, 9.1])
    assert has_changed(few)
    assert not has_changed(few[1:])  # four of each at least
    assert not has_changed(few[:-1])
    assert not has_changed(few[:0])


@pytest.mark.parametrize("late", [8, 20, 32])
def test_a_rise_is_told_from_where_the_means_of_two_parts_are_too_far_apart_for_noise(late):
    """Both have the variance s² of a loss over their rounds; s² is half of the mean squared step."""
    told = set()
    for rise in np.linspace(0.1, 0.6, 51):
        given = np.tile([0.4, 0.6], 20) + np.repeat([0, rise], [40 - late, late])
        variance = np.mean(np.diff(given) ** 2) / 2
        far = rise / math.sqrt(2 * variance * (1 / (40 - late) + 1 / late) * math.log(40 / 0.05))
        if abs(far - 1) > 0.05:
            told.add((far > 1, has_changed(given, 0.05)))
    assert told == {(True, True), (False, False)}


RISING = losses(np.random.default_rng(1), 0.5, 1.5, each=30)


def played(server, told):
    """Samples in memory, round by round."""
    held = []
    for loss in told:
        server.report(server.decide(5.5))
        server.observe(loss)
        held.append(int(server.books.in_memory.sum()))
    return held


def test_all_that_is_older_leaves_in_the_round_after_an_alarm_at_the_same_cost():
    server, still, deaf = (Controller("adaptive", STUDY) for _ in range(3))
    held, full = played(server, RISING), played(still, np.full(60, 0.5))
    assert played(deaf, [None] * 60) == full
    assert deaf.capacity.tolist() == [8, 9, 10]
    alarms = [t for t in range(1, 60) if held[t] < held[t - 1] - 12]
    assert len(alarms) == 1
    assert 30 <= alarms[0] <= 40
    assert held[: alarms[0]] == full[: alarms[0]]
    assert held[alarms[0]] <= 7  # the new round's alone
    assert held[alarms[0] + 6 :] == full[alarms[0] + 6 :]
    assert server.books.spent == still.books.spent


def test_a_controller_that_listens_is_saved_and_goes_on_as_it_was(tmp_path):
    held = played(Controller("adaptive", STUDY), RISING)
    for cut in (20, 33):
        part = Controller("adaptive", STUDY)
        first = played(part, RISING[:cut])
        part.save(tmp_path / "server.json")
        assert first + played(Controller.load(tmp_path / "server.json"), RISING[cut:]) == held


def test_who_cannot_listen_or_hear_says_so():
    assert "listens to no losses" in refused(Controller("constant", STUDY).observe, 0.5)
    assert "finite number" in refused(Controller("adaptive", STUDY).observe, float("nan"))
    assert "unknown before training" in refused(Schedule, replace(STUDY, policies=("adaptive",)), CONTROL)


def test_no_news_is_no_loss():
    rule = Controller("adaptive", STUDY).policy
    state = rule.observe(rule.observe(rule.start(2), np.array([0.5, np.nan])), np.array([0.7, 0.6]))
    assert state.losses[0, -2:].tolist() == [0.5, 0.7]
    assert np.isnan(state.losses[1]).sum() == len(state.losses[1]) - 1


@pytest.fixture(scope="module")
def studied(tmp_path_factory):
    moving = {"drift": Drift(kind="abrupt", parts="labels", start=30), "labels": "classes", "radius": 20.0}
    few = {"buffers": (400,), "budget": 110.0, "eta": 3.0, "steps": 1, "rounds": 45, "checkpoint": 7}
    setting = small(policies=("constant@K=20", "adaptive@K=20"), **few, **moving)
    out = tmp_path_factory.mktemp("study") / "whole"
    run_study(setting, out, dataset=blobs())
    return setting, out


def test_a_study_forgets_after_the_change_and_at_no_other_time(studied):
    """Nothing is held but what came since; until then both policies are one, bit for bit."""
    setting, out = studied
    shape = (2, setting.seeds, setting.rounds)  # adaptive comes first in the alphabet
    rows = {name: values.reshape(shape) for name, values in columns(out).items() if name != "policy"}
    assert (rows["admitted"][0] == rows["admitted"][1]).all()
    for seed in range(setting.seeds):
        n = rows["n"][0, seed]
        [forgot] = np.flatnonzero(np.diff(n) < 0) + 1
        assert 30 <= forgot < 40
        assert n[forgot] == rows["admitted"][0, seed, forgot]
        for name, values in rows.items():
            np.testing.assert_array_equal(*values[:, seed, :forgot], err_msg=name)


@pytest.mark.parametrize("average", ["none", "equal"])
def test_what_is_heard_is_the_loss_on_the_samples_of_the_round(average, studied):
    """The first model is 0 everywhere; then by hand, from the samples that arrive. A mean of models is the model."""
    setting, out = studied
    rows = columns(out)
    assert rows["fresh_loss"][rows["round"] == 1] == pytest.approx(np.log(4))
    setting = replace(setting, average=average)
    task, schedule = problem(setting), Schedule(setting, CONTROL, trains=True)
    engine = Engine(task.model, setting, task.streams, listens=True)
    arrivals = SampleOrder(task.streams, setting)
    for _ in range(4):
        theta = engine.theta if average == "none" else engine.averaged
        theta, rounds = theta.clone().numpy(), schedule.advance(1)
        told = engine.play(rounds)["fresh_loss"][0]
        origin, lists = arrivals.extend(rounds)
        for run in range(setting.runs):
            end = int(rounds.ends[0, run, 0] - origin[run, 0])
            fresh = lists[run, 0, end - rounds.admissions[0, run, 0] : end]
            x, y = task.population.x[fresh].numpy(), task.population.y[fresh].numpy()
            scores = x @ theta[run].reshape(4, -1).T
            mean = np.mean(np.log(np.exp(scores).sum(1)) - scores[np.arange(len(y)), y])
            assert told[run] == pytest.approx(mean)


def test_networks_tell_losses_too_and_a_model_that_does_not_is_refused(tmp_path):
    torch.manual_seed(0)
    network = torch.nn.Linear(8, 4)
    setting = small(policies=("adaptive",), rounds=2, seeds=2, labels="classes", predict=False)
    task = problem(setting, model=network)
    held, mask = torch.tensor([[[3, 4], [5, 0]]]), torch.tensor([[[True, True], [True, False]]])
    memory = Memory(held, mask, torch.ones(1, 2))
    x, y = (values[[3, 4, 5]] for values in (task.population.x, task.population.y))
    loss = torch.nn.functional.cross_entropy(network(x.float()), y).detach()
    assert float(task.model.mean_loss(task.model.first, memory)) == pytest.approx(float(loss))
    federation = pytest.importorskip("empirics.federation.server_state", exc_type=ImportError)
    for begin, given in ((run_study, setting), (federation.prepare, federation.federated(setting))):
        said = refused(begin, given, tmp_path / "out", dataset=blobs(), model=Pulled)  # it has all but losses
        assert "must have mean_loss" in said
    assert not (tmp_path / "out").exists()
