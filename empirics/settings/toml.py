"""The settings of a study as a commented TOML file, from the one place where each is documented."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from empirics.settings.presets import PRESETS
from empirics.settings.study import Study

__all__ = ["spelled", "toml", "toml_of_changes"]

WIDTH = 100


def spelled(value: Any) -> str:
    """A value as TOML has it.

    >>> spelled((8, 9)), spelled(None), spelled(True), spelled("iid")
    ('[8, 9]', '"none"', 'true', '"iid"')
    """
    if value is None:
        return '"none"'
    if isinstance(value, tuple):
        return f"[{', '.join(map(spelled, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _lines(part: Any) -> Iterator[str]:
    for one in fields(part):
        if one.name == "cost":
            continue
        yield from textwrap.wrap(one.metadata["help"], WIDTH, initial_indent="# ", subsequent_indent="# ")
        yield f"{one.name} = {spelled(getattr(part, one.name))}"
        yield ""


def toml(study: Study) -> str:
    """All settings of a study with their meaning, ready to edit and to give to `acdpp train --config`."""
    cost = next(f for f in fields(Study) if f.name == "cost")
    head = [
        "# A study of acdpp train: save this as study.toml, edit it, and run acdpp train --config study.toml.",
        '# Lines that stay as they are may be left out. "none" stands for no value.',
        "",
    ]
    table = [f"# {cost.metadata['help']}", "[cost]", *_lines(study.cost)]
    return "\n".join([*head, *_lines(study), *table]).rstrip() + "\n"


def toml_of_changes(study: Study) -> str:
    """The settings of a study that are not its preset's, for `acdpp train --config`."""
    base = PRESETS[study.preset]
    lines = [f"preset = {spelled(study.preset)}", *_changes(study, base)]
    prices = _changes(study.cost, base.cost)
    return "\n".join([*lines, *(["", "[cost]", *prices] if prices else [])]) + "\n"


def _changes(part: Any, base: Any) -> list[str]:
    return [
        f"{one.name} = {spelled(getattr(part, one.name))}"
        for one in fields(part)
        if one.name != "cost" and getattr(part, one.name) != getattr(base, one.name)
    ]
