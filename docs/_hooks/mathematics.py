"""Formulas of the pages and of the docstrings as MathML: no script runs in the reader's browser.

`$…$` and `\\(…\\)` are inline, `$$…$$` and `\\[…\\]` displayed. What `latex2mathml` does not know it leaves as text,
without a word; here it stops the build, as does any TeX that was not recognised as a formula.
"""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from mkdocs.exceptions import PluginError

DISPLAYED = r"(?s)\$\$(.+?)\$\$|\\\[(.+?)\\\]"
INLINE = r"(?s)(?<![\w$\\])\$(?![\s$])([^$]+?)(?<!\s)\$(?![\w$])|\\\((.+?)\\\)"
# what latex2mathml does not know and docstrings use
INSTEAD = {r"\arg": r"\operatorname{arg}", "{aligned}": "{split}", r"\_": "_"}
BEFORE_ESCAPES, AFTER_CODE = 185, 188


def mathml(latex: str, *, displayed: bool = False) -> str:
    """The formula, or an error that names what cannot be converted."""
    try:
        made = convert(_known(latex), display="block" if displayed else "inline")
        ElementTree.fromstring(made)
    except Exception as error:
        raise PluginError(
            f"the formula {latex!r} cannot be converted: {error or type(error).__name__}"
        ) from error
    left = re.findall(r">([^<]*\\[^<]*)<", made)
    if left:
        raise PluginError(f"the formula {latex!r} cannot be converted: {left[0]!r} is not known")
    return _spaced(made)


def _known(latex: str) -> str:
    """In words that latex2mathml knows; a letter in braces becomes one that browsers need no attribute for."""
    braced = re.sub(r"(\\math(?:cal|bb|bf))\s+(\w)", r"\1{\2}", latex.strip())
    return re.sub(r"\\[A-Za-z]+|\\_|\{aligned\}", lambda found: INSTEAD.get(found[0], found[0]), braced)


def _spaced(made: str) -> str:
    """With Greek capitals upright, and room around names of functions."""
    upright = re.sub(r"<mi>(&#x003[9A]\w;)</mi>", r'<mi mathvariant="normal">\1</mi>', made)
    return re.sub(r"<mi>(log|exp)</mi>", r'<mo lspace="0.17em" rspace="0.17em">\1</mo>', upright)


class Formula(InlineProcessor):
    """A formula in running text."""

    def __init__(self, pattern: str, md: Markdown, *, displayed: bool) -> None:
        super().__init__(pattern, md)
        self.displayed = displayed

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:  # type: ignore[override]
        latex = next(group for group in m.groups() if group is not None)
        return self.md.htmlStash.store(mathml(latex, displayed=self.displayed)), m.start(0), m.end(0)


class Formulas(Extension):
    """For Python-Markdown."""

    def extendMarkdown(self, md: Markdown) -> None:
        """After code, before backslashes are taken for escapes."""
        md.inlinePatterns.register(Formula(DISPLAYED, md, displayed=True), "displayed formula", AFTER_CODE)
        md.inlinePatterns.register(Formula(INLINE, md, displayed=False), "formula", BEFORE_ESCAPES)


def on_config(config: Any) -> Any:
    """Read formulas wherever Markdown is read."""
    config.markdown_extensions.append(Formulas())
    return config


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Refuse what is left of a formula."""
    text = re.sub(r"(?s)<(pre|code|math)\b.*?</\1>|<[^>]*>", "", html)
    left = re.search(r".{0,30}(\\[A-Za-z([]|\$).{0,30}", text)
    if left:
        raise PluginError(f"{page.file.src_uri}: this was not read as a formula: {left[0]!r}")
    return html
