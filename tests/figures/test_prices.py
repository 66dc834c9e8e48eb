"""`plot prices` shows purchases at the prices that were paid, and what follows from them alone."""

from dataclasses import replace

import numpy as np
import pytest

from acdpp import plot
from empirics.control.prices import make_prices
from empirics.settings.costs import CostProcess
from empirics.settings.study import Study
from figures import prices
from figures.options import NotMeasured
from tests.figures.small import PAPER, UNIT, cut
from tests.refused import refused
from theory.law.quadratic import by_capacity
from theory.reuse.trajectories import trajectory

STUDY = Study(rounds=60, buffers=(8, 12), budget=11.0, seed=3)


def test_everything_follows_from_prices_and_purchases():
    data = prices.compute(STUDY, UNIT, replicate=2)
    (drawn,) = make_prices(STUDY.cost).chunks(STUDY.seed, 3, 60, 60)
    assert (data.cost == drawn[:, 2]).all()
    assert list(data.policies) == list(prices.DRAWN)
    assert data.buying == ["buy-cheap-online", "buy-cheap"]
    t = np.arange(1, 61)
    for name, run in data.policies.items():
        paid = np.cumsum(data.cost * run.bought)
        assert run.overspent == pytest.approx(paid - 11 * t, rel=1e-12)
        if name in data.buying:
            assert (run.n == 20).all()
            assert run.n == pytest.approx(by_capacity(run.bought, 20).occupancy(60))
    constant = data.policies["constant"]
    path = trajectory(constant.bought.astype(int), 10)
    assert constant.n == pytest.approx(path.n)
    assert constant.effective == pytest.approx([float(x) for x in path.effective])
    other = prices.compute(STUDY, UNIT, replicate=0)
    assert (other.cost != data.cost).any()


def test_dots_have_the_number_bought_as_area():
    data = prices.compute(STUDY, UNIT)
    some = np.where(data.cost < 5, np.arange(60.0) % 20 + 1, 0)
    for name in data.buying:
        data.policies[name] = replace(data.policies[name], bought=some)
    market = prices.draw(data, PAPER).axes[0]
    first, second = prices.draw(data, PAPER).legends[0].legend_handles[:2]
    assert (first.get_markerfacecolor(), second.get_markerfacecolor()) == (first.get_color(), "none")
    for dots in market.collections[: len(data.buying)]:
        assert dots.get_sizes() / dots.get_sizes().max() == pytest.approx(some[some > 0] / some.max())


def test_a_result_is_drawn_from_its_columns(measured):
    names = ["oracle", "constant@K=5", "buy-cheap-online", "constant", "acdpp"]
    bought = cut(measured, rounds=20, seeds=2, names=names)
    data = prices.compute_measured(bought, replicate=1)
    assert list(data.policies) == ["buy-cheap-online", "acdpp", "constant@K=5"]  # of each the first variant
    assert data.buying == ["buy-cheap-online"]
    for name, run in data.policies.items():
        place = bought.policies.index(name)
        assert (run.bought == bought["admitted"][place, 1]).all()
        assert (run.n == bought["n"][place, 1]).all()
        assert (run.effective == bought["N_eff"][place, 1]).all()
    assert (data.cost == bought["cost"][0, 1]).all()
    assert (data.budget, data.total_buffer, len(data.rounds)) == (11, 20, 20)
    assert "Replicate 1, counted from 0, of 2." in data.note
    short = prices.compute_measured(bought, rounds=7)
    assert len(short.cost) == 7
    assert "Drawn: the first 7 of 20 rounds." in short.note
    assert "Drawn" not in prices.compute_measured(bought, rounds=2000).note


def test_a_result_that_cannot_be_drawn_says_why(result, measured):
    without = cut(measured, names=["acdpp", "constant", "oracle"])
    reason = "buys when it is cheap: train with acdpp train --policies buy-cheap"
    with pytest.raises(NotMeasured, match=reason):
        prices.compute_measured(without)
    sentence = refused(prices.compute_measured, measured, replicate=3)
    assert "replicates 0 to 2: --replicate 3 does not exist" in sentence
    assert plot.measured_prices(result, replicate=1, rounds=5).name == "measured-prices"


def test_options_make_the_study():
    given = {"budget": "20", "buffers": "3,4", "rounds": 20, "seed": 5, "replicate": 1}
    for cost, process in (
        ("markov:2:5", CostProcess(process="markov", low=2, high=5)),
        ("drifting:1:10", CostProcess(process="drifting")),
        ("integer:3:9", CostProcess(process="integer", low=3, high=9)),
        (None, CostProcess()),
    ):
        data = plot.prices(**given, cost=cost).compute(lambda steps: steps)
        assert (data.budget, data.total_buffer, len(data.rounds)) == (20, 7, 20)
        (drawn,) = make_prices(process).chunks(5, 2, 20, 20)
        assert data.cost.tolist() == drawn[:, 1].tolist()


def test_prices_of_a_file_are_drawn(tmp_path):
    file = tmp_path / "prices.csv"
    file.write_text("price\n" + "3\n9\n" * 10)
    data = plot.prices(cost=f"csv:{file}", rounds=20).compute(lambda steps: steps)
    assert data.cost.tolist() == [3, 9] * 10
    assert (data.policies["buy-cheap-online"].bought[1::2] == 0).all()
