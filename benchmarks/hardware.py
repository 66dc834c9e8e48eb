"""Hardware of a benchmark, in one line, and the times of work."""

import os
import platform
import subprocess
import time
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")


def timed(
    work: Callable[[], Result],
    repeats: int = 1,
    clock: Callable[[], Any] = time.perf_counter,
    before: Callable[[], object] = lambda: None,
) -> tuple[Result, list[Any]]:
    """The last result of the work, and the seconds of each repetition, without what is done before it."""
    seconds = []
    for _ in range(repeats):
        before()
        begin = clock()
        result = work()
        seconds.append(clock() - begin)
    return result, seconds


def gpu_clock() -> float:
    """The wall clock when all work on the GPU is done."""
    import torch

    torch.cuda.synchronize()
    return time.perf_counter()


def hardware() -> str:
    """The machine and its load average, which tells how far to trust the wall clock."""
    return f"{machine()}, load average {os.getloadavg()[0]:.1f}"


def machine(device: str = "cpu") -> str:
    """The card if one is used, CPU model, cores and Python: what is written down."""
    try:
        listing = subprocess.run(["lscpu"], capture_output=True, text=True, check=True).stdout
        named = [line.split(":")[1].strip() for line in listing.splitlines() if line.startswith("Model name")]
    except (OSError, subprocess.CalledProcessError):
        named = []
    cpu = named[0] if named else platform.processor() or "unknown CPU"
    card = ""
    if device == "cuda":
        import torch

        card = f"{torch.cuda.get_device_name()}, "
    return f"{card}{cpu} ({platform.machine()}), {os.cpu_count()} cores, Python {platform.python_version()}"
