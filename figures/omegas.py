r"""\(\Omega_1,\Omega_2,\Omega_3\) divided by their claimed order and by the true order, which makes them constant.

Lines are sums in float64; points are certified balls with their radii, too small to be seen, as error bars. The claims:
\(\Omega_1=O(1)\), true of the printed mismatch, while with χ it grows like \(\log T\);
\(\Omega_2=O(1/(1-\rho))\), true; \(\Omega_3=O(\log T)\), false for K >= 2, where it grows like \(\sqrt{T\log T}\).
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from figures.options import Track, silently
from figures.style import DASHES, MARKERS, Floats, Look, Width, decades, key, letter
from theory.bound.constant_admission import constant_breaks, constant_round, sum_rounds
from theory.bound.theorem1 import Terms, generalisation_term, linear_term, root_term
from theory.control import penalty
from theory.numbers.algebra import ball, precise, ratio
from theory.regret.omegas import omega3_limit
from theory.reuse.constant import inverse_effective_constant, occupancy_constant
from theory.setting import Constants, Region, SettingError, horizon, retention

__all__ = ["TERMS", "Omegas", "RegretCurve", "compute", "draw", "regret_term"]

TERMS = ("omega1", "omega2", "omega3")
FLOAT_T_MAX = 10**12  # beyond, the difference of two float sums that are linear in T shows their rounding
SLOWNESS_MAX = 10**7  # 1/(1-ρ); its Ω₂ has converged at T = FLOAT_T_MAX
LINE_POINTS = 61


@dataclass(frozen=True)
class RegretCurve:
    """A regret term: float sums `line` at `x`, with their part `generalisation`, and balls at `at`."""

    x: Floats
    line: Floats
    generalisation: Floats
    at: Floats
    middle: Floats
    radius: Floats


@dataclass(frozen=True)
class Omegas:
    """Curves by name: ("omega1", form) over T, ("omega2", form) over 1/(1-ρ), ("omega2", ρ) over T,
    ("omega3", K) over T; and by K the limits of Ω₃/√(T log T). A form is "corrected" or "stated".
    """

    K: int
    curves: dict[tuple[str, Any], RegretCurve]
    limits: dict[int, float]
    converged: int

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms with curves."""
        return tuple(dict.fromkeys(term for term, _ in self.curves))


def regret_term(
    term: str,
    form: str,
    K: int,
    rate: Any,
    T: int,
    constants: Constants,
    *,
    rho: Any = None,
    certified: bool = False,
) -> Terms:
    """The term ("omega1", "omega2", "omega3") of constant admission over T rounds, "corrected" or "stated".

    The differences are those of `theory.regret.omegas`, with fast floats; only Ω₂ needs ρ.
    """
    stated = form == "stated"
    system: Callable[[Any], Any] = ball if certified else float
    given = constants.map(system) if stated else constants.map(system).merged
    Lambda = system(rate)
    parts: tuple[Callable[[Any], Terms], Callable[[Any], Terms]]
    if term == "omega1":
        bound = _printed_round if stated else constant_round
        parts = (partial(_at, bound, K, Lambda, given), partial(_at, penalty.penalty_limit, K, Lambda, given))
    else:
        limit = penalty.penalty_limit_as_stated if stated else penalty.penalty_limit
        limit = partial(_at, limit, K, Lambda, given)
        if term == "omega2":
            comparison = penalty.penalty_comparison_as_stated if stated else penalty.penalty_comparison
            region = Region(rate=Lambda, rho=system(rho))
            parts = (lambda t: comparison(K, t, region, given), limit)
        else:
            parts = (limit, partial(_at, constant_round, 1, K * Lambda, given))
    breaks = (*constant_breaks(K, rate, constants), K + 1, int(constants.Pdim / (K * rate)))
    with precise() if certified else nullcontext():
        more, less = (sum_rounds(part, T, breaks, certified=certified).terms for part in parts)
        return more - less


def _at(formula: Callable[..., Terms], K: int, rate: Any, constants: Constants, t: Any) -> Terms:
    return formula(K, t, rate, constants)


def _printed_round(K: int, t: Any, rate: Any, constants: Constants) -> Terms:
    """A round of Theorem 1 as printed, with 1/n - 1/N_eff for χ, on the true trajectory of constant admission."""
    inverse = inverse_effective_constant(K, t, rate)
    gap = ratio(1, occupancy_constant(K, t, rate)) - inverse
    return Terms(
        root=root_term(gap, constants),
        linear=linear_term(gap, constants),
        generalisation=generalisation_term(inverse, rate * t, constants),
    )


