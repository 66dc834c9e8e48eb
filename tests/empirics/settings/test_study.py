"""A study's settings, those of its cost too: read, refused, saved, and read again."""

import json
import math
from dataclasses import fields
from fractions import Fraction
from pathlib import Path

import pytest

from empirics import PRESETS, Study, read_toml
from empirics.reference import markdown
from empirics.settings.costs import CostProcess, Process
from empirics.settings.drift import Drift
from empirics.settings.toml import toml
from tests.empirics.small import refused


def test_what_makes_no_sense_is_refused():
    for given, message in (
        ({"round": 3}, "did you mean 'rounds'"),
        ({"cost": {"lo": 1}}, "unknown setting 'cost.lo': did you mean 'cost.low'"),
        ({"cost": "uniform"}, "cost must be a table"),
        ({"policies": "acdpp"}, "policies must be a list"),
        ({"policies": []}, "policies must be a list"),
        ({"policies": [3]}, "each of policies must be a name"),
        ({"buffers": [8, 0]}, "each of buffers must be a whole number from 1 to 10,000,000"),
        *(({"rounds": value}, "rounds must be a whole number") for value in (0, True)),
        ({"threads": 100000}, "threads must be a whole number from 1 to"),
        ({"V": "none", "eta": math.inf}, "eta must lie in (1e-15, 1e+09)"),
        ({"rate": 1e30}, "rate must lie in"),
        ({"per_seed": ["weather"]}, "each of per_seed must be one of partition, start"),
        ({"seeds": 2.5}, "seeds must be a whole number"),
        ({"alpha": [0.5, 0.6]}, "alpha must give each client"),
        ({"alpha": [1.5, -0.5]}, "each of alpha must lie in [0, 1e+15), such as 0.5, got -0.5"),
        ({"momentum": 1}, "momentum must lie in"),
        ({"average": "equal", "average_by": 3}, "average equal takes no average_by: leave it out"),
        ({"average": "tail", "average_by": 1}, "average_by of tail must lie in (0, 1), such as 0.5, got 1"),
        ({"average": "polynomial", "average_by": -1}, "average_by must lie in [0, 1e+15)"),
        ({"decay": 0}, "decay must lie in"),
        ({"decay_by": "samples"}, "give decay too"),
        ({"replacement": "no"}, "replacement must be true or false"),
        ({"dataset": ""}, "dataset must be a name"),
        ({"labels": "clases"}, "did you mean 'classes'"),
        ({"labels": "x" * 58}, f"got '{'x' * 58}'"),
        ({"labels": "x" * 59}, f"got '{'x' * 56}..."),
        ({"radius": "big"}, "radius must lie in"),
    ):
        assert message in refused(Study.from_document, given)


def test_region_and_trade_off_follow_from_the_horizon_unless_given_and_an_assumed_price_enters_the_design():
    for given, both in (({}, (100.0, 0.99)), ({"V": 7.0, "rho": 0.5}, (7.0, 0.5))):
        study = Study(rounds=10_000, **given)
        assert (study.penalty_weight, study.contraction) == both
    assert Study(rounds=1).contraction == 1 - 1 / math.sqrt(2)
    study = Study.from_document({"cost": {"process": "integer", "high": 49}, "assumed_mean_cost": 5.5})
    assert (study.theory_budget(study.cost.mean).mean_cost, study.cost.mean) == (5.5, 25)


