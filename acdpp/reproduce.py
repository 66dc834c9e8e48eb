"""`acdpp reproduce`: the paper's Section 7 run again, its numbers beside ours, and the sources of its reported gain."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from acdpp import interrupt, parse
from acdpp.options import AsJson, DataDir, Device, Out, Policies, Resume, Seeds, ShowConfig
from acdpp.output import needed_for, print_json, rounds_told, say, show_table, users_code
from acdpp.study import show_settings
from theory.setting import SettingError

if TYPE_CHECKING:
    from empirics.settings.study import Study

__all__ = ["EXAMPLES", "command"]

EXAMPLES = (
    "Examples: [bold]acdpp reproduce mnist --data-dir DIR --device cuda[/bold] · "
    "[bold]acdpp reproduce cifar10 --setting released --data-dir DIR --device cuda --out results/cifar10[/bold] · "
    "[bold]acdpp reproduce --resume results/cifar10[/bold] · "
    "[bold]acdpp reproduce mnist --policies constant,acdpp@rho=0.5,acdpp@rho=0.99,acdpp-capped@rho=0.99 "
    "--data-dir DIR[/bold] · "
    "[bold]acdpp reproduce mnist --explain --data-dir DIR --device cuda --out results/why[/bold], again to continue"
)
PUBLISHED = {"mnist": "MNIST", "cifar10": "CIFAR-10", "imagenette": "ImageNette"}
SHOWN = ("acdpp", "released")  # beside the paper's numbers


def command(
    dataset: Annotated[str | None, typer.Argument(help="mnist, cifar10 or imagenette.")] = None,
    setting: Annotated[
        str | None,
        typer.Option(
            help="paper (its text, the default), released (its code), a single departure of the code (momentum, "
            "readmitted, prices, logistic) or all except one (released-momentum, …)."
        ),
    ] = None,
    seeds: Seeds = None,
    rounds: Annotated[
        str | None, typer.Option(help="Rounds T; 100 by default, since the paper names no number.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Instead of the setting's model: logistic, lenet, resnet9.")
    ] = None,
    policies: Policies = None,
    eta: Annotated[str | None, typer.Option(help="Learning rate instead of the paper's.")] = None,
    precision: Annotated[
        str | None, typer.Option(help="Arithmetic of resnet9 on a GPU: bfloat16, tf32 or float32.")
    ] = None,
    device: Device = None,
    data_dir: DataDir = None,
    out: Out = None,
    resume: Resume = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Explain the gain: train each departure of the released code separately, in subfolders of --out. "
            "Given again, it continues.",
        ),
    ] = False,
    worlds: Annotated[
        str | None, typer.Option(help="With --explain: only these settings, such as paper,momentum.")
    ] = None,
    show_config: ShowConfig = False,
    as_json: AsJson = False,
) -> None:
    """Run the paper's experiments again and compare its numbers with ours, in reproduction.json of the result."""
    from empirics.settings.section7 import command_for

    chosen = {
        "--setting": setting,
        "--seeds": seeds,
        "--rounds": rounds,
        "--model": model,
        "--policies": policies,
        "--eta": eta,
        "--precision": precision,
        "--out": out,
        "--worlds": worlds,
    }
    if dataset is None and resume is None:
        raise SettingError("name the data set to reproduce: mnist, cifar10 or imagenette")
    if explain:
        _refuse("--explain", chosen, "--setting", "--model", "--policies", "--precision")
        if resume is not None or show_config:
            raise SettingError(
                "--explain continues in --out DIR and has many settings: leave out --resume and --show-config"
            )
        _explain(str(dataset), chosen, device, data_dir, as_json=as_json)
        return
    if worlds is not None:
        raise SettingError("--worlds chooses among the studies of --explain: give --explain too")
    if resume is not None:
        _refuse("--resume", chosen, *chosen)
        with needed_for("training"):
            from empirics.run import study_of

        study = study_of(resume)
        if command_for(study.document()) != "acdpp reproduce":
            raise SettingError(
                f"{str(resume)!r} is no result of acdpp reproduce: acdpp train --resume {resume} continues it"
            )
        if dataset not in (None, study.dataset):
            raise SettingError(f"{str(resume)!r} is a study of {study.dataset}, not of {dataset}")
    else:
        study = _study(str(dataset), chosen)
    if show_config:
        show_settings(study)
        return

    with needed_for("training"):
        from empirics.reproduce import reproduce

    with rounds_told(study.rounds, quiet=as_json) as tell, users_code():
        place, document = reproduce(
            study,
            out if resume is None else resume,
            device=device,
            data_dir=data_dir,
            resume=resume is not None,
            progress=tell,
            announce=_begun("continue with acdpp reproduce --resume {}"),
        )
    _tell(place, document, _show, as_json=as_json)


