"""The widgets of the page: fields, choices, dropped files and the slider. Only this module and `page` use NiceGUI."""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from nicegui import events, ui

from acdpp.explore.form import AVERAGES, POLICIES, Form, columns_of, likely
from acdpp.explore.labels import CHOICES, GROUPS, LABELS, PAIRED
from empirics.settings.dataset_name import OWN_FILES

__all__ = ["Fields"]

COLUMNS = {"data": ("label", "time", "client"), "price_file": ("price_column",)}  # by the field of their file
DROPPED = {"price_file": "a CSV file of prices", "data": "samples (npz, CSV, Parquet)"}


class Fields:
    """The widgets; `changed` is called after each change by the user.

    A dropped file is shown by its name; `lying` maps what is shown to the path.
    """

    def __init__(self, first: Form, folder: Path, changed: Callable[[], None]) -> None:
        self.folder, self.changed = folder, changed
        self.lying: dict[str, str] = {}
        self.made: dict[str, Any] = {}
        self._columns: dict[str, list[str]] = {}
        self._quiet = False
        for title, names in GROUPS.items():
            with ui.element("section").classes("card"):
                heading(title)
                with ui.element("div").classes("pairs"):
                    for name in names:
                        self._field(name, getattr(first, name))
                if title == "Data":
                    self.chosen = ui.label().classes("quiet").props('role="status"')
        self._show_columns()

    @property
    def names(self) -> dict[str, str]:
        """Original names of dropped files, by path."""
        return {_file(place): _file(shown) for shown, place in self.lying.items()}

    def form(self) -> Form:
        """The form as typed, with the paths of dropped files."""
        typed = {one.name: self._typed(one.name) for one in fields(Form)}
        return Form(**typed | {name: self.lying.get(typed[name], typed[name]) for name in COLUMNS})

    def put(self, form: Form) -> None:
        """Show another form, as one change."""
        shown = {place: name for name, place in self.lying.items()}
        self._quiet = True
        for name, value in asdict(form).items():
            value = shown.get(value, value)
            self.made[name].value = [value] if name == "policies" else value
        self._quiet = False
        self._changed()

    def blame(self, wrong: Mapping[str, str]) -> None:
        """Show an error beside each wrong field, and clear the others."""
        for name, made in self.made.items():
            made.error = self.readable(wrong[name]) if name in wrong else None

    def readable(self, sentence: str) -> str:
        """The sentence with the names of dropped files instead of their paths."""
        for place, name in self.names.items():
            sentence = sentence.replace(place, name)
        return sentence

    def slide_to(self, budget: float) -> None:
        """Move the slider to the typed budget; its range extends to ten times the budget."""
        props = self.slider.props
        if not props["min"] <= budget <= props["max"]:
            unit = 10.0 ** (math.floor(math.log10(budget)) - 1)
            props.update(min=unit, max=10 * budget, step=unit)
            self.slider.update()
        self.slider.value = budget

    # --- one field -----------------------------------------------------------------------------------------

    def _field(self, name: str, value: str) -> None:
        label, hint = LABELS[name]
        made: ui.select | ui.input
        if name == "policies":
            made = ui.select(
                list(POLICIES), label=label, value=[value], multiple=True, new_value_mode="add-unique"
            ).props("use-chips")
        elif name in CHOICES:
            made = ui.select(dict(CHOICES[name]), label=label, value=value)
        elif name == "average":
            made = ui.select(list(AVERAGES), label=label, value=value)
        elif any(name in columns for columns in COLUMNS.values()):
            made = ui.select([], label=label, clearable=True)
        else:
            made = ui.input(label, value=value).props("debounce=200")
        if name in COLUMNS:
            made.props("clearable")
        made.without_auto_validation()  # which would clear errors that `blame` shows
        made.props(f'data-field="{name}" hide-hint').props["hint"] = hint
        self.made[name] = made.classes("half" if name in PAIRED else "").on_value_change(self._changed)
        if name == "budget":
            self.slider = ui.slider(min=1, max=10 * float(value), step=1, value=float(value))
            self.slider.on("update:model-value", self._slid, throttle=0.05)  # by the user only
            self.slider.props('aria-label="Budget per round"')
        if name in DROPPED:
            self._drop(name)

    def _typed(self, name: str) -> str:
        value = self.made[name].value
        return ",".join(value) if isinstance(value, list) else str(value or "")

    def _changed(self) -> None:
        if not self._quiet:
            self._quiet = True
            self._show_columns()
            self._quiet = False
            self.changed()

    def _slid(self) -> None:
        self.made["budget"].value = f"{self.slider.value:g}"

    # --- files ---------------------------------------------------------------------------------------------

    def _drop(self, name: str) -> None:
        async def dropped(given: events.UploadEventArguments) -> None:
            file = Path(given.file.name.replace("\\", "/")).name.strip(". ") or "file"
            kind = "" if name == "price_file" else file.rpartition(".")[2].lower() + ":"
            place = self.folder / name / file  # a samples file and a price file may share a name
            place.parent.mkdir(exist_ok=True)
            await given.file.save(place)
            self.lying[kind + file] = f"{kind}{place}"
            self._columns.pop(name, None)
            dropping.reset()  # accept the next file
            if self.made[name].value == kind + file:
                self._changed()  # an equal name, perhaps with other contents
            else:
                self.made[name].value = kind + file

        with ui.element("div").classes("dropping"):
            dropping = ui.upload(label=f"Drop {DROPPED[name]} here", auto_upload=True, on_upload=dropped)
            dropping.props("flat square").classes("drop")
            choosing = ui.button("or choose").props(f'flat dense aria-label="Choose {DROPPED[name]}"')
            input_of = f"document.getElementById('{dropping.html_id}').querySelector('input[type=file]')"
            choosing.on("click", js_handler=f"() => {input_of}.click()")

    def _show_columns(self) -> None:
        """Show the column fields of tables, with columns chosen by common names, and --fit for the user's own data."""
        self.made["fit"].set_visibility(self.form().data.strip().startswith(OWN_FILES))
        self.made["prices"].set_enabled(not self.form().price_file)  # a file replaces the distribution
        for name, columns in COLUMNS.items():
            form = self.form()
            table = form.data if name == "data" else f"csv:{form.price_file}" if form.price_file else ""
            found = columns_of(table)
            if name == "price_file" and len(found) < 2:
                found = []  # nothing to choose
            if found == self._columns.get(name):
                continue
            self._columns[name] = found
            for column in columns:
                made = self.made[column]
                kept = made.value if made.value in found else likely(column, found) or None
                made.set_options(found, value=kept)
                made.set_visibility(
                    bool(found) or (name == "data" and table.startswith(("csv:", "parquet:")))
                )


def heading(text: str) -> None:
    """Title of a card."""
    with ui.element("h2"):
        ui.label(text)


def _file(shown: str) -> str:
    """The file without its kind in front."""
    kind, colon, file = shown.partition(":")
    return file if colon and kind in ("npz", "csv", "parquet") else shown
