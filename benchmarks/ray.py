"""What Ray gains on one machine: two workers over one, and over the same study in one process with two threads.

    python -m benchmarks.ray
    python -m benchmarks.ray --rounds 40 --repeats 1

Three kinds of work, on the digits: a study (six policies, ten seeds, 500 rounds by default), a sweep of twenty variants
in one study, and four small studies one after the other. Ray is started once; a study's time holds its workers' start,
in which each loads torch, and that is told apart. All is done in turn, `repeats` times; medians. Rows are compared.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from benchmarks.hardware import hardware
from empirics.run import run_study
from empirics.settings.presets import PRESETS
from empirics.settings.study import Study
from empirics.shards.on_ray import opened

SMALL = 4  # studies
WAYS: dict[str, tuple[int, int | None]] = {  # threads, and workers
    "one process, 1 thread": (1, None),
    "one process, 2 threads": (2, None),
    "Ray, 1 worker": (1, 1),
    "Ray, 2 workers": (1, 2),
}


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=500, help="of the study; the others have a fifth")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    study = replace(PRESETS["digits"], rounds=given.rounds, predict=False, measures=("risk", "accuracy"))
    few = max(given.rounds // 5, 2)
    sweep = replace(study, rounds=few, policies=tuple(f"constant@K={k}" for k in range(1, 21)))
    small = [replace(study, rounds=few, policies=("constant",), seed=n) for n in range(SMALL)]
    print(hardware())
    began = time.perf_counter()
    with opened("ray", study, "cpu", None):
        print(f"Ray was started in {time.perf_counter() - began:.1f} s")
        told("a study", [study], given.repeats)
        told("a sweep of 20 variants", [sweep], given.repeats)
        told(f"{SMALL} small studies", small, given.repeats)


def told(what: str, studies: list[Study], repeats: int) -> None:
    """The times of all ways, and their ratios."""
    runs, rounds = studies[0].runs, studies[0].rounds
    print(f"\n{what}: {runs} runs of {rounds} rounds{' each' if len(studies) > 1 else ''}; n = {repeats}")
    whole: dict[str, list[float]] = {name: [] for name in WAYS}
    trained: dict[str, list[float]] = {name: [] for name in WAYS}
    rows: dict[str, bytes] = {}
    for _ in range(repeats):
        for name, way in WAYS.items():
            taken = [timed(study, *way) for study in studies]
            whole[name].append(sum(one[0] for one in taken))
            trained[name].append(sum(one[1] for one in taken))
            rows[name] = b"".join(one[2] for one in taken)
    total, alone = ({name: statistics.median(v) for name, v in times.items()} for times in (whole, trained))
    for name in WAYS:
        print(f"  {name}: {total[name]:.2f} s, of which {alone[name]:.2f} s train")
    one, two = "Ray, 1 worker", "Ray, 2 workers"
    for words, times in (("in all", total), ("training alone", alone)):
        print(f"  {words}: efficiency of two workers over one {times[one] / times[two] / 2:.0%}", end="")
        for other in list(WAYS)[:2]:
            print(f", {times[other] / times[two]:.2f}x {other}", end="")
        print()
    first = next(iter(WAYS))
    same = [name for name in WAYS if rows[name] == rows[first]]
    print(f"  the same bytes as {first}: {', '.join(same[1:]) or 'none'}")


def timed(study: Study, threads: int, workers: int | None) -> tuple[float, float, bytes]:
    """Seconds in all, seconds from the folder's beginning on, and the rows."""
    began: list[float] = []
    folder: Callable[[Path], None] = lambda place: began.append(time.perf_counter())  # noqa: E731
    on = {} if workers is None else {"on": "ray", "shards": workers}
    with tempfile.TemporaryDirectory() as place:
        start, out = time.perf_counter(), Path(place) / "out"
        run_study(replace(study, threads=threads), out, announce=folder, **on)
        end = time.perf_counter()
        return end - start, end - began[0], (out / "rounds.parquet").read_bytes()


if __name__ == "__main__":
    main()
