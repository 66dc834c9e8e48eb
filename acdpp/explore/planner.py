"""The page's question, answered step by step: every number is a prediction's or the theory's.

First come what the budget buys and the lower bound, then coarse curves per policy, then full curves with standard
errors, and last the search for the best plan. A new question stops the work on the last.
"""

import math
import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

import numpy as np

from acdpp.explore.form import Asked
from acdpp.fit import suiting
from empirics.control.prices import make_prices
from empirics.control.schedule import brief_for
from empirics.planning.plan import Plan, plan_from
from empirics.predict import predict_study
from empirics.prediction.result import Prediction, same_problem
from empirics.prediction.study_forecaster import StudyForecaster
from empirics.settings.dataset_name import OWN_FILES
from empirics.settings.study import Study
from empirics.settings.toml import toml_of_changes
from empirics.training.fit import FITTED, BallFit
from theory.design.offline import best_rate
from theory.setting import SettingError

__all__ = ["Answer", "Curve", "Money", "More", "Planner", "Refused", "Stopped", "commands"]

CURVE_POINTS = 200
CONFIG = "plan.toml"
BUDGET_SCALES = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0)  # in the chart of what a budget buys


class Stopped(Exception):
    """Another question has been asked."""


class Refused(SettingError):
    """A question without an answer, and the field that causes this."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field


@dataclass(frozen=True)
class Money:
    """Purchases within a budget: K and the rate of constant admission, the limit of any policy, and the lower bound."""

    budget: float
    mean_price: float
    K: int
    rate: float  # of constant admission, samples per round
    most: float  # limit of any policy, samples per round
    threshold: float  # price up to which the limit buys
    binds: str  # money or memory
    least: float  # lower bound of the final excess risk


@dataclass(frozen=True)
class Curve:
    """A policy's predicted excess risk at the beginning of some rounds, with standard errors if any."""

    rounds: tuple[int, ...]
    risk: tuple[float, ...]
    error: tuple[float, ...] | None
    rate: float
    cumulative: float
    final: float
    errors: Mapping[str, float] | None
    exact: bool


@dataclass(frozen=True)
class More:
    """The first policy's reduction of risk by another unit of budget, and whether it is significant.

    A full difference is significant if it exceeds twice its standard error, that of two predictions taken for
    independent; since they share paths of prices, this is conservative.
    """

    policy: str
    cumulative: float
    final: float
    significant: bool
    exact: bool


@dataclass(frozen=True)
class Answer:
    """The answer so far."""

    asked: Asked  # with the settings that the data chose
    chosen: str  # those settings, in words
    money: Money
    richer: Money  # with one unit of budget more
    frontier: tuple[Money, ...]  # over BUDGET_SCALES
    lower_bound: Curve
    curves: Mapping[str, Curve] = field(default_factory=dict)
    more: More | None = None
    design: Mapping[str, Any] | None = None  # as `acdpp plan --json` prints it
    unfound: str = ""  # reason why the search found nothing
    notes: tuple[str, ...] = ()
    doing: str = ""  # the next step, in words

    @property
    def study(self) -> Study:
        return self.asked.study

    @property
    def done(self) -> bool:
        """True once only the search is left."""
        return self.exact and self.more is not None and self.more.exact

    @property
    def exact(self) -> bool:
        """True once all curves are predicted in full."""
        return bool(self.curves) and all(one.exact for one in self.curves.values())


