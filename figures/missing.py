"""What a result does not hold; apart from the rest, so that knowing it does not load matplotlib."""

from __future__ import annotations

from theory.setting import SettingError

__all__ = ["NotMeasured"]


class NotMeasured(SettingError):
    """A figure needs what the study of this result did not measure; other figures of it can still be drawn."""
