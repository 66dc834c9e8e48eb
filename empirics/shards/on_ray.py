"""Workers on Ray: a local one that is started for the study and ended with it, or a cluster that is there.

Nothing of ours is sent anywhere but to the workers: Ray's usage statistics and its dashboard are off, and a local Ray
listens on the loopback address alone.
"""

from __future__ import annotations

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
from empirics.shards.crew import Lost
from empirics.shards.shard import Worker
from empirics.shards.split import most_parts
from theory.setting import SettingError

__all__ = ["OnRay", "gpu_shares", "opened", "placed", "refuse_address"]

LOCAL = "ray"
WAIT = 10.0  # seconds that a cluster may take to answer
PATIENT = 15.0  # seconds after which it is told that workers have not begun
GO_ON = "see that it runs; what is saved goes on with --resume"
PARTS = 10_000  # of a resource, in which Ray counts


def refuse_address(on: str) -> None:
    """An address that is none, and a package that is not installed, before anything is read."""
    host, _, port = on.removeprefix("ray://").rpartition(":")
    if on != LOCAL and not (host and port.isdigit()):
        raise SettingError(
            f"--on takes ray, for one on this machine, or a cluster's address, ray://HOST:PORT or HOST:PORT, got {on!r}"
        )
    if find_spec("ray") is None:
        raise SettingError("training on Ray needs ray: pip install 'acdpp[ray]'")


def gpu_shares(shards: int, cards: int) -> tuple[float, float]:
    """What of a GPU each of so many shards asks for, and a worker in place of a lost one.

    Ray takes a share from one card. As many fit on a card as must, and no more; what is left of it has room for all who
    lose theirs.

    >>> gpu_shares(2, 2), gpu_shares(3, 2)
    ((0.75, 0.125), (0.4166, 0.0556))
    """
    shared = -(-shards // cards)
    between = PARTS * (2 * shared + 1) // (2 * shared * (shared + 1))  # 1 / (shared + 1) and 1 / shared
    first = max(between, 1)
    later = max((PARTS - shared * first) // shards, 1)
    return first / PARTS, later / PARTS


def placed(shards: int, cores: Sequence[float]) -> list[int]:
    """The node of each shard, so that they share cores as evenly as can be.

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
    """Ray's client says that it is cut off as if a file could not be written."""
    try:
        yield
    except ConnectionError as error:
        raise _cut_off(error) from None


class OnRay:
    """An office: workers are actors."""

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
        self.shards = min(slots, most_parts(study)) if shards is None else shards
        # no cores are asked for: who waits for those of others, or of the task that this is, waits for ever
        self.first, self.later = {"num_cpus": 0.0}, {"num_cpus": 0.0}
        self.nodes: list[str] = []  # for those to come
        self.kind, self.to_begin, self.told = kind, list[Any](), False
        if kind == "GPU":
            self.first["num_gpus"], self.later["num_gpus"] = gpu_shares(self.shards, slots)
        else:
            self.nodes = [alive[node]["NodeID"] for node in reversed(placed(self.shards, has))]

    @_connected()
    def shared(self, thing: Any) -> Any:
        return self.ray.put(thing)

    @_connected()
    def hire(self, *, again: bool) -> Any:
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
        # without GPUs nothing is waited for but a worker's own start
        idle = [ticket for ticket in tickets if self.kind == "GPU" and ticket in self.to_begin]
        ready, _ = self.ray.wait(list(tickets), timeout=PATIENT if idle and not self.told else None)
        if not ready:
            self.told = True
            warnings.warn(self._who_waits(len(idle)), stacklevel=2)
            ready, _ = self.ray.wait(list(tickets))
        return tickets.index(ready[0])

    def _who_waits(self, count: int) -> str:
        """Who is not ready, what it asks for, and what there is."""
        has, free = (
            found().get(self.kind, 0.0)
            for found in (self.ray.cluster_resources, self.ray.available_resources)
        )
        asks = f"{self.first['num_gpus']:.3g} of a GPU"
        return (
            f"{count} of {self.shards} workers are not ready after {PATIENT:.0f} s: each asks for {asks}; of {has:g} "
            f"{self.kind}s on this Ray {free:.3g} are free. It goes on when they are"
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
                raise Lost(_short(cause)) from None
            raise
        except lost as error:
            if getattr(error, "actor_init_failed", False):
                raise SettingError(
                    f"a worker cannot load acdpp ({_short(error, -1)}): install the same everywhere"
                ) from None
            raise Lost(_short(error)) from None
        except known.RayError as error:
            raise SettingError(f"Ray itself failed ({_short(error)}): {GO_ON}") from None
        except ConnectionError as error:
            raise _cut_off(error) from None

    def fire(self, worker: Any) -> None:
        with suppress(Exception):
            self.ray.kill(worker)


def _short(error: BaseException, line: int = 0) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[line] if lines else type(error).__name__)[:200]


def _cut_off(error: ConnectionError) -> SettingError:
    return SettingError(f"the connection to Ray is lost ({_short(error)}): {GO_ON}")


@contextmanager
def opened(on: str, study: Study, device: str, shards: int | None) -> Iterator[OnRay]:
    """Ray, local or a cluster's, for as long as the study runs."""
    refuse_address(on)
    if device not in ("cpu", "cuda"):
        raise SettingError(f"on Ray the device is cpu or cuda, and Ray chooses which, got {device!r}")
    if on != LOCAL:
        _refuse_silence(on)
    given = {"RAY_USAGE_STATS_ENABLED": "0"}
    if on == LOCAL:  # read when Ray is loaded: without clusters it keeps to the loopback address
        given["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    with _environment(given), _session(on) as ray:
        yield OnRay(ray, study, device, shards)


@contextmanager
def _session(on: str) -> Iterator[Any]:
    """Ray, initialised: by the caller, who then has it after the study too, or for the study."""
    ray: Any = import_module("ray")
    if ray.is_initialized():
        if on != LOCAL:
            raise SettingError(
                f"Ray is initialised already, so --on takes {LOCAL}, for that session, got {on!r}"
            )
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
                "Ray was loaded before acdpp, and listens to other machines too: load it later", stacklevel=2
            )
        yield ray
    finally:
        with _silence(), suppress(ConnectionError):
            ray.shutdown()
            gc.collect()  # or Ray's processes, which have ended, are complained of later


@contextmanager
def _environment(given: Mapping[str, str]) -> Iterator[None]:
    """Variables for as long as it lasts; then they are as they were."""
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
    """Nobody at an address, for whom Ray itself would wait without end."""
    host, _, port = on.removeprefix("ray://").rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), WAIT).close()
    except (OSError, OverflowError) as error:
        raise SettingError(f"nobody answers at {host}:{port} ({error}): see that Ray runs there") from None


@contextmanager
def _silence() -> Iterator[None]:
    """Ray's own warnings are not about the study."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
