"""Source distribution and wheel have every file and work, names are documented, and CITATION.cff is valid."""

import importlib
import importlib.metadata
import inspect
import json
import os
import re
import shutil
import sys
import tarfile
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from tests.acdpp.program import SEVERAL, finish, several

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PACKAGES = ["acdpp", "empirics", "figures", "proofs_check", "theory"]
ONLY_IN_THE_REPOSITORY = (".ci/", ".gitignore")
MADE_BY_BUILDING = {"PKG-INFO", "setup.cfg"}


def source_files():
    """Files that git knows or, in an unpacked distribution, all that were not made there."""
    if (ROOT / ".git").exists():
        listed = finish("git", "ls-files", cwd=ROOT).stdout
        return {name for name in listed.splitlines() if (ROOT / name).is_file()}
    found = {str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file()}
    made = ("__pycache__", ".egg-info", "_cache", ".hypothesis", ".venv", "build", "dist")
    return {
        name for name in found if not any(part.endswith(made) for part in Path(name).parent.parts)
    } - MADE_BY_BUILDING


@dataclass(frozen=True)
class Distribution:
    """The source distribution of the tree, unpacked; its wheel; and `site`, the unpacked wheel."""

    source: Path
    unpacked: Path
    wheel: Path
    site: Path

    def run(self, *command, cwd):
        """Output of a command, with the installed wheel before everything else that can be imported."""
        plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        place = {"PYTHONPATH": str(self.site), "PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        place["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        return finish(*command, cwd=cwd, env=plain | place).stdout


def build(kind, tree, out):
    """Build with the build system that `pyproject.toml` names, as installed."""
    out.mkdir()
    code = f"import sys, setuptools.build_meta as backend; backend.build_{kind}(sys.argv[1])"
    finish(sys.executable, "-c", code, str(out), cwd=tree)
    (made,) = out.iterdir()
    return made


@pytest.fixture(scope="module")
def distribution(tmp_path_factory):
    folder = tmp_path_factory.mktemp("distribution")
    for name in source_files():
        place = folder / "tree" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, place)
    source = build("sdist", folder / "tree", folder / "source")
    with tarfile.open(source) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    wheel = build("wheel", unpacked, folder / "wheel")
    with zipfile.ZipFile(wheel) as archive:  # all that installing does, except for a script that calls main
        archive.extractall(folder / "site")
    return Distribution(source, unpacked, wheel, folder / "site")


def test_the_source_distribution_has_every_file(distribution):
    with tarfile.open(distribution.source) as archive:
        packed = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    packed = {name for name in packed if ".egg-info" not in name} - MADE_BY_BUILDING
    assert packed == {name for name in source_files() if not name.startswith(ONLY_IN_THE_REPOSITORY)}


def test_the_wheel_has_every_file_of_the_packages_and_no_other(distribution):
    with zipfile.ZipFile(distribution.wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    wanted = {name for name in source_files() if name.partition("/")[0] in PACKAGES}
    typed = {f"{package}/py.typed" for package in PACKAGES}
    assert {"proofs_check/ledger.json", "acdpp/report/page.html", *typed} < wanted
    assert packed == wanted


def test_the_wheel_says_what_the_project_does(distribution):
    (found,) = importlib.metadata.distributions(path=[str(distribution.site)])
    assert (found.metadata["Name"], found.version) == (PROJECT["name"], PROJECT["version"])
    assert found.metadata["License-Expression"] == PROJECT["license"]
    assert found.metadata["Requires-Python"] == PROJECT["requires-python"]
    assert set(PROJECT["dependencies"]) <= set(found.requires or [])
    assert {one.name: one.value for one in found.entry_points} == PROJECT["scripts"]


def test_the_wheel_works_on_its_own(distribution, tmp_path):
    where = f"import {', '.join(PACKAGES)}; print(*({', '.join(f'{name}.__file__' for name in PACKAGES)},))"
    found = distribution.run(sys.executable, "-c", where, cwd=tmp_path).split()
    assert found == [str(distribution.site / name / "__init__.py") for name in PACKAGES]
    commands = [
        "--version",
        "bound constant --K 10 --rate 10 --horizon 1e12 --json",
        "verify --claim eq:Z-update/start --jobs 1",
    ]
    said = distribution.run(sys.executable, "-c", SEVERAL, "", *commands, cwd=tmp_path).splitlines()
    statuses, (version, bound, verdict), *_ = zip(*map(json.loads, said), strict=True)
    assert statuses == (0, 0, 0)
    assert version.split()[-1] == PROJECT["version"]
    assert json.loads(bound)
    assert "All as recorded" in verdict


@pytest.mark.slow
def test_the_source_distribution_passes_its_tests_on_its_own(distribution):
    """A few tests, with no package beside them, so that they meet the wheel, and none that loads torch."""
    for package in PACKAGES:
        shutil.rmtree(distribution.unpacked / package)
    alone = ["-p", "no:cacheprovider", "-o", "pythonpath=", "--noconftest", "tests/theory/test_lambert.py"]
    distribution.run(sys.executable, "-m", "pytest", *alone, cwd=distribution.unpacked)


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_exist_and_are_explained(package):
    module = importlib.import_module(package)
    assert module.__doc__
    assert len(set(module.__all__)) == len(module.__all__)
    for name in module.__all__:
        public = getattr(module, name)
        assert inspect.getdoc(public), name


@pytest.mark.slow
def test_only_verifying_needs_the_verifiers(tmp_path):
    hidden = 'import sys; sys.modules.update(dict.fromkeys(("hypothesis", "PEPit", "z3")))\n'
    design = "design --buffers 8,9 --budget 5 --mean-cost 2"
    commands = ["verify", "bound regret", design, "plot uniformity --out ."]
    (status, _, refused, _), *others = several(*commands, before=hidden, cwd=tmp_path)
    assert status == 2
    assert "pip install 'acdpp[verify]'" in refused
    assert len(refused.splitlines()) == 1
    assert [status for status, *_ in others] == [0, 0, 0]


FILE = ROOT / "CITATION.cff"
CITATION = yaml.safe_load(FILE.read_text(encoding="utf-8"))


def test_the_citation_is_valid_by_the_schema_of_its_format():
    from check_jsonschema import main

    done = CliRunner().invoke(main, ["--builtin-schema", "vendor.citation-file-format", str(FILE)])
    assert done.exit_code == 0, done.output


def test_the_citation_agrees_with_the_latest_release_and_the_project():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    latest, *_ = re.findall(r"^## (?!Unreleased$)(.*)$", changelog, re.MULTILINE)
    assert latest == f"{CITATION['version']} — {CITATION['date-released']}"
    assert all(CITATION[name] == PROJECT[name] for name in ("version", "license"))
    assert set(PROJECT["keywords"]) <= set(CITATION["keywords"])
