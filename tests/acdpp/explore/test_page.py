"""The page in a real browser: desktop and phone, light and dark, by keyboard alone; it asks nothing of anybody.

Driven by Playwright with the Chromium of the system, where there is one. A server and a browser take a while: slow.
"""

import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from acdpp.explore.form import FIELDS
from tests.empirics.small import until

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"),
    pytest.mark.skipif(find_spec("nicegui") is None, reason="there is no NiceGUI"),
]
sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect
expect.set_options(timeout=15_000)
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("explore")


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """The page, served by the command itself."""
    command = [sys.executable, "-m", "acdpp", "explore", "--no-open"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    env |= {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    with (folder / "said").open("w") as said:
        server = subprocess.Popen(command, cwd=folder, env=env, stdout=said, stderr=said)
    try:
        found = until(lambda: re.search(r"http://\S+/", (folder / "said").read_text()), 60).group()
        until(lambda: _answers(found), 60)
        yield found
    finally:
        server.terminate()
        server.wait(20)


def _answers(address: str, **headers: str) -> int:
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Any]:
    """Opens the page; in the end it has asked nobody else for anything, and complained of nothing."""
    asked: list[str] = []
    said: list[str] = []
    opened = []

    def start(width: int = 1280, scheme: str = "light") -> Any:
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = context.new_page()
        opened.append(context)
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(address)
        field(page, "rounds").fill("5")
        expect(page.get_by_text("predicted in full")).to_be_visible()
        return page

    yield start
    for context in opened:
        context.close()
    assert said == []
    here = address.removeprefix("http")
    assert all(url.startswith((f"http{here}", f"ws{here}", "data:", "blob:")) for url in asked)
    assert len(asked) > 10


def field(page: Any, name: str) -> Any:
    return page.locator(f'input[data-field="{name}"], [data-field="{name}"] input').first


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_seen_as_a_whole_on_any_screen_in_the_light_and_in_the_dark(
    visit: Any, width: int, scheme: str
) -> None:
    page = visit(width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    form, picture = (
        page.locator(one).bounding_box() for one in ("form", "[aria-label='Predicted excess risk by round']")
    )
    beside = picture["x"] >= form["x"] + form["width"]
    assert beside == (width > 960)
    wanted = "rgb(51, 51, 51)" if scheme == "light" else "rgb(221, 221, 221)"
    ink = "() => getComputedStyle(document.querySelector('svg text')).fill"
    page.wait_for_function(f"({ink})() == '{wanted}'")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper in (
        ("rgba(0, 0, 0, 0)", "rgb(255, 255, 255)") if scheme == "light" else ("rgb(18, 18, 18)",)
    )


def test_it_is_worked_by_keyboard_alone(visit: Any) -> None:
    page = visit()
    keys, reached = page.keyboard, []
    page.evaluate("document.activeElement.blur()")
    for _ in range(60):
        keys.press("Tab")
        reached.append(
            page.evaluate(
                "(one => one.dataset.field || one.closest('[data-field]')?.dataset.field"
                " || one.getAttribute('aria-label') || one.innerText)(document.activeElement)"
            )
        )
    assert set(FIELDS) <= set(reached)
    buttons = {"Search the best", "Start the training", "Copy the command", "Copy the TOML file"}
    assert {one.lower() for one in buttons} <= {str(one).lower() for one in reached}
    field(page, "budget").focus()
    keys.press("Control+A")
    keys.type("110")
    expect(page.get_by_text("K = 5 and 20 samples a round")).to_be_visible()
    keys.press("Tab")  # the slider
    keys.press("ArrowRight")
    expect(field(page, "budget")).to_have_value("111")
    expect(page.locator("pre").first).to_contain_text("budget = 111.0")


def test_bad_input_is_a_sentence_beside_its_field_and_goes_away(visit: Any) -> None:
    page = visit()
    field(page, "budget").fill("much")
    sentence = "budget must be a number such as 5.5"
    near = page.locator("label", has=field(page, "budget"))
    expect(near).to_contain_text(sentence)
    expect(page.get_by_text(sentence)).to_have_count(1)
    field(page, "budget").fill("40")
    expect(page.get_by_text(sentence)).to_have_count(0)
    field(page, "policies").fill("adaptive")  # refused by the prediction, not by the form
    expect(page.locator("label", has=field(page, "policies"))).to_contain_text("listens to losses")
    field(page, "average").click()
    page.get_by_role("option", name="none").click()
    expect(page.locator("label", has=field(page, "average_by"))).to_contain_text("takes no average_by")


def test_a_file_of_prices_is_dropped_and_named_in_what_is_copied(visit: Any, tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text("price\n" + "2\n4\n" * 10)
    page = visit()
    page.locator("input[type=file]").first.set_input_files(tmp_path / "prices.csv")
    expect(page.locator("pre").first).to_contain_text('file = "prices.csv"')
    expect(page.get_by_text("K = 6 and 16.67 samples a round")).to_be_visible()
    page.get_by_role("button", name="Copy the TOML file").click()
    expect(page.get_by_text("copied", exact=True)).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.locator("pre").first.text_content()
    assert 'file = "prices.csv"' in copied
    page.get_by_role("button", name="Copy the command").click()
    page.wait_for_function(
        "navigator.clipboard.readText().then(one => one == 'acdpp predict --config plan.toml --no-best')"
    )


def test_a_training_is_started_and_drawn_over_what_was_predicted(visit: Any, folder: Path) -> None:
    page = visit()
    page.get_by_role("button", name="Start the training").click()
    expect(page.get_by_text("excess risk, round 5 of 5")).to_be_visible()
    expect(page.locator("svg text", has_text="taper-online, measured")).to_be_visible()
    expect(page.get_by_role("button", name="Start the training")).to_be_visible()
    (result,) = (folder / "results").iterdir()
    assert (result / "summary.json").exists()


def test_it_is_for_this_machine_alone(address: str) -> None:
    assert _answers(address) == 200
    assert _answers(address, Host="elsewhere.example") == 400
    port = int(address.rstrip("/").rpartition(":")[2])
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    listening = [line[1] for line in lines if line[3] == "0A" and int(line[1].split(":")[1], 16) == port]
    assert listening == [f"0100007F:{port:04X}"]
