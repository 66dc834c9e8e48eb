r"""Claims: a statement, the checks that test it, and, where it is wrong, what to say instead.

A claim is plain data. A check is a function of no argument, or of a `Context`, that returns one piece of
`Evidence`; the engines in `proofs_check.engines` build it. Three places for checks:

* `checks`: about the statement as it is printed;
* `checks_with_hypotheses`: about the same statement when the added `hypotheses` hold (only looked at when a
  check of the first kind fails: then the verdict is `conditional` and not `refuted`);
* `corrected.checks`: about the corrected statement.

A statement with several parts names them: `evidence.about("lower bound")`. Its verdict is then that of its
weakest part.

A module of claims ends in a list `CLAIMS`. `proofs_check/README.md` shows how to write a claim of your own.
"""

from __future__ import annotations

import inspect
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from proofs_check.evidence import Evidence, Verdict, verdict

__all__ = [
    "Case",
    "Check",
    "CheckError",
    "Claim",
    "Context",
    "Correction",
    "Profile",
    "Role",
    "decide",
    "run_check",
]

Profile = Literal["quick", "full"]
Check = Callable[..., Evidence]
Role = Literal["stated", "hypotheses", "corrected"]


class CheckError(RuntimeError):
    """A check broke. That is a fault of the checker, never evidence."""


@dataclass(frozen=True)
class Context:
    """What a check may depend on besides the mathematics: the seed, and how much work it may do."""

    seed: int = 0
    profile: Profile = "quick"
    claim: str = ""
    check: str = ""

    @property
    def key(self) -> list[int]:
        """Seed material that depends on the claim and the check, not on the order in which they run."""
        return [self.seed, zlib.crc32(self.claim.encode()), zlib.crc32(self.check.encode())]

    def generator(self) -> np.random.Generator:
        """A fresh NumPy generator for this check."""
        return np.random.default_rng(self.key)

    @property
    def number(self) -> int:
        """One integer seed for this check, for tools that take nothing else (Hypothesis)."""
        return int(np.random.SeedSequence(self.key).generate_state(1)[0])

    def choose(self, quick: Any, full: Any) -> Any:
        """The work for this profile: `context.choose(100, 2000)` examples."""
        return quick if self.profile == "quick" else full


@dataclass(frozen=True, kw_only=True)
class Correction:
    """What holds in place of a wrong statement: in words and symbols, a proof sketch, and checks of its own.

    `title` says it in a few words, for tables; `sketch` tells why it is true, for a sceptical reader.
    """

    statement: str
    checks: tuple[Check, ...]
    title: str = ""
    latex: str = ""
    unicode: str = ""
    sketch: str = ""
    hypotheses: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One statement of the paper. `statement` is in our words; `domain` says for which arguments it is
    claimed.
    """

    id: str
    kind: str
    title: str
    statement: str
    checks: tuple[Check, ...]
    latex: str = ""
    unicode: str = ""
    domain: str = ""
    hypotheses: tuple[str, ...] = ()
    checks_with_hypotheses: tuple[Check, ...] = ()
    corrected: Correction | None = None

    def __post_init__(self) -> None:
        if not self.checks:
            raise ValueError(f"claim {self.id} has no check: nothing could ever decide it")
        if self.checks_with_hypotheses and not self.hypotheses:
            raise ValueError(f"claim {self.id} has checks with added hypotheses but does not name these")

    def checks_for(self, role: Role) -> tuple[Check, ...]:
        """The checks about the statement as printed, under added hypotheses, or about the correction."""
        if role == "corrected":
            return self.corrected.checks if self.corrected else ()
        return self.checks if role == "stated" else self.checks_with_hypotheses


@dataclass(frozen=True)
class Case:
    """A claim with all its evidence; the verdicts follow."""

    claim: Claim
    stated: tuple[Evidence, ...]
    hypotheses: tuple[Evidence, ...] = ()
    corrected: tuple[Evidence, ...] = field(default=())

    @property
    def verdict(self) -> Verdict:
        """The verdict on the statement as printed."""
        return verdict(self.stated, self.hypotheses)

    @property
    def corrected_verdict(self) -> Verdict | None:
        """The verdict on the corrected statement, if there is one."""
        return verdict(self.corrected) if self.claim.corrected else None


def run_check(claim: Claim, role: Role, index: int, *, seed: int = 0, profile: Profile = "quick") -> Evidence:
    """Run one check and time it. An exception in it is a `CheckError`: never evidence, never swallowed."""
    check = claim.checks_for(role)[index]
    name = getattr(check, "__name__", f"{role} {index}")
    context = Context(seed, profile, claim.id, f"{role}:{index}:{name}")
    start = time.perf_counter()
    try:
        found = check(context) if inspect.signature(check).parameters else check()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise CheckError(f"check {name} of claim {claim.id} broke: {reason}") from error
    if not isinstance(found, Evidence):
        kind = type(found).__name__
        raise CheckError(f"check {name} of claim {claim.id} returned {kind} instead of Evidence")
    return replace(found, seconds=time.perf_counter() - start)


def decide(claim: Claim, *, seed: int = 0, profile: Profile = "quick") -> Case:
    """Run all checks of a claim. One that stands in two places runs once."""
    seen: dict[Check, Evidence] = {}

    def found(role: Role) -> tuple[Evidence, ...]:
        for index, check in enumerate(claim.checks_for(role)):
            if check not in seen:
                seen[check] = run_check(claim, role, index, seed=seed, profile=profile)
        return tuple(seen[check] for check in claim.checks_for(role))

    return Case(claim, found("stated"), found("hypotheses"), found("corrected"))
