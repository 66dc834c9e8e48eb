"""What claims about `fig:buffer_cost_horizontal` share: its setting, and that the first round is never made up."""

from proofs_check.prelude import *

from proofs_check.engines.experiment import ERROR
from proofs_check.experiments.committed import Results
from proofs_check.experiments.document import Played
from proofs_check.experiments.stated import SECTION7
from proofs_check.groundwork.control.drift_step import in_round_1
from proofs_check.groundwork.control.printed_log import LARGE, LOG_PLUS
from theory.control.violation import cost_violation_least

PRINTED = "acdpp"
LEVEL = 1 - ERROR / len(SECTION7)
WHATEVER = r"every $V$ and $\rho$"
ALL = rf"the setting of Section 7 on three data sets, {WHATEVER}; where it is silent: 100 rounds; {LOG_PLUS}"
price, amount, low = sp.symbols("price amount low", nonnegative=True)
horizon = sp.Symbol("T", positive=True)


def by_name(check: Any) -> dict[str, Check]:
    """A check for each data set."""
    return {one.name: partial(check, dataset) for dataset, one in SECTION7.items()}


def run_of(results: Results, dataset: str) -> Played | None:
    """The run of ACDPP as printed."""
    result = results.get((dataset, "paper"))
    return None if result is None else result.policies[PRINTED]


def for_all(claim: Claim, proof: Check, played: Any = None) -> Claim:
    """A claim about the runs at hand that is about every V and ρ, too."""
    checks = {name: (check, *([played(name)] if played else [])) for name, check in claim.checks.items()}  # type: ignore[union-attr]
    checks = {WHATEVER: proof, **checks}
    return replace(claim, checks=checks, domain=ALL, hypotheses=(), checks_with_hypotheses=())


def never_made_up(rounds: Any, pace: Any, detail: str, domain: str) -> Evidence:
    """Round 1 at the upper end, then lower ends, add up to more than Λ̄ a round: to so much more, in units of Λ̄."""
    region = Region(rate=rate, rho=sp.exp(-sp.Symbol("decay", positive=True)))
    later = region_minimum_total(region, rounds + 1) - region_minimum(region, 1)
    least = cost_violation_least(rounds, region.rho, pace)
    adds_up = argument(
        (
            pace / rate * (region_maximum(region, 1) + later) - pace * rounds,
            least,
            "the least sum less its bound, and theory's",
        ),
        (price * amount >= price * low, [amount >= low], r"every later round, $c\ge0$"),
        domain=domain,
    )
    x = sp.Symbol("x", positive=True)  # ρ^rounds
    plainly = sp.expand_power_exp(cost_violation_least(rounds, rho, pace)).subs(rho**rounds, x)
    positive = smt.always(sp.Gt(plainly, 0, evaluate=False), given=LARGE, domain=domain)
    facts = {**in_round_1(REGION, given=LARGE), "no admissions inside the region add up to less": adds_up}
    return obeying(refutes(positive, detail), facts)
