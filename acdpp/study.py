"""A study's settings from the command line, and what commands on studies print alike."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from acdpp import parse
from acdpp.output import READING, told
from theory.setting import SettingError

if TYPE_CHECKING:
    from empirics.settings.study import Study
    from empirics.training.fit import BallFit
    from empirics.validate import Task

__all__ = [
    "AsJson",
    "Average",
    "AverageBy",
    "Client",
    "Config",
    "CostColumn",
    "CostTrace",
    "DataDir",
    "Dataset",
    "Decay",
    "DecayBy",
    "Device",
    "Drift",
    "Eta",
    "Fit",
    "Label",
    "Logs",
    "Out",
    "PilotSize",
    "Policies",
    "Preset",
    "PresetName",
    "Radius",
    "Rounds",
    "Seed",
    "Seeds",
    "ShowConfig",
    "Sweep",
    "Time",
    "Verbose",
    "changed",
    "fitted",
    "needed_for",
    "of_preset",
    "refuse_early",
    "rounds_told",
    "suiting",
    "trace_of",
    "with_error",
    "words_of_the_user",
]

OTHER_DATA = "preset {} keeps buffers, budget, eta and model of its MNIST experiment for other data: edit --show-config"


class Preset(StrEnum):
    """Named settings."""

    digits = "digits"
    own = "own"
    best = "best"
    paper = "paper"
    released = "released"


PresetName = Annotated[
    Preset | None,
    typer.Option(
        "--preset",
        help="best: the learner and policies that win; digits: the paper's, within the theorem's hypotheses; own: the "
        "same for your data; paper and released: the MNIST experiment. By default train begins with best, if the model "
        "is logistic and nothing drifts, and all else with digits, or own for a data set of yours.",
    ),
]
Config = Annotated[Path | None, typer.Option(help="TOML file with settings that replace the preset's.")]
Dataset = Annotated[
    str | None,
    typer.Option(
        help="digits, mnist, cifar10, imagenette, npz:FILE with x, y and test_x, test_y, or csv:FILE or parquet:FILE "
        "with --label."
    ),
]
Label = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="The column of csv:FILE or parquet:FILE with the labels."),
]
Time = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The same with the times, numbers or dates, if any.")
]
Client = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The same that says whose a sample is, one buffer each.")
]
DataDir = Annotated[Path | None, typer.Option(help="Where the data set's standard files lie.")]
PilotSize = Annotated[
    str | None,
    typer.Option(
        "--pilot",
        metavar="N",
        help="Look at N samples of the data alone, drawn by --seed, and say how sure that is.",
    ),
]
Policies = Annotated[
    str | None,
    typer.Option(
        help="Names separated by commas, such as acdpp,constant@K=5,eta=0.1; module:attribute for your own."
    ),
]
Sweep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUES",
        help="Values of K, eta, steps, decay, average, average_by, rho, V, rate or budget, such as K=1,5,10: each "
        "policy that has one with every value, all in one batch. Given again, all combinations. Oracle and buy-cheap "
        "have no K.",
    ),
]
Average = Annotated[
    str | None,
    typer.Option(
        help="A mean of models for the model: equal, polynomial, tail or exponential; none for the last."
    ),
]
AverageBy = Annotated[
    str | None,
    typer.Option(help="γ of --average polynomial, the part that tail leaves out, or β of exponential."),
]
Eta = Annotated[str | None, typer.Option(help="Step size η of the local steps.")]
Radius = Annotated[
    str | None, typer.Option(help="Of the ball onto which the server projects; none for no ball.")
]
Fit = Annotated[
    bool | None,
    typer.Option(
        "--fit/--no-fit",
        help="Choose radius, scale of features and step size by a pilot of the data, but for what an option gives; "
        "for data of yours by default, but for what --config gives.",
    ),
]
Decay = Annotated[
    str | None, typer.Option(help="τ of steps that fall as 1/√(1 + t/τ), such as 50; none for one size.")
]
DecayBy = Annotated[str | None, typer.Option(help="What t of --decay counts: rounds or samples.")]
Drift = Annotated[
    str | None,
    typer.Option(
        metavar="KIND[,NAME=VALUE]",
        help="How the population moves: abrupt,start=250 or gradual,start=100,length=200 or periodic,length=100, with "
        "parts=classes, labels or inputs and apart=5 for clients that drift apart; order for your own samples in the "
        "order of their times.",
    ),
]
CostTrace = Annotated[Path | None, typer.Option(help="CSV file of prices, one a round.")]
CostColumn = Annotated[
    str | None, typer.Option(help="The column of --cost-trace with the prices, by its name.")
]
Rounds = Annotated[str | None, typer.Option(help="Rounds T, such as 500 or 1e3.")]
Seed = Annotated[str | None, typer.Option(help="Seed of the whole study.")]
Seeds = Annotated[str | None, typer.Option(help="Replicates of each policy.")]
Device = Annotated[str | None, typer.Option(help="cpu or cuda; cpu by default, or what the study began on.")]
Out = Annotated[Path | None, typer.Option(help="New folder for the result; by default one in results/.")]
ShowConfig = Annotated[
    bool, typer.Option("--show-config", help="Print the settings as a commented TOML file and stop.")
]
Logs = Annotated[
    str | None,
    typer.Option(
        "--log", help="Also write tensorboard event files, mlflow runs, or both, with a comma between."
    ),
]
Verbose = Annotated[bool, typer.Option("--verbose", help="Print all that was found, not the answer alone.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


# --- settings ----------------------------------------------------------------------------------------------


def of_preset(
    preset: Preset | None, config: Path | None, dataset: str | None, *, best: bool = False
) -> Study:
    """What the study starts from: a preset, or a file; without either, own for a file of the user's data.

    With `best` it is the learner that wins then, for the user's data as well, whose classes are learnt.
    """
    from empirics.settings.dataset_name import OWN_FILES
    from empirics.settings.presets import PRESETS, read_toml

    if dataset is not None and preset in (Preset.paper, Preset.released):
        print(f"acdpp: note: {OTHER_DATA.format(preset.value)}", file=sys.stderr)
    own = dataset is not None and dataset.startswith(OWN_FILES)
    if config is None and (preset is Preset.best or (best and preset is None)):
        found = PRESETS["best"]
        return replace(found, labels="classes") if own else found
    chosen = preset.value if preset is not None else "own" if own and config is None else None
    return PRESETS[chosen or "digits"] if config is None else read_toml(config, chosen)


def changed(
    base: Study,
    *,
    policies: str | None,
    sweep: list[str] | None,
    average_by: str | None = None,
    decay: str | None = None,
    drift: str | None = None,
    label: str | None = None,
    time: str | None = None,
    client: str | None = None,
    log: str | None = None,
    eta: str | None = None,
    radius: str | None = None,
    cost_trace: Path | None,
    cost_column: str | None,
    rounds: str | None,
    seed: str | None,
    **others: Any,
) -> Study:
    """The study with what the command line gives in place of its own."""
    from empirics.settings.policy_name import listed
    from empirics.settings.study import Study

    given = others | {
        "policies": None if policies is None else listed(policies),
        "average_by": _unless_none(average_by, "--average-by"),
        "decay": _unless_none(decay, "--decay"),
        "eta": None if eta is None else float(parse.number(eta, "--eta")),
        "radius": _unless_none(radius, "--radius"),
        "cost": trace_of(cost_trace, cost_column),
        "drift": None if drift is None else drift_of(drift),
        "label_column": label,
        "time_column": time,
        "client_column": client,
        "partition": None if client is None else "client",
        "log": None if log is None else log.split(","),
        "rounds": None if rounds is None else parse.whole(rounds, "--rounds"),
        "seed": None if seed is None else parse.seed(seed, "--seed"),
    }
    study = Study.from_document({name: value for name, value in given.items() if value is not None}, base)
    return study.swept(*(sweep or ()))


def refuse_early(study: Study, doing: str, task: Task = "train", **options: Any) -> None:
    """Refuse a study that will not do before torch is loaded, if that can be, and before a pilot looks."""
    from empirics.validate import validate

    with words_of_the_user(), needed_for(doing):
        validate(study, task, **options)


def fitted(
    study: Study,
    fit: bool | None,
    options: Mapping[str, str | None],
    *,
    preset: Preset | None = None,
    config: Path | None = None,
    data_dir: Path | None = None,
    pilot: int | None = None,
    quiet: bool = False,
) -> Study:
    """With the ball, the scale and the steps that suit the data, but for what an option gives; a sentence says which.

    Without a word of the user's that is for data of their own without times, 30 or more samples, and leaves alone what
    their file of settings has.
    """
    from empirics.settings.dataset_name import OWN_FILES
    from empirics.settings.presets import named_in

    own = study.dataset.startswith(OWN_FILES) or preset is Preset.own
    if fit is False or not (own or fit):
        return study
    if study.radius is None or study.model != "logistic" or study.drift.kind != "none":
        if fit:
            raise SettingError(
                "--fit needs logistic regression on a ball, and a population that does not move"
            )
        return study
    with needed_for("training"):
        from empirics.training.fit import FITTED
    kept = {name for name, value in options.items() if value is not None}
    kept |= named_in(config) if config is not None and not fit else frozenset()
    free = [name for name in FITTED if name not in kept]
    if quiet and not free:
        return study
    with words_of_the_user(), told(READING, None, quiet=quiet, transient=True):
        found = suiting(study, free, data_dir=data_dir, pilot=pilot, anyway=bool(fit))
    if isinstance(found, str):
        return study
    if not quiet:
        if free:
            print(
                f"acdpp: note: chosen by a pilot: {found.words}; --no-fit keeps the preset's", file=sys.stderr
            )
        if found.warning is not None:
            print(f"acdpp: note: {found.warning}", file=sys.stderr)
    return found.applied(study) if free else study


def suiting(
    study: Study,
    free: Collection[str],
    *,
    data_dir: Path | None = None,
    pilot: int | None = None,
    anyway: bool = False,
) -> BallFit | str:
    """The ball, the scale and the steps that suit a study's data, or a pilot of them; or why nothing is chosen."""
    with needed_for("training"):
        from empirics.prediction.pilot import draw_pilot
        from empirics.training.device import threads
        from empirics.training.fit import fit_ball, why_not
        from empirics.training.problem import make_problem

    with threads(study, "take a part of them"):
        problem = make_problem(study, "cpu", data_dir)
        reason = why_not(problem)
        if reason is not None and not anyway:
            return reason
        return fit_ball(problem if pilot is None else draw_pilot(problem, pilot).problem, free)


