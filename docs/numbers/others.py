"""Numbers of predictions, bounds, plans and the federation."""

from __future__ import annotations

import importlib
import json
import math
import re
from typing import Any

from docs.numbers.results import ROOT, result, span, table
from theory.design.offline import design
from theory.setting import Budget, Constants

PREDICTED = "prediction-digits-500"


def modules(package: str) -> str:
    """The table of modules in a package's docstring."""
    found = re.search(r"(?m)(^\|.*\|\n?)+", importlib.import_module(package).__doc__ or "")
    assert found, package
    return found[0].rstrip()


def _rows(name: str, key: str) -> dict[str, float]:
    return {policy: row[key] for policy, row in result(name)["policies"].items()}


def _on_the_digits() -> list[tuple[str, float]]:
    """Policies and predicted over measured cumulative risk in both records of the paper's learner."""
    again = result("accuracy")["studies"]["digits, the paper's learner"]["policies"].items()
    ratios = ((name, row["cumulative"]["predicted"] / row["cumulative"]["measured"]) for name, row in again)
    return [*_rows(PREDICTED, "predicted_over_measured").items(), *ratios]


def prediction_off() -> float:
    """Largest deviation of predicted from measured cumulative risk on the digits, in per cent."""
    return max(100 * abs(ratio - 1) for _, ratio in _on_the_digits())


def policies_predicted() -> int:
    """Number of policies in these records."""
    return len({name for name, _ in _on_the_digits()})


def prediction_ratios() -> str:
    """Range of predicted over measured cumulative risk on the digits."""
    return span(_rows(PREDICTED, "predicted_over_measured").values())


def bound_ratios(but: str = "") -> str:
    """Range of Theorem 1 corrected over measured risk, to hundreds."""
    rows = _rows("stability-digits-500", "corrected_over_measured").items()
    return span((round(ratio, -2) for policy, ratio in rows if policy != but), ",.0f")


def stability(policy: str = "") -> str:
    """The bound by stability over measured risk: of one policy, or the range over those that replace samples."""
    rows = _rows("stability-digits-500", "stability_over_measured")
    return f"{rows[policy]:.0f}" if policy else span((v for p, v in rows.items() if p != "hybrid"), ".0f")


def constant_share() -> str:
    """Share of ηEG²/2 in the bound by stability, in per cent, where samples are replaced."""
    rows = _rows("stability-digits-500", "constant_share").items()
    return span((100 * value for policy, value in rows if policy != "hybrid"), ".0f")


def above_oracle() -> str:
    """Predicted over measured difference between policies and the oracle."""
    rows = result(PREDICTED)["policies"]
    measured = {name: row["cumulative_excess_risk"]["mean"] for name, row in rows.items()}
    predicted = {name: row["predicted_over_measured"] * measured[name] for name, row in rows.items()}
    others = [name for name in rows if name != "oracle"]
    return span(
        (predicted[name] - predicted["oracle"]) / (measured[name] - measured["oracle"]) for name in others
    )


def plan(rounds: int) -> dict[str, Any]:
    """The recorded search by prediction, and what its choice came to when it was trained."""
    record = result(f"design-digits-{rounds}")
    final = record["trained"]["final_excess_risk"]
    least, tried = record["design"]["lower_bound"]["final_excess_risk"], len(record["design"]["tried"])
    over = {"over_bound": final["mean"] / least, "over_bound_error": final["error"] / least}
    return record | over | {"tried": tried}


def planned_in_the_notebook() -> tuple[str, str]:
    """The K of the bound for 200 rounds and that of the law, as the planning notebook prints them."""
    path = ROOT / "docs" / "notebooks" / "planning-from-a-pilot.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    printed = "".join("".join(out.get("text", "")) for cell in cells for out in cell.get("outputs", ()))
    bound = re.search(r"T = 200: K = (\d+)", printed)
    tried = re.findall(r"(?m)^ ?(\d+) +[\d.]+ +([\d.]+)$", printed)
    assert bound
    return bound[1], min(tried, key=lambda one: float(one[1]))[0]


def prediction_times() -> str:
    """Seconds of predictions and of the training that they predict, on MNIST."""
    rows = []
    for case in result("prediction-mnist-300")["cases"]:
        seconds = [case[key] for key in ("prediction", "data_and_constants", "training")]
        labels = "odd against even" if case["labels"] == "parity" else "ten classes"
        asked = ["six" if case["all"] else "constant", "risk" if case["risk_alone"] else "all"]
        shown = (f"{one:,.0f}" if one >= 100 else f"{one:.1f}" for one in seconds)
        rows.append([labels, *asked, *shown, f"{100 * sum(seconds[:2]) / seconds[2]:.0f} %"])
    head = ["labels", "policies", "measured", "prediction", "data and constants", "training"]
    return table([*head, "the first two over training"], rows)


def sums() -> str:
    """Bytes of a round's sums that move all models, beside those of a sample."""
    from empirics.training.client_sums import SumServer
    from empirics.training.information import STEPS
    from empirics.training.questions import Question, shapes_of

    def kilobytes(*questions: Question) -> float:
        shapes = [shape for one in questions for shape in shapes_of(one, features).values()]
        return sum(math.prod(shape) for shape in shapes) * 8 / 1000

    rows = []
    for inputs, classes in ((20, 4), (64, 10), (784, 10)):
        features = inputs + 1
        server = SumServer(features, classes)
        server.began = True
        dropped, *others = server.questions()
        models = others[-1].models
        step = Question("held", (), models, 0, models, ("gradients",))
        last = Question("held", (), models, 0, models)
        held = kilobytes(*others, *[step] * (STEPS - 1), last)
        sample, gone = features * 8 / 1000, kilobytes(dropped)
        samples = f"{held / sample:,.0f}", f"{gone / sample:,.0f}"
        rows.append([f"{inputs}, {classes}", f"{sample:.2g}", f"{held:,.0f}", f"{gone:,.0f}", *samples])
    heads = ["features, classes", "kB per sample", "all samples held", "dropped samples"]
    return table([*heads, "the first in samples", "the second"], rows)


def federation() -> str:
    """Times of a round of a federation."""
    rows = [
        [
            f"{case['clients']}, {case['kind']}",
            f"{case['acdpp_s']:.3g}",
            f"{case['fedavg_s']:.3g}",
            f"{case['acdpp_s'] / case['fedavg_s']:.2f}",
            f"{case['acdpp_kB']:.0f}",
            f"{case['fedavg_kB']:.0f}",
            f"{case['books_ms']:.0f} ms",
            f"{case['batched_ms']:.1f} ms",
        ]
        for case in result("federation")["cases"]
    ]
    head = ["clients", "seconds per round", "FedAvg", "ratio", "kB per round", "FedAvg"]
    return table([*head, "server's own work", "batched engine"], rows)


def _processes() -> list[dict[str, Any]]:
    return [case for case in result("federation")["cases"] if case["kind"] == "processes"]


def server_share() -> str:
    """The server's own work as a share of a round of processes, in per cent."""
    return span(case["books_ms"] / 10 / case["acdpp_s"] for case in _processes())


def longer_than_fedavg() -> str:
    """The extra time of a round of processes over FedAvg's, in per cent."""
    return span((100 * (case["acdpp_s"] / case["fedavg_s"] - 1) for case in _processes()), ".0f")


def designed(rounds: int) -> int:
    """The K of the bound for three small buffers and this many rounds, with the command's constants."""
    budget = Budget(buffers=(8, 9, 10), cost=15, mean_cost=5.5)
    return design(budget, rounds, Constants(D=1, sigma=1, eta=0.1, B=1, Pdim=5)).K
