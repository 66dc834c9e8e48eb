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
from tests.attack.arena import LONGER, ROUNDS, Arena, Child, Outcome, first_of, start

START_SECONDS = 0.5  # over which the writers start: about the duration of one writer
COMMANDS = {  # by the state of the folder
    "missing": ("new", "new", "resume"),
    "empty": ("new", "new", "resume"),
    "unfinished": ("new", "resume", "resume", "extend"),
    "torn": ("new", "resume", "extend"),
    "finished": ("new", "resume", "extend", "extend"),
}


def race(rng: random.Random, field: Arena, work: Path) -> Outcome:
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
    attack = f"race of {', '.join(writers)} on a {begun} folder{'' if victim is None else ', one killed'}"
    children = [
        start(field.words(kind, out), work / f"writer-{n}", delay=delay, prepare=lambda: _watched(diary))
        for n, (kind, delay) in enumerate(zip(writers, delays, strict=True))
    ]
    if victim is not None:
        time.sleep(delays[victim] + rng.random() * START_SECONDS)
        children[victim].signal(signal.SIGKILL)
    read = _read_meanwhile(field, out, children, attack)
    ends = [child.ended() for child in children]
    possible = (ROUNDS, LONGER) if "extend" in writers else (ROUNDS,)
    found = [field.judge(end, attack, *possible) for end in ends if end.status != -signal.SIGKILL]
    if fault := first_of(read, *found):
        return fault
    if words := _overlap(diary):
        return Outcome("wrong", attack, words)
    succeeded = [kind for kind, end in zip(writers, ends, strict=True) if end.status == 0]
    fresh = begun in ("missing", "empty")
    if succeeded.count("new") > fresh:
        return Outcome("wrong", attack, f"{succeeded} succeeded on a {begun} folder")
    hopeless = "new" not in writers if fresh else set(writers) == {"new"}
    if victim is None and not hopeless and not succeeded:
        return Outcome("lost", attack, f"none succeeded: {[end.sentence for end in ends]}")
    return first_of(_afterwards(field, out, work, attack, possible)) or Outcome("ok", attack)


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
                line = json.dumps([os.getpid(), held, time.monotonic()]) + "\n"
                with diary.open("a") as handle:
                    handle.write(line)

    folder._locked = locked


def _overlap(diary: Path) -> str | None:
    lines = diary.read_text().splitlines() if diary.exists() else []
    spans = sorted(json.loads(line)[1:] for line in lines)
    for (_, end), (begin, _) in pairwise(spans):
        if begin < end:
            return f"two writers had the folder at once, for {end - begin:.3f} s"
    return None


def _read_meanwhile(field: Arena, out: Path, children: list[Child], attack: str) -> Outcome | None:
    """Read repeatedly while they write: a refusal or a true result."""
    while any(
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None for child in children
    ):
        found = field.judge_folder(out, f"reading during a {attack}", ROUNDS, LONGER)
        if found is not None and found.verdict != "lost":
            return found
        time.sleep(0.003)
    return None


def _afterwards(field: Arena, out: Path, work: Path, attack: str, possible: tuple[int, ...]) -> Outcome:
    """Afterwards the result can be continued, or started."""
    ended = start(field.words("on", out), work / "after").ended()
    return field.judge(ended, attack, *possible, folder=out).or_lost()


def race_of_reading(rng: random.Random, field: Arena, work: Path) -> Outcome:
    """A slow reader while a finished result is extended."""
    out, check = work / "out", folder.Folder._check
    shutil.copytree(field.finished(), out)
    attack = "reading slowly while a result is extended"
    child = start(field.words("extend", out), work / "writer", delay=rng.random() * 0.05)
    late = rng.random() * 2 * START_SECONDS

    def slow(self: folder.Folder, **options: bool) -> None:
        check(self, **options)
        time.sleep(late)

    with patch.object(folder.Folder, "_check", slow):
        read = field.judge_folder(out, attack, ROUNDS, LONGER)
    written = field.judge(child.ended(), attack, LONGER, folder=out)
    if read is not None and read.verdict == "lost":  # it may be refused
        read = Outcome("refused", attack, read.said)
    return first_of(read, written) or read or written


def race_for_default_names(rng: random.Random, field: Arena, work: Path) -> Outcome:
    """Writers without --out in one working directory: each gets its own folder."""
    attack = "race for default folder names"
    delays = [rng.choice([0, rng.random() * 0.1]) for _ in range(rng.choice([2, 3, 4]))]
    children = [
        start(field.train(), work / f"writer-{n}", cwd=work, delay=delay) for n, delay in enumerate(delays)
    ]
    ends = [child.ended() for child in children]
    places = {work / json.loads(end.out)["result"] for end in ends if end.status == 0}
    found = [field.judge(end, attack) for end in ends]
    if fault := first_of(*found, *(field.judge_folder(place, attack) for place in places)):
        return fault
    if len(places) < len(ends):
        said = [end.sentence for end in ends]
        return Outcome("wrong", attack, f"{len(ends)} writers, {len(places)} results: {said}")
    return Outcome("ok", attack)
