"""`acdpp train`: run the system, and set the measured excess risk against the bound."""

from __future__ import annotations

import math
import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
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

from acdpp import interrupt, parse
from acdpp.output import console, print_json
from theory.setting import SettingError

__all__ = ["EXAMPLES", "command"]

EXAMPLES = (
    "Examples: [bold]acdpp train[/bold] (the bundled digits, half a minute) · "
    "[bold]acdpp train --show-config > study.toml[/bold], edit it, then [bold]acdpp train --config study.toml[/bold] · "
    "[bold]acdpp train --policies constant --sweep K=1,2,3,5,7,10,14,20,50,100[/bold] · "
    "[bold]acdpp train --resume results/digits-1 --rounds 2000[/bold] · "
    "[bold]acdpp train --dataset npz:mine.npz --cost-trace prices.csv --policies constant,my_module:MyPolicy[/bold] · "
    "[bold]acdpp train --preset paper --data-dir DIR --device cuda --out results/mnist[/bold]"
)


SHOWN = 10  # pairs of policies by name, of a ranking
OTHER_DATA = "preset {} keeps buffers, budget, eta and model of its MNIST experiment for other data: edit --show-config"


class Preset(StrEnum):
    """Named settings."""

    digits = "digits"
    own = "own"
    paper = "paper"
    released = "released"


def command(
    preset: Annotated[
        Preset | None,
        typer.Option(
            help="digits: within the theorem's hypotheses; own: the same for your data; paper and released: the MNIST "
            "experiment. By default digits, or own with a data set of yours."
        ),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="TOML file with settings that replace the preset's.")
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(help="digits, mnist, cifar10, imagenette, or npz:FILE with x, y and test_x, test_y."),
    ] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Where the data set's standard files lie.")] = None,
    model: Annotated[
        str | None, typer.Option(help="logistic, or module:attribute that makes a torch.nn.Module.")
    ] = None,
    policies: Annotated[
        str | None,
        typer.Option(
            help="Names apart by commas, such as acdpp,constant@K=5,eta=0.1; module:attribute for your own."
        ),
    ] = None,
    sweep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUES",
            help="Values of K, eta or steps, such as K=1,5,10: each policy trains with every one, all in one batch. "
            "Given again, all combinations. The oracle has no K.",
        ),
    ] = None,
    cost_trace: Annotated[Path | None, typer.Option(help="CSV file of prices, one a round.")] = None,
    cost_column: Annotated[
        str | None, typer.Option(help="The column of --cost-trace with the prices, by its name.")
    ] = None,
    rounds: Annotated[str | None, typer.Option(help="Rounds T, such as 500 or 1e3.")] = None,
    seeds: Annotated[str | None, typer.Option(help="Replicates of each policy.")] = None,
    seed: Annotated[str | None, typer.Option(help="Seed of the whole study.")] = None,
    device: Annotated[
        str | None, typer.Option(help="cpu or cuda; cpu by default, or what the study began on.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="New folder for the result; by default one in results/.")
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            help="Continue the result in this folder with its own settings; --rounds may extend it."
        ),
    ] = None,
    show_config: Annotated[
        bool, typer.Option("--show-config", help="Print the settings as a commented TOML file and stop.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Train every policy on the same costs and samples, and compare excess risk with the bound."""
    try:
        from empirics.run import run_study, study_of
        from empirics.settings.presets import PRESETS, read_toml
        from empirics.settings.study import Study
        from empirics.settings.toml import toml
        from empirics.settings.variant import listed
    except ImportError as error:
        raise SettingError(f"training needs {error.name}: pip install 'acdpp[empirics]'") from None

    own = dataset is not None and dataset.startswith("npz:")
    chosen = preset.value if preset is not None else "own" if own and config is None else None
    if resume is not None:
        if out is not None or config is not None or preset is not None or sweep:
            raise SettingError(
                "--resume takes folder and settings from DIR: leave out --out, --config, --preset and --sweep"
            )
        base = study_of(resume)
    else:
        base = PRESETS[chosen or "digits"] if config is None else read_toml(config, chosen)
    given: dict[str, Any] = {
        "dataset": dataset,
        "model": model,
        "policies": None if policies is None else listed(policies),
        "cost": _trace(cost_trace, cost_column),
        "rounds": None if rounds is None else parse.whole(rounds, "--rounds"),
        "seeds": None if seeds is None else parse.whole(seeds, "--seeds"),
        "seed": None if seed is None else parse.seed(seed, "--seed"),
    }
    study = Study.from_document({name: value for name, value in given.items() if value is not None}, base)
    study = study.swept(*(sweep or ()))
    if show_config:
        console.print(toml(study), markup=False, soft_wrap=True, end="")
        return
    if dataset is not None and chosen in ("paper", "released"):
        print(f"acdpp: note: {OTHER_DATA.format(chosen)}", file=sys.stderr)
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))  # for policies and models of the user's own
    folder: list[Path] = []

    def begun(place: Path) -> None:
        folder.append(place)
        interrupt.last_words(f"stopped; continue with acdpp train --resume {shlex.quote(str(place))}")

    with _progress(study.rounds, quiet=as_json) as tell, _warnings_in_one_line():
        summary = run_study(
            study,
            out if resume is None else resume,
            device=device,
            data_dir=data_dir,
            resume=resume is not None,
            progress=tell,
            announce=begun,
        )
    document = {"result": str(folder[0]), **summary}
    if as_json:
        print_json(document)
    else:
        _show(document)


