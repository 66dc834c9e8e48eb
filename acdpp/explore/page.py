"""The page itself: fields, pictures, buttons. It reads forms, asks and draws; it computes nothing."""

from __future__ import annotations

import tempfile
from dataclasses import fields
from pathlib import Path
from typing import Any

from nicegui import app, events, ui
from starlette.middleware.trustedhost import TrustedHostMiddleware

from acdpp.explore.form import AVERAGES, OBJECTIVES, Asked, Form, first_form, read_form
from acdpp.explore.pictures import curves_chart, money_chart
from acdpp.explore.planner import Answer, Planner, commands
from acdpp.explore.words import recommended, said
from acdpp.explore.working import Asking, Training

__all__ = ["HOST", "serve"]

HOST = "127.0.0.1"
EVERY = 0.1  # seconds between two looks at what is new
WORDS = {
    "data": "Data: digits, npz:FILE, csv:FILE or parquet:FILE",
    "label": "Column of the labels",
    "time": "Column of the times",
    "client": "Column of the clients",
    "pilot": "Pilot: look at so many samples alone",
    "buffers": "Buffers of the clients",
    "budget": "Budget, in a round",
    "prices": "Prices: uniform:LOW:HIGH, integer:…, markov:…, drifting:…, or one",
    "price_file": "Prices from a CSV file",
    "price_column": "Its column",
    "rounds": "Rounds",
    "policies": "Policies, with commas",
    "K": "K; empty for the best by the bound",
    "eta": "Step size η",
    "steps": "Local steps E",
    "decay": "Decay τ; empty for none",
    "average": "Mean of models",
    "average_by": "Its parameter",
    "objective": "The search makes small",
}
GROUPS = {
    "Money": ("budget", "buffers", "prices", "price_file", "price_column", "rounds"),
    "Data": ("data", "label", "time", "client", "pilot"),
    "Learner and policy": ("policies", "K", "eta", "steps", "decay", "average", "average_by", "objective"),
}
CHOICES = {"average": AVERAGES, "objective": OBJECTIVES}
LAYOUT = """
body { font-size: 1rem }
.plan { display: grid; grid-template-columns: minmax(0, 22rem) minmax(0, 1fr); gap: 1.5rem; width: 100% }
.plan pre { white-space: pre-wrap; overflow-wrap: anywhere; font-family: monospace; margin: 0 }
.drop { width: 100% }
@media (max-width: 60rem) { .plan { grid-template-columns: minmax(0, 1fr) } }
"""

SCHEME = """
const dark = matchMedia("(prefers-color-scheme: dark)");
emitEvent("scheme", dark.matches);
dark.addEventListener("change", one => emitEvent("scheme", one.matches));
"""  # pictures have colours of their own


def serve(port: int, *, show: bool) -> None:
    """Serve the page to this machine alone, until Ctrl-C."""
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])
    planner = Planner()
    with tempfile.TemporaryDirectory(prefix="acdpp-explore-") as folder:

        @ui.page("/")
        def _() -> None:
            Page(planner, Path(tempfile.mkdtemp(dir=folder)))

        ui.run(
            host=HOST,
            port=port,
            title="acdpp explore",
            dark=None,
            language="en-US",
            show=show,
            reload=False,
            show_welcome_message=False,
        )


