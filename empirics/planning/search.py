"""The best that money can buy: policy, retention and learner of least predicted excess risk, searched together.

All of them are some thousands of combinations, so they are not all looked at. Every policy that stays within buffers
and budget is tried with a few learners; those that come nearest are then improved by themselves, on one path of prices:
of K, step size, decay, E and mean each is changed alone, then all that helped together, first in large steps and then
in small ones. Learners that differ in their mean of models alone have one path between them. What the law itself does
not trust is worth nothing: steps beyond 2/L, and clients that fit most of a fresh residual within a round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from empirics.control.registry import BUILT_IN
from empirics.control.schedule import Schedule, brief_for
from empirics.prediction.accuracy import Accuracy
from empirics.prediction.best_constant import OBJECTIVES, SEARCH_ROUNDS_MAX, SMALLEST
from empirics.prediction.curves import StudyForecaster
from empirics.prediction.decided_rounds import deciding_part
from empirics.prediction.forecast import FITTED_SHARE_MAX, Forecast
from empirics.settings.policy_name import PolicyName
from theory.design.offline import fill_ratio
from theory.setting import SettingError

__all__ = ["STEPS", "UNTRUSTED", "SearchResult", "retention_setting", "search_policies", "trusted"]

NEED_THE_LAW = ("buy-cheap", "burst", "taper")  # of prices
MEANS = (
    ("none", None),
    ("equal", None),
    *(("polynomial", by) for by in (1, 3, 8)),
    ("tail", 0.5),
    ("exponential", 0.99),
)
FIRST = ("polynomial", 8)
IMPROVED = 3  # policies that are looked at more closely
FAR = 4  # times the best: with which one learner a policy is given no other
BEHIND = 1.25  # times the best: a policy so far behind is not improved any more
WORSE = 1.5  # times what it was: a change that makes a policy so much worse is not tried again
TURNS, GAIN = 6, 0.005  # and the part by which a turn has to be better, or the steps get smaller
OVER, SURE = 0.01, 2  # part of the budget, and standard errors, by which a policy may be above it
ROUNDING = 1e-9  # of L: a step of size 2/L is not below it
PLAYED, PATHS = 2048, 100  # rounds, and paths of prices, to see what a policy spends
STEPS = (10, 3, 1)
UNTRUSTED = "no learner was found whose prediction can be trusted: take a smaller eta or fewer steps, or leave them out"
SINGLE_USE = ("burst", "burst-online")

Own = dict[str, Any]


@dataclass(frozen=True)
class SearchResult:
    """The best variant of each policy that was improved, best first; all that was tried; and who was left out, and why.

    `over` is what each policy, and each of these variants, is expected to spend beyond the budget in all rounds;
    less than nothing where it saves.
    """

    names: tuple[PolicyName, ...]
    tried: Mapping[PolicyName, Forecast]
    left_out: Mapping[str, str]
    over: Mapping[str, float]


def search_policies(
    forecaster: StudyForecaster,
    *,
    objective: str = "cumulative",
    eta: float | None = None,
    steps: Sequence[int] = STEPS,
    law_known: bool = True,
    progress: Callable[[int], None] = lambda done: None,
) -> SearchResult:
    """Searches policies and learners for the least `objective`; the step size, if `eta` is None, and E among `steps`.

    Without `law_known` policies that need to know the law of prices are left out. `progress` is told how many
    variants have been tried.
    """
    asked = [base for base in BUILT_IN if law_known or base not in NEED_THE_LAW]
    spent = _spending(forecaster, asked)
    left_out = {base: "needs to know the law of prices" for base in BUILT_IN if base not in asked}
    left_out |= {base: spent[base].refused for base in asked if spent[base].refused}
    if len(left_out) == len(BUILT_IN):
        raise SettingError(f"no policy keeps buffers and budget: {_listed(left_out)}")
    search = _Search(forecaster, OBJECTIVES[objective], eta, tuple(steps), progress, spent)
    best = search.screen(base for base in asked if base not in left_out)
    ranked = sorted(best, key=lambda base: search.value(best[base]))
    if not ranked:
        why = {name: one.refused for name, one in search.spent.items() if one.refused}
        raise SettingError(f"no policy that learns well keeps buffers and budget: {_listed(why)}")
    if search.value(best[ranked[0]]) == math.inf:
        raise SettingError(UNTRUSTED)
    best = {base: best[base] for base in ranked[:IMPROVED]}
    search.improve(best)
    names = sorted(best.values(), key=search.value)
    over = {name: search.spent[deciding_part(name)].over for name in (*asked, *names)}
    return SearchResult(tuple(names), search.known, left_out, over)


def _listed(why: Mapping[str, str]) -> str:
    return "; ".join(f"{name} {reason}" for name, reason in why.items())


def retention_setting(base: str) -> str:
    """The setting that has a policy's K."""
    return {"hybrid": "hybrid_K", "burst": "burst_K", "burst-online": "burst_K"}.get(base, "K")


