"""`acdpp train`: run the system, and set the measured excess risk against the bound."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from acdpp.output import console, print_json
from theory.setting import SettingError

__all__ = ["EXAMPLES", "command"]

EXAMPLES = (
    "Examples: [bold]acdpp train[/bold] (the bundled digits, half a minute) · "
    "[bold]acdpp train --preset paper --data-dir DIR --device cuda --out results/mnist[/bold]"
)


class Preset(StrEnum):
    """Named settings."""

    digits = "digits"
    paper = "paper"
    released = "released"


def command(
    preset: Annotated[
        Preset,
        typer.Option(
            help="digits: within the theorem's hypotheses; paper and released: the MNIST experiment."
        ),
    ] = Preset.digits,
    config: Annotated[
        Path | None, typer.Option(help="TOML file with settings that replace the preset's.")
    ] = None,
    dataset: Annotated[str | None, typer.Option(help="digits, mnist, cifar10 or imagenette.")] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Where the data set's standard files lie.")] = None,
    policies: Annotated[
        str | None, typer.Option(help="Names apart by commas, such as acdpp,constant.")
    ] = None,
    rounds: Annotated[int | None, typer.Option(help="Rounds T.")] = None,
    seeds: Annotated[int | None, typer.Option(help="Replicates of each policy.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the whole study.")] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    out: Annotated[Path | None, typer.Option(help="Result folder; by default a new one in results/.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the unfinished result in --out.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Train every policy on the same costs and samples, and compare excess risk with the bound."""
    try:
        from empirics.run import run_study
        from empirics.settings.study import PRESETS, Study, read_toml
    except ImportError as error:
        raise SettingError(f"training needs {error.name}: pip install 'acdpp[empirics]'") from None

    chosen = None if preset is None else preset.value
    study = PRESETS[chosen or "digits"] if config is None else read_toml(config, chosen)
    named = policies.split(",") if policies is not None else None
    given = {"dataset": dataset, "policies": named, "rounds": rounds, "seeds": seeds, "seed": seed}
    study = Study.from_document({name: value for name, value in given.items() if value is not None}, study)
    if resume and out is None:
        raise SettingError("--resume needs the folder to continue: give --out DIR")
    folder = out if out is not None else _new_folder(study.preset)
    with _progress(study.rounds, quiet=as_json) as tell:
        try:
            summary = run_study(study, folder, device=device, data_dir=data_dir, resume=resume, progress=tell)
        except KeyboardInterrupt:
            print(f"acdpp: stopped; continue with --resume --out {folder}", file=sys.stderr)
            raise
    document = {"result": str(folder), **summary}
    if as_json:
        print_json(document)
    else:
        _show(document)


def _new_folder(name: str) -> Path:
    return next(path for n in count(1) if not (path := Path("results") / f"{name}-{n}").exists())


@contextmanager
def _progress(rounds: int, *, quiet: bool) -> Iterator[Any]:
    columns = (
        TextColumn("rounds"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), disable=quiet or not sys.stderr.isatty()) as bar:
        task = bar.add_task("rounds", total=rounds)
        yield lambda done: bar.update(task, completed=done)


# --- the summary -------------------------------------------------------------------------------------------


def _pm(value: dict[str, float | None]) -> str:
    """Mean ± standard error, to the error's first digit."""
    mean, error = value["mean"], value["error"]
    if not error:
        return f"{mean:.4g}"
    places = max(-math.floor(math.log10(error)), 0)
    return f"{mean:.{places}f} ± {error:.{places}f}"


def _count(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _table(title: str, headings: list[str], rows: dict[str, list[str]]) -> None:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("policy", no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right")
    for name, cells in rows.items():
        table.add_row(name, *cells)
    console.print(table)


def _show(document: dict[str, Any]) -> None:
    policies = document["policies"]
    scope = f"{document['rounds']:,} rounds, {document['seeds']} seeds, mean ± standard error"
    console.print(f"{document['task']}; {scope}")
    measured = "least_risk" in document
    if measured:
        _table(
            "Excess population risk against Theorem 1",
            ["final", "cumulative", "stated", "corrected", "corrected / measured"],
            {
                name: [
                    _pm(row["final_excess_risk"]),
                    _pm(row["cumulative_excess_risk"]),
                    _count(row["bound_stated"]),
                    _count(row["bound_corrected"]),
                    _count(row["corrected_over_measured"]),
                ]
                for name, row in policies.items()
            },
        )
    _table(
        "Accuracy and constraints",
        ["test accuracy", "cost violation", "buffer violation", "largest n"],
        {
            name: [
                _pm(row["final_accuracy"]),
                _count(row["cost_violation"]),
                _count(row["buffer_violation"]),
                str(row["largest_occupancy"]),
            ]
            for name, row in policies.items()
        },
    )
    if all("mismatch" in row for row in policies.values()):
        _show_mismatch({name: row["mismatch"] for name, row in policies.items()})
    if measured:
        _show_ranking(document["ranking"])
    if document["nominal_constants"]:
        console.print(
            f"nominal constants, not derived from the problem: {', '.join(document['nominal_constants'])}"
        )
    for reason in document["outside_the_hypotheses"]:
        console.print(f"outside the hypotheses of the corrected bound: {reason}")
    console.print(f"result: {document['result']}")


def _show_ranking(ranking: dict[str, Any]) -> None:
    def pairs(entries: list[list[str]]) -> str:
        return ", ".join(" and ".join(pair) for pair in entries)

    console.print(f"measured, best first: {', '.join(ranking['measured'])}")
    if ranking["undecided"]:
        console.print(f"not told apart at the 5 % level: {pairs(ranking['undecided'])}")
    for form in ("corrected", "stated"):
        wrong = ranking[f"{form}_disagrees_on"]
        if wrong:
            console.print(f"the {form} bound ranks {', '.join(ranking[form])}: wrong on {pairs(wrong)}")
        else:
            console.print(f"the {form} bound ranks every decided pair as measured")


def _show_mismatch(rows: dict[str, dict[str, Any]]) -> None:
    def spans(stretches: list[list[int]]) -> str:
        shown = [f"{a}-{b}" if b > a else str(a) for a, b in stretches]
        return ", ".join(shown if len(shown) <= 3 else [*shown[:3], "…"]) or "none"

    def number(value: float | None) -> str:
        return "∞" if value is None else f"{value:.2f}"

    _table(
        "Measured gradient mismatch over variance x χ, and over variance x (1/n - 1/N_eff)",
        ["χ", "stated", "stated, early", "above σ² x stated in rounds"],
        {
            name: [
                number(row["over_chi"]),
                number(row["over_stated"]),
                f"{number(row['over_stated_early'])} (t ≤ {row['early_rounds']})",
                spans(row["above_stated"]),
            ]
            for name, row in rows.items()
        },
    )
