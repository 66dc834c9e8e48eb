"""Concurrent writers on one folder, some of them killed, and a reader: no wrong result is written or read."""

import json
import os
import random
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

from empirics.results import folder
from tests.attack.arena import LONGER, ROUNDS, Arena, Child, Fault, accept, start

START_SECONDS = 0.5  # over which the writers start: about the duration of one writer
COMMANDS = {  # by the state of the folder
    "missing": ("new", "new", "resume"),
    "empty": ("new", "new", "resume"),
    "unfinished": ("new", "resume", "resume", "extend"),
    "torn": ("new", "resume", "extend"),
    "finished": ("new", "resume", "extend", "extend"),
}


def race(rng: random.Random, field: Arena, work: Path) -> str:
    """Two or three writers on one folder that is missing, empty, unfinished or finished."""
    out, diary = work / "out", work / "diary"
    begun = rng.choice(list(COMMANDS))
    if begun == "empty":
        out.mkdir()
    elif begun != "missing":
        shutil.copytree(getattr(field, begun)(), out)
    writers = [rng.choice(COMMANDS[begun]) for _ in range(rng.choice([2, 2, 3]))]
    delays = [rng.choice([0, rng.random() * START_SECONDS]) for _ in writers]
    victim = rng.randrange(len(writers)) if rng.random() < 0.25 else None
    killed = "" if victim is None else ", one killed"
    field.attack = f"race of {', '.join(writers)} on a {begun} folder{killed}"
    children = [
        start(field.words(kind, out), work / f"writer-{n}", delay=delay, prepare=lambda: _watched(diary))
        for n, (kind, delay) in enumerate(zip(writers, delays, strict=True))
    ]
    if victim is not None:
        time.sleep(delays[victim] + rng.random() * START_SECONDS)
        children[victim].signal(signal.SIGKILL)
    try:
        _read_meanwhile(field, out, children)
    finally:
        ends = [child.ended() for child in children]
    possible = (ROUNDS, LONGER) if "extend" in writers else (ROUNDS,)
    for end in ends:
        if end.status != -signal.SIGKILL:
            field.judge(end, *possible)
    _refuse_overlap(diary)
    succeeded = [kind for kind, end in zip(writers, ends, strict=True) if end.status == 0]
    fresh = begun in ("missing", "empty")
    if succeeded.count("new") > fresh:
        raise Fault("wrong", f"{succeeded} succeeded on a {begun} folder")
    hopeless = "new" not in writers if fresh else set(writers) == {"new"}
    if victim is None and not hopeless and not succeeded:
        raise Fault("lost", f"none succeeded: {[end.sentence for end in ends]}")
    field.run(field.words("on", out), work / "after", out, *possible)
    return ""


def _watched(diary: Path) -> None:
    """In a child: note when it holds the folder's lock."""
    before = folder._locked

    @contextmanager
    def locked(path: Path) -> Iterator[None]:
        with before(path):
            held = time.monotonic()
            try:
                yield
            finally:
                with diary.open("a") as handle:
                    handle.write(json.dumps([held, time.monotonic()]) + "\n")

    folder._locked = locked


def _refuse_overlap(diary: Path) -> None:
    spans = sorted(map(json.loads, diary.read_text().splitlines() if diary.exists() else ()))
    for (_, end), (begin, _) in pairwise(spans):
        if begin < end:
            raise Fault("wrong", f"two writers had the folder at once, for {end - begin:.3f} s")


def _read_meanwhile(field: Arena, out: Path, children: list[Child]) -> None:
    """Read repeatedly while they write: a refusal or a true result."""
    while any(
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None for child in children
    ):
        field.judge_folder(out, ROUNDS, LONGER)
        time.sleep(0.003)


def race_of_reading(rng: random.Random, field: Arena, work: Path) -> str:
    """A slow reader while a finished result is extended."""
    out, check = work / "out", folder.Folder._check
    shutil.copytree(field.finished(), out)
    field.attack = "reading slowly while a result is extended"
    child = start(field.words("extend", out), work / "writer", delay=rng.random() * 0.05)
    late = rng.random() * 2 * START_SECONDS

    def slow(self: folder.Folder, **options: bool) -> None:
        check(self, **options)
        time.sleep(late)

    try:
        with patch.object(folder.Folder, "_check", slow):
            refusal = field.judge_folder(out, ROUNDS, LONGER)
    finally:
        ended = child.ended()
    written = field.judge(ended, LONGER, folder=out)
    return refusal or written


def race_for_default_names(rng: random.Random, field: Arena, work: Path) -> str:
    """Writers without --out in one working directory: each gets its own folder."""
    field.attack = "race for default folder names"
    delays = [rng.choice([0, rng.random() * 0.1]) for _ in range(rng.choice([2, 3, 4]))]
    children = [
        start(field.train(), work / f"writer-{n}", cwd=work, delay=delay) for n, delay in enumerate(delays)
    ]
    ends = [child.ended() for child in children]
    refusals = [field.judge(end) for end in ends]
    places = {work / json.loads(end.out)["result"] for end in ends if end.status == 0}
    for place in places:
        accept(field.judge_folder(place))
    if len(places) < len(ends):
        raise Fault("wrong", f"{len(ends)} writers, {len(places)} results: {refusals}")
    return ""
