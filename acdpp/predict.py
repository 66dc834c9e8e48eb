"""`acdpp predict`: the learning curve of every policy without training, and the best settings."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any

import typer

from acdpp.fit import fitted, pilot_size
from acdpp.options import AsJson, StudyOptions, takes
from acdpp.output import READING, needed_for, print_json, say, show_table, told, users_code, with_error
from acdpp.study import refuse_early, searched_steps, show_settings, study_from
from theory.setting import SettingError

__all__ = ["ELSEWHERE", "EXAMPLES", "WORDS", "command", "doing_told", "show_drift", "show_prediction"]
__all__ += ["sureness"]

EXAMPLES = (
    "Examples: [bold]acdpp predict[/bold] (the bundled digits) · "
    "[bold]acdpp predict --dataset npz:mine.npz --pilot 200[/bold] · "
    "[bold]acdpp predict --learner descent --dataset csv:mine.csv --label bought --time when[/bold] (how long to keep "
    "samples) · "
    "[bold]acdpp predict --learner descent --rounds 1e5 --steps 1,5,10[/bold] · "
    "[bold]acdpp predict --learner descent --policies constant --sweep K=1,2,5,10,20 --no-best --out curves.csv[/bold]"
)
INSENSITIVE_SHARE_MAX = 0.02  # relative change of the risk up to which K hardly matters
ELSEWHERE = {"--model": "predictions are for logistic regression; acdpp train takes other models"}
UNEVEN_RATIO_MIN = 2  # of the time that samples take, over that of evenly arriving samples
UNITS = ((86400, "days"), (3600, "hours"), (60, "minutes"))
WORDS = {
    "cumulative": ("cumulative_excess_risk", "cumulative excess risk"),
    "final": ("final_excess_risk", "final excess risk"),
    "floor": ("noise_floor", "noise floor"),
}


class Objective(StrEnum):
    cumulative = "cumulative"
    final = "final"
    floor = "floor"


@takes(StudyOptions, without=ELSEWHERE)
def command(
    options: StudyOptions,
    best: Annotated[
        bool,
        typer.Option(
            "--best/--no-best",
            help="Search the best K, rate and step size, by --objective and --steps, or search nothing.",
        ),
    ] = True,
    objective: Annotated[
        Objective,
        typer.Option(
            help="Minimise the excess risk summed over all rounds, that of the last round, or the noise floor, for "
            "which only K is searched."
        ),
    ] = Objective.cumulative,
    steps: Annotated[
        str | None, typer.Option(help="Local steps E to search besides the study's own, such as 1,5,10.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="New folder for curves and prediction.json, or a new FILE.csv or FILE.parquet."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    study, size = study_from(options), pilot_size(options)
    more = searched_steps(study, steps) or ()
    if study.learner == "information" and objective is not Objective.cumulative:
        raise SettingError(
            "--objective is for the search of local descent: leave it out, or add --learner descent"
        )
    if options.show_config:
        show_settings(fitted(study, options, quiet=as_json))
        return
    refuse_early(study, "predicting", "predict", out=out, device=options.device or "cpu")
    with needed_for("predicting"):
        from empirics.predict import predict_study

    study = fitted(study, options, quiet=as_json)
    with doing_told(quiet=as_json) as tell, users_code():
        found = predict_study(
            study,
            out,
            pilot=size,
            best=best,
            objective=objective.value,
            search_steps=more,
            device=options.device,
            data_dir=options.data_dir,
            progress=tell,
            validated=True,
        )
    document = found.document()
    (print_json if as_json else show_prediction)(document)
    if out is not None and not as_json:
        say(f"curves: {out}", whole=True)


@contextmanager
def doing_told(*, quiet: bool) -> Iterator[Callable[[str, int, int | None], None]]:
    """Progress that takes a description, how much is done, and the total; `quiet` shows none on a terminal."""
    with told(READING, None, quiet=quiet) as update:
        yield lambda doing, done, of: update(description=doing, completed=done, total=of)


# --- what is printed ---------------------------------------------------------------------------------------


def show_prediction(document: dict[str, Any]) -> None:
    """Print the prediction of every policy, and the best settings."""
    say(f"{document['task']}; {document['rounds']:,} rounds")

    def cells(row: dict[str, Any]) -> list[str]:
        error = row["error"] or {}
        numbers = [with_error(row[name], error.get(name)) for name, _ in WORDS.values()]
        return [f"{row['rate']:.4g}", *numbers, f"{row['path_share']:.0%}"]

    show_table(
        "Predicted excess population risk",
        ["rate", "cumulative", "final", "noise floor", "path"],
        {name: cells(row) for name, row in document["policies"].items()},
    )
    say("path: share of the mean path in the cumulative excess risk, without the noise around it")
    if document["best"] is not None:
        _show_best(document)
    if document["drift"] is not None:
        show_drift(document["drift"], document["rounds"])
    for note in document["notes"]:
        say(f"note: {note}")
    say(sureness(document["pilot"], measured=document["learner"] == "descent"))


def _show_best(document: dict[str, Any]) -> None:
    best, own, (name, words) = document["best"], document["best"]["own"], WORDS[document["objective"]]
    error, gain, spread = (best["error"] or {}).get(name), 100 * best["gain"], best["gain_error"]
    say(f"best constant admission: {_setting(best)}")
    share = f"{abs(gain):.0f} %" if not spread else f"{abs(gain):.0f} ± {max(100 * spread, 1):.0f} %"
    say(
        f"its {words}: {with_error(best['predicted'][name], error)}, {share} {'below' if gain >= 0 else 'above'} "
        "the study's own constant admission"
    )
    say(f"the study's own: {_setting(own)}: {own['predicted'][name]:.4g}")
    alike = [one for one in best["tried"] if (one["eta"], one["steps"]) == (best["eta"], best["steps"])]
    values = [one[document["objective"]] for one in alike if one[document["objective"]] is not None]
    if len(values) > 1 and max(values) < (1 + INSENSITIVE_SHARE_MAX) * min(values):
        spread = max(values) / min(values) - 1
        say(f"K hardly matters: from {_from_to(alike)} the risk changes by {100 * spread:.1f} % at most")


def show_drift(drift: dict[str, Any], rounds: int) -> None:
    """Print the estimated drift and how long to keep samples."""
    if drift["q"] is None:
        say(f"drift: {drift['why']}")
        return
    (low, high), (shortest, longest) = drift["interval"], drift["K_interval"]
    say(
        f"drift: q = {drift['q']:.2g} of a sample's variance per round, 95 % confidence interval [{low:.2g}, "
        f"{high:.2g}], from {drift['samples']:,} samples; a round is 1/{rounds:,} of the time span"
    )
    directions = drift["directions"]
    if directions["moving"] < directions["of"] / 2:
        say(f"about {directions['moving']:.0f} of {directions['of']} directions seem to drift")
    if not drift["told"]:
        say(f"not significantly different from no drift, nor from {high:.2g}: more samples would narrow it")
    own, *others = drift["choices"]
    kept = "1 round" if own["K"] == 1 else f"{own['K']} rounds"
    lasts = drift["takes"][0], drift["takes_by_count"]
    takes, median = (_lasting(one, dated=drift["dated"]) for one in lasts)
    say(
        f"for this study, with η = {own['eta']:.4g} and {own['rate']:.4g} of {drift['come_by']:.4g} arriving samples "
        f"per round: keep samples for K = {kept}, about {takes}, confidence interval [{shortest}, {longest}]"
    )
    if not 1 / UNEVEN_RATIO_MIN <= drift["takes_by_count"] / drift["takes"][0] <= UNEVEN_RATIO_MIN:
        say(
            "samples arrived unevenly: in rounds of equally many samples, as with --drift order, the median is "
            f"about {median}"
        )
    tried, at = drift["tried"], [one["K"] for one in drift["tried"]].index(own["K"])
    below, above = (
        [*takewhile(lambda one: one["risk"] < (1 + INSENSITIVE_SHARE_MAX) * own["risk"], part)]
        for part in (tried[:at][::-1], tried[at:])
    )
    near = below[::-1] + above
    if len(near) > 1:
        share = f"{100 * INSENSITIVE_SHARE_MAX:.0f} %"
        say(f"{_from_to(near)} hardly differ: their predicted risks are within {share} of the least")
    walk = "if the optimum takes random steps of size q"
    say(f"predicted mean excess risk over the rounds, {walk}: {own['risk']:.3g}")
    for one in others:
        say(f"{one['name']}, K = {one['K']} with η = {one['eta']:.4g}: {one['risk']:.3g}")
    say("the predictions above assume no drift")


def _lasting(amount: float, *, dated: bool) -> str:
    """A duration in words; between dates, in the largest unit of which there are two or more."""
    if not dated:
        return f"{amount:.3g} units of the time column"
    size, unit = next(((n, unit) for n, unit in UNITS if amount >= 2 * n), (1, "seconds"))
    return f"{amount / size:.3g} {unit}"


def _from_to(tried: list[dict[str, Any]]) -> str:
    """The range of K, in words."""
    return f"K = {min(one['K'] for one in tried)} to {max(one['K'] for one in tried)}"


def _setting(found: dict[str, Any]) -> str:
    return f"K = {found['K']}, {found['rate']:.4g} samples per round, η = {found['eta']:.4g}, E = {found['steps']}"


def sureness(pilot: int | None, *, measured: bool = True) -> str:
    """The accuracy of a prediction, in words; `measured` where recorded studies have shown it."""
    law = (
        "without a note, cumulative risk was within a tenth of the measured in 95 % of recorded cases, final risk 0.5 "
        "to 1.7 times it (docs/predict.md)"
        if measured
        else "how near it comes was measured for local descent alone"
    )
    if pilot is None:
        paths = "standard errors are over paths of prices, and over samples of a large population"
        return f"curvature and noise are exact for the whole data set; {paths}; {law}"
    return (
        f"± is the jackknife standard error from {pilot:,} samples, and over paths of prices; it excludes the upward "
        f"bias of a pilot sample with noisy labels; {law}"
    )
