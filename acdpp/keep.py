"""`acdpp keep`: how long to keep samples of a population that drifts, for a given drift."""

from typing import Annotated, Any

import typer

from acdpp import parse
from acdpp.options import AsJson, Budget, Buffers, Contraction, MeanCost
from acdpp.output import print_json, say, show_table
from theory.drift.retention import DriftChoice, drift_design
from theory.setting import Budget as Setting
from theory.setting import SettingError

__all__ = ["EXAMPLES", "command"]

EXAMPLES = (
    "Examples: [bold]acdpp keep --drift 0.001 --buffers 20,20,30 --budget 55 --mean-cost 5.5[/bold] · "
    "[bold]acdpp keep --drift 0.001 --contraction 0.9 --buffers 20,20,30 --budget 55 --mean-cost 5.5[/bold]"
)
MEANS = "mean square of the optimum's random step per round, over the variance of one sample"


def command(
    drift: Annotated[str, typer.Option(metavar="Q", help=f"Drift q: {MEANS}, such as 0.001.")],
    buffers: Buffers,
    budget: Budget,
    mean_cost: MeanCost,
    contraction: Contraction = None,
    as_json: AsJson = False,
) -> None:
    setting = parse.budget(buffers, budget, parse.number(mean_cost, "--mean-cost"))
    document = _kept(setting, drift, contraction)
    (print_json if as_json else _show)(document)


def _kept(budget: Setting, drift: str, contraction: str | None) -> dict[str, Any]:
    """Plain JSON values, for one direction: errors are mean squares, over the variance of a sample."""
    q = parse.decimal(drift, "--drift")
    left = parse.optional(parse.decimal, contraction, "--contraction")
    if q < 0:
        raise SettingError(
            f"--drift must be at least 0, such as 0.001: the {MEANS}; got {parse.shortened(drift)}"
        )
    if left is not None and not 0 <= left < 1:
        raise SettingError(
            "--contraction must be at least 0 and below 1, such as 0.9, got "
            f"{parse.shortened(str(contraction))}"
        )
    # ½hs² is 1 at h = 2, and the step 1 - a is 2η
    eta = None if left is None else (1 - left) / 2
    found = drift_design(budget, h=[2.0], variance=[1.0], walk=[q], eta=eta)
    return {"drift": q, "contraction": left, **_choices(found, step_of=2)}


def _choices(found: list[DriftChoice], step_of: float) -> dict[str, Any]:
    """The best choice, and every choice; steps are η times `step_of`."""
    rows = [
        {
            "name": one.name,
            "K": one.K,
            "rate": one.rate,
            "step": None if one.eta is None else step_of * one.eta,
            "window": one.window,
            "risk": one.risk,
        }
        for one in found
    ]
    return {name: rows[0][name] for name in ("K", "rate", "step", "risk")} | {"choices": rows}


def _show(document: dict[str, Any]) -> None:
    say(f"drift q = {document['drift']:.3g}: the {MEANS}")
    step = document["step"]
    how = "steps as small as time allows" if step is None else f"steps of 1 - a = {step:.3g}"
    rounds = "1 round" if document["K"] == 1 else f"{document['K']} rounds"
    say(f"keep samples for K = {rounds}, take {document['rate']:.4g} per round, {how}")
    _show_choices(document["choices"])
    say("error: long-run mean square distance to the optimum; exact for quadratic losses and a random walk")
    say("window: length of the exponential mean of models, in rounds; – for the last model")


def _show_choices(rows: list[dict[str, Any]]) -> None:
    """A table of every choice, with its error relative to the least."""
    least = min(row["risk"] for row in rows)

    def cells(row: dict[str, Any]) -> list[str]:
        numbers = (row[name] for name in ("rate", "step", "window", "risk"))
        found = ["–" if number is None else f"{number:.3g}" for number in numbers]
        return [str(row["K"]), *found, f"{row['risk'] / least:.3g}" if least else "–"]

    headings = ["K", "rate", "1 - a", "window", "error/s²", "÷ least"]
    show_table("All choices", headings, [(row["name"], cells(row)) for row in rows], of="choice")