def trusted(forecaster: StudyForecaster, name: PolicyName, found: Forecast) -> bool:
    """Whether the law takes its own forecast for one: finite, of steps below 2/L, and not most of a residual fitted."""
    finite = all(map(math.isfinite, found.document().values()))
    return finite and found.fitted <= FITTED_SHARE_MAX and _stable(forecaster, name.own["eta"])


def _steepest(forecaster: StudyForecaster) -> float:
    assert forecaster.constants.L is not None
    return float(forecaster.constants.L)


def _stable(forecaster: StudyForecaster, eta: float) -> bool:
    return eta > SMALLEST and eta * _steepest(forecaster) < 2 * (1 - ROUNDING)


@dataclass(frozen=True)
class _Spent:
    """Beyond the budget in all rounds, at the rate of those that were played; and why this is too much, or nothing."""

    over: float
    refused: str


def _spending(forecaster: StudyForecaster, names: Sequence[str]) -> dict[str, _Spent]:
    """What policies spend and hold, from many paths of prices."""
    if not names:
        return {}
    study = replace(forecaster.study, policies=tuple(names), seeds=PATHS)
    played = min(study.rounds, PLAYED)
    rounds = Schedule(study, forecaster.constants, prices=forecaster.prices).advance(played)
    beyond = (rounds.cost * rounds.admissions.sum(axis=2) - study.budget).sum(axis=0)
    fill = (rounds.occupancy / np.array(study.buffers)).max(axis=(0, 2))
    found, shape = {}, (len(names), study.seeds)
    for name, money, held in zip(names, beyond.reshape(shape), fill.reshape(shape), strict=True):
        mean, error = money.mean(), money.std(ddof=min(1, len(money) - 1)) / math.sqrt(len(money))
        refused = ""
        if held.max() > 1:
            refused = f"holds {held.max():.2g} times what a buffer takes"
        elif mean > OVER * study.budget * played + SURE * error:
            refused = f"spends {study.budget + mean / played:.4g} a round"
        found[name] = _Spent(float(mean) * study.rounds / played, refused)
    return found


