"""`acdpp plot`: one command per figure, from the theory or from a saved result, with its options and caption."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from acdpp import parse
from acdpp.drawing import Drawing, deliver, file_options, spelled, take_options
from acdpp.options import Budget, Buffers, Constants, MeanCost, Rate, Retention
from acdpp.study import buffer_sizes
from acdpp.study import prices as study_prices
from figures.options import NotMeasured
from theory.setting import SettingError

if TYPE_CHECKING:
    from empirics.settings.study import Study
    from figures.simulation import Simulation

__all__ = ["CAPTIONS", "EXAMPLES", "FIGURES", "MEASURED", "REPORTED", "THEORY", "app"]

EXAMPLES = (
    "Examples: [bold]acdpp plot omegas --horizon 1e15[/bold] · "
    "[bold]acdpp plot all --out plots --format pdf --result results/digits-1[/bold]"
)

app = typer.Typer(
    name="plot",
    help="Draw a figure of the theory, or of a result of [bold]acdpp train[/bold].",
    epilog=EXAMPLES,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
)


Figures = Callable[..., Drawing | list[Drawing]]
FIGURES: dict[str, Figures] = {}
CAPTIONS: dict[str, str] = {}  # by the name of the drawing
THEORY: list[str] = []  # figures without a result
MEASURED: list[str] = []  # from a result of training; `all` draws these and the theory's
REPORTED: list[tuple[str, dict[str, Any]]] = []  # in acdpp report, with the options to set there


class _OfTheory(TyperCommand):
    """A figure of the theory, which answers a result with the figure that draws it."""

    allow_extra_args = True

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        super().parse_args(ctx, args)
        if ctx.args and not ctx.resilient_parsing:
            raise SettingError(f"the figure of a result is acdpp plot measured-{self.name} {ctx.args[0]}")
        return []


def _figure(
    example: str, *lists: list[str], caption: str = "", report: dict[str, Any] | None = None, **captions: str
) -> Callable[[Figures], Figures]:
    """Turn a function from options to a `Drawing` into a command, with `file_options` added."""
    name = example.split()[0]

    def register(make: Figures) -> Figures:
        def command(ctx: typer.Context, **given: Any) -> None:
            file = {option: given.pop(option) for option in inspect.signature(file_options).parameters}
            deliver(spelled(ctx, name, given.get("result")), lambda: make(**given), **file)

        take_options(command, make, file_options)
        kind = _OfTheory if name in ("mismatch", "prices") else TyperCommand
        app.command(name, cls=kind, epilog=f"Example: [bold]acdpp plot {example}[/bold]")(command)
        FIGURES[name] = make
        CAPTIONS.update(
            {name: caption or str(make.__doc__)}
            | {other.replace("_", "-"): words for other, words in captions.items()}
        )
        for some in lists:
            some.append(name)
        if report is not None:
            REPORTED.append((name, report))
        return make

    return register


def _drawn(module: str, *settings: Any, name: str = "", **more: Any) -> Drawing:
    """The figure of a module, which is loaded after the settings are parsed."""
    figure = import_module(f"figures.{module}")
    tracked = "track" in inspect.signature(figure.compute).parameters

    def compute(track: Any) -> Any:
        return figure.compute(*settings, **more, **({"track": track} if tracked else {}))

    return Drawing(name or module.replace("_", "-"), compute, figure.draw)


def _computed(name: str, data: Any, draw: Callable[[Any, Any], Any]) -> Drawing:
    return Drawing(name, lambda track: data, draw)


# --- the theory's figures ----------------------------------------------------------------------------------

Rho = Annotated[
    str | None, typer.Option(help="Contraction of the region; by default 1 - 1/√T for T simulated rounds.")
]
Weight = Annotated[
    str | None, typer.Option("--V", help="Weight of the penalty; by default √T for T simulated rounds.")
]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of all random draws.")]
Replicate = Annotated[int, typer.Option(min=0, max=10**4, help="Number of the replicate, from 0.")]


class Term(StrEnum):
    all = "all"
    omega1 = "omega1"
    omega2 = "omega2"
    omega3 = "omega3"


@_figure(
    "omegas --term omega3 --horizon 1e15",
    THEORY,
    report={},
    caption="The three terms of the regret over the order claimed for each and over its true order, with certified "
    "enclosures: a flat curve confirms the order. Ω₃ over log T diverges; over √(T log T) it converges.",
)
def omegas(
    K: Annotated[
        str, typer.Option("--K", help="Retention horizons; Ω₁ and Ω₂ take the first, Ω₃ takes all.")
    ] = "10,2,100",
    rate: Rate = "10",
    horizon: Annotated[str, typer.Option(help="Rounds T, from 10^3 to 10^15.")] = "1e15",
    constants: Constants = parse.DEFAULT_CONSTANTS,
    term: Annotated[Term, typer.Option(help="One regret term, or all three.")] = Term.all,
) -> Drawing:
    """Ω₁, Ω₂ and Ω₃ over their claimed and true orders: a flat curve confirms the order."""
    first, *others = parse.wholes(K, "--K")
    settings = parse.number(rate, "--rate"), parse.whole(horizon, "--horizon"), parse.constants(constants)
    one: dict[str, Any] = {} if term is Term.all else {"terms": (term.value,)}
    return _drawn("omegas", first, *settings, others=others, **one)


@_figure("uniformity --K 2,5,10", THEORY, report={})
def uniformity(
    K: Annotated[str, typer.Option("--K", help="Retention horizons, to 200.")] = "2,5,10",
    rounds: Annotated[
        str | None, typer.Option(help="Last round drawn; by default three times the largest K.")
    ] = None,
) -> Drawing:
    """Uniformity and N_eff/n against t: counted sample by sample, as stated and corrected."""
    return _drawn("uniformity", parse.wholes(K, "--K"), parse.optional(parse.whole, rounds, "--rounds"))


@_figure("bound-vs-T --K 10 --rate 10 --horizon 1e12", THEORY, report={})
def bound_vs_T(
    K: Retention = "10",
    rate: Rate = "10",
    horizon: Annotated[str, typer.Option(help="Rounds T, to 10^15.")] = "1e12",
    constants: Constants = parse.DEFAULT_CONSTANTS,
    rounds: Annotated[
        int, typer.Option(min=0, max=10**6, help="Rounds of ACDPP to simulate; 0 leaves it out.")
    ] = 2000,
    seeds: Annotated[int, typer.Option(min=1, max=10**4, help="Simulated runs.")] = 20,
    rho: Rho = None,
    V: Weight = None,
    seed: Seed = 0,
) -> Drawing:
    """The bound and its average per round against T, stated and corrected, with the shares of its terms."""
    simulation = _simulation(K, rate, rounds, seeds, rho, V, seed) if rounds else None
    settings = parse.number(rate, "--rate"), parse.whole(horizon, "--horizon"), parse.constants(constants)
    return _drawn("bound_vs_horizon", parse.whole(K, "--K"), *settings, simulation, name="bound-vs-T")


@_figure("design --buffers 8,9,10,11,12 --budget 26 --mean-cost 5.5 --horizon 1e3,1e6", THEORY, report={})
def design(
    buffers: Buffers = parse.PAPER_BUFFERS,
    budget: Budget = "52",  # at the paper's 55 stated and corrected K* coincide
    mean_cost: MeanCost = "5.5",
    horizon: Annotated[
        str, typer.Option(help="Horizons T, to 10^12; the finite map takes the shortest.")
    ] = "1e2,1e4,1e6",
    constants: Constants = parse.DEFAULT_CONSTANTS,
) -> Drawing:
    """The bound over K with the stated, the corrected and the finite-horizon choice, and maps of K*."""
    setting = parse.budget(buffers, budget, parse.number(mean_cost, "--mean-cost"))
    return _drawn("design", setting, parse.constants(constants), parse.wholes(horizon, "--horizon"))


@_figure("control --rounds 150 --rho 0.95 --V 20", THEORY)
def control(
    K: Retention = "10",
    rate: Rate = "10",
    constants: Constants = parse.DEFAULT_CONSTANTS,
    rounds: Annotated[int, typer.Option(min=2, max=10**5, help="Rounds to simulate.")] = 150,
    rho: Rho = None,
    V: Weight = None,
    seed: Seed = 0,
) -> Drawing:
    """One run of ACDPP, printed and capped: region, admissions, occupancy, debt and spending."""
    setting = _simulation(K, rate, rounds, 1, rho, V, seed)
    return _drawn("control", setting, parse.constants(constants))


@_figure(
    "frontier --cost integer:1:10 --no-risk",
    THEORY,
    report={"risk": False},  # which would take half a minute
    caption="Effective samples per round against the budget, per policy, with the limit of any policy.",
)
def frontier(
    cost: Annotated[
        str | None,
        typer.Option(help="Prices: uniform:LOW:HIGH, integer:LOW:HIGH or csv:FILE; by default uniform:1:10."),
    ] = None,
    buffers: Buffers = parse.PAPER_BUFFERS,
    rounds: Annotated[
        int, typer.Option(min=1, max=10**4, help="Rounds T of the predicted risk on the digits.")
    ] = 500,
    risk: Annotated[
        bool, typer.Option("--risk/--no-risk", help="Predict risk too, in half a minute.")
    ] = True,
    seed: Seed = 0,
) -> Drawing:
    """Effective samples and predicted risk against the budget, per policy, with the limit of any policy."""
    process = study_prices(cost)
    study = _study(cost=process, buffers=buffers, rounds=rounds, seed=seed)
    return _drawn("frontier", study, risk=risk)


@_figure(
    "mismatch --K 10 --draws 4000",
    THEORY,
    report={},
    caption="The factor of the gradient mismatch by its definition, χ, with Monte Carlo points, against the printed "
    "1/n - 1/N_eff, which is too small, and negative at first.",
)
def mismatch(
    K: Retention = "10",
    rate: Annotated[str, typer.Option(help="Samples per round, a whole number.")] = "5",
    rounds: Annotated[str | None, typer.Option(help="Last round drawn; by default 4K.")] = None,
    draws: Annotated[int, typer.Option(min=2, max=10**5, help="Monte Carlo draws for each round.")] = 4000,
    seed: Seed = 0,
) -> Drawing:
    """The mismatch factor χ against the printed 1/n - 1/N_eff, with Monte Carlo points."""
    last = parse.optional(parse.whole, rounds, "--rounds")
    return _drawn("mismatch", parse.whole(K, "--K"), parse.whole(rate, "--rate"), last, draws, seed)


@_figure("prices --cost markov:1:10", THEORY, report={})
def prices(
    replicate: Replicate = 0,
    rounds: Annotated[int, typer.Option(min=1, max=10**5, help="Rounds drawn.")] = 150,
    cost: Annotated[
        str | None,
        typer.Option(
            help="Prices: uniform:LOW:HIGH, or integer, markov or drifting, or csv:FILE; by default uniform:1:10."
        ),
    ] = None,
    buffers: Buffers = parse.PAPER_BUFFERS,
    budget: Budget = parse.PAPER_BUDGET,
    constants: Constants = parse.DEFAULT_CONSTANTS,
    seed: Seed = 0,
) -> Drawing:
    """Purchases of buy-cheap: prices, memory, spending and effective samples, against ACDPP and constant admission."""
    study = _study(
        cost=study_prices(cost, parse.ALL_KINDS),
        buffers=buffers,
        budget=parse.decimal(budget, "--budget"),
        rounds=rounds,
        seed=seed,
    )
    return _drawn("prices", study, parse.constants(constants), replicate)


# --- a result's figures ------------------------------------------------------------------------------------

Result = Annotated[Path, typer.Argument(help="Finished result folder of acdpp train.")]


OF_A_RESULT = {  # by the module of figures
    "prediction": "Measured and predicted excess risk, Theorem 1, and the residuals, per policy.",
    "retention": "Measured and predicted excess risk of a sweep over K, with the K of the theory.",
    "risk_vs_bound": "Measured cumulative excess risk against Theorem 1, stated and corrected, and by stability.",
    "money": "Excess risk against spending, with the lower bound for the budget.",
    "learning": "Excess risk and test accuracy per policy and round.",
    "constraints": "Occupancy, overflow, spending and debt per policy and round.",
    "measured_mismatch": "Measured gradient mismatch, against χ and the printed factor.",
}


def _of_a_result(module: str, shows: str) -> None:
    def make(result: Result) -> Drawing:
        from figures.measured import read

        return _drawn(module, read(result, import_module(f"figures.{module}").READS))

    make.__doc__ = shows
    _figure(f"{module.replace('_', '-')} results/digits-1", MEASURED)(make)


for _module, _shows in OF_A_RESULT.items():
    _of_a_result(_module, _shows)


@_figure("measured-prices results/digits-1", MEASURED)
def measured_prices(
    result: Result,
    replicate: Replicate = 0,
    rounds: Annotated[int, typer.Option(min=1, max=10**5, help="Rounds drawn.")] = 1000,
) -> Drawing:
    """Prices, memory, spending and effective samples in one replicate."""
    from figures import prices as figure
    from figures.measured import read

    found = figure.compute_measured(read(result, figure.READS), replicate, rounds)
    return _computed("measured-prices", found, figure.draw)


@_figure(
    "drift results/digits-1",
    caption="Risk over time while the population drifts, with the moments of change.",
    speeds="Cumulative excess risk over the retention K, at several speeds of the drift.",
)
def drift(
    result: Annotated[
        list[Path],
        typer.Argument(
            help="Result of acdpp train --drift, or several with a sweep over K, to compare speeds."
        ),
    ],
) -> Drawing:
    """Risk over time while the population drifts, with the moments of change; or over K, at several speeds."""
    from figures import drifting as figure
    from figures.measured import read

    found = [read(path, figure.READS) for path in result]
    if len(found) == 1:
        return _computed("drift", figure.compute(found[0]), figure.draw)
    return _computed("speeds", figure.compute_speeds(found), figure.draw_speeds)


# --- the paper's experiments, run again --------------------------------------------------------------------


@_figure(
    "section7 results/mnist results/cifar10.json",
    section7_accuracy="The paper's Figure 1 from our runs, with its reported targets and gains.",
    section7_constraints="The paper's Figure 2 from our runs: memory, cost and debt.",
)
def section7(
    result: Annotated[
        list[Path], typer.Argument(help="Results of acdpp reproduce: folders, or their reproduction.json.")
    ],
) -> list[Drawing]:
    """The paper's Figures 1 and 2 from our runs: accuracy, with its targets and gains, and memory, cost and debt."""
    from figures import section7 as figure

    found = [figure.read(path) for path in result]
    figure.check(found)
    drawn = {"accuracy": figure.draw_accuracy, "constraints": figure.draw_constraints}
    return [_computed(f"section7-{name}", found, draw) for name, draw in drawn.items()]