def _unless_none(text: str | None, name: str) -> float | str | None:
    """A number, or the word by which a study has none."""
    return text if text in (None, "none") else float(parse.number(text, name))


def drift_of(text: str) -> dict[str, Any]:
    """The settings of a drift.

    >>> drift_of("gradual,length=200,parts=labels,apart=0.5")
    {'kind': 'gradual', 'length': 200, 'parts': 'labels', 'apart': 0.5}
    """
    kind, *others = text.split(",")
    found: dict[str, Any] = {"kind": kind}
    for one in others:
        name, equals, value = one.partition("=")
        if not equals or name in found:
            raise SettingError(
                f"--drift takes a kind and settings, such as gradual,length=200, got {parse.shortened(text)}"
            )
        if name in ("start", "length"):
            found[name] = parse.whole(value, f"{name} of --drift")
        else:
            found[name] = float(parse.number(value, f"{name} of --drift")) if name == "apart" else value
    return found


def trace_of(file: Path | None, column: str | None) -> dict[str, Any] | None:
    """The prices of a file, as a study has them; None without a file."""
    if file is None and column is not None:
        raise SettingError("--cost-column names a column of --cost-trace FILE: give that too")
    return None if file is None else {"process": "trace", "file": str(file), "column": column}


@contextmanager
def needed_for(doing: str, extra: str = "empirics") -> Iterator[None]:
    """A package that is not installed is a mistake of the user's; around what imports it."""
    try:
        yield
    except ImportError as error:
        raise SettingError(f"{doing} needs {error.name}: pip install 'acdpp[{extra}]'") from None


@contextmanager
def words_of_the_user() -> Iterator[None]:
    """Policies and models of the user's own are found from here, and a warning is one line."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        print(f"acdpp: note: {' '.join(str(message).split())}", file=sys.stderr)

    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = show
        yield


@contextmanager
def rounds_told(rounds: int, *, quiet: bool, what: str = "rounds") -> Iterator[Callable[[int], None]]:
    """A bar on a terminal, or a line now and then, to be told how many rounds are done."""
    with told(what, rounds, quiet=quiet) as update:
        yield lambda done: update(completed=done)


# --- numbers -----------------------------------------------------------------------------------------------


def with_error(mean: float | None, error: float | None) -> str:
    """Mean ± standard error, to the error's first digit; a dash where there is no mean, since a run diverged.

    >>> with_error(10.6789, 0.0312), with_error(0.25, None)
    ('10.68 ± 0.03', '0.25')
    """
    if mean is None:
        return "–"
    if not error:
        return f"{mean:.4g}"
    places = max(-math.floor(math.log10(error)), 0)
    return f"{mean:.{places}f} ± {error:.{places}f}"
