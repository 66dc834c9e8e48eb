"""Options that several commands take, each declared once, and `StudyOptions`, which every command on a study takes."""

import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

__all__ = ["AsJson", "Budget", "Buffers", "Constants", "Contraction", "Cost", "CostSource", "DataDir"]
__all__ += ["Device", "Logs", "MeanCost", "Out", "Policies", "Preset", "Rate", "Retention", "Seeds"]
__all__ += ["Shards", "ShowConfig", "StudyOptions", "Verbose", "Watch", "Workers", "in_learner"]
__all__ += ["in_output", "in_prices", "in_study", "parameters", "sign", "spelled", "takes"]

in_study, in_data, in_learner, in_prices, in_output = (  # panels of the help
    partial(typer.Option, rich_help_panel=panel) for panel in ("Study", "Data", "Learner", "Prices", "Output")
)


class Preset(StrEnum):
    digits = "digits"
    own = "own"
    best = "best"
    descent = "descent"
    paper = "paper"
    released = "released"


# --- shared with commands that take no study ---------------------------------------------------------------

_buffers = in_study(help="Buffer size B_m of each client: a,b,c or @FILE with one number per line.")
_budget = in_study(help="Cost budget C per round.")
Buffers = Annotated[str, _buffers]
Budget = Annotated[str, _budget]
Policies = Annotated[
    str | None,
    in_study(help="Names separated by commas, such as acdpp,constant@K=5; module:attribute for your own."),
]
Seeds = Annotated[str | None, in_study(help="Number of seeds, which are the replicates of each policy.")]
DataDir = Annotated[Path | None, in_data(help="Folder with the standard files of the data set.")]
_cost = in_prices(
    help="Price of a sample: uniform:LOW:HIGH, integer:LOW:HIGH, one price, or csv:FILE with a price per line; "
    "csv:FILE,column=NAME if the file has several columns."
)
Cost = Annotated[str | None, _cost]
CostSource = Annotated[str, _cost]
MeanCost = Annotated[str, in_prices(help="Mean price of a sample.")]
Contraction = Annotated[
    str | None,
    in_learner(
        help="Factor by which a round shrinks a distance to the optimum, between 0 and 1, such as 0.9."
    ),
]
Retention = Annotated[str, typer.Option("--K", help="Retention horizon: how many rounds a sample is kept.")]
Rate = Annotated[str, typer.Option(help="Total admissions per round, Λ̄.")]
Constants = Annotated[
    str,
    typer.Option(
        help="D, sigma, eta, B, Pdim and optionally E, G, L (G and L: the constant term per round)."
    ),
]
Device = Annotated[
    str | None, in_output(help="cpu or cuda; cpu by default, or the device on which a resumed study began.")
]
Out = Annotated[Path | None, in_output(help="New folder for the result; by default one in results/.")]
ShowConfig = Annotated[
    bool, in_output("--show-config", help="Print the settings as a commented TOML file and stop.")
]
Workers = Annotated[
    str | None,
    in_output(
        metavar="ADDRESS",
        help="Train on Ray: ray for this machine, or a cluster's address, ray://HOST:PORT or HOST:PORT.",
    ),
]
Shards = Annotated[
    str | None,
    in_output(
        help="Number of parts, by policy and seed, into which Ray splits the runs; by default one per GPU or core."
    ),
]
Watch = Annotated[
    bool, in_output("--watch", help="Show curves in the terminal while it runs, or a line per checkpoint.")
]
Logs = Annotated[
    str | None,
    in_output(
        "--log", help="Also write tensorboard event files, mlflow runs, or both, separated by a comma."
    ),
]
Verbose = Annotated[bool, in_output("--verbose", help="Print every table, not only the summary.")]
AsJson = Annotated[bool, in_output("--json", help="Print one JSON object and nothing else.")]


