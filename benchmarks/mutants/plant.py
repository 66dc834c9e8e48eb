"""The errors: which places of a source can be broken, and how.

Every operator yields pairs (kind, what stands there now) for one place. A formula, a claim and other code
have operators of their own. Messages, validation, type hints, docstrings and what draws or prints are left alone.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ROOT", "Mutant", "chosen", "mutants", "planted"]

ROOT = Path(__file__).parents[2]

# where to plant: whole packages, and of the command line what computes
PACKAGES = ("theory", "proofs_check", "empirics", "figures")
ALSO = (
    *("acdpp.parse", "acdpp.study", "acdpp.fit", "acdpp.buy", "acdpp.plan"),
    *("acdpp.explore.form", "acdpp.explore.planner", "acdpp.explore.words"),
)
NOT_FORMULAS = ("theory.numbers.algebra", "theory.setting")  # number systems and validation
OF_THE_CLAIMS = ("proofs_check.claims.", "proofs_check.groundwork.")
SHOWN = {
    "Axes",
    "Figure",
    "Look",
    "Console",
    "Table",
}  # in figures and acdpp, a function of these draws or prints

# what an operator knows by name
SWAPS = {
    "minimum": "maximum", "maximum": "minimum", "min": "max", "max": "min", "floor": "ceil", "ceil": "floor",
    "log_plus": "log", "sqrt_plus": "sqrt", "positive_part": "abs", "all": "any", "any": "all",
}  # fmt: skip
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip
COUNTS = ("K", "k", "t", "T", "age", "shift", "order", "points")  # parameters that count rounds or uses
OWN_SIDE = {"equal": 1, "equivalent": 3, "tends_to": 2}  # where an engine is told the claim's own formula
TOGETHER = ("together",)  # what joins findings that show something only together
ROWS = (
    "argument",
    "steps",
    "equations",
    "limits",
    "figures",
)  # engines that take several statements, a row each
VALIDATION = ("positive", "retention", "horizon", "_checked", "not_negative")
SAYING = re.compile(
    "_?(check|refuse|require|validate|print|warn|echo|say|tell|track)"
)  # calls that compute nothing
LOOKS = {
    "indent",
    "width",
    "digits",
    "precision",
    "maxsize",
    "timeout",
    "stacklevel",
}  # integers that are no quantity

# code has one error of each of these groups in a function, a formula one of each kind
GROUPS = {
    "sign": "arithmetic", "term dropped": "arithmetic", "factor dropped": "arithmetic",
    "exponent dropped": "arithmetic", "comparison": "condition", "condition dropped": "condition",
    "branch dropped": "branch", "correction deleted": "statement", "statement deleted": "statement",
}  # fmt: skip


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


def _branch(node: ast.AST) -> Iterator[Change]:
    """A case forgotten, half of a condition forgotten."""
    if isinstance(node, ast.If):
        yield "branch dropped", ast.If(ast.Constant(False), node.body, node.orelse)
    if isinstance(node, ast.IfExp):
        yield "branch dropped", node.body
        yield "branch dropped", node.orelse
    if isinstance(node, ast.BoolOp):
        yield "condition dropped", node.values[0]
        yield "condition dropped", node.values[-1]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "condition dropped", node.operand


def _forgotten(node: ast.AST) -> Iterator[Change]:
    """A call that is made for its effect, deleted."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = ast.unparse(node.value.func).rpartition(".")[2]
        if not SAYING.match(called):
            yield "statement deleted", ast.Pass()


OF_FORMULAS: tuple[Operator, ...] = (_arithmetic, _constant, _negative, _comparison, _swapped, _statement)
OF_CODE: tuple[Operator, ...] = (*OF_FORMULAS, _branch, _forgotten)


def _entry(function: ast.AST) -> Iterator[tuple[str, str, str]]:
    """Errors that a whole function shares: a parameter shifted by one or ignored, the result doubled."""
    parameters = {a.arg for a in function.args.args} if isinstance(function, ast.FunctionDef) else set()
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
    if isinstance(node, ast.keyword) and node.arg in LOOKS:
        return True
    return called and node.func.id in VALIDATION  # type: ignore[attr-defined]


