"""The errors: which places of a source can be broken, and how.

Every operator yields pairs (what stood there, what stands there now) for one function. Messages, validation, type
hints and docstrings are left alone: an error there is not one of mathematics.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Mutant", "mutants_of_claims", "mutants_of_theory", "planted"]

ROOT = Path(__file__).parents[2]
NOT_FORMULAS = {
    "theory.algebra",
    "theory.setting",
}  # number systems and validation: their own tests judge them
SWAPS = {
    "minimum": "maximum", "maximum": "minimum", "min": "max", "max": "min", "floor": "ceil", "ceil": "floor",
    "log_plus": "log", "sqrt_plus": "sqrt", "positive_part": "abs", "all": "any", "any": "all",
}  # fmt: skip
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip
COUNTS = ("K", "k", "t", "T", "age", "shift", "order", "points")  # parameters that count rounds or uses
OWN_SIDE = {"equal": 1, "equivalent": 3, "tends_to": 2}  # where an engine is told the claim's own formula


@dataclass(frozen=True)
class Mutant:
    """One error: where, of which kind, and the code before and after. `number` tells equal ones apart."""

    path: str
    module: str
    function: str
    kind: str
    before: str
    after: str
    number: int
    line: int
    last: int

    @property
    def key(self) -> str:
        """What an equivalent mutant is known by; it survives edits elsewhere in the file."""
        again = f" ({self.number})" if self.number > 1 else ""
        return f"{self.module}.{self.function}: {self.kind}: {self.before} → {self.after}{again}"


# --- operators: a function of a node that yields replacements ----------------------------------------------

Change = tuple[str, ast.AST]
Operator = Callable[[ast.AST], Iterator[Change]]


def _arithmetic(node: ast.AST) -> Iterator[Change]:
    if not isinstance(node, ast.BinOp):
        return
    if isinstance(node.op, ast.Add | ast.Sub):
        other = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        yield "sign", ast.BinOp(node.left, other, node.right)
        yield "term dropped", node.left
        yield "term dropped", node.right
    if isinstance(node.op, ast.Mult | ast.Div):
        yield "factor dropped", node.left
    if isinstance(node.op, ast.Mult):
        yield "factor dropped", node.right
    if isinstance(node.op, ast.Pow):
        yield "exponent dropped", node.left


def _constant(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield "constant", ast.Constant(node.value + 1)


def _negative(node: ast.AST) -> Iterator[Change]:
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and not isinstance(node.operand, ast.Constant)
    ):
        yield "sign", node.operand


def _comparison(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
        yield "comparison", ast.Compare(node.left, [COMPARISONS[type(node.ops[0])]()], node.comparators)


def _swapped(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SWAPS:
        if node.func.id == "positive_part":
            yield "positive part", node.args[0]
        else:
            yield "function", ast.Call(ast.Name(SWAPS[node.func.id], ast.Load()), node.args, node.keywords)
    if isinstance(node, ast.Attribute) and node.attr == "merged":
        yield "E ignored", node.value


def _statement(node: ast.AST) -> Iterator[Change]:
    """A correction that is added to a running sum, deleted."""
    grown = (
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.BinOp)
        and isinstance(node.value.op, ast.Add | ast.Sub)
        and ast.unparse(node.targets[0]) == ast.unparse(node.value.left)
    )
    if grown or isinstance(node, ast.AugAssign):
        yield "correction deleted", ast.Pass()


OPERATORS: tuple[Operator, ...] = (_arithmetic, _constant, _negative, _comparison, _swapped, _statement)


def _entry(function: ast.FunctionDef) -> Iterator[tuple[str, str, str]]:
    """Errors that a whole function shares: a parameter shifted by one or ignored, the result doubled."""
    parameters = {a.arg for a in function.args.args}
    for name in COUNTS:
        if name in parameters:
            yield "index", name, f"{name} = {name} + 1"
    if "K" in parameters:
        yield "K ignored", "K", "K = 1 + 0 * K"


# --- places ------------------------------------------------------------------------------------------------


def _skipped(node: ast.AST) -> bool:
    """Messages and validation: `raise`, a test whose only consequence is a `raise`, asserts, f-strings."""
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr):
        return True
    if isinstance(node, ast.If) and all(isinstance(s, ast.Raise) for s in node.body) and not node.orelse:
        return True
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    return called and node.func.id in ("positive", "retention", "horizon", "_checked", "not_negative")  # type: ignore[attr-defined]


def _nodes(function: ast.FunctionDef) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Every place in a function's body as (parent, field, position in a list or None)."""
    waiting: list[ast.AST] = [function]
    while waiting:
        parent = waiting.pop()
        for name, value in ast.iter_fields(parent):
            if isinstance(parent, ast.FunctionDef) and name != "body":
                continue
            if isinstance(parent, ast.AnnAssign) and name == "annotation":
                continue
            children = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
            for position, child in children:
                if not isinstance(child, ast.AST) or _skipped(child):
                    continue
                if isinstance(child, ast.FunctionDef):
                    waiting.append(child)
                    continue
                yield parent, name, position
                waiting.append(child)


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{m.name}", m) for m in node.body if isinstance(m, ast.FunctionDef))


