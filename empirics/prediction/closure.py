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

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from empirics.prediction.cohorts import Cohorts, Memories
from empirics.prediction.gauge import Gauge
from empirics.prediction.landscape import Landscape
from empirics.prediction.local_steps import AgeClass, LocalSteps
from empirics.prediction.observation import Observer
from empirics.prediction.samples import chances
from empirics.prediction.settled import LastRound, Settled
from empirics.training.model import Descent

__all__ = ["Closure"]

FEWEST = 256  # rounds that are always played
PER_DOUBLING, HURRIED = (
    4,
    2,
)  # in how many rounds of each doubling the samples are observed, and if in a hurry
EARLY = 16  # rounds in which all that happens first happens
MOVED, EVERY = 0.2, 32  # a population has moved, or rounds have passed, so much: samples are observed again
OLD = 32  # rounds after which a sample counts as old
MOST_TO_GO = 0.1  # what may be left to go, of the risk
MOST_MISSED = 0.04  # of the risk, by a forecast over a doubling: over the next one it misses a fourth of that
Floats = NDArray[np.float64]


class Closure:
    """Mean path and scatter of all rows; `play` gives the expected excess risk at θ(1), θ(2), …

    Rows share the number of local steps; the step size may be each row's own. A column is a group of clients of a row.
    `theta` is the mean path, (rows, parameters), and `scatter` the variance around it, (rows, lumps). To *observe* is
    to compute anew what samples show: residuals, curvature and noise; between observations these stay as they are.
    If `hurried`, there are half as many, between them the gradient of one output is straight in θ, and the last
    model's risk stays as it was, where there is a mean of models.
    """

    def __init__(
        self,
        landscape: Landscape,
        descent: Descent,
        memories: Memories,
        start: Tensor,
        *,
        hurried: bool = False,
    ) -> None:
        self.landscape, self.memories, self.hurried = landscape, memories, hurried
        self.groups = len(landscape.groups)
        eta = descent.eta
        if isinstance(eta, Tensor):
            eta = eta.repeat_interleave(self.groups)[:, None]
        self.descent = replace(descent, eta=eta)
        population = landscape.model.population
        self.theta = landscape.along_axes(start).expand(memories.rows, landscape.model.size).clone()
        self.theta_before = self.theta
        self.cohorts = Cohorts(population.x, memories, self.groups, len(landscape.size))
        self.scatter = self.cohorts.departed
        self.observer = Observer(landscape, memories.rows)
        self.gauge, self.gauge_of_mean = Gauge(self.observer), Gauge(self.observer)
        self.mean = self.theta  # of the models so far, as their shares say
        self.round = 0
        self.local: LocalSteps  # of the round that was last observed
        self.corrections: list[Tensor] = []  # from chances to residuals shown, at each of its local steps
        self.slopes: list[
            tuple[Tensor, Tensor]
        ] = []  # where each of its local steps began, and the gradient there
        self.hessian: Tensor | None = None  # at the first of them, (columns, parameters, parameters)
        self.contraction = torch.ones_like(self.scatter)  # of a distance, by the last round
        self.growth = torch.zeros_like(self.scatter)  # Σ of what rounds have added to the scatter
        self.past_growth = [(0, self.growth)]  # at some earlier rounds
        self.fitted = torch.zeros_like(self.scatter[:, 0])  # of a fresh residual, within a round, at most
        self.counts: Tensor | None = None  # of the cohorts, in the last round
        self.forecasts: dict[int, Settled] = {}  # by the round after which they were made
        self.settled: Settled | None = None
        self.faced: Tensor | None = None  # the mixing weight at the last look
        self.looked, self.seen = (
            0,
            np.zeros(memories.rows, dtype=bool),
        )  # in which round, and who trained in it

    def _on_device(self, values: NDArray[Any]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(self.theta.device)

    def _of_columns(self, rows: Tensor) -> Tensor:
        return rows.repeat_interleave(self.groups, 0)

    # --- risk ----------------------------------------------------------------------------------------------

    def excess_risk(self, *, observe: bool) -> tuple[Tensor, Tensor]:
        """Expected excess risk at θ(t), and of it what the mean path has, (rows,) each."""
        return self.gauge(self.theta, self.scatter, observe=observe, least=self._least)

    def excess_risk_of_mean(self, *, observe: bool) -> tuple[Tensor, Tensor]:
        """The same of the mean of models."""
        scatter = self.scatter if self.counts is None else self.cohorts.mean_variance(self.counts)
        factors = self._to_the_ball(self.mean, scatter)
        return self.gauge_of_mean(
            factors[:, -1:] * self.mean, factors.square() * scatter, observe=observe, least=self._least
        )

    @property
    def _least(self) -> Tensor | float:
        """The least risk, of a population that moves at this time."""
        parts = self.landscape.parts
        return self.landscape.best.risk if parts is None else parts.least[self.round]

    # --- a round -------------------------------------------------------------------------------------------

    def step(self, *, observe: bool) -> None:
        """One round."""
        counts, sample_share, weights = self._enter()
        idle = (counts.sum((0, 2)) == 0) if self.landscape.parts is not None else None
        if idle is not None and idle.all():
            self.round += 1
            return
        self._choose_step_size()
        ages = _age_classes(self.round - self.cohorts.entered)
        if observe:
            self._begin_to_observe(counts, ages, sample_share)
        elif self.memories.eta is not None:
            self.local = self.local.again(self.descent)
        self.theta_before, local = self.theta, self._train(observe=observe)
        shape = (*weights.shape[:2], -1)
        self.theta = (weights * local.view(shape)).sum(1)
        contraction = (weights * self.local.contraction.view(shape)).sum(1)
        if idle is not None:  # nothing moves in an idle round but the population
            self.theta = torch.where(idle, self.theta_before, self.theta)
            contraction = torch.where(idle, 1, contraction)
        of_cohorts = [self.local.age(number) for number in ages.tolist()]
        per_sample = weights / counts.sum(0).clamp(min=1)
        self.cohorts.train(
            contraction,
            per_sample * torch.stack([age.gain.view(shape) for age in of_cohorts]),
            per_sample * torch.stack([age.noise_gain.view(shape) for age in of_cohorts]),
            contraction[:, None] + per_sample * (1 - contraction[:, None]),
        )
        if self.memories.share is not None:  # of what the server has before it projects
            share = self._on_device(self.memories.share[self.round])[:, None].to(self.theta)
            self.mean = self.mean + share * (self.theta - self.mean)
            self.cohorts.average(share)
        self.contraction = contraction * self._project(counts)
        before, self.scatter = self.scatter, self.cohorts.variance(counts)
        self.growth = self.growth + self.scatter - self.contraction.square() * before
        self.round += 1

    def _choose_step_size(self) -> None:
        if self.memories.eta is not None:
            eta = self._on_device(self.memories.eta[self.round]).to(self.theta)
            self.descent = replace(self.descent, eta=self._of_columns(eta)[:, None])

    def _enter(self) -> tuple[Tensor, Tensor, Tensor]:
        """Samples leave and come: cohorts' counts, a sample's share of its client's memory, the server's weights."""
        memories, t = self.memories, self.round
        starts, ends, admitted = (
            self._on_device(array[t]) for array in (memories.starts, memories.ends, memories.admissions)
        )
        if self.counts is not None:
            self.cohorts.leave(self.counts, starts)
        self.cohorts.enter(
            t, admitted, ends, None if memories.mix is None else self._on_device(memories.mix[t])
        )
        if self.landscape.parts is not None:
            self.observer.hold(self.cohorts.mixture(starts).flatten())
        counts = self.counts = self.cohorts.counts(starts)
        n = counts.sum(0)  # (rows, groups, 1)
        if self.groups == 1:
            return counts, (ends > starts).sum(1)[:, None, None] / n.clamp(min=1), torch.ones_like(n)
        sample_share = torch.where(n > 0, 1 / n.clamp(min=1), 0)
        return counts, sample_share, self._on_device(memories.weights[t])[..., None]

    def _begin_to_observe(self, counts: Tensor, ages: Tensor, sample_share: Tensor) -> None:
        self.corrections = []
        self.local = LocalSteps(sample_share.flatten(0, 1), self._of_columns(self.scatter), self.descent)
        for number in sorted(set(ages.tolist())):
            mine = counts * (ages == number)[:, None, None, None]
            weight = (mine * self.cohorts.weight).sum(0) / mine.sum(0).clamp(min=1)
            share = mine.sum(0) / counts.sum(0).clamp(min=1)
            self.local.ages[number] = AgeClass(
                weight.flatten(0, 1), share.flatten(0, 1), used=number > 0, recent=number < 2
            )

    def _project(self, counts: Tensor) -> Tensor:
        """Onto the ball; returns the factors, (rows, lumps)."""
        factors = self._to_the_ball(self.theta, self.cohorts.variance(counts))
        self.theta = factors[:, -1:] * self.theta
        self.cohorts.scale(factors)
        return factors

    def _to_the_ball(self, theta: Tensor, scatter: Tensor) -> Tensor:
        """What brings a model with this mean path and scatter onto the ball, (rows, lumps); the last for the path."""
        first = int(self.landscape.on_the_ball)
        norm = (theta.square().sum(1) + scatter[:, first:].sum(1)).sqrt()
        factor = (self.landscape.radius / norm.clamp(min=self.landscape.radius))[:, None]
        factors = factor.repeat(1, scatter.shape[1])
        if first:
            factors[:, :1] *= factor == 1
        return factors

    def _train(self, *, observe: bool) -> Tensor:
        """E local steps of all columns."""
        if self.hessian is not None and not observe:
            return self._train_straight()
        model, descent, p = self.landscape.model, self.descent, self.observer.p[..., None]
        theta, still = self._of_columns(self.theta), self.landscape.parts is None
        velocity, missed = torch.zeros_like(theta), self.gauge.slopes
        self.slopes = []
        straight = self.hurried and still and model.outputs == 1
        for e in range(descent.steps):
            logits = model.logits(theta, model.population.x)
            q = chances(logits)
            if straight and e == 0:
                self.hessian = _hessians(model.population.x, (p * q * (1 - q))[..., 0])
            if observe:
                self.corrections.append(self._correction(logits, q, e))
                self.local.advance()
            shown = torch.addcmul(self.corrections[e], p, q) if still else p * (self.corrections[e] + q)
            gradient = model.weighted_inputs(shown)
            if missed is not None:
                gradient = gradient + missed
            self.slopes.append((theta, gradient))
            velocity = descent.momentum * velocity + gradient
            theta = theta - descent.eta * velocity
        return theta

    def _train_straight(self) -> Tensor:
        """The same, with gradients that change along a straight line from those of the last observation."""
        theta, descent = self._of_columns(self.theta), self.descent
        velocity = torch.zeros_like(theta)
        assert self.hessian is not None
        for there, gradient in self.slopes:
            gradient = gradient + (self.hessian @ (theta - there)[..., None])[..., 0]
            velocity = descent.momentum * velocity + gradient
            theta = theta - descent.eta * velocity
        return theta

    def _correction(self, logits: Tensor, q: Tensor, e: int) -> Tensor:
        """What turns chances into the residuals that samples show, at local step e of a round that is observed."""
        if not _observes_step(e, self.round):
            return self.corrections[-1]
        later = (k for k in range(e + 1, self.descent.steps) if _observes_step(k, self.round))
        residuals = self.observer.residuals(self.local, logits, q, next(later, self.descent.steps) - e)
        for age in self.local.ages.values():
            if not age.used:
                self.fitted = torch.maximum(self.fitted, 1 - age.damping.view(-1, self.groups).amin(1))
        return self.observer.p[..., None] * (residuals - q) if self.landscape.parts is None else residuals - q

    # --- all rounds ----------------------------------------------------------------------------------------

    def play(
        self, until: int, *, settle: bool = False, progress: Callable[[int], None] = lambda done: None
    ) -> tuple[Floats, ...]:
        """On to this round: expected excess risk and the mean path's, now and after every round, (·, rows) each; and
        the same of the mean of models, if there is one.

        With `settle` it stops, and is `settled`, where the state of half as many rounds had foretold the risk to 4 %
        and what is left of the mean path's way is worth a tenth of it at most: slow is not settled.
        """
        found: list[Tensor] = []
        still = self.landscape.parts is None
        with torch.no_grad():
            while True:
                observe, last = self._looks(), self.round == until
                if not (self.hurried and found and self.memories.share is not None) or observe or last:
                    of_last = self.excess_risk(observe=observe or last)
                risks = [*of_last]
                if self.memories.share is not None:
                    risks += self.excess_risk_of_mean(observe=observe or last)
                found.append(torch.stack(risks))
                if still and _forecasts(self.round) and self.round not in self.forecasts:
                    self.past_growth = [*self.past_growth[-3:], (self.round, self.growth)]
                    self.forecasts[self.round] = self.forecast()
                    if settle and self._as_foretold():
                        self.settled = self.forecasts[self.round]
                        break
                if last:
                    break
                self.step(observe=observe)
                progress(self.round)
        return tuple(torch.stack(found).transpose(0, 1).cpu().numpy())

    def _looks(self) -> bool:
        """Whether samples are observed; a population that moves is faced, and looked at again and again."""
        parts, often = (
            self.landscape.parts,
            _observes_round(self.round + 1, HURRIED if self.hurried else PER_DOUBLING),
        )
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
            contraction=self.contraction,
            scatter=self.scatter,
            growth=(self.growth - growth) / max(self.round - since, 1),
            curvature=self.gauge.curvature,
        )
        return Settled.after(last, self.landscape)

    def _as_foretold(self) -> bool:
        past, now = self.forecasts.get(self.round // 2), self.forecasts[self.round]
        if past is None or self.round < FEWEST:
            return False
        risk = now.last.risk
        missed = (past.risks([self.round])[0][0] - risk).abs()
        return bool(torch.all((missed <= MOST_MISSED * risk) & (now.doubt <= MOST_TO_GO * risk)))


def _observes_round(t: int, per_doubling: int) -> bool:
    """Whether samples are observed in round t: so many times in every doubling."""
    octave: int = 2 ** (t.bit_length() - 1)
    return t % max(octave // per_doubling, 1) == 0


def _hessians(x: Tensor, weights: Tensor) -> Tensor:
    """Σ_i weight_i x_i x_iᵀ of every column."""
    return torch.stack([x.T @ (column[:, None] * x) for column in weights.T])


def _observes_step(step: int, t: int) -> bool:
    """Whether they are at a local step of such a round, from 0: ever less, and less when a path is under way."""
    octave: int = 2 ** (step.bit_length() - 1) if step else 1
    return step % (max(octave // 2, 1) if t < EARLY else octave) == 0


def _age_classes(age: Tensor) -> Tensor:
    """0 for what is fresh, 1 for what was used before, 2 for what has been for long."""
    return (age > 0).long() + (age >= OLD).long()


def _forecasts(t: int) -> bool:
    """Whether a forecast is made after round t: powers of two, and half as many again."""
    return t in (2 ** (t.bit_length() - 1), 3 * 2 ** (t.bit_length() - 2))
