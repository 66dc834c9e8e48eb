"""All that a check may depend on besides the mathematics: the seed of its random examples, and how many there are."""

import zlib
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

__all__ = ["Context", "Profile"]

Profile = Literal["quick", "full"]


@dataclass(frozen=True)
class Context:
    """Seed and amount of work: all that a check may depend on besides the mathematics."""

    seed: int = 0
    profile: Profile = "quick"
    claim: str = ""
    check: str = ""

    @property
    def key(self) -> list[int]:
        """Seed material from claim and check, independent of the order in which checks run."""
        return [self.seed, zlib.crc32(self.claim.encode()), zlib.crc32(self.check.encode())]

    def generator(self) -> np.random.Generator:
        """A fresh NumPy generator for this check."""
        return np.random.default_rng(self.key)

    @property
    def number(self) -> int:
        """Integer seed of this check, for tools such as Hypothesis that need one."""
        return int(np.random.SeedSequence(self.key).generate_state(1).item())

    def choose(self, quick: Any, full: Any) -> Any:
        """Amount of work for this profile: `context.choose(100, 2000)` examples."""
        return quick if self.profile == "quick" else full
