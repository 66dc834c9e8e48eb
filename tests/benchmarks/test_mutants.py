"""Planted errors: every kind is planted where it can be, and nowhere else."""

import ast
import fnmatch
import json
import pickle
import sys
from functools import cache

import pytest

from benchmarks.mutants import __main__
from benchmarks.mutants.__main__ import reasons
from benchmarks.mutants.judge import Judgement, everywhere, exchange, functions, judge, judge_in_copy
from benchmarks.mutants.plant import ROOT, SETTINGS, chosen, errors_in, mutants, planted
from benchmarks.mutants.watch import Test, Watched
from proofs_check import ledger
from theory.regret.omegas import master_bound

SOURCE = '''
def formula(K, t, constants):
    """Doubled: 2 * K stays as it is here."""
    if K < 1:
        raise ValueError(f"K must be at least {0 + 1}")
    total = 1 + minimum(K, t)
    total = total + remainder(t)
    return ratio(3 * total - constants.merged.eta, -t**2)


def step(state, verbose):
    if verbose and state:
        log("seen")
    state.update(1)
    return state if verbose else None


NAMES = ("first", "last")


def interval(values, p):
    kept = [max(abs(one), 0) for one in values[p : p + 2] if 0 < one < 1]
    low, high = min(kept), values[p][~kept].std(axis=0, ddof=1)
    return {"low": low, "high": high}, NAMES[-1]
'''

CLAIMS = """
CLAIMS = [
    Claim(id="lem:one", checks=(lambda: always(x < y, given=[x > 0, y > 1]), lambda: equal(left, right))),
    Claim(id="lem:two", checks=(together(equal(a, b), equal(c, d)),)),
]


def check():
    return together(equal(left, right, domain="1 + 1"), always(x < y, given=[x > 0], domain=""))


def linked():
    named = [b > 0, b > 1]
    return argument((a > b, [a > 2], "where"), (c, d, "both"), (1 / t, t, end, "limit"), (a > 1, named, ""))
"""

ELSEWHERE = "local_shift: sign"


@pytest.fixture(scope="module")
def broken():
    """All errors of the sources above: pairs (mutant, the source with it)."""
    texts = {"theory.made_up": SOURCE, "empirics.made_up": SOURCE, "proofs_check.claims.made_up": CLAIMS}
    return [(error, source()) for name, text in texts.items() for error, source in errors_in(text, name)]


def test_every_kind_of_error_is_planted(broken):
    for kind, code in (
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
        ("premise dropped", "argument((a > b, [], 'where')"),
        ("premise dropped", "named = [b > 0]"),
        ("formula altered", "(c, d + 1, 'both')"),
        ("formula altered", "(1 / t, t, end + 1, 'limit')"),
        ("link deleted", "argument((a > b, [a > 2], 'where'), (1 / t"),
        ("formula altered", "equal(left, right + 1, domain='1 + 1')"),
        ("link deleted", "together(always("),
        ("branch dropped", "if False:"),
        ("branch dropped", "return None"),
        ("condition dropped", "if verbose:"),
        ("statement deleted", "pass\n    return state"),
        ("left out", "NAMES = ('first',)"),
        ("limit dropped", "[abs(one) for"),
        ("limit dropped", "max(one, 0)"),
        ("place", "values[p + 1:p + 2 + 1]"),
        ("first alone", "list(values[p:p + 2])[:1] if"),
        ("left out", "values[p:p + 2]]"),
        ("comparison", "0 <= one < 1"),
        ("comparison", "0 < one <= 1"),
        ("choice", "next(iter(kept))"),
        ("place", "values[0][~kept]"),
        ("left out", "values[p][kept]"),
        ("axis", "axis=1, ddof=1"),
        ("axis", "axis=0, ddof=0"),
        ("swapped", "{'low': high, 'high': low}"),
        ("place", "NAMES[0]"),
    ):
        assert any(mutant.kind == kind and code in source for mutant, source in broken)


def test_each_error_changes_one_place_of_the_source_and_neither_validation_nor_messages(broken):
    for mutant, source in broken:
        of_claims = "claims" in mutant.module
        sound = ast.unparse(ast.parse(CLAIMS if of_claims else SOURCE)).splitlines()
        lines = source.splitlines()
        assert lines != sound
        assert sum(line not in sound for line in lines) <= 1, mutant.key
        for text in ("if K < 1:", "at least {0 + 1}", "Doubled: 2 * K stays"):
            assert of_claims or text in source


def test_an_error_in_the_text_of_a_claim_is_known_by_its_id(broken):
    kinds = {(m.function, m.kind) for m, _ in broken if "claims" in m.module}
    assert {("lem:one", kind) for kind in ("premise dropped", "formula altered")} <= kinds
    assert ("lem:two", "link deleted") in kinds


def test_errors_are_planted_in_modules_that_exist():
    assert [one for one in SETTINGS["modules"] if not (ROOT / f"{one.replace('.', '/')}.py").exists()] == []


@pytest.mark.slow
def test_every_pattern_of_equivalent_errors_matches_an_error():
    keys = [mutant.key for mutant in mutants()]
    assert [one for one in reasons() if not fnmatch.filter(keys, one)] == []


def test_every_error_of_the_tree_has_a_name_of_its_own_and_can_be_planted_by_it():
    for module in (
        "theory.reuse",
        "proofs_check.claims.reuse",
        "empirics.control.policy",
        "figures.measured",
        "acdpp.parse",
    ):
        every = mutants((module,))
        assert len({m.key for m in every}) == len(every)
        for mutant in chosen(every)[::10]:
            compile(planted(mutant), mutant.path, "exec")


