"""What small figures draw, line by line, is as recorded."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from figures import (
    constraints,
    explained,
    learning,
    measured_mismatch,
    prediction,
    prices,
    retention,
    risk_vs_bound,
)
from figures.measured import Measured, read
from figures.section7 import draw_accuracy, draw_constraints
from figures.section7 import read as reproduced
from tests.figures.small import SLIDES
from tests.figures.test_drawing import DATA, drawn
from tests.recorded import held, numbers

RECORD = Path(__file__).with_name("recorded.json")
ROOT = Path(__file__).parents[2]
OF_A_RESULT = (constraints, learning, measured_mismatch, prediction, risk_vs_bound)
RESULTS = [
    ROOT / "proofs_check" / "experiments" / f"{name}.json"
    for name in ("mnist-paper", "mnist-released", "cifar10-paper", "cifar10-released")
]
FIGURES: dict[str, Callable[[Measured, Path], Figure]] = {
    **{name: lambda measured, sweep, name=name: drawn(name) for name in DATA},  # type: ignore[misc]
    **{
        module.__name__: lambda measured, sweep, module=module: module.draw(module.compute(measured), SLIDES)  # type: ignore[misc]
        for module in OF_A_RESULT
    },
    "prices of a result": lambda measured, sweep: prices.draw(prices.compute_measured(measured), SLIDES),
    "retention": lambda measured, sweep: retention.draw(retention.compute(read(sweep)), SLIDES),
    "accuracy": lambda measured, sweep: draw_accuracy([reproduced(path) for path in RESULTS], SLIDES),
    "constraints of all": lambda measured, sweep: draw_constraints(
        [reproduced(path) for path in RESULTS], SLIDES
    ),
    "explained": lambda measured, sweep: explained.draw(
        explained.read(ROOT / "docs" / "results" / "why-mnist-logistic.json"), SLIDES
    ),
}


def brief(points: Any) -> list[float]:
    """How many, how many of them are numbers, and what is above and below 0, weighted by place."""
    flat = np.ma.filled(np.ma.asarray(points, float), np.nan).ravel()
    weighted = np.nan_to_num(flat, posinf=0, neginf=0) * (1 + np.arange(len(flat)))
    signs = [float(np.maximum(sign * weighted, 0).sum()) for sign in (1, -1)]
    return [len(flat), int(np.isfinite(flat).sum()), *signs]


def strokes(figure: Figure) -> dict[str, float]:
    found: dict[str, Any] = {"size": figure.get_size_inches().tolist()}
    for i, axes in enumerate(figure.axes):
        found[f"axes {i}"] = {
            "lines": [
                [*brief(line.get_xydata()), *brief(line.get_markevery()), line.get_linewidth()]
                for line in axes.lines
            ],
            "points": [brief(one.get_offsets()) for one in axes.collections],
            "areas": [
                brief(np.concatenate([np.zeros((0, 2)), *(path.vertices for path in one.get_paths())]))
                for one in axes.collections
            ],
            "bars": [brief(one.get_path().vertices) for one in axes.patches],
            "letters": [
                [len(text.get_text()), text.get_fontsize()]
                for text in (*axes.texts, axes.title, axes.xaxis.label, axes.yaxis.label)
            ],
            "ends": [axes.get_xlim(), axes.get_ylim()],
        }
    found["legends"] = [
        [len(text.get_text()) for text in (legend.get_title(), *legend.get_texts())]
        for legend in figure.legends
    ]
    return numbers(json.loads(json.dumps(found, default=float)))


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_draws_what_is_recorded(name: str, measured: Measured, sweep: Path) -> None:
    held(RECORD, name, strokes(FIGURES[name](measured, sweep)))
