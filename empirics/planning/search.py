"""The search behind a plan: policy, retention and learner of least predicted excess risk, together.

A server that adds up information has no setting to search but the policy and its K. Of local descent the thousands of
combinations are not all tried. Every policy that stays within buffers and budget is tried with a few
learners. The best policies are then improved on one price path: of K, step size, decay, E and mean each is changed
alone, then all changes that helped together, first in large steps and then in small ones. Learners that differ only in
their mean of models share one path. A forecast that the law does not trust is worth nothing: steps beyond 2/L, or
clients that fit most of a fresh residual within a round.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from empirics.control.registry import BUILT_IN
from empirics.control.schedule import Schedule
from empirics.prediction.accuracy import Accuracy
from empirics.prediction.best_constant import OBJECTIVES, SEARCH_ROUNDS_MAX, STEP_SIZE_MIN
from empirics.prediction.decided_rounds import deciding_part
from empirics.prediction.forecast import Forecast
from empirics.prediction.study_forecaster import StudyForecaster
from empirics.settings.policy_name import PolicyName
from theory.design.offline import fill_ratio
from theory.setting import SettingError

__all__ = ["LOCAL_STEPS", "UNTRUSTED", "SearchResult", "retention_setting", "search_policies", "trusted"]

NEED_PRICE_LAW = ("buy-cheap", "burst", "taper")  # policies that need the distribution of prices
SINGLE_USE = ("burst", "burst-online")  # policies that begin the search at K = 1
LOCAL_STEPS = (10, 3, 1)
FITTED_SHARE_MAX = (
    0.8  # of a fresh residual in a round; beyond, final risks on the digits were predicted too low
)
MEANS = (
    ("none", None),
    ("equal", None),
    *(("polynomial", by) for by in (1, 3, 8)),
    ("tail", 0.5),
    ("exponential", 0.99),
)
FIRST_MEAN = ("polynomial", 8)
POLICIES_IMPROVED = 3  # the best after the first trial
FAR_RATIO = 4  # of the best value: a policy beyond it with its first learner is given no other
BEHIND_RATIO = 1.25  # of the best value: a policy beyond it is not improved any more
WORSE_RATIO = 1.5  # of the value before: a change beyond it is not tried again
FACTORS = (4.0, 2.0, math.sqrt(2))  # of a setting, in turn
TURNS_MAX = 6
TURN_GAIN_MIN = 0.005  # share by which a turn must improve the best value, or factors get smaller
OVERSPENT_SHARE_MAX = 0.01  # of the budget, beyond the standard errors below
OVERSPENT_ERRORS_MAX = 2  # standard errors by which a mean cost may exceed the budget
STABILITY_MARGIN = 1e-9  # share of 2/L, so that rounding does not let a step of exactly 2/L pass
SPENDING_ROUNDS_MAX, SPENDING_PATHS = 2048, 100  # rounds and price paths that show what a policy spends
UNTRUSTED = "no learner was found whose prediction can be trusted: take a smaller eta or fewer steps, or leave them out"


@dataclass(frozen=True)
class SearchResult:
    """The best variant of each improved policy, best first; all that was tried; and policies left out with reasons.

    `over` is the expected spending beyond the budget in all rounds of each policy and best variant; negative if it
    saves.
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
    steps: Sequence[int] = LOCAL_STEPS,
    law_known: bool = True,
    progress: Callable[[int], None] = lambda tried: None,
) -> SearchResult:
    """Search policies and learners for the least `objective`: E among `steps`, and the step size if `eta` is None.

    Without `law_known` policies that need the distribution of prices are left out. `progress` is called with the number
    of variants tried, in every predicted round.
    """
    asked = [base for base in BUILT_IN if law_known or base not in NEED_PRICE_LAW]
    spent = _spending(forecaster, asked)
    left_out = {base: "needs to know the law of prices" for base in BUILT_IN if base not in asked}
    left_out |= {base: spent[base].refused for base in asked if spent[base].refused}
    if len(left_out) == len(BUILT_IN):
        raise SettingError(f"no policy keeps buffers and budget: {_listed(left_out)}")
    search = _Search(forecaster, OBJECTIVES[objective], eta, tuple(steps), progress, spent)
    informed = forecaster.study.learner == "information"
    screened = search.purchases if informed else search.screen
    best = screened(base for base in asked if base not in left_out)
    ranked = sorted(best, key=lambda base: search.value(best[base]))
    if not ranked:
        why = {name: one.refused for name, one in search.spent.items() if one.refused}
        raise SettingError(f"no policy that learns well keeps buffers and budget: {_listed(why)}")
    if search.value(best[ranked[0]]) == math.inf:
        raise SettingError(UNTRUSTED)
    best = {base: best[base] for base in ranked[:POLICIES_IMPROVED]}
    if not informed:
        search.improve(best)
    names = sorted(best.values(), key=search.value)
    over = {name: search.spent[deciding_part(name)].over for name in (*asked, *names)}
    return SearchResult(tuple(names), search.known, left_out, over)


