"""Policies with settings of their own: one spelling each, and what is swept becomes a policy."""

import copy
import pickle

import pytest

from empirics.control.registry import BUILT_IN, LISTENING
from empirics.settings.policy_name import SETTINGS_OF, PolicyName, swept
from empirics.settings.study import Study
from tests.empirics.small import refused
from theory.setting import Constants

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


NO_NUMBERS = ("-1", "", "nan", ".", "5@K=6", "٣", "9" * 5000)


def test_what_is_no_name_is_refused():
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
        **{f"constant@K={given}": "must be a number" for given in NO_NUMBERS},
        "constant@steps=5,E=5": "names steps twice",
        "constant@average=mean": "must be one of none, equal, polynomial, tail, exponential, got 'mean'",
    }.items():
        sentence = refused(Study, policies=(name,))
        assert message in sentence
        assert len(sentence) < 250
    sentence = refused(Study, policies=("acdpp@K=5,eta=1", "acdpp@eta=1.0,K=05"))
    assert "policies must differ from each other, got acdpp@K=5,eta=1, acdpp" in sentence


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


def test_a_sweep_passes_by_what_has_no_such_setting():
    names = ["acdpp", "acdpp-capped", "acdpp+cap", "acdpp+region", "acdpp+constants", "released", "constant"]
    names += ["hybrid", "oracle", "buy-cheap", "buy-cheap-online", "mine"]

    def kept(sweep):
        return [name for name, found in zip(names, swept(names, [sweep]), strict=True) if "@" not in found]

    rest, buying = ["constant", "hybrid", "oracle"], ["buy-cheap", "buy-cheap-online"]
    assert list(SETTINGS_OF) == [*BUILT_IN, *LISTENING]
    assert kept("rho=0.5") == kept("rate=3") == ["acdpp+region", "released", *rest, *buying, "mine"]
    assert kept("V=3") == ["acdpp+constants", "released", *rest, "mine"]
    assert kept("budget=30") == ["oracle"]
    assert kept("K=3") == ["oracle", *buying]
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
