"""Workers on Ray: a local one that is started for the study and ended with it, or a cluster that is there.

Nothing of ours is sent anywhere but to the workers: Ray's usage statistics and its dashboard are off, and a local Ray
listens on the loopback address alone.
"""

from __future__ import annotations

import gc
import os
import socket
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import Any

from empirics.settings.study import Study
from empirics.shards.crew import Lost
from empirics.shards.shard import Worker
from empirics.shards.split import most_parts
from theory.setting import SettingError

__all__ = ["OnRay", "opened", "per_slot", "refuse_address", "slots"]

LOCAL = "ray"
WAIT = 10.0  # seconds that a cluster may take to answer
GPU_AGAIN = 0.05  # of a GPU, that a worker in place of a lost one asks for: the other's place may be gone


def refuse_address(on: str) -> None:
    """An address that is none, and a package that is not installed, before anything is read."""
    host, _, port = on.removeprefix("ray://").rpartition(":")
    if on != LOCAL and not (host and port.isdigit()):
        raise SettingError(
            f"--on takes ray, for one on this machine, or a cluster's address, ray://HOST:PORT or HOST:PORT, got {on!r}"
        )
    if find_spec("ray") is None:
        raise SettingError("training on Ray needs ray: pip install 'acdpp[ray]'")


def per_slot(count: int, nodes: Sequence[float], need: float) -> float:
    """How much of a resource each of so many shards gets, at most `need`: as much as lets all of them in.

    >>> per_slot(2, [1, 4], 1), per_slot(3, [1, 1], 1), per_slot(9, [4], 1)
    (1, 0.5, 0.4444)
    """
    tried = sorted({need, *(node / k for node in nodes for k in range(1, count + 1) if node)}, reverse=True)
    fits = (each for each in tried if each <= need and slots(nodes, each) >= count)
    found = next(fits, 0.0)
    return found if found == need else int(found * 1e4) / 1e4  # Ray counts in parts of ten thousand


def slots(nodes: Sequence[float], each: float) -> int:
    """How many shards that take so much find room."""
    return sum(int(node / each + 1e-9) for node in nodes)


class OnRay:
    """An office: workers are actors."""

    def __init__(self, ray: Any, study: Study, device: str, shards: int | None) -> None:
        self.ray, self.actor = ray, ray.remote(Worker)
        kind = "GPU" if device == "cuda" else "CPU"
        alive = [node for node in ray.nodes() if node["Alive"]]
        self.places = [node["NodeManagerAddress"] for node in alive]
        nodes = [node["Resources"].get(kind, 0.0) for node in alive]
        need = 1.0 if kind == "GPU" else float(study.threads or 1)
        if not any(nodes):
            raise SettingError(f"this Ray has no {kind}: use --device {'cpu' if kind == 'GPU' else 'cuda'}")
        self.shards = shards or min(max(slots(nodes, need), 1), most_parts(study))
        each = per_slot(self.shards, nodes, need)
        if kind == "CPU":
            self.first, self.later = {"num_cpus": each}, {"num_cpus": 0.0}
        else:
            # just so much that no other fits beside it: what is left is for those who lose their place
            shared = int(1 / each + 1e-9)
            self.first = {"num_cpus": 0.0, "num_gpus": round(1 / (shared + 1) + 0.01, 4)}
            self.later = {"num_cpus": 0.0, "num_gpus": GPU_AGAIN}

    def shared(self, thing: Any) -> Any:
        return self.ray.put(thing)

    def hire(self, *, again: bool) -> Any:
        wanted = self.later if again else self.first
        return self.actor.options(max_restarts=0, scheduling_strategy="SPREAD", **wanted).remote()

    def ask(self, worker: Any, what: str, *given: Any) -> Any:
        return getattr(worker, what).remote(*given)

    def wait(self, tickets: Sequence[Any]) -> int:
        ready, _ = self.ray.wait(list(tickets), num_returns=1)
        return tickets.index(ready[0])

    def answer(self, ticket: Any) -> Any:
        from ray.exceptions import RayError, RayTaskError

        try:
            return self.ray.get(ticket)
        except RayTaskError as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, SettingError):
                raise SettingError(str(cause)) from None
            if isinstance(cause, MemoryError):
                raise MemoryError(str(cause)) from None
            raise
        except RayError as error:
            raise Lost(_short(error)) from None

    def fire(self, worker: Any) -> None:
        with suppress(Exception):
            self.ray.kill(worker)


def _short(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:200]


@contextmanager
def opened(on: str, study: Study, device: str, shards: int | None) -> Iterator[OnRay]:
    """Ray, local or a cluster's, for as long as the study runs."""
    refuse_address(on)
    if device not in ("cpu", "cuda"):
        raise SettingError(f"on Ray the device is cpu or cuda, and Ray chooses which, got {device!r}")
    if on != LOCAL:
        _refuse_silence(on)
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    if on == LOCAL:  # read when Ray is loaded: without clusters it keeps to the loopback address
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    import ray

    if ray.is_initialized():
        yield OnRay(ray, study, device, shards)  # a session of the caller's own
        return
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    local = {"address": "local", "include_dashboard": False}
    try:
        with _silence():
            ray.init(**(local if on == LOCAL else {"address": on}), **quiet)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        raise SettingError(f"Ray cannot be reached at {on!r} ({_short(error)}): see that it runs") from None
    try:
        office = OnRay(ray, study, device, shards)
        if on == LOCAL and office.places not in (["127.0.0.1"], ["::1"]):
            warnings.warn(
                "Ray was loaded before acdpp, and listens to other machines too: load it later", stacklevel=2
            )
        yield office
    finally:
        with _silence():
            ray.shutdown()
            gc.collect()  # or Ray's processes, which have ended, are complained of later


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
