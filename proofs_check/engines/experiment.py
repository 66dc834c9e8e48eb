r"""Statements about an experiment, judged by the committed result of repeating that experiment.

A positive outcome supports the statement; a negative outcome in the setting as described refutes it. The rules were
fixed before there were results, except the last sentence on first rounds and those on diverged runs and open settings.

* *Setting*. A result with an incomplete data set, another model or learning rate, or fewer rounds than `stated.ROUNDS`
  is from a neighbouring setting: it can support a statement and speak against it, but not refute it.
* *Error*. A claim is wrongly refuted with probability at most `ERROR` = 5 %, if runs are normal and the paper's vary as
  ours do. Its m parts share that (Bonferroni): each is judged at the level 1 - 5 %/m. Intervals are Student's, over
  seeds; gaps are paired over seeds.
* *Readings*. "Average test accuracy" may mean the current best after the last round or its average over rounds. A
  stated number holds if it does in one reading and fails only if it fails in both. An order that is said to be
  consistent holds if it does in both and fails if the opposite is seen in one.
* *A stated number* is itself a rounded mean over ten runs, so it is compared with the interval for the mean of ten
  further runs (half the confidence interval, times \(\sqrt{1+\text{seeds}/10}\)), widened by half a unit of its last
  digit. Outside, it fails. Inside, it holds if "no difference" (0 points, 1 times as fast) is outside, and is open
  otherwise. Where ten runs vary so much that both would be inside even with infinitely many seeds, the finding says so.
* *A stated order* ("outperforms", "within") is about the expectation: its confidence interval lies on the stated side
  (holds), on the other (fails), or on both (open).
* *The first round that reaches a target* is that of the expected curve of the current best, which never falls. A band
  that contains each of its points with probability 1 - α bounds it: from the first round whose upper end reaches the
  target to the first from which on the lower end does. Two policies at α/2 each bound a speed-up. A policy that has not
  reached the target by the last round bounds a speed-up on one side only: that excludes numbers and confirms none.
* *Diverged runs* count by their best until then. A finding also has to come out the same where they are left out, with
  their pairs, and where they count as an accuracy of 0; otherwise, or where a result does not keep what that needs, it
  is open.
* *Open settings*. The paper names neither V nor ρ, so what it says of ACDPP is judged for several choices
  (`evidence.verdict`): each at the level of the claim, since they all have to agree.
* *Memory and spending* depend on neither data nor model, so runs of the policy alone count as the experiment. One run
  whose memory exceeds the buffers disproves that no run does.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from proofs_check.evidence import Evidence, Outcome, Strength
from proofs_check.experiments.json_entries import Estimate, Floats
from proofs_check.experiments.reproduction import Reproduction
from proofs_check.experiments.stated import ROUNDS, RUNS, SECTION7
from theory.numbers.student import half_width

__all__ = ["ERROR", "LAST_DIGIT", "Interval", "absent", "average_within", "bounded", "confidence"]
__all__ += ["difference", "earlier", "expected", "further_runs", "less", "measured", "never_reaches"]
__all__ += ["ordered", "played", "reached", "sooner", "speed_up", "states", "whatever_diverged", "within"]

UNKNOWN_ROUND = "in a round not known"  # of a curve that was not kept by seed

ERROR = 0.05
LAST_DIGIT = 0.05  # half a unit of the last digit: the paper gives points and speed-ups to one decimal
SCATTER_SEEDS_MIN = 100  # enough to estimate the spread of ten runs


class Interval(NamedTuple):
    """The ends of an interval; NaN where it is unknown."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"[{self.low:.4g}, {self.high:.4g}]"

    @property
    def known(self) -> bool:
        """True if there is an interval; a single seed has none."""
        return not np.isnan(self.low)


def _around(mean: float, half: float) -> Interval:
    return Interval(mean - half, mean + half)


def confidence(estimate: Estimate, level: float) -> Interval:
    """Confidence interval for the expectation."""
    return _around(float(estimate.mean), float(estimate.half(level)))


