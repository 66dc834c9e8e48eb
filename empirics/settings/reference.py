"""The settings in words, from the one place where each is documented: a commented TOML, and a page.

`python -m empirics.settings.reference docs/settings.md` renews the page; a test keeps it equal to what this makes.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import Field, fields
from pathlib import Path
from typing import Any

from empirics.settings.costs import CostProcess
from empirics.settings.presets import PRESETS
from empirics.settings.study import Study

__all__ = ["markdown", "toml"]

WIDTH = 100


def _spelled(value: Any) -> str:
    """A value as TOML has it.

    >>> _spelled((8, 9)), _spelled(None), _spelled(True), _spelled("iid")
    ('[8, 9]', '"none"', 'true', '"iid"')
    """
    if value is None:
        return '"none"'
    if isinstance(value, tuple):
        return f"[{', '.join(map(_spelled, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _lines(part: Any, base: Any) -> Iterator[str]:
    for one in fields(part):
        if one.name == "cost":
            continue
        yield from textwrap.wrap(one.metadata["help"], WIDTH, initial_indent="# ", subsequent_indent="# ")
        yield f"{one.name} = {_spelled(getattr(part, one.name))}"
        yield ""


def toml(study: Study) -> str:
    """All settings of a study with their meaning, ready to edit and to give to `acdpp train --config`."""
    cost = next(f for f in fields(Study) if f.name == "cost")
    head = [
        "# A study of acdpp train: save this as study.toml, edit it, and run acdpp train --config study.toml.",
        '# Lines that stay as they are may be left out. "none" stands for no value.',
        "",
    ]
    table = ["", f"# {cost.metadata['help']}", "[cost]", *_lines(study.cost, CostProcess())]
    return "\n".join([*head, *_lines(study, Study()), *table[1:]]).rstrip() + "\n"


def _rows(owner: type, prefix: str) -> Iterator[str]:
    for one in fields(owner):
        if one.name != "cost":
            words = one.metadata["help"].replace("|", "\\|")
            yield f"| `{prefix}{one.name}` | `{_spelled(_default(one))}` | {words} |"


def _default(one: Field[Any]) -> Any:
    return one.default


def markdown() -> str:
    """The page of all settings, with what the presets change."""
    lines = [
        "# Settings of a study",
        "",
        "Made from the definitions in `empirics/settings` by `python -m empirics.settings.reference docs/settings.md`. "
        '`acdpp train --show-config` prints them as a commented TOML file. In TOML, `"none"` stands for no value.',
        "",
        "| setting | default | meaning |",
        "| --- | --- | --- |",
        *_rows(Study, ""),
        *_rows(CostProcess, "cost."),
        "",
        "## Presets",
        "",
        "What each changes of the defaults.",
        "",
    ]
    for name, study in PRESETS.items():
        changed = [
            f"`{one.name} = {_spelled(getattr(study, one.name))}`"
            for one in fields(Study)
            if one.name != "cost" and getattr(study, one.name) != one.default
        ]
        changed += [
            f"`cost.{one.name} = {_spelled(getattr(study.cost, one.name))}`"
            for one in fields(CostProcess)
            if getattr(study.cost, one.name) != one.default
        ]
        lines += [f"- **{name}**: {', '.join(changed) or 'nothing'}"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(markdown(), encoding="utf-8")
