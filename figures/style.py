"""The look of all figures: print sizes, colours that are safe for colour blindness, and marks that survive greyscale.

Widths are those of a journal: 3.5 in for one column, 7.2 in for two. Colours are those of Okabe and Ito. Every colour
is paired with a line style or a marker. `slides` and `dark` are `paper` enlarged, so that one layout fits all three.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from textwrap import wrap
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, LogLocator, NullLocator
from numpy.typing import NDArray

from figures.options import Style

__all__ = ["BUYING", "DASHES", "LOOKS", "MARKERS", "POLICIES", "Floats", "Look", "Whole", "Width"]
__all__ += ["decades", "key", "letter", "mix", "named_ticks", "readable", "round_axis"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
MARKERS = ("o", "s", "^", "D", "v", "P", "p", "X")
_DASHED = (
    (4, 1.6),
    (1, 1.2),
    (5, 1.2, 1, 1.2),
    (7, 1.2),
    (5, 1.2, 1, 1.2, 1, 1.2),
    (2.5, 0.8),
    (10, 1, 1, 1),
)
DASHES: tuple[Any, ...] = ("-", *((0, lengths) for lengths in _DASHED))
BUYING = ("buy-cheap", "buy-cheap-online")
POLICIES = ("constant", "oracle", "acdpp", "acdpp-capped", "hybrid", "released", *BUYING)
# policies of the user: filled marks, where built-in ones are hollow, and other dashes
OWN_MARKERS = ("X", "<", "p", ">", "*", "h", "d", "8", "o", "s", "^", "v")
_OWN_DASHED = ((2.5, 2), (8, 1.5, 2, 1.5), (1, 2.4), (3, 1, 3, 1, 1, 1), (11, 2), (1.5, 1, 1, 1, 1, 2))
OWN_DASHES: tuple[Any, ...] = tuple((0, lengths) for lengths in _OWN_DASHED)
NAME_LETTERS_MAX = 26


class Width(StrEnum):
    """Width of a figure in columns of a page."""

    single = "single"
    double = "double"


INCHES = {Width.single: 3.5, Width.double: 7.2}


@dataclass(frozen=True, kw_only=True)
class Look:
    """Colours, scale and fonts of a style.

    `ink` is for text and data points, `ground` for the background, `faint` for grids and shaded zones, `muted` for
    hatches, `corrected` and `stated` for formulas, `series` for policies and other curves, and `own` for policies that
    are not built in.
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
        """The matplotlib settings of this look."""
        small, medium = 7 * self.scale, 8 * self.scale
        line = 0.6 * self.scale
        colours = {
            self.ink: ("text.color", "axes.labelcolor", "axes.edgecolor", "axes.titlecolor"),
            self.ground: ("figure.facecolor", "axes.facecolor", "savefig.facecolor"),
        }
        ticks = {"color": self.ink, "labelsize": small, "direction": "in"}
        ticks |= {"major.width": line, "minor.width": line / 2}
        ticks |= {"major.size": 3 * self.scale, "minor.size": 1.5 * self.scale}
        return {
            **{name: colour for colour, names in colours.items() for name in names},
            **{f"{axis}tick.{name}": value for axis in "xy" for name, value in ticks.items()},
            "font.family": self.family,
            "mathtext.fontset": self.math,
            "font.size": medium,
            "text.hinting": "none",  # hinting to whole pixels spoils the spacing of small letters
            "axes.titlesize": medium,
            "axes.labelsize": medium,
            "legend.fontsize": small,
            "legend.title_fontsize": small,
            "axes.linewidth": line,
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
            "svg.hashsalt": "acdpp",  # reproducible element names, and so files
        }

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Apply the matplotlib settings within a block."""
        with mpl.rc_context(self.rc()):
            yield

    def canvas(
        self, width: Width, height: float, rows: int = 1, columns: int = 1, **settings: Any
    ) -> tuple[Figure, NDArray[Any]]:
        """An empty figure, `height` inches high in print, and its axes, of shape (rows, columns)."""
        figure = Figure(figsize=(INCHES[width] * self.scale, height * self.scale), layout="constrained")
        axes: NDArray[Any] = np.array(figure.subplots(rows, columns, squeeze=False, **settings))
        return figure, axes

    def zone(self, axes: Axes, first: float, last: float, label: str | None = None) -> None:
        """Shade and hatch a stretch of the horizontal axis."""
        axes.axvspan(first, last, zorder=0, label=label, **self.hatched)

    @property
    def hatched(self) -> dict[str, Any]:
        """The style of shaded and hatched areas."""
        return {"facecolor": self.faint, "edgecolor": self.muted, "hatch": "////", "linewidth": 0}

    @property
    def limit(self) -> dict[str, Any]:
        """The style of the line of a budget."""
        return {"color": self.ink, "linewidth": 0.8 * self.scale, "zorder": 1.9}

    def zero(self, axes: Axes) -> None:
        """Draw the horizontal line at 0."""
        axes.axhline(0, color=self.ink, linewidth=0.6 * self.scale)

    def points(self, marker: str = "o") -> dict[str, Any]:
        """The style of measured and brute-force points: hollow, in ink, without a line."""
        return {"marker": marker, "linestyle": "none", "color": self.ink, "markerfacecolor": self.ground}

    def policy(self, name: str) -> dict[str, Any]:
        """Colour, dashes and marker of a built-in policy in every figure."""
        place = POLICIES.index(name)
        return {
            "color": self.series[place],
            "linestyle": DASHES[place],
            "marker": MARKERS[place],
            "markerfacecolor": self.ground,
        }

    def policies(self, names: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Colours, dashes and markers of all policies of a result, those not built in by their order."""
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
        """A legend below all panels, in as few even rows as the page's width allows, with a note above."""
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
    """A policy's name as matplotlib shows it literally: shortened, without a formula or a leading underscore."""
    if len(name) > NAME_LETTERS_MAX:
        name = f"{name[: NAME_LETTERS_MAX // 3]}…{name[-(NAME_LETTERS_MAX - NAME_LETTERS_MAX // 3 - 1) :]}"
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
SLIDES = replace(PAPER, scale=1.6, dpi=150, family="DejaVu Sans", math="dejavusans")
DARK = replace(
    SLIDES,
    ink="#ECECEC",
    ground="#14171A",
    faint="#363B40",
    muted="#7D858C",
    corrected=SKY,
    stated=ORANGE,
    series=(SKY, ORANGE, GREEN, PURPLE, YELLOW, VERMILLION, "#8080FF", "#FF4070"),
    own=(
        *("#20DF9F", "#FFAFFF", "#AFAF9F", "#B08030", "#FF20CF", "#708FBF"),
        *("#C050E0", "#FFFFAF", "#A0E0FF", "#FF9F80", "#00FF00", "#50A000"),
    ),
)
LOOKS = {Style.paper: PAPER, Style.slides: SLIDES, Style.dark: DARK}


