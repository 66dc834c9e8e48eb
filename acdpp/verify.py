"""`acdpp verify`: which statements of the paper are true, and what the false ones should say."""

from __future__ import annotations

import os
import textwrap
import time
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from acdpp import interrupt, version
from acdpp.options import AsJson
from acdpp.output import bar, console, fail, print_json
from theory.setting import SettingError

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from proofs_check import ledger
    from proofs_check.claim import Case, Claim, Correction, Given
    from proofs_check.engines.kernel import Asked
    from proofs_check.evidence import Evidence

__all__ = ["EXAMPLES", "Profile", "command", "decided", "needs_verifiers", "spell"]

EXAMPLES = (
    "Examples: [bold]acdpp verify[/bold] for all claims, "
    "[bold]acdpp verify --claim eq:vck-exact --explain[/bold] for the whole case of one, "
    "[bold]acdpp verify --file my_claims.py[/bold] for your own (see proofs_check/README.md). "
    "Exit status: 0 if everything is as recorded, 1 if something differs, 2 for wrong usage, 3 if a check breaks."
)
CLAIMS_ALONE_MAX = 8  # decided faster without worker processes
NEEDED = ("hypothesis", "PEPit", "z3")
COLOURS = {
    "proved": "green",
    "certified": "green",
    "supported": "cyan",
    "conditional": "yellow",
    "refuted": "red",
    "undecided": "magenta",
}


class Profile(StrEnum):
    quick = "quick"
    full = "full"


