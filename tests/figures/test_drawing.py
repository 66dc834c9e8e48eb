"""Every figure can be drawn within its page, from small inputs, and says in words and marks what it shows."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from empirics.settings.study import Study
from figures import (
    bound_vs_horizon,
    constraints,
    control,
    design,
    explained,
    learning,
    measured_mismatch,
    mismatch,
    money,
    omegas,
    prediction,
    prices,
    retention,
    risk_vs_bound,
    section7,
    uniformity,
)
from figures.measured import Measured, read
from figures.options import Style
from figures.simulation import Simulation
from figures.style import LOOKS, POLICIES, key, readable
from proofs_check.experiments.reproduction import Reproduction
from tests.figures.small import PAPER, SLIDES, UNIT, cut, fits
from tests.recorded import held, numbers
from tests.refused import refused
from theory.setting import Budget

OF_A_RESULT = (prediction, risk_vs_bound, learning, measured_mismatch, constraints, money)
OWN = ("mine", "my_module:MyPolicy", "_hidden", "cost$aware$", "some.package.of.mine:APolicyWithALongName")


@pytest.mark.parametrize("module", OF_A_RESULT, ids=lambda module: module.__name__)
@pytest.mark.parametrize(
    "part",
    [{"rounds": 1, "seeds": 1, "names": ["mine"]}, {"rounds": 2}, {"names": [*POLICIES, *OWN, "twelfth"]}],
    ids=["one of all", "two rounds", "many policies"],
)
def test_a_result_of_any_size_and_any_policies_is_drawn(module: Any, part: Any, measured: Measured) -> None:
    small = cut(measured, **part)
    figure = module.draw(module.compute(small), SLIDES)
    # what fits with one round or with most policies fits with two rounds
    assert part == {"rounds": 2} or fits(figure)
    (legend,) = figure.legends
    assert small.note("")[1:] in legend.get_title().get_text().replace("\n", " ")
    if module in (learning, constraints):
        shown = [text.get_text() for text in legend.get_texts()]
        assert [readable(name) for name in small.policies] == shown[: len(small.policies)]


def test_long_results_make_no_huge_artists(measured: Measured) -> None:
    rounds = 20_000
    shape = len(measured.policies), 1, rounds
    columns = {name: np.resize(column, shape) for name, column in measured.columns.items()}
    long = replace(measured, seeds=1, horizon=rounds, columns=columns)
    for module in (learning, constraints, measured_mismatch):
        figure = module.draw(module.compute(long), PAPER)
        assert max(len(line.get_xdata()) for axes in figure.axes for line in axes.lines) < 4000


@pytest.mark.parametrize("own", [12 - len(POLICIES), 6, 12])
def test_twelve_policies_of_any_name_can_be_told_apart(own: int) -> None:
    names = [*POLICIES[: 12 - own], *(f"own {i}" for i in range(own))]
    for look in LOOKS.values():
        looks = look.policies(names)
        assert list(looks) == names
        built_in = {name: looks[name] for name in names if name in POLICIES}
        assert built_in == {name: look.policy(name) for name in built_in}
        for part in ("color", "linestyle", "marker"):  # what a colour says, a dash and a marker say too
            assert len({str(how[part]) for how in built_in.values()}) == len(built_in)
        colours = {how["color"].upper() for how in looks.values()} | {look.ink, look.ground}
        assert len(colours) == len(names) + 2
        assert len({(how["marker"], how.get("markerfacecolor")) for how in looks.values()}) == len(names)
        assert looks == look.policies(names)


def test_a_name_is_shown_as_it_is_or_shortened_in_the_middle() -> None:
    assert readable("my_module:MyPolicy") == "my_module:MyPolicy"
    assert readable("_hidden") == " _hidden"  # older versions of matplotlib leave _names out of legends
    assert len(readable("x" * 100)) < 30
    assert readable("package:" + "x" * 100 + "End").endswith("xEnd")


def test_ticks_and_letters_grow_with_the_page_areas_have_no_outline_and_counted_points_are_hollow() -> None:
    data, lengths = mismatch.compute(4, 2, rounds=9, draws=20), []
    for look in (PAPER, SLIDES):
        (axes, *_) = (figure := mismatch.draw(data, look)).axes
        tick, (legend,) = axes.xaxis.get_major_ticks()[0], figure.legends
        letters = (tick.label1, axes.title, *legend.get_texts())
        lengths.append([tick.tick1line.get_markersize(), *(text.get_fontsize() for text in letters)])
        assert {area.get_linewidth() for area in axes.patches} == {0}
        [points] = [line for line in axes.lines if line.get_marker() == "o"]
        assert (points.get_color(), points.get_markerfacecolor()) == (look.ink, look.ground)
    assert np.divide(*lengths[::-1]) == pytest.approx(SLIDES.scale / PAPER.scale)


def test_a_legend_has_as_many_entries_in_each_row() -> None:
    figure = Figure(figsize=(3.5, 2))
    PAPER.legend(figure, [key(f"policy {i}") for i in range(4)])  # three would fit into the first row
    figure.draw_without_rendering()
    left = [round(text.get_window_extent().x0) for text in figure.legends[0].get_texts()]
    assert left[0] == left[1] < left[2] == left[3]


def test_a_figure_leaves_no_state_behind() -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    uniformity.draw(uniformity.compute((2,)), LOOKS[Style.dark])
    assert dict(mpl.rcParams) == before


def test_bounds_are_left_out_where_they_say_nothing(measured: Measured) -> None:
    mean = replace(measured, study=replace(measured.study, average="equal"))
    assert "constant step size" in refused(risk_vs_bound.compute, mean)
    n = measured["n"].copy()
    n[0, 0, 0] = 0
    idle = risk_vs_bound.compute(replace(measured, columns={**measured.columns, "n": n}))
    unknown = [bool(np.isnan(one.ratio).any()) for one in idle.policies.values()]
    assert unknown == [True, *[False] * (len(n) - 1)]
    assert f"No Theorem 1 for {readable(measured.policies[0])}: some rounds have no sample." in idle.note
    assert fits(risk_vs_bound.draw(idle, SLIDES))


# --- on record ---------------------------------------------------------------------------------------------

RECORD = Path(__file__).with_name("recorded.json")
ROOT = Path(__file__).parents[2]
EXPLAINED = ROOT / "docs" / "results" / "why-mnist-logistic.json"
BUDGET = Budget(buffers=(8, 12), cost=11, mean_cost=Fraction(11, 2))
SIMULATION = Simulation(K=9, rate=10, rounds=20, seeds=2, V=1000)


def reproductions() -> list[Reproduction]:
    names = ("mnist-paper", "mnist-released", "cifar10-paper", "cifar10-released")
    return [section7.read(ROOT / "proofs_check" / "experiments" / f"{name}.json") for name in names]


# how each is drawn, and from which data of a result and a sweep
FIGURES: dict[str, tuple[Any, Callable[[Measured, Path], Any]]] = {
    "uniformity": (uniformity.draw, lambda *_: uniformity.compute((1, 2, 5), rounds=9)),
    "mismatch": (mismatch.draw, lambda *_: mismatch.compute(4, 2, rounds=9, draws=20)),
    "omegas": (omegas.draw, lambda *_: omegas.compute(4, 10, 1000, UNIT, slowness=(10,), others=(2,))),
    "bounds": (bound_vs_horizon.draw, lambda *_: bound_vs_horizon.compute(9, 10, 10**6, UNIT, SIMULATION)),
    "control": (control.draw, lambda *_: control.compute(SIMULATION, UNIT)),
    "prices of one round": (prices.draw, lambda *_: prices.compute(Study(rounds=1), UNIT)),
    "prices": (prices.draw, lambda *_: prices.compute(Study(rounds=700), UNIT)),
    "design": (design.draw, lambda *_: design.compute(BUDGET, UNIT, (20,))),
    **{one.__name__: (one.draw, lambda result, _, one=one: one.compute(result)) for one in OF_A_RESULT},
    "prices of a result": (prices.draw, lambda result, _: prices.compute_measured(result)),
    "retention": (retention.draw, lambda _, sweep: retention.compute(read(sweep))),
    "accuracy": (section7.draw_accuracy, lambda *_: reproductions()),
    "constraints of all": (section7.draw_constraints, lambda *_: reproductions()),
    "explained": (explained.draw, lambda *_: explained.read(EXPLAINED)),
}


def brief(points: Any) -> list[float]:
    """Counts of values and of finite values, and sums of positive and negative values weighted by place."""
    flat = np.ma.filled(np.ma.asarray(points, float), np.nan).ravel()
    weighted = np.nan_to_num(flat, posinf=0, neginf=0) * (1 + np.arange(len(flat)))
    signs = [float(np.maximum(sign * weighted, 0).sum()) for sign in (1, -1)]
    return [len(flat), int(np.isfinite(flat).sum()), *signs]


def known_by(*words: Any) -> int:
    """A number that changes with words."""
    return crc32(repr(words).encode()) % 1000


def strokes(figure: Figure) -> dict[str, float]:
    found: dict[str, Any] = {"size": figure.get_size_inches().tolist()}
    for i, axes in enumerate(figure.axes):
        texts = (*axes.texts, axes.title, axes.xaxis.label, axes.yaxis.label)
        outlines = [[path.vertices for path in one.get_paths()] for one in axes.collections]
        found[f"axes {i}"] = {
            "lines": [
                [*brief(line.get_xydata()), *brief(line.get_markevery()), line.get_linewidth()]
                for line in axes.lines
            ],
            "points": [brief(one.get_offsets()) for one in axes.collections],
            "areas": [brief(np.concatenate([np.zeros((0, 2)), *one])) for one in outlines],
            "bars": [
                brief(one.get_patch_transform().transform(one.get_path().vertices)) for one in axes.patches
            ],
            "letters": [[known_by(text.get_text()), text.get_fontsize()] for text in texts],
            "places": brief([text.get_position() for text in axes.texts])[2:],
            "looks": known_by(
                [(line.get_marker(), line.is_dashed(), to_hex(line.get_color())) for line in axes.lines]
            ),
            "ends": [axes.get_xlim(), axes.get_ylim()],
        }
    legends = ((one.get_title(), *one.get_texts()) for one in figure.legends)
    found["legends"] = [[known_by(text.get_text()) for text in texts] for texts in legends]
    return numbers(json.loads(json.dumps(found, default=float)))


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_draws_what_is_recorded_within_its_page(name: str, measured: Measured, sweep: Path) -> None:
    draw, compute = FIGURES[name]
    figure = draw(compute(measured, sweep), SLIDES)
    held(RECORD, name, strokes(figure))
    assert fits(figure)
