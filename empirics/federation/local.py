"""A study as a federation on this machine: started or continued, watched, and explained if it stops. Its processes are
in `processes`."""

import os
import shutil
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from empirics.federation.app_folder import ROUND_WAIT_SECONDS, FederationFolder, write_app
from empirics.federation.processes import Federation, federation, last_error
from empirics.federation.server_state import NOT_FEDERATED, federated, prepare
from empirics.results.folder import new_folder, read_result, read_settings
from empirics.settings.study import Study
from theory.setting import SettingError

__all__ = ["federate"]

RESULT_POLL_SECONDS, RUN_POLL_SECONDS = 0.25, 1.0
NODE_RESTART_SECONDS = 10.0
UNANSWERED_POLLS_MAX = 5  # in a row
RUN_END_SECONDS_MAX = 10.0  # after its result is complete

Progress = Callable[[int], None]
Announce = Callable[[Path], None]


def federate(
    study: Study | None = None,
    out: Path | None = None,
    *,
    data_dir: Path | None = None,
    resume: bool = False,
    simulation: bool = False,
    patience: float | None = None,
    progress: Progress = lambda done: None,
    announce: Announce = lambda folder: None,
) -> dict[str, Any]:
    """Run a study as a federation on this machine, and return the summary that is also in its result folder.

    With `resume`, the federation in `out` is continued as it began, with its study, keys and samples, in new processes.
    """
    if resume:
        if out is None:
            raise SettingError("resuming needs the folder to continue: give out=FOLDER")
        settings = read_settings(out)
        study = Study.from_document(settings["study"])
        if settings["progress"]["summary_sha256"] is not None:
            announce(out)
            return read_result(out).summary
        if "federation" not in settings:
            raise SettingError(NOT_FEDERATED.format(str(out)))
        asked = settings["asked"]
        data_dir = data_dir or (asked["data_dir"] and Path(asked["data_dir"]))
        simulation, patience = asked.get("simulation", simulation), patience or asked.get("patience")
    else:
        study = federated(Study() if study is None else study)
        out = _begun(study, out, data_dir, simulation=simulation, patience=patience)
    place, data = FederationFolder.of_result(out), "" if data_dir is None else os.path.abspath(data_dir)
    place.root.mkdir(mode=0o700, exist_ok=True)
    announce(out)
    with locked(place):
        place.stopped.unlink(missing_ok=True)
        shutil.rmtree(place.app, ignore_errors=True)
        write_app(
            place.app,
            study,
            result=str(out.absolute()),
            data_dir=data,
            patience=ROUND_WAIT_SECONDS if patience is None else patience,
            buffers=str(place.clients),
        )
        with federation(place, study.clients, simulation=simulation, **{"data-dir": data}) as running:
            run = running.operator.start(place.app, study.clients if simulation else None)
            _watch(running, run, out, progress)
        return read_result(out).summary


def _begun(study: Study, out: Path | None, data_dir: Path | None, **asked: Any) -> Path:
    """A new result folder, or none if the study cannot be run."""
    parent = Path("results")
    fresh = not parent.exists()
    place = new_folder(parent, f"{study.preset}-federation") if out is None else out
    try:
        prepare(study, place, data_dir, **asked)
    except BaseException:
        with suppress(OSError):
            for made in (place, *([parent] if fresh else [])) if out is None else ():
                made.rmdir()
        raise
    return place


def locked(place: FederationFolder) -> AbstractContextManager[object]:
    """A lock that refuses a second federation on a result: both would command the same clients."""
    try:
        return FileLock(place.root / ".lock").acquire(timeout=0)
    except Timeout:
        raise SettingError(
            f"{str(place.root.parent)!r} has a running federation: wait for it, or stop it"
        ) from None


def _watch(running: Federation, run: int, out: Path, progress: Progress) -> None:
    """Wait for a complete result; if the run ends without it, raise the reason."""
    asked, over, missed = time.monotonic(), False, 0
    limit: float | None = None
    restarts = NodeRestarts(running)
    events = new_events(running.place.events)
    while True:
        if time.monotonic() - asked > RUN_POLL_SECONDS:
            asked = time.monotonic()
            over, missed = _over(running, run, missed)
        now = read_settings(out)["progress"]
        progress(now["done"])
        for sentence in next(events):
            warnings.warn(sentence, stacklevel=2)
        if now["summary_sha256"] is not None:
            limit = limit or time.monotonic() + RUN_END_SECONDS_MAX
            if over or time.monotonic() > limit:
                return
        elif over:
            raise SettingError(_why(running))
        restarts.look()
        time.sleep(RESULT_POLL_SECONDS)


def _over(running: Federation, run: int, missed: int) -> tuple[bool, int]:
    """The end of a run as a bool, and the number of consecutive polls without an answer: a server may be busy."""
    try:
        return running.link.poll() is not None or running.operator.over(run), 0
    except SettingError:
        if missed + 1 >= UNANSWERED_POLLS_MAX:
            raise
        return False, missed + 1


@dataclass
class NodeRestarts:
    """Restarts nodes that have ended. The server considers a killed node alive for up to a minute and refuses its key
    until then, so that several restarts may be needed."""

    running: Federation
    told: set[int] = field(default_factory=set)
    due: dict[int, float] = field(default_factory=dict)  # time of the next restart, by client

    def look(self) -> None:
        now = time.monotonic()
        for client, node in list(self.running.nodes.items()):
            if node.poll() is None:
                continue
            if client not in self.told:
                self.told.add(client)
                said = last_error(self.running.place.log(f"client-{client}"))
                warnings.warn(f"client {client} has ended and is restarted: {said}", stacklevel=2)
            if now > self.due.setdefault(client, now + NODE_RESTART_SECONDS):
                del self.due[client]
                self.running.start_node(client)


def new_events(events: Path) -> Iterator[list[str]]:
    """The complete lines of the event log since the last look, without their timestamps."""
    read = events.stat().st_size if events.exists() else 0
    while True:
        lines: list[str] = []
        with suppress(OSError), events.open("rb") as file:
            file.seek(read)
            whole, end, _ = file.read().rpartition(b"\n")
            read += len(whole) + len(end)
            lines = [line.split(" ", 2)[2] for line in whole.decode().splitlines()]
        yield lines


def _why(running: Federation) -> str:
    with suppress(OSError):
        if said := " ".join(running.place.stopped.read_text(encoding="utf-8").split()):
            return said
    told = last_error(running.place.log("superlink"))
    return f"the federation stopped after round {read_settings(running.place.root.parent)['progress']['done']}: {told}"
