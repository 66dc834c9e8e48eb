"""`acdpp`: one command a question. Each command lives in a module of its own and registers itself here."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer

from acdpp import bound, design, federate, interrupt, plot, predict, reproduce, train, verify, version
from acdpp.output import fail, never_refuse
from acdpp.report import command as report
from theory.setting import SettingError

# Typer brings click with it, in newer versions inside itself: take the base of its errors from what it exports.
_UsageProblem: type[Exception] = next(
    base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException"
)

EXAMPLES = (
    "Examples, one a command:",
    "[bold]acdpp verify --claim eq:vck-exact --explain[/bold]",
    "[bold]acdpp bound constant --K 10 --rate 10 --horizon 1e12 --certified[/bold]",
    "[bold]acdpp design --buffers 8,9,10,11,12 --budget 55 --mean-cost 5.5[/bold]",
    "[bold]acdpp plot omegas --horizon 1e15[/bold]",
    "[bold]acdpp predict --pilot 200[/bold]",
    "[bold]acdpp train --out results/digits[/bold]",
    "[bold]acdpp reproduce mnist --data-dir DIR --device cuda[/bold]",
    "[bold]acdpp federate --clients 3 --rounds 5[/bold]",
    "[bold]acdpp report --out report[/bold]",
)

app = typer.Typer(
    name="acdpp",
    help="Checks, corrects and runs the theory of data admission and retention in streaming federated learning.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    epilog="\n\n".join(EXAMPLES),
    pretty_exceptions_enable=False,
)
app.command("verify", epilog=verify.EXAMPLES)(verify.command)
app.command("bound", epilog=bound.EXAMPLES)(bound.command)
app.command("design", epilog=design.EXAMPLES)(design.command)
app.add_typer(plot.app, name="plot")
app.command("predict", epilog=predict.EXAMPLES)(predict.command)
app.command("train", epilog=train.EXAMPLES)(train.command)
app.command("reproduce", epilog=reproduce.EXAMPLES)(reproduce.command)
app.command("federate", epilog=federate.EXAMPLES)(federate.command)
app.command("report", epilog=report.EXAMPLES)(report.command)


# after Ctrl-C they take away or finish what they write
UNWINDING = ("plot", "predict", "train", "reproduce", "federate", "report")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"acdpp {version()}")
        raise typer.Exit


@app.callback()
def root(
    ctx: typer.Context,
    _: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Options that belong to no command."""
    if ctx.invoked_subcommand in UNWINDING:
        interrupt.gently()


def _bare_flags(command: Any) -> Any:
    """The command, its help without a type for flags, which take no value; and so for all commands below it."""
    every = command.get_params

    def get_params(ctx: typer.Context) -> Any:
        params = every(ctx)
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
        return params

    command.get_params = get_params
    for below in getattr(command, "commands", {}).values():
        _bare_flags(below)
    return command


def main() -> None:
    """Run the command: a user's mistake is one line on stderr and exit status 2, never a traceback."""
    never_refuse()
    try:
        code = _bare_flags(typer.main.get_command(app))(prog_name="acdpp", standalone_mode=False)
        if interrupt.asked():  # which newer versions of Typer turn into a status
            raise KeyboardInterrupt
        if sys.stdout is not None:
            sys.stdout.flush()
    except BaseException as error:
        _complain(error)
        raise
    sys.exit(code if isinstance(code, int) else 0)


def _complain(error: BaseException) -> None:
    """Say in one line what went wrong, and out; come back if it is nobody's mistake but ours."""
    if interrupt.asked() or isinstance(error, typer.Abort | KeyboardInterrupt):
        fail(interrupt.last_words(), code=interrupt.STATUS)
    if isinstance(error, SettingError):
        fail(str(error))
    if isinstance(error, _UsageProblem):
        fail(error.format_message())  # type: ignore[attr-defined]
    if isinstance(error, ArithmeticError | MemoryError):
        fail(f"this is beyond what can be computed here ({str(error) or type(error).__name__})", code=1)
    if isinstance(error, OSError):
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - the reader has gone; leave nothing to flush into it
        if isinstance(error, BrokenPipeError):
            sys.exit(141)
        fail(f"cannot write the output: {error.strerror or error}", code=1)
