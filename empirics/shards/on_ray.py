"""Workers on Ray: a local Ray for the duration of the study, or an existing cluster.

Data go to the workers only: Ray's usage statistics and dashboard are off, and a local Ray listens on loopback only.
"""

import gc
import os
import socket
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from empirics.settings.study import Study
from empirics.shards.shard import Worker
from empirics.shards.split import most_shards
from empirics.shards.workers import WorkerLost
from theory.setting import SettingError

__all__ = ["WAITING_SECONDS", "RayBackend", "gpu_shares", "opened", "placed", "refuse_address"]

LOCAL = "ray"
CLUSTER_ANSWER_SECONDS_MAX = 10.0
WAITING_SECONDS = 15.0  # before a warning that workers have not started
RESUME = "see that it runs; continue the saved result by acdpp resume"
RESOURCE_PARTS = 10_000  # Ray's unit of a resource


def refuse_address(on: str) -> None:
    """Refuse an invalid address, and a missing package."""
    host, _, port = on.removeprefix("ray://").rpartition(":")
    if on != LOCAL and not (host and port.isdigit()):
        raise SettingError(
            f"--on takes ray, for this machine, or a cluster's address, ray://HOST:PORT or HOST:PORT, got {on!r}"
        )
    if find_spec("ray") is None:
        raise SettingError("training on Ray needs ray: pip install 'acdpp[ray]'")


