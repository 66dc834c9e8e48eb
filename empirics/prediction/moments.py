r"""Mean and variance of θ(t) round by round for a curved loss, by the law of reuse: nothing is sampled.

Around the mean path \(\bar\theta(t)\) the parameters have variance \(S_k\) in direction k, the *scatter*. A sample that
was in memory before has pulled θ its own way, with the weight \(\psi_k\) of the law of reuse. So its logits differ from
a fresh sample's, and its residual is smaller:

\[\rho_i=r(u_i-\lambda_i\rho_i)\approx(1+\lambda_iW_i)^{-1}r_i,\qquad\lambda_i=\sum_k\psi_k|z_{ik}|^2.\]

Curvature and noise shrink alike, \(W_i\to(1+\lambda_iW_i)^{-1}W_i\). Within a round the same happens faster, since a
client has few samples: over E steps a sample's pulls add up, and decay by the curvature of the *other* samples in its
memory, \((1-1/n_m)h\). Residuals and curvatures are averaged over logits of variance \(\sum_kS_k|z_{ik}|^2\). The ball
holds \(\|\bar\theta\|^2+\sum_kS_k\) at r², and removes the scatter along its radius.

The mean of models, \(\bar\theta\leftarrow\bar\theta+w(\theta-\bar\theta)\) after every round, is linear in the models,
so its mean and its samples' weights follow from those of θ. It averages models before projection; the ball holds it
like θ.

If all samples have one Hessian, this is the law of reuse itself, which is then exact.
"""

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from empirics.prediction.accuracy import Accuracy
from empirics.prediction.local_steps import LinearRound, RoundEffects, age_classes
from empirics.prediction.loss_landscape import LossLandscape, mixed
from empirics.prediction.mean_path import MeanPath, ObservedRound
from empirics.prediction.memory import Cohorts, Counts, Floats, Memories, WalkLag
from empirics.prediction.observation import Observer
from empirics.prediction.subsample import GroupedPopulation, SampleCorrection
from empirics.training.model import Descent

__all__ = ["ExpectedRisk", "MomentRecursion"]

STEP_SIZES_AT_ONCE = 64  # rounds with step sizes of their own whose effects are computed together


class ExpectedRisk:
    """Expected excess risk of a model that scatters around its mean path.

    `curvature` is the h of the last observation, with which ½Σ h·scatter is the risk of the scatter. If the landscape
    has subsamples, `corrections` compare these with the whole population, or with each part of a drifting one.
    """

    def __init__(self, observer: Observer) -> None:
        self.observer, land = observer, observer.landscape
        self.corrections: list[SampleCorrection] = []
        if land.whole is not None and land.parts is None:
            self.corrections = [SampleCorrection(land.whole, GroupedPopulation(land.model, land.groups))]
        elif land.whole is not None and land.parts is not None:
            seen = GroupedPopulation(land.model, land.groups, land.parts.stacked)
            self.corrections = [SampleCorrection(land.whole.of_part(k), seen.of_part(k)) for k in range(2)]
        self.curvature: Tensor

    def look(self, theta: Tensor) -> None:
        """Evaluate the whole population, if the landscape has subsamples."""
        for one in self.corrections:
            one.look(theta)

    def __call__(
        self, theta: Tensor, scatter: Tensor, *, observe: bool, least: Tensor | float
    ) -> tuple[Tensor, Tensor]:
        """Expected excess risk over `least`, and the mean path's part of it, (rows,) each.

        Without observation also of many rounds at once: from (rounds, rows, …) to (rounds, rows).
        """
        model = self.observer.landscape.model
        logits = model.logits(theta, model.population.x)
        risk = self.observer.mean_over_population(model.losses(logits, model.population.y))
        risk = risk.view(theta.shape[:-1])
        if observe:
            self.look(theta)
        if self.corrections:
            risk = risk + mixed([one.risk(theta) for one in self.corrections], self.observer.faced)
        path = risk - least - self.spread_bias(theta)
        if observe:
            self.curvature = self.observer.risk_curvature(logits, scatter)
        return path + 0.5 * (self.curvature * scatter).sum(-1), path

    def spread_bias(self, theta: Tensor) -> Tensor | float:
        """Risk that subsamples add, since each subsample's mean path strays from the population's; estimated by the
        distances between them."""
        land = self.observer.landscape
        if land.samples == 1:
            return 0.0
        each = theta.view(*theta.shape[:-2], land.samples, -1, theta.shape[-1])
        apart = land.squares((each - each.mean(-3, keepdim=True)).flatten(0, -2))
        first = int(land.on_the_ball)  # nothing strays along the radius
        steepness = (land.curvature + land.multiplier)[first:]
        risk = 0.5 * (apart[:, first:] @ steepness).view(each.shape[:-1])
        return (risk.sum(-2, keepdim=True) / (land.samples - 1)).expand_as(risk).flatten(-2)

    @property
    def missed_slopes(self) -> Tensor | None:
        """Correction of the gradients of all columns, if there are subsamples."""
        if not self.corrections:
            return None
        return mixed([one.slopes for one in self.corrections], self.observer.held.reshape(-1, 1))


