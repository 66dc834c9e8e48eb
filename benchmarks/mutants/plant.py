"""Errors: the places of a source that can be broken, and how.

Every operator yields pairs (kind, replacement) for one place: errors of arithmetic, and those that people make with
places, limits and exceptions. A formula, a claim and other code have operators of their own. Messages, validation,
type hints, docstrings and functions that draw or print are left alone.
"""

import ast
import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.options import settings

ROOT = Path(__file__).parents[2]

SETTINGS = settings("mutants")
OF_THE_CLAIMS = tuple(SETTINGS["modules_of_claims"])
SWAPS, OWN_SIDE = SETTINGS["functions_swapped"], SETTINGS["engine_own_side"]
CLAMPS, ARRAYS = SETTINGS["functions_clamping"], SETTINGS["modules_of_arrays"]
LETTERS_MAX = 2  # of the name of an index: longer ones are keys
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip
# calls that compute nothing
SAYING = re.compile("_?(check|refuse|require|validate|print|warn|echo|say|tell|track)")


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
        """The identity of an equivalent mutant; it survives edits elsewhere in the file."""
        again = f" ({self.number})" if self.number > 1 else ""
        return f"{self.module}.{self.function}: {self.kind}: {self.before} → {self.after}{again}"


# an operator: a function of a node that yields replacements
Change = tuple[str, ast.AST]
Operator = Callable[[ast.AST], Iterator[Change]]


