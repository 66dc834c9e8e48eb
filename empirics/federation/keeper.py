"""Ends all processes of a federation when whoever started them ends or says so, also if that one was killed.

    python keeper.py MARK

It waits until its standard input is closed, which the system does for a process that is gone. What has MARK in its
environment, or was started by what has, belongs to the federation: Flower starts processes in sessions of their own,
which no process group holds together. First they are asked, then killed.

It imports nothing of the project, so that it is there soon.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Set
from contextlib import suppress

import psutil

__all__ = ["NAME", "members"]

NAME = "ACDPP_FEDERATION"  # of the environment variable
GRACE = 3.0  # seconds between asking and killing
GIVE_UP = 30.0


def members(mark: str, before: Set[psutil.Process] = frozenset()) -> set[psutil.Process]:
    """The living processes of a federation, and those among `before` that have lost their way to it."""
    parents, found = dict[psutil.Process, int](), set[psutil.Process]()
    for process in psutil.process_iter():
        with suppress(psutil.Error):  # it has ended meanwhile, or is somebody else's
            if process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
                parents[process] = process.ppid()
                if process.environ().get(NAME) == mark:
                    found.add(process)
    more = found | (before & parents.keys())
    while more:  # a process may write over its environment, as one does that changes its title
        found |= more
        numbers = {process.pid for process in more}
        more = {process for process, parent in parents.items() if parent in numbers} - found
    return found - {psutil.Process()}


def end(mark: str) -> None:
    """Ask all of them to end, then see to it."""
    began, asked = time.monotonic(), set[psutil.Process]()
    while left := members(mark, asked):
        late = time.monotonic() - began
        if late > GIVE_UP:
            return
        for process in left if late > GRACE else left - asked:
            with suppress(psutil.Error):
                process.send_signal(signal.SIGKILL if late > GRACE else signal.SIGTERM)
        asked |= left
        time.sleep(0.05)


def main() -> None:
    for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(stop, signal.SIG_IGN)
    sys.stdin.read()
    end(sys.argv[1])


if __name__ == "__main__":
    main()
