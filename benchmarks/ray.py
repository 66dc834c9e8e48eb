"""Gains of Ray on one machine: two workers over one, and over the same study in one process with two threads.

Three kinds of work, on the digits: a study (six policies, ten seeds, 500 rounds by default), a sweep of twenty
variants in one study, and four small studies in sequence. Ray is started once; a study's time includes the start of
its workers, each of which loads torch, and training alone is printed besides. Medians of `repeats`. Rows are
compared.
"""

import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import hardware, parser_of, settings
from empirics import PRESETS, Study, run_study
from empirics.shards.on_ray import opened

SETTINGS = settings("ray")
WAYS: dict[str, dict[str, Any]] = SETTINGS["ways"]


def main() -> None:
    given, count = parser_of("ray", __doc__).parse_args(), SETTINGS["small_studies"]
    study = replace(PRESETS["digits"], rounds=given.rounds, predict=False, measures=("risk", "accuracy"))
    few = max(given.rounds // 5, 2)
    sweep = replace(study, rounds=few, policies=tuple(f"constant@K={k}" for k in range(1, 21)))
    small = [replace(study, rounds=few, policies=("constant",), seed=n) for n in range(count)]
    print(hardware())
    began = time.perf_counter()
    with opened("ray", study, "cpu", None):
        print(f"Ray was started in {time.perf_counter() - began:.1f} s")
        compare("a study", [study], given.repeats)
        compare("a sweep of 20 variants", [sweep], given.repeats)
        compare(f"{count} small studies", small, given.repeats)


def compare(work: str, studies: list[Study], repeats: int) -> None:
    runs, rounds = studies[0].runs, studies[0].rounds
    print(f"\n{work}: {runs} runs of {rounds} rounds{' each' if len(studies) > 1 else ''}; n = {repeats}")
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in WAYS}
    rows: dict[str, bytes] = {}
    for name, way in repeats * list(WAYS.items()):
        whole, training, each = zip(*(timed(study, **way) for study in studies), strict=True)
        times[name].append((sum(whole), sum(training)))
        rows[name] = b"".join(each)
    total, alone = ({name: np.median(each, axis=0)[k] for name, each in times.items()} for k in (0, 1))
    for name in WAYS:
        print(f"  {name}: {total[name]:.2f} s, of which {alone[name]:.2f} s train")
    one, two = "Ray, 1 worker", "Ray, 2 workers"
    for words, each in (("in all", total), ("training alone", alone)):
        others = "".join(f", {each[other] / each[two]:.2f}x {other}" for other in list(WAYS)[:2])
        print(f"  {words}: efficiency of two workers over one {each[one] / each[two] / 2:.0%}{others}")
    first, *rest = WAYS
    same = [name for name in rest if rows[name] == rows[first]]
    print(f"  the same bytes as {first}: {', '.join(same) or 'none'}")


def timed(study: Study, threads: int, **on: Any) -> tuple[float, float, bytes]:
    """Seconds in all, seconds since the result folder was made, and the rows."""
    began: list[float] = []
    with tempfile.TemporaryDirectory() as place:
        start, out = time.perf_counter(), Path(place) / "out"
        announce = lambda _: began.append(time.perf_counter())  # noqa: E731
        run_study(replace(study, threads=threads), out, announce=announce, **on)
        end = time.perf_counter()
        return end - start, end - began[0], (out / "rounds.parquet").read_bytes()


if __name__ == "__main__":
    main()
