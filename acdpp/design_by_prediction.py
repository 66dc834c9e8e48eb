"""`acdpp design --by prediction`: the policy and the learner of least predicted excess risk that a budget can buy."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acdpp import parse
from acdpp.output import say, show_table
from acdpp.predict import WORDS, doing_told, sureness, wholes
from acdpp.study import fitted, needed_for, of_preset, refuse_early, with_error, words_of_the_user
from theory.setting import SettingError

if TYPE_CHECKING:
    from empirics.settings.study import Study

__all__ = ["BUYS", "CHOSEN", "learner", "model", "predicted_design", "show", "step_sizes"]

RISKS = {name: words for name, words in WORDS.values() if name != "noise_floor"}
BUYS = {
    "constant": "the same number of samples in every round, each kept for K rounds",
    "acdpp": "about the same number of samples in every round, more where it is cheap, each kept for K rounds",
    "acdpp-capped": "about the same number of samples in every round, more where it is cheap, each kept for K rounds",
    "released": "as acdpp, with what the authors' code does otherwise",
    "oracle": "all buffers anew in every round",
    "hybrid": "half of the clients at a constant rate, the others once and for all",
    "buy-cheap": "the memory always full; replace samples where it is cheap, old ones at higher prices",
    "buy-cheap-online": "the memory always full; replace samples as savings allow, old ones at higher prices",
    "burst": "all buffers at once where it is cheap, nothing else; keep samples for K rounds, then wait",
    "burst-online": "all buffers at once when so much has been saved; keep samples for K rounds, then wait",
    "taper": "all buffers at once where it is cheap; use the first fillings again and again, later ones once",
    "taper-online": "all buffers at once when so much has been saved; use the first again and again, later ones once",
}
CHOSEN = (
    "the least of many forecasts is rather too good than too bad, and near η = 2/L they were 3 to 11 % low on the "
    "digits: train it before you rely on it"
)


def predicted_design(
    dataset: str | None,
    columns: dict[str, str | None],
    prices: dict[str, Any],
    *,
    buffers: str,
    budget: str,
    law_known: bool,
    data_dir: Path | None,
    pilot: str | None,
    fit: bool | None,
    horizon: int | None,
    eta: str | None,
    steps: str | None,
    objective: str | None,
    out: Path | None,
    quiet: bool,
) -> dict[str, Any]:
    """The design as plain JSON values, for prices as a study has them; `columns` are those of a table.

    What trains it is written to `out`, if given.
    """
    if out is not None and (out.exists() or not out.parent.is_dir()):
        wrong = "is there already" if out.exists() else "is in a folder that there is not"
        raise SettingError(f"--out {out} {wrong}: give the name of a new file, such as best.toml")
    if dataset is None:
        raise SettingError(
            "--by prediction needs the data that is learnt: give --dataset, such as digits or npz:FILE"
        )
    from empirics.settings.policy_name import SETTINGS
    from empirics.settings.study import Study

    size = None if eta is None else float(parse.number(eta, "--eta"))
    if size is not None:
        SETTINGS["eta"]("eta", size)
    given = {
        "dataset": dataset,
        **{f"{role}_column": column for role, column in columns.items()},
        "partition": None if columns["client"] is None else "client",
        "policies": ["constant"],
        "buffers": [
            int(size) if size == int(size) else float(size) for size in parse.numbers(buffers, "--buffers")
        ],
        "budget": float(parse.number(budget, "--budget")),
        "cost": prices,
        "rounds": horizon,
    }
    base = of_preset(None, None, dataset)
    study = Study.from_document({name: value for name, value in given.items() if value is not None}, base)
    number = None if pilot is None else parse.whole(pilot, "--pilot")
    searched = {} if steps is None else {"steps": wholes(steps, "--steps")}
    _refuse_poverty(study, law_known=law_known)
    # of all policies one alone is refused for a budget, and needs the law of prices
    asked = replace(study, policies=("constant", *(["buy-cheap"] if law_known else [])))
    refuse_early(asked, "predicting", "plan")
    with needed_for("predicting"):
        from empirics.planning.plan import design_study

    study = fitted(study, fit, {"eta": eta}, data_dir=data_dir, pilot=number, quiet=quiet)
    with doing_told(quiet=quiet) as tell, words_of_the_user():
        found = design_study(
            study,
            pilot=number,
            objective=objective or "cumulative",
            eta=size,
            law_known=law_known,
            data_dir=data_dir,
            progress=tell,
            validated=True,
            **searched,
        )
    document = found.document()
    return document | {"file": None if out is None else _kept(out, document["toml"])}


def _refuse_poverty(study: Study, *, law_known: bool) -> None:
    """A budget of which nobody can buy anything."""
    from empirics.control.prices import Trace, law_of, make_prices

    prices = make_prices(study.cost)
    if isinstance(prices, Trace):
        lowest = float(prices.values[: study.rounds].min())
    else:
        lowest = float(law_of(prices, study.seed, study.seeds, study.rounds).lowest)
    if study.budget * study.rounds < lowest:
        at = f"prices from {lowest:g} on" if law_known else f"a mean price of {lowest:g}"
        raise SettingError(
            f"a budget of {study.budget:g} a round buys no sample in {study.rounds:,} rounds, at {at}: give a larger "
            "one"
        )


def _kept(out: Path, text: str) -> str | None:
    """Where it was written; a search is not lost where that cannot be."""
    from empirics.files import replace_file

    try:
        replace_file(out, lambda beside: beside.write_text(text, encoding="utf-8"))
    except OSError as error:
        print(f"acdpp: note: {out} cannot be written ({error.strerror})", file=sys.stderr)
        return None
    return str(out)


# --- what is printed ---------------------------------------------------------------------------------------


def show(document: dict[str, Any]) -> None:
    """For people."""
    paper, bound = document["paper"], document["lower_bound"]
    say(f"{document['task']}; T = {document['horizon']:,}")
    kept = "" if document["K"] is None else f", K = {document['K']}"
    say(
        f"the least {WORDS[document['objective']][1]} that this money buys, of {len(document['tried'])} tried:"
    )
    say(f"buy by {document['policy']}{kept}: {BUYS[document['policy']]}")
    say(f"that is {document['rate']:.4g} samples a round for {document['cost']:.4g}")
    say(f"learn with {learner(document)}")
    for name, words in RISKS.items():
        gain = document["gain"][name]
        here, there = (_risk(one, name) for one in (document, paper))
        side = "below" if gain >= 0 else "above"
        say(f"predicted {words}: {here}, {abs(gain):.0%} {side} {there} of the paper's")
    say(f"the paper's: constant admission, K = {paper['K']}, {learner(paper)}")
    say(f"lower bound of the final excess risk: {bound['final_excess_risk']:.4g}, {bound['assumes']}")
    if document["over_lower_bound"] >= 1:
        say(
            f"the final excess risk is {document['over_lower_bound']:.3g} times the lower bound; "
            f"the paper's {paper['over_lower_bound']:.3g} times"
        )
    else:
        say("less than that is predicted: it is for the worst θ*, and of so few samples says nothing here")
    rows = {
        one["name"]: [*(_risk(one, name) for name in RISKS), f"{one['over_lower_bound']:.3g}"]
        for one in document["nearest"]
    }
    show_table("The best of each policy that came near", ["cumulative", "final", "÷ bound"], rows)
    if document["left_out"]:
        left = "; ".join(f"{name} {why}" for name, why in document["left_out"].items())
        say(f"left out: {left}")
    say(f"tried: {document['searched']}")
    for note in document["notes"]:
        say(f"note: {note}")
    say(f"{sureness(document['pilot'])}; {CHOSEN}")
    if file := document.get("file"):
        say(f"\nto train it: acdpp train --config {shlex.quote(file)}", whole=True)
        return
    say(
        "\nto train it, save this as best.toml (or give --out best.toml), and run acdpp train --config best.toml:\n"
    )
    say(document["toml"], whole=True, end="")


def _risk(row: dict[str, Any], name: str) -> str:
    return with_error(row["predicted"][name], (row["error"] or {}).get(name))


def learner(row: Mapping[str, Any]) -> str:
    """The step sizes and the model, in words."""
    return f"{step_sizes(row)}; take {model(row)}"


def step_sizes(row: Mapping[str, Any]) -> str:
    """In words."""
    falls = "" if row["decay"] is None else f", falling as 1/√(1 + t/{row['decay']:.4g})"
    steps = "1 local step" if row["steps"] == 1 else f"{row['steps']} local steps"
    return f"{steps} of size {row['eta']:.4g}{falls}"


def model(row: Mapping[str, Any]) -> str:
    """Which model counts, in words."""
    by = "" if row["average_by"] is None else f" ({row['average_by']:.4g})"
    kinds = {"none": "the last model", "equal": "the mean of all models"}
    return kinds.get(row["average"], f"a running mean of models, {row['average']}{by}")
