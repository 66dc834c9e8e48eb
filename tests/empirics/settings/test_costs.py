"""The settings of the cost say what they mean, and refuse in one sentence what makes no sense."""

import json
import math
from dataclasses import asdict
from fractions import Fraction

import pytest

from empirics.settings.costs import CostProcess, Process
from tests.empirics.small import refused


@pytest.mark.parametrize("process", [process for process in Process if process != Process.trace])
def test_the_mean_is_exact_for_the_decimals_that_were_typed(process):
    assert CostProcess(process=process, low=1, high=8).mean == Fraction(9, 2)
    if process != Process.integer:
        assert CostProcess(process=process, low=0.1, high=0.3).mean == Fraction(1, 5)


def test_settings_survive_json_and_the_mean_of_a_trace_is_none_of_them():
    trace = CostProcess(process="trace", file="prices.csv", column="price")
    for cost in (CostProcess(), trace):
        assert CostProcess(**json.loads(json.dumps(asdict(cost)))) == cost
    assert "prices.csv" in refused(lambda: trace.mean)


@pytest.mark.parametrize("name", ["low", "high", "stay", "drift"])
def test_what_is_no_number_in_range_is_refused_by_name(name):
    for value in ("a", None, True, math.nan, math.inf, -1, 10**400, 1e300, [1]):
        sentence = refused(CostProcess, **{name: value})
        assert name in sentence
        assert len(sentence) < 200


def test_a_cost_process_that_makes_no_sense_is_refused():
    for given, part in (
        ({"process": "gaussian"}, "one of uniform"),
        ({"process": ["uniform"]}, "one of uniform"),
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
        assert part in refused(CostProcess, **given)
