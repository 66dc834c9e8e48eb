"""The paper's Section 7 as studies: as its text says (`paper`), as its released code runs (`released`), and in between.

In between are worlds that differ from the text in one point of the released code alone, the same for all policies.

What the text does not say is chosen here, once: V = √T and ρ = 1 - 1/√T (its remark's γ = φ = 1/2), 100 rounds (the
code's default), inputs in [0, 1], the first parameters that torch draws, another for every seed, and classes m and
m+1 for client m (the code's two of ten). Constants that no problem determines are the code's.

The code gives an ImageNette client 1,000 samples. A split of the data set has 946 of them a client at most, so no limit
is set: a client draws from all of its part. Its batches of 32 there are full batches here.
"""

from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import Any

from empirics.settings.costs import CostProcess
from empirics.settings.field import choice
from empirics.settings.study import Study
from theory.paper import LOCAL_STEPS, ROUNDS, RUNS, SECTION7
from theory.setting import SettingError

__all__ = ["COMPLETE", "DATASETS", "PAPER", "SETTINGS", "STEPS", "TARGETS", "UNSAID"]
__all__ += ["is_reproduction", "section7", "settings_for"]

TEXT = {dataset: said.rounded() for dataset, said in SECTION7.items()}
DATASETS = tuple(TEXT)
TARGETS = {dataset: said.target for dataset, said in TEXT.items()}
PAPER = {  # of acdpp over others; None where it says "never"
    dataset: {"points": said.points, "speed_up": said.speed_up} for dataset, said in TEXT.items()
}
COMPLETE = {  # samples of the published data sets
    "mnist": {"train": 60_000, "test": 10_000},
    "cifar10": {"train": 50_000, "test": 10_000},
    "imagenette": {"train": 9_469, "test": 3_925},
}
UNSAID = (
    "V = √T",
    "ρ = 1 - 1/√T",
    "the number of rounds (the released code's default is 100)",
    "inputs scaled to [0, 1]",
    "first parameters by torch's defaults, of logistic regression a random direction of length 1, anew for every seed",
    "which two classes a client has (m and m+1, as in the released code)",
    "the constants of the penalty (the released code's, except V)",
    "of the released setting: E and η, for which we take the text's (the code's defaults are 30 and 0.1)",
)


RELEASED_K = {"mnist": 6, "cifar10": 6, "imagenette": 5}
# as often as is worth it: parameters of all runs are written, and a kill costs that much
CHECKPOINT = {"mnist": 25, "cifar10": 50, "imagenette": 5}
ALIKE: dict[str, Any] = {
    "scale": "pixels",
    "steps": LOCAL_STEPS,
    "radius": None,
    "dtype": "float32",
    "measures": ("accuracy",),
    "predict": False,
    "threads": None,
    "per_seed": ("start",),
    "diverging": "record",
}
POLICIES = ("acdpp", "acdpp-capped", "constant", "oracle", "hybrid", "buy-cheap-online", "released")
RELEASED_POLICIES = ("released", "constant", "oracle", "hybrid", "acdpp", "acdpp-capped", "buy-cheap-online")


# --- how far from the text ---------------------------------------------------------------------------------

NOT_THERE = None  # what a setting is for a data set on which it changes nothing


@dataclass(frozen=True)
class Setting:
    """A setting: its description, its changes to the text, and other changes on some data sets."""

    about: str
    changes: dict[str, Any] = field(default_factory=dict)
    on: dict[str, dict[str, Any] | None] = field(default_factory=dict)

    def of(self, dataset: str) -> dict[str, Any] | None:
        own = self.on.get(dataset, {})
        return NOT_THERE if own is NOT_THERE else self.changes | own


STEPS = {  # from the text to the code; weights are none, since with equal α both weigh by n_m, nor is K, which K* is
    "momentum": Setting("local descent with momentum 0.9", {"momentum": 0.9}),
    "readmitted": Setting(
        "samples without replacement from 500 a class and client, again when they run out",
        {"per_class": 500, "replacement": False, "per_seed": ("start", "partition")},
        {"imagenette": {"per_class": None}},
    ),
    "prices": Setting(
        "whole prices 1 to 10; on CIFAR-10 1 to 49, while policies take 5.5 for the mean",
        {"cost": CostProcess(process="integer")},
        {"cifar10": {"cost": CostProcess(process="integer", high=49), "assumed_mean_cost": 5.5}},
    ),
    "logistic": Setting(
        "multinomial logistic regression for LeNet",
        {"model": "logistic"},
        {"cifar10": NOT_THERE, "imagenette": NOT_THERE},
    ),
}
CODE = {"K": 10, "hybrid_K": 10, "weights": "samples", "fractions": "floor", "policies": RELEASED_POLICIES}


def _released(about: str, but: str | None = None) -> Setting:
    """The code with all steps, or all except one of them."""
    left = [step for name, step in STEPS.items() if name != but]
    whole = {name: reduce(or_, (step.of(name) or {} for step in left)) for name in DATASETS}
    missing = [name for name in DATASETS if but is not None and STEPS[but].of(name) is NOT_THERE]
    return Setting(about, CODE, whole | dict.fromkeys(missing, NOT_THERE))


SETTINGS = {
    "paper": Setting("as the text says"),
    **STEPS,
    "released": _released(
        "as the released code runs: all of these, K = 10 for hybrid too, rates rounded down"
    ),
    **{
        f"released-{name}": _released(f"the same but for this: {step.about}", name)
        for name, step in STEPS.items()
    },
}


def settings_for(dataset: str) -> tuple[str, ...]:
    """The settings that mean something for a data set.

    >>> settings_for("cifar10")[:5]
    ('paper', 'momentum', 'readmitted', 'prices', 'released')
    """
    return tuple(name for name, one in SETTINGS.items() if one.of(dataset) is not NOT_THERE)


def is_reproduction(study: Study) -> bool:
    """`section7` made this study."""
    known = settings_for(study.dataset) if study.dataset in DATASETS else ()
    return study.preset in {f"{study.dataset}-{setting}" for setting in known}


def section7(
    dataset: str, setting: str = "paper", *, seeds: int = RUNS, rounds: int = ROUNDS, model: str | None = None
) -> Study:
    """The study of this data set in this setting; `model` in place of its own.

    >>> study = section7("cifar10", "released")
    >>> study.budget, study.momentum, study.cost.high, study.preset
    (110.0, 0.9, 49, 'cifar10-released')
    """
    choice(*DATASETS)("dataset", dataset)
    choice(*SETTINGS)("setting", setting)
    changes = SETTINGS[setting].of(dataset)
    if changes is NOT_THERE:
        raise SettingError(
            f"{setting} changes nothing on {dataset}: take one of {', '.join(settings_for(dataset))}"
        )
    said = TEXT[dataset]
    study = Study(
        **ALIKE,
        preset=f"{dataset}-{setting}",
        dataset=dataset,
        partition=said.partition,
        buffers=said.buffers,
        budget=float(said.budget),
        policies=POLICIES,
        released_K=RELEASED_K[dataset],
        model=said.model,
        rounds=rounds,
        eta=said.eta,
        seeds=seeds,
        checkpoint=CHECKPOINT[dataset],
    )
    return replace(study, **(changes if model is None else changes | {"model": model}))
