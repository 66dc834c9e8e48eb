"""Numbers and tables of populations that move."""

from __future__ import annotations

from math import sqrt
from typing import Any

from docs.numbers.results import result, span, table
from theory.drift.long_run import freshness_drift_random, indifferent_drift
from theory.drift.long_run import tracking_step as best_step
from theory.market.knapsack import uniform_rate

PERIODS = (20, 50, 100, 400)
KS_SHOWN = (1, 2, 3, 5, 10, 20)


def _studies(name: str) -> dict[str, Any]:
    found: dict[str, Any] = result(name)["studies"]
    return found


def _above(row: dict[str, float]) -> str:
    return f"{row['above_best']:+.4f} ± {row['half_width']:.4f}" if row["above_best"] else "**0**"


def by_retention() -> str:
    """Measured cumulative excess risk over K and the speed of the cycle."""
    studies = [_studies("drift-digits-400")[f"retention: {period} rounds a period"] for period in PERIODS]

    def cell(study: dict[str, Any], name: str) -> str:
        row = study["policies"].get(name)
        if row is None:
            return ""
        words = f"{row['measured']:.2f} ± {row['error']:.2f}"
        return f"**{words}**" if study["best"] == name else words

    names = studies[0]["policies"]
    rows = [[name.partition("=")[2], *(cell(study, name) for study in studies)] for name in names]
    return table(["K", f"{PERIODS[0]} rounds per period", *map(str, PERIODS[1:])], rows)


def predicted(data: str) -> str:
    """Range of predicted over measured risk of ten policies in six moving worlds."""
    rows = (row for study in _studies(f"drift-{data}-200").values() for row in study["policies"].values())
    return span((row["predicted"] / row["measured"] for row in rows), ".3f")


def forgetting() -> str:
    """Risk of forgetting when losses rise, against the best fixed K."""

    def apart(row: dict[str, float]) -> str:
        return f"{row['above_best']:+.4f} ± {row['half_width']:.4f}" if row["half_width"] else "0"

    rows = [
        [
            world,
            one["best"].removeprefix("constant@K="),
            *(f"{one['risk'][name]:.4f}" for name in (one["best"], "adaptive")),
            apart(one["adaptive"]),
            apart(one["river, rising"]),
        ]
        for world, one in result("adaptive-digits-400")["worlds"].items()
    ]
    head = ["the world", "best fixed K in hindsight", "its risk", "`adaptive`, K = 40"]
    return table([*head, "above the best", "ADWIN above the best"], rows)


def mnist_streams() -> str:
    """Loss above that of the best K on the two streams made from MNIST."""
    studies = _studies("streams-mnist-500").values()
    names = [name for name in next(iter(studies))["policies"] if name.startswith("constant@K=")]
    found = [[name.partition("=")[2], *(_above(one["policies"][name]) for one in studies)] for name in names]
    return table(
        ["K", "classes come and go", "images turn"], (row for row in found if int(row[0]) in KS_SHOWN)
    )


def pilot(study: str) -> dict[str, Any]:
    """The estimate of a pilot sample from a stream made from MNIST."""
    found: dict[str, Any] = _studies("streams-mnist-500")[study]["pilot"]
    return found


def _digits() -> list[tuple[str, dict[str, Any], int]]:
    rows = _studies("streams-digits-300").items()
    return [(name, one, int(one["best"].removeprefix("constant@K="))) for name, one in rows]


def digits_streams() -> str:
    """The recommended K on nine streams made from the digits, against the best K."""
    rows = [
        [
            name,
            f"{one['pilot']['K']}, {one['pilot']['K_interval']}",
            str(best),
            *(_above(one["policies"][f"constant@K={K}"]) for K in (one["pilot"]["K"], 10)),
        ]
        for name, one, best in _digits()
    ]
    head = ["what changes", "recommended K, interval", "best K", "loss at the recommended K"]
    return table([*head, "at Corollary 2's K = 10"], rows)


def hits(always: int = 0) -> int:
    """Streams of digits whose best K was recommended, or is always this K."""
    return sum((always or one["pilot"]["K"]) == best for _, one, best in _digits())


def extra_loss(always: int = 0) -> float:
    """Mean loss above that of the best K on the streams of digits, at the recommended K or always at this K."""
    names = [(one, f"constant@K={always or one['pilot']['K']}") for _, one, _ in _digits()]
    return float(sum(one["policies"][name]["above_best"] for one, name in names) / len(names))


def misses() -> int:
    """Streams of digits whose best K is outside the interval."""
    ends = ((one["pilot"]["K_interval"], best) for _, one, best in _digits())
    return sum(not low <= best <= high for (low, high), best in ends)


def losing_drift() -> float:
    """Drift per round beyond which buying cheap loses in the paper's setting, in standard deviations."""
    rate = float(uniform_rate(1, 10, places=100, budget=55))
    return sqrt(freshness_drift_random(1 / 10, 1 / rate, rate / 100))


def too_long_drift() -> float:
    """Drift per round beyond which K = 10 is too long at a = 0.9, in standard deviations."""
    return sqrt(indifferent_drift(0.9, 10, 10, 9, 10))


def tracking_step() -> float:
    """The best step of K = 1 at that drift."""
    return float(best_step(1 / 10, indifferent_drift(0.9, 10, 10, 9, 10)))
