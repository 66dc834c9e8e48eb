r"""A statement about an experiment, against the committed result of running that experiment again.

What counts was written down before any result was there, but for the last sentence on first rounds, which came later:
a speed-up known from one side had counted as holding.

* A statement is about *the setting as described*. It is refuted if the numbers measured in that setting exclude it.
  A result whose data set is not complete, whose model or learning rate is another or whose rounds are fewer than
  `stated.ROUNDS` is from a neighbouring setting: it can support a statement and speak against it, but not refute it.
  A reading that names a learning rate of its own (`stated.TRAINED`) is about the setting with that one.
* A claim is wrongly refuted with probability at most `ERROR` = 5 %, as far as runs are normal and the paper's vary as
  ours do. Its parts share that (Bonferroni): of m parts, each is judged at the level 1 - 5 %/m. Intervals are
  Student's, over seeds; gaps are paired over seeds.
* *Readings*: "average test accuracy" may mean the current best after the last round or its average over rounds.
  A stated number holds if it does in one reading, and fails only if it fails in both. An order that is said to be
  consistent holds if it does in both, and fails if the opposite is seen in one.
* *A stated number* is itself a mean over ten runs and rounded, so it is set against the interval for the mean of ten
  further runs (half the confidence interval, times \(\sqrt{1+\text{seeds}/10}\)), widened by half a unit of its last
  digit. Outside: fails. Inside, and the interval is clear of "no difference" (0 points, 1 times as fast): holds.
  Inside, with "no difference" inside as well: open, since such an interval shows nothing. Where ten runs scatter so far
  that both would be inside had we infinitely many seeds, no number of seeds decides, and the finding says so.
* *A stated order* ("outperforms", "within") is about the expectation: its confidence interval lies on the stated
  side (holds), on the other (fails), or on both (open).
* *The first round that reaches a target* is that of the expected curve of the current best, which never falls, so a
  band that contains each of its points with probability 1 - α gives an interval of rounds: from the first whose upper
  end reaches the target to the first from which on the lower end does. Two policies at α/2 each bound a speed-up.
  Who has not reached it by the last round reaches it later or never, which bounds a speed-up on one side only. That
  excludes numbers below it and confirms none.
* *One run* whose memory is larger than the buffers disproves that it never is. What is held and spent depends on
  neither data nor model, so runs of the policy alone count as the experiment, with as many seeds as decide.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from proofs_check.evidence import Evidence, Outcome, Strength
from proofs_check.experiments.document import Reproduction
from proofs_check.experiments.fields import Estimate, Floats
from proofs_check.experiments.stated import ROUNDS, RUNS, SECTION7, TRAINED
from theory.numbers.student import half_width

__all__ = [
    "ERROR",
    "LAST_DIGIT",
    "Interval",
    "absent",
    "average_within",
    "bounded",
    "confidence",
    "difference",
    "earlier",
    "expected",
    "further_runs",
    "less",
    "measured",
    "never_reaches",
    "ordered",
    "played",
    "reached",
    "sooner",
    "speed_up",
    "states",
    "within",
]

ERROR = 0.05
LAST_DIGIT = 0.05  # half a unit of it: the paper gives points and speed-ups to one decimal
MANY = 100  # seeds enough to tell how far ten of them scatter


class Interval(NamedTuple):
    """Its ends; NaN where nothing is known."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"[{self.low:.4g}, {self.high:.4g}]"

    @property
    def known(self) -> bool:
        """Not so for a single seed."""
        return not np.isnan(self.low)


def confidence(estimate: Estimate, level: float) -> Interval:
    """Of the expectation."""
    half = float(estimate.half(level))
    return Interval(float(estimate.mean) - half, float(estimate.mean) + half)


def further_runs(estimate: Estimate, level: float) -> Interval:
    """Of the mean of ten further runs."""
    half = float(estimate.half(level)) * float(np.sqrt(1 + estimate.seeds / RUNS))
    return Interval(float(estimate.mean) - half, float(estimate.mean) + half)


