"""Commands load what they need and no more. How long that takes is for `python -m benchmarks.startup`."""

import sys

import pytest
import typer

from acdpp.main import COMMANDS, app
from tests.acdpp.program import finish, several

NUMBERS = ("numpy", "sympy", "scipy", "mpmath", "flint")
SHOWN = ("rich.console", *NUMBERS[1:])
TRAINING = ("torch", "empirics.run", "empirics.training.engine")
NETWORKS = ("empirics.training.networks", "empirics.training.resnet", "empirics.training.kernel_tiles")
BUDGET = "--buffers 8,9 --budget 5 --mean-cost 2"
DIGITS = "--policies constant --rounds 2 --no-best"
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
def loaded():
    """What is loaded by each command; all but the first two may load NumPy."""
    first, rest = ([words for words, _, _ in some] for some in (CASES[:2], CASES[2:]))
    found = [*several(*first, apart=True), *several(*rest, before="import numpy", apart=True)]
    return dict(zip([*first, *rest], found, strict=True))


@pytest.mark.parametrize(("words", "status", "absent"), CASES)
def test_a_command_loads_what_it_needs_and_no_more(words, status, absent, loaded):
    found, _, said, modules = loaded[words]
    assert found == status, said
    assert not set(modules) & set(absent)


IMPORTS = {
    "theory": NUMBERS[1:],
    "acdpp, empirics, figures, proofs_check, theory": ("torch", "z3", "matplotlib", "PEPit", "hypothesis"),
    "empirics.data": ("torch",),
}


@pytest.mark.parametrize("packages", IMPORTS)
def test_an_import_stays_light(packages):
    code = f"import sys, {packages}; print(*sys.modules)"
    assert not set(finish(sys.executable, "-c", code).stdout.split()) & set(IMPORTS[packages])


def test_commands_are_listed_with_their_own_help():
    commands = typer.main.get_command(app).commands
    assert {name: one.help for name, one in COMMANDS.items()} == {
        name: one.help for name, one in commands.items()
    }
