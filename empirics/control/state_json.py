"""States as JSON and back, exactly: trees of dataclasses, tuples, lists, dicts, numbers, fractions, strings and arrays.

A dataclass is written as its fields, and read back with the help of a template of the same shape, such as a policy's
state before round 1.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from theory.setting import SettingError

__all__ = ["plain", "restored"]

KIND = "!"  # the key that marks what JSON has no word for


def plain(tree: Any) -> Any:
    """JSON values.

    >>> plain((Fraction(1, 3), 0.1))
    {'!': 'tuple', 'items': [{'!': 'fraction', 'value': '1/3'}, 0.1]}
    """
    if isinstance(tree, np.generic):
        tree = tree.item()
    if tree is None or isinstance(tree, bool | int | str):
        return tree
    if isinstance(tree, float):
        return tree if np.isfinite(tree) else {KIND: "float", "value": str(tree)}
    if isinstance(tree, Fraction):
        return {KIND: "fraction", "value": str(tree)}
    if isinstance(tree, np.ndarray):
        values = [plain(value) for value in tree.ravel().tolist()]
        return {KIND: "array", "dtype": tree.dtype.str, "shape": list(tree.shape), "values": values}
    if is_dataclass(tree) and not isinstance(tree, type):
        return {KIND: "fields", "values": {f.name: plain(getattr(tree, f.name)) for f in fields(tree)}}
    if isinstance(tree, tuple):
        return {KIND: "tuple", "items": [plain(item) for item in tree]}
    if isinstance(tree, list):
        return [plain(item) for item in tree]
    if isinstance(tree, dict) and all(isinstance(key, str) and key != KIND for key in tree):
        return {key: plain(value) for key, value in tree.items()}
    raise SettingError(
        "a state that can be saved consists of dataclasses, tuples, lists, dicts with words for keys, numbers and "
        f"arrays, got {type(tree).__name__}"
    )


def restored(document: Any, template: Any = None) -> Any:
    """The inverse of `plain`; dataclasses are made like those at the same place of the template."""
    if isinstance(document, list):
        like = template if isinstance(template, list) else []
        return [restored(item, like[i] if i < len(like) else None) for i, item in enumerate(document)]
    if not isinstance(document, dict):
        return document
    match document.get(KIND):
        case None:
            known = template if isinstance(template, Mapping) else {}
            return {key: restored(value, known.get(key)) for key, value in document.items()}
        case "float":
            return float(document["value"])
        case "fraction":
            return Fraction(document["value"])
        case "array":
            values = [restored(value) for value in document["values"]]
            dtype = np.dtype(document["dtype"])
            flat = np.empty(len(values), dtype=dtype)
            flat[:] = values
            return flat.reshape(document["shape"])
        case "tuple":
            held = template if isinstance(template, tuple) else ()
            items = [restored(v, held[i] if i < len(held) else None) for i, v in enumerate(document["items"])]
            named = hasattr(type(template), "_fields")
            return type(template)(*items) if named else tuple(items)
        case "fields" if is_dataclass(template) and not isinstance(template, type):
            values = document["values"]
            return type(template)(
                **{name: restored(v, getattr(template, name)) for name, v in values.items()}
            )
    raise ValueError(f"the state holds {document.get(KIND)!r} where the policy has {type(template).__name__}")
