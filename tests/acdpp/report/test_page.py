"""The page in a real browser: what a reader looks for is found, nothing is asked of anybody, and paper works."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from acdpp.plot import Term
from acdpp.report import drawn
from proofs_check.document import document
from proofs_check.registry import registry
from proofs_check.run import run
from tests.acdpp.program import answer
from tests.figures.small import small_result
from theory.design.offline import design_limit
from theory.setting import Budget, Constants

LABELS = (
    "lem:omega3-order",
    "lem:omega3-order/lipschitz",
    "cor:optimal-k",
    "eq:kstep-drop",
    "eq:vck-exact",
    "eq:ck-distinct-samples",
    "fig:test_acc_all/oracle",
    "law:reuse/regression",
)
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("browser")]
sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of a few cases and of a small result, with two figures of the theory and one of the result."""
    here = tmp_path_factory.mktemp("report")
    found = document(run([claim for claim in registry() if claim.id in LABELS]), version="0.0.1", seed=0)
    (here / "verdicts.json").write_text(json.dumps(found), encoding="utf-8")
    words = f"--verdicts {here}/verdicts.json --result {small_result(tmp_path_factory)} --out {here} --json"
    with pytest.MonkeyPatch.context() as patch:
        few = {"horizon": "1e3", "K": "2", "term": Term("omega3")}
        patch.setattr(drawn, "REPORTED", (("omegas", few), ("uniformity", {"K": "2"})))
        patch.setattr(drawn, "MEASURED", ["learning"])
        patch.setitem(drawn.FIGURES, "section7", lambda result: [])
        files = answer("report", *words.split(), "--format", "html", "--format", "json")["files"]
    assert files == [str(here / name) for name in ("report.html", "report.json")]
    return here / "report.html"


class Watched:
    """An open page, with all that it asked for and complained about."""

    def __init__(self, page: sync_api.Page, file: Path, where: str = "") -> None:
        self.page, self.asked, self.said = page, [], []  # type: ignore[var-annotated]
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.goto(file.as_uri() + where)

    def shown(self) -> list[str]:
        return [one.get_attribute("id") for one in self.page.locator(".case:visible").all()]  # type: ignore[misc]


@pytest.fixture
def open_page(browser: sync_api.Browser, made: Path) -> Iterator[object]:
    opened: list[Watched] = []

    def start(where: str = "", **context: object) -> Watched:
        opened.append(Watched(browser.new_page(**context), made, where))  # type: ignore[arg-type]
        return opened[-1]

    yield start
    for watched in opened:
        assert watched.said == []
        assert {url.partition("#")[0] for url in watched.asked} == {made.as_uri()}
        watched.page.close()


def test_a_search_finds_by_words_whatever_the_spelling(open_page) -> None:
    watched = open_page()
    page = watched.page
    every = len(watched.shown())
    assert every >= len(LABELS)
    page.keyboard.press("/")
    page.keyboard.type("omega3 certified sums")
    expect(page.locator(".case:visible")).to_have_count(1)
    assert watched.shown() == ["lem:omega3-order"]
    page.keyboard.press("Escape")
    expect(page.locator(".case:visible")).to_have_count(every)
    page.fill("[name=words]", "Ω3")  # printed Ω₃
    assert "lem:omega3-order" in watched.shown()
    assert "eq:kstep-drop" not in watched.shown()
    page.fill("[name=words]", "Ṽ")
    assert 0 < len(watched.shown()) < len(LABELS)
    page.fill("[name=words]", "no such words anywhere")
    assert watched.shown() == []
    assert page.locator(".part:visible").count() == 0
    assert page.inner_text("#shown").startswith("0 of ")


def test_filters_by_verdict_part_and_engine_agree_with_the_document(open_page, made) -> None:
    watched = open_page()
    page = watched.page
    told = json.loads(made.with_name("report.json").read_text(encoding="utf-8"))["claims"]
    cases = {
        claim["id"].replace("/", "."): {
            "verdict": {claim["verdict"]},
            "part": {claim["section"]},
            "engine": {
                e["method"]
                for of in (claim, claim["corrected"] or {})
                for name in ("evidence", "evidence_with_hypotheses")
                for e in of.get(name, ())
            },
        }
        for claim in told
    }
    verdicts = set().union(*(case["verdict"] for case in cases.values()))
    assert verdicts >= {"proved", "refuted", "conditional", "undecided"}
    for name in ("verdict", "part", "engine"):
        for one in page.locator(f"[name={name}] option").all()[1:]:
            option = one.get_attribute("value") or one.inner_text()
            page.select_option(f"[name={name}]", option)
            wanted = [label for label, case in cases.items() if option in case[name]]
            assert watched.shown() == wanted, (name, option)
            assert wanted, (name, option)
        page.click("button[type=reset]")
        expect(page.locator(".case:visible")).to_have_count(len(cases))


def test_a_case_opens_by_click_by_keyboard_and_by_link(open_page) -> None:
    page = open_page().page
    case = page.locator("[id='eq:kstep-drop']")
    expect(case.locator(".body")).to_be_hidden()
    case.locator("> summary").click()
    expect(case.locator(".body")).to_be_visible()
    case.locator("> summary").focus()
    page.keyboard.press("Enter")
    expect(case.locator(".body")).to_be_hidden()

    linked = open_page("#lem:omega3-order.lipschitz").page
    target = linked.locator("[id='lem:omega3-order.lipschitz']")
    expect(target.locator(".body")).to_be_visible()
    expect(target.locator("> summary")).to_be_focused()
    assert target.locator("math").first.bounding_box()["height"] > 10
    certificate = target.locator("details.certificate").first
    expect(certificate.locator("dl")).to_be_hidden()
    certificate.locator("summary").click()
    expect(certificate.locator("dl")).to_be_visible()

    linked.fill("[name=words]", "nothing has this")
    linked.evaluate("location.hash = 'eq:vck-exact'")
    linked.wait_for_selector("[id='eq:vck-exact'][open]")


