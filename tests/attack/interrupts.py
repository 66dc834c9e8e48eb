"""Ctrl-C at any time in any command: one line, status 130, no process left, and a result that can be continued."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil

from tests.attack.arena import LONGER, ROUNDS, Arena, Child, Fault, plainly, start

ROOT = Path(__file__).parents[2]
COMMANDS: dict[str, tuple[list[str], float]] = {  # with its approximate seconds in a forked child
    "help": (["--help"], 0.2),
    "verify": (["verify", "--profile", "quick", "--jobs", "2"], 4),
    "verify alone": (["verify", "--claim", "eq:vck-exact", "--jobs", "1"], 2),
    "bound": (["bound", "constant", "--K", "10", "--rate", "10", "--horizon", "1e12", "--certified"], 1),
    "design": (["design", "--buffers", "8,9,10", "--budget", "55", "--mean-cost", "5.5"], 1),
    "plot": (["plot", "learning", "{finished}", "--out", "{work}/plots"], 1),
    "plot theory": (["plot", "uniformity", "--out", "{work}/plots"], 1),
    "predict": (["predict", "--config", "{config}", "--out", "{work}/curves"], 3),
    "train": (["train", "--config", "{config}", "--out", "{work}/out", "--json"], 0.5),
    "resume": (["resume", "{work}/out", "--json"], 0.5),
    "extend": (["resume", "{work}/out", "--json", "--rounds", str(LONGER)], 0.5),
}
STARTING_SECONDS = 8  # of a new program, before the point where a forked child begins


def session(leader: int) -> dict[int, str]:
    """The living processes of a session, with their commands."""
    found = {}
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if os.getsid(process.pid) == leader and process.status() != psutil.STATUS_ZOMBIE:
                found[process.pid] = " ".join(process.cmdline())
    return found


def left_running(leader: int) -> dict[int, str]:
    """The processes left after ten seconds; multiprocessing's helper ends after all others."""
    for _ in range(200):
        if not (left := session(leader)):
            break
        time.sleep(0.05)
    return left


def fresh(words: list[str], work: Path) -> Child:
    """A new program, which has to import everything."""

    def as_in_a_terminal() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    with (work / "log.out").open("wb") as out, (work / "log.err").open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "acdpp", *words],
            cwd=work,
            stdout=out,
            stderr=err,
            start_new_session=True,
            preexec_fn=as_in_a_terminal,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
    while process.poll() is None and not watches(process.pid):
        time.sleep(0.001)
    process.returncode = 0  # it is waited for elsewhere
    return Child(process.pid, work / "log")


def watches(process: int) -> bool:
    """True once the signal is blocked, that is, handled; before that, the interpreter is starting."""
    bit = 1 << (signal.SIGINT - 1)
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return any(line.startswith("SigBlk") and int(line.split()[1], 16) & bit for line in lines)


def interrupt(rng: random.Random, field: Arena, work: Path, anew: float = 0.2) -> str:
    """One or two signals to a command, forked or, with probability `anew`, a new program."""
    name = rng.choice(list(COMMANDS))
    words, takes = COMMANDS[name]
    words = field.filled(words, work)
    if name in ("resume", "extend"):
        shutil.copytree(rng.choice([field.unfinished, field.finished])(), work / "out")
    own = rng.random() < anew
    twice = rng.random() < 0.15
    field.attack = f"Ctrl-C{' twice' if twice else ''} in {name}{', from its start' if own else ''}"
    child = fresh(words, work) if own else start(words, work / "log", cwd=work)
    time.sleep(rng.random() * (takes + (STARTING_SECONDS if own else 0)) * 1.1)
    child.signal(signal.SIGINT)
    if twice:
        time.sleep(rng.random() * 0.05)
        child.signal(signal.SIGINT)
    ended = child.ended()
    if left := left_running(child.pid):
        child.signal(signal.SIGKILL)
        raise Fault("lost", f"still running: {left}")
    silent = not ended.sentence.strip()
    if ended.status == -signal.SIGINT and not own and silent:
        refusal = ""  # a forked child that had not started
    else:
        refusal = plainly(ended)
        if (ended.status == 0 and not silent) or ended.status not in (0, 130):
            raise Fault("wrong", f"status {ended.status}: {ended.err[-1500:]}")
    if name in ("train", "resume", "extend"):
        field.run(field.words("on", work / "out"), work / "again", work / "out", ROUNDS, LONGER)
    return refusal
