"""`acdpp design`: the retention horizon and the admission rates for given budgets."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from acdpp import parse
from acdpp.bound import DEFAULT_CONSTANTS
from acdpp.design_buying import Buying, buying_design, price_law
from acdpp.design_buying import show as show_buying
from acdpp.output import console, print_json
from acdpp.predict import PilotSize
from acdpp.study import CostColumn, CostTrace, DataDir, Dataset
from theory.design import Design, crossover_horizon, design, design_as_stated, design_limit, fill_ratio
from theory.prices import PriceLaw
from theory.setting import Budget, Constants, SettingError

__all__ = ["EXAMPLES", "command"]

LONGEST = 10**12  # rounds
PAPER_BUFFERS, PAPER_BUDGET = "8,9,10,11,12,8,9,10,11,12", "55"
ALONE = "--policy {} takes prices, by --cost or --cost-trace, and nothing of a constant rate"
EXAMPLES = (
    "Examples: [bold]acdpp design --buffers 8,9,10,11,12,8,9,10,11,12 "
    "--budget 55 --mean-cost 5.5 --horizon 1e6[/bold] · "
    "[bold]acdpp design --buffers 20,20,30 --budget 55 --mean-cost 5.5 "
    "--by prediction --dataset npz:mine.npz --pilot 200[/bold] · "
    "[bold]acdpp design --policy buy-cheap --cost uniform:1:10[/bold]"
)


class By(StrEnum):
    """What the design makes small."""

    bound = "bound"
    prediction = "prediction"


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
        typer.Option(help="Prices, for --policy: uniform:LOW:HIGH, integer:LOW:HIGH or one price."),
    ] = None,
    cost_trace: CostTrace = None,
    cost_column: CostColumn = None,
    contraction: Annotated[
        str | None,
        typer.Option(
            help="For --policy: what a round leaves of a distance, from 0 to 1, if steps are not small."
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
    dataset: Dataset = None,
    data_dir: DataDir = None,
    pilot: PilotSize = None,
    eta: Annotated[
        str | None, typer.Option(help="Step size, by prediction; without it, the best is searched.")
    ] = None,
    steps: Annotated[
        str | None, typer.Option(help="Local steps E, by prediction, 10 if not given; the best of several.")
    ] = None,
    constants: Annotated[
        str, typer.Option(help="D, sigma, eta, B, Pdim and, if wanted, E, G, L.")
    ] = DEFAULT_CONSTANTS,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """K*, the rates λ_m, the binding constraint, and the landscape over K; or when to buy, with --policy."""
    if policy is not None:
        others = {
            "mean-cost": mean_cost,
            "horizon": horizon,
            "dataset": dataset,
            "data-dir": data_dir,
            "pilot": pilot,
        }
        others |= {"eta": eta, "steps": steps, "by": None if by is By.bound else by}
        others |= {"constants": None if constants == DEFAULT_CONSTANTS else constants}
        _no_others(others, ALONE.format(policy))
        plan = _buying(policy, buffers, budget, price_law(cost, cost_trace, cost_column), contraction)
        (print_json if as_json else show_buying)(plan)
        return
    asked = {"cost": cost, "cost-trace": cost_trace, "cost-column": cost_column, "contraction": contraction}
    _no_others(asked, "a constant rate knows the mean alone; give --policy buy-cheap too")
    given = {"buffers": buffers, "budget": budget, "mean-cost": mean_cost}
    if missing := [f"--{name}" for name, value in given.items() if value is None]:
        raise SettingError(
            f"a design needs {', '.join(missing)} too, such as --buffers 8,9,10 --budget 33 --mean-cost 5.5"
        )
    setting = Budget(
        buffers=parse.numbers(buffers or "", "--buffers"),
        cost=parse.number(budget or "", "--budget"),
        mean_cost=parse.number(mean_cost or "", "--mean-cost"),
    )
    T = None if horizon is None else parse.whole(horizon, "--horizon")
    if T is not None and T > LONGEST:
        raise SettingError(
            f"--horizon must be at most 10^12 for a design, got {horizon}; leave it out for T → ∞"
        )
    if by is By.prediction:
        from acdpp.design_by_prediction import predicted_design, show

        if constants != DEFAULT_CONSTANTS:
            raise SettingError("--constants are the bound's: --by prediction takes its own from the data")
        found = predicted_design(
            setting, dataset, data_dir=data_dir, pilot=pilot, horizon=T, eta=eta, steps=steps, quiet=as_json
        )
        (print_json if as_json else show)(found)
        return
    asked = {"dataset": dataset, "data-dir": data_dir, "pilot": pilot, "eta": eta, "steps": steps}
    _no_others(asked, "the bound knows no data; give --by prediction too")
    numbers = parse.constants(constants)
    with np.errstate(all="ignore"):  # what is not finite is refused below
        result = design_limit(setting, numbers) if T is None else design(setting, T, numbers)
        document = _document(result, setting, T, numbers)
    if not all(math.isfinite(candidate.bound) for candidate in result.candidates):
        raise SettingError("these numbers are too large or too small for a double: the bound is not finite")
    if as_json:
        print_json(document)
    else:
        _show(document)


def _no_others(asked: dict[str, Any], reason: str) -> None:
    """Refuse what was given and plays no part."""
    if foreign := [f"--{name}" for name, value in asked.items() if value is not None]:
        raise SettingError(f"{', '.join(foreign)}: {reason}")


def _buying(
    policy: Buying, buffers: str | None, budget: str | None, law: PriceLaw, contraction: str | None
) -> dict[str, Any]:
    setting = Budget(
        buffers=parse.numbers(buffers or PAPER_BUFFERS, "--buffers"),
        cost=parse.number(budget or PAPER_BUDGET, "--budget"),
        mean_cost=law.mean,
    )
    a = None if contraction is None else parse.number(contraction, "--contraction")
    if a is not None and not 0 < a < 1:
        raise SettingError(f"--contraction lies between 0 and 1, such as 0.9, got {contraction}")
    return buying_design(setting, law, policy, a)


def _document(result: Design, budget: Budget, T: int | None, constants: Constants) -> dict[str, Any]:
    # without G, what is known of the bound; the constant that is missing is the same for every K
    known = "bound" if constants.G is not None else "bound_without_constant"

    def named(fields: dict[str, Any]) -> dict[str, Any]:
        return {**fields, "bound": None, known: fields["bound"]}

    chosen = {
        "K": result.K,
        "rates": list(result.rates),
        "total_rate": result.total_rate,
        "binding": list(result.binding),
        "horizon": T,
        "bound": result.bound,
    }
    return named(chosen) | {
        "fill_ratio": fill_ratio(budget),
        "crossover": _crossover(budget, constants),
        "stated": [{"K": K, "feasible": feasible} for K, feasible in design_as_stated(budget)],
        "candidates": [named(vars(candidate)) for candidate in result.candidates],
    }


def _crossover(budget: Budget, constants: Constants) -> float | None:
    """Where the ceiling of the fill ratio passes the floor, if floats can tell them and their bounds apart."""
    x = fill_ratio(budget)
    if not 1 < x < LONGEST or float(x).is_integer():
        return None
    where = crossover_horizon(budget, constants)
    return where if math.isfinite(where) else None


def _show(document: dict[str, Any]) -> None:
    T = document["horizon"]
    console.print(f"K* = {_count(document['K'])} for {'T → ∞' if T is None else f'T = {T:,}'}")
    rates = [f"{float(rate):.6g}" for rate in document["rates"]]
    shown = ", ".join(rates if len(rates) <= 12 else [*rates[:6], "…", *rates[-3:]])
    console.print(f"rates λ_m: {shown}  (total {float(document['total_rate']):.6g} a round)")
    console.print(f"binding: {' and '.join(document['binding'])}")
    table = Table(title="Landscape over K", title_justify="left")
    known = "bound" if document["bound"] is not None else "bound_without_constant"
    heading = "bound" if known == "bound" else "bound*"
    for name in ("K", "rate", "occupancy", "cost", f"{heading} a round" if T is None else heading):
        table.add_column(name, justify="right")
    table.add_column("feasible")
    for row in document["candidates"]:
        chosen = row["K"] == document["K"] and row["feasible"]
        cells = [f"{float(row[name]):.6g}" for name in ("total_rate", "occupancy", "cost")]
        reason = "yes, chosen" if chosen else "yes" if row["feasible"] else "no (cost)"
        style = "bold" if chosen else "" if row["feasible"] else "dim"
        table.add_row(_count(row["K"]), *cells, f"{row[known]:.8g}", reason, style=style)
    console.print(table)
    if known != "bound":
        console.print("* without the constant of every round, the same for all K: give G in --constants")
    console.print("no (cost): filling the buffers with that K costs more than the budget")
    if document["crossover"] is not None:
        below, where = int(document["fill_ratio"]), document["crossover"]
        rough = "; a low estimate, for which --horizon is exact" if where < 10**4 * below else ""
        console.print(
            f"K = {below} at the affordable rate is better up to about T = {where:,.0f}, then K = {below + 1}{rough}"
        )
    _, down = document["stated"]
    if not down["feasible"]:
        console.print(
            f"The printed corollary offers K = {_count(down['K'])} with full buffers too: not feasible."
        )


def _count(K: int) -> str:
    """In full as long as a table has room for it."""
    return str(K) if K < 10**15 else f"{K:.6g}"
