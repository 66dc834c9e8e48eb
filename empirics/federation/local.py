"""A whole federation on this machine: a SuperLink, a SuperNode for every client, TLS, authenticated nodes, loopback.

Everything of it lies in `federation/` of the result folder: the app, certificates made for the occasion, logs, and
for every client its key and its samples, which a later start finds again. No process outlives the one that started
it (`keeper`), and none speaks to anything but this machine.

| place | what |
| --- | --- |
| `app/` | the Flower app that runs |
| `certificates/` | of the server, new at every start |
| `clients/client-M/` | `key` and `key.pub`, `node.toml`, `samples/` |
| `logs/` | what `superlink` and the clients said |
| `events.log` | rounds that went on without a client, and why |
| `stopped.txt` | why the last run stopped, if it did |
"""

from __future__ import annotations

import os
import random
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from filelock import FileLock, Timeout

from empirics.federation import keeper, superlink
from empirics.federation.app_folder import PATIENCE, write_app
from empirics.federation.books import federated, prepare
from empirics.federation.control import Control, control
from empirics.federation.credentials import Certificates, make_certificates, node_key
from empirics.files import replace_file
from empirics.records.folder import claim, read_result, read_settings
from empirics.settings.study import Study
from empirics.settings.toml import spelled
from theory.setting import SettingError

__all__ = ["Federation", "Place", "federate", "federation"]

HOST = "127.0.0.1"
PORTS = range(10240, 32768)  # below those that the system gives to connections
START = 120.0  # seconds that a server may take to be there
POLL, ASK = 0.25, 1.0  # seconds between two looks at the result, and at the run
BUSY = 0.02  # seconds between two looks of a node for work, for each of the nodes that do so at once
AGAIN = 10.0  # seconds until a node that has ended is started again
ASKED = 5  # times that a server may leave without an answer
LEAVE = 10.0  # seconds that a run may take to end after its result is there
QUIET = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "0",
    "NO_PROXY": "*",
    "no_proxy": "*",
    "PYTHONUNBUFFERED": "1",
}
ERROR = re.compile(r"\bERROR\b|Error\b|Exception\b")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")

Progress = Callable[[int], None]
Announce = Callable[[Path], None]


@dataclass(frozen=True)
class Place:
    """Where the parts of a federation lie."""

    root: Path

    @classmethod
    def of_result(cls, result: Path) -> Place:
        return cls(result.absolute() / "federation")

    @property
    def app(self) -> Path:
        return self.root / "app"

    @property
    def clients(self) -> Path:
        return self.root / "clients"

    @property
    def certificates(self) -> Path:
        return self.root / "certificates"

    @property
    def stopped(self) -> Path:
        return self.root / "stopped.txt"

    @property
    def events(self) -> Path:
        return self.root / "events.log"

    def client(self, number: int) -> Path:
        return self.clients / f"client-{number}"

    def log(self, name: str) -> Path:
        return self.root / "logs" / f"{name}.log"


# --- processes ---------------------------------------------------------------------------------------------


def _program(name: str) -> str:
    """One of Flower's commands, of the environment that runs this."""
    found = shutil.which(name, path=sysconfig.get_path("scripts")) or shutil.which(name)
    if found is None:
        raise SettingError(f"Flower's command {name} is not here: pip install 'acdpp[flower]'")
    return found


def _free_ports() -> Iterator[int]:
    """Ports of this machine that nobody listens on, each once."""
    for port in random.Random().sample(PORTS, len(PORTS)):
        with socket.socket() as one:
            taken = one.connect_ex((HOST, port)) == 0
        if not taken:
            yield port


class Kept:
    """The processes that a keeper ends; at the end of the context nothing of them is left."""

    def __init__(self, mark: str) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []
        self._keeper = subprocess.Popen(
            [sys.executable, "-I", "-S", keeper.__file__, mark], stdin=subprocess.PIPE, start_new_session=True
        )

    def take(self, process: subprocess.Popen[bytes]) -> None:
        """Another one."""
        assert self._keeper.stdin is not None
        self._processes.append(process)
        self._keeper.stdin.write(f"{process.pid}\n".encode())
        self._keeper.stdin.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._keeper.stdin is not None
        self._keeper.stdin.close()
        while self._keeper.poll() is None:
            for process in self._processes:
                process.poll()  # or it would stay in the table of processes
            time.sleep(0.02)
        for process in self._processes:
            process.poll()


