"""`acdpp verify`: which statements of the paper are true, and what the false ones should say."""

from __future__ import annotations

import os
import textwrap
import time
from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from acdpp import __version__
from acdpp.output import console, print_json
from theory.setting import SettingError

if TYPE_CHECKING:
    from proofs_check.claim import Case
    from proofs_check.evidence import Evidence

__all__ = ["EXAMPLES", "command"]

EXAMPLES = (
    "Examples: [bold]acdpp verify[/bold] for all claims, "
    "[bold]acdpp verify --claim eq:vck-exact --explain[/bold] for the whole case of one, "
    "[bold]acdpp verify --file my_claims.py[/bold] for your own (see proofs_check/README.md). "
    "Exit status: 0 if every verdict is the recorded one, 1 if one differs, 2 for bad use."
)
COLOURS = {
    "proved": "green",
    "certified": "green",
    "supported": "cyan",
    "conditional": "yellow",
    "refuted": "red",
    "undecided": "magenta",
}


class Profile(StrEnum):
    """How much work to do."""

    quick = "quick"
    full = "full"


def command(
    claim: Annotated[
        list[str] | None, typer.Option(help="Only this label and the steps below it; may be repeated.")
    ] = None,
    profile: Annotated[
        Profile, typer.Option(help="quick: within a minute; full: more examples, larger grids.")
    ] = Profile.quick,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything that is drawn at random.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; as many as there are processors if not given.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="The whole case, with certificates and counterexamples.")
    ] = False,
    record: Annotated[bool, typer.Option("--record", help="Write the verdicts to the ledger.")] = False,
    file: Annotated[
        Path | None,
        typer.Option(help="Your own claims: a Python file with a list CLAIMS, in place of the paper's."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Decide every statement of the paper, and its correction where it is not true as printed."""
    from proofs_check import ledger  # with SymPy behind it: not for `acdpp --help`
    from proofs_check.registry import claims_from, registry, select

    if record and (claim or file):
        raise SettingError("--record writes the whole ledger: leave out --claim and --file")
    claims = select(claims_from(file) if file else registry(), claim or [])
    start = time.perf_counter()
    cases = _run(claims, seed, profile, jobs, file)
    if record:
        ledger.write(cases)
    problems = _unsettled(cases) if file else ledger.differences(cases, ledger.read())
    if as_json:
        print_json(_document(cases, seed))
    elif explain:
        for case in cases:
            _explain(case)
    else:
        console.print(_table(cases))
    if not as_json:
        _summary(cases, problems, time.perf_counter() - start, own=file is not None)
    raise typer.Exit(1 if problems else 0)


def _run(claims: Any, seed: int, profile: Profile, jobs: int | None, file: Path | None) -> list[Case]:
    from proofs_check.claim import CheckError
    from proofs_check.run import run

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("checking", total=len(claims))
        try:
            return run(
                claims,
                seed=seed,
                profile=profile.value,
                jobs=min(jobs or _processors(), len(claims)),
                file=file,
                report=lambda c: progress.update(bar, advance=1, description=c.id),
            )
        except CheckError as error:
            if file is None:
                raise
            raise SettingError(str(error)) from error  # the user's check, the user's mistake


def _processors() -> int:
    """Those that this process may use, where the system tells."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _unsettled(cases: list[Case]) -> list[str]:
    """For claims of one's own there is no ledger: what should stand is what has been established."""
    return [
        f"{c.claim.id} is {c.verdict}" for c in cases if c.verdict in ("conditional", "refuted", "undecided")
    ]


# --- JSON --------------------------------------------------------------------------------------------------


def _document(cases: list[Case], seed: int) -> dict[str, Any]:
    return {
        "claims": [_entry(case) for case in cases],
        "summary": {**_counts(cases), "total": len(cases)},
        "version": __version__,
        "seed": seed,
    }


def _entry(case: Case) -> dict[str, Any]:
    claim, correction = case.claim, case.claim.corrected
    with_hypotheses = [
        {**e, "detail": f"with the added hypotheses: {e['detail']}"} for e in _evidence(case.hypotheses)
    ]
    return {
        "id": claim.id,
        "kind": claim.kind,
        "title": claim.title,
        "verdict": case.verdict,
        "evidence": _evidence(case.stated) + with_hypotheses,
        "hypotheses": list(claim.hypotheses),
        "corrected": correction
        and {
            "statement": correction.statement,
            "verdict": case.corrected_verdict,
            "evidence": _evidence(case.corrected),
        },
    }


def _evidence(found: tuple[Evidence, ...]) -> list[dict[str, str]]:
    return [
        {"method": e.method, "strength": e.strength, "outcome": e.outcome, "detail": e.detail} for e in found
    ]


def _counts(cases: list[Case]) -> dict[str, int]:
    from proofs_check.evidence import Verdict

    counted = Counter(case.verdict for case in cases)
    return {verdict: counted[verdict] for verdict in get_args(Verdict)}


# --- the table ---------------------------------------------------------------------------------------------


def _table(cases: list[Case]) -> Table:
    from proofs_check.ledger import entry

    width = min(console.width, 110)
    verdicts, methods = 11, 24
    room = width - verdicts - methods - 4
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("claim, and → what is true instead", width=room)
    table.add_column("verdict", width=verdicts)
    table.add_column("evidence", width=methods)
    for row in map(entry, cases):
        name = Text(_fold(row.id, room), style="bold").append(
            "\n" + _fold(row.title, room, 2), style="not bold"
        )
        table.add_row(name, _coloured(row.verdict), _fold(_unbroken(row.evidence), methods))
        if row.correction:
            evidence = _fold(_unbroken(row.corrected_evidence), methods)
            table.add_row(_fold(f"→ {row.correction}", room, 2), _coloured(row.corrected_verdict), evidence)
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


def _coloured(verdict: str) -> Text:
    return Text(verdict, style=COLOURS[verdict])


def _summary(cases: list[Case], problems: list[str], seconds: float, own: bool) -> None:
    counts = ", ".join(f"{n} {verdict}" for verdict, n in _counts(cases).items() if n)
    claims = "1 claim" if len(cases) == 1 else f"{len(cases)} claims"
    good, bad = ("All established", "Not established") if own else ("All as recorded", "Not as recorded")
    console.print(f"{claims}: {counts} ({seconds:.0f} s). {f'{bad}:' if problems else f'{good}.'}")
    for problem in problems:
        console.print(f"  {problem}", markup=False)


# --- the whole case ----------------------------------------------------------------------------------------


def _explain(case: Case) -> None:
    claim, correction = case.claim, case.claim.corrected
    console.rule(Text(f"{claim.id} ({claim.kind}): {claim.title}"), align="left")
    _say("states", claim.statement)
    _say("formula", claim.unicode)
    _say("LaTeX", claim.latex)
    _say("domain", claim.domain)
    console.print(Text("  verdict: ").append_text(_coloured(case.verdict)))
    _show_evidence(case.stated)
    for hypothesis in claim.hypotheses:
        _say("added hypothesis", hypothesis)
    if case.hypotheses:
        console.print("  with the added hypotheses:")
        _show_evidence(case.hypotheses)
    if correction is not None:
        console.print()
        _say("corrected", correction.statement)
        _say("formula", correction.unicode)
        _say("LaTeX", correction.latex)
        for hypothesis in correction.hypotheses:
            _say("hypothesis", hypothesis)
        _say("why", correction.sketch)
        assert case.corrected_verdict is not None
        console.print(Text("  verdict: ").append_text(_coloured(case.corrected_verdict)))
        _show_evidence(case.corrected)
    console.print()


def _say(name: str, text: str, indent: int = 2) -> None:
    if text:
        body = textwrap.fill(
            f"{name}: {text}",
            console.width,
            initial_indent=" " * indent,
            subsequent_indent=" " * (indent + 2),
            break_long_words=False,
            break_on_hyphens=False,
        )
        console.print(body, markup=False, soft_wrap=True)


def _show_evidence(found: tuple[Evidence, ...]) -> None:
    for e in found:
        part = f" ({e.part})" if e.part else ""
        _say(f"- {e.method}, {e.strength}, {e.outcome}{part}", f"{e.detail} [{e.seconds:.1f} s]", indent=4)
        _say("on", e.domain, indent=6)
        for name, value in e.certificate.items():
            _say(name, _spell(value), indent=6)


def _spell(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k}={_spell(v)}" for k, v in value.items())
    return ", ".join(map(_spell, value)) if isinstance(value, list) else str(value)
