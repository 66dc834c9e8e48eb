"""Code of users, whose errors become refusals in one sentence."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from theory.setting import SettingError

__all__ = ["NUMERIC", "found_at", "users_code"]

NUMERIC = (ArithmeticError, MemoryError)  # errors that a study reports in its own words


@contextmanager
def users_code(failed: str, *kept: type[Exception], reason_letters_max: int | None = None) -> Iterator[None]:
    """Refuse whatever is raised, in a sentence that begins with `failed`; refusals and `kept` errors stay.

    >>> with users_code("the model could not be made", reason_letters_max=17):
    ...     {}["layer, of many"]
    Traceback (most recent call last):
    ...
    theory.setting.SettingError: the model could not be made: KeyError: 'layer,
    """
    stays: tuple[type[Exception], ...] = (SettingError, *kept)
    try:
        yield
    except stays:
        raise
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:reason_letters_max]
        raise SettingError(f"{failed}: {reason}") from error


def found_at(path: str, what: str) -> Any:
    """The object at `module:attribute`."""
    module, _, attribute = path.partition(":")
    try:
        found = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except Exception as error:  # whatever a user's module does when it is imported
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        where = (
            "" if isinstance(error, AttributeError) else f" (looked in {len(sys.path)} places of sys.path)"
        )
        raise SettingError(f"there is no {what} at {path!r}: {reason}{where}") from error
    return found
