"""What tests that plant errors share: a claim by its label, and caches that forget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

import pytest

from proofs_check.claim import CheckError, Claim, run_check
from proofs_check.evidence import Evidence, verdict

__all__ = ["claim_of", "established", "forgetting"]

ESTABLISHED = ("proved", "certified", "supported")


def claim_of(modules: Iterable[ModuleType], label: str) -> Claim:
    """The one claim of these modules that has this label."""
    (found,) = [claim for module in modules for claim in module.CLAIMS if claim.id == label]
    return found


def established(claim: Claim) -> bool:
    """Whether the statement is, check by check up to the first that does not hold: nothing after it mends that.

    A check that breaks stops the run, so that is noticed, too.
    """
    seen: list[Evidence] = []
    for part, check in claim.checks_for("stated"):
        try:
            seen.append(run_check(claim, "stated", part, check, seed=0, profile="quick").about(part))
        except CheckError:
            return False
        if seen[-1].outcome != "holds":
            assert verdict(seen, parts=claim.parts) not in ESTABLISHED
            return False
    return verdict(seen, parts=claim.parts) in ESTABLISHED


def forgetting(cached: Iterable[Any]) -> Any:
    """A fixture: no evidence from before a planted error, and none of it afterwards."""

    @pytest.fixture
    def fresh() -> Iterator[None]:
        for check in cached:
            check.cache_clear()
        yield
        for check in cached:
            check.cache_clear()

    return fresh
