"""What tests that plant errors share: a claim by its label, and caches that forget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

import pytest

from proofs_check.claim import Claim

__all__ = ["claim_of", "forgetting"]


def claim_of(modules: Iterable[ModuleType], label: str) -> Claim:
    """The one claim of these modules that has this label."""
    (found,) = [claim for module in modules for claim in module.CLAIMS if claim.id == label]
    return found


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
