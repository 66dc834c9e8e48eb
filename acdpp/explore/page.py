"""The page: fields, charts and buttons. It reads forms, asks the planner and draws; it computes nothing."""

import shlex
import tempfile
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from nicegui import app, events, ui
from starlette.middleware.trustedhost import TrustedHostMiddleware

from acdpp.explore.fields import Fields, heading
from acdpp.explore.form import Asked, first_form, read_form, taken_over
from acdpp.explore.pictures import curves_chart, money_chart
from acdpp.explore.planner import CONFIG, Answer, Planner, commands
from acdpp.explore.words import figures, money_said, recommended, rows, summary
from acdpp.explore.working import Asking, Training

__all__ = ["HOST", "serve"]

HOST = "127.0.0.1"
REFRESH_SECONDS = 0.1
RECONNECT_SECONDS_MAX = 60.0  # silence of a page, as on a busy machine, after which the server forgets it
SCHEME = """
const dark = matchMedia("(prefers-color-scheme: dark)");
emitEvent("scheme", dark.matches);
dark.addEventListener("change", one => emitEvent("scheme", one.matches));
"""  # charts have colours of their own
EXPLAINED = (
    "Excess risk is the loss on fresh data minus that of the best model. A band is two standard errors to either side; "
    "dotted curves are coarse, and full predictions follow."
)
SEARCHED = "The search over policy, K, steps and mean of models starts after the curves."


def serve(port: int, *, show: bool) -> None:
    """Serve the page to this machine only, until Ctrl-C."""
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
            reconnect_timeout=RECONNECT_SECONDS_MAX,
        )


class Page:
    """One visit: its fields, its question and the drawn answer."""

    def __init__(self, planner: Planner, folder: Path) -> None:
        self.asking = Asking(planner)
        self.training: Training | None = None
        self.asked: Asked | None = None
        self.seen: tuple[int, int, bool] = (-1, -1, False)
        self.dark = False
        ui.add_css(Path(__file__).with_name("page.css"))
        ui.dark_mode(None)
        ui.colors(primary="#1668a0")
        ui.on("scheme", self._seen_in)
        with ui.element("header").classes("top"):
            ui.html("<h1>Plan what to buy, and how to learn from it</h1>", sanitize=False)
            self.short = ui.label()
            self.status = ui.label().classes("now").props('role="status"')
        with ui.element("main").classes("plan"):
            with ui.element("form").props('aria-label="What to plan" onsubmit="return false"'):
                self.fields = Fields(first_form(), folder, self._ask)
            with ui.element("div").classes("answer"):
                self._answer()
        self._ask()
        ui.timer(REFRESH_SECONDS, self._look)
        ui.timer(0, lambda: ui.run_javascript(SCHEME), once=True)
        ui.context.client.on_delete(self.asking.stop)
        app.on_shutdown(self.asking.stop)  # or Ctrl-C would wait for a search

    def _ask(self) -> None:
        self.asked, wrong = read_form(self.fields.form(), self.fields.names)
        self.fields.blame(wrong)
        if self.asked is None:
            self.asking.stop()
            self.status.text = "see the fields in red"
        else:
            self.fields.slide_to(self.asked.study.budget)
            self.asking.ask(self.asked)
            self.status.text = "predicting"

    # --- the answer ----------------------------------------------------------------------------------------

    def _answer(self) -> None:
        self.figures = ui.element("dl").classes("figures").style("margin: 0")
        with _card("Predicted learning curves"):
            self.chart = _chart("Predicted excess risk by round", "22rem")
            _quietly(EXPLAINED)
            self.rows = ui.element("div").classes("wide")
        with _card("Recommended"):
            self.searching = _quietly(SEARCHED).props('role="status"')
            self.best = ui.element("div")
            with ui.element("div").classes("buttons"):
                self.taking = ui.button("Use these settings", on_click=self._take).props("unelevated")
        with _card("What the budget buys"):
            self.money = _chart("Samples per round by budget", "15rem")
            self.bought = _quietly("")
        with _card("Train it"):
            _quietly("Measurements are drawn over the predictions; the result is a folder on this machine.")
            with ui.element("div").classes("buttons"):
                self.starting = ui.button("Start the training", on_click=self._train).props("unelevated")
            self.progress = ui.linear_progress(0, show_value=False).props('aria-label="Training"')
            self.progress.classes("q-mt-sm")
            self.trained = _quietly("").props('role="status"')
            self.after = ui.element("div")
        with _card("On the command line"):
            _quietly(f"Save the file as {CONFIG} in the folder of your data, and run the commands there.")
            self.spelled = ui.element("div")
            with ui.element("div").classes("buttons"):
                for words, what in (("command", "predict"), ("TOML file", "toml")):
                    copying = ui.button(f"Copy the {words}", on_click=lambda what=what: self._copy(what))
                    copying.props("outline")

    def _seen_in(self, told: events.GenericEventArguments) -> None:
        self.dark = bool(told.args)

    def _look(self) -> None:
        """Draw what has changed."""
        asking, training = self.asking, self.training
        if self.asked is not None:
            self._tell(asking)
        now = (asking.news, -1 if training is None else training.news, self.dark)
        if now == self.seen:
            return
        self.seen = now
        if training is not None:
            self._draw_training(training)
        if asking.refused is not None:
            field, sentence = asking.refused
            self.fields.blame({field: sentence})
            self.status.text = "see the field in red"
        elif asking.answer is not None:
            self._draw(asking.answer)

    def _tell(self, asking: Asking) -> None:
        """Show the progress of the prediction, or of the search."""
        if asking.doing:
            searching = asking.current is not None and asking.current.done
            (self.searching if searching else self.status).text = asking.doing

    def _draw(self, answer: Answer) -> None:
        training = self.training
        same = training is not None and training.study == answer.study
        measured = dict(training.curves.means) if training is not None and same else {}
        _put(self.chart, curves_chart(answer, measured, dark=self.dark))
        _put(self.money, money_chart(answer, dark=self.dark))
        self.short.text = summary(answer)
        self.status.text = "predicted in full" if answer.done else f"next: {answer.doing}"
        self.bought.text = money_said(answer)
        cards = (
            f'<div class="card"><dt>{escape(one.name)}</dt><dd>{escape(one.number)}</dd>'
            f"<dd>{escape(one.detail)}</dd></div>"
            for one in figures(answer)
        )
        _fill(self.figures, "".join(cards), "display: contents")
        notes = "".join(f"<p>Note: {escape(one)}</p>" for one in answer.notes)
        _fill(self.rows, _policies(rows(answer)) + notes)
        self.fields.chosen.text = answer.chosen
        _fill(self.spelled, "".join(f"<pre>{escape(one)}</pre>" for one in commands(answer.asked).values()))
        self.taking.set_visibility(answer.design is not None)
        self.searching.set_visibility(answer.design is None)
        self.searching.text = self.fields.readable(answer.unfound) or SEARCHED
        _fill(self.best, "" if answer.design is None else _told(recommended(answer.design)))

    def _take(self) -> None:
        if self.asking.answer is not None and self.asking.answer.design is not None:
            self.fields.put(taken_over(self.fields.form(), self.asking.answer.design))

    def _copy(self, what: str) -> None:
        answer = self.asking.current
        if answer is None:
            ui.notify("not yet: the prediction for these fields is not ready")
        else:
            ui.clipboard.write(commands(answer.asked)[what])
            ui.notify("copied")

    # --- training ------------------------------------------------------------------------------------------

    def _train(self) -> None:
        if self.training is not None and self.training.running:
            self.training.stop()
        elif self.asked is not None:
            self.training = Training(self.asked, planner=self.asking.planner)

    def _draw_training(self, training: Training) -> None:
        self.progress.value = training.done / training.study.rounds
        self.starting.text = "Stop the training" if training.running else "Start the training"
        self.trained.text = self.fields.readable(training.said)
        if training.summary is None:
            self.after.clear()
        else:
            words = ["acdpp", "export", str(training.folder), "--policy", training.study.policies[0]]
            _fill(self.after, f"<pre>{escape(shlex.join([*words, '--out', 'model.pt']))}</pre>")