def _curve(value: Callable[[Any, bool], Terms], x: Sequence[Any], at: Sequence[Any]) -> RegretCurve:
    line = [value(point, False) for point in x]
    with precise():
        balls = [value(point, True).total for point in at]
    return RegretCurve(
        x=np.array(x, dtype=float),
        line=np.array([float(terms.total) for terms in line]),
        generalisation=np.array([float(terms.generalisation) for terms in line]),
        at=np.array(at, dtype=float),
        middle=np.array([float(b.mid()) for b in balls]),
        radius=np.array([float(b.rad()) for b in balls]),
    )


def compute(
    K: int,
    rate: Any,
    T: int,
    constants: Constants,
    *,
    others: Sequence[int] = (2, 100),
    slowness: Sequence[int] = (10, 100, 1000),
    terms: Sequence[str] = TERMS,
    track: Track = silently,
) -> Omegas:
    """Float sums everywhere, balls at a few T. `others`: further K for Ω₃; `slowness`: the 1/(1-ρ) with balls."""
    K, T = retention(K), horizon(T)
    if not 10**3 <= T <= 10**15:
        raise SettingError(
            f"an order shows only at large T: the horizon must lie between 10^3 and 10^15, got {T}"
        )
    if K == 1:
        raise SettingError("at K = 1 nothing is reused, and Ω₁ and Ω₃ vanish: choose K of at least 2")
    if not terms or not set(terms) <= set(TERMS):
        raise SettingError(f"the regret's terms are {', '.join(TERMS)}, got {', '.join(terms) or 'none'}")
    converged = min(T, FLOAT_T_MAX)
    far, near = _horizons(T), _horizons(min(T, FLOAT_T_MAX))
    proved = [10**k for k in (3, 7, 11, 15) if 10**k <= T]
    retentions = sorted({K, *map(retention, others)} - {1})

    def over_T(term: str, form: str = "corrected", k: int = K, rho: Fraction | None = None) -> Any:
        return lambda T, certified: regret_term(
            term, form, k, rate, T, constants, rho=rho, certified=certified
        )

    def over_slowness(form: str) -> Any:
        return lambda s, certified: regret_term(
            "omega2", form, K, rate, converged, constants, rho=1 - 1 / Fraction(s), certified=certified
        )

    plans: dict[tuple[str, Any], tuple[Any, Sequence[Any], Sequence[Any]]] = {}
    for form in ("corrected", "stated"):
        plans["omega1", form] = over_T("omega1", form), near, proved
    for form in ("corrected", "stated"):
        plans["omega2", form] = (
            over_slowness(form),
            list(np.geomspace(2, min(SLOWNESS_MAX, T), LINE_POINTS)),
            slowness,
        )
    for s in slowness:
        plans["omega2", s] = over_T("omega2", rho=1 - Fraction(1, s)), near, proved[:2]
    for k in retentions:
        plans["omega3", k] = over_T("omega3", k=k), far, proved
    curves = {name: _curve(*plans[name]) for name in track([name for name in plans if name[0] in terms])}
    limits = {k: float(omega3_limit(k, rate, constants)) for k in retentions}
    return Omegas(K, curves, limits, converged)


def _horizons(T: int) -> list[int]:
    """Whole T from 10 on, where log T is meaningful as an order."""
    return sorted({round(x) for x in np.geomspace(10, T, LINE_POINTS)})


def draw(data: Omegas, look: Look) -> Figure:
    """Draw each term divided by its claimed order, and by its true order."""
    painters = {"omega1": _draw_omega1, "omega2": _draw_omega2, "omega3": _draw_omega3}
    terms = data.terms
    with look.applied():
        if len(terms) == 1:
            figure, grid = look.canvas(Width.double, 2.6, 1, 2)
            pairs = [(grid[0, 0], grid[0, 1])]
        else:
            figure, grid = look.canvas(Width.double, 4.6, 2, len(terms))
            pairs = [(upper, lower) for upper, lower in grid.T]
        for term, (upper, lower) in zip(terms, pairs, strict=True):
            painters[term](upper, lower, data, look)
        letter(grid.ravel())
        for axes in grid.ravel():
            axes.legend()
        enclosed = key("certified enclosure (error bar: its radius)", **look.points())
        handles = [key("float sum", color=look.ink), enclosed]
        figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return figure


