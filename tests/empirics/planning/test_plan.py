"""`plan_study`: who may be recommended, that the search finds what is least, and what nobody can beat."""

import math
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from empirics.control.prices import Trace
from empirics.planning import plan as design
from empirics.planning import search
from empirics.planning.plan import plan_study
from empirics.predict import predict_study
from empirics.prediction.curves import StudyForecaster
from empirics.prediction.forecast import Forecast
from empirics.prediction.loss_landscape import landscape_of
from empirics.settings.policy_name import PolicyName
from empirics.settings.presets import PRESETS, read_toml
from tests.empirics.small import CONTROL, blobs_file, problem, refused, study
from theory.market.knapsack import purchase_limit
from theory.market.prices import Uniform

L = 0.25 * (1 - 2**-52)  # as rounding leaves it of the digits
LEAST = {"eta": 0.7, "steps": 3, "decay": 60.0, "K": 2}
WORSE = {1: 1.0, 2: 1.5, 3: 1.6, 5: math.inf}  # by the number of local steps
BEHIND = {"burst": 1.0, "constant": 0.1, "buy-cheap": 1.2}  # of what is least, and constant is never trusted


def foretold(self, progress=None):
    """Forecasts by a formula: the least is known."""
    return {name: _foretold(self.study, PolicyName(name)) for name in self.study.policies}


def _foretold(given, name):
    own = given.of_policy(name)
    settings = {"eta": own.eta, "steps": own.steps, "decay": own.decay or 1e5, "K": name.own.get("K", 2)}
    away = sum(math.log(settings[key] / value) ** 2 for key, value in LEAST.items())
    away += 0 if own.average == "tail" else 1
    risk = BEHIND.get(name.base, 3.0) * (1 + away) * np.ones(given.rounds + 1)
    fitted = 0.9 if name.base == "constant" or own.steps == 1 else 0.1
    return Forecast(risk, risk, 0.0, 1.0, given.rounds, True, fitted)


SPENDING = search._spending


def forecaster_of(rounds):
    given = replace(PRESETS["digits"], rounds=rounds)
    land = SimpleNamespace(least_final_risk=lambda samples: 1 / samples)
    return StudyForecaster(given, land, replace(CONTROL, L=L), torch.zeros(1, 1))


@cache
def spending(rounds, name):
    """DecidedRounds once for all tests."""
    return SPENDING(forecaster_of(rounds), [name])[name]


@pytest.fixture
def forecaster(monkeypatch):
    monkeypatch.setattr(StudyForecaster, "forecasts", foretold)
    monkeypatch.setattr(
        search,
        "_spending",
        lambda one, names: {name: spending(one.study.rounds, PolicyName(name).base) for name in names},
    )
    return forecaster_of(300)


@pytest.fixture(autouse=True)
def few_paths(monkeypatch):
    monkeypatch.setattr(search, "PATHS", 10)


@pytest.mark.parametrize("objective", ["cumulative", "final"])
def test_policy_and_learner_are_searched_together_until_the_least_is_found(forecaster, objective):
    told = []
    found = search.search_policies(forecaster, objective=objective, progress=told.append)
    best = found.names[0]
    assert (best.base, best.own["steps"], best.own["average"], best.own["K"]) == ("burst", 3, "tail", 2)
    assert all(abs(math.log(best.own[key] / LEAST[key], 2)) < 0.5 for key in ("eta", "decay"))
    assert (told[-1], told) == (len(found.tried), sorted(told))
    assert len(found.tried) < 250  # some thousands would be all of them


def test_who_searches_follows_one_path_of_prices(forecaster, monkeypatch):
    seeds = []
    monkeypatch.setattr(
        StudyForecaster, "forecasts", lambda self: seeds.append(self.study.seeds) or foretold(self)
    )
    search._Search(forecaster, max, None, (1,), lambda tried: None, {}).look([PolicyName("burst")])
    assert seeds == [1] < [forecaster.study.seeds]