def further_runs(estimate: Estimate, level: float) -> Interval:
    """Prediction interval for the mean of ten further runs."""
    half = float(estimate.half(level)) * float(np.sqrt(1 + estimate.seeds / RUNS))
    return _around(float(estimate.mean), half)


def less(one: Estimate, other: Estimate, level: float) -> Interval:
    """Interval for a difference under any dependence: each end at half the error probability."""
    first, second = (confidence(each, (1 + level) / 2) for each in (one, other))
    return Interval(first.low - second.high, first.high - second.low)


def difference(one: Estimate, other: Estimate) -> Estimate:
    """Estimate of a difference of unknown pairing, no narrower than the paired one: the deviation of a difference is at
    most the sum of the two deviations.
    """
    if (one.level, one.seeds) != (other.level, other.seeds):
        raise ValueError("estimates at different levels, or over different seeds, have no common difference")
    return Estimate(one.mean - other.mean, one.low - other.high, one.high - other.low, one.level, one.seeds)


# --- evidence ----------------------------------------------------------------------------------------------


def _evidence(
    result: Reproduction, covers: bool, outcome: Outcome, detail: str, certificate: dict[str, Any]
) -> Evidence:
    """Evidence with the command that repeats it; `covers` says whether the result is from the setting as described."""
    strength: Strength = "experimental" if covers else "statistical"
    diverged = {name: played.diverged for name, played in result.policies.items() if played.diverged}
    made = {"command": result.command, "hardware": result.hardware, "diverged runs": diverged}
    shown = certificate | made
    return Evidence("experiment", strength, outcome, detail, domain=_domain(result), certificate=shown)


def _learnt(result: Reproduction) -> bool:
    """True if a result has the data, model and learning rate described; the released code has a model of its own."""
    said = SECTION7[result.dataset]
    described = result.eta == said.eta and (result.setting == "released" or result.model == said.model)
    return result.complete and described and _long(result)


def _long(result: Reproduction) -> bool:
    """True if a result has enough rounds, which suffices for spending."""
    return result.rounds >= ROUNDS


def _domain(result: Reproduction) -> str:
    data = "complete" if result.complete else "in part"
    return (
        f"{result.name} ({data}: {result.train} training and {result.test} test images), {result.setting} setting, "
        f"{result.model}, η = {result.eta:g}, {result.seeds} seeds, {result.rounds} rounds"
    )


def whatever_diverged(
    result: Reproduction, compared: Iterable[str], judge: Callable[[Reproduction], Evidence]
) -> Evidence:
    """The finding on the policies compared, open unless it is the same however their diverged runs are counted."""
    found = judge(result)
    lost = [f"{number} of {name}" for name in compared if (number := result.policies[name].diverged)]
    if not lost:
        return found
    again = {way: judge(one) for way, one in result.recounted().items()}
    ways = "; ".join(f"{way}: {one.detail}" for way, one in again.items())
    if UNKNOWN_ROUND in ways:
        ways = "counted otherwise: not known, since curves are kept as means alone"
    outcome = found.outcome if all(one.outcome == found.outcome for one in again.values()) else "open"
    diverged = f"of {result.seeds} runs each {' and '.join(lost)} diverged, counted by their best until then"
    return replace(found, outcome=outcome, detail=f"{found.detail}; {diverged}; {ways}")


def absent(dataset: str, setting: str) -> Evidence:
    """No decision, since no result has the policies in question."""
    detail = f"no such result is committed for {SECTION7[dataset].name} in the {setting} setting"
    return Evidence("experiment", "experimental", "open", detail)


def states(
    result: Reproduction,
    stated: float,
    readings: Mapping[str, Estimate],
    level: float,
    slack: float = LAST_DIGIT,
) -> Evidence:
    """Test whether ten runs give a stated difference and exclude no difference."""
    intervals = {name: further_runs(estimate, level) for name, estimate in readings.items()}
    inside = [interval for interval in intervals.values() if _contains(interval, stated, slack)]
    excludes_0 = any(interval.known and not _contains(interval, 0, 0) for interval in inside)
    outcome = _decided(excludes_0, not inside)
    means = {name: f"{float(estimate.mean):.4g}" for name, estimate in readings.items()}
    seen = ", ".join(f"{means[name]} {name} (ten runs: {interval})" for name, interval in intervals.items())
    expected = {name: confidence(estimate, level) for name, estimate in readings.items()}
    certificate = {"stated": stated, "ten runs": _spelled(intervals), "expected": _spelled(expected)}
    if outcome == "open" and all(_scattered(one, stated, level, slack) for one in readings.values()):
        wide = ", ".join(f"±{_scatter(one, level):.3g} {name}" for name, one in readings.items())
        seen += f"; no number of seeds decides: by their spread ten runs miss their expectation by {wide}"
    detail = f"stated {stated:g}, measured {seen}"
    return _evidence(result, _learnt(result), outcome, detail, certificate | {"level": level})


def _scatter(estimate: Estimate, level: float) -> float:
    """Half-width of the mean of ten runs around a known expectation."""
    return float(estimate.half(level)) * float(np.sqrt(estimate.seeds / RUNS))


def _scattered(estimate: Estimate, stated: float, level: float, slack: float) -> bool:
    """True if ten runs could give both the stated number and 0 if the measured mean were their expectation."""
    scatter, mean = _scatter(estimate, level), float(estimate.mean)
    return (
        estimate.seeds >= SCATTER_SEEDS_MIN and abs(mean - stated) <= scatter + slack and abs(mean) <= scatter
    )


def _spelled(intervals: Mapping[str, Interval]) -> dict[str, str]:
    return {name: str(interval) for name, interval in intervals.items()}


def _contains(interval: Interval, number: float, slack: float = LAST_DIGIT) -> bool:
    """True if an interval contains a number; an unknown interval contains all."""
    return not interval.known or interval.low - slack <= number <= interval.high + slack


def ordered(result: Reproduction, readings: Mapping[str, Estimate], level: float, what: str) -> Evidence:
    """Test whether a difference is positive in expectation in every reading; the readings share the error."""
    each = 1 - (1 - level) / len(readings)
    intervals = {name: confidence(estimate, each) for name, estimate in readings.items()}
    ends = intervals.values()
    outcome = _decided(all(low > 0 for low, _ in ends), any(high < 0 for _, high in ends))
    seen = ", ".join(f"{interval} {name}" for name, interval in intervals.items())
    certificate = {"intervals": _spelled(intervals), "level": level}
    return _evidence(result, _learnt(result), outcome, f"{what} in {seen}", certificate)


def _decided(true: bool, false: bool) -> Outcome:
    return "holds" if true else "fails" if false else "open"


def _at_most(interval: Interval, bound: float) -> Outcome:
    return _decided(interval.high <= bound, interval.low > bound)


def bounded(
    result: Reproduction, interval: Interval, bound: float, level: float, what: str, *, learnt: bool
) -> Evidence:
    """Test whether an expectation is at most a bound."""
    outcome = _at_most(interval, bound)
    detail = f"{what} in {interval}, at most {bound:g} stated"
    covers = _learnt(result) if learnt else _long(result)
    certificate = {"interval": str(interval), "bound": bound, "level": level}
    return _evidence(result, covers, outcome, detail, certificate)


def within(result: Reproduction, largest: float, bound: float, what: str) -> Evidence:
    """Test whether a quantity stayed within a bound in every round of every run."""
    outcome: Outcome = "holds" if largest <= bound else "fails"
    detail = f"largest {what} {largest:g} against {bound:g}"
    return _evidence(result, True, outcome, detail, {"largest": largest, "bound": bound})


def average_within(result: Reproduction, held: Floats, bound: float, what: str) -> Evidence:
    """Test whether a quantity is at most a bound on average over rounds and runs; no interval, no refutation."""
    mean = float(held.mean())
    outcome: Outcome = "holds" if mean <= bound else "open"
    detail = f"{what}, on average over rounds and runs, {mean:.4g}, at most {bound:g} stated"
    return _evidence(result, False, outcome, detail, {"mean": mean, "bound": bound})


def expected(samples: Floats, level: float) -> Interval:
    """Confidence interval for the expectation, from one number per run."""
    return _around(float(samples.mean()), float(half_width(samples, level)))


