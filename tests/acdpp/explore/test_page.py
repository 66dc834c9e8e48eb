"""The page in a real browser: desktop and phone, light and dark, by keyboard alone; it asks nothing of anybody.

Driven by Playwright with the Chromium of the system, where there is one. A server and a browser take a while: slow.
"""

import os
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from acdpp.explore.form import FIELDS
from tests.acdpp.pages import ROOT, answers, served

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("browser"),
    pytest.mark.skipif(find_spec("nicegui") is None, reason="there is no NiceGUI"),
]
sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect
expect.set_options(timeout=30_000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("explore")


@pytest.fixture(scope="module")
def address(folder):
    with served(folder) as found:
        yield found


@pytest.fixture
def visit(browser, address):
    """Opens the page; in the end it has asked nobody else for anything, and complained of nothing."""
    asked = []
    said = []
    opened = []

    def start(width=1280, scheme="light", rounds="5", height=800):
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = context.new_page()
        opened.append(context)
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(address)
        field(page, "rounds").fill(rounds)
        expect(page.get_by_text(f"after {rounds} rounds")).to_be_visible()
        expect(page.get_by_text("predicted in full")).to_be_visible(timeout=120_000)
        return page

    yield start
    for context in opened:
        context.close()
    assert said == []
    here = address.removeprefix("http")
    assert all(url.startswith((f"http{here}", f"ws{here}", "data:", "blob:")) for url in asked)
    assert len(asked) > 10


def field(page, name):
    return page.locator(f'input[data-field="{name}"], [data-field="{name}"] input').first


def beside(page, name):
    return page.locator("label", has=field(page, name))


def drop(page, what, *files):
    """Drop files onto their place, as a hand does."""
    data = page.evaluate_handle("new DataTransfer()")
    for file in files:
        page.evaluate(
            "([data, name, text]) => data.items.add(new File([text], name))",
            [data, file.name, file.read_text()],
        )
    place = page.locator(".drop", has_text=what)
    place.dispatch_event("dragover", {"dataTransfer": data})
    place.locator(".q-uploader__dnd").dispatch_event("drop", {"dataTransfer": data})


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_seen_as_a_whole_on_any_screen_in_the_light_and_in_the_dark(visit, width, scheme):
    page = visit(width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    form, picture = (
        page.locator(one).bounding_box() for one in ("form", "[aria-label='Predicted excess risk by round']")
    )
    right = picture["x"] >= form["x"] + form["width"]
    assert right == (width > 960)
    wanted = "rgb(51, 51, 51)" if scheme == "light" else "rgb(221, 221, 221)"
    ink = "() => getComputedStyle(document.querySelector('svg text')).fill"
    page.wait_for_function(f"({ink})() == '{wanted}'")
    assert page.evaluate(CONTRASTS) == []


CONTRASTS = """() => {
  const linear = one => one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4;
  const light = text => {
    const [r, g, b] = text.match(/[0-9.]+/g).slice(0, 3).map(one => linear(one / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const ground = one => {
    const found = one ? getComputedStyle(one).backgroundColor : "rgb(255, 255, 255)";
    return found.endsWith(", 0)") ? ground(one.parentElement) : found;
  };
  const ratio = one => light(getComputedStyle(one).color) / light(ground(one));
  const words = "h1, h2, dt, dd, th, td, pre, .quiet, .now, .q-btn, .q-uploader__title";
  return [...document.querySelectorAll(words)].filter(one => one.innerText.trim() && one.offsetParent)
    .filter(one => Math.max(ratio(one), 1 / ratio(one)) < 4.5).map(one => one.innerText.slice(0, 30));
}"""  # words of less than 4.5 to 1


def test_it_is_worked_by_keyboard_alone(visit, tmp_path):
    page = visit()
    choosers = []
    page.on("filechooser", lambda one: choosers.append(one))  # long before: asked at Enter it may be too late
    keys, reached = page.keyboard, []
    page.evaluate("document.activeElement.blur()")
    for _ in range(50):
        keys.press("Tab")
        reached.append(
            page.evaluate(
                "(one => one.dataset.field || one.closest('[data-field]')?.dataset.field"
                " || one.getAttribute('aria-label') || one.innerText)(document.activeElement)"
            )
        )
    wanted = set(FIELDS) - {"label", "time", "client", "price_column", "fit"}  # which digits do not have
    assert wanted | {"Start the training", "Copy the command", "Copy the TOML file"} <= set(reached)
    expect(page.get_by_role("slider", name="Budget per round")).to_have_count(1)
    field(page, "budget").focus()
    keys.press("Control+A")
    keys.type("110")
    expect(page.get_by_text("K = 5 and 20 samples per round")).to_be_visible()
    keys.press("Tab")  # the slider
    keys.press("ArrowRight")
    expect(field(page, "budget")).to_have_value("111")
    expect(page.locator("pre").first).to_contain_text("budget = 111.0")
    field(page, "policies").focus()
    keys.type("constant")
    keys.press("Enter")
    keys.press("Escape")
    expect(page.locator("pre").first).to_contain_text('policies = ["taper-online", "constant"]')
    (tmp_path / "prices.csv").write_text("5\n" * 9)
    expect(page.get_by_text("predicted in full")).to_be_visible(timeout=120_000)
    field(page, "price_file").focus()
    keys.press("Tab")
    expect(page.get_by_role("button", name="Choose a CSV file of prices")).to_be_focused()
    keys.press("Enter")
    for _ in range(200):
        if not choosers:
            page.wait_for_timeout(50)
    choosers[0].set_files(tmp_path / "prices.csv")
    expect(field(page, "price_file")).to_have_value("prices.csv")


def test_a_plan_from_two_dropped_files_is_copied(visit, tmp_path):
    """Somebody with a table of samples and one of prices: no name is typed, but for the prices' column."""
    noise = np.random.default_rng(0)
    x, prices = noise.normal(size=(400, 3)), noise.uniform(2, 4, 20)
    kinds = np.where(x[:, 0] + x[:, 1] + noise.normal(size=400) > 0, "yes", "no")
    lines = [",".join([*map("{:.3f}".format, row), kind]) for row, kind in zip(x, kinds, strict=True)]
    (tmp_path / "samples.csv").write_text("a,b,c,label\n" + "\n".join(lines))
    (tmp_path / "prices.csv").write_text(
        "\n".join(["day,eur", *(f"{k},{one:.2f}" for k, one in enumerate(prices))])
    )
    page = visit()
    drop(page, "samples", tmp_path / "samples.csv")
    expect(field(page, "data")).to_have_value("csv:samples.csv")
    drop(page, "prices", tmp_path / "prices.csv")
    expect(field(page, "price_file")).to_have_value("prices.csv")
    expect(beside(page, "price_column")).to_contain_text("choose the column")
    field(page, "price_column").click()
    page.get_by_role("option", name="eur").click()
    shown = page.locator("pre").first
    expect(shown).to_contain_text('column = "eur"')
    expect(shown).to_contain_text('label_column = "label"')
    expect(page.get_by_text("chosen by a pilot: scale")).to_be_visible()
    expect(page.get_by_text("predicted in full")).to_be_visible()
    page.get_by_role("button", name="Copy the TOML file").click()
    expect(page.get_by_text("copied", exact=True)).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == shown.text_content()
    page.get_by_role("button", name="Copy the command").click()
    command = "acdpp predict --config plan.toml --no-best"
    page.wait_for_function("wanted => navigator.clipboard.readText().then(one => one == wanted)", arg=command)
    (tmp_path / "samples.csv").write_text("a,b,c,label\n1,2,3,yes\nfour,5,6,no\n")
    drop(page, "samples", tmp_path / "samples.csv")  # another of the same name
    expect(beside(page, "data")).to_contain_text(re.compile(r"samples.csv.*four"))
    assert str(tmp_path.parent) not in page.content()
    assert "/acdpp-explore-" not in page.content()


def test_a_training_is_started_and_drawn_over_what_was_predicted(visit, folder):
    page = visit()
    page.get_by_role("button", name="Start the training").click()
    expect(page.get_by_text("excess risk, round 5 of 5")).to_be_visible()
    measured = page.locator("svg text", has_text="taper-online, measured")
    expect(measured).to_be_visible()
    expect(page.get_by_role("button", name="Start the training")).to_be_visible()
    (result,) = (folder / "results").iterdir()
    assert (result / "summary.json").exists()
    expect(page.locator("pre", has_text=f"acdpp export results/{result.name}")).to_be_visible()
    field(page, "budget").fill("60")  # another plan, of which nothing is measured
    expect(measured).to_have_count(0)


def test_what_is_recommended_is_put_into_the_form(visit):
    """ACDPP_RECORD=1 takes 500 rounds and draws docs/explore.png."""
    record = bool(os.environ.get("ACDPP_RECORD"))
    page = visit(rounds="500" if record else "5", height=1290 if record else 800)
    use = page.get_by_role("button", name="Use these settings")
    expect(use).to_be_visible(timeout=600_000)
    told = page.locator("table.told")
    expect(told).to_contain_text("Retention K")
    policy = str(told.locator("td").first.text_content()).partition(":")[0]
    if record:
        page.evaluate("document.activeElement.blur()")
        page.screenshot(path=ROOT / "docs" / "explore.png")
    use.click()
    expect(beside(page, "policies")).to_contain_text(policy)
    expect(page.locator("pre").first).to_contain_text(f'policies = ["{policy}"]')


def test_it_is_for_this_machine_alone(address):
    assert answers(address) == 200
    assert answers(address, Host="elsewhere.example") == 400
    port = int(address.rstrip("/").rpartition(":")[2])
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    listening = [line[1] for line in lines if line[3] == "0A" and int(line[1].split(":")[1], 16) == port]
    assert listening == [f"0100007F:{port:04X}"]
