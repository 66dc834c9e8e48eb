"""`acdpp buy`: when to buy, how much, and what the budget then buys, for given prices."""

from typing import Annotated, Any

import typer

from acdpp import parse
from acdpp.options import AsJson, Budget, Buffers, Contraction, CostSource
from acdpp.output import print_json, say, show_table
from theory.market.knapsack import purchase_limit
from theory.market.long_run import Plan, best_plan, burst_plan, gap_closed, online_plan
from theory.market.prices import Atoms, PriceLaw, Uniform
from theory.setting import Budget as Setting
from theory.setting import SettingError

__all__ = ["EXAMPLES", "buying_design", "command", "price_law"]

EXAMPLES = (
    "Examples: [bold]acdpp buy --cost uniform:1:10[/bold] (the paper's buffers and budget) · "
    "[bold]acdpp buy --online --buffers 8,9,10 --budget 15 --cost csv:prices.csv,column=price[/bold]"
)
PARTS = (1, 2, 4)  # of the memory that a burst fills
AGES_SHOWN_MAX = 12
INTEGER_PRICES_MAX = 10**5


def command(
    cost: CostSource,
    buffers: Buffers = parse.PAPER_BUFFERS,
    budget: Budget = parse.PAPER_BUDGET,
    online: Annotated[
        bool,
        typer.Option("--online", help="Learn prices as they come, instead of knowing their distribution."),
    ] = False,
    contraction: Contraction = None,
    as_json: AsJson = False,
) -> None:
    law = price_law(cost)
    setting = parse.budget(buffers, budget, law.mean)
    (print_json if as_json else _show)(buying_design(setting, law, contraction, online=online))


def price_law(cost: str) -> PriceLaw:
    """The distribution of uniform:1:10, integer:1:10, one price, or the equally likely prices of a CSV file.

    >>> price_law("integer:1:3").mean
    Fraction(2, 1)
    """
    if file := parse.price_file(cost):
        from empirics.control.price_file import read_prices

        return Atoms.thinned(read_prices(*file))
    kind, low, high = parse.prices(cost)
    if kind == "uniform":
        return Uniform(float(low), float(high)) if low < high else Atoms.of([low])
    if low.denominator != 1 or high.denominator != 1 or high - low >= INTEGER_PRICES_MAX:
        raise SettingError(
            f"--cost integer needs whole ends at most {INTEGER_PRICES_MAX:,} apart, such as integer:1:10, got {cost}"
        )
    return Atoms.of(range(int(low), int(high) + 1))


def buying_design(
    budget: Setting, law: PriceLaw, contraction: str | None = None, *, online: bool = False
) -> dict[str, Any]:
    """The thresholds as plain JSON values, beside bursts, constant admission and the limit, and for other prices."""
    S, C = budget.total_buffer, float(budget.cost)
    limit = purchase_limit(law, S, C)
    a = parse.optional(parse.decimal, contraction, "--contraction")
    if a is not None and not 0 < a < 1:
        raise SettingError(
            f"--contraction must lie between 0 and 1, such as 0.9, got {parse.shortened(str(contraction))}"
        )
    plan = online_plan(law, S, C) if online else best_plan(law, S, C, 1 if a is None else a)
    constant = min(C / float(law.mean), float(S))
    share = float(gap_closed(plan.effective_rate, constant, S)) if constant < S else None
    document: dict[str, Any] = {
        "policy": "buy-cheap-online" if online else "buy-cheap",
        "threshold": plan.threshold,
        "burst": plan.burst,
        "rate": plan.rate,
        "effective_rate": plan.effective_rate,
        "limit_rate": float(limit.rate),
        "cost": plan.cost,
        "budget": C,
        "places": S if isinstance(S, int) else float(S),
        "thresholds": list(plan.thresholds),
        "prices": {name: float(getattr(law, name)) for name in ("lowest", "mean", "highest")},
        "limit": {"rate": float(limit.rate), "threshold": float(limit.threshold), "binds": limit.binds},
        "constant": {"rate": constant, "effective_rate": constant},
        "gain": {
            "rate": plan.rate / constant,
            "effective_rate": plan.effective_rate / constant,
            "gap_to_oracle_closed": share,
        },
        "bursts": [{"parts": parts, **vars(burst_plan(law, S, C, parts))} for parts in PARTS],
        "other_prices": _sensitivity(plan, law, C),
    }
    if a is not None:
        best = best_plan(law, S, C, a).noise(a)
        document["noise"] = {"contraction": a, "of_plan": plan.noise(a), "of_best": best}
    return document


