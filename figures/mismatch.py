r"""The gradient mismatch factor \(\chi(t)\) against the printed \(1/n-1/N_{\mathrm{eff}}\), and against Monte Carlo.

At a fixed θ the mean of \(\|\nabla\widehat F^{all}-\nabla\widehat F^{mem}\|^2\) is a factor times the variance of one
sample's gradient. Monte Carlo draws every sample's gradient (a fair ±1) and takes both averages with the weights
counted by `proofs_check.simulator`, without a formula.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from figures.style import DASHES, Floats, Look, Width
from proofs_check.simulator import Snapshot, simulate
from theory.reuse.constant import inverse_effective_constant, mismatch_constant, occupancy_constant
from theory.setting import SettingError, positive, retention

__all__ = ["Mismatch", "compute", "draw", "squared_mismatches"]

SAMPLES_TIMES_ROUNDS_MAX = 250_000
STANDARD_ERRORS_95 = 1.959963984540054  # half the 95 % interval of a mean, in standard errors


@dataclass(frozen=True)
class Mismatch:
    """Factors in rounds 1..T, and Monte Carlo means with the half-widths of their 95 % intervals."""

    K: int
    rate: int
    draws: int
    rounds: Floats
    chi: Floats
    stated: Floats
    measured: Floats
    half_width: Floats

    @property
    def negative(self) -> tuple[int, int] | None:
        """First and last round in which the printed factor is negative."""
        below = self.rounds[self.stated < 0]
        return (int(below[0]), int(below[-1])) if len(below) else None


def compute(
    K: int = 10, rate: int = 5, rounds: int | None = None, draws: int = 4000, seed: int = 0
) -> Mismatch:
    """Both factors of `theory.reuse` under constant admission, and `draws` Monte Carlo draws keyed by the seed."""
    K, T = retention(K), rounds or 4 * K
    positive("the admission rate", rate)
    if rate != int(rate):
        raise SettingError(f"this figure needs a whole admission rate, such as 5, got {rate}")
    most = int((SAMPLES_TIMES_ROUNDS_MAX / rate) ** 0.5)
    if most < 2:
        raise SettingError(
            f"this figure takes at most {SAMPLES_TIMES_ROUNDS_MAX // 4} samples per round, got {rate}"
        )
    if not 2 <= T <= most:
        raise SettingError(f"with {rate} samples per round this figure draws 2 to {most} rounds, got {T}")
    if draws < 2:
        raise SettingError(f"a confidence interval needs at least 2 draws, such as 4000, got {draws}")
    t = np.arange(1.0, T + 1)
    rate = int(rate)
    squares = squared_mismatches(simulate([[rate]] * T, K), draws, np.random.default_rng(seed))
    return Mismatch(
        K=K,
        rate=rate,
        draws=draws,
        rounds=t,
        chi=mismatch_constant(K, t, float(rate)),
        stated=1 / occupancy_constant(K, t, float(rate)) - inverse_effective_constant(K, t, float(rate)),
        measured=squares.mean(axis=1),
        half_width=STANDARD_ERRORS_95 * squares.std(axis=1, ddof=1) / np.sqrt(draws),
    )


def squared_mismatches(rounds: list[Snapshot], draws: int, generator: np.random.Generator) -> Floats:
    """(mean over all uses - mean over the memory)² of random gradients, for each round and draw, all independent."""
    squares = np.empty((len(rounds), draws))
    for row, snapshot in zip(squares, rounds, strict=True):
        memory = set(snapshot.memory)
        gap = [float(w) - (sample in memory) / snapshot.n for sample, w in snapshot.weights.items()]
        gradients = generator.integers(0, 2, size=(len(gap), draws), dtype=np.int8) * 2.0 - 1
        row[:] = (np.array(gap) @ gradients) ** 2
    return squares


def draw(data: Mismatch, look: Look) -> Figure:
    """Draw the factors times n, and the printed factor as a share of χ."""
    with look.applied():
        figure, grid = look.canvas(Width.double, 2.75, 1, 2)
        left, right = grid[0]
        n = occupancy_constant(data.K, data.rounds, float(data.rate))
        bars: dict[str, Any] = look.points() | {"elinewidth": 0.8 * look.scale}
        label = f"Monte Carlo ({data.draws:,} draws, 95 %)"
        left.errorbar(data.rounds, n * data.measured, n * data.half_width, **bars, label=label)
        left.plot(data.rounds, n * data.chi, color=look.corrected, label=r"$\chi$ (corrected)")
        how = {"color": look.stated, "linestyle": DASHES[1], "label": r"$1/n-1/N_{\mathrm{eff}}$ (as stated)"}
        left.plot(data.rounds, n * data.stated, **how)
        left.set_ylabel(r"mismatch factor $\times\ n(t)$")
        left.set_title(rf"(a) mismatch, $K={data.K}$, $\bar\Lambda={data.rate}$")
        some = data.chi > 0
        t, chi = data.rounds[some], data.chi[some]
        right.errorbar(t, data.measured[some] / chi, data.half_width[some] / chi, **bars)
        right.axhline(1, color=look.corrected)
        right.plot(t, data.stated[some] / chi, **(how | {"label": None}))
        right.set_ylabel(r"divided by $\chi(t)$")
        right.set_title(r"(b) share of $\chi$")
        for axes in grid[0]:
            look.zero(axes)
            axes.set(xlabel="round $t$", xlim=(0, data.rounds[-1] + 0.5))
        if data.negative:
            first, last = data.negative
            look.zone(left, first - 0.5, last + 0.5, f"stated: no real root (rounds {first}–{last})")
            look.zone(right, first - 0.5, last + 0.5)
        figure.legend(loc="outside lower center", ncols=4)
    return figure
