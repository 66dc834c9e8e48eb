"""`acdpp plot`: every figure in one command, from the theory or from a saved run."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from acdpp import parse
from acdpp.drawing import Drawing, deliver, file_options, spelled, take_options
from acdpp.study import CostColumn, CostTrace
from figures.missing import NotMeasured
from theory.setting import Budget, SettingError

if TYPE_CHECKING:
    from empirics.settings.study import Study
    from figures.simulation import Simulation

__all__ = ["EXAMPLES", "app"]

EXAMPLES = (
    "Examples: [bold]acdpp plot omegas --horizon 1e15[/bold] · "
    "[bold]acdpp plot all --out plots --format pdf --result results/digits-1[/bold]"
)

app = typer.Typer(
    name="plot",
    help="Draw what the theory says, or what a run of [bold]acdpp train[/bold] measured.",
    epilog=EXAMPLES,
    no_args_is_help=True,
    rich_markup_mode="rich",
)


Figures = Callable[..., Drawing | list[Drawing]]
FIGURES: dict[str, Figures] = {}


def _figure(name: str, example: str) -> Callable[[Figures], Figures]:
    """Make a command of a function from settings to a `Drawing`: its parameters and `file_options` are the options."""

    def register(make: Figures) -> Figures:
        def command(ctx: typer.Context, **given: Any) -> None:
            file = {option: given.pop(option) for option in inspect.signature(file_options).parameters}
            deliver(spelled(ctx, name, given.get("result")), lambda: make(**given), **file)

        take_options(command, make, file_options)
        app.command(name, epilog=f"Example: [bold]acdpp plot {example}[/bold]")(command)
        FIGURES[name] = make
        return make

    return register


# --- the theory's figures ----------------------------------------------------------------------------------

Retention = Annotated[str, typer.Option("--K", help="Retention horizon: how many rounds a sample is kept.")]
Rate = Annotated[str, typer.Option(help="Total admissions a round, Λ̄.")]
Numbers = Annotated[str, typer.Option(help="D, sigma, eta, B, Pdim and, if wanted, E, G, L.")]
Rho = Annotated[
    str | None, typer.Option(help="Contraction of the region; 1 - 1/√T for T simulated rounds, if not given.")
]
Weight = Annotated[
    str | None, typer.Option("--V", help="Weight of the penalty; √T for T simulated rounds, if not given.")
]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of what is drawn at random.")]


@_figure("bound-vs-T", "bound-vs-T --K 10 --rate 10 --horizon 1e12")
def bound_vs_T(
    K: Retention = "10",
    rate: Rate = "10",
    horizon: Annotated[str, typer.Option(help="Rounds T, to 10^15.")] = "1e12",
    constants: Numbers = parse.DEFAULT_CONSTANTS,
    rounds: Annotated[
        int, typer.Option(min=0, max=10**6, help="Rounds of ACDPP to simulate; 0 leaves it out.")
    ] = 2000,
    seeds: Annotated[int, typer.Option(min=1, max=10**4, help="Simulated runs.")] = 20,
    rho: Rho = None,
    V: Weight = None,
    seed: Seed = 0,
) -> Drawing:
    """The bound and its average a round against T, as stated and corrected, with the shares of its terms."""
    from figures import bound_vs_horizon as figure

    simulation = _simulation(K, rate, rounds, seeds, rho, V, seed) if rounds else None
    settings = (
        parse.whole(K, "--K"),
        parse.number(rate, "--rate"),
        parse.whole(horizon, "--horizon"),
        parse.constants(constants),
    )
    return Drawing(
        "bound-vs-T", lambda track: figure.compute(*settings, simulation, track=track), figure.draw
    )


@_figure("uniformity", "uniformity --K 2,5,10")
def uniformity(
    K: Annotated[str, typer.Option("--K", help="Retention horizons, to 200.")] = "2,5,10",
    rounds: Annotated[
        str | None, typer.Option(help="Last round drawn; three times the largest K, if not given.")
    ] = None,
) -> Drawing:
    """Uniformity and N_eff/n against t: counted sample by sample, as stated and corrected."""
    from figures import uniformity as figure

    retentions, last = _wholes(K, "--K"), _perhaps(rounds, "--rounds")
    return Drawing("uniformity", lambda track: figure.compute(retentions, last), figure.draw)


@_figure("mismatch", "mismatch --K 10 --draws 4000[/bold] or [bold]acdpp plot mismatch results/digits-1")
def mismatch(
    result: Annotated[
        Path | None, typer.Argument(help="A result of acdpp train: draw its measured mismatch instead.")
    ] = None,
    K: Retention = "10",
    rate: Annotated[str, typer.Option(help="Samples a round, a whole number.")] = "5",
    rounds: Annotated[str | None, typer.Option(help="Last round drawn; 4K, if not given.")] = None,
    draws: Annotated[int, typer.Option(min=2, max=10**5, help="Monte Carlo draws for each round.")] = 4000,
    seed: Seed = 0,
) -> Drawing:
    """The mismatch factor χ against the printed 1/n - 1/N_eff, with Monte Carlo points or a run's own gradients."""
    if result is not None:
        if (K, rate, rounds, draws, seed) != ("10", "5", None, 4000, 0):
            raise SettingError(
                "a RESULT brings its own settings: leave out --K, --rate, --rounds, --draws and --seed"
            )
        return _measured("measured_mismatch", result)
    from figures import mismatch as figure

    settings = parse.whole(K, "--K"), parse.whole(rate, "--rate"), _perhaps(rounds, "--rounds"), draws, seed
    return Drawing("mismatch", lambda track: figure.compute(*settings), figure.draw)


