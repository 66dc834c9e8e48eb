"""`acdpp report`: its formats come from one document, bad input is refused, and nothing half-written is left."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from acdpp.main import app
from acdpp.plot import FIGURES, MEASURED
from acdpp.report import drawn
from acdpp.report.mathml import NotTypeset, mathml
from acdpp.report.outline import markdown
from theory.setting import SettingError

LABELS = ("eq:kstep-drop", "eq:ck-distinct-samples")


def report(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["report", *words])
    if isinstance(done.exception, SettingError):
        return str(done.exception)
    assert done.exit_code == code, done.output
    return done.stdout


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    words = [word for label in LABELS for word in ("--claim", label)]
    done = CliRunner().invoke(app, ["verify", "--json", "--jobs", "1", *words])
    file = tmp_path_factory.mktemp("verdicts") / "verdicts.json"
    file.write_text(done.stdout, encoding="utf-8")
    return file


def test_all_formats_tell_of_the_same_cases(verdicts: Path, tmp_path: Path) -> None:
    forms = ("html", "latex", "markdown", "json")
    words = [word for form in forms for word in ("--format", form)]
    told = report("--verdicts", str(verdicts), "--out", str(tmp_path / "new"), "--no-figures", *words)
    names = ["report.html", "erratum.tex", "report.md", "report.json"]
    assert told.split() == [str(tmp_path / "new" / name) for name in names]
    texts = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "new").iterdir()}
    assert sorted(texts) == sorted(names)
    document = json.loads(texts["report.json"])
    assert [claim["id"] for claim in document["claims"]] == list(LABELS)
    assert document["results"] == []
    for label in LABELS:
        assert label in texts["report.html"]
        assert label in texts["report.md"]
    assert "kstep-drop" in texts["erratum.tex"]
    assert "ck-distinct-samples" not in texts["erratum.tex"]  # it is true


def test_a_result_is_told_in_text_too(verdicts: Path) -> None:
    measured = {
        "final_accuracy": {"mean": 0.9, "error": 0.01},
        "cumulative_excess_risk": {"mean": 10.0, "error": 0.25},
        "mean_cost": {"mean": 55.0, "error": None},
        "predicted_over_measured": 1.0123,
        "corrected_over_measured": 2345.6,
    }
    lost = {name: {"mean": None, "error": None} for name in ("final_accuracy", "mean_cost")}
    result = {
        "name": "mi*ne",
        "task": "a task",
        "rounds": 1000,
        "budget": 55,
        "intervals": "over 3 seeds",
        "policies": {"constant": measured, "my_own": lost},
    }
    document = json.loads(verdicts.read_text(encoding="utf-8")) | {"results": [result]}
    text = markdown(document)
    assert "## Result mi\\*ne" in text
    assert "| constant | 0.90 ± 0.01 | 10.0 ± 0.2 | 1.012 | 2,346 | 55 |" in text
    assert "| my\\_own | – | – | – | – | – |" in text
    assert "## Result" not in markdown({**document, "results": []})


def test_the_same_document_gives_the_same_page(verdicts: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        report("--verdicts", str(verdicts), "--out", str(tmp_path / name), "--no-figures")
    assert (tmp_path / "a" / "report.html").read_bytes() == (tmp_path / "b" / "report.html").read_bytes()


def test_a_verdict_that_is_not_the_recorded_one_is_told(verdicts: Path, tmp_path: Path) -> None:
    document = json.loads(verdicts.read_text(encoding="utf-8"))
    document["claims"][1]["verdict"] = document["claims"][1]["qualified"] = "refuted"
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(document), encoding="utf-8")
    told = report("--verdicts", str(changed), "--out", str(tmp_path), "--no-figures", code=1)
    assert "eq:ck-distinct-samples was recorded as proved and is refuted" in " ".join(told.split())
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert re.search(r'role="alert".*?was recorded as proved and is refuted', page, re.DOTALL)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--verdicts", "nowhere.json"], "cannot read verdicts from 'nowhere.json'"),
        (["--verdicts", "text.json"], "it is no JSON"),
        (["--verdicts", "empty.json"], "holds no verdicts"),
        (["--verdicts", "empty.json", "--claim", "eq:vck-exact"], "leave out --claim"),
        (["--claim", "eq:nothing"], "there is no claim 'eq:nothing'"),
        (["--result", "nowhere"], "nowhere"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing(words, reason, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.json").write_text("no json")
    Path("empty.json").write_text("{}")
    assert reason in report(*words, "--out", "new")
    assert not Path("new").exists()


def test_text_of_a_claim_is_text(verdicts: Path, tmp_path: Path) -> None:
    """Markup in a user's own words is shown, not obeyed."""
    document = json.loads(verdicts.read_text(encoding="utf-8"))
    document["claims"][0]["statement"] = "<script>alert(1)</script> & eq:ck-distinct-samples"
    document["claims"][0]["evidence"][0]["certificate"] = {"<b>": "<i>x</i>"}
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(document), encoding="utf-8")
    report("--verdicts", str(changed), "--out", str(tmp_path), "--no-figures")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)" in page
    assert "alert(1)</script>" not in page
    assert "<i>x</i>" not in page
    assert '&amp; <a href="#eq:ck-distinct-samples">eq:ck-distinct-samples</a>' in page


def test_a_formula_that_cannot_be_typeset_is_not_shown_as_it_is() -> None:
    with pytest.raises(NotTypeset, match="geC"):
        mathml(r"a\geC")


@pytest.mark.parametrize(
    ("latex", "part"),
    [
        (r"\mathbb E x", "<mi>𝔼</mi>"),
        (r"\mathcal E", "<mi>ℰ</mi>"),
        (r"\mathbf 1", "<mn>𝟏</mn>"),
        (r"a\sim b", "<mo>&#x0223C;</mo>"),
        (r"a\iff b", "<mo>&#x027FA;</mo>"),
    ],
)
def test_letters_and_signs_that_browsers_would_lose(latex: str, part: str) -> None:
    assert part in mathml(latex)


def test_a_figure_that_needs_what_is_not_installed_is_left_out_and_said(monkeypatch) -> None:
    def without(name: str) -> list[drawn.Figure]:
        def fails(**options: object) -> None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

        monkeypatch.setattr(drawn, "THEORY", (("frontier", {"risk": False}),))
        monkeypatch.setitem(FIGURES, "frontier", fails)
        monkeypatch.setitem(FIGURES, "section7", lambda result: [])
        return list(drawn.of_theory(lambda name: lambda steps: steps))

    (figure,) = without("torch")
    assert (figure.needs, figure.svg, figure.command) == ("torch", "", "acdpp plot frontier --no-risk")
    with pytest.raises(ModuleNotFoundError, match="numpy"):
        without("numpy")


def test_every_figure_of_the_report_exists_and_has_a_caption() -> None:
    for name, options in drawn.THEORY:
        assert name in drawn.CAPTIONS
        assert set(options) <= set(inspect.signature(FIGURES[name]).parameters)
    for name in MEASURED:
        assert name in drawn.CAPTIONS
        assert f"measured-{name}" in drawn.CAPTIONS or name not in ("mismatch", "prices")
