"""The examples of the documentation run as they stand."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from acdpp.main import app
from proofs_check.ledger import read

DOCS = Path(__file__).parents[1] / "docs"
EXAMPLES = [
    pytest.param(code, id=f"{page.stem}-{n}")
    for page in sorted(DOCS.glob("*.md"))
    for n, code in enumerate(
        re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL), start=1
    )
]


@pytest.mark.parametrize("code", EXAMPLES)
def test_an_example_runs_and_says_something(code, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "example", "exec"), {"__name__": "example"})
    assert capsys.readouterr().out.strip()


def test_own_things_take_less_than_twenty_lines_and_give_figures(tmp_path, monkeypatch):
    code = next(example.values[0] for example in EXAMPLES if example.id == "your-own-1")
    assert sum(bool(line.strip()) for line in code.splitlines()) < 20
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "example", "exec"), {"__name__": "example"})
    from figures import learning
    from figures.measured import read as measured
    from figures.style import LOOKS, Style

    figure = learning.draw(learning.compute(measured(tmp_path / "mine")), LOOKS[Style.paper])
    assert "bargains" in {text.get_text() for text in figure.findobj(lambda a: hasattr(a, "get_text"))}


def test_the_readme_quotes_the_predictions_that_were_held_against_a_training():
    told = " ".join((DOCS.parent / "README.md").read_text(encoding="utf-8").split())
    found = json.loads(
        (DOCS.parent / "acdpp" / "report" / "prediction-digits-500.json").read_text(encoding="utf-8")
    )["policies"]
    times = [row["predicted_over_measured"] for row in found.values()]
    assert f"{min(times):.3f} to {max(times):.3f} times" in told
    bounds = [round(row["corrected_over_measured"], -2) for row in found.values()]
    assert f"{min(bounds):,.0f} to {max(bounds):,.0f} times above" in told
    errors = {name: row["cumulative_excess_risk"] for name, row in found.items()}
    shares = {name: f"{100 * one['error'] / one['mean']:.1f}" for name, one in errors.items()}
    usual = [share for name, share in shares.items() if name != "hybrid"]
    assert f"{min(usual)} to {max(usual)} % (hybrid: {shares['hybrid']} %)" in told


def test_the_readme_says_how_far_off_the_law_is_elsewhere():
    page = (DOCS / "law-of-reuse.md").read_text(encoding="utf-8")
    table = page.partition("| study | acdpp")[2].partition("± is the standard error")[0]
    digits, mnist = table.partition("| MNIST")[::2]
    assert "digits" in digits
    *usual, worst = sorted(float(one) for one in re.findall(r"(\d\.\d+) ±", mnist))
    assert len(usual) == 15
    told = " ".join((DOCS.parent / "README.md").read_text(encoding="utf-8").split())
    assert f"On MNIST the law has {usual[0]:.2f} to {usual[-1]:.2f}, at worst {worst} (hybrid, raw" in told


def test_the_readme_says_whose_claims_they_are():
    told = " ".join((DOCS.parent / "README.md").read_text(encoding="utf-8").split())
    ours = [entry for entry in read() if entry.kind == "addition"]
    theirs = [entry for entry in read() if entry.kind != "addition"]
    readings = sum(entry.kind == "reading" for entry in theirs)
    assert f"), {readings} of them as we read it, and" in told
    for entries, whose in ((theirs, "the paper's"), (ours, "ours")):
        counts = Counter(entry.stated.verdict for entry in entries)
        found = re.search(rf"(\d+) (?:are )?{whose} \(([^)]*)\)", told)
        assert found, whose
        assert int(found[1]) == len(entries)
        assert dict(part.split()[::-1] for part in found[2].split(", ")) == {
            verdict: str(count) for verdict, count in counts.items()
        }


def test_short_horizons_have_the_retentions_that_the_page_says():
    told = " ".join((DOCS / "set-budgets.md").read_text(encoding="utf-8").split())
    shown = "--buffers 8,9,10 --budget 15 --mean-cost 5.5"

    def designed(T):
        given = ["design", *shown.split(), "--horizon", str(T), "--json"]
        return json.loads(CliRunner().invoke(app, given).stdout)

    best = {T: designed(T)["K"] for T in (50, 100, 1000, 1100, 1200, 2000)}
    assert f"`{shown}` it is {best[50]} for 50 rounds, {best[100]} for 100, {best[1000]} for 1,000" in told
    assert f"and {best[2000]} for 2,000" in told
    assert (best[1100], best[1200]) == (best[1000], best[2000])
    assert f"{designed(50)['crossover']:.0f} here, and it is between 1,100 and 1,200" in told
    index = " ".join((DOCS / "index.md").read_text(encoding="utf-8").split())
    assert f"K = {best[50]} for 50 rounds" in index


def test_the_planning_notebook_has_the_case_that_the_page_names():
    told = " ".join((DOCS / "set-budgets.md").read_text(encoding="utf-8").split())
    notebook = json.loads((DOCS / "notebooks" / "planning-from-a-pilot.ipynb").read_text(encoding="utf-8"))
    outputs = "".join(
        "".join(output.get("text", "")) for cell in notebook["cells"] for output in cell.get("outputs", ())
    )
    bound = re.search(r"T = 200: K = (\d+)", outputs)[1]
    tried = re.findall(r"(?m)^ ?(\d+) +[\d.]+ +([\d.]+)$", outputs)
    law = min(tried, key=lambda one: float(one[1]))[0]
    assert f"wants K = {bound} for 200 rounds and the law {law}." in told
