"""The command line as a user meets it: what it prints where, and its exit status."""

import json
import math
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from fractions import Fraction
from io import BytesIO, TextIOWrapper

import pytest
import typer

from acdpp.main import COMMANDS, app
from acdpp.output import print_json, users_code
from acdpp.plot import FIGURES
from tests.acdpp.program import acdpp, answer, process, said
from tests.empirics.small import blobs_file
from theory.bound.constant_admission import constant_bound, constant_bound_as_stated, oracle_bound
from theory.design.offline import design
from theory.setting import Budget, Constants

UNIT = Constants(D=1, sigma=1, eta=Fraction(1, 10), B=1, Pdim=5)
WHOLE = ["--constants", "D=1,sigma=1,eta=0.1,B=1,Pdim=5,G=1"]
BUDGET = ["--buffers", "8,9,10,11,12,8,9,10,11,12", "--budget", "55", "--mean-cost", "5.5"]


@pytest.mark.parametrize(
    "words",
    [["bound", "constant", "--certified", "--json"], ["design", *BUDGET], ["bound", "omega2"], ["--help"]],
    ids=" ".join,
)
def test_a_process_says_what_main_says(words, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    alone, here = process(*words), acdpp(*words)
    assert (alone.returncode, alone.stdout, alone.stderr) == (here.returncode, here.stdout, here.stderr)
    assert (alone.stdout == "") == (alone.returncode != 0)


def test_bound_says_what_the_theory_says():
    document = answer("bound", "constant", "--K", "10", "--rate", "10", "--horizon", "1e12", *WHOLE)
    expected = constant_bound(10, 10, 10**12, replace(UNIT, G=1))
    assert document["total"] == expected.total
    assert document["terms"]["root"] == expected.terms.root
    assert sum(document["terms"].values()) == pytest.approx(document["total"], rel=1e-15)
    assert document["horizon"] == 10**12
    assert 0 < document["error"] < 1e-12 * document["total"]


def test_a_certified_enclosure_contains_the_float():
    document = answer("bound", "oracle", "--rate", "10", "--horizon", "10^9", "--certified", *WHOLE)
    low, high = document["enclosure"]
    assert low <= document["total"] <= high
    assert low < high  # the sum is no double
    assert high - low <= 4e-16 * high * 4
    assert document["total"] == pytest.approx(oracle_bound(100, 10**9, replace(UNIT, G=1)).total, rel=1e-14)


def test_the_stated_form_says_where_it_is_not_real():
    document = answer("bound", "constant", "--horizon", "1000", "--form", "stated")
    assert document["negative_radicand_rounds"] == {"root": [[4, 15]], "generalisation": [[1, 2]]}
    assert document["partial_total"] == constant_bound_as_stated(10, 10, 1000, UNIT).total
    document = answer("bound", "omega3", "--horizon", "100", "--form", "stated")
    assert document["negative_radicand_rounds"] == {"root": [[1, 9]]}


@pytest.mark.parametrize("quantity", ["constant", "oracle", "sharper", "memory"])
def test_there_is_no_total_without_the_constant_of_every_round(quantity):
    document = answer("bound", quantity, "--certified")
    assert document["total"] is None
    assert document["terms"].pop("constant") is None
    low, high = document["partial_enclosure"]
    assert low <= document["partial_total"] <= high
    assert sum(document["terms"].values()) == pytest.approx(document["partial_total"], rel=1e-14)
    assert "enclosure" not in document
    whole = answer("bound", quantity, *WHOLE)
    assert whole["total"] == pytest.approx(document["partial_total"] + whole["terms"]["constant"], rel=1e-14)
    assert whole["terms"]["constant"] > 0
    assert "partial_total" not in whole
    text = acdpp("bound", quantity).stdout
    assert "partial total" in text
    assert "give G in --constants" in text
    assert "partial" not in acdpp("bound", quantity, *WHOLE).stdout


def test_the_stability_bound_knows_neither_pdim_nor_b():
    words = ("bound", "stability", "--K", "5", "--certified", "--constants")
    one, other = (answer(*words, f"D=1,sigma=1,eta=0.1,B={B},Pdim={B},G=1,L=4") for B in (1, 99))
    assert one == other
    assert one["terms"]["generalisation"] == pytest.approx(0.1 * 0.8 / 10 * 1000, rel=0.01)


def test_a_single_run_may_exceed_the_stability_bound_by_a_deviation():
    constants = "D=3,sigma=1,eta=0.1,B=1,Pdim=1,G=1,L=4"
    words = ("bound", "stability", "--K", "1", "--rate", "2", "--constants", constants)
    sure = ("--confidence", "0.95")
    mean, rounded, run = (answer(*words, *more) for more in ((), sure, (*sure, "--certified")))
    assert run["terms"]["deviation"] == pytest.approx(3 * (2 * math.log(20) * 1000 / 2) ** 0.5)
    assert run["total"] == pytest.approx(mean["total"] + run["terms"]["deviation"], rel=1e-14)
    assert rounded["total"] == pytest.approx(run["total"], abs=rounded["error"])
    assert rounded["error"] > mean["error"]
    for more, single in (((), False), (sure, True)):
        assert ("a single run, with probability at least 0.95" in said(*words, *more)) == single
    low, high = run["enclosure"]
    assert low <= run["total"] <= high


def printed_rows(text):
    """The cells of a table with lines, by their heading at the left."""
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in text.splitlines() if "│" in line]
    return {name: cells for name, *cells in rows}