class Term(StrEnum):
    """Which regret terms to draw."""

    all = "all"
    omega1 = "omega1"
    omega2 = "omega2"
    omega3 = "omega3"


@_figure("omegas", "omegas --term omega3 --horizon 1e15")
def omegas(
    K: Annotated[
        str, typer.Option("--K", help="Retention horizons; Ω₁ and Ω₂ take the first, Ω₃ takes all.")
    ] = "10,2,100",
    rate: Rate = "10",
    horizon: Annotated[str, typer.Option(help="Rounds T, from 10^3 to 10^15.")] = "1e15",
    constants: Numbers = parse.DEFAULT_CONSTANTS,
    term: Annotated[Term, typer.Option(help="One regret term alone, or all three.")] = Term.all,
) -> Drawing:
    """Ω₁, Ω₂ and Ω₃ over their claimed and their true orders: what goes flat is right."""
    from figures import omegas as figure

    first, *others = _wholes(K, "--K")
    settings = (
        first,
        parse.number(rate, "--rate"),
        parse.whole(horizon, "--horizon"),
        parse.constants(constants),
    )
    terms = figure.TERMS if term is Term.all else (term.value,)
    return Drawing(
        "omegas",
        lambda track: figure.compute(*settings, others=others, terms=terms, track=track),
        figure.draw,
    )


@_figure("design", "design --buffers 8,9,10,11,12 --budget 26 --mean-cost 5.5 --horizon 1e3,1e6")
def design(
    buffers: Annotated[
        str, typer.Option(help="Client buffers B_m: a,b,c or @FILE with one number a line.")
    ] = "8,9,10,11,12,8,9,10,11,12",
    budget: Annotated[
        str, typer.Option(help="Cost budget C a round. At the paper's 55 stated and corrected K* coincide.")
    ] = "52",
    mean_cost: Annotated[str, typer.Option(help="Mean cost of a sample.")] = "5.5",
    horizon: Annotated[
        str, typer.Option(help="Horizons T, to 10^12; the finite map takes the shortest.")
    ] = "1e2,1e4,1e6",
    constants: Numbers = parse.DEFAULT_CONSTANTS,
) -> Drawing:
    """The bound over K with the stated, the corrected and the finite-horizon choice, and maps of K*."""
    from figures import design as figure

    setting = Budget(
        buffers=parse.numbers(buffers, "--buffers"),
        cost=parse.number(budget, "--budget"),
        mean_cost=parse.number(mean_cost, "--mean-cost"),
    )
    numbers, horizons = parse.constants(constants), _wholes(horizon, "--horizon")
    return Drawing(
        "design", lambda track: figure.compute(setting, numbers, horizons, track=track), figure.draw
    )


