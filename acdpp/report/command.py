"""`acdpp report`: verdicts on the paper, corrections and measurements as one file."""

import json
import shlex
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from acdpp import interrupt, version
from acdpp.drawing import watched
from acdpp.options import AsJson
from acdpp.output import console, print_json
from acdpp.verify import Jobs, Profile, decided, needs_verifiers
from theory.setting import SettingError

__all__ = ["ELSEWHERE", "EXAMPLES", "command"]

EXAMPLES = (
    "Examples: [bold]acdpp report[/bold] for the page, "
    "[bold]acdpp train --out mine[/bold] and [bold]acdpp report --result mine[/bold] to add a study, "
    "[bold]acdpp report --format latex --format markdown[/bold] for an erratum and for text, "
    "[bold]acdpp verify --json > verdicts.json[/bold] and [bold]acdpp report --verdicts verdicts.json[/bold] to decide "
    "once, or only some claims. "
    "Exit status: 0 if everything is as recorded, 1 if something differs (the report then says so), 2 for wrong usage."
)


ELSEWHERE = dict.fromkeys(
    ("--claim", "--seed", "--profile"), "acdpp verify --json takes it; give its output to --verdicts"
)


class ReportFormat(StrEnum):
    html = "html"
    latex = "latex"
    markdown = "markdown"
    json = "json"


NAMES = {
    ReportFormat.html: "report.html",
    ReportFormat.latex: "erratum.tex",
    ReportFormat.markdown: "report.md",
    ReportFormat.json: "report.json",
}

SUFFIXES = {Path(name).suffix for name in NAMES.values()}


def command(
    out: Annotated[Path, typer.Option(help="Folder for the report; created if needed.")] = Path("report"),
    form: Annotated[
        list[ReportFormat] | None,
        typer.Option(
            "--format",
            help="html: a page; latex: an erratum; markdown; json. May be repeated; html by default.",
        ),
    ] = None,
    result: Annotated[
        list[Path] | None,
        typer.Option(help="Finished result of acdpp train or federate to include; may be repeated."),
    ] = None,
    verdicts: Annotated[
        Path | None, typer.Option(help="Output of acdpp verify --json, instead of deciding again.")
    ] = None,
    figures: Annotated[bool, typer.Option("--figures/--no-figures", help="Include the figures.")] = True,
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> None:
    from acdpp.report import contents
    from figures.save import check_folder, write

    forms = list(dict.fromkeys(form or [ReportFormat.html]))
    if out.suffix.lower() in SUFFIXES and not out.is_dir():
        raise SettingError(
            f"--out is the folder for the report, and {out.name!r} is named like a file: give --out {out.parent}"
        )
    check_folder(out)
    results = list(result or [])
    for path in results:  # refuse a wrong folder at once
        contents.read_result(path)
    interrupt.last_words("stopped; no report was written")
    found, differences = _verdicts(verdicts, jobs)
    document = contents.gather(found, results, differences)
    again = _again(results, figures, verdicts is not None)
    texts = {out / NAMES[one]: _text(one, document, results, figures, again) for one in forms}
    for path, text in texts.items():
        write(path, text.encode())
    if as_json:
        told = {"files": list(map(str, texts)), "summary": document["summary"]}
        print_json(told | {"differences": differences, "version": version()})
    else:
        for path in texts:
            console().print(str(path), markup=False, soft_wrap=True)
        for sentence in differences:
            console().print(f"not as recorded: {sentence}", markup=False)
    raise typer.Exit(1 if differences else 0)


def _verdicts(file: Path | None, jobs: int | None) -> tuple[dict[str, Any], list[str]]:
    """The cases as a document, and the differences from the ledger."""
    from acdpp.report.contents import differs, read_verdicts
    from proofs_check import ledger
    from proofs_check.document import document
    from proofs_check.registry import registry

    if file is not None:
        found = read_verdicts(file)
        return found, differs(found)
    needs_verifiers()
    cases = decided(registry(), 0, Profile.quick, jobs)
    return document(cases, version=version(), seed=0), ledger.differences(cases, ledger.read())


def _text(
    form: ReportFormat, document: dict[str, Any], results: list[Path], figures: bool, again: str
) -> str:
    if form is ReportFormat.html:
        return _page(document, results, figures, again)
    if form is ReportFormat.latex:
        from acdpp.report.erratum import latex

        return latex(document)
    if form is ReportFormat.markdown:
        from acdpp.report.markdown import markdown

        return markdown(document)
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _page(document: dict[str, Any], results: list[Path], figures: bool, again: str) -> str:
    from acdpp.report import drawn
    from acdpp.report.page import page

    def track(name: str) -> Any:
        return partial(watched, name)

    theory = list(drawn.of_theory(track)) if figures else []
    measured = [
        list(drawn.of_result(path, f"result-{place}", track)) if figures else []
        for place, path in enumerate(results, start=1)
    ]
    return page(document, theory, measured, again)


def _again(results: list[Path], figures: bool, read: bool) -> str:
    """The command that writes this report, with files and folders by name only."""
    words = ["acdpp", "report", *(["--verdicts", "FILE"] if read else [])]
    words += [] if figures else ["--no-figures"]
    for path in results:
        words += ["--result", path.resolve().name]
    return shlex.join(words)
