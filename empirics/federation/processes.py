"""A federation on this machine: a SuperLink, a SuperNode for every client, TLS, authenticated nodes, loopback only.

Its files are in `federation/` of the result folder (`FederationFolder`); a later start reuses keys and samples. All
processes end with the process that started them (`process_cleanup`).
"""

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

from empirics.federation import process_cleanup, superlink
from empirics.federation.app_folder import FederationFolder
from empirics.federation.credentials import Certificates, make_certificates, node_key
from empirics.federation.flower_api import Operator, operator_of
from empirics.files import replace_file
from empirics.settings.toml import spelled
from theory.setting import SettingError

__all__ = ["Federation", "federation", "last_error"]

HOST = "127.0.0.1"
PORTS = range(10240, 32768)  # below the system's ephemeral ports
SERVER_START_SECONDS_MAX = 120.0
POLL_SECONDS_PER_NODE = 0.02  # between two polls of a node for work
LOG_TAIL_BYTES = 100_000
ENVIRONMENT = {
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


def flower_program(name: str) -> str:
    """The path of a Flower command, preferably of this environment."""
    found = shutil.which(name, path=sysconfig.get_path("scripts")) or shutil.which(name)
    if found is None:
        raise SettingError(f"Flower's command {name} is not installed: pip install 'acdpp[flower]'")
    return found


def free_ports() -> Iterator[int]:
    """Unused ports of this machine, each once."""
    for port in random.Random().sample(PORTS, len(PORTS)):
        with socket.socket() as probe:
            taken = probe.connect_ex((HOST, port)) == 0
        if not taken:
            yield port


@contextmanager
def _ended_together(mark: str) -> Iterator[list[subprocess.Popen[bytes]]]:
    """A list for processes with this mark, which end with the context."""
    processes: list[subprocess.Popen[bytes]] = []
    command = [sys.executable, "-I", process_cleanup.__file__, mark]
    watching = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
    try:
        yield processes
    finally:
        assert watching.stdin is not None
        watching.stdin.close()
        watching.wait()
        for process in processes:
            process.poll()  # reaps the zombie


@dataclass
class Federation:
    """The running processes; an ended one keeps its status in `nodes`, which are by client."""

    place: FederationFolder
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
        """Start a process in a session of its own, where Ctrl-C does not reach it."""
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
        """Start the SuperLink and wait until it accepts connections."""
        port = next(self.ports)
        self.address = f"{HOST}:{port}"
        made = self.certificates
        command = [sys.executable, "-m", superlink.__name__, "--host", HOST, "--port", str(port)]
        command += ["--ssl-ca-certfile", str(made.authority), "--ssl-certfile", str(made.certificate)]
        command += ["--ssl-keyfile", str(made.key), "--disable-runtime-dependency-installation"]
        command += ["--simulation"] if self.simulation else ["--enable-supernode-auth"]
        self.link = self.start(command, self.place.log("superlink"), self.place.root / "flower")
        limit = time.monotonic() + SERVER_START_SECONDS_MAX
        while True:
            with suppress(OSError), socket.create_connection((HOST, port), timeout=1):
                return
            if self.link.poll() is not None or time.monotonic() > limit:
                raise SettingError(f"the server did not start: {last_error(self.place.log('superlink'))}")
            time.sleep(0.05)

    def node_command(self, client: int) -> list[str]:
        """The command of a SuperNode, with its runtime on a free port."""
        here = self.place.client(client)
        command = [flower_program("flower-supernode"), "--superlink", self.address, "--host", HOST]
        command += ["--port", str(next(self.ports)), "--root-certificates", str(self.certificates.authority)]
        command += ["--auth-supernode-private-key", str(here / "key")]
        return [*command, "--node-config", str(here / "node.toml")]

    def start_node(self, client: int) -> None:
        """Start or restart a client's SuperNode."""
        log, home = self.place.log(f"client-{client}"), self.place.client(client) / "flower"
        self.nodes[client] = self.start(self.node_command(client), log, home)

    def admit(self, client: int, **config: Any) -> None:
        """Make a client's key and settings, and register its node."""
        here = self.place.client(client)
        pair = node_key(here / "key")
        lines = {"partition-id": client, "num-partitions": self.clients, **config}
        text = "".join(f"{name} = {spelled(value)}\n" for name, value in lines.items())
        replace_file(here / "node.toml", lambda beside: beside.write_text(text, encoding="utf-8"))
        self.operator.register(pair.public)


def process_environment(mark: str, scratch: Path, clients: int) -> dict[str, str]:
    """The environment of all processes: no telemetry, no proxy, no installation, and this process's import path."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FLWR_", "RAY_"))}
    kept = {name: value for name, value in kept.items() if not name.lower().endswith("_proxy")}
    path = [str(Path.cwd()), *filter(None, [os.environ.get("PYTHONPATH")])]
    scripts = [sysconfig.get_path("scripts"), *filter(None, [os.environ.get("PATH")])]
    own = {
        process_cleanup.MARK_VARIABLE: mark,
        "FLWR_SUPEREXEC_TASK_POLL_INTERVAL": str(min(max(0.1, clients * POLL_SECONDS_PER_NODE), 1.0)),
        "PATH": os.pathsep.join(scripts),
        "PYTHONPATH": os.pathsep.join(path),
        "RAY_TMPDIR": str(scratch),
    }
    return kept | ENVIRONMENT | own


@contextmanager
def federation(
    place: FederationFolder, clients: int, *, simulation: bool = False, **config: Any
) -> Iterator[Federation]:
    """A SuperLink and its SuperNodes on loopback; `config` is added to every node's config."""
    mark = uuid.uuid4().hex
    with ExitStack() as stack:
        place.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = tempfile.TemporaryDirectory(prefix="acdpp-", ignore_cleanup_errors=True)
        environment = process_environment(mark, Path(stack.enter_context(temporary)), clients)
        shutil.rmtree(place.logs, ignore_errors=True)  # errors of an earlier start
        made = make_certificates(place.certificates, [HOST])
        started = stack.enter_context(_ended_together(mark))
        running = Federation(place, clients, simulation, mark, environment, made, started, free_ports())
        running.start_link()
        running.operator = stack.enter_context(operator_of(running.address, made.authority))
        for client in () if simulation else range(clients):
            running.admit(client, buffer=str(place.client(client) / "samples"), **config)
            running.start_node(client)
        yield running


def last_error(log: Path) -> str:
    """The last line of a log with an error, else its last line, and the path of the log."""
    lines = []
    with suppress(OSError):
        with log.open("rb") as handle:
            handle.seek(max(handle.seek(0, os.SEEK_END) - LOG_TAIL_BYTES, 0))
            text = COLOUR.sub("", handle.read().decode(errors="replace"))
        lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if ERROR.search(line)]
    said = (errors or lines or ["no output"])[-1]
    return f"{said:.300} (log: {str(log)!r})"
