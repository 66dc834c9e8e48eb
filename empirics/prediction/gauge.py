"""The expected excess risk of a model that scatters around its mean path."""

from __future__ import annotations

from torch import Tensor

from empirics.prediction.observation import Observer
from empirics.prediction.sampling import Anchor, Whole

__all__ = ["Gauge"]


class Gauge:
    """Excess risk at a mean path, with the curvature that its scatter had when it was last observed.

    Where the landscape shows a sample, the whole population is looked at then, and `anchor` has what the sample misses.
    """

    def __init__(self, observer: Observer) -> None:
        self.observer, land = observer, observer.landscape
        self.anchor = None if land.whole is None else Anchor(land.whole, Whole(land.model, land.groups))
        self.curvature: Tensor  # h with which ½Σ h·scatter is the risk of the scatter

    def __call__(
        self, theta: Tensor, scatter: Tensor, *, observe: bool, least: Tensor | float
    ) -> tuple[Tensor, Tensor]:
        """Expected excess risk above this, and of it what the mean path has, (rows,) each."""
        model = self.observer.landscape.model
        logits = model.logits(theta, model.population.x)
        risk = self.observer.mean_over_population(model.losses(logits, model.population.y))
        if self.anchor is not None:
            if observe:
                self.anchor.look(theta)
            risk = risk + self.anchor.risk(theta)
        path = risk - least
        if observe:
            self.curvature = self.observer.risk_curvature(logits, scatter)
        return path + 0.5 * (self.curvature * scatter).sum(1), path
