"""The studies of Section 7, held against what the paper and its released code say."""

from dataclasses import replace

import numpy as np
import pytest

from empirics.control.schedule import Schedule, brief_for, plan
from empirics.settings.ladder import EVERYWHERE, LADDER, at_equal_spending, rungs
from empirics.settings.section7 import DATASETS, PAPER, SETTINGS, STEPS, TARGETS, section7, settings_for
from empirics.settings.study import Study
from empirics.training.engine import aggregation_weights
from proofs_check.experiments.stated import SECTION7
from tests.empirics.small import CONTROL
from theory.setting import SettingError

TEXT = {  # buffers times MNIST's, budget, learning rate, model, partition
    "mnist": (1, 55, 0.5, "lenet", "two-class"),
    "cifar10": (2, 110, 5e-3, "resnet9", "two-class"),
    "imagenette": (4, 220, 5e-4, "resnet9", "split"),
}


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_text_is_as_it_stands(dataset):
    times, budget, eta, model, partition = TEXT[dataset]
    study = section7(dataset)
    assert study.buffers == tuple(times * size for size in (8, 9, 10, 11, 12, 8, 9, 10, 11, 12))
    assert (study.budget, study.eta, study.model, study.partition) == (budget, eta, model, partition)
    assert (study.steps, study.momentum, study.replacement, study.seeds) == (10, 0, True, 10)
    assert (study.cost.process, study.cost.low, study.cost.high) == ("uniform", 1, 10)
    assert (study.scale, study.radius, study.measures) == ("pixels", None, ("accuracy",))
    assert (study.per_seed, study.diverging) == (("start",), "record")


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_code_is_as_it_runs(dataset):
    study = section7(dataset, "released")
    assert (study.K, study.hybrid_K, study.momentum, study.weights) == (10, 10, 0.9, "samples")
    assert study.replacement is False
    assert study.per_class == (None if dataset == "imagenette" else 500)
    assert study.released_K == (5 if dataset == "imagenette" else 6)
    assert (study.cost.process, study.cost.high) == ("integer", 49 if dataset == "cifar10" else 10)
    assert study.assumed_mean_cost == (5.5 if dataset == "cifar10" else None)
    assert study.model == ("logistic" if dataset == "mnist" else "resnet9")
    assert study.policies[0] == "released"


def test_seeds_rounds_and_model_may_be_others():
    study = section7("mnist", seeds=3, rounds=7, model="logistic")
    assert (study.seeds, study.rounds, study.model) == (3, 7, "logistic")


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_steps_from_text_to_code_make_the_code_together(dataset):
    """But for what no policy of the text notices, and K of hybrid, which is a policy's own."""
    text, code = section7(dataset).document(), section7(dataset, "released").document()
    steps = [section7(dataset, name).document() for name in STEPS if name in settings_for(dataset)]
    changed = {
        name: step[name] for step in steps for name in step if step[name] != text[name] and name != "preset"
    }
    rest = {name for name in code if code[name] != (text | changed)[name]}
    assert rest == {"preset", "policies", "K", "hybrid_K", "weights", "fractions"}
    assert all(sum(step[name] != text[name] for step in steps) == 1 for name in changed)


@pytest.mark.parametrize("dataset", DATASETS)
def test_no_world_is_needed_for_weights_and_for_the_K_of_constant_admission(dataset):
    text, code = section7(dataset), section7(dataset, "released")
    assert brief_for(text, CONTROL).K == code.K == 10
    held = np.random.default_rng(0).integers(0, 50, (20, text.clients))
    assert np.array_equal(aggregation_weights(text, held), aggregation_weights(code, held))
    hybrids = [
        Schedule(Study.from_document(study.document() | {"policies": ["hybrid"]}), CONTROL).retention.min()
        for study in (text, code)
    ]
    assert hybrids == [5, 10]  # that is a departure, and hybrid@K=10 has it in the text's world
    assert "hybrid@K=10" in LADDER["paper"]