def _called(node: ast.AST) -> str:
    """The name of the function that a node calls, or nothing."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def _formula(node: ast.AST) -> Iterator[Change]:
    """Arithmetic, numbers, comparisons, functions, and corrections that are added to a running sum."""
    match node:
        case ast.BinOp(left, ast.Add() | ast.Sub() as sign, right):
            yield "sign", ast.BinOp(left, ast.Sub() if isinstance(sign, ast.Add) else ast.Add(), right)
            yield "term dropped", left
            yield "term dropped", right
        case ast.BinOp(left, ast.Mult(), right):
            yield "factor dropped", left
            yield "factor dropped", right
        case ast.BinOp(left, ast.Div()):
            yield "factor dropped", left
        case ast.BinOp(left, ast.Pow()):
            yield "exponent dropped", left
        case ast.Constant(value) if type(value) is int:
            yield "constant", ast.Constant(value + 1)
        case ast.UnaryOp(ast.USub(), operand) if not isinstance(operand, ast.Constant):
            yield "sign", operand
        case ast.Compare(left, orders, right):
            for i, order in enumerate(orders):
                if changed := COMPARISONS.get(type(order)):
                    yield "comparison", ast.Compare(left, [*orders[:i], changed(), *orders[i + 1 :]], right)
        case ast.Call(ast.Name("positive_part"), arguments):
            yield "positive part", arguments[0]
        case ast.Call(ast.Name(name), arguments, keywords) if name in SWAPS:
            yield "function", ast.Call(ast.Name(SWAPS[name], ast.Load()), arguments, keywords)
        case ast.Attribute(owner, "merged"):
            yield "E ignored", owner
        case ast.AugAssign():
            yield "correction deleted", ast.Pass()
        case ast.Assign([total, *_], ast.BinOp(left, ast.Add() | ast.Sub())):
            if ast.unparse(total) == ast.unparse(left):
                yield "correction deleted", ast.Pass()


def _code(node: ast.AST) -> Iterator[Change]:
    """A case or half of a condition forgotten; a call that is made for its effect, deleted."""
    match node:
        case ast.If(_, body, otherwise):
            yield "branch dropped", ast.If(ast.Constant(False), body, otherwise)
        case ast.IfExp(_, chosen, otherwise):
            yield "branch dropped", chosen
            yield "branch dropped", otherwise
        case ast.BoolOp(_, [first, *_, last]):
            yield "condition dropped", first
            yield "condition dropped", last
        case ast.UnaryOp(ast.Not(), operand):
            yield "condition dropped", operand
        case ast.Expr(ast.Call(function)) if not SAYING.match(ast.unparse(function).rpartition(".")[2]):
            yield "statement deleted", ast.Pass()


def _place(node: ast.AST) -> Iterator[Change]:
    """The first for a given one or for the last, a slice further on, another axis, two answers interchanged."""
    match node:
        case ast.Subscript(value, ast.Constant(0), ast.Load()):
            yield "place", ast.Subscript(value, ast.Constant(-1), ast.Load())
        case ast.Subscript(value, ast.UnaryOp(ast.USub(), ast.Constant(1)), ast.Load()):
            yield "place", ast.Subscript(value, ast.Constant(0), ast.Load())
        case ast.Subscript(value, ast.Name(name), ast.Load()) if len(name) <= LETTERS_MAX:
            yield "place", ast.Subscript(value, ast.Constant(0), ast.Load())
        case ast.Slice(lower, ast.expr() as upper, None):
            yield "place", ast.Slice(_next(lower), _next(upper))
        case ast.Call(ast.Name("slice") as function, [lower, upper]):
            yield "place", ast.Call(function, [_next(lower), _next(upper)], [])
        case ast.keyword("axis" | "dim" | "ddof" as name, value):
            other = name != "ddof" and ast.unparse(value) == "0"
            yield "axis", ast.keyword(name, ast.Constant(int(other)))
        case ast.Return(ast.Tuple([first, second])) if ast.unparse(first) != ast.unparse(second):
            yield "swapped", ast.Return(ast.Tuple([second, first]))
        case ast.Dict([*keys], [*values, first, second]) if None not in keys:
            yield "swapped", ast.Dict(keys, [*values, second, first])


def _next(end: ast.expr | None) -> ast.expr:
    if end is None or ast.unparse(end) == "-1":
        return ast.Constant(1 if end is None else None)
    return ast.BinOp(end, ast.Add(), ast.Constant(1))


def _limit(node: ast.AST) -> Iterator[Change]:
    """A limit or an absolute value forgotten; the first of several in place of the best."""
    match node:
        case ast.Call(ast.Attribute(ast.Name(owner), name), operands) if owner in ARRAYS:
            pass
        case ast.Call(ast.Attribute(owner, "abs" | "clip" | "clamp" | "argmin" | "argmax" as name), operands):
            operands = [owner, *operands]
        case ast.Call(ast.Name(name), operands):
            pass
        case _:
            return
    match name, operands:
        case _, [ast.Starred(), *_]:
            pass
        case "abs" | "clip" | "clamp", [value, *_]:
            yield "limit dropped", value
        case _, [first, second] if name in CLAMPS:
            yield "limit dropped", second if isinstance(first, ast.Constant) else first
        case "min" | "max", [several]:
            yield "choice", ast.parse(f"next(iter({ast.unparse(several)}))", mode="eval").body
        case "argmin" | "argmax", _:
            yield "choice", ast.BinOp(ast.Constant(0), ast.Mult(), node)
        case "sorted", [several]:
            yield "choice", ast.Call(ast.Name("list"), [several], [])


def _exception(node: ast.AST) -> Iterator[Change]:
    """A name left out of a list; what should be left out not left out; the first element alone."""
    match node:
        case ast.UnaryOp(ast.Invert(), operand):
            yield "left out", operand
        case ast.Tuple(names, ast.Load()) | ast.List(names, ast.Load()) | ast.Set(names) if len(names) > 1:
            if all(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in names):
                yield "left out", type(node)(names[:-1])
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            first, *others = node.generators
            alone = ast.parse(f"list({ast.unparse(first.iter)})[:1]", mode="eval").body
            changes = [("first alone", alone, first.ifs), ("left out", first.iter, [])]
            for kind, every, ifs in changes[: 2 if first.ifs else isinstance(node, ast.GeneratorExp)]:
                changed = copy.copy(node)
                changed.generators = [ast.comprehension(first.target, every, ifs, first.is_async), *others]
                yield kind, changed


OF_FORMULAS: tuple[Operator, ...] = (_formula, _place, _limit, _exception)
OF_CODE: tuple[Operator, ...] = (_formula, _code, _place, _limit, _exception)


def _entry(function: ast.AST) -> Iterator[tuple[str, str, str]]:
    """Errors that a whole function shares: a parameter shifted by 1 or ignored."""
    parameters = {a.arg for a in function.args.args} if isinstance(function, ast.FunctionDef) else set()
    for name in SETTINGS["parameters_counting"]:
        if name in parameters:
            yield "index", name, f"{name} = {name} + 1"
    if "K" in parameters:
        yield "K ignored", "K", "K = 1 + 0 * K"


def _skipped(node: ast.AST) -> bool:
    """Messages and validation: `raise`, a test whose only consequence is a `raise`, asserts, f-strings."""
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr):
        return True
    if isinstance(node, ast.If) and all(isinstance(s, ast.Raise) for s in node.body) and not node.orelse:
        return True
    if isinstance(node, ast.keyword) and node.arg in SETTINGS["keywords_of_looks"]:
        return True
    return _called(node) in SETTINGS["calls_validating"]


def _nodes(function: ast.AST) -> Iterator[tuple[ast.AST, ast.AST, str, int | None]]:
    """Every node in a function's body, or in a statement: node, parent, field, position in a list or None."""
    waiting: list[ast.AST] = [function]
    while waiting:
        parent = waiting.pop()
        for name, value in ast.iter_fields(parent):
            outside = isinstance(parent, ast.FunctionDef) and name != "body"
            if outside or (isinstance(parent, ast.AnnAssign) and name == "annotation"):
                continue
            children = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
            for position, child in children:
                if not isinstance(child, ast.AST) or _skipped(child):
                    continue
                if not isinstance(child, ast.FunctionDef):
                    yield child, parent, name, position
                waiting.append(child)


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{m.name}", m) for m in node.body if isinstance(m, ast.FunctionDef))