def _sensitivity(plan: Plan, law: PriceLaw, C: float) -> list[dict[str, Any]]:
    """Cost and effective rate of the thresholds under other prices, before the debt scales them to the budget."""
    found = []
    for words, factor, spread in (
        ("20 % higher", 1.2, 1.0),
        ("20 % lower", 0.8, 1.0),
        ("half as spread", 1.0, 0.5),
        ("all the mean", 1.0, 0.0),
    ):
        other = _changed(law, factor, spread)
        there = plan.met_with(other)
        try:
            best: float | None = best_plan(other, plan.places, C).effective_rate
        except SettingError:  # purchases are too rare to compute it
            best = None
        row = {"prices": words, "cost": there.cost, "effective_rate": there.effective_rate}
        row |= {"best_effective_rate": best}
        found.append(row | {"online_effective_rate": online_plan(other, plan.places, C).effective_rate})
    return found


def _changed(law: PriceLaw, factor: float, spread: float) -> PriceLaw:
    mean = float(law.mean)

    def move(price: Any) -> float:
        return factor * (mean + spread * (float(price) - mean))

    if isinstance(law, Uniform) and spread:
        return Uniform(move(law.low), move(law.high))
    if not spread:
        return Atoms.of([factor * mean])
    assert isinstance(law, Atoms)
    return Atoms(tuple(map(move, law.prices)), law.weights)


def _show(document: dict[str, Any]) -> None:
    limit, gain = document["limit"], document["gain"]
    S, prices = document["places"], document["prices"]
    say(
        f"{document['policy']}: {S} places, {document['budget']:.6g} to spend per round, prices from "
        f"{prices['lowest']:.4g} to {prices['highest']:.4g}, mean {prices['mean']:.4g}"
    )
    steps = [f"{price:.3g}" for price in document["thresholds"]]
    shown = steps if len(steps) <= AGES_SHOWN_MAX else [*steps[:AGES_SHOWN_MAX], "…"]
    say(f"replace a sample used 1, 2, … times at prices up to {', '.join(shown)}")
    say(
        f"that is up to {document['threshold']:.3g} on average, all {document['burst']:.6g} at a time: "
        f"{document['rate']:.4g} samples per round, {document['effective_rate']:.4g} effective, "
        f"for {document['cost']:.4g}"
    )
    why = f"all at prices up to {limit['threshold']:.3g}" if limit["binds"] == "money" else "the memory binds"
    say(f"no policy buys more than {limit['rate']:.4g} per round ({why})")
    if gain["gap_to_oracle_closed"] is not None:
        closed = round(gain["gap_to_oracle_closed"], 2) + 0  # no -0 %
        say(
            f"against constant admission, {document['constant']['rate']:.4g} per round: {gain['rate']:.3g} times the "
            f"samples, {gain['effective_rate']:.3g} times the effective samples, {100 * closed:.0f} % of "
            f"the way to {S} fresh samples per round (small steps)"
        )
    if "noise" in document:
        noise = document["noise"]
        say(
            f"stationary noise at contraction {noise['contraction']:.4g}: {noise['of_plan']:.4g} of a sample's "
            f"variance, {noise['of_best']:.4g} at best"
        )
    bursts = ("threshold", "rate", "effective_rate", "cost")
    show_table(
        "One threshold for samples of all ages",
        ["up to", "rate", "effective", "cost"],
        [
            (f"{one['burst']:.4g} at a time", [f"{one[name]:.4g}" for name in bursts])
            for one in document["bursts"]
        ],
        of="burst",
    )
    others = ("cost", "effective_rate", "best_effective_rate", "online_effective_rate")
    show_table(
        "Other prices, with these thresholds",
        ["cost", "effective", *(f"{one} for {document['budget']:.4g}" for one in ("best", "online"))],
        [
            (one["prices"], ["?" if one[name] is None else f"{one[name]:.4g}" for name in others])
            for one in document["other_prices"]
        ],
        of="prices",
    )
    say("while it runs, the debt scales the thresholds until the budget is met")
