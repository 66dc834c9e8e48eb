"""`acdpp deploy`: a federation's study as a Flower app for machines of your own."""

from pathlib import Path
from typing import Annotated

from acdpp.federate import ON_ONE_SERVER, FederationOptions, federated_study
from acdpp.fit import fitted
from acdpp.options import in_output, takes
from acdpp.output import say
from acdpp.study import refuse_early, show_settings

__all__ = ["ELSEWHERE", "EXAMPLES", "command"]

EXAMPLES = "Example: [bold]acdpp deploy --config study.toml --out app[/bold], then read app/README.md"
ELSEWHERE = ON_ONE_SERVER


@takes(FederationOptions, without=ON_ONE_SERVER)
def command(
    options: FederationOptions,
    out: Annotated[Path, in_output(help="New folder for the app and its README.")] = Path("app"),
) -> None:
    study, patience = federated_study(options), options.patience_seconds
    from empirics.federation.app_folder import ROUND_WAIT_SECONDS, refuse_full, write_app

    if (
        not options.show_config
    ):  # before a pilot of the data is read; without --fit data lie on other machines
        refuse_early(study, "training", "federate", files_here=bool(options.fit))
        refuse_full(out)
    if options.fit:
        study = fitted(study, options)
    if options.show_config:
        show_settings(study)
        return
    data_dir = str(options.data_dir or "")
    write_app(out, study, data_dir=data_dir, patience=ROUND_WAIT_SECONDS if patience is None else patience)
    say(f"Flower app written; instructions: {out / 'README.md'}", whole=True)
