"""Results of `acdpp reproduce`, read from their JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from proofs_check.experiments.json_entries import Estimate, Fields, Floats
from proofs_check.experiments.stated import SECTION7
from theory.setting import SettingError

__all__ = ["BySeed", "Gap", "PolicyResult", "Reproduction", "parse"]


@dataclass(frozen=True)
class BySeed:
    """A policy's current best seed by seed, after the last round and averaged over rounds, and the seeds that diverged,
    which have their best until then.
    """

    best_accuracy: Floats
    mean_accuracy: Floats
    diverged: tuple[int, ...] = ()

    def counting(self, diverged: float) -> Self:
        """The same with another accuracy of seeds that diverged; NaN leaves them out."""
        best, mean = self.best_accuracy.copy(), self.mean_accuracy.copy()
        best[list(self.diverged)] = mean[list(self.diverged)] = diverged
        return replace(self, best_accuracy=best, mean_accuracy=mean)


@dataclass(frozen=True)
class PolicyResult:
    """A policy's results over seeds; `current_best` starts before the first round, the other curves with it."""

    current_best: Estimate
    occupancy: Floats
    largest_occupancy: float
    buffers: float
    cost: Floats
    debt: Floats
    best_accuracy: Estimate
    mean_accuracy: Estimate
    mean_cost: Estimate
    diverged: int
    by_seed: BySeed


@dataclass(frozen=True)
class Gap:
    """Difference of two policies, paired over seeds, in percentage points: after the last round, and averaged."""

    points: Estimate
    points_averaged: Estimate

    @classmethod
    def of(cls, one: BySeed, other: BySeed, level: float) -> Self:
        """The difference from accuracies seed by seed."""
        points = one.best_accuracy - other.best_accuracy, one.mean_accuracy - other.mean_accuracy
        return cls(*(Estimate.of(100 * by, level) for by in points))


@dataclass(frozen=True)
class Reproduction:
    """Results on one data set in one setting; `gaps[one][other]` is the lead of `one`.

    `command` is None if a setting without an option was changed; `target` is NaN and `paper` empty for a data set that
    is not in the paper.
    """

    command: str | None
    dataset: str
    setting: str
    model: str
    seeds: int
    rounds: int
    hardware: str
    train: int | None
    test: int | None
    complete: bool
    intervals: str
    target: float
    level: float
    budget: float
    eta: float
    policies: Mapping[str, PolicyResult]
    gaps: Mapping[str, Mapping[str, Gap]]
    paper: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Name of the data set, as the paper spells it."""
        return SECTION7[self.dataset].name if self.dataset in SECTION7 else self.dataset

    def recounted(self) -> dict[str, Self]:
        """Results in which diverged runs do not count by their best until then, by the way in which they count. The
        curve of a policy with diverged runs, which is not kept by seed, is NaN there.
        """
        return {"left out": self._counting(np.nan), "as an accuracy of 0": self._counting(0.0)}

    def _counting(self, diverged: float) -> Self:
        each = {name: one.by_seed.counting(diverged) for name, one in self.policies.items()}

        def recount(name: str, one: PolicyResult) -> PolicyResult:
            best, mean = (
                Estimate.of(by, self.level) for by in (each[name].best_accuracy, each[name].mean_accuracy)
            )
            curve = one.current_best.times(np.nan)
            return replace(one, current_best=curve, best_accuracy=best, mean_accuracy=mean)

        lost = {name for name, one in self.policies.items() if one.diverged}
        return replace(
            self,
            policies={n: recount(n, one) if n in lost else one for n, one in self.policies.items()},
            gaps={
                n: {
                    o: Gap.of(each[n], each[o], self.level) if lost & {n, o} else gap
                    for o, gap in gaps.items()
                }
                for n, gaps in self.gaps.items()
            },
        )


def parse(document: Mapping[str, Any], name: str) -> Reproduction:
    """Read the document of a reproduction; `name` is its file, for errors."""
    fields = Fields(document, name, "give a result of acdpp reproduce, of this version")
    seeds, rounds, level = fields.whole("seeds", 1), fields.whole("rounds", 1), fields.number("level")
    study, data, paper = fields.below("study"), fields.perhaps("data"), fields.perhaps("paper")

    def played(one: Fields) -> PolicyResult:
        occupancy = one.below("occupancy")
        return PolicyResult(
            current_best=one.estimate("current_best", level, seeds, rounds + 1),
            occupancy=occupancy.array("mean", rounds),
            largest_occupancy=occupancy.number("largest"),
            buffers=occupancy.number("buffers"),
            cost=one.below("cost").array("mean", rounds),
            debt=one.below("debt").array("mean", rounds),
            best_accuracy=one.estimate("best_accuracy", level, seeds),
            mean_accuracy=one.estimate("mean_accuracy", level, seeds),
            mean_cost=one.estimate("mean_cost", level, seeds),
            diverged=(lost := one.whole("diverged")),
            by_seed=by_seed(one.below("by_seed"), lost),
        )

    def by_seed(one: Fields, lost: int) -> BySeed:
        best, mean = (one.array(name, seeds) for name in ("best_accuracy", "mean_accuracy"))
        return BySeed(best, mean, tuple(one.array("diverged", lost).astype(int).tolist()))

    def gap(one: Fields) -> Gap:
        return Gap(one.estimate("points", level, seeds), one.estimate("points_averaged", level, seeds))

    compared, policies = fields.below("comparisons"), fields.each("policies")
    for name_of in {*compared.entries, *(other for one in compared.entries for other in compared.each(one))}:
        if name_of not in policies:
            raise SettingError(f"{name!r} compares {name_of!r}, which is none of its policies")
    return Reproduction(
        command=None if fields.get("command") is None else fields.text("command"),
        dataset=fields.text("dataset"),
        setting=fields.text("setting"),
        model=fields.text("model"),
        seeds=seeds,
        rounds=rounds,
        hardware=fields.text("hardware"),
        train=None if data is None else data.whole("train"),
        test=None if data is None else data.whole("test"),
        complete=data is not None and data.get("complete") is True,
        intervals=fields.text("intervals"),
        target=float(fields.array("target", None)),
        level=level,
        budget=study.number("budget"),
        eta=study.number("eta"),
        policies={key: played(one) for key, one in policies.items()},
        gaps={
            one: {other: gap(found) for other, found in compared.each(one).items()}
            for one in compared.entries
        },
        paper=paper.entries if paper else {},
    )
