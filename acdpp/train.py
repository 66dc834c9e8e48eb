"""`acdpp train`: run the system, and set the measured excess risk against the bound."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from acdpp import interrupt, parse
from acdpp.fit import fitted
from acdpp.options import AsJson, Logs, Out, StudyOptions, Verbose, takes
from acdpp.output import READING, needed_for, print_json, say, show_table, told, users_code, with_error
from acdpp.study import refuse_early, study_from
from acdpp.watch import Doing, Tell, watched
from theory.setting import SettingError

if TYPE_CHECKING:
    from empirics.settings.study import Study

__all__ = ["EXAMPLES", "command", "show_summary"]

EXAMPLES = (
    "Examples: [bold]acdpp train[/bold] (the bundled digits, half a minute) · "
    "[bold]acdpp train --show-config > study.toml[/bold], edit it, then [bold]acdpp train --config study.toml[/bold] · "
    "[bold]acdpp train --preset digits --policies constant --sweep K=1,2,3,5,7,10,14,20,50,100[/bold] · "
    "[bold]acdpp train --resume results/best-1 --rounds 2000[/bold] · "
    "[bold]acdpp train --dataset npz:mine.npz --cost-trace prices.csv --policies constant,my_module:MyPolicy[/bold] · "
    "[bold]acdpp train --preset paper --data-dir DIR --device cuda --out results/mnist[/bold] · "
    "[bold]acdpp train --seeds 100 --on ray[/bold]"
)
CUMULATIVE = "cumulative_excess_risk"
TRAIN = "acdpp train"
FEW = 2  # policies by name, of those that are not told from the best
SHOWN = 10  # pairs of policies by name, of a ranking


@takes(StudyOptions)
def command(
    options: StudyOptions,
    on: Annotated[
        str | None,
        typer.Option(
            rich_help_panel="Output",
            metavar="ADDRESS",
            help="Train on Ray: ray for this machine, or a cluster's address, ray://HOST:PORT or HOST:PORT.",
        ),
    ] = None,
    shards: Annotated[
        str | None,
        typer.Option(
            rich_help_panel="Output",
            help="Number of parts, by policy and seed, into which Ray splits the runs; by default one per GPU or core.",
        ),
    ] = None,
    out: Out = None,
    log: Logs = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel="Output",
            help="Continue the result in this folder with its own settings; --rounds may extend it.",
        ),
    ] = None,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch",
            rich_help_panel="Output",
            help="Show curves in the terminal while it runs, or a line per checkpoint.",
        ),
    ] = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Train every policy on the same costs and samples, and compare excess risk with the bound."""
    from empirics.settings.toml import toml

    base = None if resume is None else _resumed(resume, options, out)
    study = study_from(options, base, log=None if log is None else log.split(","))
    count = None if shards is None else parse.whole(shards, "--shards")
    if resume is None:
        if not options.show_config:  # before a pilot of the data is read
            here = "cpu" if on is not None or options.device is None else options.device
            refuse_early(study, "training", out=out, device=here)
            with needed_for("training"):
                from empirics.shards.trainer import Where
            Where(here, on, count)
        study = fitted(study, options, quiet=as_json)
    if options.show_config:
        say(toml(study), whole=True, end="")
        return
    with needed_for("training"):
        from empirics.run import run_study

    folder: list[Path] = []
    again = "" if on is None else f" --on {shlex.quote(on)}"

    def begun(place: Path) -> None:
        folder.append(place)
        interrupt.last_words(f"stopped; continue with acdpp train --resume {shlex.quote(str(place))}{again}")

    shown = watched(study.rounds) if watch else _barred(study.rounds, quiet=as_json)
    with shown as (tell, see, doing), users_code():
        summary = run_study(
            study,
            out if resume is None else resume,
            device=options.device,
            data_dir=options.data_dir,
            resume=resume is not None,
            on=on,
            shards=count,
            progress=tell,
            announce=begun,
            see=see,
            doing=doing,
            validated=True,
        )
    document = {"result": str(folder[0]), **summary}
    if as_json:
        print_json(document)
    else:
        show_summary(document, verbose=verbose)


def _resumed(folder: Path, options: StudyOptions, out: Path | None) -> Study:
    """The study of a result that is continued; options that only have a meaning before round 1 are refused."""
    first = ("--preset", "--config", "--sweep", "--fit", "--eta", "--radius", "--pilot")
    fixed = [name for name in options.given() if name in first] + ([] if out is None else ["--out"])
    if fixed:
        raise SettingError(f"--resume takes folder and settings from DIR: leave out {', '.join(fixed)}")
    with needed_for("training"):
        from empirics.run import study_of

    return study_of(folder)


@contextmanager
def _barred(rounds: int, *, quiet: bool) -> Iterator[tuple[Tell, None, Doing]]:
    with told(READING, rounds, quiet=quiet) as update:
        yield (lambda done: update(completed=done)), None, (lambda what: update(description=what))


