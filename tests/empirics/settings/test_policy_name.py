"""Policies with settings of their own: one spelling each, and what is swept becomes a policy."""

import pytest

from empirics.settings.policy_name import PolicyName, listed, swept
from empirics.settings.study import Study
from theory.setting import Constants, SettingError


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("constant", "constant"),
        ("constant@K=05", "constant@K=5"),
        ("constant@K=1e2", "constant@K=100"),
        ("acdpp@E=3,eta=0.50,K=7", "acdpp@K=7,eta=0.5,steps=3"),
        ("acdpp @ eta = .25", "acdpp@eta=0.25"),
        ("acdpp@eta=2.0", "acdpp@eta=2"),
        ("acdpp@eta=1e-7", "acdpp@eta=1e-07"),
        ("my.module:Mine@K=2", "my.module:Mine@K=2"),
        ("my.module:Mine@budget=2e1,V=3.0", "my.module:Mine@V=3,budget=20"),
        (
            "acdpp@budget=55.50,rate=10.0,V=1e3,rho=.90,E=2,K=7",
            "acdpp@K=7,steps=2,rho=0.9,V=1000,rate=10,budget=55.5",
        ),
        ("acdpp+cap+K@rho=0.5", "acdpp+K+cap@rho=0.5"),
        ("released-region@rate=3", "released-region@rate=3"),
        ("buy-cheap-online@V=9", "buy-cheap-online@V=9"),
    ],
)
def test_a_variant_has_one_spelling(given, kept):
    (name,) = Study(policies=(given,)).policies
    assert name == kept
    assert Study(policies=(name,)).policies == (kept,)
    assert PolicyName(kept) == kept


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["constant@"], r"is written like acdpp@K=7,eta=0\.5, got 'constant@'"),
        (["@K=5"], "is written like"),
        (["constant@K"], "is written like"),
        (["constant@K=5,"], "is written like"),
        (
            ["constant@momentum=5"],
            "'momentum' in 'constant@momentum=5': a policy may have K, eta, steps, rho, V, rate and budget of its own",
        ),
        (["constant@rho=0.5"], "constant has no rho to choose: take it out of 'constant@rho=0.5'"),
        (["hybrid@K=5,rate=3"], "hybrid has no rate to choose: take it out of 'hybrid@K=5,rate=3'"),
        (["buy-cheap@rate=3"], "buy-cheap has no rate"),
        (["released@V=3"], "released has no V"),
        (["released-cap@rho=0.5"], "released-cap has no rho"),
        (["acdpp+region@rate=3"], r"acdpp\+region has no rate"),
        (["acdpp+all@V=3"], r"acdpp\+all has no V"),
        (["oracle@budget=30"], "oracle has no budget"),
        (["acdpp@rho=1"], r"rho in 'acdpp@rho=1' must lie in \(0, 1\), such as 0\.99, got 1"),
        (["acdpp@V=0"], r"V in 'acdpp@V=0' must lie in"),
        (["acdpp@rate=1e7"], r"rate in 'acdpp@rate=1e7' must lie in \(0, 1e\+07\)"),
        (["constant@budget=-1"], "must be a number, got '-1'"),
        (["constant@step=5"], "did you mean 'steps'"),
        (["constant@K=5,K=6"], "names K twice"),
        (["constant@steps=5,E=5"], "names steps twice"),
        (["constant@K=0"], "K in 'constant@K=0' must be a whole number of at least 1, got 0"),
        (["constant@K=2.5"], "must be a whole number"),
        (["constant@K=-3"], "must be a number, got '-3'"),
        (["constant@K="], "must be a number, got ''"),
        (["constant@K=٣"], "must be a number"),
        (["constant@eta=nan"], "must be a number, got 'nan'"),
        (["constant@eta=."], "must be a number"),
        (["constant@eta=0"], r"eta in .* must lie in \(1e-15, 1e\+09\)"),
        (["constant@eta=1e999"], "must lie in"),
        (["constant@steps=1e7"], "must be a whole number from 1 to 1,000,000"),
        (["constant@K=5@K=6"], "must be a number, got '5@K=6'"),
        (["constant@K=" + "9" * 5000], "must be a number"),
        (
            ["constant@K=5", "constant@K=05"],
            "policies must differ from each other, got constant@K=5, constant@K=5",
        ),
        (["acdpp@K=5,eta=1", "acdpp@eta=1.0,K=5"], "policies must differ"),
    ],
)
def test_what_is_no_variant_is_refused_in_one_sentence(names, message):
    with pytest.raises(SettingError, match=message) as caught:
        Study(policies=tuple(names))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