def _trace(file: Path | None, column: str | None) -> dict[str, Any] | None:
    if file is None and column is not None:
        raise SettingError("--cost-column names a column of --cost-trace FILE: give that too")
    return None if file is None else {"process": "trace", "file": str(file), "column": column}


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        print(f"acdpp: note: {' '.join(str(message).split())}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = show
        yield


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


def _count(value: float | None) -> str:
    if value is None:
        return "∞"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _table(title: str, headings: list[str], rows: dict[str, list[str]]) -> None:
    table = Table(
        title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True
    )
    table.add_column("policy", overflow="fold")
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for name, cells in rows.items():
        table.add_row(name, *cells)
    console.print(table)


def _show(document: dict[str, Any]) -> None:
    policies = document["policies"]
    console.print(f"{document['task']}; {document['rounds']:,} rounds")
    console.print(f"mean ± standard error {document['intervals']}")
    measured = "least_risk" in document
    if measured:
        _table(
            "Excess population risk against Theorem 1",
            ["final", "cumulative", "stated", "corrected", "÷ measured"],
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
        ["test accuracy", "cost violation", "buffer violation", "most held"],
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
        more = [f"{len(entries) - SHOWN} more"] if len(entries) > SHOWN else []
        return ", ".join([" and ".join(pair) for pair in entries[:SHOWN]] + more)

    console.print(f"measured, best first: {', '.join(ranking['measured'])}")
    decided = ranking["decided_pairs"]
    if not decided:
        console.print(
            "no two policies are told apart at the 5 % level: there is no ranking to hold the bounds against"
        )
        return
    if ranking["undecided"]:
        console.print(f"not told apart at the 5 % level: {pairs(ranking['undecided'])}")
    for form in ("corrected", "stated"):
        wrong = ranking[f"{form}_disagrees_on"]
        if wrong:
            console.print(f"the {form} bound ranks {', '.join(ranking[form])}: wrong on {pairs(wrong)}")
        else:
            told = f"all {decided} pairs" if decided > 1 else "the one pair"
            console.print(f"the {form} bound ranks {told} told apart, of {ranking['pairs']}, as measured")


def _show_mismatch(rows: dict[str, dict[str, Any]]) -> None:
    def spans(stretches: list[list[int]]) -> str:
        shown = [f"{a}-{b}" if b > a else str(a) for a, b in stretches]
        return ", ".join(shown if len(shown) <= 3 else [*shown[:3], "…"]) or "none"

    def number(value: float | None) -> str:
        return "∞" if value is None else f"{value:.2f}"

    _table(
        "Measured gradient mismatch over variance x χ, and over the paper's 1/n - 1/N_eff",
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
