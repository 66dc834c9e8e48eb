"""`acdpp design`: the retention horizon and the admission rates for given budgets; or when to buy.

Four designs: of a constant rate, by the bound (`design_by_bound`) or in a world that moves (`design_drift`); of policy
and learner, by predicted risk (`design_by_prediction`); and of a rule that buys when it is cheap (`design_buying`).
What belongs to another of them is refused.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from acdpp import parse
from acdpp.output import print_json
from acdpp.study import Client, CostColumn, CostTrace, DataDir, Dataset, Fit, Label, PilotSize, Time, trace_of
from theory.paper import BUDGET, BUFFERS
from theory.setting import Budget, SettingError

__all__ = ["EXAMPLES", "Buying", "By", "command"]

LONGEST = 10**12  # rounds
PAPER_BUFFERS, PAPER_BUDGET = ",".join(map(str, BUFFERS)), str(BUDGET)
EXAMPLES = (
    "Examples: [bold]acdpp design --buffers 8,9,10,11,12,8,9,10,11,12 "
    "--budget 55 --mean-cost 5.5 --horizon 1e6[/bold] · "
    "[bold]acdpp design --buffers 20,20,30 --budget 55 --cost uniform:1:10 "
    "--by prediction --dataset npz:mine.npz --pilot 200[/bold] · "
    "[bold]acdpp design --policy buy-cheap --cost uniform:1:10[/bold] · "
    "[bold]acdpp design --buffers 20,20,30 --budget 55 --mean-cost 5.5 --drift 0.001[/bold]"
)


class By(StrEnum):
    """What the design makes small."""

    bound = "bound"
    prediction = "prediction"


class Objective(StrEnum):
    """Which predicted excess risk is to be least."""

    cumulative = "cumulative"
    final = "final"


class Buying(StrEnum):
    """Rules that buy when it is cheap."""

    known = "buy-cheap"
    online = "buy-cheap-online"


def command(
    buffers: Annotated[
        str | None,
        typer.Option(
            help="Client buffers B_m: a,b,c or @FILE with one number a line; with --policy, the paper's if not given."
        ),
    ] = None,
    budget: Annotated[
        str | None, typer.Option(help="Cost budget C a round; with --policy, the paper's 55 if not given.")
    ] = None,
    mean_cost: Annotated[str | None, typer.Option(help="Mean cost of a sample.")] = None,
    policy: Annotated[
        Buying | None,
        typer.Option(help="Instead of a constant rate: buy when it is cheap, prices known or met online."),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(
            help="Prices, for --policy and by prediction: uniform:LOW:HIGH, integer:LOW:HIGH or one price."
        ),
    ] = None,
    cost_trace: CostTrace = None,
    cost_column: CostColumn = None,
    contraction: Annotated[
        str | None,
        typer.Option(
            help="For --policy and --drift: what a round leaves of a distance, from 0 to 1, if steps are not small."
        ),
    ] = None,
    horizon: Annotated[
        str | None,
        typer.Option(
            help="Rounds T, to 10^12: the exact optimum for T rounds. Without it, T → ∞; by prediction, 500."
        ),
    ] = None,
    by: Annotated[
        By, typer.Option(help="What is to be least: the bound, or the excess risk predicted on --dataset.")
    ] = By.bound,
    drift: Annotated[
        str | None,
        typer.Option(
            help="How long to keep samples if the optimum moves: the mean square of its move in a round over the "
            "variance of one sample, such as 0.001. With --contraction at a given step, else at the best one."
        ),
    ] = None,
    dataset: Dataset = None,
    label: Label = None,
    time: Time = None,
    client: Client = None,
    data_dir: DataDir = None,
    pilot: PilotSize = None,
    fit: Fit = None,
    eta: Annotated[
        str | None, typer.Option(help="Step size, by prediction; without it, the best is searched.")
    ] = None,
    steps: Annotated[
        str | None,
        typer.Option(help="Local steps E, by prediction, the best of several: 10,3,1 if not given."),
    ] = None,
    objective: Annotated[
        Objective | None,
        typer.Option(
            help="By prediction: the excess risk of all rounds, or of the last; cumulative if not given."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="By prediction: a new file, such as best.toml, that trains it: acdpp train --config FILE."
        ),
    ] = None,
    constants: Annotated[
        str, typer.Option(help="D, sigma, eta, B, Pdim and, if wanted, E, G, L.")
    ] = parse.DEFAULT_CONSTANTS,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """K*, the rates λ_m, the binding constraint, and the landscape over K; or when to buy, with --policy."""
    of_prices = {
        "cost": cost,
        "cost-trace": cost_trace,
        "cost-column": cost_column,
        "contraction": contraction,
    }
    columns = {"label": label, "time": time, "client": client}
    of_data = {
        "dataset": dataset,
        **columns,
        "data-dir": data_dir,
        "pilot": pilot,
        "fit": fit,
        "eta": eta,
        "steps": steps,
    }
    of_data |= {"objective": objective, "out": out}
    of_the_bound = {"constants": None if constants == parse.DEFAULT_CONSTANTS else constants}
    if drift is not None:
        from acdpp.design_drift import drifting_design, show

        others = {name: value for name, value in of_prices.items() if name != "contraction"}
        others |= {"policy": policy, "by": None if by is By.bound else by, "horizon": horizon}
        reason = "--drift takes buffers, budget, mean cost and --contraction alone: the long run of a constant rate"
        _refuse(others | of_data | of_the_bound, reason)
        _need(buffers=buffers, budget=budget, **{"mean-cost": mean_cost})
        setting = _budget(str(buffers), str(budget), parse.number(str(mean_cost), "--mean-cost"))
        found = drifting_design(setting, drift, contraction)
    elif policy is not None:
        from acdpp.design_buying import buying_design, price_law, show

        of_a_rate = {"mean-cost": mean_cost, "horizon": horizon, **of_data}
        of_a_rate |= {"by": None if by is By.bound else by, **of_the_bound}
        reason = f"--policy {policy} takes prices, by --cost or --cost-trace, and nothing of a constant rate"
        _refuse(of_a_rate, reason)
        law = price_law(cost, cost_trace, cost_column)
        setting = _budget(buffers or PAPER_BUFFERS, budget or PAPER_BUDGET, law.mean)
        found = buying_design(setting, law, policy, contraction)
    elif by is By.prediction:
        from acdpp.design_by_prediction import predicted_design, show

        _refuse(of_the_bound, "that is the bound's: --by prediction takes its own constants from the data")
        _refuse({"contraction": contraction}, "--by prediction takes it from the data")
        known = cost is not None or cost_trace is not None
        _need(buffers=buffers, budget=budget, **({} if known else {"mean-cost": mean_cost}))
        found = predicted_design(
            dataset,
            columns,
            _prices(mean_cost, cost, cost_trace, cost_column),
            buffers=str(buffers),
            budget=str(budget),
            law_known=known,
            data_dir=data_dir,
            pilot=pilot,
            fit=fit,
            horizon=_horizon(horizon),
            eta=eta,
            steps=steps,
            objective=objective,
            out=out,
            quiet=as_json,
        )
    else:
        _refuse(
            of_prices, "a constant rate knows the mean alone; give --policy buy-cheap or --by prediction too"
        )
        _need(buffers=buffers, budget=budget, **{"mean-cost": mean_cost})
        _refuse(of_data, "the bound knows no data; give --by prediction too")
        setting = _budget(str(buffers), str(budget), parse.number(str(mean_cost), "--mean-cost"))
        from acdpp.design_by_bound import bound_design, show

        found = bound_design(setting, _horizon(horizon), constants)
    (print_json if as_json else show)(found)


def _refuse(given: dict[str, Any], reason: str) -> None:
    """Refuse what was given and plays no part."""
    if foreign := [f"--{name}" for name, value in given.items() if value is not None]:
        raise SettingError(f"{', '.join(foreign)}: {reason}")


def _need(**given: str | None) -> None:
    if missing := [f"--{name}" for name, value in given.items() if value is None]:
        raise SettingError(
            f"a design needs {', '.join(missing)} too, such as --buffers 8,9,10 --budget 33 --mean-cost 5.5"
        )


def _prices(mean: str | None, cost: str | None, trace: Path | None, column: str | None) -> dict[str, Any]:
    """As a study has them; of a mean alone, that price in every round."""
    if sum(one is not None for one in (mean, cost, trace)) > 1:
        raise SettingError("prices come from one place: give one of --mean-cost, --cost and --cost-trace")
    if (recorded := trace_of(trace, column)) is not None:
        return recorded
    if mean is not None:
        cost = str(parse.number(mean, "--mean-cost"))
    kind, low, high = parse.prices(str(cost), ("uniform", "integer"))
    return {"process": kind, "low": float(low), "high": float(high)}


def _budget(buffers: str, budget: str, mean_cost: Any) -> Budget:
    return Budget(
        buffers=parse.numbers(buffers, "--buffers"),
        cost=parse.number(budget, "--budget"),
        mean_cost=mean_cost,
    )


def _horizon(text: str | None) -> int | None:
    T = None if text is None else parse.whole(text, "--horizon")
    if T is not None and T > LONGEST:
        raise SettingError(
            f"--horizon must be at most 10^12 for a design, got {text}; leave it out for T → ∞"
        )
    return T
