"""Numbers and tables of the paper's experiments, from committed results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from docs.numbers.results import half, result, span, table
from proofs_check.engines.experiment import confidence, further_runs
from proofs_check.experiments.committed import committed
from proofs_check.experiments.stated import CODE_V
from proofs_check.groundwork.experiments.constraints import OURS, play
from theory.paper import SECTION7

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
RICH = f"{FILLED}@budget=81.55"

Document = dict[str, Any]


def points(value: Document) -> str:
    """A gain in points with half of its interval."""
    width = "" if value["low"] is None else f" ± {half(value):.1f}"
    return f"{value['mean']:+.1f}{width}"


def gain(name: str, policy: str = "acdpp", other: str = "constant", averaged: bool = False) -> str:
    """The gain of a policy over another, in points at the end or averaged over the rounds."""
    found = result(name)["comparisons"][policy][other]
    return points(found["points_averaged" if averaged else "points"]).replace("-", "−")


def behind(name: str, policy: str = "acdpp") -> str:
    """The distance of a policy behind constant admission at the end, without the sign."""
    return gain(name, policy).lstrip("−+")


def best(name: str) -> dict[str, float]:
    """Current best accuracy after the last round in per cent, by policy."""
    return {policy: 100 * row["best_accuracy"]["mean"] for policy, row in result(name)["policies"].items()}


def cost(name: str, policy: str) -> float:
    """Mean cost per round."""
    spent: float = result(name)["policies"][policy]["mean_cost"]["mean"]
    return spent


def held(name: str) -> float:
    """Mean number of samples that the printed policy holds, over rounds and runs."""
    rounds = result(name)["policies"]["acdpp"]["occupancy"]["mean"]
    return float(sum(rounds) / len(rounds))


def held_with_released_weight(data: str) -> float:
    """Mean number of samples that it holds with the released code's V, the policy alone over 500 runs."""
    return float(play(data, CODE_V[data], OURS[1], 0).memory.mean())


def most_held(name: str, policy: str = "acdpp") -> int:
    """Largest number of samples in memory, over rounds and runs."""
    largest: int = result(name)["policies"][policy]["occupancy"]["largest"]
    return largest


def to_target(name: str, policy: str) -> int:
    """Rounds until the mean curve reaches the target accuracy."""
    first: int = result(name)["policies"][policy]["first_round"]["mean_curve"]
    return first


def total(name: str, key: str) -> int:
    """Runs of all policies that reached the target, or that diverged."""
    rows = result(name)["policies"].values()
    return sum(row["first_round"]["reached"] if key == "reached" else row["diverged"] for row in rows)


def further(data: str) -> str:
    """The 98.3 % interval for the mean gain of ten further runs in the text's setting."""
    low, high = further_runs(committed()[data, "paper"].gaps["acdpp"]["constant"].points, 1 - 0.05 / 3)
    return f"{low:+.1f} to {high:+.1f}".replace("-", "−")


def ten_runs_miss() -> float:
    """The largest likely error of the mean of ten runs on MNIST (98.3 %)."""
    gaps = committed()["mnist", "paper"].gaps["acdpp"]["constant"]
    return float(gaps.points.half(1 - 0.05 / 3)) * 10**0.5


def at_most_ahead(averaged: bool = False) -> float:
    """Upper end of the 99.2 % interval for ACDPP over constant admission on MNIST where it learns."""
    ours = committed()["mnist", "trained"].gaps["acdpp"]["constant"]
    return float(confidence(ours.points_averaged if averaged else ours.points, 1 - 0.05 / 12).high)


def world(name: str, which: str, policy: str, averaged: bool = False) -> str:
    """The gain of a policy in one world of a ladder."""
    found = result(name)["worlds"][which]["policies"][policy]
    return points(found["points_averaged" if averaged else "points"]).replace("-", "−")


def filled(policy: str, averaged: bool = False) -> float:
    """Mean gain in the study of filled memories."""
    found = result("why-mnist-filled")["comparisons"][policy]["constant"]
    mean: float = found["points_averaged" if averaged else "points"]["mean"]
    return mean


def early(policy: str) -> float:
    """Share of the money spent in the first 20 of 100 rounds, in per cent."""
    spent = result("why-mnist-filled")["policies"][policy]["cost"]["mean"]
    return float(100 * sum(spent[:20]) / sum(spent))


