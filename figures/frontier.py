r"""Effective samples and predicted risk of each policy against the budget, with an upper bound for all policies.

Budgets are \(\bar cS/K\) for whole K, where S is the total buffer: there constant admission fills the memory and spends
its whole budget, so that all policies are compared at equal spending.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FixedFormatter, FixedLocator

from empirics.control.prices import law_of, make_prices
from empirics.control.schedule import plan
from empirics.prediction.study_forecaster import StudyForecaster
from empirics.settings.study import Study
from empirics.training.constants import calibrate
from empirics.training.device import threads
from empirics.training.problem import make_problem
from figures.options import Track, silently
from figures.style import DASHES, Floats, Look, Width, decades, key, letter, named_ticks
from theory.market.knapsack import purchase_limit
from theory.market.long_run import best_plan, burst_plan, gap_closed, online_plan
from theory.market.prices import PriceLaw
from theory.setting import Constants, SettingError

__all__ = ["PREDICTED", "Frontier", "PredictedRisks", "budgets", "compute", "draw"]

RETENTIONS = (100, 30, 10, 4, 2, 1)
BUDGETS_BETWEEN = 6  # budgets of the left panels between two of the right
PREDICTED = ("buy-cheap-online", "buy-cheap", "acdpp", "acdpp-capped", "constant", "oracle", "hybrid")
BURSTS = {"bursts of half the memory": 2, "bursts of the whole memory": 1}
MICROUNITS = 10**6
GAP_MIN = 0.01  # relative, between constant admission and the oracle, for a share of it
SHARE_LIMITS = (-0.3, 1)  # of the axis


@dataclass(frozen=True)
class PredictedRisks:
    """Predicted cumulative excess risk over T rounds by policy, its relative standard errors over price paths (0 where
    prices have no effect), and mean spending over the budget."""

    T: int
    C: Floats
    cumulative: dict[str, Floats]
    errors: dict[str, Floats]
    spent: dict[str, Floats]
    task: str

    @property
    def overspent(self) -> tuple[float, float]:
        """Least and greatest overspending in per cent of the budget, without the oracle, which has no budget."""
        parts = [100 * (values - 1) for name, values in self.spent.items() if name != "oracle"]
        return float(np.min(parts)), float(np.max(parts))

    @property
    def unsure(self) -> float:
        """The largest relative standard error."""
        return float(max(values.max() for values in self.errors.values()))

    def closed(self, name: str) -> Floats:
        """The closed share of the gap from constant admission to the oracle; NaN where the gap is negligible."""
        constant, oracle = self.cumulative["constant"], self.cumulative["oracle"]
        gap = constant - oracle
        apart = gap > GAP_MIN * oracle
        return np.asarray((constant - self.cumulative[name]) / np.where(apart, gap, np.nan))


@dataclass(frozen=True)
class Frontier:
    """Effective samples per round by policy at the budgets `C`, and their upper bound."""

    C: Floats
    places: float
    mean_cost: float
    effective: dict[str, Floats]
    limit: Floats
    risks: PredictedRisks | None

    def closed(self, name: str) -> Floats:
        """The closed share of the gap in noise, for small steps; NaN without a gap."""
        constant = self.effective["constant"]
        way = np.where(constant < self.places, constant, np.nan)
        return np.asarray(gap_closed(self.effective[name], way, self.places))


def budgets(places: int, mean_cost: float) -> list[float]:
    """C = c̄S/K, rounded up so that a retention of K fills the memory; at least a sample per round.

    >>> budgets(3, 5.5)
    [5.5, 8.25, 16.5]
    """
    retentions = sorted({min(K, places) for K in RETENTIONS}, reverse=True)
    return [math.ceil(MICROUNITS * mean_cost * places / K - 0.001) / MICROUNITS for K in retentions]


def compute(study: Study, *, risk: bool = True, track: Track = silently) -> Frontier:
    """The frontier for the study's buffers, prices, rounds and data, whatever its budget."""
    prices, S = make_prices(study.cost), sum(study.buffers)
    if S < 2:
        raise SettingError(
            "a memory of one sample has no frontier: give buffers for at least 2, such as 8,12"
        )
    law = law_of(prices, study.seed, study.seeds, study.rounds)
    given = budgets(S, float(prices.mean))
    finer = np.geomspace(given[0], given[-1], BUDGETS_BETWEEN * (len(given) - 1) + 1)
    C = np.unique([*given, *finer.tolist()])
    return Frontier(
        C=C,
        places=float(S),
        mean_cost=float(law.mean),
        effective=_effective(law, S, C.tolist()),
        limit=np.array([float(purchase_limit(law, S, one).rate) for one in C.tolist()]),
        risks=_risks(study, given, track) if risk else None,
    )


def _effective(law: PriceLaw, S: int, C: Sequence[float]) -> dict[str, Floats]:
    rules: dict[str, Any] = {
        "buy-cheap-online": lambda one: online_plan(law, S, one).effective_rate,
        "buy-cheap": lambda one: best_plan(law, S, one).effective_rate,
        "constant": lambda one: min(one / float(law.mean), float(S)),
    }
    for words, parts in BURSTS.items():
        rules[words] = lambda one, parts=parts: burst_plan(law, S, one, parts).effective_rate
    return {name: np.array([rule(one) for one in C]) for name, rule in rules.items()}


