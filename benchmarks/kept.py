"""What a benchmark measures is kept in a file as it goes, and asked again it does the rest."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.hardware import machine
from empirics.files import replace_file
from empirics.settings.presets import PRESETS
from empirics.settings.study import Study

PRESET = {"digits": "digits", "mnist": "own"}
PASSING = ("out", "table", "seconds", "again")  # what does not change what is measured


def asked(
    parser: argparse.ArgumentParser, show: Callable[[dict[str, Any]], None]
) -> tuple[argparse.Namespace, dict[str, Any], float]:
    """What was given, what of it is not the default, and until when studies may begin; a file that is only to be shown
    is shown, and that is all."""
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no study after so many")
    parser.add_argument("--out", type=Path, help="a JSON file to write, or to go on with")
    parser.add_argument("--table", type=Path, help="a JSON file to show, without training")
    given = parser.parse_args()
    if given.table:
        show(json.loads(given.table.read_text(encoding="utf-8")))
        raise SystemExit(0)
    own = {key: v for key, v in vars(given).items() if v != parser.get_default(key) and key not in PASSING}
    return given, own, time.monotonic() + given.seconds


def begun(given: argparse.Namespace, own: dict[str, Any], benchmark: str) -> tuple[Study, dict[str, Any]]:
    """What all studies of a benchmark are made from, and what is written of them before anything is measured."""
    base = replace(PRESETS[PRESET[given.dataset]], dataset=given.dataset, rounds=given.rounds)
    base = replace(base, seeds=given.seeds, seed=given.seed, predict=False, measures=("risk",))
    if given.device == "cuda":
        base = replace(base, dtype="float32")
    said = own | ({"data_dir": "DIR"} if "data_dir" in own else {})
    options = [f"--{key.replace('_', '-')} {_said(value)}" for key, value in said.items()]
    return base, {
        "study": f"{base.task}, {base.rounds} rounds, {base.seeds} seeds",
        "command": " ".join([f"python -m benchmarks.{benchmark}", *options]),
        "hardware": machine(given.device),
        "studies": {},
    }


def _said(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def continued(document: dict[str, Any], out: Path | None) -> dict[str, Any]:
    """What the file has already, if it was measured by the same command."""
    if out is None or not out.exists():
        return document
    there: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    if there["command"] != document["command"]:
        raise SystemExit(f"{out} was written by {there['command']}: choose another file")
    return there


def write(document: dict[str, Any], out: Path | None) -> None:
    """Whole or not at all."""
    if out is not None:
        text = json.dumps(document, indent=1, allow_nan=False) + "\n"
        replace_file(out, lambda beside: beside.write_text(text, encoding="utf-8"))
