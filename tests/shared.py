"""Files that several test modules share, made once per run by the process that needs them first."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def shared(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return the shared file or folder of this name, which `make` writes to the path it is given."""
    home = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        home = home.parent  # common to all workers
    place, unfinished = home / f"shared-{name}", home / f"unfinished-{name}"
    with FileLock(home / f"shared-{name}.lock"):
        if not place.exists():
            make(unfinished)
            unfinished.rename(place)
    return place
