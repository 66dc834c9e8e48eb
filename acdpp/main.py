"""`acdpp`: one command a question. Each command lives in a module of its own and registers itself here."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from acdpp import __version__, bound, design, train
from acdpp.output import fail
from theory.setting import SettingError

# Typer brings click with it, in newer versions inside itself: take the base of its errors from what it exports.
_UsageProblem: type[Exception] = next(
    base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException"
)

app = typer.Typer(
    name="acdpp",
    help="Checks, corrects and runs the theory of data admission and retention in streaming federated learning.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
app.command("bound", epilog=bound.EXAMPLES)(bound.command)
app.command("design", epilog=design.EXAMPLES)(design.command)
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
    except SettingError as error:
        fail(str(error))
    except _UsageProblem as error:
        fail(error.format_message())  # type: ignore[attr-defined]
    except (typer.Abort, KeyboardInterrupt):
        fail("interrupted", code=130)
    except BrokenPipeError:
        sys.exit(141)
    sys.exit(code if isinstance(code, int) else 0)
