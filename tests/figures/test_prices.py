"""`plot prices` shows purchases at the prices that were paid, and what follows from them alone."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PathCollection

from acdpp import plot
from empirics.control.prices import make_prices
from empirics.settings.costs import CostProcess
from empirics.settings.study import Study
from figures import prices
from figures.measured import Measured
from figures.options import NotMeasured
from figures.style import readable
from tests.figures.small import PAPER, UNIT, cut
from tests.refused import refused
from theory.law.quadratic import by_capacity
from theory.reuse.trajectories import trajectory

STUDY = Study(rounds=60, buffers=(8, 12), budget=11.0, seed=3)


@pytest.fixture(scope="module")
def bought(measured: Measured) -> Measured:
    """A result with variants, out of order."""
    names = ["oracle", "constant@K=5", "buy-cheap-online", "constant", "acdpp"]
    return cut(measured, rounds=20, seeds=2, names=names)


def test_everything_follows_from_prices_and_purchases() -> None:
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


def test_dots_stand_at_the_price_of_the_round_and_have_the_number_bought_as_area() -> None:
    data = prices.compute(STUDY, UNIT)
    some = np.where(data.cost < 5, np.arange(60) % 20 + 1, 0)  # any number of samples at a time
    for name in data.buying:
        data.policies[name] = replace(data.policies[name], bought=some.astype(float))
    figure = prices.draw(data, PAPER)
    (legend,) = figure.legends
    shown = [text.get_text() for text in legend.get_texts()]
    assert shown[: len(data.policies)] == [readable(name) for name in data.policies]
    assert legend.get_title().get_text().replace("\n", " ") == data.note
    market, memory, money, effective = figure.axes
    dots = [c for c in market.collections if isinstance(c, PathCollection)]
    for one, name in zip(dots, data.buying, strict=True):
        run = data.policies[name]
        rounds, paid = np.asarray(one.get_offsets()).T
        assert rounds.astype(int).tolist() == (np.flatnonzero(run.bought) + 1).tolist()
        assert paid == pytest.approx(data.cost[run.bought > 0])
        number = run.bought[run.bought > 0]
        assert one.get_sizes() / one.get_sizes().max() == pytest.approx(number / number.max())
    filled, ring = dots
    assert len(filled.get_facecolor()) == 1
    assert len(ring.get_facecolor()) == 0
    for axes, values in ((memory, "n"), (money, "overspent"), (effective, "effective")):
        lines = [np.asarray(line.get_ydata()) for line in axes.lines if len(line.get_xdata()) == 60]
        for line, run in zip(lines, reversed(data.policies.values()), strict=True):
            assert line == pytest.approx(getattr(run, values))
    edges = [float(np.asarray(axes.lines[0].get_ydata())[0]) for axes in (memory, money)]
    assert edges == [20, 0]


def test_a_result_is_drawn_from_its_columns(bought: Measured) -> None:
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


def test_a_result_that_cannot_be_drawn_says_why(result: Path, measured: Measured) -> None:
    without = cut(measured, names=["acdpp", "constant", "oracle"])
    reason = "buys when it is cheap: train with acdpp train --policies buy-cheap"
    with pytest.raises(NotMeasured, match=reason):
        prices.compute_measured(without)
    sentence = refused(prices.compute_measured, measured, replicate=3)
    assert "replicates 0 to 2: --replicate 3 does not exist" in sentence
    assert plot.prices(result, replicate=1, rounds=5).name == "measured-prices"


@pytest.mark.parametrize(
    ("given", "cost"),
    [
        ({"cost": "markov:2:5"}, CostProcess(process="markov", low=2, high=5)),
        ({"cost": "drifting:1:10"}, CostProcess(process="drifting")),
        ({"cost": "integer:3:3"}, CostProcess(process="integer", low=3, high=3)),
        ({}, CostProcess()),
    ],
)
def test_options_make_the_study(given: Any, cost: CostProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(prices, "compute", lambda *settings: seen.append(settings))
    plot.prices(**given, budget="20", buffers="3,4", rounds=7, seed=5, replicate=1).compute(
        lambda steps: steps
    )
    ((study, constants, replicate),) = seen
    assert (study.cost, study.budget, study.buffers) == (cost, 20, (3, 4))
    assert (study.rounds, study.seed, replicate, constants.Pdim) == (7, 5, 1, 5)


def test_a_file_of_prices_is_played(tmp_path: Path) -> None:
    file = tmp_path / "prices.csv"
    file.write_text("price\n" + "3\n9\n" * 10)
    data = plot.prices(cost_trace=file, rounds=20).compute(lambda steps: steps)
    assert data.cost.tolist() == [3, 9] * 10
    assert (data.policies["buy-cheap-online"].bought[1::2] == 0).all()