@_figure("explained results/why/explained.json")
def explained(
    result: Annotated[Path, typer.Argument(help="The explained.json of acdpp explain, or its folder.")],
) -> Drawing:
    """Sources of the paper's gain: per departure from its text, the gain over constant admission and the cost."""
    from figures import explained as figure

    return _computed("explained", figure.read(result), figure.draw)


# --- all of them -------------------------------------------------------------------------------------------


def _all(
    result: Annotated[
        Path | None, typer.Option(help="Result of acdpp train, whose figures are drawn too.")
    ] = None,
) -> None:
    """Draw every figure with its default settings."""


def _everything(ctx: typer.Context, result: Path | None, **file: Any) -> None:
    if result is not None:  # first, to refuse a wrong folder at once
        for name in MEASURED:
            try:
                deliver(spelled(ctx, name, result), partial(FIGURES[name], result=result), **file)
            except NotMeasured as error:
                typer.echo(f"acdpp: left out {name} of the result: {error}", err=True)
    for name in THEORY:
        deliver(spelled(ctx, name, None), FIGURES[name], **file)


take_options(_everything, _all, file_options)
app.command(
    "all", epilog="Example: [bold]acdpp plot all --out plots --format pdf --result results/digits-1[/bold]"
)(_everything)


# --- parsing -----------------------------------------------------------------------------------------------


def _study(buffers: str, **given: Any) -> Study:
    """The digits preset with the given settings."""
    from empirics.settings.presets import PRESETS
    from empirics.settings.study import Study

    asked = {name: value for name, value in given.items() if value is not None}
    return Study.from_document(asked | {"buffers": buffer_sizes(buffers, "--buffers")}, PRESETS["digits"])


def _simulation(
    K: str, rate: str, rounds: int, seeds: int, rho: str | None, V: str | None, seed: int
) -> Simulation:
    from figures.simulation import Simulation

    return Simulation(
        K=parse.whole(K, "--K"),
        rate=parse.number(rate, "--rate"),
        rounds=rounds,
        seeds=seeds,
        seed=seed,
        rho=parse.optional(parse.decimal, rho, "--rho"),
        V=parse.optional(parse.decimal, V, "--V"),
    )
