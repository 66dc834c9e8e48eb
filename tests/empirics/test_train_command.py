"""`acdpp train` from the outside."""

import json

import pytest
import typer
from typer.testing import CliRunner

from acdpp.train import command
from theory.setting import SettingError

app = typer.Typer()
app.command()(command)
SMALL = ["--rounds", "12", "--seeds", "2"]


def train(*words):
    return CliRunner().invoke(app, [*SMALL, *map(str, words)])


def test_one_command_trains_and_prints_a_summary(tmp_path):
    shown = train("--out", tmp_path / "result")
    assert shown.exit_code == 0, shown.output
    for word in (
        "odd against even",
        "acdpp-capped",
        "corrected",
        "measured, best first",
        "told apart",
        "result:",
    ):
        assert word in shown.output
    assert (tmp_path / "result" / "rounds.parquet").exists()


def test_json_is_one_object_with_every_policy_and_both_bounds(tmp_path):
    words = ("--policies", "constant,oracle", "--json", "--out", tmp_path / "result")
    document = json.loads(train(*words).output)
    assert list(document["policies"]) == ["constant", "oracle"]
    for row in document["policies"].values():
        assert row["bound_corrected"] > row["cumulative_excess_risk"]["mean"] > 0
        assert row["bound_stated"] > 0
        terms = row["bound_corrected_terms"]
        assert sum(terms.values()) == pytest.approx(row["bound_corrected"])
    again = CliRunner().invoke(app, ["--resume", str(tmp_path / "result"), "--json"])
    assert document == json.loads(again.output)


def test_settings_come_from_a_file_and_the_command_line_goes_first(tmp_path):
    config = tmp_path / "study.toml"
    config.write_text('rounds = 900\npolicies = ["oracle"]\nlabels = "classes"\n')
    document = json.loads(train("--config", config, "--json", "--out", tmp_path / "result").output)
    assert document["rounds"] == 12
    assert list(document["policies"]) == ["oracle"]
    assert document["nominal_constants"] == ["Pdim"]


def test_results_get_a_folder_of_their_own_by_default(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert train("--policies", "oracle").exit_code == 0
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == ["digits-1", "digits-2"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--policies", "acdp"), "there is no policy 'acdp'"),
        (("--device", "abacus"), "device must be cpu or cuda"),
        (("--resume", "nowhere"), "is no result"),
        (("--resume", "nowhere", "--out", "elsewhere"), "leave out --out"),
        (("--rounds", "1.5"), "--rounds must be a whole number"),
        (("--model", "mine"), "there is no model 'mine'"),
        (("--cost-trace", "nowhere.csv"), "nowhere.csv"),
        (("--dataset", "npz:nowhere.npz"), "nowhere.npz"),
        (("--preset", "paper", "--out", "never-made"), "mnist"),
    ],
)
def test_a_mistake_is_one_clear_sentence(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed = train(*words).exception
    assert isinstance(failed, SettingError)
    assert message in str(failed).lower() or message in str(failed)
    assert not list(tmp_path.iterdir())
