"""`acdpp bound`: a cumulative bound or a regret term, term by term."""

from __future__ import annotations

import math
from contextlib import nullcontext
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.table import Table

from acdpp import parse
from acdpp.output import console, print_json
from theory.algebra import precise
from theory.bound import PER_ROUND, Bound
from theory.constant_admission import (
    constant_bound,
    constant_bound_as_stated,
    oracle_bound,
    oracle_bound_as_stated,
)
from theory.regret import omega2, omega2_as_stated, omega3, omega3_as_stated
from theory.setting import Constants, Region, SettingError

__all__ = ["DEFAULT_CONSTANTS", "EXAMPLES", "Form", "command"]

DEFAULT_CONSTANTS = "D=1,sigma=1,eta=0.1,B=1,Pdim=5"
EXAMPLES = "Example: [bold]acdpp bound constant --K 10 --rate 10 --horizon 1e12 --certified[/bold]"


class Quantity(StrEnum):
    """What can be bounded."""

    constant = "constant"
    oracle = "oracle"
    omega2 = "omega2"
    omega3 = "omega3"


class Form(StrEnum):
    """The formula as it should be, or as the paper prints it."""

    corrected = "corrected"
    stated = "stated"


def _evaluate(
    quantity: Quantity, form: Form, K: int, rate: Any, T: int, rho: Any, constants: Constants, certified: bool
) -> Bound:
    stated = form is Form.stated
    region = None if rho is None else Region(rate=rate, rho=rho)  # checked even where it does not matter
    if quantity is Quantity.omega2:
        if region is None:
            raise SettingError("omega2 depends on the region's contraction: give --rho, such as --rho 0.99")
        return (omega2_as_stated if stated else omega2)(K, region, T, constants, certified=certified)
    if quantity is Quantity.omega3:
        return (omega3_as_stated if stated else omega3)(K, rate, T, constants, certified=certified)
    if quantity is Quantity.oracle:
        return (oracle_bound_as_stated if stated else oracle_bound)(
            K * rate, T, constants, certified=certified
        )
    return (constant_bound_as_stated if stated else constant_bound)(
        K, rate, T, constants, certified=certified
    )


def _enclosure(value: Any) -> tuple[float, float]:
    """Floats that certainly lie on either side of a ball."""
    low, high = value.lower(), value.upper()
    down, up = float(low), float(high)
    while not down <= low:
        down = math.nextafter(down, -math.inf)
    while not up >= high:
        up = math.nextafter(up, math.inf)
    return down, up


def command(
    quantity: Annotated[
        Quantity, typer.Argument(help="What to evaluate; the oracle's total buffer is K times the rate.")
    ],
    K: Annotated[
        str, typer.Option("--K", help="Retention horizon: how many rounds a sample is kept.")
    ] = "10",
    rate: Annotated[str, typer.Option(help="Total admissions a round, Λ̄.")] = "10",
    horizon: Annotated[str, typer.Option(help="Rounds T, to 10^15; 1e12 and 10^12 both do.")] = "1000",
    rho: Annotated[
        str | None, typer.Option(help="Contraction of the region; omega2 alone depends on it.")
    ] = None,
    constants: Annotated[
        str,
        typer.Option(
            help="D, sigma, eta, B, Pdim and, if wanted, E, G, L (G and L: the per-round constant)."
        ),
    ] = DEFAULT_CONSTANTS,
    form: Annotated[Form, typer.Option(help="The corrected formula, or the printed one.")] = Form.corrected,
    certified: Annotated[
        bool, typer.Option("--certified", help="Prove an enclosure with ball arithmetic.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """The cumulative bound over T rounds, or a term of the regret, part by part."""
    T = parse.whole(horizon, "--horizon")
    if T > 10**15:
        raise SettingError(f"--horizon must be at most 10^15, got {horizon}")
    setting = parse.constants(constants)
    result = _evaluate(
        quantity,
        form,
        parse.whole(K, "--K"),
        parse.number(rate, "--rate"),
        T,
        None if rho is None else parse.number(rho, "--rho"),
        setting,
        certified,
    )
    document = _document(quantity, form, T, result, certified)
    if not math.isfinite(document["total"]):
        raise SettingError("these constants are too large or too small for a double: the bound is not finite")
    if setting.G is None and quantity in (Quantity.constant, Quantity.oracle):
        document["omitted"] = ["constant: give G (and L where E > 1)"]
    if as_json:
        print_json(document)
    else:
        _show(document)


def _document(quantity: Quantity, form: Form, T: int, result: Bound, certified: bool) -> dict[str, Any]:
    def number(value: Any) -> float:
        return float(value.mid()) if hasattr(value, "mid") else float(value)

    with precise() if certified else nullcontext():
        total = result.total
    terms = result.terms
    names: tuple[str, ...] = PER_ROUND
    if quantity in (Quantity.constant, Quantity.oracle):
        names += ("constant", "initial")
    document: dict[str, Any] = {
        "quantity": quantity.value,
        "form": form.value,
        "horizon": T,
        "total": number(total),
        "terms": {name: number(getattr(terms, name)) for name in names},
        "error": result.error,
    }
    if certified:
        document["enclosure"] = list(_enclosure(total))
    if form is Form.stated:
        document["negative_radicand_rounds"] = {
            name: list(map(list, spans)) for name, spans in result.negative.items()
        }
        document["left_out_rounds"] = list(result.left_out)
    return document


def _show(document: dict[str, Any]) -> None:
    table = Table(
        title=f"{document['quantity']}, {document['form']}, T = {document['horizon']:,}", title_justify="left"
    )
    table.add_column("term")
    table.add_column("over T rounds", justify="right")
    table.add_column("a round", justify="right")
    rows = [*document["terms"].items(), ("total", document["total"])]
    for name, value in rows:
        if name == "total":
            table.add_section()
        table.add_row(name, f"{value:.15g}", f"{value / document['horizon']:.6g}")
    console.print(table)
    if "enclosure" in document:
        low, high = document["enclosure"]
        console.print(f"proved: the total lies in [{low!r}, {high!r}]".replace("[", "\\["))
    else:
        console.print(f"absolute error at most about {document['error']:.2g}")
    for name, spans in document.get("negative_radicand_rounds", {}).items():
        rounds = ", ".join(f"{first}-{last}" if last > first else str(first) for first, last in spans)
        console.print(f"negative under the root, taken as 0: {name} term, rounds {rounds}")
    if document.get("left_out_rounds"):
        rounds = ", ".join(map(str, document["left_out_rounds"]))
        console.print(f"left out: round {rounds}, where the printed uniformity is 0 and the bound infinite")
    for note in document.get("omitted", ()):
        console.print(f"left out: {note}")
