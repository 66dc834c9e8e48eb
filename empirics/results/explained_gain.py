"""The causes of the gain that the paper reports: every policy of every world of the ladder, over constant admission.

Reads the folders that `empirics.reproduce.explain` fills: one per world, and `WORLD-equal` with the policies that may
spend what `released` was seen to spend. Seeds are paired across both, since they see the same prices and samples.
"""

import shlex
from pathlib import Path
from typing import Any

from empirics.results.folder import SUMMARY
from empirics.results.reproduction import LEVEL, Runs, by_seed, gains, heading, rounded
from empirics.settings.ladder import LADDER, NOTES, SPENDS
from empirics.settings.policy_name import PolicyName
from empirics.settings.section7 import SETTINGS, section7, settings_for
from theory.numbers.student import mean_interval
from theory.setting import SettingError

__all__ = ["NAME", "equal_folder", "explained", "spending"]

NAME = "explained.json"


def equal_folder(folder: Path, world: str) -> Path:
    """The folder of the study of equal spending of a world."""
    return folder / f"{world}-equal"


def spending(runs: Runs) -> float:
    """The cost per round of `released`, to four digits."""
    return float(f"{runs.cost[runs.of(SPENDS)].mean():.4g}")


def _finished(folder: Path) -> Runs | None:
    return Runs.read(folder) if (folder / SUMMARY).exists() else None


def explained(folder: Path | str) -> dict[str, Any]:
    """The document of all worlds that are finished in this folder, plain JSON values."""
    place = Path(folder)
    parts = {world: runs for world in LADDER if (runs := _finished(place / world)) is not None}
    if not parts:
        raise SettingError(f"{str(place)!r} holds no finished world of acdpp explain")
    worlds = {
        world: _world(world, runs, _finished(equal_folder(place, world))) for world, runs in parts.items()
    }
    first = next(iter(worlds.values()))
    return {
        "command": _command(parts),
        **{name: first[name] for name in ("dataset", "seeds", "rounds", "hardware", "level")},
        "over": "constant",
        "not_run": [name for name in settings_for(first["dataset"]) if name not in parts],
        "notes": list(NOTES),
        "worlds": worlds,
    }


def _command(parts: dict[str, Runs]) -> str | None:
    """The command that makes these worlds, without folders; None if that takes several."""
    asked = {(r.study.dataset, r.study.seeds, r.study.rounds, r.study.eta) for r in parts.values()}
    devices = {runs.settings["asked"]["device"] for runs in parts.values()}
    if len(asked) > 1 or len(devices) > 1:
        return None
    dataset, seeds, rounds, eta = asked.pop()
    words = ["acdpp", "explain", dataset]
    if tuple(parts) != settings_for(dataset):
        words += ["--worlds", ",".join(parts)]
    words += ["--seeds", str(seeds), "--rounds", str(rounds)]
    if eta != section7(dataset).eta:
        words += ["--eta", str(eta)]
    return shlex.join([*words, "--device", *devices])


def _world(world: str, runs: Runs, equal: Runs | None) -> dict[str, Any]:
    parts = [runs] if equal is None else [runs, equal]
    policies = {name: (part, p) for part in parts for p, name in enumerate(part.study.policies)}
    rows = {
        name: {
            **gains((part, p), policies["constant"]),
            "best_accuracy": mean_interval(part.last[p], LEVEL),
            "mean_cost": mean_interval(part.cost[p], LEVEL),
            "largest_occupancy": int(part.held[p].max()),
            "buffers": sum(runs.study.buffers),
            "diverged": int(part.diverged[p].sum()),
            "by_seed": by_seed(part, p),
        }
        for name, (part, p) in policies.items()
    }
    document = {"label": SETTINGS[world].about, **heading(runs), "policies": rounded(rows)}
    return document if equal is None else document | {"equal_spending": _equal(runs, equal, policies)}


def _equal(runs: Runs, equal: Runs, policies: dict[str, tuple[Runs, int]]) -> dict[str, Any]:
    """The gain of `released` and of acdpp over constant admission that spends as much."""
    rich = [name for name in equal.study.policies if PolicyName(name).base == "constant"]
    others = [SPENDS, *(name for name in equal.study.policies if name not in rich)]
    return {
        "cost": spending(runs),
        "command": heading(equal)["command"],
        "over": {
            name: {other: rounded(gains(policies[other], policies[name])) for other in others}
            for name in rich
        },
    }
