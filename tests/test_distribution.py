"""What is handed out is whole: source distribution and wheel have every file and work, and every package says what it
holds."""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PACKAGES = ["acdpp", "empirics", "figures", "proofs_check", "theory"]
HEAVY = ["torch", "z3", "matplotlib", "PEPit", "hypothesis"]
ONLY_IN_THE_REPOSITORY = {".ci/run", ".gitignore"}
MADE_BY_BUILDING = {"PKG-INFO", "setup.cfg"}


def source_files() -> set[str]:
    """The files of the tree: those that git knows, or, in an unpacked distribution, all that were not made here."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
        return {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}
    found = {str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file()}
    made = ("__pycache__", ".egg-info", "_cache", ".hypothesis", ".venv", "build", "dist")
    return {
        name for name in found if not any(part.endswith(made) for part in Path(name).parent.parts)
    } - MADE_BY_BUILDING


@dataclass(frozen=True)
class Distribution:
    """From the tree the source distribution; from that, unpacked, the wheel; and the wheel installed into `site`."""

    source: Path
    unpacked: Path
    wheel: Path
    site: Path

    def run(self, *command: str, cwd: Path) -> str:
        """What a command prints, with the installed wheel before everything else that can be imported."""
        plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        place = {"PYTHONPATH": str(self.site), "PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        return finish(*command, cwd=cwd, env=plain | place)


def finish(*command: str, cwd: Path, env: dict[str, str] | None = None) -> str:
    """What a command prints that must succeed."""
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(kind: str, tree: Path, out: Path) -> Path:
    """By the build system that `pyproject.toml` names, with what is installed."""
    out.mkdir()
    code = f"import sys, setuptools.build_meta as backend; backend.build_{kind}(sys.argv[1])"
    finish(sys.executable, "-c", code, str(out), cwd=tree)
    (made,) = out.iterdir()
    return made


@pytest.fixture(scope="module")
def distribution(tmp_path_factory: pytest.TempPathFactory) -> Distribution:
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
    site = folder / "site"
    alone = ["--quiet", "--no-deps", "--no-index", "--no-compile", "--target", str(site)]
    finish(sys.executable, "-m", "pip", "install", *alone, str(wheel), cwd=folder)
    return Distribution(source, unpacked, wheel, site)


def test_the_source_distribution_has_every_file(distribution: Distribution) -> None:
    with tarfile.open(distribution.source) as archive:
        packed = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    packed = {name for name in packed if ".egg-info" not in name} - MADE_BY_BUILDING
    assert packed == source_files() - ONLY_IN_THE_REPOSITORY


def test_the_wheel_has_every_file_of_the_packages_and_no_other(distribution: Distribution) -> None:
    """Modules, and what they read: the ledger, results, the parts of the report."""
    with zipfile.ZipFile(distribution.wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    wanted = {name for name in source_files() if name.partition("/")[0] in PACKAGES}
    assert {"proofs_check/ledger.json", "acdpp/report/page.html"} < wanted
    assert packed == wanted


def test_the_wheel_says_what_the_project_does(distribution: Distribution) -> None:
    (found,) = importlib.metadata.distributions(path=[str(distribution.site)])
    assert (found.metadata["Name"], found.version) == (PROJECT["name"], PROJECT["version"])
    assert found.metadata["License-Expression"] == PROJECT["license"]
    assert found.metadata["Requires-Python"] == PROJECT["requires-python"]
    assert set(PROJECT["dependencies"]) <= set(found.requires or [])
    assert {one.name: one.value for one in found.entry_points} == PROJECT["scripts"]


def test_the_wheel_works_on_its_own(distribution: Distribution, tmp_path: Path) -> None:
    where = "import importlib, sys; print(*(importlib.import_module(name).__file__ for name in sys.argv[1:]))"
    found = distribution.run(sys.executable, "-c", where, *PACKAGES, cwd=tmp_path).split()
    assert found == [str(distribution.site / name / "__init__.py") for name in PACKAGES]

    def acdpp(words: str) -> str:
        return distribution.run(str(distribution.site / "bin" / "acdpp"), *words.split(), cwd=tmp_path)

    assert acdpp("--version").split()[-1] == PROJECT["version"]
    assert json.loads(acdpp("bound constant --K 10 --rate 10 --horizon 1e12 --json"))
    assert "All as recorded" in acdpp("verify --claim eq:vck-exact --jobs 1")


def test_the_source_distribution_passes_its_tests_on_its_own(distribution: Distribution) -> None:
    """A few of them here, with no package beside them, so that they meet the installed wheel; all are those of the
    tree, by the tests above.
    """
    for package in PACKAGES:
        shutil.rmtree(distribution.unpacked / package)
    tests = ["tests/theory/test_setting.py", "tests/empirics/settings"]
    alone = ["-p", "no:cacheprovider", "-o", "pythonpath="]
    distribution.run(sys.executable, "-m", "pytest", *alone, *tests, cwd=distribution.unpacked)


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_exist_and_are_explained(package: str) -> None:
    module = importlib.import_module(package)
    assert module.__doc__
    assert len(set(module.__all__)) == len(module.__all__)
    for name in module.__all__:
        public = getattr(module, name)
        assert inspect.getdoc(public), name


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_a_package_stays_light(package: str) -> None:
    code = f"import sys, {package}; print(*(set(sys.modules) & set({HEAVY!r})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == ""


def test_only_verifying_needs_the_verifiers(tmp_path: Path) -> None:
    hidden = "import sys; sys.modules.update(dict.fromkeys(('hypothesis', 'PEPit', 'z3')))"

    def acdpp(words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", f"{hidden}; from acdpp.main import main; main()", *words.split()]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)

    refused = acdpp("verify")
    assert refused.returncode == 2
    assert "pip install 'acdpp[verify]'" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    for words in ("bound regret", "design --buffers 8,9 --budget 5 --mean-cost 2", "plot uniformity --out ."):
        assert acdpp(words).returncode == 0, words