def _nodes(function: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Every place in a function's body, or in a statement, as (parent, field, position in a list or None)."""
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


def _shows(function: ast.FunctionDef) -> bool:
    """Whether it draws or prints, or writes a text."""
    hints = [function.returns, *(a.annotation for a in (*function.args.args, *function.args.kwonlyargs))]
    returns = ast.unparse(function.returns) if function.returns else ""
    named = {n.id for hint in hints if hint for n in ast.walk(hint) if isinstance(n, ast.Name)}
    return returns in ("None", "str") or bool(named & SHOWN)


def _places(module: str, tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """What errors are planted in, by name: functions; of a module of claims also what stands outside of them."""
    shell = module.startswith(("figures.", "acdpp."))
    yield from ((name, function) for name, function in _functions(tree) if not (shell and _shows(function)))
    if module.startswith(OF_THE_CLAIMS):
        yield from (
            ("", s) for s in tree.body if isinstance(s, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr)
        )


def _claim_around(statement: ast.AST) -> Callable[[ast.AST], str]:
    """By a place in a statement outside of all functions: the id of the claim that it is in, or "module"."""
    claims = [
        (node, keyword.value.value)
        for node in ast.walk(statement)
        for keyword in (node.keywords if isinstance(node, ast.Call) else ())
        if keyword.arg == "id" and isinstance(keyword.value, ast.Constant)
    ]
    inside = {id(n): str(name) for call, name in claims for n in ast.walk(call)}
    return lambda node: inside.get(id(node), "module")


def _field(parent: ast.AST, name: str, position: int | None) -> ast.AST:
    value = getattr(parent, name)
    return value if position is None else value[position]  # type: ignore[no-any-return]


def planted(mutant: Mutant) -> str:
    """The module's source with the error in it."""
    for found, source in _all_in(ROOT / mutant.path, mutant.module):
        if found.key == mutant.key:
            return source()
    raise LookupError(f"{mutant.key} is not in {mutant.path} any more")


def _operators(module: str) -> tuple[Operator, ...]:
    if module.startswith(OF_THE_CLAIMS):
        return OF_CLAIMS
    return OF_FORMULAS if module.startswith("theory.") and module not in NOT_FORMULAS else OF_CODE


def _all_in(path: Path, module: str) -> Iterator[tuple[Mutant, Callable[[], str]]]:
    text, operators = path.read_text(encoding="utf-8"), _operators(module)
    tree = ast.parse(text)
    seen: dict[str, int] = {}

    def make(function: str, kind: str, before: str, after: str, node: ast.AST) -> Mutant:
        base = f"{function}:{kind}:{before}→{after}"
        seen[base] = seen.get(base, 0) + 1
        relative = str(path.relative_to(ROOT))
        first, last = node.lineno, node.end_lineno or node.lineno  # type: ignore[attr-defined]
        return Mutant(relative, module, function, kind, before, after, seen[base], first, last)

    for name, whole in _places(module, tree):
        around = _claim_around(whole)
        for parent, field, position in list(_nodes(whole)):
            node = _field(parent, field, position)
            for operator in operators:
                for kind, replacement in operator(node):
                    mutant = make(name or around(node), kind, _short(node), _short(replacement), node)
                    yield mutant, lambda p=parent, f=field, i=position, r=replacement: _with(tree, p, f, i, r)  # type: ignore[misc]
        for kind, before, statement in _entry(whole) if operators is OF_FORMULAS else ():
            mutant = make(name, kind, before, statement, whole)
            yield mutant, lambda f=whole, s=statement: _entering(tree, f, s)  # type: ignore[misc]


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
    for index, row in (*_rows(node, "steps"), *_rows(node, "argument")):
        premises = row.elts[1]
        for i in range(len(premises.elts) if isinstance(premises, ast.List) else 0):
            fewer = copy.deepcopy(node)
            del fewer.args[index].elts[1].elts[i]  # type: ignore[attr-defined]
            yield "premise dropped", fewer
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.List):  # premises that have a name
        for i in range(len(node.value.elts) if all(map(_compares, node.value.elts)) else 0):
            named = copy.deepcopy(node)
            del named.value.elts[i]  # type: ignore[attr-defined]
            yield "premise dropped", named


def _compares(node: ast.AST) -> bool:
    """Whether it is an inequality or an equation: `x < 1`, or `sp.Eq(x, 1)`."""
    named = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    return isinstance(node, ast.Compare) or named in ("Ge", "Gt", "Le", "Lt", "Eq", "Ne")


def _rows(node: ast.AST, engine: str) -> Iterator[tuple[int, ast.Tuple]]:
    """The rows of an engine that takes several statements at once."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == engine:
        yield from ((i, row) for i, row in enumerate(node.args) if isinstance(row, ast.Tuple))


def _own_side(node: ast.AST) -> Iterator[Change]:
    """The formula that a check holds against theory's, altered."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in OWN_SIDE:
        position = OWN_SIDE[node.func.id]
        if position < len(node.args):
            changed = copy.deepcopy(node)
            changed.args[position] = ast.BinOp(node.args[position], ast.Add(), ast.Constant(1))
            yield "formula altered", changed
    for index, row in (*_rows(node, "equations"), *_rows(node, "limits"), *_rows(node, "argument")):
        if isinstance(row.elts[0], ast.Compare | ast.List) or isinstance(
            row.elts[1], ast.List
        ):  # no equation
            continue
        limit = len(row.elts) > 3 and not isinstance(row.elts[2], ast.Constant | ast.JoinedStr)
        changed, at = copy.deepcopy(node), 1 + limit
        changed.args[index].elts[at] = ast.BinOp(row.elts[at], ast.Add(), ast.Constant(1))  # type: ignore[attr-defined]
        yield "formula altered", changed


def _fewer_pieces(node: ast.AST) -> Iterator[Change]:
    """One of the findings that only together show something, left out."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in TOGETHER:
        for i, argument in enumerate(node.args):
            if len(node.args) > 1 and not isinstance(argument, ast.Starred):
                yield "link deleted", ast.Call(node.func, node.args[:i] + node.args[i + 1 :], node.keywords)
    for engine in ROWS:
        rows = [i for i, _ in _rows(node, engine)]
        for i in rows if len(rows) > 1 else ():
            fewer = copy.deepcopy(node)
            del fewer.args[i]  # type: ignore[attr-defined]
            yield "link deleted", fewer


OF_CLAIMS: tuple[Operator, ...] = (_premises, _own_side, _fewer_pieces)


def modules() -> dict[str, Path]:
    """Where errors are planted. Kernels are left to a GPU's own tests: Triton reads their source from the disk."""
    paths = [path for folder in PACKAGES for path in sorted((ROOT / folder).rglob("*.py"))]
    found = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in paths}
    found |= {module: ROOT / f"{module.replace('.', '/')}.py" for module in ALSO}
    return {
        module: path
        for module, path in found.items()
        if path.exists()
        and not path.stem.startswith("__")
        and "import triton" not in path.read_text(encoding="utf-8")
    }


def mutants(only: tuple[str, ...] = ("",)) -> list[Mutant]:
    """Every error in every module whose name begins with one of these."""
    wanted = {module: path for module, path in modules().items() if module.startswith(only)}
    return [mutant for module, path in wanted.items() for mutant, _ in _all_in(path, module)]


def chosen(all_: list[Mutant]) -> list[Mutant]:
    """One of each kind in each function, in code one of each group: the last place. Every premise of a proof."""
    last = {}
    for m in all_:
        kind = GROUPS.get(m.kind, m.kind) if _operators(m.module) is OF_CODE else m.kind
        inline = not m.function.replace(".", "").isidentifier()  # a claim's id: several checks stand in it
        last[m.module, m.function, kind, m.before if inline or kind == "premise dropped" else ""] = m
    kept = set(last.values())
    return [m for m in all_ if m in kept]