def test_what_the_law_does_not_trust_is_not_recommended(forecaster):
    best = search.search_policies(forecaster)
    assert min(best.tried.values(), key=lambda one: one.cumulative).fitted > 0.8
    assert "constant" not in [name.base for name in best.names]
    assert all(name.own["eta"] * L < 2 for name in best.tried)
    for eta in (8.0, 8.1):  # 2/L, and beyond
        assert "can be trusted: take a smaller eta" in refused(search.search_policies, forecaster, eta=eta)
    assert {name.own["eta"] for name in search.search_policies(forecaster, eta=2).tried} == {2}
    assert {name.own["steps"] for name in search.search_policies(forecaster, steps=[3, 5]).tried} == {3, 5}
    assert "can be trusted" in refused(search.search_policies, forecaster, steps=[1])


def test_who_is_far_behind_with_the_first_learner_is_given_no_other_and_who_is_not_trusted_smaller_steps(
    forecaster,
):
    tried = [name.base for name in search.search_policies(forecaster).tried]
    assert tried.count("hybrid") == 2  # three times the least
    assert tried.count("constant") == 4
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(BEHIND, "hybrid", 30.0)
        assert [name.base for name in search.search_policies(forecaster).tried].count("hybrid") == 1
        patch.setitem(BEHIND, "hybrid", 3.0)
        patch.setitem(BEHIND, "burst", 0.01)  # ahead of all, and nobody can pay for it
        patch.setattr(
            search,
            "_spending",
            lambda one, names: {name: search._Spent(7.0, "no" if "burst@" in name else "") for name in names},
        )
        assert [name.base for name in search.search_policies(forecaster).tried].count("hybrid") == 2


def test_nobody_is_recommended_who_spends_or_holds_more_than_he_may(forecaster):
    found = search.search_policies(forecaster)
    words = {name: why.split()[0] for name, why in found.left_out.items()}
    assert words == {"acdpp": "holds", "oracle": "spends", "released": "holds"}
    blind = search.search_policies(forecaster, law_known=False).left_out
    assert blind["burst"] == blind["buy-cheap"] == blind["taper"] == "needs to know the law of prices"
    assert spending(20, "burst-online").refused  # all buffers in round 1 are half of the money


def test_what_is_spent_is_that_of_the_very_K_and_of_the_rounds_that_were_played(monkeypatch):
    monkeypatch.setattr(search, "PATHS", 60)
    small = replace(PRESETS["digits"], buffers=(4, 10), budget=14.67, rounds=20)
    found = SPENDING(replace(forecaster_of(20), study=small), ["hybrid", "hybrid@K=1"])
    assert [bool(one.refused) for one in found.values()] == [False, True]
    monkeypatch.setattr(search, "PLAYED", 50)
    oracle = SPENDING(forecaster_of(500), ["oracle"])["oracle"]
    assert 500 < oracle.over / 500 + 55 < 600
    assert f"spends {oracle.over / 500 + 55:.4g} a round" == oracle.refused
    dear = "constant@budget=62"  # a tenth over, which is little beside the budget of all rounds
    assert SPENDING(forecaster_of(2000), [dear])[dear].refused


def test_of_equals_the_one_with_the_least_final_risk_is_taken():
    forecast = SimpleNamespace(cumulative=1.0, risk=np.array([2.0, 0.5]))
    assert design._least("cumulative", forecast) == (1.0, 0.5)


