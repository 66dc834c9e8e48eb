"""The command line as a user meets it: a process, its output, its exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from theory.constant_admission import constant_bound, constant_bound_as_stated, oracle_bound
from theory.design import design
from theory.setting import Budget, Constants

UNIT = Constants(D=1, sigma=1, eta=Fraction(1, 10), B=1, Pdim=5)
BUDGET = ["--buffers", "8,9,10,11,12,8,9,10,11,12", "--budget", "55", "--mean-cost", "5.5"]


def acdpp(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from acdpp.main import main; main()", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def answer(*words: str) -> Any:
    done = acdpp(*words, "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_bound_says_what_the_theory_says() -> None:
    document = answer("bound", "constant", "--K", "10", "--rate", "10", "--horizon", "1e12")
    expected = constant_bound(10, 10, 10**12, UNIT)
    assert document["total"] == expected.total
    assert document["terms"]["root"] == expected.terms.root
    assert sum(document["terms"].values()) == pytest.approx(document["total"], rel=1e-15)
    assert document["horizon"] == 10**12
    assert 0 < document["error"] < 1e-12 * document["total"]


def test_a_certified_enclosure_contains_the_float() -> None:
    document = answer("bound", "oracle", "--K", "10", "--rate", "10", "--horizon", "10^9", "--certified")
    low, high = document["enclosure"]
    assert low <= document["total"] <= high
    assert high - low <= 4e-16 * high * 4
    assert document["total"] == pytest.approx(oracle_bound(100, 10**9, UNIT).total, rel=1e-14)


def test_the_stated_form_says_where_it_is_not_real() -> None:
    document = answer("bound", "constant", "--horizon", "1000", "--form", "stated")
    assert document["negative_radicand_rounds"] == {"root": [[4, 15]], "generalisation": [[1, 2]]}
    assert document["total"] == constant_bound_as_stated(10, 10, 1000, UNIT).total
    document = answer("bound", "omega3", "--horizon", "100", "--form", "stated")
    assert document["negative_radicand_rounds"] == {"root": [[1, 9]]}


@pytest.mark.parametrize("form", ["stated", "corrected"])
def test_regret_terms_come_with_three_terms_and_an_error(form: str) -> None:
    for quantity in ("omega2", "omega3"):
        document = answer("bound", quantity, "--horizon", "1000", "--rho", "0.9", "--form", form)
        assert set(document["terms"]) == {"root", "linear", "generalisation"}
        assert document["error"] < 1e-9


def test_the_two_sharper_bounds_lie_below_theorem_1() -> None:
    constants = ["--constants", "D=1,sigma=1,eta=0.1,B=1,Pdim=5,G=1", "--certified"]
    whole, sharper, memory = (answer("bound", name, *constants) for name in ("constant", "sharper", "memory"))
    assert sharper["enclosure"][1] < whole["enclosure"][0]
    assert memory["enclosure"][1] < whole["enclosure"][0]
    assert sharper["terms"]["linear"] == memory["terms"]["root"] == 0


def test_the_regret_comes_with_its_leading_term_and_a_proved_enclosure() -> None:
    document = answer("bound", "regret", "--K", "2", "--horizon", "1e15")
    low, high = document["enclosure"]
    assert low <= document["total"] <= high
    assert 1.02 < document["leading_term"] / document["total"] < 1.04
    assert answer("bound", "regret", "--K", "1")["total"] == pytest.approx(0, abs=1e-20)


def test_violations_are_the_largest_inside_the_region() -> None:
    costs = ["--budget", "55", "--mean-cost", "5.5"]
    document = answer("bound", "cost-violation", "--rho", "0.5", "--horizon", "2", *costs)
    assert document["total"] == pytest.approx(55 * (1 + 1 / 3))
    assert answer("bound", "buffer-violation", "--rho", "0.5", "--horizon", "1e15")["total"] == 0
    assert answer("bound", "buffer-violation", "--K", "2", "--rate", "1", "--rho", "0.5", "--horizon", "2")[
        "total"
    ] == pytest.approx(4 / 3)


def test_design_says_where_the_ceiling_passes_the_floor() -> None:
    document = answer("design", "--buffers", "10,11", "--budget", "10", "--mean-cost", "1")
    assert document["crossover"] == pytest.approx(2_983_619, rel=0.01)
    assert answer("design", *BUDGET)["crossover"] is None


def test_design_says_what_the_theory_says() -> None:
    document = answer("design", *BUDGET, "--horizon", "1e6")
    budget = Budget(buffers=(8, 9, 10, 11, 12) * 2, cost=55, mean_cost=Fraction(11, 2))
    expected = design(budget, 10**6, UNIT)
    assert document["K"] == expected.K == 10
    assert document["rates"] == pytest.approx([float(r) for r in expected.rates])
    assert document["total_rate"] == 10
    assert document["binding"] == ["buffers", "cost"]
    keys = {"K", "total_rate", "occupancy", "cost", "feasible", "bound"}
    assert all(keys <= candidate.keys() for candidate in document["candidates"])
    assert {c["feasible"] for c in document["candidates"]} == {True, False}


def test_buffers_can_come_from_a_file(tmp_path: Path) -> None:
    listed = tmp_path / "buffers.txt"
    listed.write_text("8\n9\n10\n11\n12\n" * 2)
    document = answer("design", "--buffers", f"@{listed}", "--budget", "55", "--mean-cost", "5.5")
    assert document["K"] == 10


def test_tables_fit_into_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for words in (["design", *BUDGET], ["bound", "constant", "--form", "stated", "--horizon", "1e15"]):
        done = acdpp(*words)
        assert done.returncode == 0
        assert max(map(len, done.stdout.splitlines())) <= 80
        assert "…" not in done.stdout


def test_version_and_help_come_with_examples() -> None:
    assert acdpp("--version").stdout.startswith("acdpp 0.")
    assert "acdpp bound constant" in acdpp("bound", "--help").stdout
    assert "acdpp design --buffers" in acdpp("design", "--help").stdout
    everything = acdpp("--help")
    assert everything.returncode == 0
    assert "acdpp verify" in everything.stdout
    assert "acdpp bound constant --K 10" in " ".join(everything.stdout.split())


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["bound", "constant", "--K", "2.5"], "--K must be a whole number"),
        (["bound", "constant", "--K", "ten"], "--K must be a number"),
        (["bound", "constant", "--horizon", "0"], "--horizon must be a whole number"),
        (["bound", "constant", "--horizon", "1e99"], "at most 10^15"),
        (["bound", "constant", "--rate", "-1"], "rate must be a positive finite number"),
        (["bound", "constant", "--constants", "D=1"], "needs sigma"),
        (["bound", "constant", "--constants", "D=1,foo=2"], "names D, sigma"),
        (["bound", "constant", "--constants", "D=0,sigma=1,eta=1,B=1,Pdim=1"], "D must be a positive"),
        (["bound", "constant", "--constants", "D=nan,sigma=1,eta=1,B=1,Pdim=1"], "D must be a number"),
        (["bound", "constant", "--constants", "D=1,D=1,sigma=1,eta=1,B=1,Pdim=1"], "twice"),
        (["bound", "constant", "--constants", "D=1,sigma=1,eta=1,B=1,Pdim=1,E=2,G=1"], "smoothness L"),
        (["bound", "constant", "--K", "1e400"], "between 1e-100 and 1e100"),
        (["bound", "constant", "--rate", "1e-400"], "between 1e-100 and 1e100"),
        (
            ["bound", "constant", "--constants", "D=1e5000,sigma=1,eta=1,B=1,Pdim=1"],
            "between 1e-100 and 1e100",
        ),
        (["bound", "constant", "--rho", "7"], "strictly between 0 and 1"),
        (["bound"], "quantity"),
        (["design", "--buffers", "8,,9", "--budget", "1", "--mean-cost", "1"], "--buffers must be a number"),
        (["bound", "omega2"], "--rho"),
        (["bound", "buffer-violation"], "--rho"),
        (["bound", "cost-violation", "--rho", "0.9"], "--budget and --mean-cost"),
        (["bound", "memory", "--form", "stated"], "the paper prints no form of it"),
        (["bound", "omega2", "--rho", "1"], "strictly between 0 and 1"),
        (["bound", "nothing"], "is not one of"),
        (["design", "--buffers", "", "--budget", "1", "--mean-cost", "1"], "at least one number"),
        (["design", "--buffers", "1,x", "--budget", "1", "--mean-cost", "1"], "--buffers must be a number"),
        (["design", "--buffers", "1,0", "--budget", "1", "--mean-cost", "1"], "buffer 2 must be"),
        (
            ["design", "--buffers", "@missing.txt", "--budget", "1", "--mean-cost", "1"],
            "cannot read 'missing.txt'",
        ),
        (["design", "--buffers", "1", "--budget", "0", "--mean-cost", "1"], "cost budget C"),
        (["design", "--budget", "1", "--mean-cost", "1"], "--buffers"),
        (["nonsense"], "nonsense"),
    ],
)
def test_a_mistake_gets_one_line_and_a_failing_exit(words: list[str], complaint: str) -> None:
    done = acdpp(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert complaint in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr
