"""Run many claims, in this process or in several, with the same result."""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from threading import Thread

from proofs_check.claim import Case, Claim, Role, decide
from proofs_check.context import Profile
from proofs_check.evidence import Evidence
from proofs_check.registry import claims_from, labelled
from theory.setting import SettingError

__all__ = ["run"]

# a forked worker has the claims loaded; system libraries of macOS do not survive a fork
START = "fork" if sys.platform == "linux" else "spawn"
Report = Callable[[Claim], None]
_read = cache(claims_from)  # so that a worker executes a user's file once


def _work(label: str, file: Path | None, seed: int, profile: Profile) -> tuple[tuple[Evidence, ...], ...]:
    """Decide one claim in a worker, found there by its label, since functions cannot be sent between processes."""
    (claim,) = (c for c in (_read(file) if file else labelled([label])) if c.id == label)
    case = decide(claim, seed=seed, profile=profile)
    return case.stated, case.hypotheses, case.corrected


def run(
    claims: Sequence[Claim],
    *,
    seed: int = 0,
    profile: Profile = "quick",
    jobs: int = 1,
    file: Path | None = None,
    report: Report = lambda claim: None,
) -> list[Case]:
    """Cases of the given claims, in their order; `report` is called with each finished claim.

    With several jobs the claims must come from the registry or from `file`, where a worker finds them again.
    """
    cases: dict[str, Case] = {}
    if jobs == 1:
        for claim in claims:
            cases[claim.id] = decide(claim, seed=seed, profile=profile)
            report(claim)
    else:
        # claims with many checks first, so that the last to finish are short
        roles: tuple[Role, ...] = ("stated", "hypotheses", "corrected")
        by_size = sorted(claims, key=lambda c: -sum(len(c.checks_for(role)) for role in roles))
        others = set(active_children())
        with ProcessPoolExecutor(jobs, get_context(START), _end_with_parent) as pool:
            try:
                with _ctrl_c_blocked():
                    waiting = {pool.submit(_work, claim.id, file, seed, profile): claim for claim in by_size}
                for done in as_completed(waiting):
                    claim = waiting[done]
                    cases[claim.id] = Case(claim, *done.result())
                    report(claim)
            except BrokenProcessPool:
                raise SettingError("a worker was killed, perhaps for lack of memory: take --jobs 1") from None
            except BaseException:
                for worker in set(active_children()) - others:
                    worker.kill()
                pool.shutdown(cancel_futures=True)
                raise
    return [cases[claim.id] for claim in claims]


def _end_with_parent() -> None:
    """Let this worker end when its parent is gone: a killed parent cannot end its workers."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    Thread(target=watch, daemon=True).start()


@contextmanager
def _ctrl_c_blocked() -> Iterator[None]:
    """Block Ctrl-C here, and for good in the processes started meanwhile, which the parent ends."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