def decades(axes: Axes, *, vertical: bool = False) -> None:
    """Make an axis logarithmic, with a few labelled decades and no minor ticks."""
    (axes.set_yscale if vertical else axes.set_xscale)("log")
    axis = axes.yaxis if vertical else axes.xaxis
    axis.set_major_locator(LogLocator(base=10, numticks=7))
    axis.set_minor_locator(NullLocator())


def round_axis(axes: Axes, last: float) -> None:
    """Make the horizontal axis logarithmic for the rounds 1..last; fewer than 10 rounds are all labelled."""
    decades(axes)
    if last >= 10:
        axes.set_xlim(1, last)
        return
    rounds = range(1, int(last) + 1)
    named_ticks(axes.xaxis, rounds, "{}")
    axes.set_xlim((1 + 1 / last) ** -0.5, last * (1 + 1 / last) ** 0.5)


def mix(one: str, other: str, weight: float) -> tuple[float, ...]:
    """A colour between two, `weight` of the first."""
    first, second = (np.array(to_rgb(colour)) for colour in (one, other))
    return tuple(float(x) for x in weight * first + (1 - weight) * second)


def named_ticks(axis: Any, values: Sequence[float], text: str) -> None:
    """Label exactly these values of an axis, in this format, without minor ticks."""
    axis.set_major_locator(FixedLocator(list(values)))
    axis.set_major_formatter(FixedFormatter([text.format(value) for value in values]))
    axis.set_minor_locator(NullLocator())


def letter(panels: Iterable[Axes]) -> None:
    """Put (a), (b), … before the titles of panels."""
    for name, axes in zip("abcdefghijkl", panels, strict=False):
        axes.set_title(f"({name}) {axes.get_title(loc='left')}".rstrip())


def key(label: str, **how: Any) -> Line2D:
    """An entry of a legend."""
    return Line2D([], [], **how, label=label)