def less(one: Estimate, other: Estimate, level: float) -> Interval:
    """Of a difference whose pairing is not known: both ends at half the error probability, whatever the dependence."""
    first, second = (confidence(each, (1 + level) / 2) for each in (one, other))
    return Interval(first.low - second.high, first.high - second.low)


def difference(one: Estimate, other: Estimate) -> Estimate:
    """Of a difference whose pairing is not known, no narrower than if it were: the deviation of a difference is at most
    the sum of the two, in the runs at hand as in expectation.
    """
    if (one.level, one.seeds) != (other.level, other.seeds):
        raise ValueError("estimates at different levels, or over different seeds, have no common difference")
    return Estimate(one.mean - other.mean, one.low - other.high, one.high - other.low, one.level, one.seeds)


# --- evidence ----------------------------------------------------------------------------------------------


def _evidence(
    result: Reproduction, covers: bool, outcome: Outcome, detail: str, certificate: dict[str, Any]
) -> Evidence:
    """What was seen, with all that is needed to see it again; `covers` says whether it was seen where it was stated."""
    strength: Strength = "experimental" if covers else "statistical"
    diverged = {name: played.diverged for name, played in result.policies.items() if played.diverged}
    made = {"command": result.command, "hardware": result.hardware, "diverged runs": diverged}
    return Evidence(
        "experiment", strength, outcome, detail, domain=_domain(result), certificate=certificate | made
    )


def _learnt(result: Reproduction) -> bool:
    """Whether what was learnt was learnt in the setting described; the released code brings a model of its own."""
    said, trained = SECTION7[result.dataset], result.setting == "trained"
    eta = TRAINED[result.dataset] if trained else said.eta
    described = result.eta == eta and (result.setting == "released" or result.model == said.model)
    return result.complete and described and _long(result)


def _long(result: Reproduction) -> bool:
    """Whether there were rounds enough; what is spent does not depend on data and model."""
    return result.rounds >= ROUNDS


def _domain(result: Reproduction) -> str:
    data = "complete" if result.complete else "in part"
    return (
        f"{result.name} ({data}: {result.train} training and {result.test} test images), {result.setting} setting, "
        f"{result.model}, η = {result.eta:g}, {result.seeds} seeds, {result.rounds} rounds"
    )


def absent(dataset: str, setting: str) -> Evidence:
    """No result, or none with the policies that are asked for: no decision."""
    return Evidence(
        "experiment",
        "experimental",
        "open",
        f"no such result is committed for {SECTION7[dataset].name} in the {setting} setting",
    )


def states(
    result: Reproduction,
    stated: float,
    readings: Mapping[str, Estimate],
    level: float,
    slack: float = LAST_DIGIT,
) -> Evidence:
    """Whether a stated difference is what ten runs give, and no difference is not."""
    intervals = {name: further_runs(estimate, level) for name, estimate in readings.items()}
    inside = [interval for interval in intervals.values() if _contains(interval, stated, slack)]
    outcome: Outcome = "open"
    if any(interval.known and not _contains(interval, 0, 0) for interval in inside):
        outcome = "holds"
    elif not inside:
        outcome = "fails"
    seen = ", ".join(
        f"{float(readings[name].mean):.4g} {name} (ten runs: {interval})"
        for name, interval in intervals.items()
    )
    expected = {name: confidence(estimate, level) for name, estimate in readings.items()}
    certificate = {"stated": stated, "ten runs": _spelled(intervals), "expected": _spelled(expected)}
    if outcome == "open" and all(_scattered(one, stated, level, slack) for one in readings.values()):
        wide = ", ".join(f"±{_scatter(one, level):.3g} {name}" for name, one in readings.items())
        seen += f"; no number of seeds decides: by their spread ten runs miss their expectation by {wide}"
    return _evidence(
        result,
        _learnt(result),
        outcome,
        f"stated {stated:g}, measured {seen}",
        certificate | {"level": level},
    )


def _scatter(estimate: Estimate, level: float) -> float:
    """By how much the mean of ten runs misses an expectation that is known."""
    return float(estimate.half(level)) * float(np.sqrt(estimate.seeds / RUNS))


