"""Limited terminals, no home, no space, no rights: at most a line, never a traceback."""

import os
import random
import subprocess
import sys
from pathlib import Path

from tests.attack.arena import Arena, Ended, Outcome

ROOT = Path(__file__).parents[2]
COMMANDS: dict[str, list[str]] = {
    "help": ["--help"],
    "no words": [],
    "version": ["--version"],
    "train help": ["train", "--help"],
    "verify": ["verify", "--claim", "eq:vck-exact", "--jobs", "1"],
    "explain": ["verify", "--claim", "eq:vck-exact", "--jobs", "1", "--explain"],
    "verify json": ["verify", "--claim", "eq:vck-exact", "--jobs", "1", "--json"],
    "bound": ["bound", "constant", "--K", "10", "--rate", "10", "--horizon", "1e3"],
    "bound json": ["bound", "constant", "--K", "10", "--rate", "10", "--horizon", "1e3", "--json"],
    "design": ["design", "--buffers", "10,11", "--budget", "10", "--mean-cost", "1", "--horizon", "100"],
    "train": ["train", "--config", "{config}", "--out", "{work}/ünï-\udcff"],
    "train json": ["train", "--config", "{config}", "--out", "{work}/out", "--json"],
    "default folder": ["train", "--config", "{config}"],
    "show config": ["train", "--show-config"],
    "reread": ["train", "--resume", "{finished}"],
    "plot": ["plot", "learning", "{finished}", "--out", "{work}/plots"],
    "default plot": ["plot", "uniformity"],
    "error": ["bound", "λ"],
    "wrong folder": ["train", "--resume", "ünï\n\udcff"],
}
C_LOCALE = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
PLACES: dict[str, dict[str, str]] = {
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "cp1252": {"PYTHONIOENCODING": "cp1252"},
    "utf-16": {"PYTHONIOENCODING": "utf-16"},
    "C": C_LOCALE,
    "C, narrow": C_LOCALE | {"COLUMNS": "20"},
    "narrow": {"COLUMNS": "20"},
    "very narrow": {"COLUMNS": "1"},
    "usual": {"COLUMNS": "80"},
    "no columns": {"COLUMNS": "0"},
    "dumb": {"TERM": "dumb", "NO_COLOR": "1"},
    "coloured": {"FORCE_COLOR": "1", "PYTHONIOENCODING": "ascii"},
    "no home": {},
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


def narrow_terminal(rng: random.Random, field: Arena, work: Path) -> Outcome:
    """A random command in a random environment, as a new program."""
    return in_place(rng.choice(list(COMMANDS)), rng.choice(list(PLACES)), field, work)


def in_place(command: str, place: str, field: Arena, work: Path) -> Outcome:
    """A command in an environment."""
    words = field.filled(COMMANDS[command], work)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "PYTHONIO", "COLUMNS"))}
    environment |= {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **PLACES[place]}
    attack, shell = f"{command} with {place}", "exec "
    cwd = work / "cwd"
    cwd.mkdir()
    if place == "no home":
        unknown = {"USER", "LOGNAME", "XDG_CONFIG_HOME"}
        environment = {k: v for k, v in environment.items() if k not in unknown} | {"HOME": "/nonexistent"}
    if place == "read-only":
        if os.geteuid() == 0:
            cwd = Path("/proc")  # where even root cannot make a file
        else:
            cwd.chmod(0o500)
    tail = SHELL.get(place, "")
    if place == "reader gone":
        shell = "set -o pipefail; "
    arguments = [os.fsencode(word) for word in words]
    command = ["bash", "-c", f'{shell}"$0" -m acdpp "$@"{tail}', sys.executable, *arguments]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, check=False, timeout=300)
    said = (stream.decode("utf-8", "replace") for stream in (done.stdout, done.stderr))
    return _judge(Ended(done.returncode, *said), attack, command, place)


def _judge(ended: Ended, attack: str, command: str, place: str) -> Outcome:
    if any(word in ended.err + ended.out for word in ("Traceback", "Exception ignored")):
        return Outcome("traceback", attack, ended.err[-3000:])
    lines = [line for line in ended.sentence.replace("\x00", "").splitlines() if line.strip("\ufeff ")]
    if place == "coloured" and ended.status == 0:
        lines = []  # a bar is shown where colours are forced
    if len(lines) > 1 or ended.status not in (0, 1, 2, 141):
        return Outcome("wrong", attack, f"status {ended.status}: {ended.err[-1500:]}")
    fails = command in ("error", "wrong folder", "no words") or place in TROUBLED
    if ended.status != 0 and not fails:
        return Outcome("lost", attack, f"status {ended.status}: {ended.err[-1500:]}")
    if ended.status == 0 and command in ("error", "wrong folder"):
        return Outcome("wrong", attack, "status 0")
    return Outcome("ok" if ended.status == 0 else "refused", attack, ended.sentence)
