"""The batched engine against its one-client-at-a-time twin: the same decisions, the same trajectory."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from sklearn.metrics import log_loss

from empirics.control.registry import BUILT_IN, make_policy
from empirics.control.schedule import Schedule, brief_for, plan
from empirics.results.fingerprint import probe
from empirics.settings.costs import CostProcess
from empirics.settings.drift import Drift
from empirics.training.engine import Engine, padded
from empirics.training.linear import Linear
from empirics.training.model import Descent, Memory, inverse_counts, per_run
from empirics.training.module import Module
from empirics.training.partition import make_pools
from empirics.training.twin import run_twin
from tests.empirics.small import CONTROL, GPU, problem, refused, study
from theory.law.averaging import averaged, contractions, equal, exponential, over_models, polynomial, tail
from theory.law.quadratic import by_age


def batched(setting, device="cpu", graphs=None):
    """θ after every round and the logs, with the engine stopped after each round to look."""
    task, schedule = problem(setting, device), Schedule(setting, CONTROL)
    engine = Engine(task.model, setting, task.streams, graphs=graphs)
    thetas, means, logs = [engine.theta.clone()], [engine.theta.clone()], []
    for _ in range(setting.rounds):
        logs.append(engine.play(schedule.advance(1)))
        thetas.append(engine.theta.clone())
        means.append((engine.theta if engine.averaged is None else engine.averaged).clone())
    columns = {name: np.concatenate([log[name] for log in logs]) for name in logs[0]}
    return task, plan(setting, CONTROL), torch.stack(thetas), columns, torch.stack(means)


INFORMATION = {"learner": "information", "rounds": 9}
LEARNER = {"average": "polynomial", "decay": 20, "eta": 2.0}
BURSTS = ("burst@decay=3,average=exponential,average_by=0.7", "burst-online@K=2,average=tail")
BURSTS += ("oracle@average=none",)
STEPS = ("constant", "constant@steps=1", "acdpp@K=3,eta=0.1,steps=5", "oracle@eta=1.7")
UNEVEN, WHOLE = (0.6, 0.3, 0.1), CostProcess(process="integer")
TURNS = Drift(kind="periodic", length=9, apart=2, parts="labels")
BREAKS = Drift(kind="abrupt", start=9, parts="inputs")
SETTINGS = {
    "all policies": {"policies": tuple(BUILT_IN)},
    "no ball, momentum": {"policies": ("acdpp", "hybrid"), "radius": None, "momentum": 0.9},
    "many classes": {"policies": ("constant", "acdpp-capped"), "labels": "classes"},
    "pools and weights": {"partition": "two-class", "replacement": False, "alpha": UNEVEN, "cost": WHOLE},
    "partition and start of each seed": {"partition": "dirichlet", "per_seed": ("partition", "start")},
    "a sweep over K": {"policies": ("constant@K=2", "acdpp@K=9", "hybrid@K=3", "released@K=4", "oracle")},
    "a sweep over steps and their size": {"policies": STEPS, "momentum": 0.7},
    "means and idle rounds": LEARNER | {"policies": ("burst@average=equal", *BURSTS), "radius": 0.3},
    "other weights": LEARNER | {"policies": ("constant@average_by=0.5", *BURSTS), "decay_by": "samples"},
    "a population that turns, clients apart": {"partition": "two-class", "drift": TURNS},
    "classes that change": {"drift": Drift(kind="gradual", start=4, length=9), "labels": "classes"},
    "inputs that change at once": {"drift": BREAKS, "partition": "split", "per_seed": ("partition",)},
    "samples in their order": {"drift": Drift(kind="order"), "partition": "split"},
    "so many samples a round": {"drift": Drift(kind="order", length=6)},
    "information": INFORMATION | {"policies": ("constant@K=3", "burst")},
    "information, weights and many classes": INFORMATION
    | {"labels": "classes", "alpha": UNEVEN, "radius": None, "policies": ("constant@K=2", "hybrid")},
    "information, plain weights": INFORMATION
    | {"alpha": UNEVEN, "weights": "samples", "per_seed": ("start",)},
    "one step, plain weights": {"steps": 1, "alpha": UNEVEN, "weights": "samples", "scale": "pixels"},
}
SLOW, *OTHERS = SETTINGS


@pytest.mark.parametrize("name", [pytest.param(SLOW, marks=pytest.mark.slow), *OTHERS])
def test_the_batch_moves_like_its_one_client_twin(name):
    usual = {"seeds": 2, "rounds": 14, "policies": ("constant", "hybrid"), "concentration": 2.0}
    setting = study(**(usual | SETTINGS[name]))
    task, schedule, thetas, columns, means = batched(setting)
    for p, policy in enumerate(setting.policies):
        for replicate in range(setting.seeds):
            run = p * setting.seeds + replicate
            twin = run_twin(task, make_policy(policy, brief_for(setting, CONTROL)), replicate, name=policy)
            for name in ("admissions", "occupancy", "debt"):
                assert np.array_equal(getattr(schedule, name)[:, run], getattr(twin, name))
            # a matrix is inverted for information, in which rounding grows
            close = (
                {"rtol": 1e-9, "atol": 1e-11}
                if setting.learner == "descent"
                else {"rtol": 1e-6, "atol": 1e-7}
            )
            assert torch.allclose(thetas[:, run], twin.theta, **close)
            assert torch.allclose(means[:, run], twin.mean, **close)
            idle = np.flatnonzero(twin.occupancy.sum(axis=1) == 0)
            assert torch.equal(thetas[idle + 1, run], thetas[idle, run])
            assert np.allclose(columns["mismatch"][:, run], twin.mismatch, rtol=1e-8, atol=1e-14)


class Quadratic:
    """ℓ = ½‖θ - z‖², with samples that are the unit vectors: θ holds what each of them weighs in it."""

    def start(self, runs):
        return torch.zeros(runs, 700, dtype=torch.float64)

    @per_run
    def update(self, theta, memory, descent):
        share = memory.weights[..., None] * inverse_counts(memory.mask.double())
        mean = torch.zeros_like(theta).scatter_add_(1, memory.index.flatten(1), share.flatten(1))
        step = 1 - (1 - descent.scaled(torch.ones(len(theta), 1))) ** descent.steps
        return step * (mean - memory.weights.sum(1, keepdim=True) * theta)

    def measure(self, theta, tilt):
        return {"risk": theta.square().sum(1)}


@pytest.mark.parametrize(("policy", "K"), [("burst", 1), ("constant", 2)])
def test_of_quadratic_losses_a_mean_weighs_every_sample_as_the_law_says(policy, K):
    """No sample comes twice and no client has another's, so Σb² is the squared length of the mean, round by round."""
    names = tuple(f"{policy}@average={kind}" for kind in ("equal", "polynomial", "tail", "exponential"))
    few = {"decay": 5.0, "K": 2, "steps": 2, "seeds": 1, "checkpoint": 30, "radius": None}
    setting = study(policies=names, **few, measures=("risk",), partition="split", replacement=False)
    rounds, streams = plan(setting, CONTROL), make_pools(np.zeros(700, dtype=np.int64), setting)
    engine = Engine(Quadratic(), setting, streams)
    found, n = engine.play(rounds), rounds.track.n[:, 0]
    assert (n == 0).any() == (policy == "burst")
    late = partial(tail, first=1 + np.count_nonzero(n[:15]))  # the model that half of the rounds have made
    laws = (equal, partial(polynomial, gamma=1), late, partial(exponential, keep=0.99))
    cohorts = by_age(rounds.admissions[:, 0].sum(axis=1), K=K)
    a = contractions([1.0], 0.5 / np.sqrt(1 + np.arange(1, 31) / 5), E=2)
    for run, law in enumerate(laws):
        wanted = averaged(cohorts, 30, a, over_models(law, n > 0))
        assert np.allclose(found["risk"][:, run], wanted.squares[:-1, 0], rtol=1e-10)
        assert np.allclose(found["last_risk"][:, run], wanted.last_squares[:-1, 0], rtol=1e-10)
        assert engine.mean[run].sum().item() == pytest.approx(1 - wanted.left[-1, 0])


