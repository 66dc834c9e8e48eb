"""A small, real result of training, shared by the tests that draw or read one."""

from __future__ import annotations

from pathlib import Path

import pytest

from empirics.run import run_study
from empirics.settings.study import Study
from figures.measured import Measured, read


@pytest.fixture(scope="session")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("study") / "result"
    study = Study(rounds=30, seeds=3, checkpoint=30, buffers=(8, 12), budget=11.0, steps=2, labels="parity")
    run_study(study, out)
    return out


@pytest.fixture(scope="session")
def measured(result: Path) -> Measured:
    return read(result)