# --- parts of the page -------------------------------------------------------------------------------------


def _card(title: str) -> ui.element:
    card = ui.element("section").classes("card")
    with card:
        heading(title)
    return card


def _quietly(text: str) -> ui.label:
    return ui.label(text).classes("quiet")


def _chart(what: str, height: str) -> Any:
    with ui.element("div").props(f'role="img" aria-label="{what}"'):
        return ui.echart({}, renderer="svg").classes("w-full").style(f"height: {height}")


def _put(chart: Any, options: dict[str, Any]) -> None:
    chart.options.clear()
    chart.options.update(options)
    chart.update()


def _fill(place: ui.element, html: str, style: str = "") -> None:
    place.clear()
    with place:
        ui.html(html, sanitize=False).style(style)


def _policies(found: Iterable[Sequence[str]]) -> str:
    cells = "".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(f'<td class="number">{escape(one)}</td>' for one in numbers)
        + f'</tr><tr class="does"><td colspan="4">{escape(does)}</td></tr>'
        for name, does, *numbers in found
    )
    columns = ("samples per round", "over all rounds", "at the end")
    heads = "".join(f'<th scope="col" class="number">{one}</th>' for one in columns)
    head = f'<thead><tr><th scope="col">policy</th>{heads}</tr></thead>'
    return f'<table class="rows">{head}<tbody>{cells}</tbody></table>'


def _told(found: Iterable[tuple[str, str]]) -> str:
    row = '<tr><th scope="row">{}</th><td>{}</td></tr>'
    cells = "".join(row.format(escape(of), escape(text)) for of, text in found)
    return f'<table class="rows told"><tbody>{cells}</tbody></table>'
