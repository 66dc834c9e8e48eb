"""`acdpp design --drift`: how long to keep samples of a population that moves, for a drift that is given."""

from __future__ import annotations

from typing import Any

from acdpp import parse
from acdpp.output import say, show_table
from theory.drift.retention import DriftChoice, drift_design
from theory.setting import Budget, SettingError

__all__ = ["drifting_design", "show"]

MEANS = "the mean square of the optimum's move in a round, over the variance of one sample"


def drifting_design(budget: Budget, drift: str, contraction: str | None) -> dict[str, Any]:
    """Plain JSON values, for one direction: errors are mean squares, over the variance of a sample."""
    q = float(parse.number(drift, "--drift"))
    left = None if contraction is None else float(parse.number(contraction, "--contraction"))
    if q < 0:
        raise SettingError(
            f"--drift must be at least 0, {MEANS}, such as 0.001, got {parse.shortened(drift)}"
        )
    if left is not None and not 0 <= left < 1:
        raise SettingError(
            "--contraction, what a round leaves of a distance, must be at least 0 and below 1, such as 0.9, got "
            f"{parse.shortened(str(contraction))}"
        )
    # ½hs² is 1 at h = 2, and the step 1 - a is 2η
    eta = None if left is None else (1 - left) / 2
    found = drift_design(budget, h=[2.0], variance=[1.0], walk=[q], eta=eta)
    return {"drift": q, "contraction": left, **_choices(found, step_of=2)}


def _choices(found: list[DriftChoice], step_of: float) -> dict[str, Any]:
    """The first choice, and all of them; steps are η times `step_of`."""
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


def show(document: dict[str, Any]) -> None:
    """For people."""
    say(f"drift q = {document['drift']:.3g}: {MEANS}")
    step = document["step"]
    how = "steps as small as you have time for" if step is None else f"steps of 1 - a = {step:.3g}"
    rounds = "1 round" if document["K"] == 1 else f"{document['K']} rounds"
    say(f"keep samples for K = {rounds}, take {document['rate']:.4g} a round, {how}")
    _show_choices(document["choices"])
    say("error: the mean square distance to the moving optimum in the long run; exact for quadratic losses")
    say("window: of an exponential mean of models, in rounds; – is the last model")


def _show_choices(rows: list[dict[str, Any]]) -> None:
    """All of them in a table, each over the least."""
    least = min(row["risk"] for row in rows)

    def cells(row: dict[str, Any]) -> list[str]:
        numbers = (row[name] for name in ("rate", "step", "window", "risk"))
        found = ["–" if number is None else f"{number:.3g}" for number in numbers]
        return [str(row["K"]), *found, f"{row['risk'] / least:.3g}" if least else "–"]

    headings = ["K", "rate", "1 - a", "window", "error/s²", "÷ least"]
    show_table("All choices", headings, [(row["name"], cells(row)) for row in rows], of="at")