def gpu_shares(shards: int, cards: int) -> tuple[float, float]:
    """The share of a GPU that each shard requests, and that of a worker in place of a lost one.

    Ray takes a share from one card. The shares are as large as possible, and what they leave of a card suffices for
    replacements of all workers.

    >>> gpu_shares(2, 2), gpu_shares(3, 2)
    ((0.75, 0.125), (0.4166, 0.0556))
    """
    shared = -(-shards // cards)
    # between 1 / (shared + 1) and 1 / shared
    first = max(RESOURCE_PARTS * (2 * shared + 1) // (2 * shared * (shared + 1)), 1)
    later = max((RESOURCE_PARTS - shared * first) // shards, 1)
    return first / RESOURCE_PARTS, later / RESOURCE_PARTS


def placed(shards: int, cores: Sequence[float]) -> list[int]:
    """The node of each shard, so that shards share cores as evenly as possible.

    >>> placed(5, [1, 0, 4])
    [2, 2, 2, 0, 2]
    """
    found, ends = list[int](), {node: 1 for node, has in enumerate(cores) if has}
    for _ in range(shards):
        found.append(min(ends, key=lambda node: ends[node] / cores[node]))
        ends[found[-1]] += 1
    return found


@contextmanager
def _connected() -> Iterator[None]:
    """Report a lost connection of Ray's client in a sentence."""
    try:
        yield
    except ConnectionError as error:
        raise _cut_off(error) from None


class RayBackend:
    """A backend whose workers are Ray's actors."""

    @_connected()
    def __init__(self, ray: Any, study: Study, device: str, shards: int | None) -> None:
        self.ray, self.actor = ray, ray.remote(Worker)
        kind = "GPU" if device == "cuda" else "CPU"
        alive = [node for node in ray.nodes() if node["Alive"]]
        has = [node["Resources"].get(kind, 0.0) for node in alive]
        if not any(has):
            raise SettingError(f"this Ray has no {kind}: use --device {'cpu' if kind == 'GPU' else 'cuda'}")
        each = 1 if kind == "GPU" else study.threads or 1
        slots = max(sum(int(one // each) for one in has), 1)
        self.shards = min(slots, most_shards(study)) if shards is None else shards
        # no cores are requested: a wait for cores used by others, or by this task, might never end
        self.first, self.later = {"num_cpus": 0.0}, {"num_cpus": 0.0}
        self.nodes: list[str] = []  # of workers not yet started
        self.kind, self.to_begin, self.told = kind, list[Any](), False
        if kind == "GPU":
            self.first["num_gpus"], self.later["num_gpus"] = gpu_shares(self.shards, slots)
        else:
            self.nodes = [alive[node]["NodeID"] for node in reversed(placed(self.shards, has))]

    @_connected()
    def shared(self, thing: Any) -> Any:
        return self.ray.put(thing)

    @_connected()
    def start(self, *, again: bool) -> Any:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        wanted = self.later if again else self.first
        place: Any = "SPREAD"
        if self.nodes and not again:
            place = NodeAffinitySchedulingStrategy(self.nodes.pop(), soft=True)
        return self.actor.options(max_restarts=0, scheduling_strategy=place, **wanted).remote()

    @_connected()
    def ask(self, worker: Any, what: str, *given: Any) -> Any:
        ticket = getattr(worker, what).remote(*given)
        if what == "make":
            self.to_begin.append(ticket)
        return ticket

    @_connected()
    def wait(self, tickets: Sequence[Any]) -> int:
        # without GPUs, workers wait for nothing but their own start
        idle = [ticket for ticket in tickets if self.kind == "GPU" and ticket in self.to_begin]
        ready, _ = self.ray.wait(list(tickets), timeout=WAITING_SECONDS if idle and not self.told else None)
        if not ready:
            self.told = True
            warnings.warn(self._waiting(len(idle)), stacklevel=2)
            ready, _ = self.ray.wait(list(tickets))
        (first,) = ready
        return tickets.index(first)

    def _waiting(self, count: int) -> str:
        resources = (self.ray.cluster_resources(), self.ray.available_resources())
        has, free = (found.get(self.kind, 0.0) for found in resources)
        return (
            f"{count} of {self.shards} workers are not ready after {WAITING_SECONDS:.0f} s: each requests "
            f"{self.first['num_gpus']:.3g} of a GPU, and {free:.3g} of {has:g} {self.kind}s are free"
        )

    def answer(self, ticket: Any) -> Any:
        from ray import exceptions as known

        lost = (
            known.RayActorError,
            known.WorkerCrashedError,
            known.NodeDiedError,
            known.ObjectLostError,
            known.OutOfMemoryError,
        )
        try:
            return self.ray.get(ticket)
        except known.RayTaskError as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, SettingError):
                raise SettingError(str(cause)) from None
            if isinstance(cause, MemoryError):
                raise MemoryError(str(cause)) from None
            if isinstance(cause, lost):
                raise WorkerLost(_short(cause)) from None
            raise
        except lost as error:
            if getattr(error, "actor_init_failed", False):
                raise SettingError(
                    f"a worker cannot load acdpp ({_short(error, -1)}): install one version everywhere"
                ) from None
            raise WorkerLost(_short(error)) from None
        except known.RayError as error:
            raise SettingError(f"Ray itself failed ({_short(error)}): {RESUME}") from None
        except ConnectionError as error:
            raise _cut_off(error) from None

    def end(self, worker: Any) -> None:
        with suppress(Exception):
            self.ray.kill(worker)


def _short(error: BaseException, line: int = 0) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[line] if lines else type(error).__name__)[:200]


def _cut_off(error: ConnectionError) -> SettingError:
    return SettingError(f"the connection to Ray is lost ({_short(error)}): {RESUME}")


@contextmanager
def opened(on: str, study: Study, device: str, shards: int | None) -> Iterator[RayBackend]:
    """A backend on a local Ray or a cluster, for the duration of a study."""
    refuse_address(on)
    if device not in ("cpu", "cuda"):
        raise SettingError(f"on Ray the device is cpu or cuda, and Ray chooses which, got {device!r}")
    if on != LOCAL:
        _refuse_silence(on)
    given = {"RAY_USAGE_STATS_ENABLED": "0"}
    if on == LOCAL:  # read when Ray is loaded: without clusters it listens on loopback only
        given["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    with _environment(given), _session(on) as ray:
        yield RayBackend(ray, study, device, shards)


@contextmanager
def _session(on: str) -> Iterator[Any]:
    """Ray, initialised by the caller, who keeps it, or for the duration of a study."""
    ray: Any = import_module("ray")
    if ray.is_initialized():
        if on != LOCAL:
            raise SettingError(f"Ray is already initialised: use --on {LOCAL} for that session, got {on!r}")
        yield ray
        return
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    local = {"address": "local", "include_dashboard": False}
    try:
        with _silence():
            ray.init(**(local if on == LOCAL else {"address": on}), **quiet)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        raise SettingError(f"Ray cannot be reached at {on!r} ({_short(error)}): see that it runs") from None
    try:
        with _connected():
            places = {node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"]}
        if on == LOCAL and places not in ({"127.0.0.1"}, {"::1"}):
            warnings.warn(
                "Ray was loaded before acdpp, and listens to other machines: load acdpp first", stacklevel=2
            )
        yield ray
    finally:
        with _silence(), suppress(ConnectionError):
            ray.shutdown()
            gc.collect()  # else Python warns later of Ray's ended processes


@contextmanager
def _environment(given: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables within a block."""
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _refuse_silence(on: str) -> None:
    """Refuse an address without a server, for which Ray would wait forever."""
    host, _, port = on.removeprefix("ray://").rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), CLUSTER_ANSWER_SECONDS_MAX).close()
    except (OSError, OverflowError) as error:
        raise SettingError(f"no answer from {host}:{port} ({error}): see that Ray runs there") from None


@contextmanager
def _silence() -> Iterator[None]:
    """Suppress Ray's own warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
