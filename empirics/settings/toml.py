"""Studies in TOML: files are read, and written with the help of each setting."""

import json
import textwrap
import tomllib
from collections.abc import Collection, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from empirics.settings.dataset_name import OWN_FILES
from empirics.settings.field import choice
from empirics.settings.presets import PRESETS
from empirics.settings.study import Study
from theory.setting import SettingError

__all__ = ["changes", "named_in", "read_toml", "spelled", "toml", "toml_of_changes"]

LETTERS = 100  # of a line
CHOSEN = ("scale", "radius", "eta")


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
        if is_dataclass(one.default):
            continue
        yield from textwrap.wrap(one.metadata["help"], LETTERS, initial_indent="# ", subsequent_indent="# ")
        yield f"{one.name} = {spelled(getattr(part, one.name))}"
        yield ""


def toml(study: Study) -> str:
    """All settings of a study with their meaning, ready to edit and to give to `acdpp train --config`."""
    head = [
        "# A study of acdpp train: save this as study.toml, edit it, and run acdpp train --config study.toml.",
        '# Lines that stay as they are may be left out. "none" stands for no value.',
        "",
    ]
    tables = [
        line
        for one in fields(Study)
        if is_dataclass(one.default)
        for line in (f"# {one.metadata['help']}", f"[{one.name}]", *_lines(getattr(study, one.name)))
    ]
    return "\n".join([*head, *_lines(study), *tables]).rstrip() + "\n"


def toml_of_changes(study: Study) -> str:
    """The settings of a study that are not its preset's, for `acdpp train --config`.

    Of data of one's own also what would be chosen by the data where the file has none.
    """
    base, always = PRESETS[study.preset], CHOSEN if study.dataset.startswith(OWN_FILES) else ()
    lines = [f"preset = {spelled(study.preset)}", *changes(study, base, always)]
    for one in fields(Study):
        if is_dataclass(one.default) and (own := changes(getattr(study, one.name), getattr(base, one.name))):
            lines += ["", f"[{one.name}]", *own]
    return "\n".join(lines) + "\n"


def changes(part: Any, base: Any, always: Collection[str] = ()) -> list[str]:
    """The settings of a part of a study that are not those of `base`, or that are `always` given, a line each."""
    return [
        f"{one.name} = {spelled(getattr(part, one.name))}"
        for one in fields(part)
        if not is_dataclass(one.default)
        and (one.name in always or getattr(part, one.name) != getattr(base, one.name))
    ]


def named_in(path: Path) -> frozenset[str]:
    """The settings that a TOML file gives."""
    return frozenset(_document(path))


def _document(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingError(f"cannot read the settings file {str(path)!r} ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(f"{str(path)!r} is not a TOML file: {error}") from None


def read_toml(path: Path, preset: str | None = None) -> Study:
    """The study of a TOML file: its settings in place of those of a preset, the given one or the file's own."""
    document = _document(path)
    own = document.pop("preset", None)
    if own is not None:
        choice(*PRESETS)("preset", own)
    if own is not None and preset not in (None, own):
        raise SettingError(f"the settings file is for the preset {own!r}, not for {preset!r}")
    mine = str(document.get("dataset", "")).startswith(OWN_FILES)
    return Study.from_document(document, PRESETS[own or preset or ("own" if mine else "digits")])
