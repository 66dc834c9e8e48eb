"""python -m benchmarks.mutants [--only MODULE] [--jobs N] [--sample N | --every] [--out FILE [--resume]] [--last FILE]

Prints one line per mutant, those that nobody noticed, and a table by package: planted, noticed, equivalent, survived.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pickle
import random
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from dataclasses import asdict, replace
from fnmatch import fnmatchcase
from pathlib import Path

from benchmarks.hardware import hardware
from benchmarks.mutants.judge import (
    Broken,
    Coverage,
    Judgement,
    Observation,
    everywhere,
    judge,
    labels,
    load_libraries,
    observe,
)
from benchmarks.mutants.plant import ROOT, chosen, mutants
from benchmarks.mutants.watch import PATIENCE, Watched, digest, files, watch

EQUIVALENT = Path(__file__).with_name("equivalent.toml")
LIBRARIES = (
    "numpy", "scipy.optimize", "scipy.special", "sympy", "mpmath", "flint", "z3", "hypothesis", "PEPit", "cvxpy",
    "coverage", "pytest", "torch", "sklearn.linear_model", "pyarrow.parquet", "matplotlib.pyplot", "rich.console",
    "typer.testing", "latex2mathml.converter", "jinja2", "filelock", "flwr.app", "flwr.serverapp", "flwr.clientapp",
    "cryptography.hazmat.primitives.asymmetric.ec",
)  # fmt: skip
LIMIT = 150.0  # seconds a mutant, before it counts as noticed by its hanging
WATCHING = 500.0  # seconds for one claim, or for the tests of one part of a file, all together
STRONG = ("verdict", "evidence", "check broke", "import")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.mutants", description="Plant errors and see who notices."
    )
    parser.add_argument(
        "--only",
        help="only modules whose name begins so, separated by commas: theory.reuse.counts,proofs_check.claims",
    )
    parser.add_argument(
        "--card", action="store_true", help="on the graphics card, with the tests that need one"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument(
        "--every", action="store_true", help="every place, not one of each kind in each function"
    )
    parser.add_argument(
        "--unrecorded", action="store_true", help="measure by the tree as it is, not by the ledger"
    )
    parser.add_argument("--sample", type=int, help="only so many, evenly spread over all of them")
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="begin no mutant later than this after the start"
    )
    parser.add_argument("--shard", default="1/1", metavar="I/N", help="only the Ith of N equal parts")
    parser.add_argument(
        "--kept",
        type=Path,
        default=Path(tempfile.gettempdir()),
        help="folder for what was observed of the sound tree, taken again for as long as the tree stays so",
    )
    parser.add_argument("--list", action="store_true", help="list the mutants and do nothing")
    parser.add_argument("--grep", default="", help="only mutants whose key contains this")
    parser.add_argument(
        "--out", type=Path, help="also append each judgement to this file, a JSON object a line"
    )
    parser.add_argument(
        "--last", type=Path, help="the --out of an earlier run: who noticed an error then is asked first"
    )
    parser.add_argument(
        "--resume", action="store_true", help="skip what --out already holds, but for what survived"
    )
    parser.add_argument(
        "--patience",
        type=float,
        default=PATIENCE,
        help="seconds of a processor for the tests of one mutant: with more, --resume looks longer at what survived",
    )
    return parser.parse_args()


def _watch_all(jobs: int, only: tuple[str, ...], kept: Path) -> Watched:
    """What each test executes, by the file."""
    folder = kept / f"acdpp-watched-{digest()}"
    folder.mkdir(parents=True, exist_ok=True)
    place = {job: folder / f"{job[0].replace('/', '-')}-{job[1]}-{job[2]}.pickle" for job in files(only)}
    missing = [job for job, path in place.items() if not path.exists()]
    for done, (job, result) in enumerate(everywhere(missing, watch, processes=jobs, limit=WATCHING), start=1):
        if not isinstance(result, tuple):
            print(
                f"\n{job[0]} could not be watched: {result.why if result else 'time limit'}", file=sys.stderr
            )
            result = [], []
        for name in result[1]:
            print(f"\n{name} fails without any error planted, and judges nothing", file=sys.stderr)
        place[job].write_bytes(pickle.dumps(result[0]))
        print(f"\rwatching {done}/{len(missing)} files of tests", end="", file=sys.stderr, flush=True)
    watched = Watched([test for path in place.values() for test in pickle.loads(path.read_bytes())])
    print(
        f"\n{len(watched.tests)} tests of {sum(t.seconds for t in watched.tests):.0f} s can judge", flush=True
    )
    return watched


def _observe_all(jobs: int, unrecorded: bool, kept: Path) -> Coverage:
    """What each claim says and executes; all must be as recorded, or the ledger is no measure."""
    ((_, names),) = everywhere([()], labels, processes=1, limit=LIMIT)
    if not isinstance(names, list):
        raise SystemExit(f"the claims do not load: {names.why if names else 'time limit'}")
    folder = kept / f"acdpp-observed-{_digest()}"
    folder.mkdir(parents=True, exist_ok=True)
    place = {label: folder / f"{label.replace('/', '-')}.pickle" for label in names}
    missing = [(label,) for label in names if not place[label].exists()]
    for done, ((label,), result) in enumerate(
        everywhere(missing, observe, processes=jobs, limit=WATCHING), start=1
    ):
        if not isinstance(result, Observation):
            raise SystemExit(f"{label} could not be observed: {result.why if result else 'time limit'}")
        place[label].write_bytes(pickle.dumps(result))
        print(f"\robserving {done}/{len(missing)} claims", end="", file=sys.stderr, flush=True)
    seen: dict[str, Observation] = {label: pickle.loads(place[label].read_bytes()) for label in names}
    for label, observation in seen.items():
        if observation.differences and not unrecorded:
            raise SystemExit(
                f"{label} is not as recorded without any error planted: {observation.differences[0]}"
            )
    return Coverage(seen)


def _digest() -> str:
    """Of everything that a claim can depend on: what was observed of a tree is kept for as long as it stays so."""
    digest = hashlib.sha256()
    for folder in ("theory", "proofs_check", "benchmarks/mutants"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    digest.update((ROOT / "proofs_check" / "ledger.json").read_bytes())
    return digest.hexdigest()[:16]


def _card() -> bool:
    """In a process of its own: one that has looked for a card cannot be forked to use it."""
    import torch

    return bool(torch.cuda.is_available())


def main() -> None:
    options = _options()
    only = tuple((options.only or "").split(","))
    every = mutants(only)
    wanted = [m for m in (every if options.every else chosen(every)) if options.grep in m.key]
    if options.sample:
        wanted = [wanted[i * len(wanted) // options.sample] for i in range(min(options.sample, len(wanted)))]
    part, parts = map(int, options.shard.split("/"))
    wanted = wanted[part - 1 :: parts]
    if options.list:
        print(*(m.key for m in wanted), sep="\n")
        return
    done = {key: j for key, j in _judged(options.out if options.resume else None).items() if j.by}
    if options.last and not options.last.exists():
        raise SystemExit(f"--last {options.last} is not there: give the --out of an earlier run")
    last = {key: j.where for key, j in _judged(options.last).items()}
    print(hardware())
    start = time.perf_counter()
    os.environ |= {"COVERAGE_CORE": "ctrace", "MPLBACKEND": "agg"}
    os.environ |= {} if options.card else {"CUDA_VISIBLE_DEVICES": "", "TRITON_INTERPRET": "1"}
    os.chdir(ROOT)
    load_libraries(LIBRARIES)
    if options.card and [there for _, there in everywhere([()], _card, processes=1, limit=LIMIT)] != [True]:
        raise SystemExit("--card needs a CUDA device, and none is here: leave it out")
    if options.card:  # kernels are compiled before tests are timed, or the best judges take too long
        subprocess.run([sys.executable, "-m", "pytest", "-q", "-m", "gpu", "tests/empirics"], check=False)
    by_claims = any(m.module.startswith(("theory.", "proofs_check.")) for m in wanted)
    seen = _observe_all(options.jobs, options.unrecorded, options.kept) if by_claims else Coverage({})
    tests = _watch_all(options.jobs, only, options.kept)
    print(f"{len(wanted)} mutants, after {time.perf_counter() - start:.0f} s", flush=True)
    reasons = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")) if EQUIVALENT.exists() else {}
    jobs = [
        (
            m,
            seen.concerned(m, who),
            tests.concerned(m.path, m.line, m.last),
            tests.named(who),
            options.patience,
        )
        for m in wanted
        if m.key not in done
        for who in [last.get(m.key, "")]
    ]
    random.Random(0).shuffle(jobs)  # so that what comes before the time is up is a fair sample
    found = [(m.module, done[m.key]) for m in wanted if m.key in done]
    for judged in (
        () if options.only or options.grep or part > 1 else (j for o in seen.seen.values() for j in o.links)
    ):
        found.append(("claims' links", judged))
        _tell(judged, options.out)
    limit = LIMIT + 3 * (options.patience - PATIENCE)
    left = options.seconds - (time.perf_counter() - start)
    for (mutant, *_), result in everywhere(jobs, judge, processes=options.jobs, limit=limit, within=left):
        if isinstance(result, Broken):
            raise SystemExit(f"the judge itself broke at {mutant.key}: {result.why}")
        judged = result or Judgement(mutant.key, "time limit", seconds=limit)
        reason = next((why for pattern, why in reasons.items() if fnmatchcase(mutant.key, pattern)), "")
        if not judged.by and reason:
            judged = replace(judged, by="equivalent", where=reason)
        found.append((mutant.module, judged))
        _tell(judged, options.out)
    _summary(found, time.perf_counter() - start)


def _judged(path: Path | None) -> dict[str, Judgement]:
    """What a file of --out holds, by the mutant's key."""
    if not path or not path.exists():
        return {}
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {row["key"]: Judgement(**row) for row in rows}


