"""Claims about Section 7, made from the committed results.

A statement is the paper's, about the text's setting. Results in the released code's setting, where the policy
`released` is ACDPP, test it under that added hypothesis. If it is not established, the measurement takes its place.
The text names neither V nor ρ, so statements on ACDPP are judged for the choices in `CHOICES`.
"""

import re

from proofs_check.prelude import *

from proofs_check.claim import decide
from proofs_check.engines.experiment import ERROR, Interval, absent, measured, whatever_diverged
from proofs_check.experiments.committed import Results
from proofs_check.experiments.reproduction import Reproduction
from proofs_check.experiments.stated import SECTION7, Stated
from proofs_check.text import line

OUR_CHOICE = r"$V=\sqrt T$ and $\rho=1-1/\sqrt T$, which are our choice"
CODED = "released"
# choices of V and ρ, by the policy that makes them
CHOICES = {
    "acdpp": OUR_CHOICE,
    CODED: r"the admission rule of the released code in place of ACDPP, with its own $V$, $\rho$, region and $K$",
}
ACDPP = {"paper": tuple(CHOICES), "released": (CODED,)}
RELEASED = (
    "the settings of the released code in place of the text's: a shorter $K$, a wide region that hardly "
    "contracts, with a cap, $V=1000$ ($10{,}000$, 3000), another penalty, at least one sample a client "
    "and round, rates of constant admission rounded down, $K=10$ for hybrid, momentum, a pool of 500 "
    "images a class or $1{,}000$ a client that is shuffled anew when it is used up, integer prices (to "
    "49 on CIFAR-10), and logistic regression for LeNet"
)
SEEDS_MIN = 3  # seeds: an interval of two is wider than accuracies can differ
BASELINES = {"constant": "constant admission", "hybrid": "the hybrid baseline"}
DOMAIN = (
    r"the setting of Section 7 on three data sets; where it is silent: 100 rounds; for ACDPP $V=\sqrt T$ and "
    r"$\rho=1-1/\sqrt T$, and in its place the admission rule of the released code"
)


PREFIX = "In the setting of Section 7, "
NAMES = "{}, {} and {}".format(*(said.name for said in SECTION7.values()))
GAPS = {"after the last round": "points", "averaged over rounds": "points_averaged"}
SYMBOLS = {
    "A": "current best test accuracy after the last round, in percent, mean over runs; its index is the policy",
    "τ": "first round after which the mean current best has reached the target; its index is the policy",
}

Measured = tuple[str, Evidence | None]


@dataclass(frozen=True)
class Seen:
    """Basis of a judgement: a result, the paper's numbers for its data set, ACDPP's name in it, and the level."""

    result: Reproduction
    stated: Stated
    mine: str
    level: float

    def measured(self, interval: Interval, detail: str, words: str = "") -> Measured:
        """A measurement in words (by default centre and half-width of the interval) and as evidence."""
        if (seeds := self.result.seeds) < SEEDS_MIN:
            return f"{seeds} seed{'s' * (seeds > 1)}, no interval", None
        low, high = interval
        words = words or f"{(low + high) / 2:.1f} ± {(high - low) / 2:.1f}"
        return words, measured(self.result, f"{detail} {interval}", interval, self.level)


@dataclass(frozen=True)
class ClaimPart:
    """A part of a statement: `judge` tests it; `measure` returns the measurement in words and as evidence, or None. A
    result without the policies in `needs` does not count. `chosen` says whether it depends on ACDPP's V and ρ through
    accuracy.
    """

    name: str
    dataset: str
    judge: Callable[[Seen], Evidence]
    measure: Callable[[Seen], Measured | None]
    needs: tuple[str, ...] = ()
    chosen: bool = True

    def compared(self, mine: str) -> tuple[str, ...]:
        """Policies whose accuracies are compared, ACDPP under the name `mine`."""
        return (mine, *self.needs) if self.chosen else self.needs


def each(
    judge: Callable[[Seen], Evidence],
    measure: Callable[[Seen], Measured | None],
    needs: tuple[str, ...] = (),
    chosen: bool = True,
) -> list[ClaimPart]:
    """A part for each data set."""
    return [
        ClaimPart(said.name, dataset, judge, measure, needs, chosen) for dataset, said in SECTION7.items()
    ]


