"""The forecast of a policy: means over subsamples, and caveats."""

from dataclasses import replace

import numpy as np
import pytest

from empirics.prediction.forecast import Forecast, caveats, mean_of
from tests.empirics.small import study

LATE = Forecast(np.ones(3), np.ones(3), 0.5, 1.0, 9, False, fitted=0.9)


def told(steepness=0.2, **settings):
    """The policies that each note names, of three variants: an own step of 8, a single step of 30, and a mean."""
    names = ("constant@eta=8", "constant@eta=30,steps=1", "constant@average=equal")
    notes = caveats(study(eta=0.5, steps=2, rounds=9, **settings), steepness, dict.fromkeys(names, LATE))
    return [[name for name in names if name in note] for note in notes]


def test_steps_beyond_two_over_the_largest_curvature_are_told_where_there_are_several():
    steep, mean = "constant@eta=8", "constant@average=equal"
    assert told() == told(0.25) == []  # 8 is 2/0.25
    assert told(0.26) == told(0.1, momentum=0.7) == [[steep]]
    assert told(4.1) == told(100.0) == [[steep, mean]]  # never the single step


def test_means_without_replacement_are_told_and_clients_that_fit_or_partitions_of_their_own_are_not():
    """Recorded predictions of the latter were within a tenth as often as others."""
    assert told(replacement=False) == [["constant@average=equal"]]
    assert told(per_seed=("partition",), partition="split") == []


def test_curves_that_had_not_settled_are_told_where_the_study_goes_on():
    found = {"late": LATE, "done": replace(LATE, settled=True)}
    assert [note.split()[0] for note in caveats(study(rounds=10), 0.2, found)] == ["late"]
    assert caveats(study(rounds=9), 0.2, found) == []


@pytest.mark.parametrize("risk", [[1, -4, 0.5], [1, 1, -0.1], [-1, -1, -1], [0, 0, -2e-9]])
def test_an_excess_risk_below_0_is_told_and_one_that_is_0_up_to_rounding_is_not(risk):
    """The cumulative risk is of all but the last."""
    settled = replace(LATE, settled=True)
    found = {"fine": settled, "low": replace(settled, risk=np.array(risk, dtype=float))}
    (note,) = caveats(study(rounds=10), 0.2, found)
    assert "of low is below 0" in note
    zero = replace(settled, risk=np.array([1, 1, -2, -1.5e-9]))
    none = replace(settled, risk=np.zeros(4))
    assert caveats(study(rounds=10), 0.2, {"zero": zero, "none": none}) == []


@pytest.mark.parametrize(("path", "share"), [(1, 1), (0.25, 0.25), (-1e-9, 0)])
def test_the_mean_paths_share_of_the_risk_is_none_where_the_path_is_below_0(path, share):
    assert replace(LATE, path=path * np.ones(3)).path_share == share


def test_a_mean_over_subsamples_has_their_fewest_rounds_and_their_error():
    """Price paths add their own error to that of the subsamples, which is 2/3 per round, and 0 for the floor."""
    first, other = replace(LATE, settled=True), replace(LATE, followed=8, risk=3 * np.ones(3), fitted=0.5)
    found = mean_of([first, other, LATE], 60)
    assert (found.followed, found.fitted, found.settled, found.sampled) == (8, 0.9, False, (60,) * 3)
    np.testing.assert_allclose(found.risk, 5 / 3)
    paths = replace(LATE, risk_error=np.array([0, 0.5, 1]), errors=dict.fromkeys(LATE.document(), 0.5))
    for first, error in ((LATE, 0.0), (paths, 0.5)):
        found = mean_of([first, other, LATE], 60)
        assert list(found.errors.values()) == pytest.approx(np.hypot([4 / 3, 2 / 3, 0], error))
        np.testing.assert_allclose(found.risk_error, np.hypot(2 / 3, 2 * error * np.array([0, 0.5, 1])))
