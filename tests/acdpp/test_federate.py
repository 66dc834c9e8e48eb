"""`acdpp federate` before it starts anything: settings, refusals, the app folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from acdpp.main import app
from empirics.federation.app_folder import study_file
from empirics.settings.presets import PRESETS, read_toml
from empirics.settings.study import Study
from theory.setting import SettingError


def acdpp(*words: str, where: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "acdpp", "federate", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=where)


def refused(*words: str, where: Path) -> str:
    """The one line of a refusal, which left nothing behind."""
    before = sorted(where.rglob("*"))
    done = acdpp(*words, where=where)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    [line] = done.stderr.splitlines()
    assert sorted(where.rglob("*")) == before
    return line


def shown(tmp_path: Path, *words: str) -> Study:
    """Within this process, since Flower takes seconds to import."""
    done = CliRunner().invoke(app, ["federate", *words, "--show-config"])
    assert done.exit_code == 0, done.output
    (tmp_path / "shown.toml").write_text(done.stdout)
    return read_toml(tmp_path / "shown.toml")


def test_a_small_study_by_default_and_the_budget_goes_with_the_clients(tmp_path: Path) -> None:
    study = shown(tmp_path)
    assert (study.clients, study.rounds, study.seeds, study.policies) == (3, 10, 1, ("acdpp",))
    assert study.buffers == PRESETS["digits"].buffers[:3]
    assert study.budget == pytest.approx(16.5)
    many = shown(tmp_path, "--clients", "12", "--policy", "buy-cheap-online", "--rounds", "7", "--seed", "3")
    assert many.buffers == (*PRESETS["digits"].buffers, *PRESETS["digits"].buffers[:2])
    assert many.budget == pytest.approx(66)
    assert (many.policies, many.rounds, many.seed) == (("buy-cheap-online",), 7, 3)
    assert shown(tmp_path, "--clients", "2", "--budget", "20").budget == 20
    whole = shown(tmp_path, "--preset", "digits")
    assert (whole.clients, whole.rounds, whole.budget) == (10, 500, 55)


def test_an_app_is_written_into_a_new_folder_only(tmp_path: Path) -> None:
    done = acdpp(
        "--policy", "constant@K=5", "--clients", "4", "--export", "app", "--patience", "9", where=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "app/README.md" in done.stdout
    study = study_file(tmp_path / "app" / "acdpp_app" / "study.toml")
    assert (study.policies, study.clients) == (("constant@K=5",), 4)
    assert "patience = 9.0\n" in (tmp_path / "app" / "pyproject.toml").read_text()
    assert "not empty" in refused("--export", "app", where=tmp_path)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--policy", "acdpp,constant"], "one policy"),
        (["--policy", "acdp"], "acdpp"),
        (["--clients", "0"], "--clients"),
        (["--clients", "1e6"], "at most"),
        (["--patience", "-1"], "--patience"),
        (["--budget", "much"], "--budget"),
        (["--resume", "none"], "no result"),
        (["--resume", "none", "--policy", "acdpp"], "--resume takes"),
        (["--export", "app", "--simulation"], "--export"),
        (["--dataset", "npz:none.npz"], "none.npz"),
    ],
)
def test_a_mistake_is_told_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["federate", *words])
    assert isinstance(done.exception, SettingError), done.output
    assert said in str(done.exception)
    assert not list(tmp_path.iterdir())


def test_without_flower_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['flwr'] = None; sys.argv[1:] = ['federate']; from acdpp.main import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "acdpp: a federation needs flwr: pip install 'acdpp[flower]'\n"