class MomentRecursion:
    """Mean path and scatter of all rows, advanced by `step`.

    `theta` is the mean path, (rows, parameters), and `scatter` the variance around it, (rows, lumps). Rows share the
    number of local steps and may differ in step size. A column is a group of clients of a row. If there are means of
    models, these are evaluated in place of θ, and a row may have several. With subsamples, rows are those of the first
    subsample, then the next.
    """

    def __init__(
        self,
        landscape: LossLandscape,
        descent: Descent,
        memories: Memories,
        start: Tensor,
        *,
        accuracy: Accuracy = Accuracy.FULL,
        follow_lag: bool = False,
    ) -> None:
        self.landscape, self.memories, self.accuracy = landscape, memories, accuracy
        self.averages, self.owners = memories.share is not None, memories.owners
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
        self.path_risk = ExpectedRisk(self.observer)
        self.model_risk = ExpectedRisk(self.observer) if self.averages else self.path_risk
        self.mean = self.theta[self.owners]  # of the models so far
        self.lag = WalkLag(len(self.owners), len(landscape.size)) if follow_lag else None
        self.lag_sum = self.lag_last = np.zeros_like(self.scatter[self.owners])  # of all rounds, of the last
        self.round = 0
        self.path = MeanPath(self.observer, self.descent, accuracy)
        self.observed: ObservedRound  # the last one
        self.effects: RoundEffects  # of this round, and perhaps of later ones
        self.linear: LinearRound | None = None
        self.contraction = np.ones_like(self.scatter)  # of a distance, by the last round
        self.growth = np.zeros_like(self.scatter)  # cumulative growth of the scatter
        self.fitted = self.theta.new_zeros(memories.rows)  # largest share of a residual fitted in a round
        self.counts = self.cohorts.counts(memories.starts[0])  # of the cohorts, in the last round

    def extend(self, memories: Memories) -> None:
        """Replace the memories by the same ones with more rounds."""
        self.memories = memories
        if self.round:
            self.effects.end = self.round  # later effects were computed without the new step sizes

    def on_device(self, values: NDArray[Any]) -> Tensor:
        """An array as a tensor where the parameters are."""
        return torch.from_numpy(np.ascontiguousarray(values)).to(self.theta.device)

    def _of_columns(self, rows: Tensor) -> Tensor:
        return rows.repeat_interleave(self.groups, 0)

    # --- risk ----------------------------------------------------------------------------------------------

    def excess_risk(self, *, observe: bool) -> tuple[Tensor, Tensor]:
        """Expected excess risk of the evaluated models, and the mean path's part of it, (models,) each."""
        if observe and self.averages:
            self.path_risk.look(self.theta)
        theta, scatter = self.evaluated()
        parts = self.landscape.parts
        least = self.landscape.best.risk if parts is None else parts.least[self.round]
        return self.model_risk(theta, self.on_device(scatter), observe=observe, least=least)

    def evaluated(self) -> tuple[Tensor, Floats]:
        """Mean path and scatter of the evaluated models, on the ball."""
        if not self.averages:
            return self.theta, self.scatter
        scatter = self.cohorts.mean_variance(self.counts)
        factors = self._ball_factors(self.mean, scatter)
        return self.on_device(factors[:, -1:]) * self.mean, factors**2 * scatter

    # --- a round -------------------------------------------------------------------------------------------

    def step(self, *, observe: bool) -> None:
        counts, weights = self._enter(), self._weights()
        n = counts.sum(0)  # (rows, groups, 1)
        idle = (n.sum(1) == 0) if self.landscape.parts is not None else None
        if idle is not None and idle.all():
            self.round += 1
            return
        if observe or not self.path.linear:  # else the effects have the step sizes
            self._choose_step_size()
        ages = age_classes(self.round - self.cohorts.entered)
        if not observe and self.round >= self.effects.end:
            self.effects = self._further_effects()
        self.theta_before = self.theta
        local = self._observe(counts, ages) if observe else self._train()
        left, gains = self.effects.at(self.round, ages, self.groups)
        self.theta = local
        contraction = left[:, 0]
        if self.groups > 1:
            self.theta = (self.on_device(weights) * local.view(*weights.shape[:2], -1)).sum(1)
            contraction = (weights * left).sum(1)
        if idle is not None:  # in an idle round only the population moves
            self.theta = torch.where(self.on_device(idle), self.theta_before, self.theta)
            contraction = np.where(idle, 1.0, contraction)
        per_sample, of_all = weights / np.maximum(n, 1), contraction[:, np.newaxis]
        self.cohorts.train(contraction, per_sample * gains, of_all + per_sample * (1 - of_all))
        if self.memories.share is not None:  # before projection
            share = self.memories.share[self.round][:, np.newaxis]
            self.mean = torch.lerp(self.mean, self.theta[self.owners], self.on_device(share))
            self.cohorts.average(share)
        before = self.scatter
        self.contraction = contraction * self._project(counts)
        self.growth = self.growth + self.scatter - self.contraction**2 * before
        if self.lag is not None:
            self._follow_lag(self.lag, (counts * per_sample).sum(2)[..., 0])
        self.round += 1

    def _follow_lag(self, lag: WalkLag, held: Floats) -> None:
        lag.follow(self.round, self.cohorts.entered, held[:, self.owners], self.contraction[self.owners])
        if self.memories.share is not None:
            lag.average(self.memories.share[self.round][:, np.newaxis])
        self.lag_sum, self.lag_last = self.lag_sum + self.lag_last, lag.squares(mean=self.averages)

    def _choose_step_size(self) -> None:
        if self.memories.eta is not None:
            eta = self.on_device(self.memories.eta[self.round])
            self.descent = replace(self.descent, eta=self._of_columns(eta)[:, None])

    def _further_effects(self) -> RoundEffects:
        """Effects of this and the next rounds, in which nothing is observed."""
        if self.linear is None and self.observed.hessian is not None:
            self.linear = LinearRound.of(self.observed.hessian, self.observed.slopes, self.descent.momentum)
        etas = self._next_step_sizes()
        end = sys.maxsize if etas is None else self.round + len(etas)
        return RoundEffects(self.round, end, self.observed.local, self.linear, etas)

    def _next_step_sizes(self) -> Tensor | None:
        """Step sizes from this round to the next observation, (rounds, columns), at most `STEP_SIZES_AT_ONCE`."""
        if self.memories.eta is None:
            return None
        last = self.round + STEP_SIZES_AT_ONCE
        looks = (t for t in range(self.round + 1, last) if self.accuracy.observes_round(t + 1))
        etas = self.on_device(self.memories.eta[self.round : next(looks, last)])
        return etas.repeat_interleave(self.groups, 1)

    def _enter(self) -> Floats:
        """Update the cohorts, and return their sizes."""
        memories, t = self.memories, self.round
        starts = memories.starts[t]
        self.cohorts.leave(self.counts, starts)
        mix = None if memories.mix is None else memories.mix[t]
        self.cohorts.enter(t, memories.admissions[t], memories.ends[t], mix)
        if self.landscape.parts is not None:
            self.observer.hold(self.on_device(self.cohorts.mixture(starts).ravel()))
        self.counts = self.cohorts.counts(starts)
        return self.counts

    def _weights(self) -> Floats:
        """The server's weights, (rows, groups, 1)."""
        if self.groups == 1:
            return np.ones((self.memories.rows, 1, 1))
        return np.asarray(self.memories.weights[self.round][..., np.newaxis])

    def _sample_share(self, n: Floats) -> Floats:
        """A sample's share of its client's memory, (rows, groups, 1); `n` counts the samples of each group."""
        if self.groups > 1:
            return np.where(n > 0, 1 / np.maximum(n, 1), 0.0)
        held = self.memories.ends[self.round] > self.memories.starts[self.round]
        return np.asarray(held.sum(1)[:, np.newaxis, np.newaxis] / np.maximum(n, 1))

    def _observe(self, counts: Floats, ages: Counts) -> Tensor:
        """θ of all columns after a round in which samples are observed."""
        n, columns = counts.sum(0), (-1, len(self.landscape.size))
        given = {
            "share": self.on_device(self._sample_share(n)).flatten(0, 1),
            "scatter": self._of_columns(self.on_device(self.scatter)),
        }
        known = tuple(np.unique(ages).tolist())
        for number in known:
            mine = counts * (ages == number)[:, np.newaxis, np.newaxis, np.newaxis]
            weight = (mine * self.cohorts.weight).sum(0) / np.maximum(mine.sum(0), 1)
            given[f"weight_{number}"] = self.on_device(weight.reshape(columns))
            given[f"share_{number}"] = self.on_device((mine.sum(0) / np.maximum(n, 1)).reshape(-1, 1))
        self.observed = self.path.observe(self.round, known, **self._given(), **given)
        self.fitted = torch.maximum(self.fitted, self.observed.fitted.view(-1, self.groups).amax(1))
        self.effects, self.linear = RoundEffects(self.round, self.round + 1, self.observed.local), None
        return self.observed.theta.clone()

    def _train(self) -> Tensor:
        """θ of all columns after a round in which nothing is observed."""
        if self.path.linear:
            return self.effects.theta_after(self.round, self._of_columns(self.theta))
        return self.path.repeat(self.observed, **self._given())

    def _given(self) -> dict[str, Tensor]:
        """Inputs of all local steps."""
        missed, eta = self.path_risk.missed_slopes, self.descent.eta
        found = {"theta": self._of_columns(self.theta)}
        found |= {"eta": eta} if isinstance(eta, Tensor) else {}
        return found | ({} if missed is None else {"missed": missed})

    def _project(self, counts: Floats) -> Floats:
        """Project onto the ball; returns the factors, (rows, lumps)."""
        self.scatter = self.cohorts.variance(counts)
        factors = self._ball_factors(self.theta, self.scatter)
        if (factors != 1).any():
            self.theta = self.on_device(factors[:, -1:]) * self.theta
            self.cohorts.scale(factors)
            self.scatter = factors**2 * self.scatter
        return factors

    def _ball_factors(self, theta: Tensor, scatter: Floats) -> Floats:
        """Factors that bring a model with this mean path and scatter onto the ball, (rows, lumps); the last column
        scales the path too."""
        first, radius = int(self.landscape.on_the_ball), self.landscape.radius
        norm = np.sqrt(theta.square().sum(1).cpu().numpy() + scatter[:, first:].sum(1))
        factor = (radius / np.maximum(norm, radius))[:, np.newaxis]
        factors: Floats = factor.repeat(scatter.shape[1], axis=1)
        if first:
            factors[:, :1] *= factor == 1
        return factors