def _listed(why: Mapping[str, str]) -> str:
    return "; ".join(f"{name} {reason}" for name, reason in why.items())


def retention_setting(base: str) -> str:
    """Name of the study's setting that holds a policy's K."""
    if base == "released" or "K" in (PolicyName(base).departures or ()):
        return "released_K"
    return ({"hybrid": "hybrid_K"} | dict.fromkeys(SINGLE_USE, "burst_K")).get(base, "K")


def trusted(forecaster: StudyForecaster, name: PolicyName, found: Forecast) -> bool:
    """True if a forecast is finite, not below 0, of a step below 2/L, and without most of a fresh residual fitted in a
    round."""
    finite = all(map(math.isfinite, found.document().values())) and found.possible
    informed = forecaster.study.learner == "information"  # which has no step size
    return finite and found.fitted <= FITTED_SHARE_MAX and (informed or _stable(forecaster, name.own["eta"]))


def _stable(forecaster: StudyForecaster, eta: float) -> bool:
    return eta > STEP_SIZE_MIN and eta * forecaster.smoothness < 2 * (1 - STABILITY_MARGIN)


@dataclass(frozen=True)
class _Spending:
    over: float  # beyond the budget in all rounds, at the rate of the rounds that were decided
    refused: str  # reason why this is too much, or nothing


def _spending(forecaster: StudyForecaster, names: Sequence[str]) -> dict[str, _Spending]:
    """Spending and occupancy of policies, from many price paths."""
    if not names:
        return {}
    study = replace(forecaster.study, policies=tuple(names), seeds=SPENDING_PATHS)
    decided = min(study.rounds, SPENDING_ROUNDS_MAX)
    rounds = Schedule(study, forecaster.constants, prices=forecaster.prices).advance(decided)
    beyond = (rounds.cost * rounds.admissions.sum(axis=2) - study.budget).sum(axis=0)
    fill = (rounds.occupancy / np.array(study.buffers)).max(axis=(0, 2))
    found, shape = {}, (len(names), study.seeds)
    for name, money, held in zip(names, beyond.reshape(shape), fill.reshape(shape), strict=True):
        mean, error = money.mean(), money.std(ddof=min(1, len(money) - 1)) / math.sqrt(len(money))
        refused = ""
        if held.max() > 1:
            refused = f"holds {held.max():.2g} times what a buffer takes"
        elif mean > OVERSPENT_SHARE_MAX * study.budget * decided + OVERSPENT_ERRORS_MAX * error:
            refused = f"spends {study.budget + mean / decided:.4g} per round"
        found[name] = _Spending(float(mean) * study.rounds / decided, refused)
    return found


