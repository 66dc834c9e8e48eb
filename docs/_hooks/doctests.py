"""Examples of docstrings as code: Markdown would take `>>>` for a quotation."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"(?m)^>>> .*\n?(?:^(?!\s*$).*\n?)*")


def fenced(docstring: str) -> str:
    """The same, with every example fenced.

    >>> fenced("Add.\\n\\n>>> 1 + 1\\n2\\n")
    'Add.\\n\\n```pycon\\n>>> 1 + 1\\n2\\n```\\n'
    """
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", docstring)


class Doctests(griffe.Extension):
    """For mkdocstrings."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Every module, class, function and attribute."""
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)
