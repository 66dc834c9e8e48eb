"""A study: everything that decides its numbers, in one frozen dataclass that can be read from TOML and saved.

Three presets. `digits`: small enough for any machine, and inside the hypotheses of the corrected Theorem 1 (one
distribution, convex loss, projection), so that its measured excess risk may be set against the bound. `paper`: the
paper's MNIST experiment as its text describes it, with logistic regression for the model. `released`: the same as
the authors' code runs it. Where the paper names no value (V, ρ, the constants), ours are its remark's
γ = φ = 1/2: V = √T and ρ = 1 - 1/√T.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

from empirics.draws import check_seed
from empirics.settings.costs import CostProcess
from theory.setting import Budget, SettingError, horizon, positive, retention

__all__ = ["POLICIES", "PRESETS", "Study", "read_toml"]

POLICIES = ("acdpp", "acdpp-capped", "constant", "oracle", "hybrid", "released")
CHOICES = {
    "dataset": ("digits", "mnist", "cifar10", "imagenette"),
    "labels": ("parity", "classes"),
    "scale": ("unit", "pixels"),
    "partition": ("iid", "split", "two-class", "dirichlet"),
    "weights": ("paper", "samples"),
    "dtype": ("float64", "float32"),
}
OPTIONAL = ("per_class", "alpha", "assumed_mean_cost", "K", "hybrid_K", "rate", "radius", "threads")
LISTS = {"buffers": "8, 9, 10", "alpha": "0.5, 0.5", "policies": '"acdpp", "oracle"', "measures": '"risk"'}
MEASURES = ("risk", "mismatch", "accuracy")
UNIFORM = CostProcess()
BUFFERS = (8, 9, 10, 11, 12, 8, 9, 10, 11, 12)


@dataclass(frozen=True, kw_only=True)
class Study:
    """Settings of a study; see `README.md` for what each one means.

    `labels`: parity (odd against even class numbers, binary) or classes. `scale`: unit (every feature vector, bias
    included, scaled to norm at most 1) or pixels. `partition`: iid (every client draws from the whole population),
    split (an even random split), two-class (client m holds classes m and m+1) or dirichlet; `per_class` keeps that many
    samples of each class a client holds. `weights`: paper (α_m n_m) or samples (n_m). `radius`: the server projects
    onto that ball; without one it doesn't, and the constants are nominal. `K`, `rate`: retention and target rate of the
    DPP policies, by default Corollary 2's. `threads`: of torch on the CPU, none for its own choice; one is fastest for
    small problems, and a fixed number fixes the last bits of the results.

    >>> Study(rounds=400).V, Study(rounds=400).rho
    (20.0, 0.95)
    """

    preset: str = "digits"
    dataset: str = "digits"
    labels: str = "parity"
    scale: str = "unit"
    partition: str = "iid"
    concentration: float = 0.5
    per_class: int | None = None
    replacement: bool = True
    buffers: tuple[int, ...] = BUFFERS
    alpha: tuple[float, ...] | None = None
    budget: float = 55
    cost: CostProcess = UNIFORM
    assumed_mean_cost: float | None = None
    policies: tuple[str, ...] = ("acdpp", "acdpp-capped", "constant", "oracle", "hybrid")
    K: int | None = None
    hybrid_K: int | None = None
    released_K: int = 6
    rate: float | None = None
    V: float = math.nan
    rho: float = math.nan
    rounds: int = 500
    seeds: int = 10
    seed: int = 0
    steps: int = 10
    eta: float = 0.5
    momentum: float = 0.0
    weights: str = "paper"
    radius: float | None = 10.0
    measures: tuple[str, ...] = MEASURES
    dtype: str = "float64"
    checkpoint: int = 100
    threads: int | None = 1

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise SettingError(f"{name} must be one of {', '.join(allowed)}, got {getattr(self, name)!r}")
        for name, allowed in {"policies": POLICIES, "measures": MEASURES}.items():
            chosen = tuple(getattr(self, name))
            object.__setattr__(self, name, chosen)
            unknown = [entry for entry in chosen if entry not in allowed]
            if unknown or len(set(chosen)) < len(chosen) or (name == "policies" and not chosen):
                raise SettingError(
                    f"{name} must be different ones of {', '.join(allowed)}, got {', '.join(chosen)}"
                )
        horizon(self.rounds)
        check_seed(self.seed)
        for name in ("seeds", "steps", "checkpoint"):
            if type(getattr(self, name)) is not int or getattr(self, name) < 1:
                raise SettingError(
                    f"{name} must be a whole number of at least 1, got {getattr(self, name)!r}"
                )
        object.__setattr__(self, "buffers", tuple(self.buffers))
        if not self.buffers or not all(type(size) is int and size >= 1 for size in self.buffers):
            raise SettingError(
                f"buffers must be whole numbers of at least 1, such as 8, 9, 10, got {self.buffers!r}"
            )
        for name in ("budget", "eta", "concentration"):
            positive(name, getattr(self, name))
        for name in ("radius", "rate", "assumed_mean_cost"):
            if getattr(self, name) is not None:
                positive(name, getattr(self, name))
        for name in ("K", "hybrid_K", "released_K"):
            if getattr(self, name) is not None:
                retention(getattr(self, name))
        if self.threads is not None and (type(self.threads) is not int or self.threads < 1):
            raise SettingError(f"threads must be a whole number of at least 1, got {self.threads!r}")
        if self.per_class is not None and (type(self.per_class) is not int or self.per_class < 1):
            raise SettingError(
                f"per_class must be a whole number of at least 1, such as 500, got {self.per_class!r}"
            )
        if type(self.replacement) is not bool:
            raise SettingError(f"replacement must be true or false, got {self.replacement!r}")
        if not 0 <= self.momentum < 1:
            raise SettingError(f"momentum must lie in [0, 1), such as 0.9, got {self.momentum!r}")
        self._derive()

    def _derive(self) -> None:
        if self.alpha is not None:
            object.__setattr__(self, "alpha", tuple(self.alpha))
            fits = len(self.alpha) == self.clients and all(a >= 0 for a in self.alpha)
            if not fits or abs(sum(self.alpha) - 1) > 1e-9:
                raise SettingError("alpha must give each client a weight of at least 0, with sum 1")
        # a single round would give ρ = 0
        defaults = {"V": math.sqrt(self.rounds), "rho": 1 - 1 / math.sqrt(max(self.rounds, 2))}
        for name, value in defaults.items():
            if isinstance(getattr(self, name), float) and math.isnan(getattr(self, name)):
                object.__setattr__(self, name, value)
        positive("V", self.V)
        if not 0 < self.rho < 1:
            raise SettingError(f"rho must lie strictly between 0 and 1, such as 0.99, got {self.rho!r}")

    @property
    def clients(self) -> int:
        """M."""
        return len(self.buffers)

    @property
    def runs(self) -> int:
        """Policies times replicates: run p·seeds + s is policy p with replicate s."""
        return len(self.policies) * self.seeds

    @property
    def departures(self) -> tuple[str, ...]:
        """What of this study lies outside the hypotheses of the corrected Theorem 1."""
        equal = self.alpha is None or self.weights == "samples" or len(set(self.alpha)) == 1
        found = {
            "the server does not project onto a ball": self.radius is None,
            "clients draw from different distributions": self.partition != "iid",
            "samples are drawn without replacement": not self.replacement,
            "local descent has momentum": self.momentum > 0,
            "clients are not weighted by n_m/n": not equal,
        }
        return tuple(reason for reason, holds in found.items() if holds)

    @property
    def theory_budget(self) -> Budget:
        """The budgets as `theory.design` takes them, exact."""
        mean = self.cost.mean if self.assumed_mean_cost is None else Fraction(str(self.assumed_mean_cost))
        return Budget(buffers=self.buffers, cost=Fraction(str(self.budget)), mean_cost=mean)

    def document(self) -> dict[str, Any]:
        """Plain JSON values, the inverse of `from_document`."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        values["cost"] = {f.name: getattr(self.cost, f.name) for f in fields(self.cost)}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}

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
        for name, value in given.items():
            if value == "none" and name in OPTIONAL:  # TOML has no null
                given[name] = None
            if name in LISTS and isinstance(value, str | int | float):
                raise SettingError(f"{name} must be a list such as [{LISTS[name]}], got {value!r}")
        if "cost" in given:
            if not isinstance(given["cost"], Mapping):
                raise SettingError(
                    f'cost must be a table such as {{process = "uniform"}}, got {given["cost"]!r}'
                )
            costs = _known(given["cost"], [f.name for f in fields(CostProcess)], "cost.")
            given["cost"] = replace(start.cost, **costs)
        if "rounds" in given and given["rounds"] != start.rounds:
            given = {"V": math.nan, "rho": math.nan} | given  # both follow from the horizon unless given
        try:
            return replace(start, **given)
        except TypeError as error:
            raise SettingError(f"a setting has the wrong type: {error}") from None


