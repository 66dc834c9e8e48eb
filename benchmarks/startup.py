"""`python -m benchmarks.startup`: processor time from the words of a command to its end, beside loading everything.

The alternative is the same command in a process that first imports every module of every command, as a program does
whose commands are imported at its top. Processor time, user and system, since a wall clock also times the neighbours.
"""

import os
import shlex
import subprocess
import sys
from functools import partial
from statistics import median

from acdpp.main import COMMANDS
from benchmarks.common import hardware, parser_of, settings, timed

MODULES = ("sympy", "mpmath", "flint", "scipy.special", "theory", *(one.module for one in COMMANDS.values()))
EAGER = f"import {', '.join(MODULES)}; [getattr(theory, name) for name in theory.__all__]"


def seconds(code: str, words: str, n: int) -> float:
    """The median processor time of `n` processes."""
    command, nowhere = [sys.executable, "-c", code, *shlex.split(words)], subprocess.DEVNULL
    run = partial(subprocess.run, command, stdout=nowhere, stderr=nowhere, check=False)
    return median(timed(run, n, clock=lambda: sum(os.times()[2:4]))[1])


def main() -> None:
    n = parser_of("startup", __doc__).parse_args().n
    run = "from acdpp.__main__ import main; main()"
    print(f"{hardware()}; median of n = {n} processes, processor seconds")
    print(f"{'python alone':<73} {seconds('pass', '', n):5.2f}")
    print(f"{'import typer':<73} {seconds('import typer', '', n):5.2f}")
    print(f"{'acdpp …':<73} {'':>5} {'all loaded':>11} {'times':>6}")
    for words in settings("startup")["commands"]:
        lazy, eager = seconds(run, words, n), seconds(f"{EAGER}; {run}", words, n)
        print(f"{words:<73} {lazy:5.2f} {eager:11.2f} {eager / lazy:6.1f}", flush=True)


if __name__ == "__main__":
    main()