def _shows(function: ast.FunctionDef) -> bool:
    """True for a function that draws, prints or writes a text."""
    hints = [function.returns, *(a.annotation for a in (*function.args.args, *function.args.kwonlyargs))]
    returns = ast.unparse(function.returns) if function.returns else ""
    named = {n.id for hint in hints if hint for n in ast.walk(hint) if isinstance(n, ast.Name)}
    return returns in ("None", "str") or not named.isdisjoint(SETTINGS["types_shown"])


def _places(module: str, tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Places for errors, by name: functions; in a module of claims also statements outside of functions."""
    shell = module.startswith(("figures.", "acdpp."))
    yield from (place for place in _functions(tree) if not (shell and _shows(place[1])))
    if module.startswith(OF_THE_CLAIMS):
        outside = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr
        yield from (("", statement) for statement in tree.body if isinstance(statement, outside))


def _claim_around(statement: ast.AST) -> Callable[[ast.AST], str]:
    """The id of the claim around a place in a statement outside of functions, or "module"."""
    claims = [
        (node, keyword.value.value)
        for node in ast.walk(statement)
        for keyword in (node.keywords if isinstance(node, ast.Call) else ())
        if keyword.arg == "id" and isinstance(keyword.value, ast.Constant)
    ]
    inside = {id(n): str(name) for call, name in claims for n in ast.walk(call)}
    return lambda node: inside.get(id(node), "module")


def planted(mutant: Mutant) -> str:
    """The module's source with the error in it."""
    for found, source in errors_in((ROOT / mutant.path).read_text(encoding="utf-8"), mutant.module):
        if found.key == mutant.key:
            return source()
    raise LookupError(f"{mutant.key} is not in {mutant.path} any more")


def _operators(module: str) -> tuple[Operator, ...]:
    if module.startswith(OF_THE_CLAIMS):
        return OF_CLAIMS
    formulas = module.startswith("theory.") and module not in SETTINGS["modules_not_formulas"]
    return OF_FORMULAS if formulas else OF_CODE


def errors_in(text: str, module: str) -> Iterator[tuple[Mutant, Callable[[], str]]]:
    """Every error of a module, and the source with it."""
    operators, tree = _operators(module), ast.parse(text)
    seen: dict[str, int] = {}

    def make(function: str, kind: str, before: str, after: str, node: ast.AST) -> Mutant:
        base = f"{function}:{kind}:{before}→{after}"
        seen[base] = seen.get(base, 0) + 1
        path, lines = f"{module.replace('.', '/')}.py", (node.lineno, node.end_lineno or node.lineno)
        return Mutant(path, module, function, kind, before, after, seen[base], *lines)

    for name, whole in _places(module, tree):
        around = _claim_around(whole)
        for node, parent, field, position in list(_nodes(whole)):
            for operator in operators:
                for kind, replacement in operator(node):
                    mutant = make(name or around(node), kind, _short(node), _short(replacement), node)
                    yield mutant, lambda p=parent, f=field, i=position, r=replacement: _with(tree, p, f, i, r)
        for kind, before, statement in _entry(whole) if operators is OF_FORMULAS else ():
            mutant = make(name, kind, before, statement, whole)
            yield mutant, lambda f=whole, s=statement: _entering(tree, f, s)
    for name, reader, constant in _lists(tree) if operators is OF_CODE else ():
        for kind, replacement in _exception(constant.value):
            mutant = make(name, kind, _short(constant.value), _short(replacement), reader)
            yield mutant, lambda c=constant, r=replacement: _with(tree, c, "value", None, r)


def _lists(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef, ast.Assign]]:
    """Statements outside of functions that set a variable, and the first function that reads it, with its name."""
    for statement in tree.body:
        for name, function in _functions(tree) if isinstance(statement, ast.Assign) else ():
            read = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
            if not read.isdisjoint(map(ast.unparse, statement.targets)):
                yield name, function, statement
                break


