"""Coq's definitions and terms, as Coq prints them, on numbers: each becomes an expression of Python's.

It understands functions, recursion over a natural number, conditions and arithmetic. A difference of natural numbers
is never below 0 and a quotient is whole, as in Coq; reals are fractions, or floats after a root or a logarithm.
"""

import math
import operator
import re
from fractions import Fraction
from functools import cache, reduce

from proofs_check.engines.kernel import needs, recorded

OVER_ZERO = Fraction(7919, 13)  # 1/0 is a number in Coq, of which nothing is known: any will do


def _natural(operation):
    return lambda *numbers: Natural(max(operation(*map(int, numbers)), 0))


class Natural(int):
    """A number of rounds or samples."""

    __add__ = __radd__ = _natural(operator.add)
    __mul__ = __rmul__ = _natural(operator.mul)
    __sub__ = _natural(operator.sub)
    __rsub__ = _natural(lambda x, y: y - x)


def _quotient(x, y):
    if isinstance(x, Natural):
        return Natural(x // y)
    return x / (Fraction(y) if isinstance(y, int) else y) if y else x * OVER_ZERO


def _recursive(make):
    return lambda value: make(_recursive(make))(value)


_TOKEN = re.compile(r"[A-Za-z_]\w*|\d+|%\w+|:=|=>|->|<=\?|<\?|&&|[()|{}:+*/^-]")
_NAMES = re.compile(r"((?:\w+ )+): (?!(?:Type|space)(?: \)|$))")
_WORDS = {"with", "end", "then", "else", "in"}
_INFIX = {
    "&&": (1, "({} and {})"),
    "<=?": (2, "({} <= {})"),
    "<?": (2, "({} < {})"),
    "+": (3, "({} + {})"),
    "-": (3, "({} - {})"),
    "*": (4, "({} * {})"),
    "/": (4, "quotient({}, {})"),
    "^": (6, "({} ** {})"),
}
_KNOWN = {
    "__builtins__": {},
    "quotient": _quotient,
    "recursive": _recursive,
    "Natural": Natural,
    "S": lambda n: Natural(n + 1),
    "INR": Fraction,
    "sqrt": lambda x: math.sqrt(max(x, 0)),
    "ln": lambda x: math.log(x) if x > 0 else 0,
    "exp": math.exp,
    "Rmax": lambda x: lambda y: max(x, y),
    "Rmin": lambda x: lambda y: min(x, y),
    "Nat_max": lambda x: lambda y: Natural(max(x, y)),
    "Nat_min": lambda x: lambda y: Natural(min(x, y)),
    "Req_EM_T": lambda x: lambda y: x == y,
    "zero": 0,  # of a space: here the plane, by complex numbers
    "plus": lambda x: lambda y: x + y,
    "scal": lambda a: lambda x: a * x,
    "inner": lambda x: lambda y: (x * y.conjugate()).real,
}


class _Translation:
    """Recursive descent over what Coq prints."""

    def __init__(self, text):
        self.tokens = ["", *reversed(_TOKEN.findall(re.sub(r"['.]", "_", text)))]

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

    def after(self, *words):
        self.take(*words)
        return self.term()

    def term(self):
        special = {"fun": self.function, "fix": self.recursion, "let": self.let, "if": self.condition}
        return f"({special[self.take()]()})" if self.look() in special else self.infix(1)

    def function(self, end="=>"):
        """Of one argument that gives one of the next; the name of a type or a space is no value."""
        text = self.until(end).partition(" {")[0]
        names = " ".join(_NAMES.findall(text)) if ":" in text else text
        return "".join(f"lambda {name}: " for name in names.split()) + self.term()

    def recursion(self):
        return f"recursive(lambda {self.take()}: {self.function(':=')})"

    def let(self):
        name, bound = self.until(":=").split()[0], self.term()
        return f"(lambda {name}: {self.after('in')})({bound})"

    def condition(self):
        asked, yes, no = self.term(), self.after("then"), self.after("else")
        return f"{yes} if {asked} else {no}"

    def cases(self):
        """By whether a natural number is 0."""
        asked, base = self.term(), self.after("with", "|", "0", "%nat", "=>")
        self.take("|", "S")
        name, step = self.until("=>"), self.term()
        self.take("end")
        return f"((lambda {name}: {step})(Natural({asked} - 1)) if {asked} else {base})"

    def infix(self, least):
        left = self.prefix()
        while (binding := _INFIX.get(self.look(), (0,))[0]) >= least:
            operation = self.take()
            left = _INFIX[operation][1].format(left, self.infix(binding + (operation != "^")))
        return left

    def prefix(self):
        if self.look() in ("/", "-"):
            operation = self.take()
            return _INFIX[operation][1].format(int(operation == "/"), self.infix(5))
        found = self.atom()
        while re.match(r"\w|\($", self.look()) and self.look() not in _WORDS:
            found += f"({self.atom()})"
        return found

    def atom(self):
        token = self.take()
        if token == "match":
            return self.cases()
        if token == "(":
            token = self.term()
            self.take(")")
        elif token.isdigit() and self.look() == "%nat":
            token = f"Natural({token})"
        if self.look().startswith("%"):
            self.take()
        return token


class _File(dict):
    """What a file knows: its own definitions, then those of the files that it builds on, the nearest first."""

    def __init__(self, module, **names):
        super().__init__(_KNOWN, **names)
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
    return eval(_Translation(text.removeprefix(f"{own} = ")).term(), _File(module))


def evaluated(text, **names):
    """The value of a term; everything in it must be read."""
    translation = _Translation(text)
    found = eval(translation.term(), _File("Sums", **names))
    assert not translation.look(), text
    return found


def applied(function, *arguments):
    """The value of a function of Coq's; integers are taken as natural numbers."""
    return reduce(lambda f, x: f(Natural(x) if isinstance(x, int) else x), arguments, function)
