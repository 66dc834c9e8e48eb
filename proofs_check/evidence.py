"""Evidence that checks return, and the verdict that follows from it.

A piece of `Evidence` has a *method*, a *strength* (the worth of a positive outcome), an *outcome*, and a *certificate*
with every number needed to check it by hand.

| strength | what "holds" means | what "fails" means |
| --- | --- | --- |
| proof | true on the whole domain of the claim | disproved |
| certified | true, rigorously, on a stated range or grid inside that domain | disproved |
| certified numerically | true to a solver's accuracy, on stated parameters | in doubt: a relaxation of it is violated |
| exact | true on every example tried, without rounding | disproved: the counterexample is exact |
| experimental | re-run in the setting described, it comes out as stated | refuted, at a stated error probability |
| statistical | a confidence statement excludes a violation | a confidence statement excludes the claim |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

__all__ = ["UNSOUND", "Evidence", "Verdict", "as_plain", "by_choice", "fails", "holds", "obeying"]
__all__ += ["refutes", "spelled", "together", "undecided", "verdict"]

Method = Literal[
    "kernel", "identity", "smt", "limit", "enclosure", "exact", "worst case", "simulation", "experiment"
]
Strength = Literal["proof", "certified", "certified numerically", "exact", "experimental", "statistical"]
Outcome = Literal["holds", "fails", "open"]
UNSOUND = ("statistical", "certified numerically")  # a failure of this strength does not refute
Verdict = Literal["proved", "certified", "supported", "conditional", "refuted", "undecided"]

USUAL: dict[Method, Strength] = {
    "kernel": "proof",
    "identity": "proof",
    "smt": "proof",
    "limit": "proof",
    "enclosure": "certified",
    "exact": "exact",
    "worst case": "certified numerically",
    "simulation": "statistical",
    "experiment": "experimental",
}
# the best verdict that a positive outcome establishes
ESTABLISHES: dict[Strength, Verdict] = {
    "proof": "proved",
    "certified": "certified",
    "certified numerically": "supported",
    "exact": "supported",
    "experimental": "supported",
    "statistical": "supported",
}
RANK: tuple[Verdict, ...] = ("undecided", "supported", "certified", "proved")


@dataclass(frozen=True)
class Evidence:
    """A finding about one `part` of a statement. `pieces` counts the findings joined in it; `confirms` marks a
    confirmation, which is no link of the argument. `choice` names the value of a setting that the paper leaves open.
    """

    method: Method
    strength: Strength
    outcome: Outcome
    detail: str
    domain: str = ""
    certificate: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    part: str = ""
    pieces: int = 1
    confirms: bool = False
    choice: str = ""

    def __post_init__(self) -> None:
        for name, value, known in (
            ("method", self.method, get_args(Method)),
            ("strength", self.strength, get_args(Strength)),
            ("outcome", self.outcome, get_args(Outcome)),
        ):
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")
        if not self.detail:
            raise ValueError("evidence needs a detail that says what was seen")
        if self.outcome == "fails" and not self.certificate:
            raise ValueError("a failing check must hand over its counterexample as the certificate")
        object.__setattr__(self, "certificate", as_plain(self.certificate))

    @property
    def sound(self) -> bool:
        """True if a failure refutes by itself. A sample of runs does not, nor does a solver's worst case, whose
        comparator is any point instead of the population's minimiser.
        """
        return self.strength not in UNSOUND

    def about(self, part: str) -> Evidence:
        """Copy of this finding for a named part of the statement."""
        return replace(self, part=part)


def as_plain(value: Any) -> Any:
    """Numbers of any number system as JSON values; exact ones become text such as 13/50.

    >>> as_plain({"counts": np.array([1, 2]), "rate": Fraction(13, 50), "limit": None})
    {'counts': [1, 2], 'rate': '13/50', 'limit': None}
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): as_plain(entry) for key, entry in value.items()}
    if isinstance(value, Sequence | set | frozenset):
        return [as_plain(entry) for entry in value]
    if hasattr(value, "tolist"):  # NumPy
        return as_plain(value.tolist())
    return str(value)


def spelled(values: Mapping[str, Any]) -> str:
    """Named values in words: `K=2, t=3`."""
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _make(outcome: Outcome, method: Method, detail: str, strength: Strength | None, **rest: Any) -> Evidence:
    return Evidence(method, strength or USUAL[method], outcome, detail, **rest)


def holds(method: Method, detail: str, *, strength: Strength | None = None, **rest: Any) -> Evidence:
    """Positive evidence; `strength="certified"` where a proof covers only a part of the claim's domain.

    >>> holds("identity", "the difference reduces to 0", domain="all K >= 1").strength
    'proof'
    """
    return _make("holds", method, detail, strength, **rest)


def fails(method: Method, detail: str, *, strength: Strength | None = None, **rest: Any) -> Evidence:
    """Negative evidence; the counterexample is required as its `certificate`."""
    return _make("fails", method, detail, strength, **rest)


def undecided(method: Method, detail: str, *, strength: Strength | None = None, **rest: Any) -> Evidence:
    """No decision, with the reason as its detail."""
    return _make("open", method, detail, strength, **rest)


