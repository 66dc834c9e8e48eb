"""The studies of Section 7, held against what the paper and its released code say."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from empirics.control.schedule import Schedule, brief_for, plan
from empirics.settings.ladder import EVERYWHERE, LADDER, SPENDS, at_equal_spending, rungs
from empirics.settings.section7 import DATASETS, SETTINGS, STEPS, is_reproduction, section7, settings_for
from empirics.training.engine import aggregation_weights
from tests.empirics.small import CONTROL, refused
from theory.paper import BUDGET, BUFFERS, SECTION7

RESULTS = Path(__file__).parents[3] / "docs" / "results"
RICH = [("mnist", "paper", cost) for cost in (61.0, 198.3)]
RICH += [("cifar10", "released", cost) for cost in (260.0, 498.3)]


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_text_is_as_it_stands_and_the_code_as_it_runs(dataset):
    said, text, code = SECTION7[dataset], section7(dataset), section7(dataset, "released")
    assert (text.buffers, text.budget) == (tuple(said.times * size for size in BUFFERS), said.times * BUDGET)
    assert (text.eta, text.model, text.partition) == (float(said.eta), said.model, said.partition)
    assert (text.steps, text.momentum, text.replacement, text.seeds) == (10, 0, True, 10)
    assert (text.cost.process, text.cost.low, text.cost.high) == ("uniform", 1, 10)
    assert (text.scale, text.radius, text.measures) == ("pixels", None, ("accuracy",))
    assert (text.per_seed, text.diverging, text.policies[-1]) == (("start",), "record", "released")
    learner = (code.K, code.hybrid_K, code.momentum, code.weights, code.replacement)
    assert learner == (10, 10, 0.9, "samples", False)
    assert code.per_class == (None if dataset == "imagenette" else 500)
    assert code.released_K == (5 if dataset == "imagenette" else 6)
    assert (code.cost.process, code.cost.high) == ("integer", 49 if dataset == "cifar10" else 10)
    assert code.assumed_mean_cost == (5.5 if dataset == "cifar10" else None)
    assert (code.policies[0], code.model) == ("released", "logistic" if dataset == "mnist" else "resnet9")
    assert is_reproduction(code)
    other = section7(dataset, seeds=3, rounds=7, model="logistic")
    assert (other.seeds, other.rounds, other.model) == (3, 7, "logistic")
    for setting in settings_for(dataset):
        own = section7(dataset, setting)
        assert section7(dataset, setting, model="lenet") == replace(own, model="lenet")
    assert not is_reproduction(replace(code, preset="mine-paper"))


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_steps_from_text_to_code_make_the_code_together_and_each_is_one_of_them(dataset):
    """Except for what no policy of the text notices, and K of hybrid, which is a policy's own."""
    text, code = section7(dataset).document(), section7(dataset, "released").document()
    steps = [section7(dataset, name).document() for name in STEPS if name in settings_for(dataset)]
    changed = {name: step[name] for step in steps for name in step if step[name] != text[name]}
    del changed["preset"]
    rest = {name for name in code if code[name] != (text | changed)[name]}
    assert rest == {"preset", "policies", "K", "hybrid_K", "weights", "fractions"}
    assert all(sum(step[name] != text[name] for step in steps) == 1 for name in changed)
    for name, step in STEPS.items():  # and the code without one step differs in that alone
        if step.of(dataset) is None:
            assert "changes nothing" in refused(section7, dataset, f"released-{name}")
            continue
        without = section7(dataset, f"released-{name}").document()
        differ = {key for key in code if code[key] != without[key]} - {"preset"}
        assert differ == {key for key in step.of(dataset) if code[key] != text[key]}
        assert all(without[key] == text[key] for key in differ)


