"""Ends all processes of a federation when their starter ends, is killed, or closes this program's standard input.

    python process_cleanup.py MARK

Members are the processes with MARK in their environment, and their descendants: Flower starts processes in sessions of
their own, outside any common process group. They get SIGTERM, then SIGKILL. Nothing of the project is imported, so
that this program is ready at once.
"""

import signal
import sys
import time
from collections.abc import Set
from contextlib import suppress

import psutil

__all__ = ["MARK_VARIABLE", "members"]

MARK_VARIABLE = "ACDPP_FEDERATION"  # of the environment
TERM_SECONDS = 3.0  # between SIGTERM and SIGKILL
END_SECONDS_MAX = 30.0


def members(mark: str, before: Set[psutil.Process] = frozenset()) -> set[psutil.Process]:
    """The living processes of a federation, and those of `before` that are no longer descendants."""
    parents, found = dict[psutil.Process, int](), set[psutil.Process]()
    for process in psutil.process_iter():
        with suppress(psutil.Error):  # ended meanwhile, or of another user
            if process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
                parents[process] = process.ppid()
                if process.environ().get(MARK_VARIABLE) == mark:
                    found.add(process)
    more = found | (before & parents.keys())
    while more:  # a process that changes its title may overwrite its environment
        found |= more
        numbers = {process.pid for process in more}
        more = {process for process, parent in parents.items() if parent in numbers} - found
    return found - {psutil.Process()}


def end(mark: str) -> None:
    """Terminate all members, then kill those that remain."""
    began, asked = time.monotonic(), set[psutil.Process]()
    while left := members(mark, asked):
        late = time.monotonic() - began
        if late > END_SECONDS_MAX:
            return
        for process in left if late > TERM_SECONDS else left - asked:
            with suppress(psutil.Error):
                process.send_signal(signal.SIGKILL if late > TERM_SECONDS else signal.SIGTERM)
        asked |= left
        time.sleep(0.05)


def main() -> None:
    for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(stop, signal.SIG_IGN)
    sys.stdin.read()
    end(sys.argv[1])


if __name__ == "__main__":
    main()
