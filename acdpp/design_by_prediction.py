"""`acdpp design --by prediction`: the retention, rate and step size of least predicted excess risk on a data set."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from acdpp import parse
from acdpp.output import console
from acdpp.predict import progress, sureness, wholes
from acdpp.study import needed_for, of_preset, with_error, words_of_the_user
from theory.design import design, fill_ratio
from theory.setting import Budget, SettingError

__all__ = ["predicted_design", "show"]


def predicted_design(
    budget: Budget,
    dataset: str | None,
    *,
    data_dir: Path | None,
    pilot: str | None,
    horizon: int | None,
    eta: str | None,
    steps: str | None,
    quiet: bool,
) -> dict[str, Any]:
    """The design as plain JSON values, beside what the bound says for the same budgets, step size and rounds."""
    if dataset is None:
        raise SettingError(
            "--by prediction needs the data that is learnt: give --dataset, such as digits or npz:FILE"
        )
    from empirics.settings.study import Study

    first, *others = (None,) if steps is None else wholes(steps, "--steps")
    given = {
        "dataset": dataset,
        "policies": ["constant"],
        "buffers": list(budget.buffers),
        "budget": float(budget.cost),
        "assumed_mean_cost": float(budget.mean_cost),
        "rounds": horizon,
        "eta": None if eta is None else float(parse.number(eta, "--eta")),
        "steps": first,
    }
    base = of_preset(None, None, dataset)
    study = Study.from_document({name: value for name, value in given.items() if value is not None}, base)
    with needed_for("predicting"):
        from empirics.predict import predict_study

    with progress(quiet=quiet) as tell, words_of_the_user():
        found = predict_study(
            study,
            pilot=None if pilot is None else parse.whole(pilot, "--pilot"),
            search_eta=eta is None,
            search_steps=[count for count in others if count is not None],
            data_dir=data_dir,
            progress=tell,
        )
        document = found.document()
        best = document["best"]
        eta_of_a_round = best["eta"] * best["steps"]
        bound = design(budget, study.rounds, replace(found.outlook.constants, eta=eta_of_a_round))
        there = found.at(bound.K, best["eta"], best["steps"]).document()
    chosen = {name: best[name] for name in ("K", "rate", "eta", "steps", "predicted", "error")}
    return (
        {"by": "prediction"}
        | chosen
        | {
            "horizon": study.rounds,
            "task": document["task"],
            "pilot": document["pilot"],
            "fill_ratio": fill_ratio(budget),
            "by_bound": {"K": bound.K, "rate": float(bound.total_rate), "predicted": there},
            "tried": best["tried"],
            "notes": document["notes"],
        }
    )


def show(document: dict[str, Any]) -> None:
    """For people."""
    from rich.table import Table

    bound, error = document["by_bound"], document["error"] or {}
    console().print(f"{document['task']}; T = {document['horizon']:,}", markup=False)
    console().print(
        f"by prediction: K = {document['K']}, {document['rate']:.6g} samples a round, η = {document['eta']:.4g}, "
        f"E = {document['steps']}"
    )
    names = {
        "cumulative_excess_risk": "cumulative",
        "final_excess_risk": "final",
        "noise_floor": "in the long run",
    }
    risks = [
        f"{word} {with_error(document['predicted'][name], error.get(name))}" for name, word in names.items()
    ]
    console().print(f"predicted excess risk: {', '.join(risks)}")
    console().print(
        f"by bound, at that step size: K* = {bound['K']}, {bound['rate']:.6g} samples a round, "
        f"predicted cumulative {bound['predicted']['cumulative_excess_risk']:.4g}"
    )
    table = Table(title="Landscape over K, at that step size", title_justify="left")
    for name in ("K", "rate", "predicted cumulative excess risk"):
        table.add_column(name, justify="right")
    here = [one for one in document["tried"] if all(one[k] == document[k] for k in ("eta", "steps"))]
    for one in sorted(here, key=lambda one: int(one["K"])):
        value = "diverges" if one["cumulative"] is None else f"{one['cumulative']:.6g}"
        style = "bold" if one["K"] == document["K"] else ""
        table.add_row(str(one["K"]), f"{one['rate']:.6g}", value, style=style)
    console().print(table)
    for note in document["notes"]:
        console().print(f"note: {note}")
    console().print(sureness(document["pilot"]))
