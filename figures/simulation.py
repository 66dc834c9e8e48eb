"""ACDPP's control loop on simulated costs, for figures that need a trajectory without training."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from empirics.control.prices import make_prices
from empirics.settings.costs import CostProcess
from figures.options import Track, silently
from figures.style import Floats
from theory.control.admission import AdmissionState, acdpp_round
from theory.setting import Constants, Region, SettingError, horizon, positive, retention

__all__ = ["SimulatedRuns", "Simulation", "play"]


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """Settings of a simulation. Costs are uniform on [1, 10], as in the paper, and the budget C affords the target rate
    on average. V and ρ default to the paper's remark with γ = φ = 1/2: V = √T and ρ = 1 - 1/√T.

    >>> Simulation(K=10, rate=10, rounds=400).C
    55.0
    """

    K: int
    rate: Any
    rounds: int
    seeds: int = 20
    seed: int = 0
    rho: Any = None
    V: Any = None
    cost: CostProcess = field(default_factory=CostProcess)

    def __post_init__(self) -> None:
        retention(self.K)
        horizon(self.rounds)
        if type(self.seeds) is not int or self.seeds < 1:
            raise SettingError(f"seeds must be a whole number of at least 1, such as 20, got {self.seeds!r}")
        if self.rounds < 2:
            raise SettingError(f"a simulation needs at least 2 rounds, such as 1000, got {self.rounds}")
        root = math.sqrt(self.rounds)
        for name, default in {"V": root, "rho": 1 - 1 / root}.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, default)
        positive("V", self.V)

    @property
    def region(self) -> Region:
        """The contracting region around the target rate."""
        return Region(rate=float(self.rate), rho=float(self.rho))

    @property
    def C(self) -> float:
        """The cost budget per round."""
        return float(self.cost.mean) * float(self.rate)

    @property
    def total_buffer(self) -> float:
        """ΣB = KΛ̄, filled by constant admission at the target rate."""
        return self.K * float(self.rate)


@dataclass(frozen=True)
class SimulatedRuns:
    """Arrays of shape (rounds, seeds): costs, admissions, and the debt at the beginning of each round."""

    cost: Floats
    admitted: Floats
    debt: Floats


def play(
    setting: Simulation, constants: Constants, *, capped: bool = False, track: Track = silently
) -> SimulatedRuns:
    """Run Algorithm 1 in every round, all seeds at once; `capped` limits admissions to the free places."""
    prices = make_prices(setting.cost)
    costs = np.concatenate(list(prices.chunks(setting.seed, setting.seeds, setting.rounds, setting.rounds)))
    state = AdmissionState.initial(setting.seeds, setting.K)
    rules: dict[str, Any] = {
        "V": float(setting.V),
        "C": setting.C,
        "region": setting.region,
        "constants": constants.map(float).merged,
        "capacity": setting.total_buffer if capped else None,
    }
    admitted, debt = np.empty_like(costs), np.empty_like(costs)
    for t in track(range(setting.rounds)):
        debt[t] = state.debt
        state, admitted[t] = acdpp_round(state, costs[t], **rules)
    return SimulatedRuns(costs, admitted, debt)
