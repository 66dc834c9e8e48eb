"""Printing for every command, on any kind of output: JSON, errors, notes, text, tables, numbers and progress bars."""

from __future__ import annotations

import codecs
import json
import math
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from textwrap import fill as fill_lines
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

__all__ = ["READING", "bar", "bar_on", "console", "count", "encode_leniently", "fail", "needed_for", "note"]
__all__ += ["pm", "print_json", "rounds_told", "say", "show_table", "told", "users_code", "with_error"]

FIRST_PROGRESS_SECONDS, PROGRESS_SECONDS = 3.0, 30.0  # until the first line of progress, and between lines
DEFAULT_COLUMNS = 80  # of a terminal that does not know its width
READING = "reading the data"
BELONGS = re.compile(r" (?=[=±≤<→×%]|- )|(?<=[=±≤<→×]) |(?<= -) ")  # blanks at which no line may end


def console(*, stderr: bool = False) -> Console:
    """A console; rich is loaded with the first call, so that a refused input does without it."""
    from rich.console import Console

    found = Console(highlight=False, emoji=False, stderr=stderr)
    if not found.width:
        found.width = DEFAULT_COLUMNS
    return found


def say(text: str, *, whole: bool = False, end: str = "\n") -> None:
    """Print text. No line ends within a name, nor between a number and its error or sign; with `whole` lines are not
    broken at all, so that they can be copied."""
    if not whole:
        fill = partial(fill_lines, width=console().width, break_long_words=False, break_on_hyphens=False)
        text = "\n".join(map(fill, BELONGS.sub("\N{NO-BREAK SPACE}", text).split("\n")))
        text = text.replace("\N{NO-BREAK SPACE}", " ")
    console().print(text, markup=False, soft_wrap=True, end=end)


def show_table(
    title: str,
    headings: Sequence[str],
    rows: Mapping[str, Sequence[str]] | Sequence[tuple[str, Sequence[str]]],
    of: str = "policy",
) -> None:
    """Print one row per policy, or per `of`. A name never breaks: a long name has its own line above its numbers, and
    numbers that do not fit beside each other stand below each other."""
    from rich.cells import cell_len

    room, listed = console().width, list(rows.items() if isinstance(rows, Mapping) else rows)
    columns = list(zip(headings, *(cells for _, cells in listed), strict=True))
    widths = [max(map(cell_len, column)) for column in columns]
    left = room - sum(widths) - 2 * len(widths) - 1  # for names, after a blank
    say(title)
    if left < cell_len(of):
        for name, cells in listed:
            say(f"{name}:")
            for heading, cell in zip(headings, cells, strict=True):
                say(f"  {heading}: {cell}")
        say("")
        return

    def line(name: str, cells: Sequence[str]) -> str:
        padded = (" " * (width - cell_len(cell)) + cell for cell, width in zip(cells, widths, strict=True))
        return "  ".join([f" {name}{' ' * (wide - cell_len(name))}", *padded])

    names = [of, *(name for name, _ in listed)]
    wide = max(length for length in map(cell_len, names) if length <= left)
    say(line(of, headings), whole=True)
    say(f" {'─' * (wide + sum(widths) + 2 * len(widths))}", whole=True)
    for name, cells in listed:
        if cell_len(name) > wide:
            say(f" {name}", whole=True)
        say(line(name if cell_len(name) <= wide else "", cells), whole=True)
    say("")


@contextmanager
def bar(
    what: str, of: int | None, *, quiet: bool = False, transient: bool = False
) -> Iterator[Callable[..., None]]:
    """A progress bar on a terminal; yields a function of `completed`, `advance`, `description` or `total`."""
    off = quiet or not sys.stderr.isatty()
    with bar_on(console(stderr=True), transient=transient, disable=off) as progress:
        yield partial(progress.update, progress.add_task(what, total=of))