def test_what_is_printed_of_a_bound_is_its_document():
    words = ("bound", "constant", "--K", "7", "--horizon", "50", "--form", "stated")
    document, printed = answer(*words, *WHOLE), said(*words, *WHOLE)
    assert printed.startswith("constant, stated, T = 50 ")
    numbers = document["terms"] | {"partial total": document["partial_total"]}
    wanted = {name: [f"{one:.15g}", f"{one / 50:.6g}"] for name, one in numbers.items()}
    assert printed_rows(printed) == wanted
    assert "no total without round 3: " in printed
    told = [line.rpartition(": ")[2] for line in printed.splitlines() if line.startswith("negative under")]
    assert told == ["root term, rounds 3-10", "generalisation term, rounds 1"]
    rows = printed_rows(said("bound", "regret", "--K", "2"))
    leading = answer("bound", "regret", "--K", "2")["leading_term"]
    assert rows["leading term alone"] == [f"{leading:.15g}", f"{leading / 1000:.6g}"]
    for more, name in (((), "partial total"), (WHOLE, "total")):
        assert f"proved: the {name} lies in [" in said("bound", "constant", "--certified", *more)
    local = f"{WHOLE[1].replace('G=1', 'L=1')},E="
    for steps, needed in ((1, "give G in"), (2, "give G and L in")):
        assert needed in said("bound", "constant", "--constants", f"{local}{steps}".replace(",L=1", ""))


def test_there_is_no_total_without_a_round_of_the_printed_sum():
    document = answer("bound", "constant", "--K", "3", "--form", "stated", *WHOLE)
    assert document["total"] is None
    assert document["left_out_rounds"] == [1]
    assert list(document["left_out"]) == ["round 1"]


@pytest.mark.parametrize("form", ["stated", "corrected"])
def test_regret_terms_come_with_three_terms_and_an_error(form):
    for quantity in (("omega2", "--rho", "0.9"), ("omega3",)):
        document = answer("bound", *quantity, "--horizon", "1000", "--form", form)
        assert set(document["terms"]) == {"root", "linear", "generalisation"}
        assert document["error"] < 1e-9


def test_the_regret_comes_with_its_leading_term_and_a_proved_enclosure():
    document = answer("bound", "regret", "--K", "2", "--horizon", "1e15")
    low, high = document["enclosure"]
    assert low <= document["total"] <= high
    assert 1.02 < document["leading_term"] / document["total"] < 1.04
    assert answer("bound", "regret", "--K", "1")["total"] == pytest.approx(0, abs=1e-20)


def test_violations_are_the_largest_inside_the_region():
    costs = ["--budget", "55", "--mean-cost", "5.5"]
    document = answer("bound", "cost-violation", "--rho", "0.5", "--horizon", "2", *costs)
    assert document["total"] == pytest.approx(55 * (1 + 1 / 3))
    words = ("bound", "buffer-violation", "--rho", "0.5", "--horizon")
    assert answer(*words, "1e15")["total"] == 0
    assert answer(*words, "2", "--K", "2", "--rate", "1")["total"] == pytest.approx(4 / 3)


