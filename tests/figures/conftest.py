"""Small, real results of training, and what a command would save, shared by the tests that draw or read them."""

import pytest

from empirics.run import run_study, study_of
from empirics.settings.study import Study
from figures.measured import read
from tests.figures.small import SWEEP, small_result
from tests.shared import shared


@pytest.fixture(scope="session")
def result(tmp_path_factory):
    return small_result(tmp_path_factory)


@pytest.fixture(scope="session")
def measured(result):
    return read(result)


@pytest.fixture(scope="session")
def sweep(result, tmp_path_factory):
    study = Study.from_document({"policies": SWEEP}, study_of(result))
    return shared(tmp_path_factory, "sweep", lambda out: run_study(study, out))


@pytest.fixture
def saved(monkeypatch):
    """The commands by the files that would name them; nothing is rendered, which test_save.py looks at."""
    commands = {}

    def save(figure, folder, name, *, form, origin, **_):
        path = folder / f"{name}.{form.value}"
        commands[path.name] = origin.command
        return path

    monkeypatch.setattr("figures.save.save", save)
    return commands
