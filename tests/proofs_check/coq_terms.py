"""Coq's definitions and terms, as Coq prints them, on numbers.

It understands functions, recursion over a natural number, conditions and arithmetic. A difference of natural numbers
is never below 0 and a quotient is whole, as in Coq; reals are fractions, or floats after a root or a logarithm.
"""

import inspect
import math
import re
from fractions import Fraction
from functools import cache, partial, reduce

from proofs_check.engines.kernel import needs, recorded

_TOKEN = re.compile(r"[A-Za-z_][\w.']*|\d+|%\w+|:=|=>|->|<=\?|<\?|=\?|&&|\|\||[()|{}:+*/^,-]")
_INFIX = {"&&": 1, "<=?": 2, "<?": 2, "=?": 2, "+": 3, "-": 3, "*": 4, "/": 4, "^": 6}
OVER_ZERO = Fraction(7919, 13)  # 1/0 is a number in Coq, of which nothing is known: any will do


class Natural(int):
    """A number of rounds or samples."""

    def __add__(self, other):
        return Natural(int(self) + int(other))

    def __mul__(self, other):
        return Natural(int(self) * int(other))

    def __sub__(self, other):
        return Natural(max(int(self) - int(other), 0))

    def __rsub__(self, other):
        return Natural(max(int(other) - int(self), 0))

    __radd__, __rmul__ = __add__, __mul__


KINDS = {"nat": Natural, "R": lambda x: Fraction(x) if isinstance(x, int) else x}


