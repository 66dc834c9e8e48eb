"""What is typed into the page, as a study; of each field that is wrong, one sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from acdpp import parse
from acdpp.study import of_preset
from empirics.settings.policy_name import AVERAGES, PolicyName, listed
from empirics.settings.presets import PRESETS
from empirics.settings.study import Study
from theory.setting import SettingError

__all__ = ["AVERAGES", "FIELDS", "OBJECTIVES", "Asked", "Form", "first_form", "read_form"]

LAWS = ("uniform", "integer", "markov", "drifting")
OBJECTIVES = ("cumulative", "final")
Settings = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Form:
    """The fields of the page, word for word as they were typed; an empty one may mean that there is none."""

    data: str
    label: str = ""
    time: str = ""
    client: str = ""
    pilot: str = ""
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
    """What a form asks for.

    `study` has the policies and the learner that were typed, and `plain` those of the preset: the search for the best
    begins there. `names` has the name that a dropped file had where it came from, by where it lies now.
    """

    study: Study
    plain: Study
    pilot: int | None
    objective: str
    names: Mapping[str, str] = field(default_factory=dict)


def first_form() -> Form:
    """The paper's setting on the digits, with the learner and the first policy of the preset `best`."""
    best = PRESETS["best"]
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


# --- a field at a time -------------------------------------------------------------------------------------


def _optional(name: str, value: str, convert: Callable[[str], Any]) -> Settings:
    return {name: convert(value)} if value else {}


def _buffers(form: Form) -> Settings:
    sizes = parse.numbers(form.buffers, "buffers")
    return {"buffers": [int(size) if size == int(size) else float(size) for size in sizes]}


def _prices(form: Form) -> Settings:
    if form.price_file:
        return {}
    kind, low, high = parse.prices(form.prices, LAWS, "prices")
    return {"cost": {"process": kind, "low": float(low), "high": float(high)}}


def _price_file(form: Form) -> Settings:
    if not form.price_file:
        return {}
    if not Path(form.price_file).is_file():
        raise SettingError(
            f"there is no file {parse.shortened(form.price_file)}: drop one here, or leave it out"
        )
    return {"cost": {"process": "trace", "file": form.price_file}}


def _price_column(form: Form) -> Settings:
    if form.price_column and not form.price_file:
        raise SettingError("this names a column of a file with prices: give that too, or leave it out")
    return {"cost": {"column": form.price_column}} if form.price_column else {}


def _policies(form: Form) -> Settings:
    names = listed(form.policies)
    known = [PolicyName(name) for name in names]
    if other := [name for name in known if name.settings is None]:
        raise SettingError(
            f"{parse.shortened(str(other[0]))} is no policy of ours: take some of {', '.join(_predictable())}"
        )
    return {"policies": names}


def _predictable() -> list[str]:
    from empirics.control.registry import BUILT_IN

    return list(BUILT_IN)


def _number(name: str) -> Callable[[str], float]:
    return lambda text: float(parse.number(text, name))


_MONEY: dict[str, Callable[[Form], Settings]] = {
    "data": lambda form: {"dataset": form.data},
    "label": lambda form: _optional("label_column", form.label, str),
    "time": lambda form: _optional("time_column", form.time, str),
    "client": lambda form: {"client_column": form.client, "partition": "client"} if form.client else {},
    "buffers": _buffers,
    "budget": lambda form: {"budget": float(parse.number(form.budget, "budget"))},
    "prices": _prices,
    "price_file": _price_file,
    "price_column": _price_column,
    "rounds": lambda form: {"rounds": parse.whole(form.rounds, "rounds")},
}
_LEARNER: dict[str, Callable[[Form], Settings]] = {
    "policies": _policies,
    "K": lambda form: _optional("K", form.K, lambda text: parse.whole(text, "K")),
    "eta": lambda form: {"eta": float(parse.number(form.eta, "eta"))},
    "steps": lambda form: {"steps": parse.whole(form.steps, "steps")},
    "decay": lambda form: _optional("decay", form.decay, _number("decay")),
    "average": lambda form: {"average": form.average},
    "average_by": lambda form: _optional("average_by", form.average_by, _number("average_by")),
}
_OF = {  # fields that say more of another, and say nothing where that is wrong
    **dict.fromkeys(("label", "time", "client"), "data"),
    "price_column": "price_file",
    "average_by": "average",
}
FIELDS = (*_MONEY, *_LEARNER, "pilot", "objective")


def read_form(form: Form, names: Mapping[str, str] | None = None) -> tuple[Asked | None, dict[str, str]]:
    """What is asked for, and by field what is wrong; nothing is asked for where something is.

    A setting that fits by itself and not beside those above it is wrong too.
    """
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

    plain = put(replace(of_preset(None, None, stripped.data), policies=("constant",)), _MONEY)
    study = put(plain, _LEARNER)
    pilot = None
    try:
        pilot = parse.whole(stripped.pilot, "the pilot sample") if stripped.pilot else None
    except SettingError as error:
        wrong["pilot"] = str(error)
    if stripped.objective not in OBJECTIVES:
        wrong["objective"] = f"the objective is one of {', '.join(OBJECTIVES)}"
    if wrong:
        return None, wrong
    return Asked(study, plain, pilot, stripped.objective, dict(names or {})), {}