@_figure("control", "control --rounds 150 --rho 0.95 --V 20")
def control(
    K: Retention = "10",
    rate: Rate = "10",
    constants: Numbers = parse.DEFAULT_CONSTANTS,
    rounds: Annotated[int, typer.Option(min=2, max=10**5, help="Rounds to simulate.")] = 150,
    rho: Rho = None,
    V: Weight = None,
    seed: Seed = 0,
) -> Drawing:
    """One run of ACDPP, as printed and capped: region, admissions, occupancy, debt and spending."""
    from figures import control as figure

    setting, numbers = _simulation(K, rate, rounds, 1, rho, V, seed), parse.constants(constants)
    return Drawing("control", lambda track: figure.compute(setting, numbers, track=track), figure.draw)


Buffers = Annotated[
    str | None,
    typer.Option(help="Client buffers B_m: a,b,c or @FILE with one number a line; the paper's if not given."),
]
PLAYED = 150  # rounds, unless told
RESULT_ALONE = "a RESULT brings its own settings: leave out all but --replicate and --rounds"


@_figure("prices", "prices --cost markov:1:10[/bold] or [bold]acdpp plot prices results/digits-1")
def prices(
    result: Annotated[
        Path | None, typer.Argument(help="A result of acdpp train: draw a replicate of it instead.")
    ] = None,
    replicate: Annotated[int, typer.Option(min=0, max=10**4, help="Which replicate, from 0.")] = 0,
    rounds: Annotated[
        int | None,
        typer.Option(min=1, max=10**5, help="Rounds drawn; 150, or a result's first 1000, if not given."),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(
            help="Prices: uniform:LOW:HIGH, or integer, markov or drifting; uniform:1:10 if not given."
        ),
    ] = None,
    cost_trace: CostTrace = None,
    cost_column: CostColumn = None,
    buffers: Buffers = None,
    budget: Annotated[str | None, typer.Option(help="Cost budget C a round; 55 if not given.")] = None,
    constants: Numbers = parse.DEFAULT_CONSTANTS,
    seed: Seed = 0,
) -> Drawing:
    """When buying cheap buys: prices, memory, spending and effective samples, against ACDPP and constant admission."""
    from figures import prices as figure

    if result is not None:
        given = (cost, cost_trace, cost_column, buffers, budget, constants, seed)
        if given != (None, None, None, None, None, parse.DEFAULT_CONSTANTS, 0):
            raise SettingError(RESULT_ALONE)
        from figures.measured import read

        measured = read(result, figure.READS)
        found = figure.compute_measured(measured, replicate, rounds)
        return Drawing("measured-prices", lambda track: found, figure.draw)
    study = _study(
        cost=_cost(cost, cost_trace, cost_column, ("uniform", "integer", "markov", "drifting")),
        buffers=buffers,
        budget=None if budget is None else float(parse.number(budget, "--budget")),
        rounds=PLAYED if rounds is None else rounds,
        seed=seed,
    )
    numbers = parse.constants(constants)
    return Drawing("prices", lambda track: figure.compute(study, numbers, replicate), figure.draw)


@_figure("frontier", "frontier --cost integer:1:10 --no-risk")
def frontier(
    cost: Annotated[
        str | None,
        typer.Option(help="Prices: uniform:LOW:HIGH or integer:LOW:HIGH; uniform:1:10 if not given."),
    ] = None,
    cost_trace: CostTrace = None,
    cost_column: CostColumn = None,
    buffers: Buffers = None,
    rounds: Annotated[
        int, typer.Option(min=1, max=10**4, help="Rounds T that risk is predicted for, on the digits.")
    ] = 500,
    risk: Annotated[
        bool, typer.Option("--risk/--no-risk", help="Predict risk too, which takes half a minute.")
    ] = True,
    seed: Seed = 0,
) -> Drawing:
    """Effective samples and predicted risk against the budget, for each policy, with what no policy can buy."""
    from figures import frontier as figure

    process = _cost(cost, cost_trace, cost_column, ("uniform", "integer"))
    study = _study(cost=process, buffers=buffers, rounds=rounds, seed=seed)
    return Drawing("frontier", lambda track: figure.compute(study, risk=risk, track=track), figure.draw)


# --- a result's figures ------------------------------------------------------------------------------------

Result = Annotated[Path, typer.Argument(help="A finished result folder of acdpp train.")]


@_figure("prediction", "prediction results/digits-1")
def prediction(result: Result) -> Drawing:
    """Measured excess risk on its prediction, Theorem 1 far above, and the residuals, for each policy."""
    return _measured("prediction", result)


