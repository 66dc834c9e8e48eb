"""Set a text with LaTeX and collect its complaints."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from acdpp.report.erratum import PREAMBLE, latex, printed

needs_pdflatex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
OVERFULL_POINTS_MAX = 10.0


def pdflatex(tex: str, folder: Path) -> str:
    """Return the log of the second run, after which references are settled; fail if the file does not compile."""
    (folder / "text.tex").write_text(tex, encoding="ascii")
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "text.tex"]
    environment = {**os.environ, "max_print_line": "10000"}
    for _ in range(2):
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        log = (folder / "text.log").read_text(encoding="latin-1")
        if done.returncode != 0:
            error = re.search(r"^!.*(?:\n.*){0,5}", log, re.MULTILINE)
            pytest.fail(error[0] if error else done.stdout[-500:])
    return log


def faults_of(body: str, folder: Path) -> list[str]:
    """Complaints about a text between the erratum's preamble and its end."""
    return faults(pdflatex(f"{PREAMBLE}\\begin{{document}}\n{body}\n\\end{{document}}", folder))


def faults(log: str) -> list[str]:
    """Overfull lines, missing characters and dangling references in a log."""
    wide = re.findall(r"Overfull \\[hv]box \(([\d.]+)pt too (?:wide|high)\).*", log)
    found = [f"{points} pt too wide" for points in wide if float(points) > OVERFULL_POINTS_MAX]
    bad = r"Missing character.*|.*[Uu]ndefined.*|.*does not exist.*|.*same identifier.*|.*multiply.defined.*"
    return found + re.findall(bad, log)


def check_erratum(document: Mapping[str, Any], folder: Path) -> None:
    """Assert that the erratum to a document is complete, has no code in it, and compiles."""
    tex = latex(document)
    headings = re.findall(r"\\subsection\{\\texorpdfstring\{.*\}\{(.*?)\}\}\\hypertarget", tex)
    assert [heading.replace("\\_", "_") for heading in headings] == [
        claim["id"] for claim in printed(document)
    ]
    assert tex.isascii()
    code = (
        r"Fraction\(|Budget\(|(?<!\\)sqrt|\bunsat\b|\*\*|\boo\b|(?<!\\)\b(?:Lambda|sigma|rho|eta)\b(?!-)|\{'"
    )
    assert not re.findall(rf".*(?:{code}).*", tex)
    if shutil.which("pdflatex"):
        assert not faults(pdflatex(tex, folder))
