"""Figures as commands: shared options, progress bar, file and its metadata."""

from __future__ import annotations

import inspect
import shlex
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import typer

from acdpp import __version__
from acdpp.options import parameters, sign
from acdpp.output import bar, say
from figures.options import Format, Style
from theory.setting import SettingError

if TYPE_CHECKING:
    from figures.options import Track

__all__ = ["Drawing", "deliver", "file_options", "spelled", "take_options", "watched"]

BAR_DELAY_SECONDS = 2
Step = TypeVar("Step")


class Drawing(NamedTuple):
    """A figure with its settings: the name of its file, how to compute its data, and how to draw them."""

    name: str
    compute: Callable[[Track], Any]
    draw: Callable[[Any, Any], Any]


def file_options(
    out: Annotated[Path, typer.Option(help="Folder for the file; created if needed.")] = Path("plots"),
    form: Annotated[Format, typer.Option("--format", help="File format.")] = Format.png,
    style: Annotated[Style, typer.Option(help="Look of the figure.")] = Style.paper,
    dpi: Annotated[
        int | None,
        typer.Option(min=20, max=1200, help="Dots per inch of a png; by default those of the style."),
    ] = None,
) -> None:
    """Options of every figure."""


def take_options(command: Any, *sources: Callable[..., Any]) -> None:
    """Give a command the signature (ctx, parameters of the sources), which is what Typer reads."""
    context = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    found = [one for source in sources for one in parameters(source)]
    sign(command, [context, *found], sources[0].__doc__)


def deliver(
    command: str,
    make: Callable[[], Drawing | list[Drawing]],
    out: Path,
    form: Format,
    style: Style,
    dpi: int | None,
) -> None:
    """Check everything, then compute, draw and write the files, each of which names the command."""
    try:
        made = make()  # first: mistakes are refused before matplotlib is loaded
        from figures.save import Origin, check_folder, save
        from figures.style import LOOKS
    except ModuleNotFoundError as error:
        if error.name not in ("matplotlib", "pyarrow"):
            raise
        raise SettingError(f"this figure needs {error.name}: pip install {error.name}") from None
    check_folder(out)
    look, origin = LOOKS[style], Origin(command, __version__)
    for drawing in made if isinstance(made, list) else [made]:
        data = drawing.compute(partial(watched, drawing.name))
        path = save(drawing.draw(data, look), out, drawing.name, form=form, look=look, origin=origin, dpi=dpi)
        say(str(path), whole=True)


def spelled(ctx: typer.Context, name: str, result: Path | list[Path] | None) -> str:
    """The command that draws this figure: the given options without the folder."""
    given = result if isinstance(result, list) else [result] if result else []
    words = ["acdpp", "plot", name, *map(str, given)]
    for parameter in ctx.command.params:
        source = ctx.get_parameter_source(parameter.name or "")
        if parameter.name not in ("out", "result") and source is not None and source.name == "COMMANDLINE":
            value = ctx.params[parameter.name or ""]
            if isinstance(value, bool):
                words.append((parameter.opts if value else parameter.secondary_opts)[0])
            else:
                words += [parameter.opts[0], str(value)]
    return shlex.join(words)


def watched(name: str, steps: Sequence[Step]) -> Iterable[Step]:
    """The steps, with a progress bar on a terminal after two seconds."""
    start = time.monotonic()
    update: Callable[..., None] | None = None
    with ExitStack() as shown:
        for done, step in enumerate(steps):
            if update is None and time.monotonic() - start > BAR_DELAY_SECONDS:
                update = shown.enter_context(bar(name, len(steps), transient=True))
            if update is not None:
                update(completed=done)
            yield step