def lenet_with_momentum() -> str:
    """Range of the policies' final accuracies of LeNet with momentum, in per cent."""
    rows = worlds(LENET)["momentum"]["policies"].values()
    return span((100 * row["best_accuracy"]["mean"] for row in rows), ".0f")


def faster(side: int) -> float:
    """The speed-up of the kernels over one client at a time, per run and round."""
    cases = result(f"networks-{side}")["cases"]
    return float(cases["one client at a time"]["run_round_s"] / cases["kernels, bfloat16"]["run_round_s"])


def _head(document: Document) -> str:
    long = "" if document["rounds"] == 100 else f", {document['rounds']} rounds"
    few = "" if document["seeds"] == 10 else f", {document['seeds']} seeds"
    eta, stated = document["study"]["eta"], float(SECTION7[document["dataset"]].eta)
    other = "" if eta == stated else f", η = {eta:g}"
    return f"{NAMES[document['dataset']]}, {document['setting']}{other}{long}{few}"


def gaps() -> str:
    """Gains over constant admission and hybrid, and the cost over constant admission's."""
    rows = []
    for document in map(result, STUDIES):
        study = _head(document)
        for policy in ("acdpp", "released", "buy-cheap-online"):
            found = document["comparisons"].get(policy, {})
            if "constant" not in found:
                continue
            cells = [
                points(found[other][measure]) if other in found else "–"
                for other in ("constant", "hybrid")
                for measure in ("points", "points_averaged")
            ]
            rows.append([study, policy, *cells, f"{found['constant']['cost_ratio']:.2f}"])
            study = ""
    return table(["study", "policy", "over constant", "averaged", "over hybrid", "averaged", "cost ÷"], rows)


def horizons() -> str:
    """Gains of the released rule over constant admission by the number of rounds, in the longest study."""
    document = result("mnist-released-300")
    mine, other = (document["policies"][name]["current_best"]["mean"] for name in ("released", "constant"))
    gains = [100 * (a - b) for a, b in zip(mine, other, strict=True)]
    rows = [
        [str(T), f"{gains[T]:+.1f}", f"{sum(gains[1 : T + 1]) / T:+.1f}"]
        for T in (25, 50, 100, 150, 200, 300)
    ]
    return table(["rounds", "at the end", "averaged"], rows)


def worlds(chosen: Mapping[str, tuple[str, ...]]) -> Document:
    """The chosen worlds of several results; all of a result where none is named."""
    found: Document = {}
    for name, some in chosen.items():
        document = result(name)
        found |= {world: document["worlds"][world] for world in some or document["worlds"]}
    return found


def ladder() -> str:
    """The gain of every departure of the released code over constant admission, on MNIST by logistic regression."""
    head = ["world", "policy", "at the end", "averaged", "cost per round", "most held"]
    rows = [
        [
            world,
            f"`{policy}`",
            points(row["points"]),
            points(row["points_averaged"]),
            f"{row['mean_cost']['mean']:.1f}",
            str(row["largest_occupancy"]),
        ]
        for world, one in result("why-mnist-logistic")["worlds"].items()
        for policy, row in one["policies"].items()
        if policy == "released" or (world == "released" and policy != "constant")
    ]
    return table(head, rows)


def literal() -> str:
    """The printed policy and the capped one for several ρ."""
    document = result("mnist-rho")
    gains = {
        name: document["comparisons"][name]["constant"] for name in document["policies"] if "rho" in name
    }
    rows = []
    for name, gain in gains.items():
        row = document["policies"][name]
        held = row["occupancy"]
        counts = [f"{held['mean'][0]:,.0f}", f"{held['largest']:,}", f"{row['mean_cost']['mean']:.1f}"]
        rows.append([f"`{name}`", *counts, points(gain["points"]), points(gain["points_averaged"])])
    head = ["policy", "admitted in round 1", "most held", "cost per round", "at the end", "averaged"]
    return table(head, rows)


def speed() -> str:
    """Times of a run and round, one way and another, and the part of the card's peak."""
    documents = [result(f"networks-{side}") for side in (32, 160)]
    rows = []
    for name in documents[0]["cases"]:
        cells = []
        for document in documents:
            case = document["cases"].get(name)
            share = 0 if case is None else 100 * case["tflops"] / document["ceiling_tflops"]
            cells += ["–", "–"] if case is None else [f"{1e3 * case['run_round_s']:.0f}", f"{share:.0f} %"]
        rows.append([name, *cells])
    return table(["method", "ms at 32 × 32", "of peak", "ms at 160 × 160", "of peak"], rows)
