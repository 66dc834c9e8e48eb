"""Refusals of a study before its data are read, a pilot looks at them, or anything is trained.

`validate` is called once per study: by a command before it fits or trains, and else by `run_study` and `predict_study`
themselves. What costs least comes first, so that a command answers before torch is loaded.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from empirics.control.prices import Prices
from empirics.control.registry import find_policies
from empirics.control.released import CONSTANTS
from empirics.control.schedule import Schedule
from empirics.data import data_of
from empirics.settings.dataset_name import OWN_FILES
from empirics.settings.study import Study

__all__ = ["Task", "validate", "validate_samples"]

Task = Literal["train", "predict", "plan", "federate"]
SAMPLES_BYTES_MAX = 5_000_000  # of a file of samples that is read once more to refuse it early


def validate(
    study: Study,
    task: Task = "train",
    *,
    out: Path | str | None = None,
    device: str = "cpu",
    prices: Prices | None = None,
    policies: Mapping[str, Any] | None = None,
    files_here: bool = True,
) -> None:
    """Refuse prices, policies, a budget, a device, a place for the result or a size that will not do.

    `prices` and `policies` are handed over in Python in place of what the settings name. Without `files_here` no file
    is looked at, because they lie on other machines.
    """
    built_in = find_policies(study.policies, policies, imports=files_here)
    if files_here or study.cost.file is None:
        played = replace(study, policies=built_in or ("constant",))
        trains = task in ("train", "federate")
        Schedule(played, CONSTANTS, prices=prices, trains=trains).advance(1)
    if task != "federate":
        from empirics.training.device import choose_device

        choose_device(device)
    if task in ("train", "federate"):
        from empirics.results.folder import refuse_place
    else:
        from empirics.prediction.result import refuse_place
    refuse_place(study, None if out is None else Path(out))


def validate_samples(study: Study) -> None:
    """Read a small file of samples for a command that loads torch next, which takes longer."""
    if not study.dataset.startswith(OWN_FILES):
        return
    try:
        small = os.path.getsize(os.path.expanduser(study.dataset.partition(":")[2])) <= SAMPLES_BYTES_MAX
    except (OSError, ValueError):
        small = True  # reading says what is wrong
    if small:
        data_of(study)
