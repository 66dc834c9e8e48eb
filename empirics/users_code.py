"""Code of users, whose errors become refusals in one sentence."""

from collections.abc import Iterator
from contextlib import contextmanager

from theory.setting import SettingError

__all__ = ["NUMERIC", "users_code"]

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