def test_who_spends_too_much_with_the_K_found_or_any_is_not_recommended(forecaster, monkeypatch):
    asked = []

    def played(one, names):
        asked.extend(names)
        return {name: search._Spent(7.0, "spends too much" if dear in name else "") for name in names}

    monkeypatch.setattr(search, "_spending", played)
    monkeypatch.setitem(LEAST, "K", 4)
    dear = "K=4"
    found = search.search_policies(forecaster)
    assert any(name.base == "burst" and name.own["K"] == 4 for name in found.tried)
    own = found.names[0].own  # the next best, searched as closely
    assert (found.names[0].base, own["K"], own["steps"], own["average"]) == ("burst", 3, 3, "tail")
    assert found.over[found.names[0]] == 7
    assert len(asked) == len(set(asked))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "TURNS", 1)
        patch.setattr(search, "BUILT_IN", ("burst",))
        dear = "K=2"  # which helps alone, and is left out where all that helps is taken together
        own = search.search_policies(forecaster).names[0].own
        assert (own["K"], own["steps"], own["average"]) == (1, 3, "tail")
    dear = "K="
    assert not [name for name in search.search_policies(forecaster).names if "K" in name.own]
    dear = "@"
    monkeypatch.setattr(search, "NEED_THE_LAW", ())
    monkeypatch.setattr(search, "BUILT_IN", ("constant", "burst"))
    assert "no policy that learns well keeps buffers and budget: constant@K=" in refused(
        search.search_policies, forecaster
    )
    monkeypatch.setattr(
        search, "_spending", lambda one, names: dict.fromkeys(names, search._Spent(7.0, "no"))
    )
    assert "no policy keeps buffers and budget: constant no; " in refused(search.search_policies, forecaster)


def test_who_spends_too_much_with_all_that_helped_together_is_not_recommended(forecaster, monkeypatch):
    def refused_for(name):
        own = PolicyName(name).own
        return "spends too much" if own.get("K", 10) < 10 and own["steps"] < 10 else ""

    monkeypatch.setitem(BEHIND, "acdpp-capped", 0.1)
    monkeypatch.setattr(search, "BUILT_IN", ("acdpp-capped",))
    monkeypatch.setattr(
        search,
        "_spending",
        lambda one, names: {name: search._Spent(7.0, refused_for(name)) for name in names},
    )
    found = search.search_policies(forecaster)
    assert any(map(refused_for, found.tried))
    assert not refused_for(found.names[0])


def test_nobody_buys_more_than_a_trace_has_to_sell_in_its_first_rounds():
    cheap = replace(forecaster_of(4), prices=Trace([1.0, 1.0, 2.0, 2.0, 9.0, 9.0]))
    land = replace(cheap.study, buffers=(10,), budget=10.0)
    assert replace(cheap, study=land).lower_bound()["samples"] == pytest.approx(10 + 10 + 10)


@pytest.mark.parametrize("radius", [50.0, 1.0])
def test_the_lower_bound_is_the_trace_of_noise_over_curvature(radius):
    """By hand, inside the ball and on it, where nothing moves along the radius and the multiplier bends the sphere."""
    land = landscape_of(problem(study(radius=radius)))
    theta, population = land.best.theta[0], land.model.population
    x, p = population.x.numpy(), population.weights[0].numpy()
    _, slope = land.model.risk_and_gradient(land.best.theta)
    chance = 1 / (1 + np.exp(-x @ theta.numpy()))
    y = (population.y.numpy() == 1).astype(float)
    each = x * (chance - y)[:, None]
    assert p @ each == pytest.approx(slope[0].numpy(), abs=1e-9)
    H = (x * (p * chance * (1 - chance))[:, None]).T @ x
    noise = (each * p[:, None]).T @ each - np.outer(p @ each, p @ each)
    tangent = np.eye(len(theta))
    if land.on_the_ball:
        H = H + land.multiplier * np.eye(len(theta))
        tangent = np.linalg.svd(theta.numpy()[None])[2][1:]
    assert land.on_the_ball is (radius == 1)
    by_hand = np.trace(np.linalg.solve(tangent @ H @ tangent.T, tangent @ noise @ tangent.T)) / (2 * 30)
    assert land.least_final_risk(30.0) == pytest.approx(by_hand, rel=1e-6)