def _tell(judged: Judgement, out: Path | None) -> None:
    print(f"{judged.by or 'SURVIVED':12} {judged.seconds:5.1f} s  {judged.key}  {judged.where}", flush=True)
    if out:
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(judged), ensure_ascii=False) + "\n")


def _package(module: str) -> str:
    """Of the proofs and the experiments also the folder."""
    parts = module.split(".")
    deep = parts[0] in ("proofs_check", "empirics") and len(parts) > 2
    return ".".join(parts[: 1 + deep])


def _summary(all_: list[tuple[str, Judgement]], seconds: float) -> None:
    found = [judged for _, judged in all_]
    counts = Counter(j.by or "survived" for j in found)
    real = len(found) - counts["equivalent"]
    print(
        f"\n{len(found)} mutants in {seconds:.0f} s: "
        + ", ".join(f"{n} {by}" for by, n in counts.most_common())
    )
    strong = sum(counts[by] for by in STRONG)
    print(f"noticed by the claims' verdicts and evidence: {strong} of {real} that are not equivalent")
    for j in found:
        if not j.by:
            print(f"survived: {j.key}")
    print(f"\n{'package':28} {'planted':>8} {'noticed':>8} {'equivalent':>10} {'survived':>8}")
    for package in sorted({_package(module) for module, _ in all_}):
        ways = Counter(j.by for module, j in all_ if _package(module) == package)
        planted, same, survived = ways.total(), ways["equivalent"], ways[""]
        print(f"{package:28} {planted:8} {planted - same - survived:8} {same:10} {survived:8}")
    sys.exit(1 if counts["survived"] else 0)


if __name__ == "__main__":
    main()
