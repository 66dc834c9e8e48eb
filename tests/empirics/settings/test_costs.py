"""Cost processes have the mean they say, whatever the chunks, and the law of their name."""

import numpy as np
import pytest

from empirics.settings.costs import CostProcess, Process
from theory.setting import SettingError


def costs(process, rounds=2000, replicates=5, size=None, **given):
    chunks = CostProcess(process=process, **given).chunks(4, replicates, rounds, size or rounds)
    return np.concatenate(list(chunks))


@pytest.mark.parametrize("process", list(Process))
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_costs_do_not_depend_on_the_chunks_they_come_in(process, size):
    assert np.array_equal(costs(process, rounds=200), costs(process, rounds=200, size=size))


@pytest.mark.parametrize("process", list(Process))
def test_the_average_cost_is_the_stated_mean(process):
    c = costs(process, replicates=40)
    deviation = c.mean(axis=0).std(ddof=1) / np.sqrt(c.shape[1])
    assert abs(c.mean() - float(CostProcess(process=process).mean)) < 4 * deviation
    assert c.min() > 0


def test_integer_costs_take_every_value_equally_often():
    values, counts = np.unique(costs("integer", rounds=4000), return_counts=True)
    assert values.tolist() == list(range(1, 11))
    assert counts.min() > 0.9 * counts.max()


def test_a_markov_cost_stays_with_the_stated_probability():
    c = costs("markov", stay=0.7, rounds=4000)
    assert np.mean(c[1:] == c[:-1]) == pytest.approx(0.7, abs=0.02)


def test_a_drifting_cost_rises_from_one_end_to_the_other():
    c = costs("drifting", drift=0.5, replicates=50)
    assert c[:200].mean() < 0.6 * 5.5
    assert c[-200:].mean() > 1.4 * 5.5


@pytest.mark.parametrize(
    "given",
    [
        {"process": "gaussian"},
        {"low": 0},
        {"low": 3, "high": 2},
        {"process": "integer", "low": 1.5},
        {"stay": 1},
    ],
)
def test_a_cost_process_that_makes_no_sense_is_refused(given):
    with pytest.raises(SettingError):
        CostProcess(**given)
