"""A kill, a full or a failing disk at every file operation: no wrong result, and one that can be continued."""

import ctypes
import errno
import os
import random
import resource
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from empirics.results.folder import read_settings
from tests.attack.arena import LONGER, ROUNDS, Arena, Outcome, first_of, start
from theory.setting import SettingError

AUDITED = {f"os.{name}" for name in ("rename", "remove", "mkdir", "rmdir", "scandir", "listdir")}
AUDITED |= {"open", "shutil.copyfile"}
SCENES = ("new", "resume", "extend", "extend unfinished", "reread")
FAILURES = ("ENOSPC", "EIO", "EDQUOT", "EROFS")


Meet = Callable[[str, set[str]], None]


def watch(out: Path, meet: Meet) -> None:
    """In a child: call `meet` before every file operation in the folder, with the files not yet forced to disk.

    The disk changes only at these, so that kills before each and at the end cover all kills. Writing into an open file
    fails in `out_of_space`.
    """
    inside, dirty = str(out), set[str]()

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        paths = [os.fspath(one) for one in arguments if isinstance(one, str | os.PathLike)]
        if event not in AUDITED or not any(path.startswith(inside) for path in paths):
            return
        meet(event, dirty)
        if event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR):
            dirty.add(paths[0])
        elif event == "os.rename" and paths[0] in dirty:
            dirty.remove(paths[0])
            dirty.add(paths[1])

    sys.addaudithook(hook)
    fsync = os.fsync

    def forced(number: int) -> None:
        meet("fsync", dirty)
        fsync(number)
        dirty.discard(os.readlink(f"/proc/self/fd/{number}"))

    os.fsync = forced


def fail_at(at: int, how: str, rng: random.Random) -> Meet:
    """Die before the operation of this number ("kill"), or let it fail by an error of this name, with "+" all later
    operations too.

    Death is that of a power failure: any part of files not forced to disk may be lost, even after a rename.
    """
    numbers = count(1)

    def meet(event: str, dirty: set[str]) -> None:
        met = next(numbers)
        if met < at or (met > at and not how.endswith("+")):
            return
        if how == "kill":
            for path in filter(os.path.isfile, sorted(dirty)):
                os.truncate(path, rng.randrange(os.path.getsize(path) + 1))
            os.kill(os.getpid(), signal.SIGKILL)
        if met == at or event not in ("os.remove", "os.rmdir", "os.scandir", "os.listdir"):
            number = getattr(errno, how.rstrip("+"))
            raise OSError(number, os.strerror(number))

    return meet


def _scene(scene: str, field: Arena, out: Path) -> tuple[list[str], int]:
    """Prepare the folder; returns the command and its final number of rounds."""
    if scene != "new":
        torn = scene in ("resume", "extend unfinished")
        shutil.copytree(field.torn() if torn else field.finished(), out)
    return field.words(scene, out), LONGER if scene.startswith("extend") else ROUNDS


@cache
def operations(scene: str, field: Arena, work: Path) -> int:
    """The number of file operations of a scene's command."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    words, rounds = _scene(scene, field, work / "out")

    def counting() -> None:
        handle = os.open(work / "count", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        watch(work / "out", lambda event, dirty: os.write(handle, b".") and None)

    ended = start(words, work / "log", prepare=counting).ended()
    outcome = field.judge(ended, "counting", rounds, folder=work / "out")
    assert outcome.verdict == "ok", outcome
    return (work / "count").stat().st_size


def kill_at(at: int, scene: str, how: str, rng: random.Random, field: Arena, work: Path) -> Outcome:
    """Kill the command before a file operation, or let the operation fail (`fail_at`); then continue."""
    out = work / "out"
    words, rounds = _scene(scene, field, out)
    attack = f"{how} at file operation {at} of {scene}"
    ended = start(words, work / "log", prepare=lambda: watch(out, fail_at(at, how, rng))).ended()
    killed = ended.status == -signal.SIGKILL and how == "kill"
    found = Outcome("ok", attack) if killed else field.judge(ended, attack, rounds, folder=out)
    return _continued(found, scene, rounds, field, out, work)


def _continued(found: Outcome, scene: str, rounds: int, field: Arena, out: Path, work: Path) -> Outcome:
    """A refusal must name the folder, and continuing must give the true result."""
    if found.verdict == "refused" and str(out) not in found.said:
        return Outcome("wrong", found.attack, f"it does not say where: {found.said}")
    return first_of(found, _again(scene, rounds, field, out, work, found.attack)) or found


def _again(scene: str, rounds: int, field: Arena, out: Path, work: Path, attack: str) -> Outcome:
    """Repeating or continuing must give the true result, or that of the study before its extension."""
    if scene == "new" and not (out / "settings.json").exists():
        ended = start(field.words("new", out), work / "again").ended()
        return field.judge(ended, attack, folder=out).or_lost()
    try:
        before = read_settings(out)["study"]["rounds"]
    except SettingError as error:
        return Outcome("lost", attack, str(error))
    if before != rounds and (fault := first_of(field.resume(out, work / "before", attack))):
        return fault
    return field.resume(out, work / "again", attack, rounds if scene != "new" else None)


def kill_somewhere(rng: random.Random, field: Arena, work: Path) -> Outcome:
    """A random kill or failure."""
    scene = rng.choice(SCENES)
    total = operations(scene, field, field.home / f"counting {scene}")
    how = rng.choice(["kill", "kill", *FAILURES, *(f"{name}+" for name in FAILURES)])
    return kill_at(rng.randrange(1, total + 2), scene, how, rng, field, work)


@contextmanager
def _small_disk(place: Path, size: int, wanted: bool) -> Iterator[bool]:
    """A file system of `size` bytes mounted at `place`, if wanted and allowed."""
    place.mkdir(parents=True, exist_ok=True)
    libc = ctypes.CDLL(None, use_errno=True)
    made = wanted and libc.mount(b"none", os.fsencode(place), b"tmpfs", 0, f"size={size}".encode()) == 0
    try:
        yield made
    finally:
        if made:
            libc.umount2(os.fsencode(place), 2)


def out_of_space(rng: random.Random, field: Arena, work: Path) -> Outcome:
    """A full file system, or a limit on file sizes; with more room, the study continues."""
    disk, out = work / "disk", work / "disk" / "out"
    scene, room, limit = rng.choice(["new", "resume", "extend"]), rng.randrange(16), rng.randrange(200, 20000)
    with _small_disk(disk, 2**20, rng.random() < 0.7) as mounted:
        words, rounds = _scene(scene, field, out)
        if mounted:
            free = os.statvfs(disk)
            (disk / "filler").write_bytes(bytes(max(free.f_bavail - room, 0) * free.f_bsize))

        def prepare() -> None:
            if not mounted:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        attack = f"{f'{room} pages left' if mounted else f'files of {limit} bytes at most'} during {scene}"
        found = field.judge(start(words, work / "log", prepare=prepare).ended(), attack, rounds, folder=out)
        (disk / "filler").unlink(missing_ok=True)
        return _continued(found, scene, rounds, field, out, work)
