"""The reference page of studies, from the one place where each setting, column and file is documented.

`python -m empirics.reference docs/reference.md` renews the page; a test keeps it equal to what this makes.
"""

import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from empirics.columns import COLUMNS
from empirics.results import explained_gain as explained
from empirics.results import folder
from empirics.results.summary import FIELDS
from empirics.settings.presets import PRESETS
from empirics.settings.study import Study
from empirics.settings.toml import changes, spelled

__all__ = ["markdown"]


TABLES: list[Any] = [one for one in fields(Study) if is_dataclass(one.default)]


def _rows(owner: Any, prefix: str) -> Iterator[str]:
    for one in fields(owner):
        if one not in TABLES:
            yield f"| `{prefix}{one.name}` | `{spelled(one.default)}` | {_cell(one.metadata['help'])} |"


def _cell(words: str) -> str:
    return words.replace("|", "\\|")


def markdown() -> str:
    """The page of all settings, with what the presets change."""
    lines = [
        "# Reference: settings, columns, files",
        "",
        "Made by `python -m empirics.reference docs/reference.md` from the definitions; a test keeps them equal.",
        "",
        "## Settings of a study",
        "",
        '`acdpp train --show-config` prints them as a commented TOML file. In TOML, `"none"` stands for no value.',
        "",
        "| setting | default | meaning |",
        "| --- | --- | --- |",
        *_rows(Study, ""),
        *(row for table in TABLES for row in _rows(table.default, f"{table.name}.")),
        "",
        "## Presets",
        "",
        "What each changes of the defaults.",
        "",
    ]
    for name, study in PRESETS.items():
        changed = changes(study, Study(preset=name))
        for table in TABLES:
            own = changes(getattr(study, table.name), table.default)
            changed += [f"{table.name}.{line}" for line in own]
        lines += [f"- **{name}**: {', '.join(f'`{line}`' for line in changed) or 'nothing'}"]
    lines += ["", "## Columns of `rounds.parquet`", "", "| column | meaning |", "| --- | --- |"]
    lines += [f"| `{name}` | {_cell(column.help)} |" for name, column in COLUMNS.items()]
    files = [line for line in (folder.__doc__ or "").splitlines() if line.startswith("|")]
    lines += ["", "The Parquet file carries these words and the type of each column.", ""]
    lines += ["## Policies in `summary.json`", "", "| field | meaning |", "| --- | --- |"]
    lines += [f"| `{name}` | {_cell(words)} |" for name, words in FIELDS.items()]
    lines += ["", "## Files of a result folder", "", *files, ""]
    lines += [
        "`acdpp explain` fills a folder of such results, one per setting, and `SETTING-equal` with the policies that "
        f"may spend what the released rule spends. `{explained.NAME}` has what it prints and the settings not run."
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(markdown(), encoding="utf-8")
