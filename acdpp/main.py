"""`acdpp`: one command per question, each in a module of its own that is loaded when the command runs."""

import os
import sys
from collections.abc import Iterator, Mapping
from copy import copy
from functools import cache
from importlib import import_module
from typing import Annotated, Any, NamedTuple, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from acdpp import interrupt, version
from acdpp.options import parameters
from acdpp.output import encode_leniently, fail

__all__ = ["COMMANDS", "app", "main"]

# Typer brings click with it, in newer versions inside itself: take the base of its errors from what it exports.
_UsageProblem: type[Exception] = next(
    base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException"
)

EXAMPLES = (
    "Examples, one per command:",
    "[bold]acdpp verify --claim eq:vck-exact --explain[/bold]",
    "[bold]acdpp bound constant --K 10 --rate 10 --horizon 1e12 --certified[/bold]",
    "[bold]acdpp design --buffers 8,9,10,11,12 --budget 55 --mean-cost 5.5[/bold]",
    "[bold]acdpp keep --drift 0.001 --buffers 8,9,10,11,12 --budget 55 --mean-cost 5.5[/bold]",
    "[bold]acdpp buy --cost uniform:1:10[/bold]",
    "[bold]acdpp plot omegas --horizon 1e15[/bold]",
    "[bold]acdpp predict --pilot 200[/bold]",
    "[bold]acdpp plan --objective final --out best.toml[/bold]",
    "[bold]acdpp train --out results/digits[/bold]",
    "[bold]acdpp resume results/digits --rounds 1000[/bold]",
    "[bold]acdpp export results/digits --policy constant --out model.pt[/bold]",
    "[bold]acdpp explore[/bold]",
    "[bold]acdpp reproduce mnist --data-dir DIR --device cuda[/bold]",
    "[bold]acdpp explain mnist --data-dir DIR --device cuda --out results/why[/bold]",
    "[bold]acdpp federate --clients 3 --rounds 5[/bold]",
    "[bold]acdpp deploy --config study.toml --out app[/bold]",
    "[bold]acdpp report --out report[/bold]",
)


class Listed(NamedTuple):
    """A command as `acdpp --help` lists it, without loading its module."""

    help: str
    module: str
    writes: bool  # files, which Ctrl-C must leave complete or remove


HELP = {
    "verify": "Decide which statements of the paper are true, and what holds instead of the others.",
    "bound": "Evaluate the cumulative bound over T rounds, a term of the regret, the regret, or a violation.",
    "design": "Find K* and the rates λ_m that minimise the bound, the binding constraint, and the landscape over K.",
    "keep": "Find how long to keep samples while the optimum walks, at the best step size or at that of --contraction.",
    "buy": "Find when to buy if prices vary: thresholds by age of the replaced sample, and what the budget then buys.",
    "plot": "Draw a figure of the theory, or of a result of [bold]acdpp train[/bold].",
    "predict": "Predict every policy's excess risk by the law of reuse, and, for local descent, find the best K.",
    "plan": "Find the policy and the learner of least predicted excess risk within buffers, budget and prices.",
    "train": "Train every policy on the same costs and samples, and compare excess risk with the bound.",
    "resume": "Continue a result with its own settings where it stopped, extend it to more rounds, or show it again.",
    "export": "Write a trained model as a state_dict that loads without acdpp, and compare its accuracy "
    "with the record.",
    "explore": "Open a planning page on this machine: budget, prices, data and learner, with live predictions.",
    "reproduce": "Run the paper's experiments again and compare its numbers with ours, "
    "in reproduction.json of the result.",
    "explain": "Explain the paper's gain: train each departure of the released code by itself, in subfolders of --out.",
    "federate": "Run one policy as a federation on this machine: TLS, authenticated clients, loopback only.",
    "deploy": "Write a Flower app that runs a federation on your own machines.",
    "report": "Write a report: verdicts on the paper, corrections and measurements, as one file.",
}
PACKAGES = ("explore", "report")  # whose command is a module inside
READ_ONLY = ("verify", "bound", "design", "keep", "buy")
OF_COST = {  # options of earlier versions, in every command that takes --cost
    "--cost-trace": "prices of a file are --cost csv:FILE",
    "--cost-column": "a column of prices is --cost csv:FILE,column=NAME",
}
COMMANDS = {
    name: Listed(
        words, f"acdpp.{name}.command" if name in PACKAGES else f"acdpp.{name}", name not in READ_ONLY
    )
    for name, words in HELP.items()
}


