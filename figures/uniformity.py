r"""\(\widetilde V(t)\) and \(N_{\mathrm{eff}}/n\) under constant admission: counted, as printed, and corrected."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from figures.style import DASHES, MARKERS, Floats, Look, Width, key
from proofs_check.simulator import simulate
from theory.reuse.constant import occupancy_constant, uniformity_constant, uniformity_constant_as_stated
from theory.setting import SettingError, retention

__all__ = ["OneRetention", "Uniformity", "compute", "draw"]

K_MAX = 200  # more makes counting sample by sample slow, and the axis unreadable


@dataclass(frozen=True)
class OneRetention:
    """The uniformity for one K in rounds 1..T: counted sample by sample, and its two closed forms.

    The stated form has NaN in the rounds `impossible`, where it is outside (0, 1].
    """

    K: int
    rounds: Floats
    counted: Floats
    corrected: Floats
    stated: Floats
    impossible: Floats

    def over_memory(self, uniformity: Floats) -> Floats:
        """N_eff/n, with N = t and n = min(t, K) at one sample per round: the rate cancels."""
        n: Floats = occupancy_constant(self.K, self.rounds, 1.0)
        return self.rounds * uniformity / n

    def over_memory_as_stated(self) -> Floats:
        """N_eff/n with the printed uniformity and the printed n, which is full from round 1 on."""
        return self.rounds * self.stated / self.K


@dataclass(frozen=True)
class Uniformity:
    """Curves in order of K."""

    curves: tuple[OneRetention, ...]
    rounds: int


def compute(retentions: Sequence[int] = (2, 5, 10), rounds: int | None = None) -> Uniformity:
    """Count samples one by one with `proofs_check.simulator`, and evaluate both closed forms of
    `theory.reuse.constant`.

    >>> compute([2, 5]).rounds, compute([2, 5], 20).rounds
    (15, 20)
    """
    horizons = sorted({retention(K) for K in retentions})
    if not horizons or horizons[-1] > K_MAX:
        raise SettingError(f"this figure takes K from 1 to {K_MAX}, such as 2,5,10, got {horizons}")
    T = rounds or 3 * horizons[-1]
    if not 2 <= T <= 3 * K_MAX:
        raise SettingError(f"this figure counts sample by sample, for 2 to {3 * K_MAX} rounds, got {T}")
    return Uniformity(tuple(_one(K, T) for K in horizons), T)


def _one(K: int, T: int) -> OneRetention:
    t = np.arange(1.0, T + 1)
    stated = uniformity_constant_as_stated(K, t)
    possible = (stated > 0) & (stated <= 1)
    return OneRetention(
        K=K,
        rounds=t,
        counted=np.array([float(snapshot.uniformity) for snapshot in simulate([[1]] * T, K)]),
        corrected=uniformity_constant(K, t),
        stated=np.where(possible, stated, np.nan),
        impossible=t[~possible],
    )


def draw(data: Uniformity, look: Look) -> Figure:
    """Draw the uniformity, and the effective sample size over the memory's size."""
    with look.applied():
        figure, grid = look.canvas(Width.double, 2.75, 1, 2)
        left, right = grid[0]
        every = max(data.rounds // 30, 1)
        for place, curve in enumerate(data.curves):
            colour, points = _marks(look, place)
            left.plot(curve.rounds, curve.corrected, color=colour)
            left.plot(curve.rounds, curve.stated, color=colour, linestyle=DASHES[1])
            left.plot(curve.rounds, curve.counted, **points, markevery=every)
            crosses = {"marker": "x", "linestyle": "none", "color": colour}
            left.plot(curve.impossible, np.full(len(curve.impossible), 0.03 + 0.05 * place), **crosses)
            right.plot(curve.rounds, curve.over_memory(curve.corrected), color=colour)
            right.plot(curve.rounds, curve.over_memory_as_stated(), color=colour, linestyle=DASHES[1])
            right.plot(curve.rounds, curve.over_memory(curve.counted), **points, markevery=every)
        right.axhspan(0, 1, facecolor=look.faint, edgecolor=look.faint, zorder=0)
        left.set(ylim=(0, 1.03), ylabel=r"$\widetilde{V}(t)$")
        right.set(ylim=(0, 2.5), ylabel=r"$N_{\mathrm{eff}}(t)\,/\,n(t)$")
        for axes in grid[0]:
            axes.set(xlim=(0.5, data.rounds + 0.5), xlabel="round $t$")
        left.set_title("(a) uniformity of reuse")
        right.set_title("(b) effective sample size over memory size")
        figure.legend(handles=_legend(data, look), loc="outside lower center", ncols=4)
    return figure


def _marks(look: Look, place: int) -> tuple[str, dict[str, Any]]:
    colour = look.series[place % len(look.series)]
    return colour, look.points(MARKERS[place % len(MARKERS)]) | {"color": colour}


def _legend(data: Uniformity, look: Look) -> list[Any]:
    return [
        *(key(f"$K={curve.K}$", **_marks(look, i)[1]) for i, curve in enumerate(data.curves)),
        key("counted", **look.points()),
        key("corrected", color=look.ink),
        key("as stated", color=look.ink, linestyle=DASHES[1]),
        key("stated, not in (0, 1]", color=look.ink, linestyle="none", marker="x"),
        Patch(facecolor=look.faint, label=r"$N_{\mathrm{eff}}<n$"),
    ]
