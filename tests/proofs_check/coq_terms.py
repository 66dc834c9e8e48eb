"""Coq's definitions and terms, as Coq prints them, on numbers.

It understands functions, recursion over a natural number, conditions and arithmetic. A difference of natural numbers
is never below 0 and a quotient is whole, as in Coq; reals are fractions, or floats after a root or a logarithm.
"""

import inspect
import math
import operator
import re
from collections import ChainMap
from fractions import Fraction
from functools import cache, partial, reduce

from proofs_check.engines.kernel import needs, recorded

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
        return Natural(other) - self

    __radd__, __rmul__ = __add__, __mul__


def _quotient(x, y):
    if isinstance(x, Natural):
        return Natural(x // int(y))
    return x / (Fraction(y) if isinstance(y, int) else y) if y else x * OVER_ZERO


_TOKEN = re.compile(r"[A-Za-z_][\w.']*|\d+|%\w+|:=|=>|->|<=\?|<\?|=\?|&&|[()|{}:+*/^-]")
_NAMES = re.compile(r"((?:[\w'.]+ )+): (?:(nat|R|Type|space)(?= \)|$))?")
_KINDS = {"nat": Natural, "R": lambda x: Fraction(x) if isinstance(x, int) else x, "": lambda x: x}
_WORDS = {"with", "end", "then", "else", "in"}
_INFIX = {
    "&&": (1, operator.and_),
    "<=?": (2, operator.le),
    "<?": (2, operator.lt),
    "=?": (2, operator.eq),
    "+": (3, operator.add),
    "-": (3, operator.sub),
    "*": (4, operator.mul),
    "/": (4, _quotient),
    "^": (6, lambda x, n: x ** int(n)),
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
    "zero": 0,  # of a space: here the plane, by complex numbers
    "plus": lambda x: lambda y: x + y,
    "scal": lambda a: lambda x: a * x,
    "inner": lambda x: lambda y: (x * y.conjugate()).real,
}


class _Parser:
    """Recursive descent over what Coq prints; a term is a function of the values of its variables."""

    def __init__(self, text):
        self.tokens = ["", *reversed(_TOKEN.findall(text))]

    def look(self):
        return self.tokens[-1]

    def take(self, *wanted):
        """The next token, or the tokens that must come next."""
        for token in wanted or self.tokens[-1:]:
            if self.tokens.pop() != token:
                raise ValueError(f"expected {token!r}")
        return token

    def until(self, end):
        """What stands before a token, as text."""
        found = []
        while (token := self.take()) != end:
            found.append(token)
        return " ".join(found)

    def term(self):
        special = {"fun": self.function, "fix": self.recursion, "let": self.let, "if": self.condition}
        return special[self.take()]() if self.look() in special else self.infix(1)

    def function(self, end="=>"):
        """By names and kinds of numbers; the name of a type or a space is no value."""
        text = self.until(end).partition(" {")[0]
        listed = _NAMES.findall(text) if ":" in text else [(text, "")]
        names = [(name, _KINDS[kind]) for some, kind in listed if kind in _KINDS for name in some.split()]
        return _curried(names, self.term())

    def recursion(self):
        own, body = self.take(), self.function(":=")

        def value(known):
            inner = known.new_child()
            inner[own] = body(inner)
            return inner[own]

        return value

    def let(self):
        name, bound = self.until(":=").split()[0], self.term()
        self.take("in")
        rest = self.term()
        return lambda known: rest(known.new_child({name: bound(known)}))

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
        self.take("with", "|", "0", "%nat", "=>")
        base = self.term()
        self.take("|", "S")
        name = self.until("=>")
        step = self.term()
        self.take("end")

        def value(known):
            n = asked(known)
            return step(known.new_child({name: Natural(n - 1)})) if n else base(known)

        return value

    def infix(self, least):
        left = self.prefix()
        while (binding := _INFIX.get(self.look(), (0,))[0]) >= least:
            operation = self.take()
            left = _applied(operation, left, self.infix(binding + (operation != "^")))
        return left

    def prefix(self):
        if self.look() in ("/", "-"):
            operation = self.take()
            return _applied(operation, lambda _: int(operation == "/"), self.infix(5))
        found = self.atom()
        while re.match(r"\w|\($", self.look()) and self.look() not in _WORDS:
            found = _called(found, self.atom())
        return found

    def atom(self):
        token = self.take()
        if token == "match":
            return self.cases()
        if token == "(":
            found = self.term()
            self.take(")")
        elif token.isdigit():
            number = Natural(token) if self.look() == "%nat" else int(token)
            found = lambda _: number  # noqa: E731
        else:
            found = lambda known: known[token]  # noqa: E731
        if self.look().startswith("%"):
            self.take()
        return found


def _applied(operation, left, right):
    return lambda known: _INFIX[operation][1](left(known), right(known))


def _called(function, argument):
    return lambda known: function(known)(argument(known))


def _curried(names, body):
    if not names:
        return body
    (first, kind), rest = names[0], _curried(names[1:], body)
    return lambda known: lambda value: rest(known.new_child({first: kind(value)}))


class _File(dict):
    """What a file knows: its own definitions, then those of the files that it builds on, the nearest first."""

    def __init__(self, module):
        super().__init__(_KNOWN)
        self.module = module

    def __missing__(self, name):
        for module in (self.module, *reversed(needs(self.module))):
            if name in recorded(module, "defines"):
                return definition(f"{module}.{name}")
        raise KeyError(f"{self.module} knows no {name}")


@cache
def definition(name):
    """The value of Module.name: a number, or a function of one argument at a time."""
    module, own = name.split(".")
    text = recorded(module, "defines")[own]
    return _Parser(text.removeprefix(f"{own} = ")).term()(ChainMap(_File(module)))


def run(name, *arguments):
    """A definition's value; a function of several arguments takes them one by one."""
    return _applied_to(definition(name), arguments)


def evaluated(text, *arguments, **names):
    """The value of a term; everything in it must be read."""
    parser = _Parser(text)
    found = parser.term()(ChainMap(names, _File("Sums")))
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
