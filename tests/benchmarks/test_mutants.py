"""The planting of errors itself: every kind is planted where it can be, and nowhere else."""

import ast

import pytest

from benchmarks.mutants import plant
from benchmarks.mutants.plant import mutants_of_claims, mutants_of_theory, planted

SOURCE = '''
def formula(K, t, constants):
    """Doubled: 2 * K stays as it is here."""
    if K < 1:
        raise ValueError(f"K must be at least {0 + 1}")
    total = 1 + minimum(K, t)
    total = total + remainder(t)
    return ratio(3 * total - constants.merged.eta, -t**2)


def check():
    return together(equal(left, right, domain="1 + 1"), always(x < y, given=[x > 0, y > 1], domain=""))
'''


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """All errors of the source above: pairs (mutant, the source with it)."""
    (tmp_path / "theory").mkdir()
    path = tmp_path / "theory" / "made_up.py"
    path.write_text(SOURCE)
    monkeypatch.setattr(plant, "ROOT", tmp_path)
    return [
        (mutant, source())
        for operators in (None, plant.OF_CLAIMS)
        for mutant, source in plant._all_in(path, "theory.made_up", operators)
    ]


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("sign", "3 * total + constants.merged.eta"),
        ("term dropped", "ratio(3 * total, -t ** 2)"),
        ("factor dropped", "total - constants.merged.eta"),
        ("constant", "4 * total"),
        ("sign", "constants.merged.eta, t ** 2"),
        ("exponent dropped", "-t)"),
        ("function", "maximum(K, t)"),
        ("E ignored", "3 * total - constants.eta"),
        ("correction deleted", "pass"),
        ("index", "t = t + 1"),
        ("K ignored", "K = 1 + 0 * K"),
        ("premise dropped", "given=[y > 1]"),
        ("formula altered", "equal(left, right + 1, domain='1 + 1')"),
        ("link deleted", "together(always("),
    ],
)
def test_every_kind_of_error_is_planted(broken, kind, code):
    assert any(mutant.kind == kind and code in source for mutant, source in broken)


def test_each_error_changes_the_source_and_only_one_place_of_it(broken):
    sound = ast.unparse(ast.parse(SOURCE)).splitlines()
    for mutant, source in broken:
        lines = source.splitlines()
        assert lines != sound
        changed = [line for line in lines if line not in sound]
        assert len(changed) <= 1, mutant.key


def test_validation_and_messages_are_left_alone(broken):
    for _, source in broken:
        assert "if K < 1:" in source
        assert "at least {0 + 1}" in source
        assert "Doubled: 2 * K stays" in source


def test_every_error_of_the_tree_has_a_name_of_its_own_and_can_be_planted_by_it():
    mutants = [*mutants_of_theory(), *mutants_of_claims()]
    assert len({m.key for m in mutants}) == len(mutants)
    for mutant in mutants[:: len(mutants) // 20]:
        compile(planted(mutant), mutant.path, "exec")
