"""`acdpp train` from the outside."""

import json
import re
import sys
import tomllib
from itertools import combinations
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from acdpp import interrupt, output
from acdpp.main import main
from acdpp.output import pm
from acdpp.summary import show_ranking, show_summary
from acdpp.train import trained
from tests.acdpp.program import acdpp, answer
from tests.empirics.small import blobs_file

SMALL = ["--rounds", "12", "--seeds", "2"]


def say(*words):
    return acdpp("train", *SMALL, *map(str, words))


def train(*words):
    return say("--dataset", blobs_file(), *words)


def reread(folder):
    """The answer of `acdpp resume` for a finished result."""
    return answer("resume", str(folder))


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Standard output for the paper's learner in 80 columns, and the result's folder."""
    out = tmp_path_factory.mktemp("train") / "result"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "80")
        said = say("--preset", "digits", "--out", out, "--verbose")
    assert said.returncode == 0, said.stdout
    return said.stdout, out


def test_one_command_trains_and_prints_predicted_beside_measured_and_bound_in_80_columns(shown):
    lines, policies = shown[0].splitlines(), reread(shown[1])["policies"]
    assert max(map(len, lines[:-1])) <= 80  # and a command to copy
    risks, tested, constraints, mismatches = (
        [line.split()[1:] for line in lines[at + 1 : at + 1 + len(policies)]]
        for at, line in enumerate(lines)
        if "────" in line
    )
    heading = next(line for line in lines if line.strip().startswith("policy"))
    assert heading.split() == ["policy", "final", "÷", "cumulative", "÷", "bound", "÷"]
    shown_all = zip(policies.values(), risks, tested, constraints, mismatches, strict=True)
    for found, risk, test, rest, mismatch in shown_all:
        numbers = [*found["final_excess_risk"].values(), found["final_predicted_over_measured"]]
        numbers += [*found["cumulative_excess_risk"].values(), found["predicted_over_measured"]]
        numbers.append(found["corrected_over_measured"])
        cells = [cell for cell in risk if cell != "±"]
        places = [len(cell.partition(".")[2]) for cell in cells]
        assert cells == [f"{one:,.{n}f}" for one, n in zip(numbers, places, strict=True)]
        assert " ".join(test) == f"{pm(found['final_accuracy'])} {pm(found['final_log_loss'])}"
        assert rest[-3:] == [f"{found['mean_cost']['mean']:.4g}", "0", str(found["largest_occupancy"])]
        shares = (found["mismatch"][name] for name in ("over_chi", "over_stated", "over_stated_early"))
        assert mismatch[:3] == ["∞" if one is None else f"{one:.2f}" for one in shares]


def summary_of(measured, cost, *, seeds=3, undecided=None, of="final_accuracy"):
    """A summary with these means, and these accuracies or losses by seed, where those are what is measured."""
    each = {"mean_risk": "mean_risks", "final_accuracy": "final_accuracies"}[of]
    rows = {
        name: {
            "mean_cost": {"mean": cost[name]},
            "final_accuracy": {"mean": 0.5, "error": None},
            each: value if undecided is None else None,
            of: {"mean": np.mean(value) if undecided is None else 0.5, "error": None},
            "cumulative_excess_risk": {"mean": None if undecided is None else value, "error": 0.1},
        }
        for name, value in measured.items()
    }
    ranking = {} if undecided is None else {"ranking": {"undecided": undecided}}
    return {"result": "a b", "policies": rows, "budget": 10.0, "seeds": seeds} | ranking


def test_the_answer_is_the_first_five_lines(shown):
    short = acdpp("resume", str(shown[1])).stdout.splitlines()
    assert short[:4] == shown[0].splitlines()[:4]
    best = short[0].partition(": ")[2].partition(" (")[0]
    assert short[4].endswith(f"acdpp resume {shown[1]} --verbose")
    assert short[5].endswith(f"acdpp export {shown[1]} --policy {best} --out model.pt")
    assert shown[0].splitlines()[-2:] == [f"result: {shown[1]}", short[5]]


COST = {"mine": 11.0, "yours": 9.0, "oracle": 11.1}
RISKS = {"yours": 4.0, "oracle": 1.0, "mine": 3.0}
MANY = {f"mine@K={K}": 1.0 + K for K in range(1, 5)}
ACCURATE = {"mine": [0.50, 0.60, 0.71], "yours": [0.60, 0.70, 0.80]}
THREE = ACCURATE | {"mine": [0.535, 0.6, 0.665], "oracle": [0.1] * 3}  # significant, were it one pair
NOISY = ACCURATE | {"mine": [0.5, 0.7, 0.6]}
DEARER = ("budget: mine (test accuracy 0.5)", "3.0 ± 0.1, 25.0 % below yours (4.0 ± 0.1)")
DEARER += ("not significantly", "11 per round, of a budget of 10; oracle (1.0 ± 0.1) cost 11.1")
DECIDED = ("best: oracle", "66.7 % below mine", "significantly different from all 2 other", "20 per round")
NEAR = ("mine@K=1", "mine@K=2", "not significantly different from 3 of 3 policies (5 % level")
LESS = ("best: mine", "0.6033, 0.0967 below yours (0.7)", "significantly", "8 per round")
ANSWERS = [  # a summary, and per line what it says
    (RISKS, COST, {"undecided": [["yours", "mine"], ["oracle", "mine"]]}, DEARER),
    (RISKS, dict.fromkeys(COST, 20), {"undecided": [["mine", "yours"]]}, DECIDED),
    ({"mine": 0.0, "yours": 0.0}, COST, {"seeds": 1, "undecided": []}, ("", "below yours", "one seed")),
    (MANY, dict.fromkeys(MANY, 1), {"undecided": [["mine@K=1", other] for other in MANY][1:]}, NEAR),
    (ACCURATE, COST, {}, ("best: yours", "0.7, 0.0967 above mine (0.6033)", "significantly", "9 per round")),
    (NOISY, COST, {}, ("yours", "above", "not significantly different from mine")),
    (THREE, COST, {}, ("yours", "0.1000 above mine", "not significantly different from mine")),
    (ACCURATE, COST | {"mine": 8.0}, {"of": "mean_risk"}, LESS),
]


@pytest.mark.parametrize(("measured", "cost", "more", "facts"), ANSWERS)
def test_an_answer_is_best_policy_lead_significance_and_cost(measured, cost, more, facts, capsys):
    show_summary(summary_of(measured, cost, **more))
    *lines, last, _ = capsys.readouterr().out.splitlines()
    assert last.endswith("acdpp resume 'a b' --verbose")
    assert len(lines) == 4
    for fact, line in zip(facts, lines, strict=False):
        assert fact in line
    assert lines[2].startswith("not") == any(fact.startswith("not") for fact in facts)
    assert ("(test accuracy" in lines[0]) == ("undecided" in more)


def test_a_policy_alone_has_no_lead_and_may_be_predicted(capsys):
    alone = summary_of({"yours": 4.0}, COST, undecided=[])
    for predicted in (None, {"cumulative_excess_risk": 3.94321}):
        alone["policies"]["yours"]["predicted"] = predicted
        show_summary(alone)
        best, risk, cost, _, model = capsys.readouterr().out.splitlines()
        assert best == "trained: yours (test accuracy 0.5)"
        assert ("predicted 3.943" in risk) == (predicted is not None)
        assert "9 per round" in cost
        assert model.endswith("acdpp export 'a b' --out model.pt")
    show_summary(summary_of({"yours": None}, COST, undecided=[]))
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_a_number_has_three_digits_or_is_whole_from_100_on():
    assert [output.count(one) for one in (None, -1234.4, 99.94)] == ["–", "-1,234", "99.9"]


def test_a_study_on_workers_says_where_it_continues():
    trained(
        lambda *_, announce, **__: announce(Path("a b")), Mock(rounds=3), None, quiet=True, on="ray://host:1"
    )
    assert interrupt.last_words() == "stopped; continue with acdpp resume 'a b' --on ray://host:1"


def test_a_name_never_breaks_and_the_table_turns_where_it_is_too_wide(capsys, monkeypatch):
    long, names = "buy-cheap-online@eta=0.1", ("constant", "buy-cheap-online@eta=0.1")
    rows = {name: ["0.0381 ± 0.0009", "7.76 ± 0.07"] for name in names}

    def said(width):
        monkeypatch.setenv("COLUMNS", str(width))
        output.show_table("Risk", ["final", "cumulative"], rows)
        return [line.rstrip() for line in capsys.readouterr().out.splitlines()]

    wide = said(60)
    assert wide[-2] == f" {long}  0.0381 ± 0.0009  7.76 ± 0.07"
    assert said(55) == wide
    assert said(54)[-3:-1] == [f" {long}", f"{' ' * 11}0.0381 ± 0.0009  7.76 ± 0.07"]
    assert said(37)[1].startswith(" policy ")
    assert said(36)[-4:-1] == [f"{long}:", "  final: 0.0381 ± 0.0009", "  cumulative: 7.76 ± 0.07"]


def test_no_line_ends_within_a_name_nor_between_a_number_and_its_error(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "24")
    long = "buy-cheap-online@eta=0.1,average=polynomial"
    sentence = f"the mean of {long} is 4.79 ± 0.05 here, 39 ± 1 % below; now K = 10, t ≤ 50 [a]"
    output.say(sentence + "\n\nand another one")
    output.say(sentence, whole=True, end="!")
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["the mean of", long, "is 4.79 ± 0.05 here,"]
    assert lines[3:] == ["39 ± 1 % below; now", "K = 10, t ≤ 50 [a]", "", "and another one", sentence + "!"]
    sentence = f"the data of csv:x:y, {60 * '.'} and a word"  # whatever the terminal says of its width
    for width, lines in (("0", 2), ("1", 8)):
        monkeypatch.setenv("COLUMNS", width)
        output.say(sentence)
        said = capsys.readouterr().out
        assert (" ".join(said.split()), len(said.splitlines())) == (sentence, lines)


def test_where_standard_error_is_closed_standard_output_is_spared(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for words, status in (("none", 2), ("1 --seeds 1 --policies constant --watch --out new", 0)):
        monkeypatch.setattr(sys, "argv", ["acdpp", "train", "--rounds", *words.split()])
        monkeypatch.setattr(sys, "stderr", None)
        with pytest.raises(SystemExit) as left:
            main()
        sys.stderr.close()
        assert left.value.code == status
        assert "acdpp:" not in capsys.readouterr().out
        assert (tmp_path / "new").exists() == (status == 0)


def test_bounds_are_shown_if_some_policy_has_one(shown, capsys):
    document = reread(shown[1])
    document["policies"]["acdpp"]["bound_corrected"] = None
    show_summary(document, verbose=True)
    assert "bound ÷" in capsys.readouterr().out


def test_a_summary_says_how_far_each_policy_gets_towards_the_oracle(shown, capsys):
    closed = {"buy-cheap-online": {"share": 0.4, "low": 0.3, "high": 0.5, "p": 0.01}}
    gaps = {"cumulative_excess_risk": closed, "final_risk": None}
    document = reread(shown[1]) | {"gap_closed": gaps}
    for name, share in {"acdpp": 0.01, "oracle": 0.03, "hybrid": 0.02}.items():
        row = document["policies"][name]
        risk = row["predicted"]["cumulative_excess_risk"]
        row["predicted_error"] = {"cumulative_excess_risk": share * risk}
    show_summary(document, verbose=True)
    said = " ".join(capsys.readouterr().out.split())
    assert "over paths of prices or samples: at most 3.0 %" in said
    assert "between constant and oracle: buy-cheap-online 40 % (30 to 50 %)" in said


def test_every_remark_and_every_cell_of_the_tables_is_that_of_the_summary(shown, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    document = reread(shown[1])
    rows = {name: document["policies"][name] for name in ("acdpp", "oracle", "constant")}
    stretches = ([[2, 2], [4, 6], [8, 9], [11, 12]], [], [[3, 3]])
    for place, (row, above) in enumerate(zip(rows.values(), stretches, strict=True)):
        row |= {"predicted": None, "bound_stated": 1000.0 + place, "bound_corrected": 2000.0 + place}
        row |= {"mean_risk": {"mean": 0.5, "error": None}, "mean_accuracy": {"mean": 0.25, "error": None}}
        row["mismatch"] |= {"above_stated": above, "over_stated_early": None, "early_rounds": 7}
    rows["constant"] |= {"diverged": 1, "buffer_violation": None}
    rows["acdpp"]["last_cumulative_excess_risk"] = {"mean": 1.5, "error": 0.2}
    document |= {"policies": rows, "lower_bound": {"final_excess_risk": 0.125}}
    document |= {"nominal_constants": ["G", "L"], "outside_the_hypotheses": ["a reason", "another"]}
    document |= {"prediction_notes": ["a note", "one more"]}
    show_summary(document, verbose=True)
    printed = capsys.readouterr().out
    found = [re.split(" {2,}", line.strip()) for line in printed.splitlines()]
    cells = {name: [row[1:] for row in found if row[0] == name] for name in rows}
    headings = [row[1:] for row in found if row[0] == "policy"]
    assert headings[0] == ["final", "cumulative", "stated", "corrected", "÷"]
    assert headings[3] == ["mean loss", "mean accuracy"]
    for name, row in rows.items():
        excess = [pm(row[f"{which}_excess_risk"]) for which in ("final", "cumulative")]
        bounds = [f"{row[f'bound_{form}']:,.0f}" for form in ("stated", "corrected")]
        assert cells[name][0][:4] == [*excess, *bounds]
        assert cells[name][3] == ["0.5", "0.25"]
        assert cells[name][2][1:] == ["∞" if name == "constant" else "0", str(row["largest_occupancy"])]
    early = [["∞ (t ≤ 7)", "2, 4-6, 8-9, …"], ["∞ (t ≤ 7)", "none"], ["– (t ≤ 7)", "3"]]
    assert [some[4][2:] for some in cells.values()] == early
    for fact in (
        "not derived from the data: G, L",
        "bound: a reason",
        "bound: another",
        "final excess risk: 0.125 ",
        *("prediction: a note", "prediction: one more", "risk of the last iterates: acdpp 1.5 ± 0.2\n"),
        "diverged: 1 of 2 runs of constant; ",
    ):
        assert fact in printed


def test_a_ranking_by_bounds_is_set_against_the_measured_one(capsys):
    three = ["oracle", "mine", "yours"]
    wrong = {"corrected": three[::-1], "corrected_disagrees_on": [["mine", "yours"]]}
    base = {"measured": three, "pairs": 3, "undecided": [["oracle", "mine"]], "stated_disagrees_on": []}
    for more, facts in (
        (
            wrong | {"decided_pairs": 2},
            ["ranks yours, mine, oracle: wrong on mine and yours", "all 2 significant pairs, of 3"],
        ),
        (
            wrong | {"decided_pairs": 1},
            ["stated bound ranks all 1 significant pair, of 3", "level): oracle and mine"],
        ),
        ({"decided_pairs": 1}, ["no bound ranks them"]),
        ({"decided_pairs": 0}, ["no two policies differ significantly"]),
    ):
        show_ranking(base | more)
        printed = " ".join(capsys.readouterr().out.split())
        assert [fact for fact in ["best first: oracle, mine, yours", *facts] if fact not in printed] == []


def test_where_nothing_is_predicted_it_says_why(tmp_path):
    config = tmp_path / "study.toml"
    config.write_text('predict = false\npolicies = ["oracle"]\nrounds = 900\n')
    said = train("--config", config, "--out", tmp_path / "result", "--verbose").stdout
    assert "not predicted: the setting predict is false" in said
    assert reread(tmp_path / "result")["rounds"] == 12  # the command line goes first
    assert "stated" in next(line for line in said.splitlines() if "corrected" in line)
    config.write_text('radius = "none"\npolicies = ["oracle"]\n')  # so that it is not measured either
    assert "not predicted" not in train("--config", config, "--out", tmp_path / "other", "--verbose").stdout


def test_a_sweep_is_one_study_of_every_value_and_json_one_object_with_both_bounds(tmp_path):
    policies = ("--preset", "own", "--policies", "constant,acdpp@K=3,eta=0.1,oracle")
    words = (*policies, "--sweep", "K=1,20", "--sweep", "E=1,2", "--json", "--out", tmp_path / "result")
    document = json.loads(train(*words).stdout)
    kept = [row["retention"] for row in document["policies"].values()]
    assert kept == [[1], [1], [12], [12], [3], [3], [1], [1]]  # of 12 rounds
    for row in document["policies"].values():
        assert row["bound_corrected"] > row["cumulative_excess_risk"]["mean"] > 0
        assert row["bound_stated"] > 0
        assert sum(row["bound_corrected_terms"].values()) == pytest.approx(row["bound_corrected"])
    assert document == reread(tmp_path / "result")
    said = train("--policies", "constant,oracle", "--sweep", "K=1,5", "--show-config").stdout
    assert 'policies = ["constant@K=1", "constant@K=5", "oracle"]' in said


def test_the_ranking_of_a_long_sweep_names_only_some_of_its_pairs(capsys):
    names = [f"constant@K={K}" for K in range(1, 8)]
    undecided = [list(pair) for pair in combinations(names, 2)][1:]
    agree = {f"{form}_disagrees_on": [] for form in ("corrected", "stated")}
    show_ranking({"measured": names, "pairs": 21, "decided_pairs": 1, "undecided": undecided} | agree)
    shown = " ".join(capsys.readouterr().out.split())
    assert "constant@K=1 and constant@K=3" in shown
    assert "10 more" in shown
    assert shown.count(" and ") == 10


def test_results_get_a_folder_of_their_own_by_default(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert train("--policies", "oracle").returncode == 0
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == ["best-1", "best-2"]


def test_what_nobody_names_is_the_learner_that_wins_and_what_the_paper_describes_has_presets(tmp_path):
    def learner(*words):
        said = tomllib.loads(acdpp("train", *map(str, words), "--show-config").stdout)
        assert (said["learner"] == "information") is (said["preset"] == "best")
        return said["eta"], said["decay"], said["average"], said["labels"], said["policies"][0]

    config = tmp_path / "study.toml"
    config.write_text("rounds = 5\n")
    paper, falls = (0.5, "none", "none"), (4.0, 50.0, "polynomial")
    for own, first, words in (
        (paper, "burst-online", ("", "--preset best")),
        (falls, "taper-online", ("--learner descent", "--preset descent")),
    ):
        for given in map(str.split, words):
            assert learner(*given) == (*own, "parity", first)
            assert learner(*given, "--dataset", blobs_file()) == (*own, "classes", first)
    for words in ("--preset own --no-fit", "--model lenet --preset own", "--preset paper"):
        assert learner(*words.split()) == (*paper, "classes", "acdpp")
    for words in ("--preset digits", f"--config {config}", "--model lenet", "--drift abrupt,start=9"):
        assert learner(*words.split()) == (*paper, "parity", "acdpp")
