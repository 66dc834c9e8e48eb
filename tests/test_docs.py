"""Pages and README: examples run as they stand, output is that of commands, numbers are those of results."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from acdpp.plan import show
from docs.numbers.renew import MARKED, PAGES, renewed
from docs.numbers.results import at, result
from figures import learning
from figures.measured import read as measured
from figures.options import Style
from figures.style import LOOKS
from proofs_check import claims_page
from proofs_check.ledger import read
from tests.acdpp.program import acdpp

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
EXAMPLES = [
    pytest.param(code, id=f"{page.stem}-{n}")
    for page in sorted(DOCS.glob("*.md"))
    for n, code in enumerate(
        re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL), start=1
    )
    if "model.pt" not in code  # tests/empirics/test_export.py runs it where acdpp is not installed
]


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
        figure = learning.draw(learning.compute(measured(tmp_path / "mine")), LOOKS[Style.paper])
        assert "bargains" in {text.get_text() for text in figure.findobj(lambda a: hasattr(a, "get_text"))}


def test_the_plan_that_is_shown_is_the_one_on_record(capsys):
    show(result("design-digits-500")["design"])
    printed = " ".join(capsys.readouterr().out.split())
    page = (DOCS / "set-budgets.md").read_text(encoding="utf-8")
    [shown] = re.findall(r"```sh\nacdpp plan [^`]*```\n\n```text\n([^`]*)```", page)
    for line in shown.splitlines():
        assert " ".join(line.split()) in printed


README = (ROOT / "README.md").read_text(encoding="utf-8")
LINES_MAX = 70
CLAIM = "lem:omega3-order"
BLOCKS = re.findall(r"(?ms)^```(\w+)\n(.*?)^```$", README)


def test_the_readme_is_short_with_blocks_of_a_first_minute_its_output_and_the_test_command():
    assert len(README.splitlines()) <= LINES_MAX
    (_, first), (_, _), (_, second) = BLOCKS
    assert [kind for kind, _ in BLOCKS] == ["sh", "text", "sh"]
    assert [line.split()[1] for line in first.splitlines()[1:]] == ["verify", "plot", "design"]
    assert second == "pip install -c constraints.txt -e '.[dev]' && pytest -n 2 --dist loadfile\n"


def test_the_readme_s_output_is_that_of_its_commands(monkeypatch):
    """All claims are decided by tests/proofs_check, and the picture is drawn by test_commands_shown.py."""
    monkeypatch.setenv("COLUMNS", "120")
    _, _, _, design = (line.split()[1:] for line in BLOCKS[0][1].splitlines())
    printed = [acdpp("verify", "--claim", CLAIM).stdout, "plots/bound-vs-T.png", acdpp(*design).stdout]
    verdicts = Counter(str(entry.stated.verdict) for entry in read())
    order = ("proved", "certified", "supported", "conditional", "refuted", "undecided")
    counts = ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in order)
    told = " ".join(" ".join([*printed, f"{verdicts.total()} claims: {counts}"]).split())
    for line in BLOCKS[1][1].replace("…", "").splitlines():
        assert " ".join(line.split()) in told


def test_every_number_of_the_readme_has_a_source():
    """A result file, the output shown, or a command, whose numbers are for the reader to choose."""
    prose = re.sub(r"(?ms)^```.*?^```$|`[^`]*`|\]\([^)]*\)", "", MARKED.sub("", README))
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"][0]
    assert f"*{cited['title']}* ({cited['year']})" in " ".join(prose.split())
    known = {str(cited["year"]), "2.0", *re.findall(r"\d[\d.]*", BLOCKS[1][1])}
    assert set(re.findall(r"\d+(?:\.\d+)?", prose)) <= known


def test_the_table_of_claims_is_that_of_the_ledger():
    page = (DOCS / "claims.md").read_text(encoding="utf-8")
    assert page == claims_page.page(read())
    assert re.findall(r"(?m)^\| `(.*?)`", page) == [entry.id for entry in read()]
    assert claims_page.repairs(read()) in (DOCS / "paper.md").read_text(encoding="utf-8")


WORDS_IN_SHORT = 120
GENERATED = {"claims.md", "kernel.md", "reference.md", "own-formula.md"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_a_page_has_the_numbers_of_the_results_and_says_in_short_what_it_says(page):
    """A marker that begins a line of prose would begin a block of HTML, in which Markdown is not read."""
    text = page.read_text(encoding="utf-8")
    assert renewed(text) == text, "python -m docs.numbers renews it"
    assert not re.findall(r"(?m)^ *<!--=.*?-->(?!$).*", text)
    assert len(MARKED.findall(text)) == text.count("<!--=") == text.count("<!--/-->")
    if page.parent == DOCS and page.name not in GENERATED:
        [short] = re.findall(r"(?ms)^\*\*In short\.\*\*(.*?)\n\n", text)
        assert len(re.sub("<!--.*?-->", "", short).split()) <= WORDS_IN_SHORT


def test_a_wrong_number_and_a_wrong_table_are_noticed():
    ratio = '<!--=at("stability-digits-500","policies/hybrid/constant_share"):.2f-->'
    right = f"{ratio}{at('stability-digits-500', 'policies/hybrid/constant_share'):.2f}<!--/-->"
    assert renewed(f"about {ratio}0.17<!--/--> of it") == f"about {right} of it"
    table = "<!--=buying.thresholds()-->"
    assert renewed(f"{table}\n| used |\n<!--/-->").startswith(f"{table}\n| used | 1 | 2 |")
    with pytest.raises(KeyError):
        renewed('<!--=at("stability-digits-500","policies/nobody")-->1<!--/-->')


def test_every_result_has_the_command_and_the_hardware_that_made_it():
    commands = ("acdpp reproduce", "acdpp explain", "acdpp train", "python -m benchmarks")
    for path in (DOCS / "results").glob("*.json"):
        found = json.loads(path.read_text(encoding="utf-8"))
        assert re.search("cpu|cores|NVIDIA", found["hardware"]), path.name
        assert found["command"].startswith(commands), path.name
        assert "/tmp" not in found["command"], path.name
