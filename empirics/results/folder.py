"""A result folder that explains itself, survives a kill, and is never believed without its checksums.

| file | what |
| --- | --- |
| `settings.json` | the study, device, versions, digests, constants, and the list of the other files |
| `rounds.parquet` | one row per policy, seed and round; the columns are `empirics.columns.COLUMNS` |
| `summary.json` | what `acdpp train` prints; there once the study is complete |
| `reproduction.json` | what `acdpp reproduce` prints, with the curves, made from the files above |
| `state-ROUND.npz` | parameters after that round, to continue the study from |
| `tensorboard/`, `mlruns/` | what the setting `log` asks for, made from the rows |
| `parts/` | finished chunks of rounds of a study under way |
| `.lock` | held by the one process that writes |

Every file is written beside its place and moved there, so it is whole or absent. A change counts from the moment that
`settings.json` names it: this one file is replaced last, with the SHA-256 of everything it lists and of itself. Other
files are left-overs of a kill and are written again. What is missing, damaged or foreign is refused by name, and
nothing is ever filled in.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from empirics.files import PARTIAL, replace_file, sha256_of, writable
from empirics.results.logs import Log, opened, refuse_missing
from empirics.results.rows import table
from empirics.settings.study import Study
from theory.setting import SettingError

__all__ = ["FORMAT", "Busy", "Folder", "Part", "Result", "new_folder", "read_result"]
__all__ += ["read_settings", "read_state", "refuse_existing", "refuse_place"]

FORMAT = 2
LOCK, SETTINGS, SUMMARY, ROUNDS, PARTS = ".lock", "settings.json", "summary.json", "rounds.parquet", "parts"
OURS = re.compile(r"state-\d{12}\.npz")
ROW_BYTES = 8 * 21  # of a result, before compression
AGAIN = "restore it from a copy, or train again into another folder"


@dataclass(frozen=True)
class Part:
    """A file with the rows of rounds first..last."""

    file: str
    first: int
    last: int
    sha256: str


@dataclass(frozen=True)
class Progress:
    """Rounds done, and the files that hold them."""

    done: int = 0
    parts: tuple[Part, ...] = ()
    state: str | None = None
    state_sha256: str | None = None
    schedule: str | None = None  # digest of all admissions so far
    summary_sha256: str | None = None


class Busy(SettingError):
    """Another process holds the folder."""


class Result(NamedTuple):
    """A finished result."""

    settings: dict[str, Any]
    summary: dict[str, Any]
    rows: pa.Table


# --- files -------------------------------------------------------------------------------------------------


def _own_digest(document: Mapping[str, Any]) -> str:
    plain = {key: value for key, value in document.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def _verify(path: Path, sha256: str, holds: str) -> None:
    try:
        found = sha256_of(path)
    except FileNotFoundError:
        raise SettingError(f"{str(path)!r} is missing, which held {holds}: {AGAIN}") from None
    except OSError as error:
        raise SettingError(f"{str(path)!r} cannot be read ({error.strerror}): it holds {holds}") from None
    if found != sha256:
        raise SettingError(f"{str(path)!r}, which holds {holds}, is damaged or was exchanged: {AGAIN}")


def read_settings(folder: Path | str) -> dict[str, Any]:
    """The settings of a result, finished or not."""
    path = Path(folder)
    file = path / SETTINGS
    name = str(file)
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingError(f"{str(path)!r} is no result: it has no {SETTINGS}") from None
    except NotADirectoryError:
        raise SettingError(f"{str(path)!r} is a file: give a result folder of acdpp train") from None
    except OSError as error:
        raise SettingError(f"{name!r} cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):  # not UTF-8, or no JSON that we write
        raise SettingError(f"{name!r} is damaged: {AGAIN}") from None
    if isinstance(document, dict) and "study" in document and document.get("format") != FORMAT:
        raise SettingError(
            f"{str(path)!r} was written by another version of acdpp (format "
            f"{document.get('format', 1)}, not {FORMAT}): "
            "train again into another folder"
        )
    if not isinstance(document, dict) or document.get("sha256") != _own_digest(document):
        raise SettingError(f"{name!r} is damaged or was edited: {AGAIN}")
    return document


def refuse_existing(path: Path) -> None:
    """Refuse a place whose content a new result would overwrite or mix with."""
    name = repr(str(path))
    try:
        if path.exists() and not path.is_dir():
            raise SettingError(f"{name} is a file: give a folder for the result")
        if (path / SETTINGS).exists():
            raise SettingError(
                f"{name} already holds a result: choose another folder, or continue it by acdpp resume"
            )
        if path.exists() and any(f.name != LOCK and not f.name.endswith(PARTIAL) for f in path.iterdir()):
            raise SettingError(f"{name} is not empty and holds no result: choose another folder")
        if not writable(path, within=True):
            raise SettingError(f"{name} cannot be used for the result: nothing can be written there")
    except OSError as error:
        raise SettingError(f"{name} cannot be used for the result ({error.strerror})") from None


def refuse_place(study: Study, path: Path | None) -> None:
    """Refuse a folder that holds something, and a disk that cannot hold the study's result."""
    if path is not None:
        refuse_existing(path)
    wanted = path or Path(".")
    place = next((one for one in (wanted, *wanted.absolute().parents) if one.is_dir()), Path("."))
    needed, free = study.rounds * study.runs * ROW_BYTES, shutil.disk_usage(place).free
    if needed > free:
        raise SettingError(
            f"{study.rounds:,} rounds of {study.runs:,} runs may take {needed / 1e9:,.3g} GB and {free / 1e9:,.3g} "
            f"GB are free for {str(wanted)!r}: make room, or take fewer rounds, seeds or policies"
        )


