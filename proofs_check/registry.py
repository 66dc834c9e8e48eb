"""All claims, in the paper's order; and a user's own, from a file."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from proofs_check.claim import Claim
from theory.setting import SettingError

__all__ = ["SECTIONS", "claims_from", "registry", "select"]

# the folders of proofs_check.claims, in the order of the paper, then what is our own; each lists its modules
SECTIONS = (
    *("reuse", "learning", "design", "control", "regret", "experiments"),
    *("beyond", "prediction", "buying"),
)


@lru_cache(maxsize=1)
def registry() -> tuple[Claim, ...]:
    """Every claim, section by section, as the paper has them, then our own."""
    claims: list[Claim] = []
    for section in SECTIONS:
        folder = importlib.import_module(f"proofs_check.claims.{section}")
        for name in folder.MODULES:
            module = importlib.import_module(f"{folder.__name__}.{name}")
            claims += [replace(claim, section=section) for claim in module.CLAIMS]
    return _unique(claims)


def _unique(claims: list[Claim]) -> tuple[Claim, ...]:
    ids = [claim.id for claim in claims]
    twice = sorted({i for i in ids if ids.count(i) > 1})
    if twice:
        raise SettingError(f"claim ids must be unique, but {', '.join(twice)} comes twice")
    return tuple(claims)


def claims_from(path: Path) -> tuple[Claim, ...]:
    """The list `CLAIMS` of a Python file, which is executed."""
    if not path.is_file():
        raise SettingError(f"there is no file {str(path)!r}: give a Python file that ends in a list CLAIMS")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise SettingError(f"{str(path)!r} must be a Python file that ends in a list CLAIMS")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise SettingError(f"{str(path)!r} does not run: {type(error).__name__}: {error}") from error
    claims = getattr(module, "CLAIMS", None)
    if not isinstance(claims, list | tuple) or not claims or not all(isinstance(c, Claim) for c in claims):
        raise SettingError(f"{str(path)!r} must end in a list CLAIMS of proofs_check.claim.Claim")
    return _unique(list(claims))


def select(claims: tuple[Claim, ...], labels: list[str]) -> tuple[Claim, ...]:
    """The claims of the given labels, in their usual order; a label also names the steps below it
    (`lem:x/step`).
    """
    for label in labels:
        if not any(_named(claim, label) for claim in claims):
            word = label.split("/")[0].split(":")[-1]
            near = ", ".join(c.id for c in claims if word in c.id)
            hint = f"near it: {near}" if near else "acdpp verify lists them all"
            raise SettingError(f"there is no claim {label!r}; {hint}")
    return tuple(c for c in claims if not labels or any(_named(c, label) for label in labels))


def _named(claim: Claim, label: str) -> bool:
    return claim.id == label or claim.id.startswith(label + "/")