def _risks(study: Study, C: Sequence[float], track: Track) -> PredictedRisks:
    """Predictions for all budgets on one problem, whose measuring takes most of the time."""
    study = replace(study, policies=PREDICTED)
    found, errors, spent = ({name: list[float]() for name in PREDICTED} for _ in range(3))
    with threads(study.threads, "take fewer rounds"):
        problem = make_problem(study, "cpu", None)
        constants = calibrate(problem).constants.merged
        forecaster = StudyForecaster.of(problem, constants)
        for budget in track(C):
            own = replace(study, budget=budget)
            for name, forecast in replace(forecaster, study=own).forecasts().items():
                found[name].append(forecast.cumulative)
                error = (forecast.errors or {}).get("cumulative_excess_risk", 0.0)
                errors[name].append(error / forecast.cumulative if error else 0.0)
            for name, cost in _costs(own, constants).items():
                spent[name].append(cost / budget)
    return PredictedRisks(
        T=study.rounds,
        C=np.array(C),
        cumulative=_arrays(found),
        errors=_arrays(errors),
        spent=_arrays(spent),
        task=study.task,
    )


def _arrays(columns: dict[str, list[float]]) -> dict[str, Floats]:
    return {name: np.array(values) for name, values in columns.items()}


def _costs(study: Study, constants: Constants) -> dict[str, float]:
    """Mean cost per round by policy."""
    played = plan(study, constants)
    paid = (played.cost * played.admissions.sum(axis=2)).mean(axis=0).reshape(len(study.policies), -1)
    return dict(zip(study.policies, paid.mean(axis=1).tolist(), strict=True))


def draw(data: Frontier, look: Look) -> Figure:
    """Draw above the effective samples and the risk, below the closed shares of the gap."""
    with look.applied():
        columns = 1 if data.risks is None else 2
        width = Width.single if data.risks is None else Width.double
        shape = {"height_ratios": [2, 1], "sharex": True}
        figure, grid = look.canvas(width, 4.4 if columns == 2 else 5.0, 2, columns, **shape)
        _draw_effective(grid[0, 0], grid[1, 0], data, look)
        if data.risks is not None:
            _draw_risks(grid[0, 1], grid[1, 1], data.risks, look)
        letter(grid.T.ravel())
        for axes in grid.ravel():
            _budget_axis(axes, data)
        for axes in grid[1]:
            look.zero(axes)
            axes.set(xlabel="budget $C$ per round", ylim=SHARE_LIMITS)
            axes.yaxis.set_major_locator(FixedLocator([0, 0.5, 1]))
            axes.yaxis.set_major_formatter(FixedFormatter(["0", "50 %", "100 %"]))
            axes.set_ylabel("closed share of the gap,\nconstant to oracle")
        figure.align_ylabels()
        look.legend(figure, _handles(data, look), _note(data))
    return figure


def _looks(look: Look) -> dict[str, dict[str, Any]]:
    """The styles of policies, and of bursts in grey."""
    looks = look.policies(PREDICTED)
    return looks | {
        name: {"color": look.muted, "linestyle": DASHES[place], "marker": "none"}
        for place, name in enumerate(BURSTS)
    }


def _draw_effective(above: Axes, below: Axes, data: Frontier, look: Look) -> None:
    looks, top = _looks(look), 1.6 * data.places
    above.fill_between(data.C, data.limit, top, **look.hatched, zorder=0.5)
    oracle = {key: looks["oracle"][key] for key in ("color", "linestyle")}
    above.axhline(data.places, **oracle)
    for name, values in data.effective.items():
        line = {key: looks[name][key] for key in ("color", "linestyle")}
        above.plot(data.C, values, **line)
        if name != "constant":
            below.plot(data.C, data.closed(name), **line)
    decades(above, vertical=True)
    above.set_ylim(0.8 * min(values.min() for values in data.effective.values()), top)
    above.set_ylabel("effective samples per round")


def _draw_risks(above: Axes, below: Axes, risks: PredictedRisks, look: Look) -> None:
    looks = look.policies(PREDICTED)
    for name, values in risks.cumulative.items():
        above.plot(risks.C, values, **looks[name])
        if name not in ("constant", "oracle"):
            below.plot(risks.C, risks.closed(name), **looks[name])
    above.set_ylim(bottom=0)
    above.set_ylabel(f"predicted cumulative excess risk,\n{risks.T:,} rounds")


def _budget_axis(axes: Axes, data: Frontier) -> None:
    axes.set_xscale("log")
    named = data.C[0] * 10 ** np.arange(0, np.log10(data.C[-1] / data.C[0]) + 0.01)
    named_ticks(axes.xaxis, named.tolist(), "{:.4g}")
    margin = (data.C[-1] / data.C[0]) ** 0.02
    axes.set_xlim(data.C[0] / margin, data.C[-1] * margin)


def _handles(data: Frontier, look: Look) -> list[Any]:
    looks = _looks(look)
    names = [*PREDICTED, *BURSTS] if data.risks is not None else [*data.effective, "oracle"]
    plain = {} if data.risks is not None else {"marker": "none"}
    handles: list[Any] = [key(name, **(looks[name] | plain)) for name in names]
    return [*handles, Patch(**look.hatched, label="beyond any policy")]


def _note(data: Frontier) -> str:
    words = [
        "(a), (b): long run, independent prices, small steps, where ACDPP is constant admission.",
        f"The oracle costs {data.mean_cost * data.places:.4g} per round at every budget.",
    ]
    if data.risks is not None:
        low, high = data.risks.overspent
        off = f"{low:+.0f} to {high:+.0f}".replace("-", "−")
        words.append(
            f"(c), (d): {data.risks.task}; spending in {data.risks.T:,} rounds is {off} % off the budget; the standard "
            f"error over price paths is at most {100 * data.risks.unsure:.1f} %."
        )
    return " ".join(words)