def new_folder(parent: Path, name: str) -> Path:
    """A new folder parent/name-N with the first free N, made by this call and no other."""
    for n in count(1):
        path = parent / f"{name}-{n}"
        with suppress(FileExistsError):
            path.mkdir(parents=True)
            return path
    raise AssertionError("unreachable")


# --- the folder --------------------------------------------------------------------------------------------


class Folder:
    """A result folder that this process may write: made by `begin` or `continued`, which hold its lock."""

    def __init__(self, path: Path, settings: dict[str, Any]) -> None:
        self.path = path
        self.settings = {key: value for key, value in settings.items() if key not in ("progress", "sha256")}
        saved = settings.get("progress", {})
        parts = tuple(Part(**part) for part in saved.get("parts", ()))
        self.progress = Progress(**(saved | {"parts": parts}))
        self.logs: list[Log] | None = None

    @classmethod
    @contextmanager
    def begin(cls, path: Path, settings: Mapping[str, Any]) -> Iterator[Self]:
        """A new result. A folder that holds anything is refused."""
        refuse_missing(settings.get("study", {}))
        fresh = not path.exists()
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SettingError(f"{str(path)!r} cannot be made ({error.strerror})") from None
        with _locked(path):
            refuse_existing(path)
            folder = cls(path, {"format": FORMAT, **settings})
            try:
                with _told(path, "put that right and begin again"):
                    folder._commit(Progress())
            except BaseException:
                if fresh:
                    shutil.rmtree(path, ignore_errors=True)
                raise
            yield folder

    @classmethod
    @contextmanager
    def continued(cls, path: Path) -> Iterator[Self]:
        """A result that exists, checked file by file."""
        read_settings(path)  # a place without a result is not even locked
        with _locked(path):
            folder = cls(path, read_settings(path))
            with folder._told():
                folder._check()
            if not folder.finished:
                refuse_missing(folder.settings["study"])
            yield folder

    def _told(self) -> AbstractContextManager[None]:
        return _told(self.path, f"put that right, then continue by acdpp resume {self.path}")

    def _commit(self, progress: Progress, **settings: Any) -> None:
        kept = {**self.settings, **settings}
        listed = {**vars(progress), "parts": [vars(part) for part in progress.parts]}
        digest = _own_digest({**kept, "progress": listed})
        # what is long stands in one line, since a long study has many parts and laying them out takes time
        text = json.dumps(kept, indent=2, ensure_ascii=False, allow_nan=False).removesuffix("\n}")
        text += f',\n  "progress": {json.dumps(listed)},\n  "sha256": "{digest}"\n}}\n'
        replace_file(self.path / SETTINGS, partial(Path.write_text, data=text, encoding="utf-8"))
        self.settings, self.progress = kept, progress

    def _check(self, *, to_read: bool = False) -> None:
        """Everything that is listed is there and whole, and nothing else could be mistaken for it.

        To read a result takes no state, which may be large and may have been left behind.
        """
        expected = 1
        for part in self.progress.parts:
            if part.first != expected:
                raise SettingError(
                    f"{str(self.path)!r} does not list rounds {expected} to {part.first - 1}: {AGAIN}"
                )
            _verify(self.path / part.file, part.sha256, f"rounds {part.first} to {part.last}")
            expected = part.last + 1
        if expected != self.progress.done + 1:
            raise SettingError(
                f"{str(self.path)!r} lists rounds up to {expected - 1} of {self.progress.done}: {AGAIN}"
            )
        if self.progress.state is not None and not to_read:
            _verify(
                self.path / self.progress.state,
                str(self.progress.state_sha256),
                f"the state after round {self.progress.done}",
            )
        if self.progress.summary_sha256 is not None:
            _verify(self.path / SUMMARY, self.progress.summary_sha256, "the summary")
        listed = {part.file for part in self.progress.parts} | {self.progress.state}
        # what a kill may have left: the chunk after the last
        begun = re.compile(rf"{PARTS}/{self.progress.done + 1:012d}-\d{{12}}\.parquet")
        place = self.path / PARTS
        if place.exists() and not place.is_dir():
            raise SettingError(f"{str(place)!r} is no folder, which it has to be here: move it away")
        for path in place.iterdir() if place.is_dir() else ():
            name = f"{PARTS}/{path.name}"
            left_over = begun.fullmatch(name) or name.endswith(PARTIAL) or self._joined(name)
            if name not in listed and not (left_over and path.is_file()):
                raise SettingError(f"{str(path)!r} does not belong to this result: move it away")

    def _joined(self, name: str) -> bool:
        """The rows of this part are all in `rounds.parquet`: a kill came between joining and clearing away."""
        whole = [part.file for part in self.progress.parts] == [ROUNDS]
        span = re.fullmatch(rf"{PARTS}/(\d{{12}})-(\d{{12}})\.parquet", name)
        return bool(whole and span and int(span[2]) <= self.progress.done)

    @property
    def finished(self) -> bool:
        return self.progress.summary_sha256 is not None

    def refuse_unfinished(self) -> None:
        if not self.finished:
            raise SettingError(f"{str(self.path)!r} is unfinished: acdpp resume {self.path} continues it")

    def state(self) -> dict[str, NDArray[Any]]:
        """The arrays of the last checkpoint."""
        assert self.progress.state is not None
        with self._told(), np.load(self.path / self.progress.state, allow_pickle=False) as saved:
            return dict(saved)

    def chunks(self) -> Iterator[pa.Table]:
        """The finished rows, a chunk of rounds at a time, in order."""
        for part in self.progress.parts:
            yield from _row_groups(self.path / part.file)

    def save(
        self,
        first: int,
        last: int,
        columns: Mapping[str, Any],
        state: Mapping[str, NDArray[Any]],
        schedule: str | None = None,
    ) -> None:
        """A chunk of rounds, the state after it, and the digest of the schedule so far."""
        file, name, before = (
            f"{PARTS}/{first:012d}-{last:012d}.parquet",
            f"state-{last:012d}.npz",
            self.progress.state,
        )
        rows, arrays = table(columns), dict[str, Any](state)

        def write_rows(beside: Path) -> None:
            with beside.open("wb") as handle:  # by its name, Arrow could not open what is no UTF-8
                pq.write_table(rows, handle, row_group_size=len(rows), write_page_checksum=True)

        def write_state(beside: Path) -> None:
            with beside.open("wb") as handle:
                np.savez(handle, **arrays)

        with self._told():
            (self.path / PARTS).mkdir(exist_ok=True)
            part = Part(file, first, last, replace_file(self.path / file, write_rows))
            sha256 = replace_file(self.path / name, write_state)
            self._commit(Progress(last, (*self.progress.parts, part), name, sha256, schedule))
            if before is not None and before != name:
                (self.path / before).unlink(missing_ok=True)
            self._log(rows)

    def _log(self, rows: pa.Table | None = None) -> None:
        """New rows for the logs that the study asks for; the first time all, of which they take what they lack."""
        fresh = self.logs is None
        if self.logs is None:
            self.logs = opened(self.path, self.settings.get("study", {}))
        for log in self.logs:
            for one in self.chunks() if fresh else (rows,) if rows is not None else ():
                log.add(one)

    def finish(self, summary: Mapping[str, Any]) -> None:
        """Join the chunks into one table, write the summary, and clear away what was only for continuing."""

        def join(beside: Path) -> None:
            groups = self.chunks()
            first = next(groups)
            with (
                beside.open("wb") as handle,
                pq.ParquetWriter(handle, first.schema, write_page_checksum=True) as writer,
            ):
                for group in chain([first], groups):  # one row group per chunk, as it was replayed
                    writer.write_table(group, row_group_size=len(group))

        with self._told():
            self._log()
            for log in self.logs or ():
                log.finish()
            joined = Part(ROUNDS, 1, self.progress.done, replace_file(self.path / ROUNDS, join))
            text = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
            write = partial(Path.write_text, data=text, encoding="utf-8")
            sha256 = replace_file(self.path / SUMMARY, write)
            self._commit(replace(self.progress, parts=(joined,), summary_sha256=sha256))
        self.clear()

    def clear(self) -> None:
        """Remove what `settings.json` does not list, as far as it is ours; what resists is no harm."""
        if [part.file for part in self.progress.parts] == [ROUNDS]:
            shutil.rmtree(self.path / PARTS, ignore_errors=True)
        listed = {self.progress.state, *(part.file for part in self.progress.parts)}
        with suppress(OSError):
            for path in (*self.path.glob(f"{PARTS}/*"), *self.path.iterdir()):
                name = path.relative_to(self.path).as_posix()
                ours = (
                    path.parent == self.path / PARTS
                    or path.name.endswith(PARTIAL)
                    or OURS.fullmatch(path.name)
                )
                if ours and name not in listed and path.is_file():
                    path.unlink(missing_ok=True)

    def reopen(self, **settings: Any) -> None:
        """Make a finished result one under way again, with new settings: its rows become the first part."""
        parts = self.progress.parts
        with self._told():
            if [part.file for part in parts] == [ROUNDS]:
                (self.path / PARTS).mkdir(exist_ok=True)
                [moved] = [replace(part, file=f"{PARTS}/{1:012d}-{part.last:012d}.parquet") for part in parts]
                replace_file(
                    self.path / moved.file, lambda beside: shutil.copyfile(self.path / ROUNDS, beside)
                )
                parts = (moved,)
            self._commit(replace(self.progress, parts=parts, summary_sha256=None), **settings)
            for name in (SUMMARY, ROUNDS):
                (self.path / name).unlink(missing_ok=True)
        self.clear()  # a chunk of another length would not be written over


