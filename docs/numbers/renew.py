"""Replace what stands between the markers of a page by what their expressions give."""

from __future__ import annotations

import re
from pathlib import Path

from docs.numbers import accuracy, buying, claims, drift, learner, others, results, section7, tables

__all__ = ["MARKED", "PAGES", "renewed"]

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md")), *sorted((DOCS / "results").glob("*.md"))]
MARKED = re.compile(r"<!--=(.*?)-->(.*?)<!--/-->", re.DOTALL)
NAMES = {
    "at": results.at,
    "accuracy": accuracy,
    "buying": buying,
    "claims": claims,
    "drift": drift,
    "learner": learner,
    "others": others,
    "section7": section7,
    "tables": tables,
}


def renewed(text: str) -> str:
    """The page with every marked number and table as the results have it; tables get lines of their own."""

    def value(found: re.Match[str]) -> str:
        expression = found[1]
        new = str(eval(f'f"""{{{expression}}}"""', dict(NAMES)))
        if new.startswith("|"):
            new = f"\n{new}\n"
        return f"<!--={expression}-->{new}<!--/-->"

    return MARKED.sub(value, text)
