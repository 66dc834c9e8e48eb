"""`acdpp explain`: the sources of the paper's gain, by departures of its released code from its text."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from acdpp import interrupt, parse
from acdpp.options import AsJson, DataDir, Device, Out, Seeds
from acdpp.output import needed_for, rounds_told, say, show_table, users_code
from acdpp.reproduce import Eta, Published, Rounds, level_of, notes_on, numbers, pm, tell

__all__ = ["EXAMPLES", "command"]

EXAMPLES = (
    "Examples: [bold]acdpp explain mnist --data-dir DIR --device cuda --out results/why[/bold], again to continue · "
    "[bold]acdpp explain mnist --worlds logistic,released --data-dir DIR[/bold]"
)


def command(
    dataset: Published,
    worlds: Annotated[
        str | None, typer.Option(help="Only these settings, such as paper,momentum; all by default.")
    ] = None,
    seeds: Seeds = None,
    rounds: Rounds = None,
    eta: Eta = None,
    device: Device = None,
    data_dir: DataDir = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    with needed_for("training"):
        from empirics.reproduce import explain

    def begun(place: Path) -> None:
        interrupt.last_words(f"stopped; the same command with --out {shlex.quote(str(place))} continues")

    with users_code():
        place, document = explain(
            dataset,
            out,
            worlds=None if worlds is None else tuple(word.strip() for word in worlds.split(",")),
            eta=parse.optional(parse.decimal, eta, "--eta"),
            device=device,
            data_dir=data_dir,
            stage=lambda name, study: rounds_told(study.rounds, quiet=as_json, what=name),
            announce=begun,
            **numbers(seeds=seeds, rounds=rounds),
        )
    tell(document, place, as_json=as_json, show=_show)


def _show(document: dict[str, Any]) -> None:
    """Gains of every setting's policies over constant admission, also at equal spending."""
    worlds = document["worlds"]
    first = next(iter(worlds.values()))
    say(
        f"{document['dataset']}: points over constant admission in the same setting; {first['rounds']} rounds"
    )
    say(level_of(first))
    headings = ["at the end", "p", "averaged", "p"]

    def cells(row: dict[str, Any]) -> list[str]:
        found = []
        for points in (row["points"], row["points_averaged"]):
            p = points["p"]
            found += [pm(points), "–" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"]
        return found

    for world, found in worlds.items():
        show_table(
            f"{world}: {found['label']}",
            [*headings, "cost", "memory"],
            {
                name: [*cells(row), f"{row['mean_cost']['mean']:.4g}", str(row["largest_occupancy"])]
                for name, row in found["policies"].items()
            },
        )
        equal = found.get("equal_spending")
        for name, others in (equal["over"] if equal else {}).items():
            show_table(
                f"{world}: over {name} with the spending of released, {equal['cost']:g}",
                headings,
                {other: cells(row) for other, row in others.items()},
            )
    for note in [*document["notes"], *notes_on(first)]:
        say(f"note: {note}")
    if document["not_run"]:
        say(f"not run yet: {', '.join(document['not_run'])}")
