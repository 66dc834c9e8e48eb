"""What files of tests share and takes a while is made once in a run, by the process that needs it first."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def shared(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The file or folder of this name, which `make` makes where it is told to."""
    home = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        home = home.parent  # of all workers
    place, unfinished = home / f"shared-{name}", home / f"unfinished-{name}"
    with FileLock(home / f"shared-{name}.lock"):
        if not place.exists():
            make(unfinished)
            unfinished.rename(place)
    return place
