"""Notebooks as pages, with the outputs that are saved in them; nothing is run."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import nbformat

Pictures = dict[str, bytes]


def page(path: Path) -> tuple[str, Pictures]:
    """The notebook as Markdown, and its pictures by name."""
    lines, pictures = [], Pictures()
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            lines.append(cell.source)
            continue
        code = "\n".join(line for line in cell.source.splitlines() if not line.startswith("%"))
        lines.append(_fenced("python", code))
        for output in cell.outputs:
            lines.append(_shown(output, path.stem, pictures))
    title, _, rest = "\n\n".join(lines).partition("\n")
    return f"{title}\n\nThe notebook [`{path.name}`]({path.name}), with its outputs.\n{rest}\n", pictures


def _shown(output: Any, stem: str, pictures: Pictures) -> str:
    if output.output_type == "stream":
        return _fenced("text", output.text)
    data = output.data
    if "image/png" in data:
        name = f"{stem}-{len(pictures) + 1}.png"
        pictures[name] = base64.b64decode(data["image/png"])
        return f"![What the code above draws]({name})"
    if "text/latex" in data:
        formula = data["text/latex"].strip("$ ").removeprefix(r"\displaystyle")
        return f"$${formula}$$"
    return data["text/markdown"] if "text/markdown" in data else _fenced("text", data["text/plain"])


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.strip()}\n```"