def test_what_means_nothing_is_refused_in_a_sentence():
    with pytest.raises(
        SettingError, match="logistic changes nothing on cifar10: take one of paper, momentum"
    ):
        section7("cifar10", "logistic")
    with pytest.raises(SettingError, match="dataset"):
        section7("digits")
    with pytest.raises(SettingError, match="setting"):
        section7("mnist", "printed")
    with pytest.raises(SettingError, match="worlds"):
        rungs("cifar10", ("logistic",))


def test_the_numbers_of_the_paper_are_all_there():
    assert set(PAPER) == set(TARGETS) == set(DATASETS)
    for said in PAPER.values():
        assert set(said) == {"points", "speed_up"}
        assert all(set(one) == {"hybrid", "constant"} for one in said.values())
    assert PAPER["cifar10"]["speed_up"]["hybrid"] is None


# --- the ladder --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dataset", DATASETS)
def test_every_world_of_the_ladder_is_a_study_whose_policies_exist(dataset):
    studies = rungs(dataset, seeds=2, rounds=3)
    assert tuple(studies) == settings_for(dataset)
    assert set(LADDER) == set(SETTINGS)
    for world, study in studies.items():
        assert study.policies == EVERYWHERE + LADDER[world]
        played = Schedule(study, CONTROL).advance(3)
        assert played.admissions.shape == (3, study.runs, 10)
        assert played.admissions.max() <= 250  # what a client's pool has of the data that we have
        plain = section7(dataset, world, seeds=2, rounds=3).document() | {"policies": list(study.policies)}
        assert study.document() == plain


@pytest.mark.parametrize(
    ("dataset", "setting", "cost"),
    [
        ("mnist", "paper", 61.0),
        ("mnist", "paper", 198.3),
        ("mnist", "paper", 260.0),
        ("cifar10", "released", 260.0),
        ("cifar10", "released", 498.3),
    ],
)
def test_equal_spending_spends_as_much_where_memory_allows(dataset, setting, cost):
    """With K rounded down constant admission pays as much on average, whatever mean price it takes for true."""
    study = section7(dataset, setting, rounds=400)
    rich = at_equal_spending(study, cost)
    assert len(rich.policies) == 4
    rounds = Schedule(rich, CONTROL).advance(400)
    admitted = rounds.admissions.sum(axis=2).reshape(400, 4, study.seeds)[:, 0].mean()
    assert admitted * float(study.cost.mean) == pytest.approx(cost, rel=0.01)
    held = rounds.occupancy.sum(axis=2).reshape(400, 4, study.seeds)[:, :2].max(axis=(0, 2))
    assert held.max() <= sum(study.buffers)
    assert held[1] > 0.95 * sum(study.buffers)  # rounded up, memory is full


@pytest.mark.parametrize("name", ["constant", "hybrid"])
def test_the_code_admits_the_floor_of_what_is_due(name):
    study = replace(section7("mnist", "released", seeds=1, rounds=40), policies=(name,))
    so_far = np.cumsum(plan(study, CONTROL).admissions[:, 0], axis=0)
    rounds = np.arange(1, 41)[:, np.newaxis]
    live = 10 if name == "constant" else 5
    due = rounds * np.array(study.buffers[:live]) // 10
    assert (so_far[:, :live] == due).all()
    if name == "hybrid":
        assert (so_far[:, 5:] == study.buffers[5:]).all()


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_code_without_one_step_differs_in_that_alone(dataset):
    text, code = section7(dataset).document(), section7(dataset, "released").document()
    for name, step in STEPS.items():
        if step.of(dataset) is None:
            with pytest.raises(SettingError, match="changes nothing"):
                section7(dataset, f"released-{name}")
            continue
        without = section7(dataset, f"released-{name}").document()
        differ = {key for key in code if code[key] != without[key]} - {"preset"}
        assert differ == {key for key in step.of(dataset) if code[key] != text[key]}
        assert all(without[key] == text[key] for key in differ)


def test_the_papers_numbers_are_those_that_its_claims_are_held_to():
    """Written down twice, since settings must not load the checker."""
    for name, said in SECTION7.items():
        study = section7(name)
        assert PAPER[name] == {"points": dict(said.points), "speed_up": dict(said.speed_up)}
        assert TARGETS[name] == said.target
        assert (study.model, study.eta, study.budget) == (said.model, said.eta, said.budget)
