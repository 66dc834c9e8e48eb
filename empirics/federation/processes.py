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
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from empirics.federation import keeper, superlink
from empirics.federation.credentials import Certificates, make_certificates, node_key
from empirics.federation.operating import Operator, operating
from empirics.files import replace_file
from empirics.settings.toml import spelled
from theory.setting import SettingError

__all__ = ["Federation", "Place", "federation", "last_error"]

HOST = "127.0.0.1"
PORTS = range(10240, 32768)  # below those that the system gives to connections
START = 120.0  # seconds that a server may take to be there
BUSY = 0.02  # seconds between two looks of a node for work, for each of the nodes that do so at once
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


@contextmanager
def _kept(mark: str) -> Iterator[list[subprocess.Popen[bytes]]]:
    """A list for processes with this mark, and a keeper: at the end of the context nothing of them is left."""
    processes: list[subprocess.Popen[bytes]] = []
    command = [sys.executable, "-I", keeper.__file__, mark]
    watching = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
    try:
        yield processes
    finally:
        assert watching.stdin is not None
        watching.stdin.close()
        watching.wait()
        for process in processes:
            process.poll()  # or it would stay in the table of processes


@dataclass
class Federation:
    """The running processes. `nodes` are by client; one that has ended stays there with its status."""

    place: Place
    clients: int
    simulation: bool
    mark: str
    environment: dict[str, str]
    certificates: Certificates
    kept: list[subprocess.Popen[bytes]]
    ports: Iterator[int]
    address: str = ""
    link: subprocess.Popen[bytes] = field(init=False)
    nodes: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)
    operator: Operator = field(init=False)

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
        self.kept.append(process)
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
        self.operator.register(pair.public)


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
            stack.enter_context(_kept(mark)),
            _free_ports(),
        )
        running.start_link()
        running.operator = stack.enter_context(operating(running.address, made.authority))
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