def test_design_says_where_the_ceiling_passes_the_floor():
    words = ("design", "--budget", "10", "--mean-cost", "1", "--buffers")
    document = answer(*words, "10,11")
    assert document["crossover"] == pytest.approx(2_983_619, rel=0.01)
    for buffers in ("10,15.5", "10,11"):
        told, where = " ".join(said(*words, buffers).split()), answer(*words, buffers)["crossover"]
        assert f"K = 2 at the affordable rate is better up to about T = {where:,.0f}, then K = 3" in told
        assert ("--horizon is exact" in told) == (where < 20_000) == (buffers == "10,15.5")
        assert "The printed corollary offers K = 2 with full buffers too: not feasible." in told
    assert "corollary" not in said("design", *BUDGET)
    assert answer("design", *BUDGET)["crossover"] is None


def test_design_says_what_the_theory_says_of_buffers_in_a_file_too(tmp_path):
    sizes = "\ufeff8\n9 10,11\n12, 8\n\n9\t10 , 11\n12\n"  # a byte order mark, and all that parts numbers
    (listed := tmp_path / "buffers.txt").write_text(sizes, encoding="utf-8")
    document = answer("design", "--buffers", f"@{listed}", *BUDGET[2:], "--horizon", "1e6")
    budget = Budget(buffers=(8, 9, 10, 11, 12) * 2, cost=55, mean_cost=Fraction(11, 2))
    expected = design(budget, 10**6, UNIT)
    assert document["K"] == expected.K == 10
    assert document["rates"] == pytest.approx([float(r) for r in expected.rates])
    assert document["total_rate"] == 10
    assert document["binding"] == ["buffers", "cost"]
    keys = {"K", "total_rate", "occupancy", "cost", "feasible", "bound"}
    assert all(keys <= candidate.keys() for candidate in document["candidates"])
    assert {c["feasible"] for c in document["candidates"]} == {True, False}
    assert document["bound"] is None
    assert document["bound_without_constant"] == expected.bound
    whole = answer("design", *BUDGET, "--horizon", "1e6", *WHOLE)
    assert whole["bound"] == pytest.approx(expected.bound + 10**6 * 0.1, rel=1e-14)
    assert "bound_without_constant" not in whole["candidates"][0]


