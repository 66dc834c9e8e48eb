"""What `flwr supernode register`, `flwr run` and `flwr ls` do, without a process for each: fifty nodes take no minute.

What this project uses of Flower's inner parts is here, in `superlink` and in `post`; `pyproject.toml` holds Flower to
one minor version.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_ssh_public_key
from flwr.cli.build import build_fab_from_disk
from flwr.common.constant import Status
from flwr.common.serde import fab_to_proto
from flwr.proto.control_pb2 import ListRunsRequest, RegisterNodeRequest, StartRunRequest
from flwr.proto.federation_config_pb2 import SimulationConfig
from flwr.supercore.control import ControlHttpClient
from flwr.supercore.fab import Fab
from flwr.supercore.interceptors import RuntimeVersionHttpInterceptor

from theory.setting import SettingError

__all__ = ["Operator", "operating"]


class Operator:
    """The SuperLink, as its operator speaks to it."""

    def __init__(self, client: ControlHttpClient) -> None:
        self._client = client

    def register(self, public_key: Path) -> int:
        """Let the node with this key take part; returns its number."""
        key = load_ssh_public_key(public_key.read_bytes())
        pem = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        with _said("the server did not register a client"):
            return int(self._client.RegisterNode(RegisterNodeRequest(public_key=pem)).node_id)

    def start(self, app: Path, simulated: int | None = None) -> int:
        """Start the app of a folder, with so many simulated clients or with the nodes; returns the run's number."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Flower's own dependencies
            content = build_fab_from_disk(app)
        fab = fab_to_proto(Fab(hashlib.sha256(content).hexdigest(), content, {}))
        engine = None
        if simulated is not None:
            engine = SimulationConfig(
                num_supernodes=simulated,
                client_resources_num_cpus=1,
                client_resources_num_gpus=0.0,
                backend="ray",
                init_args_logging_level="WARNING",
                init_args_log_to_driver=True,
            )
        with _said("the server did not start the run"):
            answer = self._client.StartRun(StartRunRequest(fab=fab, override_federation_config=engine))
        return int(answer.run_id)

    def over(self, run: int) -> bool:
        """Whether a run has ended, however it did."""
        with _said("the server does not answer"):
            answer = self._client.ListRuns(ListRunsRequest(run_id=run))
        return bool(answer.run_dict[run].status.status == Status.FINISHED)


@contextmanager
def operating(address: str, authority: Path) -> Iterator[Operator]:
    """Speak to the SuperLink at an address of this machine, whatever proxy there is for others."""
    with _no_proxy():
        client = ControlHttpClient.from_server_address(
            server_address=address,
            insecure=False,
            root_certificates=authority.read_bytes(),
            interceptors=[RuntimeVersionHttpInterceptor(component_name="flwr CLI")],
        )
    try:
        yield Operator(client)
    finally:
        client.close()


@contextmanager
def _no_proxy() -> Iterator[None]:
    """The client looks for proxies once, when it is made."""
    before = os.environ.get("NO_PROXY")
    os.environ["NO_PROXY"] = "*"
    try:
        yield
    finally:
        if before is None:
            del os.environ["NO_PROXY"]
        else:
            os.environ["NO_PROXY"] = before


@contextmanager
def _said(what: str) -> Iterator[None]:
    try:
        yield
    except httpx.HTTPError as error:
        raise SettingError(f"{what} ({' '.join(str(error).split()) or type(error).__name__})") from None
