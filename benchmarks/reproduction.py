"""The tables of `docs/reproduction.md`, from committed results. `python -m benchmarks.reproduction` renews them.

Each table stands between two comments with its name; whatever else is on the page stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from theory.paper import SECTION7

__all__ = ["PAGE", "TABLES", "renewed"]

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "reproduction.md"
STUDIES = (
    "mnist-paper",
    "mnist-trained",
    "mnist-released",
    "mnist-released-300",
    "cifar10-paper",
    "cifar10-paper-400",
    "cifar10-released",
    "imagenette-paper",
    "imagenette-released",
)
NAMES = {"mnist": "MNIST", "cifar10": "CIFAR-10", "imagenette": "ImageNette"}
LENET = {"why-mnist-lenet": ("paper",), "why-mnist-lenet-worlds": ("momentum", "readmitted", "prices")}
FILLED = "benchmarks.buying:Filled.of"
LABELS = {
    FILLED: "constant, memory filled in round 1",
    f"{FILLED}@budget=81.55": "the same, may spend 81.55",
    "constant@budget=81.55": "constant, may spend 81.55",
}

Document = dict[str, Any]


def study(name: str) -> Document | None:
    """A committed result, if there is one."""
    places = (
        ROOT / "proofs_check" / "experiments" / f"{name}.json",
        ROOT / "docs" / "results" / f"{name}.json",
    )
    found = next((place for place in places if place.is_file()), None)
    return None if found is None else json.loads(found.read_text(encoding="utf-8"))


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _percent(value: Document) -> str:
    half = "" if value["low"] is None else f" ± {50 * (value['high'] - value['low']):.1f}"
    return f"{100 * value['mean']:.1f}{half}"


def points(value: Document) -> str:
    """A gain in points with half of its interval."""
    half = "" if value["low"] is None else f" ± {(value['high'] - value['low']) / 2:.1f}"
    return f"{value['mean']:+.1f}{half}"


def _first(row: Document, document: Document) -> str:
    found = row["first_round"]
    when = "never" if found["mean_curve"] is None else str(found["mean_curve"])
    return f"{when} ({found['reached']}/{document['seeds']})"


def _head(document: Document) -> str:
    part = "" if document["data"]["complete"] else ", subset"
    long = "" if document["rounds"] == 100 else f", {document['rounds']} rounds"
    few = "" if document["seeds"] == 10 else f", {document['seeds']} seeds"
    eta, stated = document["study"]["eta"], float(SECTION7[document["dataset"]].eta)
    other = "" if eta == stated else f", η = {eta:g}"
    return f"{NAMES[document['dataset']]}, {document['setting']}{other}{part}{long}{few}"


def policies() -> str:
    """Every policy of every study."""
    rows = []
    for document in filter(None, map(study, STUDIES)):
        for name, row in document["policies"].items():
            held = row["occupancy"]
            rows.append(
                [
                    _head(document),
                    name,
                    _percent(row["best_accuracy"]),
                    _percent(row["mean_accuracy"]),
                    _first(row, document),
                    f"{row['mean_cost']['mean']:.1f} of {document['study']['budget']:g}",
                    f"{held['largest']} of {held['buffers']}",
                ]
            )
    head = ["study", "policy", "best", "averaged", "to target", "cost per round", "most held"]
    return _table(head, rows)


def gaps() -> str:
    """The paper's numbers beside ours."""
    rows = []
    for document in filter(None, map(study, STUDIES)):
        for policy in ("acdpp", "released", "buy-cheap-online"):
            for other in ("constant", "hybrid"):
                found = document["comparisons"].get(policy, {}).get(other)
                if found is None:
                    continue
                said = document["paper"]
                fast = said["speed_up"][other]
                ours = found["speed_up"]
                rows.append(
                    [
                        _head(document),
                        f"{policy} − {other}",
                        f"{said['points'][other]:+.1f}",
                        points(found["points"]),
                        points(found["points_averaged"]),
                        "never" if fast is None else f"{fast:g}",
                        "–" if ours is None else f"{ours:.2f}",
                        f"{found['cost_ratio']:.2f}",
                    ]
                )
    head = ["study", "gap", "paper", "at the end", "averaged", "paper ×", "ours ×", "cost ÷"]
    return _table(head, rows)


