"""Committed results do not contradict themselves, and name their command."""

import json
from pathlib import Path

import pytest

from proofs_check.engines import experiment
from proofs_check.experiments.committed import committed
from tests.made_up import changed, reproduction, write
from tests.refused import refused

CONTRADICTIONS = {
    "names no command": (("command",), None),
    "its name in its data set": (("dataset",), "cifar10"),
    "its name in its setting": (("setting",), "released"),
    "the paper's target": (("target",), 0.8),
    "the paper's budget": (("study", "budget"), 56),
    "the paper's points over constant": (("paper", "points", "constant"), 0.35),
    "the paper's speed_up over hybrid": (("paper", "speed_up", "hybrid"), 3.2),
    "the last accuracy of hybrid": (("policies", "hybrid", "current_best", "mean", 100), 0.99),
    "the last interval of hybrid": (("policies", "hybrid", "best_accuracy", "high"), 0.99),
    "the mean cost of acdpp": (("policies", "acdpp", "mean_cost", "mean"), 50.0),
    "the current best of acdpp, which falls": (("policies", "acdpp", "current_best", "mean", 50), 0.1),
    "the largest occupancy of acdpp": (("policies", "acdpp", "occupancy", "mean", 3), 400),
    "the points of acdpp and constant": (("comparisons", "acdpp", "constant", "points", "mean"), 3.5),
    "the accuracies by seed of acdpp": (("policies", "acdpp", "by_seed", "best_accuracy", 3), 0.1),
    "the averaged accuracies by seed of acdpp": (("policies", "acdpp", "by_seed", "mean_accuracy", 3), 0.1),
    "the interval of the points of acdpp": (("comparisons", "acdpp", "constant", "points", "low"), 0.0),
    "the interval of the averaged points": (
        ("comparisons", "acdpp", "constant", "points_averaged", "high"),
        9.0,
    ),
    "the averaged points of acdpp": (("comparisons", "acdpp", "hybrid", "points_averaged", "mean"), 3),
}


@pytest.mark.parametrize("what", CONTRADICTIONS)
def test_a_committed_result_that_contradicts_itself_is_refused(what, tmp_path):
    write(changed(reproduction(), *CONTRADICTIONS[what]), tmp_path / "mnist-paper.json")
    sentence = refused(committed, tmp_path)
    assert what in sentence
    assert "'mnist-paper.json'" in sentence


@pytest.mark.parametrize("path", sorted(Path(experiment.__file__).parents[1].glob("experiments/*-*.json")))
def test_a_committed_result_names_its_command_and_no_path(path):
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["command"].startswith("acdpp reproduce ")
    assert "/" not in document["command"]
