"""A result folder that explains itself and survives a kill.

| file | what |
| --- | --- |
| `settings.json` | the study, the device, versions, the data's digest, the calibrated constants; written first |
| `rounds.parquet` | one row a policy, seed and round; the columns are `COLUMNS` |
| `summary.json` | what `acdpp train` prints; written last, so a folder that has it is complete |
| `parts/`, `checkpoint.npz` | a study under way: finished chunks of rounds, and the state to continue from |

Every file is written beside its place and then moved there, so it is whole or absent.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from theory.setting import SettingError

__all__ = ["COLUMNS", "Folder", "read_result"]

PARTIAL = ".partial"  # of a file that is being written
COLUMNS = {
    "policy": "name of the policy",
    "seed": "replicate: policies with the same one see the same costs and, slot by slot, the same samples",
    "round": "t, from 1",
    "cost": "c(t), of one sample",
    "admitted": "Λ(t), whole samples admitted by all clients",
    "n": "samples in memory when round t trains",
    "N": "distinct samples admitted so far",
    "N_eff": "effective sample size",
    "uniformity": "Ṽ(t)",
    "chi": "χ(t), the true mismatch factor",
    "stated_mismatch": "1/n - 1/N_eff, the paper's factor, signed",
    "debt": "Z(t), at the beginning of round t",
    "overflow": "Σ_m max(n_m - B_m, 0)",
    "risk": "F_P(θ(t)), before round t trains",
    "excess_risk": "F_P(θ(t)) - F_P(θ*); missing where there is no ball",
    "mismatch": "measured ‖∇F_all - ∇F_mem‖² at θ(t)",
    "variance": "E‖∇ℓ - ∇F_P‖² under P at θ(t)",
    "accuracy": "test accuracy of θ(t)",
}


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file beside its place, force it to disk, and move it there in one step."""
    beside = path.with_name(path.name + PARTIAL)
    write(beside)
    with beside.open("rb") as handle:
        os.fsync(handle.fileno())
    beside.replace(path)


def _write_json(path: Path, document: Mapping[str, Any]) -> None:
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    _replace(path, lambda beside: beside.write_text(text, encoding="utf-8"))


class Folder:
    """A result folder being written, or continued."""

    def __init__(self, path: Path) -> None:
        self.path, self.parts, self.checkpoint = path, path / "parts", path / "checkpoint.npz"
        self.settings = path / "settings.json"

    def check(self, *, resume: bool) -> None:
        """Refuse a folder whose content would be overwritten, before any work is done."""
        name = repr(str(self.path))
        if self.path.exists() and not self.path.is_dir():
            raise SettingError(f"{name} is a file: give a folder for the result")
        if self.settings.exists():
            if not resume:
                raise SettingError(f"{name} already holds a result: choose another folder, or --resume")
        elif self.path.exists() and any(not path.name.endswith(PARTIAL) for path in self.path.iterdir()):
            raise SettingError(f"{name} is not empty and holds no result: choose another folder")

    def open(self, settings: Mapping[str, Any]) -> int:
        """Begin, or continue: the number of rounds already done. Refuses to mix results of different settings."""
        if self.settings.exists():
            earlier = json.loads(self.settings.read_text(encoding="utf-8"))
            changed = [key for key in settings if earlier.get(key) != settings[key]]
            if changed:
                raise SettingError(
                    f"cannot resume {str(self.path)!r}: {', '.join(changed)} changed since it began"
                )
        else:
            self.path.mkdir(parents=True, exist_ok=True)
            _write_json(self.settings, settings)
        self.parts.mkdir(exist_ok=True)
        return int(self.state()["round"]) if self.checkpoint.exists() else 0

    @property
    def finished(self) -> bool:
        return (self.path / "summary.json").exists()

    def state(self) -> dict[str, NDArray[Any]]:
        """The arrays of the last checkpoint."""
        with np.load(self.checkpoint, allow_pickle=False) as saved:
            return dict(saved)

    def save(
        self, first: int, columns: Mapping[str, NDArray[Any]], state: Mapping[str, NDArray[Any]]
    ) -> None:
        """A chunk of rounds that starts with `first`, then the state after it: in this order, so that a state on disk
        always has its rows, and rows without their state are written again."""
        table, arrays = pa.table(dict(columns)), dict[str, Any](state)
        _replace(self.parts / f"{first:012d}.parquet", lambda beside: pq.write_table(table, beside))

        def save(beside: Path) -> None:
            with beside.open("wb") as handle:
                np.savez(handle, **arrays)

        _replace(self.checkpoint, save)

    def rows(self) -> pa.Table:
        """All finished rows, chunk by chunk."""
        return pa.concat_tables([pq.read_table(part) for part in sorted(self.parts.glob("*.parquet"))])

    def finish(self, summary: Mapping[str, Any]) -> None:
        """Join the chunks into one table, write the summary, and clear away what was only for continuing."""
        parts = sorted(self.parts.glob("*.parquet"))

        def join(beside: Path) -> None:
            with pq.ParquetWriter(beside, pq.read_schema(parts[0])) as writer:
                for part in parts:
                    writer.write_table(pq.read_table(part))

        _replace(self.path / "rounds.parquet", join)
        _write_json(self.path / "summary.json", summary)
        shutil.rmtree(self.parts)
        self.checkpoint.unlink()


def read_result(path: Path) -> tuple[dict[str, Any], dict[str, Any], pa.Table]:
    """Settings, summary and rows of a finished result."""
    if not (path / "summary.json").exists():
        state = (
            "unfinished: acdpp train --resume continues it"
            if (path / "settings.json").exists()
            else "no result"
        )
        raise SettingError(f"{str(path)!r} is {state}")
    settings, summary = (
        json.loads((path / f"{name}.json").read_text(encoding="utf-8")) for name in ("settings", "summary")
    )
    return settings, summary, pq.read_table(path / "rounds.parquet")
