"""`acdpp plan`: the policy and the learner of least predicted excess risk within buffers, budget and prices."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from acdpp import parse
from acdpp.fit import fitted, pilot_size
from acdpp.options import AsJson, StudyOptions, in_learner, in_prices, takes
from acdpp.output import needed_for, note, print_json, say, show_table, users_code, with_error
from acdpp.predict import WORDS, doing_told, sureness
from acdpp.study import papers_learner, refuse_early, searched_steps, show_settings, study_from
from theory.setting import SettingError

if TYPE_CHECKING:
    from empirics.settings.study import Study

__all__ = ["BUYS", "CHOSEN", "ELSEWHERE", "EXAMPLES", "command", "learner", "model", "show", "step_sizes"]

EXAMPLES = (
    "Examples: [bold]acdpp plan --objective final[/bold] (the bundled digits, about a minute) · "
    "[bold]acdpp plan --dataset npz:mine.npz --buffers 20,20,30 --budget 55 --cost uniform:1:10 --pilot 200[/bold] · "
    "[bold]acdpp plan --dataset csv:samples.csv --label kind --cost csv:prices.csv,column=price "
    "--out best.toml[/bold], then [bold]acdpp train --config best.toml[/bold]"
)
RISKS = {name: words for name, words in WORDS.values() if name != "noise_floor"}
BUYS = {
    "constant": "the same number of samples in every round, each kept for K rounds",
    "acdpp": "about the same number of samples in every round, more where it is cheap, each kept for K rounds",
    "acdpp-capped": "about the same number of samples in every round, more where it is cheap, each kept for K rounds",
    "released": "as acdpp, with the deviations of the authors' code",
    "oracle": "all buffers anew in every round",
    "hybrid": "half of the clients at a constant rate, the others once and for all",
    "buy-cheap": "the memory always full; replace samples where it is cheap, old ones at higher prices",
    "buy-cheap-online": "the memory always full; replace samples as savings allow, old ones at higher prices",
    "burst": "all buffers at once where it is cheap, nothing else; keep samples for K rounds, then wait",
    "burst-online": "all buffers at once as soon as savings allow; keep samples for K rounds, then wait",
    "taper": "all buffers at once where it is cheap; use the first fillings again and again, later ones once",
    "taper-online": "all buffers at once as soon as savings allow; use the first again and again, later ones once",
}
CHOSEN_INFORMED = "train it before you rely on it"
CHOSEN = (
    "the least of many predictions is optimistically biased: two plans that were trained on the digits were predicted "
    f"5 to 11 % too low; {CHOSEN_INFORMED}"
)
ELSEWHERE = {
    "--horizon": "give --rounds",
    "--mean-cost": "give --cost PRICE --online, where no more is known of prices",
    **{
        f"--{name}": "the plan chooses policy and learner; acdpp predict takes those of your own"
        for name in ("policies", "sweep", "average", "average-by", "decay", "decay-by")
    },
    "--model": "predictions are for logistic regression; acdpp train takes other models",
    "--drift": "the search needs a population that does not drift; acdpp predict --sweep K=1,5,10 compares retentions",
}


class Objective(StrEnum):
    cumulative = "cumulative"
    final = "final"


@takes(StudyOptions, without=ELSEWHERE)
def command(
    options: StudyOptions,
    online: Annotated[
        bool, in_prices("--online", help="Leave out policies that need to know the distribution of prices.")
    ] = False,
    steps: Annotated[
        str | None, in_learner(help="Numbers of local steps E to search; 10,3,1 by default.")
    ] = None,
    objective: Annotated[
        Objective, typer.Option(help="Minimise the excess risk summed over all rounds, or that of the last.")
    ] = Objective.cumulative,
    out: Annotated[
        Path | None, typer.Option(help="New TOML file for acdpp train --config FILE, such as best.toml.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    if out is not None and (out.exists() or not out.parent.is_dir()):
        wrong = "already exists" if out.exists() else "has a parent folder that does not exist"
        raise SettingError(f"--out {out} {wrong}: give the name of a new file, such as best.toml")
    size = parse.optional(parse.decimal, options.eta, "--eta")
    study = papers_learner(study_from(options))
    if size is not None:
        from empirics.settings.policy_name import SETTINGS

        SETTINGS["eta"]("eta", size)
    if options.show_config:
        show_settings(study)
        return
    found = _searched(
        study, options, law_known=not online, steps=steps, eta=size, objective=objective, quiet=as_json
    )
    document = found | {"file": None if out is None else kept(out, found["toml"])}
    (print_json if as_json else show)(document)


def _searched(
    study: Study,
    options: StudyOptions,
    *,
    law_known: bool,
    steps: str | None,
    eta: float | None,
    objective: str,
    quiet: bool,
) -> dict[str, Any]:
    """The plan as plain JSON values."""
    pilot = pilot_size(options)
    taken = searched_steps(study, steps)
    searched = {} if taken is None else {"steps": taken}
    _refuse_poverty(study)
    # buy-cheap is the only policy that refuses a budget, and needs the distribution of prices
    tried = replace(study, policies=("constant", *(["buy-cheap"] if law_known else [])))
    refuse_early(tried, "predicting", "plan", device=options.device or "cpu")
    with needed_for("predicting"):
        from empirics.planning.plan import plan_study

    study = fitted(study, options, quiet=quiet)
    with doing_told(quiet=quiet) as tell, users_code():
        found = plan_study(
            study,
            pilot=pilot,
            objective=objective,
            eta=eta,
            law_known=law_known,
            device=options.device,
            data_dir=options.data_dir,
            progress=tell,
            validated=True,
            **searched,
        )
    return found.document()


def _refuse_poverty(study: Study) -> None:
    """Refuse a budget that buys no sample at any price."""
    from empirics.control.prices import Trace, law_of, make_prices

    prices = make_prices(study.cost)
    if isinstance(prices, Trace):
        lowest = float(prices.values[: study.rounds].min())
    else:
        lowest = float(law_of(prices, study.seed, study.seeds, study.rounds).lowest)
    if study.budget * study.rounds < lowest:
        raise SettingError(
            f"a budget of {study.budget:g} per round buys no sample in {study.rounds:,} rounds, at prices of "
            f"{lowest:g} or more: give a larger budget"
        )


def kept(out: Path, text: str) -> str | None:
    """Write the plan's TOML file and return its name; a file that cannot be written is a note and None."""
    from empirics.files import replace_file

    try:
        replace_file(out, lambda beside: beside.write_text(text, encoding="utf-8"))
    except OSError as error:
        note(f"{out} cannot be written ({error.strerror})")
        return None
    return str(out)