@pytest.mark.parametrize("labels", ["parity", "classes"])
def test_the_first_class_is_guessed_where_nothing_is_known(labels):
    model = problem(study(labels=labels)).model
    model.population = replace(model.population, test_y=torch.zeros_like(model.population.test_y))
    assert model.accuracy(model.start(1)).item() == 1


@pytest.mark.parametrize("labels", ["parity", "classes"])
def test_runs_that_descend_each_in_its_own_way_do_as_they_would_alone(labels):
    """In sample space, in parameter space, and by torch's own derivatives."""
    task = problem(study(labels=labels))
    linear = task.model
    network = Module(torch.nn.Linear(linear.features, task.population.classes), task.population)
    sizes, counts = torch.tensor([0.7, 0.1, 1.3], dtype=torch.float64), torch.tensor([4, 1, 6])
    together = Descent(6, sizes, 0.5, counts)
    for model, width in ((linear, 4), (linear, 12), (network, 4)):
        index = torch.arange(3 * 2 * width).view(3, 2, width)
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
    task = problem(falling := study(decay=9))
    assert "one step size" in refused(Engine, OneDescent(task.population), falling, task.streams)
    assert torch.allclose(engine.theta, other.theta, rtol=1e-10, atol=1e-13)
    assert np.allclose(risk, theirs, rtol=1e-10)