def test_a_settings_file_names_its_preset(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text('preset = "released"\nrounds = 7\nradius = "none"\n[cost]\nhigh = 49\n')
    study = read_toml(path)
    assert (study.preset, study.rounds, study.radius) == ("released", 7, None)
    assert (study.cost.process, study.cost.high) == ("integer", 49)
    assert "for the preset 'released', not for 'paper'" in refused(read_toml, path, "paper")
    for text, message in {"rounds = ": "not a TOML file", 'preset = "mine"': "preset must be one of"}.items():
        path.write_text(text)
        assert message in refused(read_toml, path)
    assert "cannot read" in refused(read_toml, tmp_path / "none.toml")
    path.write_text('dataset = "npz:mine.npz"\n')
    assert (read_toml(path).preset, read_toml(path).labels) == ("own", "classes")


def test_the_default_study_lies_within_the_theorems_hypotheses_and_the_others_do_not():
    assert Study().departures == Study(alpha=(0.1,) * 10).departures == ()
    assert Study(alpha=(0.55, *(0.05,) * 9)).departures == ("clients are not weighted by n_m/n",)
    assert "clients draw from different distributions" in PRESETS["paper"].departures
    assert len(PRESETS["released"].departures) == 4


@pytest.mark.parametrize("name", PRESETS)
def test_a_study_reads_back_as_itself_and_its_file_explains_every_setting(name, tmp_path):
    study, path = PRESETS[name], tmp_path / "study.toml"
    path.write_text(toml(study), encoding="utf-8")
    assert read_toml(path) == study == Study.from_document(study.document())
    lines = path.read_text(encoding="utf-8").splitlines()
    for at, line in enumerate(lines):
        if " = " in line and not line.startswith("#"):
            assert lines[at - 1].startswith("# "), line
    (cost,) = (one for one in fields(Study) if one.name == "cost")
    assert lines[lines.index("[cost]") - 1] == f"# {cost.metadata['help']}"
    for one in (*fields(Study), *fields(CostProcess)):
        assert one.metadata["help"].endswith("."), one.name


@pytest.mark.parametrize("process", [process for process in Process if process != Process.trace])
def test_the_mean_is_exact_for_the_decimals_that_were_typed(process):
    assert CostProcess(process=process, low=1, high=8).mean == Fraction(9, 2)
    if process != Process.integer:
        assert CostProcess(process=process, low=0.1, high=0.3).mean == Fraction(1, 5)


NO_PRICES = ("a", None, True, math.nan, math.inf, -1, 10**400, 1e300, [1])


def test_a_cost_process_that_makes_no_sense_is_refused():
    for given, part in (
        *(({"process": process}, "one of uniform") for process in ("gaussian", ["uniform"])),
        *(({name: value}, name) for name in ("low", "high", "stay", "drift") for value in NO_PRICES),
        ({"low": 0}, "low"),
        ({"low": 3, "high": 2}, "not be below"),
        ({"process": "integer", "low": 1.5}, "whole ends"),
        ({"stay": 1}, "stay"),
        ({"drift": 1}, "drift"),
        ({"process": "trace"}, "needs the file"),
        ({"process": "trace", "file": ""}, "file"),
        ({"process": "trace", "file": "a.csv", "column": 1}, "column"),
        ({"file": "a.csv"}, "belong to"),
        ({"process": "markov", "column": "price"}, "belong to"),
    ):
        sentence = refused(CostProcess, **given)
        assert part in sentence
        assert len(sentence) < 200
    trace = Study(cost=CostProcess(process="trace", file="prices.csv", column="price"))
    assert Study.from_document(json.loads(json.dumps(trace.document()))) == trace
    assert "prices.csv" in refused(lambda: trace.cost.mean)


def test_the_reference_page_is_the_one_that_the_definitions_make():
    page = Path(__file__).parents[3] / "docs" / "reference.md"
    assert page.read_text(encoding="utf-8") == markdown(), "python -m empirics.reference docs/reference.md"


def test_a_population_moves_as_its_clients_do_each_by_what_it_weighs():
    drift = Drift(kind="gradual", length=4, apart=2)
    for alpha, mixed in ((None, 0.25), ((0.25, 0.75), 0.125)):
        assert Study(buffers=(1, 1), alpha=alpha, drift=drift).mixing(3, 3).tolist() == [mixed]
    periodic = Drift(kind="periodic", length=6, start=2)
    assert periodic.weight([2, 5, 8]).tolist() == [0, 1, 0]
    assert periodic.changes(11) == [2, 5, 8, 11]
    assert "rounds must be" in refused(Study.from_document, {"rounds": {"low": 1}})
