"""Shared by all attacks: a study of milliseconds, its true result, commands in forked children, and the verdict.

Importing torch takes seconds, so that a command runs in a child forked from this process, where all is imported. A race
or a kill then takes a few tenths of a second.
"""

import json
import os
import shutil
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from random import Random
from select import select
from typing import Any, NamedTuple

import psutil
import torch

import acdpp
import empirics
import figures
import theory
from acdpp.__main__ import main
from empirics.results.folder import Result, read_result
from empirics.run import run_study
from empirics.settings.toml import read_toml
from tests.empirics.small import blobs_file, stopped_at
from theory.setting import SettingError

BAD = ("traceback", "wrong", "lost")
ASIDES = tuple(f"acdpp: {word}" for word in ("note:", "rounds", "reading the data", "predicting", "looking"))
ROUNDS, LONGER = 7, 10
COMMAND_SECONDS_MAX = 120  # a longer command hangs
FORK_SECONDS_MAX = 15
ORDER = [(name, "ascending") for name in ("policy", "seed", "round")]
STUDY = """
preset = "own"
dataset = "{data}"
labels = "parity"
rounds = {rounds}
seeds = 1
checkpoint = 3
buffers = [3, 4]
budget = 11
K = 2
steps = 1
policies = ["constant"]
measures = ["risk"]
"""


class Fault(Exception):
    """A fault that an attack found, one of `BAD`. An attack without a fault returns a refusal, or "" for success."""

    def __init__(self, verdict: str, said: str) -> None:
        super().__init__(f"{verdict}: {said}")
        self.verdict, self.said = verdict, said


def accept(refusal: str) -> None:
    """A refusal counts as lost."""
    if refusal:
        raise Fault("lost", refusal)


class Ended(NamedTuple):
    """The end of a command: its status (negative for a signal, None if it was stopped) and its output."""

    status: int | None
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """The lines on standard error without notes and progress, which a busy machine may show."""
        lines = [line for line in self.err.splitlines() if not line.startswith(ASIDES)]
        return "\n".join(lines)


def plainly(ended: Ended) -> str:
    """The refusal of any command, which must end with success or with one line."""
    if ended.status is None:
        raise Fault("lost", "it did not end")
    if "Traceback" in ended.err or "Exception ignored" in ended.err or ended.status < 0:
        raise Fault("traceback", ended.err[-3000:] or f"died of signal {-ended.status}")
    if ended.status == 0:
        return ""
    lines = [line for line in ended.sentence.splitlines() if line.strip()]
    one = len(lines) == 1 and lines[0].startswith("acdpp: ") and len(lines[0]) <= 1500
    if ended.status not in (1, 2, 130) or not one:
        raise Fault("wrong", f"status {ended.status} with {len(lines)} lines: {ended.err[-1500:]}")
    return lines[0]


