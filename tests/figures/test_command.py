"""`acdpp plot` as a user meets it."""

from contextlib import nullcontext
from dataclasses import replace
from unittest.mock import Mock

import pytest
from PIL import Image
from typer.testing import CliRunner

from acdpp import drawing, plot
from acdpp.report import drawn
from empirics.run import run_study
from empirics.settings.study import Study
from figures.simulation import Simulation
from tests.acdpp.program import acdpp
from tests.refused import refused

SMALL = {
    "bound-vs-T": ["--horizon", "1e4", "--rounds", "5", "--seeds", "2"],
    "uniformity": ["--K", "2,3"],
    "omegas": ["--K", "3", "--horizon", "1e3", "--term", "omega3"],
    "control": ["--rounds", "10", "--rho", "0.9", "--V", "3"],
    "prices": ["--rounds", "10", "--cost", "markov:1:10"],
    "frontier": ["--buffers", "4,8", "--no-risk"],
}


def invoke(*words):
    done = CliRunner().invoke(plot.app, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_a_bar_counts_the_steps_that_are_done(monkeypatch):
    shown = []
    monkeypatch.setattr(drawing, "BAR_DELAY_SECONDS", -1)
    monkeypatch.setattr(
        drawing, "bar", lambda *_, **__: nullcontext(lambda completed: shown.append(completed))
    )
    assert [shown[-1] for _ in drawing.watched("name", "abc")] == [0, 1, 2]


@pytest.mark.parametrize("name", SMALL)
def test_a_figure_is_one_command(name, tmp_path, saved):
    said = invoke(name, *SMALL[name], "--dpi", "40", "--out", str(tmp_path / "new"))
    assert said.strip().endswith(f"{name}.png")
    assert saved == {f"{name}.png": " ".join(["acdpp", "plot", name, *SMALL[name], "--dpi", "40"])}


def test_options_are_those_of_the_figure(monkeypatch):
    simulated = Simulation(K=7, rate=4, rounds=9, seeds=1, seed=5, rho=0.9, V=3.0)
    played = {"K": "7", "rate": "4", "rounds": 9, "rho": "0.9", "V": "3", "seed": 5}
    for name, options, wanted in (
        ("uniformity", {"K": "3,2", "rounds": "9"}, [(3, 2), 9]),
        ("mismatch", {"K": "4", "rate": "2", "rounds": "9", "draws": 20, "seed": 3}, [4, 2, 9, 20, 3]),
        ("omegas", {"K": "7,3,5", "rate": "4", "horizon": "1e4"}, [7, 4, 10**4]),
        ("control", played, [simulated]),
        ("bound-vs-T", played | {"seeds": 2}, [7, 4, 10**12]),
        ("bound-vs-T", {"rounds": 0}, [10, 10, 10**12]),
        ("design", {"horizon": "30,20"}, []),
    ):
        compute = Mock()
        module = "bound_vs_horizon" if name == "bound-vs-T" else name
        monkeypatch.setattr(f"figures.{module}.compute", compute)
        plot.FIGURES[name](**options).compute(None)
        given, more = compute.call_args
        assert list(given[: len(wanted)]) == wanted
        last = {"omegas": more.get("others"), "bound-vs-T": given[-1], "design": given[-1]}.get(name)
        if name == "bound-vs-T":
            assert last == (replace(simulated, seeds=2) if options["rounds"] else None)
        assert name not in ("omegas", "design") or list(last) == {"omegas": [3, 5], "design": [30, 20]}[name]


def test_all_draws_all_and_a_figure_of_a_result_comes_from_its_folder(result, tmp_path, monkeypatch, saved):
    assert {*plot.THEORY, *plot.MEASURED, "drift", "section7", "explained"} == set(plot.FIGURES)
    assert [plot.FIGURES[name]().name for name in plot.THEORY] == list(plot.THEORY)  # with defaults
    monkeypatch.setattr(plot, "THEORY", ("uniformity",))
    monkeypatch.setattr(plot, "MEASURED", ("measured-mismatch",))
    invoke("all", "--result", str(result), "--style", "dark", "--dpi", "40", "--out", str(tmp_path))
    assert saved == {
        "uniformity.png": "acdpp plot uniformity --style dark --dpi 40",
        "measured-mismatch.png": f"acdpp plot measured-mismatch {result} --style dark --dpi 40",
    }
    invoke("risk-vs-bound", str(result), "--format", "svg", "--out", str(tmp_path))
    assert list(saved)[2:] == ["risk-vs-bound.svg"]


def test_all_draws_what_a_result_can_give_and_says_what_it_leaves_out(tmp_path, monkeypatch, saved):
    few = {"rounds": 2, "seeds": 1, "checkpoint": 2, "buffers": (3,), "budget": 5.0, "steps": 1}
    study = Study(**few, radius=None, measures=("accuracy",), policies=("acdpp", "constant"))
    run_study(study, tmp_path / "result")
    monkeypatch.setattr(plot, "THEORY", ())
    words = ["all", "--result", str(tmp_path / "result"), "--dpi", "40", "--out", str(tmp_path / "plots")]
    done = acdpp("plot", *words)
    assert done.returncode == 0
    assert set(saved) == {"learning.png", "constraints.png"}
    said = done.stderr.splitlines()
    left_out = ("prediction", "retention", "risk-vs-bound", "money", "measured-mismatch", "measured-prices")
    assert all(f"left out {name} " in line for name, line in zip(left_out, said, strict=True))
    assert "no sweep over K" in said[1]
    shown = drawn.of_result(tmp_path / "result", "here", lambda name: lambda steps: steps)
    assert [one.anchor for one in shown] == ["figure-here-learning", "figure-here-constraints"]
    words = ["risk-vs-bound", *words[2:]]  # asked for by name, it is an error
    assert "no excess risk" in refused(invoke, *words)


def test_a_bad_folder_is_refused_before_anything_is_computed(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr("figures.uniformity.compute", lambda *_: pytest.fail("computed in vain"))
    assert "choose another folder" in refused(invoke, "uniformity", "--out", str(tmp_path / "file"))


def test_a_bar_appears_on_a_terminal_only_when_it_takes_long(monkeypatch):
    started = []
    monkeypatch.setattr("rich.progress.Progress.start", lambda self: started.append(True))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    for delay, bars in ((drawing.BAR_DELAY_SECONDS, 0), (-1, 1)):
        monkeypatch.setattr(drawing, "BAR_DELAY_SECONDS", delay)
        assert list(drawing.watched("figure", range(5))) == [0, 1, 2, 3, 4]
        assert len(started) == bars


@pytest.mark.parametrize("name", ["a.png", "b.PDF"])
def test_a_folder_named_like_a_file_is_not_made(name, tmp_path):
    sentence = refused(invoke, "uniformity", "--out", str(tmp_path / name))
    assert "is named like a file: give --out" in sentence
    assert f"--format {name[2:].lower()}" in sentence
    assert list(tmp_path.iterdir()) == []
    (tmp_path / name).mkdir()
    invoke("uniformity", "--K", "2", "--dpi", "40", "--out", str(tmp_path / name))
    (path,) = (tmp_path / name).iterdir()
    assert path.name == "uniformity.png"
    with Image.open(path) as image:
        assert image.info["Title"] == "acdpp: uniformity"
        assert image.info["Description"] == "acdpp plot uniformity --K 2 --dpi 40"
        assert image.info["dpi"] == pytest.approx((40, 40), rel=1e-3)