def horizons() -> str:
    """What the released rule has gained over constant admission by so many rounds, of the longest study."""
    document = study("mnist-released-300")
    assert document is not None
    mine, other = (document["policies"][name]["current_best"]["mean"] for name in ("released", "constant"))
    gains = [100 * (a - b) for a, b in zip(mine, other, strict=True)]
    rows = [
        [str(T), f"{gains[T]:+.1f}", f"{sum(gains[1 : T + 1]) / T:+.1f}"]
        for T in (25, 50, 100, 150, 200, 300)
    ]
    return _table(["rounds", "at the end", "averaged"], rows)


def worlds(chosen: Mapping[str, tuple[str, ...]]) -> Document:
    """The chosen worlds of several results; all of a result where none is named."""
    found: Document = {}
    for name, some in chosen.items():
        document = study(name)
        assert document is not None
        found |= {world: document["worlds"][world] for world in some or document["worlds"]}
    return found


def ladder(chosen: Mapping[str, tuple[str, ...]]) -> Callable[[], str]:
    """What every departure gains over constant admission."""

    def table() -> str:
        rows = []
        for world, one in worlds(chosen).items():
            for policy, row in one["policies"].items():
                if policy != "constant":
                    rows.append(
                        [
                            world,
                            f"`{policy}`",
                            points(row["points"]),
                            points(row["points_averaged"]),
                            f"{row['mean_cost']['mean']:.1f}",
                            str(row["largest_occupancy"]),
                        ]
                    )
        return _table(["world", "policy", "at the end", "averaged", "cost per round", "most held"], rows)

    return table


def parts() -> str:
    """Where the gain of the released rule comes from."""
    document = study("why-mnist-filled")
    assert document is not None
    rows = []
    for name, row in document["policies"].items():
        if name == "constant":
            continue
        found = document["comparisons"][name]["constant"]
        cells = [points(found["points"]), points(found["points_averaged"])]
        cost, held = row["mean_cost"]["mean"], row["occupancy"]["largest"]
        rows.append([LABELS.get(name, f"`{name}`"), *cells, f"{cost:.1f}", str(held)])
    return _table(["policy", "at the end", "averaged", "cost per round", "most held"], rows)


def literal() -> str:
    """The printed policy and the capped one for several ρ."""
    document = study("mnist-rho")
    assert document is not None
    rows = []
    for name, row in document["policies"].items():
        held, spent = row["occupancy"], row["cost"]["mean"]
        gain = document["comparisons"].get(name, {}).get("constant")
        rows.append(
            [
                f"`{name}`",
                f"{held['mean'][0]:,.0f}",
                f"{held['largest']:,}",
                f"{spent[0]:,.0f}",
                f"{row['mean_cost']['mean']:.1f}",
                f"{row['debt']['largest']:,.0f}",
                _percent(row["best_accuracy"]),
                "" if gain is None else points(gain["points"]),
                "" if gain is None else points(gain["points_averaged"]),
            ]
        )
    head = [
        "policy",
        "admitted in round 1",
        "most held",
        "cost of round 1",
        "cost per round",
        "largest debt",
        "best",
    ]
    return _table([*head, "at the end", "averaged"], rows)


def speed() -> str:
    """What a step takes, one way and another."""
    rows = [
        [
            f"{document['side']} × {document['side']}",
            name,
            str(case["runs"]),
            f"{1e3 * case['step_s']:.1f}",
            f"{case['tflops']:.0f}",
            f"{100 * case['tflops'] / document['ceiling_tflops']:.0f} %",
            f"{1e3 * case['run_round_s']:.0f}",
        ]
        for document in filter(None, map(study, ("networks-32", "networks-160")))
        for name, case in document["cases"].items()
    ]
    head = [
        "images",
        "how",
        "runs at once",
        "ms a step",
        "TFLOP/s",
        "of the card's product",
        "ms a run-round",
    ]
    return _table(head, rows)


TABLES: dict[str, Callable[[], str]] = {
    "policies": policies,
    "gaps": gaps,
    "horizons": horizons,
    "ladder, logistic": ladder({"why-mnist-logistic": ()}),
    "ladder, LeNet": ladder(LENET),
    "ladder, CIFAR-10": ladder({"why-cifar10": ()}),
    "parts": parts,
    "literal": literal,
    "speed": speed,
}


def renewed(page: str) -> str:
    """The page with all its tables as the results have them; every table has to have its place."""
    for name, table in TABLES.items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        found = re.search(f"{re.escape(begin)}.*?{re.escape(end)}", page, re.DOTALL)
        if found is None:
            raise ValueError(f"the page needs the lines {begin} and {end}")
        page = page[: found.start()] + f"{begin}\n{table()}\n{end}" + page[found.end() :]
    return page


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