def test_any_module_is_measured_as_logistic_regression_is_when_it_is_one(monkeypatch):
    monkeypatch.setattr("empirics.training.module.GRADIENTS_AT_ONCE", 50)
    task = problem(study(labels="classes"))
    linear = task.model
    other = Module(torch.nn.Linear(linear.features, linear.outputs, bias=False), task.population)
    theta, tilt = (torch.randn(2, n, dtype=torch.float64) for n in (linear.size, len(task.population.y)))
    mine, theirs = linear.measure(theta, tilt), other.measure(theta, tilt)
    for name in ("risk", "mismatch", "variance"):
        assert torch.allclose(mine[name], theirs[name])
    assert torch.equal(linear.accuracy(theta), other.accuracy(theta))
    chances = linear.logits(theta, task.population.test_x).softmax(-1)
    own = [
        log_loss(task.population.test_y, chances[:, run], labels=range(linear.outputs)) for run in range(2)
    ]
    for model in (linear, other):
        assert torch.allclose(model.log_loss(theta), torch.tensor(own, dtype=torch.float64))
    index = torch.arange(4)[None, None]
    four = Memory(index, index >= 0, torch.ones(1, 1, dtype=torch.float64))
    moves = probe(replace(task, model=other), theta[:1])[1], linear.update(theta[:1], four, Descent(1, 0.5))
    assert torch.allclose(*moves)  # all clients have the same four samples


def test_at_a_fixed_model_the_measured_mismatch_averages_to_variance_times_chi():
    """And so exceeds, under constant admission, the paper's expression. The step is too small to move θ."""
    setting = study(policies=("constant", "hybrid"), seeds=1500, rounds=15, eta=1e-12, checkpoint=15)
    task, schedule = problem(setting), plan(setting, CONTROL)
    found = Engine(task.model, setting, task.streams).play(schedule)
    for first in (0, setting.seeds):
        ratio = found["mismatch"][:, first : first + setting.seeds] / found["variance"][0, 0]
        mean, error = ratio.mean(axis=1), ratio.std(axis=1) / np.sqrt(setting.seeds)
        assert (abs(mean - schedule.track.mismatch[:, first]) <= 4 * error + 1e-12).all()
        if first == 0:
            stated = (1 / schedule.track.n - 1 / schedule.track.effective)[:, first]
            assert (mean - stated > 4 * error)[1:10].all()


def test_there_is_room_for_a_chunk_of_rounds_and_for_uses_if_they_are_measured():
    for rounds, room in ((30, 8), (5, 5)):
        task = problem(setting := study(checkpoint=8, rounds=rounds, measures=("risk",)))
        engine = Engine(task.model, setting, task.streams)
        assert (len(engine.begin), engine.uses.numel(), engine.graphs) == (room, 0, False)


def test_padding_wastes_at_most_a_third():
    widths = np.arange(4, 5000)
    assert ((widths <= padded(widths)) & (padded(widths) <= 1.5 * widths)).all()
    assert padded(np.array([1, 5, 6, 7, 9, 12, 13])).tolist() == [4, 6, 6, 8, 12, 12, 16]


recorded = pytest.mark.parametrize("graphs", [pytest.param(flag, marks=GPU) for flag in (False, True)])


@recorded
@pytest.mark.parametrize("labels", ["parity", "classes"])
def test_the_gpu_follows_the_cpu_and_repeats_itself_bit_for_bit(graphs, labels):
    setting = study(policies=(*BUILT_IN, "constant@eta=0.1", "acdpp@K=2,steps=7"), labels=labels, **LEARNER)
    _, _, on_cpu, there, means = batched(setting)
    _, _, on_gpu, here, theirs = batched(setting, "cuda", graphs)
    _, _, again, logs, _ = batched(setting, "cuda", graphs)
    assert torch.allclose(on_cpu, on_gpu.cpu(), rtol=1e-8, atol=1e-10)
    assert torch.allclose(means, theirs.cpu(), rtol=1e-8, atol=1e-10)
    assert torch.equal(on_gpu, again)
    for name in there:
        assert np.allclose(there[name], here[name], rtol=1e-7, atol=1e-10)
        assert np.array_equal(here[name], logs[name])


@recorded
def test_the_gpu_follows_the_cpu_where_runs_are_asked_for_in_groups(graphs):
    setting = study(policies=SEVERAL)
    here, there = after_two_chunks(setting, OneDescent), after_two_chunks(setting, OneDescent, "cuda", graphs)
    assert torch.allclose(here[0].theta, there[0].theta.cpu(), rtol=1e-8, atol=1e-10)
    assert np.allclose(here[1], there[1], rtol=1e-7)


@pytest.mark.parametrize(
    ("device", "graphs"), [("cpu", False), *(pytest.param("cuda", flag, marks=GPU) for flag in (False, True))]
)
def test_nothing_is_measured_of_parameters_that_are_no_numbers(device, graphs):
    found = []
    for lost in (True, False):
        setting = study(policies=("constant", "oracle"), radius=None)
        task = problem(setting, device)
        engine = Engine(task.model, setting, task.streams, graphs=graphs)
        if lost:
            engine.theta[1], engine.theta[4, 0] = torch.nan, torch.inf
            assert task.model.accuracy(engine.theta).isfinite().all()  # it would have been believed
        found.append(engine.play(Schedule(setting, CONTROL).advance(8)))
    for name, values in found[0].items():
        assert np.isnan(values[:, [1, 4]]).all(), name
        assert np.array_equal(values[:, [0, 2, 3, 5]], found[1][name][:, [0, 2, 3, 5]]), name
