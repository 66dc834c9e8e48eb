"""The expected excess risk of a model that scatters around its mean path."""

from __future__ import annotations

from torch import Tensor

from empirics.prediction.loss_landscape import mixed
from empirics.prediction.observation import Observer
from empirics.prediction.subsample import Anchor, Whole

__all__ = ["Gauge"]


class Gauge:
    """Excess risk at a mean path, with the curvature that its scatter had when it was last observed.

    Where the landscape shows samples, the whole population is looked at then, and `anchors` have what the samples
    miss: one, or of a population that moves one for each part.
    """

    def __init__(self, observer: Observer) -> None:
        self.observer, land = observer, observer.landscape
        self.anchors: list[Anchor] = []
        if land.whole is not None and land.parts is None:
            self.anchors = [Anchor(land.whole, Whole(land.model, land.groups))]
        elif land.whole is not None and land.parts is not None:
            seen = Whole(land.model, land.groups, land.parts.stacked)
            self.anchors = [Anchor(land.whole.of_part(k), seen.of_part(k)) for k in range(2)]
        self.curvature: Tensor  # h with which ½Σ h·scatter is the risk of the scatter

    def look(self, theta: Tensor) -> None:
        """At the whole population, if the landscape shows a sample."""
        for anchor in self.anchors:
            anchor.look(theta)

    def __call__(
        self, theta: Tensor, scatter: Tensor, *, observe: bool, least: Tensor | float
    ) -> tuple[Tensor, Tensor]:
        """Expected excess risk above this, and of it what the mean path has, (rows,) each; (rounds, rows) of many
        rounds, (rounds, rows, parameters) and (rounds, rows, lumps), in which nothing is observed."""
        model = self.observer.landscape.model
        logits = model.logits(theta, model.population.x)
        risk = self.observer.mean_over_population(model.losses(logits, model.population.y))
        risk = risk.view(theta.shape[:-1])
        if observe:
            self.look(theta)
        if self.anchors:
            risk = risk + self._of_parts([one.risk(theta) for one in self.anchors], self.observer.faced)
        path = risk - least - self._strayed(theta)
        if observe:
            self.curvature = self.observer.risk_curvature(logits, scatter)
        return path + 0.5 * (self.curvature * scatter).sum(-1), path

    def _strayed(self, theta: Tensor) -> Tensor | float:
        """What mean paths of several samples have too much: they stray from the population's, each its own way, and by
        as much as they lie apart on average."""
        land = self.observer.landscape
        if land.samples == 1:
            return 0.0
        each = theta.view(*theta.shape[:-2], land.samples, -1, theta.shape[-1])
        apart = land.squares((each - each.mean(-3, keepdim=True)).flatten(0, -2))
        first = int(land.on_the_ball)  # whose radius is no way to stray
        steepness = (land.curvature + land.multiplier)[first:]
        risk = 0.5 * (apart[:, first:] @ steepness).view(each.shape[:-1])
        return (risk.sum(-2, keepdim=True) / (land.samples - 1)).expand_as(risk).flatten(-2)

    def _of_parts(self, each: list[Tensor], w: Tensor) -> Tensor:
        return each[0] if len(each) == 1 else mixed(each, w)

    @property
    def slopes(self) -> Tensor | None:
        """What samples miss of the gradients of all columns, if there are samples."""
        if not self.anchors:
            return None
        return self._of_parts([one.slopes for one in self.anchors], self.observer.held.reshape(-1, 1))