def together(*found: Evidence) -> Evidence:
    """Join findings of one method: they hold if each does, with the strength of the weakest.

    >>> together(holds("smt", "t >= K"), holds("smt", "t < K")).detail
    't >= K; t < K'
    """
    for outcome in ("fails", "open"):
        for e in found:
            if e.outcome == outcome:
                return e
    weakest = min(found, key=lambda e: RANK.index(ESTABLISHES[e.strength]))
    certificate = {
        f"{i}: {key}": value for i, e in enumerate(found, 1) for key, value in e.certificate.items()
    }
    detail = "; ".join(dict.fromkeys(e.detail for e in found))
    domain = "; ".join(dict.fromkeys(e.domain for e in found))
    pieces = sum(e.pieces for e in found)
    return replace(weakest, detail=detail, domain=domain, certificate=certificate, pieces=pieces)


def obeying(found: Evidence, facts: Mapping[str, Evidence]) -> Evidence:
    """A counterexample with evidence that it satisfies each hypothesis; open if one of these is not rigorous.

    >>> counterexample = fails("exact", "excess 3 > 2", certificate={"T": 4})
    >>> obeying(counterexample, {"|f'| <= G": holds("smt", "unsat")}).outcome
    'fails'
    >>> obeying(counterexample, {"|f'| <= G": fails("smt", "violated", certificate={"x": 1})}).outcome
    'open'
    """
    rigorous = ("proof", "certified")
    missing = [name for name, e in facts.items() if e.outcome != "holds" or e.strength not in rigorous]
    shown = {f"it satisfies {name}": fact.detail for name, fact in facts.items() if name not in missing}
    pieces = found.pieces + sum(fact.pieces for fact in facts.values())
    found = replace(found, certificate={**found.certificate, **shown}, pieces=pieces)
    if missing:
        names = ", ".join(missing)
        return replace(found, outcome="open", detail=f"the example was not shown to satisfy: {names}")
    return found


def refutes(negation: Evidence, detail: str) -> Evidence:
    """Turn evidence for a statement's negation into evidence against the statement.

    >>> refutes(holds("smt", "no solution", certificate={"K": "any"}), "contradictory").outcome
    'fails'
    """
    if negation.outcome == "holds":
        return replace(negation, outcome="fails", detail=detail)
    return replace(negation, outcome="open", detail=f"the negation was not shown: {negation.detail}")


def _positive(evidence: Iterable[Evidence]) -> Verdict:
    """Verdict on one part: all its evidence must hold, and the weakest link that is no confirmation decides."""
    found = list(evidence)
    if any(e.outcome != "holds" for e in found):
        return "undecided"
    links = [e for e in found if not e.confirms] or found
    return min((ESTABLISHES[e.strength] for e in links), key=RANK.index, default="undecided")


def verdict(
    stated: Sequence[Evidence], with_hypotheses: Sequence[Evidence] = (), *, parts: Sequence[str] = ()
) -> Verdict:
    """Verdict on a statement, from evidence about it as stated and under added hypotheses.

    One sound failure refutes, and the verdict is `conditional` if the statement is established under the added
    hypotheses. An unsound failure alone leaves it undecided. Otherwise the weakest part decides. Where the paper leaves
    a setting open, the statement is refuted or established if it is so for every choice that was judged, `conditional`
    if it is established for one and refuted for another, and else undecided.

    >>> sampled, proof = holds("exact", "200 sequences"), holds("identity", "difference is 0")
    >>> verdict([sampled, proof]), verdict([replace(sampled, confirms=True), proof])
    ('supported', 'proved')
    >>> counterexample = fails("exact", "wrong at K=2", certificate={"K": 2})
    >>> verdict([counterexample]), verdict([counterexample], [holds("smt", "unsat for K=1")])
    ('refuted', 'conditional')
    >>> beyond = fails("worst case", "2 against 1", certificate={"worst case": 2})
    >>> verdict([beyond]), verdict([beyond, holds("smt", "unsat")]), verdict([beyond, counterexample])
    ('undecided', 'undecided', 'refuted')
    >>> verdict([holds("smt", "unsat").about("t >= K")], parts=("t >= K", "t < K"))
    'undecided'
    >>> verdict([undecided("enclosure", "the balls overlap")])
    'undecided'
    >>> one, other = replace(counterexample, choice="V = 10"), replace(sampled, choice="V = 1000")
    >>> verdict([one, other]), verdict([one, replace(other, outcome="open")]), verdict([one, other, counterexample])
    ('conditional', 'undecided', 'refuted')
    """
    found = {*by_choice(stated, parts).values()}
    if found == {"refuted"}:
        return "conditional" if verdict(with_hypotheses, parts=parts) in RANK[1:] else "refuted"
    if "refuted" in found:
        return "conditional" if found & {*RANK[1:]} else "undecided"
    return min(found, key=RANK.index)


def by_choice(stated: Sequence[Evidence], parts: Sequence[str] = ()) -> dict[str, Verdict]:
    """Verdicts by choice in a setting that the paper leaves open; a finding without a choice belongs to all."""

    def one(found: Sequence[Evidence]) -> Verdict:
        if any(e.outcome == "fails" and e.sound for e in found):
            return "refuted"
        return min((_positive(e for e in found if e.part == part) for part in parts or ("",)), key=RANK.index)

    choices = dict.fromkeys(e.choice for e in stated if e.choice) or {"": None}
    return {choice: one([e for e in stated if e.choice in ("", choice)]) for choice in choices}