class Planner:
    """Answers questions; the problem of a data set is kept for the next question."""

    def __init__(self) -> None:
        self._last: tuple[Prediction | None, Any] = (None, None)  # with the data that it is of
        self._ball: tuple[BallFit | str, Study | None, Any] = ("", None, None)
        self._choosing = Lock()

    def answers(
        self,
        asked: Asked,
        *,
        search: bool = True,
        stop: Callable[[], bool] = lambda: False,
        tell: Callable[[str, int, int | None], None] = lambda doing, done, of: None,
    ) -> Iterator[Answer]:
        """Yield better and better answers; once `stop` returns True, raise `Stopped`."""

        def progress(doing: str, done: int, of: int | None) -> None:
            if stop():
                raise Stopped
            tell(doing, done, of)

        study = asked.study
        with _blaming("price_file"):  # before the data are read: a trace may be too short
            make_prices(study.cost).chunks(study.seed, study.seeds, study.rounds, 1)
        asked, chosen = self.suited(asked)
        study = asked.study
        told = self._problem(asked, progress)
        first, richer = told, replace(study, budget=study.budget + 1, policies=study.policies[:1])
        budgets = [scale * study.budget for scale in BUDGET_SCALES]
        with _blaming("budget"):
            forecaster = told.forecaster.for_study(study)
            answer = Answer(
                asked=asked,
                chosen=chosen,
                money=_money(told, study),
                richer=_money(told, richer),
                frontier=tuple(_money(told, replace(study, budget=budget)) for budget in budgets),
                lower_bound=_lower_bound(forecaster),
                doing="coarse curves",
            )
        yield answer
        for coarse in (True, False):
            groups = [(name,) for name in study.policies] if coarse else [study.policies]
            with _blaming("policies"):
                for names in groups:
                    made = told.for_study(replace(study, policies=names), coarse=coarse, progress=progress)
                    curves = {name: _curve(made, name, exact=not coarse) for name in names}
                    answer = replace(answer, curves={**answer.curves, **curves}, notes=tuple(made.notes))
                    first = made if study.policies[0] in names else first
                    yield answer
                other = told.for_study(richer, coarse=coarse, progress=progress)
            doing = "curves in full" if coarse else "the search for the best" if search else ""
            answer = replace(answer, more=_more(first, other, exact=not coarse), doing=doing)
            yield answer
        if search:
            try:
                answer = replace(answer, design=self._searched(asked, told, progress).document())
            except SettingError as error:  # the curves stand
                answer = replace(answer, unfound=str(error))
            yield replace(answer, doing="")

    def suited(self, asked: Asked) -> tuple[Asked, str]:
        """The question with the ball and steps that `acdpp train --fit` would choose, and those in words."""
        if not asked.fit:
            return asked, ""
        with self._choosing, _blaming("data"):
            found, of, known = self._ball
            if of is None or known != _seen(asked) or not same_problem(of, asked.plain):
                found = suiting(asked.plain, FITTED, pilot=asked.pilot)
                self._ball = (found, asked.plain, _seen(asked))
        if isinstance(found, str):
            return asked, f"radius and scale are the preset's: {found}"
        mine = found.stepping(asked.study, asked.free)
        plain = found.stepping(asked.plain, FITTED).applied(asked.plain)
        said = "; ".join(filter(None, [f"chosen by a pilot: {mine.words}", mine.warning]))
        return replace(asked, study=mine.applied(asked.study), plain=plain), said

    def _searched(self, asked: Asked, told: Prediction, progress: Callable[..., None]) -> Plan:
        paper = told.for_study(asked.plain, progress=progress)
        found = plan_from(paper, asked.plain, objective=asked.objective, progress=progress)
        return replace(found, study=_as_named(found.study, asked.names))

    def _problem(self, asked: Asked, progress: Callable[..., None]) -> Prediction:
        """The data's problem, computed once per data set, pilot and file of prices."""
        known = (*_seen(asked), _age(asked.study.cost.file))
        told, of = self._last  # read once: another page may change it
        if told is None or known != of or not told.covers(asked.study):
            with _blaming("data"):
                first = replace(asked.plain, rounds=1)
                told = predict_study(first, pilot=asked.pilot, best=False, progress=progress)
            self._last = (told, known)
        return told


def commands(asked: Asked) -> dict[str, str]:
    """The question as a TOML file, and the commands that predict, train and plan it."""
    study, pilot = _as_named(asked.study, asked.names), asked.pilot
    small = [] if pilot is None else ["--pilot", str(pilot)]
    found = {
        "toml": toml_of_changes(study),
        "predict": shlex.join(["acdpp", "predict", "--config", CONFIG, "--no-best", *small]),
        "train": shlex.join(["acdpp", "train", "--config", CONFIG]),
    }
    cost = study.cost
    if cost.process not in ("uniform", "integer", "trace"):
        return found  # --cost takes no other prices
    prices = ["--cost", f"{cost.process}:{cost.low:.17g}:{cost.high:.17g}"]
    if cost.file is not None:
        prices = ["--cost", f"csv:{cost.file}{'' if cost.column is None else f',column={cost.column}'}"]
    columns = {"--label": study.label_column, "--time": study.time_column, "--client": study.client_column}
    named = [word for option, value in columns.items() if value is not None for word in (option, value)]
    words = ["acdpp", "plan", "--learner", study.learner, "--dataset", study.dataset, *named, *small]
    words += ["--buffers", ",".join(map(str, study.buffers)), "--budget", f"{study.budget:.17g}", *prices]
    words += ["--no-fit"] if study.dataset.startswith(OWN_FILES) and not asked.fit else []
    words += ["--rounds", str(study.rounds), "--objective", asked.objective]
    return found | {"plan": shlex.join(words)}


