"""The operator's side of Flower's SuperLink: register a node, start a run, ask for its status.

These are `flwr supernode register`, `flwr run` and `flwr ls` without a process for each, which for fifty nodes saves a
minute. Flower's internals are used here, in `superlink` and in `delivery`; `pyproject.toml` pins Flower to a minor
version.
"""

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

__all__ = ["Operator", "operator_of"]


class Operator:
    """The SuperLink as its operator sees it."""

    def __init__(self, client: ControlHttpClient) -> None:
        self._client = client

    def register(self, public_key: Path) -> int:
        """Admit the node with this key; returns its id."""
        key = load_ssh_public_key(public_key.read_bytes())
        pem = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        with _one_sentence("the server did not register a client"):
            return int(self._client.RegisterNode(RegisterNodeRequest(public_key=pem)).node_id)

    def start(self, app: Path, simulated: int | None = None) -> int:
        """Start the app of a folder, on the nodes or on `simulated` clients; returns the run's id."""
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
        with _one_sentence("the server did not start the run"):
            answer = self._client.StartRun(StartRunRequest(fab=fab, override_federation_config=engine))
        return int(answer.run_id)

    def over(self, run: int) -> bool:
        """True once a run has ended, successfully or not."""
        with _one_sentence("the server does not answer"):
            answer = self._client.ListRuns(ListRunsRequest(run_id=run))
        return bool(answer.run_dict[run].status.status == Status.FINISHED)


@contextmanager
def operator_of(address: str, authority: Path) -> Iterator[Operator]:
    """Connect to the SuperLink at an address of this machine, without a proxy."""
    before = os.environ.get("NO_PROXY")
    os.environ["NO_PROXY"] = "*"  # read when the client is made
    try:
        client = ControlHttpClient.from_server_address(
            server_address=address,
            insecure=False,
            root_certificates=authority.read_bytes(),
            interceptors=[RuntimeVersionHttpInterceptor(component_name="flwr CLI")],
        )
    finally:
        if before is None:
            del os.environ["NO_PROXY"]
        else:
            os.environ["NO_PROXY"] = before
    try:
        yield Operator(client)
    finally:
        client.close()


@contextmanager
def _one_sentence(failure: str) -> Iterator[None]:
    try:
        yield
    except httpx.HTTPError as error:
        raise SettingError(f"{failure} ({' '.join(str(error).split()) or type(error).__name__})") from None
