"""How policies are ranked and set between constant admission and the oracle."""

import numpy as np
import pytest

from empirics.control.schedule import Schedule
from empirics.results.best_policy import ranking
from empirics.results.oracle_gap import gap_closed
from empirics.results.summary import Tally, add_predictions
from empirics.training.constants import Calibration
from tests.empirics.small import CONTROL, study


@pytest.mark.parametrize("spread", [1.0, 1.6])
def test_a_pair_is_decided_at_a_level_shared_by_all_pairs(spread):
    """Of three seeds t is 4.30 at 5 % and 7.65 at a third of that; here it is 5/spread·√3 for two pairs.

    What all policies share of a seed tells none of them apart, and hides no difference.
    """
    shared = np.array([-300.0, 100.0, 200.0])
    apart = spread * np.array([-1.0, 0.0, 1.0])
    cumulative = shared + np.array([np.zeros(3), 5 + apart, 20 + apart])
    bounds = {"corrected": np.outer([1, 3, 2], np.ones(3)), "stated": np.outer([1, 2, 3], np.ones(3))}
    found = ranking(("oracle", "constant", "acdpp"), cumulative, bounds)
    assert found["measured"] == ["oracle", "constant", "acdpp"]
    assert found["undecided"] == ([] if spread == 1 else [["oracle", "constant"]])
    assert (found["pairs"], found["decided_pairs"]) == (3, 3 - len(found["undecided"]))
    assert found["corrected"] == ["oracle", "acdpp", "constant"]
    assert (found["corrected_agrees"], found["stated_agrees"]) == (False, True)
    assert found["corrected_disagrees_on"] == [["constant", "acdpp"]]


def test_nothing_is_ranked_without_a_difference_and_no_gap_without_its_ends():
    ones = np.ones((2, 3))
    alike = ranking(("oracle", "constant"), ones, {"corrected": ones, "stated": ones})
    assert (alike["decided_pairs"], alike["stated_agrees"]) == (0, None)
    values = np.array([[4.0, 4.2], [3.0, 3.2]])
    assert gap_closed(["constant", "mine"], values) is gap_closed(["oracle", "mine"], values) is None
    for forecasts, notes in (({}, []), ({"mine": None}, ["beware"])):
        summary = {"policies": {}}
        add_predictions(summary, forecasts, None, ["beware"])
        assert summary["prediction_notes"] == notes


def test_whose_risk_was_no_number_for_a_round_has_diverged():
    given = study(policies=("constant",), seeds=2, measures=("risk",))
    schedule = Schedule(given, CONTROL)
    tally = Tally(given, Calibration(CONTROL, (), None, None), schedule.retention)
    for risks in ([1.0, np.nan], [1.0, 1.0]):
        tally.add(schedule.advance(1), {"risk": np.array([risks])})
    assert tally.diverged.tolist() == [False, True]
