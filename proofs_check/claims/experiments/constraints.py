"""`fig:buffer_cost_horizontal`: the buffers, the budget and the debt, on every data set, as the text says.

The figure shows ImageNette; the text says that the same is seen on the others.
"""

from __future__ import annotations

from proofs_check.claim import Claim
from proofs_check.engines.experiment import (
    Interval,
    bounded,
    confidence,
    measured,
    settles,
    within,
)
from proofs_check.evidence import Evidence
from proofs_check.experiments.committed import Results, committed
from proofs_check.experiments.document import Reproduction
from proofs_check.experiments.stated import SECTION7, Stated
from proofs_check.groundwork.experiments.section7 import DOMAIN, Instead, Judge, Measure, Part, claims_from
from proofs_check.notation import Formula

CAPPED = "acdpp-capped"


def fits(result: Reproduction, said: Stated, mine: str, level: float) -> Evidence:
    played = result.policies[mine]
    return within(result, played.largest_occupancy, played.buffers, "memory of all clients together")


def capped_fits(result: Reproduction, said: Stated, mine: str, level: float) -> tuple[str, Evidence] | None:
    """As printed, so much; with the admissions capped, within the buffers. Nothing where that rule was not run."""
    if CAPPED not in result.policies:
        return None
    printed, capped = (result.policies[name] for name in (mine, CAPPED))
    found = within(result, capped.largest_occupancy, capped.buffers, "memory under the capped rule")
    return f"{printed.largest_occupancy:g} against {printed.buffers:g}", found


def affordable(result: Reproduction, said: Stated, mine: str, level: float) -> Evidence:
    interval = confidence(result.policies[mine].mean_cost, level)
    return bounded(result, interval, result.budget, level, "mean cost a round", learnt=False)


def cost(result: Reproduction, said: Stated, mine: str, level: float) -> tuple[str, Evidence]:
    interval = confidence(result.policies[mine].mean_cost, level)
    words = f"{(interval.low + interval.high) / 2:.1f} ± {(interval.high - interval.low) / 2:.1f}"
    return words, measured(result, f"mean cost a round in {interval}", interval, level)


def settled(result: Reproduction, said: Stated, mine: str, level: float) -> Evidence:
    return settles(result, result.policies[mine].debt, result.budget)


def debt(result: Reproduction, said: Stated, mine: str, level: float) -> tuple[str, Evidence]:
    last = float(result.policies[mine].debt[-1])
    return f"{last:.0f}", measured(
        result, f"mean debt {last:.4g} in the last round", Interval(last, last), level
    )


def _parts(judge: Judge, measure: Measure) -> list[Part]:
    return [Part(said.name, dataset, judge, measure) for dataset, said in SECTION7.items()]


def claims(results: Results) -> list[Claim]:
    """Whatever is committed."""
    return [
        *claims_from(
            results,
            _parts(fits, capped_fits),
            Instead(
                title="as printed up to {}; with the capped rule within",
                statement="The largest memory in any round of any run, and the buffers together: {}. Capped at what "
                "fits, ACDPP stays within them in every round of every run.",
                sketch="One run with more in memory than fits is a counterexample. As printed, the region's upper end "
                "in round 1 is Λ̄/(1-ρ), which is far above the buffers (alg:acdpp/first-round).",
                symbol="n̂",
                latex=r"\hat n",
                meaning="largest memory of all clients together, in any round of any run",
            ),
            id="fig:buffer_cost_horizontal",
            title="ACDPP's memory stays within the buffers",
            statement="In the setting of Section 7, ACDPP never holds more samples in memory than the buffers of all "
            "clients together, in any round of any run.",
            formula=Formula(r"n(t)\le\sum_mB_m\quad\forall t", "n(t) ≤ ΣB for all t"),
            symbols={"ΣB": "the buffers of all clients together"},
            domain=DOMAIN,
        ),
        *claims_from(
            results,
            _parts(affordable, cost),
            Instead(
                title="measured: {} a round",
                statement="Measured mean cost a round: {}.",
                sketch="This is a measurement over the rounds run; the excess of the first rounds is spread over them.",
                symbol="c̄",
                latex=r"\bar c",
                meaning="measured mean cost a round",
            ),
            id="fig:buffer_cost_horizontal/cost",
            title="ACDPP spends no more than the budget",
            statement="In the setting of Section 7, ACDPP's expected cost, averaged over the rounds, is at most the "
            f"budget: {', '.join(f'{said.budget:g} on {said.name}' for said in SECTION7.values())}.",
            formula=Formula(
                r"\frac1T\sum_{t=1}^TE[c(t)\Lambda(t)]\le C", "(1/T)·Σ_{t=1}^{T} E[c(t)Λ(t)] ≤ C"
            ),
            symbols={"E": "expectation"},
            domain=DOMAIN,
        ),
        *claims_from(
            results,
            _parts(settled, debt),
            Instead(
                title="mean debt in the last round: {}",
                statement="Mean debt in the last round: {}. Whether it settles later is not known.",
                sketch="A debt that still grows in the last half of the rounds may settle after them.",
                symbol="Z",
                latex="Z",
                meaning="measured mean debt in the last round",
            ),
            id="fig:buffer_cost_horizontal/debt",
            title="ACDPP's cost debt settles",
            statement="In the setting of Section 7, ACDPP's mean cost debt no longer grows in the second half of the "
            "rounds: from the third quarter to the last by at most 1 % of the budget a round. (The text says stable "
            "and gives no number; this is our reading.)",
            formula=Formula(r"\frac4T\left(\bar Z_4-\bar Z_3\right)\le\frac C{100}", "4·(Z̄₄ - Z̄₃)/T ≤ C/100"),
            symbols={
                "Z̄₄": "mean debt over the last quarter of the rounds",
                "Z̄₃": "mean debt over the quarter before",
            },
            domain=DOMAIN,
        ),
    ]


CLAIMS = claims(committed())
