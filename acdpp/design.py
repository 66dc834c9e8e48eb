"""`acdpp design`: K* and the rates that minimise the bound for T rounds, or as T → ∞, and the landscape over K."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from acdpp import parse
from acdpp.options import AsJson, Budget, Buffers, Constants, MeanCost
from acdpp.output import print_json, say, show_table
from theory.setting import Budget as Setting
from theory.setting import Constants as Numbers
from theory.setting import SettingError

if TYPE_CHECKING:
    from theory.design.offline import Design

__all__ = ["ELSEWHERE", "EXAMPLES", "command"]

HORIZON_MAX = 10**12  # rounds
EXAMPLES = (
    "Examples: [bold]acdpp design --buffers 8,9,10,11,12,8,9,10,11,12 --budget 55 --mean-cost 5.5 --horizon 1e6[/bold] "
    "· [bold]acdpp design --buffers @buffers.txt --budget 55 --mean-cost 5.5[/bold]"
)
OF_PLAN = ("by", "dataset", "label", "time", "client", "data-dir", "pilot", "fit", "no-fit", "eta", "steps")
ELSEWHERE = {  # options of earlier versions
    "--drift": "acdpp keep says how long to keep samples under drift, with the same options",
    "--policy": "acdpp buy says when to buy, with the same options and --online for buy-cheap-online",
    **{
        f"--{name}": "acdpp plan searches by prediction, with the same options and --rounds for --horizon"
        for name in (*OF_PLAN, "objective", "out")
    },
    **{
        f"--cost{part}": "the bound depends on the mean price alone, --mean-cost; acdpp buy and acdpp plan take prices"
        for part in ("", "-trace", "-column")
    },
    "--contraction": "acdpp keep and acdpp buy take it",
}


def command(
    buffers: Buffers,
    budget: Budget,
    mean_cost: MeanCost,
    horizon: Annotated[
        str | None,
        typer.Option(help="Rounds T, to 10^12: the exact optimum for T rounds. Without it, T → ∞."),
    ] = None,
    constants: Constants = parse.DEFAULT_CONSTANTS,
    as_json: AsJson = False,
) -> None:
    setting = parse.budget(buffers, budget, parse.number(mean_cost, "--mean-cost"))
    T = parse.optional(parse.whole, horizon, "--horizon")
    if T is not None and T > HORIZON_MAX:
        raise SettingError(
            f"--horizon must be at most 10^12 for a design, got {horizon}; leave it out for T → ∞"
        )
    document = _designed(setting, T, parse.constants(constants))
    (print_json if as_json else _show)(document)


def _designed(budget: Setting, T: int | None, constants: Numbers) -> dict[str, Any]:
    """The design as plain JSON values."""
    import numpy as np

    from theory.design.offline import design, design_limit

    with np.errstate(all="ignore"):  # results that are not finite are refused below
        result = design_limit(budget, constants) if T is None else design(budget, T, constants)
        document = _document(result, budget, T, constants)
    if not all(math.isfinite(candidate.bound) for candidate in result.candidates):
        raise SettingError("these numbers are too large or too small for a double: the bound is not finite")
    return document


def _document(result: Design, budget: Setting, T: int | None, constants: Numbers) -> dict[str, Any]:
    from theory.design.offline import design_as_stated, fill_ratio

    # without G the bound lacks a constant, which is equal for every K
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


def _crossover(budget: Setting, constants: Numbers) -> float | None:
    """The horizon at which the ceiling of the fill ratio becomes better than its floor, where floats resolve it."""
    from theory.design.offline import crossover_horizon, fill_ratio

    x = fill_ratio(budget)
    if not 1 < x < HORIZON_MAX or float(x).is_integer():
        return None
    where = crossover_horizon(budget, constants)
    return where if math.isfinite(where) else None


def _show(document: dict[str, Any]) -> None:
    T = document["horizon"]
    say(f"K* = {_count(document['K'])} for {'T → ∞' if T is None else f'T = {T:,}'}")
    rates = [f"{float(rate):.6g}" for rate in document["rates"]]
    shown = ", ".join(rates if len(rates) <= 12 else [*rates[:6], "…", *rates[-3:]])
    say(f"rates λ_m: {shown}  (total {float(document['total_rate']):.6g} per round)")
    say(f"binding: {' and '.join(document['binding'])}")
    known = "bound" if document["bound"] is not None else "bound_without_constant"
    heading = "bound" if known == "bound" else "bound*"
    headings = ["rate", "occupancy", "cost", f"{heading} per round" if T is None else heading, "feasible"]

    def cells(row: dict[str, Any]) -> list[str]:
        chosen = row["K"] == document["K"] and row["feasible"]
        numbers = [f"{float(row[name]):.6g}" for name in ("total_rate", "occupancy", "cost")]
        reason = "yes, chosen" if chosen else "yes" if row["feasible"] else "no (cost)"
        return [*numbers, f"{row[known]:.8g}", reason]

    rows = [(f"K = {_count(row['K'])}", cells(row)) for row in document["candidates"]]
    show_table("Landscape over K", headings, rows, of="retention")
    if known != "bound":
        say("* without the constant term per round, which is equal for all K: give G in --constants")
    say("no (cost): filling the buffers with that K costs more than the budget")
    if document["crossover"] is not None:
        below, where = int(document["fill_ratio"]), document["crossover"]
        rough = "; an underestimate, --horizon is exact" if where < 10**4 * below else ""
        say(
            f"K = {below} at the affordable rate is better up to about T = {where:,.0f}, then K = {below + 1}{rough}"
        )
    _, down = document["stated"]
    if not down["feasible"]:
        say(f"The printed corollary offers K = {_count(down['K'])} with full buffers too: not feasible.")


def _count(K: int) -> str:
    """K in full, unless it is too long for the table."""
    return str(K) if K < 10**15 else f"{K:.6g}"
