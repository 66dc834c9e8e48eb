"""`acdpp federate` before it starts anything: settings, refusals, the app folder."""

import sys

import pytest

from empirics.federation.app_folder import study_file
from empirics.settings.presets import PRESETS
from empirics.settings.study import Study
from tests.acdpp.program import acdpp, refusal, settings


def shown(*words):
    return Study.from_document(settings("federate", *map(str, words)))


def test_a_small_study_by_default_and_the_budget_goes_with_the_clients(tmp_path):
    study = shown()
    assert (study.clients, study.rounds, study.seeds, study.policies) == (3, 10, 1, ("taper-online",))
    assert study.buffers == PRESETS["digits"].buffers[:3]
    assert study.budget == pytest.approx(16.5)
    many = shown("--clients", "12", "--policy", "buy-cheap-online", "--rounds", "7", "--seed", "3")
    assert many.buffers == (*PRESETS["digits"].buffers, *PRESETS["digits"].buffers[:2])
    assert many.budget == pytest.approx(66)
    assert (many.policies, many.rounds, many.seed) == (("buy-cheap-online",), 7, 3)
    assert shown("--clients", "2", "--budget", "20").budget == 20
    assert shown("--clients", "1e4", "--log", "tensorboard,mlflow").log == ("tensorboard", "mlflow")
    (file := tmp_path / "study.toml").write_text("rounds = 7\nbuffers = [4, 5]\nalpha = [0.25, 0.75]\n")
    assert shown("--config", file, "--clients", "2").alpha == (0.25, 0.75)
    own = shown("--config", file)
    assert (own.clients, own.rounds) == (2, 7)
    refused = refusal("federate", "--config", file, "--clients", "3")
    assert "alpha weighs 2 clients, not 3: leave out --clients, or alpha" in refused
    whole = shown("--preset", "digits")
    assert (whole.clients, whole.rounds, whole.budget) == (10, 500, 55)


def test_an_app_is_written_into_a_new_folder_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = acdpp(*["deploy", "--policy", "constant@K=5", "--clients", "4", "--out", "app", "--patience", "9"])
    assert (done.returncode, done.stderr) == (0, "")
    assert "app/README.md" in done.stdout
    study = study_file(tmp_path / "app" / "acdpp_app" / "study.toml")
    assert (study.policies, study.clients) == (("constant@K=5",), 4)
    assert "patience = 9.0\n" in (tmp_path / "app" / "pyproject.toml").read_text()
    before = sorted(tmp_path.rglob("*"))
    assert "not empty" in refusal("deploy", "--out", "app")
    assert sorted(tmp_path.rglob("*")) == before


def test_an_app_may_name_files_that_lie_on_other_machines(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    far = ["--dataset", "npz:/there/site.npz", "--cost", "csv:/there/prices.csv", "--policy", "there:mine"]
    done = acdpp("deploy", *far, "--out", "app", "--data-dir", "/there/data")
    assert (done.returncode, done.stderr) == (0, "")
    assert study_file(tmp_path / "app" / "acdpp_app" / "study.toml").cost.file == "/there/prices.csv"
    assert '"/there/data"\n' in (tmp_path / "app" / "pyproject.toml").read_text()
    words = ("deploy", *far[:2], "--out", "other")
    assert "cannot be read" in refusal(*words, "--fit")
    assert "oracle keeps samples" in refusal(*words, "--policy", "oracle@K=5")
    assert [path.name for path in tmp_path.iterdir()] == ["app"]


def test_without_flower_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "flwr", None)
    assert refusal("federate") == "acdpp: a federation needs flwr: pip install 'acdpp[flower]'"