def _quotient(x, y):
    if isinstance(x, Natural):
        return Natural(x // int(y))
    return x / (Fraction(y) if isinstance(y, int) else y) if y else x * OVER_ZERO


def _power(x, n):
    return x ** int(n)


_OPERATIONS = {
    "&&": lambda x, y: x and y,
    "<=?": lambda x, y: x <= y,
    "<?": lambda x, y: x < y,
    "=?": lambda x, y: x == y,
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": _quotient,
    "^": _power,
}
_KNOWN = {
    "S": lambda n: Natural(n + 1),
    "INR": Fraction,
    "sqrt": lambda x: math.sqrt(max(x, 0)),
    "ln": lambda x: math.log(x) if x > 0 else 0,
    "exp": math.exp,
    "Rpower": lambda x: lambda y: x**y,
    "Rmax": lambda x: lambda y: max(x, y),
    "Rmin": lambda x: lambda y: min(x, y),
    "Nat.max": lambda x: lambda y: Natural(max(x, y)),
    "Nat.min": lambda x: lambda y: Natural(min(x, y)),
    "Req_EM_T": lambda x: lambda y: x == y,
}


class _Parser:
    """Recursive descent over what Coq prints; a term is a function of the values of its variables."""

    def __init__(self, text):
        self.tokens, self.at = _TOKEN.findall(text), 0

    def look(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *wanted):
        token = self.look()
        if wanted and token not in wanted:
            raise ValueError(f"expected {' or '.join(wanted)}, found {token!r}")
        self.at += 1
        return token

    def term(self):
        special = {"fun": self.function, "fix": self.recursion, "let": self.let, "if": self.condition}
        return special[self.take()]() if self.look() in special else self.infix(0)

    def binders(self):
        """Names and kinds of numbers, up to `=>` or a result's type; a type's own name is no value."""
        names = []
        while self.look() not in ("=>", ":=", "{", ":"):
            inside = self.look() == "("
            self.at += inside
            found = []
            while self.look() not in (":", "=>"):
                found.append(self.take())
            kind = self.type() if self.look() == ":" else ""
            names += [(name, KINDS.get(kind, lambda value: value)) for name in found if kind != "Type"]
            if inside:
                self.take(")")
        return names

    def type(self):
        """Skip a type behind its colon."""
        depth, found = 0, []
        self.take(":")
        while depth or self.look() not in (")", "=>", ":="):
            depth += {"(": 1, ")": -1}.get(self.look(), 0)
            found.append(self.take())
        return " ".join(found)

    def function(self):
        names = self.binders()
        self.take("=>")
        return _curried(names, self.term())

    def recursion(self):
        own, names = self.take(), self.binders()
        if self.look() == "{":
            while self.take() != "}":
                pass
        self.type()
        self.take(":=")
        body = _curried(names, self.term())

        def value(known):
            inner = known | {}
            inner[own] = body(inner)
            return inner[own]

        return value

    def let(self):
        name = self.take()
        if self.look() == ":":
            self.type()
        self.take(":=")
        bound = self.term()
        self.take("in")
        rest = self.term()
        return lambda known: rest(known | {name: bound(known)})

    def condition(self):
        asked = self.term()
        self.take("then")
        yes = self.term()
        self.take("else")
        no = self.term()
        return lambda known: yes(known) if asked(known) else no(known)

    def cases(self):
        """By whether a natural number is 0."""
        asked = self.term()
        for token in ("with", "|", "0", "%nat", "=>"):
            self.take(token)
        base = self.term()
        self.take("|")
        self.take("S")
        name = self.take()
        self.take("=>")
        step = self.term()
        self.take("end")

        def value(known):
            n = asked(known)
            return step(known | {name: Natural(n - 1)}) if n else base(known)

        return value

    def infix(self, least):
        left = self.prefix()
        while _INFIX.get(self.look(), -1) >= max(least, 1):
            operator = self.take()
            binding = _INFIX[operator]
            right = self.infix(binding + (operator != "^"))
            left = _applied(_OPERATIONS[operator], left, right)
        return left

    def prefix(self):
        if self.look() in ("/", "-"):
            operator = self.take()
            of, first = self.infix(5), 1 if operator == "/" else 0
            return _applied(_OPERATIONS[operator], lambda _: first, of)
        return self.application()

    def application(self):
        found = self.atom()
        while re.fullmatch(r"[A-Za-z_][\w.']*|\d+|\(", self.look()) and self.look() not in _WORDS:
            found = _called(found, self.atom())
        return found

    def atom(self):
        token = self.take()
        if token == "match":
            return self.cases()
        if token == "(":
            inside = self.term()
            self.take(")")
        elif token.isdigit():
            number = Natural(token) if self.look() == "%nat" else int(token)
            inside = lambda _: number  # noqa: E731
        else:
            inside = lambda known: known[token]  # noqa: E731
        if self.look().startswith("%"):
            self.take()
        return inside


_WORDS = {"with", "end", "then", "else", "in", "Arguments"}


def _applied(operation, left, right):
    return lambda known: operation(left(known), right(known))


def _called(function, argument):
    return lambda known: function(known)(argument(known))


def _curried(names, body):
    if not names:
        return body
    (first, kind), rest = names[0], _curried(names[1:], body)
    return lambda known: lambda value: rest(known | {first: kind(value)})


class _Scope(dict):
    """What a file knows: its own definitions, then those of the files that it builds on, the nearest first."""

    def __init__(self, module, more):
        super().__init__(more)
        self.module = module

    def __missing__(self, name):
        for module in (self.module, *reversed(needs(self.module))):
            if name in recorded(module, "defines"):
                return definition(f"{module}.{name}")
        raise KeyError(f"{self.module} knows no {name}")

    def __or__(self, more):
        return _Scope(self.module, {**self, **more})


@cache
def definition(name):
    """The value of Module.name: a number, or a function of one argument at a time."""
    module, own = name.split(".")
    text = recorded(module, "defines")[own].split(" Arguments ")[0]
    return _Parser(text.removeprefix(f"{own} = ")).term()(_Scope(module, _KNOWN))


def run(name, *arguments):
    """A definition's value; a function of several arguments takes them one by one."""
    return _applied_to(definition(name), arguments)


def evaluated(text, *arguments, **names):
    """The value of a term; everything in it must be read."""
    parser = _Parser(text)
    found = parser.term()(_Scope("Sums", _KNOWN | names))
    assert not parser.look(), text
    return _applied_to(found, arguments)


def _applied_to(function, arguments):
    return reduce(lambda found, argument: found(_one_by_one(argument)), arguments, function)


def _one_by_one(argument):
    """A function of several arguments as one of the first that gives one of the rest."""
    if not callable(argument):
        return argument
    own = [one for one in inspect.signature(argument).parameters.values() if one.default is one.empty]
    return argument if len(own) == 1 else lambda value: _one_by_one(partial(argument, value))
