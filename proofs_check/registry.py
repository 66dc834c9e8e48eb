"""All claims in the paper's order, and a user's own claims from a file."""

import importlib
import importlib.util
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

from proofs_check.claim import Claim
from proofs_check.claims import CONTENTS
from theory.setting import SettingError

__all__ = ["claims_from", "labelled", "registry", "select"]


def registry() -> tuple[Claim, ...]:
    """Every claim, section by section in the paper's order, then our own."""
    return tuple(claim for section in CONTENTS for file in CONTENTS[section] for claim in _in(section, file))


def labelled(labels: list[str]) -> tuple[Claim, ...]:
    """Claims of the given labels as by `select`, loading only their files."""
    known = {
        label: (section, module)
        for section, modules in CONTENTS.items()
        for module, inside in modules.items()
        for label in inside
    }
    _refuse_unknown(known, labels)
    places = dict.fromkeys(place for label, place in known.items() if _wanted(label, labels))
    return select(tuple(claim for place in places for claim in _in(*place)), labels)


@cache
def _in(section: str, module: str) -> tuple[Claim, ...]:
    """The claims of one file."""
    loaded = importlib.import_module(f"proofs_check.claims.{section}.{module}")
    claims = _unique([replace(claim, section=section) for claim in loaded.CLAIMS])
    if tuple(claim.id for claim in claims) != CONTENTS[section][module]:
        raise LookupError(f"{section}/{module} has other claims than proofs_check.claims.CONTENTS lists")
    return claims


def _unique(claims: list[Claim]) -> tuple[Claim, ...]:
    ids = [claim.id for claim in claims]
    twice = sorted({i for i in ids if ids.count(i) > 1})
    if twice:
        raise SettingError(f"claim ids must be unique, but {', '.join(twice)} comes twice")
    return tuple(claims)


def claims_from(path: Path) -> tuple[Claim, ...]:
    """Execute a Python file and return its list `CLAIMS`."""
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
    """Claims of the given labels in their usual order; a label includes the steps below it (`lem:x/step`)."""
    _refuse_unknown([claim.id for claim in claims], labels)
    return tuple(claim for claim in claims if _wanted(claim.id, labels))


def _refuse_unknown(known: Iterable[str], labels: list[str]) -> None:
    for label in labels:
        if not any(_wanted(one, [label]) for one in known):
            word = label.split("/")[0].split(":")[-1]
            near = ", ".join([one for one in known if word in one][:5])
            hint = f"near it: {near}" if near else "acdpp verify lists them all"
            raise SettingError(f"there is no claim {label!r}; {hint}")


def _wanted(label: str, labels: list[str]) -> bool:
    return not labels or any(label == one or label.startswith(one + "/") for one in labels)