def _short(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split()) or "nothing"


def _with(tree: ast.Module, parent: ast.AST, field: str, position: int | None, replacement: ast.AST) -> str:
    """The source with one node replaced; the tree itself is left as it was."""
    before, new = getattr(parent, field), copy.deepcopy(replacement)
    value = new if position is None else [*before[:position], new, *before[position + 1 :]]
    return _having(tree, parent, field, value)


def _entering(tree: ast.Module, function: ast.FunctionDef, statement: str) -> str:
    """The source with a statement before all others of a function."""
    body = function.body
    documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    entered = [*body[:documented], *ast.parse(statement).body, *body[documented:]]
    return _having(tree, function, "body", entered)


def _having(tree: ast.Module, node: ast.AST, field: str, value: Any) -> str:
    before = getattr(node, field)
    setattr(node, field, value)
    try:
        return ast.unparse(ast.fix_missing_locations(tree))
    finally:
        setattr(node, field, before)


def _premises(node: ast.AST) -> Iterator[Change]:
    """A premise of a proof left out: its domain widened."""

    def fewer(of: Callable[[Any], ast.AST]) -> Iterator[Change]:
        premises = of(node)
        for i in range(len(premises.elts) if isinstance(premises, ast.List) else 0):
            changed = copy.deepcopy(node)
            del of(changed).elts[i]
            yield "premise dropped", changed

    for index, keyword in enumerate(node.keywords if isinstance(node, ast.Call) else ()):
        if keyword.arg == "given":
            yield from fewer(lambda whole, k=index: whole.keywords[k].value)
    for index, _ in _rows(node, "argument"):
        yield from fewer(lambda whole, k=index: whole.args[k].elts[1])
    named = isinstance(node, ast.Assign) and isinstance(node.value, ast.List)  # premises that have a name
    if named and all(map(_compares, node.value.elts)):
        yield from fewer(lambda whole: whole.value)


