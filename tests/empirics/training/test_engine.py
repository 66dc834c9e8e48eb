"""The batched engine against its one-client-at-a-time twin: the same decisions, the same trajectory."""

import numpy as np
import pytest
import torch

from empirics.control.registry import BUILT_IN, make_policy
from empirics.control.schedule import Schedule, brief_for, plan
from empirics.training.engine import Engine, aggregation_weights, padded
from empirics.training.linear import Linear
from empirics.training.model import Descent, Memory
from empirics.training.module import Module
from empirics.training.twin import run_twin
from tests.empirics.small import CONTROL, problem, study


def batched(setting, device="cpu", graphs=None):
    """θ after every round and the logs, with the engine stopped after each round to look."""
    task, schedule = problem(setting, device), Schedule(setting, CONTROL)
    engine = Engine(task.model, setting, task.streams, graphs=graphs)
    thetas, logs = [engine.theta.clone()], []
    for _ in range(setting.rounds):
        logs.append(engine.play(schedule.advance(1)))
        thetas.append(engine.theta.clone())
    columns = {name: np.concatenate([log[name] for log in logs]) for name in logs[0]}
    return task, plan(setting, CONTROL), torch.stack(thetas), columns


SETTINGS = {
    "all policies": {"policies": tuple(BUILT_IN), "rounds": 25},
    "no ball, momentum": {"policies": ("acdpp", "hybrid"), "radius": None, "momentum": 0.9},
    "many classes": {"policies": ("constant", "acdpp-capped"), "labels": "classes"},
    "pools and weights": {
        "policies": ("constant", "oracle"),
        "partition": "two-class",
        "replacement": False,
        "alpha": (0.6, 0.3, 0.1),
        "cost": {"process": "integer"},
    },
    "partition and start of each seed": {
        "policies": ("constant", "hybrid"),
        "partition": "dirichlet",
        "concentration": 2.0,
        "per_seed": ("partition", "start"),
    },
    "a sweep over K": {"policies": ("constant@K=2", "acdpp@K=9", "hybrid@K=3", "released@K=4", "oracle")},
    "budgets of their own, and departures": {"policies": ("acdpp@budget=15", "released-K@budget=30")},
    "a sweep over steps and their size": {
        "policies": ("constant", "constant@steps=1", "acdpp@K=3,eta=0.1,steps=5", "oracle@eta=1.7"),
        "momentum": 0.7,
    },
    "a sweep over the size of steps, many classes": {
        "policies": ("acdpp-capped@eta=0.1", "acdpp-capped@eta=0.3", "constant@eta=0.1"),
        "labels": "classes",
    },
    "no momentum, one step, plain weights": {
        "policies": ("acdpp",),
        "steps": 1,
        "alpha": (0.6, 0.3, 0.1),
        "weights": "samples",
        "scale": "pixels",
    },
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_batch_moves_like_its_one_client_twin(name):
    given = dict(SETTINGS[name])
    costs = given.pop("cost", None)
    setting = study(seeds=2, **given)
    if costs:
        setting = type(setting).from_document({"cost": costs}, setting)
    task, schedule, thetas, columns = batched(setting)
    for p, policy in enumerate(setting.policies):
        for replicate in range(setting.seeds):
            run = p * setting.seeds + replicate
            twin = run_twin(task, make_policy(policy, brief_for(setting, CONTROL)), replicate, name=policy)
            assert np.array_equal(schedule.admissions[:, run], twin.admissions)
            assert np.array_equal(schedule.occupancy[:, run], twin.occupancy)
            assert np.array_equal(schedule.debt[:, run], twin.debt)
            assert torch.allclose(thetas[:, run], twin.theta, rtol=1e-9, atol=1e-11)
            assert np.allclose(columns["mismatch"][:, run], twin.mismatch, rtol=1e-8, atol=1e-14)


def test_chunks_do_not_change_the_trajectory():
    setting = study(policies=("acdpp", "hybrid"))
    _, _, thetas, columns = batched(setting)
    task = problem(setting)
    engine, schedule = Engine(task.model, setting, task.streams), Schedule(setting, CONTROL)
    logs = [engine.play(schedule.advance(size)) for size in (8, 8, 8, 6)]
    assert torch.equal(engine.theta, thetas[-1])
    assert np.array_equal(np.concatenate([log["risk"] for log in logs]), columns["risk"])


@pytest.mark.parametrize("labels", ["parity", "classes"])
def test_training_in_sample_space_is_training_in_parameter_space(labels):
    model = problem(study(labels=labels)).model
    x = model.population.x[:24].view(2, 3, 4, -1)
    y = model.targets[:24].view(2, 3, 4, -1)
    share, rows = (
        torch.full((2, 3, 4, 1), 0.25),
        torch.randn(2, 1, model.outputs, model.features, dtype=x.dtype),
    )
    both = [
        train(x, y, share, rows, Descent(5, 0.7, 0.5))
        for train in (model._in_sample_space, model._in_parameter_space)
    ]
    assert torch.allclose(*both, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("labels", ["parity", "classes"])
def test_runs_that_descend_each_in_its_own_way_do_as_they_would_alone(labels):
    """In sample space, in parameter space, and by torch's own derivatives."""
    task = problem(study(labels=labels))
    linear = task.model
    network = Module(torch.nn.Linear(linear.features, task.population.classes), task.population)
    sizes, counts = torch.tensor([0.7, 0.1, 1.3], dtype=torch.float64), torch.tensor([4, 1, 6])
    together = Descent(6, sizes, 0.5, counts)
    for model, width in ((linear, 4), (linear, 12), (network, 4)):
        shape = (3, 2, width)
        index = torch.arange(3 * 2 * width).view(shape)
        mask = torch.arange(width) < torch.tensor([[4, 2], [1, 3], [3, 0]])[..., None]
        weights = torch.tensor([[0.5, 0.5], [0.2, 0.8], [1.0, 0.0]], dtype=torch.float64)
        theta = torch.randn(3, model.size, dtype=torch.float64)
        moved = model.update(theta, Memory(index, mask, weights), together)
        for run in range(3):
            one = slice(run, run + 1)
            alone = Descent(int(counts[run]), float(sizes[run]), 0.5)
            memory = Memory(index[one], mask[one], weights[one])
            assert torch.allclose(moved[one], model.update(theta[one], memory, alone), rtol=1e-10, atol=1e-13)


class OneDescent(Linear):
    """A model of a user's own, which knows one step size and one number of steps."""

    def update(self, theta, memory, descent):
        assert descent.own_steps is None
        assert isinstance(descent.eta, float | int)
        return super().update(theta, memory, descent)


SEVERAL = ("constant@eta=0.1", "oracle", "acdpp@steps=1", "oracle@eta=0.1", "constant")


def after_two_chunks(setting, kind, device="cpu", graphs=None):
    """The engine and the risks of its last chunk, with a linear model of this kind."""
    task, schedule = problem(setting, device), Schedule(setting, CONTROL)
    engine = Engine(kind(task.population), setting, task.streams, graphs=graphs)
    logs = [engine.play(schedule.advance(8)) for _ in range(2)]
    return engine, logs[-1]["risk"]


def test_a_model_that_knows_one_descent_at_a_time_is_asked_for_one_at_a_time():
    setting = study(policies=SEVERAL, partition="dirichlet", per_seed=("partition",))
    (engine, risk), (other, theirs) = (after_two_chunks(setting, kind) for kind in (Linear, OneDescent))
    assert (len(engine.descents), len(other.descents)) == (1, 3)
    assert torch.allclose(engine.theta, other.theta, rtol=1e-10, atol=1e-13)
    assert np.allclose(risk, theirs, rtol=1e-10)


def test_a_variant_with_the_studys_own_values_moves_like_the_policy_itself():
    names = ("acdpp", "acdpp@eta=0.5,steps=3", "constant", "constant@K=4", "oracle@steps=1", "oracle@eta=0.1")
    setting = study(policies=names)
    _, schedule, thetas, columns = batched(setting)
    assert setting.of_policy("acdpp@eta=0.5,steps=3") == setting
    for a, b in ((0, 1), (2, 3)):
        one, other = (slice(3 * p, 3 * p + 3) for p in (a, b))
        assert np.array_equal(schedule.admissions[:, one], schedule.admissions[:, other])
        assert torch.equal(thetas[:, one], thetas[:, other])
        assert all(np.array_equal(column[:, one], column[:, other]) for column in columns.values())
    alone = batched(study(policies=("acdpp", "constant")))[2]
    assert torch.allclose(alone[:, :3], thetas[:, :3], rtol=1e-12, atol=1e-14)
    assert torch.allclose(alone[:, 3:], thetas[:, 6:9], rtol=1e-12, atol=1e-14)


def test_any_module_trains_as_logistic_regression_does_when_it_is_one():
    task = problem(study(labels="classes"))
    linear = task.model
    module = torch.nn.Linear(linear.features, linear.outputs, bias=False)
    torch.nn.init.zeros_(module.weight)
    other = Module(module, task.population)
    index = torch.arange(24).view(2, 3, 4)
    mask = torch.arange(4) < torch.tensor([[4, 2, 0], [1, 3, 4]])[..., None]
    memory = Memory(index, mask, torch.tensor([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]], dtype=torch.float64))
    descent = Descent(4, 0.3, 0.9)

    theta = linear.start(2)
    for _ in range(2):
        move = linear.update(theta, memory, descent)
        assert torch.allclose(move, other.update(theta, memory, descent), rtol=1e-9, atol=1e-12)
        theta = theta + move
    tilt = torch.randn(2, len(task.population.y), dtype=torch.float64)
    mine, theirs = linear.measure(theta, tilt), other.measure(theta, tilt)
    assert torch.allclose(mine["risk"], theirs["risk"])
    assert torch.allclose(mine["mismatch"], theirs["mismatch"])
    assert torch.allclose(mine["variance"], theirs["variance"])
    assert torch.equal(linear.accuracy(theta), other.accuracy(theta))


def test_at_a_fixed_model_the_measured_mismatch_averages_to_variance_times_chi():
    """And so exceeds, under constant admission, the paper's expression. The step is too small to move θ."""
    setting = study(policies=("constant", "hybrid"), seeds=1500, rounds=15, eta=1e-12, checkpoint=15)
    task, schedule = problem(setting), plan(setting, CONTROL)
    found = Engine(task.model, setting, task.streams).play(schedule)
    for p in range(2):
        mine = slice(p * setting.seeds, (p + 1) * setting.seeds)
        variance = found["variance"][0, 0]
        chi, n, effective = (
            column[:, p * setting.seeds]
            for column in (schedule.track.mismatch, schedule.track.n, schedule.track.effective)
        )
        mean = found["mismatch"][:, mine].mean(axis=1) / variance
        error = found["mismatch"][:, mine].std(axis=1) / variance / np.sqrt(setting.seeds)
        assert (abs(mean - chi) <= 4 * error + 1e-12).all()
        if p == 0:
            stated = 1 / n - 1 / effective
            assert (mean - stated > 4 * error)[1:10].all()


def test_clients_without_samples_have_no_say():
    setting = study(alpha=(0.2, 0.3, 0.5))
    weights = aggregation_weights(setting, np.array([[4, 0, 2], [0, 0, 0]]))
    assert weights[0] == pytest.approx([0.8 / 1.8, 0, 1 / 1.8])
    assert weights[1].tolist() == [0, 0, 0]


def test_the_projection_keeps_the_parameters_in_the_ball():
    _, _, thetas, _ = batched(study(policies=("oracle",), radius=0.3, eta=3.0))
    assert thetas.norm(dim=2).max() <= 0.3 + 1e-12
    assert thetas[-1].norm(dim=1).min() > 0.29


def test_padding_wastes_at_most_a_third():
    widths = np.arange(4, 5000)
    assert (padded(widths) >= widths).all()
    assert (padded(widths) <= 1.5 * widths).all()
    assert padded(1) == 4


# --- on a GPU ----------------------------------------------------------------------------------------------

cuda = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")]


@pytest.mark.parametrize("graphs", [pytest.param(flag, marks=cuda) for flag in (False, True)])
@pytest.mark.parametrize("labels", ["parity", "classes"])
def test_the_gpu_follows_the_cpu(graphs, labels):
    setting = study(policies=(*BUILT_IN, "constant@eta=0.1", "acdpp@K=2,steps=7"), labels=labels)
    _, _, on_cpu, there = batched(setting)
    _, _, on_gpu, here = batched(setting, "cuda", graphs)
    assert torch.allclose(on_cpu, on_gpu.cpu(), rtol=1e-8, atol=1e-10)
    for name in there:
        assert np.allclose(there[name], here[name], rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("graphs", [pytest.param(flag, marks=cuda) for flag in (False, True)])
def test_the_gpu_repeats_itself_bit_for_bit(graphs):
    setting = study(policies=tuple(BUILT_IN))
    runs = [batched(setting, "cuda", graphs) for _ in range(2)]
    assert torch.equal(runs[0][2], runs[1][2])
    assert all(np.array_equal(runs[0][3][name], runs[1][3][name]) for name in runs[0][3])


@pytest.mark.parametrize("dtype", [pytest.param(name, marks=cuda) for name in ("float32", "float64")])
def test_a_recorded_round_is_the_plain_round(dtype):
    setting = study(policies=("acdpp", "oracle"), dtype=dtype)
    plain, recorded = (batched(setting, "cuda", graphs) for graphs in (False, True))
    assert torch.allclose(plain[2], recorded[2], rtol=1e-5 if dtype == "float32" else 1e-12, atol=1e-7)


@pytest.mark.parametrize("graphs", [pytest.param(flag, marks=cuda) for flag in (False, True)])
def test_the_gpu_follows_the_cpu_where_runs_are_asked_for_in_groups(graphs):
    setting = study(policies=SEVERAL)
    here, there = after_two_chunks(setting, OneDescent), after_two_chunks(setting, OneDescent, "cuda", graphs)
    assert torch.allclose(here[0].theta, there[0].theta.cpu(), rtol=1e-8, atol=1e-10)
    assert np.allclose(here[1], there[1], rtol=1e-7)


@pytest.mark.parametrize(
    ("device", "graphs"),
    [("cpu", False), *(pytest.param("cuda", flag, marks=cuda) for flag in (False, True))],
)
def test_nothing_is_measured_of_parameters_that_are_no_numbers(device, graphs):
    found = {}
    for diverging in ("record", "refuse"):
        setting = study(policies=("constant", "oracle"), radius=None, diverging=diverging)
        task = problem(setting, device)
        engine = Engine(task.model, setting, task.streams, graphs=graphs)
        engine.theta[1], engine.theta[4, 0] = torch.nan, torch.inf
        found[diverging] = engine.play(Schedule(setting, CONTROL).advance(8))
    for name, values in found["record"].items():
        assert np.isnan(values[:, [1, 4]]).all(), name
        assert np.array_equal(values[:, [0, 2, 3, 5]], found["refuse"][name][:, [0, 2, 3, 5]]), name
    assert np.isfinite(found["refuse"]["accuracy"]).all()  # it would have been believed
