"""Judges of an error: the claims that execute the broken lines, then the tests that do.

Each mutant is judged in a process of its own. At first it is forked from one that has loaded the project and its
tests, and the broken function's code is exchanged there, which takes a fraction of a second. What that does not notice
is judged again from a process that has loaded nothing of the project, so that the broken module is imported as if it
stood on disk. What that does not notice either is tried on the test that noticed it in an earlier run, in a copy of
the tree that has the error on disk: a slow test, or one that starts programs. Claims come first, the quickest first.
What they say is compared with the ledger: evidence or a verdict that changed, a check that broke, a text that changed.
"""

import ast
import contextlib
import gc
import importlib.abc
import importlib.util
import multiprocessing.connection
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from benchmarks.mutants.plant import OF_THE_CLAIMS, ROOT, Mutant, planted
from benchmarks.mutants.watch import Batch, bodies, collect, noticing

GRACE_SECONDS = 30.0  # for processes that are running when the time is up
QUICK_SECONDS = 1.0  # claims that take less are asked before the tests, all others after them
Entries = tuple[list[bytes], list[bytes]]  # of quick claims, and of the others


class Broken(str):
    """The error of a process whose work failed."""


@dataclass(frozen=True)
class Judgement:
    """`by` is "verdict", "evidence", "check broke" or "text" (of a claim), "test", "import" (the tree does not load),
    "time limit", "equivalent", or empty if nothing noticed."""

    key: str
    by: str
    where: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Observation:
    """A claim of the sound tree: its entry (pickled: this process knows no such class), differences from the ledger,
    seconds, executed lines, and judgements of the claim without each link, hypothesis or formula."""

    entry: bytes
    differences: list[str]
    seconds: float
    lines: dict[str, set[int]]
    links: list[Judgement]


class Seen(dict[str, Observation]):
    """Observations by the claim's id."""

    def concerned(self, mutant: Mutant, last: str) -> Entries:
        """The entries of the claims that execute a line of the mutant or have it in their text: quick ones, others.

        First the one that noticed it the last time, then the quickest.
        """
        touched, hit = set(range(mutant.line, mutant.last + 1)), {}
        for label, one in self.items():
            lines = one.lines.get(mutant.path, set())
            if lines & touched or mutant.function == label or (mutant.function == "module" and lines):
                hit[label] = one
        asked = [hit[label] for label in sorted(hit, key=lambda name: (name != last, hit[name].seconds))]
        quick = [o.entry for o in asked if o.seconds < QUICK_SECONDS]
        return quick, [o.entry for o in asked if o.seconds >= QUICK_SECONDS]


def everywhere(
    jobs: list[Any], work: Callable[..., Any], *, processes: int, limit: float, within: float = float("inf")
) -> Iterator[tuple[Any, Any]]:
    """Run `work(*job)` in a forked process for each job, some at a time; pairs (job, result) as they come.

    The result is None if the process died or reached the time limit. No job begins later than `within` seconds, and
    jobs that are not done soon after that are left out.
    """
    end = time.monotonic() + within
    context = multiprocessing.get_context("fork")
    waiting, running = list(reversed(jobs)), {}
    while waiting or running:
        if time.monotonic() > end:
            waiting.clear()
        if time.monotonic() > end + GRACE_SECONDS:
            for process, _, _ in running.values():
                process.kill()
            return
        while waiting and len(running) < processes:
            job = waiting.pop()
            here, there = context.Pipe(duplex=False)
            process = context.Process(target=_send, args=(there, work, job))
            process.start()
            there.close()
            running[here] = (process, job, time.monotonic() + limit)
        ready = multiprocessing.connection.wait(list(running), timeout=1)
        late = [c for c, (_, _, due) in running.items() if c not in ready and time.monotonic() > due]
        for connection in [*ready, *late]:
            process, job, _ = running.pop(connection)
            result = None
            if connection in ready:
                with contextlib.suppress(EOFError):
                    result = connection.recv()
            process.kill()  # a thread that a test left would keep it
            process.join()
            connection.close()
            yield job, result


def _send(connection: Any, work: Callable[..., Any], job: tuple[Any, ...]) -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    try:
        connection.send(work(*job))
    except Exception as error:
        connection.send(Broken(f"{type(error).__name__}: {error}"))