@pytest.mark.parametrize("dataset", DATASETS)
def test_no_world_is_needed_for_weights_and_for_the_K_of_constant_admission(dataset):
    text, code = section7(dataset), section7(dataset, "released")
    assert brief_for(text, CONTROL).K == code.K == 10
    held = np.random.default_rng(0).integers(0, 50, (20, text.clients))
    assert np.array_equal(aggregation_weights(text, held), aggregation_weights(code, held))
    hybrids = (replace(study, policies=("hybrid",)) for study in (text, code))
    # that is a departure, and hybrid@K=10 has it in the text's world
    assert [Schedule(study, CONTROL).retention.min() for study in hybrids] == [5, 10]
    assert "hybrid@K=10" in LADDER["paper"]


def test_what_means_nothing_is_refused():
    sentence = refused(section7, "cifar10", "logistic")
    assert "logistic changes nothing on cifar10: take one of paper, momentum" in sentence
    assert "dataset" in refused(section7, "digits")
    assert "setting" in refused(section7, "mnist", "printed")
    assert "worlds" in refused(rungs, "cifar10", ("logistic",))


@pytest.mark.parametrize("dataset", DATASETS)
def test_every_world_of_the_ladder_is_a_study_whose_policies_exist(dataset):
    studies = rungs(dataset, seeds=2, rounds=3)
    assert tuple(studies) == settings_for(dataset)
    assert set(LADDER) == set(SETTINGS)
    for world, study in studies.items():
        admissions = Schedule(study, CONTROL).advance(3).admissions
        assert admissions.shape == (3, study.runs, 10)
        assert admissions.max() <= 250  # what a client's pool has of the data that we have
        plain = section7(dataset, world, seeds=2, rounds=3)
        assert study == replace(plain, policies=EVERYWHERE + LADDER[world])
        assert {SPENDS, "constant", "hybrid"} <= {*study.policies}  # whose spending is matched, and baselines


@pytest.mark.parametrize("name", ["why-cifar10", "why-mnist-logistic"])
def test_a_recorded_ladder_has_the_policies_of_its_worlds(name):
    recorded = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    for world, found in recorded["worlds"].items():
        names = [policy for policy in found["policies"] if "budget=" not in policy]
        assert tuple(names) == rungs(recorded["dataset"], (world,))[world].policies


@pytest.mark.parametrize(("dataset", "setting", "cost"), RICH)
def test_equal_spending_spends_as_much_where_memory_allows(dataset, setting, cost):
    """Constant admission with K rounded down pays as much on average, whatever mean price it takes for true."""
    study = section7(dataset, setting, rounds=400, seeds=1)
    names = at_equal_spending(study, cost).policies
    assert len(names) == 4
    once = ("constant@K=1,budget=600", "acdpp@K=1,budget=600")  # a round fills the memory
    assert at_equal_spending(section7("mnist"), 600.0).policies == once
    rounds = plan(replace(study, policies=names[:2]), CONTROL)
    admitted = rounds.admissions[:, 0].sum(axis=1).mean()
    assert admitted * float(study.cost.mean) == pytest.approx(cost, rel=0.01)
    held = rounds.occupancy.sum(axis=2).max(axis=0)
    assert held.max() <= sum(study.buffers)
    assert held[1] > 0.95 * sum(study.buffers)  # rounded up, memory is full


@pytest.mark.parametrize(("name", "live"), [("constant", 10), ("hybrid", 5)])
def test_the_code_admits_the_floor_of_what_is_due(name, live):
    study = replace(section7("mnist", "released", seeds=1, rounds=40), policies=(name,))
    rounds = plan(study, CONTROL)
    so_far, held = np.cumsum(rounds.admissions[:, 0], axis=0), rounds.occupancy[:, 0]
    due = np.arange(1, 41)[:, np.newaxis] * np.array(study.buffers[:live]) // 10
    assert (so_far[:, :live] == due).all()
    assert (so_far[:, live:] == study.buffers[live:]).all()
    ten_rounds = so_far[10:] - so_far[:-10]
    assert (held[10:, :live] == ten_rounds[:, :live]).all()  # and the others for ever
    assert (held[:, live:] == study.buffers[live:]).all()