def _scattered(estimate: Estimate, stated: float, level: float, slack: float) -> bool:
    """Whether ten runs may give the stated number and none, were their expectation known to be what was measured."""
    scatter, mean = _scatter(estimate, level), float(estimate.mean)
    return estimate.seeds >= MANY and abs(mean - stated) <= scatter + slack and abs(mean) <= scatter


def _spelled(intervals: Mapping[str, Interval]) -> dict[str, str]:
    return {name: str(interval) for name, interval in intervals.items()}


def _contains(interval: Interval, number: float, slack: float = LAST_DIGIT) -> bool:
    """An unknown interval excludes nothing."""
    return not interval.known or interval.low - slack <= number <= interval.high + slack


def ordered(result: Reproduction, readings: Mapping[str, Estimate], level: float, what: str) -> Evidence:
    """Whether a difference is positive in expectation, in every reading; they share the error."""
    each = 1 - (1 - level) / len(readings)
    intervals = {name: confidence(estimate, each) for name, estimate in readings.items()}
    outcome: Outcome = "open"
    if all(interval.low > 0 for interval in intervals.values()):
        outcome = "holds"
    elif any(interval.high < 0 for interval in intervals.values()):
        outcome = "fails"
    seen = ", ".join(f"{interval} {name}" for name, interval in intervals.items())
    certificate = {"intervals": _spelled(intervals), "level": level}
    return _evidence(result, _learnt(result), outcome, f"{what} in {seen}", certificate)


def _at_most(interval: Interval, bound: float) -> Outcome:
    return "holds" if interval.high <= bound else "fails" if interval.low > bound else "open"


def bounded(
    result: Reproduction, interval: Interval, bound: float, level: float, what: str, *, learnt: bool
) -> Evidence:
    """Whether an expectation is at most a bound."""
    outcome = _at_most(interval, bound)
    detail = f"{what} in {interval}, at most {bound:g} stated"
    covers = _learnt(result) if learnt else _long(result)
    certificate = {"interval": str(interval), "bound": bound, "level": level}
    return _evidence(result, covers, outcome, detail, certificate)


def within(result: Reproduction, largest: float, bound: float, what: str) -> Evidence:
    """Whether a quantity stayed within a bound in every round of every run: one excess is a counterexample."""
    outcome: Outcome = "holds" if largest <= bound else "fails"
    detail = f"largest {what} {largest:g} against {bound:g}"
    return _evidence(result, True, outcome, detail, {"largest": largest, "bound": bound})


def average_within(result: Reproduction, held: Floats, bound: float, what: str) -> Evidence:
    """Whether a quantity, its mean over runs in every round, is on average over rounds at most a bound. There is no
    interval, so that nothing is refuted by it.
    """
    mean = float(held.mean())
    outcome: Outcome = "holds" if mean <= bound else "open"
    detail = f"{what}, on average over rounds and runs, {mean:.4g}, at most {bound:g} stated"
    return _evidence(result, False, outcome, detail, {"mean": mean, "bound": bound})


def expected(samples: Floats, level: float) -> Interval:
    """Of the expectation, by one number a run."""
    half = float(half_width(samples, level))
    return Interval(float(samples.mean()) - half, float(samples.mean()) + half)


def played(samples: Floats, bound: float, level: float, what: str, domain: str) -> Evidence:
    """Whether an expectation is at most a bound, by runs of the policy alone: one number a run. What is held and spent
    depends on neither data nor model, so this is the experiment.
    """
    interval = expected(samples, level)
    return Evidence(
        "experiment",
        "experimental",
        _at_most(interval, bound),
        f"{what} in {interval}, at most {bound:g} stated",
        domain=f"{domain}, {len(samples)} runs of the policy alone",
        certificate={"interval": str(interval), "bound": bound, "level": level, "runs": len(samples)},
    )


def measured(result: Reproduction, detail: str, interval: Interval, level: float) -> Evidence:
    """What a result says by itself, of the law of its own runs; open where it has no interval."""
    outcome: Outcome = "holds" if interval.known else "open"
    return _evidence(result, False, outcome, detail, {"interval": str(interval), "level": level})


