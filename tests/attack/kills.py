"""A kill, a full or a failing disk at every file operation, and random studies, killed and continued or extended: no
wrong result, and one that can be continued."""

import ctypes
import errno
import json
import os
import random
import resource
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Any

from empirics.results.folder import read_settings
from tests.attack.arena import LONGER, ROUNDS, Arena, Ended, Fault, accept, plainly, start
from tests.attack.bad_settings import ODD, limit_memory, write_study
from tests.empirics.small import assert_same_rows
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

    field.run(words, work / "log", work / "out", rounds, prepare=counting)
    return (work / "count").stat().st_size


def kill_at(at: int, scene: str, how: str, rng: random.Random, field: Arena, work: Path) -> str:
    """Kill the command before a file operation, or let the operation fail (`fail_at`); then continue."""
    out = work / "out"
    words, rounds = _scene(scene, field, out)
    field.attack = f"{how} at file operation {at} of {scene}"
    ended = start(words, work / "log", prepare=lambda: watch(out, fail_at(at, how, rng))).ended()
    killed = ended.status == -signal.SIGKILL and how == "kill"
    refusal = "" if killed else field.judge(ended, rounds, folder=out)
    _continue(refusal, scene, rounds, field, out, work)
    return refusal


def _continue(refusal: str, scene: str, rounds: int, field: Arena, out: Path, work: Path) -> None:
    """A refusal must name the folder; repeating or continuing must give the true result, first that of the study before
    its extension."""
    if refusal and str(out) not in refusal:
        raise Fault("wrong", f"it does not say where: {refusal}")
    if scene == "new" and not (out / "settings.json").exists():
        field.run(field.words("new", out), work / "again", out)
        return
    try:
        before = read_settings(out)["study"]["rounds"]
    except SettingError as error:
        raise Fault("lost", str(error)) from None
    if before != rounds:
        field.resume(out, work / "before")
    field.resume(out, work / "again", rounds if scene != "new" else None)


def kill_somewhere(rng: random.Random, field: Arena, work: Path) -> str:
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


def out_of_space(rng: random.Random, field: Arena, work: Path) -> str:
    """A full file system, or a limit on file sizes; with more room, the study continues."""
    disk, out = work / "disk", work / "disk" / "out"
    scene, room, limit = rng.choice(["new", "resume", "extend"]), rng.randrange(16), rng.randrange(200, 20000)
    with _small_disk(disk, 2**20, rng.random() < 0.7) as mounted:
        words, rounds = _scene(scene, field, out)
        if mounted:
            free = os.statvfs(disk)
            (disk / "filler").write_bytes(bytes(max(free.f_bavail - room, 0) * free.f_bsize))
            limit = resource.RLIM_INFINITY
        prepare = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (limit, limit))
        space = f"{room} pages left" if mounted else f"files of {limit} bytes at most"
        field.attack = f"{space} during {scene}"
        refusal = field.judge(start(words, work / "log", prepare=prepare).ended(), rounds, folder=out)
        (disk / "filler").unlink(missing_ok=True)
        _continue(refusal, scene, rounds, field, out, work)
    return refusal


UNUSED = ("alpha", "assumed_mean_cost", "released_K", "dataset")
TABLE: dict[str, tuple[Any, ...]] = {name: ODD[name] for name in ODD if name not in UNUSED} | {
    "rounds": (5, 8, 13),
    "checkpoint": (1, 2, 3, 5),
    "buffers": ([3, 4], [5], [8, 9, 10, 11], [2, 2, 12], [3, 400]),
    "budget": (11, 25, 40.5, 200),
    "K": (None, 1, 2, 3, 6),
    "hybrid_K": (None, 1, 3),
    "rate": (None, 2, 3.7),
    "V": (None, 0.5, 30),
    "rho": (None, 0.5, 0.95),
    "eta": (0.1, 0.5, 1.0),
    "momentum": (0.0, 0.5, 0.9),
    "radius": (None, 1.0, 10.0, 30),
    "concentration": (0.5, 2.0),
    "per_class": (None, 3, 10),
    "steps": (1, 2, 5),
    "seeds": (1, 2, 3),
}
UNUSUAL_SHARE = 0.35  # of the settings
OPERATIONS_MAX = 150  # before a kill


def broken_study(rng: random.Random, field: Arena, work: Path) -> str:
    """A random study, run uninterrupted, and again, killed up to three times or started with fewer rounds."""
    given = {"rounds": 8, "checkpoint": 3} | {
        name: rng.choice(values) for name, values in TABLE.items() if rng.random() < UNUSUAL_SHARE
    }
    config, whole, broken = work / "study.toml", work / "whole", work / "broken"
    write_study(config, given, field)
    field.attack = f"broken study {given}"
    begin = ["train", "--config", str(config), "--out"]
    ended = _train([*begin, str(whole)], work / "whole-log")
    if refusal := plainly(ended):
        return refusal
    if rng.random() < 0.4:
        field.attack += ", extended"
        write_study(config, given | {"rounds": rng.randrange(1, given["rounds"])}, field)
        if refusal := plainly(_train([*begin, str(broken)], work / "short")):
            return refusal
        again = _train(["resume", str(broken), "--rounds", str(given["rounds"])], work / "again")
        if "cannot extend" in (refusal := plainly(again)):  # settings depend on the number of rounds
            return refusal
    else:
        field.attack += ", killed"
        kills = [fail_at(rng.randrange(1, OPERATIONS_MAX), "kill", rng) for _ in range(rng.randrange(1, 4))]
        for n, meet in enumerate([*kills, lambda event, dirty: None]):
            words = ["resume"] if (broken / "settings.json").exists() else begin
            again = _train([*words, str(broken)], work / f"again-{n}", partial(watch, broken, meet))
    accept(plainly(again))
    summaries = [json.loads(one.out) | {"result": None} for one in (ended, again)]
    if summaries[0] != summaries[1]:
        raise Fault("wrong", "the summary differs from that of an unbroken run")
    assert_same_rows(whole, broken)
    return ""


def _train(words: list[str], log: Path, then: Callable[[], None] = lambda: None) -> Ended:
    def prepare() -> None:
        limit_memory()
        then()

    return start([*words, "--json"], log, prepare=prepare).ended()
