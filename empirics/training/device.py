"""The device and the threads that torch computes with."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from theory.setting import SettingError

__all__ = ["choose_device", "threads"]


def choose_device(name: str) -> torch.device:
    """The device of this name, cpu, cuda, cuda:1 and so on, if it exists."""
    try:
        device = torch.device(name)
    except RuntimeError:
        raise SettingError(f"the device must be cpu or cuda, such as --device cuda, got {name!r}") from None
    if device.type not in ("cpu", "cuda"):
        raise SettingError(f"the device must be cpu or cuda, got {name!r}")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise SettingError("no CUDA device is available: use --device cpu")
    if device.index is not None and device.type == "cuda":
        if device.index >= torch.cuda.device_count():
            raise SettingError(
                f"there are {torch.cuda.device_count()} CUDA devices, counted from 0, got {name!r}"
            )
        torch.cuda.set_device(device)  # graphs are recorded on the current device
    return device


@contextmanager
def threads(count: int | None, remedy: str) -> Iterator[None]:
    """Compute with so many threads, or torch's choice; torch's lack of memory becomes a `MemoryError`."""
    before = torch.get_num_threads()
    if count is not None:
        torch.set_num_threads(count)
    try:
        yield
    except RuntimeError as error:
        if "memory" not in str(error):
            raise
        raise MemoryError(f"the samples of a round do not fit into memory: {remedy}") from None
    finally:
        torch.set_num_threads(before)