@dataclass
class Federation:
    """The running processes. `nodes` are by client; one that has ended stays there with its status."""

    place: Place
    clients: int
    simulation: bool
    mark: str
    environment: dict[str, str]
    certificates: Certificates
    kept: Kept
    ports: Iterator[int]
    address: str = ""
    link: subprocess.Popen[bytes] = field(init=False)
    nodes: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)
    control: Control = field(init=False)

    @property
    def processes(self) -> set[int]:
        """Whatever is alive of it."""
        return keeper.members(self.mark)

    def start(self, command: list[str], log: Path, home: Path) -> subprocess.Popen[bytes]:
        """A process of this federation, in a session of its own: a Ctrl-C is not for it."""
        log.parent.mkdir(parents=True, exist_ok=True)
        home.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self.environment | {"FLWR_HOME": str(home)},
                start_new_session=True,
            )
        self.kept.take(process)
        return process

    def start_link(self) -> None:
        """The SuperLink; returns when it answers."""
        port = next(self.ports)
        self.address = f"{HOST}:{port}"
        made = self.certificates
        command = [sys.executable, "-m", superlink.__name__, "--host", HOST, "--port", str(port)]
        command += ["--ssl-ca-certfile", str(made.authority), "--ssl-certfile", str(made.certificate)]
        command += ["--ssl-keyfile", str(made.key), "--disable-runtime-dependency-installation"]
        command += ["--simulation"] if self.simulation else ["--enable-supernode-auth"]
        self.link = self.start(command, self.place.log("superlink"), self.place.root / "flower")
        limit = time.monotonic() + START
        while True:
            with suppress(OSError), socket.create_connection((HOST, port), timeout=1):
                return
            if self.link.poll() is not None or time.monotonic() > limit:
                raise SettingError(f"the server did not start: {last_error(self.place.log('superlink'))}")
            time.sleep(0.05)

    def node_command(self, client: int) -> list[str]:
        """How a SuperNode is started, with its runtime on a free port."""
        here = self.place.client(client)
        command = [_program("flower-supernode"), "--superlink", self.address, "--host", HOST]
        command += ["--port", str(next(self.ports)), "--root-certificates", str(self.certificates.authority)]
        return [
            *command,
            "--auth-supernode-private-key",
            str(here / "key"),
            "--node-config",
            str(here / "node.toml"),
        ]

    def start_node(self, client: int) -> None:
        """The SuperNode of a client, also one that was there before."""
        here = self.place.client(client)
        self.nodes[client] = self.start(
            self.node_command(client), self.place.log(f"client-{client}"), here / "flower"
        )

    def admit(self, client: int, **config: Any) -> None:
        """Give a client its key and its settings, and let it take part."""
        here = self.place.client(client)
        pair = node_key(here / "key")
        lines = {"partition-id": client, "num-partitions": self.clients, **config}
        text = "".join(f"{name} = {spelled(value)}\n" for name, value in lines.items())
        replace_file(here / "node.toml", lambda beside: beside.write_text(text, encoding="utf-8"))
        self.control.register(pair.public)


