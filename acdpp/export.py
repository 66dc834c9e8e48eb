"""`acdpp export`: a trained model as a file that needs only torch."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from acdpp import parse
from acdpp.options import AsJson, DataDir, Device
from acdpp.output import needed_for, print_json, say, users_code

__all__ = ["EXAMPLES", "command"]

EXAMPLES = (
    "Examples: [bold]acdpp export results/best-1 --policy taper-online --out model.pt[/bold] · "
    "[bold]acdpp export results/best-1 --policy constant --seed 3 --model last --out last.pt[/bold]"
)


class Kind(StrEnum):
    averaged = "averaged"
    last = "last"


def command(
    result: Annotated[Path, typer.Argument(help="Finished result folder of acdpp train or federate.")],
    out: Annotated[Path, typer.Option(help="New file for state_dict and metadata.")],
    policy: Annotated[
        str | None, typer.Option(help="Policy to export; required if the result has several policies.")
    ] = None,
    seed: Annotated[str, typer.Option(help="Number of the replicate, from 0.")] = "0",
    model: Annotated[
        Kind | None,
        typer.Option(
            help="The mean of models or the last model; by default the model that the study measures."
        ),
    ] = None,
    data_dir: DataDir = None,
    device: Device = None,
    as_json: AsJson = False,
) -> None:
    with needed_for("exporting"):
        from empirics.export import export_model

    number = parse.seed(seed, "--seed")
    which = None if model is None else model.value
    with users_code():
        found = export_model(
            result, out, policy=policy, seed=number, which=which, device=device or "cpu", data_dir=data_dir
        )
    if as_json:
        print_json({"file": str(out), **found})
        return
    say(f"{found['which']} model of {found['policy']}, seed {seed}, after {found['rounds']:,} rounds")
    say(f"test accuracy on record: {found['accuracy']:.4g}")
    if found["build"] is None:
        say(f"load it into your own module {found['model']}, which has more than torch's layers")
    say(f"model: {out}", whole=True)