# --- what is printed ---------------------------------------------------------------------------------------


def show(document: dict[str, Any]) -> None:
    paper, bound = document["paper"], document["lower_bound"]
    say(f"{document['task']}; T = {document['horizon']:,}")
    kept = "" if document["K"] is None else f", K = {document['K']}"
    least = f"least predicted {WORDS[document['objective']][1]} within the budget"
    say(f"{least}, of {len(document['tried'])} settings tried:")
    say(f"buy by {document['policy']}{kept}: {BUYS[document['policy']]}")
    say(f"that is {document['rate']:.4g} samples per round for {document['cost']:.4g}")
    say(f"learn with {learner(document)}")
    informed = document["eta"] is None
    other = "constant admission's" if informed else "the paper's"
    for name, words in RISKS.items():
        gain = document["gain"][name]
        here, there = (_risk(one, name) for one in (document, paper))
        side = "below" if gain >= 0 else "above"
        say(f"predicted {words}: {here}, {100 * abs(gain):.0f} % {side} {other} {there}")
    if not informed:
        say(f"the paper's: constant admission, K = {paper['K']}, {learner(paper)}")
    say(f"lower bound of the final excess risk: {bound['final_excess_risk']:.4g}, {bound['assumes']}")
    if document["over_lower_bound"] >= 1:
        say(
            f"the final excess risk is {document['over_lower_bound']:.3g} times the lower bound; "
            f"{other} {paper['over_lower_bound']:.3g} times"
        )
    else:
        say(
            "the prediction is below it: the bound is for the worst θ* in ℝᵈ, loose on a ball for few samples, or the "
            "prediction is too low"
        )
    rows = {
        one["name"]: [*(_risk(one, name) for name in RISKS), f"{one['over_lower_bound']:.3g}"]
        for one in document["nearest"]
    }
    show_table("The best of each policy that came near", ["cumulative", "final", "÷ bound"], rows)
    if document["left_out"]:
        left = "; ".join(f"{name} {why}" for name, why in document["left_out"].items())
        say(f"left out: {left}")
    say(f"tried: {document['searched']}")
    for words in document["notes"]:
        say(f"note: {words}")
    say(f"{sureness(document['pilot'], measured=not informed)}; {CHOSEN_INFORMED if informed else CHOSEN}")
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
    if row["eta"] is None:
        return "a server that adds up gradient and curvature"
    return f"{step_sizes(row)}; take {model(row)}"


def step_sizes(row: Mapping[str, Any]) -> str:
    """The local steps, in words."""
    falls = "" if row["decay"] is None else f", falling as 1/√(1 + t/{row['decay']:.4g})"
    steps = "1 local step" if row["steps"] == 1 else f"{row['steps']} local steps"
    return f"{steps} of size {row['eta']:.4g}{falls}"


def model(row: Mapping[str, Any]) -> str:
    """The model that counts, in words."""
    by = "" if row["average_by"] is None else f" ({row['average_by']:.4g})"
    kinds = {"none": "the last model", "equal": "the mean of all models"}
    return kinds.get(row["average"], f"a running mean of models, {row['average']}{by}")