# --- the first round that reaches a target -----------------------------------------------------------------


def reached(curve: Estimate, target: float, level: float) -> Interval:
    """The rounds in which the expected curve may reach the target first; infinite where it may do so later or never."""
    half = curve.half(level) * np.sqrt(1 + curve.seeds / RUNS)
    if np.isnan(half).any():
        return Interval(np.nan, np.nan)
    may = np.flatnonzero(curve.mean + half >= target)
    short = np.flatnonzero(curve.mean - half < target)
    last = 0 if short.size == 0 else short[-1] + 1
    return Interval(
        float(may[0]) if may.size else np.inf,
        float(last) if last < len(curve.mean) else np.inf,
    )


def speed_up(result: Reproduction, mine: str, other: str, level: float) -> Interval:
    """How many times sooner one policy reaches the target; what is not reached is reached after the last round."""
    (first, last), (soonest, latest) = _both(result, mine, other, level)
    beyond = result.rounds + 1
    return Interval(min(soonest, beyond) / max(last, 1), latest / max(min(first, beyond), 1))


def sooner(result: Reproduction, stated: float, mine: str, other: str, level: float) -> Evidence:
    """Whether one policy reaches the target so many times sooner than another, and not as late."""
    ratio = speed_up(result, mine, other, level)
    outcome: Outcome = "open"
    if not _contains(ratio, stated):
        outcome = "fails"
    elif (
        ratio.low > 1 and ratio.high < np.inf
    ):  # what is not reached may be reached any number of times later
        outcome = "holds"
    one, two = _both(result, mine, other, level)
    detail = f"stated {stated:g} times sooner, measured {ratio}: {_rounds(result, {mine: one, other: two})}"
    certificate = {"stated": stated, "rounds": _spelled({mine: one, other: two}), "level": level}
    return _evidence(result, _learnt(result), outcome, detail, certificate)


def earlier(result: Reproduction, mine: str, other: str, level: float) -> Evidence:
    """Whether one policy reaches the target sooner than another, by however much."""
    ratio = speed_up(result, mine, other, level)
    outcome: Outcome = "holds" if ratio.low > 1 else "fails" if ratio.high < 1 else "open"
    one, two = _both(result, mine, other, level)
    detail = f"stated sooner, measured {ratio} times: {_rounds(result, {mine: one, other: two})}"
    certificate = {"rounds": _spelled({mine: one, other: two}), "level": level}
    return _evidence(result, _learnt(result), outcome, detail, certificate)


def never_reaches(result: Reproduction, mine: str, other: str, level: float) -> Evidence:
    """Whether one policy reaches the target and another does not."""
    one, two = _both(result, mine, other, level)
    outcome: Outcome = "open"
    if one.high < np.inf and two.low == np.inf:
        outcome = "holds"
    elif two.high < np.inf:
        outcome = "fails"
    detail = f"stated that {other} never does: {_rounds(result, {mine: one, other: two})}"
    certificate = {"rounds": _spelled({mine: one, other: two}), "level": level}
    return _evidence(result, _learnt(result), outcome, detail, certificate)


def _both(result: Reproduction, mine: str, other: str, level: float) -> tuple[Interval, Interval]:
    one, two = (
        reached(result.policies[name].current_best, result.target, (1 + level) / 2) for name in (mine, other)
    )
    return one, two


def _rounds(result: Reproduction, rounds: Mapping[str, Interval]) -> str:
    words = []
    for name, (first, last) in rounds.items():
        if first == np.inf:
            words.append(f"{name} not by round {result.rounds}")
        else:
            late = f"{last:g}" if last < np.inf else f"after {result.rounds}, if ever"
            words.append(f"{name} in round {first:g} to {late}")
    if all(first == np.inf for first, _ in rounds.values()):
        words.append("more seeds would not decide, more rounds might")
    return f"at {100 * result.target:g} % {'; '.join(words)}"
