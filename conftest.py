"""Settings of the test run: doctest names, the Hypothesis profile, garbage collection, caches, disks, Triton."""

from __future__ import annotations

import gc
import math
import os
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

import hypothesis
import numpy as np
import pytest

os.environ["SYMPY_CACHE_SIZE"] = "None"  # as in proofs_check, also where SymPy is loaded before
gc.set_threshold(200_000, 20, 50)  # collected rarely: it takes a noticeable share of the time
os.fsync = lambda number: None  # no file of a test must survive a loss of power, and disks take milliseconds
collect_ignore = [] if find_spec("triton") else ["empirics/training/kernels.py"]
collect_ignore += [] if find_spec("flwr") else ["empirics/federation", "tests/empirics/federation"]
collect_ignore += [
    "acdpp/explore/fields.py",
    "acdpp/explore/page.py",
]  # load a web server, and have no doctests

hypothesis.settings.register_profile("acdpp", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("acdpp")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("numprocesses", None):
        return  # workers run the tests, and load torch
    import torch

    if not torch.cuda.is_available():
        os.environ["TRITON_INTERPRET"] = "1"  # read when Triton is first loaded


def pytest_collection_finish() -> None:
    gc.freeze()  # what is loaded stays, and is not looked through again


@pytest.fixture(autouse=True)
def _doctest_names(doctest_namespace: dict[str, Any]) -> None:
    doctest_namespace.update(Fraction=Fraction, math=math, np=np)
