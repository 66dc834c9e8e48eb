"""A model and samples of the user's own."""

import numpy as np
import pytest
import torch

from empirics.federation.client import client_app
from empirics.federation.memory import DiskMemory, Source
from empirics.federation.sources import of_part, of_stream
from empirics.records.folder import read_result
from empirics.run import run_study
from empirics.training.problem import make_problem
from tests.empirics.federation.wire import Wire, federate, nodes, small
from theory.setting import SettingError


def network(population):
    return torch.nn.Sequential(torch.nn.Linear(8, 5), torch.nn.Tanh(), torch.nn.Linear(5, population.classes))


OWN = {"model": f"{__name__}:network", "radius": None, "labels": "classes"}
STUDY = small("constant", **OWN)


def test_a_network_learns_as_in_the_batched_engine(tmp_path):
    federate(STUDY, tmp_path)
    run_study(STUDY, tmp_path / "batched")
    one, other = (read_result(tmp_path / name).rows for name in ("result", "batched"))
    for name in ("admitted", "n", "N", "debt", "accuracy"):
        assert one[name].to_pylist() == other[name].to_pylist()
    assert np.allclose(one["risk"], other["risk"], rtol=1e-9)


def kept_by(client):
    """Samples that nobody else has."""
    rng = np.random.default_rng(client)
    return rng.normal(size=(40, 8)), rng.integers(0, 4, 40)


def stream(client, start):
    x, y = kept_by(client)
    yield from zip(x[start:], y[start:], strict=True)


def test_a_stream_goes_on_from_where_it_was_left_and_may_end(tmp_path):
    """Each client has 40 samples: what it delivers is what it draws, and when they are gone, nothing."""
    long = small("constant", rounds=30, **OWN)
    seen = {m: [] for m in range(3)}

    def listen(t, m, reply):
        seen[m].append(reply.content["metrics"]["delivered"])
        return reply

    federate(long, tmp_path, Wire(*nodes(long, tmp_path, stream=stream), listen))
    admitted, N = (read_result(tmp_path / "result").rows[name].to_pylist() for name in ("admitted", "N"))
    total = {m: sum(counts) for m, counts in seen.items()}
    assert sum(total.values()) == N[-1] == sum(admitted)
    assert total == {0: 36, 1: 40, 2: 40}
    assert seen[2][-1] == 0
    (folder,) = (tmp_path / "node-2").iterdir()
    memory = DiskMemory.open(folder)
    assert memory.source.drawn == 40  # and none twice, though its last samples have grown too old since
    assert memory.samples.y.tolist() == []


def unplugged(client, start):
    raise OSError("sensor unplugged")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (unplugged, "the stream of client 4 failed: OSError: sensor unplugged"),
        (lambda client, start: iter([(np.zeros(3), 0.5)]), "pairs of an input and a label"),
        (lambda client, start: iter([(np.zeros(3), 1), (np.zeros(4), 1)]), "the stream of client 4 failed"),
    ],
)
def test_a_stream_s_faults_are_told_by_name(given, said):
    with pytest.raises(SettingError, match=said):
        of_stream(given, 4)(1, 2, Source())


def failing(tmp_path, caplog, **own):
    with pytest.raises(SettingError, match="no client took part in round 1"):
        federate(STUDY, tmp_path, Wire(*nodes(STUDY, tmp_path, **own)))
    return caplog.text


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (
            {"stream": lambda client, start: iter([(np.zeros(8), 7)] * 9)},
            "the source gave labels from 7 to 7, not between 0 and 3",
        ),
        (
            {"model": lambda population: torch.nn.Linear(8, population.classes)},
            "the server's model has 69 parameters, this client's 36",
        ),
    ],
)
def test_a_label_that_there_is_not_or_another_model_than_the_server_s(own, said, tmp_path, caplog):
    assert said in failing(tmp_path, caplog, **own)


@pytest.mark.parametrize("bad", [np.full(8, np.nan), np.array([None] * 8)], ids=["NaN", "object"])
def test_inputs_that_are_no_numbers_do_not_stay_at_the_door(bad, tmp_path, caplog):
    told = failing(tmp_path, caplog, stream=lambda client, start: iter([(bad, 0)] * 9))
    assert "the source gave inputs that are no finite numbers" in told
    federate(STUDY, tmp_path, Wire(*nodes(STUDY, tmp_path, stream=stream)))  # mended


def test_a_pool_that_is_too_small(tmp_path):
    study = small("constant", replacement=False)
    draw = of_part(make_problem(study), 0)
    with pytest.raises(SettingError, match="client 0 is to draw 121 samples from a pool of 120"):
        draw(1, 121, Source())


def test_the_app_can_be_taken_to_ray():
    """Its workers get it by cloudpickle, which looks into the code of functions within functions."""
    cloudpickle = pytest.importorskip("ray.cloudpickle")
    assert cloudpickle.loads(cloudpickle.dumps(client_app(STUDY, stream=stream)))
