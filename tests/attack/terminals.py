"""Limited terminals, no home, no space, no rights: at most a line, never a traceback."""

import os
import random
import subprocess
import sys
from pathlib import Path

from tests.attack.arena import Arena, Ended, Fault

ROOT = Path(__file__).parents[2]
COMMANDS: dict[str, list[str]] = {
    "help": ["--help"],
    "no words": [],
    "version": ["--version"],
    "train help": ["train", "--help"],
    "verify": ["verify", "--claim", "eq:vck-exact", "--jobs", "1"],
    "explain": ["verify", "--claim", "eq:vck-exact", "--jobs", "1", "--explain"],
    "bound": ["bound", "constant", "--K", "10", "--rate", "10", "--horizon", "1e3"],
    "design": ["design", "--buffers", "10,11", "--budget", "10", "--mean-cost", "1", "--horizon", "100"],
    "train": ["train", "--config", "{config}", "--out", "{work}/ünï-\udcff"],
    "default folder": ["train", "--config", "{config}"],
    "show config": ["train", "--show-config"],
    "reread": ["resume", "{finished}"],
    "plot": ["plot", "learning", "{finished}", "--out", "{work}/plots"],
    "default plot": ["plot", "uniformity"],
    "error": ["bound", "λ"],
    "wrong folder": ["resume", "ünï\n\udcff"],
}
COMMANDS |= {f"{name} json": [*COMMANDS[name], "--json"] for name in ("verify", "bound", "train")}
UNSET = ("LC_", "PYTHONIO", "COLUMNS", "USER", "LOGNAME", "XDG_CONFIG_HOME")
C_LOCALE = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
PLACES: dict[str, dict[str, str]] = {
    **{name: {"PYTHONIOENCODING": name} for name in ("ascii", "latin-1", "cp1252", "utf-16")},
    **{f"{width} columns": {"COLUMNS": str(width)} for width in (0, 1, 20, 80)},
    "C": C_LOCALE,
    "C, narrow": C_LOCALE | {"COLUMNS": "20"},
    "dumb": {"TERM": "dumb", "NO_COLOR": "1"},
    "coloured": {"FORCE_COLOR": "1", "PYTHONIOENCODING": "ascii"},
    "no home": {"HOME": "/nonexistent"},
    "read-only": {},
}
SHELL = {
    "stdin closed": " <&-",
    "stdout closed": " >&-",
    "stderr closed": " 2>&-",
    "stdout full": " >/dev/full",
    "both full": " >/dev/full 2>&1",
    "reader gone": " | true",
}
PLACES |= {place: {} for place in SHELL}
TROUBLED = {*SHELL, "read-only"} - {"stdin closed"}


def narrow_terminal(rng: random.Random, field: Arena, work: Path) -> str:
    """A random command in a random environment, as a new program."""
    return in_place(rng.choice(list(COMMANDS)), rng.choice(list(PLACES)), field, work)


def in_place(command: str, place: str, field: Arena, work: Path) -> str:
    """A command in an environment."""
    words = field.filled(COMMANDS[command], work)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(UNSET)}
    environment |= {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **PLACES[place]}
    field.attack, cwd = f"{command} with {place}", work / "cwd"
    cwd.mkdir()
    if place == "read-only":
        if os.geteuid() == 0:
            cwd = Path("/proc")  # where even root cannot make a file
        else:
            cwd.chmod(0o500)
    shell = "set -o pipefail; " if place == "reader gone" else "exec "
    script = f'{shell}"$0" -m acdpp "$@"{SHELL.get(place, "")}'
    program = ["bash", "-c", script, sys.executable, *map(os.fsencode, words)]
    done = subprocess.run(program, cwd=cwd, env=environment, capture_output=True, check=False, timeout=300)
    said = (stream.decode("utf-8", "replace") for stream in (done.stdout, done.stderr))
    return _judge(Ended(done.returncode, *said), command, place)


def _judge(ended: Ended, command: str, place: str) -> str:
    if any(word in ended.err + ended.out for word in ("Traceback", "Exception ignored")):
        raise Fault("traceback", ended.err[-3000:])
    lines = [line for line in ended.sentence.replace("\x00", "").splitlines() if line.strip("\ufeff ")]
    if place == "coloured" and ended.status == 0:
        lines = []  # a bar is shown where colours are forced
    mistaken, said = command in ("error", "wrong folder"), f"status {ended.status}: {ended.err[-1500:]}"
    if len(lines) > 1 or ended.status not in (0, 1, 2, 141) or (ended.status == 0 and mistaken):
        raise Fault("wrong", said)
    if ended.status != 0 and not (mistaken or command == "no words" or place in TROUBLED):
        raise Fault("lost", said)
    return "" if ended.status == 0 else ended.sentence or said
