"""`acdpp`: one command a question. Each command lives in a module of its own and registers itself here."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from acdpp import __version__, bound, design, plot, train, verify
from acdpp.output import fail
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
    "[bold]acdpp train --out results/digits[/bold]",
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
app.command("train", epilog=train.EXAMPLES)(train.command)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"acdpp {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Options that belong to no command."""


def main() -> None:
    """The entry point: a user's mistake is one line on stderr and exit status 2, never a traceback."""
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except SettingError as error:
        fail(str(error))
    except _UsageProblem as error:
        fail(error.format_message())  # type: ignore[attr-defined]
    except (ArithmeticError, MemoryError) as error:
        fail(f"this is beyond what can be computed here ({str(error) or type(error).__name__})", code=1)
    except (typer.Abort, KeyboardInterrupt):
        fail("interrupted", code=130)
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - the reader has gone; leave nothing to flush into it
        sys.exit(141)
    except OSError as error:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        fail(f"cannot write the output: {error.strerror or error}", code=1)
    sys.exit(code if isinstance(code, int) else 0)
