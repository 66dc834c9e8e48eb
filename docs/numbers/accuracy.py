"""Predictions against measurements over learners and data sets, and how often notes on them were right."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from benchmarks import own_data as settings_chosen
from docs.numbers.results import result, span, table
from empirics.settings.policy_name import PolicyName

__all__ = ["counted", "later", "law", "law_off", "noted", "notes", "off", "ranges", "ratio", "runs"]

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
    return bool(abs(ratio(run, risk) - 1) > max(OFF, ERRORS * run[risk].get("error", 0.0)))


def later(run: Run) -> bool:
    """True for the studies that were chosen when the note on several steps was known."""
    name: str = run["study"]
    return name in list(result("accuracy")["studies"])[-7:]


def counted(new: bool, risk: str = "cumulative") -> str:
    """Runs without a note whose predicted risk was off, of the later studies or of those before."""
    return _off_of((run for run in runs() if later(run) is new and not run["warned"]), risk)


def without_error() -> str:
    """Runs that record no standard error whose predicted final risk was off."""
    return _off_of((run for run in runs() if "error" not in run["final"]), "final")


def _off_of(some: Iterable[Run], risk: str) -> str:
    each = [off(run, risk) for run in some]
    return f"{sum(each)} of {len(each)}"


def ranges(risk: str, noted: bool = False) -> str:
    """Range of predicted over measured risk where no note was printed, or where one was."""
    return span(ratio(run, risk) for run in runs() if bool(run["warned"]) is noted)


def notes() -> str:
    """How often a prediction was off where a note was printed and elsewhere."""
    rules: list[tuple[str, str, str, Callable[[Run], bool]]] = [
        ("several steps beyond 2/λ, studies before", "steep", "cumulative", lambda run: not later(run)),
        ("several steps beyond 2/λ, seven later studies", "steep", "cumulative", later),
        ("without replacement, means of models", "again", "final", lambda run: "replacement" in run["study"]),
    ]
    rows = []
    for words, note, risk, among in rules:
        some = [run for run in runs() if among(run)]
        parts = ([run for run in some if (note in run["warned"]) is one] for one in (True, False))
        rows.append([words, risk, *(_off_of(part, risk) for part in parts)])
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


def noted() -> str:
    """Ranges over the policies of each study in which a note was printed."""
    rows = []
    for name, one in result("accuracy")["studies"].items():
        each = [row | {"study": name} for row in one["policies"].values()]
        if any(row["warned"] for row in each):
            spans = (span(ratio(row, risk) for row in each) for risk in ("cumulative", "final"))
            rows.append([name, *spans])
    return table(["study", "cumulative", "final"], rows)
