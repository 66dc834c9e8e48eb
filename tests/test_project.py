"""The tree keeps its own rules: style, types, layers, floors, tasks, and no float literal in the theory."""

import ast
import builtins
import re
import symtable
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import yaml

from tests.acdpp.program import finish

ROOT = Path(__file__).parent.parent
# The rooms of each layer from the top floor down. Imports point to a lower layer, to a lower floor, or within a room;
# rooms of one floor do not know each other.
FLOORS = {
    "acdpp": """
        __main__
        main
        explore
        resume
        deploy explain
        federate plan reproduce report
        export plot predict train
        bound buy design drawing fit keep summary verify watch
        study
        interrupt options output parse
    """,
    "figures": """
        drifting prediction
        constraints learning measured_mismatch money prices retention risk_vs_bound
        section7
        bound_vs_horizon control design explained frontier measured mismatch omegas save uniformity
        curves simulation
        style
        options
    """,
    "empirics": """
        reproduce reference
        planning export federation run
        shards predict
        validate
        results
        prediction
        training overrides
        columns
        control
        data
        settings
        draws files users_code
    """,
    "proofs_check": """
        __main__
        run kernel_page
        registry
        claims
        claims_page document groundwork
        prelude
        engines ledger text
        claim printing
        context evidence experiments kernel simulator symbols
    """,
    "theory": """
        drift market
        law
        design
        regret
        control
        bound
        reuse paper
        setting
        numbers
    """,
}
LAYERS = {  # and the layers that each may import
    "acdpp": {"figures", "empirics", "proofs_check", "theory"},
    "figures": {"empirics", "proofs_check", "theory"},
    "empirics": {"theory"},
    "proofs_check": {"theory"},
    "theory": set(),
}


def modules(layer):
    """The modules of a layer by name, its packages too."""
    found = {}
    for path in sorted((ROOT / layer).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = {name: path for layer in LAYERS for name, path in modules(layer).items()}
CLAIMS = {name: path for name, path in MODULES.items() if name.startswith("proofs_check.claims.")}


def imported(path):
    """Modules of this project that a file imports, also inside functions and for the type checker alone."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import would not be seen"
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in MODULES else str(node.module) for name in whole]
        yield from (name for name in names if name in MODULES)


@cache
def imports():
    return {name: set(imported(path)) for name, path in MODULES.items()}


def within(package):
    """Imports between the rooms of a package, its modules and subpackages."""

    def room(name):
        inner = name.removeprefix(package + ".")
        return None if inner == name else inner.split(".")[0]

    rooms = {}
    for name, targets in imports().items():
        if (mine := room(name)) is not None:
            others = {there for target in targets if (there := room(target)) not in (None, mine)}
            rooms.setdefault(mine, set()).update(others)
    return rooms


def climbing(layer, graph, floors):
    """Violations of a layer's list of floors, one sentence each."""
    height = {room: -n for n, floor in enumerate(floors.strip().splitlines()) for room in floor.split()}
    wrong = [f"{layer}.{room} has no floor" for room in graph if room not in height]
    wrong += [f"{layer}.{room} does not exist: take it off the list" for room in height if room not in graph]
    return wrong + [
        f"{layer}.{room} imports {layer}.{other}, which is not below it"
        for room, others in graph.items()
        for other in others
        if not wrong and height[other] >= height[room]
    ]


@pytest.mark.parametrize(
    "tool",
    [
        ["ruff", "check"],
        ["ruff", "format", "--check"],
        pytest.param(["mypy"], marks=pytest.mark.slow),  # most of a minute without a cache
    ],
    ids=" ".join,
)
def test_the_tree_is_clean(tool):
    finish(sys.executable, "-m", *tool, cwd=ROOT)


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_go_down_the_layers_and_their_floors(layer):
    for name in modules(layer):
        assert {target.split(".")[0] for target in imports()[name]} <= {layer, *LAYERS[layer]}, name
    assert not climbing(layer, within(layer), FLOORS[layer])


def test_no_claim_is_imported_by_another_claim():
    for name in CLAIMS:
        assert not imports()[name] & set(CLAIMS), name


def unused(source):
    """Names that a module defines at its top and never reads."""
    tree = ast.parse(source)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    made = {name.id for top in tree.body if isinstance(top, ast.Assign) for name in names_in(top.targets)}
    made |= {top.name for top in tree.body if isinstance(top, ast.FunctionDef)}
    return made - {name.id for name in names if isinstance(name.ctx, ast.Load)} - {"CLAIMS"}


def names_in(targets):
    return (node for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))


def test_no_claim_leaves_a_check_or_a_symbol_behind():
    assert unused("a, b = 1, 2\ndef c(): return b\nCLAIMS = []") == {"a", "c"}
    assert {name: left for name, path in CLAIMS.items() if (left := unused(path.read_text()))} == {}


