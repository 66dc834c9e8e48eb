"""Settings and options of a benchmark, from studies/NAME.toml."""

import argparse
import tomllib
from pathlib import Path
from typing import Any

STUDIES = Path(__file__).with_name("studies")
TYPES: dict[str, Any] = {"int": int, "float": float, "path": Path}


def settings(name: str) -> dict[str, Any]:
    """Settings of a benchmark, its options among them."""
    return tomllib.loads((STUDIES / f"{name}.toml").read_text(encoding="utf-8"))


def parser_of(name: str, text: str | None) -> argparse.ArgumentParser:
    """The parser of a benchmark's own options, whose types are those of their defaults."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(f"python -m benchmarks.{name}", description=text, formatter_class=raw)
    for option, value in settings(name)["options"].items():
        about = dict(value) if isinstance(value, dict) else {"default": value}
        if about.get("default") is False:
            about["action"] = "store_true"
        else:
            about["type"] = TYPES.get(about.pop("type", type(about.get("default")).__name__), str)
        parser.add_argument(option if about.pop("positional", False) else f"--{option}", **about)
    return parser
