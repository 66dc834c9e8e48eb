"""A population that moves: what is drawn and measured in a round is of that round's population."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from empirics import Dataset, Population, Study, as_dataset, run_study
from empirics.control.schedule import Schedule, plan
from empirics.results.measures import final_measures, least_for, with_excess
from empirics.settings.drift import Drift
from empirics.training.engine import Engine
from empirics.training.linear import Linear
from empirics.training.partition import make_pools
from empirics.training.risk import minimise
from empirics.training.sample_order import SampleOrder
from empirics.training.world import both_parts, in_order, second_part, world_of
from tests.empirics.small import CONTROL, blobs, problem, refused, study

MOVES = {  # the drift, and the weight of the second part in a round
    "abrupt": ({"parts": "inputs", "start": 7}, lambda t: float(t >= 7)),
    "gradual": ({"parts": "classes", "start": 3, "length": 7}, lambda t: min(max((t - 3) / 7, 0), 1)),
    "periodic": ({"parts": "labels", "length": 7}, lambda t: np.sin(np.pi * (t - 1) / 7) ** 2),
}


def risk_and_accuracy(theta, parts, w):
    """Of binary logistic regression, one sample at a time, where P(t) of the blobs and of the test set is (x, class,
    weight) by definition."""
    data, found = blobs(), []
    for x, y in ((data.train_x, data.train_y), (data.test_x, data.test_y)):
        if parts == "classes":
            upper = y >= 2
            found.append((x, y, np.where(upper, w / upper.sum(), (1 - w) / (~upper).sum())))
        else:
            other = (x, (y + 1) % 4) if parts == "labels" else (x[:, ::-1], y)
            both = [np.concatenate(pair) for pair in zip((x, y), other, strict=True)]
            found.append((*both, np.repeat([(1 - w) / len(y), w / len(y)], len(y))))
    (x, y, p), (test_x, test_y, q) = found
    largest = np.linalg.norm(data.train_x, axis=1).max()

    def score(one):
        return float(theta @ np.append(one / largest, 1)) / np.sqrt(2)

    losses = [np.log1p(np.exp((1 - 2 * (label % 2)) * score(one))) for one, label in zip(x, y, strict=True)]
    hits = [(score(one) > 0) == (label % 2) for one, label in zip(test_x, test_y, strict=True)]
    return p @ losses, q @ np.array(hits)


@pytest.mark.parametrize("kind", MOVES)
def test_a_model_is_judged_by_the_population_of_its_round(kind):
    drift, weight = MOVES[kind]
    setting = study(rounds=10, seeds=1, policies=("constant",), drift=Drift(kind=kind, **drift))
    task, schedule = problem(setting), Schedule(setting, CONTROL)
    engine, least = Engine(task.model, setting, task.streams), least_for(task)
    for t in range(1, 12):
        theta = engine.theta.clone()
        if t <= 10:
            played = engine.play(schedule.advance(1))
            found = {name: played[name][0] for name in ("risk", "accuracy")}
            found = with_excess(setting, found, least, t)
        else:
            found = final_measures(task, theta, least)
        risk, accuracy = risk_and_accuracy(theta[0].numpy(), drift["parts"], weight(t))
        assert found["risk"][0] == pytest.approx(risk, rel=1e-5)  # the data are float32
        assert found["accuracy"][0] == pytest.approx(accuracy, abs=1e-9)
        mixed = replace(task.population, weights=task.population.weights.clone())
        best = minimise(Linear(mixed), setting.radius)
        assert found["risk"][0] - found["excess_risk"][0] == pytest.approx(best.risk, abs=2e-6)


@pytest.mark.parametrize("per_seed", [(), ("partition",)])
def test_clients_that_differ_and_drift_apart_are_judged_by_the_population_that_they_make(per_seed):
    """By what the world has written for the round."""
    apart = Drift(kind="gradual", parts="labels", length=6, apart=2)
    few = {"rounds": 6, "seeds": 2, "policies": ("constant",), "per_seed": per_seed}
    setting = study(**few, partition="dirichlet" if per_seed else "two-class", drift=apart)
    task, schedule = problem(setting), Schedule(setting, CONTROL)
    engine = Engine(task.model, setting, task.streams)
    for t in range(1, 7):
        risk = engine.play(schedule.advance(1))["risk"]
        found = with_excess(setting, {"risk": risk}, least_for(task), t)
        weights = task.population.weights.clone()
        mixed = [replace(task.population, weights=row[None], own=False) for row in weights]
        best = [minimise(Linear(one), setting.radius).risk for one in mixed]
        wanted = np.broadcast_to(np.ravel(best), (1, 2))
        assert found["risk"] - found["excess_risk"] == pytest.approx(wanted, abs=1e-9)


def test_the_least_risk_is_known_in_every_round_if_populations_are_not_too_many(monkeypatch):
    abrupt = problem(study(drift=Drift(kind="abrupt", start=3, parts="labels")))
    assert len(abrupt.least.course[0]) == 2
    apart = Drift(kind="gradual", parts="labels", length=2, apart=1)
    setting = study(rounds=3, seeds=1, partition="two-class", drift=apart)
    least = problem(setting).least
    assert len(least.course[0]) == 4
    assert least.values == (least.course[0][2],)
    assert [least.reaches(t) for t in (4, 5)] == [True, False]
    for name, most in (("POPULATIONS_MAX", 4), ("ROUNDS_MAX", 4)):
        monkeypatch.setattr(f"empirics.training.problem.{name}", most)
        assert problem(setting).least == least
        monkeypatch.setattr(f"empirics.training.problem.{name}", most - 1)
        assert problem(setting).least is None
        monkeypatch.undo()


@pytest.mark.parametrize("classes", [3, 4])
def test_of_an_odd_number_of_classes_the_first_part_has_one_more(classes):
    data = blobs(classes)
    second = second_part(study(drift=Drift(kind="abrupt", start=3, parts="classes")), data)
    assert (second == (data.test_y >= 2)).all()


def test_clients_draw_from_the_parts_by_their_own_weights():
    drift = Drift(kind="gradual", length=20, apart=5)
    setting = study(rounds=40, seeds=50, policies=("oracle",), drift=drift)
    task, upper = problem(setting), blobs().train_y >= 2
    rounds = Schedule(setting, CONTROL).advance(40)
    origin, lists = SampleOrder(task.streams, setting).extend(rounds)
    for m in range(3):
        for t in (0, 10, 39):
            begin, end = (limit[t, :, m] - origin[:, m] for limit in (rounds.starts, rounds.ends))
            fresh = np.concatenate([one[a:b] for one, a, b in zip(lists[:, m], begin, end, strict=True)])
            w = np.clip((t - 5 * m) / 20, 0, 1)
            assert upper[fresh].mean() == pytest.approx(w, abs=4 * np.sqrt(w * (1 - w) / len(fresh)))


def test_samples_in_their_order_are_tested_before_they_are_trained_on(tmp_path):
    """Each sample is admitted in the round whose loss counts it, and in no other; times decide, not places."""
    times = np.random.default_rng(0).permutation(120).astype(float)
    given = {"replacement": False, "drift": Drift(kind="order", length=10), "measures": ("risk", "accuracy")}
    setting = study(rounds=11, seeds=2, policies=("constant",), **given)
    task = problem(setting, data=replace(blobs(), time=times))
    schedule, arrivals = Schedule(setting, CONTROL), SampleOrder(task.streams, setting)
    engine = Engine(task.model, setting, task.streams)
    for t in range(1, 12):
        rounds, theta = schedule.advance(1), engine.theta.clone()
        found = engine.play(rounds)
        window = np.argsort(times)[10 * (t - 1) : 10 * t]
        logits, y = task.model.logits(theta, task.population.x[window]), task.population.y[window]
        assert found["risk"][0] == pytest.approx(task.model.losses(logits, y).mean(0).numpy())
        assert found["accuracy"][0] == pytest.approx((y == (logits[..., 0] > 0).T).double().mean(1).numpy())
        weights = task.population.weights[0].numpy()
        assert weights[window] == pytest.approx(0.1)
        assert weights.sum() == pytest.approx(1)
        assert np.array_equal(task.population.test_weights[0].numpy(), weights)
        _, lists = arrivals.extend(rounds)
        admitted = rounds.admissions[0]
        for run, m in np.ndindex(2, 3):
            held = rounds.ends[0, run, m] - rounds.starts[0, run, m]
            fresh = lists[run, m, held - admitted[run, m] : held]
            assert len(set(fresh)) == len(fresh)
            assert set(fresh) <= set(window)
    assert "client 0 has 120 samples in their order" in refused(problem, replace(setting, rounds=12))
    many = replace(setting, policies=("oracle",), drift=Drift(kind="order", length=3))
    said = refused(run_study, many, tmp_path / "out", dataset=blobs())
    assert "4 samples of the 3 that pass in round 1" in said
    assert not (tmp_path / "out").exists()
    enough = replace(many, drift=Drift(kind="order", length=7))  # no round asks for more of a client
    SampleOrder(problem(enough).streams, enough).extend(plan(enough, CONTROL))


def test_every_replicates_streams_last_for_all_rounds():
    given = {"partition": "dirichlet", "concentration": 2.0, "per_seed": ("partition",)}
    setting = study(**given, drift=Drift(kind="order"))
    pools = make_pools(blobs().train_y, setting)
    lengths = [len(pool) for clients in pools.pools for pool in clients]
    least = min(lengths[3:])
    assert least < min(lengths[:3])  # of the first replicate
    in_order(pools, blobs(), replace(setting, rounds=least - 1))
    said = refused(in_order, pools, blobs(), replace(setting, rounds=least))
    assert f"client {lengths.index(least) % 3} has {least} samples in their order" in said


def test_streams_of_clients_of_their_own_count_by_their_weights():
    client, alpha = np.repeat([0, 1, 2], [60, 30, 30]), (0.5, 0.375, 0.125)
    setting = study(rounds=4, partition="client", alpha=alpha, drift=Drift(kind="order", length=5))
    task = problem(setting, data=replace(blobs(), client=client))
    world = world_of(task.model, setting, task.streams)
    world.show_round(2)
    assert np.bincount(client, task.population.weights[0]) == pytest.approx(alpha)


def test_a_stream_of_ones_own_goes_by_as_a_whole_and_nothing_of_it_is_held_out():
    times = np.random.default_rng(0).permutation(60).astype(float)
    data = as_dataset({"x": times[:, None], "y": times.astype(int) % 2, "time": times})
    task = problem(study(rounds=9, drift=Drift(kind="order")), data=data)
    (stream,) = {tuple(pool) for clients in task.streams.pools for pool in clients}
    assert times[list(stream)].tolist() == list(range(60))
    for split in (task.population.y, task.population.test_y):
        assert split.tolist() == [t % 2 for t in times]


def test_what_cannot_drift_says_so():
    for words, given in {
        "needs its length": {"kind": "gradual"},
        "needs its start": {"kind": "abrupt"},
        "takes no length": {"kind": "abrupt", "start": 3, "length": 3},
        "one round is no change": {"kind": "periodic", "length": 1},
        "kind must be one of": {"kind": "sudden"},
        "begins in round 501, and there are 500": {"kind": "gradual", "start": 501, "length": 3},
        "neither start nor apart": {"kind": "order", "apart": 2},
        "unknown setting 'drift.speed'": {"speed": 1},
    }.items():
        assert words in refused(Study.from_document, {"drift": given})
    moves = Drift(kind="gradual", length=5)
    for kind in ("periodic", "order"):
        assert len(study(drift=Drift(kind=kind, length=5)).departures) > len(study().departures)
    assert "with replacement" in refused(study, drift=moves, replacement=False)
    assert "one half of the classes" in refused(problem, study(drift=moves, partition="two-class"))
    data = blobs()
    few = replace(data, test_x=data.test_x[data.test_y < 2], test_y=data.test_y[data.test_y < 2])
    told = refused(problem, study(drift=moves), data=few)
    assert told.startswith("the test set has samples of one half")


def test_square_images_are_turned_and_other_inputs_reversed():
    square, wide = (np.arange(6 * n, dtype=np.float32).reshape(2, 3, n) for n in (3, 4))
    turns = (square, np.rot90(square, axes=(1, 2))), (wide, wide[..., ::-1]), (wide[0], wide[0][:, ::-1])
    for x, turned in turns:
        both = both_parts(Dataset.of("images", *2 * [(x, np.zeros(len(x), int))], 2), "inputs")
        assert both.train_x.tolist() == both.test_x.tolist() == [*x.tolist(), *turned.tolist()]


def test_every_run_is_tested_by_the_samples_of_its_own_replicate():
    nothing = torch.zeros(0)
    weights = torch.tensor([[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]])
    population = Population(nothing, nothing, nothing, nothing, nothing, classes=2, test_weights=weights)
    hits = torch.tensor([[1.0, 1, 0, 0], [0, 1, 0, 1], [0, 1, 1, 0]])
    assert population.tested(hits).tolist() == [0.5, 1.0, 0.0, 0.25]
    assert replace(population, test_weights=weights[:1]).tested(hits).tolist() == [0.5, 1.0, 0.0, 0.5]
    assert replace(population, weights=weights).expected(hits).tolist() == [0.5, 1.0, 0.0, 0.25]
