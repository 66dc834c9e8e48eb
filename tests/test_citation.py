"""CITATION.cff is valid by the schema of its format, and says what the project and its changelog say."""

import re
import tomllib
from pathlib import Path

import yaml
from click.testing import CliRunner

ROOT = Path(__file__).parent.parent
FILE = ROOT / "CITATION.cff"
CITATION = yaml.safe_load(FILE.read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_it_is_valid_by_the_schema_of_its_format() -> None:
    from check_jsonschema import main

    done = CliRunner().invoke(main, ["--builtin-schema", "vendor.citation-file-format", str(FILE)])
    assert done.exit_code == 0, done.output


def test_version_and_date_are_those_of_the_latest_release() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    latest = re.search(r"^## (?!Unreleased$)(.*)$", changelog, re.MULTILINE)
    assert latest
    assert latest[1] == f"{CITATION['version']} — {CITATION['date-released']}"
    assert CITATION["version"] == PROJECT["version"]


def test_it_names_the_licence_and_keywords_of_the_project() -> None:
    assert CITATION["license"] == PROJECT["license"]
    assert set(PROJECT["keywords"]) <= set(CITATION["keywords"])