def test_a_design_runs_as_it_is_printed_and_stands_beside_the_papers(tmp_path, monkeypatch):
    monkeypatch.setattr(search, "TURNS", 1)
    monkeypatch.setattr(search, "IMPROVED", 2)
    given = replace(
        PRESETS["own"],
        dataset=blobs_file(),
        labels="parity",
        buffers=(4, 5, 7),
        budget=70.0,
        rounds=8,
        seeds=2,
    )
    found = plan_study(given, eta=0.5, steps=[2], objective="final")
    document = found.document()
    (tmp_path / "best.toml").write_text(document["toml"])
    again = read_toml(tmp_path / "best.toml")
    assert replace(again, seeds=2) == replace(found.study, seeds=2)
    (forecast,) = predict_study(again, best=False).forecasts.values()
    assert forecast.document() == pytest.approx(document["predicted"], rel=1e-9)
    nearest = [one["predicted"]["final_excess_risk"] for one in document["nearest"]]
    assert document["predicted"]["final_excess_risk"] == nearest[0] == min(nearest)
    paper = document["paper"]
    assert (paper["policy"], paper["average"], paper["decay"]) == ("constant", "none", None)
    gain = 1 - document["predicted"]["final_excess_risk"] / paper["predicted"]["final_excess_risk"]
    assert document["gain"]["final_excess_risk"] == gain
    bound = document["lower_bound"]
    limit, over = purchase_limit(Uniform(1, 10), 16, 70.0), max(document["cost"] - 70, 0) * 8
    assert bound["samples"] == pytest.approx(limit.rate * 8 + over / limit.threshold)
    ratio = document["predicted"]["final_excess_risk"] / bound["final_excess_risk"]
    assert document["over_lower_bound"] == ratio
    for one in (document, paper, *document["nearest"]):
        assert one["cost"] == pytest.approx(70 + found.found.over[one["name"]] / 8)


def test_bursts_keep_their_own_K_and_money_beyond_the_budget_buys_more():
    running = design._running(PRESETS["digits"], PolicyName("burst@K=3,eta=2,decay=9"))
    assert (running.policies, running.burst_K, running.K) == (("burst",), 3, None)
    assert (running.eta, running.decay) == (2, 9)
    limit = purchase_limit(Uniform(1.0, 10.0), 100, 55.0)
    for over, more in ((-90, 0), (90, 90 / limit.threshold)):
        assert forecaster_of(500).lower_bound(over)["samples"] == pytest.approx(limit.rate * 500 + more)


def test_a_design_trusts_what_many_paths_of_prices_say_too(monkeypatch):
    monkeypatch.setattr(design, "trusted", lambda *_: False)
    monkeypatch.setattr(search, "TURNS", 0)
    given = replace(PRESETS["own"], dataset=blobs_file(), buffers=(4, 5), budget=9.0, rounds=2)
    assert "can be trusted" in refused(plan_study, given, eta=0.5, steps=[1])


class Told(search._Search):
    """Forecasts by hand: what helps is known."""

    def __init__(self, value, steps=(1,)):
        of_a_study = SimpleNamespace(study=SimpleNamespace(rounds=100))
        super().__init__(of_a_study, lambda forecast: 0.0, None, steps, lambda count: None, {})
        self.value, self.seen = value, []

    def look(self, names):
        self.seen += names

    def affordable(self, names):
        return list(names)

    def _stable(self, eta):
        return True


def begin(*bases, **own):
    learner = {"eta": 1.0, "steps": 1, "decay": None, "average": "equal", "average_by": None}
    return {base: search._named(base, **learner, **own) for base in bases}


def test_a_search_comes_closer_in_smaller_steps_and_leaves_alone_who_is_far_behind():
    def value(name):
        behind = {"constant": 1, "hybrid": 1.2, "oracle": 1.3}[name.base]
        return behind * (1 + np.log(2 * name.own["eta"]) ** 2)

    found, best = Told(value), begin("constant", "hybrid", "oracle")
    found.improve(best)
    assert (best["constant"].own["eta"], best["hybrid"].own["eta"]) == (0.5, 0.5)
    assert best["oracle"] == begin("oracle")["oracle"]
    assert {0.354, 0.707} < {name.own["eta"] for name in found.seen}  # 0.5 over and times √2, of three digits