class _Planted(importlib.abc.MetaPathFinder, importlib.abc.ExecutionLoader):
    """Finds one module, whose source is the given one; no compiled copy is read or kept."""

    def __init__(self, module: str, path: Path, source: str) -> None:
        self.module, self.path, self.source = module, path, source

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if fullname != self.module:
            return None
        return importlib.util.spec_from_file_location(fullname, self.path, loader=self)

    def get_filename(self, fullname: str) -> str:
        return str(self.path)

    def get_source(self, fullname: str) -> str:
        return self.source


def judge_in_copy(mutant: Mutant, test: str, limit: float) -> Judgement:
    """Whether one test, slow or not, passes in a copy of the tree within the limit, and not with the error on disk."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".*", "__pycache__"), symlinks=True)
        words = [sys.executable, "-m", "pytest", "-q", "-m", "slow or not slow", test]

        def ends(limit: float) -> int | None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return subprocess.run(words, cwd=tree, env=env, timeout=limit, check=False).returncode

        env, by = os.environ | {"PYTHONPATH": str(tree)}, ""
        if ends(limit) == 0:
            (tree / mutant.path).write_text(planted(mutant), encoding="utf-8")
            again = 3 * (time.perf_counter() - start) + GRACE_SECONDS
            by = {1: "test", None: "time limit"}.get(ends(again), "")  # others are no failure of the test
    return Judgement(mutant.key, by, test if by else "", time.perf_counter() - start)


Places = dict[tuple[str, str, int], list[FunctionType]]  # functions by file, qualified name and first line


def loaded(jobs: list[Any], processes: int, limit: float, within: float) -> Iterator[tuple[Any, Any]]:
    """Like `everywhere` with `exchanged`, from a process that has loaded the tests of the jobs."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)

    def work() -> None:
        collect(sorted({file for _, _, tests, *_ in jobs for file, _ in tests}))
        places = functions()
        gc.freeze()
        both = [(places, *job) for job in jobs]
        for (_, *job), result in everywhere(both, exchanged, processes=processes, limit=limit, within=within):
            there.send((job[0].key, result))
        there.send(None)

    process = context.Process(target=work)
    process.start()
    there.close()
    by_key = {job[0].key: job for job in jobs}
    while (pair := here.recv()) is not None:
        yield by_key[pair[0]], pair[1]
    process.join()


def functions() -> Places:
    """All functions of the project that this process has loaded."""
    found: Places = {}
    gc.unfreeze()  # what pytest has collected is frozen, and not listed
    for one in gc.get_objects():
        if type(one) is FunctionType and one.__code__.co_filename.startswith(str(ROOT)):
            found.setdefault(_place(one.__code__), []).append(one)
    return found