def test_the_landscape_says_what_its_bound_is_over_and_what_it_lacks(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    for more, heading in (
        ((), "bound* per round"),
        (WHOLE, "bound per round"),
        (("--horizon", "50"), "bound*"),
        (("--horizon", "50", *WHOLE), "bound"),
    ):
        printed = said("design", *BUDGET, *more)
        shown = next(line for line in printed.splitlines() if line.startswith(" retention"))
        assert " ".join(shown.split()) == f"retention rate occupancy cost {heading} feasible"
        assert ("* without the constant term" in printed) == ("*" in heading)


def test_the_landscape_marks_the_chosen_k_and_long_lists_and_numbers_are_shortened(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    sizes = [5, *range(3, 15)]
    words = (
        "design",
        "--buffers",
        ",".join(map(str, sizes)),
        "--budget",
        "20",
        "--mean-cost",
        "1",
        "--horizon",
        "50",
    )
    document, printed = answer(*words), said(*words)  # which that K with full buffers would be beyond
    chosen, K = [line for line in printed.splitlines() if line.endswith("yes, chosen")], document["K"]
    row, other = (one for one in document["candidates"][::-1] if one["K"] == K)
    assert not other["feasible"]
    wanted = [f"{row[name]:.6g}" for name in ("total_rate", "occupancy", "cost")]
    assert [line.split()[:6] for line in chosen] == [["K", "=", str(K), *wanted]]
    rates = [f"{rate:.6g}" for rate in document["rates"]]
    assert f"rates λ_m: {', '.join([*rates[:6], '…', *rates[-3:]])} " in " ".join(printed.split())
    for size, shown in (("1234567", "1234567"), ("2e15", "2e+15")):
        told = said("design", "--buffers", size, "--budget", "1", "--mean-cost", "1")
        assert told.startswith(f"K* = {shown} for T → ∞\n")


def test_a_design_far_out_is_answered():
    for buffers, budget, horizon in (
        ("1e15", "55", "1e12"),  # buffers that nothing fills
        ("8,9", "1e-12", "1e12"),  # a budget that pays for nothing
        ("8,9", "1e-12", None),
        ("7e16", "3", "1e12"),  # a fill ratio that is whole as a float, not as a fraction
        ("2.2e18", "530", "1e10"),
    ):
        words = ["design", "--buffers", buffers, "--budget", budget, "--mean-cost", "1.4"]
        document = answer(*words, *(["--horizon", horizon] if horizon else []))
        assert horizon is None or document["K"] <= float(horizon)
        assert document["crossover"] is None


def test_a_preset_says_what_it_keeps_for_other_data():
    done = acdpp("train", "--preset", "paper", "--dataset", "digits", "--show-config")
    assert done.stderr.startswith("acdpp: note: preset paper keeps buffers")
    assert 'dataset = "digits"' in done.stdout


def test_the_landscape_is_whole_in_few_columns(monkeypatch):
    def numbers(columns):
        monkeypatch.setenv("COLUMNS", str(columns))
        printed = said("design", *BUDGET, "--horizon", "1000")
        assert max(map(len, printed.splitlines())) <= columns
        assert "…" not in printed
        words = printed.partition("Landscape")[2].split()
        return [word.rstrip(":") for word in words if word[0].isdigit()]

    assert numbers(80)[:6] == ["1", "100", "100", "550", "520.13292", "1"]
    assert numbers(80) == numbers(40) == numbers(20)


KEEP = f"keep {' '.join(BUDGET)} --drift"


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize(
    "words",
    [
        *("buy --cost 5.5", "buy --online --cost integer:1:1000 --buffers 1e6,1e6 --budget 1e7"),
        *(f"{KEEP} 0", f"{KEEP} 1e-12", f"{KEEP} 1e-9 --contraction 0.9", f"{KEEP} 1000 --contraction 0.9"),
    ],
)
def test_an_answer_is_whole_in_few_columns(words, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    printed = said(*words.split())
    assert max(map(len, printed.splitlines())) <= columns
    found = printed.split()
    assert not {"nan", "inf", "-0"} & set(found)
    assert ("keep samples for K = " in " ".join(found)) == words.startswith("keep")
    assert not [word for word in found if "…" in word and word != "…"]  # no cell is cut


@pytest.mark.parametrize("command", [*COMMANDS, *(f"plot {name}" for name in (*FIGURES, "all"))])
def test_help_explains_every_parameter_with_examples_and_a_flag_has_no_type(command):
    found = typer.main.get_command(app)
    for name in command.split():
        found = found.commands[name]
    assert all(param.help for param in found.params)
    assert COMMANDS[command.split()[0]].writes or "--out" not in [o for one in found.params for o in one.opts]
    shown = " ".join(acdpp(*command.split(), "--help").stdout.split())
    assert f"acdpp {command}" in shown.partition("Example")[2]
    assert "bool" not in shown.lower()
    if command.startswith("plot "):
        assert {"--out", "--format", "--style"} <= set(shown.split())


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("words", ["--help", "design --help", f"design {' '.join(BUDGET)}"])
def test_what_cannot_be_shown_is_replaced(words, encoding):
    done = acdpp(*words.split(), encoding=encoding)
    assert (done.returncode, done.stderr) == (0, "")
    assert "?" in done.stdout


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_json_is_ascii_where_the_output_is_narrow_and_says_the_same(encoding):
    for document in ({"Ω": "λ → √2"}, {"a file's name": "\udcff"}):  # and bytes that are no UTF-8
        narrow = TextIOWrapper(BytesIO(), encoding=encoding)
        with redirect_stdout(narrow):
            print_json(document)
        narrow.seek(0)
        printed = narrow.read()
        assert json.loads(printed) == document
        assert printed.isascii() == (encoding != "utf-8" or "Ω" not in document)


def test_modules_of_the_user_are_found_from_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for _ in range(2):
        with users_code():
            assert sys.path[0] == str(tmp_path)
    assert sys.path.count(str(tmp_path)) == 1


def test_a_prediction_of_the_information_learner_claims_no_measured_accuracy():
    words = f"--rounds 9 --policies constant --radius 3 --no-fit --dataset {blobs_file()}".split()
    said = " ".join(acdpp("predict", *words, "--learner", "information").stdout.split())
    assert "a server that adds up information is predicted" in said
    assert "95 % of recorded" not in said
