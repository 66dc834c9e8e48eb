"""An answer in words: key figures, rows of tables, sentences."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from acdpp.explore.planner import Answer, Curve
from acdpp.output import with_error
from acdpp.plan import BUYS, CHOSEN, model, step_sizes
from empirics.settings.policy_name import PolicyName

__all__ = ["Figure", "figures", "money_said", "recommended", "rows", "summary"]

CUMULATIVE, FINAL = "cumulative_excess_risk", "final_excess_risk"


class Figure(NamedTuple):
    """A number with its name and a detail."""

    name: str
    number: str
    detail: str


def figures(answer: Answer) -> list[Figure]:
    """The key figures; those of a policy are of the first."""
    here, there, more = answer.money, answer.richer, answer.more
    name = answer.study.policies[0]
    curve = answer.curves.get(name)
    how = "" if curve is None or curve.exact else ", coarsely"
    bought = "…" if curve is None else f"{curve.rate:.4g}"
    limit = "memory binds" if here.binds == "memory" else f"all at prices up to {here.threshold:.3g}"
    brought, sure = "…", "excess risk over all rounds"
    if more is not None:
        brought = f"{abs(more.cumulative):.3g} {'less' if more.cumulative >= 0 else 'more'}"
        sure += "" if more.significant else ", coarsely" if not more.exact else "; not significant"
    return [
        Figure(
            "Excess risk at the end",
            _risk(curve, FINAL),
            f"{name}, after {answer.study.rounds:,} rounds{how}",
        ),
        Figure("Lower bound", f"{here.least:.4g}", "no policy guarantees less, for quadratic losses"),
        Figure("Samples per round", bought, f"{name}; no policy buys more than {here.most:.4g} ({limit})"),
        Figure(
            "One more unit of budget",
            brought,
            f"{sure}; at most {there.most - here.most:.3g} more samples per round, lower bound {there.least:.4g}",
        ),
    ]


def rows(answer: Answer) -> list[tuple[str, str, str, str, str]]:
    """Per policy: name, description, samples per round, and excess risk over all rounds and at the end.

    The description includes why the search left the policy out, if it did.
    """
    left_out = {} if answer.design is None else answer.design["left_out"]
    return [
        (
            name + ("" if curve.exact else ", coarsely"),
            "; ".join(filter(None, [BUYS.get(PolicyName(name).base, ""), left_out.get(name)])),
            f"{curve.rate:.4g}",
            _risk(curve, CUMULATIVE),
            _risk(curve, FINAL),
        )
        for name, curve in answer.curves.items()
    ]


def summary(answer: Answer) -> str:
    """One line on the first policy."""
    name = answer.study.policies[0]
    curve = answer.curves.get(name)
    if curve is None:
        return ""
    return f"{name}: {_risk(curve, CUMULATIVE)} in all, {_risk(curve, FINAL)} at the end"


def money_said(answer: Answer) -> str:
    """Constant admission within the budget."""
    here = answer.money
    return (
        f"K = {here.K} and {here.rate:.4g} samples per round for constant admission, by the bound, "
        f"at a mean price of {here.mean_price:.4g}"
    )


def recommended(design: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The plan that the search found, as labelled lines."""
    kept = {None: "as the policy has it", 1: "1 round"}.get(design["K"], f"{design['K']} rounds")
    errors = design["error"] or {}
    risk = {name: with_error(design["predicted"][name], errors.get(name)) for name in (CUMULATIVE, FINAL)}
    left = "; ".join(f"{name} {why}" for name, why in design["left_out"].items())
    return [
        ("Policy", f"{design['policy']}: {BUYS[design['policy']]}"),
        ("Retention K", kept),
        ("Samples per round", f"{design['rate']:.4g}, for {design['cost']:.4g}"),
        ("Steps", step_sizes(design)),
        ("Averaging", model(design)),
        ("Over all rounds", f"excess risk {risk[CUMULATIVE]}"),
        ("At the end", f"excess risk {risk[FINAL]}, {design['over_lower_bound']:.3g} times the lower bound"),
        ("Reliability", CHOSEN),
        *([("Left out", left)] if left else []),
    ]


def _risk(curve: Curve | None, name: str) -> str:
    if curve is None:
        return "…"
    value = curve.cumulative if name == CUMULATIVE else curve.final
    return with_error(value, (curve.errors or {}).get(name))
