"""The report as one self-contained HTML page: styles, script, figures and formulas (MathML) are inside.

A content security policy forbids the page every request.
"""

import html
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from acdpp.output import count, pm
from acdpp.report.contents import GROUPS, LETTER, MARKS, MEANING, PARTS, packaged
from acdpp.report.drawn import Figure
from acdpp.report.escapes import formula
from acdpp.report.findings import plain
from acdpp.report.mathml import mathml
from acdpp.verify import spell
from proofs_check.ledger import about
from proofs_check.text import terminal

__all__ = ["anchor", "page"]

# shown first, if among the cases
CENTRAL = (
    *("thm:regret-neff", "eq:vck-exact", "eq:sigma-bar-Neff-app", "cor:optimal-k", "lem:omega3-order"),
    *("rem:1", "alg:acdpp/first-round", "fig:test_acc_all/constant", "law:reuse", "buy:gain"),
)


def anchor(label: str) -> str:
    """The anchor of a case: that of `eq:vck-exact/range` is `eq:vck-exact.range`."""
    return label.replace("/", ".")


def page(
    document: dict[str, Any], figures: Sequence[Figure], drawn: Sequence[Sequence[Figure]], command: str
) -> str:
    """The page; `figures` are the theory's, `drawn` those of each result, `command` writes it again."""
    environment = Environment(
        loader=PackageLoader("acdpp", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    claims = {claim["id"]: claim for claim in document["claims"]}
    environment.filters.update(
        linked=_linker(list(claims)),
        mathml=lambda latex: mathml(formula(latex)),
        plain=plain,
        terminal=terminal,
        anchor=anchor,
        spell=spell,
        count=count,
        pm=pm,
    )
    environment.globals.update(PARTS=PARTS, MARKS=MARKS, MEANING=MEANING, LETTER=LETTER, about=about)
    return environment.get_template("page.html").render(
        document=document,
        claims=document["claims"],
        counts=_counts(document["summary"]),
        central=[claims[label] for label in CENTRAL if label in claims],
        cases=claims,
        methods=sorted({e["method"] for claim in document["claims"] for e in _all_evidence(claim)}),
        methods_of=lambda claim: sorted({e["method"] for e in _all_evidence(claim)}),
        figures={figure.anchor.removeprefix("figure-"): figure for figure in figures},
        drawn=drawn,
        prediction=_prediction(document),
        horizons=_horizons(),
        command=command,
        style=Markup(packaged("page.css")),
        script=Markup(packaged("page.js")),
    )


def _counts(summary: dict[str, Any]) -> list[tuple[str, dict[str, int]]]:
    """Counts of verdicts: statements of the paper to the letter and in substance, readings, and our own claims."""
    return [
        (words, {name: summary[group][name] for name in MARKS if name in summary[group]})
        for group, words in GROUPS.items()
        if summary[group]
    ]


def _all_evidence(claim: dict[str, Any]) -> list[dict[str, Any]]:
    corrected = claim["corrected"]["evidence"] if claim["corrected"] else []
    return [*claim["evidence"], *claim["evidence_with_hypotheses"], *corrected]


def _prediction(document: dict[str, Any]) -> dict[str, Any] | None:
    """Prediction against measurement, of the first predicted result or as recorded."""
    for result in document["results"]:
        policies = result["policies"].items()
        if rows := {name: row for name, row in policies if row.get("predicted_over_measured") is not None}:
            seeds = "1 seed" if result["seeds"] == 1 else f"{result['seeds']} seeds"
            study = f"{result['task']}, {result['rounds']:,} rounds, {seeds}"
            return {"study": study, "source": f"result {result['name']}", "policies": rows}
    recorded = document["recorded_prediction"]
    return {**recorded, "source": f"recorded with this version: {recorded['command']}"}


def _horizons() -> list[tuple[str, int]]:
    """Fill ratios and the K of the corrected corollary."""
    from theory.design.offline import design_limit
    from theory.setting import Budget, Constants

    constants = Constants(D=1, sigma=1, eta=1, B=1, Pdim=1)  # irrelevant for the limit
    ratios = map(Fraction, ("0.5", "1", "2.5", "5", "9.2", "10", "10.6", "50"))
    return [
        (f"{float(x):g}", design_limit(Budget(buffers=(x,), cost=1, mean_cost=1), constants).K)
        for x in ratios
    ]


# --- texts -------------------------------------------------------------------------------------------------


def _linker(labels: Sequence[str]) -> Any:
    """A filter that links labels of other cases."""
    known = "|".join(re.escape(html.escape(label)) for label in sorted(labels, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w/:-])({known})(?![\w/-])")

    def linked(text: str) -> Markup:
        safe = html.escape(terminal(text))
        return Markup(pattern.sub(lambda m: f'<a href="#{anchor(m[1])}">{m[1]}</a>', safe) if known else safe)

    return linked
