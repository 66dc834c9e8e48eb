"""Random studies, killed and continued, or extended: the bits of an uninterrupted run, or a sentence."""

import json
import random
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from empirics.results.folder import read_result
from tests.attack.arena import ORDER, Arena, Child, Ended, Outcome, plainly, start
from tests.attack.bad_settings import ODD, limit_memory, write_study
from tests.attack.kills import fail_at, watch

TABLE: dict[str, tuple[Any, ...]] = {
    name: values
    for name, values in ODD.items()
    if name not in ("alpha", "assumed_mean_cost", "rate", "K", "hybrid_K", "released_K", "eta", "per_class")
} | {
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


def broken_study(rng: random.Random, field: Arena, work: Path) -> Outcome:
    """A random study, run uninterrupted, and again, killed up to three times or started with fewer rounds."""
    given = {"rounds": 8, "checkpoint": 3} | {
        name: rng.choice(values) for name, values in TABLE.items() if rng.random() < UNUSUAL_SHARE
    }
    config, whole, broken = work / "study.toml", work / "whole", work / "broken"
    write_study(config, given, field)
    attack = f"broken study {given}"
    ended = _run(["--config", str(config), "--out", str(whole)], work / "whole-log").ended()
    found = plainly(ended, attack)
    if found.verdict != "ok":
        return found
    if rng.random() < 0.4:
        return _extended(given, ended, rng, field, work, attack)

    def on() -> list[str]:
        begun = (broken / "settings.json").exists()
        return ["--resume", str(broken)] if begun else ["--config", str(config), "--out", str(broken)]

    for n in range(rng.randrange(1, 4)):
        meet = fail_at(rng.randrange(1, OPERATIONS_MAX), "kill", rng)
        if _run(on(), work / f"log-{n}", partial(watch, broken, meet)).ended().status != -signal.SIGKILL:
            break
    return _compare(ended, _run(on(), work / "again").ended(), whole, broken, f"{attack}, killed")


def _extended(
    given: dict[str, Any], ended: Ended, rng: random.Random, field: Arena, work: Path, attack: str
) -> Outcome:
    """Start with fewer rounds and extend, unless settings that depend on the number of rounds refuse it."""
    broken, config = work / "broken", work / "short.toml"
    write_study(config, given | {"rounds": rng.randrange(1, given["rounds"])}, field)
    first = plainly(_run(["--config", str(config), "--out", str(broken)], work / "short").ended(), attack)
    if first.verdict != "ok":
        return first
    again = _run(["--resume", str(broken), "--rounds", str(given["rounds"])], work / "again").ended()
    found = plainly(again, f"{attack}, extended")
    if found.verdict == "refused" and "cannot extend" in found.said:
        return found
    return _compare(ended, again, work / "whole", broken, f"{attack}, extended")


def _run(words: list[str], log: Path, then: Callable[[], None] = lambda: None) -> Child:
    def prepare() -> None:
        limit_memory()
        then()

    return start(["train", *words, "--json"], log, prepare=prepare)


def _compare(one: Ended, other: Ended, whole: Path, broken: Path, attack: str) -> Outcome:
    found = plainly(other, attack)
    if found.verdict != "ok":
        return found.or_lost()
    summaries = [json.loads(ended.out) | {"result": None} for ended in (one, other)]
    if summaries[0] != summaries[1]:
        return Outcome("wrong", attack, "the summary differs from that of an unbroken run")
    tables = [read_result(place).rows.sort_by(ORDER) for place in (whole, broken)]
    if not tables[0].equals(tables[1]):
        return Outcome("wrong", attack, "the rows differ from those of an unbroken run")
    return found
