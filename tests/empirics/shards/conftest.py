"""Tests without Ray, where the package counts as installed, and on it."""

import pytest

from empirics.run import run_study
from tests.empirics.shards.local_backend import files, small


@pytest.fixture(scope="module")
def whole(request, tmp_path_factory):
    """The files of the small study in one process, as long as the module has it."""
    out = tmp_path_factory.mktemp("whole") / "out"
    run_study(small(**getattr(request.module, "LONG", {})), out)
    return files(out)


@pytest.fixture(autouse=True)
def ray_is_installed(monkeypatch):
    monkeypatch.setattr("empirics.shards.on_ray.find_spec", lambda name: name)
