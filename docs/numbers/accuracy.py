"""Predictions against measurements over learners and data sets, and how often notes on them were right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks import own_data as settings_chosen
from docs.numbers.results import result, span, table
from empirics.settings.policy_name import PolicyName

__all__ = ["counted", "law", "law_off", "notes", "off", "ranges", "ratio", "runs", "studies"]

OFF, ERRORS = 0.1, 2  # a prediction is off by more than this share, and by more than so many standard errors
PREDICTED = ("digits-500", "mnist-1000")  # whose steps are 2/L, far from the limit of the note
Run = dict[str, Any]


def runs() -> list[Run]:
    """Every policy of every recorded study."""
    found = [
        row | {"study": study, "policy": policy}
        for study, one in result("accuracy")["studies"].items()
        for policy, row in one["policies"].items()
    ]
    for study in PREDICTED:
        for prices, one in result(f"learner-predicted-{study}")["studies"].items():
            for name, row in one["policies"].items():
                known = {"study": f"{study}, {prices}", "policy": PolicyName(name).base, "warned": []}
                over = {risk: {"ratio": value} for risk, value in row["over_measured"].items()}
                found.append(known | over | {"fitted": row["fitted"], "L/2": 1.0})
    return found


def ratio(run: Run, risk: str) -> float:
    """Predicted over measured risk, cumulative or final."""
    one = run[risk]
    value: float = one["ratio"] if "ratio" in one else one["predicted"] / one["measured"]
    return value


def off(run: Run, risk: str = "cumulative") -> bool:
    """True if a prediction is off by more than a tenth, significantly."""
    return abs(ratio(run, risk) - 1) > max(OFF, ERRORS * run[risk].get("error", 0.0))


def counted(chosen: Callable[[Run], bool] = lambda run: not run["warned"], risk: str = "cumulative") -> str:
    """Runs whose predicted risk was off, of all that are chosen: by default those without a note."""
    some = [run for run in runs() if chosen(run)]
    return f"{sum(off(run, risk) for run in some)} of {len(some)}"


def ranges(risk: str, noted: bool = False) -> str:
    """Range of predicted over measured risk where no note was printed, or where one was."""
    return span(ratio(run, risk) for run in runs() if bool(run["warned"]) is noted)


def notes() -> str:
    """How often each note was right: those of this version, and those of 0.3.0."""
    unlike = [run for run in runs() if "replacement" in run["study"]]
    rules: list[tuple[str, str, Callable[[Run], bool], list[Run]]] = [
        ("several steps beyond 2/λ", "cumulative", lambda run: "steep" in run["warned"], runs()),
        ("without replacement, means of models", "final", lambda run: "again" in run["warned"], unlike),
        ("0.3.0: a step of 2/L or more", "cumulative", lambda run: run["L/2"] >= 1, runs()),
        ("0.3.0: over 80 % of a residual fitted", "cumulative", lambda run: run["fitted"] > 0.8, runs()),
        ("0.3.0: without replacement", "cumulative", lambda run: True, unlike),
    ]
    rows = []
    for words, risk, printed, among in rules:
        parts = ([run for run in among if printed(run) is one] for one in (True, False))
        counts = (f"{sum(off(run, risk) for run in part)} of {len(part)}" for part in parts)
        rows.append([words, risk, *counts])
    return table(["note", "risk", "off where printed", "off elsewhere"], rows)


LAW = ("acdpp", "constant", "oracle", "hybrid")
LEARNERS = {
    "digits, the paper's learner": "digits, binary, η = 0.5, E = 10",
    "digits, η = 4, E = 1": "digits, binary, η = 4, E = 1",
}


def _law() -> dict[str, dict[str, Run]]:
    """Studies of last iterates in 500 rounds of digits and 1,000 rounds of MNIST."""
    digits = {words: result("accuracy")["studies"][name] for name, words in LEARNERS.items()}
    return {name: one["policies"] for name, one in (digits | result("law-mnist-1000")["studies"]).items()}


def law() -> str:
    """Predicted over measured cumulative risk with last iterates, ± its standard error."""

    def cell(run: Run) -> str:
        found = run["cumulative"]
        if found["predicted"] < 0:
            return "predicted below 0"
        return f"{ratio(run, 'cumulative'):.3f} ± {found['error']:.3f}"

    rows = [[name, *(cell(policies[policy]) for policy in LAW)] for name, policies in _law().items()]
    return table(["study", *LAW], rows)


def law_off(data: str) -> float:
    """Largest deviation of these predictions on digits or MNIST, in per cent, raw pixels left out."""
    some = [one for name, one in _law().items() if name.startswith(data) and "raw pixels" not in name]
    return max(100 * abs(ratio(one[policy], "cumulative") - 1) for one in some for policy in LAW)


NAMES_SHOWN = {
    "breast cancer": "breast cancer",
    "wine": "wine",
    **{name: f"{name} (made up)" for name in ("heavy tails", "loans", "sensors")},
}


def other_data() -> str:
    """Measured cumulative risk on data for which nothing was tuned, by policy and learner."""
    found = result("accuracy")["studies"]
    kinds = {
        "our learner": ("taper-online", "buy-cheap-online", "constant", "oracle"),
        "last iterates": ("constant", "oracle"),
    }
    data = [
        name.partition(",")[0] for name in found if name.endswith(", our learner") and "digits" not in name
    ]

    def shown(name: str, policy: str) -> str:
        return f"{found[name]['policies'][policy]['cumulative']['measured']:.3g}" if name in found else "–"

    heads = [
        policy if kind == "our learner" else f"{policy}, {kind}"
        for kind, names in kinds.items()
        for policy in names
    ]
    rows = [
        [
            NAMES_SHOWN[one],
            *(shown(f"{one}, {kind}", policy) for kind, names in kinds.items() for policy in names),
        ]
        for one in data
    ]
    return table(["data", *heads], rows)


def own_data() -> str:
    """Accuracy with and without the settings that a pilot chooses."""
    return settings_chosen.table(result("own-data"))


def policies() -> int:
    """Number of runs of the benchmark."""
    return sum(len(one["policies"]) for one in result("accuracy")["studies"].values())


def studies() -> str:
    """Ranges over the policies of each study."""
    rows = []
    for name, one in result("accuracy")["studies"].items():
        each = [row | {"study": name} for row in one["policies"].values()]
        spans = (span(ratio(row, risk) for row in each) for risk in ("cumulative", "final"))
        errors = max(row["final"]["error"] for row in each)
        noted = sum(bool(row["warned"]) for row in each)
        rows.append([name, f"{one['eta']:g}", *spans, f"{errors:.2f}", f"{noted} of {len(each)}"])
    return table(["study", "η", "cumulative", "final", "its error, at most", "notes"], rows)
