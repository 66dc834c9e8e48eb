"""ACDPP alone, as printed, in the setting of Section 7: what it holds, spends and owes, for any V and ρ.

That depends on neither data nor model. Admissions are real numbers here, where a client trains on whole samples, and
the penalty's constants are those of the released code, since the text names none.
"""

from functools import lru_cache

from proofs_check.prelude import *

from proofs_check.engines import simulation
from proofs_check.experiments.fields import Floats
from proofs_check.experiments.stated import PENALTY, ROUNDS, SECTION7
from theory.paper import PRICES, RATE, RETENTION

OURS = (ROUNDS**0.5, 1 - ROUNDS**-0.5)  # V and ρ
MANY = 500


@dataclass(frozen=True)
class Play:
    """A number a run, on average over rounds; the debt before every round and after the last, on average over runs."""

    memory: Floats
    cost: Floats
    debt: Floats
    domain: str


@lru_cache
def play(dataset: str, V: float, rho: float, seed: int, rounds: int = ROUNDS) -> Play:
    """Many runs."""
    said = SECTION7[dataset]
    prices = simulation.uniform(*PRICES).draw(np.random.default_rng([seed, said.times]), MANY, rounds)
    runs = simulation.control_loop(
        prices,
        K=RETENTION,
        V=V,
        C=float(said.budget),
        region=Region(rate=float(said.times * RATE), rho=rho),
        constants=replace(PENALTY, eta=said.eta),
    )
    so_far = runs.admitted.cumsum(axis=0)
    held = so_far - np.concatenate([np.zeros((RETENTION, MANY)), so_far])[:rounds]
    return Play(
        held.mean(axis=0),
        runs.spent.mean(axis=0),
        runs.debt.mean(axis=1),
        rf"budgets of {said.name}, prices uniform on [1, 10], $V={V:g}$, $\rho={rho:g}$, {rounds} rounds",
    )
