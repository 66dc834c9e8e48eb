"""A federation has the numbers of the batched engine, to rounding; models and streams of the user."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from empirics.federation import client
from empirics.federation.client import client_app
from empirics.federation.client_memory import Order, Source
from empirics.federation.client_reports import ClientReport
from empirics.federation.messages import Reply, Task
from empirics.federation.sample_sources import of_part, of_stream
from empirics.settings.drift import Drift
from empirics.training.problem import make_problem
from tests.empirics.federation.wire import CHANGES, Wire, federate, memories, rows, same_as_batched, small
from tests.empirics.small import refused


def network(population):
    assert population.weights.sum().item() == pytest.approx(1)  # P of each sample
    return torch.nn.Sequential(torch.nn.Linear(8, 5), torch.nn.Tanh(), torch.nn.Linear(5, population.classes))


OWN = {"model": f"{__name__}:network", "radius": None, "labels": "classes"}
STUDY = small("constant", **OWN)
CASES = {  # every policy, with some setting that matters to clients
    "acdpp": {"radius": None, "dtype": "float32"},
    "acdpp-capped": {"replacement": False, "per_class": 9},
    "buy-cheap-online": {"weights": "samples", "momentum": 0.5},
    "hybrid": {"alpha": (0.5, 0.3, 0.2), "radius": 0.2},
    "released": {},
    "burst": {"average": "polynomial", "decay": 50, "decay_by": "samples"},
    "taper-online": {"average": "equal", "radius": 0.2},
    "constant@K=3,eta=0.1,steps=1": {},
    "constant": OWN,
    "constant@K=4": {"drift": Drift(kind="periodic", parts="labels", length=5, apart=1)},
    "oracle": {"drift": Drift(kind="order"), "partition": "split"},
    "constant@K=5": {"drift": Drift(kind="order", length=4), "partition": "iid", "replacement": False},
    "adaptive": {"rounds": 3, "budget": 10.0},  # some clients have no new samples
    "adaptive@K=6": CHANGES,
}


@pytest.mark.parametrize("policy", CASES)
def test_every_policy_and_every_setting(policy, tmp_path):
    start = {"rounds": 6, "labels": "classes", "partition": "two-class"}
    study = small(policy, **(start | CASES[policy]))
    federate(study, tmp_path)
    found, wanted = same_as_batched(study, tmp_path)
    mine, theirs = (result.summary["policies"][policy] for result in (found, wanted))
    above = "excess_risk" in found.rows.column_names
    told = "a federation is not predicted: acdpp predict does it" if above else None
    assert (found.summary.get("not_predicted"), mine.keys()) == (told, theirs.keys())
    for name in ("mean_cost", "distinct_samples", "largest_debt", "largest_occupancy", "retention"):
        assert mine[name] == theirs[name]
    assert mine["bound_corrected"] == pytest.approx(theirs["bound_corrected"])


def stream(client, start):
    """20 samples of this client alone."""
    rng = np.random.default_rng(client)
    x, y = rng.normal(size=(20, 8)), rng.integers(0, 4, 20)
    yield from zip(x[start:], y[start:], strict=True)


def test_a_stream_goes_on_from_where_it_was_left_and_may_end(tmp_path):
    """Each client has 20 samples: what it delivers is what it draws, and when they are gone, nothing."""
    long = small("constant", rounds=15, **OWN)
    seen = [[], [], []]

    def listen(t, m, reply):
        seen[m].append(reply.content["metrics"]["delivered"])
        return reply

    federate(long, tmp_path, Wire(long, tmp_path, listen, stream=stream))
    admitted, N = rows(tmp_path, "admitted", "N")
    assert 18 + 20 + 20 == N[-1] == sum(admitted)
    assert [sum(counts) for counts in seen] == [18, 20, 20]
    assert seen[2][-1] == 0
    last = memories(tmp_path)[2]
    assert last.source.drawn == 20  # and none twice, though its last samples have grown too old since
    assert last.samples.y.tolist() == []


def test_the_faults_of_a_stream_or_a_pool_are_told_by_name():
    for given, said in (
        (lambda client, start: {}["x" * 400], f"the stream of client 4 failed: KeyError: '{'x' * 289}$"),
        (lambda client, start: iter([(np.zeros(3), 0.5)]), "pairs of an input and a label"),
        (lambda client, start: iter([(np.zeros(3), 1), (np.zeros(4), 1)]), "the stream of client 4 failed"),
    ):
        assert re.search(said, refused(of_stream(given, 4), 1, 2, Source()))
    draw = of_part(make_problem(small("constant", replacement=False)), 0)
    assert "client 0 is to draw 121 samples from a pool of 120" in refused(draw, 1, 121, Source())


@pytest.mark.parametrize(
    "given", [{}, {"kind": "gradual", "length": 4, "parts": "labels"}, {"kind": "order"}]
)
def test_a_round_that_is_begun_again_draws_what_is_missing_whatever_the_seeds(given):
    start = {"labels": "classes", "partition": "split", "per_seed": ("partition",)}
    study = small("constant", drift=Drift(**given), **start)
    one, two = (of_part(make_problem(replace(study, seeds=seeds)), 1) for seeds in (1, 2))
    asked = ((one, 5, 0), (two, 2, 0), (two, 3, 2))
    whole, first, rest = (draw(3, count, Source(slots=slots))[0].x.tolist() for draw, count, slots in asked)
    assert whole == first + rest


def test_a_shuffle_is_drawn_from_where_it_was_left():
    draw, state, seen, states = of_part(make_problem(small("constant", replacement=False)), 0), None, [], []
    for t in (1, 2, 3, 4):
        fresh, state = draw(t, 40, Source(state=state))
        seen.append(fresh.x)
        states.append(state)
    assert states == [(0, 40), (0, 80), (0, 120), (1, 40)]  # of a pool of 120
    assert [len(np.unique(np.concatenate(x), axis=0)) for x in (seen[:3], seen[3:])] == [120, 40]


def giving(x, y):
    return {"stream": lambda client, start: iter([(x, y)] * 9)}


MISTAKES = {
    "labels from 7 to 7, not between 0 and 3": giving(np.zeros(8), 7),
    "labels from -1 to -1": giving(np.zeros(8), -1),
    "inputs that are not finite numbers": giving(np.full(8, np.nan), 0),
    "inputs that are not finite": giving(np.array([None] * 8), 0),
    "69 parameters, this client's 36": {"model": lambda population: torch.nn.Linear(8, population.classes)},
}


@pytest.mark.parametrize("told", MISTAKES)
def test_a_mistake_of_all_clients_is_told_and_can_be_mended(told, tmp_path, caplog):
    wrong = Wire(STUDY, tmp_path, **MISTAKES[told])
    assert "no client took part in round 1" in refused(federate, STUDY, tmp_path, wrong)
    assert told in caplog.text
    federate(STUDY, tmp_path, Wire(STUDY, tmp_path, stream=stream))


def test_the_app_can_be_taken_to_ray():
    """Its workers get it by cloudpickle, which looks into the code of functions within functions."""
    cloudpickle = pytest.importorskip("ray.cloudpickle")
    assert cloudpickle.loads(cloudpickle.dumps(client_app(STUDY, stream=stream)))


def test_a_client_takes_the_threads_of_its_study_and_the_data_of_its_node(tmp_path, monkeypatch):
    threads, places = set(), set()
    monkeypatch.setattr(torch, "set_num_threads", threads.add)
    made = client.make_problem
    monkeypatch.setattr(client, "make_problem", lambda *given: places.add(given[2]) or made(*given))
    study = small("constant", rounds=1, threads=3)
    wire = Wire(study, tmp_path)
    wire.contexts[999].node_config["data-dir"] = str(tmp_path)
    federate(study, tmp_path, wire)
    assert threads >= {3}
    assert places == {None, tmp_path}


def test_parameters_whose_sum_overflows_are_refused():
    task = Task("one", Order(1, 0, 1, 1, 0), 1, 0.1, 0.0, 2, np.full(1, 1.2e154))
    reply = Reply("one", 0, 1, ClientReport(0, {}), task.theta)
    assert "squares overflow" in refused(Reply.read, reply.content(), task)


@pytest.mark.parametrize("loss", [None, float("nan"), float("inf"), 1e200, 1])
def test_samples_without_their_loss_are_refused_where_a_policy_listens(loss):
    deaf = Task("one", Order(1, 3, 1, 9, 0), 1, 0.1, 0.0, 2, np.zeros(1))
    said = Reply("one", 0, 1, ClientReport(2, {1: 2}), np.zeros(1), 0.5).content()
    listens = replace(deaf, listens=True)
    assert [Reply.read(said, task).loss for task in (deaf, listens)] == [None, 0.5]
    del said["metrics"]["fresh-loss"]
    if loss is not None:
        said["metrics"]["fresh-loss"] = loss
    assert "without a finite loss" in refused(Reply.read, said, listens)
    said["metrics"]["delivered"] = 0
    assert Reply.read(said, listens).loss is None