@contextmanager
def told(
    what: str, of: int | None, *, quiet: bool = False, transient: bool = False
) -> Iterator[Callable[..., None]]:
    """A progress bar or, if standard error is no terminal, a line from time to time."""
    if sys.stderr.isatty():
        with bar(what, of, quiet=quiet, transient=transient) as update:
            yield update
        return
    now: dict[str, Any] = {"description": what, "completed": 0, "total": of}
    over, stream = Event(), sys.stderr

    def speak() -> None:
        pause = FIRST_PROGRESS_SECONDS
        while not over.wait(pause):
            pause = PROGRESS_SECONDS
            count = f", {now['completed']:,}" + (f" of {now['total']:,}" if now["total"] else "")
            with suppress(OSError, ValueError):  # the stream is closed
                print(
                    f"acdpp: {now['description']}{count if now['completed'] else ''}", file=stream, flush=True
                )

    speaker = Thread(target=speak, daemon=True)
    speaker.start()
    try:
        yield now.update
    finally:
        over.set()
        speaker.join()


@contextmanager
def rounds_told(rounds: int, *, quiet: bool, what: str = "rounds") -> Iterator[Callable[[int], None]]:
    """Progress of rounds; yields a function of the number of rounds done."""
    with told(what, rounds, quiet=quiet) as update:
        yield lambda done: update(completed=done)


def bar_on(console: Console, **options: Any) -> Progress:
    """A progress bar with counts and times."""
    from rich import progress as shown

    words, times = (
        shown.TextColumn("{task.description}"),
        (shown.TimeElapsedColumn(), shown.TimeRemainingColumn()),
    )
    columns = (words, shown.BarColumn(), shown.MofNCompleteColumn(), *times)
    return shown.Progress(*columns, console=console, **options)


def encode_leniently() -> None:
    """Let standard output and error replace characters that their encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def fail(message: str, code: int = 2) -> NoReturn:
    """Print one line on stderr and exit."""
    if message.strip():
        print(f"acdpp: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)


def note(message: object) -> None:
    """Print a note, one line on stderr."""
    print(f"acdpp: note: {' '.join(str(message).split())}", file=sys.stderr)


@contextmanager
def needed_for(doing: str, extra: str = "empirics") -> Iterator[None]:
    """Turn a failed import into one sentence that names the package and how to install it."""
    try:
        yield
    except ImportError as error:
        from theory.setting import SettingError

        raise SettingError(f"{doing} needs {error.name}: pip install 'acdpp[{extra}]'") from None


@contextmanager
def users_code() -> Iterator[None]:
    """Find policies and models of the user's own in the current folder, and print a warning as a note."""
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = lambda message, *_, **__: note(message)
        yield


def with_error(mean: float | None, error: float | None) -> str:
    """Mean ± standard error, to the error's first digit; a dash where a run diverged and there is no mean.

    >>> with_error(10.6789, 0.0312), with_error(0.25, None)
    ('10.68 ± 0.03', '0.25')
    """
    if mean is None:
        return "–"
    if not error:
        return f"{mean:.4g}"
    places = max(-math.floor(math.log10(error)), 0)
    return f"{mean:.{places}f} ± {error:.{places}f}"


def pm(value: Mapping[str, float | None]) -> str:
    """Mean ± standard error of a document's entry."""
    return with_error(value["mean"], value["error"])


def count(value: float | None, unbounded: str = "–") -> str:
    """A number in three digits, or whole from 100 on."""
    if value is None:
        return unbounded
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    raise TypeError(f"{type(value).__name__} has no place in JSON")


def print_json(document: dict[str, Any]) -> None:
    """Print one JSON object, numbers in full precision; in ASCII if the output has another encoding."""
    encoding = codecs.lookup(getattr(sys.stdout, "encoding", None) or "utf-8").name
    try:
        text = json.dumps(document, default=_plain, allow_nan=False, ensure_ascii=False)
    except ValueError as error:
        from theory.setting import SettingError

        raise SettingError(f"the result has a number that JSON can't hold: {error}") from None
    halves = re.search("[\ud800-\udfff]", text)  # bytes of a file name that is not UTF-8
    print(json.dumps(document, default=_plain) if halves or encoding != "utf-8" else text)
