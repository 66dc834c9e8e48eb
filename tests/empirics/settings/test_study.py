"""Settings of a study, its cost and its policies: read, refused, saved, spelled in one way, swept."""

import copy
import json
import math
import pickle
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path

import pytest

from empirics import PRESETS, read_toml
from empirics.control.registry import BUILT_IN, LISTENING
from empirics.reference import markdown
from empirics.settings.costs import CostProcess, Process
from empirics.settings.drift import Drift
from empirics.settings.policy_name import SETTINGS_OF, PolicyName, swept
from empirics.settings.study import Study
from empirics.settings.toml import toml
from tests.empirics.small import refused
from theory.setting import Constants


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
    assert Study(checkpoint=10**6).checkpoint == 10**6  # the largest of all is none of them


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
    uneven = Study(alpha=(0.55, *(0.05,) * 9))
    assert uneven.departures == ("clients are not weighted by n_m/n",)
    assert replace(uneven, weights="samples").departures == ()
    assert "clients draw from different distributions" in PRESETS["paper"].departures
    assert len(PRESETS["released"].departures) == 4
    assert (Study().bound_applies, Study(learner="information").bound_applies) == (True, False)
    for own, reason in (("decay=50", "steps get smaller"), ("average=equal", "the model is a mean")):
        (found,) = Study(policies=("constant", f"acdpp@{own}")).departures  # one policy's is the study's
        assert reason in found


@pytest.mark.parametrize("name", PRESETS)
def test_a_study_reads_back_as_itself_and_its_file_explains_every_setting(name, tmp_path):
    study, path = PRESETS[name], tmp_path / "study.toml"
    path.write_text(toml(study), encoding="utf-8")
    assert read_toml(path) == study == Study.from_document(study.document())
    lines = path.read_text(encoding="utf-8").splitlines()
    head = lines[: lines.index("")]
    assert all(line.startswith("#") for line in head)  # what is said of the file stands apart
    for at, line in enumerate(lines):
        if " = " in line and not line.startswith("#"):
            assert lines[at - 1].startswith("# "), line
    (cost,) = (one for one in fields(Study) if one.name == "cost")
    assert lines[lines.index("[cost]") - 1] == f"# {cost.metadata['help']}"
    for one in (*fields(Study), *fields(CostProcess)):
        assert one.metadata["help"].endswith("."), one.name


def test_a_task_is_told_in_words():
    for given, words in (
        ({}, "digits: all classes, multinomial logistic regression"),
        ({"labels": "parity"}, "digits: odd against even classes, binary logistic regression"),
        ({"model": "lenet"}, "digits: all classes, model lenet"),
    ):
        assert Study(**given).task == words


@pytest.mark.parametrize("process", [process for process in Process if process != Process.trace])
def test_the_mean_is_exact_for_the_decimals_that_were_typed(process):
    assert CostProcess(process=process, low=1, high=8).mean == Fraction(9, 2)
    if process != Process.integer:
        assert CostProcess(process=process, low=0.1, high=0.3).mean == Fraction(1, 5)