# --- the summary -------------------------------------------------------------------------------------------


def _pm(value: dict[str, float | None]) -> str:
    return with_error(value["mean"], value["error"])


def _count(value: float | None, unbounded: str = "∞") -> str:
    if value is None:
        return unbounded
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def show_summary(document: dict[str, Any], command: str = TRAIN, *, verbose: bool = False) -> None:
    """The answer in five lines; `verbose`, all that a study's summary says, as tables; how to take the model away."""
    result = document["result"]
    best = _show_answer(document)
    for name, row in document["policies"].items():
        if lost := row.get("diverged"):
            say(f"diverged: {lost} of {document['seeds']} runs of {name}, which then has no mean")
    if verbose:
        _show_all(document)
        say(f"result: {result}", whole=True)
    else:
        again = f"{command} --resume {shlex.quote(result)} --verbose"
        say(f"result: {result}; for all of it: {again}", whole=True)
    if best is not None and command == TRAIN:
        which = "" if len(document["policies"]) == 1 else f" --policy {shlex.quote(best)}"
        say(f"its model: acdpp export {shlex.quote(result)}{which} --out model.pt", whole=True)


def _show_answer(document: dict[str, Any]) -> str | None:
    """Which policy is best, by how much, whether that is certain, and what it cost: a line each; and its name."""
    from empirics.results.best_policy import ACCURACY, LOSS, RISK, answer

    policies, found = document["policies"], answer(document)
    if found is None:
        return None
    best, words = policies[found.best], found.measure.replace("_", " ")
    if found.measure == LOSS:
        words = "mean loss before training"
    own = best[found.measure]
    which = "best at about the budget" if found.alone else "best" if len(policies) > 1 else "trained"
    beside = f" (test accuracy {_pm(best['final_accuracy'])})" if found.measure == RISK else ""
    say(f"{which}: {found.best}{beside}")
    if found.next is None:
        predicted = best.get("predicted")
        say(f"{words}: {_pm(own)}" + (f", predicted {predicted[found.measure]:.4g}" if predicted else ""))
    else:
        other = policies[found.next][found.measure]
        if found.measure == RISK:
            by = f"{1 - own['mean'] / other['mean']:.1%} below" if other["mean"] > 0 else "below"
        else:
            side = "above" if found.measure == ACCURACY else "below"
            by = f"{abs(own['mean'] - other['mean']):.4f} {side}"
        say(f"{words}: {_pm(own)}, {by} {found.next} ({_pm(other)})")
        say(_certainty(found, document["seeds"]))
    cost, budget = best["mean_cost"]["mean"], document["budget"]
    beyond = ""
    if found.beyond is not None:
        row = policies[found.beyond]
        beyond = f"; {found.beyond} ({_pm(row[found.measure])}) cost {row['mean_cost']['mean']:.4g}"
    say(f"cost: {cost:.4g} a round, of a budget of {budget:g}{beyond}")
    return found.best


def _certainty(found: Any, seeds: int) -> str:
    if seeds == 1:
        return "certain? one seed does not tell"
    by, unsure = f"at the 5 % level, {seeds} seeds", found.undecided
    if not unsure:
        return f"certain? yes, told from {'all others' if found.compared > 1 else 'the other'} {by}"
    shown = ", ".join(unsure) if len(unsure) <= FEW else f"{len(unsure)} of {found.compared} others"
    return f"certain? not told from {shown} {by}"


def _show_all(document: dict[str, Any]) -> None:
    """The tables, and what else a summary says."""
    policies = document["policies"]
    say(f"{document['task']}; {document['rounds']:,} rounds")
    say(f"mean ± standard error {document['intervals']}")
    measured = "least_risk" in document
    if measured:
        _show_risk(document)
    show_table(
        "Accuracy and constraints",
        ["test accuracy", f"cost (of {document['budget']:g})", "buffer violation", "most held"],
        {
            name: [
                _pm(row["final_accuracy"]),
                f"{row['mean_cost']['mean']:.4g}",
                _count(row["buffer_violation"]),
                str(row["largest_occupancy"]),
            ]
            for name, row in policies.items()
        },
    )
    if all("mean_risk" in row for row in policies.values()):
        show_table(
            "The model of each round on the population, or the samples, of that round, before it trains",
            ["mean loss", "mean accuracy"],
            {
                name: [_pm(row["mean_risk"]), _pm(row["mean_accuracy"]) if "mean_accuracy" in row else "–"]
                for name, row in policies.items()
            },
        )
    if all("mismatch" in row for row in policies.values()):
        _show_mismatch(policies)
    if measured:
        _show_ranking(document["ranking"])
    _show_gaps(document["gap_closed"])
    if document["nominal_constants"]:
        say(f"nominal constants, not derived from the problem: {', '.join(document['nominal_constants'])}")
    for reason in document["outside_the_hypotheses"]:
        say(f"outside the hypotheses of the corrected bound: {reason}")