def _refuse(option: str, chosen: dict[str, Any], *names: str) -> None:
    given = [name for name in names if chosen[name] is not None]
    if given:
        raise SettingError(f"{option} has settings of its own: leave out {' and '.join(given)}")


def _numbers(chosen: dict[str, Any]) -> dict[str, Any]:
    """The given numbers of seeds and rounds."""
    read = {
        name: parse.optional(parse.whole, chosen[f"--{name}"], f"--{name}") for name in ("seeds", "rounds")
    }
    return {name: value for name, value in read.items() if value is not None}


def _study(dataset: str, chosen: dict[str, Any]) -> Study:
    """The study of the options."""
    from empirics.settings.policy_name import listed
    from empirics.settings.section7 import section7
    from empirics.settings.study import Study

    study = section7(dataset, chosen["--setting"] or "paper", model=chosen["--model"], **_numbers(chosen))
    given = {
        "eta": parse.optional(parse.decimal, chosen["--eta"], "--eta"),
        "policies": None if chosen["--policies"] is None else listed(chosen["--policies"]),
        "precision": chosen["--precision"],
    }
    return Study.from_document({name: value for name, value in given.items() if value is not None}, study)


def _explain(
    dataset: str, chosen: dict[str, Any], device: str | None, data_dir: Path | None, *, as_json: bool
) -> None:
    with needed_for("training"):
        from empirics.reproduce import explain

    worlds = chosen["--worlds"]
    with users_code():
        place, document = explain(
            dataset,
            chosen["--out"],
            worlds=None if worlds is None else tuple(word.strip() for word in worlds.split(",")),
            eta=parse.optional(parse.decimal, chosen["--eta"], "--eta"),
            device=device,
            data_dir=data_dir,
            stage=lambda name, study: rounds_told(study.rounds, quiet=as_json, what=name),
            announce=_begun("the same command with --out {} continues"),
            **_numbers(chosen),
        )
    _tell(place, document, _show_ladder, as_json=as_json)


def _begun(advice: str) -> Callable[[Path], None]:
    """On Ctrl-C, say how to continue in the folder that training began."""

    def announce(place: Path) -> None:
        interrupt.last_words(f"stopped; {advice.format(shlex.quote(str(place)))}")

    return announce


def _tell(place: Path, document: dict[str, Any], show: Callable[..., None], *, as_json: bool) -> None:
    if as_json:
        print_json({"result": str(place), **document})
    else:
        show(document)
        say(f"result: {place}", whole=True)


# --- what is printed ---------------------------------------------------------------------------------------


def _pm(value: dict[str, Any], unit: int = 1, sign: str = "+") -> str:
    half = "" if value["low"] is None else f" ± {unit * (value['high'] - value['low']) / 2:.2f}"
    return f"{unit * value['mean']:{sign}.2f}{half}"


def _level(document: dict[str, Any]) -> str:
    if document["seeds"] == 1:
        return "one seed, no interval"
    return f"± is half of the {document['level']:.0%} interval {document['intervals']}".replace("%", " %")


def _show(document: dict[str, Any]) -> None:
    policies = document["policies"]
    say(
        f"{document['dataset']}, setting {document['setting']}, model {document['model']}; {document['rounds']:,} "
        f"rounds on {document['hardware']}"
    )
    say(_level(document))
    _show_policies(document)
    shown = {name: document["comparisons"][name] for name in SHOWN if name in policies}
    _show_paper(document, {name: one for name, one in shown.items() if one})
    diverged = any(row["diverged"] for row in policies.values())
    for note in [*_notes(document), *(["a diverged run keeps its last accuracy"] if diverged else [])]:
        say(f"note: {note}")


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
                _pm(row["best_accuracy"], 100, sign=""),
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
                _pm(found["points"]),
                _pm(found["points_averaged"]),
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


def _notes(document: dict[str, Any]) -> list[str]:
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


def _show_ladder(document: dict[str, Any]) -> None:
    """Gains of every setting's policies over constant admission, also at equal spending."""
    worlds = document["worlds"]
    first = next(iter(worlds.values()))
    say(
        f"{document['dataset']}: points over constant admission in the same setting; {first['rounds']} rounds"
    )
    say(_level(first))
    headings = ["at the end", "p", "averaged", "p"]

    def cells(row: dict[str, Any]) -> list[str]:
        found = []
        for points in (row["points"], row["points_averaged"]):
            p = points["p"]
            found += [_pm(points), "–" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"]
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
    for note in [*document["notes"], *_notes(first)]:
        say(f"note: {note}")
    if document["not_run"]:
        say(f"not run yet: {', '.join(document['not_run'])}")
