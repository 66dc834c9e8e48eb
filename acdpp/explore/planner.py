"""What is asked on the page, answered step by step: every number is a prediction's or the theory's.

What money buys and the lower bound come first, then coarse curves, one policy after the other, then the same in
full, with standard errors, and at last the search for the best. Whoever asks again stops what is under way.
"""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Callable, Iterator, Mapping
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
from empirics.prediction.best_constant import OWN
from empirics.prediction.curves import StudyForecaster
from empirics.prediction.result import Prediction, same_problem
from empirics.settings.dataset_name import OWN_FILES
from empirics.settings.study import Study
from empirics.settings.toml import toml_of_changes
from empirics.training.fit import FITTED, BallFit
from theory.design.offline import best_rate
from theory.setting import SettingError

__all__ = ["Answer", "Curve", "Money", "More", "Planner", "Refused", "Stopped", "commands"]

POINTS = 200  # of a curve
CONFIG = "plan.toml"
SCALES = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0)  # of the budget, in the picture of what money buys


class Stopped(Exception):
    """Something else is asked by now."""


class Refused(SettingError):
    """What cannot be answered, beside the field that is to blame."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field


@dataclass(frozen=True)
class Money:
    """What a budget buys: K and the rate of constant admission, the most that anybody buys, and what nobody beats."""

    budget: float
    mean_price: float
    K: int
    rate: float  # of constant admission, samples a round
    most: float  # of anybody, samples a round
    threshold: float  # up to which price anybody would buy
    binds: str  # money or memory
    least: float  # final excess risk that nobody guarantees less than


@dataclass(frozen=True)
class Curve:
    """A policy's predicted excess risk at the beginning of some rounds, with standard errors where there are any."""

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
    """What another unit of budget brings: less risk of the first policy, and whether that is told from nothing.

    A coarse one is of the same path of prices; a full one is told if it is twice its standard error, that of two
    predictions taken for independent, though they are of the same paths: so it may be surer than it says.
    """

    policy: str
    cumulative: float
    final: float
    told: bool
    exact: bool


@dataclass(frozen=True)
class Answer:
    """All that is known so far."""

    asked: Asked  # with what the data chose
    chosen: str  # and that in words
    money: Money
    richer: Money  # with a unit more
    frontier: tuple[Money, ...]  # with less and with more
    nobody: Curve  # the lower bound after so many rounds
    curves: Mapping[str, Curve] = field(default_factory=dict)
    more: More | None = None
    design: Mapping[str, Any] | None = None  # as `acdpp plan --json` prints it
    unfound: str = ""  # why the search has found nothing
    notes: tuple[str, ...] = ()
    doing: str = ""  # what comes next, in words

    @property
    def study(self) -> Study:
        return self.asked.study

    @property
    def done(self) -> bool:
        """Whether nothing but the search for the best is to come."""
        return self.exact and self.more is not None and self.more.exact

    @property
    def exact(self) -> bool:
        """Whether all curves are predicted in full."""
        return bool(self.curves) and all(one.exact for one in self.curves.values())


