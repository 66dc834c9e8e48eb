"""Gains of Ray on one machine: two workers over one, and over the same study in one process with two threads.

    python -m benchmarks.ray
    python -m benchmarks.ray --rounds 40 --repeats 1

Three kinds of work, on the digits: a study (six policies, ten seeds, 500 rounds by default), a sweep of twenty
variants in one study, and four small studies in sequence. Ray is started once; a study's time includes the start of
its workers, each of which loads torch, and training alone is printed besides. Medians of `repeats`. Rows are
compared.
"""

import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.hardware import hardware
from benchmarks.options import parser_of, settings
from empirics import PRESETS, Study, run_study
from empirics.shards.on_ray import opened

SETTINGS = settings("ray")
WAYS: dict[str, dict[str, int]] = SETTINGS["ways"]


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
    """Print the times of all ways, and their ratios."""
    runs, rounds = studies[0].runs, studies[0].rounds
    print(f"\n{work}: {runs} runs of {rounds} rounds{' each' if len(studies) > 1 else ''}; n = {repeats}")
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in WAYS}
    rows: dict[str, bytes] = {}
    for _ in range(repeats):
        for name, way in WAYS.items():
            taken = [timed(study, **way) for study in studies]
            times[name].append((sum(one[0] for one in taken), sum(one[1] for one in taken)))
            rows[name] = b"".join(one[2] for one in taken)
    total = {name: statistics.median(whole for whole, _ in each) for name, each in times.items()}
    alone = {name: statistics.median(train for _, train in each) for name, each in times.items()}
    for name in WAYS:
        print(f"  {name}: {total[name]:.2f} s, of which {alone[name]:.2f} s train")
    one, two = "Ray, 1 worker", "Ray, 2 workers"
    for words, each in (("in all", total), ("training alone", alone)):
        others = "".join(f", {each[other] / each[two]:.2f}x {other}" for other in list(WAYS)[:2])
        print(f"  {words}: efficiency of two workers over one {each[one] / each[two] / 2:.0%}{others}")
    first, *rest = WAYS
    same = [name for name in rest if rows[name] == rows[first]]
    print(f"  the same bytes as {first}: {', '.join(same) or 'none'}")


def timed(study: Study, threads: int, workers: int | None = None) -> tuple[float, float, bytes]:
    """Seconds in all, seconds since the result folder was made, and the rows."""
    began: list[float] = []
    on = {} if workers is None else {"on": "ray", "shards": workers}
    with tempfile.TemporaryDirectory() as place:
        start, out = time.perf_counter(), Path(place) / "out"
        announce = lambda _: began.append(time.perf_counter())  # noqa: E731
        run_study(replace(study, threads=threads), out, announce=announce, **on)
        end = time.perf_counter()
        return end - start, end - began[0], (out / "rounds.parquet").read_bytes()


if __name__ == "__main__":
    main()
