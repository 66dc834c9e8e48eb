"""What a benchmark ran on, in one line."""

from __future__ import annotations

import os
import platform
import subprocess


def hardware() -> str:
    """CPU model, cores, Python and the load average, which tells how far to trust the wall clock."""
    try:
        listing = subprocess.run(["lscpu"], capture_output=True, text=True, check=True).stdout
        named = [line.split(":")[1].strip() for line in listing.splitlines() if line.startswith("Model name")]
    except (OSError, subprocess.CalledProcessError):
        named = []
    cpu = named[0] if named else platform.processor() or "unknown CPU"
    load = f"load average {os.getloadavg()[0]:.1f}"
    return f"{cpu} ({platform.machine()}), {os.cpu_count()} cores, Python {platform.python_version()}, {load}"
