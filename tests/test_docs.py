"""The examples of the documentation run as they stand, and what pages show of long commands is on record."""

import re
import shlex
from pathlib import Path

import pytest

from acdpp.plan import show
from docs.numbers.results import result
from figures import learning
from figures.measured import read
from figures.options import Style
from figures.style import LOOKS
from tests.acdpp.program import acdpp

DOCS = Path(__file__).parents[1] / "docs"
EXAMPLES = [
    pytest.param(code, id=f"{page.stem}-{n}")
    for page in sorted(DOCS.glob("*.md"))
    for n, code in enumerate(
        re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL), start=1
    )
    if "model.pt" not in code  # tests/empirics/test_export.py runs it where acdpp is not installed
]


def shown(page: str, command: str) -> tuple[str, list[str]]:
    """The whole command that begins like this, and the lines of output that the page shows for it."""
    text = (DOCS / page).read_text(encoding="utf-8")
    whole, output = re.search(
        rf"```sh\n({re.escape(command)}.*?)\n```\n\n```text\n(.*?)```", text, re.DOTALL
    ).groups()
    return whole, [" ".join(line.split()) for line in output.splitlines()]


@pytest.mark.parametrize("code", EXAMPLES)
def test_an_example_runs_and_says_something(code, tmp_path, monkeypatch, capsys, request):
    """Fewer rounds, seeds, classes and samples of a pilot than are shown."""
    monkeypatch.chdir(tmp_path)
    short = (
        code.replace("rounds=40", "rounds=4, seeds=2")
        .replace("pilot=200", "pilot=40")
        .replace("rounds=20", "rounds=3, labels='parity'")
    )
    exec(compile(short, "example", "exec"), {"__name__": "example"})
    assert capsys.readouterr().out.strip()
    if request.node.callspec.id == "your-own-1":
        assert sum(bool(line.strip()) for line in code.splitlines()) < 20
        figure = learning.draw(learning.compute(read(tmp_path / "mine")), LOOKS[Style.paper])
        assert "bargains" in {text.get_text() for text in figure.findobj(lambda a: hasattr(a, "get_text"))}


def test_the_case_on_the_first_page_is_the_recorded_one():
    """All that is shown is printed."""
    command, lines = shown("index.md", "acdpp verify --claim lem:omega3-order")
    printed = " ".join(acdpp(*shlex.split(command)[1:]).stdout.split())
    for line in lines:
        assert line.strip("… ─") in printed


def test_the_plan_that_is_shown_is_the_one_on_record(capsys):
    show(result("design-digits-500")["design"])
    printed = " ".join(capsys.readouterr().out.split())
    for line in shown("set-budgets.md", "acdpp plan")[1]:
        assert line in printed


@pytest.mark.slow
def test_the_drift_that_is_shown_is_what_is_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "drift.md").read_text(encoding="utf-8")
    exec(re.search(r"```python\n([^`]*np\.savetxt[^`]*)```", page, re.DOTALL)[1], {})
    command, lines = shown("drift.md", "acdpp predict --preset own")
    printed = " ".join(acdpp(*shlex.split(command)[1:]).stdout.split())
    for line in lines:
        assert line in printed
