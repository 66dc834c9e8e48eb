"""Errors: the places of a source that can be broken, and how.

Every operator yields pairs (kind, replacement) for one place: errors of arithmetic, and those that people make with
places, limits and exceptions. A formula, a claim and other code have operators of their own. Messages, validation,
type hints, docstrings and functions that draw or print are left alone.
"""

import ast
import copy
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.common import settings

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
                    yield "comparison", ast.Compare(left, _with(orders, i, changed()), right)
        case ast.Call(ast.Name("positive_part"), arguments):
            yield "positive part", arguments[0]
        case ast.Call(ast.Name(name), arguments, keywords) if name in SWAPS:
            yield "function", ast.Call(ast.Name(SWAPS[name], ast.Load()), arguments, keywords)
        case ast.Attribute(owner, "merged"):
            yield "E ignored", owner
        case ast.AugAssign():
            yield "correction deleted", ast.Pass()
        case ast.Assign([total, *_], ast.BinOp(left, ast.Add() | ast.Sub())) if _short(total) == _short(left):
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
    changes = [("index", name, f"{name} = {name} + 1") for name in SETTINGS["parameters_counting"]]
    changes.append(("K ignored", "K", "K = 1 + 0 * K"))
    yield from (change for change in changes if change[1] in parameters)


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
    inside = {}
    for call in ast.walk(statement):
        for keyword in call.keywords if isinstance(call, ast.Call) else ():
            if keyword.arg == "id" and isinstance(keyword.value, ast.Constant):
                inside |= {id(node): str(keyword.value.value) for node in ast.walk(call)}
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
    tree, seen, path = ast.parse(text), Counter[tuple[str, ...]](), f"{module.replace('.', '/')}.py"
    for place, change, *about in _errors(tree, module):
        seen[*about] += 1
        lines = place.lineno, place.end_lineno or place.lineno
        yield Mutant(path, module, *about, seen[*about], *lines), partial(_source, tree, *change)


def _errors(tree: ast.Module, module: str) -> Iterator[tuple[Any, tuple[Any, str, Any], str, str, str, str]]:
    """Of each error its place, the field that it changes and how, its function and kind, the code before and after."""
    operators = _operators(module)
    for name, whole in _places(module, tree):
        around = _claim_around(whole)
        for node, parent, field, position in list(_nodes(whole)):
            for kind, new in (change for operator in operators for change in operator(node)):
                value = new if position is None else _with(getattr(parent, field), position, new)
                yield node, (parent, field, value), name or around(node), kind, _short(node), _short(new)
        for kind, before, statement in _entry(whole) if operators is OF_FORMULAS else ():
            documented = ast.get_docstring(whole) is not None
            body = [*whole.body[:documented], *ast.parse(statement).body, *whole.body[documented:]]
            yield whole, (whole, "body", body), name, kind, before, statement
    for name, reader, constant in _lists(tree) if operators is OF_CODE else ():
        for kind, new in _exception(constant.value):
            yield reader, (constant, "value", new), name, kind, _short(constant.value), _short(new)


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


def _with(nodes: list[Any], position: int, *new: ast.AST) -> list[Any]:
    """The nodes with another one, or none, in place of one."""
    return [*nodes[:position], *new, *nodes[position + 1 :]]


def _swapped(node: ast.AST, old: ast.AST, new: ast.AST) -> ast.AST:
    """A copy of a node, with another one in place of one inside it."""
    return copy.deepcopy(node, {id(old): new})


def _source(tree: ast.Module, node: ast.AST, field: str, value: Any) -> str:
    """The source with another value in a field of a node; the tree itself is left as it was."""
    before = getattr(node, field)
    setattr(node, field, value)
    try:
        return ast.unparse(ast.fix_missing_locations(tree))
    finally:
        setattr(node, field, before)


def _premises(node: ast.AST) -> Iterator[Change]:
    """A premise of a proof left out: its domain widened."""
    lists: list[ast.expr] = []
    match node:
        case ast.Call(_, _, keywords):
            lists = [keyword.value for keyword in keywords if keyword.arg == "given"]
        case ast.Assign(_, ast.List(premises) as named) if all(map(_compares, premises)):
            lists = [named]
    lists += (row.elts[1] for row in _rows(node, "argument"))
    for premises in (one for one in lists if isinstance(one, ast.List)):
        for i in range(len(premises.elts)):
            yield "premise dropped", _swapped(node, premises, ast.List(_with(premises.elts, i)))


def _compares(node: ast.AST) -> bool:
    """True if it is an inequality or an equation: `x < 1`, or `sp.Eq(x, 1)`."""
    named = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    return isinstance(node, ast.Compare) or named in ("Ge", "Gt", "Le", "Lt", "Eq", "Ne")


def _rows(node: ast.AST, *engines: str) -> list[ast.Tuple]:
    """The rows of an engine that takes several statements at once."""
    arguments = node.args if isinstance(node, ast.Call) and _called(node) in engines else []
    return [row for row in arguments if isinstance(row, ast.Tuple)]


def _own_side(node: ast.AST) -> Iterator[Change]:
    """The formula that a check holds against theory's, altered."""
    formulas = []
    match node:
        case ast.Call(ast.Name(name), arguments) if name in OWN_SIDE:
            formulas = arguments[OWN_SIDE[name] :][:1]
    for row in _rows(node, "limits", "argument"):
        first, second, *_ = row.elts
        if isinstance(first, ast.Compare | ast.List) or isinstance(second, ast.List):  # no equation
            continue
        limit = len(row.elts) > 3 and not isinstance(row.elts[2], ast.Constant | ast.JoinedStr)
        formulas.append(row.elts[1 + limit])
    for formula in formulas:
        yield "formula altered", _swapped(node, formula, ast.BinOp(formula, ast.Add(), ast.Constant(1)))


def _fewer_pieces(node: ast.AST) -> Iterator[Change]:
    """One of the findings that only together show something, left out."""
    pieces: list[Any] = _rows(node, *SETTINGS["engines_of_rows"])
    if isinstance(node, ast.Call) and _called(node) in SETTINGS["engines_joining"]:
        pieces = node.args
    for piece in pieces if len(pieces) > 1 else ():
        if not isinstance(piece, ast.Starred):
            fewer = _with(node.args, node.args.index(piece))
            yield "link deleted", ast.Call(node.func, fewer, node.keywords)


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
    wanted = [name for name in texts if name.startswith(only) and "__" not in name]
    return [m for one in wanted if "import triton" not in texts[one] for m, _ in errors_in(texts[one], one)]


def chosen(all_: list[Mutant]) -> list[Mutant]:
    """One of each kind in each function, in code one of each group: the last place. Every premise of a proof."""
    last = {}
    for m in all_:
        kind = SETTINGS["groups"].get(m.kind, m.kind) if _operators(m.module) is OF_CODE else m.kind
        inline = not m.function.replace(".", "").isidentifier()  # a claim's id: several checks stand in it
        last[m.module, m.function, kind, m.before if inline or kind == "premise dropped" else ""] = m
    kept = set(last.values())
    return [m for m in all_ if m in kept]
