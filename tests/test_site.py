"""The documentation site builds without a warning, has no dead link, and asks no other server for anything."""

import os
import re
import sys
import warnings
from html.parser import HTMLParser
from pathlib import Path
from unittest import mock
from urllib.parse import unquote, urlsplit

import pytest
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

from proofs_check.ledger import read
from tests.acdpp.program import finish

ROOT = Path(__file__).parent.parent
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "proofs_check" / "README.md"]
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}
# quiet: an advertisement of the theme's authors on every build; clean: no __pycache__ in docs/
QUIET = {"NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"}
# without ruff, which would format every signature in a process of its own
MKDOCS = "import runpy, sys; sys.modules['ruff'] = None; runpy.run_module('mkdocs', None, '__main__', True)"


class Page(HTMLParser):
    """Links, loaded files and anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links = []
        self.loads = []
        self.anchors = {"", "__top"}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in LOADED and LOADED[tag] in given:
            self.loads.append(given[LOADED[tag]])
        self.loads += re.findall(r"url\(['\"]?(.*?)['\"]?\)", given.get("style", ""))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Pages of the built site."""
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-c", MKDOCS, "build", "--strict", "-d", str(out)]
    done = finish(*command, cwd=ROOT, env=os.environ | QUIET)
    assert not re.search("warning|error", done.stdout + done.stderr, re.IGNORECASE), done.stderr
    return {path: Page(path) for path in sorted(out.rglob("*.html"))}


@pytest.mark.slow
def test_every_link_leads_somewhere(site):
    dead = []
    for path, page in site.items():
        if path.name == "404.html":  # is served at any address, so its links have no base
            continue
        for link in [*page.links, *page.loads]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = there.is_file() and (there not in site or unquote(parts.fragment) in site[there].anchors)
            if not known:
                dead.append(f"{path.name}: {link}")
    assert not dead


@pytest.mark.slow
def test_nothing_is_loaded_from_another_server(site):
    for path, page in site.items():
        assert not [link for link in page.loads if urlsplit(link).scheme or link.startswith("//")], path.name
    (index,) = (path for path in site if path.name == "index.html" and (path.parent / "search").is_dir())
    for sheet in index.parent.rglob("*.css"):
        asked = re.findall(
            r"(?:url\(|@import)\s*['\"]?(?:https?:)?//[^)'\"]*", sheet.read_text(encoding="utf-8")
        )
        assert not asked, sheet.name


@pytest.mark.slow
def test_formulas_are_typeset_in_pages_and_docstrings(site):
    typeset = {path.name for path in site if "<math" in path.read_text(encoding="utf-8")}
    assert {"paper.html", "verdicts.html", "reuse.counts.html", "regret.transient.html"} <= typeset


@pytest.mark.slow
def test_the_reference_has_every_command_and_every_module_of_theory(site):
    text = {path.name: path.read_text(encoding="utf-8") for path in site}
    for words in ("acdpp verify", "acdpp report", "acdpp plot omegas", "--certified", "--pilot"):
        assert words in text["command-line.html"]
    modules = [path.relative_to(ROOT / "theory") for path in (ROOT / "theory").rglob("[a-z]*.py")]
    assert len(modules) > 20
    assert {f"{'.'.join(path.with_suffix('').parts)}.html" for path in modules} <= set(text)


# --- what must make it fail --------------------------------------------------------------------------------

SMALL = """
INHERIT: {config}
docs_dir: docs
nav: [index.md, other.md]
hooks: [{hook}]
plugins: []
extra_css: []
not_in_nav: ""
exclude_docs: ""
"""


def small_site(folder, text):
    """Build a site of two pages with this site's formulas and link checks."""
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs" / "index.md").write_text(f"# Start\n\n{text}\n", encoding="utf-8")
    (folder / "docs" / "other.md").write_text("# Other\n\n## Part\n", encoding="utf-8")
    config = folder / "mkdocs.yml"
    hook = ROOT / "docs" / "_hooks" / "mathematics.py"
    config.write_text(SMALL.format(config=ROOT / "mkdocs.yml", hook=hook), encoding="utf-8")
    quiet = mock.patch.object(sys, "dont_write_bytecode", True)  # nothing is written into docs/
    with quiet, warnings.catch_warnings(action="ignore"):
        mkdocs_build(load_config(str(config), strict=True, site_dir=str(folder / "out")))


def test_mistakes_in_links_stop_the_build(tmp_path, caplog):
    small_site(tmp_path, "[a page](other.md#part), $x^2$ and `\\alpha`")
    assert "<math" in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    wrong = ("missing.md", "other.md#nowhere", "../benchmarks", "/other.md")
    with pytest.raises(Abort, match=f"{len(wrong)} warnings"):
        small_site(tmp_path, " ".join(f"[a link]({link})" for link in wrong))
    for link in wrong:
        assert f"'{link}'" in caplog.text


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("an unknown word: $\\nowhere x$", "cannot be typeset"),
        ("no formula: \\alpha", "not read as a formula"),
        ("no end: $x + 1", "not read as a formula"),
    ],
)
def test_mistakes_in_formulas_stop_the_build(text, complaint, tmp_path, caplog):
    with pytest.raises(Abort), caplog.at_level("ERROR"):
        small_site(tmp_path, text)
    assert complaint in caplog.text


# --- what the pages say of claims --------------------------------------------------------------------------


def recorded():
    return {entry.id: str(entry.stated.verdict) for entry in read()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_the_claims_that_a_page_names_exist(page):
    kinds = "|".join({label.partition(":")[0] for label in recorded()})
    assert set(re.findall(rf"`((?:{kinds}):[\w/-]+)`", page.read_text(encoding="utf-8"))) <= set(recorded())


def test_verdicts_behind_labels_are_those_of_the_ledger():
    known, seen = recorded(), 0
    for page in PAGES:
        quoted = re.findall(r"`([a-z]+:[\w/-]+)`\s+\(([a-z]+)\)", page.read_text(encoding="utf-8"))
        for label, verdict in quoted:
            assert known[label] == verdict, (page.name, label)
        seen += len(quoted)
    assert seen > 30
