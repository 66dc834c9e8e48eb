r"""Claims: a statement, the checks that test it, and, where it is wrong, what to say instead.

A claim is plain data. A check is a function of no argument, or of a `Context`, that returns one piece of
`Evidence`; the engines in `proofs_check.engines` build it. Three places for checks:

* `checks`: about the statement as it is printed;
* `checks_with_hypotheses`: about the same statement when the added `hypotheses` hold (only looked at when a
  check of the first kind fails: then the verdict is `conditional` and not `refuted`);
* `corrected.checks`: about the corrected statement.

The checks of a statement that says several things are a mapping from each part to its checks. Evidence for every
part is demanded: a part that nothing tests is a fault of the checker, not a weaker verdict. The checks of a part are
links of one argument and the weakest decides, but for those marked as `confirming`.
Words are texts (`proofs_check.text`): mathematics stands between dollar signs. A `formula` is LaTeX as a whole.
What a verdict rests on besides its checks, a cited theorem or an argument in words, is named in `given` and is
shown wherever the verdict is.

The verdict is on the letter: what is printed, however little that says. Where a reader takes something else from it,
`substance` names what gets the verdict on the substance (the rule is in `proofs_check/README.md`): `"corrected"`, the
corrected form, where the letter fails by a slip; or the label of a reading, a claim of its own below this one.
`repair` tells the authors the least that would have to be written otherwise for the statement to be true and of use.

A module of claims ends in a list `CLAIMS`. `proofs_check/README.md` shows how to write a claim of your own.
"""

from __future__ import annotations

import inspect
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, wraps
from typing import Any, Literal

import numpy as np

from proofs_check.evidence import Evidence, Verdict, verdict

__all__ = [
    "WRITTEN",
    "Case",
    "Check",
    "CheckError",
    "Checks",
    "Claim",
    "Context",
    "Correction",
    "Given",
    "Profile",
    "Role",
    "confirming",
    "decide",
    "qualified",
    "run_check",
]

Profile = Literal["quick", "full"]
Check = Callable[..., Evidence]
Checks = tuple[Check, ...] | Mapping[str, Check | tuple[Check, ...]]
Role = Literal["stated", "hypotheses", "corrected"]


class CheckError(RuntimeError):
    """A check broke, or a part of a statement has none. That is a fault of the checker, never evidence."""


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


@cache
def confirming(check: Check) -> Check:
    """The same check, booked as a confirmation: it looks at what the other checks of its part establish from
    another side, and is no link of their argument. Without this mark the weakest check of a part decides.
    """

    @wraps(check)
    def confirmed(*arguments: Any) -> Evidence:
        return replace(check(*arguments), confirms=True)

    return confirmed


@dataclass(frozen=True)
class Given:
    """What a verdict rests on besides its checks: `name` stands beside the verdict, `says` is what is taken over."""

    name: str
    says: str


WRITTEN = Given(
    "its written argument", "that the checked links compose as told under “why”, which no machine has checked"
)


def _listed(checks: Checks) -> list[tuple[str, Check]]:
    """Pairs (part, check); the part is empty where a statement has only one."""
    if not isinstance(checks, Mapping):
        return [("", check) for check in checks]
    return [
        (part, check)
        for part, several in checks.items()
        for check in (several if isinstance(several, tuple) else (several,))
    ]


def _parts(checks: Checks) -> tuple[str, ...]:
    return tuple(checks) if isinstance(checks, Mapping) else ()


