"""What is predicted of a policy: means over samples, and what is left out."""

from dataclasses import replace

import numpy as np

from empirics.prediction.forecast import MOST_FITTED, Forecast, caveats, mean_of
from tests.empirics.small import CONTROL, study


def test_caveats_name_what_is_left_out():
    assert caveats(study(), CONTROL, {}) == []
    assert "replacement" in caveats(study(replacement=False), CONTROL, {})[0]
    assert "partition" in caveats(study(per_seed=("partition",), partition="split"), CONTROL, {})[0]
    late = Forecast(np.ones(3), np.ones(3), 0.5, 1.0, 9, False, fitted=MOST_FITTED)
    found = {"constant": replace(late, fitted=0.9), "constant@steps=3": late}
    assert (
        "clients fit 90% of a fresh residual within a round (constant)"
        in caveats(study(rounds=9), CONTROL, found)[0]
    )
    steep = replace(CONTROL, L=1.0)
    assert "beyond 2/L" in caveats(study(eta=0.5), steep, {"constant@eta=2.0": late})[0]
    assert not any("beyond" in note for note in caveats(study(eta=0.5), steep, {"constant": late}))
    found = {"late": late, "done": replace(late, settled=True)}
    assert [note[:16] for note in caveats(study(rounds=10), CONTROL, found)] == ["late had not set"]
    assert caveats(study(rounds=9), CONTROL, found) == []


def test_of_what_several_samples_foretell_the_fewest_rounds_were_followed():
    one = Forecast(np.ones(3), np.ones(3), 0.5, 1.0, 9, False, fitted=0.5)
    found = mean_of([one, replace(one, played=8)], 60)
    assert (found.played, found.sampled) == (8, (60, 60))
