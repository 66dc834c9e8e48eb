"""The settings of the cost say what they mean, and refuse in one sentence what makes no sense."""

import json
import math
from dataclasses import asdict, fields
from fractions import Fraction

import pytest

from empirics.settings.costs import CostProcess, Process
from theory.setting import SettingError

DRAWN = [process for process in Process if process != Process.trace]


@pytest.mark.parametrize("process", DRAWN)
def test_the_mean_is_exact_for_the_decimals_that_were_typed(process):
    assert CostProcess(process=process, low=1, high=8).mean == Fraction(9, 2)
    if process != Process.integer:
        assert CostProcess(process=process, low=0.1, high=0.3).mean == Fraction(1, 5)


def test_settings_survive_json():
    trace = CostProcess(process="trace", file="prices.csv", column="price")
    for cost in (CostProcess(), trace):
        assert CostProcess(**json.loads(json.dumps(asdict(cost)))) == cost


def test_every_setting_is_documented():
    for field in fields(CostProcess):
        assert field.metadata["help"].endswith(".")


def test_the_mean_of_a_trace_is_not_a_setting():
    with pytest.raises(SettingError, match=r"prices\.csv"):
        _ = CostProcess(process="trace", file="prices.csv").mean


@pytest.mark.parametrize("name", ["low", "high", "stay", "drift"])
@pytest.mark.parametrize("value", ["a", "", None, True, math.nan, math.inf, -1, 10**400, 1e300, [1], {}, 1j])
def test_what_is_no_number_in_range_is_refused_by_name(name, value):
    with pytest.raises(SettingError, match=name) as caught:
        CostProcess(**{name: value})
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"process": "gaussian"}, "one of uniform"),
        ({"process": None}, "one of uniform"),
        ({"process": ["uniform"]}, "one of uniform"),
        ({"low": 0}, "low"),
        ({"low": 3, "high": 2}, "not be below"),
        ({"process": "integer", "low": 1.5}, "whole ends"),
        ({"stay": 1}, "stay"),
        ({"drift": 1}, "drift"),
        ({"process": "trace"}, "needs the file"),
        ({"process": "trace", "file": ""}, "file"),
        ({"process": "trace", "file": 5}, "file"),
        ({"process": "trace", "file": "a.csv", "column": 1}, "column"),
        ({"file": "a.csv"}, "belong to"),
        ({"process": "markov", "column": "price"}, "belong to"),
    ],
)
def test_a_cost_process_that_makes_no_sense_is_refused(given, part):
    with pytest.raises(SettingError, match=part):
        CostProcess(**given)