def _field(parent: ast.AST, name: str, position: int | None) -> ast.AST:
    value = getattr(parent, name)
    return value if position is None else value[position]  # type: ignore[no-any-return]


def planted(mutant: Mutant) -> str:
    """The module's source with the error in it."""
    operators = None if mutant.module.startswith("theory.") else OF_CLAIMS
    for found, source in _all_in(ROOT / mutant.path, mutant.module, operators):
        if found.key == mutant.key:
            return source()
    raise LookupError(f"{mutant.key} is not in {mutant.path} any more")


def _all_in(
    path: Path, module: str, operators: tuple[Operator, ...] | None = None
) -> Iterator[tuple[Mutant, Callable[[], str]]]:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    seen: dict[str, int] = {}

    def make(function: str, kind: str, before: str, after: str, node: ast.AST) -> Mutant:
        base = f"{function}:{kind}:{before}→{after}"
        seen[base] = seen.get(base, 0) + 1
        relative = str(path.relative_to(ROOT))
        first, last = node.lineno, node.end_lineno or node.lineno  # type: ignore[attr-defined]
        return Mutant(relative, module, function, kind, before, after, seen[base], first, last)

    for name, function in _functions(tree):
        for parent, field, position in list(_nodes(function)):
            node = _field(parent, field, position)
            for operator in operators or OPERATORS:
                for kind, replacement in operator(node):
                    mutant = make(name, kind, _short(node), _short(replacement), node)
                    yield mutant, lambda p=parent, f=field, i=position, r=replacement: _with(tree, p, f, i, r)  # type: ignore[misc]
        if operators:
            continue
        for kind, before, statement in _entry(function):
            mutant = make(name, kind, before, statement, function)
            yield mutant, lambda f=function, s=statement: _entering(tree, f, s)  # type: ignore[misc]


def _short(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split()) or "nothing"


def _with(tree: ast.Module, parent: ast.AST, field: str, position: int | None, replacement: ast.AST) -> str:
    """The source with one node replaced; the tree itself is left as it was."""
    before, new = getattr(parent, field), copy.deepcopy(replacement)
    setattr(parent, field, new if position is None else [*before[:position], new, *before[position + 1 :]])
    try:
        return ast.unparse(ast.fix_missing_locations(tree))
    finally:
        setattr(parent, field, before)


def _entering(tree: ast.Module, function: ast.FunctionDef, statement: str) -> str:
    body = function.body
    documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    function.body = [*body[:documented], *ast.parse(statement).body, *body[documented:]]
    try:
        return ast.unparse(ast.fix_missing_locations(tree))
    finally:
        function.body = body


# --- what to plant -----------------------------------------------------------------------------------------


def _premises(node: ast.AST) -> Iterator[Change]:
    """A premise of a proof left out: its domain widened."""
    for index, keyword in enumerate(node.keywords if isinstance(node, ast.Call) else ()):
        if keyword.arg == "given" and isinstance(keyword.value, ast.List):
            for i in range(len(keyword.value.elts)):
                fewer = copy.deepcopy(node)
                del fewer.keywords[index].value.elts[i]  # type: ignore[attr-defined]
                yield "premise dropped", fewer


def _own_side(node: ast.AST) -> Iterator[Change]:
    """The formula that a check holds against theory's, altered."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in OWN_SIDE:
        position = OWN_SIDE[node.func.id]
        if position < len(node.args):
            changed = copy.deepcopy(node)
            changed.args[position] = ast.BinOp(node.args[position], ast.Add(), ast.Constant(1))
            yield "formula altered", changed


def _fewer_pieces(node: ast.AST) -> Iterator[Change]:
    """One of the findings that only together show something, left out."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "together":
        for i, argument in enumerate(node.args):
            if len(node.args) > 1 and not isinstance(argument, ast.Starred):
                yield "link deleted", ast.Call(node.func, node.args[:i] + node.args[i + 1 :], node.keywords)


OF_CLAIMS: tuple[Operator, ...] = (_premises, _own_side, _fewer_pieces)


def mutants_of_theory() -> list[Mutant]:
    """Every error in every module of formulas."""
    found: list[Mutant] = []
    for path in sorted((ROOT / "theory").glob("*.py")):
        module = f"theory.{path.stem}"
        if path.stem != "__init__" and module not in NOT_FORMULAS:
            found += [mutant for mutant, _ in _all_in(path, module)]
    return found


def mutants_of_claims() -> list[Mutant]:
    """In every check: a premise dropped, the claim's own formula altered, a piece of the evidence left out."""
    found: list[Mutant] = []
    for folder in ("claims", "groundwork"):
        for path in sorted((ROOT / "proofs_check" / folder).rglob("*.py")):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found += [mutant for mutant, _ in _all_in(path, module, OF_CLAIMS)]
    return found