@dataclass(frozen=True)
class Child:
    """A command under way in a session of its own."""

    pid: int
    log: Path

    def signal(self, number: int) -> None:
        """Send a signal to the whole group, if it is alive."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def ended(self, patience: float = COMMAND_SECONDS_MAX) -> Ended:
        """Wait for the end."""
        process, status = psutil.Process(self.pid), None
        try:
            status = process.wait(patience)
        except psutil.TimeoutExpired:
            process.kill()
            process.wait()
        logs = (Path(f"{self.log}.{name}") for name in ("out", "err"))
        return Ended(status, *(log.read_text("utf-8", "replace") for log in logs))


def start(
    words: Sequence[str],
    log: Path,
    *,
    cwd: Path | None = None,
    prepare: Callable[[], None] = lambda: None,
    delay: float = 0,
) -> Child:
    """Fork a child that calls `prepare()` and runs `acdpp WORDS`."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid, ready = _fork()
    if pid:
        return Child(pid, log)
    status = 99
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.write(ready, b".")
        os.close(ready)
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(f"{log}.{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))  # noqa: SIM115
        if cwd is not None:
            os.chdir(cwd)
        warnings.resetwarnings()
        warnings.simplefilter("ignore", DeprecationWarning)
        time.sleep(delay)
        sys.argv = ["acdpp", *words]
        status = _status(prepare)
    finally:
        os._exit(status)


def _fork() -> tuple[int, int]:
    """Fork a child, which writes a byte to the descriptor once it runs.

    The libraries have threads, and a child may be stuck in the fork if one of them holds a lock; then another child is
    forked.
    """
    while True:
        hears, tells = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(hears)
            return 0, tells
        os.close(tells)
        heard, _, _ = select([hears], [], [], FORK_SECONDS_MAX)
        os.close(hears)
        if heard:
            return pid, -1
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _status(prepare: Callable[[], None]) -> int:
    """The exit status that the interpreter would give."""
    try:
        prepare()
        main()
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:
        traceback.print_exc()
        code = 1
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            code = code or 120
    return code


@dataclass(eq=False)
class Arena:
    """A folder with the study's settings, its true results, and results to attack; and the name of the attack."""

    home: Path
    attack: str = ""

    def config(self, rounds: int = ROUNDS) -> Path:
        return self.home / f"study-{rounds}.toml"

    @cache  # noqa: B019 - there is one arena a process
    def truth(self, rounds: int) -> Result:
        """The result of an uninterrupted run."""
        place = self.home / f"truth-{rounds}"
        run_study(read_toml(self.config(rounds)), place)
        return read_result(place)

    @cache  # noqa: B019
    def unfinished(self) -> Path:
        """A result that stopped after two checkpoints of three."""
        return stopped_at(read_toml(self.config()), self.home / "unfinished", ROUNDS)

    @cache  # noqa: B019
    def torn(self) -> Path:
        """An unfinished result with all remains of a kill."""
        place = shutil.copytree(self.unfinished(), self.home / "torn")
        (place / "settings.json.partial").write_text("{")
        (place / "state-000000000007.npz.partial").write_bytes(b"PK")
        for name in ("parquet", "parquet.partial"):
            (place / f"parts/000000000007-000000000007.{name}").write_bytes(b"PAR1")
        return place

    def finished(self) -> Path:
        return self.home / f"truth-{ROUNDS}"

    def filled(self, words: Sequence[str], work: Path) -> list[str]:
        """A command with the paths of its files."""
        values = {"config": self.config(), "work": work, "finished": self.finished()}
        return [word.format(**values) for word in words]

    def train(self, *words: str) -> list[str]:
        """The command that starts the study."""
        return ["train", "--no-fit", "--config", str(self.config()), "--json", *words]

    def words(self, scene: str, out: Path) -> list[str]:
        """The command that starts, resumes or extends the study in a folder; "on" starts or resumes."""
        if scene == "new" or (scene == "on" and not (out / "settings.json").exists()):
            return self.train("--out", str(out))
        longer = ["--rounds", str(LONGER)] if scene.startswith("extend") else []
        return ["resume", str(out), "--json", *longer]

    def judge(self, ended: Ended, *rounds: int, folder: Path | None = None) -> str:
        """The refusal of a command with --json, which else must give a true result, in the `folder` too, if given."""
        if refusal := plainly(ended):
            return refusal
        if ended.sentence:
            raise Fault("wrong", f"status 0 and yet it says {ended.sentence!r}")
        try:
            document = json.loads(ended.out)
        except ValueError:
            raise Fault("wrong", f"status 0 and no JSON: {ended.out[:500]!r}") from None
        document.pop("result", None)
        if all(document != self.truth(number).summary for number in rounds or (ROUNDS,)):
            raise Fault("wrong", "the summary that was printed is not the true one")
        if folder:
            accept(self.judge_folder(folder, *rounds))
        return ""

    def judge_folder(self, folder: Path, *rounds: int) -> str:
        """The refusal of a folder, which else must hold the true result, bit for bit."""
        try:
            settings, summary, rows = read_result(folder)
        except SettingError as error:
            return str(error)
        except Exception:
            raise Fault("traceback", traceback.format_exc()[-3000:]) from None
        truths = [self.truth(number) for number in rounds or (ROUNDS,)]
        true_rows = [truth.rows for truth in truths if summary == truth.summary]
        if not true_rows:
            raise Fault("wrong", "the saved summary is not the true one")
        if not rows.sort_by(ORDER).equals(true_rows[0].sort_by(ORDER)):
            raise Fault("wrong", "the saved rows are not the true ones")
        if settings["study"]["rounds"] != summary["rounds"]:
            raise Fault("wrong", "settings and summary are of different moments")
        return ""

    def run(self, words: Sequence[str], log: Path, folder: Path, *rounds: int, **options: Any) -> None:
        """Run a command with --json, which must give a true result in the folder."""
        accept(self.judge(start(words, log, **options).ended(), *rounds, folder=folder))

    def resume(self, folder: Path, log: Path, rounds: int | None = None) -> None:
        """Continue a folder, which must give the true result."""
        longer = [] if rounds is None else ["--rounds", str(rounds)]
        self.run([*self.words("resume", folder), *longer], log, folder, rounds or ROUNDS)


Attack = Callable[[Random, Arena, Path], str]


def arena(home: Path) -> Arena:
    """Prepare the attacks; to be called once per process."""
    torch.set_num_threads(1)  # a forked child has no other threads
    for package in (acdpp, empirics, figures, theory):  # now, so that no child need do it
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    for name in ("flint", "mpmath", "rich.progress", "rich.table", "sympy", "typer.rich_utils"):
        import_module(name)  # which commands load when they need them
    home.mkdir(parents=True)
    made = Arena(home)
    for rounds in (ROUNDS, LONGER):
        made.config(rounds).write_text(STUDY.format(data=blobs_file(), rounds=rounds))
        made.truth(rounds)
    made.torn()
    return made