@_figure("retention", "retention results/digits-1")
def retention(result: Result) -> Drawing:
    """Measured and predicted excess risk of a sweep over K, with the K that theory chooses."""
    return _measured("retention", result)


@_figure("risk-vs-bound", "risk-vs-bound results/digits-1")
def risk_vs_bound(result: Result) -> Drawing:
    """Measured cumulative excess risk against Theorem 1, as stated and corrected, for each policy."""
    return _measured("risk_vs_bound", result)


@_figure("learning", "learning results/digits-1")
def learning(result: Result) -> Drawing:
    """Excess risk and test accuracy of each policy, round by round."""
    return _measured("learning", result)


@_figure("constraints", "constraints results/digits-1")
def constraints(result: Result) -> Drawing:
    """Occupancy, overflow, spending and debt of each policy, round by round."""
    return _measured("constraints", result)


def _measured(module: str, result: Path) -> Drawing:
    from figures.measured import read

    figure = import_module(f"figures.{module}")
    measured = read(result, figure.READS)
    return Drawing(module.replace("_", "-"), lambda track: figure.compute(measured), figure.draw)


# --- the paper's experiments, run again --------------------------------------------------------------------


@_figure("section7", "section7 results/mnist results/cifar10.json")
def section7(
    result: Annotated[
        list[Path], typer.Argument(help="Results of acdpp reproduce: folders, or their reproduction.json.")
    ],
) -> list[Drawing]:
    """The paper's Figures 1 and 2 from our runs: accuracy, with its targets and gains, and memory, cost and debt."""
    from figures import section7 as figure

    found = [figure.read(path) for path in result]
    figure.check(found)
    return [
        Drawing("section7-accuracy", lambda track: found, figure.draw_accuracy),
        Drawing("section7-constraints", lambda track: found, figure.draw_constraints),
    ]


@_figure("explained", "explained results/why/explained.json")
def explained(
    result: Annotated[
        Path, typer.Argument(help="The explained.json of acdpp reproduce --explain, or its folder.")
    ],
) -> Drawing:
    """What carries the paper's gain: each departure from its text, the gain over constant admission and the cost."""
    from figures import explained as figure

    found = figure.read(result)
    return Drawing("explained", lambda track: found, figure.draw)


# --- all of them -------------------------------------------------------------------------------------------

THEORY = ("uniformity", "mismatch", "design", "control", "prices", "bound-vs-T", "omegas", "frontier")
MEASURED = ("prediction", "retention", "risk-vs-bound", "learning", "mismatch", "constraints", "prices")
REPRODUCED = ("section7", "explained")  # by name alone: they set several results side by side


def _all(
    result: Annotated[
        Path | None, typer.Option(help="A result of acdpp train: draw its figures too, up to seven.")
    ] = None,
) -> None:
    """Every figure, with its default settings."""


def _everything(ctx: typer.Context, result: Path | None, **file: Any) -> None:
    if result is not None:  # first, since a wrong folder should be known at once
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


def _wholes(text: str, name: str) -> list[int]:
    return [parse.whole(word, name) for word in text.split(",")]


def _perhaps(text: str | None, name: str) -> int | None:
    return None if text is None else parse.whole(text, name)


def _cost(
    cost: str | None, trace: Path | None, column: str | None, kinds: tuple[str, ...]
) -> dict[str, Any] | None:
    """Of a study: a process between two prices, or a file."""
    if trace is not None and cost is not None:
        raise SettingError("--cost and --cost-trace are two kinds of prices: give one of them")
    if trace is not None:
        return {"process": "trace", "file": str(trace), "column": column}
    if column is not None:
        raise SettingError("--cost-column names a column of --cost-trace FILE: give that too")
    if cost is None:
        return None
    kind, low, high = parse.prices(cost, kinds)
    return {"process": kind, "low": float(low), "high": float(high)}


def _study(buffers: str | None, **given: Any) -> Study:
    """The digits, with what was given in place of their own settings."""
    from empirics.settings.presets import PRESETS
    from empirics.settings.study import Study

    sizes = None if buffers is None else parse.numbers(buffers, "--buffers")
    asked = {name: value for name, value in {**given, "buffers": sizes}.items() if value is not None}
    return Study.from_document(asked, PRESETS["digits"])


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
        rho=None if rho is None else float(parse.number(rho, "--rho")),
        V=None if V is None else float(parse.number(V, "--V")),
    )
