"""An answer in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acdpp.design_by_prediction import BUYS, learner
from acdpp.explore.planner import Answer, Money
from acdpp.study import with_error

__all__ = ["recommended", "said"]


def said(answer: Answer) -> list[str]:
    """The numbers of an answer as sentences."""
    here, there = answer.money, answer.richer
    found = [
        f"K = {here.K} and {here.rate:.4g} samples a round for constant admission, by the bound",
        f"no policy buys more than {here.most:.4g} samples a round ({_all_at(here)}), "
        f"for another unit of budget {there.most - here.most:.3g} more",
        f"nobody guarantees a final excess risk below {here.least:.4g}, for another unit of budget {there.least:.4g}",
    ]
    for name, curve in answer.curves.items():
        errors, kind = curve.errors or {}, "" if curve.exact else ", coarsely"
        numbers = {
            "cumulative": with_error(curve.cumulative, errors.get("cumulative_excess_risk")),
            "final": with_error(curve.final, errors.get("final_excess_risk")),
        }
        told = ", ".join(f"{key} excess risk {number}" for key, number in numbers.items())
        found.append(f"{name}{kind}: {told}, {curve.rate:.4g} samples a round")
    if (more := answer.more) is not None:
        side = "less" if more.cumulative >= 0 else "more"
        sure = "" if more.told else "; not told from nothing"
        less = f"{abs(more.cumulative):.3g} {side} cumulative excess risk"
        found.append(f"another unit of budget brings {more.policy} {less}{sure}")
    return found + [f"note: {note}" for note in answer.notes]


def _all_at(money: Money) -> str:
    return "memory binds" if money.binds == "memory" else f"all at prices up to {money.threshold:.3g}"


def recommended(design: Mapping[str, Any]) -> list[str]:
    """What the search found, as sentences."""
    kept = "" if design["K"] is None else f", K = {design['K']}"
    return [
        f"recommended: buy by {design['policy']}{kept}: {BUYS[design['policy']]}",
        f"that is {design['rate']:.4g} samples a round for {design['cost']:.4g}",
        f"learn with {learner(design)}",
        *(
            f"predicted {name.replace('_', ' ')}: {with_error(value, (design['error'] or {}).get(name))}"
            for name, value in design["predicted"].items()
            if name != "noise_floor"
        ),
        f"the final excess risk is {design['over_lower_bound']:.3g} times the lower bound",
    ]
