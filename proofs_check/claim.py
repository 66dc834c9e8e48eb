r"""Claims: a statement, the checks that test it, and a correction where it is wrong.

A claim is plain data. A check is a function of no argument, or of a `Context`, that returns `Evidence`; the engines in
`proofs_check.engines` build it. Three places for checks:

* `checks`: about the statement as printed;
* `checks_with_hypotheses`: about the statement under the added `hypotheses`. They count only if a check of the first
  kind fails: the verdict is then `conditional` instead of `refuted`. Where the paper leaves a setting open, evidence
  names its `choice` instead, and the verdict follows from all of them (`proofs_check.evidence.verdict`);
* `corrected.checks`: about the corrected statement.

A statement of several parts maps each part to its checks, and every part needs evidence. The checks of a part are links
of one argument: the weakest decides, except those marked `confirming`.

Texts have mathematics between dollar signs (`proofs_check.text`); a `formula` is all LaTeX. `given` names what a
verdict rests on besides its checks: a cited theorem, or an argument in words.

The verdict is on the letter of the statement. `substance` names what decides the verdict on the substance, by the rule
in `proofs_check/README.md`: `"corrected"` where the letter fails by a slip, or the label of a reading, a claim below
this one. `repair` is the least change that would make the statement true and useful.

A module of claims ends in a list `CLAIMS`. `proofs_check/README.md` shows how to write a claim of your own.
"""

import inspect
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, wraps
from typing import Any, Literal

from proofs_check.context import Context, Profile
from proofs_check.evidence import Evidence, Verdict, by_choice, verdict

__all__ = ["WRITTEN", "Case", "Check", "CheckError", "Checks", "Claim", "Correction", "Given"]
__all__ += ["Role", "confirming", "decide", "qualified", "run_check"]

Check = Callable[..., Evidence]
Checks = tuple[Check, ...] | Mapping[str, Check | tuple[Check, ...]]
Role = Literal["stated", "hypotheses", "corrected"]


class CheckError(RuntimeError):
    """A check broke, or a part of a statement has no check: a fault of the checker, never evidence."""


@cache
def confirming(check: Check) -> Check:
    """Mark a check as a confirmation: it must hold, but is no link of the argument, so its strength does not count."""

    @wraps(check)
    def confirmed(*arguments: Any) -> Evidence:
        return replace(check(*arguments), confirms=True)

    setattr(confirmed, "confirms", True)  # noqa: B010
    return confirmed


@dataclass(frozen=True)
class Given:
    """A premise that no check covers: `name` stands beside the verdict, `says` tells what is assumed."""

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


@dataclass(frozen=True, kw_only=True)
class Checked:
    """A statement with its checks: `title` is its short form for tables, `symbols` explains those that
    `proofs_check.symbols` does not.
    """

    title: str
    statement: str
    checks: Checks
    formula: str = ""
    given: tuple[Given, ...] = ()
    hypotheses: tuple[str, ...] = ()
    symbols: Mapping[str, str] = field(default_factory=dict)

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the statement's parts; empty for a statement of one piece."""
        return tuple(self.checks) if isinstance(self.checks, Mapping) else ()


@dataclass(frozen=True, kw_only=True)
class Correction(Checked):
    """The true statement in place of a wrong one, with checks of its own; `sketch` is its proof in words."""

    sketch: str


@dataclass(frozen=True, kw_only=True)
class Claim(Checked):
    """A statement of the paper in our words, or (kind `addition`) a statement of our own. `domain` says for which
    arguments it is claimed; `section` is the folder of its file.
    """

    id: str
    kind: str = "addition"
    domain: str
    checks_with_hypotheses: Checks = ()
    corrected: Correction | None = None
    sketch: str = ""
    substance: str = ""
    repair: str = ""
    section: str = ""

    def __post_init__(self) -> None:
        if not self.checks:
            raise ValueError(f"claim {self.id} has no check that could decide it")
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
        """Pairs (part, check) in one role."""
        if role == "corrected":
            return _listed(self.corrected.checks) if self.corrected else []
        return _listed(self.checks if role == "stated" else self.checks_with_hypotheses)

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the statement's parts; empty for a statement of one piece."""
        more = self.checks_with_hypotheses
        return tuple(dict.fromkeys((*(more if isinstance(more, Mapping) else ()), *super().parts)))


@dataclass(frozen=True)
class Case:
    """A claim with all its evidence, from which the verdicts follow."""

    claim: Claim
    stated: tuple[Evidence, ...]
    hypotheses: tuple[Evidence, ...] = ()
    corrected: tuple[Evidence, ...] = field(default=())

    def __post_init__(self) -> None:
        for role in ("stated", "hypotheses", "corrected"):
            self._demand(role)

    def _demand(self, role: Role) -> None:
        """Require evidence for every declared part and for no other, unless the statement fails."""
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
    def conditions(self) -> tuple[str, ...]:
        """Hypotheses of the statement as printed: those added, or the choices that a conditional verdict is about."""
        found = by_choice(self.stated, self.claim.parts)
        chosen = tuple(choice for choice, one in found.items() if one not in ("refuted", "undecided"))
        return chosen if self.verdict == "conditional" and chosen else self.claim.hypotheses

    @property
    def corrected_verdict(self) -> Verdict | None:
        """The verdict on the corrected statement, if there is one."""
        correction = self.claim.corrected
        return verdict(self.corrected, parts=correction.parts) if correction else None


def qualified(verdict: str, given: tuple[Given, ...]) -> str:
    """A verdict with what it rests on; a refutation rests on its counterexample alone.

    >>> qualified("proved", (Given("Haussler 1995", "Corollary 3"),))
    'proved, given Haussler 1995'
    """
    if verdict in ("refuted", "undecided") or not given:
        return verdict
    return f"{verdict}, given {' and '.join(g.name for g in given)}"


def _name(check: Check, part: str) -> str:
    """Name of a check's function; a lambda inside a claim is known by its part."""
    named = getattr(check, "func", check)  # the function of a partial
    name = str(getattr(named, "__name__", "check"))
    return name if name != "<lambda>" else part or "check"


def run_check(
    claim: Claim, role: Role, part: str, check: Check, *, seed: int = 0, profile: Profile = "quick"
) -> Evidence:
    """Run and time one check. An exception inside it becomes a `CheckError`, never evidence."""
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
    """True if a check takes the context, its only positional argument."""
    needed = [p for p in inspect.signature(check).parameters.values() if p.default is p.empty]
    return any(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in needed)


def decide(claim: Claim, *, seed: int = 0, profile: Profile = "quick") -> Case:
    """Run all checks of a claim, each once even if it is listed in several places."""
    seen: dict[Check, Evidence] = {}

    def found(role: Role) -> Iterator[Evidence]:
        for part, check in claim.checks_for(role):
            if check not in seen:
                seen[check] = run_check(claim, role, part, check, seed=seed, profile=profile)
            yield seen[check].about(part)

    return Case(claim, tuple(found("stated")), tuple(found("hypotheses")), tuple(found("corrected")))
