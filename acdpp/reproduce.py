"""`acdpp reproduce`: the paper's Section 7 run again, its numbers beside ours."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from acdpp import parse
from acdpp.options import AsJson, DataDir, Device, Out, Policies, Seeds, ShowConfig
from acdpp.output import needed_for, print_json, say, show_table
from acdpp.study import show_settings
from acdpp.train import trained

__all__ = ["ELSEWHERE", "EXAMPLES", "Eta", "Published", "Rounds", "command", "level_of", "notes_on"]
__all__ += ["numbers", "pm", "tell"]

EXAMPLES = (
    "Examples: [bold]acdpp reproduce mnist --data-dir DIR --device cuda[/bold] · "
    "[bold]acdpp reproduce cifar10 --setting released --data-dir DIR --device cuda --out results/cifar10[/bold] · "
    "[bold]acdpp reproduce mnist --policies constant,acdpp@rho=0.5,acdpp@rho=0.99,acdpp-capped@rho=0.99 "
    "--data-dir DIR[/bold]"
)
ELSEWHERE = {
    "--resume": "acdpp resume DIR continues a result",
    **dict.fromkeys(("--explain", "--worlds"), "acdpp explain trains every departure of the released code"),
}
PUBLISHED = {"mnist": "MNIST", "cifar10": "CIFAR-10", "imagenette": "ImageNette"}
SHOWN = ("acdpp", "released")  # beside the paper's numbers
Published = Annotated[str, typer.Argument(help="mnist, cifar10 or imagenette.")]
Rounds = Annotated[
    str | None, typer.Option(help="Rounds T; 100 by default, since the paper names no number.")
]
Eta = Annotated[str | None, typer.Option(help="Learning rate instead of the paper's.")]


def command(
    dataset: Published,
    setting: Annotated[
        str,
        typer.Option(
            help="paper (its text), released (its code), a single departure of the code (momentum, readmitted, prices, "
            "logistic) or all except one (released-momentum, …)."
        ),
    ] = "paper",
    seeds: Seeds = None,
    rounds: Rounds = None,
    model: Annotated[
        str | None, typer.Option(help="Instead of the setting's model: logistic, lenet, resnet9.")
    ] = None,
    policies: Policies = None,
    eta: Eta = None,
    precision: Annotated[
        str | None, typer.Option(help="Arithmetic of resnet9 on a GPU: bfloat16, tf32 or float32.")
    ] = None,
    device: Device = None,
    data_dir: DataDir = None,
    out: Out = None,
    show_config: ShowConfig = False,
    as_json: AsJson = False,
) -> None:
    from empirics.settings.policy_name import listed
    from empirics.settings.section7 import section7
    from empirics.settings.study import Study

    given = {
        "eta": parse.optional(parse.decimal, eta, "--eta"),
        "policies": None if policies is None else listed(policies),
        "precision": precision,
    }
    study = Study.from_document(
        {name: value for name, value in given.items() if value is not None},
        section7(dataset, setting, model=model, **numbers(seeds=seeds, rounds=rounds)),
    )
    if show_config:
        show_settings(study)
        return
    with needed_for("training"):
        from empirics.reproduce import reproduce

    document, place = trained(reproduce, study, out, quiet=as_json, device=device, data_dir=data_dir)
    tell(document, place, as_json=as_json)


def numbers(**given: str | None) -> dict[str, int]:
    """The whole numbers among options that are given, by their names."""
    return {name: parse.whole(text, f"--{name}") for name, text in given.items() if text is not None}


# --- what is printed ---------------------------------------------------------------------------------------


def pm(value: dict[str, Any], unit: int = 1, sign: str = "+") -> str:
    """A mean ± half of its interval."""
    half = "" if value["low"] is None else f" ± {unit * (value['high'] - value['low']) / 2:.2f}"
    return f"{unit * value['mean']:{sign}.2f}{half}"


def level_of(document: dict[str, Any]) -> str:
    """The meaning of ±, in words."""
    if document["seeds"] == 1:
        return "one seed, no interval"
    return f"± is half of the {document['level']:.0%} interval {document['intervals']}".replace("%", " %")


def _show(document: dict[str, Any]) -> None:
    policies = document["policies"]
    say(
        f"{document['dataset']}, setting {document['setting']}, model {document['model']}; {document['rounds']:,} "
        f"rounds on {document['hardware']}"
    )
    say(level_of(document))
    _show_policies(document)
    shown = {name: document["comparisons"][name] for name in SHOWN if name in policies}
    _show_paper(document, {name: one for name, one in shown.items() if one})
    diverged = any(row["diverged"] for row in policies.values())
    for note in [*notes_on(document), *(["a diverged run keeps its last accuracy"] if diverged else [])]:
        say(f"note: {note}")


def tell(
    document: dict[str, Any], place: Path, *, as_json: bool, show: Callable[[dict[str, Any]], None] = _show
) -> None:
    """Print a reproduction, or one JSON object."""
    if as_json:
        print_json({"result": str(place), **document})
    else:
        show(document)
        say(f"result: {place}", whole=True)


def _show_policies(document: dict[str, Any]) -> None:
    policies, target = document["policies"], document["target"]

    def first(row: dict[str, Any]) -> str:
        found = row["first_round"]
        if found["reached"] is None:
            return "–"
        when = "never" if found["mean_curve"] is None else str(found["mean_curve"])
        return f"{when} ({found['reached']}/{document['seeds']})"

    buffers = next(iter(policies.values()))["occupancy"]["buffers"]
    show_table(
        "Best test accuracy so far in %, and its cost",
        [
            "best accuracy",
            "to target" if target is None else f"to {100 * target:.0f} %",
            f"cost/{document['study']['budget']:g}",
            f"memory/{buffers}",
            "debt",
            "diverged",
        ],
        {
            name: [
                pm(row["best_accuracy"], 100, sign=""),
                first(row),
                f"{row['mean_cost']['mean']:.4g}",
                str(row["occupancy"]["largest"]),
                f"{row['debt']['largest']:.4g}",
                str(row["diverged"]),
            ]
            for name, row in policies.items()
        },
    )
    say(
        "to target: rounds until the mean curve reaches it (number of seeds that do); memory and debt: largest over "
        "seeds; diverged: number of runs"
    )


def _show_paper(document: dict[str, Any], shown: dict[str, Any]) -> None:
    """The paper's numbers for acdpp beside ours, for the printed and the released rule."""
    paper, policies = document["paper"], document["policies"]
    if paper is None or not shown:
        return

    def ours(name: str, other: str) -> str:
        found = shown[name][other]["speed_up"]
        if found is not None:
            return f"{found:.2f}"
        alone = policies[name]["first_round"]["mean_curve"] is not None
        return "never" if alone and policies[other]["first_round"]["mean_curve"] is None else "–"

    show_table(
        "Gain in percentage points, and speed-up: of the paper, and ours",
        ["paper", "at the end", "averaged", "paper ×", "ours ×"],
        {
            f"{name} - {other}": [
                f"{paper['points'][other]:+g}",
                pm(found["points"]),
                pm(found["points_averaged"]),
                "never" if paper["speed_up"][other] is None else f"{paper['speed_up'][other]:g}",
                ours(name, other),
            ]
            for name, others in shown.items()
            for other, found in others.items()
        },
        of="gap",
    )
    say(
        "averaged: over all rounds; ×: ratio of rounds to the target, ours of the mean curves; never: the other policy "
        "does not reach it"
    )


def notes_on(document: dict[str, Any]) -> list[str]:
    """Caveats of the numbers."""
    from empirics.settings.section7 import COMPLETE, UNSAID

    dataset, data = document["dataset"], document["data"]
    notes = []
    if dataset in COMPLETE and data is not None and not data["complete"]:
        whole = COMPLETE[dataset]
        notes.append(
            f"a subset: {data['train']:,} of the {whole['train']:,} training images of {PUBLISHED[dataset]}, and "
            f"{data['test']:,} of {whole['test']:,} test images"
        )
    if dataset == "imagenette" and document["setting"] == "released":
        notes.append(
            "the released code has 1,000 samples per client and batches of 32; here a client has a tenth of the data, "
            "in one batch"
        )
    if dataset in COMPLETE:
        notes.append(f"not in the paper, chosen by us: {'; '.join(UNSAID)}")
    return notes