@contextmanager
def _told(path: Path, remedy: str) -> Iterator[None]:
    """Let a full or failing disk be an error that says where, and what to do."""
    try:
        yield
    except OSError as error:
        where = str(error.filename or path)
        raise OSError(error.errno, f"{where!r} ({error.strerror or error}): {remedy}") from None


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the folder for this process alone; the system lets go of it when the process ends, however it ends."""
    try:
        lock = FileLock(path / LOCK).acquire(timeout=0)
    except Timeout:
        raise Busy(
            f"{str(path)!r} is being written by another process: wait for it, or choose another folder"
        ) from None
    except OSError as error:
        raise SettingError(
            f"{str(path / LOCK)!r} cannot be locked for writing ({error.strerror or error})"
        ) from None
    with lock:
        yield


def _row_groups(path: Path) -> Iterator[pa.Table]:
    try:
        with path.open("rb") as handle, pq.ParquetFile(handle, page_checksum_verification=True) as file:
            for group in range(file.num_row_groups):
                yield file.read_row_group(group)
    except (pa.ArrowException, OSError) as error:
        raise SettingError(f"{str(path)!r} cannot be read ({error}): {AGAIN}") from None


def read_result(folder: Path | str, columns: list[str] | None = None) -> Result:
    """Settings, summary and rows of a finished result, all of them checked; `columns` reads only some."""
    path = Path(folder)
    document = read_settings(path)
    try:
        found = Folder(path, document)
        found.refuse_unfinished()
        found._check(to_read=True)
        summary = json.loads((path / SUMMARY).read_text(encoding="utf-8"))
        with (path / ROUNDS).open("rb") as handle:
            there = pq.read_schema(handle).names
            wanted = None if columns is None else [name for name in columns if name in there]
            rows = pq.read_table(handle, columns=wanted, page_checksum_verification=True)
        return Result(document, summary, rows)
    except (pa.ArrowException, OSError) as error:
        raise SettingError(f"{str(path)!r} cannot be read ({error}): {AGAIN}") from None
    finally:
        if read_settings(path) != document:
            raise SettingError(f"{str(path)!r} was being written while it was read: read it again")


def read_state(folder: Path | str) -> tuple[dict[str, Any], dict[str, Any], dict[str, NDArray[Any]]]:
    """Settings and summary of a finished result, and the arrays of its last state."""
    path = Path(folder)
    found = Folder(path, read_settings(path))
    found.refuse_unfinished()
    try:
        found._check()
        return found.settings, json.loads((path / SUMMARY).read_text(encoding="utf-8")), found.state()
    except OSError as error:
        raise SettingError(f"{str(path)!r} cannot be read ({error}): {AGAIN}") from None