@cache
def _loaded(name: str) -> Any:
    module = import_module(COMMANDS[name].module)
    if hasattr(module, "app"):  # a group of commands
        group = _helpful(typer.main.get_command(module.app))
        for one in group.commands.values():
            _answering(one, {})
        return group
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
    alone.command(name, help=HELP[name], epilog=module.EXAMPLES)(module.command)
    return _answering(_helpful(typer.main.get_command(alone)), getattr(module, "ELSEWHERE", {}))


def _answering(command: Any, elsewhere: Mapping[str, str]) -> Any:
    """The command, which answers options of other commands and earlier versions with a sentence."""
    every, takes = command.parse_args, {option for param in command.params for option in param.opts}
    answered = {**(OF_COST if "--cost" in takes else {}), **elsewhere}

    def parse_args(ctx: typer.Context, args: list[str]) -> Any:
        given = {word.partition("=")[0] for word in args}
        for option, instead in answered.items():
            if option in given and not ctx.resilient_parsing:
                fail(f"{ctx.command_path} takes no {option}: {instead}")
        return every(ctx, args)

    command.parse_args = parse_args
    return command


class _Commands(Mapping[str, Any]):
    """The commands by name, each loaded on lookup."""

    def __getitem__(self, name: str) -> Any:
        return _loaded(name)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class _Group(TyperGroup):
    """`acdpp` itself."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands: Any = _Commands()

    def _listing(self) -> TyperGroup:
        """A copy whose commands have only a help text."""
        listing = copy(self)
        listing.commands = {name: TyperCommand(name, help=one.help) for name, one in COMMANDS.items()}
        return listing

    def format_help(self, ctx: Any, formatter: Any) -> None:
        TyperGroup.format_help(self._listing(), ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        ctx.command = self._listing()
        return super().shell_complete(ctx, incomplete)


app = typer.Typer(
    name="acdpp",
    cls=_Group,
    help="Check, correct and run the theory of data admission and retention in streaming federated learning.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    epilog="\n\n".join(EXAMPLES),
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"acdpp {version()}")
        raise typer.Exit


@app.callback()
def root(
    ctx: typer.Context,
    _: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Options that belong to no command."""
    if COMMANDS[ctx.invoked_subcommand or ""].writes:
        interrupt.allow_cleanup()


def _helpful(command: Any) -> Any:
    """The command and its subcommands, whose help shows no type for flags, and the text of every argument."""
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    known = {one.name: one.annotation for one in parameters(command.callback)} if arguments else {}
    for argument in arguments:  # click 8.5 forgets what older versions of Typer tell it
        argument.help = get_args(known[argument.name])[-1].help
    every = command.get_params

    def get_params(ctx: typer.Context) -> Any:
        params = every(ctx)
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
        return params

    command.get_params = get_params
    below = getattr(command, "commands", {})
    for one in below.values() if isinstance(below, dict) else ():
        _helpful(one)
    return command


def main() -> None:
    """Run the command: a user's mistake is one line on stderr and exit status 2, never a traceback."""
    if sys.stderr is None:  # closed: errors would go to standard output
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    encode_leniently()
    try:
        code = _helpful(typer.main.get_command(app))(prog_name="acdpp", standalone_mode=False)
        if interrupt.asked():  # newer versions of Typer turn it into a status
            raise KeyboardInterrupt
        if sys.stdout is not None:
            sys.stdout.flush()
    except BaseException as error:
        _complain(error)
        raise
    sys.exit(code if isinstance(code, int) else 0)


def _complain(error: BaseException) -> None:
    """Print the error in one line and exit; return only for an error of our own."""
    if interrupt.asked() or isinstance(error, typer.Abort | KeyboardInterrupt):
        fail(interrupt.last_words(), code=interrupt.STATUS)
    if isinstance(error, _UsageProblem):
        fail(error.format_message())  # type: ignore[attr-defined]
    if isinstance(error, ValueError):
        from theory.setting import SettingError  # loaded already if the error is one

        if isinstance(error, SettingError):
            fail(str(error))
    if isinstance(error, ArithmeticError | MemoryError):
        fail(f"this is beyond what can be computed here ({str(error) or type(error).__name__})", code=1)
    if isinstance(error, OSError):
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - the pipe is closed: flush nothing into it
        if isinstance(error, BrokenPipeError):
            sys.exit(141)
        fail(f"cannot write the output: {error.strerror or error}", code=1)
