"""Ray, as far as it is asked for before it is loaded, is there."""

import pytest


@pytest.fixture(autouse=True)
def ray_is_there(monkeypatch):
    monkeypatch.setattr("empirics.shards.on_ray.find_spec", lambda name: name)
