"""`acdpp design` by the bound: K* and the rates for T rounds, or as T → ∞, and the landscape over K."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from acdpp import parse
from acdpp.output import say, show_table
from theory.design.offline import (
    Design,
    crossover_horizon,
    design,
    design_as_stated,
    design_limit,
    fill_ratio,
)
from theory.setting import Budget, Constants, SettingError

__all__ = ["bound_design", "show"]

FARTHEST = 10**12


def bound_design(budget: Budget, T: int | None, constants: str) -> dict[str, Any]:
    """The design as plain JSON values."""
    numbers = parse.constants(constants)
    with np.errstate(all="ignore"):  # what is not finite is refused below
        result = design_limit(budget, numbers) if T is None else design(budget, T, numbers)
        document = _document(result, budget, T, numbers)
    if not all(math.isfinite(candidate.bound) for candidate in result.candidates):
        raise SettingError("these numbers are too large or too small for a double: the bound is not finite")
    return document


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
    if not 1 < x < FARTHEST or float(x).is_integer():
        return None
    where = crossover_horizon(budget, constants)
    return where if math.isfinite(where) else None


def show(document: dict[str, Any]) -> None:
    """For people."""
    T = document["horizon"]
    say(f"K* = {_count(document['K'])} for {'T → ∞' if T is None else f'T = {T:,}'}")
    rates = [f"{float(rate):.6g}" for rate in document["rates"]]
    shown = ", ".join(rates if len(rates) <= 12 else [*rates[:6], "…", *rates[-3:]])
    say(f"rates λ_m: {shown}  (total {float(document['total_rate']):.6g} a round)")
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
        say("* without the constant of every round, the same for all K: give G in --constants")
    say("no (cost): filling the buffers with that K costs more than the budget")
    if document["crossover"] is not None:
        below, where = int(document["fill_ratio"]), document["crossover"]
        rough = "; a low estimate, for which --horizon is exact" if where < 10**4 * below else ""
        say(
            f"K = {below} at the affordable rate is better up to about T = {where:,.0f}, then K = {below + 1}{rough}"
        )
    _, down = document["stated"]
    if not down["feasible"]:
        say(f"The printed corollary offers K = {_count(down['K'])} with full buffers too: not feasible.")


def _count(K: int) -> str:
    """In full as long as a table has room for it."""
    return str(K) if K < 10**15 else f"{K:.6g}"