def _place(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Functions of a module and methods of its classes, in their order."""
    for one in (const for const in code.co_consts if isinstance(const, CodeType)):
        yield from [one] if one.co_flags & 1 else _codes(one)  # a class body has no fast locals


def _bare(code: CodeType) -> CodeType:
    """The same without its lines, which an error further up shifts."""
    within = tuple(_bare(one) if isinstance(one, CodeType) else one for one in code.co_consts)
    return code.replace(co_firstlineno=1, co_linetable=b"", co_consts=within)


def exchange(places: Places, mutant: Mutant, source: str) -> bool:
    """Give the error to the function that has it, in this process; False where that is not all it changes."""
    path = ROOT / mutant.path
    text = path.read_text(encoding="utf-8")
    versions = (text, ast.unparse(ast.parse(text)), source)
    disk, sound, broken = (list(_codes(compile(one, str(path), "exec"))) for one in versions)
    if len(sound) != len(broken):
        return False
    changed = [i for i, code in enumerate(sound) if _bare(code) != _bare(broken[i])]
    concerned = places.get(_place(disk[changed[0]]), []) if len(changed) == 1 else []
    for function in concerned:
        if function.__code__.co_freevars != broken[changed[0]].co_freevars:
            return False
        function.__code__ = broken[changed[0]].replace(co_firstlineno=disk[changed[0]].co_firstlineno)
    return bool(concerned)


def exchanged(places: Places, mutant: Mutant, *others: Any) -> Judgement | None:
    """The judgement after an exchange of code, or None where none is possible. Claims are loaded anew."""
    if not exchange(places, mutant, planted(mutant)):
        return None
    for name in [name for name in sys.modules if name.startswith((*OF_THE_CLAIMS, "proofs_check.registry"))]:
        del sys.modules[name]
    return judge(mutant, *others)


def labels() -> list[str]:
    from proofs_check.registry import registry

    return [claim.id for claim in registry()]


def observe(label: str) -> Observation:
    """Run a claim as it is, and then without each of the things that it leans on."""
    import coverage

    watcher = coverage.Coverage(data_file=None, source=[str(ROOT / "theory"), str(ROOT / "proofs_check")])
    from proofs_check import ledger
    from proofs_check.claim import decide

    claim = _claim(label)  # loaded before the watching starts: to write its texts executes half of the theory
    watcher.start()
    start = time.perf_counter()
    case = decide(claim)
    seconds = time.perf_counter() - start
    watcher.stop()
    data = watcher.get_data()
    measured = {Path(file): set(data.lines(file) or ()) for file in data.measured_files()}
    lines = {str(path.relative_to(ROOT)): found & bodies(path) for path, found in measured.items()}
    differences = ledger.differences([case], ledger.read())
    sealed = pickle.dumps(ledger.entry(case))
    return Observation(sealed, differences, seconds, lines, list(_without(case)))


def _claim(label: str) -> Any:
    """From its own file: the others would take longer to load than most claims to decide."""
    from proofs_check.registry import labelled

    (claim,) = [c for c in labelled([label]) if c.id == label]
    return claim


def _without(case: Any) -> Iterator[Judgement]:
    """The claim without one check, one hypothesis, one thing given, or with another formula."""
    from proofs_check import ledger
    from proofs_check.claim import CheckError

    claim, recorded = case.claim, [ledger.entry(case)]

    def changed(owner: Any, fields: dict[str, Any]) -> Any:
        new = replace(owner, **fields)
        if owner is case:
            return new
        return replace(case, claim=new if owner is claim else replace(claim, corrected=new))

    def noticed(name: str, owner: Any, **fields: Any) -> Judgement:
        try:
            by = _strongest(ledger.differences([changed(owner, fields)], recorded))
        except (CheckError, ValueError):
            by = "check broke"
        return Judgement(f"{claim.id}: {name}", by, claim.id)

    for role in ("stated", "hypotheses", "corrected"):
        evidence = getattr(case, role)
        for i, e in enumerate(evidence):
            name = f"link deleted: {role}, {e.part or 'whole'}, {e.method} ({i + 1})"
            yield noticed(name, case, **{role: evidence[:i] + evidence[i + 1 :]})
    for of, owner in (("claim", claim), ("corrected", claim.corrected)):
        if owner is None:
            continue
        for part in ("hypotheses", "given"):
            values = getattr(owner, part)
            for i in range(len(values)):
                fewer = values[:i] + values[i + 1 :]
                yield noticed(f"{part} dropped: {of} ({i + 1})", owner, **{part: fewer})
        yield noticed(f"formula altered: {of}", owner, formula="2" + owner.formula)


def _strongest(differences: list[str]) -> str:
    """The strongest way in which a claim differs from the ledger, or nothing."""
    said = "\n".join(differences)
    if "recorded as" in said:
        return "verdict"
    if "evidence" in said:
        return "evidence"
    return "text" if said else ""


def judge(
    mutant: Mutant, entries: Entries, tests: list[Batch], last: list[Batch], patience: float
) -> Judgement:
    """Ask the test that noticed the error last time, quick claims, the other tests, the other claims.

    A text that changed is a weaker notice than a verdict or evidence: all claims are asked before it counts.
    """
    start = time.perf_counter()

    def found(by: str, where: str = "") -> Judgement:
        return Judgement(mutant.key, by, where, time.perf_counter() - start)

    sys.meta_path.insert(0, _Planted(mutant.module, ROOT / mutant.path, planted(mutant)))
    sys.dont_write_bytecode = True
    try:
        importlib.import_module(mutant.module)  # if no claim uses it, pytest would load it from disk
    except Exception as error:
        return found("import", f"{type(error).__name__}: {error}"[:120])
    text = ""

    def claims(some: list[bytes]) -> Judgement | None:
        nonlocal text
        for entry in map(pickle.loads, some):
            from proofs_check import ledger
            from proofs_check.claim import CheckError, decide

            try:
                claim = _claim(entry.id)
            except Exception as error:
                return found("import", f"{type(error).__name__}: {error}"[:120])
            try:
                by = _strongest(ledger.differences([decide(claim)], [entry]))
            except CheckError:
                by = "check broke"
            if by not in ("text", ""):
                return found(by, entry.id)
            text = text or (by and entry.id)
        return None

    quick, others = entries
    noticed = found("test", test) if (test := noticing(last, patience)) else claims(quick)
    if noticed is None and not text and (test := noticing(tests, patience)):
        noticed = found("test", test)
    noticed = noticed or claims(others)
    return noticed or found("text" if text else "", text)
