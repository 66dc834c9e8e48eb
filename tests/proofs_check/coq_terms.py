"""Coq's real terms, as far as the printer writes them, evaluated in floats."""

import math
import re

TOKEN = re.compile(r"%nat|\.\.\.|=>|[A-Za-z_][\w.]*|\d+|[()+\-*/^:]")
FUNCTIONS = {
    "INR": (1, float),
    "S": (1, lambda n: n + 1),
    "sqrt": (1, lambda x: math.sqrt(max(x, 0))),
    "ln": (1, math.log),
    "exp": (1, math.exp),
    "Rmin": (2, min),
    "Rmax": (2, max),
    "Nat.min": (2, min),
    "Rpower": (2, lambda x, y: x**y),
    "sum": (2, lambda n, f: math.fsum(f(i) for i in range(int(n)))),
}


class Term:
    """A reader by Coq's precedence: application, ^, unary - and /, * and /, + and -."""

    def __init__(self, text, names):
        self.tokens, self.names = TOKEN.findall(text), dict(names)

    def next(self, *wanted):
        return self.tokens.pop(0) if self.tokens and (not wanted or self.tokens[0] in wanted) else None

    def added(self):
        value = self.multiplied()
        while sign := self.next("+", "-"):
            value += self.multiplied() * (1 if sign == "+" else -1)
        return value

    def multiplied(self):
        value = self.signed()
        while sign := self.next("*", "/"):
            value = value * self.signed() if sign == "*" else value / self.signed()
        return value

    def signed(self):
        if sign := self.next("-", "/"):
            return -self.signed() if sign == "-" else 1 / self.signed()
        return self.power()

    def power(self):
        base = self.applied()
        return base ** self.power() if self.next("^") else base

    def applied(self):
        head = self.atom()
        if isinstance(head, tuple):
            count, function = head
            return function(*(self.atom() for _ in range(count)))
        return head(self.atom()) if callable(head) else head

    def atom(self):
        token = self.next()
        if token == "(":
            value = self.function() if self.tokens[0] == "fun" else self.added()
            assert self.next(")")
            self.next("%nat")
            return value
        if token.isdigit():
            return int(token)
        return self.names[token] if token in self.names else FUNCTIONS[token]

    def function(self):
        assert self.next("fun")
        name = self.next()
        if self.next(":"):
            assert self.next("nat")
        assert self.next("=>")
        depth, body = 0, []
        while depth or self.tokens[0] != ")":
            depth += {"(": 1, ")": -1}.get(self.tokens[0], 0)
            body.append(self.next())
        text, names = " ".join(body).replace("% nat", "%nat"), self.names
        return lambda value: evaluated(text, {**names, name: value})


def evaluated(text, names):
    """The value of a term; everything in it must be read."""
    term = Term(text, names)
    value = term.added()
    assert not term.tokens, term.tokens
    return value
