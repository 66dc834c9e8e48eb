"""Numbers and tables of the learner: means of models, falling steps, tapered bursts."""

from __future__ import annotations

from typing import Any

import numpy as np

from docs.numbers.results import half, result, span, table
from empirics.settings.policy_name import PolicyName
from theory.numbers.student import half_width, quantile

__all__ = [
    "informed",
    "informed_log_loss",
    "informed_over_bound",
    "informed_predicted",
    "over_bound",
    "row",
    "total",
]


LEVEL = 0.95  # of the intervals in these results
FEW = float(quantile(10, LEVEL))  # standard errors of ten seeds


def row(study: str, policy: str, ours: bool = True, prices: str = "uniform") -> dict[str, Any]:
    """Measurements of a policy with our learner, before variants of it, or with the paper's."""
    rows: dict[str, Any] = result(f"learner-{study}")["studies"][prices]["policies"]
    names = ((name, PolicyName(name)) for name in rows)
    first = next(name for name, one in names if one.base == policy and ("average" in one.own) is ours)
    found: dict[str, Any] = rows[first]
    return found


def total(study: str, policy: str, ours: bool = True, prices: str = "uniform") -> float:
    """Mean cumulative excess risk."""
    mean: float = row(study, policy, ours, prices)["cumulative_excess_risk"]["mean"]
    return mean


def total_within(study: str, policy: str, ours: bool = True, prices: str = "uniform") -> str:
    """Cumulative excess risk with its interval."""
    found = row(study, policy, ours, prices)["cumulative_excess_risk"]
    return f"{found['mean']:.3g} ± {half(found):.2g}"


def over_bound(study: str, policy: str, prices: str = "uniform") -> float:
    """Final excess risk over the lower bound."""
    found: float = row(study, policy, prices=prices)["final_over_bound"]
    return found


def over_bound_within(study: str, policy: str, ours: bool = True) -> str:
    """Final excess risk over the lower bound with its interval, of our learner or the paper's."""
    return _over_within(row(study, policy, ours))


def _over_within(found: dict[str, Any]) -> str:
    over, within = found["final_over_bound"], half(found["final_excess_risk"]) / found["bound"]
    digits = ".2f" if over < 10 else ".0f"
    return f"{over:{digits}} ± {within:{digits}}"


def informed(policy: str, learner: str, rounds: int = 500) -> str:
    """Cumulative risk on the digits, by descent or information, with half of a 95 % interval."""
    found = result(f"information-digits-{rounds}")["studies"][learner]["policies"][policy]["cumulative"]
    return f"{found['measured']:.2f} ± {FEW * found['error']:.2f}"


def informed_over_bound(policy: str, learner: str, rounds: int = 500) -> str:
    """Its final risk over the lower bound, likewise."""
    one = result(f"information-digits-{rounds}")["studies"][learner]
    ratio, error = (
        one["policies"][policy]["final"][key] / one["lower_bound"] for key in ("measured", "error")
    )
    return f"{ratio:.2f} ± {FEW * error:.2f}"


def informed_predicted(measure: str) -> str:
    """Range of predicted over measured risk of information on 500 rounds of digits."""
    rows = result("information-digits-500")["studies"]["information"]["policies"].values()
    return span(one[measure]["predicted_over_measured"] for one in rows)


def informed_log_loss() -> float:
    """The most by which the held-out log-loss of a policy is higher with information than with descent, whose tapers
    buy what bursts buy."""
    studies = result("information-digits-500")["studies"]
    own, other = (studies[name]["policies"] for name in ("information", "descent"))
    pairs = ((row, other[policy.replace("burst", "taper")]) for policy, row in own.items())
    return max(one["log_loss"]["measured"] - rest["log_loss"]["measured"] for one, rest in pairs)