class Planner:
    """Answers forms; what was learnt of a data set is kept for the next one."""

    def __init__(self) -> None:
        self._last: tuple[Prediction | None, Any] = (None, None)  # and of what
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
        """Better and better answers. `stop` is asked again and again, and once it says yes `Stopped` is raised."""

        def progress(doing: str, done: int, of: int | None) -> None:
            if stop():
                raise Stopped
            tell(doing, done, of)

        study = asked.study
        priced = "prices" if study.cost.file is None else "price_file"
        with _blaming(priced):  # before data are looked at, which have prices too
            make_prices(study.cost).chunks(study.seed, study.seeds, study.rounds, 1)  # enough of a trace?
        asked, chosen = self.suited(asked)
        study = asked.study
        told = self._problem(asked, progress)
        first, richer = told, replace(study, budget=study.budget + 1)
        with _blaming(priced):
            forecaster = told.forecaster.for_study(study)
            answer = Answer(
                asked=asked,
                chosen=chosen,
                money=_money(told, study),
                richer=_money(told, richer),
                frontier=tuple(_money(told, replace(study, budget=scale * study.budget)) for scale in SCALES),
                nobody=_nobody(forecaster),
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
                other = told.for_study(
                    replace(richer, policies=study.policies[:1]), coarse=coarse, progress=progress
                )
            doing = "curves in full" if coarse else "the search for the best" if search else ""
            answer = replace(answer, more=_more(first, other, exact=not coarse), doing=doing)
            yield answer
        if search:
            try:
                answer = replace(answer, design=self._searched(asked, told, progress).document())
            except SettingError as error:  # what was predicted stands
                answer = replace(answer, unfound=str(error))
            yield replace(answer, doing="")

    def suited(self, asked: Asked) -> tuple[Asked, str]:
        """With the ball and the steps that the data choose, as `acdpp train` has them, and what they chose in words."""
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
        said = "; ".join(filter(None, [f"chosen by the data: {mine.words}", mine.warning]))
        return replace(asked, study=mine.applied(asked.study), plain=plain), said

    def _searched(self, asked: Asked, told: Prediction, progress: Callable[..., None]) -> Plan:
        plain = replace(asked.plain, policies=(OWN,))
        paper = told.for_study(plain, progress=progress)
        found = plan_from(paper, plain, objective=asked.objective, progress=progress)
        return replace(found, study=_as_named(found.study, asked.names))

    def _problem(self, asked: Asked, progress: Callable[..., None]) -> Prediction:
        """A prediction of the data's landscape, made once for every data set, pilot and file of prices."""
        known = (*_seen(asked), _age(asked.study.cost.file))
        told, of = self._last  # once: another page may change it
        if told is None or known != of or not told.covers(asked.study):
            first = replace(asked.plain, policies=(OWN,), rounds=1)
            with _blaming("data"):
                told = predict_study(first, pilot=asked.pilot, best=False, progress=progress)
            self._last = (told, known)
        return told


def commands(asked: Asked) -> dict[str, str]:
    """The TOML file of what was asked, the command that predicts the same from it, and the one that searches."""
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
        prices = ["--cost-trace", cost.file, *([] if cost.column is None else ["--cost-column", cost.column])]
    columns = {"--label": study.label_column, "--time": study.time_column, "--client": study.client_column}
    named = [word for option, value in columns.items() if value is not None for word in (option, value)]
    words = ["acdpp", "plan", "--dataset", study.dataset, *named, *small]
    words += ["--buffers", ",".join(map(str, study.buffers)), "--budget", f"{study.budget:.17g}", *prices]
    words += ["--no-fit"] if study.dataset.startswith(OWN_FILES) and not asked.fit else []
    words += ["--rounds", str(study.rounds), "--objective", asked.objective]
    return found | {"plan": shlex.join(words)}


# --- parts of an answer ------------------------------------------------------------------------------------


class _blaming:
    """Around what may refuse: the refusal is shown beside this field, or beside that of the pilot."""

    def __init__(self, field: str) -> None:
        self.field = field

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type | None, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, SettingError) and not isinstance(error, Refused):
            small = any(words in str(error) for words in ("a pilot sample", "samples choose no ball"))
            raise Refused("pilot" if small else self.field, str(error)) from None


def _money(told: Prediction, study: Study) -> Money:
    forecaster = told.forecaster.for_study(study)
    brief, limit, bound = (
        brief_for(study, forecaster.constants, forecaster.prices),
        forecaster.limit,
        forecaster.lower_bound(),
    )
    return Money(
        budget=study.budget,
        mean_price=float(brief.budget.mean_cost),
        K=brief.K,
        rate=float(best_rate(brief.K, brief.budget)),
        most=float(limit.rate),
        threshold=float(limit.threshold),
        binds=limit.binds,
        least=bound["final_excess_risk"],
    )


def _shown(study: Study) -> list[int]:
    """Rounds of which a curve is drawn, the last being after the study's last."""
    found = np.unique(np.geomspace(1, study.rounds + 1, POINTS).round().astype(int))
    return [int(t) for t in found]


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


def _nobody(forecaster: StudyForecaster) -> Curve:
    """The lower bound: at the beginning of round t the samples of t - 1 rounds are known."""
    rounds = _shown(forecaster.study)[1:]
    found = forecaster.lower_bound(rounds=[after - 1 for after in rounds])
    least = found["final_excess_risk"]
    return Curve(tuple(rounds), tuple(found["after"]), None, 0.0, math.nan, least, None, exact=True)


def _more(here: Prediction, there: Prediction, *, exact: bool) -> More:
    name = there.study.policies[0]
    rows = [one.document()["policies"][name] for one in (here, there)]
    less = {key: rows[0][key] - rows[1][key] for key in ("cumulative_excess_risk", "final_excess_risk")}
    unsure = [row["error"]["cumulative_excess_risk"] if row["error"] else 0.0 for row in rows]
    told = exact and abs(less["cumulative_excess_risk"]) > 2 * math.hypot(*unsure)
    return More(name, less["cumulative_excess_risk"], less["final_excess_risk"], told, exact)


def _seen(asked: Asked) -> Any:
    """What of the data is looked at: so many samples, and their file as it is now."""
    return asked.pilot, _age(asked.study.dataset.partition(":")[2])


def _age(file: str | None) -> Any:
    """What tells a file from the same one changed."""
    try:
        seen = os.stat(os.path.expanduser(file or ""))
    except (OSError, ValueError):
        return None  # whoever reads the file says what is wrong with it
    return seen.st_mtime_ns, seen.st_size


def _as_named(study: Study, names: Mapping[str, str]) -> Study:
    """The study with dropped files by the names that they had."""
    kind, colon, file = study.dataset.partition(":")
    given: dict[str, Any] = {"dataset": kind + colon + names.get(file, file)}
    if study.cost.file is not None:
        given["cost"] = {"file": names.get(study.cost.file, study.cost.file)}
    return Study.from_document(given, study)