def claims_from(
    results: Results,
    parts: Sequence[ClaimPart],
    *,
    statement: str,
    found_title: str,
    found: str,
    why: str = "This is a measurement: it holds for the law of its own runs, at the level of its intervals.",
    symbol: str = r"\Delta",
    symbols: Mapping[str, str] = SYMBOLS,
    kind: str = "experiment",
    **texts: Any,
) -> list[Claim]:
    """The claim in a list, empty without a committed result in the text's setting. If it is not established, the
    measurement takes the place of {} in `found` and `found_title`; `symbol` is LaTeX.
    """
    settings = {setting for _, setting in results}
    if "paper" not in settings:
        return []
    coded = "released" in settings
    claim = Claim(
        kind=kind,
        statement=f"{PREFIX}{statement}",
        domain=DOMAIN,
        checks=_checks(results, parts, "paper"),
        hypotheses=(RELEASED,) if coded else (),
        checks_with_hypotheses=_checks(results, parts, "released") if coded else (),
        symbols=symbols,
        **texts,
    )
    if decide(claim).verdict in ("proved", "certified", "supported"):
        return [claim]
    all_measured = {
        part.name: part.measure(_seen(part, result, "paper", parts))
        for part in parts
        if (result := results.get((part.dataset, "paper"))) is not None
        and {*part.needs} <= {*result.policies}
    }
    told = {name: measured for name, measured in all_measured.items() if measured is not None}
    known = {name: words for name, (words, evidence) in told.items() if evidence is not None}
    if not known:
        return [claim]
    by = r" with $V=\sqrt T$ and $\rho=1-1/\sqrt T$" if any(part.chosen for part in parts) else ""
    named = "; ".join(f"{name} {words}" for name, (words, _) in told.items())
    instead = Correction(
        title=found_title.format(", ".join(words if e else f"({words})" for words, e in told.values())),
        statement=f"{found.format(named)} Runs{by}: {_runs(results, [p for p in parts if p.name in told])}.",
        sketch=why,
        formula=rf"{symbol}={_typeset(', '.join(known.values()))}",
        symbols={line(symbol): f"what was measured, for {', '.join(known)}"},
        checks={name: partial(lambda e: e, told[name][1]) for name in known},
    )
    return [replace(claim, corrected=instead)]


def _seen(part: ClaimPart, result: Reproduction, setting: str, parts: Sequence[ClaimPart]) -> Seen:
    """The basis of a part, at a level such that all parts together err with the probability of one claim."""
    return Seen(result, SECTION7[part.dataset], ACDPP[setting][0], 1 - ERROR / len(parts))


def _checks(results: Results, parts: Sequence[ClaimPart], setting: str) -> dict[str, tuple[Check, ...]]:
    def judged(part: ClaimPart, mine: str, choice: str) -> Evidence:
        result = results.get((part.dataset, setting))
        if result is None or not {mine, *part.needs} <= {*result.policies}:
            found = absent(part.dataset, setting)
        else:
            seen = replace(_seen(part, result, setting, parts), mine=mine)
            found = whatever_diverged(
                result, part.compared(mine), lambda one: part.judge(replace(seen, result=one))
            )
        return replace(found, choice=choice, domain="; ".join(filter(None, (found.domain, choice))))

    def checks(part: ClaimPart) -> tuple[Check, ...]:
        several = ACDPP[setting][: None if part.chosen else 1]
        return tuple(
            partial(judged, part, mine, CHOICES[mine] if len(several) > 1 else "") for mine in several
        )

    return {part.name: checks(part) for part in parts}


def _runs(results: Results, parts: Sequence[ClaimPart]) -> str:
    def diverged(dataset: str) -> str:
        """Diverged runs of the policies whose accuracy is compared."""
        mine = ACDPP["paper"][0]
        names = dict.fromkeys(name for p in parts if p.dataset == dataset for name in p.compared(mine))
        lost = [f"{n} of {name}" for name in names if (n := used[dataset].policies[name].diverged)]
        return f", diverged {', '.join(lost)}" if lost else ""

    used = {part.dataset: results[part.dataset, "paper"] for part in parts}
    return "; ".join(
        f"{r.name} {r.seeds} seeds, {r.rounds} rounds, {r.model}, $\\eta={r.eta:g}$"
        + ("" if r.complete else f", {r.train} training and {r.test} test images, a part of the data")
        + diverged(dataset)
        for dataset, r in used.items()
    )


def _typeset(numbers: str) -> str:
    """A line of numbers as LaTeX, its words as words."""
    signs = numbers.replace("±", r"\pm ").replace("∞", r"\infty ").replace("%", r"\%")
    return re.sub(r"(?<!\\)\b[A-Za-z]+\b", lambda word: rf"\text{{ {word[0]} }}", signs)