def played(samples: Floats, bound: float, level: float, what: str, domain: str) -> Evidence:
    """Test whether an expectation is at most a bound, from one number per run of the policy alone."""
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
    """A measurement that stands in place of a statement; open where it has no interval."""
    outcome: Outcome = "holds" if interval.known else "open"
    return _evidence(result, False, outcome, detail, {"interval": str(interval), "level": level})


# --- the first round that reaches a target -----------------------------------------------------------------


def reached(curve: Estimate, target: float, level: float) -> Interval:
    """Bounds on the first round in which the expected curve reaches the target; infinite if later or never."""
    half = curve.half(level) * np.sqrt(1 + curve.seeds / RUNS)
    if np.isnan(half).any():
        return Interval(np.nan, np.nan)
    may = np.flatnonzero(curve.mean + half >= target)
    short = np.flatnonzero(curve.mean - half < target)
    last = 0 if short.size == 0 else short[-1] + 1
    first = float(may[0]) if may.size else np.inf
    return Interval(first, float(last) if last < len(curve.mean) else np.inf)


def speed_up(result: Reproduction, mine: str, other: str, level: float) -> Interval:
    """Ratio of the rounds in which two policies reach the target; a target not reached counts as reached later."""
    (first, last), (soonest, latest) = _both(result, mine, other, level)
    beyond = result.rounds + 1
    return Interval(min(soonest, beyond) / max(last, 1), latest / max(min(first, beyond), 1))


def sooner(result: Reproduction, stated: float, mine: str, other: str, level: float) -> Evidence:
    """Test whether one policy reaches the target `stated` times sooner than another, and not as late."""
    ratio = speed_up(result, mine, other, level)
    inside = _contains(ratio, stated)
    # an unbounded ratio confirms no number
    outcome = _decided(inside and ratio.low > 1 and ratio.high < np.inf, not inside)
    said = f"stated {stated:g} times sooner, measured {ratio}"
    return _race(result, outcome, said, mine, other, level, stated=stated)


def earlier(result: Reproduction, mine: str, other: str, level: float) -> Evidence:
    """Test whether one policy reaches the target sooner than another."""
    ratio = speed_up(result, mine, other, level)
    outcome = _decided(ratio.low > 1, ratio.high < 1)
    return _race(result, outcome, f"stated sooner, measured {ratio} times", mine, other, level)


def never_reaches(result: Reproduction, mine: str, other: str, level: float) -> Evidence:
    """Test whether one policy reaches the target and another does not."""
    one, two = _both(result, mine, other, level)
    outcome = _decided(one.high < np.inf and two.low == np.inf, two.high < np.inf)
    return _race(result, outcome, f"stated that {other} never does", mine, other, level)


def _both(result: Reproduction, mine: str, other: str, level: float) -> tuple[Interval, Interval]:
    curves = (result.policies[name].current_best for name in (mine, other))
    one, two = (reached(curve, result.target, (1 + level) / 2) for curve in curves)
    return one, two


def _race(
    result: Reproduction, outcome: Outcome, said: str, mine: str, other: str, level: float, **more: float
) -> Evidence:
    rounds = dict(zip((mine, other), _both(result, mine, other, level), strict=True))
    certificate = {**more, "rounds": _spelled(rounds), "level": level}
    detail = f"{said}: {_rounds(result, rounds)}"
    return _evidence(result, _learnt(result), outcome, detail, certificate)


def _rounds(result: Reproduction, rounds: Mapping[str, Interval]) -> str:
    words = []
    for name, (first, last) in rounds.items():
        if np.isnan(first):
            words.append(f"{name} {UNKNOWN_ROUND}")
        elif first == np.inf:
            words.append(f"{name} not by round {result.rounds}")
        else:
            late = f"{last:g}" if last < np.inf else f"after {result.rounds}, if ever"
            words.append(f"{name} in round {first:g} to {late}")
    if all(first == np.inf for first, _ in rounds.values()):
        words.append("more seeds would not decide, more rounds might")
    return f"at {100 * result.target:g} % {'; '.join(words)}"