def changed(**settings: Any) -> str:
    """Final risk over the lower bound of `taper` on 3,000 rounds of digits with one setting of our learner changed."""
    rows = result("learner-digits-3000")["studies"]["uniform"]["policies"].items()
    wanted = {"eta": 8, "decay": 5, "average": "polynomial", "average_by": 1} | settings
    own = {key: value for key, value in wanted.items() if value is not None}
    names = ((PolicyName(name), found) for name, found in rows)
    (found,) = (found for name, found in names if name.base == "taper" and name.own == own)
    return _over_within(found)


STUDIES = ("digits-500", "digits-3000", "mnist-1000", "mnist-3000")


def alike() -> str:
    """Cumulative excess risk under constant admission and the oracle, which depends on buffers and budget alone."""
    kinds = {"paper's": ("uniform", "integer", "markov", "drifting", "spiky", "narrow"), "tiny": ("tiny",)}
    rows = []
    for study in STUDIES:
        for buffers, prices in kinds.items():
            cells = []
            for policy, ours in ((one, ours) for one in ("constant", "oracle") for ours in (False, True)):
                [found] = {total_within(study, policy, ours, kind) for kind in prices}
                cells.append(found)
            rows.append([study, buffers, *cells])
    return table(["study", "buffers", "constant", "constant, ours", "oracle", "oracle, ours"], rows)


def online() -> str:
    """Cumulative excess risk of `taper-online` with the paper's learner and with ours."""

    def cell(study: str, prices: str) -> str:
        alone, ours = (
            total(study, "taper-online", False, prices),
            total_within(study, "taper-online", True, prices),
        )
        return f"{alone:.3g} → {ours}"

    kinds = result(f"learner-{STUDIES[0]}")["studies"]
    return table(["prices", *STUDIES], ([one, *(cell(study, one) for study in STUDIES)] for one in kinds))


def mean_gains(name: str) -> dict[str, tuple[float, float]]:
    """Points of accuracy by which the mean of models of a network is above the last model, with half an interval."""
    rows = result(f"learner-{name}")["policies"].items()
    keys = ("final_accuracies", "last_final_accuracies")
    apart = {policy: np.subtract(*(100 * np.array(row[key]) for key in keys)) for policy, row in rows}
    return {policy: (float(one.mean()), float(half_width(one, LEVEL))) for policy, one in apart.items()}


def significant_gains(name: str) -> str:
    """Number of policies for which that is significant, of all."""
    gains = mean_gains(name).values()
    return f"{sum(gain > within for gain, within in gains)} of {len(gains)}"


def networks() -> str:
    """Accuracy of the mean of models of both networks, and the points that it gains."""

    def cells(name: str, policy: str) -> list[str]:
        found = result(f"learner-{name}")["policies"].get(policy)
        if found is None:
            return ["–", "–"]
        gain, within = mean_gains(name)[policy]
        return [f"{100 * np.mean(found['final_accuracies']):.1f}", f"{gain:.1f} ± {within:.1f}"]

    policies = result("learner-lenet")["policies"]
    rows = [[one, *cells("lenet", one), *cells("resnet9", one)] for one in policies]
    return table(["policy", "LeNet", "gain", "ResNet-9", "gain"], rows)


def _predicted(study: str, prices: str) -> dict[str, dict[str, float]]:
    rows = result(f"learner-predicted-{study}")["studies"][prices]["policies"]
    return {PolicyName(name).base: row["over_measured"] for name, row in rows.items()}


def predicted(study: str, measure: str, prices: str = "uniform", but: str = "") -> str:
    """Range of predicted over measured risk, with or without one policy."""
    rows = _predicted(study, prices).items()
    return span(over[measure] for policy, over in rows if policy != but)


def predicted_of(study: str, policy: str, measure: str, prices: str = "uniform") -> float:
    """Predicted over measured risk of a policy."""
    return _predicted(study, prices)[policy][measure]


def prediction_seconds() -> str:
    """Processor time of the predictions on MNIST, the survey included."""
    studies = result("learner-predicted-mnist-1000")["studies"].values()
    return span(
        (s["survey_seconds"] + row["seconds"] for s in studies for row in s["policies"].values()), ".0f"
    )