# --- a study -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StudyOptions:
    """The options from which `acdpp.study` makes a study, as text; None where the user gives nothing."""

    preset: Annotated[
        Preset | None,
        in_study(
            help="best: the learner that wins on tables; descent: local descent at its best; digits: the paper's "
            "learner on the bundled digits, within the theorem's hypotheses; own: that learner on your data; paper "
            "and released: the MNIST experiment. By default best if the model is logistic and nothing drifts, else "
            "digits, or own for your data; with --config, the file's."
        ),
    ] = None
    config: Annotated[
        Path | None, in_study(help="TOML file with settings that replace those of the preset.")
    ] = None
    policies: Policies = None
    sweep: Annotated[
        list[str] | None,
        in_study(
            metavar="NAME=VALUES",
            help="Values of K, rho, V, rate or budget, or for descent of eta, steps, decay, average or average_by, "
            "such as K=1,5,10: every policy that has the setting, with every value, in one batch. Given again, all "
            "combinations. "
            "oracle and buy-cheap have no K.",
        ),
    ] = None
    buffers: Annotated[str | None, _buffers] = None
    budget: Annotated[str | None, _budget] = None
    rounds: Annotated[str | None, in_study(help="Number of rounds T, such as 500 or 1e3.")] = None
    seeds: Seeds = None
    seed: Annotated[str | None, in_study(help="Seed of the whole study.")] = None

    dataset: Annotated[
        str | None,
        in_data(
            help="digits, mnist, cifar10, imagenette, npz:FILE with x, y and test_x, test_y, or csv:FILE or "
            "parquet:FILE with --label."
        ),
    ] = None
    label: Annotated[
        str | None, in_data(metavar="COLUMN", help="Column of csv:FILE or parquet:FILE with the label.")
    ] = None
    time: Annotated[
        str | None, in_data(metavar="COLUMN", help="Column with the timestamp, a number or a date, if any.")
    ] = None
    client: Annotated[
        str | None,
        in_data(metavar="COLUMN", help="Column with the client id; each client has its own buffer."),
    ] = None
    data_dir: DataDir = None
    pilot: Annotated[
        str | None,
        in_data(
            metavar="N",
            help="Look at N samples only, drawn by --seed, to choose the learner's settings and to predict; "
            "predictions then have standard errors.",
        ),
    ] = None
    fit: Annotated[
        bool | None,
        in_data(
            "--fit/--no-fit",
            help="Choose radius, feature scale and step size by a pilot of the data, unless set explicitly; the "
            "default for your own data, unless --config sets them.",
        ),
    ] = None

    model: Annotated[
        str | None, in_learner(help="logistic, or module:attribute that makes a torch.nn.Module.")
    ] = None
    learner: Annotated[
        str | None,
        in_learner(help="descent (local steps), or information (the server adds up gradient and curvature)."),
    ] = None
    average: Annotated[
        str | None,
        in_learner(
            help="For descent, the mean of models: equal, polynomial, tail or exponential; none for the last model."
        ),
    ] = None
    average_by: Annotated[
        str | None,
        in_learner(help="γ of --average polynomial, the share that tail leaves out, or β of exponential."),
    ] = None
    decay: Annotated[
        str | None,
        in_learner(
            help="τ of step sizes that fall as 1/√(1 + t/τ), such as 50; none for a constant step size."
        ),
    ] = None
    decay_by: Annotated[str | None, in_learner(help="Unit of t in --decay: rounds or samples.")] = None
    eta: Annotated[str | None, in_learner(help="For descent, the step size η of the local steps.")] = None
    radius: Annotated[
        str | None, in_learner(help="Radius of the ball onto which the server projects; none for no ball.")
    ] = None
    drift: Annotated[
        str | None,
        in_learner(
            metavar="KIND[,NAME=VALUE]",
            help="Drift of the population: abrupt,start=250 or gradual,start=100,length=200 or periodic,length=100, "
            "with parts=classes, labels or inputs and apart=5 for clients that drift apart; order for your own "
            "samples in the order of their timestamps.",
        ),
    ] = None

    cost: Cost = None

    device: Device = None
    show_config: ShowConfig = False


def spelled(name: str) -> str:
    """An option as the user types it."""
    return f"--{name.replace('_', '-')}"


def takes(
    options: type[Any], *, without: Collection[str] = (), required: Collection[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command so that Typer sees the fields of a dataclass of options before the command's own parameters.

    The command receives one object of that dataclass first. It does not take the options `without`, and needs
    those `required`, spelled as --name.
    """
    hints = get_type_hints(options, include_extras=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    shared = [
        inspect.Parameter(
            one.name,
            keyword,
            default=inspect.Parameter.empty if spelled(one.name) in required else one.default,
            annotation=hints[one.name],
        )
        for one in fields(options)
        if spelled(one.name) not in without
    ]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        def run(**given: Any) -> None:
            chosen = {one.name: given.pop(one.name) for one in shared}
            command(options(**chosen), **given)

        own = list(parameters(command))[1:]
        sign(run, [*shared, *(one.replace(kind=keyword) for one in own)], command.__doc__)
        return run

    return decorate


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters of a function, their annotations evaluated."""
    hints = get_type_hints(function, include_extras=True)
    found = inspect.signature(function).parameters.values()
    return [one.replace(annotation=hints[one.name]) for one in found]


def sign(command: Any, signature: list[inspect.Parameter], doc: str | None) -> None:
    """Give a function the signature, annotations and docstring that Typer reads."""
    command.__signature__ = inspect.Signature(signature)
    command.__annotations__ = {one.name: one.annotation for one in signature}
    command.__doc__ = doc
