"""Observation of samples along the mean path: their residuals, curvature and noise, by age class."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from empirics.prediction import residuals
from empirics.prediction.local_steps import AgeClass, LocalSteps
from empirics.prediction.loss_landscape import LossLandscape, mixed

__all__ = ["Observer", "ProbeCalibration"]

PROBE_RATIO_MAX = 3  # of the probes' value of a lump to the exact one or back, beyond which it is not used


@dataclass(frozen=True)
class _ObservedStep:
    """Values shared by all ages at an observed local step, (population, columns, …) each."""

    others: Tensor  # logits under the other samples' pull alone
    residual: Tensor  # at the mean path
    smoothed: Tensor  # change of probabilities by scatter
    bend: Tensor
    variance: Tensor  # of the logits
    kernels: list[Tensor]  # weights of the pulls since each earlier observation
    steps: int  # until the next observation


class Observer:
    """Observes all samples of a landscape for a number of rows."""

    def __init__(self, landscape: LossLandscape, rows: int) -> None:
        self.landscape = landscape
        self.rows = rows
        # weight of a drifting population's second part: in the population, in memories
        self.faced = self.held = landscape.groups.new_zeros(())
        self.p = landscape.groups.T.repeat(1, rows)  # (population, columns)
        self.p_probes = landscape.of_probes(landscape.groups).repeat(1, rows)
        model, population = landscape.model, landscape.model.population
        every = len(landscape.probes) == len(population.y)
        self.probes: Tensor | slice = slice(None) if every else landscape.probes  # a slice copies nothing
        x, y = population.x[..., self.probes, :], population.y[self.probes]
        self.probed = type(model)(replace(population, x=x, y=y))
        self.everyone = population.weights.T
        self.everyone_probed = self.everyone[landscape.probes] / self.everyone[landscape.probes].sum()
        self._compare_probes()

    def face(self, w: Tensor) -> None:
        """Set the weight of the second part in a drifting population."""
        parts = self.landscape.parts
        assert parts is not None
        self.faced = w
        self.everyone = mixed(parts.everyone, w)[:, None]
        probed = self.everyone[self.landscape.probes]
        self.everyone_probed = probed / probed.sum()

    def hold(self, w: Tensor) -> None:
        """Set the weights of the second part in memories, (columns,)."""
        parts, land = self.landscape.parts, self.landscape
        assert parts is not None
        self.held = w
        self.p = mixed([one.T.repeat(1, self.rows) for one in parts.groups], w)
        self.p_probes = mixed([land.of_probes(one).repeat(1, self.rows) for one in parts.groups], w)

    def _compare_probes(self) -> None:
        """Calibrate the probes' curvature and noise at the minimiser to those of the whole population."""
        land, model, p = self.landscape, self.landscape.model, self.everyone_probed
        logits = model.logits(land.best.theta.repeat(land.samples, 1), model.population.x)
        residual = model.residual(logits, model.targets[:, None])[land.probes]
        square = p[..., None, None] * residual[..., None] * residual[..., None, :]
        noise = land.along(square) - land.squares(self.probed.weighted_inputs(p[..., None] * residual))
        self.to_curvature = ProbeCalibration(land.curvature, self._plain_curvature(logits))
        self.to_noise = ProbeCalibration(land.noise, noise)

    def _plain_curvature(self, logits: Tensor) -> Tensor:
        """The probes' mean curvature at these logits without scatter, (columns, lumps)."""
        land, probed = self.landscape, logits[self.landscape.probes]
        curvature = residuals.view(probed, torch.zeros_like(probed[..., 0])).curvature
        return land.along(self.everyone_probed[..., None, None] * curvature) / land.size

    # --- at the mean path ----------------------------------------------------------------------------------

    def mean_over_population(self, values: Tensor) -> Tensor:
        """Mean of (population, columns) over the population."""
        return (self.everyone * values).sum(0)

    def risk_curvature(self, logits: Tensor, scatter: Tensor) -> Tensor:
        """Curvature with which ½Σ h·scatter is the loss that scatter adds, (columns, lumps)."""
        land, model = self.landscape, self.landscape.model
        variance = land.levered(scatter / land.size)
        moves, weights = residuals.scattered(variance, model.outputs)
        moved = logits[..., None, :] + moves
        losses = model.losses(moved.flatten(1, 2), model.population.y).view(moved.shape[:-1]) @ weights
        true = (self.everyone * (losses - model.losses(logits, model.population.y))).sum(0)
        steepness = residuals.view(logits, torch.zeros_like(variance)).steepness
        plain = 0.5 * (self.everyone * steepness * variance).sum(0)
        freedom = max(model.outputs - 1, 1)
        factor = torch.where(plain > 0, true / (freedom * plain).clamp(min=1e-300), 1)
        return self.to_curvature(self._plain_curvature(logits)) * factor[:, None]

    # --- at a local step -----------------------------------------------------------------------------------

    def residuals(self, local: LocalSteps, logits: Tensor, q: Tensor, steps: int) -> Tensor:
        """Mean residuals of samples at a local step; `steps` is the number to the next observation.

        `logits` and probabilities `q` are those of the mean path. Sets the rates of `local`.
        """
        land = self.landscape
        if local.first_logits is None:
            local.first_logits = logits
        variance = land.levered(local.variance(land.size))
        fresh = residuals.view(logits, variance)
        step = _ObservedStep(
            others=logits + local.sample_share * (local.first_logits - logits),
            residual=q - land.model.targets[:, None],
            smoothed=fresh.chances - q,
            bend=fresh.bend,
            variance=variance,
            kernels=[land.levered(pulls) for pulls in local.pulls_since_observations()],
            steps=steps,
        )
        ages = list(local.ages.values())
        seen = [self._observe_age(age, step) for age in ages]
        local.observe(*self._of_ages(ages, *(torch.stack(one, 2) for one in zip(*seen, strict=True))), steps)
        return torch.as_tensor(residuals.total(age.share * age.residuals[-1] for age in ages))

    def _observe_age(self, age: AgeClass, step: _ObservedStep) -> tuple[Tensor, Tensor]:
        """For samples of this age, the second moment of each probe's pulls in the round so far, and its curvature,
        (probes, columns, O, O) each."""
        land, probes, targets = self.landscape, self.probes, self.landscape.model.targets[:, None]
        earlier = zip(step.kernels, age.residuals, strict=True)
        here = step.others - residuals.total(kernel[..., None] * residual for kernel, residual in earlier)
        pull = land.levered(age.weight)
        seen = residuals.View(residuals.shifted(here, step.smoothed), step.bend)
        if age.used:
            if not age.residuals:
                age.saturation = residuals.saturation(self.p, here, targets, pull, seen, step.smoothed)
            pull = pull / age.saturation
            here, seen = residuals.at_rest(here, targets, pull, seen, step.smoothed)
        residual = seen.chances - targets
        probed = residuals.View(seen.chances[probes], seen.bend[probes])
        earlier = zip(step.kernels, age.responses, strict=True)
        before = residuals.total(kernel[probes][..., None, None] * response for kernel, response in earlier)
        response = residuals.resolved(probed, pull[probes], before)
        age.residuals.append(residual)
        age.responses.append(response)
        age.observe(residual[probes], response, step.steps)
        square = age.total_residual[..., None] * age.total_residual[..., None, :]
        if age.recent:  # for old samples scatter averages out
            square = square + residuals.covariance(here[probes], step.variance[probes], age.total_response)
        age.damping = residuals.mean_damping(self.p, step.residual, residual)[:, None]
        return square, probed.turned(response.mT)

    def _of_ages(self, ages: list[AgeClass], square: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
        """Noise and mean curvature of each age from the probes' values, (ages, columns, lumps) each."""
        land, p = self.landscape, self.p_probes[..., None]
        every = p[..., None, None] * torch.cat([square, turned], 2)
        along = land.along(every.flatten(1, 2)).view(-1, 2, len(ages), len(land.size))
        residual = p[..., None] * torch.stack([age.total_residual for age in ages], 2)
        slope = land.squares(self.probed.weighted_inputs(residual.flatten(1, 2))).view_as(along[:, 0])
        noise = self.to_noise((along[:, 0] - slope).flatten(0, 1)).clamp(min=0)
        curvature = self.to_curvature((along[:, 1] / land.size).flatten(0, 1))
        return noise.view_as(slope).transpose(0, 1), curvature.view_as(slope).transpose(0, 1)


class ProbeCalibration:
    """Factors from the probes' values, by lump, to the whole population's: exact at the minimiser.

    `exact` is (lumps,) and the values of each subsample are (subsamples, lumps). Lumps that the probes hardly cover,
    such as pixels that are nearly always dark, change like all others together.
    """

    def __init__(self, exact: Tensor, probed: Tensor) -> None:
        self.exact = exact
        self.known = (probed * PROBE_RATIO_MAX > exact) & (probed < PROBE_RATIO_MAX * exact)
        self.factor = torch.where(self.known, exact / probed, 0)

    def __call__(self, probed: Tensor) -> Tensor:
        known, factor = self.known[:, None], self.factor[:, None]
        found = factor * probed.view(len(known), -1, probed.shape[-1])
        change = found.sum(-1, keepdim=True) / (self.exact * known).sum(-1, keepdim=True)
        return torch.where(known, found, change * self.exact).flatten(0, 1)
