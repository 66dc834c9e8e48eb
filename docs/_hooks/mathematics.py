"""Formulas of the pages and of the docstrings as MathML: no script runs in the reader's browser.

`$…$` and `\\(…\\)` are inline, `$$…$$` and `\\[…\\]` displayed. A formula that cannot be typeset stops the build, as
does TeX that was not recognised as one.
"""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from mkdocs.exceptions import PluginError

from acdpp.report.mathml import mathml

DISPLAYED = r"(?s)\$\$(.+?)\$\$|\\\[(.+?)\\\]"
INLINE = r"(?s)(?<![\w$\\])\$(?![\s$])([^$]+?)(?<!\s)\$(?![\w$])|\\\((.+?)\\\)"
# what is not understood and docstrings use
INSTEAD = {r"\arg": r"\operatorname{arg}", "{aligned}": "{split}", r"\_": "_"}
BEFORE_ESCAPES, AFTER_CODE = 185, 188


def typeset(latex: str, *, displayed: bool = False) -> str:
    """The formula, or an error that names what cannot be converted."""
    known = re.sub(
        r"\\[A-Za-z]+|\\_|\{aligned\}", lambda found: INSTEAD.get(found[0], found[0]), latex.strip()
    )
    try:
        made = mathml(known, "block" if displayed else "inline")
        ElementTree.fromstring(made)
    except Exception as error:
        raise PluginError(
            f"the formula {latex!r} cannot be typeset: {error or type(error).__name__}"
        ) from error
    return made


class Formula(InlineProcessor):
    """A formula in running text."""

    def __init__(self, pattern: str, md: Markdown, *, displayed: bool) -> None:
        super().__init__(pattern, md)
        self.displayed = displayed

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:
        latex = next(group for group in m.groups() if group is not None)
        return self.md.htmlStash.store(typeset(latex, displayed=self.displayed)), m.start(0), m.end(0)


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
