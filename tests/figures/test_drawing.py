"""Every figure can be drawn in every style, within its page, from small inputs."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from figures import (
    bound_vs_horizon,
    constraints,
    control,
    design,
    learning,
    measured_mismatch,
    mismatch,
    omegas,
    risk_vs_bound,
    uniformity,
)
from figures.choices import Style
from figures.measured import read
from figures.simulation import Simulation
from figures.style import LOOKS, Look
from theory.setting import Budget, Constants

UNIT = Constants(D=1, sigma=1, eta=Fraction(1, 10), B=1, Pdim=5, E=2, G=1, L=1)
SIMULATION = Simulation(K=9, rate=10, rounds=20, seeds=2)
DATA: dict[Any, Callable[[], Any]] = {
    uniformity: lambda: uniformity.compute((1, 2, 5)),
    mismatch: lambda: mismatch.compute(4, 2, draws=20),
    omegas: lambda: omegas.compute(4, 10, 1000, UNIT, slowness=(10,), others=(2,)),
    bound_vs_horizon: lambda: bound_vs_horizon.compute(9, 10, 10**6, UNIT, SIMULATION),
    control: lambda: control.compute(SIMULATION, UNIT),
    design: lambda: design.compute(Budget(buffers=(8, 12), cost=11, mean_cost=Fraction(11, 2)), UNIT, (20,)),
}
MEASURED: list[Any] = [risk_vs_bound, learning, measured_mismatch, constraints]


def overhang(figure: Figure, look: Look) -> float:
    """By how many inches something reaches beyond the page."""
    with look.applied():
        figure.set_dpi(60)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        box = figure.get_tightbbox(canvas.get_renderer())
    width, height = figure.get_size_inches()
    return float(max(-box.x0, -box.y0, box.x1 - width, box.y1 - height))


@pytest.mark.parametrize("module", DATA, ids=lambda module: module.__name__)
def test_nothing_is_cut_off(module: Any) -> None:
    data = DATA[module]()
    figure = module.draw(
        data, LOOKS[Style.slides]
    )  # its letters are the widest; dark is slides in other colours
    assert overhang(figure, LOOKS[Style.slides]) < 0.01
    assert figure.get_size_inches()[0] == pytest.approx(7.2 * LOOKS[Style.slides].scale)


@pytest.mark.parametrize("module", MEASURED, ids=lambda module: module.__name__)
def test_nothing_of_a_result_is_cut_off(module: Any, result: Path) -> None:
    figure = module.draw(module.compute(read(result)), LOOKS[Style.slides])
    assert overhang(figure, LOOKS[Style.slides]) < 0.01


@pytest.mark.parametrize("term", omegas.TERMS)
def test_one_regret_term_alone_makes_two_panels(term: str) -> None:
    data = omegas.compute(4, 10, 1000, UNIT, slowness=(10,), others=(), terms=(term,))
    assert data.terms == (term,)
    assert len(omegas.draw(data, LOOKS[Style.paper]).axes) == 2


def test_what_a_colour_says_a_dash_and_a_marker_say_too() -> None:
    for look in LOOKS.values():
        policies = [
            look.policy(name)
            for name in ("constant", "oracle", "acdpp", "acdpp-capped", "hybrid", "released")
        ]
        for key in ("color", "linestyle", "marker"):
            assert len({str(how[key]) for how in policies}) == len(policies)


def test_a_figure_leaves_no_state_behind() -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    uniformity.draw(uniformity.compute((2,)), LOOKS[Style.dark])
    assert dict(mpl.rcParams) == before
