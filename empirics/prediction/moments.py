r"""The law of reuse along the path: mean and variance of θ(t) for a curved loss, round by round, nothing sampled.

Around the mean path \(\bar\theta(t)\) the parameters scatter with variance \(S_k\) in direction k. A sample that was in
memory before has pulled θ its own way, by a weight \(\psi_k\) which is what the law of reuse computes, so that its
logits are no longer those of a fresh sample, and its residual is smaller:

\[\rho_i=r(u_i-\lambda_i\rho_i)\approx(1+\lambda_iW_i)^{-1}r_i,\qquad\lambda_i=\sum_k\psi_k|z_{ik}|^2,\]

curvature and noise shrink alike, \(W_i\to(1+\lambda_iW_i)^{-1}W_i\). Within a round the same happens faster, for a
client has few samples: over E steps its own pulls add up by a kernel, and they decay by the curvature of the *other*
samples in its memory, \((1-1/n_m)h\). A curved loss sees θ through its scatter: residuals and curvatures are averaged
over logits of variance \(\sum_kS_k|z_{ik}|^2\). The ball holds \(\|\bar\theta\|^2+\sum_kS_k\) at r², and takes what
scatters along its radius.

The mean of models, \(\bar\theta\leftarrow\bar\theta+w(\theta-\bar\theta)\) after every round, is linear in the models:
its own mean follows the mean path, and a sample's weight in it follows the sample's weight in θ. It is of what the
server has before it projects, and the ball holds it as it holds θ.

With one Hessian for all samples nothing of this changes anything, and what is left is the law itself: exact.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from empirics.prediction.cohorts import Cohorts, Memories
from empirics.prediction.expected_risk import Gauge
from empirics.prediction.loss_landscape import Landscape
from empirics.prediction.mean_path import Look, Walk
from empirics.prediction.observation import Observer
from empirics.prediction.stationary import LastRound, Settled
from empirics.prediction.unobserved_rounds import Course, Line
from empirics.prediction.walk_lag import Lag
from empirics.training.model import Descent

__all__ = ["Closure"]

FEWEST = 256  # rounds that are always played
PER_DOUBLING, HURRIED, COARSE = 4, 2, 1  # rounds of each doubling in which samples are observed
DRAWN = 16  # rounds of each doubling whose risk is computed, if it is coarse
EARLY = 16  # rounds in which all that happens first happens
MOVED, EVERY = 0.2, 32  # a population has moved, or rounds have passed, so much: samples are observed again
OLD = 32  # rounds after which a sample counts as old
MOST_TO_GO = 0.1  # what may be left to go, of the risk
MOST_MISSED = 0.04  # of the risk, by a forecast over a doubling: over the next one it misses a fourth of that
MISSED_COARSELY = 0.1  # if it is coarse, and looked at samples less often
CELLS = 2_000_000  # samples, rows, outputs and rounds whose risk is computed at once
AT_ONCE = 64  # rounds of other step sizes that are worked on at once
Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class _State:
    """What the risk of a round needs: mean path and scatter of the model that counts."""

    round: int
    theta: Tensor
    scatter: Floats


class Closure:
    """Mean path and scatter of all rows; `play` gives the expected excess risk at θ(1), θ(2), …

    Rows share the number of local steps; the step size may be each row's own. A column is a group of clients of a row.
    Where there are means of models, these are what counts, and a row may have several.
    `theta` is the mean path, (rows, parameters), and `scatter` the variance around it, (rows, lumps). To *observe* is
    to compute anew what samples show: residuals, curvature and noise; between observations these stay as they are.
    If `hurried`, there are half as many, and between them the gradient is straight in θ, of one output or few
    parameters. A `coarse` one observes once in a doubling, and few local steps; risks are straight between some rounds.
    Rows on a landscape of several samples are those of the first sample, then of the next, and so are the models.
    """

    def __init__(
        self,
        landscape: Landscape,
        descent: Descent,
        memories: Memories,
        start: Tensor,
        *,
        hurried: bool = False,
        coarse: bool = False,
        walks: bool = False,
    ) -> None:
        self.landscape, self.memories = landscape, memories
        self.averages, self.owners = memories.share is not None, memories.owners
        self.often, self.coarse = COARSE if coarse else HURRIED if hurried else PER_DOUBLING, coarse
        self.groups = len(landscape.groups)
        eta = descent.eta
        if isinstance(eta, Tensor):
            eta = eta.repeat_interleave(self.groups)[:, None]
        self.descent = replace(descent, eta=eta)
        self.theta = landscape.along_axes(start).expand(memories.rows, landscape.model.size).clone()
        self.theta_before = self.theta
        self.cohorts = Cohorts(memories, self.groups, len(landscape.size))
        self.scatter: Floats = np.zeros((memories.rows, len(landscape.size)))
        self.observer = Observer(landscape, memories.rows)
        self.gauge = Gauge(self.observer)
        self.counting = Gauge(self.observer) if self.averages else self.gauge
        self.mean = self.theta[self.owners]  # of the models so far, as their shares say
        self.lag = Lag(len(self.owners), len(landscape.size)) if walks else None
        # Σ over rounds of what the models that count are behind, and the last of it
        self.lagged = self.behind = np.zeros_like(self.scatter[self.owners])
        self.round = 0
        self.walk = Walk(self.observer, self.descent, hurried=hurried, coarse=coarse)
        self.look: Look  # of the round that was last observed
        self.course: Course  # of it, and of the rounds after it
        self.line: Line | None = None  # where they lead from anywhere, if gradients are straight in θ
        self.contraction = np.ones_like(self.scatter)  # of a distance, by the last round
        self.growth = np.zeros_like(self.scatter)  # Σ of what rounds have added to the scatter
        self.past_growth = [(0, self.growth)]  # at some earlier rounds
        self.fitted = self.theta.new_zeros(memories.rows)  # of a fresh residual, within a round, at most
        self.counts = self.cohorts.counts(memories.starts[0])  # of the cohorts, in the last round
        self.forecasts: dict[int, Settled] = {}  # by the round after which they were made
        self.settled: Settled | None = None
        self.faced: Tensor | None = None  # the mixing weight at the last look
        self.looked, self.seen = (
            0,
            np.zeros(memories.rows, dtype=bool),
        )  # in which round, and who trained in it

    def follow(self, memories: Memories) -> None:
        """These, which are the old ones with more rounds: what was worked out ahead knew only the old ones."""
        self.memories = memories
        if self.round:
            self.course.end = self.round

    def _on_device(self, values: NDArray[Any]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(self.theta.device)

    def _of_columns(self, rows: Tensor) -> Tensor:
        return rows.repeat_interleave(self.groups, 0)

    # --- risk ----------------------------------------------------------------------------------------------

    def excess_risk(self, *, observe: bool) -> tuple[Tensor, Tensor]:
        """Expected excess risk of the model that counts, and of it what the mean path has, (models,) each."""
        if observe and self.averages:
            self.gauge.look(self.theta)
        theta, scatter = self._model()
        return self.counting(theta, self._on_device(scatter), observe=observe, least=self._least)

    def _model(self) -> tuple[Tensor, Floats]:
        """That counts, on the ball: its mean path, and its scatter."""
        if not self.averages:
            return self.theta, self.scatter
        scatter = self.cohorts.mean_variance(self.counts)
        factors = self._to_the_ball(self.mean, scatter)
        return self._on_device(factors[:, -1:]) * self.mean, factors**2 * scatter

    @property
    def _least(self) -> Tensor | float:
        """The least risk, of a population that moves at this time."""
        parts = self.landscape.parts
        return self.landscape.best.risk if parts is None else parts.least[self.round]

    # --- a round -------------------------------------------------------------------------------------------

    def step(self, *, observe: bool) -> None:
        """One round."""
        counts, weights = self._enter(), self._weights()
        n = counts.sum(0)  # (rows, groups, 1)
        idle = (n.sum(1) == 0) if self.landscape.parts is not None else None
        if idle is not None and idle.all():
            self.round += 1
            return
        if observe or not self.walk.straight:  # else the course has it
            self._choose_step_size()
        ages = _age_classes(self.round - self.cohorts.entered)
        if not observe and self.round >= self.course.end:
            self.course = self._further_course()
        self.theta_before = self.theta
        local = self._observe(counts, ages) if observe else self._train()
        left, gains = self.course.at(self.round, ages, self.groups)
        self.theta = local
        contraction = left[:, 0]
        if self.groups > 1:
            self.theta = (self._on_device(weights) * local.view(*weights.shape[:2], -1)).sum(1)
            contraction = (weights * left).sum(1)
        if idle is not None:  # nothing moves in an idle round but the population
            self.theta = torch.where(self._on_device(idle), self.theta_before, self.theta)
            contraction = np.where(idle, 1.0, contraction)
        per_sample, of_all = weights / np.maximum(n, 1), contraction[:, np.newaxis]
        self.cohorts.train(contraction, per_sample * gains, of_all + per_sample * (1 - of_all))
        if self.memories.share is not None:  # of what the server has before it projects
            share = self.memories.share[self.round][:, np.newaxis]
            self.mean = torch.lerp(self.mean, self.theta[self.owners], self._on_device(share))
            self.cohorts.average(share)
        before = self.scatter
        self.contraction = contraction * self._project(counts)
        self.growth = self.growth + self.scatter - self.contraction**2 * before
        if self.lag is not None:
            self._fall_behind(self.lag, (counts * per_sample).sum(2)[..., 0])
        self.round += 1

    def _fall_behind(self, lag: Lag, held: Floats) -> None:
        lag.follow(self.round, self.cohorts.entered, held[:, self.owners], self.contraction[self.owners])
        if self.memories.share is not None:
            lag.average(self.memories.share[self.round][:, np.newaxis])
        self.lagged, self.behind = self.lagged + self.behind, lag.squares(mean=self.averages)

    def _choose_step_size(self) -> None:
        if self.memories.eta is not None:
            eta = self._on_device(self.memories.eta[self.round])
            self.descent = replace(self.descent, eta=self._of_columns(eta)[:, None])

    def _further_course(self) -> Course:
        """Of this round and the next ones, in which nothing is observed."""
        if self.line is None and self.look.hessian is not None:
            self.line = Line.of(self.look.hessian, self.look.slopes, self.descent.momentum)
        etas = self._etas()
        end = sys.maxsize if etas is None else self.round + len(etas)
        return Course(self.round, end, self.look.local, self.line, etas)

    def _etas(self) -> Tensor | None:
        """Step sizes from this round on to the next look, (rounds, columns), no more than are worked on at once."""
        if self.memories.eta is None:
            return None
        last = min(self.round + AT_ONCE, self.memories.rounds)
        looks = (t for t in range(self.round + 1, last) if _observes_round(t + 1, self.often))
        etas = self._on_device(self.memories.eta[self.round : next(looks, last)])
        return etas.repeat_interleave(self.groups, 1)

    def _enter(self) -> Floats:
        """Samples leave and come: how many there are of each cohort."""
        memories, t = self.memories, self.round
        starts = memories.starts[t]
        self.cohorts.leave(self.counts, starts)
        mix = None if memories.mix is None else memories.mix[t]
        self.cohorts.enter(t, memories.admissions[t], memories.ends[t], mix)
        if self.landscape.parts is not None:
            self.observer.hold(self._on_device(self.cohorts.mixture(starts).ravel()))
        self.counts = self.cohorts.counts(starts)
        return self.counts

    def _weights(self) -> Floats:
        """The server's, (rows, groups, 1)."""
        if self.groups == 1:
            return np.ones((self.memories.rows, 1, 1))
        return np.asarray(self.memories.weights[self.round][..., np.newaxis])

    def _sample_share(self, n: Floats) -> Floats:
        """A sample's share of its client's memory, of so many in all, (rows, groups, 1)."""
        if self.groups > 1:
            return np.where(n > 0, 1 / np.maximum(n, 1), 0.0)
        held = self.memories.ends[self.round] > self.memories.starts[self.round]
        return np.asarray(held.sum(1)[:, np.newaxis, np.newaxis] / np.maximum(n, 1))

    def _observe(self, counts: Floats, ages: Counts) -> Tensor:
        """θ of all columns after a round in which samples are observed."""
        n, columns = counts.sum(0), (-1, len(self.landscape.size))
        given = {
            "share": self._on_device(self._sample_share(n)).flatten(0, 1),
            "scatter": self._of_columns(self._on_device(self.scatter)),
        }
        known = tuple(sorted(set(ages.tolist())))
        for number in known:
            mine = counts * (ages == number)[:, np.newaxis, np.newaxis, np.newaxis]
            weight = (mine * self.cohorts.weight).sum(0) / np.maximum(mine.sum(0), 1)
            given[f"weight_{number}"] = self._on_device(weight.reshape(columns))
            given[f"share_{number}"] = self._on_device((mine.sum(0) / np.maximum(n, 1)).reshape(-1, 1))
        self.look = self.walk.look(known, early=self.round < EARLY, **self._given(), **given)
        self.fitted = torch.maximum(self.fitted, self.look.fitted.view(-1, self.groups).amax(1))
        self.course, self.line = Course(self.round, self.round + 1, self.look.local), None
        return self.look.theta.clone()

    def _train(self) -> Tensor:
        """θ of all columns after a round in which nothing is observed."""
        if self.walk.straight:
            return self.course.straight(self.round, self._of_columns(self.theta))
        return self.walk.again(self.look, **self._given())

    def _given(self) -> dict[str, Tensor]:
        """What all local steps are given."""
        missed, eta = self.gauge.slopes, self.descent.eta
        found = {"theta": self._of_columns(self.theta)}
        found |= {"eta": eta} if isinstance(eta, Tensor) else {}
        return found | ({} if missed is None else {"missed": missed})

    def _project(self, counts: Floats) -> Floats:
        """Onto the ball; returns the factors, (rows, lumps)."""
        self.scatter = self.cohorts.variance(counts)
        factors = self._to_the_ball(self.theta, self.scatter)
        if (factors != 1).any():
            self.theta = self._on_device(factors[:, -1:]) * self.theta
            self.cohorts.scale(factors)
            self.scatter = factors**2 * self.scatter
        return factors

    def _to_the_ball(self, theta: Tensor, scatter: Floats) -> Floats:
        """What brings a model with this mean path and scatter onto the ball, (rows, lumps); the last for the path."""
        first, radius = int(self.landscape.on_the_ball), self.landscape.radius
        norm = np.sqrt(theta.square().sum(1).cpu().numpy() + scatter[:, first:].sum(1))
        factor = (radius / np.maximum(norm, radius))[:, np.newaxis]
        factors: Floats = factor.repeat(scatter.shape[1], axis=1)
        if first:
            factors[:, :1] *= factor == 1
        return factors

    # --- all rounds ----------------------------------------------------------------------------------------

    def play(
        self, until: int, *, settle: bool = False, progress: Callable[[int], None] = lambda done: None
    ) -> tuple[Floats, ...]:
        """On to this round: expected excess risk of the model that counts and the mean path's, now and after every
        round, (·, models) each.

        With `settle` it stops, and is `settled`, where the state of half as many rounds had foretold the risk to 4 %
        and what is left of the mean path's way is worth a tenth of it at most: slow is not settled.
        """
        found: list[Tensor] = []  # (2, rounds, models) each
        times: list[int] = []  # of which there is a risk
        waiting: list[_State] = []  # of rounds whose risk is not yet computed
        still = self.landscape.parts is None
        most = max(
            CELLS // (len(self.observer.everyone) * len(self.owners) * self.landscape.model.outputs), 1
        )
        with torch.no_grad():
            while True:
                observe, last = self._looks(), self.round == until
                forecasts = still and _forecasts(self.round) and self.round != self.past_growth[-1][0]
                drawn = not self.coarse or (settle and forecasts)
                if observe or last or not still or len(waiting) >= most:
                    found += self._risks(waiting, most)
                    waiting = []
                if observe or last or not still:
                    found.append(torch.stack(self.excess_risk(observe=observe or last))[:, None])
                    times.append(self.round)
                elif drawn or not times or _observes_round(self.round + 1, DRAWN):
                    waiting.append(_State(self.round, *self._model()))
                    times.append(self.round)
                if forecasts:
                    self.past_growth = [*self.past_growth[-3:], (self.round, self.growth)]
                    if settle:
                        self.forecasts[self.round] = self.forecast()
                        if self._as_foretold():
                            self.settled = self.forecasts[self.round]
                            break
                if last:
                    break
                self.step(observe=observe)
                progress(self.round)
            found += self._risks(waiting, most)
        curves = torch.cat(found, 1).cpu().numpy()
        return tuple(_between(np.array(times), one) for one in curves) if self.coarse else tuple(curves)

    def _risks(self, waiting: list[_State], most: int) -> list[Tensor]:
        """Of these rounds of a population that stays.

        As many are computed at once as if the study went on to the next look, so that a longer one has the same bits.
        """
        if not waiting:
            return []
        least, count, first = self.landscape.best.risk, len(waiting), waiting[0].round
        if not self.coarse:
            whole = next(
                k for k in range(1, most + 1) if k == most or _observes_round(first + k + 1, self.often)
            )
            waiting = [*waiting, *[waiting[-1]] * (whole - count)]
        theta, scatter = (
            torch.stack([one.theta for one in waiting]),
            np.stack([one.scatter for one in waiting]),
        )
        risks = self.counting(theta, self._on_device(scatter), observe=False, least=least)
        return [torch.stack(risks)[:, :count]]

    def _looks(self) -> bool:
        """Whether samples are observed; a population that moves is faced, and looked at again and again."""
        parts, often = self.landscape.parts, _observes_round(self.round + 1, self.often)
        if parts is None:
            return often
        now = parts.mixing[self.round]
        self.observer.face(now)
        moved = self.faced is None or bool((now - self.faced).abs() >= MOVED)
        who = self.memories.trained[min(self.round, self.memories.rounds - 1)]
        moved = moved or bool((who & ~self.seen).any())  # who was idle showed nothing
        if moved or often or self.round - self.looked >= EVERY:
            self.faced, self.looked, self.seen = now, self.round, who
            return True
        return False

    def forecast(self) -> Settled:
        """All later rounds, if they are like the last half of those so far."""
        half = [one for one in self.past_growth if 2 * one[0] <= self.round]
        since, growth = half[-1] if half else self.past_growth[0]
        risk, path = self.excess_risk(observe=False)
        last = LastRound(
            round=self.round,
            risk=risk,
            path=path,
            theta=self.theta,
            theta_before=self.theta_before,
            contraction=self._on_device(self.contraction),
            scatter=self._on_device(self.scatter),
            growth=self._on_device((self.growth - growth) / max(self.round - since, 1)),
            curvature=self.gauge.curvature,
        )
        return Settled.after(last, self.landscape)

    def _as_foretold(self) -> bool:
        past, now = self.forecasts.get(self.round // 2), self.forecasts[self.round]
        if past is None or self.round < FEWEST:
            return False
        risk = now.last.risk
        missed = (past.risks([self.round])[0][0] - risk).abs()
        most = MISSED_COARSELY if self.coarse else MOST_MISSED
        return bool(torch.all((missed <= most * risk) & (now.doubt <= MOST_TO_GO * risk)))


def _between(times: Counts, values: Floats) -> Floats:
    """At all times from the first to the last, (times, rows), straight between those that are known.

    >>> _between(np.array([3, 5, 6]), np.array([[8.0], [4.0], [3.0]])).tolist()
    [[8.0], [6.0], [4.0], [3.0]]
    """
    every = np.arange(times[0], times[-1] + 1)
    return np.stack([np.interp(every, times, row) for row in values.T], 1)


def _observes_round(t: int, per_doubling: int) -> bool:
    """Whether samples are observed in round t: so many times in every doubling.

    >>> [[t for t in range(1, 40) if _observes_round(t, often)] for often in (1, 2)]
    [[1, 2, 4, 8, 16, 32], [1, 2, 3, 4, 6, 8, 12, 16, 24, 32]]
    """
    octave: int = 2 ** (t.bit_length() - 1)
    return t % max(octave // per_doubling, 1) == 0


def _age_classes(age: Counts) -> Counts:
    """0 for what is fresh, 1 for what was used before, 2 for what has been for long."""
    return (age > 0).astype(np.int64) + (age >= OLD)


def _forecasts(t: int) -> bool:
    """Whether a forecast is made after round t: powers of two, and half as many again."""
    return t in (2 ** (t.bit_length() - 1), 3 * 2 ** (t.bit_length() - 2))
