"""`acdpp federate`: run a study as a federation of real processes, or take it to machines of your own."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from acdpp import interrupt, parse
from acdpp.output import print_json, say
from acdpp.study import (
    AsJson,
    Client,
    Config,
    CostColumn,
    CostTrace,
    DataDir,
    Dataset,
    Drift,
    Fit,
    Label,
    Logs,
    Out,
    PresetName,
    Seed,
    ShowConfig,
    Time,
    Verbose,
    changed,
    fitted,
    needed_for,
    of_preset,
    refuse_early,
    rounds_told,
    words_of_the_user,
)
from acdpp.train import show_summary
from theory.setting import SettingError

if TYPE_CHECKING:
    from empirics.settings.study import Study

__all__ = ["EXAMPLES", "command"]

EXAMPLES = (
    "Examples: [bold]acdpp federate[/bold] (three clients, ten rounds, on this machine) · "
    "[bold]acdpp federate --policy buy-cheap-online --clients 3 --rounds 5 --out results/try[/bold] · "
    "[bold]acdpp federate --resume results/try[/bold] · "
    "[bold]acdpp federate --simulation --clients 50 --rounds 100[/bold] · "
    "[bold]acdpp federate --config study.toml --export app[/bold], then read app/README.md"
)
CLIENTS, ROUNDS = 3, 10  # without --config or --preset: a round takes seconds, and a client two processes
MOST = 10_000


def command(
    preset: PresetName = None,
    config: Config = None,
    dataset: Dataset = None,
    label: Label = None,
    time: Time = None,
    client: Client = None,
    data_dir: DataDir = None,
    model: Annotated[
        str | None, typer.Option(help="logistic, or module:attribute that makes a torch.nn.Module.")
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            help="The one policy, such as buy-cheap-online or acdpp@K=5; by default the first of the study."
        ),
    ] = None,
    clients: Annotated[
        str | None,
        typer.Option(
            help="How many clients: they take the study's buffers in turn, and the budget in proportion to their "
            f"number unless --budget says otherwise; by default all of --config or --preset, or {CLIENTS}."
        ),
    ] = None,
    budget: Annotated[str | None, typer.Option(help="What a round may cost on average.")] = None,
    drift: Drift = None,
    cost_trace: CostTrace = None,
    cost_column: CostColumn = None,
    rounds: Annotated[
        str | None,
        typer.Option(help=f"Rounds T; by default those of --config or --preset, or {ROUNDS}."),
    ] = None,
    seed: Seed = None,
    simulation: Annotated[
        bool,
        typer.Option(
            "--simulation", help="Flower's simulation engine in place of a process and a key for each client."
        ),
    ] = False,
    patience: Annotated[
        str | None,
        typer.Option(help="Seconds that a round waits for a client before it goes on without it."),
    ] = None,
    out: Out = None,
    log: Logs = None,
    resume: Annotated[
        Path | None,
        typer.Option(help="Go on with the result in this folder: the same study, keys and samples."),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(help="Write a Flower app for machines of your own into this new folder, and stop."),
    ] = None,
    fit: Fit = None,
    show_config: ShowConfig = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Run one policy as a federation on this machine: TLS, authenticated clients, nothing but loopback."""
    with needed_for("a federation", "flower"):
        import flwr  # noqa: F401

        from empirics.federation.app_folder import ROUND_WAIT_SECONDS, write_app
        from empirics.federation.local import federate
        from empirics.federation.server_state import federated
        from empirics.run import study_of
        from empirics.settings.toml import toml

    wait = None if patience is None else float(parse.number(patience, "--patience"))
    if wait is not None and not 0 < wait <= 10**9:
        raise SettingError(
            f"--patience must be a positive number of seconds, got {parse.shortened(str(patience))}"
        )
    if resume is not None:
        given = (
            preset,
            config,
            dataset,
            label,
            time,
            client,
            model,
            policy,
            clients,
            budget,
            drift,
            cost_trace,
            cost_column,
            rounds,
            seed,
        )
        if any(one is not None for one in (*given, fit, log, out, export)):
            raise SettingError(
                "--resume takes folder and settings from DIR: beside it only --data-dir, --patience, --simulation, "
                "--verbose and --json have a meaning"
            )
        study = study_of(resume)
    else:
        own = config is None and preset is None
        base = of_preset(preset, config, dataset)
        study = changed(
            base,
            dataset=dataset,
            label=label,
            time=time,
            client=client,
            model=model,
            drift=drift,
            policies=policy or base.policies[0],
            sweep=None,
            cost_trace=cost_trace,
            cost_column=cost_column,
            rounds=rounds or (str(ROUNDS) if own else None),
            seed=seed,
            log=log,
        )
        study = federated(_sized(study, clients or (str(CLIENTS) if own else None), budget))
        if not show_config:  # what will be refused is, before a pilot looks
            refuse_early(study, "training", "federate", out=out, files_here=export is None or bool(fit))
            _refuse_places(out, export, simulation)
        if export is None or fit:
            study = fitted(study, fit, {}, preset=preset, config=config, data_dir=data_dir, quiet=as_json)
    if show_config:
        say(toml(study), whole=True, end="")
        return
    if export is not None:
        write_app(
            export, study, data_dir=str(data_dir or ""), patience=ROUND_WAIT_SECONDS if wait is None else wait
        )
        say(f"a Flower app; what to do with it is in {export / 'README.md'}", whole=True)
        return
    folder: list[Path] = []

    def begun(place: Path) -> None:
        folder.append(place)
        interrupt.last_words(f"stopped; continue with acdpp federate --resume {shlex.quote(str(place))}")

    with rounds_told(study.rounds, quiet=as_json) as tell, words_of_the_user():
        summary = federate(
            study,
            out if resume is None else resume,
            data_dir=data_dir,
            resume=resume is not None,
            simulation=simulation,
            patience=wait,
            progress=tell,
            announce=begun,
        )
    document = {"result": str(folder[0]), **summary}
    if as_json:
        print_json(document)
    else:
        show_summary(document, "acdpp federate", verbose=verbose)


def _refuse_places(out: Path | None, export: Path | None, simulation: bool) -> None:
    from empirics.federation.app_folder import refuse_full

    if export is not None:
        if out is not None or simulation:
            raise SettingError("--export writes an app and runs nothing: leave out --out and --simulation")
        refuse_full(export)


def _sized(study: Study, clients: str | None, budget: str | None) -> Study:
    """The study with so many clients; what a round may cost goes with their number."""
    if clients is not None:
        wanted, have = parse.whole(clients, "--clients"), study.clients
        if wanted > MOST:
            raise SettingError(f"--clients must be at most {MOST:,}, got {wanted:,}")
        buffers = tuple(study.buffers[m % have] for m in range(wanted))
        if wanted != have and study.alpha is not None:
            raise SettingError(f"alpha weighs {have} clients, not {wanted}: leave out --clients, or alpha")
        study = replace(study, buffers=buffers, budget=study.budget * wanted / have)
    return study if budget is None else replace(study, budget=float(parse.number(budget, "--budget")))
