"""A claim about Section 7, made of the results that are committed.

Its statement is the paper's, about the text's setting, where `acdpp` is ACDPP. Where results of the released code's
setting are there, in which `released` is ACDPP, they test the same statement under that added hypothesis. Where the
statement is not established, what was measured takes its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from proofs_check.claim import Check, Claim, Correction, decide
from proofs_check.engines.experiment import ERROR, Interval, absent, measured
from proofs_check.evidence import Evidence
from proofs_check.experiments.committed import Results
from proofs_check.experiments.document import Reproduction
from proofs_check.experiments.stated import SECTION7, Stated

__all__ = ["BASELINES", "DOMAIN", "GAPS", "MEASURED", "Part", "Seen", "Told", "claims_from", "plus_minus"]

ACDPP = {"paper": "acdpp", "released": "released"}
RELEASED = (
    "the settings of the released code in place of the text's: a shorter $K$, a wide region that hardly "
    "contracts, with a cap, $V=1000$ ($10{,}000$, 3000), another penalty, at least one sample a client "
    "and round, rates of constant admission rounded down, $K=10$ for hybrid, momentum, a pool of 500 "
    "images a class or $1{,}000$ a client that is shuffled anew when it is used up, integer prices (to "
    "49 on CIFAR-10), and logistic regression for LeNet"
)
ESTABLISHED = ("proved", "certified", "supported")
BASELINES = {"constant": "constant admission", "hybrid": "the hybrid baseline"}
DOMAIN = (
    r"the setting of Section 7 on three data sets; chosen where it is silent: 100 rounds, $V=\sqrt{T}$, "
    r"$\rho=1-1/\sqrt{T}$"
)
GAPS = {"after the last round": "points", "averaged over rounds": "points_averaged"}

MEASURED = "This is a measurement: it holds for the law of its own runs, at the level of its intervals."


@dataclass(frozen=True)
class Seen:
    """What a part is judged by: a result, what the paper says of its data set, ACDPP's name in it, and the level."""

    result: Reproduction
    stated: Stated
    mine: str
    level: float

    def measured(self, words: str, detail: str, interval: Interval) -> tuple[str, Evidence]:
        """What was measured: in a few words, and as evidence."""
        return words, measured(self.result, f"{detail} {interval}", interval, self.level)


@dataclass(frozen=True)
class Part:
    """One part of a statement: `judge` tests it, and `measure` says in a few words what was measured, as evidence;
    None where that says nothing."""

    name: str
    dataset: str
    judge: Callable[[Seen], Evidence]
    measure: Callable[[Seen], tuple[str, Evidence] | None]

    def seen(self, result: Reproduction, setting: str, level: float) -> Seen:
        return Seen(result, SECTION7[self.dataset], ACDPP[setting], level)


@dataclass(frozen=True, kw_only=True)
class Told:
    """The words around what was measured, for which {} stands in title and statement; the symbol and its meaning."""

    title: str
    statement: str
    meaning: str
    sketch: str = MEASURED
    symbol: str = "Δ"
    latex: str = r"\Delta"


def plus_minus(interval: Interval) -> str:
    """An interval by its centre."""
    return f"{(interval.low + interval.high) / 2:.1f} ± {(interval.high - interval.low) / 2:.1f}"


def claims_from(results: Results, parts: Sequence[Part], told: Told, **texts: Any) -> list[Claim]:
    """The claim, as a list; none as long as no result in the text's setting is committed."""
    settings = {setting for _, setting in results}
    if "paper" not in settings:
        return []
    claim = Claim(
        kind="experiment",
        checks=_checks(results, parts, "paper"),
        hypotheses=(RELEASED,) if "released" in settings else (),
        checks_with_hypotheses=_checks(results, parts, "released") if "released" in settings else (),
        **texts,
    )
    if decide(claim).verdict in ESTABLISHED:
        return [claim]
    found = _measured(results, parts)
    return [replace(claim, corrected=_correction(results, parts, found, told)) if found else claim]


def _level(parts: Sequence[Part]) -> float:
    """Of each part, so that all of them together err with the probability of one claim."""
    return 1 - ERROR / len(parts)


def _checks(results: Results, parts: Sequence[Part], setting: str) -> Mapping[str, Check]:
    def judged(part: Part) -> Evidence:
        result = results.get((part.dataset, setting))
        if result is None:
            return absent(part.dataset, setting)
        return part.judge(part.seen(result, setting, _level(parts)))

    return {part.name: partial(judged, part) for part in parts}


def _measured(results: Results, parts: Sequence[Part]) -> dict[str, tuple[str, Evidence]]:
    """What was measured in the text's setting, of the parts that have a result that says something."""
    found = {
        part.name: part.measure(part.seen(result, "paper", _level(parts)))
        for part in parts
        if (result := results.get((part.dataset, "paper"))) is not None
    }
    return {name: told for name, told in found.items() if told is not None}


def _correction(
    results: Results, parts: Sequence[Part], found: Mapping[str, tuple[str, Evidence]], told: Told
) -> Correction:
    """What was measured takes the statement's place."""
    words = {name: said for name, (said, _) in found.items()}
    checks = {name: partial(lambda e: e, evidence) for name, (_, evidence) in found.items()}
    all_of_it = ", ".join(words.values())
    named = "; ".join(f"{name} {said}" for name, said in words.items())
    used = {part.dataset: results[part.dataset, "paper"] for part in parts if part.name in words}
    runs = "; ".join(
        f"{r.name} {r.seeds} seeds, {r.rounds} rounds, {r.model}"
        + ("" if r.complete else f", {r.train} training and {r.test} test images, a part of the data")
        for r in used.values()
    )
    return Correction(
        title=told.title.format(all_of_it),
        statement=f"{told.statement.format(named)} Runs: {runs}.",
        sketch=told.sketch,
        formula=rf"{told.latex}={_typeset(all_of_it)}",
        symbols={told.symbol: f"{told.meaning}, for {', '.join(words)}"},
        checks=checks,
    )


def _typeset(line: str) -> str:
    """A line of numbers as LaTeX, its words as words."""
    signs = line.replace("±", r"\pm ").replace("∞", r"\infty ").replace("%", r"\%")
    return re.sub(r"(?<!\\)\b[A-Za-z]+\b", lambda word: rf"\text{{ {word[0]} }}", signs)