@dataclass
class _Search:
    """Forecasts of policies with learners of their own, each made once."""

    forecaster: StudyForecaster
    objective: Callable[[Forecast], float]
    eta: float | None
    steps: tuple[int, ...]
    progress: Callable[[int], None]
    spent: dict[str, _Spent]  # by what decides: another K, another cost
    known: dict[PolicyName, Forecast] = field(default_factory=dict)
    hopeless: set[tuple[str, frozenset[tuple[str, Any]]]] = field(default_factory=set)  # policies and changes

    def value(self, name: PolicyName) -> float:
        """What is to be small; infinite where the law does not trust itself."""
        found = self.known[name]
        return self.objective(found) if trusted(self.forecaster, name, found) else math.inf

    def affordable(self, names: Iterable[PolicyName]) -> list[PolicyName]:
        """Those that keep buffers and budget; who decides alike is played once."""
        deciding = {name: deciding_part(name) for name in names}
        new = [one for one in dict.fromkeys(deciding.values()) if one not in self.spent]
        self.spent |= _spending(self.forecaster, new)
        return [name for name, one in deciding.items() if not self.spent[one].refused]

    def _stable(self, eta: float) -> bool:
        return _stable(self.forecaster, eta)

    @property
    def _steepest(self) -> float:
        return _steepest(self.forecaster)

    def look(self, names: Iterable[PolicyName]) -> None:
        """Predict those that have not been."""
        new = [name for name in dict.fromkeys(names) if name not in self.known]
        if new:
            study = replace(self.forecaster.study, policies=tuple(new), seeds=1)
            forecaster = replace(
                self.forecaster,
                study=study,
                policies=None,
                follow_rounds_max=SEARCH_ROUNDS_MAX,
                accuracy=Accuracy.SEARCH,
            )
            self.known.update(zip(new, forecaster.forecasts().values(), strict=True))
        self.progress(len(self.known))

    # --- the first look ------------------------------------------------------------------------------------

    def screen(self, bases: Iterable[str]) -> dict[str, PolicyName]:
        """The best of a few learners, for each policy; of one alone, where that is far behind the others' best. Smaller
        steps are tried where larger ones are not trusted."""
        T = self.forecaster.study.rounds
        sizes = [1 / self._steepest, 1 / (4 * self._steepest)] if self.eta is None else [self.eta]
        average, by = FIRST
        tried = {
            base: [
                _named(
                    base,
                    K=self._first_K(base),
                    eta=size,
                    steps=max(self.steps),
                    decay=decay,
                    average=average,
                    average_by=by,
                )
                for size in sizes
                for decay in (T / 20, None)
            ]
            for base in bases
        }
        self.look(names[0] for names in tried.values())
        least = min(map(self.value, self.affordable(names[0] for names in tried.values())), default=math.inf)
        far = [base for base, (first, *_) in tried.items() if FAR * least < self.value(first) < math.inf]
        near = [base for base in tried if base not in far]
        self.look(tried[base][1] for base in near)
        doubted = [base for base in near if math.inf in map(self.value, tried[base][:2])]
        self.look(name for base in doubted for name in tried[base])  # smaller steps may be trusted
        kept = {base: self.affordable(filter(self.known.get, names)) for base, names in tried.items()}
        return {base: min(names, key=self.value) for base, names in kept.items() if names}

    def _first_K(self, base: str) -> int | None:
        """One round for bursts, and else the K that fills the buffers; None for who has none."""
        if "K" not in (PolicyName(base).settings or ()):
            return None
        study = self.forecaster.study
        x = fill_ratio(brief_for(study, self.forecaster.constants, self.forecaster.prices).budget)
        return 1 if base in SINGLE_USE else min(max(math.ceil(x), 1), study.rounds)

    # --- and closer ones -----------------------------------------------------------------------------------

    def improve(self, best: dict[str, PolicyName]) -> None:
        """Change what helps, until nothing does."""
        steps, step = (4.0, 2.0, math.sqrt(2)), 0
        for _ in range(TURNS):
            least = min(map(self.value, best.values()))
            near = [base for base in best if self.value(best[base]) <= BEHIND * least]
            self._turn(best, near, steps[step], coarse=step == 0)
            if min(self.value(best[base]) for base in near) > (1 - GAIN) * least:
                step += 1
            if step == len(steps):
                break

    def _turn(
        self, best: dict[str, PolicyName], bases: Sequence[str], factor: float, *, coarse: bool
    ) -> None:
        """Every setting alone, then those that helped together: all of them, and the two that helped most."""
        changes = {base: list(self._changes(best[base], factor, coarse=coarse)) for base in bases}
        named = {base: [_named(base, **one) for one in changes[base]] for base in bases}
        named = {
            base: [name for name in names if (base, _apart(name, best[base])) not in self.hopeless]
            for base, names in named.items()
        }
        self.look(name for names in named.values() for name in names)
        for base in bases:
            here = self.value(best[base])
            worse = [name for name in named[base] if WORSE * here < self.value(name) < math.inf]
            self.hopeless |= {(base, _apart(name, best[base])) for name in worse}
            helped = self.affordable(
                sorted((name for name in named[base] if self.value(name) < here), key=self.value)
            )
            merged = [_merged(best[base], reversed(some)) for some in (helped, helped[:2]) if some]
            named[base] = helped + [name for name in merged if self._stable(name.own["eta"])]
        self.look(name for names in named.values() for name in names)
        for base in bases:
            here = self.value(best[base])
            better = [name for name in named[base] if self.value(name) < here]
            best[base] = min([best[base], *self.affordable(better)], key=self.value)

    def _changes(self, name: PolicyName, factor: float, *, coarse: bool) -> Iterable[Own]:
        """The settings of a variant with one of them changed."""
        own, T, root = dict(name.own), self.forecaster.study.rounds, math.sqrt(factor)
        if self.eta is None:
            sizes = (own["eta"] * factor, own["eta"] / factor)
            yield from (own | {"eta": size} for size in sizes if self._stable(size))
        yield from (own | {"steps": count} for count in self.steps if coarse and count != own["steps"])
        if "K" in own:
            K = own["K"]
            wanted = {K // 2, K - 1, K + 1, 2 * K} if coarse else {K - 1, K + 1}
            yield from (own | {"K": k} for k in sorted(wanted) if 1 <= k <= T)
        decay = own.get("decay")
        falls = (T / 5, T / 50) if decay is None else (None, decay * factor, decay / factor)
        yield from (own | {"decay": fall} for fall in falls)
        if decay is not None and self.eta is None:  # late steps stay as they are
            both = ((own["eta"] * root, decay / factor), (own["eta"] / root, decay * factor))
            yield from (own | {"eta": size, "decay": fall} for size, fall in both if self._stable(size))
        mean = own["average"], own.get("average_by")
        means = [one for one in MEANS if one != mean] if coarse else _near(*mean, factor)
        yield from (own | {"average": kind, "average_by": by} for kind, by in means)


def _near(kind: str, by: float | None, factor: float) -> list[tuple[str, float]]:
    """The same mean with another parameter.

    >>> _near("polynomial", 3.0, 2.0), _near("tail", 0.75, 2.0), _near("equal", None, 2.0)
    ([('polynomial', 6.0), ('polynomial', 1.5)], [('tail', 0.875), ('tail', 0.5)], [])
    """
    if by is None:
        return []
    if kind == "polynomial":
        return [(kind, by * factor), (kind, by / factor)]
    return [
        (kind, 1 - (1 - by) / factor),
        *([(kind, 1 - (1 - by) * factor)] if (1 - by) * factor < 1 else []),
    ]


def _apart(name: PolicyName, other: PolicyName) -> frozenset[tuple[str, Any]]:
    """What a variant has that another has not.

    >>> sorted(_apart(PolicyName("taper@eta=1,average=equal"), PolicyName("taper@eta=2,decay=9,average=equal")))
    [('decay', None), ('eta', 1)]
    """
    return frozenset(_settings(name).items() - _settings(other).items())


def _settings(name: PolicyName) -> Own:
    """Those that say that there is none of it, too."""
    return {"decay": None, "average_by": None} | dict(name.own)


def _merged(name: PolicyName, others: Iterable[PolicyName]) -> PolicyName:
    """With what is different in the others, in their order: the last one's goes first."""
    own = _settings(name)
    merged = dict(own)
    for other in others:
        there = _settings(other)
        merged |= {key: value for key, value in there.items() if value != own[key]}
        if (there["average"], there["average_by"]) != (own["average"], own["average_by"]):
            merged |= {"average": there["average"], "average_by": there["average_by"]}
    return _named(name.base, **merged)


def _named(base: str, **own: Any) -> PolicyName:
    """A variant with settings of three digits, and none of those that it has not."""
    short = {
        key: float(f"{value:.3g}") if isinstance(value, float) else value
        for key, value in own.items()
        if value is not None
    }
    return PolicyName(base).having(**short)
