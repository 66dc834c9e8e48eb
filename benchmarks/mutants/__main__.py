"""python -m benchmarks.mutants [--only MODULE] [--jobs N] [--sample N | --every] [--out FILE [--resume]]

Prints one line a mutant and a table: killed, survived, equivalent (with the reason).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
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
from benchmarks.mutants.plant import ROOT, Mutant, mutants_of_claims, mutants_of_theory

EQUIVALENT = Path(__file__).with_name("equivalent.toml")
LIBRARIES = (
    "numpy", "scipy.optimize", "scipy.special", "sympy", "mpmath", "flint", "z3", "hypothesis", "PEPit", "cvxpy",
    "coverage", "pytest",
)  # fmt: skip
LIMIT = 150.0  # seconds a mutant, before it counts as noticed by its hanging
TESTS = ROOT / "tests" / "theory"
ELSEWHERE = {  # tests that stand under another name
    "constant_admission": (TESTS / "test_bound.py",),
    "sharper": (TESTS / "test_bound.py",),
    "penalty": (TESTS / "test_regret.py", TESTS / "test_region.py"),
}
STRONG = ("verdict", "evidence", "check broke", "import")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.mutants", description="Plant errors and see who notices."
    )
    parser.add_argument(
        "--only", help="only modules whose name begins so, such as theory.reuse or proofs_check.claims"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument(
        "--every", action="store_true", help="every place, not one of each kind in each function"
    )
    parser.add_argument(
        "--unrecorded", action="store_true", help="measure by the tree as it is, not by the ledger"
    )
    parser.add_argument("--sample", type=int, help="only so many, evenly spread over all of them")
    parser.add_argument("--list", action="store_true", help="list the mutants and do nothing")
    parser.add_argument("--grep", default="", help="only mutants whose key contains this")
    parser.add_argument(
        "--out", type=Path, help="also append each judgement to this file, a JSON object a line"
    )
    parser.add_argument("--resume", action="store_true", help="skip what --out already holds")
    return parser.parse_args()


def _chosen(mutants: list[Mutant], every: bool) -> list[Mutant]:
    """All; or, in the theory, one of each kind in each function: the last place."""
    if every:
        return mutants
    last = {
        (m.module, m.function, m.kind, m.before if m.kind == "premise dropped" else ""): m for m in mutants
    }
    kept = set(last.values())
    return [m for m in mutants if m in kept]


def _tests(mutant: Mutant) -> list[list[str]]:
    """The doctests of the module, its own tests, and what every formula is asked."""
    if not mutant.module.startswith("theory."):
        return []
    name, folder = mutant.module.removeprefix("theory."), ROOT / "tests" / "theory"
    own = [[str(path)] for path in (folder / f"test_{name}.py", *ELSEWHERE.get(name, ())) if path.exists()]
    return [
        ["--doctest-modules", str(ROOT / mutant.path)],
        *own,
        ["-k", name, str(folder / "test_every_algebra.py")],
    ]


def _observe_all(jobs: int, unrecorded: bool) -> Coverage:
    """What each claim says and executes; all must be as recorded, or the ledger is no measure."""
    kept = Path(tempfile.gettempdir()) / f"acdpp-mutants-{_digest()}.pickle"
    if not kept.exists():
        kept.write_bytes(pickle.dumps(_observed(jobs)))
    seen: dict[str, Observation] = pickle.loads(kept.read_bytes())
    for label, observation in seen.items():
        if observation.differences and not unrecorded:
            raise SystemExit(
                f"{label} is not as recorded without any error planted: {observation.differences[0]}"
            )
    return Coverage(seen)


def _observed(jobs: int) -> dict[str, Observation]:
    ((_, names),) = everywhere([()], labels, processes=1, limit=LIMIT)
    if not isinstance(names, list):
        raise SystemExit(f"the claims do not load: {names.why if names else 'time limit'}")
    seen: dict[str, Observation] = {}
    for (label,), result in everywhere([(label,) for label in names], observe, processes=jobs, limit=LIMIT):
        if not isinstance(result, Observation):
            raise SystemExit(f"{label} could not be observed: {result.why if result else 'time limit'}")
        seen[label] = result
        print(f"\robserving {len(seen)}/{len(names)} claims", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return {label: seen[label] for label in names}


def _digest() -> str:
    """Of everything that a claim can depend on: what was observed of a tree is kept for as long as it stays so."""
    digest = hashlib.sha256()
    for folder in ("theory", "proofs_check", "benchmarks/mutants"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    digest.update((ROOT / "proofs_check" / "ledger.json").read_bytes())
    return digest.hexdigest()[:16]


def main() -> None:
    options = _options()
    mutants = [*_chosen(mutants_of_theory(), options.every), *_chosen(mutants_of_claims(), options.every)]
    mutants = [m for m in mutants if m.module.startswith(options.only or "") and options.grep in m.key]
    if options.sample:
        mutants = [
            mutants[i * len(mutants) // options.sample] for i in range(min(options.sample, len(mutants)))
        ]
    if options.list:
        print(*(m.key for m in mutants), sep="\n")
        return
    done: dict[str, Judgement] = {}
    if options.out and options.out.exists() and options.resume:
        rows = map(json.loads, options.out.read_text(encoding="utf-8").splitlines())
        done = {row["key"]: Judgement(**row) for row in rows if row["by"]}
    print(hardware())
    start = time.perf_counter()
    load_libraries(LIBRARIES)
    seen = _observe_all(options.jobs, options.unrecorded)
    reasons = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")) if EQUIVALENT.exists() else {}
    jobs = [(m, seen.concerned(m), _tests(m)) for m in mutants if m.key not in done]
    found = [done[m.key] for m in mutants if m.key in done]
    for judged in () if options.only or options.grep else (j for o in seen.seen.values() for j in o.links):
        found.append(judged)
        _tell(judged, judged.key, options.out)
    for (mutant, *_), result in everywhere(jobs, judge, processes=options.jobs, limit=LIMIT):
        if isinstance(result, Broken):
            raise SystemExit(f"the judge itself broke at {mutant.key}: {result.why}")
        judged = result or Judgement(mutant.key, "time limit", seconds=LIMIT)
        reason = next((why for pattern, why in reasons.items() if fnmatchcase(mutant.key, pattern)), "")
        if not judged.by and reason:
            judged = replace(judged, by="equivalent", where=reason)
        found.append(judged)
        print(
            f"{judged.by or 'SURVIVED':12} {judged.seconds:5.1f} s  {mutant.key}  {judged.where}", flush=True
        )
        if options.out:
            with options.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(judged), ensure_ascii=False) + "\n")
    _summary(found, time.perf_counter() - start)


def _tell(judged: Judgement, key: str, out: Path | None) -> None:
    print(f"{judged.by or 'SURVIVED':12} {judged.seconds:5.1f} s  {key}  {judged.where}", flush=True)
    if out:
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(judged), ensure_ascii=False) + "\n")


def _summary(found: list[Judgement], seconds: float) -> None:
    counts = Counter(j.by or "survived" for j in found)
    by_claims = sum(counts[by] for by in STRONG)
    real = len(found) - counts["equivalent"]
    print(
        f"\n{len(found)} mutants in {seconds:.0f} s: "
        + ", ".join(f"{n} {by}" for by, n in counts.most_common())
    )
    print(f"noticed by the claims' verdicts and evidence: {by_claims} of {real} that are not equivalent")
    for j in found:
        if not j.by:
            print(f"survived: {j.key}")
    sys.exit(1 if counts["survived"] else 0)


if __name__ == "__main__":
    main()
