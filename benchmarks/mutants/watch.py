"""Lines that each test executes: every test is run once on the sound tree, each part of a file in its own process.

Left out are tests that start a process (a browser, a build, a notebook, a command), since they would not see an error
that stands in this process alone, tests marked slow or gpu, and tests that fail or take too long.
"""

import ast
import contextlib
import hashlib
import io
import multiprocessing.process
import os
import signal
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest

from benchmarks.mutants.plant import ROOT, SETTINGS, sources

# processor seconds
TEST_SECONDS_MAX = 12.0  # a test that takes longer, under observation, judges nothing
PART_SECONDS_MAX = 100.0  # tests of a part of a file that come later judge nothing
QUICK_SECONDS = 0.1  # tests that take less are asked before all others, whichever file they are in
PART_LINES = 150  # of a test file that one process runs
QUIET = ["-q", "--no-header", "--tb=no", "-m", "not slow", "-pno:cacheprovider", "-pno:xdist"]
QUIET += ["-pno:hypothesispytest", "-pno:unraisableexception"]  # it collects garbage
QUIET += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # libraries came before pytest


@dataclass(frozen=True)
class Test:
    """One test: its file, its seconds, and by file the lines that it executes, as the bits of a number."""

    __test__ = False
    id: str
    file: str
    seconds: float
    lines: dict[str, int]


Batch = tuple[str, dict[str, float]]  # a file and, of its tests, the seconds by name


class Watched:
    """All tests, by what they execute."""

    def __init__(self, tests: list[Test]) -> None:
        self.tests = sorted(tests, key=lambda test: test.seconds)

    def named(self, name: str) -> list[Batch]:
        return [(test.file, {name: test.seconds}) for test in self.tests if test.id == name]

    def concerned(self, path: str, first: int, last: int) -> list[Batch]:
        """First the tests that execute one of the lines, then those beside them: a cache may have kept them from it.

        Of either, quick ones come first, since a test of a function by itself is quick; then records, which notice
        most; of files the one that mirrors the module comes first, then the one with the quickest test.
        """
        touched = (1 << (last + 1)) - (1 << first)
        own = f"tests/{Path(path).with_name(f'test_{Path(path).name}')}"
        hit = {test.id for test in self.tests if test.lines.get(path, 0) & touched}
        near = {test.file for test in self.tests if test.id in hit}
        found: dict[tuple[bool, int, bool, str], Batch] = {}
        for test in self.tests:
            if test.file in near:
                turn = 0 if test.seconds < QUICK_SECONDS else 1 if "recorded" in test.file else 2
                key = test.id not in hit, turn, test.file != own, test.file
                found.setdefault(key, (test.file, {}))[1][test.id] = test.seconds
        return [found[key] for key in sorted(found, key=lambda key: key[:3])]