def _paint(axes: Axes, look: Look, curve: RegretCurve, order: Any, place: int, **how: Any) -> None:
    """Draw a line and its balls divided by order(x); beyond the float sums the line joins the balls."""
    how = {"color": look.series[place % len(look.series)]} | how
    beyond = curve.at > curve.x[-1]
    x, y = np.append(curve.x, curve.at[beyond]), np.append(curve.line, curve.middle[beyond])
    axes.plot(x, y / order(x), **how)
    bars = look.points(MARKERS[place % len(MARKERS)]) | {"color": how["color"]}
    axes.errorbar(curve.at, curve.middle / order(curve.at), curve.radius / order(curve.at), **bars)


def _draw_omega1(upper: Axes, lower: Axes, data: Omegas, look: Look) -> None:
    labels = {"corrected": r"with $\chi$", "stated": r"with $1/n-1/N_{\mathrm{eff}}$"}
    for place, (form, label) in enumerate(labels.items()):
        curve = data.curves["omega1", form]
        how: dict[str, Any] = {"color": getattr(look, form), "linestyle": DASHES[place], "label": label}
        _paint(upper, look, curve, np.ones_like, place, **how)
        growth = np.diff(curve.line) / np.diff(np.log(curve.x))
        lower.plot(np.sqrt(curve.x[1:] * curve.x[:-1]), growth, **how)
    for axes in (upper, lower):
        decades(axes)
        axes.set_xlabel("$T$")
    look.zero(lower)
    upper.set(title=r"$\Omega_1$, claimed $O(1)$", ylabel=r"$\Omega_1(T)$", ylim=(0, None))
    lower.set(title=r"$\Omega_1$, truly $\log T$", ylabel=r"$\Delta\Omega_1\,/\,\Delta\log T$")


def _draw_omega2(upper: Axes, lower: Axes, data: Omegas, look: Look) -> None:
    labels = {"stated": "comparison as stated", "corrected": "repaired"}
    for place, (form, label) in enumerate(labels.items()):
        how = {"color": getattr(look, form), "linestyle": DASHES[1 - place], "label": label}
        _paint(upper, look, data.curves["omega2", form], lambda s: s, place, **how)
    repaired = data.curves["omega2", "corrected"]
    rest = (repaired.line - repaired.generalisation) / repaired.x
    upper.plot(repaired.x, rest, color=look.corrected, linestyle=DASHES[2], label="its first two terms")
    slow = [key for term, key in data.curves if term == "omega2" and isinstance(key, int)]
    for place, s in enumerate(slow):
        label = rf"$1-\rho=10^{{-{round(np.log10(s))}}}$" if np.log10(s) % 1 == 0 else rf"$1-\rho=1/{s}$"
        how = {"linestyle": DASHES[place % len(DASHES)], "label": label}
        _paint(lower, look, data.curves["omega2", s], lambda T, s=s: np.full_like(T, s), place, **how)
    decades(upper)
    decades(upper, vertical=True)
    decades(lower)
    upper.set_ylim(top=8 * upper.get_ylim()[1])  # room for the legend
    upper.set(title=r"$\Omega_2$, claimed $O(1/(1-\rho))$", xlabel=r"$1/(1-\rho)$")
    upper.set_ylabel(r"$(1-\rho)\,\Omega_2$")
    lower.set(title=r"$\Omega_2$, bounded in $T$", xlabel="$T$", ylim=(0, None))
    lower.set_ylabel(r"$(1-\rho)\,\Omega_2(T)$")


def _draw_omega3(upper: Axes, lower: Axes, data: Omegas, look: Look) -> None:
    curves = {key: curve for (term, key), curve in data.curves.items() if term == "omega3"}
    for place, (K, curve) in enumerate(curves.items()):
        how = {"linestyle": DASHES[place % len(DASHES)], "label": f"$K={K}$"}
        _paint(upper, look, curve, np.log, place, **how)
        _paint(lower, look, curve, lambda T: np.sqrt(T * np.log(T)), place, **(how | {"label": None}))
        lower.axhline(data.limits[K], color=look.series[place % len(look.series)], linewidth=0.6 * look.scale)
    limit = r"$20B\sqrt{\mathrm{Pdim}/\bar{\Lambda}}\,(1-1/\sqrt{K})$"
    lower.plot([], [], color=look.ink, linewidth=0.6 * look.scale, label=limit)
    decades(upper)
    decades(upper, vertical=True)
    decades(lower)
    upper.set(title=r"$\Omega_3$, claimed $O(\log T)$", ylabel=r"$\Omega_3(T)\,/\,\log T$", xlabel="$T$")
    lower.set(title=r"$\Omega_3$, truly $\sqrt{T\log T}$", xlabel="$T$")
    lower.set(ylabel=r"$\Omega_3(T)\,/\sqrt{T\log T}$", ylim=(0, 1.3 * max(data.limits[K] for K in curves)))
