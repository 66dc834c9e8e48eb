"""`acdpp train` from the outside."""

import json
import tomllib
from itertools import combinations

import pytest

from acdpp.train import EXAMPLES, _show_ranking, show_summary
from tests.acdpp.program import acdpp, answer
from tests.empirics.small import blobs_file

SMALL = ["--rounds", "12", "--seeds", "2"]


def say(*words):
    return acdpp("train", *SMALL, *map(str, words))


def train(*words):
    return say("--dataset", blobs_file(), *words)


def reread(folder):
    """What `--resume` of a finished result says."""
    return answer("train", "--resume", str(folder))


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What is printed of the paper's learner in 80 columns, and where the result is."""
    out = tmp_path_factory.mktemp("train") / "result"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "80")
        said = say("--preset", "digits", "--out", out)
    assert said.returncode == 0, said.stdout
    return said.stdout, out


def test_one_command_trains_and_prints_predicted_beside_measured_and_bound_in_80_columns(shown):
    said, out = shown
    for words in ("odd against even", "acdpp-capped", "measured, best first", "told apart", "cost (of 55)"):
        assert words in said
    assert "result:" in said
    assert (out / "rounds.parquet").exists()
    lines, found = said.splitlines(), reread(out)["policies"]["oracle"]
    assert max(map(len, lines)) <= 80
    heading = next(line for line in lines if "predicted" in line)
    assert heading.split() == ["policy", "final", "cumulative", "predicted", "÷", "bound", "÷"]
    row = next(line for line in lines if line.strip().startswith("oracle")).split()
    assert f"{found['predicted']['cumulative_excess_risk']:.4g}" in row
    assert f"{found['predicted_over_measured']:.2f}" in row
    assert "not predicted" not in said


def test_a_summary_says_how_far_each_policy_gets_towards_the_oracle(shown, capsys):
    closed = {"buy-cheap-online": {"share": 0.4, "low": 0.3, "high": 0.5, "p": 0.01}}
    show_summary(reread(shown[1]) | {"gap_closed": {"cumulative_excess_risk": closed, "final_risk": None}})
    said = " ".join(capsys.readouterr().out.split())
    assert "of the gap in cumulative excess risk between constant and oracle: buy-cheap-online 40%" in said


def test_where_nothing_is_predicted_it_says_why(tmp_path):
    config = tmp_path / "study.toml"
    config.write_text('predict = false\npolicies = ["oracle"]\n')
    said = train("--config", config, "--out", tmp_path / "result").stdout
    assert "not predicted: the setting predict is false" in said
    assert "stated" in next(line for line in said.splitlines() if "corrected" in line)
    config.write_text('radius = "none"\npolicies = ["oracle"]\n')  # so that it is not measured either
    assert "not predicted" not in train("--config", config, "--out", tmp_path / "other").stdout


def test_a_sweep_is_one_study_of_every_value_and_json_one_object_with_both_bounds(tmp_path):
    policies = ("--preset", "own", "--policies", "constant,acdpp@K=3,eta=0.1,oracle")
    words = (*policies, "--sweep", "K=1,20", "--sweep", "E=1,2", "--json", "--out", tmp_path / "result")
    document = json.loads(train(*words).stdout)
    assert list(document["policies"]) == [
        *("constant@K=1,steps=1", "constant@K=1,steps=2", "constant@K=20,steps=1", "constant@K=20,steps=2"),
        *("acdpp@K=3,eta=0.1,steps=1", "acdpp@K=3,eta=0.1,steps=2", "oracle@steps=1", "oracle@steps=2"),
    ]
    kept = [row["retention"] for row in document["policies"].values()]
    assert kept == [[1], [1], [12], [12], [3], [3], [1], [1]]  # of 12 rounds
    for row in document["policies"].values():
        assert row["bound_corrected"] > row["cumulative_excess_risk"]["mean"] > 0
        assert row["bound_stated"] > 0
        assert sum(row["bound_corrected_terms"].values()) == pytest.approx(row["bound_corrected"])
    assert document == reread(tmp_path / "result")


def test_a_sweep_is_written_out_in_the_settings_and_shown_in_the_help(tmp_path):
    said = train("--policies", "constant,oracle", "--sweep", "K=1,5", "--show-config").stdout
    assert 'policies = ["constant@K=1", "constant@K=5", "oracle"]' in said
    (tmp_path / "study.toml").write_text(said, encoding="utf-8")
    assert train("--config", tmp_path / "study.toml", "--show-config").stdout == said
    assert "--sweep K=1,2" in EXAMPLES
    assert "--sweep" in train("--help").stdout


def test_the_ranking_of_a_long_sweep_names_only_some_of_its_pairs(capsys):
    names = [f"constant@K={K}" for K in range(1, 8)]
    undecided = [list(pair) for pair in combinations(names, 2)][1:]
    agree = {f"{form}_disagrees_on": [] for form in ("corrected", "stated")}
    _show_ranking({"measured": names, "pairs": 21, "decided_pairs": 1, "undecided": undecided} | agree)
    shown = " ".join(capsys.readouterr().out.split())
    assert "constant@K=1 and constant@K=3" in shown
    assert "10 more" in shown
    assert shown.count(" and ") == 10


def test_settings_come_from_a_file_and_the_command_line_goes_first(tmp_path):
    config = tmp_path / "study.toml"
    config.write_text('rounds = 900\npolicies = ["oracle"]\nlabels = "classes"\n')
    document = json.loads(train("--config", config, "--json", "--out", tmp_path / "result").stdout)
    assert document["rounds"] == 12
    assert list(document["policies"]) == ["oracle"]
    assert document["nominal_constants"] == ["Pdim"]


def test_results_get_a_folder_of_their_own_by_default(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert say("--policies", "oracle").returncode == 0
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == ["best-1", "best-2"]


def test_what_nobody_names_is_the_learner_that_wins_and_what_the_paper_describes_has_presets(tmp_path):
    def learner(*words):
        said = tomllib.loads(acdpp("train", *map(str, words), "--show-config").stdout)
        return said["eta"], said["decay"], said["average"], said["labels"], said["policies"][0]

    config = tmp_path / "study.toml"
    config.write_text("rounds = 5\n")
    paper, wins = (0.5, "none", "none"), (4.0, 50.0, "polynomial")
    assert learner() == learner("--preset", "best") == (*wins, "parity", "taper-online")
    for words in ((), ("--preset", "best")):
        assert learner(*words, "--dataset", blobs_file()) == (*wins, "classes", "taper-online")
    for words in (("--preset", "digits"), ("--config", config)):
        assert learner(*words) == (*paper, "parity", "acdpp")
    for words in (("--preset", "own"), ("--model", "lenet", "--preset", "own"), ("--preset", "paper")):
        assert learner(*words) == (*paper, "classes", "acdpp")
    for words in (("--model", "lenet"), ("--drift", "abrupt,start=9")):
        assert learner(*words) == (*paper, "parity", "acdpp")
