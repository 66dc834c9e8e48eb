"""Commands load what they need and no more. How long that takes is for `python -m benchmarks.startup`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from acdpp.main import COMMANDS, app

ROOT = Path(__file__).parents[2]
NUMBERS = ("numpy", "sympy", "scipy", "mpmath", "flint")
SHOWN = ("rich.console", *NUMBERS[1:])
TRAINING = ("torch", "empirics.run", "empirics.training.engine")
NETWORKS = ("empirics.training.networks", "empirics.training.resnet", "empirics.training.tiles")
BUDGET = "--buffers 8,9 --budget 5 --mean-cost 2"
DIGITS = "--policies constant --rounds 2 --no-best"
RUN = """
import os, sys
from acdpp.main import main

for n, words in enumerate(sys.argv[1:]):
    if n == 2:
        import numpy  # which all but the first two may load
    if child := os.fork():
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        continue
    sys.stdout = sys.stderr = open(f"{n}.said", "w")
    sys.argv[1:] = words.split()
    try:
        main()
    finally:
        with open(f"{n}.loaded", "w") as loaded:
            loaded.write(" ".join(sys.modules))
"""
CASES = [  # words, exit status, and what is not loaded
    ("--help", 0, ("rich.progress", "theory.setting", "empirics", "figures", *NUMBERS)),
    ("nonsense", 2, ("rich", "theory.setting", "empirics", "figures", *NUMBERS)),
    ("design --nonsense", 2, ("theory.design.offline", "theory.bound.theorem1", *SHOWN, *TRAINING)),
    ("design --buffers x --budget 1 --mean-cost 1", 2, ("theory.design.offline", *SHOWN)),
    ("bound constant --K x", 2, ("theory.bound.theorem1", "theory.numbers.summation", *SHOWN)),
    ("bound constant", 0, ("acdpp.design", "empirics", "figures", "sympy", "scipy", "flint", *TRAINING)),
    (f"design {BUDGET}", 0, ("empirics", "figures", "sympy", "flint", *TRAINING)),
    ("buy --cost uniform:1:10", 0, ("empirics", "sympy", "flint", "torch")),
    ("predict --rounds 0", 2, (*TRAINING, "rich.console", "scipy", "proofs_check", "figures")),
    (f"predict {DIGITS}", 0, (*NETWORKS, "sklearn", "proofs_check", "figures")),
    ("train --show-config", 0, (*TRAINING, "scipy", "proofs_check", "figures")),
    ("explore --port x", 2, (*TRAINING, "nicegui", "rich.console", "empirics", "figures")),
    ("plot uniformity --K x", 2, ("matplotlib", "empirics", "proofs_check", *NUMBERS[1:])),
    ("verify --claim eq:nothing", 2, ("torch", "empirics", "figures", "matplotlib")),
]


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str, set[str]]]:
    """Status, words and modules of every command, each in a fork of a process that has loaded the command line."""
    work, every = tmp_path_factory.mktemp("startup"), [words for words, _, _ in CASES]
    command, env = [sys.executable, "-c", RUN, *every], {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=work, env=env, capture_output=True, text=True, check=True)
    said, loaded = (
        [(work / f"{n}.{kind}").read_text() for n in range(len(CASES))] for kind in ("said", "loaded")
    )
    return {
        words: (int(status), told, set(modules.split()))
        for words, status, told, modules in zip(every, done.stdout.split(), said, loaded, strict=True)
    }


@pytest.mark.parametrize(("words", "status", "absent"), CASES)
def test_a_command_loads_what_it_needs_and_no_more(
    words: str, status: int, absent: tuple[str, ...], ended: dict[str, tuple[int, str, set[str]]]
) -> None:
    found, said, loaded = ended[words]
    assert found == status, said
    assert "acdpp.main" in loaded
    assert not loaded & set(absent)


def test_the_theory_alone_loads_no_number_system_but_numpy() -> None:
    code = f"import sys; from theory import *; print(*(name for name in {NUMBERS!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["numpy"]


def test_commands_are_listed_with_their_own_help() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert {name: one.help for name, one in COMMANDS.items()} == {
        name: one.help for name, one in commands.items()
    }
