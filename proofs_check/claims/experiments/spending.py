"""`fig:buffer_cost_horizontal`: is the spending within the budget in the long run, and (a reading) at every horizon?"""

from proofs_check.prelude import *

from proofs_check.engines import experiment
from proofs_check.engines.experiment import Interval, bounded, confidence
from proofs_check.experiments.committed import Results, committed
from proofs_check.experiments.stated import ROUNDS, SECTION7
from proofs_check.groundwork.control.printed_log import LARGE_RATE
from proofs_check.groundwork.experiments.constraints import LEVEL, OURS, for_all, horizon, never_made_up, play
from proofs_check.groundwork.experiments.section7 import Measured, Seen, claims_from, each
from theory.control.violation import cost_excess_maximum
from theory.paper import RATE


def excess_over_T() -> Evidence:
    """C(1+log T)/(1-ρ), over T."""
    beyond = C * (1 + sp.log(horizon)) / horizon
    return limit.limits(
        horizon,
        (beyond / (1 - rho), 0, r"$C(1+\log T)/((1-\rho)T)$"),
        (beyond * sp.sqrt(horizon), 0, r"the same with $1-\rho=1/\sqrt T$"),
        domain=r"every fixed $\rho$, and $\rho=1-1/\sqrt T$",
    )


def spends_within(context: Context) -> Evidence:
    """Mean cost of the policy alone, at most what the region allows in these rounds."""
    one, found = SECTION7["mnist"], play("mnist", *OURS, context.seed)
    region, budget = Region(rate=float(one.times * RATE), rho=OURS[1]), float(one.budget)
    beyond = cost_excess_maximum(ROUNDS, region, budget / region.rate, budget) / ROUNDS
    return experiment.played(found.cost, budget + beyond, LEVEL, "mean cost per round", found.domain)


def _cost() -> Claim:
    return Claim(
        id="fig:buffer_cost_horizontal/cost",
        kind="experiment",
        title="ACDPP spends no more than the budget in the long run",
        statement="In the setting of Section 7, whatever $V$ and $\\rho$, ACDPP's expected cost, averaged over $T$ "
        "rounds, is in the limit at most the budget. (The text says that its figure verifies the constraint and speaks "
        "of a long-term guarantee; at most the budget at every horizon is "
        "fig:buffer_cost_horizontal/cost/every-horizon.)",
        formula=r"\limsup_{T\to\infty}\frac1T\sum_{t=1}^T\mathbb E[c(t)\Lambda(t)]\le C",
        domain=r"prices of mean $C/\bar\Lambda$ that the past says nothing about; any policy inside the region; any "
        r"$V$, $\rho$ fixed or $1-1/\sqrt T$",
        sketch=r"As thm:dpp-cost-constraint: $\mathbb E[c\Lambda]\le\mathbb E[c]\Lambda_{\max}(t)=C/(1-\rho^t)$. So "
        r"what is spent beyond $CT$ is at most $C\sum_{t\le T}\rho^t/(1-\rho^t)$. With $1-\rho^t=(1-\rho)g$ and "
        r"$g=\sum_{j<t}\rho^j\ge t\rho^{t-1}$ no term is above $1/((1-\rho)t)$, and $\sum_{t\le T}1/t\le1+\log T$. "
        "It needs the region alone: no queue, and no logarithm in the penalty.",
        checks=(
            theorem("Control.long_run_spending", domain="any policy inside the region, every $T$"),
            excess_over_T,
            confirming(spends_within),
        ),
    )


def overspent_at_every_horizon() -> Evidence:
    least = cost_violation_least(T, rho, C)
    return never_made_up(
        T,
        C,
        said("the expected spending of $T$ rounds is larger than $CT$ by at least $@least$", least=least),
        r"every $T$, $\rho$ and $V$; prices of mean $C/\bar\Lambda$ that the past says nothing about, as in Section 7; "
        + LARGE_RATE,
    )


def spent(seen: Seen) -> Interval:
    return confidence(seen.result.policies[seen.mine].mean_cost, seen.level)


def affordable(seen: Seen) -> Evidence:
    budget = seen.result.budget
    return bounded(seen.result, spent(seen), budget, seen.level, "mean cost per round", learnt=False)


def cost(seen: Seen) -> Measured:
    return seen.measured(spent(seen), "mean cost per round in")


def overspending(dataset: str, context: Context) -> Evidence:
    found = play(dataset, *OURS, context.seed)
    budget = float(SECTION7[dataset].budget)
    return experiment.played(found.cost, budget, LEVEL, "mean cost per round", found.domain)


def _every_horizon(results: Results) -> list[Claim]:
    least = cost_violation_least(T, rho, C)
    made = claims_from(
        results,
        each(affordable, cost, chosen=False),
        kind="reading",
        id="fig:buffer_cost_horizontal/cost/every-horizon",
        title="ACDPP spends no more than the budget at every horizon",
        statement="ACDPP's expected cost, averaged over the rounds of a run, is at most the "
        f"budget: {', '.join(f'{one.budget:g} on {one.name}' for one in SECTION7.values())}. (The text speaks of a "
        "long-term guarantee. That nothing is overspent at a finite horizon is a stricter reading.)",
        formula=r"\frac1T\sum_{t=1}^TE[c(t)\Lambda(t)]\le C",
        symbols={"E": "expectation"},
        found_title="measured: {} per round",
        found="Measured mean cost per round: {}. Whatever $V$ and $\\rho$, with $\\log^+$, it is above the budget, by "
        "an excess that goes to 0 as $T$ grows: a figure of many rounds need not show it.",
        symbol=r"\bar c",
        why=r"Round 1 spends $C/(1-\rho)$ on average, and later rounds at least $C(1-\rho^t)$: what it spends too "
        "much is never quite repaid (alg:acdpp/first-round), and "
        + said("$@least$", least=least)
        + " is left at least. Inside the region the excess does not grow with $T$ either, which is all that a "
        "long-term guarantee needs (thm:dpp-cost-constraint).",
    )
    by_name = {one.name: dataset for dataset, one in SECTION7.items()}
    return [
        for_all(claim, overspent_at_every_horizon, lambda at: confirming(partial(overspending, by_name[at])))
        for claim in made
    ]


def claims(results: Results) -> list[Claim]:
    return [_cost(), *_every_horizon(results)] if any(setting == "paper" for _, setting in results) else []


CLAIMS = claims(committed())