Labels = Annotated[list[str] | None, typer.Option(help="Only this label and its steps; may be repeated.")]
Effort = Annotated[
    Profile, typer.Option("--profile", help="quick: about a minute; full: more examples, larger grids.")
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all random draws.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Number of processes; by default one per processor.")]


def command(
    claim: Labels = None,
    profile: Effort = Profile.quick,
    seed: Seed = 0,
    jobs: Jobs = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print the whole case, with certificates and counterexamples.")
    ] = False,
    kernel: Annotated[
        bool,
        typer.Option(
            "--kernel", help="Let Coq check its proofs on this machine: minutes the first time, then seconds."
        ),
    ] = False,
    file: Annotated[
        Path | None,
        typer.Option(help="Python file with a list CLAIMS of your own, instead of the paper's claims."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    needs_verifiers()
    from proofs_check import ledger  # imports SymPy: not for `acdpp --help`
    from proofs_check.document import document
    from proofs_check.engines import kernel as coq
    from proofs_check.ledger import substances
    from proofs_check.registry import claims_from, labelled, select

    claims = select(claims_from(file), claim or []) if file else labelled(claim or [])
    start = time.perf_counter()
    asked: list[Asked] = []
    if kernel:
        interrupt.allow_cleanup()
        with bar("Coq", len(coq.modules()), transient=True) as tell:
            asked = coq.ask(lambda module: tell(advance=1, description=f"{module}.v"))
    cases = decided(claims, seed, profile, jobs, file)
    if file:  # claims of the user's own have no ledger
        unsettled = [case for case in cases if case.verdict in ("conditional", "refuted", "undecided")]
        problems = [f"{case.claim.id} is {case.verdict}" for case in unsettled]
    else:
        problems = coq.changes(asked) + ledger.differences(cases, ledger.read())
    if as_json:
        print_json(document(cases, version=version(), seed=seed))
    elif explain:
        in_substance = substances([ledger.entry(case) for case in cases])
        for case in cases:
            _explain(case, in_substance[case.claim.id])
    else:
        console().print(_table(cases))
    if not as_json:
        _summary(cases, problems, time.perf_counter() - start, own=file is not None)
    raise typer.Exit(1 if problems else 0)


def needs_verifiers() -> None:
    """Refuse to verify if a checker is not installed."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise SettingError(f"verifying needs {' and '.join(missing)}: pip install 'acdpp[verify]'")


def decided(
    claims: Any, seed: int, profile: Profile, jobs: int | None, file: Path | None = None
) -> list[Case]:
    """The cases of the claims, with a progress bar on a terminal."""
    from proofs_check.claim import CheckError
    from proofs_check.run import run

    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    jobs = min(jobs or (usable if len(claims) > CLAIMS_ALONE_MAX else 1), len(claims))
    if jobs > 1:
        interrupt.allow_cleanup()  # so that the pool of workers is shut down
    with bar("checking", len(claims), transient=True) as tell:
        try:
            return run(
                claims,
                seed=seed,
                profile=profile.value,
                jobs=jobs,
                file=file,
                report=lambda c: tell(advance=1, description=c.id),
            )
        except CheckError as error:
            if file is None:
                fail(f"a check of acdpp itself failed: {error}", code=3)
            raise SettingError(str(error)) from error  # a check of the user's own


# --- the table ---------------------------------------------------------------------------------------------


def _table(cases: list[Case]) -> Table:
    from rich.table import Table
    from rich.text import Text

    from proofs_check.ledger import about, entry, substances
    from proofs_check.text import terminal

    rows = [entry(case) for case in cases]
    in_substance = substances(rows)
    width = min(max(console().width, 60), 110)  # narrower columns would be unreadable
    verdicts, methods = 11, 24
    room = width - verdicts - methods - 4
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("claim, and → what is true instead", width=room)
    table.add_column("verdict", width=verdicts)
    table.add_column("evidence", width=methods)
    for row in rows:
        said = _fold(terminal(row.stated.title), room, 2) + _rests_on(row.stated, room)
        if row.substance:
            said += "\n" + _fold(f"in substance {in_substance[row.id]}: {about(row.substance)}", room, 4)
        name = Text(_fold(row.id, room), style="bold").append(f"\n{said}", style="not bold")
        table.add_row(name, _coloured(row.stated.verdict), _fold(_unbroken(row.methods), methods))
        if row.corrected:
            evidence = _fold(_unbroken(row.corrected.methods), methods)
            title = _fold(f"→ {terminal(row.corrected.title)}", room, 2) + _rests_on(row.corrected, room)
            table.add_row(title, _coloured(row.corrected.verdict), evidence)
        table.add_row()
    return table


def _fold(text: str, width: int, indent: int = 0) -> str:
    return textwrap.fill(
        text, width, initial_indent=" " * indent, subsequent_indent=" " * 2 * indent, break_on_hyphens=False
    )


def _unbroken(evidence: str) -> str:
    """No line break between a method and its mark, nor inside "worst case"."""
    marked = evidence.replace(" ✓", "\u00a0✓").replace(" ✗", "\u00a0✗").replace(" ?", "\u00a0?")
    return marked.replace("worst case", "worst\u00a0case")


def _rests_on(of: ledger.Statement, width: int) -> str:
    """Lines on what the verdict rests on besides its checks."""
    rest = of.qualified.removeprefix(of.verdict).removeprefix(", ")
    return "\n" + _fold(rest, width, 4) if rest else ""


def _coloured(verdict: str) -> Text:
    from rich.text import Text

    return Text(verdict, style=COLOURS[verdict])


def _summary(cases: list[Case], problems: list[str], seconds: float, own: bool) -> None:
    from proofs_check.document import counts
    from proofs_check.ledger import entry, tally, told

    shares = ", ".join(f"{n} {verdict}" for verdict, n in counts(cases).items() if n)
    claims = "1 claim" if len(cases) == 1 else f"{len(cases)} claims"
    good, bad = ("All established", "Not established") if own else ("All as recorded", "Not as recorded")
    if len(cases) > CLAIMS_ALONE_MAX and not own:
        console().print(told(tally([entry(case) for case in cases])) + "\n")
    console().print(_kernel_in(cases), end="")
    console().print(f"{claims}: {shares} ({seconds:.0f} s). {f'{bad}:' if problems else f'{good}.'}")
    for problem in problems:
        console().print(f"  {problem}", markup=False)


def _kernel_in(cases: list[Case]) -> str:
    """A sentence on statements with proofs in Coq, and whether Coq ran here; empty if there are none."""
    roles = [found for case in cases for found in (case.stated, case.hypotheses, case.corrected)]
    served = [some for found in roles if (some := [e for e in found if e.method == "kernel"])]
    if not served:
        return ""
    statements = "1 statement" if len(served) == 1 else f"{len(served)} statements"
    recorded = any("not asked" in e.detail for some in served for e in some)
    how = "as recorded; acdpp verify --kernel checks them here" if recorded else "checked here"
    return f"Coq's kernel has proofs about {statements}: {how}.\n\n"


# --- the whole case ----------------------------------------------------------------------------------------


def _explain(case: Case, in_substance: str) -> None:
    from rich.text import Text

    from proofs_check.document import symbols
    from proofs_check.ledger import about
    from proofs_check.text import terminal

    claim, correction = case.claim, case.claim.corrected
    console().rule(Text(terminal(f"{claim.id} ({claim.kind}): {claim.title}")), align="left")
    _say_statement("states", claim)
    _say("domain", claim.domain)
    _say("why", claim.sketch)
    _show_verdict(case.verdict, claim.given)
    if claim.substance:
        _say(f"in substance {in_substance}", about(claim.substance))
    _show_evidence(case.stated)
    for hypothesis in case.conditions:
        _say("added hypothesis", hypothesis)
    if case.hypotheses:
        console().print("  with the added hypotheses:")
        _show_evidence(case.hypotheses)
    _say("shortest repair", claim.repair)
    if correction is not None:
        console().print()
        _say_statement("corrected", correction)
        for hypothesis in correction.hypotheses:
            _say("hypothesis", hypothesis)
        _say("why", correction.sketch)
        assert case.corrected_verdict is not None
        _show_verdict(case.corrected_verdict, correction.given)
        _show_evidence(case.corrected)
    console().print()
    _say("where", "; ".join(f"{symbol}: {meaning}" for symbol, meaning in symbols(claim).items()))
    console().print()


def _say_statement(name: str, of: Claim | Correction) -> None:
    _say(name, of.statement)
    _say("formula", f"${of.formula}$" if of.formula else "")
    _say("LaTeX", of.formula)


def _show_verdict(verdict: str, given: tuple[Given, ...]) -> None:
    from rich.text import Text

    from proofs_check.claim import qualified

    rest = qualified(verdict, given).removeprefix(verdict)
    console().print(Text("  verdict: ").append_text(_coloured(verdict)).append(rest, style="default"))
    if rest:
        for one in given:
            _say(one.name, one.says, indent=4)


def _say(name: str, text: str, indent: int = 2) -> None:
    from proofs_check.text import terminal

    if text:
        body = textwrap.fill(
            terminal(f"{name}: {text}"),
            max(console().width, 20),
            initial_indent=" " * indent,
            subsequent_indent=" " * (indent + 2),
            break_long_words=False,
            break_on_hyphens=False,
        )
        console().print(body, markup=False, soft_wrap=True)


def _show_evidence(found: tuple[Evidence, ...]) -> None:
    for e in found:
        part = f" ({e.part})" if e.part else ""
        part += ", confirming" if e.confirms else ""
        _say(f"- {e.method}, {e.strength}, {e.outcome}{part}", f"{e.detail} [{e.seconds:.1f} s]", indent=4)
        _say("on", e.domain, indent=6)
        for name, value in e.certificate.items():
            listed = isinstance(value, dict) and e.method == "kernel"
            _say(name, value.get("says", "") if listed else spell(value), indent=6)
            for item in ("stands in", "in Coq") if listed else ():
                _say(item, value.get(item, ""), indent=8)


def spell(value: Any) -> str:
    """A value of a certificate, as text."""
    if isinstance(value, dict):
        return ", ".join(f"{k}={spell(v)}" for k, v in value.items())
    return ", ".join(map(spell, value)) if isinstance(value, list) else str(value)
