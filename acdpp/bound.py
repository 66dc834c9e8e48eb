"""`acdpp bound`: a cumulative bound, a regret term, the regret or a violation, part by part."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from acdpp import options, parse
from acdpp.options import AsJson, Rate, Retention, spelled, takes
from acdpp.output import console, print_json, say
from theory.numbers.algebra import ball, log, precise, sqrt
from theory.setting import Constants, Region, SettingError

if TYPE_CHECKING:
    from theory.bound.theorem1 import Bound

__all__ = ["EXAMPLES", "Form", "app"]

EXAMPLES = (
    "Examples: [bold]acdpp bound constant --K 10 --rate 10 --horizon 1e12 --certified[/bold], "
    "[bold]acdpp bound stability --confidence 0.95 --constants D=1,sigma=1,eta=0.1,B=1,Pdim=5,G=1,L=1[/bold], "
    "[bold]acdpp bound regret --K 2 --horizon 1e15[/bold], "
    "[bold]acdpp bound cost-violation --rho 0.99 --budget 55 --mean-cost 5.5[/bold]"
)


class Form(StrEnum):
    corrected = "corrected"
    stated = "stated"


WHOLE_BOUNDS = ("constant", "sharper", "memory", "stability", "oracle")
MEANINGS = {  # of the quantities that are a single number
    "regret": "regret of every policy inside the region, for any V and rho, up to an amount that stays bounded as T "
    "grows",
    "cost-violation": "maximal spending of a policy inside the region beyond its budget, over T rounds",
    "buffer-violation": "maximal excess of a policy inside the region over its buffers K times the rate, summed over T "
    "rounds",
}


@dataclass(frozen=True)
class Request:
    quantity: str
    form: Form
    K: int
    rate: Any
    T: int
    rho: Any
    constants: Constants
    certified: bool
    budget: Any
    mean_cost: Any
    confidence: Any

    @property
    def region(self) -> Region:
        return Region(rate=self.rate, rho=self.rho)


def _terms(asked: Request) -> Bound:
    """A sum over rounds, term by term."""
    from theory.bound import constant_admission as admission
    from theory.bound.sharper import memory_constant_bound, sharper_constant_bound
    from theory.bound.stability import stability_constant_bound
    from theory.regret.omegas import omega2, omega2_as_stated, omega3, omega3_as_stated

    K, rate, T, constants = asked.K, asked.rate, asked.T, asked.constants
    sums: dict[str, tuple[Any, Any]] = {  # corrected, and as stated
        "constant": (admission.constant_bound, admission.constant_bound_as_stated),
        "sharper": (sharper_constant_bound, None),
        "memory": (memory_constant_bound, None),
        "stability": (stability_constant_bound, None),
        "oracle": (admission.oracle_bound, admission.oracle_bound_as_stated),
        "omega2": (omega2, omega2_as_stated),
        "omega3": (omega3, omega3_as_stated),
    }
    corrected, stated = sums[asked.quantity]
    first: tuple[Any, ...] = (K, asked.region) if asked.quantity == "omega2" else (K, rate)
    if asked.quantity == "oracle":
        first = (K * rate,)
    made: Bound = (stated if asked.form is Form.stated else corrected)(
        *first, T, constants, certified=asked.certified
    )
    return made


def _deviation(asked: Request) -> Any:
    """Amount by which a single run may exceed the stability bound, at the given confidence."""
    from theory.bound.confidence import deviation_constant

    system = ball if asked.certified else float
    T, rate, failure = map(system, (asked.T, asked.rate, 1 - asked.confidence))
    return deviation_constant(asked.K, T, rate, asked.constants.map(system), failure)


def _ball(asked: Request) -> Any:
    """The regret or a violation, enclosed."""
    from theory.control.violation import buffer_violation_maximum, cost_violation_bound
    from theory.regret.expansion import regret_expansion

    if asked.quantity == "regret":
        return regret_expansion(asked.K, ball(asked.rate), ball(asked.T), asked.constants.map(ball))
    if asked.quantity == "buffer-violation":
        return buffer_violation_maximum(asked.K, asked.T, asked.region.map(ball))
    region, price, budget = asked.region.map(ball), ball(asked.mean_cost), ball(asked.budget)
    return cost_violation_bound(ball(asked.T), region, price, budget)


def _enclosure(value: Any) -> list[float]:
    """Floats below and above every point of a ball."""
    low, high = value.lower(), value.upper()
    down, up = float(low), float(high)
    while not down <= low:
        down = math.nextafter(down, -math.inf)
    while not up >= high:
        up = math.nextafter(up, math.inf)
    return [down, up]


@dataclass(frozen=True)
class BoundOptions:
    """The options of all quantities; each takes some of them."""

    K: Retention = "10"
    rate: Rate = "10"
    horizon: Annotated[str, typer.Option(help="Rounds T, up to 10^15, such as 1e12 or 10^12.")] = "1000"
    rho: Annotated[str | None, typer.Option(help="Contraction of the region, such as 0.99.")] = None
    budget: Annotated[str | None, typer.Option(help="Cost budget C per round, such as 55.")] = None
    mean_cost: Annotated[str | None, typer.Option(help="Mean price of a sample, such as 5.5.")] = None
    confidence: Annotated[
        str | None,
        typer.Option(
            help="A bound for a single run with this probability, such as 0.95; otherwise for the mean."
        ),
    ] = None
    constants: options.Constants = parse.DEFAULT_CONSTANTS
    form: Annotated[Form, typer.Option(help="The corrected formula, or the printed one.")] = Form.corrected
    certified: Annotated[
        bool, typer.Option("--certified", help="Prove an enclosure with ball arithmetic.")
    ] = False
    as_json: AsJson = False


SUM = ("K", "rate", "constants", "certified")
QUANTITIES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {  # help, options, and required options
    "constant": ("Theorem 1 for constant admission.", (*SUM, "form"), ()),
    "sharper": ("A bound better than Theorem 1, for constant admission.", SUM, ()),
    "memory": ("A bound better than Theorem 1, by the samples in memory.", SUM, ()),
    "stability": (
        "A bound without Pdim, B and sigma, for smooth losses and eta of at most 2/L.",
        (*SUM, "confidence"),
        (),
    ),
    "oracle": ("Theorem 1 for K times the rate of samples, always fresh.", (*SUM, "form"), ()),
    "omega2": ("The regret's second term.", (*SUM, "form"), ("rho",)),
    "omega3": ("The regret's third term.", (*SUM, "form"), ()),
    "regret": ("The regret's expansion, with a proved enclosure.", ("K", "rate", "constants"), ()),
    "cost-violation": (
        "The maximal spending beyond the budget inside the region.",
        ("rate",),
        ("rho", "budget", "mean_cost"),
    ),
    "buffer-violation": ("The maximal excess over the buffers inside the region.", ("K", "rate"), ("rho",)),
}
app = typer.Typer(
    name="bound",
    help="Evaluate the cumulative bound over T rounds, a term of the regret, the regret, or a violation.",
    epilog=EXAMPLES,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
)


def _evaluate(quantity: str, given: BoundOptions) -> None:
    """Print a quantity with its terms and its error."""
    T = parse.whole(given.horizon, "--horizon")
    if T > 10**15:
        raise SettingError(f"--horizon must be at most 10^15, got {given.horizon}")
    optional = partial(parse.optional, parse.number)
    asked = Request(
        quantity=quantity,
        form=given.form,
        K=parse.whole(given.K, "--K"),
        rate=parse.number(given.rate, "--rate"),
        T=T,
        rho=optional(given.rho, "--rho"),
        constants=parse.constants(given.constants),
        certified=given.certified,
        budget=optional(given.budget, "--budget"),
        mean_cost=optional(given.mean_cost, "--mean-cost"),
        confidence=optional(given.confidence, "--confidence"),
    )
    if asked.confidence is not None and not 0 < asked.confidence < 1:
        raise SettingError(
            f"--confidence must lie strictly between 0 and 1, such as 0.95, got {given.confidence}"
        )
    import numpy as np

    with np.errstate(all="ignore"):  # results that are not finite are refused below
        document = _number(asked) if quantity in MEANINGS else _document(asked, _terms(asked))
    if not math.isfinite(_sum(document)):
        raise SettingError("these constants are too large or too small for a double: the bound is not finite")
    (print_json if given.as_json else _show)(document)


def _command(quantity: str, words: str, taken: tuple[str, ...], required: tuple[str, ...]) -> None:
    known = {*taken, *required, "horizon", "as_json"}

    @takes(
        BoundOptions,
        without=[spelled(one.name) for one in fields(BoundOptions) if one.name not in known],
        required=list(map(spelled, required)),
    )
    def command(given: BoundOptions) -> None:
        _evaluate(quantity, given)

    command.__doc__ = words
    app.command(quantity)(command)


for _quantity, _said in QUANTITIES.items():
    _command(_quantity, *_said)


def _mid(value: Any) -> float:
    return float(value.mid()) if hasattr(value, "mid") else float(value)


def _number(asked: Request) -> dict[str, Any]:
    """A single number with a proved enclosure."""
    from theory.regret.omegas import omega3_limit

    with precise():
        value = _ball(asked)
        document = _head(asked, _mid(value))
        document |= {"error": float(value.rad()), "enclosure": _enclosure(value)}
        if asked.quantity == "regret":
            T, limit = ball(asked.T), omega3_limit(asked.K, ball(asked.rate), asked.constants.map(ball))
            document["leading_term"] = _mid(limit * sqrt(T * log(T)))
    return document | {"meaning": MEANINGS[asked.quantity]}


def _head(asked: Request, total: float | None) -> dict[str, Any]:
    named = {"quantity": asked.quantity, "form": asked.form.value}
    return named | {"horizon": asked.T, "total": total}


def _document(asked: Request, result: Bound) -> dict[str, Any]:
    """The terms and their total, which is partial if a term is left out."""
    from theory.bound.theorem1 import PER_ROUND, ROUNDING

    more = {}
    with precise() if asked.certified else nullcontext():
        total, error = result.total, result.error
        if asked.confidence is not None:
            more["deviation"] = _deviation(asked)
            total += more["deviation"]
            error = float(total.rad()) if asked.certified else error + ROUNDING * float(total)
    names: tuple[str, ...] = PER_ROUND
    if asked.quantity in WHOLE_BOUNDS:
        names += ("constant", "initial")
    terms: dict[str, float | None] = {name: _mid(getattr(result.terms, name)) for name in names}
    terms |= {name: _mid(value) for name, value in more.items()}
    left_out = {}
    if "constant" in terms and asked.constants.G is None:
        terms["constant"] = None
        smooth = asked.constants.E > 1 and "form" in QUANTITIES[asked.quantity][1]
        left_out["the constant term per round"] = f"give {'G and L' if smooth else 'G'} in --constants"
    if result.left_out:
        rounds = f"round {', '.join(map(str, result.left_out))}"
        left_out[rounds] = "the printed uniformity is 0 in this round and the bound infinite"
    document = _head(asked, None if left_out else _mid(total)) | {"terms": terms, "error": error}
    if more:
        document["meaning"] = f"for a single run, with probability at least {float(asked.confidence):.15g}"
    if left_out:
        document |= {"partial_total": _mid(total), "left_out": left_out}
    if asked.certified:
        document["partial_enclosure" if left_out else "enclosure"] = _enclosure(total)
    if asked.form is Form.stated:
        document["negative_radicand_rounds"] = {
            name: list(map(list, spans)) for name, spans in result.negative.items()
        }
        document["left_out_rounds"] = list(result.left_out)
    return document


def _sum(document: dict[str, Any]) -> float:
    return float(document["partial_total"] if document["total"] is None else document["total"])


def _show(document: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table(
        title=f"{document['quantity']}, {document['form']}, T = {document['horizon']:,}", title_justify="left"
    )
    table.add_column("term")
    for heading in ("over T rounds", "per round"):
        table.add_column(heading, justify="right")
    rows = dict(document.get("terms", {}))
    if "leading_term" in document:
        rows["leading term alone"] = document["leading_term"]
    left_out = document.get("left_out", {})
    known = "partial total" if left_out else "total"
    for name, value in [*rows.items(), (known, _sum(document))]:
        if name == known and rows:
            table.add_section()
        cells = (
            ("not given", "") if value is None else (f"{value:.15g}", f"{value / document['horizon']:.6g}")
        )
        table.add_row(name, *cells)
    console().print(table)
    for what, why in left_out.items():
        say(f"no total without {what}: {why}")
    if "meaning" in document:
        say(document["meaning"])
    if enclosure := document.get("enclosure", document.get("partial_enclosure")):
        say("proved: the {} lies in [{!r}, {!r}]".format(known, *enclosure))
    else:
        say(f"absolute error at most about {document['error']:.2g}")
    for name, spans in document.get("negative_radicand_rounds", {}).items():
        rounds = ", ".join(f"{first}-{last}" if last > first else str(first) for first, last in spans)
        say(f"negative under the root, taken as 0: {name} term, rounds {rounds}")