def global_names(table):
    """Names that a module binds at its top, and those that it or its functions read from there."""
    found = {"bound": set(), "read": set()}
    top = table.get_type() == "module"
    for symbol in table.get_symbols():
        if top and (symbol.is_assigned() or symbol.is_imported()):
            found["bound"].add(symbol.get_name())
        if symbol.is_referenced() and (top or symbol.is_global()):
            found["read"].add(symbol.get_name())
    for inner in table.get_children():
        found["read"] |= global_names(inner)["read"]
    return found


def test_names_of_the_prelude_exist_are_used_and_are_not_imported_again():
    def names(source):
        return global_names(symtable.symtable(source, "", "exec"))

    assert names("import a\ndef b(c): return [c + d for e in a]") == {"bound": {"a", "b"}, "read": {"a", "d"}}
    shared = imported_names(MODULES["proofs_check.prelude"].read_text())
    given = names(MODULES["proofs_check.prelude"].read_text())["bound"]
    used = set()
    for module, path in MODULES.items():
        source = path.read_text()
        if "\nfrom proofs_check.prelude import *\n" in source:
            found = names(source)
            assert not found["read"] - found["bound"] - given - set(dir(builtins)), module
            assert not imported_names(source) & shared, module
            used |= found["read"] - found["bound"]
    assert given - used == set()


def imported_names(source):
    """Modules, and the names imported from them, except under another name."""
    found = (top for top in ast.parse(source).body if isinstance(top, ast.ImportFrom))
    return {(str(top.module), alias.name) for top in found for alias in top.names if alias.asname is None}


def passed_on(source):
    """Names that a module exports and imports from another."""
    found = {"has": set(), "exports": set()}
    for top in ast.parse(source).body:
        if isinstance(top, ast.ImportFrom):
            found["has"] |= {alias.asname or alias.name for alias in top.names}
        if isinstance(top, ast.Assign) and any(name.id == "__all__" for name in names_in(top.targets)):
            found["exports"] |= set(ast.literal_eval(top.value))
    return found["has"] & found["exports"]


def test_a_room_of_empirics_exports_what_it_makes():
    assert passed_on("from a import b, c\n__all__ = ['b', 'd']\nd = c") == {"b"}
    rooms = {name: path for name, path in modules("empirics").items() if path.name != "__init__.py"}
    assert {name: found for name, path in rooms.items() if (found := passed_on(path.read_text()))} == {}


def test_no_imports_go_round_in_a_circle():
    packages = [name for name, path in MODULES.items() if path.name == "__init__.py"]
    for graph in (imports(), *map(within, packages)):
        TopologicalSorter(graph).prepare()  # a CycleError names the circle


def test_a_climb_and_a_room_without_a_floor_are_noticed():
    up = {"top": set(), "low": {"top"}, "other": set()}
    across = {"low": {"other"}, "other": set()}
    assert climbing("x", up, "top\nlow other") == ["x.low imports x.top, which is not below it"]
    assert climbing("x", across, "low other") == ["x.low imports x.other, which is not below it"]
    assert climbing("x", up, "top\nlow") == ["x.other has no floor"]
    assert climbing("x", across, "top\nlow\nother") == ["x.top does not exist: take it off the list"]


def test_the_theory_has_no_float_literal_no_torch_and_no_output():
    for path in modules("theory").values():
        for node in ast.walk(ast.parse(path.read_text())):
            place = path.name, getattr(node, "lineno", 0)
            assert not (isinstance(node, ast.Constant) and isinstance(node.value, float)), place
            assert not (isinstance(node, ast.Import) and any(a.name == "torch" for a in node.names)), place
            called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            assert called not in {"print", "open"}, place


def test_contributing_and_the_workflow_name_the_tasks_that_exist():
    noxfile = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    functions = [node for node in ast.parse(noxfile).body if isinstance(node, ast.FunctionDef)]
    tasks = {node.name for node in functions if node.decorator_list}
    assert tasks == {"test", "slow", "lint", "types", "docs", "kernel", "mutants", "record", "release"}
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert set(re.findall(r"nox -s (\w+)", contributing)) == tasks
    workflow = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8"))
    matrices = [job["strategy"]["matrix"] for job in workflow["jobs"].values()]
    assert {task for matrix in matrices for task in matrix["task"]} < tasks
    assert {"task": ["test", "types"], "python": ["3.11", "3.12", "3.13"]} in matrices


def test_the_test_command_is_one_and_the_same():
    (command,) = re.findall(r"&& (pytest [^\n]*)", (ROOT / "README.md").read_text(encoding="utf-8"))
    words = ", ".join(f'"{word}"' for word in command.split())
    assert f"PYTEST = ({words})" in (ROOT / "noxfile.py").read_text(encoding="utf-8")
    assert command in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("package", ["acdpp", "figures", "empirics", "proofs_check", "theory"])
def test_a_package_names_its_modules(package):
    for face in (ROOT / package).rglob("__init__.py"):
        map_of = ast.get_docstring(ast.parse(face.read_text(encoding="utf-8"))) or ""
        modules = {path.stem for path in face.parent.glob("[!_]*.py")}
        if "| --- | --- |" in map_of:
            assert not {name for name in modules if not re.search(rf"[`.]{name}`", map_of)}, face