def test_a_policy_sees_the_study_with_its_own_settings_and_nothing_else_changed():
    study = Study(K=3, hybrid_K=4, policies=("acdpp@K=7", "hybrid@eta=0.1", "oracle"))
    seven = study.of_policy("acdpp@K=7")
    assert (seven.K, seven.hybrid_K, seven.released_K) == (7, 7, 7)
    other = {name for name, value in study.document().items() if value != seven.document()[name]}
    assert other == {"K", "hybrid_K", "released_K"}
    tenth = study.of_policy("hybrid@eta=0.1,steps=2")
    assert (tenth.eta, tenth.steps, tenth.K, tenth.hybrid_K) == (0.1, 2, 3, 4)
    assert study.of_policy("oracle") is study


def test_the_constants_of_a_policy_have_its_own_steps():
    study, constants = (
        Study(steps=10, eta=0.5),
        Constants(D=20, sigma=1, eta=0.5, B=10, Pdim=9, E=10, G=1, L=1),
    )
    own = study.constants_of("acdpp@eta=0.1", constants)
    assert (own.eta, own.E, own.D) == (0.1, 10, 20)
    assert study.constants_of("acdpp@steps=2", constants).merged.eta == 1.0
    assert study.constants_of("acdpp@K=4,eta=0.5,steps=10", constants) is constants


def test_a_sweep_is_every_policy_with_every_combination():
    assert swept(["constant", "acdpp"], ["K=2,1e1", "E=1,3"]) == [
        *("constant@K=2,steps=1", "constant@K=2,steps=3", "constant@K=10,steps=1", "constant@K=10,steps=3"),
        *("acdpp@K=2,steps=1", "acdpp@K=2,steps=3", "acdpp@K=10,steps=1", "acdpp@K=10,steps=3"),
    ]
    assert Study().swept() == Study()


def test_what_a_policy_has_of_its_own_and_the_oracle_has_by_nature_is_not_swept():
    assert swept(["constant", "acdpp@K=10", "oracle"], ["K=1,2"]) == [
        *("constant@K=1", "constant@K=2", "acdpp@K=10", "oracle")
    ]
    assert swept(["acdpp@K=10", "oracle"], ["eta=0.1"]) == ["acdpp@K=10,eta=0.1", "oracle@eta=0.1"]


def test_a_sweep_passes_by_what_has_no_such_setting():
    names = ["acdpp", "acdpp-capped", "acdpp+cap", "acdpp+region", "acdpp+constants", "released", "constant"]
    names += ["oracle", "buy-cheap", "mine"]

    def kept(sweep):
        return [name for name, found in zip(names, swept(names, [sweep]), strict=True) if "@" not in found]

    rest = ["constant", "oracle", "buy-cheap", "mine"]
    assert kept("rho=0.5") == kept("rate=3") == ["acdpp+region", "released", *rest]
    assert kept("V=3") == ["acdpp+constants", "released", "constant", "oracle", "mine"]
    assert kept("budget=30") == ["oracle"]
    assert kept("K=3") == ["oracle", "buy-cheap"]
    assert kept("eta=3") == []
    assert swept(["acdpp", "oracle"], ["rho=0.5,0.90"]) == ["acdpp@rho=0.5", "acdpp@rho=0.9", "oracle"]


@pytest.mark.parametrize(
    ("sweeps", "message"),
    [
        (["K"], "a sweep is a setting and its values, such as K=1,2,5, got 'K'"),
        (["K="], "K in 'K=' must be a number, got ''"),
        (["K=1,,2"], "must be a number, got ''"),
        (["rates=1,2"], "unknown setting 'rates' in 'rates=1,2': did you mean 'rate'"),
        (["rate=1,2"], "a sweep over rate changes none of the policies constant, oracle"),
        (["rho=0.5,1"], r"rho in 'rho=0\.5,1' must lie in \(0, 1\)"),
        (["K=1", "K=2"], "K is swept twice"),
        (["steps=1", "E=2"], "steps is swept twice"),
        (["K=1,0"], "K in 'K=1,0' must be a whole number of at least 1, got 0"),
        (["eta=1,-1"], "must be a number, got '-1'"),
        (["K=2,2"], "policies must differ"),
    ],
)
def test_what_is_no_sweep_is_refused_in_one_sentence(sweeps, message):
    with pytest.raises(SettingError, match=message) as caught:
        Study(policies=("constant", "oracle")).swept(*sweeps)
    assert "\n" not in str(caught.value)


def test_a_sweep_that_would_change_nothing_is_refused():
    for names in (["oracle"], ["constant@K=5"], ["constant@K=5", "oracle"]):
        with pytest.raises(SettingError, match="a sweep over K changes none of the policies"):
            swept(names, ["K=1,2", "eta=0.1"])


def test_commas_part_names_and_settings_of_one_name():
    assert listed("acdpp@K=7, eta=0.5,constant@K=1,oracle") == ["acdpp@K=7,eta=0.5", "constant@K=1", "oracle"]
    assert listed("constant, oracle") == ["constant", "oracle"]
    assert listed("K=7,oracle") == ["K=7", "oracle"]
