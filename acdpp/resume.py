"""`acdpp resume`: continue a result where it stopped, extend it to more rounds, or show it again."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from acdpp import federate, parse
from acdpp.options import AsJson, DataDir, Device, Shards, ShowConfig, Verbose, Watch, Workers
from acdpp.output import needed_for
from acdpp.reproduce import tell
from acdpp.study import show_settings
from acdpp.summary import tell_summary
from acdpp.train import trained
from theory.setting import SettingError

__all__ = ["EXAMPLES", "command"]

EXAMPLES = (
    "Examples: [bold]acdpp resume results/best-1[/bold] · [bold]acdpp resume results/best-1 --rounds 2000[/bold] · "
    "[bold]acdpp resume results/many --on ray --verbose[/bold]"
)


def command(
    result: Annotated[Path, typer.Argument(help="Result folder of acdpp train, reproduce or federate.")],
    rounds: Annotated[str | None, typer.Option(help="Extend the study to this number of rounds.")] = None,
    on: Workers = None,
    shards: Shards = None,
    device: Device = None,
    data_dir: DataDir = None,
    watch: Watch = False,
    verbose: Verbose = False,
    show_config: ShowConfig = False,
    as_json: AsJson = False,
) -> None:
    with needed_for("training"):
        from empirics.reproduce import reproduce
        from empirics.results.folder import read_settings
        from empirics.run import run_study
        from empirics.settings.section7 import is_reproduction
        from empirics.settings.study import Study

    settings, count = read_settings(result), parse.optional(parse.whole, shards, "--shards")
    study = Study.from_document(settings["study"])
    study = replace(study, rounds=parse.optional(parse.whole, rounds, "--rounds") or study.rounds)
    if show_config:
        show_settings(study)
        return
    if "federation" in settings:
        if rounds or on or device or watch:
            raise SettingError(
                "a federation continues as it began: leave out --rounds, --on, --device and --watch"
            )
        federate.run(study, result, data_dir=data_dir, resume=True, verbose=verbose, as_json=as_json)
        return
    anew = is_reproduction(study)
    found, place = trained(
        reproduce if anew else run_study,
        study,
        result,
        watch=watch,
        quiet=as_json,
        on=on,
        shards=count,
        device=device,
        data_dir=data_dir,
        resume=True,
    )
    if anew:
        tell(found, place, as_json=as_json)
    else:
        tell_summary(found, place, verbose=verbose, as_json=as_json)
