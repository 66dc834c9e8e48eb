"""Plants errors that people make, and runs what could notice each: claims that execute the broken lines, then tests.

Prints a line per mutant, then the survivors, which nothing noticed, and a table by package. Exit status 1 if any
survive. Large runs in pieces: --shard I/N or --seconds S with --out FILE, and again with --resume until nothing is
left. noticed.json has what noticed each error in earlier runs, which is asked first; --record adds this run's.
"""

import argparse
import contextlib
import gc
import hashlib
import importlib
import json
import os
import pickle
import random
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.common import hardware, parser_of
from benchmarks.mutants.judge import (
    Broken,
    Judgement,
    Seen,
    everywhere,
    judge,
    judge_in_copy,
    labels,
    loaded,
    observe,
)
from benchmarks.mutants.plant import ROOT, SETTINGS, Mutant, chosen, mutants
from benchmarks.mutants.watch import Watched, digest, files, watch

MUTANT_SECONDS_MAX = 150.0  # before a mutant counts as noticed by its hanging
OBSERVATION_SECONDS_MAX = 500.0  # for one claim, or for the tests of one part of a file together
NOTICED = Path(__file__).with_name("noticed.json")
BY_MATHEMATICS = ("verdict", "evidence", "check broke", "import")


def observations(
    kind: str, work: Callable[..., Any], jobs: dict[Any, str], options: argparse.Namespace, tree: str
) -> Iterator[tuple[Any, Any]]:
    """Results of `work` on the sound tree, by job; kept in a folder until the tree changes."""
    folder = (options.kept or Path(tempfile.gettempdir())) / f"acdpp-{kind}-{tree}"
    folder.mkdir(parents=True, exist_ok=True)
    place = {job: folder / f"{name.replace('/', '-')}.pickle" for job, name in jobs.items()}
    found = {job: pickle.loads(path.read_bytes()) for job, path in place.items() if path.exists()}
    missing = [job for job in jobs if job not in found]
    new = everywhere(missing, work, processes=options.jobs, limit=OBSERVATION_SECONDS_MAX)
    for done, (job, result) in enumerate(new, start=1):
        found[job] = result
        if result is not None and not isinstance(result, Broken):
            place[job].write_bytes(pickle.dumps(result))
        print(f"\r{kind} {done}/{len(missing)}", end="", file=sys.stderr, flush=True)
    yield from found.items()


def watch_all(options: argparse.Namespace, only: tuple[str, ...]) -> Watched:
    """All tests that can judge, with the lines that each executes."""
    jobs = {job: "{}-{}-{}".format(*job) for job in files(only)}
    tests, tree = [], digest("acdpp", "empirics", "figures", "tests")
    for job, result in observations("watched", watch, jobs, options, tree):
        sound, failed = result if isinstance(result, tuple) else ([], [f"{job[0]}: {result or 'time limit'}"])
        for name in failed:
            print(f"\n{name} fails without any error planted, and judges nothing", file=sys.stderr)
        tests += sound
    print(f"\n{len(tests)} tests of {sum(t.seconds for t in tests):.0f} s can judge", flush=True)
    return Watched(tests)


def observe_all(options: argparse.Namespace) -> Seen:
    """Evidence of every claim and the lines that it executes; each must be as recorded in the ledger."""
    ((_, names),) = everywhere([()], labels, processes=1, limit=MUTANT_SECONDS_MAX)
    if not isinstance(names, list):
        raise SystemExit(f"the claims do not load: {names or 'time limit'}")
    seen, jobs = Seen(), {(one,): one for one in names}
    for (label,), result in observations("observed", observe, jobs, options, digest()):
        if result is None or isinstance(result, Broken):
            raise SystemExit(f"{label} could not be observed: {result or 'time limit'}")
        if result.differences:
            raise SystemExit(f"{label} is not as recorded without any error planted: {result.differences[0]}")
        seen[label] = result
    return seen


