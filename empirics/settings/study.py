"""A study: everything that decides its numbers, in one frozen dataclass that can be read from TOML and saved.

Each setting is documented once, at its definition: `acdpp train --show-config` and `docs/reference.md` come from it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from empirics.settings.costs import CostProcess
from empirics.settings.dataset_name import TABLES
from empirics.settings.drift import Drift
from empirics.settings.field import (
    MOST_SAMPLES,
    POSITIVE,
    Check,
    apply_checks,
    between,
    choice,
    flag,
    listing,
    optional,
    setting,
    shown,
    text,
    whole,
)
from empirics.settings.policy_name import AVERAGED_BY, DEPARTURES, SETTINGS, PolicyName, policy_name, swept
from theory.paper import BUDGET, BUFFERS, LOCAL_STEPS
from theory.setting import Budget, Constants, SettingError

__all__ = ["GIVEN", "MEASURES", "PER_SEED", "Study"]

MEASURES = ("risk", "mismatch", "accuracy")
PER_SEED = ("partition", "start")
GIVEN = "given:"  # begins the name of what was handed over in Python and is no file, no built-in and no import path
RUNS_MAX = 10**5
THREADS_MAX = 4096
DESCENT = {"model": "logistic", "decay": None, "momentum": 0.0, "average": "none"}  # without local descent
UNIFORM, STILL = CostProcess(), Drift()


def _table(kind: type, such_as: str) -> Check:
    """Settings of their own."""

    def check(name: str, value: Any) -> Any:
        if not isinstance(value, kind):
            raise SettingError(f"{name} must be a table such as {such_as}, got {shown(value)}")
        return value

    return check


def _check_mean(average: str, by: float | None) -> None:
    """Refuse a parameter that the kind of mean does not take."""
    if by is not None:
        if average not in AVERAGED_BY:
            raise SettingError(f"average {average} takes no average_by: leave it out")
        if average != "polynomial":
            between(0, 1, such_as=AVERAGED_BY[average])(f"average_by of {average}", by)


@dataclass(frozen=True, kw_only=True)
class Study:
    """All settings of a study.

    >>> Study(rounds=400).penalty_weight, Study(rounds=400).contraction
    (20.0, 0.95)
    """

    preset: str = setting("own", "The named settings that this study started from.", text("digits"))

    dataset: str = setting(
        "digits",
        "digits, mnist, cifar10, imagenette, or your file: npz:FILE with arrays, csv:FILE or parquet:FILE with a "
        "table.",
        text("digits"),
    )
    label_column: str | None = setting(None, "Column of a table with the labels.", optional(text("label")))
    time_column: str | None = setting(
        None,
        "Column of a table with timestamps, numbers or dates.",
        optional(text("time")),
    )
    client_column: str | None = setting(
        None,
        "Column of a table with the client id, for partition client.",
        optional(text("client")),
    )
    labels: str = setting(
        "classes",
        "Labels to learn: classes, or parity (odd against even classes, from 0).",
        choice("classes", "parity"),
    )
    scale: str = setting(
        "unit",
        "Inputs: unit (divided by one number, so that norms are at most 1, a linear model's bias included), standard "
        "(mean 0 and standard deviation 1 per feature, then unit) or pixels (as they are).",
        choice("unit", "standard", "pixels"),
    )
    partition: str = setting(
        "iid",
        "Pool of a client: iid (the whole population), split (an even random split), two-class (classes m and m+1), "
        "dirichlet (random class shares) or client (its own samples, by client_column or an array client).",
        choice("iid", "split", "two-class", "dirichlet", "client"),
    )
    concentration: float = setting(
        0.5,
        "Concentration of partition dirichlet: the smaller, the more clients differ.",
        between(*POSITIVE, such_as=0.5),
    )
    per_class: int | None = setting(
        None, "Largest number of samples per class in a client's pool; none for no limit.", optional(whole())
    )
    replacement: bool = setting(
        True, "Draw with replacement; without, a shuffled pool starts again when it runs out.", flag
    )

    buffers: tuple[int, ...] = setting(
        BUFFERS,
        "B_m, samples that each client can hold, one number per client.",
        listing(whole(1, MOST_SAMPLES), such_as="8, 9, 10"),
    )
    alpha: tuple[float, ...] | None = setting(
        None,
        "Weights of clients in the population, with sum 1; none for equal weights.",
        optional(listing(between(0, POSITIVE[1], low_too=True, such_as=0.5), such_as="0.5, 0.5")),
    )
    budget: float = setting(BUDGET, "C, the average cost per round allowed.", SETTINGS["budget"])
    assumed_mean_cost: float | None = setting(
        None,
        "Mean cost that policies plan with; none for the true mean.",
        optional(between(*POSITIVE, such_as=5.5)),
    )

    policies: tuple[str, ...] = setting(
        ("acdpp", "acdpp-capped", "constant", "oracle", "hybrid", "buy-cheap-online"),
        "Policies by name, or your own as module:attribute. acdpp@K=7,eta=0.5,steps=1 is acdpp with these in place "
        "of the study's; so may be given decay, average, average_by, rho, V, rate and budget (for hybrid, released "
        "and burst, K is hybrid_K, released_K and burst_K; oracle, buy-cheap and taper have none; debt is held "
        "against the study's budget). acdpp+K+cap has these departures of the released code, released-K-cap all "
        "except these, of "
        f"{', '.join(DEPARTURES)}.",
        listing(policy_name, such_as='"acdpp", "oracle"', distinct=True),
    )
    K: int | None = setting(
        None,
        "Rounds that a sample is kept; none for the best by Corollary 2, corrected.",
        optional(SETTINGS["K"]),
    )
    hybrid_K: int | None = setting(
        None,
        "Rounds that hybrid's live half keeps a sample; none for the best for its buffers.",
        optional(whole()),
    )
    released_K: int = setting(6, "Rounds that released and acdpp+K keep a sample.", whole())
    burst_K: int = setting(1, "Rounds that burst and burst-online keep a sample.", whole())
    rate: float | None = setting(
        None,
        "Target samples per round of acdpp; none for the most that the budgets allow.",
        optional(SETTINGS["rate"]),
    )
    fractions: str = setting(
        "staggered",
        "Rounding of rates by constant and hybrid: staggered (clients round up at different times) or floor (of the "
        "samples due so far, as in the released code).",
        choice("staggered", "floor"),
    )
    V: float | None = setting(
        None,
        "Weight of acdpp's penalty; buy-cheap, burst and taper keep two thirds of the budget of V rounds in reserve; "
        "none for √rounds.",
        optional(SETTINGS["V"]),
    )
    rho: float | None = setting(
        None, "Contraction of acdpp's region; none for 1 - 1/√rounds.", optional(SETTINGS["rho"])
    )

    model: str = setting(
        "logistic",
        "logistic (regression), lenet, resnet9 (with GroupNorm and Mish), or module:attribute, a function from the "
        "population to a torch.nn.Module with one score per class.",
        text("logistic"),
    )
    rounds: int = setting(500, "T, the number of rounds.", whole())
    steps: int = setting(LOCAL_STEPS, "E, local steps per round.", SETTINGS["steps"])
    eta: float = setting(0.5, "Step size of local descent.", SETTINGS["eta"])
    decay: float | None = setting(
        None,
        "τ: round t has steps of size η/√(1 + t/τ); none for steps of one size.",
        optional(SETTINGS["decay"]),
    )
    decay_by: str = setting(
        "rounds",
        "Unit of t in the decay: rounds, from 1, or samples admitted before.",
        choice("rounds", "samples"),
    )
    learner: str = setting(
        "descent",
        "descent (clients move the model by local steps) or information (clients send gradient and curvature of what "
        "they hold, and the server adds up what they drop; for logistic regression of at most 2,000 features, "
        "without decay, momentum or mean, where eta and steps serve the bound's constants alone).",
        choice("descent", "information"),
    )
    momentum: float = setting(
        0.0,
        "Momentum of local descent, anew in every round.",
        between(0, 1, low_too=True, such_as=0.9),
    )
    weights: str = setting(
        "paper",
        "Aggregation weights of clients: paper (α_m n_m) or samples (n_m).",
        choice("paper", "samples"),
    )
    average: str = setting(
        "none",
        "The server's model: none (the last iterate) or a running mean of its models θ(1), θ(2), …, where each round "
        "that trains makes a model: equal weights, polynomial (model j weighs about j^γ), tail (equal weights from "
        "some round on, the last iterate before) or exponential (each β times the next). The mean is taken before "
        "projection, and projected.",
        SETTINGS["average"],
    )
    average_by: float | None = setting(
        None,
        "γ of polynomial (none for 1), the part of the rounds that tail leaves out (0.5), β of exponential (0.99).",
        optional(SETTINGS["average_by"]),
    )
    radius: float | None = setting(
        10.0,
        "Radius of the ball onto which the server projects; none for no ball and nominal constants.",
        optional(between(*POSITIVE, such_as=10)),
    )

    seeds: int = setting(10, "Replicates of each policy.", whole(1, RUNS_MAX))
    seed: int = setting(0, "Seed of the whole study.", whole(0, 2**32 - 1))
    per_seed: tuple[str, ...] = setting(
        (),
        "Also drawn anew for every replicate: partition, start (the first parameters).",
        listing(choice(*PER_SEED), such_as='"partition", "start"', empty=True, distinct=True),
    )
    measures: tuple[str, ...] = setting(
        MEASURES,
        "Measured in every round: risk, mismatch, accuracy.",
        listing(choice(*MEASURES), such_as='"risk"', empty=True, distinct=True),
    )
    predict: bool = setting(
        True,
        "Predict excess risk by the law of reuse before training, if that takes under two minutes.",
        flag,
    )
    diverging: str = setting(
        "refuse",
        "When all runs have diverged: refuse (end with a message) or record (go on). A run diverges when its "
        "parameters or risk are not finite: its measures are NaN from then on, means over seeds are null, and its "
        "best accuracy is that of earlier rounds.",
        choice("refuse", "record"),
    )
    dtype: str = setting(
        "float64", "Type of parameters and inputs: float64 or float32.", choice("float64", "float32")
    )
    precision: str = setting(
        "bfloat16",
        "Type of resnet9's products on a GPU (its parameters and sums are float32): bfloat16, tf32 or float32.",
        choice("bfloat16", "tf32", "float32"),
    )
    checkpoint: int = setting(
        100,
        "Rounds between checkpoints, lost at most when the process is killed.",
        whole(1, 10**6),
    )
    log: tuple[str, ...] = setting(
        (),
        "Logs in the result: tensorboard (event files), mlflow (runs in a file store); each is an extra to install.",
        listing(choice("tensorboard", "mlflow"), such_as='"tensorboard"', empty=True, distinct=True),
    )
    threads: int | None = setting(
        1,
        "Threads of torch on the CPU; none for torch's choice. A fixed number makes results reproducible to the last "
        "bit.",
        optional(whole(1, THREADS_MAX)),
    )
    cost: CostProcess = setting(  # noqa: RUF009
        UNIFORM, "Price of a sample, round by round.", _table(CostProcess, '{process = "uniform"}')
    )
    drift: Drift = setting(  # noqa: RUF009
        STILL, "Drift of the population.", _table(Drift, '{kind = "gradual", length = 200}')
    )

    def __post_init__(self) -> None:
        apply_checks(self)
        if self.alpha is not None and (len(self.alpha) != self.clients or abs(sum(self.alpha) - 1) > 1e-9):
            raise SettingError("alpha must give each client a weight of at least 0, with sum 1")
        if self.decay is None and self.decay_by != "rounds":
            raise SettingError("decay_by says what decay counts: give decay too, such as 50")
        _check_mean(self.average, self.average_by)
        self._check_information()
        self._check_columns()
        if self.drift.mixes and self.drift.start > self.rounds:
            raise SettingError(
                f"the drift begins in round {self.drift.start:,}, and there are {self.rounds:,}: nothing would move, "
                "so take an earlier start or more rounds"
            )
        if self.drift.mixes and not self.replacement:
            raise SettingError(
                "a population that moves is drawn from with replacement: leave replacement true"
            )

    def _check_information(self) -> None:
        """Refuse what is for local descent alone."""
        if self.learner != "information":
            return
        for name, without in DESCENT.items():
            if getattr(self, name) != without:
                raise SettingError(
                    f'learner information takes no {name}: leave it out, or take learner = "descent"'
                )
        for name in self.policies:
            taken = [key for key in PolicyName(name).own if key in ("eta", "steps", *DESCENT, "average_by")]
            if taken:
                raise SettingError(
                    f"learner information takes no {taken[0]}, which {name} gives: leave it out, or take "
                    'learner = "descent"'
                )

    def _check_columns(self) -> None:
        for name in ("label_column", "time_column", "client_column"):
            if getattr(self, name) is not None and not self.dataset.startswith(TABLES):
                raise SettingError(f"{name} names a column of csv:FILE or parquet:FILE: leave it out")
        if self.client_column is not None and self.partition != "client":
            raise SettingError('client_column names the client ids: give partition = "client" too')

    @property
    def averaging(self) -> float | None:
        """The parameter of the mean, if it has one."""
        return AVERAGED_BY.get(self.average) if self.average_by is None else self.average_by

    @property
    def penalty_weight(self) -> float:
        """V, √T unless given."""
        return math.sqrt(self.rounds) if self.V is None else self.V

    @property
    def contraction(self) -> float:
        """ρ, 1 - 1/√T unless given; a single round would give 0, so it counts as two."""
        return 1 - 1 / math.sqrt(max(self.rounds, 2)) if self.rho is None else self.rho

    @property
    def clients(self) -> int:
        """M."""
        return len(self.buffers)

    @property
    def runs(self) -> int:
        """Policies times replicates: run p·seeds + s is policy p with replicate s."""
        return len(self.policies) * self.seeds

    def mixing(self, first: int, last: int) -> NDArray[np.float64]:
        """The weight of the second part of a drifting population in P(t), in these rounds.

        >>> Study(drift=Drift(kind="gradual", length=4)).mixing(1, 3).tolist()
        [0.0, 0.25, 0.5]
        """
        alpha = np.array(self.alpha or [1.0] * self.clients)
        return np.asarray((self.drift.weights(first, last, self.clients) * alpha).sum(axis=1) / alpha.sum())

    @property
    def task(self) -> str:
        """The learning task, in words."""
        binary = self.labels == "parity"
        kind = "odd against even classes" if binary else "all classes"
        if self.model != "logistic":
            return f"{self.dataset}: {kind}, model {self.model}"
        return f"{self.dataset}: {kind}, {'binary' if binary else 'multinomial'} logistic regression"

    @property
    def departures(self) -> tuple[str, ...]:
        """Hypotheses of the corrected Theorem 1 that this study violates."""
        equal = self.alpha is None or self.weights == "samples" or len(set(self.alpha)) == 1
        found = {
            "the model is not known to have a convex loss": self.model != "logistic",
            "the server does not project onto a ball": self.radius is None,
            "clients draw from different distributions": self.partition != "iid",
            "samples are drawn without replacement": not self.replacement,
            "the population moves, and the mismatch's factors are of one population": self.drift.mixes,
            "samples come in their own order and are their own test, and a test set is not looked at": self.drift.kind
            == "order",
            "local descent has momentum": self.momentum > 0,
            "the server adds up information, and the bound is one of local descent": self.learner
            != "descent",
            "clients are not weighted by n_m/n": not equal,
            "steps get smaller": self.decays,
            "the model is a mean, and the bound one of last iterates": self.averages,
        }
        return tuple(reason for reason, holds in found.items() if holds)

    @property
    def bound_applies(self) -> bool:
        """Theorem 1 covers this learner: last iterates, steps of one size, and one population."""
        plain = self.decay is None and self.average == "none" and self.learner == "descent"
        return plain and self.drift.kind == "none"

    @property
    def decays(self) -> bool:
        """Some policy's steps get smaller."""
        return any(self.of_policy(name).decay is not None for name in self.policies)

    @property
    def averages(self) -> bool:
        """The server keeps a mean of models for some policy."""
        return any(self.of_policy(name).average != "none" for name in self.policies)

    def swept(self, *sweeps: str) -> Self:
        """The study with every policy in variants: one for each combination of the swept values.

        >>> Study(policies=("constant", "oracle")).swept("K=1,5").policies
        ('constant@K=1', 'constant@K=5', 'oracle')
        """
        return replace(self, policies=tuple(swept(self.policies, sweeps))) if sweeps else self

    def of_policy(self, name: str) -> Self:
        """The study as one of its policies sees it: a variant's own settings in place of the common ones.

        >>> Study(K=3).of_policy("hybrid@K=7").hybrid_K, Study(K=3).of_policy("constant").K
        (7, 3)
        """
        own = self._own(name)
        return replace(self, **own) if own else self

    def _own(self, name: str) -> dict[str, Any]:
        """A variant's own settings, as settings of a study."""
        own = dict(PolicyName(name).own)
        if "K" in own:
            own |= dict.fromkeys(("hybrid_K", "released_K", "burst_K"), own["K"])
        if own.get("average", self.average) != self.average:
            own = {"average_by": None} | own
        if "decay" in own and own["decay"] is None:
            own["decay_by"] = "rounds"
        return own

    def constants_of(self, name: str, constants: Constants) -> Constants:
        """The theory's constants, given for the study's own E and η, for those of one of its policies."""
        own = self.of_policy(name)
        if (own.eta, own.steps) == (self.eta, self.steps):
            return constants
        return replace(constants, eta=own.eta, E=own.steps)

    def theory_budget(self, mean_cost: Fraction) -> Budget:
        """The budgets as `theory.design.offline` takes them, exact; prices have this mean unless another is assumed."""
        mean = mean_cost if self.assumed_mean_cost is None else Fraction(str(self.assumed_mean_cost))
        return Budget(buffers=self.buffers, cost=Fraction(str(self.budget)), mean_cost=mean)

    def document(self) -> dict[str, Any]:
        """Plain JSON values, the inverse of `from_document`."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        plain = {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}
        return {
            name: {f.name: getattr(v, f.name) for f in fields(v)} if is_dataclass(v) else v
            for name, v in plain.items()
        }

    def differences(self, other: Self) -> dict[str, tuple[Any, Any]]:
        """Settings in which another study differs, with both values.

        >>> Study().differences(Study(rounds=7, per_seed=("start",)))
        {'rounds': (500, 7), 'per_seed': ([], ['start'])}
        """
        mine, others = self.document(), other.document()
        return {name: (mine[name], value) for name, value in others.items() if value != mine[name]}

    @classmethod
    def from_document(cls, document: Mapping[str, Any], base: Self | None = None) -> Self:
        """The study with these settings in place of those of `base`; an unknown key is an error.

        >>> Study.from_document({"round": 5})
        Traceback (most recent call last):
        ...
        theory.setting.SettingError: unknown setting 'round': did you mean 'rounds'?
        """
        start = cls() if base is None else base
        given = dict(_known(document, [f.name for f in fields(cls)], ""))
        if given.get("learner") == "information":
            given = {**DESCENT, "model": start.model, "decay_by": "rounds", "average_by": None} | given
        for name, value in given.items():
            table = getattr(start, name)
            if is_dataclass(table) and isinstance(value, Mapping):
                own = _known(value, [f.name for f in fields(table)], f"{name}.")
                given[name] = replace(table, **own)  # type: ignore[type-var]
        return replace(start, **given)


def _known(given: Mapping[str, Any], known: list[str], prefix: str) -> Mapping[str, Any]:
    for key in given:
        if key not in known:
            near = get_close_matches(str(key), known, n=1)
            hint = f"did you mean {prefix + near[0]!r}?" if near else f"known are {', '.join(known)}"
            raise SettingError(f"unknown setting {prefix + str(key)!r}: {hint}")
    return given