def _compares(node: ast.AST) -> bool:
    """True if it is an inequality or an equation: `x < 1`, or `sp.Eq(x, 1)`."""
    named = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    return isinstance(node, ast.Compare) or named in ("Ge", "Gt", "Le", "Lt", "Eq", "Ne")


def _rows(node: ast.AST, engine: str) -> Iterator[tuple[int, ast.Tuple]]:
    """The rows of an engine that takes several statements at once."""
    if isinstance(node, ast.Call) and _called(node) == engine:
        yield from ((i, row) for i, row in enumerate(node.args) if isinstance(row, ast.Tuple))


def _own_side(node: ast.AST) -> Iterator[Change]:
    """The formula that a check holds against theory's, altered."""
    position = OWN_SIDE.get(_called(node))
    if isinstance(node, ast.Call) and position is not None and position < len(node.args):
        changed = copy.deepcopy(node)
        changed.args[position] = ast.BinOp(node.args[position], ast.Add(), ast.Constant(1))
        yield "formula altered", changed
    for index, row in (*_rows(node, "limits"), *_rows(node, "argument")):
        first, second, *_ = row.elts
        if isinstance(first, ast.Compare | ast.List) or isinstance(second, ast.List):  # no equation
            continue
        limit = len(row.elts) > 3 and not isinstance(row.elts[2], ast.Constant | ast.JoinedStr)
        changed, at = copy.deepcopy(node), 1 + limit
        changed.args[index].elts[at] = ast.BinOp(row.elts[at], ast.Add(), ast.Constant(1))
        yield "formula altered", changed


def _fewer_pieces(node: ast.AST) -> Iterator[Change]:
    """One of the findings that only together show something, left out."""
    if isinstance(node, ast.Call) and _called(node) in SETTINGS["engines_joining"]:
        for i, argument in enumerate(node.args):
            if len(node.args) > 1 and not isinstance(argument, ast.Starred):
                yield "link deleted", ast.Call(node.func, node.args[:i] + node.args[i + 1 :], node.keywords)
    for engine in SETTINGS["engines_of_rows"]:
        rows = [i for i, _ in _rows(node, engine)]
        for i in rows if len(rows) > 1 else ():
            fewer = copy.deepcopy(node)
            del fewer.args[i]
            yield "link deleted", fewer


OF_CLAIMS: tuple[Operator, ...] = (_premises, _own_side, _fewer_pieces)


def sources() -> dict[str, str]:
    """Texts of the modules that are watched, by path."""
    paths = [path for folder in SETTINGS["packages"] for path in sorted((ROOT / folder).rglob("*.py"))]
    paths += [ROOT / f"{module.replace('.', '/')}.py" for module in SETTINGS["modules"]]
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths}


def mutants(only: tuple[str, ...] = ("",)) -> list[Mutant]:
    """Every error in every module whose name begins with one of these.

    Kernels are left to a GPU's own tests: Triton reads their source from the disk.
    """
    texts = {path.removesuffix(".py").replace("/", "."): text for path, text in sources().items()}
    wanted = (name for name in texts if name.startswith(only) and "__" not in name)
    plain = (name for name in wanted if "import triton" not in texts[name])
    return [m for name in plain for m, _ in errors_in(texts[name], name)]


def chosen(all_: list[Mutant]) -> list[Mutant]:
    """One of each kind in each function, in code one of each group: the last place. Every premise of a proof."""
    last = {}
    for m in all_:
        kind = SETTINGS["groups"].get(m.kind, m.kind) if _operators(m.module) is OF_CODE else m.kind
        inline = not m.function.replace(".", "").isidentifier()  # a claim's id: several checks stand in it
        last[m.module, m.function, kind, m.before if inline or kind == "premise dropped" else ""] = m
    kept = set(last.values())
    return [m for m in all_ if m in kept]
