"""The tree keeps its own rules: style, types, layers, and no float literal in the theory."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = ["acdpp", "figures", "empirics", "proofs_check", "theory"]
# of empirics
FLOORS = [
    "reference",
    "run",
    "predict",
    "continuing",
    "records",
    "prediction",
    "training",
    "given",
    "control",
    "settings",
    "data",
    "draws",
    "files",
]
PRESENT = [layer for layer in LAYERS if (ROOT / layer).is_dir()]


def modules(layer: str) -> list[Path]:
    return sorted((ROOT / layer).rglob("*.py"))


@pytest.mark.parametrize("tool", [["ruff", "check"], ["ruff", "format", "--check"], ["mypy"]])
def test_the_tree_is_clean(tool: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *tool], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("layer", PRESENT)
def test_imports_go_downward_only(layer: str) -> None:
    above = set(LAYERS[: LAYERS.index(layer)])
    for path in modules(layer):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                names = [node.module]
            assert not above & {name.split(".")[0] for name in names}, path.name


@pytest.mark.parametrize("floor", FLOORS)
def test_the_floors_of_empirics_know_only_those_below(floor: str) -> None:
    above = {f"empirics.{name}" for name in FLOORS[: FLOORS.index(floor)]}
    here = ROOT / "empirics" / floor
    for path in sorted(here.rglob("*.py")) if here.is_dir() else [here.with_suffix(".py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                assert ".".join(node.module.split(".")[:2]) not in above, path.name


def test_the_theory_has_no_float_literal_no_torch_and_no_output() -> None:
    for path in modules("theory"):
        for node in ast.walk(ast.parse(path.read_text())):
            assert not (isinstance(node, ast.Constant) and isinstance(node.value, float)), (
                path.name,
                node.lineno,
            )
            assert not (isinstance(node, ast.Import) and any(a.name == "torch" for a in node.names)), (
                path.name
            )
            called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            assert called not in {"print", "open"}, (path.name, node.lineno)


def test_every_package_is_installed_and_typed() -> None:
    listed = (ROOT / "pyproject.toml").read_text()
    for layer in PRESENT:
        assert f'"{layer}"' in listed or f'"{layer}*"' in listed
        assert (ROOT / layer / "py.typed").exists()
