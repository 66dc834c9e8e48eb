"""Ends all processes of a federation when whoever started them ends or says so, also if that one was killed.

    python keeper.py MARK

It waits until its standard input is closed, which the system does for a process that is gone. What has MARK in its
environment, or was started by what has, belongs to the federation: Flower starts processes in sessions of their own,
which no process group holds together. Where the system does not tell environments, the numbers that it was given on
standard input stand for process groups. First they are asked, then killed.

It imports nothing of the project, so that it is there at once.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Set
from contextlib import suppress
from pathlib import Path

__all__ = ["NAME", "members"]

NAME = "ACDPP_FEDERATION"  # of the environment variable
GRACE = 3.0  # seconds between asking and killing
GIVE_UP = 30.0
PROC = Path("/proc")


def members(mark: str, before: Set[int] = frozenset()) -> set[int]:
    """The living processes of a federation, and those among `before` that have lost their way to it."""
    wanted, parents, found = f"{NAME}={mark}".encode(), dict[int, int](), set[int]()
    for entry in PROC.iterdir() if PROC.is_dir() else ():
        if not entry.name.isdigit():
            continue
        with suppress(OSError):  # it has ended meanwhile, or is somebody else's
            state, parent = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
            if state not in "ZX":
                parents[int(entry.name)] = int(parent)
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    found.add(int(entry.name))
    found |= before & parents.keys()
    grown = True
    while grown:  # a process may write over its environment, as one does that changes its title
        more = {process for process, parent in parents.items() if parent in found} - found
        found, grown = found | more, bool(more)
    return found - {os.getpid()}


def end(mark: str, groups: Set[int]) -> None:
    """Ask all of them to end, then see to it."""
    began, asked = time.monotonic(), set[int]()
    while left := members(mark, asked - groups) | set(filter(_lives, groups)):
        late = time.monotonic() - began
        if late > GIVE_UP:
            return
        by = signal.SIGKILL if late > GRACE else signal.SIGTERM
        for process in left if late > GRACE else left - asked:
            with suppress(OSError):
                (os.killpg if process in groups else os.kill)(process, by)
        asked |= left
        time.sleep(0.05)


def _lives(group: int) -> bool:
    with suppress(OSError):
        os.killpg(group, 0)
        return True
    return False


def main() -> None:
    for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(stop, signal.SIG_IGN)
    told = {int(line) for line in sys.stdin if line.strip().isdigit()}
    end(sys.argv[1], set() if (PROC / "self" / "environ").exists() else told)


if __name__ == "__main__":
    main()
