"""The forecast of a policy: means over subsamples, and caveats."""

from dataclasses import replace

import numpy as np
import pytest

from empirics.prediction.forecast import FITTED_SHARE_MAX, Forecast, caveats, mean_of
from tests.empirics.small import CONTROL, study

LATE = Forecast(np.ones(3), np.ones(3), 0.5, 1.0, 9, False, fitted=FITTED_SHARE_MAX)


def test_caveats_name_the_assumptions_that_are_broken():
    assert caveats(study(), CONTROL, {}) == []
    assert "replacement" in caveats(study(replacement=False), CONTROL, {})[0]
    assert "partition" in caveats(study(per_seed=("partition",), partition="split"), CONTROL, {})[0]
    found = {"constant": replace(LATE, fitted=0.9), "constant@steps=3": LATE}
    (fits,) = caveats(study(rounds=9), CONTROL, found)
    assert "90%" in fits
    assert "(constant)" in fits
    steep = replace(CONTROL, L=1.0)
    assert "2/L" in caveats(study(eta=0.5), steep, {"constant@eta=2.0": LATE})[0]
    assert not any("2/L" in note for note in caveats(study(eta=0.5), steep, {"constant": LATE}))
    found = {"late": LATE, "done": replace(LATE, settled=True)}
    assert [note.split()[0] for note in caveats(study(rounds=10), CONTROL, found)] == ["late"]
    assert caveats(study(rounds=9), CONTROL, found) == []


def test_a_mean_over_subsamples_has_their_fewest_rounds_and_their_error():
    """Price paths add their own error to that of the subsamples, which is 2/3 per round, and 0 for the floor."""
    first, other = (
        replace(LATE, settled=True),
        replace(LATE, followed=8, risk=3 * np.ones(3), fitted=0.9),
    )
    found = mean_of([first, other, LATE], 60)
    assert (found.followed, found.fitted, found.settled, found.sampled) == (8, 0.9, False, (60,) * 3)
    np.testing.assert_allclose(found.risk, 5 / 3)
    paths = replace(LATE, risk_error=np.array([0, 0.5, 1]), errors=dict.fromkeys(LATE.document(), 0.5))
    for first, error in ((LATE, 0.0), (paths, 0.5)):
        found = mean_of([first, other, LATE], 60)
        assert list(found.errors.values()) == pytest.approx(np.hypot([4 / 3, 2 / 3, 0], error))
        np.testing.assert_allclose(found.risk_error, np.hypot(2 / 3, 2 * error * np.array([0, 0.5, 1])))