def _known(given: Mapping[str, Any], known: list[str], prefix: str) -> Mapping[str, Any]:
    for key in given:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f"did you mean {prefix + near[0]!r}?" if near else f"known are {', '.join(known)}"
            raise SettingError(f"unknown setting {prefix + key!r}: {hint}")
    return given


PRESETS: dict[str, Study] = {
    "digits": Study(),
    "paper": Study(
        preset="paper",
        dataset="mnist",
        labels="classes",
        scale="pixels",
        partition="two-class",
        policies=("acdpp", "constant", "oracle", "hybrid"),
        radius=None,
        rounds=100,
        dtype="float32",
        measures=("accuracy",),
        threads=None,
    ),
    "released": Study(
        preset="released",
        dataset="mnist",
        labels="classes",
        scale="pixels",
        partition="two-class",
        per_class=500,
        replacement=False,
        cost=CostProcess(process="integer"),
        policies=("released", "constant", "oracle", "hybrid"),
        K=10,
        hybrid_K=10,
        released_K=6,
        momentum=0.9,
        weights="samples",
        radius=None,
        rounds=100,
        dtype="float32",
        measures=("accuracy",),
        threads=None,
    ),
}


def read_toml(path: Path, preset: str | None = None) -> Study:
    """The study of a TOML file: its settings in place of those of a preset, the given one or the file's own."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingError(f"cannot read the settings file {str(path)!r} ({error.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(f"{str(path)!r} is not a TOML file: {error}") from None
    own = document.pop("preset", None)
    if own is not None and own not in PRESETS:
        raise SettingError(f"preset must be one of {', '.join(PRESETS)}, got {own!r}")
    if own is not None and preset not in (None, own):
        raise SettingError(f"the settings file is for the preset {own!r}, not for {preset!r}")
    return Study.from_document(document, PRESETS[own or preset or "digits"])
