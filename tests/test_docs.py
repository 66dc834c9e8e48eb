"""The examples of the documentation run as they stand."""

import json
import re
from pathlib import Path

import pytest

from figures import learning
from figures.measured import read
from figures.options import Style
from figures.style import LOOKS
from proofs_check import ledger
from proofs_check.text import terminal
from tests.acdpp.program import answer

DOCS = Path(__file__).parents[1] / "docs"
EXAMPLES = [
    pytest.param(code, id=f"{page.stem}-{n}")
    for page in sorted(DOCS.glob("*.md"))
    for n, code in enumerate(
        re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL), start=1
    )
    if "model.pt" not in code  # which tests/empirics/test_export.py runs where nothing of ours is
]


@pytest.mark.parametrize("code", EXAMPLES)
def test_an_example_runs_and_says_something(code, tmp_path, monkeypatch, capsys, request):
    """With fewer rounds, seeds, classes and samples of a pilot than are shown."""
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
    told = " ".join((DOCS / "index.md").read_text(encoding="utf-8").split())
    (entry,) = (entry for entry in ledger.read() if entry.id == "lem:omega3-order")
    for words, statement in (("states", entry.stated), ("corrected", entry.corrected)):
        assert f"{words}: {terminal(statement.says)}" in told
        assert f"verdict: {statement.verdict}" in told


def test_short_horizons_have_the_retentions_that_the_page_says():
    told = " ".join((DOCS / "set-budgets.md").read_text(encoding="utf-8").split())
    shown = "--buffers 8,9,10 --budget 15 --mean-cost 5.5"

    def designed(T):
        return answer("design", *shown.split(), "--horizon", str(T))

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


def test_bounds_lie_as_far_above_as_the_page_says():
    told = " ".join((DOCS / "set-budgets.md").read_text(encoding="utf-8").split())
    found = json.loads((DOCS / "results" / "stability-digits-500.json").read_text(encoding="utf-8"))
    assert f"On the {found['study'].replace(', ', ' (', 1)};" in told
    kept = found["policies"].pop("hybrid")
    stable, theorem, share = (
        sorted(row[key] for row in found["policies"].values())
        for key in ("stability_over_measured", "corrected_over_measured", "constant_share")
    )
    assert f"it lies {stable[0]:.0f} to {stable[-1]:.0f} times above the measured" in told
    hundreds = [f"{round(one, -2):,.0f}" for one in (*theorem, kept["corrected_over_measured"])]
    assert f"Theorem 1 corrected {hundreds[0]} to {hundreds[-2]} times;" in told
    assert f"{kept['stability_over_measured']:.0f} and {hundreds[-1]} times for `hybrid`" in told
    assert f"{100 * share[0]:.0f} to {100 * share[-1]:.0f} % are" in told


def test_the_table_of_the_federation_is_that_of_the_benchmark():
    page = (DOCS / "federation.md").read_text(encoding="utf-8")
    found = json.loads((DOCS / "results" / "federation.json").read_text(encoding="utf-8"))
    for case in found["cases"]:
        ours, plain = case["acdpp_s"], case["fedavg_s"]
        cells = [f"{case['clients']}, {case['kind']}", f"{ours:.3g}", f"{plain:.3g}", f"{ours / plain:.2f}"]
        cells += [f"{case['acdpp_kB']:.0f}", f"{case['fedavg_kB']:.0f}", f"{case['books_ms']:.0f} ms"]
        cells.append(f"{case['batched_ms']:.1f} ms")
        assert f"| {' | '.join(cells)} |" in page
    told = " ".join(page.split())
    own = [case["books_ms"] for case in found["cases"]]
    assert f"takes {min(own):.0f} to {max(own):.0f} ms a round" in told
    real = [case for case in found["cases"] if case["kind"] == "processes"]
    shares = sorted(case["books_ms"] / 10 / case["acdpp_s"] for case in real)
    assert f"{shares[0]:.2f} to {shares[-1]:.2f} % of a round of processes" in told
    more = sorted(100 * (case["acdpp_s"] / case["fedavg_s"] - 1) for case in real)
    assert f"takes {more[0]:.0f} to {more[-1]:.0f} % longer" in told
    assert "benchmarks.federation --rounds 4" in found["command"]


def test_the_drifts_of_the_paper_s_setting_are_those_that_the_page_says(capsys):
    page = (DOCS / "drift.md").read_text(encoding="utf-8")
    told = " ".join(page.split())
    exec(compile(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1], "example", "exec"), {})
    cheap, kept, step = re.findall(r"0\.\d{3}", capsys.readouterr().out)
    assert f"by more than {cheap} of a sample's standard deviation" in told
    assert f"K = 10 is too long from {kept} on, where K = 1 would step by {step} and not by 0.1" in told