# --- parts of an answer ------------------------------------------------------------------------------------


@contextmanager
def _blaming(field: str) -> Iterator[None]:
    """Turn a refusal inside into one for this field, or for the pilot's."""
    try:
        yield
    except Refused:
        raise
    except SettingError as error:
        small = any(words in str(error) for words in ("a pilot sample", "samples choose no ball"))
        raise Refused("pilot" if small else field, str(error)) from None


def _money(told: Prediction, study: Study) -> Money:
    forecaster = told.forecaster.for_study(study)
    brief, limit = brief_for(study, forecaster.constants, forecaster.prices), forecaster.limit
    return Money(
        budget=study.budget,
        mean_price=float(brief.budget.mean_cost),
        K=brief.K,
        rate=float(best_rate(brief.K, brief.budget)),
        most=float(limit.rate),
        threshold=float(limit.threshold),
        binds=limit.binds,
        least=forecaster.lower_bound()["final_excess_risk"],
    )


def _shown(study: Study) -> list[int]:
    """Rounds at which a curve is drawn, the last one after the study's last."""
    return list(map(int, np.unique(np.geomspace(1, study.rounds + 1, CURVE_POINTS).round())))


def _curve(told: Prediction, name: str, *, exact: bool) -> Curve:
    rounds, forecast, error = _shown(told.study), told.forecasts[name], told.risk_error(name)
    at = np.array(rounds) - 1
    row = told.document()["policies"][name]
    return Curve(
        rounds=tuple(rounds),
        risk=tuple(forecast.risk[at].tolist()),
        error=None if error is None else tuple(error[at].tolist()),
        rate=row["rate"],
        cumulative=row["cumulative_excess_risk"],
        final=row["final_excess_risk"],
        errors=row["error"],
        exact=exact,
    )


def _lower_bound(forecaster: StudyForecaster) -> Curve:
    """At the beginning of round t the samples of t - 1 rounds are known."""
    rounds = _shown(forecaster.study)[1:]
    found = forecaster.lower_bound(rounds=[after - 1 for after in rounds])
    least = found["final_excess_risk"]
    return Curve(tuple(rounds), tuple(found["after"]), None, 0.0, math.nan, least, None, exact=True)


def _more(here: Prediction, there: Prediction, *, exact: bool) -> More:
    (name,) = there.study.policies
    rows = [one.document()["policies"][name] for one in (here, there)]
    less = {key: rows[0][key] - rows[1][key] for key in ("cumulative_excess_risk", "final_excess_risk")}
    unsure = [row["error"]["cumulative_excess_risk"] if row["error"] else 0.0 for row in rows]
    significant = exact and abs(less["cumulative_excess_risk"]) > 2 * math.hypot(*unsure)
    return More(name, less["cumulative_excess_risk"], less["final_excess_risk"], significant, exact)


def _seen(asked: Asked) -> Any:
    """The size of the pilot, and the state of the file of samples."""
    return asked.pilot, _age(asked.study.dataset.partition(":")[2])


def _age(file: str | None) -> Any:
    """A value that changes whenever the file does."""
    try:
        seen = os.stat(os.path.expanduser(file or ""))
    except (OSError, ValueError):
        return None  # reading the file says why
    return seen.st_mtime_ns, seen.st_size


def _as_named(study: Study, names: Mapping[str, str]) -> Study:
    """The study with the original names of dropped files."""
    kind, colon, file = study.dataset.partition(":")
    given: dict[str, Any] = {"dataset": kind + colon + names.get(file, file)}
    if study.cost.file is not None:
        given["cost"] = {"file": names.get(study.cost.file, study.cost.file)}
    return Study.from_document(given, study)
