"""The ladder from the paper's text to its released code: which studies tell what carries the reported gain.

A world is a setting of Section 7, the same for all its policies. In the text's world acdpp takes on one departure of
the released rule at a time; in the code's world `released` loses one at a time, and so does that world itself. At
last constant admission and acdpp may spend what `released` was seen to spend. The buffers hold that much of some
number of rounds: K is this number rounded down, so that all of the money can be spent, and rounded up, so that the
memory is full.
"""

import math
from dataclasses import replace
from itertools import product

from empirics.settings.field import choice
from empirics.settings.policy_name import PolicyName
from empirics.settings.section7 import section7, settings_for
from empirics.settings.study import Study
from theory.paper import ROUNDS, RUNS

__all__ = ["EQUAL", "EVERYWHERE", "LADDER", "NOTES", "SPENDS", "at_equal_spending", "rungs"]

EVERYWHERE = ("constant", "hybrid", "oracle", "acdpp", "acdpp-capped", "released")
LADDER: dict[str, tuple[str, ...]] = {  # policies of a world besides those everywhere
    "paper": (
        "acdpp+K",
        "acdpp+cap",
        "acdpp+region+cap",
        "acdpp+rounding",
        "acdpp+penalty",
        "acdpp+constants",
        "acdpp+K+region+cap",
        "hybrid@K=10",
    ),
    "momentum": (),
    "readmitted": (),
    "prices": (),
    "logistic": (),
    "released": (
        "released-K",
        "released-region",
        "released-region-cap",
        "released-rounding",
        "released-penalty",
        "released-constants",
        "released-constants@V=1000",
    ),
    "released-momentum": (),
    "released-readmitted": (),
    "released-prices": (),
    "released-logistic": (),
}
SPENDS, EQUAL, EQUALLY = "released", ("paper", "released"), ("constant", "acdpp")
NOTES = (
    "no world has the released weights n_m: the paper's α_m n_m are the same with equal α_m",
    "no world has the released K = 10 of constant admission: that is its K* on all three data sets",
    "no policy has the released region without its cap: it would admit 4 million samples in round 1",
)


def rungs(
    dataset: str, worlds: tuple[str, ...] | None = None, *, seeds: int = RUNS, rounds: int = ROUNDS
) -> dict[str, Study]:
    """The study of each of these worlds, by default of all that the data set has."""
    known = [world for world in LADDER if world in settings_for(dataset)]
    for world in worlds or ():
        choice(*known)("worlds", world)
    return {
        world: replace(
            section7(dataset, world, seeds=seeds, rounds=rounds), policies=EVERYWHERE + LADDER[world]
        )
        for world in (known if worlds is None else dict.fromkeys(worlds))
    }


def at_equal_spending(study: Study, cost: float) -> Study:
    """The study with policies that plan to spend `cost` per round, scaled by the mean price that they assume.

    >>> at_equal_spending(section7("mnist"), 200.0).policies[:2]
    ('constant@K=2,budget=200', 'constant@K=3,budget=200')
    """
    true = float(study.cost.mean)
    rounds = sum(study.buffers) * true / cost
    planned = float(f"{cost * (study.assumed_mean_cost or true) / true:.4g}")
    kept = dict.fromkeys(max(whole, 1) for whole in (math.floor(rounds), math.ceil(rounds)))
    names = (PolicyName(name).having(K=K, budget=planned) for name, K in product(EQUALLY, kept))
    return replace(study, policies=tuple(names))
