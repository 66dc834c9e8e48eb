"""`acdpp federate`: run a study as a federation of processes on this machine."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from acdpp import interrupt, parse
from acdpp.fit import fitted
from acdpp.options import AsJson, Logs, Out, StudyOptions, Verbose, in_output, in_study, takes
from acdpp.output import needed_for, rounds_told, users_code
from acdpp.study import initial_study, refuse_early, show_settings, study_from
from acdpp.summary import tell_summary
from theory.setting import SettingError

if TYPE_CHECKING:
    from empirics.settings.study import Study

__all__ = ["ELSEWHERE", "EXAMPLES", "ON_ONE_SERVER", "FederationOptions", "command", "federated_study"]
__all__ += ["run"]

EXAMPLES = (
    "Examples: [bold]acdpp federate[/bold] (three clients, ten rounds, on this machine) · "
    "[bold]acdpp federate --policy buy-cheap-online --clients 3 --rounds 5 --out results/try[/bold] · "
    "[bold]acdpp federate --simulation --clients 50 --rounds 100[/bold]"
)
# Size of a federation unless --config or --preset is given: a client is two processes, and a round takes seconds.
CLIENTS_DEFAULT, ROUNDS_DEFAULT = 3, 10
CLIENTS_MAX = 10_000
PATIENCE_SECONDS_MAX = 10**9
ON_ONE_SERVER = {
    **dict.fromkeys(
        ("--policies", "--sweep"), "a federation runs one policy, --policy; acdpp train compares several"
    ),
    "--seeds": "a federation has one seed, --seed; acdpp train takes several",
    "--device": "clients train on their CPUs",
}
ELSEWHERE = {
    **ON_ONE_SERVER,
    "--resume": "acdpp resume DIR continues a result",
    "--export": "acdpp deploy writes an app for your own machines, with the same options",
}


@dataclass(frozen=True)
class FederationOptions(StudyOptions):
    """The options from which a federation's study is made."""

    policy: Annotated[
        str | None,
        in_study(
            help="The policy to run, such as buy-cheap-online or acdpp@K=5; by default the first of the study."
        ),
    ] = None
    clients: Annotated[
        str | None,
        in_study(
            help="Number of clients, which take the study's buffers in turn; the budget grows in proportion, unless "
            "--budget is given. By default that of --config, --preset or --buffers, or "
            f"{CLIENTS_DEFAULT}; --rounds is then {ROUNDS_DEFAULT}."
        ),
    ] = None
    log: Logs = None
    patience: Annotated[
        str | None, in_output(help="Seconds that a round waits for a client before it goes on without it.")
    ] = None

    @property
    def patience_seconds(self) -> float | None:
        """The number behind --patience."""
        wait = parse.optional(parse.decimal, self.patience, "--patience")
        if wait is not None and not 0 < wait <= PATIENCE_SECONDS_MAX:
            raise SettingError(
                f"--patience must be a positive number of seconds, got {parse.shortened(str(self.patience))}"
            )
        return wait


@takes(FederationOptions, without=ON_ONE_SERVER)
def command(
    options: FederationOptions,
    simulation: Annotated[
        bool,
        in_output(
            "--simulation", help="Use Flower's simulation engine instead of a process and a key per client."
        ),
    ] = False,
    out: Out = None,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    study, patience = federated_study(options), options.patience_seconds
    if not options.show_config:  # before a pilot of the data is read
        refuse_early(study, "training", "federate", out=out)
    study = fitted(study, options, quiet=as_json)
    if options.show_config:
        show_settings(study)
        return
    given = {"data_dir": options.data_dir, "simulation": simulation, "patience": patience}
    run(study, out, verbose=verbose, as_json=as_json, **given)


def run(study: Study, out: Path | None, *, verbose: bool, as_json: bool, **options: Any) -> None:
    """Run or resume a federation, and print its summary."""
    with needed_for("a federation", "flower"):
        from empirics.federation.local import federate

    folder: list[Path] = []

    def begun(place: Path) -> None:
        folder.append(place)
        interrupt.last_words(f"stopped; continue with acdpp resume {shlex.quote(str(place))}")

    with rounds_told(study.rounds, quiet=as_json) as tell, users_code():
        summary = federate(study, out, progress=tell, announce=begun, **options)
    tell_summary(summary, folder[0], verbose=verbose, as_json=as_json)


def federated_study(options: FederationOptions) -> Study:
    """The study of one policy, with the number of clients and rounds of a federation, and descent unless asked for
    another learner: sums take several exchanges per round and tell more of a client."""
    with needed_for("a federation", "flower"):
        import flwr  # noqa: F401

        from empirics.federation.server_state import federated
    if options.learner is None and options.preset is None and options.config is None:
        options = replace(options, learner="descent")
    return federated(_study(options))


def _study(options: FederationOptions) -> Study:
    from empirics.settings.policy_name import listed

    small = options.config is None and options.preset is None
    base = initial_study(options)
    study = study_from(
        options,
        base,
        policies=base.policies[:1] if options.policy is None else listed(options.policy),
        rounds=ROUNDS_DEFAULT if small and options.rounds is None else None,
        log=None if options.log is None else options.log.split(","),
    )
    if options.clients is None and (not small or options.buffers is not None):
        return study
    wanted, have = parse.whole(options.clients or str(CLIENTS_DEFAULT), "--clients"), study.clients
    if wanted > CLIENTS_MAX:
        raise SettingError(f"--clients must be at most {CLIENTS_MAX:,}, got {wanted:,}")
    if wanted != have and study.alpha is not None:
        raise SettingError(f"alpha weighs {have} clients, not {wanted}: leave out --clients, or alpha")
    buffers = tuple(study.buffers[m % have] for m in range(wanted))
    budget = study.budget if options.budget is not None else study.budget * wanted / have
    return replace(study, buffers=buffers, budget=budget)
