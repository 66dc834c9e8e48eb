"""Shared by the claims about `fig:buffer_cost_horizontal`: runs of ACDPP alone in the setting of Section 7, and the
excess of the first round, which later rounds never make up.
"""

from functools import lru_cache

from proofs_check.prelude import *

from proofs_check.engines import simulation
from proofs_check.engines.experiment import ERROR
from proofs_check.experiments.committed import Results
from proofs_check.experiments.json_entries import Floats
from proofs_check.experiments.reproduction import PolicyResult
from proofs_check.experiments.stated import PENALTY, ROUNDS, SECTION7
from proofs_check.groundwork.control.drift_step import in_round_1
from proofs_check.groundwork.control.printed_log import LARGE, LOG_PLUS
from theory.paper import PRICES, RATE, RETENTION

PRINTED = "acdpp"
OURS = (ROUNDS**0.5, 1 - ROUNDS**-0.5)  # V and ρ
RUNS = 500
LEVEL = 1 - ERROR / len(SECTION7)
WHATEVER = r"every $V$ and $\rho$"
ALL = rf"the setting of Section 7 on three data sets, {WHATEVER}; where it is silent: 100 rounds; {LOG_PLUS}"
price, amount, low = sp.symbols("price amount low", nonnegative=True)
horizon = sp.Symbol("T", positive=True)


def by_name(check: Any) -> dict[str, Check]:
    """A check for each data set."""
    return {one.name: partial(check, dataset) for dataset, one in SECTION7.items()}


def run_of(results: Results, dataset: str) -> PolicyResult | None:
    """The run of ACDPP as printed."""
    result = results.get((dataset, "paper"))
    return None if result is None else result.policies[PRINTED]


def for_all(claim: Claim, proof: Check, played: Any = None) -> Claim:
    """A claim about the runs at hand that is about every V and ρ, too."""
    stated = claim.checks_for("stated")
    checks = {name: (check, *([played(name)] if played else [])) for name, check in stated}
    all_checks: dict[str, Any] = {WHATEVER: proof, **checks}
    return replace(claim, checks=all_checks, domain=ALL, hypotheses=(), checks_with_hypotheses=())


def never_made_up(rounds: Any, pace: Any, detail: str, domain: str) -> Evidence:
    """Round 1 at the upper end, then lower ends, add up to more than Λ̄ per round: the excess, in units of Λ̄."""
    region = Region(rate=rate, rho=sp.exp(-sp.Symbol("decay", positive=True)))
    later = region_minimum_total(region, rounds + 1) - region_minimum(region, 1)
    least = cost_violation_least(rounds, region.rho, pace)
    adds_up = argument(
        (pace / rate * (region_maximum(region, 1) + later) - pace * rounds, least, "the least sum's excess"),
        (price * amount >= price * low, [amount >= low], r"every later round, $c\ge0$"),
        domain=domain,
    )
    x = sp.Symbol("x", positive=True)  # ρ^rounds
    plainly = sp.expand_power_exp(cost_violation_least(rounds, rho, pace)).subs(rho**rounds, x)
    positive = smt.always(sp.Gt(plainly, 0, evaluate=False), given=LARGE, domain=domain)
    facts = {**in_round_1(REGION, given=LARGE), "no admissions inside the region add up to less": adds_up}
    return obeying(refutes(positive, detail), facts)


# --- ACDPP alone -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Play:
    """Memory and cost per run, averaged over rounds; the debt before every round and after the last, over runs."""

    memory: Floats
    cost: Floats
    debt: Floats
    domain: str


@lru_cache
def play(dataset: str, V: float, rho: float, seed: int, rounds: int = ROUNDS) -> Play:
    """Runs of ACDPP as printed, which depend on neither data nor model. Admissions are real numbers, and the penalty's
    constants are those of the released code, since the text names none.
    """
    said = SECTION7[dataset]
    prices = np.random.default_rng([seed, said.times]).uniform(*PRICES, (rounds, RUNS))
    region, constants = Region(rate=float(said.times * RATE), rho=rho), replace(PENALTY, eta=said.eta)
    budget = float(said.budget)
    runs = simulation.control_loop(prices, K=RETENTION, V=V, C=budget, region=region, constants=constants)
    so_far = runs.admitted.cumsum(axis=0)
    held = so_far - np.concatenate([np.zeros((RETENTION, RUNS)), so_far])[:rounds]
    domain = rf"budgets of {said.name}, prices uniform on [1, 10], $V={V:g}$, $\rho={rho:g}$, {rounds} rounds"
    return Play(held.mean(axis=0), runs.spent.mean(axis=0), runs.debt.mean(axis=1), domain)
