"""Theory's own functions as Coq definitions, a file a part: `python -m proofs_check.kernel.formulas` renews them.

A row names the function and its arguments; one that ends in `:nat` is a natural number. Proofs are about these
definitions, so that a formula stands once, in `theory`, also for the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import sympy as sp

from proofs_check.kernel.coq import coq
from theory import reuse

__all__ = ["FORMULAS", "written"]

HEAD = """(* Generated from theory by `python -m proofs_check.kernel.formulas`: do not edit. *)
Require Import Reals.
Open Scope R_scope.
"""
Row = tuple[Callable[..., Any], str] | tuple[str, Callable[..., Any], str]

FORMULAS: dict[str, tuple[Row, ...]] = {
    "ReuseFormulas": (
        (reuse.uses_kstep, "age K"),
        ("first_deficit", lambda age, K: reuse.cohort_deficits(age, K)[0], "age K"),
        ("second_deficit", lambda age, K: reuse.cohort_deficits(age, K)[1], "age K"),
        (reuse.uniformity_from_deficits, "N first second K"),
        (reuse.effective_from_sums, "uses squares"),
        (reuse.mismatch_from_sums, "n uses squares in_memory"),
        (reuse.occupancy_constant, "K t rate"),
        (reuse.mean_occupancy_constant, "K T rate"),
        (reuse.uniformity_constant, "K t"),
        (reuse.uniformity_constant_as_stated, "K t"),
        (reuse.inverse_effective_constant, "K t rate"),
        (reuse.mismatch_constant, "K t rate"),
        (reuse.crossover_constant, "K"),
    ),
}


def _symbol(argument: str) -> Any:
    name, _, kind = argument.partition(":")
    return sp.Symbol(name, integer=True) if kind == "nat" else sp.Symbol(name, real=True)


def _definition(name: str, function: Callable[..., Any], arguments: str) -> str:
    binders = " ".join(
        f"({name} : {kind or 'R'})" for name, _, kind in (a.partition(":") for a in arguments.split())
    )
    value = coq(function(*map(_symbol, arguments.split())))
    return f"\nDefinition {name} {binders} : R :=\n  {value}.\n"


def _rows(part: str) -> Iterator[str]:
    for row in FORMULAS[part]:
        yield _definition(*row) if len(row) == 3 else _definition(row[0].__name__, *row)


@cache
def written(part: str) -> str:
    """The text of one file of definitions, from theory as it is now.

    >>> print(written("ReuseFormulas").partition("Definition occupancy_constant ")[2].partition(".")[0])
    (K : R) (t : R) (rate : R) : R :=
      rate * Rmin K t
    """
    return HEAD + "".join(_rows(part))


if __name__ == "__main__":
    for part in FORMULAS:
        Path(__file__).with_name(f"{part}.v").write_text(written(part), encoding="utf-8")
