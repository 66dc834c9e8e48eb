"""Refutations in words: counterexamples with their numbers, and general disproofs, from machine-readable evidence."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from proofs_check.evidence import UNSOUND
from proofs_check.symbols import GLOSSARY, SPELLING
from proofs_check.text import line, split

__all__ = ["Finding", "against", "plain"]

SATISFIES = "it satisfies "
SPELLED = {name: line(spelling) for name, spelling in SPELLING.items()}
# entries of certificates, by their names in the code
NAMES = {
    **SPELLED,
    "rate": "Λ̄",
    "mean_cost": "c̄",
    "cost": "C",
    "buffers": "buffers",
    "formula": "by the printed formula",
    "printed": "printed bound",
    "left": "left side",
    "right": "right side",
}
BALL = re.compile(r"\[(?:(-?[\d.]+(?:e[+-]?\d+)?) )?\+/- ([\d.]+(?:e[+-]?\d+)?)\]")
CALL = re.compile(r"\b[A-Z][a-z]+\(((?:\w+=(?:\([^()]*\)|[^(),]+)(?:, )?)+)\)")
NUMBER = re.compile(r"(?:sqrt|[\d\s+*/().-])+")  # nothing else is given to SymPy, which would execute it


@dataclass(frozen=True)
class Finding:
    """A counterexample (`example`) or a general disproof: the finding, its setting, numbers, and checked hypotheses."""

    seen: str
    where: str
    numbers: tuple[str, ...]
    checked: tuple[str, ...]
    example: bool
    part: str = ""
    size: int = 0


def against(claim: Mapping[str, Any]) -> list[Finding]:
    """Refutations of a claim: counterexamples by their largest number, then general disproofs.

    A counterexample that shares most of its numbers with an earlier one is left out.
    """
    failing = [e for e in claim["evidence"] if e["outcome"] == "fails" and e["strength"] not in UNSOUND]
    kept: list[Finding] = []
    for one in sorted(map(_finding, failing), key=lambda f: (not f.example, f.size)):
        if not any(_same(one, other) for other in kept):
            kept.append(one)
    return kept


def _same(one: Finding, other: Finding) -> bool:
    mine, others = ({*f.seen.split(", ")} for f in (one, other))
    return one.example and other.example and one.part == other.part and 2 * len(mine & others) > len(mine)


def _finding(evidence: Mapping[str, Any]) -> Finding:
    detail, certificate = evidence["detail"].partition("; proved in Coq;")[0], evidence["certificate"]
    checked = tuple(plain(key.removeprefix(SATISFIES)) for key in certificate if key.startswith(SATISFIES))
    named = ((key, value) for key, value in certificate.items() if not key.startswith(SATISFIES))
    entries = {key: value for key, value in named if value not in ({}, [])}
    listed = re.match("(smallest )?counterexample: ", detail) or " is false at " in detail
    seen = ", ".join(_entries(entries)) if listed else plain(detail)
    example = bool(listed) or evidence["method"] in ("exact", "enclosure", "experiment")
    numbers = () if listed else tuple(_numbers(certificate))
    where = plain(evidence["domain"])
    if detail.startswith("smallest") and re.fullmatch(r"(every|any)\b[^:;=]*", where):
        where = ""  # it only says that everything was searched
    size = max(map(int, re.findall(r"(?<![\d.])\d+(?![\d.])", seen)), default=0)
    return Finding(seen, where, numbers, checked, example, evidence["part"], size)


def _numbers(certificate: Mapping[str, Any]) -> Iterable[str]:
    """Values on the way to a limit, from a certificate's table."""
    for name, value in certificate.items():
        if re.match("T( =| →)", name) and isinstance(value, str):
            yield f"{name}: {value}"
        elif name == "example":
            yield ", ".join(_entries(value))
        elif name == "values":
            yield from (f"{plain(at)}: {float(number):.6g}" for at, number in value.items())


def _entries(entries: Mapping[str, Any]) -> Iterable[str]:
    for name, value in entries.items():
        if name == "decimals":
            yield from (f"{key} ≈ {_value(entry)}" for key, entry in value.items())
        elif isinstance(value, Mapping):
            yield from _entries(value)
        elif isinstance(value, str) and re.match(r"[A-Z][a-z]+\(", value):
            yield plain(value)
        else:
            yield _entry(name, value)


def _entry(name: str, value: Any) -> str:
    if name == "rounds" and isinstance(value, list):
        name = "admissions by round"
    symbol, *condition = NAMES.get(name, name).split(", ")
    after = f" ({', '.join(condition)})" if condition else ""
    last = symbol.split()[-1]
    formula = last in GLOSSARY or not re.fullmatch("[a-z]{2,}|[A-Za-z]{3,}", last)
    between = ": " if formula and " " in symbol and "=" in last else " = " if formula else " "
    return f"{symbol}{between}{_value(value)}{after}"


def _value(value: Any) -> str:
    if isinstance(value, list):
        inner = [_value(entry) for entry in value]
        return inner[0] if len(inner) == 1 else f"({', '.join(inner)})"
    text = str(value)
    if "sqrt" in text and re.search(r"\d{7}", text) and NUMBER.fullmatch(text):
        import sympy as sp

        return f"{float(sp.sympify(text)):.6g}"
    if re.fullmatch(r"-?\d+\.\d*0", text):
        text = text.rstrip("0").rstrip(".")
    return plain(text)


def plain(text: str) -> str:
    """A text without remnants of code: balls as numbers, SymPy's and Python's spelling as ours.

    >>> plain("[38.7784060305 +/- 2.02e-11] tends to 20*B*sqrt(Pdim)/sqrt(Lambda), mean_cost=Fraction(3, 2)")
    '38.7784 tends to 20·B·√Pdim/√Λ̄, c̄=3/2'
    """
    return "".join(f"${stretch}$" if maths else _plain(stretch) for maths, stretch in split(text))


def _plain(text: str) -> str:
    text = BALL.sub(_ball, text)
    text = re.sub(r"Fraction\((-?\d+), (\d+)\)", lambda m: m[1] if m[2] == "1" else f"{m[1]}/{m[2]}", text)
    text = CALL.sub(_arguments, text)
    text = text.replace("**", "^").replace("sqrt(", "√(")
    text = re.sub(r"√\((\w+)\)", lambda m: "√" + SPELLED.get(m[1], m[1]), text)
    text = re.sub(r"(?<=[\w)])\*(?=[\w(√])", "·", text)
    text = re.sub(r"\b[a-zA-Z]+(?:_[a-z]+)?\b(?=[·/^)*=]|$)", lambda m: _spelled(m[0]), text)
    return re.sub(r"\boo\b", "infinity", text)


def _spelled(name: str) -> str:
    return SPELLED.get(name, name) if len(name) > 2 else name


def _ball(match: re.Match[str]) -> str:
    """A certified enclosure: six digits, with its radius if that is coarser."""
    centre, radius = match.groups()
    if centre is None:
        return f"0 ± {float(radius):.3g}"
    value, width = float(centre), float(radius)
    return f"{value:.6g}" if width <= abs(value) * 1e-6 else f"{value:.6g} ± {float(radius):.3g}"


def _arguments(match: re.Match[str]) -> str:
    """The given arguments of a constructor, as a reader writes them."""
    pairs = re.findall(r"(\w+)=(\([^()]*\)|[^(),]+)", match[1])
    values = ((NAMES.get(name, name), value.replace(",)", ")")) for name, value in pairs if value != "None")
    return ", ".join(
        f"{name} = {value}" if len(name) < 5 else f"{name} {value.strip('()')}" for name, value in values
    )
