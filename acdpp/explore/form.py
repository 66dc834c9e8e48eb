"""The typed fields of the page as a study, or one sentence per wrong field."""

import csv
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from acdpp import parse
from acdpp.options import StudyOptions
from acdpp.study import buffer_sizes, initial_study, papers_learner
from empirics.control.registry import BUILT_IN
from empirics.data.csv_format import separator
from empirics.settings.dataset_name import OWN_FILES
from empirics.settings.policy_name import AVERAGES, PolicyName, listed
from empirics.settings.presets import PRESETS
from empirics.settings.study import Study
from empirics.training.fit import FITTED
from theory.setting import SettingError

__all__ = ["AVERAGES", "FIELDS", "OBJECTIVES", "POLICIES", "Asked", "Form", "columns_of", "first_form"]
__all__ += ["likely", "read_form", "taken_over"]

POLICIES = tuple(BUILT_IN)
TABLES = ("csv:", "parquet:")
LIKELY = {  # common names of columns
    "label": ("label", "labels", "y", "target", "class"),
    "price_column": ("price", "prices", "cost", "costs"),
}
FIRST_LINE_CHARACTERS_MAX = 10**6
OBJECTIVES = ("cumulative", "final")
FITS = ("data", "preset")  # source of radius and scale for the user's own data
Settings = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Form:
    """The fields of the page as typed; an empty optional field is not set."""

    data: str
    label: str = ""
    time: str = ""
    client: str = ""
    pilot: str = ""
    fit: str = "data"
    buffers: str
    budget: str
    prices: str
    price_file: str = ""
    price_column: str = ""
    rounds: str
    policies: str
    K: str = ""
    eta: str
    steps: str
    decay: str = ""
    average: str = "none"
    average_by: str = ""
    objective: str = "cumulative"


@dataclass(frozen=True)
class Asked:
    """The question of a form.

    `study` has the typed policies and learner, and `plain` the paper's, where the search begins. With `fit` a pilot of
    the data chooses the settings in `free`. `names` maps the paths of dropped files to their original names.
    """

    study: Study
    plain: Study
    pilot: int | None
    objective: str
    fit: bool = False
    free: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)


def first_form() -> Form:
    """The paper's setting on the digits, with the learner and the first policy of the preset `descent`."""
    best = PRESETS["descent"]
    return Form(
        data=best.dataset,
        buffers=",".join(map(str, best.buffers)),
        budget=f"{best.budget:g}",
        prices=f"{best.cost.process}:{best.cost.low:g}:{best.cost.high:g}",
        rounds=str(best.rounds),
        policies=best.policies[0],
        eta=f"{best.eta:g}",
        steps=str(best.steps),
        decay=f"{best.decay:g}",
        average=best.average,
        average_by=f"{best.average_by:g}",
    )


def taken_over(form: Form, design: Mapping[str, Any]) -> Form:
    """The form with the policy and the learner of a design."""
    numbers = {name: design[name] for name in ("K", "eta", "steps", "decay", "average_by")}
    words = {name: "" if value is None else f"{value:.17g}" for name, value in numbers.items()}
    return replace(form, policies=design["policy"], average=design["average"], **words)


# --- tables ------------------------------------------------------------------------------------------------


def columns_of(table: str) -> list[str]:
    """The column names of `csv:FILE` or `parquet:FILE`; empty if there is no such table."""
    kind, _, file = table.partition(":")
    place = Path(os.path.expanduser(file))
    try:
        if kind == "parquet" and place.is_file():
            from pyarrow import parquet

            return list(parquet.read_schema(place).names)
        if kind == "csv" and place.is_file():
            with place.open(newline="", encoding="utf-8-sig") as stream:
                while (first := stream.readline(FIRST_LINE_CHARACTERS_MAX)).isspace():
                    pass
                names = next(csv.reader([first], delimiter=separator(first)), [])
                return [name for name in map(str.strip, names) if name]
    except (OSError, ValueError, csv.Error):
        pass  # reading the table says why
    return []


def likely(field: str, columns: Sequence[str]) -> str:
    """The column with a common name for this field, or an empty string."""
    plain = {column.strip().lower(): column for column in columns}
    return next((plain[name] for name in LIKELY.get(field, ()) if name in plain), "")


# --- a field at a time -------------------------------------------------------------------------------------


def _optional(name: str, value: str, read: Callable[[str, str], Any] = lambda text, _: text) -> Settings:
    return {name: read(value, name)} if value else {}


