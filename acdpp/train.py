"""`acdpp train`: run the system, and compare the measured excess risk with the bound."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acdpp import interrupt, parse
from acdpp.fit import fitted
from acdpp.options import AsJson, Logs, Out, Shards, StudyOptions, Verbose, Watch, Workers, takes
from acdpp.output import READING, needed_for, told, users_code
from acdpp.study import refuse_early, show_settings, study_from
from acdpp.summary import tell_summary
from acdpp.watch import Doing, Tell, watched

if TYPE_CHECKING:
    from empirics.settings.study import Study

__all__ = ["ELSEWHERE", "EXAMPLES", "command", "trained"]

EXAMPLES = (
    "Examples: [bold]acdpp train[/bold] (the bundled digits, half a minute) · "
    "[bold]acdpp train --show-config > study.toml[/bold], edit it, then [bold]acdpp train --config study.toml[/bold] · "
    "[bold]acdpp train --preset digits --policies constant --sweep K=1,2,3,5,7,10,14,20,50,100[/bold] · "
    "[bold]acdpp train --dataset npz:mine.npz --cost csv:prices.csv --policies constant,my_module:MyPolicy[/bold] · "
    "[bold]acdpp train --preset paper --data-dir DIR --device cuda --out results/mnist[/bold] · "
    "[bold]acdpp train --seeds 100 --on ray[/bold]"
)
ELSEWHERE = {"--resume": "acdpp resume DIR continues a result"}


@takes(StudyOptions)
def command(
    options: StudyOptions,
    on: Workers = None,
    shards: Shards = None,
    out: Out = None,
    log: Logs = None,
    watch: Watch = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    study = study_from(options, log=None if log is None else log.split(","))
    count = parse.optional(parse.whole, shards, "--shards")
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

    summary, place = trained(
        run_study,
        study,
        out,
        watch=watch,
        quiet=as_json,
        device=options.device,
        data_dir=options.data_dir,
        on=on,
        shards=count,
        validated=True,
    )
    tell_summary(summary, place, verbose=verbose, as_json=as_json)


def trained(
    train: Callable[..., Any],
    study: Study,
    out: Path | None,
    *,
    watch: bool = False,
    quiet: bool,
    on: str | None = None,
    **options: Any,
) -> tuple[Any, Path]:
    """Return what `train` returns, and its folder; progress is shown, and Ctrl-C says how to continue."""
    folder: list[Path] = []
    again = "" if on is None else f" --on {shlex.quote(on)}"

    def begun(place: Path) -> None:
        folder.append(place)
        interrupt.last_words(f"stopped; continue with acdpp resume {shlex.quote(str(place))}{again}")

    shown = watched(study.rounds) if watch else _barred(study.rounds, quiet=quiet)
    with shown as (tell, see, doing), users_code():
        found = train(study, out, on=on, progress=tell, announce=begun, see=see, doing=doing, **options)
    return found, folder[0]


@contextmanager
def _barred(rounds: int, *, quiet: bool) -> Iterator[tuple[Tell, None, Doing]]:
    with told(READING, rounds, quiet=quiet) as update:
        yield (lambda done: update(completed=done)), None, (lambda what: update(description=what))