def test_the_tests_that_execute_a_line_come_first_then_those_beside_them():
    quick, slow = Test("a", "f", 1.0, {}), Test("b", "f", 2.0, {"x.py": 1 << 7})
    other = Test("c", "g", 0.1, {})
    assert Watched([quick, slow, other]).concerned("x.py", 6, 8) == [("f", {"b": 2.0}), ("f", {"a": 1.0})]
    record, first = Test("d", "recorded", 9.0, {"x.py": 1 << 7}), Test("e", "f", 0.01, {"x.py": 1 << 7})
    files = [file for file, _ in Watched([record, slow, first]).concerned("x.py", 6, 8)]
    assert files == ["f", "recorded", "f"]  # a quick test, the record, and then the slow one
    lines = {"p/x.py": 1 << 7}
    mirror = Test("m", "tests/p/test_x.py", 0.05, lines)
    files = [file for file, _ in Watched([Test("e", "f", 0.01, lines), mirror]).concerned("p/x.py", 6, 8)]
    assert files == ["tests/p/test_x.py", "f"]


def test_what_noticed_an_error_is_kept_until_the_error_is_no_longer_planted(monkeypatch, tmp_path):
    place = tmp_path / "noticed.json"
    monkeypatch.setattr(__main__, "NOTICED", place)
    old, gone = map(__main__.mark_of, ("m.f: sign: a", "m.f: sign: gone"))
    place.write_text(json.dumps({"tests/test_x.py::test_y": [old, gone]}))
    found = [Judgement("m.g: sign: b", "test", "tests/test_z.py::test_z"), Judgement("m.h: sign: c", "")]
    __main__.record([("m", one) for one in found], {"m.f: sign: a", *(one.key for one in found)})
    new = __main__.mark_of("m.g: sign: b")
    assert json.loads(place.read_text()) == {
        "tests/test_x.py::test_y": [old],
        "tests/test_z.py::test_z": [new],
    }


def _judged(mutant, entry):
    """In a child, which forgets what this process knows of the tree."""
    for name in [name for name in sys.modules if name.startswith(("theory", "proofs_check"))]:
        del sys.modules[name]
    return judge(mutant, ([entry], []), [], [], 20.0)


@cache
def formulas():
    return mutants(("theory.",))


def _exchanged(mutant):
    """In a child, which keeps the error."""
    done = exchange(functions(), mutant, planted(mutant))
    return done, master_bound(2, 3, 5, 7, 11)


def test_an_error_is_exchanged_in_a_process_that_has_loaded_the_function():
    wrong = next(m for m in formulas() if ".master_bound: sign" in m.key)
    sound = master_bound(2, 3, 5, 7, 11)
    ((_, found),) = everywhere([(wrong,)], _exchanged, processes=1, limit=100)
    assert found[0] is True
    assert found[1] != sound == master_bound(2, 3, 5, 7, 11)
    shifting = ("theory.regret.omegas.omega1: K ignored", "theory.reuse.constant.occupancy_constant: index")
    longer = next(m for m in formulas() if m.key.startswith(shifting))  # by a line, above other functions
    ((_, found),) = everywhere([(longer,)], _exchanged, processes=1, limit=100)
    assert found == (True, sound)


@pytest.mark.slow
def test_a_named_test_judges_in_a_copy_of_the_tree(monkeypatch):
    wrong = next(
        m for m in formulas() if m.key.startswith("theory.numbers.lambert.lambert_partial: comparison")
    )
    files = {"tests/theory/test_lambert.py": "test", "tests/figures/test_save.py": "", "tests/none.py": ""}
    assert {file: judge_in_copy(wrong, file, 200).by for file in files} == files
    assert judge_in_copy(wrong, "tests/theory/test_lambert.py", 0.1).by == ""  # too slow without any error
    monkeypatch.setenv("PYTHONHASHSEED", "none")  # no program starts, with an error planted or without
    assert judge_in_copy(wrong, "tests/theory/test_lambert.py", 200).by == ""


OTHERS = [
    ("effective_from_sums: factor dropped", "eq:Neff-def"),
    ("generalisation_term: constant", "lem:gen-Neff-app"),
    ("fill_ratio: factor dropped", "cor:optimal-k"),
    ("debt_update: positive part", "eq:Z-update/start"),
    ("master_bound: sign", "eq:omega-master/drift-term"),
    ("stationary_noise: factor dropped", "law:reuse/retention"),
    ("purchase_bound: sign", "buy:limit"),
]


@pytest.mark.parametrize(
    ("error", "label"),
    [
        ("uniformity_constant: constant", "eq:vck-exact"),
        (ELSEWHERE, "eq:vck-exact"),
        *(pytest.param(*other, marks=pytest.mark.slow) for other in OTHERS),
    ],
)
def test_a_claim_notices_an_error_in_its_formula_and_not_one_elsewhere(error, label):
    wrong = next(m for m in formulas() if f".{error}: " in m.key)
    (entry,) = (pickle.dumps(one) for one in ledger.read() if one.id == label)
    ((_, found),) = everywhere([(wrong, entry)], _judged, processes=1, limit=100)
    assert (found.by in ("verdict", "evidence", "check broke")) == (error != ELSEWHERE)
