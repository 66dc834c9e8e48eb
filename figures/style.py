"""One look for all figures: print-ready sizes, colours for every kind of sight, and marks that survive greyscale.

Widths are those of a journal: 3.5 in for one column, 7.2 in for two. Colours are those of Okabe and Ito. What a
colour says, a line style or a marker says too. `slides` and `dark` are `paper` enlarged, so that a layout that
holds in one holds in all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from textwrap import wrap
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, LogLocator, NullLocator
from numpy.typing import NDArray

from figures.choices import Style

__all__ = [
    "BUYING",
    "DASHES",
    "LOOKS",
    "MARKERS",
    "POLICIES",
    "Look",
    "Width",
    "decades",
    "mix",
    "readable",
    "round_axis",
]

MARKERS = ("o", "s", "^", "D", "v", "P", "p", "X")
DASHES: tuple[Any, ...] = (
    "-",
    (0, (4, 1.6)),
    (0, (1, 1.2)),
    (0, (5, 1.2, 1, 1.2)),
    (0, (7, 1.2)),
    (0, (5, 1.2, 1, 1.2, 1, 1.2)),
    (0, (2.5, 0.8)),
    (0, (10, 1, 1, 1)),
)
BUYING = ("buy-cheap", "buy-cheap-online")
POLICIES = ("constant", "oracle", "acdpp", "acdpp-capped", "hybrid", "released", *BUYING)
# policies of a user's own: filled marks where the built-in ones are hollow, dashes that none of those has
OWN_MARKERS = ("X", "<", "p", ">", "*", "h", "d", "8", "o", "s", "^", "v")
OWN_DASHES: tuple[Any, ...] = (
    (0, (2.5, 2)),
    (0, (8, 1.5, 2, 1.5)),
    (0, (1, 2.4)),
    (0, (3, 1, 3, 1, 1, 1)),
    (0, (11, 2)),
    (0, (1.5, 1, 1, 1, 1, 2)),
)
LONGEST = 26  # letters of a policy's name that are shown


class Width(StrEnum):
    """How many columns of a page a figure takes."""

    single = "single"
    double = "double"


INCHES = {Width.single: 3.5, Width.double: 7.2}


@dataclass(frozen=True, kw_only=True)
class Look:
    """Colours, scale and fonts of one style.

    `ink` is text and data points, `ground` the background, `faint` grids and shaded zones, `muted` hatches and
    asides. Other colours are named by what they mean: `corrected` and `stated` formulas, and `series` for what has
    no meaning of its own; `own` are those of policies that are not built in.
    """

    ink: str
    ground: str
    faint: str
    muted: str
    corrected: str
    stated: str
    series: tuple[str, ...]
    own: tuple[str, ...]
    scale: float
    dpi: int
    family: str
    math: str

    def rc(self) -> dict[str, Any]:
        """The matplotlib settings that make this look."""
        small, medium = 7 * self.scale, 8 * self.scale
        line = 0.6 * self.scale
        return {
            "font.family": self.family,
            "mathtext.fontset": self.math,
            "font.size": medium,
            "text.hinting": "none",  # hinting to whole pixels spoils the spacing of small letters
            "axes.titlesize": medium,
            "axes.labelsize": medium,
            "xtick.labelsize": small,
            "ytick.labelsize": small,
            "legend.fontsize": small,
            "legend.title_fontsize": small,
            "text.color": self.ink,
            "axes.labelcolor": self.ink,
            "axes.edgecolor": self.ink,
            "axes.titlecolor": self.ink,
            "xtick.color": self.ink,
            "ytick.color": self.ink,
            "figure.facecolor": self.ground,
            "axes.facecolor": self.ground,
            "savefig.facecolor": self.ground,
            "axes.linewidth": line,
            "xtick.major.width": line,
            "ytick.major.width": line,
            "xtick.minor.width": line / 2,
            "ytick.minor.width": line / 2,
            "xtick.major.size": 3 * self.scale,
            "ytick.major.size": 3 * self.scale,
            "xtick.minor.size": 1.5 * self.scale,
            "ytick.minor.size": 1.5 * self.scale,
            "xtick.direction": "in",
            "ytick.direction": "in",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.axisbelow": True,
            "grid.color": self.faint,
            "grid.linewidth": line,
            "lines.linewidth": 1.2 * self.scale,
            "lines.markersize": 3 * self.scale,
            "lines.markeredgewidth": 0.8 * self.scale,
            "hatch.linewidth": 0.4 * self.scale,
            "hatch.color": self.muted,
            "legend.frameon": False,
            "legend.handlelength": 2.4,
            "legend.borderaxespad": 0.3,
            "legend.labelspacing": 0.3,
            "axes.titlelocation": "left",
            "axes.titlepad": 4 * self.scale,
            "axes.formatter.use_mathtext": True,
            "pdf.fonttype": 42,  # TrueType: publishers refuse matplotlib's default
            "svg.hashsalt": "acdpp",  # element names, and so whole files, that can be reproduced
        }

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Matplotlib with this look, for as long as the block lasts."""
        with mpl.rc_context(self.rc()):
            yield

    def canvas(
        self, width: Width, height: float, rows: int = 1, columns: int = 1, **settings: Any
    ) -> tuple[Figure, NDArray[Any]]:
        """An empty figure, `height` inches high in print, and its axes as an array of shape (rows, columns)."""
        figure = Figure(figsize=(INCHES[width] * self.scale, height * self.scale), layout="constrained")
        axes: NDArray[Any] = np.array(figure.subplots(rows, columns, squeeze=False, **settings))
        return figure, axes

    def zone(self, axes: Axes, first: float, last: float, label: str | None = None) -> None:
        """Shade and hatch a stretch of the horizontal axis."""
        style: dict[str, Any] = {
            "facecolor": self.faint,
            "edgecolor": self.muted,
            "hatch": "////",
            "linewidth": 0,
        }
        axes.axvspan(first, last, zorder=0, label=label, **style)

    def points(self, marker: str = "o") -> dict[str, Any]:
        """How measured and brute-force points look: hollow, in ink, no line."""
        return {"marker": marker, "linestyle": "none", "color": self.ink, "markerfacecolor": self.ground}

    def policy(self, name: str) -> dict[str, Any]:
        """Colour, dashes and marker of a built-in policy, the same in every figure."""
        place = POLICIES.index(name)
        return {
            "color": self.series[place],
            "linestyle": DASHES[place],
            "marker": MARKERS[place],
            "markerfacecolor": self.ground,
        }

    def policies(self, names: Sequence[str]) -> dict[str, dict[str, Any]]:
        """The same for all policies of a result. Those that are not built in take the further looks in their order."""
        own = [name for name in names if name not in POLICIES]
        looks = {
            name: {
                "color": self.own[place % len(self.own)],
                "linestyle": OWN_DASHES[place % len(OWN_DASHES)],
                "marker": OWN_MARKERS[place % len(OWN_MARKERS)],
            }
            for place, name in enumerate(own)
        }
        return {name: looks[name] if name in looks else self.policy(name) for name in names}

    def legend(self, figure: Figure, handles: Sequence[Any], note: str = "") -> None:
        """Below all panels, in as few even rows as the page's width allows, with a note over it."""
        em = 7 * self.scale / 72
        letter = 0.55 if "DejaVu" in self.family else 0.45  # its usual width
        page = figure.get_size_inches()[0] / em
        longest = max(len(re.sub(r"\\mathrm|\\[a-zA-Z]+|[{}$^_\\]", "", h.get_label())) for h in handles)
        fit = max(int(page / (6 + letter * longest)), 1)
        rows = -(-len(handles) // fit)
        sentences = re.split(r"(?<=\.) ", note) if letter * len(note) > page else [note]
        lines = [line for sentence in sentences for line in wrap(sentence, int(page / letter))]
        legend = figure.legend(
            handles=list(handles),
            loc="outside lower center",
            ncols=-(-len(handles) // rows),
            title="\n".join(lines) or None,
        )
        legend.get_title().set_multialignment("center")


def readable(name: str) -> str:
    """A policy's name as text that matplotlib shows as it is: not too long, no formula, no leading underscore."""
    if len(name) > LONGEST:
        name = f"{name[: LONGEST // 3]}…{name[-(LONGEST - LONGEST // 3 - 1) :]}"
    return re.sub("^_", " _", name).replace("$", r"\$")


BLUE, SKY, VERMILLION, GREEN = "#0072B2", "#56B4E9", "#D55E00", "#009E73"
ORANGE, PURPLE, YELLOW, BLACK = "#E69F00", "#CC79A7", "#F0E442", "#000000"

PAPER = Look(
    ink=BLACK,
    ground="#FFFFFF",
    faint="#E6E6E6",
    muted="#9A9A9A",
    corrected=BLUE,
    stated=VERMILLION,
    series=(BLUE, ORANGE, GREEN, PURPLE, VERMILLION, SKY, "#8F70FF", "#9F0050"),
    own=(
        *("#502000", "#006000", "#000080", "#808000", "#DF00CF", "#7A7A7A"),
        *("#7000AF", "#C08080", "#304080", "#0000FF", "#FF0040", "#00B000"),
    ),
    scale=1.0,
    dpi=300,
    family="STIXGeneral",
    math="stix",
)
SLIDES = Look(**(vars(PAPER) | {"scale": 1.6, "dpi": 150, "family": "DejaVu Sans", "math": "dejavusans"}))
DARK = Look(
    **(
        vars(SLIDES)
        | {
            "ink": "#ECECEC",
            "ground": "#14171A",
            "faint": "#363B40",
            "muted": "#7D858C",
            "corrected": SKY,
            "stated": ORANGE,
            "series": (SKY, ORANGE, GREEN, PURPLE, YELLOW, VERMILLION, "#8080FF", "#FF4070"),
            "own": (
                *("#20DF9F", "#FFAFFF", "#AFAF9F", "#B08030", "#FF20CF", "#708FBF"),
                *("#C050E0", "#FFFFAF", "#A0E0FF", "#FF9F80", "#00FF00", "#50A000"),
            ),
        }
    )
)
LOOKS = {Style.paper: PAPER, Style.slides: SLIDES, Style.dark: DARK}


def decades(axes: Axes, *, vertical: bool = False) -> None:
    """A logarithmic axis with a few labelled decades and nothing between them."""
    (axes.set_yscale if vertical else axes.set_xscale)("log")
    axis = axes.yaxis if vertical else axes.xaxis
    axis.set_major_locator(LogLocator(base=10, numticks=7))
    axis.set_minor_locator(NullLocator())


def round_axis(axes: Axes, last: float) -> None:
    """A logarithmic axis of the rounds 1..last; a handful of rounds are named one by one."""
    decades(axes)
    if last >= 10:
        axes.set_xlim(1, last)
        return
    rounds = range(1, int(last) + 1)
    axes.xaxis.set_major_locator(FixedLocator(list(rounds)))
    axes.xaxis.set_major_formatter(FixedFormatter([str(t) for t in rounds]))
    axes.set_xlim((1 + 1 / last) ** -0.5, last * (1 + 1 / last) ** 0.5)


def mix(one: str, other: str, weight: float) -> tuple[float, ...]:
    """A colour between two, `weight` of the first."""
    first, second = (np.array(to_rgb(colour)) for colour in (one, other))
    return tuple(float(x) for x in weight * first + (1 - weight) * second)