def _label(form: Form) -> Settings:
    if form.data.startswith(TABLES) and not form.label:
        raise SettingError("choose the column with the labels")
    return _optional("label_column", form.label)


def _prices(form: Form) -> Settings:
    if form.price_file:
        return {}
    kind, low, high = parse.prices(form.prices, parse.ALL_KINDS, "prices")
    return {"cost": {"process": kind, "low": float(low), "high": float(high)}}


def _price_file(form: Form) -> Settings:
    if not form.price_file:
        return {}
    if not os.path.isfile(os.path.expanduser(form.price_file)):
        shown = parse.shortened(form.price_file)
        raise SettingError(f"there is no file {shown}: drop one here, or leave it out")
    return {"cost": {"process": "trace", "file": form.price_file}}


def _price_column(form: Form) -> Settings:
    if form.price_column and not form.price_file:
        raise SettingError("this names a column of a file with prices: give that too, or leave it out")
    if not form.price_column and len(columns_of(f"csv:{form.price_file}")) > 1:
        raise SettingError("choose the column with the prices")
    return {"cost": {"column": form.price_column}} if form.price_column else {}


def _policies(form: Form) -> Settings:
    names = listed(form.policies)
    if other := [name for name in names if PolicyName(name).settings is None]:
        choices = ", ".join(POLICIES)
        raise SettingError(f"{parse.shortened(other[0])} is not a built-in policy: choose from {choices}")
    return {"policies": names}


_MONEY: dict[str, Callable[[Form], Settings]] = {
    "data": lambda form: {"dataset": form.data},
    "label": _label,
    "time": lambda form: _optional("time_column", form.time),
    "client": lambda form: {"client_column": form.client, "partition": "client"} if form.client else {},
    "buffers": lambda form: {"buffers": buffer_sizes(form.buffers, "buffers")},
    "budget": lambda form: {"budget": parse.decimal(form.budget, "budget")},
    "prices": _prices,
    "price_file": _price_file,
    "price_column": _price_column,
    "rounds": lambda form: {"rounds": parse.whole(form.rounds, "rounds")},
}
_LEARNER: dict[str, Callable[[Form], Settings]] = {
    "policies": _policies,
    "K": lambda form: _optional("K", form.K, parse.whole),
    "eta": lambda form: {"eta": parse.decimal(form.eta, "eta") if form.eta else PRESETS["descent"].eta},
    "steps": lambda form: {"steps": parse.whole(form.steps, "steps")},
    "decay": lambda form: _optional("decay", form.decay, parse.decimal),
    "average": lambda form: {"average": form.average},
    "average_by": lambda form: _optional("average_by", form.average_by, parse.decimal),
}
_OF = {  # fields that refine another, and are not read where that is wrong
    **dict.fromkeys(("label", "time", "client"), "data"),
    "price_column": "price_file",
    "average_by": "average",
}
FIELDS = (*_MONEY, *_LEARNER, "pilot", "fit", "objective")


def read_form(form: Form, names: Mapping[str, str] | None = None) -> tuple[Asked | None, dict[str, str]]:
    """The question, or None, and an error per wrong field; fields are checked in order, each with those before."""
    stripped = replace(form, **{name: str(getattr(form, name)).strip() for name in FIELDS})
    wrong: dict[str, str] = {}

    def put(study: Study, readers: Mapping[str, Callable[[Form], Settings]]) -> Study:
        for name, reader in readers.items():
            if _OF.get(name) in wrong:
                continue
            try:
                study = Study.from_document(reader(stripped), study)
            except SettingError as error:
                wrong[name] = str(error)
        return study

    plain = papers_learner(put(initial_study(StudyOptions(dataset=stripped.data, learner="descent")), _MONEY))
    study = put(plain, _LEARNER)
    pilot = None
    try:
        pilot = parse.whole(stripped.pilot, "the pilot sample") if stripped.pilot else None
    except SettingError as error:
        wrong["pilot"] = str(error)
    for name, words, known in (("fit", "radius and scale", FITS), ("objective", "the objective", OBJECTIVES)):
        if getattr(stripped, name) not in known:
            wrong[name] = f"{words} is one of {', '.join(known)}"
    if wrong:
        return None, wrong
    fit = stripped.fit == "data" and stripped.data.startswith(OWN_FILES)
    free = tuple(name for name in FITTED if name != "eta" or not stripped.eta)
    return Asked(study, plain, pilot, stripped.objective, fit, free, dict(names or {})), {}
