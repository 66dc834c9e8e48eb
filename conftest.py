"""What every doctest may use without importing it, and the Hypothesis profile of the test run."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import hypothesis
import numpy as np
import pytest

hypothesis.settings.register_profile("acdpp", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("acdpp")


@pytest.fixture(autouse=True)
def _doctest_names(doctest_namespace: dict[str, Any]) -> None:
    doctest_namespace.update(Fraction=Fraction, math=math, np=np)