class Page:
    """One visit: its fields, what they ask, and what is drawn of the answer."""

    def __init__(self, planner: Planner, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, str] = {}  # of dropped files, by where they lie
        self.asking = Asking(planner)
        self.training: Training | None = None
        self.asked: Asked | None = None
        self.seen: tuple[int, int, bool] = (-1, -1, False)
        self.fields: dict[str, Any] = {}
        ui.add_css(LAYOUT)
        self.dark = False
        ui.dark_mode(None)
        ui.on("scheme", self._seen_in)
        with ui.column().classes("w-full"), ui.element("div").classes("plan"):
            with ui.element("form").props('aria-label="What to plan"'):
                self._form(first_form())
            with ui.column().classes("w-full"):
                self._answer()
        self._ask()
        ui.timer(EVERY, self._look)
        ui.timer(0, lambda: ui.run_javascript(SCHEME), once=True)
        ui.context.client.on_disconnect(self.asking.stop)

    # --- fields --------------------------------------------------------------------------------------------

    def _form(self, first: Form) -> None:
        for title, names in GROUPS.items():
            ui.label(title).classes("text-h6").props('role="heading" aria-level="2"')
            for name in names:
                value = getattr(first, name)
                made: ui.select | ui.input
                if name in CHOICES:
                    made = ui.select(list(CHOICES[name]), label=WORDS[name], value=value)
                else:
                    made = ui.input(WORDS[name], value=value).props("debounce=200")
                made.without_auto_validation()  # which would take away what is said of it here
                self.fields[name] = made.classes("w-full").on_value_change(self._ask)
                made.props(f'data-field="{name}"')
                if name == "budget":
                    self.slider = ui.slider(min=1, max=10 * float(value), step=1, value=float(value))
                    self.slider.on("update:model-value", self._slid, throttle=0.05)  # by hand alone
                    self.slider.props('aria-label="Budget, in a round"')
                if name in ("price_file", "data"):
                    self._drop(name)

    def _drop(self, name: str) -> None:
        what = "prices (CSV)" if name == "price_file" else "samples (npz, CSV, Parquet)"

        async def dropped(given: events.UploadEventArguments) -> None:
            place = self.folder / Path(given.file.name).name
            await given.file.save(place)
            self.names[str(place)] = place.name
            kind = place.suffix.lstrip(".").lower()
            self.fields[name].value = str(place) if name == "price_file" else f"{kind}:{place}"
            self._ask()

        dropping = ui.upload(label=f"Drop {what}", auto_upload=True, on_upload=dropped, max_files=1)
        dropping.props("flat bordered").classes("drop")

    def _slid(self) -> None:
        self.fields["budget"].value = f"{self.slider.value:g}"

    def form(self) -> Form:
        """What is typed now."""
        return Form(**{one.name: str(self.fields[one.name].value or "") for one in fields(Form)})

    def _ask(self) -> None:
        self.asked, wrong = read_form(self.form(), self.names)
        for name, made in self.fields.items():
            made.error = wrong.get(name)
        if self.asked is not None:
            self.slider.value = self.asked.study.budget
            self.asking.ask(self.asked, search=False)
            self.status.text = "predicting"

    # --- the answer ----------------------------------------------------------------------------------------

    def _answer(self) -> None:
        self.status = ui.label().props('role="status"')
        with (
            ui.element("div")
            .classes("w-full")
            .props('role="img" aria-label="Predicted excess risk by round"')
        ):
            self.chart = ui.echart({}, renderer="svg").classes("w-full").style("height: 26rem")
        self.numbers = ui.column().classes("w-full gap-1")
        with ui.element("div").classes("w-full").props('role="img" aria-label="Samples a round by budget"'):
            self.money = ui.echart({}, renderer="svg").classes("w-full").style("height: 18rem")
        with ui.row():
            ui.button("Search the best", on_click=self._search)
            self.starting = ui.button("Start the training", on_click=self._train)
            ui.button("Copy the command", on_click=lambda: self._copy("predict")).props("outline")
            ui.button("Copy the TOML file", on_click=lambda: self._copy("toml")).props("outline")
        self.progress = ui.linear_progress(0, show_value=False).props('aria-label="Training"')
        self.trained = ui.label().props('role="status"')
        self.best = ui.column().classes("w-full gap-1")
        self.spelled = ui.column().classes("w-full gap-2")

    def _seen_in(self, told: events.GenericEventArguments) -> None:
        self.dark = bool(told.args)

    def _look(self) -> None:
        """Draw what is new."""
        asking, training = self.asking, self.training
        if asking.doing:
            self.status.text = asking.doing
        now = (asking.news, -1 if training is None else training.news, self.dark)
        if now == self.seen:
            return
        self.seen = now
        if asking.refused is not None:
            self.fields[asking.refused[0]].error = asking.refused[1]
            self.status.text = asking.refused[1]
            return
        if asking.answer is not None:
            self._draw(asking.answer)
        if training is not None:
            self._draw_training(training)

    def _draw(self, answer: Answer) -> None:
        measured = {} if self.training is None else dict(self.training.curves.means)
        _put(self.chart, curves_chart(answer, measured, dark=self.dark))
        _put(self.money, money_chart(answer, dark=self.dark))
        self.status.text = f"next: {answer.doing}" if answer.doing else "predicted in full"
        self.numbers.clear()
        with self.numbers:
            for line in said(answer):
                ui.label(line)
        self.spelled.clear()
        if self.asked is not None:
            with self.spelled:
                for words in commands(self.asked).values():
                    ui.html(f"<pre>{_escaped(words)}</pre>", sanitize=False)
        self.best.clear()
        if answer.design is not None:
            with self.best:
                for line in recommended(answer.design):
                    ui.label(line)

    def _copy(self, what: str) -> None:
        if self.asked is not None:
            ui.clipboard.write(commands(self.asked)[what])
            ui.notify("copied")

    def _search(self) -> None:
        if self.asked is not None:
            self.asking.ask(self.asked, search=True)

    # --- training ------------------------------------------------------------------------------------------

    def _train(self) -> None:
        if self.training is not None and self.training.running:
            self.training.stop()
        elif self.asked is not None:
            self.training = Training(self.asked)

    def _draw_training(self, training: Training) -> None:
        self.progress.value = training.done / training.study.rounds
        self.starting.text = "Stop the training" if training.running else "Start the training"
        self.trained.text = training.refused or f"{training.curves.sentence()}; result: {training.folder}"


def _put(chart: Any, options: dict[str, Any]) -> None:
    chart.options.clear()
    chart.options.update(options)
    chart.update()


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