@dataclass
class _Search:
    """Forecasts of policies with learners of their own, each made once."""

    forecaster: StudyForecaster
    objective: Callable[[Forecast], float]
    eta: float | None
    steps: tuple[int, ...]
    progress: Callable[[int], None]
    spent: dict[str, _Spending]  # by the deciding part of a name
    known: dict[PolicyName, Forecast] = field(default_factory=dict)
    hopeless: set[tuple[str, frozenset[tuple[str, Any]]]] = field(default_factory=set)  # policies and changes

    def value(self, name: PolicyName) -> float:
        """The objective; infinite if the forecast is not trusted."""
        found = self.known[name]
        return self.objective(found) if trusted(self.forecaster, name, found) else math.inf

    def affordable(self, names: Iterable[PolicyName]) -> list[PolicyName]:
        """Variants that keep buffers and budget."""
        deciding = {name: deciding_part(name) for name in names}
        new = [one for one in dict.fromkeys(deciding.values()) if one not in self.spent]
        self.spent |= _spending(self.forecaster, new)
        return [name for name, one in deciding.items() if not self.spent[one].refused]

    def predict(self, names: Iterable[PolicyName]) -> None:
        """Predict the variants that have not been, on one price path."""
        new = [name for name in dict.fromkeys(names) if name not in self.known]
        if new:
            forecaster = self.forecaster.for_policies(
                new, seeds=1, follow_rounds_max=SEARCH_ROUNDS_MAX, accuracy=Accuracy.SEARCH
            )
            made = forecaster.forecasts(lambda done: self.progress(len(self.known)))
            self.known.update(zip(new, made.values(), strict=True))
        self.progress(len(self.known))

    def purchases(self, bases: Iterable[str]) -> dict[str, PolicyName]:
        """Each policy with the better K: that which fills the buffers, or 1."""
        tried = {}
        for base in bases:
            K = self._first_K(base)
            tried[base] = [_named(base, K=k) for k in dict.fromkeys((K, K and 1))]
        self.predict(name for names in tried.values() for name in names)
        kept = {base: self.affordable(names) for base, names in tried.items()}
        return {base: min(names, key=self.value) for base, names in kept.items() if names}

    # --- the first trial -----------------------------------------------------------------------------------

    def screen(self, bases: Iterable[str]) -> dict[str, PolicyName]:
        """The best of a few learners for each policy; of a single one if that is far behind. Smaller steps are tried
        where larger ones are not trusted."""
        T, L = self.forecaster.study.rounds, self.forecaster.smoothness
        sizes = [1 / L, 1 / (4 * L)] if self.eta is None else [self.eta]
        average, by = FIRST_MEAN
        first = {"steps": max(self.steps), "average": average, "average_by": by}
        tried = {
            base: [
                _named(base, K=self._first_K(base), eta=size, decay=decay, **first)
                for size in sizes
                for decay in (T / 20, None)
            ]
            for base in bases
        }
        firsts = {base: names[0] for base, names in tried.items()}
        self.predict(firsts.values())
        least = min(map(self.value, self.affordable(firsts.values())), default=math.inf)
        near = [base for base, name in firsts.items() if not FAR_RATIO * least < self.value(name) < math.inf]
        self.predict(tried[base][1] for base in near)
        doubted = [base for base in near if math.inf in map(self.value, tried[base][:2])]
        self.predict(name for base in doubted for name in tried[base])
        kept = {base: self.affordable(filter(self.known.get, names)) for base, names in tried.items()}
        return {base: min(names, key=self.value) for base, names in kept.items() if names}

    def _first_K(self, base: str) -> int | None:
        """1 for bursts, else the K that fills the buffers; None for a policy without K."""
        if "K" not in (PolicyName(base).settings or ()):
            return None
        x = fill_ratio(self.forecaster.brief.budget)
        return 1 if base in SINGLE_USE else min(math.ceil(x), self.forecaster.study.rounds)

    # --- improvement ---------------------------------------------------------------------------------------

    def improve(self, best: dict[str, PolicyName]) -> None:
        """Change the variants in `best` until nothing helps."""
        step = 0
        for _ in range(TURNS_MAX):
            least = min(map(self.value, best.values()))
            near = [base for base in best if self.value(best[base]) <= BEHIND_RATIO * least]
            self._turn(best, near, FACTORS[step], first=step == 0)
            if min(self.value(best[base]) for base in near) > (1 - TURN_GAIN_MIN) * least:
                step += 1
            if step == len(FACTORS):
                break

    def _turn(self, best: dict[str, PolicyName], bases: Sequence[str], factor: float, *, first: bool) -> None:
        """Change every setting alone, then those that helped together: all of them, and the two best."""
        named = {
            base: [
                name
                for name in (_named(base, **one) for one in self._changes(best[base], factor, first=first))
                if (base, _apart(name, best[base])) not in self.hopeless
            ]
            for base in bases
        }
        self.predict(name for names in named.values() for name in names)
        for base in bases:
            here = self.value(best[base])
            worse = [name for name in named[base] if WORSE_RATIO * here < self.value(name) < math.inf]
            self.hopeless |= {(base, _apart(name, best[base])) for name in worse}
            helped = self.affordable(
                sorted((name for name in named[base] if self.value(name) < here), key=self.value)
            )
            merged = [_merged(best[base], reversed(some)) for some in (helped, helped[:2]) if some]
            named[base] = helped + [name for name in merged if _stable(self.forecaster, name.own["eta"])]
        self.predict(name for names in named.values() for name in names)
        for base in bases:
            here = self.value(best[base])
            better = [name for name in named[base] if self.value(name) < here]
            best[base] = min([best[base], *self.affordable(better)], key=self.value)

    def _changes(self, name: PolicyName, factor: float, *, first: bool) -> Iterable[dict[str, Any]]:
        """The settings of a variant with one of them changed."""
        own, T, root = dict(name.own), self.forecaster.study.rounds, math.sqrt(factor)
        if self.eta is None:
            sizes = (own["eta"] * factor, own["eta"] / factor)
            yield from (own | {"eta": size} for size in sizes if _stable(self.forecaster, size))
        yield from (own | {"steps": count} for count in self.steps if first and count != own["steps"])
        if "K" in own:
            K = own["K"]
            wanted = (K // 2, K - 1, K + 1, 2 * K) if first else (K - 1, K + 1)
            yield from (own | {"K": k} for k in wanted if 1 <= k <= T)
        decay = own.get("decay")
        falls = (T / 5, T / 50) if decay is None else (None, decay * factor, decay / factor)
        yield from (own | {"decay": fall} for fall in falls)
        if decay is not None and self.eta is None:  # late steps stay as they are
            both = ((own["eta"] * root, decay / factor), (own["eta"] / root, decay * factor))
            stable = ((size, fall) for size, fall in both if _stable(self.forecaster, size))
            yield from (own | {"eta": size, "decay": fall} for size, fall in stable)
        mean = own["average"], own.get("average_by")
        means = [one for one in MEANS if one != mean] if first else _near(*mean, factor)
        yield from (own | {"average": kind, "average_by": by} for kind, by in means)


def _near(kind: str, by: float | None, factor: float) -> list[tuple[str, float]]:
    """The same mean with other parameters.

    >>> _near("polynomial", 3.0, 2.0), _near("tail", 0.75, 2.0), _near("equal", None, 2.0)
    ([('polynomial', 6.0), ('polynomial', 1.5)], [('tail', 0.875), ('tail', 0.5)], [])
    """
    if by is None:
        return []
    if kind == "polynomial":
        return [(kind, by * factor), (kind, by / factor)]
    rest = 1 - by
    return [(kind, 1 - rest / factor), *([(kind, 1 - rest * factor)] if rest * factor < 1 else [])]


def _apart(name: PolicyName, other: PolicyName) -> frozenset[tuple[str, Any]]:
    """The settings of a variant that another one does not have.

    >>> sorted(_apart(PolicyName("taper@eta=1,average=equal"), PolicyName("taper@eta=2,decay=9,average=equal")))
    [('decay', None), ('eta', 1)]
    """
    return frozenset(_settings(name).items() - _settings(other).items())


def _settings(name: PolicyName) -> dict[str, Any]:
    """Own settings, with None for those that a name leaves out."""
    return {"decay": None, "average_by": None} | dict(name.own)


def _merged(name: PolicyName, others: Iterable[PolicyName]) -> PolicyName:
    """A variant with the differences of the others; the last one's win, and a mean keeps its parameter.

    >>> own = PolicyName("constant@K=8,eta=1,steps=1,average=equal")
    >>> bent = PolicyName("constant@K=8,eta=2,steps=1,average=polynomial,average_by=8")
    >>> plain = PolicyName("constant@K=8,eta=4,steps=1,average=none")
    >>> print(_merged(own, [bent, plain]), _merged(own, [plain, bent]) == bent, _merged(bent, [own]) == own)
    constant@K=8,eta=4,steps=1,average=none True True
    """
    own = _settings(name)
    merged = dict(own)
    for other in others:
        there = _settings(other)
        merged |= {key: value for key, value in there.items() if value != own[key]}
        if (there["average"], there["average_by"]) != (own["average"], own["average_by"]):
            merged |= {"average": there["average"], "average_by": there["average_by"]}
    return _named(name.base, **merged)


def _named(base: str, **own: Any) -> PolicyName:
    """A variant with settings of three digits, without those that are None."""
    short = {
        key: float(f"{value:.3g}") if isinstance(value, float) else value
        for key, value in own.items()
        if value is not None
    }
    return PolicyName(base).having(**short)
