"""`fig:buffer_cost_horizontal`: the buffers, the budget and the debt, on every data set, as the text says.

The figure shows ImageNette; the text says that the same is seen on the others. The paper's constraint on buffers is a
time average; that the memory stays within them is read as said of every round, and the averages are told beside it.
"""

from __future__ import annotations

from collections.abc import Callable

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
from proofs_check.experiments.stated import SECTION7
from proofs_check.groundwork.experiments.section7 import DOMAIN, Part, Seen, Told, claims_from, plus_minus

PRINTED, CAPPED = "acdpp", "acdpp-capped"


def fits(seen: Seen) -> Evidence:
    played = seen.result.policies[seen.mine]
    return within(seen.result, played.largest_occupancy, played.buffers, "memory of all clients together")


def capped_fits(seen: Seen) -> tuple[str, Evidence] | None:
    """As printed, so much; with the admissions capped, within the buffers. Nothing where that rule was not run."""
    if CAPPED not in seen.result.policies:
        return None
    printed, capped = (seen.result.policies[name] for name in (seen.mine, CAPPED))
    found = within(seen.result, capped.largest_occupancy, capped.buffers, "memory under the capped rule")
    return f"{printed.largest_occupancy:g} against {printed.buffers:g}", found


def spent(seen: Seen) -> Interval:
    return confidence(seen.result.policies[seen.mine].mean_cost, seen.level)


def affordable(seen: Seen) -> Evidence:
    return bounded(
        seen.result, spent(seen), seen.result.budget, seen.level, "mean cost per round", learnt=False
    )


def cost(seen: Seen) -> tuple[str, Evidence]:
    return seen.measured(plus_minus(spent(seen)), "mean cost per round in", spent(seen))


def debt(seen: Seen) -> tuple[str, Evidence]:
    last = float(seen.result.policies[seen.mine].debt[-1])
    found = f"mean debt {last:.4g} in the last round"
    return f"{last:.0f}", measured(seen.result, found, Interval(last, last), seen.level)


def averages(results: Results, mine: str) -> str:
    """The memory of all clients together on average over rounds and runs, and where that is within the buffers."""
    means = {
        result.name: (float(played.occupancy.mean()), played.buffers)
        for dataset in SECTION7
        if (result := results.get((dataset, "paper"))) is not None
        for played in (result.policies[mine],)
    }
    told = ", ".join(f"{name} {mean:.1f} of {buffers:g}" for name, (mean, buffers) in means.items())
    met = ", ".join(name for name, (mean, buffers) in means.items() if mean <= buffers)
    return f"{told}; the constraint on time averages is met in total in the runs on: {met or 'none of these'}"


def filling(results: Results, mine: str) -> str:
    """What is held in round 1 on average over runs, and when most is."""
    return "; ".join(
        f"{result.name} {held[0]:g} of {result.policies[mine].buffers:g}, then up to {held.max():g} in round "
        f"{held.argmax() + 1}"
        for dataset in SECTION7
        if (result := results.get((dataset, "paper"))) is not None
        for held in (result.policies[mine].occupancy,)
    )


def _parts(
    judge: Callable[[Seen], Evidence], measure: Callable[[Seen], tuple[str, Evidence] | None]
) -> list[Part]:
    return [Part(said.name, dataset, judge, measure) for dataset, said in SECTION7.items()]


def claims(results: Results) -> list[Claim]:
    """Whatever is committed."""
    return [
        *claims_from(
            results,
            _parts(fits, capped_fits),
            Told(
                title="as printed up to {}; with the capped rule within",
                statement="The largest memory in any round of any run, and the buffers together: {}. Capped at what "
                "fits, ACDPP stays within them in every round of every run. As printed, the memory of all clients "
                f"together was on average over rounds and runs: {averages(results, PRINTED)}. "
                r"$V$ and $\rho$ are our choice, since the paper names none, and the largest memory depends on them.",
                sketch="One run with more in memory than fits is a counterexample to “in every round”, and none to the "
                r"time average. As printed, round 1 admits the region's upper end $\bar\Lambda/(1-\rho)$ "
                r"(alg:acdpp/first-round), and with our $\rho$ that fills the buffers or most of them; these samples "
                "stay for $K$ rounds, and what later rounds admit comes on top, until they leave together. Held in "
                f"round 1, and at most, on average over runs: {filling(results, PRINTED)}.",
                symbol="n̂",
                latex=r"\hat n",
                meaning="largest memory of all clients together, in any round of any run",
            ),
            id="fig:buffer_cost_horizontal",
            title="ACDPP's memory stays within the buffers (read per round)",
            statement="In the setting of Section 7, ACDPP never holds more samples in memory than the buffers of all "
            "clients together, in any round of any run. (The text says that the occupancy over rounds, which its "
            "figure shows, remains within the memory budget. Its constraint is on time averages; that it is kept in "
            "every round is our reading of the figure's text.)",
            formula=r"n(t)\le\sum_mB_m\quad\forall t",
            symbols={"ΣB": "the buffers of all clients together"},
            domain=DOMAIN,
        ),
        *claims_from(
            results,
            _parts(
                affordable,
                lambda seen: seen.measured(plus_minus(spent(seen)), "mean cost per round in", spent(seen)),
            ),
            Told(
                title="measured: {} per round",
                statement="Measured mean cost per round: {}.",
                sketch="This is a measurement over the rounds run; the excess of the first rounds is spread over them.",
                symbol="c̄",
                latex=r"\bar c",
                meaning="measured mean cost per round",
            ),
            id="fig:buffer_cost_horizontal/cost",
            title="ACDPP spends no more than the budget",
            statement="In the setting of Section 7, ACDPP's expected cost, averaged over the rounds, is at most the "
            f"budget: {', '.join(f'{said.budget:g} on {said.name}' for said in SECTION7.values())}.",
            formula=r"\frac1T\sum_{t=1}^TE[c(t)\Lambda(t)]\le C",
            symbols={"E": "expectation"},
            domain=DOMAIN,
        ),
        *claims_from(
            results,
            _parts(
                lambda seen: settles(seen.result, seen.result.policies[seen.mine].debt, seen.result.budget),
                debt,
            ),
            Told(
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
            "rounds: from the third quarter to the last by at most 1 % of the budget per round. (The text says stable "
            "and gives no number; this is our reading.)",
            formula=r"\frac4T\left(\bar Z_4-\bar Z_3\right)\le\frac C{100}",
            symbols={
                "Z̄₄": "mean debt over the last quarter of the rounds",
                "Z̄₃": "mean debt over the quarter before",
            },
            domain=DOMAIN,
        ),
    ]


CLAIMS = claims(committed())
