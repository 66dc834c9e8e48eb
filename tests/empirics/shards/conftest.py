"""Tests without Ray: the package counts as installed."""

import pytest


@pytest.fixture(autouse=True)
def ray_is_installed(monkeypatch):
    monkeypatch.setattr("empirics.shards.on_ray.find_spec", lambda name: name)
