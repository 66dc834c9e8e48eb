"""What a command loads: what it needs and no more. How long that takes is for `python -m benchmarks.startup`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from acdpp.main import COMMANDS, app

ROOT = Path(__file__).parents[2]
NUMBERS = ("numpy", "sympy", "scipy", "mpmath", "flint")
TRAINING = ("torch", "empirics.run", "empirics.training.engine")
NETWORKS = ("empirics.training.networks", "empirics.training.resnet", "empirics.training.tiles")
BUDGET = "--buffers 8,9 --budget 5 --mean-cost 2"
DIGITS = "--policies constant --rounds 2 --no-best"
RUN = """
import sys
from acdpp.main import main
sys.argv[1:] = {words!r}.split()
try:
    main()
finally:
    print(*(name for name in {absent!r} if name in sys.modules), file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("words", "status", "absent"),
    [
        ("--help", 0, ("rich.progress", "theory.setting", "empirics", "figures", *NUMBERS)),
        ("nonsense", 2, ("rich", "theory.setting", "empirics", "figures", *NUMBERS)),
        ("design --nonsense", 2, ("rich.console", "theory.design", "theory.bound", *NUMBERS[1:], *TRAINING)),
        ("design --buffers x --budget 1 --mean-cost 1", 2, ("rich.console", "theory.design", *NUMBERS[1:])),
        ("bound constant --K x", 2, ("rich.console", "theory.bound", "theory.summation", *NUMBERS[1:])),
        ("bound constant", 0, ("acdpp.design", "empirics", "figures", "sympy", "scipy", "flint", *TRAINING)),
        (f"design {BUDGET}", 0, ("empirics", "figures", "sympy", "flint", *TRAINING)),
        ("design --policy buy-cheap --cost uniform:1:10", 0, ("empirics", "sympy", "flint", "torch")),
        ("predict --rounds 0", 2, (*TRAINING, "rich.console", "scipy", "proofs_check", "figures")),
        (f"predict {DIGITS}", 0, (*NETWORKS, "sklearn", "proofs_check", "figures")),
        ("train --show-config", 0, (*TRAINING, "scipy", "proofs_check", "figures")),
        ("explore --port x", 2, (*TRAINING, "nicegui", "rich.console", "empirics", "figures")),
        ("plot uniformity --K x", 2, ("matplotlib", "empirics", "proofs_check", *NUMBERS[1:])),
        ("verify --record --claim eq:vck-exact", 2, ("torch", "empirics", "figures", "matplotlib")),
    ],
)
def test_a_command_loads_what_it_needs_and_no_more(
    words: str, status: int, absent: tuple[str, ...], tmp_path: Path
) -> None:
    command = [sys.executable, "-c", RUN.format(words=words, absent=absent)]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert done.stderr.splitlines()[-1] == ""


def test_the_theory_alone_loads_no_number_system_but_numpy() -> None:
    code = f"import sys; from theory import *; print(*(name for name in {NUMBERS!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["numpy"]


def test_commands_are_listed_with_their_own_help() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert {name: one.help for name, one in COMMANDS.items()} == {
        name: one.help for name, one in commands.items()
    }
