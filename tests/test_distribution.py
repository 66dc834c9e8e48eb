"""What is handed out is whole: the source distribution has every file, and every package says what it holds."""

from __future__ import annotations

import importlib
import inspect
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
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


def make_source_distribution(tmp_path: Path) -> Path:
    """Built from a copy of the tree's own files."""
    wanted = source_files()
    for name in wanted:
        place = tmp_path / "tree" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, place)
    build = "import setuptools.build_meta as backend; print(backend.build_sdist('..'))"
    done = subprocess.run(
        [sys.executable, "-c", build], cwd=tmp_path / "tree", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return next(tmp_path.glob("acdpp-*.tar.gz"))


def test_the_source_distribution_has_every_file(tmp_path: Path) -> None:
    wanted = source_files()
    with tarfile.open(make_source_distribution(tmp_path)) as archive:
        packed = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    packed = {name for name in packed if ".egg-info" not in name} - MADE_BY_BUILDING
    assert packed == wanted - ONLY_IN_THE_REPOSITORY


def test_the_source_distribution_installs_and_passes_its_tests_on_its_own(tmp_path: Path) -> None:
    """A few of them here; all are those of the tree, by the test above."""
    packed = make_source_distribution(tmp_path)
    with tarfile.open(packed) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
    ]
    tests = [
        "-p",
        "no:cacheprovider",
        "tests/theory/test_setting.py",
        "tests/empirics/settings",
    ]
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    for command, extra in (
        ([*pip, "--target", str(tmp_path / "site"), str(packed)], {}),
        ([sys.executable, "-m", "pytest", "-q", *tests], {"PYTHONPATH": str(tmp_path / "site")}),
    ):
        done = subprocess.run(
            command, cwd=unpacked, env=plain | extra, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


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