def test_a_cost_process_that_makes_no_sense_is_refused():
    no_prices = ("a", None, True, math.nan, math.inf, -1, 10**400, 1e300, [1])
    for given, part in (
        *(({"process": process}, "one of uniform") for process in ("gaussian", ["uniform"])),
        *(({name: value}, name) for name in ("low", "high", "stay", "drift") for value in no_prices),
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
    for one in (trace, Study(cost=CostProcess(process="markov", stay=0))):
        assert Study.from_document(json.loads(json.dumps(one.document()))) == one
    assert "prices.csv" in refused(lambda: trace.cost.mean)


def test_the_reference_page_is_the_one_that_the_definitions_make():
    page = Path(__file__).parents[3] / "docs" / "reference.md"
    assert page.read_text(encoding="utf-8") == markdown(), "python -m empirics.reference docs/reference.md"


def test_a_population_moves_as_its_clients_do_each_by_what_it_weighs():
    drift = Drift(kind="gradual", length=4, apart=2)
    for alpha, mixed in ((None, 0.25), ((0.25, 0.75), 0.125)):
        assert Study(buffers=(1, 1), alpha=alpha, drift=drift).mixing(3, 3).tolist() == [mixed]
    assert Study(rounds=5, drift=Drift(kind="abrupt", start=5)).mixing(4, 5).tolist() == [0, 1]
    periodic = Drift(kind="periodic", length=6, start=2)
    assert periodic.weight([2, 5, 8]).tolist() == [0, 1, 0]
    assert periodic.changes(11) == [2, 5, 8, 11]
    gradual = Drift(kind="gradual", start=3, length=4)
    assert [gradual.changes(rounds) for rounds in (2, 6, 7)] == [[], [3], [3, 7]]
    assert periodic.changes(1) == []
    assert "rounds must be" in refused(Study.from_document, {"rounds": {"low": 1}})


SPELLINGS = {
    "constant": "constant",
    "constant@K=05": "constant@K=5",
    "constant@K=1e2": "constant@K=100",
    "acdpp @ eta = .25": "acdpp@eta=0.25",
    "acdpp@eta=1e-7": "acdpp@eta=1e-07",
    "my.module:Mine@budget=2e1,V=3.0": "my.module:Mine@V=3,budget=20",
    "acdpp@budget=55.50,rate=10.0,V=1e3,rho=.90,E=2,eta=2.0,K=7": (
        "acdpp@K=7,eta=2,steps=2,rho=0.9,V=1000,rate=10,budget=55.5"
    ),
    "acdpp+cap+K@rho=0.5": "acdpp+K+cap@rho=0.5",
    "released-region@rate=3": "released-region@rate=3",
    "buy-cheap-online@V=9": "buy-cheap-online@V=9",
}


@pytest.mark.parametrize("given", SPELLINGS)
def test_a_name_has_one_spelling_and_survives_a_copy(given):
    (name,) = Study(policies=(given,)).policies
    assert name == SPELLINGS[given]
    for again in (PolicyName(str(name)), copy.deepcopy(name), pickle.loads(pickle.dumps(name))):
        assert again == name
        assert (again.base, again.own, again.departures) == (name.base, name.own, name.departures)
    assert PolicyName(name) is name


def test_what_is_no_name_is_refused():
    no_numbers = ("-1", "", "nan", ".", "5@K=6", "٣", "9" * 5000)
    for name, message in {
        "constant@": "is written like acdpp@K=7,eta=0.5, got 'constant@'",
        "@K=5": "is written like",
        "constant@K=5,": "is written like",
        "constant@momentum=5": "a policy may have K, eta, steps, decay, average, average_by, rho, V",
        "constant@step=5": "did you mean 'steps'",
        "hybrid@K=5,rate=3": "hybrid has no rate to choose: take it out of 'hybrid@K=5,rate=3'",
        "acdpp+all@V=3": "acdpp+all has no V",
        "released@V=3": "released has no V",
        "acdpp@V=0": "V in 'acdpp@V=0' must lie in",
        "acdpp@rho=1": "rho in 'acdpp@rho=1' must lie in (0, 1), such as 0.99, got 1",
        "acdpp@rate=1e7": "rate in 'acdpp@rate=1e7' must lie in (0, 1e+07)",
        "constant@eta=0": "must lie in (1e-15, 1e+09)",
        "constant@eta=1e999": "must lie in",
        "constant@K=2.5": "must be a whole number",
        "constant@K=0": "K in 'constant@K=0' must be a whole number of at least 1, got 0",
        f"constant@K={2**53 + 1}": f"must be a whole number of at least 1, got {2**53 + 1}",
        "constant@steps=1e7": "must be a whole number from 1 to 1,000,000",
        **{f"constant@K={given}": "must be a number" for given in no_numbers},
        "constant@steps=5,E=5": "names steps twice",
        "constant@average=mean": "must be one of none, equal, polynomial, tail, exponential, got 'mean'",
    }.items():
        sentence = refused(Study, policies=(name,))
        assert message in sentence
        assert len(sentence) < 250
    sentence = refused(Study, policies=("oracle", "acdpp@K=5,eta=1", "acdpp@eta=1.0,K=05"))
    assert "policies must differ from each other, got oracle, acdpp@K=5,eta=1, acdpp" in sentence


def test_a_policy_sees_the_study_with_its_own_settings_and_nothing_else_changed():
    study = Study(K=3, hybrid_K=4)
    seven = study.of_policy("acdpp@K=7").document()
    other = {name: seven[name] for name, value in study.document().items() if value != seven[name]}
    assert other == {"K": 7, "hybrid_K": 7, "released_K": 7, "burst_K": 7}
    tenth = study.of_policy("hybrid@eta=0.1,steps=2")
    assert (tenth.eta, tenth.steps, tenth.K, tenth.hybrid_K) == (0.1, 2, 3, 4)
    assert study.of_policy("oracle") is study
    falling = Study(decay=50, decay_by="samples", policies=("acdpp", "acdpp@decay=none"))
    assert (falling.of_policy("acdpp@decay=none").decay, falling.decays) == (None, True)
    constants = Constants(D=20, sigma=1, eta=0.5, B=10, Pdim=9, E=10, G=1, L=1)
    study = Study(steps=10, eta=0.5)
    own = study.constants_of("acdpp@eta=0.1", constants)
    assert (own.eta, own.E, own.D) == (0.1, 10, 20)
    assert study.constants_of("acdpp@steps=2", constants).merged.eta == 1.0
    assert study.constants_of("acdpp@K=4,eta=0.5,steps=10", constants) is constants


def test_a_sweep_is_every_policy_with_every_combination_but_for_what_it_has_already():
    assert swept(["constant", "acdpp@K=10", "oracle"], ["K=2,1e1", "E=1,3"]) == [
        *("constant@K=2,steps=1", "constant@K=2,steps=3", "constant@K=10,steps=1", "constant@K=10,steps=3"),
        *("acdpp@K=10,steps=1", "acdpp@K=10,steps=3"),
        *("oracle@steps=1", "oracle@steps=3"),
    ]
    assert Study().swept() == Study()
    assert swept(["oracle"], ["average=none,tail"]) == ["oracle@average=none", "oracle@average=tail"]
    both = ["average_by=0.3,0.6", "average=equal,tail"]  # an equal mean has no parameter
    assert swept(["oracle"], both) == [
        "oracle@average=equal",
        *("oracle@average=tail,average_by=0.3", "oracle@average=tail,average_by=0.6"),
    ]
    plain = Study(average="polynomial", average_by=3).of_policy("oracle@average=tail")
    assert (plain.average, plain.average_by, plain.averaging) == ("tail", None, 0.5)
    assert Study(average="tail", average_by=0.3).of_policy("oracle@average=tail").average_by == 0.3


def test_a_sweep_passes_by_what_has_no_such_setting():
    names = ["acdpp", "acdpp-capped", "acdpp+cap", "acdpp+region", "acdpp+constants", "released", "constant"]
    names += [
        "hybrid",
        "oracle",
        "buy-cheap",
        "buy-cheap-online",
        "mine",
        "burst",
        "taper-online",
        "adaptive",
    ]

    def kept(sweep):
        return [name for name, found in zip(names, swept(names, [sweep]), strict=True) if "@" not in found]

    rest, buying = ["constant", "hybrid", "oracle"], ["buy-cheap", "buy-cheap-online"]
    assert list(SETTINGS_OF) == [*BUILT_IN, *LISTENING]
    assert kept("rho=0.5") == kept("rate=3") == ["acdpp+region", "released", *rest, *buying, *names[-4:]]
    assert kept("V=3") == ["acdpp+constants", "released", *rest, "mine", "adaptive"]
    assert kept("budget=30") == ["oracle"]
    assert kept("K=3") == ["oracle", *buying, "taper-online"]
    assert kept("eta=3") == []


def test_what_is_no_sweep_is_refused():
    for sweeps, message in (
        (["K"], "a sweep is a setting and its values, such as K=1,2,5, got 'K'"),
        (["K=1,,2"], "must be a number, got ''"),
        (["rates=1,2"], "unknown setting 'rates' in 'rates=1,2': did you mean 'rate'"),
        (["K=1,2", "eta=0.1"], "a sweep over K changes none of the policies"),
        (["eta=1,0"], "eta in 'eta=1,0' must lie in"),
        (["eta=1", "rate=1,2"], "a sweep over rate changes none of the policies constant@K=5, oracle"),
        (["steps=1", "E=2"], "steps is swept twice"),
        (["steps=2,2"], "policies must differ"),
    ):
        assert message in refused(Study(policies=("constant@K=5", "oracle")).swept, *sweeps)
