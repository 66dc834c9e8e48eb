"""Forecasts of the information learner: the lower bound for the samples that a policy has bought.

The server remembers every sample, so its excess risk is what any learner must leave of as many: about a constant over
N. Before that says anything, it is that of the first model.
"""

import numpy as np
from torch import Tensor

from empirics.control.schedule import Schedule
from empirics.prediction.forecast import Forecast, errors_of, standard_error
from empirics.prediction.loss_landscape import LossLandscape

__all__ = ["informed_forecasts"]

ROUNDS_AT_ONCE = 1000


def informed_forecasts(schedule: Schedule, landscape: LossLandscape, models: Tensor) -> dict[str, Forecast]:
    """The forecast of every policy of a schedule that has not begun, by name, from the first models."""
    study = schedule.study
    begun = range(0, study.rounds, ROUNDS_AT_ONCE)
    chunks = [schedule.advance(min(ROUNDS_AT_ONCE, study.rounds - done)).track.N for done in begun]
    bought = np.concatenate([np.zeros((1, study.runs)), *chunks]).astype(float)
    whole = (landscape.whole or landscape).model
    first = whole.measure(landscape.along_axes(models), None)["risk"].cpu().numpy()
    start = np.resize(first, study.runs)
    each, place = np.unique(bought, return_inverse=True)
    least = np.array([landscape.least_final_risk(one) if one else np.inf for one in each.tolist()])
    risk = np.minimum(least[place.reshape(bought.shape)], start - landscape.best.risk)
    found = {}
    for p, name in enumerate(study.policies):
        own = slice(p * study.seeds, (p + 1) * study.seeds)
        mine = risk[:, own]
        if (mine == mine[:, :1]).all():  # prices change nothing
            mine = mine[:, :1]
        found[name] = Forecast(
            risk=mine.mean(1),
            path=np.zeros(len(mine)),
            noise_floor=0.0,
            rate=float(bought[-1, own].mean()) / study.rounds,
            followed=study.rounds,
            settled=True,
            fitted=0.0,
            errors=errors_of(np.stack([mine[:-1].sum(0), mine[-1], 0 * mine[-1]])),
            risk_error=standard_error(mine),
        )
    return found
