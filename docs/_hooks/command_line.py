"""The command line as a page, from the program itself: what `--help` prints, command by command."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer

from acdpp.main import app

LEAD = """# Command line

Made from the program when this site is built: what `acdpp COMMAND --help` prints. All but `plot` take `--json`. A
user's mistake is one line on standard error and exit status 2; Ctrl-C is status 130.
"""


def commands() -> dict[str, Any]:
    """Every command by its words, those of `plot` under its name."""
    root = typer.main.get_command(app)
    return dict(_below("acdpp", root))


def _below(words: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield words, command
    for name, one in getattr(command, "commands", {}).items():
        yield from _below(f"{words} {name}", one)


def markdown() -> str:
    """The page."""
    return "\n".join([LEAD, *(_section(words, command) for words, command in commands().items())])


def _section(words: str, command: Any) -> str:
    with command.context_class(command, info_name=words) as context:
        usage = " ".join(command.collect_usage_pieces(context))
        rows = [
            _row(param, context)
            for param in command.get_params(context)
            if not getattr(param, "hidden", False)
        ]
    lines = [f"{'#' * (1 + len(words.split()))} {words}", "", _text(command.help or ""), ""]
    lines += ["```text", f"{words} {usage}", "```", ""]
    lines += ["| option | default | meaning |", "| --- | --- | --- |", *rows, ""]
    if command.epilog:
        lines += [_text(command.epilog), ""]
    return "\n".join(lines)


def _row(param: Any, context: Any) -> str:
    if param.param_type_name == "argument":
        return f"| `{param.name.upper()}` | {'required' if param.required else ''} | {_values(param)} |"
    names = ", ".join(f"`{name}`" for name in (*param.opts, *param.secondary_opts))
    value = "" if param.is_flag else f" {param.metavar or _kind(param)}"
    default = param.get_default(context, call=False)
    shown = "" if default is None or param.is_flag else f"`{getattr(default, 'value', default)}`"
    return f"| {names}{value} | {shown} | {_cell(_text(param.help or ''))} |"


def _kind(param: Any) -> str:
    choices = getattr(param.type, "choices", None)
    if choices:
        return " ".join(f"`{getattr(one, 'value', one)}`" for one in choices)
    return str(param.type.name).upper().split()[0]


def _values(param: Any) -> str:
    choices = getattr(param.type, "choices", None)
    return _cell(
        ", ".join(f"`{getattr(one, 'value', one)}`" for one in choices) if choices else param.help or ""
    )


def _text(words: str) -> str:
    """Rich's bold is a command here."""
    return re.sub(r"\[bold\](.*?)\[/bold\]", r"`\1`", words).replace("\f", "")


def _cell(words: str) -> str:
    return " ".join(words.replace("|", "\\|").split())