@dataclass(frozen=True, kw_only=True)
class Correction:
    """What holds in place of a wrong statement: in words and symbols, a proof sketch, and checks of its own.

    `title` says it in a few words, for tables; `sketch` tells why it is true, for a sceptical reader.
    `symbols` explains those of the formula that `proofs_check.symbols` does not.
    """

    title: str
    statement: str
    checks: Checks
    sketch: str
    formula: str = ""
    given: tuple[Given, ...] = ()
    hypotheses: tuple[str, ...] = ()
    symbols: Mapping[str, str] = field(default_factory=dict)

    @property
    def parts(self) -> tuple[str, ...]:
        """What the statement consists of; nothing where it is one piece."""
        return _parts(self.checks)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One statement of the paper, or (kind `addition`) one of ours. `statement` is in our words; `domain` says
    for which arguments it is claimed; `section` is the folder that the registry found it in.
    """

    id: str
    kind: str = "addition"
    title: str
    statement: str
    domain: str
    checks: Checks
    formula: str = ""
    given: tuple[Given, ...] = ()
    hypotheses: tuple[str, ...] = ()
    checks_with_hypotheses: Checks = ()
    corrected: Correction | None = None
    sketch: str = ""
    symbols: Mapping[str, str] = field(default_factory=dict)
    substance: str = ""
    repair: str = ""
    section: str = ""

    def __post_init__(self) -> None:
        if not self.checks:
            raise ValueError(f"claim {self.id} has no check: nothing could ever decide it")
        if self.checks_with_hypotheses and not self.hypotheses:
            raise ValueError(f"claim {self.id} has checks with added hypotheses but does not name these")
        if self.kind == "addition" and not self.sketch:
            raise ValueError(f"claim {self.id} is our own, so its argument must be told in `sketch`")
        slip = self.substance == "corrected" and self.corrected is not None
        if self.substance and not slip and not self.substance.startswith(f"{self.id}/"):
            raise ValueError(
                f"the substance of claim {self.id} must be its corrected form or a reading below it"
            )

    def checks_for(self, role: Role) -> list[tuple[str, Check]]:
        """Pairs (part, check) about the statement as printed, under added hypotheses, or about the correction."""
        if role == "corrected":
            return _listed(self.corrected.checks) if self.corrected else []
        return _listed(self.checks if role == "stated" else self.checks_with_hypotheses)

    @property
    def parts(self) -> tuple[str, ...]:
        """What the statement consists of; nothing where it is one piece."""
        return tuple(dict.fromkeys((*_parts(self.checks_with_hypotheses), *_parts(self.checks))))


@dataclass(frozen=True)
class Case:
    """A claim with all its evidence; the verdicts follow."""

    claim: Claim
    stated: tuple[Evidence, ...]
    hypotheses: tuple[Evidence, ...] = ()
    corrected: tuple[Evidence, ...] = field(default=())

    def __post_init__(self) -> None:
        for role in ("stated", "hypotheses", "corrected"):
            self._demand(role)

    def _demand(self, role: Literal["stated", "hypotheses", "corrected"]) -> None:
        """Evidence for every part, and for no other; a statement that fails needs no more than its failure."""
        found: tuple[Evidence, ...] = getattr(self, role)
        if not found or any(e.outcome == "fails" and e.sound for e in found):
            return
        of = self.claim.corrected if role == "corrected" else self.claim
        declared = (of.parts if of else ()) or ("",)
        whose = "the correction of " if role == "corrected" else ""
        for part in declared:
            if not any(e.part == part for e in found):
                raise CheckError(f"nothing tests the part {part!r} of {whose}claim {self.claim.id}")
        for e in found:
            if e.part not in declared:
                raise CheckError(
                    f"{whose}claim {self.claim.id} declares no part {e.part!r}, but a check is about it"
                )

    @property
    def verdict(self) -> Verdict:
        """The verdict on the statement as printed."""
        return verdict(self.stated, self.hypotheses, parts=self.claim.parts)

    @property
    def corrected_verdict(self) -> Verdict | None:
        """The verdict on the corrected statement, if there is one."""
        correction = self.claim.corrected
        return verdict(self.corrected, parts=correction.parts) if correction else None


def qualified(verdict: str, given: tuple[Given, ...]) -> str:
    """A verdict with what it rests on: `proved, given Haussler 1995`. A refutation rests on nothing else.

    >>> qualified("proved", (Given("Haussler 1995", "Corollary 3"),))
    'proved, given Haussler 1995'
    """
    if verdict in ("refuted", "undecided") or not given:
        return verdict
    return f"{verdict}, given {' and '.join(g.name for g in given)}"


def _name(check: Check, part: str) -> str:
    """Of a function its own; one that stands inside its claim is known by its part."""
    named = getattr(check, "func", check)  # of a partial
    name = str(getattr(named, "__name__", "check"))
    return name if name != "<lambda>" else part or "check"


def run_check(
    claim: Claim, role: Role, part: str, check: Check, *, seed: int = 0, profile: Profile = "quick"
) -> Evidence:
    """Run one check and time it. An exception in it is a `CheckError`: never evidence, never swallowed."""
    name = _name(check, part)
    context = Context(seed, profile, claim.id, f"{role}:{name}")
    start = time.perf_counter()
    try:
        found = check(context) if _wants_context(check) else check()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise CheckError(f"check {name} of claim {claim.id} broke: {reason}") from error
    if not isinstance(found, Evidence):
        kind = type(found).__name__
        raise CheckError(f"check {name} of claim {claim.id} returned {kind} instead of Evidence")
    return replace(found, part=part, seconds=time.perf_counter() - start)


def _wants_context(check: Check) -> bool:
    """A check takes the context as its one positional argument, or nothing."""
    needed = [p for p in inspect.signature(check).parameters.values() if p.default is p.empty]
    return any(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in needed)


def decide(claim: Claim, *, seed: int = 0, profile: Profile = "quick") -> Case:
    """Run all checks of a claim. One that stands in two places runs once."""
    seen: dict[Check, Evidence] = {}

    def found(role: Role) -> Iterator[Evidence]:
        for part, check in claim.checks_for(role):
            if check not in seen:
                seen[check] = run_check(claim, role, part, check, seed=seed, profile=profile)
            yield seen[check].about(part)

    return Case(claim, tuple(found("stated")), tuple(found("hypotheses")), tuple(found("corrected")))