def test_what_made_a_policy_much_worse_is_not_tried_again_but_what_was_not_trusted_is():
    found, best = Told(lambda name: WORSE[name.own["steps"]], steps=tuple(WORSE)), begin("constant", "hybrid")
    for bases in (["constant"], ["constant", "hybrid"]):
        found._turn(best, bases, 4.0, coarse=True)
    tried = [(name.base, name.own["steps"]) for name in found.seen]
    assert {one: tried.count(("constant", one)) for one in (2, 3, 5)} == {2: 2, 3: 1, 5: 2}
    assert tried.count(("hybrid", 3)) == 1


def test_what_helped_is_tried_together_all_of_it_and_the_two_that_helped_most():
    helps = {"eta": {0.25: 3}, "K": {16: 2}, "steps": {2: 1}}

    def value(name):
        return 10 - sum(of.get(name.own[key], 0) for key, of in helps.items())

    found, best = Told(value, steps=(1, 2)), begin("constant", K=8)
    found._turn(best, ["constant"], 4.0, coarse=True)
    both = [PolicyName(f"constant@K=16,eta=0.25,steps={steps},average=equal") for steps in (2, 1)]
    assert (found.seen[-2:], best["constant"]) == (both, both[0])
    assert {name.own["K"] for name in found.seen} == {4, 7, 8, 9, 16}


def test_of_settings_that_are_merged_the_last_goes_first_and_a_mean_comes_with_its_parameter():
    own = PolicyName("constant@K=8,eta=1,steps=1,average=equal")
    bent, plain = (
        own.having(**{**own.own, **mean})
        for mean in ({"average": "polynomial", "average_by": 8, "eta": 2}, {"average": "none", "eta": 4})
    )
    assert search._merged(own, [bent, plain]) == "constant@K=8,eta=4,steps=1,average=none"
    assert search._merged(own, [plain, bent]) == str(bent)
    assert search._merged(bent, [own]) == "constant@K=8,eta=1,steps=1,average=equal"


def test_a_forecast_is_trusted_that_is_finite_and_K_begins_where_the_buffers_are_full():
    name, risk = PolicyName("constant@eta=1"), np.ones(3)
    finite = Forecast(risk, risk, 0.0, 1.0, 2, True, fitted=0.1)
    assert [search.trusted(forecaster_of(2), name, replace(finite, noise_floor=x)) for x in (1, np.nan)] == [
        1,
        0,
    ]
    for given, K in (({"budget": 1e5}, 1), ({}, 10), ({"rounds": 7}, 7), ({"budget": 50}, 11)):  # 100/(C/5.5)
        forecaster = replace(forecaster_of(2), study=replace(PRESETS["digits"], **given))
        assert search._Search(forecaster, max, None, (1,), print, {})._first_K("constant") == K


def test_who_searches_is_heard_of_in_every_round_and_whoever_asks_is_told(monkeypatch):
    monkeypatch.setattr(
        StudyForecaster, "forecasts", lambda self, progress: [progress(done) for done in (1, 2)]
    )
    heard, told = [], []
    forecaster = design._Heard(None, None, CONTROL, None, hear=lambda: heard.append(len(told)))
    forecaster.forecasts(told.append)
    assert (heard, told) == ([0, 1], [1, 2])


def test_what_a_round_costs_and_what_was_tried():
    name, risk = PolicyName("constant@K=3"), np.array([4.0, 2.0, 1.0])
    one = Forecast(risk, risk, np.inf, 1.0, 2, True, fitted=np.nan)
    told = SimpleNamespace(study=PRESETS["digits"], forecasts={name: one}, errors={})
    found = search.SearchResult((name,), {name: one}, {}, {name: 1000.0})
    made = design.Plan(told.study, name, "final", told, found, {"final_excess_risk": 0.5})
    assert made._row(name)["cost"] == told.study.budget + 1000 / told.study.rounds
    assert made._tried(name) == {"name": name, "cumulative": 6.0, "final": 1.0, "fitted": None}