def _environment(mark: str, scratch: Path, clients: int) -> dict[str, str]:
    """Of every process: nothing goes out, nothing is installed, and what is found from here is found there."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FLWR_", "RAY_"))}
    kept = {name: value for name, value in kept.items() if not name.lower().endswith("_proxy")}
    path = [str(Path.cwd()), *filter(None, [os.environ.get("PYTHONPATH")])]
    scripts = [sysconfig.get_path("scripts"), *filter(None, [os.environ.get("PATH")])]
    return (
        kept
        | QUIET
        | {
            keeper.NAME: mark,
            "FLWR_SUPEREXEC_TASK_POLL_INTERVAL": str(min(max(0.1, clients * BUSY), 1.0)),
            "PATH": os.pathsep.join(scripts),
            "PYTHONPATH": os.pathsep.join(path),
            "RAY_TMPDIR": str(scratch),
        }
    )


@contextmanager
def federation(
    place: Place, clients: int, *, simulation: bool = False, **config: Any
) -> Iterator[Federation]:
    """A SuperLink and its SuperNodes, on loopback; `config` is for every node, beside its number and its folder."""
    mark = uuid.uuid4().hex
    with ExitStack() as stack:
        place.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        scratch = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="acdpp-", ignore_cleanup_errors=True))
        )
        shutil.rmtree(place.root / "logs", ignore_errors=True)  # the errors of another start explain nothing
        made = make_certificates(place.certificates, [HOST])
        running = Federation(
            place,
            clients,
            simulation,
            mark,
            _environment(mark, scratch, clients),
            made,
            stack.enter_context(Kept(mark)),
            _free_ports(),
        )
        running.start_link()
        running.control = stack.enter_context(control(running.address, made.authority))
        for client in () if simulation else range(clients):
            running.admit(client, buffer=str(place.client(client) / "samples"), **config)
            running.start_node(client)
        yield running


def last_error(log: Path) -> str:
    """The last line of a log that speaks of an error, or its last line, and where the log is."""
    lines = []
    with suppress(OSError):
        with log.open("rb") as handle:
            handle.seek(max(handle.seek(0, os.SEEK_END) - 100_000, 0))
            text = COLOUR.sub("", handle.read().decode(errors="replace"))
        lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if ERROR.search(line)]
    said = (errors or lines or ["it said nothing"])[-1]
    return f"{said:.300} (all of it: {str(log)!r})"


# --- a study -----------------------------------------------------------------------------------------------


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

    With `resume`, `out` is a folder to go on with: the same study, the same keys and the same samples, new processes.
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
            raise SettingError(
                f"{str(out)!r} was not made by acdpp federate: continue it by acdpp train --resume"
            )
        data_dir = data_dir or (settings["asked"]["data_dir"] and Path(settings["asked"]["data_dir"]))
    else:
        study = federated(Study() if study is None else study)
        out = _begun(study, out, data_dir)
    Place.of_result(out).root.mkdir(mode=0o700, exist_ok=True)
    announce(out)
    place = Place.of_result(out)
    with _alone(place):
        return _run(study, out, place, data_dir, simulation, patience, progress)


def _begun(study: Study, out: Path | None, data_dir: Path | None) -> Path:
    """A result folder with no round done; no folder where the study cannot be run."""
    parent = Path("results")
    fresh = not parent.exists()
    place = claim(parent, f"{study.preset}-federation") if out is None else out
    try:
        prepare(study, place, data_dir)
    except BaseException:
        with suppress(OSError):
            for made in (place, *([parent] if fresh else [])) if out is None else ():
                made.rmdir()
        raise
    return place


@contextmanager
def _alone(place: Place) -> Iterator[None]:
    """Two federations on one result would pull at each other's clients."""
    lock = FileLock(place.root / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise SettingError(
            f"{str(place.root.parent)!r} has a federation under way: wait for it, or stop it"
        ) from None
    try:
        yield
    finally:
        lock.release()


def _run(
    study: Study,
    out: Path,
    place: Place,
    data_dir: Path | None,
    simulation: bool,
    patience: float | None,
    progress: Progress,
) -> dict[str, Any]:
    data = "" if data_dir is None else os.path.abspath(data_dir)
    place.stopped.unlink(missing_ok=True)
    shutil.rmtree(place.app, ignore_errors=True)
    write_app(
        place.app,
        study,
        result=str(out.absolute()),
        data_dir=data,
        patience=PATIENCE if patience is None else patience,
        buffers=str(place.clients),
    )
    with federation(place, study.clients, simulation=simulation, **{"data-dir": data}) as running:
        run = running.control.start(place.app, study.clients if simulation else None)
        _watch(running, run, out, progress)
    return read_result(out).summary


def _watch(running: Federation, run: int, out: Path, progress: Progress) -> None:
    """Until the result is complete; if it will not be, say why."""
    asked, over, missed = time.monotonic(), False, 0
    limit: float | None = None
    nurse = _Nurse(running)
    news = _news(running.place.events)
    while True:
        if time.monotonic() - asked > ASK:
            asked = time.monotonic()
            over, missed = _over(running, run, missed)
        now = read_settings(out)["progress"]
        progress(now["done"])
        for sentence in next(news):
            warnings.warn(sentence, stacklevel=2)
        if now["summary_sha256"] is not None:
            limit = limit or time.monotonic() + LEAVE
            if over or time.monotonic() > limit:
                return
        elif over:
            raise SettingError(_why(running, run))
        nurse.look()
        time.sleep(POLL)


def _over(running: Federation, run: int, missed: int) -> tuple[bool, int]:
    """Whether a run is over, and how often in a row its server, which lives, has not answered that: it may be busy."""
    if running.link.poll() is not None:
        return True, 0
    try:
        return running.control.state(run).over, 0
    except SettingError:
        if missed + 1 >= ASKED:
            raise
        return False, missed + 1


@dataclass
class _Nurse:
    """Starts nodes again that have ended. The server takes a killed one for alive for up to a minute and refuses who
    comes with its key meanwhile, so that it may take several tries."""

    running: Federation
    told: set[int] = field(default_factory=set)
    again: dict[int, float] = field(default_factory=dict)  # when, for each that has ended

    def look(self) -> None:
        now = time.monotonic()
        for client, node in list(self.running.nodes.items()):
            if node.poll() is None:
                continue
            if client not in self.told:
                self.told.add(client)
                said = last_error(self.running.place.log(f"client-{client}"))
                warnings.warn(f"client {client} has ended, and is started again: {said}", stacklevel=2)
            if now > self.again.setdefault(client, now + AGAIN):
                del self.again[client]
                self.running.start_node(client)


def _news(events: Path) -> Iterator[list[str]]:
    """What the server has had to tell since the last look, without its dates."""
    read = events.stat().st_size if events.exists() else 0
    while True:
        lines: list[str] = []
        with suppress(OSError), events.open("rb") as file:
            file.seek(read)
            whole, end, _ = file.read().rpartition(b"\n")
            read += len(whole) + len(end)
            lines = [line.split(" ", 2)[2] for line in whole.decode().splitlines()]
        yield lines


def _why(running: Federation, run: int) -> str:
    with suppress(OSError):
        if said := " ".join(running.place.stopped.read_text(encoding="utf-8").split()):
            return said
    told = last_error(running.place.log("superlink"))
    return f"the federation stopped after round {read_settings(running.place.root.parent)['progress']['done']}: {told}"
