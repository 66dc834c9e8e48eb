"""The page on drift says what the result file says."""

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.acdpp.program import acdpp

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "drift.md").read_text(encoding="utf-8")


def test_the_table_over_retentions_is_that_of_the_file_and_the_best_are_the_predicted():
    file = ROOT / "docs" / "results" / "drift-digits-400.json"
    studies = json.loads(file.read_text(encoding="utf-8"))["studies"]
    swept = [studies[f"retention: {period} rounds a period"] for period in (20, 50, 100, 400)]
    for K in (1, 2, 3, 5, 7, 10, 14, 20, 28, 40):
        cells = []
        for one in swept:
            row = one["policies"].get(f"constant@K={K}")
            if row is None:
                cells.append("")
                continue
            words = f"{row['measured']:.2f} ± {row['error']:.2f} · {row['predicted'] / row['measured']:.3f}"
            cells.append(f"**{words}**" if one["best"] == f"constant@K={K}" else words)
        assert f"| {K} | {' | '.join(cells)} |".replace("|  |", "| |").replace("|  |", "| |") in PAGE
    assert [one["best"] for one in swept] == [one["chosen"] for one in swept]


@pytest.mark.parametrize("data", ["digits", "mnist"])
def test_the_range_of_predictions_is_that_of_the_file(data):
    file = ROOT / "docs" / "results" / f"drift-{data}-200.json"
    studies = json.loads(file.read_text(encoding="utf-8"))["studies"]
    found = [
        row["predicted"] / row["measured"] for one in studies.values() for row in one["policies"].values()
    ]
    assert f"between {min(found):.3f} and {max(found):.3f}" in PAGE
    assert 0.9 < min(found) <= max(found) < 1.1
    assert "; ".join(name.removeprefix("prediction: ") for name in studies) in PAGE


def test_the_table_of_forgetting_is_that_of_the_file():
    file = ROOT / "docs" / "results" / "adaptive-digits-400.json"
    worlds = json.loads(file.read_text(encoding="utf-8"))["worlds"].values()
    table = [line for line in PAGE.splitlines() if line.startswith("| ") and line.count("|") == 8][2:]

    def apart(row):
        words = f"{row['above_best']:+.4f} ± {row['half_width']:.4f}".replace("-", "−")
        return words if row["half_width"] else "0"

    for line, one in zip(table, worlds, strict=True):
        risks = (one["risk"][name] for name in (one["best"], "constant@K=40", "adaptive"))
        cells = [one["best"].removeprefix("constant@K="), *(f"{risk:.4f}" for risk in risks)]
        assert line.split(" | ")[1:] == [*cells, apart(one["adaptive"]), f"{apart(one['river, rising'])} |"]


def test_the_streams_that_were_made_are_those_of_the_file():
    file = ROOT / "docs" / "results" / "streams-mnist-500.json"
    studies = json.loads(file.read_text(encoding="utf-8"))["studies"]

    def above(row):
        return f"{row['above_best']:+.4f} ± {row['half_width']:.4f}" if row["above_best"] else "**0**"

    for K in (1, 2, 3, 5, 7, 10, 14, 20, 30):
        cells = [above(one["policies"][f"constant@K={K}"]) for one in studies.values()]
        assert f"| {K} | {' | '.join(cells)} |" in PAGE
    page = " ".join(PAGE.split())
    for name, pilot in ((name, one["pilot"]) for name, one in studies.items()):
        words = {"classes": "for the classes, interval", "turning": "interval"}[name]
        assert f"K = {pilot['K']}{' ' if name == 'classes' else ', '}{words} {pilot['K_interval']}" in page
    moving = studies["classes"]["pilot"]["directions"]
    assert f"about {moving['moving']:.0f} of {moving['of']:,} directions" in page


def test_the_streams_of_digits_are_those_of_the_file():
    file = ROOT / "docs" / "results" / "streams-digits-300.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    right = held = 0
    for name, one in document["studies"].items():
        pilot, best = one["pilot"], int(one["best"].removeprefix("constant@K="))
        rows = [one["policies"][f"constant@K={K}"] for K in (pilot["K"], 10)]
        cells = [
            f"{row['above_best']:+.4f} ± {row['half_width']:.4f}" if row["above_best"] else "**0**"
            for row in rows
        ]
        assert f"| {name} | {pilot['K']}, {pilot['K_interval']} | {best} | {' | '.join(cells)} |" in PAGE
        right += best == pilot["K"]
        held += pilot["K_interval"][0] <= best <= pilot["K_interval"][1]
    assert (right, len(document["studies"]) - held) == (5, 3)
    assert "best in five of nine" in PAGE
    assert "three of the nine\nintervals do not hold the best K" in PAGE


@pytest.mark.slow
def test_the_drift_that_is_shown_is_what_is_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, command, shown = re.search(
        r"```python\n([^`]*np\.savetxt[^`]*)```\n\n```sh\n(.*?)\n```\n\n```text\n(.*?)```", PAGE, re.DOTALL
    ).groups()
    exec(code, {})
    printed = " ".join(acdpp(*shlex.split(command)[1:]).stdout.split())
    for line in shown.splitlines():
        assert " ".join(line.split()) in printed
