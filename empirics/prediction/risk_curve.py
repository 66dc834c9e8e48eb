"""The risk after every round: which rounds are observed, which risks are computed, and when a curve has settled."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from empirics.prediction.accuracy import Accuracy, in_doubling
from empirics.prediction.memory import Counts, Floats
from empirics.prediction.moments import MomentRecursion
from empirics.prediction.stationary import LastRound, StationaryPhase

__all__ = ["RiskCurve"]

ROUNDS_MIN = 256  # rounds that are always followed
COARSE_RISKS_PER_DOUBLING = 16  # rounds whose risk is computed at coarse accuracy
MIXING_CHANGE_MAX = 0.2  # of a drifting population, until samples are observed again
DRIFT_ROUNDS_MAX = 32  # rounds until a drifting population is observed again
DOUBT_SHARE_MAX = 0.1  # of the risk, that a settled mean path may still have to lose
RISK_CELLS = 2_000_000  # samples, models, outputs and rounds whose risk is computed at once


@dataclass(frozen=True)
class _State:
    """Mean path and scatter of the evaluated models before a round."""

    round: int
    theta: Tensor
    scatter: Floats


class RiskCurve:
    """Plays the rounds of a `MomentRecursion`; `settled` once later rounds are known in closed form."""

    def __init__(self, moments: MomentRecursion) -> None:
        self.moments, self.coarse = moments, moments.accuracy is Accuracy.COARSE
        self.settled: StationaryPhase | None = None
        self._growth = {0: moments.growth}  # of the scatter, by some earlier rounds
        self._forecasts: dict[int, StationaryPhase] = {}  # by the round after which they were made
        # of the last observation of a drifting population: its mixing weight, the round, and the rows that trained
        self._mixing: Tensor | None = None
        self._observed, self._trained = 0, np.zeros(moments.memories.rows, dtype=bool)

    @property
    def round(self) -> int:
        """Rounds played so far."""
        return self.moments.round

    def play(
        self, until: int, *, settle: bool = False, progress: Callable[[int], None] = lambda done: None
    ) -> tuple[Floats, ...]:
        """Go on to this round: expected excess risk of the evaluated models and its mean path's part, now and after
        every round, (·, models) each.

        With `settle` it stops and is `settled` where the state after half as many rounds has predicted the risk well
        (`Accuracy.missed_share_max`) and little of the mean path's way is left: a slow path has not settled.
        """
        moments, still = self.moments, self.moments.landscape.parts is None
        found: list[Tensor] = []  # (2, rounds, models) each
        times: list[int] = []  # rounds with a risk
        waiting: list[_State] = []  # rounds whose risk is still to be computed
        model = moments.landscape.model
        most = max(RISK_CELLS // (len(moments.observer.everyone) * len(moments.owners) * model.outputs), 1)
        with torch.no_grad():
            while True:
                observe, last = self._observes(), self.round == until
                forecasts = still and _forecasts(self.round)
                needed = not self.coarse or (settle and forecasts)
                if observe or last or not still or len(waiting) >= most:
                    found += self._risks(waiting, most)
                    waiting = []
                if observe or last or not still:
                    found.append(torch.stack(moments.excess_risk(observe=observe or last))[:, None])
                    times.append(self.round)
                elif needed or not times or in_doubling(self.round + 1, COARSE_RISKS_PER_DOUBLING):
                    waiting.append(_State(self.round, *moments.evaluated()))
                    times.append(self.round)
                if forecasts:
                    self._growth[self.round] = moments.growth
                    if settle:
                        self._forecasts[self.round] = self.forecast()
                        if self._as_predicted():
                            self.settled = self._forecasts[self.round]
                            break
                if last:
                    break
                moments.step(observe=observe)
                progress(self.round)
            found += self._risks(waiting, most)
        curves = torch.cat(found, 1).cpu().numpy()
        return tuple(_between(np.array(times), one) for one in curves) if self.coarse else tuple(curves)

    def _risks(self, waiting: list[_State], most: int) -> list[Tensor]:
        """Risks of these rounds of a population at rest.

        They are padded to as many rounds as if the study went on to the next observation, so that a longer study has
        the same bits.
        """
        if not waiting:
            return []
        moments, count, first = self.moments, len(waiting), waiting[0].round
        if not self.coarse:
            observes = moments.accuracy.observes_round
            whole = next(k for k in range(1, most + 1) if k == most or observes(first + k + 1))
            waiting = [*waiting, *[waiting[-1]] * (whole - count)]
        theta = torch.stack([one.theta for one in waiting])
        scatter = moments.on_device(np.stack([one.scatter for one in waiting]))
        risks = moments.model_risk(theta, scatter, observe=False, least=moments.landscape.best.risk)
        return [torch.stack(risks)[:, :count]]

    def _observes(self) -> bool:
        """True if samples are observed in this round. A drifting population is also observed after it has moved, after
        some rounds, and when a row trains that was idle at the last observation."""
        moments = self.moments
        parts, regular = moments.landscape.parts, moments.accuracy.observes_round(self.round + 1)
        if parts is None:
            return regular
        now = parts.mixing[self.round]
        moments.observer.face(now)
        moved = self._mixing is None or bool((now - self._mixing).abs() >= MIXING_CHANGE_MAX)
        trains = moments.memories.trained[min(self.round, moments.memories.rounds - 1)]
        moved = moved or bool((trains & ~self._trained).any())
        if moved or regular or self.round - self._observed >= DRIFT_ROUNDS_MAX:
            self._mixing, self._observed, self._trained = now, self.round, trains
            return True
        return False

    def forecast(self) -> StationaryPhase:
        """All later rounds, if they are like the last half of those so far."""
        moments = self.moments
        since = max(t for t in self._growth if 2 * t <= self.round)
        risk, path = moments.excess_risk(observe=False)
        last = LastRound(
            round=self.round,
            risk=risk,
            path=path,
            theta=moments.theta,
            theta_before=moments.theta_before,
            contraction=moments.on_device(moments.contraction),
            scatter=moments.on_device(moments.scatter),
            growth=moments.on_device((moments.growth - self._growth[since]) / max(self.round - since, 1)),
            curvature=moments.path_risk.curvature,
        )
        return StationaryPhase.after(last, moments.landscape)

    def _as_predicted(self) -> bool:
        past, now = self._forecasts.get(self.round // 2), self._forecasts[self.round]
        if past is None or self.round < ROUNDS_MIN:
            return False
        risk = now.last.risk
        missed = (past.risks([self.round])[0][0] - risk).abs()
        most = self.moments.accuracy.missed_share_max
        return bool(torch.all((missed <= most * risk) & (now.doubt <= DOUBT_SHARE_MAX * risk)))


def _between(times: Counts, values: Floats) -> Floats:
    """Linear interpolation at all times from the first to the last, (times, rows).

    >>> _between(np.array([3, 5, 6]), np.array([[8.0], [4.0], [3.0]])).tolist()
    [[8.0], [6.0], [4.0], [3.0]]
    """
    every = np.arange(times[0], times[-1] + 1)
    return np.stack([np.interp(every, times, row) for row in values.T], 1)


def _forecasts(t: int) -> bool:
    """True if a forecast is made after round t: powers of two, and 1.5 times these.

    >>> [t for t in range(1, 20) if _forecasts(t)]
    [1, 2, 3, 4, 6, 8, 12, 16]
    """
    return t in (2 ** (t.bit_length() - 1), 3 * 2 ** (t.bit_length() - 2))