def files(only: tuple[str, ...] = ("",)) -> list[tuple[str, int, int]]:
    """Files to run, as (file, part, number of parts): tests, then modules with doctests, the longest first.

    Where only some modules are asked for, the tests of their package or folder alone.
    """
    begin, out = tuple(prefix.replace(".", "/") for prefix in only), tuple(SETTINGS["tests_left_out"])
    tests = {path for prefix in only for path in _folder(prefix).rglob("test_*.py")}
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in tests}
    kept = {name: text for name, text in texts.items() if not name.startswith(out)}
    parts = {name: len(text.splitlines()) // PART_LINES + 1 for name, text in kept.items()}
    texts |= sources()
    parts |= dict.fromkeys((one for one in sources() if one.startswith(begin) and ">>> " in texts[one]), 1)
    longest = sorted(parts, key=lambda name: (not name.startswith("tests/"), -len(texts[name]), name))
    return [(name, part, parts[name]) for name in longest for part in range(parts[name])]


def _folder(prefix: str) -> Path:
    """The folder with the tests of the modules whose name begins so."""
    folder = ROOT / "tests"
    for name in prefix.split("."):
        folder = folder / name if (folder / name).is_dir() else folder
    return folder


def digest(*more: str) -> str:
    """A digest of everything that a claim can depend on, and of more folders."""
    folders = ("theory", "proofs_check", "benchmarks/mutants", *more)
    paths = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    every = b"".join(path.read_bytes() for path in [*paths, ROOT / "proofs_check" / "ledger.json"])
    return hashlib.sha256(every).hexdigest()[:16]


def _left_out(why: str) -> None:
    if _Run.testing and threading.current_thread() is threading.main_thread():
        pytest.skip(why)


def _no_processes() -> None:
    """From here on, a test that starts a process is skipped at that place."""
    if os.environ.get("CUDA_VISIBLE_DEVICES") != "":
        return  # a card's kernels are compiled in processes
    starting = multiprocessing.process.BaseProcess.start

    def seen(event: str, _: Any) -> None:
        if event in ("subprocess.Popen", "os.fork", "os.posix_spawn", "os.system"):
            _left_out("starts a process")

    def start(process: Any) -> None:
        _left_out("starts a process")
        starting(process)

    sys.addaudithook(seen)
    multiprocessing.process.BaseProcess.start = start


@dataclass(eq=False)
class _Run:
    """A plugin: chooses and orders the tests, stops each one in time, and keeps what became of it."""

    choose: Callable[[list[pytest.Item]], list[pytest.Item]]
    limit: Callable[[str], float]
    stopped: Callable[[], None]
    started: Callable[[str], None] = lambda _: None
    until: float = float("inf")
    seconds: Counter[str] = field(default_factory=Counter)
    passed: set[str] = field(default_factory=set)
    failed: list[str] = field(default_factory=list)
    testing: ClassVar[bool] = False

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = self.choose(items)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.started(nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[Any]:
        """Processor time: what a test takes must not depend on what runs beside it."""
        start, _Run.testing = time.process_time(), True
        signal.signal(signal.SIGPROF, lambda *_: self.stopped())
        signal.setitimer(signal.ITIMER_PROF, self.limit(item.nodeid))
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            _Run.testing = False
            self.seconds[item.nodeid] += time.process_time() - start
            if time.process_time() > self.until:
                item.session.shouldstop = "the budget is spent"

    pytest_runtest_setup = pytest_runtest_call

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.append(report.nodeid)
        elif report.when == "call" and report.passed:
            self.passed.add(report.nodeid)

    pytest_collectreport = pytest_runtest_logreport

    def __call__(self, file: str, *more: str) -> None:
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            code = pytest.main([str(ROOT / file), *QUIET, *more, f"--basetemp={folder}/t"], plugins=[self])
        if code == pytest.ExitCode.INTERNAL_ERROR:
            self.failed.append(file)


def watch(file: str, part: int, parts: int) -> tuple[list[Test], list[str]]:
    """The tests of one part of a file that can judge, and the names of those that fail."""
    import coverage

    sources = [str(ROOT / name) for name in (*SETTINGS["packages"], "acdpp")]
    watcher = coverage.Coverage(data_file=None, source=sources)
    _no_processes()
    run = _Run(
        choose=lambda items: items[part::parts],
        limit=lambda _: TEST_SECONDS_MAX,
        stopped=lambda: _left_out("takes too long"),
        started=watcher.switch_context,
        until=time.process_time() + PART_SECONDS_MAX,
    )
    watcher.start()
    run(file)
    watcher.stop()
    data = watcher.get_data()
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for name in data.measured_files():
        if not name.endswith(".py"):  # a template
            continue
        path, inside = str(Path(name).relative_to(ROOT)), bodies(Path(name))
        for line, contexts in data.contexts_by_lineno(name).items():
            for test in contexts if line in inside else ():
                found[test][path] |= 1 << line
    sound = run.passed - set(run.failed)
    return [Test(i, file, run.seconds[i], found[i]) for i in sound], run.failed


def collect(files: list[str]) -> None:
    """Load test files, and with them what they test, as pytest does."""
    _Run(lambda items: [], lambda _: 0.0, lambda: None)(files[0], "--collect-only", *map(str, files[1:]))


def noticing(batches: list[Batch], patience: float) -> str:
    """The first of these tests that fails, in this very process, which has the error in it; or nothing."""
    if batches:
        _no_processes()
    until = time.process_time() + patience
    for file, seconds in batches:
        if time.process_time() > until:
            return ""

        def choose(items: list[pytest.Item], order: dict[str, float] = seconds) -> list[pytest.Item]:
            return sorted((i for i in items if i.nodeid in order), key=lambda item: order[item.nodeid])

        limit, stopped = lambda test, of=seconds: 10 * of[test] + 5, lambda: pytest.fail("takes too long")
        run = _Run(choose, limit, stopped, until=until)
        run(file, "-x")
        if run.failed:
            return run.failed[0]
    return ""


def bodies(path: Path) -> set[int]:
    """The lines inside functions: what an import alone does not execute."""
    found: set[int] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            first = node.body[0] if isinstance(node, ast.FunctionDef) else node.body
            found |= set(range(first.lineno, (node.end_lineno or first.lineno) + 1))
    return found