def test_a_place_that_is_none_spoils_nothing(open_page) -> None:
    page = open_page("#%E0%A4%A").page
    assert page.inner_text("#chooser output").startswith("K = 11 ")


def test_every_link_within_the_page_leads_somewhere(open_page) -> None:
    page = open_page().page
    dead = page.evaluate(
        "[...document.querySelectorAll('a[href]')].map(a => a.getAttribute('href'))"
        ".filter(h => !h.startsWith('#') || !document.getElementById(decodeURIComponent(h.slice(1))))"
    )
    assert dead == []
    twice = page.evaluate(
        "(() => { const ids = [...document.querySelectorAll('[id]')].map(e => e.id);"
        " return ids.filter((id, at) => ids.indexOf(id) !== at); })()"
    )
    assert twice == []


def test_the_three_questions_are_answered_at_the_top(open_page, made) -> None:
    page = open_page().page
    assert page.locator("#questions h3").count() == 3
    assert "Ω₃/log T → ∞" in page.inner_text("#why-omega3")
    assert page.locator("#why-omega3 #figure-omegas svg").count() == 1
    (result,) = json.loads(made.with_name("report.json").read_text(encoding="utf-8"))["results"]
    ratios = [f"{row['predicted_over_measured']:.3f}" for row in result["policies"].values()]
    rows = page.locator("#how-far tbody tr").all_inner_texts()
    assert [row.split("\t")[2] for row in rows] == ratios  # not those of the recorded study
    assert f"{min(ratios)} to {max(ratios)} times" in page.inner_text("#how-far")


def test_the_chosen_k_is_that_of_the_theory(open_page) -> None:
    page = open_page().page
    for buffers, budget, cost in (
        ("8, 9, 10, 11, 12", "26", "5.5"),
        ("0.1 0.1 0.1", "0.3", "1"),  # in floats c̄ΣB/C would be above 1
        ("100", "55", "5.5"),
        ("3", "100", "1"),
        ("1e3;7", "2.5", "1e-1"),
    ):
        for name, value in (("buffers", buffers), ("budget", budget), ("cost", cost)):
            page.fill(f"#chooser [name={name}]", value)
        sizes = tuple(map(Fraction, re.split(r"[\s,;]+", buffers)))
        chosen = design_limit(
            Budget(buffers=sizes, cost=Fraction(budget), mean_cost=Fraction(cost)),
            Constants(D=1, sigma=1, eta=1, B=1, Pdim=1),
        )
        told = page.inner_text("#chooser output")
        assert told.startswith(f"K = {chosen.K} "), told
        admitted = [float(x) for x in re.findall(r"admit ([\d., e+-]+) samples", told)[0].split(",")]
        assert admitted == pytest.approx([float(rate) for rate in chosen.rates], rel=1e-5)
        page.fill("#chooser [name=budget]", "none")
        assert page.inner_text("#chooser output") == "the budget must be a positive number, such as 55"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_a_desk_in_light_and_dark(open_page, scheme: str) -> None:
    page = open_page(color_scheme=scheme).page
    page.click("#unfold")
    for width in (390, 1200):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width

    def brightness(selector: str, of: str) -> float:
        colour = page.evaluate(f"getComputedStyle(document.querySelector('{selector}')).{of}")
        return sum(map(int, re.findall(r"\d+", colour)[:3]))

    def dark() -> bool:
        text, ground = brightness("p", "color"), brightness("body", "backgroundColor")
        letters = brightness("svg.drawing", "fill")
        assert abs(text - ground) > 3 * 120
        assert (letters > ground) == (text > ground)
        return text > ground

    assert dark() == (scheme == "dark")
    page.click("#theme")
    assert dark() != (scheme == "dark")


def test_on_paper_what_is_shown_is_open_and_the_rest_is_left_out(open_page, tmp_path: Path) -> None:
    pdftotext = shutil.which("pdftotext")
    page = open_page(color_scheme="dark").page
    page.select_option("[name=verdict]", "conditional")
    content = page.pdf()
    assert content.startswith(b"%PDF")
    expect(page.locator(".case[open]")).to_have_count(0)  # closed again afterwards
    if pdftotext is None:
        pytest.skip("there is no pdftotext to read the PDF with")
    (tmp_path / "page.pdf").write_bytes(content)
    text = subprocess.run(
        [pdftotext, tmp_path / "page.pdf", "-"], capture_output=True, text=True, check=True
    ).stdout
    assert "the drop of round t takes effect after the training" in " ".join(text.split())
    assert "eq:kstep-drop" in text
    assert "eq:ck-distinct-samples" not in text
    assert "Show all" not in text


def test_it_can_be_read_without_script(browser, made) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(made.as_uri() + "#eq:kstep-drop")
    expect(page.locator("#filters")).to_be_hidden()
    page.locator("[id='eq:kstep-drop'] > summary").click()
    expect(page.locator("[id='eq:kstep-drop'] .body")).to_be_visible()
    page.context.close()


def test_the_page_cannot_ask_for_anything(browser, made, tmp_path) -> None:
    """Its own policy forbids it: what a planted picture from outside would be is refused, and said so."""
    planted = tmp_path / "planted.html"
    text = made.read_text(encoding="utf-8")
    picture = '<main><img src="https://example.org/x.png">'
    planted.write_text(text.replace("<main>", picture), encoding="utf-8")
    watched = Watched(browser.new_page(), planted)
    assert any("Content Security Policy" in said for said in watched.said)
    watched.page.close()
