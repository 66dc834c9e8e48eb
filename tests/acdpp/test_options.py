"""Commands on a study take the same study by default, and the same options for it."""

from dataclasses import fields

import pytest
import typer

from acdpp.main import app
from acdpp.options import StudyOptions
from tests.acdpp.program import settings
from tests.empirics.small import blobs_file

LEFT_OUT = {  # options that have no meaning for a command
    "train": set(),
    "predict": {"model"},
    "plan": {"policies", "sweep", "model", "average", "average_by", "decay", "decay_by", "drift"},
    "federate": {"policies", "sweep", "seeds", "device"},
    "deploy": {"policies", "sweep", "seeds", "device"},
}
LEARNER = ("policies", "eta", "decay", "average", "average_by")
DESCENT = ("learner", "preset", *LEARNER)  # which a federation takes unless asked
ONE_SERVER = ("policies", "seeds", "rounds", "buffers", "budget", "measures", "predict", "checkpoint")


@pytest.mark.parametrize("command", LEFT_OUT)
def test_the_options_of_a_study_are_those_of_every_command(command):
    loaded = typer.main.get_command(app).commands[command]
    names = {one.name for one in fields(StudyOptions)}
    assert names - {param.name for param in loaded.params} == LEFT_OUT[command]


def test_every_command_begins_with_the_study_of_train():
    for words in (
        (),
        ("--preset", "digits", "--seed", "7"),
        ("--buffers", "4,5,7", "--budget", "22", "--cost", "integer:2:6", "--radius", "3"),
        ("--dataset", blobs_file(), "--no-fit"),
    ):
        wanted = settings("train", *words)
        assert settings("predict", *words) == wanted
        for command, own in (
            ("plan", (*LEARNER, "preset")),
            ("federate", (*ONE_SERVER, *DESCENT)),
            ("deploy", (*ONE_SERVER, *DESCENT)),
        ):
            found = settings(command, *words)
            assert {name for name in wanted if found[name] != wanted[name]} <= set(own)
        if "--buffers" in words:
            assert (wanted["buffers"], wanted["budget"], wanted["radius"]) == ([4, 5, 7], 22.0, 3.0)
            assert settings("federate", *words)["buffers"] == [4, 5, 7]  # not three clients by default
            assert [wanted["cost"][name] for name in ("process", "low", "high")] == ["integer", 2, 6]


def test_none_takes_a_setting_back():
    assert settings("train", "--seed", "0")["seed"] == 0
    descent = ("train", "--learner", "descent")
    assert (settings(*descent)["decay"], settings(*descent, "--decay", "none")["decay"]) == (50.0, "none")


def test_a_plan_is_compared_with_the_papers_learner_whatever_the_preset():
    for preset in ("best", "descent", "digits"):
        found = settings("plan", "--preset", preset)
        assert [found[name] for name in LEARNER] == [["constant"], 0.5, "none", "none", "none"]
