"""Pages that are made when the site is built, each from the one place where its contents stand, and links that lead out
of `docs/`, which go to those pages.

| page | from |
| --- | --- |
| `command-line.md` | the program |
| `api/…` | the docstrings, by mkdocstrings |
| `verdicts.md` | the ledger |
| `notebooks/…` | the notebooks and their outputs |
| `results/files.md` | the result files, of which each names its command and hardware |
| `how-claims-are-judged.md`, `contributing.md`, `changelog.md` | the files of the repository |

The table of a package's modules, `<!--=others.modules(PACKAGE)-->`, gets links to their pages, and `<!-- section:
FILE: TITLE -->` for a section of a file of the repository.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import posixpath
import re
from pathlib import Path
from typing import Any

import command_line
import notebooks
import verdicts
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
EXPERIMENTS = "proofs_check/experiments"
RESULTS = (EXPERIMENTS, "docs/results", "acdpp/report")
# where a reader of the site finds what a reader of the repository finds there
ON_THE_SITE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "proofs_check/README.md": "how-claims-are-judged.md",
    EXPERIMENTS: "results/files.md",
    "docs/results": "results/files.md",
}
TITLES = {"proofs_check/README.md": "How claims are judged"}
ENGINES = ("identity", "smt", "limit", "enclosure", "exact", "worst_case", "simulation", "experiment")
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s]+)(\))")


def api() -> dict[str, list[str]]:
    """The modules with a page of their own, package by package."""
    found = pkgutil.walk_packages(importlib.import_module("theory").__path__, "theory.")
    theory = [one.name.removeprefix("theory.") for one in found if not one.ispkg]
    claims = [
        "claim",
        "evidence",
        "registry",
        "run",
        "simulator",
        "symbols",
        "text",
        "printing",
        "document",
        "ledger",
    ]
    homes = [*importlib.import_module("empirics")._HOMES, "federation.client", "federation.server"]
    return {
        "theory": theory,
        "proofs_check": [*claims, *(f"engines.{name}" for name in ENGINES)],
        "empirics": homes,
        "figures": list(importlib.import_module("figures").__all__),
    }


def on_config(config: Any) -> Any:
    """Put the pages of the modules where the navigation says `api/PACKAGE`."""
    pages = {
        f"api/{package}": [
            f"api/{package}/index.md",
            *({f"{package}.{name}": f"api/{package}/{name}.md"} for name in names),
        ]
        for package, names in api().items()
    }

    def filled(nav: Any) -> Any:
        if isinstance(nav, dict):
            return {title: filled(below) for title, below in nav.items()}
        return [filled(one) for one in nav] if isinstance(nav, list) else pages.get(nav, nav)

    config.nav = filled(config.nav)
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages."""
    made = {
        "command-line.md": command_line.markdown(),
        verdicts.PAGE: verdicts.markdown(),
        "results/files.md": _results(),
    }
    for source, uri in ON_THE_SITE.items():
        if source.endswith(".md") and uri != "index.md":
            text = (ROOT / source).read_text(encoding="utf-8")
            if source in TITLES:
                text = re.sub(r"\A# .*", f"# {TITLES[source]}", text)
            made[uri] = relinked(text, source, uri)
    for package, names in api().items():
        made[f"api/{package}/index.md"] = _package(package, names)
        for name in names:
            made[f"api/{package}/{name}.md"] = f"# {package}.{name}\n\n::: {package}.{name}\n"
    for path in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        text, pictures = notebooks.page(path)
        uri = f"notebooks/{path.stem}.md"
        made[uri] = relinked(text, f"docs/{uri}", uri)
        for name, picture in pictures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=picture))
    for uri, text in made.items():
        files.append(File.generated(config, uri, content=text))
    for path in _result_files():
        if not path.is_relative_to(ROOT / "docs"):
            files.append(File.generated(config, f"results/{path.name}", abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Tables, sections, links that lead out of `docs/`, and numbers without their markers."""
    uri = page.file.src_uri
    if (ROOT / "docs" / uri).is_file():
        markdown = relinked(markdown, f"docs/{uri}", uri)
    markdown = re.sub(
        r'<!--=others.modules\("(\w+)"\)-->(.*?)<!--/-->',
        lambda found: _modules(found[1], found[2].strip(), uri),
        markdown,
        flags=re.DOTALL,
    )
    markdown = re.sub(r"<!--(?:=.*?|/)-->", "", markdown)
    return re.sub(
        r"<!-- section: (\S+): (.*?) -->",
        lambda found: relinked(_section(found[1], found[2]), found[1], uri),
        markdown,
    )


def on_page_content(html: str, page: Any, files: Any, **_: Any) -> str:
    """Labels of claims lead to their verdicts."""
    there = files.get_file_from_path(verdicts.PAGE)
    return verdicts.linked(html, there.url_relative_to(page.file))


def relinked(markdown: str, source: str, uri: str) -> str:
    """The text of a file of the repository with its links as they must be on the page of the site."""

    def link(found: re.Match[str]) -> str:
        target, _, anchor = found[2].partition("#")
        if not target or ":" in target:
            return found[0]
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        there = ON_THE_SITE.get(wanted) or (
            wanted.removeprefix("docs/") if wanted.startswith("docs/") else None
        )
        if there is None:
            raise PluginError(f"{source} links to {wanted}, which is not on the site")
        if there.endswith(".ipynb") and there.removesuffix(".ipynb") != uri.removesuffix(".md"):
            there = (
                f"{there.removesuffix('.ipynb')}.md"  # a page for readers; the file itself is offered there
            )
        there = posixpath.relpath(there, posixpath.dirname(uri) or ".")
        return f"{found[1]}{there}{'#' if anchor else ''}{anchor}{found[3]}"

    parts = re.split(r"(?ms)(^```.*?^```)", markdown)
    return "".join(part if n % 2 else LINK.sub(link, part) for n, part in enumerate(parts))


def _section(source: str, title: str) -> str:
    text = (ROOT / source).read_text(encoding="utf-8")
    found = re.search(rf"(?ms)^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text)
    if not found:
        raise PluginError(f"{source} has no section {title!r}")
    return found[1].strip()


def _package(package: str, names: list[str]) -> str:
    lines = [f"# {package}", "", f"::: {package}", "    options:", "      members: false", ""]
    lines += ["## Pages", "", *(f"* [`{package}.{name}`]({name}.md)" for name in names), ""]
    return "\n".join(lines)


def _modules(package: str, table: str, uri: str) -> str:
    """The table of a package's modules; a module that has a page links to it."""
    pages, up = api()[package], posixpath.relpath("api", posixpath.dirname(uri) or ".")

    def linked(found: re.Match[str]) -> str:
        return f"[`{found[1]}`]({up}/{package}/{found[1]}.md)" if found[1] in pages else found[0]

    rows = [line.split(" | ", 1) for line in table.splitlines()]
    return "\n".join(" | ".join([re.sub(r"`([\w.]+)`", linked, first), *rest]) for first, *rest in rows)


def _result_files() -> list[Path]:
    return [path for folder in RESULTS for path in sorted((ROOT / folder).glob("*.json"))]


def _results() -> str:
    lines = [
        "# Results",
        "",
        "What was measured, as the program wrote it. Each file has the command that made it and the hardware; the",
        "pages quote them, and tests hold the two equal. Those marked ∗ decide claims (`proofs_check/experiments`).",
        "",
        "| file | command | hardware |",
        "| --- | --- | --- |",
    ]
    for path in _result_files():
        found = json.loads(path.read_text(encoding="utf-8"))
        mark = " ∗" if path.parent == ROOT / EXPERIMENTS else ""
        lines.append(f"| [{path.stem}]({path.name}){mark} | `{found['command']}` | {found['hardware']} |")
    return "\n".join(lines) + "\n"
