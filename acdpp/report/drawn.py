"""Figures as SVG inside the page, with unique ids and the colours of the page."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acdpp.drawing import Drawing
from acdpp.plot import CAPTIONS, FIGURES, MEASURED, REPORTED

if TYPE_CHECKING:
    from figures.style import Look

__all__ = ["Figure", "of_result", "of_theory", "recorded_experiments", "within_page"]

EXTRAS = ("torch", "sklearn", "pyarrow", "filelock")  # of acdpp[empirics], optional for a report


@dataclass(frozen=True)
class Figure:
    """A drawn figure: its place in the page, what it shows, the command that draws it, and its SVG.

    Without SVG, it `needs` a package that is not installed.
    """

    anchor: str
    caption: str
    command: str
    svg: str = ""
    needs: str = ""


Track = Callable[[Sequence[Any]], Iterable[Any]]


def of_theory(track: Callable[[str], Track]) -> Iterator[Figure]:
    """Figures of the theory and of the committed experiments; `track` shows the progress of a named figure."""
    for name, options in REPORTED:
        words = "".join(
            f" --{option} {value}" if value else f" --no-{option}" for option, value in options.items()
        )
        command = f"acdpp plot {name}{words}"
        try:
            yield from _drawn(FIGURES[name](**options), command, track)
        except ModuleNotFoundError as error:
            if error.name not in EXTRAS:
                raise
            yield Figure(f"figure-{name}", CAPTIONS[name], command, needs=error.name)
    experiments = sorted(recorded_experiments())
    yield from _drawn(FIGURES["section7"](result=experiments), "acdpp plot section7", track)


def recorded_experiments() -> Iterator[Path]:
    """Files of the committed reproductions."""
    import proofs_check.experiments

    (folder,) = proofs_check.experiments.__path__
    return Path(folder).glob("*.json")


def of_result(path: Path, place: str, track: Callable[[str], Track]) -> Iterator[Figure]:
    """The figures of a result, at `place` in the page, as far as it has the measurements."""
    from figures.options import NotMeasured

    for name in MEASURED:
        with suppress(NotMeasured):
            command = f"acdpp plot {name} {shlex.quote(path.resolve().name)}"
            yield from _drawn(FIGURES[name](result=path), command, track, place)


def _drawn(
    made: Drawing | list[Drawing], command: str, track: Callable[[str], Track], place: str = ""
) -> Iterator[Figure]:
    from figures.options import Format, Style
    from figures.save import Origin, render
    from figures.style import LOOKS

    look = LOOKS[Style.paper]
    for drawing in made if isinstance(made, list) else [made]:
        figure = drawing.draw(drawing.compute(track(drawing.name)), look)
        svg = render(figure, Format.svg, look, drawing.name, Origin(command, "")).decode()
        anchor = "figure-" + "-".join(filter(None, (place, drawing.name)))
        yield Figure(anchor, CAPTIONS[drawing.name], command, within_page(svg, anchor, look))


def within_page(svg: str, name: str, look: Look) -> str:
    """The drawing alone, fit to be a part of a page: ids of its own, ink and ground of the page, any width.

    Its letters are paths, so the caption beside it has to say what it shows; readers of the page skip it.
    """
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<title>.*?</title>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(href="|url\()#', rf"\1#{name}-", svg)
    colours = {"ink": look.ink, "ground": look.ground, "faint": look.faint, "soft": look.muted}
    for place, colour in colours.items():
        variable = f"var(--{place})"
        svg = re.sub(rf"(fill|stroke): {colour}\b", rf"\1: {variable}", svg, flags=re.IGNORECASE)
        svg = re.sub(rf'(fill|stroke)="{colour}"', rf'style="\1: {variable}"', svg, flags=re.IGNORECASE)
    # letters have no colour of their own unless it is not black
    svg = re.sub(
        r'<svg [^>]*?width="([\d.]+)pt"[^>]*?viewBox="([^"]*)"[^>]*>',
        r'<svg class="drawing" viewBox="\2" style="max-width: calc(\1px * 1.6)" aria-hidden="true">',
        svg,
        count=1,
    )
    return re.sub(r"\n\s*", "\n", svg.replace("xlink:href", "href"))
