"""`acdpp train`: run the system, and compare the measured excess risk with the bound."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from acdpp import interrupt, parse
from acdpp.fit import fitted
from acdpp.options import AsJson, Logs, Out, Resume, StudyOptions, Verbose, in_output, takes
from acdpp.output import READING, needed_for, print_json, told, users_code
from acdpp.study import refuse_early, show_settings, study_from
from acdpp.summary import show_summary
from acdpp.watch import Doing, Tell, watched
from theory.setting import SettingError

if TYPE_CHECKING:
    from empirics.settings.study import Study

__all__ = ["EXAMPLES", "command"]

EXAMPLES = (
    "Examples: [bold]acdpp train[/bold] (the bundled digits, half a minute) · "
    "[bold]acdpp train --show-config > study.toml[/bold], edit it, then [bold]acdpp train --config study.toml[/bold] · "
    "[bold]acdpp train --preset digits --policies constant --sweep K=1,2,3,5,7,10,14,20,50,100[/bold] · "
    "[bold]acdpp train --resume results/best-1 --rounds 2000[/bold] · "
    "[bold]acdpp train --dataset npz:mine.npz --cost csv:prices.csv --policies constant,my_module:MyPolicy[/bold] · "
    "[bold]acdpp train --preset paper --data-dir DIR --device cuda --out results/mnist[/bold] · "
    "[bold]acdpp train --seeds 100 --on ray[/bold]"
)


@takes(StudyOptions)
def command(
    options: StudyOptions,
    on: Annotated[
        str | None,
        in_output(
            metavar="ADDRESS",
            help="Train on Ray: ray for this machine, or a cluster's address, ray://HOST:PORT or HOST:PORT.",
        ),
    ] = None,
    shards: Annotated[
        str | None,
        in_output(
            help="Number of parts, by policy and seed, into which Ray splits the runs; by default one per GPU or core."
        ),
    ] = None,
    out: Out = None,
    log: Logs = None,
    resume: Resume = None,
    watch: Annotated[
        bool,
        in_output("--watch", help="Show curves in the terminal while it runs, or a line per checkpoint."),
    ] = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Train every policy on the same costs and samples, and compare excess risk with the bound."""
    base = None if resume is None else _resumed(resume, options, out)
    study = study_from(options, base, log=None if log is None else log.split(","))
    count = parse.optional(parse.whole, shards, "--shards")
    if resume is None:
        if not options.show_config:  # before a pilot of the data is read
            here = "cpu" if on is not None or options.device is None else options.device
            refuse_early(study, "training", out=out, device=here)
            with needed_for("training"):
                from empirics.shards.trainer import Where
            Where(here, on, count)
        study = fitted(study, options, quiet=as_json)
    if options.show_config:
        show_settings(study)
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
    show = print_json if as_json else partial(show_summary, verbose=verbose)
    show({"result": str(folder[0]), **summary})


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