def _show_risk(document: dict[str, Any]) -> None:
    policies, reason = document["policies"], document.get("not_predicted")
    predicted = all(row.get("predicted") for row in policies.values())

    def cells(row: dict[str, Any]) -> list[str]:
        found = [_pm(row["final_excess_risk"]), _pm(row["cumulative_excess_risk"])]
        known = row["cumulative_excess_risk"]["mean"] is not None and row["bound_corrected"] is not None
        unbounded = "∞" if known else "–"
        if predicted:
            ratio = row["predicted_over_measured"]
            found += [
                f"{row['predicted'][CUMULATIVE]:.4g}",
                unbounded if ratio is None else f"{ratio:.2f}",
            ]
        else:
            found.append(_count(row["bound_stated"], "–"))
        return [
            *found,
            _count(row["bound_corrected"], "–"),
            _count(row["corrected_over_measured"], unbounded),
        ]

    title = "Excess population risk, and Theorem 1; ÷ is over the measured cumulative one"
    # as narrow as can be: a long name has to fit as well
    between = ["predicted", "÷", "bound"] if predicted else ["stated", "corrected"]
    headings = ["final", "cumulative", *between, "÷"]
    show_table(title, headings, {name: cells(row) for name, row in policies.items()})
    last = {name: row[f"last_{CUMULATIVE}"] for name, row in policies.items() if f"last_{CUMULATIVE}" in row}
    if last:
        shown = ", ".join(f"{name} {_pm(value)}" for name, value in last.items())
        say(f"the model is a mean; of last iterates, cumulative: {shown}")
    if reason is not None:
        say(f"not predicted: {reason}")
    unsure = {name: row["predicted_error"] for name, row in policies.items() if row.get("predicted_error")}
    if unsure:
        most = max(
            error[CUMULATIVE] / policies[name]["predicted"][CUMULATIVE] for name, error in unsure.items()
        )
        say(
            f"of the prediction: from some paths of prices, or samples, alone, which is an error of {most:.1%} at most"
        )
    if bound := document.get("lower_bound"):
        least = bound["final_excess_risk"]
        say(
            f"for this budget nobody guarantees a final one below {least:.3g} (quadratic losses, Gaussian samples)"
        )
    for note in document.get("prediction_notes", ()):
        say(f"of the prediction: {note}")


def _show_ranking(ranking: dict[str, Any]) -> None:
    def pairs(entries: list[list[str]]) -> str:
        more = [f"{len(entries) - SHOWN} more"] if len(entries) > SHOWN else []
        return ", ".join([" and ".join(pair) for pair in entries[:SHOWN]] + more)

    say(f"measured, best first: {', '.join(ranking['measured'])}")
    decided = ranking["decided_pairs"]
    if not decided:
        say("no two policies are told apart at the 5 % level: there is no ranking to hold the bounds against")
        return
    if ranking["undecided"]:
        say(f"not told apart at the 5 % level: {pairs(ranking['undecided'])}")
    if "corrected_disagrees_on" not in ranking:
        say("no bound ranks them: bounds are of last iterates, steps of one size and rounds that all train")
        return
    for form in ("corrected", "stated"):
        wrong = ranking[f"{form}_disagrees_on"]
        if wrong:
            say(f"the {form} bound ranks {', '.join(ranking[form])}: wrong on {pairs(wrong)}")
        else:
            told = f"all {decided} pairs" if decided > 1 else "the one pair"
            say(f"the {form} bound ranks {told} told apart, of {ranking['pairs']}, as measured")


def _show_gaps(gaps: dict[str, Any]) -> None:
    """How far the policies get from constant admission to the oracle."""
    for measure, shares in gaps.items():
        if shares:
            shown = [
                f"{name} {one['share']:.0%} ({one['low']:.0%} to {one['high']:.0%})"
                for name, one in shares.items()
            ]
            words = measure.replace("_", " ")
            say(f"of the gap in {words} between constant and oracle: {', '.join(shown)}")


def _show_mismatch(policies: dict[str, dict[str, Any]]) -> None:
    def spans(stretches: list[list[int]]) -> str:
        shown = [f"{a}-{b}" if b > a else str(a) for a, b in stretches]
        return ", ".join(shown if len(shown) <= 3 else [*shown[:3], "…"]) or "none"

    def cells(row: dict[str, Any], unbounded: str) -> list[str]:
        ratios = (row[name] for name in ("over_chi", "over_stated", "over_stated_early"))
        chi, stated, early = (unbounded if one is None else f"{one:.2f}" for one in ratios)
        return [chi, stated, f"{early} (t ≤ {row['early_rounds']})", spans(row["above_stated"])]

    show_table(
        "Measured gradient mismatch over variance x χ, and over the paper's 1/n - 1/N_eff",
        ["χ", "stated", "stated, early", "above σ² x stated in rounds"],
        {name: cells(row["mismatch"], "–" if row.get("diverged") else "∞") for name, row in policies.items()},
    )
