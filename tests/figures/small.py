"""Short results, results with one seed or missing columns, and a check that a drawing fits its page."""

import json
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from empirics.run import run_study
from empirics.settings.study import Study
from figures.measured import Measured
from figures.options import Style
from figures.style import LOOKS, Look
from tests.shared import shared
from theory.setting import Constants

PAPER = LOOKS[Style.paper]
SLIDES = LOOKS[Style.slides]  # its letters are the widest; dark is slides in other colours
UNIT = Constants(D=1, sigma=1, eta=Fraction(1, 10), B=1, Pdim=5, E=2, G=1, L=1)
SWEEP = [
    *("constant@K=7", "constant@K=2", "constant@K=12", "acdpp@K=3,eta=0.1", "acdpp@K=9,eta=0.1"),
    *("oracle", "hybrid@K=4", "constant", "constant@K=3,eta=0.1", "oracle@steps=1"),
]


def small_result(factory: pytest.TempPathFactory) -> Path:
    """A result of 30 rounds, trained once."""
    study = Study(rounds=30, seeds=3, checkpoint=30, buffers=(8, 12), budget=11.0, steps=2, labels="parity")
    return shared(factory, "result", lambda out: run_study(study, out))


def cut(
    result: Measured,
    rounds: int = 30,
    seeds: int = 3,
    names: Sequence[str] | None = None,
    without: Sequence[str] = (),
) -> Measured:
    """The beginning of a result, of some seeds, with other names for as many policies, and without some columns."""
    names = result.policies if names is None else names
    rows = [place % len(result.policies) for place in range(len(names))]
    kept = {name: column for name, column in result.columns.items() if name not in without}
    columns = {name: column[rows][:, :seeds, :rounds] for name, column in kept.items()}
    own = {"policies": tuple(names), "constants": tuple(result.constants[row] for row in rows)}
    return replace(result, **own, seeds=seeds, horizon=rounds, columns=columns)


def summary_of(folder: Path) -> dict[str, Any]:
    """A result's summary by policy."""
    found: dict[str, Any] = json.loads((folder / "summary.json").read_text())["policies"]
    return found


def fits(figure: Figure, look: Look = SLIDES) -> bool:
    """True if it has its background, and nothing exceeds the page by more than a hundredth of an inch."""
    with look.applied():
        figure.set_dpi(60)
        renderer = FigureCanvasAgg(figure).get_renderer()  # one for all, which knows the sizes of words
        layout = figure.get_layout_engine()
        layout.execute(figure)  # which is most of drawing it, and all that places anything
        box = figure.get_tightbbox(renderer)
    width, height = figure.get_size_inches()
    over = max(-box.x0, -box.y0, box.x1 - width, box.y1 - height)
    return to_rgb(figure.get_facecolor()) == to_rgb(look.ground) and bool(over < 0.01)
