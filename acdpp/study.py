"""A study from the options of a command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from acdpp import parse
from acdpp.options import Preset, StudyOptions, spelled
from acdpp.output import needed_for, note, say, users_code
from acdpp.parse import optional
from theory.setting import SettingError

if TYPE_CHECKING:
    from empirics.settings.study import Study
    from empirics.validate import Task

__all__ = ["buffer_sizes", "initial_study", "papers_learner", "prices", "refuse_early"]
__all__ += ["searched_steps", "show_settings", "study_from"]

LEARNER = ("eta", "decay", "average", "average_by")
OF_DESCENT = (*LEARNER, "decay_by")
NOT_TAKEN = "learner information takes no {}: leave it out, or add --learner descent"


def study_from(options: StudyOptions, base: Study | None = None, **more: Any) -> Study:
    """The study that the options describe; `base`, if given, is the study that they change.

    `more` are settings of the study that a command sets itself, such as its single policy.
    """
    from empirics.settings.policy_name import listed
    from empirics.settings.study import Study

    read: dict[str, Callable[[str, str], Any]] = {
        **dict.fromkeys(("budget", "eta"), parse.decimal),
        **dict.fromkeys(("rounds", "seeds"), parse.whole),
        **dict.fromkeys(
            ("average_by", "decay", "radius"),
            lambda text, name: text if text == "none" else parse.decimal(text, name),
        ),
        "buffers": buffer_sizes,
        "seed": parse.seed,
        "policies": lambda text, _: listed(text),
        "drift": lambda text, _: drift_of(text),
    }
    given = {name: optional(how, getattr(options, name), spelled(name)) for name, how in read.items()}
    given |= {name: getattr(options, name) for name in ("dataset", "model", "learner", "average", "decay_by")}
    given |= {f"{name}_column": getattr(options, name) for name in ("label", "time", "client")}
    given["partition"] = None if options.client is None else "client"
    given["cost"] = prices(options.cost)
    given |= {name: value for name, value in more.items() if value is not None}
    start = initial_study(options) if base is None else base
    learner = options.learner or start.learner
    if learner == "information" and (asked := [name for name in OF_DESCENT if given[name] is not None]):
        raise SettingError(NOT_TAKEN.format(spelled(asked[0])))
    study = Study.from_document({name: value for name, value in given.items() if value is not None}, start)
    return study.swept(*(options.sweep or ()))


def initial_study(options: StudyOptions) -> Study:
    """The study that the other options change: a file's, a preset, or the default of all commands.

    By default that is best, or descent if that learner is asked for, with the classes of the user's own data; where the
    model is not logistic or the population drifts, it is digits, or own for the user's own data.
    """
    from empirics.settings.dataset_name import OWN_FILES
    from empirics.settings.presets import PRESETS
    from empirics.settings.toml import read_toml

    preset, dataset = options.preset, options.dataset
    if dataset is not None and preset in (Preset.paper, Preset.released):
        note(
            f"preset {preset.value} keeps buffers, budget, eta and model of its MNIST experiment for other data: edit "
            "--show-config"
        )
    own = dataset is not None and dataset.startswith(OWN_FILES)
    if options.config is not None:
        return read_toml(options.config, None if preset is None else preset.value)
    plain = options.drift is None and options.model in (None, "logistic")
    if preset is None:
        preset = Preset.own if own else Preset.digits
        if plain:
            preset = Preset.descent if options.learner == "descent" else Preset.best
    found = PRESETS[preset.value]
    return replace(found, labels="classes") if own and preset in (Preset.best, Preset.descent) else found


def searched_steps(study: Study, steps: str | None) -> tuple[int, ...] | None:
    """Numbers of local steps to search, if given."""
    found = parse.optional(parse.wholes, steps, "--steps")
    if found is not None and study.learner == "information":
        raise SettingError(NOT_TAKEN.format("--steps"))
    return found


def papers_learner(study: Study) -> Study:
    """The study with constant admission and, for local descent, the paper's learner, with which a plan is compared."""
    from empirics.settings.dataset_name import OWN_FILES
    from empirics.settings.presets import PRESETS

    paper = PRESETS["own" if study.dataset.startswith(OWN_FILES) else "digits"]
    given: dict[str, Any] = {name: getattr(paper, name) for name in LEARNER}
    preset = paper.preset if study.preset in ("best", "descent") else study.preset
    return replace(study, policies=("constant",), preset=preset, **given)


def refuse_early(
    study: Study, doing: str, task: Task = "train", *, files_here: bool = True, **options: Any
) -> None:
    """Refuse an invalid study before a pilot is read and, where possible, before torch is loaded."""
    from empirics.validate import validate, validate_samples

    with users_code(), needed_for(doing):
        if files_here:
            validate_samples(study)
        validate(study, task, files_here=files_here, **options)


def show_settings(study: Study) -> None:
    """Print the study as a commented TOML file."""
    from empirics.settings.toml import toml

    say(toml(study), whole=True, end="")


# --- parsing -----------------------------------------------------------------------------------------------


def buffer_sizes(text: str, name: str) -> list[int | float]:
    """Buffer sizes as a study takes them."""
    return [int(size) if size == int(size) else float(size) for size in parse.numbers(text, name)]


def drift_of(text: str) -> dict[str, Any]:
    """The settings of a drift.

    >>> drift_of("gradual,length=200,parts=labels,apart=0.5")
    {'kind': 'gradual', 'length': 200, 'parts': 'labels', 'apart': 0.5}
    """
    kind, *others = text.split(",")
    found: dict[str, Any] = {"kind": kind}
    for setting in others:
        name, equals, value = setting.partition("=")
        if not equals or name in found:
            raise SettingError(
                f"--drift takes a kind and settings, such as gradual,length=200, got {parse.shortened(text)}"
            )
        if name in ("start", "length"):
            found[name] = parse.whole(value, f"{name} of --drift")
        else:
            found[name] = parse.decimal(value, f"{name} of --drift") if name == "apart" else value
    return found


def prices(cost: str | None, kinds: tuple[str, ...] = parse.KINDS) -> dict[str, Any] | None:
    """Prices as a study takes them: a process between two prices, or a file; None where none are given."""
    if cost is None:
        return None
    if file := parse.price_file(cost):
        return {"process": "trace", "file": file[0], "column": file[1]}
    kind, low, high = parse.prices(cost, kinds)
    return {"process": kind, "low": float(low), "high": float(high)}
