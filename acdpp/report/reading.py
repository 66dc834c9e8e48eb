"""What stands in a sentence with mathematics in the line: words, symbols, numbers, operators, brackets.

Letters side by side are a word, the name of a function or a product of symbols; `a`, `A` and `I` can be both. `read`
decides that by what stands beside them and pairs the brackets, so that what is built on it sees a tree.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["ATOMS", "FUNCTIONS", "TAILS", "Node", "past_space", "raised", "read"]


OPENING, CLOSING = "([{⟨⌈⌊", ")]}⟩⌉⌋"
LARGE = "ΣΠ∫"
MATHEMATICAL_ACCENTS = "\u0302\u0303\u0304"  # hat, tilde, bar
FUNCTIONS = frozenset({"log", "exp", "sup", "inf", "lim", "arg"})  # take what stands behind a space
NAMES = FUNCTIONS | {"min", "max", "Pdim", "Reg", "Vio", "Var", "Cov"}
ATOMS = frozenset({"symbol", "name", "number", "root", "large"})
TAILS = frozenset({"raised", "lowered", "script", "index"})
# letters side by side that are a word all the same; three letters are one if they have a vowel
SHORT_WORDS = re.compile(
    "am|an|as|at|be|by|do|go|he|if|in|is|it|me|my|no|of|ok|on|or|so|to|up|us|we|th|st|nd|rd|eq|vs|py",
    re.IGNORECASE,
)
VERBS = frozenset(
    {"and", "at", "be", "for", "has", "in", "is", "may", "of", "or", "over", "times", "to"}
)  # behind A
PRODUCT = re.compile("[BCDEGKLMNTV]{2,3}|[^aeiouyAEIOUY\u0300-\u036f]{3}")


@dataclass(frozen=True)
class Node:
    """A piece of a sentence; a bracket holds the pieces inside it."""

    kind: str
    text: str
    inner: tuple[Node, ...] = ()


TOKENS = re.compile(
    r"""
      (?P<space>\s+)
    | `(?P<code>[^`]+)`
    | (?P<label>\b[a-z]{2,5}:[A-Za-z0-9][\w-]*(?:/[A-Za-z0-9][\w-]*)*)
    | (?P<name>\btheory(?:[./][a-z_]+)+/?|\btheory/|\b[a-z]{2,}(?:_[a-z]{2,})+)
    | (?P<plain>'s\b|\bi\.i\.d\.|(?:^|(?<=,\ ))[A-Z]\.(?=\ [A-Z][a-z]))
    | (?P<mixed>\bZ3\b|\b[A-Za-z]{3,}\d+\b|\b\d*-?(?:th|st|nd|rd)\b)
    | (?P<number>\d+(?:,\d{3})+(?!\d)|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    | (?P<run>[A-Za-z][A-Za-z\u0300-\u036f]*)(?P<own>'s\b|'[A-Z][a-z\u0300-\u036f]{3,})?
    | (?P<raised>[⁰¹²³⁴-⁹⁺⁻⁽⁾ᵀ]+) | (?P<lowered>[₀-₉₊₋]+)
    | (?P<letter>[^\W\d_][\u0300-\u036f]*|[∇∞∫½])
    | (?P<op><=|>=|\+/-|\.\.(?!\.)|[-+/<>=≤≥≠≈~·×±∝∈∋→↦⇒⇔∪∩…])
    | (?P<mark>.)
    """,
    re.VERBOSE | re.DOTALL,
)


def read(text: str) -> tuple[Node, ...]:
    """The pieces of a text, brackets as nodes of their own."""
    return _paired(_tokens(text))


def _tokens(text: str) -> list[Node]:
    """The pieces still in a row."""
    text = "".join(unicodedata.normalize("NFD", char) if char.isalpha() else char for char in text)
    found: list[Node] = []
    for match in TOKENS.finditer(text):
        kind, token = next((k, v) for k, v in match.groupdict().items() if v is not None)
        if kind == "run":
            found += _run(token, match["own"] or "")
        elif kind == "letter" and token[0] in LARGE and len(token) == 1:
            found.append(Node("large", token))
        elif kind == "letter":
            found.append(Node("symbol", token))
        elif token == "√":
            found.append(Node("root", token))
        elif kind == "mark" and token in "^_":
            found.append(Node("script", token))
        else:
            found.append(
                Node("word" if kind in ("plain", "mixed") else "code" if kind == "name" else kind, token)
            )
    return found


def _run(token: str, own: str) -> list[Node]:
    """Letters of the Latin alphabet in a row: a word, the name of a function, or a product of symbols."""
    plain = re.sub("[\u0300-\u036f]", "", token)
    accented = any(accent in token for accent in MATHEMATICAL_ACCENTS)
    if own and own != "'s":
        return [Node("word", token + own)]
    tail = [Node("word", own)] if own else []
    if token in NAMES:
        return [Node("name", token), *tail]
    if token.endswith("Pdim"):
        return [*_run(token.removesuffix("Pdim"), ""), Node("name", "Pdim"), *tail]
    product = len(plain) == 1 or (accented and len(plain) < 4)
    product |= len(plain) == 2 and not SHORT_WORDS.fullmatch(plain)
    if product or PRODUCT.fullmatch(token):
        return [*(Node("symbol", letter) for letter in re.findall("[A-Za-z][\u0300-\u036f]*", token)), *tail]
    return [Node("word", token + own)]


def _paired(row: list[Node]) -> tuple[Node, ...]:
    """The same with brackets as nodes of their own; a half-open interval pairs unlike brackets."""
    stack: list[tuple[str, list[Node]]] = [("", [])]
    for node in row:
        if node.kind == "mark" and node.text in OPENING:
            stack.append((node.text, []))
        elif node.kind == "mark" and node.text in CLOSING and len(stack) > 1:
            opening, inside = stack.pop()
            stack[-1][1].append(Node("group", opening + node.text, tuple(_marked(inside))))
        else:
            stack[-1][1].append(node)
    while len(stack) > 1:
        opening, inside = stack.pop()
        stack[-1][1].extend([Node("mark", opening), *inside])
    return tuple(_marked(stack[0][1]))


def _marked(row: list[Node]) -> Iterator[Node]:
    """`a`, `A` and `I` are words where they are used as such, and a word below or above a symbol is its index."""
    for at, node in enumerate(row):
        if node.kind in ("word", "name") and at and row[at - 1].kind == "script":
            yield Node("index", node.text)
            continue
        if node.kind == "symbol" and node.text in "aAI" and _article(row, at):
            yield Node("word", node.text)
        else:
            yield node


def _article(row: list[Node], at: int) -> bool:
    after = row[at + 1 : at + 3]
    if len(after) < 2 or after[0].kind != "space" or after[1].kind == "op":
        return False
    before = row[at - 1] if at else Node("space", " ")
    if before.kind not in ("space", "mark"):
        return False
    if row[at].text == "a":
        behind = row[at - 2] if at > 1 else before
        return behind.kind != "op"
    if row[at].text == "A" and after[1].text in VERBS:
        return False
    ends = (
        row[at].text == "I"
        or at < 2
        or (row[at - 2].kind == "mark" and row[at - 2].text in ".:;")
        or before.kind == "mark"
    )
    return ends and after[1].kind == "word"


def raised(row: tuple[Node, ...], at: int) -> bool:
    return at + 1 < len(row) and row[at + 1].kind == "raised"


def past_space(row: tuple[Node, ...], at: int) -> int:
    return at + 1 if at < len(row) and row[at].kind == "space" else at
