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
LADDERS: dict[str, Mapping[str, tuple[str, ...]]] = {
    "logistic": {"why-mnist-logistic": ()},
    "lenet": LENET,
    "cifar10": {"why-cifar10": ()},
}
FILLED = "benchmarks.buying:Filled.of"
RICH = f"{FILLED}@budget=81.55"
LABELS = {
    FILLED: "constant, memory filled in round 1",
    RICH: "the same, may spend 81.55",
    "constant@budget=81.55": "constant, may spend 81.55",
}

Document = dict[str, Any]


def _percent(value: Document) -> str:
    width = "" if value["low"] is None else f" ± {100 * half(value):.1f}"
    return f"{100 * value['mean']:.1f}{width}"


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
    """The same with the released code's V, the policy alone over 500 runs."""
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


def step_ms() -> float:
    """Milliseconds of one run's ten steps with the kernels at 32 × 32."""
    case = result("networks-32")["cases"]["kernels, bfloat16"]
    return float(1e4 * case["step_s"] / case["runs"])


def faster(side: int) -> float:
    """The speed-up of the kernels over one client at a time, per run and round."""
    cases = result(f"networks-{side}")["cases"]
    return float(cases["one client at a time"]["run_round_s"] / cases["kernels, bfloat16"]["run_round_s"])


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
    for document in map(result, STUDIES):
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
    return table(head, rows)


def gaps() -> str:
    """The paper's numbers beside ours."""
    rows = []
    for document in map(result, STUDIES):
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
    return table(head, rows)


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


def ladder(model: str) -> str:
    """The gain of every departure of the released code over constant admission."""
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
        for world, one in worlds(LADDERS[model]).items()
        for policy, row in one["policies"].items()
        if policy != "constant"
    ]
    return table(head, rows)


def parts() -> str:
    """The parts of the gain of the released rule."""
    document = result("why-mnist-filled")
    rows = []
    for name, row in document["policies"].items():
        if name == "constant":
            continue
        found = document["comparisons"][name]["constant"]
        cells = [points(found["points"]), points(found["points_averaged"])]
        cost, held = row["mean_cost"]["mean"], row["occupancy"]["largest"]
        rows.append([LABELS.get(name, f"`{name}`"), *cells, f"{cost:.1f}", str(held)])
    return table(["policy", "at the end", "averaged", "cost per round", "most held"], rows)


def literal() -> str:
    """The printed policy and the capped one for several ρ."""
    document = result("mnist-rho")
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
    head = ["policy", "admitted in round 1", "most held", "cost of round 1", "cost per round", "largest debt"]
    return table([*head, "best", "at the end", "averaged"], rows)


def speed() -> str:
    """Times of a step, one way and another."""
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
        for document in map(result, ("networks-32", "networks-160"))
        for name, case in document["cases"].items()
    ]
    head = ["images", "method", "runs at once", "ms per step", "TFLOP/s", "of the card's peak product"]
    head.append("ms per run and round")
    return table(head, rows)
