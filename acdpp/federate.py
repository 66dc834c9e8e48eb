"""`acdpp federate`: run a study as a federation of processes, or export it for your own machines."""

from __future__ import annotations

import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from acdpp import interrupt, parse
from acdpp.fit import fitted
from acdpp.options import AsJson, Logs, Out, Resume, StudyOptions, Verbose, in_output, in_study, takes
from acdpp.output import needed_for, print_json, rounds_told, say, users_code
from acdpp.study import initial_study, refuse_early, show_settings, study_from
from acdpp.summary import show_summary
from theory.setting import SettingError

if TYPE_CHECKING:
    from empirics.settings.study import Study

__all__ = ["ELSEWHERE", "EXAMPLES", "command"]

EXAMPLES = (
    "Examples: [bold]acdpp federate[/bold] (three clients, ten rounds, on this machine) · "
    "[bold]acdpp federate --policy buy-cheap-online --clients 3 --rounds 5 --out results/try[/bold] · "
    "[bold]acdpp federate --resume results/try[/bold] · "
    "[bold]acdpp federate --simulation --clients 50 --rounds 100[/bold] · "
    "[bold]acdpp federate --config study.toml --export app[/bold], then read app/README.md"
)
# Size of a federation unless --config or --preset is given: a client is two processes, and a round takes seconds.
CLIENTS, ROUNDS = 3, 10
CLIENTS_MAX = 10_000


ELSEWHERE = {
    **dict.fromkeys(
        ("--policies", "--sweep"), "a federation runs one policy, --policy; acdpp train compares several"
    ),
    "--seeds": "a federation has one seed, --seed; acdpp train takes several",
    "--device": "clients train on their CPUs",
}


@takes(StudyOptions, without=ELSEWHERE)
def command(
    options: StudyOptions,
    policy: Annotated[
        str | None,
        in_study(
            help="The policy to run, such as buy-cheap-online or acdpp@K=5; by default the first of the study."
        ),
    ] = None,
    clients: Annotated[
        str | None,
        in_study(
            help="Number of clients, which take the study's buffers in turn; the budget grows in proportion, unless "
            f"--budget is given. By default that of --config, --preset or --buffers, or {CLIENTS}; --rounds is then "
            f"{ROUNDS}."
        ),
    ] = None,
    simulation: Annotated[
        bool,
        in_output(
            "--simulation", help="Use Flower's simulation engine instead of a process and a key per client."
        ),
    ] = False,
    patience: Annotated[
        str | None, in_output(help="Seconds that a round waits for a client before it goes on without it.")
    ] = None,
    out: Out = None,
    log: Logs = None,
    resume: Resume = None,
    export: Annotated[
        Path | None,
        in_output(help="Write a Flower app for your own machines into this new folder, and stop."),
    ] = None,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Run one policy as a federation on this machine: TLS, authenticated clients, loopback only."""
    with needed_for("a federation", "flower"):
        import flwr  # noqa: F401

        from empirics.federation.app_folder import ROUND_WAIT_SECONDS, write_app
        from empirics.federation.local import federate
        from empirics.federation.server_state import federated
        from empirics.run import study_of

    wait = parse.optional(parse.decimal, patience, "--patience")
    if wait is not None and not 0 < wait <= 10**9:
        raise SettingError(
            f"--patience must be a positive number of seconds, got {parse.shortened(str(patience))}"
        )
    if resume is not None:
        own = {"--policy": policy, "--clients": clients, "--log": log, "--out": out, "--export": export}
        given = [name for name, value in own.items() if value is not None]
        given += [name for name in options.given() if name not in ("--data-dir", "--show-config")]
        if given:
            raise SettingError(f"--resume takes folder and settings from DIR: leave out {', '.join(given)}")
        study = study_of(resume)
    else:
        study = federated(_study(options, policy, clients, log))
        if not options.show_config:  # before a pilot of the data is read
            here = export is None or bool(options.fit)
            refuse_early(study, "training", "federate", out=out, files_here=here)
            _refuse_places(out, export, simulation)
        if export is None or options.fit:
            study = fitted(study, options, quiet=as_json)
    if options.show_config:
        show_settings(study)
        return
    if export is not None:
        write_app(
            export,
            study,
            data_dir=str(options.data_dir or ""),
            patience=ROUND_WAIT_SECONDS if wait is None else wait,
        )
        say(f"Flower app written; instructions: {export / 'README.md'}", whole=True)
        return
    folder: list[Path] = []

    def begun(place: Path) -> None:
        folder.append(place)
        interrupt.last_words(f"stopped; continue with acdpp federate --resume {shlex.quote(str(place))}")

    with rounds_told(study.rounds, quiet=as_json) as tell, users_code():
        summary = federate(
            study,
            out if resume is None else resume,
            data_dir=options.data_dir,
            resume=resume is not None,
            simulation=simulation,
            patience=wait,
            progress=tell,
            announce=begun,
        )
    show = print_json if as_json else partial(show_summary, command="acdpp federate", verbose=verbose)
    show({"result": str(folder[0]), **summary})


def _refuse_places(out: Path | None, export: Path | None, simulation: bool) -> None:
    from empirics.federation.app_folder import refuse_full

    if export is not None:
        if out is not None or simulation:
            raise SettingError("--export writes an app and runs nothing: leave out --out and --simulation")
        refuse_full(export)


def _study(options: StudyOptions, policy: str | None, clients: str | None, log: str | None) -> Study:
    """The study of one policy, with the number of clients and rounds of a federation."""
    from empirics.settings.policy_name import listed

    small = options.config is None and options.preset is None
    base = initial_study(options)
    study = study_from(
        options,
        base,
        policies=base.policies[:1] if policy is None else listed(policy),
        rounds=ROUNDS if small and options.rounds is None else None,
        log=None if log is None else log.split(","),
    )
    if clients is None:
        if not small or options.buffers is not None:
            return study
        clients = str(CLIENTS)
    wanted, have = parse.whole(clients, "--clients"), study.clients
    if wanted > CLIENTS_MAX:
        raise SettingError(f"--clients must be at most {CLIENTS_MAX:,}, got {wanted:,}")
    if wanted != have and study.alpha is not None:
        raise SettingError(f"alpha weighs {have} clients, not {wanted}: leave out --clients, or alpha")
    buffers = tuple(study.buffers[m % have] for m in range(wanted))
    budget = study.budget if options.budget is not None else study.budget * wanted / have
    return replace(study, buffers=buffers, budget=budget)