@cache
def reasons() -> dict[str, str]:
    """Patterns of the keys of equivalent mutants, and why nothing could notice them."""
    return tomllib.loads(Path(__file__).with_name("equivalent.toml").read_text(encoding="utf-8"))


def explained(key: str) -> str:
    """Why nothing could notice an error, or nothing."""
    return next((why for pattern, why in reasons().items() if fnmatchcase(key, pattern)), "")


def main() -> None:
    options = parser_of("mutants", __doc__).parse_args()
    only = tuple(options.only.split(","))
    wanted = chosen(mutants(only))
    if options.sample:
        count = min(options.sample, len(wanted))
        wanted = [wanted[i * len(wanted) // count] for i in range(count)]
    part, parts = map(int, options.shard.split("/"))
    wanted = wanted[part - 1 :: parts]
    if options.list:
        print(*(m.key for m in wanted), sep="\n")
        return
    print(hardware())
    start = time.perf_counter()
    os.environ |= {"COVERAGE_CORE": "ctrace", "MPLBACKEND": "agg", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    os.environ |= {} if options.card else {"CUDA_VISIBLE_DEVICES": "", "TRITON_INTERPRET": "1"}
    os.chdir(ROOT)
    for name in SETTINGS["libraries"]:  # once, before forking; nothing of the project itself
        with contextlib.suppress(ImportError):  # no test that can judge uses a library that is missing
            importlib.import_module(name)
    gc.freeze()  # so that no process copies them
    if options.card:  # kernels are compiled before tests are timed, or the best judges take too long
        looking = "import sys, torch; sys.exit(not torch.cuda.is_available())"
        if subprocess.run([sys.executable, "-c", looking], check=False).returncode:
            raise SystemExit("--card needs a CUDA device, and none is here: leave it out")
        subprocess.run([sys.executable, "-m", "pytest", "-q", "-m", "gpu", "tests/empirics"], check=False)
    by_claims = any(m.module.startswith(("theory.", "proofs_check.")) for m in wanted)
    seen = observe_all(options) if by_claims else Seen()
    tests = watch_all(options, only)
    print(f"{len(wanted)} mutants, after {time.perf_counter() - start:.0f} s", flush=True)
    found = judged_all(wanted, seen, tests, options, start)
    if options.record:
        record(found, {m.key for m in chosen(mutants(("",)))})
    summary(found, time.perf_counter() - start, len(wanted))


def judged_all(
    wanted: list[Mutant], seen: Seen, tests: Watched, options: argparse.Namespace, start: float
) -> list[tuple[str, Judgement]]:
    """Judgements of the mutants, by module, and of the claims without each of their links."""
    done = {key: j for key, j in read(options.out if options.resume else None).items() if j.by}
    before = noticed()
    last = {m.key: before.get(mark_of(m.key), "") for m in wanted}
    found = [(m.module, done[m.key]) for m in wanted if m.key in done]

    def tell(module: str, judged: Judgement) -> None:
        found.append((module, judged))
        by = judged.by or "SURVIVED"
        print(f"{by:12} {judged.seconds:5.1f} s  {judged.key}  {judged.where}", flush=True)
        if options.out:
            with options.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(judged), ensure_ascii=False) + "\n")

    def remaining() -> float:
        return options.seconds - (time.perf_counter() - start)

    def sound(pairs: Iterator[tuple[Any, Any]]) -> Iterator[tuple[Mutant, Judgement]]:
        for (mutant, *_), result in pairs:
            if isinstance(result, Broken):
                raise SystemExit(f"the judge itself broke at {mutant.key}: {result}")
            yield mutant, result or Judgement(mutant.key, "time limit", seconds=limit)

    if not options.only and options.shard.startswith("1/"):
        for judged in (link for one in seen.values() for link in one.links):
            tell("claims' links", judged)
    jobs = []
    for m in (one for one in wanted if one.key not in done):
        if (reason := explained(m.key)) and not options.equivalent:
            tell(m.module, Judgement(m.key, "equivalent", reason))
            continue
        who, touching = last[m.key], tests.concerned(m.path, m.line, m.last)
        jobs.append((m, seen.concerned(m, who), touching, tests.named(who), options.patience))
    random.Random(0).shuffle(jobs)  # so that what comes before the time is up is a fair sample
    limit = MUTANT_SECONDS_MAX + 3 * max(options.patience - SETTINGS["options"]["patience"]["default"], 0)
    again, in_copies = [], []
    for job, result in loaded(jobs, options.jobs, limit, remaining()):
        if isinstance(result, Judgement) and result.by:
            tell(job[0].module, result)
        else:
            again.append(job)
    for mutant, judged in sound(
        everywhere(again, judge, processes=options.jobs, limit=limit, within=remaining())
    ):
        if not judged.by and (reason := explained(mutant.key)):
            tell(mutant.module, replace(judged, by="equivalent", where=reason))
        elif not judged.by and "::" in last[mutant.key]:
            in_copies.append((mutant, last[mutant.key], OBSERVATION_SECONDS_MAX))
        else:
            tell(mutant.module, judged)
    ever = float("inf")  # each has limits of its own
    copies = everywhere(in_copies, judge_in_copy, processes=options.jobs, limit=ever, within=remaining())
    for mutant, judged in sound(copies):
        tell(mutant.module, judged)
    return found


def mark_of(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:10]


def noticed() -> dict[str, str]:
    """What noticed each error in earlier runs, by its mark."""
    before = json.loads(NOTICED.read_text(encoding="utf-8"))
    return {mark: who for who, marks in before.items() for mark in marks}


def record(found: list[tuple[str, Judgement]], planted: set[str]) -> None:
    """Add to noticed.json what noticed each error now; errors that are no longer planted are dropped."""
    marks = {mark_of(key) for key in planted}
    now = {mark: who for mark, who in noticed().items() if mark in marks}
    kept = (one for _, one in found if one.where and one.by not in ("equivalent", "import"))
    now |= {mark_of(one.key): one.where for one in kept}
    told = {who: sorted(mark for mark in now if now[mark] == who) for who in sorted(set(now.values()))}
    lines = (f"{json.dumps(who, ensure_ascii=False)}: {json.dumps(those)}" for who, those in told.items())
    NOTICED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def read(path: Path | None) -> dict[str, Judgement]:
    """Judgements in a file of --out, by the mutant's key."""
    if not path or not path.exists():
        return {}
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {row["key"]: Judgement(**row) for row in rows}


def summary(found: list[tuple[str, Judgement]], seconds: float, wanted: int) -> None:
    """Print counts, survivors and a table by package; exit with status 1 if any survive."""
    counts = Counter(judged.by or "survived" for _, judged in found)
    left = wanted - sum(module != "claims' links" for module, _ in found)
    by_judge = ", ".join(f"{n} {by}" for by, n in counts.most_common())
    print(f"\n{len(found)} mutants in {seconds:.0f} s: {by_judge}")
    if left:
        print(f"{left} are left: run again with --resume")
    strong, real = sum(counts[by] for by in BY_MATHEMATICS), len(found) - counts["equivalent"]
    print(f"noticed by the claims' verdicts and evidence: {strong} of {real} that are not equivalent")
    print(*(f"survived: {judged.key}" for _, judged in found if not judged.by), sep="\n")
    print(f"\n{'package':28} {'planted':>8} {'noticed':>8} {'equivalent':>10} {'survived':>8}")
    packages: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for module, judged in found:
        parts = module.split(".")
        folder = parts[0] in ("proofs_check", "empirics") and len(parts) > 2
        packages[".".join(parts[: 1 + folder])][judged.by] += 1
    for name, ways in sorted(packages.items()):
        planted, same, survived = ways.total(), ways["equivalent"], ways[""]
        print(f"{name:28} {planted:8} {planted - same - survived:8} {same:10} {survived:8}")
    sys.exit(1 if counts["survived"] else 0)


if __name__ == "__main__":
    main()
