"""Settings and options of a benchmark, from studies/NAME.toml, times of work, and the hardware in one line."""

import argparse
import os
import platform
import subprocess
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

TYPES: dict[str, Any] = {"int": int, "float": float, "path": Path}
Result = TypeVar("Result")


def settings(name: str) -> dict[str, Any]:
    """Settings of a benchmark, its options among them."""
    return tomllib.loads(Path(__file__).with_name("studies").joinpath(f"{name}.toml").read_text("utf-8"))


def parser_of(name: str, text: str | None, **more: Any) -> argparse.ArgumentParser:
    """The parser of a benchmark's own options and of more, whose types are those of their defaults."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(f"python -m benchmarks.{name}", description=text, formatter_class=raw)
    for option, value in (settings(name)["options"] | more).items():
        about = dict(value) if isinstance(value, dict) else {"default": value}
        if about.get("default") is False:
            about["action"] = "store_true"
        else:
            about["type"] = TYPES.get(about.pop("type", type(about.get("default")).__name__), str)
        parser.add_argument(option if about.pop("positional", False) else f"--{option}", **about)
    return parser


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
