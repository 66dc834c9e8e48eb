"""The examples of the documentation run as they stand."""

import json
import re
from pathlib import Path

import pytest

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
    from figures.measured import read
    from figures.style import LOOKS, Style

    figure = learning.draw(learning.compute(read(tmp_path / "mine")), LOOKS[Style.paper])
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
