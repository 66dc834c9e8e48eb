"""`acdpp design`: the retention horizon and the admission rates for given budgets."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.table import Table

from acdpp import parse
from acdpp.bound import DEFAULT_CONSTANTS
from acdpp.output import console, print_json
from theory.design import Design, crossover_horizon, design, design_as_stated, design_limit, fill_ratio
from theory.setting import Budget, Constants, SettingError

__all__ = ["EXAMPLES", "command"]

EXAMPLES = (
    "Example: [bold]acdpp design --buffers 8,9,10,11,12,8,9,10,11,12 "
    "--budget 55 --mean-cost 5.5 --horizon 1e6[/bold]"
)


def command(
    buffers: Annotated[str, typer.Option(help="Client buffers B_m: a,b,c or @FILE with one number a line.")],
    budget: Annotated[str, typer.Option(help="Cost budget C a round.")],
    mean_cost: Annotated[str, typer.Option(help="Mean cost of a sample.")],
    horizon: Annotated[
        str | None,
        typer.Option(help="Rounds T, to 10^12: the exact optimum for T rounds. Without it, T → ∞."),
    ] = None,
    constants: Annotated[
        str, typer.Option(help="D, sigma, eta, B, Pdim and, if wanted, E, G, L.")
    ] = DEFAULT_CONSTANTS,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """K*, the rates λ_m, the binding constraint, and the landscape over K."""
    setting = Budget(
        buffers=parse.numbers(buffers, "--buffers"),
        cost=parse.number(budget, "--budget"),
        mean_cost=parse.number(mean_cost, "--mean-cost"),
    )
    numbers = parse.constants(constants)
    T = None if horizon is None else parse.whole(horizon, "--horizon")
    if T is not None and T > 10**12:
        raise SettingError(
            f"--horizon must be at most 10^12 for a design, got {horizon}; leave it out for T → ∞"
        )
    result = design_limit(setting, numbers) if T is None else design(setting, T, numbers)
    document = _document(result, setting, T, numbers)
    if as_json:
        print_json(document)
    else:
        _show(document)


def _document(result: Design, budget: Budget, T: int | None, constants: Constants) -> dict[str, Any]:
    x = fill_ratio(budget)
    return {
        "K": result.K,
        "rates": list(result.rates),
        "total_rate": result.total_rate,
        "binding": list(result.binding),
        "horizon": T,
        "bound": result.bound,
        "fill_ratio": x,
        "crossover": crossover_horizon(budget, constants) if x > 1 and x != int(x) else None,
        "stated": [{"K": K, "feasible": feasible} for K, feasible in design_as_stated(budget)],
        "candidates": [vars(candidate) for candidate in result.candidates],
    }


def _show(document: dict[str, Any]) -> None:
    T = document["horizon"]
    console.print(f"K* = {document['K']} for {'T → ∞' if T is None else f'T = {T:,}'}")
    rates = [f"{float(rate):.6g}" for rate in document["rates"]]
    shown = ", ".join(rates if len(rates) <= 12 else [*rates[:6], "…", *rates[-3:]])
    console.print(f"rates λ_m: {shown}  (total {float(document['total_rate']):.6g} a round)")
    console.print(f"binding: {' and '.join(document['binding'])}")
    table = Table(title="Landscape over K", title_justify="left")
    for heading in ("K", "rate", "occupancy", "cost", "bound a round" if T is None else "bound"):
        table.add_column(heading, justify="right")
    table.add_column("feasible")
    for row in document["candidates"]:
        chosen = row["K"] == document["K"] and row["feasible"]
        cells = [f"{float(row[name]):.6g}" for name in ("total_rate", "occupancy", "cost")]
        reason = "yes, chosen" if chosen else "yes" if row["feasible"] else "no (cost)"
        style = "bold" if chosen else "" if row["feasible"] else "dim"
        table.add_row(str(row["K"]), *cells, f"{row['bound']:.8g}", reason, style=style)
    console.print(table)
    console.print("no (cost): filling the buffers with that K costs more than the budget")
    if document["crossover"] is not None:
        below, where = int(document["fill_ratio"]), document["crossover"]
        console.print(
            f"K = {below} at the affordable rate is better up to about T = {where:,.0f}, then K = {below + 1}"
        )
    _, down = document["stated"]
    if not down["feasible"]:
        console.print(f"The printed corollary offers K = {down['K']} with full buffers too: not feasible.")
